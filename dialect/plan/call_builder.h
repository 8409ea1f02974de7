//===- call_builder.h - builds calls beside others --------------*- C++ -*-===//

#ifndef MESHPLAN_DIALECT_PLAN_CALL_BUILDER_H
#define MESHPLAN_DIALECT_PLAN_CALL_BUILDER_H

#include "dialect/plan/module_runs.h"
#include "mlir/IR/Builders.h"

namespace meshplan {

/// Collects the arguments of a call. The call takes location and module from another call, `like`.
class CallBuilder {
public:
  /// A call that is inserted before `like`.
  CallBuilder(llvm::StringRef target, plan::CallOp like) : CallBuilder(target, like, mlir::OpBuilder(like)) {
    isBackward = like.getBackward();
  }

  /// A call of the forward or backward pass, as `like`, inserted where `where` points.
  static CallBuilder at(llvm::StringRef target, plan::CallOp like, const mlir::OpBuilder &where) {
    CallBuilder made(target, like, where);
    made.isBackward = like.getBackward();
    return made;
  }

  /// A call of the backward pass of `like`, inserted where `where` points.
  static CallBuilder backward(llvm::StringRef target, plan::CallOp like, const mlir::OpBuilder &where) {
    CallBuilder made(target, like, where);
    made.isBackward = true;
    return made;
  }

  CallBuilder &tensor(llvm::StringRef name, mlir::Value value) { return set(name, operand(value)); }
  /// A list of tensors; a null value is None.
  CallBuilder &tensors(llvm::StringRef name, llvm::ArrayRef<mlir::Value> values) {
    llvm::SmallVector<mlir::Attribute> items;
    for (mlir::Value value : values)
      items.push_back(value ? operand(value) : builder.getUnitAttr());
    return set(name, builder.getArrayAttr(items));
  }

  CallBuilder &integer(llvm::StringRef name, int64_t value) { return set(name, builder.getI64IntegerAttr(value)); }
  CallBuilder &number(llvm::StringRef name, double value) { return set(name, builder.getF64FloatAttr(value)); }
  CallBuilder &flag(llvm::StringRef name, bool value) { return set(name, builder.getBoolAttr(value)); }
  CallBuilder &text(llvm::StringRef name, llvm::StringRef value) { return set(name, builder.getStringAttr(value)); }
  CallBuilder &type(llvm::StringRef name, mlir::Type value) { return set(name, mlir::TypeAttr::get(value)); }
  CallBuilder &integers(llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
    return set(name, builder.getI64ArrayAttr(values));
  }
  CallBuilder &flags(llvm::StringRef name, llvm::ArrayRef<bool> values) {
    return set(name, builder.getBoolArrayAttr(values));
  }
  /// Copies an argument from another call. Does nothing if `value` is null.
  CallBuilder &literal(llvm::StringRef name, mlir::Attribute value) { return value ? set(name, value) : *this; }

  plan::CallOp build(mlir::TypeRange results) {
    auto call = plan::CallOp::create(builder, like.getLoc(), results, builder.getStringAttr(target), operands,
                                     args.getDictionary(builder.getContext()), like.getModuleAttr(),
                                     isBackward ? builder.getUnitAttr() : mlir::UnitAttr());
    plan::copyModuleRuns(call, like);
    return call;
  }
  mlir::Value build(llvm::ArrayRef<int64_t> shape, mlir::Type elementType) {
    return build(mlir::TypeRange(mlir::RankedTensorType::get(shape, elementType))).getResult(0);
  }

  /// Adds an operand and returns the reference to it, which `literal` takes.
  mlir::Attribute operand(mlir::Value value) {
    operands.push_back(value);
    return plan::OperandRefAttr::get(builder.getContext(), operands.size() - 1);
  }

private:
  CallBuilder(llvm::StringRef target, plan::CallOp like, const mlir::OpBuilder &where)
      : target(target), like(like), builder(where) {}

  CallBuilder &set(llvm::StringRef name, mlir::Attribute value) {
    args.set(name, value);
    return *this;
  }

  llvm::StringRef target;
  plan::CallOp like;
  mlir::OpBuilder builder;
  bool isBackward = false;
  llvm::SmallVector<mlir::Value> operands;
  mlir::NamedAttrList args;
};

/// Inserts a copy of `op` with other operands before `reader`. `made` maps the results of `op` to those of the copy.
inline mlir::Operation *cloneBefore(mlir::Operation *reader, mlir::Operation *op, mlir::ValueRange operands,
                                    llvm::DenseMap<mlir::Value, mlir::Value> &made) {
  mlir::Operation *copy = mlir::OpBuilder(reader).clone(*op);
  copy->setOperands(operands);
  for (auto [old, result] : llvm::zip(op->getResults(), copy->getResults()))
    made[old] = result;
  return copy;
}

} // namespace meshplan

#endif // MESHPLAN_DIALECT_PLAN_CALL_BUILDER_H
