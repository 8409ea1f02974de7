// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-place-styles --plan-propagate-shardings

// Heads are counted, not columns: 36 columns are enough for 12 ranks, but the 9 heads of 4 are not.
plan.mesh [#base.mesh_axis<"tp" = 12>]
// expected-error @below {{dim 1 of size 36 of 'q' is 9 groups of 4, fewer than tp = 12}}
// expected-note @below {{help: tp can be at most 9 (groups, not columns)}}
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<36x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"]}) -> tensor<6x9x4xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "q"
      : (tensor<6x8xf32>, tensor<36x8xf32>) -> tensor<6x36xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = array<i64: 6, 9, 4>} in "attn"
      : (tensor<6x36xf32>) -> tensor<6x9x4xf32>
  return %1 : tensor<6x9x4xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-warning @below {{operator 'custom.scan.default' in 'mixer' has no record and runs on whole tensors: its operand 0 is gathered from [6, 4 over tp]; 96 bytes per rank}}
// expected-note @below {{help: try 'ep.run_decompositions({})' before torch.export.save, write it with other operators, or add a record (docs/adding-an-op.md), or ask for it with 'q: output [_, _]'}}
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"]}) -> tensor<6x4xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "q"
      : (tensor<6x8xf32>, tensor<4x8xf32>) -> tensor<6x4xf32>
  %1 = plan.call "custom.scan.default"(%0) {self = #base.operand<0>} in "mixer" : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// -----

// More ranks than heads: the axis would be cut within a head.
plan.mesh [#base.mesh_axis<"tp" = 8>]
// expected-error @below {{dim 1 of size 16 of 'q' is 4 groups of 4, fewer than tp = 8}}
// expected-note @below {{help: tp can be at most 4 (groups, not columns)}}
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"]}) -> tensor<6x4x4xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "q"
      : (tensor<6x8xf32>, tensor<16x8xf32>) -> tensor<6x16xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = array<i64: 6, 4, 4>} in "attn"
      : (tensor<6x16xf32>) -> tensor<6x4x4xf32>
  return %1 : tensor<6x4x4xf32>
}

// -----

// Softmax needs its dim whole, and nothing in the plan asks for a gather of the logits.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-warning @below {{nothing in the plan asks for this reshard: 'aten.softmax.int' in 'head' needs [6, 4], and gets [6, 4 over tp]; 96 bytes per rank}}
// expected-note @below {{help: give compatible styles to the modules that share these values}}
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"]}) -> tensor<6x4xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "q"
      : (tensor<6x8xf32>, tensor<4x8xf32>) -> tensor<6x4xf32>
  %1 = plan.call "aten.softmax.int"(%0) {self = #base.operand<0>, dim = 1} in "head" : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// -----

// The only module that reads them also shards them.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-warning @below {{nothing in the plan asks for this reshard: 'aten.softmax.int' in 'q' needs [6, 4], and gets [6, 4 over tp]; 96 bytes per rank}}
// expected-note @below {{help: only 'q' produces and reads these values: 'replicate' keeps them replicated}}
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"]}) -> tensor<6x4xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "q"
      : (tensor<6x8xf32>, tensor<4x8xf32>) -> tensor<6x4xf32>
  %1 = plan.call "aten.softmax.int"(%0) {self = #base.operand<0>, dim = 1} in "q" : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// -----

// An input that a single module reads: no other module matters.
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @forward(
    // expected-warning @below {{nothing in the plan asks for this reshard: 'aten.softmax.int' in 'head' needs [6, 4], and gets [6, 4 over tp]; 96 bytes per rank}}
    // expected-note @below {{help: split another dim, or none}}
    %x: tensor<6x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {"tp"}]>}) -> tensor<6x4xf32> {
  %1 = plan.call "aten.softmax.int"(%x) {self = #base.operand<0>, dim = 1} in "head" : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// -----

// Groups that are mixed before attention are not its heads.
plan.mesh [#base.mesh_axis<"tp" = 8>]
// expected-error @below {{dim 1 of size 16 of 'up' is 4 groups of 4, fewer than tp = 8}}
// expected-note @below {{help: tp can be at most 4 (groups, not columns)}}
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<8x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %up: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]},
    %mix: tensor<4x4xf32> {plan.kind = #plan.kind<buffer>, plan.names = ["mix"]},
    %k: tensor<2x4x4x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["k"]}) -> tensor<2x4x4x4xf32> {
  %0 = plan.call "aten.linear.default"(%x, %up) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<8x8xf32>, tensor<16x8xf32>) -> tensor<8x16xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = array<i64: 8, 4, 4>} in "up"
      : (tensor<8x16xf32>) -> tensor<8x4x4xf32>
  %2 = plan.call "aten.matmul.default"(%1, %mix) {self = #base.operand<0>, other = #base.operand<1>} in "mix"
      : (tensor<8x4x4xf32>, tensor<4x4xf32>) -> tensor<8x4x4xf32>
  %3 = plan.call "aten.view.default"(%2) {self = #base.operand<0>, size = array<i64: 2, 4, 4, 4>} in "attn"
      : (tensor<8x4x4xf32>) -> tensor<2x4x4x4xf32>
  %4:2 = plan.call "meshplan.attention"(%3, %k, %k) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64}
      in "attn" : (tensor<2x4x4x4xf32>, tensor<2x4x4x4xf32>, tensor<2x4x4x4xf32>) -> (tensor<2x4x4x4xf32>, tensor<2x4x4xf32>)
  return %4#0 : tensor<2x4x4x4xf32>
}

