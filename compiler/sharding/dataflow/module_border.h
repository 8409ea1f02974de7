//===- module_border.h - inputs and outputs of a module ---------*- C++ -*-===//
//
// The values at the border of a module of the model, in a program of the plan
// dialect. Stated layouts, reshards and collectives belong to no module: they
// are between a value and its users.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_DATAFLOW_MODULE_BORDER_H
#define MESHPLAN_COMPILER_SHARDING_DATAFLOW_MODULE_BORDER_H

#include "dialect/plan/module_runs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {

/// True for stated layouts, reshards, the collective ops and the slice.
bool isReshardStep(mlir::Operation *op);

/// The value before all reshard steps; `value` itself if no such step defines it.
mlir::Value originOf(mlir::Value value);

/// True if the op is a call of the module at `path` or of one inside it.
bool isInModule(mlir::Operation *op, llvm::StringRef path);

/// Uses of a value by calls and by the end of the program, directly or through reshard steps.
llvm::SmallVector<mlir::OpOperand *> usesAfterReshards(mlir::Value value);

/// Marks a stated layout as that of an input of the module at `path`.
void markInput(plan::ConstrainOp constrain, llvm::StringRef path);

/// The module whose input this layout states, or null.
mlir::StringAttr moduleOfInput(plan::ConstrainOp constrain);

/// The same for outputs. Styles state outputs, too.
void markOutput(plan::ConstrainOp constrain, llvm::StringRef path);
mlir::StringAttr moduleOfOutput(plan::ConstrainOp constrain);

struct BorderValue {
  mlir::Value value; ///< before any reshard step
  /// For an input, the uses inside the module; for an output, the uses outside.
  llvm::SmallVector<mlir::OpOperand *> uses;
};

struct ModuleBorder {
  llvm::SmallVector<plan::CallOp> calls; ///< of the module and of the modules inside it
  llvm::SmallVector<BorderValue> inputs; ///< activations from outside, in the order in which the module reads them
  /// Values that are read outside, in the order in which they are computed. For the root, the results of the model.
  llvm::SmallVector<BorderValue> outputs;
};

/// The border of all calls of the module at `path` together. Linear in the size of the program.
ModuleBorder findBorder(mlir::func::FuncOp function, llvm::StringRef path);

/// The border of one call of a module.
ModuleBorder findBorder(mlir::func::FuncOp function, plan::ModuleRun run);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_DATAFLOW_MODULE_BORDER_H
