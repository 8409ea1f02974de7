//===- recompute.cpp - recomputes the modules that the plan names ---------===//
//
// See Recompute in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/families/cheap_calls.h"
#include "compiler/transforms/differentiate/messages.h"
#include "compiler/transforms/differentiate/passes.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/call_builder.h"
#include "dialect/plan/programs.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace meshplan {
#define GEN_PASS_DEF_RECOMPUTE
#include "compiler/transforms/differentiate/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// "attention" for "meshplan.attention", "linear" for "aten.linear.default".
static StringRef operatorName(CallOp call) { return call.getTarget().split('.').second.split('.').first; }

namespace {

/// Recomputes calls of one function.
class Recomputation {
public:
  Recomputation(func::FuncOp step, ArrayRef<RecomputeOp> statements) : step(step), statements(statements) {}

  LogicalResult run();

private:
  RecomputeOp statementFor(CallOp call) const;
  bool isInside(Operation *op, StringRef module) const;
  bool staysInside(Value value, StringRef module) const;
  void choose(CallOp call);
  void chooseLayouts(Value value);
  Value again(Value value, Operation *reader);
  void warnOfUnread() const;
  LogicalResult checkKept() const;

  func::FuncOp step;
  ArrayRef<RecomputeOp> statements;
  llvm::DenseSet<Operation *> chosen; ///< calls and constraints to be recomputed
  llvm::DenseMap<Value, Value> made;
  llvm::DenseSet<Operation *> repeating; ///< statements for which something is recomputed
  /// By the location of a statement, which may name several modules: the names of operators that one of the modules
  /// has.
  llvm::DenseSet<std::pair<Location, StringAttr>> kept;
};

} // namespace

/// The outermost of several modules around a call counts: it keeps fewer results.
RecomputeOp Recomputation::statementFor(CallOp call) const {
  RecomputeOp outermost;
  for (RecomputeOp statement : statements)
    if (call.isInModule(statement.getModule()) &&
        (!outermost || statement.getModule().size() < outermost.getModule().size()))
      outermost = statement;
  return outermost;
}

/// A stated layout belongs to its readers.
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
      kept.insert({statement.getLoc(), name});
      setOpAttr<attr::Kept>(call, UnitAttr::get(call.getContext()));
      return;
    }
  // A value that leaves the module is live anyway: recomputing it would cost time and save nothing.
  if (!llvm::all_of(call.getResults(), [&](Value result) { return staysInside(result, statement.getModule()); }))
    return;
  chosen.insert(call);
  llvm::for_each(call.getResults(), [&](Value result) { chooseLayouts(result); });
}

/// The layouts stated for a value are also stated for its copy.
void Recomputation::chooseLayouts(Value value) {
  for (Operation *user : value.getUsers())
    if (auto constrain = dyn_cast<ConstrainOp>(user)) {
      chosen.insert(constrain);
      chooseLayouts(constrain.getResult());
    }
}

/// The copy of a value before `reader`, recomputed from kept values; the value itself if it is kept.
Value Recomputation::again(Value value, Operation *reader) {
  Operation *producer = value.getDefiningOp();
  if (!producer || !chosen.contains(producer))
    return value;
  // One copy serves all backward readers. It is inserted before the first of them, because they are visited in program
  // order.
  if (Value known = made.lookup(value))
    return known;
  SmallVector<Value> operands =
      llvm::map_to_vector(producer->getOperands(), [&](Value operand) { return again(operand, reader); });
  // Rows of experts cannot move between ranks, and some of them are kept: the copy of a route divides tokens as the
  // route does.
  if (auto route = dyn_cast<CallOp>(producer); route && route.getTarget() == "meshplan.route") {
    OpBuilder builder(reader);
    Value original = route.getOperand(0);
    if (operands[0] != original)
      operands[0] = MatchOp::create(builder, route.getLoc(), operands[0].getType(), operands[0], original, ArrayAttr());
  }
  if (auto call = dyn_cast<CallOp>(cloneBefore(reader, producer, operands, made))) {
    repeating.insert(statementFor(call));
    // The copy belongs to the backward pass: it is not chosen itself, and forward values that it reads count as read
    // there.
    call.setBackward(true);
  }
  return made.lookup(value);
}

LogicalResult Recomputation::checkKept() const {
  llvm::DenseSet<Location> reported;
  for (RecomputeOp statement : statements)
    for (auto name : statement.getKeep().getAsRange<StringAttr>())
      if (!kept.contains({statement.getLoc(), name}) && reported.insert(statement.getLoc()).second)
        reportNothingKept(statement, name.getValue());
  return success(reported.empty());
}

/// Warns of modules in which the backward pass reads only kept values, so that recomputing them saves no memory.
void Recomputation::warnOfUnread() const {
  llvm::MapVector<Location, SmallVector<RecomputeOp>> idle; // by the location of the statement
  for (RecomputeOp statement : statements)
    if (!repeating.contains(statement))
      idle[statement.getLoc()].push_back(statement);
  for (auto &[location, modules] : idle)
    warnNothingRepeated(modules);
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
  // A match reads its value only for the layout.
  for (Operation *op : backward)
    for (OpOperand &operand : op->getOpOperands())
      operand.set(again(operand.get(), op));
  if (failed(checkKept()))
    return failure();
  warnOfUnread();
  return success();
}

namespace {

struct RecomputePass : meshplan::impl::RecomputeBase<RecomputePass> {
  void runOnOperation() final {
    ModuleOp module = getOperation();
    SmallVector<RecomputeOp> statements(module.getOps<RecomputeOp>());
    auto step = programOf(module, base::ProgramRole::step);
    if (step && !statements.empty() && failed(Recomputation(step, statements).run()))
      return signalPassFailure();
    for (RecomputeOp statement : statements)
      statement.erase();
  }
};

} // namespace
