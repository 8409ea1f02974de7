// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-recognize-experts | FileCheck %s

// Copies of the weights of each token's only expert. The single slot is a dim of size 1 after those of tokens.
// CHECK-LABEL: func.func @top_one
// CHECK: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"
// CHECK: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[ROUTE]]#0)
// CHECK: plan.call "meshplan.grouped_linear"(%[[ROWS]], %arg2, %[[ROUTE]]#1)
// CHECK: plan.call "meshplan.grouped_linear"(%{{.*}}, %arg3, %[[ROUTE]]#1)
// CHECK: %[[OUT:.*]] = plan.call "meshplan.combine"({{.*}}, %[[ROUTE]]#0) {{.*}}size = [2, 3, 8], slots = 1
// CHECK: return %[[OUT]]
func.func @top_one(%x: tensor<2x3x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %scores: tensor<2x3x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["scores"]},
    %up: tensor<4x10x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]},
    %down: tensor<4x8x10xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}) -> tensor<2x3x8xf32> {
  %v, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 1 : i64} in "mlp" : (tensor<2x3x4xf32>) -> (tensor<2x3x1xf32>, tensor<2x3x1xi64>)
  %ids = plan.call "aten.reshape.default"(%i) {self = #base.operand<0>, shape = [-1]} in "mlp" : (tensor<2x3x1xi64>) -> tensor<6xi64>
  %flat = plan.call "aten.reshape.default"(%x) {self = #base.operand<0>, shape = [-1, 8]} in "mlp" : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  %w = plan.call "aten.index.Tensor"(%up, %ids) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<4x10x8xf32>, tensor<6xi64>) -> tensor<6x10x8xf32>
  %0 = plan.call "aten.unsqueeze.default"(%flat) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6x8xf32>) -> tensor<6x8x1xf32>
  %1 = plan.call "aten.bmm.default"(%w, %0) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp" : (tensor<6x10x8xf32>, tensor<6x8x1xf32>) -> tensor<6x10x1xf32>
  %2 = plan.call "aten.squeeze.dim"(%1) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6x10x1xf32>) -> tensor<6x10xf32>
  %3 = plan.call "aten.silu.default"(%2) {self = #base.operand<0>} in "mlp" : (tensor<6x10xf32>) -> tensor<6x10xf32>
  %d = plan.call "aten.index.Tensor"(%down, %ids) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<4x8x10xf32>, tensor<6xi64>) -> tensor<6x8x10xf32>
  %4 = plan.call "aten.unsqueeze.default"(%3) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6x10xf32>) -> tensor<6x10x1xf32>
  %5 = plan.call "aten.bmm.default"(%d, %4) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp" : (tensor<6x8x10xf32>, tensor<6x10x1xf32>) -> tensor<6x8x1xf32>
  %6 = plan.call "aten.reshape.default"(%5) {self = #base.operand<0>, shape = [2, 3, 8]} in "mlp" : (tensor<6x8x1xf32>) -> tensor<2x3x8xf32>
  %7 = plan.call "aten.mul.Tensor"(%6, %v) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x3x8xf32>, tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
  %8 = plan.call "aten.view.default"(%7) {self = #base.operand<0>, size = [2, 3, 1, 8]} in "mlp" : (tensor<2x3x8xf32>) -> tensor<2x3x1x8xf32>
  %9 = plan.call "aten.sum.dim_IntList"(%8) {self = #base.operand<0>, dim = [2]} in "mlp" : (tensor<2x3x1x8xf32>) -> tensor<2x3x8xf32>
  return %9 : tensor<2x3x8xf32>
}

// Autocast converts the copies of the rows and of the weights. The parameter and the tokens are converted instead.
// CHECK-LABEL: func.func @converted_copies
// CHECK: %[[TOKENS:.*]] = plan.call "aten.to.dtype"(%arg0) {dtype = bf16
// CHECK: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%[[TOKENS]],
// CHECK: %[[UP:.*]] = plan.call "aten.to.dtype"(%arg2) {dtype = bf16{{.*}} (tensor<4x8x8xf32>) -> tensor<4x8x8xbf16>
// CHECK: %[[PRODUCT:.*]] = plan.call "meshplan.grouped_linear"(%[[ROWS]], %[[UP]],
// CHECK: %[[WIDE:.*]] = plan.call "aten.to.dtype"(%[[PRODUCT]]) {dtype = f32
// CHECK: plan.call "meshplan.grouped_bias"(%[[WIDE]], %arg3,
// CHECK: meshplan.combine
func.func @converted_copies(%x: tensor<2x3x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %scores: tensor<2x3x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["scores"]},
    %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]},
    %bias: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.bias"]}) -> tensor<2x3x8xf32> {
  %v, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp" : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %ids = plan.call "aten.reshape.default"(%i) {self = #base.operand<0>, shape = [-1]} in "mlp" : (tensor<2x3x2xi64>) -> tensor<12xi64>
  %flat = plan.call "aten.reshape.default"(%x) {self = #base.operand<0>, shape = [-1, 8]} in "mlp" : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  %copies = plan.call "aten.repeat_interleave.self_int"(%flat) {self = #base.operand<0>, repeats = 2 : i64, dim = 0 : i64} in "mlp" : (tensor<6x8xf32>) -> tensor<12x8xf32>
  %w = plan.call "aten.index.Tensor"(%up, %ids) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<4x8x8xf32>, tensor<12xi64>) -> tensor<12x8x8xf32>
  %0 = plan.call "aten.to.dtype"(%w) {self = #base.operand<0>, dtype = bf16} in "mlp" : (tensor<12x8x8xf32>) -> tensor<12x8x8xbf16>
  %1 = plan.call "aten.to.dtype"(%copies) {self = #base.operand<0>, dtype = bf16} in "mlp" : (tensor<12x8xf32>) -> tensor<12x8xbf16>
  %2 = plan.call "aten.unsqueeze.default"(%1) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<12x8xbf16>) -> tensor<12x8x1xbf16>
  %3 = plan.call "aten.bmm.default"(%0, %2) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp" : (tensor<12x8x8xbf16>, tensor<12x8x1xbf16>) -> tensor<12x8x1xbf16>
  %4 = plan.call "aten.squeeze.dim"(%3) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<12x8x1xbf16>) -> tensor<12x8xbf16>
  %b = plan.call "aten.index.Tensor"(%bias, %ids) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<4x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %5 = plan.call "aten.add.Tensor"(%4, %b) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<12x8xbf16>, tensor<12x8xf32>) -> tensor<12x8xf32>
  %6 = plan.call "aten.reshape.default"(%5) {self = #base.operand<0>, shape = [2, 3, 2, 8]} in "mlp" : (tensor<12x8xf32>) -> tensor<2x3x2x8xf32>
  %7 = plan.call "aten.unsqueeze.default"(%v) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<2x3x2xf32>) -> tensor<2x3x2x1xf32>
  %8 = plan.call "aten.mul.Tensor"(%6, %7) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x3x2x8xf32>, tensor<2x3x2x1xf32>) -> tensor<2x3x2x8xf32>
  %9 = plan.call "aten.sum.dim_IntList"(%8) {self = #base.operand<0>, dim = [2]} in "mlp" : (tensor<2x3x2x8xf32>) -> tensor<2x3x8xf32>
  return %9 : tensor<2x3x8xf32>
}

