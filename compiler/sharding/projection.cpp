//===- projection.cpp - shardings of dims and axes of factors -------------===//

#include "compiler/sharding/projection.h"

using namespace meshplan;
using namespace meshplan::plan;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
/// Deals the axes of one dim to its factors.
class DimProjector {
public:
  DimProjector(ArrayRef<unsigned> factors, const FactorRule &rule, MeshOp mesh, FactorAxes &axes)
      : factors(factors), rule(rule), mesh(mesh), axes(axes) {
    enterFactor();
  }

  /// Gives `axis` to the current factor, or its digits to this and the next. False if it does not fit.
  bool take(AxisRefAttr axis) {
    while (true) {
      if (position == factors.size())
        return false;
      int64_t size = axisSize(axis, mesh);
      if (left % size == 0) {
        give(axis, size);
        return true;
      }
      if (left == 1 || size % left != 0)
        return false;
      if (!cut)
        cut = {factors[position], left, axis};
      auto [major, minor] = splitAxis(axis, left, mesh);
      give(major, left);
      axis = minor;
    }
  }

  /// Factor, what was left of it, and axis of the first cut.
  std::optional<std::tuple<unsigned, int64_t, AxisRefAttr>> cut;

  unsigned currentFactor() const { return factors.empty() ? 0 : factors[std::min(position, factors.size() - 1)]; }
  int64_t remaining() const { return left; }

private:
  void enterFactor() {
    for (; position < factors.size(); ++position) {
      const Factor &factor = rule.factors[factors[position]];
      left = factor.size / factor.unit;
      if (left != 1)
        return;
    }
  }

  void give(AxisRefAttr axis, int64_t size) {
    axes[factors[position]].push_back(axis);
    left /= size;
    if (left == 1) {
      ++position;
      enterFactor();
    }
  }

  ArrayRef<unsigned> factors;
  const FactorRule &rule;
  MeshOp mesh;
  FactorAxes &axes;
  size_t position = 0;
  int64_t left = 1;
};
} // namespace

Projection meshplan::projectToFactors(ShardingAttr sharding, const TensorFactors &tensor, const FactorRule &rule,
                                      MeshOp mesh) {
  Projection projection;
  projection.axes.resize(rule.factors.size());
  for (auto [dim, factors] : llvm::enumerate(tensor.dims)) {
    DimProjector projector(factors, rule, mesh, projection.axes);
    for (AxisRefAttr axis : sharding.getDims()[dim].getAxes()) {
      if (projector.take(axis))
        continue;
      if (!projection.block)
        projection.block =
            ProjectionBlock{static_cast<unsigned>(dim), projector.currentFactor(), projector.remaining(), axis};
      break;
    }
    if (projector.cut && !projection.cut) {
      auto [factor, size, axis] = *projector.cut;
      projection.cut = ProjectionBlock{static_cast<unsigned>(dim), factor, size, axis};
    }
  }
  return projection;
}

ShardingAttr meshplan::projectToDims(const FactorAxes &axes, const TensorFactors &tensor, const FactorRule &rule,
                                     MeshOp mesh, llvm::SmallVectorImpl<unsigned> *inexpressible) {
  mlir::MLIRContext *context = mesh.getContext();
  SmallVector<DimShardingAttr> dims;
  for (ArrayRef<unsigned> factors : tensor.dims) {
    AxisList dimAxes;
    bool majorIsWhole = false;
    for (unsigned index : factors) {
      const Factor &factor = rule.factors[index];
      if (!axes[index].empty() && majorIsWhole) {
        if (inexpressible)
          inexpressible->push_back(index);
        break;
      }
      dimAxes.append(axes[index].begin(), axes[index].end());
      majorIsWhole |= shardCount(axes[index], mesh) < factor.size / factor.unit;
    }
    dims.push_back(DimShardingAttr::get(context, mergeDigits(dimAxes, mesh)));
  }
  return ShardingAttr::get(context, dims);
}

ShardingAttr meshplan::transferLayout(ShardingAttr sharding, const TensorFactors &from, const TensorFactors &to,
                                      const FactorRule &rule, MeshOp mesh) {
  Projection projection = projectToFactors(sharding, from, rule, mesh);
  for (auto [axes, factor] : llvm::zip(projection.axes, rule.factors))
    if (factor.kind == FactorKind::whole)
      axes.clear();
  return projectToDims(projection.axes, to, rule, mesh);
}
