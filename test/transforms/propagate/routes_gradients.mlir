// Gradients of rows that are exchanged go the same way as the rows: to the experts, and back. The weights of the experts
// need no sum over the axis, since each rank has all rows of its experts; other weights do.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-differentiate --plan-place-styles --plan-propagate-shardings | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK: %[[R:.*]]:2 = plan.call "meshplan.route"
// CHECK: %[[N:.*]] = plan.reshard %[[R]]#1
// CHECK: %[[ROWS:.*]] = plan.reshard %{{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}, {}]>>
// CHECK: %[[DY:.*]] = plan.call "meshplan.dispatch"(%{{.*}}, %[[R]]#0){{.*}} backward : {{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{}, {"dp"}, {}, {}]>>
// CHECK-NEXT: %[[SENT:.*]] = plan.reshard %[[DY]] because "split 0 over dp" : {{.*}} -> tensor<8x4x6x10xf32, #plan.sharding<[{"dp"}, {}, {}, {}]>>
// CHECK-NEXT: %[[DX:.*]] = plan.call "meshplan.grouped_linear"(%[[SENT]], %{{.*}}, %[[N]]){{.*}}transposed = true{{.*}} backward
// CHECK-NEXT: %[[DW:.*]] = plan.call "meshplan.grouped_linear_weight_gradient"(%[[SENT]], %[[ROWS]], %[[N]]){{.*}} -> tensor<8x10x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>
// CHECK-NEXT: %[[BACK:.*]] = plan.reshard %[[DX]] because "split 0 over dp" : {{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}]>>
// CHECK-NEXT: %[[DH:.*]] = plan.call "meshplan.combine"(%[[BACK]], %[[R]]#0){{.*}} -> tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>
// CHECK-NEXT: %[[DU:.*]] = plan.call "meshplan.weight_gradient"(%[[DH]]{{.*}} -> tensor<16x16xf32, #plan.sharding<[{}, {}], partial = sum {"dp"}>>
// CHECK-NEXT: %[[SUM:.*]] = plan.reshard %[[DU]]
// CHECK: return %{{.*}}, %[[SUM]], %[[DW]]
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.loss 0
func.func @forward(
    %x: tensor<4x6x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}, {}, {}]>},
    %i: tensor<4x6x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"], plan.sharding = #plan.sharding<[{"dp"}, {}, {}]>},
    %u: tensor<16x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["u"], plan.trainable = true, plan.sharding = #plan.sharding<[{}, {}]>},
    %w: tensor<8x10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true, plan.style = "split 0 over dp", plan.sharding = #plan.sharding<[{"dp"}, {}, {}]>}) -> (tensor<f32> {plan.name = "loss"}) {
  %h = plan.call "aten.linear.default"(%x, %u) {input = #base.operand<0>, weight = #base.operand<1>} : (tensor<4x6x16xf32>, tensor<16x16xf32>) -> tensor<4x6x16xf32>
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%h, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 10]}
      : (tensor<8x4x6x10xf32>, tensor<8x4x6xi64>) -> tensor<4x6x10xf32>
  %l = plan.call "aten.sum.default"(%2) {self = #base.operand<0>} : (tensor<4x6x10xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
