//===- diagnostics.cpp - errors as the user reads them ---------------------===//
//
// Columns count characters, as editors do, while texts are UTF-8: every conversion between the two is here.
//
//===----------------------------------------------------------------------===//

#include "compiler/support/diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <utility>

using namespace meshplan;

static bool startsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

SourceBuffer::SourceBuffer(int32_t file, std::string name, std::string text)
    : id(file), fileName(std::move(name)), content(std::move(text)) {
  lineStarts.push_back(0);
  for (size_t i = 0; i < content.size(); ++i)
    if (content[i] == '\n')
      lineStarts.push_back(i + 1);
}

llvm::StringRef SourceBuffer::line(int32_t number) const {
  if (number < 1 || static_cast<size_t>(number) > lineStarts.size())
    return "";
  size_t begin = lineStarts[number - 1];
  return text().substr(begin).take_until([](char c) { return c == '\n' || c == '\r'; });
}

/// The byte at which the character of a column (counted from 1) starts; the length of the line if the line is shorter.
static size_t byteOfColumn(llvm::StringRef line, int32_t column) {
  for (size_t byte = 0; byte < line.size(); ++byte)
    if (startsCharacter(line[byte]) && --column == 0)
      return byte;
  return line.size();
}

llvm::StringRef SourceBuffer::piece(const SourceRange &range) const {
  llvm::StringRef text = line(range.line);
  return text.slice(byteOfColumn(text, range.column), byteOfColumn(text, range.endColumn));
}

const SourceBuffer *Sources::find(llvm::StringRef name) const {
  auto found = llvm::find_if(buffers, [&](const SourceBuffer &buffer) { return buffer.name() == name; });
  return found == buffers.end() ? nullptr : &*found;
}

const SourceBuffer &Sources::add(std::string name, std::string text) {
  return buffers.emplace_back(static_cast<int32_t>(buffers.size()), std::move(name), std::move(text));
}

Diagnostic::Diagnostic(Severity severity, SourceRange range, std::string message)
    : severity(severity), range(range), message(std::move(message)) {}

Diagnostic &Diagnostic::note(SourceRange range, std::string message) {
  notes.push_back({range, std::move(message)});
  return *this;
}

Diagnostic &Diagnostic::help(std::string message) {
  if (!message.empty())
    helps.push_back(std::move(message));
  return *this;
}

Diagnostic &Diagnostics::error(SourceRange range, std::string message) {
  ++errors;
  return reported.emplace_back(Severity::Error, range, std::move(message));
}

Diagnostic &Diagnostics::warning(SourceRange range, std::string message) {
  return reported.emplace_back(Severity::Warning, range, std::move(message));
}

std::vector<const Diagnostic *> Diagnostics::distinct(Severity severity) const {
  std::vector<const Diagnostic *> found;
  for (const Diagnostic &diagnostic : reported)
    if (diagnostic.severity == severity &&
        llvm::none_of(found, [&](const Diagnostic *earlier) { return *earlier == diagnostic; }))
      found.push_back(&diagnostic);
  return found;
}

std::string meshplan::locationText(const Sources &sources, const SourceRange &range) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (range.hasFile())
    os << sources.buffer(range.file).name();
  if (range.hasLine())
    os << ':' << range.line << ':' << range.column;
  return text;
}

/// Writes the line and, under it, a caret and tildes. A tab in the line is a tab in the marker line too, so that the
/// caret fits any tab width; a character of several bytes takes one column.
static void markLine(llvm::raw_ostream &os, llvm::StringRef line, const SourceRange &range) {
  os << "  " << line << "\n  ";
  int32_t column = 0;
  int32_t last = 0;
  for (char byte : line) {
    if (!startsCharacter(byte))
      continue;
    last = ++column;
    if (column < range.column)
      os << (byte == '\t' ? '\t' : ' ');
  }
  for (; column + 1 < range.column; ++column)
    os << ' ';
  os << '^';
  for (column = range.column + 1; column < range.endColumn && column <= last; ++column)
    os << '~';
  os << '\n';
}

constexpr int32_t longestLine = 160;

/// Writes the part of a long line around the range. A range that is too long itself is marked as far as it is shown.
static void markPiece(llvm::raw_ostream &os, llvm::StringRef line, int32_t characters, SourceRange range) {
  constexpr int32_t before = 60;
  range.column = std::clamp(range.column, 1, characters + 1);
  int32_t first = std::max(1, std::min(range.column - before, characters - longestLine + 1));
  int32_t end = std::min(characters + 1, first + longestLine);
  std::string piece = line.slice(byteOfColumn(line, first), byteOfColumn(line, end)).str();
  int32_t shift = 1 - first;
  if (first > 1) {
    piece.insert(0, "...");
    shift += 3;
  }
  range.endColumn = std::min(range.endColumn, end) + shift;
  range.column += shift;
  markLine(os, end <= characters ? piece + "..." : piece, range);
}

void meshplan::printExcerpt(llvm::raw_ostream &os, const Sources &sources, const SourceRange &range) {
  if (!range.hasLine())
    return;
  llvm::StringRef line = sources.buffer(range.file).line(range.line);
  auto characters = static_cast<int32_t>(llvm::count_if(line, startsCharacter));
  if (characters > longestLine)
    markPiece(os, line, characters, range);
  else if (!line.empty())
    markLine(os, line, range);
}

static void printMessage(llvm::raw_ostream &os, const Sources &sources, const SourceRange &range, llvm::StringRef kind,
                         llvm::StringRef message) {
  if (range.hasFile())
    os << locationText(sources, range) << ": ";
  os << kind << ": " << message << '\n';
  printExcerpt(os, sources, range);
}

static void printDiagnostic(llvm::raw_ostream &os, const Sources &sources, const Diagnostic &diagnostic) {
  printMessage(os, sources, diagnostic.range, diagnostic.severity == Severity::Error ? "error" : "warning",
               diagnostic.message);
  for (const Note &note : diagnostic.notes)
    printMessage(os, sources, note.range, "note", note.message);
  for (const std::string &help : diagnostic.helps)
    os << "help: " << help << '\n';
}

void Diagnostics::print(llvm::raw_ostream &os) const {
  for (Severity severity : {Severity::Error, Severity::Warning})
    for (const Diagnostic *diagnostic : distinct(severity))
      printDiagnostic(os, *files, *diagnostic);
}

std::string Diagnostics::text() const {
  std::string result;
  llvm::raw_string_ostream os(result);
  print(os);
  return result;
}

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
