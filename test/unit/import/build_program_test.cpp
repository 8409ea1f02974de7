//===- build_program_test.cpp - archive and plan to the plan dialect ------===//

#include "bound_program.h"
#include "compiler/transforms/import/build_program.h"
#include "dialect/plan/attributes.h"

using namespace meshplan;
using archive::NamedArgument;
using archive::ScalarType;
using archive::ValueId;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

class BuildProgram : public BoundProgram {
protected:
  bool build(const std::string &statements = "rest: replicate") {
    bind("mesh dp = 2, tp = 3\n" + statements);
    owner = buildProgram(program, outline, bound, diagnostics, context);
    EXPECT_EQ(!owner, diagnostics.hasErrors());
    return static_cast<bool>(owner);
  }
  mlir::func::FuncOp function() { return *owner->getOps<mlir::func::FuncOp>().begin(); }
  std::string attributes(unsigned argument) { return print(mlir::Attribute(function().getArgAttrDict(argument))); }
  mlir::Operation *op(unsigned index) { return &*std::next(function().getBody().front().begin(), index); }
  /// The rest of op `index` after `plan.call `.
  std::string callText(unsigned index) { return print(*op(index)).substr(print(*op(index)).find("plan.") + 5); }

  /// Input x [8, 6], which `a` multiplies by its weight [4, 6] to get y.
  void linear() {
    ValueId x = input("x", {8, 6}), w = parameter("a.weight", {4, 6}), y = value({8, 4});
    node("aten.linear.default", "a", {{"input", x}, {"weight", w}}, {y});
    output("y", y);
  }

  /// x [8], from which a trained weight computes the loss, and whose sum is written to a buffer.
  void updatingModel(bool isPersistent) {
    ValueId x = input("x", {8}), w = parameter("a.weight", {8}), y = value({8}), loss = value({}), sum = value({});
    archive::ConstantData zero{ScalarType::Float32, {}, std::vector<uint8_t>(4)};
    program.buffers.push_back({"total", value({}), isPersistent, "t", zero});
    node("aten.mul.Tensor", "a", {{"self", x}, {"other", w}}, {y});
    node("aten.sum.default", "", {{"self", y}}, {loss});
    node("aten.sum.default", "", {{"self", x}}, {sum});
    output("loss", loss);
    program.bufferUpdates = {{"total", sum}};
  }

  mlir::OwningOpRef<mlir::ModuleOp> owner;
};

const char *const training = "input x: [batch]\nloss loss\noptimizer sgd { lr 0.1 }\nrest: replicate\n";

TEST_F(BuildProgram, AFunctionReadsAndReturns) {
  linear();
  ASSERT_TRUE(build("input x: [batch over dp, width]\na: colwise tp")) << diagnostics.text();
  EXPECT_EQ(owner->getName(), "p");
  EXPECT_EQ(function().getName(), "forward");
  EXPECT_EQ(print(mlir::Type(function().getFunctionType())), "(tensor<4x6xf32>, tensor<8x6xf32>) -> tensor<8x4xf32>");
  EXPECT_EQ(attributes(0), "{plan.kind = #plan.kind<parameter>, plan.names = [\"a.weight\"], plan.trainable = true}");
  EXPECT_EQ(attributes(1), "{plan.dims = [\"batch\", \"width\"], plan.kind = #plan.kind<input>, plan.names = [\"x\"], "
                           "plan.sharding = #plan.sharding<[{\"dp\"}, {}]>}");
  EXPECT_EQ(print(mlir::Attribute(function().getResultAttrDict(0))), "{plan.name = \"y\"}");
  EXPECT_EQ(callText(0), "call \"aten.linear.default\"(%arg1, %arg0) {input = #base.operand<0>, weight = "
                         "#base.operand<1>} in \"a\" : (tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<8x4xf32>");
  EXPECT_EQ(print(mlir::LocationAttr(op(0)->getLoc())), "loc(\"n0\")");
  EXPECT_EQ(op(1)->getOperand(0), op(0)->getResult(0));
  EXPECT_EQ(print(mlir::LocationAttr(function().getArgument(1).getLoc())), "loc(\"p.plan\":3:7 to :8)");
}

