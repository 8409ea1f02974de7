//===- run_threads.cpp - all ranks in one process -------------------------===//

#include "runtime/comm/threads/run_threads.h"

#include "runtime/comm/threads/threads_world.h"

#include <algorithm>
#include <sched.h>
#include <system_error>
#include <thread>

namespace meshplan {

namespace {

/// The ranks that have returned. Each return notifies `changed`.
struct Returned {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<bool> ranks;
  int64_t count = 0;
  Status failure; // of the first rank that failed
};

void runThread(ThreadsRun &run, int64_t rank, const RankOptions &options, const RankBody &body, Status &result,
               Returned &returned) {
  ThreadsWorld world(run, rank);
  result = runRank(world, options, body);
  std::unique_lock lock(returned.mutex);
  returned.ranks[rank] = true;
  ++returned.count;
  if (returned.failure.ok())
    returned.failure = result;
  returned.changed.notify_all();
}

/// Waits for all ranks; reports the ones that do not return after a failure.
void waitForRanks(Returned &returned, const RankOptions &options) {
  std::unique_lock lock(returned.mutex);
  auto allReturned = [&] { return returned.count == static_cast<int64_t>(returned.ranks.size()); };
  returned.changed.wait(lock, [&] { return allReturned() || !returned.failure.ok(); });
  // After a failure each rank should learn of it at its next wait. One that computes in an endless loop never does.
  if (!options.onStuck || returned.changed.wait_for(lock, options.timeout, allReturned))
    return;
  std::vector<int64_t> stuck;
  for (size_t rank = 0; rank < returned.ranks.size(); ++rank)
    if (!returned.ranks[rank])
      stuck.push_back(static_cast<int64_t>(rank));
  Status failure = returned.failure;
  lock.unlock();
  options.onStuck(failure, stuck);
}

/// Calls `start` for each rank. Fails if the system cannot create the threads.
template <typename Start>
Status startThreads(std::vector<std::thread> &threads, int64_t worldSize, const Start &start) {
  try {
    for (int64_t rank = 0; rank < worldSize; ++rank)
      // `start` outlives the threads, which the caller joins.
      threads.emplace_back([&start, rank] { start(rank); });
  } catch (const std::system_error &error) {
    return Status::error(StatusCode::unsupported, "only ", threads.size(), " of ", worldSize,
                         " ranks could be started as threads of this process: ", error.code().message(),
                         "; help: start one process for each rank");
  }
  return Status();
}

/// The ranks from `first` on could not be started. Ends the others, which would wait for them.
void giveUp(ThreadsRun &run, size_t first, const Status &failure, std::vector<Status> &results, Returned &returned) {
  {
    std::unique_lock lock(returned.mutex);
    for (size_t rank = first; rank < results.size(); ++rank, ++returned.count) {
      // Counted as returned, since waitForRanks waits for every rank, also for those that never were.
      results[rank] = failure;
      returned.ranks[rank] = true;
    }
    returned.failure = failure;
  }
  // Aborts in the name of the first missing rank: the started ranks wait for it in their first collective.
  ThreadsWorld(run, static_cast<int64_t>(first)).abort(failure);
}

/// A progress thread for each core that the process may use: more of them move no more bytes. One for each rank at
/// most, since a collective has as many pieces.
int64_t progressThreadsFor(int64_t worldSize) {
  cpu_set_t allowed;
  int64_t cores =
      sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? CPU_COUNT(&allowed) : std::thread::hardware_concurrency();
  return std::clamp<int64_t>(cores, 1, worldSize);
}

} // namespace

std::vector<Status> runThreads(int64_t worldSize, const RankOptions &options, const RankBody &body) {
  ThreadsRun run(worldSize, options.timeout, progressThreadsFor(worldSize), options.beforeProgress,
                 options.checksOrder);
  std::vector<Status> results(worldSize);
  Returned returned;
  returned.ranks.resize(worldSize, false);
  std::vector<std::thread> threads;
  auto start = [&](int64_t rank) { runThread(run, rank, options, body, results[rank], returned); };
  if (Status started = startThreads(threads, worldSize, start); !started.ok())
    giveUp(run, threads.size(), started, results, returned);
  waitForRanks(returned, options);
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

} // namespace meshplan
