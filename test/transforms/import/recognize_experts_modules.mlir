// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-recognize-experts -split-input-file -verify-diagnostics | FileCheck %s

// 3 experts that are modules of their own and compute all of 2 x 3 tokens of 8 features. A token chooses 2 of them.

// A mask for each expert. Parameters of the experts are stacked.
// CHECK-LABEL: func.func @masks
// CHECK-NEXT: %[[CHOICE:.*]]:2 = plan.call "aten.topk.default"(%arg1)
// CHECK-NEXT: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"(%[[CHOICE]]#1) {experts = 3 : i64
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[ROUTE]]#0)
// CHECK-SAME: (tensor<2x3x8xf32>, tensor<3x2x3xi64>) -> tensor<3x2x3x8xf32>
// CHECK-NEXT: %[[WEIGHT:.*]] = plan.call "aten.stack.default"(%arg2, %arg3, %arg4)
// CHECK-SAME: {dim = 0 : i64, tensors = [#base.operand<0>, #base.operand<1>, #base.operand<2>]} in "mlp.experts.0.w" : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<3x8x8xf32>
// CHECK-NEXT: %[[PRODUCT:.*]] = plan.call "meshplan.grouped_linear"(%[[ROWS]], %[[WEIGHT]], %[[ROUTE]]#1)
// CHECK-SAME: transposed = false
// CHECK-NEXT: %[[BIAS:.*]] = plan.call "aten.stack.default"(%arg5, %arg6, %arg7) {{.*}} -> tensor<3x8xf32>
// CHECK-NEXT: %[[SUM:.*]] = plan.call "meshplan.grouped_bias"(%[[PRODUCT]], %[[BIAS]], %[[ROUTE]]#1)
// CHECK-NEXT: %[[ACT:.*]] = plan.call "aten.relu.default"(%[[SUM]])
// CHECK-NEXT: %[[GATES:.*]] = plan.call "meshplan.dispatch_gates"(%[[CHOICE]]#0, %[[ROUTE]]#0)
// CHECK-NEXT: %[[COLUMN:.*]] = plan.call "aten.unsqueeze.default"(%[[GATES]]) {dim = -1 : i64
// CHECK-NEXT: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%[[COLUMN]], %[[ACT]])
// CHECK-NEXT: %[[OUT:.*]] = plan.call "meshplan.combine"(%[[WEIGHTED]], %[[ROUTE]]#0)
// CHECK-SAME: size = [2, 3, 8], slots = 2 : i64
// CHECK-NEXT: return %[[OUT]]
func.func @masks(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x3xf32>,
    %w0: tensor<8x8xf32>,
    %w1: tensor<8x8xf32>,
    %w2: tensor<8x8xf32>,
    %b0: tensor<8xf32>,
    %b1: tensor<8xf32>,
    %b2: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x3xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %1 = plan.call "aten.zeros.default"() {size = [2, 3, 8], dtype = f32} in "mlp" : () -> tensor<2x3x8xf32>
  %2 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 0 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %3 = plan.call "aten.mul.Tensor"(%0#0, %2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %4 = plan.call "aten.sum.dim_IntList"(%3) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %5 = plan.call "aten.linear.default"(%x, %w0, %b0)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "mlp.experts.0.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %6 = plan.call "aten.relu.default"(%5) {self = #base.operand<0>} in "mlp.experts.0"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %7 = plan.call "aten.mul.Tensor"(%4, %6) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %8 = plan.call "aten.add.Tensor"(%1, %7) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %9 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 1 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %10 = plan.call "aten.mul.Tensor"(%0#0, %9) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %11 = plan.call "aten.sum.dim_IntList"(%10) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %12 = plan.call "aten.linear.default"(%x, %w1, %b1)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "mlp.experts.1.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %13 = plan.call "aten.relu.default"(%12) {self = #base.operand<0>} in "mlp.experts.1"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %14 = plan.call "aten.mul.Tensor"(%11, %13) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %15 = plan.call "aten.add.Tensor"(%8, %14) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %16 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 2 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %17 = plan.call "aten.mul.Tensor"(%0#0, %16) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %18 = plan.call "aten.sum.dim_IntList"(%17) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %19 = plan.call "aten.linear.default"(%x, %w2, %b2)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "mlp.experts.2.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %20 = plan.call "aten.relu.default"(%19) {self = #base.operand<0>} in "mlp.experts.2"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %21 = plan.call "aten.mul.Tensor"(%18, %20) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %22 = plan.call "aten.add.Tensor"(%15, %21) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %22 : tensor<2x3x8xf32>
}

// -----

// Dropouts of what is inside the experts, and of their results. The elements that they drop follow from the token and the
// expert of a row.
// CHECK-LABEL: func.func @dropouts
// CHECK: %[[CHOICE:.*]]:2 = plan.call "aten.topk.default"
// CHECK: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"(%[[CHOICE]]#1)
// CHECK: %[[TOKENS:.*]] = plan.call "aten.arange.start_step"() {end = 18 : i64, start = 0 : i64, step = 3 : i64} {{.*}} -> tensor<6xi64>
// CHECK: %[[SPREAD:.*]] = plan.call "aten.reshape.default"(%[[TOKENS]]) {{.*}} -> tensor<2x3x1xi64>
// CHECK: %[[PAIRS:.*]] = plan.call "aten.add.Tensor"(%[[CHOICE]]#1, %[[SPREAD]]) {{.*}} -> tensor<2x3x2xi64>
// CHECK: %[[POSITIONS:.*]] = plan.call "meshplan.dispatch_gates"(%[[PAIRS]], %[[ROUTE]]#0) {{.*}} -> tensor<3x2x3xi64>
// CHECK: %[[ACT:.*]] = plan.call "aten.relu.default"
// CHECK: %[[INSIDE:.*]] = plan.call "meshplan.dropout_rows"(%[[ACT]], %[[POSITIONS]]) {p = 2.500000e-01 : f64, positions = #base.operand<1>, rows = #base.operand<0>} in "mlp.experts.0"
// CHECK: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%{{.*}}, %[[INSIDE]])
// CHECK: %[[OUTSIDE:.*]] = plan.call "meshplan.dropout_rows"(%[[WEIGHTED]], %[[POSITIONS]]) {p = 5.000000e-01 : f64
// CHECK: plan.call "meshplan.combine"(%[[OUTSIDE]], %[[ROUTE]]#0)
// CHECK-NOT: aten.dropout
// CHECK: return
func.func @dropouts(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x3xf32>,
    %w0: tensor<8x8xf32>,
    %w1: tensor<8x8xf32>,
    %w2: tensor<8x8xf32>,
    %b0: tensor<8xf32>,
    %b1: tensor<8xf32>,
    %b2: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x3xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %1 = plan.call "aten.zeros.default"() {size = [2, 3, 8], dtype = f32} in "mlp" : () -> tensor<2x3x8xf32>
  %2 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 0 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %3 = plan.call "aten.mul.Tensor"(%0#0, %2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %4 = plan.call "aten.sum.dim_IntList"(%3) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %5 = plan.call "aten.linear.default"(%x, %w0, %b0)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "mlp.experts.0.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %6 = plan.call "aten.relu.default"(%5) {self = #base.operand<0>} in "mlp.experts.0"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %d0 = plan.call "aten.dropout.default"(%6) {input = #base.operand<0>, p = 0.25 : f64, train = true} in "mlp.experts.0"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %7 = plan.call "aten.mul.Tensor"(%4, %d0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %o0 = plan.call "aten.dropout.default"(%7) {input = #base.operand<0>, p = 0.5 : f64, train = true} in "mlp"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %8 = plan.call "aten.add.Tensor"(%1, %o0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %9 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 1 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %10 = plan.call "aten.mul.Tensor"(%0#0, %9) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %11 = plan.call "aten.sum.dim_IntList"(%10) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %12 = plan.call "aten.linear.default"(%x, %w1, %b1)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "mlp.experts.1.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %13 = plan.call "aten.relu.default"(%12) {self = #base.operand<0>} in "mlp.experts.1"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %d1 = plan.call "aten.dropout.default"(%13) {input = #base.operand<0>, p = 0.25 : f64, train = true} in "mlp.experts.1"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %14 = plan.call "aten.mul.Tensor"(%11, %d1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %o1 = plan.call "aten.dropout.default"(%14) {input = #base.operand<0>, p = 0.5 : f64, train = true} in "mlp"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %15 = plan.call "aten.add.Tensor"(%8, %o1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %16 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 2 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %17 = plan.call "aten.mul.Tensor"(%0#0, %16) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %18 = plan.call "aten.sum.dim_IntList"(%17) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %19 = plan.call "aten.linear.default"(%x, %w2, %b2)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "mlp.experts.2.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %20 = plan.call "aten.relu.default"(%19) {self = #base.operand<0>} in "mlp.experts.2"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %d2 = plan.call "aten.dropout.default"(%20) {input = #base.operand<0>, p = 0.25 : f64, train = true} in "mlp.experts.2"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %21 = plan.call "aten.mul.Tensor"(%18, %d2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %o2 = plan.call "aten.dropout.default"(%21) {input = #base.operand<0>, p = 0.5 : f64, train = true} in "mlp"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %22 = plan.call "aten.add.Tensor"(%15, %o2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %22 : tensor<2x3x8xf32>
}

// -----

// What draws other numbers stays, with the reason.
// CHECK-LABEL: func.func @alpha_dropouts
// CHECK-NOT: meshplan
func.func @alpha_dropouts(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x3xf32>,
    %w0: tensor<8x8xf32>,
    %w1: tensor<8x8xf32>,
    %w2: tensor<8x8xf32>,
    %b0: tensor<8xf32>,
    %b1: tensor<8xf32>,
    %b2: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x3xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %1 = plan.call "aten.zeros.default"() {size = [2, 3, 8], dtype = f32} in "mlp" : () -> tensor<2x3x8xf32>
  %2 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 0 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %3 = plan.call "aten.mul.Tensor"(%0#0, %2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %4 = plan.call "aten.sum.dim_IntList"(%3) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %5 = plan.call "aten.linear.default"(%x, %w0, %b0)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "mlp.experts.0.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %6 = plan.call "aten.relu.default"(%5) {self = #base.operand<0>} in "mlp.experts.0"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  // expected-remark@below {{experts of 'mlp.experts.0' are computed as the model writes them: 'aten.alpha_dropout.default' in 'mlp.experts.0' computes in a form that is not known for experts}}
  // expected-note@below {{help: of what draws random numbers, a dropout of each element (torch.nn.Dropout) is known here; draw others after the mixture, or export after 'model.eval()'}}
  %d0 = plan.call "aten.alpha_dropout.default"(%6) {input = #base.operand<0>, p = 0.25 : f64, train = true} in "mlp.experts.0"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %7 = plan.call "aten.mul.Tensor"(%4, %d0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %8 = plan.call "aten.add.Tensor"(%1, %7) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %9 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 1 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %10 = plan.call "aten.mul.Tensor"(%0#0, %9) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %11 = plan.call "aten.sum.dim_IntList"(%10) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %12 = plan.call "aten.linear.default"(%x, %w1, %b1)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "mlp.experts.1.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %13 = plan.call "aten.relu.default"(%12) {self = #base.operand<0>} in "mlp.experts.1"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %d1 = plan.call "aten.alpha_dropout.default"(%13) {input = #base.operand<0>, p = 0.25 : f64, train = true} in "mlp.experts.1"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %14 = plan.call "aten.mul.Tensor"(%11, %d1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %15 = plan.call "aten.add.Tensor"(%8, %14) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %16 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 2 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %17 = plan.call "aten.mul.Tensor"(%0#0, %16) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %18 = plan.call "aten.sum.dim_IntList"(%17) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %19 = plan.call "aten.linear.default"(%x, %w2, %b2)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "mlp.experts.2.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>
  %20 = plan.call "aten.relu.default"(%19) {self = #base.operand<0>} in "mlp.experts.2"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %d2 = plan.call "aten.alpha_dropout.default"(%20) {input = #base.operand<0>, p = 0.25 : f64, train = true} in "mlp.experts.2"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %21 = plan.call "aten.mul.Tensor"(%18, %d2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %22 = plan.call "aten.add.Tensor"(%15, %21) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %22 : tensor<2x3x8xf32>
}

// -----

// The gates of all experts, of which one is taken. Something else is added first.
// CHECK-LABEL: func.func @scattered
// CHECK-NEXT: %[[CHOICE:.*]]:2 = plan.call "aten.topk.default"(%arg1)
// CHECK: %[[PRODUCT:.*]] = plan.call "meshplan.grouped_linear"
// CHECK-NEXT: %[[GATES:.*]] = plan.call "meshplan.dispatch_gates"(%[[CHOICE]]#0, %{{.*}}#0)
// CHECK-NEXT: %[[COLUMN:.*]] = plan.call "aten.unsqueeze.default"(%[[GATES]])
// CHECK-NEXT: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%[[PRODUCT]], %[[COLUMN]])
// CHECK-NEXT: %[[SUM:.*]] = plan.call "meshplan.combine"(%[[WEIGHTED]], %{{.*}}#0)
// CHECK-NEXT: %[[OUT:.*]] = plan.call "aten.add.Tensor"(%arg0, %[[SUM]])
// CHECK-NEXT: return %[[OUT]]
func.func @scattered(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x3xf32>,
    %w0: tensor<8x8xf32>,
    %w1: tensor<8x8xf32>,
    %w2: tensor<8x8xf32>) -> tensor<2x3x8xf32> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x3xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %1 = plan.call "aten.zeros.default"() {size = [2, 3, 3], dtype = f32} in "mlp" : () -> tensor<2x3x3xf32>
  %2 = plan.call "aten.scatter.src"(%1, %0#1, %0#0)
      {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, src = #base.operand<2>} in "mlp"
      : (tensor<2x3x3xf32>, tensor<2x3x2xi64>, tensor<2x3x2xf32>) -> tensor<2x3x3xf32>
  %3 = plan.call "aten.linear.default"(%x, %w0)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %4 = plan.call "aten.select.int"(%2) {self = #base.operand<0>, dim = 2 : i64, index = 0 : i64} in "mlp"
      : (tensor<2x3x3xf32>) -> tensor<2x3xf32>
  %5 = plan.call "aten.unsqueeze.default"(%4) {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  %6 = plan.call "aten.mul.Tensor"(%3, %5) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %7 = plan.call "aten.add.Tensor"(%x, %6) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %8 = plan.call "aten.linear.default"(%x, %w1)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %9 = plan.call "aten.select.int"(%2) {self = #base.operand<0>, dim = 2 : i64, index = 1 : i64} in "mlp"
      : (tensor<2x3x3xf32>) -> tensor<2x3xf32>
  %10 = plan.call "aten.unsqueeze.default"(%9) {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  %11 = plan.call "aten.mul.Tensor"(%8, %10) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %12 = plan.call "aten.add.Tensor"(%7, %11) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %13 = plan.call "aten.linear.default"(%x, %w2)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.2.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %14 = plan.call "aten.select.int"(%2) {self = #base.operand<0>, dim = 2 : i64, index = 2 : i64} in "mlp"
      : (tensor<2x3x3xf32>) -> tensor<2x3xf32>
  %15 = plan.call "aten.unsqueeze.default"(%14) {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  %16 = plan.call "aten.mul.Tensor"(%13, %15) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %17 = plan.call "aten.add.Tensor"(%12, %16) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %17 : tensor<2x3x8xf32>
}

// -----

// Gates by one-hot vectors, weights that are converted, and another order of the experts.
// CHECK-LABEL: func.func @one_hot
// CHECK: %[[VALUES:.*]] = plan.call "aten.to.dtype"(%{{.*}}#0) {dtype = bf16
// CHECK: plan.call "meshplan.dispatch"(%arg0
// CHECK-NEXT: %[[STACK:.*]] = plan.call "aten.stack.default"(%arg2, %arg3, %arg4) {{.*}} -> tensor<3x8x8xf32>
// CHECK-NEXT: %[[WEIGHT:.*]] = plan.call "aten.to.dtype"(%[[STACK]]) {dtype = bf16
// CHECK-NEXT: %[[PRODUCT:.*]] = plan.call "meshplan.grouped_linear"(%{{.*}}, %[[WEIGHT]], %{{.*}}#1) {{.*}} -> tensor<3x2x3x8xbf16>
// CHECK-NEXT: plan.call "meshplan.dispatch_gates"(%[[VALUES]]
// CHECK: %[[OUT:.*]] = plan.call "meshplan.combine"{{.*}} -> tensor<2x3x8xbf16>
// CHECK-NEXT: return %[[OUT]]
func.func @one_hot(
    %x: tensor<2x3x8xbf16>,
    %scores: tensor<2x3x3xf32>,
    %w0: tensor<8x8xf32>,
    %w1: tensor<8x8xf32>,
    %w2: tensor<8x8xf32>) -> tensor<2x3x8xbf16> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x3xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %1 = plan.call "aten.one_hot.default"(%0#1) {self = #base.operand<0>, num_classes = 3 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2x3xi64>
  %2 = plan.call "aten.to.dtype"(%1) {self = #base.operand<0>, dtype = bf16} in "mlp"
      : (tensor<2x3x2x3xi64>) -> tensor<2x3x2x3xbf16>
  %3 = plan.call "aten.to.dtype"(%0#0) {self = #base.operand<0>, dtype = bf16} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x2xbf16>
  %4 = plan.call "aten.unsqueeze.default"(%3) {self = #base.operand<0>, dim = 3 : i64} in "mlp"
      : (tensor<2x3x2xbf16>) -> tensor<2x3x2x1xbf16>
  %5 = plan.call "aten.mul.Tensor"(%2, %4) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2x3xbf16>, tensor<2x3x2x1xbf16>) -> tensor<2x3x2x3xbf16>
  %6 = plan.call "aten.sum.dim_IntList"(%5) {self = #base.operand<0>, dim = [-2]} in "mlp"
      : (tensor<2x3x2x3xbf16>) -> tensor<2x3x3xbf16>
  %7:3 = plan.call "aten.split_with_sizes.default"(%6)
      {self = #base.operand<0>, split_sizes = [1, 1, 1], dim = -1 : i64} in "mlp"
      : (tensor<2x3x3xbf16>) -> (tensor<2x3x1xbf16>, tensor<2x3x1xbf16>, tensor<2x3x1xbf16>)
  %8 = plan.call "aten.to.dtype"(%w1) {self = #base.operand<0>, dtype = bf16} in "mlp.experts.1.w"
      : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  %9 = plan.call "aten.linear.default"(%x, %8)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1.w"
      : (tensor<2x3x8xbf16>, tensor<8x8xbf16>) -> tensor<2x3x8xbf16>
  %10 = plan.call "aten.mul.Tensor"(%7#1, %9) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xbf16>, tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  %11 = plan.call "aten.add.Tensor"(%10) {self = #base.operand<0>, other = 0 : i64} in "mlp"
      : (tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  %12 = plan.call "aten.to.dtype"(%w0) {self = #base.operand<0>, dtype = bf16} in "mlp.experts.0.w"
      : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  %13 = plan.call "aten.linear.default"(%x, %12)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0.w"
      : (tensor<2x3x8xbf16>, tensor<8x8xbf16>) -> tensor<2x3x8xbf16>
  %14 = plan.call "aten.mul.Tensor"(%7#0, %13) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xbf16>, tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  %15 = plan.call "aten.add.Tensor"(%11, %14) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xbf16>, tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  %16 = plan.call "aten.to.dtype"(%w2) {self = #base.operand<0>, dtype = bf16} in "mlp.experts.2.w"
      : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  %17 = plan.call "aten.linear.default"(%x, %16)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.2.w"
      : (tensor<2x3x8xbf16>, tensor<8x8xbf16>) -> tensor<2x3x8xbf16>
  %18 = plan.call "aten.mul.Tensor"(%7#2, %17) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xbf16>, tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  %19 = plan.call "aten.add.Tensor"(%15, %18) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xbf16>, tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  return %19 : tensor<2x3x8xbf16>
}

// -----

// The same with a router that computes rows, and views of what it gives.
// CHECK-LABEL: func.func @one_hot_of_rows
// CHECK: %[[IDS:.*]] = plan.call "aten.view.default"(%{{.*}}#1)
// CHECK: plan.call "meshplan.route"(%[[IDS]]) {experts = 3 : i64
// CHECK: plan.call "meshplan.dispatch"(%arg0
// CHECK: plan.call "meshplan.combine"{{.*}} -> tensor<2x3x8xbf16>
func.func @one_hot_of_rows(
    %x: tensor<2x3x8xbf16>,
    %scores: tensor<6x3xf32>,
    %w0: tensor<8x8xf32>,
    %w1: tensor<8x8xf32>,
    %w2: tensor<8x8xf32>) -> tensor<2x3x8xbf16> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<6x3xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %values = plan.call "aten.view.default"(%0#0) {self = #base.operand<0>, size = [2, 3, -1]} in "mlp"
      : (tensor<6x2xf32>) -> tensor<2x3x2xf32>
  %ids = plan.call "aten.view.default"(%0#1) {self = #base.operand<0>, size = [2, 3, -1]} in "mlp"
      : (tensor<6x2xi64>) -> tensor<2x3x2xi64>
  %1 = plan.call "aten.one_hot.default"(%ids) {self = #base.operand<0>, num_classes = 3 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2x3xi64>
  %2 = plan.call "aten.to.dtype"(%1) {self = #base.operand<0>, dtype = bf16} in "mlp"
      : (tensor<2x3x2x3xi64>) -> tensor<2x3x2x3xbf16>
  %3 = plan.call "aten.to.dtype"(%values) {self = #base.operand<0>, dtype = bf16} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x2xbf16>
  %4 = plan.call "aten.unsqueeze.default"(%3) {self = #base.operand<0>, dim = 3 : i64} in "mlp"
      : (tensor<2x3x2xbf16>) -> tensor<2x3x2x1xbf16>
  %5 = plan.call "aten.mul.Tensor"(%2, %4) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2x3xbf16>, tensor<2x3x2x1xbf16>) -> tensor<2x3x2x3xbf16>
  %6 = plan.call "aten.sum.dim_IntList"(%5) {self = #base.operand<0>, dim = [-2]} in "mlp"
      : (tensor<2x3x2x3xbf16>) -> tensor<2x3x3xbf16>
  %7:3 = plan.call "aten.split_with_sizes.default"(%6)
      {self = #base.operand<0>, split_sizes = [1, 1, 1], dim = -1 : i64} in "mlp"
      : (tensor<2x3x3xbf16>) -> (tensor<2x3x1xbf16>, tensor<2x3x1xbf16>, tensor<2x3x1xbf16>)
  %8 = plan.call "aten.to.dtype"(%w1) {self = #base.operand<0>, dtype = bf16} in "mlp.experts.1.w"
      : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  %9 = plan.call "aten.linear.default"(%x, %8)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1.w"
      : (tensor<2x3x8xbf16>, tensor<8x8xbf16>) -> tensor<2x3x8xbf16>
  %10 = plan.call "aten.mul.Tensor"(%7#1, %9) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xbf16>, tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  %11 = plan.call "aten.add.Tensor"(%10) {self = #base.operand<0>, other = 0 : i64} in "mlp"
      : (tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  %12 = plan.call "aten.to.dtype"(%w0) {self = #base.operand<0>, dtype = bf16} in "mlp.experts.0.w"
      : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  %13 = plan.call "aten.linear.default"(%x, %12)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0.w"
      : (tensor<2x3x8xbf16>, tensor<8x8xbf16>) -> tensor<2x3x8xbf16>
  %14 = plan.call "aten.mul.Tensor"(%7#0, %13) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xbf16>, tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  %15 = plan.call "aten.add.Tensor"(%11, %14) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xbf16>, tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  %16 = plan.call "aten.to.dtype"(%w2) {self = #base.operand<0>, dtype = bf16} in "mlp.experts.2.w"
      : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  %17 = plan.call "aten.linear.default"(%x, %16)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.2.w"
      : (tensor<2x3x8xbf16>, tensor<8x8xbf16>) -> tensor<2x3x8xbf16>
  %18 = plan.call "aten.mul.Tensor"(%7#2, %17) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xbf16>, tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  %19 = plan.call "aten.add.Tensor"(%15, %18) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xbf16>, tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  return %19 : tensor<2x3x8xbf16>
}

// -----

// Experts of a list whose parameters are stacked, under autocast: their parts are converted, and rows of 16 bits are
// summed in 32.
// CHECK-LABEL: func.func @converted_parts
// CHECK: plan.call "meshplan.dispatch"(%arg0
// CHECK-NEXT: %[[WEIGHT:.*]] = plan.call "aten.to.dtype"(%arg2) {dtype = bf16, self = #base.operand<0>} in "mlp.experts.0.w" : (tensor<2x8x8xf32>) -> tensor<2x8x8xbf16>
// CHECK-NEXT: plan.call "meshplan.grouped_linear"(%{{.*}}, %[[WEIGHT]], %{{.*}}#1)
// CHECK: %[[WIDE:.*]] = plan.call "aten.to.dtype"(%{{.*}}) {dtype = f32, self = #base.operand<0>} in "mlp" : (tensor<2x2x3x8xbf16>) -> tensor<2x2x3x8xf32>
// CHECK-NEXT: plan.call "meshplan.combine"(%[[WIDE]]
func.func @converted_parts(%x: tensor<2x3x8xbf16>, %scores: tensor<2x3x2xf32>, %w: tensor<2x8x8xf32>) -> tensor<2x3x8xf32> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 1 : i64} in "mlp.gate"
      : (tensor<2x3x2xf32>) -> (tensor<2x3x1xf32>, tensor<2x3x1xi64>)
  %gates = plan.call "aten.to.dtype"(%0#0) {self = #base.operand<0>, dtype = bf16} in "mlp"
      : (tensor<2x3x1xf32>) -> tensor<2x3x1xbf16>
  %zeros = plan.call "aten.zeros.default"() {size = [2, 3, 8], dtype = f32} in "mlp" : () -> tensor<2x3x8xf32>
  %is0 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 0 : i64} in "mlp" : (tensor<2x3x1xi64>) -> tensor<2x3x1xi1>
  %masked0 = plan.call "aten.mul.Tensor"(%gates, %is0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xbf16>, tensor<2x3x1xi1>) -> tensor<2x3x1xbf16>
  %gate0 = plan.call "aten.sum.dim_IntList"(%masked0) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x1xbf16>) -> tensor<2x3x1xbf16>
  %w0 = plan.call "aten.select.int"(%w) {self = #base.operand<0>, dim = 0 : i64, index = 0 : i64} in "mlp.experts" : (tensor<2x8x8xf32>) -> tensor<8x8xf32>
  %n0 = plan.call "aten.to.dtype"(%w0) {self = #base.operand<0>, dtype = bf16} in "mlp.experts" : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  %y0 = plan.call "aten.linear.default"(%x, %n0) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0.w"
      : (tensor<2x3x8xbf16>, tensor<8x8xbf16>) -> tensor<2x3x8xbf16>
  %z0 = plan.call "aten.mul.Tensor"(%gate0, %y0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xbf16>, tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  %sum0 = plan.call "aten.add.Tensor"(%zeros, %z0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xbf16>) -> tensor<2x3x8xf32>
  %is1 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<2x3x1xi64>) -> tensor<2x3x1xi1>
  %masked1 = plan.call "aten.mul.Tensor"(%gates, %is1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xbf16>, tensor<2x3x1xi1>) -> tensor<2x3x1xbf16>
  %gate1 = plan.call "aten.sum.dim_IntList"(%masked1) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x1xbf16>) -> tensor<2x3x1xbf16>
  %w1 = plan.call "aten.select.int"(%w) {self = #base.operand<0>, dim = 0 : i64, index = 1 : i64} in "mlp.experts" : (tensor<2x8x8xf32>) -> tensor<8x8xf32>
  %n1 = plan.call "aten.to.dtype"(%w1) {self = #base.operand<0>, dtype = bf16} in "mlp.experts" : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  %y1 = plan.call "aten.linear.default"(%x, %n1) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1.w"
      : (tensor<2x3x8xbf16>, tensor<8x8xbf16>) -> tensor<2x3x8xbf16>
  %z1 = plan.call "aten.mul.Tensor"(%gate1, %y1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xbf16>, tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  %sum1 = plan.call "aten.add.Tensor"(%sum0, %z1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xbf16>) -> tensor<2x3x8xf32>
  return %sum1 : tensor<2x3x8xf32>
}

// -----

// Not parts that are converted twice, which rounds them twice.
// CHECK-LABEL: func.func @converted_twice
// CHECK-NOT: meshplan.dispatch
func.func @converted_twice(%x: tensor<2x3x8xbf16>, %scores: tensor<2x3x2xf32>, %w: tensor<2x8x8xf32>) -> tensor<2x3x8xf32> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 1 : i64} in "mlp.gate"
      : (tensor<2x3x2xf32>) -> (tensor<2x3x1xf32>, tensor<2x3x1xi64>)
  %gates = plan.call "aten.to.dtype"(%0#0) {self = #base.operand<0>, dtype = bf16} in "mlp"
      : (tensor<2x3x1xf32>) -> tensor<2x3x1xbf16>
  %zeros = plan.call "aten.zeros.default"() {size = [2, 3, 8], dtype = f32} in "mlp" : () -> tensor<2x3x8xf32>
  %is0 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 0 : i64} in "mlp" : (tensor<2x3x1xi64>) -> tensor<2x3x1xi1>
  %masked0 = plan.call "aten.mul.Tensor"(%gates, %is0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xbf16>, tensor<2x3x1xi1>) -> tensor<2x3x1xbf16>
  %gate0 = plan.call "aten.sum.dim_IntList"(%masked0) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x1xbf16>) -> tensor<2x3x1xbf16>
  %w0 = plan.call "aten.select.int"(%w) {self = #base.operand<0>, dim = 0 : i64, index = 0 : i64} in "mlp.experts" : (tensor<2x8x8xf32>) -> tensor<8x8xf32>
  %f0 = plan.call "aten.to.dtype"(%w0) {self = #base.operand<0>, dtype = f16} in "mlp.experts" : (tensor<8x8xf32>) -> tensor<8x8xf16>
  %t0 = plan.call "aten.t.default"(%f0) {self = #base.operand<0>} in "mlp.experts" : (tensor<8x8xf16>) -> tensor<8x8xf16>
  %n0 = plan.call "aten.to.dtype"(%t0) {self = #base.operand<0>, dtype = bf16} in "mlp.experts" : (tensor<8x8xf16>) -> tensor<8x8xbf16>
  // expected-remark @below {{experts of 'mlp.experts.0.w' are computed as the model writes them: 'aten.linear.default' in 'mlp.experts.0.w' computes in a form that is not known for experts}}
  // expected-note @below {{help: choose experts with topk, and compute on each row alone between the products with their weights}}
  %y0 = plan.call "aten.linear.default"(%x, %n0) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0.w"
      : (tensor<2x3x8xbf16>, tensor<8x8xbf16>) -> tensor<2x3x8xbf16>
  %z0 = plan.call "aten.mul.Tensor"(%gate0, %y0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xbf16>, tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  %sum0 = plan.call "aten.add.Tensor"(%zeros, %z0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xbf16>) -> tensor<2x3x8xf32>
  %is1 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<2x3x1xi64>) -> tensor<2x3x1xi1>
  %masked1 = plan.call "aten.mul.Tensor"(%gates, %is1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xbf16>, tensor<2x3x1xi1>) -> tensor<2x3x1xbf16>
  %gate1 = plan.call "aten.sum.dim_IntList"(%masked1) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x1xbf16>) -> tensor<2x3x1xbf16>
  %w1 = plan.call "aten.select.int"(%w) {self = #base.operand<0>, dim = 0 : i64, index = 1 : i64} in "mlp.experts" : (tensor<2x8x8xf32>) -> tensor<8x8xf32>
  %f1 = plan.call "aten.to.dtype"(%w1) {self = #base.operand<0>, dtype = f16} in "mlp.experts" : (tensor<8x8xf32>) -> tensor<8x8xf16>
  %t1 = plan.call "aten.t.default"(%f1) {self = #base.operand<0>} in "mlp.experts" : (tensor<8x8xf16>) -> tensor<8x8xf16>
  %n1 = plan.call "aten.to.dtype"(%t1) {self = #base.operand<0>, dtype = bf16} in "mlp.experts" : (tensor<8x8xf16>) -> tensor<8x8xbf16>
  %y1 = plan.call "aten.linear.default"(%x, %n1) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1.w"
      : (tensor<2x3x8xbf16>, tensor<8x8xbf16>) -> tensor<2x3x8xbf16>
  %z1 = plan.call "aten.mul.Tensor"(%gate1, %y1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xbf16>, tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  %sum1 = plan.call "aten.add.Tensor"(%sum0, %z1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xbf16>) -> tensor<2x3x8xf32>
  return %sum1 : tensor<2x3x8xf32>
}

// -----

// Rows that experts add to what they make of them: both read the same rows, which come before the first reader.
// CHECK-LABEL: func.func @added_rows
// CHECK: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%arg0
// CHECK-NEXT: %[[PRODUCT:.*]] = plan.call "meshplan.grouped_linear"(%[[ROWS]], %arg2
// CHECK-NEXT: plan.call "aten.add.Tensor"(%[[ROWS]], %[[PRODUCT]])
// CHECK-NOT: "meshplan.dispatch"(%arg0
// CHECK: plan.call "meshplan.combine"
func.func @added_rows(%x: tensor<2x3x8xf32>, %scores: tensor<2x3x2xf32>, %w: tensor<2x8x8xf32>) -> tensor<2x3x8xf32> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 1 : i64} in "mlp.gate"
      : (tensor<2x3x2xf32>) -> (tensor<2x3x1xf32>, tensor<2x3x1xi64>)
  %zeros = plan.call "aten.zeros.default"() {size = [2, 3, 8], dtype = f32} in "mlp" : () -> tensor<2x3x8xf32>
  %is0 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 0 : i64} in "mlp" : (tensor<2x3x1xi64>) -> tensor<2x3x1xi1>
  %masked0 = plan.call "aten.mul.Tensor"(%0#0, %is0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x1xi1>) -> tensor<2x3x1xf32>
  %gate0 = plan.call "aten.sum.dim_IntList"(%masked0) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  %w0 = plan.call "aten.select.int"(%w) {self = #base.operand<0>, dim = 0 : i64, index = 0 : i64} in "mlp.experts" : (tensor<2x8x8xf32>) -> tensor<8x8xf32>
  %y0 = plan.call "aten.linear.default"(%x, %w0) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %r0 = plan.call "aten.add.Tensor"(%x, %y0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts.0"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %z0 = plan.call "aten.mul.Tensor"(%gate0, %r0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %sum0 = plan.call "aten.add.Tensor"(%zeros, %z0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %is1 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<2x3x1xi64>) -> tensor<2x3x1xi1>
  %masked1 = plan.call "aten.mul.Tensor"(%0#0, %is1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x1xi1>) -> tensor<2x3x1xf32>
  %gate1 = plan.call "aten.sum.dim_IntList"(%masked1) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  %w1 = plan.call "aten.select.int"(%w) {self = #base.operand<0>, dim = 0 : i64, index = 1 : i64} in "mlp.experts" : (tensor<2x8x8xf32>) -> tensor<8x8xf32>
  %y1 = plan.call "aten.linear.default"(%x, %w1) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %r1 = plan.call "aten.add.Tensor"(%x, %y1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts.1"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %z1 = plan.call "aten.mul.Tensor"(%gate1, %r1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %sum1 = plan.call "aten.add.Tensor"(%sum0, %z1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %sum1 : tensor<2x3x8xf32>
}

// -----

// Results that are stacked, and gates in a wider type than the values.
// CHECK-LABEL: func.func @stacked
// CHECK-NEXT: %[[CHOICE:.*]]:2 = plan.call "aten.topk.default"
// CHECK-NEXT: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"(%[[CHOICE]]#1)
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[ROUTE]]#0)
// CHECK-NEXT: %[[WEIGHT:.*]] = plan.call "aten.stack.default"(%arg2, %arg3, %arg4)
// CHECK-NEXT: %[[PRODUCT:.*]] = plan.call "meshplan.grouped_linear"(%[[ROWS]], %[[WEIGHT]], %[[ROUTE]]#1)
// CHECK-NEXT: %[[NARROW:.*]] = plan.call "meshplan.dispatch_gates"(%[[CHOICE]]#0, %[[ROUTE]]#0) {{.*}} -> tensor<3x2x3xbf16>
// CHECK-NEXT: %[[GATES:.*]] = plan.call "aten.to.dtype"(%[[NARROW]]) {dtype = f32
// CHECK-NEXT: %[[COLUMN:.*]] = plan.call "aten.unsqueeze.default"(%[[GATES]]) {{.*}} -> tensor<3x2x3x1xf32>
// CHECK-NEXT: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%[[PRODUCT]], %[[COLUMN]]) {{.*}} -> tensor<3x2x3x8xf32>
// CHECK-NEXT: %[[OUT:.*]] = plan.call "meshplan.combine"(%[[WEIGHTED]], %[[ROUTE]]#0) {{.*}} -> tensor<2x3x8xf32>
// CHECK-NEXT: return %[[OUT]]
func.func @stacked(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x3xbf16>,
    %w0: tensor<8x8xf32>,
    %w1: tensor<8x8xf32>,
    %w2: tensor<8x8xf32>) -> tensor<2x3x8xf32> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x3xbf16>) -> (tensor<2x3x2xbf16>, tensor<2x3x2xi64>)
  %1 = plan.call "aten.one_hot.default"(%0#1) {self = #base.operand<0>, num_classes = 3 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2x3xi64>
  %2 = plan.call "aten.to.dtype"(%1) {self = #base.operand<0>, dtype = f32} in "mlp"
      : (tensor<2x3x2x3xi64>) -> tensor<2x3x2x3xf32>
  %3 = plan.call "aten.unsqueeze.default"(%0#0) {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<2x3x2xbf16>) -> tensor<2x3x2x1xbf16>
  %4 = plan.call "aten.mul.Tensor"(%3, %2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2x1xbf16>, tensor<2x3x2x3xf32>) -> tensor<2x3x2x3xf32>
  %5 = plan.call "aten.sum.dim_IntList"(%4) {self = #base.operand<0>, dim = [2]} in "mlp"
      : (tensor<2x3x2x3xf32>) -> tensor<2x3x3xf32>
  %6 = plan.call "aten.linear.default"(%x, %w0)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %7 = plan.call "aten.linear.default"(%x, %w1)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %8 = plan.call "aten.linear.default"(%x, %w2)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.2.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %9 = plan.call "aten.stack.default"(%6, %7, %8)
      {tensors = [#base.operand<0>, #base.operand<1>, #base.operand<2>], dim = 2 : i64} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x3x8xf32>
  %10 = plan.call "aten.unsqueeze.default"(%5) {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<2x3x3xf32>) -> tensor<2x3x3x1xf32>
  %11 = plan.call "aten.mul.Tensor"(%9, %10) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x3x8xf32>, tensor<2x3x3x1xf32>) -> tensor<2x3x3x8xf32>
  %12 = plan.call "aten.sum.dim_IntList"(%11) {self = #base.operand<0>, dim = [-2]} in "mlp"
      : (tensor<2x3x3x8xf32>) -> tensor<2x3x8xf32>
  return %12 : tensor<2x3x8xf32>
}

// -----

// Experts that are not equal.
// CHECK-LABEL: func.func @differs
// CHECK-NOT: meshplan.route
func.func @differs(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x3xf32>,
    %w0: tensor<8x8xf32>,
    %w1: tensor<8x8xf32>,
    %w2: tensor<8x8xf32>) -> tensor<2x3x8xf32> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x3xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %1 = plan.call "aten.zeros.default"() {size = [2, 3, 8], dtype = f32} in "mlp" : () -> tensor<2x3x8xf32>
  %2 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 0 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %3 = plan.call "aten.mul.Tensor"(%0#0, %2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %4 = plan.call "aten.sum.dim_IntList"(%3) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %5 = plan.call "aten.linear.default"(%x, %w0)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %6 = plan.call "aten.relu.default"(%5) {self = #base.operand<0>} in "mlp.experts.0"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %7 = plan.call "aten.mul.Tensor"(%4, %6) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %8 = plan.call "aten.add.Tensor"(%1, %7) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %9 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 1 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %10 = plan.call "aten.mul.Tensor"(%0#0, %9) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %11 = plan.call "aten.sum.dim_IntList"(%10) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %12 = plan.call "aten.linear.default"(%x, %w1)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %13 = plan.call "aten.relu.default"(%12) {self = #base.operand<0>} in "mlp.experts.1"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %14 = plan.call "aten.mul.Tensor"(%11, %13) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %15 = plan.call "aten.add.Tensor"(%8, %14) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %16 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 2 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %17 = plan.call "aten.mul.Tensor"(%0#0, %16) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %18 = plan.call "aten.sum.dim_IntList"(%17) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %19 = plan.call "aten.linear.default"(%x, %w2)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.2.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  // expected-remark@below {{experts of 'mlp.experts.2' are computed as the model writes them: 'aten.silu.default' in 'mlp.experts.2' differs from the operator of expert 0}}
  // expected-note@below {{help: choose experts with topk, and compute on each row alone between the products with their weights}}
  %20 = plan.call "aten.silu.default"(%19) {self = #base.operand<0>} in "mlp.experts.2"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %21 = plan.call "aten.mul.Tensor"(%18, %20) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %22 = plan.call "aten.add.Tensor"(%15, %21) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %22 : tensor<2x3x8xf32>
}

// -----

// An operator between tokens.
// CHECK-LABEL: func.func @mixes_tokens
// CHECK-NOT: meshplan.route
func.func @mixes_tokens(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x3xf32>,
    %w0: tensor<8x8xf32>,
    %w1: tensor<8x8xf32>,
    %w2: tensor<8x8xf32>) -> tensor<2x3x8xf32> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x3xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %1 = plan.call "aten.zeros.default"() {size = [2, 3, 8], dtype = f32} in "mlp" : () -> tensor<2x3x8xf32>
  %2 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 0 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %3 = plan.call "aten.mul.Tensor"(%0#0, %2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %4 = plan.call "aten.sum.dim_IntList"(%3) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %5 = plan.call "aten.linear.default"(%x, %w0)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  // expected-remark@below {{experts of 'mlp.experts.0' are computed as the model writes them: 'aten.softmax.int' in 'mlp.experts.0' computes in a form that is not known for experts}}
  // expected-note@below {{help: choose experts with topk, and compute on each row alone between the products with their weights}}
  %6 = plan.call "aten.softmax.int"(%5) {self = #base.operand<0>, dim = 1 : i64} in "mlp.experts.0"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %7 = plan.call "aten.mul.Tensor"(%4, %6) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %8 = plan.call "aten.add.Tensor"(%1, %7) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %9 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 1 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %10 = plan.call "aten.mul.Tensor"(%0#0, %9) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %11 = plan.call "aten.sum.dim_IntList"(%10) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %12 = plan.call "aten.linear.default"(%x, %w1)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %13 = plan.call "aten.softmax.int"(%12) {self = #base.operand<0>, dim = 1 : i64} in "mlp.experts.1"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %14 = plan.call "aten.mul.Tensor"(%11, %13) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %15 = plan.call "aten.add.Tensor"(%8, %14) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %16 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 2 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %17 = plan.call "aten.mul.Tensor"(%0#0, %16) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %18 = plan.call "aten.sum.dim_IntList"(%17) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %19 = plan.call "aten.linear.default"(%x, %w2)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.2.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %20 = plan.call "aten.softmax.int"(%19) {self = #base.operand<0>, dim = 1 : i64} in "mlp.experts.2"
      : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %21 = plan.call "aten.mul.Tensor"(%18, %20) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %22 = plan.call "aten.add.Tensor"(%15, %21) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %22 : tensor<2x3x8xf32>
}

// -----

// The result of an expert for all tokens, which the model uses.
// CHECK-LABEL: func.func @read_elsewhere
// CHECK-NOT: meshplan.route
func.func @read_elsewhere(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x3xf32>,
    %w0: tensor<8x8xf32>,
    %w1: tensor<8x8xf32>,
    %w2: tensor<8x8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x3xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %1 = plan.call "aten.zeros.default"() {size = [2, 3, 8], dtype = f32} in "mlp" : () -> tensor<2x3x8xf32>
  %2 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 0 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %3 = plan.call "aten.mul.Tensor"(%0#0, %2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %4 = plan.call "aten.sum.dim_IntList"(%3) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %5 = plan.call "aten.linear.default"(%x, %w0)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %6 = plan.call "aten.mul.Tensor"(%4, %5) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %7 = plan.call "aten.add.Tensor"(%1, %6) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %8 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 1 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %9 = plan.call "aten.mul.Tensor"(%0#0, %8) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %10 = plan.call "aten.sum.dim_IntList"(%9) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %11 = plan.call "aten.linear.default"(%x, %w1)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %12 = plan.call "aten.mul.Tensor"(%10, %11) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %13 = plan.call "aten.add.Tensor"(%7, %12) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %14 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 2 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %15 = plan.call "aten.mul.Tensor"(%0#0, %14) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %16 = plan.call "aten.sum.dim_IntList"(%15) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %17 = plan.call "aten.linear.default"(%x, %w2)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.2.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %18 = plan.call "aten.mul.Tensor"(%16, %17) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %19 = plan.call "aten.add.Tensor"(%13, %18) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  // expected-remark@below {{experts of 'mlp.experts.0.w' are computed as the model writes them: what one expert makes is also read elsewhere}}
  // expected-note@below {{help: choose experts with topk, and compute on each row alone between the products with their weights}}
  %20 = plan.call "aten.relu.default"(%11) {self = #base.operand<0>} in "mlp" : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %19, %20 : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// -----

// Only some of the experts that tokens choose.
// CHECK-LABEL: func.func @some_experts
// CHECK-NOT: meshplan.route
func.func @some_experts(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x3xf32>,
    %w0: tensor<8x8xf32>,
    %w1: tensor<8x8xf32>,
    %w2: tensor<8x8xf32>) -> tensor<2x3x8xf32> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x3xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %1 = plan.call "aten.zeros.default"() {size = [2, 3, 8], dtype = f32} in "mlp" : () -> tensor<2x3x8xf32>
  %2 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 0 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %3 = plan.call "aten.mul.Tensor"(%0#0, %2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %4 = plan.call "aten.sum.dim_IntList"(%3) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  // expected-remark @below {{'aten.topk.default' in 'mlp.gate' chooses some of them, but what 'aten.linear.default' in 'mlp.experts.0.w' makes is weighed and summed in a form that is not known}}
  // expected-note @below {{help: add what each expert makes times a gate}}
  %5 = plan.call "aten.linear.default"(%x, %w0)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %6 = plan.call "aten.mul.Tensor"(%4, %5) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %7 = plan.call "aten.add.Tensor"(%1, %6) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %8 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 1 : i64} in "mlp"
      : (tensor<2x3x2xi64>) -> tensor<2x3x2xi1>
  %9 = plan.call "aten.mul.Tensor"(%0#0, %8) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x2xf32>, tensor<2x3x2xi1>) -> tensor<2x3x2xf32>
  %10 = plan.call "aten.sum.dim_IntList"(%9) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<2x3x2xf32>) -> tensor<2x3x1xf32>
  %11 = plan.call "aten.linear.default"(%x, %w1)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %12 = plan.call "aten.mul.Tensor"(%10, %11) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %13 = plan.call "aten.add.Tensor"(%7, %12) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %13 : tensor<2x3x8xf32>
}

// -----

// All experts count for each token.
// CHECK-LABEL: func.func @dense
// CHECK-NOT: meshplan.route
func.func @dense(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x3xf32>,
    %w0: tensor<8x8xf32>,
    %w1: tensor<8x8xf32>,
    %w2: tensor<8x8xf32>) -> tensor<2x3x8xf32> {
  %0 = plan.call "aten.softmax.int"(%scores) {self = #base.operand<0>, dim = -1 : i64} in "mlp"
      : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %1 = plan.call "aten.zeros.default"() {size = [2, 3, 8], dtype = f32} in "mlp" : () -> tensor<2x3x8xf32>
  %2 = plan.call "aten.slice.Tensor"(%0)
      {self = #base.operand<0>, dim = 2 : i64, start = 0 : i64, end = 1 : i64} in "mlp"
      : (tensor<2x3x3xf32>) -> tensor<2x3x1xf32>
  %3 = plan.call "aten.linear.default"(%x, %w0)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %4 = plan.call "aten.mul.Tensor"(%2, %3) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %5 = plan.call "aten.add.Tensor"(%1, %4) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %6 = plan.call "aten.slice.Tensor"(%0)
      {self = #base.operand<0>, dim = 2 : i64, start = 1 : i64, end = 2 : i64} in "mlp"
      : (tensor<2x3x3xf32>) -> tensor<2x3x1xf32>
  %7 = plan.call "aten.linear.default"(%x, %w1)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %8 = plan.call "aten.mul.Tensor"(%6, %7) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %9 = plan.call "aten.add.Tensor"(%5, %8) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %10 = plan.call "aten.slice.Tensor"(%0)
      {self = #base.operand<0>, dim = 2 : i64, start = 2 : i64, end = 3 : i64} in "mlp"
      : (tensor<2x3x3xf32>) -> tensor<2x3x1xf32>
  %11 = plan.call "aten.linear.default"(%x, %w2)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.2.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %12 = plan.call "aten.mul.Tensor"(%10, %11) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %13 = plan.call "aten.add.Tensor"(%9, %12) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %13 : tensor<2x3x8xf32>
}

// -----

// Gates of experts that a token has not chosen are 1.
// CHECK-LABEL: func.func @not_zero
// CHECK-NOT: meshplan.route
func.func @not_zero(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x3xf32>,
    %w0: tensor<8x8xf32>,
    %w1: tensor<8x8xf32>,
    %w2: tensor<8x8xf32>) -> tensor<2x3x8xf32> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x3xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %1 = plan.call "aten.ones.default"() {size = [2, 3, 3], dtype = f32} in "mlp" : () -> tensor<2x3x3xf32>
  %2 = plan.call "aten.scatter.src"(%1, %0#1, %0#0)
      {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, src = #base.operand<2>} in "mlp"
      : (tensor<2x3x3xf32>, tensor<2x3x2xi64>, tensor<2x3x2xf32>) -> tensor<2x3x3xf32>
  %3 = plan.call "aten.zeros.default"() {size = [2, 3, 8], dtype = f32} in "mlp" : () -> tensor<2x3x8xf32>
  %4 = plan.call "aten.slice.Tensor"(%2)
      {self = #base.operand<0>, dim = 2 : i64, start = 0 : i64, end = 1 : i64} in "mlp"
      : (tensor<2x3x3xf32>) -> tensor<2x3x1xf32>
  %5 = plan.call "aten.linear.default"(%x, %w0)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  // expected-remark@+2 {{multiplies by gates that are not provably 0 for experts that a token has not chosen}}
  // expected-note@+1 {{help: make them from the indices of a topk}}
  %6 = plan.call "aten.mul.Tensor"(%4, %5) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %7 = plan.call "aten.add.Tensor"(%3, %6) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %8 = plan.call "aten.slice.Tensor"(%2)
      {self = #base.operand<0>, dim = 2 : i64, start = 1 : i64, end = 2 : i64} in "mlp"
      : (tensor<2x3x3xf32>) -> tensor<2x3x1xf32>
  %9 = plan.call "aten.linear.default"(%x, %w1)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %10 = plan.call "aten.mul.Tensor"(%8, %9) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %11 = plan.call "aten.add.Tensor"(%7, %10) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %12 = plan.call "aten.slice.Tensor"(%2)
      {self = #base.operand<0>, dim = 2 : i64, start = 2 : i64, end = 3 : i64} in "mlp"
      : (tensor<2x3x3xf32>) -> tensor<2x3x1xf32>
  %13 = plan.call "aten.linear.default"(%x, %w2)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.2.w"
      : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %14 = plan.call "aten.mul.Tensor"(%12, %13) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x1xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %15 = plan.call "aten.add.Tensor"(%11, %14) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  return %15 : tensor<2x3x8xf32>
}

// -----

// Parts of stacked weights and biases; one expert for each token, and views of the tokens for each of them.
// CHECK-LABEL: func.func @parts
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<6x8xf32>, %{{.*}}: tensor<6x2xf32>, %[[W:[a-z0-9]+]]: tensor<2x8x4xf32>, %[[V:[a-z0-9]+]]: tensor<2x8x4xf32>, %[[B:[a-z0-9]+]]: tensor<2x8xf32>)
// CHECK: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"
// CHECK: %[[ROWS:.*]] = plan.call "meshplan.dispatch"
// CHECK: %[[INNER:.*]] = plan.call "meshplan.grouped_linear"(%[[ROWS]], %[[W]], %[[ROUTE]]#1) {{.*}} transposed = true
// CHECK: %[[OUTER:.*]] = plan.call "meshplan.grouped_linear"(%[[INNER]], %[[V]], %[[ROUTE]]#1) {{.*}} transposed = false
// CHECK: plan.call "meshplan.grouped_bias"(%[[OUTER]], %[[B]], %[[ROUTE]]#1)
// CHECK: meshplan.combine
// CHECK-NOT: aten.matmul
func.func @parts(
    %x: tensor<6x8xf32>,
    %scores: tensor<6x2xf32>,
    %w: tensor<2x8x4xf32>,
    %v: tensor<2x8x4xf32>,
    %b: tensor<2x8xf32>) -> tensor<6x8xf32> {
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} : () -> tensor<6x8xf32>
  %0:2 = plan.call "aten.max.dim"(%scores) {self = #base.operand<0>, dim = -1 : i64} : (tensor<6x2xf32>) -> (tensor<6xf32>, tensor<6xi64>)
  %1 = plan.call "aten.view.default"(%0#1) {self = #base.operand<0>, size = [6, 1]} : (tensor<6xi64>) -> tensor<6x1xi64>
  %2 = plan.call "aten.view.default"(%0#0) {self = #base.operand<0>, size = [6, 1]} : (tensor<6xf32>) -> tensor<6x1xf32>
  %3 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [1, 6, 8]} : (tensor<6x8xf32>) -> tensor<1x6x8xf32>
  %4 = plan.call "aten.view.default"(%3) {self = #base.operand<0>, size = [6, 8]} : (tensor<1x6x8xf32>) -> tensor<6x8xf32>
  %5 = plan.call "aten.select.int"(%w) {self = #base.operand<0>, dim = 0 : i64, index = 0 : i64} : (tensor<2x8x4xf32>) -> tensor<8x4xf32>
  %6 = plan.call "aten.matmul.default"(%4, %5) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  %7 = plan.call "aten.select.int"(%v) {self = #base.operand<0>, dim = 0 : i64, index = 0 : i64} : (tensor<2x8x4xf32>) -> tensor<8x4xf32>
  %8 = plan.call "aten.permute.default"(%7) {self = #base.operand<0>, dims = [1, 0]} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %9 = plan.call "aten.matmul.default"(%6, %8) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  %10 = plan.call "aten.select.int"(%b) {self = #base.operand<0>, dim = 0 : i64, index = 0 : i64} : (tensor<2x8xf32>) -> tensor<8xf32>
  %11 = plan.call "aten.add.Tensor"(%9, %10) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6x8xf32>, tensor<8xf32>) -> tensor<6x8xf32>
  %12 = plan.call "aten.eq.Scalar"(%1) {self = #base.operand<0>, other = 0 : i64} : (tensor<6x1xi64>) -> tensor<6x1xi1>
  %13 = plan.call "aten.mul.Tensor"(%2, %12) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6x1xf32>, tensor<6x1xi1>) -> tensor<6x1xf32>
  %14 = plan.call "aten.sum.dim_IntList"(%13) {self = #base.operand<0>, dim = [-1], keepdim = true} : (tensor<6x1xf32>) -> tensor<6x1xf32>
  %15 = plan.call "aten.mul.Tensor"(%11, %14) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %16 = plan.call "aten.add.Tensor"(%zeros, %15) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %17 = plan.call "aten.view.default"(%3) {self = #base.operand<0>, size = [6, 8]} : (tensor<1x6x8xf32>) -> tensor<6x8xf32>
  %18 = plan.call "aten.select.int"(%w) {self = #base.operand<0>, dim = 0 : i64, index = 1 : i64} : (tensor<2x8x4xf32>) -> tensor<8x4xf32>
  %19 = plan.call "aten.matmul.default"(%17, %18) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  %20 = plan.call "aten.select.int"(%v) {self = #base.operand<0>, dim = 0 : i64, index = 1 : i64} : (tensor<2x8x4xf32>) -> tensor<8x4xf32>
  %21 = plan.call "aten.permute.default"(%20) {self = #base.operand<0>, dims = [1, 0]} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %22 = plan.call "aten.matmul.default"(%19, %21) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  %23 = plan.call "aten.select.int"(%b) {self = #base.operand<0>, dim = 0 : i64, index = 1 : i64} : (tensor<2x8xf32>) -> tensor<8xf32>
  %24 = plan.call "aten.add.Tensor"(%22, %23) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6x8xf32>, tensor<8xf32>) -> tensor<6x8xf32>
  %25 = plan.call "aten.eq.Scalar"(%1) {self = #base.operand<0>, other = 1 : i64} : (tensor<6x1xi64>) -> tensor<6x1xi1>
  %26 = plan.call "aten.mul.Tensor"(%2, %25) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6x1xf32>, tensor<6x1xi1>) -> tensor<6x1xf32>
  %27 = plan.call "aten.sum.dim_IntList"(%26) {self = #base.operand<0>, dim = [-1], keepdim = true} : (tensor<6x1xf32>) -> tensor<6x1xf32>
  %28 = plan.call "aten.mul.Tensor"(%24, %27) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %29 = plan.call "aten.add.Tensor"(%16, %28) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  return %29 : tensor<6x8xf32>
}
