//===- map_faults.h - read errors of mapped files ---------------*- C++ -*-===//
//
// Reading a page of a mapped file fails with SIGBUS if the file was truncated or its disk fails. After catchMapFaults
// such a page reads as zeros, and the reader asks afterwards whether that happened.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_BASE_MAP_FAULTS_H
#define MESHPLAN_RUNTIME_BASE_MAP_FAULTS_H

#include "runtime/base/status.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace meshplan {

/// Handles SIGBUS from now on for pages of listed maps. Elsewhere SIGBUS ends the process as before. For programs only:
/// a library must not change signal handlers.
void catchMapFaults();

/// `io`, with the path, if a page of any map could not be read so far, or if a file is now shorter than its map: the
/// missing end of its last page reads as zeros without a signal. Call after each read and before using the bytes; it
/// costs one system call per map. If another file has replaced the path, the map still refers to the original file, and
/// this is not a failure. Thread safe.
Status checkMapFaults();

/// Lists a map during its lifetime. Move only. Thread safe. At most 4096 maps are listed at a time; further ones are
/// not protected.
class ListedMap {
public:
  ListedMap() = default;
  ListedMap(const std::string &path, std::span<const std::byte> bytes);
  ListedMap(ListedMap &&other) noexcept;
  ListedMap &operator=(ListedMap &&other) noexcept;
  ~ListedMap();

private:
  size_t slot = 0;
  bool isListed = false;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_MAP_FAULTS_H
