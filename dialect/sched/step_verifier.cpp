//===- step_verifier.cpp - rules of a step by itself ----------------------===//
//
// Rules have labels that reappear in test/dialect/sched/program_verifier.mlir. These hold for a step wherever it is in
// the order:
//
//   P2, P4, P5      it is known to a program, and so are its communicator and the axes of its layouts
//   P12, P13, T1    what is packed is read by one collective, and unpacked once; each start has one wait
//   P26             routed values stay on their rank
//   W3              no instance runs a part of a collective or of a copy
//   W5, W7          `when` means something

#include "dialect/sched/program_rules.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::sched;

namespace {
class StepVerifier {
public:
  explicit StepVerifier(ProgramOp program) : program(program), meshSizes(program.getMeshSizes()) {
    for (auto communicator : program->getParentOfType<ModuleOp>().getOps<CommunicatorOp>())
      communicators.insert(communicator.getSymName());
  }

  LogicalResult verify(Operation &step);

private:
  LogicalResult verifyNames(Operation &step);
  LogicalResult verifyLayout(Operation &step, ShardedTensorType type);
  LogicalResult verifyWhen(Operation &step);

  ProgramOp program;
  SmallVector<int64_t> meshSizes;
  llvm::StringSet<> communicators;
  DenseSet<Type> knownLayouts;
};
} // namespace

/// P26: how many rows a rank has of a routed value is known when the program runs, and only to this rank. Only an
/// exchange (C16) moves them. Ranks with the same rows sum and gather them; a slice has a part of their features (C18).
static LogicalResult verifyRoutedStaysLocal(Operation &step) {
  auto isRouted = [](Type type) {
    if (auto token = dyn_cast<TokenType>(type))
      type = token.getResult();
    auto tensor = dyn_cast<ShardedTensorType>(type);
    return tensor && tensor.getRouted();
  };
  bool hasRouted = llvm::any_of(step.getOperandTypes(), isRouted) || llvm::any_of(step.getResultTypes(), isRouted);
  if (hasRouted && !isa<ComputeOp, FreeOp, SliceOp, StartOp, WaitOp>(step))
    return step.emitOpError("moves, keeps or gives out a value that is routed to experts");
  return success();
}

LogicalResult StepVerifier::verifyNames(Operation &step) {
  auto communicator = step.getAttrOfType<FlatSymbolRefAttr>("communicator");
  if (communicator && !communicators.contains(communicator.getValue())) // P4
    return step.emitOpError() << "uses the unknown communicator " << communicator;
  return success();
}

/// P5: axes of a layout are digits of the mesh axes of the program's ranks.
LogicalResult StepVerifier::verifyLayout(Operation &step, ShardedTensorType type) {
  // Types are unique, and a program of thousands of values has few of them.
  if (!knownLayouts.insert(type).second)
    return success();
  SmallVector<AxisAttr> axes(type.getPartialAxes());
  llvm::append_range(axes, type.getFlatAxes());
  for (DimAttr dim : type.getDims())
    llvm::append_range(axes, dim.getAxes());
  for (AxisAttr axis : axes)
    if (axis.getAxis() >= static_cast<int64_t>(meshSizes.size()) ||
        meshSizes[axis.getAxis()] % (axis.getPre() * axis.getSize()) != 0)
      return step.emitOpError() << "has the layout " << type << ", in which " << axis
                                << " is not a digit of an axis of the program's ranks";
  return success();
}

LogicalResult StepVerifier::verifyWhen(Operation &step) {
  if (whenOf(&step) != base::When::always && program.getRole() == base::ProgramRole::microbatch) // W5
    return step.emitOpError() << "runs only in the " << (whenOf(&step) == base::When::first ? "first" : "last")
                              << " instance of a timeline, which is none of this program";
  if (whenOf(&step) == base::When::deferred &&
      !isa<WaitOp, UnpackOp, ComputeOp, SliceOp, PackOp, StartOp, FreeOp>(step)) // W7
    return step.emitOpError("cannot be deferred: only what follows from a collective can");
  return success();
}

/// P12: what is packed is read by one collective.
static LogicalResult verifyPack(PackOp pack) {
  DenseSet<Operation *> starts;
  for (Operation *user : pack.getResult().getUsers())
    if (isa<StartOp>(user))
      starts.insert(user);
  if (starts.size() != 1)
    return pack.emitOpError() << "is read by " << starts.size() << " collectives, must be read by one";
  return success();
}

/// W3: no instance runs a part of a collective or of a copy.
static LogicalResult verifySameInstances(Operation &step, ArrayRef<Operation *> parts) {
  base::When when = whenOf(&step), waits = whenOf(cast<WaitOp>(parts.front()));
  for (Operation *part : parts)
    // The wait, and with it the unpack, may be deferred without the rest.
    if (whenOf(part) != (isa<WaitOp, UnpackOp>(part) && when == base::When::always && waits == base::When::deferred
                             ? base::When::deferred
                             : when))
      return part->emitOpError() << "is 'when " << base::stringifyWhen(whenOf(part)) << "', its " << kindOf(&step)
                                 << " is 'when " << base::stringifyWhen(whenOf(&step)) << "'";
  return success();
}

/// T1: a start has one wait.
static LogicalResult verifyToken(Operation &step, Value token) {
  auto uses = token.getUses();
  if (llvm::hasSingleElement(uses))
    return success();
  return step.emitOpError() << "is waited for " << std::distance(uses.begin(), uses.end())
                            << " times, must be exactly once";
}

static LogicalResult verifyStart(StartOp start) {
  if (failed(verifyToken(*start, start.getToken())))
    return failure();
  Value result = start.getWait().getResult();
  auto unpacks = llvm::count_if(result.getUsers(), [](Operation *user) { return isa<UnpackOp>(user); });
  if (isa<PackedType>(result.getType()) && unpacks != 1) // P13
    return start.emitOpError() << "gives a packed value that is unpacked " << unpacks << " times, must be exactly once";
  SmallVector<Operation *> parts{start.getWait()};
  for (Value packed : {Value(start.getInput()), Value(start.getTarget())})
    if (packed && packed.getDefiningOp<PackOp>())
      parts.push_back(packed.getDefiningOp());
  for (Operation *user : result.getUsers())
    if (isa<UnpackOp>(user))
      parts.push_back(user);
  return verifySameInstances(*start, parts);
}

LogicalResult StepVerifier::verify(Operation &step) {
  if (!isa_and_nonnull<SchedDialect>(step.getDialect())) // P2
    return step.emitOpError("is not an op that a program may contain");
  if (failed(verifyNames(step)) || failed(verifyRoutedStaysLocal(step)))
    return failure();
  for (Type result : step.getResultTypes())
    if (auto type = dyn_cast<ShardedTensorType>(result); type && failed(verifyLayout(step, type)))
      return failure();
  if (failed(verifyWhen(step)))
    return failure();
  if (auto pack = dyn_cast<PackOp>(step))
    return verifyPack(pack);
  if (auto start = dyn_cast<StartOp>(step))
    return verifyStart(start);
  if (auto copy = dyn_cast<CopyOp>(step))
    return failure(failed(verifyToken(step, copy.getToken())) || failed(verifySameInstances(step, {copy.getWait()})));
  return success();
}

LogicalResult sched::verifySteps(ProgramOp program) {
  StepVerifier verifier(program);
  return failure(
      llvm::any_of(program.getBody().front(), [&](Operation &step) { return failed(verifier.verify(step)); }));
}
