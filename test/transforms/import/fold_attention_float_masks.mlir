// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-fold-attention | FileCheck %s

// Masks that are added to the scores.

// 0 where a query sees a key, minus infinity elsewhere.
// CHECK-LABEL: func.func @minus_infinity
// CHECK-NEXT: %[[SEEN:.*]] = plan.call "aten.reshape.default"(%arg0)
// CHECK-NEXT: "meshplan.attention"(%arg1, %arg2, %arg3, %[[SEEN]]) {causal = true, key = #base.operand<1>, key_mask = #base.operand<3>
func.func @minus_infinity(
    %seen: tensor<2x1x1x8xi1>,
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %key = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %query = plan.call "aten.unsqueeze.default"(%key) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %0 = plan.call "aten.le.Tensor"(%key, %query) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %1 = plan.call "aten.__and__.Tensor"(%0, %seen) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8x8xi1>, tensor<2x1x1x8xi1>) -> tensor<2x1x8x8xi1>
  %2 = plan.call "aten.where.Scalar"(%1)
      {condition = #base.operand<0>, self = 0.0 : f64, other = 0xFFF0000000000000 : f64}
      : (tensor<2x1x8x8xi1>) -> tensor<2x1x8x8xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %2)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x1x8x8xf32>)
      -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// The lowest finite value also gives a probability of 0, because each query sees itself.
