// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of elementwise operators: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @add(%0: tensor<2x6x12xf32>, %1: tensor<2x6x12xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.add.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<2x6x12xf32>, tensor<2x6x12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @add_broadcast(%0: tensor<4x6x12xf32>, %1: tensor<6x1xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.add.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6x12xf32>, tensor<6x1xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @add_scalar(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.add.Scalar"(%0) {self = #base.operand<0>, other = 1.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @add_literal(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.add.Tensor"(%0) {self = #base.operand<0>, other = 2.0 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @sub(%0: tensor<2x6x12xf32>, %1: tensor<2x6x12xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.sub.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<2x6x12xf32>, tensor<2x6x12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @sub_broadcast(%0: tensor<4x6x12xf32>, %1: tensor<6x1xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.sub.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6x12xf32>, tensor<6x1xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @sub_scalar(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.sub.Scalar"(%0) {self = #base.operand<0>, other = 1.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @sub_literal(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.sub.Tensor"(%0) {self = #base.operand<0>, other = 2.0 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @rsub(%0: tensor<2x6x12xf32>, %1: tensor<2x6x12xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.rsub.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<2x6x12xf32>, tensor<2x6x12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @rsub_broadcast(%0: tensor<4x6x12xf32>, %1: tensor<6x1xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.rsub.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6x12xf32>, tensor<6x1xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @rsub_scalar(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.rsub.Scalar"(%0) {self = #base.operand<0>, other = 1.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @mul(%0: tensor<2x6x12xf32>, %1: tensor<2x6x12xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.mul.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<2x6x12xf32>, tensor<2x6x12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @mul_broadcast(%0: tensor<4x6x12xf32>, %1: tensor<6x1xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.mul.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6x12xf32>, tensor<6x1xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @mul_scalar(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.mul.Scalar"(%0) {self = #base.operand<0>, other = 1.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @mul_literal(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.mul.Tensor"(%0) {self = #base.operand<0>, other = 2.0 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @div(%0: tensor<2x6x12xf32>, %1: tensor<2x6x12xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.div.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<2x6x12xf32>, tensor<2x6x12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @div_broadcast(%0: tensor<4x6x12xf32>, %1: tensor<6x1xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.div.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6x12xf32>, tensor<6x1xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @div_scalar(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.div.Scalar"(%0) {self = #base.operand<0>, other = 1.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @div_literal(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.div.Tensor"(%0) {self = #base.operand<0>, other = 2.0 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @add_alpha(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.add.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>, alpha = 2.0 : f64}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @add_outer(%0: tensor<4x1xf32>, %1: tensor<1x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.add.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x1xf32>, tensor<1x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @add_integers(%0: tensor<12xi64> {sample.range = [0 : i64, 100 : i64]}, %1: tensor<6x1xi64> {sample.range = [0 : i64, 100 : i64]}) -> tensor<6x12xi64> {
  %r = plan.call "aten.add.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<12xi64>, tensor<6x1xi64>) -> tensor<6x12xi64>
  return %r : tensor<6x12xi64>
}

