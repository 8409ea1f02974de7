// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-unmerge-dims | FileCheck %s

// Dims that a model merges only to split them again.

// Heads of nn.MultiheadAttention: batch and heads in one dim, until attention has a dim for each.
// CHECK-LABEL: func.func @heads
// CHECK-NEXT: %[[SPLIT:.*]] = plan.call "aten.reshape.default"(%arg0) {self = #plan.operand<0>, shape = [7, 4, 6, 4]}
// CHECK-NEXT: %[[HEADS:.*]] = plan.call "aten.permute.default"(%[[SPLIT]]) {dims = [1, 2, 0, 3], self = #plan.operand<0>}
// CHECK-NEXT: plan.call "aten.neg.default"(%[[HEADS]])
func.func @heads(%x: tensor<7x4x24xf32>) -> tensor<4x6x7x4xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #plan.operand<0>, size = [7 : i64, 24 : i64, 4 : i64]}
      : (tensor<7x4x24xf32>) -> tensor<7x24x4xf32>
  %1 = plan.call "aten.transpose.int"(%0) {self = #plan.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64}
      : (tensor<7x24x4xf32>) -> tensor<24x7x4xf32>
  %2 = plan.call "aten.contiguous.default"(%1) {self = #plan.operand<0>} : (tensor<24x7x4xf32>) -> tensor<24x7x4xf32>
  %3 = plan.call "aten.view.default"(%2) {self = #plan.operand<0>, size = [4 : i64, 6 : i64, 7 : i64, 4 : i64]}
      : (tensor<24x7x4xf32>) -> tensor<4x6x7x4xf32>
  %4 = plan.call "aten.neg.default"(%3) {self = #plan.operand<0>} : (tensor<4x6x7x4xf32>) -> tensor<4x6x7x4xf32>
  return %4 : tensor<4x6x7x4xf32>
}

// What is merged at the end stays merged, and what is read on the way stays.
// CHECK-LABEL: func.func @merged_for_a_reader
// CHECK-NEXT: %[[MERGED:.*]] = plan.call "aten.view.default"(%arg0)
// CHECK-NEXT: %[[READ:.*]] = plan.call "aten.neg.default"(%[[MERGED]])
// CHECK-NEXT: return %[[READ]], %arg0
func.func @merged_for_a_reader(%x: tensor<4x6x7xf32>) -> (tensor<24x7xf32>, tensor<4x6x7xf32>) {
  %0 = plan.call "aten.view.default"(%x) {self = #plan.operand<0>, size = [24 : i64, 7 : i64]}
      : (tensor<4x6x7xf32>) -> tensor<24x7xf32>
  %1 = plan.call "aten.neg.default"(%0) {self = #plan.operand<0>} : (tensor<24x7xf32>) -> tensor<24x7xf32>
  %2 = plan.call "aten.view.default"(%0) {self = #plan.operand<0>, size = [4 : i64, 6 : i64, 7 : i64]}
      : (tensor<24x7xf32>) -> tensor<4x6x7xf32>
  return %1, %2 : tensor<24x7xf32>, tensor<4x6x7xf32>
}

// A view that cuts across the rows before it is where a chain begins.
// CHECK-LABEL: func.func @crooked
// CHECK-NEXT: plan.call "aten.view.default"(%arg0)
// CHECK-NEXT: plan.call "aten.transpose.int"
// CHECK-NEXT: return
func.func @crooked(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #plan.operand<0>, size = [6 : i64, 4 : i64]}
      : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = plan.call "aten.transpose.int"(%0) {self = #plan.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64}
      : (tensor<6x4xf32>) -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// Rows of sequence and batch, behind heads in front of the sequence.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT: %[[ORDER:.*]] = plan.call "aten.permute.default"(%arg0) {dims = [2, 0, 1, 3]
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "aten.reshape.default"(%[[ORDER]]) {self = #plan.operand<0>, shape = [7, 4, 24]}
// CHECK-NEXT: %[[OUT:.*]] = plan.call "aten.linear.default"(%[[ROWS]], %arg1, %arg2) {bias = #plan.operand<2>, input = #plan.operand<0>, weight = #plan.operand<1>}
// CHECK-SAME: -> tensor<7x4x10xf32>
// CHECK-NEXT: return %[[OUT]]
func.func @rows(%x: tensor<4x6x7x4xf32>, %w: tensor<10x24xf32>, %b: tensor<10xf32>) -> tensor<7x4x10xf32> {
  %0 = plan.call "aten.permute.default"(%x) {self = #plan.operand<0>, dims = [2 : i64, 0 : i64, 1 : i64, 3 : i64]}
      : (tensor<4x6x7x4xf32>) -> tensor<7x4x6x4xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #plan.operand<0>, size = [28 : i64, 24 : i64]}
      : (tensor<7x4x6x4xf32>) -> tensor<28x24xf32>
  %2 = plan.call "aten.linear.default"(%1, %w, %b)
      {input = #plan.operand<0>, weight = #plan.operand<1>, bias = #plan.operand<2>}
      : (tensor<28x24xf32>, tensor<10x24xf32>, tensor<10xf32>) -> tensor<28x10xf32>
  %3 = plan.call "aten.view.default"(%2) {self = #plan.operand<0>, size = [7 : i64, 4 : i64, 10 : i64]}
      : (tensor<28x10xf32>) -> tensor<7x4x10xf32>
  return %3 : tensor<7x4x10xf32>
}

// The same of a program in which operators are taken apart; a matrix that is no transpose stays.
// CHECK-LABEL: func.func @decomposed
// CHECK: %[[OUT:.*]] = plan.call "aten.linear.default"(%{{.*}}, %arg1, %arg2) {bias = #plan.operand<2>, input = #plan.operand<0>, weight = #plan.operand<1>}
// CHECK-SAME: (tensor<7x4x24xf32>, tensor<10x24xf32>, tensor<10xf32>) -> tensor<7x4x10xf32>
// CHECK-NEXT: %[[FLAT:.*]] = plan.call "aten.reshape.default"(%[[OUT]]) {{.*}} -> tensor<28x10xf32>
// CHECK-NEXT: %[[OTHER:.*]] = plan.call "aten.mm.default"(%{{.*}}, %arg3)
// CHECK-NEXT: return %[[FLAT]], %[[OTHER]]
func.func @decomposed(%x: tensor<4x7x24xf32>, %w: tensor<10x24xf32>, %b: tensor<10xf32>, %m: tensor<24x10xf32>)
    -> (tensor<28x10xf32>, tensor<28x10xf32>) {
  %0 = plan.call "aten.transpose.int"(%x) {self = #plan.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64}
      : (tensor<4x7x24xf32>) -> tensor<7x4x24xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #plan.operand<0>, size = [28 : i64, 24 : i64]}
      : (tensor<7x4x24xf32>) -> tensor<28x24xf32>
  %2 = plan.call "aten.t.default"(%w) {self = #plan.operand<0>} : (tensor<10x24xf32>) -> tensor<24x10xf32>
  %3 = plan.call "aten.addmm.default"(%b, %1, %2)
      {self = #plan.operand<0>, mat1 = #plan.operand<1>, mat2 = #plan.operand<2>}
      : (tensor<10xf32>, tensor<28x24xf32>, tensor<24x10xf32>) -> tensor<28x10xf32>
  %4 = plan.call "aten.mm.default"(%1, %m) {self = #plan.operand<0>, mat2 = #plan.operand<1>}
      : (tensor<28x24xf32>, tensor<24x10xf32>) -> tensor<28x10xf32>
  return %3, %4 : tensor<28x10xf32>, tensor<28x10xf32>
}
