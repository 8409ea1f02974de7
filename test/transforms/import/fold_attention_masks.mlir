// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-fold-attention | FileCheck %s

// Boolean masks as properties.

// key <= query
// CHECK-LABEL: func.func @causal
// CHECK-NEXT: "meshplan.attention"(%arg0, %arg1, %arg2) {causal = true, key =
// CHECK-NOT: window
// CHECK: return
func.func @causal(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %key = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %query = plan.call "aten.unsqueeze.default"(%key) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %mask = plan.call "aten.le.Tensor"(%key, %query) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %mask)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<8x8xi1>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// The lower triangle of a tensor of ones, inverted and inverted back.
// CHECK-LABEL: func.func @triangle
// CHECK-NEXT: "meshplan.attention"(%arg0, %arg1, %arg2) {causal = true, key =
func.func @triangle(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.ones.default"() {size = [8 : i64, 8 : i64], dtype = i1} : () -> tensor<8x8xi1>
  %1 = plan.call "aten.tril.default"(%0) {self = #base.operand<0>} : (tensor<8x8xi1>) -> tensor<8x8xi1>
  %2 = plan.call "aten.logical_not.default"(%1) {self = #base.operand<0>} : (tensor<8x8xi1>) -> tensor<8x8xi1>
  %3 = plan.call "aten.bitwise_not.default"(%2) {self = #base.operand<0>} : (tensor<8x8xi1>) -> tensor<8x8xi1>
  %4 = plan.call "aten.expand.default"(%3) {self = #base.operand<0>, size = [2 : i64, 1 : i64, 8 : i64, 8 : i64]}
      : (tensor<8x8xi1>) -> tensor<2x1x8x8xi1>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %4)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x1x8x8xi1>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// A mask that is true everywhere is removed.
// CHECK-LABEL: func.func @everything_seen
// CHECK-NEXT: "meshplan.attention"(%arg0, %arg1, %arg2) {key =
func.func @everything_seen(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %key = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %query = plan.call "aten.unsqueeze.default"(%key) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %0 = plan.call "aten.sub.Tensor"(%query, %key) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8x1xi64>, tensor<8xi64>) -> tensor<8x8xi64>
  %mask = plan.call "aten.lt.Scalar"(%0) {self = #base.operand<0>, other = 8 : i64}
      : (tensor<8x8xi64>) -> tensor<8x8xi1>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %mask)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<8x8xi1>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// Mistral and Gemma: the newest four keys.
// CHECK-LABEL: func.func @sliding
// CHECK-NEXT: "meshplan.attention"(%arg0, %arg1, %arg2) {causal = true,
// CHECK-SAME: window = 4 : i64}
func.func @sliding(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %key = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %query = plan.call "aten.unsqueeze.default"(%key) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %0 = plan.call "aten.le.Tensor"(%key, %query) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %1 = plan.call "aten.sub.Tensor"(%query) {self = #base.operand<0>, other = 4 : i64}
      : (tensor<8x1xi64>) -> tensor<8x1xi64>
  %2 = plan.call "aten.gt.Tensor"(%key, %1) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %mask = plan.call "aten.__and__.Tensor"(%2, %0) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8x8xi1>, tensor<8x8xi1>) -> tensor<8x8xi1>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %mask)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<8x8xi1>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// A padding mask is looked up by batch and key; its boolean form becomes the key mask.
// CHECK-LABEL: func.func @padded
// CHECK-NEXT: %[[SEEN:.*]] = plan.call "aten.to.dtype"(%arg0)
// CHECK-NEXT: "meshplan.attention"(%arg1, %arg2, %arg3, %[[SEEN]]) {causal = true, key = #base.operand<1>, key_mask = #base.operand<3>
func.func @padded(
    %seen: tensor<2x8xi64>,
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.to.dtype"(%seen) {self = #base.operand<0>, dtype = i1} : (tensor<2x8xi64>) -> tensor<2x8xi1>
  %1 = plan.call "aten.arange.default"() {end = 2 : i64} : () -> tensor<2xi64>
  %2 = plan.call "aten.view.default"(%1) {self = #base.operand<0>, size = [2 : i64, 1 : i64, 1 : i64, 1 : i64]}
      : (tensor<2xi64>) -> tensor<2x1x1x1xi64>
  %3 = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %4 = plan.call "aten.view.default"(%3) {self = #base.operand<0>, size = [1 : i64, 1 : i64, 1 : i64, 8 : i64]}
      : (tensor<8xi64>) -> tensor<1x1x1x8xi64>
  %5 = plan.call "aten.view.default"(%3) {self = #base.operand<0>, size = [1 : i64, 1 : i64, 8 : i64, 1 : i64]}
      : (tensor<8xi64>) -> tensor<1x1x8x1xi64>
  %6 = plan.call "aten.index.Tensor"(%0, %2, %4)
      {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]}
      : (tensor<2x8xi1>, tensor<2x1x1x1xi64>, tensor<1x1x1x8xi64>) -> tensor<2x1x1x8xi1>
  %7 = plan.call "aten.le.Tensor"(%4, %5) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<1x1x1x8xi64>, tensor<1x1x8x1xi64>) -> tensor<1x1x8x8xi1>
  %8 = plan.call "aten.bitwise_and.Tensor"(%7, %6) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<1x1x8x8xi1>, tensor<2x1x1x8xi1>) -> tensor<2x1x8x8xi1>
  %9 = plan.call "aten.expand.default"(%8) {self = #base.operand<0>, size = [2 : i64, -1 : i64, 8 : i64, 8 : i64]}
      : (tensor<2x1x8x8xi1>) -> tensor<2x1x8x8xi1>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %9)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x1x8x8xi1>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// Without causal order, as in BERT; converted to boolean after its reshape.
// CHECK-LABEL: func.func @padding_only
// CHECK: %[[SEEN:.*]] = plan.call "aten.gt.Scalar"
// CHECK-NEXT: %[[FLAT:.*]] = plan.call "aten.reshape.default"(%[[SEEN]]) {self = #base.operand<0>, shape = [2, 8]} : (tensor<2x1x1x8xi1>) -> tensor<2x8xi1>
// CHECK-NEXT: "meshplan.attention"(%arg1, %arg2, %arg3, %[[FLAT]]) {key = #base.operand<1>, key_mask = #base.operand<3>
func.func @padding_only(
    %seen: tensor<2x8xi64>,
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.view.default"(%seen) {self = #base.operand<0>, size = [2 : i64, 1 : i64, 1 : i64, 8 : i64]}
      : (tensor<2x8xi64>) -> tensor<2x1x1x8xi64>
  %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 0 : i64}
      : (tensor<2x1x1x8xi64>) -> tensor<2x1x1x8xi1>
  %2 = plan.call "aten.expand.default"(%1) {self = #base.operand<0>, size = [2 : i64, 1 : i64, 8 : i64, 8 : i64]}
      : (tensor<2x1x1x8xi1>) -> tensor<2x1x8x8xi1>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %2)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x1x8x8xi1>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// One padding mask for all samples is broadcast.
// CHECK-LABEL: func.func @keys_only
// CHECK-NEXT: %[[ROW:.*]] = plan.call "aten.reshape.default"(%arg0) {{.*}}shape = [1, 8]
// CHECK-NEXT: %[[ALL:.*]] = plan.call "aten.expand.default"(%[[ROW]]) {{.*}}size = [2, 8]
// CHECK-NEXT: "meshplan.attention"(%arg1, %arg2, %arg3, %[[ALL]]) {key = #base.operand<1>, key_mask = #base.operand<3>
func.func @keys_only(
    %seen: tensor<8xi1>,
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.expand.default"(%seen) {self = #base.operand<0>, size = [2 : i64, 1 : i64, 8 : i64, 8 : i64]}
      : (tensor<8xi1>) -> tensor<2x1x8x8xi1>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %0)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x1x8x8xi1>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// Two separate key masks are joined.
// CHECK-LABEL: func.func @two_paddings
// CHECK: %[[BOTH:.*]] = plan.call "aten.logical_and.default"(%{{.*}}, %{{.*}}) {{.*}}-> tensor<2x8xi1>
// CHECK-NEXT: "meshplan.attention"(%arg2, %arg3, %arg4, %[[BOTH]]) {causal = true,
func.func @two_paddings(
    %seen: tensor<2x1x1x8xi1>,
    %used: tensor<2x1x1x8xi1>,
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
  %2 = plan.call "aten.__and__.Tensor"(%1, %used) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x1x8x8xi1>, tensor<2x1x1x8xi1>) -> tensor<2x1x8x8xi1>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %2)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x1x8x8xi1>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// Without attention_mask, Hugging Face models look for packed sequences: where positions do not increase by one, a new
// sequence starts. Positions of an arange have none.
// CHECK-LABEL: func.func @one_sequence
// CHECK-NEXT: "meshplan.attention"(%arg0, %arg1, %arg2) {causal = true, key =
func.func @one_sequence(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.arange.default"() {end = 2 : i64} : () -> tensor<2xi64>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = [2 : i64, 1 : i64, 1 : i64, 1 : i64]}
      : (tensor<2xi64>) -> tensor<2x1x1x1xi64>
  %2 = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %3 = plan.call "aten.view.default"(%2) {self = #base.operand<0>, size = [1 : i64, 1 : i64, 1 : i64, 8 : i64]}
      : (tensor<8xi64>) -> tensor<1x1x1x8xi64>
  %4 = plan.call "aten.view.default"(%2) {self = #base.operand<0>, size = [1 : i64, 1 : i64, 8 : i64, 1 : i64]}
      : (tensor<8xi64>) -> tensor<1x1x8x1xi64>
  %5 = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %6 = plan.call "aten.unsqueeze.default"(%5) {self = #base.operand<0>, dim = 0 : i64}
      : (tensor<8xi64>) -> tensor<1x8xi64>
  %7 = plan.call "aten.expand.default"(%6) {self = #base.operand<0>, size = [2 : i64, -1 : i64]}
      : (tensor<1x8xi64>) -> tensor<2x8xi64>
  %8 = plan.call "aten.slice.Tensor"(%7) {self = #base.operand<0>, dim = 1 : i64, start = 0 : i64, end = 1 : i64}
      : (tensor<2x8xi64>) -> tensor<2x1xi64>
  %9 = plan.call "aten.sub.Tensor"(%8) {self = #base.operand<0>, other = 1 : i64}
      : (tensor<2x1xi64>) -> tensor<2x1xi64>
  %10 = plan.call "aten.diff.default"(%7, %9)
      {self = #base.operand<0>, n = 1 : i64, dim = -1 : i64, prepend = #base.operand<1>}
      : (tensor<2x8xi64>, tensor<2x1xi64>) -> tensor<2x8xi64>
  %11 = plan.call "aten.ne.Scalar"(%10) {self = #base.operand<0>, other = 1 : i64}
      : (tensor<2x8xi64>) -> tensor<2x8xi1>
  %12 = plan.call "aten.cumsum.default"(%11) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<2x8xi1>) -> tensor<2x8xi64>
  %13 = plan.call "aten.index.Tensor"(%12, %1, %4)
      {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]}
      : (tensor<2x8xi64>, tensor<2x1x1x1xi64>, tensor<1x1x8x1xi64>) -> tensor<2x1x8x1xi64>
  %14 = plan.call "aten.index.Tensor"(%12, %1, %3)
      {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]}
      : (tensor<2x8xi64>, tensor<2x1x1x1xi64>, tensor<1x1x1x8xi64>) -> tensor<2x1x1x8xi64>
  %15 = plan.call "aten.eq.Tensor"(%13, %14) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x1x8x1xi64>, tensor<2x1x1x8xi64>) -> tensor<2x1x8x8xi1>
  %16 = plan.call "aten.le.Tensor"(%3, %4) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<1x1x1x8xi64>, tensor<1x1x8x1xi64>) -> tensor<1x1x8x8xi1>
  %17 = plan.call "aten.__and__.Tensor"(%15, %16) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x1x8x8xi1>, tensor<1x1x8x8xi1>) -> tensor<2x1x8x8xi1>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %17)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x1x8x8xi1>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// Segments that depend on an input may be several: the part of the mask for them stays, the causal part is folded.
// CHECK-LABEL: func.func @packed_sequences
// CHECK: %[[SAME:.*]] = plan.call "aten.eq.Tensor"
// CHECK-NEXT: "meshplan.attention"(%arg1, %arg2, %arg3, %[[SAME]]) {causal = true, key = #base.operand<1>, mask = #base.operand<3>
func.func @packed_sequences(
    %segment: tensor<2x8xi64>,
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.view.default"(%segment) {self = #base.operand<0>, size = [2 : i64, 1 : i64, 8 : i64, 1 : i64]}
      : (tensor<2x8xi64>) -> tensor<2x1x8x1xi64>
  %1 = plan.call "aten.view.default"(%segment) {self = #base.operand<0>, size = [2 : i64, 1 : i64, 1 : i64, 8 : i64]}
      : (tensor<2x8xi64>) -> tensor<2x1x1x8xi64>
  %2 = plan.call "aten.eq.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x1x8x1xi64>, tensor<2x1x1x8xi64>) -> tensor<2x1x8x8xi1>
  %key = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %query = plan.call "aten.unsqueeze.default"(%key) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %3 = plan.call "aten.le.Tensor"(%key, %query) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %4 = plan.call "aten.__and__.Tensor"(%2, %3) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x1x8x8xi1>, tensor<8x8xi1>) -> tensor<2x1x8x8xi1>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %4)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x1x8x8xi1>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// A disjunction is not a property; the whole mask stays.
// CHECK-LABEL: func.func @union
// CHECK: %[[MASK:.*]] = plan.call "aten.__or__.Tensor"
// CHECK-NEXT: "meshplan.attention"(%arg1, %arg2, %arg3, %[[MASK]]) {key = #base.operand<1>, mask = #base.operand<3>
func.func @union(
    %seen: tensor<2x1x1x8xi1>,
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %key = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %query = plan.call "aten.unsqueeze.default"(%key) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %0 = plan.call "aten.le.Tensor"(%key, %query) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %1 = plan.call "aten.__or__.Tensor"(%0, %seen) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8x8xi1>, tensor<2x1x1x8xi1>) -> tensor<2x1x8x8xi1>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %1)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x1x8x8xi1>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// key < query is not causal order: query 0 sees nothing. The mask is reshaped to four dims.
// CHECK-LABEL: func.func @strictly_before
// CHECK: %[[MASK:.*]] = plan.call "aten.lt.Tensor"
// CHECK: %[[FOUR:.*]] = plan.call "aten.reshape.default"(%[[MASK]]) {{.*}}shape = [1, 1, 8, 8]
// CHECK: "meshplan.attention"(%arg0, %arg1, %arg2, %[[FOUR]]) {key = #base.operand<1>, mask = #base.operand<3>
func.func @strictly_before(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %key = plan.call "aten.arange.default"() {end = 8 : i64} : () -> tensor<8xi64>
  %query = plan.call "aten.unsqueeze.default"(%key) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<8xi64>) -> tensor<8x1xi64>
  %0 = plan.call "aten.lt.Tensor"(%key, %query) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %0)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<8x8xi1>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// A mask that is an input stays.
// CHECK-LABEL: func.func @opaque
// CHECK-NEXT: "meshplan.attention"(%arg1, %arg2, %arg3, %arg0) {key = #base.operand<1>, mask = #base.operand<3>
func.func @opaque(
    %mask: tensor<2x1x8x8xi1>,
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %mask)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x1x8x8xi1>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// A mask together with is_causal is an error in PyTorch; the call stays unchanged.
// CHECK-LABEL: func.func @mask_and_flag
// CHECK-NEXT: "aten.scaled_dot_product_attention.default"
func.func @mask_and_flag(
    %mask: tensor<2x1x8x8xi1>,
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %mask)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>,
       attn_mask = #base.operand<3>, is_causal = true}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x1x8x8xi1>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// Layers share the key mask.
// CHECK-LABEL: func.func @two_layers
// CHECK: %[[MASK:.*]] = plan.call "aten.reshape.default"
// CHECK-NOT: aten.reshape
// CHECK: %[[OUT:.*]]:2 = plan.call "meshplan.attention"(%arg1, %arg2, %arg3, %[[MASK]])
// CHECK-NEXT: "meshplan.attention"(%[[OUT]]#0, %arg2, %arg3, %[[MASK]])
func.func @two_layers(
    %seen: tensor<2x1x1x8xi1>,
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %first = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v, %seen)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x1x1x8xi1>) -> tensor<2x4x8x16xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%first, %k, %v, %seen)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, attn_mask = #base.operand<3>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x1x1x8xi1>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}