TEST_F(BuildProgram, ConversionsThatKeepTheTypeCountWhereOthersAreComputedIn) {
  ValueId x = input("x", {8, 6}), same = value({8, 6}), y = value({8, 6});
  node("aten.to.dtype", "", {{"self", x}, {"dtype", ScalarType::Float32}}, {same});
  node("aten.neg.default", "", {{"self", same}}, {y});
  output("y", y);
  ASSERT_TRUE(build("input x: [batch over dp, width]\nrest: replicate")) << diagnostics.text();
  EXPECT_EQ(op(0)->getOperand(0), function().getArgument(0));
  ASSERT_TRUE(build("input x: [batch over dp, width]\nprecision { compute bf16 }\nrest: replicate"))
      << diagnostics.text();
  EXPECT_EQ(callText(0), "call \"aten.to.dtype\"(%arg0) {dtype = f32, self = #base.operand<0>} : (tensor<8x6xf32>) -> "
                         "tensor<8x6xf32>");
  EXPECT_EQ(op(1)->getOperand(0), op(0)->getResult(0));
}

TEST_F(BuildProgram, RegionsWithoutAutocastCountWhereOthersAreComputedIn) {
  ValueId x = input("x", {8, 6}), y = value({8, 6});
  node("aten.neg.default", "", {{"self", x}}, {y});
  program.nodes.back().autocastOff = "cuda";
  output("y", y);
  ASSERT_TRUE(build("input x: [batch over dp, width]\nrest: replicate")) << diagnostics.text();
  EXPECT_FALSE(op(0)->hasAttr("plan.autocast_off"));
  ASSERT_TRUE(build("input x: [batch over dp, width]\nprecision { compute bf16 }\nrest: replicate"))
      << diagnostics.text();
  EXPECT_EQ(op(0)->getAttrOfType<mlir::StringAttr>("plan.autocast_off").getValue(), "cuda");
}

TEST_F(BuildProgram, ArgumentsAreParametersBuffersAndInputs) {
  input("x", {2});
  program.buffers.push_back({"running", value({3}), /*persistent=*/true, "r", {}});
  parameter("a.weight", {4});
  program.parameters.back().requiresGrad = false;
  ValueId y = program.inputs[0].value;
  output("y", y);
  node("aten.neg.default", "a", {{"self", program.parameters[0].value}}, {value({4})});
  ASSERT_TRUE(build()) << diagnostics.text();
  ASSERT_EQ(function().getNumArguments(), 3u);
  EXPECT_EQ(attributes(0), "{plan.kind = #plan.kind<parameter>, plan.names = [\"a.weight\"], plan.trainable = false}");
  EXPECT_EQ(attributes(1), "{plan.kind = #plan.kind<buffer>, plan.names = [\"running\"]}");
  EXPECT_EQ(attributes(2), "{plan.dims = [\"\"], plan.kind = #plan.kind<input>, plan.names = [\"x\"], plan.sharding = "
                           "#plan.sharding<[{}]>}");
  EXPECT_EQ(op(1)->getOperand(0), function().getArgument(2)) << "an input may be returned as it is";
}

TEST_F(BuildProgram, TiedParametersAreOneArgument) {
  ValueId a = parameter("a.weight", {4, 4}), x = input("x", {2, 4}), h = value({2, 4}), y = value({2, 4});
  ValueId b = parameter("b.weight", {4, 4}, "a.weight"); // stored once, and read under one name
  parameter("c.weight", {4, 4});
  node("aten.linear.default", "a", {{"input", x}, {"weight", a}}, {h});
  node("aten.linear.default", "b", {{"input", h}, {"weight", a}}, {y});
  output("y", y);
  output("tied", b);
  ASSERT_TRUE(build()) << diagnostics.text();
  ASSERT_EQ(function().getNumArguments(), 3u);
  EXPECT_EQ(attributes(0),
            "{plan.kind = #plan.kind<parameter>, plan.names = [\"a.weight\", \"b.weight\"], plan.trainable = true}");
  EXPECT_EQ(attributes(1), "{plan.kind = #plan.kind<parameter>, plan.names = [\"c.weight\"], plan.trainable = true}");
  EXPECT_EQ(op(0)->getOperand(1), function().getArgument(0));
  EXPECT_EQ(op(1)->getOperand(1), function().getArgument(0));
  EXPECT_EQ(op(2)->getOperand(1), function().getArgument(0)) << "a result that is the parameter itself";
  EXPECT_EQ(print(mlir::Attribute(function().getResultAttrDict(1))), "{plan.name = \"tied\"}");
}

