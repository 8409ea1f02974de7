// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-microbatches | FileCheck %s

// Time is the last axis of the mesh, and the batch of each input of the step is sharded over it. The forward program
// runs the whole batch.
// CHECK: plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 3>]
plan.mesh [#base.mesh_axis<"dp" = 2>]
// CHECK-NOT: plan.microbatches
plan.microbatches 3
// CHECK-LABEL: func.func @forward
// CHECK-NOT: plan.constrain
func.func @forward(%x: tensor<12x4xf32, #plan.sharding<[{"dp"}, {}]>> {plan.kind = #plan.kind<input>, plan.dims = ["batch", ""]})
    -> tensor<12x4xf32> {
  %y = plan.call "aten.relu.default"(%x) {self = #base.operand<0>}
    : (tensor<12x4xf32, #plan.sharding<[{"dp"}, {}]>>) -> tensor<12x4xf32>
  return %y : tensor<12x4xf32>
}
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<12x4xf32, #plan.sharding<[{"dp"}, {}]>> {plan.kind = #plan.kind<input>, plan.dims = ["batch", ""]},
                %w: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>},
                %m: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<input>, plan.dims = ["seq"]}) -> tensor<12x4xf32> attributes {plan.role = #base.role<step>} {
  // CHECK: %[[X:.*]] = plan.constrain %arg0 <[{"microbatch"}, {}]> along [#plan.axis<"microbatch">] as "microbatches 3"
  // CHECK-NOT: plan.constrain
  // CHECK: plan.call "aten.mul.Tensor"(%[[X]], %arg1)
  %y = plan.call "aten.mul.Tensor"(%x, %w) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<12x4xf32, #plan.sharding<[{"dp"}, {}]>>, tensor<4xf32, #plan.sharding<[{}]>>) -> tensor<12x4xf32>
  // CHECK: plan.call "aten.add.Tensor"(%{{.*}}, %arg2)
  %z = plan.call "aten.add.Tensor"(%y, %m) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<12x4xf32>, tensor<4xf32, #plan.sharding<[{}]>>) -> tensor<12x4xf32>
  return %z : tensor<12x4xf32>
}

// -----

// Where a weight is sharded over an axis of the batch, microbatches are runs of the batch, so that ranks can gather
// each. Replicated inputs are split the same way.
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
plan.microbatches 3
// CHECK-LABEL: func.func @step
// CHECK-SAME: %arg0: tensor<12x4xf32, #plan.sharding<[{"dp", parts [4, 4, 4]}, {}]>>
// CHECK-SAME: %arg2: tensor<12xf32, #plan.sharding<[{}]>>
// CHECK-DAG: plan.constrain %arg0 <[{"microbatch", "dp"}, {}]> along [#plan.axis<"microbatch">, #plan.axis<"dp">] as "microbatches 3"
// CHECK-DAG: plan.constrain %arg2 <[{"microbatch"}]> along [#plan.axis<"microbatch">] as "microbatches 3"
func.func @step(%x: tensor<12x4xf32, #plan.sharding<[{"dp"}, {}]>> {plan.kind = #plan.kind<input>, plan.dims = ["batch", ""]},
                %w: tensor<4xf32, #plan.sharding<[{"dp"}]>> {plan.kind = #plan.kind<parameter>},
                %y: tensor<12xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<input>, plan.dims = ["batch"]}) -> tensor<12x4xf32> attributes {plan.role = #base.role<step>} {
  %0 = plan.call "aten.mul.Tensor"(%x, %w) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<12x4xf32, #plan.sharding<[{"dp"}, {}]>>, tensor<4xf32, #plan.sharding<[{"dp"}]>>) -> tensor<12x4xf32>
  %1 = plan.call "aten.unsqueeze.default"(%y) {self = #base.operand<0>, dim = 1} : (tensor<12xf32, #plan.sharding<[{}]>>) -> tensor<12x1xf32>
  %2 = plan.call "aten.mul.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<12x4xf32>, tensor<12x1xf32>) -> tensor<12x4xf32>
  return %2 : tensor<12x4xf32>
}

// -----

// With a mean of their own: inputs have the samples of all microbatches, each split as one is; the backward pass starts
// with 1/3, and the results of the step are accumulated. A gradient is accumulated before it is laid out.
// CHECK: plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 3>]
plan.mesh [#base.mesh_axis<"dp" = 2>]
// CHECK-NOT: plan.microbatches
plan.microbatches 3 mean
!batch = tensor<4x5xf32, #plan.sharding<[{"dp"}, {}]>>
!weight = tensor<5xf32, #plan.sharding<[{}]>>
// CHECK-LABEL: func.func @step
// CHECK-SAME: %arg0: tensor<12x5xf32, #plan.sharding<[{"dp", parts [4, 4, 4]}, {}]>>
// CHECK-SAME: %arg3: tensor<12xf32, #plan.sharding<[{}]>>
// CHECK-DAG: %[[X:.*]] = plan.enter_microbatch %arg0 dim 0 of 3 : {{.*}} -> tensor<4x5xf32>
// CHECK-DAG: %[[T:.*]] = plan.enter_microbatch %arg3 dim 0 of 3 : {{.*}} -> tensor<4xf32>
// CHECK: plan.call "aten.mul.Tensor"(%[[X]], %arg1)
// CHECK: plan.call "aten.sub.Tensor"(%{{.*}}, %[[T]])
// CHECK: %[[L:.*]] = plan.call "aten.sum.default"
// CHECK: plan.call "aten.full.default"() {{.*}}fill_value = 0.33333333333333331 : f64
// CHECK: %[[G:.*]] = plan.call "aten.sum.dim_IntList"
// CHECK: %[[S:.*]] = plan.leave_microbatch %[[G]] as "microbatches 3 mean" : tensor<5xf32> -> tensor<5xf32>
// CHECK: %[[M:.*]] = plan.match %[[S]] to %arg1
// CHECK: %[[A:.*]] = plan.leave_microbatch %[[L]] as "microbatches 3 mean" : tensor<f32> -> tensor<f32>
// CHECK: %[[D:.*]] = plan.call "aten.mul.Scalar"(%[[A]]) {other = 0.33333333333333331 : f64, self = #base.operand<0>} backward
// CHECK: return %[[D]], %[[M]]
func.func @step(%x: !batch {plan.kind = #plan.kind<input>, plan.dims = ["batch", ""]}, %w: !weight {plan.kind = #plan.kind<parameter>, plan.names = ["w"]},
                %m: tensor<5xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<input>, plan.dims = ["seq"]},
                %t: tensor<4xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<input>, plan.dims = ["batch"]})
    -> (tensor<f32> {plan.name = "loss", plan.loss}, tensor<5xf32> {plan.name = "gradients.w", plan.gradient_of = #plan.argument<parameter "w">}) attributes {plan.role = #base.role<step>} {
  %y = plan.call "aten.mul.Tensor"(%x, %w) {self = #base.operand<0>, other = #base.operand<1>} : (!batch, !weight) -> tensor<4x5xf32>
  %r = plan.call "aten.sum.dim_IntList"(%y) {self = #base.operand<0>, dim = [1]} : (tensor<4x5xf32>) -> tensor<4xf32>
  %z = plan.call "aten.sub.Tensor"(%r, %t) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32, #plan.sharding<[{}]>>) -> tensor<4xf32>
  %loss = plan.call "aten.sum.default"(%z) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  %s = plan.call "aten.full.default"() {size = [], fill_value = 1.0, dtype = f32} backward {plan.loss_gradient} : () -> tensor<f32>
  %e = plan.call "aten.mul.Tensor"(%x, %s) {self = #base.operand<0>, other = #base.operand<1>} backward : (!batch, tensor<f32>) -> tensor<4x5xf32>
  %g = plan.call "aten.sum.dim_IntList"(%e) {self = #base.operand<0>, dim = [0]} backward : (tensor<4x5xf32>) -> tensor<5xf32>
  %k = plan.match %g to %w : tensor<5xf32>, !weight -> tensor<5xf32>
  return %loss, %k : tensor<f32>, tensor<5xf32>
}

// -----

// Random numbers of a microbatch follow those of earlier microbatches: 20 for a dropout, 4 x 2 x 3 x 7 for attention.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.microbatches 2 mean
!x = tensor<4x5xf32, #plan.sharding<[{}, {}]>>
!q = tensor<4x2x3x8xf32, #plan.sharding<[{}, {}, {}, {}]>>
!k = tensor<4x2x7x8xf32, #plan.sharding<[{}, {}, {}, {}]>>
!number = tensor<f64, #plan.sharding<[]>>
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[M:[a-z0-9]*]]: tensor<f64, #plan.sharding<[]>> {plan.kind = #plan.kind<setting>, plan.names = ["microbatch"], plan.value = 0.000000e+00 : f64})
// CHECK: plan.call "meshplan.dropout"(%{{.*}}, %{{.*}}, %{{.*}}, %[[M]]) {drawn = 20 : i64, {{.*}}microbatch = #base.operand<3>
// CHECK: plan.call "meshplan.attention"(%{{.*}}, %[[M]]) {{.*}}drawn = 168 : i64, {{.*}}microbatch = #base.operand<5>
// CHECK-NOT: drawn
func.func @step(%x: !x {plan.kind = #plan.kind<parameter>}, %q: !q {plan.kind = #plan.kind<parameter>}, %k: !k {plan.kind = #plan.kind<parameter>},
                %seed: !number {plan.kind = #plan.kind<setting>, plan.names = ["seed"]}, %s: !number {plan.kind = #plan.kind<setting>, plan.names = ["step"]})
    -> (tensor<f32> {plan.name = "loss", plan.loss}) attributes {plan.role = #base.role<step>} {
  %0 = plan.call "meshplan.dropout"(%x, %seed, %s) {input = #base.operand<0>, seed = #base.operand<1>, step = #base.operand<2>, p = 0.5, number = 0}
      : (!x, !number, !number) -> tensor<4x5xf32>
  %1:2 = plan.call "meshplan.attention"(%q, %k, %k, %seed, %s) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>,
      seed = #base.operand<3>, step = #base.operand<4>, dropout = 0.5, scale = 1.0, number = 1} : (!q, !k, !k, !number, !number) -> (tensor<4x2x3x8xf32>, tensor<4x2x3xf32>)
  %2:2 = plan.call "meshplan.attention"(%q, %k, %k) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 1.0}
      : (!q, !k, !k) -> (tensor<4x2x3x8xf32>, tensor<4x2x3xf32>)
  %3 = plan.call "aten.sum.default"(%1#0) {self = #base.operand<0>} : (tensor<4x2x3x8xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}
