// Modules within modules, results that leave a module, and operations that are not calls.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-recompute | FileCheck %s

// Of several modules around a call the outermost counts: results that the inner one passes to it are recomputed, too.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.recompute "layer.mlp" keep []
plan.recompute "layer" keep []
// CHECK-LABEL: func.func @step(
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.role = #base.role<step>} {
  // CHECK-NEXT: %[[Z:.*]] = plan.call "aten.relu.default"(%arg0) {self = #base.operand<0>} in "layer.mlp" :
  // CHECK-NEXT: %[[Y:.*]] = plan.call "aten.exp.default"(%[[Z]]) {self = #base.operand<0>} in "layer" :
  // CHECK-NEXT: %[[OUT:.*]] = plan.call "aten.neg.default"(%[[Y]]) {self = #base.operand<0>} in "head" :
  // CHECK-NEXT: %[[A:.*]] = plan.call "aten.relu.default"(%arg0) {self = #base.operand<0>} in "layer.mlp" backward
  // CHECK-NEXT: plan.call "aten.mul.Tensor"(%[[A]], %[[Y]])
  %a = plan.call "aten.relu.default"(%x) {self = #base.operand<0>} in "layer.mlp" : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.call "aten.exp.default"(%a) {self = #base.operand<0>} in "layer" : (tensor<4xf32>) -> tensor<4xf32>
  %c = plan.call "aten.neg.default"(%b) {self = #base.operand<0>} in "head" : (tensor<4xf32>) -> tensor<4xf32>
  %g = plan.call "aten.mul.Tensor"(%a, %b) {self = #base.operand<0>, other = #base.operand<1>} in "layer" backward
    : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// The inner module alone: its outputs are kept, and nothing else.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.recompute "layer.mlp" keep []
// CHECK-LABEL: func.func @step(
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.role = #base.role<step>} {
  // CHECK-NEXT: plan.call "aten.relu.default"(%arg0)
  // CHECK-NEXT: %[[B:.*]] = plan.call "aten.exp.default"
  // CHECK-NEXT: plan.call "aten.neg.default"
  // CHECK-NEXT: %[[A:.*]] = plan.call "aten.relu.default"(%arg0) {{.*}} backward
  // CHECK-NEXT: plan.call "aten.mul.Tensor"(%[[A]], %[[B]])
  %a = plan.call "aten.relu.default"(%x) {self = #base.operand<0>} in "layer.mlp" : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.call "aten.exp.default"(%a) {self = #base.operand<0>} in "layer.mlp" : (tensor<4xf32>) -> tensor<4xf32>
  %c = plan.call "aten.neg.default"(%b) {self = #base.operand<0>} in "layer" : (tensor<4xf32>) -> tensor<4xf32>
  %g = plan.call "aten.mul.Tensor"(%a, %b) {self = #base.operand<0>, other = #base.operand<1>} in "layer.mlp" backward
    : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// A module whose name only starts like another's is not inside it. An output of the model leaves every module.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.recompute "layer" keep []
// CHECK-LABEL: func.func @step(
// CHECK-COUNT-2: plan.call "aten.{{relu|exp}}.default"
// CHECK-NOT: plan.call "aten.{{relu|exp}}.default"
// CHECK: plan.call "aten.mul.Tensor"
func.func @step(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {plan.role = #base.role<step>} {
  %a = plan.call "aten.relu.default"(%x) {self = #base.operand<0>} in "layers" : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} in "layer" : (tensor<4xf32>) -> tensor<4xf32>
  %g = plan.call "aten.mul.Tensor"(%a, %b) {self = #base.operand<0>, other = #base.operand<1>} in "layer" backward
    : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %b, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

// A call with several results is kept if one of them leaves; otherwise it is recomputed once for all of its results.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.recompute "mlp" keep []
// CHECK-LABEL: func.func @step(
func.func @step(%x: tensor<4x4xf32>) -> tensor<4x2xf32> attributes {plan.role = #base.role<step>} {
  // CHECK-NEXT: %[[KEPT:.*]]:2 = plan.call "aten.split.Tensor"(%arg0)
  // CHECK-NEXT: plan.call "aten.exp.default"(%[[KEPT]]#1)
  // CHECK-NEXT: %{{.*}}:2 = plan.call "aten.split.Tensor"(%arg0)
  // CHECK-NEXT: plan.call "aten.cos.default"
  // CHECK-NEXT: %[[AGAIN:.*]]:2 = plan.call "aten.split.Tensor"(%arg0) {{.*}} in "mlp.b" backward
  // CHECK-NEXT: plan.call "aten.mul.Tensor"(%[[KEPT]]#0, %[[AGAIN]]#1)
  // CHECK-NEXT: plan.call "aten.mul.Tensor"(%[[AGAIN]]#0, %[[AGAIN]]#1)
  %a:2 = plan.call "aten.split.Tensor"(%x) {self = #base.operand<0>, split_size = 2, dim = 1} in "mlp.a"
    : (tensor<4x4xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>)
  %b = plan.call "aten.exp.default"(%a#1) {self = #base.operand<0>} in "head" : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %c:2 = plan.call "aten.split.Tensor"(%x) {self = #base.operand<0>, split_size = 2, dim = 1} in "mlp.b"
    : (tensor<4x4xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>)
  %d = plan.call "aten.cos.default"(%c#0) {self = #base.operand<0>} in "mlp" : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %g = plan.call "aten.mul.Tensor"(%a#0, %c#1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" backward
    : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %h = plan.call "aten.mul.Tensor"(%c#0, %c#1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" backward
    : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %h : tensor<4x2xf32>
}

// -----

// A constraint that is also read outside of the module keeps its operand; a match does not count as a reader.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.recompute "mlp" keep []
// CHECK-LABEL: func.func @step(
func.func @step(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {plan.role = #base.role<step>} {
  // CHECK: %[[A:.*]] = plan.call "aten.exp.default"(%arg0)
  // CHECK: %[[B:.*]] = plan.constrain %[[A]]
  // CHECK: %[[C:.*]] = plan.call "aten.cos.default"(%arg0)
  // CHECK: plan.match %{{.*}} to %[[C]]
  // CHECK: %[[D:.*]] = plan.call "aten.cos.default"(%arg0) {{.*}} backward
  // CHECK: plan.call "aten.mul.Tensor"(%[[B]], %[[D]]) {{.*}} backward
  %a = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} in "mlp" : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.constrain %a <[{"tp"}]> along [#plan.axis<"tp">] as "rowwise tp" : tensor<4xf32> -> tensor<4xf32>
  %out = plan.call "aten.neg.default"(%b) {self = #base.operand<0>} in "head" : (tensor<4xf32>) -> tensor<4xf32>
  %c = plan.call "aten.cos.default"(%x) {self = #base.operand<0>} in "mlp" : (tensor<4xf32>) -> tensor<4xf32>
  %m = plan.match %x to %c : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %g = plan.call "aten.mul.Tensor"(%b, %c) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" backward
    : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %out, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

// The forward program keeps nothing anyway.
plan.mesh [#base.mesh_axis<"tp" = 2>]
// CHECK-NOT: plan.recompute
plan.recompute "mlp" keep ["attention"]
// CHECK-LABEL: func.func @forward(
// CHECK-NEXT: plan.call "aten.exp.default"
// CHECK-NEXT: return
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} in "mlp" : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
