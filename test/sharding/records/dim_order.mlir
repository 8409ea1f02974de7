// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of transposes and dims of size 1: one call in a function each. The differential test runs each under
// every sharding that its record allows. plan.range = [low, high) bounds the elements of an input.

func.func @transpose(%0: tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32> {
  %r = plan.call "aten.transpose.int"(%0) {self = #plan.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64}
    : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
  return %r : tensor<2x6x4x8xf32>
}

func.func @transpose_negative(%0: tensor<2x4x6xf32>) -> tensor<6x4x2xf32> {
  %r = plan.call "aten.transpose.int"(%0) {self = #plan.operand<0>, dim0 = -1 : i64, dim1 = -3 : i64}
    : (tensor<2x4x6xf32>) -> tensor<6x4x2xf32>
  return %r : tensor<6x4x2xf32>
}

func.func @transpose_same(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.transpose.int"(%0) {self = #plan.operand<0>, dim0 = 1 : i64, dim1 = 1 : i64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @t(%0: tensor<4x6xf32>) -> tensor<6x4xf32> {
  %r = plan.call "aten.t.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}

func.func @t_of_vector(%0: tensor<6xf32>) -> tensor<6xf32> {
  %r = plan.call "aten.t.default"(%0) {self = #plan.operand<0>}
    : (tensor<6xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @numpy_T(%0: tensor<4x1x6xf32>) -> tensor<6x1x4xf32> {
  %r = plan.call "aten.numpy_T.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<6x1x4xf32>
  return %r : tensor<6x1x4xf32>
}

func.func @permute(%0: tensor<2x4x6x12xf32>) -> tensor<2x6x12x4xf32> {
  %r = plan.call "aten.permute.default"(%0) {self = #plan.operand<0>, dims = [0 : i64, 2 : i64, -1 : i64, 1 : i64]}
    : (tensor<2x4x6x12xf32>) -> tensor<2x6x12x4xf32>
  return %r : tensor<2x6x12x4xf32>
}

func.func @unsqueeze(%0: tensor<4x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.unsqueeze.default"(%0) {self = #plan.operand<0>, dim = 1 : i64}
    : (tensor<4x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @unsqueeze_last(%0: tensor<4x6xf32>) -> tensor<4x6x1xf32> {
  %r = plan.call "aten.unsqueeze.default"(%0) {self = #plan.operand<0>, dim = -1 : i64}
    : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  return %r : tensor<4x6x1xf32>
}

func.func @squeeze(%0: tensor<1x2x1x6xf32>) -> tensor<2x6xf32> {
  %r = plan.call "aten.squeeze.default"(%0) {self = #plan.operand<0>}
    : (tensor<1x2x1x6xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

func.func @squeeze_dim(%0: tensor<4x1x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.squeeze.dim"(%0) {self = #plan.operand<0>, dim = 1 : i64}
    : (tensor<4x1x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @squeeze_nothing(%0: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %r = plan.call "aten.squeeze.dim"(%0) {self = #plan.operand<0>, dim = 0 : i64}
    : (tensor<2x6xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

func.func @squeeze_dims(%0: tensor<2x1x6x1xf32>) -> tensor<2x6xf32> {
  %r = plan.call "aten.squeeze.dims"(%0) {self = #plan.operand<0>, dim = [0 : i64, 1 : i64, -1 : i64]}
    : (tensor<2x1x6x1xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

func.func @expand(%0: tensor<2x3x1x6xf32>) -> tensor<2x3x4x6xf32> {
  %r = plan.call "aten.expand.default"(%0) {self = #plan.operand<0>, size = [2 : i64, 3 : i64, 4 : i64, 6 : i64]}
    : (tensor<2x3x1x6xf32>) -> tensor<2x3x4x6xf32>
  return %r : tensor<2x3x4x6xf32>
}

func.func @expand_kept(%0: tensor<2x1x6xf32>) -> tensor<2x4x6xf32> {
  %r = plan.call "aten.expand.default"(%0) {self = #plan.operand<0>, size = [-1 : i64, 4 : i64, -1 : i64]}
    : (tensor<2x1x6xf32>) -> tensor<2x4x6xf32>
  return %r : tensor<2x4x6xf32>
}

func.func @expand_leading(%0: tensor<6xf32>) -> tensor<4x12x6xf32> {
  %r = plan.call "aten.expand.default"(%0) {self = #plan.operand<0>, size = [4 : i64, 12 : i64, 6 : i64]}
    : (tensor<6xf32>) -> tensor<4x12x6xf32>
  return %r : tensor<4x12x6xf32>
}

func.func @expand_nothing(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.expand.default"(%0) {self = #plan.operand<0>, size = [4 : i64, 6 : i64]}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}
