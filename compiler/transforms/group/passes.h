//===- passes.h - passes of the phase group ------------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_GROUP_PASSES_H
#define MESHPLAN_COMPILER_TRANSFORMS_GROUP_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace meshplan {

#define GEN_PASS_DECL
#include "compiler/transforms/group/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/transforms/group/passes.h.inc"

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_GROUP_PASSES_H
