// Gradients of functions of parameters: none is laid out, and thereby reduced, before it is that of the parameter.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-differentiate | FileCheck %s

// The gradient of a function of a parameter is laid out after it; one that depends on the batch is laid out as usual.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<8xf32>
// CHECK: %[[Y:.*]] = plan.call "aten.mul.Tensor"
// CHECK: %[[DY:.*]] = plan.match %{{.*}} to %[[Y]]
// CHECK-NEXT: %[[P:.*]] = plan.call "aten.mul.Tensor"(%[[DY]], %{{.*}} backward :
// CHECK-NEXT: %[[S:.*]] = plan.call "aten.sum.dim_IntList"(%[[P]]){{.*}} backward {plan.keeps_addends} :
// CHECK-NEXT: %[[G:.*]] = plan.call "aten.softplus_backward.default"(%[[S]], %[[W]]){{.*}} backward {plan.keeps_addends} :
// CHECK-NEXT: %[[D:.*]] = plan.match %[[G]] to %[[W]]
// CHECK-NEXT: return %{{.*}}, %[[D]]
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.loss 0
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (tensor<f32> {plan.name = "loss"}) {
  %s = plan.call "aten.softplus.default"(%w) {self = #base.operand<0>} : (tensor<8xf32>) -> tensor<8xf32>
  %y = plan.call "aten.mul.Tensor"(%x, %s) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %e = plan.call "aten.exp.default"(%y) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss = plan.call "aten.sum.default"(%e) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A parameter that is rounded before it is gathered has an unrounded gradient.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<6x8xf32>
// CHECK: %[[GW:.*]] = plan.call "meshplan.weight_gradient"({{.*}} -> tensor<6x8xf32>
// CHECK-NEXT: %[[DW:.*]] = plan.match %[[GW]] to %[[W]]
// CHECK-NEXT: return %{{.*}}, %[[DW]]
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.loss 0
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<6x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (tensor<f32> {plan.name = "loss"}) {
  %n = plan.call "aten._to_copy.default"(%w) {self = #base.operand<0>, dtype = bf16} {plan.precision} : (tensor<6x8xf32>) -> tensor<6x8xbf16>
  %g = plan.constrain %n <[{}, {}]> along [#plan.axis<"dp">] as "precision" : tensor<6x8xbf16> -> tensor<6x8xbf16>
  %r = plan.call "aten._to_copy.default"(%g) {self = #base.operand<0>, dtype = f32} {plan.precision} : (tensor<6x8xbf16>) -> tensor<6x8xf32>
  %y = plan.call "aten.linear.default"(%x, %r) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  %loss = plan.call "aten.sum.default"(%y) {self = #base.operand<0>} : (tensor<4x6xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// The same conversions in the model are operators: PyTorch rounds their gradients, too.
// CHECK-LABEL: func.func @step(
// CHECK: %[[GW:.*]] = plan.call "meshplan.weight_gradient"({{.*}} -> tensor<6x8xf32>
// CHECK-NEXT: %[[ROUNDED:.*]] = plan.call "aten.to.dtype"(%[[GW]]) {dtype = bf16
// CHECK-NEXT: %[[WIDE:.*]] = plan.call "aten.to.dtype"(%[[ROUNDED]]) {dtype = f32
// CHECK-NEXT: plan.match %[[WIDE]] to
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.loss 0
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<6x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (tensor<f32> {plan.name = "loss"}) {
  %n = plan.call "aten._to_copy.default"(%w) {self = #base.operand<0>, dtype = bf16} : (tensor<6x8xf32>) -> tensor<6x8xbf16>
  %r = plan.call "aten._to_copy.default"(%n) {self = #base.operand<0>, dtype = f32} : (tensor<6x8xbf16>) -> tensor<6x8xf32>
  %y = plan.call "aten.linear.default"(%x, %r) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  %loss = plan.call "aten.sum.default"(%y) {self = #base.operand<0>} : (tensor<4x6xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A parameter that is stored narrower than it is read: its gradient stays wide, for 'reduce' or a master.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<8xbf16>
// CHECK-SAME: -> (tensor<f32> {{.*}}, tensor<8xf32> {plan.gradient_of
// CHECK: %[[D:.*]] = plan.match %{{.*}} to %[[W]] : tensor<8xf32>, tensor<8xbf16> -> tensor<8xf32>
// CHECK-NEXT: return %{{.*}}, %[[D]]
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.loss 0
func.func @forward(
    %w: tensor<8xbf16> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (tensor<f32> {plan.name = "loss"}) {
  %r = plan.call "aten._to_copy.default"(%w) {self = #base.operand<0>, dtype = f32} {plan.precision} : (tensor<8xbf16>) -> tensor<8xf32>
  %y = plan.call "aten.exp.default"(%r) {self = #base.operand<0>} : (tensor<8xf32>) -> tensor<8xf32>
  %loss = plan.call "aten.sum.default"(%y) {self = #base.operand<0>} : (tensor<8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// An operator without a record is unknown: its gradient is laid out, and thereby reduced, before its derivative.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<8x8xf32>
// CHECK: %[[E:.*]] = plan.call "aten.linalg_matrix_exp.default"(%{{.*}})
// CHECK: %[[GE:.*]] = plan.call "meshplan.weight_gradient"({{.*}} -> tensor<8x8xf32>
// CHECK-NEXT: %[[DE:.*]] = plan.match %[[GE]] to %[[E]]
// CHECK-NEXT: %[[GS:.*]] = plan.call "vjp.aten.linalg_matrix_exp.default"(%{{.*}}, %[[DE]])
// CHECK-NEXT: %[[GW:.*]] = plan.call "aten.mul.Tensor"({{.*}}%[[GS]]{{.*}} backward {plan.keeps_addends}
// CHECK-NEXT: plan.match %{{.*}} to %[[W]]
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.loss 0
func.func @forward(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true}) -> (tensor<f32> {plan.name = "loss"}) {
  %s = plan.call "aten.exp.default"(%w) {self = #base.operand<0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = plan.call "aten.linalg_matrix_exp.default"(%s) {self = #base.operand<0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = plan.call "aten.linear.default"(%x, %e) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %loss = plan.call "aten.sum.default"(%y) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
