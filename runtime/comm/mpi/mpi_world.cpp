//===- mpi_world.cpp - a rank's view of the processes of a run ------------===//

#include "runtime/comm/mpi/mpi_world.h"

#include "runtime/comm/failures.h"

namespace meshplan {

namespace {

class MpiPending final : public PendingCollective {
public:
  MpiPending(Engine &engine, std::shared_ptr<Ticket> ticket, std::string what)
      : engine(engine), ticket(std::move(ticket)), what(std::move(what)) {}
  ~MpiPending() override;

  Status wait() override { return wait(engine.timeout()); }
  Status wait(std::chrono::milliseconds limit) override;

private:
  Status waitOnce(std::chrono::milliseconds limit);

  Engine &engine;
  std::shared_ptr<Ticket> ticket;
  std::string what; // "rank 0: all-reduce 12 on 'tp'"
  bool settled = false;
  Status result;
};

MpiPending::~MpiPending() {
  if (!settled && !ticket->finished())
    engine.abort(Status(StatusCode::peerLost, what + ": left without waiting for it"));
}

Status MpiPending::wait(std::chrono::milliseconds limit) {
  if (settled)
    return result;
  settled = true;
  result = waitOnce(limit);
  if (!result.ok())
    engine.abort(result);
  return result;
}

Status MpiPending::waitOnce(std::chrono::milliseconds limit) {
  bool ended = ticket->wait(limit), aborted = false;
  Progress progress = ticket->progress();
  if (!ended)
    return progress.moving ? stalledFailure(what, limit, progress.missing)
                           : timeoutFailure(what, limit, progress.missing);
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
  next.key = {hash, next.participants.pair, started[next.participants.pair]++};
  for (int64_t member : next.participants.indices)
    next.ranks.push_back(ranks()[member]);
  next.collective = std::move(collective);
  MESHPLAN_ASSIGN_OR_RETURN(std::shared_ptr<Ticket> ticket, engine.start(std::move(next), what));
  return Pending(std::make_unique<MpiPending>(engine, std::move(ticket), std::move(what)));
}

} // namespace

Expected<std::unique_ptr<Group>> MpiWorld::makeGroup(std::vector<int64_t> ranks, std::string name, int64_t index) {
  // Ranks agree on a group without talking: all make the same ones in the same order.
  std::string identity = name + '\0' + std::to_string(madeGroups[{name, ranks}]++);
  for (int64_t rank : ranks)
    identity += ' ' + std::to_string(rank);
  Hash hash = hashBytes(std::as_bytes(std::span(identity)));
  return std::unique_ptr<Group>(std::make_unique<MpiGroup>(engine, hash, std::move(name), std::move(ranks), index));
}

} // namespace meshplan
