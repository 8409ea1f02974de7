//===- flat_calls_test.cpp - calls that run on runs of elements -----------===//

#include "compiler/sharding/op_record.h"
#include "compiler/sharding/storage/flat_calls.h"
#include "test/unit/dialect/plan_text.h"
#include "llvm/ADT/StringExtras.h"

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

class FlatCalls : public PlanText {
protected:
  /// A call of "target" on operands of these types; `results` are types, too.
  CallOp parse(StringRef target, ArrayRef<std::string> operands, ArrayRef<std::string> results) {
    std::string arguments, names, args, types;
    for (auto [index, operand] : llvm::enumerate(operands)) {
      std::string separator = index == 0 ? "" : ", ", name = "%a" + std::to_string(index);
      arguments += separator + name + ": " + operand;
      names += separator + name;
      args += separator + "x" + std::to_string(index) + " = #base.operand<" + std::to_string(index) + ">";
      types += separator + operand;
    }
    readModule("plan.mesh [#base.mesh_axis<\"pod\" = 2>, #base.mesh_axis<\"dp\" = 2>, #base.mesh_axis<\"tp\" = 3>]\n"
               "func.func @f(" +
               arguments + ") { %0" + (results.size() > 1 ? ":" + std::to_string(results.size()) : "") +
               " = plan.call \"" + target.str() + "\"(" + names + ") {" + args + "} : (" + types + ") -> (" +
               llvm::join(results, ", ") + ")\n return }");
    CallOp found;
    owner->walk([&](CallOp each) { found = each; });
    return found;
  }

  /// A tensor of this shape and sharding.
  static std::string tensor(StringRef shape, StringRef sharding) {
    return ("tensor<" + shape + "xf32, #plan.sharding<" + sharding + ">>").str();
  }

  const std::string flat = tensor("8x6", R"([{"tp"}, {}], flat = {"pod", "dp"})"), plain = "tensor<8x6xf32>";
};

} // namespace

TEST_F(FlatCalls, PointwiseOnesRunOnTheSameRuns) {
  CallOp sgd = parse("meshplan.sgd", {flat, flat, "tensor<f64, #plan.sharding<[]>>"}, {plain});
  EXPECT_TRUE(hasFlatOperand(sgd));
  EXPECT_TRUE(runsFlat(sgd));
  ASSERT_EQ(flatResults(sgd, mesh()).size(), 1u);
  EXPECT_EQ(flatResults(sgd, mesh())[0], getSharding(sgd.getOperand(0)));
  EXPECT_TRUE(runsFlat(parse("aten._to_copy.default", {flat}, {plain})));
}

TEST_F(FlatCalls, OthersHaveToKnowDims) {
  EXPECT_FALSE(runsFlat(parse("aten.sum.dim_IntList", {flat}, {"tensor<8xf32>"})));
  EXPECT_FALSE(runsFlat(parse("aten.t.default", {flat}, {"tensor<6x8xf32>"})));
  EXPECT_FALSE(runsFlat(parse("aten.unknown.default", {flat}, {plain})));
}

TEST_F(FlatCalls, AllTensorsAreTheSamePart) {
  for (const char *other : {R"([{"tp"}, {}])", R"([{}, {"tp"}], flat = {"pod", "dp"})",
                            R"([{"tp"}, {}], flat = {"dp", "pod"})", R"([{"tp"}, {}], flat = {"dp"})"})
    EXPECT_FALSE(
        runsFlat(parse("meshplan.sgd", {flat, tensor("8x6", other), "tensor<f64, #plan.sharding<[]>>"}, {plain})))
        << other;
  std::string dims = tensor("8x6", R"([{"tp"}, {}])");
  CallOp whole = parse("meshplan.sgd", {dims, dims, "tensor<f64, #plan.sharding<[]>>"}, {plain});
  EXPECT_FALSE(hasFlatOperand(whole));
  EXPECT_FALSE(runsFlat(whole)) << "nothing is flat";
}

TEST_F(FlatCalls, ASumIsAnAddendOverAllThatDivides) {
  CallOp sum = parse("meshplan.square_sum", {flat}, {"tensor<f32>"});
  EXPECT_TRUE(runsFlat(sum));
  ShardingAttr made = flatResults(sum, mesh())[0];
  EXPECT_EQ(made.getReduction(), Reduction::sum);
  // In the order of the mesh, so that sums of parameters with several styles are reduced together.
  EXPECT_EQ(made, sharding(R"([], partial = sum {"pod", "dp", "tp"})"));
}

/// One rank has the scalar, and the others have nothing.
TEST_F(FlatCalls, ANumberIsATensorToo) {
  std::string number = "tensor<f32, #plan.sharding<[], flat = {\"dp\"}>>";
  CallOp sgd = parse("meshplan.sgd", {number, number, "tensor<f64, #plan.sharding<[]>>"}, {"tensor<f32>"});
  EXPECT_TRUE(runsFlat(sgd));
  EXPECT_EQ(flatResults(sgd, mesh())[0], sharding("[], flat = {\"dp\"}"));
  CallOp sum = parse("meshplan.square_sum", {number}, {"tensor<f32>"});
  EXPECT_EQ(flatResults(sum, mesh())[0], sharding("[], partial = sum {\"dp\"}"));
}

TEST_F(FlatCalls, SharedUnitsWouldCountTwice) {
  std::string shared = tensor("8x6", R"([{"tp", unit 4, repeat 3}, {}], flat = {"dp"})");
  EXPECT_FALSE(runsFlat(parse("meshplan.square_sum", {shared}, {"tensor<f32>"})));
  EXPECT_TRUE(runsFlat(parse("meshplan.sgd", {shared, shared, "tensor<f64, #plan.sharding<[]>>"}, {plain})));
}
