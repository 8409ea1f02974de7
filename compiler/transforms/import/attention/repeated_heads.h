//===- repeated_heads.h - keys and values that are repeated -----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_REPEATED_HEADS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_REPEATED_HEADS_H

#include "compiler/indexing/movement.h"
#include "dialect/plan/plan.h"

namespace meshplan {

/// A tensor from which heads are repeated.
struct HeadSource {
  mlir::Value value;
  int64_t groups = 0;       ///< heads before the repetition
  bool headsSecond = false; ///< false: [batch, heads, sequence, features], true: [batch, sequence, heads, features]
};

/// The tensor with the fewest heads of which each head of `value` [batch, heads, sequence, features] is provably one,
/// head h that of group h / (heads / groups). If there is none other, `value` itself.
HeadSource findHeadSource(indexing::ExprBuilder &builder, mlir::Value value);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_REPEATED_HEADS_H
