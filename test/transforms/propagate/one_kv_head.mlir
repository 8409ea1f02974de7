// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-place-styles --plan-propagate-shardings

// One KV head. Rotary embedding takes it apart, but its weight is not fused.
plan.mesh [#plan.mesh_axis<"tp" = 2>]
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
// expected-error @below {{dim 3 of size 4 of 'k' lies within a KV head, and its shards over tp = 2 would cut it}}
// expected-note @below {{help: a KV head is not cut: use 'replicate' for 'k' and 'v'}}
plan.style "k" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "v" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<2x6x8xf32> {plan.kind = "input", plan.names = ["x"]},
    %wq: tensor<8x8xf32> {plan.kind = "parameter", plan.names = ["q.weight"]},
    %wk: tensor<4x8xf32> {plan.kind = "parameter", plan.names = ["k.weight"]},
    %wv: tensor<4x8xf32> {plan.kind = "parameter", plan.names = ["v.weight"]}) -> tensor<2x2x6x4xf32> {
  %q0 = plan.call "aten.linear.default"(%x, %wq) {input = #plan.operand<0>, weight = #plan.operand<1>} in "q"
      : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %q1 = plan.call "aten.view.default"(%q0) {self = #plan.operand<0>, size = array<i64: 2, 6, 2, 4>} in "attn"
      : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %q2 = plan.call "aten.transpose.int"(%q1) {self = #plan.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} in "attn"
      : (tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
  %k0 = plan.call "aten.linear.default"(%x, %wk) {input = #plan.operand<0>, weight = #plan.operand<1>} in "k"
      : (tensor<2x6x8xf32>, tensor<4x8xf32>) -> tensor<2x6x4xf32>
  %k1 = plan.call "aten.unsqueeze.default"(%k0) {self = #plan.operand<0>, dim = 1 : i64} in "attn"
      : (tensor<2x6x4xf32>) -> tensor<2x1x6x4xf32>
  %k2:2 = plan.call "aten.split_with_sizes.default"(%k1)
      {self = #plan.operand<0>, split_sizes = array<i64: 2, 2>, dim = 3 : i64} in "attn"
      : (tensor<2x1x6x4xf32>) -> (tensor<2x1x6x2xf32>, tensor<2x1x6x2xf32>)
  %k3 = plan.call "aten.cat.default"(%k2#1, %k2#0) {tensors = [#plan.operand<0>, #plan.operand<1>], dim = 3 : i64}
      in "attn" : (tensor<2x1x6x2xf32>, tensor<2x1x6x2xf32>) -> tensor<2x1x6x4xf32>
  %v0 = plan.call "aten.linear.default"(%x, %wv) {input = #plan.operand<0>, weight = #plan.operand<1>} in "v"
      : (tensor<2x6x8xf32>, tensor<4x8xf32>) -> tensor<2x6x4xf32>
  %v1 = plan.call "aten.unsqueeze.default"(%v0) {self = #plan.operand<0>, dim = 1 : i64} in "attn"
      : (tensor<2x6x4xf32>) -> tensor<2x1x6x4xf32>
  %out:2 = plan.call "meshplan.attention"(%q2, %k3, %v1)
      {query = #plan.operand<0>, key = #plan.operand<1>, value = #plan.operand<2>, scale = 0.5 : f64} in "attn"
      : (tensor<2x2x6x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>) -> (tensor<2x2x6x4xf32>, tensor<2x2x6xf32>)
  return %out#0 : tensor<2x2x6x4xf32>
}

// -----

// Without it the shards of the head are gathered.
plan.mesh [#plan.mesh_axis<"tp" = 2>]
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
// expected-warning @below {{nothing in the plan asks for this reshard: 'meshplan.attention' in 'attn' needs [2, 1, 6, 4], and gets [2, 1, 6, 4 over tp]; 192 bytes on each rank}}
// expected-note @below {{help: a KV head is not cut: use 'replicate' for 'k' and 'v'}}
plan.style "k" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "v" replicate [] as "replicate"
func.func @forward(
    %x: tensor<2x6x8xf32> {plan.kind = "input", plan.names = ["x"]},
    %wq: tensor<8x8xf32> {plan.kind = "parameter", plan.names = ["q.weight"]},
    %wk: tensor<4x8xf32> {plan.kind = "parameter", plan.names = ["k.weight"]},
    %wv: tensor<4x8xf32> {plan.kind = "parameter", plan.names = ["v.weight"]}) -> tensor<2x2x6x4xf32> {
  %q0 = plan.call "aten.linear.default"(%x, %wq) {input = #plan.operand<0>, weight = #plan.operand<1>} in "q"
      : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %q1 = plan.call "aten.view.default"(%q0) {self = #plan.operand<0>, size = array<i64: 2, 6, 2, 4>} in "attn"
      : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %q2 = plan.call "aten.transpose.int"(%q1) {self = #plan.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} in "attn"
      : (tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
  %k0 = plan.call "aten.linear.default"(%x, %wk) {input = #plan.operand<0>, weight = #plan.operand<1>} in "k"
      : (tensor<2x6x8xf32>, tensor<4x8xf32>) -> tensor<2x6x4xf32>
  %k1 = plan.call "aten.unsqueeze.default"(%k0) {self = #plan.operand<0>, dim = 1 : i64} in "attn"
      : (tensor<2x6x4xf32>) -> tensor<2x1x6x4xf32>
  %v0 = plan.call "aten.linear.default"(%x, %wv) {input = #plan.operand<0>, weight = #plan.operand<1>} in "v"
      : (tensor<2x6x8xf32>, tensor<4x8xf32>) -> tensor<2x6x4xf32>
  %v1 = plan.call "aten.unsqueeze.default"(%v0) {self = #plan.operand<0>, dim = 1 : i64} in "attn"
      : (tensor<2x6x4xf32>) -> tensor<2x1x6x4xf32>
  %out:2 = plan.call "meshplan.attention"(%q2, %k1, %v1)
      {query = #plan.operand<0>, key = #plan.operand<1>, value = #plan.operand<2>, scale = 0.5 : f64} in "attn"
      : (tensor<2x2x6x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>) -> (tensor<2x2x6x4xf32>, tensor<2x2x6xf32>)
  return %out#0 : tensor<2x2x6x4xf32>
}

// -----

// The way out.
plan.mesh [#plan.mesh_axis<"tp" = 2>]
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "k" replicate [] as "replicate"
plan.style "v" replicate [] as "replicate"
func.func @forward(
    %x: tensor<2x6x8xf32> {plan.kind = "input", plan.names = ["x"]},
    %wq: tensor<8x8xf32> {plan.kind = "parameter", plan.names = ["q.weight"]},
    %wk: tensor<4x8xf32> {plan.kind = "parameter", plan.names = ["k.weight"]},
    %wv: tensor<4x8xf32> {plan.kind = "parameter", plan.names = ["v.weight"]}) -> tensor<2x2x6x4xf32> {
  %q0 = plan.call "aten.linear.default"(%x, %wq) {input = #plan.operand<0>, weight = #plan.operand<1>} in "q"
      : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %q1 = plan.call "aten.view.default"(%q0) {self = #plan.operand<0>, size = array<i64: 2, 6, 2, 4>} in "attn"
      : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %q2 = plan.call "aten.transpose.int"(%q1) {self = #plan.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} in "attn"
      : (tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
  %k0 = plan.call "aten.linear.default"(%x, %wk) {input = #plan.operand<0>, weight = #plan.operand<1>} in "k"
      : (tensor<2x6x8xf32>, tensor<4x8xf32>) -> tensor<2x6x4xf32>
  %k1 = plan.call "aten.unsqueeze.default"(%k0) {self = #plan.operand<0>, dim = 1 : i64} in "attn"
      : (tensor<2x6x4xf32>) -> tensor<2x1x6x4xf32>
  %k2:2 = plan.call "aten.split_with_sizes.default"(%k1)
      {self = #plan.operand<0>, split_sizes = array<i64: 2, 2>, dim = 3 : i64} in "attn"
      : (tensor<2x1x6x4xf32>) -> (tensor<2x1x6x2xf32>, tensor<2x1x6x2xf32>)
  %k3 = plan.call "aten.cat.default"(%k2#1, %k2#0) {tensors = [#plan.operand<0>, #plan.operand<1>], dim = 3 : i64}
      in "attn" : (tensor<2x1x6x2xf32>, tensor<2x1x6x2xf32>) -> tensor<2x1x6x4xf32>
  %v0 = plan.call "aten.linear.default"(%x, %wv) {input = #plan.operand<0>, weight = #plan.operand<1>} in "v"
      : (tensor<2x6x8xf32>, tensor<4x8xf32>) -> tensor<2x6x4xf32>
  %v1 = plan.call "aten.unsqueeze.default"(%v0) {self = #plan.operand<0>, dim = 1 : i64} in "attn"
      : (tensor<2x6x4xf32>) -> tensor<2x1x6x4xf32>
  %out:2 = plan.call "meshplan.attention"(%q2, %k3, %v1)
      {query = #plan.operand<0>, key = #plan.operand<1>, value = #plan.operand<2>, scale = 0.5 : f64} in "attn"
      : (tensor<2x2x6x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>) -> (tensor<2x2x6x4xf32>, tensor<2x2x6xf32>)
  return %out#0 : tensor<2x2x6x4xf32>
}
