//===- key_value_store.h - texts that all ranks see --------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_STORE_KEY_VALUE_STORE_H
#define MESHPLAN_RUNTIME_COMM_STORE_KEY_VALUE_STORE_H

#include "runtime/base/status.h"

#include <cstdint>
#include <vector>

namespace meshplan {

/// What all ranks of a run have in common. Keys and values are any bytes; a
/// value has at most `largestValue` of them and at least one. No call waits for
/// another rank. What a rank does here others see in the same order, what it set
/// perhaps a moment later. `peerLost` when the store is gone. Thread safe.
class KeyValueStore {
public:
  static constexpr size_t largestValue = size_t(1) << 20;

  virtual ~KeyValueStore() = default;

  virtual Status set(const std::string &key, const std::string &value) = 0;

  /// Precondition: the key is there.
  virtual Expected<std::string> get(const std::string &key) = 0;

  /// Sets it if it is not there. What is there then.
  virtual Expected<std::string> setOnce(const std::string &key, const std::string &value) = 0;

  /// All of them are there.
  virtual Expected<bool> has(const std::vector<std::string> &keys) = 0;

  /// Adds to a number, which is 0 at first. The sum.
  virtual Expected<int64_t> add(const std::string &key, int64_t amount) = 0;

  virtual Status remove(const std::string &key) = 0;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_STORE_KEY_VALUE_STORE_H
