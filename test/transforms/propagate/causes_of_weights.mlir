// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-styles --plan-place-data --plan-propagate-shardings | FileCheck %s

// The module with the weight causes the sum over sharded features, not the module that sharded the activation, even if
// the weight is transposed first.
// CHECK: plan.call "aten.mm.default"{{.*}} in "down"
// CHECK-NEXT: plan.reshard %{{.*}} because "rowwise tp"
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "down" rowwise [#plan.axis<"tp">] as "rowwise tp"
func.func @forward(
    %x: tensor<8x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %up: tensor<8x12xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]},
    %down: tensor<8x12xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["down.weight"]}) -> tensor<8x8xf32> {
  %0 = plan.call "aten.mm.default"(%x, %up) {self = #base.operand<0>, mat2 = #base.operand<1>} in "up"
      : (tensor<8x8xf32>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %1 = plan.call "aten.t.default"(%down) {self = #base.operand<0>} in "down" : (tensor<8x12xf32>) -> tensor<12x8xf32>
  %2 = plan.call "aten.mm.default"(%0, %1) {self = #base.operand<0>, mat2 = #base.operand<1>} in "down"
      : (tensor<8x12xf32>, tensor<12x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// -----

// This also holds if data-parallel ranks have shards of the weight, which is gathered first.
// CHECK: plan.reshard %{{.*}} because "data dp"
// CHECK: plan.call "aten.mm.default"{{.*}} in "down"
// CHECK-NEXT: plan.reshard %{{.*}} because "rowwise tp"
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "down" rowwise [#plan.axis<"tp">] as "rowwise tp"
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp"
func.func @forward(
    %x: tensor<8x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %up: tensor<8x12xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]},
    %down: tensor<12x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["down.weight"], plan.data = 0}) -> tensor<8x8xf32> {
  %0 = plan.call "aten.mm.default"(%x, %up) {self = #base.operand<0>, mat2 = #base.operand<1>} in "up"
      : (tensor<8x8xf32>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %1 = plan.call "aten.mm.default"(%0, %down) {self = #base.operand<0>, mat2 = #base.operand<1>} in "down"
      : (tensor<8x12xf32>, tensor<12x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// Updates of a parameter by data-parallel ranks are gathered because of the data statement, and not because of the
// style that shards the parameter.
// CHECK: plan.call "meshplan.sgd"
// CHECK-NEXT: plan.reshard %{{.*}} because "data dp" : {{.*}}flat = {{.*}} -> tensor<8x12xf32, #plan.sharding<[{}, {"tp"}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
plan.data optimizer over [#plan.axis<"dp">] prefetch 0 as "data dp"
func.func @step(
    %x: tensor<8x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %rate: tensor<f64> {plan.kind = #plan.kind<setting>, plan.names = ["lr"], plan.value = 0.1 : f64},
    %up: tensor<8x12xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"], plan.data = 0}) -> (tensor<8x12xf32>, tensor<8x12xf32>) attributes {plan.role = #base.role<step>} {
  %0 = plan.call "aten.mm.default"(%x, %up) {self = #base.operand<0>, mat2 = #base.operand<1>} in "up"
      : (tensor<8x8xf32>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %1 = plan.match %up to %up flat [#plan.axis<"dp">] : tensor<8x12xf32>, tensor<8x12xf32> -> tensor<8x12xf32>
  %2 = plan.call "meshplan.sgd"(%1, %1, %rate)
      {parameter = #base.operand<0>, gradient = #base.operand<1>, learning_rate = #base.operand<2>, weight_decay = 0.0 : f64}
      : (tensor<8x12xf32>, tensor<8x12xf32>, tensor<f64>) -> tensor<8x12xf32>
  %3 = plan.match %2 to %up : tensor<8x12xf32>, tensor<8x12xf32> -> tensor<8x12xf32>
  return %0, %3 : tensor<8x12xf32>, tensor<8x12xf32>
}
