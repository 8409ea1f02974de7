//===- sched_layout_text.h - layouts as text --------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_REPORT_SCHED_LAYOUT_TEXT_H
#define MESHPLAN_COMPILER_REPORT_SCHED_LAYOUT_TEXT_H

#include "dialect/sched/sched.h"

namespace meshplan {

/// "[49152 over tp, 576]" with the names of the mesh's axes; a sub-axis is "tp:(1)2".
std::string layoutText(sched::ShardedTensorType type, sched::MeshOp mesh);

/// "f32", "bf16", "i64", "bool".
std::string dtypeText(mlir::Type elementType);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_SCHED_LAYOUT_TEXT_H
