// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of parts of a tensor: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @slice_part(%0: tensor<4x12x6xf32>) -> tensor<4x6x6xf32> {
  %r = plan.call "aten.slice.Tensor"(%0) {self = #base.operand<0>, dim = 1 : i64, start = 2 : i64, end = 8 : i64}
    : (tensor<4x12x6xf32>) -> tensor<4x6x6xf32>
  return %r : tensor<4x6x6xf32>
}

func.func @slice_all(%0: tensor<4x12xf32>) -> tensor<4x12xf32> {
  %r = plan.call "aten.slice.Tensor"(%0) {self = #base.operand<0>, dim = 1 : i64, start = 0 : i64, end = 9223372036854775807 : i64}
    : (tensor<4x12xf32>) -> tensor<4x12xf32>
  return %r : tensor<4x12xf32>
}

func.func @slice_all_bounded(%0: tensor<4x12xf32>) -> tensor<4x12xf32> {
  %r = plan.call "aten.slice.Tensor"(%0) {self = #base.operand<0>, dim = -1 : i64, start = -12 : i64, end = 12 : i64}
    : (tensor<4x12xf32>) -> tensor<4x12xf32>
  return %r : tensor<4x12xf32>
}

func.func @slice_default(%0: tensor<4x12xf32>) -> tensor<4x12xf32> {
  %r = plan.call "aten.slice.Tensor"(%0) {self = #base.operand<0>}
    : (tensor<4x12xf32>) -> tensor<4x12xf32>
  return %r : tensor<4x12xf32>
}

func.func @slice_step(%0: tensor<4x12xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.slice.Tensor"(%0) {self = #base.operand<0>, dim = 1 : i64, step = 2 : i64}
    : (tensor<4x12xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @slice_last(%0: tensor<4x12x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.slice.Tensor"(%0) {self = #base.operand<0>, dim = 1 : i64, start = -1 : i64}
    : (tensor<4x12x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @select(%0: tensor<4x12x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.select.int"(%0) {self = #base.operand<0>, dim = 1 : i64, index = -2 : i64}
    : (tensor<4x12x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @select_first(%0: tensor<4x6xf32>) -> tensor<6xf32> {
  %r = plan.call "aten.select.int"(%0) {self = #base.operand<0>, dim = 0 : i64, index = 0 : i64}
    : (tensor<4x6xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @unbind(%0: tensor<3x4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
  %r:3 = plan.call "aten.unbind.int"(%0) {self = #base.operand<0>}
    : (tensor<3x4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
  return %r#0, %r#1, %r#2 : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}

func.func @split(%0: tensor<4x12x6xf32>) -> (tensor<4x5x6xf32>, tensor<4x5x6xf32>, tensor<4x2x6xf32>) {
  %r:3 = plan.call "aten.split.Tensor"(%0) {self = #base.operand<0>, split_size = 5 : i64, dim = 1 : i64}
    : (tensor<4x12x6xf32>) -> (tensor<4x5x6xf32>, tensor<4x5x6xf32>, tensor<4x2x6xf32>)
  return %r#0, %r#1, %r#2 : tensor<4x5x6xf32>, tensor<4x5x6xf32>, tensor<4x2x6xf32>
}

// An empty piece exists, and shards nothing.
func.func @split_empty(%0: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x0xf32>) {
  %r:2 = plan.call "aten.split_with_sizes.default"(%0) {self = #base.operand<0>, split_sizes = [6, 0], dim = -1 : i64}
    : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x0xf32>)
  return %r#0, %r#1 : tensor<4x6xf32>, tensor<4x0xf32>
}

func.func @split_empty_between(%0: tensor<4x6xf32>) -> (tensor<4x2xf32>, tensor<4x0xf32>, tensor<4x4xf32>) {
  %r:3 = plan.call "aten.split_with_sizes.default"(%0) {self = #base.operand<0>, split_sizes = [2, 0, 4], dim = 1 : i64}
    : (tensor<4x6xf32>) -> (tensor<4x2xf32>, tensor<4x0xf32>, tensor<4x4xf32>)
  return %r#0, %r#1, %r#2 : tensor<4x2xf32>, tensor<4x0xf32>, tensor<4x4xf32>
}

func.func @split_once(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.split.Tensor"(%0) {self = #base.operand<0>, split_size = 6 : i64, dim = -1 : i64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @split_with_sizes(%0: tensor<4x12xf32>) -> (tensor<4x6xf32>, tensor<4x4xf32>, tensor<4x2xf32>) {
  %r:3 = plan.call "aten.split_with_sizes.default"(%0) {self = #base.operand<0>, split_sizes = [6 : i64, 4 : i64, 2 : i64], dim = -1 : i64}
    : (tensor<4x12xf32>) -> (tensor<4x6xf32>, tensor<4x4xf32>, tensor<4x2xf32>)
  return %r#0, %r#1, %r#2 : tensor<4x6xf32>, tensor<4x4xf32>, tensor<4x2xf32>
}

func.func @chunk(%0: tensor<4x6x12xf32>) -> (tensor<4x6x6xf32>, tensor<4x6x6xf32>) {
  %r:2 = plan.call "aten.chunk.default"(%0) {self = #base.operand<0>, chunks = 2 : i64, dim = -1 : i64}
    : (tensor<4x6x12xf32>) -> (tensor<4x6x6xf32>, tensor<4x6x6xf32>)
  return %r#0, %r#1 : tensor<4x6x6xf32>, tensor<4x6x6xf32>
}

func.func @slice_scatter(%0: tensor<4x12x6xf32>, %1: tensor<4x6x6xf32>) -> tensor<4x12x6xf32> {
  %r = plan.call "aten.slice_scatter.default"(%0, %1) {self = #base.operand<0>, src = #base.operand<1>, dim = 1 : i64, start = 2 : i64, end = 8 : i64}
    : (tensor<4x12x6xf32>, tensor<4x6x6xf32>) -> tensor<4x12x6xf32>
  return %r : tensor<4x12x6xf32>
}

func.func @slice_scatter_shifted(%0: tensor<4x6xi64>, %1: tensor<4x5xi64>) -> tensor<4x6xi64> {
  %r = plan.call "aten.slice_scatter.default"(%0, %1) {self = #base.operand<0>, src = #base.operand<1>, dim = 1 : i64, start = 1 : i64, end = 9223372036854775807 : i64}
    : (tensor<4x6xi64>, tensor<4x5xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @select_scatter(%0: tensor<4x6x12xf32>, %1: tensor<4x12xf32>) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.select_scatter.default"(%0, %1) {self = #base.operand<0>, src = #base.operand<1>, dim = 1 : i64, index = 2 : i64}
    : (tensor<4x6x12xf32>, tensor<4x12xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @select_scatter_last(%0: tensor<4x6xi64>, %1: tensor<4xi64>) -> tensor<4x6xi64> {
  %r = plan.call "aten.select_scatter.default"(%0, %1) {self = #base.operand<0>, src = #base.operand<1>, dim = -1 : i64, index = -1 : i64}
    : (tensor<4x6xi64>, tensor<4xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @slice_to_nothing(%0: tensor<2x6x4xf32>) -> tensor<2x6x0xf32> {
  %r = plan.call "aten.slice.Tensor"(%0) {self = #base.operand<0>, dim = 2 : i64, start = 4 : i64, end = 9223372036854775807 : i64}
    : (tensor<2x6x4xf32>) -> tensor<2x6x0xf32>
  return %r : tensor<2x6x0xf32>
}

func.func @unfold(%0: tensor<4x6x12xf32>) -> tensor<4x4x12x3xf32> {
  %r = plan.call "aten.unfold.default"(%0) {self = #base.operand<0>, dimension = 1 : i64, size = 3 : i64, step = 1 : i64}
    : (tensor<4x6x12xf32>) -> tensor<4x4x12x3xf32>
  return %r : tensor<4x4x12x3xf32>
}

func.func @unfold_last(%0: tensor<4x6xf32>) -> tensor<4x3x2xf32> {
  %r = plan.call "aten.unfold.default"(%0) {self = #base.operand<0>, dimension = -1 : i64, size = 2 : i64, step = 2 : i64}
    : (tensor<4x6xf32>) -> tensor<4x3x2xf32>
  return %r : tensor<4x3x2xf32>
}

func.func @diagonal(%0: tensor<6x4x5xf32>) -> tensor<6x4xf32> {
  %r = plan.call "aten.diagonal.default"(%0) {self = #base.operand<0>, offset = 1 : i64, dim1 = -2 : i64, dim2 = -1 : i64}
    : (tensor<6x4x5xf32>) -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}

func.func @diagonal_front(%0: tensor<4x4x6xf32>) -> tensor<6x4xf32> {
  %r = plan.call "aten.diagonal.default"(%0) {self = #base.operand<0>}
    : (tensor<4x4x6xf32>) -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}

func.func @tril(%0: tensor<4x6x6xf32>) -> tensor<4x6x6xf32> {
  %r = plan.call "aten.tril.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
  return %r : tensor<4x6x6xf32>
}

func.func @triu(%0: tensor<2x6x5x4xf32>) -> tensor<2x6x5x4xf32> {
  %r = plan.call "aten.triu.default"(%0) {self = #base.operand<0>, diagonal = 1 : i64}
    : (tensor<2x6x5x4xf32>) -> tensor<2x6x5x4xf32>
  return %r : tensor<2x6x5x4xf32>
}

func.func @tril_matrix(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.tril.default"(%0) {self = #base.operand<0>, diagonal = -1 : i64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @tensor_split(%0: tensor<4x12xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %r:3 = plan.call "aten.tensor_split.sections"(%0) {self = #base.operand<0>, sections = 3 : i64, dim = 1 : i64}
    : (tensor<4x12xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
  return %r#0, %r#1, %r#2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

func.func @tensor_split_indices(%0: tensor<12x6xf32>) -> (tensor<4x6xf32>, tensor<2x6xf32>, tensor<6x6xf32>) {
  %r:3 = plan.call "aten.tensor_split.indices"(%0) {self = #base.operand<0>, indices = [4 : i64, 6 : i64]}
    : (tensor<12x6xf32>) -> (tensor<4x6xf32>, tensor<2x6xf32>, tensor<6x6xf32>)
  return %r#0, %r#1, %r#2 : tensor<4x6xf32>, tensor<2x6xf32>, tensor<6x6xf32>
}

func.func @diag_embed(%0: tensor<4x6x3xf32>) -> tensor<4x6x3x3xf32> {
  %r = plan.call "aten.diag_embed.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6x3xf32>) -> tensor<4x6x3x3xf32>
  return %r : tensor<4x6x3x3xf32>
}

func.func @diag_embed_around(%0: tensor<4x6x3xf32>) -> tensor<4x4x4x6xf32> {
  %r = plan.call "aten.diag_embed.default"(%0) {self = #base.operand<0>, offset = 1 : i64, dim1 = 0 : i64, dim2 = 2 : i64}
    : (tensor<4x6x3xf32>) -> tensor<4x4x4x6xf32>
  return %r : tensor<4x4x4x6xf32>
}
