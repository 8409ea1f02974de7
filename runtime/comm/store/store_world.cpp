//===- store_world.cpp - a rank's view of ranks that share a store --------===//

#include "runtime/comm/store/store_world.h"

#include "runtime/comm/store/store_group.h"

using namespace meshplan;

/// The store is queried for a failure at most this often.
static constexpr std::chrono::milliseconds askForCauseEvery{20};

static std::string textOf(const Status &status) {
  // A message may contain long names of a model.
  constexpr size_t longest = KeyValueStore::largestValue / 2;
  WireWriter writer;
  writer.putStatus({status.code(), status.message().substr(0, longest)});
  std::vector<std::byte> bytes = writer.take();
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

static Status statusOf(const std::string &text) { return WireReader(std::as_bytes(std::span(text))).takeStatus(); }

void StoreWorld::abort(Status reason) {
  // The first reason wins on all ranks, so that the messages of all ranks name one cause.
  auto kept = store.setOnce(keyOf("failure"), textOf(reason));
  std::lock_guard lock(mutex);
  if (cause.ok()) // if the store is gone, the others notice by themselves
    cause = kept ? statusOf(*kept) : std::move(reason);
}

Status StoreWorld::failureNow() {
  std::string key = keyOf("failure");
  auto there = store.has({key});
  Status found = there.status();
  if (there && *there) {
    auto text = store.get(key);
    found = text ? statusOf(*text) : text.status();
  }
  std::lock_guard lock(mutex);
  asked = std::chrono::steady_clock::now();
  if (cause.ok())
    cause = found;
  return cause;
}

Status StoreWorld::failure() {
  {
    std::lock_guard lock(mutex);
    if (!cause.ok() || std::chrono::steady_clock::now() < asked + askForCauseEvery)
      return cause;
  }
  return failureNow();
}

Expected<std::unique_ptr<Group>> StoreWorld::makeGroup(std::vector<int64_t> ranks, std::string name, int64_t index) {
  std::string key = keyOf(toHexadecimal(groupNames.next(name, ranks)));
  return std::unique_ptr<Group>(
      std::make_unique<StoreGroup>(*this, std::move(key), std::move(name), std::move(ranks), index));
}
