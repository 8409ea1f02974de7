// Loops over the slots of tokens, around those over experts or inside of them.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-recognize-experts --split-input-file | FileCheck %s

// The slots are the outer loop.
// CHECK-LABEL: func.func @outer
// CHECK: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"(%{{.*}}) {experts = 2
// CHECK: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[ROUTE]]#0) {{.*}}slots = 2
// CHECK: plan.call "meshplan.grouped_linear"(%[[ROWS]],
// CHECK-NOT: meshplan.route
// CHECK-NOT: aten.linear
// CHECK: plan.call "meshplan.combine"
// CHECK-NOT: meshplan.combine
func.func @outer(%x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %scores: tensor<6x2xf32> {plan.kind = #plan.kind<input>, plan.names = ["scores"]},
    %a: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.0.weight"]},
    %b: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.1.weight"]}) -> tensor<6x8xf32> {
  %v, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp" : (tensor<6x2xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %v0 = plan.call "aten.select.int"(%v) {self = #base.operand<0>, dim = 1 : i64, index = 0 : i64} in "mlp" : (tensor<6x2xf32>) -> tensor<6xf32>
  %v1 = plan.call "aten.select.int"(%v) {self = #base.operand<0>, dim = 1 : i64, index = 1 : i64} in "mlp" : (tensor<6x2xf32>) -> tensor<6xf32>
  %i0 = plan.call "aten.select.int"(%i) {self = #base.operand<0>, dim = 1 : i64, index = 0 : i64} in "mlp" : (tensor<6x2xi64>) -> tensor<6xi64>
  %i1 = plan.call "aten.select.int"(%i) {self = #base.operand<0>, dim = 1 : i64, index = 1 : i64} in "mlp" : (tensor<6x2xi64>) -> tensor<6xi64>
  %m00 = plan.call "aten.eq.Scalar"(%i0) {self = #base.operand<0>, other = 0 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6xi1>
  %g00 = plan.call "aten.mul.Tensor"(%v0, %m00) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6xf32>, tensor<6xi1>) -> tensor<6xf32>
  %c00 = plan.call "aten.unsqueeze.default"(%g00) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6xf32>) -> tensor<6x1xf32>
  %y00 = plan.call "aten.linear.default"(%x, %a) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0" : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %p00 = plan.call "aten.mul.Tensor"(%y00, %c00) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %m01 = plan.call "aten.eq.Scalar"(%i0) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6xi1>
  %g01 = plan.call "aten.mul.Tensor"(%v0, %m01) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6xf32>, tensor<6xi1>) -> tensor<6xf32>
  %c01 = plan.call "aten.unsqueeze.default"(%g01) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6xf32>) -> tensor<6x1xf32>
  %y01 = plan.call "aten.linear.default"(%x, %b) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1" : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %p01 = plan.call "aten.mul.Tensor"(%y01, %c01) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %s0 = plan.call "aten.add.Tensor"(%p00, %p01) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %m10 = plan.call "aten.eq.Scalar"(%i1) {self = #base.operand<0>, other = 0 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6xi1>
  %g10 = plan.call "aten.mul.Tensor"(%v1, %m10) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6xf32>, tensor<6xi1>) -> tensor<6xf32>
  %c10 = plan.call "aten.unsqueeze.default"(%g10) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6xf32>) -> tensor<6x1xf32>
  %y10 = plan.call "aten.linear.default"(%x, %a) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0" : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %p10 = plan.call "aten.mul.Tensor"(%y10, %c10) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %s1 = plan.call "aten.add.Tensor"(%s0, %p10) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %m11 = plan.call "aten.eq.Scalar"(%i1) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6xi1>
  %g11 = plan.call "aten.mul.Tensor"(%v1, %m11) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6xf32>, tensor<6xi1>) -> tensor<6xf32>
  %c11 = plan.call "aten.unsqueeze.default"(%g11) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6xf32>) -> tensor<6x1xf32>
  %y11 = plan.call "aten.linear.default"(%x, %b) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1" : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %p11 = plan.call "aten.mul.Tensor"(%y11, %c11) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %s2 = plan.call "aten.add.Tensor"(%s1, %p11) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  return %s2 : tensor<6x8xf32>
}

// -----

