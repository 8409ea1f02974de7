// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-differentiate | FileCheck %s

// The forward program is unchanged. The step returns the loss and the gradients of trained parameters, each laid out as
// its parameter; a backward call is in the module of the call that it differentiates.
// CHECK-NOT: plan.loss
// CHECK-LABEL: func.func @forward
// CHECK: return {{.*}} : tensor<f32>, tensor<4x6xf32>
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<4x8xf32> {{.*}}, %[[W:[a-z0-9]*]]: tensor<6x8xf32> {{.*}}, %[[B:[a-z0-9]*]]: tensor<6xf32>
// CHECK-SAME: -> (tensor<f32> {plan.loss, plan.name = "loss"}, tensor<6x8xf32> {plan.gradient_of = #plan.argument<parameter "up.weight">, plan.name = "gradients.up.weight"}, tensor<6xf32> {plan.gradient_of = #plan.argument<parameter "up.bias">, plan.name = "gradients.up.bias"})
// CHECK-NEXT: %[[Y:.*]] = plan.call "aten.linear.default"
// CHECK-NEXT: %[[L:.*]] = plan.call "aten.sum.default"
// CHECK-NEXT: %[[ONE:.*]] = plan.call "aten.full.default"() {dtype = f32, fill_value = 1.000000e+00 : f64, size = []} in "head" backward
// CHECK-NEXT: %[[DL:.*]] = plan.match %[[ONE]] to %[[L]]
// CHECK-NEXT: %[[V:.*]] = plan.call "aten.reshape.default"(%[[DL]]){{.*}} in "head" backward
// CHECK-NEXT: %[[E:.*]] = plan.call "aten.expand.default"(%[[V]]){{.*}} in "head" backward
// CHECK-NEXT: %[[DY:.*]] = plan.match %[[E]] to %[[Y]]
// CHECK-NEXT: %[[GW:.*]] = plan.call "meshplan.weight_gradient"(%[[DY]], %[[X]]){{.*}} in "up" backward
// CHECK-NEXT: %[[GB:.*]] = plan.call "aten.sum.dim_IntList"(%[[DY]]){{.*}} in "up" backward
// CHECK-NEXT: %[[DW:.*]] = plan.match %[[GW]] to %[[W]]
// CHECK-NEXT: %[[DB:.*]] = plan.match %[[GB]] to %[[B]]
// CHECK-NEXT: return %[[L]], %[[DW]], %[[DB]]
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
func.func @forward(
    %x: tensor<4x8xf32> {plan.names = ["x"]},
    %w: tensor<6x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"], plan.trainable = true},
    %b: tensor<6xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.bias"], plan.trainable = true})
    -> (tensor<f32> {plan.name = "loss"}, tensor<4x6xf32> {plan.name = "logits"}) {
  %y = plan.call "aten.linear.default"(%x, %w, %b)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "up"
      : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %loss = plan.call "aten.sum.default"(%y) {self = #base.operand<0>} in "head" : (tensor<4x6xf32>) -> tensor<f32>
  return %loss, %y : tensor<f32>, tensor<4x6xf32>
}

// -----

// Frozen parameters have no backward calls, nor has any call that no trained parameter feeds.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: -> (tensor<f32> {plan.loss, plan.name = "0"}, tensor<6x8xf32> {plan.gradient_of = #plan.argument<parameter "b.weight">, plan.name = "gradients.b.weight"})
// CHECK-COUNT-1: plan.call "meshplan.weight_gradient"
// CHECK-NOT: aten.matmul
// CHECK-NOT: meshplan.weight_gradient
// CHECK: return
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
func.func @forward(
    %x: tensor<4x8xf32> {plan.names = ["x"]},
    %a: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["a.weight"], plan.trainable = false},
    %b: tensor<6x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["b.weight"], plan.trainable = true}) -> (tensor<f32> {plan.name = "0"}) {
  %0 = plan.call "aten.linear.default"(%x, %a) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.linear.default"(%0, %b) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  %2 = plan.call "aten.sum.default"(%1) {self = #base.operand<0>} : (tensor<4x6xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// A parameter that is read twice, for example a tied one, has one gradient: the sum, reduced once.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: , %[[W:[a-z0-9]*]]: tensor<8x8xf32>
// CHECK: %[[SECOND:.*]] = plan.call "meshplan.weight_gradient"
// CHECK: %[[FIRST:.*]] = plan.call "meshplan.weight_gradient"
// CHECK: %[[SUM:.*]] = plan.call "aten.add.Tensor"(%[[SECOND]], %[[FIRST]]){{.*}} in "a" backward
// CHECK: %[[DW:.*]] = plan.match %[[SUM]] to %[[W]]
// CHECK: return %{{.*}}, %[[DW]]
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
func.func @forward(
    %x: tensor<4x8xf32> {plan.names = ["x"]},
    %w: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["a.weight", "b.weight"], plan.trainable = true})
    -> (tensor<f32> {plan.name = "0"}) {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "a"
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.linear.default"(%0, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "b"
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = plan.call "aten.sum.default"(%1) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// Calls that only move elements, and constraints, pass the gradient on unchanged: the value after them sets its layout.
// CHECK-LABEL: func.func @step(
// CHECK: %[[W:.*]] = plan.call "aten.mul.Tensor"(%arg0, %arg1)
// CHECK: %[[Y:.*]] = plan.call "aten.exp.default"
// CHECK: plan.match {{.*}} to %[[Y]]
// CHECK-NEXT: %[[G:.*]] = plan.call "aten.mul.Tensor"{{.*}} backward
// CHECK-NEXT: %[[V:.*]] = plan.call "aten.reshape.default"(%[[G]]){{.*}} backward
// CHECK-NEXT: %[[D:.*]] = plan.match %[[V]] to %[[W]]
// CHECK-NEXT: plan.call "aten.mul.Tensor"(%[[D]], %arg1)
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
func.func @forward(%w: tensor<4x6xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}, %x: tensor<4x6xf32>) -> (tensor<f32> {plan.name = "0"}) {
  %product = plan.call "aten.mul.Tensor"(%w, %x) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %0 = plan.call "aten.view.default"(%product) {self = #base.operand<0>, size = [24]} : (tensor<4x6xf32>) -> tensor<24xf32>
  %1 = plan.constrain %0 <[{"tp"}]> along [#plan.axis<"tp">] as "output split 0 over tp" : tensor<24xf32> -> tensor<24xf32>
  %2 = plan.call "aten.exp.default"(%1) {self = #base.operand<0>} : (tensor<24xf32>) -> tensor<24xf32>
  %3 = plan.call "aten.sum.default"(%2) {self = #base.operand<0>} : (tensor<24xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// -----

// A value that is read both directly and through a constraint, where the sum passes its gradient on unchanged.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<4xf32>
// CHECK: %[[P:.*]] = plan.call "aten.mul.Tensor"
// CHECK: %[[DP:.*]] = plan.match {{.*}} to %[[P]]
// CHECK: %[[A:.*]] = plan.call "aten.mul.Tensor"(%[[DP]], %{{.*}}){{.*}} in "mul" backward
// CHECK: %[[B:.*]] = plan.call "aten.mul.Tensor"(%[[DP]], %[[W]]){{.*}} in "mul" backward
// CHECK: %[[DS:.*]] = plan.match %[[B]] to
// CHECK: %[[S:.*]] = plan.call "aten.add.Tensor"(%[[A]], %[[DS]])
// CHECK: %[[D:.*]] = plan.match %[[S]] to %[[W]]
// CHECK: return %{{.*}}, %[[D]]
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
func.func @forward(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}, %x: tensor<4xf32> {plan.names = ["x"]})
    -> (tensor<f32> {plan.name = "0"}) {
  %0 = plan.constrain %w <[{"tp"}]> along [#plan.axis<"tp">] as "input split 0 over tp" : tensor<4xf32> -> tensor<4xf32>
  %1 = plan.call "aten.add.Tensor"(%0, %x) {self = #base.operand<0>, other = #base.operand<1>} in "add"
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = plan.call "aten.mul.Tensor"(%w, %1) {self = #base.operand<0>, other = #base.operand<1>} in "mul"
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = plan.call "aten.sum.default"(%2) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// -----

// Outputs that are scalars can be logged; others, and what only they need, are not computed.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: -> (tensor<1xi64> {plan.name = "tokens"}, tensor<1x1xf32> {plan.loss, plan.name = "loss"}, tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "w">, plan.name = "gradients.w"})
// CHECK-NOT: aten.sin
// CHECK: plan.call "aten.full.default"() {{.*}}size = [1, 1]
// CHECK-NOT: aten.sin
// CHECK: return
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 2
func.func @forward(
    %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true},
    %n: tensor<1xi64> {plan.names = ["n"]}, %ids: tensor<4xi64> {plan.kind = #plan.kind<parameter>, plan.names = ["ids"], plan.trainable = true})
    -> (tensor<4xf32> {plan.name = "logits"}, tensor<1xi64> {plan.name = "tokens"}, tensor<1x1xf32> {plan.name = "loss"}) {
  %0 = plan.call "aten.sin.default"(%w) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.view.default"(%w) {self = #base.operand<0>, size = [1, 4]} : (tensor<4xf32>) -> tensor<1x4xf32>
  %2 = plan.call "aten.sum.dim_IntList"(%1) {self = #base.operand<0>, dim = [1], keepdim = true} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  return %0, %n, %2 : tensor<4xf32>, tensor<1xi64>, tensor<1x1xf32>
}

// -----

// Parameters that are not trained, such as unused ones, have no gradient. Detached values add nothing to a gradient.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: -> (tensor<f32> {plan.loss, plan.name = "0"}, tensor<4xf32> {plan.gradient_of = #plan.argument<parameter "w">, plan.name = "gradients.w"})
// CHECK-NOT: custom.scan{{.*}} backward
// CHECK: return
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
func.func @forward(
    %w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true},
    %u: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["u"], plan.trainable = false}) -> (tensor<f32> {plan.name = "0"}) {
  %0 = plan.call "custom.scan.default"(%u) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.detach.default"(%0) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = plan.call "aten.mul.Tensor"(%w, %1) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = plan.call "aten.sum.default"(%2) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// -----

// A call with two results, of which the loss reads one.
// CHECK-LABEL: func.func @step(
// CHECK: %[[P:.*]]:2 = plan.call "aten.chunk.default"
// CHECK: %[[Z:.*]] = plan.call "aten.zeros_like.default"(%[[P]]#0){{.*}} backward
// CHECK: plan.call "aten.cat.default"(%[[Z]], %{{.*}}){{.*}} backward
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
func.func @forward(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (tensor<f32> {plan.name = "0"}) {
  %0:2 = plan.call "aten.chunk.default"(%w) {self = #base.operand<0>, chunks = 2} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %1 = plan.call "aten.sum.default"(%0#1) {self = #base.operand<0>} : (tensor<2xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// A loss with a constraint.
// CHECK-LABEL: func.func @step(
// CHECK: plan.call "aten.full.default"() {{.*}} in "head" backward
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.loss 0
func.func @forward(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (tensor<f32> {plan.name = "0"}) {
  %0 = plan.call "aten.sum.default"(%w) {self = #base.operand<0>} in "head" : (tensor<4xf32>) -> tensor<f32>
  %1 = plan.constrain %0 <[]> along [#plan.axis<"tp">] as "output replicate" : tensor<f32> -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// A weight that is stored wide and read narrow: its gradient is widened first, and then laid out as the weight, so that
// addends are reduced in the type of the weight. Gradients of narrow activations are laid out unwidened.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<4x8xbf16> {{.*}}, %[[W:[a-z0-9]*]]: tensor<6x8xf32>
// CHECK: %[[GW:.*]] = plan.call "meshplan.weight_gradient"({{.*}} -> tensor<6x8xbf16>
// CHECK-NEXT: %[[WIDE:.*]] = plan.call "aten.to.dtype"(%[[GW]]) {dtype = f32{{.*}} backward
// CHECK-NEXT: %[[DW:.*]] = plan.match %[[WIDE]] to %[[W]]
// CHECK-NEXT: return %{{.*}}, %[[DW]]
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.loss 0
func.func @forward(
    %x: tensor<4x8xbf16> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<6x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (tensor<bf16> {plan.name = "loss"}) {
  %n = plan.call "aten._to_copy.default"(%w) {self = #base.operand<0>, dtype = bf16} : (tensor<6x8xf32>) -> tensor<6x8xbf16>
  %g = plan.constrain %n <[{}, {}]> along [#plan.axis<"dp">] as "precision" : tensor<6x8xbf16> -> tensor<6x8xbf16>
  %y = plan.call "aten.linear.default"(%x, %g) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<4x8xbf16>, tensor<6x8xbf16>) -> tensor<4x6xbf16>
  %loss = plan.call "aten.sum.default"(%y) {self = #base.operand<0>} in "head" : (tensor<4x6xbf16>) -> tensor<bf16>
  return %loss : tensor<bf16>
}

// -----

// Without a loss the program is a forward program.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: func.func
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @forward(%w: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (tensor<4xf32> {plan.name = "0"}) {
  return %w : tensor<4xf32>
}
