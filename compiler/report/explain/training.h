//===- training.h - what a training step does behind the forward *- C++ -*-===//

#ifndef MESHPLAN_COMPILER_REPORT_EXPLAIN_TRAINING_H
#define MESHPLAN_COMPILER_REPORT_EXPLAIN_TRAINING_H

#include "compiler/report/explain/explanation.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {

/// Gives the explanation of a parameter that is trained, or of a module, what `step` has of it behind the forward pass:
/// its gradient as ranks make it, what the optimizer keeps, and the collectives that move these, activations'
/// gradients, and the parameter itself for them. `step` is a training step behind `partition`: that of the last
/// microbatch. Other explanations stay as they are.
void explainTraining(mlir::func::FuncOp step, Explanation &explanation, const Sources &sources);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_EXPLAIN_TRAINING_H
