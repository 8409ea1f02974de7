//===- training.h - explanations of a training step -------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_REPORT_EXPLAIN_TRAINING_H
#define MESHPLAN_COMPILER_REPORT_EXPLAIN_TRAINING_H

#include "compiler/report/explain/explanation.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {

/// Adds, to the explanation of a trained parameter or of a module, what `step` computes after the forward pass: its
/// gradient before the reduction, the optimizer states, and the collectives that move these, the gradients of
/// activations, and the parameter itself. `step` is the training step of the last microbatch, after `partition`. Other
/// explanations are unchanged.
void explainTraining(mlir::func::FuncOp step, Explanation &explanation, const Sources &sources);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_EXPLAIN_TRAINING_H
