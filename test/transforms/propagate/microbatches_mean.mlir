// A microbatch is sharded like the batch. A value that leaves it is partial over microbatches, and that sum is
// completed before the one over ranks; a maximum over ranks is completed before it leaves.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-propagate-shardings | FileCheck %s

// CHECK-LABEL: func.func @step(
// CHECK: %[[X:.*]] = plan.enter_microbatch %arg0 dim 0 of 3 : {{.*}} -> tensor<5x6xf32, #plan.sharding<[{"dp"}, {}]>>
// CHECK: %[[S:.*]] = plan.call "aten.sum.default"(%[[X]]) {{.*}} -> tensor<f32, #plan.sharding<[], partial = sum {"dp"}>>
// CHECK: %[[L:.*]] = plan.leave_microbatch %[[S]] as "microbatches 3 mean" : {{.*}} -> tensor<f32, #plan.sharding<[], partial = sum {"dp", "microbatch"}>>
// CHECK: %[[M:.*]] = plan.call "aten.max.default"(%[[X]]) {{.*}} -> tensor<f32, #plan.sharding<[], partial = max {"dp"}>>
// CHECK: %[[A:.*]] = plan.reshard %[[M]] {{.*}} -> tensor<f32, #plan.sharding<[]>>
// CHECK: plan.leave_microbatch %[[A]] as "microbatches 3 mean" : {{.*}} -> tensor<f32, #plan.sharding<[], partial = sum {"microbatch"}>>
// CHECK: %[[T:.*]] = plan.reshard %[[L]] because "microbatches 3 mean" : {{.*}} -> tensor<f32, #plan.sharding<[], partial = sum {"dp"}>>
// CHECK: plan.reshard %[[T]] {{.*}} -> tensor<f32, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 3>]
func.func @step(%x: tensor<15x6xf32, #plan.sharding<[{"dp", parts [5, 5, 5]}, {}]>> {plan.kind = #plan.kind<input>, plan.names = ["x"]})
    -> (tensor<f32> {plan.name = "0"}, tensor<f32> {plan.name = "1"}) attributes {plan.role = #base.role<step>} {
  %0 = plan.enter_microbatch %x dim 0 of 3 : tensor<15x6xf32, #plan.sharding<[{"dp", parts [5, 5, 5]}, {}]>> -> tensor<5x6xf32>
  %s = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (tensor<5x6xf32>) -> tensor<f32>
  %l = plan.leave_microbatch %s as "microbatches 3 mean" : tensor<f32> -> tensor<f32>
  %m = plan.call "aten.max.default"(%0) {self = #base.operand<0>} : (tensor<5x6xf32>) -> tensor<f32>
  %k = plan.leave_microbatch %m as "microbatches 3 mean" : tensor<f32> -> tensor<f32>
  return %l, %k : tensor<f32>, tensor<f32>
}
