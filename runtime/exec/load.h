//===- load.h - tensors from a feed to the device ----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_LOAD_H
#define MESHPLAN_RUNTIME_EXEC_LOAD_H

#include "runtime/exec/feed.h"
#include "runtime/exec/rank_view.h"
#include "runtime/tensor/tensor.h"

namespace meshplan {

/// Bytes that a rank has announced and not yet read: enough for a disk to have work while the rank copies.
inline constexpr int64_t readAheadBytes = int64_t(64) << 20;

/// Announces to a feed what is read next.
class ReadAhead {
public:
  /// Announces while what is announced and not yet being read has less than `window` bytes. Feed and requests live
  /// longer.
  ReadAhead(const Feed &feed, std::span<const FeedRequest> requests, int64_t window = readAheadBytes)
      : feed(feed), requests(requests), window(window) {}

  /// Call before request `index` is read, in their order.
  void beforeReading(size_t index);

private:
  const Feed &feed;
  std::span<const FeedRequest> requests;
  int64_t window;
  size_t announced = 0;   // requests
  int64_t aheadBytes = 0; // of those that are not being read yet
};

/// Bytes of the host's memory that a tensor passes through on its way to a device.
inline constexpr int64_t stagingBytes = int64_t(64) << 20;

/// The rank's part, where allocateTensor makes tensors: the elements of all slices one after the other, as a tensor of
/// `shape`. On the host it is read in place; else in pieces of rows of about `pieceBytes`.
Expected<Tensor> loadTensor(const Feed &feed, std::span<const FeedRequest> slices, std::span<const int64_t> shape,
                            DType dtype, int64_t pieceBytes = stagingBytes);

/// The same into a row-major tensor that is there.
Status loadInto(const Feed &feed, std::span<const FeedRequest> slices, const Tensor &tensor,
                int64_t pieceBytes = stagingBytes);

/// What is read for a rank's part of a value, which the feed has under one of `names`: one request for each slice.
std::vector<FeedRequest> requestsOf(const RankView &view, int value, const std::vector<std::string> &names);

/// loadTensor of all of these.
Expected<Tensor> loadValue(const Feed &feed, const RankView &view, int value, const std::vector<std::string> &names);

/// The request for the rows [begin, begin + count) of the local tensor, which has at least one dim.
FeedRequest rowsOf(const FeedRequest &request, int64_t begin, int64_t count);

/// Reads into `tensor`, a row-major tensor on any device, through the memory of the host.
Status loadInPieces(const Feed &feed, const FeedRequest &request, int64_t pieceBytes, const Tensor &tensor);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_LOAD_H