// -----

// A weight that the model splits is sharded part by part only if the plan says so.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'aten.split_with_sizes.default' in 'attn' reads dim 1 of 'qkv' as parts of 8, 4, 4, but it is split over tp as a whole}}
// expected-note @below {{help: state the parts of the fused weight: 'parts (q 2, k 1, v 1)'}}
plan.style "qkv" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["qkv.weight"]}) -> tensor<6x8xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "qkv"
      : (tensor<6x8xf32>, tensor<16x8xf32>) -> tensor<6x16xf32>
  %1:3 = plan.call "aten.split_with_sizes.default"(%0)
      {self = #base.operand<0>, split_sizes = array<i64: 8, 4, 4>, dim = 1 : i64} in "attn"
      : (tensor<6x16xf32>) -> (tensor<6x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>)
  return %1#0 : tensor<6x8xf32>
}

// -----

// Parts that are not those of the model are the cause if heads would be whole without them.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{dim 1 of size 36 of 'qkv' is 4 groups of 9, but is split over tp in parts of 12, 12, 12, which do not match them}}
// expected-note @below {{help: leave out 'parts': the model splits this weight by groups}}
plan.style "qkv" colwise [#plan.axis<"tp">] as "colwise tp parts 3" {parts = array<i64: 1, 1, 1>}
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<36x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["qkv.weight"]}) -> tensor<6x4x9xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "qkv"
      : (tensor<6x8xf32>, tensor<36x8xf32>) -> tensor<6x36xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = array<i64: 6, 4, 9>} in "attn"
      : (tensor<6x36xf32>) -> tensor<6x4x9xf32>
  return %1 : tensor<6x4x9xf32>
}

// -----

