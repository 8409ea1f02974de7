//===- lay_out_buffers.cpp - makes coalesced tensors contiguous -----------===//
//
// See LayOutBuffers in passes.td.
//
//===----------------------------------------------------------------------===//
//
// What a coalesced collective moves is packed into a buffer and unpacked after it, unless its tensors are contiguous.
// The pass makes them so:
//
// - parameters of a unit are put into one storage, in the order of StorageOrder;
// - the results of reductions become arguments (accumulators that need no initial value) in one storage for each
//   bucket, and the collective writes them in place;
// - where parameters are replicated and only the optimizer is divided, the gather of new parameters writes directly
//   into the parameters.
//
// Example: a bucket of two gradients of 6 and 12 elements on dp = 2, all-reduced. Without a storage 18 elements are
// packed, reduced and unpacked. With it each addend is copied to it when it is computed (or is accumulated in it), the
// 18 elements are reduced in place, and their readers read them there.

#include "compiler/sharding/coalesced.h"
#include "compiler/sharding/storage/storages.h"
#include "compiler/transforms/group/data_collectives.h"
#include "compiler/transforms/group/passes.h"
#include "compiler/transforms/group/storage_order.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/new_arguments.h"
#include "dialect/plan/step_call.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace meshplan {
#define GEN_PASS_DEF_LAYOUTBUFFERS
#include "compiler/transforms/group/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

static bool isContiguous(BlockArgument parameter) {
  DataOp data = dataOf(parameter);
  return data && data.getContiguousParameters();
}

namespace {

/// One storage for the contiguous parameters of each unit, element type and list of flat axes. Programs share the
/// tensors, so a parameter has the same position in all of them. Example: the step reads `a`, `b` and `c`, another
/// program `a` and `c`. These keep positions 0 and 2, because `b` is between them in the memory that both programs use.
class ParameterStorages {
public:
  explicit ParameterStorages(ModuleOp module);

  /// Puts the parameters of a program into their storages.
  void putParameters(func::FuncOp function) const;

private:
  struct Location {
    std::string storage;
    int64_t position;
  };
  llvm::StringMap<Location> locations; // by the first name of the parameter
};

class Layout {
public:
  explicit Layout(func::FuncOp function)
      : function(function), builder(function.getContext()), slots(function),
        collectives(findDataCollectives(function)) {
    for (BlockArgument argument : function.getArguments())
      if (argumentKind(argument) == ArgumentKind::accumulator)
        names.insert(parameterName(argument));
  }

  LogicalResult run() {
    if (failed(checkGathers()))
      return failure();
    for (ArrayRef<DataCollective> piece : reducedPieces())
      storeGradients(piece);
    for (const DataCollective &collective : collectives)
      if (collective.traffic == DataTraffic::update && DataOp(dataOf(collective.parameter)).getContiguousParameters())
        gatherIntoBuffer(collective.op);
    return success();
  }

private:
  LogicalResult checkGathers();
  SmallVector<SmallVector<DataCollective>> reducedPieces() const;
  void storeGradients(ArrayRef<DataCollective> piece);
  void reduceInPlace(AllReduceOp reduce, BlockArgument parameter);
  BlockArgument addSlot(BlockArgument parameter, RankedTensorType type);
  void gatherIntoBuffer(Operation *gather);

  func::FuncOp function;
  OpBuilder builder;
  ArgumentAdder slots;
  SmallVector<DataCollective> collectives;
  llvm::StringSet<> names; ///< of accumulators
};

} // namespace

static ArrayAttr flatAxesOf(BlockArgument parameter) {
  ArrayRef<AxisRefAttr> axes = getSharding(parameter).getFlatAxes();
  return ArrayAttr::get(parameter.getContext(), SmallVector<Attribute>(axes.begin(), axes.end()));
}

ParameterStorages::ParameterStorages(ModuleOp module) {
  StorageOrder order(module);
  // A storage has one element type, and its parameters are gathered over the same axes. The order of the map makes the
  // artifact deterministic.
  llvm::MapVector<std::tuple<int64_t, Type, Attribute>, SmallVector<BlockArgument>> units;
  llvm::StringSet<> seen;
  for (auto function : module.getOps<func::FuncOp>())
    for (BlockArgument argument : function.getArguments())
      if (isWeight(argument) && isContiguous(argument) && seen.insert(parameterName(argument)).second)
        units[{unitOf(argument), getElementTypeOrSelf(argument), flatAxesOf(argument)}].push_back(argument);
  for (auto &[key, parameters] : units) {
    llvm::sort(parameters, [&](BlockArgument left, BlockArgument right) {
      return order.positionOf(left) < order.positionOf(right);
    });
    std::string name = ("parameters from " + parameterName(parameters.front())).str();
    for (auto [position, parameter] : llvm::enumerate(parameters))
      locations[parameterName(parameter)] = {name, static_cast<int64_t>(position)};
  }
}

void ParameterStorages::putParameters(func::FuncOp function) const {
  for (BlockArgument argument : function.getArguments())
    if (isWeight(argument) && isContiguous(argument)) {
      const Location &location = locations.at(parameterName(argument));
      putInStorage(argument, location.storage, location.position, DataOp(dataOf(argument)).getRegisterBuffers());
    }
}

static std::string elementText(Value value) {
  std::string text;
  llvm::raw_string_ostream(text) << getElementTypeOrSelf(value);
  return text;
}

