// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-microbatches --verify-diagnostics

plan.mesh [#plan.mesh_axis<"dp" = 2>]
// expected-error@below {{the batch has 12 samples, and 4 microbatches on 2 groups of ranks need a multiple of 8}}
// expected-note@below {{help: choose a number that divides the samples of a rank}}
plan.microbatches 4
// expected-note@below {{the batch is here}}
func.func @step(%x: tensor<12x4xf32, #plan.sharding<[{"dp"}, {}]>> {plan.kind = "input", plan.dims = ["batch", ""]})
    -> tensor<12x4xf32> {
  %y = plan.call "aten.relu.default"(%x) {self = #plan.operand<0>}
    : (tensor<12x4xf32, #plan.sharding<[{"dp"}, {}]>>) -> tensor<12x4xf32>
  return %y : tensor<12x4xf32>
}

// -----

// Integers have no mean.
plan.mesh [#plan.mesh_axis<"dp" = 2>]
// expected-error@below {{output 'count' is a number of type 'i64', which has no mean over microbatches}}
// expected-note@below {{help: return it from the model as a float, or not at all}}
plan.microbatches 2 mean
func.func @step(%x: tensor<12xi64, #plan.sharding<[{"dp"}]>> {plan.kind = "input", plan.dims = ["batch"]})
    -> (tensor<i64> {plan.name = "count"}) {
  %y = plan.call "aten.sum.default"(%x) {self = #plan.operand<0>} : (tensor<12xi64, #plan.sharding<[{"dp"}]>>) -> tensor<i64>
  return %y : tensor<i64>
}
