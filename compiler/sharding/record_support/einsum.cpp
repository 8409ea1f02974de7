//===- einsum.cpp - record of einsum --------------------------------------===//
//
// A letter is a factor: "bqd,bkd->bqk" has the parallel factors b, q and k and the summed factor d, and needs no other
// rule. What takes most of the file is memory: ATen multiplies two factors at a time, so that the order of the products
// decides which intermediate tensors exist together, and the peak of a program depends on it. Equations that repeat a
// letter in an operand (a diagonal) or use an ellipsis get no factors.

#include "compiler/sharding/record_support/einsum.h"
#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/einsum_product.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "llvm/ADT/StringExtras.h"
#include <string>

using namespace mlir;

namespace meshplan {

static bool hasDistinctLetters(StringRef letters) {
  for (size_t position = 0; position < letters.size(); ++position)
    if (!llvm::isAlpha(letters[position]) || letters.find(letters[position], position + 1) != StringRef::npos)
      return false;
  return true;
}

/// Without an arrow, the result has the letters that occur once, in alphabetical order.
static std::string impliedOutput(StringRef operands) {
  std::string output;
  for (char letter : operands)
    if (llvm::isAlpha(letter) && operands.count(letter) == 1)
      output += letter;
  llvm::sort(output);
  return output;
}

std::optional<EinsumEquation> EinsumEquation::of(const CallView &call) {
  auto attribute = dyn_cast_or_null<StringAttr>(call.get("equation"));
  SmallVector<std::optional<unsigned>> tensors = call.getOperands("tensors");
  if (!attribute || call.results.size() != 1)
    return std::nullopt;
  std::string text = attribute.getValue().str();
  llvm::erase(text, ' ');
  auto [left, right] = StringRef(text).split("->");
  EinsumEquation equation;
  equation.output = left.size() == text.size() ? impliedOutput(left) : right.str();
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != tensors.size() || !hasDistinctLetters(equation.output))
    return std::nullopt;
  // A tensor may occur twice in the list; equation operands are in the order of the list.
  for (auto [part, tensor] : llvm::zip_equal(parts, tensors)) {
    if (!tensor || !hasDistinctLetters(part) || static_cast<int64_t>(part.size()) != call.operands[*tensor].getRank())
      return std::nullopt;
    equation.operands.push_back(part.str());
  }
  bool fits = static_cast<int64_t>(equation.output.size()) == call.results.front().getRank() &&
              llvm::all_of(equation.output, [&](char letter) { return left.contains(letter); });
  return fits ? std::optional(equation) : std::nullopt;
}

/// True if the list contains every operand once, in order.
static bool listsEachOnce(const CallView &call) {
  SmallVector<std::optional<unsigned>> tensors = call.getOperands("tensors");
  for (auto [position, tensor] : llvm::enumerate(tensors))
    if (tensor != position)
      return false;
  return tensors.size() == call.operands.size();
}

FactorRule einsumRule(const CallView &call) {
  RuleBuilder builder(call);
  std::optional<EinsumEquation> equation = EinsumEquation::of(call);
  // A tensor that occurs twice, as in "ij,kj->ik" of x and x, would need its first dim to be both i and k.
  if (!equation || !listsEachOnce(call))
    return builder.finish();
  std::string done;
  for (const std::string &letters : equation->operands)
    for (char letter : letters) {
      if (StringRef(done).contains(letter))
        continue;
      done += letter;
      SmallVector<DimRef> dims;
      for (auto [index, others] : llvm::enumerate(equation->operands))
        if (size_t dim = others.find(letter); dim != std::string::npos)
          dims.push_back(builder.operand(index)[dim]);
      size_t position = equation->output.find(letter);
      if (position != std::string::npos)
        dims.push_back(builder.result()[position]);
      builder.tie(dims, position == std::string::npos ? FactorKind::sum : FactorKind::parallel);
    }
  return builder.finish();
}

Linearity einsumLinearity(const CallView &call) {
  Linearity linearity;
  if (call.results.empty() || !listsEachOnce(call))
    return linearity;
  for (auto [index, type] : llvm::enumerate(call.operands))
    if (keepsSums(type.getElementType(), call.results.front().getElementType()))
      linearity.sets.push_back({static_cast<unsigned>(index)});
  return linearity;
}

namespace {
/// A factor that is not yet multiplied.
struct Pending {
  LetteredTensor tensor;
  int64_t heldBytes = 0; ///< of an intermediate product; 0 for an operand
};

/// The products of an einsum, in order.
struct ProductChain {
  EinsumProduct last;
  int64_t flops = 0, workspaceBytes = 0;
};
} // namespace

static SmallVector<Pending> pendingOf(const CallView &call, const EinsumEquation &equation) {
  SmallVector<Pending> pending;
  for (auto [letters, operand] : llvm::zip_equal(equation.operands, call.getOperands("tensors"))) {
    RankedTensorType type = call.operands[*operand];
    pending.push_back({{letters, llvm::to_vector(type.getShape()), call.getStrides(*operand),
                        plan::elementBytes(type.getElementType())}});
  }
  return pending;
}

