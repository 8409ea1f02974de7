//===- sharding.h - artifact types as extent.h knows them --------*- C++ -*-===//
//
// Pure functions of a verified artifact. Thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_ARTIFACT_SHARDING_H
#define MESHPLAN_RUNTIME_ARTIFACT_SHARDING_H

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"
#include "runtime/schema/extent.h"
#include "runtime/schema/schedule_generated.h"

namespace meshplan {

using AxisRefVector = flatbuffers::Vector<const artifact::AxisRef *>;
using AxisVector = flatbuffers::Vector<flatbuffers::Offset<artifact::Axis>>;

static_assert(static_cast<int>(DType::boolean) == static_cast<int>(artifact::DType::boolean) &&
              static_cast<int>(DType::bf16) == static_cast<int>(artifact::DType::bf16) &&
              static_cast<int>(DType::i64) == static_cast<int>(artifact::DType::i64));

inline DType dtypeOf(artifact::DType dtype) { return static_cast<DType>(dtype); }

/// Null is an empty list.
std::vector<AxisRef> axesOf(const AxisRefVector *axes);

DimSharding dimShardingOf(const artifact::Dim &dim);

/// The name of the program that runs this one before itself; empty if none does.
std::string_view runnerOf(const artifact::Program &program);

/// The parameter of this first name, or null.
const artifact::Parameter *findParameter(const artifact::Program &program, std::string_view name);

/// The output of this name, or null.
const artifact::Port *findOutput(const artifact::Program &program, std::string_view name);

/// All names of a parameter, the first one first.
std::vector<std::string> namesOf(const artifact::Parameter &parameter);

/// Sizes of the axes of a mesh, outermost first.
std::vector<int64_t> meshSizesOf(const AxisVector *axes);

/// The mesh that the program runs on: its own devices, or the mesh of the schedule.
std::vector<int64_t> meshSizesOf(const artifact::Schedule &schedule, const artifact::Program &program);

/// Product of the axis sizes.
int64_t worldSizeOf(std::span<const int64_t> meshSizes);

std::vector<int64_t> globalShapeOf(const artifact::Value &value);

/// Elements and bytes of the whole tensor.
int64_t globalElementsOf(const artifact::Value &value);
int64_t globalBytesOf(const artifact::Value &value);

/// Shape of the tensor of the rank at `coordinate`; of a flat value the number of its elements.
std::vector<int64_t> localShapeOf(const artifact::Value &value, std::span<const int64_t> meshSizes,
                                  std::span<const int64_t> coordinate);

/// For each dim the ranges of the global tensor that it leaves to the rank at `coordinate`: what the rank holds, or
/// what it holds a run of where the value is flat.
std::vector<std::vector<Range>> localRangesOf(const artifact::Value &value, std::span<const int64_t> meshSizes,
                                              std::span<const int64_t> coordinate);

inline bool isFlat(const artifact::Value &value) { return value.flat_axes() && value.flat_axes()->size() > 0; }

/// Visits each input of a collective with its output, as `Status visit(int32_t input, int32_t output)`; stops at the
/// first failure. There are as many of one as of the other (verified).
template <typename Visit> Status forEachMoved(const artifact::Start &start, const Visit &visit) {
  MESHPLAN_RETURN_IF_ERROR(visit(start.input(), start.output()));
  for (flatbuffers::uoffset_t i = 0; start.more_inputs() && i < start.more_inputs()->size(); ++i)
    MESHPLAN_RETURN_IF_ERROR(visit(start.more_inputs()->Get(i), start.more_outputs()->Get(i)));
  return Status();
}

/// True if the collective gathers flat values or makes them.
inline bool isAboutFlat(const artifact::Start &start) {
  using artifact::CollectiveKind;
  return start.dim() == -1 &&
         (start.kind() == CollectiveKind::all_gather || start.kind() == CollectiveKind::reduce_scatter);
}

/// True if the outputs of the collective take the place of other values.
inline bool hasTargets(const artifact::Start &start) { return start.targets() && start.targets()->size() > 0; }

/// True if the collective moves runs of elements in one piece: it is about flat tensors, about several, or about those
/// whose places are given.
inline bool isBucket(const artifact::Start &start) {
  return isAboutFlat(start) || (start.more_inputs() && start.more_inputs()->size() > 0) || hasTargets(start);
}

/// Of the elements that the dims leave to the rank at `coordinate`, in row-major order, those that it holds: all of
/// them unless the value is flat.
Range localRunOf(const artifact::Value &value, std::span<const int64_t> meshSizes, std::span<const int64_t> coordinate);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_ARTIFACT_SHARDING_H
