// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-keep-reference | FileCheck %s
// RUN: %meshplan-opt %s --plan-keep-reference --plan-simplify | FileCheck %s --check-prefix=AFTER

// Later passes change the function, but not the copy.
// AFTER: func.func @forward
// AFTER-NOT: aten.to.dtype
// AFTER: module @reference
// AFTER: aten.to.dtype
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.loss 1

// CHECK: func.func @forward(%{{.*}}: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.parts = {{.*}}, plan.sharding = {{.*}}, plan.style = "split 0 over dp"
// CHECK: aten.view.default
// CHECK: module @reference
// CHECK-NEXT: func.func @reference(%[[W:.*]]: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true})
// CHECK-SAME: -> (tensor<32xf32> {plan.name = "y"}, tensor<f32> {plan.loss, plan.name = "loss"}) attributes {plan.role = #base.role<reference>}
// Dead calls go. A view may not be possible on the result of another kernel.
// CHECK-NEXT: %[[T:.*]] = plan.call "aten.to.dtype"(%[[W]])
// CHECK-NEXT: %[[Y:.*]] = plan.call "aten.reshape.default"(%[[T]]) {self = #base.operand<0>, shape = [32]} in "flat"
// CHECK-NEXT: %[[Z:.*]] = plan.call "aten.reshape.default"(%[[Y]]) {self = #base.operand<0>, shape = [4, 8]}
// CHECK-NEXT: %[[L:.*]] = plan.call "aten.sum.default"(%[[Z]])
// CHECK-NEXT: return %[[Y]], %[[L]]

func.func @forward(%w: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true,
    plan.parts = array<i64: 2, 2>, plan.sharding = #plan.sharding<[{"dp"}, {}]>, plan.style = "split 0 over dp"})
    -> (tensor<32xf32> {plan.name = "y"}, tensor<f32> {plan.name = "loss"}) {
  %0 = plan.call "aten.to.dtype"(%w) {self = #base.operand<0>, dtype = f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.relu.default"(%w) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = [32]} in "flat"
    : (tensor<4x8xf32>) -> tensor<32xf32>
  %z = plan.call "aten._unsafe_view.default"(%y) {self = #base.operand<0>, size = [4, 8]}
    : (tensor<32xf32>) -> tensor<4x8xf32>
  %loss = plan.call "aten.sum.default"(%z) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<f32>
  return %y, %loss : tensor<32xf32>, tensor<f32>
}
