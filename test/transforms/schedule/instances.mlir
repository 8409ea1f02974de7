// What every microbatch of a step runs, and what only the last one.
// RUN: meshplan-opt %s --schedule=solver=program -split-input-file | FileCheck %s

// A gradient is accumulated; its reduction and the optimizer read the sum. `unread` feeds no accumulator although it
// depends on the microbatch alone.
!x = tensor<8xf32, #plan.sharding<[{}]>>
!part = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
!number = tensor<f64, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"dp" = 2>]

// Calls so small take 5 us each: two run three times and two once, as does the reduction.
// CHECK-LABEL: sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>]
// CHECK-SAME: time <compute = 40000, communication = 5001>
// CHECK: %[[W:.*]] = sched.parameter ["w"]
// CHECK: %[[SUM:.*]] = sched.state "sum"
// CHECK: %[[G:.*]] = sched.compute "aten.cos.default"({{.*}}{{.*}} :
// CHECK: %[[LONG:.*]] = sched.compute "aten.exp.default"({{.*}} when last{{.*}} :
// CHECK: %[[S:.*]] = sched.compute "meshplan.accumulate"(%[[SUM]], %[[G]]) {{.*}} overwrites [0]{{.*}} :
// CHECK: sched.free %[[G]]{{.*}} :
// CHECK: %[[T:.*]] = sched.start all_reduce %[[S]] over @dp sequence 0 when last{{.*}} :
// CHECK: %[[R:.*]] = sched.wait %[[T]] when last{{.*}} :
// CHECK: sched.gradient %[[R]] of %[[W]]
// CHECK: %[[N:.*]] = sched.compute "meshplan.sgd"({{.*}} when last{{.*}} :
// CHECK: sched.free %[[R]] when last{{.*}} :
// CHECK: sched.output "unread" %[[LONG]]
// CHECK: sched.update %[[N]] to %[[W]]
// CHECK: sched.update %[[S]] to %[[SUM]]
func.func @step(%w: !x {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true},
                %x: !x {plan.kind = #plan.kind<input>, plan.names = ["x"]},
                %sum: !part {plan.kind = #plan.kind<accumulator>, plan.names = ["sum"]},
                %r: !number {plan.kind = #plan.kind<setting>, plan.names = ["optimizer.lr"], plan.value = 0.5 : f64})
    -> (!x {plan.name = "unread"}, !x {plan.updates = #plan.argument<parameter "w">}, !part {plan.updates = #plan.argument<accumulator "sum">})
    attributes {plan.role = #base.role<step>, plan.timeline = [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>]} {
  %g = plan.call "aten.cos.default"(%x) {self = #base.operand<0>} : (!x) -> !part
  %long = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} : (!x) -> !x
  %s = plan.call "meshplan.accumulate"(%sum, %g) {self = #base.operand<0>, addend = #base.operand<1>} backward : (!part, !part) -> !part
  %t = plan.all_reduce %s [#plan.axis<"dp">] : !part -> !x
  %n = plan.call "meshplan.sgd"(%w, %t, %r) {parameter = #base.operand<0>, gradient = #base.operand<1>, learning_rate = #base.operand<2>} : (!x, !x, !number) -> !x
  return %long, %n, %s : !x, !x, !part
}

// -----

// Without a timeline nothing is left for a last instance.
!x = tensor<8xf32, #plan.sharding<[{}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>]
// CHECK-LABEL: sched.program @forward
// CHECK-NOT: when last
func.func @forward(%x: !x {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> (!x {plan.name = "y"}) {
  %0 = plan.call "aten.cos.default"(%x) {self = #base.operand<0>} : (!x) -> !x
  return %0 : !x
}
