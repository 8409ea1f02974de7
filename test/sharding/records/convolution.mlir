// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of convolutions: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @conv1d(%0: tensor<4x6x12xf32>, %1: tensor<12x6x3xf32>, %2: tensor<12xf32>) -> tensor<4x12x12xf32> {
  %r = plan.call "aten.conv1d.default"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, stride = [1 : i64], padding = [1 : i64]}
    : (tensor<4x6x12xf32>, tensor<12x6x3xf32>, tensor<12xf32>) -> tensor<4x12x12xf32>
  return %r : tensor<4x12x12xf32>
}

func.func @conv1d_plain(%0: tensor<2x6x12xf32>, %1: tensor<6x6x3xf32>) -> tensor<2x6x6xf32> {
  %r = plan.call "aten.conv1d.default"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>, stride = [2 : i64], padding = [1 : i64]}
    : (tensor<2x6x12xf32>, tensor<6x6x3xf32>) -> tensor<2x6x6xf32>
  return %r : tensor<2x6x6xf32>
}

func.func @conv1d_pointwise(%0: tensor<2x6x12xf32>, %1: tensor<4x6x1xf32>, %2: tensor<4xf32>) -> tensor<2x4x12xf32> {
  %r = plan.call "aten.conv1d.default"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>}
    : (tensor<2x6x12xf32>, tensor<4x6x1xf32>, tensor<4xf32>) -> tensor<2x4x12xf32>
  return %r : tensor<2x4x12xf32>
}

func.func @conv1d_sample(%0: tensor<6x12xf32>, %1: tensor<4x6x3xf32>) -> tensor<4x12xf32> {
  %r = plan.call "aten.conv1d.default"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>, padding = [1 : i64]}
    : (tensor<6x12xf32>, tensor<4x6x3xf32>) -> tensor<4x12xf32>
  return %r : tensor<4x12xf32>
}

func.func @conv1d_depthwise(%0: tensor<2x6x15xf32>, %1: tensor<6x1x4xf32>, %2: tensor<6xf32>) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.conv1d.default"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, groups = 6 : i64}
    : (tensor<2x6x15xf32>, tensor<6x1x4xf32>, tensor<6xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @conv1d_same(%0: tensor<2x6x12xf32>, %1: tensor<6x6x3xf32>) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.conv1d.padding"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>, padding = "same"}
    : (tensor<2x6x12xf32>, tensor<6x6x3xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @conv2d(%0: tensor<4x6x6x12xf32>, %1: tensor<6x6x3x3xf32>, %2: tensor<6xf32>) -> tensor<4x6x6x12xf32> {
  %r = plan.call "aten.conv2d.default"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, padding = [1 : i64, 1 : i64]}
    : (tensor<4x6x6x12xf32>, tensor<6x6x3x3xf32>, tensor<6xf32>) -> tensor<4x6x6x12xf32>
  return %r : tensor<4x6x6x12xf32>
}

func.func @conv2d_patches(%0: tensor<2x3x24x12xf32>, %1: tensor<12x3x4x2xf32>, %2: tensor<12xf32>) -> tensor<2x12x6x6xf32> {
  %r = plan.call "aten.conv2d.default"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, stride = [4 : i64, 2 : i64]}
    : (tensor<2x3x24x12xf32>, tensor<12x3x4x2xf32>, tensor<12xf32>) -> tensor<2x12x6x6xf32>
  return %r : tensor<2x12x6x6xf32>
}

func.func @conv2d_sparse(%0: tensor<2x6x12x12xf32>, %1: tensor<4x6x1x1xf32>) -> tensor<2x4x6x6xf32> {
  %r = plan.call "aten.conv2d.default"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>, stride = [2 : i64, 2 : i64]}
    : (tensor<2x6x12x12xf32>, tensor<4x6x1x1xf32>) -> tensor<2x4x6x6xf32>
  return %r : tensor<2x4x6x6xf32>
}

func.func @conv2d_dilated(%0: tensor<4x6x8x12xf32>, %1: tensor<2x6x3x1xf32>) -> tensor<4x2x4x12xf32> {
  %r = plan.call "aten.conv2d.default"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>, dilation = [2 : i64, 1 : i64]}
    : (tensor<4x6x8x12xf32>, tensor<2x6x3x1xf32>) -> tensor<4x2x4x12xf32>
  return %r : tensor<4x2x4x12xf32>
}

