//===- verify_arguments.cpp - arguments of a call -------------------------===//
//
// Rank-dependent integers are checked for every rank at once, by their bounds: the check does not visit ranks, and a
// file is accepted or refused by all of them alike.
//
// Example: `offset_scale` 4 of a dim of 2^62 elements. The offset of a rank lies between 0 and 2^62, so for some rank
// the product would be 2^64, whatever the mesh: the file is corrupted.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/meaning.h"

namespace meshplan {

namespace {

/// True if the expression fits in 64 bits whatever the rank. The offset and the extent of a rank lie between 0 and
/// `extent`.
bool staysIn64Bits(const artifact::IntExpr &expression, int64_t extent) {
  // Also without the offset, which is 0 on the first rank.
  int64_t offset, size, sum;
  return !__builtin_mul_overflow(expression.offset_scale(), extent, &offset) &&
         !__builtin_mul_overflow(expression.extent_scale(), extent, &size) &&
         !__builtin_add_overflow(expression.constant(), size, &sum) &&
         !__builtin_add_overflow(expression.constant(), offset, &sum) && !__builtin_add_overflow(sum, size, &sum);
}

Status verifyInteger(const artifact::IntExpr &expression, const artifact::Program &program) {
  if (expression.value() == -1)
    return Status();
  MESHPLAN_RETURN_IF_ERROR(verifyIndex("value", expression.value(), program.values()));
  const artifact::Value &value = *program.values()->Get(expression.value());
  MESHPLAN_RETURN_IF_ERROR(verifyIndex("dim", expression.dim(), value.dims()));
  // A dim with parts has one offset per part, so there is no single offset.
  if (expression.offset_scale() != 0 && sizeOf(value.dims()->Get(expression.dim())->parts()) > 0)
    return corrupted("the offset of dim ", expression.dim(), " of value ", expression.value(), ", which has parts");
  if (!staysIn64Bits(expression, value.dims()->Get(expression.dim())->extent()))
    return corrupted("an integer of dim ", expression.dim(), " of value ", expression.value(), " that overflows");
  return Status();
}

/// There are as many scales as integers. A microbatch number is below 2^32, so a product with a 32-bit value stays in
/// 64 bits.
Status verifyMicrobatchScales(const artifact::Arg &arg, const artifact::Program &program) {
  MESHPLAN_RETURN_IF_ERROR(verifyAligned("microbatch_scales", arg.microbatch_scales()));
  if (!arg.microbatch_scales())
    return Status();
  if (arg.kind() != artifact::ArgKind::integer && arg.kind() != artifact::ArgKind::int_list)
    return corrupted("microbatch_scales of an attribute that is not an integer");
  if (sizeOf(arg.microbatch_scales()) != sizeOf(arg.ints()))
    return corrupted(sizeOf(arg.microbatch_scales()), " microbatch_scales of ", sizeOf(arg.ints()), " ints");
  for (flatbuffers::uoffset_t i = 0; i < arg.microbatch_scales()->size(); ++i) {
    const artifact::IntExpr &expression = *arg.ints()->Get(i);
    int64_t scale = arg.microbatch_scales()->Get(i);
    if (scale == 0)
      continue;
    if (expression.value() == -1)
      return corrupted("ints[", i, "] depends on the microbatch, but names no value");
    int64_t extent = program.values()->Get(expression.value())->dims()->Get(expression.dim())->extent();
    if (int64_t product; __builtin_mul_overflow(scale, extent, &product) || product > INT32_MAX || product < INT32_MIN)
      return corrupted("ints[", i, "]: microbatches make it overflow");
  }
  return Status();
}

Status verifyContent(const artifact::Arg &arg, const artifact::Program &program, const UseOfTensor &use) {
  using artifact::ArgKind;
  MESHPLAN_RETURN_IF_ERROR(verifyAligned("ints", arg.ints()));
  MESHPLAN_RETURN_IF_ERROR(verifyAligned("reals", arg.reals()));
  auto exactlyOne = [](int64_t size) { return size == 1 ? Status() : corrupted(size, " elements instead of one"); };
  switch (arg.kind()) {
  case ArgKind::none:
  case ArgKind::real_list:
  case ArgKind::bool_list:
    return Status();
  case ArgKind::value:
    MESHPLAN_RETURN_IF_ERROR(exactlyOne(sizeOf(arg.values())));
    return use(arg.values()->Get(0));
  case ArgKind::value_list:
    return verifyEach("values", arg.values(), [&](int32_t value) { return value == -1 ? Status() : use(value); });
  case ArgKind::integer:
    MESHPLAN_RETURN_IF_ERROR(exactlyOne(sizeOf(arg.ints())));
    return verifyInteger(*arg.ints()->Get(0), program);
  case ArgKind::int_list:
    return verifyEach("ints", arg.ints(), [&](const artifact::IntExpr *each) { return verifyInteger(*each, program); });
  case ArgKind::real:
    return exactlyOne(sizeOf(arg.reals()));
  case ArgKind::boolean:
    return exactlyOne(sizeOf(arg.bools()));
  case ArgKind::string:
    return arg.text() ? Status() : corrupted("no text");
  case ArgKind::dtype:
    return arg.dtype() >= artifact::DType::MIN && arg.dtype() <= artifact::DType::MAX
               ? Status()
               : corrupted("dtype ", int(arg.dtype()), " does not exist");
  }
  return corrupted("kind ", int(arg.kind()), " does not exist");
}

} // namespace

Status verifyArgument(const artifact::Arg &arg, const artifact::Program &program, const UseOfTensor &use) {
  MESHPLAN_RETURN_IF_ERROR(verifyContent(arg, program, use));
  // After the integers, whose values the scales rely on.
  return verifyMicrobatchScales(arg, program);
}

} // namespace meshplan
