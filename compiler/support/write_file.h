//===- write_file.h - atomic writing of files -------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SUPPORT_WRITE_FILE_H
#define MESHPLAN_COMPILER_SUPPORT_WRITE_FILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace meshplan {

/// Writes a temporary file beside `path` (or beside the target of a link) and renames it. On an error no new file is
/// left, an existing one is unchanged, and the message has the path and the reason. Safe against other writers of the
/// same path.
llvm::Error writeFileAtomically(llvm::StringRef path, llvm::StringRef content);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SUPPORT_WRITE_FILE_H
