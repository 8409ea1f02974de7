// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-split-microbatches --split-input-file | FileCheck %s

// The number of tokens must be known before the gradient: a separate program counts them and does nothing else. The
// loss is needed only at the end, so the step accumulates it. The step itself runs for each microbatch.
!batch = tensor<12x4xf32, #plan.sharding<[{"dp"}, {}]>>
!part = tensor<12x4xf32, #plan.sharding<[{"dp", "microbatch"}, {}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"dp", "microbatch"}>>
!ranks = tensor<f32, #plan.sharding<[], partial = sum {"dp"}>>
!number = tensor<f32, #plan.sharding<[]>>
// CHECK: plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 3>]

// CHECK: func.func @count0(%arg0: tensor<12x4xf32, #plan.sharding<[{"dp"}, {}]>> {plan.kind = #plan.kind<input>},
// CHECK-SAME: %arg1: tensor<f32, #plan.sharding<[], partial = sum {"dp"}>> {plan.kind = #plan.kind<accumulator>, plan.names = ["microbatches.sum0"]},
// CHECK-SAME: %arg2: tensor<f64, #plan.sharding<[]>> {plan.kind = #plan.kind<setting>, plan.names = ["microbatch"], plan.value = 0.000000e+00 : f64})
// CHECK-SAME: -> (tensor<f32, #plan.sharding<[], partial = sum {"dp"}>> {plan.updates = #plan.argument<accumulator "microbatches.sum0">})
// CHECK-SAME: attributes {plan.role = #base.role<microbatch>}
// CHECK: %[[X:.*]] = plan.call "meshplan.take_microbatch"(%arg0, %arg2) {count = 3 : i64, dim = 0 : i64, {{.*}} -> tensor<4x4xf32, #plan.sharding<[{"dp"}, {}]>>
// CHECK-NEXT: %[[N:.*]] = plan.call "aten.sum.default"(%[[X]]) {{.*}} -> tensor<f32, #plan.sharding<[], partial = sum {"dp"}>>
// CHECK-NEXT: %[[S:.*]] = plan.call "meshplan.accumulate"(%arg1, %[[N]]) {addend = #base.operand<1>, self = #base.operand<0>} backward
// CHECK-NEXT: return %[[S]]

