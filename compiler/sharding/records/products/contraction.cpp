//===- contraction.cpp - records of matrix products -----------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/einsum.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/record_support/wide_products.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

/// Bytes of the copy that folds all dims but the last into one.
static int64_t foldedBytes(const CallView &call, unsigned operand) {
  RankedTensorType type = call.operands[operand];
  int64_t columns = type.getShape().back();
  return reshapeBytes(call, operand, type.getShape(), {columns == 0 ? 0 : type.getNumElements() / columns, columns});
}

/// Bytes of the copy that makes an operand a batch of matrices, broadcast to the batch dims of the result. A vector is
/// a matrix of one row or column.
static int64_t batchedBytes(const CallView &call, unsigned operand, ArrayRef<int64_t> batch) {
  ArrayRef<int64_t> own = call.operands[operand].getShape();
  if (own.size() < 2)
    return 0;
  ArrayRef<int64_t> matrix = own.take_back(2);
  SmallVector<int64_t> expanded(batch), shape{ShapedType::getNumElements(batch)};
  llvm::append_range(expanded, matrix);
  llvm::append_range(shape, matrix);
  return reshapeBytes(call, operand, expanded, shape);
}

/// Bytes of a product that writes bf16, with `rows` rows in each of its matrices.
static int64_t halfBytes(const CallView &call, unsigned left, int64_t rows, bool isLeftTransposed) {
  RankedTensorType result = call.results.front(), operand = call.operands[left];
  if (!result.getElementType().isBF16() || result.getRank() == 0 || operand.getRank() == 0)
    return 0;
  return bf16ProductBytes({rows, operand.getShape().back(), result.getShape().back(), isLeftTransposed});
}

/// Number of rows of the result when all its dims but the last are folded.
static int64_t allRows(const CallView &call) {
  RankedTensorType result = call.results.front();
  int64_t columns = result.getRank() > 0 ? result.getShape().back() : 1;
  return result.getNumElements() / std::max<int64_t>(columns, 1);
}

//===----------------------------------------------------------------------===//
// linear: input [.., in], weight [out, in] or [in], bias [out]
//===----------------------------------------------------------------------===//

static FactorRule linearRule(const CallView &call, FactorKind contracted) {
  RuleBuilder builder(call);
  TensorRef input = builder.operand("input"), weight = builder.operand("weight"), result = builder.result();
  for (int64_t dim = 0; dim + 1 < input.getRank(); ++dim)
    builder.tie({input[dim], result[dim]});
  if (weight.getRank() == 2)
    builder.tie({weight[0], builder.operand("bias")[0], result[-1]});
  // With a bias the contraction can only be divided after the bias has been split off (splitBias): each rank would add
  // the whole bias to its addend, and the sum over tp=3 would have it three times.
  builder.tie({input[-1], weight[-1]}, contracted);
  return builder.finish();
}
static FactorRule linearRule(const CallView &call) { return linearRule(call, FactorKind::sum); }

static Linearity linearLinearity(const CallView &call) {
  return call.getOperand("bias") ? linearIn(call, {{"input", "bias"}, {"weight", "bias"}})
                                 : linearIn(call, {{"input"}, {"weight"}});
}

/// An input with more dims is viewed as one matrix, or else copied to a batch of matrices.
static OpCost linearCost(const CallView &call) {
  OpCost cost = productCost(call, lastDim(call, "input"));
  std::optional<unsigned> input = call.getOperand("input");
  cost.workspaceBytes = matrixBytes(call, "input") + matrixBytes(call, "weight");
  if (!input)
    return cost;
  ArrayRef<int64_t> shape = call.operands[*input].getShape();
  bool isList = shape.size() > 2 && foldedBytes(call, *input) != 0;
  if (isList)
    cost.workspaceBytes += batchedBytes(call, *input, shape.drop_back(2));
  cost.workspaceBytes += halfBytes(call, *input, isList ? shape[shape.size() - 2] : allRows(call),
                                   shape.size() == 2 && isTransposed(call, *input));
  return cost;
}

/// ATen adds a bias before it rounds the product only if an input of more than two dims is row-major. A rank's part of
/// a row-major tensor often is not, and a 16-bit result would be rounded twice.
static LocalCall localizeLinear(const CallView &call, plan::MeshOp) {
  std::optional<unsigned> input = call.getOperand("input");
  if (!input || !call.getOperand("bias"))
    return unchanged(call);
  RankedTensorType type = call.operands[*input];
  bool isPart = llvm::any_of(llvm::seq(type.getRank()), [&](int64_t dim) { return isDivided(type, dim); });
  bool roundsTwice = isPart && type.getRank() > 2 && type.getElementTypeBitWidth() == 16;
  return roundsTwice ? LocalCall{"meshplan.linear", call.args} : unchanged(call);
}

