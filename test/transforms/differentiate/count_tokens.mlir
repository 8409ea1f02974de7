// The tokens of each expert are outputs of a step, and change the bias of the scores.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-count-tokens --plan-place-microbatches --plan-balance-bias | FileCheck %s

// Layers with equally many experts have one output. A route of the backward pass does not count again.
// CHECK-NOT: plan.routing
// CHECK-LABEL: func.func @step
// CHECK-SAME: tensor<2x8xi64> {plan.experts = ["a", "b"], plan.name = "expert_tokens", plan.pairs = array<i64: 48, 24>}
// CHECK-SAME: tensor<1x4xi64> {plan.experts = ["c"], plan.name = "expert_tokens.1", plan.pairs = array<i64: 48>}
// CHECK-SAME: tensor<8xf32> {plan.updates = #plan.argument<buffer "a.bias">}
// CHECK: %[[A:.*]]:2 = plan.call "meshplan.route"({{.*}} in "a"
// CHECK: %[[OF_A:.*]] = plan.call "meshplan.expert_tokens"(%[[A]]#1, %[[A]]#0) {counts = #base.operand<0>, table = #base.operand<1>} in "a"
// CHECK: %[[OF_B:.*]] = plan.call "meshplan.expert_tokens"{{.*}} in "b"
// CHECK: %[[OF_C:.*]] = plan.call "meshplan.expert_tokens"{{.*}} in "c"
// CHECK-NOT: meshplan.expert_tokens
// CHECK: %[[ALL:.*]] = plan.call "aten.stack.default"(%[[OF_A]], %[[OF_B]])
// CHECK: %[[WHOLE:.*]] = plan.constrain %[[ALL]] <[{}, {}]> along [#plan.axis<"dp">] as "tokens by expert"
// CHECK: %[[OTHER:.*]] = plan.constrain
// CHECK: %[[ROW:.*]] = plan.call "aten.select.int"(%[[WHOLE]]) {dim = 0 : i64, index = 0 : i64
// CHECK: %[[MOVED:.*]] = plan.call "meshplan.balanced_bias"(%[[BIAS:.*]], %[[ROW]]) {bias = #base.operand<0>, rate = 1.000000e-03 : f64, tokens = #base.operand<1>}
// CHECK: %[[MATCHED:.*]] = plan.match %[[MOVED]] to %[[BIAS]]
// CHECK: %[[NEW:.*]] = plan.call "meshplan.assign"(%[[BIAS]], %[[MATCHED]])
// CHECK: return %[[WHOLE]], %[[OTHER]], %[[NEW]]
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.routing bias 0.001 of "a" as "balance bias 0.001"
func.func @step(%s: tensor<4x6x8xf32>, %i: tensor<4x6x1xi64>, %b: tensor<8xf32> {plan.kind = #plan.kind<buffer>, plan.names = ["a.bias"]})
    attributes {plan.role = #base.role<step>} {
  %biased = plan.call "aten.add.Tensor"(%s, %b) {self = #base.operand<0>, other = #base.operand<1>} in "a" : (tensor<4x6x8xf32>, tensor<8xf32>) -> tensor<4x6x8xf32>
  %chosen:2 = plan.call "aten.topk.default"(%biased) {self = #base.operand<0>, k = 2} in "a" : (tensor<4x6x8xf32>) -> (tensor<4x6x2xf32>, tensor<4x6x2xi64>)
  %0:2 = plan.call "meshplan.route"(%chosen#1) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "a" : (tensor<4x6x2xi64>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %1:2 = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "b" : (tensor<4x6x1xi64>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %2:2 = plan.call "meshplan.route"(%chosen#1) {indices = #base.operand<0>, first = 0 : i64, experts = 4 : i64} in "c" : (tensor<4x6x2xi64>) -> (tensor<4x4x6xi64>, tensor<4x4x6xi64>)
  %3:2 = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "b" backward : (tensor<4x6x1xi64>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  return
}

// -----

// With the mean of microbatches the numbers are sums, and the pairs those of all microbatches.
// CHECK-LABEL: func.func @step
// CHECK-SAME: plan.pairs = array<i64: 144>
// CHECK: %[[ONE:.*]] = plan.constrain
// CHECK: %[[SUM:.*]] = plan.leave_microbatch %[[ONE]]
// CHECK: return %[[SUM]]
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.microbatches 3 mean
func.func @step(%i: tensor<4x6x2xi64>) attributes {plan.role = #base.role<step>} {
  %0:2 = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "a" : (tensor<4x6x2xi64>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  return
}
