//===- map_faults.h - mapped files that cannot be read -----------*- C++ -*-===//
//
// A page of a mapped file that cannot be read, because the file was truncated or
// its disk fails, ends the process by SIGBUS. With catchMapFaults the page reads
// as zeros instead, and who has read it asks whether that happened.
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

/// Handles SIGBUS from now on, for pages of listed maps; elsewhere it ends the process as before. For programs: a
/// library leaves signals alone.
void catchMapFaults();

/// `io`, with the path, if a page of any map was not readable so far, or if a file is shorter now than its map: what is
/// gone of its last page reads as zeros without a signal. Ask behind each reading, before the bytes count: one system
/// call for each map. A file that another one has replaced is still the one that was mapped. Thread safe.
Status checkMapFaults();

/// Lists a map while it lives. Move only; thread safe. At most 4096 maps are listed at a time, more are not.
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
