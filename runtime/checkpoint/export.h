//===- export.h - checkpoints in Hugging Face's format ----------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_EXPORT_H
#define MESHPLAN_RUNTIME_CHECKPOINT_EXPORT_H

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"

#include <optional>
#include <string>
#include <vector>

namespace meshplan {

struct ExportOptions {
  std::string checkpoint;         ///< a checkpoint, or a folder of checkpoints, of which the last is taken
  std::string output;             ///< a new or empty folder
  std::string config;             ///< folder of config.json; empty: the folder of the initial weights
  std::string weights;            ///< replaces the initial weights that the checkpoint names; empty: not replaced
  std::optional<DType> dtype;     ///< for floats; nullopt: each parameter's own
  bool adapters = false;          ///< write only the adapters of PEFT
  int64_t fileBytes = 5000000000; ///< maximal size of a file; a larger tensor gets a file of its own
};

struct ExportReport {
  std::string checkpoint;
  int64_t step = 0, tensors = 0;
  std::vector<std::string> files; ///< in the output folder
  std::vector<std::string> notes; ///< for the user
};

/// Writes the parameters in the format of Hugging Face's libraries: model.safetensors, or several files and an index,
/// with config.json and the files of a tokenizer; or PEFT's adapter_model.safetensors with adapter_config.json. A float
/// that is converted is read from its master weight. Holds one tensor in memory at a time. The folder appears when it
/// is complete.
///
/// invalid: the output exists, or the model has adapters where none are asked for, or lacks them; notFound: there is no
/// checkpoint, or no adapter_config.json; corrupted: the checkpoint is damaged; the message names the last intact one.
Expected<ExportReport> exportCheckpoint(const ExportOptions &options);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_EXPORT_H
