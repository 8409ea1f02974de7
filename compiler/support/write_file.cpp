//===- write_file.cpp - all of a file or none -----------------------------===//

#include "compiler/support/write_file.h"
#include "llvm/ADT/SmallString.h"
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

/// The file to replace: what `path` links to, if it is a link.
static llvm::Expected<std::string> findTarget(StringRef path) {
  namespace fs = llvm::sys::fs;
  if (fs::is_directory(path))
    return cannotWrite(path, "Is a directory");
  // A rename would replace a device or a pipe by a file.
  if (fs::exists(path) && !fs::is_regular_file(path))
    return cannotWrite(path, "it is not a regular file");
  if (!fs::is_symlink_file(path))
    return path.str();
  llvm::SmallString<128> target;
  if (std::error_code code = fs::real_path(path, target))
    return cannotWrite(path, "it is a link to what does not exist");
  return target.str().str();
}

Error meshplan::writeFileAtomically(StringRef path, StringRef content) {
  llvm::Expected<std::string> target = findTarget(path);
  if (!target)
    return target.takeError();
  // Beside the target, so that the rename stays within one file system.
  auto file =
      llvm::sys::fs::TempFile::create(*target + ".%%%%%%%%.tmp", llvm::sys::fs::all_read | llvm::sys::fs::all_write);
  if (!file)
    return cannotWrite(path, llvm::toString(file.takeError()));
  if (std::error_code code = writeAll(file->FD, content)) {
    llvm::consumeError(file->discard());
    return cannotWrite(path, code.message());
  }
  std::string temporary = file->TmpName;
  if (Error error = file->keep(*target)) {
    std::string reason = llvm::toString(std::move(error));
    llvm::sys::fs::remove(temporary);
    return cannotWrite(path, reason);
  }
  return Error::success();
}
