//===- dataset_feed.h - one rank's batches -----------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATASET_DATASET_FEED_H
#define MESHPLAN_RUNTIME_DATASET_DATASET_FEED_H

#include "runtime/dataset/dataset.h"
#include "runtime/exec/feed.h"

namespace meshplan {

/// Gives a rank its part of one global batch after the other. Row r of an input is the sample at position() + r, so
/// what a rank gets follows from its slices: ranks along an axis that does not divide the batch get the same samples.
///
/// While the step runs, a thread of this feed prepares what the step has read, for the next batch, so that loading
/// costs a copy. It holds as many bytes as the rank's inputs. What fails in it, `read` reports.
///
///   DatasetFeed feed(dataset, position);
///   for (...) {
///     runner.loadInputs(feed);
///     feed.advance();     // the next batch is prepared while this one runs
///     runner.run();       // feed.position() belongs to a checkpoint made now
///   }
///
/// Belongs to the thread of its rank, unlike other feeds; ranks share the data set alone, and may be at different
/// steps.
class DatasetFeed final : public Feed {
public:
  DatasetFeed(std::shared_ptr<const Dataset> dataset, int64_t position);
  ~DatasetFeed() override;
  DatasetFeed(const DatasetFeed &) = delete;

  /// Inputs by name. `invalid` for a request that is not of the data set's inputs, dtypes and shapes.
  Status read(const FeedRequest &request, std::span<std::byte> out) const override;

  /// Goes on to the next global batch. Waits for the preparation of the current one if nothing has read it.
  void advance();

  const Dataset &dataset() const;

  /// Samples before the current batch.
  int64_t position() const;

private:
  class Preparation;

  std::unique_ptr<Preparation> preparation;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_DATASET_FEED_H
