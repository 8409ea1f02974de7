//===- load.cpp - loading tensors to the device ---------------------------===//

#include "runtime/exec/load.h"

#include "runtime/exec/moves/transfer.h"
#include "runtime/tensor/device.h"
#include "runtime/tensor/memory.h"

#include <algorithm>

using namespace meshplan;

static std::span<std::byte> bytesOf(const Tensor &tensor) {
  return {tensor.data(), static_cast<size_t>(tensor.byteSize())};
}

static int64_t bytesOf(const FeedRequest &request) {
  return elementCount(sliceShape(request.ranges)) * dtypeSize(request.dtype);
}

void ReadAhead::beforeReading(size_t index) {
  auto announceNext = [this] {
    feed.announce(requests[announced]);
    aheadBytes += bytesOf(requests[announced++]);
  };
  // The current request must be announced at least now.
  if (announced == index)
    announceNext();
  // The current request is read now and no longer counts as ahead.
  aheadBytes -= bytesOf(requests[index]);
  while (announced < requests.size() && aheadBytes < window)
    announceNext();
}

FeedRequest meshplan::rowsOf(const FeedRequest &request, int64_t begin, int64_t count) {
  FeedRequest rows = request;
  rows.ranges[0] = localPart(request.ranges[0], begin, count);
  return rows;
}

/// Reads into `staging`, a host tensor, and copies it to `target`.
static Status loadThrough(const Feed &feed, const FeedRequest &request, const Tensor &staging, const Tensor &target) {
  MESHPLAN_RETURN_IF_ERROR(feed.read(request, bytesOf(staging)));
  return copyElements(staging, target);
}

Status meshplan::loadInPieces(const Feed &feed, const FeedRequest &request, int64_t pieceBytes, const Tensor &tensor) {
  std::vector<int64_t> shape(tensor.shape().begin(), tensor.shape().end());
  if (shape.empty() || tensor.byteSize() <= pieceBytes) {
    MESHPLAN_ASSIGN_OR_RETURN(Tensor staging, allocateHostTensor(shape, tensor.dtype()));
    return loadThrough(feed, request, staging, tensor);
  }
  // Whole rows, so that each piece is a slice of the request. An empty tensor has been read above, so there are rows.
  int64_t rows = shape[0], step = std::max<int64_t>(1, pieceBytes / (tensor.byteSize() / rows));
  shape[0] = step;
  MESHPLAN_ASSIGN_OR_RETURN(Tensor staging, allocateHostTensor(shape, tensor.dtype()));
  for (int64_t row = 0; row < rows; row += step) {
    int64_t count = std::min(step, rows - row);
    MESHPLAN_ASSIGN_OR_RETURN(Tensor piece, narrow(staging, 0, 0, count));
    MESHPLAN_ASSIGN_OR_RETURN(Tensor target, narrow(tensor, 0, row, count));
    MESHPLAN_RETURN_IF_ERROR(loadThrough(feed, rowsOf(request, row, count), piece, target));
  }
  return Status();
}

/// Reads a slice into `target`, a row-major tensor of the same shape.
static Status loadSlice(const Feed &feed, const FeedRequest &request, int64_t pieceBytes, const Tensor &target) {
  return deviceOfThread().isHost() || inHostScope() ? feed.read(request, bytesOf(target))
                                                    : loadInPieces(feed, request, pieceBytes, target);
}

Status meshplan::loadInto(const Feed &feed, std::span<const FeedRequest> slices, const Tensor &tensor,
                          int64_t pieceBytes) {
  // A view, because the tensor is row-major: what is read into a part of it arrives in the tensor.
  int64_t begin = 0;
  MESHPLAN_ASSIGN_OR_RETURN(Tensor flat, flatten(tensor));
  for (const FeedRequest &slice : slices) {
    std::vector<int64_t> sliced = sliceShape(slice.ranges);
    MESHPLAN_ASSIGN_OR_RETURN(Tensor run, narrow(flat, 0, begin, elementCount(sliced)));
    // A run of whole rows is one-dimensional here, but is read in the shape of its slice.
    MESHPLAN_ASSIGN_OR_RETURN(Tensor target, reshape(run, sliced));
    MESHPLAN_RETURN_IF_ERROR(loadSlice(feed, slice, pieceBytes, target));
    begin += run.elementCount();
  }
  return Status();
}

Expected<Tensor> meshplan::loadTensor(const Feed &feed, std::span<const FeedRequest> slices,
                                      std::span<const int64_t> shape, DType dtype, int64_t pieceBytes) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor tensor, allocateTensor(shape, dtype));
  MESHPLAN_RETURN_IF_ERROR(loadInto(feed, slices, tensor, pieceBytes));
  return tensor;
}

std::vector<FeedRequest> meshplan::requestsOf(const RankView &view, int value, const std::vector<std::string> &names) {
  std::vector<FeedRequest> requests;
  ReaderShare share{view.indexAmongHolders(value), view.holders(value)};
  for (SliceRanges &slice : view.slices(value))
    requests.push_back({names, globalShapeOf(view.value(value)), std::move(slice), view.dtype(value), share});
  return requests;
}

Expected<Tensor> meshplan::loadValue(const Feed &feed, const RankView &view, int value,
                                     const std::vector<std::string> &names) {
  return loadTensor(feed, requestsOf(view, value, names), view.shape(value), view.dtype(value));
}
