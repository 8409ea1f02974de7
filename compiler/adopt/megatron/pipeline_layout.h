//===- pipeline_layout.h - Megatron's string of pipeline stages -*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_MEGATRON_PIPELINE_LAYOUT_H
#define MESHPLAN_COMPILER_ADOPT_MEGATRON_PIPELINE_LAYOUT_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace meshplan {

/// Stages in order, each as the letters of its layers: E embedding, t transformer layer, m multi-token prediction, L
/// loss. A stage may be empty.
using PipelineStages = std::vector<std::string>;

/// An error in the string, and its position in bytes.
struct LayoutError {
  size_t offset = 0;
  std::string message;
};

/// Parses "Et*3|(tt|)*29,m|L": `|` ends a stage, `x*n` and `(...)*n` repeat, commas are ignored. Fails on other
/// characters, parentheses without a repeat or inside others, more than 100,000 layers, an E that is not the first
/// layer, an L that is not the last one, and a t after an m. Pure.
std::variant<PipelineStages, LayoutError> parsePipelineLayout(llvm::StringRef text);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_MEGATRON_PIPELINE_LAYOUT_H
