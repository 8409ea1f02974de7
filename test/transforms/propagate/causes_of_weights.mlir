// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-styles --plan-place-data --plan-propagate-shardings | FileCheck %s

// The sum over divided features is the doing of the module with the weight, not of the one that divided the activation,
// also if the weight is transposed first.
// CHECK: plan.call "aten.mm.default"{{.*}} in "down"
// CHECK-NEXT: plan.reshard %{{.*}} because "rowwise tp"
plan.mesh [#plan.mesh_axis<"tp" = 2>]
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "down" rowwise [#plan.axis<"tp">] as "rowwise tp"
func.func @forward(
    %x: tensor<8x8xf32> {plan.kind = "input", plan.names = ["x"]},
    %up: tensor<8x12xf32> {plan.kind = "parameter", plan.names = ["up.weight"]},
    %down: tensor<8x12xf32> {plan.kind = "parameter", plan.names = ["down.weight"]}) -> tensor<8x8xf32> {
  %0 = plan.call "aten.mm.default"(%x, %up) {self = #plan.operand<0>, mat2 = #plan.operand<1>} in "up"
      : (tensor<8x8xf32>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %1 = plan.call "aten.t.default"(%down) {self = #plan.operand<0>} in "down" : (tensor<8x12xf32>) -> tensor<12x8xf32>
  %2 = plan.call "aten.mm.default"(%0, %1) {self = #plan.operand<0>, mat2 = #plan.operand<1>} in "down"
      : (tensor<8x12xf32>, tensor<12x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// -----

// So it is where ranks of other samples have parts of the weight, which is gathered first.
// CHECK: plan.reshard %{{.*}} because "data dp"
// CHECK: plan.call "aten.mm.default"{{.*}} in "down"
// CHECK-NEXT: plan.reshard %{{.*}} because "rowwise tp"
plan.mesh [#plan.mesh_axis<"dp" = 2>, #plan.mesh_axis<"tp" = 2>]
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "down" rowwise [#plan.axis<"tp">] as "rowwise tp"
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp"
func.func @forward(
    %x: tensor<8x8xf32> {plan.kind = "input", plan.names = ["x"]},
    %up: tensor<8x12xf32> {plan.kind = "parameter", plan.names = ["up.weight"]},
    %down: tensor<12x8xf32> {plan.kind = "parameter", plan.names = ["down.weight"], plan.data = 0}) -> tensor<8x8xf32> {
  %0 = plan.call "aten.mm.default"(%x, %up) {self = #plan.operand<0>, mat2 = #plan.operand<1>} in "up"
      : (tensor<8x8xf32>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %1 = plan.call "aten.mm.default"(%0, %down) {self = #plan.operand<0>, mat2 = #plan.operand<1>} in "down"
      : (tensor<8x12xf32>, tensor<12x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
