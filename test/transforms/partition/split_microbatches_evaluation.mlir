// The evaluation of a training with microbatches has its own preceding programs.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-split-microbatches | FileCheck %s

!batch = tensor<8x4xf32, #plan.sharding<[{}, {}]>>
!part = tensor<8x4xf32, #plan.sharding<[{"microbatch"}, {}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"microbatch"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"microbatch" = 4>]

// CHECK-LABEL: func.func @eval.accumulate(
// CHECK-SAME: plan.names = ["eval.microbatches.sum0"]
// CHECK-SAME: plan.runs = 3 : i64, plan.runs_before = "eval"
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: plan.names = ["eval.microbatches.sum0"]
// CHECK-SAME: {plan.loss}
func.func @eval(%x: !batch {plan.kind = #plan.kind<input>}) -> (!number {plan.loss}) attributes {plan.role = #base.role<eval>} {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %1 = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (!part) -> !addend
  %2 = plan.all_reduce %1 [#plan.axis<"microbatch">] : !addend -> !number
  return %2 : !number
}
// CHECK-LABEL: func.func @accumulate(
// CHECK-SAME: plan.names = ["microbatches.sum0"]
// CHECK-SAME: plan.runs = 3 : i64, plan.runs_before = "step"
// CHECK-LABEL: func.func @step(
// CHECK-SAME: plan.names = ["microbatches.sum0"]
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}) -> (!number {plan.name = "loss"}) attributes {plan.role = #base.role<step>} {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %1 = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (!part) -> !addend
  %2 = plan.all_reduce %1 [#plan.axis<"microbatch">] : !addend -> !number
  return %2 : !number
}
