// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-recompute | FileCheck %s

// Results that only the module reads are recomputed from its input, once for all backward readers; outputs are kept.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.recompute "mlp" keep []
// CHECK-NOT: plan.recompute
// CHECK-LABEL: func.func @step(%arg0: tensor<4x8xf32>
func.func @step(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<8x8xf32>) attributes {plan.role = #base.role<step>} {
  // CHECK: %[[A:.*]] = plan.call "aten.relu.default"(%arg0)
  %a = plan.call "aten.relu.default"(%x) {self = #base.operand<0>} in "mlp.act" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %[[B:.*]] = plan.call "aten.exp.default"(%[[A]])
  %b = plan.call "aten.exp.default"(%a) {self = #base.operand<0>} in "mlp" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %[[Y:.*]] = plan.call "aten.linear.default"(%[[B]], %arg1)
  %y = plan.call "aten.linear.default"(%b, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp"
    : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  // CHECK: %[[Z:.*]] = plan.call "aten.exp.default"(%[[Y]]) {self = #base.operand<0>} in "head"
  %z = plan.call "aten.exp.default"(%y) {self = #base.operand<0>} in "head" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: plan.call "aten.mul.Tensor"(%[[Z]], %[[Y]]) {{.*}} backward
  %g = plan.call "aten.mul.Tensor"(%z, %y) {self = #base.operand<0>, other = #base.operand<1>} in "head" backward
    : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %[[A2:.*]] = plan.call "aten.relu.default"(%arg0) {{.*}} in "mlp.act" backward
  // CHECK: %[[B2:.*]] = plan.call "aten.exp.default"(%[[A2]]) {{.*}} in "mlp" backward
  // CHECK: %[[W:.*]] = plan.call "meshplan.weight_gradient"(%{{.*}}, %[[B2]])
  %gw = plan.call "meshplan.weight_gradient"(%g, %b) {left = #base.operand<0>, right = #base.operand<1>} in "mlp" backward
    : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  // CHECK: plan.call "aten.mul.Tensor"(%{{.*}}, %[[B2]])
  %gx = plan.call "aten.mul.Tensor"(%g, %b) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" backward
    : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %gx, %gw : tensor<4x8xf32>, tensor<8x8xf32>
}

// -----

// Tokens of a copy of a route are divided as those of the route, whose rows may be kept.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.recompute "mlp" keep []
// CHECK-LABEL: func.func @step(
func.func @step(%x: tensor<4x2xi64>, %dy: tensor<4x8xf32>) -> tensor<3x4x8xf32> attributes {plan.role = #base.role<step>} {
  // CHECK: %[[IDS:.*]] = plan.call "aten.abs.default"(%arg0)
  %ids = plan.call "aten.abs.default"(%x) {self = #base.operand<0>} in "mlp" : (tensor<4x2xi64>) -> tensor<4x2xi64>
  // CHECK-NEXT: plan.call "meshplan.route"(%[[IDS]])
  %table, %counts = plan.call "meshplan.route"(%ids) {indices = #base.operand<0>, first = 0 : i64, experts = 3 : i64} in "mlp"
    : (tensor<4x2xi64>) -> (tensor<3x4xi64>, tensor<3x4xi64>)
  // CHECK-NEXT: %[[COPY:.*]] = plan.call "aten.abs.default"(%arg0) {{.*}} backward
  // CHECK-NEXT: %[[LIKE:.*]] = plan.match %[[COPY]] to %[[IDS]]
  // CHECK-NEXT: %[[TABLE:.*]]:2 = plan.call "meshplan.route"(%[[LIKE]]) {{.*}} backward
  // CHECK-NEXT: plan.call "meshplan.dispatch"(%arg1, %[[TABLE]]#0)
  %rows = plan.call "meshplan.dispatch"(%dy, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp" backward
    : (tensor<4x8xf32>, tensor<3x4xi64>) -> tensor<3x4x8xf32>
  return %rows : tensor<3x4x8xf32>
}

// -----

// The results of a named operator are kept, and later calls are recomputed from them.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.recompute "mlp" keep ["exp"]
// CHECK-LABEL: func.func @step(
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.role = #base.role<step>} {
  // plan-repeat-forward does not recompute a kept result either.
  // CHECK: %[[A:.*]] = plan.call "aten.exp.default"(%arg0) {{.*}} {plan.kept}
  %a = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} in "mlp" : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.call "aten.relu.default"(%a) {self = #base.operand<0>} in "mlp" : (tensor<4xf32>) -> tensor<4xf32>
  %c = plan.call "aten.neg.default"(%b) {self = #base.operand<0>} in "mlp" : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: plan.call "aten.relu.default"(%[[A]]) {{.*}} in "mlp" :
  // CHECK: plan.call "aten.neg.default"
  // CHECK: %[[B:.*]] = plan.call "aten.relu.default"(%[[A]]) {{.*}} backward
  // CHECK: plan.call "aten.mul.Tensor"(%[[B]], %{{.*}}) {{.*}} backward
  %g = plan.call "aten.mul.Tensor"(%b, %c) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" backward
    : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// Constraints between two calls are repeated, too: that on the result of a norm, and that on the operand of a product.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.recompute "mlp" keep []
// CHECK-LABEL: func.func @step(
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plan.role = #base.role<step>} {
  %a = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} in "mlp" : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.constrain %a <[{"tp"}]> along [#plan.axis<"tp">] as "sequence tp" : tensor<4xf32> -> tensor<4xf32>
  %b2 = plan.constrain %b <[{}]> along [#plan.axis<"tp">] as "colwise tp" : tensor<4xf32> -> tensor<4xf32>
  %c = plan.call "aten.neg.default"(%b2) {self = #base.operand<0>} in "mlp" : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: plan.call "aten.neg.default"
  // CHECK: %[[A:.*]] = plan.call "aten.exp.default"(%arg0) {{.*}} backward
  // CHECK: %[[B:.*]] = plan.constrain %[[A]]
  // CHECK: %[[C:.*]] = plan.constrain %[[B]]
  // CHECK: plan.call "aten.mul.Tensor"(%[[C]], %{{.*}}) {{.*}} backward
  %g = plan.call "aten.mul.Tensor"(%b2, %x) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" backward
    : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// A call that draws random numbers has the same number when it is recomputed.
plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.recompute "mlp" keep []
// CHECK-LABEL: func.func @step(%arg0: tensor<4xf32>, %arg1: tensor<f64>
func.func @step(%x: tensor<4xf32>, %seed: tensor<f64>) -> tensor<4xf32> attributes {plan.role = #base.role<step>} {
  // CHECK: plan.call "meshplan.dropout"(%arg0, %arg1) {{.*}}number = 3 : i64{{.*}} in "mlp" :
  %a = plan.call "meshplan.dropout"(%x, %seed) {input = #base.operand<0>, seed = #base.operand<1>,
      step = #base.operand<1>, p = 0.5 : f64, number = 3 : i64} in "mlp" : (tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  %b = plan.call "aten.exp.default"(%a) {self = #base.operand<0>} in "mlp" : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[A:.*]] = plan.call "meshplan.dropout"(%arg0, %arg1) {{.*}}number = 3 : i64{{.*}} in "mlp" backward
  // CHECK: plan.call "aten.mul.Tensor"(%[[A]], %{{.*}}) {{.*}} backward
  %g = plan.call "aten.mul.Tensor"(%a, %b) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" backward
    : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
