// A data statement over axes on which nothing is communicated.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-group-collectives -o %t 2>&1 | FileCheck %s

// The gradient is reduced over dp, but not over tp. There is no warning for an axis of size 1, or for sharded states.
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>, #base.mesh_axis<"pp" = 1>]
// CHECK: warning: 'data tp' has no effect: no gradient of its parameters is reduced over these axes
// CHECK: note: help: name the axes over which samples are split, or remove the block
plan.data replicated over [#plan.axis<"tp">] bucket 1024 prefetch 0 as "data tp" {overlap_gradients}
// CHECK-NOT: warning:
plan.data replicated over [#plan.axis<"dp">] bucket 1024 prefetch 0 as "data dp" {overlap_gradients}
plan.data replicated over [#plan.axis<"pp">] bucket 1024 prefetch 0 as "data pp" {overlap_gradients}
plan.data optimizer over [#plan.axis<"dp">] prefetch 0 as "data dp" {overlap_gradients}
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
func.func @step(%a: !whole {plan.kind = #plan.kind<parameter>, plan.data = 0}, %b: !whole {plan.kind = #plan.kind<parameter>, plan.data = 1},
                %c: !whole {plan.kind = #plan.kind<parameter>, plan.data = 2}, %g: !addend {plan.kind = #plan.kind<input>}) -> (!whole, !whole, !whole) attributes {plan.role = #base.role<step>} {
  %ra = plan.all_reduce %g [#plan.axis<"dp">] : !addend -> !whole
  %na = plan.call "meshplan.sgd"(%a, %ra) {parameter = #base.operand<0>, gradient = #base.operand<1>} backward : (!whole, !whole) -> !whole
  %rb = plan.all_reduce %g [#plan.axis<"dp">] : !addend -> !whole
  %nb = plan.call "meshplan.sgd"(%b, %rb) {parameter = #base.operand<0>, gradient = #base.operand<1>} backward : (!whole, !whole) -> !whole
  %rc = plan.all_reduce %g [#plan.axis<"dp">] : !addend -> !whole
  %nc = plan.call "meshplan.sgd"(%c, %rc) {parameter = #base.operand<0>, gradient = #base.operand<1>} backward : (!whole, !whole) -> !whole
  return %na, %nb, %nc : !whole, !whole, !whole
}

// -----

// A program that trains nothing has no gradients.
plan.mesh [#base.mesh_axis<"dp" = 2>]
// CHECK-NOT: warning:
plan.data replicated over [#plan.axis<"dp">] bucket 1024 prefetch 0 as "data dp" {overlap_gradients}
func.func @forward(%a: tensor<8xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.data = 0}) -> tensor<8xf32, #plan.sharding<[{}]>> {
  return %a : tensor<8xf32, #plan.sharding<[{}]>>
}
