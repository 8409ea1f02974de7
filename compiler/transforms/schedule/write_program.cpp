//===- write_program.cpp - writes a solution as a sched.program -----------===//
//
// The solution is a list of steps over indices of the problem. Each becomes an op of sched, in order, so that a program
// is a straight line that a rank executes. `values` maps each value of the function to the sched value that holds it.
// The results of a collective are defined by its wait and not by its start, so no op can be written that reads them
// while they are in flight.
//
// A program that a timeline runs several times has one body. instances.h says which operations only the first or only
// the last instance runs; their steps are written `when first` and `when last`. Those that an instance leaves to the
// next one (scheduling/defer.h) are written `when deferred`, and a `sched.resume` is where the next one runs them.

#include "compiler/transforms/schedule/write_program.h"
#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/dataflow/step_parts.h"
#include "compiler/sharding/op_record.h"
#include "compiler/sharding/storage/storages.h"
#include "compiler/sharding/storage/transfers.h"
#include "compiler/transforms/schedule/program_estimates.h"
#include "compiler/transforms/schedule/splits.h"
#include "dialect/plan/argument_table.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/programs.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using meshplan::scheduling::Step;

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

namespace {
class ProgramWriter {
public:
  ProgramWriter(OpBuilder &builder, func::FuncOp function, const ProjectedFunction &projection,
                const scheduling::Instances &instances, LayoutTable &layouts)
      : builder(builder), function(function), projection(projection), problem(projection.problem), layouts(layouts),
        instances(instances), resumeOf(instances.solution.steps.size()), parts(function), arguments(function),
        location(function.getLoc()), compute(stream(computeLane)), isUnpacked(problem.buffers.size()) {
    for (const scheduling::Operation &operation : problem.operations)
      if (operation.copy == scheduling::Copy::unpack)
        isUnpacked.set(operation.consumed.front());
  }

  void write(ArrayRef<scheduling::InstanceTimes> times);

private:
  void writeArguments();
  /// A state of the optimizer, or a setting.
  Value writeGiven(BlockArgument argument, StringAttr name);
  /// Writes the buffers: arguments that share a storage.
  void writeBuffers();
  void writeConstants();
  void writeSteps();
  /// Writes what runs the deferred steps that come before a step of the next instance.
  void writeResumes(size_t position);
  void writeRun(unsigned index);
  void writeCopy(unsigned index);
  /// Notes, for traces, which part of a step an operation belongs to, and what a collective moves.
  void markDirection(Operation *op, Operation *written) const;
  void markMoved(ArrayRef<Operation *> ops, Operation *start) const;
  /// Marks the gradient before an optimizer call, where it is reduced and alive.
  void writeGradient(plan::CallOp call);
  Value packInPlace(ValueRange tensors, Location at);
  Value writeCall(unsigned index, Type type, StringRef target, ValueRange operands, DictionaryAttr arguments);
  void writePart(unsigned index, plan::CallOp call);
  void writeJoin(unsigned index);
  void writeRows(unsigned index);
  sched::ShardedTensorType movedType(unsigned index, Value value);
  void writeStart(unsigned index);
  void writeTransfer(unsigned index);
  void writeWait(unsigned index);
  /// Writes adjacent frees, which begin at this position.
  void writeFrees(size_t position, size_t count);
  void writeOperation(size_t position);
  /// In which instances a step of the solution runs.
  base::When whenOf(size_t position) const;
  void writeOutputs();

  FlatSymbolRefAttr stream(unsigned index) const {
    return FlatSymbolRefAttr::get(builder.getContext(), problem.lanes[index].name);
  }
  sched::ShardedTensorType typeOf(Value value) { return layouts.get(value.getType()).type; }
  sched::PackedType packedType(unsigned index, function_ref<Value(Operation *)> member) {
    return sched::PackedType::get(
        builder.getContext(),
        llvm::map_to_vector(projection.operations[index], [&](Operation *op) { return movedType(index, member(op)); }));
  }
  /// The value of a buffer of the problem.
  Value valueOf(unsigned buffer) const {
    Value source = projection.buffers[buffer];
    return source ? values.lookup(source) : packed.lookup(buffer);
  }

  SmallVector<Value> valuesOf(ArrayRef<unsigned> buffers) const {
    return llvm::map_to_vector(buffers, [&](unsigned buffer) { return valueOf(buffer); });
  }

