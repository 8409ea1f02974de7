// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-recognize-experts -split-input-file | FileCheck %s

// 4 experts with stacked weights compute all of 2 x 3 tokens of 8 features. Gates of experts that a token has not chosen
// are 0.

// CHECK-LABEL: func.func @repeated_tokens
// CHECK-NEXT: %[[CHOICE:.*]]:2 = plan.call "aten.topk.default"
// CHECK-NEXT: %[[SCORES:.*]] = plan.call "aten.sigmoid.default"(%[[CHOICE]]#0) {{.*}} -> tensor<6x2xf32>
// CHECK-NEXT: %[[INDICES:.*]] = plan.call "aten.reshape.default"(%[[CHOICE]]#1) {{.*}} -> tensor<2x3x2xi64>
// CHECK-NEXT: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"(%[[INDICES]]) {experts = 4 : i64
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[ROUTE]]#0)
// CHECK-NEXT: %[[VALUES:.*]] = plan.call "aten.reshape.default"(%[[SCORES]]) {{.*}} -> tensor<2x3x2xf32>
// CHECK-NEXT: %[[GATES:.*]] = plan.call "meshplan.dispatch_gates"(%[[VALUES]], %[[ROUTE]]#0)
// CHECK-NEXT: %[[COLUMN:.*]] = plan.call "aten.unsqueeze.default"(%[[GATES]]) {dim = -1 : i64
// CHECK-NEXT: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%[[ROWS]], %[[COLUMN]])
// CHECK-NEXT: %[[UP:.*]] = plan.call "meshplan.grouped_linear"(%[[WEIGHTED]], %arg2, %[[ROUTE]]#1)
// CHECK-SAME: transposed = true{{.*}} (tensor<4x2x3x8xf32>, tensor<4x8x10xf32>, tensor<4x2x3xi64>) -> tensor<4x2x3x10xf32>
// CHECK-NEXT: %[[ACT:.*]] = plan.call "aten.silu.default"(%[[UP]])
// CHECK-NEXT: %[[DOWN:.*]] = plan.call "meshplan.grouped_linear"(%[[ACT]], %arg3, %[[ROUTE]]#1)
// CHECK-SAME: transposed = false
// CHECK-NEXT: %[[OUT:.*]] = plan.call "meshplan.combine"(%[[DOWN]], %[[ROUTE]]#0)
// CHECK-SAME: size = [2, 3, 8], slots = 2 : i64
// CHECK-NEXT: return %[[OUT]]
func.func @repeated_tokens(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<6x4xf32>,
    %up: tensor<4x8x10xf32>,
    %down: tensor<4x8x10xf32>) -> tensor<2x3x8xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [-1, 8]} in "mlp"
      : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  %1:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64, dim = 1 : i64} in "mlp.router"
      : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %2 = plan.call "aten.full.default"()
      {size = [6, 4], fill_value = 0xFFF0000000000000 : f64, dtype = f32} in "mlp.router" : () -> tensor<6x4xf32>
  %3 = plan.call "aten.scatter.src"(%2, %1#1, %1#0)
      {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>, src = #base.operand<2>} in "mlp.router"
      : (tensor<6x4xf32>, tensor<6x2xi64>, tensor<6x2xf32>) -> tensor<6x4xf32>
  %4 = plan.call "aten.sigmoid.default"(%3) {self = #base.operand<0>} in "mlp.router"
      : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %5 = plan.call "aten.cat.default"(%0, %0, %0, %0)
      {tensors = [#base.operand<0>, #base.operand<1>, #base.operand<2>, #base.operand<3>], dim = 0 : i64} in "mlp"
      : (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<24x8xf32>
  %6 = plan.call "aten.transpose.int"(%4) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64} in "mlp"
      : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %7 = plan.call "aten.contiguous.default"(%6) {self = #base.operand<0>} in "mlp" : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %8 = plan.call "aten._unsafe_view.default"(%7) {self = #base.operand<0>, size = [24, 1]} in "mlp"
      : (tensor<4x6xf32>) -> tensor<24x1xf32>
  %9 = plan.call "aten.mul.Tensor"(%5, %8) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<24x8xf32>, tensor<24x1xf32>) -> tensor<24x8xf32>
  %10 = plan.call "aten.view.default"(%9) {self = #base.operand<0>, size = [4, -1, 8]} in "mlp.experts"
      : (tensor<24x8xf32>) -> tensor<4x6x8xf32>
  %11 = plan.call "aten.bmm.default"(%10, %up) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp.experts"
      : (tensor<4x6x8xf32>, tensor<4x8x10xf32>) -> tensor<4x6x10xf32>
  %12 = plan.call "aten.silu.default"(%11) {self = #base.operand<0>} in "mlp.experts"
      : (tensor<4x6x10xf32>) -> tensor<4x6x10xf32>
  %13 = plan.call "aten.transpose.int"(%down) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} in "mlp.experts"
      : (tensor<4x8x10xf32>) -> tensor<4x10x8xf32>
  %14 = plan.call "aten.bmm.default"(%12, %13) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp.experts"
      : (tensor<4x6x10xf32>, tensor<4x10x8xf32>) -> tensor<4x6x8xf32>
  %15 = plan.call "aten.sum.dim_IntList"(%14) {self = #base.operand<0>, dim = [0]} in "mlp"
      : (tensor<4x6x8xf32>) -> tensor<6x8xf32>
  %16 = plan.call "aten.view.default"(%15) {self = #base.operand<0>, size = [2, 3, 8]} in "mlp"
      : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
  return %16 : tensor<2x3x8xf32>
}

// -----

// The sigmoid of 0 is not 0.
// CHECK-LABEL: func.func @gates_elsewhere
// CHECK-NOT: meshplan.route
func.func @gates_elsewhere(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<6x4xf32>,
    %up: tensor<4x8x10xf32>,
    %down: tensor<4x8x10xf32>) -> tensor<2x3x8xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [-1, 8]} in "mlp"
      : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  %1:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64, dim = 1 : i64} in "mlp.router"
      : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %2 = plan.call "aten.full.default"() {size = [6, 4], fill_value = 0.0 : f64, dtype = f32} in "mlp.router"
      : () -> tensor<6x4xf32>
  %3 = plan.call "aten.scatter.src"(%2, %1#1, %1#0)
      {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>, src = #base.operand<2>} in "mlp.router"
      : (tensor<6x4xf32>, tensor<6x2xi64>, tensor<6x2xf32>) -> tensor<6x4xf32>
  %4 = plan.call "aten.sigmoid.default"(%3) {self = #base.operand<0>} in "mlp.router"
      : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %5 = plan.call "aten.cat.default"(%0, %0, %0, %0)
      {tensors = [#base.operand<0>, #base.operand<1>, #base.operand<2>, #base.operand<3>], dim = 0 : i64} in "mlp"
      : (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<24x8xf32>
  %6 = plan.call "aten.transpose.int"(%4) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64} in "mlp"
      : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %7 = plan.call "aten.contiguous.default"(%6) {self = #base.operand<0>} in "mlp" : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %8 = plan.call "aten._unsafe_view.default"(%7) {self = #base.operand<0>, size = [24, 1]} in "mlp"
      : (tensor<4x6xf32>) -> tensor<24x1xf32>
  %9 = plan.call "aten.mul.Tensor"(%5, %8) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<24x8xf32>, tensor<24x1xf32>) -> tensor<24x8xf32>
  %10 = plan.call "aten.view.default"(%9) {self = #base.operand<0>, size = [4, -1, 8]} in "mlp.experts"
      : (tensor<24x8xf32>) -> tensor<4x6x8xf32>
  %11 = plan.call "aten.bmm.default"(%10, %up) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp.experts"
      : (tensor<4x6x8xf32>, tensor<4x8x10xf32>) -> tensor<4x6x10xf32>
  %12 = plan.call "aten.silu.default"(%11) {self = #base.operand<0>} in "mlp.experts"
      : (tensor<4x6x10xf32>) -> tensor<4x6x10xf32>
  %13 = plan.call "aten.transpose.int"(%down) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} in "mlp.experts"
      : (tensor<4x8x10xf32>) -> tensor<4x10x8xf32>
  %14 = plan.call "aten.bmm.default"(%12, %13) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp.experts"
      : (tensor<4x6x10xf32>, tensor<4x10x8xf32>) -> tensor<4x6x8xf32>
  %15 = plan.call "aten.sum.dim_IntList"(%14) {self = #base.operand<0>, dim = [0]} in "mlp"
      : (tensor<4x6x8xf32>) -> tensor<6x8xf32>
  %16 = plan.call "aten.view.default"(%15) {self = #base.operand<0>, size = [2, 3, 8]} in "mlp"
      : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
  return %16 : tensor<2x3x8xf32>
}

// -----

// Rows are not 0 after a bias, and every expert counts.
// CHECK-LABEL: func.func @bias
// CHECK-NOT: meshplan.route
func.func @bias(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<6x4xf32>,
    %up: tensor<4x8x10xf32>,
    %down: tensor<4x8x10xf32>,
    %bias: tensor<10xf32>) -> tensor<2x3x8xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [-1, 8]} in "mlp"
      : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  %1:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64, dim = 1 : i64} in "mlp.router"
      : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %2 = plan.call "aten.full.default"()
      {size = [6, 4], fill_value = 0xFFF0000000000000 : f64, dtype = f32} in "mlp.router" : () -> tensor<6x4xf32>
  %3 = plan.call "aten.scatter.src"(%2, %1#1, %1#0)
      {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>, src = #base.operand<2>} in "mlp.router"
      : (tensor<6x4xf32>, tensor<6x2xi64>, tensor<6x2xf32>) -> tensor<6x4xf32>
  %4 = plan.call "aten.sigmoid.default"(%3) {self = #base.operand<0>} in "mlp.router"
      : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %5 = plan.call "aten.cat.default"(%0, %0, %0, %0)
      {tensors = [#base.operand<0>, #base.operand<1>, #base.operand<2>, #base.operand<3>], dim = 0 : i64} in "mlp"
      : (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<24x8xf32>
  %6 = plan.call "aten.transpose.int"(%4) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64} in "mlp"
      : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %7 = plan.call "aten.contiguous.default"(%6) {self = #base.operand<0>} in "mlp" : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %8 = plan.call "aten._unsafe_view.default"(%7) {self = #base.operand<0>, size = [24, 1]} in "mlp"
      : (tensor<4x6xf32>) -> tensor<24x1xf32>
  %9 = plan.call "aten.mul.Tensor"(%5, %8) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<24x8xf32>, tensor<24x1xf32>) -> tensor<24x8xf32>
  %10 = plan.call "aten.view.default"(%9) {self = #base.operand<0>, size = [4, -1, 8]} in "mlp.experts"
      : (tensor<24x8xf32>) -> tensor<4x6x8xf32>
  %11 = plan.call "aten.bmm.default"(%10, %up) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp.experts"
      : (tensor<4x6x8xf32>, tensor<4x8x10xf32>) -> tensor<4x6x10xf32>
  %12 = plan.call "aten.add.Tensor"(%11, %bias) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts"
      : (tensor<4x6x10xf32>, tensor<10xf32>) -> tensor<4x6x10xf32>
  %13 = plan.call "aten.silu.default"(%12) {self = #base.operand<0>} in "mlp.experts"
      : (tensor<4x6x10xf32>) -> tensor<4x6x10xf32>
  %14 = plan.call "aten.transpose.int"(%down) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} in "mlp.experts"
      : (tensor<4x8x10xf32>) -> tensor<4x10x8xf32>
  %15 = plan.call "aten.bmm.default"(%13, %14) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp.experts"
      : (tensor<4x6x10xf32>, tensor<4x10x8xf32>) -> tensor<4x6x8xf32>
  %16 = plan.call "aten.sum.dim_IntList"(%15) {self = #base.operand<0>, dim = [0]} in "mlp"
      : (tensor<4x6x8xf32>) -> tensor<6x8xf32>
  %17 = plan.call "aten.view.default"(%16) {self = #base.operand<0>, size = [2, 3, 8]} in "mlp"
      : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
  return %17 : tensor<2x3x8xf32>
}

// -----

// Nor after an operator that is not 0 at 0.
// CHECK-LABEL: func.func @not_zero_at_zero
// CHECK-NOT: meshplan.route
func.func @not_zero_at_zero(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<6x4xf32>,
    %up: tensor<4x8x10xf32>,
    %down: tensor<4x8x10xf32>) -> tensor<2x3x8xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [-1, 8]} in "mlp"
      : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  %1:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64, dim = 1 : i64} in "mlp.router"
      : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %2 = plan.call "aten.full.default"()
      {size = [6, 4], fill_value = 0xFFF0000000000000 : f64, dtype = f32} in "mlp.router" : () -> tensor<6x4xf32>
  %3 = plan.call "aten.scatter.src"(%2, %1#1, %1#0)
      {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>, src = #base.operand<2>} in "mlp.router"
      : (tensor<6x4xf32>, tensor<6x2xi64>, tensor<6x2xf32>) -> tensor<6x4xf32>
  %4 = plan.call "aten.sigmoid.default"(%3) {self = #base.operand<0>} in "mlp.router"
      : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %5 = plan.call "aten.cat.default"(%0, %0, %0, %0)
      {tensors = [#base.operand<0>, #base.operand<1>, #base.operand<2>, #base.operand<3>], dim = 0 : i64} in "mlp"
      : (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<24x8xf32>
  %6 = plan.call "aten.transpose.int"(%4) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64} in "mlp"
      : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %7 = plan.call "aten.contiguous.default"(%6) {self = #base.operand<0>} in "mlp" : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %8 = plan.call "aten._unsafe_view.default"(%7) {self = #base.operand<0>, size = [24, 1]} in "mlp"
      : (tensor<4x6xf32>) -> tensor<24x1xf32>
  %9 = plan.call "aten.mul.Tensor"(%5, %8) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<24x8xf32>, tensor<24x1xf32>) -> tensor<24x8xf32>
  %10 = plan.call "aten.view.default"(%9) {self = #base.operand<0>, size = [4, -1, 8]} in "mlp.experts"
      : (tensor<24x8xf32>) -> tensor<4x6x8xf32>
  %11 = plan.call "aten.bmm.default"(%10, %up) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp.experts"
      : (tensor<4x6x8xf32>, tensor<4x8x10xf32>) -> tensor<4x6x10xf32>
  %12 = plan.call "aten.cos.default"(%11) {self = #base.operand<0>} in "mlp.experts"
      : (tensor<4x6x10xf32>) -> tensor<4x6x10xf32>
  %13 = plan.call "aten.transpose.int"(%down) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} in "mlp.experts"
      : (tensor<4x8x10xf32>) -> tensor<4x10x8xf32>
  %14 = plan.call "aten.bmm.default"(%12, %13) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp.experts"
      : (tensor<4x6x10xf32>, tensor<4x10x8xf32>) -> tensor<4x6x8xf32>
  %15 = plan.call "aten.sum.dim_IntList"(%14) {self = #base.operand<0>, dim = [0]} in "mlp"
      : (tensor<4x6x8xf32>) -> tensor<6x8xf32>
  %16 = plan.call "aten.view.default"(%15) {self = #base.operand<0>, size = [2, 3, 8]} in "mlp"
      : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
  return %16 : tensor<2x3x8xf32>
}

// -----

// The exponential of the lowest number is 0, too.
// CHECK-LABEL: func.func @exponential
// CHECK: meshplan.combine
func.func @exponential(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<6x4xf32>,
    %up: tensor<4x8x10xf32>,
    %down: tensor<4x8x10xf32>) -> tensor<2x3x8xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [-1, 8]} in "mlp"
      : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  %1:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64, dim = 1 : i64} in "mlp.router"
      : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %2 = plan.call "aten.full.default"()
      {size = [6, 4], fill_value = 0xFFF0000000000000 : f64, dtype = f32} in "mlp.router" : () -> tensor<6x4xf32>
  %3 = plan.call "aten.scatter.src"(%2, %1#1, %1#0)
      {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>, src = #base.operand<2>} in "mlp.router"
      : (tensor<6x4xf32>, tensor<6x2xi64>, tensor<6x2xf32>) -> tensor<6x4xf32>
  %4 = plan.call "aten.exp.default"(%3) {self = #base.operand<0>} in "mlp.router" : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %5 = plan.call "aten.cat.default"(%0, %0, %0, %0)
      {tensors = [#base.operand<0>, #base.operand<1>, #base.operand<2>, #base.operand<3>], dim = 0 : i64} in "mlp"
      : (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<24x8xf32>
  %6 = plan.call "aten.transpose.int"(%4) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64} in "mlp"
      : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %7 = plan.call "aten.contiguous.default"(%6) {self = #base.operand<0>} in "mlp" : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %8 = plan.call "aten._unsafe_view.default"(%7) {self = #base.operand<0>, size = [24, 1]} in "mlp"
      : (tensor<4x6xf32>) -> tensor<24x1xf32>
  %9 = plan.call "aten.mul.Tensor"(%5, %8) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<24x8xf32>, tensor<24x1xf32>) -> tensor<24x8xf32>
  %10 = plan.call "aten.view.default"(%9) {self = #base.operand<0>, size = [4, -1, 8]} in "mlp.experts"
      : (tensor<24x8xf32>) -> tensor<4x6x8xf32>
  %11 = plan.call "aten.bmm.default"(%10, %up) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp.experts"
      : (tensor<4x6x8xf32>, tensor<4x8x10xf32>) -> tensor<4x6x10xf32>
  %12 = plan.call "aten.silu.default"(%11) {self = #base.operand<0>} in "mlp.experts"
      : (tensor<4x6x10xf32>) -> tensor<4x6x10xf32>
  %13 = plan.call "aten.transpose.int"(%down) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} in "mlp.experts"
      : (tensor<4x8x10xf32>) -> tensor<4x10x8xf32>
  %14 = plan.call "aten.bmm.default"(%12, %13) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp.experts"
      : (tensor<4x6x10xf32>, tensor<4x10x8xf32>) -> tensor<4x6x8xf32>
  %15 = plan.call "aten.sum.dim_IntList"(%14) {self = #base.operand<0>, dim = [0]} in "mlp"
      : (tensor<4x6x8xf32>) -> tensor<6x8xf32>
  %16 = plan.call "aten.view.default"(%15) {self = #base.operand<0>, size = [2, 3, 8]} in "mlp"
      : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
  return %16 : tensor<2x3x8xf32>
}
