// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of functions of whole matrices: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @linalg_det(%0: tensor<4x6x3x3xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.linalg_det.default"(%0) {A = #base.operand<0>}
    : (tensor<4x6x3x3xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @linalg_det_one(%0: tensor<6x6xf32>) -> tensor<f32> {
  %r = plan.call "aten.linalg_det.default"(%0) {A = #base.operand<0>}
    : (tensor<6x6xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @det(%0: tensor<6x2x2xf32>) -> tensor<6xf32> {
  %r = plan.call "aten.det.default"(%0) {self = #base.operand<0>}
    : (tensor<6x2x2xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @linalg_inv(%0: tensor<6x2x2xf32>) -> tensor<6x2x2xf32> {
  %r = plan.call "aten.linalg_inv.default"(%0) {A = #base.operand<0>}
    : (tensor<6x2x2xf32>) -> tensor<6x2x2xf32>
  return %r : tensor<6x2x2xf32>
}

func.func @linalg_inv_one(%0: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = plan.call "aten.linalg_inv.default"(%0) {A = #base.operand<0>}
    : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

func.func @inverse(%0: tensor<2x6x2x2xf32>) -> tensor<2x6x2x2xf32> {
  %r = plan.call "aten.inverse.default"(%0) {self = #base.operand<0>}
    : (tensor<2x6x2x2xf32>) -> tensor<2x6x2x2xf32>
  return %r : tensor<2x6x2x2xf32>
}

// Random numbers that are positive definite.
func.func @linalg_cholesky(%0: tensor<4x6x1x1xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6x1x1xf32> {
  %r = plan.call "aten.linalg_cholesky.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6x1x1xf32>) -> tensor<4x6x1x1xf32>
  return %r : tensor<4x6x1x1xf32>
}

func.func @linalg_cholesky_upper(%0: tensor<6x1x1xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<6x1x1xf32> {
  %r = plan.call "aten.linalg_cholesky.default"(%0) {self = #base.operand<0>, upper = true}
    : (tensor<6x1x1xf32>) -> tensor<6x1x1xf32>
  return %r : tensor<6x1x1xf32>
}

func.func @cholesky(%0: tensor<6x1x1xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<6x1x1xf32> {
  %r = plan.call "aten.cholesky.default"(%0) {self = #base.operand<0>}
    : (tensor<6x1x1xf32>) -> tensor<6x1x1xf32>
  return %r : tensor<6x1x1xf32>
}
