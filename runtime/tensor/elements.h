//===- elements.h - comparing elements of tensors ---------------*- C++ -*-===//
//
// Numbers about the elements of tensors, for comparisons. Computed in 64 bits unless stated otherwise, on the device of
// the tensors. Booleans count as 0 and 1.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_ELEMENTS_H
#define MESHPLAN_RUNTIME_TENSOR_ELEMENTS_H

#include "runtime/tensor/tensor.h"

#include <optional>

namespace meshplan {

/// The elements converted to another dtype.
Expected<Tensor> converted(const Tensor &tensor, DType dtype);

/// The tensor with some elements moved to the adjacent value of the dtype, decided by random numbers with `seed`: up
/// with probability 1/6, down with 1/6. This perturbs the rounding: its variance is four times that of rounding, which
/// is 1/12 of a squared unit in the last place. Zeros stay, and so do elements without a finite neighbour.
/// Differentiable. `invalid` unless the tensor has floats.
Expected<Tensor> withPerturbedRounding(const Tensor &tensor, uint64_t seed);

/// For a tensor of 16 bits, half a unit in the last place of its largest element: the rounding error that it has at
/// least. 0 for other dtypes, and if that element is not finite.
Expected<double> roundingOf(const Tensor &tensor);

/// True if the tensors have elements in the same memory (alias each other).
bool shareMemory(const Tensor &tensor, const Tensor &other);

/// The sum of two tensors of the same shape and dtype. `invalid` otherwise.
Expected<Tensor> sumOf(const Tensor &tensor, const Tensor &other);

/// The elements of a float tensor divided by a number.
Expected<Tensor> dividedBy(const Tensor &tensor, double number);

/// The errors of a tensor relative to the exact one. An error is infinite if exactly one of the two elements is
/// non-finite, or if they are different non-finite values.
struct ElementErrors {
  double largest = 0;
  double ofOthers = 0; ///< largest error of the elements that differ from the exact ones rounded once
};

/// `invalid` unless the shapes are equal.
Expected<ElementErrors> errorsOf(const Tensor &tensor, const Tensor &exact);

/// The largest magnitude of the finite elements; 0 if there are none.
Expected<double> largestMagnitude(const Tensor &tensor);

/// The non-finite elements of a tensor.
struct NonfiniteElements {
  int64_t count = 0;
  int64_t first = 0; ///< row-major position of the first
};

/// Finds the elements that are NaN or, with `infinities`, infinite. Integer tensors have none. Reads each element once;
/// on a device it needs a few MiB of temporaries.
Expected<NonfiniteElements> nonfiniteIn(const Tensor &tensor, bool infinities = true);

/// The row-major position of the only element that equals `number`; nullopt if there is none or several.
Expected<std::optional<int64_t>> onlyIndexOf(const Tensor &tensor, int64_t number);

/// The norm of all elements, as torch.nn.utils.clip_grad_norm_ computes it: in the dtypes of the tensors, not in 64
/// bits. The tensors are on one device. 0 without tensors.
Expected<double> normOf(std::span<const Tensor> tensors);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_ELEMENTS_H