// Heads after a split: without parts the split would be rejected, so the model's parts are named.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{dim 1 of size 24 of 'attn' is 4 groups of 6, but is split over tp in parts of 8, 8, 8, which do not match them}}
// expected-note @below {{help: state the parts of the fused weight: 'parts (q 3, k 1, v 1)'}}
plan.style "qkv" colwise [#plan.axis<"tp">] as "colwise tp parts 5" {parts = array<i64: 1, 1, 1, 1, 1>}
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<40x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["qkv.weight"]}) -> tensor<6x4x6xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "qkv"
      : (tensor<6x8xf32>, tensor<40x8xf32>) -> tensor<6x40xf32>
  %1:3 = plan.call "aten.split_with_sizes.default"(%0)
      {self = #base.operand<0>, split_sizes = array<i64: 24, 8, 8>, dim = 1 : i64} in "attn"
      : (tensor<6x40xf32>) -> (tensor<6x24xf32>, tensor<6x8xf32>, tensor<6x8xf32>)
  %2 = plan.call "aten.view.default"(%1#0) {self = #base.operand<0>, size = array<i64: 6, 4, 6>} in "attn"
      : (tensor<6x24xf32>) -> tensor<6x4x6xf32>
  return %2 : tensor<6x4x6xf32>
}

// -----

// A part that is split again has parts of the weight.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'aten.split_with_sizes.default' in 'attn' reads dim 1 of 'qkv' as parts of 8, 8, but it is split over tp as a whole}}
// expected-note @below {{help: state the parts of the fused weight: 'parts (q 2, k 1, v 1)'}}
plan.style "qkv" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["qkv.weight"]}) -> tensor<6x4xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "qkv"
      : (tensor<6x8xf32>, tensor<16x8xf32>) -> tensor<6x16xf32>
  %1:2 = plan.call "aten.split_with_sizes.default"(%0)
      {self = #base.operand<0>, split_sizes = array<i64: 8, 8>, dim = 1 : i64} in "attn"
      : (tensor<6x16xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>)
  %2:2 = plan.call "aten.split_with_sizes.default"(%1#1)
      {self = #base.operand<0>, split_sizes = array<i64: 4, 4>, dim = 1 : i64} in "attn"
      : (tensor<6x8xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>)
  return %2#0 : tensor<6x4xf32>
}

// -----

// Correct parts, but of heads that are not divisible.
plan.mesh [#base.mesh_axis<"tp" = 4>]
// expected-error @below {{dim 1 of size 18 of 'qkv' is 3 x 2 groups of 3, fewer than tp = 4}}
// expected-note @below {{help: tp can be at most 2 (groups, not columns)}}
plan.style "qkv" colwise [#plan.axis<"tp">] as "colwise tp parts 3" {parts = array<i64: 1, 1, 1>}
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<18x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["qkv.weight"]}) -> tensor<6x3x2x3xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "qkv"
      : (tensor<6x8xf32>, tensor<18x8xf32>) -> tensor<6x18xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = array<i64: 6, 3, 2, 3>} in "attn"
      : (tensor<6x18xf32>) -> tensor<6x3x2x3xf32>
  return %1 : tensor<6x3x2x3xf32>
}

// -----

// Parts that differ from those of the model.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'aten.split_with_sizes.default' in 'attn' reads dim 1 of 'qkv' as parts of 8, 4, 4, but it is split over tp as parts of 6, 6, 4}}
// expected-note @below {{help: state the parts of the fused weight: 'parts (q 2, k 1, v 1)'}}
plan.style "qkv" colwise [#plan.axis<"tp">] as "colwise tp parts (3, 3, 2)" {parts = array<i64: 3, 3, 2>}
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["qkv.weight"]}) -> tensor<6x8xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "qkv"
      : (tensor<6x8xf32>, tensor<16x8xf32>) -> tensor<6x16xf32>
  %1:3 = plan.call "aten.split_with_sizes.default"(%0)
      {self = #base.operand<0>, split_sizes = array<i64: 8, 4, 4>, dim = 1 : i64} in "attn"
      : (tensor<6x16xf32>) -> (tensor<6x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>)
  return %1#0 : tensor<6x8xf32>
}

// -----

// A layout that the plan states for a parameter is not blamed on its module's style. It may have parts, too.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "kv" replicate [] as "replicate"
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    // expected-error @below {{'aten.split.Tensor' in 'kv' reads dim 1 of 'kv' as parts of 8, 8, but it is split over tp as a whole}}
    // expected-note @below {{help: state the parts of the fused weight: 'parts 2'}}
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["kv.weight"], plan.style = "split 0 over tp",
                          plan.sharding = #plan.sharding<[{"tp"}, {}]>}) -> tensor<6x8xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "kv"
      : (tensor<6x8xf32>, tensor<16x8xf32>) -> tensor<6x16xf32>
  %1:2 = plan.call "aten.split.Tensor"(%0) {self = #base.operand<0>, split_size = 8 : i64, dim = 1 : i64} in "kv"
      : (tensor<6x16xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>)
  return %1#0 : tensor<6x8xf32>
}

// -----

