// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of pools: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @max_pool1d(%0: tensor<2x6x12xf32>) -> tensor<2x6x6xf32> {
  %r = plan.call "aten.max_pool1d.default"(%0) {self = #base.operand<0>, kernel_size = [2 : i64]}
    : (tensor<2x6x12xf32>) -> tensor<2x6x6xf32>
  return %r : tensor<2x6x6xf32>
}

func.func @max_pool2d(%0: tensor<4x6x12x6xf32>) -> tensor<4x6x6x3xf32> {
  %r = plan.call "aten.max_pool2d.default"(%0) {self = #base.operand<0>, kernel_size = [3 : i64, 3 : i64], stride = [2 : i64, 2 : i64], padding = [1 : i64, 1 : i64]}
    : (tensor<4x6x12x6xf32>) -> tensor<4x6x6x3xf32>
  return %r : tensor<4x6x6x3xf32>
}

func.func @max_pool2d_apart(%0: tensor<2x6x12x24xf32>) -> tensor<2x6x6x6xf32> {
  %r = plan.call "aten.max_pool2d.default"(%0) {self = #base.operand<0>, kernel_size = [2 : i64, 3 : i64], stride = [2 : i64, 4 : i64]}
    : (tensor<2x6x12x24xf32>) -> tensor<2x6x6x6xf32>
  return %r : tensor<2x6x6x6xf32>
}

func.func @max_pool2d_sample(%0: tensor<6x12x6xf32>) -> tensor<6x6x3xf32> {
  %r = plan.call "aten.max_pool2d.default"(%0) {self = #base.operand<0>, kernel_size = [2 : i64], stride = []}
    : (tensor<6x12x6xf32>) -> tensor<6x6x3xf32>
  return %r : tensor<6x6x3xf32>
}

func.func @max_pool2d_dilated(%0: tensor<4x6x8x12xf32>) -> tensor<4x6x4x6xf32> {
  %r = plan.call "aten.max_pool2d.default"(%0) {self = #base.operand<0>, kernel_size = [3 : i64, 1 : i64], stride = [1 : i64, 2 : i64], dilation = [2 : i64, 1 : i64]}
    : (tensor<4x6x8x12xf32>) -> tensor<4x6x4x6xf32>
  return %r : tensor<4x6x4x6xf32>
}

func.func @max_pool2d_ceiled(%0: tensor<2x6x11x12xf32>) -> tensor<2x6x6x6xf32> {
  %r = plan.call "aten.max_pool2d.default"(%0) {self = #base.operand<0>, kernel_size = [2 : i64, 2 : i64], stride = [2 : i64, 2 : i64], ceil_mode = true}
    : (tensor<2x6x11x12xf32>) -> tensor<2x6x6x6xf32>
  return %r : tensor<2x6x6x6xf32>
}

func.func @max_pool3d(%0: tensor<2x3x12x4x6xf32>) -> tensor<2x3x6x2x6xf32> {
  %r = plan.call "aten.max_pool3d.default"(%0) {self = #base.operand<0>, kernel_size = [2 : i64, 2 : i64, 1 : i64], stride = [2 : i64, 2 : i64, 1 : i64]}
    : (tensor<2x3x12x4x6xf32>) -> tensor<2x3x6x2x6xf32>
  return %r : tensor<2x3x6x2x6xf32>
}

func.func @avg_pool1d(%0: tensor<4x6x12xf32>) -> tensor<4x6x6xf32> {
  %r = plan.call "aten.avg_pool1d.default"(%0) {self = #base.operand<0>, kernel_size = [2 : i64]}
    : (tensor<4x6x12xf32>) -> tensor<4x6x6xf32>
  return %r : tensor<4x6x6xf32>
}

func.func @avg_pool2d(%0: tensor<2x6x12x6xf32>) -> tensor<2x6x6x3xf32> {
  %r = plan.call "aten.avg_pool2d.default"(%0) {self = #base.operand<0>, kernel_size = [3 : i64, 3 : i64], stride = [2 : i64, 2 : i64], padding = [1 : i64, 1 : i64], count_include_pad = false}
    : (tensor<2x6x12x6xf32>) -> tensor<2x6x6x3xf32>
  return %r : tensor<2x6x6x3xf32>
}

func.func @avg_pool2d_apart(%0: tensor<2x6x12x6xf32>) -> tensor<2x6x6x6xf32> {
  %r = plan.call "aten.avg_pool2d.default"(%0) {self = #base.operand<0>, kernel_size = [2 : i64, 1 : i64], divisor_override = 3 : i64}
    : (tensor<2x6x12x6xf32>) -> tensor<2x6x6x6xf32>
  return %r : tensor<2x6x6x6xf32>
}

func.func @avg_pool3d(%0: tensor<2x3x12x4x6xf32>) -> tensor<2x3x6x2x6xf32> {
  %r = plan.call "aten.avg_pool3d.default"(%0) {self = #base.operand<0>, kernel_size = [2 : i64, 2 : i64, 1 : i64], stride = [2 : i64, 2 : i64, 1 : i64]}
    : (tensor<2x3x12x4x6xf32>) -> tensor<2x3x6x2x6xf32>
  return %r : tensor<2x3x6x2x6xf32>
}

func.func @max_pool2d_with_indices(%0: tensor<4x6x12x6xf32>) -> (tensor<4x6x6x3xf32>, tensor<4x6x6x3xi64>) {
  %r:2 = plan.call "aten.max_pool2d_with_indices.default"(%0) {self = #base.operand<0>, kernel_size = [2 : i64, 2 : i64], stride = [2 : i64, 2 : i64]}
    : (tensor<4x6x12x6xf32>) -> (tensor<4x6x6x3xf32>, tensor<4x6x6x3xi64>)
  return %r#0, %r#1 : tensor<4x6x6x3xf32>, tensor<4x6x6x3xi64>
}

func.func @adaptive_avg_pool1d(%0: tensor<2x6x12xf32>) -> tensor<2x6x6xf32> {
  %r = plan.call "aten.adaptive_avg_pool1d.default"(%0) {self = #base.operand<0>, output_size = [6 : i64]}
    : (tensor<2x6x12xf32>) -> tensor<2x6x6xf32>
  return %r : tensor<2x6x6xf32>
}

func.func @adaptive_avg_pool2d(%0: tensor<2x6x12x7xf32>) -> tensor<2x6x6x3xf32> {
  %r = plan.call "aten.adaptive_avg_pool2d.default"(%0) {self = #base.operand<0>, output_size = [6 : i64, 3 : i64]}
    : (tensor<2x6x12x7xf32>) -> tensor<2x6x6x3xf32>
  return %r : tensor<2x6x6x3xf32>
}

func.func @adaptive_avg_pool2d_all(%0: tensor<4x6x4x4xf32>) -> tensor<4x6x1x1xf32> {
  %r = plan.call "aten.adaptive_avg_pool2d.default"(%0) {self = #base.operand<0>, output_size = [1 : i64, 1 : i64]}
    : (tensor<4x6x4x4xf32>) -> tensor<4x6x1x1xf32>
  return %r : tensor<4x6x1x1xf32>
}

func.func @native_adaptive_avg_pool2d(%0: tensor<2x6x4x12xf32>) -> tensor<2x6x4x6xf32> {
  %r = plan.call "aten._adaptive_avg_pool2d.default"(%0) {self = #base.operand<0>, output_size = [4 : i64, 6 : i64]}
    : (tensor<2x6x4x12xf32>) -> tensor<2x6x4x6xf32>
  return %r : tensor<2x6x4x6xf32>
}

func.func @im2col(%0: tensor<4x6x5x4xf32>) -> tensor<4x36x9xf32> {
  %r = plan.call "aten.im2col.default"(%0) {self = #base.operand<0>, kernel_size = [3 : i64, 2 : i64], dilation = [1 : i64, 1 : i64], padding = [1 : i64, 0 : i64], stride = [2 : i64, 1 : i64]}
    : (tensor<4x6x5x4xf32>) -> tensor<4x36x9xf32>
  return %r : tensor<4x36x9xf32>
}

func.func @im2col_one_image(%0: tensor<6x4x4xf32>) -> tensor<24x4xf32> {
  %r = plan.call "aten.im2col.default"(%0) {self = #base.operand<0>, kernel_size = [2 : i64, 2 : i64], dilation = [1 : i64, 1 : i64], padding = [0 : i64, 0 : i64], stride = [2 : i64, 2 : i64]}
    : (tensor<6x4x4xf32>) -> tensor<24x4xf32>
  return %r : tensor<24x4xf32>
}

func.func @col2im(%0: tensor<4x24x9xf32>) -> tensor<4x6x4x4xf32> {
  %r = plan.call "aten.col2im.default"(%0) {self = #base.operand<0>, output_size = [4 : i64, 4 : i64], kernel_size = [2 : i64, 2 : i64], dilation = [1 : i64, 1 : i64], padding = [0 : i64, 0 : i64], stride = [1 : i64, 1 : i64]}
    : (tensor<4x24x9xf32>) -> tensor<4x6x4x4xf32>
  return %r : tensor<4x6x4x4xf32>
}

func.func @im2col_one_feature(%0: tensor<6x1x4x4xf32>) -> tensor<6x2x12xf32> {
  %r = plan.call "aten.im2col.default"(%0) {self = #base.operand<0>, kernel_size = [1 : i64, 2 : i64], dilation = [1 : i64, 1 : i64], padding = [0 : i64, 0 : i64], stride = [1 : i64, 1 : i64]}
    : (tensor<6x1x4x4xf32>) -> tensor<6x2x12xf32>
  return %r : tensor<6x2x12xf32>
}

func.func @adaptive_avg_pool3d(%0: tensor<2x6x4x4x4xf32>) -> tensor<2x6x2x4x3xf32> {
  %r = plan.call "aten.adaptive_avg_pool3d.default"(%0) {self = #base.operand<0>, output_size = [2 : i64, 4 : i64, 3 : i64]}
    : (tensor<2x6x4x4x4xf32>) -> tensor<2x6x2x4x3xf32>
  return %r : tensor<2x6x2x4x3xf32>
}

func.func @adaptive_avg_pool3d_kernel(%0: tensor<4x6x2x4x4xf32>) -> tensor<4x6x1x2x2xf32> {
  %r = plan.call "aten._adaptive_avg_pool3d.default"(%0) {self = #base.operand<0>, output_size = [1 : i64, 2 : i64, 2 : i64]}
    : (tensor<4x6x2x4x4xf32>) -> tensor<4x6x1x2x2xf32>
  return %r : tensor<4x6x1x2x2xf32>
}

func.func @adaptive_max_pool1d(%0: tensor<4x6x8xf32>) -> (tensor<4x6x4xf32>, tensor<4x6x4xi64>) {
  %r:2 = plan.call "aten.adaptive_max_pool1d.default"(%0) {self = #base.operand<0>, output_size = [4 : i64]}
    : (tensor<4x6x8xf32>) -> (tensor<4x6x4xf32>, tensor<4x6x4xi64>)
  return %r#0, %r#1 : tensor<4x6x4xf32>, tensor<4x6x4xi64>
}

func.func @adaptive_max_pool2d(%0: tensor<4x6x8x6xf32>) -> (tensor<4x6x4x2xf32>, tensor<4x6x4x2xi64>) {
  %r:2 = plan.call "aten.adaptive_max_pool2d.default"(%0) {self = #base.operand<0>, output_size = [4 : i64, 2 : i64]}
    : (tensor<4x6x8x6xf32>) -> (tensor<4x6x4x2xf32>, tensor<4x6x4x2xi64>)
  return %r#0, %r#1 : tensor<4x6x4x2xf32>, tensor<4x6x4x2xi64>
}

func.func @adaptive_max_pool3d(%0: tensor<4x6x4x4x6xf32>) -> (tensor<4x6x2x2x3xf32>, tensor<4x6x2x2x3xi64>) {
  %r:2 = plan.call "aten.adaptive_max_pool3d.default"(%0) {self = #base.operand<0>, output_size = [2 : i64, 2 : i64, 3 : i64]}
    : (tensor<4x6x4x4x6xf32>) -> (tensor<4x6x2x2x3xf32>, tensor<4x6x2x2x3xi64>)
  return %r#0, %r#1 : tensor<4x6x2x2x3xf32>, tensor<4x6x2x2x3xi64>
}

func.func @max_pool1d_with_indices(%0: tensor<4x6x12xf32>) -> (tensor<4x6x6xf32>, tensor<4x6x6xi64>) {
  %r:2 = plan.call "aten.max_pool1d_with_indices.default"(%0) {self = #base.operand<0>, kernel_size = [2 : i64]}
    : (tensor<4x6x12xf32>) -> (tensor<4x6x6xf32>, tensor<4x6x6xi64>)
  return %r#0, %r#1 : tensor<4x6x6xf32>, tensor<4x6x6xi64>
}

func.func @max_pool3d_with_indices(%0: tensor<4x6x4x4x6xf32>) -> (tensor<4x6x2x2x3xf32>, tensor<4x6x2x2x3xi64>) {
  %r:2 = plan.call "aten.max_pool3d_with_indices.default"(%0) {self = #base.operand<0>, kernel_size = [2 : i64, 2 : i64, 2 : i64]}
    : (tensor<4x6x4x4x6xf32>) -> (tensor<4x6x2x2x3xf32>, tensor<4x6x2x2x3xi64>)
  return %r#0, %r#1 : tensor<4x6x2x2x3xf32>, tensor<4x6x2x2x3xi64>
}
