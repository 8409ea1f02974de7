//===- instruction_uses.cpp - what an instruction reads and makes ---------===//

#include "runtime/artifact/instruction_uses.h"

#include "runtime/artifact/vector_range.h"

using namespace meshplan;

static void add(std::vector<int64_t> &list, int32_t value) {
  if (value >= 0)
    list.push_back(value);
}

static void add(std::vector<int64_t> &list, const flatbuffers::Vector<int32_t> *values) {
  for (int32_t value : elementsOf(values))
    add(list, value);
}

/// What has one input and one output, and may write the latter in place of `target`.
template <typename Action> static void addMove(StepUses &uses, const Action &action) {
  add(uses.read, action.input());
  add(uses.read, action.target());
  add(uses.made, action.output());
  uses.overwrites = action.target() >= 0;
}

StepUses meshplan::usesOf(const artifact::Instruction &instruction) {
  StepUses uses;
  if (const artifact::Compute *compute = instruction.action_as_Compute()) {
    for (const artifact::Arg &arg : elementsOf(compute->args()))
      add(uses.read, arg.values());
    add(uses.made, compute->outputs());
    uses.overwrites = compute->overwrites() && compute->overwrites()->size() > 0;
  } else if (const artifact::Start *start = instruction.action_as_Start()) {
    addMove(uses, *start);
    add(uses.read, start->counts());
  } else if (const artifact::Copy *copy = instruction.action_as_Copy()) {
    addMove(uses, *copy);
  } else if (const artifact::Slice *slice = instruction.action_as_Slice()) {
    add(uses.read, slice->input());
    add(uses.made, slice->output());
  } else if (const artifact::PackRun *pack = instruction.action_as_PackRun()) {
    add(uses.read, pack->inputs());
    add(uses.made, pack->output());
  } else if (const artifact::UnpackRun *unpack = instruction.action_as_UnpackRun()) {
    add(uses.read, unpack->input());
    add(uses.read, unpack->targets());
    add(uses.made, unpack->outputs());
    uses.overwrites = unpack->targets() && unpack->targets()->size() > 0;
  }
  return uses;
}
