// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-autocast=device=cuda -verify-diagnostics

plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @+2 {{'compute' is PyTorch's autocast, which refuses 'aten.binary_cross_entropy.default' in 'loss': logarithms of 16-bit probabilities overflow}}
// expected-note @+1 {{help: export the model with 'binary_cross_entropy_with_logits', which reads logits}}
plan.precision {compute = bf16}
func.func @forward(%x: tensor<4xf32>, %t: tensor<4xf32>) -> tensor<f32> {
  %loss = plan.call "aten.binary_cross_entropy.default"(%x, %t) {self = #base.operand<0>, target = #base.operand<1>} in "loss" : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
