//===- precision.h - calls of the reference in another precision -*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_PRECISION_H
#define MESHPLAN_RUNTIME_VERIFY_PRECISION_H

#include "runtime/tensor/operator.h"

namespace meshplan {

/// `own`: the element types of the archive. `wide`: f64 for every float, so that no step rounds to less.
enum class Precision : uint8_t { own, wide };

/// The element type that a value of the archive has.
DType dtypeIn(Precision precision, DType dtype);

/// An operator and its arguments.
struct ReferenceCall {
  std::string target;
  std::vector<Argument> arguments;
};

/// The call as the reference makes it: in `wide`, literal element types that are floats are f64. Products of groups
/// and copies, of which LibTorch has no derivative or only some element types, are composed of other operators.
ReferenceCall callIn(Precision precision, ReferenceCall call);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_PRECISION_H
