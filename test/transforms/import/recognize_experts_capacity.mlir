// Experts with a capacity, in one-hot products.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-recognize-experts -split-input-file -verify-diagnostics | FileCheck %s

// The tokens of a sample are counted; second choices come after all first ones.
// CHECK-LABEL: func.func @two_choices
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x6x8xf32>, %[[GATES:[a-z0-9]+]]: tensor<2x6x2xf32>, %{{.*}}: tensor<2x6x4xf32>, %[[W:[a-z0-9]+]]: tensor<4x8x16xf32>, %[[V:[a-z0-9]+]]: tensor<4x16x8xf32>)
// CHECK: %[[CHOICE:.*]]:2 = plan.call "aten.topk.default"
// CHECK: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"(%[[CHOICE]]#1)
// CHECK: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%[[X]], %[[ROUTE]]#0)
// CHECK: %[[INNER:.*]] = plan.call "meshplan.grouped_linear"(%[[ROWS]], %[[W]], %[[ROUTE]]#1) {{.*}} transposed = true
// CHECK: %[[ACT:.*]] = plan.call "aten.relu.default"(%[[INNER]])
// CHECK: %[[OUTER:.*]] = plan.call "meshplan.grouped_linear"(%[[ACT]], %[[V]], %[[ROUTE]]#1) {{.*}} transposed = true
// CHECK: %[[KEPT:.*]] = plan.call "aten.stack.default"
// CHECK: %[[ROUTED:.*]] = plan.call "meshplan.dispatch_gates"(%[[KEPT]], %[[ROUTE]]#0)
// CHECK: %[[COLUMN:.*]] = plan.call "aten.unsqueeze.default"(%[[ROUTED]])
// CHECK: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%[[OUTER]], %[[COLUMN]])
// CHECK: %[[SUM:.*]] = plan.call "meshplan.combine"(%[[WEIGHTED]], %[[ROUTE]]#0)
// CHECK-NOT: aten.einsum
// CHECK: return %[[SUM]]
func.func @two_choices(
    %x: tensor<2x6x8xf32>,
    %gates: tensor<2x6x2xf32>,
    %scores: tensor<2x6x4xf32>,
    %w: tensor<4x8x16xf32>,
    %v: tensor<4x16x8xf32>) -> tensor<2x6x8xf32> {
  %t:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp" : (tensor<2x6x4xf32>) -> (tensor<2x6x2xf32>, tensor<2x6x2xi64>)
  %i0 = plan.call "aten.select.int"(%t#1) {self = #base.operand<0>, dim = 2 : i64, index = 0 : i64} in "mlp" : (tensor<2x6x2xi64>) -> tensor<2x6xi64>
  %h0 = plan.call "aten.one_hot.default"(%i0) {self = #base.operand<0>, num_classes = 4 : i64} in "mlp" : (tensor<2x6xi64>) -> tensor<2x6x4xi64>
  %n0 = plan.call "aten.cumsum.default"(%h0) {self = #base.operand<0>, dim = 1 : i64} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6x4xi64>
  %p0 = plan.call "aten.sub.Tensor"(%n0) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6x4xi64>
  %l0 = plan.call "aten.lt.Scalar"(%p0) {self = #base.operand<0>, other = 3 : i64} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6x4xi1>
  %m0 = plan.call "aten.mul.Tensor"(%h0, %l0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4xi64>, tensor<2x6x4xi1>) -> tensor<2x6x4xi64>
  %a0 = plan.call "aten.mul.Tensor"(%p0, %m0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4xi64>, tensor<2x6x4xi64>) -> tensor<2x6x4xi64>
  %z0 = plan.call "aten.sum.dim_IntList"(%a0) {self = #base.operand<0>, dim = [-1]} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6xi64>
  %o0 = plan.call "aten.one_hot.default"(%z0) {self = #base.operand<0>, num_classes = 3 : i64} in "mlp" : (tensor<2x6xi64>) -> tensor<2x6x3xi64>
  %e0 = plan.call "aten.einsum.default"(%m0, %o0) {equation = "bse,bsc->bsec", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<2x6x4xi64>, tensor<2x6x3xi64>) -> tensor<2x6x4x3xi64>
  %s0 = plan.call "aten.to.dtype"(%e0) {self = #base.operand<0>, dtype = f32} in "mlp" : (tensor<2x6x4x3xi64>) -> tensor<2x6x4x3xf32>
  %f0 = plan.call "aten.select.int"(%gates) {self = #base.operand<0>, dim = 2 : i64, index = 0 : i64} in "mlp" : (tensor<2x6x2xf32>) -> tensor<2x6xf32>
  %k0 = plan.call "aten.view.default"(%f0) {self = #base.operand<0>, size = [2, 6, 1, 1]} in "mlp" : (tensor<2x6xf32>) -> tensor<2x6x1x1xf32>
  %g0 = plan.call "aten.mul.Tensor"(%k0, %s0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x1x1xf32>, tensor<2x6x4x3xf32>) -> tensor<2x6x4x3xf32>
  %i1 = plan.call "aten.select.int"(%t#1) {self = #base.operand<0>, dim = 2 : i64, index = 1 : i64} in "mlp" : (tensor<2x6x2xi64>) -> tensor<2x6xi64>
  %h1 = plan.call "aten.one_hot.default"(%i1) {self = #base.operand<0>, num_classes = 4 : i64} in "mlp" : (tensor<2x6xi64>) -> tensor<2x6x4xi64>
  %n1 = plan.call "aten.cumsum.default"(%h1) {self = #base.operand<0>, dim = 1 : i64} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6x4xi64>
  %q1 = plan.call "aten.sub.Tensor"(%n1) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6x4xi64>
  %b = plan.call "aten.sum.dim_IntList"(%h0) {self = #base.operand<0>, dim = [1], keepdim = true} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x1x4xi64>
  %p1 = plan.call "aten.add.Tensor"(%q1, %b) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4xi64>, tensor<2x1x4xi64>) -> tensor<2x6x4xi64>
  %l1 = plan.call "aten.lt.Scalar"(%p1) {self = #base.operand<0>, other = 3 : i64} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6x4xi1>
  %m1 = plan.call "aten.mul.Tensor"(%h1, %l1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4xi64>, tensor<2x6x4xi1>) -> tensor<2x6x4xi64>
  %a1 = plan.call "aten.mul.Tensor"(%p1, %m1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4xi64>, tensor<2x6x4xi64>) -> tensor<2x6x4xi64>
  %z1 = plan.call "aten.sum.dim_IntList"(%a1) {self = #base.operand<0>, dim = [-1]} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6xi64>
  %o1 = plan.call "aten.one_hot.default"(%z1) {self = #base.operand<0>, num_classes = 3 : i64} in "mlp" : (tensor<2x6xi64>) -> tensor<2x6x3xi64>
  %e1 = plan.call "aten.einsum.default"(%m1, %o1) {equation = "bse,bsc->bsec", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<2x6x4xi64>, tensor<2x6x3xi64>) -> tensor<2x6x4x3xi64>
  %s1 = plan.call "aten.to.dtype"(%e1) {self = #base.operand<0>, dtype = f32} in "mlp" : (tensor<2x6x4x3xi64>) -> tensor<2x6x4x3xf32>
  %f1 = plan.call "aten.select.int"(%gates) {self = #base.operand<0>, dim = 2 : i64, index = 1 : i64} in "mlp" : (tensor<2x6x2xf32>) -> tensor<2x6xf32>
  %k1 = plan.call "aten.view.default"(%f1) {self = #base.operand<0>, size = [2, 6, 1, 1]} in "mlp" : (tensor<2x6xf32>) -> tensor<2x6x1x1xf32>
  %g1 = plan.call "aten.mul.Tensor"(%k1, %s1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x1x1xf32>, tensor<2x6x4x3xf32>) -> tensor<2x6x4x3xf32>
  %d = plan.call "aten.add.Tensor"(%s0, %s1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4x3xf32>, tensor<2x6x4x3xf32>) -> tensor<2x6x4x3xf32>
  %c = plan.call "aten.add.Tensor"(%g0, %g1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4x3xf32>, tensor<2x6x4x3xf32>) -> tensor<2x6x4x3xf32>
  %r = plan.call "aten.einsum.default"(%d, %x) {equation = "bsec,bsm->ebcm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<2x6x4x3xf32>, tensor<2x6x8xf32>) -> tensor<4x2x3x8xf32>
  %u = plan.call "aten.einsum.default"(%r, %w) {equation = "ebcm, emh -> ebch", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<4x2x3x8xf32>, tensor<4x8x16xf32>) -> tensor<4x2x3x16xf32>
  %act = plan.call "aten.relu.default"(%u) {self = #base.operand<0>} in "mlp" : (tensor<4x2x3x16xf32>) -> tensor<4x2x3x16xf32>
  %y = plan.call "aten.einsum.default"(%act, %v) {equation = "ebch,ehm->ebcm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<4x2x3x16xf32>, tensor<4x16x8xf32>) -> tensor<4x2x3x8xf32>
  %out = plan.call "aten.einsum.default"(%c, %y) {equation = "bsec,ebcm->bsm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<2x6x4x3xf32>, tensor<4x2x3x8xf32>) -> tensor<2x6x8xf32>
  return %out : tensor<2x6x8xf32>
}

// -----

// Positions of second choices that begin at 0 again: a position may have two tokens.
// CHECK-LABEL: func.func @twice
// CHECK-NOT: meshplan
func.func @twice(
    %x: tensor<2x6x8xf32>,
    %gates: tensor<2x6x2xf32>,
    %scores: tensor<2x6x4xf32>,
    %w: tensor<4x8x16xf32>,
    %v: tensor<4x16x8xf32>) -> tensor<2x6x8xf32> {
  %t:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp" : (tensor<2x6x4xf32>) -> (tensor<2x6x2xf32>, tensor<2x6x2xi64>)
  %i0 = plan.call "aten.select.int"(%t#1) {self = #base.operand<0>, dim = 2 : i64, index = 0 : i64} in "mlp" : (tensor<2x6x2xi64>) -> tensor<2x6xi64>
  %h0 = plan.call "aten.one_hot.default"(%i0) {self = #base.operand<0>, num_classes = 4 : i64} in "mlp" : (tensor<2x6xi64>) -> tensor<2x6x4xi64>
  %n0 = plan.call "aten.cumsum.default"(%h0) {self = #base.operand<0>, dim = 1 : i64} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6x4xi64>
  %p0 = plan.call "aten.sub.Tensor"(%n0) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6x4xi64>
  %l0 = plan.call "aten.lt.Scalar"(%p0) {self = #base.operand<0>, other = 3 : i64} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6x4xi1>
  %m0 = plan.call "aten.mul.Tensor"(%h0, %l0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4xi64>, tensor<2x6x4xi1>) -> tensor<2x6x4xi64>
  %a0 = plan.call "aten.mul.Tensor"(%p0, %m0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4xi64>, tensor<2x6x4xi64>) -> tensor<2x6x4xi64>
  %z0 = plan.call "aten.sum.dim_IntList"(%a0) {self = #base.operand<0>, dim = [-1]} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6xi64>
  %o0 = plan.call "aten.one_hot.default"(%z0) {self = #base.operand<0>, num_classes = 3 : i64} in "mlp" : (tensor<2x6xi64>) -> tensor<2x6x3xi64>
  %e0 = plan.call "aten.einsum.default"(%m0, %o0) {equation = "bse,bsc->bsec", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<2x6x4xi64>, tensor<2x6x3xi64>) -> tensor<2x6x4x3xi64>
  %s0 = plan.call "aten.to.dtype"(%e0) {self = #base.operand<0>, dtype = f32} in "mlp" : (tensor<2x6x4x3xi64>) -> tensor<2x6x4x3xf32>
  %f0 = plan.call "aten.select.int"(%gates) {self = #base.operand<0>, dim = 2 : i64, index = 0 : i64} in "mlp" : (tensor<2x6x2xf32>) -> tensor<2x6xf32>
  %k0 = plan.call "aten.view.default"(%f0) {self = #base.operand<0>, size = [2, 6, 1, 1]} in "mlp" : (tensor<2x6xf32>) -> tensor<2x6x1x1xf32>
  %g0 = plan.call "aten.mul.Tensor"(%k0, %s0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x1x1xf32>, tensor<2x6x4x3xf32>) -> tensor<2x6x4x3xf32>
  %i1 = plan.call "aten.select.int"(%t#1) {self = #base.operand<0>, dim = 2 : i64, index = 1 : i64} in "mlp" : (tensor<2x6x2xi64>) -> tensor<2x6xi64>
  %h1 = plan.call "aten.one_hot.default"(%i1) {self = #base.operand<0>, num_classes = 4 : i64} in "mlp" : (tensor<2x6xi64>) -> tensor<2x6x4xi64>
  %n1 = plan.call "aten.cumsum.default"(%h1) {self = #base.operand<0>, dim = 1 : i64} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6x4xi64>
  %p1 = plan.call "aten.sub.Tensor"(%n1) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6x4xi64>
  %l1 = plan.call "aten.lt.Scalar"(%p1) {self = #base.operand<0>, other = 3 : i64} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6x4xi1>
  %m1 = plan.call "aten.mul.Tensor"(%h1, %l1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4xi64>, tensor<2x6x4xi1>) -> tensor<2x6x4xi64>
  %a1 = plan.call "aten.mul.Tensor"(%p1, %m1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4xi64>, tensor<2x6x4xi64>) -> tensor<2x6x4xi64>
  %z1 = plan.call "aten.sum.dim_IntList"(%a1) {self = #base.operand<0>, dim = [-1]} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6xi64>
  %o1 = plan.call "aten.one_hot.default"(%z1) {self = #base.operand<0>, num_classes = 3 : i64} in "mlp" : (tensor<2x6xi64>) -> tensor<2x6x3xi64>
  %e1 = plan.call "aten.einsum.default"(%m1, %o1) {equation = "bse,bsc->bsec", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<2x6x4xi64>, tensor<2x6x3xi64>) -> tensor<2x6x4x3xi64>
  %s1 = plan.call "aten.to.dtype"(%e1) {self = #base.operand<0>, dtype = f32} in "mlp" : (tensor<2x6x4x3xi64>) -> tensor<2x6x4x3xf32>
  %f1 = plan.call "aten.select.int"(%gates) {self = #base.operand<0>, dim = 2 : i64, index = 1 : i64} in "mlp" : (tensor<2x6x2xf32>) -> tensor<2x6xf32>
  %k1 = plan.call "aten.view.default"(%f1) {self = #base.operand<0>, size = [2, 6, 1, 1]} in "mlp" : (tensor<2x6xf32>) -> tensor<2x6x1x1xf32>
  %g1 = plan.call "aten.mul.Tensor"(%k1, %s1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x1x1xf32>, tensor<2x6x4x3xf32>) -> tensor<2x6x4x3xf32>
  %d = plan.call "aten.add.Tensor"(%s0, %s1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4x3xf32>, tensor<2x6x4x3xf32>) -> tensor<2x6x4x3xf32>
  %c = plan.call "aten.add.Tensor"(%g0, %g1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4x3xf32>, tensor<2x6x4x3xf32>) -> tensor<2x6x4x3xf32>
  %r = plan.call "aten.einsum.default"(%d, %x) {equation = "bsec,bsm->ebcm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<2x6x4x3xf32>, tensor<2x6x8xf32>) -> tensor<4x2x3x8xf32>
  %u = plan.call "aten.einsum.default"(%r, %w) {equation = "ebcm, emh -> ebch", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<4x2x3x8xf32>, tensor<4x8x16xf32>) -> tensor<4x2x3x16xf32>
  %act = plan.call "aten.relu.default"(%u) {self = #base.operand<0>} in "mlp" : (tensor<4x2x3x16xf32>) -> tensor<4x2x3x16xf32>
  %y = plan.call "aten.einsum.default"(%act, %v) {equation = "ebch,ehm->ebcm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<4x2x3x16xf32>, tensor<4x16x8xf32>) -> tensor<4x2x3x8xf32>
  // expected-remark@below {{experts of 'mlp' are computed as the model writes them: two tokens of an expert may have the same position}}
  // expected-note@below {{help: choose experts with topk, and compute on each row alone between the products with their weights}}
  %out = plan.call "aten.einsum.default"(%c, %y) {equation = "bsec,ebcm->bsm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<2x6x4x3xf32>, tensor<4x2x3x8xf32>) -> tensor<2x6x8xf32>
  return %out : tensor<2x6x8xf32>
}

// -----

// Biases of experts, which positions without a token get, too: by a sum, and by a product that adds.
// CHECK-LABEL: func.func @biases
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<6x8xf32>, %{{.*}}: tensor<6x4xf32>, %[[W:[a-z0-9]+]]: tensor<4x8x16xf32>, %[[B:[a-z0-9]+]]: tensor<4x16xf32>, %[[V:[a-z0-9]+]]: tensor<4x16x8xf32>, %[[C:[a-z0-9]+]]: tensor<4x1x8xf32>)
// CHECK: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"
// CHECK: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%[[X]], %[[ROUTE]]#0)
// CHECK: %[[INNER:.*]] = plan.call "meshplan.grouped_linear"(%[[ROWS]], %[[W]], %[[ROUTE]]#1)
// CHECK: %[[SUM:.*]] = plan.call "meshplan.grouped_bias"(%[[INNER]], %[[B]], %[[ROUTE]]#1)
// CHECK: %[[ACT:.*]] = plan.call "aten.relu.default"(%[[SUM]])
// CHECK: %[[LAST:.*]] = plan.call "aten.reshape.default"(%[[C]]) {{.*}} -> tensor<4x8xf32>
// CHECK: %[[OUTER:.*]] = plan.call "meshplan.grouped_linear"(%[[ACT]], %[[V]], %[[ROUTE]]#1)
// CHECK: plan.call "meshplan.grouped_bias"(%[[OUTER]], %[[LAST]], %[[ROUTE]]#1)
// CHECK: plan.call "meshplan.combine"
func.func @biases(
    %x: tensor<6x8xf32>,
    %scores: tensor<6x4xf32>,
    %w: tensor<4x8x16xf32>,
    %b: tensor<4x16xf32>,
    %v: tensor<4x16x8xf32>,
    %c: tensor<4x1x8xf32>) -> tensor<6x8xf32> {
  %t:2 = plan.call "aten.max.dim"(%scores) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6x4xf32>) -> (tensor<6xf32>, tensor<6xi64>)
  %0 = plan.call "aten.one_hot.default"(%t#1) {self = #base.operand<0>, num_classes = 4 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6x4xi64>
  %1 = plan.call "aten.cumsum.default"(%0) {self = #base.operand<0>, dim = 0 : i64} in "mlp" : (tensor<6x4xi64>) -> tensor<6x4xi64>
  %2 = plan.call "aten.sub.Tensor"(%1) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<6x4xi64>) -> tensor<6x4xi64>
  %3 = plan.call "aten.lt.Scalar"(%2) {self = #base.operand<0>, other = 3 : i64} in "mlp" : (tensor<6x4xi64>) -> tensor<6x4xi1>
  %4 = plan.call "aten.mul.Tensor"(%0, %3) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x4xi64>, tensor<6x4xi1>) -> tensor<6x4xi64>
  %5 = plan.call "aten.mul.Tensor"(%2, %4) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x4xi64>, tensor<6x4xi64>) -> tensor<6x4xi64>
  %6 = plan.call "aten.sum.dim_IntList"(%5) {self = #base.operand<0>, dim = [-1]} in "mlp" : (tensor<6x4xi64>) -> tensor<6xi64>
  %7 = plan.call "aten.one_hot.default"(%6) {self = #base.operand<0>, num_classes = 3 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6x3xi64>
  %8 = plan.call "aten.einsum.default"(%4, %7) {equation = "te,tc->tec", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x4xi64>, tensor<6x3xi64>) -> tensor<6x4x3xi64>
  %9 = plan.call "aten.to.dtype"(%8) {self = #base.operand<0>, dtype = f32} in "mlp" : (tensor<6x4x3xi64>) -> tensor<6x4x3xf32>
  %10 = plan.call "aten.einsum.default"(%9, %x) {equation = "tec,tm->ecm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x4x3xf32>, tensor<6x8xf32>) -> tensor<4x3x8xf32>
  %11 = plan.call "aten.bmm.default"(%10, %w) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp" : (tensor<4x3x8xf32>, tensor<4x8x16xf32>) -> tensor<4x3x16xf32>
  %12 = plan.call "aten.unsqueeze.default"(%b) {self = #base.operand<0>, dim = 1 : i64} in "mlp" : (tensor<4x16xf32>) -> tensor<4x1x16xf32>
  %13 = plan.call "aten.add.Tensor"(%11, %12) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<4x3x16xf32>, tensor<4x1x16xf32>) -> tensor<4x3x16xf32>
  %14 = plan.call "aten.relu.default"(%13) {self = #base.operand<0>} in "mlp" : (tensor<4x3x16xf32>) -> tensor<4x3x16xf32>
  %15 = plan.call "aten.baddbmm.default"(%c, %14, %v) {self = #base.operand<0>, batch1 = #base.operand<1>, batch2 = #base.operand<2>} in "mlp" : (tensor<4x1x8xf32>, tensor<4x3x16xf32>, tensor<4x16x8xf32>) -> tensor<4x3x8xf32>
  %16 = plan.call "aten.view.default"(%t#0) {self = #base.operand<0>, size = [6, 1, 1]} in "mlp" : (tensor<6xf32>) -> tensor<6x1x1xf32>
  %17 = plan.call "aten.mul.Tensor"(%16, %9) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x1x1xf32>, tensor<6x4x3xf32>) -> tensor<6x4x3xf32>
  %18 = plan.call "aten.einsum.default"(%17, %15) {equation = "tec,ecm->tm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x4x3xf32>, tensor<4x3x8xf32>) -> tensor<6x8xf32>
  return %18 : tensor<6x8xf32>
}

// -----

// One position for each expert: a bias has the shape of the rows.
// CHECK-LABEL: func.func @one_position
// CHECK: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"
// CHECK: %[[ROWS:.*]] = plan.call "meshplan.dispatch"
// CHECK: %[[INNER:.*]] = plan.call "meshplan.grouped_linear"(%[[ROWS]]
// CHECK: %[[BIAS:.*]] = plan.call "aten.reshape.default"(%{{.*}}) {{.*}} -> tensor<4x8xf32>
// CHECK: %[[SUM:.*]] = plan.call "meshplan.grouped_bias"(%[[INNER]], %[[BIAS]], %[[ROUTE]]#1)
// CHECK: plan.call "aten.add.Tensor"(%[[SUM]], %[[ROWS]])
// CHECK: plan.call "meshplan.combine"
func.func @one_position(
    %x: tensor<6x8xf32>,
    %scores: tensor<6x4xf32>,
    %w: tensor<4x8x8xf32>,
    %b: tensor<4x1x8xf32>) -> tensor<6x8xf32> {
  %t:2 = plan.call "aten.max.dim"(%scores) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6x4xf32>) -> (tensor<6xf32>, tensor<6xi64>)
  %0 = plan.call "aten.one_hot.default"(%t#1) {self = #base.operand<0>, num_classes = 4 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6x4xi64>
  %1 = plan.call "aten.cumsum.default"(%0) {self = #base.operand<0>, dim = 0 : i64} in "mlp" : (tensor<6x4xi64>) -> tensor<6x4xi64>
  %2 = plan.call "aten.sub.Tensor"(%1) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<6x4xi64>) -> tensor<6x4xi64>
  %3 = plan.call "aten.lt.Scalar"(%2) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<6x4xi64>) -> tensor<6x4xi1>
  %4 = plan.call "aten.mul.Tensor"(%0, %3) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x4xi64>, tensor<6x4xi1>) -> tensor<6x4xi64>
  %5 = plan.call "aten.mul.Tensor"(%2, %4) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x4xi64>, tensor<6x4xi64>) -> tensor<6x4xi64>
  %6 = plan.call "aten.sum.dim_IntList"(%5) {self = #base.operand<0>, dim = [-1]} in "mlp" : (tensor<6x4xi64>) -> tensor<6xi64>
  %7 = plan.call "aten.one_hot.default"(%6) {self = #base.operand<0>, num_classes = 1 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6x1xi64>
  %8 = plan.call "aten.einsum.default"(%4, %7) {equation = "te,tc->tec", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x4xi64>, tensor<6x1xi64>) -> tensor<6x4x1xi64>
  %9 = plan.call "aten.to.dtype"(%8) {self = #base.operand<0>, dtype = f32} in "mlp" : (tensor<6x4x1xi64>) -> tensor<6x4x1xf32>
  %10 = plan.call "aten.einsum.default"(%9, %x) {equation = "tec,tm->ecm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x4x1xf32>, tensor<6x8xf32>) -> tensor<4x1x8xf32>
  %11 = plan.call "aten.bmm.default"(%10, %w) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp" : (tensor<4x1x8xf32>, tensor<4x8x8xf32>) -> tensor<4x1x8xf32>
  %12 = plan.call "aten.add.Tensor"(%b, %11) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<4x1x8xf32>, tensor<4x1x8xf32>) -> tensor<4x1x8xf32>
  %13 = plan.call "aten.add.Tensor"(%12, %10) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<4x1x8xf32>, tensor<4x1x8xf32>) -> tensor<4x1x8xf32>
  %14 = plan.call "aten.view.default"(%t#0) {self = #base.operand<0>, size = [6, 1, 1]} in "mlp" : (tensor<6xf32>) -> tensor<6x1x1xf32>
  %15 = plan.call "aten.mul.Tensor"(%14, %9) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x1x1xf32>, tensor<6x4x1xf32>) -> tensor<6x4x1xf32>
  %16 = plan.call "aten.einsum.default"(%15, %13) {equation = "tec,ecm->tm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x4x1xf32>, tensor<4x1x8xf32>) -> tensor<6x8xf32>
  return %16 : tensor<6x8xf32>
}

// -----

// Second choices that are taken before first ones: slots are in the order of the model, as its gates are.
// CHECK-LABEL: func.func @second_first
// CHECK: %[[SECOND:.*]] = plan.call "aten.select.int"(%{{.*}}#1) {dim = 2 : i64, index = 1 : i64
// CHECK: %[[FIRST:.*]] = plan.call "aten.select.int"(%{{.*}}#1) {dim = 2 : i64, index = 0 : i64
// CHECK: %[[CHOICE:.*]] = plan.call "aten.stack.default"({{.*}}) {dim = -1
// CHECK: meshplan.route"(%[[CHOICE]])
// CHECK: meshplan.combine
func.func @second_first(
    %x: tensor<2x6x8xf32>,
    %gates: tensor<2x6x2xf32>,
    %scores: tensor<2x6x4xf32>,
    %w: tensor<4x8x16xf32>,
    %v: tensor<4x16x8xf32>) -> tensor<2x6x8xf32> {
  %t:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp" : (tensor<2x6x4xf32>) -> (tensor<2x6x2xf32>, tensor<2x6x2xi64>)
  %i0 = plan.call "aten.select.int"(%t#1) {self = #base.operand<0>, dim = 2 : i64, index = 1 : i64} in "mlp" : (tensor<2x6x2xi64>) -> tensor<2x6xi64>
  %h0 = plan.call "aten.one_hot.default"(%i0) {self = #base.operand<0>, num_classes = 4 : i64} in "mlp" : (tensor<2x6xi64>) -> tensor<2x6x4xi64>
  %n0 = plan.call "aten.cumsum.default"(%h0) {self = #base.operand<0>, dim = 1 : i64} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6x4xi64>
  %p0 = plan.call "aten.sub.Tensor"(%n0) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6x4xi64>
  %l0 = plan.call "aten.lt.Scalar"(%p0) {self = #base.operand<0>, other = 3 : i64} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6x4xi1>
  %m0 = plan.call "aten.mul.Tensor"(%h0, %l0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4xi64>, tensor<2x6x4xi1>) -> tensor<2x6x4xi64>
  %a0 = plan.call "aten.mul.Tensor"(%p0, %m0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4xi64>, tensor<2x6x4xi64>) -> tensor<2x6x4xi64>
  %z0 = plan.call "aten.sum.dim_IntList"(%a0) {self = #base.operand<0>, dim = [-1]} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6xi64>
  %o0 = plan.call "aten.one_hot.default"(%z0) {self = #base.operand<0>, num_classes = 3 : i64} in "mlp" : (tensor<2x6xi64>) -> tensor<2x6x3xi64>
  %e0 = plan.call "aten.einsum.default"(%m0, %o0) {equation = "bse,bsc->bsec", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<2x6x4xi64>, tensor<2x6x3xi64>) -> tensor<2x6x4x3xi64>
  %s0 = plan.call "aten.to.dtype"(%e0) {self = #base.operand<0>, dtype = f32} in "mlp" : (tensor<2x6x4x3xi64>) -> tensor<2x6x4x3xf32>
  %f0 = plan.call "aten.select.int"(%gates) {self = #base.operand<0>, dim = 2 : i64, index = 0 : i64} in "mlp" : (tensor<2x6x2xf32>) -> tensor<2x6xf32>
  %k0 = plan.call "aten.view.default"(%f0) {self = #base.operand<0>, size = [2, 6, 1, 1]} in "mlp" : (tensor<2x6xf32>) -> tensor<2x6x1x1xf32>
  %g0 = plan.call "aten.mul.Tensor"(%k0, %s0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x1x1xf32>, tensor<2x6x4x3xf32>) -> tensor<2x6x4x3xf32>
  %i1 = plan.call "aten.select.int"(%t#1) {self = #base.operand<0>, dim = 2 : i64, index = 0 : i64} in "mlp" : (tensor<2x6x2xi64>) -> tensor<2x6xi64>
  %h1 = plan.call "aten.one_hot.default"(%i1) {self = #base.operand<0>, num_classes = 4 : i64} in "mlp" : (tensor<2x6xi64>) -> tensor<2x6x4xi64>
  %n1 = plan.call "aten.cumsum.default"(%h1) {self = #base.operand<0>, dim = 1 : i64} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6x4xi64>
  %q1 = plan.call "aten.sub.Tensor"(%n1) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6x4xi64>
  %b = plan.call "aten.sum.dim_IntList"(%h0) {self = #base.operand<0>, dim = [1], keepdim = true} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x1x4xi64>
  %p1 = plan.call "aten.add.Tensor"(%q1, %b) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4xi64>, tensor<2x1x4xi64>) -> tensor<2x6x4xi64>
  %l1 = plan.call "aten.lt.Scalar"(%p1) {self = #base.operand<0>, other = 3 : i64} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6x4xi1>
  %m1 = plan.call "aten.mul.Tensor"(%h1, %l1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4xi64>, tensor<2x6x4xi1>) -> tensor<2x6x4xi64>
  %a1 = plan.call "aten.mul.Tensor"(%p1, %m1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4xi64>, tensor<2x6x4xi64>) -> tensor<2x6x4xi64>
  %z1 = plan.call "aten.sum.dim_IntList"(%a1) {self = #base.operand<0>, dim = [-1]} in "mlp" : (tensor<2x6x4xi64>) -> tensor<2x6xi64>
  %o1 = plan.call "aten.one_hot.default"(%z1) {self = #base.operand<0>, num_classes = 3 : i64} in "mlp" : (tensor<2x6xi64>) -> tensor<2x6x3xi64>
  %e1 = plan.call "aten.einsum.default"(%m1, %o1) {equation = "bse,bsc->bsec", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<2x6x4xi64>, tensor<2x6x3xi64>) -> tensor<2x6x4x3xi64>
  %s1 = plan.call "aten.to.dtype"(%e1) {self = #base.operand<0>, dtype = f32} in "mlp" : (tensor<2x6x4x3xi64>) -> tensor<2x6x4x3xf32>
  %f1 = plan.call "aten.select.int"(%gates) {self = #base.operand<0>, dim = 2 : i64, index = 1 : i64} in "mlp" : (tensor<2x6x2xf32>) -> tensor<2x6xf32>
  %k1 = plan.call "aten.view.default"(%f1) {self = #base.operand<0>, size = [2, 6, 1, 1]} in "mlp" : (tensor<2x6xf32>) -> tensor<2x6x1x1xf32>
  %g1 = plan.call "aten.mul.Tensor"(%k1, %s1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x1x1xf32>, tensor<2x6x4x3xf32>) -> tensor<2x6x4x3xf32>
  %d = plan.call "aten.add.Tensor"(%s0, %s1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4x3xf32>, tensor<2x6x4x3xf32>) -> tensor<2x6x4x3xf32>
  %c = plan.call "aten.add.Tensor"(%g0, %g1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x6x4x3xf32>, tensor<2x6x4x3xf32>) -> tensor<2x6x4x3xf32>
  %r = plan.call "aten.einsum.default"(%d, %x) {equation = "bsec,bsm->ebcm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<2x6x4x3xf32>, tensor<2x6x8xf32>) -> tensor<4x2x3x8xf32>
  %u = plan.call "aten.einsum.default"(%r, %w) {equation = "ebcm, emh -> ebch", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<4x2x3x8xf32>, tensor<4x8x16xf32>) -> tensor<4x2x3x16xf32>
  %act = plan.call "aten.relu.default"(%u) {self = #base.operand<0>} in "mlp" : (tensor<4x2x3x16xf32>) -> tensor<4x2x3x16xf32>
  %y = plan.call "aten.einsum.default"(%act, %v) {equation = "ebch,ehm->ebcm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<4x2x3x16xf32>, tensor<4x16x8xf32>) -> tensor<4x2x3x8xf32>
  %out = plan.call "aten.einsum.default"(%c, %y) {equation = "bsec,ebcm->bsm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<2x6x4x3xf32>, tensor<4x2x3x8xf32>) -> tensor<2x6x8xf32>
  return %out : tensor<2x6x8xf32>
}
