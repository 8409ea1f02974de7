// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of concatenation, padding and repetition: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @cat(%0: tensor<2x4x6xf32>, %1: tensor<2x12x6xf32>) -> tensor<2x16x6xf32> {
  %r = plan.call "aten.cat.default"(%0, %1) {tensors = [#base.operand<0>, #base.operand<1>], dim = 1 : i64}
    : (tensor<2x4x6xf32>, tensor<2x12x6xf32>) -> tensor<2x16x6xf32>
  return %r : tensor<2x16x6xf32>
}

func.func @cat_halves(%0: tensor<4x6x12xf32>, %1: tensor<4x6x12xf32>) -> tensor<4x6x24xf32> {
  %r = plan.call "aten.cat.default"(%0, %1) {tensors = [#base.operand<0>, #base.operand<1>], dim = -1 : i64}
    : (tensor<4x6x12xf32>, tensor<4x6x12xf32>) -> tensor<4x6x24xf32>
  return %r : tensor<4x6x24xf32>
}

func.func @cat_twice(%0: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %r = plan.call "aten.cat.default"(%0) {tensors = [#base.operand<0>, #base.operand<0>]}
    : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return %r : tensor<8x6xf32>
}

func.func @stack(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x2x6xf32> {
  %r = plan.call "aten.stack.default"(%0, %1) {tensors = [#base.operand<0>, #base.operand<1>], dim = 1 : i64}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x2x6xf32>
  return %r : tensor<4x2x6xf32>
}

func.func @stack_last(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6x2xf32> {
  %r = plan.call "aten.stack.default"(%0, %1) {tensors = [#base.operand<0>, #base.operand<1>], dim = -1 : i64}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6x2xf32>
  return %r : tensor<4x6x2xf32>
}

func.func @pad(%0: tensor<4x6x12xf32>) -> tensor<4x9x12xf32> {
  %r = plan.call "aten.pad.default"(%0) {self = #base.operand<0>, pad = [0 : i64, 0 : i64, 1 : i64, 2 : i64]}
    : (tensor<4x6x12xf32>) -> tensor<4x9x12xf32>
  return %r : tensor<4x9x12xf32>
}

func.func @pad_labels(%0: tensor<4x6xi64> {sample.range = [0 : i64, 9 : i64]}) -> tensor<4x7xi64> {
  %r = plan.call "aten.pad.default"(%0) {self = #base.operand<0>, pad = [0 : i64, 1 : i64], mode = "constant", value = -100.0 : f64}
    : (tensor<4x6xi64>) -> tensor<4x7xi64>
  return %r : tensor<4x7xi64>
}

func.func @pad_crop(%0: tensor<4x12xf32>) -> tensor<4x9xf32> {
  %r = plan.call "aten.constant_pad_nd.default"(%0) {self = #base.operand<0>, pad = [-2 : i64, -1 : i64]}
    : (tensor<4x12xf32>) -> tensor<4x9xf32>
  return %r : tensor<4x9xf32>
}

func.func @pad_value(%0: tensor<4x12xf32>) -> tensor<4x13xf32> {
  %r = plan.call "aten.constant_pad_nd.default"(%0) {self = #base.operand<0>, pad = [1 : i64, 0 : i64], value = 2.0 : f64}
    : (tensor<4x12xf32>) -> tensor<4x13xf32>
  return %r : tensor<4x13xf32>
}

func.func @repeat(%0: tensor<4x1x6xf32>) -> tensor<4x12x6xf32> {
  %r = plan.call "aten.repeat.default"(%0) {self = #base.operand<0>, repeats = [1 : i64, 12 : i64, 1 : i64]}
    : (tensor<4x1x6xf32>) -> tensor<4x12x6xf32>
  return %r : tensor<4x12x6xf32>
}

func.func @repeat_leading(%0: tensor<6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.repeat.default"(%0) {self = #base.operand<0>, repeats = [4 : i64, 1 : i64]}
    : (tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @repeat_tiled(%0: tensor<4x6xf32>) -> tensor<4x12xf32> {
  %r = plan.call "aten.repeat.default"(%0) {self = #base.operand<0>, repeats = [1 : i64, 2 : i64]}
    : (tensor<4x6xf32>) -> tensor<4x12xf32>
  return %r : tensor<4x12xf32>
}

// The rest of a head after rotary embeddings may be empty.
func.func @cat_without_elements(%0: tensor<2x6x4xf32>, %1: tensor<2x6x0xf32>) -> tensor<2x6x4xf32> {
  %r = plan.call "aten.cat.default"(%0, %1) {tensors = [#base.operand<0>, #base.operand<1>], dim = -1 : i64}
    : (tensor<2x6x4xf32>, tensor<2x6x0xf32>) -> tensor<2x6x4xf32>
  return %r : tensor<2x6x4xf32>
}

func.func @repeat_interleave(%0: tensor<2x6xf32>) -> tensor<2x18xf32> {
  %r = plan.call "aten.repeat_interleave.self_int"(%0) {self = #base.operand<0>, repeats = 3 : i64, dim = -1 : i64, output_size = 18 : i64}
    : (tensor<2x6xf32>) -> tensor<2x18xf32>
  return %r : tensor<2x18xf32>
}

func.func @repeat_interleave_all(%0: tensor<6xf32>) -> tensor<12xf32> {
  %r = plan.call "aten.repeat_interleave.self_int"(%0) {self = #base.operand<0>, repeats = 2 : i64}
    : (tensor<6xf32>) -> tensor<12xf32>
  return %r : tensor<12xf32>
}

func.func @pad_reflected(%0: tensor<2x6x12xf32>) -> tensor<2x6x15xf32> {
  %r = plan.call "aten.pad.default"(%0) {self = #base.operand<0>, pad = [2 : i64, 1 : i64], mode = "reflect"}
    : (tensor<2x6x12xf32>) -> tensor<2x6x15xf32>
  return %r : tensor<2x6x15xf32>
}

func.func @pad_repeated(%0: tensor<4x6x4x5xf32>) -> tensor<4x6x6x6xf32> {
  %r = plan.call "aten.pad.default"(%0) {self = #base.operand<0>, pad = [0 : i64, 1 : i64, 2 : i64, 0 : i64], mode = "replicate"}
    : (tensor<4x6x4x5xf32>) -> tensor<4x6x6x6xf32>
  return %r : tensor<4x6x6x6xf32>
}

func.func @pad_circular(%0: tensor<4x6x4xf32>) -> tensor<4x6x6xf32> {
  %r = plan.call "aten.pad.default"(%0) {self = #base.operand<0>, pad = [1 : i64, 1 : i64], mode = "circular"}
    : (tensor<4x6x4xf32>) -> tensor<4x6x6xf32>
  return %r : tensor<4x6x6xf32>
}

func.func @reflection_pad1d(%0: tensor<4x6x4xf32>) -> tensor<4x6x7xf32> {
  %r = plan.call "aten.reflection_pad1d.default"(%0) {self = #base.operand<0>, padding = [1 : i64, 2 : i64]}
    : (tensor<4x6x4xf32>) -> tensor<4x6x7xf32>
  return %r : tensor<4x6x7xf32>
}

func.func @reflection_pad2d(%0: tensor<4x6x4x4xf32>) -> tensor<4x6x5x7xf32> {
  %r = plan.call "aten.reflection_pad2d.default"(%0) {self = #base.operand<0>, padding = [1 : i64, 2 : i64, 0 : i64, 1 : i64]}
    : (tensor<4x6x4x4xf32>) -> tensor<4x6x5x7xf32>
  return %r : tensor<4x6x5x7xf32>
}

func.func @reflection_pad3d(%0: tensor<4x6x4x4x4xf32>) -> tensor<4x6x5x5x7xf32> {
  %r = plan.call "aten.reflection_pad3d.default"(%0) {self = #base.operand<0>, padding = [1 : i64, 2 : i64, 0 : i64, 1 : i64, 0 : i64, 1 : i64]}
    : (tensor<4x6x4x4x4xf32>) -> tensor<4x6x5x5x7xf32>
  return %r : tensor<4x6x5x5x7xf32>
}

func.func @replication_pad1d(%0: tensor<4x6x4xf32>) -> tensor<4x6x7xf32> {
  %r = plan.call "aten.replication_pad1d.default"(%0) {self = #base.operand<0>, padding = [1 : i64, 2 : i64]}
    : (tensor<4x6x4xf32>) -> tensor<4x6x7xf32>
  return %r : tensor<4x6x7xf32>
}

func.func @replication_pad2d(%0: tensor<4x6x4x4xf32>) -> tensor<4x6x5x7xf32> {
  %r = plan.call "aten.replication_pad2d.default"(%0) {self = #base.operand<0>, padding = [1 : i64, 2 : i64, 0 : i64, 1 : i64]}
    : (tensor<4x6x4x4xf32>) -> tensor<4x6x5x7xf32>
  return %r : tensor<4x6x5x7xf32>
}

func.func @replication_pad3d(%0: tensor<4x6x4x4x4xf32>) -> tensor<4x6x5x5x7xf32> {
  %r = plan.call "aten.replication_pad3d.default"(%0) {self = #base.operand<0>, padding = [1 : i64, 2 : i64, 0 : i64, 1 : i64, 0 : i64, 1 : i64]}
    : (tensor<4x6x4x4x4xf32>) -> tensor<4x6x5x5x7xf32>
  return %r : tensor<4x6x5x5x7xf32>
}
