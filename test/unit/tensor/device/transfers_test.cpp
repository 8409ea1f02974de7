//===- transfers_test.cpp - copies between host and device ----------------===//

#include "runtime/tensor/copy_lane.h"
#include "runtime/tensor/torch/access.h"
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

void accumulate(const at::Tensor &parameter) {
  callNamed("meshplan.accumulate", {{"self", parameter}, {"addend", ones()}});
}

at::Tensor emptyOnDevice() { return at::empty({4}, at::TensorOptions().device(c10::Device(c10::kCUDA, 0))); }

std::unique_ptr<PendingCopy> mustStart(CopyLane &lane, const at::Tensor &from, const at::Tensor &into) {
  auto pending = lane.start(wrap(from), wrap(into));
  EXPECT_TRUE(pending.ok()) << pending.status().message();
  return *std::move(pending);
}

/// The elements as they are, without waiting for anything.
at::Tensor now(const at::Tensor &tensor) { return at::from_blob(tensor.data_ptr(), {4}).clone(); }

/// The content of a copy to the device if the host changes the tensor right after the wait.
template <typename Change> at::Tensor copiedBefore(const Change &change) {
  CopyLane lane(CopyDirection::toDevice);
  at::Tensor parameter = ones(), copy = emptyOnDevice();
  EXPECT_TRUE(mustStart(lane, parameter, copy)->wait().ok());
  change(parameter);
  EXPECT_FALSE(at::equal(parameter, ones())) << "something has changed";
  return copy.cpu();
}

} // namespace

TEST(Transfers, TheHostDoesNotWaitForCopiesToTheDevice) {
  FakeDeviceScope scope;
  CopyLane lane(CopyDirection::toDevice);
  at::Tensor parameter = ones(), copy = onFakeDevice(at::zeros({4})), read = emptyOnDevice();
  EXPECT_TRUE(mustStart(lane, parameter, copy)->wait().ok());
  read.copy_(copy, /*non_blocking=*/true);
  EXPECT_TRUE(at::equal(now(copy), at::zeros({4}))) << "nothing has waited";
  EXPECT_TRUE(at::equal(read.cpu(), ones())) << "what the device computes after the wait reads the copy";
}

TEST(Transfers, TheHostWaitsForCopiesFromTheDevice) {
  FakeDeviceScope scope;
  CopyLane lane(CopyDirection::toHost);
  at::Tensor gradient = onFakeDevice(at::zeros({4})), host = at::zeros({4}), source = ones();
  // Enqueued before the start, so the copy reads it.
  gradient.copy_(source, /*non_blocking=*/true);
  std::unique_ptr<PendingCopy> pending = mustStart(lane, gradient, host);
  EXPECT_TRUE(at::equal(host, at::zeros({4}))) << "nothing has waited";
  EXPECT_TRUE(pending->wait().ok());
  EXPECT_TRUE(at::equal(host, ones()));
}

TEST(Transfers, ACopyThatIsNotWaitedForEndsBeforeItsTensorsAreFreed) {
  FakeDeviceScope scope;
  for (CopyDirection direction : {CopyDirection::toDevice, CopyDirection::toHost}) {
    CopyLane lane(direction);
    bool toHost = direction == CopyDirection::toHost;
    at::Tensor from = toHost ? onFakeDevice(ones()) : ones(), into = toHost ? at::zeros({4}) : emptyOnDevice();
    mustStart(lane, from, into).reset();
    EXPECT_TRUE(at::equal(now(into), ones()));
  }
}

TEST(Transfers, ShapesDiffer) {
  FakeDeviceScope scope;
  CopyLane lane(CopyDirection::toDevice);
  auto pending = lane.start(wrap(at::ones({5})), wrap(emptyOnDevice()));
  EXPECT_EQ(pending.status().message(), "cannot copy [5] f32 into [4] f32");
}

TEST(Transfers, TheHostChangesNothingThatIsBeingCopied) {
  FakeDeviceScope scope;
  EXPECT_TRUE(at::equal(copiedBefore([](const at::Tensor &parameter) { sgd(parameter); }), ones()));
  EXPECT_TRUE(at::equal(copiedBefore([](const at::Tensor &parameter) { momentum(parameter); }), ones()));
  EXPECT_TRUE(at::equal(copiedBefore([](const at::Tensor &parameter) { adam(parameter); }), ones()));
  EXPECT_TRUE(at::equal(copiedBefore([](const at::Tensor &parameter) { assign(parameter); }), ones()));
  EXPECT_TRUE(at::equal(copiedBefore([](const at::Tensor &parameter) { accumulate(parameter); }), ones()));
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
