// The plan's statement 'unused' about parameters that the loss does not reach.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-differentiate | FileCheck %s

// The loss does not reach p, and reaches q only through a call that has no gradient.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
// CHECK-LABEL: func.func @step(
// CHECK-SAME: -> (tensor<f32> {plan.loss, plan.name = "loss"}, tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "w">, plan.name = "gradients.w"})
// CHECK-NOT: "aten.floor.default"({{.*}} backward
func.func @forward(
    %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true},
    %p: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["p"], plan.trainable = false, plan.unused = loc("a.plan":3:10)},
    %q: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q"], plan.trainable = false, plan.unused = loc("a.plan":3:10)})
    -> (tensor<f32> {plan.name = "loss"}) {
  %0 = plan.call "aten.floor.default"(%q) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.mul.Tensor"(%w, %0) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = plan.call "aten.sum.default"(%1) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// A call without a derivative is accepted before a detach. No copy of the function is left over.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
// CHECK-LABEL: func.func @forward(
// CHECK-LABEL: func.func @step(
// CHECK-NOT: func.func
func.func @forward(
    %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true},
    %p: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["p"], plan.trainable = false, plan.unused = loc("a.plan":3:10)})
    -> (tensor<f32> {plan.name = "loss"}) {
  %0 = plan.call "aten.nextafter.default"(%p, %w) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.detach.default"(%0) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = plan.call "aten.mul.Tensor"(%w, %1) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = plan.call "aten.sum.default"(%2) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}
