// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-group-collectives --plan-lay-out-buffers | FileCheck %s

// ZeRO-3: the parameters of a unit share one buffer. Those that the backward pass gathers, too, come first, so that
// both the forward and the backward pass read one contiguous run of it, in its order.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data parameters over [#plan.axis<"dp">] prefetch 1 as "data dp" {overlap_gradients, contiguous_parameters, contiguous_gradients, register_buffers}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[BIAS:arg0]]: {{[^%]*}}plan.storage = #plan.storage<name = "parameters from w1", position = 2, registered = true>
// CHECK-SAME: %[[W1:arg1]]: {{[^%]*}}plan.storage = #plan.storage<name = "parameters from w1", position = 0, registered = true>
// CHECK-SAME: %[[W2:arg2]]: {{[^%]*}}plan.storage = #plan.storage<name = "parameters from w1", position = 1, registered = true>
// CHECK-SAME: %[[X:arg3]]:
// CHECK-SAME: %[[G2:arg4]]: tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>> {plan.kind = #plan.kind<accumulator>, plan.names = ["w2.gradient"], plan.scratch, plan.storage = #plan.storage<name = "gradients from w2", position = 0, registered = true>}
// CHECK-SAME: %[[G1:arg5]]: {{[^%]*}}plan.names = ["w1.gradient"], plan.scratch, plan.storage = #plan.storage<name = "gradients from w2", position = 1, registered = true>
func.func @step(%bias: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["bias"], plan.data = 0, plan.unit = 0},
                %w1: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["w1"], plan.data = 0, plan.unit = 0},
                %w2: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["w2"], plan.data = 0, plan.unit = 0},
                %x: !whole {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> (!flat, !flat) attributes {plan.role = #base.role<step>} {
  // CHECK-NEXT: plan.all_gather %[[W1]] [#plan.axis<"dp">] bucket 1
  // CHECK-NEXT: plan.all_gather %[[W2]] [#plan.axis<"dp">] bucket 1
  // CHECK-NEXT: plan.all_gather %[[BIAS]] [#plan.axis<"dp">] bucket 1
  // CHECK-NEXT: plan.call "aten.mul.Tensor"
  %wb = plan.all_gather %bias [#plan.axis<"dp">] : !flat -> !whole
  %0 = plan.call "aten.mul.Tensor"(%x, %wb) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %a = plan.all_gather %w1 [#plan.axis<"dp">] : !flat -> !whole
  %1 = plan.call "aten.mul.Tensor"(%0, %a) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %b = plan.all_gather %w2 [#plan.axis<"dp">] : !flat -> !whole
  %2 = plan.call "aten.mul.Tensor"(%1, %b) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  // CHECK: plan.all_gather %[[W1]] [#plan.axis<"dp">] bucket 2
  // CHECK-NEXT: plan.all_gather %[[W2]] [#plan.axis<"dp">] bucket 2
  // CHECK-NEXT: plan.call "aten.mul.Tensor"({{.*}}backward
  %b2 = plan.all_gather %w2 [#plan.axis<"dp">] : !flat -> !whole
  %gb = plan.call "aten.mul.Tensor"(%2, %b2) {self = #base.operand<0>, other = #base.operand<1>} backward : (!whole, !whole) -> !addend
  %a2 = plan.all_gather %w1 [#plan.axis<"dp">] : !flat -> !whole
  %ga = plan.call "aten.mul.Tensor"(%2, %a2) {self = #base.operand<0>, other = #base.operand<1>} backward : (!whole, !whole) -> !addend
  // CHECK: plan.reduce_scatter %{{.*}} [#plan.axis<"dp">] bucket 0 : {{.*}} into %[[G2]] :
  // CHECK-NEXT: plan.reduce_scatter %{{.*}} [#plan.axis<"dp">] bucket 0 : {{.*}} into %[[G1]] :
  %rb = plan.reduce_scatter %gb [#plan.axis<"dp">] : !addend -> !flat
  %nb = plan.call "meshplan.sgd"(%w2, %rb) {parameter = #base.operand<0>, gradient = #base.operand<1>} backward : (!flat, !flat) -> !flat
  %ra = plan.reduce_scatter %ga [#plan.axis<"dp">] : !addend -> !flat
  %na = plan.call "meshplan.sgd"(%w1, %ra) {parameter = #base.operand<0>, gradient = #base.operand<1>} backward : (!flat, !flat) -> !flat
  return %na, %nb : !flat, !flat
}
// Other programs have the order of the step.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: plan.storage = #plan.storage<name = "parameters from w1", position = 2, registered = true>
// CHECK-SAME: plan.storage = #plan.storage<name = "parameters from w1", position = 0, registered = true>
// CHECK-NEXT: plan.all_gather %arg1 [#plan.axis<"dp">] bucket 0
// CHECK-NEXT: plan.all_gather %arg0 [#plan.axis<"dp">] bucket 0
func.func @forward(%bias: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["bias"], plan.data = 0, plan.unit = 0},
                   %w1: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["w1"], plan.data = 0, plan.unit = 0}) -> !whole {
  %a = plan.all_gather %bias [#plan.axis<"dp">] : !flat -> !whole
  %b = plan.all_gather %w1 [#plan.axis<"dp">] : !flat -> !whole
  %0 = plan.call "aten.mul.Tensor"(%a, %b) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  return %0 : !whole
}
// A program that does not read `w2`, which is between the others in the memory that programs share.
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: plan.storage = #plan.storage<name = "parameters from w1", position = 2, registered = true>
// CHECK-SAME: plan.storage = #plan.storage<name = "parameters from w1", position = 0, registered = true>
func.func @eval(%bias: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["bias"], plan.data = 0, plan.unit = 0},
                %w1: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["w1"], plan.data = 0, plan.unit = 0}) -> (!flat, !flat) attributes {plan.role = #base.role<eval>} {
  return %bias, %w1 : !flat, !flat
}

// -----

// 32 bytes are a bucket: runs of the buffer, whatever the order in which they are read.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data parameters over [#plan.axis<"dp">] bucket 64 prefetch 1 as "data dp" {contiguous_parameters}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
// CHECK-LABEL: func.func @step(
func.func @step(%a: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0}, %b: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.data = 0},
                %c: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["c"], plan.data = 0}) -> (!whole, !whole, !whole) attributes {plan.role = #base.role<step>} {
  // CHECK: plan.all_gather %arg2 [#plan.axis<"dp">] {plan.prefetch = #plan.prefetch<unit = 0, ahead = 1>} :
  // CHECK-NEXT: plan.all_gather %arg0 [#plan.axis<"dp">] bucket 0
  // CHECK-NEXT: plan.all_gather %arg1 [#plan.axis<"dp">] bucket 0
  %0 = plan.all_gather %c [#plan.axis<"dp">] : !flat -> !whole
  %1 = plan.all_gather %a [#plan.axis<"dp">] : !flat -> !whole
  %2 = plan.all_gather %b [#plan.axis<"dp">] : !flat -> !whole
  return %0, %1, %2 : !whole, !whole, !whole
}

// -----

// Gradients that are reduced whole: each is copied to its location in the buffer once computed, and reduced there.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data replicated over [#plan.axis<"dp">] bucket 64 prefetch 0 as "data dp" {overlap_gradients, contiguous_gradients}
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[PA:arg3]]: tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>> {plan.kind = #plan.kind<accumulator>, plan.names = ["a.gradient"], plan.scratch, plan.storage = #plan.storage<name = "gradients from a", position = 0>}
// CHECK-SAME: %[[PB:arg4]]: {{[^%]*}}plan.names = ["b.gradient"], plan.scratch, plan.storage = #plan.storage<name = "gradients from a", position = 1>
func.func @step(%a: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0}, %b: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.data = 0},
                %x: !whole {plan.kind = #plan.kind<input>}) -> (!whole {plan.gradient_of = #plan.argument<parameter "a">}, !whole {plan.gradient_of = #plan.argument<parameter "b">}) attributes {plan.role = #base.role<step>} {
  // CHECK-NEXT: %[[A:.*]] = plan.call "aten.neg.default"
  // CHECK-NEXT: %[[AP:.*]] = plan.call "meshplan.assign"(%[[PA]], %[[A]]) {self = #base.operand<0>, source = #base.operand<1>} backward
  // CHECK-NEXT: %[[B:.*]] = plan.call "aten.exp.default"
  // CHECK-NEXT: %[[BP:.*]] = plan.call "meshplan.assign"(%[[PB]], %[[B]])
  // CHECK-NEXT: plan.all_reduce %[[AP]] [#plan.axis<"dp">] bucket 0 : {{.*}} into %[[AP]] :
  // CHECK-NEXT: plan.all_reduce %[[BP]] [#plan.axis<"dp">] bucket 0 : {{.*}} into %[[BP]] :
  %ga = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} backward : (!whole) -> !addend
  %ra = plan.all_reduce %ga [#plan.axis<"dp">] : !addend -> !whole
  %gb = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} backward : (!whole) -> !addend
  %rb = plan.all_reduce %gb [#plan.axis<"dp">] : !addend -> !whole
  return %ra, %rb : !whole, !whole
}

// -----

// Microbatches accumulate in that location itself.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data replicated over [#plan.axis<"dp">] bucket 64 prefetch 0 as "data dp" {overlap_gradients, contiguous_gradients}
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[SUM:arg2]]: {{[^%]*}}plan.kind = #plan.kind<accumulator>, plan.names = ["microbatches.sum0"], plan.storage = #plan.storage<name = "gradients from a", position = 0>
func.func @step(%a: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0}, %g: !addend,
                %sum: !addend {plan.kind = #plan.kind<accumulator>, plan.names = ["microbatches.sum0"], plan.data = 0})
    -> (!whole {plan.gradient_of = #plan.argument<parameter "a">}, !addend {plan.updates = #plan.argument<accumulator "microbatches.sum0">}) attributes {plan.role = #base.role<step>} {
  // CHECK-NOT: meshplan.assign
  // CHECK: %[[S:.*]] = plan.call "meshplan.accumulate"(%[[SUM]], %arg1)
  // CHECK-NEXT: plan.all_reduce %[[S]] [#plan.axis<"dp">] : {{.*}} into %[[S]] :
  %s = plan.call "meshplan.accumulate"(%sum, %g) {self = #base.operand<0>, addend = #base.operand<1>} backward : (!addend, !addend) -> !addend
  %r = plan.all_reduce %s [#plan.axis<"dp">] : !addend -> !whole
  return %r, %s : !whole, !addend
}

// -----

// Shards are reduced within a pod, and then over all: the result of the reduce-scatter is all-reduced in place.
plan.mesh [#base.mesh_axis<"pod" = 2>, #base.mesh_axis<"dp" = 2>]
plan.data parameters over [#plan.axis<"dp">] prefetch 1 as "data pod, dp" {contiguous_gradients}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!part = tensor<8xf32, #plan.sharding<[{}], partial = sum {"pod"}, flat = {"dp"}>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"pod", "dp"}>>
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[PLACE:arg2]]: {{[^%]*}}plan.kind = #plan.kind<accumulator>, plan.names = ["a.gradient"]
func.func @step(%a: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0}, %g: !addend) -> (!flat {plan.gradient_of = #plan.argument<parameter "a">}) attributes {plan.role = #base.role<step>} {
  // CHECK: %[[P:.*]] = plan.reduce_scatter {{.*}} into %[[PLACE]] :
  // CHECK-NEXT: plan.all_reduce %[[P]] [#plan.axis<"pod">] {{.*}} into %[[P]] :
  %p = plan.reduce_scatter %g [#plan.axis<"dp">] : !addend -> !part
  %r = plan.all_reduce %p [#plan.axis<"pod">] : !part -> !flat
  return %r : !flat
}

// -----

// New parameters are gathered into the old ones, unless they are used in another way.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data optimizer over [#plan.axis<"dp">] prefetch 0 as "data dp" {contiguous_parameters}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
// CHECK-LABEL: func.func @updates(
func.func @updates(%a: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0}, %b: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.data = 0}, %na: !flat, %nb: !flat)
    -> (!whole {plan.updates = #plan.argument<parameter "a">}, !whole {plan.updates = #plan.argument<parameter "b">}) {
  // CHECK-NEXT: %[[A:.*]] = plan.all_gather %arg2 [#plan.axis<"dp">] bucket 0 {{.*}} into %arg0 :
  // CHECK-NEXT: %[[B:.*]] = plan.all_gather %arg3 [#plan.axis<"dp">] bucket 0 {{.*}} into %arg1 :
  // CHECK-NEXT: return %[[A]], %[[B]]
  %wa = plan.all_gather %na [#plan.axis<"dp">] : !flat -> !whole
  %0 = plan.call "meshplan.assign"(%a, %wa) {self = #base.operand<0>, source = #base.operand<1>} backward : (!whole, !whole) -> !whole
  %wb = plan.all_gather %nb [#plan.axis<"dp">] : !flat -> !whole
  %1 = plan.call "meshplan.assign"(%b, %wb) {self = #base.operand<0>, source = #base.operand<1>} backward : (!whole, !whole) -> !whole
  return %0, %1 : !whole, !whole
}

// -----

// A parameter that is converted before it is gathered cannot be contiguous.
plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{'contiguous parameters' of 'a', which is stored as f32 and gathered as bf16: each gather needs a converted copy, which cannot be in the buffer}}
// expected-note @below {{help: store parameters in the type in which they are gathered, with 'precision { storage bf16; master f32 }', or remove 'contiguous parameters'}}
plan.data parameters over [#plan.axis<"dp">] prefetch 1 as "data dp" {contiguous_parameters}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!half = tensor<8xbf16, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xbf16, #plan.sharding<[{}]>>
func.func @converted(%a: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0}) -> !whole {
  %0 = plan.call "aten._to_copy.default"(%a) {self = #base.operand<0>, dtype = bf16} : (!flat) -> !half
  %1 = plan.all_gather %0 [#plan.axis<"dp">] : !half -> !whole
  %2 = plan.call "aten.neg.default"(%1) {self = #base.operand<0>} : (!whole) -> !whole
  return %2 : !whole
}

// -----

// A parameter that is gathered in a wider type than it is stored in.
plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{'contiguous parameters' of 'a', which is stored as bf16 and gathered as f32: each gather needs a converted copy, which cannot be in the buffer}}
// expected-note @below {{help: remove 'gather f32' from 'precision', or remove 'contiguous parameters'}}
plan.data parameters over [#plan.axis<"dp">] prefetch 1 as "data dp" {contiguous_parameters}
!flat = tensor<8xbf16, #plan.sharding<[{}], flat = {"dp"}>>
!wide = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
func.func @widened(%a: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0}) -> !whole {
  %0 = plan.call "aten._to_copy.default"(%a) {self = #base.operand<0>, dtype = f32} : (!flat) -> !wide
  %1 = plan.all_gather %0 [#plan.axis<"dp">] : !wide -> !whole
  %2 = plan.call "aten.neg.default"(%1) {self = #base.operand<0>} : (!whole) -> !whole
  return %2 : !whole
}
