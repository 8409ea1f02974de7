//===- diagnostic.h - why an archive was refused -----------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ARCHIVE_DIAGNOSTIC_H
#define MESHPLAN_COMPILER_ARCHIVE_DIAGNOSTIC_H

#include <string>
#include <vector>

namespace meshplan::archive {

/// An error about an archive, without a source location: the caller knows where the archive is named. Texts are in
/// lower case and have no full stop.
struct Diagnostic {
  std::string message;
  std::vector<std::string> notes;
  std::string help;        ///< may be empty
  std::string symbol = ""; ///< the symbol that the error is about: the caller knows where its extent was given
};

} // namespace meshplan::archive

#endif // MESHPLAN_COMPILER_ARCHIVE_DIAGNOSTIC_H
