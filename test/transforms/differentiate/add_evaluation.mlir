// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-add-evaluation | FileCheck %s

// In evaluation a dropout returns its input, and random numbers that only dropouts use disappear; the model's own stay.
plan.loss 0
// CHECK-LABEL: func.func @forward(
// CHECK: plan.call "meshplan.dropout"
// CHECK-NOT: plan.in_evaluation
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: %[[X:arg0]]: tensor<4x6xf32> {plan.kind = #plan.kind<input>}) -> (tensor<f32> {plan.loss, plan.name = "loss"}, tensor<4x6xf32> {plan.name = "hidden"})
// CHECK-NEXT: %[[R:.*]] = plan.call "aten.relu.default"(%[[X]])
// CHECK-NEXT: %[[L:.*]] = plan.call "aten.sum.default"(%[[R]])
// CHECK-NEXT: return %[[L]], %[[R]]
func.func @forward(%x: tensor<4x6xf32> {plan.kind = #plan.kind<input>}, %seed: tensor<f64> {plan.kind = #plan.kind<setting>, plan.names = ["seed"], plan.value = 0.0 : f64},
                   %step: tensor<f64> {plan.kind = #plan.kind<setting>, plan.names = ["step"], plan.value = 1.0 : f64})
    -> (tensor<f32> {plan.name = "loss"}, tensor<4x6xf32> {plan.name = "hidden"}) {
  %0 = plan.call "meshplan.dropout"(%x, %seed, %step) {input = #base.operand<0>, number = 0 : i64, p = 0.5 : f64, seed = #base.operand<1>, step = #base.operand<2>} {plan.in_evaluation = #plan.stand_in<first_operand>}
      : (tensor<4x6xf32>, tensor<f64>, tensor<f64>) -> tensor<4x6xf32>
  %1 = plan.call "aten.relu.default"(%0) {self = #base.operand<0>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = plan.call "meshplan.dropout"(%1, %seed, %step) {input = #base.operand<0>, number = 1 : i64, p = 0.5 : f64, seed = #base.operand<1>, step = #base.operand<2>} {plan.in_evaluation = #plan.stand_in<first_operand>}
      : (tensor<4x6xf32>, tensor<f64>, tensor<f64>) -> tensor<4x6xf32>
  %3 = plan.call "aten.sum.default"(%2) {self = #base.operand<0>} : (tensor<4x6xf32>) -> tensor<f32>
  return %3, %2 : tensor<f32>, tensor<4x6xf32>
}

// -----

// A mask that the model only multiplies with becomes ones, but noise that the model adds is still drawn.
plan.loss 1
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: plan.names = ["seed"]
// CHECK-SAME: plan.names = ["step"]
// CHECK-SAME: tensor<f32> {plan.loss})
// CHECK-NEXT: %[[ONES:.*]] = plan.call "aten.ones.default"() {dtype = i1, size = [4, 6]}
// CHECK-NEXT: %[[U:.*]] = plan.call "meshplan.uniform"(%arg1, %arg2) {{{.*}}number = 1 : i64
// CHECK: %[[S:.*]] = plan.call "aten.mul.Tensor"(%[[U]], %[[ONES]])
// CHECK: plan.call "aten.sum.default"(%[[S]])
func.func @forward(%x: tensor<4x6xf32>, %seed: tensor<f64> {plan.kind = #plan.kind<setting>, plan.names = ["seed"], plan.value = 0.0 : f64},
                   %step: tensor<f64> {plan.kind = #plan.kind<setting>, plan.names = ["step"], plan.value = 1.0 : f64}) -> (tensor<4x6xi1>, tensor<f32>) {
  %0 = plan.call "meshplan.uniform"(%seed, %step) {dtype = f64, number = 0 : i64, seed = #base.operand<0>, size = [4, 6], step = #base.operand<1>}
      : (tensor<f64>, tensor<f64>) -> tensor<4x6xf64>
  %1 = plan.call "aten.ge.Scalar"(%0) {other = 0.25 : f64, self = #base.operand<0>} {plan.in_evaluation = #plan.stand_in<ones>} : (tensor<4x6xf64>) -> tensor<4x6xi1>
  %2 = plan.call "meshplan.uniform"(%seed, %step) {dtype = f32, number = 1 : i64, seed = #base.operand<0>, size = [4, 6], step = #base.operand<1>}
      : (tensor<f64>, tensor<f64>) -> tensor<4x6xf32>
  %3 = plan.call "aten.mul.Tensor"(%2, %1) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4x6xf32>, tensor<4x6xi1>) -> tensor<4x6xf32>
  %4 = plan.call "aten.sum.default"(%3) {self = #base.operand<0>} : (tensor<4x6xf32>) -> tensor<f32>
  return %1, %4 : tensor<4x6xi1>, tensor<f32>
}

// -----

// Attention keeps all of its probabilities. The operands after the dropped ones are renumbered.
plan.loss 0
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: %[[Q:arg0]]: tensor<2x4x8x8xf32>, %[[M:arg1]]: tensor<8x8xi1>)
// CHECK: plan.call "meshplan.attention"(%[[Q]], %[[Q]], %[[Q]], %[[M]]) {dropout = 0.000000e+00 : f64, key = #base.operand<1>, mask = #base.operand<3>, query = #base.operand<0>, value = #base.operand<2>}
func.func @forward(%q: tensor<2x4x8x8xf32>, %m: tensor<8x8xi1>, %seed: tensor<f64> {plan.kind = #plan.kind<setting>, plan.names = ["seed"], plan.value = 0.0 : f64},
                   %step: tensor<f64> {plan.kind = #plan.kind<setting>, plan.names = ["step"], plan.value = 1.0 : f64}) -> tensor<f32> {
  %0:2 = plan.call "meshplan.attention"(%q, %q, %seed, %q, %step, %m) {dropout = 0.25 : f64, key = #base.operand<1>, mask = #base.operand<5>, number = 0 : i64, query = #base.operand<0>, seed = #base.operand<2>, step = #base.operand<4>, value = #base.operand<3>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>, tensor<f64>, tensor<2x4x8x8xf32>, tensor<f64>, tensor<8x8xi1>) -> (tensor<2x4x8x8xf32>, tensor<2x4x8xf32>)
  %1 = plan.call "aten.sum.default"(%0#0) {self = #base.operand<0>} : (tensor<2x4x8x8xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// With microbatches, results that are not scalars are not outputs, and the loss stays the loss.
plan.loss 1
plan.microbatches 2
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: -> (tensor<f32> {plan.loss, plan.name = "loss"}, tensor<f32> {plan.name = "aux"})
// CHECK: return %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>
func.func @forward(%x: tensor<4xf32>) -> (tensor<4xf32> {plan.name = "logits"}, tensor<f32> {plan.name = "loss"}, tensor<f32> {plan.name = "aux"}) {
  %0 = plan.call "aten.relu.default"(%x) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  %2 = plan.call "aten.mean.default"(%0) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %0, %1, %2 : tensor<4xf32>, tensor<f32>, tensor<f32>
}

// -----

// A plan that does not train has no evaluation, and its program keeps no evaluation marks.
// CHECK-LABEL: func.func @forward(
// CHECK-NOT: plan.in_evaluation
// CHECK-NOT: @eval
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = plan.call "aten.mul.Scalar"(%x) {other = 0.0 : f64, self = #base.operand<0>} {plan.in_evaluation = #plan.stand_in<first_operand>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
