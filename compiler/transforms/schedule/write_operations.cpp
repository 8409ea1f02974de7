//===- write_operations.cpp - operations of a problem as ops of sched -----===//
//
// The results of a collective are defined by its wait and not by its start, so no op can be written that reads them
// while they are in flight.

#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/op_record.h"
#include "compiler/sharding/storage/transfers.h"
#include "compiler/transforms/schedule/program_writer.h"
#include "compiler/transforms/schedule/row_parts.h"
#include "compiler/transforms/schedule/write_program.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/programs.h"
#include "dialect/plan/reshard_steps.h"
#include "dialect/plan/step_name.h"

using namespace mlir;

namespace meshplan {

/// The operators that join parts, and that view their rows.
static constexpr StringLiteral joinTarget = "aten.cat.default", rowsTarget = "aten.slice.Tensor";

StringRef writtenName(scheduling::Copy copy) {
  switch (copy) {
  case scheduling::Copy::none:
    return "";
  case scheduling::Copy::pack:
    return "pack";
  case scheduling::Copy::unpack:
    return "unpack";
  case scheduling::Copy::join:
    return joinTarget;
  case scheduling::Copy::rows:
    return rowsTarget;
  }
  llvm_unreachable("unknown copy");
}

/// Arguments of a call as attributes of sched. Literals are the same in both dialects.
static Attribute toSchedArgument(Attribute argument) {
  MLIRContext *context = argument.getContext();
  if (auto operand = dyn_cast<plan::OperandRefAttr>(argument))
    return sched::OperandRefAttr::get(context, operand.getIndex());
  if (auto local = dyn_cast<plan::LocalIntAttr>(argument))
    return sched::LocalIntAttr::get(context, local.getConstant(), local.getOfResult(), local.getIndex(), local.getDim(),
                                    local.getOffsetScale(), local.getExtentScale(), local.getMicrobatchScale());
  if (auto list = dyn_cast<ArrayAttr>(argument))
    return ArrayAttr::get(context, llvm::map_to_vector(list, toSchedArgument));
  return argument;
}

static DictionaryAttr toSchedArguments(DictionaryAttr arguments) {
  SmallVector<NamedAttribute> converted;
  for (NamedAttribute argument : arguments)
    converted.emplace_back(argument.getName(), toSchedArgument(argument.getValue()));
  return DictionaryAttr::get(arguments.getContext(), converted);
}

void ProgramWriter::writeGradient(plan::CallOp call) {
  CallView view = CallView::of(call);
  std::optional<unsigned> gradient = view.getOperand("gradient"), parameter = view.getOperand("parameter");
  const OpRecord *record = OpRegistry::get().lookup(call.getTarget());
  if (!gradient || !parameter || !record || !llvm::is_contained(record->overwrites, "parameter"))
    return;
  // The rank may update a shard or a copy of the parameter.
  BlockArgument changed = arguments.parameterOf(sourceArgument(call.getOperand(*parameter)));
  if (!changed)
    return;
  Value owner = values.lookup(changed);
  if (owner.getDefiningOp<sched::ParameterOp>())
    sched::GradientOp::create(builder, call.getLoc(), values.lookup(call.getOperand(*gradient)), owner);
}

/// Writes a call that splitting adds, for the op that an operation comes from.
Value ProgramWriter::writeCall(unsigned index, Type type, StringRef target, ValueRange operands,
                               DictionaryAttr arguments) {
  Operation *op = projection.operations[index].front();
  auto written = sched::ComputeOp::create(builder, op->getLoc(), type, builder.getStringAttr(target), operands,
                                          arguments, DenseI64ArrayAttr(), plan::stepModule(op), UnitAttr());
  markDirection(op, written);
  return written.getResult(0);
}

/// Joins the results of all parts.
void ProgramWriter::writeJoin(unsigned index) {
  auto parts = valuesOf(problem.operations[index].consumed);
  SmallVector<Attribute> references;
  for (unsigned part = 0; part < parts.size(); ++part)
    references.push_back(sched::OperandRefAttr::get(builder.getContext(), part));
  Value whole = projection.operations[index].front()->getResult(0);
  NamedAttribute arguments[] = {
      builder.getNamedAttr("tensors", builder.getArrayAttr(references)),
      builder.getNamedAttr("dim", builder.getI64IntegerAttr(projection.partOf(index)->dims.result)),
  };
  values.map(whole, writeCall(index, typeOf(whole), joinTarget, parts, builder.getDictionaryAttr(arguments)));
}

/// A view of the rows that a part reads of a tensor.
void ProgramWriter::writeRows(unsigned index) {
  const scheduling::Operation &view = problem.operations[index];
  const Part &part = *projection.partOf(index);
  Value whole = projection.buffers[view.consumed.front()];
  auto operands = projection.operations[index].front()->getOperands();
  unsigned dim = *part.dims.operands[llvm::find(operands, whole) - operands.begin()];
  RankedTensorType type = partType(whole.getType(), dim, part.count);
  int64_t rows = layouts.get(type).local.front().getDimSize(dim);
  NamedAttribute arguments[] = {
      builder.getNamedAttr("self", sched::OperandRefAttr::get(builder.getContext(), 0)),
      builder.getNamedAttr("dim", builder.getI64IntegerAttr(dim)),
      builder.getNamedAttr("start", builder.getI64IntegerAttr(*part.index * rows)),
      builder.getNamedAttr("end", builder.getI64IntegerAttr((*part.index + 1) * rows)),
  };
  packed[view.produced.front()] =
      writeCall(index, layouts.get(type).type, rowsTarget, values.lookup(whole), builder.getDictionaryAttr(arguments));
}

sched::ShardedTensorType ProgramWriter::movedType(unsigned index, Value value) {
  const Part *part = projection.partOf(index);
  return part ? layouts.get(partType(value.getType(), part->dims.result, part->count)).type : typeOf(value);
}

/// Packs what a collective sends, or unpacks what it has received.
void ProgramWriter::writeCopy(unsigned index) {
  const scheduling::Operation &copy = problem.operations[index];
  ArrayRef<Operation *> ops = projection.operations[index];
  if (copy.copy == scheduling::Copy::join)
    return writeJoin(index);
  if (copy.copy == scheduling::Copy::rows)
    return writeRows(index);
  if (copy.copy == scheduling::Copy::pack) {
    packed[copy.produced.front()] =
        sched::PackOp::create(builder, location, packedType(index, [](Operation *op) { return op->getOperand(0); }),
                              valuesOf(copy.consumed), UnitAttr());
    return;
  }
  if (projection.partOf(index)) {
    auto unpack = sched::UnpackOp::create(builder, location, movedType(index, ops.front()->getResult(0)),
                                          packed.lookup(copy.consumed.front()), ValueRange(), UnitAttr());
    packed[copy.produced.front()] = unpack.getResult(0);
    return;
  }
  auto types = llvm::map_to_vector(ops, [&](Operation *op) -> Type { return typeOf(op->getResult(0)); });
  auto targets = llvm::map_to_vector(copy.overwritten, [&](unsigned buffer) { return valueOf(buffer); });
  auto unpack =
      sched::UnpackOp::create(builder, location, types, packed.lookup(copy.consumed.front()), targets, UnitAttr());
  for (auto [op, result] : llvm::zip_equal(ops, unpack.getResults()))
    values.map(op->getResult(0), result);
}

void ProgramWriter::writeRun(unsigned index) {
  if (problem.operations[index].copy != scheduling::Copy::none)
    return writeCopy(index);
  Operation &op = *projection.operations[index].front();
  if (auto slice = dyn_cast<plan::SliceOp>(op)) {
    auto written =
        sched::SliceOp::create(builder, op.getLoc(), typeOf(slice.getResult()), values.lookup(slice.getInput()));
    markDirection(&op, written);
    values.map(slice.getResult(), written.getResult());
    return;
  }
  auto call = cast<plan::CallOp>(op);
  if (projection.partOf(index))
    return writePart(index, call);
  writeGradient(call);
  SmallVector<Value> operands = llvm::map_to_vector(call.getOperands(), [&](Value v) { return values.lookup(v); });
  SmallVector<Type> types = llvm::map_to_vector(call.getResults(), [&](Value value) -> Type { return typeOf(value); });
  // The runtime gives the result the memory of the operand that it overwrites.
  SmallVector<int64_t> overwritten;
  if (const OpRecord *record = OpRegistry::get().lookup(call.getTarget()))
    for (StringRef name : record->overwrites)
      overwritten.push_back(*CallView::of(call).getOperand(name));
  auto written = sched::ComputeOp::create(
      builder, op.getLoc(), types, call.getTargetAttr(), operands, toSchedArguments(call.getArgs()),
      overwritten.empty() ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(overwritten), call.getModuleAttr(),
      plan::isOnHost(call.getResult(0)) ? builder.getUnitAttr() : UnitAttr());
  markDirection(call, written);
  values.map(call.getResults(), written.getResults());
}

void ProgramWriter::writePart(unsigned index, plan::CallOp call) {
  const scheduling::Operation &operation = problem.operations[index];
  packed[operation.produced.front()] = writeCall(index, movedType(index, call.getResult(0)), call.getTarget(),
                                                 valuesOf(operation.consumed), toSchedArguments(call.getArgs()));
}

/// Begins a copy between device and host memory.
void ProgramWriter::writeTransfer(unsigned index) {
  auto call = cast<plan::CallOp>(projection.operations[index].front());
  TransferOperands operands = transferOperands(call);
  Value target = operands.target ? values.lookup(operands.target) : Value();
  auto copy = sched::CopyOp::create(
      builder, call.getLoc(), sched::TokenType::get(builder.getContext(), typeOf(call.getResult(0))),
      values.lookup(operands.source), plan::isOnHost(call.getResult(0)) ? builder.getUnitAttr() : UnitAttr(),
      builder.getI64IntegerAttr(sequence++), call.getModuleAttr(), target);
  markDirection(call, copy);
  tokens[index] = copy;
}

void ProgramWriter::markDirection(Operation *op, Operation *written) const {
  base::Direction direction = parts.directionOf(op);
  if (direction != base::Direction::forward)
    written->setDiscardableAttr(sched::SchedDialect::DirectionAttrHelper::getNameStr(),
                                base::DirectionAttr::get(builder.getContext(), direction));
}

void ProgramWriter::markMoved(ArrayRef<Operation *> ops, Operation *start) const {
  markDirection(ops.front(), start);
  base::Purpose purpose = parts.purposeOf(ops.front());
  if (purpose != base::Purpose::activations)
    start->setDiscardableAttr(sched::SchedDialect::PurposeAttrHelper::getNameStr(),
                              base::PurposeAttr::get(builder.getContext(), purpose));
  if (std::string subject = parts.subjectOf(ops); !subject.empty())
    start->setDiscardableAttr(sched::SchedDialect::SubjectAttrHelper::getNameStr(), builder.getStringAttr(subject));
}

/// Tensors that are adjacent in a buffer, as one value; a single tensor is itself.
Value ProgramWriter::packInPlace(ValueRange tensors, Location at) {
  if (tensors.size() == 1)
    return tensors.front();
  auto members =
      llvm::map_to_vector(tensors, [](Value each) { return cast<sched::ShardedTensorType>(each.getType()); });
  return sched::PackOp::create(builder, at, sched::PackedType::get(builder.getContext(), members), tensors,
                               builder.getUnitAttr());
}

void ProgramWriter::writeStart(unsigned index) {
  ArrayRef<Operation *> ops = projection.operations[index];
  Operation &op = *ops.front();
  const scheduling::Operation &operation = problem.operations[index];
  SmallVector<Value> sent, targets;
  // Without a packed buffer, what is read is the inputs, and the targets if they are others.
  for (unsigned buffer :
       ArrayRef(operation.consumed).take_front(projection.buffers[operation.consumed.front()] ? ops.size() : 1))
    sent.push_back(valueOf(buffer));
  for (unsigned buffer : operation.overwritten)
    targets.push_back(valueOf(buffer));
  Value input = packInPlace(sent, op.getLoc());
  Value target = targets.empty() ? Value() : targets == sent ? input : packInPlace(targets, op.getLoc());
  for (Value value : {input, target})
    if (auto pack = value ? value.getDefiningOp<sched::PackOp>() : sched::PackOp();
        pack && pack.getInPlace() && !llvm::is_contained(packedInPlace[index], value))
      packedInPlace[index].push_back(value);
  Type result = packedType(index, [](Operation *each) { return each->getResult(0); });
  if (ops.size() == 1 && !isUnpacked[operation.produced.front()])
    result = movedType(index, op.getResult(0));
  auto exchange = dyn_cast<plan::AllToAllOp>(op);
  auto communicator = FlatSymbolRefAttr::get(builder.getContext(), problem.communicators[*operation.communicator].name);
  // All ranks issue collectives in this order, or they would wait for each other forever.
  auto start = sched::StartOp::create(
      builder, op.getLoc(), sched::TokenType::get(builder.getContext(), result),
      sched::CollectiveKindAttr::get(builder.getContext(), *plan::collectiveKindOf(&op)), input, plan::stepDim(&op),
      exchange ? exchange.getFromDimAttr() : IntegerAttr(), communicator, builder.getI64IntegerAttr(sequence++),
      plan::stepCause(&op), plan::stepModule(&op), plan::opAttr<plan::attr::ActivationSum>(&op), target,
      isa<plan::ExchangeOp>(op) ? valueOf(operation.consumed.back()) : Value());
  markMoved(ops, start);
  tokens[index] = start;
}

void ProgramWriter::writeWait(unsigned index) {
  ArrayRef<Operation *> ops = projection.operations[index];
  auto token = cast<TypedValue<sched::TokenType>>(tokens.lookup(index));
  auto wait = sched::WaitOp::create(builder, ops.front()->getLoc(), token.getType().getResult(), token);
  SmallVector<Value, 2> over = packedInPlace.lookup(index);
  unsigned produced = problem.operations[index].produced.front();
  if (!projection.buffers[produced]) {
    packed[produced] = wait.getResult();
  } else if (isa<sched::PackedType>(wait.getResult().getType())) {
    // The collective has written into a buffer, in which the results are.
    auto types = llvm::map_to_vector(ops, [&](Operation *op) -> Type { return typeOf(op->getResult(0)); });
    auto unpack = sched::UnpackOp::create(builder, ops.front()->getLoc(), types, wait.getResult(), ValueRange(),
                                          builder.getUnitAttr());
    for (auto [op, result] : llvm::zip_equal(ops, unpack.getResults()))
      values.map(op->getResult(0), result);
    over.push_back(wait.getResult());
  } else {
    values.map(ops.front()->getResult(0), wait.getResult());
  }
  if (!over.empty())
    sched::FreeOp::create(builder, ops.front()->getLoc(), over);
}

} // namespace meshplan
