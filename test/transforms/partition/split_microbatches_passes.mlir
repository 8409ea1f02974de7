// Which programs run per microbatch, what each computes, and the marks of gradients in the step.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-split-microbatches --split-input-file | FileCheck %s

// A sum that needs a sum that needs a sum: two programs count, one after the other, and the step accumulates. A program
// reads the results of the programs before it from its arguments. A step may be skipped; programs before it never are.
!batch = tensor<8x4xf32, #plan.sharding<[{}, {}]>>
!part = tensor<8x4xf32, #plan.sharding<[{"microbatch"}, {}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"microbatch"}>>
!number = tensor<f32, #plan.sharding<[]>>
// CHECK: plan.mesh []
plan.mesh [#base.mesh_axis<"microbatch" = 2>]

// CHECK-LABEL: func.func @count0(
// CHECK-SAME: %[[X:arg0]]: tensor<8x4xf32, #plan.sharding<[{}, {}]>> {plan.kind = #plan.kind<input>}
// CHECK-SAME: %[[SUM:arg1]]: {{[^%]*}}plan.names = ["microbatches.sum0"]
// CHECK-SAME: %[[NUMBER:arg2]]: {{[^%]*}}plan.kind = #plan.kind<setting>
// CHECK-SAME: attributes {plan.role = #base.role<microbatch>}
// CHECK-NEXT: %[[P:.*]] = plan.call "meshplan.take_microbatch"(%[[X]], %[[NUMBER]])
// CHECK-SAME: -> tensor<4x4xf32, #plan.sharding<[{}, {}]>>
// CHECK-NEXT: %[[S:.*]] = plan.call "aten.sum.default"(%[[P]])
// CHECK-NEXT: %[[R:.*]] = plan.call "meshplan.accumulate"(%[[SUM]], %[[S]])
// CHECK-NEXT: return %[[R]]

// The result of the first program is read, and not recomputed.
// CHECK-LABEL: func.func @count1(
// CHECK-SAME: %[[X:arg0]]: {{[^%]*}}plan.kind = #plan.kind<input>
// CHECK-SAME: %[[READY:arg1]]: {{[^%]*}}plan.names = ["microbatches.sum0"]
// CHECK-SAME: %[[SUM:arg2]]: {{[^%]*}}plan.names = ["microbatches.sum1"]
// CHECK-SAME: {plan.updates = #plan.argument<accumulator "microbatches.sum1">}) attributes {plan.role = #base.role<microbatch>}
// CHECK-NEXT: %[[P:.*]] = plan.call "meshplan.take_microbatch"
// CHECK-NOT: aten.sum.default
// CHECK: %[[C:.*]] = plan.call "aten.sub.Tensor"(%[[P]], %[[READY]])
// CHECK-NEXT: %[[Q:.*]] = plan.call "meshplan.square_sum"(%[[C]])
// CHECK-NEXT: %[[R:.*]] = plan.call "meshplan.accumulate"(%[[SUM]], %[[Q]])
// CHECK-NEXT: return %[[R]] :

// The step keeps all of its arguments, even those that it does not read, and all results.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[X:arg0]]:
// CHECK-SAME: %[[UNREAD:arg1]]: {{[^%]*}}plan.names = ["unread"]
// CHECK-SAME: -> (tensor<f32, #plan.sharding<[]>> {plan.name = "loss"}, tensor<f32, #plan.sharding<[]>> {plan.updates =
// CHECK-SAME: plan.guard = #base.guard<stops = false>
// CHECK-SAME: plan.timeline = [#base.instance<@count0, 0>, #base.instance<@count0, 1>, #base.instance<@count1, 0>, #base.instance<@count1, 1>, #base.instance<@step, 0>, #base.instance<@step, 1>]
// CHECK-NOT: square_sum
// CHECK: plan.call "aten.div.Tensor"
// CHECK: %[[R:.*]] = plan.call "meshplan.accumulate"
// CHECK: return %[[R]], %[[R]] :
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}, %unread: !number {plan.kind = #plan.kind<input>, plan.names = ["unread"]})
    -> (!number {plan.name = "loss"}) attributes {plan.role = #base.role<step>, plan.guard = #base.guard<stops = false>} {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %1 = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (!part) -> !addend
  %sum = plan.all_reduce %1 [#plan.axis<"microbatch">] : !addend -> !number
  %2 = plan.call "aten.sub.Tensor"(%0, %sum) {self = #base.operand<0>, other = #base.operand<1>} : (!part, !number) -> !part
  %3 = plan.call "meshplan.square_sum"(%2) {self = #base.operand<0>} : (!part) -> !addend
  %squares = plan.all_reduce %3 [#plan.axis<"microbatch">] : !addend -> !number
  %4 = plan.call "aten.div.Tensor"(%2, %squares) {self = #base.operand<0>, other = #base.operand<1>} : (!part, !number) -> !part
  %5 = plan.call "aten.sum.default"(%4) {self = #base.operand<0>} : (!part) -> !addend
  %loss = plan.all_reduce %5 [#plan.axis<"microbatch">] : !addend -> !number
  return %loss : !number
}

// -----

// Samples in another dim than the first, and as runs of a merged dim. With equal runs on all ranks no unit is needed.
!batch = tensor<3x12x2xf32, #plan.sharding<[{}, {"dp"}, {}]>>
!part = tensor<3x12x2xf32, #plan.sharding<[{}, {"dp", "microbatch"}, {}]>>
!joined = tensor<3x24xf32, #plan.sharding<[{}, {"dp", "microbatch", unit 2}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"dp", "microbatch"}>>
!ranks = tensor<f32, #plan.sharding<[], partial = sum {"dp"}>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 3>]
// CHECK-LABEL: func.func @step(
// CHECK: plan.call "meshplan.take_microbatch"(%arg0, %{{.*}}) {count = 3 : i64, dim = 1 : i64, {{.*}} -> tensor<3x4x2xf32, #plan.sharding<[{}, {"dp"}, {}]>>
// CHECK-NEXT: plan.call "aten.view.default"({{.*}} -> tensor<3x8xf32, #plan.sharding<[{}, {"dp"}]>>
// CHECK-NEXT: plan.call "aten.sum.default"({{.*}} -> tensor<f32, #plan.sharding<[], partial = sum {"dp"}>>
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}) -> (!ranks {plan.name = "loss"}) attributes {plan.role = #base.role<step>} {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 1 : !batch -> !part
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = [3, -1]} : (!part) -> !joined
  %2 = plan.call "aten.sum.default"(%1) {self = #base.operand<0>} : (!joined) -> !addend
  %3 = plan.all_reduce %2 [#plan.axis<"microbatch">] : !addend -> !ranks
  return %3 : !ranks
}

// -----

// The accumulator of a gradient has the data statement and FSDP unit of its parameter: also across calls between the
// gradient and the optimizer, and for a master copy that is updated instead of the parameter. An accumulator for a
// parameter without a statement, or for another sum, has neither.
!batch = tensor<8x4xf32, #plan.sharding<[{}, {}]>>
!part = tensor<8x4xf32, #plan.sharding<[{"microbatch"}, {}]>>
!addend = tensor<4xf32, #plan.sharding<[{}], partial = sum {"microbatch"}>>
!row = tensor<4xf32, #plan.sharding<[{}]>>
!wide = tensor<4xf64, #plan.sharding<[{}]>>
plan.mesh [#base.mesh_axis<"microbatch" = 2>]
plan.data gradients over [] prefetch 0 as "data dp on x"
plan.data gradients over [] prefetch 0 as "data dp on a"
plan.data gradients over [] prefetch 0 as "data dp on b"
// CHECK-LABEL: func.func @step(
// CHECK-SAME: {plan.data = 1 : i64, plan.kind = #plan.kind<accumulator>, plan.names = ["microbatches.sum0"], plan.unit = 3 : i64}
// CHECK-SAME: {plan.data = 2 : i64, plan.kind = #plan.kind<accumulator>, plan.names = ["microbatches.sum1"]}
// CHECK-SAME: {plan.kind = #plan.kind<accumulator>, plan.names = ["microbatches.sum2"]}
// CHECK-SAME: {plan.kind = #plan.kind<accumulator>, plan.names = ["microbatches.sum3"]}
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}, %a: !row {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 1, plan.unit = 3},
                %b: !row {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.data = 2}, %m: !wide {plan.kind = #plan.kind<state>, plan.names = ["m"], plan.of = #plan.argument<parameter "b">, plan.copies},
                %c: !row {plan.kind = #plan.kind<parameter>, plan.names = ["c"]})
    -> (!row {plan.updates = #plan.argument<parameter "a">}, !wide {plan.updates = #plan.argument<state "m">}, !row {plan.updates = #plan.argument<parameter "c">}, !row {plan.name = "sum"})
    attributes {plan.role = #base.role<step>} {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %ga = plan.call "aten.sum.dim_IntList"(%0) {self = #base.operand<0>, dim = [0]} : (!part) -> !addend
  %a1 = plan.all_reduce %ga [#plan.axis<"microbatch">] : !addend -> !row
  %a2 = plan.call "aten.neg.default"(%a1) {self = #base.operand<0>} backward : (!row) -> !row
  %na = plan.call "meshplan.sgd"(%a, %a2) {parameter = #base.operand<0>, gradient = #base.operand<1>} backward : (!row, !row) -> !row
  %b0 = plan.call "aten.exp.default"(%0) {self = #base.operand<0>} : (!part) -> !part
  %gb = plan.call "aten.sum.dim_IntList"(%b0) {self = #base.operand<0>, dim = [0]} : (!part) -> !addend
  %b1 = plan.all_reduce %gb [#plan.axis<"microbatch">] : !addend -> !row
  %b2 = plan.call "aten._to_copy.default"(%b1) {self = #base.operand<0>, dtype = f64} backward : (!row) -> !wide
  %nb = plan.call "meshplan.sgd"(%m, %b2) {parameter = #base.operand<0>, gradient = #base.operand<1>} backward : (!wide, !wide) -> !wide
  %c0 = plan.call "aten.cos.default"(%0) {self = #base.operand<0>} : (!part) -> !part
  %gc = plan.call "aten.sum.dim_IntList"(%c0) {self = #base.operand<0>, dim = [0]} : (!part) -> !addend
  %c1 = plan.all_reduce %gc [#plan.axis<"microbatch">] : !addend -> !row
  %nc = plan.call "meshplan.sgd"(%c, %c1) {parameter = #base.operand<0>, gradient = #base.operand<1>} backward : (!row, !row) -> !row
  %d0 = plan.call "aten.sin.default"(%0) {self = #base.operand<0>} : (!part) -> !part
  %gd = plan.call "aten.sum.dim_IntList"(%d0) {self = #base.operand<0>, dim = [0]} : (!part) -> !addend
  %d1 = plan.all_reduce %gd [#plan.axis<"microbatch">] : !addend -> !row
  return %na, %nb, %nc, %d1 : !row, !wide, !row, !row
}

// -----

// A state belongs to its parameter in a sweep, too, which lacks the arguments before them.
!batch = tensor<8x4xf32, #plan.sharding<[{}, {}]>>
!part = tensor<8x4xf32, #plan.sharding<[{"microbatch"}, {}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"microbatch"}>>
!row = tensor<4xf32, #plan.sharding<[{}]>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"microbatch" = 2>]
// CHECK-LABEL: func.func @count0(
// CHECK-SAME: %arg0: {{[^%]*}}plan.names = ["a"]
// CHECK-SAME: %arg1: {{[^%]*}}plan.of = #plan.argument<parameter "a">}
// CHECK-SAME: %arg2: {{[^%]*}}plan.names = ["x"]
func.func @step(%unread: !row {plan.kind = #plan.kind<parameter>, plan.names = ["unread"]},
                %a: !row {plan.kind = #plan.kind<parameter>, plan.names = ["a"]},
                %m: !row {plan.kind = #plan.kind<state>, plan.names = ["a.master"], plan.of = #plan.argument<parameter "a">, plan.copies},
                %x: !batch {plan.kind = #plan.kind<input>, plan.names = ["x"]})
    -> (!number {plan.name = "loss"}) attributes {plan.role = #base.role<step>} {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %1 = plan.call "aten.add.Tensor"(%a, %m) {self = #base.operand<0>, other = #base.operand<1>} : (!row, !row) -> !row
  %2 = plan.call "aten.mul.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>} : (!part, !row) -> !part
  %3 = plan.call "aten.sum.default"(%2) {self = #base.operand<0>} : (!part) -> !addend
  %4 = plan.all_reduce %3 [#plan.axis<"microbatch">] : !addend -> !number
  %5 = plan.call "aten.div.Tensor"(%2, %4) {self = #base.operand<0>, other = #base.operand<1>} : (!part, !number) -> !part
  %6 = plan.call "aten.sum.default"(%5) {self = #base.operand<0>} : (!part) -> !addend
  %7 = plan.all_reduce %6 [#plan.axis<"microbatch">] : !addend -> !number
  return %7 : !number
}

// -----

// A microbatch axis that nothing is sharded over stays, and so does a step without microbatches.
!x = tensor<4xf32, #plan.sharding<[{}]>>
// CHECK: plan.mesh [#base.mesh_axis<"microbatch" = 2>]
plan.mesh [#base.mesh_axis<"microbatch" = 2>]
// CHECK-NOT: func.func @count0
// CHECK: func.func @forward(
func.func @forward(%x: !x {plan.kind = #plan.kind<input>}) -> !x {
  return %x : !x
}

// -----

!x = tensor<4xf32, #plan.sharding<[{}]>>
// CHECK: plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.mesh [#base.mesh_axis<"dp" = 2>]
// CHECK-NOT: func.func @count0
// CHECK: func.func @step({{.*}}) -> tensor<4xf32, #plan.sharding<[{}]>> attributes {plan.role = #base.role<step>} {
// CHECK-NEXT: return
func.func @step(%x: !x {plan.kind = #plan.kind<input>}) -> !x attributes {plan.role = #base.role<step>} {
  return %x : !x
}
