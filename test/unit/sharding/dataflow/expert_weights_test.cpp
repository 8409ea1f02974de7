//===- expert_weights_test.cpp - weights of the experts of a mixture ------===//

#include "compiler/sharding/dataflow/expert_weights.h"
#include "test/unit/dialect/plan_text.h"

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

class ExpertWeightsTest : public PlanText {
protected:
  /// Each weight of a product with `value`, [experts 4, 6, 2], as `number of the argument: dim, size`.
  std::string weightsOf(StringRef calls, StringRef value) {
    readModule(
        (R"(
      plan.mesh [#base.mesh_axis<"dp" = 2>]
      func.func @f(%x: tensor<4x3x2xf32> {plan.kind = #plan.kind<input>},
                   %counts: tensor<4x3xi64> {plan.kind = #plan.kind<input>},
                   %w: tensor<4x6x2xf32> {plan.kind = #plan.kind<parameter>},
                   %a: tensor<20x2xf32> {plan.kind = #plan.kind<parameter>},
                   %b: tensor<6x20xf32> {plan.kind = #plan.kind<parameter>},
                   %c: tensor<6x4x2xf32> {plan.kind = #plan.kind<parameter>},
                   %n: tensor<4x6x2xbf16> {plan.kind = #plan.kind<parameter>},
                   %one: tensor<6x2xf32> {plan.kind = #plan.kind<parameter>}) {
        )" +
         calls + R"(
        %rows = plan.call "meshplan.grouped_linear"(%x, )" +
         value +
         R"(, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
            : (tensor<4x3x2xf32>, tensor<4x6x2xf32>, tensor<4x3xi64>) -> tensor<4x3x6xf32>
        return
      })")
            .str());
    SmallVector<CallOp> all;
    owner->walk([&](CallOp call) { all.push_back(call); });
    std::string text;
    for (const ExpertWeight &weight : weightsOfExperts(all))
      text += (text.empty() ? "" : "; ") + std::to_string(weight.argument.getArgNumber()) + ": " +
              std::to_string(weight.dim) + ", " + std::to_string(weight.size);
    return text;
  }
};

TEST_F(ExpertWeightsTest, OfOneParameterThatMayBeConverted) {
  EXPECT_EQ(weightsOf("", "%w"), "2: 0, 1");
  EXPECT_EQ(weightsOf(R"(%0 = plan.call "aten.to.dtype"(%n) {self = #base.operand<0>, dtype = f32}
                          : (tensor<4x6x2xbf16>) -> tensor<4x6x2xf32>)",
                      "%0"),
            "6: 0, 1");
}

TEST_F(ExpertWeightsTest, OfSumsAndProductsOfParameters) {
  EXPECT_EQ(weightsOf(R"(
        %0 = plan.call "aten.view.default"(%a) {self = #base.operand<0>, size = [4, 5, 2]} : (tensor<20x2xf32>) -> tensor<4x5x2xf32>
        %1 = plan.call "aten.view.default"(%b) {self = #base.operand<0>, size = [6, 5, 4]} : (tensor<6x20xf32>) -> tensor<6x5x4xf32>
        %2 = plan.call "aten.einsum.default"(%1, %0) {equation = "ore,eri->eoi", tensors = [#base.operand<0>, #base.operand<1>]}
            : (tensor<6x5x4xf32>, tensor<4x5x2xf32>) -> tensor<4x6x2xf32>
        %3 = plan.call "aten.add.Tensor"(%w, %2) {self = #base.operand<0>, other = #base.operand<1>}
            : (tensor<4x6x2xf32>, tensor<4x6x2xf32>) -> tensor<4x6x2xf32>)",
                      "%3"),
            "2: 0, 1; 3: 0, 5");
}

TEST_F(ExpertWeightsTest, InAnotherDim) {
  EXPECT_EQ(weightsOf(R"(%0 = plan.call "aten.permute.default"(%c) {self = #base.operand<0>, dims = [1, 0, 2]}
                          : (tensor<6x4x2xf32>) -> tensor<4x6x2xf32>)",
                      "%0"),
            "5: 1, 1");
}

TEST_F(ExpertWeightsTest, NotOfWhatAllExpertsHave) {
  EXPECT_EQ(weightsOf(R"(%0 = plan.call "aten.mul.Tensor"(%w, %one) {self = #base.operand<0>, other = #base.operand<1>}
                          : (tensor<4x6x2xf32>, tensor<6x2xf32>) -> tensor<4x6x2xf32>)",
                      "%0"),
            "2: 0, 1");
}

TEST_F(ExpertWeightsTest, NotOfModulesThatAreStacked) {
  EXPECT_EQ(weightsOf(R"(%0 = plan.call "aten.stack.default"(%one, %one, %one, %one)
                          {tensors = [#base.operand<0>, #base.operand<1>, #base.operand<2>, #base.operand<3>], dim = 0 : i64}
                          : (tensor<6x2xf32>, tensor<6x2xf32>, tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<4x6x2xf32>)",
                      "%0"),
            "");
}

} // namespace
