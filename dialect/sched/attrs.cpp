//===- attrs.cpp - verifiers of attributes and types of sched -------------===//
//
// Rules have labels (A) that reappear in test/dialect/sched/attrs.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialect/sched/sched.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::sched;

/// As plan::AxisRefAttr::overlaps; a whole axis has `pre` 1 here.
bool AxisAttr::overlaps(AxisAttr other) const {
  return getAxis() == other.getAxis() && getPre() < other.getPre() * other.getSize() &&
         other.getPre() < getPre() * getSize();
}

LogicalResult AxisAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t axis, int64_t pre, int64_t size) {
  if (axis < 0 || pre < 1 || size < 1) // A1
    return emitError() << "axis " << axis << ":(" << pre << ')' << size
                       << " needs a position from 0 and positive sizes";
  return success();
}

LogicalResult DimAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t extent, ArrayRef<AxisAttr> axes,
                              int64_t unit, ArrayRef<DimPart> parts, int64_t repeat) {
  if (repeat < 1) // A2
    return emitError() << "blocks repeat " << repeat << " times, must be positive";
  if (extent < 0 || unit < 1 || extent % unit != 0) // A2
    return emitError() << "dim of size " << extent << " is not a multiple of its block size " << unit;
  if (failed(verifyParts(parts, unit, repeat, emitError))) // A2
    return failure();
  int64_t sum = 0;
  for (const DimPart &part : parts)
    sum += part.extent;
  if (!parts.empty() && sum != extent) // A3
    return emitError() << "parts sum to " << sum << ", the dim has size " << extent;
  return success();
}

LogicalResult ShardedTensorType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<DimAttr> dims,
                                        Type elementType, Reduction reduction, ArrayRef<AxisAttr> partialAxes,
                                        ArrayRef<AxisAttr> flatAxes, base::RoutedAttr routed) {
  if (!elementType.isIntOrFloat()) // A4
    return emitError() << "element type " << elementType << " is neither an integer nor a float";
  if (partialAxes.empty() != (reduction == Reduction::none)) // A5
    return emitError() << "a partial tensor must name both a reduction and axes";
  SmallVector<AxisAttr> all(partialAxes);
  llvm::append_range(all, flatAxes);
  for (DimAttr dim : dims)
    llvm::append_range(all, dim.getAxes());
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (all[i].overlaps(all[j])) // A6
        return emitError() << "axis " << all[i].getAxis() << " is used twice in one layout";
  SmallVector<int64_t> shape = llvm::map_to_vector(dims, [](DimAttr dim) { return dim.getExtent(); });
  return base::verifyRouted(emitError, routed, shape, !flatAxes.empty()); // B15, B16, B17
}

LogicalResult MemoryAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t parameters, int64_t constants,
                                 int64_t inputs, int64_t peak, int64_t least, int64_t states, int64_t accumulators,
                                 int64_t hostParameters, int64_t hostStates, int64_t hostPeak, int64_t evaluation,
                                 int64_t leastEvaluation, int64_t balanced, int64_t worst) {
  for (int64_t bytes : {parameters, constants, inputs, peak, least, states, accumulators, hostParameters, hostStates,
                        hostPeak, evaluation, leastEvaluation, balanced, worst})
    if (bytes < 0) // A7
      return emitError() << "memory of " << bytes << " bytes, must be 0 or more";
  for (auto [largest, smallest] : {std::pair(peak, least), std::pair(evaluation, leastEvaluation)})
    if (smallest > largest) // A8
      return emitError() << "smallest peak is " << smallest << " bytes, the largest " << largest;
  if (balanced > worst) // A17
    return emitError() << "balanced peak is " << balanced << " bytes, the worst " << worst;
  return success();
}

LogicalResult HeldAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef what, StringRef, int64_t count,
                               int64_t bytes) {
  if (what.empty()) // A15
    return emitError() << "holds " << bytes << " bytes without a name";
  if (count < 1) // A9
    return emitError() << "holds " << count << " tensors \"" << what << "\", must be at least 1";
  if (bytes < 0) // A9
    return emitError() << "holds " << bytes << " bytes of \"" << what << "\", must be 0 or more";
  return success();
}

LogicalResult PeakAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef target, StringRef,
                               ArrayRef<HeldAttr> held) {
  if (target.empty()) // A10
    return emitError() << "peak without an op";
  if (!llvm::is_sorted(held, [](HeldAttr left, HeldAttr right) { return left.getBytes() > right.getBytes(); })) // A11
    return emitError() << "tensors of the peak \"" << target << "\" are not in the order of their bytes";
  return success();
}

LogicalResult TimeAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t compute, int64_t communication,
                               int64_t copies) {
  if (compute < 0 || communication < 0 || copies < 0) // A12
    return emitError() << "time of " << compute << " ns for operators, " << communication << " ns for collectives and "
                       << copies << " ns for copies, all must be 0 or more";
  return success();
}

LogicalResult PackedType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<ShardedTensorType> members) {
  if (members.empty()) // A16
    return emitError() << "packs 0 tensors, must be at least 1";
  for (ShardedTensorType member : members)
    if (member.getElementType() != members.front().getElementType()) // A13
      return emitError() << "packs " << member << " with " << members.front();
  return success();
}

LogicalResult TokenType::verify(function_ref<InFlightDiagnostic()> emitError, Type result) {
  if (!isa<ShardedTensorType, PackedType>(result)) // A14
    return emitError() << "a token promises " << result << ", must be a tensor or a packed value";
  return success();
}
