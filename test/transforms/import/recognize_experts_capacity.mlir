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
  // expected-remark@below {{experts of 'mlp' are computed as the model writes them: 'aten.einsum.default' in 'mlp' takes tokens by their position among those of an expert, up to a capacity}}
  // expected-note@below {{help: choose experts with topk, and compute on each row alone between the products with their weights}}
  %r = plan.call "aten.einsum.default"(%d, %x) {equation = "bsec,bsm->ebcm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<2x6x4x3xf32>, tensor<2x6x8xf32>) -> tensor<4x2x3x8xf32>
  %u = plan.call "aten.einsum.default"(%r, %w) {equation = "ebcm, emh -> ebch", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<4x2x3x8xf32>, tensor<4x8x16xf32>) -> tensor<4x2x3x16xf32>
  %act = plan.call "aten.relu.default"(%u) {self = #base.operand<0>} in "mlp" : (tensor<4x2x3x16xf32>) -> tensor<4x2x3x16xf32>
  %y = plan.call "aten.einsum.default"(%act, %v) {equation = "ebch,ehm->ebcm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<4x2x3x16xf32>, tensor<4x16x8xf32>) -> tensor<4x2x3x8xf32>
  %out = plan.call "aten.einsum.default"(%c, %y) {equation = "bsec,ebcm->bsm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<2x6x4x3xf32>, tensor<4x2x3x8xf32>) -> tensor<2x6x8xf32>
  return %out : tensor<2x6x8xf32>
}
