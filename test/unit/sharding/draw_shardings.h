//===- draw_shardings.h - random shardings ----------------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_SHARDING_DRAW_SHARDINGS_H
#define MESHPLAN_TEST_UNIT_SHARDING_DRAW_SHARDINGS_H

#include "compiler/sharding/axes.h"
#include <random>

namespace meshplan {

/// Assigns digits of the mesh to dims, or to the partial axes, at random.
inline plan::ShardingAttr drawSharding(std::mt19937 &random, plan::MeshOp mesh,
                                       llvm::ArrayRef<plan::AxisRefAttr> digits, int64_t rank,
                                       llvm::ArrayRef<plan::AxisRefAttr> mayBePartial) {
  llvm::SmallVector<AxisList> dims(rank);
  AxisList partial;
  llvm::SmallVector<plan::AxisRefAttr> order(digits.begin(), digits.end());
  std::shuffle(order.begin(), order.end(), random);
  for (plan::AxisRefAttr digit : order) {
    int64_t place = std::uniform_int_distribution<int64_t>(-2, rank - 1)(random);
    if (place >= 0)
      dims[place].push_back(digit);
    else if (place == -1 && llvm::is_contained(mayBePartial, digit))
      partial.push_back(digit);
  }
  llvm::SmallVector<plan::DimShardingAttr> attributes;
  for (const AxisList &axes : dims)
    attributes.push_back(plan::DimShardingAttr::get(mesh.getContext(), mergeDigits(axes, mesh)));
  return plan::ShardingAttr::get(mesh.getContext(), attributes,
                                 partial.empty() ? plan::Reduction::none : plan::Reduction::sum,
                                 mergeDigits(partial, mesh));
}

/// Makes some of the unused digits flat axes.
inline plan::ShardingAttr drawFlat(std::mt19937 &random, plan::MeshOp mesh, llvm::ArrayRef<plan::AxisRefAttr> digits,
                                   plan::ShardingAttr sharding) {
  llvm::SmallVector<plan::AxisRefAttr> order(digits.begin(), digits.end());
  std::shuffle(order.begin(), order.end(), random);
  AxisList flat;
  for (plan::AxisRefAttr digit : order)
    if (!overlapsAny(allAxes(sharding), digit) && random() % 2 == 0)
      flat.push_back(digit);
  return sharding.withFlat(mergeDigits(flat, mesh));
}

/// Gives the dims of a sharding random blocks, or parts.
inline plan::ShardingAttr drawDealing(std::mt19937 &random, plan::MeshOp mesh, plan::ShardingAttr sharding,
                                      llvm::ArrayRef<int64_t> shape) {
  for (int64_t dim = 0; dim < sharding.getRank(); ++dim) {
    auto drawPart = [&](int64_t extent) {
      int64_t unit = int64_t(1) << std::uniform_int_distribution<int>(0, 2)(random);
      return DimPart(extent, unit, std::max(1, std::uniform_int_distribution<int>(-2, 3)(random)));
    };
    llvm::ArrayRef<plan::AxisRefAttr> axes = sharding.getDims()[dim].getAxes();
    bool hasParts = std::uniform_int_distribution<int>(0, 3)(random) == 0;
    DimPart whole = drawPart(shape[dim]);
    sharding = sharding.withDim(
        dim, hasParts ? divideDim(shape[dim], axes, mesh, 1, {drawPart(8), drawPart(12), drawPart(shape[dim] - 20)})
                      : divideDim(shape[dim], axes, mesh, whole.unit, {}, whole.repeat));
  }
  return sharding;
}

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_SHARDING_DRAW_SHARDINGS_H
