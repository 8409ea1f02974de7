//===- plan_module.h - partitioned programs from text -----------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_REPORT_EXPLAIN_PLAN_MODULE_H
#define MESHPLAN_TEST_UNIT_REPORT_EXPLAIN_PLAN_MODULE_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace meshplan {

/// A module and its context.
class PlanModule {
public:
  explicit PlanModule(const std::string &text) {
    context.loadDialect<plan::PlanDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }

  mlir::ModuleOp get() { return *module; }
  mlir::func::FuncOp function() { return *module->getOps<mlir::func::FuncOp>().begin(); }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Two layers with sequence parallelism: norm (line 1), up (line 2) and down (line 3) of a.plan; x is sharded.
inline const std::string twoLayers = R"(
!whole = tensor<2x6x8xf32, #plan.sharding<[{}, {}, {}]>>
!split = tensor<2x6x8xf32, #plan.sharding<[{}, {"tp"}, {}]>>
!wide = tensor<2x6x12xf32, #plan.sharding<[{}, {}, {"tp"}]>>
!addend = tensor<2x6x8xf32, #plan.sharding<[{}, {}, {}], partial = sum {"tp"}>>
#sequence = #plan.cause<"tp" because "sequence tp" at loc("a.plan":1:7)>
#colwise = #plan.cause<"tp" because "colwise tp" at loc("a.plan":2:7)>
#rowwise = #plan.cause<"tp" because "rowwise tp" at loc("a.plan":3:7)>
#norm = loc(fused<[#sequence]>["norm"])
#up = loc(fused<[#colwise]>["up"])
#down = loc(fused<[#rowwise]>["down"])
#scatter = loc(fused<[#sequence]>["a.plan":3:7])
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @forward(
    %x: !split {plan.kind = #plan.kind<input>, plan.names = ["x"]} loc("a.plan":9:1),
    %g: tensor<8xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["layers.0.norm.weight"],
                                             plan.style = "sequence tp"} loc("a.plan":1:7),
    %u: tensor<12x8xf32, #plan.sharding<[{"tp"}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["layers.0.up.weight"],
                                                        plan.style = "colwise tp"} loc("a.plan":2:7),
    %d: tensor<8x12xf32, #plan.sharding<[{}, {"tp"}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["layers.0.down.weight"],
                                                        plan.style = "rowwise tp"} loc("a.plan":3:7),
    %e: tensor<8x12xf32, #plan.sharding<[{}, {"tp"}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["layers.1.down.weight"],
                                                        plan.style = "rowwise tp"} loc("a.plan":3:7))
    -> (!split {plan.name = "y"}) {
  %n = plan.call "aten.mul.Tensor"(%x, %g) {self = #base.operand<0>, other = #base.operand<1>} in "layers.0.norm"
      : (!split, tensor<8xf32, #plan.sharding<[{}]>>) -> !split loc(#norm)
  %w = plan.all_gather %n [#plan.axis<"tp">] dim 1 because "colwise tp" : !split -> !whole loc("a.plan":2:7)
  %h = plan.call "aten.linear.default"(%w, %u) {input = #base.operand<0>, weight = #base.operand<1>} in "layers.0.up"
      : (!whole, tensor<12x8xf32, #plan.sharding<[{"tp"}, {}]>>) -> !wide loc(#up)
  %a = plan.call "aten.linear.default"(%h, %d) {input = #base.operand<0>, weight = #base.operand<1>} in "layers.0.down"
      : (!wide, tensor<8x12xf32, #plan.sharding<[{}, {"tp"}]>>) -> !addend loc(#down)
  %s = plan.reduce_scatter %a [#plan.axis<"tp">] dim 1 because "rowwise tp" : !addend -> !split loc(#scatter)
  %r = plan.call "aten.add.Tensor"(%x, %s) {self = #base.operand<0>, other = #base.operand<1>} in "layers.0"
      : (!split, !split) -> !split loc(#norm)
  %b = plan.call "aten.linear.default"(%h, %e) {input = #base.operand<0>, weight = #base.operand<1>} in "layers.1.down"
      : (!wide, tensor<8x12xf32, #plan.sharding<[{}, {"tp"}]>>) -> !addend loc(#down)
  %t = plan.reduce_scatter %b [#plan.axis<"tp">] dim 1 because "rowwise tp" : !addend -> !split loc(#scatter)
  %z = plan.call "aten.add.Tensor"(%r, %t) {self = #base.operand<0>, other = #base.operand<1>} in "layers.1"
      : (!split, !split) -> !split loc(#norm)
  return %z : !split
}
)";

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_REPORT_EXPLAIN_PLAN_MODULE_H
