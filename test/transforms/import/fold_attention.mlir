// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-fold-attention | FileCheck %s

// Attention as one op, and repeated heads.

// Without a mask; the default scale is that of 16 features. The module is kept.
// CHECK-LABEL: func.func @plain
// CHECK-NEXT: %[[OUT:.*]]:2 = plan.call "meshplan.attention"(%arg0, %arg1, %arg2)
// CHECK-SAME: {key = #base.operand<1>, query = #base.operand<0>, scale = 2.500000e-01 : f64, value = #base.operand<2>} in "model.attention"
// CHECK-SAME: -> (tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
// CHECK-NEXT: return %[[OUT]]#0
func.func @plain(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x4x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>} in "model.attention"
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// Options that the model sets, and logsumexp of doubles.
// CHECK-LABEL: func.func @options
// CHECK-NEXT: "meshplan.attention"
// CHECK-SAME: {causal = true, dropout = 1.000000e-01 : f64,
// CHECK-SAME: scale = 1.250000e-01 : f64
// CHECK-SAME: -> (tensor<2x4x8x16xf64>, tensor<2x4x8xf64>)
func.func @options(
    %q: tensor<2x4x8x16xf64>,
    %k: tensor<2x4x8x16xf64>,
    %v: tensor<2x4x8x16xf64>) -> tensor<2x4x8x16xf64> {
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>,
       is_causal = true, dropout_p = 0.1 : f64, scale = 0.125 : f64}
      : (tensor<2x4x8x16xf64>, tensor<2x4x8x16xf64>, tensor<2x4x8x16xf64>) -> tensor<2x4x8x16xf64>
  return %out : tensor<2x4x8x16xf64>
}

// Three dims become four with one head.
// CHECK-LABEL: func.func @three_dims
// CHECK: %[[Q:.*]] = plan.call "aten.unsqueeze.default"(%arg0) {dim = 1
// CHECK: %[[K:.*]] = plan.call "aten.unsqueeze.default"(%arg1)
// CHECK: %[[V:.*]] = plan.call "aten.unsqueeze.default"(%arg2)
// CHECK: %[[OUT:.*]]:2 = plan.call "meshplan.attention"(%[[Q]], %[[K]], %[[V]])
// CHECK: %[[S:.*]] = plan.call "aten.squeeze.dim"(%[[OUT]]#0) {dim = 1
// CHECK: return %[[S]]
func.func @three_dims(
    %q: tensor<4x8x16xf32>,
    %k: tensor<4x8x16xf32>,
    %v: tensor<4x8x16xf32>) -> tensor<4x8x16xf32> {
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>}
      : (tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  return %out : tensor<4x8x16xf32>
}

// Two dims stay.
// CHECK-LABEL: func.func @two_dims
// CHECK-NEXT: "aten.scaled_dot_product_attention.default"
func.func @two_dims(
    %q: tensor<8x16xf32>,
    %k: tensor<8x16xf32>,
    %v: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>}
      : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %out : tensor<8x16xf32>
}

