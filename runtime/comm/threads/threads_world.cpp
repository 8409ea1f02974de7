//===- threads_world.cpp - ranks of one process ---------------------------===//

#include "runtime/comm/threads/threads_world.h"

#include "runtime/comm/threads/threads_group.h"

namespace meshplan {

void ThreadsRun::notify(const Exchange &exchange) {
  for (int64_t rank : exchange.ranks())
    wake[rank].notify_all();
}

void ThreadsRun::abort(std::unique_lock<std::mutex> &lock, Status reason) {
  if (cause.ok())
    cause = std::move(reason);
  for (std::condition_variable &rank : wake)
    rank.notify_all();
  // No new piece is claimed from now on. Pieces in progress may still read the caller's buffers.
  idle.wait(lock, [&] { return moving == 0; });
}

void ThreadsWorld::abort(Status cause) {
  std::unique_lock lock(run.mutex);
  run.abort(lock, std::move(cause));
}

Status ThreadsWorld::failure() {
  std::unique_lock lock(run.mutex);
  return run.cause;
}

Expected<std::unique_ptr<Group>> ThreadsWorld::makeGroup(std::vector<int64_t> ranks, std::string name, int64_t index) {
  int64_t generation = madeGroups[{name, ranks}]++;
  std::unique_lock lock(run.mutex);
  std::weak_ptr<ThreadsGroupState> &known = run.groups[{name, ranks, generation}];
  std::shared_ptr<ThreadsGroupState> state = known.lock();
  if (!state)
    known = state = std::make_shared<ThreadsGroupState>();
  return std::unique_ptr<Group>(
      std::make_unique<ThreadsGroup>(run, std::move(state), std::move(name), std::move(ranks), index));
}

} // namespace meshplan
