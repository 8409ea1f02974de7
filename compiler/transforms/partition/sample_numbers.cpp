//===- sample_numbers.cpp - positions of samples in microbatches ----------===//
//
// A dim of samples is divided by ranks and by time. An integer that counts them is one of
//
//   {dp, time}       ranks first: a microbatch of a rank comes after all samples of lower ranks and the rank's earlier
//                    microbatches
//   {time, dp}       time first: it comes after all earlier microbatches of all ranks, and the samples of lower ranks
//   in
//                    this microbatch
//
// Example of the second: 12 samples in 3 microbatches over 2 ranks. Rank 1 has 2, 3 in microbatch 0 and 6, 7 in
// microbatch 1: its offset 2, plus the extent 2 of both ranks for each microbatch before. Over 3 ranks the extents are
// 2, 1 and 1, and no multiple of a rank's own extent is the size of a microbatch: it is added to the numbers.

#include "compiler/transforms/partition/sample_numbers.h"
#include "dialect/plan/call_builder.h"
#include "dialect/plan/settings.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/schema/program_names.h"

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

/// The numbers of an arange of which ranks have parts of several sizes: those of the rank's part of microbatch 0, plus
/// the size of a microbatch for each one before. Null for another call.
static CallOp numberUnevenly(CallOp call, MeshOp mesh, int64_t count) {
  auto start = dyn_cast_or_null<LocalIntAttr>(call.getArgs().get("start"));
  Value numbers = call.getResult(0);
  if (call.getTarget() != "aten.arange.start_step" || !start || start.getOffsetScale() == 0 ||
      !elementOf(numbers).isInteger(64))
    return {};
  Division division = Division::of(numbers, 0, mesh, count);
  if (!division.isTimeFirst || division.parts == 1 || division.areEqual)
    return {};
  auto function = call->getParentOfType<func::FuncOp>();
  Value index = settingArgument(function, program_names::microbatch, 0, /*isPlaced=*/true, function.getLoc());
  auto type = RankedTensorType::get(shapeOf(index), elementOf(numbers), typeOf(index).getEncoding());
  OpBuilder here(call->getNextNode());
  CallOp number = CallBuilder::at("aten.to.dtype", call, here)
                      .tensor("self", index)
                      .type("dtype", type.getElementType())
                      .build(TypeRange(type));
  CallOp before = CallBuilder::at("aten.mul.Tensor", call, here)
                      .tensor("self", number.getResult(0))
                      .integer("other", shapeOf(numbers).front() / count * start.getOffsetScale())
                      .build(TypeRange(type));
  CallOp sum = CallBuilder::at("aten.add.Tensor", call, here)
                   .tensor("self", numbers)
                   .tensor("other", before.getResult(0))
                   .build(TypeRange(numbers.getType()));
  numbers.replaceAllUsesExcept(sum.getResult(0), sum);
  return sum;
}

std::optional<CallOp> meshplan::numberSamples(CallOp call, MeshOp mesh, int64_t count) {
  if (CallOp sum = numberUnevenly(call, mesh, count))
    return sum;
  SmallVector<NamedAttribute> placed;
  for (NamedAttribute argument : call.getArgs()) {
    Attribute value = placedInTime(call, argument.getValue(), mesh, count);
    if (!value)
      return std::nullopt;
    placed.emplace_back(argument.getName(), value);
  }
  call.setArgsAttr(DictionaryAttr::get(call.getContext(), placed));
  return call;
}
