//===- shared_library.h - a library that is opened at run time ---*- C++ -*-===//
//
// For libraries that a machine may lack: a program that does not need them
// starts without them. All in the header, since the loader looks in the folders
// that the caller was linked with.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_BASE_SHARED_LIBRARY_H
#define MESHPLAN_RUNTIME_BASE_SHARED_LIBRARY_H

#include <dlfcn.h>
#include <string>

namespace meshplan {

/// The library stays open for as long as the process lives. Not for several threads.
class SharedLibrary {
public:
  /// `name` as the loader finds it: "libmpi.so.40".
  explicit SharedLibrary(const char *name) : isOpen(dlopen(name, RTLD_NOW | RTLD_GLOBAL)) {
    if (!isOpen)
      firstFailure = dlerror();
  }

  /// Sets `function` to the address of a function or of an object, as a linked program would find it: a library that
  /// was loaded before (LD_PRELOAD) comes first. Null where there is none.
  template <typename Function> void takeIfThere(Function &function, const char *symbol) const {
    function = isOpen ? reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, symbol)) : nullptr;
  }

  /// The same, and it is a failure if there is none.
  template <typename Function> void take(Function &function, const char *symbol) {
    takeIfThere(function, symbol);
    if (!function && firstFailure.empty())
      firstFailure = std::string("it has no ") + symbol;
  }

  /// What went wrong first; empty if nothing did.
  const std::string &failure() const { return firstFailure; }

private:
  bool isOpen;
  std::string firstFailure;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_SHARED_LIBRARY_H
