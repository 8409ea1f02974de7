//===- rule_builder.h - builds a factor rule --------------------*- C++ -*-===//
//
// A record states which dims share a factor; every other dim becomes `whole`. A
// builder never reads beyond the call: tensors and dims that the call does not
// have are ignored. A call that does not fit its schema therefore ends as a
// rule that FactorRule::verify refuses, or that divides nothing.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_RULE_BUILDER_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_RULE_BUILDER_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// One dim of a tensor of the rule under construction. Valid as long as its builder.
struct DimRef {
  TensorFactors *tensor = nullptr; ///< null: the call has no such dim
  unsigned dim = 0;
  int64_t size = 1;
  bool ofResult = false;
};

/// A tensor of the rule under construction, or none. Valid as long as its builder.
class TensorRef {
public:
  TensorRef() = default;
  TensorRef(TensorFactors &factors, llvm::ArrayRef<int64_t> shape, bool ofResult)
      : factors(&factors), shape(shape), ofResult(ofResult) {}

  explicit operator bool() const { return factors; }
  int64_t getRank() const { return shape.size(); }
  /// A dim; negative numbers count from the end.
  DimRef operator[](int64_t dim) const;

private:
  TensorFactors *factors = nullptr;
  llvm::ArrayRef<int64_t> shape;
  bool ofResult = false;
};

class RuleBuilder {
public:
  /// `call` must outlive the builder.
  explicit RuleBuilder(const CallView &call);
  RuleBuilder(const RuleBuilder &) = delete;
  RuleBuilder &operator=(const RuleBuilder &) = delete;

  /// The tensor argument of this name; none if it is absent, None or a literal.
  TensorRef operand(llvm::StringRef name) { return operand(call.getOperand(name)); }
  TensorRef operand(std::optional<unsigned> index);
  TensorRef result(unsigned index = 0);

  /// Gives all these dims one factor. Dims of size 1 get no factor (they broadcast). If two sizes differ, or a parallel
  /// factor would be in no result, nothing is tied and the dims end as `whole`.
  void tie(llvm::ArrayRef<DimRef> dims, FactorKind kind = FactorKind::parallel);

  /// Ties the dims of all operands and results, aligned at the last dim, except for the result dims in `except` (each
  /// >= 0).
  void tieAligned(llvm::ArrayRef<int64_t> except = {});

  /// Adds a factor without dims; `append` gives it to dims.
  unsigned add(int64_t size, FactorKind kind = FactorKind::parallel) { return rule.add(size, kind); }
  /// Adds a factor to a dim, minor to those that it has.
  void append(DimRef dim, unsigned factor);

  /// Marks the factors of the dim as counted: the operator identifies elements by their index (Factor::isCounted).
  void count(DimRef dim);

  /// Gives a dim the factor; `count` indices of the factor share each index of the dim.
  void share(DimRef dim, unsigned factor, int64_t count);

  /// Makes `whole` the concatenation of `pieces`, one dim of each of several tensors, each with a factor of its own.
  /// Pieces without elements get none; a single piece with elements is tied to `whole`.
  void join(DimRef whole, llvm::ArrayRef<DimRef> pieces);

  /// The finished rule. The builder must not be used afterwards.
  FactorRule finish();

private:
  const CallView &call;
  FactorRule rule;
};

/// The rule of operators that keep every dim: the dims of all tensors are tied, aligned at the last one.
FactorRule alignedRule(const CallView &call);

/// The rule of operators that allow no dim to be divided.
FactorRule undividedRule(const CallView &call);

/// The rule of operators that need the dim of their argument `dim` whole and keep all others.
FactorRule wholeDimRule(const CallView &call, int64_t defaultDim);
template <int64_t DefaultDim> FactorRule wholeDimRule(const CallView &call) { return wholeDimRule(call, DefaultDim); }

/// `dim` as an index from 0, or -1 if the rank has no such dim. A scalar has one dim, as in PyTorch.
int64_t normalizeDim(int64_t dim, int64_t rank);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_RULE_BUILDER_H
