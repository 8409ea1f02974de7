//===- composition.h - a call over a divided dim as several -----*- C++ -*-===//
//
// Some operators need a whole dim although a few numbers per row are enough to compute them from parts of the row: a
// softmax needs the maximum and the sum of exponentials. A composition rewrites such a call into calls that can be
// split over the dim; only the numbers per row are reduced over ranks.
//
// Example: softmax over a vocabulary of 8 that is split over 2 ranks, for one row. A gather would move 8 elements.
//
//   x          f32[8 over tp]   rank 0: x0..x3        rank 1: x4..x7
//   m = amax   f32[1]           max of 4 elements     max of 4 elements    then all-reduce (max) of 1 number
//   e = exp(x - m)              4 elements            4 elements           no communication
//   s = sum(e) f32[1]           sum of 4 elements     sum of 4 elements    then all-reduce (sum) of 1 number
//   y = e / s                   y0..y3                y4..y7               no communication
//
// A composition does not decide layouts: propagation decides those of the new calls as of any others, and inserts the
// two all-reduces. Owns nothing; calls are created in the IR.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_COMPOSITIONS_COMPOSITION_H
#define MESHPLAN_COMPILER_COMPOSITIONS_COMPOSITION_H

#include "compiler/derivatives/arithmetic.h"
#include <map>

namespace meshplan {

/// Numbers per row that earlier calls of the function have already computed, such as the maxima of a value. The key is
/// the kind of number, the value and its dims. Earlier calls are composed first, so an entry dominates its later uses.
using KnownNumbers = std::map<std::tuple<std::string, void *, std::vector<int64_t>>, mlir::Value>;

/// The interface of a rule to the call that it rewrites. Shapes of values are global.
class Composition {
public:
  /// `known` belongs to the function; new numbers are added to it.
  Composition(plan::CallOp call, plan::MeshOp mesh, KnownNumbers &known)
      : call(call), view(CallView::of(call)), mesh(mesh), known(known) {}

  const CallView &getView() const { return view; }
  plan::MeshOp getMesh() const { return mesh; }

  /// The tensor argument of this name, or null if it is absent, None or a literal.
  mlir::Value operand(llvm::StringRef name) const;
  /// A list of tensors; null is None.
  llvm::SmallVector<mlir::Value> operands(llvm::StringRef name) const;
  mlir::Value result(unsigned index = 0) const { return call.getResult(index); }

  /// Begins a call before the composed one. The text of `target` must live until the call is built.
  CallBuilder make(llvm::StringRef target) const { return CallBuilder(target, call); }
  Arithmetic math() const;

  /// Converts a 16-bit float to f32, so that the results are rounded once; returns any other value unchanged.
  mlir::Value wide(mlir::Value value) const;

  /// The numbers of kind `what` of `value` along `dims`: those that an earlier call has computed, or else `compute()`.
  mlir::Value know(llvm::StringRef what, mlir::Value value, llvm::ArrayRef<int64_t> dims,
                   llvm::function_ref<mlir::Value()> compute) const;

  /// A reduction of `value` that keeps its dims: aten.amax, aten.sum.dim_IntList, ...
  mlir::Value reduce(llvm::StringRef target, mlir::Value value, llvm::ArrayRef<int64_t> dims) const;

  /// The indices of a dim of this size, 0 to size - 1, as a tensor of one dim. Split like the dim, it tells each rank
  /// which indices it holds.
  mlir::Value indices(int64_t size) const;

  /// Replaces a result by a value with the same number of elements, reshaped and converted to the result's type.
  void give(unsigned result, mlir::Value value);
  void give(mlir::Value value) { give(0, value); }

private:
  mutable plan::CallOp call; ///< a handle, whose accessors are not const
  CallView view;
  plan::MeshOp mesh;
  KnownNumbers &known;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_COMPOSITIONS_COMPOSITION_H
