// Which buffers exist, and which tensors are in none.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-lay-out-buffers | FileCheck %s

// A buffer holds parameters of one unit and one element type; parameters that no unit names form their own. Only data
// statements with the option have buffers, and each decides for itself whether NCCL registers them.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp on a" {contiguous_parameters}
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp on b"
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp on c" {contiguous_parameters, register_buffers}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!half = tensor<8xbf16, #plan.sharding<[{}], flat = {"dp"}>>
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %arg0: {{[^%]*}}plan.storage = #plan.storage<name = "parameters from a", position = 0>
// CHECK-SAME: %arg1: {{[^%]*}}plan.storage = #plan.storage<name = "parameters from a_half", position = 0>
// CHECK-SAME: %arg2: {{[^%]*}}plan.storage = #plan.storage<name = "parameters from a", position = 1>
// CHECK-SAME: %arg3: {{[^%]*}}plan.storage = #plan.storage<name = "parameters from a_unit", position = 0>
// CHECK-SAME: %arg4: {{[^%]*}}plan.names = ["b"]}
// CHECK-SAME: %arg5: {{[^%]*}}plan.storage = #plan.storage<name = "parameters from c", position = 0, registered = true>
// CHECK-SAME: %arg6: {{[^%]*}}plan.storage = #plan.storage<name = "parameters from a_half", position = 1>
// CHECK-SAME: %arg7: {{[^%]*}}plan.kind = #plan.kind<state>{{[^%]*}}plan.of = #plan.argument<parameter "a">}
// CHECK-SAME: %arg8: {{[^%]*}}plan.names = ["free"]})
func.func @step(%a: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0},
                %h: !half {plan.kind = #plan.kind<parameter>, plan.names = ["a_half"], plan.data = 0},
                %a2: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["a2"], plan.data = 0},
                %u: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["a_unit"], plan.data = 0, plan.unit = 0},
                %b: !flat {plan.kind = #plan.kind<parameter>, plan.data = 1, plan.names = ["b"]},
                %c: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["c"], plan.data = 2},
                %h2: !half {plan.kind = #plan.kind<parameter>, plan.names = ["a_half2"], plan.data = 0},
                %m: !flat {plan.kind = #plan.kind<state>, plan.of = #plan.argument<parameter "a">},
                %free: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["free"]}) -> !flat attributes {plan.role = #base.role<step>} {
  return %a : !flat
}

// -----

