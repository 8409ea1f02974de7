//===- convolution_test.cpp - gradients of convolutions -------------------===//

#include "test/unit/tensor/call_helper.h"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

using namespace meshplan;

namespace {

/// The gradient of the weight of a convolution without padding in some dims, by autograd in f64.
at::Tensor exact(const at::Tensor &gradient, const at::Tensor &input, const at::Tensor &weight, int64_t padding) {
  c10::AutoGradMode recording(true);
  at::Tensor leaf = weight.to(at::kDouble).requires_grad_(true);
  at::Tensor result = at::conv3d(input.to(at::kDouble), leaf, {}, 1, padding);
  return torch::autograd::grad({result}, {leaf}, {gradient.to(at::kDouble)})[0];
}

/// PyTorch 2.11 leaves some elements of these uninitialized.
TEST(ConvolutionGradient, WeightsForVolumesIn16Bits) {
  at::manual_seed(5);
  for (int64_t window : {1, 2, 3, 5})
    for (const std::vector<int64_t> &places : std::vector<std::vector<int64_t>>{{1, 1, 6}, {2, 2, 1}, {4, 3, 2}}) {
      int64_t padding = window / 2;
      at::Tensor weight = at::randn({16, 16, window, window, window}).to(at::kBFloat16);
      at::Tensor input = at::randn({3, 16, places[0], places[1], places[2]}).to(at::kBFloat16);
      at::Tensor gradient = at::randn_like(at::conv3d(input, weight, {}, 1, padding));
      {
        at::Tensor other = at::full_like(weight, NAN);
      }
      at::Tensor found = callOperator("meshplan.convolution_weight_gradient", {gradient, input, weight},
                                      {value("gradient", 0),
                                       value("input", 1),
                                       value("weight", 2),
                                       {"stride", std::vector<int64_t>(3, 1)},
                                       {"padding", std::vector<int64_t>(3, padding)},
                                       {"dilation", std::vector<int64_t>(3, 1)}})[0];
      EXPECT_EQ(found.scalar_type(), at::kBFloat16);
      // Sums in f32 of at most 72 products below 20, and one rounding to 8 bits.
      EXPECT_TRUE(at::allclose(found.to(at::kDouble), exact(gradient, input, weight, padding), std::exp2(-8), 1e-3))
          << window << " on " << at::IntArrayRef(places);
    }
}

} // namespace
