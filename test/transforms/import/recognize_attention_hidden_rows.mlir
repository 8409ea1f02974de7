// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-recognize-attention | FileCheck %s

// Finite values that replace scores: in rows where every score is replaced they still get probability.

// Rows of padding only have even probabilities, and no gradient.
// CHECK-LABEL: func.func @padded
// CHECK: %[[ROWS:.*]] = plan.call "aten.all.dim"(%arg3) {dim = -1 : i64, keepdim = true, self = #base.operand<0>} : (tensor<2x1x8x8xi1>) -> tensor<2x1x8x1xi1>
// CHECK-NEXT: %[[Q:.*]] = plan.call "aten.masked_fill.Scalar"(%arg0, %[[ROWS]]) {mask = #base.operand<1>, self = #base.operand<0>, value = 0.000000e+00 : f64}
// CHECK: plan.call "meshplan.attention"(%[[Q]], %{{.*}}, %arg2, %{{.*}}) {{.*}}mask =
func.func @padded(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x16x8xf32>,
    %v: tensor<2x4x8x16xf32>,
    %hidden: tensor<2x1x8x8xi1>) -> tensor<2x4x8x16xf32> {
  %p = plan.call "aten.matmul.default"(%q, %k) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %s = plan.call "aten.masked_fill.Scalar"(%p, %hidden)
      {self = #base.operand<0>, mask = #base.operand<1>, value = -3.4028234663852886e+38 : f64}
      : (tensor<2x4x8x8xf32>, tensor<2x1x8x8xi1>) -> tensor<2x4x8x8xf32>
  %w = plan.call "aten.softmax.int"(%s) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %o = plan.call "aten.matmul.default"(%w, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %o : tensor<2x4x8x16xf32>
}

// A mask of keys alone: rows of a sample without keys.
// CHECK-LABEL: func.func @hidden_keys
// CHECK: %[[ROWS:.*]] = plan.call "aten.all.dim"(%arg3) {{.*}} -> tensor<2x1x1x1xi1>
// CHECK: %[[Q:.*]] = plan.call "aten.masked_fill.Scalar"(%arg0, %[[ROWS]]) {{.*}} -> tensor<2x4x8x16xf32>
// CHECK: plan.call "meshplan.attention"(%[[Q]],
func.func @hidden_keys(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x16x8xf32>,
    %v: tensor<2x4x8x16xf32>,
    %hidden: tensor<2x1x1x8xi1>) -> tensor<2x4x8x16xf32> {
  %p = plan.call "aten.matmul.default"(%q, %k) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %s = plan.call "aten.masked_fill.Scalar"(%p, %hidden)
      {self = #base.operand<0>, mask = #base.operand<1>, value = -3.4028234663852886e+38 : f64}
      : (tensor<2x4x8x8xf32>, tensor<2x1x1x8xi1>) -> tensor<2x4x8x8xf32>
  %w = plan.call "aten.softmax.int"(%s) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %o = plan.call "aten.matmul.default"(%w, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %o : tensor<2x4x8x16xf32>
}

// Scores that any of the steps hides, also with different values: a row hidden by both has no score left.
// CHECK-LABEL: func.func @two_fills
// CHECK: %[[HIDDEN:.*]] = plan.call "aten.logical_or.default"(%arg3, %{{.*}}) {{.*}} -> tensor<2x1x8x8xi1>
// CHECK: %[[ROWS:.*]] = plan.call "aten.all.dim"(%[[HIDDEN]]) {{.*}} -> tensor<2x1x8x1xi1>
// CHECK: %[[Q:.*]] = plan.call "aten.masked_fill.Scalar"(%arg0, %[[ROWS]])
// CHECK: plan.call "meshplan.attention"(%[[Q]],
func.func @two_fills(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x16x8xf32>,
    %v: tensor<2x4x8x16xf32>,
    %hidden: tensor<2x1x1x8xi1>) -> tensor<2x4x8x16xf32> {
  %p = plan.call "aten.matmul.default"(%q, %k) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %i = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %row = plan.call "aten.unsqueeze.default"(%i) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %later = plan.call "aten.gt.Tensor"(%i, %row) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %a = plan.call "aten.masked_fill.Scalar"(%p, %hidden)
      {self = #base.operand<0>, mask = #base.operand<1>, value = -3.4028234663852886e+38 : f64}
      : (tensor<2x4x8x8xf32>, tensor<2x1x1x8xi1>) -> tensor<2x4x8x8xf32>
  %s = plan.call "aten.masked_fill.Scalar"(%a, %later)
      {self = #base.operand<0>, mask = #base.operand<1>, value = 0xFFF0000000000000 : f64}
      : (tensor<2x4x8x8xf32>, tensor<8x8xi1>) -> tensor<2x4x8x8xf32>
  %w = plan.call "aten.softmax.int"(%s) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %o = plan.call "aten.matmul.default"(%w, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %o : tensor<2x4x8x16xf32>
}

// Batch and heads in one dim, which the views of the values split.
// CHECK-LABEL: func.func @merged
// CHECK: %[[HIDDEN:.*]] = plan.call "aten.reshape.default"(%arg3) {{.*}} -> tensor<2x4x8x8xi1>
// CHECK: %[[ROWS:.*]] = plan.call "aten.all.dim"(%[[HIDDEN]]) {{.*}} -> tensor<2x4x8x1xi1>
// CHECK: %[[Q:.*]] = plan.call "aten.masked_fill.Scalar"(%{{.*}}, %[[ROWS]]) {{.*}} -> tensor<2x4x8x16xf32>
// CHECK: plan.call "meshplan.attention"(%[[Q]],
func.func @merged(
    %q: tensor<8x8x16xf32>,
    %k: tensor<8x16x8xf32>,
    %values: tensor<2x4x8x16xf32>,
    %hidden: tensor<8x8x8xi1>) -> tensor<8x8x16xf32> {
  %v = plan.call "aten.reshape.default"(%values) {self = #base.operand<0>, shape = [8 : i64, 8 : i64, 16 : i64]}
      : (tensor<2x4x8x16xf32>) -> tensor<8x8x16xf32>
  %p = plan.call "aten.bmm.default"(%q, %k) {self = #base.operand<0>, mat2 = #base.operand<1>}
      : (tensor<8x8x16xf32>, tensor<8x16x8xf32>) -> tensor<8x8x8xf32>
  %s = plan.call "aten.masked_fill.Scalar"(%p, %hidden)
      {self = #base.operand<0>, mask = #base.operand<1>, value = -3.4028234663852886e+38 : f64}
      : (tensor<8x8x8xf32>, tensor<8x8x8xi1>) -> tensor<8x8x8xf32>
  %w = plan.call "aten.softmax.int"(%s) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
  %o = plan.call "aten.bmm.default"(%w, %v) {self = #base.operand<0>, mat2 = #base.operand<1>}
      : (tensor<8x8x8xf32>, tensor<8x8x16xf32>) -> tensor<8x8x16xf32>
  return %o : tensor<8x8x16xf32>
}

// Every query sees itself.
// CHECK-LABEL: func.func @causal
// CHECK-NOT: aten.all.dim
// CHECK: plan.call "meshplan.attention"(%arg0,
func.func @causal(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x16x8xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %p = plan.call "aten.matmul.default"(%q, %k) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %i = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %row = plan.call "aten.unsqueeze.default"(%i) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %later = plan.call "aten.gt.Tensor"(%i, %row) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %s = plan.call "aten.masked_fill.Scalar"(%p, %later)
      {self = #base.operand<0>, mask = #base.operand<1>, value = -3.4028234663852886e+38 : f64}
      : (tensor<2x4x8x8xf32>, tensor<8x8xi1>) -> tensor<2x4x8x8xf32>
  %w = plan.call "aten.softmax.int"(%s) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %o = plan.call "aten.matmul.default"(%w, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %o : tensor<2x4x8x16xf32>
}

// Minus infinity never has a probability.
// CHECK-LABEL: func.func @infinite
// CHECK-NOT: aten.all.dim
// CHECK: plan.call "meshplan.attention"(%arg0,
func.func @infinite(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x16x8xf32>,
    %v: tensor<2x4x8x16xf32>,
    %hidden: tensor<2x1x8x8xi1>) -> tensor<2x4x8x16xf32> {
  %p = plan.call "aten.matmul.default"(%q, %k) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %s = plan.call "aten.masked_fill.Scalar"(%p, %hidden)
      {self = #base.operand<0>, mask = #base.operand<1>, value = 0xFFF0000000000000 : f64}
      : (tensor<2x4x8x8xf32>, tensor<2x1x8x8xi1>) -> tensor<2x4x8x8xf32>
  %w = plan.call "aten.softmax.int"(%s) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %o = plan.call "aten.matmul.default"(%w, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %o : tensor<2x4x8x16xf32>
}

// The result of a layer hides nothing: a bias that a product computes.
// CHECK-LABEL: func.func @beside_a_bias
// CHECK: plan.call "aten.all.dim"(%arg5)
// CHECK: plan.call "meshplan.attention"
func.func @beside_a_bias(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x16x8xf32>,
    %v: tensor<2x4x8x16xf32>,
    %x: tensor<2x4x8x3xf32>,
    %y: tensor<2x4x3x8xf32>,
    %hidden: tensor<2x1x8x8xi1>) -> tensor<2x4x8x16xf32> {
  %p = plan.call "aten.matmul.default"(%q, %k) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %b = plan.call "aten.matmul.default"(%x, %y) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x8x8xf32>
  %a = plan.call "aten.add.Tensor"(%p, %b) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %s = plan.call "aten.masked_fill.Scalar"(%a, %hidden)
      {self = #base.operand<0>, mask = #base.operand<1>, value = -3.4028234663852886e+38 : f64}
      : (tensor<2x4x8x8xf32>, tensor<2x1x8x8xi1>) -> tensor<2x4x8x8xf32>
  %w = plan.call "aten.softmax.int"(%s) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %o = plan.call "aten.matmul.default"(%w, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %o : tensor<2x4x8x16xf32>
}

// A mask that is an input may hide all scores of a row, which then has even probabilities from the finite values: the
// scores would still have a gradient, which zeros in the query cannot express.
// CHECK-LABEL: func.func @beside_a_mask
// CHECK-NOT: meshplan.attention
// CHECK: return
func.func @beside_a_mask(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x16x8xf32>,
    %v: tensor<2x4x8x16xf32>,
    %mask: tensor<2x1x1x8xf32>) -> tensor<2x4x8x16xf32> {
  %p = plan.call "aten.matmul.default"(%q, %k) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %i = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %row = plan.call "aten.unsqueeze.default"(%i) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %later = plan.call "aten.gt.Tensor"(%i, %row) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %a = plan.call "aten.masked_fill.Scalar"(%p, %later)
      {self = #base.operand<0>, mask = #base.operand<1>, value = -3.4028234663852886e+38 : f64}
      : (tensor<2x4x8x8xf32>, tensor<8x8xi1>) -> tensor<2x4x8x8xf32>
  %s = plan.call "aten.add.Tensor"(%a, %mask) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x1x1x8xf32>) -> tensor<2x4x8x8xf32>
  %w = plan.call "aten.softmax.int"(%s) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %o = plan.call "aten.matmul.default"(%w, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %o : tensor<2x4x8x16xf32>
}

// The mask that is added hides the same scores.
// CHECK-LABEL: func.func @beside_a_causal_mask
// CHECK-NOT: aten.all.dim
// CHECK: plan.call "meshplan.attention"(%arg0,
func.func @beside_a_causal_mask(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x16x8xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %p = plan.call "aten.matmul.default"(%q, %k) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %i = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %row = plan.call "aten.unsqueeze.default"(%i) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %later = plan.call "aten.gt.Tensor"(%i, %row) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %none = plan.call "aten.zeros.default"() {size = [8 : i64, 8 : i64], dtype = f32} : () -> tensor<8x8xf32>
  %mask = plan.call "aten.masked_fill.Scalar"(%none, %later)
      {self = #base.operand<0>, mask = #base.operand<1>, value = -3.4028234663852886e+38 : f64}
      : (tensor<8x8xf32>, tensor<8x8xi1>) -> tensor<8x8xf32>
  %a = plan.call "aten.masked_fill.Scalar"(%p, %later)
      {self = #base.operand<0>, mask = #base.operand<1>, value = -3.4028234663852886e+38 : f64}
      : (tensor<2x4x8x8xf32>, tensor<8x8xi1>) -> tensor<2x4x8x8xf32>
  %s = plan.call "aten.add.Tensor"(%a, %mask) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8x8xf32>
  %w = plan.call "aten.softmax.int"(%s) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %o = plan.call "aten.matmul.default"(%w, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %o : tensor<2x4x8x16xf32>
}

// The mask that is added hides more scores.
// CHECK-LABEL: func.func @beside_a_padded_mask
// CHECK-NOT: meshplan.attention
// CHECK: return
func.func @beside_a_padded_mask(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x16x8xf32>,
    %v: tensor<2x4x8x16xf32>,
    %padding: tensor<8x8xi1>) -> tensor<2x4x8x16xf32> {
  %p = plan.call "aten.matmul.default"(%q, %k) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x8x8xf32>
  %i = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %row = plan.call "aten.unsqueeze.default"(%i) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %later = plan.call "aten.gt.Tensor"(%i, %row) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %none = plan.call "aten.zeros.default"() {size = [8 : i64, 8 : i64], dtype = f32} : () -> tensor<8x8xf32>
  %mask = plan.call "aten.masked_fill.Scalar"(%none, %padding)
      {self = #base.operand<0>, mask = #base.operand<1>, value = -3.4028234663852886e+38 : f64}
      : (tensor<8x8xf32>, tensor<8x8xi1>) -> tensor<8x8xf32>
  %a = plan.call "aten.masked_fill.Scalar"(%p, %later)
      {self = #base.operand<0>, mask = #base.operand<1>, value = -3.4028234663852886e+38 : f64}
      : (tensor<2x4x8x8xf32>, tensor<8x8xi1>) -> tensor<2x4x8x8xf32>
  %s = plan.call "aten.add.Tensor"(%a, %mask) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8x8xf32>
  %w = plan.call "aten.softmax.int"(%s) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %o = plan.call "aten.matmul.default"(%w, %v) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %o : tensor<2x4x8x16xf32>
}