// Without a step the order is that of the arguments.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp" {contiguous_parameters}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %arg0: {{[^%]*}}plan.storage = #plan.storage<name = "parameters from a", position = 0>
// CHECK-SAME: %arg1: {{[^%]*}}plan.storage = #plan.storage<name = "parameters from a", position = 1>
func.func @forward(%a: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0},
                   %b: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.data = 0}) -> (!whole, !whole) {
  %0 = plan.all_gather %b [#plan.axis<"dp">] : !flat -> !whole
  %1 = plan.all_gather %a [#plan.axis<"dp">] : !flat -> !whole
  return %1, %0 : !whole, !whole
}

// -----

// Gradients that are reduced alone have a buffer each, those of one bucket share one. A parameter with two gradients
// has two locations, and two buffers of the same name are not merged.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data optimizer over [#plan.axis<"dp">] prefetch 0 as "data dp" {contiguous_gradients}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK-LABEL: func.func @step(
// CHECK-SAME: plan.names = ["a.gradient"], plan.scratch, plan.storage = #plan.storage<name = "gradients from a", position = 0>
// CHECK-SAME: plan.names = ["b.gradient"], plan.scratch, plan.storage = #plan.storage<name = "gradients from b", position = 0>
// CHECK-SAME: plan.names = ["a.gradient.2"], plan.scratch, plan.storage = #plan.storage<name = "gradients from b", position = 1>
// CHECK-SAME: plan.names = ["b.gradient.2"], plan.scratch, plan.storage = #plan.storage<name = "gradients from b, again", position = 0>
func.func @step(%a: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0},
                %b: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.data = 0}, %x: !addend, %y: !addend)
    -> (!flat {plan.gradient_of = #plan.argument<parameter "a">}, !flat {plan.gradient_of = #plan.argument<parameter "b">}, !flat {plan.gradient_of = #plan.argument<parameter "a">}, !flat {plan.gradient_of = #plan.argument<parameter "b">}) attributes {plan.role = #base.role<step>} {
  // CHECK: plan.reduce_scatter %arg2 [#plan.axis<"dp">] : {{.*}} into %arg4 :
  // CHECK-NEXT: plan.reduce_scatter %arg2 [#plan.axis<"dp">] bucket 0 : {{.*}} into %arg5 :
  // CHECK-NEXT: plan.reduce_scatter %arg3 [#plan.axis<"dp">] bucket 0 : {{.*}} into %arg6 :
  // CHECK-NEXT: plan.reduce_scatter %arg3 [#plan.axis<"dp">] bucket 1 : {{.*}} into %arg7 :
  %0 = plan.reduce_scatter %x [#plan.axis<"dp">] : !addend -> !flat
  %1 = plan.reduce_scatter %x [#plan.axis<"dp">] bucket 0 : !addend -> !flat
  %2 = plan.reduce_scatter %y [#plan.axis<"dp">] bucket 0 : !addend -> !flat
  %3 = plan.reduce_scatter %y [#plan.axis<"dp">] bucket 1 : !addend -> !flat
  return %0, %1, %2, %3 : !flat, !flat, !flat, !flat
}

// -----

// There is already an accumulator of the same name: the new one has another name.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data optimizer over [#plan.axis<"dp">] prefetch 0 as "data dp" {contiguous_gradients}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %arg1: {{[^%]*}}plan.names = ["a.gradient"]}
// CHECK-SAME: %arg2: {{[^%]*}}plan.names = ["a.gradient.2"], plan.scratch
func.func @step(%a: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0},
                %x: !addend {plan.kind = #plan.kind<accumulator>, plan.names = ["a.gradient"]}) -> (!flat {plan.gradient_of = #plan.argument<parameter "a">}) attributes {plan.role = #base.role<step>} {
  %0 = plan.reduce_scatter %x [#plan.axis<"dp">] : !addend -> !flat
  return %0 : !flat
}

// -----

// A new parameter that is read elsewhere, or converted, is not gathered into the old one's location.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data optimizer over [#plan.axis<"dp">] prefetch 0 as "data dp" {contiguous_parameters}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!half = tensor<8xbf16, #plan.sharding<[{}]>>
// CHECK-LABEL: func.func @updates(
func.func @updates(%a: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0},
                   %b: !half {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.data = 0}, %na: !flat, %nb: !flat)
    -> (!whole {plan.updates = #plan.argument<parameter "a">}, !half {plan.updates = #plan.argument<parameter "b">}, !whole) {
  // CHECK-NEXT: %[[A:.*]] = plan.all_gather %arg2 [#plan.axis<"dp">] : {{.*}} -> tensor<8xf32, #plan.sharding<[{}]>>{{$}}
  // CHECK-NEXT: plan.call "meshplan.assign"(%arg0, %[[A]])
  // CHECK-NEXT: %[[B:.*]] = plan.all_gather %arg3 [#plan.axis<"dp">] : {{.*}} -> tensor<8xf32, #plan.sharding<[{}]>>{{$}}
  // CHECK-NEXT: %[[N:.*]] = plan.call "aten._to_copy.default"(%[[B]])
  // CHECK-NEXT: plan.call "meshplan.assign"(%arg1, %[[N]])
  %wa = plan.all_gather %na [#plan.axis<"dp">] : !flat -> !whole
  %0 = plan.call "meshplan.assign"(%a, %wa) {self = #base.operand<0>, source = #base.operand<1>} backward : (!whole, !whole) -> !whole
  %wb = plan.all_gather %nb [#plan.axis<"dp">] : !flat -> !whole
  %narrow = plan.call "aten._to_copy.default"(%wb) {self = #base.operand<0>, dtype = bf16} backward : (!whole) -> !half
  %1 = plan.call "meshplan.assign"(%b, %narrow) {self = #base.operand<0>, source = #base.operand<1>} backward : (!half, !half) -> !half
  return %0, %1, %wa : !whole, !half, !whole
}

// -----

// What is gathered over other axes, as weights of experts are, has a buffer of its own, and what is not gathered, too.
plan.mesh [#base.mesh_axis<"dp" = 4>]
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp" {contiguous_parameters}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!experts = tensor<8xf32, #plan.sharding<[{"dp":(2)2}], flat = {"dp":(1)2}>>
!own = tensor<8xf32, #plan.sharding<[{"dp"}]>>
// CHECK-LABEL: func.func @experts(
// CHECK-SAME: %arg0: {{[^%]*}}plan.storage = #plan.storage<name = "parameters from a", position = 0>
// CHECK-SAME: %arg1: {{[^%]*}}plan.storage = #plan.storage<name = "parameters from e", position = 0>
// CHECK-SAME: %arg2: {{[^%]*}}plan.storage = #plan.storage<name = "parameters from a", position = 1>
// CHECK-SAME: %arg3: {{[^%]*}}plan.storage = #plan.storage<name = "parameters from e", position = 1>
// CHECK-SAME: %arg4: {{[^%]*}}plan.storage = #plan.storage<name = "parameters from o", position = 0>
func.func @experts(%a: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0, plan.unit = 0},
                   %e: !experts {plan.kind = #plan.kind<parameter>, plan.names = ["e"], plan.data = 0, plan.unit = 0},
                   %b: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.data = 0, plan.unit = 0},
                   %f: !experts {plan.kind = #plan.kind<parameter>, plan.names = ["f"], plan.data = 0, plan.unit = 0},
                   %o: !own {plan.kind = #plan.kind<parameter>, plan.names = ["o"], plan.data = 0, plan.unit = 0}) -> !flat attributes {plan.role = #base.role<step>} {
  return %a : !flat
}
