//===- origin.cpp - origins of instructions -------------------------------===//

#include "runtime/exec/origin.h"

#include "runtime/artifact/sharding.h"
#include "runtime/artifact/vector_range.h"
#include "runtime/tensor/operator.h"

#include <algorithm>

using namespace meshplan;

static std::string sourceText(const artifact::Source &source) {
  std::string text = source.file() ? source.file()->str() : "";
  text += ":" + std::to_string(source.line()) + ":" + std::to_string(source.column());
  if (source.text() && source.text()->size() > 0)
    text += " " + source.text()->str();
  return text;
}

std::string meshplan::statementText(const artifact::Schedule &schedule, int index) {
  int32_t plan = index < 0 ? -1 : schedule.origins()->Get(index)->plan();
  return plan < 0 ? "" : sourceText(*schedule.sources()->Get(plan));
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

std::optional<size_t> meshplan::producingInstruction(const artifact::Program &program, int value) {
  int arriving = -1; // sequence of the collective or copy that outputs it
  for (flatbuffers::uoffset_t index = 0; index < program.instructions()->size(); ++index) {
    const artifact::Instruction &instruction = *program.instructions()->Get(index);
    // The output exists only after the wait, so the wait is the instruction to report.
    if (const artifact::Start *start = instruction.action_as_Start(); start && start->output() == value)
      arriving = start->sequence();
    if (const artifact::Copy *copy = instruction.action_as_Copy(); copy && copy->output() == value)
      arriving = copy->sequence();
    const artifact::UnpackRun *unpack = instruction.action_as_UnpackRun();
    const artifact::Wait *wait = instruction.action_as_Wait();
    const artifact::Slice *slice = instruction.action_as_Slice();
    const artifact::Compute *compute = instruction.action_as_Compute();
    if ((unpack && std::ranges::find(*unpack->outputs(), value) != unpack->outputs()->end()) ||
        (wait && wait->sequence() == arriving) || (slice && slice->output() == value) ||
        (compute && std::ranges::find(*compute->outputs(), value) != compute->outputs()->end()))
      return index;
  }
  return std::nullopt;
}

/// Operators, without overload names, whose result has elements of their argument `self`, unchanged.
static constexpr std::string_view keeping[] = {"aten._to_copy",
                                               "aten._unsafe_view",
                                               "aten.alias",
                                               "aten.clone",
                                               "aten.constant_pad_nd",
                                               "aten.contiguous",
                                               "aten.detach",
                                               "aten.expand",
                                               "aten.flatten",
                                               "aten.lift_fresh_copy",
                                               "aten.masked_fill",
                                               "aten.narrow",
                                               "aten.pad",
                                               "aten.permute",
                                               "aten.reshape",
                                               "aten.select",
                                               "aten.slice",
                                               "aten.split",
                                               "aten.squeeze",
                                               "aten.t",
                                               "aten.to",
                                               "aten.transpose",
                                               "aten.unbind",
                                               "aten.unflatten",
                                               "aten.unsqueeze",
                                               "aten.view",
                                               "meshplan.take_microbatch"};

/// The tensor whose elements the result of a call has, or -1.
static int keptBy(const artifact::Compute &call) {
  // Anything else computes: its elements are its own, and a message that traced them further would name the wrong
  // tensor.
  if (std::ranges::find(keeping, withoutOverload(call.target()->string_view())) == std::end(keeping))
    return -1;
  for (const artifact::Arg *arg : *call.args())
    if (arg->kind() == artifact::ArgKind::value && arg->name() && arg->name()->string_view() == "self")
      return arg->values()->Get(0);
  return -1;
}

/// The tensor that a collective or a copy moves into a value, or -1.
static int movedInto(const artifact::Program &program, int value) {
  int found = -1;
  for (const artifact::Instruction *instruction : *program.instructions()) {
    if (const artifact::Copy *copy = instruction->action_as_Copy(); copy && copy->output() == value)
      return copy->input();
    if (const artifact::Start *start = instruction->action_as_Start())
      (void)forEachMoved(program, *start, [&](int32_t input, int32_t output) {
        found = output == value ? input : found;
        return Status();
      });
  }
  return found;
}

/// Searches the program each time. Only messages and resumed parameters ask, so a table of producers is not worth its
/// memory.
int meshplan::sourceOf(const artifact::Program &program, int value) {
  std::optional<size_t> index = producingInstruction(program, value);
  if (!index)
    return -1;
  const artifact::Instruction &instruction = *program.instructions()->Get(*index);
  if (const artifact::Compute *call = instruction.action_as_Compute())
    return keptBy(*call);
  if (const artifact::Slice *slice = instruction.action_as_Slice())
    return slice->input();
  return movedInto(program, value);
}

const artifact::Port *meshplan::inputSourceOf(const artifact::Program &program, int value) {
  // Ends: each step goes to an operand, which an earlier instruction produced.
  for (; value >= 0; value = sourceOf(program, value))
    for (const artifact::Port &input : elementsOf(program.inputs()))
      if (input.value() == value)
        return &input;
  return nullptr;
}
