// Reductions that are in flight when the next microbatch begins.
// RUN: meshplan-opt %s --schedule=solver=list | FileCheck %s
// RUN: meshplan-opt %s --schedule=solver=program | FileCheck %s --check-prefix=PROGRAM

// The gradient is reduced in each microbatch and added to an accumulator. Nothing is left to run beside the reduction, so
// its wait and the addition run in the next microbatch, after `sin`. The last one holds three temporaries, which leaves
// memory for the two of the reduction beside the result of `sin`. `cos` makes the gradient again, so it comes later.
!x = tensor<1048576xf32, #plan.sharding<[{}]>>
!part = tensor<1048576xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
!number = tensor<f64, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"dp" = 2>]

// CHECK-LABEL: sched.program @step role <step>
// CHECK: %[[SUM:.*]] = sched.state "sum"
// CHECK: sched.compute "aten.sin.default"
// CHECK-NEXT: sched.resume 4
// CHECK: %[[G:.*]] = sched.compute "aten.cos.default"
// CHECK: %[[T:.*]] = sched.start all_reduce %[[G]] over @dp
// CHECK: %[[R:.*]] = sched.wait %[[T]] when deferred
// CHECK: %[[S:.*]] = sched.compute "meshplan.accumulate"(%[[SUM]], %[[R]]) {{.*}} when deferred
// CHECK: sched.compute "meshplan.sgd"({{.*}} when last
// CHECK: sched.update %[[S]] to %[[SUM]]
// The order of the program is the one in which it is written.
// PROGRAM-NOT: sched.resume
func.func @step(%w: !x {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true},
                %x: !x {plan.kind = #plan.kind<input>, plan.names = ["x"]},
                %sum: !x {plan.kind = #plan.kind<accumulator>, plan.names = ["sum"]},
                %r: !number {plan.kind = #plan.kind<setting>, plan.names = ["optimizer.lr"], plan.value = 0.5 : f64})
    -> (!x {plan.updates = #plan.argument<parameter "w">}, !x {plan.updates = #plan.argument<accumulator "sum">})
    attributes {plan.role = #base.role<step>, plan.timeline = [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>]} {
  %h = plan.call "aten.sin.default"(%x) {self = #base.operand<0>} : (!x) -> !x
  %g = plan.call "aten.cos.default"(%h) {self = #base.operand<0>} : (!x) -> !part
  %t = plan.all_reduce %g [#plan.axis<"dp">] : !part -> !x
  %s = plan.call "meshplan.accumulate"(%sum, %t) {self = #base.operand<0>, addend = #base.operand<1>} backward : (!x, !x) -> !x
  %u = plan.call "aten.neg.default"(%s) {self = #base.operand<0>} : (!x) -> !x
  %v = plan.call "aten.exp.default"(%s) {self = #base.operand<0>} : (!x) -> !x
  %d = plan.call "aten.sub.Tensor"(%u, %v) {self = #base.operand<0>, other = #base.operand<1>} : (!x, !x) -> !x
  %n = plan.call "meshplan.sgd"(%w, %d, %r) {parameter = #base.operand<0>, gradient = #base.operand<1>, learning_rate = #base.operand<2>} : (!x, !x, !number) -> !x
  return %n, %s : !x, !x
}
