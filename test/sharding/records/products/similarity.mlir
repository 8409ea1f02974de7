// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of angles and distances of vectors: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @cosine(%0: tensor<2x6x12xf32>, %1: tensor<2x6x12xf32>) -> tensor<2x6xf32> {
  %r = plan.call "aten.cosine_similarity.default"(%0, %1) {x1 = #base.operand<0>, x2 = #base.operand<1>, dim = -1 : i64}
    : (tensor<2x6x12xf32>, tensor<2x6x12xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

func.func @cosine_broadcast(%0: tensor<4x1x12xf32>, %1: tensor<6x12xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.cosine_similarity.default"(%0, %1) {x1 = #base.operand<0>, x2 = #base.operand<1>, dim = 2 : i64}
    : (tensor<4x1x12xf32>, tensor<6x12xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @cosine_middle(%0: tensor<4x6x2xf32>, %1: tensor<4x6x2xf32>) -> tensor<4x2xf32> {
  %r = plan.call "aten.cosine_similarity.default"(%0, %1) {x1 = #base.operand<0>, x2 = #base.operand<1>}
    : (tensor<4x6x2xf32>, tensor<4x6x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

func.func @cosine_vector(%0: tensor<5x6xf32>, %1: tensor<6xf32>) -> tensor<5xf32> {
  %r = plan.call "aten.cosine_similarity.default"(%0, %1) {x1 = #base.operand<0>, x2 = #base.operand<1>}
    : (tensor<5x6xf32>, tensor<6xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @pairwise_distance(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4xf32> {
  %r = plan.call "aten.pairwise_distance.default"(%0, %1) {x1 = #base.operand<0>, x2 = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @pairwise_distance_keepdim(%0: tensor<2x6x12xf32>, %1: tensor<6x12xf32>) -> tensor<2x6x1xf32> {
  %r = plan.call "aten.pairwise_distance.default"(%0, %1) {x1 = #base.operand<0>, x2 = #base.operand<1>, p = 1.0 : f64, keepdim = true}
    : (tensor<2x6x12xf32>, tensor<6x12xf32>) -> tensor<2x6x1xf32>
  return %r : tensor<2x6x1xf32>
}

func.func @cdist(%0: tensor<2x4x12xf32>, %1: tensor<2x6x12xf32>) -> tensor<2x4x6xf32> {
  %r = plan.call "aten.cdist.default"(%0, %1) {x1 = #base.operand<0>, x2 = #base.operand<1>}
    : (tensor<2x4x12xf32>, tensor<2x6x12xf32>) -> tensor<2x4x6xf32>
  return %r : tensor<2x4x6xf32>
}

func.func @cdist_matrices(%0: tensor<4x6xf32>, %1: tensor<5x6xf32>) -> tensor<4x5xf32> {
  %r = plan.call "aten.cdist.default"(%0, %1) {x1 = #base.operand<0>, x2 = #base.operand<1>, p = 1.0 : f64}
    : (tensor<4x6xf32>, tensor<5x6xf32>) -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}

func.func @cdist_broadcast(%0: tensor<4x1x2x6xf32>, %1: tensor<6x4x6xf32>) -> tensor<4x6x2x4xf32> {
  %r = plan.call "aten.cdist.default"(%0, %1) {x1 = #base.operand<0>, x2 = #base.operand<1>}
    : (tensor<4x1x2x6xf32>, tensor<6x4x6xf32>) -> tensor<4x6x2x4xf32>
  return %r : tensor<4x6x2x4xf32>
}

func.func @cdist_forward(%0: tensor<2x4x12xf32>, %1: tensor<2x6x12xf32>) -> tensor<2x4x6xf32> {
  %r = plan.call "aten._cdist_forward.default"(%0, %1) {x1 = #base.operand<0>, x2 = #base.operand<1>, p = 2.0 : f64, compute_mode = 2 : i64}
    : (tensor<2x4x12xf32>, tensor<2x6x12xf32>) -> tensor<2x4x6xf32>
  return %r : tensor<2x4x6xf32>
}

func.func @linalg_cross(%0: tensor<4x6x3xf32>, %1: tensor<4x6x3xf32>) -> tensor<4x6x3xf32> {
  %r = plan.call "aten.linalg_cross.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6x3xf32>, tensor<4x6x3xf32>) -> tensor<4x6x3xf32>
  return %r : tensor<4x6x3xf32>
}

func.func @linalg_cross_broadcast(%0: tensor<4x3x6xf32>, %1: tensor<1x3x6xf32>) -> tensor<4x3x6xf32> {
  %r = plan.call "aten.linalg_cross.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>, dim = 1 : i64}
    : (tensor<4x3x6xf32>, tensor<1x3x6xf32>) -> tensor<4x3x6xf32>
  return %r : tensor<4x3x6xf32>
}

func.func @cross(%0: tensor<6x3xf32>, %1: tensor<6x3xf32>) -> tensor<6x3xf32> {
  %r = plan.call "aten.cross.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>, dim = 1 : i64}
    : (tensor<6x3xf32>, tensor<6x3xf32>) -> tensor<6x3xf32>
  return %r : tensor<6x3xf32>
}

func.func @cross_anywhere(%0: tensor<6x3xf32>, %1: tensor<6x3xf32>) -> tensor<6x3xf32> {
  %r = plan.call "aten.cross.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<6x3xf32>, tensor<6x3xf32>) -> tensor<6x3xf32>
  return %r : tensor<6x3xf32>
}
