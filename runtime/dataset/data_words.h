//===- data_words.h - the words of --data -----------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATASET_DATA_WORDS_H
#define MESHPLAN_RUNTIME_DATASET_DATA_WORDS_H

#include "runtime/base/status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace meshplan {

/// The data sets of a run: concatenated, or blended by weights.
struct DataWords {
  std::vector<std::string> paths;
  std::vector<int64_t> weights; ///< one per path, in millionths; empty: concatenated
};

/// Parses the words of --data: "PATH" or "PATH=WEIGHT", the same form for all. A weight is a decimal number above 0 and
/// below a million, with at most six digits after the point. A word that names an existing path is that path, even with
/// '='.
Expected<DataWords> parseDataWords(std::span<const std::string> words);

/// True if a path of these words means token files (token_samples.h), whose inputs may need --tokens.
bool hasTokenFiles(std::span<const std::string> words);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_DATA_WORDS_H
