// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of meshplan.attention: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @heads(%0: tensor<2x6x4x8xf32>, %1: tensor<2x6x4x8xf32>, %2: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4xf32>) {
  %r:2 = plan.call "meshplan.attention"(%0, %1, %2) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64, causal = true}
    : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4xf32>)
  return %r#0, %r#1 : tensor<2x6x4x8xf32>, tensor<2x6x4xf32>
}

func.func @grouped(%0: tensor<2x12x6x4xf32>, %1: tensor<2x6x6x4xf32>, %2: tensor<2x6x6x4xf32>) -> (tensor<2x12x6x4xf32>, tensor<2x12x6xf32>) {
  %r:2 = plan.call "meshplan.attention"(%0, %1, %2) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64, causal = true}
    : (tensor<2x12x6x4xf32>, tensor<2x6x6x4xf32>, tensor<2x6x6x4xf32>) -> (tensor<2x12x6x4xf32>, tensor<2x12x6xf32>)
  return %r#0, %r#1 : tensor<2x12x6x4xf32>, tensor<2x12x6xf32>
}

func.func @one_group(%0: tensor<4x6x4x4xf32>, %1: tensor<4x1x4x4xf32>, %2: tensor<4x1x4x4xf32>) -> (tensor<4x6x4x4xf32>, tensor<4x6x4xf32>) {
  %r:2 = plan.call "meshplan.attention"(%0, %1, %2) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64}
    : (tensor<4x6x4x4xf32>, tensor<4x1x4x4xf32>, tensor<4x1x4x4xf32>) -> (tensor<4x6x4x4xf32>, tensor<4x6x4xf32>)
  return %r#0, %r#1 : tensor<4x6x4x4xf32>, tensor<4x6x4xf32>
}

func.func @cross(%0: tensor<2x6x4x8xf32>, %1: tensor<2x2x12x8xf32>, %2: tensor<2x2x12x6xf32>) -> (tensor<2x6x4x6xf32>, tensor<2x6x4xf32>) {
  %r:2 = plan.call "meshplan.attention"(%0, %1, %2) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64}
    : (tensor<2x6x4x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32>) -> (tensor<2x6x4x6xf32>, tensor<2x6x4xf32>)
  return %r#0, %r#1 : tensor<2x6x4x6xf32>, tensor<2x6x4xf32>
}

func.func @window(%0: tensor<1x6x12x4xf32>, %1: tensor<1x3x12x4xf32>, %2: tensor<1x3x12x4xf32>) -> (tensor<1x6x12x4xf32>, tensor<1x6x12xf32>) {
  %r:2 = plan.call "meshplan.attention"(%0, %1, %2) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64, causal = true, window = 4 : i64}
    : (tensor<1x6x12x4xf32>, tensor<1x3x12x4xf32>, tensor<1x3x12x4xf32>) -> (tensor<1x6x12x4xf32>, tensor<1x6x12xf32>)
  return %r#0, %r#1 : tensor<1x6x12x4xf32>, tensor<1x6x12xf32>
}

func.func @mask_for_all(%0: tensor<2x6x4x8xf32>, %1: tensor<2x3x6x8xf32>, %2: tensor<2x3x6x8xf32>, %3: tensor<1x1x4x6xi1>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4xf32>) {
  %r:2 = plan.call "meshplan.attention"(%0, %1, %2, %3) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64, mask = #base.operand<3>}
    : (tensor<2x6x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>, tensor<1x1x4x6xi1>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4xf32>)
  return %r#0, %r#1 : tensor<2x6x4x8xf32>, tensor<2x6x4xf32>
}

func.func @mask_for_heads(%0: tensor<2x6x4x8xf32>, %1: tensor<2x3x6x8xf32>, %2: tensor<2x3x6x8xf32>, %3: tensor<1x6x4x6xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4xf32>) {
  %r:2 = plan.call "meshplan.attention"(%0, %1, %2, %3) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64, mask = #base.operand<3>}
    : (tensor<2x6x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>, tensor<1x6x4x6xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4xf32>)
  return %r#0, %r#1 : tensor<2x6x4x8xf32>, tensor<2x6x4xf32>
}