// Losses in forms that the importer does not decompose; others it does.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-warning @below {{this form of operator 'aten.cross_entropy_loss.default' in 'loss' has no record and runs on whole tensors: its operand 0 is gathered from [6, 4 over tp]; 96 bytes per rank}}
// expected-note @below {{help: try 'ep.run_decompositions({})' before torch.export.save, write it with other operators, or add a record (docs/adding-an-op.md), or ask for it with 'q: output [_, _]'}}
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %y: tensor<6x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["y"]},
    %w: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"]}) -> tensor<f32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "q"
      : (tensor<6x8xf32>, tensor<4x8xf32>) -> tensor<6x4xf32>
  %1 = plan.call "aten.cross_entropy_loss.default"(%0, %y) {self = #base.operand<0>, target = #base.operand<1>} in "loss"
      : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}


// -----

// The same axis, but other elements on each rank: of the parts of the fused weight, and of the whole dim.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp parts (8, 4)" {parts = array<i64: 8, 4>}
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    // expected-warning @below {{nothing in the plan asks for this reshard: 'aten.mul.Tensor' in 'gate' needs [1, 12 over tp parts 8+4], and gets [1, 12 over tp]; 24 bytes per rank}}
    // expected-note @below {{help: give compatible styles to the modules that share these values}}
    %y: tensor<60x12xf32> {plan.kind = #plan.kind<input>, plan.names = ["y"], plan.sharding = #plan.sharding<[{}, {"tp"}]>},
    %w: tensor<12x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]}) -> tensor<6x12xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<6x8xf32>, tensor<12x8xf32>) -> tensor<6x12xf32>
  %1 = plan.call "aten.sum.dim_IntList"(%y) {self = #base.operand<0>, dim = [0], keepdim = true} in "gate"
      : (tensor<60x12xf32>) -> tensor<1x12xf32>
  %2 = plan.call "aten.mul.Tensor"(%1, %0) {self = #base.operand<0>, other = #base.operand<1>} in "gate"
      : (tensor<1x12xf32>, tensor<6x12xf32>) -> tensor<6x12xf32>
  return %2 : tensor<6x12xf32>
}

// -----

// Samples of several microbatches cannot be gathered for it.
plan.mesh [#base.mesh_axis<"tp" = 2>, #base.mesh_axis<"microbatch" = 2>]
func.func @step(
    // expected-error @below {{operator 'custom.scan.default' in 'mixer' has no record, and would read samples of several microbatches}}
    // expected-note @below {{help: leave out 'microbatches', write 'mean' after it to take the mean of the losses of microbatches, or add a record (docs/adding-an-op.md)}}
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"microbatch"}, {"tp"}]>}) -> tensor<4x8xf32> attributes {plan.role = #base.role<step>} {
  %0 = plan.call "custom.scan.default"(%x) {self = #base.operand<0>} in "mixer" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Parts that result from a view, of a weight that is sharded as one: the parts of the model are named.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{dim 1 of 'attn' has 3 parts, which 'aten.unbind.int' in 'attn' reads one by one, but it is split over tp as a whole}}
// expected-note @below {{help: state the parts of the fused weight: 'parts 3'}}
plan.style "qkv" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<24x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["qkv.weight"]}) -> tensor<6x2x4xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "qkv"
      : (tensor<6x8xf32>, tensor<24x8xf32>) -> tensor<6x24xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = array<i64: 6, 3, 2, 4>} in "attn"
      : (tensor<6x24xf32>) -> tensor<6x3x2x4xf32>
  %2:3 = plan.call "aten.unbind.int"(%1) {self = #base.operand<0>, dim = 1 : i64} in "attn"
      : (tensor<6x3x2x4xf32>) -> (tensor<6x2x4xf32>, tensor<6x2x4xf32>, tensor<6x2x4xf32>)
  return %2#0 : tensor<6x2x4xf32>
}

// -----

