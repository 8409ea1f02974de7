// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-simplify | FileCheck %s

// Operators that are decomposed into several others.

// A tensor with too few dims is reshaped before it is joined.
// CHECK-LABEL: func.func @stack
// CHECK-NEXT: %[[ROW:.*]] = plan.call "aten.reshape.default"(%arg1) {self = #base.operand<0>, shape = [1, 6]} in "m"
// CHECK-NEXT: plan.call "aten.cat.default"(%arg0, %[[ROW]]) {dim = 0 : i64, {{.*}} in "m" : (tensor<4x6xf32>, tensor<1x6xf32>) -> tensor<5x6xf32>
func.func @stack(%x: tensor<4x6xf32>, %y: tensor<6xf32>) -> tensor<5x6xf32> {
  %0 = plan.call "aten.vstack.default"(%x, %y) {tensors = [#base.operand<0>, #base.operand<1>]} in "m" : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// CHECK-LABEL: func.func @at_least
// CHECK-NEXT: %[[ROW:.*]] = plan.call "aten.reshape.default"(%arg1) {self = #base.operand<0>, shape = [1, 6]}
// CHECK-NEXT: return %arg0, %[[ROW]]
func.func @at_least(%x: tensor<4x6xf32>, %y: tensor<6xf32>) -> (tensor<4x6xf32>, tensor<1x6xf32>) {
  %0:2 = plan.call "aten.atleast_2d.Sequence"(%x, %y) {tensors = [#base.operand<0>, #base.operand<1>]} : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<1x6xf32>)
  return %0#0, %0#1 : tensor<4x6xf32>, tensor<1x6xf32>
}

// With indexing "xy", the first two dims of a grid are swapped.
// CHECK-LABEL: func.func @grid
// CHECK-NEXT: %[[X:.*]] = plan.call "aten.reshape.default"(%arg0) {self = #base.operand<0>, shape = [1, 4]}
// CHECK-NEXT: %[[WIDE:.*]] = plan.call "aten.expand.default"(%[[X]]) {self = #base.operand<0>, size = [3, 4]}
// CHECK-NEXT: %[[Y:.*]] = plan.call "aten.reshape.default"(%arg1) {self = #base.operand<0>, shape = [3, 1]}
// CHECK-NEXT: %[[HIGH:.*]] = plan.call "aten.expand.default"(%[[Y]]) {self = #base.operand<0>, size = [3, 4]}
// CHECK-NEXT: return %[[WIDE]], %[[HIGH]]
func.func @grid(%x: tensor<4xf32>, %y: tensor<3xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %0:2 = plan.call "aten.meshgrid.indexing"(%x, %y) {tensors = [#base.operand<0>, #base.operand<1>], indexing = "xy"} : (tensor<4xf32>, tensor<3xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>)
  return %0#0, %0#1 : tensor<3x4xf32>, tensor<3x4xf32>
}

// CHECK-LABEL: func.func @tensordot
// CHECK-NEXT: plan.call "aten.einsum.default"(%arg0, %arg1) {equation = "abc,bea->ce",
func.func @tensordot(%x: tensor<2x3x4xf32>, %y: tensor<3x5x2xf32>) -> tensor<4x5xf32> {
  %0 = plan.call "aten.tensordot.default"(%x, %y) {self = #base.operand<0>, other = #base.operand<1>, dims_self = [0, 1], dims_other = [-1, 0]} : (tensor<2x3x4xf32>, tensor<3x5x2xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// A dim of size 1 that broadcasts along another is not a pair of the same letter.
// CHECK-LABEL: func.func @tensordot_of_one
// CHECK-NEXT: plan.call "aten.tensordot.default"
func.func @tensordot_of_one(%x: tensor<2x1xf32>, %y: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %0 = plan.call "aten.tensordot.default"(%x, %y) {self = #base.operand<0>, other = #base.operand<1>, dims_self = [1], dims_other = [0]} : (tensor<2x1xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @kron
// CHECK-DAG: %[[X:.*]] = plan.call "aten.reshape.default"(%arg0) {self = #base.operand<0>, shape = [2, 1, 3, 1]}
// CHECK-DAG: %[[Y:.*]] = plan.call "aten.reshape.default"(%arg1) {self = #base.operand<0>, shape = [1, 1, 1, 4]}
// CHECK: %[[XY:.*]] = plan.call "aten.mul.Tensor"(%[[X]], %[[Y]]) {{.*}} -> tensor<2x1x3x4xf32>
// CHECK-NEXT: plan.call "aten.reshape.default"(%[[XY]]) {self = #base.operand<0>, shape = [2, 12]}
func.func @kron(%x: tensor<2x3xf32>, %y: tensor<4xf32>) -> tensor<2x12xf32> {
  %0 = plan.call "aten.kron.default"(%x, %y) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x12xf32>
  return %0 : tensor<2x12xf32>
}

// A chain of products is computed in the order with the fewest operations: the small product first.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[ROW:.*]] = plan.call "aten.reshape.default"(%arg0) {self = #base.operand<0>, shape = [1, 8]}
// CHECK-NEXT: %[[FIRST:.*]] = plan.call "aten.mm.default"(%[[ROW]], %arg1) {{.*}} -> tensor<1x2xf32>
// CHECK-NEXT: %[[ALL:.*]] = plan.call "aten.mm.default"(%[[FIRST]], %arg2) {{.*}} -> tensor<1x9xf32>
// CHECK-NEXT: plan.call "aten.reshape.default"(%[[ALL]]) {self = #base.operand<0>, shape = [9]}
func.func @chain(%x: tensor<8xf32>, %y: tensor<8x2xf32>, %z: tensor<2x9xf32>) -> tensor<9xf32> {
  %0 = plan.call "aten.linalg_multi_dot.default"(%x, %y, %z) {tensors = [#base.operand<0>, #base.operand<1>, #base.operand<2>]} : (tensor<8xf32>, tensor<8x2xf32>, tensor<2x9xf32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// CHECK-LABEL: func.func @chain_of_matrices
// CHECK-NEXT: %[[FIRST:.*]] = plan.call "aten.mm.default"(%arg0, %arg1) {{.*}} -> tensor<3x2xf32>
// CHECK-NEXT: plan.call "aten.mm.default"(%[[FIRST]], %arg2) {{.*}} -> tensor<3x9xf32>
func.func @chain_of_matrices(%x: tensor<3x8xf32>, %y: tensor<8x2xf32>, %z: tensor<2x9xf32>) -> tensor<3x9xf32> {
  %0 = plan.call "aten.chain_matmul.default"(%x, %y, %z) {matrices = [#base.operand<0>, #base.operand<1>, #base.operand<2>]} : (tensor<3x8xf32>, tensor<8x2xf32>, tensor<2x9xf32>) -> tensor<3x9xf32>
  return %0 : tensor<3x9xf32>
}

// An operand that is multiplied by 0 is not read: it may be NaN.
// CHECK-LABEL: func.func @alone
// CHECK-NEXT: %[[PRODUCT:.*]] = plan.call "aten.einsum.default"(%arg1, %arg2) {equation = "bij,bjk->ik",
// CHECK-NEXT: plan.call "aten.mul.Scalar"(%[[PRODUCT]]) {other = 2 : i64,
func.func @alone(%s: tensor<4x5xf32>, %x: tensor<2x4x3xf32>, %y: tensor<2x3x5xf32>) -> tensor<4x5xf32> {
  %0 = plan.call "aten.addbmm.default"(%s, %x, %y) {self = #base.operand<0>, batch1 = #base.operand<1>, batch2 = #base.operand<2>, beta = 0 : i64, alpha = 2 : i64} : (tensor<4x5xf32>, tensor<2x4x3xf32>, tensor<2x3x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// CHECK-LABEL: func.func @weight_norm
// CHECK-NEXT: %[[V:.*]] = plan.call "aten.to.dtype"(%arg0) {dtype = f32,
// CHECK-NEXT: %[[G:.*]] = plan.call "aten.to.dtype"(%arg1) {dtype = f32,
// CHECK-NEXT: %[[NORM:.*]] = plan.call "aten.linalg_vector_norm.default"(%[[V]]) {dim = [1, 2], keepdim = true, ord = 2.000000e+00 : f64, {{.*}} -> tensor<4x1x1xf32>
// CHECK-NEXT: %[[SCALE:.*]] = plan.call "aten.div.Tensor"(%[[G]], %[[NORM]])
// CHECK-NEXT: %[[W:.*]] = plan.call "aten.mul.Tensor"(%[[V]], %[[SCALE]])
// CHECK-NEXT: plan.call "aten.to.dtype"(%[[W]]) {dtype = bf16,
func.func @weight_norm(%v: tensor<4x3x2xbf16>, %g: tensor<4x1x1xbf16>) -> tensor<4x3x2xbf16> {
  %0 = plan.call "aten._weight_norm.default"(%v, %g) {v = #base.operand<0>, g = #base.operand<1>, dim = 0 : i64} : (tensor<4x3x2xbf16>, tensor<4x1x1xbf16>) -> tensor<4x3x2xbf16>
  return %0 : tensor<4x3x2xbf16>
}

// Bags of one size are rows of an embedding; bags of several sizes stay.
// CHECK-LABEL: func.func @bags
// CHECK: %[[ROWS:.*]] = plan.call "aten.embedding.default"({{.*}} -> tensor<3x2x6xf32>
// CHECK-NEXT: plan.call "aten.mean.dim"(%[[ROWS]]) {dim = [1], {{.*}} -> tensor<3x6xf32>
// CHECK: plan.call "aten.embedding_bag.padding_idx"
func.func @bags(%w: tensor<12x6xf32>, %i: tensor<6xi64>, %o: tensor<3xi64>) -> (tensor<3x6xf32>, tensor<3x6xf32>) {
  %even = plan.call "aten.arange.start_step"() {start = 0 : i64, end = 6 : i64, step = 2 : i64} : () -> tensor<3xi64>
  %0:4 = plan.call "aten.embedding_bag.padding_idx"(%w, %i, %even) {weight = #base.operand<0>, indices = #base.operand<1>, offsets = #base.operand<2>, mode = 1 : i64}
      : (tensor<12x6xf32>, tensor<6xi64>, tensor<3xi64>) -> (tensor<3x6xf32>, tensor<6xi64>, tensor<3xi64>, tensor<3xi64>)
  %1:4 = plan.call "aten.embedding_bag.padding_idx"(%w, %i, %o) {weight = #base.operand<0>, indices = #base.operand<1>, offsets = #base.operand<2>, mode = 1 : i64}
      : (tensor<12x6xf32>, tensor<6xi64>, tensor<3xi64>) -> (tensor<3x6xf32>, tensor<6xi64>, tensor<3xi64>, tensor<3xi64>)
  return %0#0, %1#0 : tensor<3x6xf32>, tensor<3x6xf32>
}

// Copies of a dim with several elements are concatenated; a single element is expanded.
// CHECK-LABEL: func.func @repeat
// CHECK-NEXT: %[[COPIES:.*]] = plan.call "aten.cat.default"(%arg0, %arg0) {dim = 1 : i64, {{.*}} -> tensor<1x12xf32>
// CHECK-NEXT: %[[ALL:.*]] = plan.call "aten.repeat.default"(%[[COPIES]]) {repeats = [3, 1], self = #base.operand<0>} {{.*}} -> tensor<3x12xf32>
// CHECK-NEXT: %[[TWICE:.*]] = plan.call "aten.cat.default"(%arg1, %arg1) {dim = 0 : i64, {{.*}} -> tensor<8xf32>
// CHECK-NEXT: %[[ONCE:.*]] = plan.call "aten.repeat.default"(%arg1) {repeats = [2, 1]
// CHECK-NEXT: return %[[ALL]], %[[TWICE]], %[[ONCE]]
func.func @repeat(%x: tensor<1x6xf32>, %y: tensor<4xf32>) -> (tensor<3x12xf32>, tensor<8xf32>, tensor<2x4xf32>) {
  %0 = plan.call "aten.repeat.default"(%x) {self = #base.operand<0>, repeats = [3, 2]} : (tensor<1x6xf32>) -> tensor<3x12xf32>
  %1 = plan.call "aten.repeat.default"(%y) {self = #base.operand<0>, repeats = [2]} : (tensor<4xf32>) -> tensor<8xf32>
  %2 = plan.call "aten.repeat.default"(%y) {self = #base.operand<0>, repeats = [2, 1]} : (tensor<4xf32>) -> tensor<2x4xf32>
  return %0, %1, %2 : tensor<3x12xf32>, tensor<8xf32>, tensor<2x4xf32>
}

// Many copies stay one operator.
// CHECK-LABEL: func.func @many_copies
// CHECK-NEXT: plan.call "aten.repeat.default"(%arg0) {repeats = [17]
func.func @many_copies(%x: tensor<4xf32>) -> tensor<68xf32> {
  %0 = plan.call "aten.repeat.default"(%x) {self = #base.operand<0>, repeats = [17]} : (tensor<4xf32>) -> tensor<68xf32>
  return %0 : tensor<68xf32>
}

// The gate is the second half of the features; 16 bits are computed in f32, as by PyTorch's kernel.
// CHECK-LABEL: func.func @gated
// CHECK-NEXT: %[[HALVES:.*]]:2 = plan.call "aten.split.Tensor"(%arg0) {dim = 1 : i64, self = #base.operand<0>, split_size = 3 : i64}
// CHECK-NEXT: %[[GATE:.*]] = plan.call "aten.sigmoid.default"(%[[HALVES]]#1)
// CHECK-NEXT: %[[F32:.*]] = plan.call "aten.mul.Tensor"(%[[HALVES]]#0, %[[GATE]])
// CHECK: plan.call "aten.mul.Tensor"({{.*}}) {{.*}} -> tensor<2x4xf32>
// CHECK-NEXT: %[[BF16:.*]] = plan.call "aten.to.dtype"({{.*}} -> tensor<2x4xbf16>
// CHECK-NEXT: return %[[F32]], %[[BF16]]
func.func @gated(%x: tensor<4x6xf32>, %y: tensor<4x4xbf16>) -> (tensor<4x3xf32>, tensor<2x4xbf16>) {
  %0 = plan.call "aten.glu.default"(%x) {self = #base.operand<0>} : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %1 = plan.call "aten.glu.default"(%y) {self = #base.operand<0>, dim = 0} : (tensor<4x4xbf16>) -> tensor<2x4xbf16>
  return %0, %1 : tensor<4x3xf32>, tensor<2x4xbf16>
}

// The dims of an ellipsis get letters that the equation does not use; they are the last ones where tensors have fewer.
// CHECK-LABEL: func.func @ellipsis
// CHECK-NEXT: plan.call "aten.einsum.default"(%arg0, %arg1) {equation = "abe,bed->abd", tensors = {{.*}} : (tensor<2x3x4xf32>, tensor<3x4x8xf32>) -> tensor<2x3x8xf32>
func.func @ellipsis(%x: tensor<2x3x4xf32>, %y: tensor<3x4x8xf32>) -> tensor<2x3x8xf32> {
  %0 = plan.call "aten.einsum.default"(%x, %y) {equation = "...e, ...ed -> ...d", tensors = [#base.operand<0>, #base.operand<1>]} : (tensor<2x3x4xf32>, tensor<3x4x8xf32>) -> tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}

// A dim of size 1 would be repeated: such an equation stays.
// CHECK-LABEL: func.func @repeated_by_ellipsis
// CHECK-NEXT: plan.call "aten.einsum.default"(%arg0, %arg1) {equation = "...e,...ed->...d"
func.func @repeated_by_ellipsis(%x: tensor<2x3x4xf32>, %y: tensor<1x3x4x8xf32>) -> tensor<2x3x8xf32> {
  %0 = plan.call "aten.einsum.default"(%x, %y) {equation = "...e,...ed->...d", tensors = [#base.operand<0>, #base.operand<1>]} : (tensor<2x3x4xf32>, tensor<1x3x4x8xf32>) -> tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}
