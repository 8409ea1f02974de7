// RUN: meshplan-opt %s --split-input-file --schedule | FileCheck %s

// Consecutive collectives of one bucket become one, packed and unpacked: 32 bytes of runs are sent and 64 bytes come
// in, which exist beside the two whole tensors until these are unpacked.
plan.mesh [#base.mesh_axis<"dp" = 2>]
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
// Runs of 16 bytes and an input of 32 exist throughout.
// CHECK: sched.program @gathers memory <parameters = 32, constants = 0, inputs = 32, peak = 192, least = 192>
// CHECK-NEXT: %[[A:.*]] = sched.parameter ["a"] : <[8], f32, flat = {0:(1)2}>
// CHECK-NEXT: %[[B:.*]] = sched.parameter ["b"] : <[8], f32, flat = {0:(1)2}>
func.func @gathers(%a: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["a"]}, %b: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["b"]},
                   %x: !whole {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> (!whole {plan.name = "y"}) {
  // CHECK: %[[P:.*]] = sched.pack %[[A]], %[[B]]
  // CHECK-NEXT: %[[T:.*]] = sched.start all_gather %[[P]] over @dp sequence 0
  // CHECK-NEXT: %[[R:.*]] = sched.wait %[[T]]
  // CHECK-NEXT: sched.free %[[P]]
  // CHECK-NEXT: %[[W:.*]]:2 = sched.unpack %[[R]]
  // CHECK-NEXT: sched.free %[[R]]
  // CHECK-NEXT: sched.compute "aten.mul.Tensor"(%{{.*}}, %[[W]]#0)
  // CHECK-NEXT: sched.free %[[W]]#0
  // CHECK-NEXT: sched.compute "aten.mul.Tensor"(%{{.*}}, %[[W]]#1)
  // CHECK-NEXT: sched.free
  %0 = plan.all_gather %a [#plan.axis<"dp">] bucket 7 : !flat -> !whole
  %1 = plan.all_gather %b [#plan.axis<"dp">] bucket 7 : !flat -> !whole
  %2 = plan.call "aten.mul.Tensor"(%x, %0) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %3 = plan.call "aten.mul.Tensor"(%2, %1) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  return %3 : !whole
}

// -----

// One flat tensor is its own buffer: 16 bytes are sent, and the incoming bytes are the whole tensor.
plan.mesh [#base.mesh_axis<"dp" = 2>]
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
// CHECK: sched.program @alone memory <parameters = 16, constants = 0, inputs = 0, peak = 48, least = 48>
func.func @alone(%a: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["a"]}) -> (!whole {plan.name = "y"}) {
  %0 = plan.all_gather %a [#plan.axis<"dp">] bucket 0 : !flat -> !whole
  return %0 : !whole
}

// -----

// A blocking collective is waited for right after its start; other buckets, and those of other axes, are separate. A
// slice that makes a tensor flat is a copy.
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!dp = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
!tp = tensor<8xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
// CHECK-LABEL: sched.program @blocking
func.func @blocking(%a: !dp {plan.kind = #plan.kind<input>, plan.names = ["a"]}, %b: !dp {plan.kind = #plan.kind<input>, plan.names = ["b"]},
                    %c: !dp {plan.kind = #plan.kind<input>, plan.names = ["c"]}, %d: !tp {plan.kind = #plan.kind<input>, plan.names = ["d"]},
                    %w: !whole {plan.kind = #plan.kind<input>, plan.names = ["w"]})
    -> (!whole {plan.name = "a"}, !whole {plan.name = "b"}, !whole {plan.name = "c"}, !whole {plan.name = "d"}, !flat {plan.name = "f"}) {
  // CHECK: %[[T0:.*]] = sched.start all_reduce %{{.*}} over @dp sequence 0
  // CHECK-NEXT: %[[R0:.*]] = sched.wait %[[T0]]
  // CHECK-NEXT: sched.free
  // CHECK-NEXT: %{{.*}}:2 = sched.unpack %[[R0]]
  // CHECK-NEXT: sched.free %[[R0]]
  // CHECK-NEXT: %[[T1:.*]] = sched.start all_reduce %{{[0-9]+}} over @dp sequence 1
  // CHECK-NEXT: %[[T2:.*]] = sched.start all_reduce %{{[0-9]+}} over @tp sequence 2
  // CHECK-NEXT: %[[F:.*]] = sched.slice %{{.*}} : <[8], f32> -> <[8], f32, flat = {0:(1)2}>
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

// A reduce-scatter of two: 64 bytes of addends are packed, 32 bytes of runs come in, and are unpacked into two of 16.
plan.mesh [#base.mesh_axis<"dp" = 2>]
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK: sched.program @scatters memory <parameters = 0, constants = 0, inputs = 64, peak = 160, least = 160>
// CHECK: %[[P:.*]] = sched.pack %{{.*}}, %{{.*}}
// CHECK-NEXT: sched.start reduce_scatter %[[P]] over @dp
func.func @scatters(%a: !addend {plan.kind = #plan.kind<input>, plan.names = ["a"]}, %b: !addend {plan.kind = #plan.kind<input>, plan.names = ["b"]})
    -> (!flat {plan.name = "a"}, !flat {plan.name = "b"}) {
  %0 = plan.reduce_scatter %a [#plan.axis<"dp">] bucket 0 : !addend -> !flat
  %1 = plan.reduce_scatter %b [#plan.axis<"dp">] bucket 0 : !addend -> !flat
  return %0, %1 : !flat, !flat
}

// -----

// Tensors of one contiguous buffer are sent unpacked: only the 64 incoming bytes exist beside the two whole tensors.
plan.mesh [#base.mesh_axis<"dp" = 2>]
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
// CHECK: sched.program @stored memory <parameters = 32, constants = 0, inputs = 32, peak = 192, least = 192>
// CHECK-NEXT: %[[B:.*]] = sched.parameter ["b"]
// CHECK-NEXT: %[[A:.*]] = sched.parameter ["a"]
// CHECK: sched.buffer "parameters" %[[A]], %[[B]] registered :
// CHECK: %[[P:.*]] = sched.pack %[[A]], %[[B]] in_place
// CHECK-NEXT: sched.start all_gather %[[P]] over @dp
func.func @stored(%b: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.storage = #plan.storage<name = "parameters", position = 1, registered = true>},
                  %a: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.storage = #plan.storage<name = "parameters", position = 0, registered = true>},
                  %x: !whole {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> (!whole {plan.name = "y"}) {
  %0 = plan.all_gather %a [#plan.axis<"dp">] bucket 7 : !flat -> !whole
  %1 = plan.all_gather %b [#plan.axis<"dp">] bucket 7 : !flat -> !whole
  %2 = plan.call "aten.mul.Tensor"(%x, %0) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %3 = plan.call "aten.mul.Tensor"(%2, %1) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  return %3 : !whole
}

// -----

// Two sums in place need nothing beside their 64 bytes; each source is freed once it is copied there.
plan.mesh [#base.mesh_axis<"dp" = 2>]
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK: sched.program @sums memory <parameters = 0, constants = 0, inputs = 32, peak = 128, least = 128, accumulators = 64>
// CHECK: %[[A:.*]] = sched.state "a.gradient" scratch
// CHECK: %[[B:.*]] = sched.state "b.gradient" scratch
// CHECK: sched.buffer "gradients" %[[A]], %[[B]] :
func.func @sums(%x: !whole {plan.kind = #plan.kind<input>, plan.names = ["x"]},
                %a: !addend {plan.kind = #plan.kind<accumulator>, plan.names = ["a.gradient"], plan.scratch, plan.storage = #plan.storage<name = "gradients", position = 0>},
                %b: !addend {plan.kind = #plan.kind<accumulator>, plan.names = ["b.gradient"], plan.scratch, plan.storage = #plan.storage<name = "gradients", position = 1>})
    -> (!whole {plan.name = "a"}, !whole {plan.name = "b"}) {
  // CHECK: %[[GA:.*]] = sched.compute "aten.neg.default"
  // CHECK-NEXT: %[[PA:.*]] = sched.compute "meshplan.assign"(%[[A]], %[[GA]]) {{.*}} overwrites [0]
  // CHECK-NEXT: sched.free %[[GA]]
  // CHECK: %[[PB:.*]] = sched.compute "meshplan.assign"(%[[B]],
  // CHECK: %[[P:.*]] = sched.pack %[[PA]], %[[PB]] in_place
  // CHECK-NEXT: sched.start all_reduce %[[P]] over @dp {{.*}} into %[[P]] :
  // CHECK-NEXT: %[[R:.*]] = sched.wait
  // CHECK-NEXT: sched.unpack %[[R]] in_place
  // CHECK-NEXT: sched.free %[[P]], %[[R]]
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (!whole) -> !addend
  %1 = plan.call "meshplan.assign"(%a, %0) {self = #base.operand<0>, source = #base.operand<1>} : (!addend, !addend) -> !addend
  %2 = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} : (!whole) -> !addend
  %3 = plan.call "meshplan.assign"(%b, %2) {self = #base.operand<0>, source = #base.operand<1>} : (!addend, !addend) -> !addend
  %4 = plan.all_reduce %1 [#plan.axis<"dp">] bucket 0 : !addend -> !whole into %1 : !addend
  %5 = plan.all_reduce %3 [#plan.axis<"dp">] bucket 0 : !addend -> !whole into %3 : !addend
  return %4, %5 : !whole, !whole
}

// -----

// Positions that are not consecutive: between the tensors lies one that only other programs read. Both are packed into
// 64 more bytes, and unpacked.
plan.mesh [#base.mesh_axis<"dp" = 2>]
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK: sched.program @apart memory <parameters = 0, constants = 0, inputs = 0, peak = 192, least = 192, accumulators = 64>
// CHECK: %[[A:.*]] = sched.state "a.gradient"
// CHECK: %[[B:.*]] = sched.state "b.gradient"
// CHECK: %[[P:.*]] = sched.pack %[[A]], %[[B]]
// CHECK-NEXT: sched.start all_reduce %[[P]] over @dp
// CHECK: sched.unpack {{.*}} into %[[A]], %[[B]] :
func.func @apart(%a: !addend {plan.kind = #plan.kind<accumulator>, plan.names = ["a.gradient"], plan.storage = #plan.storage<name = "gradients", position = 0>},
                 %b: !addend {plan.kind = #plan.kind<accumulator>, plan.names = ["b.gradient"], plan.storage = #plan.storage<name = "gradients", position = 2>})
    -> (!whole {plan.name = "a"}, !whole {plan.name = "b"}) {
  %0 = plan.all_reduce %a [#plan.axis<"dp">] bucket 0 : !addend -> !whole into %a : !addend
  %1 = plan.all_reduce %b [#plan.axis<"dp">] bucket 0 : !addend -> !whole into %b : !addend
  return %0, %1 : !whole, !whole
}

// -----

// A reduce-scatter packs the 64 bytes that it sends, and receives in place; a gather of new parameters receives into a
// buffer of 64 bytes, and unpacks it into the old parameters.
plan.mesh [#base.mesh_axis<"dp" = 2>]
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK: sched.program @lands memory <parameters = 64, constants = 0, inputs = 64, peak = 224, least = 224, accumulators = 32>
func.func @lands(%v: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["v"]}, %w: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["w"]},
                 %x: !addend {plan.kind = #plan.kind<input>, plan.names = ["x"]}, %y: !addend {plan.kind = #plan.kind<input>, plan.names = ["y"]},
                 %a: !flat {plan.kind = #plan.kind<accumulator>, plan.names = ["a.gradient"], plan.scratch, plan.storage = #plan.storage<name = "gradients", position = 0>},
                 %b: !flat {plan.kind = #plan.kind<accumulator>, plan.names = ["b.gradient"], plan.scratch, plan.storage = #plan.storage<name = "gradients", position = 1>})
    -> (!whole {plan.updates = #plan.argument<parameter "v">}, !whole {plan.updates = #plan.argument<parameter "w">}) {
  // CHECK: %[[P:.*]] = sched.pack %{{.*}}, %{{.*}}
  // CHECK-NEXT: %[[AB:.*]] = sched.pack %{{.*}}, %{{.*}} in_place
  // CHECK-NEXT: sched.start reduce_scatter %[[P]] {{.*}} into %[[AB]] :
  // CHECK: %[[R:.*]]:2 = sched.unpack %{{.*}} in_place
  // CHECK: %[[G:.*]] = sched.pack %[[R]]#0, %[[R]]#1 in_place
  // CHECK-NEXT: sched.start all_gather %[[G]] over
  // CHECK: sched.unpack %{{.*}} into %{{.*}}, %{{.*}} :
  %0 = plan.reduce_scatter %x [#plan.axis<"dp">] bucket 0 : !addend -> !flat into %a : !flat
  %1 = plan.reduce_scatter %y [#plan.axis<"dp">] bucket 0 : !addend -> !flat into %b : !flat
  %2 = plan.all_gather %0 [#plan.axis<"dp">] bucket 1 : !flat -> !whole into %v : !whole
  %3 = plan.all_gather %1 [#plan.axis<"dp">] bucket 1 : !flat -> !whole into %w : !whole
  return %2, %3 : !whole, !whole
}
