//===- engine.cpp - the progress thread -----------------------------------===//
//
// The progress thread is a loop. Each turn runs the tasks that the rank's thread has queued, polls the transport, and
// removes finished collectives; a turn without work rests. How one collective goes through two engines:
//
//   rank 0                                      rank 1
//   start: queue open(exchange)
//   turn: announce to rank 1          ------->  onAnnouncement: not started here, kept in `early`
//                                               start: queue open(exchange)
//   onAnnouncement: all have started  <-------  turn: announce, take the early one: all have started
//   proceed: post receives, then sends          proceed: post receives, then sends
//   poll: chunks move                 <------>  poll: chunks move
//   ticket finished; wait returns               ticket finished; wait returns
//
// How the thread ends:
//
//   all bodies return                 each rank tells the others that it leaves, and serves until all have left
//   a body or a collective fails      the rank cancels its exchanges, tells the cause to all, and serves until all have
//                                     left and its messages are delivered, 2 s at most
//   MPI fails                         the rank cancels and leaves; the others notice by their time-outs
//   others never return               the rank leaves after the time-out and 2 s, with their names
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/mpi/engine.h"

#include "runtime/base/names.h"
#include "runtime/comm/failures.h"

#include <algorithm>
#include <numeric>
#include <thread>

using namespace meshplan;

namespace {

// How long a failed rank keeps serving, so that the others hear of the failure and end too.
constexpr std::chrono::milliseconds grace = std::chrono::seconds(2);

// MPI's own wait spins. A quiet thread here sleeps longer and longer, so that it does not take a shared core from a
// rank that computes. While the rank waits it yields first: that is faster, but would give a core on which a thread
// computes to that thread for a whole time slice, in which data stands still. Who sleeps runs as soon as it wakes.
constexpr int yieldingTurns = 100;
constexpr std::chrono::microseconds shortestRest{20}, longestRest{500}, restWithoutWork{5000};

} // namespace

Expected<std::shared_ptr<Ticket>> Engine::start(StartedCollective started, const std::string &what) {
  std::unique_lock lock(mutex);
  if (!cause.ok())
    return abortedFailure(what, {}, cause);
  // Tags are reused after a wraparound. Nothing that is in flight is that old.
  auto exchange = std::make_shared<MpiExchange>(transport, std::move(started), nextTag);
  nextTag = nextTag + 3 <= transport.lastTag() ? nextTag + 2 : 1;
  tasks.push_back([this, exchange] { return open(exchange); });
  newTask.notify_one();
  return exchange->ticket();
}

void Engine::abort(Status reason) {
  std::unique_lock lock(mutex);
  if (cause.ok()) {
    cause = std::move(reason);
    tasks.push_back([this] {
      stop(Status(), true);
      return Status();
    });
    newTask.notify_one();
  }
  // The caller may free its buffers when this returns. Only the progress thread can take them out of use.
  newState.wait(lock, [&] { return stopped; });
}

Status Engine::failure() {
  std::unique_lock lock(mutex);
  return cause;
}

void Engine::leave(bool failed) {
  std::unique_lock lock(mutex);
  tasks.push_back([this, failed] {
    leftAt = Clock::now();
    leftFailed = failed;
    return tellAll(Leaving());
  });
  newTask.notify_one();
}

void Engine::ask(std::vector<int64_t> ranks) {
  std::unique_lock lock(mutex);
  // An answer to an earlier question does not say that the rank is alive now.
  answered.clear();
  tasks.push_back([this, ranks = std::move(ranks)] { return tell(ranks, Question()); });
  newTask.notify_one();
}

std::vector<int64_t> Engine::silentAmong(std::span<const int64_t> ranks) {
  std::unique_lock lock(mutex);
  std::vector<int64_t> silent;
  for (int64_t peer : ranks)
    if (!answered.contains(peer))
      silent.push_back(peer);
  return silent;
}

/// Leaves this rank out if it is among the peers.
Status Engine::tell(std::span<const int64_t> peers, const Message &message) {
  std::vector<std::byte> bytes = encode(message);
  for (int64_t peer : peers)
    if (peer != rank())
      MESHPLAN_RETURN_IF_ERROR(transport.sendMessage(peer, bytes));
  return Status();
}

Status Engine::tellAll(const Message &message) {
  std::vector<int64_t> all(size());
  std::iota(all.begin(), all.end(), int64_t(0));
  return tell(all, message);
}

Status Engine::open(std::shared_ptr<MpiExchange> exchange) {
  if (stoppedAt) {
    exchange->cancel(cause);
    return Status();
  }
  // Stored first, so that a failure below, which ends the run, also cancels this exchange.
  exchanges.emplace(exchange->key(), exchange);
  MESHPLAN_RETURN_IF_ERROR(tell(exchange->ranks(), exchange->announcement()));
  if (auto waiting = early.extract(exchange->key()))
    for (auto &[from, announcement] : waiting.mapped())
      MESHPLAN_RETURN_IF_ERROR(exchange->arrive(from, std::move(announcement)));
  return exchange->proceed();
}

Status Engine::onAnnouncement(int64_t from, Announcement announcement) {
  auto found = exchanges.find(announcement.key);
  if (found == exchanges.end()) {
    // The peer is ahead of this rank. Its announcement waits for this rank's start.
    early[announcement.key].emplace_back(from, std::move(announcement));
    return Status();
  }
  MESHPLAN_RETURN_IF_ERROR(found->second->arrive(from, std::move(announcement)));
  return found->second->proceed();
}

