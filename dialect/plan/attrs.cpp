//===- attrs.cpp - attributes of the plan dialect and their queries -------===//

#include "dialect/plan/plan.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace meshplan::plan {

/// A sub-axis is a digit of the axis: the products of sizes from `pre` to `pre` times `size`. Example: an axis of 12 as
/// 2 x 3 x 2 has the digits (1)2, (2)3 and (6)2, which cover 1 to 2, 2 to 6 and 6 to 12. The digit (2)6 covers 2 to 12
/// and overlaps the last two.
bool AxisRefAttr::overlaps(AxisRefAttr other) const {
  if (getName() != other.getName())
    return false;
  if (isWhole() || other.isWhole())
    return true;
  return getPre() < other.getPre() * other.getSize() && other.getPre() < getPre() * getSize();
}

ShardingAttr ShardingAttr::getReplicated(MLIRContext *context, int64_t rank) {
  SmallVector<DimShardingAttr> dims(rank, DimShardingAttr::get(context, ArrayRef<AxisRefAttr>()));
  return get(context, dims);
}

bool ShardingAttr::isReplicated() const {
  return !isPartial() && !isFlat() &&
         llvm::all_of(getDims(), [](DimShardingAttr dim) { return dim.getAxes().empty(); });
}

bool ShardingAttr::isClosed() const {
  return llvm::none_of(getDims(), [](DimShardingAttr dim) { return dim.getOpen(); });
}

ShardingAttr ShardingAttr::withDim(int64_t dim, ArrayRef<AxisRefAttr> axes) const {
  return withDim(dim, DimShardingAttr::get(getContext(), axes, getDims()[dim].getOpen()));
}

ShardingAttr ShardingAttr::withDim(int64_t dim, DimShardingAttr sharding) const {
  SmallVector<DimShardingAttr> dims(getDims());
  dims[dim] = sharding;
  return get(getContext(), dims, getReduction(), getPartialAxes(), getReplicatedAxes(), getFlatAxes(), getRouted());
}

ShardingAttr ShardingAttr::withoutPartial() const { return withPartial(Reduction::none, {}); }

ShardingAttr ShardingAttr::withPartial(Reduction reduction, ArrayRef<AxisRefAttr> axes) const {
  return get(getContext(), getDims(), axes.empty() ? Reduction::none : reduction, axes, getReplicatedAxes(),
             getFlatAxes(), getRouted());
}

ShardingAttr ShardingAttr::withFlat(ArrayRef<AxisRefAttr> axes) const {
  return get(getContext(), getDims(), getReduction(), getPartialAxes(), getReplicatedAxes(), axes, getRouted());
}

ShardingAttr ShardingAttr::withRouted(base::RoutedAttr routed) const {
  return get(getContext(), getDims(), getReduction(), getPartialAxes(), getReplicatedAxes(), getFlatAxes(), routed);
}

ShardingAttr getSharding(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<ShardingAttr>(tensor.getEncoding()) : ShardingAttr();
}

RankedTensorType withSharding(Type type, ShardingAttr sharding) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(), sharding);
}

MeshOp getMesh(Operation *op) { return base::meshOf<MeshOp>(op); }

std::optional<CollectiveKind> collectiveKindOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<CollectiveKind>>(op)
      .Case([](AllGatherOp) { return CollectiveKind::all_gather; })
      .Case([](ReduceScatterOp) { return CollectiveKind::reduce_scatter; })
      .Case([](AllReduceOp) { return CollectiveKind::all_reduce; })
      .Case<AllToAllOp, ExchangeOp>([](auto) { return CollectiveKind::all_to_all; })
      .Case([](PermuteOp) { return CollectiveKind::permute; })
      .Default([](Operation *) { return std::nullopt; });
}

meshplan::AxisRef resolveAxis(AxisRefAttr axis, MeshOp mesh) {
  int64_t index = mesh.findAxis(axis.getName());
  if (axis.isWhole())
    // A whole axis is the digit with nothing before it, so that callers need not distinguish.
    return {index, 1, mesh.getAxisSize(index)};
  return {index, axis.getPre(), axis.getSize()};
}

int64_t shardCount(ArrayRef<AxisRefAttr> axes, MeshOp mesh) {
  int64_t count = 1;
  for (AxisRefAttr axis : axes)
    count *= resolveAxis(axis, mesh).size;
  return count;
}

meshplan::DimSharding resolveDim(int64_t extent, DimShardingAttr dim, MeshOp mesh) {
  meshplan::DimSharding resolved;
  resolved.extent = extent;
  for (AxisRefAttr axis : dim.getAxes())
    resolved.axes.push_back(resolveAxis(axis, mesh));
  resolved.unit = dim.getUnit();
  resolved.parts.assign(dim.getParts().begin(), dim.getParts().end());
  resolved.repeat = dim.getRepeat();
  return resolved;
}

