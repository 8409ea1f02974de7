// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of attention's gradients: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @heads(%0: tensor<2x6x4x8xf32>, %1: tensor<2x6x4x8xf32>, %2: tensor<2x6x4x8xf32>, %3: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) {
  %r:3 = plan.call "meshplan.attention_backward"(%0, %1, %2, %3) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, scale = 0.5 : f64, causal = true}
    : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>
}

func.func @grouped(%0: tensor<2x12x6x4xf32>, %1: tensor<2x12x6x4xf32>, %2: tensor<2x6x6x4xf32>, %3: tensor<2x6x6x4xf32>) -> (tensor<2x12x6x4xf32>, tensor<2x6x6x4xf32>, tensor<2x6x6x4xf32>) {
  %r:3 = plan.call "meshplan.attention_backward"(%0, %1, %2, %3) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, scale = 0.5 : f64, causal = true}
    : (tensor<2x12x6x4xf32>, tensor<2x12x6x4xf32>, tensor<2x6x6x4xf32>, tensor<2x6x6x4xf32>) -> (tensor<2x12x6x4xf32>, tensor<2x6x6x4xf32>, tensor<2x6x6x4xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x12x6x4xf32>, tensor<2x6x6x4xf32>, tensor<2x6x6x4xf32>
}

func.func @one_group(%0: tensor<4x6x4x4xf32>, %1: tensor<4x6x4x4xf32>, %2: tensor<4x1x4x4xf32>, %3: tensor<4x1x4x4xf32>) -> (tensor<4x6x4x4xf32>, tensor<4x1x4x4xf32>, tensor<4x1x4x4xf32>) {
  %r:3 = plan.call "meshplan.attention_backward"(%0, %1, %2, %3) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, scale = 0.5 : f64}
    : (tensor<4x6x4x4xf32>, tensor<4x6x4x4xf32>, tensor<4x1x4x4xf32>, tensor<4x1x4x4xf32>) -> (tensor<4x6x4x4xf32>, tensor<4x1x4x4xf32>, tensor<4x1x4x4xf32>)
  return %r#0, %r#1, %r#2 : tensor<4x6x4x4xf32>, tensor<4x1x4x4xf32>, tensor<4x1x4x4xf32>
}

func.func @mask_for_heads(%0: tensor<2x6x4x8xf32>, %1: tensor<2x6x4x8xf32>, %2: tensor<2x3x6x8xf32>, %3: tensor<2x3x6x8xf32>, %4: tensor<1x6x4x6xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>) {
  %r:3 = plan.call "meshplan.attention_backward"(%0, %1, %2, %3, %4) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, mask = #base.operand<4>, scale = 0.5 : f64}
    : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>, tensor<1x6x4x6xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x6x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>
}

func.func @key_mask(%0: tensor<2x4x6x8xf32>, %1: tensor<2x4x6x8xf32>, %2: tensor<2x2x6x8xf32>, %3: tensor<2x2x6x8xf32>, %4: tensor<2x6xi1>) -> (tensor<2x4x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>) {
  %r:3 = plan.call "meshplan.attention_backward"(%0, %1, %2, %3, %4) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, key_mask = #base.operand<4>, scale = 0.5 : f64, causal = true}
    : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x6xi1>) -> (tensor<2x4x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x4x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>
}

func.func @softcap(%0: tensor<2x6x4x8xf32>, %1: tensor<2x6x4x8xf32>, %2: tensor<2x6x4x8xf32>, %3: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) {
  %r:3 = plan.call "meshplan.attention_backward"(%0, %1, %2, %3) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, scale = 0.5 : f64, softcap = 2.0 : f64}
    : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>
}

func.func @apart(%0: tensor<2x12x6x4xf32>, %1: tensor<2x12x6x4xf32>, %2: tensor<2x6x6x4xf32>, %3: tensor<2x6x6x4xf32>) -> (tensor<2x12x6x4xf32>, tensor<2x12x6x4xf32>, tensor<2x12x6x4xf32>) {
  %r:3 = plan.call "meshplan.attention_backward"(%0, %1, %2, %3) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, scale = 0.5 : f64, per_head = true}
    : (tensor<2x12x6x4xf32>, tensor<2x12x6x4xf32>, tensor<2x6x6x4xf32>, tensor<2x6x6x4xf32>) -> (tensor<2x12x6x4xf32>, tensor<2x12x6x4xf32>, tensor<2x12x6x4xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x12x6x4xf32>, tensor<2x12x6x4xf32>, tensor<2x12x6x4xf32>
}

func.func @mask_of_heads(%0: tensor<2x6x4x8xf32>, %1: tensor<2x6x4x8xf32>, %2: tensor<2x3x6x8xf32>, %3: tensor<2x3x6x8xf32>, %4: tensor<1x6x4x6xf32>) -> tensor<1x6x4x6xf32> {
  %r = plan.call "meshplan.attention_mask_gradient"(%0, %1, %2, %3, %4) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, mask = #base.operand<4>, scale = 0.5 : f64}
    : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>, tensor<1x6x4x6xf32>) -> tensor<1x6x4x6xf32>
  return %r : tensor<1x6x4x6xf32>
}

