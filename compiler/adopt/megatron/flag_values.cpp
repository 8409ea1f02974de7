//===- flag_values.cpp - the values of a command line ---------------------===//

#include "compiler/adopt/megatron/flag_values.h"
#include "compiler/adopt/numbers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace meshplan;
using llvm::StringRef;

std::string meshplan::shown(StringRef name) { return "--" + name.str(); }

static std::string helpOfNumber(const FlagWord &word) {
  return StringRef(word.text).contains('$')
             ? "the variable was not replaced: write the number, or use double quotes, in which the shell replaces it"
             : "";
}

/// The last flag of a name applies.
const MegatronFlag *FlagValues::find(StringRef name) const {
  auto found = llvm::find_if(llvm::reverse(flags), [&](const MegatronFlag &flag) { return flag.name == name; });
  return found == flags.rend() ? nullptr : &*found;
}

std::optional<int64_t> FlagValues::integer(StringRef name, int64_t least) const {
  const MegatronFlag *flag = find(name);
  if (!flag)
    return std::nullopt;
  int64_t value = 0;
  const FlagWord &text = flag->values.front();
  bool isWhole = !StringRef(text.text).getAsInteger(10, value);
  if (isWhole && value >= least && value <= mostWhole)
    return value;
  if (isWhole && value > mostWhole) {
    diagnostics.error(text.range,
                      "'" + text.text + "' of '" + shown(name) + "' is more than " + std::to_string(mostWhole));
    return std::nullopt;
  }
  diagnostics
      .error(text.range,
             "'" + text.text + "' of '" + shown(name) + "' is not a whole number of at least " + std::to_string(least))
      .help(helpOfNumber(text));
  return std::nullopt;
}

std::optional<double> FlagValues::number(StringRef name) const {
  const MegatronFlag *flag = find(name);
  if (!flag)
    return std::nullopt;
  const FlagWord &text = flag->values.front();
  std::optional<double> value = parseNumber(text.text);
  if (!value || *value < 0) {
    diagnostics.error(text.range, "'" + text.text + "' of '" + shown(name) + "' is not a number of at least 0")
        .help(helpOfNumber(text));
    return std::nullopt;
  }
  return value;
}

std::optional<double> FlagValues::fraction(StringRef name) const {
  std::optional<double> value = number(name);
  if (!value || *value <= 1)
    return value;
  const FlagWord &text = find(name)->values.front();
  diagnostics.error(text.range, "'" + text.text + "' of '" + shown(name) + "' is not a number from 0 to 1");
  return std::nullopt;
}

std::optional<AdoptedNumber> FlagValues::size(StringRef name) const {
  std::optional<int64_t> value = integer(name);
  if (!value)
    return std::nullopt;
  return AdoptedNumber{*value, shown(name), find(name)->values.front().range};
}

std::string FlagValues::word(StringRef name, StringRef otherwise, llvm::ArrayRef<std::string> allowed) const {
  const MegatronFlag *flag = find(name);
  if (!flag)
    return otherwise.str();
  const FlagWord &text = flag->values.front();
  if (!llvm::is_contained(allowed, text.text))
    diagnostics.error(text.range,
                      "'" + text.text + "' of '" + shown(name) + "' is none of " + llvm::join(allowed, ", "));
  return text.text;
}

AdoptedText FlagValues::takenFlag(std::string text, StringRef name) const {
  const MegatronFlag *flag = find(name);
  return {std::move(text), shown(name), flag ? flag->range : SourceRange()};
}

void FlagValues::warn(StringRef name, const std::string &message) const {
  diagnostics.warning(find(name)->range, message);
}
