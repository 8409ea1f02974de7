//===- needed_steps_test.cpp - the steps that some outputs need -----------===//

#include "runtime/schema/needed_steps.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace meshplan;

namespace {

using testing::ElementsAre;

/// Values: 0 x, 1 logits, 2 loss, 3 best.
const std::vector<StepUses> steps = {{{0}, {1}}, {{1}, {2}}, {{1}, {3}}};

TEST(NeededSteps, WhatAnOutputReadsIsNeeded) {
  EXPECT_THAT(neededSteps(steps, {false, false, true, false}), ElementsAre(true, true, false));
  EXPECT_THAT(neededSteps(steps, {false, false, false, true}), ElementsAre(true, false, true));
}

TEST(NeededSteps, WithoutOutputsNothingIsNeeded) {
  EXPECT_THAT(neededSteps(steps, {false, false, false, false}), ElementsAre(false, false, false));
}

TEST(NeededSteps, WhatOverwritesIsNeededWithWhatItReads) {
  EXPECT_THAT(
      neededSteps(std::vector<StepUses>{{{0}, {1}}, {{0}, {2}}, {{1}, {3}, true}}, {false, false, false, false}),
      ElementsAre(true, false, true));
}

/// By the definition: a step is needed if a path of reads leads from it to an output or to a step that overwrites.
bool leadsToNeed(const std::vector<StepUses> &program, const std::vector<bool> &outputs, size_t step) {
  if (program[step].overwrites)
    return true;
  return std::ranges::any_of(program[step].made, [&](int64_t value) {
    for (size_t reader = step + 1; reader < program.size(); ++reader)
      if (std::ranges::count(program[reader].read, value) != 0 && leadsToNeed(program, outputs, reader))
        return true;
    return static_cast<bool>(outputs[value]);
  });
}

TEST(NeededSteps, RandomProgramsFollowTheDefinition) {
  std::mt19937 random(1);
  auto below = [&](int64_t bound) { return static_cast<int64_t>(random() % bound); };
  for (int round = 0; round < 300; ++round) {
    std::vector<StepUses> program;
    int64_t values = 2;
    for (int64_t count = 1 + below(10); count > 0; --count) {
      StepUses uses{{below(values), below(values)}, {}, below(8) == 0};
      for (int64_t made = below(3); made > 0; --made)
        uses.made.push_back(values++);
      program.push_back(uses);
    }
    std::vector<bool> outputs(values);
    for (int64_t value = 0; value < values; ++value)
      outputs[value] = below(4) == 0;
    std::vector<bool> needed = neededSteps(program, outputs);
    for (size_t step = 0; step < program.size(); ++step)
      EXPECT_EQ(needed[step], leadsToNeed(program, outputs, step)) << "round " << round << ", step " << step;
  }
}

} // namespace
