//===- reshard_verifiers.cpp - verifiers of ops that change a sharding ----===//
//
// Rules have labels (R: resharding, T: time) that reappear in test/dialect/plan/verifiers.mlir.
//
// What an op of resharding may change, with B and C any axes and A those of the op:
//
//   all_gather d A           dim d over B, A                    ->  dim d over B
//   reduce_scatter d A       dim d over B, partial over C, A    ->  dim d over B, A, partial over C
//   all_reduce A             partial over C, A                  ->  partial over C
//   all_to_all d to e, A     dim d over B, A; dim e over C      ->  dim d over B; dim e over C, A
//   exchange A               experts over B, tokens over A, ..  ->  experts over B, A, tokens over ..
//   slice d A                dim d over B                       ->  dim d over B, A
//   permute                  any axes                           ->  other axes, as many shards of each dim
//
// Example: mesh dp=2, tp=3, and [6, 6] with rows over dp. A slice of the columns over tp leaves [3, 2] to each rank. An
// all-to-all of tp from columns to rows makes it rows over dp, tp: [1, 6]. An all-gather of the rows over tp is rows
// over dp again: [3, 6].
//
//===----------------------------------------------------------------------===//

#include "dialect/plan/reshard_steps.h"
#include "dialect/plan/verify_types.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

//===----------------------------------------------------------------------===//
// Resharding: shape and element type stay; the sharding changes as the op states
//===----------------------------------------------------------------------===//

namespace {
/// The two shardings of an op that changes one into the other.
struct Change {
  ShardingAttr from, to;
  SmallVector<AxisRefAttr> axes;
};
} // namespace

static SmallVector<AxisRefAttr> toAxes(ArrayAttr axes) {
  return llvm::map_to_vector(axes, [](Attribute axis) { return cast<AxisRefAttr>(axis); });
}

/// R1: same shape and element type, both shardings decided.
static FailureOr<Change> verifyChange(Operation *op) {
  auto input = cast<RankedTensorType>(op->getOperand(0).getType());
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (input.getShape() != result.getShape() || input.getElementType() != result.getElementType())
    return op->emitOpError() << "changes the tensor from " << input << " to " << result;
  Change change{getSharding(input), getSharding(result), {}};
  if (!change.from || !change.to || !change.from.isClosed() || !change.to.isClosed())
    return op->emitOpError("needs decided shardings on its input and its result");
  if (ArrayAttr axes = stepAxes(op))
    change.axes = toAxes(axes);
  if (failed(verifyTypes(op)))
    return failure();
  return change;
}

/// Reports a sharding that differs from the stated type of the result.
static LogicalResult expect(Operation *op, ShardingAttr made, ShardingAttr stated) {
  if (made == stated)
    return success();
  return op->emitOpError() << "produces " << made << ", but its type is " << stated;
}

/// R2: removes `axes` from the minor end of the axes of a dim. Only there do the elements that a rank holds stay a
/// range. Example: mesh dp=2, tp=3, and 6 rows over dp and tp, so that rank (d, t) holds row 3 d + t. A gather over tp
/// gives rows 3 d to 3 d + 2. A gather over dp would give rows t and t + 3.
static FailureOr<ShardingAttr> dropMinor(Operation *op, ShardingAttr sharding, int64_t dim,
                                         ArrayRef<AxisRefAttr> axes) {
  if (dim < 0 || dim >= sharding.getRank())
    return op->emitOpError() << "dim " << dim << " of a tensor of rank " << sharding.getRank();
  ArrayRef<AxisRefAttr> own = sharding.getDims()[dim].getAxes();
  if (axes.empty() || own.size() < axes.size() || own.take_back(axes.size()) != axes)
    return op->emitOpError() << "needs its axes at the minor end of dim " << dim << " of " << sharding;
  int64_t extent = cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(dim);
  return sharding.withDim(dim, dropMinorAxes(extent, sharding.getDims()[dim], axes.size(), getMesh(op)));
}

/// Reports an input whose sharding is not the one that the op needs for its result.
static LogicalResult expectInput(Operation *op, ShardingAttr needed, ShardingAttr stated) {
  if (needed == stated)
    return success();
  return op->emitOpError() << "needs an input of layout " << needed << ", but its input is " << stated;
}

