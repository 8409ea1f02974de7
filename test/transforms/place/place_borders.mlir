// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-styles --plan-place-borders | FileCheck %s

// A value that is read outside of the module is constrained there, and not inside.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.border "mlp" is_input false index 0 #plan.sharding<[]> exact false along [#plan.axis<"tp">] as "output replicate"
// CHECK-LABEL: @output
// CHECK: %[[Y:.*]] = plan.call "aten.neg.default"
// CHECK: %[[INSIDE:.*]] = plan.call "aten.exp.default"(%[[Y]])
// CHECK: %[[STATED:.*]] = plan.constrain %[[INSIDE]] <[{}, {}]> along [#plan.axis<"tp">] as "output replicate"
// CHECK: plan.call "aten.abs.default"(%[[STATED]])
// CHECK-NOT: plan.border
func.func @output(%x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "mlp.up" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.exp.default"(%0) {self = #base.operand<0>} in "mlp.down" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = plan.call "aten.abs.default"(%1) {self = #base.operand<0>} in "mlp_norm" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// The new content of a buffer is not an output of a module: forward() does not return it.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.border "norm" is_input false index 0 #plan.sharding<[]> exact false along [#plan.axis<"tp">] as "output replicate"
// CHECK-LABEL: @update
// CHECK: %[[STATISTICS:.*]] = plan.call "aten.mean.dim"
// CHECK: %[[Y:.*]] = plan.call "aten.neg.default"
// CHECK: %[[STATED:.*]] = plan.constrain %[[Y]] <[{}, {}]> along [#plan.axis<"tp">] as "output replicate"
// CHECK: return %[[STATED]], %[[STATISTICS]]
func.func @update(%x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
                  %mean: tensor<8xf32> {plan.kind = #plan.kind<buffer>, plan.names = ["norm.running_mean"]})
    -> (tensor<4x8xf32> {plan.name = "0"}, tensor<8xf32> {plan.updates = #plan.argument<buffer "norm.running_mean">}) {
  %0 = plan.call "aten.mean.dim"(%x) {self = #base.operand<0>, dim = [0]} in "norm" : (tensor<4x8xf32>) -> tensor<8xf32>
  %1 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "norm" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %0 : tensor<4x8xf32>, tensor<8xf32>
}

// -----

// Inputs are numbered in the order in which the module reads them; every use inside is constrained.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.border "mlp" is_input true index 1 #plan.sharding<[{}, {"tp"}]> exact false along [#plan.axis<"tp">] as "input 1 split 1 over tp"
// CHECK-LABEL: @input
// CHECK-SAME: %[[X:arg0]]
// CHECK-SAME: %[[Y:arg1]]
// CHECK: %[[FIRST:.*]] = plan.constrain %[[X]] <[{}, {"tp"}]>
// CHECK: plan.call "aten.add.Tensor"(%[[Y]], %[[FIRST]])
// CHECK: %[[SECOND:.*]] = plan.constrain %[[X]] <[{}, {"tp"}]>
// CHECK: plan.call "aten.mul.Tensor"(%{{.*}}, %[[SECOND]])
// CHECK: plan.call "aten.neg.default"(%[[X]])
func.func @input(%x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
                 %y: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["y"]}) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = plan.call "aten.add.Tensor"(%y, %x) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.mul.Tensor"(%0, %x) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "head" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// If a style applies as well, the border is constrained last.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "norm" sequence [#plan.axis<"tp">] as "sequence tp"
plan.border "norm" is_input false index 0 #plan.sharding<[]> exact false along [#plan.axis<"tp">] as "output replicate"
// CHECK-LABEL: @behind_a_style
// CHECK: %[[Y:.*]] = plan.call "aten.neg.default"
// CHECK: %[[STYLE:.*]] = plan.constrain %[[Y]] <[{}, {"tp"}, {}]> along [#plan.axis<"tp">] as "sequence tp"
// CHECK: %[[BORDER:.*]] = plan.constrain %[[STYLE]] <[{}, {}, {}]> along [#plan.axis<"tp">] as "output replicate"
// CHECK: return %[[BORDER]]
func.func @behind_a_style(%x: tensor<4x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<4x6x8xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "norm" : (tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  return %0 : tensor<4x6x8xf32>
}

// -----

// Outputs of the root module are those of the function.
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
plan.border "" is_input false index 1 #plan.sharding<[{"dp"}, {"tp"}]> exact true along [#plan.axis<"dp">, #plan.axis<"tp">] as "output logits"
// CHECK-LABEL: @function
// CHECK: %[[Y:.*]] = plan.call "aten.neg.default"
// CHECK: %[[STATED:.*]] = plan.constrain %[[Y]] <[{"dp"}, {"tp"}]>
// CHECK: %[[Z:.*]] = plan.call "aten.exp.default"(%[[Y]])
// CHECK: return %[[Z]], %[[STATED]]
func.func @function(%x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.exp.default"(%0) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %0 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Weights and constants are not inputs of a module, wherever they appear among the operands.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.border "embed" is_input true index 0 #plan.sharding<[{"tp"}]> exact true along [#plan.axis<"tp">] as "input [rows over tp]"
// CHECK-LABEL: @inputs_behind_weights
// CHECK: %[[IDS:.*]] = plan.constrain %arg1 <[{"tp"}]>
// CHECK: plan.call "aten.embedding.default"(%arg0, %[[IDS]])
func.func @inputs_behind_weights(
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["embed.weight"]},
    %ids: tensor<4xi64> {plan.kind = #plan.kind<input>, plan.names = ["ids"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.embedding.default"(%w, %ids) {weight = #base.operand<0>, indices = #base.operand<1>} in "embed"
      : (tensor<16x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// An axis of size 1 shards nothing.
plan.mesh [#base.mesh_axis<"dp" = 1>, #base.mesh_axis<"tp" = 2>]
plan.border "" is_input false index 0 #plan.sharding<[{"dp"}, {"tp"}]> exact true along [#plan.axis<"dp">, #plan.axis<"tp">] as "output y"
// CHECK-LABEL: @axis_of_one
// CHECK: plan.constrain %{{.*}} <[{}, {"tp"}]>
func.func @axis_of_one(%x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Styles of inner modules create no inputs: both readers of x are constrained, and y is the next input. The border is
// before the inner module's constraint. A result of the module is not an input, even if a style inside constrains it.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "mlp.gate" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "mlp.up" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "mlp.down" rowwise [#plan.axis<"tp">] as "rowwise tp"
plan.border "mlp" is_input true index 0 #plan.sharding<[{"tp"}, {}]> exact false along [#plan.axis<"tp">] as "input 0"
plan.border "mlp" is_input true index 1 #plan.sharding<[{}, {"tp"}]> exact false along [#plan.axis<"tp">] as "input 1"
// CHECK-LABEL: @inputs_of_styled_modules
// CHECK: %[[GATE_INPUT:.*]] = plan.constrain %arg0 <[{"tp"}, {}]> along [#plan.axis<"tp">] as "input 0"
// CHECK: %[[GATE:.*]] = plan.constrain %[[GATE_INPUT]] <[{}, {}]> along [#plan.axis<"tp">] as "colwise tp"
// CHECK: plan.call "aten.linear.default"(%[[GATE]], %arg2)
// CHECK: %[[UP_INPUT:.*]] = plan.constrain %arg0 <[{"tp"}, {}]> along [#plan.axis<"tp">] as "input 0"
// CHECK: %[[UP:.*]] = plan.constrain %[[UP_INPUT]] <[{}, {}]> along [#plan.axis<"tp">] as "colwise tp"
// CHECK: plan.call "aten.linear.default"(%[[UP]], %arg3)
// CHECK: %[[HIDDEN:.*]] = plan.call "aten.mul.Tensor"
// CHECK: %[[DOWN:.*]] = plan.constrain %[[HIDDEN]] <[{}, {"tp"}]> along [#plan.axis<"tp">] as "rowwise tp"
// CHECK: plan.call "aten.linear.default"(%[[DOWN]], %arg4)
// CHECK: %[[Y:.*]] = plan.constrain %arg1 <[{}, {"tp"}]> along [#plan.axis<"tp">] as "input 1"
// CHECK: plan.call "aten.add.Tensor"(%{{.*}}, %[[Y]])
// CHECK-NOT: plan.constrain
func.func @inputs_of_styled_modules(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %y: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["y"]},
    %g: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.gate.weight"]},
    %u: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up.weight"]},
    %d: tensor<8x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down.weight"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.linear.default"(%x, %g) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.gate"
      : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %1 = plan.call "aten.linear.default"(%x, %u) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.up"
      : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %2 = plan.call "aten.mul.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %3 = plan.call "aten.linear.default"(%2, %d) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.down"
      : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  %4 = plan.call "aten.add.Tensor"(%3, %y) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// -----

// A value between two modules of a block is not an output of the block, however many constraints are in between.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "block.down" rowwise [#plan.axis<"tp">] as "rowwise tp"
plan.border "block.down" is_input true index 0 #plan.sharding<[{"tp"}]> exact false along [#plan.axis<"tp">] as "input split 0 over tp"
plan.border "block" is_input false index 0 #plan.sharding<[{"tp"}]> exact false along [#plan.axis<"tp">] as "output split 0 over tp"
// CHECK-LABEL: @output_behind_borders
// CHECK: %[[HIDDEN:.*]] = plan.call "aten.neg.default"
// CHECK: %[[INPUT:.*]] = plan.constrain %[[HIDDEN]] <[{"tp"}, {}]> along [#plan.axis<"tp">] as "input split 0 over tp"
// CHECK: %[[STYLE:.*]] = plan.constrain %[[INPUT]] <[{}, {"tp"}]> along [#plan.axis<"tp">] as "rowwise tp"
// CHECK: %[[Y:.*]] = plan.call "aten.linear.default"(%[[STYLE]], %arg1)
// CHECK: %[[OUTPUT:.*]] = plan.constrain %[[Y]] <[{"tp"}, {}]> along [#plan.axis<"tp">] as "output split 0 over tp"
// CHECK: return %[[OUTPUT]]
func.func @output_behind_borders(
    %x: tensor<4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %d: tensor<8x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["block.down.weight"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "block.act" : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %1 = plan.call "aten.linear.default"(%0, %d) {input = #base.operand<0>, weight = #base.operand<1>} in "block.down"
      : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// If a value crosses two borders at once, the outer one comes first on the way in and last on the way out, in any order
// of the statements.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.border "a" is_input true index 0 #plan.sharding<[{"tp"}, {}]> exact false along [#plan.axis<"tp">] as "outer input"
plan.border "a" is_input false index 0 #plan.sharding<[{"tp"}, {}]> exact false along [#plan.axis<"tp">] as "outer output"
plan.border "a.b" is_input false index 0 #plan.sharding<[{}, {"tp"}]> exact false along [#plan.axis<"tp">] as "inner output"
plan.border "a.b" is_input true index 0 #plan.sharding<[{}, {"tp"}]> exact false along [#plan.axis<"tp">] as "inner input"
// CHECK-LABEL: @nested
// CHECK: %[[OUTER:.*]] = plan.constrain %arg0 {{.*}} as "outer input"
// CHECK: %[[INNER:.*]] = plan.constrain %[[OUTER]] {{.*}} as "inner input"
// CHECK: %[[Y:.*]] = plan.call "aten.neg.default"(%[[INNER]])
// CHECK: %[[LEAVES:.*]] = plan.constrain %[[Y]] {{.*}} as "inner output"
// CHECK: %[[OUT:.*]] = plan.constrain %[[LEAVES]] {{.*}} as "outer output"
// CHECK: return %[[OUT]]
func.func @nested(%x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "a.b" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// A constant is not an input, at any position; a dim without a name may have any extent; a program for one rank has no
// layouts.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.border "shift" is_input true index 0 #plan.sharding<[{"tp"}, {}]> exact true along [#plan.axis<"tp">] as "input [rows over tp, _]" {names = ["rows", ""], extents = array<i64: 4, 0>}
// CHECK-LABEL: @constants_are_no_inputs
// CHECK: %[[C:.*]] = plan.constant "c"
// CHECK: %[[X:.*]] = plan.constrain %arg0 <[{"tp"}, {}]>
// CHECK: plan.call "aten.add.Tensor"(%[[C]], %[[X]])
func.func @constants_are_no_inputs(%x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<4x8xf32> {
  %c = plan.constant "c" dense<1.0> : tensor<4x8xf32> : tensor<4x8xf32>
  %0 = plan.call "aten.add.Tensor"(%c, %x) {self = #base.operand<0>, other = #base.operand<1>} in "shift"
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Columns that later become heads are sharded by heads: of three heads the first rank has two.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.border "q" is_input false index 0 #plan.sharding<[{}, {}, {"tp"}]> exact false along [#plan.axis<"tp">] as "output split 2 over tp"
// CHECK-LABEL: @heads
// CHECK: plan.constrain %{{.*}} <[{}, {}, {"tp", unit 4}]> along [#plan.axis<"tp">] as "output split 2 over tp"
func.func @heads(
    %x: tensor<1x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %k: tensor<1x3x6x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["k"]},
    %w: tensor<12x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"]}) -> tensor<1x3x6x4xf32> {
  %q = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "q"
      : (tensor<1x6x8xf32>, tensor<12x8xf32>) -> tensor<1x6x12xf32>
  %h = plan.call "aten.view.default"(%q) {self = #base.operand<0>, size = array<i64: 1, 6, 3, 4>} in "attn"
      : (tensor<1x6x12xf32>) -> tensor<1x6x3x4xf32>
  %t = plan.call "aten.transpose.int"(%h) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} in "attn"
      : (tensor<1x6x3x4xf32>) -> tensor<1x3x6x4xf32>
  %out:2 = plan.call "meshplan.attention"(%t, %k, %k)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64} in "attn"
      : (tensor<1x3x6x4xf32>, tensor<1x3x6x4xf32>, tensor<1x3x6x4xf32>) -> (tensor<1x3x6x4xf32>, tensor<1x3x6xf32>)
  return %out#0 : tensor<1x3x6x4xf32>
}

// -----

// Outputs are numbered as the function returns them, also a value that is returned twice: only output 1 is constrained.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.border "" is_input false index 1 #plan.sharding<[{}, {"tp"}]> exact true along [#plan.axis<"tp">] as "output b"
plan.border "" is_input false index 2 #plan.sharding<[{"tp"}, {}]> exact true along [#plan.axis<"tp">] as "output c"
// CHECK-LABEL: @returned_twice
// CHECK-NEXT: %[[N:.*]] = plan.call "aten.neg.default"(%arg0)
// CHECK-NEXT: %[[B:.*]] = plan.constrain %[[N]] <[{}, {"tp"}]> along [#plan.axis<"tp">] as "output b"
// CHECK-NEXT: %[[A:.*]] = plan.call "aten.abs.default"(%[[N]])
// CHECK-NEXT: %[[C:.*]] = plan.constrain %[[A]] <[{"tp"}, {}]> along [#plan.axis<"tp">] as "output c"
// CHECK-NEXT: return %[[N]], %[[B]], %[[C]]
func.func @returned_twice(%x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]})
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.abs.default"(%0) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A module that is called twice has its borders twice, also where one call reads the result of the other.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.border "block" is_input false index 0 #plan.sharding<[]> exact false along [#plan.axis<"tp">] as "output replicate"
// CHECK-LABEL: @twice
// CHECK: %[[FIRST:.*]] = plan.call "aten.neg.default"(%arg0)
// CHECK: %[[STATED:.*]] = plan.constrain %[[FIRST]] <[{}, {}]>
// CHECK: %[[SECOND:.*]] = plan.call "aten.neg.default"(%[[STATED]])
// CHECK: %[[AGAIN:.*]] = plan.constrain %[[SECOND]] <[{}, {}]>
// CHECK: return %[[AGAIN]]
func.func @twice(%x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "block.act" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} in "block.act" {plan.module_runs = [#plan.module_run<"block" = 1>, #plan.module_run<"block.act" = 1>]}
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// The constraint of another module on its input does not come first: the output is constrained for all readers.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "b" sequence [#plan.axis<"tp">] as "sequence tp"
plan.border "a" is_input false index 0 #plan.sharding<[{}, {}, {}]> exact true along [#plan.axis<"tp">] as "output [_, _, _]"

// CHECK-LABEL: func.func @output_read_by_styles
// CHECK: %[[A:.*]] = plan.call "aten.neg.default"(%arg0) {{.*}} in "a"
// CHECK-NEXT: %[[OUT:.*]] = plan.constrain %[[A]] <[{}, {}, {}]> along [#plan.axis<"tp">] as "output [_, _, _]"
// CHECK: plan.call "aten.sin.default"(%[[OUT]])
// CHECK: %[[B:.*]] = plan.constrain %[[OUT]] <[{}, {"tp"}, {}]> along [#plan.axis<"tp">] as "sequence tp"
// CHECK: plan.call "aten.cos.default"(%[[B]])
func.func @output_read_by_styles(%x: tensor<2x4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]})
    -> (tensor<2x4x8xf32>, tensor<2x4x8xf32>) {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "a" : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = plan.call "aten.sin.default"(%0) {self = #base.operand<0>} in "c" : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %2 = plan.call "aten.cos.default"(%0) {self = #base.operand<0>} in "b" : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %1, %2 : tensor<2x4x8xf32>, tensor<2x4x8xf32>
}

// -----

// An inner module's constraint on its output comes first; a module whose path only starts alike is a different one.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "m.1.last" sequence [#plan.axis<"tp">] as "sequence tp"
plan.style "m.10" sequence [#plan.axis<"tp">] as "sequence of another"
plan.border "m.1" is_input false index 0 #plan.sharding<[{}, {}, {}]> exact true along [#plan.axis<"tp">] as "output [_, _, _]"

// CHECK-LABEL: func.func @inner_statements_first
// CHECK: %[[LAST:.*]] = plan.call "aten.sin.default"({{.*}}) {{.*}} in "m.1.last"
// CHECK-NEXT: %[[INNER:.*]] = plan.constrain %[[LAST]] <[{}, {"tp"}, {}]> along [#plan.axis<"tp">] as "sequence tp"
// CHECK-NEXT: %[[OUT:.*]] = plan.constrain %[[INNER]] <[{}, {}, {}]> along [#plan.axis<"tp">] as "output [_, _, _]"
// CHECK: %[[NEXT:.*]] = plan.constrain %[[OUT]] <[{}, {"tp"}, {}]> along [#plan.axis<"tp">] as "sequence of another"
// CHECK: plan.call "aten.cos.default"(%[[NEXT]])
func.func @inner_statements_first(%x: tensor<2x4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<2x4x8xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "m.1.first" : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = plan.call "aten.sin.default"(%0) {self = #base.operand<0>} in "m.1.last" : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %2 = plan.call "aten.cos.default"(%1) {self = #base.operand<0>} in "m.10" : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %2 : tensor<2x4x8xf32>
}
