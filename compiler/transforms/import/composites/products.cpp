//===- products.cpp - products composed of others -------------------------===//

#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/transforms/import/composites/composites.h"

using namespace mlir;
using namespace meshplan;

/// Letters of an equation. Tensors with more dims have no equation.
static constexpr StringLiteral letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

//===----------------------------------------------------------------------===//
// tensordot: a sum over pairs of dims
//===----------------------------------------------------------------------===//

/// The dims that an argument lists, as indices from 0; empty if one of them is invalid.
static SmallVector<int64_t> dimsOf(const Composite &call, StringRef name, Value tensor) {
  SmallVector<int64_t> dims = call.getView().getInts(name).value_or(SmallVector<int64_t>());
  for (int64_t &dim : dims)
    dim = normalizeDim(dim, shapeOf(tensor).size());
  return llvm::is_contained(dims, -1) ? SmallVector<int64_t>() : dims;
}

static SmallVector<Value> tensordot(const Composite &call) {
  Value self = call.operand("self"), other = call.operand("other");
  if (!self || !other || shapeOf(self).size() + shapeOf(other).size() > letters.size())
    return {};
  SmallVector<int64_t> own = dimsOf(call, "dims_self", self), others = dimsOf(call, "dims_other", other);
  std::string left = letters.take_front(shapeOf(self).size()).str();
  std::string right = letters.drop_front(left.size()).take_front(shapeOf(other).size()).str(), free = left;
  if (own.size() != others.size())
    return {};
  for (auto [mine, theirs] : llvm::zip_equal(own, others)) {
    // A dim of size 1 would be summed with each index of the other tensor's dim.
    if (shapeOf(self)[mine] != shapeOf(other)[theirs])
      return {};
    right[theirs] = left[mine];
    llvm::erase(free, left[mine]);
  }
  for (char letter : right)
    if (!StringRef(left).contains(letter))
      free += letter;
  return {call.einsum(left + "," + right + "->" + free, {self, other}, call.resultShape())};
}

//===----------------------------------------------------------------------===//
// kron: each element of one tensor times the whole other tensor
//===----------------------------------------------------------------------===//

static SmallVector<Value> kron(const Composite &call) {
  Value self = call.operand("self"), other = call.operand("other");
  if (!self || !other)
    return {};
  SmallVector<int64_t> left, right, both;
  size_t rank = call.resultShape().size();
  if (rank != std::max(shapeOf(self).size(), shapeOf(other).size()))
    return {};
  auto sizeOf = [&](Value value, size_t dim) {
    size_t missing = rank - shapeOf(value).size();
    return dim < missing ? 1 : shapeOf(value)[dim - missing];
  };
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t first = sizeOf(self, dim), second = sizeOf(other, dim);
    left.append({first, 1});
    right.append({1, second});
    both.append({first, second});
  }
  Value product = call.binary("aten.mul.Tensor", call.reshape(self, left), call.reshape(other, right), both);
  return {call.reshape(product, call.resultShape())};
}

//===----------------------------------------------------------------------===//
// vecdot, addr, addbmm
//===----------------------------------------------------------------------===//

static SmallVector<Value> vecdot(const Composite &call) {
  Value x = call.operand("x"), y = call.operand("y");
  if (!x || !y || isa<ComplexType>(call.resultElement()))
    return {};
  if (shapeOf(x).size() == 1 && shapeOf(y).size() == 1 && shapeOf(x) == shapeOf(y))
    return {call.make("aten.dot.default").tensor("self", x).tensor("tensor", y).build({}, call.resultElement())};
  SmallVector<int64_t> shape(call.resultShape());
  int64_t rank = shape.size() + 1, dim = normalizeDim(call.getView().getInt("dim", -1), rank);
  auto sizeOf = [&](Value value) {
    int64_t own = dim - rank + static_cast<int64_t>(shapeOf(value).size());
    return own < 0 ? 1 : shapeOf(value)[own];
  };
  if (dim < 0)
    return {};
  shape.insert(shape.begin() + dim, std::max(sizeOf(x), sizeOf(y)));
  return {call.make("aten.sum.dim_IntList")
              .tensor("self", call.binary("aten.mul.Tensor", x, y, shape))
              .integers("dim", {dim})
              .build(call.resultShape(), call.resultElement())};
}

static SmallVector<Value> addOuter(const Composite &call) {
  Value self = call.operand("self"), rows = call.operand("vec1"), columns = call.operand("vec2");
  if (!self || !rows || !columns || isa<IntegerType>(call.resultElement()))
    return {};
  Value column = call.reshape(rows, {shapeOf(rows)[0], 1});
  return {call.addScaled(self, call.binary("aten.mul.Tensor", column, columns, call.resultShape()))};
}

static SmallVector<Value> addSummedProducts(const Composite &call) {
  Value self = call.operand("self"), left = call.operand("batch1"), right = call.operand("batch2");
  if (!self || !left || !right || isa<IntegerType>(call.resultElement()))
    return {};
  return {call.addScaled(self, call.einsum("bij,bjk->ik", {left, right}, call.resultShape()))};
}

//===----------------------------------------------------------------------===//
// einsum with an ellipsis: the dims that it stands for get letters
//===----------------------------------------------------------------------===//

static constexpr StringLiteral ellipsis = "...";

/// The dims that an ellipsis stands for are the last ones of `all`.
static std::string spelledOut(StringRef part, StringRef all, size_t dims) {
  size_t at = part.find(ellipsis);
  return at == StringRef::npos
             ? part.str()
             : (part.take_front(at) + all.take_back(dims) + part.drop_front(at + ellipsis.size())).str();
}

