// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-recognize-experts -split-input-file -verify-diagnostics

// Mixtures that stay as they are, and why.

// An operator between the rows of several pairs.
func.func @between_rows(
    %x: tensor<6x8xf32>,
    %scores: tensor<6x4xf32>,
    %weight: tensor<4x8x8xf32>) -> tensor<6x8xf32> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %1 = plan.call "aten.view.default"(%0#1) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
      : (tensor<6x2xi64>) -> tensor<12xi64>
  %2:2 = plan.call "aten.sort.default"(%1) {self = #base.operand<0>} in "mlp.experts"
      : (tensor<12xi64>) -> (tensor<12xi64>, tensor<12xi64>)
  %3 = plan.call "aten.to.dtype"(%2#0) {self = #base.operand<0>, dtype = f32} in "mlp.experts"
      : (tensor<12xi64>) -> tensor<12xf32>
  %4 = plan.call "aten.histc.default"(%3)
      {self = #base.operand<0>, bins = 4 : i64, min = 0 : i64, max = 3 : i64} in "mlp.experts"
      : (tensor<12xf32>) -> tensor<4xf32>
  %5 = plan.call "aten.cumsum.default"(%4) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp.experts"
      : (tensor<4xf32>) -> tensor<4xi32>
  %6 = plan.call "aten.floor_divide.default"(%2#1) {self = #base.operand<0>, other = 2 : i64} in "mlp.experts"
      : (tensor<12xi64>) -> tensor<12xi64>
  %7 = plan.call "aten.index.Tensor"(%x, %6) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %8 = plan.call "meshplan.grouped_mm"(%7, %weight, %5)
      {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  // expected-remark@below {{experts of 'mlp.experts' are computed as the model writes them: 'aten.softmax.int' in 'mlp.experts' reads their rows in a form that is not known}}
  // expected-note@below {{help: choose experts with topk, and compute on each row alone between the products with their weights}}
  %9 = plan.call "aten.softmax.int"(%8) {self = #base.operand<0>, dim = 0 : i64} in "mlp.experts"
      : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %10 = plan.call "aten.empty.memory_format"() {size = [12 : i64], dtype = i64} in "mlp.experts" : () -> tensor<12xi64>
  %11 = plan.call "aten.arange.default"() {end = 12 : i64} in "mlp.experts" : () -> tensor<12xi64>
  %12 = plan.call "aten.index_put.default"(%10, %2#1, %11)
      {self = #base.operand<0>, indices = [#base.operand<1>], values = #base.operand<2>} in "mlp.experts"
      : (tensor<12xi64>, tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  %13 = plan.call "aten.index.Tensor"(%9, %12) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %14 = plan.call "aten.view.default"(%13) {self = #base.operand<0>, size = [6, 2, 8]} in "mlp.experts"
      : (tensor<12x8xf32>) -> tensor<6x2x8xf32>
  %15 = plan.call "aten.sum.dim_IntList"(%14) {self = #base.operand<0>, dim = [1]} in "mlp.experts"
      : (tensor<6x2x8xf32>) -> tensor<6x8xf32>
  return %15 : tensor<6x8xf32>
}

// -----

// Rows that are an output.
func.func @returned(
    %x: tensor<6x8xf32>,
    %scores: tensor<6x4xf32>,
    %weight: tensor<4x8x8xf32>) -> (tensor<6x8xf32>, tensor<12x8xf32>) {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %1 = plan.call "aten.view.default"(%0#1) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
      : (tensor<6x2xi64>) -> tensor<12xi64>
  %2:2 = plan.call "aten.sort.default"(%1) {self = #base.operand<0>} in "mlp.experts"
      : (tensor<12xi64>) -> (tensor<12xi64>, tensor<12xi64>)
  %3 = plan.call "aten.to.dtype"(%2#0) {self = #base.operand<0>, dtype = f32} in "mlp.experts"
      : (tensor<12xi64>) -> tensor<12xf32>
  %4 = plan.call "aten.histc.default"(%3)
      {self = #base.operand<0>, bins = 4 : i64, min = 0 : i64, max = 3 : i64} in "mlp.experts"
      : (tensor<12xf32>) -> tensor<4xf32>
  %5 = plan.call "aten.cumsum.default"(%4) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp.experts"
      : (tensor<4xf32>) -> tensor<4xi32>
  %6 = plan.call "aten.floor_divide.default"(%2#1) {self = #base.operand<0>, other = 2 : i64} in "mlp.experts"
      : (tensor<12xi64>) -> tensor<12xi64>
  %7 = plan.call "aten.index.Tensor"(%x, %6) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %8 = plan.call "meshplan.grouped_mm"(%7, %weight, %5)
      {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %9 = plan.call "aten.empty.memory_format"() {size = [12 : i64], dtype = i64} in "mlp.experts" : () -> tensor<12xi64>
  %10 = plan.call "aten.arange.default"() {end = 12 : i64} in "mlp.experts" : () -> tensor<12xi64>
  %11 = plan.call "aten.index_put.default"(%9, %2#1, %10)
      {self = #base.operand<0>, indices = [#base.operand<1>], values = #base.operand<2>} in "mlp.experts"
      : (tensor<12xi64>, tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  %12 = plan.call "aten.index.Tensor"(%8, %11) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %13 = plan.call "aten.view.default"(%12) {self = #base.operand<0>, size = [6, 2, 8]} in "mlp.experts"
      : (tensor<12x8xf32>) -> tensor<6x2x8xf32>
  %14 = plan.call "aten.sum.dim_IntList"(%13) {self = #base.operand<0>, dim = [1]} in "mlp.experts"
      : (tensor<6x2x8xf32>) -> tensor<6x8xf32>
  // expected-remark@below {{experts of 'mlp.experts' are computed as the model writes them: the model returns their rows}}
  // expected-note@below {{help: choose experts with topk, and compute on each row alone between the products with their weights}}
  return %14, %8 : tensor<6x8xf32>, tensor<12x8xf32>
}

// -----

// Numbers of experts that no operator makes different.
func.func @maybe_twice(
    %x: tensor<6x8xf32>,
    %scores: tensor<6x4xf32>,
    %weight: tensor<4x8x8xf32>) -> tensor<6x8xf32> {
  %0 = plan.call "aten.slice.Tensor"(%scores)
      {self = #base.operand<0>, dim = 1 : i64, start = 0 : i64, end = 2 : i64} in "mlp.gate"
      : (tensor<6x4xf32>) -> tensor<6x2xf32>
  // expected-remark@below {{experts of 'mlp.experts' are computed as the model writes them: a token may choose an expert twice}}
  // expected-note@below {{help: choose experts with topk, and compute on each row alone between the products with their weights}}
  %1 = plan.call "aten.to.dtype"(%0) {self = #base.operand<0>, dtype = i64} in "mlp.gate"
      : (tensor<6x2xf32>) -> tensor<6x2xi64>
  %2 = plan.call "aten.view.default"(%1) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
      : (tensor<6x2xi64>) -> tensor<12xi64>
  %3:2 = plan.call "aten.sort.default"(%2) {self = #base.operand<0>} in "mlp.experts"
      : (tensor<12xi64>) -> (tensor<12xi64>, tensor<12xi64>)
  %4 = plan.call "aten.to.dtype"(%3#0) {self = #base.operand<0>, dtype = f32} in "mlp.experts"
      : (tensor<12xi64>) -> tensor<12xf32>
  %5 = plan.call "aten.histc.default"(%4)
      {self = #base.operand<0>, bins = 4 : i64, min = 0 : i64, max = 3 : i64} in "mlp.experts"
      : (tensor<12xf32>) -> tensor<4xf32>
  %6 = plan.call "aten.cumsum.default"(%5) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp.experts"
      : (tensor<4xf32>) -> tensor<4xi32>
  %7 = plan.call "aten.floor_divide.default"(%3#1) {self = #base.operand<0>, other = 2 : i64} in "mlp.experts"
      : (tensor<12xi64>) -> tensor<12xi64>
  %8 = plan.call "aten.index.Tensor"(%x, %7) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %9 = plan.call "meshplan.grouped_mm"(%8, %weight, %6)
      {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %10 = plan.call "aten.empty.memory_format"() {size = [12 : i64], dtype = i64} in "mlp.experts" : () -> tensor<12xi64>
  %11 = plan.call "aten.arange.default"() {end = 12 : i64} in "mlp.experts" : () -> tensor<12xi64>
  %12 = plan.call "aten.index_put.default"(%10, %3#1, %11)
      {self = #base.operand<0>, indices = [#base.operand<1>], values = #base.operand<2>} in "mlp.experts"
      : (tensor<12xi64>, tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  %13 = plan.call "aten.index.Tensor"(%9, %12) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %14 = plan.call "aten.view.default"(%13) {self = #base.operand<0>, size = [6, 2, 8]} in "mlp.experts"
      : (tensor<12x8xf32>) -> tensor<6x2x8xf32>
  %15 = plan.call "aten.sum.dim_IntList"(%14) {self = #base.operand<0>, dim = [1]} in "mlp.experts"
      : (tensor<6x2x8xf32>) -> tensor<6x8xf32>
  return %15 : tensor<6x8xf32>
}

// -----

// The second maximum may be at the position of the first one.
func.func @same_maximum(
    %x: tensor<6x8xf32>,
    %scores: tensor<6x4xf32>,
    %weight: tensor<4x8x8xf32>) -> tensor<6x8xf32> {
  %0:2 = plan.call "aten.max.dim"(%scores) {self = #base.operand<0>, dim = -1 : i64, keepdim = true} in "mlp.gate"
      : (tensor<6x4xf32>) -> (tensor<6x1xf32>, tensor<6x1xi64>)
  %1 = plan.call "aten.neg.default"(%scores) {self = #base.operand<0>} in "mlp.gate"
      : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %2:2 = plan.call "aten.max.dim"(%1) {self = #base.operand<0>, dim = -1 : i64, keepdim = true} in "mlp.gate"
      : (tensor<6x4xf32>) -> (tensor<6x1xf32>, tensor<6x1xi64>)
  // expected-remark@below {{experts of 'mlp.experts' are computed as the model writes them: a token may choose an expert twice}}
  // expected-note@below {{help: choose experts with topk, and compute on each row alone between the products with their weights}}
  %3 = plan.call "aten.cat.default"(%0#1, %2#1)
      {tensors = [#base.operand<0>, #base.operand<1>], dim = -1 : i64} in "mlp.gate"
      : (tensor<6x1xi64>, tensor<6x1xi64>) -> tensor<6x2xi64>
  %4 = plan.call "aten.view.default"(%3) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
      : (tensor<6x2xi64>) -> tensor<12xi64>
  %5:2 = plan.call "aten.sort.default"(%4) {self = #base.operand<0>} in "mlp.experts"
      : (tensor<12xi64>) -> (tensor<12xi64>, tensor<12xi64>)
  %6 = plan.call "aten.to.dtype"(%5#0) {self = #base.operand<0>, dtype = f32} in "mlp.experts"
      : (tensor<12xi64>) -> tensor<12xf32>
  %7 = plan.call "aten.histc.default"(%6)
      {self = #base.operand<0>, bins = 4 : i64, min = 0 : i64, max = 3 : i64} in "mlp.experts"
      : (tensor<12xf32>) -> tensor<4xf32>
  %8 = plan.call "aten.cumsum.default"(%7) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp.experts"
      : (tensor<4xf32>) -> tensor<4xi32>
  %9 = plan.call "aten.floor_divide.default"(%5#1) {self = #base.operand<0>, other = 2 : i64} in "mlp.experts"
      : (tensor<12xi64>) -> tensor<12xi64>
  %10 = plan.call "aten.index.Tensor"(%x, %9) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %11 = plan.call "meshplan.grouped_mm"(%10, %weight, %8)
      {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %12 = plan.call "aten.empty.memory_format"() {size = [12 : i64], dtype = i64} in "mlp.experts" : () -> tensor<12xi64>
  %13 = plan.call "aten.arange.default"() {end = 12 : i64} in "mlp.experts" : () -> tensor<12xi64>
  %14 = plan.call "aten.index_put.default"(%12, %5#1, %13)
      {self = #base.operand<0>, indices = [#base.operand<1>], values = #base.operand<2>} in "mlp.experts"
      : (tensor<12xi64>, tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  %15 = plan.call "aten.index.Tensor"(%11, %14) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %16 = plan.call "aten.view.default"(%15) {self = #base.operand<0>, size = [6, 2, 8]} in "mlp.experts"
      : (tensor<12x8xf32>) -> tensor<6x2x8xf32>
  %17 = plan.call "aten.sum.dim_IntList"(%16) {self = #base.operand<0>, dim = [1]} in "mlp.experts"
      : (tensor<6x2x8xf32>) -> tensor<6x8xf32>
  return %17 : tensor<6x8xf32>
}

// -----

// A router over more experts than have weights.
func.func @other_experts(
    %x: tensor<6x8xf32>,
    %scores: tensor<6x5xf32>,
    %weight: tensor<4x8x8xf32>) -> tensor<6x8xf32> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<6x5xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %1 = plan.call "aten.view.default"(%0#1) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
      : (tensor<6x2xi64>) -> tensor<12xi64>
  %2:2 = plan.call "aten.sort.default"(%1) {self = #base.operand<0>} in "mlp.experts"
      : (tensor<12xi64>) -> (tensor<12xi64>, tensor<12xi64>)
  %3 = plan.call "aten.to.dtype"(%2#0) {self = #base.operand<0>, dtype = f32} in "mlp.experts"
      : (tensor<12xi64>) -> tensor<12xf32>
  %4 = plan.call "aten.histc.default"(%3)
      {self = #base.operand<0>, bins = 4 : i64, min = 0 : i64, max = 3 : i64} in "mlp.experts"
      : (tensor<12xf32>) -> tensor<4xf32>
  %5 = plan.call "aten.cumsum.default"(%4) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp.experts"
      : (tensor<4xf32>) -> tensor<4xi32>
  %6 = plan.call "aten.floor_divide.default"(%2#1) {self = #base.operand<0>, other = 2 : i64} in "mlp.experts"
      : (tensor<12xi64>) -> tensor<12xi64>
  %7 = plan.call "aten.index.Tensor"(%x, %6) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  // expected-remark@below {{experts of 'mlp.experts' are computed as the model writes them: 'meshplan.grouped_mm' in 'mlp.experts' reads their rows in a form that is not known}}
  // expected-note@below {{help: choose experts with topk, and compute on each row alone between the products with their weights}}
  %8 = plan.call "meshplan.grouped_mm"(%7, %weight, %5)
      {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %9 = plan.call "aten.empty.memory_format"() {size = [12 : i64], dtype = i64} in "mlp.experts" : () -> tensor<12xi64>
  %10 = plan.call "aten.arange.default"() {end = 12 : i64} in "mlp.experts" : () -> tensor<12xi64>
  %11 = plan.call "aten.index_put.default"(%9, %2#1, %10)
      {self = #base.operand<0>, indices = [#base.operand<1>], values = #base.operand<2>} in "mlp.experts"
      : (tensor<12xi64>, tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  %12 = plan.call "aten.index.Tensor"(%8, %11) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %13 = plan.call "aten.view.default"(%12) {self = #base.operand<0>, size = [6, 2, 8]} in "mlp.experts"
      : (tensor<12x8xf32>) -> tensor<6x2x8xf32>
  %14 = plan.call "aten.sum.dim_IntList"(%13) {self = #base.operand<0>, dim = [1]} in "mlp.experts"
      : (tensor<6x2x8xf32>) -> tensor<6x8xf32>
  return %14 : tensor<6x8xf32>
}

// -----

// Sorted positions of something else.
func.func @no_mixture(
    %scores: tensor<6x4xf32>) -> (tensor<12xi64>, tensor<12xi64>) {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %1 = plan.call "aten.view.default"(%0#1) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
      : (tensor<6x2xi64>) -> tensor<12xi64>
  %2:2 = plan.call "aten.sort.default"(%1) {self = #base.operand<0>} in "mlp.experts"
      : (tensor<12xi64>) -> (tensor<12xi64>, tensor<12xi64>)
  return %2#0, %2#1 : tensor<12xi64>, tensor<12xi64>
}

// -----

// Tokens that have a position in the capacity of their expert, by one-hot products.
func.func @capacity(
    %x: tensor<6x8xf32>,
    %ids: tensor<6xi64>,
    %gates: tensor<6x1x1xf32>,
    %weight: tensor<4x8x8xf32>) -> tensor<6x8xf32> {
  %0 = plan.call "aten.one_hot.default"(%ids) {self = #base.operand<0>, num_classes = 4 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6x4xi64>
  %1 = plan.call "aten.cumsum.default"(%0) {self = #base.operand<0>, dim = 0 : i64} in "mlp" : (tensor<6x4xi64>) -> tensor<6x4xi64>
  %2 = plan.call "aten.sub.Tensor"(%1) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<6x4xi64>) -> tensor<6x4xi64>
  %3 = plan.call "aten.lt.Scalar"(%2) {self = #base.operand<0>, other = 3 : i64} in "mlp" : (tensor<6x4xi64>) -> tensor<6x4xi1>
  %4 = plan.call "aten.mul.Tensor"(%0, %3) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x4xi64>, tensor<6x4xi1>) -> tensor<6x4xi64>
  %5 = plan.call "aten.mul.Tensor"(%2, %4) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x4xi64>, tensor<6x4xi64>) -> tensor<6x4xi64>
  %6 = plan.call "aten.sum.dim_IntList"(%5) {self = #base.operand<0>, dim = [-1]} in "mlp" : (tensor<6x4xi64>) -> tensor<6xi64>
  %7 = plan.call "aten.one_hot.default"(%6) {self = #base.operand<0>, num_classes = 3 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6x3xi64>
  %8 = plan.call "aten.einsum.default"(%4, %7) {equation = "te,tc->tec", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x4xi64>, tensor<6x3xi64>) -> tensor<6x4x3xi64>
  %9 = plan.call "aten.to.dtype"(%8) {self = #base.operand<0>, dtype = f32} in "mlp" : (tensor<6x4x3xi64>) -> tensor<6x4x3xf32>
  // expected-remark@below {{experts of 'mlp' are computed as the model writes them: the numbers of their experts are not known to come from topk, sort or a maximum}}
  // expected-note@below {{help: choose experts with topk, and compute on each row alone between the products with their weights}}
  %10 = plan.call "aten.einsum.default"(%9, %x) {equation = "tec,tm->ecm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x4x3xf32>, tensor<6x8xf32>) -> tensor<4x3x8xf32>
  %11 = plan.call "aten.bmm.default"(%10, %weight) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp" : (tensor<4x3x8xf32>, tensor<4x8x8xf32>) -> tensor<4x3x8xf32>
  %12 = plan.call "aten.mul.Tensor"(%9, %gates) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x4x3xf32>, tensor<6x1x1xf32>) -> tensor<6x4x3xf32>
  %13 = plan.call "aten.einsum.default"(%12, %11) {equation = "tec,ecm->tm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x4x3xf32>, tensor<4x3x8xf32>) -> tensor<6x8xf32>
  return %13 : tensor<6x8xf32>
}

// -----

// A bound of the positions that is not read.
func.func @other_bound(
    %x: tensor<6x8xf32>,
    %ids: tensor<6xi64>,
    %gates: tensor<6x1x1xf32>,
    %weight: tensor<4x8x8xf32>) -> tensor<6x8xf32> {
  %0 = plan.call "aten.one_hot.default"(%ids) {self = #base.operand<0>, num_classes = 4 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6x4xi64>
  %1 = plan.call "aten.cumsum.default"(%0) {self = #base.operand<0>, dim = 0 : i64} in "mlp" : (tensor<6x4xi64>) -> tensor<6x4xi64>
  %2 = plan.call "aten.sub.Tensor"(%1) {self = #base.operand<0>, other = 1 : i64} in "mlp" : (tensor<6x4xi64>) -> tensor<6x4xi64>
  %3 = plan.call "aten.le.Scalar"(%2) {self = #base.operand<0>, other = 3 : i64} in "mlp" : (tensor<6x4xi64>) -> tensor<6x4xi1>
  %4 = plan.call "aten.mul.Tensor"(%0, %3) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x4xi64>, tensor<6x4xi1>) -> tensor<6x4xi64>
  %5 = plan.call "aten.mul.Tensor"(%2, %4) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x4xi64>, tensor<6x4xi64>) -> tensor<6x4xi64>
  %6 = plan.call "aten.sum.dim_IntList"(%5) {self = #base.operand<0>, dim = [-1]} in "mlp" : (tensor<6x4xi64>) -> tensor<6xi64>
  %7 = plan.call "aten.one_hot.default"(%6) {self = #base.operand<0>, num_classes = 3 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6x3xi64>
  %8 = plan.call "aten.einsum.default"(%4, %7) {equation = "te,tc->tec", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x4xi64>, tensor<6x3xi64>) -> tensor<6x4x3xi64>
  %9 = plan.call "aten.to.dtype"(%8) {self = #base.operand<0>, dtype = f32} in "mlp" : (tensor<6x4x3xi64>) -> tensor<6x4x3xf32>
  // expected-remark@below {{experts of 'mlp' are computed as the model writes them: 'aten.einsum.default' in 'mlp' takes tokens by their position among those of an expert, up to a capacity}}
  // expected-note@below {{help: choose experts with topk, and compute on each row alone between the products with their weights}}
  %10 = plan.call "aten.einsum.default"(%9, %x) {equation = "tec,tm->ecm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x4x3xf32>, tensor<6x8xf32>) -> tensor<4x3x8xf32>
  %11 = plan.call "aten.bmm.default"(%10, %weight) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp" : (tensor<4x3x8xf32>, tensor<4x8x8xf32>) -> tensor<4x3x8xf32>
  %12 = plan.call "aten.mul.Tensor"(%9, %gates) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x4x3xf32>, tensor<6x1x1xf32>) -> tensor<6x4x3xf32>
  %13 = plan.call "aten.einsum.default"(%12, %11) {equation = "tec,ecm->tm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x4x3xf32>, tensor<4x3x8xf32>) -> tensor<6x8xf32>
  return %13 : tensor<6x8xf32>
}

// -----

// Rows of each expert times numbers of its own.
func.func @scaled(
    %x: tensor<6x8xf32>,
    %ids: tensor<6xi64>,
    %gates: tensor<6x1x1xf32>,
    %scales: tensor<4x1x8xf32>,
    %weight: tensor<4x8x8xf32>) -> tensor<6x8xf32> {
  %0 = plan.call "aten.one_hot.default"(%ids) {self = #base.operand<0>, num_classes = 4 : i64} in "mlp" : (tensor<6xi64>) -> tensor<6x4xi64>
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
  %11 = plan.call "aten.bmm.default"(%10, %weight) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp" : (tensor<4x3x8xf32>, tensor<4x8x8xf32>) -> tensor<4x3x8xf32>
  // expected-remark@below {{experts of 'mlp' are computed as the model writes them: 'aten.mul.Tensor' in 'mlp' computes in a form that is not known for experts with a capacity}}
  // expected-note@below {{help: choose experts with topk, and compute on each row alone between the products with their weights}}
  %s = plan.call "aten.mul.Tensor"(%11, %scales) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<4x3x8xf32>, tensor<4x1x8xf32>) -> tensor<4x3x8xf32>
  %12 = plan.call "aten.mul.Tensor"(%9, %gates) {self = #base.operand<0>, other = #base.operand<1>} in "mlp" : (tensor<6x4x3xf32>, tensor<6x1x1xf32>) -> tensor<6x4x3xf32>
  %13 = plan.call "aten.einsum.default"(%12, %s) {equation = "tec,ecm->tm", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x4x3xf32>, tensor<4x3x8xf32>) -> tensor<6x8xf32>
  return %13 : tensor<6x8xf32>
}

// -----

// A product of copies of weights with rows of other tokens.
func.func @exchanged_tokens(%x: tensor<6x8xf32>, %scores: tensor<6x4xf32>, %weight: tensor<4x8x8xf32>) -> tensor<6x8xf32> {
  %v, %i = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp" : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %w = plan.call "aten.index.Tensor"(%weight, %i) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<4x8x8xf32>, tensor<6x2xi64>) -> tensor<6x2x8x8xf32>
  // expected-remark@below {{experts of 'mlp' are computed as the model writes them: 'aten.einsum.default' in 'mlp' reads their rows in a form that is not known}}
  // expected-note@below {{help: choose experts with topk, and compute on each row alone between the products with their weights}}
  %0 = plan.call "aten.einsum.default"(%x, %w) {equation = "si,taoi->tao", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x8xf32>, tensor<6x2x8x8xf32>) -> tensor<6x2x8xf32>
  %1 = plan.call "aten.einsum.default"(%0, %v) {equation = "tai,ta->ti", tensors = [#base.operand<0>, #base.operand<1>]} in "mlp" : (tensor<6x2x8xf32>, tensor<6x2xf32>) -> tensor<6x8xf32>
  return %1 : tensor<6x8xf32>
}

// -----

// A parameter by which each expert multiplies its results: the operator that multiplies is named, not what takes the
// part of the expert.
func.func @scaled_by_part(
    %x: tensor<6x8xf32>,
    %scores: tensor<6x3xf32>,
    %scale: tensor<3xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.scale"]},
    %w0: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.0.weight"]},
    %w1: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.1.weight"]},
    %w2: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.2.weight"]}) -> tensor<6x8xf32> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<6x3xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %1 = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} in "mlp" : () -> tensor<6x8xf32>
  %eq0 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 0 : i64} in "mlp"
      : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %part0 = plan.call "aten.mul.Tensor"(%0#0, %eq0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x2xf32>, tensor<6x2xi1>) -> tensor<6x2xf32>
  %gate0 = plan.call "aten.sum.dim_IntList"(%part0) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<6x2xf32>) -> tensor<6x1xf32>
  %made0 = plan.call "aten.linear.default"(%x, %w0)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.0"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %own0 = plan.call "aten.select.int"(%scale) {self = #base.operand<0>, dim = 0 : i64, index = 0 : i64} in "mlp"
      : (tensor<3xf32>) -> tensor<f32>
  // expected-remark@below {{experts of 'mlp.experts.0' are computed as the model writes them: 'aten.mul.Tensor' in 'mlp' computes in a form that is not known for experts}}
  // expected-note@below {{help: choose experts with topk, and compute on each row alone between the products with their weights}}
  %scaled0 = plan.call "aten.mul.Tensor"(%made0, %own0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x8xf32>, tensor<f32>) -> tensor<6x8xf32>
  %gated0 = plan.call "aten.mul.Tensor"(%scaled0, %gate0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %sum0 = plan.call "aten.add.Tensor"(%1, %gated0) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %eq1 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 1 : i64} in "mlp"
      : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %part1 = plan.call "aten.mul.Tensor"(%0#0, %eq1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x2xf32>, tensor<6x2xi1>) -> tensor<6x2xf32>
  %gate1 = plan.call "aten.sum.dim_IntList"(%part1) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<6x2xf32>) -> tensor<6x1xf32>
  %made1 = plan.call "aten.linear.default"(%x, %w1)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %own1 = plan.call "aten.select.int"(%scale) {self = #base.operand<0>, dim = 0 : i64, index = 1 : i64} in "mlp"
      : (tensor<3xf32>) -> tensor<f32>
  %scaled1 = plan.call "aten.mul.Tensor"(%made1, %own1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x8xf32>, tensor<f32>) -> tensor<6x8xf32>
  %gated1 = plan.call "aten.mul.Tensor"(%scaled1, %gate1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %sum1 = plan.call "aten.add.Tensor"(%sum0, %gated1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %eq2 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 2 : i64} in "mlp"
      : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %part2 = plan.call "aten.mul.Tensor"(%0#0, %eq2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x2xf32>, tensor<6x2xi1>) -> tensor<6x2xf32>
  %gate2 = plan.call "aten.sum.dim_IntList"(%part2) {self = #base.operand<0>, dim = [-1], keepdim = true} in "mlp"
      : (tensor<6x2xf32>) -> tensor<6x1xf32>
  %made2 = plan.call "aten.linear.default"(%x, %w2)
      {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.2"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %own2 = plan.call "aten.select.int"(%scale) {self = #base.operand<0>, dim = 0 : i64, index = 2 : i64} in "mlp"
      : (tensor<3xf32>) -> tensor<f32>
  %scaled2 = plan.call "aten.mul.Tensor"(%made2, %own2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x8xf32>, tensor<f32>) -> tensor<6x8xf32>
  %gated2 = plan.call "aten.mul.Tensor"(%scaled2, %gate2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %sum2 = plan.call "aten.add.Tensor"(%sum1, %gated2) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  return %sum2 : tensor<6x8xf32>
}
