//===- communicator.cpp - collectives between ranks -----------------------===//

#include "runtime/comm/communicator.h"

#include <algorithm>
#include <numeric>

namespace meshplan {

namespace {

std::vector<int64_t> copyOf(std::span<const int64_t> counts) { return {counts.begin(), counts.end()}; }

/// Size of the rank's input, including the piece for itself.
int64_t bytesOf(const Collective &collective, int64_t index) {
  // For the report of a hang, which shows how much data a collective moves.
  int64_t count = collective.input ? collective.count : 0;
  if (collective.kind == CollectiveKind::allGather)
    count = collective.receiveCounts[index];
  for (int64_t piece : collective.sendCounts)
    count += piece;
  return count * dtypeSize(collective.dtype);
}

/// Records in the rank's log when the wait returns.
class LoggedPending final : public PendingCollective {
public:
  LoggedPending(Pending pending, std::shared_ptr<CollectiveLog> log, int64_t number)
      : pending(std::move(pending)), log(std::move(log)), number(number) {}

  Status wait(std::chrono::milliseconds limit) override { return note(pending->wait(limit)); }
  Status wait() override { return note(pending->wait()); }
  std::vector<int64_t> missing() override { return pending->missing(); }
  std::optional<MoveInterval> interval() const override { return pending->interval(); }

private:
  Status note(Status status) {
    log->end(number, status.code());
    return status;
  }

