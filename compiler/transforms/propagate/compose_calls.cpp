//===- compose_calls.cpp - decomposes calls over divided dims -------------===//
//
// A call that needs a whole dim, but whose operand arrives divided over it, is
// replaced by calls that can be divided over the dim (compiler/compositions). A
// gather is kept where it moves less, as for short rows.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/transforms/propagate/propagation.h"
#include "dialect/plan/attributes.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// True if ranks hold different parts of the dim, each at least a block. Parts over time are not parts of ranks.
static bool isDividedOverRanks(RankedTensorType type, int64_t dim, MeshOp mesh) {
  ShardingAttr sharding = getSharding(type);
  if (!sharding || sharding.isFlat() || dim >= sharding.getRank())
    return false;
  DimShardingAttr divided = sharding.getDims()[dim];
  return !divided.getAxes().empty() && llvm::none_of(divided.getAxes(), isTime) &&
         hasBlockForEach(type.getDimSize(dim), divided, mesh);
}

/// True if an operand arrives divided in these dims, and an all-reduce of the exchanged elements (hence the factor 2)
/// moves less than a gather of the rows.
static bool isWorthComposing(const CallView &view, const ComposedDims &dims, MeshOp mesh) {
  int64_t gathered = 0;
  for (unsigned operand : dims.operands) {
    RankedTensorType type = view.operands[operand];
    if (llvm::any_of(dims.dims, [&](int64_t dim) { return isDividedOverRanks(type, dim, mesh); }))
      gathered += elementsAlong(type.getShape(), dims.dims) * elementBytes(type.getElementType());
  }
  return gathered > 2 * dims.exchanged;
}

/// Removes an operand that was read only for its sharding.
static void drop(CallOp call, StringRef operand) {
  CallRewrite rewrite = withoutOperand(CallView::of(call), call.getTarget(), operand);
  SmallVector<Value> rest =
      llvm::map_to_vector(rewrite.operands, [&](unsigned index) { return Value(call.getOperands()[index]); });
  call->setOperands(rest);
  call.setArgsAttr(rewrite.args);
}

bool Propagation::compose(CallOp call) {
  const CompositionRule *rule = compositionOf(call.getTarget());
  if (!rule)
    return false;
  CallView view = CallView::of(call);
  if (!rule->like.empty() && !view.getOperand(rule->like))
    return false;
  std::optional<ComposedDims> dims = rule->dims(view, mesh);
  // If `like` is partial, its gradient is replicated: there is no division to follow.
  bool isOfAddend = !rule->like.empty() && getSharding(view.operands[*view.getOperand(rule->like)]).isPartial();
  if (!dims || isOfAddend || !isWorthComposing(view, *dims, mesh)) {
    if (!rule->like.empty())
      drop(call, rule->like);
    return false;
  }
  // The rule inserts its calls before the call. The op before it marks where they begin.
  Operation *before = call->getPrevNode();
  Composition composition(call, mesh, known);
  rule->compose(composition);
  Operation *first = before ? before->getNextNode() : &call->getBlock()->front();
  if (call->hasAttr(attr::KeepsAddends::getNameStr()))
    for (Operation *op = first; op != call; op = op->getNextNode())
      setOpAttr<attr::KeepsAddends>(op, opAttr<attr::KeepsAddends>(call));
  // The walk removes the call after its replacement has been visited, and not here: the caller still refers to it.
  composed.insert(call);
  if (first != call)
    visitAll(first, call);
  return true;
}
