//===- attention_heads.cpp - dims that are the size of a head -------------===//
//
// Two searches forward through the readers of a value. HeadSizeSearch follows a whole dim along its leading factor: the
// dim of a product q [b, s, 576] becomes [b, s, 9, 64] and its leading factor the 9 heads, not the head size, so a dim
// of 576 is not within a head, while a dim of 64 (a single key head) is. PartSearch follows a range of a dim, such as
// the keys of a fused weight, until operators have separated it; its results then start the first search.
//
// Both visit each pair of value and dim once: time is linear in the calls that the value reaches.

#include "compiler/sharding/dataflow/attention_heads.h"
#include "compiler/sharding/op_record.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// The factors that are divided if the dim is: all of them for a joined dim, else the major one.
static ArrayRef<unsigned> dividedFactors(const TensorFactors &tensor, unsigned dim, const FactorRule &rule) {
  ArrayRef<unsigned> factors = tensor.dims[dim];
  if (tensor.isJoined(dim))
    return factors;
  // A division begins with the major factor. Those below it are divided only after it has become single indices.
  return factors.drop_front(rule.majorFactorIndex(factors)).take_front(1);
}

static bool holdsAny(ArrayRef<unsigned> dim, ArrayRef<unsigned> factors) {
  return llvm::any_of(dim, [&](unsigned factor) { return llvm::is_contained(factors, factor); });
}

namespace {
/// Follows a dim forward to every attention that it reaches.
class HeadSizeSearch {
public:
  void add(Value value, unsigned dim) {
    if (seen.insert({value, dim}).second)
      open.push_back({value, dim});
  }
  std::optional<HeadUse> search();

private:
  void follow(OpOperand &use, unsigned dim);
  void followCall(CallOp call, unsigned operand, unsigned dim);

  llvm::DenseSet<std::pair<Value, unsigned>> seen;
  SmallVector<std::pair<Value, unsigned>> open;
  std::optional<HeadUse> found;
  bool isOther = false; ///< some attention does not use the dim as its head size
};
} // namespace

std::optional<HeadUse> HeadSizeSearch::search() {
  for (size_t i = 0; i < open.size() && !isOther; ++i) {
    auto [next, at] = open[i];
    for (OpOperand &use : next.getUses())
      follow(use, at);
  }
  return isOther ? std::nullopt : found;
}

void HeadSizeSearch::follow(OpOperand &use, unsigned dim) {
  if (auto call = dyn_cast<CallOp>(use.getOwner()))
    followCall(call, use.getOperandNumber(), dim);
  else if (isa<ConstrainOp, ReshardOp>(use.getOwner()))
    add(use.getOwner()->getResult(0), dim);
}

void HeadSizeSearch::followCall(CallOp call, unsigned operand, unsigned dim) {
  CallView view = CallView::of(call);
  if (view.target == "meshplan.attention") {
    bool isQuery = view.getOperand("query") == operand;
    bool isHeadSize = dim + 1 == view.operands[operand].getRank() &&
                      (isQuery || view.getOperand("key") == operand || view.getOperand("value") == operand);
    // One attention that uses the dim in another way is enough to end the search: its heads would not be cut.
    isOther |= !isHeadSize;
    if (!found)
      found = HeadUse{call, isQuery, view.operands[operand].getDimSize(1)};
    return;
  }
  FactorRule rule = factorRuleOf(view, OpRegistry::get().lookup(view.target));
  ArrayRef<unsigned> factors = dividedFactors(rule.operands[operand], dim, rule);
  for (auto [result, tensor] : llvm::zip(call.getResults(), rule.results))
    for (auto [index, resultDim] : llvm::enumerate(tensor.dims))
      if (holdsAny(resultDim, factors))
        add(result, index);
}

std::optional<HeadUse> meshplan::findHeadSize(Value value, unsigned dim) {
  HeadSizeSearch search;
  search.add(value, dim);
  return search.search();
}

namespace {
/// A contiguous range of elements of a dim.
struct DimRange {
  Value value;
  unsigned dim;
  int64_t start, extent;
  /// Set where each index of the dim has become several elements: the dim of these elements.
  std::optional<unsigned> below = std::nullopt;

  bool isAll() const { return extent == cast<RankedTensorType>(value.getType()).getDimSize(dim); }
};

/// A contiguous range of elements of a factor, and the factor below it, which is complete for each element.
struct FactorRange {
  unsigned factor;
  int64_t start, extent;
  std::optional<unsigned> below;
};

/// Follows a range of elements of a dim to values in which operators have separated it from the other elements.
class PartSearch {
public:
  /// The dims that are exactly these elements; nothing if an operator reads the elements in another way.
  std::optional<SmallVector<DimRange>> search(DimRange range);

private:
  void add(DimRange range) {
    if (seen.insert({range.value, range.dim}).second)
      // A range that is all of its dim has been separated: it need not be followed further.
      (range.isAll() ? found : open).push_back(range);
  }
  bool follow(OpOperand &use, DimRange range);
  bool addResult(OpResult result, unsigned dim, const TensorFactors &tensor, const FactorRule &rule, FactorRange range);

  llvm::DenseSet<std::pair<Value, unsigned>> seen;
  SmallVector<DimRange> open, found;
};
} // namespace

