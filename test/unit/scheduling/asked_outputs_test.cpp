//===- asked_outputs_test.cpp - a program for some of its outputs ---------===//

#include "compiler/scheduling/asked_outputs.h"
#include "compiler/scheduling/memory_profile.h"
#include "test/unit/scheduling/problem_fixture.h"

using namespace meshplan::scheduling;

namespace {

/// The remaining steps if the buffer with this name is requested.
std::vector<std::string> stepsFor(const ProblemText &parsed, llvm::StringRef name) {
  llvm::BitVector asked(parsed.problem.buffers.size());
  for (size_t index = 0; index < parsed.problem.buffers.size(); ++index)
    if (parsed.problem.buffers[index].name == name)
      asked.set(index);
  std::vector<std::string> steps;
  for (Step step : forOutputs(parsed.problem, *parsed.solution, asked).steps)
    steps.push_back(describe(parsed.problem, step));
  return steps;
}

/// Logits are an output and feed the loss; the states are gathered only for an output.
const char *program = R"(
lane compute
lane communication collectives
communicator tp 0:(1)2
buffer x 10 permanent
buffer logits 100 kept
buffer part 20
buffer states 40 kept
buffer loss 4 kept
operation project on compute reads x writes logits
operation halve on compute reads x writes part
operation gather on communication over tp reads part writes states
operation lose on compute reads logits writes loss
run project
run halve
start gather
run lose
wait gather
free part
)";

} // namespace

TEST(AskedOutputs, WhatOthersNeedAloneIsLeftOut) {
  ProblemText parsed = parse(program);
  EXPECT_THAT(stepsFor(parsed, "loss"), testing::ElementsAre("run project", "run lose", "free logits"));
  EXPECT_THAT(stepsFor(parsed, "states"),
              testing::ElementsAre("run halve", "start gather", "wait gather", "free part"));
}

TEST(AskedOutputs, TheProfileFollows) {
  ProblemText parsed = parse(program);
  llvm::BitVector asked(parsed.problem.buffers.size());
  asked.set(4);
  EXPECT_EQ(profileMemory(parsed.problem, *parsed.solution).peaks[0].bytes, 10 + 100 + 20 + 40 + 4);
  Solution solution = forOutputs(parsed.problem, *parsed.solution, asked);
  EXPECT_EQ(profileMemory(parsed.problem, solution).peaks[0].bytes, 10 + 100 + 4);
}

TEST(AskedOutputs, WhatChangesInItsPlaceIsNeeded) {
  ProblemText parsed = parse(R"(
lane compute
buffer sum 8 permanent
buffer x 4 permanent
buffer changed 0 view sum kept
buffer loss 4 kept
operation add on compute reads sum x writes changed overwrites sum
operation lose on compute reads x writes loss
run add
run lose
)");
  EXPECT_THAT(stepsFor(parsed, "loss"), testing::ElementsAre("run add", "free changed", "run lose"));
}
