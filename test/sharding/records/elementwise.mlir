// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of elementwise operators: one call in a function each. The differential test runs each under
// every sharding that its record allows. plan.range = [low, high) bounds the elements of an input.

func.func @add(%0: tensor<2x6x12xf32>, %1: tensor<2x6x12xf32> {plan.range = [0.5 : f64, 2.0 : f64]}) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.add.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<2x6x12xf32>, tensor<2x6x12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @add_broadcast(%0: tensor<4x6x12xf32>, %1: tensor<6x1xf32> {plan.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.add.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x6x12xf32>, tensor<6x1xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @add_scalar(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.add.Scalar"(%0) {self = #plan.operand<0>, other = 1.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @add_literal(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.add.Tensor"(%0) {self = #plan.operand<0>, other = 2.0 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @sub(%0: tensor<2x6x12xf32>, %1: tensor<2x6x12xf32> {plan.range = [0.5 : f64, 2.0 : f64]}) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.sub.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<2x6x12xf32>, tensor<2x6x12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @sub_broadcast(%0: tensor<4x6x12xf32>, %1: tensor<6x1xf32> {plan.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.sub.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x6x12xf32>, tensor<6x1xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @sub_scalar(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.sub.Scalar"(%0) {self = #plan.operand<0>, other = 1.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @sub_literal(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.sub.Tensor"(%0) {self = #plan.operand<0>, other = 2.0 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @rsub(%0: tensor<2x6x12xf32>, %1: tensor<2x6x12xf32> {plan.range = [0.5 : f64, 2.0 : f64]}) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.rsub.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<2x6x12xf32>, tensor<2x6x12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @rsub_broadcast(%0: tensor<4x6x12xf32>, %1: tensor<6x1xf32> {plan.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.rsub.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x6x12xf32>, tensor<6x1xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @rsub_scalar(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.rsub.Scalar"(%0) {self = #plan.operand<0>, other = 1.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @mul(%0: tensor<2x6x12xf32>, %1: tensor<2x6x12xf32> {plan.range = [0.5 : f64, 2.0 : f64]}) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.mul.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<2x6x12xf32>, tensor<2x6x12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @mul_broadcast(%0: tensor<4x6x12xf32>, %1: tensor<6x1xf32> {plan.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.mul.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x6x12xf32>, tensor<6x1xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @mul_scalar(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.mul.Scalar"(%0) {self = #plan.operand<0>, other = 1.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @mul_literal(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.mul.Tensor"(%0) {self = #plan.operand<0>, other = 2.0 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @div(%0: tensor<2x6x12xf32>, %1: tensor<2x6x12xf32> {plan.range = [0.5 : f64, 2.0 : f64]}) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.div.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<2x6x12xf32>, tensor<2x6x12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @div_broadcast(%0: tensor<4x6x12xf32>, %1: tensor<6x1xf32> {plan.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.div.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x6x12xf32>, tensor<6x1xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @div_scalar(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.div.Scalar"(%0) {self = #plan.operand<0>, other = 1.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @div_literal(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.div.Tensor"(%0) {self = #plan.operand<0>, other = 2.0 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @add_alpha(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.add.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>, alpha = 2.0 : f64}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @add_outer(%0: tensor<4x1xf32>, %1: tensor<1x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.add.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x1xf32>, tensor<1x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @add_integers(%0: tensor<12xi64> {plan.range = [0 : i64, 100 : i64]}, %1: tensor<6x1xi64> {plan.range = [0 : i64, 100 : i64]}) -> tensor<6x12xi64> {
  %r = plan.call "aten.add.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<12xi64>, tensor<6x1xi64>) -> tensor<6x12xi64>
  return %r : tensor<6x12xi64>
}

func.func @add_promoted(%0: tensor<4x6xbf16>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.add.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x6xbf16>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @add_zero_rank(%0: tensor<4x6xf32>, %1: tensor<f32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.add.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @mul_mask(%0: tensor<4x6xf32>, %1: tensor<4x1xi1>) -> tensor<4x6xf32> {
  %r = plan.call "aten.mul.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x6xf32>, tensor<4x1xi1>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @mul_itself(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.mul.Tensor"(%0) {self = #plan.operand<0>, other = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @div_floor(%0: tensor<4x6xf32>, %1: tensor<4x6xf32> {plan.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.div.Tensor_mode"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>, rounding_mode = "floor"}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @div_true_mode(%0: tensor<4x6xf32>, %1: tensor<4x6xf32> {plan.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.div.Tensor_mode"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>, rounding_mode = unit}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @div_scalar_trunc(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.div.Scalar_mode"(%0) {self = #plan.operand<0>, other = 1.5 : f64, rounding_mode = "trunc"}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @floor_divide(%0: tensor<12xi64> {plan.range = [0 : i64, 100 : i64]}, %1: tensor<12xi64> {plan.range = [1 : i64, 9 : i64]}) -> tensor<12xi64> {
  %r = plan.call "aten.floor_divide.default"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  return %r : tensor<12xi64>
}

func.func @remainder(%0: tensor<12xi64> {plan.range = [0 : i64, 100 : i64]}, %1: tensor<12xi64> {plan.range = [1 : i64, 9 : i64]}) -> tensor<12xi64> {
  %r = plan.call "aten.remainder.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  return %r : tensor<12xi64>
}

func.func @remainder_scalar(%0: tensor<12xi64> {plan.range = [0 : i64, 100 : i64]}) -> tensor<12xi64> {
  %r = plan.call "aten.remainder.Scalar"(%0) {self = #plan.operand<0>, other = 7 : i64}
    : (tensor<12xi64>) -> tensor<12xi64>
  return %r : tensor<12xi64>
}

func.func @neg(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.neg.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @abs(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.abs.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @square(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.square.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @exp(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.exp.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @erf(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.erf.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @cos(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.cos.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @sin(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.sin.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @tanh(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.tanh.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @sigmoid(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.sigmoid.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @silu(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.silu.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @gelu(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.gelu.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @relu(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.relu.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @softplus(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.softplus.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @isnan(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xi1> {
  %r = plan.call "aten.isnan.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xi1>
  return %r : tensor<4x1x6xi1>
}

func.func @isinf(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xi1> {
  %r = plan.call "aten.isinf.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xi1>
  return %r : tensor<4x1x6xi1>
}

func.func @gelu_tanh(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.gelu.default"(%0) {self = #plan.operand<0>, approximate = "tanh"}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @sqrt(%0: tensor<4x6xf32> {plan.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.sqrt.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @rsqrt(%0: tensor<4x6xf32> {plan.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.rsqrt.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @reciprocal(%0: tensor<4x6xf32> {plan.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.reciprocal.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @log(%0: tensor<4x6xf32> {plan.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.log.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @log1p(%0: tensor<4x6xf32> {plan.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.log1p.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @pow_literal(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.pow.Tensor_Scalar"(%0) {self = #plan.operand<0>, exponent = 2 : i64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @pow(%0: tensor<4x6xf32> {plan.range = [0.5 : f64, 2.0 : f64]}, %1: tensor<6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.pow.Tensor_Tensor"(%0, %1) {self = #plan.operand<0>, exponent = #plan.operand<1>}
    : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @pow_of_literal(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.pow.Scalar"(%0) {self = 10000.0 : f64, exponent = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @clamp(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.clamp.default"(%0) {self = #plan.operand<0>, min = -0.5 : f64, max = 0.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @maximum(%0: tensor<4x6xf32>, %1: tensor<6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.maximum.default"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @minimum(%0: tensor<4x6xf32>, %1: tensor<6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.minimum.default"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @max_other(%0: tensor<4x6xf32>, %1: tensor<4x1xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.max.other"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @min_other(%0: tensor<4x6xf32>, %1: tensor<4x1xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.min.other"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @where(%0: tensor<4x1x12xi1>, %1: tensor<6x12xf32>, %2: tensor<4x6x1xf32>) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.where.self"(%0, %1, %2) {condition = #plan.operand<0>, self = #plan.operand<1>, other = #plan.operand<2>}
    : (tensor<4x1x12xi1>, tensor<6x12xf32>, tensor<4x6x1xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @where_zero(%0: tensor<4x6xi1>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.where.ScalarOther"(%0, %1) {condition = #plan.operand<0>, self = #plan.operand<1>, other = 0.0 : f64}
    : (tensor<4x6xi1>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @where_literal(%0: tensor<4x6xi1>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.where.ScalarOther"(%0, %1) {condition = #plan.operand<0>, self = #plan.operand<1>, other = -1.0 : f64}
    : (tensor<4x6xi1>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @where_literal_self(%0: tensor<4x6xi1>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.where.ScalarSelf"(%0, %1) {condition = #plan.operand<0>, self = -1.0 : f64, other = #plan.operand<1>}
    : (tensor<4x6xi1>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @masked_fill_zero(%0: tensor<4x6xf32>, %1: tensor<6xi1>) -> tensor<4x6xf32> {
  %r = plan.call "aten.masked_fill.Scalar"(%0, %1) {self = #plan.operand<0>, mask = #plan.operand<1>, value = 0 : i64}
    : (tensor<4x6xf32>, tensor<6xi1>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @masked_fill_literal(%0: tensor<4x6xf32>, %1: tensor<4x1xi1>) -> tensor<4x6xf32> {
  %r = plan.call "aten.masked_fill.Scalar"(%0, %1) {self = #plan.operand<0>, mask = #plan.operand<1>, value = -1.0e+30 : f64}
    : (tensor<4x6xf32>, tensor<4x1xi1>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @masked_fill(%0: tensor<4x6xf32>, %1: tensor<4x6xi1>, %2: tensor<f32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.masked_fill.Tensor"(%0, %1, %2) {self = #plan.operand<0>, mask = #plan.operand<1>, value = #plan.operand<2>}
    : (tensor<4x6xf32>, tensor<4x6xi1>, tensor<f32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @eq(%0: tensor<12x1xi64> {plan.range = [0 : i64, 8 : i64]}, %1: tensor<6xi64> {plan.range = [0 : i64, 8 : i64]}) -> tensor<12x6xi1> {
  %r = plan.call "aten.eq.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<12x1xi64>, tensor<6xi64>) -> tensor<12x6xi1>
  return %r : tensor<12x6xi1>
}

func.func @eq_scalar(%0: tensor<4x6xi64> {plan.range = [0 : i64, 8 : i64]}) -> tensor<4x6xi1> {
  %r = plan.call "aten.eq.Scalar"(%0) {self = #plan.operand<0>, other = 4 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @ne(%0: tensor<12x1xi64> {plan.range = [0 : i64, 8 : i64]}, %1: tensor<6xi64> {plan.range = [0 : i64, 8 : i64]}) -> tensor<12x6xi1> {
  %r = plan.call "aten.ne.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<12x1xi64>, tensor<6xi64>) -> tensor<12x6xi1>
  return %r : tensor<12x6xi1>
}

func.func @ne_scalar(%0: tensor<4x6xi64> {plan.range = [0 : i64, 8 : i64]}) -> tensor<4x6xi1> {
  %r = plan.call "aten.ne.Scalar"(%0) {self = #plan.operand<0>, other = 4 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @lt(%0: tensor<12x1xi64> {plan.range = [0 : i64, 8 : i64]}, %1: tensor<6xi64> {plan.range = [0 : i64, 8 : i64]}) -> tensor<12x6xi1> {
  %r = plan.call "aten.lt.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<12x1xi64>, tensor<6xi64>) -> tensor<12x6xi1>
  return %r : tensor<12x6xi1>
}

func.func @lt_scalar(%0: tensor<4x6xi64> {plan.range = [0 : i64, 8 : i64]}) -> tensor<4x6xi1> {
  %r = plan.call "aten.lt.Scalar"(%0) {self = #plan.operand<0>, other = 4 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @le(%0: tensor<12x1xi64> {plan.range = [0 : i64, 8 : i64]}, %1: tensor<6xi64> {plan.range = [0 : i64, 8 : i64]}) -> tensor<12x6xi1> {
  %r = plan.call "aten.le.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<12x1xi64>, tensor<6xi64>) -> tensor<12x6xi1>
  return %r : tensor<12x6xi1>
}

func.func @le_scalar(%0: tensor<4x6xi64> {plan.range = [0 : i64, 8 : i64]}) -> tensor<4x6xi1> {
  %r = plan.call "aten.le.Scalar"(%0) {self = #plan.operand<0>, other = 4 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @gt(%0: tensor<12x1xi64> {plan.range = [0 : i64, 8 : i64]}, %1: tensor<6xi64> {plan.range = [0 : i64, 8 : i64]}) -> tensor<12x6xi1> {
  %r = plan.call "aten.gt.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<12x1xi64>, tensor<6xi64>) -> tensor<12x6xi1>
  return %r : tensor<12x6xi1>
}

func.func @gt_scalar(%0: tensor<4x6xi64> {plan.range = [0 : i64, 8 : i64]}) -> tensor<4x6xi1> {
  %r = plan.call "aten.gt.Scalar"(%0) {self = #plan.operand<0>, other = 4 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @ge(%0: tensor<12x1xi64> {plan.range = [0 : i64, 8 : i64]}, %1: tensor<6xi64> {plan.range = [0 : i64, 8 : i64]}) -> tensor<12x6xi1> {
  %r = plan.call "aten.ge.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<12x1xi64>, tensor<6xi64>) -> tensor<12x6xi1>
  return %r : tensor<12x6xi1>
}

func.func @ge_scalar(%0: tensor<4x6xi64> {plan.range = [0 : i64, 8 : i64]}) -> tensor<4x6xi1> {
  %r = plan.call "aten.ge.Scalar"(%0) {self = #plan.operand<0>, other = 4 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @logical_and(%0: tensor<4x1x6xi1>, %1: tensor<12x6xi1>) -> tensor<4x12x6xi1> {
  %r = plan.call "aten.logical_and.default"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x1x6xi1>, tensor<12x6xi1>) -> tensor<4x12x6xi1>
  return %r : tensor<4x12x6xi1>
}

func.func @logical_or(%0: tensor<4x1x6xi1>, %1: tensor<12x6xi1>) -> tensor<4x12x6xi1> {
  %r = plan.call "aten.logical_or.default"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x1x6xi1>, tensor<12x6xi1>) -> tensor<4x12x6xi1>
  return %r : tensor<4x12x6xi1>
}

func.func @logical_xor(%0: tensor<4x1x6xi1>, %1: tensor<12x6xi1>) -> tensor<4x12x6xi1> {
  %r = plan.call "aten.logical_xor.default"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x1x6xi1>, tensor<12x6xi1>) -> tensor<4x12x6xi1>
  return %r : tensor<4x12x6xi1>
}

func.func @bitwise_and(%0: tensor<4x1x6xi1>, %1: tensor<12x6xi1>) -> tensor<4x12x6xi1> {
  %r = plan.call "aten.bitwise_and.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x1x6xi1>, tensor<12x6xi1>) -> tensor<4x12x6xi1>
  return %r : tensor<4x12x6xi1>
}

func.func @bitwise_or(%0: tensor<4x1x6xi1>, %1: tensor<12x6xi1>) -> tensor<4x12x6xi1> {
  %r = plan.call "aten.bitwise_or.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x1x6xi1>, tensor<12x6xi1>) -> tensor<4x12x6xi1>
  return %r : tensor<4x12x6xi1>
}

func.func @bitwise_xor(%0: tensor<4x1x6xi1>, %1: tensor<12x6xi1>) -> tensor<4x12x6xi1> {
  %r = plan.call "aten.bitwise_xor.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x1x6xi1>, tensor<12x6xi1>) -> tensor<4x12x6xi1>
  return %r : tensor<4x12x6xi1>
}

func.func @and_method(%0: tensor<4x1x6xi1>, %1: tensor<12x6xi1>) -> tensor<4x12x6xi1> {
  %r = plan.call "aten.__and__.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x1x6xi1>, tensor<12x6xi1>) -> tensor<4x12x6xi1>
  return %r : tensor<4x12x6xi1>
}

func.func @or_method(%0: tensor<4x1x6xi1>, %1: tensor<12x6xi1>) -> tensor<4x12x6xi1> {
  %r = plan.call "aten.__or__.Tensor"(%0, %1) {self = #plan.operand<0>, other = #plan.operand<1>}
    : (tensor<4x1x6xi1>, tensor<12x6xi1>) -> tensor<4x12x6xi1>
  return %r : tensor<4x12x6xi1>
}

func.func @and_literal(%0: tensor<12xi64> {plan.range = [0 : i64, 100 : i64]}) -> tensor<12xi64> {
  %r = plan.call "aten.__and__.Scalar"(%0) {self = #plan.operand<0>, other = 3 : i64}
    : (tensor<12xi64>) -> tensor<12xi64>
  return %r : tensor<12xi64>
}

func.func @logical_not(%0: tensor<4x6xi1>) -> tensor<4x6xi1> {
  %r = plan.call "aten.logical_not.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xi1>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @bitwise_not(%0: tensor<4x6xi1>) -> tensor<4x6xi1> {
  %r = plan.call "aten.bitwise_not.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xi1>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @leaky_relu(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.leaky_relu.default"(%0) {self = #plan.operand<0>, negative_slope = 0.2 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @relu6(%0: tensor<4x6xf32> {plan.range = [-8.0 : f64, 8.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.relu6.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @hardtanh(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.hardtanh.default"(%0) {self = #plan.operand<0>, min_val = -0.5 : f64, max_val = 0.25 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @hardswish(%0: tensor<4x6xf32> {plan.range = [-8.0 : f64, 8.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.hardswish.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @hardsigmoid(%0: tensor<4x6xf32> {plan.range = [-8.0 : f64, 8.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.hardsigmoid.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @elu(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.elu.default"(%0) {self = #plan.operand<0>, alpha = 0.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @selu(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.selu.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @celu(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.celu.default"(%0) {self = #plan.operand<0>, alpha = 2.0 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @mish(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.mish.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @log_sigmoid(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.log_sigmoid.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @exp2(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.exp2.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @expm1(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.expm1.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @floor(%0: tensor<4x6xf32> {plan.range = [-8.0 : f64, 8.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.floor.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @ceil(%0: tensor<4x6xf32> {plan.range = [-8.0 : f64, 8.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.ceil.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @round(%0: tensor<4x6xf32> {plan.range = [-8.0 : f64, 8.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.round.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @trunc(%0: tensor<4x6xf32> {plan.range = [-8.0 : f64, 8.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.trunc.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @sign(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.sign.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @clamp_min(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.clamp_min.default"(%0) {self = #plan.operand<0>, min = -0.25 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @clamp_max(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.clamp_max.default"(%0) {self = #plan.operand<0>, max = 0.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @log2(%0: tensor<4x6xf32> {plan.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.log2.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @where_scalars(%0: tensor<4x6xi1>) -> tensor<4x6xf32> {
  %r = plan.call "aten.where.Scalar"(%0) {condition = #plan.operand<0>, other = -1.000000e+00 : f64, self = 2.000000e+00 : f64}
    : (tensor<4x6xi1>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @isfinite(%0: tensor<4x6xf32>) -> tensor<4x6xi1> {
  %r = plan.call "aten.isfinite.default"(%0) {self = #plan.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xi1>
  return %r : tensor<4x6xi1>
}

func.func @nan_to_num(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.nan_to_num.default"(%0) {self = #plan.operand<0>, nan = 0.5 : f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}
