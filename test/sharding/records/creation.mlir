// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of tensors from literals: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input;
// sample.unspecified marks a result of which only the type is compared.

func.func @arange() -> tensor<12xi64> {
  %r = plan.call "aten.arange.default"() {end = 12 : i64}
    : () -> tensor<12xi64>
  return %r : tensor<12xi64>
}

func.func @arange_floats() -> tensor<12xf32> {
  %r = plan.call "aten.arange.default"() {end = 12.0 : f64}
    : () -> tensor<12xf32>
  return %r : tensor<12xf32>
}

func.func @arange_start() -> tensor<12xi64> {
  %r = plan.call "aten.arange.start"() {start = -3 : i64, end = 9 : i64, dtype = i64}
    : () -> tensor<12xi64>
  return %r : tensor<12xi64>
}

func.func @arange_step() -> tensor<6xi64> {
  %r = plan.call "aten.arange.start_step"() {start = 5 : i64, end = -7 : i64, step = -2 : i64}
    : () -> tensor<6xi64>
  return %r : tensor<6xi64>
}

func.func @arange_even() -> tensor<12xf32> {
  %r = plan.call "aten.arange.start_step"() {start = 0 : i64, end = 24 : i64, step = 2 : i64, dtype = f32}
    : () -> tensor<12xf32>
  return %r : tensor<12xf32>
}

func.func @zeros() -> tensor<4x1x6xi64> {
  %r = plan.call "aten.zeros.default"() {size = [4 : i64, 1 : i64, 6 : i64], dtype = i64}
    : () -> tensor<4x1x6xi64>
  return %r : tensor<4x1x6xi64>
}

func.func @ones() -> tensor<4x1x6xi64> {
  %r = plan.call "aten.ones.default"() {size = [4 : i64, 1 : i64, 6 : i64], dtype = i64}
    : () -> tensor<4x1x6xi64>
  return %r : tensor<4x1x6xi64>
}

func.func @full() -> tensor<4x6xf32> {
  %r = plan.call "aten.full.default"() {size = [4 : i64, 6 : i64], fill_value = -1.5 : f64}
    : () -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @empty() -> (tensor<4x6xf32> {sample.unspecified}) {
  %r = plan.call "aten.empty.memory_format"() {size = [4 : i64, 6 : i64], dtype = f32}
    : () -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @scalar_tensor() -> tensor<f32> {
  %r = plan.call "aten.scalar_tensor.default"() {s = 0.5 : f64, dtype = f32}
    : () -> tensor<f32>
  return %r : tensor<f32>
}

func.func @new_zeros(%0: tensor<6xi64> {sample.range = [0 : i64, 9 : i64]}) -> tensor<4x12xi1> {
  %r = plan.call "aten.new_zeros.default"(%0) {self = #base.operand<0>, size = [4 : i64, 12 : i64], dtype = i1}
    : (tensor<6xi64>) -> tensor<4x12xi1>
  return %r : tensor<4x12xi1>
}

func.func @zeros_like(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.zeros_like.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @new_ones(%0: tensor<6xi64> {sample.range = [0 : i64, 9 : i64]}) -> tensor<4x12xi1> {
  %r = plan.call "aten.new_ones.default"(%0) {self = #base.operand<0>, size = [4 : i64, 12 : i64], dtype = i1}
    : (tensor<6xi64>) -> tensor<4x12xi1>
  return %r : tensor<4x12xi1>
}

func.func @ones_like(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.ones_like.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @new_empty(%0: tensor<6xi64> {sample.range = [0 : i64, 9 : i64]}) -> (tensor<4x12xi1> {sample.unspecified}) {
  %r = plan.call "aten.new_empty.default"(%0) {self = #base.operand<0>, size = [4 : i64, 12 : i64], dtype = i1}
    : (tensor<6xi64>) -> tensor<4x12xi1>
  return %r : tensor<4x12xi1>
}

func.func @empty_like(%0: tensor<4x1x6xf32>) -> (tensor<4x1x6xf32> {sample.unspecified}) {
  %r = plan.call "aten.empty_like.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @new_full(%0: tensor<6xf32>) -> tensor<4x12xf32> {
  %r = plan.call "aten.new_full.default"(%0) {self = #base.operand<0>, size = [4 : i64, 12 : i64], fill_value = 3.0 : f64}
    : (tensor<6xf32>) -> tensor<4x12xf32>
  return %r : tensor<4x12xf32>
}

func.func @new_ones_scalar(%0: tensor<6xi64> {sample.range = [0 : i64, 9 : i64]}) -> tensor<i1> {
  %r = plan.call "aten.new_ones.default"(%0) {self = #base.operand<0>, size = [], dtype = i1}
    : (tensor<6xi64>) -> tensor<i1>
  return %r : tensor<i1>
}

func.func @full_like(%0: tensor<4x6xf32>) -> tensor<4x6xf64> {
  %r = plan.call "aten.full_like.default"(%0) {self = #base.operand<0>, fill_value = 7.0 : f64, dtype = f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf64>
  return %r : tensor<4x6xf64>
}

func.func @fill_number(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.fill.Scalar"(%0) {self = #base.operand<0>, value = 1.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @fill_element(%0: tensor<4x6xi64>, %1: tensor<i64>) -> tensor<4x6xi64> {
  %r = plan.call "aten.fill.Tensor"(%0, %1) {self = #base.operand<0>, value = #base.operand<1>}
    : (tensor<4x6xi64>, tensor<i64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}
