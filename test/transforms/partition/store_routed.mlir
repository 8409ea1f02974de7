// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-store-routed | FileCheck %s

// Values between dispatch and combine, and what is computed from them row by row, are rows; the gradient of a weight and
// the tokens are not.
// CHECK-LABEL: func.func @rows
// CHECK: "meshplan.route"{{.*}} -> (tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>, tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<counts, dims = 3, slots = 2>>>)
// CHECK: "meshplan.dispatch"{{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
// CHECK: "aten.silu.default"{{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
// CHECK: "aten.sum.dim_IntList"{{.*}} -> tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
// CHECK: "meshplan.grouped_linear_weight_gradient"{{.*}} -> tensor<8x16x16xf32, #plan.sharding<[{}, {}, {}], partial = sum {"dp"}>>
// CHECK: "meshplan.combine"{{.*}} -> tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>]
!tokens = tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>
!pairs = tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>>
!rows = tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}]>>
!gates = tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}]>>
!weight = tensor<8x16x16xf32, #plan.sharding<[{}, {}, {}], partial = sum {"dp"}>>
func.func @rows(%x: !tokens, %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (!tokens, !weight) {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (!pairs, !pairs)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (!tokens, !pairs) -> !rows
  %1 = plan.call "aten.silu.default"(%0) {self = #base.operand<0>} : (!rows) -> !rows
  %2 = plan.call "aten.sum.dim_IntList"(%1) {self = #base.operand<0>, dim = [3]} : (!rows) -> !gates
  %3 = plan.call "meshplan.grouped_linear_weight_gradient"(%1, %0, %counts) {gradient = #base.operand<0>, rows = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (!rows, !rows, !pairs) -> !weight
  %4 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 16]}
      : (!rows, !pairs) -> !tokens
  return %4, %3 : !tokens, !weight
}

// -----

// A function without a route has no rows.
// CHECK-LABEL: func.func @dense
// CHECK-NOT: routed
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @dense(%x: tensor<8x4x6xf32, #plan.sharding<[{}, {}, {}]>>) -> tensor<8x4x6xf32, #plan.sharding<[{}, {}, {}]>> {
  %0 = plan.call "aten.silu.default"(%x) {self = #base.operand<0>} : (tensor<8x4x6xf32, #plan.sharding<[{}, {}, {}]>>) -> tensor<8x4x6xf32, #plan.sharding<[{}, {}, {}]>>
  return %0 : tensor<8x4x6xf32, #plan.sharding<[{}, {}, {}]>>
}

// -----

// Rows do not move.
plan.mesh [#base.mesh_axis<"tp" = 2>]
!tokens = tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}]>>
!pairs = tensor<8x4x6xi64, #plan.sharding<[{}, {}, {}]>>
!rows = tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}]>>
func.func @moved(%x: !tokens, %i: tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>>) -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {"tp"}]>> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>>) -> (!pairs, !pairs)
  // expected-note @below {{the rows are computed here}}
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (!tokens, !pairs) -> !rows
  // expected-error @below {{rows of tokens between the experts' layers would have to move between ranks, from [8, 4, 6, 16] to [8, 4, 6, 16 over tp]: ranks do not know how many rows the others have}}
  // expected-note @below {{help: divide the experts' first weights by their output features (colwise) and their last ones by their input features (rowwise) over the same axis, or leave both whole}}
  %1 = plan.reshard %0 : !rows -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {"tp"}]>>
  return %1 : tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {"tp"}]>>
}
