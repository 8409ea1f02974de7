// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of dtype changes, copies and identities: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @to_wider(%0: tensor<4x6xbf16>) -> tensor<4x6xf32> {
  %r = plan.call "aten.to.dtype"(%0) {self = #base.operand<0>, dtype = f32}
    : (tensor<4x6xbf16>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @to_narrower(%0: tensor<4x6xf32>) -> tensor<4x6xbf16> {
  %r = plan.call "aten.to.dtype"(%0) {self = #base.operand<0>, dtype = bf16}
    : (tensor<4x6xf32>) -> tensor<4x6xbf16>
  return %r : tensor<4x6xbf16>
}

func.func @to_same(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.to.dtype"(%0) {self = #base.operand<0>, dtype = f32}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @to_layout(%0: tensor<4x6xi64> {sample.range = [0 : i64, 100 : i64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.to.dtype_layout"(%0) {self = #base.operand<0>, dtype = f32}
    : (tensor<4x6xi64>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @to_device(%0: tensor<4x6xf32>) -> tensor<4x6xf64> {
  %r = plan.call "aten.to.device"(%0) {self = #base.operand<0>, device = "cpu", dtype = f64}
    : (tensor<4x6xf32>) -> tensor<4x6xf64>
  return %r : tensor<4x6xf64>
}

func.func @to_other(%0: tensor<4x6xf32>, %1: tensor<12xf64>) -> tensor<4x6xf64> {
  %r = plan.call "aten.to.other"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<12xf64>) -> tensor<4x6xf64>
  return %r : tensor<4x6xf64>
}

func.func @type_as(%0: tensor<4x6xf32>, %1: tensor<12xbf16>) -> tensor<4x6xbf16> {
  %r = plan.call "aten.type_as.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<12xbf16>) -> tensor<4x6xbf16>
  return %r : tensor<4x6xbf16>
}

func.func @to_copy(%0: tensor<4x6xi1>) -> tensor<4x6xi64> {
  %r = plan.call "aten._to_copy.default"(%0) {self = #base.operand<0>, dtype = i64}
    : (tensor<4x6xi1>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @transfer_to_host(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "meshplan.to_host"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @transfer_to_device(%0: tensor<4x1x6xbf16>) -> tensor<4x1x6xbf16> {
  %r = plan.call "meshplan.to_device"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xbf16>) -> tensor<4x1x6xbf16>
  return %r : tensor<4x1x6xbf16>
}

func.func @clone(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.clone.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @contiguous(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.contiguous.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @lift_fresh_copy(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.lift_fresh_copy.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @alias(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.alias.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @detach(%0: tensor<4x1x6xf32>) -> tensor<4x1x6xf32> {
  %r = plan.call "aten.detach.default"(%0) {self = #base.operand<0>}
    : (tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
  return %r : tensor<4x1x6xf32>
}

func.func @dropout_eval(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.dropout.default"(%0) {input = #base.operand<0>, p = 0.1 : f64, train = false}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @dropout_of_nothing(%0: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.dropout.default"(%0) {input = #base.operand<0>, p = 0.0 : f64, train = true}
    : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @copy(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.copy.default"(%0, %1) {self = #base.operand<0>, src = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @copy_converted(%0: tensor<4x6xf32>, %1: tensor<6xf16>) -> tensor<4x6xf32> {
  %r = plan.call "aten.copy.default"(%0, %1) {self = #base.operand<0>, src = #base.operand<1>}
    : (tensor<4x6xf32>, tensor<6xf16>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}
