//===- contraction.cpp - derivatives of products --------------------------===//
//
// The gradients of the two operands are separate calls, so that a scheduler may delay the weight gradient, which no
// other call of the backward pass waits for. A matrix that is multiplied with all rows gets its gradient from
// `meshplan.weight_gradient`, which sums over all dims of rows at once, so that split dims need not be merged by a
// reshape.
//
//===----------------------------------------------------------------------===//

#include "compiler/derivatives/arithmetic.h"
#include "compiler/derivatives/derivative_rules.h"
#include <numeric>

using namespace mlir;
using namespace meshplan;

/// The product of matrices, or of batches of matrices that broadcast. Both operands have at least two dims.
static Value product(const Derivation &derivation, Value left, Value right) {
  ArrayRef<int64_t> a = shapeOf(left), b = shapeOf(right);
  SmallVector<int64_t> shape(std::max(a.size(), b.size()), 1);
  for (ArrayRef<int64_t> own : {a, b})
    for (size_t dim = 0; dim + 2 < own.size(); ++dim)
      if (own[dim] != 1)
        shape[shape.size() - own.size() + dim] = own[dim];
  shape[shape.size() - 2] = a[a.size() - 2];
  shape[shape.size() - 1] = b.back();
  return derivation.make("aten.matmul.default")
      .tensor("self", left)
      .tensor("other", right)
      .build(shape, elementOf(left));
}

/// left [.., m], right [.., k]: the sum over all rows of left^T right, [m, k].
static Value weightGradient(const Derivation &derivation, Value left, Value right) {
  return derivation.make("meshplan.weight_gradient")
      .tensor("left", left)
      .tensor("right", right)
      .build({shapeOf(left).back(), shapeOf(right).back()}, elementOf(left));
}

/// The sum over all dims but the last.
static Value sumOfRows(const Arithmetic &math, Value value) {
  SmallVector<int64_t> dims(rankOf(value) - 1);
  std::iota(dims.begin(), dims.end(), 0);
  return math.sum(value, dims, /*keeps=*/false);
}

/// A vector as a matrix of one row or one column.
static Value asMatrix(const Arithmetic &math, Value value, bool isColumn) {
  if (rankOf(value) != 1)
    return value;
  int64_t size = shapeOf(value)[0];
  return math.reshape(value, isColumn ? ArrayRef<int64_t>{size, 1} : ArrayRef<int64_t>{1, size});
}

/// Gives the gradients of left x right. `gradient` is that of the product of the two as matrices.
static void giveSides(Derivation &derivation, StringRef leftName, StringRef rightName, Value gradient) {
  Arithmetic math(derivation);
  Value left = derivation.operand(leftName), right = derivation.operand(rightName);
  Value a = asMatrix(math, left, /*isColumn=*/false), b = asMatrix(math, right, /*isColumn=*/true);
  if (derivation.wants(leftName)) {
    // Batch dims that were broadcast are summed. Matrices keep their two dims, so the shape of `a` is reached before
    // vectors lose theirs.
    Value made = math.sumTo(product(derivation, gradient, math.transpose(b)), shapeOf(a));
    derivation.give(leftName, math.reshape(made, shapeOf(left)));
  }
  if (derivation.wants(rightName)) {
    Value made = rankOf(b) == 2 ? weightGradient(derivation, a, gradient)
                                : math.sumTo(product(derivation, math.transpose(a), gradient), shapeOf(b));
    derivation.give(rightName, math.reshape(made, shapeOf(right)));
  }
}

static void matmulRule(Derivation &derivation) {
  Arithmetic math(derivation);
  StringRef other = *llvm::find_if(ArrayRef<StringRef>{"mat2", "vec", "tensor", "other"},
                                   [&](StringRef name) { return derivation.operand(name) != nullptr; });
  SmallVector<int64_t> shape(shapeOf(derivation.result()));
  // The product has no dim for a vector operand.
  if (rankOf(derivation.operand("self")) == 1)
    shape.insert(shape.end() - (rankOf(derivation.operand(other)) == 1 ? 0 : 1), 1);
  if (rankOf(derivation.operand(other)) == 1)
    shape.push_back(1);
  giveSides(derivation, "self", other, math.reshape(derivation.gradient(), shape));
}

/// input [.., k], weight [m, k] or [k], bias [m]
static void linearRule(Derivation &derivation) {
  Arithmetic math(derivation);
  Value gradient = derivation.gradient(), weight = derivation.operand("weight");
  // The result has no dim of outputs, so neither formula below fits.
  if (rankOf(weight) == 1)
    return differentiateAtRunTime(derivation);
  Value input = derivation.operand("input");
  if (derivation.wants("input")) {
    // An input without batch dims is one row.
    Value rows = asMatrix(math, gradient, /*isColumn=*/false);
    derivation.give("input", math.reshape(product(derivation, rows, weight), shapeOf(input)));
  }
  if (derivation.wants("weight"))
    derivation.give("weight", weightGradient(derivation, gradient, input));
  if (derivation.wants("bias"))
    derivation.give("bias", sumOfRows(math, gradient));
}

/// beta * self + alpha * (left x right)
static void addProductRule(Derivation &derivation, StringRef left, StringRef right) {
  Arithmetic math(derivation);
  const CallView &view = derivation.getView();
  if (derivation.wants("self"))
    derivation.give("self", math.mul(derivation.gradient(), view.getFloat("beta", 1)));
  giveSides(derivation, left, right, math.mul(derivation.gradient(), view.getFloat("alpha", 1)));
}