// Copies of weights for each token and slot. The first products read the tokens, and a product with the gates sums the
// slots.
// CHECK-LABEL: func.func @token_products
// CHECK: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"
// CHECK: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[ROUTE]]#0)
// CHECK: %[[UP:.*]] = plan.call "meshplan.grouped_linear"(%[[ROWS]], %arg2, %[[ROUTE]]#1) {{.*}}transposed = false
// CHECK: plan.call "aten.silu.default"(%[[UP]])
// CHECK: plan.call "meshplan.grouped_linear"(%[[ROWS]], %arg3, %[[ROUTE]]#1) {{.*}}transposed = false
// CHECK: plan.call "meshplan.grouped_linear"(%{{.*}}, %arg4, %[[ROUTE]]#1) {{.*}}transposed = true
// CHECK: plan.call "meshplan.dispatch_gates"(%{{.*}}, %[[ROUTE]]#0)
// CHECK: %[[OUT:.*]] = plan.call "meshplan.combine"({{.*}}, %[[ROUTE]]#0) {{.*}}size = [2, 3, 8], slots = 2
// CHECK-NOT: aten.einsum
func.func @token_products(%x: tensor<2x3x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %scores: tensor<6x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["scores"]},
    %up: tensor<4x10x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]},
    %gate: tensor<4x10x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.gate"]},
    %down: tensor<4x10x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}) -> tensor<6x8xf32> {
  %v, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp" : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %flat = plan.call "aten.reshape.default"(%x) {self = #base.operand<0>, shape = [-1, 8]} in "mlp" : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  %u = plan.call "aten.index.Tensor"(%up, %i) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<4x10x8xf32>, tensor<6x2xi64>) -> tensor<6x2x10x8xf32>
  %g = plan.call "aten.index.Tensor"(%gate, %i) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<4x10x8xf32>, tensor<6x2xi64>) -> tensor<6x2x10x8xf32>
  %d = plan.call "aten.index.Tensor"(%down, %i) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<4x10x8xf32>, tensor<6x2xi64>) -> tensor<6x2x10x8xf32>
  %0 = plan.call "aten.einsum.default"(%flat, %u) {equation = "ti,taoi->tao", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x8xf32>, tensor<6x2x10x8xf32>) -> tensor<6x2x10xf32>
  %1 = plan.call "aten.silu.default"(%0) {self = #base.operand<0>} in "mlp" : (tensor<6x2x10xf32>) -> tensor<6x2x10xf32>
  %2 = plan.call "aten.einsum.default"(%flat, %g) {equation = "ti,taoi->tao", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x8xf32>, tensor<6x2x10x8xf32>) -> tensor<6x2x10xf32>
  %3 = plan.call "aten.mul.Tensor"(%1, %2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x2x10xf32>, tensor<6x2x10xf32>) -> tensor<6x2x10xf32>
  %4 = plan.call "aten.einsum.default"(%3, %d) {equation = "tao,taoi->tai", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x2x10xf32>, tensor<6x2x10x8xf32>) -> tensor<6x2x8xf32>
  %5 = plan.call "aten.einsum.default"(%4, %v) {equation = "tai,ta->ti", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x2x8xf32>, tensor<6x2xf32>) -> tensor<6x8xf32>
  return %5 : tensor<6x8xf32>
}

