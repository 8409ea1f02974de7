//===- dtype.h - conversion of dtypes ---------------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_DTYPE_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_DTYPE_H

#include "runtime/base/dtype.h"

#include <c10/core/ScalarType.h>
#include <optional>

namespace meshplan {

c10::ScalarType scalarTypeOf(DType dtype);

/// nullopt for types that the artifact cannot name, such as complex ones.
std::optional<DType> dtypeOf(c10::ScalarType type);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_DTYPE_H
