//===- in_memory_file.h - a file in memory ----------------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_FUZZ_IN_MEMORY_FILE_H
#define MESHPLAN_TEST_FUZZ_IN_MEMORY_FILE_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace meshplan {

/// A file without a name in any folder, for readers that require a path.
class InMemoryFile {
public:
  InMemoryFile(const uint8_t *data, size_t size);
  InMemoryFile(const InMemoryFile &) = delete;
  InMemoryFile &operator=(const InMemoryFile &) = delete;
  ~InMemoryFile();

  /// Valid as long as the object lives.
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }

private:
  int descriptor;
};

} // namespace meshplan

#endif // MESHPLAN_TEST_FUZZ_IN_MEMORY_FILE_H
