//===- loss_test.cpp - derivatives of losses ------------------------------===//

#include "../derive.h"
#include "compiler/derivatives/derivative_rules.h"

using namespace meshplan;

namespace {

class LossDerivatives : public DeriveTest {
protected:
  /// The gradient of the operands of `meshplan.token_loss`, preceded by the calls that the importer inserts.
  std::string tokenLoss(llvm::StringRef before, llvm::StringRef operands, llvm::StringRef args, llvm::StringRef types) {
    std::string text = ("func.func @f(%a: tensor<6x12xf32>, %b: tensor<6xi64>, %c: tensor<12xf32>, %d: tensor<6xf32>, "
                        "%g: tensor<6xf32>) {\n" +
                        before + "%r = plan.call \"meshplan.token_loss\"(" + operands + ") {" + args +
                        "} in \"block\" : (" + types + ") -> tensor<6xf32>\nreturn\n}")
                           .str();
    readModule(text);
    auto calls = llvm::to_vector(function().getOps<plan::CallOp>());
    plan::CallOp loss = calls.back();
    mlir::Value gradient = argument(4);
    llvm::BitVector wanted(loss.getNumOperands());
    for (unsigned index = 0; index < loss.getNumOperands(); ++index)
      wanted[index] = loss.getOperand(index).getDefiningOp() && !elementOf(loss.getOperand(index)).isInteger();
    Derivation made(loss, gradient, wanted, mlir::OpBuilder(loss->getBlock()->getTerminator()));
    derivativeOf("meshplan.token_loss")(made);
    if (!made.getRefusal().empty())
      return "refused: " + made.getRefusal().str();
    auto &[value, given] = *made.getGiven().begin();
    EXPECT_EQ(made.getGiven().size(), 1u);
    EXPECT_EQ(value, argument(0)) << "the logits get the gradient";
    EXPECT_EQ(given.getType(), value.getType());
    auto call = given.getDefiningOp<plan::CallOp>();
    return (call.getTarget() + " " + print(mlir::Attribute(call.getArgs()))).str();
  }
};

constexpr char rows[] = R"(
  %max = plan.call "meshplan.row_max"(%a) {input = #base.operand<0>} : (tensor<6x12xf32>) -> tensor<6xf32>
  %sum = plan.call "meshplan.row_sum_exp"(%a, %max) {input = #base.operand<0>, max = #base.operand<1>}
      : (tensor<6x12xf32>, tensor<6xf32>) -> tensor<6xf32>
  %picked = plan.call "meshplan.row_pick"(%a, %b) {input = #base.operand<0>, target = #base.operand<1>}
      : (tensor<6x12xf32>, tensor<6xi64>) -> tensor<6xf32>
)";

/// Neither the maximum nor the sum nor the picked logit has a gradient of its own.
TEST_F(LossDerivatives, TheCrossEntropyIsDifferentiatedAsOne) {
  EXPECT_EQ(tokenLoss(rows, "%max, %sum, %picked, %b",
                      "max = #base.operand<0>, sum_exp = #base.operand<1>, picked = #base.operand<2>, "
                      "target = #base.operand<3>, classes = 12, ignore_index = -1",
                      "tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi64>"),
            "meshplan.row_loss_gradient {classes = 12 : i64, gradient = #base.operand<0>, ignore_index = -1 : i64, "
            "input = #base.operand<1>, max = #base.operand<3>, sum_exp = #base.operand<4>, target = #base.operand<2>}");
  for (const char *target : {"meshplan.row_max", "meshplan.row_sum_exp", "meshplan.row_pick",
                             "meshplan.row_sum_log_softmax", "meshplan.count_tokens"})
    EXPECT_EQ(derive(target, "input = $0", "6x12xf32 -> 6xf32"), "nothing") << target;
}

TEST_F(LossDerivatives, SmoothedLossesNameTheWeightsOfTheClasses) {
  std::string before = (llvm::Twine(rows) + R"(
  %row_sum = plan.call "meshplan.row_sum_log_softmax"(%a, %max, %sum, %c)
      {input = #base.operand<0>, max = #base.operand<1>, sum_exp = #base.operand<2>, weight = #base.operand<3>}
      : (tensor<6x12xf32>, tensor<6xf32>, tensor<6xf32>, tensor<12xf32>) -> tensor<6xf32>
)")
                           .str();
  EXPECT_EQ(tokenLoss(before, "%max, %sum, %picked, %b, %row_sum, %d",
                      "max = #base.operand<0>, sum_exp = #base.operand<1>, picked = #base.operand<2>, "
                      "target = #base.operand<3>, row_sum = #base.operand<4>, weight = #base.operand<5>, "
                      "label_smoothing = 0.1, classes = 12",
                      "tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi64>, tensor<6xf32>, tensor<6xf32>"),
            "meshplan.row_loss_gradient {class_weight = #base.operand<6>, classes = 12 : i64, gradient = "
            "#base.operand<0>, ignore_index = -100 : i64, input = #base.operand<1>, label_smoothing = 1.000000e-01 : "
            "f64, max = #base.operand<3>, sum_exp = #base.operand<4>, target = #base.operand<2>, weight = "
            "#base.operand<5>}");
}

TEST_F(LossDerivatives, LogitsThatAreNotPickedCannotBeFound) {
  EXPECT_EQ(
      tokenLoss("", "%d, %b", "picked = #base.operand<0>, target = #base.operand<1>", "tensor<6xf32>, tensor<6xi64>"),
      "refused: the loss does not pick its logits by 'meshplan.row_pick'");
}

TEST_F(LossDerivatives, WeightsOfClassesAreNotTrained) {
  std::string before = (llvm::Twine(rows) + R"(
  %weight = plan.call "meshplan.class_weight"(%c, %b) {weight = #base.operand<0>, target = #base.operand<1>}
      : (tensor<12xf32>, tensor<6xi64>) -> tensor<6xf32>
)")
                           .str();
  EXPECT_EQ(tokenLoss(before, "%max, %sum, %picked, %b, %weight",
                      "max = #base.operand<0>, sum_exp = #base.operand<1>, picked = #base.operand<2>, "
                      "target = #base.operand<3>, weight = #base.operand<4>",
                      "tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi64>, tensor<6xf32>"),
            "refused: weights of classes cannot be trained");
}

TEST_F(LossDerivatives, SquaresOfDifferences) {
  EXPECT_EQ(derive("aten.mse_loss.default", "self = $0, target = $1, reduction = 0", "4x6xf32, 6xf32 -> 4x6xf32"),
            "%0 = aten.sub.Tensor(other b, self a): 4x6xf32\n"
            "%1 = aten.mul.Tensor(other %0, self g): 4x6xf32\n"
            "%2 = aten.mul.Scalar(other 2, self %1): 4x6xf32\n"
            "%3 = aten.neg.default(self %2): 4x6xf32\n"
            "%4 = aten.sum.dim_IntList(dim [0], keepdim false, self %3): 6xf32\na: %2\nb: %4");
}

} // namespace
