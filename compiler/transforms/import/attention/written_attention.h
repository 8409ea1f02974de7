//===- written_attention.h - attention written out --------------*- C++ -*-===//
//
// Models without a fused operator write attention as steps: a product of query
// and key, its scaling and capping, addends and masks, a softmax, a product with
// the values.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_WRITTEN_ATTENTION_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_WRITTEN_ATTENTION_H

#include "compiler/transforms/import/index_functions/index_functions.h"

namespace meshplan {

/// What is done to the scores after they are scaled.
struct ScoreStep {
  enum Kind {
    add,          ///< `tensor` is added
    fillWhere,    ///< scores where boolean `tensor` holds become `number`
    fillWhereNot, ///< scores where it does not
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
  double scale = 1, softcap = 0;         ///< a softcap of 0: none
  double dropout = 0;                    ///< probability with which the softmax's numbers are dropped
  llvm::SmallVector<ScoreStep, 2> steps; ///< in order
  plan::CallOp product;                  ///< with the values
  int64_t batch = 0, heads = 0, queries = 0, keys = 0;
};

/// True if the first of three dims is the batch and heads of the scores.
bool hasMergedHeads(llvm::ArrayRef<int64_t> shape, const WrittenAttention &attention);

/// The attention around a softmax over the last of the dims [batch, heads, queries, keys], the first two of which may
/// be one; nullopt if one of its steps is something else, or something else reads the probabilities.
std::optional<WrittenAttention> readWrittenAttention(plan::CallOp softmax, IndexFunctions &functions);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_WRITTEN_ATTENTION_H
