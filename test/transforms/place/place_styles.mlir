// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-styles | FileCheck %s

plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
plan.style "mlp.up" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "mlp.down" rowwise [#plan.axis<"tp">] as "rowwise tp"

// Weights of linear are [out, in]: colwise shards dim 0, rowwise dim 1. The bias of a rowwise module is replicated.
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
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}, {}]>},
    %w1: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up.weight"]},
    %b1: tensor<16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up.bias"]},
    %w2: tensor<8x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down.weight"]},
    %b2: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down.bias"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w1, %b1)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "mlp.up"
      : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %1 = plan.call "aten.silu.default"(%0) {self = #base.operand<0>} in "mlp" : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %2 = plan.call "aten.linear.default"(%1, %w2, %b2)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "mlp.down"
      : (tensor<4x16xf32>, tensor<8x16xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "norm" sequence [#plan.axis<"tp">] as "sequence tp"
plan.style "proj" colwise [#plan.axis<"tp">] as "colwise tp"

// A Conv1D weight is [in, out] and used by addmm: colwise shards dim 1. sequence constrains both borders of its module.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: tensor<8xf32, #plan.sharding<[{}]>>
// CHECK-SAME: tensor<8x16xf32, #plan.sharding<[{}, {"tp"}]>>
// CHECK: plan.constrain %{{.*}} <[{}, {"tp"}, {}]> along [#plan.axis<"tp">] as "sequence tp"
// CHECK: plan.call "aten.mul.Tensor"
// CHECK: plan.constrain %{{.*}} <[{}, {"tp"}, {}]> along [#plan.axis<"tp">] as "sequence tp"
func.func @forward(
    %x: tensor<2x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %g: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["norm.weight"]},
    %w: tensor<8x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["proj.weight"]},
    %b: tensor<16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["proj.bias"]}) -> tensor<12x16xf32> {
  %0 = plan.call "aten.mul.Tensor"(%x, %g) {self = #base.operand<0>, other = #base.operand<1>} in "norm"
      : (tensor<2x6x8xf32>, tensor<8xf32>) -> tensor<2x6x8xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = array<i64: 12, 8>} in "proj"
      : (tensor<2x6x8xf32>) -> tensor<12x8xf32>
  %2 = plan.call "aten.addmm.default"(%b, %1, %w)
      {self = #base.operand<0>, mat1 = #base.operand<1>, mat2 = #base.operand<2>} in "proj"
      : (tensor<16xf32>, tensor<12x8xf32>, tensor<8x16xf32>) -> tensor<12x16xf32>
  return %2 : tensor<12x16xf32>
}

// -----

// An argument that is returned unchanged.
plan.mesh [#base.mesh_axis<"dp" = 2>]
// CHECK-LABEL: func.func @returned_argument(%arg0: tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>>
// CHECK-SAME: -> tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>>
func.func @returned_argument(%x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}, {}]>})
    -> tensor<4x8xf32> {
  return %x : tensor<4x8xf32>
}

// -----

// A module may lend its weight to the operators of another: 'proj' has none of its own.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "proj" colwise [#plan.axis<"tp">] as "colwise tp"

// CHECK-LABEL: func.func @lent
// CHECK-SAME: tensor<16x8xf32, #plan.sharding<[{"tp"}, {}]>>
// CHECK-SAME: tensor<16xf32, #plan.sharding<[{"tp"}]>>
func.func @lent(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["proj.weight"]},
    %b: tensor<16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["proj.bias"]}) -> tensor<4x16xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w, %b)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "block"
      : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

// sequence shards values that have that dim: not the positions, which are integers, nor values of size 1 there.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "norm" sequence [#plan.axis<"tp">] as "sequence tp"

