//===- plan_function.h - functions of the plan dialect from text *- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_PROPAGATE_PLAN_FUNCTION_H
#define MESHPLAN_TEST_UNIT_PROPAGATE_PLAN_FUNCTION_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/unit/dialect/parsed_text.h"

namespace meshplan {

/// A fixture with one function on a mesh of dp = 2 and tp = 4.
class PlanFunction : public ParsedText<plan::PlanDialect> {
protected:
  /// Reads the function: its arguments and its body, of which the last op is the return.
  void read(llvm::StringRef arguments, llvm::StringRef body) {
    owner = module(("plan.mesh [#plan.mesh_axis<\"dp\" = 2>, #plan.mesh_axis<\"tp\" = 4>]\nfunc.func @f(" + arguments +
                    ") {\n" + body + "\nreturn\n}")
                       .str());
  }

  plan::MeshOp mesh() { return plan::getMesh(*owner); }
  mlir::func::FuncOp function() { return *owner->getOps<mlir::func::FuncOp>().begin(); }
  mlir::Value argument(unsigned index) { return function().getArgument(index); }
  /// The op at a place of the body.
  mlir::Operation *op(unsigned index) { return &*std::next(function().getBody().front().begin(), index); }
  plan::CallOp call(unsigned index) { return mlir::cast<plan::CallOp>(op(index)); }

  plan::AxisRefAttr axis(llvm::StringRef name) { return plan::AxisRefAttr::get(&context, name); }
  plan::ShardingAttr sharding(llvm::StringRef text) {
    return attribute<plan::ShardingAttr>(("#plan.sharding<" + text + ">").str());
  }

private:
  mlir::OwningOpRef<mlir::ModuleOp> owner;
};

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_PROPAGATE_PLAN_FUNCTION_H
