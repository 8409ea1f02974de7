//===- load.h - loading tensors to the device -------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_LOAD_H
#define MESHPLAN_RUNTIME_EXEC_LOAD_H

#include "runtime/exec/feed.h"
#include "runtime/exec/rank_view.h"
#include "runtime/tensor/tensor.h"

namespace meshplan {

/// Bytes that are announced and not yet read: enough to keep the disk busy while the rank copies.
inline constexpr int64_t readAheadBytes = int64_t(64) << 20;

/// Announces to a feed what will be read next.
class ReadAhead {
public:
  /// Announces requests until `window` bytes are announced and not yet being read; the last request may exceed it. Feed
  /// and requests must outlive it.
  ReadAhead(const Feed &feed, std::span<const FeedRequest> requests, int64_t window = readAheadBytes)
      : feed(feed), requests(requests), window(window) {}

  /// Call before request `index` is read, in ascending order.
  void beforeReading(size_t index);

private:
  const Feed &feed;
  std::span<const FeedRequest> requests;
  int64_t window;
  size_t announced = 0;   // number of announced requests
  int64_t aheadBytes = 0; // bytes announced but not yet being read
};

/// Size of the host buffer through which a tensor is copied to a device.
inline constexpr int64_t stagingBytes = int64_t(64) << 20;

/// Loads the rank's shard into a new tensor of `shape`: the elements of all slices, concatenated. On the host it is
/// read in place; otherwise it is copied in groups of rows of about `pieceBytes`.
Expected<Tensor> loadTensor(const Feed &feed, std::span<const FeedRequest> slices, std::span<const int64_t> shape,
                            DType dtype, int64_t pieceBytes = stagingBytes);

/// As loadTensor, into an existing row-major tensor.
Status loadInto(const Feed &feed, std::span<const FeedRequest> slices, const Tensor &tensor,
                int64_t pieceBytes = stagingBytes);

/// The requests for a rank's shard of a value, one per slice. The feed has it under one of `names`.
std::vector<FeedRequest> requestsOf(const RankView &view, int value, const std::vector<std::string> &names);

/// loadTensor with requestsOf.
Expected<Tensor> loadValue(const Feed &feed, const RankView &view, int value, const std::vector<std::string> &names);

/// The request for the rows [begin, begin + count) of the local tensor, which has at least one dim.
FeedRequest rowsOf(const FeedRequest &request, int64_t begin, int64_t count);

/// Reads into `tensor`, a row-major tensor on any device, through host memory.
Status loadInPieces(const Feed &feed, const FeedRequest &request, int64_t pieceBytes, const Tensor &tensor);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_LOAD_H
