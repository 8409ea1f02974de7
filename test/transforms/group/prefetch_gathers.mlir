// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-prefetch-gathers | FileCheck %s

plan.mesh [#base.mesh_axis<"dp" = 2>]
// CHECK-NOT: plan.data
plan.data parameters over [#plan.axis<"dp">] prefetch 1 as "data dp" {overlap_gradients}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
// Each unit is gathered where the unit before it is first read, also in the backward pass.
// CHECK-LABEL: func.func @one(
func.func @one(%a: !flat {plan.kind = #plan.kind<parameter>, plan.data = 0, plan.unit = 0}, %b: !flat {plan.kind = #plan.kind<parameter>, plan.data = 0, plan.unit = 1},
               %c: !flat {plan.kind = #plan.kind<parameter>, plan.data = 0, plan.unit = 2}) {
  // CHECK-NEXT: %[[A:.*]] = plan.all_gather %arg0
  // CHECK-NEXT: %[[B:.*]] = plan.all_gather %arg1
  // CHECK-NEXT: plan.call "aten.neg.default"(%[[A]])
  // CHECK-NEXT: plan.call "aten.sin.default"(%[[A]])
  // CHECK-NEXT: %[[C:.*]] = plan.all_gather %arg2
  // CHECK-NEXT: plan.call "aten.neg.default"(%[[B]])
  // CHECK-NEXT: %[[B2:.*]] = plan.all_gather %arg1
  // CHECK-NEXT: plan.call "aten.neg.default"(%[[C]])
  // CHECK-NEXT: plan.call "aten.cos.default"(%[[C]])
  // CHECK-NEXT: plan.call "aten.cos.default"(%[[B2]])
  // CHECK-NEXT: return
  %0 = plan.all_gather %a [#plan.axis<"dp">] : !flat -> !whole
  %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} : (!whole) -> !whole
  %2 = plan.call "aten.sin.default"(%0) {self = #base.operand<0>} : (!whole) -> !whole
  %3 = plan.all_gather %b [#plan.axis<"dp">] : !flat -> !whole
  %4 = plan.call "aten.neg.default"(%3) {self = #base.operand<0>} : (!whole) -> !whole
  %5 = plan.all_gather %c [#plan.axis<"dp">] : !flat -> !whole
  %6 = plan.call "aten.neg.default"(%5) {self = #base.operand<0>} : (!whole) -> !whole
  %7 = plan.call "aten.cos.default"(%5) {self = #base.operand<0>} backward : (!whole) -> !whole
  %8 = plan.all_gather %b [#plan.axis<"dp">] : !flat -> !whole
  %9 = plan.call "aten.cos.default"(%8) {self = #base.operand<0>} backward : (!whole) -> !whole
  return
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data parameters over [#plan.axis<"dp">] prefetch 2 as "data dp" {overlap_gradients}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
// Two ahead; gathers of one unit stay together, in their order.
// CHECK-LABEL: func.func @two(
func.func @two(%a: !flat {plan.kind = #plan.kind<parameter>, plan.data = 0, plan.unit = 0}, %b: !flat {plan.kind = #plan.kind<parameter>, plan.data = 0, plan.unit = 1},
               %c: !flat {plan.kind = #plan.kind<parameter>, plan.data = 0, plan.unit = 2}, %d: !flat {plan.kind = #plan.kind<parameter>, plan.data = 0, plan.unit = 2}) {
  // CHECK-NEXT: %[[A:.*]] = plan.all_gather %arg0
  // CHECK-NEXT: %[[B:.*]] = plan.all_gather %arg1
  // CHECK-NEXT: %[[C:.*]] = plan.all_gather %arg2 {{.*}} bucket 0
  // CHECK-NEXT: %[[D:.*]] = plan.all_gather %arg3 {{.*}} bucket 0
  // CHECK-NEXT: plan.call "aten.neg.default"(%[[A]])
  // CHECK-NEXT: plan.call "aten.neg.default"(%[[B]])
  // CHECK-NEXT: plan.call "aten.add.Tensor"(%[[C]], %[[D]])
  %0 = plan.all_gather %a [#plan.axis<"dp">] : !flat -> !whole
  %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} : (!whole) -> !whole
  %2 = plan.all_gather %b [#plan.axis<"dp">] : !flat -> !whole
  %3 = plan.call "aten.neg.default"(%2) {self = #base.operand<0>} : (!whole) -> !whole
  %4 = plan.all_gather %c [#plan.axis<"dp">] bucket 0 : !flat -> !whole
  %5 = plan.all_gather %d [#plan.axis<"dp">] bucket 0 : !flat -> !whole
  %6 = plan.call "aten.add.Tensor"(%4, %5) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  return
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
// CHECK-NOT: plan.data
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp" {overlap_gradients}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
// Nothing is prefetched.
// CHECK-LABEL: func.func @none(
func.func @none(%a: !flat {plan.kind = #plan.kind<parameter>, plan.data = 0, plan.unit = 0}, %b: !flat {plan.kind = #plan.kind<parameter>, plan.data = 0, plan.unit = 1}) {
  // CHECK-NEXT: plan.all_gather %arg0
  // CHECK-NEXT: plan.call "aten.neg.default"
  // CHECK-NEXT: plan.all_gather %arg1
  // CHECK-NEXT: plan.call "aten.neg.default"
  %0 = plan.all_gather %a [#plan.axis<"dp">] : !flat -> !whole
  %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} : (!whole) -> !whole
  %2 = plan.all_gather %b [#plan.axis<"dp">] : !flat -> !whole
  %3 = plan.call "aten.neg.default"(%2) {self = #base.operand<0>} : (!whole) -> !whole
  return
}
