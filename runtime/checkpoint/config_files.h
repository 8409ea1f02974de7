//===- config_files.h - what stands beside weights ---------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CHECKPOINT_CONFIG_FILES_H
#define MESHPLAN_RUNTIME_CHECKPOINT_CONFIG_FILES_H

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"

#include <optional>
#include <string>
#include <vector>

namespace meshplan {

/// The folder in which weights are: `weights` itself, or where the file is.
std::string folderOfWeights(const std::string &weights);

/// Copies config.json, generation_config.json and the files of a tokenizer, those that are there, and gives their
/// names. In config.json, `dtype` becomes the type of the model if there is one.
Expected<std::vector<std::string>> copyModelFiles(const std::string &from, const std::string &to,
                                                  std::optional<DType> dtype);

/// Copies adapter_config.json; notFound, with the way out, where it is not there.
Status copyAdapterConfig(const std::string &from, const std::string &to);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CHECKPOINT_CONFIG_FILES_H
