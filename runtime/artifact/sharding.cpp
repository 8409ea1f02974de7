//===- sharding.cpp - artifact tables as types of extent.h ----------------===//

#include "runtime/artifact/sharding.h"

#include "runtime/artifact/vector_range.h"
#include "runtime/schema/routed.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace meshplan {

std::vector<AxisRef> axesOf(const AxisRefVector *axes) {
  std::vector<AxisRef> result;
  if (axes)
    for (const artifact::AxisRef *axis : *axes)
      result.push_back({axis->axis(), axis->pre(), axis->size()});
  return result;
}

DimSharding dimShardingOf(const artifact::Dim &dim) {
  DimSharding sharding{
      .extent = dim.extent(), .axes = axesOf(dim.axes()), .unit = dim.unit(), .parts = {}, .repeat = dim.repeat()};
  if (dim.parts())
    for (const artifact::DimPart *part : *dim.parts())
      sharding.parts.emplace_back(part->extent(), part->unit(), part->repeat());
  return sharding;
}

/// How often the timeline of `runner` has the program.
static int64_t instancesIn(const artifact::Schedule &schedule, const artifact::Program &runner,
                           const artifact::Program &program) {
  int64_t count = 0;
  if (runner.timeline())
    for (const artifact::Instance *instance : *runner.timeline())
      count += schedule.programs()->Get(instance->program()) == &program;
  return count;
}

const artifact::Program &runnerOf(const artifact::Schedule &schedule, const artifact::Program &program) {
  for (const artifact::Program *runner : *schedule.programs())
    if (instancesIn(schedule, *runner, program) > 0)
      return *runner;
  return program;
}

int64_t instancesOf(const artifact::Schedule &schedule, const artifact::Program &program) {
  return std::max<int64_t>(1, instancesIn(schedule, runnerOf(schedule, program), program));
}

const artifact::Parameter *findParameter(const artifact::Program &program, std::string_view name) {
  for (const artifact::Parameter &parameter : elementsOf(program.parameters()))
    if (parameter.names()->Get(0)->string_view() == name)
      return &parameter;
  return nullptr;
}

const artifact::Port *findOutput(const artifact::Program &program, std::string_view name) {
  for (const artifact::Port &output : elementsOf(program.outputs()))
    if (output.name()->string_view() == name)
      return &output;
  return nullptr;
}

bool isAccumulator(const artifact::Program &program, int32_t value) {
  for (const artifact::Accumulator &accumulator : elementsOf(program.accumulators()))
    if (accumulator.value() == value)
      return true;
  return false;
}

std::vector<int32_t> membersOf(const artifact::Program &program, int32_t value) {
  const auto *members = program.values()->Get(value)->members();
  if (!members || members->size() == 0)
    return {value};
  return {members->begin(), members->end()};
}

std::vector<std::string> namesOf(const artifact::Parameter &parameter) {
  std::vector<std::string> names;
  for (const flatbuffers::String *name : *parameter.names())
    names.push_back(name->str());
  return names;
}

std::optional<WeightPieces> weightPiecesOf(const artifact::Parameter &parameter) {
  const artifact::WeightPieces *stored = parameter.pieces();
  if (!stored)
    return std::nullopt;
  WeightPieces pieces{.dim = stored->dim(), .count = stored->count()};
  for (const flatbuffers::String *text : *stored->before())
    pieces.before.push_back(text->str());
  for (const flatbuffers::String *text : *stored->after())
    pieces.after.push_back(text->str());
  pieces.sizes.assign(stored->sizes()->begin(), stored->sizes()->end());
  return pieces;
}

std::vector<int64_t> meshSizesOf(const AxisVector *axes) {
  std::vector<int64_t> sizes;
  if (axes)
    for (const artifact::Axis *axis : *axes)
      sizes.push_back(axis->size());
  return sizes;
}

std::vector<int64_t> meshSizesOf(const artifact::Schedule &schedule, const artifact::Program &program) {
  // The reference runs on one device of its own.
  bool own = program.devices() && program.devices()->size() > 0;
  return meshSizesOf(own ? program.devices() : schedule.mesh());
}

int64_t worldSizeOf(std::span<const int64_t> meshSizes) {
  return std::accumulate(meshSizes.begin(), meshSizes.end(), int64_t(1), std::multiplies<>());
}

std::vector<int64_t> globalShapeOf(const artifact::Value &value) {
  std::vector<int64_t> shape;
  for (const artifact::Dim *dim : *value.dims())
    shape.push_back(dim->extent());
  return shape;
}

int64_t globalElementsOf(const artifact::Value &value) {
  int64_t elements = 1;
  for (const artifact::Dim *dim : *value.dims())
    elements *= dim->extent();
  return elements;
}

int64_t globalBytesOf(const artifact::Value &value) {
  return globalElementsOf(value) * dtypeSize(dtypeOf(value.dtype()));
}

/// The local shape before flat axes cut it: the extents that the dims leave to the rank.
static std::vector<int64_t> shapeOfDims(const artifact::Value &value, std::span<const int64_t> meshSizes,
                                        std::span<const int64_t> coordinate) {
  std::vector<int64_t> shape;
  for (const artifact::Dim *dim : *value.dims())
    shape.push_back(localExtent(dimShardingOf(*dim), meshSizes, coordinate));
  return shape;
}

std::vector<int64_t> localShapeOf(const artifact::Value &value, std::span<const int64_t> meshSizes,
                                  std::span<const int64_t> coordinate, RowLoad load) {
  // A flat value is cut across dims, so its local elements no longer form a box; they are stored in one dim.
  if (isFlat(value))
    return {localRunOf(value, meshSizes, coordinate).size};
  std::vector<int64_t> shape = shapeOfDims(value, meshSizes, coordinate);
  if (value.routed())
    return routedShape(!isRows(value), routedTokensOf(value), shape, load);
  return shape;
}

/// A flat value is distributed in two steps: the dims leave a box to the rank, and the flat axes then cut the row-major
/// elements of that box, without regard to dims. Example: mesh dp=2, tp=3; rows of [6, 4] over tp and flat over dp. The
/// dims leave rows 0-1 to rank (1, 0), 8 elements, and the flat axis the run 4-7 of these, which is row 1.
Range localRunOf(const artifact::Value &value, std::span<const int64_t> meshSizes,
                 std::span<const int64_t> coordinate) {
  std::vector<int64_t> shape = shapeOfDims(value, meshSizes, coordinate);
  int64_t elements = std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
  return flatRange(elements, axesOf(value.flat_axes()), meshSizes, coordinate);
}

std::vector<std::vector<Range>> localRangesOf(const artifact::Value &value, std::span<const int64_t> meshSizes,
                                              std::span<const int64_t> coordinate) {
  std::vector<std::vector<Range>> ranges;
  for (const artifact::Dim *dim : *value.dims())
    ranges.push_back(localRanges(dimShardingOf(*dim), meshSizes, coordinate));
  return ranges;
}

} // namespace meshplan