// CHECK-LABEL: func.func @sequence
// CHECK-COUNT-2: plan.constrain %{{.*}} <[{}, {"tp"}, {}]>
// CHECK-NOT: plan.constrain
func.func @sequence(
    %x: tensor<2x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %scale: tensor<2x1x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["scale"]},
    %places: tensor<2x6x8xi64> {plan.kind = #plan.kind<input>, plan.names = ["places"]}) -> tensor<2x6x8xf32> {
  %0 = plan.call "aten.mul.Tensor"(%x, %scale) {self = #base.operand<0>, other = #base.operand<1>} in "norm"
      : (tensor<2x6x8xf32>, tensor<2x1x8xf32>) -> tensor<2x6x8xf32>
  %1 = plan.call "aten.mul.Tensor"(%0, %places) {self = #base.operand<0>, other = #base.operand<1>} in "norm"
      : (tensor<2x6x8xf32>, tensor<2x6x8xi64>) -> tensor<2x6x8xf32>
  return %1 : tensor<2x6x8xf32>
}

// -----

// A bias that is a constant of the program is not an activation, so its dim is one of output features.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"

// CHECK-LABEL: func.func @constant_bias
// CHECK-SAME: tensor<16x8xf32, #plan.sharding<[{"tp"}, {}]>>
// CHECK-COUNT-1: plan.constrain
// CHECK-NOT: plan.constrain
func.func @constant_bias(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]}) -> tensor<4x16xf32> {
  %b = plan.constant "b" dense<1.0> : tensor<16xf32> : tensor<16xf32>
  %0 = plan.call "aten.linear.default"(%x, %w, %b)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "up"
      : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

// A single feature stays whole beside others: of an adapter of rank 1 only its output features are sharded.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "adapter" colwise [#plan.axis<"tp">] as "colwise tp"

// CHECK-LABEL: func.func @single_feature
// CHECK-SAME: tensor<1x8xf32, #plan.sharding<[{}, {}]>>
// CHECK-SAME: tensor<16x1xf32, #plan.sharding<[{"tp"}, {}]>>
func.func @single_feature(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %a: tensor<1x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["adapter.a"]},
    %b: tensor<16x1xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["adapter.b"]}) -> tensor<4x16xf32> {
  %0 = plan.call "aten.linear.default"(%x, %a) {input = #base.operand<0>, weight = #base.operand<1>} in "adapter"
      : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x1xf32>
  %1 = plan.call "aten.linear.default"(%0, %b) {input = #base.operand<0>, weight = #base.operand<1>} in "adapter"
      : (tensor<4x1xf32>, tensor<16x1xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// -----

// One part is the whole dim.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp parts (heads 6)" {parts = array<i64: 6>}

// CHECK-LABEL: func.func @one_part
// CHECK-SAME: tensor<24x8xf32, #plan.sharding<[{"tp"}, {}]>>
func.func @one_part(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<24x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]}) -> tensor<4x24xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<4x8xf32>, tensor<24x8xf32>) -> tensor<4x24xf32>
  return %0 : tensor<4x24xf32>
}

// -----

// The parts of a parameter with a layout of its own.
plan.mesh [#base.mesh_axis<"tp" = 2>]

// CHECK-LABEL: func.func @stated_parts
// CHECK-SAME: tensor<12x8xf32, #plan.sharding<[{"tp", parts [8, 4]}, {}]>>
func.func @stated_parts(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<12x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"], plan.style = "weight: split 0 over tp",
                          plan.parts = array<i64: 2, 1>, plan.sharding = #plan.sharding<[{"tp"}, {}]>})
    -> tensor<4x12xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<4x8xf32>, tensor<12x8xf32>) -> tensor<4x12xf32>
  return %0 : tensor<4x12xf32>
}

// -----

// Where several dims are split, the parts are those of the last one.
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]

