//===- batch_reader.h - a rank's part of a global batch ---------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATASET_BATCH_READER_H
#define MESHPLAN_RUNTIME_DATASET_BATCH_READER_H

#include "runtime/dataset/dataset.h"
#include "runtime/exec/feed.h"

#include <stop_token>

namespace meshplan {

/// Reads a rank's part of the batch at a position. Belongs to one thread; the data set must outlive it.
class BatchReader {
public:
  explicit BatchReader(const Dataset &dataset) : dataset(dataset), walk(dataset.startWalk()) {}

  /// Fills `out` with the request's part of the batch that begins at `position`. If `stop` is requested it returns
  /// early, and `out` is undefined.
  Status read(int64_t position, const FeedRequest &request, std::span<std::byte> out, const std::stop_token &stop = {});

  /// See Feed::announce.
  void announce(int64_t position, const FeedRequest &request);

private:
  Expected<size_t> fieldOf(const FeedRequest &request) const;
  const std::vector<SampleLocation> &rowsAt(int64_t position);

  const Dataset &dataset;
  Blend::Walk walk;
  int64_t rowsPosition = -1;
  std::vector<SampleLocation> rows; // samples of the batch at rowsPosition
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_BATCH_READER_H