// CHECK-LABEL: func.func @lowest_number
// CHECK-NEXT: "meshplan.attention"(%arg0, %arg1, %arg2) {causal = true, key =
func.func @lowest_number(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %key = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %query = plan.call "aten.unsqueeze.default"(%key) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %0 = plan.call "aten.le.Tensor"(%key, %query) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %1 = plan.call "aten.where.Scalar"(%0)
      {condition = #base.operand<0>, self = 0.0 : f64, other = -3.4028234663852886e+38 : f64}
      : (tensor<8x8xi1>) -> tensor<8x8xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %1)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<8x8xf32>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// As older models write it: the upper triangle of a full tensor.
// CHECK-LABEL: func.func @lowest_number_filled
// CHECK-NEXT: "meshplan.attention"(%arg0, %arg1, %arg2) {causal = true, key =
func.func @lowest_number_filled(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.full.default"() {size = [8 : i64, 8 : i64], fill_value = -3.4028234663852886e+38 : f64}
      : () -> tensor<8x8xf32>
  %1 = plan.call "aten.triu.default"(%0) {self = #base.operand<0>, diagonal = 1 : i64}
      : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = plan.call "aten.unsqueeze.default"(%1) {self = #base.operand<0>, dim = 0 : i64}
      : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %2)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<1x8x8xf32>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// With padding a query may see no key, and the lowest value then spreads its probability over all keys: the mask stays.
// CHECK-LABEL: func.func @lowest_number_padded
// CHECK: %[[MASK:.*]] = plan.call "aten.where.Scalar"
// CHECK-NEXT: "meshplan.attention"(%arg1, %arg2, %arg3, %[[MASK]]) {key = #base.operand<1>, mask = #base.operand<3>
func.func @lowest_number_padded(
    %seen: tensor<2x1x1x8xi1>,
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %key = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %query = plan.call "aten.unsqueeze.default"(%key) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %0 = plan.call "aten.le.Tensor"(%key, %query) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %1 = plan.call "aten.__and__.Tensor"(%0, %seen) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8x8xi1>, tensor<2x1x1x8xi1>) -> tensor<2x1x8x8xi1>
  %2 = plan.call "aten.where.Scalar"(%1)
      {condition = #base.operand<0>, self = 0.0 : f64, other = -3.4028234663852886e+38 : f64}
      : (tensor<2x1x8x8xi1>) -> tensor<2x1x8x8xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %2)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x1x8x8xf32>)
      -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// A value that scores can outweigh hides nothing.
// CHECK-LABEL: func.func @low_number
// CHECK: %[[MASK:.*]] = plan.call "aten.where.Scalar"
// CHECK: "meshplan.attention"(%arg0, %arg1, %arg2, %{{.*}}) {key = #base.operand<1>, mask = #base.operand<3>
func.func @low_number(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %key = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %query = plan.call "aten.unsqueeze.default"(%key) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %0 = plan.call "aten.le.Tensor"(%key, %query) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %1 = plan.call "aten.where.Scalar"(%0) {condition = #base.operand<0>, self = 0.0 : f64, other = -10000.0 : f64}
      : (tensor<8x8xi1>) -> tensor<8x8xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %1)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<8x8xf32>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// A bias beside the mask, as in T5.
// CHECK-LABEL: func.func @position_bias
// CHECK: %[[MASK:.*]] = plan.call "aten.add.Tensor"
// CHECK-NEXT: "meshplan.attention"(%arg1, %arg2, %arg3, %[[MASK]]) {key = #base.operand<1>, mask = #base.operand<3>
func.func @position_bias(
    %bias: tensor<1x4x8x8xf32>,
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %key = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %query = plan.call "aten.unsqueeze.default"(%key) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %0 = plan.call "aten.le.Tensor"(%key, %query) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %1 = plan.call "aten.where.Scalar"(%0)
      {condition = #base.operand<0>, self = 0.0 : f64, other = -3.4028234663852886e+38 : f64}
      : (tensor<8x8xi1>) -> tensor<8x8xf32>
  %2 = plan.call "aten.add.Tensor"(%bias, %1) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<1x4x8x8xf32>, tensor<8x8xf32>) -> tensor<1x4x8x8xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %2)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<1x4x8x8xf32>)
      -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// A mask of zeros.
// CHECK-LABEL: func.func @zeros
// CHECK-NEXT: "meshplan.attention"(%arg0, %arg1, %arg2) {key =
func.func @zeros(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.zeros.default"() {size = [8 : i64, 8 : i64]} : () -> tensor<8x8xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %0)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<8x8xf32>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// Beside slopes times positions the lowest value still hides: the slopes stay, one row for all queries.
// CHECK-LABEL: func.func @alibi
// CHECK: %[[BIAS:.*]] = plan.call "aten.mul.Tensor"
// CHECK-NEXT: %[[MASK:.*]] = plan.call "aten.reshape.default"(%[[BIAS]]) {{.*}} -> tensor<1x4x1x8xf32>
// CHECK-NEXT: "meshplan.attention"(%arg0, %arg1, %arg2, %[[MASK]]) {causal = true, {{.*}}mask = #base.operand<3>{{.*}}window = 3
func.func @alibi(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %key = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %head = plan.call "aten.arange.start"() {start = 1 : i64, end = 5 : i64} : () -> tensor<4xi64>
  %base = plan.call "aten.full.default"() {size = [], fill_value = 0.25 : f64} : () -> tensor<f32>
  %0 = plan.call "aten.pow.Tensor_Tensor"(%base, %head) {self = #base.operand<0>, exponent = #base.operand<1>}
      : (tensor<f32>, tensor<4xi64>) -> tensor<4xf32>
  %slopes = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = [4 : i64, 1 : i64, 1 : i64]}
      : (tensor<4xf32>) -> tensor<4x1x1xf32>
  %bias = plan.call "aten.mul.Tensor"(%slopes, %key) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<4x1x1xf32>, tensor<8xi64>) -> tensor<4x1x8xf32>
  %query = plan.call "aten.unsqueeze.default"(%key) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %1 = plan.call "aten.gt.Tensor"(%key, %query) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %2 = plan.call "aten.masked_fill.Scalar"(%bias, %1)
      {self = #base.operand<0>, mask = #base.operand<1>, value = -3.4028234663852886e+38 : f64}
      : (tensor<4x1x8xf32>, tensor<8x8xi1>) -> tensor<4x8x8xf32>
  %3 = plan.call "aten.sub.Tensor"(%query, %key) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8x1xi64>, tensor<8xi64>) -> tensor<8x8xi64>
  %4 = plan.call "aten.lt.Scalar"(%3) {self = #base.operand<0>, other = 3 : i64} : (tensor<8x8xi64>) -> tensor<8x8xi1>
  %5 = plan.call "aten.where.Scalar"(%4) {condition = #base.operand<0>, self = 0.0 : f64, other = 0xFFF0000000000000 : f64}
      : (tensor<8x8xi1>) -> tensor<8x8xf32>
  %6 = plan.call "aten.add.Tensor"(%2, %5) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<4x8x8xf32>, tensor<8x8xf32>) -> tensor<4x8x8xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %6)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<4x8x8xf32>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// Minus infinity hides beside any bias.
// CHECK-LABEL: func.func @any_bias
// CHECK-NEXT: "meshplan.attention"(%arg1, %arg2, %arg3, %arg0) {causal = true, {{.*}}mask = #base.operand<3>
func.func @any_bias(
    %bias: tensor<1x4x8x8xf32>,
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %key = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %query = plan.call "aten.unsqueeze.default"(%key) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %0 = plan.call "aten.le.Tensor"(%key, %query) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %1 = plan.call "aten.where.Scalar"(%0) {condition = #base.operand<0>, self = 0.0 : f64, other = 0xFFF0000000000000 : f64}
      : (tensor<8x8xi1>) -> tensor<8x8xf32>
  %2 = plan.call "aten.add.Tensor"(%1, %bias) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %2)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<1x4x8x8xf32>)
      -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// A learned bias does not come close to the lowest value either.
// CHECK-LABEL: func.func @learned_bias
// CHECK: %[[BIAS:.*]] = plan.call "aten.unsqueeze.default"
// CHECK-NEXT: "meshplan.attention"(%arg1, %arg2, %arg3, %[[BIAS]]) {causal = true, {{.*}}mask = #base.operand<3>
func.func @learned_bias(
    %table: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>},
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %key = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %query = plan.call "aten.unsqueeze.default"(%key) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %0 = plan.call "aten.le.Tensor"(%key, %query) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %bias = plan.call "aten.unsqueeze.default"(%table) {self = #base.operand<0>, dim = 0 : i64}
      : (tensor<4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %1 = plan.call "aten.where.ScalarOther"(%0, %bias)
      {condition = #base.operand<0>, self = #base.operand<1>, other = -3.4028234663852886e+38 : f64}
      : (tensor<8x8xi1>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %2 = plan.call "aten.clone.default"(%1) {self = #base.operand<0>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %2)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<1x4x8x8xf32>)
      -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// Of two other addends only one can be the mask.
// CHECK-LABEL: func.func @two_biases
// CHECK: %[[MASK:.*]] = plan.call "aten.add.Tensor"
// CHECK: %[[ALL:.*]] = plan.call "aten.add.Tensor"(%[[MASK]], %arg1)
// CHECK: "meshplan.attention"(%arg2, %arg3, %arg4, %[[ALL]]) {key =
func.func @two_biases(
    %bias: tensor<1x4x8x8xf32>,
    %more: tensor<2x1x1x8xf32>,
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.full.default"() {size = [8 : i64, 8 : i64], fill_value = 0xFFF0000000000000 : f64}
      : () -> tensor<8x8xf32>
  %1 = plan.call "aten.triu.default"(%0) {self = #base.operand<0>, diagonal = 1 : i64}
      : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = plan.call "aten.add.Tensor"(%1, %bias) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %3 = plan.call "aten.add.Tensor"(%2, %more) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<1x4x8x8xf32>, tensor<2x1x1x8xf32>) -> tensor<2x4x8x8xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %3)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x8xf32>)
      -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// A doubled bias is not the same bias.
// CHECK-LABEL: func.func @doubled_bias
// CHECK: %[[ALL:.*]] = plan.call "aten.add.Tensor"{{.*}}alpha = 2
// CHECK-NEXT: "meshplan.attention"(%arg1, %arg2, %arg3, %[[ALL]]) {key =
func.func @doubled_bias(
    %bias: tensor<1x4x8x8xf32>,
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.full.default"() {size = [8 : i64, 8 : i64], fill_value = 0xFFF0000000000000 : f64}
      : () -> tensor<8x8xf32>
  %1 = plan.call "aten.triu.default"(%0) {self = #base.operand<0>, diagonal = 1 : i64}
      : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = plan.call "aten.add.Tensor"(%1, %bias) {self = #base.operand<0>, other = #base.operand<1>, alpha = 2 : i64}
      : (tensor<8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %2)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<1x4x8x8xf32>)
      -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// A mask that hides keys per query stays, and so does the bias: both become one operand, their sum.
// CHECK-LABEL: func.func @bias_beside_a_mask
// CHECK: %[[ALL:.*]] = plan.call "aten.add.Tensor"
// CHECK-NEXT: "meshplan.attention"(%arg2, %arg3, %arg4, %[[ALL]]) {key =
func.func @bias_beside_a_mask(
    %bias: tensor<1x4x8x8xf32>,
    %seen: tensor<2x1x8x8xi1>,
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %1 = plan.call "aten.where.Scalar"(%seen) {condition = #base.operand<0>, self = 0.0 : f64, other = 0xFFF0000000000000 : f64}
      : (tensor<2x1x8x8xi1>) -> tensor<2x1x8x8xf32>
  %2 = plan.call "aten.add.Tensor"(%1, %bias) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x1x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %2)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x8xf32>)
      -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// With 8 queries and 4 keys, the last queries see no key at all: the lowest value spreads their probability evenly.
// CHECK-LABEL: func.func @more_queries_than_keys
// CHECK: %[[MASK:.*]] = plan.call "aten.where.Scalar"
// CHECK-NEXT: "meshplan.attention"(%arg0, %arg1, %arg2, %[[MASK]]) {key = #base.operand<1>, mask = #base.operand<3>
func.func @more_queries_than_keys(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x4x16xf32>,
    %v: tensor<2x4x4x16xf32>) -> tensor<2x4x8x16xf32> {
  %key = plan.call "aten.arange.default"() {end = 4 : i64} : () -> tensor<4xi64>
  %place = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %query = plan.call "aten.view.default"(%place) {self = #base.operand<0>, size = [1 : i64, 1 : i64, 8 : i64, 1 : i64]}
      : (tensor<8xi64>) -> tensor<1x1x8x1xi64>
  %0 = plan.call "aten.ge.Tensor"(%key, %query) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<4xi64>, tensor<1x1x8x1xi64>) -> tensor<1x1x8x4xi1>
  %1 = plan.call "aten.where.Scalar"(%0) {condition = #base.operand<0>, self = 0.0 : f64, other = -3.4028234663852886e+38 : f64}
      : (tensor<1x1x8x4xi1>) -> tensor<1x1x8x4xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %1)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x4x16xf32>, tensor<2x4x4x16xf32>, tensor<1x1x8x4xf32>)
      -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}
