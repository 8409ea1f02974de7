// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-drop-shapes --plan-localize-calls | FileCheck %s

plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]

!flat = tensor<160x8xf32, #plan.sharding<[{}, {}], flat = {"dp"}>>
!table = tensor<160x8xf32, #plan.sharding<[{}, {}]>>
!sum = tensor<160x8xf32, #plan.sharding<[{}, {}], partial = sum {"dp"}>>
!rows = tensor<160x8xf32, #plan.sharding<[{"tp"}, {}]>>
!rowSum = tensor<160x8xf32, #plan.sharding<[{"tp"}, {}], partial = sum {"dp"}>>
!gradient = tensor<4x6x8xf32, #plan.sharding<[{"dp"}, {}, {}]>>
!indices = tensor<4x6xi64, #plan.sharding<[{"dp"}, {}]>>

// The table is not gathered for its shape; a rank's number of sharded rows follows from the result.
// CHECK-LABEL: func.func @tables(
// CHECK-NOT: plan.reshard
// CHECK: plan.call "meshplan.embedding_gradient"(%arg2, %arg3) {gradient = #base.operand<0>, indices = #base.operand<1>, padding_idx = 3 : i64, rows = 160 : i64}
// CHECK: plan.call "meshplan.embedding_gradient"(%arg2, %arg3) {gradient = #base.operand<0>, indices = #base.operand<1>, offset = #base.local<0, result 0, dim 0, offset 1>, rows = #base.local<0, result 0, dim 0, extent 1>}
func.func @tables(%w: !flat, %d: !rows, %g: !gradient, %i: !indices) -> (!sum, !rowSum) {
  %0 = plan.reshard %w : !flat -> !table
  %1 = plan.call "meshplan.embedding_gradient"(%g, %i, %0) {gradient = #base.operand<0>, indices = #base.operand<1>, weight = #base.operand<2>, padding_idx = 3} backward
      : (!gradient, !indices, !table) -> !sum
  %2 = plan.call "meshplan.embedding_gradient"(%g, %i, %d) {gradient = #base.operand<0>, indices = #base.operand<1>, weight = #base.operand<2>} backward
      : (!gradient, !indices, !rows) -> !rowSum
  return %1, %2 : !sum, !rowSum
}
