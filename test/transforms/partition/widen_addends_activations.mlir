// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-widen-addends | FileCheck %s
// RUN: %meshplan-opt %s --split-input-file --plan-widen-addends --plan-localize-calls -o /dev/null

// A product rounds its own addends, and they are sent in that type.
// CHECK-LABEL: func.func @linear
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @linear(%x: tensor<4x8xbf16, #plan.sharding<[{}, {"tp"}]>>, %w: tensor<6x8xbf16, #plan.sharding<[{}, {"tp"}]>>)
    -> tensor<4x6xbf16, #plan.sharding<[{}, {}]>> {
  // CHECK: %[[ADDEND:.*]] = plan.call "aten.linear.default"(%arg0, %arg1) {{.*}} -> tensor<4x6xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  // CHECK-NEXT: %[[SUM:.*]] = plan.all_reduce %[[ADDEND]] [#plan.axis<"tp">] {plan.activation_sum = bf16} : {{.*}} -> tensor<4x6xbf16, #plan.sharding<[{}, {}]>>
  // CHECK-NEXT: return %[[SUM]]
  %1 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp"
      : (tensor<4x8xbf16, #plan.sharding<[{}, {"tp"}]>>, tensor<6x8xbf16, #plan.sharding<[{}, {"tp"}]>>)
      -> tensor<4x6xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  %2 = plan.all_reduce %1 [#plan.axis<"tp">] : tensor<4x6xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
      -> tensor<4x6xbf16, #plan.sharding<[{}, {}]>>
  return %2 : tensor<4x6xbf16, #plan.sharding<[{}, {}]>>
}

// -----

// A sum on the rank itself stays wide until it is sent, so that it is rounded once.
// CHECK-LABEL: func.func @two_products
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @two_products(%x: tensor<4x8xf16, #plan.sharding<[{}, {"tp"}]>>, %w: tensor<6x8xf16, #plan.sharding<[{}, {"tp"}]>>)
    -> tensor<4x6xf16, #plan.sharding<[{"tp"}, {}]>> {
  // CHECK-COUNT-2: plan.call "meshplan.linear_f32"(%arg0, %arg1)
  // CHECK-NEXT: %[[BOTH:.*]] = plan.call "aten.add.Tensor"({{.*}} -> tensor<4x6xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  // CHECK-NEXT: %[[ADDEND:.*]] = plan.call "meshplan.round_addends"(%[[BOTH]]) {dtype = f16, {{.*}} -> tensor<4x6xf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  // CHECK-NEXT: plan.reduce_scatter %[[ADDEND]] {{.*}} {plan.activation_sum = f16} : {{.*}} -> tensor<4x6xf16, #plan.sharding<[{"tp"}, {}]>>
  // CHECK-NEXT: return
  %1 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<4x8xf16, #plan.sharding<[{}, {"tp"}]>>, tensor<6x8xf16, #plan.sharding<[{}, {"tp"}]>>)
      -> tensor<4x6xf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  %2 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<4x8xf16, #plan.sharding<[{}, {"tp"}]>>, tensor<6x8xf16, #plan.sharding<[{}, {"tp"}]>>)
      -> tensor<4x6xf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  %3 = plan.call "aten.add.Tensor"(%1, %2) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<4x6xf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>, tensor<4x6xf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>)
      -> tensor<4x6xf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  %4 = plan.reduce_scatter %3 [#plan.axis<"tp">] dim 0 : tensor<4x6xf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
      -> tensor<4x6xf16, #plan.sharding<[{"tp"}, {}]>>
  return %4 : tensor<4x6xf16, #plan.sharding<[{"tp"}, {}]>>
}

// -----

// This does not apply to gradients of parameters, nor to sums that contain no product: they are float32 as usual.
// CHECK-LABEL: func.func @step
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @step(%g: tensor<4x6xbf16, #plan.sharding<[{"dp"}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["g"]}, %x: tensor<4x8xbf16, #plan.sharding<[{"dp"}, {}]>>)
    -> (tensor<6x8xbf16, #plan.sharding<[{}, {}]>> {plan.gradient_of = #plan.argument<parameter "g">}, tensor<6xbf16, #plan.sharding<[{}]>>) attributes {plan.role = #base.role<step>} {
  // CHECK: plan.call "meshplan.matmul_f32"({{.*}} -> tensor<6x8xf32, #plan.sharding<[{}, {}], partial = sum {"dp"}>>
  // CHECK-NEXT: plan.all_reduce {{.*}} [#plan.axis<"dp">] : {{.*}} -> tensor<6x8xf32, #plan.sharding<[{}, {}]>>
  // CHECK: plan.call "aten.sum.dim_IntList"({{.*}} -> tensor<6xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
  // CHECK-NEXT: plan.all_reduce {{.*}} [#plan.axis<"dp">] : {{.*}} -> tensor<6xf32, #plan.sharding<[{}]>>
  %t = plan.call "aten.t.default"(%g) {self = #base.operand<0>} : (tensor<4x6xbf16, #plan.sharding<[{"dp"}, {}]>>) -> tensor<6x4xbf16, #plan.sharding<[{}, {"dp"}]>>
  %1 = plan.call "aten.mm.default"(%t, %x) {self = #base.operand<0>, mat2 = #base.operand<1>}
      : (tensor<6x4xbf16, #plan.sharding<[{}, {"dp"}]>>, tensor<4x8xbf16, #plan.sharding<[{"dp"}, {}]>>)
      -> tensor<6x8xbf16, #plan.sharding<[{}, {}], partial = sum {"dp"}>>
  %2 = plan.all_reduce %1 [#plan.axis<"dp">] : tensor<6x8xbf16, #plan.sharding<[{}, {}], partial = sum {"dp"}>>
      -> tensor<6x8xbf16, #plan.sharding<[{}, {}]>>
  %3 = plan.call "aten.sum.dim_IntList"(%g) {self = #base.operand<0>, dim = [0]}
      : (tensor<4x6xbf16, #plan.sharding<[{"dp"}, {}]>>) -> tensor<6xbf16, #plan.sharding<[{}], partial = sum {"dp"}>>
  %4 = plan.all_reduce %3 [#plan.axis<"dp">] : tensor<6xbf16, #plan.sharding<[{}], partial = sum {"dp"}>> -> tensor<6xbf16, #plan.sharding<[{}]>>
  return %2, %4 : tensor<6x8xbf16, #plan.sharding<[{}, {}]>>, tensor<6xbf16, #plan.sharding<[{}]>>
}

// -----

// If a sum over two axes is reduced in two steps, only the last one sends rounded addends.
// CHECK-LABEL: func.func @two_steps
plan.mesh [#base.mesh_axis<"ep" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @two_steps(%x: tensor<4x8xbf16, #plan.sharding<[{}, {"ep", "tp"}]>>, %w: tensor<6x8xbf16, #plan.sharding<[{}, {"ep", "tp"}]>>)
    -> tensor<4x6xbf16, #plan.sharding<[{"ep"}, {}]>> {
  // CHECK: %[[FIRST:.*]] = plan.all_reduce {{.*}} [#plan.axis<"tp">] : {{.*}} -> tensor<4x6xf32, #plan.sharding<[{}, {}], partial = sum {"ep"}>>
  // CHECK-NEXT: %[[ADDEND:.*]] = plan.call "meshplan.round_addends"(%[[FIRST]]) {dtype = bf16
  // CHECK-NEXT: plan.reduce_scatter %[[ADDEND]] {{.*}} -> tensor<4x6xbf16, #plan.sharding<[{"ep"}, {}]>>
  %1 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<4x8xbf16, #plan.sharding<[{}, {"ep", "tp"}]>>, tensor<6x8xbf16, #plan.sharding<[{}, {"ep", "tp"}]>>)
      -> tensor<4x6xbf16, #plan.sharding<[{}, {}], partial = sum {"ep", "tp"}>>
  %2 = plan.all_reduce %1 [#plan.axis<"tp">] : tensor<4x6xbf16, #plan.sharding<[{}, {}], partial = sum {"ep", "tp"}>>
      -> tensor<4x6xbf16, #plan.sharding<[{}, {}], partial = sum {"ep"}>>
  %3 = plan.reduce_scatter %2 [#plan.axis<"ep">] dim 0 : tensor<4x6xbf16, #plan.sharding<[{}, {}], partial = sum {"ep"}>>
      -> tensor<4x6xbf16, #plan.sharding<[{"ep"}, {}]>>
  return %3 : tensor<4x6xbf16, #plan.sharding<[{"ep"}, {}]>>
}