  OpBuilder &builder;
  func::FuncOp function;
  const ProjectedFunction &projection;
  const scheduling::Problem &problem;
  LayoutTable &layouts;
  const scheduling::Instances &instances;
  /// By step of the solution: the op that runs it for the instance before, if it is deferred.
  std::vector<sched::ResumeOp> resumeOf;
  StepParts parts;
  plan::ArgumentTable arguments;
  /// Location of the last step, which frees use as well.
  Location location;
  FlatSymbolRefAttr compute;
  IRMapping values;
  llvm::BitVector isUnpacked;       ///< by buffer: what is received packed
  DenseMap<unsigned, Value> packed; ///< by buffer: what is sent or received packed, and the results of parts
  DenseMap<unsigned, Value> tokens; ///< by operation
  /// What a collective in flight reads or writes in place of several tensors, to be freed after its wait.
  DenseMap<unsigned, SmallVector<Value, 2>> packedInPlace;
  int64_t sequence = 0;
};
} // namespace

void ProgramWriter::writeArguments() {
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto names = plan::argAttr<plan::attr::Names>(function, index);
    // The artifact has a name for every argument.
    if (!names || names.empty())
      names = builder.getStrArrayAttr({("arg" + Twine(index)).str()});
    std::optional<plan::ArgumentKind> kind = plan::argumentKind(argument);
    if (kind == plan::ArgumentKind::state || kind == plan::ArgumentKind::setting ||
        kind == plan::ArgumentKind::accumulator) {
      values.map(argument, writeGiven(argument, cast<StringAttr>(names[0])));
      continue;
    }
    if (kind == plan::ArgumentKind::input) {
      auto input = sched::InputOp::create(builder, argument.getLoc(), typeOf(argument), cast<StringAttr>(names[0]),
                                          plan::argAttr<plan::attr::Dims>(function, index));
      values.map(argument, input.getResult());
      continue;
    }
    auto trainable = plan::argAttr<plan::attr::Trainable>(function, index);
    auto parameter = sched::ParameterOp::create(
        builder, argument.getLoc(), typeOf(argument), names, trainable && trainable.getValue(),
        kind == plan::ArgumentKind::buffer, plan::isOnHost(argument),
        dyn_cast_or_null<base::InitAttr>(plan::argAttr<plan::attr::Init>(function, index)));
    values.map(argument, parameter.getResult());
  }
}

Value ProgramWriter::writeGiven(BlockArgument argument, StringAttr name) {
  unsigned index = argument.getArgNumber();
  if (plan::argumentKind(argument) == plan::ArgumentKind::accumulator)
    return sched::StateOp::create(builder, argument.getLoc(), typeOf(argument), name, StringAttr(), UnitAttr(),
                                  plan::argAttr<plan::attr::Scratch>(function, index), UnitAttr());
  if (auto of = plan::argAttr<plan::attr::Of>(function, index)) {
    auto copies = plan::argAttr<plan::attr::Copies>(function, index);
    return sched::StateOp::create(builder, argument.getLoc(), typeOf(argument), name, of.getName(), copies, UnitAttr(),
                                  plan::isOnHost(argument) ? builder.getUnitAttr() : UnitAttr());
  }
  return sched::SettingOp::create(builder, argument.getLoc(), typeOf(argument), name,
                                  plan::argAttr<plan::attr::Value>(function, index),
                                  plan::argAttr<plan::attr::Schedule>(function, index));
}

void ProgramWriter::writeBuffers() {
  for (const Storage &storage : storagesOf(function))
    sched::BufferOp::create(builder, function.getLoc(), builder.getStringAttr(storage.name),
                            llvm::map_to_vector(storage.arguments, [&](Value each) { return values.lookup(each); }),
                            storage.isRegistered ? builder.getUnitAttr() : UnitAttr());
}

void ProgramWriter::writeConstants() {
  for (auto constant : function.getOps<plan::ConstantOp>()) {
    auto written = sched::ConstantOp::create(builder, constant.getLoc(), typeOf(constant.getResult()),
                                             constant.getNameAttr(), constant.getValue());
    values.map(constant.getResult(), written.getResult());
  }
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
  auto written =
      sched::ComputeOp::create(builder, op->getLoc(), type, builder.getStringAttr(target), operands, arguments,
                               DenseI64ArrayAttr(), op->getAttrOfType<StringAttr>("module"), compute, UnitAttr());
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

/// The type of the first operand or of the result of a collective, or of its part.
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
                              valuesOf(copy.consumed), UnitAttr(), compute);
    return;
  }
  if (projection.partOf(index)) {
    auto unpack = sched::UnpackOp::create(builder, location, movedType(index, ops.front()->getResult(0)),
                                          packed.lookup(copy.consumed.front()), ValueRange(), UnitAttr(), compute);
    packed[copy.produced.front()] = unpack.getResult(0);
    return;
  }
  auto types = llvm::map_to_vector(ops, [&](Operation *op) -> Type { return typeOf(op->getResult(0)); });
  auto targets = llvm::map_to_vector(copy.overwritten, [&](unsigned buffer) { return valueOf(buffer); });
  auto unpack = sched::UnpackOp::create(builder, location, types, packed.lookup(copy.consumed.front()), targets,
                                        UnitAttr(), compute);
  for (auto [op, result] : llvm::zip_equal(ops, unpack.getResults()))
    values.map(op->getResult(0), result);
}

