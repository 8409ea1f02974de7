#include "test/unit/tensor/call_helper.h"

#include <gmock/gmock.h>
#include <torch/csrc/autograd/autograd.h>

using namespace meshplan;

namespace {

struct NormCase {
  const char *name;
  std::vector<int64_t> rows, shape;
  bool layer = false, weighted = false;
  std::optional<double> eps = {};
  double size = 1; // of the elements of the input
};

struct Operands {
  at::Tensor input, weight, gradient;
};

Operands makeOperands(const NormCase &c, at::ScalarType type) {
  at::manual_seed(7);
  std::vector<int64_t> sizes = c.rows;
  sizes.insert(sizes.end(), c.shape.begin(), c.shape.end());
  Operands operands;
  operands.input = ((at::randn(sizes, at::kDouble) + 0.5) * c.size).to(type);
  operands.gradient = at::randn(sizes, at::kDouble).to(type);
  if (c.weighted)
    operands.weight = at::randn(c.shape, at::kDouble).to(type);
  return operands;
}

/// Gradients of input and weight.
std::pair<at::Tensor, at::Tensor> expectedNormGradients(const NormCase &c, const Operands &given,
                                                        std::optional<double> eps) {
  at::Tensor input = given.input.to(at::kDouble).clone().requires_grad_(true);
  at::Tensor weight = c.weighted ? given.weight.to(at::kDouble) : at::ones(c.shape, at::kDouble);
  weight = weight.clone().requires_grad_(true);
  at::Tensor out = c.layer ? at::layer_norm(input, c.shape, weight, {}, eps.value_or(1e-5))
                           : at::rms_norm(input, c.shape, weight, eps);
  auto found = torch::autograd::grad({out}, {input, weight}, {given.gradient.to(at::kDouble)});
  return {found[0], found[1]};
}

std::pair<at::Tensor, at::Tensor> callNorm(const NormCase &c, const Operands &given) {
  std::string norm = c.layer ? "meshplan.layer_norm" : "meshplan.rms_norm";
  std::vector<Argument> literals = {{"normalized_shape", c.shape}};
  if (c.eps)
    literals.push_back({"eps", *c.eps});
  NamedTensors named = {{"gradient", given.gradient}, {"input", given.input}};
  at::Tensor weight = callNamed(norm + "_weight_gradient", named, literals)[0];
  named.push_back({"weight", given.weight});
  return {callNamed(norm + "_input_gradient", named, literals)[0], weight};
}

/// The default eps of the computation's type, passed to PyTorch in f64.
std::optional<double> epsOf(const NormCase &c, at::ScalarType type) {
  if (c.eps || c.layer || type == at::kDouble)
    return c.eps;
  return std::numeric_limits<float>::epsilon();
}

class NormsTest : public testing::TestWithParam<NormCase> {};

} // namespace

