// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of counted random numbers: one call in a function each. The differential test runs each with
// every sharding that its record allows: ranks that drew by the indices of their own shards would differ from one rank.
// sample.range = [low, high) bounds the elements of an input; a seed and a step are integers.

func.func @dropout(%0: tensor<4x5x6xf32>, %1: tensor<f64> {sample.range = [7.0 : f64, 7.0 : f64]}, %2: tensor<f64> {sample.range = [3.0 : f64, 3.0 : f64]}) -> tensor<4x5x6xf32> {
  %r = plan.call "meshplan.dropout"(%0, %1, %2) {input = #base.operand<0>, seed = #base.operand<1>, step = #base.operand<2>, p = 0.5 : f64, number = 3 : i64}
    : (tensor<4x5x6xf32>, tensor<f64>, tensor<f64>) -> tensor<4x5x6xf32>
  return %r : tensor<4x5x6xf32>
}

func.func @dropout_half(%0: tensor<6x1x35xbf16>, %1: tensor<f64> {sample.range = [0.0 : f64, 0.0 : f64]}, %2: tensor<f64> {sample.range = [1.0 : f64, 1.0 : f64]}) -> tensor<6x1x35xbf16> {
  %r = plan.call "meshplan.dropout"(%0, %1, %2) {input = #base.operand<0>, seed = #base.operand<1>, step = #base.operand<2>, p = 0.3 : f64, number = 0 : i64}
    : (tensor<6x1x35xbf16>, tensor<f64>, tensor<f64>) -> tensor<6x1x35xbf16>
  return %r : tensor<6x1x35xbf16>
}

func.func @drop_nearly_all(%0: tensor<7x12xf64>, %1: tensor<f64> {sample.range = [9.0 : f64, 9.0 : f64]}, %2: tensor<f64> {sample.range = [1.0 : f64, 1.0 : f64]}) -> tensor<7x12xf64> {
  %r = plan.call "meshplan.dropout"(%0, %1, %2) {input = #base.operand<0>, seed = #base.operand<1>, step = #base.operand<2>, p = 0.9 : f64, number = 1 : i64}
    : (tensor<7x12xf64>, tensor<f64>, tensor<f64>) -> tensor<7x12xf64>
  return %r : tensor<7x12xf64>
}

func.func @drop_one(%0: tensor<f32>, %1: tensor<f64> {sample.range = [9.0 : f64, 9.0 : f64]}, %2: tensor<f64> {sample.range = [1.0 : f64, 1.0 : f64]}) -> tensor<f32> {
  %r = plan.call "meshplan.dropout"(%0, %1, %2) {input = #base.operand<0>, seed = #base.operand<1>, step = #base.operand<2>, p = 0.5 : f64, number = 1 : i64}
    : (tensor<f32>, tensor<f64>, tensor<f64>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @uniform(%0: tensor<f64> {sample.range = [7.0 : f64, 7.0 : f64]}, %1: tensor<f64> {sample.range = [3.0 : f64, 3.0 : f64]}) -> tensor<6x5x8xf32> {
  %r = plan.call "meshplan.uniform"(%0, %1) {seed = #base.operand<0>, step = #base.operand<1>, size = [6 : i64, 5 : i64, 8 : i64], number = 3 : i64, dtype = f32}
    : (tensor<f64>, tensor<f64>) -> tensor<6x5x8xf32>
  return %r : tensor<6x5x8xf32>
}

func.func @uniform_half(%0: tensor<f64> {sample.range = [7.0 : f64, 7.0 : f64]}, %1: tensor<f64> {sample.range = [3.0 : f64, 3.0 : f64]}) -> tensor<6x1x9xf16> {
  %r = plan.call "meshplan.uniform"(%0, %1) {seed = #base.operand<0>, step = #base.operand<1>, size = [6 : i64, 1 : i64, 9 : i64], number = 4 : i64, dtype = f16}
    : (tensor<f64>, tensor<f64>) -> tensor<6x1x9xf16>
  return %r : tensor<6x1x9xf16>
}
