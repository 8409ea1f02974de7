//===- option_reader.h - options of a block by name --------------*- C++ -*-===//
//
// Reads the options of one block against a table of names. Reports unknown
// options with the nearest name, options that stand twice, and values of the
// wrong kind. Internal to binding.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_BIND_OPTION_READER_H
#define MESHPLAN_COMPILER_FRONTEND_BIND_OPTION_READER_H

#include "compiler/frontend/bind/context.h"

#include <functional>

namespace meshplan::bind {

/// One option: how its form reads, for help, and what takes it.
struct OptionRule {
  std::string name;
  std::string form;                         ///< `bucket SIZE | none`
  std::function<bool(const Option &)> take; ///< false: the value is not of this form
  bool mayRepeat = false;
  bool takesBlock = false;
  bool mayLackBlock = false; ///< of one that takes a block
};

void readOptions(const Context &context, llvm::StringRef statement, llvm::ArrayRef<Option> options,
                 llvm::ArrayRef<OptionRule> rules);

/// Of several with one name the first counts.
OptionPlaces optionPlaces(llvm::ArrayRef<Option> options);

/// The only operand of an option, or null if it has none or several.
const Operand *singleOperand(const Option &option);
/// The only operand as a word, a number without a unit, an integer.
std::optional<std::string> singleWord(const Option &option);
std::optional<double> singleNumber(const Option &option);
std::optional<int64_t> singleInteger(const Context &context, const Option &option);
/// All operands as words, commas left out: `shard parameters, gradients over dp`.
std::optional<std::vector<Word>> allWords(const Option &option);
/// All operands as words, as `a b`; empty if one is not a word.
std::string joinedWords(const Option &option);
/// Operands between commas as paths; `[P, Q]` is one group of several.
std::optional<std::vector<std::vector<PathPattern>>> pathGroups(const Option &option);

} // namespace meshplan::bind

#endif // MESHPLAN_COMPILER_FRONTEND_BIND_OPTION_READER_H
