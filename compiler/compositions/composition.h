//===- composition.h - a call over a divided dim as several -----*- C++ -*-===//
//
// Some operators need all of a dim, and follow from a few numbers of each part
// of it: a softmax from maximum and sum. A composition computes such a call by
// calls that can be divided over the dim, of which these numbers are reduced.
// It says nothing of layouts: propagation decides those of the calls that it
// makes as of any other. Owns nothing; calls are created in the IR.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_COMPOSITIONS_COMPOSITION_H
#define MESHPLAN_COMPILER_COMPOSITIONS_COMPOSITION_H

#include "compiler/derivatives/arithmetic.h"
#include <map>

namespace meshplan {

/// What calls know of the rows of a value, such as their maxima, by the name of what it is, the value and its dims. Of
/// one function, where calls before others are composed first.
using KnownNumbers = std::map<std::tuple<std::string, void *, std::vector<int64_t>>, mlir::Value>;

/// What a composition sees of a call, and how it replaces its results. Shapes of values are global.
class Composition {
public:
  /// `known` is that of the function, and grows.
  Composition(plan::CallOp call, plan::MeshOp mesh, KnownNumbers &known)
      : call(call), view(CallView::of(call)), mesh(mesh), known(known) {}

  const CallView &getView() const { return view; }
  plan::MeshOp getMesh() const { return mesh; }

  /// The tensor argument of this name, or null if it is absent, None or a literal.
  mlir::Value operand(llvm::StringRef name) const;
  /// A list of tensors; null is None.
  llvm::SmallVector<mlir::Value> operands(llvm::StringRef name) const;
  mlir::Value result(unsigned index = 0) const { return call.getResult(index); }

  /// A call that stands before the composed one. The text of `target` must live until it is built.
  CallBuilder make(llvm::StringRef target) const { return CallBuilder(target, call); }
  Arithmetic math() const;

  /// A 16-bit float in f32, so that the results are rounded once; any other value as it is.
  mlir::Value wide(mlir::Value value) const;

  /// The number named `what` of `value` along `dims`: what a call before has made, or else `compute`.
  mlir::Value know(llvm::StringRef what, mlir::Value value, llvm::ArrayRef<int64_t> dims,
                   llvm::function_ref<mlir::Value()> compute) const;

  /// A reduction of `value` that keeps its dims: aten.amax, aten.sum.dim_IntList, ...
  mlir::Value reduce(llvm::StringRef target, mlir::Value value, llvm::ArrayRef<int64_t> dims) const;

  /// The numbers of the elements of a dim of this size, as a tensor of one dim.
  mlir::Value places(int64_t size) const;

  /// Replaces a result by a value with as many elements, which gets its shape and type.
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
