// REQUIRES: meshplan-opt
// RUN: not %meshplan-opt %s --plan-place-init 2>&1 | FileCheck %s

// One error per entry, however many parameters it names.
// CHECK: a.plan:4:10: error: parameter 'norm' has no input and output features, from which the width of 'kaiming uniform' would follow
// CHECK: a.plan:4:10: note: and 1 more
// CHECK: a.plan:4:10: note: help: give it an entry with a width of its own, as 'normal 0.02'
// CHECK: a.plan:6:10: error: parameter 'mixed' has no input and output features that are known behind 'aten.linalg_inv.default', from which the width of 'kaiming normal' would follow
// CHECK: a.plan:6:10: note: help: give it an entry with a width of its own, as 'normal 0.02'
// CHECK: a.plan:5:10: error: parameter 'table' is looked up and not multiplied, and has no fan, from which the width of 'kaiming normal' would follow
#first = {kind = "kaiming_uniform", fan = "in", gain = 1.0, text = "kaiming uniform", place = loc("a.plan":4:10)}
#second = {kind = "kaiming_normal", fan = "in", gain = 1.0, text = "kaiming normal", place = loc("a.plan":5:10)}
#third = {kind = "kaiming_normal", fan = "in", gain = 1.0, text = "kaiming normal", place = loc("a.plan":6:10)}
func.func @forward(%x: tensor<4x8xf32> {plan.kind = "input"}, %i: tensor<2xi64> {plan.kind = "input"},
                   %norm: tensor<8xf32> {plan.kind = "parameter", plan.names = ["norm"], plan.init = #first},
                   %unread: tensor<8x8xf32> {plan.kind = "parameter", plan.names = ["unread"], plan.init = #first},
                   %mixed: tensor<8x8xf32> {plan.kind = "parameter", plan.names = ["mixed"], plan.init = #third},
                   %table: tensor<160x8xf32> {plan.kind = "parameter", plan.names = ["table"], plan.init = #second}) {
  %0 = plan.call "aten.mul.Tensor"(%x, %norm) {self = #plan.operand<0>, other = #plan.operand<1>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.embedding.default"(%table, %i) {weight = #plan.operand<0>, indices = #plan.operand<1>} : (tensor<160x8xf32>, tensor<2xi64>) -> tensor<2x8xf32>
  %2 = plan.call "aten.linalg_inv.default"(%mixed) {A = #plan.operand<0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = plan.call "aten.mm.default"(%x, %2) {self = #plan.operand<0>, mat2 = #plan.operand<1>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return
}
