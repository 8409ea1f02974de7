//===- derivation.h - the backward calls of one call ------------*- C++ -*-===//
//
// What a derivative rule sees of a call, and how it makes the gradients of the
// call's operands. Owns nothing; calls are created in the IR.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_DERIVATIVES_DERIVATION_H
#define MESHPLAN_COMPILER_DERIVATIVES_DERIVATION_H

#include "compiler/sharding/op_record.h"
#include "dialect/plan/call_builder.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

namespace meshplan {

/// Shapes of values are global. A value that a rule makes has no sharding yet.
class Derivation {
public:
  /// `gradients` has one entry for each result, null where the loss does not depend on it; at least one is not null.
  /// `wanted` tells which operands need a gradient. Calls are made where `place` inserts.
  Derivation(plan::CallOp call, llvm::ArrayRef<mlir::Value> gradients, llvm::BitVector wanted,
             const mlir::OpBuilder &place)
      : call(call), view(CallView::of(call)), gradients(gradients), wanted(std::move(wanted)), place(place) {}

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
  // What the rule gives
  //===--------------------------------------------------------------------===//

  /// A gradient, or an addend of one, of an argument that has one, where it is wanted. Dims to which the argument was
  /// broadcast are summed, dims of size 1 that stand for all of its are expanded, and its dtype is restored.
  void give(llvm::StringRef name, mlir::Value gradient);
  void give(unsigned operand, mlir::Value gradient) { give(call.getOperand(operand), gradient); }

  /// The same for a value behind the operands, whose gradient the rule knows at once.
  void give(mlir::Value value, mlir::Value gradient);

  /// The gradient of an argument that is wanted is zero everywhere, as PyTorch says of rounding. Nobody has to add it.
  void giveZeros(llvm::StringRef name);

  /// The values whose gradients are zeros.
  llvm::ArrayRef<mlir::Value> getZeros() const { return zeros; }

  /// All that was given, by value, added up.
  const llvm::MapVector<mlir::Value, mlir::Value> &getGiven() const { return given; }

  /// Says that there is no derivative, and why; what the loss reaches through this call cannot be trained.
  void refuse(const llvm::Twine &why) { refusal = why.str(); }
  /// Empty if the rule has not refused.
  llvm::StringRef getRefusal() const { return refusal; }

  /// A backward call. The text of `target` must live until it is built.
  CallBuilder make(llvm::StringRef target) const { return CallBuilder::backward(target, call, place); }

private:
  mutable plan::CallOp call; ///< a handle, whose accessors are not const
  CallView view;
  llvm::ArrayRef<mlir::Value> gradients;
  llvm::BitVector wanted;
  mlir::OpBuilder place;
  llvm::MapVector<mlir::Value, mlir::Value> given;
  llvm::SmallVector<mlir::Value> zeros;
  std::string refusal;
};

/// The rule of an operator whose operands get no gradient.
inline void noGradient(Derivation &) {}

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DERIVATIVES_DERIVATION_H
