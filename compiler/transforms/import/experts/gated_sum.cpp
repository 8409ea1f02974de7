//===- gated_sum.cpp - results of experts times their gates ---------------===//

#include "compiler/transforms/import/experts/gated_sum.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/index_functions/call_reader.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

namespace {

class GatedSumReader {
public:
  explicit GatedSumReader(SparseGatesReader &gates) : gates(gates) {}

  std::optional<GatedSum> run(plan::CallOp sum);
  std::optional<GatedSum> readChain(plan::CallOp sum);

private:
  bool readAddends(Value value, bool isRoot);
  bool readStacked(plan::CallOp sum);
  bool readGated(Value value);
  bool readChoice();

  SparseGatesReader &gates;
  GatedSum read;
};

} // namespace

/// A result of an expert times a gate.
bool GatedSumReader::readGated(Value value) {
  auto call = value.getDefiningOp<plan::CallOp>();
  SmallVector<plan::CallOp, 2> after;
  while (call && keepsZeros(call) && value.hasOneUse()) {
    after.insert(after.begin(), call);
    value = call.getOperand(0);
    call = value.getDefiningOp<plan::CallOp>();
  }
  if (!call || call.getTarget() != "aten.mul.Tensor" || call.getNumOperands() != 2 || !value.hasOneUse())
    return false;
  for (unsigned side : {0, 1}) {
    Value result = call.getOperand(side), gate = call.getOperand(1 - side);
    if (rankOf(result) < 2 || rankOf(gate) != rankOf(result) || shapeOf(gate).back() != 1 ||
        shapeOf(gate).drop_back() != shapeOf(result).drop_back() || shapeOf(result) != shapeOf(value))
      continue;
    std::optional<ExpertGate> own = readExpertGate(gates, gate);
    if (!own)
      continue;
    read.results.push_back({call, after, result, gate, *own});
    read.calls.push_back(call);
    read.calls.append(after.begin(), after.end());
    return true;
  }
  return false;
}

/// True if the addend has the shape of the sum, and floats of fewer bits.
static bool isNarrowerIn(Value addend, Value sum) {
  auto narrow = dyn_cast<FloatType>(elementOf(addend)), wide = dyn_cast<FloatType>(elementOf(sum));
  return narrow && wide && narrow.getWidth() < wide.getWidth() && shapeOf(addend) == shapeOf(sum);
}

/// The addends of a chain of sums. At most one of them is not from an expert.
bool GatedSumReader::readAddends(Value value, bool isRoot) {
  if (readGated(value))
    return true;
  auto call = value.getDefiningOp<plan::CallOp>();
  if (!call || call.getTarget() != "aten.add.Tensor" || (!isRoot && !value.hasOneUse()) ||
      CallView::of(call).getFloat("alpha", 1) != 1) {
    if (isZero(gates.functions, value))
      return true;
    bool isOnly = !read.base;
    read.base = value;
    return isOnly;
  }
  read.calls.push_back(call);
  CallView view = CallView::of(call);
  if (call.getNumOperands() == 1)
    return view.getFloat("other", 1) == 0 && call.getOperand(0).getType() == value.getType() &&
           readAddends(call.getOperand(0), false);
  return llvm::all_of(call.getOperands(), [&](Value addend) {
    // Results of 16 bits may be summed in 32. A sum of 16 bits among these is another one: it is rounded by itself.
    return addend.getType() == value.getType() ? readAddends(addend, false)
                                               : isNarrowerIn(addend, value) && readGated(addend);
  });
}

/// True if one call reads the value, but for calls that are not read themselves.
static bool isReadOnce(Value value) {
  return llvm::count_if(value.getUses(), [](OpOperand &use) { return !isOpTriviallyDead(use.getOwner()); }) == 1;
}

