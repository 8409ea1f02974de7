//===- movement_chain.cpp - chains of views and permutations --------------===//

#include "compiler/transforms/import/movement_chain.h"
#include "compiler/transforms/import/index_functions/index_functions.h"
#include "dialect/plan/call_builder.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

/// For each dim of the result, its dim of operand 0; nullopt for calls that do not permute.
static std::optional<SmallVector<int64_t>> permutationOf(plan::CallOp call) {
  // Asks the index functions instead of reading the arguments of transpose, permute and t again: they are the one
  // source of what an operator moves.
  ExprBuilder builder;
  Indices coordinates = coordinatesOf(builder, typeOf(call.getResult(0)).getShape());
  if (llvm::is_contained(coordinates, nullptr))
    return std::nullopt;
  std::optional<MovedRead> read = readThroughMovement(builder, call.getResult(0), coordinates);
  if (!read || read->indices.size() != coordinates.size() ||
      typeOf(read->operand).getElementType() != typeOf(call.getResult(0)).getElementType())
    return std::nullopt;
  SmallVector<int64_t> order;
  for (auto [dim, coordinate] : llvm::enumerate(coordinates)) {
    // Dims of size 1 are all read at 0, so they may correspond in any order.
    auto *from = llvm::find_if(read->indices, [&, coordinate = coordinate](const Expr &index) {
      auto dim = &index - read->indices.begin();
      return index == coordinate && !llvm::is_contained(order, dim) &&
             typeOf(read->operand).getDimSize(dim) == typeOf(call.getResult(0)).getDimSize(order.size());
    });
    if (from == read->indices.end())
      return std::nullopt;
    order.push_back(from - read->indices.begin());
  }
  return order;
}

/// Adds one more operator to the chain; false if it is not a view or permutation, or does not fit.
static bool follow(DimDigits &digits, plan::CallOp call) {
  if (keepsOrder(call))
    return digits.view(typeOf(call.getResult(0)).getShape());
  std::optional<SmallVector<int64_t>> order = permutationOf(call);
  if (order)
    digits.permute(*order);
  return order.has_value();
}

MovementChain meshplan::movementChainOf(Value value) {
  SmallVector<plan::CallOp> calls; // the last call first
  Value root = value;
  while (auto call = root.getDefiningOp<plan::CallOp>()) {
    if (call.getNumResults() != 1 || typeOf(root).getNumElements() == 0 || (!keepsOrder(call) && !permutationOf(call)))
      break;
    calls.push_back(call);
    root = call.getOperand(0);
  }
  MovementChain chain{root, DimDigits(typeOf(root).getShape())};
  for (plan::CallOp call : llvm::reverse(calls))
    // The chain starts after the last call that cannot be followed.
    if (!follow(chain.digits, call))
      chain = {call.getResult(0), DimDigits(typeOf(call.getResult(0)).getShape())};
  return chain;
}

Value meshplan::reshaped(Value value, ArrayRef<int64_t> shape, plan::CallOp anchor) {
  if (typeOf(value).getShape() == shape)
    return value;
  return CallBuilder("aten.reshape.default", anchor)
      .tensor("self", value)
      .integers("shape", shape)
      .build(shape, typeOf(value).getElementType());
}

Value meshplan::moveAtOnce(const MovementChain &chain, ArrayRef<int64_t> shape, plan::CallOp anchor) {
  SmallVector<int64_t> order = chain.digits.order(), split = chain.digits.splitShape();
  // No dim moves, so one reshape is enough.
  if (llvm::is_sorted(order))
    return reshaped(chain.root, shape, anchor);
  Value value = reshaped(chain.root, split, anchor);
  SmallVector<int64_t> permuted = llvm::map_to_vector(order, [&](int64_t dim) { return split[dim]; });
  value = CallBuilder("aten.permute.default", anchor)
              .tensor("self", value)
              .integers("dims", order)
              .build(permuted, typeOf(value).getElementType());
  return reshaped(value, shape, anchor);
}
