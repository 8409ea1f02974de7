// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of tensors written at chosen places: one call in a function each. The differential test runs
// each under every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @scatter(%0: tensor<4x6xf32>, %1: tensor<4x3xi64> {sample.range = [0 : i64, 6 : i64]}, %2: tensor<4x3xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.scatter.src"(%0, %1, %2) {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>, src = #base.operand<2>}
    : (tensor<4x6xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @scatter_shorter(%0: tensor<5x6xf32>, %1: tensor<3x1xi64> {sample.range = [0 : i64, 6 : i64]}, %2: tensor<4x2xf32>) -> tensor<5x6xf32> {
  %r = plan.call "aten.scatter.src"(%0, %1, %2) {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, src = #base.operand<2>}
    : (tensor<5x6xf32>, tensor<3x1xi64>, tensor<4x2xf32>) -> tensor<5x6xf32>
  return %r : tensor<5x6xf32>
}

func.func @scatter_value(%0: tensor<4x6x2xf32>, %1: tensor<4x2x2xi64> {sample.range = [0 : i64, 6 : i64]}) -> tensor<4x6x2xf32> {
  %r = plan.call "aten.scatter.value"(%0, %1) {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>, value = 1 : i64}
    : (tensor<4x6x2xf32>, tensor<4x2x2xi64>) -> tensor<4x6x2xf32>
  return %r : tensor<4x6x2xf32>
}

func.func @scatter_add(%0: tensor<4x6x2xf32>, %1: tensor<5x6x2xi64> {sample.range = [0 : i64, 4 : i64]}, %2: tensor<5x6x2xf32>) -> tensor<4x6x2xf32> {
  %r = plan.call "aten.scatter_add.default"(%0, %1, %2) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, src = #base.operand<2>}
    : (tensor<4x6x2xf32>, tensor<5x6x2xi64>, tensor<5x6x2xf32>) -> tensor<4x6x2xf32>
  return %r : tensor<4x6x2xf32>
}

func.func @index_add(%0: tensor<4x6x2xf32>, %1: tensor<5xi64> {sample.range = [0 : i64, 6 : i64]}, %2: tensor<4x5x2xf32>) -> tensor<4x6x2xf32> {
  %r = plan.call "aten.index_add.default"(%0, %1, %2) {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>, source = #base.operand<2>, alpha = 2 : i64}
    : (tensor<4x6x2xf32>, tensor<5xi64>, tensor<4x5x2xf32>) -> tensor<4x6x2xf32>
  return %r : tensor<4x6x2xf32>
}

func.func @index_add_rows(%0: tensor<4x6xf32>, %1: tensor<3xi64> {sample.range = [0 : i64, 4 : i64]}, %2: tensor<3x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.index_add.default"(%0, %1, %2) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>}
    : (tensor<4x6xf32>, tensor<3xi64>, tensor<3x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @index_fill(%0: tensor<4x6xf32>, %1: tensor<2xi64> {sample.range = [0 : i64, 6 : i64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.index_fill.int_Scalar"(%0, %1) {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, value = 0.5 : f64}
    : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @one_hot(%0: tensor<4x6xi64> {sample.range = [0 : i64, 5 : i64]}) -> tensor<4x6x5xi64> {
  %r = plan.call "aten.one_hot.default"(%0) {self = #base.operand<0>, num_classes = 5 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6x5xi64>
  return %r : tensor<4x6x5xi64>
}

func.func @one_hot_row(%0: tensor<5xi64> {sample.range = [0 : i64, 4 : i64]}) -> tensor<5x4xi64> {
  %r = plan.call "aten.one_hot.default"(%0) {self = #base.operand<0>, num_classes = 4 : i64}
    : (tensor<5xi64>) -> tensor<5x4xi64>
  return %r : tensor<5x4xi64>
}

func.func @bucketize(%0: tensor<4x6xf32>, %1: tensor<3xf32> {sample.range = [0.1 : f64, 0.2 : f64]}) -> tensor<4x6xi64> {
  %r = plan.call "aten.bucketize.Tensor"(%0, %1) {self = #base.operand<0>, boundaries = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<3xf32>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @index_copy(%0: tensor<4x6x2xf32>, %1: tensor<1xi64> {sample.range = [0 : i64, 6 : i64]}, %2: tensor<4x1x2xf32>) -> tensor<4x6x2xf32> {
  %r = plan.call "aten.index_copy.default"(%0, %1, %2) {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>, source = #base.operand<2>}
    : (tensor<4x6x2xf32>, tensor<1xi64>, tensor<4x1x2xf32>) -> tensor<4x6x2xf32>
  return %r : tensor<4x6x2xf32>
}

func.func @scatter_reduce(%0: tensor<4x6xf32>, %1: tensor<4x3xi64> {sample.range = [0 : i64, 6 : i64]}, %2: tensor<4x3xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.scatter_reduce.two"(%0, %1, %2) {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>, src = #base.operand<2>, reduce = "amax", include_self = false}
    : (tensor<4x6xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @scatter_sum(%0: tensor<12x4x6xf32>, %1: tensor<12x4x6xi64> {sample.range = [0 : i64, 3 : i64]}) -> tensor<3x4x6xf32> {
  %r = plan.call "meshplan.scatter_sum"(%0, %1) {source = #base.operand<0>, index = #base.operand<1>, dim = 0 : i64, size = [3 : i64, 4 : i64, 6 : i64]}
    : (tensor<12x4x6xf32>, tensor<12x4x6xi64>) -> tensor<3x4x6xf32>
  return %r : tensor<3x4x6xf32>
}

func.func @scatter_sum_of_part(%0: tensor<4x6xf32>, %1: tensor<4x6xi64> {sample.range = [0 : i64, 12 : i64]}) -> tensor<6x12xf32> {
  %r = plan.call "meshplan.scatter_sum"(%0, %1) {source = #base.operand<0>, index = #base.operand<1>, dim = -1 : i64, size = [6 : i64, 12 : i64]}
    : (tensor<4x6xf32>, tensor<4x6xi64>) -> tensor<6x12xf32>
  return %r : tensor<6x12xf32>
}

func.func @scatter_sum_half(%0: tensor<4x6xbf16>, %1: tensor<4x6xi64> {sample.range = [0 : i64, 3 : i64]}) -> tensor<4x3xbf16> {
  %r = plan.call "meshplan.scatter_sum"(%0, %1) {source = #base.operand<0>, index = #base.operand<1>, dim = 1 : i64, size = [4 : i64, 3 : i64]}
    : (tensor<4x6xbf16>, tensor<4x6xi64>) -> tensor<4x3xbf16>
  return %r : tensor<4x3xbf16>
}

func.func @index_fill_tensor(%0: tensor<4x6xf32>, %1: tensor<2xi64> {sample.range = [0 : i64, 6 : i64]}, %2: tensor<f32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.index_fill.int_Tensor"(%0, %1, %2) {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>, value = #base.operand<2>}
    : (tensor<4x6xf32>, tensor<2xi64>, tensor<f32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @scatter_added(%0: tensor<4x6xf32>, %1: tensor<4x3xi64> {sample.range = [0 : i64, 6 : i64]}, %2: tensor<4x3xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.scatter.reduce"(%0, %1, %2) {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>, src = #base.operand<2>, reduce = "add"}
    : (tensor<4x6xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @scatter_multiplied(%0: tensor<4x6xf32>, %1: tensor<4x3xi64> {sample.range = [0 : i64, 6 : i64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.scatter.value_reduce"(%0, %1) {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>, value = 0.5 : f64, reduce = "multiply"}
    : (tensor<4x6xf32>, tensor<4x3xi64>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @searchsorted(%0: tensor<6xf32> {sample.range = [0.1 : f64, 0.2 : f64]}, %1: tensor<4x6xf32>) -> tensor<4x6xi64> {
  %r = plan.call "aten.searchsorted.Tensor"(%0, %1) {sorted_sequence = #base.operand<0>, self = #base.operand<1>}
    : (tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @searchsorted_rows(%0: tensor<4x3xf32> {sample.range = [0.1 : f64, 0.2 : f64]}, %1: tensor<4x6xf32>) -> tensor<4x6xi64> {
  %r = plan.call "aten.searchsorted.Tensor"(%0, %1) {sorted_sequence = #base.operand<0>, self = #base.operand<1>, right = true}
    : (tensor<4x3xf32>, tensor<4x6xf32>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}
