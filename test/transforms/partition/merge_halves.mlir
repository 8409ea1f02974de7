// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-merge-halves --split-input-file --verify-diagnostics | FileCheck %s

// One instance is left of two: no accumulator is needed. A weight is gathered once for both halves, and the sum of both
// gradients is reduced, where each was. Counting still takes both microbatches.
!batch = tensor<8x4xf32, #plan.sharding<[{"dp"}, {}]>>
!part = tensor<4x4xf32, #plan.sharding<[{"dp"}, {}]>>
!shard = tensor<4x4xf32, #plan.sharding<[{"dp"}, {}]>>
!weight = tensor<4x4xf32, #plan.sharding<[{}, {}]>>
!addend = tensor<4x4xf32, #plan.sharding<[{}, {}], partial = sum {"dp"}>>
!number = tensor<f32, #plan.sharding<[]>>
!index = tensor<f64, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"dp" = 2>]

func.func @count0() attributes {plan.role = #base.role<microbatch>} {
  return
}

// CHECK: func.func @step(%arg0: {{[^)]*}}input>}, %arg1: {{[^)]*}}plan.names = ["w"]}, %arg2: {{[^)]*}}plan.names = ["microbatch"]{{[^)]*}})
// CHECK-SAME: -> (tensor<4x4xf32, #plan.sharding<[{"dp"}, {}]>> {plan.updates = #plan.argument<parameter "w">})
// CHECK-SAME: plan.timeline = [#base.instance<@count0, 0>, #base.instance<@count0, 1>, #base.instance<@step, 0>]
// CHECK: %[[SECOND:.*]] = plan.call "aten.add.Scalar"(%arg2) {other = 1.000000e+00 : f64, self = #base.operand<0>} : (
// CHECK-NEXT: %[[W:.*]] = plan.all_gather %arg1
// CHECK-NEXT: %[[X0:.*]] = plan.call "meshplan.take_microbatch"(%arg0, %arg2)
// CHECK-NEXT: %[[X1:.*]] = plan.call "meshplan.take_microbatch"(%arg0, %[[SECOND]])
// CHECK-NEXT: %[[Y0:.*]] = plan.call "aten.mm.default"(%[[X0]], %[[W]])
// CHECK-NEXT: %[[Y1:.*]] = plan.call "aten.mm.default"(%[[X1]], %[[W]])
// CHECK-NEXT: %[[G0:.*]] = plan.call "meshplan.weight_gradient"(%[[Y0]], %[[X0]])
// CHECK-NEXT: %[[G1:.*]] = plan.call "meshplan.weight_gradient"(%[[Y1]], %[[X1]])
// CHECK-NEXT: %[[G:.*]] = plan.call "aten.add.Tensor"(%[[G0]], %[[G1]])
// CHECK-NEXT: %[[R:.*]] = plan.reduce_scatter %[[G]]
// CHECK-NEXT: %[[U:.*]] = plan.call "aten.mul.Tensor"(%arg1, %[[R]])
// CHECK-NEXT: return %[[U]]
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}, %w: !shard {plan.kind = #plan.kind<parameter>, plan.names = ["w"]},
                %sum: !shard {plan.kind = #plan.kind<accumulator>, plan.names = ["microbatches.sum0"]},
                %i: !index {plan.kind = #plan.kind<setting>, plan.names = ["microbatch"], plan.value = 0.0 : f64})
    -> (!shard {plan.updates = #plan.argument<parameter "w">}, !shard {plan.updates = #plan.argument<accumulator "microbatches.sum0">})
    attributes {plan.role = #base.role<step>, plan.timeline = [#base.instance<@count0, 0>, #base.instance<@count0, 1>, #base.instance<@step, 0>, #base.instance<@step, 1>]} {
  %0 = plan.all_gather %w [#plan.axis<"dp">] dim 0 : !shard -> !weight
  %1 = plan.call "meshplan.take_microbatch"(%x, %i) {count = 2 : i64, dim = 0 : i64, index = #base.operand<1>, self = #base.operand<0>} : (!batch, !index) -> !part
  %2 = plan.call "aten.mm.default"(%1, %0) {self = #base.operand<0>, mat2 = #base.operand<1>} : (!part, !weight) -> !part
  %3 = plan.call "meshplan.weight_gradient"(%2, %1) {gradient = #base.operand<0>, input = #base.operand<1>} backward : (!part, !part) -> !addend
  %4 = plan.reduce_scatter %3 [#plan.axis<"dp">] dim 0 : !addend -> !shard
  %5 = plan.call "meshplan.accumulate"(%sum, %4) {addend = #base.operand<1>, self = #base.operand<0>} backward : (!shard, !shard) -> !shard
  %6 = plan.call "aten.mul.Tensor"(%w, %5) {self = #base.operand<0>, other = #base.operand<1>} : (!shard, !shard) -> !shard
  return %6, %5 : !shard, !shard
}

// -----

// The second half of what is before a collective follows it, and what reads its result comes after that. After the last
// collective both halves are side by side. A collective of integers ends nothing.
!part = tensor<4x4xf32, #plan.sharding<[{}, {}]>>
!addend = tensor<4x4xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
!counts = tensor<4xi64, #plan.sharding<[{}]>>
!share = tensor<4xi64, #plan.sharding<[{"tp"}]>>
!batch = tensor<8x4xf32, #plan.sharding<[{}, {}]>>
!index = tensor<f64, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"tp" = 2>]

// CHECK: func.func @step(
// CHECK: %[[X0:.*]] = plan.call "meshplan.take_microbatch"(%arg0, %arg2)
// CHECK-NEXT: %[[C0:.*]] = plan.call "aten.argmax.default"(%[[X0]])
// CHECK-NEXT: %[[A0:.*]] = plan.all_gather %[[C0]]
// CHECK-NEXT: %[[Y0:.*]] = plan.call "aten.index_select.default"(%[[X0]], %[[A0]])
// CHECK-NEXT: %[[R0:.*]] = plan.all_reduce %[[Y0]]
// CHECK-NEXT: %[[X1:.*]] = plan.call "meshplan.take_microbatch"(%arg0
// CHECK-NEXT: plan.call "aten.argmax.default"(%[[X1]])
// CHECK-NEXT: plan.all_gather
// CHECK-NEXT: %[[Y1:.*]] = plan.call "aten.index_select.default"(%[[X1]]
// CHECK-NEXT: %[[R1:.*]] = plan.all_reduce %[[Y1]]
// CHECK-NEXT: %[[G0:.*]] = plan.call "meshplan.weight_gradient"(%[[R0]], %[[X0]])
// CHECK-NEXT: %[[G1:.*]] = plan.call "meshplan.weight_gradient"(%[[R1]], %[[X1]])
// CHECK-NEXT: %[[G:.*]] = plan.call "aten.add.Tensor"(%[[G0]], %[[G1]])
// CHECK-NEXT: %[[U:.*]] = plan.call "aten.mul.Tensor"(%arg1, %[[G]])
// CHECK-NEXT: return %[[U]]
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}, %w: !part {plan.kind = #plan.kind<parameter>, plan.names = ["w"]},
                %sum: !part {plan.kind = #plan.kind<accumulator>, plan.names = ["microbatches.sum0"]},
                %i: !index {plan.kind = #plan.kind<setting>, plan.names = ["microbatch"], plan.value = 0.0 : f64})
    -> (!part {plan.updates = #plan.argument<parameter "w">}, !part {plan.updates = #plan.argument<accumulator "microbatches.sum0">})
    attributes {plan.role = #base.role<step>, plan.timeline = [#base.instance<@step, 0>, #base.instance<@step, 1>]} {
  %0 = plan.call "meshplan.take_microbatch"(%x, %i) {count = 2 : i64, dim = 0 : i64, index = #base.operand<1>, self = #base.operand<0>} : (!batch, !index) -> !part
  %1 = plan.call "aten.argmax.default"(%0) {self = #base.operand<0>, dim = 1 : i64} : (!part) -> !share
  %2 = plan.all_gather %1 [#plan.axis<"tp">] dim 0 : !share -> !counts
  %3 = plan.call "aten.index_select.default"(%0, %2) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>} : (!part, !counts) -> !addend
  %4 = plan.all_reduce %3 [#plan.axis<"tp">] : !addend -> !part
  %5 = plan.call "meshplan.weight_gradient"(%4, %0) {gradient = #base.operand<0>, input = #base.operand<1>} backward : (!part, !part) -> !part
  %6 = plan.call "meshplan.accumulate"(%sum, %5) {addend = #base.operand<1>, self = #base.operand<0>} backward : (!part, !part) -> !part
  %7 = plan.call "aten.mul.Tensor"(%w, %6) {self = #base.operand<0>, other = #base.operand<1>} : (!part, !part) -> !part
  return %7, %6 : !part, !part
}

// -----

// Two instances are left of four: the microbatches of instance i are 2 i and 2 i + 1, also where an integer counts them.
!batch = tensor<8x4xf32, #plan.sharding<[{}, {}]>>
!part = tensor<2x4xf32, #plan.sharding<[{}, {}]>>
!number = tensor<f32, #plan.sharding<[]>>
!index = tensor<f64, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"dp" = 1>]
// CHECK: func.func @step(
// CHECK-SAME: plan.timeline = [#base.instance<@step, 0>, #base.instance<@step, 1>]
// CHECK: %[[FIRST:.*]] = plan.call "aten.mul.Scalar"(%arg2) {other = 2.000000e+00 : f64, self = #base.operand<0>} : (
// CHECK-NEXT: %[[SECOND:.*]] = plan.call "aten.add.Scalar"(%[[FIRST]]) {other = 1.000000e+00 : f64, self = #base.operand<0>} : (
// CHECK-NEXT: plan.call "meshplan.take_microbatch"(%arg0, %[[FIRST]])
// CHECK-NEXT: plan.call "meshplan.take_microbatch"(%arg0, %[[SECOND]])
// CHECK-NEXT: plan.call "aten.arange.start"() {{{.*}}start = #base.local<0, result 0, dim 0, offset 1, microbatch 2>
// CHECK-NEXT: plan.call "aten.arange.start"() {{{.*}}start = #base.local<0, result 0, dim 0, offset 1, extent 1, microbatch 2>
// CHECK: %[[S:.*]] = plan.call "aten.add.Tensor"
// CHECK-NEXT: %[[A:.*]] = plan.call "meshplan.accumulate"(%arg1, %[[S]])
// CHECK-NEXT: return %[[A]]
func.func @step(%x: !batch {plan.kind = #plan.kind<input>},
                %sum: !number {plan.kind = #plan.kind<accumulator>, plan.names = ["microbatches.sum0"]},
                %i: !index {plan.kind = #plan.kind<setting>, plan.names = ["microbatch"], plan.value = 0.0 : f64})
    -> (!number {plan.updates = #plan.argument<accumulator "microbatches.sum0">})
    attributes {plan.role = #base.role<step>, plan.timeline = [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>, #base.instance<@step, 3>]} {
  %1 = plan.call "meshplan.take_microbatch"(%x, %i) {count = 4 : i64, dim = 0 : i64, index = #base.operand<1>, self = #base.operand<0>} : (!batch, !index) -> !part
  %2 = plan.call "aten.arange.start"() {start = #base.local<0, result 0, dim 0, offset 1, microbatch 1>, end = 2 : i64} : () -> tensor<2xf32, #plan.sharding<[{}]>>
  %3 = plan.call "aten.mv.default"(%1, %2) {self = #base.operand<0>, vec = #base.operand<1>} : (!part, tensor<2xf32, #plan.sharding<[{}]>>) -> tensor<2xf32, #plan.sharding<[{}]>>
  %4 = plan.call "aten.sum.default"(%3) {self = #base.operand<0>} : (tensor<2xf32, #plan.sharding<[{}]>>) -> !number
  %5 = plan.call "meshplan.accumulate"(%sum, %4) {addend = #base.operand<1>, self = #base.operand<0>} backward : (!number, !number) -> !number
  return %5 : !number
}

// -----

// What reads sums runs once, and cannot read a value of one half.
!batch = tensor<8xf32, #plan.sharding<[{}]>>
!part = tensor<4xf32, #plan.sharding<[{}]>>
!number = tensor<f32, #plan.sharding<[]>>
!index = tensor<f64, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"dp" = 1>]
func.func @step(%x: !batch {plan.kind = #plan.kind<input>},
                %sum: !number {plan.kind = #plan.kind<accumulator>, plan.names = ["microbatches.sum0"]},
                %i: !index {plan.kind = #plan.kind<setting>, plan.names = ["microbatch"], plan.value = 0.0 : f64})
    -> (!part, !number {plan.updates = #plan.argument<accumulator "microbatches.sum0">})
    attributes {plan.role = #base.role<step>, plan.timeline = [#base.instance<@step, 0>, #base.instance<@step, 1>]} {
  %1 = plan.call "meshplan.take_microbatch"(%x, %i) {count = 2 : i64, dim = 0 : i64, index = #base.operand<1>, self = #base.operand<0>} : (!batch, !index) -> !part
  %2 = plan.call "aten.sum.default"(%1) {self = #base.operand<0>} : (!part) -> !number
  %3 = plan.call "meshplan.accumulate"(%sum, %2) {addend = #base.operand<1>, self = #base.operand<0>} backward : (!number, !number) -> !number
  // expected-error @+1 {{halves cannot be merged: an operand is of one microbatch, and not of all}}
  %4 = plan.call "aten.mul.Tensor"(%1, %3) {self = #base.operand<0>, other = #base.operand<1>} : (!part, !number) -> !part
  return %4, %3 : !part, !number
}