/// R3: removes `axes` from the partial axes.
static FailureOr<ShardingAttr> dropPartial(Operation *op, ShardingAttr sharding, ArrayRef<AxisRefAttr> axes) {
  SmallVector<AxisRefAttr> rest;
  for (AxisRefAttr axis : sharding.getPartialAxes())
    if (!llvm::is_contained(axes, axis))
      rest.push_back(axis);
  if (axes.empty() || rest.size() + axes.size() != sharding.getPartialAxes().size())
    return op->emitOpError() << "reduces over axes over which " << sharding << " is not partial";
  return sharding.withPartial(sharding.getReduction(), rest);
}

/// R6: without a dim, `axes` are removed from the minor end of the flat axes; dims change only where nothing is flat.
static FailureOr<ShardingAttr> dropMinor(Operation *op, ShardingAttr sharding, std::optional<int64_t> dim,
                                         ArrayRef<AxisRefAttr> axes) {
  if (dim && sharding.isFlat())
    return op->emitOpError() << "names dim " << *dim << ", but " << sharding << " is flat";
  if (dim)
    return dropMinor(op, sharding, *dim, axes);
  ArrayRef<AxisRefAttr> own = sharding.getFlatAxes();
  if (axes.empty() || own.size() < axes.size() || own.take_back(axes.size()) != axes)
    return op->emitOpError() << "needs its axes at the minor end of the flat axes of " << sharding;
  return sharding.withFlat(own.drop_back(axes.size()));
}

LogicalResult ReshardOp::verify() { return verifyChange(*this); }

/// R5: a gradient has the shape of its value and keeps its own element type.
LogicalResult MatchOp::verify() {
  if (getFlat() && failed(verifyStatedAxes(*this, *getFlat())))
    return failure();
  auto shape = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
  bool keepsType = getElementTypeOrSelf(getGradient()) == getElementTypeOrSelf(getResult());
  if (shape(getGradient()) != shape(getValue()) || shape(getResult()) != shape(getValue()) || !keepsType)
    return emitOpError() << "gives a gradient of type " << getGradient().getType() << " to a value of type "
                         << getValue().getType();
  return verifyTypes(*this);
}

/// R8: a target has the extents and the division of the result.
template <typename Op> static LogicalResult verifyTarget(Op op) {
  if (auto bucket = static_cast<int64_t>(op.getBucket().value_or(0)); bucket < 0) // R9
    return op.emitOpError() << "is in bucket " << bucket << ", must be 0 or more";
  if (!op.getTarget())
    return success();
  auto withoutAddends = [](Type type) {
    return withSharding(type, getSharding(type).withPartial(Reduction::none, {}));
  };
  Type target = op.getTarget().getType(), result = op.getResult().getType();
  // An accumulator that stays partial over time is a target too, so addends are not compared.
  bool fits = getSharding(target) && withoutAddends(target) == withoutAddends(result);
  return fits ? success() : op.emitOpError() << "puts a result of type " << result << " into " << target;
}

LogicalResult AllGatherOp::verify() {
  FailureOr<Change> change = verifyChange(*this);
  if (failed(change) || failed(verifyTarget(*this)))
    return failure();
  FailureOr<ShardingAttr> made = dropMinor(*this, change->from, getDim(), change->axes);
  return failed(made) ? failure() : expect(*this, *made, change->to);
}

LogicalResult AllReduceOp::verify() {
  FailureOr<Change> change = verifyChange(*this);
  if (failed(change) || failed(verifyTarget(*this)))
    return failure();
  if (getDim()) // R7
    return emitOpError() << "has dim " << *getDim() << ", but sums all elements of a value";
  // Of several partial axes only those of the op are reduced: a value that is partial over dp and tp stays partial over
  // dp after an all-reduce over tp.
  FailureOr<ShardingAttr> made = dropPartial(*this, change->from, change->axes);
  return failed(made) ? failure() : expect(*this, *made, change->to);
}

