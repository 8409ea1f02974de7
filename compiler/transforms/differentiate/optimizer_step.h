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
    /// The statement that divides what the rank's optimizer changes, where the parameter itself stays whole; or null.
    plan::DataOp data;
    mlir::Value held; ///< what the optimizer changes: the parameter, or the rank's part of it
  };

  /// Divides gradient and parameter as the data statement says.
  void divide(Update &update);
  /// The axes over which the elements of what the optimizer changes are cut.
  llvm::SmallVector<plan::AxisRefAttr> flatAxes(const Update &update) const;
  mlir::RankedTensorType heldType(const Update &update) const;

  double number(const Update &update, llvm::StringRef name) const;
  mlir::BlockArgument addArgument(mlir::RankedTensorType type, llvm::ArrayRef<mlir::NamedAttribute> attributes);
  mlir::Value setting(const llvm::Twine &name, double value, mlir::DictionaryAttr schedule = {});
  mlir::Value learningRate(const Update &update);
  mlir::BlockArgument state(const Update &update, llvm::StringRef name);

  mlir::Value clipFactor();
  void change(const Update &update);
  void changeByAdam(const Update &update);
  void changeBySgd(const Update &update);
  /// The new values of the parameter and of its states become results.
  void give(const Update &update, mlir::ValueRange values, llvm::ArrayRef<mlir::BlockArgument> states);
  /// The whole parameter, when ranks have changed a part of it each.
  mlir::Value gather(const Update &update, mlir::Value held);
  void rewriteResults();

  mlir::func::FuncOp step;
  plan::OptimizerOp statement;
  mlir::OpBuilder builder;
  llvm::SmallVector<Update> updates;
  llvm::StringMap<mlir::Value> settings;
  mlir::Value factor; ///< of all gradients, or null
  llvm::SmallVector<std::pair<mlir::Value, mlir::BlockArgument>> results;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_OPTIMIZER_STEP_H
