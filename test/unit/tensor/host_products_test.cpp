#include "runtime/tensor/torch/kernels/host_products.h"
#include "test/unit/tensor/call_helper.h"

#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

using namespace meshplan;

namespace {

/// Sums of k products of magnitude about 1 err by less than k * 2^-24 * sqrt(k), whatever their order.
void expectProduct(const at::Tensor &result, const at::Tensor &exact, int64_t contracted) {
  ASSERT_EQ(result.sizes(), exact.sizes());
  EXPECT_EQ(result.scalar_type(), at::kFloat);
  double terms = static_cast<double>(contracted);
  EXPECT_LE(difference(result, exact), terms * std::sqrt(terms) * std::exp2(-24));
}

void expectMatmul(const at::Tensor &self, const at::Tensor &other) {
  at::NoGradGuard noGrad;
  at::Tensor result = callOperator("aten.matmul.default", {self, other}, {value("self", 0), value("other", 1)})[0];
  expectProduct(result, at::matmul(self.to(at::kDouble), other.to(at::kDouble)), self.size(-1));
}

void expectLinear(const at::Tensor &input, const at::Tensor &weight, const at::Tensor &bias = {}) {
  at::NoGradGuard noGrad;
  std::vector<Argument> arguments{value("input", 0), value("weight", 1)};
  std::vector<at::Tensor> operands{input, weight};
  at::Tensor exact = at::matmul(input.to(at::kDouble), weight.to(at::kDouble).t());
  if (bias.defined()) {
    arguments.push_back(value("bias", 2));
    operands.push_back(bias);
    exact = exact + bias.to(at::kDouble);
  }
  expectProduct(callOperator("aten.linear.default", operands, arguments)[0], exact, input.size(-1));
}

// More than 2^20 multiplications: what has another kernel on some processors.
TEST(HostProducts, OfLargeMatrices) {
  at::manual_seed(1);
  expectMatmul(at::randn({70, 130}), at::randn({130, 190}));
  expectMatmul(at::randn({2, 3, 50, 130}), at::randn({130, 190}));
  expectLinear(at::randn({70, 130}), at::randn({190, 130}));
  expectLinear(at::randn({2, 35, 130}), at::randn({190, 130}), at::randn({190}));
}

TEST(HostProducts, OfAnyStrides) {
  at::manual_seed(2);
  at::Tensor wide = at::randn({130, 400}), tall = at::randn({130, 210});
  expectMatmul(tall.t(), wide);
  expectMatmul(tall.narrow(1, 20, 190).t(), wide.narrow(1, 3, 150));
  expectMatmul(at::randn({400, 260}).slice(1, 0, 260, 2), at::randn({130, 190}));
  expectMatmul(at::randn({1, 130}).expand({70, 130}), at::randn({190, 130}).t());
  expectMatmul(at::randn({35, 2, 130}).transpose(0, 1), at::randn({130, 190}));
  expectLinear(at::randn({71, 130}).narrow(0, 1, 70), at::randn({130, 190}).t(), at::randn({380}).slice(0, 0, 380, 2));
}

TEST(HostProducts, OfAnyShape) {
  at::manual_seed(3);
  expectMatmul(at::randn({3, 50, 130}), at::randn({3, 130, 190}));
  expectMatmul(at::randn({1 << 20}), at::randn({1 << 20, 2}));
  expectMatmul(at::randn({5, 7}), at::randn({7, 3}));
  expectMatmul(at::randn({0, 130}), at::randn({130, 190}));
  expectLinear(at::randn({2, 5, 0}), at::randn({3, 0}));
}

TEST(HostProducts, OfOtherTypesAreThoseOfTheLibrary) {
  at::manual_seed(4);
  for (at::ScalarType type : {at::kDouble, at::kBFloat16}) {
    at::Tensor self = at::randn({70, 130}).to(type), other = at::randn({130, 190}).to(type);
    EXPECT_TRUE(hostMatmul(self, other).equal(at::matmul(self, other)));
  }
}

TEST(HostProducts, AreRecordedByAutograd) {
  at::Tensor self = at::randn({70, 130}).requires_grad_(), other = at::randn({130, 190});
  hostMatmul(self, other).sum().backward();
  EXPECT_TRUE(self.grad().allclose(other.sum(1).expand({70, 130}), 1e-4, 1e-4));
}

TEST(HostProducts, RefuseWhatTheLibraryRefuses) {
  EXPECT_THROW(hostMatmul(at::randn({70, 130}), at::randn({131, 190})), c10::Error);
  EXPECT_THROW(hostLinear(at::randn({70, 130}), at::randn({190, 131}), std::nullopt), c10::Error);
}

TEST(HostProducts, StandForTwoTargets) {
  EXPECT_EQ(hostProductOf("aten.linear.default"), "meshplan.host_linear");
  EXPECT_EQ(hostProductOf("aten.matmul.default"), "meshplan.host_matmul");
  EXPECT_EQ(hostProductOf("aten.bmm.default"), "aten.bmm.default");
}

} // namespace
