//===- attention_heads.h - dims that are the size of a head -----*- C++ -*-===//
//
// Whether a dim of a value lies within one head of the attention behind it, and
// which modules make these heads. Pure.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_CALLS_ATTENTION_HEADS_H
#define MESHPLAN_COMPILER_SHARDING_CALLS_ATTENTION_HEADS_H

#include "dialect/plan/plan.h"
#include <optional>
#include <string>

namespace meshplan {

/// An attention, and whether it reads a value as its query or as its key or value.
struct HeadUse {
  plan::CallOp attention;
  bool isQuery = false;
  int64_t heads = 0; ///< that the attention has of this kind
};

/// The attention of which a dim becomes the size of a head, and nothing else in any attention; nothing if there is
/// none.
std::optional<HeadUse> findHeadSize(mlir::Value value, unsigned dim);

/// True if the `extent` elements from `start` on of a dim become the only key head or value head of the attentions that
/// read them, and nothing else in any.
bool isOnlyKeyHead(mlir::Value value, unsigned dim, int64_t start, int64_t extent);

/// The module whose weights make the elements of a dim; empty if none is known.
llvm::StringRef projectionBehind(mlir::Value value, unsigned dim);

/// "'attn.k' and 'attn.v'": the modules that make the heads of this kind, of keys and values together; of queries all
/// three. Empty if none is known.
std::string projectionsOf(HeadUse use);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_CALLS_ATTENTION_HEADS_H
