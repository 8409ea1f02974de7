//===- factor_rule.cpp - dims of an operator that are divided together ----===//

#include "compiler/sharding/factor_rule.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace meshplan {

using Fault = std::optional<std::string>;

/// Checks the factors of one tensor, and marks them in `seen`.
static Fault checkTensor(const FactorRule &rule, const TensorFactors &tensor, RankedTensorType type, StringRef name,
                         llvm::BitVector &seen) {
  if (static_cast<int64_t>(tensor.dims.size()) != type.getRank())
    return llvm::formatv("rule gives {0} dims to {1} of rank {2}", tensor.dims.size(), name, type.getRank());
  llvm::BitVector own(rule.factors.size());
  for (auto [dim, indices] : llvm::enumerate(tensor.dims)) {
    // The size of a dim is the product of its factors, or the sum of factors that a concatenation joins.
    bool joined = tensor.isJoined(dim);
    int64_t size = joined ? 0 : 1;
    for (unsigned index : indices) {
      if (index >= rule.factors.size())
        return llvm::formatv("rule names factor {0} of {1} in dim {2} of {3}", index, rule.factors.size(), dim, name);
      // One axis cannot divide two dims of a tensor, so a factor that occurs twice, as in a diagonal, could not be
      // divided.
      if (own.test(index))
        return llvm::formatv("rule has factor {0} twice in {1}", index, name);
      own.set(index);
      size = joined ? size + rule.factors[index].size : size * rule.factors[index].size;
    }
    if (size % tensor.sharers(dim) != 0 || (tensor.sharers(dim) > 1 && indices.size() != 1))
      return llvm::formatv("dim {0} of {1} is overlapped by {2} indices of more than one factor", dim, name,
                           tensor.sharers(dim));
    size /= tensor.sharers(dim);
    if (size != type.getDimSize(dim))
      return llvm::formatv("factors of dim {0} of {1} {2} to {3}, but its size is {4}", dim, name,
                           joined ? "sum" : "multiply", size, type.getDimSize(dim));
  }
  seen |= own;
  return std::nullopt;
}

/// Checks the tensors of one side, and marks their factors in `seen`.
static Fault checkSide(const FactorRule &rule, ArrayRef<TensorFactors> tensors, ArrayRef<RankedTensorType> types,
                       StringRef side, llvm::BitVector &seen) {
  if (tensors.size() != types.size())
    return llvm::formatv("rule has {0} {1}s, but the call has {2}", tensors.size(), side, types.size());
  for (auto [index, tensor, type] : llvm::enumerate(tensors, types))
    if (Fault fault = checkTensor(rule, tensor, type, llvm::formatv("{0} {1}", side, index).str(), seen))
      return fault;
  return std::nullopt;
}

static Fault checkFactor(unsigned index, const Factor &factor, bool inOperand, bool inResult) {
  // Propagation derives partial results from the kinds. A reduced factor in a result would make it divided and partial
  // over one axis; a parallel factor in no result would be summed without a collective.
  bool reduces = factor.kind == FactorKind::sum || factor.kind == FactorKind::max;
  if (reduces && inResult)
    return llvm::formatv("factor {0} is reduced, but is in a result", index);
  if (reduces && !inOperand)
    return llvm::formatv("factor {0} is reduced, but is in no operand", index);
  if (factor.kind == FactorKind::parallel && !inResult)
    return llvm::formatv("factor {0} is parallel, but is in no result", index);
  if (factor.unit < 1 || factor.size % factor.unit != 0)
    return llvm::formatv("factor {0} of size {1} is not a multiple of its block size {2}", index, factor.size,
                         factor.unit);
  return std::nullopt;
}

Fault FactorRule::findFault(ArrayRef<RankedTensorType> operandTypes, ArrayRef<RankedTensorType> resultTypes) const {
  llvm::BitVector inOperands(factors.size()), inResults(factors.size());
  if (Fault fault = checkSide(*this, operands, operandTypes, "operand", inOperands))
    return fault;
  if (Fault fault = checkSide(*this, results, resultTypes, "result", inResults))
    return fault;
  for (auto [index, factor] : llvm::enumerate(factors))
    if (Fault fault = checkFactor(index, factor, inOperands.test(index), inResults.test(index)))
      return fault;
  return std::nullopt;
}

SmallVector<unsigned> FactorRule::siblings(unsigned factor) const {
  for (ArrayRef<TensorFactors> side : {ArrayRef<TensorFactors>(operands), ArrayRef<TensorFactors>(results)})
    for (const TensorFactors &tensor : side)
      for (unsigned dim : tensor.joined)
        if (llvm::is_contained(tensor.dims[dim], factor))
          return SmallVector<unsigned>(tensor.dims[dim].begin(), tensor.dims[dim].end());
  return {factor};
}

LogicalResult FactorRule::verify(ArrayRef<RankedTensorType> operandTypes, ArrayRef<RankedTensorType> resultTypes,
                                 llvm::function_ref<InFlightDiagnostic()> emitError) const {
  if (Fault fault = findFault(operandTypes, resultTypes))
    return emitError() << *fault;
  return success();
}

} // namespace meshplan
