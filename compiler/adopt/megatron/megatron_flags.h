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

/// A flag and the words behind it.
struct MegatronFlag {
  std::string name; ///< without dashes
  SourceRange range;
  std::vector<FlagWord> values;
};

/// What is known of a flag.
struct FlagRule {
  enum class Kind {
    taken,    ///< becomes a part of the plan
    refused,  ///< asks for what plans do not have yet
    no_words, ///< of parallelism, and needs no words here
    changing, ///< changes the numbers of the training in a way that plans have no word for
    outside,  ///< says nothing of a plan: the model, the data, the run
  };
  Kind kind = Kind::outside;
  int values = 0;            ///< of a flag that is taken or refused: 0 or 1; -1: any number
  llvm::StringRef why = "";  ///< of those that are refused
  llvm::StringRef help = ""; ///< of those that are refused: the way out
};

/// Words of a shell line: single and double quotes, and a backslash at the end of a line. Reports a quote that is not
/// closed; then the result is empty.
std::optional<std::vector<FlagWord>> splitWords(const SourceBuffer &source, Diagnostics &diagnostics);

/// Flags in order. Reports words that belong to none, unknown flags with the nearest one, and missing or needless
/// values; then the result is empty.
std::optional<std::vector<MegatronFlag>> readFlags(const SourceBuffer &source, Diagnostics &diagnostics);

/// Names of the flags that are taken or refused, with dashes.
const std::vector<std::string> &knownFlags();

/// What is known of the flag; none: nobody knows it.
std::optional<FlagRule> ruleOf(llvm::StringRef name);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_MEGATRON_MEGATRON_FLAGS_H