func.func @mask_of_samples(%0: tensor<2x6x4x8xf32>, %1: tensor<2x6x4x8xf32>, %2: tensor<2x3x6x8xf32>, %3: tensor<2x3x6x8xf32>, %4: tensor<2x1x4x6xf32>) -> tensor<2x1x4x6xf32> {
  %r = plan.call "meshplan.attention_mask_gradient"(%0, %1, %2, %3, %4) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, mask = #base.operand<4>, scale = 0.5 : f64}
    : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>, tensor<2x1x4x6xf32>) -> tensor<2x1x4x6xf32>
  return %r : tensor<2x1x4x6xf32>
}

func.func @sum_heads(%0: tensor<2x12x3x4xf32>) -> tensor<2x4x3x4xf32> {
  %r = plan.call "meshplan.sum_shared_heads"(%0) {input = #base.operand<0>, groups = 4 : i64, heads_per_group = 3 : i64}
    : (tensor<2x12x3x4xf32>) -> tensor<2x4x3x4xf32>
  return %r : tensor<2x4x3x4xf32>
}

// The only key head: each rank returns the addends of its own query heads, which are summed to one.
func.func @one_group_apart(%0: tensor<4x6x4x4xf32>, %1: tensor<4x6x4x4xf32>, %2: tensor<4x1x4x4xf32>, %3: tensor<4x1x4x4xf32>) -> (tensor<4x6x4x4xf32>, tensor<4x6x4x4xf32>, tensor<4x6x4x4xf32>) {
  %r:3 = plan.call "meshplan.attention_backward"(%0, %1, %2, %3) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, scale = 0.5 : f64, per_head = true}
    : (tensor<4x6x4x4xf32>, tensor<4x6x4x4xf32>, tensor<4x1x4x4xf32>, tensor<4x1x4x4xf32>) -> (tensor<4x6x4x4xf32>, tensor<4x6x4x4xf32>, tensor<4x6x4x4xf32>)
  return %r#0, %r#1, %r#2 : tensor<4x6x4x4xf32>, tensor<4x6x4x4xf32>, tensor<4x6x4x4xf32>
}

