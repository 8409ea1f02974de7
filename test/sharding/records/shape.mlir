// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of the same elements in another shape: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @transpose(%0: tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32> {
  %r = plan.call "aten.transpose.int"(%0) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64}
    : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
  return %r : tensor<2x6x4x8xf32>
}

func.func @transpose_negative(%0: tensor<2x4x6xf32>) -> tensor<6x4x2xf32> {
  %r = plan.call "aten.transpose.int"(%0) {self = #base.operand<0>, dim0 = -1 : i64, dim1 = -3 : i64}
    : (tensor<2x4x6xf32>) -> tensor<6x4x2xf32>
  return %r : tensor<6x4x2xf32>
}

func.func @transpose_same(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.transpose.int"(%0) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 1 : i64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @t(%0: tensor<4x6xf32>) -> tensor<6x4xf32> {
  %r = plan.call "aten.t.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}

func.func @t_of_vector(%0: tensor<6xf32>) -> tensor<6xf32> {
  %r = plan.call "aten.t.default"(%0) {self = #base.operand<0>}
    : (tensor<6xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @numpy_T(%0: tensor<4x1x6xf32>) -> tensor<6x1x4xf32> {
  %r = plan.call "aten.numpy_T.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<6x1x4xf32>
  return %r : tensor<6x1x4xf32>
}

func.func @permute(%0: tensor<2x4x6x12xf32>) -> tensor<2x6x12x4xf32> {
  %r = plan.call "aten.permute.default"(%0) {self = #base.operand<0>, dims = [0 : i64, 2 : i64, -1 : i64, 1 : i64]}
    : (tensor<2x4x6x12xf32>) -> tensor<2x6x12x4xf32>
  return %r : tensor<2x6x12x4xf32>
}

func.func @unsqueeze(%0: tensor<4x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.unsqueeze.default"(%0) {self = #base.operand<0>, dim = 1 : i64}
    : (tensor<4x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @unsqueeze_last(%0: tensor<4x6xf32>) -> tensor<4x6x1xf32> {
  %r = plan.call "aten.unsqueeze.default"(%0) {self = #base.operand<0>, dim = -1 : i64}
    : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
  return %r : tensor<4x6x1xf32>
}

func.func @squeeze(%0: tensor<1x2x1x6xf32>) -> tensor<2x6xf32> {
  %r = plan.call "aten.squeeze.default"(%0) {self = #base.operand<0>}
    : (tensor<1x2x1x6xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

func.func @squeeze_dim(%0: tensor<4x1x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.squeeze.dim"(%0) {self = #base.operand<0>, dim = 1 : i64}
    : (tensor<4x1x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @squeeze_nothing(%0: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %r = plan.call "aten.squeeze.dim"(%0) {self = #base.operand<0>, dim = 0 : i64}
    : (tensor<2x6xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

func.func @squeeze_dims(%0: tensor<2x1x6x1xf32>) -> tensor<2x6xf32> {
  %r = plan.call "aten.squeeze.dims"(%0) {self = #base.operand<0>, dim = [0 : i64, 1 : i64, -1 : i64]}
    : (tensor<2x1x6x1xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

func.func @expand(%0: tensor<2x3x1x6xf32>) -> tensor<2x3x4x6xf32> {
  %r = plan.call "aten.expand.default"(%0) {self = #base.operand<0>, size = [2 : i64, 3 : i64, 4 : i64, 6 : i64]}
    : (tensor<2x3x1x6xf32>) -> tensor<2x3x4x6xf32>
  return %r : tensor<2x3x4x6xf32>
}

func.func @expand_kept(%0: tensor<2x1x6xf32>) -> tensor<2x4x6xf32> {
  %r = plan.call "aten.expand.default"(%0) {self = #base.operand<0>, size = [-1 : i64, 4 : i64, -1 : i64]}
    : (tensor<2x1x6xf32>) -> tensor<2x4x6xf32>
  return %r : tensor<2x4x6xf32>
}

func.func @expand_leading(%0: tensor<6xf32>) -> tensor<4x12x6xf32> {
  %r = plan.call "aten.expand.default"(%0) {self = #base.operand<0>, size = [4 : i64, 12 : i64, 6 : i64]}
    : (tensor<6xf32>) -> tensor<4x12x6xf32>
  return %r : tensor<4x12x6xf32>
}

func.func @expand_nothing(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.expand.default"(%0) {self = #base.operand<0>, size = [4 : i64, 6 : i64]}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @split_heads(%0: tensor<2x6x48xf32>) -> tensor<2x6x6x8xf32> {
  %r = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = [2 : i64, 6 : i64, 6 : i64, 8 : i64]}
    : (tensor<2x6x48xf32>) -> tensor<2x6x6x8xf32>
  return %r : tensor<2x6x6x8xf32>
}

func.func @split_heads_inferred(%0: tensor<2x6x48xf32>) -> tensor<2x6x6x8xf32> {
  %r = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = [2 : i64, 6 : i64, -1 : i64, 8 : i64]}
    : (tensor<2x6x48xf32>) -> tensor<2x6x6x8xf32>
  return %r : tensor<2x6x6x8xf32>
}

func.func @merge_heads(%0: tensor<2x4x6x8xf32>) -> tensor<2x4x48xf32> {
  %r = plan.call "aten.reshape.default"(%0) {self = #base.operand<0>, shape = [2 : i64, 4 : i64, -1 : i64]}
    : (tensor<2x4x6x8xf32>) -> tensor<2x4x48xf32>
  return %r : tensor<2x4x48xf32>
}

func.func @flatten_batch(%0: tensor<4x6x12xf32>) -> tensor<24x12xf32> {
  %r = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = [-1 : i64, 12 : i64]}
    : (tensor<4x6x12xf32>) -> tensor<24x12xf32>
  return %r : tensor<24x12xf32>
}

func.func @repeat_kv(%0: tensor<2x3x4x6x8xf32>) -> tensor<2x12x6x8xf32> {
  %r = plan.call "aten.reshape.default"(%0) {self = #base.operand<0>, shape = [2 : i64, 12 : i64, 6 : i64, 8 : i64]}
    : (tensor<2x3x4x6x8xf32>) -> tensor<2x12x6x8xf32>
  return %r : tensor<2x12x6x8xf32>
}

func.func @refined(%0: tensor<6x4xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.reshape.default"(%0) {self = #base.operand<0>, shape = [4 : i64, 6 : i64]}
    : (tensor<6x4xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @unshared(%0: tensor<3x2x12xf32>) -> tensor<2x3x12xf32> {
  %r = plan.call "aten.reshape.default"(%0) {self = #base.operand<0>, shape = [2 : i64, 3 : i64, 12 : i64]}
    : (tensor<3x2x12xf32>) -> tensor<2x3x12xf32>
  return %r : tensor<2x3x12xf32>
}

func.func @unit_dims(%0: tensor<1x6x1x12xf32>) -> tensor<6x12x1xf32> {
  %r = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = [6 : i64, 12 : i64, 1 : i64]}
    : (tensor<1x6x1x12xf32>) -> tensor<6x12x1xf32>
  return %r : tensor<6x12x1xf32>
}

func.func @to_one_dim(%0: tensor<4x6x1xf32>) -> tensor<24xf32> {
  %r = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = [24 : i64]}
    : (tensor<4x6x1xf32>) -> tensor<24xf32>
  return %r : tensor<24xf32>
}

func.func @unsafe_view(%0: tensor<24x12xf32>) -> tensor<4x6x12xf32> {
  %r = plan.call "aten._unsafe_view.default"(%0) {self = #base.operand<0>, size = [4 : i64, 6 : i64, 12 : i64]}
    : (tensor<24x12xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @flatten(%0: tensor<2x4x6x3xf32>) -> tensor<2x24x3xf32> {
  %r = plan.call "aten.flatten.using_ints"(%0) {self = #base.operand<0>, start_dim = 1 : i64, end_dim = 2 : i64}
    : (tensor<2x4x6x3xf32>) -> tensor<2x24x3xf32>
  return %r : tensor<2x24x3xf32>
}

func.func @flatten_all(%0: tensor<4x6xf32>) -> tensor<24xf32> {
  %r = plan.call "aten.flatten.using_ints"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<24xf32>
  return %r : tensor<24xf32>
}

func.func @unflatten(%0: tensor<4x24x2xf32>) -> tensor<4x6x4x2xf32> {
  %r = plan.call "aten.unflatten.int"(%0) {self = #base.operand<0>, dim = 1 : i64, sizes = [6 : i64, -1 : i64]}
    : (tensor<4x24x2xf32>) -> tensor<4x6x4x2xf32>
  return %r : tensor<4x6x4x2xf32>
}

func.func @unflatten_last(%0: tensor<4x24xf32>) -> tensor<4x2x12xf32> {
  %r = plan.call "aten.unflatten.int"(%0) {self = #base.operand<0>, dim = -1 : i64, sizes = [2 : i64, 12 : i64]}
    : (tensor<4x24xf32>) -> tensor<4x2x12xf32>
  return %r : tensor<4x2x12xf32>
}

func.func @flip(%0: tensor<2x6x12xf32>) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.flip.default"(%0) {self = #base.operand<0>, dims = [1 : i64]}
    : (tensor<2x6x12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @flip_dims(%0: tensor<4x6x2xf32>) -> tensor<4x6x2xf32> {
  %r = plan.call "aten.flip.default"(%0) {self = #base.operand<0>, dims = [0 : i64, -1 : i64]}
    : (tensor<4x6x2xf32>) -> tensor<4x6x2xf32>
  return %r : tensor<4x6x2xf32>
}

func.func @flip_uneven(%0: tensor<5x6xf32>) -> tensor<5x6xf32> {
  %r = plan.call "aten.flip.default"(%0) {self = #base.operand<0>, dims = [-1 : i64]}
    : (tensor<5x6xf32>) -> tensor<5x6xf32>
  return %r : tensor<5x6xf32>
}

func.func @roll(%0: tensor<2x6x12xf32>) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.roll.default"(%0) {self = #base.operand<0>, shifts = [1 : i64], dims = [1 : i64]}
    : (tensor<2x6x12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @roll_dims(%0: tensor<4x6x5xf32>) -> tensor<4x6x5xf32> {
  %r = plan.call "aten.roll.default"(%0) {self = #base.operand<0>, shifts = [2 : i64, -1 : i64], dims = [-1 : i64, 0 : i64]}
    : (tensor<4x6x5xf32>) -> tensor<4x6x5xf32>
  return %r : tensor<4x6x5xf32>
}

func.func @roll_flat(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.roll.default"(%0) {self = #base.operand<0>, shifts = [5 : i64]}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @pixel_shuffle(%0: tensor<2x12x4x6xf32>) -> tensor<2x3x8x12xf32> {
  %r = plan.call "aten.pixel_shuffle.default"(%0) {self = #base.operand<0>, upscale_factor = 2 : i64}
    : (tensor<2x12x4x6xf32>) -> tensor<2x3x8x12xf32>
  return %r : tensor<2x3x8x12xf32>
}

func.func @pixel_shuffle_one_image(%0: tensor<4x1x6xf32>) -> tensor<1x2x12xf32> {
  %r = plan.call "aten.pixel_shuffle.default"(%0) {self = #base.operand<0>, upscale_factor = 2 : i64}
    : (tensor<4x1x6xf32>) -> tensor<1x2x12xf32>
  return %r : tensor<1x2x12xf32>
}

func.func @pixel_shuffle_nothing(%0: tensor<2x4x2x6xf32>) -> tensor<2x4x2x6xf32> {
  %r = plan.call "aten.pixel_shuffle.default"(%0) {self = #base.operand<0>, upscale_factor = 1 : i64}
    : (tensor<2x4x2x6xf32>) -> tensor<2x4x2x6xf32>
  return %r : tensor<2x4x2x6xf32>
}

func.func @pixel_unshuffle(%0: tensor<2x6x4x8xf32>) -> tensor<2x24x2x4xf32> {
  %r = plan.call "aten.pixel_unshuffle.default"(%0) {self = #base.operand<0>, downscale_factor = 2 : i64}
    : (tensor<2x6x4x8xf32>) -> tensor<2x24x2x4xf32>
  return %r : tensor<2x24x2x4xf32>
}

func.func @pixel_unshuffle_places(%0: tensor<1x4x12x6xf32>) -> tensor<1x36x4x2xf32> {
  %r = plan.call "aten.pixel_unshuffle.default"(%0) {self = #base.operand<0>, downscale_factor = 3 : i64}
    : (tensor<1x4x12x6xf32>) -> tensor<1x36x4x2xf32>
  return %r : tensor<1x36x4x2xf32>
}

func.func @channel_shuffle(%0: tensor<4x6x2x6xf32>) -> tensor<4x6x2x6xf32> {
  %r = plan.call "aten.channel_shuffle.default"(%0) {self = #base.operand<0>, groups = 3 : i64}
    : (tensor<4x6x2x6xf32>) -> tensor<4x6x2x6xf32>
  return %r : tensor<4x6x2x6xf32>
}

func.func @rot90(%0: tensor<4x6x2xf32>) -> tensor<4x2x6xf32> {
  %r = plan.call "aten.rot90.default"(%0) {self = #base.operand<0>, k = 1 : i64, dims = [1 : i64, 2 : i64]}
    : (tensor<4x6x2xf32>) -> tensor<4x2x6xf32>
  return %r : tensor<4x2x6xf32>
}

func.func @rot90_front(%0: tensor<4x6x5xf32>) -> tensor<6x4x5xf32> {
  %r = plan.call "aten.rot90.default"(%0) {self = #base.operand<0>, k = 3 : i64}
    : (tensor<4x6x5xf32>) -> tensor<6x4x5xf32>
  return %r : tensor<6x4x5xf32>
}
