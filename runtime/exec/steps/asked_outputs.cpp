//===- asked_outputs.cpp - steps for some outputs only --------------------===//
//
// schema/needed_steps.h says which instructions are needed. Here the instructions become its plain form: what is in
// flight is read and made by its start, and its wait is needed if the start is. Outputs that are computed but were not
// asked for are freed after their last use.
//
// Example: the outputs are `loss` and `logits`, and only `loss` is asked for.
//
//   instruction               asked: loss               asked: both
//   logits = mm(x, w)         needed: loss reads it     needed
//   loss = cross(logits, y)   needed, frees logits      needed
//   free(x)                   stays                     stays
//
// `logits` is an output, so the artifact frees it nowhere; here its last reader frees it.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/steps/asked_outputs.h"

#include "runtime/artifact/instruction_uses.h"
#include "runtime/artifact/vector_range.h"

#include <map>

using namespace meshplan;

NeededSteps meshplan::stepsFor(const artifact::Program &program, const OutputNames &asked) {
  std::vector<bool> isKept(program.values()->size()), isOther(program.values()->size());
  for (const artifact::Port &output : elementsOf(program.outputs())) {
    bool isAsked = asked.contains(output.name()->string_view());
    (isAsked ? isKept : isOther).at(output.value()) = true;
  }
  for (const artifact::Update &update : elementsOf(program.updates()))
    // Updates are effects of the step, whatever outputs are requested.
    isKept[update.value()] = true;
  std::vector<StepUses> uses;
  for (const artifact::Instruction &instruction : elementsOf(program.instructions()))
    uses.push_back(usesOf(instruction));

  NeededSteps needed{neededSteps(uses, isKept), {}};
  std::map<int64_t, size_t> starts; // by sequence
  std::map<int, size_t> lastUses;   // of outputs that were not asked for, by value
  for (size_t index = 0; index < uses.size(); ++index) {
    const artifact::Instruction &instruction = *program.instructions()->Get(index);
    size_t user = index;
    if (instruction.action_as_Free()) {
      // Stays in any case: freeing a value that was never made has no effect.
      needed.instructions[index] = true;
    } else if (const artifact::Wait *wait = instruction.action_as_Wait()) {
      // What is in flight is in use until its wait, so a value is freed there and not at the start.
      user = starts.at(wait->sequence());
      needed.instructions[index] = needed.instructions[user];
    } else if (const artifact::Start *start = instruction.action_as_Start()) {
      starts[start->sequence()] = index;
    } else if (const artifact::Copy *copy = instruction.action_as_Copy()) {
      starts[copy->sequence()] = index;
    }
    if (needed.instructions[index])
      for (const std::vector<int64_t> *values : {&uses[user].read, &uses[user].made})
        for (int64_t value : *values)
          if (isOther[value] && !isKept[value])
            lastUses[value] = index;
  }
  // The compiler keeps all outputs to the end. An unwanted one is freed after its last use, to reduce peak memory.
  for (auto [value, index] : lastUses)
    needed.freed[index].push_back(value);
  return needed;
}
