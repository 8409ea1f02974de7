// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-place-styles --plan-propagate-shardings

// Heads are counted as heads: 36 columns are enough for 12 ranks, the 9 heads of 4 are not.
plan.mesh [#plan.mesh_axis<"tp" = 12>]
// expected-error @below {{dim 1 of size 36 of 'q' is 9 groups of 4, fewer than tp = 12}}
// expected-note @below {{help: tp can be at most 9 (groups, not columns)}}
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = "input", plan.names = ["x"]},
    %w: tensor<36x8xf32> {plan.kind = "parameter", plan.names = ["q.weight"]}) -> tensor<6x9x4xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #plan.operand<0>, weight = #plan.operand<1>} in "q"
      : (tensor<6x8xf32>, tensor<36x8xf32>) -> tensor<6x36xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #plan.operand<0>, size = array<i64: 6, 9, 4>} in "attn"
      : (tensor<6x36xf32>) -> tensor<6x9x4xf32>
  return %1 : tensor<6x9x4xf32>
}

// -----

plan.mesh [#plan.mesh_axis<"tp" = 2>]
// expected-error @below {{operator 'custom.scan.default' in module 'mixer' has no record, and its operand 0 is [6, 4 over tp]}}
// expected-note @below {{help: gather the values before it with 'q: output [_, _]', or add a record (docs/adding-an-op.md)}}
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = "input", plan.names = ["x"]},
    %w: tensor<4x8xf32> {plan.kind = "parameter", plan.names = ["q.weight"]}) -> tensor<6x4xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #plan.operand<0>, weight = #plan.operand<1>} in "q"
      : (tensor<6x8xf32>, tensor<4x8xf32>) -> tensor<6x4xf32>
  %1 = plan.call "custom.scan.default"(%0) {self = #plan.operand<0>} in "mixer" : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// -----

// More ranks than heads: the axis would be cut within a head.
plan.mesh [#plan.mesh_axis<"tp" = 8>]
// expected-error @below {{dim 1 of size 16 of 'q' is 4 groups of 4, fewer than tp = 8}}
// expected-note @below {{help: tp can be at most 4 (groups, not columns)}}
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = "input", plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = "parameter", plan.names = ["q.weight"]}) -> tensor<6x4x4xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #plan.operand<0>, weight = #plan.operand<1>} in "q"
      : (tensor<6x8xf32>, tensor<16x8xf32>) -> tensor<6x16xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #plan.operand<0>, size = array<i64: 6, 4, 4>} in "attn"
      : (tensor<6x16xf32>) -> tensor<6x4x4xf32>
  return %1 : tensor<6x4x4xf32>
}

// -----

// Softmax needs its dim whole, and nothing in the plan says that the logits are to be gathered.
plan.mesh [#plan.mesh_axis<"tp" = 2>]
// expected-warning @below {{nothing in the plan asks for this reshard: 'aten.softmax.int' in 'head' needs [6, 4], and gets [6, 4 over tp]; 96 bytes on each rank}}
// expected-note @below {{help: give the modules that share these values styles that fit together}}
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = "input", plan.names = ["x"]},
    %w: tensor<4x8xf32> {plan.kind = "parameter", plan.names = ["q.weight"]}) -> tensor<6x4xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #plan.operand<0>, weight = #plan.operand<1>} in "q"
      : (tensor<6x8xf32>, tensor<4x8xf32>) -> tensor<6x4xf32>
  %1 = plan.call "aten.softmax.int"(%0) {self = #plan.operand<0>, dim = 1} in "head" : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// -----

// Groups that are summed before attention comes are not its heads.
plan.mesh [#plan.mesh_axis<"tp" = 8>]
// expected-error @below {{dim 1 of size 16 of 'up' is 4 groups of 4, fewer than tp = 8}}
// expected-note @below {{help: tp can be at most 4 (groups, not columns)}}
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<8x8xf32> {plan.kind = "input", plan.names = ["x"]},
    %up: tensor<16x8xf32> {plan.kind = "parameter", plan.names = ["up.weight"]},
    %mix: tensor<4x4xf32> {plan.kind = "buffer", plan.names = ["mix"]},
    %k: tensor<2x4x4x4xf32> {plan.kind = "input", plan.names = ["k"]}) -> tensor<2x4x4x4xf32> {
  %0 = plan.call "aten.linear.default"(%x, %up) {input = #plan.operand<0>, weight = #plan.operand<1>} in "up"
      : (tensor<8x8xf32>, tensor<16x8xf32>) -> tensor<8x16xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #plan.operand<0>, size = array<i64: 8, 4, 4>} in "up"
      : (tensor<8x16xf32>) -> tensor<8x4x4xf32>
  %2 = plan.call "aten.matmul.default"(%1, %mix) {self = #plan.operand<0>, other = #plan.operand<1>} in "mix"
      : (tensor<8x4x4xf32>, tensor<4x4xf32>) -> tensor<8x4x4xf32>
  %3 = plan.call "aten.view.default"(%2) {self = #plan.operand<0>, size = array<i64: 2, 4, 4, 4>} in "attn"
      : (tensor<8x4x4xf32>) -> tensor<2x4x4x4xf32>
  %4:2 = plan.call "meshplan.attention"(%3, %k, %k) {query = #plan.operand<0>, key = #plan.operand<1>, value = #plan.operand<2>, scale = 0.5 : f64}
      in "attn" : (tensor<2x4x4x4xf32>, tensor<2x4x4x4xf32>, tensor<2x4x4x4xf32>) -> (tensor<2x4x4x4xf32>, tensor<2x4x4xf32>)
  return %4#0 : tensor<2x4x4x4xf32>
}

// -----

// The same axis, but other elements on each rank: of the parts of the fused weight, and of the whole.
plan.mesh [#plan.mesh_axis<"tp" = 2>]
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp parts (8, 4)" {parts = array<i64: 8, 4>}
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = "input", plan.names = ["x"]},
    // expected-warning @below {{nothing in the plan asks for this reshard: 'aten.mul.Tensor' in 'gate' needs}}
    // expected-note @below {{help: give the modules that share these values styles that fit together}}
    %y: tensor<60x12xf32> {plan.kind = "input", plan.names = ["y"], plan.sharding = #plan.sharding<[{}, {"tp"}]>},
    %w: tensor<12x8xf32> {plan.kind = "parameter", plan.names = ["up.weight"]}) -> tensor<6x12xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #plan.operand<0>, weight = #plan.operand<1>} in "up"
      : (tensor<6x8xf32>, tensor<12x8xf32>) -> tensor<6x12xf32>
  %1 = plan.call "aten.sum.dim_IntList"(%y) {self = #plan.operand<0>, dim = [0], keepdim = true} in "gate"
      : (tensor<60x12xf32>) -> tensor<1x12xf32>
  %2 = plan.call "aten.mul.Tensor"(%1, %0) {self = #plan.operand<0>, other = #plan.operand<1>} in "gate"
      : (tensor<1x12xf32>, tensor<6x12xf32>) -> tensor<6x12xf32>
  return %2 : tensor<6x12xf32>
}
