//===- plan.cpp - any text as a plan --------------------------------------===//
//
// Parses, formats, evaluates, and binds to two small models. Beyond the sanitizers' checks: a plan has an error exactly
// if it is rejected, and formatting keeps a valid plan valid and is idempotent.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/format.h"
#include "compiler/support/diagnostics.h"
#include "test/fuzz/require.h"
#include "test/unit/frontend/models.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan;

static std::optional<Syntax> parseText(const std::string &text) {
  Sources sources;
  Diagnostics diagnostics(sources);
  std::optional<Syntax> syntax = parsePlan(sources.add("p.plan", text), diagnostics);
  require(syntax.has_value() != diagnostics.hasErrors(), "a plan is parsed, or refused with a reason");
  return syntax;
}

static std::optional<std::string> formatText(const std::string &text) {
  Sources sources;
  Diagnostics diagnostics(sources);
  std::optional<std::string> formatted = formatPlan(sources.add("p.plan", text), diagnostics);
  require(formatted.has_value() != diagnostics.hasErrors(), "a plan is formatted, or refused with a reason");
  return formatted;
}

static void checkFormat(const std::string &text) {
  std::optional<std::string> formatted = formatText(text);
  if (!formatted)
    return;
  require(parseText(text).has_value() == parseText(*formatted).has_value(), "a formatted plan can still be parsed");
  require(formatText(*formatted) == formatted, "formatting a formatted plan changes nothing");
}

static void checkBind(const std::string &text, const ModelOutline &model) {
  Sources sources;
  Diagnostics diagnostics(sources);
  std::optional<Syntax> syntax = parsePlan(sources.add("p.plan", text), diagnostics);
  if (syntax) {
    std::vector<Definition> definitions;
    if (text.find("world") != std::string::npos)
      definitions.push_back({"world", "6"});
    std::optional<BoundPlan> plan = bindPlan(*syntax, model, definitions, diagnostics);
    require(plan.has_value() != diagnostics.hasErrors(), "a plan is bound, or refused with a reason");
  }
  // Messages quote the text and mark locations in it.
  (void)diagnostics.text();
  std::string json;
  llvm::raw_string_ostream(json) << llvm::json::Value(diagnosticsToJson(diagnostics, Severity::Error));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const ModelOutline plain = test::llama(2), tied = test::llama(1, /*tied=*/true);
  std::string text(reinterpret_cast<const char *>(data), size);
  checkFormat(text);
  checkBind(text, plain);
  checkBind(text, tied);
  return 0;
}
