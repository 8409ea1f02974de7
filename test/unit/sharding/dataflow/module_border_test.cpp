//===- module_border_test.cpp - inputs and outputs of modules -------------===//

#include "compiler/sharding/dataflow/module_border.h"
#include "dialect/plan/attributes.h"
#include "test/unit/report/explain/plan_module.h"

using namespace meshplan;

namespace {

class BorderTest : public testing::Test {
protected:
  /// "x" for an argument, "layers.0.up" for the result of a call.
  static std::string nameOf(mlir::Value value) {
    if (auto call = value.getDefiningOp<plan::CallOp>())
      return call.getModule()->str();
    auto argument = mlir::cast<mlir::BlockArgument>(value);
    auto function = mlir::cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
    auto names = plan::argAttr<plan::attr::Names>(function, argument.getArgNumber());
    return mlir::cast<mlir::StringAttr>(names[0]).str();
  }

  static std::vector<std::string> names(llvm::ArrayRef<BorderValue> values) {
    std::vector<std::string> result;
    for (const BorderValue &value : values)
      result.push_back(nameOf(value.value) + " x" + std::to_string(value.uses.size()));
    return result;
  }

  /// Inputs and outputs are names, followed by "x" and the number of their uses.
  void expectBorder(llvm::StringRef path, size_t calls, const std::vector<std::string> &inputs,
                    const std::vector<std::string> &outputs) {
    ModuleBorder border = findBorder(module.function(), path);
    EXPECT_EQ(border.calls.size(), calls);
    EXPECT_EQ(names(border.inputs), inputs);
    EXPECT_EQ(names(border.outputs), outputs);
  }

  PlanModule module{twoLayers};
};

} // namespace

TEST_F(BorderTest, LooksThroughCollectives) {
  expectBorder("layers.0.up", 1, {"layers.0.norm x1"}, {"layers.0.up x2"});
}

TEST_F(BorderTest, StatedLayoutsKnowWhatTheyAreStatedOf) {
  mlir::OpBuilder builder(module.function().getContext());
  builder.setInsertionPointToStart(&module.function().getBody().front());
  mlir::Value x = module.function().getArgument(0);
  auto constrain = [&] {
    int64_t rank = mlir::cast<mlir::RankedTensorType>(x.getType()).getRank();
    return plan::ConstrainOp::create(builder, x.getLoc(), x.getType(), x,
                                     plan::ShardingAttr::getReplicated(builder.getContext(), rank),
                                     builder.getArrayAttr({}), "output replicate");
  };
  plan::ConstrainOp input = constrain(), output = constrain(), style = constrain();
  markInput(input, "layers.0");
  markOutput(output, "layers.0.up");
  EXPECT_EQ(moduleOfInput(input).getValue(), "layers.0");
  EXPECT_EQ(moduleOfOutput(output).getValue(), "layers.0.up");
  for (plan::ConstrainOp each : {output, style})
    EXPECT_FALSE(moduleOfInput(each));
  for (plan::ConstrainOp each : {input, style})
    EXPECT_FALSE(moduleOfOutput(each));
}

TEST_F(BorderTest, HoldsTheModulesInside) {
  // The outputs in program order; the addends of `down` stay inside.
  expectBorder("layers.0", 4, {"x x2"}, {"layers.0.up x1", "layers.0 x1"});
}

TEST_F(BorderTest, TheRootHoldsAll) { expectBorder("", 6, {"x x2"}, {"layers.1 x1"}); }

TEST(RootBorder, HasWhatTheModelReturnsInItsOrder) {
  PlanModule module(R"(
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @forward(%x: tensor<8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
                   %b: tensor<8xf32> {plan.kind = #plan.kind<buffer>, plan.names = ["b"]})
    -> (tensor<8xf32> {plan.name = "0"}, tensor<8xf32> {plan.name = "1"}, tensor<8xf32> {plan.updates = #plan.argument<buffer "b">}) {
  %0 = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} in "norm" : (tensor<8xf32>) -> tensor<8xf32>
  %1 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "norm" : (tensor<8xf32>) -> tensor<8xf32>
  %2 = plan.call "aten.sin.default"(%1) {self = #base.operand<0>} in "head" : (tensor<8xf32>) -> tensor<8xf32>
  return %2, %1, %0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
})");
  auto targets = [&](llvm::StringRef path) {
    std::vector<std::string> result;
    for (const BorderValue &output : findBorder(module.function(), path).outputs)
      result.push_back(output.value.getDefiningOp<plan::CallOp>().getTarget().str());
    return result;
  };
  EXPECT_EQ(targets(""), (std::vector<std::string>{"aten.sin.default", "aten.neg.default"}));
  EXPECT_EQ(targets("norm"), (std::vector<std::string>{"aten.neg.default"})) << "a buffer keeps the other";
}

TEST_F(BorderTest, APrefixOfANameIsAnotherModule) {
  EXPECT_TRUE(findBorder(module.function(), "layer").calls.empty());
  EXPECT_TRUE(findBorder(module.function(), "layers.0.u").calls.empty());
}

TEST_F(BorderTest, ACallOfAModuleHasABorderOfItsOwn) {
  // `down` of both layers as two calls of one module; the second reads the result of the first.
  auto calls = llvm::to_vector(module.function().getOps<plan::CallOp>());
  for (plan::CallOp call : calls) {
    bool isSecond = call.getModule()->starts_with("layers.1");
    call.setModule("block");
    if (isSecond)
      plan::setModuleRuns(call, {{"block", 1}});
  }
  ModuleBorder first = findBorder(module.function(), plan::ModuleRun{"block", 0}),
               second = findBorder(module.function(), plan::ModuleRun{"block", 1});
  EXPECT_EQ(first.calls.size() + second.calls.size(), calls.size());
  ASSERT_FALSE(second.inputs.empty());
  EXPECT_TRUE(llvm::any_of(second.inputs, [&](const BorderValue &input) {
    return llvm::any_of(first.outputs, [&](const BorderValue &output) { return output.value == input.value; });
  })) << "what one call makes and the other reads crosses the border of both";
  EXPECT_EQ(findBorder(module.function(), "block").outputs.size(), 1u) << "together they keep it inside";
}
