// RUN: meshplan-opt %s --split-input-file --schedule | FileCheck %s

// What is of one bucket and stands together is one collective, packed and unpacked: 32 bytes of runs go out of 64 that
// come in, which lie beside the two whole tensors until these are put together.
plan.mesh [#plan.mesh_axis<"dp" = 2>]
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
// Runs of 16 bytes and an input of 32 are there all the time.
// CHECK: sched.program @gathers memory <parameters = 32, constants = 0, inputs = 32, peak = 192, least = 192>
// CHECK-NEXT: %[[A:.*]] = sched.parameter ["a"] : <[8], f32, flat = {0:(1)2}>
// CHECK-NEXT: %[[B:.*]] = sched.parameter ["b"] : <[8], f32, flat = {0:(1)2}>
func.func @gathers(%a: !flat {plan.kind = "parameter", plan.names = ["a"]}, %b: !flat {plan.kind = "parameter", plan.names = ["b"]},
                   %x: !whole {plan.kind = "input", plan.names = ["x"]}) -> (!whole {plan.name = "y"}) {
  // CHECK: %[[T:.*]] = sched.start all_gather %[[A]], %[[B]] over @dp on @communication sequence 0
  // CHECK-NEXT: %[[W:.*]]:2 = sched.wait %[[T]]
  // CHECK-NEXT: sched.compute "aten.mul.Tensor"(%{{.*}}, %[[W]]#0)
  // CHECK-NEXT: sched.free %[[W]]#0
  // CHECK-NEXT: sched.compute "aten.mul.Tensor"(%{{.*}}, %[[W]]#1)
  // CHECK-NEXT: sched.free
  %0 = plan.all_gather %a [#plan.axis<"dp">] bucket 7 : !flat -> !whole
  %1 = plan.all_gather %b [#plan.axis<"dp">] bucket 7 : !flat -> !whole
  %2 = plan.call "aten.mul.Tensor"(%x, %0) {self = #plan.operand<0>, other = #plan.operand<1>} : (!whole, !whole) -> !whole
  %3 = plan.call "aten.mul.Tensor"(%2, %1) {self = #plan.operand<0>, other = #plan.operand<1>} : (!whole, !whole) -> !whole
  return %3 : !whole
}

// -----

// One flat tensor is its own buffer: 16 bytes go out, and the whole one is where they come in.
plan.mesh [#plan.mesh_axis<"dp" = 2>]
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
// CHECK: sched.program @alone memory <parameters = 16, constants = 0, inputs = 0, peak = 48, least = 48>
func.func @alone(%a: !flat {plan.kind = "parameter", plan.names = ["a"]}) -> (!whole {plan.name = "y"}) {
  %0 = plan.all_gather %a [#plan.axis<"dp">] bucket 0 : !flat -> !whole
  return %0 : !whole
}

// -----

// What is blocking is waited for where it starts; other buckets, and those of other axes, are apart. A slice that makes
// a tensor flat is a copy.
plan.mesh [#plan.mesh_axis<"dp" = 2>, #plan.mesh_axis<"tp" = 2>]
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!dp = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
!tp = tensor<8xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
// CHECK-LABEL: sched.program @blocking
func.func @blocking(%a: !dp {plan.kind = "input", plan.names = ["a"]}, %b: !dp {plan.kind = "input", plan.names = ["b"]},
                    %c: !dp {plan.kind = "input", plan.names = ["c"]}, %d: !tp {plan.kind = "input", plan.names = ["d"]},
                    %w: !whole {plan.kind = "input", plan.names = ["w"]})
    -> (!whole {plan.name = "a"}, !whole {plan.name = "b"}, !whole {plan.name = "c"}, !whole {plan.name = "d"}, !flat {plan.name = "f"}) {
  // CHECK: %[[T0:.*]] = sched.start all_reduce %{{.*}}, %{{.*}} over @dp on @communication sequence 0
  // CHECK-NEXT: %{{.*}}:2 = sched.wait %[[T0]]
  // CHECK-NEXT: %[[T1:.*]] = sched.start all_reduce %{{[0-9]+}} over @dp on @communication sequence 1
  // CHECK-NEXT: %[[T2:.*]] = sched.start all_reduce %{{[0-9]+}} over @tp on @communication sequence 2
  // CHECK-NEXT: %[[F:.*]] = sched.slice %{{.*}} on @compute : <[8], f32> -> <[8], f32, flat = {0:(1)2}>
  // CHECK-NEXT: sched.wait %[[T1]]
  // CHECK-NEXT: sched.wait %[[T2]]
  %0 = plan.all_reduce %a [#plan.axis<"dp">] bucket 0 blocking : !dp -> !whole
  %1 = plan.all_reduce %b [#plan.axis<"dp">] bucket 0 blocking : !dp -> !whole
  %2 = plan.all_reduce %c [#plan.axis<"dp">] bucket 1 : !dp -> !whole
  %3 = plan.all_reduce %d [#plan.axis<"tp">] bucket 1 : !tp -> !whole
  %4 = plan.slice %w [#plan.axis<"dp">] : !whole -> !flat
  // CHECK: sched.output "f" %[[F]]
  return %0, %1, %2, %3, %4 : !whole, !whole, !whole, !whole, !flat
}

// -----

// A reduce-scatter of two: 64 bytes of addends are packed, runs of 32 come in, and two of 16 are made of them.
plan.mesh [#plan.mesh_axis<"dp" = 2>]
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK: sched.program @scatters memory <parameters = 0, constants = 0, inputs = 64, peak = 160, least = 160>
// CHECK: sched.start reduce_scatter %{{.*}}, %{{.*}} over @dp
func.func @scatters(%a: !addend {plan.kind = "input", plan.names = ["a"]}, %b: !addend {plan.kind = "input", plan.names = ["b"]})
    -> (!flat {plan.name = "a"}, !flat {plan.name = "b"}) {
  %0 = plan.reduce_scatter %a [#plan.axis<"dp">] bucket 0 : !addend -> !flat
  %1 = plan.reduce_scatter %b [#plan.axis<"dp">] bucket 0 : !addend -> !flat
  return %0, %1 : !flat, !flat
}
