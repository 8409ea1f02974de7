// Parameters that the step gathers once, for all of its microbatches.
// RUN: meshplan-opt %s --schedule=solver=list | FileCheck %s
// RUN: meshplan-opt %s --schedule=solver=program | FileCheck %s

// A rank stores its shard of the parameter and rounds it before the gather. The first microbatch does both, and frees
// the rounded shard; all read the whole parameter, and the last one frees it. The optimizer updates the shard.
plan.mesh [#base.mesh_axis<"dp" = 2>]
!shard = tensor<4096xf32, #plan.sharding<[{"dp"}]>>
!narrow = tensor<4096xbf16, #plan.sharding<[{"dp"}]>>
!whole = tensor<4096xbf16, #plan.sharding<[{}]>>
!x = tensor<4096xbf16, #plan.sharding<[{}]>>
!sum = tensor<4096xf32, #plan.sharding<[{}]>>
!number = tensor<f64, #plan.sharding<[]>>

// CHECK-LABEL: sched.program @step role <step>
// CHECK: %[[W:.*]] = sched.parameter ["w"]
// CHECK: %[[SUM:.*]] = sched.state "sum"
// CHECK: %[[C:.*]] = sched.compute "aten._to_copy.default"(%[[W]]) {{.*}} when first
// CHECK: %[[T:.*]] = sched.start all_gather %[[C]] {{.*}} when first
// CHECK: %[[V:.*]] = sched.wait %[[T]] when first
// CHECK: sched.free %[[C]] when first
// CHECK: %[[Y:.*]] = sched.compute "aten.mul.Tensor"(%{{.*}}, %[[V]]) {{.*}} :
// CHECK: sched.free %[[V]]{{.*}} when last
func.func @step(%w: !shard {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true},
                %x: !x {plan.kind = #plan.kind<input>, plan.names = ["x"]},
                %sum: !sum {plan.kind = #plan.kind<accumulator>, plan.names = ["sum"]},
                %r: !number {plan.kind = #plan.kind<setting>, plan.names = ["optimizer.lr"], plan.value = 0.5 : f64})
    -> (!shard {plan.updates = #plan.argument<parameter "w">}, !sum {plan.updates = #plan.argument<accumulator "sum">})
    attributes {plan.role = #base.role<step>, plan.timeline = [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>]} {
  %c = plan.call "aten._to_copy.default"(%w) {self = #base.operand<0>, dtype = bf16} : (!shard) -> !narrow
  %v = plan.all_gather %c [#plan.axis<"dp">] dim 0 {plan.once} : !narrow -> !whole
  %y = plan.call "aten.mul.Tensor"(%x, %v) {self = #base.operand<0>, other = #base.operand<1>} : (!x, !whole) -> !x
  %s = plan.call "meshplan.accumulate"(%sum, %y) {self = #base.operand<0>, addend = #base.operand<1>} backward : (!sum, !x) -> !sum
  %d = plan.slice %s [#plan.axis<"dp">] dim 0 : !sum -> !shard
  %n = plan.call "meshplan.sgd"(%w, %d, %r) {parameter = #base.operand<0>, gradient = #base.operand<1>, learning_rate = #base.operand<2>} : (!shard, !shard, !number) -> !shard
  return %n, %s : !shard, !sum
}
