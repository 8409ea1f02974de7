//===- row_arguments.cpp - calls on rows of experts -----------------------===//

#include "compiler/transforms/partition/row_arguments.h"
#include "compiler/sharding/dataflow/routed_values.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// Dims are counted from the last one, and in sizes the number of rows is left open.
///
///   sum over dim 3 of [8, 4, 16, 64]          dim = [-1]
///   sum over dims 0, 1 and 2 of it            dim = [-2]
///   expand of [8, 4, 16, 1]                   size = [-1, 64], not [8, 4, 16, 64]
class RowArguments {
public:
  RowArguments(CallOp call, const FactorRule &rule, base::RoutedAttr routed)
      : call(call), rule(rule), dims(routed.getDims()), rank(rankOf(call.getOperand(0))), builder(call) {}

  /// Fails for an operator whose arguments have another meaning on packed rows.
  LogicalResult rewrite();

private:
  bool rewriteDims(NamedAttrList &args);
  bool rewriteSizes(NamedAttrList &args);
  bool isOfRows();
  IntegerAttr fromLast(Attribute dim);

  CallOp call;
  const FactorRule &rule;
  int64_t dims, rank; ///< of experts and tokens, and all of them
  OpBuilder builder;
};

} // namespace

/// Negative for a dim of features; the number of the dim for one of experts and tokens; null if the argument is not a
/// number.
IntegerAttr RowArguments::fromLast(Attribute dim) {
  auto number = dyn_cast<IntegerAttr>(dim);
  // The new dim of an unsqueeze is counted among those of the result.
  int64_t counted = call.getTarget() == "aten.unsqueeze.default" ? rank + 1 : rank;
  int64_t index = number ? normalizeDim(number.getInt(), counted) : 0;
  return number ? builder.getI64IntegerAttr(index < dims ? index : index - counted) : IntegerAttr();
}

/// Dims of experts and tokens may only occur together, where their sum has none of them.
bool RowArguments::rewriteDims(NamedAttrList &args) {
  Attribute dim = args.get("dim");
  auto list = dyn_cast_or_null<ArrayAttr>(dim);
  SmallVector<Attribute> changed;
  int64_t rowDims = 0;
  for (Attribute item : list ? list.getValue() : ArrayRef<Attribute>(dim)) {
    IntegerAttr index = item ? fromLast(item) : IntegerAttr();
    if (!index)
      return false;
    if (index.getInt() < 0)
      changed.push_back(index);
    else
      ++rowDims;
  }
  bool isSum =
      call.getTarget() == "aten.sum.dim_IntList" && rowDims == dims && !CallView::of(call).getBool("keepdim", false);
  if (rowDims != 0 && !isSum)
    return false;
  if (isSum)
    changed.push_back(builder.getI64IntegerAttr(dims - rank - 1));
  args.set("dim", list ? Attribute(builder.getArrayAttr(changed)) : changed.front());
  return true;
}

bool RowArguments::rewriteSizes(NamedAttrList &args) {
  StringRef name = args.get("size") ? "size" : "shape";
  auto sizes = dyn_cast_or_null<ArrayAttr>(args.get(name));
  if (!sizes || static_cast<int64_t>(sizes.size()) < dims)
    return false;
  SmallVector<Attribute> open{builder.getI64IntegerAttr(-1)};
  llvm::append_range(open, sizes.getValue().drop_front(dims));
  args.set(name, builder.getArrayAttr(open));
  return true;
}

/// True if the results are rows, computed each from the same row of the operands and from features that are aligned
/// with the last dims, and no argument is about dims.
bool RowArguments::isOfRows() {
  auto isAboutDims = [](NamedAttribute argument) {
    return isa<IntegerAttr, ArrayAttr>(argument.getValue()) && !isa<BoolAttr>(argument.getValue());
  };
  auto isRouted = [](Value value) { return getSharding(value).getRouted() != nullptr; };
  // The integers of a pointwise call are numbers, such as the factor of an addition.
  const OpRecord *record = OpRegistry::get().lookup(call.getTarget());
  bool hasNoDims = (record && record->isPointwise) || llvm::none_of(call.getArgs(), isAboutDims);
  return hasNoDims && llvm::all_of(call.getResults(), isRouted) &&
         llvm::none_of(rule.factors, [](const Factor &factor) { return factor.isCounted; }) &&
         llvm::all_of(call.getOperands(),
                      [&](Value operand) { return isRouted(operand) || rankOf(operand) <= rank - dims; });
}

LogicalResult RowArguments::rewrite() {
  static constexpr StringLiteral withDims[] = {
      "aten.slice.Tensor",           "aten.split.Tensor",    "aten.split_with_sizes.default",
      "aten.chunk.default",          "aten.cat.default",     "aten.squeeze.dim",
      "aten.unsqueeze.default",      "aten.sum.dim_IntList", "aten.mean.dim",
      "aten.amax.default",           "aten.softmax.int",     "aten._softmax.default",
      "aten.constant_pad_nd.default"};
  static constexpr StringLiteral withSizes[] = {"aten.view.default", "aten.reshape.default",
                                                "aten._unsafe_view.default", "aten.expand.default"};
  StringRef target = call.getTarget();
  NamedAttrList args(call.getArgs());
  bool isFine = isRoutingCall(target);
  if (llvm::is_contained(withDims, target))
    isFine = !args.get("dim") || rewriteDims(args);
  else if (llvm::is_contained(withSizes, target))
    isFine = rewriteSizes(args);
  if (!isFine && !isOfRows())
    return call.emitOpError() << "'" << target
                              << "' reads rows that are routed to experts, and needs their dims of experts and tokens";
  call.setArgsAttr(args.getDictionary(call.getContext()));
  return success();
}

LogicalResult meshplan::localizeRows(CallOp call, const FactorRule &rule) {
  for (Value operand : call.getOperands()) {
    ShardingAttr sharding = getSharding(operand);
    if (sharding && sharding.getRouted())
      return RowArguments(call, rule, sharding.getRouted()).rewrite();
  }
  return success();
}
