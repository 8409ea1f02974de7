// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-split-loss-reductions | FileCheck %s

// The mean is PyTorch's default.
// CHECK-LABEL: func.func @mean
// CHECK-NEXT: %[[LOSSES:.*]] = plan.call "aten.mse_loss.default"(%arg0, %arg1) {reduction = 0 : i64, self = #base.operand<0>, target = #base.operand<1>} in "loss" : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT: %[[MEAN:.*]] = plan.call "aten.mean.default"(%[[LOSSES]]) {self = #base.operand<0>} in "loss" : (tensor<4x6xf32>) -> tensor<f32>
// CHECK-NEXT: return %[[MEAN]]
func.func @mean(%x: tensor<4x6xf32>, %t: tensor<4x6xf32>) -> tensor<f32> {
  %loss = plan.call "aten.mse_loss.default"(%x, %t) {self = #base.operand<0>, target = #base.operand<1>} in "loss"
      : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// A sum; the other arguments stay. The result is rounded to 16 bits once, after the sum.
// CHECK-LABEL: func.func @sum
// CHECK-NEXT: %[[LOSSES:.*]] = plan.call "aten.binary_cross_entropy_with_logits.default"(%arg0, %arg1, %arg2)
// CHECK-SAME: {pos_weight = #base.operand<2>, reduction = 0 : i64, self = #base.operand<0>, target = #base.operand<1>}
// CHECK-NEXT: %[[SUM:.*]] = plan.call "aten.sum.default"(%[[LOSSES]]) {dtype = f32, self = #base.operand<0>} : (tensor<4x6xbf16>) -> tensor<f32>
// CHECK-NEXT: %[[ROUNDED:.*]] = plan.call "aten.to.dtype"(%[[SUM]]) {dtype = bf16, self = #base.operand<0>} : (tensor<f32>) -> tensor<bf16>
// CHECK-NEXT: return %[[ROUNDED]]
func.func @sum(%x: tensor<4x6xbf16>, %t: tensor<4x6xbf16>, %w: tensor<6xbf16>) -> tensor<bf16> {
  %loss = plan.call "aten.binary_cross_entropy_with_logits.default"(%x, %t, %w)
      {self = #base.operand<0>, target = #base.operand<1>, pos_weight = #base.operand<2>, reduction = 2 : i64}
      : (tensor<4x6xbf16>, tensor<4x6xbf16>, tensor<6xbf16>) -> tensor<bf16>
  return %loss : tensor<bf16>
}

// No reduction to separate, and operands that would have to be expanded first.
// CHECK-LABEL: func.func @left
// CHECK-NEXT: plan.call "aten.l1_loss.default"(%arg0, %arg2) {reduction = 0 : i64
// CHECK-NEXT: plan.call "aten.mse_loss.default"(%arg0, %arg1) {self = #base.operand<0>, target = #base.operand<1>} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<f32>
// CHECK-NEXT: return
func.func @left(%x: tensor<4x6xf32>, %t: tensor<6xf32>, %y: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<f32>) {
  %losses = plan.call "aten.l1_loss.default"(%x, %y)
      {self = #base.operand<0>, target = #base.operand<1>, reduction = 0 : i64}
      : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %loss = plan.call "aten.mse_loss.default"(%x, %t) {self = #base.operand<0>, target = #base.operand<1>}
      : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<f32>
  return %losses, %loss : tensor<4x6xf32>, tensor<f32>
}
