//===- rounding.cpp - programs that round more than the model -------------===//
//
// Example: the model has a weight in f32 and reads it in f32. With `gather bf16` the program sends it rounded and
// widens it again:
//
//   w f32 --convert--> bf16 --all-gather--> bf16 --convert--> f32 --> mm
//
// The product sees 8 mantissa bits, PyTorch's run 24, so PyTorch's own error does not bound it. A bf16 weight that is
// read in bf16 takes the same path without the conversions and is right. So each copy of a parameter carries whether it
// has lost bits of the model's dtype, and only a reader in a wider dtype is a finding.
//
//===----------------------------------------------------------------------===//

#include "runtime/verify/rounding.h"

#include "runtime/artifact/call_args.h"
#include "runtime/artifact/sharding.h"
#include "runtime/artifact/vector_range.h"
#include "runtime/exec/origin.h"

#include <map>
#include <set>

using namespace meshplan;

static DType dtypeIn(const artifact::Program &program, int value) {
  return dtypeOf(program.values()->Get(value)->dtype());
}

/// True if conversion from `other` to `dtype` rounds some numbers. f16 and bf16 each have numbers that the other lacks.
static bool rounds(DType dtype, DType other) {
  // Equal size includes the two 16-bit types.
  return isFloat(dtype) && isFloat(other) && dtype != other && dtypeSize(dtype) <= dtypeSize(other);
}

static Status refusal(const std::string &what, std::string_view option, DType dtype) {
  return Status::error(StatusCode::unsupported,
                       "error bounds are those of PyTorch's own run, and the program rounds more: ", what,
                       "; help: verify the plan without '", option, " ", dtypeName(dtype), "'");
}

/// The result of a call with one result, or -1.
static int resultOf(const artifact::Compute &call) { return call.outputs()->size() == 1 ? call.outputs()->Get(0) : -1; }

static std::string nameOf(const artifact::Parameter &parameter) { return parameter.names()->Get(0)->str(); }

static Status checkStorage(const artifact::Program &program, const artifact::Program &reference) {
  for (const artifact::Parameter &own : elementsOf(program.parameters())) {
    const artifact::Parameter *exported = findParameter(reference, nameOf(own));
    if (!exported)
      continue;
    DType stored = dtypeIn(program, own.value()), dtype = dtypeIn(reference, exported->value());
    // PyTorch's run keeps the parameter in the exported dtype, so its own error would not cover this rounding.
    if (rounds(stored, dtype))
      return refusal("parameter '" + nameOf(own) + "' is kept in " + std::string(dtypeName(stored)) +
                         ", the model has it in " + std::string(dtypeName(dtype)),
                     "storage", stored);
  }
  return Status();
}

static Status checkSums(const artifact::Schedule &schedule, const artifact::Program &program) {
  for (const artifact::Instruction *instruction : *program.instructions()) {
    const artifact::Compute *call = instruction->action_as_Compute();
    if (!call || call->target()->string_view() != "meshplan.round_gradient" || resultOf(*call) < 0)
      continue;
    DType dtype = dtypeIn(program, resultOf(*call));
    std::string origin = originText(schedule, *instruction);
    return refusal("gradients are accumulated in " + std::string(dtypeName(dtype)) +
                       (origin.empty() ? "" : " (" + origin + ")"),
                   "reduce", dtype);
  }
  return Status();
}

namespace {

/// Follows parameters to their readers, through conversions, collectives and slices.
class ParameterReads {
public:
  ParameterReads(const artifact::Program &program, const artifact::Program &reference);

  /// Parameters, by name, that are rounded to a narrow dtype and then read in a wider one, with the narrow dtype. A
  /// parameter that is only read in the narrow dtype is read so in the model too.
  std::map<std::string, DType> rounded;

  /// True if a parameter is rounded wherever it is read.
  bool isReadRounded(const std::string &name) const { return narrowed.contains(name) && !asTheyAre.contains(name); }

private:
  /// A value with the elements of a parameter.
  struct Copy {
    std::string name;
    DType dtype; ///< its dtype in the model
    bool isRounded = false;
  };

