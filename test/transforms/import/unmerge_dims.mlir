// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-unmerge-dims | FileCheck %s

// Dims that a model merges only to split them again.

// Heads of nn.MultiheadAttention: batch and heads in one dim, until attention has a dim for each.
// CHECK-LABEL: func.func @heads
// CHECK-NEXT: %[[SPLIT:.*]] = plan.call "aten.reshape.default"(%arg0) {self = #base.operand<0>, shape = [7, 4, 6, 4]}
// CHECK-NEXT: %[[HEADS:.*]] = plan.call "aten.permute.default"(%[[SPLIT]]) {dims = [1, 2, 0, 3], self = #base.operand<0>}
// CHECK-NEXT: plan.call "aten.neg.default"(%[[HEADS]])
func.func @heads(%x: tensor<7x4x24xf32>) -> tensor<4x6x7x4xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [7 : i64, 24 : i64, 4 : i64]}
      : (tensor<7x4x24xf32>) -> tensor<7x24x4xf32>
  %1 = plan.call "aten.transpose.int"(%0) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64}
      : (tensor<7x24x4xf32>) -> tensor<24x7x4xf32>
  %2 = plan.call "aten.contiguous.default"(%1) {self = #base.operand<0>} : (tensor<24x7x4xf32>) -> tensor<24x7x4xf32>
  %3 = plan.call "aten.view.default"(%2) {self = #base.operand<0>, size = [4 : i64, 6 : i64, 7 : i64, 4 : i64]}
      : (tensor<24x7x4xf32>) -> tensor<4x6x7x4xf32>
  %4 = plan.call "aten.neg.default"(%3) {self = #base.operand<0>} : (tensor<4x6x7x4xf32>) -> tensor<4x6x7x4xf32>
  return %4 : tensor<4x6x7x4xf32>
}

// Dims that are merged at the end stay merged, and a value that is read on the way stays.
// CHECK-LABEL: func.func @merged_for_a_reader
// CHECK-NEXT: %[[MERGED:.*]] = plan.call "aten.view.default"(%arg0)
// CHECK-NEXT: %[[READ:.*]] = plan.call "aten.neg.default"(%[[MERGED]])
// CHECK-NEXT: return %[[READ]], %arg0
func.func @merged_for_a_reader(%x: tensor<4x6x7xf32>) -> (tensor<24x7xf32>, tensor<4x6x7xf32>) {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [24 : i64, 7 : i64]}
      : (tensor<4x6x7xf32>) -> tensor<24x7xf32>
  %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} : (tensor<24x7xf32>) -> tensor<24x7xf32>
  %2 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = [4 : i64, 6 : i64, 7 : i64]}
      : (tensor<24x7xf32>) -> tensor<4x6x7xf32>
  return %1, %2 : tensor<24x7xf32>, tensor<4x6x7xf32>
}

