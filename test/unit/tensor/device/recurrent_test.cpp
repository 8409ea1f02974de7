#include "runtime/tensor/torch/access.h"
#include "runtime/tensor/torch/binding.h"
#include "test/unit/tensor/device/fake_device.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>

using namespace meshplan;

// cuDNN reads the missing biases of a layer from the storage of its first weight.
TEST(RecurrentWeights, LieInStoragesOfTheirOwn) {
  FakeDeviceScope scope;
  at::Tensor together = onFakeDevice(at::rand({100})), other = onFakeDevice(at::rand({6}));
  std::vector<Tensor> values = {wrap(together.narrow(0, 0, 12)), wrap(other)};
  auto bound = bindArguments("op", torch::jit::parseSchema("aten::gru(Tensor[] params) -> Tensor"),
                             std::vector<Argument>{{"params", ValueListArgument{{0, 1}}}});
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  torch::jit::Stack stack;
  fillStack(*bound, values, stack);
  std::vector<at::Tensor> params = stack[0].toTensorVector();
  EXPECT_EQ(params[0].storage().nbytes(), 12 * sizeof(float));
  EXPECT_TRUE(at::equal(params[0].cpu(), together.cpu().narrow(0, 0, 12)));
  EXPECT_TRUE(params[1].is_alias_of(other)) << "what is alone is not copied";
}
