//===- row_spreader.h - computes chosen rows for all tokens -----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_LOOPS_ROW_SPREADER_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_LOOPS_ROW_SPREADER_H

#include "dialect/plan/plan.h"

namespace meshplan {

/// Makes the calls of a block with rows that are chosen by data compute all tokens, and erases what is no longer read.
/// Returns the first call in a form that is not known, in a block that is then half changed; null if there is none.
plan::CallOp spreadRows(mlir::Block &block);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_EXPERTS_LOOPS_ROW_SPREADER_H
