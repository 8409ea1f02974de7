//===- in_memory_file.cpp - a file in memory ------------------------------===//

#include "test/fuzz/in_memory_file.h"

#include "test/fuzz/require.h"

#include <sys/mman.h>
#include <unistd.h>

namespace meshplan {

InMemoryFile::InMemoryFile(const uint8_t *data, size_t size) : descriptor(memfd_create("fuzz", MFD_CLOEXEC)) {
  require(descriptor >= 0 && write(descriptor, data, size) == static_cast<ssize_t>(size),
          "a file in memory is written");
}

InMemoryFile::~InMemoryFile() { close(descriptor); }

} // namespace meshplan