DimShardingAttr canonicalDim(int64_t extent, DimShardingAttr dim, MeshOp mesh) {
  MLIRContext *context = dim.getContext();
  if (dim.getAxes().empty())
    return dim;
  auto canonicalPart = [count = shardCount(dim.getAxes(), mesh)](const DimPart &part) {
    // With a whole number of blocks for each shard, distributing blocks and distributing elements give the same shards;
    // no shard then touches a block of its neighbour, so repeats do not matter either. Example: 12 heads of 64 over 4
    // shards are 3 heads each, as 768 elements over 4 would be. 9 heads over 4 keep their block of 64, since 144
    // elements would cut a head.
    bool isEven = part.extent % (part.unit * count) == 0;
    return isEven ? DimPart(part.extent) : part;
  };
  DimPart whole = canonicalPart({extent, dim.getUnit(), dim.getRepeat()});
  // A dim with parts has no block size of its own.
  if (!dim.getParts().empty())
    whole = DimPart(extent);
  return DimShardingAttr::get(context, dim.getAxes(), dim.getOpen(), whole.unit,
                              llvm::map_to_vector(dim.getParts(), canonicalPart), whole.repeat);
}

DimShardingAttr divideDim(int64_t extent, ArrayRef<AxisRefAttr> axes, MeshOp mesh, int64_t unit,
                          ArrayRef<DimPart> parts, int64_t repeat) {
  if (axes.empty())
    return DimShardingAttr::get(mesh.getContext(), axes);
  return canonicalDim(extent, DimShardingAttr::get(mesh.getContext(), axes, /*open=*/false, unit, parts, repeat), mesh);
}

DimShardingAttr divideDim(int64_t extent, ArrayRef<AxisRefAttr> axes, MeshOp mesh, DimShardingAttr like) {
  return divideDim(extent, axes, mesh, like.getUnit(), like.getParts(), like.getRepeat());
}

bool isShared(DimShardingAttr dim) {
  return dim.getRepeat() != 1 || llvm::any_of(dim.getParts(), [](const DimPart &part) { return part.repeat != 1; });
}

bool hasBlockForEach(int64_t extent, DimShardingAttr dim, MeshOp mesh) {
  int64_t shards = shardCount(dim.getAxes(), mesh);
  // Fewer blocks than shards leave ranks without elements.
  auto hasEnough = [&](const DimPart &part) { return part.extent / part.unit >= shards; };
  return dim.getParts().empty() ? hasEnough({extent, dim.getUnit()}) : llvm::all_of(dim.getParts(), hasEnough);
}

DimShardingAttr ownUnits(int64_t extent, DimShardingAttr dim, MeshOp mesh) {
  SmallVector<DimPart> parts =
      llvm::map_to_vector(dim.getParts(), [](const DimPart &part) { return DimPart(part.extent, part.unit); });
  return divideDim(extent, dim.getAxes(), mesh, dim.getUnit(), parts);
}

DimShardingAttr dropMinorAxes(int64_t extent, DimShardingAttr dim, size_t count, MeshOp mesh) {
  ArrayRef<AxisRefAttr> axes = dim.getAxes().drop_back(count);
  if (axes.empty())
    return DimShardingAttr::get(dim.getContext(), axes, dim.getOpen());
  return canonicalDim(
      extent,
      DimShardingAttr::get(dim.getContext(), axes, dim.getOpen(), dim.getUnit(), dim.getParts(), dim.getRepeat()),
      mesh);
}

/// The dim without an axis, or a digit of one, as axesWithout leaves it.
static std::optional<DimShardingAttr> withoutAxis(int64_t extent, DimShardingAttr dim, AxisRefAttr axis, MeshOp mesh) {
  // Microbatches may follow one another within the tokens of a rank.
  size_t end = dim.getAxes().size();
  while (end > 0 && isTime(dim.getAxes()[end - 1]))
    --end;
  meshplan::DimSharding ofRanks = resolveDim(extent, dim, mesh);
  ofRanks.axes.resize(end);
  std::optional<std::vector<meshplan::AxisRef>> rest = axesWithout(ofRanks, resolveAxis(axis, mesh));
  if (!rest)
    return std::nullopt;
  SmallVector<AxisRefAttr> axes;
  for (const meshplan::AxisRef &left : *rest) {
    // Only digits of `axis` are new.
    auto same = llvm::find_if(dim.getAxes(), [&](AxisRefAttr own) { return resolveAxis(own, mesh) == left; });
    axes.push_back(
        same != dim.getAxes().end() ? *same : AxisRefAttr::get(mesh.getContext(), axis.getName(), left.pre, left.size));
  }
  llvm::append_range(axes, dim.getAxes().drop_front(end));
  return divideDim(extent, axes, mesh, dim);
}

