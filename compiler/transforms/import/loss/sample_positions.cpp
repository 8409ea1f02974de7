//===- sample_positions.cpp - positions of samples in a tensor ------------===//
//
// The sample of element i of a tensor is i / stride % samples: one number describes where samples are, also where they
// are part of a dim.
//
//   ids [4, 6], batch of 4     stride 6
//   view [24]                  stride 6: each sample is 6 elements in a row
//   transposed [6, 4]          stride 1: samples alternate
//
// A stride follows a factor of the size of the batch through each operator. An operator that sums over this factor, or
// that needs it whole, may mix samples and ends the search.

#include "compiler/transforms/import/loss/sample_positions.h"
#include "compiler/sharding/op_record.h"
#include "compiler/transforms/import/index_functions/index_functions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace meshplan;

/// Number of elements for each index of a dim.
static int64_t sizeBelow(ArrayRef<int64_t> shape, size_t dim) {
  int64_t below = 1;
  for (int64_t extent : shape.drop_front(dim + 1))
    below *= extent;
  return below;
}

/// Calls `visit` for each factor of a tensor with the number of elements for each of its indices. Dims whose factors
/// are not digits are left out.
static void visitFactors(const FactorRule &rule, const TensorFactors &tensor, ArrayRef<int64_t> shape,
                         function_ref<void(unsigned factor, int64_t below)> visit) {
  for (auto [dim, factors] : llvm::enumerate(tensor.dims)) {
    if (tensor.isJoined(dim) || tensor.sharers(dim) != 1)
      continue;
    for (auto [index, factor] : llvm::enumerate(factors))
      visit(factor, sizeBelow(shape, dim) * rule.sizeBelow(factors, index));
  }
}

std::optional<int64_t> meshplan::countSamples(Block &block) {
  for (BlockArgument argument : block.getArguments())
    if (std::optional<unsigned> dim = plan::batchDimOf(argument))
      return typeOf(argument).getDimSize(*dim);
  return std::nullopt;
}

namespace {

/// Follows samples in program order.
class SampleFinder {
public:
  explicit SampleFinder(int64_t samples) : samples(samples) {}

  SamplePositions find(Value value);

private:
  /// Collects all values from which `value` is computed.
  void collect(Value value);

  /// False if the results mix samples, or may do so.
  bool follow(plan::CallOp call);
  /// The stride of the samples in all results of an operator that computes each element from the one at the same
  /// position, even if the samples are a part of a dim; nullopt for other operators.
  std::optional<int64_t> keptStride(plan::CallOp call, const FactorRule &rule) const;
  std::optional<unsigned> factorOf(const FactorRule &rule, unsigned operand, Value value) const;
  std::optional<int64_t> strideOf(const FactorRule &rule, unsigned factor, OpResult result) const;

  int64_t samples;
  llvm::SetVector<Value> sources;
  llvm::DenseMap<Value, int64_t> strides; ///< of values that have samples
};

} // namespace

void SampleFinder::collect(Value value) {
  sources.insert(value);
  for (size_t next = 0; next < sources.size(); ++next)
    if (Operation *op = sources[next].getDefiningOp())
      sources.insert_range(op->getOperands());
}

SamplePositions SampleFinder::find(Value value) {
  collect(value);
  for (Value source : sources)
    if (auto argument = dyn_cast<BlockArgument>(source))
      if (std::optional<unsigned> dim = plan::batchDimOf(argument))
        strides[argument] = sizeBelow(typeOf(argument).getShape(), *dim);
  for (auto call : value.getParentBlock()->getOps<plan::CallOp>())
    if (llvm::any_of(call.getResults(), [&](Value result) { return sources.contains(result); }) && !follow(call))
      return {std::nullopt, call};
  auto found = strides.find(value);
  return {found == strides.end() ? std::nullopt : std::optional(found->second), {}};
}

bool SampleFinder::follow(plan::CallOp call) {
  auto hasSamples = [&](Value operand) { return strides.contains(operand); };
  if (llvm::none_of(call.getOperands(), hasSamples))
    return true;
  if (keepsOrder(call)) {
    // Other operands are used only for their shape.
    if (hasSamples(call.getOperand(0)))
      strides[call.getResult(0)] = strides[call.getOperand(0)];
    return true;
  }
  FactorRule rule = factorRuleOf(CallView::of(call), OpRegistry::get().lookup(call.getTarget()));
  if (std::optional<int64_t> stride = keptStride(call, rule)) {
    for (Value result : call.getResults())
      strides[result] = *stride;
    return true;
  }
  std::optional<unsigned> factor;
  for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
    if (!hasSamples(operand))
      continue;
    std::optional<unsigned> own = factorOf(rule, index, operand);
    // Two operands whose samples are different factors are combined in all pairs, as in a product of a batch with
    // itself.
    if (!own || factor.value_or(*own) != *own)
      return false;
    factor = own;
  }
  for (OpResult result : call.getResults()) {
    std::optional<int64_t> stride = strideOf(rule, *factor, result);
    if (!stride)
      return false;
    strides[result] = *stride;
  }
  return true;
}

/// True if each element of the result depends only on the element at the same position.
static bool keepsPositions(const FactorRule &rule, const TensorFactors &operand, const TensorFactors &result) {
  bool isApart = llvm::all_of(rule.factors, [](const Factor &factor) {
    return factor.size == 1 || (factor.kind == FactorKind::parallel && factor.unit == 1 && !factor.isCounted);
  });
  return isApart && operand.dims == result.dims && operand.joined.empty() && result.joined.empty() &&
         operand.shared.empty() && result.shared.empty();
}

std::optional<int64_t> SampleFinder::keptStride(plan::CallOp call, const FactorRule &rule) const {
  std::optional<int64_t> stride;
  for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
    auto found = strides.find(operand);
    if (found == strides.end())
      continue;
    bool isKept = llvm::all_of(
        rule.results, [&](const TensorFactors &result) { return keepsPositions(rule, rule.operands[index], result); });
    if (!isKept || stride.value_or(found->second) != found->second)
      return std::nullopt;
    stride = found->second;
  }
  return stride;
}

std::optional<unsigned> SampleFinder::factorOf(const FactorRule &rule, unsigned operand, Value value) const {
  std::optional<unsigned> found;
  visitFactors(rule, rule.operands[operand], typeOf(value).getShape(), [&](unsigned factor, int64_t below) {
    const Factor &own = rule.factors[factor];
    if (below == strides.lookup(value) && own.size == samples && own.kind == FactorKind::parallel && own.unit == 1)
      found = factor;
  });
  return found;
}

std::optional<int64_t> SampleFinder::strideOf(const FactorRule &rule, unsigned factor, OpResult result) const {
  std::optional<int64_t> found;
  visitFactors(rule, rule.results[result.getResultNumber()], typeOf(result).getShape(),
               [&](unsigned own, int64_t below) {
                 if (own == factor)
                   found = below;
               });
  return found;
}

SamplePositions meshplan::findSamples(Value value, int64_t samples) {
  // A single sample has all elements.
  return samples == 1 ? SamplePositions{1, {}} : SampleFinder(samples).find(value);
}
