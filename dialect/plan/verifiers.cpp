//===- verifiers.cpp - verifiers of meshes, statements and calls ----------===//
//
// Rules have labels (M: mesh and statements, C: calls) that reappear in test/dialect/plan/verifiers.mlir.
// attr_verifiers.cpp has the rules of attributes, reshard_verifiers.cpp those of ops that change a sharding.
//
//===----------------------------------------------------------------------===//

#include "dialect/plan/verify_types.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// M3, M4: axes of a sharding exist in the mesh, and sub-axes are digits of them. Example: an axis of size 12 has the
/// digit (2)3, since 12 = 2 * 3 * 2, but not (2)5. A digit that is the whole axis is refused, because the same layout
/// would have two spellings.
static LogicalResult verifyAxis(AxisRefAttr axis, MeshOp mesh, function_ref<InFlightDiagnostic()> emitError) {
  int64_t index = mesh.findAxis(axis.getName());
  if (index < 0)
    return emitError() << "unknown axis \"" << axis.getName() << "\"";
  int64_t size = mesh.getAxisSize(index);
  if (!axis.isWhole() && (size % (axis.getPre() * axis.getSize()) != 0 || axis.getSize() == size))
    return emitError() << "sub-axis \"" << axis.getName() << "\":(" << axis.getPre() << ")" << axis.getSize()
                       << " is not a digit of an axis of size " << size;
  return success();
}

LogicalResult meshplan::plan::verifyAgainstMesh(ShardingAttr sharding, MeshOp mesh,
                                                function_ref<InFlightDiagnostic()> emitError) {
  auto verifyAll = [&](ArrayRef<AxisRefAttr> axes) {
    for (AxisRefAttr axis : axes)
      if (failed(verifyAxis(axis, mesh, emitError)))
        return failure();
    return success();
  };
  for (DimShardingAttr dim : sharding.getDims())
    if (failed(verifyAll(dim.getAxes())))
      return failure();
  return success(succeeded(verifyAll(sharding.getPartialAxes())) &&
                 succeeded(verifyAll(sharding.getReplicatedAxes())) && succeeded(verifyAll(sharding.getFlatAxes())));
}

LogicalResult MeshOp::verify() {
  if (MeshOp first = getMesh(*this); first && first != *this) { // M6
    auto diagnostic = emitOpError("must be the only one of its module");
    diagnostic.attachNote(first.getLoc()) << "the first one is here";
    return diagnostic;
  }
  llvm::StringSet<> names;
  for (int64_t index = 0, end = getAxes().size(); index < end; ++index) {
    StringRef name = getAxisNames()[index];
    if (!names.insert(name).second) // M1
      return emitOpError() << "has two axes named \"" << name << "\"";
  }
  return success();
}

LogicalResult meshplan::plan::verifyStatedAxes(Operation *op, ArrayAttr axes) {
  MeshOp mesh = getMesh(op);
  if (!mesh) // M5
    return op->emitOpError("names axes, but the module has no mesh");
  for (auto [index, attribute] : llvm::enumerate(axes)) {
    auto axis = cast<AxisRefAttr>(attribute);
    if (failed(verifyAxis(axis, mesh, [&] { return op->emitOpError(); })))
      return failure();
    for (Attribute other : axes.getValue().take_front(index))
      if (axis.overlaps(cast<AxisRefAttr>(other))) // M16
        return op->emitOpError() << "names axis \"" << axis.getName() << "\" twice";
  }
  return success();
}

LogicalResult StyleOp::verify() {
  if (auto dim = static_cast<int64_t>(getDim()); dim < 0) // M17
    return emitOpError() << "divides dim " << dim << ", must be 0 or more";
  for (int64_t part : getParts())
    if (part < 1) // M17
      return emitOpError() << "has a part of size " << part << ", must be positive";
  return verifyStatedAxes(*this, getAxes());
}

