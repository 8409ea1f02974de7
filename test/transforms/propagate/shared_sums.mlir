// Gradients of keys and values that ranks share: each rank has the addends of its own query heads.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-styles --plan-differentiate --plan-propagate-shardings | FileCheck %s

// Four ranks share two key heads. A later call sums the ranks' gradients per head, along the axes that shard them then.
// CHECK-LABEL: func.func @step(
// CHECK: %[[G:.*]]:3 = plan.call "meshplan.attention_backward"{{.*}} {{.*}}per_head = true{{.*}} -> ({{.*}}, tensor<2x4x6x4xf32, #plan.sharding<[{}, {"tp"}, {}, {}]>>, tensor<2x4x6x4xf32, #plan.sharding<[{}, {"tp"}, {}, {}]>>)
// CHECK-NEXT: %[[K:.*]] = plan.call "meshplan.sum_shared_heads"(%[[G]]#1) {groups = 2 : i64, heads_per_group = 2 : i64, {{.*}} in "attn" backward {{.*}} -> tensor<2x2x6x4xf32, #plan.sharding<[{}, {}, {}, {}], partial = sum {"tp"}>>
// CHECK-NEXT: %[[V:.*]] = plan.call "meshplan.sum_shared_heads"(%[[G]]#2){{.*}} partial = sum {"tp"}>>
// CHECK-NEXT: %[[S:.*]] = plan.call "aten.add.Tensor"(%[[K]], %[[V]])
// CHECK: %[[DK:.*]] = plan.reshard %{{.*}} because "colwise tp" : tensor<2x6x8xf32, #plan.sharding<[{}, {}, {}], partial = sum {"tp"}>> -> tensor<2x6x8xf32, #plan.sharding<[{}, {}, {"tp", unit 4, repeat 2}]>>
// The sum over k's features reads each of them from one rank; all ranks that hold a weight compute its gradient.
// CHECK: %[[OWN:.*]] = plan.reshard %[[DK]] {{.*}} -> tensor<2x6x8xf32, #plan.sharding<[{}, {}, {"tp", unit 4}]>>
// CHECK: plan.call "aten.matmul.default"(%[[OWN]], {{.*}} in "k" backward {{.*}} -> tensor<2x6x8xf32, #plan.sharding<[{}, {}, {}], partial = sum {"tp"}>>
// CHECK: plan.call "meshplan.weight_gradient"(%[[DK]], {{.*}} in "k" backward {{.*}} -> tensor<8x8xf32, #plan.sharding<[{"tp", unit 4, repeat 2}, {}]>>
plan.mesh [#base.mesh_axis<"tp" = 4>]
plan.loss 0
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "k" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<2x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %e: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["embed.weight"], plan.trainable = true},
    %wq: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"], plan.trainable = true},
    %wk: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["k.weight"], plan.trainable = true})
    -> (tensor<f32> {plan.name = "0"}) {
  %h = plan.call "aten.mul.Tensor"(%x, %e) {self = #base.operand<0>, other = #base.operand<1>} in "embed"
      : (tensor<2x6x8xf32>, tensor<8xf32>) -> tensor<2x6x8xf32>
  %q0 = plan.call "aten.linear.default"(%h, %wq) {input = #base.operand<0>, weight = #base.operand<1>} in "q"
      : (tensor<2x6x8xf32>, tensor<16x8xf32>) -> tensor<2x6x16xf32>
  %q1 = plan.call "aten.view.default"(%q0) {self = #base.operand<0>, size = [2, 6, 4, 4]} in "attn"
      : (tensor<2x6x16xf32>) -> tensor<2x6x4x4xf32>
  %q2 = plan.call "aten.transpose.int"(%q1) {self = #base.operand<0>, dim0 = 1, dim1 = 2} in "attn"
      : (tensor<2x6x4x4xf32>) -> tensor<2x4x6x4xf32>
  %k0 = plan.call "aten.linear.default"(%h, %wk) {input = #base.operand<0>, weight = #base.operand<1>} in "k"
      : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %k1 = plan.call "aten.view.default"(%k0) {self = #base.operand<0>, size = [2, 6, 2, 4]} in "attn"
      : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %k2 = plan.call "aten.transpose.int"(%k1) {self = #base.operand<0>, dim0 = 1, dim1 = 2} in "attn"
      : (tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
  %out:2 = plan.call "meshplan.attention"(%q2, %k2, %k2)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>} in "attn"
      : (tensor<2x4x6x4xf32>, tensor<2x2x6x4xf32>, tensor<2x2x6x4xf32>) -> (tensor<2x4x6x4xf32>, tensor<2x4x6xf32>)
  %loss = plan.call "aten.sum.default"(%out#0) {self = #base.operand<0>} : (tensor<2x4x6x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Where each rank has its own key heads, the gradients are not kept per query head.
// CHECK-LABEL: func.func @step(
// CHECK: plan.call "meshplan.attention_backward"
// CHECK-SAME: -> ({{.*}}, tensor<2x2x6x4xf32, #plan.sharding<[{}, {"tp"}, {}, {}]>>, tensor<2x2x6x4xf32, #plan.sharding<[{}, {"tp"}, {}, {}]>>)
// CHECK-NOT: meshplan.sum_shared_heads
// CHECK: plan.call "meshplan.weight_gradient"{{.*}} -> tensor<8x8xf32, #plan.sharding<[{"tp"}, {}]>>
// CHECK-NOT: meshplan.sum_shared_heads
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "k" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @forward(
    %x: tensor<2x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %wq: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"], plan.trainable = true},
    %wk: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["k.weight"], plan.trainable = true})
    -> (tensor<f32> {plan.name = "0"}) {
  %q0 = plan.call "aten.linear.default"(%x, %wq) {input = #base.operand<0>, weight = #base.operand<1>} in "q"
      : (tensor<2x6x8xf32>, tensor<16x8xf32>) -> tensor<2x6x16xf32>
  %q1 = plan.call "aten.view.default"(%q0) {self = #base.operand<0>, size = [2, 6, 4, 4]} in "attn"
      : (tensor<2x6x16xf32>) -> tensor<2x6x4x4xf32>
  %q2 = plan.call "aten.transpose.int"(%q1) {self = #base.operand<0>, dim0 = 1, dim1 = 2} in "attn"
      : (tensor<2x6x4x4xf32>) -> tensor<2x4x6x4xf32>
  %k0 = plan.call "aten.linear.default"(%x, %wk) {input = #base.operand<0>, weight = #base.operand<1>} in "k"
      : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %k1 = plan.call "aten.view.default"(%k0) {self = #base.operand<0>, size = [2, 6, 2, 4]} in "attn"
      : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %k2 = plan.call "aten.transpose.int"(%k1) {self = #base.operand<0>, dim0 = 1, dim1 = 2} in "attn"
      : (tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
  %out:2 = plan.call "meshplan.attention"(%q2, %k2, %k2)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>} in "attn"
      : (tensor<2x4x6x4xf32>, tensor<2x2x6x4xf32>, tensor<2x2x6x4xf32>) -> (tensor<2x4x6x4xf32>, tensor<2x4x6xf32>)
  %loss = plan.call "aten.sum.default"(%out#0) {self = #base.operand<0>} : (tensor<2x4x6x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// The only key head is on every rank. Each has addends of its own query heads, which no layout of one head expresses.
// CHECK-LABEL: func.func @step(
// CHECK: %[[G:.*]]:3 = plan.call "meshplan.attention_backward"{{.*}} {{.*}}per_head = true{{.*}} -> ({{.*}}, tensor<2x4x6x4xf32, #plan.sharding<[{}, {"tp"}, {}, {}]>>, tensor<2x4x6x4xf32, #plan.sharding<[{}, {"tp"}, {}, {}]>>)
// CHECK-NEXT: plan.call "meshplan.sum_shared_heads"(%[[G]]#1) {groups = 1 : i64, heads_per_group = 4 : i64, {{.*}} -> tensor<2x1x6x4xf32, #plan.sharding<[{}, {}, {}, {}], partial = sum {"tp"}>>
// CHECK-NEXT: plan.call "meshplan.sum_shared_heads"(%[[G]]#2)
// CHECK: %[[DK:.*]] = plan.reshard %{{.*}} because "colwise tp" : tensor<2x6x4xf32, #plan.sharding<[{}, {}, {}], partial = sum {"tp"}>> -> tensor<2x6x4xf32, #plan.sharding<[{}, {}, {}]>>
// CHECK: plan.call "meshplan.weight_gradient"(%[[DK]], {{.*}} -> tensor<4x8xf32, #plan.sharding<[{}, {}]>>
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "k" replicate [] as "replicate"
func.func @forward(
    %x: tensor<2x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %wq: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"], plan.trainable = true},
    %wk: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["k.weight"], plan.trainable = true})
    -> (tensor<f32> {plan.name = "0"}) {
  %q0 = plan.call "aten.linear.default"(%x, %wq) {input = #base.operand<0>, weight = #base.operand<1>} in "q"
      : (tensor<2x6x8xf32>, tensor<16x8xf32>) -> tensor<2x6x16xf32>
  %q1 = plan.call "aten.view.default"(%q0) {self = #base.operand<0>, size = [2, 6, 4, 4]} in "attn"
      : (tensor<2x6x16xf32>) -> tensor<2x6x4x4xf32>
  %q2 = plan.call "aten.transpose.int"(%q1) {self = #base.operand<0>, dim0 = 1, dim1 = 2} in "attn"
      : (tensor<2x6x4x4xf32>) -> tensor<2x4x6x4xf32>
  %k0 = plan.call "aten.linear.default"(%x, %wk) {input = #base.operand<0>, weight = #base.operand<1>} in "k"
      : (tensor<2x6x8xf32>, tensor<4x8xf32>) -> tensor<2x6x4xf32>
  %k1 = plan.call "aten.view.default"(%k0) {self = #base.operand<0>, size = [2, 6, 1, 4]} in "attn"
      : (tensor<2x6x4xf32>) -> tensor<2x6x1x4xf32>
  %k2 = plan.call "aten.transpose.int"(%k1) {self = #base.operand<0>, dim0 = 1, dim1 = 2} in "attn"
      : (tensor<2x6x1x4xf32>) -> tensor<2x1x6x4xf32>
  %out:2 = plan.call "meshplan.attention"(%q2, %k2, %k2)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>} in "attn"
      : (tensor<2x4x6x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>) -> (tensor<2x4x6x4xf32>, tensor<2x4x6xf32>)
  %loss = plan.call "aten.sum.default"(%out#0) {self = #base.operand<0>} : (tensor<2x4x6x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
