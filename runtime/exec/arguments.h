//===- arguments.h - arguments of the artifact for one rank -----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_ARGUMENTS_H
#define MESHPLAN_RUNTIME_EXEC_ARGUMENTS_H

#include "runtime/exec/rank_view.h"
#include "runtime/tensor/operator.h"

namespace meshplan {

/// The arguments of an instruction on this rank. Integers that depend on the rank and the microbatch are evaluated.
std::vector<Argument> argumentsOf(const artifact::Compute &compute, const RankView &view, int64_t microbatch = 0);

/// True if an integer argument depends on the microbatch.
bool dependsOnMicrobatch(const artifact::Compute &compute);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_ARGUMENTS_H
