//===- projection.h - a partitioned function as a problem -------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PROJECTION_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PROJECTION_H

#include "compiler/scheduling/problem.h"
#include "compiler/transforms/schedule/layout_table.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace meshplan {

/// The streams of every program, as indices into Problem::streams.
inline constexpr unsigned computeStream = 0, communicationStream = 1;

/// A communicator for each distinct list of axes, shared by all programs of a module, in the order of first use.
class CommunicatorTable {
public:
  /// Index of the communicator over the axes of a collective.
  unsigned get(mlir::ArrayAttr axes, LayoutTable &layouts);

  const std::vector<scheduling::Communicator> &list() const { return communicators; }

private:
  llvm::DenseMap<mlir::Attribute, unsigned> byAxes;
  std::vector<scheduling::Communicator> communicators;
};

/// A problem, and what its indices stand for.
struct ProjectedFunction {
  scheduling::Problem problem;
  /// One, or the collectives that are made in one piece.
  std::vector<llvm::SmallVector<mlir::Operation *, 1>> operations;
  std::vector<mlir::Value> buffers;
};

/// Projects a function. Arguments and constants become permanent buffers; calls, slices and collectives operations,
/// where collectives of one bucket that follow one another are one; what is returned is kept. Results of operators that
/// the records call views share the storage of their operand.
///
/// Fails, with a diagnostic at the op, if a sharding is undecided, an op is none that partition leaves, or a result is
/// partial.
mlir::FailureOr<ProjectedFunction> project(mlir::func::FuncOp function, LayoutTable &layouts,
                                           CommunicatorTable &communicators);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PROJECTION_H
