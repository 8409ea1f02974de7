//===- pipeline_layout.h - Megatron's string of pipeline stages -*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_MEGATRON_PIPELINE_LAYOUT_H
#define MESHPLAN_COMPILER_ADOPT_MEGATRON_PIPELINE_LAYOUT_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace meshplan {

/// Stages in order, each as the letters of its layers: E embedding, t transformer layer, m multi-token prediction,
/// L loss. A stage may be empty.
using PipelineStages = std::vector<std::string>;

/// What is wrong with a string, and where in it, in bytes.
struct LayoutError {
  size_t place = 0;
  std::string message;
};

/// Reads "Et*3|(tt|)*29,m|L": `|` ends a stage, `x*n` and `(...)*n` repeat, commas say nothing. Fails on other signs,
/// parentheses without a repeat or inside of others, more than 100,000 layers, and where E is not first or L not last,
/// each once, or where a t follows an m. Pure.
std::variant<PipelineStages, LayoutError> parsePipelineLayout(llvm::StringRef text);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_MEGATRON_PIPELINE_LAYOUT_H