/// The form that localizeLinear chooses. It has a bias, so the contraction is whole. The input is made row-major.
static FactorRule rowMajorLinearRule(const CallView &call) { return linearRule(call, FactorKind::whole); }

static OpCost rowMajorLinearCost(const CallView &call) {
  OpCost cost = productCost(call, lastDim(call, "input"));
  cost.workspaceBytes = contiguousBytes(call, "input") + matrixBytes(call, "weight");
  if (std::optional<unsigned> input = call.getOperand("input"))
    cost.workspaceBytes += halfBytes(call, *input, allRows(call), false);
  return cost;
}

//===----------------------------------------------------------------------===//
// mm, bmm, matmul: [.., n, k] x [.., k, m], or a vector on either side
//===----------------------------------------------------------------------===//

/// Ties a product of `left` and `right`. Dims before the last two are batch dims, which broadcast. `addend` broadcasts
/// to the result.
static FactorRule productRule(const CallView &call, StringRef left, StringRef right, StringRef addend = "",
                              FactorKind contracted = FactorKind::sum) {
  RuleBuilder builder(call);
  TensorRef a = builder.operand(left), b = builder.operand(right), c = builder.operand(addend);
  TensorRef result = builder.result();
  int64_t rows = a.getRank() > 1, columns = b.getRank() > 1;
  int64_t batch = result.getRank() - rows - columns;
  for (int64_t dim = 0; dim < batch; ++dim) {
    int64_t fromEnd = dim - batch;
    builder.tie({a[fromEnd - 2], b[fromEnd - 2], c[dim - result.getRank()], result[dim]});
  }
  if (rows)
    builder.tie({a[-2], c[-1 - columns], result[-1 - columns]});
  if (columns)
    builder.tie({b[-1], c[-1], result[-1]});
  builder.tie({a[-1], columns ? b[-2] : b[-1]}, contracted);
  return builder.finish();
}

static FactorRule matmulRule(const CallView &call) {
  return productRule(call, "self", call.getOperand("mat2") ? "mat2" : "other");
}

static Linearity matmulLinearity(const CallView &call) { return linearIn(call, {{"self"}, {"mat2"}, {"other"}}); }

/// True if the matrices of an operand are column-major and contiguous.
static bool isTransposedList(const CallView &call, unsigned operand) {
  SmallVector<int64_t> shape(call.operands[operand].getShape());
  Strides strides = call.getStrides(operand);
  std::swap(shape.end()[-1], shape.end()[-2]);
  std::swap(strides.end()[-1], strides.end()[-2]);
  return StridedShape{shape, strides}.isContiguous();
}

/// Bytes of a batched product that writes bf16. Operands with gaps, or whose matrices are not contiguous, are made
/// row-major.
static int64_t listBytes(const CallView &call, unsigned left, unsigned right) {
  RankedTensorType result = call.results.front();
  int64_t rank = result.getRank();
  if (!result.getElementType().isBF16() || rank < 3 || call.operands[left].getRank() != rank ||
      call.operands[right].getRank() != rank)
    return 0;
  int64_t copies = 0;
  for (unsigned operand : {left, right})
    copies += isContiguous(call, operand) || isTransposedList(call, operand) ? 0 : tensorBytes(call.operands[operand]);
  bool isLeftTransposed = !isContiguous(call, left) && isTransposedList(call, left);
  return copies + halfBytes(call, left, result.getShape().end()[-2], isLeftTransposed);
}

/// Follows ATen's matmul: a product with a matrix or vector on the right multiplies two matrices if the left operand
/// can be viewed as one; otherwise both operands become batches of matrices.
static OpCost matmulCost(const CallView &call) {
  OpCost cost = productCost(call, lastDim(call, "self"));
  std::optional<unsigned> left = call.getOperand("self");
  StringRef second = call.getOperand("mat2") ? "mat2" : "other";
  std::optional<unsigned> right = call.getOperand(second);
  if (!left || !right)
    return cost;
  int64_t leftRank = call.operands[*left].getRank(), rightRank = call.operands[*right].getRank();
  bool isMatrix = leftRank <= 2 && rightRank <= 2;
  if (isMatrix || (rightRank <= 2 && foldedBytes(call, *left) == 0)) {
    cost.workspaceBytes = isMatrix ? matrixBytes(call, "self") + matrixBytes(call, second) : 0;
    cost.workspaceBytes +=
        halfBytes(call, *left, rightRank == 2 ? allRows(call) : 1, isMatrix && isTransposed(call, *left));
    return cost;
  }
  int64_t vectors = (leftRank == 1) + (rightRank == 1);
  ArrayRef<int64_t> shape = call.results.front().getShape();
  ArrayRef<int64_t> batch = shape.drop_back(std::min<size_t>(shape.size(), 2 - vectors));
  cost.workspaceBytes = batchedBytes(call, *left, batch) + batchedBytes(call, *right, batch);
  if (vectors == 0 && leftRank == rightRank && cost.workspaceBytes == 0)
    cost.workspaceBytes = listBytes(call, *left, *right);
  else
    cost.workspaceBytes += halfBytes(call, *left, vectors == 0 && shape.size() > 1 ? shape.end()[-2] : 1, false);
  return cost;
}

