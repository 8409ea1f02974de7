//===- mpi_world.cpp - a rank's view of the processes of a run ------------===//

#include "runtime/comm/mpi/mpi_world.h"

#include "runtime/comm/failures.h"

#include <algorithm>

namespace meshplan {

namespace {

// Before a wait times out, it asks the missing ranks whether they are alive, if there is time for an answer.
constexpr std::chrono::milliseconds timeToAnswer = std::chrono::seconds(5), shortestTimeToAnswer{1000};

class MpiPending final : public PendingCollective {
public:
  MpiPending(Engine &engine, std::shared_ptr<Ticket> ticket, std::string what)
      : engine(engine), ticket(std::move(ticket)), what(std::move(what)) {}
  ~MpiPending() override;

  Status wait() override { return wait(engine.timeout()); }
  Status wait(std::chrono::milliseconds limit) override;
  std::vector<int64_t> missing() override;
  std::optional<MoveInterval> interval() const override { return ticket->interval(); }

private:
  Status waitOnce(std::chrono::milliseconds limit);
  Status gaveUp(std::chrono::milliseconds limit, bool asked);

  Engine &engine;
  std::shared_ptr<Ticket> ticket;
  std::string what; // "rank 0: all-reduce 12 on 'tp'"
  bool settled = false;
  Status result;
};

MpiPending::~MpiPending() {
  if (!settled && !ticket->finished())
    // The progress thread may still copy from or to the buffers, which are freed after this object.
    engine.abort(Status(StatusCode::peerLost, what + ": ended before its wait"));
}

Status MpiPending::wait(std::chrono::milliseconds limit) {
  if (settled)
    return result;
  // Set before waiting: if the wait fails, the destructor must not abort with a second cause.
  settled = true;
  result = waitOnce(limit);
  if (!result.ok())
    engine.abort(result);
  return result;
}

std::vector<int64_t> MpiPending::missing() {
  Progress progress = ticket->progress();
  return progress.moving || ticket->finished() ? std::vector<int64_t>() : progress.missing;
}

Status MpiPending::gaveUp(std::chrono::milliseconds limit, bool asked) {
  Progress progress = ticket->progress();
  std::vector<int64_t> silent = asked ? engine.silentAmong(progress.missing) : std::vector<int64_t>();
  return progress.moving ? stalledFailure(what, limit, progress.missing, silent)
                         : timeoutFailure(what, limit, progress.missing, silent);
}

Status MpiPending::waitOnce(std::chrono::milliseconds limit) {
  Engine::RankWait waits(engine);
  auto lead = std::min(limit / 2, timeToAnswer);
  bool asks = lead >= shortestTimeToAnswer;
  bool ended = asks ? ticket->wait(limit, lead, [&] { engine.ask(ticket->progress().missing); }) : ticket->wait(limit);
  // The missing peers are alive. One of them may itself wait in vain for another rank; it times out at the same moment
  // and names the rank to blame. Wait a little for its report.
  if (!ended && asks && engine.silentAmong(ticket->progress().missing).empty())
    ended = ticket->wait(lead);
  if (!ended)
    return gaveUp(limit, asks);
  bool aborted = false;
  Progress progress = ticket->progress();
  Status status = ticket->result(aborted);
  return aborted ? abortedFailure(what, progress.missing, status) : status.withContext(what + ": the ranks disagree");
}

class MpiGroup final : public Group {
public:
  MpiGroup(Engine &engine, const Hash &hash, std::string name, std::vector<int64_t> ranks, int64_t index)
      : Group(std::move(name), std::move(ranks), index), engine(engine), hash(hash) {}

private:
  Expected<Pending> start(Collective collective) override;

  Engine &engine;
  Hash hash;
  std::map<std::pair<int64_t, int64_t>, int64_t> started; // collectives of this rank, by Participants::pair
};

Expected<Pending> MpiGroup::start(Collective collective) {
  std::string what = "rank " + std::to_string(engine.rank()) + ": " + describe(collective, name());
  StartedCollective next{.group = name(), .participants = participantsOf(collective, size(), index())};
  // Each pair has a count of its own, because the other ranks of the group take no part in a send and would not count
  // it.
  next.key = {hash, next.participants.pair, started[next.participants.pair]++};
  for (int64_t member : next.participants.indices)
    next.ranks.push_back(ranks()[member]);
  next.collective = std::move(collective);
  MESHPLAN_ASSIGN_OR_RETURN(std::shared_ptr<Ticket> ticket, engine.start(std::move(next), what));
  return Pending(std::make_unique<MpiPending>(engine, std::move(ticket), std::move(what)));
}

} // namespace

Expected<std::unique_ptr<Group>> MpiWorld::makeGroup(std::vector<int64_t> ranks, std::string name, int64_t index) {
  Hash hash = groupNames.next(name, ranks);
  return std::unique_ptr<Group>(std::make_unique<MpiGroup>(engine, hash, std::move(name), std::move(ranks), index));
}

} // namespace meshplan
