// The evaluation of a training with microbatches has a timeline of its own.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-split-microbatches | FileCheck %s

!batch = tensor<8x4xf32, #plan.sharding<[{}, {}]>>
!part = tensor<8x4xf32, #plan.sharding<[{"microbatch"}, {}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"microbatch"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"microbatch" = 4>]

// CHECK-LABEL: func.func @eval(
// CHECK-SAME: plan.names = ["eval.microbatches.sum0"]
// CHECK-SAME: {plan.loss}
// CHECK-SAME: plan.timeline = [#base.instance<@eval, 0>, #base.instance<@eval, 1>, #base.instance<@eval, 2>, #base.instance<@eval, 3>]
func.func @eval(%x: !batch {plan.kind = #plan.kind<input>}) -> (!number {plan.loss}) attributes {plan.role = #base.role<eval>} {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %1 = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (!part) -> !addend
  %2 = plan.all_reduce %1 [#plan.axis<"microbatch">] : !addend -> !number
  return %2 : !number
}
// CHECK-LABEL: func.func @step(
// CHECK-SAME: plan.names = ["microbatches.sum0"]
// CHECK-SAME: plan.timeline = [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>, #base.instance<@step, 3>]
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}) -> (!number {plan.name = "loss"}) attributes {plan.role = #base.role<step>} {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %1 = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (!part) -> !addend
  %2 = plan.all_reduce %1 [#plan.axis<"microbatch">] : !addend -> !number
  return %2 : !number
}
