// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-lower-random-ops | FileCheck %s

// Operators are numbered in their order; seed and step are appended to the arguments.
// CHECK-LABEL: func.func @dropout(
// CHECK-SAME: %[[X:arg0]]: tensor<4x6xf32>,
// CHECK-SAME: %[[SEED:arg1]]: tensor<f64> {plan.kind = #plan.kind<setting>, plan.names = ["seed"], plan.value = 0.000000e+00 : f64},
// CHECK-SAME: %[[STEP:arg2]]: tensor<f64> {plan.kind = #plan.kind<setting>, plan.names = ["step"], plan.value = 1.000000e+00 : f64})
// CHECK-NEXT: %[[A:.*]] = plan.call "meshplan.dropout"(%[[X]], %[[SEED]], %[[STEP]]) {input = #base.operand<0>, number = 0 : i64, p = 5.000000e-01 : f64, seed = #base.operand<1>, step = #base.operand<2>} in "a"
// CHECK-NEXT: %[[B:.*]] = plan.call "meshplan.dropout"(%[[A]], %[[SEED]], %[[STEP]])
// CHECK-SAME: number = 1 : i64, p = 2.500000e-01 : f64
// CHECK-SAME: in "b"
// CHECK-NEXT: return %[[B]]
func.func @dropout(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = plan.call "aten.dropout.default"(%x) {input = #base.operand<0>, p = 0.5 : f64, train = true} in "a"
      : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1:2 = plan.call "aten.native_dropout.default"(%0) {input = #base.operand<0>, p = 0.25 : f64, train = true} in "b"
      : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xi1>)
  return %1#0 : tensor<4x6xf32>
}

// -----

// A mask that is read is that of the kept elements: the same random words, at full precision.
// CHECK-LABEL: func.func @mask
// CHECK: %[[U:.*]] = plan.call "meshplan.uniform"(%arg1, %arg2) {dtype = f64, number = 0 : i64, seed = #base.operand<0>, size = [4, 6], step = #base.operand<1>}
// CHECK: %[[M:.*]] = plan.call "aten.ge.Scalar"(%[[U]]) {other = 2.500000e-01 : f64, self = #base.operand<0>}
// CHECK: %[[D:.*]] = plan.call "meshplan.dropout"(%arg0, %arg1, %arg2)
// CHECK-SAME: number = 0 : i64
// CHECK: return %[[D]], %[[M]]
func.func @mask(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xi1>) {
  %0:2 = plan.call "aten.native_dropout.default"(%x) {input = #base.operand<0>, p = 0.25 : f64, train = true}
      : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xi1>)
  return %0#0, %0#1 : tensor<4x6xf32>, tensor<4x6xi1>
}

// -----

// Feature dropout drops ones of the features' shape.
// CHECK-LABEL: func.func @features
// CHECK: %[[ONES:.*]] = plan.call "aten.ones.default"() {dtype = f32, size = [2, 4, 1, 1]}
// CHECK: %[[KEPT:.*]] = plan.call "meshplan.dropout"(%[[ONES]], %arg1, %arg2)
// CHECK: plan.call "aten.mul.Tensor"(%arg0, %[[KEPT]])
func.func @features(%x: tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32> {
  %0 = plan.call "aten.feature_dropout.default"(%x) {input = #base.operand<0>, p = 0.5 : f64, train = true}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  return %0 : tensor<2x4x8x8xf32>
}

// -----

// 1 / sqrt((alpha^2 p + 1) (1 - p)) scales the kept elements; the others get the lowest value of a selu, shifted.
// CHECK-LABEL: func.func @alpha
// CHECK: %[[U:.*]] = plan.call "meshplan.uniform"
// CHECK-SAME: dtype = f32{{.*}}size = [2, 4]
// CHECK: %[[K:.*]] = plan.call "aten.ge.Scalar"(%[[U]]) {other = 5.000000e-01
// CHECK: %[[N:.*]] = plan.call "aten.to.dtype"(%[[K]]) {dtype = bf16
// CHECK: %[[L:.*]] = plan.call "aten.add.Scalar"(%[[N]]) {other = -1.000000e+00
// CHECK: %[[M:.*]] = plan.call "aten.mul.Scalar"(%[[L]]) {other = 1.55838786
// CHECK: %[[B:.*]] = plan.call "aten.add.Scalar"(%[[M]]) {other = 0.77919393
// CHECK: %[[F:.*]] = plan.call "aten.mul.Scalar"(%[[N]]) {other = 0.88640489
// CHECK: %[[S:.*]] = plan.call "aten.mul.Tensor"(%arg0, %[[F]])
// CHECK: plan.call "aten.add.Tensor"(%[[S]], %[[B]])
func.func @alpha(%x: tensor<2x4xbf16>) -> tensor<2x4xbf16> {
  %0 = plan.call "aten.alpha_dropout.default"(%x) {input = #base.operand<0>, p = 0.5 : f64, train = true}
      : (tensor<2x4xbf16>) -> tensor<2x4xbf16>
  return %0 : tensor<2x4xbf16>
}

// -----

// CHECK-LABEL: func.func @alpha_of_all
// CHECK-NEXT: plan.call "aten.mul.Scalar"(%arg0) {other = 0.000000e+00
func.func @alpha_of_all(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = plan.call "aten.feature_alpha_dropout.default"(%x) {input = #base.operand<0>, p = 1.0 : f64, train = true}
      : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @bernoulli
// CHECK: %[[U:.*]] = plan.call "meshplan.uniform"
// CHECK-SAME: dtype = f32, number = 0 : i64
// CHECK: %[[B:.*]] = plan.call "aten.lt.Scalar"(%[[U]]) {other = 2.500000e-01
// CHECK: plan.call "aten.to.dtype"(%[[B]]) {dtype = i64
// CHECK: %[[V:.*]] = plan.call "meshplan.uniform"
// CHECK-SAME: dtype = f64, number = 1 : i64
// CHECK: %[[C:.*]] = plan.call "aten.sub.Tensor"(%arg1, %[[V]])
// CHECK: %[[S:.*]] = plan.call "aten.sign.default"(%[[C]])
// CHECK: %[[R:.*]] = plan.call "aten.relu.default"(%[[S]])
// CHECK: plan.call "aten.to.dtype"(%[[R]]) {dtype = f64
// CHECK: %[[W:.*]] = plan.call "meshplan.uniform"
// CHECK-SAME: dtype = f32, number = 2 : i64
// CHECK: plan.call "aten.sub.Tensor"(%arg2, %[[W]]) {{.*}} : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
func.func @bernoulli(%x: tensor<4xi64>, %p: tensor<4xf64>, %q: tensor<1xf32>)
    -> (tensor<4xi64>, tensor<4xf64>, tensor<4xi64>) {
  %0 = plan.call "aten.bernoulli.p"(%x) {self = #base.operand<0>, p = 0.25 : f64} : (tensor<4xi64>) -> tensor<4xi64>
  %1 = plan.call "aten.bernoulli.default"(%p) {self = #base.operand<0>} : (tensor<4xf64>) -> tensor<4xf64>
  %2 = plan.call "aten.bernoulli.Tensor"(%x, %q) {self = #base.operand<0>, p = #base.operand<1>}
      : (tensor<4xi64>, tensor<1xf32>) -> tensor<4xi64>
  return %0, %1, %2 : tensor<4xi64>, tensor<4xf64>, tensor<4xi64>
}

// -----

// CHECK-LABEL: func.func @uniform
// CHECK-NEXT: plan.call "meshplan.uniform"(%arg1, %arg2) {dtype = bf16, number = 0 : i64, seed = #base.operand<0>, size = [4], step = #base.operand<1>}
// CHECK-NEXT: plan.call "meshplan.uniform"(%arg1, %arg2) {dtype = f32, number = 1 : i64
// CHECK-NEXT: return
func.func @uniform(%x: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<2x3xf32>) {
  %0 = plan.call "aten.rand_like.default"(%x) {self = #base.operand<0>} : (tensor<4xbf16>) -> tensor<4xbf16>
  %1 = plan.call "aten.rand.default"() {size = [2, 3]} : () -> tensor<2x3xf32>
  return %0, %1 : tensor<4xbf16>, tensor<2x3xf32>
}

// -----

// Values are uniform in f64; an offset of half their spacing excludes both 0 and 1.
// CHECK-LABEL: func.func @normal
// CHECK: %[[U:.*]] = plan.call "meshplan.uniform"{{.*}} {dtype = f64, number = 0 : i64
// CHECK: %[[T:.*]] = plan.call "aten.mul.Scalar"(%[[U]]) {other = 2.000000e+00
// CHECK: %[[C:.*]] = plan.call "aten.add.Scalar"(%[[T]]) {other = -0.9999999997671
// CHECK: %[[E:.*]] = plan.call "aten.erfinv.default"(%[[C]])
// CHECK: %[[S:.*]] = plan.call "aten.mul.Scalar"(%[[E]]) {other = 2.8284271
// CHECK: %[[M:.*]] = plan.call "aten.add.Scalar"(%[[S]]) {other = 1.000000e+00
// CHECK: %[[N:.*]] = plan.call "aten.to.dtype"(%[[M]]) {dtype = bf16
// The shape and type come from a tensor, which gets no gradient.
// CHECK: %[[O:.*]] = plan.call "aten.detach.default"(%arg0)
// CHECK: plan.call "meshplan.uniform"{{.*}} {dtype = f64, number = 1 : i64
// CHECK: %[[D:.*]] = plan.call "aten.to.dtype"
// CHECK: %[[P:.*]] = plan.call "aten.mul.Tensor"(%[[D]], %[[O]])
// CHECK: plan.call "aten.add.Scalar"(%[[P]]) {other = 5.000000e-01
func.func @normal(%x: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>) {
  %0 = plan.call "aten.normal_functional.default"(%x) {self = #base.operand<0>, mean = 1.0 : f64, std = 2.0 : f64} : (tensor<4xbf16>) -> tensor<4xbf16>
  %1 = plan.call "aten.normal.float_Tensor"(%x) {mean = 0.5 : f64, std = #base.operand<0>} : (tensor<4xbf16>) -> tensor<4xbf16>
  return %0, %1 : tensor<4xbf16>, tensor<4xbf16>
}

// -----

// CHECK-LABEL: func.func @exponential
// CHECK: %[[U:.*]] = plan.call "meshplan.uniform"{{.*}} {dtype = f64, number = 0 : i64
// CHECK: %[[H:.*]] = plan.call "aten.add.Scalar"(%[[U]]) {other = 1.16415{{.*}}E-10
// CHECK: %[[L:.*]] = plan.call "aten.log.default"(%[[H]])
// CHECK: %[[S:.*]] = plan.call "aten.mul.Scalar"(%[[L]]) {other = -5.000000e-01
// CHECK: plan.call "aten.to.dtype"(%[[S]]) {dtype = f32
// CHECK: plan.call "aten.clamp_min.default"({{.*}}) {min = 6.103515{{.*}}E-5
// CHECK: plan.call "aten.to.dtype"{{.*}} {dtype = f16
func.func @exponential(%x: tensor<4xf32>, %y: tensor<4xf16>) -> (tensor<4xf32>, tensor<4xf16>) {
  %0 = plan.call "aten.exponential.default"(%x) {self = #base.operand<0>, lambd = 2.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.exponential.default"(%y) {self = #base.operand<0>} : (tensor<4xf16>) -> tensor<4xf16>
  return %0, %1 : tensor<4xf32>, tensor<4xf16>
}

// -----

// Requests for more integers than a word can represent are left for the rejecting pass.
// CHECK-LABEL: func.func @integers
// CHECK: %[[U:.*]] = plan.call "meshplan.uniform"{{.*}} {dtype = f64, number = 0 : i64
// CHECK: %[[S:.*]] = plan.call "aten.mul.Scalar"(%[[U]]) {other = 7.000000e+00
// CHECK: %[[F:.*]] = plan.call "aten.floor.default"(%[[S]])
// CHECK: %[[A:.*]] = plan.call "aten.add.Scalar"(%[[F]]) {other = 2.000000e+00
// CHECK: plan.call "aten.to.dtype"(%[[A]]) {dtype = i64
// CHECK: plan.call "aten.randint.default"
func.func @integers() -> (tensor<4xi64>, tensor<4xi64>) {
  %0 = plan.call "aten.randint.low"() {low = 2 : i64, high = 9 : i64, size = [4]} : () -> tensor<4xi64>
  %1 = plan.call "aten.randint.default"() {high = 8589934592 : i64, size = [4]} : () -> tensor<4xi64>
  return %0, %1 : tensor<4xi64>, tensor<4xi64>
}

// -----

// Attention with dropout gets the source of its random numbers; without dropout it does not.
// CHECK-LABEL: func.func @attention(
// CHECK: %[[A:.*]]:2 = plan.call "meshplan.attention"(%arg0, %arg0, %arg0, %arg1, %arg2) {dropout = 1.000000e-01 : f64, key = #base.operand<1>, number = 0 : i64, query = #base.operand<0>, scale = 5.000000e-01 : f64, seed = #base.operand<3>, step = #base.operand<4>, value = #base.operand<2>} in "attn"
// CHECK: plan.call "meshplan.attention"(%[[A]]#0, %[[A]]#0, %[[A]]#0) {key
func.func @attention(%x: tensor<2x4x8x4xf32>) -> tensor<2x4x8x4xf32> {
  %0:2 = plan.call "meshplan.attention"(%x, %x, %x) {query = #base.operand<0>, key = #base.operand<1>,
      value = #base.operand<2>, scale = 0.5 : f64, dropout = 0.1 : f64} in "attn"
      : (tensor<2x4x8x4xf32>, tensor<2x4x8x4xf32>, tensor<2x4x8x4xf32>) -> (tensor<2x4x8x4xf32>, tensor<2x4x8xf32>)
  %1:2 = plan.call "meshplan.attention"(%0#0, %0#0, %0#0) {query = #base.operand<0>, key = #base.operand<1>,
      value = #base.operand<2>, scale = 0.5 : f64} in "attn"
      : (tensor<2x4x8x4xf32>, tensor<2x4x8x4xf32>, tensor<2x4x8x4xf32>) -> (tensor<2x4x8x4xf32>, tensor<2x4x8xf32>)
  return %1#0 : tensor<2x4x8x4xf32>
}

// -----

// An operator that cannot be lowered stays for the pass that rejects it, and gets no number.
// CHECK-LABEL: func.func @others(
// CHECK-SAME: %arg0: tensor<4xf32>,
// CHECK-NEXT: %[[N:.*]] = plan.call "aten.rrelu.default"(%arg0)
// CHECK-NEXT: plan.call "meshplan.dropout"(%[[N]], %arg1, %arg2)
// CHECK-SAME: number = 0 : i64
func.func @others(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = plan.call "aten.rrelu.default"(%x) {self = #base.operand<0>, training = true} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.dropout.default"(%0) {input = #base.operand<0>, p = 0.5 : f64, train = true}
      : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Without random numbers there are no settings.
// CHECK-LABEL: func.func @none(%arg0: tensor<4xf32>) -> tensor<4xf32>
func.func @none(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = plan.call "aten.dropout.default"(%x) {input = #base.operand<0>, p = 0.5 : f64, train = false}
      : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Rows of experts keep their positions.
// CHECK-LABEL: func.func @rows
// CHECK: plan.call "meshplan.dropout_rows"(%arg0, %arg1, %arg2, %arg3) {number = 0 : i64, p = 5.000000e-01 : f64, positions = #base.operand<1>, rows = #base.operand<0>, seed = #base.operand<2>, step = #base.operand<3>} in "moe" {plan.in_evaluation = #plan.stand_in<first_operand>}
func.func @rows(%rows: tensor<4x6x8xf32>, %positions: tensor<4x6xi64>) -> tensor<4x6x8xf32> {
  %0 = plan.call "meshplan.dropout_rows"(%rows, %positions) {rows = #base.operand<0>, positions = #base.operand<1>, p = 0.5 : f64} in "moe"
      : (tensor<4x6x8xf32>, tensor<4x6xi64>) -> tensor<4x6x8xf32>
  return %0 : tensor<4x6x8xf32>
}
