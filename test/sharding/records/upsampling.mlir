// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of images in another size: one call in a function each. The differential test runs each under
// every sharding that its record allows.

func.func @upsample_nearest1d(%0: tensor<2x6x5xf32>) -> tensor<2x6x10xf32> {
  %r = plan.call "aten.upsample_nearest1d.vec"(%0) {input = #base.operand<0>, output_size = [10 : i64]}
    : (tensor<2x6x5xf32>) -> tensor<2x6x10xf32>
  return %r : tensor<2x6x10xf32>
}

func.func @upsample_linear1d(%0: tensor<2x6x5xf32>) -> tensor<2x6x10xf32> {
  %r = plan.call "aten.upsample_linear1d.vec"(%0) {input = #base.operand<0>, align_corners = true, scale_factors = [2.0 : f64]}
    : (tensor<2x6x5xf32>) -> tensor<2x6x10xf32>
  return %r : tensor<2x6x10xf32>
}

func.func @upsample_nearest2d(%0: tensor<4x6x3x4xf32>) -> tensor<4x6x6x8xf32> {
  %r = plan.call "aten.upsample_nearest2d.vec"(%0) {input = #base.operand<0>, scale_factors = [2.0 : f64, 2.0 : f64]}
    : (tensor<4x6x3x4xf32>) -> tensor<4x6x6x8xf32>
  return %r : tensor<4x6x6x8xf32>
}

func.func @upsample_bilinear2d(%0: tensor<4x6x3x4xf32>) -> tensor<4x6x7x6xf32> {
  %r = plan.call "aten.upsample_bilinear2d.vec"(%0) {input = #base.operand<0>, output_size = [7 : i64, 6 : i64], align_corners = false}
    : (tensor<4x6x3x4xf32>) -> tensor<4x6x7x6xf32>
  return %r : tensor<4x6x7x6xf32>
}

func.func @upsample_bicubic2d(%0: tensor<4x6x4x4xf32>) -> tensor<4x6x8x6xf32> {
  %r = plan.call "aten.upsample_bicubic2d.vec"(%0) {input = #base.operand<0>, output_size = [8 : i64, 6 : i64], align_corners = false}
    : (tensor<4x6x4x4xf32>) -> tensor<4x6x8x6xf32>
  return %r : tensor<4x6x8x6xf32>
}

func.func @upsample_nearest3d(%0: tensor<2x6x2x3x2xf32>) -> tensor<2x6x4x6x4xf32> {
  %r = plan.call "aten.upsample_nearest3d.vec"(%0) {input = #base.operand<0>, output_size = [4 : i64, 6 : i64, 4 : i64]}
    : (tensor<2x6x2x3x2xf32>) -> tensor<2x6x4x6x4xf32>
  return %r : tensor<2x6x4x6x4xf32>
}

func.func @upsample_trilinear3d(%0: tensor<2x6x2x3x2xf32>) -> tensor<2x6x4x6x4xf32> {
  %r = plan.call "aten.upsample_trilinear3d.vec"(%0) {input = #base.operand<0>, output_size = [4 : i64, 6 : i64, 4 : i64], align_corners = true}
    : (tensor<2x6x2x3x2xf32>) -> tensor<2x6x4x6x4xf32>
  return %r : tensor<2x6x4x6x4xf32>
}

func.func @upsample_nearest_exact1d(%0: tensor<2x6x5xf32>) -> tensor<2x6x8xf32> {
  %r = plan.call "aten._upsample_nearest_exact1d.vec"(%0) {input = #base.operand<0>, output_size = [8 : i64]}
    : (tensor<2x6x5xf32>) -> tensor<2x6x8xf32>
  return %r : tensor<2x6x8xf32>
}

func.func @upsample_nearest_exact2d(%0: tensor<4x1x3x4xf32>) -> tensor<4x1x5x8xf32> {
  %r = plan.call "aten._upsample_nearest_exact2d.vec"(%0) {input = #base.operand<0>, output_size = [5 : i64, 8 : i64]}
    : (tensor<4x1x3x4xf32>) -> tensor<4x1x5x8xf32>
  return %r : tensor<4x1x5x8xf32>
}

func.func @upsample_nearest_exact3d(%0: tensor<2x6x2x3x2xf32>) -> tensor<2x6x4x6x4xf32> {
  %r = plan.call "aten._upsample_nearest_exact3d.vec"(%0) {input = #base.operand<0>, output_size = [4 : i64, 6 : i64, 4 : i64]}
    : (tensor<2x6x2x3x2xf32>) -> tensor<2x6x4x6x4xf32>
  return %r : tensor<2x6x4x6x4xf32>
}