TEST_F(BuildProgram, AParameterMayBePlacedItself) {
  linear();
  ASSERT_TRUE(build("a: parameter { weight: split 1 over (tp, dp) }")) << diagnostics.text();
  EXPECT_EQ(attributes(0), "{plan.kind = #plan.kind<parameter>, plan.names = [\"a.weight\"], plan.sharding = "
                           "#plan.sharding<[{}, {\"tp\", \"dp\"}]>, plan.style = \"weight: split 1 over (tp, dp)\", "
                           "plan.trainable = true}");
  EXPECT_EQ(print(mlir::LocationAttr(function().getArgument(0).getLoc())), "loc(\"p.plan\":3:24 to :45)");
  parameter("b.weight", {4});
  ASSERT_TRUE(build("a: replicate\nb: parameter { weight: split 0 over dp }")) << diagnostics.text();
  EXPECT_EQ(plan::argAttr<plan::attr::Sharding>(function(), 0), nullptr) << "the other one is not";
  EXPECT_EQ(print(plan::argAttr<plan::attr::Sharding>(function(), 1)), "#plan.sharding<[{\"dp\"}]>");
}

TEST_F(BuildProgram, ConstantsAreBuffersAndWhatTheExporterFound) {
  ValueId c = value({2}), b = value({1}, ScalarType::Int8), y = value({2});
  program.constants.push_back({"lifted", c, {ScalarType::Float32, {2}, {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}}});
  program.buffers.push_back({"ids", b, /*persistent=*/false, "", archive::ConstantData{ScalarType::Int8, {1}, {7}}});
  node("aten.add.Tensor", "", {{"self", c}, {"other", b}}, {y});
  output("y", y);
  ASSERT_TRUE(build("")) << diagnostics.text();
  EXPECT_EQ(function().getNumArguments(), 0u);
  EXPECT_EQ(callText(0), "constant \"ids\" dense<7> : tensor<1xi8> : tensor<1xi8>");
  EXPECT_EQ(callText(1), "constant \"lifted\" dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> : tensor<2xf32>");
  EXPECT_EQ(op(2)->getOperand(0), op(1)->getResult(0));
  EXPECT_FALSE(mlir::cast<plan::CallOp>(op(2)).getModule()) << "the root has no path";
}

TEST_F(BuildProgram, ResultsMayBeNone) {
  ValueId x = input("x", {4, 4}), y = value({4});
  node("aten.max.dim", "", {{"self", x}, {"dim", archive::SymbolicInt(0)}}, {archive::noValue, y});
  output("y", y);
  ASSERT_TRUE(build("")) << diagnostics.text();
  EXPECT_EQ(callText(0), "call \"aten.max.dim\"(%arg0) {dim = 0 : i64, self = #base.operand<0>} : (tensor<4x4xf32>) -> "
                         "(tensor<0xf32>, tensor<4xf32>)");
  EXPECT_EQ(op(1)->getOperand(0), op(0)->getResult(1));
}

TEST_F(BuildProgram, OperatorsOfLibrariesAreRefusedOnce) {
  ValueId x = input("x", {4});
  for (int i = 0; i < 2; ++i)
    node("custom.scan.default", "a.b", {{"self", x}}, {value({4})});
  node("other.scan.default", "", {{"self", x}}, {value({4})});
  output("y", x);
  EXPECT_FALSE(build(""));
  const std::string end = " belongs to a Python library: the runtime has no kernel for it";
  const std::string help = "help: export the model with operators of PyTorch (aten)";
  EXPECT_THAT(said(), ElementsAre("0: operator 'custom.scan.default' in module 'a.b'" + end, help,
                                  "0: operator 'other.scan.default' in module ''" + end, help));
}

TEST_F(BuildProgram, AKnownOperatorOfALibraryIsTheRuntimesOwn) {
  ValueId x = input("x", {4, 2}), w = parameter("w", {3, 2, 5}), o = input("o", {3}, ScalarType::Int32),
          y = value({4, 5});
  node("transformers.grouped_mm_fallback.default", "", {{"input", x}, {"weight", w}, {"offs", o}}, {y});
  output("y", y);
  ASSERT_TRUE(build()) << diagnostics.text();
  EXPECT_EQ(mlir::cast<plan::CallOp>(op(0)).getTarget(), "meshplan.grouped_mm");
}

TEST_F(BuildProgram, NodesAreWhatTheirSchemaSays) {
  ValueId x = input("x", {4});
  node("aten.neg.default", "", {{"self", x}}, {});
  node("aten.neg.default", "", {}, {value({4})});
  node("aten.arange.default", "", {{"end", archive::SymbolicInt(4)}}, {value({4}, ScalarType::Int64)});
  output("y", x);
  EXPECT_FALSE(build(""));
  EXPECT_THAT(said(), ElementsAre("0: node 'n0' of operator 'aten.neg.default' has no result",
                                  "0: node 'n1' of operator 'aten.neg.default' has no tensor among its arguments"));
}

