//===- shared_library.h - libraries opened at run time ----------*- C++ -*-===//
//
// Opens libraries that a machine may lack, so that a program that does not need them starts without them. Defined in
// the header because dlopen searches the run paths of the object that calls it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_BASE_SHARED_LIBRARY_H
#define MESHPLAN_RUNTIME_BASE_SHARED_LIBRARY_H

#include <dlfcn.h>
#include <string>

namespace meshplan {

/// The library stays open until the process ends. Not thread safe.
class SharedLibrary {
public:
  /// `name` is what the dynamic loader takes: "libmpi.so.40".
  explicit SharedLibrary(const char *name) : isOpen(dlopen(name, RTLD_NOW | RTLD_GLOBAL)) {
    if (!isOpen)
      firstFailure = dlerror();
  }

  /// Sets `function` to the address of a function or an object. The lookup is that of a linked program: a library
  /// loaded earlier (LD_PRELOAD) comes first. Null if there is none.
  template <typename Function> void takeIfThere(Function &function, const char *symbol) const {
    function = isOpen ? reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, symbol)) : nullptr;
  }

  /// As takeIfThere, but a missing symbol is a failure.
  template <typename Function> void take(Function &function, const char *symbol) {
    takeIfThere(function, symbol);
    if (!function && firstFailure.empty())
      firstFailure = std::string("it has no ") + symbol;
  }

  /// The first failure; empty if there was none.
  const std::string &failure() const { return firstFailure; }

private:
  bool isOpen;
  std::string firstFailure;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_SHARED_LIBRARY_H
