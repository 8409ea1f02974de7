//===- store_group.h - a communicator over a store ---------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_STORE_STORE_GROUP_H
#define MESHPLAN_RUNTIME_COMM_STORE_STORE_GROUP_H

#include "runtime/comm/store/store_world.h"

namespace meshplan {

class StoreGroup final : public Group {
public:
  /// `key` begins the keys of the group, the same on all its ranks.
  StoreGroup(StoreWorld &world, std::string key, std::string name, std::vector<int64_t> ranks, int64_t index)
      : Group(std::move(name), std::move(ranks), index), world(world), key(std::move(key)) {}

private:
  Expected<Pending> start(Collective collective) override;

  StoreWorld &world;
  std::string key;
  /// Collectives that this rank has started with all ranks (-1, -1), or as the pair (from, to).
  std::map<std::pair<int64_t, int64_t>, int64_t> started;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_STORE_STORE_GROUP_H
