//===- write_file.h - all of a file or none ---------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SUPPORT_WRITE_FILE_H
#define MESHPLAN_COMPILER_SUPPORT_WRITE_FILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace meshplan {

/// Writes a temporary file beside `path` (or beside what it links to) and renames it. On an error nothing new stays
/// behind, a file that was there is as it was, and the message has the path and the reason. Safe against other writers
/// of the same path.
llvm::Error writeFileAtomically(llvm::StringRef path, llvm::StringRef content);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SUPPORT_WRITE_FILE_H
