// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-styles --plan-place-borders | FileCheck %s

// What is read outside is constrained there, and nowhere inside.
plan.mesh [#plan.mesh_axis<"tp" = 2>]
plan.border "mlp" is_input false index 0 #plan.sharding<[]> exact false along [#plan.axis<"tp">] as "output replicate"
// CHECK-LABEL: @output
// CHECK: %[[Y:.*]] = plan.call "aten.neg.default"
// CHECK: %[[INSIDE:.*]] = plan.call "aten.exp.default"(%[[Y]])
// CHECK: %[[STATED:.*]] = plan.constrain %[[INSIDE]] <[{}, {}]> along [#plan.axis<"tp">] as "output replicate"
// CHECK: plan.call "aten.abs.default"(%[[STATED]])
// CHECK-NOT: plan.border
func.func @output(%x: tensor<4x8xf32> {plan.kind = "input", plan.names = ["x"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #plan.operand<0>} in "mlp.up" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.exp.default"(%0) {self = #plan.operand<0>} in "mlp.down" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = plan.call "aten.abs.default"(%1) {self = #plan.operand<0>} in "mlp_norm" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// Inputs count in the order in which the module reads them; every use inside is constrained.
plan.mesh [#plan.mesh_axis<"tp" = 2>]
plan.border "mlp" is_input true index 1 #plan.sharding<[{}, {"tp"}]> exact false along [#plan.axis<"tp">] as "input 1 split 1 over tp"
// CHECK-LABEL: @input
// CHECK-SAME: %[[X:arg0]]
// CHECK-SAME: %[[Y:arg1]]
// CHECK: %[[FIRST:.*]] = plan.constrain %[[X]] <[{}, {"tp"}]>
// CHECK: plan.call "aten.add.Tensor"(%[[Y]], %[[FIRST]])
// CHECK: %[[SECOND:.*]] = plan.constrain %[[X]] <[{}, {"tp"}]>
// CHECK: plan.call "aten.mul.Tensor"(%{{.*}}, %[[SECOND]])
// CHECK: plan.call "aten.neg.default"(%[[X]])
func.func @input(%x: tensor<4x8xf32> {plan.kind = "input", plan.names = ["x"]},
                 %y: tensor<4x8xf32> {plan.kind = "input", plan.names = ["y"]}) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = plan.call "aten.add.Tensor"(%y, %x) {self = #plan.operand<0>, other = #plan.operand<1>} in "mlp"
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.mul.Tensor"(%0, %x) {self = #plan.operand<0>, other = #plan.operand<1>} in "mlp"
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = plan.call "aten.neg.default"(%x) {self = #plan.operand<0>} in "head" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// The border has the last word where a style speaks, too.
plan.mesh [#plan.mesh_axis<"tp" = 2>]
plan.style "norm" sequence [#plan.axis<"tp">] as "sequence tp"
plan.border "norm" is_input false index 0 #plan.sharding<[]> exact false along [#plan.axis<"tp">] as "output replicate"
// CHECK-LABEL: @behind_a_style
// CHECK: %[[Y:.*]] = plan.call "aten.neg.default"
// CHECK: %[[STYLE:.*]] = plan.constrain %[[Y]] <[{}, {"tp"}, {}]> along [#plan.axis<"tp">] as "sequence tp"
// CHECK: %[[BORDER:.*]] = plan.constrain %[[STYLE]] <[{}, {}, {}]> along [#plan.axis<"tp">] as "output replicate"
// CHECK: return %[[BORDER]]
func.func @behind_a_style(%x: tensor<4x6x8xf32> {plan.kind = "input", plan.names = ["x"]}) -> tensor<4x6x8xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #plan.operand<0>} in "norm" : (tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  return %0 : tensor<4x6x8xf32>
}

// -----

// Outputs of the root module are those of the function.
plan.mesh [#plan.mesh_axis<"dp" = 2>, #plan.mesh_axis<"tp" = 2>]
plan.border "" is_input false index 1 #plan.sharding<[{"dp"}, {"tp"}]> exact true along [#plan.axis<"dp">, #plan.axis<"tp">] as "output logits"
// CHECK-LABEL: @function
// CHECK: %[[Y:.*]] = plan.call "aten.neg.default"
// CHECK: %[[STATED:.*]] = plan.constrain %[[Y]] <[{"dp"}, {"tp"}]>
// CHECK: %[[Z:.*]] = plan.call "aten.exp.default"(%[[Y]])
// CHECK: return %[[Z]], %[[STATED]]
func.func @function(%x: tensor<4x8xf32> {plan.kind = "input", plan.names = ["x"]}) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = plan.call "aten.neg.default"(%x) {self = #plan.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.exp.default"(%0) {self = #plan.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %0 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Weights and constants are no inputs of a module, wherever they stand among the operands.
plan.mesh [#plan.mesh_axis<"tp" = 2>]
plan.border "embed" is_input true index 0 #plan.sharding<[{"tp"}]> exact true along [#plan.axis<"tp">] as "input [rows over tp]"
// CHECK-LABEL: @inputs_behind_weights
// CHECK: %[[IDS:.*]] = plan.constrain %arg1 <[{"tp"}]>
// CHECK: plan.call "aten.embedding.default"(%arg0, %[[IDS]])
func.func @inputs_behind_weights(
    %w: tensor<16x8xf32> {plan.kind = "parameter", plan.names = ["embed.weight"]},
    %ids: tensor<4xi64> {plan.kind = "input", plan.names = ["ids"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.embedding.default"(%w, %ids) {weight = #plan.operand<0>, indices = #plan.operand<1>} in "embed"
      : (tensor<16x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// An axis of one rank divides nothing.
plan.mesh [#plan.mesh_axis<"dp" = 1>, #plan.mesh_axis<"tp" = 2>]
plan.border "" is_input false index 0 #plan.sharding<[{"dp"}, {"tp"}]> exact true along [#plan.axis<"dp">, #plan.axis<"tp">] as "output y"
// CHECK-LABEL: @axis_of_one
// CHECK: plan.constrain %{{.*}} <[{}, {"tp"}]>
func.func @axis_of_one(%x: tensor<4x8xf32> {plan.kind = "input", plan.names = ["x"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #plan.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
