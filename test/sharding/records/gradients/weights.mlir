// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of gradients of matrices: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @rows(%0: tensor<6x12xf32>, %1: tensor<6x8xf32>) -> tensor<12x8xf32> {
  %r = plan.call "meshplan.weight_gradient"(%0, %1) {left = #base.operand<0>, right = #base.operand<1>}
    : (tensor<6x12xf32>, tensor<6x8xf32>) -> tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}

func.func @rows_of_dims(%0: tensor<4x6x12xf32>, %1: tensor<4x6x8xf32>) -> tensor<12x8xf32> {
  %r = plan.call "meshplan.weight_gradient"(%0, %1) {left = #base.operand<0>, right = #base.operand<1>}
    : (tensor<4x6x12xf32>, tensor<4x6x8xf32>) -> tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}

func.func @half(%0: tensor<4x6x12xbf16>, %1: tensor<4x6x8xbf16>) -> tensor<12x8xbf16> {
  %r = plan.call "meshplan.weight_gradient"(%0, %1) {left = #base.operand<0>, right = #base.operand<1>}
    : (tensor<4x6x12xbf16>, tensor<4x6x8xbf16>) -> tensor<12x8xbf16>
  return %r : tensor<12x8xbf16>
}

func.func @one_row(%0: tensor<12xf32>, %1: tensor<8xf32>) -> tensor<12x8xf32> {
  %r = plan.call "meshplan.weight_gradient"(%0, %1) {left = #base.operand<0>, right = #base.operand<1>}
    : (tensor<12xf32>, tensor<8xf32>) -> tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}

func.func @not_rounded(%0: tensor<4x6x12xbf16>, %1: tensor<4x6x8xbf16>) -> tensor<12x8xf32> {
  %r = plan.call "meshplan.weight_gradient_f32"(%0, %1) {left = #base.operand<0>, right = #base.operand<1>}
    : (tensor<4x6x12xbf16>, tensor<4x6x8xbf16>) -> tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}

func.func @grouped(%0: tensor<12x6xf32>, %1: tensor<12x8xf32>, %2: tensor<3xi32> {sample.range = [12 : i64, 13 : i64]}) -> tensor<3x6x8xf32> {
  %r = plan.call "meshplan.grouped_weight_gradient"(%0, %1, %2) {left = #base.operand<0>, right = #base.operand<1>, offs = #base.operand<2>}
    : (tensor<12x6xf32>, tensor<12x8xf32>, tensor<3xi32>) -> tensor<3x6x8xf32>
  return %r : tensor<3x6x8xf32>
}
