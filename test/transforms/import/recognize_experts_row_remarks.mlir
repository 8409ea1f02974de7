// Mixtures that stay as they are, by how rows are counted and chosen, and why.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-recognize-experts -split-input-file -verify-diagnostics

// Bins from 0 to 2 have a width of one half.
func.func @bins_between(%x: tensor<6x8xf32>, %scores: tensor<6x4xf32>, %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]}, %down: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}) -> tensor<6x8xf32> {
  %g, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate" : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %f = plan.call "aten.view.default"(%i) {self = #base.operand<0>, size = [-1]} in "mlp" : (tensor<6x2xi64>) -> tensor<12xi64>
  %order = plan.call "aten.argsort.stable"(%f) {self = #base.operand<0>, stable = true} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %token = plan.call "aten.floor_divide.default"(%order) {self = #base.operand<0>, other = 2 : i64} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %float = plan.call "aten.to.dtype"(%f) {self = #base.operand<0>, dtype = f32} in "mlp" : (tensor<12xi64>) -> tensor<12xf32>
  %n = plan.call "aten.histc.default"(%float) {self = #base.operand<0>, bins = 4 : i64, min = 0 : i64, max = 2 : i64} in "mlp" : (tensor<12xf32>) -> tensor<4xf32>
  %ends = plan.call "aten.cumsum.default"(%n) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp" : (tensor<4xf32>) -> tensor<4xi32>
  %r = plan.call "aten.index.Tensor"(%x, %token) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  // expected-remark@below {{experts of 'mlp' are computed as the model writes them: 'meshplan.grouped_mm' in 'mlp' takes rows by counts that are not provably those of the chosen experts: they are made by 'aten.histc.default' in 'mlp'}}
  // expected-note@below {{help: count the numbers of the experts that are sorted, as by 'torch.bincount(ids, minlength=experts)' or 'one_hot(ids, experts).sum(0)'}}
  %a = plan.call "meshplan.grouped_mm"(%r, %up, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %b = plan.call "aten.silu.default"(%a) {self = #base.operand<0>} in "mlp" : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %y = plan.call "meshplan.grouped_mm"(%b, %down, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} in "mlp" : () -> tensor<6x8xf32>
  %out = plan.call "aten.index_add.default"(%zeros, %token, %y) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>, tensor<12x8xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}

// -----

// Counts of something else.
func.func @counts_of_others(%x: tensor<6x8xf32>, %scores: tensor<6x4xf32>, %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]}, %down: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}, %others: tensor<12xi64>) -> tensor<6x8xf32> {
  %g, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate" : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %f = plan.call "aten.view.default"(%i) {self = #base.operand<0>, size = [-1]} in "mlp" : (tensor<6x2xi64>) -> tensor<12xi64>
  %order = plan.call "aten.argsort.stable"(%f) {self = #base.operand<0>, stable = true} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %token = plan.call "aten.floor_divide.default"(%order) {self = #base.operand<0>, other = 2 : i64} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %n = plan.call "aten.bincount.default"(%others) {self = #base.operand<0>, minlength = 4 : i64} in "mlp" : (tensor<12xi64>) -> tensor<4xi64>
  %ends = plan.call "aten.cumsum.default"(%n) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp" : (tensor<4xi64>) -> tensor<4xi32>
  %r = plan.call "aten.index.Tensor"(%x, %token) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  // expected-remark@below {{takes rows by counts that are not provably those of the chosen experts: they are made by 'aten.bincount.default' in 'mlp'}}
  // expected-note@below {{help: count the numbers of the experts that are sorted, as by 'torch.bincount(ids, minlength=experts)' or 'one_hot(ids, experts).sum(0)'}}
  %a = plan.call "meshplan.grouped_mm"(%r, %up, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %b = plan.call "aten.silu.default"(%a) {self = #base.operand<0>} in "mlp" : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %y = plan.call "meshplan.grouped_mm"(%b, %down, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} in "mlp" : () -> tensor<6x8xf32>
  %out = plan.call "aten.index_add.default"(%zeros, %token, %y) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>, tensor<12x8xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}

// -----

// A token has one slot, but its number may be anything.
func.func @table(%x: tensor<6x8xf32>, %ids: tensor<6xi64>, %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]}, %down: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}) -> tensor<6x8xf32> {
  %h = plan.call "aten.abs.default"(%ids) {self = #base.operand<0>} in "mlp" : (tensor<6xi64>) -> tensor<6xi64>
  // expected-remark@below {{the number that a token has is not provably one of an expert}}
  // expected-note@below {{help: make it by topk or argmax of scores, or by 'numbers % experts'}}
  %i = plan.call "aten.unsqueeze.default"(%h) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6x1xi64>
  %f = plan.call "aten.view.default"(%i) {self = #base.operand<0>, size = [-1]} in "mlp" : (tensor<6x1xi64>) -> tensor<6xi64>
  %u = plan.call "aten.index.Tensor"(%up, %f) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<4x8x8xf32>, tensor<6xi64>) -> tensor<6x8x8xf32>
  %d = plan.call "aten.index.Tensor"(%down, %f) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<4x8x8xf32>, tensor<6xi64>) -> tensor<6x8x8xf32>
  %r = plan.call "aten.unsqueeze.default"(%x) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<6x8xf32>) -> tensor<6x8x1xf32>
  %a = plan.call "aten.bmm.default"(%u, %r) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp" : (tensor<6x8x8xf32>, tensor<6x8x1xf32>) -> tensor<6x8x1xf32>
  %b = plan.call "aten.silu.default"(%a) {self = #base.operand<0>} in "mlp" : (tensor<6x8x1xf32>) -> tensor<6x8x1xf32>
  %c = plan.call "aten.bmm.default"(%d, %b) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp" : (tensor<6x8x8xf32>, tensor<6x8x1xf32>) -> tensor<6x8x1xf32>
  %y = plan.call "aten.view.default"(%c) {self = #base.operand<0>, size = [6, 1, 8]} in "mlp" : (tensor<6x8x1xf32>) -> tensor<6x1x8xf32>
  %out = plan.call "aten.sum.dim_IntList"(%y) {self = #base.operand<0>, dim = [1]} in "mlp" : (tensor<6x1x8xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}

// -----

// Each expert chooses 3 of the tokens.
func.func @experts_choose(%x: tensor<6x8xf32>, %scores: tensor<6x4xf32>, %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]}, %down: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}) -> tensor<6x8xf32> {
  %t = plan.call "aten.transpose.int"(%scores) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64} in "mlp" : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %g, %i = plan.call "aten.topk.default"(%t) {self = #base.operand<0>, k = 3 : i64} in "mlp" : (tensor<4x6xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
  %r = plan.call "aten.index.Tensor"(%x, %i) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<6x8xf32>, tensor<4x3xi64>) -> tensor<4x3x8xf32>
  // expected-remark@below {{experts of 'mlp' are computed as the model writes them: 'aten.topk.default' in 'mlp' chooses tokens for each expert, not experts for each token}}
  // expected-note@below {{help: divide the weights by the dim that numbers experts, as by 'parameter { WEIGHT: split 0 over AXIS }', or the features of each expert by 'colwise' and 'rowwise'}}
  %a = plan.call "aten.einsum.default"(%r, %up) {equation = "ect,edt->ecd", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<4x3x8xf32>, tensor<4x8x8xf32>) -> tensor<4x3x8xf32>
  %y = plan.call "aten.einsum.default"(%a, %down) {equation = "ecd,etd->ect", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<4x3x8xf32>, tensor<4x8x8xf32>) -> tensor<4x3x8xf32>
  %w = plan.call "aten.unsqueeze.default"(%g) {self = #base.operand<0>, dim = -1 : i64} in "mlp" : (tensor<4x3xf32>) -> tensor<4x3x1xf32>
  %z = plan.call "aten.mul.Tensor"(%y, %w) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<4x3x8xf32>, tensor<4x3x1xf32>) -> tensor<4x3x8xf32>
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} in "mlp" : () -> tensor<6x8xf32>
  %out = plan.call "aten.index_put.default"(%zeros, %i, %z) {self = #base.operand<0>, indices = [#base.operand<1>], values = #base.operand<2>, accumulate = true} in "mlp" : (tensor<6x8xf32>, tensor<4x3xi64>, tensor<4x3x8xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}

// -----

// Products with parts of a stacked weight, and results that are taken.
func.func @parts(%x: tensor<6x8xf32>, %scores: tensor<6x4xf32>, %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]}, %down: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}) -> tensor<6x8xf32> {
  %g, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate" : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %w0 = plan.call "aten.select.int"(%up) {self = #base.operand<0>, dim = 0 : i64, index = 0 : i64} in "mlp" : (tensor<4x8x8xf32>) -> tensor<8x8xf32>
  // expected-remark@below {{experts of 'mlp' are computed as the model writes them: 'aten.topk.default' in 'mlp.gate' chooses some of them, but what 'aten.linear.default' in 'mlp' makes is weighed and summed in a form that is not known}}
  // expected-note@below {{help: add what each expert makes times a gate that is 0 for tokens that have not chosen it, or compute the tokens of 'torch.where(indices == e)' alone}}
  %y0 = plan.call "aten.linear.default"(%x, %w0) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %w1 = plan.call "aten.select.int"(%up) {self = #base.operand<0>, dim = 0 : i64, index = 1 : i64} in "mlp" : (tensor<4x8x8xf32>) -> tensor<8x8xf32>
  %y1 = plan.call "aten.linear.default"(%x, %w1) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %w2 = plan.call "aten.select.int"(%up) {self = #base.operand<0>, dim = 0 : i64, index = 2 : i64} in "mlp" : (tensor<4x8x8xf32>) -> tensor<8x8xf32>
  %y2 = plan.call "aten.linear.default"(%x, %w2) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %w3 = plan.call "aten.select.int"(%up) {self = #base.operand<0>, dim = 0 : i64, index = 3 : i64} in "mlp" : (tensor<4x8x8xf32>) -> tensor<8x8xf32>
  %y3 = plan.call "aten.linear.default"(%x, %w3) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %all = plan.call "aten.stack.default"(%y0, %y1, %y2, %y3) {tensors = [#base.operand<0>, #base.operand<1>, #base.operand<2>, #base.operand<3>], dim = 2 : i64} in "mlp" : (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8x4xf32>
  %w = plan.call "aten.unsqueeze.default"(%i) {self = #base.operand<0>, dim = 1 : i64} in "mlp" : (tensor<6x2xi64>) -> tensor<6x1x2xi64>
  %e = plan.call "aten.expand.default"(%w) {self = #base.operand<0>, size = [6, 8, 2]} in "mlp" : (tensor<6x1x2xi64>) -> tensor<6x8x2xi64>
  %taken = plan.call "aten.gather.default"(%all, %e) {self = #base.operand<0>, dim = 2 : i64, index = #base.operand<1>} in "mlp" : (tensor<6x8x4xf32>, tensor<6x8x2xi64>) -> tensor<6x8x2xf32>
  %out = plan.call "aten.sum.dim_IntList"(%taken) {self = #base.operand<0>, dim = [2]} in "mlp" : (tensor<6x8x2xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}
