//===- index_fault.cpp - an index that points outside, in words -----------===//

#include "runtime/exec/steps/index_fault.h"

#include "runtime/base/names.h"
#include "runtime/exec/origin.h"
#include "runtime/tensor/elements.h"

#include <algorithm>
#include <numeric>

using namespace meshplan;

/// Operators, without their overloads, that leave the numbers of their argument `self` as they are, or some of them.
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
                                               "meshplan.take_microbatch",
                                               "meshplan.to_device"};

/// The tensor whose numbers the result of a call has, or -1.
static int keptBy(const artifact::Compute &call) {
  if (std::ranges::find(keeping, withoutOverload(call.target()->string_view())) == std::end(keeping))
    return -1;
  for (const artifact::Arg *arg : *call.args())
    if (arg->kind() == artifact::ArgKind::value && arg->name() && arg->name()->string_view() == "self")
      return arg->values()->Get(0);
  return -1;
}

/// What a collective has made a value of, or -1.
static int movedInto(const artifact::Program &program, int32_t sequence, int value) {
  int found = -1;
  for (const artifact::Instruction *instruction : *program.instructions())
    if (const artifact::Start *start = instruction->action_as_Start(); start && start->sequence() == sequence)
      (void)forEachMoved(*start, [&](int32_t input, int32_t output) {
        found = output == value ? input : found;
        return Status();
      });
  return found;
}

/// The input that a value has its numbers of; null for none.
static const artifact::Port *inputBehind(const artifact::Program &program, int value) {
  while (value >= 0) {
    std::optional<size_t> index = instructionThatMakes(program, value);
    if (!index) {
      for (flatbuffers::uoffset_t i = 0; program.inputs() && i < program.inputs()->size(); ++i)
        if (program.inputs()->Get(i)->value() == value)
          return program.inputs()->Get(i);
      return nullptr;
    }
    const artifact::Instruction &instruction = *program.instructions()->Get(*index);
    if (const artifact::Compute *call = instruction.action_as_Compute())
      value = keptBy(*call);
    else if (const artifact::Slice *slice = instruction.action_as_Slice())
      value = slice->input();
    else
      value = movedInto(program, instruction.action_as_Wait()->sequence(), value);
  }
  return nullptr;
}

/// Where a rank's part of an input has the number, counted in row-major order: in what was read, or where it has it
/// but once.
static std::optional<int64_t> placeIn(const IndexFault &fault, int input, std::span<const Tensor> values) {
  if (!values[input].defined())
    return std::nullopt;
  if (fault.value == input) {
    std::vector<int64_t> strides = contiguousStrides(values[input].shape());
    return std::inner_product(strides.begin(), strides.end(), fault.position.begin(), int64_t(0));
  }
  auto place = onlyPlaceOf(values[input], fault.index);
  return place ? *place : std::nullopt;
}

IndexFaultText meshplan::describeIndexFault(const IndexFault &fault, const RankView &view,
                                            std::span<const Tensor> values) {
  std::string number = fault.name + " " + std::to_string(fault.index) + " at ";
  std::string range = " is out of range [" + std::to_string(fault.begin) + ", " + std::to_string(fault.end) + ")";
  const artifact::Port *input = inputBehind(view.program(), fault.value);
  std::string name = input ? "input '" + input->name()->str() + "'" : "";
  if (input)
    if (std::optional<int64_t> place = placeIn(fault, input->value(), values))
      return {number + shapeText(view.globalPosition(input->value(), *place)) + " of " + name + range, true};
  std::string read = "the " + describe(values[fault.value]) + " that this rank reads";
  return {number + shapeText(fault.position) + " of " + read + (input ? ", which is of " + name + "," : "") + range,
          input != nullptr};
}
