// Gradients with microbatches: reduced over ranks in each microbatch, or after the last one.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-styles --plan-propagate-shardings | FileCheck %s

// If a rank has memory for its own shard only, each microbatch reduces over ranks, and is then accumulated.
// CHECK-LABEL: func.func @step(
// CHECK: %[[G:.*]] = plan.call "meshplan.weight_gradient"({{.*}} partial = sum {"dp", "microbatch"}>>
// CHECK-NEXT: %[[OWN:.*]] = plan.reshard %[[G]] {{.*}} -> tensor<6x4xf32, #plan.sharding<[{}, {}], partial = sum {"microbatch"}, flat = {"dp"}>>
// CHECK-NEXT: %[[SUM:.*]] = plan.reshard %[[OWN]] {{.*}} -> tensor<6x4xf32, #plan.sharding<[{}, {}], flat = {"dp"}>>
// CHECK-NEXT: return %[[SUM]]
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 3>]
plan.data gradients over [#plan.axis<"dp">] prefetch 0 as "data dp" {overlap_gradients, reduce_each}
func.func @step(%w: tensor<6x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.data = 0 : i64, plan.sharding = #plan.sharding<[{}, {}]>},
                %x: tensor<12x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp", "microbatch"}, {}]>},
                %y: tensor<12x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["y"], plan.sharding = #plan.sharding<[{"dp", "microbatch"}, {}]>})
    -> (tensor<6x4xf32> {plan.gradient_of = #plan.argument<parameter "w">}) attributes {plan.role = #base.role<step>} {
  %g = plan.call "meshplan.weight_gradient"(%x, %y) {left = #base.operand<0>, right = #base.operand<1>} backward
    : (tensor<12x6xf32>, tensor<12x4xf32>) -> tensor<6x4xf32>
  %m = plan.match %g to %w flat [#plan.axis<"dp">] : tensor<6x4xf32>, tensor<6x4xf32> -> tensor<6x4xf32>
  return %m : tensor<6x4xf32>
}

// -----

// Otherwise both are reduced together.
// CHECK-LABEL: func.func @step(
// CHECK: %[[G:.*]] = plan.call "meshplan.weight_gradient"({{.*}} partial = sum {"dp", "microbatch"}>>
// CHECK-NEXT: %[[SUM:.*]] = plan.reshard %[[G]] {{.*}} -> tensor<6x4xf32, #plan.sharding<[{}, {}], flat = {"dp"}>>
// CHECK-NEXT: return %[[SUM]]
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 3>]
plan.data gradients over [#plan.axis<"dp">] prefetch 0 as "data dp" {overlap_gradients}
func.func @step(%w: tensor<6x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.data = 0 : i64, plan.sharding = #plan.sharding<[{}, {}]>},
                %x: tensor<12x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp", "microbatch"}, {}]>},
                %y: tensor<12x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["y"], plan.sharding = #plan.sharding<[{"dp", "microbatch"}, {}]>})
    -> (tensor<6x4xf32> {plan.gradient_of = #plan.argument<parameter "w">}) attributes {plan.role = #base.role<step>} {
  %g = plan.call "meshplan.weight_gradient"(%x, %y) {left = #base.operand<0>, right = #base.operand<1>} backward
    : (tensor<12x6xf32>, tensor<12x4xf32>) -> tensor<6x4xf32>
  %m = plan.match %g to %w flat [#plan.axis<"dp">] : tensor<6x4xf32>, tensor<6x4xf32> -> tensor<6x4xf32>
  return %m : tensor<6x4xf32>
}

// -----

// Gradients of rows go back to the ranks of their tokens because of the statement that sent the rows to their experts,
// not because of what divides the tokens into microbatches.
// CHECK-LABEL: func.func @step(
// CHECK: %[[DX:.*]] = plan.call "meshplan.grouped_linear"{{.*}}transposed = true{{.*}} backward
// CHECK-NEXT: %[[BACK:.*]] = plan.reshard %[[DX]] because "expert dp" : {{.*}} -> tensor<8x12x16xf32, #plan.sharding<[{}, {"microbatch", "dp"}, {}]>>
// CHECK-NEXT: plan.call "meshplan.combine"(%[[BACK]],
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 3>]
func.func @step(%x: tensor<12x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"microbatch", "dp"}, {}]>},
                %i: tensor<12x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"], plan.sharding = #plan.sharding<[{"microbatch", "dp"}, {}]>},
                %w: tensor<8x10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.style = "expert dp", plan.sharding = #plan.sharding<[{"dp"}, {}, {}]>})
    -> tensor<12x16xf32> attributes {plan.role = #base.role<step>} {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
    : (tensor<12x2xi64>) -> (tensor<8x12xi64>, tensor<8x12xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
    : (tensor<12x16xf32>, tensor<8x12xi64>) -> tensor<8x12x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
    : (tensor<8x12x16xf32>, tensor<8x10x16xf32>, tensor<8x12xi64>) -> tensor<8x12x10xf32>
  %g = plan.call "meshplan.grouped_linear"(%1, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = true} backward
    : (tensor<8x12x10xf32>, tensor<8x10x16xf32>, tensor<8x12xi64>) -> tensor<8x12x16xf32>
  %m = plan.match %g to %0 : tensor<8x12x16xf32>, tensor<8x12x16xf32> -> tensor<8x12x16xf32>
  %d = plan.call "meshplan.combine"(%m, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [12, 16]} backward
    : (tensor<8x12x16xf32>, tensor<8x12xi64>) -> tensor<12x16xf32>
  return %d : tensor<12x16xf32>
}
