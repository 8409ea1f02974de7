// Functions of parameters: how their gradients are reduced, and which values are gathered.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-propagate-shardings | FileCheck %s

!rows = tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>

// Partial sums on the path to parameters stay partial despite two readers: each parameter has its own reduction.
// CHECK-LABEL: func.func @kept(
// CHECK: %[[S:.*]] = plan.call "aten.sum.dim_IntList"{{.*}} -> tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK-NEXT: %[[A:.*]] = plan.call "aten.mul.Tensor"(%[[S]], %arg2){{.*}} -> tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK-NEXT: %[[B:.*]] = plan.call "aten.mul.Tensor"(%[[S]], %arg1){{.*}} -> tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK-NEXT: plan.reshard %[[A]] {{.*}} -> tensor<8xf32, #plan.sharding<[{}]>>
// CHECK-NEXT: plan.reshard %[[B]] {{.*}} -> tensor<8xf32, #plan.sharding<[{}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @kept(%g: !rows {plan.kind = #plan.kind<input>, plan.names = ["g"]}, %a: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["a"]},
                %b: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["b"]}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = plan.call "aten.sum.dim_IntList"(%g) {self = #base.operand<0>, dim = [0]} backward {plan.keeps_addends} : (!rows) -> tensor<8xf32>
  %1 = plan.call "aten.mul.Tensor"(%0, %b) {self = #base.operand<0>, other = #base.operand<1>} backward {plan.keeps_addends} : (tensor<8xf32>, !whole) -> tensor<8xf32>
  %2 = plan.call "aten.mul.Tensor"(%0, %a) {self = #base.operand<0>, other = #base.operand<1>} backward {plan.keeps_addends} : (tensor<8xf32>, !whole) -> tensor<8xf32>
  %3 = plan.match %1 to %a : tensor<8xf32>, !whole -> tensor<8xf32>
  %4 = plan.match %2 to %b : tensor<8xf32>, !whole -> tensor<8xf32>
  return %3, %4 : tensor<8xf32>, tensor<8xf32>
}

// So do partial sums that are rounded on that path; elsewhere rounding needs the sum.
// CHECK-LABEL: func.func @rounded(
// CHECK: %[[W:.*]] = plan.call "aten.sum.dim_IntList"{{.*}} {plan.keeps_addends}
// CHECK-NEXT: plan.call "aten.to.dtype"(%[[W]]){{.*}} -> tensor<8xbf16, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK: %[[S:.*]] = plan.call "aten.sum.dim_IntList"
// CHECK-NEXT: %[[R:.*]] = plan.reshard %[[S]]
// CHECK-NEXT: plan.call "aten.to.dtype"(%[[R]]){{.*}} -> tensor<8xbf16, #plan.sharding<[{}]>>
func.func @rounded(%g: !rows {plan.kind = #plan.kind<input>, plan.names = ["g"]}, %a: tensor<8xbf16, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["a"]}) -> (tensor<8xbf16>, tensor<8xbf16>) {
  %0 = plan.call "aten.sum.dim_IntList"(%g) {self = #base.operand<0>, dim = [0]} backward {plan.keeps_addends} : (!rows) -> tensor<8xf32>
  %1 = plan.call "aten.to.dtype"(%0) {self = #base.operand<0>, dtype = bf16} backward {plan.keeps_addends} : (tensor<8xf32>) -> tensor<8xbf16>
  %2 = plan.match %1 to %a : tensor<8xbf16>, tensor<8xbf16, #plan.sharding<[{}]>> -> tensor<8xbf16>
  %3 = plan.call "aten.sum.dim_IntList"(%g) {self = #base.operand<0>, dim = [0]} backward : (!rows) -> tensor<8xf32>
  %4 = plan.call "aten.to.dtype"(%3) {self = #base.operand<0>, dtype = bf16} backward : (tensor<8xf32>) -> tensor<8xbf16>
  %5 = plan.match %4 to %a : tensor<8xbf16>, tensor<8xbf16, #plan.sharding<[{}]>> -> tensor<8xbf16>
  return %2, %5 : tensor<8xbf16>, tensor<8xbf16>
}

// Other partial sums with two readers are reduced once, for both.
// CHECK-LABEL: func.func @shared(
// CHECK: %[[S:.*]] = plan.call "aten.sum.dim_IntList"
// CHECK-NEXT: %[[R:.*]] = plan.reshard %[[S]] {{.*}} -> tensor<8xf32, #plan.sharding<[{}]>>
// CHECK-NEXT: plan.call "aten.mul.Tensor"(%[[R]], %arg2)
// CHECK-NEXT: plan.call "aten.mul.Tensor"(%[[R]], %arg1)
// CHECK-NEXT: return
func.func @shared(%g: !rows {plan.kind = #plan.kind<input>, plan.names = ["g"]}, %a: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["a"]},
                  %b: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["b"]}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = plan.call "aten.sum.dim_IntList"(%g) {self = #base.operand<0>, dim = [0]} backward : (!rows) -> tensor<8xf32>
  %1 = plan.call "aten.mul.Tensor"(%0, %b) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<8xf32>, !whole) -> tensor<8xf32>
  %2 = plan.call "aten.mul.Tensor"(%0, %a) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<8xf32>, !whole) -> tensor<8xf32>
  %3 = plan.match %1 to %a : tensor<8xf32>, !whole -> tensor<8xf32>
  %4 = plan.match %2 to %b : tensor<8xf32>, !whole -> tensor<8xf32>
  return %3, %4 : tensor<8xf32>, tensor<8xf32>
}

// -----

!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>

// A parameter is gathered before any function of it, once for all readers.
// CHECK-LABEL: func.func @gathered(
// CHECK-NEXT: %[[W:.*]] = plan.reshard %arg0 {{.*}} -> tensor<8xf32, #plan.sharding<[{}]>>
// CHECK-NEXT: plan.call "aten.softplus.default"(%[[W]])
// CHECK-NEXT: plan.call "aten.to.dtype"(%[[W]]) {dtype = f64
// CHECK-NEXT: plan.call "aten.softplus_backward.default"(%arg1, %[[W]])
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @gathered(%w: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["w"]},
                    %g: tensor<8xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<input>, plan.names = ["g"]}) {
  %0 = plan.call "aten.softplus.default"(%w) {self = #base.operand<0>} : (!flat) -> tensor<8xf32>
  %1 = plan.call "aten.to.dtype"(%w) {self = #base.operand<0>, dtype = f64} : (!flat) -> tensor<8xf64>
  %2 = plan.call "aten.softplus_backward.default"(%g, %w) {grad_output = #base.operand<0>, self = #base.operand<1>, beta = 1 : i64, threshold = 20 : i64} backward
      : (tensor<8xf32, #plan.sharding<[{}]>>, !flat) -> tensor<8xf32>
  return
}

// A narrowing conversion runs before the gather, so that less data moves; so do conversions of the plan, and updates.
// CHECK-LABEL: func.func @stored(
// CHECK-NEXT: plan.call "aten.to.dtype"(%arg0) {{.*}} -> tensor<8xbf16, #plan.sharding<[{}], flat = {"dp"}>>
// CHECK-NEXT: plan.call "aten._to_copy.default"(%arg0) {{.*}} -> tensor<8xf64, #plan.sharding<[{}], flat = {"dp"}>>
// CHECK-NEXT: plan.call "meshplan.assign"(%arg0, %arg1) {{.*}} -> tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
// CHECK-NEXT: return
func.func @stored(%w: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["w"]}, %s: !flat {plan.kind = #plan.kind<state>, plan.names = ["s"]}) {
  %0 = plan.call "aten.to.dtype"(%w) {self = #base.operand<0>, dtype = bf16} : (!flat) -> tensor<8xbf16>
  %1 = plan.call "aten._to_copy.default"(%w) {self = #base.operand<0>, dtype = f64} {plan.precision} : (!flat) -> tensor<8xf64>
  %2 = plan.call "meshplan.assign"(%w, %s) {self = #base.operand<0>, source = #base.operand<1>} backward : (!flat, !flat) -> tensor<8xf32>
  return
}

// -----

// Parameters in a contiguous buffer are gathered from it unconverted.
// CHECK-LABEL: func.func @contiguous(
// CHECK-NEXT: %[[W:.*]] = plan.reshard %arg0 {{.*}} -> tensor<8xf32, #plan.sharding<[{}]>>
// CHECK-NEXT: plan.call "aten.to.dtype"(%[[W]]) {dtype = bf16
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp" {contiguous_parameters}
func.func @contiguous(%w: tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.data = 0}) {
  %0 = plan.call "aten.to.dtype"(%w) {self = #base.operand<0>, dtype = bf16} : (tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>) -> tensor<8xbf16>
  return
}
