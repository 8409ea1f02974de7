//===- build_problem.cpp - a function as a scheduling problem -------------===//
//
// Each op is projected once, for all classes of ranks: sizes differ between ranks, the list of operations does not. A
// view has 0 bytes and refers to its storage, so that memory is counted once and the storage lives as long as its last
// view.
//
// Example on dp = 2, tp = 3: x [8, 12] bf16 as [{dp}, {tp}] has 4 x 4 elements, 32 bytes, on each rank; with 8 rows
// over tp instead, [{tp}, {}], the first rank has 3 rows (72 bytes) and the last one 2 (48 bytes). The two classes
// bound all ranks.

#include "compiler/transforms/schedule/build_problem.h"
#include "compiler/sharding/coalesced.h"
#include "compiler/sharding/dataflow/routed_values.h"
#include "compiler/sharding/op_record.h"
#include "compiler/sharding/storage/transfers.h"
#include "compiler/transforms/schedule/operation_costs.h"
#include "compiler/transforms/schedule/packing_table.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/programs.h"
#include "dialect/plan/reshard_steps.h"
#include "dialect/plan/step_name.h"
#include <cmath>

using namespace mlir;
using meshplan::scheduling::Buffer;
using meshplan::scheduling::ClassBytes;

namespace meshplan {

static scheduling::Memory memoryOf(Value value) {
  return plan::isOnHost(value) ? scheduling::Memory::host : scheduling::Memory::device;
}

namespace {
class Projector {
public:
  Projector(func::FuncOp function, const Cluster &cluster, LayoutTable &layouts, CommunicatorTable &communicators)
      : function(function), cluster(cluster), layouts(layouts), communicators(communicators),
        registry(OpRegistry::get()), packings(function, layouts), costs(cluster, layouts) {}

  FailureOr<ProjectedFunction> project();

private:
  LogicalResult projectOp(Operation &op);
  LogicalResult projectReturn(func::ReturnOp op);
  void projectCall(plan::CallOp call);
  /// Projects a copy between device and host memory.
  void projectTransfer(plan::CallOp call);
  /// Projects a collective, or several that are coalesced, with the copies that it needs.
  void projectCollectives(ArrayRef<Operation *> ops);
  unsigned laneOf(unsigned communicator);
  unsigned laneOfCopies(bool toHost);
  Packing packingOf(ArrayRef<Operation *> ops);
  unsigned packedBuffer(ArrayRef<Value> members);
  void addCopy(scheduling::Copy kind, ArrayRef<Operation *> ops, ArrayRef<Value> copied, ArrayRef<unsigned> consumed);
  void produceResults(unsigned index, ArrayRef<Operation *> ops);
  void produceResult(unsigned index, Value value, Value target);
  void projectSlice(plan::SliceOp op);
  LogicalResult checkType(Operation *op, Type type);

  Strides getStrides(Value value, unsigned rankClass) {
    return stridesOnRank(value, rankClass, layouts, result.strides);
  }
  int64_t contiguousCopyBytes(Value value, unsigned rankClass);
  ClassBytes workspaceOfRows(Operation *op);

  /// Orders an operation that overwrites a buffer after all earlier readers of its storage.
  void waitForReaders(unsigned index);

  unsigned addBuffer(Value value, Buffer buffer);
  scheduling::Operation &addOperation(ArrayRef<Operation *> ops, StringRef name, ArrayRef<unsigned> consumed);
  SmallVector<unsigned> buffersOf(ValueRange values) const {
    return llvm::map_to_vector(values, [&](Value value) { return bufferOf.lookup(value); });
  }

