// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-insert-transfers | FileCheck %s

!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!narrow = tensor<8xbf16, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xbf16, #plan.sharding<[{}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>]
// One copy per forward and backward pass, where the parameter is first read; tensors of one bucket stay together.
// CHECK-LABEL: func.func @passes(
func.func @passes(%a: !narrow {plan.kind = #plan.kind<parameter>, plan.host}, %b: !narrow {plan.kind = #plan.kind<parameter>, plan.host},
                  %c: !narrow {plan.kind = #plan.kind<parameter>}) -> !whole {
  // CHECK-NEXT: %[[A:.*]] = plan.call "meshplan.to_device"(%arg0) {self = #base.operand<0>} :
  // CHECK-NEXT: %[[B:.*]] = plan.call "meshplan.to_device"(%arg1)
  // CHECK-NEXT: plan.all_gather %[[A]] {{.*}} bucket 0
  // CHECK-NEXT: plan.all_gather %[[B]] {{.*}} bucket 0
  // CHECK-NEXT: plan.all_gather %arg2 {{.*}} bucket 0
  // CHECK-NEXT: plan.call "aten.add.Tensor"
  // CHECK-NEXT: %[[B2:.*]] = plan.call "meshplan.to_device"(%arg1)
  // CHECK-NEXT: %[[AGAIN:.*]] = plan.all_gather %[[B2]]
  // CHECK-NEXT: plan.call "aten.cos.default"(%[[AGAIN]])
  // CHECK-NEXT: return
  %0 = plan.all_gather %a [#plan.axis<"dp">] bucket 0 : !narrow -> !whole
  %1 = plan.all_gather %b [#plan.axis<"dp">] bucket 0 : !narrow -> !whole
  %2 = plan.all_gather %c [#plan.axis<"dp">] bucket 0 : !narrow -> !whole
  %3 = plan.call "aten.add.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %4 = plan.all_gather %b [#plan.axis<"dp">] : !narrow -> !whole
  %5 = plan.call "aten.cos.default"(%4) {self = #base.operand<0>} backward : (!whole) -> !whole
  return %5 : !whole
}

// A parameter is converted on the device, and read there throughout a pass. Results of the program are there, too.
// CHECK-LABEL: func.func @converted(
func.func @converted(%a: !flat {plan.kind = #plan.kind<parameter>, plan.host}) -> (!whole, !flat) {
  // CHECK-NEXT: %[[A:.*]] = plan.call "meshplan.to_device"(%arg0)
  // CHECK-NEXT: %[[N:.*]] = plan.call "aten._to_copy.default"(%[[A]]) {{.*}} :
  // CHECK-NEXT: plan.all_gather %[[N]]
  // CHECK-NEXT: plan.call "aten.neg.default"(%[[A]])
  // CHECK-NEXT: %[[OUT:.*]] = plan.call "meshplan.to_device"(%arg0)
  // CHECK-NEXT: return %{{.*}}, %[[OUT]]
  %0 = plan.call "aten._to_copy.default"(%a) {self = #base.operand<0>, dtype = bf16} : (!flat) -> !narrow
  %1 = plan.all_gather %0 [#plan.axis<"dp">] : !narrow -> !whole
  %2 = plan.call "aten.neg.default"(%a) {self = #base.operand<0>} : (!flat) -> !flat
  return %1, %a : !whole, !flat
}

// -----

!x = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!p = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
!s = tensor<f64, #plan.sharding<[]>>
!n = tensor<f32, #plan.sharding<[], partial = sum {"dp"}>>
plan.mesh [#base.mesh_axis<"dp" = 2>]
// Gradients move to the host before the next ones are reduced, the last one at the optimizer's call; their sums of
// squares are computed before. Scalars of the optimizer stay where they are.
// CHECK-LABEL: func.func @gradients(
func.func @gradients(%w: !x {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.host}, %v: !x {plan.kind = #plan.kind<parameter>, plan.names = ["v"], plan.host}, %g: !p, %h: !p,
                     %m: !x {plan.kind = #plan.kind<state>, plan.names = ["m"], plan.of = #plan.argument<parameter "w">, plan.host},
                     %k: !x {plan.kind = #plan.kind<state>, plan.names = ["k"], plan.of = #plan.argument<parameter "v">, plan.host}, %r: !s)
    -> (!n, !x {plan.updates = #plan.argument<parameter "w">}, !x {plan.updates = #plan.argument<state "m">}, !x {plan.updates = #plan.argument<parameter "v">}, !x {plan.updates = #plan.argument<state "k">}) {
  // CHECK-NEXT: %[[G:.*]] = plan.reduce_scatter %arg2
  // CHECK-NEXT: plan.call "aten.neg.default"
  // CHECK-NEXT: %[[GG:.*]] = plan.call "meshplan.square_sum"(%[[G]])
  // CHECK-NEXT: %[[HOST_G:.*]] = plan.call "meshplan.to_host"(%[[G]]) {self = #base.operand<0>} {plan.host}
  // CHECK-NEXT: %[[H:.*]] = plan.reduce_scatter %arg3
  // CHECK-NEXT: %[[HH:.*]] = plan.call "meshplan.square_sum"(%[[H]])
  // CHECK-NEXT: plan.call "aten.add.Tensor"(%[[GG]], %[[HH]])
  // CHECK-NEXT: plan.call "meshplan.sgd_momentum"(%arg0, %[[HOST_G]], %arg4, %arg6, %arg6) {{.*}} {plan.host}
  // CHECK-NEXT: %[[HOST_H:.*]] = plan.call "meshplan.to_host"(%[[H]])
  // CHECK-NEXT: plan.call "meshplan.sgd_momentum"(%arg1, %[[HOST_H]], %arg5, %arg6, %arg6) {{.*}} {plan.host}
  // CHECK-NEXT: return
  %0 = plan.reduce_scatter %g [#plan.axis<"dp">] : !p -> !x
  %1 = plan.call "aten.neg.default"(%h) {self = #base.operand<0>} : (!p) -> !p
  %2 = plan.reduce_scatter %h [#plan.axis<"dp">] : !p -> !x
  %3 = plan.call "meshplan.square_sum"(%0) {self = #base.operand<0>} : (!x) -> !n
  %4 = plan.call "meshplan.square_sum"(%2) {self = #base.operand<0>} : (!x) -> !n
  %5 = plan.call "aten.add.Tensor"(%3, %4) {self = #base.operand<0>, other = #base.operand<1>} : (!n, !n) -> !n
  %6:2 = plan.call "meshplan.sgd_momentum"(%w, %0, %m, %r, %r) {parameter = #base.operand<0>, gradient = #base.operand<1>,
      momentum = #base.operand<2>, learning_rate = #base.operand<3>, step = #base.operand<4>} : (!x, !x, !x, !s, !s) -> (!x, !x)
  %7:2 = plan.call "meshplan.sgd_momentum"(%v, %2, %k, %r, %r) {parameter = #base.operand<0>, gradient = #base.operand<1>,
      momentum = #base.operand<2>, learning_rate = #base.operand<3>, step = #base.operand<4>} : (!x, !x, !x, !s, !s) -> (!x, !x)
  return %5, %6#0, %6#1, %7#0, %7#1 : !n, !x, !x, !x, !x
}

// The state is on the host and the parameter is not: a copy of the parameter is updated there, and assigned back.
// CHECK-LABEL: func.func @optimizer(
func.func @optimizer(%w: !x {plan.kind = #plan.kind<parameter>, plan.names = ["w"]}, %g: !x, %m: !x {plan.kind = #plan.kind<state>, plan.names = ["m"], plan.of = #plan.argument<parameter "w">, plan.host}, %r: !s)
    -> (!x {plan.updates = #plan.argument<parameter "w">}, !x {plan.updates = #plan.argument<state "m">}) {
  // CHECK-NEXT: %[[W:.*]] = plan.call "meshplan.to_host"(%arg0)
  // CHECK-NEXT: %[[G:.*]] = plan.call "meshplan.to_host"(%arg1)
  // CHECK-NEXT: %[[NEW:.*]]:2 = plan.call "meshplan.sgd_momentum"(%[[W]], %[[G]], %arg2, {{.*}} {plan.host}
  // CHECK-NEXT: %[[BACK:.*]] = plan.call "meshplan.assign"(%arg0, %[[NEW]]#0) {self = #base.operand<0>, source = #base.operand<1>} backward :
  // CHECK-NEXT: return %[[BACK]], %[[NEW]]#1
  %0:2 = plan.call "meshplan.sgd_momentum"(%w, %g, %m, %r, %r) {parameter = #base.operand<0>, gradient = #base.operand<1>,
      momentum = #base.operand<2>, learning_rate = #base.operand<3>, step = #base.operand<4>} : (!x, !x, !x, !s, !s) -> (!x, !x)
  return %0#0, %0#1 : !x, !x
}

// The reverse: the device updates a copy.
// CHECK-LABEL: func.func @parameters(
func.func @parameters(%w: !x {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.host}, %g: !x, %m: !x {plan.kind = #plan.kind<state>, plan.names = ["m"], plan.of = #plan.argument<parameter "w">}, %r: !s)
    -> (!x {plan.updates = #plan.argument<parameter "w">}, !x {plan.updates = #plan.argument<state "m">}) {
  // CHECK-NEXT: %[[W:.*]] = plan.call "meshplan.to_device"(%arg0)
  // CHECK-NEXT: %[[NEW:.*]]:2 = plan.call "meshplan.sgd_momentum"(%[[W]], %arg1, %arg2, {{.*}} #base.operand<4>} :
  // CHECK-NEXT: %[[BACK:.*]] = plan.call "meshplan.assign"(%arg0, %[[NEW]]#0) {{.*}} backward {plan.host}
  // CHECK-NEXT: return %[[BACK]], %[[NEW]]#1
  %0:2 = plan.call "meshplan.sgd_momentum"(%w, %g, %m, %r, %r) {parameter = #base.operand<0>, gradient = #base.operand<1>,
      momentum = #base.operand<2>, learning_rate = #base.operand<3>, step = #base.operand<4>} : (!x, !x, !x, !s, !s) -> (!x, !x)
  return %0#0, %0#1 : !x, !x
}

// -----

!x = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!b = tensor<8xbf16, #plan.sharding<[{}], flat = {"dp"}>>
!w = tensor<8xbf16, #plan.sharding<[{}]>>
!s = tensor<f64, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"dp" = 2>]
// A parameter that the host derives from a master is converted there and copied to the device, which gathers it.
// CHECK-LABEL: func.func @master(
func.func @master(%p: !w {plan.kind = #plan.kind<parameter>, plan.names = ["p"]}, %g: !x, %m: !x {plan.kind = #plan.kind<state>, plan.names = ["m"], plan.of = #plan.argument<parameter "p">, plan.copies, plan.host},
                  %k: !x {plan.kind = #plan.kind<state>, plan.names = ["k"], plan.of = #plan.argument<parameter "p">, plan.host}, %r: !s)
    -> (!w {plan.updates = #plan.argument<parameter "p">}, !x {plan.updates = #plan.argument<state "m">}, !x {plan.updates = #plan.argument<state "k">}) {
  // CHECK-NEXT: %[[G:.*]] = plan.call "meshplan.to_host"(%arg1)
  // CHECK-NEXT: %[[NEW:.*]]:2 = plan.call "meshplan.sgd_momentum"(%arg2, %[[G]], %arg3
  // CHECK-NEXT: %[[NARROW:.*]] = plan.call "aten._to_copy.default"(%[[NEW]]#0) {{.*}} {plan.host}
  // CHECK-NEXT: %[[COPY:.*]] = plan.call "meshplan.to_device"(%[[NARROW]])
  // CHECK-NEXT: %[[WHOLE:.*]] = plan.all_gather %[[COPY]]
  // CHECK-NEXT: plan.call "meshplan.assign"(%arg0, %[[WHOLE]]) {{.*}} #base.operand<1>} backward :
  // CHECK-NEXT: return
  %0:2 = plan.call "meshplan.sgd_momentum"(%m, %g, %k, %r, %r) {parameter = #base.operand<0>, gradient = #base.operand<1>,
      momentum = #base.operand<2>, learning_rate = #base.operand<3>, step = #base.operand<4>} : (!x, !x, !x, !s, !s) -> (!x, !x)
  %1 = plan.call "aten._to_copy.default"(%0#0) {self = #base.operand<0>, dtype = bf16} : (!x) -> !b
  %2 = plan.all_gather %1 [#plan.axis<"dp">] : !b -> !w
  %3 = plan.call "meshplan.assign"(%p, %2) {self = #base.operand<0>, source = #base.operand<1>} backward : (!w, !w) -> !w
  return %3, %0#0, %0#1 : !w, !x, !x
}

// Without host memory nothing is copied.
// CHECK-LABEL: func.func @device(
func.func @device(%p: !b {plan.kind = #plan.kind<parameter>}) -> !w {
  // CHECK-NEXT: plan.all_gather %arg0
  // CHECK-NEXT: return
  %0 = plan.all_gather %p [#plan.axis<"dp">] : !b -> !w
  return %0 : !w
}
