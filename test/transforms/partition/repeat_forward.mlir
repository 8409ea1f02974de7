// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-repeat-reshards | FileCheck %s

plan.mesh [#plan.mesh_axis<"tp" = 2>]

!divided = tensor<4x8xf32, #plan.sharding<[{"tp"}, {}]>>
!other = tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>
!whole = tensor<4x8xf32, #plan.sharding<[{}, {}]>>
!addends = tensor<4x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>

// What both passes read is gathered for each of them: before the first backward reader, once for all of these.
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
  %1 = plan.call "aten.neg.default"(%0) {self = #plan.operand<0>} : (!whole) -> !whole
  %2 = plan.call "aten.sin.default"(%x) {self = #plan.operand<0>} backward : (!divided) -> !divided
  %3 = plan.call "aten.cos.default"(%0) {self = #plan.operand<0>} backward : (!whole) -> !whole
  %4 = plan.call "aten.exp.default"(%0) {self = #plan.operand<0>} backward : (!whole) -> !whole
  return
}

// What one pass reads is gathered once.
// CHECK-LABEL: func.func @once(
// CHECK-COUNT-2: plan.reshard
// CHECK-NOT: plan.reshard
// CHECK: return
func.func @once(%x: !divided) {
  %0 = plan.reshard %x : !divided -> !whole
  %1 = plan.call "aten.neg.default"(%0) {self = #plan.operand<0>} : (!whole) -> !whole
  %2 = plan.call "aten.sin.default"(%1) {self = #plan.operand<0>} backward : (!whole) -> !whole
  %3 = plan.reshard %x : !divided -> !whole
  %4 = plan.call "aten.sin.default"(%3) {self = #plan.operand<0>} backward : (!whole) -> !whole
  return
}

// Sums are not made twice, nor what takes no more memory than what it is made of.
// CHECK-LABEL: func.func @cheap(
// CHECK-COUNT-3: plan.reshard
// CHECK-NOT: plan.reshard
// CHECK: return
func.func @cheap(%a: !addends, %x: !divided, %w: !whole) {
  %0 = plan.reshard %a : !addends -> !whole
  %1 = plan.reshard %x : !divided -> !other
  %2 = plan.reshard %w : !whole -> !divided
  %3 = plan.call "aten.neg.default"(%0) {self = #plan.operand<0>} : (!whole) -> !whole
  %4 = plan.call "aten.neg.default"(%1) {self = #plan.operand<0>} : (!other) -> !other
  %5 = plan.call "aten.neg.default"(%2) {self = #plan.operand<0>} : (!divided) -> !divided
  %6 = plan.call "aten.cos.default"(%0) {self = #plan.operand<0>} backward : (!whole) -> !whole
  %7 = plan.call "aten.cos.default"(%1) {self = #plan.operand<0>} backward : (!other) -> !other
  %8 = plan.call "aten.cos.default"(%2) {self = #plan.operand<0>} backward : (!divided) -> !divided
  return
}

// An output of the step is a reader of the forward pass; what only backward calls and reshards of theirs read is not.
// CHECK-LABEL: func.func @readers(
// CHECK-COUNT-3: plan.reshard
// CHECK-NOT: plan.reshard
// CHECK: return
func.func @readers(%x: !divided) -> !whole {
  %0 = plan.reshard %x : !divided -> !whole
  %1 = plan.call "aten.cos.default"(%0) {self = #plan.operand<0>} backward : (!whole) -> !whole
  %2 = plan.reshard %0 : !whole -> !other
  %3 = plan.call "aten.cos.default"(%2) {self = #plan.operand<0>} backward : (!other) -> !other
  %4 = plan.reshard %x : !divided -> !whole
  return %4 : !whole
}

!flat = tensor<4x8xf32, #plan.sharding<[{}, {}], flat = {"tp"}>>
!half = tensor<4x8xbf16, #plan.sharding<[{}, {}], flat = {"tp"}>>
!wholeHalf = tensor<4x8xbf16, #plan.sharding<[{}, {}]>>

// A parameter is gathered for each pass, unless the plan keeps what is gathered, also where it is converted before.
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
  %2 = plan.call "aten._to_copy.default"(%h) {self = #plan.operand<0>, dtype = bf16} : (!flat) -> !half
  %3 = plan.reshard %2 : !half -> !wholeHalf
  %4 = plan.call "aten.add.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>} : (!whole, !whole) -> !whole
  %5 = plan.call "aten.neg.default"(%3) {self = #plan.operand<0>} : (!wholeHalf) -> !wholeHalf
  %6 = plan.call "aten.mul.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>} backward : (!whole, !whole) -> !whole
  %7 = plan.call "aten.sin.default"(%3) {self = #plan.operand<0>} backward : (!wholeHalf) -> !wholeHalf
  return
}

// What is stored in another type is narrowed, gathered and widened again from the parameter: between the passes a rank
// holds nothing but the parameter.
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
  %0 = plan.call "aten._to_copy.default"(%w) {self = #plan.operand<0>, dtype = bf16} : (!flat) -> !half
  %1 = plan.reshard %0 : !half -> !wholeHalf
  %2 = plan.call "aten._to_copy.default"(%1) {self = #plan.operand<0>, dtype = f32} : (!wholeHalf) -> !whole
  %3 = plan.call "aten.add.Tensor"(%2, %x) {self = #plan.operand<0>, other = #plan.operand<1>} : (!whole, !whole) -> !whole
  %4 = plan.call "aten.neg.default"(%x) {self = #plan.operand<0>} backward : (!whole) -> !whole
  %5 = plan.call "aten.mul.Tensor"(%2, %x) {self = #plan.operand<0>, other = #plan.operand<1>} backward : (!whole, !whole) -> !whole
  %6 = plan.call "aten.sub.Tensor"(%2, %x) {self = #plan.operand<0>, other = #plan.operand<1>} backward : (!whole, !whole) -> !whole
  return
}

// A call of the forward pass on a gathered activation belongs to it, whoever reads its result.
// CHECK-LABEL: func.func @activation(
// CHECK-COUNT-2: plan.reshard
// CHECK-NOT: plan.reshard
// CHECK: return
func.func @activation(%a: !divided, %b: !divided) {
  %x = plan.call "aten.mul.Tensor"(%a, %b) {self = #plan.operand<0>, other = #plan.operand<1>} : (!divided, !divided) -> !divided
  %0 = plan.reshard %x : !divided -> !whole
  %1 = plan.call "aten.exp.default"(%0) {self = #plan.operand<0>} : (!whole) -> !whole
  %2 = plan.call "aten.neg.default"(%1) {self = #plan.operand<0>} backward : (!whole) -> !whole
  %3 = plan.call "aten.neg.default"(%0) {self = #plan.operand<0>} backward : (!whole) -> !whole
  return
}
