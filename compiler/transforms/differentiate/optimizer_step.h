//===- optimizer_step.h - what an optimizer adds to a step ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_OPTIMIZER_STEP_H
#define MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_OPTIMIZER_STEP_H

#include "compiler/transforms/differentiate/numeric_guard.h"

namespace meshplan {

/// Adds to a function whose results include gradients (`plan.gradient_of`) what changes their parameters: states and
/// settings as arguments, the calls, and the new values as results (`plan.updates`) in the gradients' place.
///
/// What a rank's optimizer changes is the parameter, or its master copy, or the rank's part of one of these where a
/// data statement divides the optimizer.
class OptimizerStep {
public:
  /// `precision` is null where the plan says nothing of it.
  OptimizerStep(mlir::func::FuncOp step, plan::OptimizerOp statement, plan::PrecisionOp precision);

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
    mlir::BlockArgument master; ///< the copy that it changes, or null
    mlir::Value held;           ///< what it changes
  };

  /// The gradient, added up in the type and divided as the plan says, in the type of what it changes.
  void reduce(Update &update);
  mlir::Value times(mlir::Value value, double factor, mlir::Location location);
  /// Decides what is changed.
  void hold(Update &update);
  /// The axes over which the elements of what the optimizer changes are cut.
  AxisList flatAxes(const Update &update) const;
  mlir::RankedTensorType heldType(const Update &update) const;
  /// The element type of what is changed.
  mlir::Type changedType(const Update &update) const;
  mlir::Value converted(mlir::Value value, mlir::Type element, llvm::StringRef target = "aten._to_copy.default");

  double number(const Update &update, llvm::StringRef name) const;
  mlir::BlockArgument addArgument(mlir::RankedTensorType type, llvm::ArrayRef<mlir::NamedAttribute> attributes);
  mlir::Value setting(const llvm::Twine &name, double value, base::RateScheduleAttr schedule = {});
  mlir::Value learningRate(const Update &update);
  mlir::BlockArgument state(const Update &update, llvm::StringRef name);
  mlir::BlockArgument addState(const Update &update, llvm::StringRef name, mlir::Type element, bool copies);

  /// The axes over which elements of the gradient are divided among ranks.
  AxisList divisionOf(const Update &update) const;
  mlir::Value clipFactor();
  /// What undoes the scale of the loss, or null.
  mlir::Value scaleFactor();
  void addCommon(StepCall &call);
  mlir::Value stepNumber();
  void change(const Update &update);
  void changeByAdam(const Update &update);
  void changeBySgd(const Update &update);
  /// The new values of the parameter and of its states become results.
  void give(const Update &update, mlir::ValueRange values, llvm::ArrayRef<mlir::BlockArgument> states);
  /// The new parameter, from what was changed instead of it: in its type, gathered where ranks have changed a part
  /// each.
  mlir::Value newParameter(const Update &update, mlir::Value changed);
  void rewriteResults();

  mlir::func::FuncOp step;
  plan::OptimizerOp statement;
  plan::PrecisionOp precision;
  mlir::OpBuilder builder;
  NumericGuard guard;
  llvm::SmallVector<Update> updates;
  mlir::Value factor;    ///< of all gradients, or null
  mlir::Value nonfinite; ///< how many of their elements are no numbers, or null
  llvm::SmallVector<std::pair<mlir::Value, mlir::BlockArgument>> results;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_OPTIMIZER_STEP_H
