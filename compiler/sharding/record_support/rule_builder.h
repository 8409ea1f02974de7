//===- rule_builder.h - writes a factor rule --------------------*- C++ -*-===//
//
// A record says which dims share a factor; every dim of which it says nothing
// becomes `whole`. A builder never reads beyond the call: a tensor or dim that
// the call does not have is ignored, so that a call which does not fit its
// schema ends as a rule that FactorRule::verify refuses or that divides nothing.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_RULE_BUILDER_H
#define MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_RULE_BUILDER_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// One dim of a tensor of the rule that is being built. Valid as long as its builder.
struct DimRef {
  TensorFactors *tensor = nullptr; ///< null: the call has no such dim
  unsigned dim = 0;
  int64_t size = 1;
  bool ofResult = false;
};

/// A tensor of the rule that is being built, or none. Valid as long as its builder.
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

  /// Gives all these dims one factor. Dims of size 1 stay without factor (they broadcast). If two sizes differ, or a
  /// parallel factor would be in no result, nothing is tied and the dims end as `whole`.
  void tie(llvm::ArrayRef<DimRef> dims, FactorKind kind = FactorKind::parallel);

  /// Ties the dims of all operands and results, aligned at the last dim, but for the result dims in `except`
  /// (0 <= dim).
  void tieAligned(llvm::ArrayRef<int64_t> except = {});

  /// Adds a factor that `append` then places.
  unsigned add(int64_t size, FactorKind kind = FactorKind::parallel) { return rule.add(size, kind); }
  /// Places a factor below those that the dim has.
  void append(DimRef dim, unsigned factor);

  /// Says that the operator knows the elements of the dim by their number (Factor::isCounted).
  void count(DimRef dim);

  /// Gives a dim the factor, of which `count` indices share each index of the dim.
  void share(DimRef dim, unsigned factor, int64_t count);

  /// Makes `whole` of the call the concatenation of `pieces`, one dim of each of other tensors, each with a factor.
  /// Pieces without elements have none; a single one with elements shares that of `whole`.
  void join(DimRef whole, llvm::ArrayRef<DimRef> pieces);

  /// The finished rule. The builder must not be used afterwards.
  FactorRule finish();

private:
  const CallView &call;
  FactorRule rule;
};

/// The rule of operators of which every dim passes: those of all tensors are tied, aligned at the last one.
FactorRule alignedRule(const CallView &call);

/// The rule of operators of which no dim may be divided.
FactorRule undividedRule(const CallView &call);

/// The rule of operators that need all of the dim which their argument `dim` names, and of which the others pass.
FactorRule wholeDimRule(const CallView &call, int64_t defaultDim);
template <int64_t DefaultDim> FactorRule wholeDimRule(const CallView &call) { return wholeDimRule(call, DefaultDim); }

/// `dim` as a number from 0, or -1 if the rank has no such dim. A scalar has a dim 0 of its own, as in PyTorch.
int64_t normalizeDim(int64_t dim, int64_t rank);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_RECORD_SUPPORT_RULE_BUILDER_H
