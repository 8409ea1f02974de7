// Modules for which nothing is recomputed.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-recompute -o %t 2>&1 | FileCheck %s

// The result of `a` leaves it, and the backward pass reads nothing of `b`; something of `c` is recomputed.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// CHECK: warning: 'recompute' has no effect on 'a': the backward pass reads no intermediate value of it
// CHECK: note: help: remove it from the statement
plan.recompute "a" keep []
// CHECK: warning: 'recompute' has no effect on 'b'
// CHECK: note: help: remove it from the statement
plan.recompute "b" keep []
plan.recompute "c" keep []
// CHECK-NOT: warning:
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.role = #base.role<step>} {
  %a = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} in "a" : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.call "aten.sin.default"(%a) {self = #base.operand<0>} in "b" : (tensor<4xf32>) -> tensor<4xf32>
  %b2 = plan.call "aten.neg.default"(%b) {self = #base.operand<0>} in "b" : (tensor<4xf32>) -> tensor<4xf32>
  %c = plan.call "aten.neg.default"(%b2) {self = #base.operand<0>} in "c" : (tensor<4xf32>) -> tensor<4xf32>
  %c2 = plan.call "aten.cos.default"(%c) {self = #base.operand<0>} in "c" : (tensor<4xf32>) -> tensor<4xf32>
  %g = plan.call "aten.sin.default"(%c) {self = #base.operand<0>} in "c" backward : (tensor<4xf32>) -> tensor<4xf32>
  %h = plan.call "aten.mul.Tensor"(%g, %a) {self = #base.operand<0>, other = #base.operand<1>} in "a" backward
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}

// -----

// For a statement with several modules, the message counts them.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// CHECK: warning: 'recompute' has no effect on 'a' and 1 more
// CHECK: note: help: remove them from the statement
plan.recompute "a" keep [] loc("p.plan":1:1)
plan.recompute "b" keep [] loc("p.plan":1:1)
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.role = #base.role<step>} {
  %a = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} in "a" : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.call "aten.sin.default"(%a) {self = #base.operand<0>} in "b" : (tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}
