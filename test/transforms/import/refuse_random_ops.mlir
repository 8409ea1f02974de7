// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-refuse-random-ops
// RUN: %harness random_ops > %t.mlir
// RUN: %meshplan-opt %t.mlir --verify-diagnostics=only-expected --plan-refuse-random-ops

// One error per operator, with its first locations.
func.func @dropout(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{operator 'aten.dropout.default' draws random numbers, which is not implemented yet}}
  // expected-note @below {{in 'layers.0'}}
  // expected-note @below {{and 1 more}}
  // expected-note @below {{help: export the model in evaluation mode, after 'model.eval()'}}
  %0 = plan.call "aten.dropout.default"(%x) {input = #base.operand<0>, p = 0.5 : f64, train = true} in "layers.0"
      : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{in 'layers.1'}}
  %1 = plan.call "aten.dropout.default"(%0) {input = #base.operand<0>, p = 0.5 : f64, train = true} in "layers.1"
      : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{in 'layers.2'}}
  %2 = plan.call "aten.dropout.default"(%1) {input = #base.operand<0>, p = 0.5 : f64, train = true} in "layers.2"
      : (tensor<4xf32>) -> tensor<4xf32>
  %3 = plan.call "aten.dropout.default"(%2) {input = #base.operand<0>, p = 0.5 : f64, train = true} in "layers.3"
      : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// An operator that is switched off draws nothing.
func.func @evaluation(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = plan.call "aten.dropout.default"(%x) {input = #base.operand<0>, p = 0.5 : f64, train = false} in "layers.0"
      : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