TEST_P(NormsTest, AgreesWithAutograd) {
  const NormCase &c = GetParam();
  // Rounding units: 2^-53 and 2^-24 for sums of some hundred values, then 16 bits for one rounding at the end.
  for (auto [type, sums, unit] : {std::tuple(at::kDouble, 1e-13, 0.0), std::tuple(at::kFloat, 2e-5, 0.0),
                                  std::tuple(at::kBFloat16, 2e-5, 0x1p-8), std::tuple(at::kHalf, 2e-5, 0x1p-11)}) {
    Operands given = makeOperands(c, type);
    auto [input, weight] = expectedNormGradients(c, given, epsOf(c, type));
    auto [inputFound, weightFound] = callNorm(c, given);
    EXPECT_EQ(inputFound.scalar_type(), type);
    EXPECT_EQ(weightFound.scalar_type(), type);
    auto isWithin = [&](const at::Tensor &found, const at::Tensor &expected) {
      EXPECT_EQ(found.sizes(), expected.sizes());
      double largest = expected.numel() == 0 ? 0 : expected.abs().max().item<double>();
      at::Tensor bound = expected.abs() * unit + largest * sums + sums;
      return (found.to(at::kDouble) - expected).abs().le(bound).all().item<bool>();
    };
    EXPECT_TRUE(isWithin(inputFound, input)) << at::toString(type);
    EXPECT_TRUE(isWithin(weightFound, weight)) << at::toString(type);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, NormsTest,
    testing::Values(
        NormCase{.name = "layer", .rows = {3, 5}, .shape = {7}, .layer = true},
        NormCase{.name = "layerWeighted", .rows = {3, 5}, .shape = {7}, .layer = true, .weighted = true, .eps = 1e-3},
        NormCase{.name = "layerOfTwoDims", .rows = {4}, .shape = {3, 5}, .layer = true, .weighted = true},
        NormCase{.name = "layerWithoutRowDims", .rows = {}, .shape = {6}, .layer = true, .weighted = true},
        NormCase{.name = "layerInBlocks", .rows = {300}, .shape = {700}, .layer = true, .weighted = true},
        NormCase{.name = "layerWithoutRows", .rows = {0, 2}, .shape = {6}, .layer = true, .weighted = true},
        NormCase{.name = "rms", .rows = {3, 5}, .shape = {7}},
        NormCase{.name = "rmsWeighted", .rows = {3, 5}, .shape = {7}, .weighted = true, .eps = 1e-6},
        NormCase{.name = "rmsOfTwoDims", .rows = {4}, .shape = {3, 5}, .weighted = true},
        NormCase{.name = "rmsInBlocks", .rows = {300}, .shape = {700}, .weighted = true},
        NormCase{.name = "rmsOfSmallNumbers", .rows = {4}, .shape = {64}, .weighted = true, .size = 1e-3},
        NormCase{.name = "rmsWithoutRows", .rows = {0}, .shape = {6}, .weighted = true}),
    [](const auto &info) { return info.param.name; });

/// For small values, the default eps decides the result.
TEST(NormsTest, NoEpsIsThatOfPyTorch) {
  for (at::ScalarType type : {at::kDouble, at::kFloat, at::kBFloat16}) {
    Operands given = makeOperands({.name = "", .rows = {4}, .shape = {64}, .size = 1e-4}, type);
    at::Tensor input = given.input.clone().requires_grad_(true);
    at::Tensor expected = torch::autograd::grad({at::rms_norm(input, {64})}, {input}, {given.gradient})[0];
    at::Tensor found = callNorm({.name = "", .shape = {64}}, given).first;
    // PyTorch rounds to 16 bits between its steps; another eps would change the result by half or more.
    double tolerance = type == at::kBFloat16 ? 0.05 : 1e-5;
    EXPECT_LT(difference(found, expected), tolerance * expected.abs().max().item<double>()) << at::toString(type);
  }
}

TEST(NormsTest, StridedOperands) {
  for (bool layer : {true, false}) {
    NormCase c{.name = "", .rows = {5, 3}, .shape = {8}, .layer = layer, .weighted = true};
    Operands given = makeOperands(c, at::kDouble), strided = given;
    strided.input = given.input.transpose(0, 2).contiguous().transpose(0, 2);
    strided.gradient = given.gradient.select(0, 0).expand_as(given.gradient);
    given.gradient = strided.gradient.contiguous();
    EXPECT_LT(difference(callNorm(c, strided).first, callNorm(c, given).first), 1e-14);
    EXPECT_LT(difference(callNorm(c, strided).second, callNorm(c, given).second), 1e-14);
  }
}

TEST(NormsTest, Refusals) {
  at::Tensor x = at::zeros({2, 3});
  auto failure = [&](const at::Tensor &gradient, const at::Tensor &weight, std::vector<int64_t> shape) {
    return failureOf("meshplan.layer_norm_input_gradient", {{"gradient", gradient}, {"input", x}, {"weight", weight}},
                     {{"normalized_shape", shape}});
  };
  EXPECT_EQ(failure(x, {}, {3}), "");
  EXPECT_EQ(failure(x, {}, {2}), "input [2, 3] does not end in the dims [2]");
  EXPECT_EQ(failure(x, {}, {}), "input [2, 3] does not end in the dims []");
  EXPECT_EQ(failure(x, {}, {1, 2, 3}), "input [2, 3] does not end in the dims [1, 2, 3]");
  EXPECT_EQ(failure(x[0], {}, {3}), "gradient [3] does not fit input [2, 3]");
  EXPECT_EQ(failure(x, x, {3}), "weight [2, 3] does not have the dims [3]");
}
