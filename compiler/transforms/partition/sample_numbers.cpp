//===- sample_numbers.cpp - positions of samples in microbatches ----------===//
//
// A dim of samples is divided by ranks and by time. An integer that counts them is one of
//
//   {dp, time}       ranks first: a microbatch of a rank comes after all samples of lower ranks and the rank's earlier
//                    microbatches
//   {time, dp}       time first: it comes after all earlier microbatches of all ranks, and the samples of lower ranks
//                    in this microbatch
//
// Example of the second: 12 samples in 3 microbatches over 2 ranks. Rank 1 has 2, 3 in microbatch 0 and 6, 7 in
// microbatch 1: its offset 2, plus the extent 2 of both ranks for each microbatch before. Over 3 ranks the extents are
// 2, 1 and 1, and no multiple of a rank's own extent is the size of a microbatch. Then a rank makes the numbers of the
// whole microbatch and keeps its own. So it does for {dp, time, tp}, where ranks divide a microbatch of a rank.

#include "compiler/transforms/partition/sample_numbers.h"
#include "dialect/plan/plan.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// How a dim of samples is divided.
struct Division {
  bool isInTime = false, isTimeFirst = false;
  int64_t parts = 1;     ///< of a microbatch, over ranks
  bool areEqual = false; ///< all of these have one size

  static Division of(Value tensor, int64_t position, MeshOp mesh, int64_t count) {
    DimShardingAttr dim = getSharding(tensor).getDims()[position];
    ArrayRef<AxisRefAttr> axes = dim.getAxes();
    auto *time = llvm::find_if(axes, [](AxisRefAttr axis) { return isTime(axis); });
    if (time == axes.end())
      return {};
    int64_t parts = shardCount(axes.drop_front(time - axes.begin() + 1), mesh);
    return {true, time == axes.begin(), parts, shapeOf(tensor)[position] % (count * parts * dim.getUnit()) == 0};
  }
};

} // namespace

/// The integer as a function of the microbatch; null if an IntExpr of the artifact cannot express it: ranks divide both
/// the batch and each microbatch, or have parts of several sizes of a microbatch.
static Attribute placedInTime(CallOp call, Attribute argument, MeshOp mesh, int64_t count) {
  if (auto list = dyn_cast<ArrayAttr>(argument)) {
    auto items = llvm::map_to_vector(list, [&](Attribute item) { return placedInTime(call, item, mesh, count); });
    return llvm::is_contained(items, Attribute()) ? Attribute() : ArrayAttr::get(call.getContext(), items);
  }
  auto local = dyn_cast<LocalIntAttr>(argument);
  if (!local || local.getOffsetScale() == 0)
    return argument;
  Value tensor = local.getOfResult() ? Value(call.getResult(local.getIndex())) : call.getOperand(local.getIndex());
  Division division = Division::of(tensor, local.getDim(), mesh, count);
  if (!division.isInTime)
    return argument;
  if (division.parts > 1 && (!division.isTimeFirst || !division.areEqual))
    return {};
  int64_t scale = local.getOffsetScale();
  // An offset counts in microbatches of this rank. Ranks first: the offset in the shard of a microbatch, times `count`,
  // is that in the batch, and each microbatch adds its extent. Time first: each microbatch adds the extents of all
  // ranks that divide it.
  return LocalIntAttr::get(call.getContext(), local.getConstant(), local.getOfResult(), local.getIndex(),
                           local.getDim(), division.parts == 1 ? count * scale : scale, local.getExtentScale(),
                           scale * division.parts);
}

/// Makes the results of a call without operands for all ranks that divide a microbatch, of which this rank keeps its
/// own. Null for another call.
static SliceOp keepOwnNumbers(CallOp call, MeshOp mesh) {
  if (call->getNumOperands() != 0 || call->getNumResults() != 1)
    return {};
  Value numbers = call.getResult(0);
  RankedTensorType own = typeOf(numbers);
  ShardingAttr sharding = getSharding(numbers), wide = sharding;
  std::optional<int64_t> divided;
  SmallVector<Attribute> axes;
  for (auto [position, dim] : llvm::enumerate(sharding.getDims())) {
    auto *time = llvm::find_if(dim.getAxes(), [](AxisRefAttr axis) { return isTime(axis); });
    if (time == dim.getAxes().end() || std::next(time) == dim.getAxes().end())
      continue;
    divided = position;
    axes.assign(std::next(time), dim.getAxes().end());
    wide = wide.withDim(position, dropMinorAxes(own.getDimSize(position), dim, axes.size(), mesh));
  }
  if (!divided)
    return {};
  OpBuilder here(call->getNextNode());
  numbers.setType(cast<RankedTensorType>(withSharding(own, wide)));
  auto slice = SliceOp::create(here, call.getLoc(), own, numbers, here.getArrayAttr(axes), StringAttr(),
                               here.getI64IntegerAttr(*divided));
  numbers.replaceAllUsesExcept(slice.getResult(), slice);
  return slice;
}

/// The integers of the call in one microbatch; nullopt if one of them cannot be expressed.
static std::optional<SmallVector<NamedAttribute>> placedInTime(CallOp call, MeshOp mesh, int64_t count) {
  SmallVector<NamedAttribute> placed;
  for (NamedAttribute argument : call.getArgs()) {
    Attribute value = placedInTime(call, argument.getValue(), mesh, count);
    if (!value)
      return std::nullopt;
    placed.emplace_back(argument.getName(), value);
  }
  return placed;
}

std::optional<Operation *> meshplan::numberSamples(CallOp call, MeshOp mesh, int64_t count) {
  Operation *last = call;
  std::optional<SmallVector<NamedAttribute>> placed = placedInTime(call, mesh, count);
  if (!placed) {
    last = keepOwnNumbers(call, mesh);
    if (!last)
      return std::nullopt;
    placed = placedInTime(call, mesh, count);
  }
  call.setArgsAttr(DictionaryAttr::get(call.getContext(), *placed));
  return last;
}
