// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --schedule=solver=program | FileCheck %s --check-prefixes=CHECK,PROGRAM
// RUN: %meshplan-opt %s --split-input-file --schedule | FileCheck %s --check-prefixes=CHECK,LIST

// Collectives that may travel together. `program` fills 64 bytes in the order of the program: two gradients, and the
// third alone. Nothing runs beside them, so `list` merges them alike: it saves a latency.
plan.mesh [#base.mesh_axis<"dp" = 2>]
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK-LABEL: sched.program @limited
// CHECK: %[[GA:.*]] = sched.input "a"
// CHECK: %[[GB:.*]] = sched.input "b"
// CHECK: %[[GC:.*]] = sched.input "c"
func.func @limited(%a: !addend {plan.kind = #plan.kind<input>, plan.names = ["a"]}, %b: !addend {plan.kind = #plan.kind<input>, plan.names = ["b"]},
                   %c: !addend {plan.kind = #plan.kind<input>, plan.names = ["c"]}) -> (!whole {plan.name = "a"}, !whole {plan.name = "b"}, !whole {plan.name = "c"}) {
  // CHECK: %[[P:.*]] = sched.pack %[[GA]], %[[GB]]
  // CHECK: sched.start all_reduce %[[P]] over @dp
  // CHECK: %[[R:.*]]:2 = sched.unpack
  // CHECK: sched.output "a" %[[R]]#0
  // CHECK: sched.output "b" %[[R]]#1
  %0 = plan.all_reduce %a [#plan.axis<"dp">] {plan.mergeable = #plan.mergeable<set = 0, most = 64>} : !addend -> !whole
  %1 = plan.all_reduce %b [#plan.axis<"dp">] {plan.mergeable = #plan.mergeable<set = 0, most = 64>} : !addend -> !whole
  %2 = plan.all_reduce %c [#plan.axis<"dp">] {plan.mergeable = #plan.mergeable<set = 0, most = 64>} : !addend -> !whole
  return %0, %1, %2 : !whole, !whole, !whole
}

// -----

// Without a limit `program` merges nothing, and `list` what saves time: all three. It has as much memory as program
// order needs, which here is that of two large tensors.
plan.mesh [#base.mesh_axis<"dp" = 2>]
!large = tensor<1024xf32, #plan.sharding<[{}]>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK-LABEL: sched.program @unlimited
func.func @unlimited(%a: !addend {plan.kind = #plan.kind<input>, plan.names = ["a"]}, %b: !addend {plan.kind = #plan.kind<input>, plan.names = ["b"]},
                     %c: !addend {plan.kind = #plan.kind<input>, plan.names = ["c"]}, %x: !large {plan.kind = #plan.kind<input>, plan.names = ["x"]})
    -> (!whole {plan.name = "a"}, !whole {plan.name = "b"}, !whole {plan.name = "c"}) {
  // PROGRAM-NOT: sched.pack
  // PROGRAM-COUNT-3: sched.start all_reduce
  // LIST: %[[P:.*]] = sched.pack
  // LIST: sched.start all_reduce %[[P]] over @dp
  // LIST-NOT: sched.start
  %x1 = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} : (!large) -> !large
  %x2 = plan.call "aten.exp.default"(%x1) {self = #base.operand<0>} : (!large) -> !large
  %0 = plan.all_reduce %a [#plan.axis<"dp">] {plan.mergeable = #plan.mergeable<set = 0, most = 0>} : !addend -> !whole
  %1 = plan.all_reduce %b [#plan.axis<"dp">] {plan.mergeable = #plan.mergeable<set = 0, most = 0>} : !addend -> !whole
  %2 = plan.all_reduce %c [#plan.axis<"dp">] {plan.mergeable = #plan.mergeable<set = 0, most = 0>} : !addend -> !whole
  return %0, %1, %2 : !whole, !whole, !whole
}

// -----

// Sets are kept apart, and a sum in place, or of a tensor that is not row-major, travels alone.
plan.mesh [#base.mesh_axis<"dp" = 2>]
!whole = tensor<4x4xf32, #plan.sharding<[{}, {}]>>
!addend = tensor<4x4xf32, #plan.sharding<[{}, {}], partial = sum {"dp"}>>
// CHECK-LABEL: sched.program @apart
func.func @apart(%a: !addend {plan.kind = #plan.kind<input>, plan.names = ["a"]}, %b: !addend {plan.kind = #plan.kind<input>, plan.names = ["b"]},
                 %c: !addend {plan.kind = #plan.kind<accumulator>, plan.names = ["c"], plan.scratch}) -> (!whole {plan.name = "a"}, !whole {plan.name = "b"}, !whole {plan.name = "c"}, !whole {plan.name = "d"}) {
  // CHECK-COUNT-4: sched.start all_reduce
  %t = plan.call "aten.t.default"(%a) {self = #base.operand<0>} : (!addend) -> !addend
  %0 = plan.all_reduce %t [#plan.axis<"dp">] {plan.mergeable = #plan.mergeable<set = 0, most = 4096>} : !addend -> !whole
  %1 = plan.all_reduce %b [#plan.axis<"dp">] {plan.mergeable = #plan.mergeable<set = 0, most = 4096>} : !addend -> !whole
  %2 = plan.all_reduce %c [#plan.axis<"dp">] {plan.mergeable = #plan.mergeable<set = 0, most = 4096>} : !addend -> !whole into %c : !addend
  %3 = plan.all_reduce %a [#plan.axis<"dp">] {plan.mergeable = #plan.mergeable<set = 1, most = 4096>} : !addend -> !whole
  return %0, %1, %2, %3 : !whole, !whole, !whole, !whole
}
