//===- shared_library.h - a library that is opened at run time ---*- C++ -*-===//
//
// For libraries that a machine may lack: a program that does not need them
// starts without them.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_BASE_SHARED_LIBRARY_H
#define MESHPLAN_RUNTIME_BASE_SHARED_LIBRARY_H

#include <string>

namespace meshplan {

/// The library stays open for as long as the process lives. Not for several threads.
class SharedLibrary {
public:
  /// `name` as the loader finds it: "libmpi.so.40".
  explicit SharedLibrary(const char *name);

  /// The address of a function or of an object, as a linked program would find it: a library that was loaded before
  /// (LD_PRELOAD) comes first. Null where there is none.
  void *find(const char *symbol) const;

  /// Sets `function`, to null where there is none.
  template <typename Function> void takeIfThere(Function &function, const char *symbol) const {
    function = reinterpret_cast<Function>(find(symbol));
  }

  /// The same, and it is a failure if there is none.
  template <typename Function> void take(Function &function, const char *symbol) {
    takeIfThere(function, symbol);
    if (!function)
      noteMissing(symbol);
  }

  /// What went wrong first; empty if nothing did.
  const std::string &failure() const { return firstFailure; }

private:
  void noteMissing(const char *symbol);

  bool isOpen;
  std::string firstFailure;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_SHARED_LIBRARY_H
