//===- random.cpp - random numbers by element position --------------------===//
//
// The kernels identify an element by its index in the whole tensor: a rank is
// told the offset of its part, which must be one contiguous range of each dim.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

/// The ten rounds of the generator make four words.
static constexpr int64_t flopsPerWord = 25;

/// Every dim can be divided; it is tied to the operand if there is one.
static FactorRule numberedRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef input = builder.operand("input"), result = builder.result();
  for (int64_t dim = 0; dim < result.getRank(); ++dim) {
    builder.tie({input[dim], result[dim]});
    // The mask of an element depends on the seed and its index in the whole tensor. So training on dp=2,tp=3 drops the
    // same elements as training on one rank does, and results can be compared.
    builder.count(result[dim]);
  }
  return builder.finish();
}

/// The call with the shape of the whole tensor and the offset of the rank's part, if a dim is divided.
static LocalCall localizeOffset(const CallView &call, plan::MeshOp) {
  MLIRContext *context = call.args.getContext();
  RankedTensorType type = call.results.front();
  SmallVector<Attribute> shape, offset;
  bool divided = false;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool isPart = isDivided(type, dim);
    divided |= isPart;
    shape.push_back(intLiteral(context, type.getDimSize(dim)));
    offset.push_back(isPart ? Attribute(plan::LocalIntAttr::get(context, 0, /*ofResult=*/true, 0, dim, 1, 0))
                            : intLiteral(context, 0));
  }
  if (!divided)
    return unchanged(call);
  DictionaryAttr args = withArg(call.args, "shape", ArrayAttr::get(context, shape));
  return {call.target.str(), withArg(args, "offset", ArrayAttr::get(context, offset))};
}

static LocalCall localizeUniform(const CallView &call, plan::MeshOp mesh) {
  CallView local = call;
  local.args = localizeOffset(call, mesh).args;
  return localizeSizes(local, "size");
}

//===----------------------------------------------------------------------===//
// dropout_rows: rows [experts, tokens.., F], positions [experts, tokens..], result like the rows
//===----------------------------------------------------------------------===//

/// Rows have their positions wherever they are: only features are counted.
static FactorRule rowsRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef rows = builder.operand("rows"), positions = builder.operand("positions"), result = builder.result();
  for (int64_t dim = 0; dim < positions.getRank(); ++dim)
    builder.tie({rows[dim], positions[dim], result[dim]});
  builder.tie({rows[-1], result[-1]});
  builder.count(result[-1]);
  return builder.finish();
}

static Linearity inDroppedRows(const CallView &call) { return linearIn(call, {{"rows"}}); }

/// The call with the number of all features and the first one of the rank, if they are divided.
static LocalCall localizeFeatures(const CallView &call, plan::MeshOp) {
  RankedTensorType type = call.results.front();
  int64_t last = type.getRank() - 1;
  if (!isDivided(type, last))
    return unchanged(call);
  MLIRContext *context = call.args.getContext();
  DictionaryAttr args = withArg(call.args, "features", intLiteral(context, type.getDimSize(last)));
  return {call.target.str(),
          withArg(args, "first", plan::LocalIntAttr::get(context, 0, /*ofResult=*/true, 0, last, 1, 0))};
}

static OpCost numberedCost(const CallView &call) {
  OpCost cost = copyCost(call);
  for (RankedTensorType type : call.results)
    cost.flops += flopsPerWord * type.getNumElements();
  cost.workspaceBytes = contiguousBytes(call, call.getOperand("rows") ? "rows" : "input");
  return cost;
}

void addRandomRecords(OpRegistry &registry) {
  registry.add({.target = "meshplan.dropout",
                .rule = numberedRule,
                .linearity = inInput,
                .cost = numberedCost,
                .localize = localizeOffset});
  registry.add({.target = "meshplan.dropout_rows",
                .rule = rowsRule,
                .linearity = inDroppedRows,
                .cost = numberedCost,
                .localize = localizeFeatures});
  registry.add({.target = "meshplan.uniform",
                .rule = numberedRule,
                .linearity = notLinear,
                .cost = numberedCost,
                .localize = localizeUniform});
}

} // namespace meshplan
