// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-recompute --verify-diagnostics

plan.mesh [#plan.mesh_axis<"tp" = 2>]
// expected-error @below {{'keep attention' keeps nothing: 'mlp' has no operator 'attention'}}
// expected-note @below {{help: operators have their names in ATen, such as 'linear', and 'attention' is one too}}
plan.recompute "mlp" keep ["attention"]
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = plan.call "aten.exp.default"(%x) {self = #plan.operand<0>} in "mlp" : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
