//===- positive_gates.h - gates that are not 0 ------------------*- C++ -*-===//
//
// A loop may take the tokens whose gate of an expert is not 0, `gates[:, e] > 0`. These are the tokens that have chosen
// the expert only if no gate of theirs is 0.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_LOOPS_POSITIVE_GATES_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_LOOPS_POSITIVE_GATES_H

#include "compiler/transforms/import/experts/sparse_gates.h"

namespace meshplan {

/// True if the elements are provably positive in exact arithmetic: they derive from a softmax, a sigmoid or an
/// exponential by operators that keep them positive. One that is rounded to 0 has no gradient: that of each of these
/// functions is a multiple of its result. So it makes no difference whether a token with such a gate is computed.
bool isPositive(SparseGatesReader &gates, mlir::Value value);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_LOOPS_POSITIVE_GATES_H