TEST_F(BuildProgram, WhatReadsARefusedNodeIsNoErrorOfItsOwn) {
  ValueId x = input("x", {4}), refused = value({4}), y = value({4});
  node("aten.to.dtype", "", {{"self", x}, {"dtype", ScalarType::Complex64}}, {refused});
  node("aten.neg.default", "", {{"self", refused}}, {y});
  output("y", y);
  EXPECT_FALSE(build(""));
  EXPECT_THAT(said(), ElementsAre("0: an argument of 'n0' (aten.to.dtype) is not implemented yet"));
}

TEST_F(BuildProgram, TypesThatTheIrLacksAreRefused) {
  input("x", {4}, ScalarType::Float8E5M2);
  input("w", {4}, ScalarType::Float8E5M2);
  input("z", {4}, ScalarType::UInt16);
  output("y", program.inputs[0].value);
  EXPECT_FALSE(build("model \"m.pt2\""));
  EXPECT_THAT(said(), ElementsAre("3: tensor 'v0' of type float8_e5m2 is not implemented yet",
                                  "3: tensor 'v2' of type uint16 is not implemented yet"));
}

TEST_F(BuildProgram, UpdatesOfBuffersAreResultsOfATraining) {
  updatingModel(true);
  ASSERT_TRUE(build()) << diagnostics.text();
  EXPECT_EQ(function().getNumResults(), 1u);
  ASSERT_TRUE(build(training)) << diagnostics.text();
  ASSERT_EQ(function().getNumResults(), 2u);
  EXPECT_EQ(print(mlir::Attribute(function().getResultAttrDict(1))),
            "{plan.updates = #plan.argument<buffer \"total\">}");
}

TEST_F(BuildProgram, UpdatesInMicrobatchesAreRefused) {
  updatingModel(true);
  EXPECT_FALSE(build(std::string(training) + "microbatches 2"));
  EXPECT_THAT(said(), testing::IsSupersetOf(
                          {"7: the model updates its buffer 'total' in each microbatch, which is not implemented yet",
                           "help: train without 'microbatches', or export the model in eval mode"}));
}

TEST_F(BuildProgram, UpdatesOfWhatIsNotSavedAreRefused) {
  updatingModel(false);
  EXPECT_FALSE(build(training));
  EXPECT_THAT(said(), ElementsAre("0: the model updates its buffer 'total', which is not in its state dict",
                                  "help: register it with 'persistent=True', so that checkpoints contain it"));
}

TEST_F(BuildProgram, AMicrobatchHasASampleForEachRank) {
  ValueId x = input("x", {5}), y = value({});
  node("aten.sum.default", "", {{"self", x}}, {y});
  output("y", y);
  EXPECT_FALSE(build("input x: [batch = 10 over (dp, tp)]\nloss y\nmicrobatches 2 mean"));
  EXPECT_EQ(said().front(), "3: dim 'batch' of input 'x' has size 5 in a microbatch, fewer than dp = 2, tp = 3");
}

TEST_F(BuildProgram, ADimIsAtLeastItsShards) {
  input("x", {6, 5});
  output("y", program.inputs[0].value);
  EXPECT_TRUE(build("input x: [batch over (dp, tp), _]")) << diagnostics.text();
  EXPECT_FALSE(build("input x: [_, seq over (dp, tp)]"));
  EXPECT_THAT(
      said(),
      ElementsAre("3: dim 'seq' of input 'x' has size 5, fewer than dp = 2, tp = 3",
                  "help: choose axis sizes whose product is at most 5, or a larger size: in the plan if the dim "
                  "is dynamic, else in the export"));
}

TEST_F(BuildProgram, ADimOfSizeZeroIsNotDivided) {
  input("x", {6, 0});
  output("y", program.inputs[0].value);
  EXPECT_TRUE(build("input x: [batch over dp, _]")) << diagnostics.text();
  EXPECT_FALSE(build("input x: [batch, _ over dp]"));
  EXPECT_THAT(said(), ElementsAre("3: dim 1 of input 'x' has size 0, fewer than dp = 2",
                                  "help: do not split it, or a larger size: in the plan if the dim is dynamic, "
                                  "else in the export"));
}

TEST_F(BuildProgram, WhatIsStatedIsBesideTheFunction) {
  linear();
  ASSERT_TRUE(build("a: colwise tp, output replicate"));
  EXPECT_EQ(std::distance(owner->getBody()->begin(), owner->getBody()->end()), 4) << "mesh, style, border, function";
  EXPECT_EQ((*owner->getOps<plan::StyleOp>().begin()).getModule(), "a");
  diagnostics = Diagnostics(sources);
  EXPECT_FALSE(build("a: replicate\nfreeze a")) << "what is not honoured is not a program";
}

} // namespace