void ProgramWriter::writeRun(unsigned index) {
  if (problem.operations[index].copy != scheduling::Copy::none)
    return writeCopy(index);
  Operation &op = *projection.operations[index].front();
  if (auto slice = dyn_cast<plan::SliceOp>(op)) {
    auto written = sched::SliceOp::create(builder, op.getLoc(), typeOf(slice.getResult()),
                                          values.lookup(slice.getInput()), compute);
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
      compute, plan::isOnHost(call.getResult(0)) ? builder.getUnitAttr() : UnitAttr());
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
      stream(problem.operations[index].lane), builder.getI64IntegerAttr(sequence++), call.getModuleAttr(), target);
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
                               builder.getUnitAttr(), compute);
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
  auto dim = op.getAttrOfType<IntegerAttr>(isa<plan::AllToAllOp>(op) ? "to_dim" : "dim");
  auto communicator = FlatSymbolRefAttr::get(builder.getContext(), problem.communicators[*operation.communicator].name);
  // All ranks issue collectives in this order, or they would wait for each other forever.
  auto start = sched::StartOp::create(
      builder, op.getLoc(), sched::TokenType::get(builder.getContext(), result),
      sched::CollectiveKindAttr::get(builder.getContext(), *plan::collectiveKindOf(&op)), input, dim,
      op.getAttrOfType<IntegerAttr>("from_dim"), communicator, stream(operation.lane),
      builder.getI64IntegerAttr(sequence++), op.getAttrOfType<StringAttr>("cause"),
      op.getAttrOfType<StringAttr>("module"), plan::opAttr<plan::attr::ActivationSum>(&op), target);
  markMoved(ops, start);
  tokens[index] = start;
}

void ProgramWriter::writeWait(unsigned index) {
  ArrayRef<Operation *> ops = projection.operations[index];
  auto token = cast<TypedValue<sched::TokenType>>(tokens.lookup(index));
  auto wait = sched::WaitOp::create(builder, ops.front()->getLoc(), token.getType().getResult(), token, compute);
  SmallVector<Value, 2> over = packedInPlace.lookup(index);
  unsigned produced = problem.operations[index].produced.front();
  if (!projection.buffers[produced]) {
    packed[produced] = wait.getResult();
  } else if (isa<sched::PackedType>(wait.getResult().getType())) {
    // The collective has written into a buffer, in which the results are.
    auto types = llvm::map_to_vector(ops, [&](Operation *op) -> Type { return typeOf(op->getResult(0)); });
    auto unpack = sched::UnpackOp::create(builder, ops.front()->getLoc(), types, wait.getResult(), ValueRange(),
                                          builder.getUnitAttr(), compute);
    for (auto [op, result] : llvm::zip_equal(ops, unpack.getResults()))
      values.map(op->getResult(0), result);
    over.push_back(wait.getResult());
  } else {
    values.map(ops.front()->getResult(0), wait.getResult());
  }
  if (!over.empty())
    sched::FreeOp::create(builder, ops.front()->getLoc(), over, compute);
}

base::When ProgramWriter::whenOf(size_t position) const {
  if (resumeOf[position])
    return base::When::deferred;
  switch (instances.occurrenceOf(position)) {
  case scheduling::Occurrence::first:
    return base::When::first;
  case scheduling::Occurrence::every:
    return base::When::always;
  case scheduling::Occurrence::last:
    return base::When::last;
  }
  llvm_unreachable("unknown occurrence");
}

void ProgramWriter::writeFrees(size_t position, size_t count) {
  for (base::When when : {base::When::always, base::When::first, base::When::last, base::When::deferred}) {
    SmallVector<Value> dead;
    sched::ResumeOp resume;
    for (size_t each = position; each < position + count; ++each)
      if (unsigned buffer = instances.solution.steps[each].index; instances.producers[buffer] && whenOf(each) == when) {
        dead.push_back(valueOf(buffer));
        resume = resumeOf[each];
      }
    if (dead.empty())
      continue;
    sched::FreeOp::create(builder, location, dead, compute, base::WhenAttr::get(builder.getContext(), when));
    if (resume)
      resume.setSteps(resume.getSteps() + 1);
  }
}

