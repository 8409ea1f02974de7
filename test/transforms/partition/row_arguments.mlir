// Arguments of calls on rows that are routed to experts: a rank stores one dim instead of those of experts and tokens.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-localize-calls | FileCheck %s

plan.mesh [#base.mesh_axis<"dp" = 2>]
!rows = tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!half = tensor<8x4x6x8xf32, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!one = tensor<8x4x6x1xf32, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!gates = tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
!pairs = tensor<8x4x6x8x2xf32, #plan.sharding<[{}, {"dp"}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
// CHECK-LABEL: func.func @dims
func.func @dims(%rows: !rows, %gates: !gates, %bias: tensor<16xf32, #plan.sharding<[{}]>>) -> tensor<16xf32, #plan.sharding<[{}], partial = sum {"dp"}>> {
  // CHECK-NEXT: "aten.split.Tensor"{{.*}} {dim = -1 : i64
  %0:2 = plan.call "aten.split.Tensor"(%rows) {self = #base.operand<0>, split_size = 8 : i64, dim = 3 : i64} : (!rows) -> (!half, !half)
  // CHECK-NEXT: "aten.cat.default"{{.*}} {dim = -1 : i64
  %1 = plan.call "aten.cat.default"(%0#0, %0#1) {tensors = [#base.operand<0>, #base.operand<1>], dim = 3 : i64} : (!half, !half) -> !rows
  // CHECK-NEXT: "aten.sum.dim_IntList"{{.*}} {dim = [-1], keepdim = true
  %2 = plan.call "aten.sum.dim_IntList"(%1) {self = #base.operand<0>, dim = [3], keepdim = true} : (!rows) -> !one
  // CHECK-NEXT: "aten.expand.default"{{.*}} size = [-1, 16]
  %3 = plan.call "aten.expand.default"(%2) {self = #base.operand<0>, size = [8, 4, 6, 16]} : (!one) -> !rows
  // CHECK-NEXT: "aten.reshape.default"{{.*}} shape = [-1, 8, 2]
  %4 = plan.call "aten.reshape.default"(%3) {self = #base.operand<0>, shape = [8, 4, 6, 8, 2]} : (!rows) -> !pairs
  // CHECK-NEXT: "aten.unsqueeze.default"{{.*}} {dim = -1 : i64
  %5 = plan.call "aten.unsqueeze.default"(%gates) {self = #base.operand<0>, dim = 3 : i64} : (!gates) -> !one
  // CHECK-NEXT: "aten.add.Tensor"{{.*}} {alpha = 2 : i64
  %6 = plan.call "aten.add.Tensor"(%3, %bias) {self = #base.operand<0>, other = #base.operand<1>, alpha = 2 : i64} : (!rows, tensor<16xf32, #plan.sharding<[{}]>>) -> !rows
  // A sum over all rows.
  // CHECK-NEXT: "aten.sum.dim_IntList"{{.*}} {dim = [-2]
  %7 = plan.call "aten.sum.dim_IntList"(%6) {self = #base.operand<0>, dim = [0, 1, 2]} : (!rows) -> tensor<16xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
  return %7 : tensor<16xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
!rows = tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
// The rows of one sample are not those of one index.
func.func @tokens(%rows: !rows) -> tensor<8x4x16xf32, #plan.sharding<[{}, {}, {}]>> {
  // expected-error @below {{'plan.call' op 'aten.sum.dim_IntList' reads rows that are routed to experts, and needs their dims of experts and tokens}}
  %0 = plan.call "aten.sum.dim_IntList"(%rows) {self = #base.operand<0>, dim = [2]} : (!rows) -> tensor<8x4x16xf32, #plan.sharding<[{}, {}, {}]>>
  return %0 : tensor<8x4x16xf32, #plan.sharding<[{}, {}, {}]>>
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
!rows = tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
// A number for each token is aligned with another dim of the stored rows.
func.func @positions(%rows: !rows, %position: tensor<6x1xf32, #plan.sharding<[{}, {}]>>) -> !rows {
  // expected-error @below {{'plan.call' op 'aten.add.Tensor' reads rows that are routed to experts, and needs their dims of experts and tokens}}
  %0 = plan.call "aten.add.Tensor"(%rows, %position) {self = #base.operand<0>, other = #base.operand<1>} : (!rows, tensor<6x1xf32, #plan.sharding<[{}, {}]>>) -> !rows
  return %0 : !rows
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
!rows = tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
// The number of rows is not that of pairs of experts and tokens.
func.func @mean(%rows: !rows) -> tensor<16xf32, #plan.sharding<[{}]>> {
  // expected-error @below {{'plan.call' op 'aten.mean.dim' reads rows that are routed to experts, and needs their dims of experts and tokens}}
  %0 = plan.call "aten.mean.dim"(%rows) {self = #base.operand<0>, dim = [0, 1, 2]} : (!rows) -> tensor<16xf32, #plan.sharding<[{}]>>
  return %0 : tensor<16xf32, #plan.sharding<[{}]>>
}
