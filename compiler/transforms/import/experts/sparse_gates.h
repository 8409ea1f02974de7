//===- sparse_gates.h - tensors that matter at chosen experts ---*- C++ -*-===//
//
// Models that compute every expert for every token often compute gates for all experts, too, and make those of experts
// that a token has not chosen 0:
//
//   mask  = scatter(zeros [64, 8], indices [64, 2], 1)
//   gates = softmax(where(mask, scores, -inf)) [64, 8]
//
// Such a tensor has one number, the fill, wherever the token has not chosen the expert. What it has elsewhere are as
// many values as there are indices, here softmax(gather(scores, indices)) [64, 2].
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_SPARSE_GATES_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_SPARSE_GATES_H

#include "compiler/sharding/op_record.h"
#include "compiler/transforms/import/index_functions/index_functions.h"

namespace meshplan {

/// A tensor [*tokens, experts] that is `fill` but at `indices`, which differ for each token.
struct SparseGates {
  mlir::Value indices; ///< [*tokens, slots]; a view of the tensor may have divided the tokens into other dims
  mlir::Value values;  ///< [*tokens, slots]; null: `number` everywhere
  double number = 0;
  double fill = 0;
};

/// Reads tensors as sparse ones, and caches the results.
class SparseGatesReader {
public:
  explicit SparseGatesReader(IndexFunctions &functions) : functions(functions) {}

  IndexFunctions &functions;

  /// nullopt if the tensor is not provably sparse. Calls that compute the values are inserted before those that make
  /// the tensor; they change nothing else, and may remain unread.
  std::optional<SparseGates> read(mlir::Value tensor);

  /// What a tensor [*tokens, experts] has at the indices [*tokens, slots], or one that broadcasts to it along the
  /// experts; or null. The same tensor each time.
  mlir::Value atChosen(mlir::Value tensor, mlir::Value indices, plan::CallOp place);

  /// The numbers of one expert for each token with a dim for the slot. The same tensor each time.
  mlir::Value withSlot(mlir::Value ids);

  /// One slot of what a call makes, [*tokens, slots], without a dim for it. The same tensor each time.
  mlir::Value ofSlot(mlir::Value tensor, int64_t slot);

private:
  std::optional<SparseGates> compute(mlir::Value tensor);
  std::optional<SparseGates> readScatter(plan::CallOp call, const CallView &view);
  std::optional<SparseGates> readOneHot(plan::CallOp call, const CallView &view);
  std::optional<SparseGates> readOneHotProduct(plan::CallOp call, const CallView &view);
  std::optional<SparseGates> readSelection(plan::CallOp call, const CallView &view);
  std::optional<SparseGates> readProduct(plan::CallOp call, const CallView &view);
  std::optional<SparseGates> readSum(plan::CallOp call, const CallView &view);
  std::optional<SparseGates> readComparison(plan::CallOp call, const CallView &view);
  std::optional<SparseGates> readSoftmax(plan::CallOp call, const CallView &view);
  std::optional<SparseGates> readFunction(plan::CallOp call, const CallView &view);
  std::optional<SparseGates> readOneHotOfOne(plan::CallOp call, const CallView &view);
  std::optional<SparseGates> oneHotSum(mlir::Value sum, mlir::Value vectors, mlir::Value values);
  bool differ(mlir::Value indices, int64_t experts);

  llvm::DenseMap<mlir::Value, std::optional<SparseGates>> known;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, mlir::Value> gathered;
  llvm::DenseMap<mlir::Value, mlir::Value> slotted;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> singled;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_SPARSE_GATES_H
