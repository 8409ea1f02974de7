//===- einsum_product.cpp - the product of two tensors in an einsum -------===//
//
// Mirrors sumproduct_pair of ATen: dims that only one operand has and the result does not are summed first; the letters
// that are left are sorted into batch, left, right and summed; each operand is permuted and viewed as a batch of
// matrices [batch, left, summed] and [batch, summed, right]; the product is viewed as the result. A view that the
// strides do not allow is a copy, and this is the memory that is counted here. The strides of the result matter, too:
// they decide whether the next product copies.

#include "compiler/sharding/record_support/einsum_product.h"
#include "compiler/sharding/record_support/memory.h"

using namespace mlir;

namespace meshplan {

int64_t LetteredTensor::elements() const {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  return elements;
}

int64_t LetteredTensor::extent(char letter) const {
  size_t dim = letters.find(letter);
  return dim == std::string::npos ? 1 : shape[dim];
}

namespace {
/// A tensor as the product reads it. Dims that are neither in the other operand nor in the result are summed first.
struct Multiplicand : LetteredTensor {
  int64_t summed = 0; ///< elements that were read for the sum; 0: the operand itself

  Multiplicand(const LetteredTensor &tensor, StringRef other, StringRef output);
};
} // namespace

Multiplicand::Multiplicand(const LetteredTensor &tensor, StringRef other, StringRef output) : LetteredTensor(tensor) {
  auto isSummed = [&](char letter) { return !other.contains(letter) && !output.contains(letter); };
  if (llvm::none_of(tensor.letters, isSummed))
    return;
  // The sum is row-major in ATen's order of the dims: that of the result, then the others sorted.
  llvm::erase_if(letters, isSummed);
  llvm::sort(letters, [&](char a, char b) { return std::pair(output.find(a), a) < std::pair(output.find(b), b); });
  shape.clear();
  for (char letter : letters)
    shape.push_back(tensor.extent(letter));
  strides = contiguousStrides(shape);
  summed = tensor.elements();
}

namespace {
/// Letters of a product of two operands, by kind, each in the order of the equation. As in ATen, a dim of one element
/// does not belong to its operand, and a letter of neither operand belongs to the right one.
struct ProductLetters {
  std::string batch, left, right, summed;

  /// nullopt if the product sums over no letter and is therefore elementwise.
  static std::optional<ProductLetters> of(const LetteredTensor &left, const LetteredTensor &right, StringRef order,
                                          StringRef output);
};
} // namespace

std::optional<ProductLetters> ProductLetters::of(const LetteredTensor &left, const LetteredTensor &right,
                                                 StringRef order, StringRef output) {
  ProductLetters letters;
  for (char letter : order) {
    bool inLeft = left.extent(letter) != 1, inRight = right.extent(letter) != 1;
    if (inLeft && inRight)
      (output.contains(letter) ? letters.batch : letters.summed) += letter;
    else
      (inLeft ? letters.left : letters.right) += letter;
  }
  return letters.summed.empty() ? std::nullopt : std::optional(letters);
}

/// Bytes of the copy that makes a tensor a batch of matrices: the dims of each group become one dim.
static int64_t groupedBytes(const LetteredTensor &tensor, ArrayRef<StringRef> groups) {
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

/// The dims of the product, outermost first. ATen swaps the operands if the result has that order.
static std::string productDims(const ProductLetters &letters, StringRef order) {
  // With the operands swapped, the product has the order of the result and the last permutation is a view of row-major
  // elements.
  bool swaps = !letters.left.empty() && !letters.right.empty() &&
               order.find(letters.right.back()) < order.find(letters.left.front());
  return letters.batch + (swaps ? letters.right + letters.left : letters.left + letters.right);
}

static Strides stridesOfMatrices(StringRef dims, const LetteredTensor &result) {
  Strides strides(result.shape.size());
  int64_t next = 1;
  for (char letter : llvm::reverse(dims)) {
    size_t dim = result.letters.find(letter);
    if (dim == std::string::npos)
      continue;
    strides[dim] = next;
    next *= result.shape[dim];
  }
  return strides;
}

/// Strides of an elementwise product, whose operands have the dims of the result.
static Strides stridesOfElements(const LetteredTensor &left, const LetteredTensor &right,
                                 const LetteredTensor &result) {
  SmallVector<SmallVector<int64_t>> shapes;
  SmallVector<Strides> strides;
  for (const LetteredTensor *tensor : {&left, &right}) {
    shapes.emplace_back();
    strides.emplace_back();
    for (char letter : result.letters) {
      size_t dim = tensor->letters.find(letter);
      shapes.back().push_back(tensor->extent(letter));
      strides.back().push_back(dim == std::string::npos ? 0 : tensor->strides[dim]);
    }
  }
  return elementwiseStrides(result.shape, {StridedShape{shapes[0], strides[0]}, StridedShape{shapes[1], strides[1]}});
}

EinsumProduct multiply(const LetteredTensor &first, const LetteredTensor &second, StringRef order, StringRef output) {
  Multiplicand left(first, second.letters, output), right(second, first.letters, output);
  EinsumProduct product{.result = {.letters = output.str(), .elementBytes = first.elementBytes}};
  for (char letter : output)
    product.result.shape.push_back(left.extent(letter) == 1 ? right.extent(letter) : left.extent(letter));
  std::optional<ProductLetters> letters = ProductLetters::of(left, right, order, output);
  if (letters) {
    product.flops = 2 * product.result.elements();
    for (char letter : letters->summed)
      product.flops *= left.extent(letter);
    product.workspaceBytes = groupedBytes(left, {letters->batch, letters->left, letters->summed}) +
                             groupedBytes(right, {letters->batch, letters->summed, letters->right});
  }
  product.result.strides = letters ? stridesOfMatrices(productDims(*letters, order), product.result)
                                   : stridesOfElements(left, right, product.result);
  for (const Multiplicand *tensor : {&left, &right})
    if (tensor->summed > 0) {
      product.flops += tensor->summed;
      product.workspaceBytes += tensor->bytes();
    }
  return product;
}

} // namespace meshplan
