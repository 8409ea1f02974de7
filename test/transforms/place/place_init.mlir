// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-init | FileCheck %s

// A linear layer stores output features first, GPT-2's Conv1D input features: 8 in, 24 out. The standard deviation is
// gain / sqrt(fan), and a uniform distribution ends at sqrt(3) deviations: sqrt(3 * 2 / 8) = 0.866025, sqrt(2 / 24) =
// 0.288675, 1 / sqrt(8) = 0.353553, sqrt(3 * 2 / 32) = 0.433013, 2 * sqrt(2 / 32) = 0.5.
// CHECK-LABEL: func.func @fans
// CHECK-SAME: %arg1: tensor<24x8xf32> {plan.init = #base.init<kind = uniform, low = -0.866025{{[0-9]*}} : f64, high = 0.866025{{[0-9]*}} : f64>
// CHECK-SAME: %arg2: tensor<8x24xf32> {plan.init = #base.init<kind = uniform, low = -0.866025{{[0-9]*}} : f64, high = 0.866025{{[0-9]*}} : f64>
// CHECK-SAME: %arg3: tensor<24x8xf32> {plan.init = #base.init<kind = normal, mean = 0.000000e+00 : f64, std = 0.288675{{[0-9]*}} : f64>
// CHECK-SAME: %arg4: tensor<24x8xf32> {plan.init = #base.init<kind = normal, mean = 0.000000e+00 : f64, std = 0.353553{{[0-9]*}} : f64>
// CHECK-SAME: %arg5: tensor<8x24xf32> {plan.init = #base.init<kind = uniform, low = -0.433012{{[0-9]*}} : f64, high = 0.433012{{[0-9]*}} : f64>
// CHECK-SAME: %arg6: tensor<8x24xf32> {plan.init = #base.init<kind = normal, mean = 0.000000e+00 : f64, std = 5.000000e-01 : f64>
// CHECK-SAME: %arg7: tensor<24xf32> {plan.init = #base.init<kind = constant, value = 1.000000e+00 : f64>
#kaiming = #plan.init_rule<rule = kaiming_uniform, gain = 1.4142135623730951 : f64, fan = in, text = "kaiming uniform", location = loc("a.plan":4:10)>
#out = #plan.init_rule<rule = kaiming_normal, gain = 1.4142135623730951 : f64, fan = out, text = "kaiming normal fan out", location = loc("a.plan":4:10)>
#narrow = #plan.init_rule<rule = kaiming_normal, gain = 1.0 : f64, fan = in, text = "kaiming normal slope 1", location = loc("a.plan":4:10)>
#xavier = #plan.init_rule<rule = xavier_uniform, gain = 1.0 : f64, fan = in, text = "xavier uniform", location = loc("a.plan":4:10)>
#wide = #plan.init_rule<rule = xavier_normal, gain = 2.0 : f64, fan = in, text = "xavier normal gain 2", location = loc("a.plan":4:10)>
func.func @fans(%x: tensor<4x8xf32> {plan.kind = #plan.kind<input>},
                %linear: tensor<24x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.init = #kaiming},
                %conv1d: tensor<8x24xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.init = #kaiming},
                %c: tensor<24x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["c"], plan.init = #out},
                %d: tensor<24x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["d"], plan.init = #narrow},
                %e: tensor<8x24xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["e"], plan.init = #xavier},
                %f: tensor<8x24xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["f"], plan.init = #wide},
                %bias: tensor<24xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["g"], plan.init = #base.init<kind = constant, value = 1.0 : f64>}) {
  %0 = plan.call "aten.linear.default"(%x, %linear, %bias) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} : (tensor<4x8xf32>, tensor<24x8xf32>, tensor<24xf32>) -> tensor<4x24xf32>
  %1 = plan.call "aten.addmm.default"(%bias, %x, %conv1d) {self = #base.operand<0>, mat1 = #base.operand<1>, mat2 = #base.operand<2>} : (tensor<24xf32>, tensor<4x8xf32>, tensor<8x24xf32>) -> tensor<4x24xf32>
  %2 = plan.call "aten.linear.default"(%x, %c) {input = #base.operand<0>, weight = #base.operand<1>} : (tensor<4x8xf32>, tensor<24x8xf32>) -> tensor<4x24xf32>
  %3 = plan.call "aten.t.default"(%d) {self = #base.operand<0>} : (tensor<24x8xf32>) -> tensor<8x24xf32>
  %4 = plan.call "aten.mm.default"(%x, %3) {self = #base.operand<0>, mat2 = #base.operand<1>} : (tensor<4x8xf32>, tensor<8x24xf32>) -> tensor<4x24xf32>
  %5 = plan.call "aten.mm.default"(%x, %e) {self = #base.operand<0>, mat2 = #base.operand<1>} : (tensor<4x8xf32>, tensor<8x24xf32>) -> tensor<4x24xf32>
  %6 = plan.call "aten.mm.default"(%x, %f) {self = #base.operand<0>, mat2 = #base.operand<1>} : (tensor<4x8xf32>, tensor<8x24xf32>) -> tensor<4x24xf32>
  return
}

// -----

// A window of 2 x 3 counts in both fans: 1 / sqrt(4 * 6) = 0.204124, with groups or without; transposed convolutions
// store input features first. For an embedding xavier adds both dims: sqrt(2 / 168) = 0.109109.
// CHECK-LABEL: func.func @windows
// CHECK-SAME: %arg1: tensor<10x4x2x3xf32> {plan.init = #base.init<kind = normal, mean = 0.000000e+00 : f64, std = 0.204124{{[0-9]*}} : f64>
// CHECK-SAME: %arg2: tensor<4x1x2x3xf32> {plan.init = #base.init<kind = normal, mean = 0.000000e+00 : f64, std = 0.408248{{[0-9]*}} : f64>
// CHECK-SAME: %arg3: tensor<4x10x2x3xf32> {plan.init = #base.init<kind = normal, mean = 0.000000e+00 : f64, std = 0.204124{{[0-9]*}} : f64>
// CHECK-SAME: %arg5: tensor<160x8xf32> {plan.init = #base.init<kind = normal, mean = 0.000000e+00 : f64, std = 0.109108{{[0-9]*}} : f64>
#kaiming = #plan.init_rule<rule = kaiming_normal, gain = 1.0 : f64, fan = in, text = "kaiming normal slope 1", location = loc("a.plan":4:10)>
#xavier = #plan.init_rule<rule = xavier_normal, gain = 1.0 : f64, fan = in, text = "xavier normal", location = loc("a.plan":4:10)>
func.func @windows(%x: tensor<2x4x8x9xf32> {plan.kind = #plan.kind<input>},
                   %w: tensor<10x4x2x3xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.init = #kaiming},
                   %g: tensor<4x1x2x3xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.init = #kaiming},
                   %t: tensor<4x10x2x3xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["c"], plan.init = #kaiming},
                   %i: tensor<2x5xi64> {plan.kind = #plan.kind<input>},
                   %e: tensor<160x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["d"], plan.init = #xavier}) {
  %0 = plan.call "aten.conv2d.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (tensor<2x4x8x9xf32>, tensor<10x4x2x3xf32>) -> tensor<2x10x7x7xf32>
  %1 = plan.call "aten.conv2d.default"(%x, %g) {input = #base.operand<0>, weight = #base.operand<1>, groups = 4 : i64} : (tensor<2x4x8x9xf32>, tensor<4x1x2x3xf32>) -> tensor<2x4x7x7xf32>
  %2 = plan.call "aten.conv_transpose2d.input"(%x, %t) {input = #base.operand<0>, weight = #base.operand<1>} : (tensor<2x4x8x9xf32>, tensor<4x10x2x3xf32>) -> tensor<2x10x9x11xf32>
  %3 = plan.call "aten.embedding.default"(%e, %i) {weight = #base.operand<0>, indices = #base.operand<1>} : (tensor<160x8xf32>, tensor<2x5xi64>) -> tensor<2x5x8xf32>
  return
}

// -----

// Factors of a product that is added to a weight: of 64 input features, of 4, and of 64. The groups of a transposed
// convolution have 96 / 4 channels and 3 window positions: sqrt(2 / 64), sqrt(2 / 4), sqrt(2 / 72).
// CHECK-LABEL: func.func @factors
// CHECK-SAME: %arg1: tensor<96x64xf32> {plan.init = #base.init<kind = normal, mean = 0.000000e+00 : f64, std = 0.176776{{[0-9]*}} : f64>
// CHECK-SAME: %arg2: tensor<4x64xf32> {plan.init = #base.init<kind = normal, mean = 0.000000e+00 : f64, std = 0.176776{{[0-9]*}} : f64>
// CHECK-SAME: %arg3: tensor<96x4xf32> {plan.init = #base.init<kind = normal, mean = 0.000000e+00 : f64, std = 0.707106{{[0-9]*}} : f64>
// CHECK-SAME: %arg4: tensor<96x16x3xf32> {plan.init = #base.init<kind = normal, mean = 0.000000e+00 : f64, std = 0.166666{{[0-9]*}} : f64>
#kaiming = #plan.init_rule<rule = kaiming_normal, gain = 1.4142135623730951 : f64, fan = in, text = "kaiming normal", location = loc("a.plan":4:10)>
func.func @factors(%x: tensor<2x5x64xf32> {plan.kind = #plan.kind<input>},
                   %w: tensor<96x64xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["base.weight"], plan.init = #kaiming},
                   %a: tensor<4x64xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["a.weight"], plan.init = #kaiming},
                   %b: tensor<96x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["b.weight"], plan.init = #kaiming},
                   %t: tensor<96x16x3xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"], plan.init = #kaiming}) {
  %0 = plan.call "aten.matmul.default"(%b, %a) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<96x4xf32>, tensor<4x64xf32>) -> tensor<96x64xf32>
  %1 = plan.call "aten.add.Tensor"(%w, %0) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<96x64xf32>, tensor<96x64xf32>) -> tensor<96x64xf32>
  %2 = plan.call "aten.linear.default"(%x, %1) {input = #base.operand<0>, weight = #base.operand<1>} : (tensor<2x5x64xf32>, tensor<96x64xf32>) -> tensor<2x5x96xf32>
  %3 = plan.call "aten.transpose.int"(%2) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} : (tensor<2x5x96xf32>) -> tensor<2x96x5xf32>
  %4 = plan.call "aten.conv_transpose1d.default"(%3, %t) {input = #base.operand<0>, weight = #base.operand<1>, groups = 4 : i64} in "up" : (tensor<2x96x5xf32>, tensor<96x16x3xf32>) -> tensor<2x64x7xf32>
  return
}
