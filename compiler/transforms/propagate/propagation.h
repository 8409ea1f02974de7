//===- propagation.h - propagates through one function ----------*- C++ -*-===//
//
// Propagates shardings through one function, in program order. For each call:
//
// 1. Partial operands that the call does not accept are reduced (reduce).
// 2. decideCall takes the axes of the operands to the factors of the call.
// 3. Operands whose sharding differs from the decision are resharded, with a
//    warning if no statement of the plan asks for it (insertReshards).
// 4. The results get the decided shardings, and the causes of their axes. A
//    call that needs a divided dim whole may first be replaced by a composition
//    (compose); after step 2 an addend (splitAddend) or shared sums
//    (splitSharedSums) may be split off, and the rewritten call is decided
//    again. Calls on flat tensors skip these steps (decideFlat).
//
// Example: a feed-forward block with a residual connection on a mesh dp = 2, tp
// = 2, with `up: colwise tp` and `down: rowwise tp`.
//
//   x     : [4, 8]  [{dp}, {}]      input
//   up    : [16, 8] [{tp}, {}]      parameter
//   down  : [8, 16] [{}, {tp}]      parameter
//   %0 = linear(x, up)              [{dp}, {tp}]
//   %1 = relu(%0)                   [{dp}, {tp}]
//   %2 = linear(%1, down)           [{dp}, {}] partial sum over tp
//   %3 = reshard %2                 [{dp}, {}]   because "rowwise tp"
//   %4 = add(%3, x)                 [{dp}, {}]
//
// The second linear contracts the dim that tp divides, so %2 is partial. add is
// linear in both operands only together, and x is not partial: %2 must be
// reduced. findWantedDim looks for a consumer that wants tp in some dim. None
// does, so the sum is replicated, and partition turns the reshard into an
// all-reduce. If x arrived as [{dp}, {tp}], the other operand of add would want
// dim 1 over tp: %3 would be [{dp}, {tp}], a reduce-scatter.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_PROPAGATION_H
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_PROPAGATION_H

#include "compiler/compositions/composition_rules.h"
#include "compiler/sharding/blocks/dim_blocks.h"
#include "compiler/sharding/dataflow/routed_values.h"
#include "compiler/transforms/propagate/decide_call.h"
#include "compiler/transforms/propagate/layouts.h"
#include "compiler/transforms/propagate/messages.h"
#include "compiler/transforms/propagate/wanted_layout.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <set>

namespace meshplan {

using ModuleStyles = llvm::StringMap<llvm::SmallVector<plan::StyleOp, 1>>;

/// Locations, and the messages already reported for them.
using Reports = std::set<std::pair<const void *, std::string>>;

/// Propagates through one function.
class Propagation {
public:
  /// `styles` by module path. `reported` is shared by all programs of a module, because a step repeats the calls of the
  /// forward program.
  Propagation(mlir::func::FuncOp function, plan::MeshOp mesh, const ModuleStyles &styles, bool strict,
              Reports &reported)
      : function(function), mesh(mesh), styles(styles), strict(strict), blocks(function), routed(function),
        reported(reported), layouts(mesh) {}

  mlir::LogicalResult run();

private:
  /// True if `op` was moved down, to sum gradients before their collective (delay_addend.h).
  bool delaysAddend(mlir::Operation *op);

  /// Continues after an error as if the results were replicated, so that one run reports further errors.
  void recover(mlir::Operation *op);

  /// True the first time that this message is reported for a location: one statement applies to every layer, but is
  /// wrong once.
  bool isFirstReport(mlir::Location location, const llvm::Twine &what);
  void decideArgument(mlir::BlockArgument argument);

  /// The text of the statement about an argument: its style, or that it is an input. Null if there is none.
  mlir::StringAttr styleOf(mlir::BlockArgument argument);
  mlir::LogicalResult visit(mlir::Operation *op);
  /// Visits the ops from `first` up to but not including `end`, including ops that are inserted after the current one.
  void visitAll(mlir::Operation *first, mlir::Operation *end);

  //===--------------------------------------------------------------------===//
  // Partial values
  //===--------------------------------------------------------------------===//

