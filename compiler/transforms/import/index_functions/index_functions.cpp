//===- index_functions.cpp - tensors as functions of indices --------------===//

#include "compiler/transforms/import/index_functions/index_functions.h"
#include "compiler/transforms/import/index_functions/call_reader.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

static const CallFunctions &callFunctions() {
  static const CallFunctions functions = [] {
    CallFunctions all;
    addCreationFunctions(all);
    addPointwiseFunctions(all);
    addLookupFunctions(all);
    return all;
  }();
  return functions;
}

/// The call that computes the value, if it is understood through its operands; or null.
static plan::CallOp understoodCall(Value value) {
  auto call = value.getDefiningOp<plan::CallOp>();
  return call && call.getNumResults() == 1 && callFunctions().contains(call.getTarget()) ? call : plan::CallOp();
}

/// True if a value of this type can have the expression's type and bounds.
static bool fits(Expr expr, Type elementType) {
  ElementRange range = rangeOf(elementType);
  return expr->type == range.type &&
         (range.type != ExprType::Integer || (expr->low >= range.low && expr->high <= range.high));
}

/// Known facts about the elements of a tensor that is not understood: positions are within the dim that they index.
static ElementRange rangeOfElements(Value value) {
  ElementRange range = rangeOf(getElementTypeOrSelf(value.getType()));
  auto call = value.getDefiningOp<plan::CallOp>();
  if (!call || (call.getTarget() != "aten.argmax.default" && call.getTarget() != "aten.argmin.default"))
    return range;
  CallView view = CallView::of(call);
  RankedTensorType self = view.operands.front();
  std::optional<int64_t> dim = countedDim(view.getInt("dim", self.getRank()), self.getRank());
  range.low = 0;
  range.high = std::max<int64_t>(1, dim ? self.getDimSize(*dim) : self.getNumElements()) - 1;
  return range;
}

Expr IndexFunctions::leaf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return builder.element(leafCount++, coordinatesOf(builder, type.getShape()), rangeOfElements(value));
}

/// The common value of all elements of a constant, or null.
static Expr splatOf(ExprBuilder &builder, plan::ConstantOp constant) {
  auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!value || !value.isSplat())
    return nullptr;
  if (isa<FloatType>(value.getElementType()))
    return builder.number(value.getSplatValue<APFloat>().convertToDouble());
  if (value.getElementType().isInteger(1))
    return builder.boolean(value.getSplatValue<bool>());
  auto type = dyn_cast<IntegerType>(value.getElementType());
  if (!type || type.getWidth() > 64 || (type.isUnsigned() && type.getWidth() == 64))
    return nullptr;
  APInt integer = value.getSplatValue<APInt>();
  return builder.integer(type.isUnsigned() ? int64_t(integer.getZExtValue()) : integer.getSExtValue());
}

/// Integers that count in equal steps along each dim, such as 0, 1, 2, ...; or null.
static Expr countOf(ExprBuilder &builder, plan::ConstantOp constant) {
  auto value = dyn_cast<DenseIntElementsAttr>(constant.getValue());
  if (!value || value.getNumElements() == 0 || !value.getElementType().isSignlessInteger(64))
    return nullptr;
  SmallVector<int64_t> left(value.getValues<int64_t>());
  Expr count = builder.integer(left.front());
  int64_t stride = left.size();
  for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(constant.getType()).getShape())) {
    stride /= size;
    // The step of a dim is read from one pair of elements; then its multiples are subtracted from all. If the counting
    // was right, only the first number is left everywhere.
    int64_t step = 0;
    if (size > 1 && __builtin_sub_overflow(left[stride], left.front(), &step))
      return nullptr;
    for (auto [position, number] : llvm::enumerate(left))
      if (int64_t before = 0; __builtin_mul_overflow(static_cast<int64_t>(position) / stride % size, step, &before) ||
                              __builtin_sub_overflow(number, before, &number))
        return nullptr;
    count = builder.add(count, builder.multiply(builder.coordinate(dim, size), step));
  }
  return llvm::all_equal(left) ? count : nullptr;
}

Expr IndexFunctions::compute(Value value) {
  Expr expr = nullptr;
  if (plan::CallOp call = understoodCall(value)) {
    CallReader reader(*this, call);
    expr = callFunctions().lookup(call.getTarget())(reader);
  } else if (auto constant = value.getDefiningOp<plan::ConstantOp>()) {
    expr = splatOf(builder, constant);
    expr = expr ? expr : countOf(builder, constant);
  }
  // An expression that leaves the range of its type would differ from the tensor, which wraps around. As a leaf the
  // tensor is still known by its position in the program.
  return expr && fits(expr, getElementTypeOrSelf(value.getType())) ? expr : leaf(value);
}

Expr IndexFunctions::of(Value value) {
  // An explicit stack, because chains of calls may be deeper than the call stack allows.
  SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Value next = pending.back();
    size_t waiting = pending.size();
    if (plan::CallOp call = known.contains(next) ? plan::CallOp() : understoodCall(next))
      llvm::copy_if(call.getOperands(), std::back_inserter(pending), [&](Value item) { return !known.contains(item); });
    // Operands first; the value stays on the stack and is computed when it is on top again.
    if (pending.size() > waiting)
      continue;
    if (!known.contains(next)) {
      Expr expr = compute(next);
      known[next] = expr;
    }
    pending.pop_back();
  }
  return known.lookup(value);
}

Expr IndexFunctions::at(Value value, ArrayRef<Expr> indices) { return builder.substitute(of(value), indices); }

/// Orders arguments of the block before results of its operations.
static bool isBefore(Value left, Value right) {
  auto leftArgument = dyn_cast<BlockArgument>(left), rightArgument = dyn_cast<BlockArgument>(right);
  if (leftArgument && rightArgument)
    return leftArgument.getArgNumber() < rightArgument.getArgNumber();
  if (leftArgument || rightArgument)
    return static_cast<bool>(leftArgument);
  Operation *leftOp = left.getDefiningOp(), *rightOp = right.getDefiningOp();
  if (leftOp == rightOp)
    return cast<OpResult>(left).getResultNumber() < cast<OpResult>(right).getResultNumber();
  return leftOp->getBlock() == rightOp->getBlock() && leftOp->isBeforeInBlock(rightOp);
}

SmallVector<Value> IndexFunctions::sourcesOf(Value value) {
  llvm::SetVector<Value> found;
  found.insert(value);
  for (size_t next = 0; next < found.size(); ++next)
    if (plan::CallOp call = understoodCall(found[next]))
      found.insert(call.getOperands().begin(), call.getOperands().end());
  SmallVector<Value> sources = found.takeVector();
  llvm::sort(sources, isBefore);
  return sources;
}
