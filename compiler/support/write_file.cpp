//===- write_file.cpp - atomic writing of files ---------------------------===//

#include "compiler/support/write_file.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>

using llvm::Error;
using llvm::StringRef;

static Error cannotWrite(StringRef path, const llvm::Twine &reason) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "cannot write '" + path + "': " + reason);
}

/// Writes all bytes to an open file and closes it. The stream's error is cleared, because its destructor would
/// otherwise end the program.
static std::error_code writeAll(int descriptor, StringRef content) {
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream << content;
  stream.close();
  std::error_code code = stream.error();
  stream.clear_error();
  return code;
}

namespace {
/// Blocks the signals that end a program while a temporary file exists, so that none is left behind. Writing takes no
/// longer than a user would wait.
class HeldSignals {
public:
  HeldSignals() {
    sigset_t ending;
    sigemptyset(&ending);
    for (int number : {SIGHUP, SIGINT, SIGTERM})
      sigaddset(&ending, number);
    pthread_sigmask(SIG_BLOCK, &ending, &before);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  HeldSignals(const HeldSignals &) = delete;
  HeldSignals &operator=(const HeldSignals &) = delete;

private:
  sigset_t before;
};
} // namespace

/// The file to replace: the target of `path` if it is a link.
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
    return cannotWrite(path, code == std::errc::too_many_symbolic_link_levels ? "its links form a cycle"
                                                                              : "it is a broken link");
  return target.str().str();
}

Error meshplan::writeFileAtomically(StringRef path, StringRef content) {
  llvm::Expected<std::string> target = findTarget(path);
  if (!target)
    return target.takeError();
  HeldSignals held;
  int descriptor = 0;
  llvm::SmallString<128> temporary;
  // In the folder of the target, so that the rename stays within one file system.
  if (std::error_code code = llvm::sys::fs::createUniqueFile(*target + ".%%%%%%%%.tmp", descriptor, temporary))
    return cannotWrite(path, code.message());
  std::error_code code = writeAll(descriptor, content);
  if (!code)
    code = llvm::sys::fs::rename(temporary, *target);
  if (!code)
    return Error::success();
  llvm::sys::fs::remove(temporary);
  return cannotWrite(path, code.message());
}
