// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of softmax and norms: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @softmax(%0: tensor<2x6x12xf32>) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.softmax.int"(%0) {self = #base.operand<0>, dim = -1 : i64}
    : (tensor<2x6x12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @native_softmax(%0: tensor<4x6x2xf32>) -> tensor<4x6x2xf32> {
  %r = plan.call "aten._softmax.default"(%0) {self = #base.operand<0>, dim = 1 : i64, half_to_float = false}
    : (tensor<4x6x2xf32>) -> tensor<4x6x2xf32>
  return %r : tensor<4x6x2xf32>
}

func.func @log_softmax(%0: tensor<2x6x12xf32>) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.log_softmax.int"(%0) {self = #base.operand<0>, dim = -1 : i64}
    : (tensor<2x6x12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @native_log_softmax(%0: tensor<4x6x2xf32>) -> tensor<4x6x2xf32> {
  %r = plan.call "aten._log_softmax.default"(%0) {self = #base.operand<0>, dim = 1 : i64, half_to_float = false}
    : (tensor<4x6x2xf32>) -> tensor<4x6x2xf32>
  return %r : tensor<4x6x2xf32>
}

func.func @softmax_widened(%0: tensor<4x6xbf16>) -> tensor<4x6xf32> {
  %r = plan.call "aten.softmax.int"(%0) {self = #base.operand<0>, dim = 1 : i64, dtype = f32}
    : (tensor<4x6xbf16>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @layer_norm(%0: tensor<2x6x12xf32>, %1: tensor<12xf32>, %2: tensor<12xf32>) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.layer_norm.default"(%0, %1, %2) {input = #base.operand<0>, normalized_shape = [12 : i64], weight = #base.operand<1>, bias = #base.operand<2>, eps = 1.0e-05 : f64}
    : (tensor<2x6x12xf32>, tensor<12xf32>, tensor<12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @layer_norm_plain(%0: tensor<4x6x12xf32>) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.layer_norm.default"(%0) {input = #base.operand<0>, normalized_shape = [6 : i64, 12 : i64]}
    : (tensor<4x6x12xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @native_layer_norm(%0: tensor<2x6x12xf32>, %1: tensor<12xf32>, %2: tensor<12xf32>) -> (tensor<2x6x12xf32>, tensor<2x6x1xf32>, tensor<2x6x1xf32>) {
  %r:3 = plan.call "aten.native_layer_norm.default"(%0, %1, %2) {input = #base.operand<0>, normalized_shape = [12 : i64], weight = #base.operand<1>, bias = #base.operand<2>, eps = 1.0e-05 : f64}
    : (tensor<2x6x12xf32>, tensor<12xf32>, tensor<12xf32>) -> (tensor<2x6x12xf32>, tensor<2x6x1xf32>, tensor<2x6x1xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x6x12xf32>, tensor<2x6x1xf32>, tensor<2x6x1xf32>
}

func.func @fused_rms_norm(%0: tensor<2x6x12xf32>, %1: tensor<12xf32>) -> (tensor<2x6x12xf32>, tensor<2x6x1xf32>) {
  %r:2 = plan.call "aten._fused_rms_norm.default"(%0, %1) {input = #base.operand<0>, normalized_shape = [12 : i64], weight = #base.operand<1>, eps = 1.0e-06 : f64}
    : (tensor<2x6x12xf32>, tensor<12xf32>) -> (tensor<2x6x12xf32>, tensor<2x6x1xf32>)
  return %r#0, %r#1 : tensor<2x6x12xf32>, tensor<2x6x1xf32>
}

func.func @rms_norm(%0: tensor<2x6x12xf32>, %1: tensor<12xf32>) -> tensor<2x6x12xf32> {
  %r = plan.call "aten.rms_norm.default"(%0, %1) {input = #base.operand<0>, normalized_shape = [12 : i64], weight = #base.operand<1>, eps = 1.0e-06 : f64}
    : (tensor<2x6x12xf32>, tensor<12xf32>) -> tensor<2x6x12xf32>
  return %r : tensor<2x6x12xf32>
}

func.func @batch_norm(%0: tensor<4x6x12xf32>, %1: tensor<6xf32>, %2: tensor<6xf32>, %3: tensor<6xf32>, %4: tensor<6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.batch_norm.default"(%0, %1, %2, %3, %4) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, running_mean = #base.operand<3>, running_var = #base.operand<4>, training = false, momentum = 0.1 : f64, eps = 1.0e-05 : f64, cudnn_enabled = true}
    : (tensor<4x6x12xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @batch_norm_flat(%0: tensor<4x6xf32>, %1: tensor<6xf32>, %2: tensor<6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6xf32> {
  %r = plan.call "aten.batch_norm.default"(%0, %1, %2) {input = #base.operand<0>, weight = unit, bias = unit, running_mean = #base.operand<1>, running_var = #base.operand<2>, training = false, momentum = 0.1 : f64, eps = 1.0e-05 : f64, cudnn_enabled = true}
    : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @batch_norm_of_batch(%0: tensor<4x6x12xf32>, %1: tensor<6xf32>, %2: tensor<6xf32>) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.batch_norm.default"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, running_mean = unit, running_var = unit, training = true, momentum = 0.1 : f64, eps = 1.0e-05 : f64, cudnn_enabled = true}
    : (tensor<4x6x12xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @native_batch_norm(%0: tensor<4x6x2x6xf32>, %1: tensor<6xf32>, %2: tensor<6xf32>, %3: tensor<6xf32>, %4: tensor<6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> (tensor<4x6x2x6xf32>, tensor<0xf32> {sample.of_cpu}, tensor<0xf32> {sample.of_cpu}) {
  %r:3 = plan.call "aten._native_batch_norm_legit_no_training.default"(%0, %1, %2, %3, %4) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, running_mean = #base.operand<3>, running_var = #base.operand<4>, momentum = 0.1 : f64, eps = 1.0e-05 : f64}
    : (tensor<4x6x2x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6x2x6xf32>, tensor<0xf32>, tensor<0xf32>)
  return %r#0, %r#1, %r#2 : tensor<4x6x2x6xf32>, tensor<0xf32>, tensor<0xf32>
}

func.func @instance_norm(%0: tensor<4x6x12xf32>, %1: tensor<6xf32>, %2: tensor<6xf32>) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.instance_norm.default"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, running_mean = unit, running_var = unit, use_input_stats = true, momentum = 0.1 : f64, eps = 1.0e-05 : f64, cudnn_enabled = true}
    : (tensor<4x6x12xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @instance_norm_running(%0: tensor<4x6x12xf32>, %1: tensor<6xf32>, %2: tensor<6xf32> {sample.range = [0.5 : f64, 2.0 : f64]}) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.instance_norm.default"(%0, %1, %2) {input = #base.operand<0>, weight = unit, bias = unit, running_mean = #base.operand<1>, running_var = #base.operand<2>, use_input_stats = false, momentum = 0.1 : f64, eps = 1.0e-05 : f64, cudnn_enabled = true}
    : (tensor<4x6x12xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @group_norm(%0: tensor<4x12x6xf32>, %1: tensor<12xf32>, %2: tensor<12xf32>) -> tensor<4x12x6xf32> {
  %r = plan.call "aten.group_norm.default"(%0, %1, %2) {input = #base.operand<0>, num_groups = 3 : i64, weight = #base.operand<1>, bias = #base.operand<2>, eps = 1.0e-05 : f64}
    : (tensor<4x12x6xf32>, tensor<12xf32>, tensor<12xf32>) -> tensor<4x12x6xf32>
  return %r : tensor<4x12x6xf32>
}

func.func @group_norm_by_features(%0: tensor<4x12x6xf32>, %1: tensor<12xf32>) -> tensor<4x12x6xf32> {
  %r = plan.call "meshplan.group_norm"(%0, %1) {input = #base.operand<0>, group_features = 2 : i64, weight = #base.operand<1>, eps = 1.0e-05 : f64}
    : (tensor<4x12x6xf32>, tensor<12xf32>) -> tensor<4x12x6xf32>
  return %r : tensor<4x12x6xf32>
}

func.func @group_norm_of_features(%0: tensor<4x6x12xf32>, %1: tensor<6xf32>, %2: tensor<6xf32>) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.group_norm.default"(%0, %1, %2) {input = #base.operand<0>, num_groups = 6 : i64, weight = #base.operand<1>, bias = #base.operand<2>, eps = 1.0e-05 : f64}
    : (tensor<4x6x12xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @safe_softmax(%0: tensor<4x6x2xf32>) -> tensor<4x6x2xf32> {
  %r = plan.call "aten._safe_softmax.default"(%0) {self = #base.operand<0>, dim = 1 : i64}
    : (tensor<4x6x2xf32>) -> tensor<4x6x2xf32>
  return %r : tensor<4x6x2xf32>
}
