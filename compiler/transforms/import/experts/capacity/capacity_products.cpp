//===- capacity_products.cpp - products with one-hot positions ------------===//
//
// Experts that take a number of tokens each give their tokens positions, by a running sum over the tokens:
//
//   mask      [tokens, experts]             one_hot of the expert of each token
//   position  [tokens]                      cumsum of the mask over the tokens, less one, where the mask is
//   dispatch  [tokens, experts, positions]  mask times one_hot of the position
//   rows      [experts, positions, ..]      product of dispatch and the tokens

#include "compiler/transforms/import/experts/capacity/capacity_products.h"
#include "compiler/sharding/op_record.h"

using namespace mlir;
using namespace meshplan;

/// True for operators that masks and positions are computed with.
static bool computesMasks(StringRef target) {
  return llvm::is_contained(
      {"aten.to.dtype",        "aten._to_copy.default",  "aten.mul.Tensor",     "aten.add.Tensor",
       "aten.sub.Tensor",      "aten.sub.Scalar",        "aten.add.Scalar",     "aten.lt.Scalar",
       "aten.le.Scalar",       "aten.gt.Scalar",         "aten.ge.Scalar",      "aten.lt.Tensor",
       "aten.einsum.default",  "aten.unsqueeze.default", "aten.view.default",   "aten.reshape.default",
       "aten.permute.default", "aten.transpose.int",     "aten.expand.default", "aten.select.int",
       "aten.stack.default",   "aten.sum.dim_IntList",   "aten.where.self",     "aten.clamp.default"},
      target);
}

/// The calls of these operators from which a value is computed, through operators of masks alone.
static SmallVector<plan::CallOp> sourcesOf(Value value, ArrayRef<StringRef> targets) {
  constexpr size_t most = 256;
  SmallVector<Value> values{value};
  llvm::DenseSet<Value> seen{value};
  SmallVector<plan::CallOp> found;
  for (size_t next = 0; next < values.size() && values.size() < most; ++next) {
    auto call = values[next].getDefiningOp<plan::CallOp>();
    if (!call)
      continue;
    if (llvm::is_contained(targets, call.getTarget()))
      found.push_back(call);
    else if (computesMasks(call.getTarget()) && !takesCapacity(call))
      for (Value operand : call.getOperands())
        if (seen.insert(operand).second)
          values.push_back(operand);
  }
  return found;
}

/// True for one-hot vectors of positions, which running sums of one-hot vectors count.
static bool hasPositions(Value value) {
  return llvm::any_of(sourcesOf(value, {"aten.one_hot.default"}), [](plan::CallOp hot) {
    return llvm::any_of(sourcesOf(hot.getOperand(0), {"aten.cumsum.default"}), [](plan::CallOp sum) {
      return !sourcesOf(sum.getOperand(0), {"aten.one_hot.default"}).empty();
    });
  });
}

bool meshplan::takesCapacity(plan::CallOp call) {
  bool isProduct =
      llvm::is_contained({"aten.einsum.default", "aten.bmm.default", "aten.matmul.default"}, call.getTarget());
  if (!isProduct || call.getNumOperands() != 2 || rankOf(call.getResult(0)) < 2)
    return false;
  for (unsigned side : {0, 1}) {
    Value spread = call.getOperand(side), rows = call.getOperand(1 - side);
    // A product with one-hot vectors of the experts makes what is spread.
    if (rankOf(spread) >= 3 && hasPositions(spread) && sourcesOf(rows, {"aten.one_hot.default"}).empty())
      return true;
  }
  return false;
}
