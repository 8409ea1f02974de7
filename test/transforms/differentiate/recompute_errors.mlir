// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-recompute --verify-diagnostics

plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{'keep attention' has no effect: 'mlp' has no operator 'attention'}}
// expected-note @below {{help: operators have their names in ATen, such as 'linear', and 'attention' is one too}}
plan.recompute "mlp" keep ["attention"]
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.role = #base.role<step>} {
  %a = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} in "mlp" : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// Calls of other modules, or of the backward pass, do not count.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.recompute "a" keep ["exp"]
// expected-error @below {{'keep exp' has no effect: 'b' has no operator 'exp'}}
// expected-note @below {{help: operators have their names in ATen, such as 'linear', and 'attention' is one too}}
plan.recompute "b" keep ["exp"]
// expected-error @below {{'keep cos' has no effect: 'c' has no operator 'cos'}}
// expected-note @below {{help: operators have their names in ATen, such as 'linear', and 'attention' is one too}}
plan.recompute "c" keep ["neg", "cos"]
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.role = #base.role<step>} {
  %a = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} in "a" : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.call "aten.sin.default"(%a) {self = #base.operand<0>} in "b" : (tensor<4xf32>) -> tensor<4xf32>
  %c = plan.call "aten.neg.default"(%b) {self = #base.operand<0>} in "c" : (tensor<4xf32>) -> tensor<4xf32>
  %g = plan.call "aten.cos.default"(%c) {self = #base.operand<0>} in "c" backward : (tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