// A view that cuts across earlier rows starts a new chain.
// CHECK-LABEL: func.func @crooked
// CHECK-NEXT: plan.call "aten.view.default"(%arg0)
// CHECK-NEXT: plan.call "aten.transpose.int"
// CHECK-NEXT: return
func.func @crooked(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [6 : i64, 4 : i64]}
      : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = plan.call "aten.transpose.int"(%0) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64}
      : (tensor<6x4xf32>) -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// Rows of sequence and batch, after heads that come before the sequence.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT: %[[ORDER:.*]] = plan.call "aten.permute.default"(%arg0) {dims = [2, 0, 1, 3]
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "aten.reshape.default"(%[[ORDER]]) {self = #base.operand<0>, shape = [7, 4, 24]}
// CHECK-NEXT: %[[OUT:.*]] = plan.call "aten.linear.default"(%[[ROWS]], %arg1, %arg2) {bias = #base.operand<2>, input = #base.operand<0>, weight = #base.operand<1>}
// CHECK-SAME: -> tensor<7x4x10xf32>
// CHECK-NEXT: return %[[OUT]]
func.func @rows(%x: tensor<4x6x7x4xf32>, %w: tensor<10x24xf32>, %b: tensor<10xf32>) -> tensor<7x4x10xf32> {
  %0 = plan.call "aten.permute.default"(%x) {self = #base.operand<0>, dims = [2 : i64, 0 : i64, 1 : i64, 3 : i64]}
      : (tensor<4x6x7x4xf32>) -> tensor<7x4x6x4xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = [28 : i64, 24 : i64]}
      : (tensor<7x4x6x4xf32>) -> tensor<28x24xf32>
  %2 = plan.call "aten.linear.default"(%1, %w, %b)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>}
      : (tensor<28x24xf32>, tensor<10x24xf32>, tensor<10xf32>) -> tensor<28x10xf32>
  %3 = plan.call "aten.view.default"(%2) {self = #base.operand<0>, size = [7 : i64, 4 : i64, 10 : i64]}
      : (tensor<28x10xf32>) -> tensor<7x4x10xf32>
  return %3 : tensor<7x4x10xf32>
}

// The same in a decomposed program; a matrix that is not a transpose stays.
// CHECK-LABEL: func.func @decomposed
// CHECK: %[[OUT:.*]] = plan.call "aten.linear.default"(%{{.*}}, %arg1, %arg2) {bias = #base.operand<2>, input = #base.operand<0>, weight = #base.operand<1>}
// CHECK-SAME: (tensor<7x4x24xf32>, tensor<10x24xf32>, tensor<10xf32>) -> tensor<7x4x10xf32>
// CHECK-NEXT: %[[FLAT:.*]] = plan.call "aten.reshape.default"(%[[OUT]]) {{.*}} -> tensor<28x10xf32>
// CHECK-NEXT: %[[OTHER:.*]] = plan.call "aten.mm.default"(%{{.*}}, %arg3)
// CHECK-NEXT: return %[[FLAT]], %[[OTHER]]
func.func @decomposed(%x: tensor<4x7x24xf32>, %w: tensor<10x24xf32>, %b: tensor<10xf32>, %m: tensor<24x10xf32>)
    -> (tensor<28x10xf32>, tensor<28x10xf32>) {
  %0 = plan.call "aten.transpose.int"(%x) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64}
      : (tensor<4x7x24xf32>) -> tensor<7x4x24xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = [28 : i64, 24 : i64]}
      : (tensor<7x4x24xf32>) -> tensor<28x24xf32>
  %2 = plan.call "aten.t.default"(%w) {self = #base.operand<0>} : (tensor<10x24xf32>) -> tensor<24x10xf32>
  %3 = plan.call "aten.addmm.default"(%b, %1, %2)
      {self = #base.operand<0>, mat1 = #base.operand<1>, mat2 = #base.operand<2>}
      : (tensor<10xf32>, tensor<28x24xf32>, tensor<24x10xf32>) -> tensor<28x10xf32>
  %4 = plan.call "aten.mm.default"(%1, %m) {self = #base.operand<0>, mat2 = #base.operand<1>}
      : (tensor<28x24xf32>, tensor<24x10xf32>) -> tensor<28x10xf32>
  return %3, %4 : tensor<28x10xf32>, tensor<28x10xf32>
}

// Rows of samples, positions and heads that are normalized separately: the operators get the dims. One of the merges
// splits features into heads.
// CHECK-LABEL: func.func @normed_rows
// CHECK-NEXT: %[[GATE:.*]] = plan.call "aten.reshape.default"(%arg1) {self = #base.operand<0>, shape = [4, 6, 2, 3]}
// CHECK-NEXT: %[[SUM:.*]] = plan.call "aten.sum.dim_IntList"(%arg0) {dim = [3], keepdim = true, self = #base.operand<0>}
// CHECK-SAME: -> tensor<4x6x2x1xf32>
// CHECK-NEXT: %[[NORMED:.*]] = plan.call "aten.mul.Tensor"(%arg0, %[[SUM]]) {{.*}} -> tensor<4x6x2x3xf32>
// CHECK-NEXT: %[[SCALED:.*]] = plan.call "aten.mul.Tensor"(%[[NORMED]], %arg2) {{.*}} -> tensor<4x6x2x3xf32>
// CHECK-NEXT: %[[GATED:.*]] = plan.call "aten.mul.Tensor"(%[[SCALED]], %[[GATE]]) {{.*}} -> tensor<4x6x2x3xf32>
// CHECK-NEXT: %[[OUT:.*]] = plan.call "aten.view.default"(%[[GATED]]) {{.*}} -> tensor<4x6x6xf32>
// CHECK-NEXT: return %[[OUT]]
func.func @normed_rows(%x: tensor<4x6x2x3xf32>, %g: tensor<4x6x6xf32>, %w: tensor<3xf32>) -> tensor<4x6x6xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [48, 3]}
      : (tensor<4x6x2x3xf32>) -> tensor<48x3xf32>
  %1 = plan.call "aten.view.default"(%g) {self = #base.operand<0>, size = [48, 3]}
      : (tensor<4x6x6xf32>) -> tensor<48x3xf32>
  %2 = plan.call "aten.sum.dim_IntList"(%0) {self = #base.operand<0>, dim = [1], keepdim = true}
      : (tensor<48x3xf32>) -> tensor<48x1xf32>
  %3 = plan.call "aten.mul.Tensor"(%0, %2) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<48x3xf32>, tensor<48x1xf32>) -> tensor<48x3xf32>
  %4 = plan.call "aten.mul.Tensor"(%3, %w) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<48x3xf32>, tensor<3xf32>) -> tensor<48x3xf32>
  %5 = plan.call "aten.mul.Tensor"(%4, %1) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<48x3xf32>, tensor<48x3xf32>) -> tensor<48x3xf32>
  %6 = plan.call "aten.view.default"(%5) {self = #base.operand<0>, size = [4, 6, 6]}
      : (tensor<48x3xf32>) -> tensor<4x6x6xf32>
  return %6 : tensor<4x6x6xf32>
}

