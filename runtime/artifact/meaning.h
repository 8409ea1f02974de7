//===- meaning.h - verifies the meaning of a schedule -----------*- C++ -*-===//
//
// The second half of loading. The bytes are a well-formed FlatBuffer; these functions check the meaning of the tables.
// Each failure is `corrupted` and names the path of tables and indices: "programs[0]: values[3]: dims[1]: ...".
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_ARTIFACT_MEANING_H
#define MESHPLAN_RUNTIME_ARTIFACT_MEANING_H

#include "runtime/artifact/sharding.h"
#include "runtime/base/status.h"

#include <functional>
#include <set>

namespace meshplan {

/// Verifies the whole schedule. Format and bytes have been checked.
Status verifyMeaning(const artifact::Schedule &schedule);

/// Mesh sizes are positive, names unique, and the world fits in 32 bits.
Status verifyMesh(const AxisVector *axes);

/// Verifies one list of mesh axes. `digits` collects the axes of all lists of one value, of which no two may overlap.
Status verifyAxes(const AxisRefVector *axes, std::span<const int64_t> meshSizes, std::vector<AxisRef> &digits);

Status verifyValue(const artifact::Value &value, std::span<const int64_t> meshSizes);

/// Verifies values, parameters, constants and ports, then the instructions (verifyInstructions). Timelines have been
/// checked.
Status verifyProgram(const artifact::Schedule &schedule, const artifact::Program &program);

/// Verifies order, lifetimes and operands of the instructions, in each kind of instance. `defined` are the values that
/// exist before the first one.
Status verifyInstructions(const artifact::Schedule &schedule, const artifact::Program &program,
                          std::span<const int32_t> defined);

/// Verifies a tensor that a call uses, by its index into Program.values.
using UseOfTensor = std::function<Status(int32_t)>;

/// Verifies an argument of a call: it has what its kind needs, and its integers fit in 64 bits on every rank. `use` is
/// called for each tensor that it refers to.
Status verifyArgument(const artifact::Arg &arg, const artifact::Program &program, const UseOfTensor &use);

/// A collective or slice may change the sharding of a value and nothing else. `group` has the axes of the communicator.
Status verifyStart(const artifact::Start &start, const artifact::Value &input, const artifact::Value &output,
                   std::span<const AxisRef> group);
Status verifySlice(const artifact::Value &input, const artifact::Value &output);

/// The dims are divided over the same axes, in the same blocks.
bool isDividedAlike(const artifact::Dim &left, const artifact::Dim &right);

/// The two values have the same tensor and the same shards, but one may be partial and the other not.
Status verifySameParts(const artifact::Value &left, const artifact::Value &right);

/// The two values have the same tensor, and the same shards of it on every rank.
Status verifySameLayout(const artifact::Value &left, const artifact::Value &right);

template <typename... Parts> Status corrupted(const Parts &...parts) {
  return Status::error(StatusCode::corrupted, parts...);
}

/// Null is empty.
template <typename Vector> int64_t sizeOf(const Vector *vector) { return vector ? vector->size() : 0; }

/// Fails unless `index` is an index into `vector` (null is empty).
template <typename Vector> Status verifyIndex(const char *what, int64_t index, const Vector *vector) {
  int64_t size = sizeOf(vector);
  return index >= 0 && index < size ? Status() : corrupted(what, " ", index, " of ", size);
}

/// Fails unless the elements of a vector (null is empty) are aligned for their type. FlatBuffers checks only the
/// alignment of the vector itself.
template <typename Element> Status verifyAligned(const char *table, const flatbuffers::Vector<Element> *vector) {
  constexpr size_t alignment = alignof(std::remove_pointer_t<Element>);
  bool aligned = !vector || reinterpret_cast<uintptr_t>(vector->Data()) % alignment == 0;
  return aligned ? Status() : corrupted(table, ": not aligned to ", alignment, " bytes");
}

/// Calls `check` on each element of a vector (null is empty); a failure names the element.
template <typename Vector, typename Check>
Status verifyEach(const char *table, const Vector *vector, const Check &check) {
  if (!vector)
    return Status();
  for (flatbuffers::uoffset_t i = 0; i < vector->size(); ++i)
    if (Status status = check(vector->Get(i)); !status.ok())
      return status.withContext(std::string(table) + "[" + std::to_string(i) + "]");
  return Status();
}

/// Fails when `name` is empty or was seen before.
inline Status verifyName(const flatbuffers::String *name, std::set<std::string_view> &seen) {
  if (!name || name->size() == 0)
    return corrupted("no name");
  return seen.insert(name->string_view()).second ? Status() : corrupted("the name '", name->string_view(), "' twice");
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_ARTIFACT_MEANING_H
