//===- moves.cpp - the reshards of a partitioned program ------------------===//
//
// A reshard of the plan is a chain of steps (slice, all_gather, ...), each an operation. The user thinks of the chain
// as one move from a layout to another, so steps are joined into moves first. A form is the value that a move makes;
// another move may start from a form instead of from the original value.
//
// Which moves does a parameter cause?
// 1. Those of the parameter itself, as when a shard is gathered before use.
// 2. At calls where it meets other tensors, those of the other operands, which were moved to fit the shards of the
//    parameter.
// 3. Those further on whose statement is that of the parameter, as the sum after a rowwise weight.

#include "compiler/report/explain/moves.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// True if the step continues the reshard that `before` is part of.
static bool continues(Operation *before, Operation *step) {
  // Consecutive moves would look like one chain without the location, which is the statement that caused the step. A
  // value with a second user is a form in its own right, where several moves begin.
  return before && isReshardStep(before) && before->getResult(0).hasOneUse() && before->getLoc() == step->getLoc();
}

MoveTable::MoveTable(func::FuncOp function) {
  for (Operation &op : function.getBody().front()) {
    if (!isReshardStep(&op))
      continue;
    Operation *before = op.getOperand(0).getDefiningOp();
    unsigned index = continues(before, &op) ? moveOf.lookup(before) : moves.size();
    if (index == moves.size())
      moves.emplace_back();
    moves[index].steps.push_back(&op);
    moveOf[&op] = index;
  }
}

void MoveTable::addWayTo(Value value, MoveSet &set) const {
  SmallVector<unsigned> way;
  for (Operation *producer = value.getDefiningOp(); producer && isReshardStep(producer);
       producer = moves[way.back()].input().getDefiningOp())
    way.push_back(moveOf.lookup(producer));
  // The walk goes from the use to the origin; moves are reported in the order in which they run.
  set.insert(way.rbegin(), way.rend());
}

void MoveTable::addMovesFrom(Value value, MoveSet &set) const {
  for (Operation *user : value.getUsers())
    if (isReshardStep(user))
      set.insert(moveOf.lookup(user));
}

void MoveTable::addMovesOf(StringRef module, MoveSet &set) const {
  auto isInside = [&](OpOperand *use) { return isInModule(use->getOwner(), module); };
  for (auto [index, move] : llvm::enumerate(moves)) {
    Operation *producer = originOf(move.input()).getDefiningOp();
    if ((producer && isInModule(producer, module)) || llvm::any_of(usesAfterReshards(move.result()), isInside))
      set.insert(index);
  }
}

//===----------------------------------------------------------------------===//
// Moves that a parameter causes
//===----------------------------------------------------------------------===//

/// True if the statement caused an axis of the results of the op.
static bool isCauseOf(Location statement, Operation *op) {
  return llvm::any_of(getCauses(op->getLoc()),
                      [&](CauseAttr cause) { return Location(cause.getStatement()) == statement; });
}

void MoveTable::addOperandMoves(CallOp call, const llvm::SmallPtrSetImpl<void *> &weights, BlockArgument parameter,
                                MoveSet &set) const {
  bool isDivided = isWeight(parameter) && !getSharding(parameter).isReplicated();
  for (Value operand : call.getOperands()) {
    Operation *producer = operand.getDefiningOp();
    // The forms of the parameter were added already.
    if (weights.contains(operand.getAsOpaquePointer()) || !producer || !isReshardStep(producer))
      continue;
    unsigned move = moveOf.lookup(producer);
    if (isDivided || moves[move].statement() == parameter.getLoc())
      set.insert(move);
  }
}

void MoveTable::addMovesBehind(CallOp call, Location statement, MoveSet &set) const {
  SmallVector<Operation *> open{call};
  llvm::SmallPtrSet<Operation *, 16> seen{call};
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (isReshardStep(op) && moves[moveOf.lookup(op)].statement() == statement)
      set.insert(moveOf.lookup(op));
    // A collective may remove the last axis that the statement caused: it belongs to the statement, its users do not.
    if (!isCauseOf(statement, op))
      continue;
    for (Operation *user : op->getUsers())
      if (seen.insert(user).second)
        open.push_back(user);
  }
}

void MoveTable::addCausedBy(BlockArgument parameter, MoveSet &set) const {
  SmallVector<Value> forms{parameter}; // values that are computed from the parameter alone
  llvm::SmallPtrSet<void *, 4> weights{parameter.getAsOpaquePointer()};
  SmallVector<CallOp> meetings;
  auto isWeight = [&](Value operand) { return weights.contains(operand.getAsOpaquePointer()); };
  for (size_t index = 0; index < forms.size(); ++index)
    for (Operation *user : forms[index].getUsers()) {
      if (isReshardStep(user))
        set.insert(moveOf.lookup(user));
      if (!isReshardStep(user) && !(isa<CallOp>(user) && llvm::all_of(user->getOperands(), isWeight))) {
        if (auto call = dyn_cast<CallOp>(user))
          meetings.push_back(call);
        continue;
      }
      for (Value result : user->getResults())
        if (weights.insert(result.getAsOpaquePointer()).second)
          forms.push_back(result);
    }
  for (CallOp call : meetings)
    addOperandMoves(call, weights, parameter, set);
  if (!getSharding(parameter).isReplicated())
    for (CallOp call : meetings)
      addMovesBehind(call, parameter.getLoc(), set);
}