func.func @mask_for_samples(%0: tensor<2x6x4x8xf32>, %1: tensor<2x3x6x8xf32>, %2: tensor<2x3x6x8xf32>, %3: tensor<2x1x1x6xi1>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4xf32>) {
  %r:2 = plan.call "meshplan.attention"(%0, %1, %2, %3) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64, mask = #base.operand<3>}
    : (tensor<2x6x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>, tensor<2x1x1x6xi1>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4xf32>)
  return %r#0, %r#1 : tensor<2x6x4x8xf32>, tensor<2x6x4xf32>
}

func.func @key_mask(%0: tensor<2x4x6x8xf32>, %1: tensor<2x2x6x8xf32>, %2: tensor<2x2x6x8xf32>, %3: tensor<2x6xi1>) -> (tensor<2x4x6x8xf32>, tensor<2x4x6xf32>) {
  %r:2 = plan.call "meshplan.attention"(%0, %1, %2, %3) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64, key_mask = #base.operand<3>, causal = true}
    : (tensor<2x4x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x6xi1>) -> (tensor<2x4x6x8xf32>, tensor<2x4x6xf32>)
  return %r#0, %r#1 : tensor<2x4x6x8xf32>, tensor<2x4x6xf32>
}

func.func @softcap(%0: tensor<2x6x4x8xf32>, %1: tensor<2x3x6x8xf32>, %2: tensor<2x3x6x8xf32>, %3: tensor<2x6x1x6xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4xf32>) {
  %r:2 = plan.call "meshplan.attention"(%0, %1, %2, %3) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64, mask = #base.operand<3>, softcap = 2.0 : f64, causal = true}
    : (tensor<2x6x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>, tensor<2x6x1x6xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4xf32>)
  return %r#0, %r#1 : tensor<2x6x4x8xf32>, tensor<2x6x4xf32>
}

func.func @wider_mask(%0: tensor<2x6x4x8xbf16>, %1: tensor<2x3x6x8xbf16>, %2: tensor<2x3x6x8xbf16>, %3: tensor<2x6x4x6xf32>) -> (tensor<2x6x4x8xbf16>, tensor<2x6x4xf32>) {
  %r:2 = plan.call "meshplan.attention"(%0, %1, %2, %3) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64, mask = #base.operand<3>}
    : (tensor<2x6x4x8xbf16>, tensor<2x3x6x8xbf16>, tensor<2x3x6x8xbf16>, tensor<2x6x4x6xf32>) -> (tensor<2x6x4x8xbf16>, tensor<2x6x4xf32>)
  return %r#0, %r#1 : tensor<2x6x4x8xbf16>, tensor<2x6x4xf32>
}

// Dropout of probabilities depends on their index in the whole tensor.
func.func @dropout(%0: tensor<2x6x4x8xf32>, %1: tensor<2x6x4x8xf32>, %2: tensor<2x6x4x8xf32>, %3: tensor<f64> {sample.range = [7.0 : f64, 7.0 : f64]}, %4: tensor<f64> {sample.range = [3.0 : f64, 3.0 : f64]}) -> (tensor<2x6x4x8xf32>, tensor<2x6x4xf32>) {
  %r:2 = plan.call "meshplan.attention"(%0, %1, %2, %3, %4) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, seed = #base.operand<3>, step = #base.operand<4>, scale = 0.5 : f64, dropout = 0.4 : f64, number = 2 : i64, causal = true}
    : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<f64>, tensor<f64>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4xf32>)
  return %r#0, %r#1 : tensor<2x6x4x8xf32>, tensor<2x6x4xf32>
}

