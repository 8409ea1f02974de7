// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-styles --plan-propagate-shardings 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARNING < %t

// Each rank computes the gradients of its own samples: those of weights are addends.
// CHECK-LABEL: func.func @samples
// CHECK-NOT: plan.reshard
// CHECK: plan.call "vjp.aten.gru.input"
// CHECK-SAME: -> (tensor<12x3xf32, #plan.sharding<[{}, {}], partial = sum {"dp"}>>, tensor<12x4xf32, #plan.sharding<[{}, {}], partial = sum {"dp"}>>)
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @samples(
    %x: tensor<6x5x3xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}, {}, {}]>},
    %h: tensor<1x6x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["h"], plan.sharding = #plan.sharding<[{}, {"dp"}, {}]>},
    %w: tensor<12x3xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.sharding = #plan.sharding<[{}, {}]>},
    %v: tensor<12x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["v"], plan.sharding = #plan.sharding<[{}, {}]>},
    %g: tensor<6x5x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["g"], plan.sharding = #plan.sharding<[{"dp"}, {}, {}]>})
    -> (tensor<12x3xf32>, tensor<12x4xf32>) {
  %z = plan.call "aten.zeros.default"() {size = [1, 1, 1]} : () -> tensor<1x1x1xf32>
  %e = plan.call "aten.expand.default"(%z) {self = #base.operand<0>, size = [1, 6, 4]} : (tensor<1x1x1xf32>) -> tensor<1x6x4xf32>
  %0:2 = plan.call "vjp.aten.gru.input"(%x, %h, %w, %v, %g, %e)
      {input = #base.operand<0>, hx = #base.operand<1>, params = [#base.operand<2>, #base.operand<3>], has_biases = false,
       num_layers = 1, batch_first = true, gradients = [#base.operand<4>, #base.operand<5>], of = "params.0, params.1"}
      in "rnn" backward
      : (tensor<6x5x3xf32>, tensor<1x6x4xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<6x5x4xf32>, tensor<1x6x4xf32>)
      -> (tensor<12x3xf32>, tensor<12x4xf32>)
  return %0#0, %0#1 : tensor<12x3xf32>, tensor<12x4xf32>
}

// -----

// Sharded indices give addends of the table's gradient.
// CHECK-LABEL: func.func @chosen
// CHECK-NOT: plan.reshard
// CHECK: plan.call "meshplan.scatter_sum"
// CHECK-SAME: -> tensor<5x20xf32, #plan.sharding<[{}, {}], partial = sum {"dp"}>>
// CHECK-NOT: plan.reshard
// CHECK: plan.call "meshplan.index_sum"
// CHECK-SAME: -> tensor<7x20xf32, #plan.sharding<[{}, {}], partial = sum {"dp"}>>
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @chosen(
    %i: tensor<5x12xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"], plan.sharding = #plan.sharding<[{}, {"dp"}]>},
    %g: tensor<5x12xf32> {plan.kind = #plan.kind<input>, plan.names = ["g"], plan.sharding = #plan.sharding<[{}, {"dp"}]>})
    -> (tensor<5x20xf32>, tensor<7x20xf32>) {
  %0 = plan.call "meshplan.scatter_sum"(%g, %i) {source = #base.operand<0>, index = #base.operand<1>, dim = 1, size = [5, 20]}
      in "table" backward : (tensor<5x12xf32>, tensor<5x12xi64>) -> tensor<5x20xf32>
  %1 = plan.call "meshplan.index_sum"(%g, %i, %i) {source = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>], size = [7, 20]}
      in "table" backward : (tensor<5x12xf32>, tensor<5x12xi64>, tensor<5x12xi64>) -> tensor<7x20xf32>
  return %0, %1 : tensor<5x20xf32>, tensor<7x20xf32>
}

// -----

// Frequencies depend on all indices: the batch is gathered, with a warning.
// WARNING-NOT: warning:
// WARNING: warning: nothing in the plan asks for this reshard: 'meshplan.embedding_gradient' in 'embed' needs [6, 4], and gets [6 over dp, 4]
// WARNING: help: every rank computes this derivative on whole tensors
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @frequencies(
    %i: tensor<6xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"], plan.sharding = #plan.sharding<[{"dp"}]>},
    %g: tensor<6x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["g"], plan.sharding = #plan.sharding<[{"dp"}, {}]>},
    %w: tensor<9x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.sharding = #plan.sharding<[{}, {}]>}) -> tensor<9x4xf32> {
  %0 = plan.call "meshplan.embedding_gradient"(%g, %i, %w)
      {gradient = #base.operand<0>, indices = #base.operand<1>, weight = #base.operand<2>, scale_grad_by_freq = true}
      in "embed" backward : (tensor<6x4xf32>, tensor<6xi64>, tensor<9x4xf32>) -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}