//===----------------------------------------------------------------------===//
// The same with float32 results of 16-bit operands: linear_f32, matmul_f32
//===----------------------------------------------------------------------===//

static std::optional<LocalCall> widenLinear(const CallView &call) {
  std::optional<unsigned> weight = call.getOperand("weight");
  if (!weight || call.operands[*weight].getRank() != 2 || call.getOperand("bias"))
    return std::nullopt;
  return LocalCall{"meshplan.linear_f32", call.args};
}

/// `mat2` of mm and bmm is `other` of matmul.
static std::optional<LocalCall> widenMatmul(const CallView &call) {
  StringRef second = call.getOperand("mat2") ? "mat2" : "other";
  DictionaryAttr args = withArg(DictionaryAttr::get(call.args.getContext()), "self", call.get("self"));
  return LocalCall{"meshplan.matmul_f32", withArg(args, "other", call.get(second))};
}

/// Matrices of a batch are multiplied one at a time; an operand without a batch is converted whole.
static OpCost widened(const CallView &call, StringRef first, StringRef second, OpCost cost) {
  std::optional<unsigned> left = call.getOperand(first), right = call.getOperand(second);
  if (!left || !right)
    return cost;
  RankedTensorType self = call.operands[*left], other = call.operands[*right];
  bool isBatch = self.getRank() == 3 && other.getRank() == 3, isMatrix = self.getRank() >= 2 && other.getRank() == 2;
  int64_t count = isBatch ? std::max<int64_t>(1, self.getDimSize(0)) : 1;
  int64_t selfElements = self.getNumElements() / count, otherElements = other.getNumElements() / count;
  if (isBatch || isMatrix)
    cost.workspaceBytes += wideProductBytes(selfElements, otherElements, self.getShape().back());
  else // both operands in f32, and so are the batches made from them
    cost.workspaceBytes = 2 * cost.workspaceBytes + 4 * (selfElements + otherElements);
  return cost;
}
static OpCost linearF32Cost(const CallView &call) { return widened(call, "input", "weight", linearCost(call)); }
static OpCost matmulF32Cost(const CallView &call) { return widened(call, "self", "other", matmulCost(call)); }

//===----------------------------------------------------------------------===//
// addmm, baddbmm: beta * self + alpha * (first x second)
//===----------------------------------------------------------------------===//

/// True if self is added unscaled: the call is a product and an addition.
static bool isPlainAddend(const CallView &call) {
  return call.getFloat("beta", 1) == 1 && call.getFloat("alpha", 1) == 1;
}

/// A divided contraction makes the result partial. This is possible only if self, which each rank would add, can be
/// split off or has the factor 0.
static FactorKind contractionKind(const CallView &call) {
  return isPlainAddend(call) || call.getFloat("beta", 1) == 0 ? FactorKind::sum : FactorKind::whole;
}

static FactorRule addmmRule(const CallView &call) {
  return productRule(call, "mat1", "mat2", "self", contractionKind(call));
}
static FactorRule baddbmmRule(const CallView &call) {
  return productRule(call, "batch1", "batch2", "self", contractionKind(call));
}

static Linearity addmmLinearity(const CallView &call) { return linearIn(call, {{"self", "mat1"}, {"self", "mat2"}}); }
static Linearity baddbmmLinearity(const CallView &call) {
  return linearIn(call, {{"self", "batch1"}, {"self", "batch2"}});
}

static OpCost addmmCost(const CallView &call) {
  OpCost cost = productCost(call, lastDim(call, "mat1"));
  cost.workspaceBytes = matrixBytes(call, "mat1") + matrixBytes(call, "mat2");
  if (std::optional<unsigned> left = call.getOperand("mat1"))
    cost.workspaceBytes += halfBytes(call, *left, allRows(call), isTransposed(call, *left));
  return cost;
}

static OpCost baddbmmCost(const CallView &call) {
  OpCost cost = productCost(call, lastDim(call, "batch1"));
  std::optional<unsigned> left = call.getOperand("batch1"), right = call.getOperand("batch2");
  if (left && right)
    cost.workspaceBytes = listBytes(call, *left, *right);
  return cost;
}