  /// Reduces `value` over `axis`: to a layout in which a consumer wants it divided, else replicated. Returns the
  /// reduced value, from which all later consumers start.
  mlir::Value reduce(mlir::Value value, plan::AxisRefAttr axis, mlir::Operation *user);
  std::optional<Cause> causeOf(const WantedDim &wanted, plan::AxisRefAttr axis);

  /// The dim divided by one more axis within its shards; nothing if a shard would have no block. With `keepsBlocks` it
  /// cuts no block that the axes so far do not cut, such as the positions of a sample in a dim of rows.
  std::optional<plan::DimShardingAttr> extended(mlir::Value value, int64_t dim, plan::DimShardingAttr now,
                                                plan::AxisRefAttr axis, bool keepsBlocks = false);
  Cause causeOf(mlir::Value value, plan::AxisRefAttr axis);

  //===--------------------------------------------------------------------===//
  // Statements
  //===--------------------------------------------------------------------===//

  mlir::LogicalResult visitConstrain(plan::ConstrainOp constrain);
  mlir::LogicalResult checkDivides(plan::ConstrainOp constrain, int64_t dim, llvm::ArrayRef<plan::AxisRefAttr> axes);
  /// Reports a border with the same axes on both sides but different elements on a rank: it looks consistent but moves
  /// data.
  void reportRedistributed(plan::ConstrainOp constrain, mlir::Value value, plan::ShardingAttr to);

  /// The statement that shards a parameter; with `isFlat`, the data statement that shards its flat elements. It is the
  /// cause of the reduction of the gradient. Nothing for other values.
  std::optional<Cause> placementOf(mlir::Value weight, bool isFlat);
  void visitMatch(plan::MatchOp match);
  void decideAs(mlir::Value result, plan::ShardingAttr sharding, mlir::Value like);
  void visitEnter(plan::EnterMicrobatchOp enter);
  void visitLeave(plan::LeaveMicrobatchOp leave);

  //===--------------------------------------------------------------------===//
  // Calls
  //===--------------------------------------------------------------------===//

  mlir::LogicalResult visitCall(plan::CallOp call);
  /// Gathers the flat operands of a call that does not run on flat tensors.
  void gatherFlat(plan::CallOp call);
  void decideFlat(plan::CallOp call);
  /// Replaces a call that needs a divided dim whole by other calls, which are visited, if this moves less than a
  /// gather. The original call has no readers then. Otherwise changes nothing and returns false.
  bool compose(plan::CallOp call);
  CallProblem makeProblem(plan::CallOp call, const FactorRule &rule);
  /// True if keeping the axes of this operand would make the results partial and force a reshard of another operand,
  /// although a version of this operand without these axes already exists.
  bool standsForOthers(plan::CallOp call, unsigned index, const FactorRule &rule);

  /// Reduces partial operands unless the call is linear in them and no other consumer needs the sum.
  void reducePartialOperands(plan::CallOp call, const FactorRule &rule, const Linearity &linearity);
  bool isPartialShared(plan::CallOp call, plan::AxisRefAttr axis);

  void insertReshards(plan::CallOp call, const CallDecision &decision);

  //===--------------------------------------------------------------------===//
  // Routes to experts
  //===--------------------------------------------------------------------===//

  /// Decides the layout of all rows that a `meshplan.route` makes (propagate_routes.cpp).
  void visitRoute(plan::CallOp route, const FactorRule &rule, CallProblem &problem);
  /// The axes of the experts that divide no tokens, if rows can be exchanged over all axes of the experts once they do;
  /// else none. `count`: of the experts.
  AxisList axesToSpread(mlir::Value indices, llvm::ArrayRef<plan::AxisRefAttr> experts, int64_t count);
  /// The choices of tokens, divided over further axes; nothing if they cannot be.
  std::optional<plan::ShardingAttr> spreadOver(mlir::Value indices, llvm::ArrayRef<plan::AxisRefAttr> axes);
  /// Gathers the tokens that a call gives over the axes over which visitRoute has spread them.
  void gatherSpread(plan::CallOp call);
  /// Sends what a call gives to the ranks of its experts, if the rows of its route are exchanged.
  void sendToExperts(plan::CallOp call);
  /// Gives tokens the features that the weights need which their rows meet first, since rows are not gathered.
  void layOutTokens(plan::CallOp dispatch);
  /// The statement that says where the rows and tokens of a call have to be that reads a table; nothing for other
  /// calls.
  std::optional<Cause> causeOfRows(plan::CallOp call);

