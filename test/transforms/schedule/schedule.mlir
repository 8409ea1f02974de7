// RUN: meshplan-opt %s --schedule | FileCheck %s

// A two-layer MLP with Megatron's layout: colwise, rowwise, one all-reduce.

#rows = #plan.sharding<[{"dp"}, {}]>

// CHECK: sched.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 3>]
// CHECK-NEXT: sched.communicator @tp over [#sched.axis<1:(1)3>]
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 3>]

// Rank 0 holds 10 of 28 hidden features (the last rank 9) and 4 of 8 rows. Parameters: 2 x 10 x 8 floats. The peak is at
// relu: parameters, the constant, x, and two hidden tensors of 4 x 10 (4 x 9) floats.
// CHECK: sched.program @forward
// CHECK-SAME: memory <parameters = 640, constants = 64, inputs = 128, peak = 1152, least = 1056>
func.func @forward(
    %up: tensor<28x8xf32, #plan.sharding<[{"tp"}, {}]>>
      {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"], plan.trainable = true},
    %down: tensor<8x28xf32, #plan.sharding<[{}, {"tp"}]>>
      {plan.kind = #plan.kind<parameter>, plan.names = ["down.weight", "tied.weight"], plan.trainable = false},
    %x: tensor<8x8xf32, #rows> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.dims = ["batch", ""]})
    -> (tensor<8x8xf32, #rows> {plan.name = "y"}) {
  // CHECK-NEXT: %[[UP:.*]] = sched.parameter ["up.weight"] trainable : <[28 over {1:(1)3}, 8], f32>
  // CHECK-NEXT: %[[DOWN:.*]] = sched.parameter ["down.weight", "tied.weight"] : <[8, 28 over {1:(1)3}], f32>
  // CHECK-NEXT: %[[X:.*]] = sched.input "x" dims ["batch", ""] : <[8 over {0:(1)2}, 8], f32>
  // CHECK-NEXT: %[[C:.*]] = sched.constant "ones" dense<1.000000e+00> : tensor<2x8xf32> : <[2, 8], f32>
  %ones = plan.constant "ones" dense<1.0> : tensor<2x8xf32> : tensor<2x8xf32, #plan.sharding<[{}, {}]>>
  // CHECK-NEXT: %[[H:.*]] = sched.compute "aten.linear.default"(%[[X]], %[[UP]])
  // CHECK-SAME: {input = #base.operand<0>, weight = #base.operand<1>} in "up"
  %h = plan.call "aten.linear.default"(%x, %up) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
    : (tensor<8x8xf32, #rows>, tensor<28x8xf32, #plan.sharding<[{"tp"}, {}]>>)
    -> tensor<8x28xf32, #plan.sharding<[{"dp"}, {"tp"}]>>
  // CHECK-NEXT: %[[R:.*]] = sched.compute "aten.relu.default"(%[[H]])
  // CHECK-NEXT: sched.free %[[H]]
  %r = plan.call "aten.relu.default"(%h) {self = #base.operand<0>} in "act"
    : (tensor<8x28xf32, #plan.sharding<[{"dp"}, {"tp"}]>>) -> tensor<8x28xf32, #plan.sharding<[{"dp"}, {"tp"}]>>
  // CHECK-NEXT: %[[P:.*]] = sched.compute "aten.linear.default"(%[[R]], %[[DOWN]])
  // CHECK-NEXT: sched.free %[[R]]
  %p = plan.call "aten.linear.default"(%r, %down) {input = #base.operand<0>, weight = #base.operand<1>} in "down"
    : (tensor<8x28xf32, #plan.sharding<[{"dp"}, {"tp"}]>>, tensor<8x28xf32, #plan.sharding<[{}, {"tp"}]>>)
    -> tensor<8x8xf32, #plan.sharding<[{"dp"}, {}], partial = sum {"tp"}>>
  // CHECK-NEXT: %[[T:.*]] = sched.start all_reduce %[[P]] over @tp sequence 0 because "rowwise tp"
  // CHECK-NEXT: %[[Y:.*]] = sched.wait %[[T]]
  // CHECK-NEXT: sched.free %[[P]]
  %y = plan.all_reduce %p [#plan.axis<"tp">] because "rowwise tp"
    : tensor<8x8xf32, #plan.sharding<[{"dp"}, {}], partial = sum {"tp"}>> -> tensor<8x8xf32, #rows>
  // CHECK-NEXT: sched.output "y" %[[Y]]
  return %y : tensor<8x8xf32, #rows>
}

// CHECK: sched.program @reference role <reference> devices [#base.mesh_axis<"rank" = 1>]
// CHECK-SAME: memory <parameters = 32, constants = 0, inputs = 32, peak = 68, least = 68>
// CHECK: sched.output "y" %{{.*}} loss
// The module that kept it from other passes is gone.
// CHECK-NOT: module
module @reference {
  func.func @reference(
      %w: tensor<1x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]},
      %x: tensor<1x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]})
      -> (tensor<1x1xf32> {plan.name = "y", plan.loss}) attributes {plan.role = #base.role<reference>} {
    %y = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x1xf32>
    return %y : tensor<1x1xf32>
  }
}
