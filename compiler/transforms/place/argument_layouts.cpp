//===- argument_layouts.cpp - layouts of parameters and inputs ------------===//

#include "compiler/transforms/place/argument_layouts.h"
#include "compiler/sharding/dataflow/attention_heads.h"
#include "compiler/sharding/dataflow/module_border.h"
#include "compiler/transforms/place/messages.h"
#include "dialect/plan/attributes.h"
#include <numeric>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

AxisList meshplan::axesOf(StyleOp style, MeshOp mesh) { return dividingAxes(toAxes(style.getAxes()), mesh); }

static bool dividesExperts(StyleOp style) {
  return style.getKind() == StyleKind::expert || style.getKind() == StyleKind::within;
}

LogicalResult ArgumentLayouts::readStated() {
  bool failedAny = false;
  for (BlockArgument argument : function.getArguments())
    if (auto layout = argAttr<attr::Sharding>(function, argument.getArgNumber())) {
      FailureOr<ShardingAttr> distributed = statedLayout(argument, layout);
      failedAny |= failed(distributed);
      stated[argument] = distributed.value_or(layout);
    }
  return failure(failedAny);
}

FailureOr<ShardingAttr> ArgumentLayouts::statedLayout(BlockArgument argument, ShardingAttr layout) {
  auto parts = argAttr<attr::Parts>(function, argument.getArgNumber());
  ShardingAttr distributed = layout;
  int64_t fused = layout.getRank() - 1; // the dim of the parts
  while (fused > 0 && layout.getDims()[fused].getAxes().empty())
    --fused;
  for (int64_t dim = 0; dim < layout.getRank(); ++dim) {
    AxisList axes = dividingAxes(layout.getDims()[dim].getAxes(), mesh);
    FailureOr<DimShardingAttr> division = blocks.divide(argument, dim, axes, mesh);
    if (isWeight(argument) && !axes.empty())
      division = divided(argument.getLoc(), argument, dim, axes,
                         parts && dim == fused ? parts.asArrayRef() : ArrayRef<int64_t>());
    if (failed(division))
      return failure();
    distributed = distributed.withDim(dim, *division);
  }
  return distributed;
}

LogicalResult ArgumentLayouts::divide(StyleOp style, BlockArgument parameter, int64_t dim, ArrayRef<int64_t> parts) {
  FailureOr<DimShardingAttr> layout = divided(style.getLoc(), parameter, dim, axesOf(style, mesh), parts);
  if (failed(layout))
    return failure();
  int64_t rank = cast<RankedTensorType>(parameter.getType()).getRank();
  // `expert` and `within` of one module divide different dims.
  auto found = placed.find(parameter);
  if (found != placed.end() && dividesExperts(style) && dividesExperts(found->second.style) &&
      found->second.style.getModule() == style.getModule() && found->second.style.getKind() != style.getKind() &&
      found->second.sharding.getDims()[dim].getAxes().empty()) {
    found->second.sharding = found->second.sharding.withDim(dim, *layout);
    found->second.text = (Twine(found->second.text) + ", " + style.getText()).str();
    return success();
  }
  return claim(style, parameter, ShardingAttr::getReplicated(parameter.getContext(), rank).withDim(dim, *layout));
}

FailureOr<DimShardingAttr> ArgumentLayouts::divided(Location statement, BlockArgument parameter, int64_t dim,
                                                    ArrayRef<AxisRefAttr> axes, ArrayRef<int64_t> proportions) {
  int64_t shards = shardCount(axes, mesh), size = cast<RankedTensorType>(parameter.getType()).getDimSize(dim);
  if (size < shards)
    return isFirstReport(statement)
               ? reportSmallDim(mlir::emitError(statement), dimText(dim, parameter), size, axes, mesh)
               : failure();
  std::optional<SmallVector<DimPart>> parts = partsOf(proportions, shards, parameter, dim);
  if (!parts)
    return isFirstReport(statement) ? reportWrongParts(mlir::emitError(statement), proportions, parameter, dim,
                                                       blocks.partsOf(parameter, dim))
                                    : failure();
  for (const DimPart &part : *parts)
    if (part.repeat == 1 && part.extent < shards)
      return isFirstReport(statement) ? reportSmallDim(mlir::emitError(statement),
                                                       "a part of " + dimText(dim, parameter), part.extent, axes, mesh)
                                      : failure();
  return blocks.divide(parameter, dim, axes, mesh, *parts);
}

std::optional<SmallVector<DimPart>> ArgumentLayouts::partsOf(ArrayRef<int64_t> proportions, int64_t shards, Value value,
                                                             int64_t dim) const {
  int64_t extent = cast<RankedTensorType>(value.getType()).getDimSize(dim);
  int64_t sum = std::accumulate(proportions.begin(), proportions.end(), int64_t(0));
  if (sum != 0 && extent % sum != 0)
    return std::nullopt;
  // A single part is the whole dim.
  SmallVector<DimPart> parts;
  if (proportions.size() == 1)
    return parts;
  int64_t start = 0;
  for (int64_t part : proportions) {
    int64_t size = part * (extent / sum);
    // Multi-query attention has one key head in a fused weight. Each rank needs it for its query heads, so it counts
    // once for each shard: every shard holds all of it.
    bool isSingleSharedBlock = isOnlyKeyHead(value, dim, start, size);
    parts.push_back(isSingleSharedBlock ? DimPart(size, size, shards) : DimPart(size));
    start += size;
  }
  return parts;
}

LogicalResult ArgumentLayouts::claim(StyleOp style, BlockArgument parameter, ShardingAttr sharding) {
  if (auto found = stated.find(parameter); found != stated.end() && found->second != sharding)
    return isFirstReport(style.getLoc()) ? reportTwoPlacements(style, parameter) : failure();
  auto [position, inserted] = placed.insert({parameter, {sharding, style, style.getText().str()}});
  const Placement &other = position->second;
  if (inserted || other.sharding == sharding)
    return success();
  return reportTwoStyles(style, sharding, other.style, other.sharding, parameter);
}

void ArgumentLayouts::write(llvm::function_ref<StyleOp(BlockArgument)> styleOf) {
  for (BlockArgument argument : function.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    auto found = placed.find(argument);
    auto own = stated.find(argument);
    // A style that keeps the parameter replicated is not the cause of a layout that another statement gives.
    StyleOp style = found != placed.end() ? found->second.style : own != stated.end() ? nullptr : styleOf(argument);
    if (style) {
      StringRef text = found != placed.end() ? StringRef(found->second.text) : style.getText();
      setArgAttr<attr::Style>(function, argument.getArgNumber(), StringAttr::get(function.getContext(), text));
      argument.setLoc(style.getLoc());
    }
    if (found != placed.end()) {
      argument.setType(withSharding(type, found->second.sharding));
    } else if (own != stated.end()) {
      argument.setType(withSharding(type, own->second));
    } else {
      argument.setType(withSharding(type, ShardingAttr::getReplicated(type.getContext(), type.getRank())));
    }
  }
  // An argument may be returned unchanged.
  function.setType(FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(),
                                     function.getBody().front().getTerminator()->getOperandTypes()));
}
