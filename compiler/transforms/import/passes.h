//===- passes.h - passes of the phase import -----------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_PASSES_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace meshplan {

#define GEN_PASS_DECL
#include "compiler/transforms/import/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/transforms/import/passes.h.inc"

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_PASSES_H
