//===- source.h - the tensors of a checkpoint --------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_SOURCE_H
#define MESHPLAN_RUNTIME_CHECKPOINT_SOURCE_H

#include "runtime/checkpoint/adapters.h"
#include "runtime/checkpoint/record.h"

#include <optional>

namespace meshplan {

/// What is read of a checkpoint. Without states the optimizer's file is needed only for a parameter that is made of its
/// master: what is wrong with it is said when it is read.
enum class CheckpointParts { all, parameters };

/// A checkpoint that is opened for reading: its record, its files, and the weights of which it lacks what it did not
/// save. Move only; thread safe after opening.
class CheckpointSource {
public:
  /// `weights` instead of the weights that the record names; empty: those. `corrupted` where a file lacks a tensor that
  /// the record lists, or has it in another type or shape; `invalid` where the weights are not those of the training.
  static Expected<CheckpointSource> open(const std::string &folder, const std::string &weights = "",
                                         CheckpointParts parts = CheckpointParts::all);

  /// Without weights: what is saved alone can be read.
  static Expected<CheckpointSource> openSaved(const std::string &folder, CheckpointParts parts = CheckpointParts::all);

  const std::string &folder() const { return path; }
  const CheckpointRecord &record() const { return content; }

  /// Reads a part of a parameter of the record: what is saved, or from the weights. Floats are converted. `corrupted`
  /// where the checkpoint is damaged: readers share that work, as in TensorSource::read.
  Status readParameter(const RecordedParameter &parameter, const SliceRanges &ranges, DType dtype,
                       std::span<std::byte> out, ReaderShare share = {}) const;
  Status readState(const RecordedState &state, const SliceRanges &ranges, DType dtype, std::span<std::byte> out,
                   ReaderShare share = {}) const;

  /// Compares all that is saved with its checksums: `corrupted`, with file and tensor, where it is damaged.
  Status checkSaved() const;

  /// What the optimizer changes instead of the parameter; null if that is the parameter itself.
  const RecordedState *masterOf(const RecordedParameter &parameter) const;

private:
  CheckpointSource(std::string path, CheckpointRecord record, TensorSource model, Expected<TensorSource> optimizer)
      : path(std::move(path)), content(std::move(record)), model(std::move(model)), optimizer(std::move(optimizer)) {}

  Status openWeights(const std::string &given);

  std::string path;
  CheckpointRecord content;
  TensorSource model;
  Expected<TensorSource> optimizer; ///< a failure only where parameters alone are read
  std::unique_ptr<AdapterFeed> weights;
};

/// Opens weights of a model. Of a folder that is a checkpoint, or of its model.safetensors, what is read is compared
/// with the record, as CheckpointSource does.
Expected<TensorSource> openModelWeights(const std::string &path);

/// The tensors of a checkpoint as those of a program that goes on from it, which checkCheckpoint has passed. Parameters
/// of another type than the checkpoint's are made of the master weights where it has them; master weights that it does
/// not have, of parameters.
class CheckpointFeed final : public Feed {
public:
  /// Both must outlive the feed.
  CheckpointFeed(const CheckpointSource &source, const artifact::Program &program) : source(source), program(program) {}

  Status read(const FeedRequest &request, std::span<std::byte> out) const override;
  std::string path() const override { return source.folder(); }

private:
  Status readParameter(const RecordedParameter &parameter, const FeedRequest &request, std::span<std::byte> out) const;

  const CheckpointSource &source;
  const artifact::Program &program;
};

/// Whether a program can go on from a checkpoint: the same parameters, and what its optimizer keeps. `invalid`, with
/// both sides and the way out. Else what is converted or left aside, for a person.
Expected<std::vector<std::string>> checkCheckpoint(const CheckpointSource &source, const artifact::Program &program);

/// Parameters of the program whose states begin where the checkpoint ends, or began later than its training: see
/// TrainingState::begun. Of a checkpoint that the program can go on from.
std::vector<std::pair<std::string, int64_t>> begunParameters(const CheckpointSource &source,
                                                             const artifact::Program &program);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_SOURCE_H
