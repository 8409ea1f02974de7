// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-split-microbatches --split-input-file --verify-diagnostics

!batch = tensor<12xf32, #plan.sharding<[{}]>>
!part = tensor<12xf32, #plan.sharding<[{"microbatch"}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"microbatch"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#plan.mesh_axis<"microbatch" = 3>]
func.func @step(%x: !batch {plan.kind = "input"}) -> (!number {plan.name = "loss"}) {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  // expected-error@below {{microbatches would have to be put together: an operator reads samples of several}}
  // expected-note@below {{help: leave 'microbatches' out, or take the operator that mixes samples out of the model}}
  %1 = plan.all_gather %0 [#plan.axis<"microbatch">] dim 0 : !part -> !batch
  %2 = plan.call "aten.softmax.int"(%1) {self = #plan.operand<0>, dim = 0} : (!batch) -> !batch
  %3 = plan.slice %2 [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %n = plan.call "aten.sum.default"(%3) {self = #plan.operand<0>} : (!part) -> !addend
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !addend -> !number
  return %n1 : !number
}

// -----

!batch = tensor<12xf32, #plan.sharding<[{}]>>
!part = tensor<12xf32, #plan.sharding<[{"microbatch"}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"microbatch"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#plan.mesh_axis<"microbatch" = 3>]
func.func @step(%x: !batch {plan.kind = "input"}) -> (!number {plan.name = "loss"}) {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  // expected-error@below {{operator 'aten.arange.start' depends on the place of a sample in the batch, which microbatches do not know yet}}
  %1 = plan.call "aten.arange.start"() {start = #plan.local<0, result 0, dim 0, offset 1>, end = 12} : () -> !part
  %2 = plan.call "aten.mul.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>} : (!part, !part) -> !part
  %n = plan.call "aten.sum.default"(%2) {self = #plan.operand<0>} : (!part) -> !addend
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !addend -> !number
  return %n1 : !number
}

// -----

!batch = tensor<12xf32, #plan.sharding<[{}]>>
!other = tensor<12xf32, #plan.sharding<[{"microbatch", unit 6}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"microbatch"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#plan.mesh_axis<"microbatch" = 3>]
func.func @step(%x: !batch {plan.kind = "input"}) -> (!number {plan.name = "loss"}) {
  // expected-error@below {{into microbatches of several sizes}}
  %0 = plan.call "aten.relu.default"(%x) {self = #plan.operand<0>} : (!batch) -> !other
  %n = plan.call "aten.sum.default"(%0) {self = #plan.operand<0>} : (!other) -> !addend
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !addend -> !number
  return %n1 : !number
}
