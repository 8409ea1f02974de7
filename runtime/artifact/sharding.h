//===- sharding.h - artifact tables as types of extent.h --------*- C++ -*-===//
//
// Converts the tables of a verified artifact to the types of extent.h. Pure and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_ARTIFACT_SHARDING_H
#define MESHPLAN_RUNTIME_ARTIFACT_SHARDING_H

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"
#include "runtime/schema/extent.h"
#include "runtime/schema/routed.h"
#include "runtime/schema/schedule_generated.h"
#include "runtime/schema/weight_pieces.h"

#include <optional>

namespace meshplan {

using AxisRefVector = flatbuffers::Vector<const artifact::AxisRef *>;
using AxisVector = flatbuffers::Vector<flatbuffers::Offset<artifact::Axis>>;

static_assert(static_cast<int>(DType::boolean) == static_cast<int>(artifact::DType::boolean) &&
              static_cast<int>(DType::bf16) == static_cast<int>(artifact::DType::bf16) &&
              static_cast<int>(DType::i64) == static_cast<int>(artifact::DType::i64));

inline DType dtypeOf(artifact::DType dtype) { return static_cast<DType>(dtype); }

/// A null list is an empty one.
std::vector<AxisRef> axesOf(const AxisRefVector *axes);

DimSharding dimShardingOf(const artifact::Dim &dim);

/// The program in whose timeline `program` is: itself unless it only runs in that of another one.
const artifact::Program &runnerOf(const artifact::Schedule &schedule, const artifact::Program &program);

/// How often a run of its runner runs the program.
int64_t instancesOf(const artifact::Schedule &schedule, const artifact::Program &program);

/// The parameter with this first name, or null.
const artifact::Parameter *findParameter(const artifact::Program &program, std::string_view name);

/// The output with this name, or null.
const artifact::Port *findOutput(const artifact::Program &program, std::string_view name);

/// True if the value is that of an accumulator before the program.
bool isAccumulator(const artifact::Program &program, int32_t value);

/// All names of a parameter, in the order of the artifact.
std::vector<std::string> namesOf(const artifact::Parameter &parameter);

/// The names of a parameter in weight files, where they are not its own.
std::optional<WeightPieces> weightPiecesOf(const artifact::Parameter &parameter);

/// Sizes of the axes of a mesh, outermost first.
std::vector<int64_t> meshSizesOf(const AxisVector *axes);

/// The mesh that the program runs on: its own devices if it has any, else the mesh of the schedule.
std::vector<int64_t> meshSizesOf(const artifact::Schedule &schedule, const artifact::Program &program);

/// Product of the axis sizes.
int64_t worldSizeOf(std::span<const int64_t> meshSizes);

std::vector<int64_t> globalShapeOf(const artifact::Value &value);

/// Elements and bytes of the whole tensor.
int64_t globalElementsOf(const artifact::Value &value);
int64_t globalBytesOf(const artifact::Value &value);

/// Shape of the tensor of the rank at `coordinate`. A flat value has one dim: the number of its elements. The first
/// dim of rows that are routed to experts is a number of rows by `load`, unless the rank has all experts.
std::vector<int64_t> localShapeOf(const artifact::Value &value, std::span<const int64_t> meshSizes,
                                  std::span<const int64_t> coordinate, RowLoad load = RowLoad::balanced);

/// For each dim, the ranges of the global tensor that it leaves to the rank at `coordinate`. The rank holds all of
/// these elements, or a run of them if the value is flat (localRunOf).
std::vector<std::vector<Range>> localRangesOf(const artifact::Value &value, std::span<const int64_t> meshSizes,
                                              std::span<const int64_t> coordinate);

inline bool isFlat(const artifact::Value &value) { return value.flat_axes() && value.flat_axes()->size() > 0; }

/// True if the number of elements of the rank's tensor follows from the choices of a router.
inline bool isRows(const artifact::Value &value) {
  return value.routed() && value.routed()->kind() != artifact::RoutedKind::counts;
}

/// Of a routed value.
inline RoutedTokens routedTokensOf(const artifact::Value &value) {
  const artifact::Routed &routed = *value.routed();
  return {routed.dims(), routed.slots(), value.dims()->Get(0)->extent(), routed.reserve()};
}

/// True if the value has the elements of others (Value.members).
inline bool isPacked(const artifact::Value &value) { return value.members() && value.members()->size() > 0; }

/// The values whose elements a value has: itself, or its members. Verified: the index is in range.
std::vector<int32_t> membersOf(const artifact::Program &program, int32_t value);

/// Calls `Status visit(int32_t input, int32_t output)` for each tensor that a collective moves: its value before and
/// after. Stops at the first failure. Verified: there are as many before as after.
template <typename Visit>
Status forEachMoved(const artifact::Program &program, const artifact::Start &start, const Visit &visit) {
  std::vector<int32_t> inputs = membersOf(program, start.input()), outputs = membersOf(program, start.output());
  for (size_t i = 0; i < inputs.size(); ++i)
    MESHPLAN_RETURN_IF_ERROR(visit(inputs[i], outputs[i]));
  return Status();
}

/// True if the collective gathers flat values, or reduces and scatters into them.
inline bool isAboutFlat(const artifact::Start &start) {
  using artifact::CollectiveKind;
  return start.dim() == -1 &&
         (start.kind() == CollectiveKind::all_gather || start.kind() == CollectiveKind::reduce_scatter);
}

/// The run that the rank at `coordinate` holds of the elements that the dims leave to it, in row-major order. All of
/// them unless the value is flat.
Range localRunOf(const artifact::Value &value, std::span<const int64_t> meshSizes, std::span<const int64_t> coordinate);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_ARTIFACT_SHARDING_H