// The same with samples and positions, biases, weights on the left, and a sum of products with the gates.
// CHECK-LABEL: func.func @biased_products
// CHECK: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"(%{{.*}}) {experts = 4
// CHECK: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[ROUTE]]#0)
// CHECK: %[[UP:.*]] = plan.call "meshplan.grouped_linear"(%[[ROWS]], %arg2, %[[ROUTE]]#1)
// CHECK: plan.call "meshplan.grouped_bias"(%[[UP]], %arg3, %[[ROUTE]]#1)
// CHECK: %[[OUT:.*]] = plan.call "meshplan.combine"({{.*}}, %[[ROUTE]]#0) {{.*}}size = [2, 3, 8], slots = 2
// CHECK: return %[[OUT]]
func.func @biased_products(%x: tensor<2x3x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %scores: tensor<2x3x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["scores"]},
    %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]},
    %bias: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.bias"]}) -> tensor<2x3x8xf32> {
  %v, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp" : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %u = plan.call "aten.index.Tensor"(%up, %i) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<4x8x8xf32>, tensor<2x3x2xi64>) -> tensor<2x3x2x8x8xf32>
  %b = plan.call "aten.index.Tensor"(%bias, %i) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<4x8xf32>, tensor<2x3x2xi64>) -> tensor<2x3x2x8xf32>
  %0 = plan.call "aten.einsum.default"(%u, %x) {equation = "bseck,bsk->bsec", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<2x3x2x8x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x2x8xf32>
  %1 = plan.call "aten.add.Tensor"(%0, %b) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x3x2x8xf32>, tensor<2x3x2x8xf32>) -> tensor<2x3x2x8xf32>
  %2 = plan.call "aten.unsqueeze.default"(%v) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<2x3x2xf32>) -> tensor<2x3x2x1xf32>
  %3 = plan.call "aten.mul.Tensor"(%1, %2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<2x3x2x8xf32>, tensor<2x3x2x1xf32>) -> tensor<2x3x2x8xf32>
  %4 = plan.call "aten.sum.dim_IntList"(%3) {self = #base.operand<0>, dim = [2]} in "mlp" : (tensor<2x3x2x8xf32>) -> tensor<2x3x8xf32>
  return %4 : tensor<2x3x8xf32>
}

// Tokens are taken at the numbers of pairs divided by the slots, and rows are added there.
// CHECK-LABEL: func.func @numbered_tokens
// CHECK: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"
// CHECK: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[ROUTE]]#0)
// CHECK: plan.call "meshplan.grouped_linear"(%[[ROWS]], %arg2, %[[ROUTE]]#1)
// CHECK: plan.call "meshplan.combine"({{.*}}, %[[ROUTE]]#0) {{.*}}size = [6, 8], slots = 2
// CHECK-NOT: aten.index_add
func.func @numbered_tokens(%x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %scores: tensor<6x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["scores"]},
    %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]}) -> tensor<6x8xf32> {
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} : () -> tensor<6x8xf32>
  %v, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp" : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %ids = plan.call "aten.reshape.default"(%i) {self = #base.operand<0>, shape = [-1]} in "mlp" : (tensor<6x2xi64>) -> tensor<12xi64>
  %pairs = plan.call "aten.arange.default"() {end = 12 : i64, dtype = i64} in "mlp" : () -> tensor<12xi64>
  %tokens = plan.call "aten.floor_divide.default"(%pairs) {self = #base.operand<0>, other = 2 : i64} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %copies = plan.call "aten.index.Tensor"(%x, %tokens) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %w = plan.call "aten.index.Tensor"(%up, %ids) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<4x8x8xf32>, tensor<12xi64>) -> tensor<12x8x8xf32>
  %0 = plan.call "aten.unsqueeze.default"(%copies) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<12x8xf32>) -> tensor<12x8x1xf32>
  %1 = plan.call "aten.bmm.default"(%w, %0) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp" : (tensor<12x8x8xf32>, tensor<12x8x1xf32>) -> tensor<12x8x1xf32>
  %2 = plan.call "aten.squeeze.dim"(%1) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<12x8x1xf32>) -> tensor<12x8xf32>
  %3 = plan.call "aten.reshape.default"(%v) {self = #base.operand<0>, shape = [-1, 1]} in "mlp" : (tensor<6x2xf32>) -> tensor<12x1xf32>
  %4 = plan.call "aten.mul.Tensor"(%2, %3) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<12x8xf32>, tensor<12x1xf32>) -> tensor<12x8xf32>
  %5 = plan.call "aten.index_add.default"(%zeros, %tokens, %4) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>, tensor<12x8xf32>) -> tensor<6x8xf32>
  return %5 : tensor<6x8xf32>
}
