// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-data --verify-diagnostics | FileCheck %s

plan.mesh [#base.mesh_axis<"pod" = 2>, #base.mesh_axis<"dp" = 2>, #base.mesh_axis<"one" = 1>, #base.mesh_axis<"tp" = 3>]
plan.data parameters over [#plan.axis<"pod">, #plan.axis<"dp">, #plan.axis<"one">] prefetch 0 as "data pod, dp, one"
plan.data gradients over [#plan.axis<"dp">] prefetch 0 as "data dp"
plan.data parameters over [#plan.axis<"one">] prefetch 0 as "data one"

// The shard that the style leaves is made flat over the axes of the statement with more than one rank; gradients and
// states of a statement that replicates parameters are handled elsewhere. The statements stay.
// CHECK-COUNT-3: plan.data
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %arg0: tensor<12x8xf32, #plan.sharding<[{"tp"}, {}], flat = {"pod", "dp"}>> {plan.data = 0 : i64}
// CHECK-SAME: %arg1: tensor<8xf32, #plan.sharding<[{}], flat = {"pod", "dp"}>> {plan.data = 0 : i64, plan.unit = 3 : i64}
// CHECK-SAME: %arg2: tensor<12x8xf32, #plan.sharding<[{"tp"}, {}]>> {plan.data = 1 : i64}
// CHECK-SAME: %arg3: tensor<12xf32, #plan.sharding<[{"tp"}]>> {plan.data = 2 : i64}
// CHECK-SAME: %arg4: tensor<4xf32, #plan.sharding<[{"dp"}]>>)
func.func @forward(%0: tensor<12x8xf32, #plan.sharding<[{"tp"}, {}]>> {plan.data = 0}, %1: tensor<8xf32, #plan.sharding<[{}]>> {plan.data = 0, plan.unit = 3},
                   %2: tensor<12x8xf32, #plan.sharding<[{"tp"}, {}]>> {plan.data = 1}, %3: tensor<12xf32, #plan.sharding<[{"tp"}]>> {plan.data = 2},
                   %4: tensor<4xf32, #plan.sharding<[{"dp"}]>>) { return }

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{'data dp' shards parameter 'w' over axis 'dp', over which its style already shards it}}
// expected-note @below {{help: give its style other axes, or write 'data dp on PATHS' with the paths of other parameters}}
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp"
// expected-note @below {{the style is here}}
func.func @forward(%0: tensor<12x8xf32, #plan.sharding<[{"dp"}, {}]>> {plan.data = 0, plan.names = ["w", "tied"]}) { return }

// -----

// States would be sharded twice, too.
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
// expected-error @below {{'data dp, tp' shards parameter 'w' over axis 'tp', over which its style already shards it}}
// expected-note @below {{help: shard over the remaining axes: 'shard ... over dp'}}
plan.data optimizer over [#plan.axis<"dp">, #plan.axis<"tp">] prefetch 0 as "data dp, tp"
// expected-note @below {{the style is here}}
func.func @forward(%0: tensor<12x8xf32, #plan.sharding<[{"tp"}, {}]>> {plan.data = 0, plan.names = ["w"]}) { return }

// -----

// A statement that replicates parameters shards nothing.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.data replicated over [#plan.axis<"tp">] prefetch 0 as "data tp"
func.func @forward(%0: tensor<12x8xf32, #plan.sharding<[{"tp"}, {}]>> {plan.data = 0, plan.names = ["w"]}) { return }

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp" {offload_parameters, offload_optimizer}
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp" {offload_optimizer}
// The parameters of the first statement are stored on the host.
// CHECK-LABEL: func.func @offloaded(
// CHECK-SAME: %arg0: tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>> {plan.data = 0 : i64, plan.host}
// CHECK-SAME: %arg1: tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>> {plan.data = 1 : i64}
// CHECK-SAME: %arg2: tensor<8xf32, #plan.sharding<[{}]>>)
func.func @offloaded(%0: tensor<8xf32, #plan.sharding<[{}]>> {plan.data = 0}, %1: tensor<8xf32, #plan.sharding<[{}]>> {plan.data = 1},
                   %2: tensor<8xf32, #plan.sharding<[{}]>>) { return }

// -----

// Of weights of experts, flat is what the experts leave: digits of the axis for the first two, nothing for the third.
plan.mesh [#base.mesh_axis<"dp" = 8>, #base.mesh_axis<"tp" = 2>]
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp"
plan.data gradients over [#plan.axis<"dp">] prefetch 0 as "data dp"
// CHECK-LABEL: func.func @experts(
// CHECK-SAME: %arg2: tensor<8x10x16xf32, #plan.sharding<[{"dp":(4)2, "tp"}, {}, {}], flat = {"dp":(1)4}>> {plan.data = 0
// CHECK-SAME: %arg3: tensor<8x10xf32, #plan.sharding<[{"dp":(2)2}, {}], flat = {"dp":(1)2, "dp":(4)2}>> {plan.data = 0
// CHECK-SAME: %arg4: tensor<8x10x10xf32, #plan.sharding<[{"dp"}, {}, {}]>> {plan.data = 0
// CHECK-SAME: %arg5: tensor<8x10xf32, #plan.sharding<[{"dp"}, {}]>> {plan.data = 1
func.func @experts(
    %x: tensor<4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %w: tensor<8x10x16xf32, #plan.sharding<[{"dp":(4)2, "tp"}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.data = 0},
    %b: tensor<8x10xf32, #plan.sharding<[{"dp":(2)2}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.data = 0},
    %v: tensor<8x10x10xf32, #plan.sharding<[{"dp"}, {}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["v"], plan.data = 0},
    %c: tensor<8x10xf32, #plan.sharding<[{"dp"}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["c"], plan.data = 1}) -> tensor<8x4x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x2xi64>) -> (tensor<8x4xi64>, tensor<8x4xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (tensor<4x16xf32>, tensor<8x4xi64>) -> tensor<8x4x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{"dp":(4)2, "tp"}, {}, {}]>>, tensor<8x4xi64>) -> tensor<8x4x10xf32>
  %2 = plan.call "meshplan.grouped_bias"(%1, %b, %counts) {rows = #base.operand<0>, bias = #base.operand<1>, counts = #base.operand<2>} in "mlp"
      : (tensor<8x4x10xf32>, tensor<8x10xf32, #plan.sharding<[{"dp":(2)2}, {}]>>, tensor<8x4xi64>) -> tensor<8x4x10xf32>
  %3 = plan.call "meshplan.grouped_linear"(%2, %v, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x10xf32>, tensor<8x10x10xf32, #plan.sharding<[{"dp"}, {}, {}]>>, tensor<8x4xi64>) -> tensor<8x4x10xf32>
  %4 = plan.call "meshplan.grouped_bias"(%3, %c, %counts) {rows = #base.operand<0>, bias = #base.operand<1>, counts = #base.operand<2>} in "mlp"
      : (tensor<8x4x10xf32>, tensor<8x10xf32, #plan.sharding<[{"dp"}, {}]>>, tensor<8x4xi64>) -> tensor<8x4x10xf32>
  return %4 : tensor<8x4x10xf32>
}

// -----

// So do features inside the experts.
// CHECK-LABEL: func.func @features
// CHECK-SAME: #plan.sharding<[{}, {"dp":(1)2}, {}], flat = {"dp":(2)4}>
plan.mesh [#base.mesh_axis<"dp" = 8>]
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp"
func.func @features(
    %x: tensor<4x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %w: tensor<8x10x16xf32, #plan.sharding<[{}, {"dp":(1)2}, {}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.data = 0}) -> tensor<8x4x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x2xi64>) -> (tensor<8x4xi64>, tensor<8x4xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (tensor<4x16xf32>, tensor<8x4xi64>) -> tensor<8x4x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x16xf32>, tensor<8x10x16xf32, #plan.sharding<[{}, {"dp":(1)2}, {}]>>, tensor<8x4xi64>) -> tensor<8x4x10xf32>
  return %1 : tensor<8x4x10xf32>
}
