//===- threads_world.h - ranks of one process -------------------*- C++ -*-===//
//
// The state that the ranks of one run share, and each rank's view of it. Private to the backend; callers use
// runThreads.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_THREADS_THREADS_WORLD_H
#define MESHPLAN_RUNTIME_COMM_THREADS_THREADS_WORLD_H

#include "runtime/comm/communicator.h"
#include "runtime/comm/threads/exchange.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <tuple>

namespace meshplan {

/// The exchanges of one group that not all ranks have reached. Key: first and second index of a pair, or -1; number of
/// the exchange.
struct ThreadsGroupState {
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::shared_ptr<Exchange>> open;
};

/// The state that all ranks of a run share. One lock protects everything; it is held for bookkeeping, never while data
/// moves.
struct ThreadsRun {
  ThreadsRun(int64_t size, std::chrono::milliseconds timeout) : size(size), timeout(timeout), wake(size) {}

  /// Wakes the ranks that may wait for the exchange. The caller holds the lock.
  void notify(const Exchange &exchange);

  /// See World::abort. The caller holds the lock; it is released while pieces are still moving.
  void abort(std::unique_lock<std::mutex> &lock, Status reason);

  const int64_t size;
  const std::chrono::milliseconds timeout;

  std::mutex mutex;
  std::vector<std::condition_variable> wake; // one per rank
  std::condition_variable idle;              // signals that no piece is moving
  int64_t moving = 0;                        // number of pieces that are moving
  Status cause;                              // why the run was aborted

  /// Key: name, ranks, number of equal groups that the rank created before.
  std::map<std::tuple<std::string, std::vector<int64_t>, int64_t>, std::weak_ptr<ThreadsGroupState>> groups;
};

class ThreadsWorld final : public World {
public:
  ThreadsWorld(ThreadsRun &run, int64_t rank) : run(run), ownRank(rank) {}

  int64_t rank() const override { return ownRank; }
  int64_t size() const override { return run.size; }
  std::chrono::milliseconds timeout() const override { return run.timeout; }
  void abort(Status cause) override;
  Status failure() override;

private:
  Expected<std::unique_ptr<Group>> makeGroup(std::vector<int64_t> ranks, std::string name, int64_t index) override;

  ThreadsRun &run;
  int64_t ownRank;
  std::map<std::pair<std::string, std::vector<int64_t>>, int64_t> madeGroups;
};

class ThreadsGroup final : public Group {
public:
  ThreadsGroup(ThreadsRun &run, std::shared_ptr<ThreadsGroupState> state, std::string name, std::vector<int64_t> ranks,
               int64_t index)
      : Group(std::move(name), std::move(ranks), index), run(run), state(std::move(state)) {}

private:
  Expected<Pending> start(Collective collective) override;

  ThreadsRun &run;
  std::shared_ptr<ThreadsGroupState> state;
  /// Number of exchanges that this rank has started with the whole group (-1, -1) or as the pair (from, to).
  std::map<std::pair<int64_t, int64_t>, int64_t> started;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_THREADS_THREADS_WORLD_H
