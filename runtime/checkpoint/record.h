//===- record.h - the file checkpoint.json ----------------------*- C++ -*-===//
//
// Describes the content of a checkpoint besides its tensors, and the model that it is of. docs/checkpoints.md describes
// the keys.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_RECORD_H
#define MESHPLAN_RUNTIME_CHECKPOINT_RECORD_H

#include "runtime/artifact/artifact.h"
#include "runtime/checkpoint/integrity/checksums.h"
#include "runtime/checkpoint/training_state.h"
#include "runtime/data/tensor_source.h"

namespace meshplan {

/// The format that this build writes. It also reads format 1, which has no checksums, and format 2. Both compute
/// the fingerprint of weights differently, so the initial weights that such a checkpoint needs cannot be checked.
inline constexpr int64_t checkpointFormat = 3;

/// Files of a checkpoint.
inline constexpr const char *recordName = "checkpoint.json", *modelName = "model.safetensors",
                            *optimizerName = "optimizer.safetensors";

struct RecordedParameter {
  std::vector<std::string> names; ///< its tensor has the first name
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  bool isSaved = true; ///< false: it is unchanged since the initial weights
  bool isTrained = true;
  std::optional<WeightPieces> pieces = {}; ///< its names in weight files, where they are not its own
};

/// A state that the optimizer keeps for a parameter.
struct RecordedState {
  std::string name, parameter; ///< the first name of the parameter
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  bool isMaster = false; ///< the copy of the parameter that the optimizer updates: State.copies of the artifact

  /// "exp_avg" of "w.exp_avg".
  std::string kind() const { return name.substr(std::min(name.size(), parameter.size() + 1)); }
};

struct CheckpointRecord {
  TrainingState state;
  std::string weightsFingerprint; ///< of state.weights; empty if all parameters are saved, or in older formats
  std::string optimizer;          ///< "adamw"; empty: the program has none
  std::vector<RecordedParameter> parameters;
  std::vector<RecordedState> states;
  std::optional<CheckpointChecksums> checksums; ///< nullopt: format 1

  const RecordedParameter *findParameter(std::string_view name) const;
  /// Finds a state by its name, also if it is made of another name of a tied parameter.
  const RecordedState *findState(std::string_view name) const;
  bool savesAll() const;

  /// The tensors of the two files.
  std::vector<TensorSpec> modelSpecs() const;
  std::vector<TensorSpec> optimizerSpecs() const;
  std::vector<CheckpointFile> files() const;
};

/// The record of a training program, without the fingerprint. If the training began with weights of a file, parameters
/// that do not change and were in no checkpoint before, and large buffers, are not saved.
CheckpointRecord recordOf(const artifact::Program &program, const TrainingState &state);

/// The name of the program's optimizer: of the call that has the arguments `gradient` and `learning_rate`. Empty if it
/// has none.
std::string optimizerOf(const artifact::Program &program);

/// Writes and reads checkpoint.json. `corrupted`, with `path` and reason, if the text is wrong or does not match its
/// own checksum, which is the last member; `unsupported` for another format.
std::string textOf(const CheckpointRecord &record);
Expected<CheckpointRecord> readRecord(const std::string &path, std::string_view text);

/// The text with the right checksum, for a text that was edited by hand.
std::string sealedText(std::string_view text);

/// Reads the record of the checkpoint in a folder; `corrupted` if it is missing.
Expected<CheckpointRecord> openRecord(const std::string &folder);

/// Detects accidental changes of weights without reading all of them. It covers names, dtypes, shapes, and the first
/// and last 4 KiB of each tensor that is stored uncompressed. Hexadecimal.
std::string fingerprintOf(const TensorSource &weights);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_RECORD_H
