// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-recognize-experts -split-input-file -verify-diagnostics | FileCheck %s

// Gates of 4 experts for 2 x 3 tokens, computed for all experts, and 0 but for the 2 chosen ones. Only the values of
// chosen experts are needed.

// CHECK-LABEL: func.func @softmax_of_scatter
// CHECK-NEXT: %[[TOP:.*]]:2 = plan.call "aten.topk.default"
// CHECK-NEXT: %[[GATES:.*]] = plan.call "aten.softmax.int"(%[[TOP]]#0) {{.*}} -> tensor<2x3x2xf32>
// CHECK-NEXT: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"(%[[TOP]]#1) {experts = 4 : i64
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[ROUTE]]#0)
// CHECK-NEXT: %[[UP:.*]] = plan.call "meshplan.grouped_linear"(%[[ROWS]], %arg2, %[[ROUTE]]#1)
// CHECK-SAME: transposed = true
// CHECK-NEXT: %[[ACT:.*]] = plan.call "aten.relu.default"(%[[UP]])
// CHECK-NEXT: %[[DOWN:.*]] = plan.call "meshplan.grouped_linear"(%[[ACT]], %arg3, %[[ROUTE]]#1)
// CHECK-NEXT: %[[BIASED:.*]] = plan.call "meshplan.grouped_bias"(%[[DOWN]], %arg4, %[[ROUTE]]#1)
// CHECK-NEXT: %[[OWN:.*]] = plan.call "meshplan.dispatch_gates"(%[[GATES]], %[[ROUTE]]#0)
// CHECK-NEXT: %[[COLUMN:.*]] = plan.call "aten.unsqueeze.default"(%[[OWN]])
// CHECK-NEXT: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%[[BIASED]], %[[COLUMN]])
// CHECK-NEXT: %[[OUT:.*]] = plan.call "meshplan.combine"(%[[WEIGHTED]], %[[ROUTE]]#0)
// CHECK-NEXT: return %[[OUT]]
func.func @softmax_of_scatter(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x4xf32>,
    %up: tensor<4x8x6xf32>,
    %down: tensor<4x6x8xf32>,
    %bias: tensor<4x8xf32>) -> tensor<2x3x8xf32> {
  %top:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %low = plan.call "aten.full.default"() {size = [2, 3, 4], fill_value = 0xFFF0000000000000 : f64, dtype = f32} in "mlp"
      : () -> tensor<2x3x4xf32>
  %s = plan.call "aten.scatter.src"(%low, %top#1, %top#0)
      {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, src = #base.operand<2>} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x2xi64>, tensor<2x3x2xf32>) -> tensor<2x3x4xf32>
  %g = plan.call "aten.softmax.int"(%s)
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
  %z = plan.call "aten.add.Tensor"(%y, %bias)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x4x8xf32>, tensor<4x8xf32>) -> tensor<2x3x4x8xf32>
  %out = plan.call "aten.einsum.default"(%g, %z)
      {equation = "bse,bsed->bsd", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x8xf32>
  return %out : tensor<2x3x8xf32>
}

// -----

// A mask of chosen experts hides the scores of others. The scores are those of the topk, whose values are read.

// CHECK-LABEL: func.func @softmax_of_masked
// CHECK: %[[GATES:.*]] = plan.call "aten.softmax.int"(%0#0) {{.*}} -> tensor<2x3x2xf32>
// CHECK: plan.call "meshplan.dispatch_gates"(%[[GATES]]
// CHECK: meshplan.combine
func.func @softmax_of_masked(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x4xf32>,
    %up: tensor<4x8x6xf32>,
    %down: tensor<4x6x8xf32>,
    %bias: tensor<4x8xf32>) -> tensor<2x3x8xf32> {
  %top:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %none = plan.call "aten.full.default"() {size = [2, 3, 4], fill_value = false, dtype = i1} in "mlp"
      : () -> tensor<2x3x4xi1>
  %m = plan.call "aten.scatter.value"(%none, %top#1)
      {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, value = true} in "mlp"
      : (tensor<2x3x4xi1>, tensor<2x3x2xi64>) -> tensor<2x3x4xi1>
  %n = plan.call "aten.bitwise_not.default"(%m)
      {self = #base.operand<0>} in "mlp"
      : (tensor<2x3x4xi1>) -> tensor<2x3x4xi1>
  %s = plan.call "aten.masked_fill.Scalar"(%scores, %n)
      {self = #base.operand<0>, mask = #base.operand<1>, value = 0xFFF0000000000000 : f64} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4xi1>) -> tensor<2x3x4xf32>
  %g = plan.call "aten.softmax.int"(%s)
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
  %z = plan.call "aten.add.Tensor"(%y, %bias)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x4x8xf32>, tensor<4x8xf32>) -> tensor<2x3x4x8xf32>
  %out = plan.call "aten.einsum.default"(%g, %z)
      {equation = "bse,bsed->bsd", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x8xf32>
  return %out : tensor<2x3x8xf32>
}

// -----

// Probabilities times a mask, divided by their sum. They are other numbers than those that were sorted.

// CHECK-LABEL: func.func @renormalised
// CHECK: %[[P:.*]] = plan.call "aten.softmax.int"(%arg1)
// CHECK: %[[CHOSEN:.*]] = plan.call "aten.gather.default"(%[[P]], %0#1) {{.*}} -> tensor<2x3x2xf32>
// CHECK: %[[GATES:.*]] = plan.call "aten.div.Tensor"(%[[CHOSEN]], %{{.*}}) {{.*}} -> tensor<2x3x2xf32>
// CHECK: plan.call "meshplan.dispatch_gates"(%[[GATES]]
// CHECK: meshplan.combine
func.func @renormalised(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x4xf32>,
    %up: tensor<4x8x6xf32>,
    %down: tensor<4x6x8xf32>,
    %bias: tensor<4x8xf32>) -> tensor<2x3x8xf32> {
  %top:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %p = plan.call "aten.softmax.int"(%scores)
      {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %zero = plan.call "aten.full.default"() {size = [2, 3, 4], fill_value = 0.0 : f64, dtype = f32} in "mlp"
      : () -> tensor<2x3x4xf32>
  %m = plan.call "aten.scatter.value"(%zero, %top#1)
      {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, value = 1 : i64} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x2xi64>) -> tensor<2x3x4xf32>
  %k = plan.call "aten.mul.Tensor"(%p, %m)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %t = plan.call "aten.sum.dim_IntList"(%k)
      {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
  %g = plan.call "aten.div.Tensor"(%k, %t)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  %h = plan.call "aten.einsum.default"(%x, %up)
      {equation = "bsd,edf->bsef", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x8xf32>, tensor<4x8x6xf32>) -> tensor<2x3x4x6xf32>
  %a = plan.call "aten.relu.default"(%h)
      {self = #base.operand<0>} in "mlp"
      : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %y = plan.call "aten.einsum.default"(%a, %down)
      {equation = "bsef,efd->bsed", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4x6xf32>, tensor<4x6x8xf32>) -> tensor<2x3x4x8xf32>
  %z = plan.call "aten.add.Tensor"(%y, %bias)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x4x8xf32>, tensor<4x8xf32>) -> tensor<2x3x4x8xf32>
  %out = plan.call "aten.einsum.default"(%g, %z)
      {equation = "bse,bsed->bsd", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x8xf32>
  return %out : tensor<2x3x8xf32>
}

// -----

// The lowest number hides scores that a product makes.

// CHECK-LABEL: func.func @softmax_of_lowest
// CHECK: meshplan.combine
func.func @softmax_of_lowest(
    %x: tensor<2x3x8xf32>,
    %router: tensor<4x8xf32>,
    %up: tensor<4x8x6xf32>,
    %down: tensor<4x6x8xf32>,
    %bias: tensor<4x8xf32>) -> tensor<2x3x8xf32> {
  %scores = plan.call "aten.linear.default"(%x, %router)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.gate"
      : (tensor<2x3x8xf32>, tensor<4x8xf32>) -> tensor<2x3x4xf32>
  %top:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %low = plan.call "aten.full.default"() {size = [2, 3, 4], fill_value = -3.4028234663852886e+38 : f64, dtype = f32} in "mlp"
      : () -> tensor<2x3x4xf32>
  %s = plan.call "aten.scatter.src"(%low, %top#1, %top#0)
      {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, src = #base.operand<2>} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x2xi64>, tensor<2x3x2xf32>) -> tensor<2x3x4xf32>
  %g = plan.call "aten.softmax.int"(%s)
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
  %z = plan.call "aten.add.Tensor"(%y, %bias)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x4x8xf32>, tensor<4x8xf32>) -> tensor<2x3x4x8xf32>
  %out = plan.call "aten.einsum.default"(%g, %z)
      {equation = "bse,bsed->bsd", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x8xf32>
  return %out : tensor<2x3x8xf32>
}


// -----

// Other scores than -inf have a probability.

// CHECK-LABEL: func.func @softmax_of_low
// CHECK-NOT: meshplan.route
func.func @softmax_of_low(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x4xf32>,
    %up: tensor<4x8x6xf32>,
    %down: tensor<4x6x8xf32>,
    %bias: tensor<4x8xf32>) -> tensor<2x3x8xf32> {
  %top:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %low = plan.call "aten.full.default"() {size = [2, 3, 4], fill_value = -1.0 : f64, dtype = f32} in "mlp"
      : () -> tensor<2x3x4xf32>
  %s = plan.call "aten.scatter.src"(%low, %top#1, %top#0)
      {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, src = #base.operand<2>} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x2xi64>, tensor<2x3x2xf32>) -> tensor<2x3x4xf32>
  %g = plan.call "aten.softmax.int"(%s)
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
  %z = plan.call "aten.add.Tensor"(%y, %bias)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x4x8xf32>, tensor<4x8xf32>) -> tensor<2x3x4x8xf32>
  // expected-remark@+2 {{are computed as the model writes them: 'aten.einsum.default' in 'mlp' multiplies by gates that are not provably 0 for experts that a token has not chosen}}
  // expected-note@+1 {{help: make them from the indices of a topk}}
  %out = plan.call "aten.einsum.default"(%g, %z)
      {equation = "bse,bsed->bsd", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x8xf32>
  return %out : tensor<2x3x8xf32>
}

// -----

// A threshold chooses more experts where scores are equal.

// CHECK-LABEL: func.func @threshold
// CHECK-NOT: meshplan.route
func.func @threshold(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x4xf32>,
    %up: tensor<4x8x6xf32>,
    %down: tensor<4x6x8xf32>,
    %bias: tensor<4x8xf32>) -> tensor<2x3x8xf32> {
  %top:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %kth = plan.call "aten.slice.Tensor"(%top#0)
      {self = #base.operand<0>, dim = -1 : i64, start = 1 : i64, end = 2 : i64, step = 1 : i64} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %m = plan.call "aten.ge.Tensor"(%scores, %kth)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xi1>
  %g = plan.call "aten.where.ScalarOther"(%m, %scores)
      {condition = #base.operand<0>, self = #base.operand<1>, other = 0.0 : f64} in "mlp"
      : (tensor<2x3x4xi1>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %h = plan.call "aten.einsum.default"(%x, %up)
      {equation = "bsd,edf->bsef", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x8xf32>, tensor<4x8x6xf32>) -> tensor<2x3x4x6xf32>
  %a = plan.call "aten.relu.default"(%h)
      {self = #base.operand<0>} in "mlp"
      : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %y = plan.call "aten.einsum.default"(%a, %down)
      {equation = "bsef,efd->bsed", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4x6xf32>, tensor<4x6x8xf32>) -> tensor<2x3x4x8xf32>
  %z = plan.call "aten.add.Tensor"(%y, %bias)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x4x8xf32>, tensor<4x8xf32>) -> tensor<2x3x4x8xf32>
  // expected-remark@+2 {{multiplies by gates that are not provably 0}}
  // expected-note@+1 {{a threshold also chooses experts with equal scores}}
  %out = plan.call "aten.einsum.default"(%g, %z)
      {equation = "bse,bsed->bsd", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x8xf32>
  return %out : tensor<2x3x8xf32>
}

// -----

// What experts compute together.

// CHECK-LABEL: func.func @softmax_over_experts
// CHECK-NOT: meshplan.route
func.func @softmax_over_experts(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x4xf32>,
    %up: tensor<4x8x6xf32>,
    %down: tensor<4x6x8xf32>,
    %bias: tensor<4x8xf32>) -> tensor<2x3x8xf32> {
  %top:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %zero = plan.call "aten.full.default"() {size = [2, 3, 4], fill_value = 0.0 : f64, dtype = f32} in "mlp"
      : () -> tensor<2x3x4xf32>
  %g = plan.call "aten.scatter.src"(%zero, %top#1, %top#0)
      {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, src = #base.operand<2>} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x2xi64>, tensor<2x3x2xf32>) -> tensor<2x3x4xf32>
  %h = plan.call "aten.einsum.default"(%x, %up)
      {equation = "bsd,edf->bsef", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x8xf32>, tensor<4x8x6xf32>) -> tensor<2x3x4x6xf32>
  // expected-remark@+2 {{experts of 'mlp' are computed as the model writes them: 'aten.softmax.int' in 'mlp' computes in a form that is not known for experts}}
  // expected-note@+1 {{help: choose experts with topk}}
  %a = plan.call "aten.softmax.int"(%h)
      {self = #base.operand<0>, dim = 2 : i64} in "mlp"
      : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %y = plan.call "aten.einsum.default"(%a, %down)
      {equation = "bsef,efd->bsed", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4x6xf32>, tensor<4x6x8xf32>) -> tensor<2x3x4x8xf32>
  %z = plan.call "aten.add.Tensor"(%y, %bias)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x4x8xf32>, tensor<4x8xf32>) -> tensor<2x3x4x8xf32>
  %out = plan.call "aten.einsum.default"(%g, %z)
      {equation = "bse,bsed->bsd", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x8xf32>
  return %out : tensor<2x3x8xf32>
}

// -----

// Results of all experts, of which those of chosen ones are taken. Something is always said.

// CHECK-LABEL: func.func @taken_results
// CHECK-NOT: meshplan.route
func.func @taken_results(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x4xf32>,
    %up: tensor<4x8x6xf32> {plan.kind = #plan.kind<parameter>},
    %down: tensor<4x6x8xf32> {plan.kind = #plan.kind<parameter>},
    %bias: tensor<4x8xf32>) -> tensor<2x3x8xf32> {
  %top:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  // expected-remark@+2 {{'aten.topk.default' in 'mlp.gate' chooses some of them, but what 'aten.einsum.default' in 'mlp' makes is weighed and summed in a form that is not known}}
  // expected-note@+1 {{help: add what each expert makes times a gate}}
  %h = plan.call "aten.einsum.default"(%x, %up)
      {equation = "bsd,edf->bsef", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x8xf32>, tensor<4x8x6xf32>) -> tensor<2x3x4x6xf32>
  %y = plan.call "aten.einsum.default"(%h, %down)
      {equation = "bsef,efd->bsed", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4x6xf32>, tensor<4x6x8xf32>) -> tensor<2x3x4x8xf32>
  %i = plan.call "aten.unsqueeze.default"(%top#1) {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2x1xi64>
  %j = plan.call "aten.expand.default"(%i) {self = #base.operand<0>, size = [2, 3, 2, 8]} in "mlp"
      : (tensor<2x3x2x1xi64>) -> tensor<2x3x2x8xi64>
  %g = plan.call "aten.gather.default"(%y, %j) {self = #base.operand<0>, dim = 2 : i64, index = #base.operand<1>} in "mlp"
      : (tensor<2x3x4x8xf32>, tensor<2x3x2x8xi64>) -> tensor<2x3x2x8xf32>
  %out = plan.call "aten.sum.dim_IntList"(%g) {self = #base.operand<0>, dim = [2]} in "mlp"
      : (tensor<2x3x2x8xf32>) -> tensor<2x3x8xf32>
  return %out : tensor<2x3x8xf32>
}

// -----

// Experts that come before the router are computed after it.

// CHECK-LABEL: func.func @late_router
// CHECK: aten.topk
// CHECK: meshplan.route
// CHECK: meshplan.dispatch"
// CHECK: meshplan.grouped_linear
// CHECK: meshplan.combine
func.func @late_router(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x4xf32>,
    %up: tensor<4x8x6xf32>,
    %down: tensor<4x6x8xf32>,
    %bias: tensor<4x8xf32>) -> tensor<2x3x8xf32> {
  %h = plan.call "aten.einsum.default"(%x, %up)
      {equation = "bsd,edf->bsef", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x8xf32>, tensor<4x8x6xf32>) -> tensor<2x3x4x6xf32>
  %a = plan.call "aten.relu.default"(%h)
      {self = #base.operand<0>} in "mlp"
      : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %y = plan.call "aten.einsum.default"(%a, %down)
      {equation = "bsef,efd->bsed", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4x6xf32>, tensor<4x6x8xf32>) -> tensor<2x3x4x8xf32>
  %z = plan.call "aten.add.Tensor"(%y, %bias)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x4x8xf32>, tensor<4x8xf32>) -> tensor<2x3x4x8xf32>
  %top:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %low = plan.call "aten.full.default"() {size = [2, 3, 4], fill_value = 0xFFF0000000000000 : f64, dtype = f32} in "mlp"
      : () -> tensor<2x3x4xf32>
  %s = plan.call "aten.scatter.src"(%low, %top#1, %top#0)
      {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, src = #base.operand<2>} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x2xi64>, tensor<2x3x2xf32>) -> tensor<2x3x4xf32>
  %g = plan.call "aten.softmax.int"(%s)
      {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %out = plan.call "aten.einsum.default"(%g, %z)
      {equation = "bse,bsed->bsd", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x8xf32>
  return %out : tensor<2x3x8xf32>
}

// -----

// Values keep the dims of the indices, whatever a view has made of the tokens.

// CHECK-LABEL: func.func @softmax_of_view
// CHECK: plan.call "aten.softmax.int"(%{{.*}}#0) {dim = -1 : i64{{.*}} -> tensor<2x1x3x2xf32>
// CHECK: meshplan.combine
func.func @softmax_of_view(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x4xf32>,
    %up: tensor<4x8x6xf32>,
    %down: tensor<4x6x8xf32>,
    %bias: tensor<4x8xf32>) -> tensor<2x3x8xf32> {
  %wide = plan.call "aten.view.default"(%scores) {self = #base.operand<0>, size = [2, 1, 3, 4]} in "mlp.gate"
      : (tensor<2x3x4xf32>) -> tensor<2x1x3x4xf32>
  %top:2 = plan.call "aten.topk.default"(%wide) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x1x3x4xf32>) -> (tensor<2x1x3x2xf32>, tensor<2x1x3x2xi64>)
  %low = plan.call "aten.full.default"() {size = [2, 1, 3, 4], fill_value = 0xFFF0000000000000 : f64, dtype = f32} in "mlp"
      : () -> tensor<2x1x3x4xf32>
  %s = plan.call "aten.scatter.src"(%low, %top#1, %top#0)
      {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, src = #base.operand<2>} in "mlp"
      : (tensor<2x1x3x4xf32>, tensor<2x1x3x2xi64>, tensor<2x1x3x2xf32>) -> tensor<2x1x3x4xf32>
  %t = plan.call "aten.view.default"(%s) {self = #base.operand<0>, size = [2, 3, 4]} in "mlp"
      : (tensor<2x1x3x4xf32>) -> tensor<2x3x4xf32>
  %g = plan.call "aten.softmax.int"(%t) {self = #base.operand<0>, dim = 2 : i64} in "mlp"
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
  %z = plan.call "aten.add.Tensor"(%y, %bias)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x4x8xf32>, tensor<4x8xf32>) -> tensor<2x3x4x8xf32>
  %out = plan.call "aten.einsum.default"(%g, %z)
      {equation = "bse,bsed->bsd", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x8xf32>
  return %out : tensor<2x3x8xf32>
}

// -----

// A sum of a tensor with itself has one operand, and is not one with a number.

// CHECK-LABEL: func.func @sum_with_itself
// CHECK-NOT: meshplan.route
func.func @sum_with_itself(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x4xf32>,
    %up: tensor<4x8x6xf32>,
    %down: tensor<4x6x8xf32>,
    %bias: tensor<4x8xf32>) -> tensor<2x3x8xf32> {
  %top:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %ones = plan.call "aten.full.default"() {size = [2, 3, 4], fill_value = 1.0 : f64, dtype = f32} in "mlp"
      : () -> tensor<2x3x4xf32>
  %drop = plan.call "aten.scatter.value"(%ones, %top#1)
      {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, value = 0 : i64} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x2xi64>) -> tensor<2x3x4xf32>
  %two = plan.call "aten.add.Tensor"(%drop) {self = #base.operand<0>, other = #base.operand<0>} in "mlp"
      : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %m = plan.call "aten.eq.Scalar"(%two) {self = #base.operand<0>, other = 1.0 : f64} in "mlp"
      : (tensor<2x3x4xf32>) -> tensor<2x3x4xi1>
  %s = plan.call "aten.masked_fill.Scalar"(%scores, %m)
      {self = #base.operand<0>, mask = #base.operand<1>, value = 0xFFF0000000000000 : f64} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4xi1>) -> tensor<2x3x4xf32>
  %g = plan.call "aten.softmax.int"(%s) {self = #base.operand<0>, dim = -1 : i64} in "mlp"
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
  %z = plan.call "aten.add.Tensor"(%y, %bias)
      {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x4x8xf32>, tensor<4x8xf32>) -> tensor<2x3x4x8xf32>
  // expected-remark@+2 {{multiplies by gates that are not provably 0}}
  // expected-note@+1 {{a threshold also chooses experts with equal scores}}
  %out = plan.call "aten.einsum.default"(%g, %z)
      {equation = "bse,bsed->bsd", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp"
      : (tensor<2x3x4xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x8xf32>
  return %out : tensor<2x3x8xf32>
}
