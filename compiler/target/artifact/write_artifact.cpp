//===- write_artifact.cpp - all of a file or none -------------------------===//

#include "compiler/target/artifact/artifact.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using llvm::Error;
using llvm::StringRef;

static Error cannotWrite(StringRef path, const llvm::Twine &reason) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "cannot write '" + path + "': " + reason);
}

/// Writes all bytes to an open file. The stream must not see its error again: its destructor would end the program.
static std::error_code writeAll(int descriptor, llvm::ArrayRef<uint8_t> bytes) {
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/false);
  stream << llvm::toStringRef(bytes);
  stream.flush();
  std::error_code code = stream.error();
  stream.clear_error();
  return code;
}

Error meshplan::writeArtifact(StringRef path, llvm::ArrayRef<uint8_t> bytes) {
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
  if (std::error_code code = writeAll(file->FD, bytes)) {
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
