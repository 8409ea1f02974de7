//===- transfers_test.cpp - copies of tensors that the host changes -------===//

#include "test/unit/tensor/call_helper.h"
#include "test/unit/tensor/device/fake_device.h"

using namespace meshplan;

namespace {

at::Tensor ones() { return at::ones({4}); }
at::Tensor scalar(double content) { return at::scalar_tensor(content, at::kDouble); }
Argument numberArgument(std::string name, double content) { return {std::move(name), content}; }

void sgd(const at::Tensor &parameter) {
  callNamed("meshplan.sgd", {{"parameter", parameter}, {"gradient", ones()}, {"learning_rate", scalar(0.5)}},
            {numberArgument("weight_decay", 0)});
}

void momentum(const at::Tensor &parameter, const at::Tensor &nonfinite = {}) {
  callNamed("meshplan.sgd_momentum",
            {{"parameter", parameter},
             {"gradient", ones()},
             {"momentum", at::zeros({4})},
             {"learning_rate", scalar(0.5)},
             {"step", scalar(1)},
             {"nonfinite", nonfinite}},
            {numberArgument("rate", 0.9),
             numberArgument("dampening", 0),
             numberArgument("weight_decay", 0),
             {"nesterov", false}},
            2);
}

void adam(const at::Tensor &parameter, const at::Tensor &nonfinite = {}) {
  callNamed("meshplan.adam",
            {{"parameter", parameter},
             {"gradient", ones()},
             {"average", at::zeros({4})},
             {"square_average", at::zeros({4})},
             {"learning_rate", scalar(0.5)},
             {"step", scalar(1)},
             {"nonfinite", nonfinite}},
            {numberArgument("beta1", 0.9),
             numberArgument("beta2", 0.99),
             numberArgument("eps", 1e-6),
             numberArgument("weight_decay", 0),
             {"decoupled", true}},
            3);
}

void assign(const at::Tensor &parameter) {
  callNamed("meshplan.assign", {{"self", parameter}, {"source", at::zeros({4})}});
}

/// The content of a copy to the device if the host changes the tensor right after the call.
template <typename Change> at::Tensor copiedBefore(const Change &change) {
  at::Tensor parameter = ones();
  at::Tensor copy = callNamed("meshplan.to_device", {{"self", parameter}})[0];
  EXPECT_FALSE(copy.is_cpu());
  change(parameter);
  EXPECT_FALSE(at::equal(parameter, ones())) << "something has changed";
  return copy.cpu();
}

} // namespace

TEST(Transfers, TheHostChangesNothingThatIsBeingCopied) {
  FakeDeviceScope scope;
  EXPECT_TRUE(at::equal(copiedBefore([](const at::Tensor &parameter) { sgd(parameter); }), ones()));
  EXPECT_TRUE(at::equal(copiedBefore([](const at::Tensor &parameter) { momentum(parameter); }), ones()));
  EXPECT_TRUE(at::equal(copiedBefore([](const at::Tensor &parameter) { adam(parameter); }), ones()));
  EXPECT_TRUE(at::equal(copiedBefore([](const at::Tensor &parameter) { assign(parameter); }), ones()));
}

// The optimizer of an offloaded state runs on the host, while non-finite elements are counted on the device.
TEST(Transfers, ACountOfTheDeviceStopsAnOptimizerOfTheHost) {
  FakeDeviceScope scope;
  for (int64_t count : {0, 3}) {
    at::Tensor nonfinite = onFakeDevice(at::scalar_tensor(count, at::kLong)), byMomentum = ones(), byAdam = ones();
    momentum(byMomentum, nonfinite);
    adam(byAdam, nonfinite);
    EXPECT_EQ(at::equal(byMomentum, ones()), count > 0);
    EXPECT_EQ(at::equal(byAdam, ones()), count > 0);
  }
}