static SmallVector<Value> einsumWithEllipsis(const Composite &call) {
  auto attribute = dyn_cast_or_null<StringAttr>(call.getView().get("equation"));
  std::string text = attribute ? attribute.getValue().str() : "";
  llvm::erase(text, ' ');
  // Without an arrow, the order of the result follows from rules of its own.
  auto [left, right] = StringRef(text).split("->");
  SmallVector<Value> tensors = call.operands("tensors");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  if (!StringRef(text).contains(ellipsis) || left.size() == text.size() || parts.size() != tensors.size())
    return {};
  std::string unused;
  for (char letter : letters)
    if (!StringRef(text).contains(letter))
      unused += letter;
  size_t most = 0;
  SmallVector<size_t> dims;
  for (auto [part, tensor] : llvm::zip_equal(parts, tensors)) {
    size_t own = part.size() - (part.contains(ellipsis) ? ellipsis.size() : 0), rank = shapeOf(tensor).size();
    if (own > rank || (own != rank && !part.contains(ellipsis)))
      return {};
    dims.push_back(rank - own);
    most = std::max(most, rank - own);
  }
  if (most > unused.size())
    return {};
  StringRef all = StringRef(unused).take_front(most);
  std::string equation, separator;
  llvm::StringMap<int64_t> sizes;
  for (auto [part, tensor, count] : llvm::zip_equal(parts, tensors, dims)) {
    std::string own = spelledOut(part, all, count);
    // A dim of size 1 would be repeated.
    for (auto [letter, size] : llvm::zip_equal(own, shapeOf(tensor)))
      if (auto [known, isNew] = sizes.try_emplace(StringRef(&letter, 1), size); known->second != size)
        return {};
    equation += separator + own;
    separator = ",";
  }
  std::string result = spelledOut(right, all, most);
  if (result.size() != call.resultShape().size())
    return {};
  return {call.einsum(equation + "->" + result, tensors, call.resultShape())};
}

//===----------------------------------------------------------------------===//
// multi_dot: a chain of matrix products, in the order with the fewest operations
//===----------------------------------------------------------------------===//

namespace {
class Chain {
public:
  Chain(const Composite &call, ArrayRef<Value> matrices) : call(call), matrices(matrices) {
    size_t count = matrices.size();
    sizes.push_back(shapeOf(matrices.front())[0]);
    for (Value matrix : matrices)
      sizes.push_back(shapeOf(matrix)[1]);
    cost.assign(count, SmallVector<double>(count, 0));
    cut.assign(count, SmallVector<size_t>(count, 0));
    // The usual dynamic programme over intervals, shorter ones first. The order can matter by factors: [10, 100] x
    // [100, 5] x [5, 50] takes 7500 products from the left and 75000 from the right. Costs are doubles because products
    // of three sizes may exceed 64 bits.
    for (size_t length = 1; length < count; ++length)
      for (size_t first = 0; first + length < count; ++first)
        decide(first, first + length);
  }

  Value product() const { return product(0, matrices.size() - 1); }

private:
  /// Finds the best position at which to split the product of these matrices.
  void decide(size_t first, size_t last) {
    cost[first][last] = std::numeric_limits<double>::infinity();
    for (size_t at = first; at < last; ++at) {
      double own = static_cast<double>(sizes[first]) * sizes[at + 1] * sizes[last + 1];
      double total = cost[first][at] + cost[at + 1][last] + own;
      if (total < cost[first][last])
        cost[first][last] = total, cut[first][last] = at;
    }
  }

  Value product(size_t first, size_t last) const {
    if (first == last)
      return matrices[first];
    size_t at = cut[first][last];
    Value left = product(first, at), right = product(at + 1, last);
    return call.make("aten.mm.default")
        .tensor("self", left)
        .tensor("mat2", right)
        .build({sizes[first], sizes[last + 1]}, call.resultElement());
  }

  const Composite &call;
  ArrayRef<Value> matrices;
  SmallVector<int64_t> sizes; ///< rows of the first matrix, then the columns of each
  SmallVector<SmallVector<double>> cost;
  SmallVector<SmallVector<size_t>> cut;
};
} // namespace

/// The first tensor may be a row and the last a column.
static SmallVector<Value> multiDot(const Composite &call) {
  SmallVector<Value> matrices = call.operands("tensors");
  if (matrices.empty())
    matrices = call.operands("matrices"); // of chain_matmul
  if (matrices.size() < 2)
    return {};
  Value &first = matrices.front(), &last = matrices.back();
  for (Value matrix : ArrayRef(matrices).drop_front().drop_back())
    if (shapeOf(matrix).size() != 2)
      return {};
  if (shapeOf(first).size() == 1)
    first = call.reshape(first, {1, shapeOf(first)[0]});
  if (shapeOf(last).size() == 1)
    last = call.reshape(last, {shapeOf(last)[0], 1});
  return {call.reshape(Chain(call, matrices).product(), call.resultShape())};
}

void meshplan::addProductComposites(llvm::StringMap<CompositeRule> &table) {
  table["aten.einsum.default"] = {einsumWithEllipsis};
  table["aten.tensordot.default"] = tensordot;
  table["aten.kron.default"] = kron;
  table["aten.linalg_vecdot.default"] = vecdot;
  table["aten.addr.default"] = {addOuter, {{"self", 0, 2}, {"vec1", 1, 1}, {"vec2", 1, 1}, {"", 2, 2}}};
  table["aten.addbmm.default"] = {addSummedProducts, {{"self", 0, 2}, {"batch1", 3, 3}, {"batch2", 3, 3}, {"", 2, 2}}};
  table["aten.linalg_multi_dot.default"] =
      table["aten.chain_matmul.default"] = {multiDot, {{"tensors", 1, 2}, {"matrices", 1, 2}}};
}
