// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-place-microbatches | FileCheck %s

// Time is the last axis of the mesh, and the batch of each input of the step is divided over it. The forward program
// runs the whole batch.
// CHECK: plan.mesh [#plan.mesh_axis<"dp" = 2>, #plan.mesh_axis<"microbatch" = 3>]
plan.mesh [#plan.mesh_axis<"dp" = 2>]
// CHECK-NOT: plan.microbatches
plan.microbatches 3
// CHECK-LABEL: func.func @forward
// CHECK-NOT: plan.constrain
func.func @forward(%x: tensor<12x4xf32, #plan.sharding<[{"dp"}, {}]>> {plan.kind = "input", plan.dims = ["batch", ""]})
    -> tensor<12x4xf32> {
  %y = plan.call "aten.relu.default"(%x) {self = #plan.operand<0>}
    : (tensor<12x4xf32, #plan.sharding<[{"dp"}, {}]>>) -> tensor<12x4xf32>
  return %y : tensor<12x4xf32>
}
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<12x4xf32, #plan.sharding<[{"dp"}, {}]>> {plan.kind = "input", plan.dims = ["batch", ""]},
                %w: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = "parameter"},
                %m: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = "input", plan.dims = ["seq"]}) -> tensor<12x4xf32> {
  // CHECK: %[[X:.*]] = plan.constrain %arg0 <[{"microbatch"}, {}]> along [#plan.axis<"microbatch">] as "microbatches 3"
  // CHECK-NOT: plan.constrain
  // CHECK: plan.call "aten.mul.Tensor"(%[[X]], %arg1)
  %y = plan.call "aten.mul.Tensor"(%x, %w) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<12x4xf32, #plan.sharding<[{"dp"}, {}]>>, tensor<4xf32, #plan.sharding<[{}]>>) -> tensor<12x4xf32>
  // CHECK: plan.call "aten.add.Tensor"(%{{.*}}, %arg2)
  %z = plan.call "aten.add.Tensor"(%y, %m) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<12x4xf32>, tensor<4xf32, #plan.sharding<[{}]>>) -> tensor<12x4xf32>
  return %z : tensor<12x4xf32>
}
