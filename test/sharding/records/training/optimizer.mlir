// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of steps of optimizers: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @adamw(%0: tensor<6x8xf32>, %1: tensor<6x8xf32>, %2: tensor<6x8xf32>, %3: tensor<6x8xf32> {sample.range = [0.0 : f64, 1.0 : f64]}, %4: tensor<f64> {sample.range = [0.1 : f64, 0.2 : f64]}, %5: tensor<f64> {sample.range = [3.0 : f64, 3.1 : f64]}) -> (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) {
  %r:3 = plan.call "meshplan.adam"(%0, %1, %2, %3, %4, %5) {parameter = #base.operand<0>, gradient = #base.operand<1>, average = #base.operand<2>, square_average = #base.operand<3>, learning_rate = #base.operand<4>, step = #base.operand<5>, beta1 = 0.9 : f64, beta2 = 0.99 : f64, eps = 1.0e-03 : f64, decoupled = true, weight_decay = 0.1 : f64}
    : (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<f64>, tensor<f64>) -> (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>)
  return %r#0, %r#1, %r#2 : tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>
}

func.func @adam_of_a_factor(%0: tensor<6x8xf32>, %1: tensor<6x8xf32>, %2: tensor<6x8xf32>, %3: tensor<6x8xf32> {sample.range = [0.0 : f64, 1.0 : f64]}, %4: tensor<f64> {sample.range = [0.1 : f64, 0.2 : f64]}, %5: tensor<f64> {sample.range = [3.0 : f64, 3.1 : f64]}, %6: tensor<f32>) -> (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) {
  %r:3 = plan.call "meshplan.adam"(%0, %1, %2, %3, %4, %5, %6) {parameter = #base.operand<0>, gradient = #base.operand<1>, average = #base.operand<2>, square_average = #base.operand<3>, learning_rate = #base.operand<4>, step = #base.operand<5>, factor = #base.operand<6>, beta1 = 0.9 : f64, beta2 = 0.99 : f64, eps = 1.0e-03 : f64, decoupled = false, weight_decay = 0.1 : f64}
    : (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<f64>, tensor<f64>, tensor<f32>) -> (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>)
  return %r#0, %r#1, %r#2 : tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>
}

func.func @sgd(%0: tensor<6x8xf32>, %1: tensor<6x8xf32>, %2: tensor<f64>) -> tensor<6x8xf32> {
  %r = plan.call "meshplan.sgd"(%0, %1, %2) {parameter = #base.operand<0>, gradient = #base.operand<1>, learning_rate = #base.operand<2>, weight_decay = 0.1 : f64}
    : (tensor<6x8xf32>, tensor<6x8xf32>, tensor<f64>) -> tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}

func.func @momentum(%0: tensor<6x8xf32>, %1: tensor<6x8xf32>, %2: tensor<6x8xf32>, %3: tensor<f64>, %4: tensor<f64>) -> (tensor<6x8xf32>, tensor<6x8xf32>) {
  %r:2 = plan.call "meshplan.sgd_momentum"(%0, %1, %2, %3, %4) {parameter = #base.operand<0>, gradient = #base.operand<1>, momentum = #base.operand<2>, learning_rate = #base.operand<3>, step = #base.operand<4>, rate = 0.9 : f64, dampening = 0.1 : f64, nesterov = false, weight_decay = 0.1 : f64}
    : (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<f64>, tensor<f64>) -> (tensor<6x8xf32>, tensor<6x8xf32>)
  return %r#0, %r#1 : tensor<6x8xf32>, tensor<6x8xf32>
}

func.func @square_sum(%0: tensor<4x6x8xf32>) -> tensor<f32> {
  %r = plan.call "meshplan.square_sum"(%0) {self = #base.operand<0>}
    : (tensor<4x6x8xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @square_sum_half(%0: tensor<4x6xbf16>) -> tensor<f32> {
  %r = plan.call "meshplan.square_sum"(%0) {self = #base.operand<0>}
    : (tensor<4x6xbf16>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @clip_factor(%0: tensor<f32> {sample.range = [0.1 : f64, 4.0 : f64]}) -> tensor<f32> {
  %r = plan.call "meshplan.clip_factor"(%0) {squared_norm = #base.operand<0>, limit = 0.5 : f64}
    : (tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @assign(%0: tensor<6x8xbf16>, %1: tensor<6x8xf32>) -> tensor<6x8xbf16> {
  %r = plan.call "meshplan.assign"(%0, %1) {self = #base.operand<0>, source = #base.operand<1>}
    : (tensor<6x8xbf16>, tensor<6x8xf32>) -> tensor<6x8xbf16>
  return %r : tensor<6x8xbf16>
}

func.func @accumulate(%0: tensor<6x8xf32>, %1: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %r = plan.call "meshplan.accumulate"(%0, %1) {self = #base.operand<0>, addend = #base.operand<1>}
    : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}

func.func @take_microbatch(%0: tensor<6x8xf32>, %1: tensor<f64> {sample.range = [1.0 : f64, 1.1 : f64]}) -> tensor<2x8xf32> {
  %r = plan.call "meshplan.take_microbatch"(%0, %1) {self = #base.operand<0>, index = #base.operand<1>, dim = 0 : i64, count = 3 : i64}
    : (tensor<6x8xf32>, tensor<f64>) -> tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}

func.func @round_gradient(%0: tensor<6x8xf32>) -> tensor<6x8xbf16> {
  %r = plan.call "meshplan.round_gradient"(%0) {self = #base.operand<0>, dtype = bf16}
    : (tensor<6x8xf32>) -> tensor<6x8xbf16>
  return %r : tensor<6x8xbf16>
}

func.func @round_addends(%0: tensor<6x8xf32>) -> tensor<6x8xbf16> {
  %r = plan.call "meshplan.round_addends"(%0) {self = #base.operand<0>, dtype = bf16}
    : (tensor<6x8xf32>) -> tensor<6x8xbf16>
  return %r : tensor<6x8xbf16>
}

func.func @nonfinite_count(%0: tensor<6x8xf32>) -> tensor<i64> {
  %r = plan.call "meshplan.nonfinite_count"(%0) {self = #base.operand<0>} : (tensor<6x8xf32>) -> tensor<i64>
  return %r : tensor<i64>
}

func.func @note_nonfinite(%0: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %r = plan.call "meshplan.note_nonfinite"(%0) {self = #base.operand<0>, name = "w"} : (tensor<6x8xf32>) -> tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}
