// Parameters that the plan calls unused but that the loss reaches. Messages are located in the plan, not in this file.
// REQUIRES: meshplan-opt
// RUN: not %meshplan-opt %s --split-input-file --plan-differentiate 2>&1 | FileCheck %s

// CHECK: a.plan:3:10: error: the loss depends on parameter 'p', and 'unused' says that it does not
// CHECK: note: help: write 'freeze p' if it is not to be trained, or remove it from 'unused'
// CHECK-NOT: error:
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
func.func @forward(
    %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true},
    %p: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["p"], plan.trainable = false, plan.unused = loc("a.plan":3:10)},
    %n: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["n"], plan.trainable = false, plan.unused = loc("a.plan":3:10)})
    -> (tensor<f32> {plan.name = "loss"}) {
  %0 = plan.call "aten.mul.Tensor"(%w, %p) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// One message for each path.
// CHECK: b.plan:4:10: error: the loss depends on parameter 'enc.0' and 1 more, and 'unused' says that it does not
// CHECK: note: and on 'enc.1'
// CHECK: note: help: write 'freeze enc.0' if it is not to be trained, or remove it from 'unused'
// CHECK: b.plan:4:15: error: the loss depends on parameter 'head', and 'unused' says that it does not
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
func.func @forward(
    %a: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["enc.0"], plan.trainable = false, plan.unused = loc("b.plan":4:10)},
    %b: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["enc.1"], plan.trainable = false, plan.unused = loc("b.plan":4:10)},
    %h: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["head"], plan.trainable = false, plan.unused = loc("b.plan":4:15)})
    -> (tensor<f32> {plan.name = "loss"}) {
  %0 = plan.call "aten.mul.Tensor"(%a, %b) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.mul.Tensor"(%0, %h) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = plan.call "aten.sum.default"(%1) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// Also when the path passes an operator without a derivative.
// CHECK: b.plan:5:10: error: the loss depends on parameter 'p', and 'unused' says that it does not
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
func.func @forward(
    %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true},
    %p: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["p"], plan.trainable = false, plan.unused = loc("b.plan":5:10)},
    %q: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q"], plan.trainable = false, plan.unused = loc("b.plan":5:14)})
    -> (tensor<f32> {plan.name = "loss"}) {
  %0 = plan.call "aten.mul.Tensor"(%w, %p) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.nextafter.default"(%q, %q) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = plan.call "aten.mul.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = plan.call "aten.sum.default"(%2) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}
