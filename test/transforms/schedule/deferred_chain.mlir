// A gradient that is reduced over one axis after the other: the next microbatch starts the second reduction.
// What the last one computes from the sum leaves memory for it.
// RUN: meshplan-opt %s --schedule=solver=list | FileCheck %s

!x = tensor<1048576xf32, #plan.sharding<[{}]>>
!part = tensor<1048576xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
!parts = tensor<1048576xf32, #plan.sharding<[{}], partial = sum {"dp", "tp"}>>
!number = tensor<f64, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]

// CHECK-LABEL: sched.program @step role <step>
// CHECK: sched.resume 3
// CHECK-NEXT: sched.compute "aten.cos.default"
// CHECK: sched.resume 4
// CHECK: %[[T:.*]] = sched.start all_reduce %{{.*}} over @dp sequence 0
// CHECK: %[[R:.*]] = sched.wait %[[T]] when deferred
// CHECK: %[[U:.*]] = sched.start all_reduce %[[R]] over @tp sequence 1 when deferred
// CHECK: %[[S:.*]] = sched.wait %[[U]] when deferred
// CHECK: sched.compute "meshplan.accumulate"(%{{.*}}, %[[S]]) {{.*}} when deferred
func.func @step(%w: !x {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true},
                %x: !x {plan.kind = #plan.kind<input>, plan.names = ["x"]},
                %sum: !x {plan.kind = #plan.kind<accumulator>, plan.names = ["sum"]},
                %r: !number {plan.kind = #plan.kind<setting>, plan.names = ["optimizer.lr"], plan.value = 0.5 : f64})
    -> (!x {plan.updates = #plan.argument<parameter "w">}, !x {plan.updates = #plan.argument<accumulator "sum">})
    attributes {plan.role = #base.role<step>, plan.timeline = [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>]} {
  %h = plan.call "aten.sin.default"(%x) {self = #base.operand<0>} : (!x) -> !x
  %g = plan.call "aten.cos.default"(%h) {self = #base.operand<0>} : (!x) -> !parts
  %p = plan.all_reduce %g [#plan.axis<"dp">] : !parts -> !part
  %t = plan.all_reduce %p [#plan.axis<"tp">] : !part -> !x
  %s = plan.call "meshplan.accumulate"(%sum, %t) {self = #base.operand<0>, addend = #base.operand<1>} backward : (!x, !x) -> !x
  %u = plan.call "aten.neg.default"(%s) {self = #base.operand<0>} : (!x) -> !x
  %v = plan.call "aten.exp.default"(%s) {self = #base.operand<0>} : (!x) -> !x
  %a = plan.call "aten.sin.default"(%s) {self = #base.operand<0>} : (!x) -> !x
  %b = plan.call "aten.cos.default"(%s) {self = #base.operand<0>} : (!x) -> !x
  %c = plan.call "aten.sub.Tensor"(%u, %v) {self = #base.operand<0>, other = #base.operand<1>} : (!x, !x) -> !x
  %e = plan.call "aten.sub.Tensor"(%a, %b) {self = #base.operand<0>, other = #base.operand<1>} : (!x, !x) -> !x
  %d = plan.call "aten.sub.Tensor"(%c, %e) {self = #base.operand<0>, other = #base.operand<1>} : (!x, !x) -> !x
  %n = plan.call "meshplan.sgd"(%w, %d, %r) {parameter = #base.operand<0>, gradient = #base.operand<1>, learning_rate = #base.operand<2>} : (!x, !x, !number) -> !x
  return %n, %s : !x, !x
}
