//===- passes.h - passes of the phase `schedule` ----------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PASSES_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PASSES_H

#include "dialect/sched/sched.h"
#include "mlir/Pass/Pass.h"

namespace meshplan {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/transforms/schedule/passes.h.inc"

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_PASSES_H
