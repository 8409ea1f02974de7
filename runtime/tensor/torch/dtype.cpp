//===- dtype.cpp - conversion of dtypes -----------------------------------===//

#include "runtime/tensor/torch/dtype.h"

#include <array>

using namespace meshplan;

/// In the order of DType.
static constexpr std::array scalarTypes = {c10::ScalarType::Float,    c10::ScalarType::Double, c10::ScalarType::Half,
                                           c10::ScalarType::BFloat16, c10::ScalarType::Long,   c10::ScalarType::Int,
                                           c10::ScalarType::Short,    c10::ScalarType::Char,   c10::ScalarType::Byte,
                                           c10::ScalarType::Bool};

c10::ScalarType meshplan::scalarTypeOf(DType dtype) { return scalarTypes[static_cast<size_t>(dtype)]; }

std::optional<DType> meshplan::dtypeOf(c10::ScalarType type) {
  for (size_t i = 0; i < scalarTypes.size(); ++i)
    if (scalarTypes[i] == type)
      return static_cast<DType>(i);
  return std::nullopt;
}
