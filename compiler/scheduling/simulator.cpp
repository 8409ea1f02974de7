//===- simulator.cpp - walks steps and keeps the time ---------------------===//

#include "compiler/scheduling/simulator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include <algorithm>
#include <limits>

using namespace meshplan::scheduling;

static constexpr int64_t never = std::numeric_limits<int64_t>::max();

/// Part of `whole` that `part` is, of fullSpeed.
static int64_t fraction(int64_t part, int64_t whole) { return whole == 0 ? 0 : part * fullSpeed / whole; }

static Cost costOf(const Problem &problem, const Operation &operation) {
  Cost cost;
  cost.lane = operation.lane;
  cost.isAsynchronous = problem.isAsynchronous(operation);
  cost.latency = operation.latency;
  cost.work = problem.timeAlone(operation) - operation.latency;
  for (const Transfer &transfer : operation.transfers)
    cost.shares.push_back(
        {transfer.link, fraction(timeOnLink(transfer.bytes, problem.links[transfer.link].bytesPerSecond), cost.work)});
  return cost;
}

CostTable::CostTable(const Problem &problem)
    : lanes(problem.lanes.size()), overlapSpeed(problem.overlapSpeed), issueTime(problem.issueTime),
      hostComputes(problem.hostComputes) {
  for (const Link &link : problem.links)
    shared.push_back(fraction(link.sharedRate, 1000));
  operations.reserve(problem.operations.size());
  for (const Operation &operation : problem.operations)
    operations.push_back(costOf(problem, operation));
}

int64_t Simulator::backlog(unsigned lane) const {
  const LaneState &state = lanes[lane];
  if (state.queue.empty())
    return 0;
  const Cost &first = costs->operations[state.queue.front()];
  int64_t sum = state.left / fullSpeed + (state.transfers ? 0 : first.work);
  for (unsigned operation : llvm::drop_begin(state.queue))
    sum += costs->operations[operation].alone();
  return sum;
}

Simulator::Actives Simulator::findActive() {
  Actives actives;
  if (computing)
    actives.push_back({computing, &computeLeft, /*computes=*/true, fullSpeed});
  for (LaneState &lane : lanes)
    if (!lane.queue.empty())
      actives.push_back({&costs->operations[lane.queue.front()], &lane.left, /*computes=*/false, fullSpeed});
  return actives;
}

/// Speeds under max-min fairness: all rise together until a link is full; those that use it stay, the others rise
/// further.
void Simulator::share(Actives &actives) const {
  llvm::SmallVector<int64_t, 8> used(costs->shared.size(), 0), rate(costs->shared.size(), fullSpeed);
  for (const Active &active : actives)
    for (const Share &share : active.cost->shares) {
      if (used[share.link] > 0 && share.part > 0)
        rate[share.link] = costs->shared[share.link];
      used[share.link] += share.part;
    }
  if (llvm::all_of(llvm::zip_equal(used, rate), [](auto pair) { return std::get<0>(pair) <= std::get<1>(pair); }))
    return; // the common case: everything at full speed
  llvm::SmallVector<Active *, 4> rising = llvm::map_to_vector(actives, [](Active &active) { return &active; });
  // What is left of each link, times fullSpeed; `used` is what those that still rise use of it.
  llvm::SmallVector<int64_t, 8> left = llvm::map_to_vector<8>(rate, [](int64_t each) { return each * fullSpeed; });
  while (!rising.empty()) {
    int64_t level = fullSpeed;
    for (auto [free, sum] : llvm::zip_equal(left, used))
      if (sum > 0)
        level = std::min(level, free / sum);
    auto isFull = [&](const Share &share) {
      return left[share.link] / std::max<int64_t>(used[share.link], 1) <= level;
    };
    llvm::SmallVector<Active *, 4> stay, further;
    for (Active *active : rising)
      (level == fullSpeed || llvm::any_of(active->cost->shares, isFull) ? stay : further).push_back(active);
    for (Active *active : stay) {
      active->speed = std::max<int64_t>(level, 1);
      for (const Share &share : active->cost->shares) {
        left[share.link] -= level * share.part;
        used[share.link] -= share.part;
      }
    }
    rising = std::move(further);
  }
}

