//===- attention_args.cpp - attention on a rank ---------------------------===//

#include "compiler/sharding/record_support/attention_args.h"
#include "compiler/sharding/record_support/local_args.h"

using namespace mlir;

namespace meshplan {

bool drawsFreely(const CallView &call) { return call.getFloat("dropout", 0) != 0 && !call.get("number"); }

bool dropsByNumber(const CallView &call) { return call.getFloat("dropout", 0) != 0 && call.get("number"); }

/// Index in the whole tensor of the first element of the rank.
static Attribute offsetOf(const CallView &call, unsigned operand, int64_t dim) {
  return plan::LocalIntAttr::get(call.args.getContext(), 0, /*ofResult=*/false, operand, dim, 1, 0);
}

/// Adds the arguments that tell which heads share the keys of the rank.
static DictionaryAttr withSharedHeads(const CallView &call, DictionaryAttr args, unsigned query, unsigned key) {
  plan::ShardingAttr sharding = plan::getSharding(call.operands[key]);
  if (!sharding || sharding.getDims()[1].getRepeat() == 1)
    return args;
  // 9 query heads of 3 key heads (3 sharers) on tp=2: a rank's first query head may be in the middle of a group, so the
  // kernel cannot derive from local sizes alone which key head belongs to which query head. The indices in the whole
  // tensor tell: key head = query head / sharers.
  int64_t sharers = call.operands[query].getDimSize(1) / call.operands[key].getDimSize(1);
  args = withArg(args, "first_head", offsetOf(call, query, 1));
  args = withArg(args, "first_key_head", offsetOf(call, key, 1));
  return withArg(args, "heads_per_key", intLiteral(args.getContext(), sharers));
}

LocalCall localizeAttention(const CallView &call, plan::MeshOp) {
  std::optional<unsigned> query = call.getOperand("query"), key = call.getOperand("key");
  if (!query || !key)
    return unchanged(call);
  DictionaryAttr args = withSharedHeads(call, call.args, *query, *key);
  RankedTensorType type = call.operands[*query];
  // Dropout draws by the position of a score in the whole tensor, so that the same scores are dropped on every mesh.
  if (dropsByNumber(call) && isDivided(type, 0))
    args = withArg(args, "first_sample", offsetOf(call, *query, 0));
  if (dropsByNumber(call) && isDivided(type, 1)) {
    args = withArg(args, "first_head", offsetOf(call, *query, 1));
    args = withArg(args, "all_heads", intLiteral(args.getContext(), type.getDimSize(1)));
  }
  return {call.target.str(), args};
}

} // namespace meshplan