/// All letters: those of the result, then the others sorted.
static std::string orderOf(const EinsumEquation &equation) {
  std::string others;
  for (const std::string &letters : equation.operands)
    for (char letter : letters)
      if (!StringRef(equation.output).contains(letter) && !StringRef(others).contains(letter))
        others += letter;
  llvm::sort(others);
  return equation.output + others;
}

/// The letters that a product keeps: those of the result, and those that other factors contain.
static std::string keptLetters(StringRef both, ArrayRef<Pending> others, StringRef order, StringRef output) {
  std::string kept;
  for (char letter : order) {
    auto hasLetter = [&](const Pending &other) { return StringRef(other.tensor.letters).contains(letter); };
    if (both.contains(letter) && (output.contains(letter) || llvm::any_of(others, hasLetter)))
      kept += letter;
  }
  return kept;
}

/// The positions of the two factors that ATen multiplies next: the first two, or those that the path gives for this
/// product. nullopt if the path gives none.
static std::optional<std::pair<int64_t, int64_t>> nextPair(ArrayRef<int64_t> path, size_t product, size_t pending) {
  if (path.empty())
    return std::pair<int64_t, int64_t>(0, 1);
  auto [i, j] = std::minmax({path[2 * product], path[2 * product + 1]});
  bool isPair = i >= 0 && i < j && j < static_cast<int64_t>(pending);
  return isPair ? std::optional(std::pair(i, j)) : std::nullopt;
}

/// ATen inserts a product before the other factors, or after them where there is a path. nullopt for fewer than two
/// operands, or an invalid path.
static std::optional<ProductChain> productsOf(const CallView &call, const EinsumEquation &equation) {
  SmallVector<Pending> pending = pendingOf(call, equation);
  SmallVector<int64_t> path = call.getInts("path").value_or(SmallVector<int64_t>());
  if (pending.size() < 2 || (!path.empty() && path.size() != 2 * (pending.size() - 1)))
    return std::nullopt;
  std::string order = orderOf(equation);
  int64_t resultBytes = tensorBytes(call.results.front()), heldBytes = 0;
  ProductChain chain;
  for (size_t product = 0; pending.size() > 1; ++product) {
    std::optional<std::pair<int64_t, int64_t>> pair = nextPair(path, product, pending.size());
    if (!pair)
      return std::nullopt;
    Pending left = pending[pair->first], right = pending[pair->second];
    pending.erase(pending.begin() + pair->second);
    pending.erase(pending.begin() + pair->first);
    chain.last = multiply(left.tensor, right.tensor, order,
                          keptLetters(left.tensor.letters + right.tensor.letters, pending, order, equation.output));
    chain.flops += chain.last.flops;
    // The caller counts the result, which only the last product allocates. Before that it is not live.
    int64_t madeBytes = pending.empty() ? 0 : chain.last.result.bytes();
    // Workspace is what comes on top of operands and results. Before the last product the result does not exist, so its
    // bytes are free for intermediate products.
    int64_t notThereBytes = pending.empty() ? 0 : resultBytes;
    chain.workspaceBytes =
        std::max(chain.workspaceBytes, heldBytes + madeBytes + chain.last.workspaceBytes - notThereBytes);
    heldBytes += madeBytes - left.heldBytes - right.heldBytes;
    pending.insert(path.empty() ? pending.begin() : pending.end(), {chain.last.result, madeBytes});
  }
  return chain;
}

OpCost einsumCost(const CallView &call) {
  OpCost cost = copyCost(call);
  std::optional<EinsumEquation> equation = EinsumEquation::of(call);
  if (std::optional<ProductChain> chain = equation ? productsOf(call, *equation) : std::nullopt) {
    cost.flops = chain->flops;
    cost.workspaceBytes = chain->workspaceBytes;
  }
  return cost;
}

/// Strides of the only operand with its dims in the order of the result; nullopt if some dims are summed.
static std::optional<Strides> turnedStrides(const CallView &call, const EinsumEquation &equation) {
  if (equation.operands.size() != 1 || equation.operands[0].size() != equation.output.size())
    return std::nullopt;
  SmallVector<int64_t> order;
  for (char letter : equation.output)
    order.push_back(static_cast<int64_t>(equation.operands[0].find(letter)));
  return permutedStrides(call, order);
}

Strides einsumStrides(const CallView &call, unsigned result) {
  std::optional<EinsumEquation> equation = EinsumEquation::of(call);
  if (std::optional<ProductChain> chain = equation ? productsOf(call, *equation) : std::nullopt)
    return chain->last.result.strides;
  std::optional<Strides> turned = equation ? turnedStrides(call, *equation) : std::nullopt;
  return turned ? *turned : contiguousStrides(call.results[result].getShape());
}

} // namespace meshplan
