//===- hidden_rows.h - queries that see no key ------------------*- C++ -*-===//
//
// Replacing a score by a number differs from adding the number to the score:
// the score then has no gradient. If the key has weight 0 in either case, the
// difference does not show. It does show in a row that consists of such numbers
// alone, which the softmax turns into uniform weights.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_HIDDEN_ROWS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_HIDDEN_ROWS_H

#include "compiler/transforms/import/attention/written_attention.h"

namespace meshplan {

/// Rows in which the finite numbers that replace scores have a weight.
enum class HiddenRows {
  none,    ///< none: every query sees a key
  whole,   ///< only rows in which all scores are replaced
  unknown, ///< possibly rows with scores, which an addend may hide
};

/// For an attention whose numbers all hide keys beside scores (hidesBesideOthers).
HiddenRows findHiddenRows(const WrittenAttention &attention, IndexFunctions &functions);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_HIDDEN_ROWS_H
