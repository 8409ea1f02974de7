//===- attention_heads.h - dims that are the size of a head -----*- C++ -*-===//
//
// Finds out whether a dim of a value is within one head of the attention that
// reads it, and which modules compute these heads. Pure.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_DATAFLOW_ATTENTION_HEADS_H
#define MESHPLAN_COMPILER_SHARDING_DATAFLOW_ATTENTION_HEADS_H

#include "dialect/plan/plan.h"
#include <optional>
#include <string>

namespace meshplan {

/// An attention, and whether it reads a value as its query or as its key or value.
struct HeadUse {
  plan::CallOp attention;
  bool isQuery = false;
  int64_t heads = 0; ///< number of heads of this kind in the attention
};

/// The attention for which a dim becomes the head size. Nothing if there is none, or if the dim has another role in
/// some attention.
std::optional<HeadUse> findHeadSize(mlir::Value value, unsigned dim);

/// True if the `extent` elements of a dim from `start` on become the only key head or value head of the attentions that
/// read them, and have no other role in any.
bool isOnlyKeyHead(mlir::Value value, unsigned dim, int64_t start, int64_t extent);

/// The module whose weights produce the elements of a dim; empty if none is known.
llvm::StringRef projectionThatComputes(mlir::Value value, unsigned dim);

/// "'attn.k' and 'attn.v'": the modules that produce the heads of this kind, keys and values together; for queries, all
/// three. Empty if none is known.
std::string projectionsOf(HeadUse use);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_DATAFLOW_ATTENTION_HEADS_H
