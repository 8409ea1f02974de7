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

#include <system_error>

namespace meshplan {

// A thread that is woken costs more than moving this much.
static constexpr int64_t smallBytes = 32 << 10;

ThreadsRun::ThreadsRun(int64_t size, std::chrono::milliseconds timeout, int64_t progressThreads,
                       std::function<void()> beforeProgress, bool checksOrder)
    : size(size), timeout(timeout), checksOrder(checksIssueOrder && checksOrder), wake(size), order(size),
      beforeProgress(std::move(beforeProgress)) {
  try {
    for (int64_t i = 0; i < progressThreads; ++i)
      progress.emplace_back([this] { serve(); });
  } catch (const std::system_error &) {
    // Data then moves in the waits.
  }
}

ThreadsRun::~ThreadsRun() {
  {
    std::unique_lock lock(mutex);
    ending = true;
  }
  work.notify_all();
  for (std::thread &thread : progress)
    thread.join();
}

void ThreadsRun::notify(const Exchange &exchange) {
  // Each rank has a condition of its own: with a single one, each arrival would wake every waiting thread of the
  // process.
  for (int64_t rank : exchange.ranks())
    wake[rank].notify_all();
}

void ThreadsRun::move(std::unique_lock<std::mutex> &lock, const ClaimedPieces &pieces) {
  Exchange &exchange = *pieces.exchange;
  // The mutex is free while a piece moves. abort waits until no piece is moving, because the buffers may be freed after
  // it.
  ++moving;
  lock.unlock();
  for (int64_t slot : pieces.slots)
    exchange.movePiece(slot);
  lock.lock();
  for (size_t i = 0; i < pieces.slots.size(); ++i)
    exchange.reportMoved();
  if (--moving == 0 && !cause.ok())
    idle.notify_all();
  if (exchange.finished())
    notify(exchange);
}

void ThreadsRun::moveOrQueue(std::unique_lock<std::mutex> &lock, const std::shared_ptr<ThreadsGroupState> &group,
                             const std::shared_ptr<Exchange> &exchange) {
  if (group->lane.empty() && exchange->bytes() <= smallBytes) {
    ClaimedPieces all{exchange, {}};
    while (exchange->hasUnclaimed())
      all.slots.push_back(*exchange->claimPiece(0));
    return move(lock, all);
  }
  group->lane.push(exchange);
  if (!std::exchange(group->listed, true))
    lanes.push_back(group);
  notify(*exchange);
  // The last to arrive probably waits next. If the others wait already, ranks alone move the pieces, without a switch
  // to another thread.
  if (exchange->waiting == 0 || exchange->waiting + 1 < exchange->size())
    work.notify_one();
}

/// The body of a progress thread.
void ThreadsRun::serve() {
  std::unique_lock lock(mutex);
  for (;;) {
    work.wait(lock, [&] { return ending || (cause.ok() && !lanes.empty()); });
    if (ending)
      return;
    if (beforeProgress) {
      lock.unlock();
      beforeProgress();
      lock.lock();
      if (lanes.empty() || !cause.ok())
        continue;
    }
    std::shared_ptr<ThreadsGroupState> group = std::move(lanes.front());
    lanes.pop_front();
    group->listed = false;
    if (group->lane.empty()) // waiting ranks have taken the rest
      continue;
    ClaimedPieces piece = group->lane.claim();
    if (!group->lane.empty()) {
      group->listed = true;
      lanes.push_back(std::move(group));
    }
    // One wakes the next while there is more to do, so no thread is woken in vain.
    if (!lanes.empty())
      work.notify_one();
    move(lock, piece);
  }
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
  ThreadsPending(ThreadsRun &run, std::shared_ptr<ThreadsGroupState> group, std::shared_ptr<Exchange> exchange,
                 int64_t slot, std::string what)
      : run(run), group(std::move(group)), exchange(std::move(exchange)), slot(slot), what(std::move(what)) {}
  ~ThreadsPending() override;

  Status wait() override { return wait(run.timeout); }
  Status wait(std::chrono::milliseconds limit) override;
  std::vector<int64_t> missing() override;
  std::optional<MoveInterval> interval() const override {
    return settled && result.ok() ? std::optional(exchange->interval()) : std::nullopt;
  }

private:
  int64_t rank() const { return exchange->ranks()[slot]; }
  Status checkDeadlock();
  Status waitForPeers(std::unique_lock<std::mutex> &lock, std::chrono::milliseconds limit);
  Status failure(std::unique_lock<std::mutex> &lock, Status status);

  ThreadsRun &run;
  std::shared_ptr<ThreadsGroupState> group;
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
  ++exchange->waiting;
  result = waitForPeers(lock, limit);
  if (result.ok()) {
    // A rank that waits helps its lane, up to its own collective.
    while (run.cause.ok() && exchange->hasUnclaimed())
      run.move(lock, group->lane.claim(exchange.get(), slot));
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

/// Fails if the rank is about to wait for a rank that waits for it.
Status ThreadsPending::checkDeadlock() {
  if (!run.checksOrder || exchange->ready() || !run.cause.ok())
    return Status();
  Status status = run.order.wait(rank(), exchange->number());
  return status.ok() ? status : status.withContext(what);
}

/// Returns when all have arrived and agree, and the run has not failed.
Status ThreadsPending::waitForPeers(std::unique_lock<std::mutex> &lock, std::chrono::milliseconds limit) {
  if (Status status = checkDeadlock(); !status.ok())
    return failure(lock, std::move(status));
  bool woken =
      run.wake[rank()].wait_until(lock, Clock::now() + limit, [&] { return exchange->ready() || !run.cause.ok(); });
  run.order.endWait(rank());
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
    entry = std::make_shared<Exchange>(std::move(members), std::move(indices), run.exchanges++);
  }
  std::shared_ptr<Exchange> exchange = entry;
  if (run.checksOrder)
    if (Status status =
            run.order.start(ranks()[index()], exchange->number(), exchange->ranks(), describe(collective, name()));
        !status.ok()) {
      status = status.withContext(what);
      run.abort(lock, status);
      return status;
    }
  // The last arrival lets the data move; the others find it moving or moved.
  if (exchange->arrive(slot, std::move(collective), name())) {
    // Only started collectives that miss a rank are listed. The pending objects keep the exchange alive.
    state->open.erase(key);
    if (exchange->error().ok())
      run.moveOrQueue(lock, state, exchange);
    else
      run.notify(*exchange);
  }
  return Pending(std::make_unique<ThreadsPending>(run, state, std::move(exchange), slot, std::move(what)));
}

} // namespace meshplan