  void follow(const artifact::Instruction &instruction);
  void read(const artifact::Compute &call);
  void convert(int from, int to);
  void pass(int from, int to) {
    if (auto copy = copies.find(from); copy != copies.end())
      copies.insert_or_assign(to, copy->second);
  }

  const artifact::Program &program;
  std::map<int, Copy> copies;                // by value
  std::set<std::string> narrowed, asTheyAre; // parameters that are rounded; that a call reads unrounded
};

} // namespace

ParameterReads::ParameterReads(const artifact::Program &program, const artifact::Program &reference)
    : program(program) {
  for (const artifact::Parameter &own : elementsOf(program.parameters())) {
    // Parameters that the reference lacks cannot be compared.
    if (const artifact::Parameter *exported = findParameter(reference, nameOf(own)))
      copies.emplace(own.value(), Copy{nameOf(own), dtypeIn(reference, exported->value())});
  }
  for (const artifact::Instruction *instruction : *program.instructions())
    follow(*instruction);
}

/// The value that the call converts, or -1. Named arguments may be in any order.
static int convertedBy(const artifact::Compute &call) {
  std::string_view target = call.target()->string_view();
  if (target != "aten._to_copy.default" && target != "aten.type_as.default" && !target.starts_with("aten.to."))
    return -1;
  for (const artifact::Arg *arg : *call.args())
    if (arg->kind() == artifact::ArgKind::value && (!arg->name() || arg->name()->string_view() == "self"))
      return arg->values()->Get(0);
  return -1;
}

void ParameterReads::read(const artifact::Compute &call) {
  for (const artifact::Arg *arg : *call.args())
    for (int32_t value : elementsOf(arg->values()))
      if (auto copy = copies.find(value); copy != copies.end() && !copy->second.isRounded)
        asTheyAre.insert(copy->second.name);
}

void ParameterReads::follow(const artifact::Instruction &instruction) {
  if (const artifact::Compute *call = instruction.action_as_Compute()) {
    int to = resultOf(*call);
    // Conversions only copy a parameter; every other call reads it.
    if (int from = convertedBy(*call); from >= 0 && to >= 0)
      convert(from, to);
    else
      read(*call);
  }
  if (const artifact::Slice *slice = instruction.action_as_Slice())
    pass(slice->input(), slice->output());
  if (const artifact::Copy *copy = instruction.action_as_Copy())
    pass(copy->input(), copy->output());
  if (const artifact::Start *start = instruction.action_as_Start())
    (void)forEachMoved(program, *start, [&](int32_t input, int32_t output) {
      pass(input, output);
      return Status();
    });
}

void ParameterReads::convert(int from, int to) {
  auto found = copies.find(from);
  if (found == copies.end())
    return;
  Copy copy = found->second;
  DType before = dtypeIn(program, from), after = dtypeIn(program, to);
  // Rounded and then widened: the reader sees fewer bits than its dtype suggests.
  if (copy.isRounded && rounds(before, after))
    rounded.emplace(copy.name, before);
  copy.isRounded |= rounds(after, copy.dtype);
  if (copy.isRounded)
    narrowed.insert(copy.name);
  copies.insert_or_assign(to, std::move(copy));
}

static Status checkReads(const artifact::Program &program, const artifact::Program &reference) {
  ParameterReads own(program, reference), exported(reference, reference);
  for (const auto &[name, dtype] : own.rounded)
    if (!exported.rounded.contains(name) && !exported.isReadRounded(name))
      return refusal("parameter '" + name + "' is rounded to " + std::string(dtypeName(dtype)) +
                         " before it is read, the model reads it unrounded",
                     "gather", dtype);
  return Status();
}

Status meshplan::checkRounding(const artifact::Schedule &schedule, const artifact::Program &program,
                               const artifact::Program &reference) {
  for (const artifact::Program *each : *schedule.programs()) {
    if (&runnerOf(schedule, *each) != &program)
      continue;
    MESHPLAN_RETURN_IF_ERROR(checkStorage(*each, reference));
    MESHPLAN_RETURN_IF_ERROR(checkSums(schedule, *each));
    MESHPLAN_RETURN_IF_ERROR(checkReads(*each, reference));
  }
  return Status();
}
