//===- reserved_rows.h - the most rows of experts of a rank -----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_STEPS_RESERVED_ROWS_H
#define MESHPLAN_RUNTIME_EXEC_STEPS_RESERVED_ROWS_H

#include "runtime/exec/rank_view.h"

namespace meshplan {

/// Fails if a routed value would have more rows than the plan reserves (Routed.reserve). `maker`: the instruction whose
/// module has the layer.
Status checkReserve(const RankView &view, int value, int64_t rows, const artifact::Instruction &maker);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STEPS_RESERVED_ROWS_H
