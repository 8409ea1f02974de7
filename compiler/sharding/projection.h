//===- projection.h - from dims to factors and back -------------*- C++ -*-===//
//
// An operator divides factors; a tensor divides dims. These functions convert
// between the two: projectToFactors distributes the axes of a tensor's dims
// over its factors, and projectToDims combines the divisions of factors into a
// sharding of a tensor. Propagation projects an operand to factors and the
// factors to the results.
//
// Example: the view [4, 96, 576] -> [4, 96, 9, 64] on a mesh dp = 2, tp = 3 has
// the factors b = 4, s = 96, h = 9, d = 64. The operand has the dims [b][s][h
// d], the result [b][s][h][d].
//
//   operand  [{dp}, {}, {tp}]        576 / 3 = 192 = 3 heads of 64
//   factors  b: {dp}  h: {tp}        tp divides 9, so h takes all of it
//   result   [{dp}, {}, {tp}, {}]
//
// The rules for a dim of several factors, by example (mesh two = 2, four = 4):
//
//   dim        factors  over      becomes
//   512        8 * 64   two four  first factor {two, four}: one index each
//   128        2 * 64   four      four is cut: first factor "four":(1)2,
//                                 second factor "four":(2)2
//   576        9 * 64   two       does not fit: 288 elements would cut a head
//   576        9 * 64   two       first factor {two}: 5 and 4 heads
//   unit 64
//   96 parts   3 * 8    four      second factor {four}: the first factor counts
//   [32,32,32] * 4                the parts, which are divided alike
//
// Back in dims, a division of the second factor alone can be expressed only in
// the last case, and only if the tensor arrives with these parts: otherwise the
// shards would not be contiguous.
//
// Pure and thread safe.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_PROJECTION_H
#define MESHPLAN_COMPILER_SHARDING_PROJECTION_H

#include "compiler/sharding/axes.h"
#include "compiler/sharding/factor_rule.h"

namespace meshplan {

/// How a factor is divided: the axes, major to minor, and either block size (`unit`) and repeat count of the blocks, or
/// the parts of the factor, each with blocks of its own. The block size is 1 where every shard has the same number of
/// blocks.
struct FactorDivision {
  AxisList axes;
  int64_t unit = 1;
  llvm::SmallVector<DimPart, 3> parts;
  int64_t repeat = 1;

  bool operator==(const FactorDivision &) const = default;
  /// True if neighbouring shards may hold the same block.
  bool isShared() const {
    return repeat != 1 || llvm::any_of(parts, [](const DimPart &part) { return part.repeat != 1; });
  }
};

/// True if the factor is a single block that every shard holds. Such a factor is not really divided.
bool isSingleSharedBlock(const FactorDivision &division, const Factor &factor, plan::MeshOp mesh);

/// One for each factor of a rule.
using FactorDivisions = llvm::SmallVector<FactorDivision, 8>;

/// The sharding of a dim that consists of this factor alone.
plan::DimShardingAttr toDimSharding(const FactorDivision &division, const Factor &factor, plan::MeshOp mesh);

/// The same division with the canonical block size. Without axes it has nothing else.
FactorDivision canonical(const FactorDivision &division, const Factor &factor, plan::MeshOp mesh);

/// An axis of a dim that cannot be given whole to its factors.
struct Misfit {
  unsigned dim = 0;
  unsigned factor = 0;
  int64_t factorSize = 0; ///< undivided rest of the factor
  plan::AxisRefAttr axis; ///< the axis that does not fit
};

struct Projection {
  FactorDivisions factors;
  /// The first axis that did not fit. This axis and the axes minor to it are not in `factors`.
  std::optional<Misfit> misfit;
  /// The first axis that was split into digits because a factor is smaller than the axis.
  std::optional<Misfit> cut;
};

/// Distributes the axes of each dim of a tensor over the factors of the dim, major to minor. An axis goes to the most
/// major factor that is not yet divided into single indices; it is split into digits where it exceeds the rest of a
/// factor by a whole multiple.
///
/// In a dim whose shards differ in size, the axes that leading factors do not take go to one factor; the block size of
/// the dim must be a multiple of one index of this factor (heads are not cut). If the dim has equal parts, one for each
/// index of its leading factors, the axes go to the factors below these. Other parts must consist of whole indices of
/// the leading factor and become parts of that factor; a factor with counted elements takes no parts.
Projection projectToFactors(plan::ShardingAttr sharding, const TensorFactors &tensor, const FactorRule &rule,
                            plan::MeshOp mesh);

/// The sharding of a tensor with these divisions; it is not partial. A minor factor can be divided only if the more
/// major factors are divided into single indices, and only the leading factor can be divided part by part.
/// `inexpressible` receives the factors that violate this.
///
/// Parts of an `arriving` tensor are kept. Where it has equal parts, more major factors may count them and stay
/// undivided: [3 * 4 heads] in three parts is [3, 4 heads] divided in the second dim. Equal parts of a leading factor
/// with minor factors are kept only then: [8 * 2] in two parts is [8 in two parts, 2].
plan::ShardingAttr projectToDims(const FactorDivisions &divisions, const TensorFactors &tensor, const FactorRule &rule,
                                 plan::MeshOp mesh, llvm::SmallVectorImpl<unsigned> *inexpressible = nullptr,
                                 plan::ShardingAttr arriving = {});

/// The layout for tensor `to` of the rule that corresponds to `sharding` of tensor `from`. Answers how a consumer of
/// one tensor prefers another tensor to be laid out.
plan::ShardingAttr transferLayout(plan::ShardingAttr sharding, const TensorFactors &from, const TensorFactors &to,
                                  const FactorRule &rule, plan::MeshOp mesh);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_PROJECTION_H
