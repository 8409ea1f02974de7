//===- joining.cpp - records of concatenation, padding and repetition -----===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace meshplan {

static FactorRule catRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef result = builder.result();
  int64_t joined = normalizeDim(call.getInt("dim", 0), result.getRank());
  builder.tieAligned({joined});
  SmallVector<DimRef> pieces;
  for (unsigned index = 0; index < call.operands.size(); ++index)
    pieces.push_back(builder.operand(index)[joined]);
  builder.join(result[joined], pieces);
  return builder.finish();
}

static FactorRule stackRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef result = builder.result();
  int64_t made = normalizeDim(call.getInt("dim", 0), result.getRank());
  for (int64_t dim = 0; dim < result.getRank(); ++dim) {
    SmallVector<DimRef> dims{result[dim]};
    for (unsigned index = 0; index < call.operands.size(); ++index)
      dims.push_back(builder.operand(index)[dim > made ? dim - 1 : dim]);
    if (dim != made)
      builder.tie(dims);
  }
  return builder.finish();
}

/// All tensors together.
static Linearity allTogether(const CallView &call) {
  Linearity linearity;
  linearity.sets.push_back(llvm::to_vector<2>(llvm::seq<unsigned>(0, call.operands.size())));
  linearity.movesElements = true;
  for (RankedTensorType type : call.operands) {
    bool moved = !call.results.empty() && type.getElementType() == call.results.front().getElementType();
    // The pieces are partial together: a piece that is complete on all ranks, beside one that is partial, would be
    // counted once for each rank by the sum of the whole.
    linearity.movesElements &= moved;
    if (!moved && (call.results.empty() || !keepsSums(type.getElementType(), call.results.front().getElementType())))
      linearity.sets.clear();
  }
  return linearity;
}

/// True if the border is a literal instead of neighbouring elements.
static bool hasConstantBorder(const CallView &call) {
  auto mode = dyn_cast_or_null<StringAttr>(call.get("mode"));
  return call.get("pad") && (!mode || mode.getValue() == "constant");
}

/// `pad` lists (before, after) for the last dim, then for the one before it, and so on. Dims that are padded or cropped
/// are whole. If the border consists of elements, all listed dims are whole, because the border must be smaller than
/// its dim.
static FactorRule padRule(const CallView &call) {
  RuleBuilder builder(call);
  std::optional<SmallVector<int64_t>> pad = call.getInts(call.get("pad") ? "pad" : "padding");
  int64_t rank = builder.result().getRank();
  SmallVector<int64_t> padded;
  for (int64_t index = 0; pad && index < static_cast<int64_t>(pad->size()); ++index)
    if ((*pad)[index] != 0 || !hasConstantBorder(call))
      padded.push_back(rank - 1 - index / 2);
  if (pad)
    builder.tieAligned(padded);
  return builder.finish();
}

/// Linear if the border is 0 (it is 0 for every addend, too) or consists of elements of the operand.
static Linearity padLinearity(const CallView &call) {
  return !hasConstantBorder(call) || call.getFloat("value", 0) == 0 ? inSelf(call) : Linearity{};
}

/// A border of elements needs a row-major operand, except a circular one.
static OpCost padCost(const CallView &call) {
  OpCost cost = copyCost(call);
  auto mode = dyn_cast_or_null<StringAttr>(call.get("mode"));
  if (!hasConstantBorder(call) && !(mode && mode.getValue() == "circular"))
    cost.workspaceBytes = imageBytes(call, "self");
  return cost;
}

static LocalCall localizeRepeat(const CallView &call, plan::MeshOp) {
  RankedTensorType self = call.operands.front(), result = call.results.front();
  SmallVector<int64_t> repeats = call.getInts("repeats").value_or(SmallVector<int64_t>());
  SmallVector<Attribute> local;
  bool divided = false;
  for (auto [dim, count] : llvm::enumerate(repeats)) {
    int64_t own = static_cast<int64_t>(dim) - result.getRank() + self.getRank();
    bool made = isDivided(result, dim) && (own < 0 || self.getDimSize(own) == 1);
    divided |= made;
    MLIRContext *context = call.args.getContext();
    // Copies that are made on a rank are as many as its part of the result has. Where the operand has the dim, the
    // rank's part of the operand is repeated `count` times, as before.
    local.push_back(made ? plan::LocalIntAttr::get(context, 0, /*ofResult=*/true, 0, dim, 0, 1)
                         : intLiteral(context, count));
  }
  if (!divided)
    return unchanged(call);
  return {call.target.str(), withArg(call.args, "repeats", ArrayAttr::get(call.args.getContext(), local))};
}

/// Each element of a dim is repeated `repeats` times in a row. Without a dim the result has one.
static FactorRule interleaveRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), result = builder.result();
  int64_t repeated = call.get("dim") ? normalizeDim(call.getInt("dim", 0), result.getRank()) : 0;
  if (self.getRank() != result.getRank())
    return builder.finish();
  for (int64_t dim = 0; dim < result.getRank(); ++dim) {
    if (dim != repeated) {
      builder.tie({self[dim], result[dim]});
      continue;
    }
    int64_t size = self[dim].size, repeats = size > 0 ? result[dim].size / size : 0;
    if (repeats * size != result[dim].size || size <= 1)
      continue;
    unsigned factor = builder.add(size);
    builder.append(self[dim], factor);
    builder.append(result[dim], factor);
    if (repeats > 1)
      builder.append(result[dim], builder.add(repeats, FactorKind::whole));
  }
  return builder.finish();
}

/// The size of the whole result is only a hint.
static LocalCall localizeInterleave(const CallView &call, plan::MeshOp) {
  return {call.target.str(), withArg(call.args, "output_size", nullptr)};
}

void addJoiningRecords(OpRegistry &registry) {
  registry.add({.target = "aten.cat.default", .rule = catRule, .linearity = allTogether, .cost = copyCost});
  registry.add({.target = "aten.stack.default", .rule = stackRule, .linearity = allTogether, .cost = copyCost});
  for (StringRef target : {"aten.pad.default", "aten.constant_pad_nd.default"})
    registry.add({.target = target, .rule = padRule, .linearity = padLinearity, .cost = padCost});
  for (StringRef target :
       {"aten.reflection_pad1d.default", "aten.reflection_pad2d.default", "aten.reflection_pad3d.default",
        "aten.replication_pad1d.default", "aten.replication_pad2d.default", "aten.replication_pad3d.default"})
    registry.add({.target = target, .rule = padRule, .linearity = inSelf, .cost = padCost});
  // Dims that are not repeated can be divided. Dims of size 1 and leading dims become new elements, the same on every
  // rank, so the result can be divided along them too.
  registry.add({.target = "aten.repeat.default",
                .rule = alignedRule,
                .linearity = movesOperand,
                .cost = copyCost,
                .localize = localizeRepeat});
  registry.add({.target = "aten.repeat_interleave.self_int",
                .rule = interleaveRule,
                .linearity = movesOperand,
                .cost = copyCost,
                .localize = localizeInterleave});
}

} // namespace meshplan
