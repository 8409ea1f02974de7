// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-differentiate

plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{output 'logits' has shape [4, 6] and type f32, but a loss is a float scalar}}
// expected-note @below {{help: name a scalar output, or export the model with its loss}}
plan.loss 0
func.func @forward(%w: tensor<4x6xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true})
    -> (tensor<4x6xf32> {plan.name = "logits"}) {
  return %w : tensor<4x6xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{output 'tokens' has shape [] and type i64, but a loss is a float scalar}}
// expected-note @below {{help: name a scalar output, or export the model with its loss}}
plan.loss 0
func.func @forward(%n: tensor<i64> {plan.names = ["n"]}) -> (tensor<i64> {plan.name = "tokens"}) {
  return %n : tensor<i64>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{the loss depends on no parameter that is trained}}
// expected-note @below {{help: name an output that depends on parameters, and train some of them}}
plan.loss 0
func.func @forward(
    %x: tensor<4xf32> {plan.names = ["x"]}, %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true})
    -> (tensor<f32> {plan.name = "loss"}) {
  %0 = plan.call "aten.sum.default"(%x) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{the loss depends on no parameter that is trained}}
// expected-note @below {{help: name an output that depends on parameters, and train some of them}}
plan.loss 0
func.func @forward(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = false}) -> (tensor<f32> {plan.name = "loss"}) {
  %0 = plan.call "aten.sum.default"(%w) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A loss that is an input.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{output 'scale' is an argument that the model returns, but a loss must be computed}}
// expected-note @below {{help: name a scalar output, or export the model with its loss}}
plan.loss 0
func.func @forward(%w: tensor<f32> {plan.kind = #plan.kind<parameter>, plan.names = ["scale"], plan.trainable = true}) -> (tensor<f32> {plan.name = "scale"}) {
  return %w : tensor<f32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{the loss does not depend on parameter 'pooler.weight'}}
// expected-note @below {{help: write 'unused pooler.weight' if this is intended}}
plan.loss 0
func.func @forward(
    %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true},
    %p: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["pooler.weight"], plan.trainable = true}) -> (tensor<f32> {plan.name = "loss"}) {
  %0 = plan.call "aten.sum.default"(%w) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Of many candidates, the first are named.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{the loss does not depend on parameter 'a' and 5 more}}
// expected-note @below {{nor on 'b'}}
// expected-note @below {{nor on 'c'}}
// expected-note @below {{nor on 'd'}}
// expected-note @below {{nor on 'e'}}
// expected-note @below {{help: write 'unused a, b, c, d, e, f' if this is intended}}
plan.loss 0
func.func @forward(
    %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}, %a: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.trainable = true},
    %b: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.trainable = true}, %c: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["c"], plan.trainable = true},
    %d: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["d"], plan.trainable = true}, %e: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["e"], plan.trainable = true},
    %f: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["f"], plan.trainable = true}) -> (tensor<f32> {plan.name = "loss"}) {
  %0 = plan.call "aten.sum.default"(%w) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A very long list is not printed.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error @below {{the loss does not depend on parameter 'a' and 8 more}}
// expected-note @below {{nor on 'b'}}
// expected-note @below {{nor on 'c'}}
// expected-note @below {{nor on 'd'}}
// expected-note @below {{nor on 'e'}}
// expected-note @below {{help: write 'unused PATH, ...' with paths that match all of them if this is intended}}
plan.loss 0
func.func @forward(
    %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}, %a: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.trainable = true},
    %b: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.trainable = true}, %c: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["c"], plan.trainable = true},
    %d: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["d"], plan.trainable = true}, %e: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["e"], plan.trainable = true},
    %f: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["f"], plan.trainable = true}, %g: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["g"], plan.trainable = true},
    %h: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["h"], plan.trainable = true}, %i: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["i"], plan.trainable = true})
    -> (tensor<f32> {plan.name = "loss"}) {
  %0 = plan.call "aten.sum.default"(%w) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// The path from the loss to the operator without a derivative.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
func.func @forward(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (tensor<f32> {plan.name = "loss"}) {
  // expected-error @below {{the loss cannot be differentiated through operator 'custom.scan.default' in 'mixer': LibTorch differentiates operators of ATen only}}
  // expected-note @below {{help: detach its inputs, or freeze the parameters on which they depend}}
  %0 = plan.call "custom.scan.default"(%w) {self = #base.operand<0>} in "mixer" : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{on the way from the loss: 'aten.sin.default' in 'layers.0'}}
  %1 = plan.call "aten.sin.default"(%0) {self = #base.operand<0>} in "layers.0" : (tensor<4xf32>) -> tensor<4xf32>
  %2 = plan.call "aten.cos.default"(%1) {self = #base.operand<0>} in "layers.0" : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{on the way from the loss: 'aten.exp.default' in 'layers.1'}}
  %3 = plan.call "aten.exp.default"(%1) {self = #base.operand<0>} in "layers.1" : (tensor<4xf32>) -> tensor<4xf32>
  %4 = plan.call "aten.mul.Tensor"(%2, %3) {self = #base.operand<0>, other = #base.operand<1>} in "layers.1"
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{on the way from the loss: 'aten.add.Tensor' in 'layers.1'}}
  %5 = plan.call "aten.add.Tensor"(%4, %3) {self = #base.operand<0>, other = #base.operand<1>} in "layers.1"
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{on the way from the loss: 'aten.sum.default' in the root module}}
  %6 = plan.call "aten.sum.default"(%5) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %6 : tensor<f32>
}

// -----

// A long path: both ends of it.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
func.func @forward(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (tensor<f32> {plan.name = "loss"}) {
  // expected-error @below {{the loss cannot be differentiated through operator 'aten.bernoulli.p' in 'drop': it draws random numbers}}
  // expected-note @below {{help: detach its inputs, or freeze the parameters on which they depend}}
  %0 = plan.call "aten.bernoulli.p"(%w) {self = #base.operand<0>, p = 0.5} in "drop" : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{on the way from the loss: 'aten.sin.default' in 'a'}}
  %1 = plan.call "aten.sin.default"(%0) {self = #base.operand<0>} in "a" : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{on the way from the loss: 'aten.cos.default' in 'b'}}
  %2 = plan.call "aten.cos.default"(%1) {self = #base.operand<0>} in "b" : (tensor<4xf32>) -> tensor<4xf32>
  %3 = plan.call "aten.exp.default"(%2) {self = #base.operand<0>} in "c" : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{then 2 more operators}}
  %4 = plan.call "aten.tanh.default"(%3) {self = #base.operand<0>} in "d" : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{on the way from the loss: 'aten.relu.default' in 'e'}}
  %5 = plan.call "aten.relu.default"(%4) {self = #base.operand<0>} in "e" : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @below {{on the way from the loss: 'aten.sum.default' in 'f'}}
  %6 = plan.call "aten.sum.default"(%5) {self = #base.operand<0>} in "f" : (tensor<4xf32>) -> tensor<f32>
  return %6 : tensor<f32>
}
