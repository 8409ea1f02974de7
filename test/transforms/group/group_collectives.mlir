// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-group-collectives | FileCheck %s

// ZeRO-3: two units, of two parameters and of one. Each is gathered where its first parameter is read, once per forward
// and backward pass, and reduced when its last gradient is computed.
plan.mesh [#base.mesh_axis<"dp" = 2>]
// CHECK: plan.data
plan.data parameters over [#plan.axis<"dp">] prefetch 1 as "data dp" {overlap_gradients}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK-LABEL: func.func @units(
// CHECK-SAME: %[[A:arg0]]: {{.*}}, %[[B:arg1]]: {{.*}}, %[[C:arg2]]: {{.*}}, %[[X:arg3]]:
func.func @units(%a: !flat {plan.kind = #plan.kind<parameter>, plan.data = 0, plan.unit = 0}, %b: !flat {plan.kind = #plan.kind<parameter>, plan.data = 0, plan.unit = 0},
                 %c: !flat {plan.kind = #plan.kind<parameter>, plan.data = 0, plan.unit = 1}, %x: !whole {plan.kind = #plan.kind<input>}) -> (!whole, !flat, !flat, !flat) {
  // CHECK-NEXT: %[[WB:.*]] = plan.all_gather %[[B]] [#plan.axis<"dp">] bucket 0 {plan.prefetch = #plan.prefetch<unit = 0, ahead = 1>} :
  // CHECK-NEXT: %[[WA:.*]] = plan.all_gather %[[A]] [#plan.axis<"dp">] bucket 0
  // CHECK-NEXT: plan.call "aten.mul.Tensor"(%[[X]], %[[WA]])
  // CHECK-NEXT: plan.call "aten.mul.Tensor"(%{{.*}}, %[[WB]])
  // CHECK-NEXT: %[[WC:.*]] = plan.all_gather %[[C]] [#plan.axis<"dp">] {plan.prefetch = #plan.prefetch<unit = 1, ahead = 1>} :
  // CHECK-NEXT: plan.call "aten.mul.Tensor"(%{{.*}}, %[[WC]])
  %wa = plan.all_gather %a [#plan.axis<"dp">] : !flat -> !whole
  %0 = plan.call "aten.mul.Tensor"(%x, %wa) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %wb = plan.all_gather %b [#plan.axis<"dp">] : !flat -> !whole
  %1 = plan.call "aten.mul.Tensor"(%0, %wb) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %wc = plan.all_gather %c [#plan.axis<"dp">] : !flat -> !whole
  %2 = plan.call "aten.mul.Tensor"(%1, %wc) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  // CHECK-NEXT: %[[GC:.*]] = plan.call "aten.mul.Tensor"(%{{.*}}, %{{.*}}){{.*}} backward
  // CHECK-NEXT: %[[RC:.*]] = plan.reduce_scatter %[[GC]] [#plan.axis<"dp">] :
  // CHECK-NEXT: plan.call "meshplan.sgd"(%[[C]], %[[RC]])
  %gc = plan.call "aten.mul.Tensor"(%2, %1) {self = #base.operand<0>, other = #base.operand<1>} backward : (!whole, !whole) -> !addend
  %rc = plan.reduce_scatter %gc [#plan.axis<"dp">] : !addend -> !flat
  %nc = plan.call "meshplan.sgd"(%c, %rc) {parameter = #base.operand<0>, gradient = #base.operand<1>} backward : (!flat, !flat) -> !flat
  // CHECK-NEXT: %[[WA2:.*]] = plan.all_gather %[[A]] [#plan.axis<"dp">] bucket 1 {plan.prefetch = #plan.prefetch<unit = 2, ahead = 1>} :
  // CHECK-NEXT: %[[WB2:.*]] = plan.all_gather %[[B]] [#plan.axis<"dp">] bucket 1
  // CHECK-NEXT: %[[GB:.*]] = plan.call "aten.mul.Tensor"(%{{.*}}, %[[WB2]]){{.*}} backward
  // CHECK-NEXT: %[[GA:.*]] = plan.call "aten.mul.Tensor"(%{{.*}}, %[[WA2]]){{.*}} backward
  // CHECK-NEXT: %[[RB:.*]] = plan.reduce_scatter %[[GB]] [#plan.axis<"dp">] bucket 2 :
  // CHECK-NEXT: %[[RA:.*]] = plan.reduce_scatter %[[GA]] [#plan.axis<"dp">] bucket 2 :
  // CHECK-NEXT: plan.call "meshplan.sgd"(%[[B]], %[[RB]])
  // CHECK-NEXT: plan.call "meshplan.sgd"(%[[A]], %[[RA]])
  %wb2 = plan.all_gather %b [#plan.axis<"dp">] : !flat -> !whole
  %gb = plan.call "aten.mul.Tensor"(%2, %wb2) {self = #base.operand<0>, other = #base.operand<1>} backward : (!whole, !whole) -> !addend
  %rb = plan.reduce_scatter %gb [#plan.axis<"dp">] : !addend -> !flat
  %nb = plan.call "meshplan.sgd"(%b, %rb) {parameter = #base.operand<0>, gradient = #base.operand<1>} backward : (!flat, !flat) -> !flat
  %wa2 = plan.all_gather %a [#plan.axis<"dp">] : !flat -> !whole
  %ga = plan.call "aten.mul.Tensor"(%2, %wa2) {self = #base.operand<0>, other = #base.operand<1>} backward : (!whole, !whole) -> !addend
  %ra = plan.reduce_scatter %ga [#plan.axis<"dp">] : !addend -> !flat
  %na = plan.call "meshplan.sgd"(%a, %ra) {parameter = #base.operand<0>, gradient = #base.operand<1>} backward : (!flat, !flat) -> !flat
  return %2, %na, %nb, %nc : !whole, !flat, !flat, !flat
}

// -----

// Replicated parameters: units do not matter, and the schedule decides which of their gradients travel together, up to
// 64 bytes. Without overlap_gradients, their reductions are blocking.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data replicated over [#plan.axis<"dp">] bucket 64 prefetch 0 as "data dp"
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK-LABEL: func.func @buckets(
func.func @buckets(%a: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0, plan.unit = 0}, %b: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.data = 0, plan.unit = 1},
                   %c: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["c"], plan.data = 0, plan.unit = 2}, %ga: !addend, %gb: !addend, %gc: !addend)
    -> (!whole {plan.gradient_of = #plan.argument<parameter "a">}, !whole {plan.gradient_of = #plan.argument<parameter "b">}, !whole {plan.gradient_of = #plan.argument<parameter "c">}) {
  // CHECK-NEXT: plan.all_reduce %arg3 [#plan.axis<"dp">] blocking {plan.mergeable = #plan.mergeable<set = 0, most = 64>} :
  // CHECK-NEXT: plan.all_reduce %arg4 [#plan.axis<"dp">] blocking {plan.mergeable = #plan.mergeable<set = 0, most = 64>} :
  // CHECK-NEXT: plan.all_reduce %arg5 [#plan.axis<"dp">] blocking {plan.mergeable = #plan.mergeable<set = 0, most = 64>} :
  %ra = plan.all_reduce %ga [#plan.axis<"dp">] : !addend -> !whole
  %rb = plan.all_reduce %gb [#plan.axis<"dp">] : !addend -> !whole
  %rc = plan.all_reduce %gc [#plan.axis<"dp">] : !addend -> !whole
  return %ra, %rb, %rc : !whole, !whole, !whole
}

// -----

// Without 'bucket' there is no limit. Types, axes and statements are kept apart; without a statement each is alone.
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
plan.data replicated over [#plan.axis<"dp">] prefetch 0 as "data dp" {overlap_gradients}
plan.data replicated over [#plan.axis<"dp">] bucket 4096 prefetch 0 as "data dp" {overlap_gradients}
!w = tensor<8xf32, #plan.sharding<[{}]>>
!h = tensor<8xbf16, #plan.sharding<[{}]>>
!gw = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
!gt = tensor<8xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
!gh = tensor<8xbf16, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK-LABEL: func.func @apart(
// CHECK-NOT: bucket
// CHECK: plan.all_reduce %arg7 {{.*}} {plan.mergeable = #plan.mergeable<set = 0, most = 0>}
// CHECK-NEXT: plan.all_reduce %arg8 {{.*}} {plan.mergeable = #plan.mergeable<set = 0, most = 0>}
// CHECK-NEXT: plan.all_reduce %arg9 {{.*}} {plan.mergeable = #plan.mergeable<set = 1, most = 4096>}
// CHECK-NEXT: plan.all_reduce %arg10 {{.*}} {plan.mergeable = #plan.mergeable<set = 2, most = 4096>}
// CHECK-NEXT: plan.all_reduce %arg11 {{.*}} {plan.mergeable = #plan.mergeable<set = 3, most = 4096>}
// CHECK-NEXT: plan.all_reduce %arg13 [#plan.axis<"dp">] :
// CHECK-NEXT: plan.all_reduce %arg12 {{.*}} {plan.mergeable = #plan.mergeable<set = 3, most = 4096>}
// CHECK-NEXT: return
func.func @apart(%a: !w {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0}, %b: !w {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.data = 0}, %c: !h {plan.kind = #plan.kind<parameter>, plan.names = ["c"], plan.data = 1},
                 %d: !w {plan.kind = #plan.kind<parameter>, plan.names = ["d"], plan.data = 1}, %e: !w {plan.kind = #plan.kind<parameter>, plan.names = ["e"], plan.data = 1}, %f: !w {plan.kind = #plan.kind<parameter>, plan.names = ["f"], plan.data = 1}, %g: !w {plan.kind = #plan.kind<parameter>, plan.names = ["g"]},
                 %ga: !gw, %gb: !gw, %gc: !gh, %gd: !gt, %ge: !gw, %gf: !gw, %gg: !gw)
    -> (!w {plan.gradient_of = #plan.argument<parameter "a">}, !w {plan.gradient_of = #plan.argument<parameter "b">}, !h {plan.gradient_of = #plan.argument<parameter "c">}, !w {plan.gradient_of = #plan.argument<parameter "d">},
        !w {plan.gradient_of = #plan.argument<parameter "e">}, !w {plan.gradient_of = #plan.argument<parameter "f">}, !w {plan.gradient_of = #plan.argument<parameter "g">}) {
  %ra = plan.all_reduce %ga [#plan.axis<"dp">] : !gw -> !w
  %rb = plan.all_reduce %gb [#plan.axis<"dp">] : !gw -> !w
  %rc = plan.all_reduce %gc [#plan.axis<"dp">] : !gh -> !h
  %rd = plan.all_reduce %gd [#plan.axis<"tp">] : !gt -> !w
  %re = plan.all_reduce %ge [#plan.axis<"dp">] : !gw -> !w
  %rg = plan.all_reduce %gg [#plan.axis<"dp">] : !gw -> !w
  %rf = plan.all_reduce %gf [#plan.axis<"dp">] : !gw -> !w
  return %ra, %rb, %rc, %rd, %re, %rf, %rg : !w, !w, !h, !w, !w, !w, !w
}

// -----

// ZeRO-1: new parameters of a unit are gathered in one collective after the optimizer.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data optimizer over [#plan.axis<"dp">] prefetch 0 as "data dp" {overlap_gradients}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
// CHECK-LABEL: func.func @updates(
func.func @updates(%a: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0}, %b: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.data = 0}, %na: !flat, %nb: !flat)
    -> (!whole {plan.updates = #plan.argument<parameter "a">}, !whole {plan.updates = #plan.argument<parameter "b">}) {
  // CHECK-NEXT: %[[A:.*]] = plan.all_gather %arg2 [#plan.axis<"dp">] bucket 0
  // CHECK-NEXT: %[[B:.*]] = plan.all_gather %arg3 [#plan.axis<"dp">] bucket 0
  // CHECK-NEXT: plan.call "meshplan.assign"(%arg0, %[[A]])
  // CHECK-NEXT: plan.call "meshplan.assign"(%arg1, %[[B]])
  %wa = plan.all_gather %na [#plan.axis<"dp">] : !flat -> !whole
  %0 = plan.call "meshplan.assign"(%a, %wa) {self = #base.operand<0>, source = #base.operand<1>} backward : (!whole, !whole) -> !whole
  %wb = plan.all_gather %nb [#plan.axis<"dp">] : !flat -> !whole
  %1 = plan.call "meshplan.assign"(%b, %wb) {self = #base.operand<0>, source = #base.operand<1>} backward : (!whole, !whole) -> !whole
  return %0, %1 : !whole, !whole
}

// -----

// A parameter may be converted before its gather: the conversion moves with it.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data parameters over [#plan.axis<"dp">] prefetch 1 as "data dp" {overlap_gradients}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!half = tensor<8xbf16, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xbf16, #plan.sharding<[{}]>>
// CHECK-LABEL: func.func @converted(
func.func @converted(%a: !flat {plan.kind = #plan.kind<parameter>, plan.data = 0}, %b: !flat {plan.kind = #plan.kind<parameter>, plan.data = 0}) {
  // CHECK: %[[A:.*]] = plan.call "aten._to_copy.default"(%arg0)
  // CHECK: %[[B:.*]] = plan.call "aten._to_copy.default"(%arg1)
  // CHECK-NEXT: plan.all_gather %[[B]] [#plan.axis<"dp">] bucket 0
  // CHECK-NEXT: plan.all_gather %[[A]] [#plan.axis<"dp">] bucket 0
  // CHECK-NEXT: plan.call "aten.neg.default"
  // CHECK-NEXT: plan.call "aten.neg.default"
  %0 = plan.call "aten._to_copy.default"(%a) {self = #base.operand<0>, dtype = bf16} : (!flat) -> !half
  %1 = plan.all_gather %0 [#plan.axis<"dp">] : !half -> !whole
  %2 = plan.call "aten.neg.default"(%1) {self = #base.operand<0>} : (!whole) -> !whole
  %3 = plan.call "aten._to_copy.default"(%b) {self = #base.operand<0>, dtype = bf16} : (!flat) -> !half
  %4 = plan.all_gather %3 [#plan.axis<"dp">] : !half -> !whole
  %5 = plan.call "aten.neg.default"(%4) {self = #base.operand<0>} : (!whole) -> !whole
  return
}

// -----

// A gather for a call of the forward pass belongs to that pass even if only backward calls read the call's result: it
// is not coalesced with gathers of the same unit for the backward pass.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data parameters over [#plan.axis<"dp">] prefetch 1 as "data dp" {overlap_gradients}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
// CHECK-LABEL: func.func @passes(
// CHECK-NEXT: plan.all_gather %arg1 [#plan.axis<"dp">] bucket 0
// CHECK-NEXT: plan.all_gather %arg0 [#plan.axis<"dp">] bucket 0
// CHECK: plan.call "aten.mul.Tensor"({{.*}}) {{.*}} backward
// CHECK-NEXT: plan.all_gather %arg1 [#plan.axis<"dp">] bucket 1
// CHECK-NEXT: plan.all_gather %arg0 [#plan.axis<"dp">] bucket 1
func.func @passes(%a: !flat {plan.kind = #plan.kind<parameter>, plan.data = 0, plan.unit = 0}, %b: !flat {plan.kind = #plan.kind<parameter>, plan.data = 0, plan.unit = 0},
                  %x: !whole {plan.kind = #plan.kind<input>}) {
  %wa = plan.all_gather %a [#plan.axis<"dp">] : !flat -> !whole
  %0 = plan.call "aten.mul.Tensor"(%x, %wa) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %wb = plan.all_gather %b [#plan.axis<"dp">] : !flat -> !whole
  %1 = plan.call "aten.mul.Tensor"(%0, %wb) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %2 = plan.call "aten.mul.Tensor"(%1, %x) {self = #base.operand<0>, other = #base.operand<1>} backward : (!whole, !whole) -> !whole
  %wa2 = plan.all_gather %a [#plan.axis<"dp">] : !flat -> !whole
  %3 = plan.call "aten.mul.Tensor"(%2, %wa2) {self = #base.operand<0>, other = #base.operand<1>} backward : (!whole, !whole) -> !whole
  %wb2 = plan.all_gather %b [#plan.axis<"dp">] : !flat -> !whole
  %4 = plan.call "aten.mul.Tensor"(%3, %wb2) {self = #base.operand<0>, other = #base.operand<1>} backward : (!whole, !whole) -> !whole
  return
}

// -----

// A bucket of 0 bytes separates the tensors of a unit: gathered parameters, gradients and new parameters.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data parameters over [#plan.axis<"dp">] bucket 0 prefetch 1 as "data dp" {overlap_gradients}
plan.data optimizer over [#plan.axis<"dp">] bucket 0 prefetch 0 as "data dp" {overlap_gradients}
plan.data gradients over [#plan.axis<"dp">] prefetch 0 as "data dp" {overlap_gradients}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK: plan.data parameters {{.*}} bucket 0 prefetch 1
// CHECK-LABEL: func.func @alone(
// CHECK-NOT: bucket
// CHECK: plan.call "meshplan.assign"(%arg3
// CHECK-NEXT: plan.reduce_scatter %arg10 [#plan.axis<"dp">] bucket 0 :
// CHECK-NEXT: plan.reduce_scatter %arg11 [#plan.axis<"dp">] bucket 0 :
// CHECK-NEXT: return
func.func @alone(%a: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0, plan.unit = 0}, %b: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.data = 0, plan.unit = 0},
                 %c: !whole {plan.kind = #plan.kind<parameter>, plan.data = 1}, %d: !whole {plan.kind = #plan.kind<parameter>, plan.data = 1},
                 %e: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["e"], plan.data = 2}, %f: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["f"], plan.data = 2},
                 %ga: !addend, %gb: !addend, %nc: !flat, %nd: !flat, %ge: !addend, %gf: !addend)
    -> (!flat {plan.gradient_of = #plan.argument<parameter "a">}, !flat {plan.gradient_of = #plan.argument<parameter "b">}, !flat {plan.gradient_of = #plan.argument<parameter "e">}, !flat {plan.gradient_of = #plan.argument<parameter "f">}) {
  %wa = plan.all_gather %a [#plan.axis<"dp">] : !flat -> !whole
  %wb = plan.all_gather %b [#plan.axis<"dp">] : !flat -> !whole
  %0 = plan.call "aten.mul.Tensor"(%wa, %wb) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %ra = plan.reduce_scatter %ga [#plan.axis<"dp">] : !addend -> !flat
  %rb = plan.reduce_scatter %gb [#plan.axis<"dp">] : !addend -> !flat
  %wc = plan.all_gather %nc [#plan.axis<"dp">] : !flat -> !whole
  %1 = plan.call "meshplan.assign"(%c, %wc) {self = #base.operand<0>, source = #base.operand<1>} backward : (!whole, !whole) -> !whole
  %wd = plan.all_gather %nd [#plan.axis<"dp">] : !flat -> !whole
  %2 = plan.call "meshplan.assign"(%d, %wd) {self = #base.operand<0>, source = #base.operand<1>} backward : (!whole, !whole) -> !whole
  %re = plan.reduce_scatter %ge [#plan.axis<"dp">] : !addend -> !flat
  %rf = plan.reduce_scatter %gf [#plan.axis<"dp">] : !addend -> !flat
  return %ra, %rb, %re, %rf : !flat, !flat, !flat, !flat
}

// -----

// A collective whose result is the gradient of two parameters is in one set.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data replicated over [#plan.axis<"dp">] bucket 64 prefetch 0 as "data dp" {overlap_gradients}
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK-LABEL: func.func @shared(
func.func @shared(%a: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0}, %b: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.data = 0},
                  %c: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["c"], plan.data = 0}, %gab: !addend, %gc: !addend)
    -> (!whole {plan.gradient_of = #plan.argument<parameter "a">}, !whole {plan.gradient_of = #plan.argument<parameter "b">}, !whole {plan.gradient_of = #plan.argument<parameter "c">}) {
  // CHECK-NEXT: plan.all_reduce %arg3 [#plan.axis<"dp">] {plan.mergeable = #plan.mergeable<set = 0, most = 64>} :
  // CHECK-NEXT: plan.all_reduce %arg4 [#plan.axis<"dp">] {plan.mergeable = #plan.mergeable<set = 0, most = 64>} :
  %rab = plan.all_reduce %gab [#plan.axis<"dp">] : !addend -> !whole
  %rc = plan.all_reduce %gc [#plan.axis<"dp">] : !addend -> !whole
  return %rab, %rab, %rc : !whole, !whole, !whole
}

// -----

// Hybrid: coalescing reduce-scatters moves the all-reduces of their results after others of their bucket, which they
// then cannot join.
plan.mesh [#base.mesh_axis<"pod" = 2>, #base.mesh_axis<"dp" = 2>]
plan.data optimizer over [#plan.axis<"dp">] prefetch 0 as "data pod, dp" {overlap_gradients}
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!part = tensor<8xf32, #plan.sharding<[{}], partial = sum {"pod"}, flat = {"dp"}>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"pod", "dp"}>>
// CHECK-LABEL: func.func @displaced(
func.func @displaced(%a: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0}, %b: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.data = 0},
                     %c: !whole {plan.kind = #plan.kind<parameter>, plan.data = 0}, %ga: !addend, %pb: !part, %gc: !addend)
    -> (!flat {plan.gradient_of = #plan.argument<parameter "a">}, !flat {plan.gradient_of = #plan.argument<parameter "b">}, !part) {
  // CHECK-NEXT: %[[B:.*]] = plan.all_reduce %arg4 [#plan.axis<"pod">] bucket 1 :
  // CHECK-NEXT: %[[A:.*]] = plan.reduce_scatter %arg3 [#plan.axis<"dp">] bucket 0 :
  // CHECK-NEXT: plan.reduce_scatter %arg5 [#plan.axis<"dp">] bucket 0 :
  // CHECK-NEXT: plan.all_reduce %[[A]] [#plan.axis<"pod">] :
  %sa = plan.reduce_scatter %ga [#plan.axis<"dp">] : !addend -> !part
  %ra = plan.all_reduce %sa [#plan.axis<"pod">] : !part -> !flat
  %rb = plan.all_reduce %pb [#plan.axis<"pod">] : !part -> !flat
  %sc = plan.reduce_scatter %gc [#plan.axis<"dp">] : !addend -> !part
  %rc = plan.call "meshplan.sgd"(%c, %sc) {parameter = #base.operand<0>, gradient = #base.operand<1>} backward : (!whole, !part) -> !whole
  return %ra, %rb, %sc : !flat, !flat, !part
}

// -----

// Parameters of which none is gathered ahead are waited for where their gather starts.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data parameters over [#plan.axis<"dp">] prefetch 0 as "data dp" {overlap_gradients}

!whole = tensor<8xf32, #plan.sharding<[{}]>>
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>

// CHECK-LABEL: func.func @at_use(
func.func @at_use(%w: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.data = 0}, %x: !whole) -> !whole {
  // CHECK: plan.all_gather %arg0 [#plan.axis<"dp">] blocking {plan.prefetch = #plan.prefetch<unit = 0, ahead = 0>} :
  %0 = plan.all_gather %w [#plan.axis<"dp">] : !flat -> !whole
  %1 = plan.call "aten.mul.Tensor"(%x, %0) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  return %1 : !whole
}

// -----

// Contiguous gradients have one place in memory, so that their buckets are decided here: two of 32 bytes. So are those
// of what the optimizer reads on the host.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data replicated over [#plan.axis<"dp">] bucket 64 prefetch 0 as "data dp" {overlap_gradients, contiguous_gradients}
plan.data gradients over [#plan.axis<"dp">] bucket 64 prefetch 0 as "data dp" {overlap_gradients, offload_optimizer}
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK-LABEL: func.func @decided(
// CHECK-NOT: plan.mergeable
// CHECK: plan.all_reduce %arg5 [#plan.axis<"dp">] bucket 0 :
// CHECK-NEXT: plan.all_reduce %arg6 [#plan.axis<"dp">] bucket 0 :
// CHECK-NEXT: plan.all_reduce %arg7 [#plan.axis<"dp">] :
// CHECK-NEXT: plan.reduce_scatter %arg8 [#plan.axis<"dp">] bucket 1 :
// CHECK-NEXT: plan.reduce_scatter %arg9 [#plan.axis<"dp">] bucket 1 :
func.func @decided(%a: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0}, %b: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.data = 0},
                   %c: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["c"], plan.data = 0}, %d: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["d"], plan.data = 1},
                   %e: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["e"], plan.data = 1}, %ga: !addend, %gb: !addend, %gc: !addend, %gd: !addend, %ge: !addend)
    -> (!whole {plan.gradient_of = #plan.argument<parameter "a">}, !whole {plan.gradient_of = #plan.argument<parameter "b">}, !whole {plan.gradient_of = #plan.argument<parameter "c">},
        !flat {plan.gradient_of = #plan.argument<parameter "d">}, !flat {plan.gradient_of = #plan.argument<parameter "e">}) {
  %ra = plan.all_reduce %ga [#plan.axis<"dp">] : !addend -> !whole
  %rb = plan.all_reduce %gb [#plan.axis<"dp">] : !addend -> !whole
  %rc = plan.all_reduce %gc [#plan.axis<"dp">] : !addend -> !whole
  %rd = plan.reduce_scatter %gd [#plan.axis<"dp">] : !addend -> !flat
  %re = plan.reduce_scatter %ge [#plan.axis<"dp">] : !addend -> !flat
  return %ra, %rb, %rc, %rd, %re : !whole, !whole, !whole, !flat, !flat
}

// -----

// The pieces of a unit with a limit: each pass has a set of its own for gathers, and one for gradients.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data parameters over [#plan.axis<"dp">] bucket 64 prefetch 1 as "data dp" {overlap_gradients}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
// CHECK-LABEL: func.func @pieces(
// CHECK-NOT: bucket
// CHECK-COUNT-2: plan.all_gather {{.*}}plan.mergeable = #plan.mergeable<set = 0, most = 64>
// CHECK-COUNT-2: plan.all_gather {{.*}}plan.mergeable = #plan.mergeable<set = 1, most = 64>
// CHECK-COUNT-2: plan.reduce_scatter {{.*}}plan.mergeable = #plan.mergeable<set = 2, most = 64>
func.func @pieces(%a: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.data = 0, plan.unit = 0},
                  %b: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.data = 0, plan.unit = 0},
                  %x: !whole {plan.kind = #plan.kind<input>}, %ga: !addend, %gb: !addend)
    -> (!flat {plan.gradient_of = #plan.argument<parameter "a">}, !flat {plan.gradient_of = #plan.argument<parameter "b">}) {
  %wa = plan.all_gather %a [#plan.axis<"dp">] : !flat -> !whole
  %wb = plan.all_gather %b [#plan.axis<"dp">] : !flat -> !whole
  %0 = plan.call "aten.mul.Tensor"(%wa, %wb) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %wa2 = plan.all_gather %a [#plan.axis<"dp">] : !flat -> !whole
  %wb2 = plan.all_gather %b [#plan.axis<"dp">] : !flat -> !whole
  %1 = plan.call "aten.mul.Tensor"(%wa2, %wb2) {self = #base.operand<0>, other = #base.operand<1>} backward : (!whole, !whole) -> !whole
  %ra = plan.reduce_scatter %ga [#plan.axis<"dp">] : !addend -> !flat
  %rb = plan.reduce_scatter %gb [#plan.axis<"dp">] : !addend -> !flat
  return %ra, %rb : !flat, !flat
}

// -----

// What a step gathers for its forward pass serves all microbatches. Programs that run once say nothing.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.data optimizer over [#plan.axis<"dp">] prefetch 1 as "data dp" {gather_in_step}
!flat = tensor<8xf32, #plan.sharding<[{}], flat = {"dp"}>>
!whole = tensor<8xf32, #plan.sharding<[{}]>>
// CHECK-LABEL: func.func @forward(
func.func @forward(%a: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.trainable = true, plan.data = 0 : i64, plan.unit = 0 : i64}) -> !whole {
  // CHECK: plan.all_gather %{{.*}} [#plan.axis<"dp">] {plan.prefetch = #plan.prefetch<unit = 0, ahead = 1>} :
  %0 = plan.all_gather %a [#plan.axis<"dp">] : !flat -> !whole
  %1 = plan.call "aten.exp.default"(%0) {self = #base.operand<0>} : (!whole) -> !whole
  return %1 : !whole
}
// CHECK-LABEL: func.func @step(
func.func @step(%a: !flat {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.trainable = true, plan.data = 0 : i64, plan.unit = 0 : i64}) -> !whole
    attributes {plan.role = #base.role<step>, plan.timeline = [#base.instance<@step, 0>, #base.instance<@step, 1>]} {
  // CHECK: plan.all_gather %{{.*}} [#plan.axis<"dp">] {plan.once, plan.prefetch = #plan.prefetch<unit = 0, ahead = 1>} :
  %0 = plan.all_gather %a [#plan.axis<"dp">] : !flat -> !whole
  %1 = plan.call "aten.exp.default"(%0) {self = #base.operand<0>} : (!whole) -> !whole
  return %1 : !whole
}
