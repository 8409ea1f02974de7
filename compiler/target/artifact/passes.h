//===- passes.h - the artifact as a pass ------------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TARGET_ARTIFACT_PASSES_H
#define MESHPLAN_COMPILER_TARGET_ARTIFACT_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace meshplan {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/target/artifact/passes.h.inc"

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TARGET_ARTIFACT_PASSES_H
