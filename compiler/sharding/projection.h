//===- projection.h - shardings of dims and axes of factors -----*- C++ -*-===//
//
// An operator divides factors, a tensor divides dims. These functions go from
// one to the other. Pure and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_PROJECTION_H
#define MESHPLAN_COMPILER_SHARDING_PROJECTION_H

#include "compiler/sharding/axes.h"
#include "compiler/sharding/factor_rule.h"

namespace meshplan {

/// How a factor is divided: by which axes, major to minor, and either how many of its elements are never cut apart (1
/// where every shard has the same whole number of units) and how often each unit counts, or its parts, which have units
/// of their own.
struct FactorDivision {
  AxisList axes;
  int64_t unit = 1;
  llvm::SmallVector<DimPart, 3> parts;
  int64_t repeat = 1;

  bool operator==(const FactorDivision &) const = default;
  /// True if neighbours may hold the same unit.
  bool isShared() const {
    return repeat != 1 || llvm::any_of(parts, [](const DimPart &part) { return part.repeat != 1; });
  }
};

/// True if each shard holds the one unit that the factor is: that is a factor which is not divided.
bool isHeldByAll(const FactorDivision &division, const Factor &factor, plan::MeshOp mesh);

/// One for each factor of a rule.
using FactorDivisions = llvm::SmallVector<FactorDivision, 8>;

/// The dim of a tensor that is this factor and nothing else.
plan::DimShardingAttr toDim(const FactorDivision &division, const Factor &factor, plan::MeshOp mesh);

/// The same with the canonical unit, and nothing but that where there are no axes.
FactorDivision canonical(const FactorDivision &division, const Factor &factor, plan::MeshOp mesh);

/// Why a dim's axes cannot be given to its factors.
struct ProjectionBlock {
  unsigned dim = 0;
  unsigned factor = 0;
  int64_t factorSize = 0; ///< what is left of the factor to divide
  plan::AxisRefAttr axis; ///< the axis that does not fit
};

struct Projection {
  FactorDivisions factors;
  /// The first axis that did not fit, and all that are minor to it, are left out of `factors`.
  std::optional<ProjectionBlock> block;
  /// The first axis that had to be cut into digits because a factor is smaller than it.
  std::optional<ProjectionBlock> cut;
};

/// Gives the axes of each dim of a tensor to the dim's factors, major to minor: an axis goes to the most major factor
/// that is not yet divided to 1, and is split into digits where it covers the rest of a factor exactly. A dim whose
/// shards differ in size gives what its leading factors do not take to one factor, of which its unit must be a multiple
/// of a single index: heads are not cut. A dim with equal parts, one for each index of its leading factors, divides
/// what is below these; other parts, of whole indices of the leading factor, are parts of that factor. A factor whose
/// elements are counted takes no parts.
Projection projectToFactors(plan::ShardingAttr sharding, const TensorFactors &tensor, const FactorRule &rule,
                            plan::MeshOp mesh);

/// The sharding of a tensor whose factors are divided so. Nothing is partial. A dim can be divided in a minor factor
/// only if its more major factors are divided to 1, and part by part only in its leading factor: `inexpressible`
/// receives the factors for which that fails. Where the tensor arrives with equal parts, more major factors that number
/// them stay whole: [3 * 4 heads] in three parts is [3, 4 heads] divided in the second dim. Equal parts of a factor
/// that others are minor to are kept where the tensor arrives with them: [8 * 2] in two parts is [8 in two parts, 2].
plan::ShardingAttr projectToDims(const FactorDivisions &divisions, const TensorFactors &tensor, const FactorRule &rule,
                                 plan::MeshOp mesh, llvm::SmallVectorImpl<unsigned> *inexpressible = nullptr,
                                 plan::ShardingAttr arriving = {});

/// The axes of `sharding` that belong to the same dims under another tensor of the rule: where a consumer of one tensor
/// would like the dims of another to be.
plan::ShardingAttr transferLayout(plan::ShardingAttr sharding, const TensorFactors &from, const TensorFactors &to,
                                  const FactorRule &rule, plan::MeshOp mesh);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_PROJECTION_H
