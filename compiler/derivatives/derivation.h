//===- derivation.h - the backward calls of one call ------------*- C++ -*-===//
//
// The interface of a derivative rule to the call that it differentiates, and to the gradients that it creates. Owns
// nothing; calls are created in the IR.
//
// Example: y = aten.mul.Tensor(self: f32[2, 3], other: f32[3]), with the gradient g of y. The rule says
//
//   give("self",  math.mul(g, other))
//   give("other", math.mul(g, self))
//
// and creates two calls of aten.mul.Tensor. Because `other` was broadcast, give() adds a sum over dim 0 to its
// gradient. A rule does not create calls for operands that need no gradient (wants()).
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_DERIVATIVES_DERIVATION_H
#define MESHPLAN_COMPILER_DERIVATIVES_DERIVATION_H

#include "compiler/sharding/op_record.h"
#include "dialect/plan/call_builder.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

namespace meshplan {

/// Shapes of values are global. A value that a rule creates has no sharding yet.
class Derivation {
public:
  /// `gradients` has one entry for each result, null where the loss does not depend on the result; at least one is not
  /// null. `wanted` tells which operands need a gradient. Calls are created at the insertion point of `builder`.
  Derivation(plan::CallOp call, llvm::ArrayRef<mlir::Value> gradients, llvm::BitVector wanted,
             const mlir::OpBuilder &builder)
      : call(call), view(CallView::of(call)), gradients(gradients), wanted(std::move(wanted)), builder(builder) {}

  //===--------------------------------------------------------------------===//
  // The call
  //===--------------------------------------------------------------------===//

  plan::CallOp getCall() const { return call; }
  const CallView &getView() const { return view; }

  /// The tensor argument of this name, or null if it is absent, None or a literal.
  mlir::Value operand(llvm::StringRef name) const;
  mlir::Value result(unsigned index = 0) const { return call.getResult(index); }
  /// The gradient of a result, or null.
  mlir::Value gradient(unsigned result = 0) const { return gradients[result]; }
  /// The gradient of a result; zeros if it has none.
  mlir::Value gradientOrZeros(unsigned result) const;

  /// True if a gradient of this argument is needed.
  bool wants(llvm::StringRef name) const;
  bool wants(unsigned operand) const { return wanted[operand]; }

  //===--------------------------------------------------------------------===//
  // Results of the rule
  //===--------------------------------------------------------------------===//

  /// Adds a gradient, or one addend of it, for an argument if it needs one. The gradient is fitted to the argument:
  /// dims along which the argument was broadcast are summed, missing broadcasts are expanded, and the dtype is
  /// restored.
  void give(llvm::StringRef name, mlir::Value gradient);
  void give(unsigned operand, mlir::Value gradient) { give(call.getOperand(operand), gradient); }

  /// The same for a value before the operands in the graph, whose gradient the rule knows directly.
  void give(mlir::Value value, mlir::Value gradient);

  /// The gradient of an argument that needs one is zero everywhere, as PyTorch defines for rounding. No addition is
  /// created.
  void giveZeros(llvm::StringRef name);

  /// The values that giveZeros() was called for.
  llvm::ArrayRef<mlir::Value> getZeros() const { return zeros; }

  /// The sum of all given gradients, for each value.
  const llvm::MapVector<mlir::Value, mlir::Value> &getGiven() const { return given; }

  /// States that there is no derivative, and why. This is an error at the call: parameters that the loss reaches
  /// through it cannot be trained.
  void refuse(const llvm::Twine &why) { refusal = why.str(); }
  /// Empty if the rule has not refused.
  llvm::StringRef getRefusal() const { return refusal; }

  /// Begins a backward call. The text of `target` must live until the call is built.
  CallBuilder make(llvm::StringRef target) const { return CallBuilder::backward(target, call, builder); }

private:
  mutable plan::CallOp call; ///< a handle, whose accessors are not const
  CallView view;
  llvm::ArrayRef<mlir::Value> gradients;
  llvm::BitVector wanted;
  mlir::OpBuilder builder;
  llvm::MapVector<mlir::Value, mlir::Value> given;
  llvm::SmallVector<mlir::Value> zeros;
  std::string refusal;
};

/// The rule of an operator whose operands get no gradient.
inline void noGradient(Derivation &) {}

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DERIVATIVES_DERIVATION_H
