//===- option_reader.h - options of a block by name --------------*- C++ -*-===//
//
// Reads the options of one block with a table of rules. Reports unknown options with the nearest name, repeated
// options, and values of the wrong kind. Internal to binding.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_BIND_OPTION_READER_H
#define MESHPLAN_COMPILER_FRONTEND_BIND_OPTION_READER_H

#include "compiler/frontend/bind/context.h"

#include <functional>

namespace meshplan::bind {

/// One option: its form, for help texts, and the function that reads it.
struct OptionRule {
  std::string name;
  std::string form;                         ///< `bucket SIZE | none`
  std::function<bool(const Option &)> take; ///< false: the value does not have this form
  bool mayRepeat = false;
  bool takesBlock = false;
  bool mayLackBlock = false; ///< for an option that takes a block
};

void readOptions(const Context &context, llvm::StringRef statement, llvm::ArrayRef<Option> options,
                 llvm::ArrayRef<OptionRule> rules);

/// The range of each option; the first one if a name is repeated.
OptionRanges optionRanges(llvm::ArrayRef<Option> options);

/// The only operand of an option, or null if it has none or several.
const Operand *singleOperand(const Option &option);
/// The only operand as a word, as a number without a unit, as an integer.
std::optional<std::string> singleWord(const Option &option);
std::optional<double> singleNumber(const Option &option);
std::optional<int64_t> singleInteger(const Context &context, const Option &option);
/// All operands as words, without commas: `shard parameters, gradients over dp`.
std::optional<std::vector<Word>> allWords(const Option &option);
/// All operands as words, as `a b`; empty if one is not a word.
std::string joinedWords(const Option &option);
/// Operands between commas as paths; `[P, Q]` is one group of several paths.
std::optional<std::vector<std::vector<PathPattern>>> pathGroups(const Option &option);

} // namespace meshplan::bind

#endif // MESHPLAN_COMPILER_FRONTEND_BIND_OPTION_READER_H