Status Engine::onMessage(int64_t from, std::span<const std::byte> bytes) {
  auto message = decode(bytes);
  if (!message)
    return message.status().withContext("rank " + std::to_string(from) + " sent");
  if (auto *announcement = std::get_if<Announcement>(&*message))
    // A stopped rank starts nothing any more, so announcements would only pile up.
    return stoppedAt ? Status() : onAnnouncement(from, std::move(*announcement));
  if (auto *notice = std::get_if<AbortNotice>(&*message)) {
    stop(notice->cause, false);
  } else if (std::holds_alternative<Leaving>(*message)) {
    left.insert(from);
  } else if (std::holds_alternative<Question>(*message)) {
    return tell(std::span(&from, 1), Answer());
  } else {
    std::unique_lock lock(mutex);
    answered.insert(from);
  }
  return Status();
}

/// Ends the run on this rank. `reason` counts only if there is no earlier one.
void Engine::stop(Status reason, bool tellOthers) {
  if (stoppedAt)
    return;
  stoppedAt = Clock::now();
  std::unique_lock lock(mutex);
  if (cause.ok())
    cause = std::move(reason);
  for (auto &[key, exchange] : exchanges)
    exchange->cancel(cause);
  exchanges.clear();
  early.clear();
  if (tellOthers)
    (void)tellAll(AbortNotice{cause}); // a rank that it does not reach will time out
  stopped = true;
  newState.notify_all();
}

Status Engine::runTasks(bool &any) {
  std::vector<Task> taken;
  {
    std::unique_lock lock(mutex);
    taken.swap(tasks);
  }
  any |= !taken.empty();
  Status failure;
  for (Task &task : taken)
    if (Status status = task(); !status.ok() && failure.ok())
      failure = status;
  return failure;
}

void Engine::removeDone() {
  std::erase_if(exchanges, [](const auto &entry) { return entry.second->done(); });
}

Status Engine::turn(bool &any) {
  if (options.beforeProgress && !exchanges.empty())
    options.beforeProgress();
  MESHPLAN_RETURN_IF_ERROR(runTasks(any));
  if (!broken) {
    auto polled =
        transport.poll([this](int64_t from, std::span<const std::byte> bytes) { return onMessage(from, bytes); });
    MESHPLAN_RETURN_IF_ERROR(polled.status());
    any |= *polled;
  }
  if (any)
    removeDone();
  return Status();
}

bool Engine::mayLeave() {
  if (!leftAt)
    return false;
  bool failed = stoppedAt || leftFailed;
  // After a failure, undelivered data does not matter, only the messages that explain it.
  if (broken || (allLeft() && (failed ? transport.openMessages() == 0 : transport.idle())))
    return true;
  auto since = stoppedAt ? std::max(*leftAt, *stoppedAt) : *leftAt;
  // This rank has returned; another may still wait for it in vain, and gives up after the time-out.
  return Clock::now() > since + (failed ? std::min(grace, options.timeout) : options.timeout + grace);
}

void Engine::checkStuck() {
  if (!stoppedAt || leftAt || reportedStuck || !options.onStuck || Clock::now() < *stoppedAt + options.timeout)
    return;
  // Once is enough: the program reports and exits, or keeps waiting.
  reportedStuck = true;
  options.onStuck(cause);
}

void Engine::rest() {
  bool active = !exchanges.empty() || !transport.idle() || leftAt;
  bool yields = active && waiting > 0;
  if (yields && quietTurns < yieldingTurns) {
    std::this_thread::yield();
    return;
  }
  // Only after the yielding turns: looking for a signal costs a system call, and short waits are the usual ones.
  if (Status reason = options.interruption ? options.interruption() : Status(); !reason.ok())
    stop(reason, true);
  checkStuck();
  int doublings = std::min(quietTurns - (yields ? yieldingTurns : 0), 10);
  auto duration = active ? std::min(longestRest, shortestRest * (1 << doublings)) : restWithoutWork;
  std::unique_lock lock(mutex);
  newTask.wait_for(lock, duration, [&] { return !tasks.empty(); });
}

Status Engine::serve() {
  while (!mayLeave()) {
    bool any = false;
    if (Status status = turn(any); !status.ok()) {
      stop(status.withContext("rank " + std::to_string(rank())), true);
      // MPI has failed, so nothing more can be sent or received. The peers will notice by their time-outs.
      broken = true;
    }
    quietTurns = any ? 0 : quietTurns + 1;
    if (!any)
      rest();
  }
  std::unique_lock lock(mutex);
  // An abort from now on finds no progress thread that could answer it, and no buffer in use.
  stopped = true;
  newState.notify_all();
  return statusOfEnd();
}

Status Engine::statusOfEnd() const {
  if (leftFailed || stoppedAt || allLeft())
    return Status();
  std::vector<int64_t> missing;
  for (int64_t peer = 0; peer < size(); ++peer)
    if (peer != rank() && !left.contains(peer))
      missing.push_back(peer);
  double seconds = std::chrono::duration<double>(options.timeout + grace).count();
  return Status::error(StatusCode::timeout, "rank ", rank(), ": time-out after ", seconds, " s: ", rankList(missing),
                       " did not return");
}