LogicalResult ReduceScatterOp::verify() {
  FailureOr<Change> change = verifyChange(*this);
  if (failed(change) || failed(verifyTarget(*this)))
    return failure();
  // Backwards, from the result: its type says into which blocks the dim is cut. The input need not say it, since a dim
  // without axes has no blocks in its canonical form.
  FailureOr<ShardingAttr> reduced = dropPartial(*this, change->from, change->axes);
  if (failed(reduced))
    return failure();
  FailureOr<ShardingAttr> whole = dropMinor(*this, change->to, getDim(), change->axes);
  return failed(whole) ? failure() : expectInput(*this, *whole, *reduced);
}

LogicalResult AllToAllOp::verify() {
  FailureOr<Change> change = verifyChange(*this);
  if (failed(change))
    return failure();
  std::optional<int64_t> from = getFromDim(), to = getToDim();
  // Also for two flat sides, where neither names a dim.
  if (from == to)
    return emitOpError() << "moves axes from dim " << *from << " to itself";
  // In two steps, to the layout in which neither dim is split over the axes. Both sides must lead to it.
  FailureOr<ShardingAttr> gathered = dropMinor(*this, change->from, from, change->axes);
  if (failed(gathered))
    return failure();
  FailureOr<ShardingAttr> whole = dropMinor(*this, change->to, to, change->axes);
  return failed(whole) ? failure() : expectInput(*this, *whole, *gathered);
}

/// R11: rows become arrivals or the reverse; the axes divide tokens of the rows, and experts of the arrivals.
LogicalResult ExchangeOp::verify() {
  FailureOr<Change> change = verifyChange(*this);
  if (failed(change) || failed(verifyStatedAxes(*this, getAxes())))
    return failure();
  auto kindOf = [](ShardingAttr sharding) {
    return sharding.getRouted() ? sharding.getRouted().getKind() : base::RoutedKind::counts;
  };
  bool goes = kindOf(change->from) == base::RoutedKind::rows && kindOf(change->to) == base::RoutedKind::arrivals;
  bool comesBack = kindOf(change->from) == base::RoutedKind::arrivals && kindOf(change->to) == base::RoutedKind::rows;
  if (!goes && !comesBack)
    return emitOpError() << "turns " << getInput().getType() << " into " << getResult().getType()
                         << ", must turn rows into arrivals or the reverse";
  auto rows = cast<RankedTensorType>((goes ? getInput() : getResult()).getType());
  auto counts = cast<RankedTensorType>(getCounts().getType());
  MeshOp mesh = getMesh(*this);
  if (!counts.getElementType().isInteger(64) || counts.getRank() != 2 || counts.getDimSize(1) != rows.getDimSize(0) ||
      (mesh && counts.getDimSize(0) != shardCount(change->axes, mesh)))
    return emitOpError() << "has counts of type " << counts << ", must be i64 [ranks, experts]";
  // Without a mesh the sizes of axes are unknown; verifyTypes has required one for tensors that are divided.
  std::optional<ShardingAttr> made = mesh ? arrivalsOf(rows, change->axes, mesh) : std::nullopt;
  if (!made)
    return emitOpError()
           << "needs tokens that are divided over its axes, evenly over all but the last one, but the rows are "
           << rows;
  return goes ? expect(*this, *made, change->to) : expectInput(*this, *made, change->from);
}

/// True for a slice over time that takes a microbatch that is contiguous in the batch, with each rank holding a part of
/// it.
static bool takesRun(SliceOp slice, ArrayRef<AxisRefAttr> axes, ShardingAttr to) {
  std::optional<int64_t> dim = slice.getDim();
  return axes.size() == 1 && isTime(axes.front()) && dim && *dim >= 0 && *dim < to.getRank() &&
         isRunOfBatch(to.getDims()[*dim]);
}

