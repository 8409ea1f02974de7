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
