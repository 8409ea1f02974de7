//===- ops.cpp - operations of the sched dialect --------------------------===//

#include "dialect/sched/sched.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

/// The result has the type that the token promises, so only the token's type is written.
static ParseResult parseLanded(OpAsmParser &parser, Type &token, Type &result) {
  if (parser.parseType(token))
    return failure();
  auto promised = dyn_cast<meshplan::sched::TokenType>(token);
  if (!promised)
    return parser.emitError(parser.getNameLoc(), "expected a token, found ") << token;
  result = promised.getResult();
  return success();
}

static void printLanded(OpAsmPrinter &printer, Operation *, Type token, Type) { printer << token; }

/// The tensors have the types of the members, so only the packed type is written.
static ParseResult parseMembers(OpAsmParser &parser, Type &packed, SmallVectorImpl<Type> &tensors) {
  if (parser.parseType(packed))
    return failure();
  auto members = dyn_cast<meshplan::sched::PackedType>(packed);
  if (!members)
    return parser.emitError(parser.getNameLoc(), "expected a packed type, found ") << packed;
  llvm::append_range(tensors, members.getMembers());
  return success();
}

static void printMembers(OpAsmPrinter &printer, Operation *, Type packed, TypeRange) { printer << packed; }

static ParseResult parsePacked(OpAsmParser &parser, SmallVectorImpl<Type> &tensors, Type &packed) {
  return parseMembers(parser, packed, tensors);
}

static void printPacked(OpAsmPrinter &printer, Operation *, TypeRange, Type packed) { printer << packed; }

#define GET_OP_CLASSES
#include "dialect/sched/ops.cpp.inc"

