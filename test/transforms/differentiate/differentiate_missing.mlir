// Operators that PyTorch does not differentiate are rejected where their gradient is needed.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-differentiate

// Also where samples are sharded and the operator has no record.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.loss 0
func.func @forward(
    %x: tensor<4xf32, #plan.sharding<[{"dp"}]>> {plan.names = ["x"], plan.kind = #plan.kind<input>},
    %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (tensor<f32> {plan.name = "loss"}) {
  %0 = plan.call "aten.mul.Tensor"(%x, %w) {self = #base.operand<0>, other = #base.operand<1>} in "enc"
      : (tensor<4xf32, #plan.sharding<[{"dp"}]>>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{the loss cannot be differentiated through operator 'aten.nextafter.default' in 'enc': PyTorch has no derivative of it}}
  // expected-note @below {{help: detach its inputs, or freeze the parameters on which they depend}}
  %1 = plan.call "aten.nextafter.default"(%0, %x) {self = #base.operand<0>, other = #base.operand<1>} in "enc"
      : (tensor<4xf32>, tensor<4xf32, #plan.sharding<[{"dp"}]>>) -> tensor<4xf32>
  // expected-note @below {{on the way from the loss: 'aten.sum.default' in the root module}}
  %2 = plan.call "aten.sum.default"(%1) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.loss 0
func.func @forward(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (tensor<f32> {plan.name = "loss"}) {
  // expected-error @below {{the loss cannot be differentiated through operator 'aten.heaviside.default' in the root module: PyTorch has no derivative of it}}
  // expected-note @below {{help: detach its inputs, or freeze the parameters on which they depend}}
  %0 = plan.call "aten.heaviside.default"(%w, %w) {self = #base.operand<0>, values = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{on the way from the loss: 'aten.sum.default' in the root module}}
  %1 = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.loss 0
func.func @forward(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (tensor<f32> {plan.name = "loss"}) {
  // expected-error @below {{the loss cannot be differentiated through operator 'aten.igamma.default' in the root module: PyTorch has no derivative of it with respect to 'self'}}
  // expected-note @below {{help: detach its inputs, or freeze the parameters on which they depend}}
  %0 = plan.call "aten.igamma.default"(%w, %w) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{on the way from the loss: 'aten.sum.default' in the root module}}
  %1 = plan.call "aten.sum.default"(%0) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// No gradient is needed for frozen parameters, for the argument that has a derivative, and for detached values.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.loss 0
func.func @forward(
    %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true},
    %f: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["f"], plan.trainable = false}) -> (tensor<f32> {plan.name = "loss"}) {
  %0 = plan.call "aten.floor_divide.default"(%f, %f) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.igamma.default"(%0, %w) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = plan.call "aten.detach.default"(%w) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = plan.call "aten.heaviside.default"(%2, %f) {self = #base.operand<0>, values = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = plan.call "aten.mul.Tensor"(%1, %3) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = plan.call "aten.sum.default"(%4) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %5 : tensor<f32>
}