// Each slot drops other elements of what an expert makes: they stay mixtures of one slot each.
// CHECK-LABEL: func.func @dropped
// CHECK: plan.call "meshplan.route"
// CHECK: plan.call "meshplan.combine"
// CHECK: plan.call "meshplan.route"
// CHECK: plan.call "meshplan.combine"
func.func @dropped(%x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %scores: tensor<6x2xf32> {plan.kind = #plan.kind<input>, plan.names = ["scores"]},
    %a: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.0.weight"]},
    %b: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.1.weight"]}) -> tensor<6x8xf32> {
  %v, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp" : (tensor<6x2xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %v0 = plan.call "aten.select.int"(%v) {self = #base.operand<0>, dim = 1 : i64, index = 0 : i64} in "mlp" : (tensor<6x2xf32>) -> tensor<6xf32>
  %v1 = plan.call "aten.select.int"(%v) {self = #base.operand<0>, dim = 1 : i64, index = 1 : i64} in "mlp" : (tensor<6x2xf32>) -> tensor<6xf32>
  %i0 = plan.call "aten.select.int"(%i) {self = #base.operand<0>, dim = 1 : i64, index = 0 : i64} in "mlp" : (tensor<6x2xi64>) -> tensor<6xi64>
  %i1 = plan.call "aten.select.int"(%i) {self = #base.operand<0>, dim = 1 : i64, index = 1 : i64} in "mlp" : (tensor<6x2xi64>) -> tensor<6xi64>
  %m00 = plan.call "aten.eq.Scalar"(%i0) {self = #base.operand<0>, other = 0 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6xi1>
  %g00 = plan.call "aten.mul.Tensor"(%v0, %m00) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6xf32>, tensor<6xi1>) -> tensor<6xf32>
  %c00 = plan.call "aten.unsqueeze.default"(%g00) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6xf32>) -> tensor<6x1xf32>
  %l00 = plan.call "aten.linear.default"(%x, %a) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0" : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %y00 = plan.call "aten.dropout.default"(%l00) {input = #base.operand<0>, p = 0.5 : f64, train = true} in "mlp.experts.0" : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %p00 = plan.call "aten.mul.Tensor"(%y00, %c00) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %m01 = plan.call "aten.eq.Scalar"(%i0) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6xi1>
  %g01 = plan.call "aten.mul.Tensor"(%v0, %m01) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6xf32>, tensor<6xi1>) -> tensor<6xf32>
  %c01 = plan.call "aten.unsqueeze.default"(%g01) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6xf32>) -> tensor<6x1xf32>
  %l01 = plan.call "aten.linear.default"(%x, %b) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1" : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %y01 = plan.call "aten.dropout.default"(%l01) {input = #base.operand<0>, p = 0.5 : f64, train = true} in "mlp.experts.1" : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %p01 = plan.call "aten.mul.Tensor"(%y01, %c01) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %s0 = plan.call "aten.add.Tensor"(%p00, %p01) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %m10 = plan.call "aten.eq.Scalar"(%i1) {self = #base.operand<0>, other = 0 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6xi1>
  %g10 = plan.call "aten.mul.Tensor"(%v1, %m10) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6xf32>, tensor<6xi1>) -> tensor<6xf32>
  %c10 = plan.call "aten.unsqueeze.default"(%g10) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6xf32>) -> tensor<6x1xf32>
  %l10 = plan.call "aten.linear.default"(%x, %a) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0" : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %y10 = plan.call "aten.dropout.default"(%l10) {input = #base.operand<0>, p = 0.5 : f64, train = true} in "mlp.experts.0" : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %p10 = plan.call "aten.mul.Tensor"(%y10, %c10) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %s1 = plan.call "aten.add.Tensor"(%s0, %p10) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %m11 = plan.call "aten.eq.Scalar"(%i1) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6xi1>
  %g11 = plan.call "aten.mul.Tensor"(%v1, %m11) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6xf32>, tensor<6xi1>) -> tensor<6xf32>
  %c11 = plan.call "aten.unsqueeze.default"(%g11) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6xf32>) -> tensor<6x1xf32>
  %l11 = plan.call "aten.linear.default"(%x, %b) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1" : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %y11 = plan.call "aten.dropout.default"(%l11) {input = #base.operand<0>, p = 0.5 : f64, train = true} in "mlp.experts.1" : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %p11 = plan.call "aten.mul.Tensor"(%y11, %c11) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %s2 = plan.call "aten.add.Tensor"(%s1, %p11) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  return %s2 : tensor<6x8xf32>
}

