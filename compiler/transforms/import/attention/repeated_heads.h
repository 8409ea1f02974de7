//===- repeated_heads.h - finds the source of repeated heads ----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_REPEATED_HEADS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_REPEATED_HEADS_H

#include "compiler/indexing/movement.h"
#include "dialect/plan/plan.h"

namespace meshplan {

/// A tensor whose heads are repeated.
struct HeadSource {
  mlir::Value value;
  int64_t groups = 0;       ///< heads before the repetition
  bool headsSecond = false; ///< false: [batch, heads, sequence, features], true: [batch, sequence, heads, features]
};

/// The tensor with the fewest heads from which `value` [batch, heads, sequence, features] provably repeats its heads:
/// head h is head h / (heads / groups) of the tensor. `value` itself if there is no other.
HeadSource findHeadSource(indexing::ExprBuilder &builder, mlir::Value value);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_REPEATED_HEADS_H
