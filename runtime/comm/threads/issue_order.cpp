//===- issue_order.cpp - ranks start collectives in one order -------------===//

#include "runtime/comm/threads/issue_order.h"

#include <algorithm>
#include <utility>

using namespace meshplan;

static constexpr int64_t forward = 1, backward = -1;

const IssueOrder::Start *IssueOrder::List::at(int64_t position) const {
  int64_t index = position - forgotten;
  return index < 0 || index >= static_cast<int64_t>(starts.size()) ? nullptr : &starts[index];
}

Status IssueOrder::start(int64_t rank, int64_t collective, std::span<const int64_t> members, std::string what) {
  auto [node, isNew] = nodes.try_emplace(collective);
  if (isNew)
    node->second = {{members.begin(), members.end()}, {}, nextOrder++};
  List &list = lists[rank];
  int64_t position = list.forgotten + static_cast<int64_t>(list.starts.size());
  node->second.positions[rank] = position;
  list.starts.push_back({collective, std::move(what)});
  if (const Start *previous = list.at(position - 1))
    MESHPLAN_RETURN_IF_ERROR(insert({rank, previous->collective, collective}));
  forget(collective);
  return Status();
}

/// The edges to the next (or previous) collective of each rank that has started this one.
std::vector<IssueOrder::Edge> IssueOrder::edges(int64_t collective, int64_t direction) const {
  std::vector<Edge> found;
  for (auto [rank, position] : nodes.at(collective).positions)
    if (const Start *other = lists[rank].at(position + direction))
      found.push_back(direction == forward ? Edge{rank, collective, other->collective}
                                           : Edge{rank, other->collective, collective});
  return found;
}

/// The collectives that can be reached from `begin`, `begin` included, each with the edge that reached it first. Does
/// not go beyond the collective whose order is `limit`.
std::map<int64_t, IssueOrder::Edge> IssueOrder::reachable(int64_t begin, int64_t direction, int64_t limit) const {
  std::map<int64_t, Edge> reached = {{begin, {-1, begin, begin}}};
  for (std::deque<int64_t> open = {begin}; !open.empty(); open.pop_front())
    for (const Edge &edge : edges(open.front(), direction)) {
      int64_t next = direction == forward ? edge.to : edge.from;
      if (direction * (nodes.at(next).order - limit) <= 0 && reached.emplace(next, edge).second)
        open.push_back(next);
    }
  return reached;
}

Status IssueOrder::insert(const Edge &edge) {
  int64_t lower = nodes.at(edge.to).order, upper = nodes.at(edge.from).order;
  if (upper < lower)
    return Status();
  std::map<int64_t, Edge> after = reachable(edge.to, forward, upper);
  if (!after.contains(edge.from)) {
    reorder(reachable(edge.from, backward, lower), after);
    return Status();
  }
  // Back from the end of the path to its begin. The new edge closes the cycle.
  std::vector<Edge> cycle = {edge};
  for (int64_t at = edge.from; at != edge.to; at = cycle.back().from)
    cycle.push_back(after.at(at));
  std::ranges::reverse(cycle);
  return cycleOf(std::move(cycle));
}

/// Gives the two sets the orders that they have together, those of `before` first; each set keeps its own order.
void IssueOrder::reorder(const std::map<int64_t, Edge> &before, const std::map<int64_t, Edge> &after) {
  std::vector<Node *> all;
  for (const auto *set : {&before, &after}) {
    auto begin = static_cast<std::ptrdiff_t>(all.size());
    for (const auto &[collective, edge] : *set)
      all.push_back(&nodes.at(collective));
    std::ranges::sort(all.begin() + begin, all.end(), {}, &Node::order);
  }
  std::vector<int64_t> orders;
  for (const Node *node : all)
    orders.push_back(node->order);
  std::ranges::sort(orders);
  for (size_t i = 0; i < all.size(); ++i)
    all[i]->order = orders[i];
}

/// Forgets the collective if all members have started it and everything before it is forgotten: nothing can come before
/// it any more. Then does the same for what follows it.
void IssueOrder::forget(int64_t collective) {
  for (std::vector<int64_t> open = {collective}; !open.empty();) {
    auto node = nodes.find(open.back());
    open.pop_back();
    if (node == nodes.end() || node->second.positions.size() < node->second.members.size())
      continue;
    const std::map<int64_t, int64_t> positions = node->second.positions;
    if (std::ranges::any_of(positions, [&](auto each) { return lists[each.first].forgotten != each.second; }))
      continue;
    nodes.erase(node);
    for (auto [rank, position] : positions) {
      lists[rank].starts.pop_front();
      ++lists[rank].forgotten;
      if (!lists[rank].starts.empty())
        open.push_back(lists[rank].starts.front().collective);
    }
  }
}

std::string IssueOrder::describe(int64_t rank, int64_t collective) const {
  return lists[rank].at(nodes.at(collective).positions.at(rank))->what;
}

Status IssueOrder::cycleOf(std::vector<Edge> edges) const {
  std::string text;
  for (size_t i = 0; i < edges.size(); ++i) {
    // Steps of one rank in a row are one step.
    if (i + 1 < edges.size() && edges[i + 1].rank == edges[i].rank) {
      edges[i + 1].from = edges[i].from;
      continue;
    }
    const auto &[rank, from, to] = edges[i];
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(rank) + " started " + describe(rank, from) +
            " before " + describe(rank, to);
  }
  return Status::error(StatusCode::invalid, "the ranks start what they share in different orders: ", text,
                       "; help: start it in one order on all ranks; sends of two ranks to each other are one permute");
}

Status IssueOrder::wait(int64_t rank, int64_t collective) {
  waits[rank] = collective;
  // Who waits for whom: a rank for each member that has not started its collective.
  std::map<int64_t, int64_t> waiter = {{rank, -1}};
  for (std::deque<int64_t> open = {rank}; !open.empty(); open.pop_front()) {
    int64_t from = open.front();
    auto node = nodes.find(*waits[from]);
    if (node == nodes.end()) // it has become ready, and the rank is about to wake
      continue;
    for (int64_t member : node->second.members) {
      if (node->second.positions.contains(member) || !waits[member])
        continue;
      if (waiter.emplace(member, from).second)
        open.push_back(member);
      if (member != rank)
        continue;
      std::string text;
      for (int64_t to = member, at = from; at != -1; to = std::exchange(at, waiter.at(at)))
        text = "rank " + std::to_string(at) + " waits for " + describe(at, *waits[at]) + ", which rank " +
               std::to_string(to) + " has not started" + (text.empty() ? "" : "; ") + text;
      return Status::error(StatusCode::invalid, "the ranks wait for each other: ", text,
                           "; help: start what they share in one order on all ranks; sends of two ranks to each other "
                           "are one permute");
    }
  }
  return Status();
}