// CHECK-LABEL: func.func @stated_parts_of_the_last_dim
// CHECK-SAME: tensor<4x12x8xf32, #plan.sharding<[{"dp"}, {"tp", parts [8, 4]}, {}]>>
func.func @stated_parts_of_the_last_dim(
    %x: tensor<4x5x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<4x12x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"], plan.style = "weight: [_ over dp, _ over tp, _]",
                            plan.parts = array<i64: 2, 1>, plan.sharding = #plan.sharding<[{"dp"}, {"tp"}, {}]>})
    -> tensor<4x5x12xf32> {
  %0 = plan.call "aten.transpose.int"(%w) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} in "up" : (tensor<4x12x8xf32>) -> tensor<4x8x12xf32>
  %1 = plan.call "aten.bmm.default"(%x, %0) {self = #base.operand<0>, mat2 = #base.operand<1>} in "up"
      : (tensor<4x5x8xf32>, tensor<4x8x12xf32>) -> tensor<4x5x12xf32>
  return %1 : tensor<4x5x12xf32>
}

// -----

// An axis of size 1 shards nothing, in a style, an input or a parameter's own layout.
plan.mesh [#base.mesh_axis<"dp" = 1>, #base.mesh_axis<"tp" = 2>]
plan.style "up" colwise [#plan.axis<"dp">, #plan.axis<"tp">] as "colwise dp, tp"

// CHECK-LABEL: func.func @axis_of_one
// CHECK-SAME: tensor<4x8xf32, #plan.sharding<[{}, {}]>>
// CHECK-SAME: tensor<16x8xf32, #plan.sharding<[{"tp"}, {}]>>
func.func @axis_of_one(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}, {}]>},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"], plan.style = "weight: split 0 over dp, tp",
                          plan.sharding = #plan.sharding<[{"dp", "tp"}, {}]>}) -> tensor<4x16xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

// A module includes all modules below it; only values that cross its border are constrained.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "norm" sequence [#plan.axis<"tp">] as "sequence tp"

// CHECK-LABEL: func.func @inner_modules
// CHECK: %[[X:.*]] = plan.constrain %arg0
// CHECK: %[[A:.*]] = plan.call "aten.neg.default"(%[[X]])
// CHECK: %[[B:.*]] = plan.call "aten.exp.default"(%[[A]])
// CHECK: %[[C:.*]] = plan.call "aten.abs.default"(%[[B]])
// CHECK: %[[Y:.*]] = plan.constrain %[[C]]
// CHECK: plan.call "aten.relu.default"(%[[Y]])
// CHECK-NOT: plan.constrain
func.func @inner_modules(%x: tensor<2x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<2x6x8xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "norm.a.b" : (tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  %1 = plan.call "aten.exp.default"(%0) {self = #base.operand<0>} in "norm.c" : (tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  %2 = plan.call "aten.abs.default"(%1) {self = #base.operand<0>} in "norm" : (tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  %3 = plan.call "aten.relu.default"(%2) {self = #base.operand<0>} in "normal" : (tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  return %3 : tensor<2x6x8xf32>
}

// -----

// The root owns operators that are in no module, whatever their weights are called.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "" colwise [#plan.axis<"tp">] as "colwise tp"

// CHECK-LABEL: func.func @operators_of_the_root
// CHECK-SAME: tensor<16x8xf32, #plan.sharding<[{"tp"}, {}]>>
func.func @operators_of_the_root(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["table.weight"]}) -> tensor<4x16xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

// Without such operators the root owns the parameters whose names have no module.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "" colwise [#plan.axis<"tp">] as "colwise tp"

// CHECK-LABEL: func.func @parameters_of_the_root
// CHECK-SAME: tensor<16x8xf32, #plan.sharding<[{"tp"}, {}]>>
// CHECK-SAME: tensor<8x16xf32, #plan.sharding<[{}, {}]>>
func.func @parameters_of_the_root(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["weight"]},
    %v: tensor<8x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["block.weight"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "block"
      : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %1 = plan.call "aten.linear.default"(%0, %v) {input = #base.operand<0>, weight = #base.operand<1>} in "block"
      : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// One feature or token per rank is enough.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "norm" sequence [#plan.axis<"tp">] as "sequence tp"

// CHECK-LABEL: func.func @one_for_each_rank
// CHECK-SAME: tensor<2x8xf32, #plan.sharding<[{"tp"}, {}]>>
// CHECK: plan.constrain %{{.*}} <[{}, {"tp"}, {}]> along [#plan.axis<"tp">] as "sequence tp"
func.func @one_for_each_rank(
    %x: tensor<3x2x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<2x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]}) -> tensor<3x2x2xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<3x2x8xf32>, tensor<2x8xf32>) -> tensor<3x2x2xf32>
  %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} in "norm" : (tensor<3x2x2xf32>) -> tensor<3x2x2xf32>
  return %1 : tensor<3x2x2xf32>
}

