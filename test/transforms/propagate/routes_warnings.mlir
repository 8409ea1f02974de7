// Tokens that are gathered where rows could be exchanged.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-propagate-shardings --verify-diagnostics -o /dev/null

// The ranks have 2, 2, 1 and 1 samples.
plan.mesh [#base.mesh_axis<"pod" = 2>, #base.mesh_axis<"dp" = 2>]
func.func @unequal_tokens(
    %x: tensor<6x6x16xf32, #plan.sharding<[{"pod", "dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<6x6x2xi64, #plan.sharding<[{"pod", "dp"}, {}, {}]>> {plan.kind = #plan.kind<input>},
    // expected-warning@below {{all ranks of pod compute the tokens of each other for their experts in 'mlp': tokens that go to the ranks of their experts alone need as many tokens on each of these ranks, but the tokens are [6 over (pod, dp), 6, 2]}}
    // expected-note@below {{help: change the batch, or write these axes last in its layout}}
    %w: tensor<8x10x16xf32, #plan.sharding<[{"pod"}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "expert pod"}) -> tensor<6x6x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<6x6x2xi64, #plan.sharding<[{"pod", "dp"}, {}, {}]>>) -> (tensor<8x6x6xi64>, tensor<8x6x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<6x6x16xf32, #plan.sharding<[{"pod", "dp"}, {}, {}]>>, tensor<8x6x6xi64>) -> tensor<8x6x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<8x6x6x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{"pod"}, {}, {}]>>, tensor<8x6x6xi64>) -> tensor<8x6x6x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [6, 6, 10]}
      : (tensor<8x6x6x10xf32>, tensor<8x6x6xi64>) -> tensor<6x6x10xf32>
  return %2 : tensor<6x6x10xf32>
}

// -----

// A rank of tp has three experts, of which two ranks cannot have equally many, and there are too few tokens to divide
// them over tp first.
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @unequal_experts(
    %x: tensor<2x16xf32, #plan.sharding<[{"dp"}, {}]>> {plan.kind = #plan.kind<input>},
    %i: tensor<2x2xi64, #plan.sharding<[{"dp"}, {}]>> {plan.kind = #plan.kind<input>},
    // expected-warning@below {{all ranks of dp compute the tokens of each other for their experts in 'mlp': tokens that go to the ranks of their experts alone need as many experts on each of the 4 ranks, but there are 6}}
    // expected-note@below {{help: divide the experts over axes whose number of ranks divides 6}}
    %w: tensor<6x10x16xf32, #plan.sharding<[{"tp", "dp"}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.style = "expert (tp, dp)"}) -> tensor<2x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 6 : i64} in "mlp"
      : (tensor<2x2xi64, #plan.sharding<[{"dp"}, {}]>>) -> (tensor<6x2xi64>, tensor<6x2xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<2x16xf32, #plan.sharding<[{"dp"}, {}]>>, tensor<6x2xi64>) -> tensor<6x2x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (tensor<6x2x16xf32>, tensor<6x10x16xf32, #plan.sharding<[{"tp", "dp"}, {}, {}]>>, tensor<6x2xi64>) -> tensor<6x2x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [2, 10]}
      : (tensor<6x2x10xf32>, tensor<6x2xi64>) -> tensor<2x10xf32>
  return %2 : tensor<2x10xf32>
}