/// A slice over no axes removes sharing: of the blocks that neighbours share, each rank keeps only its own. Example: 3
/// key heads, each read by 3 query heads, over 4 ranks. The ranks hold the key heads 0, 1, 1-2 and 2 before, and 0, 1,
/// 2 and none after.
LogicalResult SliceOp::verify() {
  FailureOr<Change> change = verifyChange(*this);
  if (failed(change))
    return failure();
  if (change->axes.empty()) {
    int64_t index = getDim().value_or(-1);
    if (index < 0 || index >= change->from.getRank())
      return emitOpError() << "dim " << index << " of a tensor of rank " << change->from.getRank();
    int64_t extent = cast<RankedTensorType>(getResult().getType()).getDimSize(index);
    DimShardingAttr own = ownUnits(extent, change->from.getDims()[index], getMesh(*this));
    return expect(*this, change->from.withDim(index, own), change->to);
  }
  if (takesRun(*this, change->axes, change->to)) {
    int64_t dim = *getDim(), extent = cast<RankedTensorType>(getResult().getType()).getDimSize(dim);
    DimShardingAttr batch = batchOfRuns(extent, change->to.getDims()[dim], getMesh(*this));
    return expectInput(*this, change->to.withDim(dim, batch), change->from);
  }
  FailureOr<ShardingAttr> whole = dropMinor(*this, change->to, getDim(), change->axes);
  return failed(whole) ? failure() : expectInput(*this, *whole, change->from);
}

/// R4: a permutation keeps the number of shards of every dim, and the partial axes.
LogicalResult PermuteOp::verify() {
  FailureOr<Change> change = verifyChange(*this);
  if (failed(change))
    return failure();
  if (failed(verifyStatedAxes(*this, getAxes()))) // R10
    return failure();
  MeshOp mesh = getMesh(*this);
  for (auto [index, from, to] : llvm::enumerate(change->from.getDims(), change->to.getDims()))
    // Example: a dim over dp=2 and tp=3 may go over tp and dp, since both have 6 shards. Which rank sends to which is
    // found when the step is prepared.
    if (shardCount(from.getAxes(), mesh) != shardCount(to.getAxes(), mesh))
      return emitOpError() << "dim " << index << " has " << shardCount(from.getAxes(), mesh) << " shards before and "
                           << shardCount(to.getAxes(), mesh) << " after";
  if (change->from.getPartialAxes() != change->to.getPartialAxes())
    return emitOpError("changes the partial axes or the reduction");
  if (change->from.isFlat() || change->to.isFlat()) // R6
    return emitOpError("redistributes dims, but its input or result is flat");
  return success();
}

//===----------------------------------------------------------------------===//
// Microbatches
//===----------------------------------------------------------------------===//

/// T1: a microbatch is one of `count` equal parts of its dim, and each part is divided like the microbatch.
LogicalResult EnterMicrobatchOp::verify() {
  RankedTensorType input = getInput().getType(), result = getResult().getType();
  int64_t dim = getDim(), count = getCount();
  if (dim < 0 || dim >= input.getRank() || count < 1)
    return emitOpError() << "slices dim " << dim << " of " << input << " into " << count << " microbatches";
  SmallVector<int64_t> shape(input.getShape());
  bool isEven = shape[dim] % count == 0;
  shape[dim] /= count;
  if (!isEven || result.getShape() != ArrayRef(shape) || input.getElementType() != result.getElementType())
    return emitOpError() << "slices " << input << " into " << count << " microbatches, but its result is " << result;
  if (failed(verifyTypes(*this)))
    return failure();
  if (!getSharding(input))
    return success();
  DimShardingAttr own = getSharding(input).getDims()[dim];
  DimShardingAttr expected = divideBatch(input.getDimSize(dim), count, own.getAxes(), getMesh(*this));
  if (own != expected)
    return emitOpError() << "needs " << expected << " on dim " << dim << ", and the input has " << own;
  return getSharding(result) ? expect(*this, getResultSharding(), getSharding(result)) : success();
}

/// T2: the result has the layout of the input and is partial over time as well. A sum cannot combine with a maximum.
LogicalResult LeaveMicrobatchOp::verify() {
  RankedTensorType input = getInput().getType(), result = getResult().getType();
  if (input.getShape() != result.getShape() || input.getElementType() != result.getElementType())
    return emitOpError() << "changes the tensor from " << input << " to " << result;
  if (failed(verifyTypes(*this)))
    return failure();
  if (!getSharding(input) || !getSharding(result))
    return success();
  Reduction reduction = getSharding(input).getReduction();
  // The sum over microbatches of a maximum over ranks is not the maximum of sums.
  if (reduction != Reduction::none && reduction != Reduction::sum)
    return emitOpError() << "accumulates values that are partial with reduction " << stringifyReduction(reduction);
  return expect(*this, getResultSharding(), getSharding(result));
}
