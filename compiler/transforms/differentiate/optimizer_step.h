//===- optimizer_step.h - adds the optimizer to a step ----------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_OPTIMIZER_STEP_H
#define MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_OPTIMIZER_STEP_H

#include "compiler/transforms/differentiate/numeric_guard.h"
#include "dialect/plan/new_arguments.h"
#include "llvm/ADT/StringMap.h"

namespace meshplan {

/// Adds the parameter update to a function whose results include gradients (`plan.gradient_of`): states and settings as
/// arguments, the calls, and the new values as results (`plan.updates`) in place of the gradients.
///
/// The optimizer of a rank updates the parameter, or its master copy, or the rank's shard of one of these where a data
/// statement divides the optimizer.
class OptimizerStep {
public:
  /// `precision` is null if the plan has no such statement.
  OptimizerStep(mlir::func::FuncOp step, plan::OptimizerOp statement, plan::PrecisionOp precision);

  void add();

private:
  /// One gradient and its parameter.
  struct Update {
    mlir::BlockArgument parameter;
    mlir::Value gradient;
    plan::OptimizerGroupAttr numbers; ///< of its group
    int64_t group = 0;
    /// The data statement that divides the updated value although the parameter itself stays replicated; or null.
    plan::DataOp data;
    mlir::BlockArgument master; ///< the master copy that is updated, or null
    mlir::Value held;           ///< the value that is updated
  };

  /// Reduces the gradient, in the type and to the layout that the plan states, and converts it to the type of the
  /// updated value.
  void reduce(Update &update);
  mlir::Value times(mlir::Value value, double factor, mlir::Location location);
  /// Determines the value that is updated.
  void hold(Update &update);
  /// The flat axes of the updated value.
  AxisList flatAxes(const Update &update) const;
  mlir::RankedTensorType heldType(const Update &update) const;
  /// The element type of the updated value.
  mlir::Type changedType(const Update &update) const;
  mlir::Value converted(mlir::Value value, mlir::Type element, llvm::StringRef target = "aten._to_copy.default");
  /// The same right after the operation that makes `value`, so that all that precedes a reduction stands where the
  /// gradient is computed: in program order a collective starts after what completes its inputs.
  mlir::Value convertedWhereMade(mlir::Value value, mlir::Type element,
                                 llvm::StringRef target = "aten._to_copy.default");

  mlir::BlockArgument addArgument(mlir::RankedTensorType type, llvm::ArrayRef<mlir::NamedAttribute> attributes);
  mlir::Value setting(const llvm::Twine &name, double value, base::RateScheduleAttr schedule = {});
  mlir::Value learningRate(const Update &update);
  mlir::BlockArgument state(const Update &update, llvm::StringRef name);
  mlir::BlockArgument addState(const Update &update, llvm::StringRef name, mlir::Type element, bool copies);

  /// The axes over which the gradient is divided among ranks.
  AxisList divisionOf(const Update &update) const;
  mlir::Value clipFactor();
  /// The factor that undoes the loss scale, or null.
  mlir::Value scaleFactor();
  void addCommon(StepCall &call);
  mlir::Value stepNumber();
  void change(const Update &update);
  void changeByAdam(const Update &update);
  void changeBySgd(const Update &update);
  /// Adds the new values of the parameter and of its states as results.
  void give(const Update &update, mlir::ValueRange values, llvm::ArrayRef<mlir::BlockArgument> states);
  /// The new parameter, computed from the updated value: in the parameter's type, and gathered if ranks have updated a
  /// shard each.
  mlir::Value newParameter(const Update &update, mlir::Value changed);
  void rewriteResults();

  mlir::func::FuncOp step;
  plan::OptimizerOp statement;
  plan::PrecisionOp precision;
  mlir::OpBuilder builder;
  plan::ArgumentAdder states;
  NumericGuard guard;
  llvm::SmallVector<Update> updates;
  llvm::StringMap<mlir::Value> settings; ///< to search all arguments once for each and not for each parameter
  mlir::Value factor;                    ///< factor of all gradients, or null
  mlir::Value nonfinite;                 ///< number of non-finite elements of all gradients, or null
  llvm::SmallVector<std::pair<mlir::Value, mlir::BlockArgument>> results;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_DIFFERENTIATE_OPTIMIZER_STEP_H