func.func @add_promoted(%0: tensor<4x6xbf16>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.add.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xbf16>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @add_zero_rank(%0: tensor<4x6xf32>, %1: tensor<f32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.add.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @mul_mask(%0: tensor<4x6xf32>, %1: tensor<4x1xi1>) -> tensor<4x6xf32> {
  %r = plan.call "aten.mul.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<4x1xi1>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @mul_itself(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.mul.Tensor"(%0) {self = #base.operand<0>, other = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @div_floor(%0: tensor<4x6xf32>, %1: tensor<4x6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.div.Tensor_mode"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>, rounding_mode = "floor"}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @div_true_mode(%0: tensor<4x6xf32>, %1: tensor<4x6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.div.Tensor_mode"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>, rounding_mode = unit}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @div_scalar_trunc(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.div.Scalar_mode"(%0) {self = #base.operand<0>, other = 1.5 : f64, rounding_mode = "trunc"}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @floor_divide(%0: tensor<12xi64> {sample.range = [0 : i64, 100 : i64]}, %1: tensor<12xi64> {sample.range = [1 : i64, 9 : i64]}) -> tensor<12xi64> {
  %r = plan.call "aten.floor_divide.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  return %r : tensor<12xi64>
}

func.func @remainder(%0: tensor<12xi64> {sample.range = [0 : i64, 100 : i64]}, %1: tensor<12xi64> {sample.range = [1 : i64, 9 : i64]}) -> tensor<12xi64> {
  %r = plan.call "aten.remainder.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  return %r : tensor<12xi64>
}

func.func @remainder_scalar(%0: tensor<12xi64> {sample.range = [0 : i64, 100 : i64]}) -> tensor<12xi64> {
  %r = plan.call "aten.remainder.Scalar"(%0) {self = #base.operand<0>, other = 7 : i64}
    : (tensor<12xi64>) -> tensor<12xi64>
  return %r : tensor<12xi64>
}

func.func @neg(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.neg.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @abs(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.abs.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @square(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.square.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @exp(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.exp.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @erf(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.erf.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @cos(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.cos.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @sin(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.sin.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @tanh(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.tanh.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @sigmoid(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.sigmoid.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @silu(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.silu.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @gelu(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.gelu.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @relu(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.relu.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @softplus(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.softplus.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @isnan(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xi1> {
  %r = plan.call "aten.isnan.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xi1>
  return %r : tensor<4x1x6xi1>
}

func.func @isinf(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xi1> {
  %r = plan.call "aten.isinf.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xi1>
  return %r : tensor<4x1x6xi1>
}

func.func @gelu_tanh(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.gelu.default"(%0) {self = #base.operand<0>, approximate = "tanh"}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @sqrt(%0: tensor<4x6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.sqrt.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @rsqrt(%0: tensor<4x6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.rsqrt.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @reciprocal(%0: tensor<4x6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.reciprocal.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @log(%0: tensor<4x6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.log.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @log1p(%0: tensor<4x6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.log1p.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @pow_literal(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.pow.Tensor_Scalar"(%0) {self = #base.operand<0>, exponent = 2 : i64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @pow(%0: tensor<4x6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}, %1: tensor<6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.pow.Tensor_Tensor"(%0, %1) {self = #base.operand<0>, exponent = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @pow_of_literal(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.pow.Scalar"(%0) {self = 10000.0 : f64, exponent = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @clamp(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.clamp.default"(%0) {self = #base.operand<0>, min = -0.5 : f64, max = 0.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @maximum(%0: tensor<4x6xf32>, %1: tensor<6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.maximum.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @minimum(%0: tensor<4x6xf32>, %1: tensor<6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.minimum.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @max_other(%0: tensor<4x6xf32>, %1: tensor<4x1xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.max.other"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @min_other(%0: tensor<4x6xf32>, %1: tensor<4x1xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.min.other"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @where(%0: tensor<4x1x12xi1>, %1: tensor<6x12xf32>, %2: tensor<4x6x1xf32>) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.where.self"(%0, %1, %2) {condition = #base.operand<0>, self = #base.operand<1>, other = #base.operand<2>}
    : (tensor<4x1x12xi1>, tensor<6x12xf32>, tensor<4x6x1xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @where_zero(%0: tensor<4x6xi1>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.where.ScalarOther"(%0, %1) {condition = #base.operand<0>, self = #base.operand<1>, other = 0.0 : f64}
    : (tensor<4x6xi1>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @where_literal(%0: tensor<4x6xi1>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.where.ScalarOther"(%0, %1) {condition = #base.operand<0>, self = #base.operand<1>, other = -1.0 : f64}
    : (tensor<4x6xi1>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @where_literal_self(%0: tensor<4x6xi1>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.where.ScalarSelf"(%0, %1) {condition = #base.operand<0>, self = -1.0 : f64, other = #base.operand<1>}
    : (tensor<4x6xi1>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @masked_fill_zero(%0: tensor<4x6xf32>, %1: tensor<6xi1>) -> tensor<4x6xf32> {
  %r = plan.call "aten.masked_fill.Scalar"(%0, %1) {self = #base.operand<0>, mask = #base.operand<1>, value = 0 : i64}
    : (tensor<4x6xf32>, tensor<6xi1>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @masked_fill_literal(%0: tensor<4x6xf32>, %1: tensor<4x1xi1>) -> tensor<4x6xf32> {
  %r = plan.call "aten.masked_fill.Scalar"(%0, %1) {self = #base.operand<0>, mask = #base.operand<1>, value = -1.0e+30 : f64}
    : (tensor<4x6xf32>, tensor<4x1xi1>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @masked_fill(%0: tensor<4x6xf32>, %1: tensor<4x6xi1>, %2: tensor<f32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.masked_fill.Tensor"(%0, %1, %2) {self = #base.operand<0>, mask = #base.operand<1>, value = #base.operand<2>}
    : (tensor<4x6xf32>, tensor<4x6xi1>, tensor<f32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @eq(%0: tensor<12x1xi64> {sample.range = [0 : i64, 8 : i64]}, %1: tensor<6xi64> {sample.range = [0 : i64, 8 : i64]}) -> tensor<12x6xi1> {
  %r = plan.call "aten.eq.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<12x1xi64>, tensor<6xi64>) -> tensor<12x6xi1>
  return %r : tensor<12x6xi1>
}

func.func @eq_scalar(%0: tensor<4x6xi64> {sample.range = [0 : i64, 8 : i64]}) -> tensor<4x6xi1> {
  %r = plan.call "aten.eq.Scalar"(%0) {self = #base.operand<0>, other = 4 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @ne(%0: tensor<12x1xi64> {sample.range = [0 : i64, 8 : i64]}, %1: tensor<6xi64> {sample.range = [0 : i64, 8 : i64]}) -> tensor<12x6xi1> {
  %r = plan.call "aten.ne.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<12x1xi64>, tensor<6xi64>) -> tensor<12x6xi1>
  return %r : tensor<12x6xi1>
}

func.func @ne_scalar(%0: tensor<4x6xi64> {sample.range = [0 : i64, 8 : i64]}) -> tensor<4x6xi1> {
  %r = plan.call "aten.ne.Scalar"(%0) {self = #base.operand<0>, other = 4 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @lt(%0: tensor<12x1xi64> {sample.range = [0 : i64, 8 : i64]}, %1: tensor<6xi64> {sample.range = [0 : i64, 8 : i64]}) -> tensor<12x6xi1> {
  %r = plan.call "aten.lt.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<12x1xi64>, tensor<6xi64>) -> tensor<12x6xi1>
  return %r : tensor<12x6xi1>
}

func.func @lt_scalar(%0: tensor<4x6xi64> {sample.range = [0 : i64, 8 : i64]}) -> tensor<4x6xi1> {
  %r = plan.call "aten.lt.Scalar"(%0) {self = #base.operand<0>, other = 4 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @le(%0: tensor<12x1xi64> {sample.range = [0 : i64, 8 : i64]}, %1: tensor<6xi64> {sample.range = [0 : i64, 8 : i64]}) -> tensor<12x6xi1> {
  %r = plan.call "aten.le.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<12x1xi64>, tensor<6xi64>) -> tensor<12x6xi1>
  return %r : tensor<12x6xi1>
}

func.func @le_scalar(%0: tensor<4x6xi64> {sample.range = [0 : i64, 8 : i64]}) -> tensor<4x6xi1> {
  %r = plan.call "aten.le.Scalar"(%0) {self = #base.operand<0>, other = 4 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @gt(%0: tensor<12x1xi64> {sample.range = [0 : i64, 8 : i64]}, %1: tensor<6xi64> {sample.range = [0 : i64, 8 : i64]}) -> tensor<12x6xi1> {
  %r = plan.call "aten.gt.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<12x1xi64>, tensor<6xi64>) -> tensor<12x6xi1>
  return %r : tensor<12x6xi1>
}

func.func @gt_scalar(%0: tensor<4x6xi64> {sample.range = [0 : i64, 8 : i64]}) -> tensor<4x6xi1> {
  %r = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 4 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @ge(%0: tensor<12x1xi64> {sample.range = [0 : i64, 8 : i64]}, %1: tensor<6xi64> {sample.range = [0 : i64, 8 : i64]}) -> tensor<12x6xi1> {
  %r = plan.call "aten.ge.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<12x1xi64>, tensor<6xi64>) -> tensor<12x6xi1>
  return %r : tensor<12x6xi1>
}

func.func @ge_scalar(%0: tensor<4x6xi64> {sample.range = [0 : i64, 8 : i64]}) -> tensor<4x6xi1> {
  %r = plan.call "aten.ge.Scalar"(%0) {self = #base.operand<0>, other = 4 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @logical_and(%0: tensor<4x1x6xi1>, %1: tensor<12x6xi1>) -> tensor<4x12x6xi1> {
  %r = plan.call "aten.logical_and.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x1x6xi1>, tensor<12x6xi1>) -> tensor<4x12x6xi1>
  return %r : tensor<4x12x6xi1>
}

func.func @logical_or(%0: tensor<4x1x6xi1>, %1: tensor<12x6xi1>) -> tensor<4x12x6xi1> {
  %r = plan.call "aten.logical_or.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x1x6xi1>, tensor<12x6xi1>) -> tensor<4x12x6xi1>
  return %r : tensor<4x12x6xi1>
}

func.func @logical_xor(%0: tensor<4x1x6xi1>, %1: tensor<12x6xi1>) -> tensor<4x12x6xi1> {
  %r = plan.call "aten.logical_xor.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x1x6xi1>, tensor<12x6xi1>) -> tensor<4x12x6xi1>
  return %r : tensor<4x12x6xi1>
}

func.func @bitwise_and(%0: tensor<4x1x6xi1>, %1: tensor<12x6xi1>) -> tensor<4x12x6xi1> {
  %r = plan.call "aten.bitwise_and.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x1x6xi1>, tensor<12x6xi1>) -> tensor<4x12x6xi1>
  return %r : tensor<4x12x6xi1>
}

func.func @bitwise_or(%0: tensor<4x1x6xi1>, %1: tensor<12x6xi1>) -> tensor<4x12x6xi1> {
  %r = plan.call "aten.bitwise_or.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x1x6xi1>, tensor<12x6xi1>) -> tensor<4x12x6xi1>
  return %r : tensor<4x12x6xi1>
}

func.func @bitwise_xor(%0: tensor<4x1x6xi1>, %1: tensor<12x6xi1>) -> tensor<4x12x6xi1> {
  %r = plan.call "aten.bitwise_xor.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x1x6xi1>, tensor<12x6xi1>) -> tensor<4x12x6xi1>
  return %r : tensor<4x12x6xi1>
}

func.func @and_method(%0: tensor<4x1x6xi1>, %1: tensor<12x6xi1>) -> tensor<4x12x6xi1> {
  %r = plan.call "aten.__and__.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x1x6xi1>, tensor<12x6xi1>) -> tensor<4x12x6xi1>
  return %r : tensor<4x12x6xi1>
}

func.func @or_method(%0: tensor<4x1x6xi1>, %1: tensor<12x6xi1>) -> tensor<4x12x6xi1> {
  %r = plan.call "aten.__or__.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x1x6xi1>, tensor<12x6xi1>) -> tensor<4x12x6xi1>
  return %r : tensor<4x12x6xi1>
}

func.func @and_literal(%0: tensor<12xi64> {sample.range = [0 : i64, 100 : i64]}) -> tensor<12xi64> {
  %r = plan.call "aten.__and__.Scalar"(%0) {self = #base.operand<0>, other = 3 : i64}
    : (tensor<12xi64>) -> tensor<12xi64>
  return %r : tensor<12xi64>
}

func.func @logical_not(%0: tensor<4x6xi1>) -> tensor<4x6xi1> {
  %r = plan.call "aten.logical_not.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xi1>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @bitwise_not(%0: tensor<4x6xi1>) -> tensor<4x6xi1> {
  %r = plan.call "aten.bitwise_not.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xi1>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @leaky_relu(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.leaky_relu.default"(%0) {self = #base.operand<0>, negative_slope = 0.2 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @relu6(%0: tensor<4x6xf32> {sample.range = [-8.0 : f64, 8.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.relu6.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @hardtanh(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.hardtanh.default"(%0) {self = #base.operand<0>, min_val = -0.5 : f64, max_val = 0.25 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @hardswish(%0: tensor<4x6xf32> {sample.range = [-8.0 : f64, 8.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.hardswish.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @hardsigmoid(%0: tensor<4x6xf32> {sample.range = [-8.0 : f64, 8.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.hardsigmoid.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @elu(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.elu.default"(%0) {self = #base.operand<0>, alpha = 0.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @selu(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.selu.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @celu(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.celu.default"(%0) {self = #base.operand<0>, alpha = 2.0 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @mish(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.mish.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @log_sigmoid(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.log_sigmoid.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @exp2(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.exp2.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @expm1(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.expm1.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @floor(%0: tensor<4x6xf32> {sample.range = [-8.0 : f64, 8.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.floor.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @ceil(%0: tensor<4x6xf32> {sample.range = [-8.0 : f64, 8.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.ceil.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @round(%0: tensor<4x6xf32> {sample.range = [-8.0 : f64, 8.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.round.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @trunc(%0: tensor<4x6xf32> {sample.range = [-8.0 : f64, 8.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.trunc.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @sign(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.sign.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @clamp_min(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.clamp_min.default"(%0) {self = #base.operand<0>, min = -0.25 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @clamp_max(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.clamp_max.default"(%0) {self = #base.operand<0>, max = 0.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @log2(%0: tensor<4x6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.log2.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @where_scalars(%0: tensor<4x6xi1>) -> tensor<4x6xf32> {
  %r = plan.call "aten.where.Scalar"(%0) {condition = #base.operand<0>, other = -1.000000e+00 : f64, self = 2.000000e+00 : f64}
    : (tensor<4x6xi1>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @isfinite(%0: tensor<4x6xf32>) -> tensor<4x6xi1> {
  %r = plan.call "aten.isfinite.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @nan_to_num(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.nan_to_num.default"(%0) {self = #base.operand<0>, nan = 0.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @sgn(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.sgn.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @frac(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.frac.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @deg2rad(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.deg2rad.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @rad2deg(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.rad2deg.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @tan(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.tan.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @sinh(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.sinh.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @cosh(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.cosh.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @asin(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.asin.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @atan(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.atan.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @asinh(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.asinh.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @erfc(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.erfc.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @sinc(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.sinc.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @signbit(%0: tensor<4x6xf32>) -> tensor<4x6xi1> {
  %r = plan.call "aten.signbit.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @acos(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.acos.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @acosh(%0: tensor<4x6xf32> {sample.range = [1.1 : f64, 3.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.acosh.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @atanh(%0: tensor<4x6xf32> {sample.range = [-0.9 : f64, 0.9 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.atanh.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @erfinv(%0: tensor<4x6xf32> {sample.range = [-0.9 : f64, 0.9 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.erfinv.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @log10(%0: tensor<4x6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.log10.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @lgamma(%0: tensor<4x6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.lgamma.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @digamma(%0: tensor<4x6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.digamma.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @logit(%0: tensor<4x6xf32> {sample.range = [0.1 : f64, 0.9 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.logit.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @logit_clamped(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.logit.default"(%0) {self = #base.operand<0>, eps = 0.1 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @floor_divide_scalar(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.floor_divide.Scalar"(%0) {self = #base.operand<0>, other = 0.3 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @remainder_of_number(%0: tensor<4x6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.remainder.Scalar_Tensor"(%0) {self = 2.5 : f64, other = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @fmod(%0: tensor<4x6xf32>, %1: tensor<6xf32> {sample.range = [0.2 : f64, 0.5 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.fmod.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @fmod_scalar(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.fmod.Scalar"(%0) {self = #base.operand<0>, other = 0.3 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @addcmul(%0: tensor<2x6x12xf32>, %1: tensor<2x6x12xf32>, %2: tensor<2x6x12xf32>) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.addcmul.default"(%0, %1, %2) {self = #base.operand<0>, tensor1 = #base.operand<1>, tensor2 = #base.operand<2>, value = 0.5 : f64}
    : (tensor<2x6x12xf32>, tensor<2x6x12xf32>, tensor<2x6x12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @addcmul_broadcast(%0: tensor<6x1xf32>, %1: tensor<4x1x12xf32>, %2: tensor<12xf32>) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.addcmul.default"(%0, %1, %2) {self = #base.operand<0>, tensor1 = #base.operand<1>, tensor2 = #base.operand<2>}
    : (tensor<6x1xf32>, tensor<4x1x12xf32>, tensor<12xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @addcdiv(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>, %2: tensor<4x6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.addcdiv.default"(%0, %1, %2) {self = #base.operand<0>, tensor1 = #base.operand<1>, tensor2 = #base.operand<2>, value = -2 : i64}
    : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @addcdiv_broadcast(%0: tensor<4x6xf32>, %1: tensor<6xf32>, %2: tensor<4x1xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.addcdiv.default"(%0, %1, %2) {self = #base.operand<0>, tensor1 = #base.operand<1>, tensor2 = #base.operand<2>}
    : (tensor<4x6xf32>, tensor<6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @lerp_scalar(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.lerp.Scalar"(%0, %1) {self = #base.operand<0>, end = #base.operand<1>, weight = 0.3 : f64}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @lerp_scalar_broadcast(%0: tensor<4x1xf32>, %1: tensor<6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.lerp.Scalar"(%0, %1) {self = #base.operand<0>, end = #base.operand<1>, weight = 0.7 : f64}
    : (tensor<4x1xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @lerp(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>, %2: tensor<6xf32> {sample.range = [0.1 : f64, 0.9 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.lerp.Tensor"(%0, %1, %2) {self = #base.operand<0>, end = #base.operand<1>, weight = #base.operand<2>}
    : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @atan2(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.atan2.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @atan2_broadcast(%0: tensor<4x6x12xf32>, %1: tensor<6x1xf32>) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.atan2.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6x12xf32>, tensor<6x1xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @hypot(%0: tensor<4x6xf32>, %1: tensor<6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.hypot.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @logaddexp(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.logaddexp.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @logaddexp2(%0: tensor<4x6xf32>, %1: tensor<4x1xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.logaddexp2.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @xlogy(%0: tensor<4x6xf32>, %1: tensor<4x6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.xlogy.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @xlogy_of_number(%0: tensor<4x6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.xlogy.Scalar_Self"(%0) {self = 2.0 : f64, other = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @xlogy_by_number(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.xlogy.Scalar_Other"(%0) {self = #base.operand<0>, other = 2.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @threshold(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.threshold.default"(%0) {self = #base.operand<0>, threshold = 0.1 : f64, value = -3.0 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @softshrink(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.softshrink.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @hardshrink(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.hardshrink.default"(%0) {self = #base.operand<0>, lambd = 0.3 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @prelu_kernel(%0: tensor<4x6x2xf32>, %1: tensor<1x6x1xf32>) -> tensor<4x6x2xf32> {
  %r = plan.call "aten._prelu_kernel.default"(%0, %1) {self = #base.operand<0>, weight = #base.operand<1>}
    : (tensor<4x6x2xf32>, tensor<1x6x1xf32>) -> tensor<4x6x2xf32>
  return %r : tensor<4x6x2xf32>
}

func.func @prelu(%0: tensor<4x6x2xf32>, %1: tensor<6xf32>) -> tensor<4x6x2xf32> {
  %r = plan.call "aten.prelu.default"(%0, %1) {self = #base.operand<0>, weight = #base.operand<1>}
    : (tensor<4x6x2xf32>, tensor<6xf32>) -> tensor<4x6x2xf32>
  return %r : tensor<4x6x2xf32>
}

func.func @prelu_one_slope(%0: tensor<4x6xf32>, %1: tensor<1xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.prelu.default"(%0, %1) {self = #base.operand<0>, weight = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<1xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @prelu_matrix(%0: tensor<4x6xf32>, %1: tensor<6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.prelu.default"(%0, %1) {self = #base.operand<0>, weight = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @prelu_row(%0: tensor<6xf32>, %1: tensor<1xf32>) -> tensor<6xf32> {
  %r = plan.call "aten.prelu.default"(%0, %1) {self = #base.operand<0>, weight = #base.operand<1>}
    : (tensor<6xf32>, tensor<1xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @clamp_min_tensor(%0: tensor<4x6xf32>, %1: tensor<6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.clamp_min.Tensor"(%0, %1) {self = #base.operand<0>, min = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @clamp_max_tensor(%0: tensor<4x6xf32>, %1: tensor<4x1xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.clamp_max.Tensor"(%0, %1) {self = #base.operand<0>, max = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @clamp_tensors(%0: tensor<4x6x12xf32>, %1: tensor<6x1xf32> {sample.range = [-0.5 : f64, 0.0 : f64]}, %2: tensor<12xf32> {sample.range = [0.0 : f64, 0.5 : f64]}) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.clamp.Tensor"(%0, %1, %2) {self = #base.operand<0>, min = #base.operand<1>, max = #base.operand<2>}
    : (tensor<4x6x12xf32>, tensor<6x1xf32>, tensor<12xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @clamp_upper(%0: tensor<4x6xf32>, %1: tensor<6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.clamp.Tensor"(%0, %1) {self = #base.operand<0>, max = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @fmax(%0: tensor<4x6xf32>, %1: tensor<4x1xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.fmax.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @fmin(%0: tensor<4x6xf32>, %1: tensor<6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.fmin.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @copysign(%0: tensor<4x6xf32>, %1: tensor<6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.copysign.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @copysign_scalar(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.copysign.Scalar"(%0) {self = #base.operand<0>, other = -2.0 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @heaviside(%0: tensor<4x6xf32>, %1: tensor<6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.heaviside.default"(%0, %1) {self = #base.operand<0>, values = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @operator_or_scalar(%0: tensor<4x6xi64> {sample.range = [0 : i64, 16 : i64]}) -> tensor<4x6xi64> {
  %r = plan.call "aten.__or__.Scalar"(%0) {self = #base.operand<0>, other = 5 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @operator_xor_scalar(%0: tensor<4x6xi64> {sample.range = [0 : i64, 16 : i64]}) -> tensor<4x6xi64> {
  %r = plan.call "aten.__xor__.Scalar"(%0) {self = #base.operand<0>, other = 5 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @operator_xor(%0: tensor<4x6xi64> {sample.range = [0 : i64, 16 : i64]}, %1: tensor<6xi64> {sample.range = [0 : i64, 16 : i64]}) -> tensor<4x6xi64> {
  %r = plan.call "aten.__xor__.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xi64>, tensor<6xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @bitwise_and_scalar(%0: tensor<4x6xi64> {sample.range = [0 : i64, 16 : i64]}) -> tensor<4x6xi64> {
  %r = plan.call "aten.bitwise_and.Scalar"(%0) {self = #base.operand<0>, other = 5 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @bitwise_or_scalar(%0: tensor<4x6xi64> {sample.range = [0 : i64, 16 : i64]}) -> tensor<4x6xi64> {
  %r = plan.call "aten.bitwise_or.Scalar"(%0) {self = #base.operand<0>, other = 5 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @bitwise_xor_scalar(%0: tensor<4x6xi64> {sample.range = [0 : i64, 16 : i64]}) -> tensor<4x6xi64> {
  %r = plan.call "aten.bitwise_xor.Scalar"(%0) {self = #base.operand<0>, other = 5 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @shift_left(%0: tensor<4x6xi64> {sample.range = [0 : i64, 16 : i64]}, %1: tensor<6xi64> {sample.range = [0 : i64, 4 : i64]}) -> tensor<4x6xi64> {
  %r = plan.call "aten.bitwise_left_shift.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xi64>, tensor<6xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @shift_left_scalar(%0: tensor<4x6xi64> {sample.range = [0 : i64, 16 : i64]}) -> tensor<4x6xi64> {
  %r = plan.call "aten.bitwise_left_shift.Tensor_Scalar"(%0) {self = #base.operand<0>, other = 2 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @operator_shift_left(%0: tensor<4x6xi64> {sample.range = [0 : i64, 16 : i64]}, %1: tensor<4x1xi64> {sample.range = [0 : i64, 4 : i64]}) -> tensor<4x6xi64> {
  %r = plan.call "aten.__lshift__.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xi64>, tensor<4x1xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @operator_shift_left_scalar(%0: tensor<4x6xi64> {sample.range = [0 : i64, 16 : i64]}) -> tensor<4x6xi64> {
  %r = plan.call "aten.__lshift__.Scalar"(%0) {self = #base.operand<0>, other = 1 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @shift_right(%0: tensor<4x6xi64> {sample.range = [0 : i64, 16 : i64]}, %1: tensor<6xi64> {sample.range = [0 : i64, 4 : i64]}) -> tensor<4x6xi64> {
  %r = plan.call "aten.bitwise_right_shift.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xi64>, tensor<6xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @shift_right_scalar(%0: tensor<4x6xi64> {sample.range = [0 : i64, 16 : i64]}) -> tensor<4x6xi64> {
  %r = plan.call "aten.bitwise_right_shift.Tensor_Scalar"(%0) {self = #base.operand<0>, other = 2 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @operator_shift_right(%0: tensor<4x6xi64> {sample.range = [0 : i64, 16 : i64]}, %1: tensor<4x1xi64> {sample.range = [0 : i64, 4 : i64]}) -> tensor<4x6xi64> {
  %r = plan.call "aten.__rshift__.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xi64>, tensor<4x1xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @operator_shift_right_scalar(%0: tensor<4x6xi64> {sample.range = [0 : i64, 16 : i64]}) -> tensor<4x6xi64> {
  %r = plan.call "aten.__rshift__.Scalar"(%0) {self = #base.operand<0>, other = 1 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @gcd(%0: tensor<4x6xi64>, %1: tensor<6xi64>) -> tensor<4x6xi64> {
  %r = plan.call "aten.gcd.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xi64>, tensor<6xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @lcm(%0: tensor<4x6xi64>, %1: tensor<4x1xi64>) -> tensor<4x6xi64> {
  %r = plan.call "aten.lcm.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xi64>, tensor<4x1xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @isin(%0: tensor<4x6xi64>, %1: tensor<3xi64>) -> tensor<4x6xi1> {
  %r = plan.call "aten.isin.Tensor_Tensor"(%0, %1) {elements = #base.operand<0>, test_elements = #base.operand<1>}
    : (tensor<4x6xi64>, tensor<3xi64>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @isin_aligned(%0: tensor<4x6xi64>, %1: tensor<4x6xi64>) -> tensor<4x6xi1> {
  %r = plan.call "aten.isin.Tensor_Tensor"(%0, %1) {elements = #base.operand<0>, test_elements = #base.operand<1>, invert = true}
    : (tensor<4x6xi64>, tensor<4x6xi64>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @isin_scalar(%0: tensor<4x6xi64>) -> tensor<4x6xi1> {
  %r = plan.call "aten.isin.Tensor_Scalar"(%0) {elements = #base.operand<0>, test_element = 3 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @round_decimals(%0: tensor<2x6x12xf32>) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.round.decimals"(%0) {self = #base.operand<0>, decimals = 1 : i64}
    : (tensor<2x6x12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @isclose(%0: tensor<4x6x12xf32>, %1: tensor<6x1xf32>) -> tensor<4x6x12xi1> {
  %r = plan.call "aten.isclose.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>, rtol = 0.5 : f64, atol = 0.1 : f64}
    : (tensor<4x6x12xf32>, tensor<6x1xf32>) -> tensor<4x6x12xi1>
  return %r : tensor<4x6x12xi1>
}
