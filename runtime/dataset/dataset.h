//===- dataset.h - the samples of a run, and their order ---------*- C++ -*-===//
//
// Twin of a PyTorch Dataset with its sampler. The order is one sequence of
// samples for the whole run that depends on the data, the seed and nothing else:
// not on the plan, the ranks or the batch. A run takes it in global batches, and
// the number of samples that it has taken, its position, is all that a checkpoint
// needs to go on.
//
// Position p of a data set of N samples is sample p mod N of the order of epoch
// p / N. Batches run over the end of an epoch, so that no sample is left out. Of a
// blend each data set has epochs of its own.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_DATASET_DATASET_H
#define MESHPLAN_RUNTIME_DATASET_DATASET_H

#include "runtime/dataset/blend.h"
#include "runtime/dataset/inputs.h"
#include "runtime/dataset/token_samples.h"

namespace meshplan {

struct DatasetOptions {
  uint64_t seed = 0;
  bool shuffles = true; ///< false: the order of the files, in every epoch
  TokenPlaces tokens;
};

/// What a checkpoint keeps of the data.
struct DataState {
  int64_t position = 0; ///< samples that have been taken since the start
  int64_t samples = 0;  ///< of an epoch
  uint64_t seed = 0;
  bool shuffles = true;
  std::string fingerprint; ///< Dataset::fingerprint

  bool operator==(const DataState &) const = default;
};

/// A sample of one of the data sets of a blend.
struct SampleLocation {
  size_t part = 0;
  int64_t sample = 0;
  bool operator==(const SampleLocation &) const = default;
};

/// Thread safe: the ranks of a process share one.
class Dataset {
public:
  /// `words` are those of --data (data_words.h): safetensors files or folders of them, or token files. `inputs` are
  /// those of the program (inputsOf), all of which the data must have. Errors are those of these headers, and `invalid`
  /// for data without samples, or with less than a global batch of them, and for an entry of `tokens` that does
  /// nothing.
  static Expected<std::shared_ptr<const Dataset>>
  open(std::span<const std::string> words, std::span<const DataInput> inputs, const DatasetOptions &options = {});

  /// Samples of an epoch; of a blend those of all its data sets together.
  int64_t samples() const { return sampleCount; }

  /// Samples of a global batch, and the tensors of each.
  const BatchShape &batch() const { return shape; }

  /// Index of the field of that name.
  std::optional<size_t> findField(std::string_view name) const;

  /// Tells apart other data: a line for each file, with weights, as a person may read it. Names are without folders.
  const std::string &fingerprint() const { return fingerprintText; }

  /// What a checkpoint keeps at this position.
  DataState stateAt(int64_t position) const;

  /// Whether a run that was saved with this state goes on as if it had not ended. `invalid`, with both sides, for other
  /// data, another seed, or a position that cannot be.
  Status checkResume(const DataState &saved) const;

  /// Where the samples of `count` positions of the order are. A walk belongs to one thread; steps in order are fast.
  std::vector<SampleLocation> locate(Blend::Walk &walk, int64_t position, int64_t count) const;
  Blend::Walk startWalk() const { return Blend::Walk(blend); }

  /// As SampleSource.
  Status read(const SampleLocation &location, size_t field, const SliceRanges &ranges, std::span<std::byte> out) const;
  void announce(const SampleLocation &location, size_t field, const SliceRanges &ranges) const;

private:
  Dataset(BatchShape shape, const DatasetOptions &options, Blend blend)
      : shape(std::move(shape)), options(options), blend(std::move(blend)) {}

  Status checkCounts(std::span<const std::string> paths) const;
  void describe(std::span<const int64_t> weights);

  BatchShape shape;
  DatasetOptions options;
  Blend blend;
  std::vector<SampleSourcePointer> parts;
  int64_t sampleCount = 0;
  std::string fingerprintText;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_DATASET_H
