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
/// returns the backward calls of the gradients, one per line, and the gradient of each operand. Operands are a, b, ..,
/// results r (or r0, r1, ..), their gradients g (or g0, ..), calls %0, ..:
///
///   %0 = aten.mul.Tensor(other b, self g): 4x6xf32
///   a: %0
///
/// Results whose type ends with `!` have no gradient. Every call of a rule must match its record, and every gradient
/// must have its operand's type.
class DeriveTest : public PlanText {
protected:
  /// All floating-point operands need a gradient.
  std::string derive(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types);
  /// Only these operands do.
  std::string deriveOnly(llvm::ArrayRef<unsigned> wanted, llvm::StringRef target, llvm::StringRef args,
                         llvm::StringRef types);

  /// A derivation of a call in the module `owner`, with the same arguments as above.
  std::unique_ptr<Derivation> begin(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types,
                                    std::optional<llvm::ArrayRef<unsigned>> wanted = std::nullopt);
  /// The given gradients, as text.
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
