//===- engine.h - the thread of communication of a process -------*- C++ -*-===//
//
// One thread, the one that started MPI, makes every call of MPI; the thread of
// the rank hands it collectives and waits on tickets. So data moves while the
// rank computes, a rank that computes answers its peers, and MPI needs no
// support for threads.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_ENGINE_H
#define MESHPLAN_RUNTIME_COMM_MPI_ENGINE_H

#include "runtime/comm/mpi/exchange.h"

#include <list>
#include <set>

namespace meshplan {

struct EngineOptions {
  std::chrono::milliseconds timeout;
  /// Polled by the thread of communication: a reason to end the run from outside of it, or ok.
  std::function<Status()> interruption;
  /// See RankOptions; called by the thread of communication.
  std::function<void(const Status &cause)> onStuck;
};

class Engine {
public:
  Engine(Transport &transport, EngineOptions options) : transport(transport), options(std::move(options)) {}

  int64_t rank() const { return transport.rank(); }
  int64_t size() const { return transport.size(); }
  std::chrono::milliseconds timeout() const { return options.timeout; }

  // For the thread of the rank; abort and failure also for others.

  /// `aborted` or `peerLost`, with `what`, when the run has ended.
  Expected<std::shared_ptr<Ticket>> start(StartedCollective started, const std::string &what);

  /// See World::abort.
  void abort(Status cause);

  /// See World::failure.
  Status failure();

  /// Asks `ranks` whether they are there. `silentAmong` are those that have not answered since.
  void ask(std::vector<int64_t> ranks);
  std::vector<int64_t> silentAmong(std::span<const int64_t> ranks);

  /// The rank's body has returned; nothing follows.
  void leave(bool failed);

  // For the thread of communication.

  /// Moves data until the bodies of all ranks have returned, or no more is to be expected of them. `timeout` when this
  /// rank's body succeeded and others did not return.
  Status serve();

  /// All ranks have said that they leave.
  bool allLeft() const { return static_cast<int64_t>(left.size()) == size() - 1; }

private:
  using Clock = std::chrono::steady_clock;
  using Task = std::function<Status()>;

  // Everything below is for the thread of communication, but for what the lock guards.
  Status turn(bool &any);
  Status runTasks(bool &any);
  Status open(std::shared_ptr<MpiExchange> exchange);
  Status onMessage(int64_t from, std::span<const std::byte> bytes);
  Status onAnnouncement(int64_t from, Announcement announcement);
  void removeDone();
  void stop(Status reason, bool tellOthers);
  Status tell(std::span<const int64_t> peers, const Message &message);
  Status tellAll(const Message &message);
  bool mayLeave();
  void checkStuck();
  void rest();
  Status statusOfEnd() const;

  Transport &transport;
  EngineOptions options;
  std::map<ExchangeKey, std::shared_ptr<MpiExchange>> exchanges;              // that this rank has started
  std::map<ExchangeKey, std::vector<std::pair<int64_t, Announcement>>> early; // of those that it has not
  int64_t nextTag = 1;
  std::set<int64_t> left;
  std::optional<Clock::time_point> leftAt, stoppedAt;
  bool leftFailed = false, reportedStuck = false, broken = false;
  int quietTurns = 0;

  std::mutex mutex;
  std::condition_variable newTask, newState;
  std::vector<Task> tasks;
  std::set<int64_t> answered;
  Status cause;         // why the run has ended early
  bool stopped = false; // and no buffer of the rank is used any more
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_MPI_ENGINE_H
