//===- option_reader.cpp - options of a block by name ----------------------===//
//
// Example: `data dp { bucket 64 MiB; shard parameters }` is read with the rules `bucket`, `shard`, ... of the statement
// `data`. A rule reads the value where the form fits, and reports itself what is wrong with a value of the right form,
// such as a size that is too large. Where the form does not fit it returns false, and the form is the help.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/bind/option_reader.h"
#include "compiler/frontend/statement_forms.h"

#include "compiler/support/nearest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <map>
#include <utility>

using namespace meshplan;
using namespace meshplan::bind;

static bool fitsBlock(const Option &option, const OptionRule &rule) {
  return option.hasBlock ? rule.takesBlock : !rule.takesBlock || rule.mayLackBlock;
}

void bind::readOptions(const Context &context, llvm::StringRef statement, llvm::ArrayRef<Option> options,
                       llvm::ArrayRef<OptionRule> rules) {
  std::vector<std::string> names;
  for (const OptionRule &rule : rules)
    names.push_back(rule.name);
  std::map<std::string, SourceRange> seen;
  for (const Option &option : options) {
    const OptionRule *rule =
        llvm::find_if(rules, [&](const OptionRule &candidate) { return candidate.name == option.name.text; });
    if (rule == rules.end()) {
      std::string home = statementHome(option.name.text);
      context.diagnostics
          .error(option.name.range, ("'" + statement + "' has no option '" + option.name.text + "'").str())
          .help(home.empty() ? suggest(option.name.text, names, ("options of '" + statement + "'").str()) : home);
      continue;
    }
    auto [earlier, isNew] = seen.try_emplace(rule->name, option.range);
    if (!isNew && !rule->mayRepeat)
      context.diagnostics.error(option.range, "option '" + rule->name + "' is repeated")
          .note(earlier->second, "the first one is here");
    else if (!fitsBlock(option, *rule) || !rule->take(option))
      context.diagnostics.error(option.range, "cannot read '" + option.text + "'")
          .help("the form is '" + rule->form + "'");
  }
}

OptionRanges bind::optionRanges(llvm::ArrayRef<Option> options) {
  OptionRanges ranges;
  for (const Option &option : options)
    ranges.try_emplace(option.name.text, option.range);
  return ranges;
}

const Operand *bind::singleOperand(const Option &option) {
  bool isSingle = option.operands.size() == 1 && option.operands[0].size() == 1;
  return isSingle ? &option.operands[0][0] : nullptr;
}

std::optional<std::string> bind::singleWord(const Option &option) {
  const Operand *operand = singleOperand(option);
  if (operand == nullptr || operand->kind != Operand::Kind::Word)
    return std::nullopt;
  return operand->text;
}

std::optional<double> bind::singleNumber(const Option &option) {
  const Operand *operand = singleOperand(option);
  if (operand == nullptr || operand->kind != Operand::Kind::Number || !operand->number.unit.empty())
    return std::nullopt;
  return operand->number.value;
}

std::optional<int64_t> bind::singleInteger(const Context &context, const Option &option) {
  const Operand *operand = singleOperand(option);
  if (operand == nullptr)
    return std::nullopt;
  if (operand->kind == Operand::Kind::Number && operand->number.unit.empty())
    return operand->number.integer;
  // A word may be a number that the plan names: `let n = 8`, then `bucket n`.
  auto value = context.environment.values.find(operand->text);
  if (operand->kind != Operand::Kind::Word || value == context.environment.values.end())
    return std::nullopt;
  return value->second;
}

namespace {

bool appendWords(llvm::ArrayRef<std::vector<Operand>> groups, std::vector<Word> &out) {
  for (const std::vector<Operand> &group : groups)
    for (const Operand &operand : group) {
      if (operand.kind == Operand::Kind::List) {
        if (!appendWords(operand.list, out))
          return false;
      } else if (operand.kind == Operand::Kind::Word) {
        out.push_back({operand.text, operand.range});
      } else {
        return false;
      }
    }
  return true;
}

bool appendPath(llvm::ArrayRef<Operand> item, std::vector<PathPattern> &out) {
  if (item.size() != 1 || item[0].kind == Operand::Kind::List)
    return false;
  std::string text = item[0].text;
  // Digits followed by the letters of a unit are a name here.
  if (item[0].kind == Operand::Kind::Number)
    llvm::erase(text, ' ');
  out.push_back({text, item[0].kind == Operand::Kind::String, item[0].range});
  return true;
}

} // namespace

std::optional<std::vector<Word>> bind::allWords(const Option &option) {
  std::vector<Word> result;
  if (!appendWords(option.operands, result) || result.empty())
    return std::nullopt;
  return result;
}

std::string bind::joinedWords(const Option &option) {
  std::string result;
  if (std::optional<std::vector<Word>> words = allWords(option))
    for (const Word &word : *words)
      result += (result.empty() ? "" : " ") + word.text;
  return result;
}

std::optional<std::vector<std::vector<PathPattern>>> bind::pathGroups(const Option &option) {
  std::vector<std::vector<PathPattern>> result;
  for (const std::vector<Operand> &group : option.operands) {
    std::vector<PathPattern> &paths = result.emplace_back();
    bool isList = group.size() == 1 && group[0].kind == Operand::Kind::List;
    bool ok = isList ? llvm::all_of(group[0].list, [&](const auto &item) { return appendPath(item, paths); })
                     : appendPath(group, paths);
    if (!ok)
      return std::nullopt;
  }
  if (result.empty())
    return std::nullopt;
  return result;
}