// -----

// Weights and constants are not inputs, even if they are as long as the sequence; a result that is also read inside is
// constrained for outside readers; a result without readers does not count as a sequence.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "norm" sequence [#plan.axis<"tp">] as "sequence tp"

// CHECK-LABEL: func.func @what_crosses_the_border
// CHECK: %[[C:.*]] = plan.constant "c"
// CHECK: %[[X:.*]] = plan.constrain %arg0
// CHECK: %[[A:.*]] = plan.call "aten.mul.Tensor"(%[[X]], %arg1)
// CHECK: %[[A_OUT:.*]] = plan.constrain %[[A]] <[{}, {"tp"}, {}]>
// CHECK: %[[B:.*]] = plan.call "aten.add.Tensor"(%[[A]], %[[C]])
// CHECK: %[[B_OUT:.*]] = plan.constrain %[[B]] <[{}, {"tp"}, {}]>
// CHECK: plan.call "aten.sum.dim_IntList"(%[[B]])
// CHECK: return %[[A_OUT]], %[[B_OUT]]
func.func @what_crosses_the_border(
    %x: tensor<1x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<1x6x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["norm.weight"]})
    -> (tensor<1x6x8xf32>, tensor<1x6x8xf32>) {
  %c = plan.constant "c" dense<1.0> : tensor<1x6x8xf32> : tensor<1x6x8xf32>
  %0 = plan.call "aten.mul.Tensor"(%x, %w) {self = #base.operand<0>, other = #base.operand<1>} in "norm"
      : (tensor<1x6x8xf32>, tensor<1x6x8xf32>) -> tensor<1x6x8xf32>
  %1 = plan.call "aten.add.Tensor"(%0, %c) {self = #base.operand<0>, other = #base.operand<1>} in "norm"
      : (tensor<1x6x8xf32>, tensor<1x6x8xf32>) -> tensor<1x6x8xf32>
  %2 = plan.call "aten.sum.dim_IntList"(%1) {self = #base.operand<0>, dim = [1], keepdim = true} in "norm"
      : (tensor<1x6x8xf32>) -> tensor<1x1x8xf32>
  return %0, %1 : tensor<1x6x8xf32>, tensor<1x6x8xf32>
}

// -----

// Two statements that replicate a value along different axes are two constraints.
plan.mesh [#base.mesh_axis<"cp" = 1>, #base.mesh_axis<"tp" = 2>]
plan.style "norm" sequence [#plan.axis<"cp">] as "sequence cp"
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"

// CHECK-LABEL: func.func @along_other_axes
// CHECK: %[[A:.*]] = plan.constrain %{{.*}} <[{}, {}, {}]> along [#plan.axis<"cp">] as "sequence cp"
// CHECK: %[[N:.*]] = plan.call "aten.neg.default"(%[[A]])
// CHECK: %[[B:.*]] = plan.constrain %[[N]] <[{}, {}, {}]> along [#plan.axis<"cp">] as "sequence cp"
// CHECK: %[[C:.*]] = plan.constrain %[[B]] <[{}, {}, {}]> along [#plan.axis<"tp">] as "colwise tp"
// CHECK: plan.call "aten.linear.default"(%[[C]],
func.func @along_other_axes(
    %x: tensor<2x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]}) -> tensor<2x6x16xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "norm" : (tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  %1 = plan.call "aten.linear.default"(%0, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<2x6x8xf32>, tensor<16x8xf32>) -> tensor<2x6x16xf32>
  return %1 : tensor<2x6x16xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "a" colwise [#plan.axis<"tp">] as "colwise tp parts 3" {parts = array<i64: 1, 1, 1>}
plan.style "a.out" rowwise [#plan.axis<"tp">] as "rowwise tp"

// A weight that is split before it is used, and one of a submodule, which has a style of its own and no operators.
// CHECK-LABEL: func.func @attention
// CHECK-SAME: tensor<12x8xf32, #plan.sharding<[{"tp", parts [4, 4, 4]}, {}]>>
// CHECK-SAME: tensor<8x4xf32, #plan.sharding<[{}, {"tp"}]>>
// CHECK: plan.constrain %arg0 <[{}, {}]> along [#plan.axis<"tp">] as "colwise tp parts 3"
// CHECK: plan.constrain %arg1 <[{}, {}]> along [#plan.axis<"tp">] as "colwise tp parts 3"
// CHECK: plan.constrain %{{.*}} <[{}, {"tp"}]> along [#plan.axis<"tp">] as "rowwise tp"
func.func @attention(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %memory: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["memory"]},
    %w: tensor<12x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["a.in_weight"]},
    %o: tensor<8x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["a.out.weight"]}) -> (tensor<6x8xf32>, tensor<6x8xf32>) {
  %0:2 = plan.call "aten.split_with_sizes.default"(%w) {self = #base.operand<0>, split_sizes = array<i64: 4, 8>} in "a"
      : (tensor<12x8xf32>) -> (tensor<4x8xf32>, tensor<8x8xf32>)
  %1 = plan.call "aten.linear.default"(%x, %0#0) {input = #base.operand<0>, weight = #base.operand<1>} in "a"
      : (tensor<6x8xf32>, tensor<4x8xf32>) -> tensor<6x4xf32>
  %2 = plan.call "aten.linear.default"(%memory, %0#1) {input = #base.operand<0>, weight = #base.operand<1>} in "a"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %3 = plan.call "aten.linear.default"(%1, %o) {input = #base.operand<0>, weight = #base.operand<1>} in "a"
      : (tensor<6x4xf32>, tensor<8x4xf32>) -> tensor<6x8xf32>
  return %2, %3 : tensor<6x8xf32>, tensor<6x8xf32>
}

// -----

// A weight that is scaled, and one to which a product of others is added: 'up' leaves those weights to their own
// statements, and a factor with the output features in another dim of its product shards its own dim.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "a" rowwise [#plan.axis<"tp">] as "rowwise tp"
plan.style "b" replicate [] as "replicate"
plan.style "c" colwise [#plan.axis<"tp">] as "colwise tp"

// CHECK-LABEL: func.func @made_of_weights
// CHECK-SAME: tensor<16x8xf32, #plan.sharding<[{"tp"}, {}]>>
// CHECK-SAME: tensor<16x1xf32, #plan.sharding<[{"tp"}, {}]>>
// CHECK-SAME: tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>
// CHECK-SAME: tensor<16x4xf32, #plan.sharding<[{}, {}]>>
// CHECK-SAME: tensor<4x8xf32, #plan.sharding<[{"tp"}, {}]>>
func.func @made_of_weights(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]},
    %g: tensor<16x1xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.gain"]},
    %a: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["a.weight"]},
    %b: tensor<16x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["b.weight"]},
    %c: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["c.weight"]}) -> tensor<4x16xf32> {
  %0 = plan.call "aten.mul.Tensor"(%w, %g) {self = #base.operand<0>, other = #base.operand<1>} in "up"
      : (tensor<16x8xf32>, tensor<16x1xf32>) -> tensor<16x8xf32>
  %1 = plan.call "aten.add.Tensor"(%a, %c) {self = #base.operand<0>, other = #base.operand<1>} in "up"
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = plan.call "aten.mm.default"(%b, %1) {self = #base.operand<0>, mat2 = #base.operand<1>} in "up"
      : (tensor<16x4xf32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  %3 = plan.call "aten.add.Tensor"(%0, %2) {self = #base.operand<0>, other = #base.operand<1>} in "up"
      : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %4 = plan.call "aten.linear.default"(%x, %3) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return %4 : tensor<4x16xf32>
}

// -----

// A weight that is computed outside of the module that multiplies by it.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "proj" colwise [#plan.axis<"tp">] as "colwise tp"

// CHECK-LABEL: func.func @made_outside
// CHECK-SAME: tensor<16x8xf32, #plan.sharding<[{"tp"}, {}]>>
func.func @made_outside(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["weight"]}) -> tensor<4x16xf32> {
  %0 = plan.call "aten.tanh.default"(%w) {self = #base.operand<0>} : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %1 = plan.call "aten.linear.default"(%x, %0) {input = #base.operand<0>, weight = #base.operand<1>} in "proj"
      : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "tables" rowwise [#plan.axis<"tp">] as "rowwise tp"
plan.style "tables.1" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "tables.2" replicate [] as "replicate"

// A parameter with a style of its own ignores that of its module, here in lists of tables that another module reads.
// CHECK-LABEL: func.func @tables
// CHECK-SAME: tensor<12x8xf32, #plan.sharding<[{"tp"}, {}]>> {{{.*}}plan.style = "rowwise tp"}
// CHECK-SAME: tensor<12x8xf32, #plan.sharding<[{}, {"tp"}]>> {{{.*}}plan.style = "colwise tp"}
// CHECK-SAME: tensor<12x8xf32, #plan.sharding<[{}, {}]>> {{{.*}}plan.style = "replicate"}
func.func @tables(
    %i: tensor<4xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %a: tensor<12x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["tables.0"]},
    %b: tensor<12x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["tables.1"]},
    %c: tensor<12x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["tables.2"]}) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = plan.call "aten.embedding.default"(%a, %i) {weight = #base.operand<0>, indices = #base.operand<1>}
      : (tensor<12x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  %1 = plan.call "aten.embedding.default"(%b, %i) {weight = #base.operand<0>, indices = #base.operand<1>}
      : (tensor<12x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  %2 = plan.call "aten.embedding.default"(%c, %i) {weight = #base.operand<0>, indices = #base.operand<1>}
      : (tensor<12x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  return %0, %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "embed.weight" rowwise [#plan.axis<"tp">] as "rowwise tp"
plan.style "head.weight" colwise [#plan.axis<"tp">] as "colwise tp"

// The features of a tied weight are those of the module that owns the name: the vocabulary of the lookup, and the
// output features of the product.
// CHECK-LABEL: func.func @tied
// CHECK-SAME: tensor<12x8xf32, #plan.sharding<[{"tp"}, {}]>>
func.func @tied(
    %i: tensor<4xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %w: tensor<12x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["embed.weight", "head.weight"]}) -> tensor<4x12xf32> {
  %0 = plan.call "aten.embedding.default"(%w, %i) {weight = #base.operand<0>, indices = #base.operand<1>} in "embed"
      : (tensor<12x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  %1 = plan.call "aten.linear.default"(%0, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "head"
      : (tensor<4x8xf32>, tensor<12x8xf32>) -> tensor<4x12xf32>
  return %1 : tensor<4x12xf32>
}

// -----

// Groups of a convolution, and a weight that activations scale per sample. The input of the groups is sharded by groups
// or not at all; an activation that shares the contracted features is sharded like them.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "groups" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "turned" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "scaled" rowwise [#plan.axis<"tp">] as "rowwise tp"

// CHECK-LABEL: func.func @groups_and_samples
// CHECK-SAME: tensor<12x2x1xf32, #plan.sharding<[{"tp"}, {}, {}]>>
// CHECK-SAME: tensor<12xf32, #plan.sharding<[{"tp"}]>>
// CHECK-SAME: tensor<12x1x1xf32, #plan.sharding<[{"tp"}, {}, {}]>>
// CHECK-SAME: tensor<6x4xf32, #plan.sharding<[{}, {"tp"}]>>
// CHECK-NOT: plan.constrain
// CHECK: "aten.conv1d.default"
// CHECK-NOT: plan.constrain
// CHECK: "aten.conv_transpose1d.default"
// CHECK: %[[X:.*]] = plan.constrain %{{.*}} <[{}, {"tp"}]> along
// CHECK: "aten.einsum.default"(%{{.*}}, %[[X]])
func.func @groups_and_samples(
    %x: tensor<3x8x5xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<12x2x1xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["groups.weight"]},
    %b: tensor<12xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["groups.bias"]},
    %t: tensor<12x1x1xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["turned.weight"]},
    %s: tensor<6x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["scaled.weight"]}) -> tensor<3x6xf32> {
  %0 = plan.call "aten.conv1d.default"(%x, %w, %b) {input = #base.operand<0>, weight = #base.operand<1>,
      bias = #base.operand<2>, groups = 4 : i64} in "groups"
      : (tensor<3x8x5xf32>, tensor<12x2x1xf32>, tensor<12xf32>) -> tensor<3x12x5xf32>
  %1 = plan.call "aten.conv_transpose1d.default"(%0, %t) {input = #base.operand<0>, weight = #base.operand<1>,
      groups = 4 : i64} in "turned" : (tensor<3x12x5xf32>, tensor<12x1x1xf32>) -> tensor<3x4x5xf32>
  %2 = plan.call "aten.sum.dim_IntList"(%1) {self = #base.operand<0>, dim = [2]} : (tensor<3x4x5xf32>) -> tensor<3x4xf32>
  %3 = plan.call "aten.unsqueeze.default"(%2) {self = #base.operand<0>, dim = 1} : (tensor<3x4xf32>) -> tensor<3x1x4xf32>
  %4 = plan.call "aten.mul.Tensor"(%s, %3) {self = #base.operand<0>, other = #base.operand<1>} in "scaled"
      : (tensor<6x4xf32>, tensor<3x1x4xf32>) -> tensor<3x6x4xf32>
  %5 = plan.call "aten.einsum.default"(%4, %2) {equation = "boi,bi->bo", tensors = [#base.operand<0>, #base.operand<1>]}
      in "scaled" : (tensor<3x6x4xf32>, tensor<3x4xf32>) -> tensor<3x6xf32>
  return %5 : tensor<3x6xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "noisy" colwise [#plan.axis<"tp">] as "colwise tp"

// Random numbers are not activations: the tensor to which they are added is a weight.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: tensor<16x8xf32, #plan.sharding<[{"tp"}, {}]>>
// CHECK-SAME: tensor<16x8xf32, #plan.sharding<[{"tp"}, {}]>>
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["noisy.weight"]},
    %s: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["noisy.scale"]},
    %seed: tensor<f64> {plan.kind = #plan.kind<setting>, plan.names = ["seed"], plan.value = 0.0 : f64},
    %step: tensor<f64> {plan.kind = #plan.kind<setting>, plan.names = ["step"], plan.value = 0.0 : f64}) -> tensor<4x16xf32> {
  %0 = plan.call "meshplan.uniform"(%seed, %step)
      {dtype = f32, number = 0 : i64, seed = #base.operand<0>, size = [16, 8], step = #base.operand<1>} in "noisy"
      : (tensor<f64>, tensor<f64>) -> tensor<16x8xf32>
  %1 = plan.call "aten.mul.Tensor"(%s, %0) {self = #base.operand<0>, other = #base.operand<1>} in "noisy"
      : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %2 = plan.call "aten.add.Tensor"(%w, %1) {self = #base.operand<0>, other = #base.operand<1>} in "noisy"
      : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %3 = plan.call "aten.linear.default"(%x, %2) {input = #base.operand<0>, weight = #base.operand<1>} in "noisy"
      : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return %3 : tensor<4x16xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "mixed" rowwise [#plan.axis<"tp">] as "rowwise tp"

// The coefficients in a weighted sum of several weights are not features.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: tensor<4xf32, #plan.sharding<[{}]>>
// CHECK-SAME: tensor<4x16x8xf32, #plan.sharding<[{}, {}, {"tp"}]>>
func.func @forward(
    %x: tensor<2x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %c: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mixed.shares"]},
    %w: tensor<4x16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mixed.weight"]}) -> tensor<2x16xf32> {
  %0 = plan.call "aten.einsum.default"(%c, %w)
      {equation = "k,koi->oi", tensors = [#base.operand<0>, #base.operand<1>]} in "mixed"
      : (tensor<4xf32>, tensor<4x16x8xf32>) -> tensor<16x8xf32>
  %1 = plan.call "aten.linear.default"(%x, %0) {input = #base.operand<0>, weight = #base.operand<1>} in "mixed"
      : (tensor<2x8xf32>, tensor<16x8xf32>) -> tensor<2x16xf32>
  return %1 : tensor<2x16xf32>
}
