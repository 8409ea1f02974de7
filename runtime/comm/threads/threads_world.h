//===- threads_world.h - ranks of one process -------------------*- C++ -*-===//
//
// The state that the ranks of one run share, and each rank's view of it. Private to the backend; callers use
// runThreads.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_THREADS_THREADS_WORLD_H
#define MESHPLAN_RUNTIME_COMM_THREADS_THREADS_WORLD_H

#include "runtime/comm/communicator.h"
#include "runtime/comm/threads/issue_order.h"
#include "runtime/comm/threads/lane.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

namespace meshplan {

/// What the ranks of one group share.
struct ThreadsGroupState {
  /// Exchanges that not all ranks have reached. Key: first and second index of a pair, or -1; number of the exchange.
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::shared_ptr<Exchange>> open;
  Lane lane;
  bool listed = false; ///< in ThreadsRun::lanes
};

/// The state that all ranks of a run share. One lock protects everything; it is held for bookkeeping, never while data
/// moves.
struct ThreadsRun {
  /// Starts the progress threads, as many of them as the system can. Without any, only waiting ranks move data.
  /// `beforeProgress`, `checksOrder`: see RankOptions.
  ThreadsRun(int64_t size, std::chrono::milliseconds timeout, int64_t progressThreads = 0,
             std::function<void()> beforeProgress = nullptr, bool checksOrder = true);
  /// The ranks have ended.
  ~ThreadsRun();

  /// Wakes the ranks that may wait for the exchange. The caller holds the lock.
  void notify(const Exchange &exchange);

  /// The exchange is ready: moves it if it is small, else gives it to the lane of its group. The caller holds the lock,
  /// which is released while data moves.
  void moveOrQueue(std::unique_lock<std::mutex> &lock, const std::shared_ptr<ThreadsGroupState> &group,
                   const std::shared_ptr<Exchange> &exchange);

  /// The caller holds the lock, which is released meanwhile.
  void move(std::unique_lock<std::mutex> &lock, const ClaimedPieces &pieces);

  /// See World::abort. The caller holds the lock; it is released while pieces are still moving.
  void abort(std::unique_lock<std::mutex> &lock, Status reason);

  const int64_t size;
  const std::chrono::milliseconds timeout;
  const bool checksOrder;

  std::mutex mutex;
  std::vector<std::condition_variable> wake; // one per rank
  std::condition_variable idle;              // signals that none moves pieces
  int64_t moving = 0;                        // number of threads that move pieces
  int64_t exchanges = 0;                     // number of exchanges so far
  Status cause;                              // why the run was aborted
  IssueOrder order;                          // unused if !checksOrder

  /// Key: name, ranks, number of equal groups that the rank created before.
  std::map<std::tuple<std::string, std::vector<int64_t>, int64_t>, std::weak_ptr<ThreadsGroupState>> groups;

private:
  void serve();

  std::deque<std::shared_ptr<ThreadsGroupState>> lanes; // groups whose lanes are not empty, which take turns
  std::condition_variable work;                         // signals that there is one, or the end
  bool ending = false;
  std::function<void()> beforeProgress;
  std::vector<std::thread> progress;
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
