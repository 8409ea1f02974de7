//===- collective_verifiers.cpp - verifiers of single ops of a program ----===//
//
// Rules have labels (D: declarations, O: one op, C: collectives) that reappear
// in test/dialect/sched/collective_verifiers.mlir. Rules that need the whole program
// are in program_verifier.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialect/sched/sched.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::sched;

LogicalResult MeshOp::verify() {
  if (MeshOp first = getMesh(*this); first && first != *this) { // D5
    auto diagnostic = emitOpError("must be the only one of its module");
    diagnostic.attachNote(first.getLoc()) << "the first one is here";
    return diagnostic;
  }
  llvm::StringSet<> names;
  for (Attribute attribute : getAxes()) {
    auto axis = cast<MeshAxisAttr>(attribute);
    if (!names.insert(axis.getName()).second) // D1
      return emitOpError() << "has two axes named \"" << axis.getName() << "\"";
  }
  return success();
}

LogicalResult CommunicatorOp::verify() {
  MeshOp mesh = getMesh(*this);
  if (!mesh) // D3
    return emitOpError("is in a module without a mesh");
  SmallVector<int64_t> sizes = axisSizes(mesh.getAxes());
  for (const meshplan::AxisRef &axis : toAxisRefs(getAxes()))
    if (axis.axis >= static_cast<int64_t>(sizes.size()) || sizes[axis.axis] % (axis.pre * axis.size) != 0) // D4
      return emitOpError() << "axis " << axis.axis << ":(" << axis.pre << ')' << axis.size
                           << " is not a digit of an axis of the mesh";
  SmallVector<AxisAttr> axes(getAxes().getAsRange<AxisAttr>());
  for (size_t i = 0; i < axes.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (axes[i].overlaps(axes[j])) // D6
        return emitOpError() << "has axis " << axes[i].getAxis() << " twice";
  return success();
}

static bool hasShape(ShardedTensorType type, ArrayRef<int64_t> shape) {
  return llvm::equal(llvm::map_range(type.getDims(), [](DimAttr dim) { return dim.getExtent(); }), shape);
}

LogicalResult ParameterOp::verify() {
  if (getNames().empty()) // O1
    return emitOpError("has no name");
  if (getTrainable() && getBuffer()) // O23
    return emitOpError("is a buffer, and buffers are not trained");
  if (std::optional<base::PiecesAttr> pieces = getPieces()) {
    auto extents = llvm::map_to_vector(getResult().getType().getDims(), [](DimAttr dim) { return dim.getExtent(); });
    if (std::string fault = piecesFault(pieces->asPieces(), extents); !fault.empty()) // O30
      return emitOpError() << "is not in these pieces: " << fault;
  }
  if (!getInit())
    return success();
  ElementsAttr elements = getInit()->getElements();
  if (elements && !hasShape(getResult().getType(), elements.getShapedType().getShape())) // O15
    return emitOpError() << "is given elements of type " << elements.getShapedType() << ", result is "
                         << getResult().getType();
  return success();
}

LogicalResult StateOp::verify() {
  if (getCopies() && !getParameter()) // O16
    return emitOpError("copies a parameter, but belongs to none");
  if (getScratch() && getParameter()) // O17
    return emitOpError() << "is a state of parameter '" << *getParameter() << "' and cannot begin with any content";
  return success();
}

LogicalResult SettingOp::verify() {
  ShardedTensorType type = getResult().getType();
  if (!type.getElementType().isF64() || !type.getDims().empty()) // O24
    return emitOpError() << "has type " << type << ", must be one f64 without dims";
  return success();
}

LogicalResult OutputOp::verify() {
  ShardedTensorType type = getValue().getType();
  size_t modules = getExperts().value_or(ArrayAttr::get(getContext(), {})).size();
  bool hasCounts = type.getElementType().isInteger(64) && type.getDims().size() == 2 &&
                   type.getDims().front().getExtent() == static_cast<int64_t>(modules);
  if (getPairs().value_or(ArrayRef<int64_t>()).size() != modules || (modules > 0 && !hasCounts)) // O29
    return emitOpError() << "of type " << type << " counts tokens of " << modules << " modules with "
                         << getPairs().value_or(ArrayRef<int64_t>()).size()
                         << " numbers of pairs, must be i64 [modules, experts] with one number for each module";
  if (!getLoss())
    return success();
  bool isOne = llvm::all_of(type.getDims(), [](DimAttr dim) { return dim.getExtent() == 1; });
  if (!isOne || !isa<FloatType>(type.getElementType())) // O25
    return emitOpError() << "is a loss of type " << type << ", must be one float";
  return success();
}

LogicalResult InputOp::verify() {
  std::optional<ArrayAttr> dims = getDims();
  size_t rank = getResult().getType().getDims().size();
  if (dims && dims->size() != rank) // O2
    return emitOpError() << "names " << dims->size() << " dims of a tensor of rank " << rank;
  return success();
}

LogicalResult ConstantOp::verify() {
  auto value = cast<ShapedType>(getValue().getType());
  ShardedTensorType type = getResult().getType();
  if (value.getElementType() != type.getElementType() || !hasShape(type, value.getShape())) // O3
    return emitOpError() << "value has type " << value << ", result is " << type;
  return success();
}

/// O4: operand references are in range, local integers name a dim of a tensor of the op.
static LogicalResult verifyArgument(ComputeOp op, Attribute argument) {
  if (auto list = dyn_cast<ArrayAttr>(argument)) {
    for (Attribute item : list)
      if (failed(verifyArgument(op, item)))
        return failure();
    return success();
  }
  if (auto operand = dyn_cast<OperandRefAttr>(argument)) {
    if (operand.getIndex() >= static_cast<int64_t>(op.getOperands().size()))
      return op.emitOpError() << "refers to operand " << operand.getIndex() << " of " << op.getOperands().size();
  } else if (auto local = dyn_cast<LocalIntAttr>(argument)) {
    TypeRange types = local.getOfResult() ? TypeRange(op.getResultTypes()) : TypeRange(op.getOperandTypes());
    StringRef kind = local.getOfResult() ? "result" : "operand";
    if (local.getIndex() >= static_cast<int64_t>(types.size()))
      return op.emitOpError() << "refers to " << kind << ' ' << local.getIndex() << " of " << types.size();
    int64_t rank = cast<ShardedTensorType>(types[local.getIndex()]).getDims().size();
    if (local.getDim() >= rank)
      return op.emitOpError() << "refers to dim " << local.getDim() << " of " << kind << ' ' << local.getIndex()
                              << ", which has rank " << rank;
  }
  return success();
}

LogicalResult ComputeOp::verify() {
  if (getTarget().empty()) // O26
    return emitOpError("has no target");
  for (NamedAttribute argument : getArgs())
    if (failed(verifyArgument(*this, argument.getValue())))
      return failure();
  ArrayRef<int64_t> overwrites = getOverwrites().value_or(ArrayRef<int64_t>());
  for (auto [index, operand] : llvm::enumerate(overwrites)) { // O5
    if (llvm::is_contained(overwrites.take_front(index), operand))
      return emitOpError() << "overwrites operand " << operand << " twice";
    if (operand < 0 || operand >= static_cast<int64_t>(getOperands().size()) || index >= getNumResults())
      return emitOpError() << "overwrites operand " << operand << " of " << getOperands().size() << " by result "
                           << index << " of " << getNumResults();
    if (getResult(index).getType() != getOperands()[operand].getType())
      return emitOpError() << "overwrites " << getOperands()[operand].getType() << " by " << getResult(index).getType();
    if (isOnHost(getOperands()[operand]) != getHost()) // O13
      return emitOpError() << "runs on the " << (getHost() ? "host" : "device") << " and overwrites operand " << operand
                           << ", which is on the " << (getHost() ? "device" : "host");
  }
  return success();
}

LogicalResult BufferOp::verify() {
  if (getValues().empty()) // O10
    return emitOpError("holds nothing");
  for (Value value : getValues()) {
    auto state = value.getDefiningOp<StateOp>();
    if (!value.getDefiningOp<ParameterOp>() && (!state || state.getParameter())) // O11
      return emitOpError("holds a value that is neither a parameter nor an accumulator");
    auto type = cast<ShardedTensorType>(value.getType()), first = cast<ShardedTensorType>(getValues()[0].getType());
    if (type.getElementType() != first.getElementType()) // O12
      return emitOpError() << "holds " << type << " beside " << first;
    if (isOnHost(value)) // O27
      return emitOpError("holds a value on the host, must be on the device");
  }
  return success();
}

LogicalResult UpdateOp::verify() {
  if (!isa_and_present<ParameterOp, StateOp>(getTarget().getDefiningOp())) // O6
    return emitOpError("updates a value that is neither a parameter nor a state");
  if (getValue().getType() != getTarget().getType()) // O7
    return emitOpError() << "gives a value of type " << getValue().getType() << " to " << getTarget().getType();
  if (isOnHost(getValue()) != isOnHost(getTarget())) // O14
    return emitOpError() << "gives a value on the "
                         << (isOnHost(getValue()) ? "host to one on the device" : "device to one on the host");
  return success();
}

LogicalResult GradientOp::verify() {
  if (!getParameter().getDefiningOp<ParameterOp>()) // O8
    return emitOpError("belongs to a value that is not a parameter");
  ShardedTensorType value = getValue().getType(), parameter = getParameter().getType();
  SmallVector<int64_t> shape = llvm::map_to_vector(parameter.getDims(), [](DimAttr dim) { return dim.getExtent(); });
  if (value.getReduction() != Reduction::none || !hasShape(value, shape)) // O9
    return emitOpError() << "has type " << value << ", the parameter " << parameter;
  if (!getParameter().getDefiningOp<ParameterOp>().getTrainable()) // O28
    return emitOpError("belongs to a parameter that is not trained");
  return success();
}

/// C1: a change of layout keeps extents and element type.
static LogicalResult verifySameTensor(Operation *op, ShardedTensorType from, ShardedTensorType to) {
  SmallVector<int64_t> shape = llvm::map_to_vector(to.getDims(), [](DimAttr dim) { return dim.getExtent(); });
  if (from.getElementType() != to.getElementType() || !hasShape(from, shape))
    return op->emitOpError() << "changes the tensor from " << from << " to " << to;
  return success();
}

/// C8: a collective takes tensors on the device.
static LogicalResult verifyOnDevice(Operation *op, ValueRange tensors) {
  for (auto [index, tensor] : llvm::enumerate(tensors))
    if (isOnHost(tensor))
      return op->emitOpError() << "takes operand " << index << " from the host";
  return success();
}

/// True if a rank has the same rows of experts of both, perhaps with other features.
static bool haveSameRows(ShardedTensorType left, ShardedTensorType right) {
  base::RoutedAttr routed = left.getRouted();
  return routed && routed == right.getRouted() &&
         left.getDims().take_front(routed.getDims()) == right.getDims().take_front(routed.getDims());
}

LogicalResult SliceOp::verify() {
  if (failed(verifyOnDevice(*this, getInput())))
    return failure();
  ShardedTensorType from = getInput().getType(), to = getResult().getType();
  if ((from.getRouted() || to.getRouted()) && !haveSameRows(from, to)) // C18
    return emitOpError() << "takes " << to << " from " << from << ", which has other rows of experts";
  return verifySameTensor(*this, from, to);
}

/// C2: a collective has exactly the dims that its kind needs, each less than the tensor's rank.
static LogicalResult verifyDim(StartOp op, StringRef name, std::optional<uint64_t> dim, bool needed) {
  size_t rank = tensorsOf(op.getInput().getType()).front().getDims().size();
  StringRef kind = stringifyCollectiveKind(op.getKind());
  if (needed != dim.has_value())
    return op.emitOpError() << kind << (needed ? " needs `" : " has no `") << name << "`";
  if (dim && *dim >= rank)
    return op.emitOpError() << "`" << name << "` is " << static_cast<int64_t>(*dim) << " for a tensor of rank " << rank;
  return success();
}

/// C4: without a dim, an all_gather takes flat tensors and a reduce_scatter makes them.
static LogicalResult verifyFlat(StartOp op, ShardedTensorType from, ShardedTensorType to) {
  bool gathers = op.getKind() == CollectiveKind::all_gather, scatters = op.getKind() == CollectiveKind::reduce_scatter;
  size_t before = from.getFlatAxes().size(), after = to.getFlatAxes().size();
  bool isFlat = !op.getDim() && (gathers || scatters);
  // Only the number of axes, since this op has no axes of its own: those of its communicator are compared when the
  // artifact is loaded.
  bool fits = isFlat ? (gathers ? before > after : after > before) : from.getFlatAxes() == to.getFlatAxes();
  if (!fits)
    return op.emitOpError() << stringifyCollectiveKind(op.getKind()) << (isFlat ? " without" : " with")
                            << " a dim produces " << to << " from " << from;
  return success();
}

/// Verifies one of the tensors of a collective.
static LogicalResult verifyMoved(StartOp op, ShardedTensorType from, ShardedTensorType to) {
  CollectiveKind kind = op.getKind();
  if (meshplan::base::reduces(kind) && from.getPartialAxes().empty()) // C3
    return op.emitOpError() << stringifyCollectiveKind(kind) << " of a tensor that is not partial: " << from;
  return failure(failed(verifySameTensor(op, from, to)) || failed(verifyFlat(op, from, to)));
}

/// C5: coalesced tensors have one reduction, and no dim. Their element type is that of the packed value.
static LogicalResult verifyCoalesced(StartOp op, ArrayRef<ShardedTensorType> tensors) {
  if (tensors.size() > 1 && op.getDim())
    return op.emitOpError() << "moves " << tensors.size() << " tensors along dim " << *op.getDim()
                            << ", but can move only one";
  for (ShardedTensorType each : tensors)
    if (each.getReduction() != tensors.front().getReduction())
      return op.emitOpError() << "coalesces " << each << " with " << tensors.front();
  return success();
}

/// The routing of the tensors of a collective: null for those that are not routed.
static base::RoutedAttr routedOf(ShardedTensorType type) { return type.getRouted(); }

/// C16: an exchange turns rows of experts into arrivals or back, and has the numbers of rows. Ranks with the same rows
/// may sum them, or gather their features.
static LogicalResult verifyExchange(StartOp op, ArrayRef<ShardedTensorType> before, ArrayRef<ShardedTensorType> after) {
  base::RoutedAttr from = routedOf(before.front()), to = routedOf(after.front());
  if (!from && !to && !op.getCounts())
    return success();
  if (op.getKind() == CollectiveKind::all_reduce && from == to && !op.getCounts() && before.size() == 1 &&
      !op.getTarget())
    return success();
  if (op.getKind() == CollectiveKind::all_gather && haveSameRows(before.front(), after.front()) && !op.getTarget())
    return success();
  using base::RoutedKind;
  auto isPair = [&](RoutedKind first, RoutedKind second) {
    return from && to && from.getKind() == first && to.getKind() == second && from.getDims() == to.getDims() &&
           from.getSlots() == to.getSlots() && from.getReserve() == to.getReserve();
  };
  if (op.getKind() != CollectiveKind::all_to_all || before.size() != 1 || op.getTarget() ||
      (!isPair(RoutedKind::rows, RoutedKind::arrivals) && !isPair(RoutedKind::arrivals, RoutedKind::rows)))
    return op.emitOpError() << stringifyCollectiveKind(op.getKind()) << " produces " << after.front() << " from "
                            << before.front()
                            << ", must be an all_to_all between rows and arrivals, or a sum or gather of one tensor of "
                               "rows";
  auto counts = op.getCounts() ? dyn_cast<ShardedTensorType>(op.getCounts().getType()) : ShardedTensorType();
  if (!counts || !counts.getElementType().isInteger(64) || counts.getDims().size() != 2 || counts.getRouted() ||
      counts.getDims()[1].getExtent() != before.front().getDims()[0].getExtent())
    return op.emitOpError("exchanges rows of experts without their numbers, i64 [ranks, experts]");
  return success();
}

/// C7: the target consists of tensors of the extents and the division of the results.
static LogicalResult verifyTarget(StartOp op, ArrayRef<ShardedTensorType> results) {
  if (!op.getTarget())
    return success();
  SmallVector<ShardedTensorType, 1> targets = tensorsOf(op.getTarget().getType());
  if (targets.size() != results.size())
    return op.emitOpError() << "puts " << results.size() << " tensors into " << targets.size();
  for (auto [target, result] : llvm::zip_equal(targets, results))
    if (target.getDims() != result.getDims() || target.getElementType() != result.getElementType() ||
        target.getFlatAxes() != result.getFlatAxes())
      return op.emitOpError() << "puts a tensor of type " << result << " into " << target;
  return success();
}

LogicalResult StartOp::verify() {
  CollectiveKind kind = getKind();
  SmallVector<ShardedTensorType, 1> before = tensorsOf(getInput().getType());
  SmallVector<ShardedTensorType, 1> after = tensorsOf(getToken().getType().getResult());
  if (before.size() != after.size()) // C6
    return emitOpError() << "produces " << after.size() << " tensors from " << before.size();
  if (failed(verifyOnDevice(*this, getOperands())))
    return failure();
  bool moves = kind == CollectiveKind::all_to_all && !getCounts();
  bool mayHaveDim = moves || kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter;
  bool needsDim = moves || (mayHaveDim && getDim());
  if (failed(verifyDim(*this, "dim", getDim(), needsDim)) || failed(verifyDim(*this, "from", getFromDim(), moves)))
    return failure();
  if (moves && *getDim() == *getFromDim()) // C14
    return emitOpError() << "all_to_all moves dim " << *getDim() << " to itself";
  if (TypeAttr sum = getActivationSumAttr(); sum && (!isa<FloatType>(sum.getValue()) || !base::reduces(kind))) // C15
    return emitOpError() << stringifyCollectiveKind(kind) << " sums activations of type " << sum.getValue()
                         << ", must be a reduction and a float";
  for (auto [input, result] : llvm::zip_equal(before, after))
    if (failed(verifyMoved(*this, input, result)))
      return failure();
  return failure(failed(verifyTarget(*this, after)) || failed(verifyCoalesced(*this, before)) ||
                 failed(verifyExchange(*this, before, after)));
}

LogicalResult PackOp::verify() {
  if (!llvm::equal(getTensors().getTypes(), getResult().getType().getMembers())) // C9
    return emitOpError() << "packs " << getTensors().getTypes() << " into " << getResult().getType();
  for (Operation *user : getResult().getUsers())
    if (!isa<StartOp, FreeOp>(user)) // C10
      return emitOpError("is read by an op that is not a collective").attachNote(user->getLoc()) << "read here";
  return verifyOnDevice(*this, getTensors());
}

LogicalResult UnpackOp::verify() {
  ArrayRef<ShardedTensorType> members = getPacked().getType().getMembers();
  if (!llvm::equal(getResults().getTypes(), members)) // C11
    return emitOpError() << "unpacks " << getPacked().getType() << " to " << getResults().getTypes();
  if (getInPlace() && !getTargets().empty()) // C12
    return emitOpError("is in place and has targets");
  if (!getTargets().empty() && getTargets().size() != members.size()) // C13
    return emitOpError() << "puts " << members.size() << " tensors into " << getTargets().size();
  for (auto [target, member] : llvm::zip(getTargets().getTypes(), members)) {
    auto type = cast<ShardedTensorType>(target);
    if (type.getDims() != member.getDims() || type.getElementType() != member.getElementType() ||
        type.getFlatAxes() != member.getFlatAxes()) // C13
      return emitOpError() << "puts a tensor of type " << member << " into " << type;
  }
  return verifyOnDevice(*this, getTargets());
}

LogicalResult CopyOp::verify() {
  StringRef memory = getHost() ? "host" : "device";
  if (isOnHost(getInput()) == getHost()) // O19
    return emitOpError() << "copies from the " << memory << " to the " << memory;
  if (getToken().getType().getResult() != getInput().getType()) // O20
    return emitOpError() << "copies " << getInput().getType() << " to " << getToken().getType().getResult();
  if (!getTarget())
    return success();
  if (isOnHost(getTarget()) != getHost()) // O21
    return emitOpError() << "copies to the " << memory << " into a target on the " << (getHost() ? "device" : "host");
  if (getTarget().getType() != getInput().getType()) // O22
    return emitOpError() << "copies " << getInput().getType() << " into " << getTarget().getType();
  return success();
}

LogicalResult WaitOp::verify() {
  if (getToken().getType().getResult() != getResult().getType()) // T2
    return emitOpError() << "produces " << getResult().getType() << ", but the token has " << getToken().getType();
  return success();
}
