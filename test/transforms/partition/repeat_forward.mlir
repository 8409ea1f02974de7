// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-repeat-forward | FileCheck %s

plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.data parameters over [#plan.axis<"tp">] prefetch 0 as "data tp"

!divided = tensor<4x8xf32, #plan.sharding<[{"tp"}, {}]>>
!other = tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>
!whole = tensor<4x8xf32, #plan.sharding<[{}, {}]>>
!addends = tensor<4x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>

// A value that both passes read is gathered for each: before the first backward reader, once for all backward readers.
// CHECK-LABEL: func.func @again(
// CHECK-SAME: %[[X:.*]]: tensor
// CHECK-NEXT: %[[ONE:.*]] = plan.reshard %[[X]] because "colwise tp"
// CHECK-NEXT: plan.call "aten.neg.default"(%[[ONE]])
// CHECK-NEXT: plan.call "aten.sin.default"(%[[X]]){{.*}} backward
// CHECK-NEXT: %[[TWO:.*]] = plan.reshard %[[X]] because "colwise tp"
// CHECK-NEXT: plan.call "aten.cos.default"(%[[TWO]]){{.*}} backward
// CHECK-NEXT: plan.call "aten.exp.default"(%[[TWO]]){{.*}} backward
func.func @again(%x: !divided) {
  %0 = plan.reshard %x because "colwise tp" : !divided -> !whole
  %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} : (!whole) -> !whole
  %2 = plan.call "aten.sin.default"(%x) {self = #base.operand<0>} backward : (!divided) -> !divided
  %3 = plan.call "aten.cos.default"(%0) {self = #base.operand<0>} backward : (!whole) -> !whole
  %4 = plan.call "aten.exp.default"(%0) {self = #base.operand<0>} backward : (!whole) -> !whole
  return
}

// A value that only one pass reads is gathered once.
// CHECK-LABEL: func.func @once(
// CHECK-COUNT-2: plan.reshard
// CHECK-NOT: plan.reshard
// CHECK: return
func.func @once(%x: !divided) {
  %0 = plan.reshard %x : !divided -> !whole
  %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} : (!whole) -> !whole
  %2 = plan.call "aten.sin.default"(%1) {self = #base.operand<0>} backward : (!whole) -> !whole
  %3 = plan.reshard %x : !divided -> !whole
  %4 = plan.call "aten.sin.default"(%3) {self = #base.operand<0>} backward : (!whole) -> !whole
  return
}

// Sums are not recomputed, nor are results that are at most as large as the operands they are computed from.
// CHECK-LABEL: func.func @cheap(
// CHECK-COUNT-3: plan.reshard
// CHECK-NOT: plan.reshard
// CHECK: return
func.func @cheap(%a: !addends, %x: !divided, %w: !whole) {
  %0 = plan.reshard %a : !addends -> !whole
  %1 = plan.reshard %x : !divided -> !other
  %2 = plan.reshard %w : !whole -> !divided
  %3 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} : (!whole) -> !whole
  %4 = plan.call "aten.neg.default"(%1) {self = #base.operand<0>} : (!other) -> !other
  %5 = plan.call "aten.neg.default"(%2) {self = #base.operand<0>} : (!divided) -> !divided
  %6 = plan.call "aten.cos.default"(%0) {self = #base.operand<0>} backward : (!whole) -> !whole
  %7 = plan.call "aten.cos.default"(%1) {self = #base.operand<0>} backward : (!other) -> !other
  %8 = plan.call "aten.cos.default"(%2) {self = #base.operand<0>} backward : (!divided) -> !divided
  return
}

// An output of the step counts as a forward reader; a value that only backward calls and their reshards read has none.
// CHECK-LABEL: func.func @readers(
// CHECK-COUNT-3: plan.reshard
// CHECK-NOT: plan.reshard
// CHECK: return
func.func @readers(%x: !divided) -> !whole {
  %0 = plan.reshard %x : !divided -> !whole
  %1 = plan.call "aten.cos.default"(%0) {self = #base.operand<0>} backward : (!whole) -> !whole
  %2 = plan.reshard %0 : !whole -> !other
  %3 = plan.call "aten.cos.default"(%2) {self = #base.operand<0>} backward : (!other) -> !other
  %4 = plan.reshard %x : !divided -> !whole
  return %4 : !whole
}

!flat = tensor<4x8xf32, #plan.sharding<[{}, {}], flat = {"tp"}>>
!half = tensor<4x8xbf16, #plan.sharding<[{}, {}], flat = {"tp"}>>
!wholeHalf = tensor<4x8xbf16, #plan.sharding<[{}, {}]>>

// A parameter is gathered in each pass, also if it is converted before, unless the plan keeps gathered parameters.
// CHECK-LABEL: func.func @parameters(
// CHECK-SAME: %[[GONE:arg0]]: {{.*}}, %[[KEPT:arg1]]: {{.*}}, %[[HALF:arg2]]:
// CHECK-NEXT: %[[ONE:.*]] = plan.reshard %[[GONE]]
// CHECK-NEXT: %[[TWO:.*]] = plan.reshard %[[KEPT]]
// CHECK-NEXT: %[[NARROW:.*]] = plan.call "aten._to_copy.default"(%[[HALF]])
// CHECK-NEXT: %[[THREE:.*]] = plan.reshard %[[NARROW]]
// CHECK: plan.call "aten.add.Tensor"(%[[ONE]], %[[TWO]])
// CHECK: plan.call "aten.neg.default"(%[[THREE]])
// CHECK-NEXT: %[[AGAIN:.*]] = plan.reshard %[[GONE]]
// CHECK-NEXT: plan.call "aten.mul.Tensor"(%[[AGAIN]], %[[TWO]]){{.*}} backward
// CHECK-NEXT: plan.call "aten.sin.default"(%[[THREE]]){{.*}} backward
func.func @parameters(%w: !flat {plan.data = 0 : i64}, %k: !flat {plan.data = 0 : i64, plan.keep}, %h: !flat {plan.data = 0 : i64, plan.keep}) {
  %0 = plan.reshard %w : !flat -> !whole
  %1 = plan.reshard %k : !flat -> !whole
  %2 = plan.call "aten._to_copy.default"(%h) {self = #base.operand<0>, dtype = bf16} : (!flat) -> !half
  %3 = plan.reshard %2 : !half -> !wholeHalf
  %4 = plan.call "aten.add.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %5 = plan.call "aten.neg.default"(%3) {self = #base.operand<0>} : (!wholeHalf) -> !wholeHalf
  %6 = plan.call "aten.mul.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>} backward : (!whole, !whole) -> !whole
  %7 = plan.call "aten.sin.default"(%3) {self = #base.operand<0>} backward : (!wholeHalf) -> !wholeHalf
  return
}

// A parameter that is stored in another type is narrowed, gathered and widened again: between the passes a rank holds
// nothing but its shard of the parameter.
// CHECK-LABEL: func.func @converted(
// CHECK-SAME: %[[W:arg0]]: {{.*}}, %[[X:arg1]]:
// CHECK-NEXT: plan.call "aten._to_copy.default"(%[[W]])
// CHECK-NEXT: plan.reshard
// CHECK-NEXT: %[[WIDE:.*]] = plan.call "aten._to_copy.default"
// CHECK-NEXT: plan.call "aten.add.Tensor"(%[[WIDE]], %[[X]])
// CHECK-NEXT: plan.call "aten.neg.default"(%[[X]])
// CHECK-NEXT: %[[NARROW:.*]] = plan.call "aten._to_copy.default"(%[[W]])
// CHECK-NEXT: %[[GATHERED:.*]] = plan.reshard %[[NARROW]]
// CHECK-NEXT: %[[AGAIN:.*]] = plan.call "aten._to_copy.default"(%[[GATHERED]])
// CHECK-NEXT: plan.call "aten.mul.Tensor"(%[[AGAIN]], %[[X]]){{.*}} backward
// CHECK-NEXT: plan.call "aten.sub.Tensor"(%[[AGAIN]], %[[X]]){{.*}} backward
func.func @converted(%w: !flat, %x: !whole) {
  %0 = plan.call "aten._to_copy.default"(%w) {self = #base.operand<0>, dtype = bf16} : (!flat) -> !half
  %1 = plan.reshard %0 : !half -> !wholeHalf
  %2 = plan.call "aten._to_copy.default"(%1) {self = #base.operand<0>, dtype = f32} : (!wholeHalf) -> !whole
  %3 = plan.call "aten.add.Tensor"(%2, %x) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %4 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} backward : (!whole) -> !whole
  %5 = plan.call "aten.mul.Tensor"(%2, %x) {self = #base.operand<0>, other = #base.operand<1>} backward : (!whole, !whole) -> !whole
  %6 = plan.call "aten.sub.Tensor"(%2, %x) {self = #base.operand<0>, other = #base.operand<1>} backward : (!whole, !whole) -> !whole
  return
}

// A call of the forward pass on a gathered activation is a forward reader, whatever reads its result.
// CHECK-LABEL: func.func @activation(
// CHECK-COUNT-2: plan.reshard
// CHECK-NOT: plan.reshard
// CHECK: return
func.func @activation(%a: !divided, %b: !divided) {
  %x = plan.call "aten.mul.Tensor"(%a, %b) {self = #base.operand<0>, other = #base.operand<1>} : (!divided, !divided) -> !divided
  %0 = plan.reshard %x : !divided -> !whole
  %1 = plan.call "aten.softmax.int"(%0) {self = #base.operand<0>, dim = 1} : (!whole) -> !whole
  %2 = plan.call "aten.neg.default"(%1) {self = #base.operand<0>} backward : (!whole) -> !whole
  %3 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} backward : (!whole) -> !whole
  return
}

!weight = tensor<8x8xf32, #plan.sharding<[{}, {}]>>

// A cheap result is recomputed from values that the backward pass reads anyway, also in several steps: of a gated MLP
// it needs gate and up only.
// CHECK-LABEL: func.func @gated(
// CHECK: %[[GATE:.*]] = plan.call "aten.linear.default"
// CHECK-NEXT: %[[UP:.*]] = plan.call "aten.linear.default"
// CHECK-NEXT: %[[ACTED:.*]] = plan.call "aten.silu.default"(%[[GATE]])
// CHECK-NEXT: %[[PRODUCT:.*]] = plan.call "aten.mul.Tensor"(%[[ACTED]], %[[UP]])
// CHECK-NEXT: plan.call "aten.linear.default"(%[[PRODUCT]],
// CHECK-NEXT: %[[ACTED2:.*]] = plan.call "aten.silu.default"(%[[GATE]]){{.*}} backward
// CHECK-NEXT: %[[PRODUCT2:.*]] = plan.call "aten.mul.Tensor"(%[[ACTED2]], %[[UP]]){{.*}} backward
// CHECK-NEXT: plan.call "meshplan.weight_gradient"(%{{.*}}, %[[PRODUCT2]])
// CHECK-NEXT: plan.call "aten.mul.Tensor"(%{{.*}}, %[[ACTED2]]){{.*}} backward
// CHECK-NEXT: plan.call "aten.mul.Tensor"(%{{.*}}, %[[UP]]){{.*}} backward
// CHECK-NEXT: plan.call "aten.silu_backward.default"(%{{.*}}, %[[GATE]]){{.*}} backward
func.func @gated(%x: !whole, %w: !weight, %g: !whole) {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!whole, !weight) -> !whole
  %1 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!whole, !weight) -> !whole
  %2 = plan.call "aten.silu.default"(%0) {self = #base.operand<0>} : (!whole) -> !whole
  %3 = plan.call "aten.mul.Tensor"(%2, %1) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %4 = plan.call "aten.linear.default"(%3, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!whole, !weight) -> !whole
  %5 = plan.call "meshplan.weight_gradient"(%g, %3) {left = #base.operand<0>, right = #base.operand<1>} backward : (!whole, !whole) -> !weight
  %6 = plan.call "aten.mul.Tensor"(%g, %2) {self = #base.operand<0>, other = #base.operand<1>} backward : (!whole, !whole) -> !whole
  %7 = plan.call "aten.mul.Tensor"(%g, %1) {self = #base.operand<0>, other = #base.operand<1>} backward : (!whole, !whole) -> !whole
  %8 = plan.call "aten.silu_backward.default"(%7, %0) {grad_output = #base.operand<0>, self = #base.operand<1>} backward : (!whole, !whole) -> !whole
  return
}

// A result is not recomputed if that would hold more memory: here the sum, whose second addend nothing else reads. Nor
// is a result that the program also returns, or one that a recompute statement keeps by name.
// CHECK-LABEL: func.func @held(
// CHECK-NOT: aten.add.Tensor{{.*}} backward
// CHECK-NOT: aten.exp.default{{.*}} backward
// CHECK-NOT: aten.tanh.default{{.*}} backward
// CHECK: return
func.func @held(%x: !whole, %w: !weight) -> !whole {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!whole, !weight) -> !whole
  %1 = plan.call "aten.add.Tensor"(%x, %0) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %2 = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} : (!whole) -> !whole
  %3 = plan.call "aten.tanh.default"(%x) {self = #base.operand<0>} {plan.kept} : (!whole) -> !whole
  %4 = plan.call "aten.linear.default"(%3, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!whole, !weight) -> !whole
  %5 = plan.call "aten.neg.default"(%1) {self = #base.operand<0>} backward : (!whole) -> !whole
  %6 = plan.call "aten.neg.default"(%2) {self = #base.operand<0>} backward : (!whole) -> !whole
  %7 = plan.call "aten.neg.default"(%3) {self = #base.operand<0>} backward : (!whole) -> !whole
  return %2 : !whole
}

// An operand whose last backward reader comes earlier is not available: it would have to be held longer.
// CHECK-LABEL: func.func @earlier(
// CHECK-NOT: aten.silu.default{{.*}} backward
// CHECK: return
func.func @earlier(%x: !whole, %w: !weight) {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!whole, !weight) -> !whole
  %1 = plan.call "aten.silu.default"(%0) {self = #base.operand<0>} : (!whole) -> !whole
  %2 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} backward : (!whole) -> !whole
  %3 = plan.call "aten.neg.default"(%1) {self = #base.operand<0>} backward : (!whole) -> !whole
  return
}

// A norm and its view are recomputed from the norm's input; a view of a held tensor is not recomputed. A result that
// the forward pass does not read is computed where it is read.
// CHECK-LABEL: func.func @moves(
// CHECK: %[[HIDDEN:.*]] = plan.call "aten.linear.default"
// CHECK-NEXT: %[[NORMED:.*]] = plan.call "aten.layer_norm.default"(%[[HIDDEN]])
// CHECK-NEXT: plan.call "aten.linear.default"(%[[NORMED]],
// CHECK-NEXT: %[[TURNED:.*]] = plan.call "aten.transpose.int"(%[[HIDDEN]])
// CHECK-NEXT: plan.call "aten.layer_norm.default"(%[[HIDDEN]]){{.*}} backward
// CHECK-NEXT: %[[AGAIN:.*]] = plan.call "aten.transpose.int"(
// CHECK-NEXT: plan.call "aten.neg.default"(%[[AGAIN]])
// CHECK-NEXT: plan.call "aten.neg.default"(%[[TURNED]])
// CHECK-NEXT: return
!turned = tensor<8x4xf32, #plan.sharding<[{}, {}]>>
func.func @moves(%x: !whole, %w: !weight) {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!whole, !weight) -> !whole
  %1 = plan.call "aten.layer_norm.default"(%0) {input = #base.operand<0>, normalized_shape = [8]} : (!whole) -> !whole
  %2 = plan.call "aten.linear.default"(%1, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!whole, !weight) -> !whole
  %3 = plan.call "aten.transpose.int"(%1) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64} : (!whole) -> !turned
  %4 = plan.call "aten.transpose.int"(%0) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64} : (!whole) -> !turned
  %5 = plan.call "aten.neg.default"(%3) {self = #base.operand<0>} backward : (!turned) -> !turned
  %6 = plan.call "aten.neg.default"(%4) {self = #base.operand<0>} backward : (!turned) -> !turned
  return
}

// Nothing is gathered for a cheap result, unless the backward pass gathers it anyway; then it is gathered once.
// CHECK-LABEL: func.func @gathered(
// CHECK-SAME: %[[X:arg0]]: {{.*}}, %[[A:arg1]]: {{.*}}, %[[B:arg2]]:
// CHECK: %[[HELD:.*]] = plan.call "aten.mul.Tensor"(%[[X]], %{{.*}})
// CHECK-NOT: plan.reshard %[[A]]
// CHECK: plan.call "aten.neg.default"(%[[HELD]]){{.*}} backward
// CHECK-NEXT: %[[AGAIN:.*]] = plan.reshard %[[B]]
// CHECK-NEXT: %[[MADE:.*]] = plan.call "aten.mul.Tensor"(%[[X]], %[[AGAIN]]){{.*}} backward
// CHECK-NEXT: plan.call "aten.neg.default"(%[[MADE]])
// CHECK-NEXT: plan.call "aten.neg.default"(%[[AGAIN]])
// CHECK-NEXT: return
func.func @gathered(%x: !whole, %a: !flat, %b: !flat) {
  %0 = plan.reshard %a : !flat -> !whole
  %1 = plan.call "aten.mul.Tensor"(%x, %0) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %2 = plan.reshard %b : !flat -> !whole
  %3 = plan.call "aten.mul.Tensor"(%x, %2) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %4 = plan.call "aten.softmax.int"(%1) {self = #base.operand<0>, dim = 1} : (!whole) -> !whole
  %5 = plan.call "aten.softmax.int"(%3) {self = #base.operand<0>, dim = 1} : (!whole) -> !whole
  %6 = plan.call "aten.neg.default"(%1) {self = #base.operand<0>} backward : (!whole) -> !whole
  %7 = plan.call "aten.neg.default"(%3) {self = #base.operand<0>} backward : (!whole) -> !whole
  %8 = plan.call "aten.neg.default"(%2) {self = #base.operand<0>} backward : (!whole) -> !whole
  return
}

// A value that only the backward pass reads is gathered there, and this does not count as an earlier reader.
// CHECK-LABEL: func.func @sunk(
// CHECK-NOT: plan.reshard
// CHECK: plan.call "aten.linear.default"
// CHECK: plan.call "aten.sin.default"{{.*}} backward
// CHECK-NEXT: %[[AGAIN:.*]] = plan.call "aten.silu.default"(%{{.*}}){{.*}} backward
// CHECK-NEXT: %[[GATHERED:.*]] = plan.reshard %[[AGAIN]]
// CHECK-NEXT: plan.call "aten.neg.default"(%[[GATHERED]])
func.func @sunk(%x: !divided, %y: !divided) {
  %0 = plan.call "aten.linear.default"(%x, %y) {input = #base.operand<0>, weight = #base.operand<1>} : (!divided, !divided) -> !divided
  %1 = plan.call "aten.silu.default"(%0) {self = #base.operand<0>} : (!divided) -> !divided
  %2 = plan.reshard %1 : !divided -> !whole
  %3 = plan.call "aten.linear.default"(%1, %x) {input = #base.operand<0>, weight = #base.operand<1>} : (!divided, !divided) -> !divided
  %4 = plan.call "aten.sin.default"(%x) {self = #base.operand<0>} backward : (!divided) -> !divided
  %5 = plan.call "aten.neg.default"(%2) {self = #base.operand<0>} backward : (!whole) -> !whole
  %6 = plan.call "aten.silu_backward.default"(%5, %0) {grad_output = #base.operand<0>, self = #base.operand<1>} backward : (!whole, !divided) -> !divided
  return
}

// Recompute avoids intermediates much larger than the result, as integers of a mask. A rounded result is recomputed.
// CHECK-LABEL: func.func @way(
// CHECK-NOT: aten.sub.Tensor{{.*}} backward
// CHECK: return
// CHECK-LABEL: func.func @round(
// CHECK: plan.call "aten.neg.default"(%{{.*}}) {{.*}} backward
// CHECK-NEXT: plan.call "aten.silu.default"(%{{.*}}) {{.*}} backward
// CHECK-NEXT: plan.call "aten._to_copy.default"(%{{.*}}) {{.*}} backward
// CHECK-NEXT: plan.call "aten.exp.default"(%{{.*}}) {{.*}} backward
!indices = tensor<4x8xi64, #plan.sharding<[{}, {}]>>
!mask = tensor<4x8xi1, #plan.sharding<[{}, {}]>>
!rounded = tensor<4x8xbf16, #plan.sharding<[{}, {}]>>
func.func @way(%i: !indices, %x: !whole) {
  %0 = plan.call "aten.sub.Tensor"(%i, %i) {self = #base.operand<0>, other = #base.operand<1>} : (!indices, !indices) -> !indices
  %1 = plan.call "aten.eq.Scalar"(%0) {self = #base.operand<0>, other = 0 : i64} : (!indices) -> !mask
  %2 = plan.call "aten.where.self"(%1, %x, %x) {condition = #base.operand<0>, self = #base.operand<1>, other = #base.operand<2>} : (!mask, !whole, !whole) -> !whole
  %3 = plan.call "aten.logical_not.default"(%1) {self = #base.operand<0>} backward : (!mask) -> !mask
  return
}
func.func @round(%x: !whole, %w: !weight) {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!whole, !weight) -> !whole
  %1 = plan.call "aten.silu.default"(%0) {self = #base.operand<0>} : (!whole) -> !whole
  %2 = plan.call "aten._to_copy.default"(%1) {self = #base.operand<0>, dtype = bf16} : (!whole) -> !rounded
  %3 = plan.call "aten.tanh.default"(%2) {self = #base.operand<0>} : (!rounded) -> !rounded
  %4 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} backward : (!whole) -> !whole
  %5 = plan.call "aten.exp.default"(%2) {self = #base.operand<0>} backward : (!rounded) -> !rounded
  %6 = plan.call "aten.silu_backward.default"(%4, %0) {grad_output = #base.operand<0>, self = #base.operand<1>} backward : (!whole, !whole) -> !whole
  return
}

// A gathered activation is not gathered again for a cheap call on it, nor earlier than in the backward pass; a
// conversion does not change that.
// CHECK-LABEL: func.func @alone(
// CHECK-COUNT-1: plan.reshard
// CHECK-NOT: plan.reshard
// CHECK: return
func.func @alone(%a: !divided) {
  %x = plan.call "aten.softmax.int"(%a) {self = #base.operand<0>, dim = 1} : (!divided) -> !divided
  %0 = plan.reshard %x : !divided -> !whole
  %1 = plan.call "aten.silu.default"(%0) {self = #base.operand<0>} : (!whole) -> !whole
  %2 = plan.call "aten.softmax.int"(%1) {self = #base.operand<0>, dim = 1} : (!whole) -> !whole
  %3 = plan.call "aten.neg.default"(%1) {self = #base.operand<0>} backward : (!whole) -> !whole
  return
}

// CHECK-LABEL: func.func @late(
// CHECK: plan.call "aten.neg.default"{{.*}} backward
// CHECK-NEXT: plan.call "aten.softmax.int"{{.*}} backward
// CHECK-NEXT: plan.reshard
// CHECK-NEXT: plan.call "aten.neg.default"{{.*}} backward
func.func @late(%x: !whole, %a: !divided) {
  %y = plan.call "aten.softmax.int"(%a) {self = #base.operand<0>, dim = 1} : (!divided) -> !divided
  %0 = plan.reshard %y : !divided -> !whole
  %1 = plan.call "aten.mul.Tensor"(%x, %0) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %2 = plan.call "aten.softmax.int"(%1) {self = #base.operand<0>, dim = 1} : (!whole) -> !whole
  %3 = plan.call "aten.neg.default"(%1) {self = #base.operand<0>} backward : (!whole) -> !whole
  %4 = plan.call "aten.softmax.int"(%3) {self = #base.operand<0>, dim = 1} backward : (!whole) -> !whole
  %5 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} backward : (!whole) -> !whole
  return
}

!divided16 = tensor<4x8xbf16, #plan.sharding<[{"tp"}, {}]>>

// CHECK-LABEL: func.func @widened(
// CHECK: plan.call "aten.sin.default"{{.*}} backward
// CHECK-NEXT: %[[AGAIN:.*]] = plan.reshard
// CHECK-NEXT: %[[WIDE:.*]] = plan.call "aten._to_copy.default"(%[[AGAIN]]){{.*}} backward
// CHECK-NEXT: plan.call "aten.neg.default"(%[[WIDE]])
func.func @widened(%x: !divided, %a: !divided16) {
  %y = plan.call "aten.softmax.int"(%a) {self = #base.operand<0>, dim = 1} : (!divided16) -> !divided16
  %0 = plan.reshard %y : !divided16 -> !rounded
  %1 = plan.call "aten._to_copy.default"(%0) {self = #base.operand<0>, dtype = f32} : (!rounded) -> !whole
  %2 = plan.call "aten.softmax.int"(%1) {self = #base.operand<0>, dim = 1} : (!whole) -> !whole
  %3 = plan.call "aten.sin.default"(%x) {self = #base.operand<0>} backward : (!divided) -> !divided
  %4 = plan.call "aten.neg.default"(%1) {self = #base.operand<0>} backward : (!whole) -> !whole
  return
}

func.func private @declared(!whole) -> !whole

// Rows that were sent to the ranks of their experts are held: how many a rank has is not known, and an exchange in the
// backward pass would cost what the forward one does.
!sent = tensor<3x4x8xf32, #plan.sharding<[{}, {"tp"}, {}], routed = #base.routed<rows, dims = 2, slots = 1>>>
!arrived = tensor<3x4x8xf32, #plan.sharding<[{"tp"}, {}, {}], routed = #base.routed<rows, dims = 2, slots = 1>>>
// CHECK-LABEL: func.func @exchanged(
// CHECK-NEXT: %[[ROWS:.*]] = plan.reshard
// CHECK-NEXT: plan.call "aten.neg.default"(%[[ROWS]])
// CHECK-NEXT: plan.call "aten.cos.default"(%[[ROWS]]){{.*}} backward
// CHECK-NEXT: return
func.func @exchanged(%rows: !sent) {
  %0 = plan.reshard %rows because "expert tp" : !sent -> !arrived
  %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} : (!arrived) -> !arrived
  %2 = plan.call "aten.cos.default"(%0) {self = #base.operand<0>} backward : (!arrived) -> !arrived
  return
}
