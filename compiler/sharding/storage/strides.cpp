//===- strides.cpp - strides of tensors in memory -------------------------===//

#include "compiler/sharding/storage/strides.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace meshplan;
using llvm::ArrayRef;
using llvm::SmallVector;

static bool isEmpty(ArrayRef<int64_t> shape) { return llvm::is_contained(shape, 0); }

/// True if the dims of more than one element are dense in this order, innermost first.
static bool liesInOrder(StridedShape tensor, ArrayRef<int64_t> innermostFirst) {
  int64_t expected = 1;
  for (int64_t dim : innermostFirst) {
    if (tensor.shape[dim] == 1)
      continue;
    if (tensor.strides[dim] != expected)
      return false;
    expected *= tensor.shape[dim];
  }
  return true;
}

/// Strides of a new tensor with dims in this order, innermost first.
static Strides stridesInOrder(ArrayRef<int64_t> shape, ArrayRef<int64_t> innermostFirst) {
  Strides strides(shape.size());
  int64_t next = 1;
  for (int64_t dim : innermostFirst) {
    strides[dim] = next;
    next *= std::max<int64_t>(shape[dim], 1);
  }
  return strides;
}

static SmallVector<int64_t> rowMajorOrder(size_t rank) {
  return llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, static_cast<int64_t>(rank))));
}

/// Dim 1, then the others row-major.
static SmallVector<int64_t> channelsLastOrder(size_t rank) {
  SmallVector<int64_t> order{1};
  for (int64_t dim : rowMajorOrder(rank))
    if (dim != 1)
      order.push_back(dim);
  return order;
}

bool StridedShape::isContiguous() const { return isEmpty(shape) || liesInOrder(*this, rowMajorOrder(shape.size())); }

bool StridedShape::isDense() const {
  SmallVector<int64_t> order = rowMajorOrder(shape.size());
  llvm::stable_sort(order, [&](int64_t left, int64_t right) {
    // Dims of one element do not matter. They go last.
    if ((shape[left] == 1) != (shape[right] == 1))
      return shape[right] == 1;
    return strides[left] < strides[right];
  });
  return isEmpty(shape) || liesInOrder(*this, order);
}

bool StridedShape::isChannelsLast() const {
  return (shape.size() == 4 || shape.size() == 5) && !isContiguous() &&
         liesInOrder(*this, channelsLastOrder(shape.size()));
}

Strides meshplan::contiguousStrides(ArrayRef<int64_t> shape) {
  return stridesInOrder(shape, rowMajorOrder(shape.size()));
}

Strides meshplan::channelsLastStrides(ArrayRef<int64_t> shape) {
  return stridesInOrder(shape, channelsLastOrder(shape.size()));
}

/// Follows ATen's computeStride: adjacent dims of the tensor that are dense form a chunk, and each chunk must consist
/// of whole dims of the view.
std::optional<Strides> meshplan::viewStrides(StridedShape tensor, ArrayRef<int64_t> shape) {
  if (isEmpty(tensor.shape))
    return contiguousStrides(shape);
  Strides strides(shape.size(), 1);
  int64_t view = static_cast<int64_t>(shape.size()) - 1, chunk = 1, viewed = 1;
  int64_t base = tensor.shape.empty() ? 1 : tensor.strides.back();
  for (int64_t dim = static_cast<int64_t>(tensor.shape.size()) - 1; dim >= 0; --dim) {
    chunk *= tensor.shape[dim];
    // Two dims are one chunk if a step of the outer one is as long as the inner ones together. For example, [4, 6] with
    // strides (6, 1) is one chunk of 24, which can be viewed in any shape; with strides (1, 4), a transpose, it is two
    // chunks, and only shapes that keep the 6 separate are views.
    bool ends = dim == 0 || (tensor.shape[dim - 1] != 1 && tensor.strides[dim - 1] != chunk * base);
    if (!ends)
      continue;
    // Dims of one element fit anywhere. They are consumed with the current chunk, as in ATen.
    for (; view >= 0 && (viewed < chunk || shape[view] == 1); --view) {
      strides[view] = viewed * base;
      viewed *= shape[view];
    }
    if (viewed != chunk)
      return std::nullopt;
    if (dim > 0) {
      base = tensor.strides[dim - 1];
      chunk = viewed = 1;
    }
  }
  // Dims that remain have elements that the tensor does not have: the shapes do not agree.
  return view < 0 || tensor.shape.empty() ? std::optional(strides) : std::nullopt;
}

Strides meshplan::expandedStrides(StridedShape tensor, ArrayRef<int64_t> shape) {
  Strides strides(shape.size(), 0);
  // The call does not fit its schema (an archive may contain anything): nothing is known.
  if (tensor.shape.size() > shape.size())
    return strides;
  size_t added = shape.size() - tensor.shape.size();
  for (auto [dim, size] : llvm::enumerate(tensor.shape))
    if (size == shape[added + dim])
      strides[added + dim] = tensor.strides[dim];
  return strides;
}

/// Negative if `inner` is inside `outer` in memory, positive if outside, 0 if no operand decides.
static int compareDims(ArrayRef<int64_t> shape, ArrayRef<Strides> operands, int64_t inner, int64_t outer) {
  for (const Strides &strides : operands) {
    // A broadcast dim of this operand says nothing about the order in memory.
    if (strides[inner] == 0 || strides[outer] == 0)
      continue;
    if (strides[inner] != strides[outer])
      return strides[inner] < strides[outer] ? -1 : 1;
    // Equal strides, as of a dim of one element: ATen takes the smaller dim as the inner one.
    if (shape[inner] > shape[outer])
      return 1;
  }
  return 0;
}

/// Follows ATen's TensorIterator: an insertion sort of the dims, starting row-major, that skips undecided neighbours.
Strides meshplan::elementwiseStrides(ArrayRef<int64_t> shape, ArrayRef<StridedShape> operands) {
  bool same = llvm::all_of(operands, [&](StridedShape operand) { return operand.shape == shape; });
  bool contiguous = llvm::all_of(operands, [](StridedShape operand) { return operand.isContiguous(); });
  if (isEmpty(shape) || (same && contiguous))
    return contiguousStrides(shape);
  SmallVector<Strides> expanded;
  for (StridedShape operand : operands)
    expanded.push_back(expandedStrides(operand, shape));
  bool equal = llvm::all_of(expanded, [&](const Strides &strides) { return strides == expanded.front(); });
  if (same && equal && operands.front().isDense())
    return expanded.front();
  SmallVector<int64_t> order = rowMajorOrder(shape.size());
  for (size_t end = 1; end < order.size(); ++end)
    for (size_t position = end, other = end; other-- > 0;) {
      int comparison = compareDims(shape, expanded, order[other], order[position]);
      if (comparison < 0)
        break;
      if (comparison == 0)
        continue;
      std::swap(order[other], order[position]);
      position = other;
    }
  return stridesInOrder(shape, order);
}

Strides meshplan::copyStrides(StridedShape tensor) {
  return tensor.isDense() && !isEmpty(tensor.shape) ? Strides(tensor.strides)
                                                    : elementwiseStrides(tensor.shape, tensor);
}