  func::FuncOp function;
  const Cluster &cluster;
  LayoutTable &layouts;
  CommunicatorTable &communicators;
  const OpRegistry &registry;
  PackingTable packings;
  OperationCosts costs;
  DenseMap<unsigned, unsigned> laneOfCommunicator;
  std::optional<unsigned> copyLanes[2]; ///< to the device, to the host
  DenseMap<Value, unsigned> bufferOf;
  /// Operations that read each storage.
  DenseMap<unsigned, SmallVector<unsigned, 2>> readers;
  ProjectedFunction result;
};
} // namespace

unsigned Projector::addBuffer(Value value, Buffer buffer) {
  unsigned index = result.buffers.size();
  buffer.name = ("value " + Twine(index)).str();
  if (value)
    bufferOf[value] = index;
  result.buffers.push_back(value);
  result.problem.buffers.push_back(std::move(buffer));
  return index;
}

scheduling::Operation &Projector::addOperation(ArrayRef<Operation *> ops, StringRef name, ArrayRef<unsigned> consumed) {
  scheduling::Operation &operation = result.problem.operations.emplace_back();
  operation.name = (name + " " + Twine(result.operations.size())).str();
  operation.lane = computeLane;
  operation.consumed.assign(consumed.begin(), consumed.end());
  for (unsigned buffer : consumed)
    readers[result.problem.storageOf(buffer)].push_back(result.operations.size());
  result.operations.emplace_back(ops);
  return operation;
}

void Projector::projectCall(plan::CallOp call) {
  scheduling::Operation &operation = addOperation(call.getOperation(), call.getTarget(), buffersOf(call.getOperands()));
  if (call.getNumResults() != 0)
    operation.memory = memoryOf(call.getResult(0));
  const OpRecord *record = registry.lookup(call.getTarget());
  // A reshape may be a view on one rank and a copy on another. It then counts as a copy on both.
  bool aliases = !operation.consumed.empty();
  for (unsigned rankClass = 0; rankClass < layouts.rankClasses(); ++rankClass) {
    CallView view = viewOnRank(call, rankClass, layouts, result.strides);
    CallCost cost = costs.costOf(call, view);
    operation.workspace.push_back(cost.workspaceBytes);
    // Ranks wait for the slowest one.
    operation.duration = std::max(operation.duration, cost.duration);
    aliases &= cost.aliases;
    for (auto [index, value] : llvm::enumerate(call.getResults()))
      result.strides[value].push_back(meshplan::stridesOf(view, record, index));
  }
  ArrayRef<StringLiteral> overwrites = record ? record->overwrites : ArrayRef<StringLiteral>();
  for (StringRef name : overwrites)
    operation.overwritten.push_back(operation.consumed[*CallView::of(call).getOperand(name)]);
  for (auto [index, value] : llvm::enumerate(call.getResults())) {
    Buffer buffer;
    std::optional<unsigned> shared = aliases ? std::optional(operation.consumed.front()) : std::nullopt;
    // The first results are written in place of the overwritten operands, in order.
    if (index < operation.overwritten.size())
      shared = operation.overwritten[index];
    buffer.bytes = shared ? ClassBytes(layouts.rankClasses(), 0) : layouts.get(value.getType()).bytes;
    buffer.viewOf = shared;
    buffer.memory = operation.memory;
    operation.produced.push_back(addBuffer(value, std::move(buffer)));
  }
  waitForReaders(result.operations.size() - 1);
}

unsigned Projector::laneOfCopies(bool toHost) {
  std::optional<unsigned> &lane = copyLanes[toHost];
  if (!lane) {
    lane = result.problem.lanes.size();
    result.problem.lanes.push_back({toHost ? "copies.to_host" : "copies.to_device", scheduling::LaneKind::copies});
  }
  return *lane;
}

void Projector::projectTransfer(plan::CallOp call) {
  TransferOperands operands = transferOperands(call);
  Value copy = call.getResult(0);
  bool toHost = plan::isOnHost(copy);
  unsigned index = result.operations.size();
  scheduling::Operation &operation = addOperation(call.getOperation(), call.getTarget(), buffersOf(operands.source));
  operation.lane = laneOfCopies(toHost);
  const ClassBytes &bytes = layouts.get(copy.getType()).bytes;
  auto most = static_cast<double>(*llvm::max_element(bytes));
  costs.setTransfer(operation, transferSeconds(cluster, most), toHost ? toHostLink : toDeviceLink,
                    cluster.host.latencySeconds);
  for (unsigned rankClass = 0; rankClass < layouts.rankClasses(); ++rankClass)
    // A copy between two memories moves a run of memory, so elements that are not one are first brought together.
    operation.workspace.push_back(contiguousCopyBytes(operands.source, rankClass));
  operation.memory = memoryOf(operands.source);
  produceResult(index, copy, operands.target);
  waitForReaders(index);
}

void Projector::waitForReaders(unsigned index) {
  scheduling::Operation &operation = result.problem.operations[index];
  for (unsigned buffer : operation.overwritten)
    // Without this order a solution could run the update of a parameter before the last forward call that reads it: no
    // value connects the two. Views count with their storage.
    for (unsigned reader : readers[result.problem.storageOf(buffer)])
      if (reader != index && !llvm::is_contained(operation.after, reader))
        operation.after.push_back(reader);
}

/// A slice is a view unless sliceIsCopied, with one exception: a flat slice copies, because the slice of a parameter is
/// updated separately from it. A flat slice of a tensor that is not row-major first copies it.
void Projector::projectSlice(plan::SliceOp op) {
  scheduling::Operation &operation = addOperation(op.getOperation(), "slice", buffersOf(op.getInput()));
  Buffer buffer;
  auto dimsOf = [&](Value value) {
    return llvm::map_to_vector(layouts.get(value.getType()).type.getDims(), sched::toDimSharding);
  };
  // The runtime decides by the same function, so that the planned memory is the real one.
  bool copies = !op.getDim() || sliceIsCopied(dimsOf(op.getInput()), dimsOf(op.getResult()));
  if (!copies)
    for (unsigned rankClass = 0; rankClass < layouts.rankClasses(); ++rankClass)
      result.strides[op.getResult()].push_back(getStrides(op.getInput(), rankClass));
  for (unsigned rankClass = 0; !op.getDim() && rankClass < layouts.rankClasses(); ++rankClass)
    operation.workspace.push_back(contiguousCopyBytes(op.getInput(), rankClass));
  for (unsigned rankClass = 0; copies && rankClass < layouts.rankClasses(); ++rankClass) {
    int64_t bytes = layouts.get(op.getType()).bytes[rankClass];
    bytes += op.getDim() ? 0 : operation.workspace[rankClass];
    operation.duration = std::max(operation.duration, costs.timeOfCopy(bytes));
  }
  buffer.bytes = copies ? layouts.get(op.getType()).bytes : ClassBytes(layouts.rankClasses(), 0);
  if (!copies)
    buffer.viewOf = operation.consumed.front();
  operation.produced.push_back(addBuffer(op.getResult(), std::move(buffer)));
}

/// Bytes of a row-major copy of a value; 0 if it is row-major.
int64_t Projector::contiguousCopyBytes(Value value, unsigned rankClass) {
  const ResolvedLayout &layout = layouts.get(value.getType());
  Strides strides = getStrides(value, rankClass);
  return StridedShape{layout.local[rankClass].getShape(), strides}.isContiguous() ? 0 : layout.bytes[rankClass];
}

/// What is copied. All ranks run the same operations, so a copy that the ranks of one class need is made on all. A
/// single tensor that is not row-major is copied, too.
Packing Projector::packingOf(ArrayRef<Operation *> ops) {
  Packing copies;
  for (const Packing &ofClass : packings.get(ops)) {
    copies.packs |= ofClass.packs;
    copies.unpacks |= ofClass.unpacks;
  }
  // Rows of experts are copied where they are sent (workspaceOfRows): only there is their number known.
  bool isRouted = routedOf(ops.front()->getOperand(0)) != nullptr;
  for (unsigned rankClass = 0; !isRouted && rankClass < layouts.rankClasses(); ++rankClass)
    copies.packs |= ops.size() == 1 && contiguousCopyBytes(ops.front()->getOperand(0), rankClass) > 0;
  return copies;
}

/// What a collective of rows of experts copies itself, since only there their number is known: rows that are not
/// row-major, and those that arrive of other features. Empty for other collectives.
ClassBytes Projector::workspaceOfRows(Operation *op) {
  ClassBytes bytes;
  bool isRouted = routedOf(op->getOperand(0)) != nullptr;
  for (unsigned rankClass = 0; isRouted && rankClass < layouts.rankClasses(); ++rankClass) {
    bytes.push_back(contiguousCopyBytes(op->getOperand(0), rankClass));
    if (isa<plan::AllGatherOp>(op))
      bytes.back() += layouts.get(op->getResult(0).getType()).bytes[rankClass];
  }
  return bytes;
}

/// A buffer with the elements of all these values.
unsigned Projector::packedBuffer(ArrayRef<Value> members) {
  Buffer buffer;
  buffer.bytes.assign(layouts.rankClasses(), 0);
  for (Value member : members)
    for (auto [sum, bytes] : llvm::zip_equal(buffer.bytes, layouts.get(member.getType()).bytes))
      sum += bytes;
  return addBuffer(Value(), std::move(buffer));
}

/// Adds an operation that copies these tensors into the buffer of a collective, or out of it.
void Projector::addCopy(scheduling::Copy kind, ArrayRef<Operation *> ops, ArrayRef<Value> copied,
                        ArrayRef<unsigned> consumed) {
  scheduling::Operation &copy = addOperation(ops, kind == scheduling::Copy::pack ? "pack" : "unpack", consumed);
  copy.copy = kind;
  for (unsigned rankClass = 0; rankClass < layouts.rankClasses(); ++rankClass) {
    int64_t bytes = 0;
    for (Value value : copied)
      bytes += layouts.get(value.getType()).bytes[rankClass];
    copy.duration = std::max(copy.duration, costs.timeOfCopy(bytes));
  }
}

/// The results of a collective are produced by it, or by the operation that unpacks them: new tensors, or those that
/// they overwrite.
void Projector::produceResults(unsigned index, ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    produceResult(index, op->getResult(0), targetOf(op));
  waitForReaders(index);
}

/// `target` is what the result overwrites, or null.
void Projector::produceResult(unsigned index, Value value, Value target) {
  scheduling::Operation &operation = result.problem.operations[index];
  Buffer buffer;
  buffer.bytes = target ? ClassBytes(layouts.rankClasses(), 0) : layouts.get(value.getType()).bytes;
  buffer.memory = memoryOf(value);
  if (target) {
    buffer.viewOf = bufferOf.lookup(target);
    operation.overwritten.push_back(*buffer.viewOf);
    if (!llvm::is_contained(operation.consumed, *buffer.viewOf)) {
      operation.consumed.push_back(*buffer.viewOf);
      readers[result.problem.storageOf(*buffer.viewOf)].push_back(index);
    }
  }
  operation.produced.push_back(addBuffer(value, std::move(buffer)));
}

unsigned Projector::laneOf(unsigned communicator) {
  auto [lane, isNew] = laneOfCommunicator.try_emplace(communicator, result.problem.lanes.size());
  if (isNew)
    result.problem.lanes.push_back(
        {"communication." + communicators.list()[communicator].name, scheduling::LaneKind::collectives});
  return lane->second;
}

void Projector::projectCollectives(ArrayRef<Operation *> ops) {
  Operation &first = *ops.front();
  unsigned communicator = communicators.get(plan::stepAxes(&first), layouts);
  auto inputs = llvm::map_to_vector(ops, [](Operation *op) { return op->getOperand(0); });
  auto results = llvm::map_to_vector(ops, [](Operation *op) -> Value { return op->getResult(0); });
  Packing copies = packingOf(ops);
  SmallVector<unsigned> sent = buffersOf(inputs);
  // Read after what is sent, see writeStart.
  if (auto exchange = dyn_cast<plan::ExchangeOp>(first))
    sent.push_back(bufferOf.lookup(exchange.getCounts()));
  if (copies.packs) {
    addCopy(scheduling::Copy::pack, ops, inputs, sent);
    sent = {packedBuffer(inputs)};
    result.problem.operations.back().produced = {sent.front()};
  }
  unsigned index = result.operations.size();
  scheduling::Operation &operation = addOperation(ops, plan::stepName(&first), sent);
  operation.workspace = workspaceOfRows(&first);
  operation.lane = laneOf(communicator);
  operation.communicator = communicator;
  operation.blocking = plan::isBlocking(&first);
  if (auto prefetch = plan::opAttr<plan::attr::Prefetch>(&first))
    operation.prefetch = {prefetch.getUnit(), prefetch.getAhead()};
  costs.setCollective(operation, *plan::collectiveKindOf(&first), sentBytesOf(ops), communicators.list());
  if (!copies.unpacks)
    return produceResults(index, ops);
  unsigned received = packedBuffer(results);
  result.problem.operations[index].produced = {received};
  addCopy(scheduling::Copy::unpack, ops, results, {received});
  produceResults(index + 1, ops);
}

LogicalResult Projector::checkType(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return op->emitError() << "cannot be scheduled: " << type << " is not a tensor with known extents";
  if (plan::roleOf(function) != base::ProgramRole::reference && !isDecided(type))
    return op->emitError() << "cannot be scheduled: the sharding of " << type << " is undecided";
  return success();
}

LogicalResult Projector::projectReturn(func::ReturnOp op) {
  for (auto [index, value] : llvm::enumerate(op.getOperands())) {
    plan::ShardingAttr sharding = plan::getSharding(value);
    auto updated = plan::resultAttr<plan::attr::Updates>(function, index);
    // Only an accumulator may stay partial from run to run: the last sweep reduces it.
    bool accumulates = updated && updated.getKind() == plan::ArgumentKind::accumulator;
    if (sharding && sharding.isPartial() && !accumulates)
      return op.emitError() << "result " << index << " is partial: " << value.getType();
    Buffer &buffer = result.problem.buffers[bufferOf.lookup(value)];
    // Arguments outlive the program anyway; a returned temporary must not be freed.
    buffer.kept = !buffer.permanent;
    // Outputs are written row-major, one after the other.
    for (auto [rankClass, bytes] : llvm::enumerate(result.problem.handover))
      bytes = std::max(bytes, contiguousCopyBytes(value, rankClass));
  }
  return success();
}

LogicalResult Projector::projectOp(Operation &op) {
  for (Type type : op.getResultTypes())
    if (failed(checkType(&op, type)))
      return failure();
  if (op.getNumResults() != 0 && bufferOf.contains(op.getResult(0)))
    return success(); // projected with the first of its bucket
  if (auto constant = dyn_cast<plan::ConstantOp>(op)) {
    Buffer buffer;
    buffer.bytes = layouts.get(constant.getType()).bytes;
    buffer.permanent = true;
    addBuffer(constant.getResult(), std::move(buffer));
  } else if (auto call = dyn_cast<plan::CallOp>(op)) {
    if (isTransfer(call))
      projectTransfer(call);
    else
      projectCall(call);
  } else if (auto slice = dyn_cast<plan::SliceOp>(op)) {
    projectSlice(slice);
  } else if (plan::collectiveKindOf(&op)) {
    projectCollectives(coalescedWith(&op));
  } else if (auto end = dyn_cast<func::ReturnOp>(op)) {
    return projectReturn(end);
  } else {
    return op.emitError() << "'" << op.getName() << "' cannot be scheduled: it is left only before `partition`";
  }
  return success();
}

FailureOr<ProjectedFunction> Projector::project() {
  result.problem.rankClasses = layouts.rankClasses();
  result.problem.handover.assign(layouts.rankClasses(), 0);
  result.problem.lanes = {{"compute"}};
  result.problem.links = costs.links();
  result.problem.overlapSpeed = {.compute = std::llround(1000 / cluster.overlap.compute),
                                 .transfer = std::llround(1000 / cluster.overlap.communication)};
  result.problem.issueTime = toNanoseconds(cluster.compute.launchSeconds);
  result.problem.hostComputes = cluster.deviceKind == "cpu";
  for (BlockArgument argument : function.getArguments()) {
    if (failed(checkType(function, argument.getType())))
      return failure();
    Buffer buffer;
    buffer.bytes = layouts.get(argument.getType()).bytes;
    buffer.permanent = true;
    buffer.memory = memoryOf(argument);
    addBuffer(argument, std::move(buffer));
  }
  for (Operation &op : function.getBody().front())
    if (failed(projectOp(op)))
      return failure();
  result.problem.communicators = communicators.list();
  return std::move(result);
}

FailureOr<ProjectedFunction> project(func::FuncOp function, const Cluster &cluster, LayoutTable &layouts,
                                     CommunicatorTable &communicators) {
  return Projector(function, cluster, layouts, communicators).project();
}

} // namespace meshplan
