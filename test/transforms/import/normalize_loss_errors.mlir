// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-normalize-loss

// An auxiliary loss would be lost.
plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{'per token' applies to a classification loss, but output 'loss' is computed by 'aten.add.Tensor' in 'moe'}}
// expected-note @below {{help: return the classification loss (cross_entropy, nll_loss) itself from the model, or leave out 'per token' to keep the loss of the model}}
plan.normalize_loss 0 per token
func.func @forward(%x: tensor<6x10xf32>, %t: tensor<6xi64>, %y: tensor<f32>) -> (tensor<f32> {plan.name = "loss"}) {
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %t) {self = #base.operand<0>, target = #base.operand<1>}
      : (tensor<6x10xf32>, tensor<6xi64>) -> tensor<f32>
  %both = plan.call "aten.add.Tensor"(%loss, %y) {self = #base.operand<0>, other = #base.operand<1>} in "moe"
      : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %both : tensor<f32>
}

// -----

// A regression loss.
plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{'per sequence' applies to a classification loss, but output 'loss' is computed by 'aten.mse_loss.default' in the root module}}
// expected-note @below {{help: return the classification loss}}
plan.normalize_loss 0 per sequence
func.func @forward(%x: tensor<6xf32>, %t: tensor<6xf32>) -> (tensor<f32> {plan.name = "loss"}) {
  %loss = plan.call "aten.mse_loss.default"(%x, %t) {self = #base.operand<0>, target = #base.operand<1>}
      : (tensor<6xf32>, tensor<6xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// The total weight of the targets is not a loss.
plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{output 'loss' is computed by 'aten.nll_loss_forward.default' in the root module}}
// expected-note @below {{help: return the classification loss}}
plan.normalize_loss 0 per token
func.func @forward(%x: tensor<6x10xf32>, %t: tensor<6xi64>) -> (tensor<f32> {plan.name = "loss"}) {
  %loss:2 = plan.call "aten.nll_loss_forward.default"(%x, %t)
      {self = #base.operand<0>, target = #base.operand<1>, reduction = 1, ignore_index = -100}
      : (tensor<6x10xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<f32>)
  return %loss#1 : tensor<f32>
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{'per token' applies to a classification loss, but output 'loss' is not computed}}
// expected-note @below {{help: return the classification loss}}
plan.normalize_loss 0 per token
func.func @forward(%x: tensor<f32>) -> (tensor<f32> {plan.name = "loss"}) {
  return %x : tensor<f32>
}

// -----

// Targets in another order of samples.
plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{'per sequence' needs the sample of each target of 'aten.cross_entropy_loss.default' in 'loss', and 'aten.flip.default' in 'mix' may mix samples}}
// expected-note @below {{help: use targets that are an input with a dim 'batch' or a view of one, or write 'per token'}}
plan.normalize_loss 0 per sequence
func.func @forward(%x: tensor<4x10xf32>,
    %t: tensor<4xi64> {plan.kind = #plan.kind<input>, plan.names = ["labels"], plan.dims = ["batch"]})
    -> (tensor<f32> {plan.name = "loss"}) {
  %other = plan.call "aten.flip.default"(%t) {self = #base.operand<0>, dims = [0]} in "mix" : (tensor<4xi64>) -> tensor<4xi64>
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %other) {self = #base.operand<0>, target = #base.operand<1>}
      in "loss" : (tensor<4x10xf32>, tensor<4xi64>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Targets that belong to no sample.
plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{'per sequence' needs the sample of each target of 'aten.cross_entropy_loss.default' in the root module, and they come from no input with a dim 'batch'}}
// expected-note @below {{help: use targets that are an input}}
plan.normalize_loss 0 per sequence
func.func @forward(%x: tensor<4x10xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.dims = ["batch", ""]},
    %t: tensor<4xi64> {plan.kind = #plan.kind<input>, plan.names = ["labels"], plan.dims = [""]})
    -> (tensor<f32> {plan.name = "loss"}) {
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %t) {self = #base.operand<0>, target = #base.operand<1>}
      : (tensor<4x10xf32>, tensor<4xi64>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// No input has samples.
plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @below {{and they come from no input with a dim 'batch'}}
// expected-note @below {{help: use targets that are an input}}
plan.normalize_loss 0 per sequence
func.func @forward(%x: tensor<4x10xf32>, %t: tensor<4xi64>) -> (tensor<f32> {plan.name = "loss"}) {
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %t) {self = #base.operand<0>, target = #base.operand<1>}
      : (tensor<4x10xf32>, tensor<4xi64>) -> tensor<f32>
  return %loss : tensor<f32>
}
