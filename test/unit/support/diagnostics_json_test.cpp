//===- diagnostics_json_test.cpp - errors as programs read them -----------===//

#include "compiler/support/diagnostics_json.h"

#include <gtest/gtest.h>

using namespace meshplan;
namespace json = llvm::json;

namespace {

json::Value parse(llvm::StringRef text) { return llvm::cantFail(json::parse(text)); }

TEST(DiagnosticsJson, HasPlacesNotesAndHelp) {
  Sources sources;
  int32_t plan = sources.add("a.plan", "mesh dp = 2\nlm_head: colwise tq\n").file();
  Diagnostics diagnostics(sources);
  diagnostics.error({plan, 2, 18, 20}, "unknown axis 'tq'")
      .note({plan, 1, 6, 8}, "the mesh has axis dp")
      .help("did you mean 'dp'?");
  diagnostics.warning({plan, 1, 1, 2}, "short");
  EXPECT_EQ(json::Value(diagnosticsToJson(diagnostics, Severity::Error)), parse(R"([{
    "file": "a.plan", "line": 2, "column": 18, "message": "unknown axis 'tq'",
    "notes": [{"file": "a.plan", "line": 1, "column": 6, "message": "the mesh has axis dp"}],
    "help": ["did you mean 'dp'?"]}])"));
  EXPECT_EQ(json::Value(diagnosticsToJson(diagnostics, Severity::Warning)),
            parse(R"([{"file": "a.plan", "line": 1, "column": 1, "message": "short", "notes": [], "help": []}])"));
}

TEST(DiagnosticsJson, PlacesWithoutLineOrFile) {
  Sources sources;
  int32_t archive = sources.add("model.pt2").file();
  Diagnostics diagnostics(sources);
  diagnostics.error({archive}, "truncated");
  diagnostics.error({}, "-D x=1: unknown");
  EXPECT_EQ(json::Value(diagnosticsToJson(diagnostics, Severity::Error)), parse(R"([
    {"file": "model.pt2", "line": null, "column": null, "message": "truncated", "notes": [], "help": []},
    {"file": null, "line": null, "column": null, "message": "-D x=1: unknown", "notes": [], "help": []}])"));
}

/// Names of files may hold any bytes, and JSON is UTF-8.
TEST(DiagnosticsJson, IsUtf8) {
  Sources sources;
  int32_t plan = sources.add("\xff.plan").file();
  Diagnostics diagnostics(sources);
  diagnostics.error({plan}, "'\xfe' is unknown").note({}, "\xfe").help("\xfe");
  EXPECT_EQ(json::Value(diagnosticsToJson(diagnostics, Severity::Error)), parse(R"([
    {"file": "\ufffd.plan", "line": null, "column": null, "message": "'\ufffd' is unknown",
     "notes": [{"file": null, "line": null, "column": null, "message": "\ufffd"}], "help": ["\ufffd"]}])"));
}

} // namespace
