// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-place-exchanges --split-input-file | FileCheck %s

// Gates in float32 beside rows of 16 bits. What the expert computes comes back in 16 bits and is multiplied at home; its
// gradient is multiplied at home and goes to the expert in 16 bits. No gate and no gradient of one is exchanged.
!tokens = tensor<4x8x16xbf16, #plan.sharding<[{"dp"}, {}, {}]>>
!home16 = tensor<6x4x8x16xbf16, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!away16 = tensor<6x4x8x16xbf16, #plan.sharding<[{"dp"}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!home32 = tensor<6x4x8x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!away32 = tensor<6x4x8x16xf32, #plan.sharding<[{"dp"}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!home_gates = tensor<6x4x8xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!away_gates = tensor<6x4x8xf32, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!away_gate = tensor<6x4x8x1xf32, #plan.sharding<[{"dp"}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!counts = tensor<6x4x8xi64, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<counts, dims = 3, slots = 2>>>
!weight = tensor<6x16x16xbf16, #plan.sharding<[{"dp"}, {}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>]

// CHECK: func.func @gates
// CHECK-NEXT: %[[X:.*]] = plan.reshard %arg0 because "expert dp"
// CHECK-NEXT: %[[G:.*]] = plan.call "aten.unsqueeze.default"(%arg1)
// CHECK-NEXT: %[[R:.*]] = plan.call "meshplan.grouped_linear"(%[[X]], %arg3, %arg4)
// CHECK-NEXT: %[[BACK:.*]] = plan.reshard %[[R]] because "expert dp" : {{.*}}xbf16,{{.*}} -> {{.*}}xbf16,
// CHECK-NEXT: %[[M:.*]] = plan.call "aten.mul.Tensor"(%[[BACK]], %[[G]])
// CHECK-SAME: -> tensor<6x4x8x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}], routed
// CHECK-NEXT: %[[D:.*]] = plan.call "aten.mul.Tensor"(%arg2, %[[G]])
// CHECK-NEXT: %[[D16:.*]] = plan.call "aten.to.dtype"(%[[D]])
// CHECK-NEXT: %[[SENT:.*]] = plan.reshard %[[D16]] because "expert dp" : {{.*}}xbf16,{{.*}} -> {{.*}}xbf16,
// CHECK-NEXT: %[[P:.*]] = plan.call "aten.mul.Tensor"(%arg2, %[[BACK]])
// CHECK-NEXT: %[[S:.*]] = plan.call "aten.sum.dim_IntList"(%[[P]])
// CHECK-NEXT: %[[DG:.*]] = plan.call "aten.reshape.default"(%[[S]])
// CHECK-NEXT: %[[DX:.*]] = plan.call "meshplan.grouped_linear"(%[[SENT]], %arg3, %arg4)
// CHECK-NEXT: %[[DXBACK:.*]] = plan.reshard %[[DX]] because "expert dp"
// CHECK-NEXT: return %[[M]], %[[DG]], %[[DXBACK]]
func.func @gates(%x: !home16, %gates: !home_gates, %gradient: !home32, %w: !weight, %counts: !counts) -> (!home32, !home_gates, !home16) {
  %0 = plan.reshard %x because "expert dp" : !home16 -> !away16
  %1 = plan.reshard %gates because "expert dp" : !home_gates -> !away_gates
  %2 = plan.call "aten.unsqueeze.default"(%1) {dim = -1 : i64, self = #base.operand<0>} : (!away_gates) -> !away_gate
  %3 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {counts = #base.operand<2>, rows = #base.operand<0>, transposed = false, weight = #base.operand<1>} : (!away16, !weight, !counts) -> !away16
  %4 = plan.call "aten.mul.Tensor"(%3, %2) {other = #base.operand<1>, self = #base.operand<0>} : (!away16, !away_gate) -> !away32
  %5 = plan.reshard %4 because "expert dp" : !away32 -> !home32
  %6 = plan.reshard %gradient because "expert dp" : !home32 -> !away32
  %7 = plan.call "aten.mul.Tensor"(%6, %2) {other = #base.operand<1>, self = #base.operand<0>} backward : (!away32, !away_gate) -> !away32
  %8 = plan.call "aten.to.dtype"(%7) {dtype = bf16, self = #base.operand<0>} backward : (!away32) -> !away16
  %9 = plan.call "aten.mul.Tensor"(%6, %3) {other = #base.operand<1>, self = #base.operand<0>} backward : (!away32, !away16) -> !away32
  %10 = plan.call "aten.sum.dim_IntList"(%9) {dim = [3], keepdim = true, self = #base.operand<0>} backward : (!away32) -> !away_gate
  %11 = plan.call "aten.reshape.default"(%10) {self = #base.operand<0>, shape = [6, 4, 8]} backward : (!away_gate) -> !away_gates
  %12 = plan.reshard %11 because "expert dp" : !away_gates -> !home_gates
  %13 = plan.call "meshplan.grouped_linear"(%8, %w, %counts) {counts = #base.operand<2>, rows = #base.operand<0>, transposed = true, weight = #base.operand<1>} backward : (!away16, !weight, !counts) -> !away16
  %14 = plan.reshard %13 because "expert dp" : !away16 -> !home16
  return %5, %12, %14 : !home32, !home_gates, !home16
}

// -----

// What is wider before its call comes back after it, as rows that are rounded, and the gates go to the expert.
!home = tensor<6x4x8x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!away = tensor<6x4x8x16xf32, #plan.sharding<[{"dp"}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!away16 = tensor<6x4x8x16xbf16, #plan.sharding<[{"dp"}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!home16 = tensor<6x4x8x16xbf16, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!home_gate = tensor<6x4x8x1xf32, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!away_gate = tensor<6x4x8x1xf32, #plan.sharding<[{"dp"}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!counts = tensor<6x4x8xi64, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<counts, dims = 3, slots = 2>>>
!weight = tensor<6x16x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>]

// CHECK: func.func @narrow
// CHECK-NEXT: %[[X:.*]] = plan.reshard %arg0
// CHECK-NEXT: %[[G:.*]] = plan.reshard %arg1
// CHECK-NEXT: %[[R:.*]] = plan.call "meshplan.grouped_linear"(%[[X]], %arg2, %arg3)
// CHECK-NEXT: %[[M:.*]] = plan.call "aten.mul.Tensor"(%[[R]], %[[G]])
// CHECK-NEXT: %[[N:.*]] = plan.call "aten.to.dtype"(%[[M]])
// CHECK-NEXT: %[[BACK:.*]] = plan.reshard %[[N]]
// CHECK-NEXT: return %[[BACK]]
func.func @narrow(%x: !home, %gate: !home_gate, %w: !weight, %counts: !counts) -> !home16 {
  %0 = plan.reshard %x because "expert dp" : !home -> !away
  %1 = plan.reshard %gate because "expert dp" : !home_gate -> !away_gate
  %2 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {counts = #base.operand<2>, rows = #base.operand<0>, transposed = false, weight = #base.operand<1>} : (!away, !weight, !counts) -> !away
  %3 = plan.call "aten.mul.Tensor"(%2, %1) {other = #base.operand<1>, self = #base.operand<0>} : (!away, !away_gate) -> !away
  %4 = plan.call "aten.to.dtype"(%3) {dtype = bf16, self = #base.operand<0>} : (!away) -> !away16
  %5 = plan.reshard %4 because "expert dp" : !away16 -> !home16
  return %5 : !home16
}
