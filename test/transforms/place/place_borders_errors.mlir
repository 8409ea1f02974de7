// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-place-styles --plan-place-borders

// A named dim must have the extent of its name; one without a name may have any.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{dim 1 of output 0 of 'head' has size 8, and 'batch' is 4}}
// expected-note @below {{help: '_' leaves a dim unnamed}}
plan.border "head" is_input false index 0 #plan.sharding<[{"tp"}, {}, {}]> exact true along [#plan.axis<"tp">] as "output [batch over tp, batch, _]" {names = ["batch", "batch", ""], extents = array<i64: 4, 4, 0>}
func.func @named(%x: tensor<4x8x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<4x8x6xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "head" : (tensor<4x8x6xf32>) -> tensor<4x8x6xf32>
  return %0 : tensor<4x8x6xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{the root module has 1 output, and 'output 1 replicate' names output 1}}
// expected-note @below {{help: inputs and outputs count from 0 in the order of the program}}
plan.border "" is_input false index 1 #plan.sharding<[]> exact false along [#plan.axis<"tp">] as "output 1 replicate"
func.func @root(%x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Updates of buffers are returned after the results of the model, and are not outputs.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{the root module has 1 output, and 'output 1 replicate' names output 1}}
// expected-note @below {{help: inputs and outputs count from 0 in the order of the program}}
plan.border "" is_input false index 1 #plan.sharding<[]> exact false along [#plan.axis<"tp">] as "output 1 replicate"
func.func @root_with_update(%x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
                            %b: tensor<4x8xf32> {plan.kind = #plan.kind<buffer>, plan.names = ["b"]})
    -> (tensor<4x8xf32> {plan.name = "0"}, tensor<4x8xf32> {plan.updates = #plan.argument<buffer "b">}) {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %0 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A list of dims must name all of them; a single dim must exist.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{output 0 of 'head' has 3 dims, and the plan lists 2}}
// expected-note @below {{help: list each dim, with '_' for one without a name}}
plan.border "head" is_input false index 0 #plan.sharding<[{"tp"}, {}]> exact true along [#plan.axis<"tp">] as "output [_ over tp, _]"
// expected-error @below {{input 0 of 'head' has 3 dims, and no dim 3}}
// expected-note @below {{help: dims count from 0}}
plan.border "head" is_input true index 0 #plan.sharding<[{}, {}, {}, {"tp"}]> exact false along [#plan.axis<"tp">] as "input split 3 over tp"
func.func @ranks(%x: tensor<4x8x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<4x8x6xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "head" : (tensor<4x8x6xf32>) -> tensor<4x8x6xf32>
  return %0 : tensor<4x8x6xf32>
}

// -----

// A module that does not exist has no inputs or outputs.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'head' has 0 inputs, and 'input replicate' names input 0}}
// expected-note @below {{help: inputs and outputs count from 0 in the order of the program}}
plan.border "head" is_input true index 0 #plan.sharding<[]> exact false along [#plan.axis<"tp">] as "input replicate"
func.func @nothing(%x: tensor<4xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<4xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "heads" : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
