//===- factor_rule.h - which dims of an operator move together --*- C++ -*-===//
//
// A factor is an index of the einsum that an operator computes. Every dim of
// every operand and result is a list of factors, major to minor; a list of two
// or more is a dim that a reshape made (heads x head size), an empty list a dim
// of size 1 that broadcasts. A dim may instead be factors joined end to end: what
// a split takes apart and a concatenation puts together. Dividing a factor
// divides every dim in which it is. The idea is Shardy's OpShardingRuleAttr and GSPMD's einsum view.
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

/// What dividing a factor does to the results.
enum class FactorKind {
  parallel, ///< in results (and perhaps operands): ranks work on separate elements
  sum,      ///< only in operands: the results become partial sums
  max,      ///< only in operands: the results become partial maxima
  whole,    ///< cannot be divided: the operator needs all of it on one rank
};

struct Factor {
  int64_t size = 1;
  FactorKind kind = FactorKind::parallel;
  int64_t unit = 1; ///< elements of the factor that are never cut apart
  /// The operator knows the elements by their number, of which a rank is told the first: a shard is one run of them,
  /// so that the factor cannot be divided part by part.
  bool isCounted = false;
};

struct TensorFactors {
  /// Indices into FactorRule::factors for each dim, major to minor, or in order if the dim is joined.
  llvm::SmallVector<llvm::SmallVector<unsigned, 1>, 4> dims;
  /// The dims whose factors lie end to end; few tensors have one.
  llvm::SmallVector<unsigned, 1> joined;
  /// Dims, and how many indices of their one factor share each of theirs: key heads of the factor of query heads.
  llvm::SmallVector<std::pair<unsigned, int64_t>, 1> shared;

  bool isJoined(unsigned dim) const { return llvm::is_contained(joined, dim); }
  /// Indices of the dim's factor for each index of the dim; 1 but for the dims in `shared`.
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

  /// The place in a dim, major to minor, of the first factor that has more than one index; behind the last if none has.
  size_t majorPlace(llvm::ArrayRef<unsigned> dim) const {
    return llvm::find_if(dim, [&](unsigned factor) { return factors[factor].size != 1; }) - dim.begin();
  }

  /// How many elements of a dim lie below each index of the factor at `place`.
  int64_t sizeBelow(llvm::ArrayRef<unsigned> dim, size_t place) const {
    int64_t below = 1;
    for (size_t next = place + 1; next < dim.size(); ++next)
      below *= factors[dim[next]].size;
    return below;
  }

  /// The factors that one dim joins with `factor`, itself among them; only itself if none does. They are divided
  /// together.
  llvm::SmallVector<unsigned> siblings(unsigned factor) const;

  /// What is wrong with the rule for tensors of these types, or nullopt: a dim's factors do not make its size, a
  /// factor is out of range or twice in a tensor, a `sum` or `max` factor is in a result or in no operand, a `parallel`
  /// factor is in no result, or a factor does not consist of whole units.
  std::optional<std::string> findFault(llvm::ArrayRef<mlir::RankedTensorType> operandTypes,
                                       llvm::ArrayRef<mlir::RankedTensorType> resultTypes) const;

  /// Fails with the fault, if there is one.
  mlir::LogicalResult verify(llvm::ArrayRef<mlir::RankedTensorType> operandTypes,
                             llvm::ArrayRef<mlir::RankedTensorType> resultTypes,
                             llvm::function_ref<mlir::InFlightDiagnostic()> emitError) const;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_FACTOR_RULE_H
