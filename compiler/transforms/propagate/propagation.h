//===- propagation.h - propagates through one function ----------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_PROPAGATION_H
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_PROPAGATION_H

#include "compiler/compositions/composition_rules.h"
#include "compiler/sharding/units/dim_units.h"
#include "compiler/transforms/propagate/decide_call.h"
#include "compiler/transforms/propagate/layouts.h"
#include "compiler/transforms/propagate/messages.h"
#include "compiler/transforms/propagate/wanted_layout.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <set>

namespace meshplan {

using ModuleStyles = llvm::StringMap<llvm::SmallVector<plan::StyleOp, 1>>;

/// Places, and what was said of them.
using Reports = std::set<std::pair<const void *, std::string>>;

/// Propagates through one function.
class Propagation {
public:
  /// `styles` by the paths of their modules. `reported` is that of all programs of a module: a step repeats what the
  /// forward program does.
  Propagation(mlir::func::FuncOp function, plan::MeshOp mesh, const ModuleStyles &styles, bool strict,
              Reports &reported)
      : function(function), mesh(mesh), styles(styles), strict(strict), units(function), reported(reported),
        layouts(mesh) {}

  mlir::LogicalResult run();

private:
  /// True if `op` was moved further on, to add what needs the same collective (delay_addend.h).
  bool delaysAddend(mlir::Operation *op);

  /// Goes on behind an error as if the results were whole, so that one run reports what else is wrong.
  void recover(mlir::Operation *op);

  /// True the first time that this is said of a place: one statement reaches every layer, and is wrong once.
  bool isNews(mlir::Location place, const llvm::Twine &what);
  void decideArgument(mlir::BlockArgument argument);

  /// What the plan says of an argument: its style, or that it is an input. Null if it says nothing.
  mlir::StringAttr styleOf(mlir::BlockArgument argument);
  mlir::LogicalResult visit(mlir::Operation *op);
  /// Visits the ops from `first` on, but not `end`, those too that are added behind the current one.
  void visitAll(mlir::Operation *first, mlir::Operation *end);

  //===--------------------------------------------------------------------===//
  // Partial values
  //===--------------------------------------------------------------------===//

  /// Reduces `value` over `axis`: to where a consumer wants it divided, or else whole. Returns the reduced value, which
  /// all later consumers start from.
  mlir::Value reduce(mlir::Value value, plan::AxisRefAttr axis, mlir::Operation *user);
  std::optional<Cause> causeOf(const WantedDim &wanted, plan::AxisRefAttr axis);

  /// The dim divided by one more axis within its shards; nothing if a shard would be left without a unit.
  std::optional<plan::DimShardingAttr> extended(mlir::Value value, int64_t dim, plan::DimShardingAttr now,
                                                plan::AxisRefAttr axis);
  Cause causeOf(mlir::Value value, plan::AxisRefAttr axis);

  //===--------------------------------------------------------------------===//
  // Statements
  //===--------------------------------------------------------------------===//

  mlir::LogicalResult visitConstrain(plan::ConstrainOp constrain);
  mlir::LogicalResult checkDivides(plan::ConstrainOp constrain, int64_t dim, llvm::ArrayRef<plan::AxisRefAttr> axes);
  /// The same axes on both sides of a border, and not the same elements on a rank, look right and move data.
  void reportDealtAnew(plan::ConstrainOp constrain, mlir::Value value, plan::ShardingAttr to);

  /// The statement that says where a parameter, or with `isFlat` its elements, lie: ranks add up its gradient for that.
  /// Nothing of other values.
  std::optional<Cause> placementOf(mlir::Value weight, bool isFlat);
  void visitMatch(plan::MatchOp match);
  void decideAs(mlir::Value result, plan::ShardingAttr sharding, mlir::Value like);
  void visitEnter(plan::EnterMicrobatchOp enter);
  void visitLeave(plan::LeaveMicrobatchOp leave);

  //===--------------------------------------------------------------------===//
  // Calls
  //===--------------------------------------------------------------------===//

