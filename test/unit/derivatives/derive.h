//===- derive.h - derivative rules as text ----------------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_DERIVATIVES_DERIVE_H
#define MESHPLAN_TEST_UNIT_DERIVATIVES_DERIVE_H

#include "compiler/derivatives/derivation.h"
#include "test/unit/dialect/plan_text.h"

namespace meshplan {

/// A fixture that runs the rule of one call.
///
///   derive("aten.mul.Tensor", "self = $0, other = $1", "4x6xf32, 6xf32 -> 4x6xf32")
///
/// gives the backward calls that the gradients need, one a line, and what each operand gets. Operands are a, b, ..,
/// results r (or r0, r1, ..), their gradients g (or g0, ..), calls %0, ..:
///
///   %0 = aten.mul.Tensor(other b, self g): 4x6xf32
///   a: %0
///
/// Results whose type ends with `!` have no gradient. Every call that a rule makes must have a record whose rule fits
/// it, and every gradient its operand's type.
class DeriveTest : public PlanText {
protected:
  /// All operands that are floats want a gradient.
  std::string derive(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types);
  /// These operands do.
  std::string deriveOnly(llvm::ArrayRef<unsigned> wanted, llvm::StringRef target, llvm::StringRef args,
                         llvm::StringRef types);

  /// A derivation of a call that is read as above, in the module `owner`.
  std::unique_ptr<Derivation> begin(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types,
                                    std::optional<llvm::ArrayRef<unsigned>> wanted = std::nullopt);
  /// What was given, as text.
  std::string describe(const Derivation &derivation);

private:
  std::string nameOf(mlir::Value value) const;
  std::string textOf(mlir::Attribute argument, plan::CallOp call) const;
  std::string lineOf(plan::CallOp call, unsigned &count);
  void checkCall(plan::CallOp call);

  llvm::SmallVector<mlir::Value> gradients;
  llvm::DenseMap<mlir::Value, std::string> names;
};

/// Arguments of an operator of two operands.
inline constexpr char both[] = "self = $0, other = $1";

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_DERIVATIVES_DERIVE_H
