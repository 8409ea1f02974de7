//===- describe.cpp - explanations of values ------------------------------===//
//
// What a person asks of a tensor, computed from its type: the extents of each shard, why each axis is there, and what
// moves it. Numbers come from where the program was decided: extents from schema/extent.h, steps from
// sharding/reshard.h, bytes from report/traffic.h.
//
//===----------------------------------------------------------------------===//

#include "compiler/report/explain/describe.h"
#include "compiler/report/sched_layout_text.h"
#include "compiler/report/traffic.h"
#include "compiler/sharding/axes.h"
#include "compiler/sharding/layout_text.h"
#include "compiler/sharding/reshard.h"
#include "compiler/support/layer_names.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/reshard_steps.h"
#include "dialect/plan/step_name.h"
#include <map>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

std::vector<int64_t> meshplan::shardExtents(const DimSharding &dim) {
  std::vector<int64_t> extents;
  for (int64_t shard = 0, count = shardCount(dim.axes); shard < count; ++shard) {
    int64_t size = 0;
    for (const Range &range : shardRanges(dim, shard))
      size += range.size;
    extents.push_back(size);
  }
  if (llvm::all_equal(extents))
    extents.resize(1);
  return extents;
}

Statement Describer::statement(Location location, StringAttr text) const {
  FileLineColRange found = sched::getPlanLocation(location);
  const SourceBuffer *file = found ? sources.find(found.getFilename().getValue()) : nullptr;
  if (!file)
    return {{}, text ? text.str() : ""};
  SourceRange range{file->file(), static_cast<int32_t>(found.getStartLine()),
                    static_cast<int32_t>(found.getStartColumn()), static_cast<int32_t>(found.getEndColumn())};
  return {range, text ? text.str() : file->piece(range).str()};
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

std::vector<AxisName> Describer::axisNames(ArrayRef<AxisRefAttr> axes) const {
  std::vector<AxisName> names;
  for (AxisRefAttr axis : axes)
    names.push_back({axisText(axis), axisSize(axis, mesh)});
  return names;
}

std::vector<Statement> Describer::reasons(Value value, ArrayRef<AxisRefAttr> axes) const {
  std::vector<Statement> reasons(axes.size());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto style = argAttr<attr::Style>(function, argument.getArgNumber());
    for (Statement &reason : reasons)
      reason = statement(argument.getLoc(), style);
    return reasons;
  }
  // By axis first: later passes may have written its digits in another way.
  for (bool isExact : {false, true})
    for (CauseAttr cause : getCauses(value.getLoc()))
      for (auto [axis, reason] : llvm::zip(axes, reasons))
        if (isExact ? axisText(axis) == cause.getAxis() : axis.getName() == cause.getAxis().split(':').first)
          reason = statement(cause.getStatement(), cause.getText());
  return reasons;
}

FlatExplanation Describer::flat(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  ShardingAttr sharding = getSharding(value);
  FlatExplanation flat;
  flat.axes = axisNames(sharding.getFlatAxes());
  flat.elements = largestShardBytes(withSharding(type, sharding.withFlat({})), mesh) / elementBytes(type);
  flat.piece = largestShardBytes(type, mesh) / elementBytes(type);
  // The style of a parameter's module splits its dims; the flat shards come from the data statement.
  DataOp data = isa<BlockArgument>(value) ? dataOf(cast<BlockArgument>(value)) : DataOp();
  flat.reasons =
      data ? std::vector{statement(data.getLoc(), data.getTextAttr())} : reasons(value, sharding.getFlatAxes());
  return flat;
}

TensorExplanation Describer::tensor(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  ShardingAttr sharding = getSharding(value);
  TensorExplanation tensor;
  tensor.dtype = dtypeText(type.getElementType());
  tensor.layout = layoutText(type);
  tensor.globalBytes = elementBytes(type) * type.getNumElements();
  tensor.rankBytes = largestShardBytes(type, mesh);
  for (auto [extent, dim] : llvm::zip(type.getShape(), sharding.getDims()))
    tensor.dims.push_back(
        {extent, axisNames(dim.getAxes()), reasons(value, dim.getAxes()), shardExtents(resolveDim(extent, dim, mesh))});
  if (sharding.isPartial())
    tensor.partial = {stringifyReduction(sharding.getReduction()).str(), axisNames(sharding.getPartialAxes()),
                      reasons(value, sharding.getPartialAxes())};
  if (sharding.isFlat())
    tensor.flat = flat(value);
  return tensor;
}

//===----------------------------------------------------------------------===//
// Producers, consumers, reshards
//===----------------------------------------------------------------------===//

static std::string layoutOf(Value value) { return layoutText(cast<RankedTensorType>(value.getType())); }