void Simulator::slowDown(Actives &actives) const {
  bool computes = llvm::any_of(actives, [](const Active &active) { return active.computes; });
  bool transfers = llvm::any_of(actives, [](const Active &active) { return !active.computes; });
  if (!computes || !transfers)
    return;
  for (Active &active : actives)
    active.speed = std::max<int64_t>(
        active.speed * (active.computes ? costs->overlapSpeed.compute : costs->overlapSpeed.transfer) / 1000, 1);
}

void Simulator::beginFirst(LaneState &lane) {
  unsigned operation = lane.queue.front();
  lane.transfers = false;
  lane.left = costs->operations[operation].latency * fullSpeed;
  if (recorded)
    recorded->intervals[operation].begin = time;
  if (lane.left == 0)
    finishFirst(lane);
}

/// The latency of the first operation of a lane, or its transfer, is over.
void Simulator::finishFirst(LaneState &lane) {
  unsigned operation = lane.queue.front();
  if (!lane.transfers && costs->operations[operation].work > 0) {
    lane.transfers = true;
    lane.left = costs->operations[operation].work * fullSpeed;
    return;
  }
  if (recorded)
    recorded->intervals[operation].end = time;
  lane.queue.erase(lane.queue.begin());
  if (!lane.queue.empty())
    beginFirst(lane);
}

void Simulator::advance(int64_t end) {
  Actives actives = findActive(), sharing;
  // An operation in its latency uses nothing, and slows nothing down.
  for (const Active &active : actives) {
    bool inLatency = !active.computes && !lanes[active.cost->lane].transfers;
    if (!inLatency)
      sharing.push_back(active);
  }
  share(sharing);
  slowDown(sharing);
  llvm::erase_if(actives, [&](const Active &active) {
    return llvm::any_of(sharing, [&](const Active &other) { return other.left == active.left; });
  });
  actives.append(sharing);
  int64_t next = end;
  for (const Active &active : actives)
    next = std::min(next, time + (*active.left + active.speed - 1) / active.speed);
  int64_t passed = next - time;
  time = next;
  for (const Active &active : actives)
    *active.left -= std::min(*active.left, passed * active.speed);
  for (LaneState &lane : lanes)
    if (!lane.queue.empty() && lane.left == 0)
      finishFirst(lane);
}

/// The host issues an operation; until then the compute lane has nothing to do.
void Simulator::issue() {
  int64_t before = time, atHost = (costs->hostComputes ? time : issuedAt) + costs->issueTime;
  issuedAt = atHost;
  while (time < atHost)
    advance(atHost);
  if (recorded)
    recorded->waitsForHost += time - before;
}

void Simulator::run(unsigned operation) {
  // Views take no time. A host that computes issues an operator by running it.
  if (!costs->hostComputes && costs->operations[operation].work > 0)
    issue();
  if (recorded)
    recorded->intervals[operation].begin = time;
  computing = &costs->operations[operation];
  computeLeft = computing->work * fullSpeed;
  while (computeLeft > 0)
    advance(never);
  computing = nullptr;
  if (recorded)
    recorded->intervals[operation].end = time;
}

void Simulator::start(unsigned operation) {
  issue();
  LaneState &lane = lanes[costs->operations[operation].lane];
  lane.queue.push_back(operation);
  if (lane.queue.size() == 1)
    beginFirst(lane);
}

void Simulator::wait(unsigned operation) {
  const LaneState &lane = lanes[costs->operations[operation].lane];
  if (recorded)
    recorded->waits[operation].begin = time;
  while (!isOver(operation)) {
    unsigned first = lane.queue.front();
    int64_t before = time;
    advance(never);
    if (recorded)
      recorded->exposed[first] += time - before;
  }
  if (recorded)
    recorded->waits[operation].end = time;
}
