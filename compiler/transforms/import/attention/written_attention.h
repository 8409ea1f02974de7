//===- written_attention.h - attention as separate operators ----*- C++ -*-===//
//
// Models without a fused operator write attention as separate operators: a
// product of query and key, scaling and capping, addends and masks, a softmax,
// and a product with the values.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_WRITTEN_ATTENTION_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_WRITTEN_ATTENTION_H

#include "compiler/transforms/import/index_functions/index_functions.h"

namespace meshplan {

/// A step that is applied to the scores after scaling.
struct ScoreStep {
  enum Kind {
    add,          ///< `tensor` is added
    fillWhere,    ///< scores are replaced by `number` where boolean `tensor` is true
    fillWhereNot, ///< scores are replaced where it is false
  };
  Kind kind;
  mlir::Value tensor;
  mlir::FloatType type; ///< of the scores after the step
  double number = 0;
};

/// drop(softmax(cap(scale * query key) and steps)) value, with cap(x) = softcap * tanh(x / softcap). Batch and heads of
/// the operands are two dims or one: query [.., S, D], key [.., D, T], value [.., T, E].
struct WrittenAttention {
  mlir::Value query, key, value;
  double scale = 1, softcap = 0;         ///< softcap 0: none
  double dropout = 0;                    ///< probability with which weights of the softmax are dropped
  llvm::SmallVector<ScoreStep, 2> steps; ///< in order
  plan::CallOp product;                  ///< with the values
  int64_t batch = 0, heads = 0, queries = 0, keys = 0;
};

/// True if the first of three dims is the batch and heads of the scores merged.
bool hasMergedHeads(llvm::ArrayRef<int64_t> shape, const WrittenAttention &attention);

/// The attention around a softmax over the last of the dims [batch, heads, queries, keys], of which the first two may
/// be merged. Nullopt if a step is of another kind, or if something else reads the probabilities.
std::optional<WrittenAttention> readWrittenAttention(plan::CallOp softmax, IndexFunctions &functions);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_WRITTEN_ATTENTION_H
