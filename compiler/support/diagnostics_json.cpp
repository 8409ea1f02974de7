//===- diagnostics_json.cpp - errors as programs read them ----------------===//

#include "compiler/support/diagnostics_json.h"

using namespace meshplan;
namespace json = llvm::json;

static json::Object placed(const Sources &sources, const SourceRange &range, llvm::StringRef message) {
  json::Object object{{"file", nullptr}, {"line", nullptr}, {"column", nullptr}, {"message", json::fixUTF8(message)}};
  if (range.hasFile())
    object["file"] = json::fixUTF8(sources.buffer(range.file).name());
  if (range.hasLine()) {
    object["line"] = range.line;
    object["column"] = range.column;
  }
  return object;
}

json::Array meshplan::diagnosticsToJson(const Diagnostics &diagnostics, Severity severity) {
  json::Array list;
  for (const Diagnostic *found : diagnostics.distinct(severity)) {
    const Diagnostic &diagnostic = *found;
    json::Object object = placed(diagnostics.sources(), diagnostic.range, diagnostic.message);
    json::Array notes, help;
    for (const Note &note : diagnostic.notes)
      notes.push_back(placed(diagnostics.sources(), note.range, note.message));
    for (const std::string &text : diagnostic.helps)
      help.push_back(json::fixUTF8(text));
    object["notes"] = std::move(notes);
    object["help"] = std::move(help);
    list.push_back(std::move(object));
  }
  return list;
}
