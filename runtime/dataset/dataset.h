//===- dataset.h - the samples of a run, and their order --------*- C++ -*-===//
//
// The samples of a run and their order. Twin of a PyTorch Dataset with its sampler. The order is one sequence of
// samples for the whole run. It depends on the data and the seed only, not on the plan, the ranks or the batch size. A
// run takes it in global batches. The number of samples taken so far, the position, is all that a checkpoint needs to
// resume.
//
// Position p of a data set of N samples is sample p mod N in the order of epoch p / N. A batch may cross the end of an
// epoch, so no sample is left out. In a blend, each data set has its own epochs.
//
// Example: 5 samples, batches of 2. Epoch 0 has the order 3, 0, 4, 1, 2 and epoch 1 the order 1, 4, 2, 0, 3. The
// batches are (3, 0), (4, 1), (2, 1), (4, 2), (0, 3). A checkpoint after the second batch has position 4; a run that
// resumes from it with batches of 4 takes (2, 1, 4, 2) next.
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
  TokenOffsets tokens;
};

/// The state of the data in a checkpoint.
struct DataState {
  int64_t position = 0; ///< samples taken since the start
  int64_t samples = 0;  ///< in an epoch
  uint64_t seed = 0;
  bool shuffles = true;
  std::string fingerprint; ///< Dataset::fingerprint

  bool operator==(const DataState &) const = default;
};

/// A sample of one data set of a blend.
struct SampleLocation {
  size_t part = 0;
  int64_t sample = 0;
  bool operator==(const SampleLocation &) const = default;
};

/// Thread safe; the ranks of a process share one.
class Dataset {
public:
  /// `words` are those of --data (data_words.h): safetensors files, folders of them, or token files. `inputs` are those
  /// of the program (inputsOf); the data must have all of them. Fails as the functions of these headers, and with
  /// `invalid` if the data has fewer samples than a global batch or none, or if an entry of `tokens` has no effect.
  static Expected<std::shared_ptr<const Dataset>>
  open(std::span<const std::string> words, std::span<const DataInput> inputs, const DatasetOptions &options = {});

  /// Number of samples of an epoch; for a blend, of all its data sets together.
  int64_t samples() const { return sampleCount; }

  /// Samples of a global batch, and the fields of a sample.
  const BatchShape &batch() const { return shape; }

  /// Index of the field with this name.
  std::optional<size_t> findField(std::string_view name) const;

  /// Distinguishes this data from other data: one readable line per file, with weights and without folders.
  const std::string &fingerprint() const { return fingerprintText; }

  /// The state for a checkpoint at this position.
  DataState stateAt(int64_t position) const;

  /// Ok if a run saved with this state can resume exactly. `invalid`, with both sides, for other data, another seed, or
  /// an impossible position.
  Status checkResume(const DataState &saved) const;

  /// The samples at `count` positions of the order. A walk belongs to one thread; ascending positions are fast.
  std::vector<SampleLocation> locate(Blend::Walk &walk, int64_t position, int64_t count) const;
  Blend::Walk startWalk() const { return Blend::Walk(blend); }

  /// See SampleSource.
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
