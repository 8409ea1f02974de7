//===- hidden_rows.h - queries that see no key ------------------*- C++ -*-===//
//
// A number in place of a score is not the score plus that number: it takes the
// score's gradient away. Where the number leaves no share the difference does
// not show. It does in a row of such numbers alone, which the softmax makes
// even shares.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_HIDDEN_ROWS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_HIDDEN_ROWS_H

#include "compiler/transforms/import/attention/written_attention.h"

namespace meshplan {

/// Where the finite numbers that stand in place of scores have a share.
enum class HiddenRows {
  none,    ///< nowhere: every query sees a key
  whole,   ///< only in rows that have no score left
  unknown, ///< perhaps beside scores: what is added may hide those
};

/// Of an attention whose numbers all hide beside scores (hidesBesideOthers).
HiddenRows findHiddenRows(const WrittenAttention &attention, IndexFunctions &functions);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ATTENTION_HIDDEN_ROWS_H
