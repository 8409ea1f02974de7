//===- deferred.cpp - what an instance leaves to the next one -------------===//

#include "runtime/artifact/deferred.h"

#include "runtime/artifact/instruction_uses.h"
#include "runtime/artifact/vector_range.h"

#include <algorithm>
#include <map>

using namespace meshplan;

namespace {
/// Notes the values of one instruction after the other.
class Collector {
public:
  Collector(const artifact::Program &program, DeferredInstructions &deferred) : deferred(deferred) {
    for (const artifact::Instruction &instruction : elementsOf(program.instructions())) {
      if (const artifact::Start *start = instruction.action_as_Start())
        starts[start->sequence()] = start;
      if (const artifact::PackRun *pack = instruction.action_as_PackRun(); pack && pack->in_place())
        inPlace[pack->output()] = pack;
    }
  }

  void add(size_t index, const artifact::Instruction &instruction);

private:
  void use(int64_t value) {
    if (value >= 0 && static_cast<size_t>(value) < deferred.lastUse.size())
      deferred.lastUse[static_cast<size_t>(value)] = static_cast<int64_t>(deferred.instructions.size()) - 1;
  }
  void make(int64_t value) {
    use(value);
    if (value >= 0 && static_cast<size_t>(value) < deferred.isMade.size())
      deferred.isMade[static_cast<size_t>(value)] = true;
  }
  void useAll(const flatbuffers::Vector<int32_t> *values) {
    for (int32_t value : elementsOf(values))
      use(value);
  }
  /// A tensor of a collective, with those that it is the memory of.
  void useMoved(int32_t value) {
    use(value);
    if (auto pack = inPlace.find(value); pack != inPlace.end())
      useAll(pack->second->inputs());
  }

  DeferredInstructions &deferred;
  std::map<int64_t, const artifact::Start *> starts;    // by sequence
  std::map<int32_t, const artifact::PackRun *> inPlace; // by output
};
} // namespace

void Collector::add(size_t index, const artifact::Instruction &instruction) {
  deferred.instructions.push_back(index);
  if (const artifact::Wait *wait = instruction.action_as_Wait()) {
    deferred.waits.insert(wait->sequence());
    if (auto start = starts.find(wait->sequence()); start != starts.end())
      for (int32_t value : {start->second->input(), start->second->output(), start->second->target()})
        useMoved(value);
  } else if (const artifact::Free *free = instruction.action_as_Free()) {
    useAll(free->values());
  }
  StepUses uses = usesOf(instruction);
  std::ranges::for_each(uses.read, [&](int64_t value) { use(value); });
  std::ranges::for_each(uses.made, [&](int64_t value) { make(value); });
}

std::vector<bool> meshplan::madeByFirst(const artifact::Program &program) {
  std::vector<bool> isMade(program.values() ? program.values()->size() : 0, false);
  for (const artifact::Instruction &instruction : elementsOf(program.instructions()))
    if (instruction.when() == artifact::When::first)
      for (int64_t value : usesOf(instruction).made)
        if (static_cast<size_t>(value) < isMade.size())
          isMade[static_cast<size_t>(value)] = true;
  return isMade;
}

DeferredInstructions::DeferredInstructions(const artifact::Program &program) {
  size_t values = program.values() ? program.values()->size() : 0;
  lastUse.assign(values, -1);
  isMade.assign(values, false);
  Collector collector(program, *this);
  size_t index = 0;
  for (const artifact::Instruction &instruction : elementsOf(program.instructions())) {
    if (instruction.when() == artifact::When::deferred)
      collector.add(index, instruction);
    ++index;
  }
}
