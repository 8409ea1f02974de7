//===- diagnostics_json_test.cpp - diagnostics as JSON --------------------===//

#include "compiler/support/diagnostics_json.h"
#include "test/unit/support/diagnostics_fixture.h"

using namespace meshplan;
namespace json = llvm::json;

namespace {

using DiagnosticsJson = DiagnosticsTest;

json::Value parse(llvm::StringRef text) { return llvm::cantFail(json::parse(text)); }

TEST_F(DiagnosticsJson, HasPlacesNotesAndHelp) {
  reportPlaces();
  EXPECT_EQ(json::Value(diagnosticsToJson(diagnostics, Severity::Error)), parse(R"([{
    "file": "a.plan", "line": 2, "column": 18, "message": "unknown axis 'tq'",
    "notes": [{"file": "a.plan", "line": 1, "column": 6, "message": "the mesh has axis dp"}],
    "help": ["did you mean 'dp'?"]}])"));
  EXPECT_EQ(json::Value(diagnosticsToJson(diagnostics, Severity::Warning)),
            parse(R"([{"file": "a.plan", "line": 1, "column": 1, "message": "short", "notes": [], "help": []}])"));
}

TEST_F(DiagnosticsJson, PlacesWithoutLineOrFile) {
  reportWithoutPlaces();
  EXPECT_EQ(json::Value(diagnosticsToJson(diagnostics, Severity::Error)), parse(R"([
    {"file": "model.pt2", "line": null, "column": null, "message": "truncated", "notes": [], "help": []},
    {"file": null, "line": null, "column": null, "message": "-D x=1: unknown", "notes": [], "help": []}])"));
}

/// Names of files may hold any bytes, and JSON is UTF-8.
TEST_F(DiagnosticsJson, IsUtf8) {
  int32_t plan = sources.add("\xff.plan").file();
  diagnostics.error({plan}, "'\xfe' is unknown").note({}, "\xfe").help("\xfe");
  EXPECT_EQ(json::Value(diagnosticsToJson(diagnostics, Severity::Error)), parse(R"([
    {"file": "\ufffd.plan", "line": null, "column": null, "message": "'\ufffd' is unknown",
     "notes": [{"file": null, "line": null, "column": null, "message": "\ufffd"}], "help": ["\ufffd"]}])"));
}

} // namespace
