//===- functions_test.cpp - derivatives of functions of one element -------===//

#include "../derive.h"

using namespace meshplan;

namespace {

class FunctionDerivatives : public DeriveTest {
protected:
  std::string of(const char *function, const char *args = "") {
    return derive("aten." + std::string(function) + ".default", std::string("self = $0") + args, "4xf32 -> 4xf32");
  }
};

constexpr char last[] = ": 4xf32\na: %";

/// The gradient times the derivative, which is call `number`.
std::string times(unsigned number) {
  std::string next = std::to_string(number + 1);
  return ": 4xf32\n%" + next + " = aten.mul.Tensor(other %" + std::to_string(number) + ", self g)" + last + next;
}

TEST_F(FunctionDerivatives, SlopesOfTheOperand) {
  EXPECT_EQ(of("sin"), "%0 = aten.cos.default(self a)" + times(0));
  EXPECT_EQ(of("cos"), "%0 = aten.sin.default(self a): 4xf32\n%1 = aten.neg.default(self %0)" + times(1));
  EXPECT_EQ(of("erf"), "%0 = aten.mul.Tensor(other a, self a): 4xf32\n%1 = aten.neg.default(self %0): 4xf32\n"
                       "%2 = aten.exp.default(self %1): 4xf32\n%3 = aten.mul.Scalar(other 1.12838, self %2)" +
                           times(3));
}

TEST_F(FunctionDerivatives, SlopesOfTheResult) {
  EXPECT_EQ(of("exp"), "%0 = aten.mul.Tensor(other r, self g): 4xf32\na: %0");
  EXPECT_EQ(of("exp2"), "%0 = aten.mul.Scalar(other 0.693147, self r)" + times(0));
  EXPECT_EQ(of("expm1"), "%0 = aten.add.Scalar(other 1, self r)" + times(0));
  EXPECT_EQ(of("rsqrt"), "%0 = aten.pow.Tensor_Scalar(exponent 3, self r): 4xf32\n"
                         "%1 = aten.mul.Scalar(other -0.5, self %0)" +
                             times(1));
  EXPECT_EQ(of("reciprocal"),
            "%0 = aten.mul.Tensor(other r, self r): 4xf32\n%1 = aten.neg.default(self %0)" + times(1));
}

TEST_F(FunctionDerivatives, QuotientsOfTheGradient) {
  EXPECT_EQ(of("log"), "%0 = aten.div.Tensor(other a, self g): 4xf32\na: %0");
  EXPECT_EQ(of("log2"), "%0 = aten.mul.Scalar(other 0.693147, self a): 4xf32\n"
                        "%1 = aten.div.Tensor(other %0, self g): 4xf32\na: %1");
  EXPECT_EQ(of("log10"), "%0 = aten.mul.Scalar(other 2.30259, self a): 4xf32\n"
                         "%1 = aten.div.Tensor(other %0, self g): 4xf32\na: %1");
  EXPECT_EQ(of("log1p"), "%0 = aten.add.Scalar(other 1, self a): 4xf32\n"
                         "%1 = aten.div.Tensor(other %0, self g): 4xf32\na: %1");
  EXPECT_EQ(of("sqrt"), "%0 = aten.mul.Scalar(other 2, self r): 4xf32\n"
                        "%1 = aten.div.Tensor(other %0, self g): 4xf32\na: %1");
}

TEST_F(FunctionDerivatives, OperatorsOfATenForTheBackwardPass) {
  EXPECT_EQ(of("sigmoid"), "%0 = aten.sigmoid_backward.default(grad_output g, output r): 4xf32\na: %0");
  EXPECT_EQ(of("tanh"), "%0 = aten.tanh_backward.default(grad_output g, output r): 4xf32\na: %0");
  EXPECT_EQ(of("silu"), "%0 = aten.silu_backward.default(grad_output g, self a): 4xf32\na: %0");
  EXPECT_EQ(of("gelu"), "%0 = aten.gelu_backward.default(grad_output g, self a): 4xf32\na: %0");
  EXPECT_EQ(of("gelu", ", approximate = \"tanh\""),
            "%0 = aten.gelu_backward.default(approximate 'tanh', grad_output g, self a): 4xf32\na: %0");
  for (const char *name : {"hardswish", "hardsigmoid", "mish"})
    EXPECT_EQ(of(name), "%0 = aten." + std::string(name) + "_backward.default(grad_output g, self a): 4xf32\na: %0");
  EXPECT_EQ(of("relu"), "%0 = aten.threshold_backward.default(grad_output g, self r, threshold 0): 4xf32\na: %0");
}

/// Arguments for which ATen's operators have no default.
TEST_F(FunctionDerivatives, ArgumentsThatAreLeftOutAreStated) {
  EXPECT_EQ(of("leaky_relu"), "%0 = aten.leaky_relu_backward.default(grad_output g, negative_slope 0.01, self a, "
                              "self_is_result false): 4xf32\na: %0");
  EXPECT_EQ(of("softplus", ", beta = 2"),
            "%0 = aten.softplus_backward.default(beta 2, grad_output g, self a, threshold 20): 4xf32\na: %0");
  EXPECT_EQ(of("elu", ", alpha = 0.5"), "%0 = aten.elu_backward.default(alpha 0.5, grad_output g, input_scale 1, "
                                        "is_result false, scale 1, self_or_result a): 4xf32\na: %0");
  EXPECT_EQ(of("hardtanh"),
            "%0 = aten.hardtanh_backward.default(grad_output g, max_val 1, min_val -1, self a): 4xf32\na: %0");
  EXPECT_EQ(of("relu6"),
            "%0 = aten.hardtanh_backward.default(grad_output g, max_val 6, min_val 0, self a): 4xf32\na: %0");
}

/// The logarithm of sigmoid(x) is -softplus(-x): its slope is sigmoid(-x).
TEST_F(FunctionDerivatives, LogSigmoidIsASoftplus) {
  EXPECT_EQ(of("log_sigmoid"), "%0 = aten.neg.default(self a): 4xf32\n%1 = aten.softplus_backward.default(beta 1, "
                               "grad_output g, self %0, threshold 20): 4xf32\na: %1");
}

TEST_F(FunctionDerivatives, DropoutThatDropsNothing) {
  EXPECT_EQ(derive("aten.dropout.default", "input = $0, p = 0.1, train = false", "4xf32 -> 4xf32"), "a: g");
  EXPECT_EQ(derive("aten.dropout.default", "input = $0, p = 0.0, train = true", "4xf32 -> 4xf32"), "a: g");
  EXPECT_EQ(derive("aten.dropout.default", "input = $0, p = 0.1, train = true", "4xf32 -> 4xf32"),
            "refused: it draws random numbers");
}

TEST_F(FunctionDerivatives, DropoutOfRowsDropsOfTheGradient) {
  EXPECT_EQ(deriveOnly({0}, "meshplan.dropout_rows",
                       "rows = $0, positions = $1, seed = $2, step = $3, p = 0.1, number = 3 : i64",
                       "2x3x4xbf16, 2x3xi64, f64, f64 -> 2x3x4xbf16"),
            "%0 = meshplan.dropout_rows(number 3, p 0.1, positions b, rows g, seed c, step d): 2x3x4xbf16\na: %0");
}

TEST_F(FunctionDerivatives, DropoutByNumberDropsOfTheGradient) {
  EXPECT_EQ(deriveOnly({0}, "meshplan.dropout", "input = $0, seed = $1, step = $2, p = 0.1, number = 3 : i64",
                       "4xbf16, f64, f64 -> 4xbf16"),
            "%0 = meshplan.dropout(input g, number 3, p 0.1, seed b, step c): 4xbf16\na: %0");
  EXPECT_EQ(derive("meshplan.uniform", "seed = $0, step = $1, size = [4], number = 3 : i64", "f64, f64 -> 4xf32"),
            "nothing");
}

} // namespace
