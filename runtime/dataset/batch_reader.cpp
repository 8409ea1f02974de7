//===- batch_reader.cpp - a rank's part of a global batch -----------------===//

#include "runtime/dataset/batch_reader.h"

#include "runtime/base/map_faults.h"
#include "runtime/base/names.h"

#include <algorithm>

namespace meshplan {

/// The slice of each sample, without the batch dim.
static SliceRanges partOfSample(const FeedRequest &request) {
  // Of every sample the rank needs the same part, because the sharding of the other dims does not depend on the row.
  return {request.ranges.begin() + 1, request.ranges.end()};
}

Expected<size_t> BatchReader::fieldOf(const FeedRequest &request) const {
  const BatchShape &batch = dataset.batch();
  std::optional<size_t> field = dataset.findField(request.names.front());
  if (!field)
    return Status::error(StatusCode::notFound, "the data was opened without input '", request.names.front(), "'");
  std::vector<int64_t> shape = {batch.samples};
  std::ranges::copy(batch.fields[*field].shape, std::back_inserter(shape));
  // A schedule that was compiled for another batch size would silently read other samples.
  if (shape != request.shape || batch.fields[*field].dtype != request.dtype)
    return Status::error(StatusCode::invalid, "the data was opened with input '", request.names.front(), "' of ",
                         dtypeName(batch.fields[*field].dtype), " ", shapeText(shape), ", and ",
                         dtypeName(request.dtype), " ", shapeText(request.shape), " is read");
  MESHPLAN_RETURN_IF_ERROR(checkSlice(request.ranges, request.shape).withContext(request.names.front()));
  return *field;
}

const std::vector<SampleLocation> &BatchReader::rowsAt(int64_t position) {
  // All inputs of a batch have the same samples, so the order is computed once per batch.
  if (position != rowsPosition)
    rows = dataset.locate(walk, position, dataset.batch().samples);
  rowsPosition = position;
  return rows;
}

Status BatchReader::read(int64_t position, const FeedRequest &request, std::span<std::byte> out,
                         const std::stop_token &stop) {
  MESHPLAN_ASSIGN_OR_RETURN(size_t field, fieldOf(request));
  const std::vector<SampleLocation> &batch = rowsAt(position);
  SliceRanges part = partOfSample(request);
  size_t rowBytes = elementCount(sliceShape(part)) * dtypeSize(request.dtype), written = 0;
  for (const Range &range : request.ranges[0])
    for (int64_t row = range.offset; row < range.offset + range.size; ++row, written += rowBytes) {
      if (stop.stop_requested())
        return Status();
      MESHPLAN_RETURN_IF_ERROR(dataset.read(batch[row], field, part, out.subspan(written, rowBytes)));
    }
  // Once per request and not per sample, since it costs system calls.
  return checkMapFaults();
}

void BatchReader::announce(int64_t position, const FeedRequest &request) {
  Expected<size_t> field = fieldOf(request);
  if (!field)
    return;
  const std::vector<SampleLocation> &batch = rowsAt(position);
  SliceRanges part = partOfSample(request);
  for (const Range &range : request.ranges[0])
    for (int64_t row = range.offset; row < range.offset + range.size; ++row)
      dataset.announce(batch[row], *field, part);
}

} // namespace meshplan
