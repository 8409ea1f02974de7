//===- rounds.h - repeated measurements on all ranks ------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CALIBRATE_ROUNDS_H
#define MESHPLAN_RUNTIME_CALIBRATE_ROUNDS_H

#include "runtime/comm/communicator.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace meshplan {

/// The table that a case belongs to; its cases differ in `size` or `shape`.
struct CaseTable {
  enum class Kind { product, operators, collective, copy, hostMemory };

  Kind kind = Kind::operators;
  std::string name;     ///< target of an operator, kind of a collective, or what is measured; empty: all operators
  std::string dtype;    ///< of operators
  bool byFlops = false; ///< sizes are flops, not bytes
  bool crosses = false; ///< of collectives: some ranks are on other machines
  int64_t ranks = 0;    ///< of collectives: ranks of a group
  std::string access;   ///< of operators by bytes: how operands are accessed (cluster_keys.h); empty: row-major

  friend bool operator==(const CaseTable &, const CaseTable &) = default;
};

/// Something to measure. All ranks have the same cases in the same order.
struct Case {
  CaseTable table;
  double size = 0;                   ///< flops or bytes
  std::array<int64_t, 3> shape = {}; ///< m, n and k of a product
  std::function<Status()> work;      ///< does it once; on a device, enqueues it
  int64_t equalParts = 1;            ///< of an operator by flops: the table has size and time of one of them
};

/// Seconds of a case: the median over the rounds of the mean over the ranks.
struct Measurement {
  double seconds = 0;
  double spread = 0; ///< half of the distance between the quartiles of the rounds, relative to the median
};

/// Measures all cases within about `budgetSeconds`, with at least three rounds. A collective of all ranks of `world`;
/// rank 0 receives the measurements, in the order of the cases, the others none.
Expected<std::vector<Measurement>> measureCases(World &world, std::vector<Case> &cases, double budgetSeconds);

/// Waits until everything that this rank has enqueued is done: operators and collectives.
Status finishWork(World &world);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CALIBRATE_ROUNDS_H