/// Results of experts [*tokens, features] that are stacked, first or before the features, times the gates of all
/// experts.
bool GatedSumReader::readStacked(plan::CallOp sum) {
  CallView view = CallView::of(sum);
  Value self = tensorArgument(sum, view, "self");
  plan::CallOp product = callOf(self, "aten.mul.Tensor");
  if (view.getBool("keepdim", false) || !product || !isReadOnce(self) || product.getNumOperands() != 2 ||
      elementOf(sum.getResult(0)) != elementOf(self))
    return false;
  for (unsigned side : {0, 1}) {
    Value stacked = product.getOperand(side), factor = product.getOperand(1 - side);
    plan::CallOp stack = callOf(stacked, "aten.stack.default");
    // Parts may have the dim already, with size 1.
    stack = stack ? stack : callOf(stacked, "aten.cat.default");
    int64_t rank = rankOf(stacked);
    std::optional<int64_t> dim = stack ? countedDim(CallView::of(stack).getInt("dim", 0), rank) : std::nullopt;
    if (!dim || (*dim != 0 && *dim != rank - 2) || rank < 3 || !isReadOnce(stacked) ||
        shapeOf(stacked) != shapeOf(self) || !isAlong(sum, *dim) || rankOf(factor) != rank ||
        shapeOf(factor).back() != 1 || shapeOf(factor).drop_back() != shapeOf(stacked).drop_back() ||
        stack.getNumOperands() != CallView::of(stack).getOperands("tensors").size() ||
        static_cast<int64_t>(stack.getNumOperands()) != shapeOf(stacked)[*dim])
      continue;
    SmallVector<int64_t> others(shapeOf(stacked).drop_back());
    ExpertAndToken at{{}, {}, others[*dim]};
    others.erase(others.begin() + *dim);
    at.tokens = llvm::product_of(others);
    at.expert = gates.functions.builder.coordinate(0, at.experts);
    at.token = gates.functions.builder.coordinate(1, at.tokens);
    Indices indices = digitsOf(gates.functions.builder, at.token, at.tokens, others);
    indices.insert(indices.begin() + *dim, at.expert);
    std::optional<ExpertGate> all = readMovedGates(gates, factor, indices, at);
    if (!all)
      continue;
    for (auto [expert, result] : llvm::enumerate(stack.getOperands())) {
      all->expert = expert;
      read.results.push_back({product, {}, result, factor, *all});
    }
    read.calls.append({product, stack});
    read.stacked = stacked;
    return true;
  }
  return false;
}

/// True if the calls have the same operators and arguments.
static bool areAlike(ArrayRef<plan::CallOp> left, ArrayRef<plan::CallOp> right) {
  return llvm::equal(left, right, [](plan::CallOp one, plan::CallOp other) {
    return one.getTarget() == other.getTarget() && one.getArgs() == other.getArgs() &&
           one.getResultTypes() == other.getResultTypes();
  });
}

/// True if both have the same elements, perhaps by views of their own.
static bool areSame(Value left, Value right) {
  return left == right || (left.getType() == right.getType() && beforeViews(left) == beforeViews(right));
}

/// True if there is one gate for each expert of one choice.
bool GatedSumReader::readChoice() {
  SmallVectorImpl<GatedResult> &results = read.results;
  if (results.size() < 2)
    return false;
  const GatedResult first = results.front();
  for (const GatedResult &other : results)
    if (!areSame(other.read.indices, first.read.indices) || !areSame(other.read.values, first.read.values) ||
        other.result.getType() != first.result.getType() || !areAlike(other.after, first.after))
      return false;
  llvm::sort(results,
             [](const GatedResult &left, const GatedResult &right) { return left.read.expert < right.read.expert; });
  for (auto [expert, other] : llvm::enumerate(results))
    if (other.read.expert != static_cast<int64_t>(expert))
      return false;
  std::optional<ChosenExperts> chosen = findChosenExperts(gates.functions, first.read.indices);
  if (!chosen || chosen->experts != static_cast<int64_t>(results.size()) || rankOf(first.result) < 2 ||
      llvm::product_of(shapeOf(first.result).drop_back()) != chosen->tokens)
    return false;
  read.chosen = *chosen;
  return true;
}

std::optional<GatedSum> GatedSumReader::run(plan::CallOp sum) {
  bool isSum = sum.getTarget() == "aten.add.Tensor" ? readAddends(sum.getResult(0), /*isRoot=*/true) : readStacked(sum);
  return isSum && readChoice() ? std::optional(std::move(read)) : std::nullopt;
}

std::optional<GatedSum> GatedSumReader::readChain(plan::CallOp sum) {
  return readAddends(sum.getResult(0), /*isRoot=*/true) ? std::optional(std::move(read)) : std::nullopt;
}

std::optional<GatedSum> meshplan::readGatedAddends(SparseGatesReader &gates, plan::CallOp sum) {
  return GatedSumReader(gates).readChain(sum);
}

std::optional<GatedSum> meshplan::readGatedSum(SparseGatesReader &gates, plan::CallOp sum) {
  return GatedSumReader(gates).run(sum);
}
