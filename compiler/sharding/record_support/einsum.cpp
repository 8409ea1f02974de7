//===- einsum.cpp - record of products that are written as letters --------===//

#include "compiler/sharding/record_support/einsum.h"
#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "llvm/ADT/StringExtras.h"
#include <string>

using namespace mlir;

namespace meshplan {

namespace {
/// "bqd,bkd->bqk"
struct Equation {
  SmallVector<std::string> operands;
  std::string output;

  /// nullopt if it is not one letter for each dim, with no letter twice in a tensor.
  static std::optional<Equation> of(const CallView &call);
};
} // namespace

static bool hasDistinctLetters(StringRef letters) {
  for (size_t place = 0; place < letters.size(); ++place)
    if (!llvm::isAlpha(letters[place]) || letters.find(letters[place], place + 1) != StringRef::npos)
      return false;
  return true;
}

/// Without an arrow the result has the letters that stand once, in the order of their codes.
static std::string impliedOutput(StringRef operands) {
  std::string output;
  for (char letter : operands)
    if (llvm::isAlpha(letter) && operands.count(letter) == 1)
      output += letter;
  llvm::sort(output);
  return output;
}

std::optional<Equation> Equation::of(const CallView &call) {
  auto attribute = dyn_cast_or_null<StringAttr>(call.get("equation"));
  SmallVector<std::optional<unsigned>> tensors = call.getOperands("tensors");
  if (!attribute || call.results.size() != 1)
    return std::nullopt;
  std::string text = attribute.getValue().str();
  llvm::erase(text, ' ');
  auto [left, right] = StringRef(text).split("->");
  Equation equation;
  equation.output = left.size() == text.size() ? impliedOutput(left) : right.str();
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != tensors.size() || !hasDistinctLetters(equation.output))
    return std::nullopt;
  // A tensor may stand twice in the list; operands are numbered in the order of the list.
  for (auto [part, tensor] : llvm::zip_equal(parts, tensors)) {
    if (!tensor || !hasDistinctLetters(part) || static_cast<int64_t>(part.size()) != call.operands[*tensor].getRank())
      return std::nullopt;
    equation.operands.push_back(part.str());
  }
  bool fits = static_cast<int64_t>(equation.output.size()) == call.results.front().getRank();
  return fits ? std::optional(equation) : std::nullopt;
}

/// True if every operand stands once in the list, in its order.
static bool listsEachOnce(const CallView &call) {
  SmallVector<std::optional<unsigned>> tensors = call.getOperands("tensors");
  for (auto [place, tensor] : llvm::enumerate(tensors))
    if (tensor != place)
      return false;
  return tensors.size() == call.operands.size();
}

FactorRule einsumRule(const CallView &call) {
  RuleBuilder builder(call);
  std::optional<Equation> equation = Equation::of(call);
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
      size_t place = equation->output.find(letter);
      if (place != std::string::npos)
        dims.push_back(builder.result()[place]);
      builder.tie(dims, place == std::string::npos ? FactorKind::sum : FactorKind::parallel);
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
/// Letters of a product of two operands, each kind in the order of the result.
struct ProductLetters {
  std::string batch, left, right, summed;
};
} // namespace

/// nullopt if a letter is in one operand only and not in the result, which is summed up before, or nothing is summed,
/// which is an elementwise product.
static std::optional<ProductLetters> productLetters(const Equation &equation) {
  if (equation.operands.size() != 2)
    return std::nullopt;
  StringRef left = equation.operands[0], right = equation.operands[1];
  ProductLetters letters;
  for (char letter : equation.output) {
    bool inBoth = left.contains(letter) && right.contains(letter);
    (inBoth ? letters.batch : left.contains(letter) ? letters.left : letters.right) += letter;
  }
  for (char letter : left)
    if (!StringRef(equation.output).contains(letter)) {
      if (!right.contains(letter))
        return std::nullopt;
      letters.summed += letter;
    }
  llvm::sort(letters.summed);
  return letters.summed.empty() ? std::nullopt : std::optional(letters);
}

/// Bytes of the copy that makes an operand a list of matrices: dims of each group become one dim.
static int64_t groupedBytes(const CallView &call, unsigned operand, StringRef letters, ArrayRef<StringRef> groups) {
  ArrayRef<int64_t> own = call.operands[operand].getShape();
  Strides ownStrides = call.getStrides(operand), strides;
  SmallVector<int64_t> shape, matrices;
  for (StringRef group : groups) {
    matrices.push_back(1);
    for (char letter : group) {
      size_t dim = letters.find(letter);
      shape.push_back(own[dim]);
      strides.push_back(ownStrides[dim]);
      matrices.back() *= own[dim];
    }
  }
  return viewStrides({shape, strides}, matrices) ? 0 : tensorBytes(call.operands[operand]);
}

OpCost einsumCost(const CallView &call) {
  OpCost cost = copyCost(call);
  std::optional<Equation> equation = Equation::of(call);
  std::optional<ProductLetters> letters = equation ? productLetters(*equation) : std::nullopt;
  if (!letters)
    return cost;
  SmallVector<std::optional<unsigned>> tensors = call.getOperands("tensors");
  cost.flops = 2 * call.results.front().getNumElements();
  for (char letter : letters->summed)
    cost.flops *= call.operands[*tensors[0]].getShape()[equation->operands[0].find(letter)];
  cost.workspaceBytes =
      groupedBytes(call, *tensors[0], equation->operands[0], {letters->batch, letters->left, letters->summed}) +
      groupedBytes(call, *tensors[1], equation->operands[1], {letters->batch, letters->summed, letters->right});
  return cost;
}

/// Strides of the only operand with its dims in the order of the result; nullopt if some are summed.
static std::optional<Strides> turnedStrides(const CallView &call, const Equation &equation) {
  if (equation.operands.size() != 1 || equation.operands[0].size() != equation.output.size())
    return std::nullopt;
  SmallVector<int64_t> order;
  for (char letter : equation.output)
    order.push_back(static_cast<int64_t>(equation.operands[0].find(letter)));
  return permutedStrides(call, order);
}

/// The dims of the product from the outermost. ATen swaps the operands if that is the order of the result.
static std::string productDims(const ProductLetters &letters, StringRef output) {
  bool swaps = llvm::all_of(letters.right, [&](char right) {
    return llvm::all_of(letters.left, [&](char left) { return output.find(right) < output.find(left); });
  });
  return letters.batch + (swaps ? letters.right + letters.left : letters.left + letters.right);
}

Strides einsumStrides(const CallView &call, unsigned result) {
  ArrayRef<int64_t> shape = call.results[result].getShape();
  std::optional<Equation> equation = Equation::of(call);
  std::optional<ProductLetters> letters = equation ? productLetters(*equation) : std::nullopt;
  if (!letters) {
    std::optional<Strides> turned = equation ? turnedStrides(call, *equation) : std::nullopt;
    return turned ? *turned : contiguousStrides(shape);
  }
  std::string made = productDims(*letters, equation->output);
  Strides strides(shape.size());
  int64_t next = 1;
  for (char letter : llvm::reverse(made)) {
    size_t dim = equation->output.find(letter);
    strides[dim] = next;
    next *= shape[dim];
  }
  return strides;
}

} // namespace meshplan
