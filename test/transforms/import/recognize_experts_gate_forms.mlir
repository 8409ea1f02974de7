// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-recognize-experts -split-input-file | FileCheck %s

// Other forms of gates of all experts, and of their sums. All of them are routed.

// Scores plus a mask of -inf, at a temperature.
// CHECK-LABEL: func.func @hidden_by_sum
// CHECK: %[[WARM:.*]] = plan.call "aten.div.Tensor"(%{{.*}}) {other = {{.*}} -> tensor<2x3x2xf32>
// CHECK: plan.call "aten.softmax.int"(%[[WARM]])
// CHECK: meshplan.combine
func.func @hidden_by_sum(%x: tensor<2x3x8xf32>, %scores: tensor<2x3x4xf32>, %up: tensor<4x8x6xf32>, %down: tensor<4x6x8xf32>) -> tensor<2x3x8xf32> {
  %top:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %low = plan.call "aten.full.default"() {size = [2, 3, 4], fill_value = 0xFFF0000000000000 : f64, dtype = f32} in "mlp"
      : () -> tensor<2x3x4xf32>
  %m = plan.call "aten.scatter.value"(%low, %top#1)
      {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, value = 0 : i64} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x2xi64>) -> tensor<2x3x4xf32>
  %s = plan.call "aten.add.Tensor"(%scores, %m)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %t = plan.call "aten.div.Tensor"(%s)
      {self = #base.operand<0>, other = 0.7 : f64} in "mlp"
      : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %g = plan.call "aten.softmax.int"(%t)
      {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %h = plan.call "aten.einsum.default"(%x, %up)
      {equation = "bsd,edf->bsef", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x8xf32>, tensor<4x8x6xf32>) -> tensor<2x3x4x6xf32>
  %a = plan.call "aten.relu.default"(%h)
      {self = #base.operand<0>} in "mlp"
      : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %y = plan.call "aten.einsum.default"(%a, %down)
      {equation = "bsef,efd->bsed", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4x6xf32>, tensor<4x6x8xf32>) -> tensor<2x3x4x8xf32>
  %out = plan.call "aten.einsum.default"(%g, %y)
      {equation = "bse,bsed->bsd", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x8xf32>
  return %out : tensor<2x3x8xf32>
}

// -----

// A comparison of all slots with all experts, as a mask, times a number.
// CHECK-LABEL: func.func @compared
// CHECK: %[[TOP:.*]]:2 = plan.call "aten.topk.default"
// CHECK: plan.call "aten.mul.Tensor"(%[[TOP]]#0) {other = 2.5
// CHECK: meshplan.combine
func.func @compared(%x: tensor<2x3x8xf32>, %scores: tensor<2x3x4xf32>, %up: tensor<4x8x6xf32>, %down: tensor<4x6x8xf32>) -> tensor<2x3x8xf32> {
  %top:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %i = plan.call "aten.unsqueeze.default"(%top#1)
      {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2x1xi64>
  %n = plan.call "aten.arange.default"() {end = 4 : i64} in "mlp" : () -> tensor<4xi64>
  %e = plan.call "aten.eq.Tensor"(%i, %n)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2x1xi64>, tensor<4xi64>) -> tensor<2x3x2x4xi1>
  %m = plan.call "aten.any.dim"(%e)
      {self = #base.operand<0>, dim = -2 : i64} in "mlp"
      : (tensor<2x3x2x4xi1>) -> tensor<2x3x4xi1>
  %p = plan.call "aten.mul.Tensor"(%scores, %m)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4xi1>) -> tensor<2x3x4xf32>
  %g = plan.call "aten.mul.Tensor"(%p)
      {self = #base.operand<0>, other = 2.5 : f64} in "mlp"
      : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %h = plan.call "aten.einsum.default"(%x, %up)
      {equation = "bsd,edf->bsef", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x8xf32>, tensor<4x8x6xf32>) -> tensor<2x3x4x6xf32>
  %a = plan.call "aten.relu.default"(%h)
      {self = #base.operand<0>} in "mlp"
      : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %y = plan.call "aten.einsum.default"(%a, %down)
      {equation = "bsef,efd->bsed", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4x6xf32>, tensor<4x6x8xf32>) -> tensor<2x3x4x8xf32>
  %out = plan.call "aten.einsum.default"(%g, %y)
      {equation = "bse,bsed->bsd", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x8xf32>
  return %out : tensor<2x3x8xf32>
}

// -----

// What is added to zeros once.
// CHECK-LABEL: func.func @added_to_zeros
// CHECK: meshplan.dispatch_gates"(%0#0
// CHECK: meshplan.combine
func.func @added_to_zeros(%x: tensor<2x3x8xf32>, %scores: tensor<2x3x4xf32>, %up: tensor<4x8x6xf32>, %down: tensor<4x6x8xf32>) -> tensor<2x3x8xf32> {
  %top:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %z = plan.call "aten.full.default"() {size = [2, 3, 4], fill_value = 0.0 : f64, dtype = f32} in "mlp"
      : () -> tensor<2x3x4xf32>
  %g = plan.call "aten.scatter_add.default"(%z, %top#1, %top#0)
      {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, src = #base.operand<2>} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x2xi64>, tensor<2x3x2xf32>) -> tensor<2x3x4xf32>
  %h = plan.call "aten.einsum.default"(%x, %up)
      {equation = "bsd,edf->bsef", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x8xf32>, tensor<4x8x6xf32>) -> tensor<2x3x4x6xf32>
  %a = plan.call "aten.relu.default"(%h)
      {self = #base.operand<0>} in "mlp"
      : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %y = plan.call "aten.einsum.default"(%a, %down)
      {equation = "bsef,efd->bsed", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4x6xf32>, tensor<4x6x8xf32>) -> tensor<2x3x4x8xf32>
  %out = plan.call "aten.einsum.default"(%g, %y)
      {equation = "bse,bsed->bsd", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x8xf32>
  return %out : tensor<2x3x8xf32>
}

// -----

// One-hot vectors of the only expert.
// CHECK-LABEL: func.func @only_expert
// CHECK: plan.call "aten.gather.default"(%arg1, %{{.*}}) {{.*}} -> tensor<2x3x1xf32>
// CHECK: meshplan.combine
func.func @only_expert(%x: tensor<2x3x8xf32>, %scores: tensor<2x3x4xf32>, %up: tensor<4x8x6xf32>, %down: tensor<4x6x8xf32>) -> tensor<2x3x8xf32> {
  %top:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %i = plan.call "aten.argmax.default"(%scores)
      {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<2x3x4xf32>) -> tensor<2x3xi64>
  %o = plan.call "aten.one_hot.default"(%i)
      {self = #base.operand<0>, num_classes = 4 : i64} in "mlp"
      : (tensor<2x3xi64>) -> tensor<2x3x4xi64>
  %g = plan.call "aten.mul.Tensor"(%o, %scores)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x4xi64>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %h = plan.call "aten.einsum.default"(%x, %up)
      {equation = "bsd,edf->bsef", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x8xf32>, tensor<4x8x6xf32>) -> tensor<2x3x4x6xf32>
  %a = plan.call "aten.relu.default"(%h)
      {self = #base.operand<0>} in "mlp"
      : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %y = plan.call "aten.einsum.default"(%a, %down)
      {equation = "bsef,efd->bsed", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4x6xf32>, tensor<4x6x8xf32>) -> tensor<2x3x4x8xf32>
  %out = plan.call "aten.einsum.default"(%g, %y)
      {equation = "bse,bsed->bsd", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x8xf32>
  return %out : tensor<2x3x8xf32>
}

// -----

// Results that are stacked in front of the tokens.
// CHECK-LABEL: func.func @stacked_first
// CHECK: meshplan.combine
func.func @stacked_first(%x: tensor<6x8xf32>, %scores: tensor<6x4xf32>, %w0: tensor<8x8xf32>, %w1: tensor<8x8xf32>, %w2: tensor<8x8xf32>,
    %w3: tensor<8x8xf32>) -> tensor<6x8xf32> {
  %top:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %y0 = plan.call "aten.linear.default"(%x, %w0)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %y1 = plan.call "aten.linear.default"(%x, %w1)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %y2 = plan.call "aten.linear.default"(%x, %w2)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.2"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %y3 = plan.call "aten.linear.default"(%x, %w3)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.3"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %z = plan.call "aten.full.default"() {size = [6, 4], fill_value = 0.0 : f64, dtype = f32} in "mlp"
      : () -> tensor<6x4xf32>
  %g = plan.call "aten.scatter.src"(%z, %top#1, %top#0)
      {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, src = #base.operand<2>} in "mlp"
      : (tensor<6x4xf32>, tensor<6x2xi64>, tensor<6x2xf32>) -> tensor<6x4xf32>
  %s = plan.call "aten.stack.default"(%y0, %y1, %y2, %y3)
      {tensors = [#base.operand<0>, #base.operand<1>, #base.operand<2>, #base.operand<3>], dim = 0 : i64} in "mlp"
      : (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<4x6x8xf32>
  %t = plan.call "aten.t.default"(%g)
      {self = #base.operand<0>} in "mlp"
      : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %c = plan.call "aten.unsqueeze.default"(%t)
      {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  %p = plan.call "aten.mul.Tensor"(%s, %c)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<4x6x8xf32>, tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
  %out = plan.call "aten.sum.dim_IntList"(%p)
      {self = #base.operand<0>, dim = [0]} in "mlp"
      : (tensor<4x6x8xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}

// -----

// Results that are concatenated along a dim of their own, and a matrix product with the gates.
// CHECK-LABEL: func.func @matrix_product
// CHECK-NOT: aten.bmm
// CHECK: meshplan.combine
func.func @matrix_product(%x: tensor<6x8xf32>, %scores: tensor<6x4xf32>, %w0: tensor<8x8xf32>, %w1: tensor<8x8xf32>, %w2: tensor<8x8xf32>,
    %w3: tensor<8x8xf32>) -> tensor<6x8xf32> {
  %top:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %y0 = plan.call "aten.linear.default"(%x, %w0)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %y1 = plan.call "aten.linear.default"(%x, %w1)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %y2 = plan.call "aten.linear.default"(%x, %w2)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.2"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %y3 = plan.call "aten.linear.default"(%x, %w3)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.3"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %z = plan.call "aten.full.default"() {size = [6, 4], fill_value = 0.0 : f64, dtype = f32} in "mlp"
      : () -> tensor<6x4xf32>
  %g = plan.call "aten.scatter.src"(%z, %top#1, %top#0)
      {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, src = #base.operand<2>} in "mlp"
      : (tensor<6x4xf32>, tensor<6x2xi64>, tensor<6x2xf32>) -> tensor<6x4xf32>
  %u0 = plan.call "aten.unsqueeze.default"(%y0)
      {self = #base.operand<0>, dim = 1 : i64} in "mlp"
      : (tensor<6x8xf32>) -> tensor<6x1x8xf32>
  %u1 = plan.call "aten.unsqueeze.default"(%y1)
      {self = #base.operand<0>, dim = 1 : i64} in "mlp"
      : (tensor<6x8xf32>) -> tensor<6x1x8xf32>
  %u2 = plan.call "aten.unsqueeze.default"(%y2)
      {self = #base.operand<0>, dim = 1 : i64} in "mlp"
      : (tensor<6x8xf32>) -> tensor<6x1x8xf32>
  %u3 = plan.call "aten.unsqueeze.default"(%y3)
      {self = #base.operand<0>, dim = 1 : i64} in "mlp"
      : (tensor<6x8xf32>) -> tensor<6x1x8xf32>
  %s = plan.call "aten.cat.default"(%u0, %u1, %u2, %u3)
      {tensors = [#base.operand<0>, #base.operand<1>, #base.operand<2>, #base.operand<3>], dim = 1 : i64} in "mlp"
      : (tensor<6x1x8xf32>, tensor<6x1x8xf32>, tensor<6x1x8xf32>, tensor<6x1x8xf32>) -> tensor<6x4x8xf32>
  %w = plan.call "aten.unsqueeze.default"(%g)
      {self = #base.operand<0>, dim = 1 : i64} in "mlp"
      : (tensor<6x4xf32>) -> tensor<6x1x4xf32>
  %b = plan.call "aten.bmm.default"(%w, %s)
      {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp"
      : (tensor<6x1x4xf32>, tensor<6x4x8xf32>) -> tensor<6x1x8xf32>
  %out = plan.call "aten.squeeze.dim"(%b)
      {self = #base.operand<0>, dim = 1 : i64} in "mlp"
      : (tensor<6x1x8xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}

// -----

// A mask for each expert times its score, and a factor after the product. The scores are those that were sorted.
// CHECK-LABEL: func.func @masked_scores
// CHECK: %[[GATES:.*]] = plan.call "meshplan.dispatch_gates"(%0#0
// CHECK: plan.call "aten.mul.Tensor"(%{{.*}}) {other = 5.000000e-01
// CHECK: meshplan.combine
func.func @masked_scores(%x: tensor<6x8xf32>, %scores: tensor<6x4xf32>, %w0: tensor<8x8xf32>, %w1: tensor<8x8xf32>, %w2: tensor<8x8xf32>,
    %w3: tensor<8x8xf32>) -> tensor<6x8xf32> {
  %top:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %y0 = plan.call "aten.linear.default"(%x, %w0)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %y1 = plan.call "aten.linear.default"(%x, %w1)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %y2 = plan.call "aten.linear.default"(%x, %w2)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.2"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %y3 = plan.call "aten.linear.default"(%x, %w3)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.3"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %e0 = plan.call "aten.eq.Scalar"(%top#1)
      {self = #base.operand<0>, other = 0 : i64} in "mlp"
      : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %a0 = plan.call "aten.any.dim"(%e0)
      {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<6x2xi1>) -> tensor<6xi1>
  %s0 = plan.call "aten.select.int"(%scores)
      {self = #base.operand<0>, dim = 1 : i64, index = 0 : i64} in "mlp"
      : (tensor<6x4xf32>) -> tensor<6xf32>
  %m0 = plan.call "aten.mul.Tensor"(%s0, %a0)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6xf32>, tensor<6xi1>) -> tensor<6xf32>
  %g0 = plan.call "aten.unsqueeze.default"(%m0)
      {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<6xf32>) -> tensor<6x1xf32>
  %p0 = plan.call "aten.mul.Tensor"(%y0, %g0)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %h0 = plan.call "aten.mul.Tensor"(%p0)
      {self = #base.operand<0>, other = 0.5 : f64} in "mlp"
      : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %e1 = plan.call "aten.eq.Scalar"(%top#1)
      {self = #base.operand<0>, other = 1 : i64} in "mlp"
      : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %a1 = plan.call "aten.any.dim"(%e1)
      {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<6x2xi1>) -> tensor<6xi1>
  %s1 = plan.call "aten.select.int"(%scores)
      {self = #base.operand<0>, dim = 1 : i64, index = 1 : i64} in "mlp"
      : (tensor<6x4xf32>) -> tensor<6xf32>
  %m1 = plan.call "aten.mul.Tensor"(%s1, %a1)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6xf32>, tensor<6xi1>) -> tensor<6xf32>
  %g1 = plan.call "aten.unsqueeze.default"(%m1)
      {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<6xf32>) -> tensor<6x1xf32>
  %p1 = plan.call "aten.mul.Tensor"(%y1, %g1)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %h1 = plan.call "aten.mul.Tensor"(%p1)
      {self = #base.operand<0>, other = 0.5 : f64} in "mlp"
      : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %o1 = plan.call "aten.add.Tensor"(%h0, %h1)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %e2 = plan.call "aten.eq.Scalar"(%top#1)
      {self = #base.operand<0>, other = 2 : i64} in "mlp"
      : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %a2 = plan.call "aten.any.dim"(%e2)
      {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<6x2xi1>) -> tensor<6xi1>
  %s2 = plan.call "aten.select.int"(%scores)
      {self = #base.operand<0>, dim = 1 : i64, index = 2 : i64} in "mlp"
      : (tensor<6x4xf32>) -> tensor<6xf32>
  %m2 = plan.call "aten.mul.Tensor"(%s2, %a2)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6xf32>, tensor<6xi1>) -> tensor<6xf32>
  %g2 = plan.call "aten.unsqueeze.default"(%m2)
      {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<6xf32>) -> tensor<6x1xf32>
  %p2 = plan.call "aten.mul.Tensor"(%y2, %g2)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %h2 = plan.call "aten.mul.Tensor"(%p2)
      {self = #base.operand<0>, other = 0.5 : f64} in "mlp"
      : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %o2 = plan.call "aten.add.Tensor"(%o1, %h2)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %e3 = plan.call "aten.eq.Scalar"(%top#1)
      {self = #base.operand<0>, other = 3 : i64} in "mlp"
      : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %a3 = plan.call "aten.any.dim"(%e3)
      {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<6x2xi1>) -> tensor<6xi1>
  %s3 = plan.call "aten.select.int"(%scores)
      {self = #base.operand<0>, dim = 1 : i64, index = 3 : i64} in "mlp"
      : (tensor<6x4xf32>) -> tensor<6xf32>
  %m3 = plan.call "aten.mul.Tensor"(%s3, %a3)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6xf32>, tensor<6xi1>) -> tensor<6xf32>
  %g3 = plan.call "aten.unsqueeze.default"(%m3)
      {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<6xf32>) -> tensor<6x1xf32>
  %p3 = plan.call "aten.mul.Tensor"(%y3, %g3)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %h3 = plan.call "aten.mul.Tensor"(%p3)
      {self = #base.operand<0>, other = 0.5 : f64} in "mlp"
      : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %out = plan.call "aten.add.Tensor"(%o2, %h3)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}

// -----

// Each expert reads the values of the gates by a view of its own.
// CHECK-LABEL: func.func @views_of_gates
// CHECK: meshplan.route
// CHECK: %[[MADE:.*]] = plan.call "meshplan.grouped_linear"
// CHECK: meshplan.combine
func.func @views_of_gates(
    %x: tensor<3x2x4xf32>, %router: tensor<3x2x2xf32>,
    %w: tensor<2x4x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]}) -> tensor<3x2x4xf32> {
  %scores = plan.call "aten.view.default"(%router) {self = #base.operand<0>, size = [6, 2]} in "mlp"
      : (tensor<3x2x2xf32>) -> tensor<6x2xf32>
  %top:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp"
      : (tensor<6x2xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %chosen = plan.call "aten.view.default"(%top#1) {self = #base.operand<0>, size = [3, 2, 2]} in "mlp"
      : (tensor<6x2xi64>) -> tensor<3x2x2xi64>
  %w0 = plan.call "aten.select.int"(%w) {self = #base.operand<0>, dim = 0 : i64, index = 0 : i64} in "mlp"
      : (tensor<2x4x4xf32>) -> tensor<4x4xf32>
  %y0 = plan.call "aten.linear.default"(%x, %w0) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp"
      : (tensor<3x2x4xf32>, tensor<4x4xf32>) -> tensor<3x2x4xf32>
  %e0 = plan.call "aten.eq.Scalar"(%chosen) {self = #base.operand<0>, other = 0 : i64} in "mlp"
      : (tensor<3x2x2xi64>) -> tensor<3x2x2xi1>
  %v0 = plan.call "aten.reshape.default"(%top#0) {self = #base.operand<0>, shape = [3, 2, 2]} in "mlp"
      : (tensor<6x2xf32>) -> tensor<3x2x2xf32>
  %m0 = plan.call "aten.mul.Tensor"(%v0, %e0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<3x2x2xf32>, tensor<3x2x2xi1>) -> tensor<3x2x2xf32>
  %g0 = plan.call "aten.sum.dim_IntList"(%m0) {self = #base.operand<0>, dim = [2], keepdim = true} in "mlp"
      : (tensor<3x2x2xf32>) -> tensor<3x2x1xf32>
  %p0 = plan.call "aten.mul.Tensor"(%y0, %g0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<3x2x4xf32>, tensor<3x2x1xf32>) -> tensor<3x2x4xf32>
  %w1 = plan.call "aten.select.int"(%w) {self = #base.operand<0>, dim = 0 : i64, index = 1 : i64} in "mlp"
      : (tensor<2x4x4xf32>) -> tensor<4x4xf32>
  %y1 = plan.call "aten.linear.default"(%x, %w1) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp"
      : (tensor<3x2x4xf32>, tensor<4x4xf32>) -> tensor<3x2x4xf32>
  %e1 = plan.call "aten.eq.Scalar"(%chosen) {self = #base.operand<0>, other = 1 : i64} in "mlp"
      : (tensor<3x2x2xi64>) -> tensor<3x2x2xi1>
  %v1 = plan.call "aten.reshape.default"(%top#0) {self = #base.operand<0>, shape = [3, 2, 2]} in "mlp"
      : (tensor<6x2xf32>) -> tensor<3x2x2xf32>
  %m1 = plan.call "aten.mul.Tensor"(%v1, %e1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<3x2x2xf32>, tensor<3x2x2xi1>) -> tensor<3x2x2xf32>
  %g1 = plan.call "aten.sum.dim_IntList"(%m1) {self = #base.operand<0>, dim = [2], keepdim = true} in "mlp"
      : (tensor<3x2x2xf32>) -> tensor<3x2x1xf32>
  %p1 = plan.call "aten.mul.Tensor"(%y1, %g1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<3x2x4xf32>, tensor<3x2x1xf32>) -> tensor<3x2x4xf32>
  %out = plan.call "aten.add.Tensor"(%p0, %p1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  return %out : tensor<3x2x4xf32>
}

// -----

// One-hot vectors times the values of their slots as an einsum, with views between that merge the dims of tokens.
// CHECK-LABEL: func.func @product_with_one_hot
// CHECK: plan.call "meshplan.route"
// CHECK: plan.call "meshplan.dispatch_gates"
// CHECK: plan.call "meshplan.combine"
// CHECK-NOT: aten.einsum
func.func @product_with_one_hot(%x: tensor<6x8xf32>, %scores: tensor<2x3x4xf32>, %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]}) -> tensor<6x8xf32> {
  %g, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp" : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %hot = plan.call "aten.one_hot.default"(%i) {self = #base.operand<0>, num_classes = 4 : i64} in "mlp" : (tensor<2x3x2xi64>) -> tensor<2x3x2x4xi64>
  %real = plan.call "aten.to.dtype"(%hot) {self = #base.operand<0>, dtype = f32} in "mlp" : (tensor<2x3x2x4xi64>) -> tensor<2x3x2x4xf32>
  %flat = plan.call "aten.reshape.default"(%real) {self = #base.operand<0>, shape = [6, 2, 4]} in "mlp" : (tensor<2x3x2x4xf32>) -> tensor<6x2x4xf32>
  %values = plan.call "aten.reshape.default"(%g) {self = #base.operand<0>, shape = [6, 2]} in "mlp" : (tensor<2x3x2xf32>) -> tensor<6x2xf32>
  %all = plan.call "aten.einsum.default"(%flat, %values) {equation = "tke,tk->te", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x2x4xf32>, tensor<6x2xf32>) -> tensor<6x4xf32>
  %y = plan.call "aten.einsum.default"(%x, %up) {equation = "td,efd->tef", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x8xf32>, tensor<4x8x8xf32>) -> tensor<6x4x8xf32>
  %out = plan.call "aten.einsum.default"(%y, %all) {equation = "ted,te->td", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x4x8xf32>, tensor<6x4xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}

// -----

// Gates of tokens in one dim, which a view divides.
// CHECK-LABEL: func.func @divided_by_view
// CHECK: plan.call "meshplan.route"
// CHECK: plan.call "meshplan.combine"{{.*}} -> tensor<2x3x8xf32>
// CHECK-NOT: aten.linear
func.func @divided_by_view(%x: tensor<2x3x8xf32>, %scores: tensor<6x2xf32>, %a: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.0.weight"]}, %b: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.1.weight"]}) -> tensor<2x3x8xf32> {
  %g, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp" : (tensor<6x2xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %m0 = plan.call "aten.eq.Scalar"(%i) {self = #base.operand<0>, other = 0 : i64} in "mlp" : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %v0 = plan.call "aten.mul.Tensor"(%g, %m0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x2xf32>, tensor<6x2xi1>) -> tensor<6x2xf32>
  %s0 = plan.call "aten.sum.dim_IntList"(%v0) {self = #base.operand<0>, dim = [-1]} in "mlp" : (tensor<6x2xf32>) -> tensor<6xf32>
  %c0 = plan.call "aten.reshape.default"(%s0) {self = #base.operand<0>, shape = [2, 3, 1]} in "mlp" : (tensor<6xf32>) -> tensor<2x3x1xf32>
  %y0 = plan.call "aten.linear.default"(%x, %a) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0" : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %p0 = plan.call "aten.mul.Tensor"(%y0, %c0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x3x8xf32>, tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %m1 = plan.call "aten.eq.Scalar"(%i) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %v1 = plan.call "aten.mul.Tensor"(%g, %m1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x2xf32>, tensor<6x2xi1>) -> tensor<6x2xf32>
  %s1 = plan.call "aten.sum.dim_IntList"(%v1) {self = #base.operand<0>, dim = [-1]} in "mlp" : (tensor<6x2xf32>) -> tensor<6xf32>
  %c1 = plan.call "aten.reshape.default"(%s1) {self = #base.operand<0>, shape = [2, 3, 1]} in "mlp" : (tensor<6xf32>) -> tensor<2x3x1xf32>
  %y1 = plan.call "aten.linear.default"(%x, %b) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1" : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %p1 = plan.call "aten.mul.Tensor"(%y1, %c1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x3x8xf32>, tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %out = plan.call "aten.add.Tensor"(%p0, %p1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %out : tensor<2x3x8xf32>
}
