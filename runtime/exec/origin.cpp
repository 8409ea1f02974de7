//===- origin.cpp - where an instruction comes from -----------------------===//

#include "runtime/exec/origin.h"

#include "runtime/artifact/sharding.h"

#include <algorithm>

using namespace meshplan;

static std::string sourceText(const artifact::Source &source) {
  std::string text = source.file() ? source.file()->str() : "";
  text += ":" + std::to_string(source.line()) + ":" + std::to_string(source.column());
  if (source.text() && source.text()->size() > 0)
    text += " " + source.text()->str();
  return text;
}

std::string meshplan::originText(const artifact::Schedule &schedule, const artifact::Instruction &instruction) {
  return originText(schedule, instruction.origin());
}

std::string meshplan::originText(const artifact::Schedule &schedule, int index) {
  if (index < 0)
    return "";
  const artifact::Origin &origin = *schedule.origins()->Get(index);
  std::string text;
  if (origin.plan() >= 0)
    text = sourceText(*schedule.sources()->Get(origin.plan()));
  if (origin.module_() && origin.module_()->size() > 0)
    text += (text.empty() ? "module " : ", module ") + origin.module_()->str();
  return text;
}

static bool gives(const artifact::Start &start, int value) {
  bool found = false;
  (void)forEachMoved(start, [&](int32_t, int32_t output) {
    found |= output == value;
    return Status();
  });
  return found;
}

std::optional<size_t> meshplan::instructionThatMakes(const artifact::Program &program, int value) {
  int arriving = -1; // the collective that gives it
  for (flatbuffers::uoffset_t index = 0; index < program.instructions()->size(); ++index) {
    const artifact::Instruction &instruction = *program.instructions()->Get(index);
    if (const artifact::Start *start = instruction.action_as_Start(); start && gives(*start, value))
      arriving = start->sequence();
    const artifact::Wait *wait = instruction.action_as_Wait();
    const artifact::Slice *slice = instruction.action_as_Slice();
    const artifact::Compute *compute = instruction.action_as_Compute();
    if ((wait && wait->sequence() == arriving) || (slice && slice->output() == value) ||
        (compute && std::ranges::find(*compute->outputs(), value) != compute->outputs()->end()))
      return index;
  }
  return std::nullopt;
}
