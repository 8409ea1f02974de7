// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of gradients of losses, tables and norms: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @row_loss(%0: tensor<6xf32>, %1: tensor<6x12xf32>, %2: tensor<6xi64> {sample.range = [0 : i64, 12 : i64]}, %3: tensor<6xf32>, %4: tensor<6xf32> {sample.range = [1.0 : f64, 2.0 : f64]}) -> tensor<6x12xf32> {
  %r = plan.call "meshplan.row_loss_gradient"(%0, %1, %2, %3, %4) {gradient = #base.operand<0>, input = #base.operand<1>, target = #base.operand<2>, max = #base.operand<3>, sum_exp = #base.operand<4>, ignore_index = 3 : i64, classes = 12 : i64}
    : (tensor<6xf32>, tensor<6x12xf32>, tensor<6xi64>, tensor<6xf32>, tensor<6xf32>) -> tensor<6x12xf32>
  return %r : tensor<6x12xf32>
}

func.func @row_loss_weighted(%0: tensor<6xf32>, %1: tensor<6x12xf32>, %2: tensor<6xi64> {sample.range = [0 : i64, 12 : i64]}, %3: tensor<6xf32>, %4: tensor<6xf32> {sample.range = [1.0 : f64, 2.0 : f64]}, %5: tensor<6xf32>) -> tensor<6x12xf32> {
  %r = plan.call "meshplan.row_loss_gradient"(%0, %1, %2, %3, %4, %5) {gradient = #base.operand<0>, input = #base.operand<1>, target = #base.operand<2>, max = #base.operand<3>, sum_exp = #base.operand<4>, weight = #base.operand<5>, ignore_index = 3 : i64, classes = 12 : i64}
    : (tensor<6xf32>, tensor<6x12xf32>, tensor<6xi64>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<6x12xf32>
  return %r : tensor<6x12xf32>
}

func.func @row_loss_smoothed(%0: tensor<6xf32>, %1: tensor<6x12xf32>, %2: tensor<6xi64> {sample.range = [0 : i64, 12 : i64]}, %3: tensor<6xf32>, %4: tensor<6xf32> {sample.range = [1.0 : f64, 2.0 : f64]}, %5: tensor<6xf32>, %6: tensor<12xf32>) -> tensor<6x12xf32> {
  %r = plan.call "meshplan.row_loss_gradient"(%0, %1, %2, %3, %4, %5, %6) {gradient = #base.operand<0>, input = #base.operand<1>, target = #base.operand<2>, max = #base.operand<3>, sum_exp = #base.operand<4>, weight = #base.operand<5>, class_weight = #base.operand<6>, ignore_index = 3 : i64, classes = 12 : i64, label_smoothing = 0.1 : f64}
    : (tensor<6xf32>, tensor<6x12xf32>, tensor<6xi64>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<12xf32>) -> tensor<6x12xf32>
  return %r : tensor<6x12xf32>
}

func.func @row_loss_of_logarithms(%0: tensor<6xf32>, %1: tensor<6x12xf32>, %2: tensor<6xi64> {sample.range = [0 : i64, 12 : i64]}) -> tensor<6x12xf32> {
  %r = plan.call "meshplan.row_loss_gradient"(%0, %1, %2) {gradient = #base.operand<0>, input = #base.operand<1>, target = #base.operand<2>, ignore_index = 3 : i64, classes = 12 : i64}
    : (tensor<6xf32>, tensor<6x12xf32>, tensor<6xi64>) -> tensor<6x12xf32>
  return %r : tensor<6x12xf32>
}

func.func @row_loss_half(%0: tensor<6xbf16>, %1: tensor<6x12xbf16>, %2: tensor<6xi64> {sample.range = [0 : i64, 12 : i64]}, %3: tensor<6xbf16>, %4: tensor<6xf32> {sample.range = [1.0 : f64, 2.0 : f64]}) -> tensor<6x12xbf16> {
  %r = plan.call "meshplan.row_loss_gradient"(%0, %1, %2, %3, %4) {gradient = #base.operand<0>, input = #base.operand<1>, target = #base.operand<2>, max = #base.operand<3>, sum_exp = #base.operand<4>, ignore_index = 3 : i64, classes = 12 : i64}
    : (tensor<6xbf16>, tensor<6x12xbf16>, tensor<6xi64>, tensor<6xbf16>, tensor<6xf32>) -> tensor<6x12xbf16>
  return %r : tensor<6x12xbf16>
}

func.func @embedding(%0: tensor<4x6x8xf32>, %1: tensor<4x6xi64> {sample.range = [0 : i64, 12 : i64]}, %2: tensor<12x8xf32>) -> tensor<12x8xf32> {
  %r = plan.call "meshplan.embedding_gradient"(%0, %1, %2) {gradient = #base.operand<0>, indices = #base.operand<1>, weight = #base.operand<2>}
    : (tensor<4x6x8xf32>, tensor<4x6xi64>, tensor<12x8xf32>) -> tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}

func.func @embedding_padded(%0: tensor<4x6x8xf32>, %1: tensor<4x6xi64> {sample.range = [0 : i64, 12 : i64]}, %2: tensor<12x8xf32>) -> tensor<12x8xf32> {
  %r = plan.call "meshplan.embedding_gradient"(%0, %1, %2) {gradient = #base.operand<0>, indices = #base.operand<1>, weight = #base.operand<2>, padding_idx = 7 : i64}
    : (tensor<4x6x8xf32>, tensor<4x6xi64>, tensor<12x8xf32>) -> tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}

func.func @embedding_by_frequency(%0: tensor<4x6x8xf32>, %1: tensor<4x6xi64> {sample.range = [0 : i64, 12 : i64]}, %2: tensor<12x8xf32>) -> tensor<12x8xf32> {
  %r = plan.call "meshplan.embedding_gradient"(%0, %1, %2) {gradient = #base.operand<0>, indices = #base.operand<1>, weight = #base.operand<2>, scale_grad_by_freq = true}
    : (tensor<4x6x8xf32>, tensor<4x6xi64>, tensor<12x8xf32>) -> tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}

func.func @layer_norm_input(%0: tensor<4x6x8xf32>, %1: tensor<4x6x8xf32>, %2: tensor<8xf32>) -> tensor<4x6x8xf32> {
  %r = plan.call "meshplan.layer_norm_input_gradient"(%0, %1, %2) {gradient = #base.operand<0>, input = #base.operand<1>, weight = #base.operand<2>, normalized_shape = [8], eps = 1.0e-05 : f64}
    : (tensor<4x6x8xf32>, tensor<4x6x8xf32>, tensor<8xf32>) -> tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}

func.func @layer_norm_of_two_dims(%0: tensor<4x6x8xf32>, %1: tensor<4x6x8xf32>) -> tensor<4x6x8xf32> {
  %r = plan.call "meshplan.layer_norm_input_gradient"(%0, %1) {gradient = #base.operand<0>, input = #base.operand<1>, normalized_shape = [6, 8], eps = 1.0e-05 : f64}
    : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}

func.func @layer_norm_weight(%0: tensor<4x6x8xf32>, %1: tensor<4x6x8xf32>) -> tensor<8xf32> {
  %r = plan.call "meshplan.layer_norm_weight_gradient"(%0, %1) {gradient = #base.operand<0>, input = #base.operand<1>, normalized_shape = [8], eps = 1.0e-05 : f64}
    : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

func.func @layer_norm_weight_half(%0: tensor<4x6x8xbf16>, %1: tensor<4x6x8xbf16>) -> tensor<8xbf16> {
  %r = plan.call "meshplan.layer_norm_weight_gradient"(%0, %1) {gradient = #base.operand<0>, input = #base.operand<1>, normalized_shape = [8], eps = 1.0e-05 : f64}
    : (tensor<4x6x8xbf16>, tensor<4x6x8xbf16>) -> tensor<8xbf16>
  return %r : tensor<8xbf16>
}

func.func @rms_norm_input(%0: tensor<4x6x8xf32>, %1: tensor<4x6x8xf32>, %2: tensor<8xf32>) -> tensor<4x6x8xf32> {
  %r = plan.call "meshplan.rms_norm_input_gradient"(%0, %1, %2) {gradient = #base.operand<0>, input = #base.operand<1>, weight = #base.operand<2>, normalized_shape = [8], eps = 1.0e-05 : f64}
    : (tensor<4x6x8xf32>, tensor<4x6x8xf32>, tensor<8xf32>) -> tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}

func.func @rms_norm_of_two_dims(%0: tensor<4x6x8xf32>, %1: tensor<4x6x8xf32>) -> tensor<4x6x8xf32> {
  %r = plan.call "meshplan.rms_norm_input_gradient"(%0, %1) {gradient = #base.operand<0>, input = #base.operand<1>, normalized_shape = [6, 8], eps = 1.0e-05 : f64}
    : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}

func.func @rms_norm_weight(%0: tensor<4x6x8xf32>, %1: tensor<4x6x8xf32>) -> tensor<8xf32> {
  %r = plan.call "meshplan.rms_norm_weight_gradient"(%0, %1) {gradient = #base.operand<0>, input = #base.operand<1>, normalized_shape = [8], eps = 1.0e-05 : f64}
    : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

func.func @rms_norm_weight_half(%0: tensor<4x6x8xbf16>, %1: tensor<4x6x8xbf16>) -> tensor<8xbf16> {
  %r = plan.call "meshplan.rms_norm_weight_gradient"(%0, %1) {gradient = #base.operand<0>, input = #base.operand<1>, normalized_shape = [8], eps = 1.0e-05 : f64}
    : (tensor<4x6x8xbf16>, tensor<4x6x8xbf16>) -> tensor<8xbf16>
  return %r : tensor<8xbf16>
}
