//===- joining.cpp - derivatives of concatenation and splitting -----------===//

#include "compiler/derivatives/derivative_rules.h"
#include "compiler/sharding/record_support/rule_builder.h"

using namespace mlir;
using namespace meshplan;

static int64_t dimOf(const Derivation &derivation, int64_t rank) {
  return normalizeDim(derivation.getView().getInt("dim", 0), rank);
}

/// Each operand gets its piece of the gradient. An operand that is concatenated twice gets both.
static void catRule(Derivation &derivation) {
  Value gradient = derivation.gradient();
  int64_t dim = dimOf(derivation, rankOf(gradient));
  SmallVector<int64_t> sizes;
  SmallVector<Type> types;
  SmallVector<unsigned> operands;
  for (std::optional<unsigned> operand : derivation.getView().getOperands("tensors")) {
    if (!operand)
      return differentiateAtRunTime(derivation);
    Value tensor = derivation.getCall().getOperand(*operand);
    // PyTorch ignores an empty vector in a concatenation.
    if (rankOf(tensor) != rankOf(gradient))
      continue;
    operands.push_back(*operand);
    sizes.push_back(shapeOf(tensor)[dim]);
    types.push_back(RankedTensorType::get(shapeOf(tensor), elementOf(gradient)));
  }
  // One call for all operands; pieces of those that need no gradient are views without readers.
  plan::CallOp pieces = derivation.make("aten.split_with_sizes.default")
                            .tensor("self", gradient)
                            .integers("split_sizes", sizes)
                            .integer("dim", dim)
                            .build(types);
  for (auto [operand, piece] : llvm::zip(operands, pieces.getResults()))
    if (derivation.wants(operand))
      derivation.give(operand, piece);
}

static void stackRule(Derivation &derivation) {
  Value gradient = derivation.gradient();
  SmallVector<std::optional<unsigned>> operands = derivation.getView().getOperands("tensors");
  if (llvm::is_contained(operands, std::nullopt))
    return differentiateAtRunTime(derivation);
  SmallVector<Type> types(operands.size(), RankedTensorType::get(shapeOf(derivation.getCall().getOperand(*operands[0])),
                                                                 elementOf(gradient)));
  plan::CallOp pieces = derivation.make("aten.unbind.int")
                            .tensor("self", gradient)
                            .integer("dim", dimOf(derivation, rankOf(gradient)))
                            .build(types);
  for (auto [operand, piece] : llvm::zip(operands, pieces.getResults()))
    if (derivation.wants(*operand))
      derivation.give(*operand, piece);
}

/// Concatenates the gradients of all pieces, in order.
static void joinGradients(Derivation &derivation, StringRef target) {
  Value self = derivation.operand("self");
  SmallVector<Value> pieces;
  for (unsigned index = 0; index < derivation.getCall().getNumResults(); ++index)
    // The loss may depend on some pieces only; the others still have positions in the operand.
    pieces.push_back(derivation.gradientOrZeros(index));
  derivation.give("self", derivation.make(target)
                              .tensors("tensors", pieces)
                              .integer("dim", dimOf(derivation, rankOf(self)))
                              .build(shapeOf(self), elementOf(pieces.front())));
}

static void splitRule(Derivation &derivation) { joinGradients(derivation, "aten.cat.default"); }
static void unbindRule(Derivation &derivation) { joinGradients(derivation, "aten.stack.default"); }

void meshplan::addJoiningDerivatives(DerivativeTable &table) {
  table["aten.cat.default"] = catRule;
  table["aten.stack.default"] = stackRule;
  for (StringRef target :
       {"split.Tensor", "split_with_sizes.default", "chunk.default", "tensor_split.sections", "tensor_split.indices"})
    table[("aten." + target).str()] = splitRule;
  table["aten.unbind.int"] = unbindRule;
}