// Parts of two elements are too small for four ranks.
plan.mesh [#base.mesh_axis<"tp" = 4>]
// expected-error @below {{dim 1 of 'pairs' has 8 parts, which 'aten.select.int' in 'pairs' reads one by one, but it is split over tp as a whole}}
// expected-note @below {{help: tp can be at most 2, the size of the smallest part}}
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]}) -> tensor<6x2xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<6x8xf32>, tensor<16x8xf32>) -> tensor<6x16xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = array<i64: 6, 8, 2>} in "pairs"
      : (tensor<6x16xf32>) -> tensor<6x8x2xf32>
  %2 = plan.call "aten.select.int"(%1) {self = #base.operand<0>, dim = 1 : i64, index = 0 : i64} in "pairs"
      : (tensor<6x8x2xf32>) -> tensor<6x2xf32>
  return %2 : tensor<6x2xf32>
}

// -----

// One of two weights has parts: the same axis for both, but other elements on a rank.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-note @below {{split by 'colwise tp parts 2'}}
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp parts 2" {parts = array<i64: 1, 1>}
// expected-warning @below {{'rowwise tp' splits its input as [6, 8 over tp], but it arrives as [6, 8 over tp parts 4+4]; 96 bytes per rank are redistributed}}
// expected-note @below {{help: state the same 'parts' at both, or at neither}}
plan.style "down" rowwise [#plan.axis<"tp">] as "rowwise tp"
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %up: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]},
    %down: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["down.weight"]}) -> tensor<6x8xf32> {
  %0 = plan.call "aten.linear.default"(%x, %up) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %1 = plan.call "aten.linear.default"(%0, %down) {input = #base.operand<0>, weight = #base.operand<1>} in "down"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  return %1 : tensor<6x8xf32>
}

// -----

// No statement asked for the layout over `a`, which would cut heads: it comes from a consumer, and is gathered.
plan.mesh [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 2>]
// expected-warning @below {{'aten.view.default' in 'attn' needs [4, 24 over b], and gets [4, 24 over (b, a)]}}
// expected-note @below {{help: give compatible styles to the modules that share these values, or ask for it with 'v: output [_, _ over b]'}}
// expected-warning @below {{'aten.mul.Tensor' in the root module needs [4, 24 over a], and gets [4, 24 over (b, a)]}}
// expected-note @below {{help: give compatible styles to the modules that share these values, or ask for it with 'v: output [_, _ over a]'}}
plan.style "v" colwise [#plan.axis<"b">] as "colwise b"
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {"a"}]>},
    %k: tensor<4x24xf32> {plan.kind = #plan.kind<input>, plan.names = ["k"], plan.sharding = #plan.sharding<[{}, {"a"}]>},
    %w: tensor<24x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["v.weight"]},
    %bias: tensor<24xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["v.bias"]}) -> (tensor<4x24xf32>, tensor<4x6x4xf32>) {
  %0 = plan.call "aten.linear.default"(%x, %w, %bias)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "v"
      : (tensor<4x8xf32>, tensor<24x8xf32>, tensor<24xf32>) -> tensor<4x24xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = array<i64: 4, 6, 4>} in "attn"
      : (tensor<4x24xf32>) -> tensor<4x6x4xf32>
  %2 = plan.call "aten.mul.Tensor"(%k, %0) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<4x24xf32>, tensor<4x24xf32>) -> tensor<4x24xf32>
  return %2, %1 : tensor<4x24xf32>, tensor<4x6x4xf32>
}

// -----

// The error for a weight of three projections suggests its parts, also with more ranks than projections.
plan.mesh [#base.mesh_axis<"tp" = 4>]
// expected-error @below {{dim 2 of size 24 of 'qkv' is 3 parts of 8, but is split over tp as a whole}}
// expected-note @below {{help: state the parts of the fused weight: 'parts 3'}}
plan.style "qkv" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @parts_of_a_view(
    %x: tensor<2x4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<24x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["qkv.weight"]}) -> tensor<2x4x2x4xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "qkv"
      : (tensor<2x4x8xf32>, tensor<24x8xf32>) -> tensor<2x4x24xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = array<i64: 2, 4, 3, 2, 4>} in "attn"
      : (tensor<2x4x24xf32>) -> tensor<2x4x3x2x4xf32>
  %2 = plan.call "aten.select.int"(%1) {self = #base.operand<0>, dim = 2 : i64, index = 1 : i64} in "attn"
      : (tensor<2x4x3x2x4xf32>) -> tensor<2x4x2x4xf32>
  return %2 : tensor<2x4x2x4xf32>
}
