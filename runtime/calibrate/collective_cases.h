//===- collective_cases.h - collectives to measure --------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CALIBRATE_COLLECTIVE_CASES_H
#define MESHPLAN_RUNTIME_CALIBRATE_COLLECTIVE_CASES_H

#include "runtime/calibrate/rounds.h"
#include "runtime/tensor/tensor.h"

namespace meshplan {

/// Collectives over groups of neighbouring ranks, for each divisor of the number of ranks from 2 on; all groups of one
/// size at once. `machines` names the machine of each rank. Sizes are the bytes that a rank sends, as the compiler
/// counts them (dialect/base/collectives.h). A collective of all ranks; the cases belong to `world`.
Expected<std::vector<Case>> collectiveCases(World &world, const std::vector<std::string> &machines);

/// An all-gather among all ranks, of about `bytes` sent by each.
class GatherOfAll {
public:
  static Expected<GatherOfAll> create(World &world, const std::string &name, int64_t bytes);

  Expected<Pending> start();
  Status run() { return waitFor(start()); }

private:
  std::shared_ptr<Group> group;
  Tensor input, output;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CALIBRATE_COLLECTIVE_CASES_H
