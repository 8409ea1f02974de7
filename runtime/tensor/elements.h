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

/// The elements of a tensor moved by `places` along its last dim, those at the end to the begin. Itself without dims.
Expected<Tensor> rotated(const Tensor &tensor, int64_t places);

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
