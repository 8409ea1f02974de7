//===- meaning.h - does a schedule make sense --------------------*- C++ -*-===//
//
// The second half of loading: the bytes are a well-formed FlatBuffer, and these
// functions check what the tables say. Each failure is `corrupted` and names
// the tables and indices on the way: "programs[0]: values[3]: dims[1]: ...".
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_ARTIFACT_MEANING_H
#define MESHPLAN_RUNTIME_ARTIFACT_MEANING_H

#include "runtime/artifact/sharding.h"
#include "runtime/base/status.h"

#include <set>

namespace meshplan {

/// The whole schedule. Format and bytes have been checked.
Status verifyMeaning(const artifact::Schedule &schedule);

/// Mesh sizes are positive, names unique, and the world fits in 32 bits.
Status verifyMesh(const AxisVector *axes);

/// One list of axes of a mesh. `digits` collects them over the lists of one
/// value, in which no digit may occur twice.
Status verifyAxes(const AxisRefVector *axes, std::span<const int64_t> meshSizes, std::vector<AxisRef> &digits);

Status verifyValue(const artifact::Value &value, std::span<const int64_t> meshSizes);

/// Values, parameters, constants, ports. Instructions have been checked by verifyInstructions.
Status verifyProgram(const artifact::Schedule &schedule, const artifact::Program &program);

/// Order, liveness and operands of the instructions. `defined` are the values
/// that exist before the first one.
Status verifyInstructions(const artifact::Schedule &schedule, const artifact::Program &program,
                          std::span<const int32_t> defined);

/// The values of a collective or slice change their sharding and nothing else. `group` are the axes of the
/// communicator.
Status verifyStart(const artifact::Start &start, const artifact::Value &input, const artifact::Value &output,
                   std::span<const AxisRef> group);
Status verifySlice(const artifact::Value &input, const artifact::Value &output);

/// The same, but one may be an addend and the other whole.
Status verifySameParts(const artifact::Value &left, const artifact::Value &right);

/// The same tensor, and the same parts of it on every rank.
Status verifySameLayout(const artifact::Value &left, const artifact::Value &right);

template <typename... Parts> Status corrupted(const Parts &...parts) {
  return Status::error(StatusCode::corrupted, parts...);
}

/// Fails unless `index` is an index into `vector` (null is empty).
template <typename Vector> Status verifyIndex(const char *what, int64_t index, const Vector *vector) {
  int64_t size = vector ? vector->size() : 0;
  return index >= 0 && index < size ? Status() : corrupted(what, " ", index, " of ", size);
}

/// Fails unless the elements of a vector (null is empty) lie where their type may: FlatBuffers checks only where the
/// vector itself lies.
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
