// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-styles --plan-propagate-shardings 2>&1 | FileCheck %s

// Operands with the same layout and the same required layout cause one warning.
// CHECK: warning: nothing in the plan asks for this reshard: 'meshplan.attention' in 'attn' needs [4, 2, 8, 4], and gets [4, 2, 8 over tp, 4]
// CHECK-NOT: warning:

plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @forward(
    %x: tensor<4x2x8x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {}, {"tp"}, {}]>},
    %q: tensor<4x2x8x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["q"]}) -> tensor<4x2x8x4xf32> {
  %0:2 = plan.call "meshplan.attention"(%q, %x, %x)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64} in "attn"
      : (tensor<4x2x8x4xf32>, tensor<4x2x8x4xf32>, tensor<4x2x8x4xf32>) -> (tensor<4x2x8x4xf32>, tensor<4x2x8xf32>)
  return %0#0 : tensor<4x2x8x4xf32>
}

// -----

// A step repeats the calls of the forward program: with microbatches it is the same reshard. A help text never asks for
// a layout that a plan cannot state.
// CHECK: warning: nothing in the plan asks for this reshard: 'aten.cumprod.default' in 'head' needs [8 over dp, 6], and gets [8 over dp, 6 over tp]
// CHECK: help: {{.*}} or ask for it with 'body: output [_ over dp, _]'
// CHECK-NOT: warning:
// CHECK-NOT: over (dp, microbatch), _
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>, #base.mesh_axis<"microbatch" = 2>]
func.func @forward(%x: tensor<8x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}, {"tp"}]>}) -> tensor<8x6xf32> {
  %0 = plan.call "aten.sin.default"(%x) {self = #base.operand<0>} in "body" : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %1 = plan.call "aten.cumprod.default"(%0) {self = #base.operand<0>, dim = 1} in "head" : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}
func.func @step(%x: tensor<8x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp", "microbatch"}, {"tp"}]>}) -> tensor<8x6xf32> attributes {plan.role = #base.role<step>} {
  %0 = plan.call "aten.sin.default"(%x) {self = #base.operand<0>} in "body" : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %1 = plan.call "aten.cumprod.default"(%0) {self = #base.operand<0>, dim = 1} in "head" : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}

// -----

// The step alone: the suggested layout holds in each microbatch.
// CHECK: warning: nothing in the plan asks for this reshard: 'aten.cumprod.default' in 'head' needs [8 over (dp, microbatch), 6]
// CHECK: help: {{.*}} or ask for it with 'body: output [_ over dp, _]'
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>, #base.mesh_axis<"microbatch" = 2>]
func.func @step(%x: tensor<8x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp", "microbatch"}, {"tp"}]>}) -> tensor<8x6xf32> attributes {plan.role = #base.role<step>} {
  %0 = plan.call "aten.sin.default"(%x) {self = #base.operand<0>} in "body" : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %1 = plan.call "aten.cumprod.default"(%0) {self = #base.operand<0>, dim = 1} in "head" : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}

// -----

// Positions of tokens among those that chose the same expert. Samples stay divided.
// CHECK: warning: nothing in the plan asks for this reshard: 'aten.cumsum.default' in 'moe' needs [8, 4], and gets [8 over dp, 4]
// CHECK: help: the model gives tokens their positions among those that chose the same expert, counted over all samples: count them over the positions of each sample, in dims [batch, positions, experts], or let a plan drop tokens with 'capacity'
// CHECK-NOT: help:
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @forward(%x: tensor<8xi64> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}]>}) -> tensor<8x4xi32> {
  %0 = plan.call "aten.one_hot.default"(%x) {self = #base.operand<0>, num_classes = 4 : i64} in "moe" : (tensor<8xi64>) -> tensor<8x4xi64>
  %1 = plan.call "aten.to.dtype"(%0) {self = #base.operand<0>, dtype = i32} in "moe" : (tensor<8x4xi64>) -> tensor<8x4xi32>
  %2 = plan.call "aten.cumsum.default"(%1) {self = #base.operand<0>, dim = 0} in "moe" : (tensor<8x4xi32>) -> tensor<8x4xi32>
  return %2 : tensor<8x4xi32>
}