// One key head is broadcast to all queries.
// CHECK-LABEL: func.func @broadcast_heads
// CHECK: "meshplan.attention"(%arg0, %arg1, %arg2)
func.func @broadcast_heads(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x1x8x16xf32>,
    %v: tensor<2x1x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>}
      : (tensor<2x4x8x16xf32>, tensor<2x1x8x16xf32>, tensor<2x1x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// Keys of one sample for queries of two: the kernel does not broadcast them.
// CHECK-LABEL: func.func @broadcast_batch
// CHECK-NEXT: "aten.scaled_dot_product_attention.default"
func.func @broadcast_batch(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<1x4x8x16xf32>,
    %v: tensor<1x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %k, %v)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>}
      : (tensor<2x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// unsqueeze, expand, reshape, as Hugging Face models export it.
// CHECK-LABEL: func.func @repeat_kv
// CHECK: "meshplan.attention"(%arg0, %arg1, %arg2)
// CHECK-NEXT: return
func.func @repeat_kv(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x2x8x16xf32>,
    %v: tensor<2x2x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.unsqueeze.default"(%k) {self = #base.operand<0>, dim = 2 : i64}
      : (tensor<2x2x8x16xf32>) -> tensor<2x2x1x8x16xf32>
  %1 = plan.call "aten.expand.default"(%0)
      {self = #base.operand<0>, size = [2 : i64, 2 : i64, 2 : i64, 8 : i64, 16 : i64]}
      : (tensor<2x2x1x8x16xf32>) -> tensor<2x2x2x8x16xf32>
  %2 = plan.call "aten.reshape.default"(%1) {self = #base.operand<0>, shape = [2 : i64, 4 : i64, 8 : i64, 16 : i64]}
      : (tensor<2x2x2x8x16xf32>) -> tensor<2x4x8x16xf32>
  %3 = plan.call "aten.unsqueeze.default"(%v) {self = #base.operand<0>, dim = 2 : i64}
      : (tensor<2x2x8x16xf32>) -> tensor<2x2x1x8x16xf32>
  %4 = plan.call "aten.expand.default"(%3)
      {self = #base.operand<0>, size = [2 : i64, 2 : i64, 2 : i64, 8 : i64, 16 : i64]}
      : (tensor<2x2x1x8x16xf32>) -> tensor<2x2x2x8x16xf32>
  %5 = plan.call "aten.reshape.default"(%4) {self = #base.operand<0>, shape = [2 : i64, 4 : i64, 8 : i64, 16 : i64]}
      : (tensor<2x2x2x8x16xf32>) -> tensor<2x4x8x16xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %2, %5)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// The same after run_decompositions, and repeat_interleave.
// CHECK-LABEL: func.func @decomposed
// CHECK: "meshplan.attention"(%arg0, %arg1, %arg2)
// CHECK-NEXT: return
func.func @decomposed(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x2x8x16xf32>,
    %v: tensor<2x2x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.unsqueeze.default"(%k) {self = #base.operand<0>, dim = 2 : i64}
      : (tensor<2x2x8x16xf32>) -> tensor<2x2x1x8x16xf32>
  %1 = plan.call "aten.expand.default"(%0)
      {self = #base.operand<0>, size = [2 : i64, 2 : i64, 2 : i64, 8 : i64, 16 : i64]}
      : (tensor<2x2x1x8x16xf32>) -> tensor<2x2x2x8x16xf32>
  %2 = plan.call "aten.clone.default"(%1) {self = #base.operand<0>}
      : (tensor<2x2x2x8x16xf32>) -> tensor<2x2x2x8x16xf32>
  %3 = plan.call "aten._unsafe_view.default"(%2)
      {self = #base.operand<0>, size = [2 : i64, 4 : i64, 8 : i64, 16 : i64]}
      : (tensor<2x2x2x8x16xf32>) -> tensor<2x4x8x16xf32>
  %4 = plan.call "aten.repeat_interleave.self_int"(%v) {self = #base.operand<0>, repeats = 2 : i64, dim = 1 : i64}
      : (tensor<2x2x8x16xf32>) -> tensor<2x4x8x16xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %3, %4)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// Repeated while the heads came after the sequence: the source is transposed instead.
// CHECK-LABEL: func.func @heads_last
// CHECK-NEXT: %[[KEY:.*]] = plan.call "aten.transpose.int"(%arg1) {dim0 = 1 : i64, dim1 = 2 : i64, {{.*}}-> tensor<2x2x8x16xf32>
// CHECK-NEXT: %[[VALUE:.*]] = plan.call "aten.transpose.int"(%arg2)
// CHECK-NEXT: "meshplan.attention"(%arg0, %[[KEY]], %[[VALUE]])
func.func @heads_last(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x8x2x16xf32>,
    %v: tensor<2x8x2x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.unsqueeze.default"(%k) {self = #base.operand<0>, dim = 3 : i64}
      : (tensor<2x8x2x16xf32>) -> tensor<2x8x2x1x16xf32>
  %1 = plan.call "aten.expand.default"(%0)
      {self = #base.operand<0>, size = [2 : i64, 8 : i64, 2 : i64, 2 : i64, 16 : i64]}
      : (tensor<2x8x2x1x16xf32>) -> tensor<2x8x2x2x16xf32>
  %2 = plan.call "aten.reshape.default"(%1) {self = #base.operand<0>, shape = [2 : i64, 8 : i64, 4 : i64, 16 : i64]}
      : (tensor<2x8x2x2x16xf32>) -> tensor<2x8x4x16xf32>
  %3 = plan.call "aten.permute.default"(%2) {self = #base.operand<0>, dims = [0 : i64, 2 : i64, 1 : i64, 3 : i64]}
      : (tensor<2x8x4x16xf32>) -> tensor<2x4x8x16xf32>
  %4 = plan.call "aten.unsqueeze.default"(%v) {self = #base.operand<0>, dim = 3 : i64}
      : (tensor<2x8x2x16xf32>) -> tensor<2x8x2x1x16xf32>
  %5 = plan.call "aten.expand.default"(%4)
      {self = #base.operand<0>, size = [2 : i64, 8 : i64, 2 : i64, 2 : i64, 16 : i64]}
      : (tensor<2x8x2x1x16xf32>) -> tensor<2x8x2x2x16xf32>
  %6 = plan.call "aten.reshape.default"(%5) {self = #base.operand<0>, shape = [2 : i64, 8 : i64, 4 : i64, 16 : i64]}
      : (tensor<2x8x2x2x16xf32>) -> tensor<2x8x4x16xf32>
  %7 = plan.call "aten.permute.default"(%6) {self = #base.operand<0>, dims = [0 : i64, 2 : i64, 1 : i64, 3 : i64]}
      : (tensor<2x8x4x16xf32>) -> tensor<2x4x8x16xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %3, %7)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// One key head for all queries.
// CHECK-LABEL: func.func @one_group
// CHECK: "meshplan.attention"(%arg0, %arg1, %arg2)
func.func @one_group(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x1x8x16xf32>,
    %v: tensor<2x1x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.expand.default"(%k) {self = #base.operand<0>, size = [2 : i64, 4 : i64, 8 : i64, 16 : i64]}
      : (tensor<2x1x8x16xf32>) -> tensor<2x4x8x16xf32>
  %1 = plan.call "aten.expand.default"(%v) {self = #base.operand<0>, size = [2 : i64, 4 : i64, 8 : i64, 16 : i64]}
      : (tensor<2x1x8x16xf32>) -> tensor<2x4x8x16xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %0, %1)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// The operator groups heads itself, and the model repeats its two heads from one.
// CHECK-LABEL: func.func @grouped_by_the_op
// CHECK: "meshplan.attention"(%arg0, %arg1, %arg2)
// CHECK-SAME: (tensor<2x4x8x16xf32>, tensor<2x1x8x16xf32>, tensor<2x1x8x16xf32>)
func.func @grouped_by_the_op(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x1x8x16xf32>,
    %v: tensor<2x1x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.expand.default"(%k) {self = #base.operand<0>, size = [2 : i64, 2 : i64, 8 : i64, 16 : i64]}
      : (tensor<2x1x8x16xf32>) -> tensor<2x2x8x16xf32>
  %1 = plan.call "aten.expand.default"(%v) {self = #base.operand<0>, size = [2 : i64, 2 : i64, 8 : i64, 16 : i64]}
      : (tensor<2x1x8x16xf32>) -> tensor<2x2x8x16xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %0, %1)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, enable_gqa = true}
      : (tensor<2x4x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// Heads 0, 1, 0, 1 are not grouped: query head 1 reads key head 1, not 0.
// CHECK-LABEL: func.func @tiled
// CHECK: %[[KEY:.*]] = plan.call "aten.repeat.default"(%arg1)
// CHECK: %[[VALUE:.*]] = plan.call "aten.repeat.default"(%arg2)
// CHECK: "meshplan.attention"(%arg0, %[[KEY]], %[[VALUE]])
func.func @tiled(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x2x8x16xf32>,
    %v: tensor<2x2x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.repeat.default"(%k) {self = #base.operand<0>, repeats = [1 : i64, 2 : i64, 1 : i64, 1 : i64]}
      : (tensor<2x2x8x16xf32>) -> tensor<2x4x8x16xf32>
  %1 = plan.call "aten.repeat.default"(%v) {self = #base.operand<0>, repeats = [1 : i64, 2 : i64, 1 : i64, 1 : i64]}
      : (tensor<2x2x8x16xf32>) -> tensor<2x4x8x16xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %0, %1)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}

// Only keys are repeated: both stay, because keys and values need the same number of heads.
// CHECK-LABEL: func.func @values_not_repeated
// CHECK: %[[KEY:.*]] = plan.call "aten.repeat_interleave.self_int"
// CHECK: "meshplan.attention"(%arg0, %[[KEY]], %arg2)
func.func @values_not_repeated(
    %q: tensor<2x4x8x16xf32>,
    %k: tensor<2x2x8x16xf32>,
    %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %0 = plan.call "aten.repeat_interleave.self_int"(%k) {self = #base.operand<0>, repeats = 2 : i64, dim = 1 : i64}
      : (tensor<2x2x8x16xf32>) -> tensor<2x4x8x16xf32>
  %out = plan.call "aten.scaled_dot_product_attention.default"(%q, %0, %v)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %out : tensor<2x4x8x16xf32>
}
