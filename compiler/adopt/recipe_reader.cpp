//===- recipe_reader.cpp - checked access to a recipe ---------------------===//
//
// A recipe is YAML that its framework reads with defaults of its own, and newer versions of it have more options. So an
// unknown option is a warning, unless it looks like a misspelt known one. One that is set to nothing, `false` or an
// empty list is ignored.
//
//===----------------------------------------------------------------------===//

#include "compiler/adopt/recipe_reader.h"
#include "compiler/adopt/numbers.h"
#include "compiler/support/nearest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

using namespace meshplan;
using llvm::StringRef;

/// True if the value turns an option off, or is its default.
static bool isOff(const YamlValue &value) {
  if (value.saysNothing() || value.kind == YamlValue::Kind::map)
    return value.entries.empty();
  std::string text = StringRef(value.text).lower();
  return value.kind == YamlValue::Kind::list ? value.items.empty() : text == "false" || text == "off" || text == "no";
}

void RecipeReader::readMap(const YamlEntry &section, llvm::ArrayRef<Option> options, llvm::ArrayRef<StringRef> known,
                           bool isClosed) {
  if (section.value.saysNothing())
    return;
  if (section.value.kind != YamlValue::Kind::map) {
    fail(section, "'" + section.key + "' is not a map");
    return;
  }
  std::vector<std::string> names;
  for (const Option &option : options)
    names.push_back(option.name.str());
  for (StringRef name : known)
    names.push_back(name.str());
  for (const YamlEntry &entry : section.value.entries) {
    auto option = llvm::find_if(options, [&](const Option &each) { return each.name == entry.key; });
    if (option != options.end()) {
      option->take(entry);
      continue;
    }
    bool isKnown = llvm::is_contained(known, entry.key);
    std::vector<std::string> near = isKnown ? std::vector<std::string>() : nearestNames(entry.key, names, 1);
    // An option of a newer version must not stop the user: it is warned about. But a name close to a known one is a
    // typing error, and ignoring "micro_batchsize" would change the training without a word.
    if (!near.empty() || (isClosed && !isKnown))
      diagnostics.error(entry.keyRange, "unknown option '" + entry.key + "' of '" + section.key + "'")
          .help(near.empty() ? "" : "did you mean '" + near.front() + "'?");
    else if (!isOff(entry.value))
      noEffect(entry);
  }
}

void RecipeReader::noEffect(const YamlEntry &entry, const std::string &why) {
  diagnostics.warning(entry.keyRange, "'" + entry.key + "' has no effect" + (why.empty() ? " here" : ": " + why));
}

Diagnostic &RecipeReader::fail(const YamlEntry &entry, const std::string &message) {
  return diagnostics.error(entry.value.range, message);
}

static bool isText(const YamlEntry &entry) { return entry.value.kind == YamlValue::Kind::scalar; }

static std::string helpOfNumber(const YamlEntry &entry) {
  return StringRef(entry.value.text).contains('$') ? "variables are not replaced: write the number" : "";
}

std::optional<int64_t> RecipeReader::integer(const YamlEntry &entry, int64_t least) {
  if (entry.value.saysNothing())
    return std::nullopt;
  std::optional<double> value = isText(entry) ? parseNumber(entry.value.text) : std::nullopt;
  if (value && *value > static_cast<double>(mostWhole)) {
    fail(entry, "'" + entry.key + "' is " + entry.value.text + ", more than " + std::to_string(mostWhole));
    return std::nullopt;
  }
  if (value && *value >= static_cast<double>(least) && *value == static_cast<double>(static_cast<int64_t>(*value)))
    return static_cast<int64_t>(*value);
  fail(entry, "'" + entry.key + "' is not a whole number of at least " + std::to_string(least))
      .help(helpOfNumber(entry));
  return std::nullopt;
}

std::optional<double> RecipeReader::number(const YamlEntry &entry) {
  if (entry.value.saysNothing())
    return std::nullopt;
  std::optional<double> value = isText(entry) ? parseNumber(entry.value.text) : std::nullopt;
  if (value && *value >= 0)
    return value;
  fail(entry, "'" + entry.key + "' is not a number of at least 0").help(helpOfNumber(entry));
  return std::nullopt;
}

std::optional<bool> RecipeReader::boolean(const YamlEntry &entry) {
  if (entry.value.saysNothing())
    return std::nullopt;
  auto value = llvm::StringSwitch<std::optional<bool>>(StringRef(entry.value.text).lower())
                   .Cases({"true", "on", "yes"}, true)
                   .Cases({"false", "off", "no"}, false)
                   .Default(std::nullopt);
  if (!value)
    fail(entry, "'" + entry.key + "' is neither true nor false");
  return value;
}

std::optional<std::string> RecipeReader::lastName(const YamlEntry &entry) {
  if (entry.value.saysNothing())
    return std::nullopt;
  if (isText(entry))
    return StringRef(entry.value.text).rsplit('.').second.empty()
               ? entry.value.text
               : StringRef(entry.value.text).rsplit('.').second.str();
  fail(entry, "'" + entry.key + "' is not a name");
  return std::nullopt;
}

std::optional<std::string> RecipeReader::dtype(const YamlEntry &entry) {
  std::optional<std::string> name = lastName(entry);
  if (!name || *name == "auto")
    return std::nullopt;
  auto word = llvm::StringSwitch<std::string>(*name)
                  .Cases({"bfloat16", "bf16"}, "bf16")
                  .Cases({"float16", "half", "fp16", "f16"}, "f16")
                  .Cases({"float32", "float", "fp32", "f32"}, "f32")
                  .Cases({"float64", "double", "fp64", "f64"}, "f64")
                  .Default("");
  if (!word.empty())
    return word;
  fail(entry, "'" + entry.value.text + "' is not a dtype of the language")
      .help("dtypes are float64, float32, bfloat16 and float16");
  return std::nullopt;
}

std::string RecipeReader::fromOf(const YamlEntry &entry) const {
  StringRef file = diagnostics.sources().buffer(entry.keyRange.file).name();
  return entry.key + " (" + llvm::sys::path::filename(file).str() + ":" + std::to_string(entry.keyRange.line) + ")";
}

AdoptedText RecipeReader::taken(std::string text, const YamlEntry &entry) const {
  return {std::move(text), fromOf(entry), entry.keyRange};
}

AdoptedNumber RecipeReader::takenNumber(int64_t value, const YamlEntry &entry) const {
  return {value, fromOf(entry), entry.value.range};
}
