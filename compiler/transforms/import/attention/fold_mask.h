//===- fold_mask.h - folds an attention mask --------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_FOLD_MASK_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_FOLD_MASK_H

#include "compiler/indexing/mask.h"
#include "compiler/sharding/op_record.h"
#include "compiler/transforms/import/index_functions/index_functions.h"

namespace meshplan {

/// Extents of the scores of one attention.
struct ScoreShape {
  int64_t batch = 0, heads = 0, queries = 0, keys = 0;
  bool operator==(const ScoreShape &) const = default;
};

/// A mask in the form in which the attention op takes it.
struct FoldedMask {
  mlir::Value mask; ///< [batch, heads, queries, keys], each dim that size or 1; null if properties cover the whole mask
  mlir::Value keyMask; ///< [batch, keys]; null if every key is seen
  bool causal = false;
  int64_t window = 0;
};

/// A mask as the sum of masks that hide keys and at most one other tensor.
struct MaskAddends {
  llvm::SmallVector<indexing::AddedMask, 2> masks;
  mlir::Value bias; ///< null if there is none
};

/// True if adding the number to a score gives that key weight 0 beside a key that is seen, because the sum is the
/// number itself. Scores of f16 can come close to its lowest number; those of wider types cannot.
bool hidesBesideOthers(double added, mlir::FloatType type);

/// True if, where the condition on batch, head, query and key holds, every query sees a key, whatever the tensors that
/// it reads contain.
bool seesAKey(indexing::Expr condition, int64_t queries, int64_t keys);

/// Folds the masks of one function and caches them, because all layers have the same masks.
class MaskFolder {
public:
  explicit MaskFolder(IndexFunctions &functions) : functions(functions) {}

  /// Inserts the calls that are needed before `attention`. Nullopt if the mask does not broadcast to the scores.
  std::optional<FoldedMask> fold(mlir::Value mask, ScoreShape scores, plan::CallOp attention);

private:
  std::optional<indexing::AddedMask> readMask(mlir::Value mask);
  FoldedMask foldWhole(mlir::Value mask, plan::CallOp attention);
  std::optional<MaskAddends> splitIntoAddends(mlir::Value mask);
  std::optional<indexing::AddedMask> readFill(plan::CallOp call, const CallView &view);
  FoldedMask foldAddends(mlir::Value mask, plan::CallOp attention);
  FoldedMask keep(mlir::Value mask, plan::CallOp attention);
  FoldedMask foldCondition(mlir::Value mask, indexing::Expr condition, plan::CallOp attention);
  mlir::Value findMask(mlir::Value mask, indexing::Expr condition);
  mlir::Value makeKeyMask(mlir::Value mask, llvm::ArrayRef<indexing::Expr> conditions, plan::CallOp attention);
  mlir::Value findKeyMask(mlir::Value mask, indexing::Expr condition, plan::CallOp attention);
  bool isKeyMask(mlir::Value candidate, indexing::Expr condition);
  mlir::Value shapeKeyMask(mlir::Value found, bool byKey, plan::CallOp attention);

  struct Folded {
    ScoreShape scores;
    FoldedMask mask;
  };

  IndexFunctions &functions;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Folded, 1>> done;
  ScoreShape shape;
  indexing::Indices coordinates; ///< batch, head, query and key of `shape`
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_FOLD_MASK_H
