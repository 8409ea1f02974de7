//===- simulator.h - walks steps and keeps the time -------------*- C++ -*-===//
//
// The event simulation that simulate() and the solvers share. A Simulator is a small value: a solver copies it, tries
// steps and drops the copy.
//
// All arithmetic is on integers, so that every host computes the same times. Work is counted in 2^-20 nanoseconds
// alone; speeds and shares of a link are fractions of 2^20.
//
// Thread safe for several simulators of one CostTable.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_SIMULATOR_H
#define MESHPLAN_COMPILER_SCHEDULING_SIMULATOR_H

#include "compiler/scheduling/problem.h"
#include "llvm/ADT/ArrayRef.h"

namespace meshplan::scheduling {

inline constexpr int64_t fullSpeed = int64_t(1) << 20;

/// Part of a link that an operation takes at full speed.
struct Share {
  unsigned link = 0;
  int64_t part = 0; ///< of fullSpeed
};

/// What an operation costs, as the simulator needs it.
struct Cost {
  unsigned lane = 0;
  bool isAsynchronous = false;
  int64_t latency = 0; ///< nanoseconds
  int64_t work = 0;    ///< of computing, or of the transfer after the latency: nanoseconds alone
  llvm::SmallVector<Share, 2> shares;

  int64_t alone() const { return latency + work; }
};

/// Costs of all operations of a checked problem. Refers to the problem only while it is built.
struct CostTable {
  explicit CostTable(const Problem &problem);

  std::vector<Cost> operations;
  unsigned lanes;
  std::vector<int64_t> shared; ///< by link: what several operations have of it together, of fullSpeed
  OverlapSpeed overlapSpeed;
  int64_t issueTime;
  bool hostComputes;
};

/// When an operation begins and ends, in nanoseconds from the beginning of the program.
struct Interval {
  int64_t begin = 0, end = 0;

  int64_t length() const { return end - begin; }
  bool operator==(const Interval &) const = default;
};

/// What a simulator writes down while it walks; one entry for each operation.
struct SimulationRecord {
  std::vector<Interval> intervals;
  std::vector<int64_t> exposed;
  std::vector<Interval> waits; ///< in which the compute lane waits for the operation
  int64_t waitsForHost = 0;
};

/// Walks steps; simulate.h defines what they mean. The caller keeps rules V1 to V3.
class Simulator {
public:
  explicit Simulator(const CostTable &costs) : costs(&costs), lanes(costs.lanes) {}

  void run(unsigned operation);
  void start(unsigned operation);
  void wait(unsigned operation);

  /// The time at which the compute lane is done with the steps so far.
  int64_t now() const { return time; }

  /// False if the operation was started and is not over now.
  bool isOver(unsigned operation) const {
    return !llvm::is_contained(lanes[costs->operations[operation].lane].queue, operation);
  }

  /// Nanoseconds for which a lane is still occupied, if its transfers share nothing from now on.
  int64_t backlog(unsigned lane) const;

  /// A lane other than the compute lane. The first operation of the queue is in its latency, or it transfers.
  struct LaneState {
    llvm::SmallVector<unsigned, 4> queue;
    bool transfers = false;
    int64_t left = 0; ///< of the latency or the transfer of the first one, in 2^-20 nanoseconds
  };
  const LaneState &laneOf(unsigned lane) const { return lanes[lane]; }

  /// Writes intervals and exposed times into `record`, which must outlive the simulator.
  void recordInto(SimulationRecord &record) { recorded = &record; }

private:
  /// Something that proceeds now.
  struct Active {
    const Cost *cost;
    int64_t *left;
    bool computes;
    int64_t speed;
  };
  using Actives = llvm::SmallVector<Active, 4>;

  void issue();
  Actives findActive();
  void share(Actives &actives) const;
  void slowDown(Actives &actives) const;
  /// Continues to the next event, or to `end` if that is earlier.
  void advance(int64_t end);
  void beginFirst(LaneState &lane);
  void finishFirst(LaneState &lane);

  const CostTable *costs;
  SimulationRecord *recorded = nullptr;
  int64_t time = 0, issuedAt = 0;
  const Cost *computing = nullptr;
  int64_t computeLeft = 0; ///< in 2^-20 nanoseconds
  llvm::SmallVector<LaneState, 4> lanes;
};

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_SIMULATOR_H
