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

  /// nullopt if it is not one letter for each dim, with no letter twice in a tensor, or the result has a letter of its
  /// own.
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
  bool fits = static_cast<int64_t>(equation.output.size()) == call.results.front().getRank() &&
              llvm::all_of(equation.output, [&](char letter) { return left.contains(letter); });
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
/// A tensor as the product reads it. Dims that are in no other operand and not in the result are summed up before.
struct Multiplicand {
  std::string letters;
  SmallVector<int64_t> shape;
  Strides strides;
  int64_t elementBytes = 0;
  int64_t summed = 0; ///< elements that were read to sum them; 0: it is the operand itself

  static Multiplicand of(const CallView &call, const Equation &equation, size_t place);
  int64_t bytes() const;
  /// 1 if it has no such dim.
  int64_t extent(char letter) const;
};
} // namespace

Multiplicand Multiplicand::of(const CallView &call, const Equation &equation, size_t place) {
  unsigned operand = *call.getOperands("tensors")[place];
  RankedTensorType type = call.operands[operand];
  StringRef own = equation.operands[place], other = equation.operands[1 - place], output = equation.output;
  Multiplicand result{own.str(), llvm::to_vector(type.getShape()), call.getStrides(operand),
                      plan::elementBytes(type.getElementType())};
  auto isSummed = [&](char letter) { return !other.contains(letter) && !output.contains(letter); };
  if (llvm::none_of(own, isSummed))
    return result;
  // The sum lies row-major in ATen's order of the dims: that of the result, then the others sorted.
  llvm::erase_if(result.letters, isSummed);
  llvm::sort(result.letters,
             [&](char a, char b) { return std::pair(output.find(a), a) < std::pair(output.find(b), b); });
  result.shape.clear();
  for (char letter : result.letters)
    result.shape.push_back(type.getDimSize(static_cast<unsigned>(own.find(letter))));
  result.strides = contiguousStrides(result.shape);
  result.summed = type.getNumElements();
  return result;
}

int64_t Multiplicand::bytes() const {
  int64_t bytes = elementBytes;
  for (int64_t extent : shape)
    bytes *= extent;
  return bytes;
}

int64_t Multiplicand::extent(char letter) const {
  size_t dim = letters.find(letter);
  return dim == std::string::npos ? 1 : shape[dim];
}

namespace {
/// Letters of a product of two operands, each kind in the order of the result.
struct ProductLetters {
  std::string batch, left, right, summed;
  bool hasUnit = false; ///< a letter that is not in the result has one element

  /// nullopt if nothing is summed in the product, which is an elementwise one then.
  static std::optional<ProductLetters> of(const Equation &equation, const Multiplicand &left,
                                          const Multiplicand &right);
};
} // namespace

/// To ATen a dim of one element is none of the operand's.
std::optional<ProductLetters> ProductLetters::of(const Equation &equation, const Multiplicand &left,
                                                 const Multiplicand &right) {
  ProductLetters letters;
  for (char letter : equation.output) {
    bool inLeft = left.extent(letter) != 1, inRight = right.extent(letter) != 1;
    (inLeft && inRight ? letters.batch : inLeft ? letters.left : letters.right) += letter;
  }
  std::string others = equation.operands[0] + equation.operands[1];
  llvm::sort(others);
  others.erase(std::unique(others.begin(), others.end()), others.end());
  for (char letter : others) {
    if (StringRef(equation.output).contains(letter))
      continue;
    bool isUnit = left.extent(letter) == 1 || right.extent(letter) == 1;
    letters.hasUnit |= isUnit;
    if (!isUnit)
      letters.summed += letter;
  }
  return letters.summed.empty() ? std::nullopt : std::optional(letters);
}

/// Bytes of the copy that makes a tensor a list of matrices: dims of each group become one dim.
static int64_t groupedBytes(const Multiplicand &tensor, ArrayRef<StringRef> groups) {
  Strides strides;
  SmallVector<int64_t> shape, matrices;
  for (StringRef group : groups) {
    matrices.push_back(1);
    for (char letter : group) {
      size_t dim = tensor.letters.find(letter);
      if (dim == std::string::npos)
        continue;
      shape.push_back(tensor.shape[dim]);
      strides.push_back(tensor.strides[dim]);
      matrices.back() *= tensor.shape[dim];
    }
  }
  return viewStrides({shape, strides}, matrices) ? 0 : tensor.bytes();
}

OpCost einsumCost(const CallView &call) {
  OpCost cost = copyCost(call);
  std::optional<Equation> equation = Equation::of(call);
  if (!equation || equation->operands.size() != 2)
    return cost;
  Multiplicand left = Multiplicand::of(call, *equation, 0), right = Multiplicand::of(call, *equation, 1);
  if (std::optional<ProductLetters> letters = ProductLetters::of(*equation, left, right)) {
    cost.flops = 2 * call.results.front().getNumElements();
    for (char letter : letters->summed)
      cost.flops *= left.extent(letter);
    cost.workspaceBytes = groupedBytes(left, {letters->batch, letters->left, letters->summed}) +
                          groupedBytes(right, {letters->batch, letters->summed, letters->right});
  }
  for (const Multiplicand &tensor : {left, right})
    if (tensor.summed > 0) {
      cost.flops += tensor.summed;
      cost.workspaceBytes += tensor.bytes();
    }
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
  bool swaps = !letters.left.empty() && !letters.right.empty() && !letters.hasUnit &&
               output.find(letters.right.back()) < output.find(letters.left.front());
  return letters.batch + (swaps ? letters.right + letters.left : letters.left + letters.right);
}

/// The result of an elementwise product, to which both come with the dims of the result.
static Strides elementwiseProduct(const Multiplicand &left, const Multiplicand &right, StringRef output,
                                  ArrayRef<int64_t> shape) {
  SmallVector<SmallVector<int64_t>> shapes;
  SmallVector<Strides> strides;
  for (const Multiplicand *tensor : {&left, &right}) {
    shapes.emplace_back();
    strides.emplace_back();
    for (char letter : output) {
      size_t dim = tensor->letters.find(letter);
      shapes.back().push_back(tensor->extent(letter));
      strides.back().push_back(dim == std::string::npos ? 0 : tensor->strides[dim]);
    }
  }
  return elementwiseStrides(shape, {StridedShape{shapes[0], strides[0]}, StridedShape{shapes[1], strides[1]}});
}

Strides einsumStrides(const CallView &call, unsigned result) {
  ArrayRef<int64_t> shape = call.results[result].getShape();
  std::optional<Equation> equation = Equation::of(call);
  if (!equation || equation->operands.size() != 2) {
    std::optional<Strides> turned = equation ? turnedStrides(call, *equation) : std::nullopt;
    return turned ? *turned : contiguousStrides(shape);
  }
  Multiplicand left = Multiplicand::of(call, *equation, 0), right = Multiplicand::of(call, *equation, 1);
  std::optional<ProductLetters> letters = ProductLetters::of(*equation, left, right);
  if (!letters)
    return elementwiseProduct(left, right, equation->output, shape);
  Strides strides(shape.size());
  int64_t next = 1;
  std::string dims = productDims(*letters, equation->output);
  for (char letter : llvm::reverse(dims)) {
    size_t dim = equation->output.find(letter);
    strides[dim] = next;
    next *= shape[dim];
  }
  return strides;
}

} // namespace meshplan
