//===- call_builder.h - makes plan.call ops ---------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_IMPORT_CALL_BUILDER_H
#define MESHPLAN_COMPILER_TRANSFORMS_IMPORT_CALL_BUILDER_H

#include "dialect/plan/module_runs.h"
#include "mlir/IR/Builders.h"

namespace meshplan {

/// Gathers the arguments of one call that stands before `like`, with its place and module.
class CallBuilder {
public:
  CallBuilder(llvm::StringRef target, plan::CallOp like) : target(target), like(like), builder(like) {}

  CallBuilder &tensor(llvm::StringRef name, mlir::Value value) {
    args.set(name, plan::OperandRefAttr::get(builder.getContext(), operands.size()));
    operands.push_back(value);
    return *this;
  }

  CallBuilder &integer(llvm::StringRef name, int64_t value) { return set(name, builder.getI64IntegerAttr(value)); }
  CallBuilder &number(llvm::StringRef name, double value) { return set(name, builder.getF64FloatAttr(value)); }
  CallBuilder &flag(llvm::StringRef name, bool value) { return set(name, builder.getBoolAttr(value)); }
  CallBuilder &type(llvm::StringRef name, mlir::Type value) { return set(name, mlir::TypeAttr::get(value)); }
  CallBuilder &integers(llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
    return set(name, builder.getI64ArrayAttr(values));
  }

  plan::CallOp build(mlir::TypeRange results) {
    auto call = plan::CallOp::create(builder, like.getLoc(), results, target, operands,
                                     args.getDictionary(builder.getContext()), like.getModuleAttr());
    plan::copyModuleRuns(call, like);
    return call;
  }
  mlir::Value build(llvm::ArrayRef<int64_t> shape, mlir::Type elementType) {
    return build(mlir::TypeRange(mlir::RankedTensorType::get(shape, elementType))).getResult(0);
  }

private:
  CallBuilder &set(llvm::StringRef name, mlir::Attribute value) {
    args.set(name, value);
    return *this;
  }

  llvm::StringRef target;
  plan::CallOp like;
  mlir::OpBuilder builder;
  llvm::SmallVector<mlir::Value> operands;
  mlir::NamedAttrList args;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_IMPORT_CALL_BUILDER_H
