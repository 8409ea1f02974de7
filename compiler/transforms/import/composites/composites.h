//===- composites.h - operators composed of others --------------*- C++ -*-===//
//
// ATen computes some operators by calling others (kron, tensordot, meshgrid).
// The importer replaces them by these, so that records, derivatives and styles
// need to support only the others.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_COMPOSITES_COMPOSITES_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_COMPOSITES_COMPOSITES_H

#include "compiler/derivatives/arithmetic.h"

namespace meshplan {

/// Replaces a call of such an operator by calls with records. Changes nothing for all other calls, and for unsupported
/// forms. Fails, with an error, if a tensor has a number of dims that the operator does not take, or if the type of a
/// result does not follow from the arguments.
mlir::LogicalResult splitComposite(plan::CallOp call);

/// A call to be replaced. Rules create the new calls before it, in the same module. A rule that does not apply creates
/// nothing.
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

  /// The text of `target` must outlive the call to build().
  CallBuilder make(llvm::StringRef target) const { return CallBuilder(target, call); }
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape) const { return math.reshape(value, shape); }
  mlir::Value expand(mlir::Value value, llvm::ArrayRef<int64_t> shape) const { return math.expand(value, shape); }
  mlir::Value convert(mlir::Value value, mlir::Type element) const { return math.convert(value, element); }
  mlir::Value concatenate(llvm::ArrayRef<mlir::Value> values, int64_t dim) const;
  /// An operator on `self` and `other`, which broadcast to `shape`.
  mlir::Value binary(llvm::StringRef target, mlir::Value self, mlir::Value other, llvm::ArrayRef<int64_t> shape) const;
  mlir::Value einsum(llvm::StringRef equation, llvm::ArrayRef<mlir::Value> tensors,
                     llvm::ArrayRef<int64_t> shape) const;
  /// beta * self + alpha * product, with broadcasting; `self` is not read if beta is 0.
  mlir::Value addScaled(mlir::Value self, mlir::Value product) const;

private:
  plan::CallOp call;
  CallView view;
  Arithmetic math;
};

/// The number of dims of an argument, of each tensor of a list, or, if `name` is empty, of the first result.
struct CompositeRank {
  llvm::StringLiteral name;
  int64_t least, most;
};

struct CompositeRule {
  /// Returns a value for each result that is read and null for the others, or an empty list if the rule does not apply.
  using Apply = llvm::SmallVector<mlir::Value> (*)(const Composite &);

  CompositeRule(Apply apply = nullptr, std::initializer_list<CompositeRank> ranks = {}) : apply(apply), ranks(ranks) {}

  Apply apply;
  /// Checked before `apply`, which may then index these dims: the shapes of an archive are input.
  llvm::SmallVector<CompositeRank, 3> ranks;
};

// By family: operators that move and join elements, products, elementwise functions, and sums of rows of a table.
void addShapeComposites(llvm::StringMap<CompositeRule> &table);
void addProductComposites(llvm::StringMap<CompositeRule> &table);
void addFunctionComposites(llvm::StringMap<CompositeRule> &table);
void addLookupComposites(llvm::StringMap<CompositeRule> &table);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_COMPOSITES_COMPOSITES_H
