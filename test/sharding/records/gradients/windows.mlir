// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of gradients of convolutions: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @input(%0: tensor<4x6x5xf32>, %1: tensor<4x4x5xf32>, %2: tensor<6x4x3xf32>) -> tensor<4x4x5xf32> {
  %r = plan.call "meshplan.convolution_input_gradient"(%0, %1, %2) {gradient = #base.operand<0>, input = #base.operand<1>, weight = #base.operand<2>, stride = [1], padding = [1], dilation = [1]}
    : (tensor<4x6x5xf32>, tensor<4x4x5xf32>, tensor<6x4x3xf32>) -> tensor<4x4x5xf32>
  return %r : tensor<4x4x5xf32>
}

func.func @input_of_images(%0: tensor<2x6x3x3xf32>, %1: tensor<2x4x6x6xf32>, %2: tensor<6x4x2x2xf32>) -> tensor<2x4x6x6xf32> {
  %r = plan.call "meshplan.convolution_input_gradient"(%0, %1, %2) {gradient = #base.operand<0>, input = #base.operand<1>, weight = #base.operand<2>, stride = [2, 2], padding = [0, 0], dilation = [1, 1]}
    : (tensor<2x6x3x3xf32>, tensor<2x4x6x6xf32>, tensor<6x4x2x2xf32>) -> tensor<2x4x6x6xf32>
  return %r : tensor<2x4x6x6xf32>
}

func.func @input_of_groups(%0: tensor<4x6x5xf32>, %1: tensor<4x6x5xf32>, %2: tensor<6x1x3xf32>) -> tensor<4x6x5xf32> {
  %r = plan.call "meshplan.convolution_input_gradient"(%0, %1, %2) {gradient = #base.operand<0>, input = #base.operand<1>, weight = #base.operand<2>, stride = [1], padding = [1], dilation = [1]}
    : (tensor<4x6x5xf32>, tensor<4x6x5xf32>, tensor<6x1x3xf32>) -> tensor<4x6x5xf32>
  return %r : tensor<4x6x5xf32>
}

func.func @weight(%0: tensor<4x6x5xf32>, %1: tensor<4x4x5xf32>, %2: tensor<6x4x3xf32>) -> tensor<6x4x3xf32> {
  %r = plan.call "meshplan.convolution_weight_gradient"(%0, %1, %2) {gradient = #base.operand<0>, input = #base.operand<1>, weight = #base.operand<2>, stride = [1], padding = [1], dilation = [1]}
    : (tensor<4x6x5xf32>, tensor<4x4x5xf32>, tensor<6x4x3xf32>) -> tensor<6x4x3xf32>
  return %r : tensor<6x4x3xf32>
}

func.func @weight_of_images(%0: tensor<2x6x3x3xf32>, %1: tensor<2x4x6x6xf32>, %2: tensor<6x4x2x2xf32>) -> tensor<6x4x2x2xf32> {
  %r = plan.call "meshplan.convolution_weight_gradient"(%0, %1, %2) {gradient = #base.operand<0>, input = #base.operand<1>, weight = #base.operand<2>, stride = [2, 2], padding = [0, 0], dilation = [1, 1]}
    : (tensor<2x6x3x3xf32>, tensor<2x4x6x6xf32>, tensor<6x4x2x2xf32>) -> tensor<6x4x2x2xf32>
  return %r : tensor<6x4x2x2xf32>
}

func.func @weight_of_groups(%0: tensor<4x6x5xf32>, %1: tensor<4x6x5xf32>, %2: tensor<6x1x3xf32>) -> tensor<6x1x3xf32> {
  %r = plan.call "meshplan.convolution_weight_gradient"(%0, %1, %2) {gradient = #base.operand<0>, input = #base.operand<1>, weight = #base.operand<2>, stride = [1], padding = [1], dilation = [1]}
    : (tensor<4x6x5xf32>, tensor<4x6x5xf32>, tensor<6x1x3xf32>) -> tensor<6x1x3xf32>
  return %r : tensor<6x1x3xf32>
}

func.func @input_of_wide_groups(%0: tensor<2x12x5xf32>, %1: tensor<2x8x5xf32>, %2: tensor<12x2x3xf32>) -> tensor<2x8x5xf32> {
  %r = plan.call "meshplan.convolution_input_gradient"(%0, %1, %2) {gradient = #base.operand<0>, input = #base.operand<1>, weight = #base.operand<2>, stride = [1], padding = [1], dilation = [1]}
    : (tensor<2x12x5xf32>, tensor<2x8x5xf32>, tensor<12x2x3xf32>) -> tensor<2x8x5xf32>
  return %r : tensor<2x8x5xf32>
}

func.func @weight_of_wide_groups(%0: tensor<2x12x5xf32>, %1: tensor<2x8x5xf32>, %2: tensor<12x2x3xf32>) -> tensor<12x2x3xf32> {
  %r = plan.call "meshplan.convolution_weight_gradient"(%0, %1, %2) {gradient = #base.operand<0>, input = #base.operand<1>, weight = #base.operand<2>, stride = [1], padding = [1], dilation = [1]}
    : (tensor<2x12x5xf32>, tensor<2x8x5xf32>, tensor<12x2x3xf32>) -> tensor<12x2x3xf32>
  return %r : tensor<12x2x3xf32>
}