  Pending pending;
  std::shared_ptr<CollectiveLog> log;
  int64_t number;
};

} // namespace

Status waitFor(Expected<Pending> pending) { return pending ? (*pending)->wait() : pending.status(); }

Expected<Pending> Group::checkAndStart(Collective collective) {
  // Caught here, on one rank, before peers are involved.
  Status status = checkCollective(collective, size(), index());
  if (!status.ok())
    return status.withContext("rank " + std::to_string(groupRanks[ownIndex]) + ": " + describe(collective, name()));
  if (!log)
    return start(std::move(collective));
  // Logged before the backend starts it: a start may block or fail, and the report must show it.
  int64_t number = log->start(describe(collective, name()), bytesOf(collective, index()));
  auto pending = start(std::move(collective));
  if (!pending) {
    log->end(number, pending.status().code());
    return pending;
  }
  return Pending(std::make_unique<LoggedPending>(*std::move(pending), log, number));
}

Expected<Pending> Group::startAllReduce(const void *input, void *output, int64_t count, DType dtype,
                                        Reduction reduction, CollectiveLabel label) {
  return checkAndStart({.kind = CollectiveKind::allReduce,
                        .dtype = dtype,
                        .reduction = reduction,
                        .input = input,
                        .output = output,
                        .count = count,
                        .label = std::move(label)});
}

Expected<Pending> Group::startAllGather(const void *input, void *output, std::span<const int64_t> counts, DType dtype,
                                        CollectiveLabel label) {
  return checkAndStart({.kind = CollectiveKind::allGather,
                        .dtype = dtype,
                        .input = input,
                        .output = output,
                        .receiveCounts = copyOf(counts),
                        .label = std::move(label)});
}

Expected<Pending> Group::startAllGather(const void *input, void *output, int64_t count, DType dtype,
                                        CollectiveLabel label) {
  return startAllGather(input, output, std::vector<int64_t>(size(), count), dtype, std::move(label));
}

Expected<Pending> Group::startReduceScatter(const void *input, void *output, std::span<const int64_t> counts,
                                            DType dtype, Reduction reduction, CollectiveLabel label) {
  return checkAndStart({.kind = CollectiveKind::reduceScatter,
                        .dtype = dtype,
                        .reduction = reduction,
                        .input = input,
                        .output = output,
                        .sendCounts = copyOf(counts),
                        .label = std::move(label)});
}

Expected<Pending> Group::startReduceScatter(const void *input, void *output, int64_t count, DType dtype,
                                            Reduction reduction, CollectiveLabel label) {
  return startReduceScatter(input, output, std::vector<int64_t>(size(), count), dtype, reduction, std::move(label));
}

Expected<Pending> Group::startAllToAll(const void *input, std::span<const int64_t> sendCounts, void *output,
                                       std::span<const int64_t> receiveCounts, DType dtype, CollectiveLabel label) {
  return checkAndStart({.kind = CollectiveKind::allToAll,
                        .dtype = dtype,
                        .input = input,
                        .output = output,
                        .sendCounts = copyOf(sendCounts),
                        .receiveCounts = copyOf(receiveCounts),
                        .label = std::move(label)});
}

Expected<Pending> Group::startPermute(const void *input, int64_t sendCount, int64_t sendTo, void *output,
                                      int64_t receiveCount, int64_t receiveFrom, DType dtype, CollectiveLabel label) {
  if (sendTo < -1 || sendTo >= size() || receiveFrom < -1 || receiveFrom >= size())
    return Status::error(StatusCode::invalid, "permute to ", sendTo, " and from ", receiveFrom, " in a group of ",
                         size(), " ranks");
  // A permute is an all-to-all in which at most one count of each rank is not zero.
  Collective collective{.kind = CollectiveKind::permute,
                        .dtype = dtype,
                        .input = input,
                        .output = output,
                        .sendCounts = std::vector<int64_t>(size(), 0),
                        .receiveCounts = std::vector<int64_t>(size(), 0),
                        .label = std::move(label)};
  // A rank may have no partner on either side, and still takes part with counts of zero.
  if (sendTo >= 0)
    collective.sendCounts[sendTo] = sendCount;
  if (receiveFrom >= 0)
    collective.receiveCounts[receiveFrom] = receiveCount;
  return checkAndStart(std::move(collective));
}

Expected<Pending> Group::startBroadcast(void *buffer, int64_t count, DType dtype, int64_t root, CollectiveLabel label) {
  return checkAndStart({.kind = CollectiveKind::broadcast,
                        .dtype = dtype,
                        .input = buffer,
                        .output = buffer,
                        .count = count,
                        .peer = root,
                        .label = std::move(label)});
}

Expected<Pending> Group::startBarrier(CollectiveLabel label) {
  return checkAndStart({.kind = CollectiveKind::barrier, .label = std::move(label)});
}

Expected<Pending> Group::startSend(const void *input, int64_t count, DType dtype, int64_t to, CollectiveLabel label) {
  return checkAndStart({.kind = CollectiveKind::send,
                        .dtype = dtype,
                        .input = input,
                        .count = count,
                        .peer = to,
                        .label = std::move(label)});
}

Expected<Pending> Group::startReceive(void *output, int64_t count, DType dtype, int64_t from, CollectiveLabel label) {
  return checkAndStart({.kind = CollectiveKind::receive,
                        .dtype = dtype,
                        .output = output,
                        .count = count,
                        .peer = from,
                        .label = std::move(label)});
}

Expected<std::unique_ptr<Group>> World::createGroup(std::vector<int64_t> ranks, std::string name) {
  // Checked for every backend here, since each would fail in its own way: by a hang, a wrong memory access, or an error
  // of a library without names.
  std::vector<int64_t> sorted = ranks;
  // Only a sorted copy is checked: the order of `ranks` is part of the group's identity and the order of sums.
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty() || sorted.front() < 0 || sorted.back() >= size())
    return Status::error(StatusCode::invalid, "group '", name, "' has a rank outside of the world of ", size());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return Status::error(StatusCode::invalid, "group '", name, "' has a rank twice");
  auto own = std::find(ranks.begin(), ranks.end(), rank());
  // A rank outside of the group would wait for collectives that it never takes part in.
  if (own == ranks.end())
    return Status::error(StatusCode::invalid, "rank ", rank(), " is not in group '", name, "'");
  int64_t index = own - ranks.begin();
  MESHPLAN_ASSIGN_OR_RETURN(auto group, makeGroup(std::move(ranks), std::move(name), index));
  group->log = collectiveLog;
  return group;
}

Expected<std::unique_ptr<Group>> World::createWorldGroup(std::string name) {
  std::vector<int64_t> all(size());
  std::iota(all.begin(), all.end(), int64_t(0));
  return createGroup(std::move(all), std::move(name));
}

// `aborted` and `peerLost` are consequences of a failure elsewhere.
Status rootCause(std::span<const Status> statuses) {
  Status first;
  for (const Status &status : statuses) {
    if (status.ok())
      continue;
    // The first rank with a failure of its own has the cause.
    if (status.code() != StatusCode::aborted && status.code() != StatusCode::peerLost)
      return status;
    if (first.ok())
      first = status;
  }
  return first;
}

} // namespace meshplan
