//===- config_files.h - config and tokenizer files --------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_CONFIG_FILES_H
#define MESHPLAN_RUNTIME_CHECKPOINT_CONFIG_FILES_H

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"

#include <optional>
#include <string>
#include <vector>

namespace meshplan {

/// The folder that contains the weights: `weights` itself, or the folder of the file.
std::string folderOfWeights(const std::string &weights);

/// Copies config.json, generation_config.json and the files of a tokenizer, as far as they exist, and returns their
/// names. With `dtype`, the dtype of the model in config.json is replaced by it.
Expected<std::vector<std::string>> copyModelFiles(const std::string &from, const std::string &to,
                                                  std::optional<DType> dtype);

/// Copies adapter_config.json; notFound, with a way out, if it is missing.
Status copyAdapterConfig(const std::string &from, const std::string &to);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_CONFIG_FILES_H
