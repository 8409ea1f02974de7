// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --schedule=solver=program | FileCheck %s

// Each unit is gathered where the unit before it is first read, also in the backward pass.
plan.mesh [#base.mesh_axis<"dp" = 2>]
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
// CHECK-LABEL: sched.program @one
// CHECK: %[[A:.*]] = sched.parameter ["a"]
// CHECK: %[[B:.*]] = sched.parameter ["b"]
// CHECK: %[[C:.*]] = sched.parameter ["c"]
func.func @one(%a: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["a"]}, %b: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["b"]},
               %c: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["c"]}) {
  // CHECK: sched.start all_gather %[[A]]
  // CHECK-NEXT: sched.start all_gather %[[B]]
  // CHECK: sched.compute "aten.neg.default"
  // CHECK: sched.start all_gather %[[C]]
  // CHECK: sched.compute "aten.neg.default"
  // CHECK: sched.start all_gather %[[B]]
  // CHECK: sched.compute "aten.neg.default"
  // CHECK-NOT: sched.start
  %0 = plan.all_gather %a [#plan.axis<"dp">] {plan.prefetch = #plan.prefetch<unit = 0, ahead = 1>} : !flat -> !whole
  %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} : (!whole) -> !whole
  %2 = plan.call "aten.sin.default"(%0) {self = #base.operand<0>} : (!whole) -> !whole
  %3 = plan.all_gather %b [#plan.axis<"dp">] {plan.prefetch = #plan.prefetch<unit = 1, ahead = 1>} : !flat -> !whole
  %4 = plan.call "aten.neg.default"(%3) {self = #base.operand<0>} : (!whole) -> !whole
  %5 = plan.all_gather %c [#plan.axis<"dp">] {plan.prefetch = #plan.prefetch<unit = 2, ahead = 1>} : !flat -> !whole
  %6 = plan.call "aten.neg.default"(%5) {self = #base.operand<0>} : (!whole) -> !whole
  %7 = plan.call "aten.cos.default"(%5) {self = #base.operand<0>} backward : (!whole) -> !whole
  %8 = plan.all_gather %b [#plan.axis<"dp">] {plan.prefetch = #plan.prefetch<unit = 3, ahead = 1>} : !flat -> !whole
  %9 = plan.call "aten.cos.default"(%8) {self = #base.operand<0>} backward : (!whole) -> !whole
  return
}

// -----

// Two ahead; what one collective gathers stays one.
plan.mesh [#base.mesh_axis<"dp" = 2>]
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
// CHECK-LABEL: sched.program @two
func.func @two(%a: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["a"]}, %b: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["b"]},
               %c: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["c"]}, %d: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["d"]}) {
  // CHECK: sched.start all_gather %{{[0-9]+}} over @dp sequence 0
  // CHECK-NEXT: sched.start all_gather %{{[0-9]+}} over @dp sequence 1
  // CHECK-NEXT: %[[P:.*]] = sched.pack
  // CHECK-NEXT: sched.start all_gather %[[P]] over @dp sequence 2
  // CHECK: sched.compute "aten.neg.default"
  // CHECK-NOT: sched.start
  %0 = plan.all_gather %a [#plan.axis<"dp">] {plan.prefetch = #plan.prefetch<unit = 0, ahead = 2>} : !flat -> !whole
  %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} : (!whole) -> !whole
  %2 = plan.all_gather %b [#plan.axis<"dp">] {plan.prefetch = #plan.prefetch<unit = 1, ahead = 2>} : !flat -> !whole
  %3 = plan.call "aten.neg.default"(%2) {self = #base.operand<0>} : (!whole) -> !whole
  %4 = plan.all_gather %c [#plan.axis<"dp">] bucket 0 {plan.prefetch = #plan.prefetch<unit = 2, ahead = 2>} : !flat -> !whole
  %5 = plan.all_gather %d [#plan.axis<"dp">] bucket 0 {plan.prefetch = #plan.prefetch<unit = 2, ahead = 2>} : !flat -> !whole
  %6 = plan.call "aten.add.Tensor"(%4, %5) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  return
}
