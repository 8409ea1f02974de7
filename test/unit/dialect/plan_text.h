//===- plan_text.h - plan types and functions from text ---------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_DIALECT_PLAN_TEXT_H
#define MESHPLAN_TEST_UNIT_DIALECT_PLAN_TEXT_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/unit/dialect/parsed_text.h"

namespace meshplan {

/// A fixture with one module of the plan dialect.
class PlanText : public ParsedText<plan::PlanDialect> {
protected:
  void readModule(llvm::StringRef text) { owner = module(text); }

  /// Reads a mesh of the axes dp and tp, followed by the text.
  void readOnMesh(int64_t dp, int64_t tp, llvm::StringRef text = "") {
    readModule(("plan.mesh [#base.mesh_axis<\"dp\" = " + llvm::Twine(dp) +
                ">, #base.mesh_axis<\"tp\" = " + llvm::Twine(tp) + ">]\n" + text)
                   .str());
  }

  plan::MeshOp mesh() { return plan::getMesh(*owner); }
  mlir::func::FuncOp function() { return *owner->getOps<mlir::func::FuncOp>().begin(); }
  mlir::Value argument(unsigned index) { return function().getArgument(index); }
  /// The op at an index of the function's body.
  mlir::Operation *op(unsigned index) { return &*std::next(function().getBody().front().begin(), index); }
  plan::CallOp call(unsigned index) { return mlir::cast<plan::CallOp>(op(index)); }

  plan::AxisRefAttr axis(llvm::StringRef name, int64_t pre = 0, int64_t size = 0) {
    return plan::AxisRefAttr::get(&context, name, pre, size);
  }
  /// Without the braces: `"dp", "tp":(2)3, unit 4`.
  plan::DimShardingAttr dim(llvm::StringRef text) {
    return attribute<plan::DimShardingAttr>(("#plan.dim<{" + text + "}>").str());
  }
  plan::ShardingAttr sharding(llvm::StringRef text) {
    return attribute<plan::ShardingAttr>(("#plan.sharding<" + text + ">").str());
  }

  mlir::OwningOpRef<mlir::ModuleOp> owner;
};

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_DIALECT_PLAN_TEXT_H
