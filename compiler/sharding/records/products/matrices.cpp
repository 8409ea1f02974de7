//===- matrices.cpp - records of functions of whole matrices --------------===//
//
// Determinant, inverse and Cholesky factor of each matrix in the last two dims
// of the operand. The dims before these are batch dims and may be divided.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

static FactorRule eachMatrixRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef matrices = builder.operand(std::optional<unsigned>(0));
  for (int64_t dim = 0; dim + 2 < matrices.getRank(); ++dim) {
    SmallVector<DimRef> dims{matrices[dim]};
    for (unsigned index = 0; index < call.results.size(); ++index)
      dims.push_back(builder.result(index)[dim]);
    builder.tie(dims);
  }
  return builder.finish();
}

/// Flops: `Thirds` / 3 of the cube of the size of each matrix. An error code for each matrix.
template <int64_t Thirds> static OpCost factorCost(const CallView &call) {
  OpCost cost = copyCost(call);
  RankedTensorType matrices = call.operands.front();
  ArrayRef<int64_t> shape = matrices.getShape();
  int64_t size = shape.size() < 2 ? 0 : shape.back();
  if (size == 0 || shape[shape.size() - 2] != size)
    return cost;
  cost.flops = Thirds * matrices.getNumElements() * size / 3;
  cost.workspaceBytes = 4 * (matrices.getNumElements() / size / size);
  return cost;
}

/// The kernel factors a copy and keeps the positions of the exchanged rows.
template <int64_t Thirds> static OpCost exchangeCost(const CallView &call) {
  OpCost cost = factorCost<Thirds>(call);
  RankedTensorType matrices = call.operands.front();
  if (cost.flops > 0)
    cost.workspaceBytes += tensorBytes(matrices) + 4 * (matrices.getNumElements() / matrices.getShape().back());
  return cost;
}

/// LAPACK writes column-major matrices.
static Strides columnMajor(const CallView &call, unsigned result) {
  ArrayRef<int64_t> shape = call.results[result].getShape();
  Strides strides = contiguousStrides(shape);
  if (shape.size() >= 2) {
    strides[shape.size() - 2] = 1;
    strides[shape.size() - 1] = shape[shape.size() - 2];
  }
  return strides;
}

void addMatrixRecords(OpRegistry &registry) {
  for (StringRef target : {"aten.linalg_det.default", "aten.det.default"})
    registry.add({.target = target, .rule = eachMatrixRule, .linearity = notLinear, .cost = exchangeCost<2>});
  for (StringRef target : {"aten.linalg_inv.default", "aten.inverse.default"})
    registry.add({.target = target,
                  .rule = eachMatrixRule,
                  .linearity = notLinear,
                  .cost = exchangeCost<6>,
                  .strides = columnMajor});
  for (StringRef target : {"aten.linalg_cholesky.default", "aten.cholesky.default"})
    registry.add({.target = target,
                  .rule = eachMatrixRule,
                  .linearity = notLinear,
                  .cost = factorCost<1>,
                  .strides = columnMajor});
}

} // namespace meshplan