  mlir::LogicalResult visitCall(plan::CallOp call);
  /// Of a call that does not run on flat tensors.
  void gatherFlat(plan::CallOp call);
  void decideFlat(plan::CallOp call);
  /// Computes the results by other calls, which are visited, where a dim that the call needs whole is divided and that
  /// moves less than a gather. The call is left without readers. False, and nothing done, otherwise.
  bool compose(plan::CallOp call);
  CallProblem makeProblem(plan::CallOp call, const FactorRule &rule);
  /// True if an operand stands without the axes that another one has on another factor, and they would make addends of
  /// the results: the call costs nothing on what stands, else a reshard of the other operand and a reduction.
  bool standsForOthers(plan::CallOp call, unsigned index, const FactorRule &rule);

  /// An addend stays one only if the call is linear in it and no other consumer needs the sum.
  void reducePartialOperands(plan::CallOp call, const FactorRule &rule, const Linearity &linearity);
  static bool isPartialShared(plan::CallOp call, plan::AxisRefAttr axis);

  void placeReshards(plan::CallOp call, const CallDecision &decision);

  /// True if the value is made of inputs of the model, among others.
  bool dependsOnInputs(mlir::Value value);
  std::optional<llvm::SmallVector<plan::ShardingAttr>> operandsFor(plan::CallOp call, plan::ShardingAttr wanted);
  /// Makes a value, which is whole on all ranks, `wanted` where it is made, if nothing but `reader` reads it and no
  /// statement or input says that it is whole. False, and nothing done, otherwise.
  bool divideProducer(mlir::Value value, plan::ShardingAttr wanted, mlir::Operation *reader);

  /// Who divides an operand over an axis. A parameter that several modules read is divided by the statements of all;
  /// within one of these it is that one.
  std::optional<Cause> causeIn(plan::CallOp call, mlir::Value operand, plan::AxisRefAttr axis);

  /// `value`, an operand or result of the call, has its axes from the operands that gave them to the factors.
  void inheritCauses(plan::CallOp call, const CallDecision &decision, mlir::Value value);

  void reportUnstated(plan::CallOp call, unsigned index, plan::ShardingAttr to);

  /// The statement that divides a value, if one is known.
  std::optional<Cause> statementBehind(mlir::Value value);
  /// That which divides what a reshard gathers or deals anew.
  std::optional<Cause> statementBehind(mlir::Value value, plan::ShardingAttr to);
  /// True if the statement divides a parameter.
  bool dividesWeights(mlir::Location statement);

  /// The cause as messages tell it; of the call if there is none.
  DividingStatement toStatement(const std::optional<Cause> &cause, plan::CallOp call);
  /// Reports an axis that the call cannot take if a statement divides a parameter over it: that is wrong, as where a
  /// fused weight has no parts. False for what follows from inputs and borders, which is gathered.
  bool refuseBlock(plan::CallOp call, const FactorRule &rule, const std::pair<unsigned, ProjectionBlock> &blocked);

  /// An operator without a record runs replicated, on whole values: what is divided is gathered, but for samples of
  /// several microbatches. Reports one that would read these; false if it does not.
  bool refuseUnknown(plan::CallOp call);

  /// A result inherits the statements behind its axes: of the operands that gave the factors, and of partial operands.
  void recordCauses(plan::CallOp call, const CallDecision &decision);

  //===--------------------------------------------------------------------===//

  /// Outputs are never addends.
  mlir::LogicalResult visitReturn(mlir::func::ReturnOp output);

  mlir::func::FuncOp function;
  plan::MeshOp mesh;
  const ModuleStyles &styles;
  bool strict;
  DimUnits units;
  bool strictFailure = false;
  bool hasFailed = false;
  Reports &reported;
  Layouts layouts;
  StatedLayouts statements;
  KnownNumbers known;
  llvm::DenseSet<mlir::Operation *> composed; ///< calls that are to be removed
  llvm::SmallVector<mlir::OwningOpRef<mlir::Operation *>> removed;
  llvm::DenseSet<mlir::Value> statedValues; ///< whose layout a statement says
  llvm::DenseMap<mlir::Value, bool> inputDependence;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_PROPAGATION_H