LogicalResult BorderOp::verify() {
  if (failed(verifyStatedAxes(*this, getAxes())))
    return failure();
  if (static_cast<int64_t>(getIndex()) < 0) // M18
    return emitOpError() << "is about value " << static_cast<int64_t>(getIndex()) << ", must be 0 or more";
  size_t names = getNames() ? getNames()->size() : 0, extents = getExtents() ? getExtents()->size() : 0;
  if (names != extents || (names != 0 && names != getLayout().getDims().size())) // M7
    return emitOpError() << "has " << names << " names and " << extents << " extents for "
                         << getLayout().getDims().size() << " dims";
  for (int64_t extent : getExtents().value_or(ArrayRef<int64_t>()))
    if (extent < 0) // M18
      return emitOpError() << "has a dim of size " << extent << ", must be 0 or more";
  return verifyAgainstMesh(getLayout(), getMesh(*this), [&] { return emitOpError(); });
}

LogicalResult meshplan::plan::verifyTypes(Operation *op) {
  MeshOp mesh;
  auto check = [&](Type type) -> LogicalResult {
    ShardingAttr sharding = getSharding(type);
    if (!sharding)
      return success();
    if (!mesh && !(mesh = getMesh(op))) // M5
      return op->emitOpError("has a sharding, but the module has no mesh");
    return verifyAgainstMesh(sharding, mesh, [&] { return op->emitOpError(); });
  };
  for (Type type : op->getOperandTypes())
    if (failed(check(type)))
      return failure();
  for (Type type : op->getResultTypes())
    if (failed(check(type)))
      return failure();
  return success();
}

LogicalResult ConstantOp::verify() {
  auto type = cast<ShapedType>(getValue().getType());
  if (type.getShape() != getType().getShape() || type.getElementType() != getType().getElementType()) // C1
    return emitOpError() << "value has type " << type << ", result is " << getType();
  return verifyTypes(*this);
}

/// C4: an integer that depends on the rank names a dim of an operand or result of the call.
static LogicalResult verifyLocal(CallOp call, LocalIntAttr local) {
  TypeRange types = local.getOfResult() ? TypeRange(call.getResultTypes()) : TypeRange(call.getOperandTypes());
  StringRef kind = local.getOfResult() ? "result" : "operand";
  if (local.getIndex() >= static_cast<int64_t>(types.size()))
    return call.emitOpError() << "refers to " << kind << ' ' << local.getIndex() << " of " << types.size();
  int64_t rank = cast<RankedTensorType>(types[local.getIndex()]).getRank();
  if (local.getDim() >= rank)
    return call.emitOpError() << "refers to dim " << local.getDim() << " of " << kind << ' ' << local.getIndex()
                              << ", which has rank " << rank;
  return success();
}

/// C2: operand references of a call are in range, and every operand is referred to.
static LogicalResult collectOperands(CallOp call, Attribute argument, SmallVectorImpl<bool> &used) {
  if (auto local = dyn_cast<LocalIntAttr>(argument))
    return verifyLocal(call, local);
  if (auto operand = dyn_cast<OperandRefAttr>(argument)) {
    if (operand.getIndex() >= static_cast<int64_t>(used.size()))
      return call.emitOpError() << "refers to operand " << operand.getIndex() << " of " << used.size();
    used[operand.getIndex()] = true;
  } else if (auto list = dyn_cast<ArrayAttr>(argument)) {
    for (Attribute item : list)
      if (failed(collectOperands(call, item, used)))
        return failure();
  }
  return success();
}

LogicalResult CallOp::verify() {
  if (getTarget().empty()) // C6
    return emitOpError("has no target");
  SmallVector<bool> used(getOperands().size(), false);
  for (NamedAttribute argument : getArgs())
    if (failed(collectOperands(*this, argument.getValue(), used)))
      return failure();
  for (auto [index, seen] : llvm::enumerate(used))
    if (!seen)
      return emitOpError() << "operand " << index << " is not an argument";
  return verifyTypes(*this);
}

LogicalResult ConstrainOp::verify() {
  if (getLayout().getRank() != getInput().getType().getRank()) // C3
    return emitOpError() << "states a layout of rank " << getLayout().getRank() << " for a tensor of rank "
                         << getInput().getType().getRank();
  RankedTensorType input = getInput().getType(), result = getResult().getType();
  if (input.getShape() != result.getShape() || input.getElementType() != result.getElementType()) // C5
    return emitOpError() << "changes the tensor from " << input << " to " << result;
  MeshOp mesh = getMesh(*this);
  if (!mesh) // M5
    return emitOpError("states a layout, but the module has no mesh");
  return failure(failed(verifyStatedAxes(*this, getAxes())) ||
                 failed(verifyAgainstMesh(getLayout(), mesh, [&] { return emitOpError(); })) ||
                 failed(verifyTypes(*this)));
}

