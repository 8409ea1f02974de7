//===- declaration_verifier.cpp - what a program declares -----------------===//
//
// What the loader of the artifact also requires (runtime/artifact/verify_program.cpp). Rules have labels (P) that
// reappear in test/dialect/sched/program_verifier.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialect/sched/program_rules.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::sched;

/// P20: the names of one kind of declaration are there and differ.
static LogicalResult verifyNames(ProgramOp program) {
  llvm::StringMap<llvm::StringMap<Operation *>> known;
  for (Operation &op : program.getBody().front()) {
    auto state = dyn_cast<StateOp>(op);
    SmallVector<Attribute> names;
    if (auto parameter = dyn_cast<ParameterOp>(op))
      llvm::append_range(names, parameter.getNames());
    else if (isa<InputOp, OutputOp, StateOp, SettingOp, BufferOp>(op))
      names.push_back(op.getAttr("name"));
    StringRef kind = state && !state.getParameter() ? "accumulator" : op.getName().stripDialect();
    for (Attribute name : names) {
      StringRef text = cast<StringAttr>(name).getValue();
      if (text.empty())
        return op.emitOpError("has an empty name");
      if (auto [other, isNew] = known[kind].try_emplace(text, &op); !isNew)
        return (op.emitOpError() << "has the name \"" << text << "\" of another " << kind)
                   .attachNote(other->second->getLoc())
               << "the other one is here";
    }
  }
  return success();
}

/// P21: a second update or gradient of a value would depend on their order.
static LogicalResult verifyOnce(ProgramOp program) {
  DenseMap<Value, Operation *> updated, derived;
  for (Operation &op : program.getBody().front()) {
    auto update = dyn_cast<UpdateOp>(op);
    auto gradient = dyn_cast<GradientOp>(op);
    if (!update && !gradient)
      continue;
    auto [other, isNew] =
        update ? updated.try_emplace(update.getTarget(), &op) : derived.try_emplace(gradient.getParameter(), &op);
    if (!isNew)
      return op.emitOpError(update ? "is the second update of its target" : "is the second gradient of its parameter")
                 .attachNote(other->second->getLoc())
             << "the first one is here";
  }
  return success();
}

static bool haveSameShape(ShardedTensorType left, ShardedTensorType right) {
  return llvm::equal(left.getDims(), right.getDims(),
                     [](DimAttr one, DimAttr other) { return one.getExtent() == other.getExtent(); });
}

/// P18: a state belongs to a parameter of the program. P22: one that begins as a copy has its shape.
static LogicalResult verifyStates(ProgramOp program) {
  llvm::StringMap<ShardedTensorType> parameters; // by first name
  for (auto parameter : program.getBody().getOps<ParameterOp>())
    parameters[cast<StringAttr>(parameter.getNames()[0]).getValue()] = parameter.getResult().getType();
  for (auto state : program.getBody().getOps<StateOp>()) {
    std::optional<StringRef> name = state.getParameter();
    if (!name)
      continue;
    auto found = parameters.find(*name);
    if (found == parameters.end())
      return state.emitOpError() << "is a state of '" << *name
                                 << "', which is not the first name of a parameter of the program";
    ShardedTensorType own = state.getResult().getType();
    if (state.getCopies() && !haveSameShape(found->second, own))
      return state.emitOpError() << "of type " << own << " copies '" << *name << "' of type " << found->second;
  }
  return success();
}

/// P23: a guard has the output that it is about.
static LogicalResult verifyGuard(ProgramOp program) {
  if (!program.getGuard())
    return success();
  for (auto output : program.getBody().getOps<OutputOp>())
    if (output.getName() == base::nonfiniteOutput) {
      ShardedTensorType type = output.getValue().getType();
      bool isOne = type.getElementType().isInteger(64) && type.getDims().empty();
      return isOne
                 ? success()
                 : output.emitOpError() << "of a guarded program has type " << type << ", must be one i64 without dims";
    }
  return program.emitOpError() << "has a guard, but no output \"" << base::nonfiniteOutput << '"';
}

/// P24: the axes of the program's own ranks have different names. P3: a run finds a step and an evaluation by role.
static LogicalResult verifyProgram(ProgramOp program) {
  llvm::StringSet<> names;
  for (auto axis : program.getDevices().value_or(ArrayAttr::get(program.getContext(), {})).getAsRange<MeshAxisAttr>())
    if (!names.insert(axis.getName()).second)
      return program.emitOpError() << "has two axes named \"" << axis.getName() << "\"";
  base::ProgramRole role = program.getRole();
  if (role != base::ProgramRole::step && role != base::ProgramRole::eval)
    return success();
  ProgramOp first = programOf(program->getParentOfType<ModuleOp>(), role);
  if (first == program)
    return success();
  return (program.emitOpError() << "is the second program of role '" << base::stringifyProgramRole(role) << "'")
             .attachNote(first.getLoc())
         << "the first one is here";
}

LogicalResult meshplan::sched::verifyDeclarations(ProgramOp program) {
  return success(llvm::all_of(llvm::ArrayRef({verifyProgram, verifyNames, verifyOnce, verifyStates, verifyGuard}),
                              [&](auto *verify) { return succeeded(verify(program)); }));
}
