// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of products with vectors: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @mv(%0: tensor<4x6xf32>, %1: tensor<6xf32>) -> tensor<4xf32> {
  %r = plan.call "aten.mv.default"(%0, %1) {self = #base.operand<0>, vec = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @addmv(%0: tensor<4xf32>, %1: tensor<4x6xf32>, %2: tensor<6xf32>) -> tensor<4xf32> {
  %r = plan.call "aten.addmv.default"(%0, %1, %2) {self = #base.operand<0>, mat = #base.operand<1>, vec = #base.operand<2>, beta = 0.5 : f64}
    : (tensor<4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @addmv_broadcast(%0: tensor<1xf32>, %1: tensor<4x6xf32>, %2: tensor<6xf32>) -> tensor<4xf32> {
  %r = plan.call "aten.addmv.default"(%0, %1, %2) {self = #base.operand<0>, mat = #base.operand<1>, vec = #base.operand<2>}
    : (tensor<1xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @dot(%0: tensor<12xf32>, %1: tensor<12xf32>) -> tensor<f32> {
  %r = plan.call "aten.dot.default"(%0, %1) {self = #base.operand<0>, tensor = #base.operand<1>}
    : (tensor<12xf32>, tensor<12xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @vdot(%0: tensor<5xf32>, %1: tensor<5xf32>) -> tensor<f32> {
  %r = plan.call "aten.vdot.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<5xf32>, tensor<5xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @outer(%0: tensor<4xf32>, %1: tensor<6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.outer.default"(%0, %1) {self = #base.operand<0>, vec2 = #base.operand<1>}
    : (tensor<4xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @inner(%0: tensor<2x4x6xf32>, %1: tensor<12x6xf32>) -> tensor<2x4x12xf32> {
  %r = plan.call "aten.inner.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<2x4x6xf32>, tensor<12x6xf32>) -> tensor<2x4x12xf32>
  return %r : tensor<2x4x12xf32>
}

func.func @inner_vector(%0: tensor<4x6xf32>, %1: tensor<6xf32>) -> tensor<4xf32> {
  %r = plan.call "aten.inner.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @inner_vectors(%0: tensor<6xf32>, %1: tensor<6xf32>) -> tensor<f32> {
  %r = plan.call "aten.inner.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<6xf32>, tensor<6xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @bilinear(%0: tensor<4x6xf32>, %1: tensor<4x2xf32>, %2: tensor<12x6x2xf32>) -> tensor<4x12xf32> {
  %r = plan.call "aten.bilinear.default"(%0, %1, %2) {input1 = #base.operand<0>, input2 = #base.operand<1>, weight = #base.operand<2>}
    : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<12x6x2xf32>) -> tensor<4x12xf32>
  return %r : tensor<4x12xf32>
}

func.func @bilinear_bias(%0: tensor<2x4x6xf32>, %1: tensor<2x4x2xf32>, %2: tensor<12x6x2xf32>, %3: tensor<12xf32>) -> tensor<2x4x12xf32> {
  %r = plan.call "aten.bilinear.default"(%0, %1, %2, %3) {input1 = #base.operand<0>, input2 = #base.operand<1>, weight = #base.operand<2>, bias = #base.operand<3>}
    : (tensor<2x4x6xf32>, tensor<2x4x2xf32>, tensor<12x6x2xf32>, tensor<12xf32>) -> tensor<2x4x12xf32>
  return %r : tensor<2x4x12xf32>
}
