//===- recompute.cpp - what is not kept for the backward pass -------------===//
//
// See Recompute in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/differentiate/messages.h"
#include "compiler/transforms/differentiate/passes.h"
#include "llvm/ADT/StringSet.h"

namespace meshplan {
#define GEN_PASS_DEF_RECOMPUTE
#include "compiler/transforms/differentiate/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// "attention" of "meshplan.attention", "linear" of "aten.linear.default".
static StringRef operatorName(CallOp call) { return call.getTarget().split('.').second.split('.').first; }

namespace {

/// Repeats calls of one function.
class Recomputation {
public:
  Recomputation(func::FuncOp step, ArrayRef<RecomputeOp> statements) : step(step), statements(statements) {}

  LogicalResult run();

private:
  RecomputeOp statementFor(CallOp call) const;
  bool isInside(Operation *op, StringRef module) const;
  bool staysInside(Value value, StringRef module) const;
  void choose(CallOp call);
  Value again(Value value, Operation *reader);
  LogicalResult checkKept() const;

  func::FuncOp step;
  ArrayRef<RecomputeOp> statements;
  llvm::DenseSet<Operation *> chosen; ///< calls and constraints that are made again
  llvm::DenseMap<Value, Value> made;
  llvm::StringSet<> kept; ///< names of operators that something in a module has
};

} // namespace

/// Of several modules around a call the outermost counts: less of what they make is kept.
RecomputeOp Recomputation::statementFor(CallOp call) const {
  RecomputeOp outermost;
  for (RecomputeOp statement : statements)
    if (call.isInModule(statement.getModule()) &&
        (!outermost || statement.getModule().size() < outermost.getModule().size()))
      outermost = statement;
  return outermost;
}

/// A stated layout belongs to those that read it.
bool Recomputation::isInside(Operation *op, StringRef module) const {
  if (auto constrain = dyn_cast<ConstrainOp>(op))
    return staysInside(constrain.getResult(), module);
  auto call = dyn_cast<CallOp>(op);
  return isa<MatchOp>(op) || (call && (call.getBackward() || call.isInModule(module)));
}

bool Recomputation::staysInside(Value value, StringRef module) const {
  return llvm::all_of(value.getUsers(), [&](Operation *user) { return isInside(user, module); });
}

void Recomputation::choose(CallOp call) {
  RecomputeOp statement = call.getBackward() ? RecomputeOp() : statementFor(call);
  if (!statement)
    return;
  for (auto name : statement.getKeep().getAsRange<StringAttr>())
    if (name.getValue() == operatorName(call)) {
      kept.insert(name.getValue());
      return;
    }
  if (!llvm::all_of(call.getResults(), [&](Value result) { return staysInside(result, statement.getModule()); }))
    return;
  chosen.insert(call);
  for (Operation *user : call->getUsers())
    if (isa<ConstrainOp>(user))
      chosen.insert(user);
}

/// The value made again, before `reader`, from what is kept; itself if it is kept.
Value Recomputation::again(Value value, Operation *reader) {
  Operation *producer = value.getDefiningOp();
  if (!producer || !chosen.contains(producer))
    return value;
  if (Value known = made.lookup(value))
    return known;
  SmallVector<Value> operands =
      llvm::map_to_vector(producer->getOperands(), [&](Value operand) { return again(operand, reader); });
  Operation *copy = OpBuilder(reader).clone(*producer);
  copy->setOperands(operands);
  if (auto call = dyn_cast<CallOp>(copy))
    call.setBackward(true);
  for (auto [old, result] : llvm::zip(producer->getResults(), copy->getResults()))
    made[old] = result;
  return made.lookup(value);
}

LogicalResult Recomputation::checkKept() const {
  llvm::DenseSet<Location> reported;
  for (RecomputeOp statement : statements)
    for (auto name : statement.getKeep().getAsRange<StringAttr>())
      if (!kept.contains(name.getValue()) && reported.insert(statement.getLoc()).second)
        reportNothingKept(statement, name.getValue());
  return success(reported.empty());
}

LogicalResult Recomputation::run() {
  SmallVector<Operation *> backward;
  for (Operation &op : step.getBody().front()) {
    auto call = dyn_cast<CallOp>(op);
    if (call)
      choose(call);
    if (call && call.getBackward())
      backward.push_back(&op);
  }
  // A match names its value for the layout only.
  for (Operation *op : backward)
    for (OpOperand &operand : op->getOpOperands())
      operand.set(again(operand.get(), op));
  return checkKept();
}

namespace {

struct RecomputePass : meshplan::impl::RecomputeBase<RecomputePass> {
  void runOnOperation() final {
    ModuleOp module = getOperation();
    SmallVector<RecomputeOp> statements(module.getOps<RecomputeOp>());
    auto step = module.lookupSymbol<func::FuncOp>("step");
    if (step && !statements.empty() && failed(Recomputation(step, statements).run()))
      return signalPassFailure();
    for (RecomputeOp statement : statements)
      statement.erase();
  }
};

} // namespace