static std::optional<AddendSplit> splitSelf(const CallView &call, StringRef product, StringRef first,
                                            StringRef second) {
  std::optional<unsigned> self = call.getOperand("self");
  if (!self || !isPlainAddend(call))
    return std::nullopt;
  CallRewrite rewrite = withoutOperand(call, product, "self");
  Attribute left = rewrite.args.get(first), right = rewrite.args.get(second);
  DictionaryAttr args = withArg(DictionaryAttr::get(call.args.getContext()), "self", left);
  rewrite.args = withArg(args, "mat2", right);
  return AddendSplit{rewrite, *self, {}};
}

static std::optional<AddendSplit> splitAddmm(const CallView &call) {
  return splitSelf(call, "aten.mm.default", "mat1", "mat2");
}
static std::optional<AddendSplit> splitBaddbmm(const CallView &call) {
  return splitSelf(call, "aten.bmm.default", "batch1", "batch2");
}

//===----------------------------------------------------------------------===//
// Products of groups of rows: [rows, k] x [groups, k, m]; group g ends at row offs[g]
//===----------------------------------------------------------------------===//

static FactorRule groupedRule(const CallView &call, StringRef left, StringRef right) {
  RuleBuilder builder(call);
  TensorRef rows = builder.operand(left), matrices = builder.operand(right);
  builder.tie({rows[1], matrices[1]}, FactorKind::sum);
  builder.tie({matrices[2], builder.result()[1]});
  return builder.finish();
}

static FactorRule groupedRowsRule(const CallView &call) { return groupedRule(call, "input", "weight"); }
static FactorRule groupedMmRule(const CallView &call) {
  bool plain = call.getOperand("offs") && !call.getOperand("bias") && call.operands.front().getRank() == 2 &&
               call.operands[call.getOperand("mat2").value_or(0)].getRank() == 3;
  if (!plain)
    return undividedRule(call);
  FactorRule rule = groupedRule(call, "self", "mat2");
  // The kernel needs rows that start at multiples of 16 bytes.
  int64_t aligned = 128 / call.operands.front().getElementTypeBitWidth();
  for (Factor &factor : rule.factors)
    if (factor.kind != FactorKind::whole && factor.size % aligned == 0)
      factor.unit = aligned;
  return rule;
}

static Linearity groupedRowsLinearity(const CallView &call) { return linearIn(call, {{"input"}, {"weight"}}); }
static Linearity groupedMmLinearity(const CallView &call) {
  return call.getOperand("bias") ? Linearity{} : linearIn(call, {{"self"}, {"mat2"}});
}

static OpCost groupedProductCost(const CallView &call) {
  OpCost cost = productCost(call, call.operands.front().getRank() > 0 ? call.operands.front().getShape().back() : 1);
  cost.workspaceBytes = halfBytes(call, 0, rowsOfGroup(call, allRows(call)), false);
  return cost;
}

void addContractionRecords(OpRegistry &registry) {
  registry.add({.target = "aten.linear.default",
                .rule = linearRule,
                .linearity = linearLinearity,
                .cost = linearCost,
                .localize = localizeLinear,
                .splitAddend = splitBias,
                .widen = widenLinear});
  registry.add({.target = "meshplan.linear",
                .rule = rowMajorLinearRule,
                .linearity = linearLinearity,
                .cost = rowMajorLinearCost});
  for (StringRef target : {"aten.mm.default", "aten.bmm.default", "aten.matmul.default"})
    registry.add(
        {.target = target, .rule = matmulRule, .linearity = matmulLinearity, .cost = matmulCost, .widen = widenMatmul});
  registry.add(
      {.target = "meshplan.linear_f32", .rule = linearRule, .linearity = linearLinearity, .cost = linearF32Cost});
  registry.add(
      {.target = "meshplan.matmul_f32", .rule = matmulRule, .linearity = matmulLinearity, .cost = matmulF32Cost});
  registry.add({.target = "aten.addmm.default",
                .rule = addmmRule,
                .linearity = addmmLinearity,
                .cost = addmmCost,
                .splitAddend = splitAddmm});
  registry.add({.target = "aten.baddbmm.default",
                .rule = baddbmmRule,
                .linearity = baddbmmLinearity,
                .cost = baddbmmCost,
                .splitAddend = splitBaddbmm});
  registry.add({.target = "aten.einsum.default",
                .rule = einsumRule,
                .linearity = einsumLinearity,
                .cost = einsumCost,
                .strides = einsumStrides});
  registry.add({.target = "meshplan.grouped_mm",
                .rule = groupedRowsRule,
                .linearity = groupedRowsLinearity,
                .cost = groupedProductCost});
  registry.add({.target = "aten._grouped_mm.default",
                .rule = groupedMmRule,
                .linearity = groupedMmLinearity,
                .cost = groupedProductCost});
}

} // namespace meshplan
