//===- factor_rule.h - dims of an operator divided together -----*- C++ -*-===//
//
// A factor is an index of the einsum that an operator computes. Every dim of
// every operand and result is a list of factors, major to minor. A list of two
// or more comes from a reshape (heads x head size); an empty list is a dim of
// size 1 that broadcasts. A dim may also be a concatenation of factors: the
// input of a split, or the result of a concatenation. Dividing a factor divides
// every dim that contains it. The idea is Shardy's OpShardingRuleAttr and
// GSPMD's einsum view.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_FACTOR_RULE_H
#define MESHPLAN_COMPILER_SHARDING_FACTOR_RULE_H

#include "dialect/plan/plan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <string>

namespace meshplan {

/// How dividing a factor affects the results.
enum class FactorKind {
  parallel, ///< in results (and perhaps operands): ranks compute different elements
  sum,      ///< only in operands: the results become partial sums
  max,      ///< only in operands: the results become partial maxima
  whole,    ///< cannot be divided: a rank needs all of it
};

struct Factor {
  int64_t size = 1;
  FactorKind kind = FactorKind::parallel;
  int64_t unit = 1; ///< elements of a block of the factor, which is never cut
  /// The operator identifies elements by their index, and each rank is told the index of its first element. A shard
  /// must therefore be one contiguous range, and the factor cannot be divided part by part.
  bool isCounted = false;
};

struct TensorFactors {
  /// Indices into FactorRule::factors for each dim: major to minor, or in order of concatenation if the dim is joined.
  llvm::SmallVector<llvm::SmallVector<unsigned, 1>, 4> dims;
  /// The dims that are concatenations of their factors; few tensors have one.
  llvm::SmallVector<unsigned, 1> joined;
  /// Dims whose indices are shared, and how many indices of their only factor share each index. For example, a dim of
  /// key heads has the factor of the query heads.
  llvm::SmallVector<std::pair<unsigned, int64_t>, 1> shared;

  bool isJoined(unsigned dim) const { return llvm::is_contained(joined, dim); }
  /// Number of indices of the dim's factor for each index of the dim; 1 except for dims in `shared`.
  int64_t sharers(unsigned dim) const {
    for (auto [index, count] : shared)
      if (index == dim)
        return count;
    return 1;
  }
};

struct FactorRule {
  llvm::SmallVector<Factor, 8> factors;
  llvm::SmallVector<TensorFactors, 3> operands;
  llvm::SmallVector<TensorFactors, 1> results;

  /// Adds a factor and returns its index.
  unsigned add(int64_t size, FactorKind kind = FactorKind::parallel, int64_t unit = 1) {
    factors.push_back({size, kind, unit});
    return factors.size() - 1;
  }

  /// Position in a dim, major to minor, of the first factor with more than one index; the number of factors if there is
  /// none.
  size_t majorFactorIndex(llvm::ArrayRef<unsigned> dim) const {
    return llvm::find_if(dim, [&](unsigned factor) { return factors[factor].size != 1; }) - dim.begin();
  }

  /// Number of elements of a dim for each index of the factor at `position`.
  int64_t sizeBelow(llvm::ArrayRef<unsigned> dim, size_t position) const {
    int64_t below = 1;
    for (size_t next = position + 1; next < dim.size(); ++next)
      below *= factors[dim[next]].size;
    return below;
  }

  /// The factors that some dim joins with `factor`, including itself. They are divided together.
  llvm::SmallVector<unsigned> siblings(unsigned factor) const;

  /// The error of a rule for tensors of these types, or nullopt. Errors are: the factors of a dim do not multiply to
  /// its size; a factor is out of range or occurs twice in a tensor; a `sum` or `max` factor is in a result or in no
  /// operand; a `parallel` factor is in no result; a factor is not a whole number of blocks.
  std::optional<std::string> findFault(llvm::ArrayRef<mlir::RankedTensorType> operandTypes,
                                       llvm::ArrayRef<mlir::RankedTensorType> resultTypes) const;

  /// Fails with the error of findFault, if there is one.
  mlir::LogicalResult verify(llvm::ArrayRef<mlir::RankedTensorType> operandTypes,
                             llvm::ArrayRef<mlir::RankedTensorType> resultTypes,
                             llvm::function_ref<mlir::InFlightDiagnostic()> emitError) const;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_FACTOR_RULE_H
