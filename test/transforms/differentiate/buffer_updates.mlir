// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-add-evaluation --plan-differentiate | FileCheck %s

// The new content of a buffer is a result of the step only; it has the layout of the buffer and is written in place.
// The evaluation reads the buffer where the step reads the statistics of the batch.
// CHECK: func.func @forward
// CHECK-SAME: -> (tensor<f32> {plan.name = "loss"}) {
// CHECK-NEXT: aten.mean.dim
// CHECK-NEXT: aten.mul.Tensor
// CHECK-NEXT: aten.sum.default
// CHECK-NEXT: return
// CHECK: func.func @eval
// CHECK-SAME: -> (tensor<f32> {plan.loss, plan.name = "loss"}) attributes {plan.role = #base.role<eval>} {
// CHECK-NEXT: %[[R:.*]] = plan.call "aten.view.default"(%arg2) {self = #base.operand<0>, size = [1, 4]}
// CHECK-NEXT: plan.call "aten.mul.Tensor"(%arg1, %[[R]])
// CHECK: func.func @step
// CHECK-SAME: tensor<4xf32> {plan.updates = #plan.argument<buffer "mean">}
// CHECK: %[[M:.*]] = plan.call "aten.mean.dim"
// CHECK: %[[N:.*]] = plan.call "aten.view.default"(%[[M]]) {self = #base.operand<0>, size = [4]}
// CHECK: %[[L:.*]] = plan.match %[[N]] to %arg2
// CHECK-NEXT: %[[A:.*]] = plan.call "meshplan.assign"(%arg2, %[[L]])
// CHECK-NEXT: return %{{.*}}, %[[A]], %{{.*}} :
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.loss 0
func.func @forward(%x: tensor<2x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.dims = ["batch", ""]},
                   %w: tensor<2x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true},
                   %mean: tensor<4xf32> {plan.kind = #plan.kind<buffer>, plan.names = ["mean"]})
    -> (tensor<f32> {plan.name = "loss"}, tensor<4xf32> {plan.updates = #plan.argument<buffer "mean">}) {
  %0 = plan.call "aten.mean.dim"(%x) {self = #base.operand<0>, dim = [0], keepdim = true} {plan.in_evaluation = #plan.argument<buffer "mean">} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %1 = plan.call "aten.mul.Tensor"(%w, %0) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  %2 = plan.call "aten.sum.default"(%1) {self = #base.operand<0>} : (tensor<2x4xf32>) -> tensor<f32>
  %3 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = [4]} : (tensor<1x4xf32>) -> tensor<4xf32>
  return %2, %3 : tensor<f32>, tensor<4xf32>
}