func.func @sum_all_heads(%0: tensor<2x6x3x4xf32>) -> tensor<2x1x3x4xf32> {
  %r = plan.call "meshplan.sum_shared_heads"(%0) {input = #base.operand<0>, groups = 1 : i64, heads_per_group = 6 : i64}
    : (tensor<2x6x3x4xf32>) -> tensor<2x1x3x4xf32>
  return %r : tensor<2x1x3x4xf32>
}

// Dropout of probabilities depends on their index in the whole tensor.
func.func @dropout(%0: tensor<4x6x4x8xf32>, %1: tensor<4x6x4x8xf32>, %2: tensor<4x6x4x8xf32>, %3: tensor<4x6x4x8xf32>, %4: tensor<f64> {sample.range = [7.0 : f64, 7.0 : f64]}, %5: tensor<f64> {sample.range = [3.0 : f64, 3.0 : f64]}) -> (tensor<4x6x4x8xf32>, tensor<4x6x4x8xf32>, tensor<4x6x4x8xf32>) {
  %r:3 = plan.call "meshplan.attention_backward"(%0, %1, %2, %3, %4, %5) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, seed = #base.operand<4>, step = #base.operand<5>, scale = 0.5 : f64, dropout = 0.4 : f64, number = 2 : i64, causal = true}
    : (tensor<4x6x4x8xf32>, tensor<4x6x4x8xf32>, tensor<4x6x4x8xf32>, tensor<4x6x4x8xf32>, tensor<f64>, tensor<f64>) -> (tensor<4x6x4x8xf32>, tensor<4x6x4x8xf32>, tensor<4x6x4x8xf32>)
  return %r#0, %r#1, %r#2 : tensor<4x6x4x8xf32>, tensor<4x6x4x8xf32>, tensor<4x6x4x8xf32>
}

func.func @dropout_grouped(%0: tensor<2x12x6x4xf32>, %1: tensor<2x12x6x4xf32>, %2: tensor<2x6x6x4xf32>, %3: tensor<2x6x6x4xf32>, %4: tensor<f64> {sample.range = [7.0 : f64, 7.0 : f64]}, %5: tensor<f64> {sample.range = [3.0 : f64, 3.0 : f64]}) -> (tensor<2x12x6x4xf32>, tensor<2x6x6x4xf32>, tensor<2x6x6x4xf32>) {
  %r:3 = plan.call "meshplan.attention_backward"(%0, %1, %2, %3, %4, %5) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, seed = #base.operand<4>, step = #base.operand<5>, scale = 0.5 : f64, dropout = 0.4 : f64, number = 2 : i64}
    : (tensor<2x12x6x4xf32>, tensor<2x12x6x4xf32>, tensor<2x6x6x4xf32>, tensor<2x6x6x4xf32>, tensor<f64>, tensor<f64>) -> (tensor<2x12x6x4xf32>, tensor<2x6x6x4xf32>, tensor<2x6x6x4xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x12x6x4xf32>, tensor<2x6x6x4xf32>, tensor<2x6x6x4xf32>
}

func.func @dropout_apart(%0: tensor<2x12x6x4xf32>, %1: tensor<2x12x6x4xf32>, %2: tensor<2x6x6x4xf32>, %3: tensor<2x6x6x4xf32>, %4: tensor<f64> {sample.range = [7.0 : f64, 7.0 : f64]}, %5: tensor<f64> {sample.range = [3.0 : f64, 3.0 : f64]}) -> (tensor<2x12x6x4xf32>, tensor<2x12x6x4xf32>, tensor<2x12x6x4xf32>) {
  %r:3 = plan.call "meshplan.attention_backward"(%0, %1, %2, %3, %4, %5) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, seed = #base.operand<4>, step = #base.operand<5>, scale = 0.5 : f64, dropout = 0.4 : f64, number = 2 : i64, per_head = true}
    : (tensor<2x12x6x4xf32>, tensor<2x12x6x4xf32>, tensor<2x6x6x4xf32>, tensor<2x6x6x4xf32>, tensor<f64>, tensor<f64>) -> (tensor<2x12x6x4xf32>, tensor<2x12x6x4xf32>, tensor<2x12x6x4xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x12x6x4xf32>, tensor<2x12x6x4xf32>, tensor<2x12x6x4xf32>
}

func.func @dropout_mask_of_heads(%0: tensor<2x6x4x8xf32>, %1: tensor<2x6x4x8xf32>, %2: tensor<2x3x6x8xf32>, %3: tensor<2x3x6x8xf32>, %4: tensor<1x6x4x6xf32>, %5: tensor<f64> {sample.range = [7.0 : f64, 7.0 : f64]}, %6: tensor<f64> {sample.range = [3.0 : f64, 3.0 : f64]}) -> tensor<1x6x4x6xf32> {
  %r = plan.call "meshplan.attention_mask_gradient"(%0, %1, %2, %3, %4, %5, %6) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, mask = #base.operand<4>, seed = #base.operand<5>, step = #base.operand<6>, scale = 0.5 : f64, dropout = 0.4 : f64, number = 2 : i64}
    : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>, tensor<1x6x4x6xf32>, tensor<f64>, tensor<f64>) -> tensor<1x6x4x6xf32>
  return %r : tensor<1x6x4x6xf32>
}

func.func @dropout_mask_of_samples(%0: tensor<2x6x4x8xf32>, %1: tensor<2x6x4x8xf32>, %2: tensor<2x3x6x8xf32>, %3: tensor<2x3x6x8xf32>, %4: tensor<2x1x4x6xf32>, %5: tensor<f64> {sample.range = [7.0 : f64, 7.0 : f64]}, %6: tensor<f64> {sample.range = [3.0 : f64, 3.0 : f64]}) -> tensor<2x1x4x6xf32> {
  %r = plan.call "meshplan.attention_mask_gradient"(%0, %1, %2, %3, %4, %5, %6) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, mask = #base.operand<4>, seed = #base.operand<5>, step = #base.operand<6>, scale = 0.5 : f64, dropout = 0.4 : f64, number = 2 : i64}
    : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>, tensor<2x1x4x6xf32>, tensor<f64>, tensor<f64>) -> tensor<2x1x4x6xf32>
  return %r : tensor<2x1x4x6xf32>
}

// With saved results of the forward call, as the kernels of a GPU read them.
func.func @with_results(%0: tensor<2x12x6x8xbf16>, %1: tensor<2x12x6x8xbf16>, %2: tensor<2x6x6x8xbf16>, %3: tensor<2x6x6x8xbf16>, %4: tensor<2x12x6x8xbf16>, %5: tensor<2x12x6xf32> {sample.range = [1.0 : f64, 3.0 : f64]}) -> (tensor<2x12x6x8xbf16>, tensor<2x6x6x8xbf16>, tensor<2x6x6x8xbf16>) {
  %r:3 = plan.call "meshplan.attention_backward"(%0, %1, %2, %3, %4, %5) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, out = #base.operand<4>, logsumexp = #base.operand<5>, scale = 0.5 : f64, causal = true}
    : (tensor<2x12x6x8xbf16>, tensor<2x12x6x8xbf16>, tensor<2x6x6x8xbf16>, tensor<2x6x6x8xbf16>, tensor<2x12x6x8xbf16>, tensor<2x12x6xf32>) -> (tensor<2x12x6x8xbf16>, tensor<2x6x6x8xbf16>, tensor<2x6x6x8xbf16>)
  return %r#0, %r#1, %r#2 : tensor<2x12x6x8xbf16>, tensor<2x6x6x8xbf16>, tensor<2x6x6x8xbf16>
}