std::optional<ShardingAttr> withoutTokenAxis(RankedTensorType type, ShardingAttr sharding, int64_t first, int64_t count,
                                             AxisRefAttr axis, MeshOp mesh) {
  for (int64_t index = first; index < first + count; ++index) {
    if (auto rest = withoutAxis(type.getDimSize(index), sharding.getDims()[index], axis, mesh))
      return sharding.withDim(index, *rest);
  }
  return std::nullopt;
}

std::optional<ShardingAttr> arrivalsOf(RankedTensorType rows, ArrayRef<AxisRefAttr> axes, MeshOp mesh) {
  ShardingAttr sharding = getSharding(rows);
  base::RoutedAttr routed = sharding.getRouted();
  for (AxisRefAttr axis : llvm::reverse(axes)) {
    std::optional<ShardingAttr> rest = withoutTokenAxis(rows, sharding, 1, routed.getDims() - 1, axis, mesh);
    if (!rest)
      return std::nullopt;
    sharding = *rest;
  }
  SmallVector<AxisRefAttr> experts(sharding.getDims()[0].getAxes());
  llvm::append_range(experts, axes);
  sharding = sharding.withDim(0, divideDim(rows.getDimSize(0), experts, mesh));
  return sharding.withRouted(base::RoutedAttr::get(rows.getContext(), base::RoutedKind::arrivals, routed.getDims(),
                                                   routed.getSlots(), routed.getReserve()));
}

bool isInTime(Type type) {
  ShardingAttr sharding = getSharding(type);
  return sharding &&
         (llvm::any_of(sharding.getPartialAxes(), isTime) ||
          llvm::any_of(sharding.getDims(), [](DimShardingAttr dim) { return llvm::any_of(dim.getAxes(), isTime); }));
}

int64_t largestShardBytes(RankedTensorType type, MeshOp mesh) {
  ShardingAttr sharding = getSharding(type);
  if (!sharding)
    return type.getNumElements() * elementBytes(type);
  SmallVector<meshplan::DimSharding> dims;
  for (auto [extent, dim] : llvm::zip_equal(type.getShape(), sharding.getDims()))
    dims.push_back(resolveDim(extent, dim, mesh));
  SmallVector<meshplan::AxisRef> flatAxes =
      llvm::map_to_vector(sharding.getFlatAxes(), [&](AxisRefAttr axis) { return resolveAxis(axis, mesh); });
  if (base::RoutedAttr routed = sharding.getRouted()) {
    SmallVector<int64_t> shard = llvm::map_to_vector(dims, meshplan::largestExtent);
    std::vector<int64_t> stored = base::storedShape(routed, type.getDimSize(0), shard);
    return llvm::product_of(stored) * elementBytes(type);
  }
  return meshplan::largestShard(dims, flatAxes) * elementBytes(type);
}

//===----------------------------------------------------------------------===//
// Causes of axes, which locations keep
//===----------------------------------------------------------------------===//

static bool isCauseList(Attribute metadata) {
  auto list = dyn_cast_or_null<ArrayAttr>(metadata);
  return list && llvm::all_of(list, llvm::IsaPred<CauseAttr>);
}

/// The causes in a location, or null, and the location without them.
static std::pair<ArrayAttr, Location> splitCauses(Location location) {
  auto fused = dyn_cast<FusedLoc>(location);
  if (!fused || !isCauseList(fused.getMetadata()))
    return {nullptr, location};
  return {cast<ArrayAttr>(fused.getMetadata()), FusedLoc::get(location.getContext(), fused.getLocations())};
}

Location withCauses(Location location, ArrayRef<CauseAttr> causes) {
  Location own = splitCauses(location).second;
  if (causes.empty())
    return own;
  SmallVector<Attribute> list(causes.begin(), causes.end());
  // In the location and not in an attribute: passes that know nothing of causes keep locations when they replace an op.
  return FusedLoc::get({own}, ArrayAttr::get(location.getContext(), list), location.getContext());
}

SmallVector<CauseAttr> getCauses(Location location) {
  ArrayAttr causes = splitCauses(location).first;
  return causes ? llvm::map_to_vector(causes.getAsRange<CauseAttr>(), [](CauseAttr cause) { return cause; })
                : SmallVector<CauseAttr>();
}

} // namespace meshplan::plan
