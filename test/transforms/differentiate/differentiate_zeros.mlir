// Parameters that the loss reaches only through calls that are constant almost everywhere have gradients of zeros, as
// in PyTorch.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-differentiate | FileCheck %s

// Also after a call with a derivative. A rounded quotient is constant in both operands.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}, %[[P:[a-z0-9]*]]: tensor<4xf32>
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q"]
// CHECK: %[[ZP:.*]] = plan.call "aten.zeros.default"() {dtype = f32, size = [4]} backward : () -> tensor<4xf32>
// CHECK-NEXT: %[[GP:.*]] = plan.match %[[ZP]] to %[[P]]
// CHECK-NEXT: %[[ZQ:.*]] = plan.call "aten.zeros.default"() {dtype = f32, size = [4]} backward : () -> tensor<4xf32>
// CHECK-NEXT: %[[GQ:.*]] = plan.match %[[ZQ]] to %[[Q]]
// CHECK-NEXT: return %{{.*}}, %{{.*}}, %[[GP]], %[[GQ]] :
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
func.func @forward(
    %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true},
    %p: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["p"], plan.trainable = true},
    %q: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q"], plan.trainable = true}) -> (tensor<f32> {plan.name = "loss"}) {
  %0 = plan.call "aten.exp.default"(%q) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.div.Tensor_mode"(%p, %0) {self = #base.operand<0>, other = #base.operand<1>, rounding_mode = "floor"}
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = plan.call "aten.mul.Tensor"(%w, %1) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = plan.call "aten.sum.default"(%2) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// -----

// Zeros are not added to another gradient.
// CHECK-LABEL: func.func @step(
// CHECK-NOT: aten.zeros
// CHECK-NOT: aten.add
// CHECK: return
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
func.func @forward(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (tensor<f32> {plan.name = "loss"}) {
  %0 = plan.call "aten.round.default"(%w) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.mul.Tensor"(%w, %0) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = plan.call "aten.sum.default"(%1) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// A loss that is constant almost everywhere depends on its parameters.
// CHECK-LABEL: func.func @step(
// CHECK: plan.call "aten.zeros.default"
// CHECK: return
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
func.func @forward(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (tensor<f32> {plan.name = "loss"}) {
  %0 = plan.call "aten.sign.default"(%w) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}
