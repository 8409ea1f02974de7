//===- times.h - a step whose times are known -------------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_TIMING_TIMES_H
#define MESHPLAN_TEST_UNIT_TIMING_TIMES_H

#include "compiler/timing/step_times.h"

namespace meshplan::test {

inline TimedOperation computing(const std::string &what, const std::string &module, int64_t begin, int64_t end) {
  TimedOperation operation;
  operation.label.what = what;
  operation.label.module = module;
  operation.label.direction = "forward";
  operation.time = {begin, end};
  return operation;
}

inline TimedOperation collective(const std::string &purpose, const std::string &communicator, int64_t begin,
                                 int64_t end, int64_t exposed, int64_t bytes = 100) {
  TimedOperation operation = computing("all_gather", "model.layers.0", begin, end);
  operation.label.purpose = purpose;
  operation.label.communicator = communicator;
  operation.label.bytes = bytes;
  operation.exposed = exposed;
  operation.wait = {end - exposed, end};
  return operation;
}

inline TimedOperation copy(const std::string &memory, int64_t begin, int64_t end, int64_t exposed) {
  TimedOperation operation = computing("copy", "", begin, end);
  operation.label.memory = memory;
  operation.exposed = exposed;
  operation.wait = {end - exposed, end};
  return operation;
}

/// A step for three microbatches, of each of which 600 of 1000 ns compute. Each has a gather of parameters
/// over dp, of whose 500 ns 200 are exposed; the last one also reduces gradients for 400 ns, all hidden.
inline std::vector<ProgramTimes> exampleTimes() {
  ProgramTimes pass;
  pass.name = "step";
  pass.trains = true;
  pass.operations = {computing("aten.mm.default", "model.layers.0.mlp", 0, 300),
                     collective("parameters", "dp", 0, 500, 200), computing("aten.view.default", "", 500, 500),
                     computing("aten.relu.default", "", 500, 800)};
  pass.operations[1].location = {"p.plan", 5, 3, 10};
  pass.operations[1].windowEnd = 1;
  pass.computed = {0, 2, 3};
  pass.makespan = 1000;
  pass.compute = 600;
  pass.waitsForHost = 200;
  pass.forwardFlops = {{"bf16", 3e6}};
  ProgramTimes step = pass;
  step.timeline = {{"step", 0}, {"step", 1}, {"step", 2}};
  step.operations.push_back(collective("gradients", "dp.tp", 300, 700, 0, 40));
  return {pass, step};
}

} // namespace meshplan::test

#endif // MESHPLAN_TEST_UNIT_TIMING_TIMES_H