func.func @conv2d_multiplied(%0: tensor<2x6x6x6xf32>, %1: tensor<12x1x3x3xf32>, %2: tensor<12xf32>) -> tensor<2x12x6x6xf32> {
  %r = plan.call "aten.conv2d.default"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, padding = [1 : i64], groups = 6 : i64}
    : (tensor<2x6x6x6xf32>, tensor<12x1x3x3xf32>, tensor<12xf32>) -> tensor<2x12x6x6xf32>
  return %r : tensor<2x12x6x6xf32>
}

func.func @conv2d_merged(%0: tensor<2x12x6x6xf32>, %1: tensor<6x2x3x3xf32>) -> tensor<2x6x6x6xf32> {
  %r = plan.call "aten.conv2d.default"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>, padding = [1 : i64, 1 : i64], groups = 6 : i64}
    : (tensor<2x12x6x6xf32>, tensor<6x2x3x3xf32>) -> tensor<2x6x6x6xf32>
  return %r : tensor<2x6x6x6xf32>
}

func.func @conv2d_grouped(%0: tensor<6x8x4x4xf32>, %1: tensor<12x4x3x3xf32>) -> tensor<6x12x4x4xf32> {
  %r = plan.call "aten.conv2d.default"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>, padding = [1 : i64, 1 : i64], groups = 2 : i64}
    : (tensor<6x8x4x4xf32>, tensor<12x4x3x3xf32>) -> tensor<6x12x4x4xf32>
  return %r : tensor<6x12x4x4xf32>
}

func.func @conv2d_valid(%0: tensor<2x6x6x6xf32>, %1: tensor<4x6x3x3xf32>) -> tensor<2x4x4x4xf32> {
  %r = plan.call "aten.conv2d.padding"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>, padding = "valid"}
    : (tensor<2x6x6x6xf32>, tensor<4x6x3x3xf32>) -> tensor<2x4x4x4xf32>
  return %r : tensor<2x4x4x4xf32>
}

func.func @conv3d(%0: tensor<2x3x4x12x6xf32>, %1: tensor<6x3x2x2x1xf32>, %2: tensor<6xf32>) -> tensor<2x6x2x6x6xf32> {
  %r = plan.call "aten.conv3d.default"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, stride = [2 : i64, 2 : i64, 1 : i64]}
    : (tensor<2x3x4x12x6xf32>, tensor<6x3x2x2x1xf32>, tensor<6xf32>) -> tensor<2x6x2x6x6xf32>
  return %r : tensor<2x6x2x6x6xf32>
}

func.func @convolution(%0: tensor<4x6x6x6xf32>, %1: tensor<6x6x3x3xf32>, %2: tensor<6xf32>) -> tensor<4x6x6x6xf32> {
  %r = plan.call "aten.convolution.default"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, stride = [1 : i64, 1 : i64], padding = [1 : i64, 1 : i64], dilation = [1 : i64, 1 : i64], transposed = false, output_padding = [0 : i64, 0 : i64], groups = 1 : i64}
    : (tensor<4x6x6x6xf32>, tensor<6x6x3x3xf32>, tensor<6xf32>) -> tensor<4x6x6x6xf32>
  return %r : tensor<4x6x6x6xf32>
}

func.func @convolution_transposed(%0: tensor<2x6x6xf32>, %1: tensor<6x4x2xf32>) -> tensor<2x4x12xf32> {
  %r = plan.call "aten.convolution.default"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>, bias = unit, stride = [2 : i64], padding = [0 : i64], dilation = [1 : i64], transposed = true, output_padding = [0 : i64], groups = 1 : i64}
    : (tensor<2x6x6xf32>, tensor<6x4x2xf32>) -> tensor<2x4x12xf32>
  return %r : tensor<2x4x12xf32>
}

func.func @conv_transpose1d(%0: tensor<2x6x6xf32>, %1: tensor<6x12x2xf32>, %2: tensor<12xf32>) -> tensor<2x12x12xf32> {
  %r = plan.call "aten.conv_transpose1d.default"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, stride = [2 : i64]}
    : (tensor<2x6x6xf32>, tensor<6x12x2xf32>, tensor<12xf32>) -> tensor<2x12x12xf32>
  return %r : tensor<2x12x12xf32>
}

func.func @conv_transpose2d(%0: tensor<2x6x4x6xf32>, %1: tensor<6x4x3x3xf32>) -> tensor<2x4x4x6xf32> {
  %r = plan.call "aten.conv_transpose2d.input"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>, padding = [1 : i64, 1 : i64]}
    : (tensor<2x6x4x6xf32>, tensor<6x4x3x3xf32>) -> tensor<2x4x4x6xf32>
  return %r : tensor<2x4x4x6xf32>
}

