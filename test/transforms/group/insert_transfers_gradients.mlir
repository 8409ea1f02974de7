// Where gradients move to the host, and what the optimizer's calls on the host read.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-insert-transfers | FileCheck %s

!x = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!half = tensor<8xbf16, #plan.sharding<[{}], flat = {"dp"}>>
!p = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
!s = tensor<f64, #plan.sharding<[]>>
!n = tensor<f32, #plan.sharding<[], partial = sum {"dp"}>>
plan.mesh [#base.mesh_axis<"dp" = 2>]

// Gradients of a bucket move before the first of the next bucket is reduced, though each has its own wait. Non-finite
// elements are counted before that, too; calls that read several gradients stay where they were.
// CHECK-LABEL: func.func @pieces(
func.func @pieces(%a: !x {plan.kind = #plan.kind<parameter>, plan.names = ["a"]}, %b: !x {plan.kind = #plan.kind<parameter>, plan.names = ["b"]}, %c: !x {plan.kind = #plan.kind<parameter>, plan.names = ["c"]},
                  %g: !p, %h: !p, %i: !p, %m: !x {plan.kind = #plan.kind<state>, plan.names = ["m"], plan.of = #plan.argument<parameter "a">, plan.host},
                  %k: !x {plan.kind = #plan.kind<state>, plan.names = ["k"], plan.of = #plan.argument<parameter "b">, plan.host}, %l: !x {plan.kind = #plan.kind<state>, plan.names = ["l"], plan.of = #plan.argument<parameter "c">, plan.host}, %r: !s)
    -> (!n, !x {plan.updates = #plan.argument<parameter "a">}, !x {plan.updates = #plan.argument<state "m">}, !x {plan.updates = #plan.argument<parameter "b">}, !x {plan.updates = #plan.argument<state "k">},
        !x {plan.updates = #plan.argument<parameter "c">}, !x {plan.updates = #plan.argument<state "l">}) {
  // CHECK-NEXT: %[[G:.*]] = plan.reduce_scatter %arg3 {{.*}} bucket 0
  // CHECK-NEXT: %[[H:.*]] = plan.reduce_scatter %arg4 {{.*}} bucket 0
  // CHECK-NEXT: plan.call "meshplan.nonfinite_count"(%[[G]])
  // CHECK-NEXT: %[[HOST_G:.*]] = plan.call "meshplan.to_host"(%[[G]])
  // CHECK-NEXT: plan.call "meshplan.nonfinite_count"(%[[H]])
  // CHECK-NEXT: %[[HOST_H:.*]] = plan.call "meshplan.to_host"(%[[H]])
  // CHECK-NEXT: %[[I:.*]] = plan.reduce_scatter %arg5 {{.*}} bucket 1
  // CHECK-NEXT: plan.call "aten.add.Tensor"(%[[G]], %[[I]])
  // CHECK: plan.call "meshplan.sgd_momentum"(%{{.*}}, %[[HOST_G]], %arg6
  // CHECK: plan.call "meshplan.sgd_momentum"(%{{.*}}, %[[HOST_H]], %arg7
  // CHECK: %[[HOST_I:.*]] = plan.call "meshplan.to_host"(%[[I]])
  // CHECK-NEXT: plan.call "meshplan.sgd_momentum"(%{{.*}}, %[[HOST_I]], %arg8
  %0 = plan.reduce_scatter %g [#plan.axis<"dp">] bucket 0 : !p -> !x
  %1 = plan.reduce_scatter %h [#plan.axis<"dp">] bucket 0 : !p -> !x
  %2 = plan.reduce_scatter %i [#plan.axis<"dp">] bucket 1 : !p -> !x
  %both = plan.call "aten.add.Tensor"(%0, %2) {self = #base.operand<0>, other = #base.operand<1>} : (!x, !x) -> !x
  %3 = plan.call "meshplan.nonfinite_count"(%0) {self = #base.operand<0>} : (!x) -> !n
  %4 = plan.call "meshplan.nonfinite_count"(%1) {self = #base.operand<0>} : (!x) -> !n
  %5 = plan.call "aten.add.Tensor"(%3, %4) {self = #base.operand<0>, other = #base.operand<1>} : (!n, !n) -> !n
  %6:2 = plan.call "meshplan.sgd_momentum"(%a, %0, %m, %r, %r) {parameter = #base.operand<0>, gradient = #base.operand<1>,
      momentum = #base.operand<2>, learning_rate = #base.operand<3>, step = #base.operand<4>} : (!x, !x, !x, !s, !s) -> (!x, !x)
  %7:2 = plan.call "meshplan.sgd_momentum"(%b, %1, %k, %r, %r) {parameter = #base.operand<0>, gradient = #base.operand<1>,
      momentum = #base.operand<2>, learning_rate = #base.operand<3>, step = #base.operand<4>} : (!x, !x, !x, !s, !s) -> (!x, !x)
  %8:2 = plan.call "meshplan.sgd_momentum"(%c, %2, %l, %r, %r) {parameter = #base.operand<0>, gradient = #base.operand<1>,
      momentum = #base.operand<2>, learning_rate = #base.operand<3>, step = #base.operand<4>} : (!x, !x, !x, !s, !s) -> (!x, !x)
  return %5, %6#0, %6#1, %7#0, %7#1, %8#0, %8#1 : !n, !x, !x, !x, !x, !x, !x
}

// A reduce-scatter over some ranks, an all-reduce over the others, and a conversion: still the same gradient. A
// gradient that is not reduced moves where it is computed.
!pods = tensor<8xbf16, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK-LABEL: func.func @converted(
func.func @converted(%a: !x {plan.kind = #plan.kind<parameter>, plan.names = ["a"]}, %b: !x {plan.kind = #plan.kind<parameter>, plan.names = ["b"]}, %g: !pods, %v: !x,
                     %m: !x {plan.kind = #plan.kind<state>, plan.names = ["m"], plan.of = #plan.argument<parameter "a">, plan.host}, %k: !x {plan.kind = #plan.kind<state>, plan.names = ["k"], plan.of = #plan.argument<parameter "b">, plan.host}, %r: !s)
    -> (!x {plan.updates = #plan.argument<parameter "a">}, !x {plan.updates = #plan.argument<state "m">}, !x {plan.updates = #plan.argument<parameter "b">}, !x {plan.updates = #plan.argument<state "k">}) {
  // CHECK-NEXT: plan.reduce_scatter %arg2
  // CHECK-NEXT: %[[W:.*]] = plan.call "aten._to_copy.default"({{.*}} #base.operand<0>} backward :
  // CHECK-NEXT: %[[OWN:.*]] = plan.call "aten.neg.default"(%arg3)
  // CHECK-NEXT: %[[HOST_OWN:.*]] = plan.call "meshplan.to_host"(%[[OWN]])
  // CHECK: %[[HOST_W:.*]] = plan.call "meshplan.to_host"(%[[W]])
  // CHECK-NEXT: plan.call "meshplan.sgd_momentum"(%{{.*}}, %[[HOST_W]], %arg4
  // CHECK: plan.call "meshplan.sgd_momentum"(%{{.*}}, %[[HOST_OWN]], %arg5
  %0 = plan.reduce_scatter %g [#plan.axis<"dp">] : !pods -> !half
  %1 = plan.call "aten._to_copy.default"(%0) {self = #base.operand<0>, dtype = f32} backward : (!half) -> !x
  %2 = plan.call "aten.neg.default"(%v) {self = #base.operand<0>} backward : (!x) -> !x
  %3:2 = plan.call "meshplan.sgd_momentum"(%a, %1, %m, %r, %r) {parameter = #base.operand<0>, gradient = #base.operand<1>,
      momentum = #base.operand<2>, learning_rate = #base.operand<3>, step = #base.operand<4>} : (!x, !x, !x, !s, !s) -> (!x, !x)
  %4:2 = plan.call "meshplan.sgd_momentum"(%b, %2, %k, %r, %r) {parameter = #base.operand<0>, gradient = #base.operand<1>,
      momentum = #base.operand<2>, learning_rate = #base.operand<3>, step = #base.operand<4>} : (!x, !x, !x, !s, !s) -> (!x, !x)
  return %3#0, %3#1, %4#0, %4#1 : !x, !x, !x, !x
}

// Adam has two states, and its scalars (rate, step, factor of the norm) are read where they are.
// CHECK-LABEL: func.func @adam(
func.func @adam(%w: !x {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.host}, %g: !p, %m: !x {plan.kind = #plan.kind<state>, plan.names = ["m"], plan.of = #plan.argument<parameter "w">, plan.host},
                %v: !x {plan.kind = #plan.kind<state>, plan.names = ["v"], plan.of = #plan.argument<parameter "w">, plan.host}, %r: !s, %f: !s)
    -> (!x {plan.updates = #plan.argument<parameter "w">}, !x {plan.updates = #plan.argument<state "m">}, !x {plan.updates = #plan.argument<state "v">}) {
  // CHECK-NEXT: %[[G:.*]] = plan.reduce_scatter %arg1
  // CHECK-NEXT: %[[HOST:.*]] = plan.call "meshplan.to_host"(%[[G]])
  // CHECK-NEXT: %[[NEW:.*]]:3 = plan.call "meshplan.adam"(%arg0, %[[HOST]], %arg2, %arg3, %arg4, %arg4, %arg5) {{.*}} {plan.host}
  // CHECK-NEXT: return %[[NEW]]#0, %[[NEW]]#1, %[[NEW]]#2
  %0 = plan.reduce_scatter %g [#plan.axis<"dp">] : !p -> !x
  %1:3 = plan.call "meshplan.adam"(%w, %0, %m, %v, %r, %r, %f) {parameter = #base.operand<0>, gradient = #base.operand<1>, average = #base.operand<2>,
      square_average = #base.operand<3>, learning_rate = #base.operand<4>, step = #base.operand<5>, factor = #base.operand<6>}
      : (!x, !x, !x, !x, !s, !s, !s) -> (!x, !x, !x)
  return %1#0, %1#1, %1#2 : !x, !x, !x
}

// An optimizer without state updates the parameter in the memory of that parameter.
// CHECK-LABEL: func.func @keeps_nothing(
func.func @keeps_nothing(%w: !x {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.host}, %v: !x {plan.kind = #plan.kind<parameter>, plan.names = ["v"]}, %g: !x, %r: !s)
    -> (!x {plan.updates = #plan.argument<parameter "w">}, !x {plan.updates = #plan.argument<parameter "v">}) {
  // CHECK-NEXT: %[[G:.*]] = plan.call "meshplan.to_host"(%arg2)
  // CHECK-NEXT: plan.call "meshplan.sgd"(%arg0, %[[G]], %arg3) {{.*}} {plan.host}
  // CHECK-NEXT: plan.call "meshplan.sgd"(%arg1, %arg2, %arg3) {{.*}} #base.operand<0>} :
  // CHECK-NEXT: return
  %0 = plan.call "meshplan.sgd"(%w, %g, %r) {parameter = #base.operand<0>, gradient = #base.operand<1>, learning_rate = #base.operand<2>} : (!x, !x, !s) -> !x
  %1 = plan.call "meshplan.sgd"(%v, %g, %r) {parameter = #base.operand<0>, gradient = #base.operand<1>, learning_rate = #base.operand<2>} : (!x, !x, !s) -> !x
  return %0, %1 : !x, !x
}

// -----

!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
plan.mesh [#base.mesh_axis<"dp" = 2>]
// Microbatches accumulate on the device, from copies of the parameters.
// CHECK-LABEL: func.func @step(
func.func @step(%w: !flat {plan.kind = #plan.kind<parameter>, plan.host}, %sum: !addend {plan.kind = #plan.kind<accumulator>, plan.names = ["sum"]})
    -> (!addend {plan.updates = #plan.argument<accumulator "sum">}) attributes {plan.timeline = [#base.instance<@step, 0>, #base.instance<@step, 1>]} {
  // CHECK-NEXT: %[[W:.*]] = plan.call "meshplan.to_device"(%arg0)
  // CHECK-NEXT: %[[WHOLE:.*]] = plan.all_gather %[[W]]
  // CHECK-NEXT: %[[G:.*]] = plan.call "aten.cos.default"(%[[WHOLE]])
  // CHECK-NEXT: %[[S:.*]] = plan.call "meshplan.accumulate"(%arg1, %[[G]]) {addend = #base.operand<1>, self = #base.operand<0>} backward :
  // CHECK-NEXT: return %[[S]]
  %0 = plan.all_gather %w [#plan.axis<"dp">] : !flat -> !whole
  %1 = plan.call "aten.cos.default"(%0) {self = #base.operand<0>} : (!whole) -> !addend
  %2 = plan.call "meshplan.accumulate"(%sum, %1) {self = #base.operand<0>, addend = #base.operand<1>} backward : (!addend, !addend) -> !addend
  return %2 : !addend
}
