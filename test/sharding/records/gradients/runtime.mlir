// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of derivatives that the runtime finds: one call in a function each. The differential test runs each under
// every sharding that its record allows. plan.range = [low, high) bounds the elements of an input.

func.func @erfinv(%0: tensor<4x6xf32> {plan.range = [-0.5 : f64, 0.5 : f64]}, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "vjp.aten.erfinv.default"(%0, %1) {self = #plan.operand<0>, gradients = [#plan.operand<1>], of = "self"}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @lerp_end(%0: tensor<4x6xf32>, %1: tensor<6xf32>, %2: tensor<4x6xf32>) -> tensor<6xf32> {
  %r = plan.call "vjp.aten.lerp.Scalar"(%0, %1, %2) {self = #plan.operand<0>, end = #plan.operand<1>, gradients = [#plan.operand<2>], of = "end", weight = 0.3 : f64}
    : (tensor<4x6xf32>, tensor<6xf32>, tensor<4x6xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @lerp_self(%0: tensor<4x6xf32>, %1: tensor<6xf32>, %2: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "vjp.aten.lerp.Scalar"(%0, %1, %2) {self = #plan.operand<0>, end = #plan.operand<1>, gradients = [#plan.operand<2>], of = "self", weight = 0.3 : f64}
    : (tensor<4x6xf32>, tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @outer(%0: tensor<6xf32>, %1: tensor<4xf32>, %2: tensor<6x4xf32>) -> tensor<4xf32> {
  %r = plan.call "vjp.aten.outer.default"(%0, %1, %2) {self = #plan.operand<0>, vec2 = #plan.operand<1>, gradients = [#plan.operand<2>], of = "vec2"}
    : (tensor<6xf32>, tensor<4xf32>, tensor<6x4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @prod(%0: tensor<4x6xf32>, %1: tensor<4xf32>) -> tensor<4x6xf32> {
  %r = plan.call "vjp.aten.prod.dim_int"(%0, %1) {self = #plan.operand<0>, gradients = [#plan.operand<1>], of = "self", dim = 1 : i64}
    : (tensor<4x6xf32>, tensor<4xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @pool(%0: tensor<2x4x6x6xf32>, %1: tensor<2x4x3x3xf32>) -> tensor<2x4x6x6xf32> {
  %r = plan.call "vjp.aten.avg_pool2d.default"(%0, %1) {self = #plan.operand<0>, gradients = [#plan.operand<1>], of = "self", kernel_size = [2, 2], stride = [2, 2]}
    : (tensor<2x4x6x6xf32>, tensor<2x4x3x3xf32>) -> tensor<2x4x6x6xf32>
  return %r : tensor<2x4x6x6xf32>
}

func.func @vector_norm(%0: tensor<4x6xf32>, %1: tensor<4xf32>) -> tensor<4x6xf32> {
  %r = plan.call "vjp.aten.linalg_vector_norm.default"(%0, %1) {self = #plan.operand<0>, gradients = [#plan.operand<1>], of = "self", dim = [1]}
    : (tensor<4x6xf32>, tensor<4xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @adaptive_avg_pool2d(%0: tensor<2x6x12x7xf32>, %1: tensor<2x6x6x3xf32>) -> tensor<2x6x12x7xf32> {
  %r = plan.call "vjp.aten.adaptive_avg_pool2d.default"(%0, %1) {self = #plan.operand<0>, gradients = [#plan.operand<1>], of = "self", output_size = [6, 3]}
    : (tensor<2x6x12x7xf32>, tensor<2x6x6x3xf32>) -> tensor<2x6x12x7xf32>
  return %r : tensor<2x6x12x7xf32>
}