/// The range of a dim as a range of one factor.
static std::optional<FactorRange> inFactor(const TensorFactors &tensor, const FactorRule &rule, DimRange range) {
  ArrayRef<unsigned> factors = tensor.dims[range.dim];
  std::optional<unsigned> under;
  if (range.below && tensor.dims[*range.below].size() == 1)
    under = tensor.dims[*range.below].front();
  if (tensor.isJoined(range.dim)) {
    int64_t first = 0;
    for (unsigned factor : factors) {
      int64_t size = rule.factors[factor].size;
      if (range.start >= first && range.start + range.extent <= first + size)
        return FactorRange{factor, range.start - first, range.extent, under};
      first += size;
    }
    return std::nullopt;
  }
  size_t major = rule.majorFactorIndex(factors);
  int64_t below = rule.sizeBelow(factors, major);
  if (major == factors.size() || range.start % below != 0 || range.extent % below != 0)
    return std::nullopt;
  // A single factor below the major one: each index of the range has all of its elements.
  if (factors.size() == major + 2)
    under = factors.back();
  return FactorRange{factors[major], range.start / below, range.extent / below, under};
}

bool PartSearch::addResult(OpResult result, unsigned dim, const TensorFactors &tensor, const FactorRule &rule,
                           FactorRange range) {
  ArrayRef<unsigned> factors = tensor.dims[dim];
  if (!holdsAny(factors, range.factor))
    return true;
  ArrayRef<unsigned> before = factors.take_while([&](unsigned factor) { return factor != range.factor; });
  DimRange made{result, dim, range.start, range.extent};
  for (unsigned other = 0; range.below && other < tensor.dims.size(); ++other)
    if (other != dim && ArrayRef(tensor.dims[other]) == ArrayRef(*range.below))
      made.below = other;
  if (tensor.isJoined(dim)) {
    for (unsigned factor : before)
      made.start += rule.factors[factor].size;
  } else if (rule.majorFactorIndex(before) != before.size()) {
    // A more major factor would interleave the range with other elements.
    return false;
  } else {
    int64_t below = rule.sizeBelow(factors, before.size());
    made.start *= below;
    made.extent *= below;
  }
  add(made);
  return true;
}

bool PartSearch::follow(OpOperand &use, DimRange range) {
  if (isa<ConstrainOp, ReshardOp>(use.getOwner())) {
    range.value = use.getOwner()->getResult(0);
    add(range);
    return true;
  }
  auto call = dyn_cast<CallOp>(use.getOwner());
  if (!call)
    return false;
  CallView view = CallView::of(call);
  FactorRule rule = factorRuleOf(view, OpRegistry::get().lookup(view.target));
  std::optional<FactorRange> elements = inFactor(rule.operands[use.getOperandNumber()], rule, range);
  if (!elements)
    return false;
  for (auto [result, tensor] : llvm::zip(call->getResults(), rule.results))
    for (unsigned dim = 0; dim < tensor.dims.size(); ++dim)
      if (!addResult(result, dim, tensor, rule, *elements))
        return false;
  return true;
}

std::optional<SmallVector<DimRange>> PartSearch::search(DimRange range) {
  add(range);
  while (!open.empty()) {
    DimRange next = open.pop_back_val();
    for (OpOperand &use : next.value.getUses())
      if (!follow(use, next))
        return std::nullopt;
  }
  return std::move(found);
}

bool meshplan::isOnlyKeyHead(Value value, unsigned dim, int64_t start, int64_t extent) {
  std::optional<SmallVector<DimRange>> parts = PartSearch().search({value, dim, start, extent});
  if (!parts)
    return false;
  HeadSizeSearch search;
  // A single index stands for all elements below it.
  for (const DimRange &part : *parts)
    search.add(part.value, part.extent == 1 && part.below ? *part.below : part.dim);
  std::optional<HeadUse> use = search.search();
  return use && !use->isQuery && use->heads == 1;
}

/// The operand of a call, and its dim, with a factor of a dim of the result. Weights take precedence.
static std::optional<std::pair<Value, unsigned>> sourceOf(CallOp call, const TensorFactors &tensor, unsigned dim,
                                                          const FactorRule &rule) {
  std::optional<std::pair<Value, unsigned>> source;
  for (auto [operand, factors] : llvm::zip(call.getOperands(), rule.operands))
    for (auto [index, operandDim] : llvm::enumerate(factors.dims))
      // A weight that has the factor computes the elements, as the features of a product. An activation has it too
      // where elements are only multiplied or moved.
      if (holdsAny(operandDim, tensor.dims[dim]) && (!source || isFromWeights(operand)))
        source = {operand, static_cast<unsigned>(index)};
  return source;
}

StringRef meshplan::projectionThatComputes(Value value, unsigned dim) {
  while (Operation *producer = value.getDefiningOp()) {
    if (isa<ConstrainOp, ReshardOp>(producer)) {
      value = producer->getOperand(0);
      continue;
    }
    auto call = dyn_cast<CallOp>(producer);
    if (!call)
      return "";
    CallView view = CallView::of(call);
    FactorRule rule = factorRuleOf(view, OpRegistry::get().lookup(view.target));
    auto source = sourceOf(call, rule.results[cast<OpResult>(value).getResultNumber()], dim, rule);
    if (!source)
      return "";
    if (isFromWeights(source->first))
      return call.getModule().value_or("");
    std::tie(value, dim) = *source;
  }
  return "";
}

std::string meshplan::projectionsOf(HeadUse use) {
  CallView view = CallView::of(use.attention);
  llvm::SmallSetVector<StringRef, 3> modules;
  for (StringRef name : {"query", "key", "value"}) {
    std::optional<unsigned> operand = view.getOperand(name);
    if (!operand || (name == "query" && !use.isQuery))
      continue;
    StringRef module =
        projectionThatComputes(use.attention.getOperand(*operand), view.operands[*operand].getRank() - 1);
    if (!module.empty())
      modules.insert(module);
  }
  std::string text;
  for (auto [index, module] : llvm::enumerate(modules))
    text += (index == 0 ? "'" : index + 1 == modules.size() ? " and '" : ", '") + module.str() + "'";
  return text;
}
