// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of derivatives that the runtime finds: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @erfinv(%0: tensor<4x6xf32> {sample.range = [-0.5 : f64, 0.5 : f64]}, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "vjp.aten.erfinv.default"(%0, %1) {self = #base.operand<0>, gradients = [#base.operand<1>], of = "self"}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @lerp_end(%0: tensor<4x6xf32>, %1: tensor<6xf32>, %2: tensor<4x6xf32>) -> tensor<6xf32> {
  %r = plan.call "vjp.aten.lerp.Scalar"(%0, %1, %2) {self = #base.operand<0>, end = #base.operand<1>, gradients = [#base.operand<2>], of = "end", weight = 0.3 : f64}
    : (tensor<4x6xf32>, tensor<6xf32>, tensor<4x6xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @lerp_self(%0: tensor<4x6xf32>, %1: tensor<6xf32>, %2: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "vjp.aten.lerp.Scalar"(%0, %1, %2) {self = #base.operand<0>, end = #base.operand<1>, gradients = [#base.operand<2>], of = "self", weight = 0.3 : f64}
    : (tensor<4x6xf32>, tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @outer(%0: tensor<6xf32>, %1: tensor<4xf32>, %2: tensor<6x4xf32>) -> tensor<4xf32> {
  %r = plan.call "vjp.aten.outer.default"(%0, %1, %2) {self = #base.operand<0>, vec2 = #base.operand<1>, gradients = [#base.operand<2>], of = "vec2"}
    : (tensor<6xf32>, tensor<4xf32>, tensor<6x4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @prod(%0: tensor<4x6xf32>, %1: tensor<4xf32>) -> tensor<4x6xf32> {
  %r = plan.call "vjp.aten.prod.dim_int"(%0, %1) {self = #base.operand<0>, gradients = [#base.operand<1>], of = "self", dim = 1 : i64}
    : (tensor<4x6xf32>, tensor<4xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @pool(%0: tensor<2x4x6x6xf32>, %1: tensor<2x4x3x3xf32>) -> tensor<2x4x6x6xf32> {
  %r = plan.call "vjp.aten.avg_pool2d.default"(%0, %1) {self = #base.operand<0>, gradients = [#base.operand<1>], of = "self", kernel_size = [2, 2], stride = [2, 2]}
    : (tensor<2x4x6x6xf32>, tensor<2x4x3x3xf32>) -> tensor<2x4x6x6xf32>
  return %r : tensor<2x4x6x6xf32>
}

func.func @vector_norm(%0: tensor<4x6xf32>, %1: tensor<4xf32>) -> tensor<4x6xf32> {
  %r = plan.call "vjp.aten.linalg_vector_norm.default"(%0, %1) {self = #base.operand<0>, gradients = [#base.operand<1>], of = "self", dim = [1]}
    : (tensor<4x6xf32>, tensor<4xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @rnn_states(%0: tensor<5x6x3xf32>, %1: tensor<1x6x4xf32>, %2: tensor<4x3xf32>, %3: tensor<4x4xf32>, %4: tensor<5x6x4xf32>, %5: tensor<1x6x4xf32>) -> (tensor<1x6x4xf32>, tensor<5x6x3xf32>) {
  %r:2 = plan.call "vjp.aten.rnn_tanh.input"(%0, %1, %2, %3, %4, %5) {input = #base.operand<0>, hx = #base.operand<1>, params = [#base.operand<2>, #base.operand<3>], has_biases = false, num_layers = 1 : i64, dropout = 0.0 : f64, train = false, bidirectional = false, batch_first = false, gradients = [#base.operand<4>, #base.operand<5>], of = "hx, input"}
    : (tensor<5x6x3xf32>, tensor<1x6x4xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<5x6x4xf32>, tensor<1x6x4xf32>) -> (tensor<1x6x4xf32>, tensor<5x6x3xf32>)
  return %r#0, %r#1 : tensor<1x6x4xf32>, tensor<5x6x3xf32>
}

func.func @gru_weights(%0: tensor<6x5x3xf32>, %1: tensor<1x6x4xf32>, %2: tensor<12x3xf32>, %3: tensor<12x4xf32>, %4: tensor<12xf32>, %5: tensor<12xf32>, %6: tensor<6x5x4xf32>, %7: tensor<1x6x4xf32>) -> (tensor<12x3xf32>, tensor<12x4xf32>, tensor<12xf32>, tensor<12xf32>) {
  %r:4 = plan.call "vjp.aten.gru.input"(%0, %1, %2, %3, %4, %5, %6, %7) {input = #base.operand<0>, hx = #base.operand<1>, params = [#base.operand<2>, #base.operand<3>, #base.operand<4>, #base.operand<5>], has_biases = true, num_layers = 1 : i64, dropout = 0.0 : f64, train = false, bidirectional = false, batch_first = true, gradients = [#base.operand<6>, #base.operand<7>], of = "params.0, params.1, params.2, params.3"}
    : (tensor<6x5x3xf32>, tensor<1x6x4xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<12xf32>, tensor<12xf32>, tensor<6x5x4xf32>, tensor<1x6x4xf32>) -> (tensor<12x3xf32>, tensor<12x4xf32>, tensor<12xf32>, tensor<12xf32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<12x3xf32>, tensor<12x4xf32>, tensor<12xf32>, tensor<12xf32>
}

func.func @lstm_input(%0: tensor<5x6x3xf32>, %1: tensor<1x6x4xf32>, %2: tensor<1x6x4xf32>, %3: tensor<16x3xf32>, %4: tensor<16x4xf32>, %5: tensor<5x6x4xf32>, %6: tensor<1x6x4xf32>, %7: tensor<1x6x4xf32>) -> tensor<5x6x3xf32> {
  %r = plan.call "vjp.aten.lstm.input"(%0, %1, %2, %3, %4, %5, %6, %7) {input = #base.operand<0>, hx = [#base.operand<1>, #base.operand<2>], params = [#base.operand<3>, #base.operand<4>], has_biases = false, num_layers = 1 : i64, dropout = 0.0 : f64, train = false, bidirectional = false, batch_first = false, gradients = [#base.operand<5>, #base.operand<6>, #base.operand<7>], of = "input"}
    : (tensor<5x6x3xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<5x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>) -> tensor<5x6x3xf32>
  return %r : tensor<5x6x3xf32>
}

func.func @lstm_weights(%0: tensor<5x6x3xf32>, %1: tensor<1x6x4xf32>, %2: tensor<1x6x4xf32>, %3: tensor<16x3xf32>, %4: tensor<16x4xf32>, %5: tensor<5x6x4xf32>, %6: tensor<1x6x4xf32>, %7: tensor<1x6x4xf32>) -> (tensor<16x3xf32>, tensor<16x4xf32>) {
  %r:2 = plan.call "vjp.aten.lstm.input"(%0, %1, %2, %3, %4, %5, %6, %7) {input = #base.operand<0>, hx = [#base.operand<1>, #base.operand<2>], params = [#base.operand<3>, #base.operand<4>], has_biases = false, num_layers = 1 : i64, dropout = 0.0 : f64, train = false, bidirectional = false, batch_first = false, gradients = [#base.operand<5>, #base.operand<6>, #base.operand<7>], of = "params.0, params.1"}
    : (tensor<5x6x3xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<5x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>) -> (tensor<16x3xf32>, tensor<16x4xf32>)
  return %r#0, %r#1 : tensor<16x3xf32>, tensor<16x4xf32>
}

func.func @transposed_input(%0: tensor<2x6x4x4xf32>, %1: tensor<6x4x3x3xf32>, %2: tensor<4xf32>, %3: tensor<2x4x9x9xf32>) -> tensor<2x6x4x4xf32> {
  %r = plan.call "vjp.aten.conv_transpose2d.input"(%0, %1, %2, %3) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, stride = [2 : i64, 2 : i64], gradients = [#base.operand<3>], of = "input"}
    : (tensor<2x6x4x4xf32>, tensor<6x4x3x3xf32>, tensor<4xf32>, tensor<2x4x9x9xf32>) -> tensor<2x6x4x4xf32>
  return %r : tensor<2x6x4x4xf32>
}

func.func @transposed_weight(%0: tensor<2x6x5xf32>, %1: tensor<6x4x3xf32>, %2: tensor<4xf32>, %3: tensor<2x4x7xf32>) -> tensor<6x4x3xf32> {
  %r = plan.call "vjp.aten.conv_transpose1d.default"(%0, %1, %2, %3) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, gradients = [#base.operand<3>], of = "weight"}
    : (tensor<2x6x5xf32>, tensor<6x4x3xf32>, tensor<4xf32>, tensor<2x4x7xf32>) -> tensor<6x4x3xf32>
  return %r : tensor<6x4x3xf32>
}

func.func @transposed_bias(%0: tensor<2x6x5xf32>, %1: tensor<6x4x3xf32>, %2: tensor<4xf32>, %3: tensor<2x4x7xf32>) -> tensor<4xf32> {
  %r = plan.call "vjp.aten.conv_transpose1d.default"(%0, %1, %2, %3) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, gradients = [#base.operand<3>], of = "bias"}
    : (tensor<2x6x5xf32>, tensor<6x4x3xf32>, tensor<4xf32>, tensor<2x4x7xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @groups_of_one_sample(%0: tensor<6x8xf32>, %1: tensor<6x1x3xf32>, %2: tensor<6x6xf32>) -> tensor<6x1x3xf32> {
  %r = plan.call "vjp.aten.conv1d.default"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, groups = 6 : i64, gradients = [#base.operand<2>], of = "weight"}
    : (tensor<6x8xf32>, tensor<6x1x3xf32>, tensor<6x6xf32>) -> tensor<6x1x3xf32>
  return %r : tensor<6x1x3xf32>
}

func.func @adaptive_max_pool2d(%0: tensor<2x6x5x7xf32>, %1: tensor<2x6x3x3xf32>, %2: tensor<2x6x3x3xi64>) -> tensor<2x6x5x7xf32> {
  %r = plan.call "vjp.aten.adaptive_max_pool2d.default"(%0, %1, %2) {self = #base.operand<0>, output_size = [3, 3], gradients = [#base.operand<1>, #base.operand<2>], of = "self"}
    : (tensor<2x6x5x7xf32>, tensor<2x6x3x3xf32>, tensor<2x6x3x3xi64>) -> tensor<2x6x5x7xf32>
  return %r : tensor<2x6x5x7xf32>
}

func.func @max_pool2d_with_indices(%0: tensor<2x6x6x6xf32>, %1: tensor<2x6x3x3xf32>, %2: tensor<2x6x3x3xi64>) -> tensor<2x6x6x6xf32> {
  %r = plan.call "vjp.aten.max_pool2d_with_indices.default"(%0, %1, %2) {self = #base.operand<0>, kernel_size = [2, 2], gradients = [#base.operand<1>, #base.operand<2>], of = "self"}
    : (tensor<2x6x6x6xf32>, tensor<2x6x3x3xf32>, tensor<2x6x3x3xi64>) -> tensor<2x6x6x6xf32>
  return %r : tensor<2x6x6x6xf32>
}

func.func @adaptive_avg_pool2d(%0: tensor<2x6x12x7xf32>, %1: tensor<2x6x6x3xf32>) -> tensor<2x6x12x7xf32> {
  %r = plan.call "vjp.aten.adaptive_avg_pool2d.default"(%0, %1) {self = #base.operand<0>, gradients = [#base.operand<1>], of = "self", output_size = [6, 3]}
    : (tensor<2x6x12x7xf32>, tensor<2x6x6x3xf32>) -> tensor<2x6x12x7xf32>
  return %r : tensor<2x6x12x7xf32>
}

func.func @transposed_groups(%0: tensor<2x8x6xf32>, %1: tensor<8x3x2xf32>, %2: tensor<12xf32>, %3: tensor<2x12x12xf32>) -> (tensor<2x8x6xf32>, tensor<8x3x2xf32>, tensor<12xf32>) {
  %r:3 = plan.call "vjp.aten.conv_transpose1d.default"(%0, %1, %2, %3) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, stride = [2 : i64], groups = 4 : i64, gradients = [#base.operand<3>], of = "input, weight, bias"}
    : (tensor<2x8x6xf32>, tensor<8x3x2xf32>, tensor<12xf32>, tensor<2x12x12xf32>) -> (tensor<2x8x6xf32>, tensor<8x3x2xf32>, tensor<12xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x8x6xf32>, tensor<8x3x2xf32>, tensor<12xf32>
}

func.func @groups_of_norm(%0: tensor<4x12x6xf32>, %1: tensor<12xf32>, %2: tensor<12xf32>, %3: tensor<4x12x6xf32>) -> tensor<4x12x6xf32> {
  %r = plan.call "vjp.aten.group_norm.default"(%0, %1, %2, %3) {input = #base.operand<0>, num_groups = 3 : i64, weight = #base.operand<1>, bias = #base.operand<2>, gradients = [#base.operand<3>], of = "input"}
    : (tensor<4x12x6xf32>, tensor<12xf32>, tensor<12xf32>, tensor<4x12x6xf32>) -> tensor<4x12x6xf32>
  return %r : tensor<4x12x6xf32>
}

func.func @weight_of_norm_of_groups(%0: tensor<4x12x6xf32>, %1: tensor<12xf32>, %2: tensor<12xf32>, %3: tensor<4x12x6xf32>) -> tensor<12xf32> {
  %r = plan.call "vjp.aten.group_norm.default"(%0, %1, %2, %3) {input = #base.operand<0>, num_groups = 3 : i64, weight = #base.operand<1>, bias = #base.operand<2>, gradients = [#base.operand<3>], of = "weight"}
    : (tensor<4x12x6xf32>, tensor<12xf32>, tensor<12xf32>, tensor<4x12x6xf32>) -> tensor<12xf32>
  return %r : tensor<12xf32>
}
