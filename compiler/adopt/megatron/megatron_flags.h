//===- megatron_flags.h - a command line of Megatron-LM ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_MEGATRON_MEGATRON_FLAGS_H
#define MESHPLAN_COMPILER_ADOPT_MEGATRON_MEGATRON_FLAGS_H

#include "compiler/support/diagnostics.h"
#include <optional>

namespace meshplan {

struct FlagWord {
  std::string text; ///< without quotes
  SourceRange range;
};

/// A flag and the words after it.
struct MegatronFlag {
  std::string name; ///< without dashes
  SourceRange range;
  std::vector<FlagWord> values;
};

/// How a flag is treated.
struct FlagRule {
  enum class Kind {
    taken,    ///< becomes a part of the plan
    refused,  ///< asks for a feature that the language does not have yet
    no_words, ///< about parallelism, without effect on a plan
    changing, ///< changes the numerics of training in a way that the language cannot express
    model,    ///< decided by the model, which was exported with it
    always,   ///< what is always done here
    outside,  ///< unrelated to a plan: the model, the data, the run
  };
  Kind kind = Kind::outside;
  int values = 0;            ///< number of values of a taken or refused flag: 0 or 1; -1: any
  llvm::StringRef why = "";  ///< why it is refused
  llvm::StringRef help = ""; ///< the help of a refusal
};

/// Splits a shell line into words: single and double quotes, and a backslash at the end of a line. Reports an unclosed
/// quote; then the result is empty.
std::optional<std::vector<FlagWord>> splitWords(const SourceBuffer &source, Diagnostics &diagnostics);

/// The flags in order. Reports words that belong to no flag, unknown flags (with the nearest known one), and missing or
/// superfluous values; then the result is empty.
std::optional<std::vector<MegatronFlag>> readFlags(const SourceBuffer &source, Diagnostics &diagnostics);

/// Names of the flags that are taken or refused, with dashes.
const std::vector<std::string> &knownFlags();

/// The rule of the flag, or nothing if it is unknown.
std::optional<FlagRule> ruleOf(llvm::StringRef name);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_MEGATRON_MEGATRON_FLAGS_H
