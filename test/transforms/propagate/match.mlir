// Which reduction a gradient needs, and why: a gradient gets the layout of its parameter.
// REQUIRES: meshplan-opt
// DEFINE: %{passes} = --plan-place-styles --plan-differentiate --plan-propagate-shardings
// RUN: %meshplan-opt %s --split-input-file %{passes} | FileCheck %s

// Each rank of dp has the addends of its samples.
// CHECK-LABEL: func.func @step(
// CHECK: %[[G:.*]] = plan.call "meshplan.weight_gradient"{{.*}} -> tensor<6x8xf32, #plan.sharding<[{}, {}], partial = sum {"dp"}>>
// CHECK: plan.reshard %[[G]] because "input x" {{.*}} -> tensor<6x8xf32, #plan.sharding<[{}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
plan.loss 0
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}, {}]>},
    %w: tensor<6x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (tensor<f32> {plan.name = "0"}) {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  %1 = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (tensor<4x6xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// A bias that is added once, after the sum of a rowwise module, has its gradient on every rank.
// CHECK-LABEL: func.func @step(
// CHECK: plan.call "aten.linear.default"{{.*}} -> tensor<4x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
// CHECK: plan.reshard
// CHECK-NOT: plan.reshard
// CHECK: plan.call "meshplan.weight_gradient"{{.*}} -> tensor<8x6xf32, #plan.sharding<[{}, {"tp"}]>>
// CHECK-NEXT: plan.call "aten.sum.dim_IntList"{{.*}} in "down" backward {{.*}} -> tensor<8xf32, #plan.sharding<[{}]>>
// CHECK-NEXT: return
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "down" rowwise [#plan.axis<"tp">] as "rowwise tp"
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %u: tensor<6x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"], plan.trainable = false},
    %w: tensor<8x6xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["down.weight"], plan.trainable = true},
    %b: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["down.bias"], plan.trainable = true}) -> (tensor<f32> {plan.name = "0"}) {
  %0 = plan.call "aten.linear.default"(%x, %u) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  %1 = plan.call "aten.linear.default"(%0, %w, %b)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "down"
      : (tensor<4x6xf32>, tensor<8x6xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = plan.call "aten.sum.default"(%1) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// The weight of a per-head norm is replicated, and each rank has the addends of its heads.
// CHECK-LABEL: func.func @step(
// CHECK: %[[G:.*]] = plan.call "meshplan.rms_norm_weight_gradient"{{.*}} -> tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
// CHECK: plan.reshard %[[G]] because "colwise tp" {{.*}} -> tensor<4xf32, #plan.sharding<[{}]>>
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"], plan.trainable = true},
    %n: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q_norm.weight"], plan.trainable = true}) -> (tensor<f32> {plan.name = "0"}) {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "q"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = [6, 2, 4]} in "attn" : (tensor<6x8xf32>) -> tensor<6x2x4xf32>
  %2 = plan.call "aten.rms_norm.default"(%1, %n) {input = #base.operand<0>, normalized_shape = [4], weight = #base.operand<1>} in "q_norm"
      : (tensor<6x2x4xf32>, tensor<4xf32>) -> tensor<6x2x4xf32>
  %3 = plan.call "aten.sum.default"(%2) {self = #base.operand<0>} : (tensor<6x2x4xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// -----

// A scalar parameter that is replicated, and by which each rank multiplies its own shard.
// CHECK-LABEL: func.func @step(
// CHECK: %[[G:.*]] = plan.call "aten.sum.dim_IntList"{{.*}} in "scale" backward {{.*}} -> tensor<f32, #plan.sharding<[], partial = sum {"tp"}>>
// CHECK: plan.reshard %[[G]] because "colwise tp" {{.*}} -> tensor<f32, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<6x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"], plan.trainable = false},
    %s: tensor<f32> {plan.kind = #plan.kind<parameter>, plan.names = ["scale.scale"], plan.trainable = true}) -> (tensor<f32> {plan.name = "0"}) {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  %1 = plan.call "aten.mul.Tensor"(%0, %s) {self = #base.operand<0>, other = #base.operand<1>} in "scale"
      : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %2 = plan.call "aten.sum.default"(%1) {self = #base.operand<0>} : (tensor<4x6xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// A tied table: both gradients are sharded like it. Their sum is reduced over dp once, because of the table's style.
// CHECK-LABEL: func.func @step(
// CHECK: %[[H:.*]] = plan.call "meshplan.weight_gradient"{{.*}} in "head" backward {{.*}} -> tensor<24x8xf32, #plan.sharding<[{"tp"}, {}], partial = sum {"dp"}>>
// CHECK: %[[E:.*]] = plan.call "meshplan.embedding_gradient"{{.*}} in "embed" backward {{.*}} -> tensor<24x8xf32, #plan.sharding<[{"tp"}, {}], partial = sum {"dp"}>>
// CHECK-NEXT: %[[S:.*]] = plan.call "aten.add.Tensor"(%[[H]], %[[E]]){{.*}} -> tensor<24x8xf32, #plan.sharding<[{"tp"}, {}], partial = sum {"dp"}>>
// CHECK-NEXT: plan.reshard %[[S]] because "rowwise tp" {{.*}} -> tensor<24x8xf32, #plan.sharding<[{"tp"}, {}]>>
// CHECK-NOT: plan.reshard {{.*}}tensor<24x8
// CHECK: return
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
plan.loss 0
plan.style "embed" rowwise [#plan.axis<"tp">] as "rowwise tp"
plan.style "head" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %ids: tensor<4x6xi64> {plan.kind = #plan.kind<input>, plan.names = ["ids"], plan.sharding = #plan.sharding<[{"dp"}, {}]>},
    %w: tensor<24x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["embed.weight", "head.weight"], plan.trainable = true})
    -> (tensor<f32> {plan.name = "0"}) {
  %0 = plan.call "aten.embedding.default"(%w, %ids) {weight = #base.operand<0>, indices = #base.operand<1>} in "embed"
      : (tensor<24x8xf32>, tensor<4x6xi64>) -> tensor<4x6x8xf32>
  %1 = plan.call "aten.linear.default"(%0, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "head"
      : (tensor<4x6x8xf32>, tensor<24x8xf32>) -> tensor<4x6x24xf32>
  %2 = plan.call "aten.exp.default"(%1) {self = #base.operand<0>} : (tensor<4x6x24xf32>) -> tensor<4x6x24xf32>
  %3 = plan.call "aten.sum.default"(%2) {self = #base.operand<0>} : (tensor<4x6x24xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// -----

// The gradient of a partial value: each addend counts fully, so the gradient is replicated. It is sharded only where
// its operand is.
// CHECK-LABEL: func.func @step(
// CHECK: %[[Y:.*]] = plan.call "aten.linear.default"{{.*}} -> tensor<4x6xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
// CHECK: plan.call "aten.matmul.default"{{.*}} in "down" backward : (tensor<4x6xf32, #plan.sharding<[{}, {}]>>, {{.*}} -> tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>
// CHECK: plan.call "meshplan.weight_gradient"{{.*}} in "down" backward : (tensor<4x6xf32, #plan.sharding<[{}, {}]>>, {{.*}} -> tensor<6x8xf32, #plan.sharding<[{}, {"tp"}]>>
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "down" rowwise [#plan.axis<"tp">] as "rowwise tp"
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %u: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"], plan.trainable = true},
    %w: tensor<6x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["down.weight"], plan.trainable = true}) -> (tensor<f32> {plan.name = "0"}) {
  %0 = plan.call "aten.linear.default"(%x, %u) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.linear.default"(%0, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "down"
      : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  %2 = plan.call "aten.exp.default"(%1) {self = #base.operand<0>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = plan.call "aten.sum.default"(%2) {self = #base.operand<0>} : (tensor<4x6xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}