// Attention written as single operators over batch and heads in one dim, which a permutation moves to the front; its
// probabilities are read, too.
// CHECK-LABEL: func.func @written_attention
// CHECK: %[[SCORES:.*]] = plan.call "aten.matmul.default"(%{{.*}}, %{{.*}}) {other = #base.operand<1>, self = #base.operand<0>}
// CHECK-SAME: -> tensor<4x2x7x7xf32>
// CHECK-NEXT: %[[CHANCES:.*]] = plan.call "aten.softmax.int"(%[[SCORES]]) {dim = 3 : i64, self = #base.operand<0>} : (tensor<4x2x7x7xf32>)
// CHECK: %[[HEADS:.*]] = plan.call "aten.matmul.default"(%[[CHANCES]], %{{.*}}) {{.*}} -> tensor<4x2x7x3xf32>
// CHECK: plan.call "aten.permute.default"(%[[HEADS]]) {dims = [2, 0, 1, 3], self = #base.operand<0>}
// CHECK: return %{{.*}}, %[[CHANCES]]
func.func @written_attention(%q: tensor<7x4x6xf32>, %k: tensor<7x4x6xf32>, %v: tensor<7x4x6xf32>)
    -> (tensor<7x4x6xf32>, tensor<4x2x7x7xf32>) {
  %0 = plan.call "aten.view.default"(%q) {self = #base.operand<0>, size = [7, 8, 3]} : (tensor<7x4x6xf32>) -> tensor<7x8x3xf32>
  %1 = plan.call "aten.transpose.int"(%0) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64} : (tensor<7x8x3xf32>) -> tensor<8x7x3xf32>
  %2 = plan.call "aten.view.default"(%k) {self = #base.operand<0>, size = [7, 8, 3]} : (tensor<7x4x6xf32>) -> tensor<7x8x3xf32>
  %3 = plan.call "aten.permute.default"(%2) {self = #base.operand<0>, dims = [1, 2, 0]} : (tensor<7x8x3xf32>) -> tensor<8x3x7xf32>
  %4 = plan.call "aten.view.default"(%v) {self = #base.operand<0>, size = [7, 8, 3]} : (tensor<7x4x6xf32>) -> tensor<7x8x3xf32>
  %5 = plan.call "aten.transpose.int"(%4) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64} : (tensor<7x8x3xf32>) -> tensor<8x7x3xf32>
  %6 = plan.call "aten.bmm.default"(%1, %3) {self = #base.operand<0>, mat2 = #base.operand<1>}
      : (tensor<8x7x3xf32>, tensor<8x3x7xf32>) -> tensor<8x7x7xf32>
  %7 = plan.call "aten.softmax.int"(%6) {self = #base.operand<0>, dim = -1 : i64} : (tensor<8x7x7xf32>) -> tensor<8x7x7xf32>
  %8 = plan.call "aten.bmm.default"(%7, %5) {self = #base.operand<0>, mat2 = #base.operand<1>}
      : (tensor<8x7x7xf32>, tensor<8x7x3xf32>) -> tensor<8x7x3xf32>
  %9 = plan.call "aten.transpose.int"(%8) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64} : (tensor<8x7x3xf32>) -> tensor<7x8x3xf32>
  %10 = plan.call "aten.reshape.default"(%9) {self = #base.operand<0>, shape = [7, 4, 6]} : (tensor<7x8x3xf32>) -> tensor<7x4x6xf32>
  %11 = plan.call "aten.view.default"(%7) {self = #base.operand<0>, size = [4, 2, 7, 7]} : (tensor<8x7x7xf32>) -> tensor<4x2x7x7xf32>
  return %10, %11 : tensor<7x4x6xf32>, tensor<4x2x7x7xf32>
}

// Rows that an operator computes together stay.
// CHECK-LABEL: func.func @sums_of_rows
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "aten.view.default"(%arg0)
// CHECK-NEXT: %[[EXP:.*]] = plan.call "aten.exp.default"(%[[ROWS]])
// CHECK-NEXT: plan.call "aten.sum.dim_IntList"(%[[EXP]]) {dim = [0]
func.func @sums_of_rows(%x: tensor<4x6x3xf32>) -> (tensor<3xf32>, tensor<4x6x3xf32>) {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [24, 3]} : (tensor<4x6x3xf32>) -> tensor<24x3xf32>
  %1 = plan.call "aten.exp.default"(%0) {self = #base.operand<0>} : (tensor<24x3xf32>) -> tensor<24x3xf32>
  %2 = plan.call "aten.sum.dim_IntList"(%1) {self = #base.operand<0>, dim = [0]} : (tensor<24x3xf32>) -> tensor<3xf32>
  %3 = plan.call "aten.view.default"(%1) {self = #base.operand<0>, size = [4, 6, 3]} : (tensor<24x3xf32>) -> tensor<4x6x3xf32>
  return %2, %3 : tensor<3xf32>, tensor<4x6x3xf32>
}

// Rows of empty tensors have no dims to restore.
// CHECK-LABEL: func.func @no_elements
// CHECK: plan.call "aten.relu.default"(%{{.*}}) {self = #base.operand<0>} : (tensor<4x0xf32>)
func.func @no_elements(%x: tensor<2x0x3xf32>) -> tensor<2x2x0xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [4, 0]} : (tensor<2x0x3xf32>) -> tensor<4x0xf32>
  %1 = plan.call "aten.relu.default"(%0) {self = #base.operand<0>} : (tensor<4x0xf32>) -> tensor<4x0xf32>
  %2 = plan.call "aten.view.default"(%1) {self = #base.operand<0>, size = [2, 2, 0]} : (tensor<4x0xf32>) -> tensor<2x2x0xf32>
  return %2 : tensor<2x2x0xf32>
}
