//===- build_problem.h - a function as a scheduling problem -----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_BUILD_PROBLEM_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_BUILD_PROBLEM_H

#include "compiler/cluster/cluster.h"
#include "compiler/scheduling/problem.h"
#include "compiler/transforms/schedule/communicator_table.h"
#include "compiler/transforms/schedule/row_parts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace meshplan {

/// The lane of every program that computes, as an index into Problem::lanes. After it there is one lane for each
/// communicator and one for each direction of copies.
inline constexpr unsigned computeLane = 0;

/// A problem, and the IR that its indices refer to.
struct ProjectedFunction {
  scheduling::Problem problem;
  /// By operation: a single op, or coalesced collectives. One that packs or unpacks has the ops of its collective, and
  /// a part the op that it is a part of.
  std::vector<llvm::SmallVector<mlir::Operation *, 1>> operations;
  /// By buffer: its value. Null for a buffer in which a collective sends or receives packed tensors, and for the result
  /// of a part.
  std::vector<mlir::Value> buffers;
  StrideTable strides;
  /// By splittable of the problem, then by its members.
  std::vector<std::vector<RowDims>> rowDims;
  /// By operation; none if it is whole. Empty if nothing is split.
  std::vector<std::optional<Part>> parts;

  /// The part that an operation is, or null.
  const Part *partOf(unsigned operation) const {
    return parts.empty() || !parts[operation] ? nullptr : &*parts[operation];
  }
};

/// Projects a function. Arguments and constants become permanent buffers. Calls, slices and collectives become
/// operations; adjacent collectives of one bucket become a single operation. A collective that cannot move its tensors
/// where they are has an operation that packs them before it, or one that unpacks them after it, or both. Returned
/// temporaries are kept. Results that the records declare to be views share the storage of their operand. Durations are
/// those of `cluster`. There is a lane for each communicator that the function uses, because a backend has one for each
/// (runtime/comm/communicator.h), and one for each direction in which it copies between device and host memory, with a
/// link of its own (runtime/tensor/copy_lane.h).
///
/// Fails with a diagnostic at the op if a sharding is undecided, if an extent is unknown, if partition should not have
/// left the op, or if a result other than the next value of an accumulator is partial.
mlir::FailureOr<ProjectedFunction> project(mlir::func::FuncOp function, const Cluster &cluster, LayoutTable &layouts,
                                           CommunicatorTable &communicators);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_BUILD_PROBLEM_H
