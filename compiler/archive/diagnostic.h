//===- diagnostic.h - why an archive was refused -----------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_DIAGNOSTIC_H
#define MESHPLAN_COMPILER_ARCHIVE_DIAGNOSTIC_H

#include <string>
#include <vector>

namespace meshplan::archive {

/// An error about an archive, without a source position: whoever asked for the
/// archive knows where it is named. Texts are in lower case and have no full stop.
struct Diagnostic {
  std::string message;
  std::vector<std::string> notes;
  std::string help;        ///< the way out; may be empty
  std::string symbol = ""; ///< the symbol that it is about: whoever gave it an extent knows where
};

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_DIAGNOSTIC_H