func.func @dropout_of_uneven_parts(%0: tensor<3x5x4x4xf32>, %1: tensor<3x5x6x4xf32>, %2: tensor<3x5x6x4xf32>, %3: tensor<f64> {sample.range = [7.0 : f64, 7.0 : f64]}, %4: tensor<f64> {sample.range = [3.0 : f64, 3.0 : f64]}) -> (tensor<3x5x4x4xf32>, tensor<3x5x4xf32>) {
  %r:2 = plan.call "meshplan.attention"(%0, %1, %2, %3, %4) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, seed = #base.operand<3>, step = #base.operand<4>, scale = 0.5 : f64, dropout = 0.4 : f64, number = 2 : i64}
    : (tensor<3x5x4x4xf32>, tensor<3x5x6x4xf32>, tensor<3x5x6x4xf32>, tensor<f64>, tensor<f64>) -> (tensor<3x5x4x4xf32>, tensor<3x5x4xf32>)
  return %r#0, %r#1 : tensor<3x5x4x4xf32>, tensor<3x5x4xf32>
}

func.func @dropout_grouped(%0: tensor<2x12x6x4xf32>, %1: tensor<2x6x6x4xf32>, %2: tensor<2x6x6x4xf32>, %3: tensor<f64> {sample.range = [7.0 : f64, 7.0 : f64]}, %4: tensor<f64> {sample.range = [3.0 : f64, 3.0 : f64]}) -> (tensor<2x12x6x4xf32>, tensor<2x12x6xf32>) {
  %r:2 = plan.call "meshplan.attention"(%0, %1, %2, %3, %4) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, seed = #base.operand<3>, step = #base.operand<4>, scale = 0.5 : f64, dropout = 0.4 : f64, number = 2 : i64}
    : (tensor<2x12x6x4xf32>, tensor<2x6x6x4xf32>, tensor<2x6x6x4xf32>, tensor<f64>, tensor<f64>) -> (tensor<2x12x6x4xf32>, tensor<2x12x6xf32>)
  return %r#0, %r#1 : tensor<2x12x6x4xf32>, tensor<2x12x6xf32>
}

func.func @dropout_one_group(%0: tensor<4x6x4x4xf32>, %1: tensor<4x1x4x4xf32>, %2: tensor<4x1x4x4xf32>, %3: tensor<f64> {sample.range = [7.0 : f64, 7.0 : f64]}, %4: tensor<f64> {sample.range = [3.0 : f64, 3.0 : f64]}) -> (tensor<4x6x4x4xf32>, tensor<4x6x4xf32>) {
  %r:2 = plan.call "meshplan.attention"(%0, %1, %2, %3, %4) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, seed = #base.operand<3>, step = #base.operand<4>, scale = 0.5 : f64, dropout = 0.4 : f64, number = 2 : i64}
    : (tensor<4x6x4x4xf32>, tensor<4x1x4x4xf32>, tensor<4x1x4x4xf32>, tensor<f64>, tensor<f64>) -> (tensor<4x6x4x4xf32>, tensor<4x6x4xf32>)
  return %r#0, %r#1 : tensor<4x6x4x4xf32>, tensor<4x6x4xf32>
}

func.func @dropout_under_a_mask(%0: tensor<4x6x4x8xf32>, %1: tensor<4x3x6x8xf32>, %2: tensor<4x3x6x8xf32>, %3: tensor<1x6x4x6xf32>, %4: tensor<f64> {sample.range = [7.0 : f64, 7.0 : f64]}, %5: tensor<f64> {sample.range = [3.0 : f64, 3.0 : f64]}) -> (tensor<4x6x4x8xf32>, tensor<4x6x4xf32>) {
  %r:2 = plan.call "meshplan.attention"(%0, %1, %2, %3, %4, %5) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, mask = #base.operand<3>, seed = #base.operand<4>, step = #base.operand<5>, scale = 0.5 : f64, dropout = 0.4 : f64, number = 2 : i64}
    : (tensor<4x6x4x8xf32>, tensor<4x3x6x8xf32>, tensor<4x3x6x8xf32>, tensor<1x6x4x6xf32>, tensor<f64>, tensor<f64>) -> (tensor<4x6x4x8xf32>, tensor<4x6x4xf32>)
  return %r#0, %r#1 : tensor<4x6x4x8xf32>, tensor<4x6x4xf32>
}
