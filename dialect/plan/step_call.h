//===- step_call.h - calls that a step adds to the model --------*- C++ -*-===//

#ifndef MESHPLAN_DIALECT_PLAN_STEP_CALL_H
#define MESHPLAN_DIALECT_PLAN_STEP_CALL_H

#include "dialect/plan/plan.h"
#include "mlir/IR/Builders.h"

namespace meshplan {

/// Collects one call of the backward pass that belongs to no module of the model.
class StepCall {
public:
  StepCall(llvm::StringRef target, mlir::OpBuilder &builder, mlir::Location location)
      : target(target), builder(builder), location(location) {}

  StepCall &tensor(llvm::StringRef name, mlir::Value value) {
    args.set(name, plan::OperandRefAttr::get(builder.getContext(), operands.size()));
    operands.push_back(value);
    return *this;
  }
  StepCall &tensors(llvm::StringRef name, llvm::ArrayRef<mlir::Value> values) {
    llvm::SmallVector<mlir::Attribute> items;
    for (mlir::Value value : values) {
      items.push_back(plan::OperandRefAttr::get(builder.getContext(), operands.size()));
      operands.push_back(value);
    }
    return set(name, builder.getArrayAttr(items));
  }
  StepCall &integer(llvm::StringRef name, int64_t value) { return set(name, builder.getI64IntegerAttr(value)); }
  StepCall &number(llvm::StringRef name, double value) { return set(name, builder.getF64FloatAttr(value)); }
  StepCall &flag(llvm::StringRef name, bool value) { return set(name, builder.getBoolAttr(value)); }
  StepCall &text(llvm::StringRef name, llvm::StringRef value) { return set(name, builder.getStringAttr(value)); }
  StepCall &type(llvm::StringRef name, mlir::Type value) { return set(name, mlir::TypeAttr::get(value)); }

  plan::CallOp build(mlir::TypeRange results) {
    return plan::CallOp::create(builder, location, results, builder.getStringAttr(target), operands,
                                args.getDictionary(builder.getContext()), mlir::StringAttr(), builder.getUnitAttr());
  }
  /// The result of a call that has one.
  mlir::Value make(mlir::Type result) { return build(result).getResult(0); }

private:
  StepCall &set(llvm::StringRef name, mlir::Attribute value) {
    args.set(name, value);
    return *this;
  }

  llvm::StringRef target;
  mlir::OpBuilder &builder;
  mlir::Location location;
  llvm::SmallVector<mlir::Value> operands;
  mlir::NamedAttrList args;
};

} // namespace meshplan

#endif // MESHPLAN_DIALECT_PLAN_STEP_CALL_H
