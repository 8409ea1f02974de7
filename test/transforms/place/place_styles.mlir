// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-styles | FileCheck %s

plan.mesh [#plan.mesh_axis<"dp" = 2>, #plan.mesh_axis<"tp" = 2>]
plan.style "mlp.up" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "mlp.down" rowwise [#plan.axis<"tp">] as "rowwise tp"

// Weights of linear are [out, in]: colwise divides dim 0, rowwise dim 1. The bias of a rowwise module stays whole.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>>
// CHECK-SAME: tensor<16x8xf32, #plan.sharding<[{"tp"}, {}]>>
// CHECK-SAME: tensor<16xf32, #plan.sharding<[{"tp"}]>>
// CHECK-SAME: tensor<8x16xf32, #plan.sharding<[{}, {"tp"}]>>
// CHECK-SAME: tensor<8xf32, #plan.sharding<[{}]>>
// CHECK: %[[C:.*]] = plan.constrain %[[X]] <[{}, {}]> along [#plan.axis<"tp">] as "colwise tp"
// CHECK: %[[U:.*]] = plan.call "aten.linear.default"(%[[C]],
// CHECK: %[[D:.*]] = plan.constrain %{{.*}} <[{}, {"tp"}]> along [#plan.axis<"tp">] as "rowwise tp"
// CHECK: plan.call "aten.linear.default"(%[[D]],
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = "input", plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}, {}]>},
    %w1: tensor<16x8xf32> {plan.kind = "parameter", plan.names = ["mlp.up.weight"]},
    %b1: tensor<16xf32> {plan.kind = "parameter", plan.names = ["mlp.up.bias"]},
    %w2: tensor<8x16xf32> {plan.kind = "parameter", plan.names = ["mlp.down.weight"]},
    %b2: tensor<8xf32> {plan.kind = "parameter", plan.names = ["mlp.down.bias"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w1, %b1)
      {input = #plan.operand<0>, weight = #plan.operand<1>, bias = #plan.operand<2>} in "mlp.up"
      : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %1 = plan.call "aten.silu.default"(%0) {self = #plan.operand<0>} in "mlp" : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %2 = plan.call "aten.linear.default"(%1, %w2, %b2)
      {input = #plan.operand<0>, weight = #plan.operand<1>, bias = #plan.operand<2>} in "mlp.down"
      : (tensor<4x16xf32>, tensor<8x16xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

plan.mesh [#plan.mesh_axis<"tp" = 2>]
plan.style "norm" sequence [#plan.axis<"tp">] as "sequence tp"
plan.style "proj" colwise [#plan.axis<"tp">] as "colwise tp"

// A Conv1D weight is [in, out] and is used by addmm: colwise divides dim 1. sequence states both borders of its module.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: tensor<8xf32, #plan.sharding<[{}]>>
// CHECK-SAME: tensor<8x16xf32, #plan.sharding<[{}, {"tp"}]>>
// CHECK: plan.constrain %{{.*}} <[{}, {"tp"}, {}]> along [#plan.axis<"tp">] as "sequence tp"
// CHECK: plan.call "aten.mul.Tensor"
// CHECK: plan.constrain %{{.*}} <[{}, {"tp"}, {}]> along [#plan.axis<"tp">] as "sequence tp"
func.func @forward(
    %x: tensor<2x6x8xf32> {plan.kind = "input", plan.names = ["x"]},
    %g: tensor<8xf32> {plan.kind = "parameter", plan.names = ["norm.weight"]},
    %w: tensor<8x16xf32> {plan.kind = "parameter", plan.names = ["proj.weight"]},
    %b: tensor<16xf32> {plan.kind = "parameter", plan.names = ["proj.bias"]}) -> tensor<12x16xf32> {
  %0 = plan.call "aten.mul.Tensor"(%x, %g) {self = #plan.operand<0>, other = #plan.operand<1>} in "norm"
      : (tensor<2x6x8xf32>, tensor<8xf32>) -> tensor<2x6x8xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #plan.operand<0>, size = array<i64: 12, 8>} in "proj"
      : (tensor<2x6x8xf32>) -> tensor<12x8xf32>
  %2 = plan.call "aten.addmm.default"(%b, %1, %w)
      {self = #plan.operand<0>, mat1 = #plan.operand<1>, mat2 = #plan.operand<2>} in "proj"
      : (tensor<16xf32>, tensor<12x8xf32>, tensor<8x16xf32>) -> tensor<12x16xf32>
  return %2 : tensor<12x16xf32>
}

// -----

// An argument that is returned as it is.
plan.mesh [#plan.mesh_axis<"dp" = 2>]
// CHECK-LABEL: func.func @returned_argument(%arg0: tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>>
// CHECK-SAME: -> tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>>
func.func @returned_argument(%x: tensor<4x8xf32> {plan.kind = "input", plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}, {}]>})
    -> tensor<4x8xf32> {
  return %x : tensor<4x8xf32>
}

// -----

// A module may lend its weight to the operators of another: 'proj' has none of its own.
plan.mesh [#plan.mesh_axis<"tp" = 2>]
plan.style "proj" colwise [#plan.axis<"tp">] as "colwise tp"

// CHECK-LABEL: func.func @lent
// CHECK-SAME: tensor<16x8xf32, #plan.sharding<[{"tp"}, {}]>>
// CHECK-SAME: tensor<16xf32, #plan.sharding<[{"tp"}]>>
func.func @lent(
    %x: tensor<4x8xf32> {plan.kind = "input", plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = "parameter", plan.names = ["proj.weight"]},
    %b: tensor<16xf32> {plan.kind = "parameter", plan.names = ["proj.bias"]}) -> tensor<4x16xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w, %b)
      {input = #plan.operand<0>, weight = #plan.operand<1>, bias = #plan.operand<2>} in "block"
      : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

// A sequence divides what has it: not the positions, which are integers, nor what is one element long there.
plan.mesh [#plan.mesh_axis<"tp" = 2>]
plan.style "norm" sequence [#plan.axis<"tp">] as "sequence tp"

// CHECK-LABEL: func.func @sequence
// CHECK-COUNT-2: plan.constrain %{{.*}} <[{}, {"tp"}, {}]>
// CHECK-NOT: plan.constrain
func.func @sequence(
    %x: tensor<2x6x8xf32> {plan.kind = "input", plan.names = ["x"]},
    %scale: tensor<2x1x8xf32> {plan.kind = "input", plan.names = ["scale"]},
    %places: tensor<2x6x8xi64> {plan.kind = "input", plan.names = ["places"]}) -> tensor<2x6x8xf32> {
  %0 = plan.call "aten.mul.Tensor"(%x, %scale) {self = #plan.operand<0>, other = #plan.operand<1>} in "norm"
      : (tensor<2x6x8xf32>, tensor<2x1x8xf32>) -> tensor<2x6x8xf32>
  %1 = plan.call "aten.mul.Tensor"(%0, %places) {self = #plan.operand<0>, other = #plan.operand<1>} in "norm"
      : (tensor<2x6x8xf32>, tensor<2x6x8xi64>) -> tensor<2x6x8xf32>
  return %1 : tensor<2x6x8xf32>
}

// -----

// A bias that the program holds is no activation, so its dim is one of output features.
plan.mesh [#plan.mesh_axis<"tp" = 2>]
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"

// CHECK-LABEL: func.func @constant_bias
// CHECK-SAME: tensor<16x8xf32, #plan.sharding<[{"tp"}, {}]>>
// CHECK-COUNT-1: plan.constrain
// CHECK-NOT: plan.constrain
func.func @constant_bias(
    %x: tensor<4x8xf32> {plan.kind = "input", plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = "parameter", plan.names = ["up.weight"]}) -> tensor<4x16xf32> {
  %b = plan.constant "b" dense<1.0> : tensor<16xf32> : tensor<16xf32>
  %0 = plan.call "aten.linear.default"(%x, %w, %b)
      {input = #plan.operand<0>, weight = #plan.operand<1>, bias = #plan.operand<2>} in "up"
      : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

// A single feature stays whole beside others: of an adapter of rank 1 only the features that leave it are divided.
plan.mesh [#plan.mesh_axis<"tp" = 2>]
plan.style "adapter" colwise [#plan.axis<"tp">] as "colwise tp"

// CHECK-LABEL: func.func @single_feature
// CHECK-SAME: tensor<1x8xf32, #plan.sharding<[{}, {}]>>
// CHECK-SAME: tensor<16x1xf32, #plan.sharding<[{"tp"}, {}]>>
func.func @single_feature(
    %x: tensor<4x8xf32> {plan.kind = "input", plan.names = ["x"]},
    %a: tensor<1x8xf32> {plan.kind = "parameter", plan.names = ["adapter.a"]},
    %b: tensor<16x1xf32> {plan.kind = "parameter", plan.names = ["adapter.b"]}) -> tensor<4x16xf32> {
  %0 = plan.call "aten.linear.default"(%x, %a) {input = #plan.operand<0>, weight = #plan.operand<1>} in "adapter"
      : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x1xf32>
  %1 = plan.call "aten.linear.default"(%0, %b) {input = #plan.operand<0>, weight = #plan.operand<1>} in "adapter"
      : (tensor<4x1xf32>, tensor<16x1xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// -----

// One part is the whole dim.
plan.mesh [#plan.mesh_axis<"tp" = 2>]
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp parts (heads 6)" {parts = array<i64: 6>}

// CHECK-LABEL: func.func @one_part
// CHECK-SAME: tensor<24x8xf32, #plan.sharding<[{"tp"}, {}]>>
func.func @one_part(
    %x: tensor<4x8xf32> {plan.kind = "input", plan.names = ["x"]},
    %w: tensor<24x8xf32> {plan.kind = "parameter", plan.names = ["up.weight"]}) -> tensor<4x24xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #plan.operand<0>, weight = #plan.operand<1>} in "up"
      : (tensor<4x8xf32>, tensor<24x8xf32>) -> tensor<4x24xf32>
  return %0 : tensor<4x24xf32>
}
