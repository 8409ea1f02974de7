// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of elements chosen by integers: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @embedding(%0: tensor<24x12xf32>, %1: tensor<4x6xi64> {sample.range = [0 : i64, 24 : i64]}) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.embedding.default"(%0, %1) {weight = #base.operand<0>, indices = #base.operand<1>}
    : (tensor<24x12xf32>, tensor<4x6xi64>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @embedding_padding(%0: tensor<24x6xf32>, %1: tensor<12xi64> {sample.range = [0 : i64, 24 : i64]}) -> tensor<12x6xf32> {
  %r = plan.call "aten.embedding.default"(%0, %1) {weight = #base.operand<0>, indices = #base.operand<1>, padding_idx = 3 : i64}
    : (tensor<24x6xf32>, tensor<12xi64>) -> tensor<12x6xf32>
  return %r : tensor<12x6xf32>
}

func.func @gather_last(%0: tensor<4x12xf32>, %1: tensor<4x6xi64> {sample.range = [0 : i64, 12 : i64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.gather.default"(%0, %1) {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>}
    : (tensor<4x12xf32>, tensor<4x6xi64>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @gather_part(%0: tensor<6x12xf32>, %1: tensor<4x6xi64> {sample.range = [0 : i64, 12 : i64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.gather.default"(%0, %1) {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>}
    : (tensor<6x12xf32>, tensor<4x6xi64>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @gather_first(%0: tensor<12x4x6xf32>, %1: tensor<2x4x6xi64> {sample.range = [0 : i64, 12 : i64]}) -> tensor<2x4x6xf32> {
  %r = plan.call "aten.gather.default"(%0, %1) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>}
    : (tensor<12x4x6xf32>, tensor<2x4x6xi64>) -> tensor<2x4x6xf32>
  return %r : tensor<2x4x6xf32>
}

func.func @index_select(%0: tensor<4x12x6xf32>, %1: tensor<6xi64> {sample.range = [0 : i64, 12 : i64]}) -> tensor<4x6x6xf32> {
  %r = plan.call "aten.index_select.default"(%0, %1) {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>}
    : (tensor<4x12x6xf32>, tensor<6xi64>) -> tensor<4x6x6xf32>
  return %r : tensor<4x6x6xf32>
}

func.func @index_first(%0: tensor<12x6xf32>, %1: tensor<4xi64> {sample.range = [0 : i64, 12 : i64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.index.Tensor"(%0, %1) {self = #base.operand<0>, indices = [#base.operand<1>]}
    : (tensor<12x6xf32>, tensor<4xi64>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @index_rows_columns(%0: tensor<4x12x6xf32>, %1: tensor<4x1xi64> {sample.range = [0 : i64, 4 : i64]}, %2: tensor<6xi64> {sample.range = [0 : i64, 12 : i64]}) -> tensor<4x6x6xf32> {
  %r = plan.call "aten.index.Tensor"(%0, %1, %2) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]}
    : (tensor<4x12x6xf32>, tensor<4x1xi64>, tensor<6xi64>) -> tensor<4x6x6xf32>
  return %r : tensor<4x6x6xf32>
}

func.func @index_second(%0: tensor<4x12x6xf32>, %1: tensor<2x6xi64> {sample.range = [0 : i64, 12 : i64]}) -> tensor<4x2x6x6xf32> {
  %r = plan.call "aten.index.Tensor"(%0, %1) {self = #base.operand<0>, indices = [unit, #base.operand<1>]}
    : (tensor<4x12x6xf32>, tensor<2x6xi64>) -> tensor<4x2x6x6xf32>
  return %r : tensor<4x2x6x6xf32>
}

func.func @index_apart(%0: tensor<4x6x12xf32>, %1: tensor<6xi64> {sample.range = [0 : i64, 4 : i64]}, %2: tensor<2x1xi64> {sample.range = [0 : i64, 12 : i64]}) -> tensor<2x6x6xf32> {
  %r = plan.call "aten.index.Tensor"(%0, %1, %2) {self = #base.operand<0>, indices = [#base.operand<1>, unit, #base.operand<2>]}
    : (tensor<4x6x12xf32>, tensor<6xi64>, tensor<2x1xi64>) -> tensor<2x6x6xf32>
  return %r : tensor<2x6x6xf32>
}

func.func @index_mask(%0: tensor<4x12xi1>, %1: tensor<4x1x1x1xi64> {sample.range = [0 : i64, 4 : i64]}, %2: tensor<12xi64> {sample.range = [0 : i64, 12 : i64]}) -> tensor<4x1x1x12xi1> {
  %r = plan.call "aten.index.Tensor"(%0, %1, %2) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]}
    : (tensor<4x12xi1>, tensor<4x1x1x1xi64>, tensor<12xi64>) -> tensor<4x1x1x12xi1>
  return %r : tensor<4x1x1x12xi1>
}

func.func @embedding_local(%0: tensor<12x6xf32>, %1: tensor<4x6xi64> {sample.range = [0 : i64, 36 : i64]}) -> tensor<4x6x6xf32> {
  %r = plan.call "meshplan.embedding"(%0, %1) {weight = #base.operand<0>, indices = #base.operand<1>, offset = 12 : i64}
    : (tensor<12x6xf32>, tensor<4x6xi64>) -> tensor<4x6x6xf32>
  return %r : tensor<4x6x6xf32>
}

func.func @index_put(%0: tensor<6x4xf32>, %1: tensor<6xi64> {sample.range = [0 : i64, 6 : i64]}, %2: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %r = plan.call "aten.index_put.default"(%0, %1, %2) {self = #base.operand<0>, indices = [#base.operand<1>], values = #base.operand<2>, accumulate = true}
    : (tensor<6x4xf32>, tensor<6xi64>, tensor<6x4xf32>) -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}

func.func @index_put_second(%0: tensor<4x6x2xf32>, %1: tensor<1xi64> {sample.range = [0 : i64, 6 : i64]}, %2: tensor<2xf32>) -> tensor<4x6x2xf32> {
  %r = plan.call "aten.index_put.default"(%0, %1, %2) {self = #base.operand<0>, indices = [unit, #base.operand<1>], values = #base.operand<2>}
    : (tensor<4x6x2xf32>, tensor<1xi64>, tensor<2xf32>) -> tensor<4x6x2xf32>
  return %r : tensor<4x6x2xf32>
}

func.func @take_along(%0: tensor<4x6x2xf32>, %1: tensor<4x3x2xi64> {sample.range = [0 : i64, 6 : i64]}) -> tensor<4x3x2xf32> {
  %r = plan.call "aten.take_along_dim.default"(%0, %1) {self = #base.operand<0>, indices = #base.operand<1>, dim = 1 : i64}
    : (tensor<4x6x2xf32>, tensor<4x3x2xi64>) -> tensor<4x3x2xf32>
  return %r : tensor<4x3x2xf32>
}

func.func @take_along_broadcast(%0: tensor<1x6x4xf32>, %1: tensor<5x2x1xi64> {sample.range = [0 : i64, 6 : i64]}) -> tensor<5x2x4xf32> {
  %r = plan.call "aten.take_along_dim.default"(%0, %1) {self = #base.operand<0>, indices = #base.operand<1>, dim = -2 : i64}
    : (tensor<1x6x4xf32>, tensor<5x2x1xi64>) -> tensor<5x2x4xf32>
  return %r : tensor<5x2x4xf32>
}

func.func @take_along_row(%0: tensor<4x6xf32>, %1: tensor<5xi64> {sample.range = [0 : i64, 24 : i64]}) -> tensor<5xf32> {
  %r = plan.call "aten.take_along_dim.default"(%0, %1) {self = #base.operand<0>, indices = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<5xi64>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @index_sum_rows(%0: tensor<4x6x6xf32>, %1: tensor<4x6xi64> {sample.range = [0 : i64, 3 : i64]}) -> tensor<3x6xf32> {
  %r = plan.call "meshplan.index_sum"(%0, %1) {source = #base.operand<0>, indices = [#base.operand<1>], size = [3 : i64, 6 : i64]}
    : (tensor<4x6x6xf32>, tensor<4x6xi64>) -> tensor<3x6xf32>
  return %r : tensor<3x6xf32>
}

func.func @index_sum_rows_columns(%0: tensor<4x6x6xf32>, %1: tensor<4x1xi64> {sample.range = [0 : i64, 4 : i64]}, %2: tensor<6xi64> {sample.range = [0 : i64, 12 : i64]}) -> tensor<4x12x6xf32> {
  %r = plan.call "meshplan.index_sum"(%0, %1, %2) {source = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>], size = [4 : i64, 12 : i64, 6 : i64]}
    : (tensor<4x6x6xf32>, tensor<4x1xi64>, tensor<6xi64>) -> tensor<4x12x6xf32>
  return %r : tensor<4x12x6xf32>
}

func.func @index_sum_apart(%0: tensor<2x6x6xf32>, %1: tensor<6xi64> {sample.range = [0 : i64, 4 : i64]}, %2: tensor<2x1xi64> {sample.range = [0 : i64, 12 : i64]}) -> tensor<4x6x12xf32> {
  %r = plan.call "meshplan.index_sum"(%0, %1, %2) {source = #base.operand<0>, indices = [#base.operand<1>, unit, #base.operand<2>], size = [4 : i64, 6 : i64, 12 : i64]}
    : (tensor<2x6x6xf32>, tensor<6xi64>, tensor<2x1xi64>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @index_sum_second(%0: tensor<4x6xbf16>, %1: tensor<6xi64> {sample.range = [0 : i64, 3 : i64]}) -> tensor<4x3xbf16> {
  %r = plan.call "meshplan.index_sum"(%0, %1) {source = #base.operand<0>, indices = [unit, #base.operand<1>], size = [4 : i64, 3 : i64]}
    : (tensor<4x6xbf16>, tensor<6xi64>) -> tensor<4x3xbf16>
  return %r : tensor<4x3xbf16>
}

func.func @embedding_bag(%0: tensor<12x6xf32>, %1: tensor<8xi64> {sample.range = [0 : i64, 12 : i64]}, %2: tensor<3xi64> {sample.range = [0 : i64, 1 : i64]}) -> (tensor<3x6xf32>, tensor<8xi64> {sample.of_cpu}, tensor<3xi64> {sample.of_cpu}, tensor<3xi64> {sample.of_cpu}) {
  %r:4 = plan.call "aten.embedding_bag.default"(%0, %1, %2) {weight = #base.operand<0>, indices = #base.operand<1>, offsets = #base.operand<2>, mode = 1 : i64}
    : (tensor<12x6xf32>, tensor<8xi64>, tensor<3xi64>) -> (tensor<3x6xf32>, tensor<8xi64>, tensor<3xi64>, tensor<3xi64>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<3x6xf32>, tensor<8xi64>, tensor<3xi64>, tensor<3xi64>
}

func.func @embedding_bag_largest(%0: tensor<12x6xf32>, %1: tensor<8xi64> {sample.range = [0 : i64, 12 : i64]}, %2: tensor<3xi64> {sample.range = [0 : i64, 1 : i64]}) -> (tensor<3x6xf32>, tensor<8xi64>, tensor<3xi64>, tensor<3x6xi64>) {
  %r:4 = plan.call "aten.embedding_bag.padding_idx"(%0, %1, %2) {weight = #base.operand<0>, indices = #base.operand<1>, offsets = #base.operand<2>, scale_grad_by_freq = false, mode = 2 : i64, sparse = false, per_sample_weights = unit, include_last_offset = false, padding_idx = 3 : i64}
    : (tensor<12x6xf32>, tensor<8xi64>, tensor<3xi64>) -> (tensor<3x6xf32>, tensor<8xi64>, tensor<3xi64>, tensor<3x6xi64>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<3x6xf32>, tensor<8xi64>, tensor<3xi64>, tensor<3x6xi64>
}