/// M20: a module has one statement of a kind.
template <typename Op> static LogicalResult verifyOnly(Op op) {
  auto all = op->template getParentOfType<ModuleOp>().template getOps<Op>();
  if (all.empty() || *all.begin() == op)
    return success();
  auto diagnostic = op.emitOpError("must be the only one of its module");
  diagnostic.attachNote((*all.begin()).getLoc()) << "the first one is here";
  return diagnostic;
}

LogicalResult OptimizerOp::verify() {
  if (getGroups().empty()) // M10
    return emitOpError("has no group of parameters");
  if (getClip() && !(getClip()->convertToDouble() > 0)) // M14
    return emitOpError() << "clips to a norm of " << getClip()->convertToDouble() << ", must be positive";
  return verifyOnly(*this);
}

/// M22: the number is one that the rule can apply.
LogicalResult RoutingOp::verify() {
  double number = getNumber().convertToDouble();
  bool isRate = getRule() == RoutingRule::bias;
  if (isRate ? isBalanceRate(number) : isReserve(number))
    return success();
  return emitOpError() << "states " << stringifyRoutingRule(getRule()) << ' ' << number << ", must be a number "
                       << (isRate ? "above 0" : "of at least 1");
}

/// M11: the index of a result, which may be of any program.
static LogicalResult verifyOutput(Operation *op, int64_t output) {
  if (output < 0)
    return op->emitOpError() << "names output " << output << ", must be 0 or more";
  return success();
}

LogicalResult LossOp::verify() {
  return failure(failed(verifyOutput(*this, getOutput())) || failed(verifyOnly(*this)));
}

LogicalResult NormalizeLossOp::verify() { return verifyOutput(*this, getOutput()); }

LogicalResult MicrobatchesOp::verify() {
  int64_t count = getCount();
  if (count < 1) // M12
    return emitOpError() << "splits the batch into " << count << " microbatches, must be at least 1";
  return verifyOnly(*this);
}

LogicalResult RecomputeOp::verify() {
  llvm::StringSet<> names;
  for (auto name : getKeep().getAsRange<StringAttr>()) {
    if (name.empty()) // M19
      return emitOpError("keeps an operator without a name");
    if (!names.insert(name.getValue()).second) // M19
      return emitOpError() << "keeps " << name << " twice";
  }
  return success();
}

LogicalResult PrecisionOp::verify() {
  for (std::optional<Type> type : {getCompute(), getStorage(), getGather(), getReduce(), getMaster(), getState()})
    if (type && !isa<FloatType>(*type)) // M13
      return emitOpError() << "states " << *type << ", which is not a floating-point type";
  return verifyOnly(*this);
}

LogicalResult DataOp::verify() {
  if (failed(verifyStatedAxes(*this, getAxes())))
    return failure();
  bool dividesUpdate = getShard() == DataStage::optimizer || getShard() == DataStage::gradients;
  if (getPrefetch() != 0 && getShard() != DataStage::parameters && !getGatherInStep()) // M8
    return emitOpError("prefetches parameters, but they are not sharded");
  if (getGatherInStep() && !dividesUpdate) // M21
    return emitOpError() << "gathers in the step what it updates, but shards '" << stringifyDataStage(getShard())
                         << "', must be 'optimizer' or 'gradients'";
  if (getRegisterBuffers() && !getContiguousParameters() && !getContiguousGradients()) // M9
    return emitOpError("registers buffers, but neither parameters nor gradients are contiguous");
  int64_t bucket = getBucket().value_or(0), prefetch = getPrefetch(), divisor = getAverageAfter().value_or(1);
  if (bucket < 0 || prefetch < 0 || divisor < 1) // M15
    return emitOpError() << "has a bucket of " << bucket << " bytes, prefetches " << prefetch
                         << " units and divides by " << divisor << ": must be 0 or more, 0 or more and at least 1";
  return success();
}