/// A parameter that is converted before it is gathered is a tensor of its own, and not in the buffer.
LogicalResult Layout::checkGathers() {
  for (const DataCollective &collective : collectives) {
    Value moved = collective.op->getOperand(0);
    if (!collective.isGather() || !isContiguous(collective.parameter) || moved == collective.parameter)
      continue;
    DataOp data = dataOf(collective.parameter);
    std::string stored = elementText(collective.parameter), gathered = elementText(moved);
    auto diagnostic = data.emitError() << "'contiguous parameters' of '" << parameterName(collective.parameter)
                                       << "', which is stored as " << stored << " and gathered as " << gathered
                                       << ": each gather needs a converted copy, which cannot be in the buffer";
    bool isNarrower = elementBytes(moved.getType()) < elementBytes(collective.parameter.getType());
    std::string wayOut = isNarrower
                             ? "store parameters in the type in which they are gathered, with 'precision { storage " +
                                   gathered + "; master " + stored + " }'"
                             : "remove 'gather " + gathered + "' from 'precision'";
    diagnostic.attachNote(data.getLoc()) << "help: " << wayOut << ", or remove 'contiguous parameters'";
    return diagnostic;
  }
  return success();
}

/// Collectives of gradients by bucket, in program order.
SmallVector<SmallVector<DataCollective>> Layout::reducedPieces() const {
  SmallVector<SmallVector<DataCollective>> pieces;
  Operation *open = nullptr;
  for (const DataCollective &collective : collectives) {
    DataOp data = dataOf(collective.parameter);
    if (collective.traffic != DataTraffic::reduce || !data.getContiguousGradients() ||
        !isa<AllReduceOp, ReduceScatterOp>(collective.op))
      continue;
    // Members of a bucket are adjacent since the pass before, so the first of them identifies it.
    Operation *first = coalescedWith(collective.op).front();
    if (first != open)
      pieces.emplace_back();
    open = first;
    pieces.back().push_back(collective);
  }
  return pieces;
}

/// Adds an accumulator for a gradient of the parameter. All programs number the gradients of a parameter alike.
BlockArgument Layout::addSlot(BlockArgument parameter, RankedTensorType type) {
  std::string first = (parameterName(parameter) + ".gradient").str(), name = first;
  for (int number = 2; !names.insert(name).second; ++number)
    name = first + "." + std::to_string(number);
  SmallVector<NamedAttribute> attributes{
      named<attr::Kind>(ArgumentKindAttr::get(builder.getContext(), ArgumentKind::accumulator)),
      named<attr::Names>(builder.getStrArrayAttr({name})), named<attr::Scratch>(builder.getUnitAttr())};
  return slots.add(type, attributes, parameter.getLoc());
}

/// An addend that is not an accumulator is copied to one as soon as it is computed.
void Layout::reduceInPlace(AllReduceOp reduce, BlockArgument parameter) {
  Value addend = reduce.getInput();
  auto slot = dyn_cast<BlockArgument>(locationOf(addend));
  // With microbatches the addend already is in an accumulator.
  if (!slot || argumentKind(slot) != ArgumentKind::accumulator) {
    slot = addSlot(parameter, cast<RankedTensorType>(addend.getType()));
    // At once, so that the temporary is freed; at the collective all temporaries of the bucket would be live beside the
    // buffer.
    builder.setInsertionPointAfterValue(addend);
    addend = StepCall("meshplan.assign", builder, reduce.getLoc())
                 .tensor("self", slot)
                 .tensor("source", addend)
                 .make(slot.getType());
    reduce.getInputMutable().assign(addend);
  }
  reduce.getTargetMutable().assign(addend);
}

void Layout::storeGradients(ArrayRef<DataCollective> piece) {
  std::string name = ("gradients from " + parameterName(piece.front().parameter)).str();
  // A parameter may begin several buckets, for example one for each of its gradients.
  while (!names.insert(name).second)
    name += ", again";
  for (const DataCollective &member : piece) {
    if (auto reduce = dyn_cast<AllReduceOp>(member.op))
      reduceInPlace(reduce, member.parameter);
    else
      cast<ReduceScatterOp>(member.op).getTargetMutable().assign(
          addSlot(member.parameter, cast<RankedTensorType>(member.op->getResult(0).getType())));
  }
  slots.write();
  for (auto [position, member] : llvm::enumerate(piece)) {
    auto slot = cast<BlockArgument>(locationOf(targetOf(member.op)));
    // An accumulator may be reduced more than once; its first storage counts.
    if (!argAttr<attr::Storage>(function, slot.getArgNumber()))
      putInStorage(slot, name, position, DataOp(dataOf(member.parameter)).getRegisterBuffers());
  }
}

/// A new parameter that is only copied to the old one is gathered directly into the old one.
void Layout::gatherIntoBuffer(Operation *op) {
  auto gather = dyn_cast<AllGatherOp>(op);
  auto assign = gather && gather->hasOneUse() ? dyn_cast<CallOp>(*gather->user_begin()) : CallOp();
  // With equal types the copy changes nothing but the address.
  if (!assign || assign.getTarget() != "meshplan.assign" || assign.getOperands().size() != 2 ||
      assign.getOperand(1) != gather.getResult() || !isa<BlockArgument>(assign.getOperand(0)) ||
      assign.getOperand(0).getType() != gather.getType())
    return;
  gather.getTargetMutable().assign(assign.getOperand(0));
  assign.getResult(0).replaceAllUsesWith(gather.getResult());
  assign.erase();
}

/// No later pass reads them.
static void removeDataStatements(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    removeArgumentAttributes(function, {attr::Data::getNameStr(), attr::Unit::getNameStr()});
  for (auto statement : llvm::make_early_inc_range(module.getOps<DataOp>()))
    statement.erase();
}

namespace {

struct LayOutBuffersPass : meshplan::impl::LayOutBuffersBase<LayOutBuffersPass> {
  void runOnOperation() final {
    ParameterStorages parameters(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (failed(Layout(function).run()))
        return signalPassFailure();
      parameters.putParameters(function);
    }
    removeDataStatements(getOperation());
  }
};

} // namespace