  /// True if the value depends on an input of the model.
  bool dependsOnInputs(mlir::Value value);
  std::optional<llvm::SmallVector<plan::ShardingAttr>> operandsFor(plan::CallOp call, plan::ShardingAttr wanted);
  /// Gives a value that is replicated the sharding `wanted` at its definition, if nothing but `reader` reads it and no
  /// statement or input makes it replicated. Otherwise changes nothing and returns false.
  bool divideProducer(mlir::Value value, plan::ShardingAttr wanted, mlir::Operation *reader);
  /// Creates a replicated value that an operator makes from literals alone again, for `reader` and with the
  /// sharding `wanted`: other readers keep the whole one. Null if the value is another one.
  mlir::Value createDivided(mlir::Value value, plan::ShardingAttr wanted, mlir::Operation *reader);

  /// The cause of an axis of an operand. A parameter that several modules read is divided by the statements of all of
  /// them; within one of these modules it is this module's statement.
  std::optional<Cause> causeIn(plan::CallOp call, mlir::Value operand, plan::AxisRefAttr axis);

  /// Gives `value`, an operand or result of the call, the causes of the operands that gave the factors their axes.
  void inheritCauses(plan::CallOp call, const CallDecision &decision, mlir::Value value);

  void reportUnstated(plan::CallOp call, unsigned index, plan::ShardingAttr to);

  /// A statement that divides a value, if one is known.
  std::optional<Cause> causingStatement(mlir::Value value);
  /// The statement that divides the part of a value that a reshard to `to` gathers or redistributes.
  std::optional<Cause> causingStatement(mlir::Value value, plan::ShardingAttr to);
  /// True if the statement divides a parameter.
  bool dividesWeights(mlir::Location statement);

  /// The cause as diagnostics report it; the location of the call if there is none.
  DividingStatement toStatement(const std::optional<Cause> &cause, plan::CallOp call);
  /// Reports an axis that the call cannot take, if a statement divides a parameter over it: then the plan is wrong, for
  /// example where a fused weight has no `parts`. Returns false for axes from inputs and borders, which are gathered.
  bool refuseMisfit(plan::CallOp call, const FactorRule &rule, const std::pair<unsigned, Misfit> &found);

  /// An operator without a record runs replicated: divided operands are gathered. Samples of several microbatches
  /// cannot be gathered; reports an operator that would need them. Returns false if it does not.
  bool refuseUnknown(plan::CallOp call);

  /// A result inherits the causes of its axes from the operands that gave the factors and from partial operands.
  void recordCauses(plan::CallOp call, const CallDecision &decision);

  //===--------------------------------------------------------------------===//

  /// Reduces outputs: they are never partial.
  mlir::LogicalResult visitReturn(mlir::func::ReturnOp output);

  mlir::func::FuncOp function;
  plan::MeshOp mesh;
  const ModuleStyles &styles;
  bool strict;
  DimBlocks blocks;
  RoutedValues routed;
  /// By table and counts of a route: the axes that divide tokens before and experts after an exchange.
  struct RowExchange {
    AxisList axes;
    Cause cause;
  };
  llvm::DenseMap<mlir::Value, RowExchange> exchanges;
  /// By table of a route: the axes over which its tokens are divided for the exchange, and not around it.
  llvm::DenseMap<mlir::Value, AxisList> spreads;
  /// By table of a route: the statement that divides the weights of its experts, and so says where its tokens are.
  llvm::DenseMap<mlir::Value, Cause> routeCauses;
  bool strictFailure = false;
  bool hasFailed = false;
  Reports &reported;
  Layouts layouts;
  StatedLayouts statements;
  KnownNumbers known;
  llvm::DenseSet<mlir::Operation *> composed; ///< calls to be removed
  llvm::SmallVector<mlir::OwningOpRef<mlir::Operation *>> removed;
  llvm::DenseSet<mlir::Value> statedValues; ///< values whose layout a statement gives
  llvm::DenseMap<mlir::Value, bool> inputDependence;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_PROPAGATION_H
