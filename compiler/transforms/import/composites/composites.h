//===- composites.h - operators that are several others ---------*- C++ -*-===//
//
// ATen computes some operators by calling others (kron, tensordot, meshgrid).
// The importer makes these of them, so that records, derivatives and styles need
// to know the others only.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_COMPOSITES_COMPOSITES_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_COMPOSITES_COMPOSITES_H

#include "compiler/derivatives/arithmetic.h"

namespace meshplan {

/// Replaces a call of such an operator by calls of others that have records. False, and nothing done, for all other
/// calls, and for forms that it does not know.
bool splitComposite(plan::CallOp call);

/// A call that is to be replaced, and what rules make in its place: calls before it, of its module. Nothing is made
/// where nothing is to be done.
class Composite {
public:
  explicit Composite(plan::CallOp call)
      : call(call), view(CallView::of(call)),
        math([call](llvm::StringRef target) { return CallBuilder(target, call); }) {}

  const CallView &getView() const { return view; }
  /// The tensor argument of this name, or null.
  mlir::Value operand(llvm::StringRef name) const;
  /// A list of tensors; empty if one of them is None.
  llvm::SmallVector<mlir::Value> operands(llvm::StringRef name) const;
  /// True if only the first result is read.
  bool readsFirstOnly() const;
  llvm::ArrayRef<int64_t> resultShape(unsigned index = 0) const { return view.results[index].getShape(); }
  mlir::Type resultElement() const { return view.results.front().getElementType(); }

  /// The text of `target` must live until the call is built.
  CallBuilder make(llvm::StringRef target) const { return CallBuilder(target, call); }
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape) const { return math.reshape(value, shape); }
  mlir::Value expand(mlir::Value value, llvm::ArrayRef<int64_t> shape) const { return math.expand(value, shape); }
  mlir::Value convert(mlir::Value value, mlir::Type element) const { return math.convert(value, element); }
  mlir::Value concatenate(llvm::ArrayRef<mlir::Value> values, int64_t dim) const;
  /// An operator of `self` and `other` that broadcast to `shape`.
  mlir::Value binary(llvm::StringRef target, mlir::Value self, mlir::Value other, llvm::ArrayRef<int64_t> shape) const;
  mlir::Value einsum(llvm::StringRef equation, llvm::ArrayRef<mlir::Value> tensors,
                     llvm::ArrayRef<int64_t> shape) const;
  /// beta * self + alpha * product, by broadcasting; `self` is not read where beta is 0.
  mlir::Value addScaled(mlir::Value self, mlir::Value product) const;

private:
  plan::CallOp call;
  CallView view;
  Arithmetic math;
};

/// Gives a value for each result that is read, null for others; or none at all.
using CompositeRule = llvm::SmallVector<mlir::Value> (*)(const Composite &);

// By family: operators that move and join elements, products, functions of elements, and sums of rows of a table.
void addShapeComposites(llvm::StringMap<CompositeRule> &table);
void addProductComposites(llvm::StringMap<CompositeRule> &table);
void addFunctionComposites(llvm::StringMap<CompositeRule> &table);
void addLookupComposites(llvm::StringMap<CompositeRule> &table);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_COMPOSITES_COMPOSITES_H
