// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-microbatches --verify-diagnostics

plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error@below {{the batch has 12 samples, but 4 microbatches on 2 data-parallel ranks need a multiple of 8}}
// expected-note@below {{help: choose a number of microbatches that divides the samples per rank}}
plan.microbatches 4
// expected-note@below {{the batch is here}}
func.func @step(%x: tensor<12x4xf32, #plan.sharding<[{"dp"}, {}]>> {plan.kind = #plan.kind<input>, plan.dims = ["batch", ""]})
    -> tensor<12x4xf32> attributes {plan.role = #base.role<step>} {
  %y = plan.call "aten.relu.default"(%x) {self = #base.operand<0>}
    : (tensor<12x4xf32, #plan.sharding<[{"dp"}, {}]>>) -> tensor<12x4xf32>
  return %y : tensor<12x4xf32>
}

// -----

// Samples are sharded over two axes, and another input has fewer of them.
plan.mesh [#base.mesh_axis<"pod" = 2>, #base.mesh_axis<"dp" = 3>]
// expected-error@below {{the batch has 8 samples, but 2 microbatches on 6 data-parallel ranks need a multiple of 12}}
// expected-note@below {{help: choose a number of microbatches that divides the samples per rank}}
plan.microbatches 2
func.func @step(%x: tensor<24xf32, #plan.sharding<[{"pod", "dp"}]>> {plan.kind = #plan.kind<input>, plan.dims = ["batch"]},
                // expected-note@below {{the batch is here}}
                %y: tensor<4x8xf32, #plan.sharding<[{}, {"pod", "dp"}]>> {plan.kind = #plan.kind<input>, plan.dims = ["seq", "batch"]}) -> tensor<24xf32> attributes {plan.role = #base.role<step>} {
  %0 = plan.call "aten.relu.default"(%x) {self = #base.operand<0>} : (tensor<24xf32, #plan.sharding<[{"pod", "dp"}]>>) -> tensor<24xf32>
  return %0 : tensor<24xf32>
}

// -----

// More microbatches than samples.
plan.mesh []
// expected-error@below {{the batch has 2 samples, but 3 microbatches on 1 data-parallel rank need a multiple of 3}}
// expected-note@below {{help: choose a number of microbatches that divides the samples per rank}}
plan.microbatches 3
// expected-note@below {{the batch is here}}
func.func @step(%x: tensor<2xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<input>, plan.dims = ["batch"]}) -> tensor<2xf32> attributes {plan.role = #base.role<step>} {
  %0 = plan.call "aten.relu.default"(%x) {self = #base.operand<0>} : (tensor<2xf32, #plan.sharding<[{}]>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Integers have no mean.
plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error@below {{output 'count' is a scalar of type 'i64', which has no mean over microbatches}}
// expected-note@below {{help: return it from the model as a float, or not at all}}
plan.microbatches 2 mean
func.func @step(%x: tensor<12xi64, #plan.sharding<[{"dp"}]>> {plan.kind = #plan.kind<input>, plan.dims = ["batch"]})
    -> (tensor<i64> {plan.name = "count"}) attributes {plan.role = #base.role<step>} {
  %y = plan.call "aten.sum.default"(%x) {self = #base.operand<0>} : (tensor<12xi64, #plan.sharding<[{"dp"}]>>) -> tensor<i64>
  return %y : tensor<i64>
}
