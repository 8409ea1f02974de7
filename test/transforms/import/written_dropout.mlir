// Decompositions of in-place, feature and alpha dropout, and stochastic depth: evaluation has none of them.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-lower-random-ops --plan-add-evaluation 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID < %t

// The factor is first or second, and the product may have a wider type than its input.
// CHECK-LABEL: func.func @eval(
// CHECK-NEXT: %[[Y:.*]] = plan.call "aten.relu.default"(%arg0)
// CHECK-NEXT: %[[W:.*]] = plan.call "aten.to.dtype"(%[[Y]]) {dtype = f32
// CHECK-NEXT: %[[S:.*]] = plan.call "aten.sum.default"(%[[W]])
// CHECK-NEXT: return %[[S]]
plan.loss 0
func.func @forward(%x: tensor<4x6x3xbf16> {plan.kind = #plan.kind<input>}) -> tensor<f32> {
  %0 = plan.call "aten.new_empty.default"() {size = [4, 6, 1]} : () -> tensor<4x6x1xbf16>
  %1 = plan.call "aten.bernoulli.p"(%0) {self = #base.operand<0>, p = 0.8 : f64} : (tensor<4x6x1xbf16>) -> tensor<4x6x1xbf16>
  %2 = plan.call "aten.div.Scalar"(%1) {self = #base.operand<0>, other = 0.8 : f64} : (tensor<4x6x1xbf16>) -> tensor<4x6x1xbf16>
  %3 = plan.call "aten.mul.Tensor"(%2, %x) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4x6x1xbf16>, tensor<4x6x3xbf16>) -> tensor<4x6x3xbf16>
  %4 = plan.call "aten.relu.default"(%3) {self = #base.operand<0>} : (tensor<4x6x3xbf16>) -> tensor<4x6x3xbf16>
  %5 = plan.call "aten.new_empty.default"() {size = [4, 1, 1]} : () -> tensor<4x1x1xf32>
  %6 = plan.call "aten.bernoulli.p"(%5) {self = #base.operand<0>, p = 0.25 : f64} : (tensor<4x1x1xf32>) -> tensor<4x1x1xf32>
  %7 = plan.call "aten.div.Tensor"(%6) {self = #base.operand<0>, other = 0.25 : f64} : (tensor<4x1x1xf32>) -> tensor<4x1x1xf32>
  %8 = plan.call "aten.mul.Tensor"(%4, %7) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4x6x3xbf16>, tensor<4x1x1xf32>) -> tensor<4x6x3xf32>
  %9 = plan.call "aten.sum.default"(%8) {self = #base.operand<0>} : (tensor<4x6x3xf32>) -> tensor<f32>
  return %9 : tensor<f32>
}

// -----

// Alpha: 1 / sqrt((1.7581^2 * 0.3 + 1) * 0.7) = 0.86095, and its product with 1.7581.
// CHECK-LABEL: func.func @eval(
// CHECK-NEXT: %[[S:.*]] = plan.call "aten.sum.default"(%arg0)
// CHECK-NEXT: return %[[S]]
plan.loss 0
func.func @forward(%x: tensor<4x6xf32> {plan.kind = #plan.kind<input>}) -> tensor<f32> {
  %0 = plan.call "aten.empty_like.default"(%x) {self = #base.operand<0>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = plan.call "aten.bernoulli.p"(%0) {self = #base.operand<0>, p = 0.7 : f64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = plan.call "aten.add.Scalar"(%1) {self = #base.operand<0>, other = -1 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = plan.call "aten.mul.Scalar"(%2) {self = #base.operand<0>, other = 1.513640227123543 : f64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %4 = plan.call "aten.add.Scalar"(%3) {self = #base.operand<0>, other = 0.4540920681370629 : f64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %5 = plan.call "aten.mul.Scalar"(%1) {self = #base.operand<0>, other = 0.8609526162463561 : f64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %6 = plan.call "aten.mul.Tensor"(%x, %5) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %7 = plan.call "aten.add.Tensor"(%6, %4) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %8 = plan.call "aten.sum.default"(%7) {self = #base.operand<0>} : (tensor<4x6xf32>) -> tensor<f32>
  return %8 : tensor<f32>
}

// -----

// A mask that the model also returns becomes ones. One without the scale is not a dropout: it stays, with a warning.
// CHECK-LABEL: func.func @eval(
// CHECK: %[[O:.*]] = plan.call "aten.ones.default"() {dtype = f32, size = [4]}
// CHECK: %[[U:.*]] = plan.call "meshplan.uniform"
// CHECK: %[[P:.*]] = plan.call "aten.mul.Tensor"(%arg0,
// CHECK: %[[S:.*]] = plan.call "aten.sum.default"(%[[P]])
// CHECK: return %[[S]], %[[O]]
// SAID: warning: loc("hide"): program 'eval' draws random numbers as training does: the archive does not tell which of them the model draws only in training
// SAID-NEXT: drawn by 'hide' in 'mixer'
// SAID-NEXT: help: if the model draws them only in training, write them as a dropout, or evaluate with 'meshplan-run forward' and a plan of the model that is exported after 'model.eval()'
// SAID-NOT: warning
plan.loss 0
func.func @forward(%x: tensor<4xf32> {plan.kind = #plan.kind<input>}) -> (tensor<f32>, tensor<4xf32>) {
  %0 = plan.call "aten.empty_like.default"(%x) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.bernoulli.p"(%0) {self = #base.operand<0>, p = 0.7 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = plan.call "aten.div.Scalar"(%1) {self = #base.operand<0>, other = 0.7 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = plan.call "aten.mul.Tensor"(%x, %2) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = plan.call "aten.bernoulli.p"(%0) {self = #base.operand<0>, p = 0.7 : f64} in "mixer" : (tensor<4xf32>) -> tensor<4xf32> loc("hide")
  %5 = plan.call "aten.mul.Tensor"(%3, %4) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = plan.call "aten.sum.default"(%5) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %6, %2 : tensor<f32>, tensor<4xf32>
}

// -----

// In evaluation mode PyTorch draws them, too.
module attributes {plan.is_evaluated} {
  plan.loss 0
  func.func @forward(%x: tensor<4xf32> {plan.kind = #plan.kind<input>}) -> tensor<f32> {
    %0 = plan.call "aten.rand_like.default"(%x) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}
