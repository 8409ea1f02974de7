//===- optimizer_step.h - what an optimizer adds to a step ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_OPTIMIZER_STEP_H
#define MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_OPTIMIZER_STEP_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace meshplan {

/// Adds to a function whose results include gradients (`plan.gradient_of`) what changes their parameters: states and
/// settings as arguments, the calls, and the new values as results (`plan.updates`) in the gradients' place.
class OptimizerStep {
public:
  OptimizerStep(mlir::func::FuncOp step, plan::OptimizerOp statement);

  void add();

private:
  /// One gradient and what it belongs to.
  struct Update {
    mlir::BlockArgument parameter;
    mlir::Value gradient;
    mlir::DictionaryAttr numbers; ///< of its group
    int64_t group = 0;
  };

  double number(const Update &update, llvm::StringRef name) const;
  mlir::BlockArgument addArgument(mlir::RankedTensorType type, llvm::ArrayRef<mlir::NamedAttribute> attributes);
  mlir::Value setting(const llvm::Twine &name, double value, mlir::DictionaryAttr schedule = {});
  mlir::Value learningRate(const Update &update);
  mlir::BlockArgument state(const Update &update, llvm::StringRef name);

  mlir::Value clipFactor();
  void change(const Update &update);
  void changeByAdam(const Update &update);
  void changeBySgd(const Update &update);
  /// The new values of arguments become results.
  void give(mlir::ValueRange values, llvm::ArrayRef<mlir::BlockArgument> arguments);
  void rewriteResults();

  mlir::func::FuncOp step;
  plan::OptimizerOp statement;
  mlir::OpBuilder builder;
  llvm::SmallVector<Update> updates;
  mlir::Value factor; ///< of all gradients, or null
  llvm::SmallVector<std::pair<mlir::Value, mlir::BlockArgument>> results;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_OPTIMIZER_STEP_H
