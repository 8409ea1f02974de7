//===- store_world.h - ranks that share a store -----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_STORE_STORE_WORLD_H
#define MESHPLAN_RUNTIME_COMM_STORE_STORE_WORLD_H

#include "runtime/comm/communicator.h"
#include "runtime/comm/store/run_store.h"
#include "runtime/comm/wire.h"

#include <mutex>

namespace meshplan {

class StoreWorld final : public World {
public:
  StoreWorld(KeyValueStore &store, const StoreMember &member, std::chrono::milliseconds timeout)
      : store(store), member(member), limit(timeout) {}

  int64_t rank() const override { return member.rank; }
  int64_t size() const override { return member.size; }
  std::chrono::milliseconds timeout() const override { return limit; }
  void abort(Status cause) override;
  /// Queries the store only from time to time.
  Status failure() override;

  // For groups and the end of the run.

  KeyValueStore &keyValueStore() { return store; }
  std::string keyOf(const std::string &name) const { return member.run + "/" + name; }
  /// As failure, but queries the store now.
  Status failureNow();

private:
  Expected<std::unique_ptr<Group>> makeGroup(std::vector<int64_t> ranks, std::string name, int64_t index) override;

  KeyValueStore &store;
  StoreMember member;
  std::chrono::milliseconds limit;
  GroupNames groupNames;

  std::mutex mutex;
  Status cause;
  std::chrono::steady_clock::time_point asked;
};

class StoreGroup final : public Group {
public:
  /// `key` is the prefix of the group's keys, the same on all its ranks.
  StoreGroup(StoreWorld &world, std::string key, std::string name, std::vector<int64_t> ranks, int64_t index)
      : Group(std::move(name), std::move(ranks), index), world(world), key(std::move(key)) {}

private:
  Expected<Pending> start(Collective collective) override;

  StoreWorld &world;
  std::string key;
  /// Number of collectives that this rank has started with the whole group (-1, -1) or as the pair (from, to).
  std::map<std::pair<int64_t, int64_t>, int64_t> started;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_STORE_STORE_WORLD_H
