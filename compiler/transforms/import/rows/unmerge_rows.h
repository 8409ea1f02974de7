//===- unmerge_rows.h - keeps dims apart that rows merge --------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ROWS_UNMERGE_ROWS_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ROWS_UNMERGE_ROWS_H

#include "mlir/IR/Block.h"

namespace meshplan {

/// If a view merges leading dims into rows and operators compute on each row alone, the operators get the dims instead
/// of the rows, provided that less is merged afterwards. Leaves calls that nothing reads. See UnmergeDims in passes.td.
void unmergeRowRegions(mlir::Block &block);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_ROWS_UNMERGE_ROWS_H