End Describer::producer(Value origin, Value seen) const {
  if (auto argument = dyn_cast<BlockArgument>(origin)) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    std::optional<ArgumentKind> kind = argumentKind(argument);
    auto names = argAttr<attr::Names>(function, argument.getArgNumber());
    return {kind ? stringifyArgumentKind(*kind).str() : "argument",
            names && !names.empty() ? cast<StringAttr>(names[0]).str() : "", layoutOf(seen)};
  }
  if (auto constant = origin.getDefiningOp<ConstantOp>())
    return {"constant", constant.getName().str(), layoutOf(seen)};
  auto call = origin.getDefiningOp<CallOp>();
  return {call.getTarget().str(), call.getModule().value_or("").str(), layoutOf(seen)};
}

End Describer::consumer(OpOperand &use) const {
  if (auto call = dyn_cast<CallOp>(use.getOwner()))
    return {call.getTarget().str(), call.getModule().value_or("").str(), layoutOf(use.get())};
  auto function = cast<func::FuncOp>(use.getOwner()->getParentOp());
  auto name = resultAttr<attr::Name>(function, use.getOperandNumber());
  return {"output", name ? name.str() : "", layoutOf(use.get())};
}

std::vector<End> Describer::consumers(ArrayRef<OpOperand *> uses) const {
  std::vector<End> ends;
  for (OpOperand *use : uses) {
    End end = consumer(*use);
    auto isSame = [&](const End &other) { return other.what == end.what && other.name == end.name; };
    if (llvm::none_of(ends, isSame))
      ends.push_back(std::move(end));
  }
  return ends;
}

StepExplanation Describer::step(Operation *op) const {
  StepExplanation step;
  step.kind = stepName(op);
  SmallVector<AxisRefAttr> axes(stepAxes(op).getAsRange<AxisRefAttr>());
  step.axes = axisNames(axes);
  if (collectiveKindOf(op))
    step.bytes = trafficBytes(sentBytes(op, mesh));
  return step;
}

std::vector<Statement> Describer::needs(const Move &move, const Statement &cause) const {
  std::vector<Statement> needs;
  ShardingAttr before = getSharding(move.input()), after = getSharding(move.result());
  for (auto [from, to] : llvm::zip(before.getDims(), after.getDims()))
    // Only axes that the move adds to a dim: those that it removes are explained by its cause.
    for (const Statement &need : reasons(move.result(), without(to.getAxes(), from.getAxes()))) {
      auto isSame = [&](const Statement &other) { return other.range == need.range; };
      if (need.range.hasLine() && !isSame(cause) && llvm::none_of(needs, isSame))
        needs.push_back(need);
    }
  return needs;
}

ReshardExplanation Describer::reshard(const Move &move) const {
  ReshardExplanation reshard;
  reshard.producer = producer(originOf(move.input()), move.input());
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : move.result().getUses())
    if (!isReshardStep(use.getOwner()))
      uses.push_back(&use);
  // A form that only serves to produce other forms has their consumers.
  reshard.consumers = consumers(uses.empty() ? usesAfterReshards(move.result()) : uses);
  for (Operation *op : move.steps)
    reshard.steps.push_back(step(op));
  reshard.statement = statement(move.statement(), stepCause(move.steps.front()));
  reshard.needs = needs(move, reshard.statement);
  return reshard;
}

/// A key that equal reshards of equal layers share.
static std::string layerKey(const ReshardExplanation &reshard) {
  auto end = [](const End &each) { return each.what + ' ' + withoutIndices(each.name) + ' ' + each.layout + '\n'; };
  // Layouts, steps and causes are part of the key, so that a layer that moves its tensors differently is listed
  // separately.
  std::string key = end(reshard.producer) + std::to_string(reshard.statement.range.line) + ':' +
                    std::to_string(reshard.statement.range.column) + ' ' + reshard.statement.text + '\n';
  for (const StepExplanation &step : reshard.steps) {
    key += step.kind + ' ' + std::to_string(step.bytes);
    for (const auto &axis : step.axes)
      key += ' ' + axis.name;
    key += '\n';
  }
  for (const End &consumer : reshard.consumers)
    key += end(consumer);
  return key;
}

std::vector<ReshardExplanation> Describer::reshards(const MoveTable &moves, const MoveSet &set) const {
  std::vector<ReshardExplanation> reshards;
  std::map<std::string, size_t> known;
  SmallVector<unsigned> order(set.begin(), set.end());
  llvm::sort(order); // program order
  for (unsigned index : order) {
    ReshardExplanation made = reshard(moves[index]);
    auto [entry, inserted] = known.try_emplace(layerKey(made), reshards.size());
    if (inserted)
      reshards.push_back(std::move(made));
    else
      ++reshards[entry->second].count;
  }
  return reshards;
}
