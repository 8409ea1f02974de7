// Statements about tokens of experts reach the layers that they name.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-routing | FileCheck %s

// An expert takes at most ceil(1.2 * 6 * 2 / 8) = 2 pairs of each sample. The path of the bias is that of the module
// around the router and the experts.
// CHECK: plan.routing bias 1.000000e-03 of "mlp"
// CHECK-NEXT: plan.routing bias 1.000000e-03 of "dense"
// CHECK-NOT: plan.routing
// CHECK-LABEL: func.func @forward
// CHECK: %[[CHOSEN:.*]]:2 = plan.call "aten.topk.default"
// CHECK: %[[KEPT:.*]] = plan.call "meshplan.drop_choices"(%[[CHOSEN]]#1) {experts = 8 : i64, indices = #base.operand<0>, most = 2 : i64} in "mlp.experts"
// CHECK: plan.call "meshplan.route"(%[[KEPT]]) {{.*}} {plan.reserve = 1.250000e+00 : f64}
plan.mesh [#base.mesh_axis<"dp" = 4>]
plan.style "mlp.experts" expert [#plan.axis<"dp">] as "expert dp"
plan.routing reserve 1.25 of "mlp.experts" as "reserve 1.25" loc("p.plan":1:1)
plan.routing capacity 1.2 of "" as "capacity 1.2" loc("p.plan":2:1)
plan.routing bias 0.001 of "mlp" as "balance bias 0.001" loc("p.plan":3:1)
plan.routing bias 0.001 of "dense" as "balance bias 0.001" loc("p.plan":3:1)
func.func @forward(%x: tensor<4x6x16xf32>, %w: tensor<8x10x16xf32>, %gate: tensor<8x16xf32>,
                   %b: tensor<8xf32> {plan.kind = #plan.kind<buffer>, plan.names = ["mlp.gate.bias"]}) -> tensor<8x4x6x10xf32> {
  %scores = plan.call "aten.linear.default"(%x, %gate) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.gate" : (tensor<4x6x16xf32>, tensor<8x16xf32>) -> tensor<4x6x8xf32>
  %biased = plan.call "aten.add.Tensor"(%scores, %b) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.gate" : (tensor<4x6x8xf32>, tensor<8xf32>) -> tensor<4x6x8xf32>
  %chosen:2 = plan.call "aten.topk.default"(%biased) {self = #base.operand<0>, k = 2} in "mlp.gate" : (tensor<4x6x8xf32>) -> (tensor<4x6x2xf32>, tensor<4x6x2xi64>)
  %table, %counts = plan.call "meshplan.route"(%chosen#1) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp.experts"
      : (tensor<4x6x2xi64>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp.experts"
      : (tensor<4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp.experts"
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  return %1 : tensor<8x4x6x10xf32>
}
