//===- source.h - reading the tensors of a checkpoint -----------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_SOURCE_H
#define MESHPLAN_RUNTIME_CHECKPOINT_SOURCE_H

#include "runtime/checkpoint/adapters.h"
#include "runtime/checkpoint/record.h"

#include <optional>

namespace meshplan {

/// What is read of a checkpoint. With `parameters`, the optimizer's file is needed only for a parameter that is
/// converted from its master weight; a defect of that file is reported when it is read.
enum class CheckpointParts { all, parameters };

/// A checkpoint opened for reading: its record, its files, and the initial weights for the parameters that it did not
/// save. Move only. Thread safe after opening.
class CheckpointSource {
public:
  /// `weights` replaces the initial weights that the record names; empty: not replaced. With `program`, parameters of
  /// modules of a list are as it has them, stacked or apart (arrange.h). `corrupted` if a file lacks a tensor of the
  /// record, or has it in another dtype or shape; `invalid` if the weights are not those of the training.
  static Expected<CheckpointSource> open(const std::string &folder, const std::string &weights = "",
                                         CheckpointParts parts = CheckpointParts::all,
                                         const artifact::Program *program = nullptr);

  /// Opens it without the initial weights: only what is saved can be read.
  static Expected<CheckpointSource> openSaved(const std::string &folder, CheckpointParts parts = CheckpointParts::all);

  const std::string &folder() const { return path; }
  const CheckpointRecord &record() const { return content; }

  /// Reads a range of a parameter of the record, from the checkpoint or from the initial weights. Floats are converted.
  /// `corrupted` if the checkpoint is damaged; readers of the same tensor share the check (TensorSource::read).
  Status readParameter(const RecordedParameter &parameter, const SliceRanges &ranges, DType dtype,
                       std::span<std::byte> out, ReaderShare share = {}) const;
  Status readState(const RecordedState &state, const SliceRanges &ranges, DType dtype, std::span<std::byte> out,
                   ReaderShare share = {}) const;

  /// Compares everything that is saved with its checksums: `corrupted`, with file and tensor, if it is damaged.
  Status checkSaved() const;

  /// The master weight that the optimizer updates for this parameter; null if it updates the parameter itself.
  const RecordedState *masterOf(const RecordedParameter &parameter) const;

private:
  CheckpointSource(std::string path, CheckpointRecord record, TensorSource model, Expected<TensorSource> optimizer)
      : path(std::move(path)), content(std::move(record)), model(std::move(model)), optimizer(std::move(optimizer)) {}

  Status openWeights(const std::string &given);

  std::string path;
  CheckpointRecord content;
  TensorSource model;
  Expected<TensorSource> optimizer; ///< may be a failure if only parameters are read
  std::unique_ptr<AdapterFeed> weights;
};

/// Opens weights of a model. If the path is a checkpoint or its model.safetensors, they are compared with the record,
/// as CheckpointSource does, and have the parameters of modules of a list as `program` has them.
Expected<TensorSource> openModelWeights(const std::string &path, const artifact::Program &program);

/// Feeds the tensors of a checkpoint to a program that resumes from it, after checkCheckpoint has accepted it. A
/// parameter whose dtype differs from the checkpoint's is converted from the master weight if there is one. A master
/// weight that the checkpoint lacks is converted from the parameter.
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

/// Checks that a program can resume from a checkpoint: it has the same parameters, and the states of its optimizer.
/// `invalid`, with both sides and a hint. Returns notes for the user about converted and unused tensors.
Expected<std::vector<std::string>> checkCheckpoint(const CheckpointSource &source, const artifact::Program &program);

/// Parameters of the program whose optimizer states begin now, or began after the training did: see
/// TrainingState::begun. Precondition: checkCheckpoint has accepted the checkpoint.
std::vector<std::pair<std::string, int64_t>> begunParameters(const CheckpointSource &source,
                                                             const artifact::Program &program);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_SOURCE_H
