//===- moves.h - the reshards of a partitioned program ----------*- C++ -*-===//
//
// A move is the result of lowering one reshard: collectives and slices, each on the result of the previous one, that
// one statement caused.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_REPORT_EXPLAIN_MOVES_H
#define MESHPLAN_COMPILER_REPORT_EXPLAIN_MOVES_H

#include "compiler/sharding/dataflow/module_border.h"
#include "llvm/ADT/SetVector.h"

namespace meshplan {

struct Move {
  llvm::SmallVector<mlir::Operation *, 2> steps;

  mlir::Value input() const { return steps.front()->getOperand(0); }
  mlir::Value result() const { return steps.back()->getResult(0); }
  /// The statement that caused it, if its location is known.
  mlir::Location statement() const { return plan::withCauses(steps.front()->getLoc(), {}); }
};

/// Indices of moves, in the order in which they were found.
using MoveSet = llvm::SetVector<unsigned>;

/// All moves of a function. The function must not change while this lives.
class MoveTable {
public:
  explicit MoveTable(mlir::func::FuncOp function);

  const Move &operator[](unsigned index) const { return moves[index]; }

  /// Adds the moves between the origin of `value` and the value.
  void addWayTo(mlir::Value value, MoveSet &set) const;

  /// Adds the moves that begin at `value`.
  void addMovesFrom(mlir::Value value, MoveSet &set) const;

  /// Adds the moves that begin or end at a call of the module.
  void addMovesOf(llvm::StringRef module, MoveSet &set) const;

  /// Adds the moves that the layout of a parameter or an input causes: moves of the value itself; moves of the
  /// activations that are combined with a split parameter, or that move because of its statement; and moves of later
  /// values as long as the statement determines their layout (partial sums that are reduced, a loss over split logits).
  void addCausedBy(mlir::BlockArgument parameter, MoveSet &set) const;

private:
  void addOperandMoves(plan::CallOp call, const llvm::SmallPtrSetImpl<void *> &weights, mlir::BlockArgument parameter,
                       MoveSet &set) const;
  void addMovesBehind(plan::CallOp call, mlir::Location statement, MoveSet &set) const;

  llvm::SmallVector<Move> moves;
  llvm::DenseMap<mlir::Operation *, unsigned> moveOf; ///< of each step
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_EXPLAIN_MOVES_H
