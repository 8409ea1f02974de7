//===- export.h - a checkpoint as other libraries read it --------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_EXPORT_H
#define MESHPLAN_RUNTIME_CHECKPOINT_EXPORT_H

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"

#include <optional>
#include <string>
#include <vector>

namespace meshplan {

struct ExportOptions {
  std::string checkpoint;     ///< or a folder of them: the last one
  std::string output;         ///< a folder that is not there yet, or is empty
  std::string config;         ///< the folder with config.json; empty: the one of the weights that training began with
  std::string weights;        ///< instead of those that the checkpoint names; empty: those
  std::optional<DType> dtype; ///< of floats; nothing: each parameter's own
  bool adapters = false;      ///< those of PEFT alone
  int64_t fileBytes = 5000000000; ///< the most that one file holds, unless one tensor has more
};

struct ExportReport {
  std::string checkpoint;
  int64_t step = 0, tensors = 0;
  std::vector<std::string> files; ///< in the output folder
  std::vector<std::string> notes; ///< for a person
};

/// Writes the parameters as Hugging Face's libraries store a model: model.safetensors, or several files and an index,
/// with config.json and the files of a tokenizer; or PEFT's adapter_model.safetensors with adapter_config.json. Master
/// weights where floats are converted. Holds one tensor at a time. The folder appears when all of it is written.
///
/// invalid: the output is there, the model has adapters, or has none; notFound: no checkpoint, or no
/// adapter_config.json; corrupted: the checkpoint is damaged, with the last one that is whole.
Expected<ExportReport> exportCheckpoint(const ExportOptions &options);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_EXPORT_H
