//===- record.h - the file checkpoint.json -----------------------*- C++ -*-===//
//
// Says what is in a checkpoint, besides its tensors, and of which model they are. docs/checkpoints.md describes the
// keys.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_RECORD_H
#define MESHPLAN_RUNTIME_CHECKPOINT_RECORD_H

#include "runtime/artifact/artifact.h"
#include "runtime/checkpoint/integrity/checksums.h"
#include "runtime/checkpoint/training_state.h"

namespace meshplan {

/// The format that this build writes. It reads format 2, too, which has another fingerprint of weights, and format 1,
/// which has no checksums either.
inline constexpr int64_t checkpointFormat = 3;

/// Files of a checkpoint.
inline constexpr const char *recordName = "checkpoint.json", *modelName = "model.safetensors",
                            *optimizerName = "optimizer.safetensors";

struct RecordedParameter {
  std::vector<std::string> names; ///< its tensor has the first
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  bool isSaved = true; ///< else it is as in the weights that the training began with
  bool isTrained = true;
};

/// What the optimizer keeps of a parameter.
struct RecordedState {
  std::string name, parameter; ///< the first name of the parameter
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  bool isMaster = false; ///< what the optimizer changes instead of the parameter

  /// "exp_avg" of "w.exp_avg".
  std::string kind() const { return name.substr(std::min(name.size(), parameter.size() + 1)); }
};

struct CheckpointRecord {
  TrainingState state;
  std::string weightsFingerprint; ///< of state.weights; empty where all parameters are saved, and of older formats
  std::string optimizer;          ///< "adamw"; empty: the program has none
  std::vector<RecordedParameter> parameters;
  std::vector<RecordedState> states;
  std::optional<CheckpointChecksums> checksums; ///< nothing: of format 1

  const RecordedParameter *findParameter(std::string_view name) const;
  /// By the name of the state, or what it is called under another name of a tied parameter.
  const RecordedState *findState(std::string_view name) const;
  bool savesAll() const;

  /// What the two files hold.
  std::vector<TensorSpec> modelSpecs() const;
  std::vector<TensorSpec> optimizerSpecs() const;
  std::vector<CheckpointFile> files() const;
};

/// The record of a training's program, without the fingerprint. Parameters that do not change and were in no checkpoint
/// before, and large buffers, are not saved where the training began with weights of a file.
CheckpointRecord recordOf(const artifact::Program &program, const TrainingState &state);

/// The name of the optimizer of a program; empty if it has none.
std::string optimizerOf(const artifact::Program &program);

/// checkpoint.json as text, and back. `corrupted`, with `path` and what is wrong, also where the text is not the one
/// that its own checksum, the last of its members, is of; `unsupported` for another format.
std::string textOf(const CheckpointRecord &record);
Expected<CheckpointRecord> readRecord(const std::string &path, std::string_view text);

/// The text with the checksum that it should have, of one that was changed by hand.
std::string sealedText(std::string_view text);

/// The record of the checkpoint in a folder; `corrupted` where it is missing.
Expected<CheckpointRecord> openRecord(const std::string &folder);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_RECORD_H
