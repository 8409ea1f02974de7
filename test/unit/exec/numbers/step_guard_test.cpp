//===- step_guard_test.cpp - after steps with non-finite gradients --------===//

#include "runtime/exec/numbers/step_guard.h"

#include <gtest/gtest.h>

using namespace meshplan;

namespace {

/// A guard with these numbers, in its own buffer.
class StepGuardTest : public testing::Test {
protected:
  const artifact::Guard *make(double growth, double backoff, int64_t interval) {
    builder.Clear();
    artifact::GuardT guard;
    guard.output = "nonfinite";
    guard.growth = growth;
    guard.backoff = backoff;
    guard.interval = interval;
    builder.Finish(artifact::Guard::Pack(builder, &guard));
    return flatbuffers::GetRoot<artifact::Guard>(builder.GetBufferPointer());
  }

  flatbuffers::FlatBufferBuilder builder;
};

// As torch.amp.GradScaler(init_scale=8, growth_factor=2, backoff_factor=0.5, growth_interval=3) behaves.
TEST_F(StepGuardTest, ScalesAsGradScaler) {
  StepGuard guard(make(2, 0.5, 3), 8);
  struct {
    int64_t nonfinite;
    double scale;
  } steps[] = {{0, 8}, {0, 8}, {0, 16}, {0, 16}, {0, 16}, {7, 8}, {1, 4}, {0, 4}, {0, 4}, {0, 8}, {0, 8}, {2, 4}};
  for (const auto &step : steps) {
    guard.take(step.nonfinite);
    EXPECT_EQ(guard.lossScale(), step.scale);
  }
  EXPECT_EQ(guard.skipped(), 3);
}

// GradScaler grows as long as f32 represents the scale; a scale without an inverse would make every gradient infinite.
TEST_F(StepGuardTest, AScaleStaysWhereF32HoldsIt) {
  StepGuard growing(make(10, 0.5, 1), 1e36);
  for (double scale : {1e37, 1e37, 1e37}) {
    growing.take(0);
    EXPECT_DOUBLE_EQ(growing.lossScale(), scale);
  }
  growing.take(1);
  EXPECT_DOUBLE_EQ(growing.lossScale(), 5e36);
  StepGuard shrinking(make(2, 0.1, 1), 1e-36);
  for (double scale : {1e-37, 1e-37}) {
    shrinking.take(1);
    EXPECT_NEAR(shrinking.lossScale(), scale, 1e-45);
  }
}

TEST_F(StepGuardTest, GoesOnWhereAnotherHasBeen) {
  StepGuard guard(make(2, 0.5, 3), 8, {.steps = 9, .skipped = 2, .stepsInRow = 2, .lossScale = 32});
  EXPECT_EQ(guard.lossScale(), 32);
  EXPECT_EQ(guard.skipped(), 2);
  EXPECT_EQ(guard.inRow(), 2);
  guard.take(0);
  EXPECT_EQ(guard.lossScale(), 64) << "the third in a row";

  StepGuard hasty(make(2, 0.5, 2), 8, {.steps = 9, .stepsInRow = 7, .lossScale = 32});
  hasty.take(0);
  EXPECT_EQ(hasty.lossScale(), 64) << "it has waited for longer than it needs";
  EXPECT_EQ(StepGuard(make(2, 0.5, 3), 8, {.steps = 9}).lossScale(), 8) << "there was no scale";
  EXPECT_EQ(StepGuard(make(0, 0, 0), 8, {.steps = 9, .lossScale = 32}).lossScale(), 8) << "the plan's is fixed";
}

TEST_F(StepGuardTest, AScaleThatIsStatedStays) {
  StepGuard guard(make(0, 0, 0), 1024);
  for (int64_t nonfinite : {0, 5, 0})
    guard.take(nonfinite);
  EXPECT_EQ(guard.lossScale(), 1024);
  EXPECT_EQ(guard.skipped(), 1);
}

TEST_F(StepGuardTest, WithoutAGuardEveryStepCounts) {
  StepGuard guard(nullptr, 1);
  guard.take(3);
  EXPECT_EQ(guard.skipped(), 0);
  EXPECT_EQ(guard.lossScale(), 1);
}

} // namespace
