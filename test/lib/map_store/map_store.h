//===- map_store.h - a key-value store within a process ---------*- C++ -*-===//

#ifndef MESHPLAN_TEST_LIB_MAP_STORE_MAP_STORE_H
#define MESHPLAN_TEST_LIB_MAP_STORE_MAP_STORE_H

#include "runtime/comm/store/key_value_store.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace meshplan {

class MapStore final : public KeyValueStore {
public:
  Status set(const std::string &key, const std::string &value) override {
    MESHPLAN_RETURN_IF_ERROR(check(value));
    std::lock_guard lock(mutex);
    values[key] = value;
    return Status();
  }
  Expected<std::string> get(const std::string &key) override {
    std::lock_guard lock(mutex);
    auto found = values.find(key);
    if (found == values.end())
      return Status(StatusCode::internal, "no key '" + key + "'");
    return found->second;
  }
  Expected<std::string> setOnce(const std::string &key, const std::string &value) override {
    MESHPLAN_RETURN_IF_ERROR(check(value));
    std::lock_guard lock(mutex);
    return values.emplace(key, value).first->second;
  }
  Expected<bool> has(const std::vector<std::string> &keys) override {
    std::lock_guard lock(mutex);
    return std::ranges::all_of(keys, [&](const std::string &key) { return values.contains(key); });
  }
  Expected<int64_t> add(const std::string &key, int64_t amount) override {
    std::lock_guard lock(mutex);
    std::string &value = values[key];
    value = std::to_string((value.empty() ? 0 : std::stoll(value)) + amount);
    return std::stoll(value);
  }
  Status remove(const std::string &key) override {
    std::lock_guard lock(mutex);
    values.erase(key);
    return Status();
  }

  size_t size() const {
    std::lock_guard lock(mutex);
    return values.size();
  }

private:
  static Status check(const std::string &value) {
    if (value.empty() || value.size() > largestValue)
      return Status::error(StatusCode::invalid, "a value of ", value.size(), " bytes");
    return Status();
  }

  mutable std::mutex mutex;
  std::map<std::string, std::string> values;
};

} // namespace meshplan

#endif // MESHPLAN_TEST_LIB_MAP_STORE_MAP_STORE_H
