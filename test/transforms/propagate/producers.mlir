// A value that depends on no input is computed sharded if its only reader needs it sharded, and so is its gradient.
// REQUIRES: meshplan-opt
// DEFINE: %{passes} = --plan-place-styles --plan-differentiate --plan-propagate-shardings
// RUN: %meshplan-opt %s --split-input-file %{passes} | FileCheck %s

// Positions: a rank computes those of its samples. In the step the backward pass reads the indices, too, so they are
// sliced from whole ones; no gradient of activations is gathered.
// CHECK-LABEL: func.func @forward(
// CHECK: %[[ONES:.*]] = plan.call "aten.ones.default"() {size = [4, 8]}{{.*}} -> tensor<4x8xi64, #plan.sharding<[{"dp"}, {}]>>
// CHECK: %[[PLACES:.*]] = plan.call "aten.cumsum.default"(%[[ONES]]){{.*}} -> tensor<4x8xi64, #plan.sharding<[{"dp"}, {}]>>
// CHECK: %[[E:.*]] = plan.call "aten.embedding.default"({{.*}}%[[PLACES]]){{.*}} -> tensor<4x8x6xf32, #plan.sharding<[{"dp"}, {}, {}]>>
// CHECK-NOT: plan.reshard
// CHECK: plan.call "aten.add.Tensor"({{.*}}, %[[E]])
// CHECK-LABEL: func.func @step(
// CHECK: %[[WHOLE:.*]] = plan.call "aten.cumsum.default"
// CHECK-NEXT: %[[PART:.*]] = plan.reshard %[[WHOLE]] {{.*}} -> tensor<4x8xi64, #plan.sharding<[{"dp"}, {}]>>
// CHECK-NEXT: plan.call "aten.embedding.default"(%{{.*}}, %[[PART]])
// CHECK-NOT: {"dp"}{{.*}} -> tensor<4x8x6xf32, #plan.sharding<[{}, {}, {}]>>
// CHECK: %[[G:.*]] = plan.call "meshplan.embedding_gradient"(%{{.*}}, %[[PART]], {{.*}} -> tensor<9x6xf32, #plan.sharding<[{}, {}], partial = sum {"dp"}>>
// CHECK: plan.reshard %[[G]]
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.loss 0
func.func @forward(
    %x: tensor<4x8x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}, {}, {}]>},
    %w: tensor<9x6xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (tensor<f32> {plan.name = "0"}) {
  %ones = plan.call "aten.ones.default"() {size = [4, 8]} : () -> tensor<4x8xi64>
  %places = plan.call "aten.cumsum.default"(%ones) {self = #base.operand<0>, dim = 1} : (tensor<4x8xi64>) -> tensor<4x8xi64>
  %e = plan.call "aten.embedding.default"(%w, %places) {weight = #base.operand<0>, indices = #base.operand<1>} : (tensor<9x6xf32>, tensor<4x8xi64>) -> tensor<4x8x6xf32>
  %0 = plan.call "aten.add.Tensor"(%x, %e) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4x8x6xf32>, tensor<4x8x6xf32>) -> tensor<4x8x6xf32>
  %1 = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (tensor<4x8x6xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// A value with other readers is computed whole, and each reader slices it; so is one that needs a slice of a parameter.
// What is created from literals alone is created for each.
// CHECK-LABEL: func.func @forward(
// CHECK: %[[A:.*]] = plan.call "aten.exp.default"({{.*}} -> tensor<4xf32, #plan.sharding<[{}]>>
// CHECK: plan.reshard %[[A]] {{.*}} -> tensor<4xf32, #plan.sharding<[{"dp"}]>>
// CHECK: %[[ONES:.*]] = plan.call "aten.ones.default"() {{.*}} -> tensor<4xf32, #plan.sharding<[{}]>>
// CHECK: %[[PART:.*]] = plan.call "aten.ones.default"() {{.*}} -> tensor<4xf32, #plan.sharding<[{"dp"}]>>
// CHECK: plan.call "aten.add.Tensor"(%{{.*}}, %[[PART]])
// CHECK: plan.call "aten.sin.default"(%[[ONES]])
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @forward(%x: tensor<4xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}]>},
                   %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]}) -> (tensor<4xf32> {plan.name = "0"}, tensor<4xf32> {plan.name = "1"}) {
  %a = plan.call "aten.exp.default"(%w) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = plan.call "aten.add.Tensor"(%x, %a) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %ones = plan.call "aten.ones.default"() {size = [4]} : () -> tensor<4xf32>
  %1 = plan.call "aten.add.Tensor"(%0, %ones) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = plan.call "aten.sin.default"(%ones) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Several readers of a part create it several times.
// CHECK-LABEL: func.func @forward(
// CHECK: %[[ONES:.*]] = plan.call "aten.ones.default"() {{.*}} -> tensor<4xf32, #plan.sharding<[{"dp"}]>>
// CHECK-NEXT: plan.call "aten.exp.default"(%[[ONES]])
// CHECK-NEXT: %[[PART:.*]] = plan.call "aten.ones.default"() {{.*}} -> tensor<4xf32, #plan.sharding<[{"dp"}]>>
// CHECK-NEXT: plan.call "aten.add.Tensor"(%{{.*}}, %[[PART]])
// CHECK-NOT: plan.reshard
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @forward(%x: tensor<4xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}]>}) -> (tensor<4xf32> {plan.name = "0"}) {
  %ones = plan.call "aten.ones.default"() {size = [4]} : () -> tensor<4xf32>
  %e = plan.call "aten.exp.default"(%ones) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = plan.call "aten.add.Tensor"(%x, %ones) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.mul.Tensor"(%0, %e) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A slice of a constant that an earlier call also needs is taken before the first reader.
// CHECK-LABEL: func.func @forward(
// CHECK: %[[TABLE:.*]] = plan.constant
// CHECK-NEXT: %[[PART:.*]] = plan.reshard %[[TABLE]]
// CHECK-NEXT: plan.call "aten.exp.default"(%[[PART]])
// CHECK-NEXT: plan.call "aten.add.Tensor"(%{{.*}}, %[[PART]])
// CHECK-NOT: plan.reshard
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @forward(%x: tensor<4xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}]>}) -> (tensor<4xf32> {plan.name = "0"}) {
  %table = plan.constant "table" dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> : tensor<4xf32>
  %e = plan.call "aten.exp.default"(%table) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = plan.call "aten.add.Tensor"(%x, %table) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.mul.Tensor"(%0, %e) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
