//===- engine.h - the progress thread ---------------------------*- C++ -*-===//
//
// The progress thread of a process. One thread, which also initialized MPI, makes all MPI calls. The rank's thread
// gives it collectives and waits for their tickets. So data moves while the rank computes, a computing rank answers its
// peers, and MPI needs no thread support beyond MPI_THREAD_FUNNELED.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_ENGINE_H
#define MESHPLAN_RUNTIME_COMM_MPI_ENGINE_H

#include "runtime/comm/mpi/exchange.h"

#include <atomic>
#include <list>
#include <set>

namespace meshplan {

struct EngineOptions {
  std::chrono::milliseconds timeout;
  /// Polled by the progress thread: a reason from outside to end the run, or ok.
  std::function<Status()> interruption;
  /// See RankOptions. Called by the progress thread.
  std::function<void(const Status &cause)> onStuck;
  std::function<void()> beforeProgress = nullptr;
};

class Engine {
public:
  Engine(Transport &transport, EngineOptions options) : transport(transport), options(std::move(options)) {}

  int64_t rank() const { return transport.rank(); }
  int64_t size() const { return transport.size(); }
  std::chrono::milliseconds timeout() const { return options.timeout; }

  // For the rank's thread. abort and failure may be called from any thread.

  /// Starts a collective. `aborted` or `peerLost`, with `what`, if the run has ended.
  Expected<std::shared_ptr<Ticket>> start(StartedCollective started, const std::string &what);

  /// See World::abort.
  void abort(Status cause);

  /// See World::failure.
  Status failure();

  /// Asks `ranks` whether they are alive. silentAmong returns those that have not answered since.
  void ask(std::vector<int64_t> ranks);
  std::vector<int64_t> silentAmong(std::span<const int64_t> ranks);

  /// While it exists the rank's thread waits for a collective, and computes nothing.
  class RankWait {
  public:
    explicit RankWait(Engine &engine) : engine(engine) { ++engine.waiting; }
    ~RankWait() { --engine.waiting; }
    RankWait(const RankWait &) = delete;
    RankWait &operator=(const RankWait &) = delete;

  private:
    Engine &engine;
  };

  /// The rank's body has returned; no collective follows.
  void leave(bool failed);

  // For the progress thread.

  /// Moves data until the bodies of all ranks have returned, or nothing more can be expected from them. `timeout` if
  /// this rank's body succeeded and others did not return.
  Status serve();

  /// All other ranks have announced that they leave.
  bool allLeft() const { return static_cast<int64_t>(left.size()) == size() - 1; }

private:
  using Clock = std::chrono::steady_clock;
  using Task = std::function<Status()>;

  // Only for the progress thread, except what the mutex guards.
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
  std::map<ExchangeKey, std::shared_ptr<MpiExchange>> exchanges;              // started by this rank
  std::map<ExchangeKey, std::vector<std::pair<int64_t, Announcement>>> early; // not yet started by this rank
  int64_t nextTag = 1;
  std::set<int64_t> left;
  std::optional<Clock::time_point> leftAt, stoppedAt;
  bool leftFailed = false, reportedStuck = false, broken = false;
  int quietTurns = 0;
  std::atomic<int> waiting = 0; ///< how many RankWaits there are

  std::mutex mutex;
  std::condition_variable newTask, newState;
  std::vector<Task> tasks;
  std::set<int64_t> answered;
  Status cause;         // why the run has ended early
  bool stopped = false; // no buffer of the rank is used any more
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_MPI_ENGINE_H
