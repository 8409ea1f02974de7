// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-place-styles

plan.mesh [#base.mesh_axis<"tp" = 17>]
// expected-error @below {{dim 0 of 'up.weight' has size 16, fewer than tp = 17}}
// expected-note @below {{help: tp can be at most 16}}
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]}) -> tensor<4x16xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'norm' cannot be colwise tp: none of its parameters has output features}}
// expected-note @below {{help: use 'replicate', or 'sequence' for a normalization}}
plan.style "norm" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["norm.weight"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.mul.Tensor"(%x, %w) {self = #base.operand<0>, other = #base.operand<1>} in "norm"
      : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'norm' cannot be sequence tp: no result of it has a dim 1}}
// expected-note @below {{help: 'sequence tp dim n' names another dim}}
plan.style "norm" sequence [#plan.axis<"tp">] as "sequence tp"
func.func @forward(%x: tensor<8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<8xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "norm" : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 6>]
// expected-error @below {{dim 1 of the output of 'norm' has size 5, fewer than tp = 6}}
// expected-note @below {{help: tp can be at most 5}}
plan.style "norm" sequence [#plan.axis<"tp">] as "sequence tp"
func.func @forward(%x: tensor<4x5x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<4x5x8xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "norm" : (tensor<4x5x8xf32>) -> tensor<4x5x8xf32>
  return %0 : tensor<4x5x8xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-note @below {{'rowwise tp' of 'embed' splits dim 0 over tp}}
plan.style "embed" rowwise [#plan.axis<"tp">] as "rowwise tp"
// expected-error @below {{parameter 'embed.weight' has two placements: 'rowwise tp' of 'head' splits dim 1 over tp}}
// expected-note @below {{help: modules that share a parameter need one placement}}
plan.style "head" rowwise [#plan.axis<"tp">] as "rowwise tp"
func.func @forward(
    %ids: tensor<4xi64> {plan.kind = #plan.kind<input>, plan.names = ["ids"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["embed.weight", "head.weight"]}) -> tensor<4x16xf32> {
  %0 = plan.call "aten.embedding.default"(%w, %ids) {weight = #base.operand<0>, indices = #base.operand<1>} in "embed"
      : (tensor<16x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  %1 = plan.call "aten.linear.default"(%0, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "head"
      : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{parameter 'up.weight' has two placements: 'weight: split 1 over tp' and 'colwise tp'}}
// expected-note @below {{help: 'parameter' is for parameters that no style of the module splits: remove one of the two}}
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    // expected-note @below {{the other statement is here}}
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"], plan.style = "weight: split 1 over tp",
                          plan.sharding = #plan.sharding<[{}, {"tp"}]>}) -> tensor<4x16xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

// A single output feature cannot be sharded either.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{dim 0 of 'score.weight' has size 1, fewer than tp = 2}}
// expected-note @below {{help: use 'replicate'}}
plan.style "score" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<1x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["score.weight"]}) -> tensor<6x1xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "score"
      : (tensor<6x8xf32>, tensor<1x8xf32>) -> tensor<6x1xf32>
  return %0 : tensor<6x1xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'grouped' cannot be rowwise tp: 'aten.conv2d.default' has 4 groups, and no style splits the input features of groups}}
// expected-note @below {{help: use 'colwise', which splits whole groups with their inputs and outputs, or 'replicate'}}
plan.style "grouped" rowwise [#plan.axis<"tp">] as "rowwise tp"
func.func @forward(
    %x: tensor<2x8x5x5xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<8x2x3x3xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["grouped.weight"]}) -> tensor<2x8x3x3xf32> {
  %0 = plan.call "aten.conv2d.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>, groups = 4 : i64}
      in "grouped" : (tensor<2x8x5x5xf32>, tensor<8x2x3x3xf32>) -> tensor<2x8x3x3xf32>
  return %0 : tensor<2x8x3x3xf32>
}

// -----

// An activation of the same shape is added to the parameter: that may be a weight, or a table of positions.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'up' cannot be rowwise tp: the dim of 'up.weight' that holds input features is not known after 'aten.add.Tensor'}}
// expected-note @below {{help: state the dim to split, as 'parameter { weight: split 0 over tp }'}}
plan.style "up" rowwise [#plan.axis<"tp">] as "rowwise tp"
func.func @forward(
    %x: tensor<3x4x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<4x6xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]}) -> tensor<3x4xf32> {
  %0 = plan.call "aten.add.Tensor"(%w, %x) {self = #base.operand<0>, other = #base.operand<1>} in "up"
      : (tensor<4x6xf32>, tensor<3x4x6xf32>) -> tensor<3x4x6xf32>
  %1 = plan.call "aten.sum.dim_IntList"(%0) {self = #base.operand<0>, dim = [2]} in "up" : (tensor<3x4x6xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// -----

// The style of the root is for its own operators, not for those of its submodules.
plan.mesh [#base.mesh_axis<"tp" = 17>]
// expected-error @below {{dim 0 of 'weight' has size 16, fewer than tp = 17}}
// expected-note @below {{help: tp can be at most 16}}
plan.style "" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(%x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
                   %u: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]},
                   %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["weight"]}) -> tensor<4x16xf32> {
  %0 = plan.call "aten.linear.default"(%x, %u) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.linear.default"(%0, %w) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// -----

// All wrong statements are reported in one run.
plan.mesh [#base.mesh_axis<"tp" = 17>]
// expected-error @below {{dim 0 of 'up.weight' has size 16, fewer than tp = 17}}
// expected-note @below {{help: tp can be at most 16}}
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
// expected-error @below {{dim 1 of 'down.weight' has size 16, fewer than tp = 17}}
// expected-note @below {{help: tp can be at most 16}}
plan.style "down" rowwise [#plan.axis<"tp">] as "rowwise tp"
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]},
    %v: tensor<8x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["down.weight"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %1 = plan.call "aten.linear.default"(%0, %v) {input = #base.operand<0>, weight = #base.operand<1>} in "down"
      : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// Parts that do not add up to the dim, of a weight that the model splits: the model's own parts are named,
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{dim 0 of 'qkv.weight' has size 40, which is not a multiple of 3, the sum of 'parts'}}
// expected-note @below {{help: state the parts of the fused weight: 'parts (q 3, k 1, v 1)'}}
plan.style "qkv" colwise [#plan.axis<"tp">] as "colwise tp parts 3" {parts = array<i64: 1, 1, 1>}
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<40x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["qkv.weight"]}) -> tensor<6x24xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "qkv"
      : (tensor<6x8xf32>, tensor<40x8xf32>) -> tensor<6x40xf32>
  %1:3 = plan.call "aten.split_with_sizes.default"(%0)
      {self = #base.operand<0>, split_sizes = array<i64: 24, 8, 8>, dim = 1 : i64} in "attn"
      : (tensor<6x40xf32>) -> (tensor<6x24xf32>, tensor<6x8xf32>, tensor<6x8xf32>)
  return %1#0 : tensor<6x24xf32>
}

// -----

// if it has any.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{dim 0 of 'qkv.weight' has size 40, which is not a multiple of 3, the sum of 'parts'}}
// expected-note @below {{help: choose sizes in 'parts' whose sum divides it}}
plan.style "qkv" colwise [#plan.axis<"tp">] as "colwise tp parts 3" {parts = array<i64: 1, 1, 1>}
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<40x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["qkv.weight"]}) -> tensor<6x40xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "qkv"
      : (tensor<6x8xf32>, tensor<40x8xf32>) -> tensor<6x40xf32>
  return %0 : tensor<6x40xf32>
}

// -----

// A part of one channel cannot be split over two ranks.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{a part of dim 0 of 'conv.weight' has size 1, fewer than tp = 2}}
// expected-note @below {{help: use 'replicate'}}
plan.style "conv" colwise [#plan.axis<"tp">] as "colwise tp parts 3" {parts = array<i64: 1, 1, 1>}
func.func @forward(
    %x: tensor<2x4x5x5xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<3x4x3x3xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["conv.weight"]}) -> tensor<2x3x3x3xf32> {
  %0 = plan.call "aten.conv2d.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "conv"
      : (tensor<2x4x5x5xf32>, tensor<3x4x3x3xf32>) -> tensor<2x3x3x3xf32>
  return %0 : tensor<2x3x3x3xf32>
}

// -----

// The parts of a layout in the plan do not sum to the dim, or are too small.
plan.mesh [#base.mesh_axis<"tp" = 4>]
func.func @forward(
    %x: tensor<2x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    // expected-error @below {{dim 0 of 'd.weight' has size 12, which is not a multiple of 5, the sum of 'parts'}}
    // expected-note @below {{help: choose sizes in 'parts' whose sum divides it}}
    %w: tensor<12x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["d.weight"], plan.style = "weight: split 0 over tp",
                          plan.parts = array<i64: 3, 2>, plan.sharding = #plan.sharding<[{"tp"}, {}]>},
    // expected-error @below {{a part of dim 0 of 'e.weight' has size 3, fewer than tp = 4}}
    // expected-note @below {{help: tp can be at most 3}}
    %v: tensor<12x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["e.weight"], plan.style = "weight: split 0 over tp",
                          plan.parts = array<i64: 3, 1>, plan.sharding = #plan.sharding<[{"tp"}, {}]>})
    -> tensor<2x12xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "d"
      : (tensor<2x4xf32>, tensor<12x4xf32>) -> tensor<2x12xf32>
  return %0 : tensor<2x12xf32>
}

// -----

// A layout that the plan states for a parameter itself.
plan.mesh [#base.mesh_axis<"tp" = 4>]
func.func @forward(
    %x: tensor<2x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    // expected-error @below {{dim 0 of 'd.weight' has size 3, fewer than tp = 4}}
    // expected-note @below {{help: tp can be at most 3}}
    %w: tensor<3x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["d.weight"], plan.style = "weight: split 0 over tp",
                         plan.sharding = #plan.sharding<[{"tp"}, {}]>}) -> tensor<2x3xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "d"
      : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'aux' cannot be colwise tp: nothing that the model returns is computed in it}}
// expected-note @below {{help: use 'replicate'}}
plan.style "aux" colwise [#plan.axis<"tp">] as "colwise tp"
// expected-error @below {{'aux' cannot be sequence tp: nothing that the model returns is computed in it}}
// expected-note @below {{help: use 'replicate'}}
plan.style "aux" sequence [#plan.axis<"tp">] as "sequence tp"
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["aux.weight"]}) -> tensor<4x8xf32> {
  return %x : tensor<4x8xf32>
}

// -----

// After a call that mixes the dims of a weight, its features are unknown, and its bias alone is not sharded.
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
// expected-error @below {{'m' cannot be colwise (dp, tp): the dim of 'm.weight' that holds output features is not known after 'aten.linalg_inv.default'}}
// expected-note @below {{help: state the dim to split, as 'parameter { weight: split 0 over (dp, tp) }'}}
plan.style "m" colwise [#plan.axis<"dp">, #plan.axis<"tp">] as "colwise (dp, tp)"
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["m.weight"]},
    %b: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["m.bias"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.linalg_inv.default"(%w) {A = #base.operand<0>} in "m" : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = plan.call "aten.linear.default"(%x, %0, %b)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "m"
      : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// A shard of this contraction does not give an addend of the result: beta scales the bias.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'m' cannot be rowwise tp: 'aten.addmm.default' needs the input features of 'm.weight' whole}}
// expected-note @below {{help: use 'replicate'}}
plan.style "m" rowwise [#plan.axis<"tp">] as "rowwise tp"
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<8x6xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["m.weight"]},
    %b: tensor<6xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["m.bias"]}) -> tensor<4x6xf32> {
  %0 = plan.call "aten.addmm.default"(%b, %x, %w)
      {self = #base.operand<0>, mat1 = #base.operand<1>, mat2 = #base.operand<2>, beta = 5.0e-01 : f64} in "m"
      : (tensor<6xf32>, tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// The style of a parameter, not of a module.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'lists.0' cannot be rowwise tp: nothing that the model returns is computed from it}}
// expected-note @below {{help: use 'replicate'}}
plan.style "lists.0" rowwise [#plan.axis<"tp">] as "rowwise tp"
// expected-error @below {{'lists.user-id' cannot be rowwise tp: it has no input features that can be split}}
// expected-note @below {{help: use 'replicate'}}
plan.style "lists.user-id" rowwise [#plan.axis<"tp">] as "rowwise tp"
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %u: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["lists.0"]},
    %w: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["lists.user-id"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.mul.Tensor"(%x, %w) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
