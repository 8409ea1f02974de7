//===- dataset_feed.h - one rank's batches ----------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATASET_DATASET_FEED_H
#define MESHPLAN_RUNTIME_DATASET_DATASET_FEED_H

#include "runtime/dataset/dataset.h"
#include "runtime/exec/feed.h"

namespace meshplan {

/// Gives a rank its part of one global batch after another. Row r of an input is the sample at position() + r, so a
/// rank's part follows from its slices: ranks along an axis that does not split the batch get the same samples.
///
/// While the step runs, a thread of this feed prepares the same requests for the next batch, so that loading costs only
/// a copy. It uses as much memory as the rank's inputs. Its failures are reported by `read`.
///
///   DatasetFeed feed(dataset, position);
///   for (...) {
///     runner.loadInputs(feed);
///     feed.advance();     // the next batch is prepared while this one runs
///     runner.run();       // feed.position() belongs to a checkpoint made now
///   }
///
/// Unlike other feeds it belongs to the thread of its rank. Ranks share only the data set and may be at different
/// steps.
class DatasetFeed final : public Feed {
public:
  DatasetFeed(std::shared_ptr<const Dataset> dataset, int64_t position);
  ~DatasetFeed() override;
  DatasetFeed(const DatasetFeed &) = delete;

  /// Reads an input by name. `invalid` for a request that does not match the inputs, dtypes and shapes of the data set.
  Status read(const FeedRequest &request, std::span<std::byte> out) const override;

  /// Advances to the next global batch. Waits for the preparation of the current one if nothing has read it.
  void advance();

  const Dataset &dataset() const;

  /// Number of samples before the current batch.
  int64_t position() const;

private:
  class Preparation;

  std::unique_ptr<Preparation> preparation;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_DATASET_FEED_H
