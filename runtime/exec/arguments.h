//===- arguments.h - arguments of the artifact for one rank ------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_ARGUMENTS_H
#define MESHPLAN_RUNTIME_EXEC_ARGUMENTS_H

#include "runtime/exec/rank_view.h"
#include "runtime/tensor/operator.h"

namespace meshplan {

/// The arguments of an instruction, with integers that depend on the rank settled.
std::vector<Argument> argumentsOf(const artifact::Compute &compute, const RankView &view);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_ARGUMENTS_H
