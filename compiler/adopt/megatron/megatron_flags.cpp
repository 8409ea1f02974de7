//===- megatron_flags.cpp - a command line of Megatron-LM -----------------===//
// A command line of Megatron-LM is usually cut from a shell script, with quotes and with backslashes at line ends.
// Words keep their location, so that messages point into the text that the user has.
//
//===----------------------------------------------------------------------===//

#include "compiler/adopt/megatron/megatron_flags.h"
#include "compiler/support/nearest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace meshplan;
using llvm::StringRef;

namespace {

/// Splits a shell line into words and keeps their locations.
class WordReader {
public:
  WordReader(const SourceBuffer &source, Diagnostics &diagnostics)
      : text(source.text()), file(source.file()), diagnostics(diagnostics) {}

  std::optional<std::vector<FlagWord>> read();

private:
  bool skipSpace();
  bool readWord(FlagWord &word);
  void advance(size_t bytes);

  StringRef text;
  int32_t file;
  Diagnostics &diagnostics;
  size_t at = 0;
  int32_t line = 1, column = 1;
};

} // namespace

void WordReader::advance(size_t bytes) {
  for (; bytes > 0 && at < text.size(); --bytes, ++at) {
    if (text[at] == '\n')
      ++line, column = 1;
    else if ((text[at] & 0xC0) != 0x80)
      ++column;
  }
}

/// False at the end.
bool WordReader::skipSpace() {
  // Commands are usually pasted from scripts, where a backslash continues the line.
  while (at < text.size() && (llvm::isSpace(text[at]) || text.substr(at).starts_with("\\\n")))
    advance(text[at] == '\\' ? 2 : 1);
  return at < text.size();
}

bool WordReader::readWord(FlagWord &word) {
  word.range = {file, line, column, column};
  char quote = 0;
  SourceRange opened;
  for (; at < text.size() && (quote || !llvm::isSpace(text[at])); advance(1)) {
    char sign = text[at];
    if (quote ? sign == quote : sign == '\'' || sign == '"') {
      opened = {file, line, column, column + 1};
      quote = quote ? 0 : sign;
    } else {
      word.text += sign;
    }
  }
  word.range.endColumn = std::max(word.range.column + 1, line == word.range.line ? column : 0);
  if (quote)
    diagnostics.error(opened, "the quote is not closed");
  return !quote;
}

std::optional<std::vector<FlagWord>> WordReader::read() {
  std::vector<FlagWord> words;
  while (skipSpace())
    if (!readWord(words.emplace_back()))
      return std::nullopt;
  return words;
}

std::optional<std::vector<FlagWord>> meshplan::splitWords(const SourceBuffer &source, Diagnostics &diagnostics) {
  return WordReader(source, diagnostics).read();
}

/// The flag that a word begins, with the value after `=`.
static MegatronFlag flagOf(const FlagWord &word) {
  auto [name, value] = StringRef(word.text).drop_front(2).split('=');
  MegatronFlag flag{name.str(), word.range, {}};
  if (StringRef(word.text).contains('='))
    flag.values.push_back({value.str(), word.range});
  return flag;
}

static void checkFlag(const MegatronFlag &flag, Diagnostics &diagnostics) {
  std::optional<FlagRule> rule = ruleOf(flag.name);
  std::string shown = "'--" + flag.name + "'";
  if (!rule) {
    std::vector<std::string> near = nearestNames("--" + flag.name, knownFlags(), 1);
    Diagnostic &error = diagnostics.error(flag.range, "Megatron has no flag " + shown);
    error.help(near.empty() ? "flags are written out: abbreviations are not read"
                            : "did you mean '" + near.front() + "'?");
  } else if (rule->values == 1 && flag.values.empty()) {
    diagnostics.error(flag.range, shown + " needs a value");
  } else if (rule->values >= 0 && static_cast<int>(flag.values.size()) > rule->values) {
    diagnostics.error(flag.values[rule->values].range, shown + (rule->values ? " takes one value" : " takes no value"));
  }
}

std::optional<std::vector<MegatronFlag>> meshplan::readFlags(const SourceBuffer &source, Diagnostics &diagnostics) {
  std::optional<std::vector<FlagWord>> words = splitWords(source, diagnostics);
  if (!words)
    return std::nullopt;
  std::vector<MegatronFlag> flags;
  for (const FlagWord &word : *words)
    if (StringRef(word.text).starts_with("--") && word.text.size() > 2)
      flags.push_back(flagOf(word));
    else if (flags.empty())
      diagnostics.error(word.range, "'" + word.text + "' is not a flag: flags begin with '--'");
    else
      // Words are values until the next flag, because only the table of flags knows how many there may be.
      flags.back().values.push_back(word);
  for (const MegatronFlag &flag : flags)
    checkFlag(flag, diagnostics);
  if (diagnostics.hasErrors())
    return std::nullopt;
  return flags;
}