// CHECK-NOT: func.func
// CHECK: func.func @step({{.*}} -> ({{.*}}plan.updates{{.*}}plan.updates{{.*}})
// CHECK-SAME: plan.timeline = [#base.instance<@count0, 0>, #base.instance<@count0, 1>, #base.instance<@count0, 2>,
// CHECK-SAME: #base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>]
// CHECK: plan.all_reduce %{{.*}} [#plan.axis<"dp">]
// CHECK: plan.call "meshplan.accumulate"
// CHECK: plan.all_reduce %{{.*}} [#plan.axis<"dp">]
// CHECK: plan.call "aten.div.Tensor"
// CHECK: plan.call "aten.mul.Tensor"
// CHECK: plan.call "meshplan.accumulate"
// CHECK: return
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}) -> (!number {plan.name = "loss"}, !number {plan.name = "gradient"}) attributes {plan.role = #base.role<step>} {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %n = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (!part) -> !addend
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !addend -> !ranks
  %n2 = plan.all_reduce %n1 [#plan.axis<"dp">] : !ranks -> !number
  %l = plan.call "meshplan.square_sum"(%0) {self = #base.operand<0>} : (!part) -> !addend
  %l1 = plan.all_reduce %l [#plan.axis<"microbatch">] : !addend -> !ranks
  %l2 = plan.all_reduce %l1 [#plan.axis<"dp">] : !ranks -> !number
  %loss = plan.call "aten.div.Tensor"(%l2, %n2) {self = #base.operand<0>, other = #base.operand<1>} : (!number, !number) -> !number
  %g = plan.call "aten.mul.Tensor"(%0, %n2) {self = #base.operand<0>, other = #base.operand<1>} : (!part, !number) -> !part
  %g0 = plan.call "aten.sum.default"(%g) {self = #base.operand<0>} : (!part) -> !addend
  %g1 = plan.all_reduce %g0 [#plan.axis<"microbatch">] : !addend -> !ranks
  %g2 = plan.all_reduce %g1 [#plan.axis<"dp">] : !ranks -> !number
  return %loss, %g2 : !number, !number
}

// -----

// A replicated input is sharded over the ranks first.
!whole = tensor<12xf32, #plan.sharding<[{}]>>
!part = tensor<12xf32, #plan.sharding<[{"dp", "microbatch"}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"dp", "microbatch"}>>
!ranks = tensor<f32, #plan.sharding<[], partial = sum {"dp"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 3>]
// CHECK: func.func @step(
// CHECK: %[[X:.*]] = plan.slice %arg0 [#plan.axis<"dp">] dim 0 : {{.*}} -> tensor<12xf32, #plan.sharding<[{"dp"}]>>
// CHECK: plan.call "meshplan.take_microbatch"(%[[X]], %{{.*}}) {{.*}} -> tensor<4xf32, #plan.sharding<[{"dp"}]>>
func.func @step(%x: !whole {plan.kind = #plan.kind<input>}) -> (!number {plan.name = "loss"}) attributes {plan.role = #base.role<step>} {
  %0 = plan.slice %x [#plan.axis<"dp">, #plan.axis<"microbatch">] dim 0 : !whole -> !part
  %n = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (!part) -> !addend
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !addend -> !ranks
  %n2 = plan.all_reduce %n1 [#plan.axis<"dp">] : !ranks -> !number
  return %n2 : !number
}

// -----

// An operator that depends on the position of its samples: samples of earlier ranks come first, and on a rank those of
// earlier microbatches.
!batch = tensor<12xf32, #plan.sharding<[{"dp"}]>>
!part = tensor<12xf32, #plan.sharding<[{"dp", "microbatch"}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"dp", "microbatch"}>>
!ranks = tensor<f32, #plan.sharding<[], partial = sum {"dp"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 3>]
// CHECK: func.func @step(
// CHECK: plan.call "aten.arange.start_step"() {end = #base.local<1, result 0, dim 0, offset 6, extent 2, microbatch 2>,
// CHECK-SAME: start = #base.local<1, result 0, dim 0, offset 6, microbatch 2>, step = 2 : i64} : () -> tensor<4xf32, #plan.sharding<[{"dp"}]>>
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}) -> (!number {plan.name = "loss"}) attributes {plan.role = #base.role<step>} {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %1 = plan.call "aten.arange.start_step"() {start = #base.local<1, result 0, dim 0, offset 2>, end = #base.local<1, result 0, dim 0, offset 2, extent 2>, step = 2} : () -> !part
  %2 = plan.call "aten.mul.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>} : (!part, !part) -> !part
  %n = plan.call "aten.sum.default"(%2) {self = #base.operand<0>} : (!part) -> !addend
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !addend -> !ranks
  %n2 = plan.all_reduce %n1 [#plan.axis<"dp">] : !ranks -> !number
  return %n2 : !number
}

// -----

// Microbatches that are runs of the batch: of a replicated input the run is taken first. Samples of earlier runs come
// before those of earlier ranks.
!batch = tensor<12xf32, #plan.sharding<[{"dp", parts [4, 4, 4]}]>>
!whole = tensor<12xf32, #plan.sharding<[{}]>>
!part = tensor<12xf32, #plan.sharding<[{"microbatch", "dp"}]>>
!run = tensor<12xf32, #plan.sharding<[{"microbatch"}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"dp", "microbatch"}>>
!ranks = tensor<f32, #plan.sharding<[], partial = sum {"dp"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 3>]
// CHECK: func.func @step(
// CHECK: plan.call "meshplan.take_microbatch"(%arg0, %{{.*}}) {{.*}} -> tensor<4xf32, #plan.sharding<[{"dp"}]>>
// CHECK: %[[OWN:.*]] = plan.call "meshplan.take_microbatch"(%arg1, %{{.*}}) {{.*}} -> tensor<4xf32, #plan.sharding<[{}]>>
// CHECK-NEXT: plan.slice %[[OWN]] [#plan.axis<"dp">] dim 0 : {{.*}} -> tensor<4xf32, #plan.sharding<[{"dp"}]>>
// CHECK: plan.call "aten.arange.start_step"() {end = #base.local<1, result 0, dim 0, offset 2, extent 2, microbatch 4>,
// CHECK-SAME: start = #base.local<1, result 0, dim 0, offset 2, microbatch 4>, step = 2 : i64} : () -> tensor<4xf32, #plan.sharding<[{"dp"}]>>
// CHECK: plan.all_gather %{{.*}} [#plan.axis<"dp">] dim 0 : {{.*}} -> tensor<4xf32, #plan.sharding<[{}]>>
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}, %w: !whole {plan.kind = #plan.kind<input>}) -> (!number {plan.name = "loss"}) attributes {plan.role = #base.role<step>} {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %1 = plan.slice %w [#plan.axis<"microbatch">, #plan.axis<"dp">] dim 0 : !whole -> !part
  %2 = plan.call "aten.arange.start_step"() {start = #base.local<1, result 0, dim 0, offset 2>, end = #base.local<1, result 0, dim 0, offset 2, extent 2>, step = 2} : () -> !part
  %3 = plan.call "aten.mul.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>} : (!part, !part) -> !part
  %4 = plan.call "aten.mul.Tensor"(%3, %2) {self = #base.operand<0>, other = #base.operand<1>} : (!part, !part) -> !part
  %5 = plan.all_gather %4 [#plan.axis<"dp">] dim 0 : !part -> !run
  %6 = plan.slice %5 [#plan.axis<"dp">] dim 0 : !run -> !part
  %n = plan.call "aten.sum.default"(%6) {self = #base.operand<0>} : (!part) -> !addend
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !addend -> !ranks
  %n2 = plan.all_reduce %n1 [#plan.axis<"dp">] : !ranks -> !number
  return %n2 : !number
}

// -----

// Microbatches with a mean of their own: the program reads the samples of one, even if a call mixes them, and
// accumulates its results. Their sum is reduced once, at the end of the step.
!batch = tensor<12xf32, #plan.sharding<[{"dp", parts [4, 4, 4]}]>>
!part = tensor<4xf32, #plan.sharding<[{"dp"}]>>
!whole = tensor<4xf32, #plan.sharding<[{}]>>
!ranks = tensor<f32, #plan.sharding<[], partial = sum {"dp"}>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"dp", "microbatch"}>>
!number = tensor<f32, #plan.sharding<[]>>
// CHECK: plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 3>]
// CHECK: func.func @step({{.*}}plan.timeline = [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>]
// CHECK: %[[X:.*]] = plan.call "meshplan.take_microbatch"(%arg0, %{{.*}}) {count = 3 : i64, dim = 0 : i64, {{.*}} -> tensor<4xf32, #plan.sharding<[{"dp"}]>>
// CHECK-NEXT: %[[W:.*]] = plan.all_gather %[[X]]
// CHECK-NEXT: %[[S:.*]] = plan.call "aten.softmax.int"(%[[W]])
// CHECK: %[[P:.*]] = plan.call "aten.sum.default"({{.*}} -> tensor<f32, #plan.sharding<[], partial = sum {"dp"}>>
// CHECK-NEXT: %[[A:.*]] = plan.call "meshplan.accumulate"(%{{.*}}, %[[P]])
// CHECK-NEXT: plan.all_reduce %[[A]] [#plan.axis<"dp">]
// CHECK-NOT: plan.leave_microbatch
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}) -> (!number {plan.name = "loss"}) attributes {plan.role = #base.role<step>} {
  %0 = plan.enter_microbatch %x dim 0 of 3 : !batch -> !part
  %1 = plan.all_gather %0 [#plan.axis<"dp">] dim 0 : !part -> !whole
  %2 = plan.call "aten.softmax.int"(%1) {self = #base.operand<0>, dim = 0} : (!whole) -> !whole
  %3 = plan.slice %2 [#plan.axis<"dp">] dim 0 : !whole -> !part
  %s = plan.call "aten.sum.default"(%3) {self = #base.operand<0>} : (!part) -> !ranks
  %l = plan.leave_microbatch %s as "microbatches 3 mean" : !ranks -> !addend
  %n = plan.all_reduce %l [#plan.axis<"microbatch">] : !addend -> !ranks
  %n1 = plan.all_reduce %n [#plan.axis<"dp">] : !ranks -> !number
  return %n1 : !number
}

// -----

// The ranks have 2, 1 and 1 elements of a microbatch of 4, so that their extents do not say how many come before it.
// They make the numbers of all of it.
!part = tensor<12xi64, #plan.sharding<[{"microbatch", "tp"}]>>
!addend = tensor<i64, #plan.sharding<[], partial = sum {"tp", "microbatch"}>>
!ranks = tensor<i64, #plan.sharding<[], partial = sum {"tp"}>>
plan.mesh [#base.mesh_axis<"tp" = 3>, #base.mesh_axis<"microbatch" = 3>]

// CHECK-LABEL: func.func @uneven
// CHECK: %[[ALL:.*]] = plan.call "aten.arange.start_step"() {end = #base.local<0, result 0, dim 0, offset 3, extent 1, microbatch 1>, start = #base.local<0, result 0, dim 0, offset 3, microbatch 1>, step = 1 : i64} : () -> tensor<4xi64, #plan.sharding<[{}]>>
// CHECK: plan.slice %[[ALL]] [#plan.axis<"tp">] dim 0 {{.*}} -> tensor<4xi64, #plan.sharding<[{"tp"}]>>
func.func @uneven() -> (!ranks {plan.name = "loss"}) attributes {plan.role = #base.role<step>} {
  %0 = plan.call "aten.arange.start_step"() {start = #base.local<0, result 0, dim 0, offset 1>, end = #base.local<0, result 0, dim 0, offset 1, extent 1>, step = 1} : () -> !part
  %n = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (!part) -> !addend
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !addend -> !ranks
  return %n1 : !ranks
}

// -----

// Ranks divide the batch, and each microbatch of a rank: no integer of the rank's own part says where it begins.
!part = tensor<12xf32, #plan.sharding<[{"dp", "microbatch", "tp"}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"dp", "tp", "microbatch"}>>
!ranks = tensor<f32, #plan.sharding<[], partial = sum {"dp", "tp"}>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>, #base.mesh_axis<"microbatch" = 3>]

// CHECK-LABEL: func.func @inside
// CHECK: %[[ALL:.*]] = plan.call "aten.arange.start_step"() {end = #base.local<1, result 0, dim 0, offset 6, extent 2, microbatch 2>, start = #base.local<1, result 0, dim 0, offset 6, microbatch 2>, step = 2 : i64} : () -> tensor<4xf32, #plan.sharding<[{"dp"}]>>
// CHECK: plan.slice %[[ALL]] [#plan.axis<"tp">] dim 0 {{.*}} -> tensor<4xf32, #plan.sharding<[{"dp", "tp"}]>>
func.func @inside() -> (!ranks {plan.name = "loss"}) attributes {plan.role = #base.role<step>} {
  %0 = plan.call "aten.arange.start_step"() {start = #base.local<1, result 0, dim 0, offset 2>, end = #base.local<1, result 0, dim 0, offset 2, extent 2>, step = 2} : () -> !part
  %n = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (!part) -> !addend
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !addend -> !ranks
  return %n1 : !ranks
}
