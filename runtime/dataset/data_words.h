//===- data_words.h - what --data says ---------------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATASET_DATA_WORDS_H
#define MESHPLAN_RUNTIME_DATASET_DATA_WORDS_H

#include "runtime/base/status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace meshplan {

/// The data sets of a run: one after the other, or blended by weights.
struct DataWords {
  std::vector<std::string> paths;
  std::vector<int64_t> weights; ///< one for each path, in millionths; empty for none
};

/// Reads "PATH" or "PATH=WEIGHT", the same form for all of them. A weight is a decimal number above 0, below a million,
/// with at most six digits behind the point. A word that is itself the path of something is that path, also with '='.
Expected<DataWords> parseDataWords(std::span<const std::string> words);

/// Whether a path of these words means token files (token_samples.h), so that inputs must be told which tokens they
/// take.
bool hasTokenFiles(std::span<const std::string> words);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_DATA_WORDS_H