static void addmmRule(Derivation &derivation) { addProductRule(derivation, "mat1", "mat2"); }
static void baddbmmRule(Derivation &derivation) { addProductRule(derivation, "batch1", "batch2"); }

namespace {
/// The letters of an equation `ab,bc->ac`.
struct Equation {
  SmallVector<std::string> operands;
  std::string result;
};
} // namespace

/// Nothing for forms that are left to the runtime: an ellipsis, a letter twice in one tensor, no explicit result.
static std::optional<Equation> readEquation(StringRef text) {
  std::string plain;
  for (char letter : text)
    if (letter != ' ')
      plain.push_back(letter);
  auto [left, right] = StringRef(plain).split("->");
  if (!StringRef(plain).contains("->") || StringRef(plain).contains('.'))
    return std::nullopt;
  Equation equation;
  equation.result = right.str();
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  for (StringRef part : parts)
    equation.operands.push_back(part.str());
  for (StringRef letters : llvm::concat<const std::string>(equation.operands, ArrayRef<std::string>(equation.result)))
    for (auto [position, letter] : llvm::enumerate(letters))
      if (letters.find(letter, position + 1) != StringRef::npos)
        return std::nullopt;
  return equation;
}

/// The gradient of one operand: the product of the result's gradient with the other operands. For `ab,bc->ac` the
/// gradient of the first operand is `ac,bc->ab`. A dim of size 1 broadcasts to the size of its letter.
static void giveEinsumOperand(Derivation &derivation, const Equation &equation,
                              ArrayRef<std::optional<unsigned>> tensors, size_t wanted) {
  std::string text = equation.result;
  SmallVector<Value> factors{derivation.gradient()};
  llvm::SmallDenseMap<char, int64_t> sizes;
  auto read = [&](StringRef letters, Value tensor) {
    for (auto [letter, size] : llvm::zip(letters, shapeOf(tensor)))
      if (auto [known, isNew] = sizes.insert({letter, size}); !isNew && known->second == 1)
        known->second = size;
  };
  read(equation.result, derivation.gradient());
  for (auto [index, operand] : llvm::enumerate(tensors))
    if (index != wanted) {
      text += "," + equation.operands[index];
      factors.push_back(derivation.getCall().getOperand(*operand));
      read(equation.operands[index], factors.back());
    }
  Value value = derivation.getCall().getOperand(*tensors[wanted]);
  std::string found;
  SmallVector<int64_t> shape, kept;
  for (char letter : equation.operands[wanted]) {
    auto known = sizes.find(letter);
    // A letter that only this operand has was summed over: give() expands the gradient along it.
    kept.push_back(known == sizes.end() ? 1 : known->second);
    if (known == sizes.end())
      continue;
    found.push_back(letter);
    shape.push_back(known->second);
  }
  text += "->" + found;
  Value made = derivation.make("aten.einsum.default")
                   .text("equation", text)
                   .tensors("tensors", factors)
                   .build(shape, elementOf(value));
  derivation.give(*tensors[wanted], Arithmetic(derivation).reshape(made, kept));
}

static void einsumRule(Derivation &derivation) {
  auto text = dyn_cast_or_null<StringAttr>(derivation.getView().get("equation"));
  std::optional<Equation> equation = text ? readEquation(text.getValue()) : std::nullopt;
  SmallVector<std::optional<unsigned>> tensors = derivation.getView().getOperands("tensors");
  bool fits = equation && equation->operands.size() == tensors.size() && !llvm::is_contained(tensors, std::nullopt);
  if (!fits)
    return differentiateAtRunTime(derivation);
  for (size_t index = 0; index < tensors.size(); ++index)
    if (derivation.wants(*tensors[index]))
      giveEinsumOperand(derivation, *equation, tensors, index);
}

/// input [rows, k] in groups of rows, weight [groups, k, m]; `offs` has the end of each group.
static void groupedRule(Derivation &derivation, StringRef rows, StringRef matrices) {
  Arithmetic math(derivation);
  Value input = derivation.operand(rows), weight = derivation.operand(matrices), ends = derivation.operand("offs");
  if (!ends || derivation.operand("bias") || rankOf(input) != 2 || rankOf(weight) != 3)
    return derivation.refuse("products of groups have a derivative only in the form [rows, k] x [groups, k, m]");
  if (derivation.wants(rows))
    derivation.give(rows, derivation.make("meshplan.grouped_mm")
                              .tensor("input", derivation.gradient())
                              .tensor("weight", math.transpose(weight))
                              .tensor("offs", ends)
                              .build(shapeOf(input), elementOf(input)));
  if (derivation.wants(matrices))
    derivation.give(matrices, derivation.make("meshplan.grouped_weight_gradient")
                                  .tensor("left", input)
                                  .tensor("right", derivation.gradient())
                                  .tensor("offs", ends)
                                  .build(shapeOf(weight), elementOf(weight)));
}
static void groupedRowsRule(Derivation &derivation) { groupedRule(derivation, "input", "weight"); }
static void groupedMmRule(Derivation &derivation) { groupedRule(derivation, "self", "mat2"); }

void meshplan::addContractionDerivatives(DerivativeTable &table) {
  table["aten.linear.default"] = linearRule;
  for (StringRef target : {"mm.default", "bmm.default", "matmul.default", "mv.default", "dot.default"})
    table[("aten." + target).str()] = matmulRule;
  table["aten.addmm.default"] = addmmRule;
  table["aten.baddbmm.default"] = baddbmmRule;
  table["aten.einsum.default"] = einsumRule;
  table["meshplan.grouped_mm"] = groupedRowsRule;
  table["aten._grouped_mm.default"] = groupedMmRule;
}
