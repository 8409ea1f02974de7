// Operators without a record read whole values: sharded ones are gathered, with a warning, and addends are reduced.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-styles --plan-propagate-shardings 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID < %t
// RUN: not %meshplan-opt %s --split-input-file --plan-place-styles --plan-propagate-shardings=strict=true 2> %t.strict
// RUN: FileCheck %s --check-prefix=STRICT < %t.strict

// Their results are whole, and a rank slices them where needed. The derivative from the runtime causes no further
// warning.
// CHECK-LABEL: func.func @gathered
// CHECK: %[[WHOLE:.*]] = plan.reshard %arg0 {{.*}} -> tensor<6x8xf32, #plan.sharding<[{}, {}]>>
// CHECK: plan.call "custom.scan.default"(%[[WHOLE]], %arg1) {{.*}} -> tensor<6x8xf32, #plan.sharding<[{}, {}]>>
// CHECK-NEXT: plan.call "vjp.custom.scan.default"(%[[WHOLE]], %arg1, %[[WHOLE]])
// SAID: warning: operator 'custom.scan.default' in 'mixer' has no record and runs on whole tensors: its operand 0 is gathered from [6 over dp, 8]; 192 bytes per rank
// SAID: help: try 'ep.run_decompositions({})' before torch.export.save, write it with other operators, or add a record (docs/adding-an-op.md), or ask for it with 'mixer: input [_, _]'
// STRICT: error: operator 'custom.scan.default' in 'mixer' has no record and runs on whole tensors: its operand 0 is gathered from [6 over dp, 8]; 192 bytes per rank
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @gathered(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}, {}]>},
    %w: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.sharding = #plan.sharding<[{}]>}) -> (tensor<6x8xf32>, tensor<8xf32>) {
  %0 = plan.call "custom.scan.default"(%x, %w) {self = #base.operand<0>, other = #base.operand<1>} in "mixer" : (tensor<6x8xf32>, tensor<8xf32>) -> tensor<6x8xf32>
  %1 = plan.call "vjp.custom.scan.default"(%x, %w, %x) {self = #base.operand<0>, other = #base.operand<1>, gradients = [#base.operand<2>], of = "other"} in "mixer" backward
      : (tensor<6x8xf32>, tensor<8xf32>, tensor<6x8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<6x8xf32>, tensor<8xf32>
}

// -----

// A decomposed archive cannot be decomposed again.
// SAID: help: write it with other operators, or add a record (docs/adding-an-op.md), or ask for it with 'mixer: input [_]'
// SAID: help: try 'ep.run_decompositions({})' before torch.export.save, write it with other operators, or add a record (docs/adding-an-op.md), or ask for it with 'mixer: input [_]'
module attributes {plan.is_decomposed} {
  plan.mesh [#base.mesh_axis<"dp" = 2>]
  func.func @decomposed(
      %x: tensor<6xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}]>}) -> tensor<6xf32> {
    %0 = plan.call "custom.scan.default"(%x) {self = #base.operand<0>} in "mixer" : (tensor<6xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}

// -----

module {
  plan.mesh [#base.mesh_axis<"dp" = 2>]
  func.func @stopped(
      %x: tensor<6xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}]>}) -> tensor<6xf32> {
    %0 = plan.call "custom.scan.default"(%x) {self = #base.operand<0>} in "mixer" : (tensor<6xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}

// -----

// CHECK-LABEL: func.func @added
// CHECK: %[[SUM:.*]] = plan.reshard {{.*}} -> tensor<4xf32, #plan.sharding<[{}]>>
// CHECK: plan.call "custom.scan.default"(%[[SUM]])
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @added(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {"tp"}]>}) -> tensor<4xf32> {
  %0 = plan.call "aten.sum.dim_IntList"(%x) {self = #base.operand<0>, dim = [1]} in "total" : (tensor<4x8xf32>) -> tensor<4xf32>
  %1 = plan.call "custom.scan.default"(%0) {self = #base.operand<0>} in "mixer" : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
