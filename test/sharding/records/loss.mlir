// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of losses: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @row_max(%0: tensor<6x12xf32>) -> tensor<6xf32> {
  %r = plan.call "meshplan.row_max"(%0) {input = #base.operand<0>}
    : (tensor<6x12xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @row_sum_exp(%0: tensor<6x12xf32>, %1: tensor<6xf32>) -> tensor<6xf32> {
  %r = plan.call "meshplan.row_sum_exp"(%0, %1) {input = #base.operand<0>, max = #base.operand<1>}
    : (tensor<6x12xf32>, tensor<6xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @row_pick(%0: tensor<6x12xf32>, %1: tensor<6xi64> {sample.range = [0 : i64, 12 : i64]}) -> tensor<6xf32> {
  %r = plan.call "meshplan.row_pick"(%0, %1) {input = #base.operand<0>, target = #base.operand<1>}
    : (tensor<6x12xf32>, tensor<6xi64>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @row_pick_offset(%0: tensor<6x12xf32>, %1: tensor<6xi64> {sample.range = [0 : i64, 36 : i64]}) -> tensor<6xf32> {
  %r = plan.call "meshplan.row_pick"(%0, %1) {input = #base.operand<0>, target = #base.operand<1>, offset = 12 : i64}
    : (tensor<6x12xf32>, tensor<6xi64>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @row_sum_log_softmax(%0: tensor<6x12xf32>, %1: tensor<6xf32>, %2: tensor<6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<6xf32> {
  %r = plan.call "meshplan.row_sum_log_softmax"(%0, %1, %2) {input = #base.operand<0>, max = #base.operand<1>, sum_exp = #base.operand<2>}
    : (tensor<6x12xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @row_sum_log_softmax_weighted(%0: tensor<12x12xf32>, %1: tensor<12xf32>, %2: tensor<12xf32> {sample.range = [0.5 : f64, 2.0 : f64]}, %3: tensor<12xf32>) -> tensor<12xf32> {
  %r = plan.call "meshplan.row_sum_log_softmax"(%0, %1, %2, %3) {input = #base.operand<0>, max = #base.operand<1>, sum_exp = #base.operand<2>, weight = #base.operand<3>}
    : (tensor<12x12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  return %r : tensor<12xf32>
}

func.func @class_weight(%0: tensor<12xf32>, %1: tensor<6xi64> {sample.range = [0 : i64, 12 : i64]}) -> tensor<6xf32> {
  %r = plan.call "meshplan.class_weight"(%0, %1) {weight = #base.operand<0>, target = #base.operand<1>, ignore_index = 2 : i64}
    : (tensor<12xf32>, tensor<6xi64>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @token_loss(%0: tensor<12xf32>, %1: tensor<12xf32> {sample.range = [0.5 : f64, 2.0 : f64]}, %2: tensor<12xf32>, %3: tensor<12xi64> {sample.range = [0 : i64, 4 : i64]}) -> tensor<12xf32> {
  %r = plan.call "meshplan.token_loss"(%0, %1, %2, %3) {max = #base.operand<0>, sum_exp = #base.operand<1>, picked = #base.operand<2>, target = #base.operand<3>, ignore_index = 2 : i64}
    : (tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xi64>) -> tensor<12xf32>
  return %r : tensor<12xf32>
}

func.func @token_loss_smoothed(%0: tensor<12xf32>, %1: tensor<12xf32> {sample.range = [0.5 : f64, 2.0 : f64]}, %2: tensor<12xf32>, %3: tensor<12xi64> {sample.range = [0 : i64, 4 : i64]}, %4: tensor<12xf32>, %5: tensor<12xf32>) -> tensor<12xf32> {
  %r = plan.call "meshplan.token_loss"(%0, %1, %2, %3, %4, %5) {max = #base.operand<0>, sum_exp = #base.operand<1>, picked = #base.operand<2>, target = #base.operand<3>, weight = #base.operand<4>, row_sum = #base.operand<5>, ignore_index = 2 : i64, classes = 4 : i64, label_smoothing = 1.000000e-01 : f64}
    : (tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xi64>, tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  return %r : tensor<12xf32>
}

func.func @token_loss_of_log_probabilities(%0: tensor<5xf32>, %1: tensor<5xi64> {sample.range = [0 : i64, 4 : i64]}) -> tensor<5xf32> {
  %r = plan.call "meshplan.token_loss"(%0, %1) {picked = #base.operand<0>, target = #base.operand<1>, ignore_index = 2 : i64, classes = 4 : i64}
    : (tensor<5xf32>, tensor<5xi64>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @count_tokens(%0: tensor<12xi64> {sample.range = [0 : i64, 4 : i64]}) -> tensor<f32> {
  %r = plan.call "meshplan.count_tokens"(%0) {target = #base.operand<0>, ignore_index = 2 : i64, dtype = f32}
    : (tensor<12xi64>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @mse_loss(%0: tensor<2x6x12xf32>, %1: tensor<2x6x12xf32>) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.mse_loss.default"(%0, %1) {self = #base.operand<0>, target = #base.operand<1>, reduction = 0 : i64}
    : (tensor<2x6x12xf32>, tensor<2x6x12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @l1_loss(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.l1_loss.default"(%0, %1) {self = #base.operand<0>, target = #base.operand<1>, reduction = 0 : i64}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @smooth_l1_loss(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.smooth_l1_loss.default"(%0, %1) {self = #base.operand<0>, target = #base.operand<1>, reduction = 0 : i64, beta = 5.000000e-01 : f64}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @huber_loss(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.huber_loss.default"(%0, %1) {self = #base.operand<0>, target = #base.operand<1>, reduction = 0 : i64, delta = 5.000000e-01 : f64}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @soft_margin_loss(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.soft_margin_loss.default"(%0, %1) {self = #base.operand<0>, target = #base.operand<1>, reduction = 0 : i64}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @binary_cross_entropy(%0: tensor<4x6xf32> {sample.range = [0.1 : f64, 0.9 : f64]}, %1: tensor<4x6xf32> {sample.range = [0.1 : f64, 0.9 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.binary_cross_entropy.default"(%0, %1) {self = #base.operand<0>, target = #base.operand<1>, reduction = 0 : i64}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @binary_cross_entropy_weighted(%0: tensor<4x6xf32> {sample.range = [0.1 : f64, 0.9 : f64]}, %1: tensor<4x6xf32> {sample.range = [0.1 : f64, 0.9 : f64]}, %2: tensor<4x1xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.binary_cross_entropy.default"(%0, %1, %2) {self = #base.operand<0>, target = #base.operand<1>, weight = #base.operand<2>, reduction = 0 : i64}
    : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @binary_cross_entropy_with_logits(%0: tensor<4x6xf32>, %1: tensor<4x6xf32> {sample.range = [0.1 : f64, 0.9 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.binary_cross_entropy_with_logits.default"(%0, %1) {self = #base.operand<0>, target = #base.operand<1>, reduction = 0 : i64}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @binary_cross_entropy_with_logits_weighted(%0: tensor<4x6xf32>, %1: tensor<4x6xf32> {sample.range = [0.1 : f64, 0.9 : f64]}, %2: tensor<4x1xf32>, %3: tensor<6xf32> {sample.range = [0.1 : f64, 0.9 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.binary_cross_entropy_with_logits.default"(%0, %1, %2, %3) {self = #base.operand<0>, target = #base.operand<1>, weight = #base.operand<2>, pos_weight = #base.operand<3>, reduction = 0 : i64}
    : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x1xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @kl_div(%0: tensor<4x6xf32>, %1: tensor<4x6xf32> {sample.range = [0.1 : f64, 0.9 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.kl_div.default"(%0, %1) {self = #base.operand<0>, target = #base.operand<1>, reduction = 0 : i64}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @kl_div_log_target(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.kl_div.default"(%0, %1) {self = #base.operand<0>, target = #base.operand<1>, reduction = 0 : i64, log_target = true}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @mse_loss_reduced(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<f32> {
  %r = plan.call "aten.mse_loss.default"(%0, %1) {self = #base.operand<0>, target = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<f32>
  return %r : tensor<f32>
}
