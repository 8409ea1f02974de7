//===- origin.cpp - where an instruction comes from -----------------------===//

#include "runtime/exec/origin.h"

using namespace meshplan;

static std::string sourceText(const artifact::Source &source) {
  std::string text = source.file() ? source.file()->str() : "";
  text += ":" + std::to_string(source.line()) + ":" + std::to_string(source.column());
  if (source.text() && source.text()->size() > 0)
    text += " " + source.text()->str();
  return text;
}

std::string meshplan::originText(const artifact::Schedule &schedule, const artifact::Instruction &instruction) {
  if (instruction.origin() < 0)
    return "";
  const artifact::Origin &origin = *schedule.origins()->Get(instruction.origin());
  std::string text;
  if (origin.plan() >= 0)
    text = sourceText(*schedule.sources()->Get(origin.plan()));
  if (origin.module_() && origin.module_()->size() > 0)
    text += (text.empty() ? "module " : ", module ") + origin.module_()->str();
  return text;
}
