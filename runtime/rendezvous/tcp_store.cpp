//===- tcp_store.cpp - a key-value store over TCP -------------------------===//
//
// The interface of a store, implemented by PyTorch's TCPStore. Its exceptions become a Status in one place (`checked`).
// Once the store is open, any failure means that the process that serves it is gone.
//
//===----------------------------------------------------------------------===//

#include "runtime/rendezvous/tcp_store.h"

#include "runtime/tensor/torch/guard.h"

#include <algorithm>
#include <c10/util/Logging.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

using namespace meshplan;

namespace {

/// The library's log output, with stack traces, repeats what the Status says.
void silenceLibrary() {
  constexpr int fatalOnly = 3;
  FLAGS_caffe2_log_level = std::max(FLAGS_caffe2_log_level, fatalOnly);
}

std::vector<uint8_t> bytesOf(const std::string &text) { return {text.begin(), text.end()}; }
std::string textOf(const std::vector<uint8_t> &bytes) { return {bytes.begin(), bytes.end()}; }

std::string nameOf(const TcpAddress &address) { return address.host + ":" + std::to_string(address.port); }

/// The library appends a list of its attempts.
std::string firstLine(const std::string &text) { return text.substr(0, text.find('\n')); }

class TcpStore final : public KeyValueStore {
public:
  TcpStore(c10::intrusive_ptr<c10d::TCPStore> store, std::string name)
      : store(std::move(store)), name(std::move(name)) {}

  Status set(const std::string &key, const std::string &value) override {
    return checked<Status>([&] {
      store->set(key, bytesOf(value));
      return Status();
    });
  }
  Expected<std::string> get(const std::string &key) override {
    return checked<Expected<std::string>>([&] { return textOf(store->get(key)); });
  }
  Expected<std::string> setOnce(const std::string &key, const std::string &value) override {
    // No value is empty, so comparing with the empty value finds a new key only.
    return checked<Expected<std::string>>([&] { return textOf(store->compareSet(key, {}, bytesOf(value))); });
  }
  Expected<bool> has(const std::vector<std::string> &keys) override {
    return checked<Expected<bool>>([&] { return store->check(keys); });
  }
  Expected<int64_t> add(const std::string &key, int64_t amount) override {
    return checked<Expected<int64_t>>([&] { return store->add(key, amount); });
  }
  Status remove(const std::string &key) override {
    return checked<Status>([&] {
      store->deleteKey(key);
      return Status();
    });
  }

private:
  template <typename Result> Result checked(const std::function<Result()> &body) {
    Result result = guarded(body);
    if (result.ok())
      return result;
    return lost(result);
  }

  Status lost(const Status &status) const {
    return Status::error(StatusCode::peerLost, "the store at ", name, " is gone: ", firstLine(status.message()));
  }
  template <typename T> Status lost(const Expected<T> &result) const { return lost(result.status()); }

  c10::intrusive_ptr<c10d::TCPStore> store;
  std::string name;
};

} // namespace

Expected<std::unique_ptr<KeyValueStore>> meshplan::openTcpStore(const TcpAddress &address, bool serves,
                                                                std::chrono::milliseconds limit) {
  silenceLibrary();
  c10d::TCPStoreOptions options;
  options.port = address.port;
  options.isServer = serves;
  // Without waiting for the others: a process that never comes would hang the one that serves.
  options.waitWorkers = false;
  options.timeout = limit;
  auto opened = guarded([&]() -> Expected<std::unique_ptr<KeyValueStore>> {
    auto store = c10::make_intrusive<c10d::TCPStore>(address.host, options);
    return std::unique_ptr<KeyValueStore>(std::make_unique<TcpStore>(std::move(store), nameOf(address)));
  });
  if (opened)
    return opened;
  std::string reason = firstLine(opened.status().message());
  if (serves)
    return Status::error(StatusCode::invalid, "cannot serve the store at ", nameOf(address), ": ", reason);
  return Status::error(StatusCode::peerLost, "cannot reach the store at ", nameOf(address), " within ",
                       std::chrono::duration<double>(limit).count(), " s: ", reason);
}
