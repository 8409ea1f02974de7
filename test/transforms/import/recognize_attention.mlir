// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-recognize-attention | FileCheck %s

// Attention written as single operators.

// Scaled, capped, masked.
// CHECK-LABEL: func.func @capped
// CHECK-NEXT: %[[OUT:.*]]:2 = plan.call "meshplan.attention"(%arg0, %arg1, %arg2, %arg3)
// CHECK-SAME: {key = #base.operand<1>, mask = #base.operand<3>, query = #base.operand<0>, scale = 2.500000e-01 : f64, softcap = 5.000000e+01 : f64, value = #base.operand<2>}
// CHECK-SAME: -> (tensor<2x4x8x6xf32>, tensor<2x4x8xf32>)
// CHECK-NEXT: return %[[OUT]]#0
func.func @capped(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x6xf32>,
    %mask: tensor<2x1x8x8xf32>) -> tensor<2x4x8x6xf32> {
  %0 = plan.call "aten.transpose.int"(%k) {self = #base.operand<0>, dim0 = 2 : i64, dim1 = 3 : i64}
      : (tensor<2x4x8x16xf32>) -> tensor<2x4x16x8xf32>
  %1 = plan.call "aten.matmul.default"(%q, %0) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %2 = plan.call "aten.mul.Tensor"(%1) {self = #base.operand<0>, other = 0.25 : f64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %3 = plan.call "aten.div.Tensor"(%2) {self = #base.operand<0>, other = 50.0 : f64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = plan.call "aten.tanh.default"(%3) {self = #base.operand<0>} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %5 = plan.call "aten.mul.Tensor"(%4) {self = #base.operand<0>, other = 50.0 : f64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %6 = plan.call "aten.add.Tensor"(%5, %mask) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x1x8x8xf32>) -> tensor<2x4x8x8xf32>
  %7 = plan.call "aten.softmax.int"(%6) {self = #base.operand<0>, dim = -1 : i64, dtype = f32}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %8 = plan.call "aten.matmul.default"(%7, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x8x6xf32>
  return %8 : tensor<2x4x8x6xf32>
}

// Batch and heads in one dim, with a bias that the product adds.
// CHECK-LABEL: func.func @merged_heads
// CHECK-NEXT: %[[Q:.*]] = plan.call "aten.transpose.int"(%arg0)
// CHECK-NEXT: %[[K:.*]] = plan.call "aten.transpose.int"(%arg1)
// CHECK-NEXT: %[[V:.*]] = plan.call "aten.transpose.int"(%arg2)
// CHECK-NEXT: %[[BIAS:.*]] = plan.call "aten.reshape.default"(%arg3) {{.*}} -> tensor<2x4x1x8xf32>
// CHECK-NEXT: %[[SUM:.*]] = plan.call "aten.add.Tensor"(%[[BIAS]], %arg4) {{.*}} -> tensor<2x4x8x8xf32>
// CHECK-NEXT: %[[OUT:.*]]:2 = plan.call "meshplan.attention"(%[[Q]], %[[K]], %[[V]], %[[SUM]])
// CHECK-SAME: scale = 5.000000e-01
// CHECK-NEXT: return %[[OUT]]#0
func.func @merged_heads(
    %q: tensor<2x8x4x16xf32>,
    %k: tensor<2x8x4x16xf32>,
    %v: tensor<2x8x4x16xf32>,
    %bias: tensor<8x1x8xf32>,
    %mask: tensor<2x1x8x8xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.transpose.int"(%q) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64}
      : (tensor<2x8x4x16xf32>) -> tensor<2x4x8x16xf32>
  %1 = plan.call "aten.transpose.int"(%k) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64}
      : (tensor<2x8x4x16xf32>) -> tensor<2x4x8x16xf32>
  %2 = plan.call "aten.transpose.int"(%v) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64}
      : (tensor<2x8x4x16xf32>) -> tensor<2x4x8x16xf32>
  %3 = plan.call "aten.reshape.default"(%0) {self = #base.operand<0>, shape = [8 : i64, -1 : i64, 16 : i64]}
      : (tensor<2x4x8x16xf32>) -> tensor<8x8x16xf32>
  %4 = plan.call "aten.reshape.default"(%1) {self = #base.operand<0>, shape = [8 : i64, -1 : i64, 16 : i64]}
      : (tensor<2x4x8x16xf32>) -> tensor<8x8x16xf32>
  %5 = plan.call "aten.transpose.int"(%4) {self = #base.operand<0>, dim0 = -1 : i64, dim1 = -2 : i64}
      : (tensor<8x8x16xf32>) -> tensor<8x16x8xf32>
  %6 = plan.call "aten.reshape.default"(%2) {self = #base.operand<0>, shape = [8 : i64, -1 : i64, 16 : i64]}
      : (tensor<2x4x8x16xf32>) -> tensor<8x8x16xf32>
  %7 = plan.call "aten.baddbmm.default"(%bias, %3, %5)
      {self = #base.operand<0>, batch1 = #base.operand<1>, batch2 = #base.operand<2>, beta = 1.0 : f64, alpha = 0.5 : f64}
      : (tensor<8x1x8xf32>, tensor<8x8x16xf32>, tensor<8x16x8xf32>) -> tensor<8x8x8xf32>
  %8 = plan.call "aten.view.default"(%7) {self = #base.operand<0>, size = [2 : i64, 4 : i64, 8 : i64, -1 : i64]}
      : (tensor<8x8x8xf32>) -> tensor<2x4x8x8xf32>
  %9 = plan.call "aten.add.Tensor"(%8, %mask) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x1x8x8xf32>) -> tensor<2x4x8x8xf32>
  %10 = plan.call "aten.softmax.int"(%9) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %11 = plan.call "aten.view.default"(%10) {self = #base.operand<0>, size = [8 : i64, 8 : i64, -1 : i64]}
      : (tensor<2x4x8x8xf32>) -> tensor<8x8x8xf32>
  %12 = plan.call "aten.bmm.default"(%11, %6) {self = #base.operand<0>, mat2 = #base.operand<1>}
      : (tensor<8x8x8xf32>, tensor<8x8x16xf32>) -> tensor<8x8x16xf32>
  %13 = plan.call "aten.view.default"(%12) {self = #base.operand<0>, size = [2 : i64, 4 : i64, 8 : i64, 16 : i64]}
      : (tensor<8x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %13 : tensor<2x4x8x16xf32>
}

// Hidden scores, and probabilities in a narrower type than the scores. The view becomes a reshape when it is localized.
// CHECK-LABEL: func.func @filled
// CHECK: %[[ZEROS:.*]] = plan.call "aten.zeros.default"() {dtype = f32, size = [8, 8]}
// CHECK-NEXT: %[[MASK:.*]] = plan.call "aten.masked_fill.Scalar"(%[[ZEROS]], %arg3) {{.*}}value = 0xFFF0000000000000
// CHECK-NEXT: %[[K:.*]] = plan.call "aten.transpose.int"(%arg1)
// CHECK-NEXT: %[[OUT:.*]]:2 = plan.call "meshplan.attention"(%arg0, %[[K]], %arg2, %[[MASK]])
// CHECK-NEXT: plan.call "aten.view.default"(%[[OUT]]#0) {self = #base.operand<0>, size = [64, 16]}
func.func @filled(
    %q: tensor<2x4x8x16xbf16>,
    %k: tensor<2x4x16x8xbf16>,
    %v: tensor<2x4x8x16xbf16>,
    %hidden: tensor<8x8xi1>) -> tensor<64x16xbf16> {
  %0 = plan.call "aten.matmul.default"(%q, %k) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x16xbf16>, tensor<2x4x16x8xbf16>) -> tensor<2x4x8x8xbf16>
  %1 = plan.call "aten.to.dtype"(%0) {self = #base.operand<0>, dtype = f32}
      : (tensor<2x4x8x8xbf16>) -> tensor<2x4x8x8xf32>
  %2 = plan.call "aten.masked_fill.Scalar"(%1, %hidden)
      {self = #base.operand<0>, mask = #base.operand<1>, value = 0xFFF0000000000000 : f64}
      : (tensor<2x4x8x8xf32>, tensor<8x8xi1>) -> tensor<2x4x8x8xf32>
  %3 = plan.call "aten._softmax.default"(%2) {self = #base.operand<0>, dim = 3 : i64, half_to_float = false}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = plan.call "aten.to.dtype"(%3) {self = #base.operand<0>, dtype = bf16}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xbf16>
  %5 = plan.call "aten.matmul.default"(%4, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xbf16>, tensor<2x4x8x16xbf16>) -> tensor<2x4x8x16xbf16>
  %6 = plan.call "aten.view.default"(%5) {self = #base.operand<0>, size = [64 : i64, 16 : i64]}
      : (tensor<2x4x8x16xbf16>) -> tensor<64x16xbf16>
  return %6 : tensor<64x16xbf16>
}

// A condition that keeps the scores, as the right operand of the sum.
// CHECK-LABEL: func.func @kept
// CHECK: %[[HIDDEN:.*]] = plan.call "aten.logical_not.default"(%arg4)
// CHECK: plan.call "aten.masked_fill.Scalar"(%arg3, %[[HIDDEN]]) {{.*}}value = -3.4028234663852886E+38
// CHECK: %[[ROWS:.*]] = plan.call "aten.all.dim"(%[[HIDDEN]])
// CHECK: %[[Q:.*]] = plan.call "aten.masked_fill.Scalar"(%arg0, %[[ROWS]])
// CHECK: plan.call "meshplan.attention"(%[[Q]],
func.func @kept(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x16x8xf32>,
    %v: tensor<2x4x8x16xf32>,
    %bias: tensor<1x4x8x8xf32> {plan.kind = #plan.kind<parameter>},
    %seen: tensor<1x1x8x8xi1>) -> tensor<2x4x8x16xf32> {
  %lowest = plan.call "aten.full.default"() {size = [], fill_value = -3.4028234663852886e+38 : f64} : () -> tensor<f32>
  %0 = plan.call "aten.matmul.default"(%q, %k) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %1 = plan.call "aten.add.Tensor"(%bias, %0) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<1x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %2 = plan.call "aten.where.self"(%seen, %1, %lowest)
      {condition = #base.operand<0>, self = #base.operand<1>, other = #base.operand<2>}
      : (tensor<1x1x8x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = plan.call "aten.softmax.int"(%2) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = plan.call "aten.matmul.default"(%3, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %4 : tensor<2x4x8x16xf32>
}

// The probabilities are a result, too.
// CHECK-LABEL: func.func @read_elsewhere
// CHECK-NOT: meshplan.attention
func.func @read_elsewhere(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x16x8xf32>,
    %v: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>, tensor<2x4x8x8xf32>) {
  %0 = plan.call "aten.matmul.default"(%q, %k) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %1 = plan.call "aten.softmax.int"(%0) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %2 = plan.call "aten.matmul.default"(%1, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %2, %1 : tensor<2x4x8x16xf32>, tensor<2x4x8x8xf32>
}

// A finite value that scores can outweigh replaces the score: as an addend it would give another result.
// CHECK-LABEL: func.func @filled_with_a_score
// CHECK-NOT: meshplan.attention
func.func @filled_with_a_score(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x16x8xf32>,
    %v: tensor<2x4x8x16xf32>,
    %hidden: tensor<8x8xi1>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.matmul.default"(%q, %k) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %1 = plan.call "aten.masked_fill.Scalar"(%0, %hidden)
      {self = #base.operand<0>, mask = #base.operand<1>, value = -10000.0 : f64}
      : (tensor<2x4x8x8xf32>, tensor<8x8xi1>) -> tensor<2x4x8x8xf32>
  %2 = plan.call "aten.softmax.int"(%1) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %3 = plan.call "aten.matmul.default"(%2, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %3 : tensor<2x4x8x16xf32>
}

// An addend that is scaled together with the scores.
// CHECK-LABEL: func.func @scaled_bias
// CHECK-NOT: meshplan.attention
func.func @scaled_bias(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x16x8xf32>,
    %v: tensor<2x4x8x16xf32>,
    %bias: tensor<8x8xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.matmul.default"(%q, %k) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %1 = plan.call "aten.add.Tensor"(%0, %bias) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8x8xf32>
  %2 = plan.call "aten.mul.Tensor"(%1) {self = #base.operand<0>, other = 0.25 : f64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %3 = plan.call "aten.softmax.int"(%2) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = plan.call "aten.matmul.default"(%3, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %4 : tensor<2x4x8x16xf32>
}

// Probabilities with dropout, in both forms.
// CHECK-LABEL: func.func @dropped
// CHECK: %[[OUT:.*]]:2 = plan.call "meshplan.attention"(%arg0, %{{.*}}, %arg2) {dropout = 1.000000e-01 : f64,
// CHECK: plan.call "meshplan.attention"(%arg0, %{{.*}}, %[[OUT]]#0) {dropout = 5.000000e-01 : f64,
func.func @dropped(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x16x8xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.matmul.default"(%q, %k) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %1 = plan.call "aten.softmax.int"(%0) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %2 = plan.call "aten.dropout.default"(%1) {input = #base.operand<0>, p = 0.1 : f64, train = true}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %3 = plan.call "aten.matmul.default"(%2, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  %4 = plan.call "aten.softmax.int"(%0) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %5:2 = plan.call "aten.native_dropout.default"(%4) {input = #base.operand<0>, p = 0.5 : f64, train = true}
      : (tensor<2x4x8x8xf32>) -> (tensor<2x4x8x8xf32>, tensor<2x4x8x8xi1>)
  %6 = plan.call "aten.matmul.default"(%5#0, %3) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %6 : tensor<2x4x8x16xf32>
}

// Two dropouts of the probabilities, a dropout mask that is read, and a softmax over the queries.
// CHECK-LABEL: func.func @others
// CHECK-NOT: meshplan.attention
func.func @others(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x16x8xf32>,
    %v: tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x8xi1>) {
  %0 = plan.call "aten.matmul.default"(%q, %k) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %1 = plan.call "aten.softmax.int"(%0) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %2 = plan.call "aten.dropout.default"(%1) {input = #base.operand<0>, p = 0.1 : f64, train = true}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %again = plan.call "aten.dropout.default"(%2) {input = #base.operand<0>, p = 0.1 : f64, train = true}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %3 = plan.call "aten.matmul.default"(%again, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  %4 = plan.call "aten.softmax.int"(%0) {self = #base.operand<0>, dim = 2 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %5 = plan.call "aten.matmul.default"(%4, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  %6 = plan.call "aten.softmax.int"(%0) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %7:2 = plan.call "aten.native_dropout.default"(%6) {input = #base.operand<0>, p = 0.1 : f64, train = true}
      : (tensor<2x4x8x8xf32>) -> (tensor<2x4x8x8xf32>, tensor<2x4x8x8xi1>)
  %8 = plan.call "aten.matmul.default"(%7#0, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %3, %5, %8, %7#1 : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x8xi1>
}

// Scores that are scaled together with the addend are not the op's: it scales before it adds. The order of the operands
// of the sum does not matter.
// CHECK-LABEL: func.func @scaled_sum
// CHECK-NOT: meshplan.attention
// CHECK: return
func.func @scaled_sum(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x16x8xf32>,
    %v: tensor<2x4x8x6xf32>,
    %mask: tensor<2x1x8x8xf32>) -> tensor<2x4x8x6xf32> {
  %0 = plan.call "aten.matmul.default"(%q, %k) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %1 = plan.call "aten.add.Tensor"(%mask, %0) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x1x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %2 = plan.call "aten.mul.Tensor"(%1) {self = #base.operand<0>, other = 0.25 : f64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %3 = plan.call "aten.softmax.int"(%2) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = plan.call "aten.matmul.default"(%3, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x8x6xf32>
  return %4 : tensor<2x4x8x6xf32>
}

// Batch and heads in one dim at the softmax, too, as in nn.MultiheadAttention: the views of the values show which is
// which. A query or key that is scaled before the product scales the scores. A mean of the probabilities that nothing
// reads does not count as a reader.
// CHECK-LABEL: func.func @merged_softmax
// CHECK: %[[Q:.*]] = plan.call "aten.reshape.default"(%{{.*}}) {{.*}} -> tensor<4x6x7x4xf32>
// CHECK: %[[K:.*]] = plan.call "aten.reshape.default"(%{{.*}}) {{.*}} -> tensor<4x6x7x4xf32>
// CHECK: %[[V:.*]] = plan.call "aten.reshape.default"(%{{.*}}) {{.*}} -> tensor<4x6x7x4xf32>
// CHECK: %[[OUT:.*]]:2 = plan.call "meshplan.attention"(%[[Q]], %[[K]], %[[V]])
// CHECK-SAME: scale = 2.500000e-01
// CHECK-NEXT: %[[MERGED:.*]] = plan.call "aten.reshape.default"(%[[OUT]]#0) {{.*}} -> tensor<24x7x4xf32>
// CHECK-NEXT: return %[[MERGED]]
func.func @merged_softmax(
    %q: tensor<7x4x24xf32>,
    %k: tensor<7x4x24xf32>,
    %v: tensor<7x4x24xf32>) -> tensor<24x7x4xf32> {
  %0 = plan.call "aten.view.default"(%q) {self = #base.operand<0>, size = [7 : i64, 24 : i64, 4 : i64]}
      : (tensor<7x4x24xf32>) -> tensor<7x24x4xf32>
  %1 = plan.call "aten.transpose.int"(%0) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64}
      : (tensor<7x24x4xf32>) -> tensor<24x7x4xf32>
  %2 = plan.call "aten.mul.Tensor"(%1) {self = #base.operand<0>, other = 0.5 : f64}
      : (tensor<24x7x4xf32>) -> tensor<24x7x4xf32>
  %3 = plan.call "aten.view.default"(%k) {self = #base.operand<0>, size = [7 : i64, 24 : i64, 4 : i64]}
      : (tensor<7x4x24xf32>) -> tensor<7x24x4xf32>
  %4 = plan.call "aten.permute.default"(%3) {self = #base.operand<0>, dims = [1 : i64, 2 : i64, 0 : i64]}
      : (tensor<7x24x4xf32>) -> tensor<24x4x7xf32>
  %5 = plan.call "aten.div.Tensor"(%4) {self = #base.operand<0>, other = 2.0 : f64}
      : (tensor<24x4x7xf32>) -> tensor<24x4x7xf32>
  %6 = plan.call "aten.view.default"(%v) {self = #base.operand<0>, size = [7 : i64, 24 : i64, 4 : i64]}
      : (tensor<7x4x24xf32>) -> tensor<7x24x4xf32>
  %7 = plan.call "aten.transpose.int"(%6) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64}
      : (tensor<7x24x4xf32>) -> tensor<24x7x4xf32>
  %8 = plan.call "aten.bmm.default"(%2, %5) {self = #base.operand<0>, mat2 = #base.operand<1>}
      : (tensor<24x7x4xf32>, tensor<24x4x7xf32>) -> tensor<24x7x7xf32>
  %9 = plan.call "aten.softmax.int"(%8) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<24x7x7xf32>) -> tensor<24x7x7xf32>
  %10 = plan.call "aten.mean.dim"(%9) {self = #base.operand<0>, dim = [0 : i64]} : (tensor<24x7x7xf32>) -> tensor<7x7xf32>
  %11 = plan.call "aten.bmm.default"(%9, %7) {self = #base.operand<0>, mat2 = #base.operand<1>}
      : (tensor<24x7x7xf32>, tensor<24x7x4xf32>) -> tensor<24x7x4xf32>
  return %11 : tensor<24x7x4xf32>
}
