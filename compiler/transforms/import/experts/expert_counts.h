//===- expert_counts.h - numbers of rows by expert --------------*- C++ -*-===//
//
// Products of grouped rows read where the rows of each expert end: the running sum of how many pairs have chosen it.
// Models count in several ways, and not always from the tensor that they sort. These functions read the numbers back
// to the tensor that is counted; whether that is the choice is for the caller to say.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_EXPERT_COUNTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_EXPERT_COUNTS_H

#include "compiler/transforms/import/experts/sparse_gates.h"

namespace meshplan {

/// A tensor of numbers of experts, in any order and shape, whose elements are counted.
struct CountedExperts {
  mlir::Value ids;        ///< null if that is not proven
  mlir::Value understood; ///< if `ids` is null: the earliest value that has been read
};

/// `ends` [experts]: element e is how many of the numbers are at most e, if all are in [0, experts).
CountedExperts readEnds(SparseGatesReader &gates, mlir::Value ends);

/// The tensor that has the same numbers, in another order, shape or type: the first one that any value of this function
/// leads to.
mlir::Value sourceOfNumbers(mlir::Value ids);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_EXPERT_COUNTS_H
