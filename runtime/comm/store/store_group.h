//===- store_group.h - a communicator over a store --------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_STORE_STORE_GROUP_H
#define MESHPLAN_RUNTIME_COMM_STORE_STORE_GROUP_H

#include "runtime/comm/store/store_world.h"

namespace meshplan {

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

#endif // MESHPLAN_RUNTIME_COMM_STORE_STORE_GROUP_H
