//===- key_value_store.h - the store that all ranks share -------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_STORE_KEY_VALUE_STORE_H
#define MESHPLAN_RUNTIME_COMM_STORE_KEY_VALUE_STORE_H

#include "runtime/base/status.h"

#include <cstdint>
#include <vector>

namespace meshplan {

/// The state that all ranks of a run share. Keys and values are arbitrary bytes; a value has between 1 and
/// `largestValue` bytes. No call waits for another rank. Other ranks see one rank's changes in order, possibly with a
/// short delay. `peerLost` if the store is gone. Thread safe.
class KeyValueStore {
public:
  static constexpr size_t largestValue = size_t(1) << 20;

  virtual ~KeyValueStore() = default;

  virtual Status set(const std::string &key, const std::string &value) = 0;

  /// Returns a value. Precondition: the key exists.
  virtual Expected<std::string> get(const std::string &key) = 0;

  /// Sets the value if the key is new. Returns the value that is then stored.
  virtual Expected<std::string> setOnce(const std::string &key, const std::string &value) = 0;

  /// True if all keys exist.
  virtual Expected<bool> has(const std::vector<std::string> &keys) = 0;

  /// Adds to a number, initially 0, and returns the sum.
  virtual Expected<int64_t> add(const std::string &key, int64_t amount) = 0;

  virtual Status remove(const std::string &key) = 0;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_STORE_KEY_VALUE_STORE_H
