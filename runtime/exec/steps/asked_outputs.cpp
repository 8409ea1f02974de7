//===- asked_outputs.cpp - steps for some outputs only --------------------===//
//
// Liveness, backwards: an instruction is needed if it overwrites something or if a needed instruction reads what it
// makes. Outputs that were not asked for begin as not needed, and may become needed as operands.
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

#include "runtime/artifact/sharding.h"
#include "runtime/artifact/vector_range.h"

#include <algorithm>

using namespace meshplan;

namespace {

/// The values that an instruction reads and makes. Those of a collective or a copy belong to its start.
struct Uses {
  std::vector<int> read, made;
  bool overwrites = false;
};

class Needed {
public:
  Needed(const artifact::Program &program, const OutputNames &asked)
      : program(program), isKept(program.values()->size()), isOther(program.values()->size()) {
    for (const artifact::Port &output : elementsOf(program.outputs())) {
      bool isAsked = asked.contains(output.name()->string_view());
      (isAsked ? isKept : isOther).at(output.value()) = true;
    }
    for (const artifact::Update &update : elementsOf(program.updates()))
      // Updates are effects of the step, whatever outputs are requested.
      isKept[update.value()] = true;
    isRead = isKept;
  }

  NeededSteps find();

private:
  Uses usesOf(const artifact::Instruction &instruction) const;
  void visit(size_t index, NeededSteps &needed);

  const artifact::Program &program;
  std::vector<bool> isKept, isOther, isRead; // by value; `isOther`: an output that was not asked for
  std::map<int64_t, size_t> waits;           // by sequence
  std::map<int, size_t> lastUses;            // of outputs that were not asked for, by value
};

} // namespace

static std::vector<int> listOf(const flatbuffers::Vector<int32_t> *values) {
  std::vector<int> list;
  for (int32_t value : elementsOf(values))
    if (value >= 0)
      list.push_back(value);
  return list;
}

Uses Needed::usesOf(const artifact::Instruction &instruction) const {
  Uses uses;
  if (const artifact::Compute *compute = instruction.action_as_Compute()) {
    for (const artifact::Arg *arg : *compute->args())
      std::ranges::copy(listOf(arg->values()), std::back_inserter(uses.read));
    uses.made = listOf(compute->outputs());
    uses.overwrites = compute->overwrites() && compute->overwrites()->size() > 0;
  } else if (const artifact::Start *start = instruction.action_as_Start()) {
    uses = {{start->input()}, {start->output()}, start->target() >= 0};
  } else if (const artifact::Copy *copy = instruction.action_as_Copy()) {
    uses = {{copy->input()}, {copy->output()}, copy->target() >= 0};
  } else if (const artifact::Slice *slice = instruction.action_as_Slice()) {
    uses = {{slice->input()}, {slice->output()}};
  } else if (const artifact::PackRun *pack = instruction.action_as_PackRun()) {
    uses = {listOf(pack->inputs()), {pack->output()}};
  } else if (const artifact::UnpackRun *unpack = instruction.action_as_UnpackRun()) {
    uses = {{unpack->input()}, listOf(unpack->outputs()), unpack->targets() && unpack->targets()->size() > 0};
  }
  return uses;
}

NeededSteps Needed::find() {
  NeededSteps needed;
  needed.instructions.resize(program.instructions()->size());
  // Backwards, so that all readers of a value are known before its producer is visited.
  for (size_t index = needed.instructions.size(); index-- > 0;)
    visit(index, needed);
  for (auto [value, index] : lastUses)
    needed.freed[index].push_back(value);
  return needed;
}

/// Called in reverse order: all later instructions have been visited.
void Needed::visit(size_t index, NeededSteps &needed) {
  const artifact::Instruction &instruction = *program.instructions()->Get(index);
  if (instruction.action_as_Free()) {
    // Stays in any case: freeing a value that was never made has no effect.
    needed.instructions[index] = true;
    return;
  }
  // A wait is needed if its start is, and that is visited later.
  if (const artifact::Wait *wait = instruction.action_as_Wait()) {
    waits[wait->sequence()] = index;
    return;
  }
  Uses uses = usesOf(instruction);
  // An instruction that overwrites a value may change a parameter: an effect that no output shows.
  if (!uses.overwrites && std::ranges::none_of(uses.made, [&](int value) { return isRead[value]; }))
    return;
  needed.instructions[index] = true;
  size_t last = index;
  // What is in flight is in use until its wait, so a value is freed there and not at the start.
  const artifact::Start *start = instruction.action_as_Start();
  const artifact::Copy *copy = instruction.action_as_Copy();
  if (start || copy) {
    last = waits.at(start ? start->sequence() : copy->sequence());
    needed.instructions[last] = true;
  }
  for (const std::vector<int> *values : {&uses.made, &uses.read})
    for (int value : *values) {
      isRead[value] = true;
      // The compiler keeps all outputs to the end. An unwanted one is freed after its last use, to reduce peak memory.
      if (isOther[value] && !isKept[value])
        // The wait of an earlier start may come after a later reader, so the first one seen is not always the last.
        lastUses[value] = std::max(lastUses[value], last);
    }
}

NeededSteps meshplan::stepsFor(const artifact::Program &program, const OutputNames &asked) {
  return Needed(program, asked).find();
}
