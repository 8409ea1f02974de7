//===- random_problem.h - consistent problems of any kind -------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_SCHEDULING_RANDOM_PROBLEM_H
#define MESHPLAN_TEST_UNIT_SCHEDULING_RANDOM_PROBLEM_H

#include "compiler/scheduling/problem.h"
#include "llvm/ADT/STLExtras.h"
#include <random>

namespace meshplan::scheduling {

/// A problem that check() accepts: computing and collectives on four lanes over five communicators that overlap in all
/// ways, two links, views, outputs and control dependencies. Determined by the seed.
inline Problem randomProblem(unsigned seed) {
  std::mt19937 random(seed);
  auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
  Problem problem;
  problem.lanes = {{"compute"},
                   {"one", LaneKind::collectives},
                   {"two", LaneKind::collectives},
                   {"three", LaneKind::collectives},
                   {"copies", LaneKind::copies}};
  problem.links = {{"node", 1'000'000'000}, {"network", 500'000'000}};
  problem.communicators = {{"tp", {{1, 1, 4}}},
                           {"dp", {{0, 1, 2}}},
                           {"world", {{0, 1, 2}, {1, 1, 4}}},
                           {"outer", {{1, 1, 2}}},
                           {"inner", {{1, 2, 2}}}};
  problem.buffers = {{"w", {8}, /*permanent=*/true}, {"x", {8}, /*permanent=*/true}};
  for (unsigned index = 0, count = 1 + below(12); index < count; ++index) {
    Operation operation;
    operation.name = "o" + std::to_string(index);
    if (below(2)) {
      if (below(8) == 0) {
        operation.lane = 4;
      } else {
        operation.communicator = below(5);
        operation.lane = 1 + *operation.communicator % 3;
      }
      operation.latency = below(4);
      for (unsigned link = 0; link < 2; ++link)
        if (below(2))
          operation.transfers.push_back({link, below(20)});
    } else {
      operation.duration = below(20);
    }
    for (unsigned read = 0, reads = below(3); read < reads; ++read)
      operation.consumed.push_back(below(problem.buffers.size()));
    if (index > 0 && below(4) == 0)
      operation.after.push_back(below(index));
    if (below(8)) {
      Buffer buffer{"b" + std::to_string(index), {1 + below(9)}, false, below(4) == 0, {}};
      if (operation.lane == 0 && !operation.consumed.empty() && below(3) == 0) {
        buffer.viewOf = operation.consumed.front();
        buffer.bytes = {0};
      }
      operation.produced.push_back(problem.buffers.size());
      problem.buffers.push_back(buffer);
    }
    problem.operations.push_back(operation);
  }
  return problem;
}

/// The problem with up to four sets of operations that may be split, with costs from which some splits pay. Determined
/// by the seed.
inline Problem withSplittables(Problem problem, unsigned seed) {
  std::mt19937 random(seed);
  auto below = [&](int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); };
  for (unsigned set = 0; set < 4; ++set) {
    Splittable splittable;
    splittable.name = "s" + std::to_string(set);
    splittable.parts = 2 + below(2);
    bool computes = false, communicates = false;
    for (unsigned index = 0; index < problem.operations.size(); ++index) {
      const Operation &operation = problem.operations[index];
      if (operation.produced.size() != 1 || problem.buffers[operation.produced.front()].viewOf ||
          !operation.overwritten.empty() || !operation.instances.empty() || below(3) == 0)
        continue;
      SplitMember member;
      member.operation = index;
      if (problem.isAsynchronous(operation)) {
        communicates = true;
        member.latency = below(3);
        for (Transfer transfer : operation.transfers)
          member.transfers.push_back({transfer.link, transfer.bytes / splittable.parts + below(3)});
      } else {
        computes = true;
        member.duration = operation.duration / splittable.parts + below(3);
      }
      for (int64_t bytes : problem.buffers[operation.produced.front()].bytes)
        member.bytes.push_back((bytes + splittable.parts - 1) / splittable.parts);
      for (unsigned buffer : operation.consumed)
        if (below(2) && !llvm::is_contained(member.rows, buffer))
          member.rows.push_back(buffer);
      member.joinTime = below(3);
      splittable.members.push_back(member);
    }
    if (computes && communicates)
      problem.splittables.push_back(splittable);
  }
  return problem;
}

} // namespace meshplan::scheduling

#endif // MESHPLAN_TEST_UNIT_SCHEDULING_RANDOM_PROBLEM_H
