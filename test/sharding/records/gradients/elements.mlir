// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of gradients of functions of elements: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @threshold(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.threshold_backward.default"(%0, %1) {grad_output = #base.operand<0>, self = #base.operand<1>, threshold = 0.0 : f64}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @leaky_relu(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.leaky_relu_backward.default"(%0, %1) {grad_output = #base.operand<0>, self = #base.operand<1>, negative_slope = 0.1 : f64, self_is_result = false}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @hardtanh(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.hardtanh_backward.default"(%0, %1) {grad_output = #base.operand<0>, self = #base.operand<1>, min_val = -0.5 : f64, max_val = 0.5 : f64}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @sigmoid(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.sigmoid_backward.default"(%0, %1) {grad_output = #base.operand<0>, output = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @tanh(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.tanh_backward.default"(%0, %1) {grad_output = #base.operand<0>, output = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @hardsigmoid(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.hardsigmoid_backward.default"(%0, %1) {grad_output = #base.operand<0>, self = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @hardswish(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.hardswish_backward.default"(%0, %1) {grad_output = #base.operand<0>, self = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @silu(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.silu_backward.default"(%0, %1) {grad_output = #base.operand<0>, self = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @gelu(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.gelu_backward.default"(%0, %1) {grad_output = #base.operand<0>, self = #base.operand<1>, approximate = "tanh"}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @mish(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.mish_backward.default"(%0, %1) {grad_output = #base.operand<0>, self = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @softplus(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.softplus_backward.default"(%0, %1) {grad_output = #base.operand<0>, self = #base.operand<1>, beta = 1.0 : f64, threshold = 20.0 : f64}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @elu(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.elu_backward.default"(%0, %1) {grad_output = #base.operand<0>, self_or_result = #base.operand<1>, alpha = 1.0 : f64, scale = 1.0 : f64, input_scale = 1.0 : f64, is_result = false}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @softmax(%0: tensor<4x6x8xf32>, %1: tensor<4x6x8xf32>) -> tensor<4x6x8xf32> {
  %r = plan.call "aten._softmax_backward_data.default"(%0, %1) {grad_output = #base.operand<0>, output = #base.operand<1>, dim = 1 : i64, input_dtype = f32}
    : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}

func.func @log_softmax(%0: tensor<4x6x8xf32>, %1: tensor<4x6x8xf32>) -> tensor<4x6x8xf32> {
  %r = plan.call "aten._log_softmax_backward_data.default"(%0, %1) {grad_output = #base.operand<0>, output = #base.operand<1>, dim = 1 : i64, input_dtype = f32}
    : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  return %r : tensor<4x6x8xf32>
}