namespace meshplan::sched {

MeshOp getMesh(Operation *op) { return base::meshOf<MeshOp>(op); }

ProgramOp programOf(ModuleOp module, base::ProgramRole role) {
  for (auto program : module.getOps<ProgramOp>())
    if (program.getRole() == role)
      return program;
  return {};
}

ProgramOp mainProgramOf(ModuleOp module) {
  ProgramOp step = programOf(module, base::ProgramRole::step);
  return step ? step : programOf(module, base::ProgramRole::forward);
}

/// All steps that have the attribute give it this name.
static constexpr StringLiteral whenName = "when";

base::When whenOf(Operation *step) {
  auto when = step->getAttrOfType<base::WhenAttr>(whenName);
  return when ? when.getValue() : base::When::always;
}

void setWhen(Operation *step, base::When when) {
  step->setAttr(whenName, base::WhenAttr::get(step->getContext(), when));
}

SmallVector<int64_t> axisSizes(ArrayAttr meshAxes) {
  return llvm::map_to_vector(meshAxes, [](Attribute axis) { return cast<MeshAxisAttr>(axis).getSize(); });
}

ProgramOp ProgramOp::getRunner() {
  for (auto runner : getOperation()->getParentOfType<ModuleOp>().getOps<ProgramOp>())
    if (base::instancesIn(runner.getTimelineAttr(), getSymName()) != 0)
      return runner;
  return *this;
}

int64_t ProgramOp::getInstances() {
  return std::max<int64_t>(1, base::instancesIn(getRunner().getTimelineAttr(), getSymName()));
}

SmallVector<int64_t> ProgramOp::getMeshSizes() {
  if (std::optional<ArrayAttr> devices = getDevices())
    return axisSizes(*devices);
  MeshOp mesh = getMesh(*this);
  return mesh ? axisSizes(mesh.getAxes()) : SmallVector<int64_t>();
}

meshplan::AxisRef toAxisRef(AxisAttr axis) { return {axis.getAxis(), axis.getPre(), axis.getSize()}; }

SmallVector<meshplan::AxisRef> toAxisRefs(ArrayAttr axes) {
  return llvm::map_to_vector(axes, [](Attribute axis) { return toAxisRef(cast<AxisAttr>(axis)); });
}

meshplan::DimSharding toDimSharding(DimAttr dim) {
  meshplan::DimSharding result;
  result.extent = dim.getExtent();
  for (AxisAttr axis : dim.getAxes())
    result.axes.push_back(toAxisRef(axis));
  result.unit = dim.getUnit();
  result.parts.assign(dim.getParts().begin(), dim.getParts().end());
  result.repeat = dim.getRepeat();
  return result;
}

/// Verified (T1): the token has one user.
WaitOp StartOp::getWait() { return cast<WaitOp>(*getToken().user_begin()); }
WaitOp CopyOp::getWait() { return cast<WaitOp>(*getToken().user_begin()); }

SmallVector<ShardedTensorType, 1> tensorsOf(Type type) {
  if (auto packed = dyn_cast<PackedType>(type))
    return SmallVector<ShardedTensorType, 1>(packed.getMembers());
  return {cast<ShardedTensorType>(type)};
}

static int64_t product(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  return elements;
}

static SmallVector<meshplan::AxisRef> flatAxes(ShardedTensorType type) {
  return llvm::map_to_vector(type.getFlatAxes(), toAxisRef);
}

SmallVector<int64_t> localShape(ShardedTensorType type, ArrayRef<int64_t> meshSizes, ArrayRef<int64_t> coordinate,
                                RowLoad load) {
  SmallVector<int64_t> shape = llvm::map_to_vector(type.getDims(), [&](DimAttr dim) {
    if (dim.getAxes().empty())
      return dim.getExtent();
    return meshplan::localExtent(toDimSharding(dim), meshSizes, coordinate);
  });
  if (base::RoutedAttr routed = type.getRouted())
    return llvm::to_vector(ArrayRef(base::storedShape(routed, type.getDims().front().getExtent(), shape, load)));
  if (!type.getFlatAxes().empty())
    shape = {meshplan::flatRange(product(shape), flatAxes(type), meshSizes, coordinate).size};
  return shape;
}

FileLineColRange getPlanLocation(Location location) {
  // The compiler gives every statement a range, whatever the name of the plan file. IR text has single points.
  if (auto range = dyn_cast<FileLineColRange>(location)) {
    bool isPoint = isStrictFileLineColLoc(range);
    return !isPoint || range.getFilename().getValue().ends_with(".plan") ? range : FileLineColRange();
  }
  if (auto named = dyn_cast<NameLoc>(location))
    return getPlanLocation(named.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    FileLineColRange range = getPlanLocation(call.getCallee());
    return range ? range : getPlanLocation(call.getCaller());
  }
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (FileLineColRange range = getPlanLocation(part))
        return range;
  return {};
}

bool isOnHost(Value tensor) {
  Operation *maker = tensor.getDefiningOp();
  // The memory of a result that is waited for is that of the copy.
  if (auto wait = dyn_cast<WaitOp>(maker))
    maker = wait.getToken().getDefiningOp();
  return maker->hasAttr("host");
}

Value targetOf(Operation *step) {
  if (auto start = dyn_cast<StartOp>(step))
    return start.getTarget();
  return cast<CopyOp>(step).getTarget();
}

int64_t localBytes(ShardedTensorType type, ArrayRef<int64_t> meshSizes, ArrayRef<int64_t> coordinate, RowLoad load) {
  return product(localShape(type, meshSizes, coordinate, load)) * elementBytes(type.getElementType());
}

/// The stored shape of a routed type on the rank with the largest shard.
static std::vector<int64_t> largestStored(ShardedTensorType type, RowLoad load) {
  // The dims are divided independently, so some rank has the largest shard of each of them.
  SmallVector<int64_t> shard =
      llvm::map_to_vector(type.getDims(), [](DimAttr dim) { return meshplan::largestExtent(toDimSharding(dim)); });
  return base::storedShape(type.getRouted(), type.getDims().front().getExtent(), shard, load);
}

int64_t largestRows(ShardedTensorType type, RowLoad load) { return largestStored(type, load).front(); }

int64_t largestBytes(ShardedTensorType type, RowLoad load) {
  if (type.getRouted())
    return product(largestStored(type, load)) * elementBytes(type.getElementType());
  SmallVector<meshplan::DimSharding> dims = llvm::map_to_vector(type.getDims(), toDimSharding);
  return meshplan::largestShard(dims, flatAxes(type)) * elementBytes(type.getElementType());
}

} // namespace meshplan::sched
