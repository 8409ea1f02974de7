//===- exchanged_experts.cpp - to which ranks rows go ---------------------===//
//
// Example: 8 experts over tp = 2 and dp = 2, and an exchange over dp. The counts of a rank with tp = 1 have the columns
// of experts 4 to 7; rank dp = 0 of its group has the first two of them, and dp = 1 the others.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/moves/exchanged_experts.h"

using namespace meshplan;

bool meshplan::goesToExperts(const RankView &view, const artifact::Start &start) {
  return view.value(start.input()).routed()->kind() == artifact::RoutedKind::rows;
}

std::vector<Range> meshplan::exchangedExperts(const RankView &view, const artifact::Start &start,
                                              std::span<const int64_t> group) {
  int arrivals = goesToExperts(view, start) ? start.output() : start.input();
  int64_t first = view.ranges(start.counts())[1].front().offset;
  std::vector<Range> experts;
  for (int64_t rank : group) {
    Range own = view.peer(rank).ranges(arrivals)[0].front();
    experts.push_back({own.offset - first, own.size});
  }
  return experts;
}
