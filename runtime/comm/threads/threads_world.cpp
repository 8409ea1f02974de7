//===- threads_world.cpp - ranks of one process ---------------------------===//
//
// The life of an exchange, under the lock of the run except where data moves:
//
//   open         some ranks have started it; it is listed in the state of its group
//   ready        all have, and agree; it is no longer listed, and waiting ranks are woken
//   pieces move  a rank claims a piece, moves it without the lock, and reports it
//   finished     the last piece is reported, and waiting ranks are woken
//
// After an abort no piece is claimed any more, and abort returns when the claimed ones have moved. So a rank that gets
// a failure may free its buffers at once: every piece that reads or writes them has been moved, or never will be.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/threads/threads_world.h"
#include "runtime/comm/failures.h"

namespace meshplan {

void ThreadsRun::notify(const Exchange &exchange) {
  // Each rank has a condition of its own: with a single one, each arrival would wake every waiting thread of the
  // process.
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
  // Its number among the equal groups of this rank. All ranks create the same groups in the same order, so equal
  // numbers mean the same group.
  int64_t generation = madeGroups[{name, ranks}]++;
  std::unique_lock lock(run.mutex);
  std::weak_ptr<ThreadsGroupState> &known = run.groups[{name, ranks, generation}];
  std::shared_ptr<ThreadsGroupState> state = known.lock();
  if (!state)
    // Only the groups of the ranks keep the state alive, so that it ends with the last of them.
    known = state = std::make_shared<ThreadsGroupState>();
  return std::unique_ptr<Group>(
      std::make_unique<ThreadsGroup>(run, std::move(state), std::move(name), std::move(ranks), index));
}

namespace {

using Clock = std::chrono::steady_clock;

class ThreadsPending final : public PendingCollective {
public:
  ThreadsPending(ThreadsRun &run, std::shared_ptr<Exchange> exchange, int64_t slot, std::string what)
      : run(run), exchange(std::move(exchange)), slot(slot), what(std::move(what)) {}
  ~ThreadsPending() override;

  Status wait() override { return wait(run.timeout); }
  Status wait(std::chrono::milliseconds limit) override;
  std::vector<int64_t> missing() override;

private:
  int64_t rank() const { return exchange->ranks()[slot]; }
  void movePieces(std::unique_lock<std::mutex> &lock);
  Status waitForPeers(std::unique_lock<std::mutex> &lock, std::chrono::milliseconds limit);
  Status failure(std::unique_lock<std::mutex> &lock, Status status);

  ThreadsRun &run;
  std::shared_ptr<Exchange> exchange;
  int64_t slot;
  std::string what; // "rank 0: all-reduce 12 on 'tp'"
  bool settled = false;
  Status result;
};

ThreadsPending::~ThreadsPending() {
  if (settled)
    return;
  std::unique_lock lock(run.mutex);
  if (!exchange->finished())
    // The peers would read the buffers of a rank that has ended.
    run.abort(lock, Status(StatusCode::peerLost, what + ": ended before its wait"));
}

Status ThreadsPending::wait(std::chrono::milliseconds limit) {
  if (settled)
    return result;
  std::unique_lock lock(run.mutex);
  result = waitForPeers(lock, limit);
  if (result.ok()) {
    // Threads move pieces in parallel. A rank that waits early helps with the pieces of the others.
    movePieces(lock);
    // The remaining pieces are being moved by other threads, which depend on nothing else: no time-out.
    run.wake[rank()].wait(lock, [&] { return exchange->finished() || !run.cause.ok(); });
    if (!exchange->finished())
      result = failure(lock, abortedFailure(what, exchange->missing(), run.cause));
  }
  settled = true;
  return result;
}

std::vector<int64_t> ThreadsPending::missing() {
  std::unique_lock lock(run.mutex);
  return exchange->missing();
}

/// Returns when all have arrived and agree, and the run has not failed.
Status ThreadsPending::waitForPeers(std::unique_lock<std::mutex> &lock, std::chrono::milliseconds limit) {
  bool woken =
      run.wake[rank()].wait_until(lock, Clock::now() + limit, [&] { return exchange->ready() || !run.cause.ok(); });
  if (!woken)
    return failure(lock, timeoutFailure(what, limit, exchange->missing()));
  if (exchange->finished()) // it was done before the run was aborted
    return Status();
  if (!run.cause.ok())
    return failure(lock, abortedFailure(what, exchange->missing(), run.cause));
  if (!exchange->error().ok())
    return failure(lock, exchange->error().withContext(what + ": the ranks disagree"));
  return Status();
}

void ThreadsPending::movePieces(std::unique_lock<std::mutex> &lock) {
  while (run.cause.ok()) {
    std::optional<int64_t> piece = exchange->claimPiece(slot);
    if (!piece)
      return;
    // The mutex is free while a piece moves. abort waits until no piece is moving, because the buffers may be freed
    // after it.
    ++run.moving;
    lock.unlock();
    exchange->movePiece(*piece);
    lock.lock();
    exchange->reportMoved();
    // Only abort waits for this, so without a cause there is no rank to wake.
    if (--run.moving == 0 && !run.cause.ok())
      run.idle.notify_all();
    if (exchange->finished())
      run.notify(*exchange);
  }
}

/// Ends the run. Returns when no peer uses this rank's buffers.
Status ThreadsPending::failure(std::unique_lock<std::mutex> &lock, Status status) {
  run.abort(lock, status);
  return status;
}

} // namespace

Expected<Pending> ThreadsGroup::start(Collective collective) {
  auto [pair, indices, slot] = participantsOf(collective, size(), index());
  std::string what = "rank " + std::to_string(ranks()[index()]) + ": " + describe(collective, name());
  // All ranks start the collectives of a group in the same order, so the number identifies one without communication.
  int64_t number = started[pair]++;

  std::unique_lock lock(run.mutex);
  if (!run.cause.ok())
    return abortedFailure(what, {}, run.cause);
  std::tuple key(pair.first, pair.second, number);
  std::shared_ptr<Exchange> &entry = state->open[key];
  if (!entry) {
    std::vector<int64_t> members;
    for (int64_t member : indices)
      members.push_back(ranks()[member]);
    entry = std::make_shared<Exchange>(std::move(members), std::move(indices));
  }
  std::shared_ptr<Exchange> exchange = entry;
  // The last arrival wakes the ranks that wait already; the others find it ready.
  if (exchange->arrive(slot, std::move(collective), name())) {
    // Only started collectives that miss a rank are listed. The pending objects keep the exchange alive.
    state->open.erase(key);
    run.notify(*exchange);
  }
  return Pending(std::make_unique<ThreadsPending>(run, std::move(exchange), slot, std::move(what)));
}

} // namespace meshplan
