// Mixtures of 4 experts, of which each of 6 tokens of 8 features chooses 2, in the forms that differ in how rows are counted,
// taken, and brought back to their tokens.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-recognize-experts --split-input-file | FileCheck %s

// The counts read a view of the choice of their own.
// CHECK-LABEL: func.func @another_view
// CHECK: meshplan.route
// CHECK: meshplan.dispatch
// CHECK-COUNT-2: meshplan.grouped_linear
// CHECK-NOT: meshplan.grouped_mm
// CHECK: meshplan.combine
func.func @another_view(%x: tensor<6x8xf32>, %scores: tensor<6x4xf32>, %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]}, %down: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}) -> tensor<6x8xf32> {
  %g, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate" : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %f = plan.call "aten.view.default"(%i) {self = #base.operand<0>, size = [-1]} in "mlp" : (tensor<6x2xi64>) -> tensor<12xi64>
  %order = plan.call "aten.argsort.stable"(%f) {self = #base.operand<0>, stable = true} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %token = plan.call "aten.floor_divide.default"(%order) {self = #base.operand<0>, other = 2 : i64} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %own = plan.call "aten.view.default"(%i) {self = #base.operand<0>, size = [-1]} in "mlp" : (tensor<6x2xi64>) -> tensor<12xi64>
  %n = plan.call "aten.bincount.default"(%own) {self = #base.operand<0>, minlength = 4 : i64} in "mlp" : (tensor<12xi64>) -> tensor<4xi64>
  %ends = plan.call "aten.cumsum.default"(%n) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp" : (tensor<4xi64>) -> tensor<4xi32>
  %r = plan.call "aten.index.Tensor"(%x, %token) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %a = plan.call "meshplan.grouped_mm"(%r, %up, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %b = plan.call "aten.silu.default"(%a) {self = #base.operand<0>} in "mlp" : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %y = plan.call "meshplan.grouped_mm"(%b, %down, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} in "mlp" : () -> tensor<6x8xf32>
  %out = plan.call "aten.index_add.default"(%zeros, %token, %y) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>, tensor<12x8xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}

// -----

// Four bins from 0 to 4 have width 1: expert e is in bin e.
// CHECK-LABEL: func.func @bins_of_one
// CHECK: meshplan.route
// CHECK: meshplan.dispatch
// CHECK-COUNT-2: meshplan.grouped_linear
// CHECK-NOT: meshplan.grouped_mm
// CHECK: meshplan.combine
func.func @bins_of_one(%x: tensor<6x8xf32>, %scores: tensor<6x4xf32>, %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]}, %down: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}) -> tensor<6x8xf32> {
  %g, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate" : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %f = plan.call "aten.view.default"(%i) {self = #base.operand<0>, size = [-1]} in "mlp" : (tensor<6x2xi64>) -> tensor<12xi64>
  %order = plan.call "aten.argsort.stable"(%f) {self = #base.operand<0>, stable = true} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %token = plan.call "aten.floor_divide.default"(%order) {self = #base.operand<0>, other = 2 : i64} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %float = plan.call "aten.to.dtype"(%f) {self = #base.operand<0>, dtype = f32} in "mlp" : (tensor<12xi64>) -> tensor<12xf32>
  %n = plan.call "aten.histc.default"(%float) {self = #base.operand<0>, bins = 4 : i64, min = 0 : i64, max = 4 : i64} in "mlp" : (tensor<12xf32>) -> tensor<4xf32>
  %ends = plan.call "aten.cumsum.default"(%n) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp" : (tensor<4xf32>) -> tensor<4xi32>
  %r = plan.call "aten.index.Tensor"(%x, %token) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %a = plan.call "meshplan.grouped_mm"(%r, %up, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %b = plan.call "aten.silu.default"(%a) {self = #base.operand<0>} in "mlp" : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %y = plan.call "meshplan.grouped_mm"(%b, %down, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} in "mlp" : () -> tensor<6x8xf32>
  %out = plan.call "aten.index_add.default"(%zeros, %token, %y) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>, tensor<12x8xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}

// -----

// Sums of one-hot vectors over all pairs.
// CHECK-LABEL: func.func @one_hot
// CHECK: meshplan.route
// CHECK: meshplan.dispatch
// CHECK-COUNT-2: meshplan.grouped_linear
// CHECK-NOT: meshplan.grouped_mm
// CHECK: meshplan.combine
func.func @one_hot(%x: tensor<6x8xf32>, %scores: tensor<6x4xf32>, %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]}, %down: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}) -> tensor<6x8xf32> {
  %g, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate" : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %f = plan.call "aten.view.default"(%i) {self = #base.operand<0>, size = [-1]} in "mlp" : (tensor<6x2xi64>) -> tensor<12xi64>
  %order = plan.call "aten.argsort.stable"(%f) {self = #base.operand<0>, stable = true} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %token = plan.call "aten.floor_divide.default"(%order) {self = #base.operand<0>, other = 2 : i64} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %hot = plan.call "aten.one_hot.default"(%i) {self = #base.operand<0>, num_classes = 4 : i64} in "mlp" : (tensor<6x2xi64>) -> tensor<6x2x4xi64>
  %n = plan.call "aten.sum.dim_IntList"(%hot) {self = #base.operand<0>, dim = [0, 1]} in "mlp" : (tensor<6x2x4xi64>) -> tensor<4xi64>
  %ends = plan.call "aten.cumsum.default"(%n) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp" : (tensor<4xi64>) -> tensor<4xi32>
  %r = plan.call "aten.index.Tensor"(%x, %token) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %a = plan.call "meshplan.grouped_mm"(%r, %up, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %b = plan.call "aten.silu.default"(%a) {self = #base.operand<0>} in "mlp" : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %y = plan.call "meshplan.grouped_mm"(%b, %down, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} in "mlp" : () -> tensor<6x8xf32>
  %out = plan.call "aten.index_add.default"(%zeros, %token, %y) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>, tensor<12x8xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}

// -----

// CHECK-LABEL: func.func @compared
// CHECK: meshplan.route
// CHECK: meshplan.dispatch
// CHECK-COUNT-2: meshplan.grouped_linear
// CHECK-NOT: meshplan.grouped_mm
// CHECK: meshplan.combine
func.func @compared(%x: tensor<6x8xf32>, %scores: tensor<6x4xf32>, %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]}, %down: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}) -> tensor<6x8xf32> {
  %g, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate" : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %f = plan.call "aten.view.default"(%i) {self = #base.operand<0>, size = [-1]} in "mlp" : (tensor<6x2xi64>) -> tensor<12xi64>
  %order = plan.call "aten.argsort.stable"(%f) {self = #base.operand<0>, stable = true} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %token = plan.call "aten.floor_divide.default"(%order) {self = #base.operand<0>, other = 2 : i64} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %c = plan.call "aten.unsqueeze.default"(%f) {self = #base.operand<0>, dim = 1 : i64} in "mlp" : (tensor<12xi64>) -> tensor<12x1xi64>
  %e = plan.call "aten.arange.default"() {end = 4 : i64} in "mlp" : () -> tensor<4xi64>
  %eq = plan.call "aten.eq.Tensor"(%c, %e) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<12x1xi64>, tensor<4xi64>) -> tensor<12x4xi1>
  %n = plan.call "aten.sum.dim_IntList"(%eq) {self = #base.operand<0>, dim = [0]} in "mlp" : (tensor<12x4xi1>) -> tensor<4xi64>
  %ends = plan.call "aten.cumsum.default"(%n) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp" : (tensor<4xi64>) -> tensor<4xi32>
  %r = plan.call "aten.index.Tensor"(%x, %token) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %a = plan.call "meshplan.grouped_mm"(%r, %up, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %b = plan.call "aten.silu.default"(%a) {self = #base.operand<0>} in "mlp" : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %y = plan.call "meshplan.grouped_mm"(%b, %down, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} in "mlp" : () -> tensor<6x8xf32>
  %out = plan.call "aten.index_add.default"(%zeros, %token, %y) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>, tensor<12x8xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}

// -----

// CHECK-LABEL: func.func @scattered
// CHECK: meshplan.route
// CHECK: meshplan.dispatch
// CHECK-COUNT-2: meshplan.grouped_linear
// CHECK-NOT: meshplan.grouped_mm
// CHECK: meshplan.combine
func.func @scattered(%x: tensor<6x8xf32>, %scores: tensor<6x4xf32>, %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]}, %down: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}) -> tensor<6x8xf32> {
  %g, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate" : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %f = plan.call "aten.view.default"(%i) {self = #base.operand<0>, size = [-1]} in "mlp" : (tensor<6x2xi64>) -> tensor<12xi64>
  %order = plan.call "aten.argsort.stable"(%f) {self = #base.operand<0>, stable = true} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %token = plan.call "aten.floor_divide.default"(%order) {self = #base.operand<0>, other = 2 : i64} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %none = plan.call "aten.zeros.default"() {size = [6, 4], dtype = i64} in "mlp" : () -> tensor<6x4xi64>
  %mask = plan.call "aten.scatter.value"(%none, %i) {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>, value = 1 : i64} in "mlp" : (tensor<6x4xi64>, tensor<6x2xi64>) -> tensor<6x4xi64>
  %n = plan.call "aten.sum.dim_IntList"(%mask) {self = #base.operand<0>, dim = [0]} in "mlp" : (tensor<6x4xi64>) -> tensor<4xi64>
  %ends = plan.call "aten.cumsum.default"(%n) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp" : (tensor<4xi64>) -> tensor<4xi32>
  %r = plan.call "aten.index.Tensor"(%x, %token) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %a = plan.call "meshplan.grouped_mm"(%r, %up, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %b = plan.call "aten.silu.default"(%a) {self = #base.operand<0>} in "mlp" : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %y = plan.call "meshplan.grouped_mm"(%b, %down, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} in "mlp" : () -> tensor<6x8xf32>
  %out = plan.call "aten.index_add.default"(%zeros, %token, %y) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>, tensor<12x8xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}

// -----

// Rows are taken and added by the number of their token for each element.
// CHECK-LABEL: func.func @gathered
// CHECK: meshplan.route
// CHECK: meshplan.dispatch
// CHECK-COUNT-2: meshplan.grouped_linear
// CHECK-NOT: meshplan.grouped_mm
// CHECK: meshplan.combine
// CHECK-NOT: aten.gather
// CHECK-NOT: aten.scatter_add
func.func @gathered(%x: tensor<6x8xf32>, %scores: tensor<6x4xf32>, %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]}, %down: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}) -> tensor<6x8xf32> {
  %g, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate" : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %f = plan.call "aten.view.default"(%i) {self = #base.operand<0>, size = [-1]} in "mlp" : (tensor<6x2xi64>) -> tensor<12xi64>
  %order = plan.call "aten.argsort.stable"(%f) {self = #base.operand<0>, stable = true} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %token = plan.call "aten.floor_divide.default"(%order) {self = #base.operand<0>, other = 2 : i64} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %n = plan.call "aten.bincount.default"(%f) {self = #base.operand<0>, minlength = 4 : i64} in "mlp" : (tensor<12xi64>) -> tensor<4xi64>
  %ends = plan.call "aten.cumsum.default"(%n) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp" : (tensor<4xi64>) -> tensor<4xi32>
  %column = plan.call "aten.reshape.default"(%token) {self = #base.operand<0>, shape = [-1, 1]} in "mlp" : (tensor<12xi64>) -> tensor<12x1xi64>
  %wide = plan.call "aten.expand.default"(%column) {self = #base.operand<0>, size = [-1, 8]} in "mlp" : (tensor<12x1xi64>) -> tensor<12x8xi64>
  %r = plan.call "aten.gather.default"(%x, %wide) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>} in "mlp" : (tensor<6x8xf32>, tensor<12x8xi64>) -> tensor<12x8xf32>
  %a = plan.call "meshplan.grouped_mm"(%r, %up, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %b = plan.call "aten.silu.default"(%a) {self = #base.operand<0>} in "mlp" : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %y = plan.call "meshplan.grouped_mm"(%b, %down, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} in "mlp" : () -> tensor<6x8xf32>
  %out = plan.call "aten.scatter_add.default"(%zeros, %wide, %y) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, src = #base.operand<2>} in "mlp" : (tensor<6x8xf32>, tensor<12x8xi64>, tensor<12x8xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}

// -----

// Rows are added to what shared experts have made.
// CHECK-LABEL: func.func @onto
// CHECK: %[[BASE:.*]] = plan.call "aten.tanh.default"(%arg0)
// CHECK: meshplan.route
// CHECK: meshplan.dispatch
// CHECK-COUNT-2: meshplan.grouped_linear
// CHECK-NOT: meshplan.grouped_mm
// CHECK: %[[SUM:.*]] = plan.call "meshplan.combine"
// CHECK: %[[OUT:.*]] = plan.call "aten.add.Tensor"(%[[BASE]], %[[SUM]])
// CHECK: return %[[OUT]]
func.func @onto(%x: tensor<6x8xf32>, %scores: tensor<6x4xf32>, %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]}, %down: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}) -> tensor<6x8xf32> {
  %shared = plan.call "aten.tanh.default"(%x) {self = #base.operand<0>} in "mlp" : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %g, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate" : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %f = plan.call "aten.view.default"(%i) {self = #base.operand<0>, size = [-1]} in "mlp" : (tensor<6x2xi64>) -> tensor<12xi64>
  %order = plan.call "aten.argsort.stable"(%f) {self = #base.operand<0>, stable = true} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %token = plan.call "aten.floor_divide.default"(%order) {self = #base.operand<0>, other = 2 : i64} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %n = plan.call "aten.bincount.default"(%f) {self = #base.operand<0>, minlength = 4 : i64} in "mlp" : (tensor<12xi64>) -> tensor<4xi64>
  %ends = plan.call "aten.cumsum.default"(%n) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp" : (tensor<4xi64>) -> tensor<4xi32>
  %r = plan.call "aten.index.Tensor"(%x, %token) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %a = plan.call "meshplan.grouped_mm"(%r, %up, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %b = plan.call "aten.silu.default"(%a) {self = #base.operand<0>} in "mlp" : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %y = plan.call "meshplan.grouped_mm"(%b, %down, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %out = plan.call "aten.index_add.default"(%shared, %token, %y) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>, tensor<12x8xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}

// -----

// Rows are written to the numbers of their pairs.
// CHECK-LABEL: func.func @put
// CHECK: meshplan.route
// CHECK: meshplan.dispatch
// CHECK-COUNT-2: meshplan.grouped_linear
// CHECK-NOT: meshplan.grouped_mm
// CHECK: meshplan.combine
// CHECK-NOT: aten.index_put
func.func @put(%x: tensor<6x8xf32>, %scores: tensor<6x4xf32>, %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]}, %down: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}) -> tensor<6x8xf32> {
  %g, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate" : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %f = plan.call "aten.view.default"(%i) {self = #base.operand<0>, size = [-1]} in "mlp" : (tensor<6x2xi64>) -> tensor<12xi64>
  %order = plan.call "aten.argsort.stable"(%f) {self = #base.operand<0>, stable = true} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %token = plan.call "aten.floor_divide.default"(%order) {self = #base.operand<0>, other = 2 : i64} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %n = plan.call "aten.bincount.default"(%f) {self = #base.operand<0>, minlength = 4 : i64} in "mlp" : (tensor<12xi64>) -> tensor<4xi64>
  %ends = plan.call "aten.cumsum.default"(%n) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp" : (tensor<4xi64>) -> tensor<4xi32>
  %r = plan.call "aten.index.Tensor"(%x, %token) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %a = plan.call "meshplan.grouped_mm"(%r, %up, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %b = plan.call "aten.silu.default"(%a) {self = #base.operand<0>} in "mlp" : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %y = plan.call "meshplan.grouped_mm"(%b, %down, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %empty = plan.call "aten.empty.memory_format"() {size = [12, 8], dtype = f32} in "mlp" : () -> tensor<12x8xf32>
  %back = plan.call "aten.index_put.default"(%empty, %order, %y) {self = #base.operand<0>, indices = [#base.operand<1>], values = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<12xi64>, tensor<12x8xf32>) -> tensor<12x8xf32>
  %v = plan.call "aten.view.default"(%back) {self = #base.operand<0>, size = [6, 2, 8]} in "mlp" : (tensor<12x8xf32>) -> tensor<6x2x8xf32>
  %out = plan.call "aten.sum.dim_IntList"(%v) {self = #base.operand<0>, dim = [1]} in "mlp" : (tensor<6x2x8xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}

// -----

// CHECK-LABEL: func.func @scattered_back
// CHECK: meshplan.route
// CHECK: meshplan.dispatch
// CHECK-COUNT-2: meshplan.grouped_linear
// CHECK-NOT: meshplan.grouped_mm
// CHECK: meshplan.combine
// CHECK-NOT: aten.scatter
func.func @scattered_back(%x: tensor<6x8xf32>, %scores: tensor<6x4xf32>, %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]}, %down: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}) -> tensor<6x8xf32> {
  %g, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate" : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %f = plan.call "aten.view.default"(%i) {self = #base.operand<0>, size = [-1]} in "mlp" : (tensor<6x2xi64>) -> tensor<12xi64>
  %order = plan.call "aten.argsort.stable"(%f) {self = #base.operand<0>, stable = true} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %token = plan.call "aten.floor_divide.default"(%order) {self = #base.operand<0>, other = 2 : i64} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %n = plan.call "aten.bincount.default"(%f) {self = #base.operand<0>, minlength = 4 : i64} in "mlp" : (tensor<12xi64>) -> tensor<4xi64>
  %ends = plan.call "aten.cumsum.default"(%n) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp" : (tensor<4xi64>) -> tensor<4xi32>
  %r = plan.call "aten.index.Tensor"(%x, %token) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %a = plan.call "meshplan.grouped_mm"(%r, %up, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %b = plan.call "aten.silu.default"(%a) {self = #base.operand<0>} in "mlp" : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %y = plan.call "meshplan.grouped_mm"(%b, %down, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %empty = plan.call "aten.empty.memory_format"() {size = [12, 8], dtype = f32} in "mlp" : () -> tensor<12x8xf32>
  %ocolumn = plan.call "aten.unsqueeze.default"(%order) {self = #base.operand<0>, dim = 1 : i64} in "mlp" : (tensor<12xi64>) -> tensor<12x1xi64>
  %owide = plan.call "aten.expand.default"(%ocolumn) {self = #base.operand<0>, size = [-1, 8]} in "mlp" : (tensor<12x1xi64>) -> tensor<12x8xi64>
  %back = plan.call "aten.scatter.src"(%empty, %owide, %y) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, src = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<12x8xi64>, tensor<12x8xf32>) -> tensor<12x8xf32>
  %v = plan.call "aten.view.default"(%back) {self = #base.operand<0>, size = [6, 2, 8]} in "mlp" : (tensor<12x8xf32>) -> tensor<6x2x8xf32>
  %out = plan.call "aten.sum.dim_IntList"(%v) {self = #base.operand<0>, dim = [1]} in "mlp" : (tensor<6x2x8xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}

// -----

// Gates times rows as a product of matrices.
// CHECK-LABEL: func.func @product_of_gates
// CHECK: meshplan.route
// CHECK: meshplan.dispatch_gates
// CHECK: meshplan.combine
// CHECK-NOT: aten.bmm
func.func @product_of_gates(%x: tensor<6x8xf32>, %scores: tensor<6x4xf32>, %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]}, %down: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}) -> tensor<6x8xf32> {
  %g, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate" : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %f = plan.call "aten.view.default"(%i) {self = #base.operand<0>, size = [-1]} in "mlp" : (tensor<6x2xi64>) -> tensor<12xi64>
  %order = plan.call "aten.argsort.stable"(%f) {self = #base.operand<0>, stable = true} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %token = plan.call "aten.floor_divide.default"(%order) {self = #base.operand<0>, other = 2 : i64} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %n = plan.call "aten.bincount.default"(%f) {self = #base.operand<0>, minlength = 4 : i64} in "mlp" : (tensor<12xi64>) -> tensor<4xi64>
  %ends = plan.call "aten.cumsum.default"(%n) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp" : (tensor<4xi64>) -> tensor<4xi32>
  %r = plan.call "aten.index.Tensor"(%x, %token) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %a = plan.call "meshplan.grouped_mm"(%r, %up, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %b = plan.call "aten.silu.default"(%a) {self = #base.operand<0>} in "mlp" : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %y = plan.call "meshplan.grouped_mm"(%b, %down, %ends) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp" : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %position = plan.call "aten.argsort.default"(%order) {self = #base.operand<0>} in "mlp" : (tensor<12xi64>) -> tensor<12xi64>
  %back = plan.call "aten.index.Tensor"(%y, %position) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<12x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %v = plan.call "aten.view.default"(%back) {self = #base.operand<0>, size = [6, 2, 8]} in "mlp" : (tensor<12x8xf32>) -> tensor<6x2x8xf32>
  %row = plan.call "aten.unsqueeze.default"(%g) {self = #base.operand<0>, dim = 1 : i64} in "mlp" : (tensor<6x2xf32>) -> tensor<6x1x2xf32>
  %sum = plan.call "aten.bmm.default"(%row, %v) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp" : (tensor<6x1x2xf32>, tensor<6x2x8xf32>) -> tensor<6x1x8xf32>
  %out = plan.call "aten.squeeze.dim"(%sum) {self = #base.operand<0>, dim = 1 : i64} in "mlp" : (tensor<6x1x8xf32>) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}

// -----

// The only expert of a token may follow from its number.
// CHECK-LABEL: func.func @hashed
// CHECK: plan.call "meshplan.route"(%{{.*}}) {experts = 4
// CHECK-COUNT-2: meshplan.grouped_linear
// CHECK: meshplan.combine
func.func @hashed(%x: tensor<6x8xf32>, %ids: tensor<6xi64>, %up: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.up"]}, %down: tensor<4x8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.down"]}) -> tensor<6x8xf32> {
  %h = plan.call "aten.remainder.Scalar"(%ids) {self = #base.operand<0>, other = 4 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6xi64>
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
