//===- operator_cases.h - operators to measure ------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CALIBRATE_OPERATOR_CASES_H
#define MESHPLAN_RUNTIME_CALIBRATE_OPERATOR_CASES_H

#include "runtime/calibrate/rounds.h"

namespace meshplan {

/// Matrix products on a grid of shapes, and operators by bytes or flops, for `dtype`. The tensors are on the device of
/// the calling thread, and the cases share them.
Expected<std::vector<Case>> operatorCases(DType dtype);

/// A matrix product [m, k] x [k, n]; no matrix has more than 16 Mi elements.
Expected<Case> productCase(DType dtype, std::array<int64_t, 3> shape);

/// Copies from host memory to the device, by bytes, and inside host memory; none if the device is the host.
Expected<std::vector<Case>> copyCases();

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CALIBRATE_OPERATOR_CASES_H