void ProgramWriter::writeOperation(size_t position) {
  Step step = instances.solution.steps[position];
  Block &block = *builder.getInsertionBlock();
  Operation *before = block.empty() ? nullptr : &block.back();
  if (step.kind == scheduling::StepKind::run)
    writeRun(step.index);
  else if (step.kind == scheduling::StepKind::start)
    problem.operations[step.index].isCollective() ? writeStart(step.index) : writeTransfer(step.index);
  else
    writeWait(step.index);
  base::When when = whenOf(position);
  if (when == base::When::always)
    return;
  for (Operation *made = before ? before->getNextNode() : &block.front(); made; made = made->getNextNode()) {
    if (isa<sched::GradientOp>(made))
      continue;
    made->setAttr("when", base::WhenAttr::get(builder.getContext(), when));
    if (sched::ResumeOp resume = resumeOf[position])
      resume.setSteps(resume.getSteps() + 1);
  }
}

void ProgramWriter::writeResumes(size_t position) {
  sched::ResumeOp resume;
  for (const scheduling::Deferred &deferred : instances.deferred) {
    if (deferred.before != position)
      continue;
    // The steps are counted when they are written.
    if (!resume)
      resume = sched::ResumeOp::create(builder, location, builder.getI64IntegerAttr(0), compute);
    for (size_t step : deferred.steps)
      resumeOf[step] = resume;
  }
}

void ProgramWriter::writeSteps() {
  ArrayRef<Step> steps = instances.solution.steps;
  for (size_t position = 0; position < steps.size();) {
    writeResumes(position);
    if (steps[position].kind == scheduling::StepKind::free) {
      // Adjacent frees become a single op.
      ArrayRef<Step> frees =
          steps.drop_front(position).take_while([](Step each) { return each.kind == scheduling::StepKind::free; });
      writeFrees(position, frees.size());
      position += frees.size();
    } else {
      // A free has no op of its own in the function; the step before it is why the buffer is dead.
      location = projection.operations[steps[position].index].front()->getLoc();
      writeOperation(position);
      ++position;
    }
  }
}

void ProgramWriter::writeOutputs() {
  Operation *end = function.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(end->getOperands())) {
    if (auto updated = plan::resultAttr<plan::attr::Updates>(function, index)) {
      sched::UpdateOp::create(builder, end->getLoc(), values.lookup(value), values.lookup(arguments[updated]));
      continue;
    }
    if (auto parameter = plan::resultAttr<plan::attr::GradientOf>(function, index))
      sched::GradientOp::create(builder, end->getLoc(), values.lookup(value), values.lookup(arguments[parameter]));
    auto name = plan::resultAttr<plan::attr::Name>(function, index);
    bool isLoss = plan::resultAttr<plan::attr::Loss>(function, index) != nullptr;
    sched::OutputOp::create(builder, end->getLoc(), name ? name : builder.getStringAttr(Twine(index)),
                            values.lookup(value), isLoss);
  }
}

void ProgramWriter::write(ArrayRef<scheduling::InstanceTimes> times) {
  ArrayAttr devices;
  if (plan::roleOf(function) == base::ProgramRole::reference)
    devices = builder.getArrayAttr({sched::MeshAxisAttr::get(builder.getContext(), "rank", 1)});
  ProgramEstimates estimates = estimatesOf(function, projection, instances, times);
  auto program =
      sched::ProgramOp::create(builder, function.getLoc(), function.getSymName(), plan::roleOf(function), devices,
                               estimates.memory, estimates.time, plan::opAttr<plan::attr::Timeline>(function),
                               plan::opAttr<plan::attr::Guard>(function), estimates.peak);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&program.getBody());
  writeArguments();
  writeBuffers();
  writeConstants();
  writeSteps();
  writeOutputs();
}

void writeProgram(OpBuilder &builder, func::FuncOp function, const ProjectedFunction &projection,
                  const scheduling::Instances &instances, ArrayRef<scheduling::InstanceTimes> times,
                  LayoutTable &layouts) {
  ProgramWriter(builder, function, projection, instances, layouts).write(times);
}

void writeDeclarations(OpBuilder &builder, plan::MeshOp mesh, const CommunicatorTable &communicators) {
  MLIRContext *context = builder.getContext();
  SmallVector<Attribute> axes;
  for (auto axis : mesh.getAxes().getAsRange<plan::MeshAxisAttr>())
    axes.push_back(sched::MeshAxisAttr::get(context, axis.getName(), axis.getSize()));
  sched::MeshOp::create(builder, mesh.getLoc(), builder.getArrayAttr(axes));
  for (const scheduling::Communicator &communicator : communicators.list()) {
    SmallVector<Attribute> digits;
    for (const meshplan::AxisRef &axis : communicator.axes)
      digits.push_back(sched::AxisAttr::get(context, axis.axis, axis.pre, axis.size));
    sched::CommunicatorOp::create(builder, mesh.getLoc(), communicator.name, builder.getArrayAttr(digits));
  }
  for (const std::string &stream : communicators.streams())
    sched::StreamOp::create(builder, mesh.getLoc(), stream);
}

} // namespace meshplan
