//===- batch_reader.h - parts of one global batch ----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATASET_BATCH_READER_H
#define MESHPLAN_RUNTIME_DATASET_BATCH_READER_H

#include "runtime/dataset/dataset.h"
#include "runtime/exec/feed.h"

#include <stop_token>

namespace meshplan {

/// Reads what a rank wants of the batch at a position. Belongs to one thread; the data set lives longer.
class BatchReader {
public:
  explicit BatchReader(const Dataset &dataset) : dataset(dataset), walk(dataset.startWalk()) {}

  /// Fills `out` with the request's part of the batch that begins at `position`. Ends early, with nothing to rely on in
  /// `out`, when `stop` is asked to.
  Status read(int64_t position, const FeedRequest &request, std::span<std::byte> out, const std::stop_token &stop = {});

  /// As Feed::announce.
  void announce(int64_t position, const FeedRequest &request);

private:
  Expected<size_t> fieldOf(const FeedRequest &request) const;
  const std::vector<SampleLocation> &rowsAt(int64_t position);

  const Dataset &dataset;
  Blend::Walk walk;
  int64_t rowsPosition = -1;
  std::vector<SampleLocation> rows; // of the batch there
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_BATCH_READER_H
