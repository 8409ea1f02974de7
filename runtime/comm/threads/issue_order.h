//===- issue_order.h - ranks start collectives in one order -----*- C++ -*-===//
//
// Checks at run time what the verifier of the schedule proves before: the lists of what the ranks start, joined at the
// collectives that they share, have no cycle. A cycle hangs a backend whose communicators run one collective at a time,
// such as NCCL with its streams; between ranks that wait for each other's starts it hangs every backend.
//
// Example. Rank 0 starts all-reduce 4 on 'tp', then all-gather 5 on 'dp'. Rank 1 is in both groups and starts
// all-gather 5 first. Its start of all-reduce 4 closes the cycle 4 -> 5 -> 4 and fails. If rank 0 waits for 4 before it
// starts 5, and rank 1 for 5 before it starts 4, no start closes a cycle, but the second wait does.
//
// Starts: a dynamic topological order (Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic
// graphs", 2007). While the ranks agree, a start takes constant time. A collective is forgotten when no cycle can go
// through it any more, so memory is bounded by how far the ranks are apart.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_THREADS_ISSUE_ORDER_H
#define MESHPLAN_RUNTIME_COMM_THREADS_ISSUE_ORDER_H

#include "runtime/base/status.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace meshplan {

/// Whether the backend checks: in builds with assertions.
#ifdef NDEBUG
inline constexpr bool checksIssueOrder = false;
#else
inline constexpr bool checksIssueOrder = true;
#endif

/// Not thread safe. After a failure the object is of no further use.
class IssueOrder {
public:
  explicit IssueOrder(int64_t ranks) : lists(ranks), waits(ranks) {}

  /// `rank` starts its part, described by `what`, of a collective of `members`. `collective` identifies it on all
  /// ranks. `invalid`, with the collectives, ranks and orders of the cycle, if the ranks started collectives in
  /// different orders.
  Status start(int64_t rank, int64_t collective, std::span<const int64_t> members, std::string what);

  /// `rank` blocks until all members have started the collective. `invalid` if a member waits, directly or through
  /// others, for a start of `rank`.
  Status wait(int64_t rank, int64_t collective);
  void endWait(int64_t rank) { waits[rank].reset(); }

  /// Number of collectives that are kept.
  size_t size() const { return nodes.size(); }

private:
  struct Start {
    int64_t collective;
    std::string what;
  };
  /// The starts of a rank, without the collectives that are forgotten.
  struct List {
    int64_t forgotten = 0;
    std::deque<Start> starts;

    /// Null if there is none at this position, counted from the first start of the run.
    const Start *at(int64_t position) const;
  };
  struct Node {
    std::vector<int64_t> members;
    std::map<int64_t, int64_t> positions; // of those that have started it: rank, position in its list
    int64_t order;                        // smaller than that of everything after it
  };
  /// `rank` started `from` before `to`.
  struct Edge {
    int64_t rank, from, to;
  };

  std::vector<Edge> edges(int64_t collective, int64_t direction) const;
  Status insert(const Edge &edge);
  std::map<int64_t, Edge> reachable(int64_t begin, int64_t direction, int64_t limit) const;
  void reorder(const std::map<int64_t, Edge> &before, const std::map<int64_t, Edge> &after);
  void forget(int64_t collective);
  std::string describe(int64_t rank, int64_t collective) const;
  Status cycleOf(std::vector<Edge> edges) const;

  std::vector<List> lists; // by rank
  std::vector<std::optional<int64_t>> waits;
  std::map<int64_t, Node> nodes;
  int64_t nextOrder = 0;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_THREADS_ISSUE_ORDER_H