func.func @conv_transpose2d_grouped(%0: tensor<4x6x4x4xf32>, %1: tensor<6x1x2x2xf32>) -> tensor<4x6x8x8xf32> {
  %r = plan.call "aten.conv_transpose2d.input"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>, stride = [2 : i64, 2 : i64], groups = 6 : i64}
    : (tensor<4x6x4x4xf32>, tensor<6x1x2x2xf32>) -> tensor<4x6x8x8xf32>
  return %r : tensor<4x6x8x8xf32>
}

func.func @conv3d_same(%0: tensor<2x3x4x6x6xf32>, %1: tensor<6x3x1x3x1xf32>) -> tensor<2x6x4x6x6xf32> {
  %r = plan.call "aten.conv3d.padding"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>, padding = "same"}
    : (tensor<2x3x4x6x6xf32>, tensor<6x3x1x3x1xf32>) -> tensor<2x6x4x6x6xf32>
  return %r : tensor<2x6x4x6x6xf32>
}

func.func @conv_transpose3d(%0: tensor<2x6x2x3x4xf32>, %1: tensor<6x4x2x1x1xf32>, %2: tensor<4xf32>) -> tensor<2x4x4x3x4xf32> {
  %r = plan.call "aten.conv_transpose3d.input"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, stride = [2 : i64, 1 : i64, 1 : i64]}
    : (tensor<2x6x2x3x4xf32>, tensor<6x4x2x1x1xf32>, tensor<4xf32>) -> tensor<2x4x4x3x4xf32>
  return %r : tensor<2x4x4x3x4xf32>
}

// Groups with several features on both sides. A rank gets some of the groups (of three groups, one of two ranks gets
// two), a part of each group, or its own part of the bias.
func.func @conv1d_wide_groups(%0: tensor<2x12x8xf32>, %1: tensor<18x4x3xf32>, %2: tensor<18xf32>) -> tensor<2x18x8xf32> {
  %r = plan.call "aten.conv1d.default"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, padding = [1 : i64], groups = 3 : i64}
    : (tensor<2x12x8xf32>, tensor<18x4x3xf32>, tensor<18xf32>) -> tensor<2x18x8xf32>
  return %r : tensor<2x18x8xf32>
}

func.func @conv1d_groups_of_a_sample(%0: tensor<8x9xf32>, %1: tensor<4x2x3xf32>) -> tensor<4x4xf32> {
  %r = plan.call "aten.conv1d.default"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>, stride = [2 : i64], groups = 4 : i64}
    : (tensor<8x9xf32>, tensor<4x2x3xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

func.func @conv2d_groups_same(%0: tensor<2x4x4x6xf32>, %1: tensor<8x2x2x3xf32>, %2: tensor<8xf32>) -> tensor<2x8x4x6xf32> {
  %r = plan.call "aten.conv2d.padding"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, padding = "same", groups = 2 : i64}
    : (tensor<2x4x4x6xf32>, tensor<8x2x2x3xf32>, tensor<8xf32>) -> tensor<2x8x4x6xf32>
  return %r : tensor<2x8x4x6xf32>
}

func.func @conv_transpose1d_groups(%0: tensor<2x8x6xf32>, %1: tensor<8x3x2xf32>, %2: tensor<12xf32>) -> tensor<2x12x12xf32> {
  %r = plan.call "aten.conv_transpose1d.default"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, stride = [2 : i64], groups = 4 : i64}
    : (tensor<2x8x6xf32>, tensor<8x3x2xf32>, tensor<12xf32>) -> tensor<2x12x12xf32>
  return %r : tensor<2x12x12xf32>
}

func.func @convolution_transposed_groups(%0: tensor<2x6x4xf32>, %1: tensor<6x2x3xf32>) -> tensor<2x4x4xf32> {
  %r = plan.call "aten.convolution.default"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>, bias = unit, stride = [1 : i64], padding = [1 : i64], dilation = [1 : i64], transposed = true, output_padding = [0 : i64], groups = 2 : i64}
    : (tensor<2x6x4xf32>, tensor<6x2x3xf32>) -> tensor<2x4x4xf32>
  return %r : tensor<2x4x4xf32>
}

func.func @grouped_convolution(%0: tensor<2x12x8xf32>, %1: tensor<18x4x3xf32>, %2: tensor<18xf32>) -> tensor<2x18x6xf32> {
  %r = plan.call "meshplan.grouped_convolution"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, stride = [1 : i64], padding = [0 : i64], dilation = [1 : i64]}
    : (tensor<2x12x8xf32>, tensor<18x4x3xf32>, tensor<18xf32>) -> tensor<2x18x6xf32>
  return %r : tensor<2x18x6xf32>
}
