//===- module_border.h - what enters and leaves a module --------*- C++ -*-===//
//
// The values at the border of a module of the model, in a program of the plan
// dialect. Stated layouts, reshards and collectives belong to no module: they
// stand between the value that a producer makes and those that take it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_MODULE_BORDER_H
#define MESHPLAN_COMPILER_SHARDING_MODULE_BORDER_H

#include "dialect/plan/module_runs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {

/// True for stated layouts, reshards, the collective ops and the slice.
bool isReshardStep(mlir::Operation *op);

/// The value that `value` is a resharded form of: itself, if no collective makes it.
mlir::Value originOf(mlir::Value value);

/// True if the op is a call of the module at `path` or of one inside it.
bool isInModule(mlir::Operation *op, llvm::StringRef path);

/// Uses of a value by calls and the end of the program, also of its resharded forms.
llvm::SmallVector<mlir::OpOperand *> usesBehindReshards(mlir::Value value);

/// Says of a stated layout that it is what the plan says of an input of the module at `path`.
void markInput(plan::ConstrainOp constrain, llvm::StringRef path);

/// The module of which the plan states an input by this layout; null if it is stated otherwise.
mlir::StringAttr moduleOfInput(plan::ConstrainOp constrain);

/// The same for outputs, which styles state too.
void markOutput(plan::ConstrainOp constrain, llvm::StringRef path);
mlir::StringAttr moduleOfOutput(plan::ConstrainOp constrain);

struct BorderValue {
  mlir::Value value; ///< as its producer makes it
  /// Of an input the uses inside the module, of an output those outside.
  llvm::SmallVector<mlir::OpOperand *> uses;
};

struct ModuleBorder {
  llvm::SmallVector<plan::CallOp> calls; ///< of the module and those inside it
  llvm::SmallVector<BorderValue> inputs; ///< activations from outside, in the order in which the module reads them
  /// Values that something outside reads, in the order in which they are made; of the root what the model returns.
  llvm::SmallVector<BorderValue> outputs;
};

/// The border of the module at `path`, of all its calls together. Linear in the size of the program.
ModuleBorder findBorder(mlir::func::FuncOp function, llvm::StringRef path);

/// The border of one call of a module.
ModuleBorder findBorder(mlir::func::FuncOp function, plan::ModuleRun run);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_MODULE_BORDER_H
