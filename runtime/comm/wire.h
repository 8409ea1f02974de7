//===- wire.h - serialized messages between ranks ---------------*- C++ -*-===//
//
// Serialization of messages between ranks that are processes. Both sides run the same version of the runtime on
// machines of the same kind.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_WIRE_H
#define MESHPLAN_RUNTIME_COMM_WIRE_H

#include "runtime/base/hash.h"
#include "runtime/comm/collective.h"

#include <cstring>
#include <map>
#include <type_traits>

namespace meshplan {

class WireWriter {
public:
  template <typename T> void put(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(&value, sizeof(value));
  }
  void putText(std::string_view text);
  void putCounts(std::span<const int64_t> counts);
  /// The description without its buffers.
  void putCollective(const Collective &collective);
  void putStatus(const Status &status);

  std::vector<std::byte> take() { return std::move(bytes); }

private:
  void append(const void *data, size_t size);

  std::vector<std::byte> bytes;
};

/// Reads what WireWriter wrote. After the first wrong length or unknown enumerator, all results are zero and `complete`
/// is false.
class WireReader {
public:
  explicit WireReader(std::span<const std::byte> bytes) : rest(bytes) {}

  template <typename T> T take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    copy(&value, sizeof(value));
    return value;
  }
  std::string takeText();
  std::vector<int64_t> takeCounts();
  Collective takeCollective();
  /// Never ok; `aborted` if the code is unknown.
  Status takeStatus();

  /// True if all bytes were read and none were missing.
  bool complete() const { return !failed && rest.empty(); }

private:
  template <typename T> T takeEnumerator();
  size_t takeLength(size_t elementSize);
  void copy(void *target, size_t size);

  std::span<const std::byte> rest;
  bool failed = false;
};

/// Computes ids of groups that are equal on all their ranks without communication, because the ranks create the same
/// groups in the same order.
class GroupNames {
public:
  Hash next(const std::string &name, const std::vector<int64_t> &ranks);

private:
  std::map<std::pair<std::string, std::vector<int64_t>>, int64_t> made;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_WIRE_H
