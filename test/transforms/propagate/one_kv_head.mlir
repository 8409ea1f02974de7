// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-place-styles --plan-propagate-shardings | FileCheck %s

// One KV head: each rank needs it whole, also where rotary embedding splits it.
// CHECK: func.func @forward
// CHECK-SAME: tensor<8x8xf32, #plan.sharding<[{"tp"}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"]
// CHECK-SAME: tensor<4x8xf32, #plan.sharding<[{}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["k.weight"]
// CHECK-SAME: tensor<4x8xf32, #plan.sharding<[{}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["v.weight"]
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
// expected-warning @below {{'k.weight' computes the only KV head of its attention: it is replicated over tp = 2}}
// expected-note @below {{help: use 'replicate' to silence this warning}}
plan.style "k" colwise [#plan.axis<"tp">] as "colwise tp"
// expected-warning @below {{'v.weight' computes the only KV head of its attention: it is replicated over tp = 2}}
// expected-note @below {{help: use 'replicate' to silence this warning}}
plan.style "v" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<2x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %wq: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"]},
    %wk: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["k.weight"]},
    %wv: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["v.weight"]}) -> tensor<2x2x6x4xf32> {
  %q0 = plan.call "aten.linear.default"(%x, %wq) {input = #base.operand<0>, weight = #base.operand<1>} in "q"
      : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %q1 = plan.call "aten.view.default"(%q0) {self = #base.operand<0>, size = array<i64: 2, 6, 2, 4>} in "attn"
      : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %q2 = plan.call "aten.transpose.int"(%q1) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} in "attn"
      : (tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
  %k0 = plan.call "aten.linear.default"(%x, %wk) {input = #base.operand<0>, weight = #base.operand<1>} in "k"
      : (tensor<2x6x8xf32>, tensor<4x8xf32>) -> tensor<2x6x4xf32>
  %k1 = plan.call "aten.unsqueeze.default"(%k0) {self = #base.operand<0>, dim = 1 : i64} in "attn"
      : (tensor<2x6x4xf32>) -> tensor<2x1x6x4xf32>
  %k2:2 = plan.call "aten.split_with_sizes.default"(%k1)
      {self = #base.operand<0>, split_sizes = array<i64: 2, 2>, dim = 3 : i64} in "attn"
      : (tensor<2x1x6x4xf32>) -> (tensor<2x1x6x2xf32>, tensor<2x1x6x2xf32>)
  %k3 = plan.call "aten.cat.default"(%k2#1, %k2#0) {tensors = [#base.operand<0>, #base.operand<1>], dim = 3 : i64}
      in "attn" : (tensor<2x1x6x2xf32>, tensor<2x1x6x2xf32>) -> tensor<2x1x6x4xf32>
  %v0 = plan.call "aten.linear.default"(%x, %wv) {input = #base.operand<0>, weight = #base.operand<1>} in "v"
      : (tensor<2x6x8xf32>, tensor<4x8xf32>) -> tensor<2x6x4xf32>
  %v1 = plan.call "aten.unsqueeze.default"(%v0) {self = #base.operand<0>, dim = 1 : i64} in "attn"
      : (tensor<2x6x4xf32>) -> tensor<2x1x6x4xf32>
  %out:2 = plan.call "meshplan.attention"(%q2, %k3, %v1)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64} in "attn"
      : (tensor<2x2x6x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>) -> (tensor<2x2x6x4xf32>, tensor<2x2x6xf32>)
  return %out#0 : tensor<2x2x6x4xf32>
}

// -----

// The same without a warning.
// CHECK: func.func @forward
// CHECK-SAME: tensor<8x8xf32, #plan.sharding<[{"tp"}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"]
// CHECK-SAME: tensor<4x8xf32, #plan.sharding<[{}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["k.weight"]
// CHECK-SAME: tensor<4x8xf32, #plan.sharding<[{}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["v.weight"]
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "k" replicate [] as "replicate"
plan.style "v" replicate [] as "replicate"
func.func @forward(
    %x: tensor<2x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %wq: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"]},
    %wk: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["k.weight"]},
    %wv: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["v.weight"]}) -> tensor<2x2x6x4xf32> {
  %q0 = plan.call "aten.linear.default"(%x, %wq) {input = #base.operand<0>, weight = #base.operand<1>} in "q"
      : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %q1 = plan.call "aten.view.default"(%q0) {self = #base.operand<0>, size = array<i64: 2, 6, 2, 4>} in "attn"
      : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %q2 = plan.call "aten.transpose.int"(%q1) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} in "attn"
      : (tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
  %k0 = plan.call "aten.linear.default"(%x, %wk) {input = #base.operand<0>, weight = #base.operand<1>} in "k"
      : (tensor<2x6x8xf32>, tensor<4x8xf32>) -> tensor<2x6x4xf32>
  %k1 = plan.call "aten.unsqueeze.default"(%k0) {self = #base.operand<0>, dim = 1 : i64} in "attn"
      : (tensor<2x6x4xf32>) -> tensor<2x1x6x4xf32>
  %k2:2 = plan.call "aten.split_with_sizes.default"(%k1)
      {self = #base.operand<0>, split_sizes = array<i64: 2, 2>, dim = 3 : i64} in "attn"
      : (tensor<2x1x6x4xf32>) -> (tensor<2x1x6x2xf32>, tensor<2x1x6x2xf32>)
  %k3 = plan.call "aten.cat.default"(%k2#1, %k2#0) {tensors = [#base.operand<0>, #base.operand<1>], dim = 3 : i64}
      in "attn" : (tensor<2x1x6x2xf32>, tensor<2x1x6x2xf32>) -> tensor<2x1x6x4xf32>
  %v0 = plan.call "aten.linear.default"(%x, %wv) {input = #base.operand<0>, weight = #base.operand<1>} in "v"
      : (tensor<2x6x8xf32>, tensor<4x8xf32>) -> tensor<2x6x4xf32>
  %v1 = plan.call "aten.unsqueeze.default"(%v0) {self = #base.operand<0>, dim = 1 : i64} in "attn"
      : (tensor<2x6x4xf32>) -> tensor<2x1x6x4xf32>
  %out:2 = plan.call "meshplan.attention"(%q2, %k3, %v1)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64} in "attn"
      : (tensor<2x2x6x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>) -> (tensor<2x2x6x4xf32>, tensor<2x2x6xf32>)
  return %out#0 : tensor<2x2x6x4xf32>
}

// -----

// A part of a fused weight that is the only key or value head is replicated, and nothing is gathered.
// CHECK: func.func @forward
// CHECK-SAME: tensor<16x8xf32, #plan.sharding<[{"tp", parts [8, 4 unit 4 repeat 2, 4 unit 4 repeat 2]}, {}]>>
// CHECK: plan.call "aten.split_with_sizes.default"{{.*}} -> (tensor<2x6x8xf32, #plan.sharding<[{}, {}, {"tp"}]>>, tensor<2x6x4xf32, #plan.sharding<[{}, {}, {}]>>, tensor<2x6x4xf32, #plan.sharding<[{}, {}, {}]>>)
// CHECK-NOT: plan.reshard
// CHECK: return
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "qkv" colwise [#plan.axis<"tp">] as "colwise tp" {parts = array<i64: 2, 1, 1>}
func.func @forward(
    %x: tensor<2x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["qkv.weight"]}) -> tensor<2x2x6x4xf32> {
  %qkv = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "qkv"
      : (tensor<2x6x8xf32>, tensor<16x8xf32>) -> tensor<2x6x16xf32>
  %0:3 = plan.call "aten.split_with_sizes.default"(%qkv)
      {self = #base.operand<0>, split_sizes = array<i64: 8, 4, 4>, dim = 2 : i64} in "attn"
      : (tensor<2x6x16xf32>) -> (tensor<2x6x8xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>)
  %q1 = plan.call "aten.view.default"(%0#0) {self = #base.operand<0>, size = array<i64: 2, 6, 2, 4>} in "attn"
      : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %q2 = plan.call "aten.transpose.int"(%q1) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} in "attn"
      : (tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
  %k1 = plan.call "aten.unsqueeze.default"(%0#1) {self = #base.operand<0>, dim = 1 : i64} in "attn"
      : (tensor<2x6x4xf32>) -> tensor<2x1x6x4xf32>
  %k2:2 = plan.call "aten.split_with_sizes.default"(%k1)
      {self = #base.operand<0>, split_sizes = array<i64: 2, 2>, dim = 3 : i64} in "attn"
      : (tensor<2x1x6x4xf32>) -> (tensor<2x1x6x2xf32>, tensor<2x1x6x2xf32>)
  %k3 = plan.call "aten.cat.default"(%k2#1, %k2#0) {tensors = [#base.operand<0>, #base.operand<1>], dim = 3 : i64}
      in "attn" : (tensor<2x1x6x2xf32>, tensor<2x1x6x2xf32>) -> tensor<2x1x6x4xf32>
  %v1 = plan.call "aten.unsqueeze.default"(%0#2) {self = #base.operand<0>, dim = 1 : i64} in "attn"
      : (tensor<2x6x4xf32>) -> tensor<2x1x6x4xf32>
  %out:2 = plan.call "meshplan.attention"(%q2, %k3, %v1)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64} in "attn"
      : (tensor<2x2x6x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>) -> (tensor<2x2x6x4xf32>, tensor<2x2x6xf32>)
  return %out#0 : tensor<2x2x6x4xf32>
}

// -----

// With key and value in one part, of which each rank gets half, no rank has a whole head.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'aten.split_with_sizes.default' in 'attn' reads dim 2 of 'qkv' as parts of 8, 4, 4, but it is split over tp as parts of 8, 8}}
// expected-note @below {{help: state the parts of the fused weight: 'parts (q 2, k 1, v 1)'}}
plan.style "qkv" colwise [#plan.axis<"tp">] as "colwise tp" {parts = array<i64: 1, 1>}
func.func @forward(
    %x: tensor<2x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["qkv.weight"]}) -> tensor<2x2x6x4xf32> {
  %qkv = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "qkv"
      : (tensor<2x6x8xf32>, tensor<16x8xf32>) -> tensor<2x6x16xf32>
  %0:3 = plan.call "aten.split_with_sizes.default"(%qkv)
      {self = #base.operand<0>, split_sizes = array<i64: 8, 4, 4>, dim = 2 : i64} in "attn"
      : (tensor<2x6x16xf32>) -> (tensor<2x6x8xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>)
  %q1 = plan.call "aten.view.default"(%0#0) {self = #base.operand<0>, size = array<i64: 2, 6, 2, 4>} in "attn"
      : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %q2 = plan.call "aten.transpose.int"(%q1) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} in "attn"
      : (tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
  %k1 = plan.call "aten.unsqueeze.default"(%0#1) {self = #base.operand<0>, dim = 1 : i64} in "attn"
      : (tensor<2x6x4xf32>) -> tensor<2x1x6x4xf32>
  %v1 = plan.call "aten.unsqueeze.default"(%0#2) {self = #base.operand<0>, dim = 1 : i64} in "attn"
      : (tensor<2x6x4xf32>) -> tensor<2x1x6x4xf32>
  %out:2 = plan.call "meshplan.attention"(%q2, %k1, %v1)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64} in "attn"
      : (tensor<2x2x6x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>) -> (tensor<2x2x6x4xf32>, tensor<2x2x6xf32>)
  return %out#0 : tensor<2x2x6x4xf32>
}
