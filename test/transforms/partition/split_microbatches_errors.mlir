// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-split-microbatches --split-input-file --verify-diagnostics

!batch = tensor<12xf32, #plan.sharding<[{}]>>
!part = tensor<12xf32, #plan.sharding<[{"microbatch"}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"microbatch"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#plan.mesh_axis<"microbatch" = 3>]
func.func @step(%x: !batch {plan.kind = "input"}) -> (!number {plan.name = "loss"}) {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  // expected-error@below {{microbatches would have to be put together: operator 'aten.softmax.int' reads samples of several}}
  // expected-note@below {{help: leave 'microbatches 3' out, or write 'mean' behind it if the mean of the losses of microbatches is meant}}
  %1 = plan.all_gather %0 [#plan.axis<"microbatch">] dim 0 : !part -> !batch
  %2 = plan.call "aten.softmax.int"(%1) {self = #plan.operand<0>, dim = 0} : (!batch) -> !batch
  %3 = plan.slice %2 [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %n = plan.call "aten.sum.default"(%3) {self = #plan.operand<0>} : (!part) -> !addend
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
  // expected-note@below {{help: leave 'microbatches 3' out, or write a number that divides the 2 pieces of 6 elements that a dim of 12 has here}}
  %0 = plan.call "aten.relu.default"(%x) {self = #plan.operand<0>} : (!batch) -> !other
  %n = plan.call "aten.sum.default"(%0) {self = #plan.operand<0>} : (!other) -> !addend
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !addend -> !number
  return %n1 : !number
}

// -----

!batch = tensor<12xf32, #plan.sharding<[{}]>>
!part = tensor<12xf32, #plan.sharding<[{"microbatch"}]>>
!largest = tensor<f32, #plan.sharding<[], partial = max {"microbatch"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#plan.mesh_axis<"microbatch" = 3>]
func.func @step(%x: !batch {plan.kind = "input"}) -> (!number {plan.name = "loss"}) {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %n = plan.call "aten.max.default"(%0) {self = #plan.operand<0>} : (!part) -> !largest
  // expected-error@below {{microbatches are added up, and this is the max of all of them}}
  // expected-note@below {{help: leave 'microbatches 3' out, or write 'mean' behind it if the mean of the losses of microbatches is meant}}
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !largest -> !number
  return %n1 : !number
}

// -----

// Samples that come in whole are divided over ranks within a microbatch.
!batch = tensor<12xf32, #plan.sharding<[{}]>>
!part = tensor<12xf32, #plan.sharding<[{"microbatch", "dp"}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"microbatch", "dp"}>>
!ranks = tensor<f32, #plan.sharding<[], partial = sum {"dp"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#plan.mesh_axis<"dp" = 2>, #plan.mesh_axis<"microbatch" = 3>]
func.func @step(%x: !batch {plan.kind = "input"}) -> (!number {plan.name = "loss"}) {
  // expected-error@below {{divides microbatches over ranks}}
  // expected-note@below {{help: leave 'microbatches 3' out, or divide the samples where they come in: 'input NAME: [batch over dp, ...]'}}
  %0 = plan.slice %x [#plan.axis<"microbatch">, #plan.axis<"dp">] dim 0 : !batch -> !part
  %n = plan.call "aten.sum.default"(%0) {self = #plan.operand<0>} : (!part) -> !addend
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !addend -> !ranks
  %n2 = plan.all_reduce %n1 [#plan.axis<"dp">] : !ranks -> !number
  return %n2 : !number
}
