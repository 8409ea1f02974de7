// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of elements of a part of a dim: one call in a function each. The differential test runs each
// under every sharding that its record allows. The elements of an input with sample.counted are 0, 1, 2, ...

func.func @extreme_position(%0: tensor<4x12xf32>, %1: tensor<4x1xf32> {sample.range = [-2.0 : f64, -1.5 : f64]}, %2: tensor<12xi64> {sample.counted}) -> tensor<4x1xi64> {
  %r = plan.call "meshplan.extreme_position"(%0, %1, %2) {self = #base.operand<0>, extreme = #base.operand<1>, positions = #base.operand<2>, dim = 1 : i64, size = 12 : i64}
    : (tensor<4x12xf32>, tensor<4x1xf32>, tensor<12xi64>) -> tensor<4x1xi64>
  return %r : tensor<4x1xi64>
}

func.func @extreme_position_of_integers(%0: tensor<12x6xi64> {sample.range = [0 : i64, 3 : i64]}, %1: tensor<1x6xi64> {sample.range = [2 : i64, 3 : i64]}, %2: tensor<12xi64> {sample.counted}) -> tensor<1x6xi64> {
  %r = plan.call "meshplan.extreme_position"(%0, %1, %2) {self = #base.operand<0>, extreme = #base.operand<1>, positions = #base.operand<2>, dim = 0 : i64, size = 12 : i64}
    : (tensor<12x6xi64>, tensor<1x6xi64>, tensor<12xi64>) -> tensor<1x6xi64>
  return %r : tensor<1x6xi64>
}

func.func @gather_part(%0: tensor<6x12x4xf32>, %1: tensor<6x3x4xi64> {sample.range = [0 : i64, 12 : i64]}, %2: tensor<12xi64> {sample.counted}) -> tensor<6x3x4xf32> {
  %r = plan.call "meshplan.gather_part"(%0, %1, %2) {self = #base.operand<0>, index = #base.operand<1>, positions = #base.operand<2>, dim = 1 : i64, size = 12 : i64}
    : (tensor<6x12x4xf32>, tensor<6x3x4xi64>, tensor<12xi64>) -> tensor<6x3x4xf32>
  return %r : tensor<6x3x4xf32>
}

func.func @gather_part_half(%0: tensor<12x6xbf16>, %1: tensor<1x4xi64> {sample.range = [0 : i64, 12 : i64]}, %2: tensor<12xi64> {sample.counted}) -> tensor<1x4xbf16> {
  %r = plan.call "meshplan.gather_part"(%0, %1, %2) {self = #base.operand<0>, index = #base.operand<1>, positions = #base.operand<2>, dim = 0 : i64, size = 12 : i64}
    : (tensor<12x6xbf16>, tensor<1x4xi64>, tensor<12xi64>) -> tensor<1x4xbf16>
  return %r : tensor<1x4xbf16>
}

func.func @scatter_part(%0: tensor<6x12xf32>, %1: tensor<6x1xi64> {sample.range = [0 : i64, 12 : i64]}, %2: tensor<6x1xf32>, %3: tensor<12xi64> {sample.counted}) -> tensor<6x12xf32> {
  %r = plan.call "meshplan.scatter_part"(%0, %1, %2, %3) {self = #base.operand<0>, index = #base.operand<1>, src = #base.operand<2>, positions = #base.operand<3>, dim = 1 : i64, size = 12 : i64}
    : (tensor<6x12xf32>, tensor<6x1xi64>, tensor<6x1xf32>, tensor<12xi64>) -> tensor<6x12xf32>
  return %r : tensor<6x12xf32>
}

func.func @scatter_part_value(%0: tensor<6x12xf32>, %1: tensor<6x2xi64> {sample.range = [0 : i64, 12 : i64]}, %2: tensor<12xi64> {sample.counted}) -> tensor<6x12xf32> {
  %r = plan.call "meshplan.scatter_part"(%0, %1, %2) {self = #base.operand<0>, index = #base.operand<1>, positions = #base.operand<2>, dim = 1 : i64, size = 12 : i64, value = 0.5 : f64}
    : (tensor<6x12xf32>, tensor<6x2xi64>, tensor<12xi64>) -> tensor<6x12xf32>
  return %r : tensor<6x12xf32>
}

func.func @scatter_part_adds(%0: tensor<12x6xf32>, %1: tensor<4x6xi64> {sample.range = [0 : i64, 12 : i64]}, %2: tensor<4x6xf32>, %3: tensor<12xi64> {sample.counted}) -> tensor<12x6xf32> {
  %r = plan.call "meshplan.scatter_part"(%0, %1, %2, %3) {self = #base.operand<0>, index = #base.operand<1>, src = #base.operand<2>, positions = #base.operand<3>, dim = 0 : i64, size = 12 : i64, adds = true}
    : (tensor<12x6xf32>, tensor<4x6xi64>, tensor<4x6xf32>, tensor<12xi64>) -> tensor<12x6xf32>
  return %r : tensor<12x6xf32>
}

func.func @scatter_sum_part(%0: tensor<6x4xf32>, %1: tensor<6x4xi64> {sample.range = [0 : i64, 12 : i64]}, %2: tensor<12xi64> {sample.counted}) -> tensor<6x12xf32> {
  %r = plan.call "meshplan.scatter_sum_part"(%0, %1, %2) {source = #base.operand<0>, index = #base.operand<1>, positions = #base.operand<2>, dim = 1 : i64, size = [6 : i64, 12 : i64]}
    : (tensor<6x4xf32>, tensor<6x4xi64>, tensor<12xi64>) -> tensor<6x12xf32>
  return %r : tensor<6x12xf32>
}

// The indices of one run are on one rank: a rank with other indices returns the lowest values.
func.func @topk_part(%0: tensor<6x12xf32>, %1: tensor<12xi64> {sample.counted}) -> (tensor<6x2xf32>, tensor<6x2xi64>) {
  %r:2 = plan.call "meshplan.topk_part"(%0, %1) {self = #base.operand<0>, positions = #base.operand<1>, k = 2 : i64, dim = 1 : i64, begin = 0 : i64, end = 2 : i64, size = 12 : i64}
    : (tensor<6x12xf32>, tensor<12xi64>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  return %r#0, %r#1 : tensor<6x2xf32>, tensor<6x2xi64>
}

func.func @powsum(%0: tensor<6x12x4xf32>) -> tensor<6x1x4xf32> {
  %r = plan.call "aten.linalg__powsum.default"(%0) {self = #base.operand<0>, ord = 3.0 : f64, dim = [1 : i64], keepdim = true}
    : (tensor<6x12x4xf32>) -> tensor<6x1x4xf32>
  return %r : tensor<6x1x4xf32>
}

func.func @index_part(%0: tensor<6x12xf32>, %1: tensor<8xi64> {sample.range = [0 : i64, 6 : i64]}, %2: tensor<8xi64> {sample.range = [0 : i64, 12 : i64]}, %3: tensor<12xi64> {sample.counted}) -> tensor<8xf32> {
  %r = plan.call "meshplan.index_part"(%0, %1, %2, %3) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>], positions = #base.operand<3>, dim = 1 : i64, size = 12 : i64, first_index_dim = 0 : i64}
    : (tensor<6x12xf32>, tensor<8xi64>, tensor<8xi64>, tensor<12xi64>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

func.func @index_part_apart(%0: tensor<12x4x6xf32>, %1: tensor<3x1xi64> {sample.range = [0 : i64, 12 : i64]}, %2: tensor<2xi64> {sample.range = [0 : i64, 6 : i64]}, %3: tensor<12xi64> {sample.counted}) -> tensor<3x2x4xf32> {
  %r = plan.call "meshplan.index_part"(%0, %1, %2, %3) {self = #base.operand<0>, indices = [#base.operand<1>, unit, #base.operand<2>], positions = #base.operand<3>, dim = 0 : i64, size = 12 : i64, first_index_dim = 0 : i64}
    : (tensor<12x4x6xf32>, tensor<3x1xi64>, tensor<2xi64>, tensor<12xi64>) -> tensor<3x2x4xf32>
  return %r : tensor<3x2x4xf32>
}

func.func @index_sum_part(%0: tensor<4x8xf32>, %1: tensor<8xi64> {sample.range = [0 : i64, 6 : i64]}, %2: tensor<8xi64> {sample.range = [0 : i64, 12 : i64]}, %3: tensor<12xi64> {sample.counted}) -> tensor<4x6x12xf32> {
  %r = plan.call "meshplan.index_sum_part"(%0, %1, %2, %3) {source = #base.operand<0>, indices = [unit, #base.operand<1>, #base.operand<2>], positions = #base.operand<3>, dim = 2 : i64, size = [4 : i64, 6 : i64, 12 : i64], first_index_dim = 1 : i64}
    : (tensor<4x8xf32>, tensor<8xi64>, tensor<8xi64>, tensor<12xi64>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}
