//===- precision.h - reference calls in a precision -------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_PRECISION_H
#define MESHPLAN_RUNTIME_VERIFY_PRECISION_H

#include "runtime/tensor/operator.h"

namespace meshplan {

/// `own`: the dtypes of the archive. `wide`: f64 for every float.
enum class Precision : uint8_t { own, wide };

/// The dtype that a value of the archive has in this precision.
DType dtypeIn(Precision precision, DType dtype);

/// An operator and its arguments.
struct ReferenceCall {
  std::string target;
  std::vector<Argument> arguments;
};

/// The call as the reference makes it. In `wide`, literal float dtypes are f64. Grouped products and copies, for which
/// LibTorch has no derivative or not all dtypes, are composed of other operators.
ReferenceCall callIn(Precision precision, ReferenceCall call);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_PRECISION_H