// -----

// The values of slots keep their dim: `(indices[:, s] == e).to(..)[:, None] * values[:, s : s + 1] * y`, where an expert
// computes once for all slots.
// CHECK-LABEL: func.func @columns
// CHECK: plan.call "meshplan.route"(%{{.*}}) {experts = 2
// CHECK-COUNT-1: meshplan.grouped_linear
// CHECK-NOT: aten.linear
// CHECK: plan.call "meshplan.combine"
// CHECK-NOT: meshplan.combine
func.func @columns(%x: tensor<6x8xf32>, %scores: tensor<6x2xf32>, %a: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.0.weight"]}, %b: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.1.weight"]}) -> tensor<6x8xf32> {
  %v, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp" : (tensor<6x2xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %w:2 = plan.call "aten.split.Tensor"(%v) {self = #base.operand<0>, split_size = 1 : i64, dim = 1 : i64} in "mlp" : (tensor<6x2xf32>) -> (tensor<6x1xf32>, tensor<6x1xf32>)
  %i0 = plan.call "aten.select.int"(%i) {self = #base.operand<0>, dim = 1 : i64, index = 0 : i64} in "mlp" : (tensor<6x2xi64>) -> tensor<6xi64>
  %i1 = plan.call "aten.select.int"(%i) {self = #base.operand<0>, dim = 1 : i64, index = 1 : i64} in "mlp" : (tensor<6x2xi64>) -> tensor<6xi64>
  %y0 = plan.call "aten.linear.default"(%x, %a) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0" : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %m00 = plan.call "aten.eq.Scalar"(%i0) {self = #base.operand<0>, other = 0 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6xi1>
  %f00 = plan.call "aten.to.dtype"(%m00) {self = #base.operand<0>, dtype = f32} in "mlp" : (tensor<6xi1>) -> tensor<6xf32>
  %c00 = plan.call "aten.unsqueeze.default"(%f00) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6xf32>) -> tensor<6x1xf32>
  %g00 = plan.call "aten.mul.Tensor"(%c00, %w#0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xf32>
  %p00 = plan.call "aten.mul.Tensor"(%g00, %y0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x1xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %m01 = plan.call "aten.eq.Scalar"(%i1) {self = #base.operand<0>, other = 0 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6xi1>
  %f01 = plan.call "aten.to.dtype"(%m01) {self = #base.operand<0>, dtype = f32} in "mlp" : (tensor<6xi1>) -> tensor<6xf32>
  %c01 = plan.call "aten.unsqueeze.default"(%f01) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6xf32>) -> tensor<6x1xf32>
  %g01 = plan.call "aten.mul.Tensor"(%c01, %w#1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xf32>
  %p01 = plan.call "aten.mul.Tensor"(%g01, %y0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x1xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %s01 = plan.call "aten.add.Tensor"(%p00, %p01) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %y1 = plan.call "aten.linear.default"(%x, %b) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1" : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %m10 = plan.call "aten.eq.Scalar"(%i0) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6xi1>
  %f10 = plan.call "aten.to.dtype"(%m10) {self = #base.operand<0>, dtype = f32} in "mlp" : (tensor<6xi1>) -> tensor<6xf32>
  %c10 = plan.call "aten.unsqueeze.default"(%f10) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6xf32>) -> tensor<6x1xf32>
  %g10 = plan.call "aten.mul.Tensor"(%c10, %w#0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xf32>
  %p10 = plan.call "aten.mul.Tensor"(%g10, %y1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x1xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %s10 = plan.call "aten.add.Tensor"(%s01, %p10) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %m11 = plan.call "aten.eq.Scalar"(%i1) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6xi1>
  %f11 = plan.call "aten.to.dtype"(%m11) {self = #base.operand<0>, dtype = f32} in "mlp" : (tensor<6xi1>) -> tensor<6xf32>
  %c11 = plan.call "aten.unsqueeze.default"(%f11) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6xf32>) -> tensor<6x1xf32>
  %g11 = plan.call "aten.mul.Tensor"(%c11, %w#1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xf32>
  %p11 = plan.call "aten.mul.Tensor"(%g11, %y1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x1xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %s11 = plan.call "aten.add.Tensor"(%s10, %p11) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  return %s11 : tensor<6x8xf32>
}
