//===- arithmetic.h - arithmetic of derivatives -----------------*- C++ -*-===//
//
// Creates calls for a derivation, or for other code that passes a Maker. Dims of size 1 broadcast and element types
// are promoted as in PyTorch. No call is created where the result equals the operand.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_DERIVATIVES_ARITHMETIC_H
#define MESHPLAN_COMPILER_DERIVATIVES_ARITHMETIC_H

#include "compiler/derivatives/derivation.h"
#include <functional>

namespace meshplan {

class Arithmetic {
public:
  /// Begins a call of the given target. The text of the target must live until the call is built.
  using Maker = std::function<CallBuilder(llvm::StringRef)>;

  explicit Arithmetic(Maker make) : make(std::move(make)) {}
  /// `derivation` must outlive this.
  explicit Arithmetic(const Derivation &derivation)
      : make([&derivation](llvm::StringRef target) { return derivation.make(target); }) {}

  mlir::Value add(mlir::Value left, mlir::Value right) const { return binary("aten.add.Tensor", left, right); }
  mlir::Value sub(mlir::Value left, mlir::Value right) const { return binary("aten.sub.Tensor", left, right); }
  mlir::Value mul(mlir::Value left, mlir::Value right) const { return binary("aten.mul.Tensor", left, right); }
  mlir::Value div(mlir::Value left, mlir::Value right) const { return binary("aten.div.Tensor", left, right); }
  /// An elementwise operator of two tensors, `self` and `other`.
  mlir::Value binary(llvm::StringRef target, mlir::Value left, mlir::Value right) const;

  mlir::Value add(mlir::Value value, double number) const { return scalar("aten.add.Scalar", value, number); }
  mlir::Value mul(mlir::Value value, double number) const;
  mlir::Value pow(mlir::Value value, double exponent) const;
  mlir::Value neg(mlir::Value value) const { return unary("aten.neg.default", value); }
  /// An operator of one tensor, `self`, whose result has the same shape and type.
  mlir::Value unary(llvm::StringRef target, mlir::Value value) const;
  /// An operator of a tensor and a number, `other`.
  mlir::Value scalar(llvm::StringRef target, mlir::Value value, double number) const;

  /// A comparison; the result is boolean.
  mlir::Value compare(llvm::StringRef target, mlir::Value left, mlir::Value right) const;
  mlir::Value compare(llvm::StringRef target, mlir::Value value, double number) const;

  /// Indices of a dim of this size; negative ones count from the end and are made non-negative.
  mlir::Value fromFront(mlir::Value indices, int64_t size) const;

  /// `value` where the condition holds, else zero; dims of size 1 of either broadcast.
  mlir::Value keepWhere(mlir::Value condition, mlir::Value value) const;
  /// `value` where the condition does not hold, else zero.
  mlir::Value dropWhere(mlir::Value condition, mlir::Value value) const;

  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape) const;
  mlir::Value permute(mlir::Value value, llvm::ArrayRef<int64_t> order) const;
  /// Swaps the last two dims.
  mlir::Value transpose(mlir::Value value) const;
  /// Expands dims of size 1 to the sizes of `shape`.
  mlir::Value expand(mlir::Value value, llvm::ArrayRef<int64_t> shape) const;
  /// Converts the elements to another type.
  mlir::Value convert(mlir::Value value, mlir::Type element) const;

  /// The sum over some dims (no negative numbers), which are kept with size 1 if `keeps`.
  mlir::Value sum(mlir::Value value, llvm::ArrayRef<int64_t> dims, bool keeps) const;
  /// The sum over the dims along which a tensor of `shape` was broadcast to the value's shape.
  mlir::Value sumTo(mlir::Value value, llvm::ArrayRef<int64_t> shape) const;

  mlir::Value zerosLike(mlir::Value value) const;

private:
  Maker make;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_DERIVATIVES_ARITHMETIC_H
