//===- shared_library.cpp - a library that is opened at run time ----------===//

#include "runtime/base/shared_library.h"

#include <dlfcn.h>

using namespace meshplan;

SharedLibrary::SharedLibrary(const char *name) : isOpen(dlopen(name, RTLD_NOW | RTLD_GLOBAL)) {
  if (!isOpen)
    firstFailure = dlerror();
}

void *SharedLibrary::find(const char *symbol) const { return isOpen ? dlsym(RTLD_DEFAULT, symbol) : nullptr; }

void SharedLibrary::noteMissing(const char *symbol) {
  if (firstFailure.empty())
    firstFailure = std::string("it has no ") + symbol;
}
