//===- local_args.cpp - arguments that differ between ranks ---------------===//

#include "compiler/sharding/record_support/local_args.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace meshplan {

bool isDivided(RankedTensorType type, int64_t dim) {
  plan::ShardingAttr sharding = plan::getSharding(type);
  return sharding && dim >= 0 && dim < sharding.getRank() && !sharding.getDims()[dim].getAxes().empty();
}

LocalCall unchanged(const CallView &call) { return {call.target.str(), call.args}; }

DictionaryAttr withArg(DictionaryAttr args, StringRef name, Attribute value) {
  NamedAttrList list(args);
  if (value)
    list.set(name, value);
  else
    list.erase(name);
  return list.getDictionary(args.getContext());
}

CallRewrite withoutOperand(const CallView &call, StringRef target, StringRef name) {
  std::optional<unsigned> dropped = call.getOperand(name);
  CallRewrite rewrite{target.str(), withArg(call.args, name, nullptr), {}};
  for (unsigned index = 0; index < call.operands.size(); ++index)
    if (index != dropped)
      rewrite.operands.push_back(index);
  // Arguments refer to operands by index, and those after the dropped one move forward by one.
  for (NamedAttribute argument : call.args)
    if (auto operand = dyn_cast<plan::OperandRefAttr>(argument.getValue());
        operand && dropped && operand.getIndex() > *dropped)
      rewrite.args = withArg(rewrite.args, argument.getName(),
                             plan::OperandRefAttr::get(call.args.getContext(), operand.getIndex() - 1));
  return rewrite;
}

std::optional<CallRewrite> withoutLike(const CallView &call) {
  return call.getOperand("like") ? std::optional(withoutOperand(call, call.target, "like")) : std::nullopt;
}

std::optional<AddendSplit> splitBias(const CallView &call) {
  std::optional<unsigned> bias = call.getOperand("bias");
  if (!bias)
    return std::nullopt;
  return AddendSplit{withoutOperand(call, call.target, "bias"), *bias, {}};
}

Attribute intLiteral(MLIRContext *context, int64_t value) {
  return IntegerAttr::get(IntegerType::get(context, 64), value);
}

ArrayAttr localSizes(const CallView &call, int64_t first, int64_t count) {
  MLIRContext *context = call.args.getContext();
  RankedTensorType type = call.results.front();
  SmallVector<Attribute> sizes;
  for (int64_t dim = first; dim < first + count; ++dim)
    sizes.push_back(isDivided(type, dim) ? plan::LocalIntAttr::get(context, 0, /*ofResult=*/true, 0, dim, 0, 1)
                                         : intLiteral(context, type.getDimSize(dim)));
  return ArrayAttr::get(context, sizes);
}

LocalCall localizeSizes(const CallView &call, StringRef name) {
  RankedTensorType type = call.results.front();
  bool divided = false;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    divided |= isDivided(type, dim);
  if (!divided)
    return unchanged(call);
  return {call.target.str(), withArg(call.args, name, localSizes(call, 0, type.getRank()))};
}

} // namespace meshplan
