// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-split-microbatches --split-input-file --verify-diagnostics

!batch = tensor<12xf32, #plan.sharding<[{}]>>
!part = tensor<12xf32, #plan.sharding<[{"microbatch"}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"microbatch"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"microbatch" = 3>]
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}) -> (!number {plan.name = "loss"}) attributes {plan.role = #base.role<step>} {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  // expected-error@below {{microbatches cannot be concatenated: operator 'aten.softmax.int' reads samples of several microbatches}}
  // expected-note@below {{help: leave out 'microbatches 3', or write 'mean' after it to take the mean of the losses of microbatches}}
  %1 = plan.all_gather %0 [#plan.axis<"microbatch">] dim 0 : !part -> !batch
  %2 = plan.call "aten.softmax.int"(%1) {self = #base.operand<0>, dim = 0} : (!batch) -> !batch
  %3 = plan.slice %2 [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %n = plan.call "aten.sum.default"(%3) {self = #base.operand<0>} : (!part) -> !addend
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !addend -> !number
  return %n1 : !number
}

// -----

!batch = tensor<12xf32, #plan.sharding<[{}]>>
!part = tensor<12xf32, #plan.sharding<[{"microbatch"}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"microbatch"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"microbatch" = 3>]
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}) -> (!number {plan.name = "loss"}) attributes {plan.role = #base.role<step>} {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  // expected-error@below {{microbatches cannot be concatenated: the derivative of 'aten.cumsum.default' in 'layer' has no rule by sample}}
  // expected-note@below {{help: leave out 'microbatches 3', or write the module with other operators}}
  %1 = plan.all_gather %0 [#plan.axis<"microbatch">] dim 0 : !part -> !batch
  %2 = plan.call "vjp.aten.cumsum.default"(%1, %1) {self = #base.operand<0>, dim = 0, gradients = [#base.operand<1>], of = "self"} in "layer" : (!batch, !batch) -> !batch
  %3 = plan.slice %2 [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %n = plan.call "aten.sum.default"(%3) {self = #base.operand<0>} : (!part) -> !addend
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !addend -> !number
  return %n1 : !number
}

// -----

!batch = tensor<12xf32, #plan.sharding<[{}]>>
!other = tensor<12xf32, #plan.sharding<[{"microbatch", unit 6}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"microbatch"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"microbatch" = 3>]
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}) -> (!number {plan.name = "loss"}) attributes {plan.role = #base.role<step>} {
  // expected-error@below {{'aten.relu.default' in the root module has a dim of 12: its 2 blocks of 6 elements cannot be split evenly into microbatches}}
  // expected-note@below {{help: leave out 'microbatches 3', or write a number that divides 2}}
  %0 = plan.call "aten.relu.default"(%x) {self = #base.operand<0>} : (!batch) -> !other
  %n = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (!other) -> !addend
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !addend -> !number
  return %n1 : !number
}

// -----

!batch = tensor<12xf32, #plan.sharding<[{}]>>
!part = tensor<12xf32, #plan.sharding<[{"microbatch"}]>>
!largest = tensor<f32, #plan.sharding<[], partial = max {"microbatch"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"microbatch" = 3>]
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}) -> (!number {plan.name = "loss"}) attributes {plan.role = #base.role<step>} {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %n = plan.call "aten.max.default"(%0) {self = #base.operand<0>} : (!part) -> !largest
  // expected-error@below {{microbatches are accumulated as a sum, but 'aten.max.default' in the root module is the max of all of them}}
  // expected-note@below {{help: leave out 'microbatches 3', or write 'mean' after it to take the mean of the losses of microbatches}}
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !largest -> !number
  return %n1 : !number
}

// -----

// A diagonal that counts samples, which are sharded over ranks, split into microbatches, and sharded again.
!part = tensor<12x12xf32, #plan.sharding<[{"dp", "microbatch", "tp"}, {}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"dp", "tp", "microbatch"}>>
!ranks = tensor<f32, #plan.sharding<[], partial = sum {"dp", "tp"}>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>, #base.mesh_axis<"microbatch" = 3>]
func.func @step(%x: !part {plan.kind = #plan.kind<input>}) -> (!ranks {plan.name = "loss"}) attributes {plan.role = #base.role<step>} {
  // expected-error@below {{operator 'aten.tril.default' counts samples, but its microbatches are split over ranks}}
  // expected-note@below {{help: leave out 'microbatches 3', or gather before it the axes that split the samples of a rank further}}
  %0 = plan.call "aten.tril.default"(%x) {self = #base.operand<0>, diagonal = #base.local<0, operand 0, dim 0, offset 1>} : (!part) -> !part
  %n = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (!part) -> !addend
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !addend -> !ranks
  return %n1 : !ranks
}

// -----

// The error names the module of the reader, or says that an output needs the gathered samples.
!batch = tensor<12xf32, #plan.sharding<[{}]>>
!part = tensor<12xf32, #plan.sharding<[{"microbatch"}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"microbatch"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"microbatch" = 3>]
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}) -> (!number {plan.name = "loss"}) attributes {plan.role = #base.role<step>} {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  // expected-error@below {{microbatches cannot be concatenated: operator 'aten.cumsum.default' in 'model.norm' reads samples of several microbatches}}
  // expected-note@below {{help: leave out 'microbatches 3', or write 'mean' after it to take the mean of the losses of microbatches}}
  %1 = plan.all_gather %0 [#plan.axis<"microbatch">] dim 0 : !part -> !batch
  %2 = plan.call "aten.cumsum.default"(%1) {self = #base.operand<0>, dim = 0} in "model.norm" : (!batch) -> !batch
  %3 = plan.slice %2 [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %n = plan.call "aten.sum.default"(%3) {self = #base.operand<0>} : (!part) -> !addend
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !addend -> !number
  return %n1 : !number
}

// -----

!batch = tensor<12xf32, #plan.sharding<[{}]>>
!part = tensor<12xf32, #plan.sharding<[{"microbatch"}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"microbatch"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"microbatch" = 2>]
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}) -> (!number {plan.name = "loss"}, !batch {plan.name = "hidden"}) attributes {plan.role = #base.role<step>} {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %n = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (!part) -> !addend
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !addend -> !number
  // expected-error@below {{microbatches cannot be concatenated: an output reads samples of several microbatches}}
  // expected-note@below {{help: leave out 'microbatches 2', or write 'mean' after it to take the mean of the losses of microbatches}}
  %1 = plan.all_gather %0 [#plan.axis<"microbatch">] dim 0 : !part -> !batch
  return %n1, %1 : !number, !batch
}

// -----

// A dim that is sharded part by part has no single run of elements for a microbatch.
!batch = tensor<12xf32, #plan.sharding<[{}]>>
!parts = tensor<12xf32, #plan.sharding<[{"microbatch", parts [6, 6]}]>>
!addend = tensor<f32, #plan.sharding<[], partial = sum {"microbatch"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"microbatch" = 3>]
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}) -> (!number {plan.name = "loss"}) attributes {plan.role = #base.role<step>} {
  // expected-error@below {{'aten.relu.default' in the root module has a dim of 12 that concatenates values of several batches: a microbatch would take elements of each, which is not implemented}}
  // expected-note@below {{help: leave out 'microbatches 3', or write 'mean' after it to take the mean of the losses of microbatches}}
  %0 = plan.call "aten.relu.default"(%x) {self = #base.operand<0>} : (!batch) -> !parts
  %n = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (!parts) -> !addend
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !addend -> !number
  return %n1 : !number
}

// -----

// Microbatches can only be accumulated as sums: the minimum of all is not the sum of their minima.
!batch = tensor<12xf32, #plan.sharding<[{}]>>
!part = tensor<12xf32, #plan.sharding<[{"microbatch"}]>>
!least = tensor<f32, #plan.sharding<[], partial = min {"microbatch"}>>
!number = tensor<f32, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"microbatch" = 4>]
func.func @step(%x: !batch {plan.kind = #plan.kind<input>}) -> (!number {plan.name = "loss"}) attributes {plan.role = #base.role<step>} {
  %0 = plan.slice %x [#plan.axis<"microbatch">] dim 0 : !batch -> !part
  %n = plan.call "aten.min.default"(%0) {self = #base.operand<0>} : (!part) -> !least
  // expected-error@below {{microbatches are accumulated as a sum, but 'aten.min.default' in the root module is the min of all of them}}
  // expected-note@below {{help: leave out 'microbatches 4', or write 'mean' after it to take the mean of the losses of microbatches}}
  %n1 = plan.all_reduce %n [#plan.axis<"microbatch">] : !least -> !number
  return %n1 : !number
}
