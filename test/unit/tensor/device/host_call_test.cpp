#include "test/unit/tensor/call_helper.h"
#include "test/unit/tensor/device/fake_device.h"

#include <gmock/gmock.h>

using namespace meshplan;
using testing::ElementsAre;

namespace {

/// Records LibTorch's warnings.
class Warnings final : public c10::WarningHandler {
public:
  void process(const c10::Warning &warning) override { texts.push_back(warning.msg()); }

  std::vector<std::string> texts;
};

std::vector<Argument> bins() { return {value("self", 0), {"bins", int64_t(8)}, {"min", -1.03}, {"max", 1.07}}; }

} // namespace

TEST(HostCall, AnOperatorWithoutAKernelGivesWhatTheHostDoes) {
  FakeDeviceScope scope;
  at::Tensor x = at::randn({300}).to(at::kBFloat16);
  at::Tensor found = callOperator("aten.histc.default", {onFakeDevice(x)}, bins())[0];
  EXPECT_EQ(found.device(), c10::Device(c10::DeviceType::CUDA, 0));
  EXPECT_TRUE(at::equal(found.cpu(), at::histc(x, 8, -1.03, 1.07)));
}

TEST(HostCall, ListsNumbersOfTheHostAndSeveralResults) {
  FakeDeviceScope scope;
  at::Tensor x = at::randn({3, 4}), y = at::randn({2, 4}), columns = at::tensor({2, 0});
  at::Tensor joined =
      callOperator("aten.cat.default", {onFakeDevice(x), onFakeDevice(y)}, {{"tensors", ValueListArgument{{0, 1}}}})[0];
  EXPECT_TRUE(at::equal(joined.cpu(), at::cat({x, y})));
  at::Tensor picked = callOperator("aten.index.Tensor", {onFakeDevice(x), columns},
                                   {value("self", 0), {"indices", ValueListArgument{{-1, 1}}}})[0];
  EXPECT_TRUE(at::equal(picked.cpu(), x.index_select(1, columns)));
  auto largest =
      callOperator("aten.topk.default", {onFakeDevice(x)}, {value("self", 0), {"k", int64_t(2)}}, /*resultCount=*/2);
  auto [values, places] = at::topk(x, 2);
  EXPECT_TRUE(at::equal(largest[0].cpu(), values));
  EXPECT_TRUE(at::equal(largest[1].cpu(), places));
}

TEST(HostCall, Gradients) {
  FakeDeviceScope scope;
  at::Tensor x = at::randn({3, 5}), g = at::randn({3, 5});
  at::Tensor found = callOperator(
      "vjp.aten.cumsum.default", {onFakeDevice(x), onFakeDevice(g)},
      {value("self", 0), {"dim", int64_t(1)}, {"gradients", ValueListArgument{{1}}}, {"of", std::string("self")}})[0];
  EXPECT_FALSE(found.is_cpu());
  // Sums of five values of magnitude 1 in another order.
  EXPECT_TRUE(at::allclose(found.cpu(), g.flip(1).cumsum(1).flip(1), 0, 1e-5));
}

TEST(HostCall, SaysSoOnce) {
  FakeDeviceScope scope;
  Warnings warnings;
  c10::WarningUtils::WarningHandlerGuard guard(&warnings);
  auto call = prepareCall("aten.histc.default", bins(), {1});
  ASSERT_TRUE(call.ok()) << call.status().message();
  std::vector<Tensor> values = {wrap(onFakeDevice(at::ones({4}))), Tensor()};
  EXPECT_TRUE((*call)->run(values).ok());
  EXPECT_TRUE((*call)->run(values).ok());
  EXPECT_THAT(warnings.texts, ElementsAre("aten.histc.default runs on the host, and the rank waits for it: Could not "
                                          "run 'aten::histc' with arguments from the 'CUDA' backend"));
}

TEST(HostCall, WhatTheHostRefusesIsRefused) {
  FakeDeviceScope scope;
  EXPECT_THAT(failureOf("aten.histc.default", {{"self", onFakeDevice(at::ones({4}))}}, {{"bins", int64_t(0)}}),
              testing::HasSubstr("bins must be > 0"));
}
