//===- elements.h - numbers about the elements of tensors --------*- C++ -*-===//
//
// For comparisons: computed in 64 bits where nothing else is said, on the device of the tensors.
// Truth values count as 0 and 1.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_ELEMENTS_H
#define MESHPLAN_RUNTIME_TENSOR_ELEMENTS_H

#include "runtime/tensor/tensor.h"

#include <optional>

namespace meshplan {

/// The same numbers in another element type.
Expected<Tensor> converted(const Tensor &tensor, DType dtype);

/// The tensor with some of its elements moved to a neighbour among the numbers of its element type, by draws of `seed`:
/// each goes up with a probability of 1/6, and down with 1/6. That has four times the variance of rounding, which is a
/// twelfth of a unit in the last place squared. Zeros stay, and so does what has no finite neighbour. Differentiable.
/// `invalid` unless it is of floats.
Expected<Tensor> roundedAnew(const Tensor &tensor, uint64_t seed);

/// Half of a unit in the last place of the largest element of a tensor of 16 bits, by which it is rounded at the least;
/// 0 for others, and where that element is no finite number.
Expected<double> roundingOf(const Tensor &tensor);

/// True if both have elements in the same memory.
bool shareMemory(const Tensor &tensor, const Tensor &other);

/// The sum of two tensors of one shape and element type, in it. `invalid` for others.
Expected<Tensor> sumOf(const Tensor &tensor, const Tensor &other);

/// The elements of a tensor of floats divided by a number.
Expected<Tensor> dividedBy(const Tensor &tensor, double number);

/// How far a tensor is from the exact one. An error is infinite where exactly one of the two is no finite number, or
/// both are other such numbers.
struct ElementErrors {
  double largest = 0;
  double ofOthers = 0; ///< of the elements that are not the exact ones, rounded once
};

/// `invalid` unless the shapes are equal.
Expected<ElementErrors> errorsOf(const Tensor &tensor, const Tensor &exact);

/// Of all elements that are finite; 0 without elements.
Expected<double> largestMagnitude(const Tensor &tensor);

/// Elements that are no finite numbers.
struct NonfiniteElements {
  int64_t count = 0;
  int64_t first = 0; ///< the place of the first, counted in row-major order
};

/// Those that are NaN and, unless told otherwise, infinite; none of a tensor of whole numbers. Reads each element once;
/// on a device, with a few MiB of its memory.
Expected<NonfiniteElements> nonfiniteIn(const Tensor &tensor, bool infinities = true);

/// The place of the only element that is `number`, counted in row-major order; nothing if there are several, or none.
Expected<std::optional<int64_t>> onlyPlaceOf(const Tensor &tensor, int64_t number);

/// Square root of the sum of all squares, as torch.nn.utils.clip_grad_norm_ computes it: not in 64 bits, but in the
/// element types of the tensors, which are on one device. 0 without tensors.
Expected<double> normOf(std::span<const Tensor> tensors);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_ELEMENTS_H
