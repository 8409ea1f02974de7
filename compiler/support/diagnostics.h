//===- diagnostics.h - errors as the user reads them -------------*- C++ -*-===//
//
// Source files, locations in them, and a collector of errors and warnings about them.
//
// One run may report several errors. Each is printed as
//
//   a.plan:7:20: error: unknown axis 'tq'
//     lm_head: colwise tq
//                      ^~
//   a.plan:3:8: note: the mesh has axes dp, tp
//     mesh dp = 2, tp = 3
//          ^~
//   help: did you mean 'tp'?
//
// A location may have no line (a file that is not text: `model.pt2: error: ...`) or no file (the command line: `error:
// ...`).
//
// Nothing here is thread safe; a compilation owns one Sources and one Diagnostics. Reporting never fails and never ends
// the program.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SUPPORT_DIAGNOSTICS_H
#define MESHPLAN_COMPILER_SUPPORT_DIAGNOSTICS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace llvm::json {
class Array;
} // namespace llvm::json

namespace meshplan {

/// A range of characters in one line. Lines and columns count from 1, columns in characters (Unicode code points);
/// `endColumn` is one past the last. If `line` is 0, the range is the whole file; if `file` is negative, there is no
/// file.
struct SourceRange {
  int32_t file = -1;
  int32_t line = 0;
  int32_t column = 0;
  int32_t endColumn = 0;

  bool hasFile() const { return file >= 0; }
  bool hasLine() const { return file >= 0 && line > 0; }
  bool operator==(const SourceRange &) const = default;
};

/// The name and the text of one file. For a binary file the text is empty.
class SourceBuffer {
public:
  SourceBuffer(int32_t file, std::string name, std::string text);

  int32_t file() const { return id; }
  llvm::StringRef name() const { return fileName; }
  llvm::StringRef text() const { return content; }
  /// The text of a line without its end; empty where there is no such line.
  llvm::StringRef line(int32_t number) const;
  /// The text that a range covers, up to the end of its line.
  llvm::StringRef piece(const SourceRange &range) const;

private:
  int32_t id;
  std::string fileName;
  std::string content;
  std::vector<size_t> lineStarts;
};

/// The files of one compilation. Buffers keep their addresses for the life of this object, so references may be kept.
class Sources {
public:
  const SourceBuffer &add(std::string name, std::string text = "");
  const SourceBuffer &buffer(int32_t file) const { return buffers[file]; }
  /// The file of this name, or null.
  const SourceBuffer *find(llvm::StringRef name) const;

private:
  std::deque<SourceBuffer> buffers;
};

enum class Severity { Error, Warning };

/// "a.plan:7:20"
std::string locationText(const Sources &sources, const SourceRange &range);

/// Writes the line of a range and marks the range under it, both indented by two spaces. Of a line of more than 160
/// characters only the part around the range is written, with `...` for the rest.
void printExcerpt(llvm::raw_ostream &os, const Sources &sources, const SourceRange &range);

/// A message at another location that explains an error.
struct Note {
  SourceRange range;
  std::string message;

  friend bool operator==(const Note &, const Note &) = default;
};

/// One error or warning with its notes and helps.
class Diagnostic {
public:
  Diagnostic(Severity severity, SourceRange range, std::string message);

  Diagnostic &note(SourceRange range, std::string message);
  Diagnostic &help(std::string message);

  Severity severity;
  SourceRange range;
  std::string message;
  std::vector<Note> notes;
  std::vector<std::string> helps;

  friend bool operator==(const Diagnostic &, const Diagnostic &) = default;
};

/// Collects what a run reports, in the order in which it is reported. The
/// reference that `error` and `warning` return is valid until the next report.
class Diagnostics {
public:
  /// `sources` must outlive this object.
  explicit Diagnostics(const Sources &sources) : files(&sources) {}

  Diagnostic &error(SourceRange range, std::string message);
  Diagnostic &warning(SourceRange range, std::string message);

  bool hasErrors() const { return errors != 0; }
  size_t errorCount() const { return errors; }
  llvm::ArrayRef<Diagnostic> all() const { return reported; }
  const Sources &sources() const { return *files; }

  /// The diagnostics of a severity. One that was reported several times word for word, as for two programs or for equal
  /// layers, is listed once.
  std::vector<const Diagnostic *> distinct(Severity severity) const;

  void print(llvm::raw_ostream &os) const; ///< errors before warnings, each once
  /// What `print` writes.
  std::string text() const;

private:
  const Sources *files;
  std::vector<Diagnostic> reported;
  size_t errors = 0;
};

/// The diagnostics of a severity, in order: file, line, column, message, notes (with the same four keys) and help (a
/// list). `file` is null where there is none; `line` and `column` are null where the message is about a whole file.
/// Bytes that are not UTF-8 become U+FFFD.
llvm::json::Array diagnosticsToJson(const Diagnostics &diagnostics, Severity severity);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SUPPORT_DIAGNOSTICS_H
