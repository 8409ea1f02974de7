//===- write_file.cpp - all of a file or none -----------------------------===//

#include "compiler/support/write_file.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using llvm::Error;
using llvm::StringRef;

static Error cannotWrite(StringRef path, const llvm::Twine &reason) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "cannot write '" + path + "': " + reason);
}

/// Writes all bytes to an open file. The stream must not see its error again: its destructor would end the program.
static std::error_code writeAll(int descriptor, StringRef content) {
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/false);
  stream << content;
  stream.flush();
  std::error_code code = stream.error();
  stream.clear_error();
  return code;
}

Error meshplan::writeFileAtomically(StringRef path, StringRef content) {
  if (llvm::sys::fs::is_directory(path))
    return cannotWrite(path, "it is a directory");
  // A rename would replace a device or a pipe by a file.
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path))
    return cannotWrite(path, "it is not a regular file");
  // Beside the target, so that the rename stays within one file system.
  auto file =
      llvm::sys::fs::TempFile::create(path + ".%%%%%%%%.tmp", llvm::sys::fs::all_read | llvm::sys::fs::all_write);
  if (!file)
    return cannotWrite(path, llvm::toString(file.takeError()));
  if (std::error_code code = writeAll(file->FD, content)) {
    llvm::consumeError(file->discard());
    return cannotWrite(path, code.message());
  }
  std::string temporary = file->TmpName;
  if (Error error = file->keep(path)) {
    std::string reason = llvm::toString(std::move(error));
    llvm::sys::fs::remove(temporary);
    return cannotWrite(path, reason);
  }
  return Error::success();
}
