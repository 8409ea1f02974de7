// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-recognize-experts | FileCheck %s
// With more pairs than f32 can count: it has the numbers of experts, which are few.
// RUN: sed -e '/^\/\/ Biases/,$d' -e 's/2x3x/2x8388608x/g; s/<6x/<16777216x/g; s/<12/<33554432/g; s/\[12 /[33554432 /' \
// RUN:   -e 's/end = 12 /end = 33554432 /; s/\[6, 2/[16777216, 2/; s/\[2, 3, 8\]/[2, 8388608, 8]/' %s | %meshplan-opt --plan-recognize-experts | FileCheck %s --check-prefix=MANY
// MANY: plan.call "meshplan.combine"{{.*}} -> tensor<2x8388608x8xf32>

// Mixtures of 4 experts, of which each of 2 x 3 tokens of 8 features chooses 2: 12 pairs.

// The grouped form: rows sorted by expert. Weights are parameters [experts, out, in] that are transposed.
// CHECK-LABEL: func.func @grouped
// CHECK-NEXT: %[[CHOICE:.*]]:2 = plan.call "aten.topk.default"(%arg1)
// CHECK-NEXT: %[[INDICES:.*]] = plan.call "aten.reshape.default"(%[[CHOICE]]#1) {self = #base.operand<0>, shape = [2, 3, 2]}
// CHECK-SAME: in "mlp.experts"
// CHECK-NEXT: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"(%[[INDICES]])
// CHECK-SAME: {experts = 4 : i64, first = 0 : i64, indices = #base.operand<0>} in "mlp.experts" : (tensor<2x3x2xi64>) -> (tensor<4x2x3xi64>, tensor<4x2x3xi64>)
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[ROUTE]]#0)
// CHECK-SAME: {self = #base.operand<0>, slots = 2 : i64, table = #base.operand<1>} in "mlp.experts" : (tensor<2x3x8xf32>, tensor<4x2x3xi64>) -> tensor<4x2x3x8xf32>
// CHECK-NEXT: %[[SLOTS:.*]] = plan.call "aten.reshape.default"(%[[CHOICE]]#0) {self = #base.operand<0>, shape = [2, 3, 2]}
// CHECK-NEXT: %[[GATES:.*]] = plan.call "meshplan.dispatch_gates"(%[[SLOTS]], %[[ROUTE]]#0)
// CHECK-SAME: {gates = #base.operand<0>, table = #base.operand<1>} in "mlp.experts" : (tensor<2x3x2xf32>, tensor<4x2x3xi64>) -> tensor<4x2x3xf32>
// CHECK-NEXT: %[[UP:.*]] = plan.call "meshplan.grouped_linear"(%[[ROWS]], %arg2, %[[ROUTE]]#1)
// CHECK-SAME: {counts = #base.operand<2>, rows = #base.operand<0>, transposed = false, weight = #base.operand<1>} in "mlp.experts" : (tensor<4x2x3x8xf32>, tensor<4x10x8xf32>, tensor<4x2x3xi64>) -> tensor<4x2x3x10xf32>
// CHECK-NEXT: %[[PARTS:.*]]:2 = plan.call "aten.split.Tensor"(%[[UP]]) {dim = -1 : i64, self = #base.operand<0>, split_size = 5 : i64}
// CHECK-SAME: (tensor<4x2x3x10xf32>) -> (tensor<4x2x3x5xf32>, tensor<4x2x3x5xf32>)
// CHECK-NEXT: %[[ACT:.*]] = plan.call "aten.silu.default"(%[[PARTS]]#0) {self = #base.operand<0>} in "mlp.experts.act_fn" : (tensor<4x2x3x5xf32>) -> tensor<4x2x3x5xf32>
// CHECK-NEXT: %[[PRODUCT:.*]] = plan.call "aten.mul.Tensor"(%[[ACT]], %[[PARTS]]#1)
// CHECK-NEXT: %[[DOWN:.*]] = plan.call "meshplan.grouped_linear"(%[[PRODUCT]], %arg3, %[[ROUTE]]#1)
// CHECK-SAME: transposed = false{{.*}} (tensor<4x2x3x5xf32>, tensor<4x8x5xf32>, tensor<4x2x3xi64>) -> tensor<4x2x3x8xf32>
// CHECK-NEXT: %[[COLUMN:.*]] = plan.call "aten.unsqueeze.default"(%[[GATES]]) {dim = -1 : i64, self = #base.operand<0>} in "mlp.experts" : (tensor<4x2x3xf32>) -> tensor<4x2x3x1xf32>
// CHECK-NEXT: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%[[DOWN]], %[[COLUMN]])
// CHECK-SAME: (tensor<4x2x3x8xf32>, tensor<4x2x3x1xf32>) -> tensor<4x2x3x8xf32>
// CHECK-NEXT: %[[OUT:.*]] = plan.call "meshplan.combine"(%[[WEIGHTED]], %[[ROUTE]]#0)
// CHECK-SAME: {rows = #base.operand<0>, size = [2, 3, 8], slots = 2 : i64, table = #base.operand<1>} in "mlp.experts" : (tensor<4x2x3x8xf32>, tensor<4x2x3xi64>) -> tensor<2x3x8xf32>
// CHECK-NEXT: return %[[OUT]]
func.func @grouped(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<6x4xf32>,
    %up: tensor<4x10x8xf32>,
    %down: tensor<4x8x5xf32>) -> tensor<2x3x8xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [-1, 8]} in "mlp"
      : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  %1:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %2 = plan.call "aten.view.default"(%1#1) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
      : (tensor<6x2xi64>) -> tensor<12xi64>
  %3:2 = plan.call "aten.sort.default"(%2) {self = #base.operand<0>} in "mlp.experts"
      : (tensor<12xi64>) -> (tensor<12xi64>, tensor<12xi64>)
  %4 = plan.call "aten.floor_divide.default"(%3#1) {self = #base.operand<0>, other = 2 : i64} in "mlp.experts"
      : (tensor<12xi64>) -> tensor<12xi64>
  %5 = plan.call "aten.index.Tensor"(%0, %4) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %6 = plan.call "aten.view.default"(%1#0) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
      : (tensor<6x2xf32>) -> tensor<12xf32>
  %7 = plan.call "aten.index.Tensor"(%6, %3#1) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<12xf32>, tensor<12xi64>) -> tensor<12xf32>
  %8 = plan.call "aten.to.dtype"(%3#0) {self = #base.operand<0>, dtype = f32} in "mlp.experts"
      : (tensor<12xi64>) -> tensor<12xf32>
  %9 = plan.call "aten.histc.default"(%8) {self = #base.operand<0>, bins = 4 : i64, min = 0 : i64, max = 3 : i64}
      in "mlp.experts" : (tensor<12xf32>) -> tensor<4xf32>
  %10 = plan.call "aten.cumsum.default"(%9) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp.experts"
      : (tensor<4xf32>) -> tensor<4xi32>
  %11 = plan.call "aten.transpose.int"(%up) {self = #base.operand<0>, dim0 = -2 : i64, dim1 = -1 : i64} in "mlp.experts"
      : (tensor<4x10x8xf32>) -> tensor<4x8x10xf32>
  %12 = plan.call "meshplan.grouped_mm"(%5, %11, %10)
      {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<4x8x10xf32>, tensor<4xi32>) -> tensor<12x10xf32>
  %13:2 = plan.call "aten.split.Tensor"(%12) {self = #base.operand<0>, split_size = 5 : i64, dim = 1 : i64}
      in "mlp.experts" : (tensor<12x10xf32>) -> (tensor<12x5xf32>, tensor<12x5xf32>)
  %14 = plan.call "aten.silu.default"(%13#0) {self = #base.operand<0>} in "mlp.experts.act_fn"
      : (tensor<12x5xf32>) -> tensor<12x5xf32>
  %15 = plan.call "aten.mul.Tensor"(%14, %13#1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts"
      : (tensor<12x5xf32>, tensor<12x5xf32>) -> tensor<12x5xf32>
  %16 = plan.call "aten.transpose.int"(%down) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} in "mlp.experts"
      : (tensor<4x8x5xf32>) -> tensor<4x5x8xf32>
  %17 = plan.call "meshplan.grouped_mm"(%15, %16, %10)
      {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp.experts"
      : (tensor<12x5xf32>, tensor<4x5x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %18 = plan.call "aten.unsqueeze.default"(%7) {self = #base.operand<0>, dim = -1 : i64} in "mlp.experts"
      : (tensor<12xf32>) -> tensor<12x1xf32>
  %19 = plan.call "aten.mul.Tensor"(%17, %18) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<12x1xf32>) -> tensor<12x8xf32>
  %20 = plan.call "aten.empty.memory_format"() {size = [12 : i64], dtype = i64} in "mlp.experts" : () -> tensor<12xi64>
  %21 = plan.call "aten.arange.default"() {end = 12 : i64} in "mlp.experts" : () -> tensor<12xi64>
  %22 = plan.call "aten.index_put.default"(%20, %3#1, %21)
      {self = #base.operand<0>, indices = [#base.operand<1>], values = #base.operand<2>} in "mlp.experts"
      : (tensor<12xi64>, tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  %23 = plan.call "aten.index.Tensor"(%19, %22) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %24 = plan.call "aten.view.default"(%23) {self = #base.operand<0>, size = [6, 2, 8]} in "mlp.experts"
      : (tensor<12x8xf32>) -> tensor<6x2x8xf32>
  %25 = plan.call "aten.sum.dim_IntList"(%24) {self = #base.operand<0>, dim = [1]} in "mlp.experts"
      : (tensor<6x2x8xf32>) -> tensor<6x8xf32>
  %26 = plan.call "aten.view.default"(%25) {self = #base.operand<0>, size = [2, 3, 8]} in "mlp"
      : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
  return %26 : tensor<2x3x8xf32>
}

// Biases of experts, weights [experts, in, out], and strided slices, whose dims are counted from the last one.
// CHECK-LABEL: func.func @biases
// CHECK: %[[GATES:.*]] = plan.call "aten.softmax.int"
// CHECK: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[ROUTE]]#0)
// CHECK-NEXT: %[[UP:.*]] = plan.call "meshplan.grouped_linear"(%[[ROWS]], %arg2, %[[ROUTE]]#1)
// CHECK-SAME: transposed = true{{.*}} (tensor<4x2x3x8xf32>, tensor<4x8x10xf32>, tensor<4x2x3xi64>) -> tensor<4x2x3x10xf32>
// CHECK-NEXT: %[[SUM:.*]] = plan.call "meshplan.grouped_bias"(%[[UP]], %arg3, %[[ROUTE]]#1)
// CHECK-SAME: {bias = #base.operand<1>, counts = #base.operand<2>, rows = #base.operand<0>} in "mlp.experts" : (tensor<4x2x3x10xf32>, tensor<4x10xf32>, tensor<4x2x3xi64>) -> tensor<4x2x3x10xf32>
// CHECK-NEXT: %[[EVEN:.*]] = plan.call "aten.slice.Tensor"(%[[SUM]]) {dim = -1 : i64, end = 9223372036854775807 : i64, self = #base.operand<0>, start = 0 : i64, step = 2 : i64}
// CHECK-SAME: (tensor<4x2x3x10xf32>) -> tensor<4x2x3x5xf32>
// CHECK-NEXT: %[[CLAMPED:.*]] = plan.call "aten.clamp.default"(%[[EVEN]])
// CHECK-NEXT: %[[ODD:.*]] = plan.call "aten.slice.Tensor"(%[[SUM]]) {dim = -1 : i64, {{.*}}start = 1 : i64, step = 2 : i64}
// CHECK-NEXT: %[[SIGMOID:.*]] = plan.call "aten.sigmoid.default"(%[[CLAMPED]])
// CHECK-NEXT: %[[PRODUCT:.*]] = plan.call "aten.mul.Tensor"(%[[ODD]], %[[SIGMOID]])
// CHECK-NEXT: %[[DOWN:.*]] = plan.call "meshplan.grouped_linear"(%[[PRODUCT]], %arg4, %[[ROUTE]]#1)
// CHECK-SAME: transposed = true
// CHECK-NEXT: %[[ADDED:.*]] = plan.call "meshplan.grouped_bias"(%[[DOWN]], %arg5, %[[ROUTE]]#1)
// CHECK-NEXT: %[[SLOTS:.*]] = plan.call "aten.reshape.default"(%[[GATES]]) {{.*}} -> tensor<2x3x2xf32>
// CHECK-NEXT: %[[OWN:.*]] = plan.call "meshplan.dispatch_gates"(%[[SLOTS]], %[[ROUTE]]#0)
// CHECK-NEXT: %[[COLUMN:.*]] = plan.call "aten.unsqueeze.default"(%[[OWN]]) {dim = -1 : i64
// CHECK-NEXT: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%[[ADDED]], %[[COLUMN]])
// CHECK-NEXT: %[[OUT:.*]] = plan.call "meshplan.combine"(%[[WEIGHTED]], %[[ROUTE]]#0)
// CHECK-NEXT: return %[[OUT]]
func.func @biases(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<6x4xf32>,
    %up: tensor<4x8x10xf32>,
    %up_bias: tensor<4x10xf32>,
    %down: tensor<4x5x8xf32>,
    %down_bias: tensor<4x8xf32>) -> tensor<2x3x8xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [-1, 8]} in "mlp"
      : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  %1:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %2 = plan.call "aten.softmax.int"(%1#0) {self = #base.operand<0>, dim = 1 : i64, dtype = f32} in "mlp.gate"
      : (tensor<6x2xf32>) -> tensor<6x2xf32>
  %3 = plan.call "aten.view.default"(%1#1) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
      : (tensor<6x2xi64>) -> tensor<12xi64>
  %4:2 = plan.call "aten.sort.default"(%3) {self = #base.operand<0>} in "mlp.experts"
      : (tensor<12xi64>) -> (tensor<12xi64>, tensor<12xi64>)
  %5 = plan.call "aten.to.dtype"(%4#0) {self = #base.operand<0>, dtype = f32} in "mlp.experts"
      : (tensor<12xi64>) -> tensor<12xf32>
  %6 = plan.call "aten.histc.default"(%5)
      {self = #base.operand<0>, bins = 4 : i64, min = 0 : i64, max = 3 : i64} in "mlp.experts"
      : (tensor<12xf32>) -> tensor<4xf32>
  %7 = plan.call "aten.cumsum.default"(%6) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp.experts"
      : (tensor<4xf32>) -> tensor<4xi32>
  %8 = plan.call "aten.floor_divide.default"(%4#1) {self = #base.operand<0>, other = 2 : i64} in "mlp.experts"
      : (tensor<12xi64>) -> tensor<12xi64>
  %9 = plan.call "aten.index.Tensor"(%0, %8) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %10 = plan.call "aten.index.Tensor"(%up_bias, %4#0)
      {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<4x10xf32>, tensor<12xi64>) -> tensor<12x10xf32>
  %11 = plan.call "meshplan.grouped_mm"(%9, %up, %7)
      {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<4x8x10xf32>, tensor<4xi32>) -> tensor<12x10xf32>
  %12 = plan.call "aten.add.Tensor"(%11, %10) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts"
      : (tensor<12x10xf32>, tensor<12x10xf32>) -> tensor<12x10xf32>
  %13 = plan.call "aten.slice.Tensor"(%12)
      {self = #base.operand<0>, dim = 1 : i64, start = 0 : i64, end = 9223372036854775807 : i64, step = 2 : i64} in "mlp.experts"
      : (tensor<12x10xf32>) -> tensor<12x5xf32>
  %14 = plan.call "aten.clamp.default"(%13) {self = #base.operand<0>, max = 7.0 : f64} in "mlp.experts"
      : (tensor<12x5xf32>) -> tensor<12x5xf32>
  %15 = plan.call "aten.slice.Tensor"(%12)
      {self = #base.operand<0>, dim = 1 : i64, start = 1 : i64, end = 9223372036854775807 : i64, step = 2 : i64} in "mlp.experts"
      : (tensor<12x10xf32>) -> tensor<12x5xf32>
  %16 = plan.call "aten.sigmoid.default"(%14) {self = #base.operand<0>} in "mlp.experts"
      : (tensor<12x5xf32>) -> tensor<12x5xf32>
  %17 = plan.call "aten.mul.Tensor"(%15, %16) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts"
      : (tensor<12x5xf32>, tensor<12x5xf32>) -> tensor<12x5xf32>
  %18 = plan.call "meshplan.grouped_mm"(%17, %down, %7)
      {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp.experts"
      : (tensor<12x5xf32>, tensor<4x5x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %19 = plan.call "aten.index.Tensor"(%down_bias, %4#0)
      {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<4x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %20 = plan.call "aten.add.Tensor"(%19, %18) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
  %21 = plan.call "aten.view.default"(%2) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
      : (tensor<6x2xf32>) -> tensor<12xf32>
  %22 = plan.call "aten.index.Tensor"(%21, %4#1)
      {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<12xf32>, tensor<12xi64>) -> tensor<12xf32>
  %23 = plan.call "aten.unsqueeze.default"(%22) {self = #base.operand<0>, dim = -1 : i64} in "mlp.experts"
      : (tensor<12xf32>) -> tensor<12x1xf32>
  %24 = plan.call "aten.mul.Tensor"(%20, %23) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<12x1xf32>) -> tensor<12x8xf32>
  %25 = plan.call "aten.empty.memory_format"() {size = [12 : i64], dtype = i64} in "mlp.experts" : () -> tensor<12xi64>
  %26 = plan.call "aten.arange.default"() {end = 12 : i64} in "mlp.experts" : () -> tensor<12xi64>
  %27 = plan.call "aten.index_put.default"(%25, %4#1, %26)
      {self = #base.operand<0>, indices = [#base.operand<1>], values = #base.operand<2>} in "mlp.experts"
      : (tensor<12xi64>, tensor<12xi64>, tensor<12xi64>) -> tensor<12xi64>
  %28 = plan.call "aten.index.Tensor"(%24, %27) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %29 = plan.call "aten.view.default"(%28) {self = #base.operand<0>, size = [6, 2, 8]} in "mlp.experts"
      : (tensor<12x8xf32>) -> tensor<6x2x8xf32>
  %30 = plan.call "aten.sum.dim_IntList"(%29) {self = #base.operand<0>, dim = [1]} in "mlp.experts"
      : (tensor<6x2x8xf32>) -> tensor<6x8xf32>
  %31 = plan.call "aten.view.default"(%30) {self = #base.operand<0>, size = [2, 3, 8]} in "mlp"
      : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
  return %31 : tensor<2x3x8xf32>
}

// Rows in bf16, gates in f32: conversions stay where they are. The inverse order is written as argsort.
// CHECK-LABEL: func.func @bf16
// CHECK: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[ROUTE]]#0) {{.*}} -> tensor<4x2x3x8xbf16>
// CHECK-NEXT: %[[PRODUCT:.*]] = plan.call "meshplan.grouped_linear"(%[[ROWS]], %arg2, %[[ROUTE]]#1)
// CHECK-SAME: transposed = false{{.*}} -> tensor<4x2x3x8xbf16>
// CHECK: %[[GATES:.*]] = plan.call "meshplan.dispatch_gates"{{.*}} -> tensor<4x2x3xf32>
// CHECK-NEXT: %[[COLUMN:.*]] = plan.call "aten.unsqueeze.default"(%[[GATES]]) {dim = -1 : i64
// CHECK-NEXT: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%[[PRODUCT]], %[[COLUMN]]) {{.*}} -> tensor<4x2x3x8xf32>
// CHECK-NEXT: %[[SUM:.*]] = plan.call "meshplan.combine"(%[[WEIGHTED]], %[[ROUTE]]#0) {{.*}} -> tensor<2x3x8xf32>
// CHECK-NEXT: %[[OUT:.*]] = plan.call "aten.to.dtype"(%[[SUM]]) {dtype = bf16, {{.*}} -> tensor<2x3x8xbf16>
// CHECK-NEXT: return %[[OUT]]
func.func @bf16(
    %x: tensor<2x3x8xbf16>,
    %scores: tensor<6x4xf32>,
    %weight: tensor<4x8x8xbf16>) -> tensor<2x3x8xbf16> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [-1, 8]} in "mlp"
      : (tensor<2x3x8xbf16>) -> tensor<6x8xbf16>
  %1:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %2 = plan.call "aten.view.default"(%1#1) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
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
  %8 = plan.call "aten.index.Tensor"(%0, %7) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<6x8xbf16>, tensor<12xi64>) -> tensor<12x8xbf16>
  %9 = plan.call "aten.transpose.int"(%weight)
      {self = #base.operand<0>, dim0 = -2 : i64, dim1 = -1 : i64} in "mlp.experts"
      : (tensor<4x8x8xbf16>) -> tensor<4x8x8xbf16>
  %10 = plan.call "aten._grouped_mm.default"(%8, %9, %6)
      {self = #base.operand<0>, mat2 = #base.operand<1>, offs = #base.operand<2>} in "mlp.experts"
      : (tensor<12x8xbf16>, tensor<4x8x8xbf16>, tensor<4xi32>) -> tensor<12x8xbf16>
  %11 = plan.call "aten.view.default"(%1#0) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
      : (tensor<6x2xf32>) -> tensor<12xf32>
  %12 = plan.call "aten.index.Tensor"(%11, %3#1)
      {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<12xf32>, tensor<12xi64>) -> tensor<12xf32>
  %13 = plan.call "aten.unsqueeze.default"(%12) {self = #base.operand<0>, dim = 1 : i64} in "mlp.experts"
      : (tensor<12xf32>) -> tensor<12x1xf32>
  %14 = plan.call "aten.mul.Tensor"(%10, %13) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts"
      : (tensor<12x8xbf16>, tensor<12x1xf32>) -> tensor<12x8xf32>
  %15 = plan.call "aten.argsort.default"(%3#1) {self = #base.operand<0>} in "mlp.experts"
      : (tensor<12xi64>) -> tensor<12xi64>
  %16 = plan.call "aten.index.Tensor"(%14, %15) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %17 = plan.call "aten.view.default"(%16) {self = #base.operand<0>, size = [6, 2, 8]} in "mlp.experts"
      : (tensor<12x8xf32>) -> tensor<6x2x8xf32>
  %18 = plan.call "aten.sum.dim_IntList"(%17) {self = #base.operand<0>, dim = [1]} in "mlp.experts"
      : (tensor<6x2x8xf32>) -> tensor<6x8xf32>
  %19 = plan.call "aten.to.dtype"(%18) {self = #base.operand<0>, dtype = bf16} in "mlp.experts"
      : (tensor<6x8xf32>) -> tensor<6x8xbf16>
  %20 = plan.call "aten.view.default"(%19) {self = #base.operand<0>, size = [2, 3, 8]} in "mlp"
      : (tensor<6x8xbf16>) -> tensor<2x3x8xbf16>
  return %20 : tensor<2x3x8xbf16>
}

// Tokens have one dim where no merge is known. The rows are added to zeros at the number of their token.
// CHECK-LABEL: func.func @flat_tokens
// CHECK-NEXT: %[[CHOICE:.*]]:2 = plan.call "aten.topk.default"
// CHECK-NEXT: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"(%[[CHOICE]]#1) {{.*}} (tensor<6x2xi64>) -> (tensor<4x6xi64>, tensor<4x6xi64>)
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[ROUTE]]#0)
// CHECK-NEXT: %[[PRODUCT:.*]] = plan.call "meshplan.grouped_linear"(%[[ROWS]], %arg2, %[[ROUTE]]#1)
// CHECK-NEXT: %[[GATES:.*]] = plan.call "meshplan.dispatch_gates"(%[[CHOICE]]#0, %[[ROUTE]]#0) {{.*}} -> tensor<4x6xf32>
// CHECK-NEXT: %[[COLUMN:.*]] = plan.call "aten.unsqueeze.default"(%[[GATES]])
// CHECK-NEXT: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%[[PRODUCT]], %[[COLUMN]])
// CHECK-NEXT: %[[OUT:.*]] = plan.call "meshplan.combine"(%[[WEIGHTED]], %[[ROUTE]]#0)
// CHECK-SAME: size = [6, 8]
// CHECK-NEXT: return %[[OUT]]
func.func @flat_tokens(
    %x: tensor<6x8xf32>,
    %scores: tensor<6x4xf32>,
    %weight: tensor<4x8x8xf32>) -> tensor<6x8xf32> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %1 = plan.call "aten.view.default"(%0#1) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
      : (tensor<6x2xi64>) -> tensor<12xi64>
  %2:2 = plan.call "aten.sort.stable"(%1) {self = #base.operand<0>, stable = true} in "mlp.experts"
      : (tensor<12xi64>) -> (tensor<12xi64>, tensor<12xi64>)
  %3 = plan.call "aten.bincount.default"(%2#0) {self = #base.operand<0>, minlength = 4 : i64} in "mlp.experts"
      : (tensor<12xi64>) -> tensor<4xi64>
  %4 = plan.call "aten.cumsum.default"(%3) {self = #base.operand<0>, dim = -1 : i64, dtype = i32} in "mlp.experts"
      : (tensor<4xi64>) -> tensor<4xi32>
  %5 = plan.call "aten.div.Tensor_mode"(%2#1)
      {self = #base.operand<0>, other = 2 : i64, rounding_mode = "floor"} in "mlp.experts"
      : (tensor<12xi64>) -> tensor<12xi64>
  %6 = plan.call "aten.index_select.default"(%x, %5)
      {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>} in "mlp.experts"
      : (tensor<6x8xf32>, tensor<12xi64>) -> tensor<12x8xf32>
  %7 = plan.call "meshplan.grouped_mm"(%6, %weight, %4)
      {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<12x8xf32>
  %8 = plan.call "aten.view.default"(%0#0) {self = #base.operand<0>, size = [-1, 1]} in "mlp.experts"
      : (tensor<6x2xf32>) -> tensor<12x1xf32>
  %9 = plan.call "aten.index.Tensor"(%8, %2#1) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<12x1xf32>, tensor<12xi64>) -> tensor<12x1xf32>
  %10 = plan.call "aten.mul.Tensor"(%7, %9) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<12x1xf32>) -> tensor<12x8xf32>
  %11 = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} in "mlp.experts" : () -> tensor<6x8xf32>
  %12 = plan.call "aten.index_add.default"(%11, %5, %10)
      {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} in "mlp.experts"
      : (tensor<6x8xf32>, tensor<12xi64>, tensor<12x8xf32>) -> tensor<6x8xf32>
  return %12 : tensor<6x8xf32>
}

// One slot. The router has the dims of the tokens.
// CHECK-LABEL: func.func @one_slot
// CHECK-NEXT: %[[CHOICE:.*]]:2 = plan.call "aten.topk.default"
// CHECK-NEXT: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"(%[[CHOICE]]#1) {{.*}} : (tensor<2x3x1xi64>)
// CHECK-NEXT: plan.call "meshplan.dispatch"(%arg0, %[[ROUTE]]#0) {self = #base.operand<0>, slots = 1 : i64
// CHECK: plan.call "meshplan.dispatch_gates"(%[[CHOICE]]#0, %[[ROUTE]]#0)
// CHECK: plan.call "meshplan.combine"
// CHECK-SAME: size = [2, 3, 8], slots = 1 : i64
func.func @one_slot(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x4xf32>,
    %weight: tensor<4x8x8xf32>) -> tensor<2x3x8xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [-1, 8]} in "mlp"
      : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  %1:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 1 : i64} in "mlp.gate"
      : (tensor<2x3x4xf32>) -> (tensor<2x3x1xf32>, tensor<2x3x1xi64>)
  %2 = plan.call "aten.view.default"(%1#1) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
      : (tensor<2x3x1xi64>) -> tensor<6xi64>
  %3:2 = plan.call "aten.sort.default"(%2) {self = #base.operand<0>} in "mlp.experts"
      : (tensor<6xi64>) -> (tensor<6xi64>, tensor<6xi64>)
  %4 = plan.call "aten.to.dtype"(%3#0) {self = #base.operand<0>, dtype = f32} in "mlp.experts"
      : (tensor<6xi64>) -> tensor<6xf32>
  %5 = plan.call "aten.histc.default"(%4)
      {self = #base.operand<0>, bins = 4 : i64, min = 0 : i64, max = 3 : i64} in "mlp.experts"
      : (tensor<6xf32>) -> tensor<4xf32>
  %6 = plan.call "aten.cumsum.default"(%5) {self = #base.operand<0>, dim = 0 : i64, dtype = i32} in "mlp.experts"
      : (tensor<4xf32>) -> tensor<4xi32>
  %7 = plan.call "aten.floor_divide.default"(%3#1) {self = #base.operand<0>, other = 1 : i64} in "mlp.experts"
      : (tensor<6xi64>) -> tensor<6xi64>
  %8 = plan.call "aten.index.Tensor"(%0, %7) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<6x8xf32>, tensor<6xi64>) -> tensor<6x8xf32>
  %9 = plan.call "meshplan.grouped_mm"(%8, %weight, %6)
      {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>} in "mlp.experts"
      : (tensor<6x8xf32>, tensor<4x8x8xf32>, tensor<4xi32>) -> tensor<6x8xf32>
  %10 = plan.call "aten.view.default"(%1#0) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
      : (tensor<2x3x1xf32>) -> tensor<6xf32>
  %11 = plan.call "aten.index.Tensor"(%10, %3#1)
      {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<6xf32>, tensor<6xi64>) -> tensor<6xf32>
  %12 = plan.call "aten.unsqueeze.default"(%11) {self = #base.operand<0>, dim = 1 : i64} in "mlp.experts"
      : (tensor<6xf32>) -> tensor<6x1xf32>
  %13 = plan.call "aten.mul.Tensor"(%9, %12) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts"
      : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %14 = plan.call "aten.empty.memory_format"() {size = [6 : i64], dtype = i64} in "mlp.experts" : () -> tensor<6xi64>
  %15 = plan.call "aten.arange.default"() {end = 6 : i64} in "mlp.experts" : () -> tensor<6xi64>
  %16 = plan.call "aten.index_put.default"(%14, %3#1, %15)
      {self = #base.operand<0>, indices = [#base.operand<1>], values = #base.operand<2>} in "mlp.experts"
      : (tensor<6xi64>, tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %17 = plan.call "aten.index.Tensor"(%13, %16) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<6x8xf32>, tensor<6xi64>) -> tensor<6x8xf32>
  %18 = plan.call "aten.view.default"(%17) {self = #base.operand<0>, size = [6, 1, 8]} in "mlp.experts"
      : (tensor<6x8xf32>) -> tensor<6x1x8xf32>
  %19 = plan.call "aten.sum.dim_IntList"(%18) {self = #base.operand<0>, dim = [1]} in "mlp.experts"
      : (tensor<6x1x8xf32>) -> tensor<6x8xf32>
  %20 = plan.call "aten.view.default"(%19) {self = #base.operand<0>, size = [2, 3, 8]} in "mlp"
      : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
  return %20 : tensor<2x3x8xf32>
}

// The second expert is the maximum of what the first one leaves. Rows without gates.
// CHECK-LABEL: func.func @successive_maxima
// CHECK: %[[INDICES:.*]] = plan.call "aten.cat.default"
// CHECK-NEXT: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"(%[[INDICES]])
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[ROUTE]]#0)
// CHECK-NEXT: %[[PRODUCT:.*]] = plan.call "meshplan.grouped_linear"(%[[ROWS]], %arg2, %[[ROUTE]]#1)
// CHECK-NEXT: %[[OUT:.*]] = plan.call "meshplan.combine"(%[[PRODUCT]], %[[ROUTE]]#0)
// CHECK-NEXT: return %[[OUT]]
func.func @successive_maxima(
    %x: tensor<6x8xf32>,
    %scores: tensor<6x4xf32>,
    %weight: tensor<4x8x8xf32>) -> tensor<6x8xf32> {
  %0:2 = plan.call "aten.max.dim"(%scores) {self = #base.operand<0>, dim = -1 : i64, keepdim = true} in "mlp.gate"
      : (tensor<6x4xf32>) -> (tensor<6x1xf32>, tensor<6x1xi64>)
  %1 = plan.call "aten.scatter.value"(%scores, %0#1)
      {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, value = 0xFFF0000000000000 : f64} in "mlp.gate"
      : (tensor<6x4xf32>, tensor<6x1xi64>) -> tensor<6x4xf32>
  %2:2 = plan.call "aten.max.dim"(%1) {self = #base.operand<0>, dim = 1 : i64, keepdim = true} in "mlp.gate"
      : (tensor<6x4xf32>) -> (tensor<6x1xf32>, tensor<6x1xi64>)
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

// The batched form: a copy of the weights of each pair's expert. Rows are in the order of the tokens.
// CHECK-LABEL: func.func @batched
// CHECK-NEXT: %[[CHOICE:.*]]:2 = plan.call "aten.topk.default"
// CHECK-NEXT: %[[INDICES:.*]] = plan.call "aten.reshape.default"(%[[CHOICE]]#1)
// CHECK-NEXT: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"(%[[INDICES]])
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[ROUTE]]#0)
// CHECK-NEXT: %[[UP:.*]] = plan.call "meshplan.grouped_linear"(%[[ROWS]], %arg2, %[[ROUTE]]#1)
// CHECK-SAME: transposed = false{{.*}} (tensor<4x2x3x8xf32>, tensor<4x10x8xf32>, tensor<4x2x3xi64>) -> tensor<4x2x3x10xf32>
// CHECK-NEXT: %[[SUM:.*]] = plan.call "meshplan.grouped_bias"(%[[UP]], %arg4, %[[ROUTE]]#1)
// CHECK-NEXT: %[[PARTS:.*]]:2 = plan.call "aten.chunk.default"(%[[SUM]]) {chunks = 2 : i64, dim = -1 : i64
// CHECK-NEXT: %[[PRODUCT:.*]] = plan.call "aten.mul.Tensor"(%[[PARTS]]#0, %[[PARTS]]#1)
// CHECK-NEXT: %[[DOWN:.*]] = plan.call "meshplan.grouped_linear"(%[[PRODUCT]], %arg3, %[[ROUTE]]#1)
// CHECK-SAME: transposed = true{{.*}} (tensor<4x2x3x5xf32>, tensor<4x5x8xf32>, tensor<4x2x3xi64>) -> tensor<4x2x3x8xf32>
// CHECK-NEXT: %[[SLOTS:.*]] = plan.call "aten.reshape.default"(%[[CHOICE]]#0)
// CHECK-NEXT: %[[GATES:.*]] = plan.call "meshplan.dispatch_gates"(%[[SLOTS]], %[[ROUTE]]#0)
// CHECK-NEXT: %[[COLUMN:.*]] = plan.call "aten.unsqueeze.default"(%[[GATES]])
// CHECK-NEXT: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%[[DOWN]], %[[COLUMN]])
// CHECK-NEXT: %[[OUT:.*]] = plan.call "meshplan.combine"(%[[WEIGHTED]], %[[ROUTE]]#0)
// CHECK-NEXT: return %[[OUT]]
func.func @batched(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<6x4xf32>,
    %up: tensor<4x10x8xf32>,
    %down: tensor<4x5x8xf32>,
    %bias: tensor<4x10xf32>) -> tensor<2x3x8xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [-1, 8]} in "mlp"
      : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  %1:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %2 = plan.call "aten.repeat_interleave.self_int"(%0)
      {self = #base.operand<0>, dim = 0 : i64, repeats = 2 : i64} in "mlp.experts"
      : (tensor<6x8xf32>) -> tensor<12x8xf32>
  %3 = plan.call "aten.view.default"(%1#1) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
      : (tensor<6x2xi64>) -> tensor<12xi64>
  %4 = plan.call "aten.index.Tensor"(%up, %3) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<4x10x8xf32>, tensor<12xi64>) -> tensor<12x10x8xf32>
  %5 = plan.call "aten.unsqueeze.default"(%2) {self = #base.operand<0>, dim = -1 : i64} in "mlp.experts"
      : (tensor<12x8xf32>) -> tensor<12x8x1xf32>
  %6 = plan.call "aten.bmm.default"(%4, %5) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp.experts"
      : (tensor<12x10x8xf32>, tensor<12x8x1xf32>) -> tensor<12x10x1xf32>
  %7 = plan.call "aten.squeeze.dim"(%6) {self = #base.operand<0>, dim = -1 : i64} in "mlp.experts"
      : (tensor<12x10x1xf32>) -> tensor<12x10xf32>
  %8 = plan.call "aten.index.Tensor"(%bias, %3) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<4x10xf32>, tensor<12xi64>) -> tensor<12x10xf32>
  %9 = plan.call "aten.add.Tensor"(%7, %8) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts"
      : (tensor<12x10xf32>, tensor<12x10xf32>) -> tensor<12x10xf32>
  %10:2 = plan.call "aten.chunk.default"(%9)
      {self = #base.operand<0>, chunks = 2 : i64, dim = -1 : i64} in "mlp.experts"
      : (tensor<12x10xf32>) -> (tensor<12x5xf32>, tensor<12x5xf32>)
  %11 = plan.call "aten.mul.Tensor"(%10#0, %10#1) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts"
      : (tensor<12x5xf32>, tensor<12x5xf32>) -> tensor<12x5xf32>
  %12 = plan.call "aten.index.Tensor"(%down, %3)
      {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<4x5x8xf32>, tensor<12xi64>) -> tensor<12x5x8xf32>
  %13 = plan.call "aten.unsqueeze.default"(%11) {self = #base.operand<0>, dim = 1 : i64} in "mlp.experts"
      : (tensor<12x5xf32>) -> tensor<12x1x5xf32>
  %14 = plan.call "aten.bmm.default"(%13, %12) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp.experts"
      : (tensor<12x1x5xf32>, tensor<12x5x8xf32>) -> tensor<12x1x8xf32>
  %15 = plan.call "aten.squeeze.dim"(%14) {self = #base.operand<0>, dim = 1 : i64} in "mlp.experts"
      : (tensor<12x1x8xf32>) -> tensor<12x8xf32>
  %16 = plan.call "aten.view.default"(%1#0) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
      : (tensor<6x2xf32>) -> tensor<12xf32>
  %17 = plan.call "aten.unsqueeze.default"(%16) {self = #base.operand<0>, dim = -1 : i64} in "mlp.experts"
      : (tensor<12xf32>) -> tensor<12x1xf32>
  %18 = plan.call "aten.mul.Tensor"(%15, %17) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts"
      : (tensor<12x8xf32>, tensor<12x1xf32>) -> tensor<12x8xf32>
  %19 = plan.call "aten.view.default"(%18) {self = #base.operand<0>, size = [6, 2, 8]} in "mlp.experts"
      : (tensor<12x8xf32>) -> tensor<6x2x8xf32>
  %20 = plan.call "aten.sum.dim_IntList"(%19) {self = #base.operand<0>, dim = [1]} in "mlp.experts"
      : (tensor<6x2x8xf32>) -> tensor<6x8xf32>
  %21 = plan.call "aten.view.default"(%20) {self = #base.operand<0>, size = [2, 3, 8]} in "mlp"
      : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
  return %21 : tensor<2x3x8xf32>
}

// Rows keep a dim of size 1 between their products, after the features or before them.
// CHECK-LABEL: func.func @columns_and_rows
// CHECK: %[[UP:.*]] = plan.call "meshplan.grouped_linear"({{.*}}transposed = false
// CHECK-NEXT: %[[ACT:.*]] = plan.call "aten.relu.default"(%[[UP]]) {{.*}} -> tensor<4x2x3x10xf32>
// CHECK-NEXT: %[[SQUARE:.*]] = plan.call "aten.mul.Tensor"(%[[ACT]], %[[ACT]]) {{.*}} -> tensor<4x2x3x10xf32>
// CHECK-NEXT: %[[MIDDLE:.*]] = plan.call "meshplan.grouped_linear"(%[[SQUARE]], {{.*}}transposed = false
// CHECK-NEXT: %[[TANH:.*]] = plan.call "aten.tanh.default"(%[[MIDDLE]]) {{.*}} -> tensor<4x2x3x8xf32>
// CHECK-NEXT: %[[DOWN:.*]] = plan.call "meshplan.grouped_linear"(%[[TANH]], {{.*}}transposed = true
// CHECK: plan.call "meshplan.combine"(%[[DOWN]]
func.func @columns_and_rows(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<6x4xf32>,
    %up: tensor<4x10x8xf32>,
    %middle: tensor<4x8x10xf32>,
    %down: tensor<4x8x8xf32>) -> tensor<6x8xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [-1, 8]} in "mlp"
      : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  %1:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %2 = plan.call "aten.repeat_interleave.self_int"(%0)
      {self = #base.operand<0>, dim = 0 : i64, repeats = 2 : i64} in "mlp.experts"
      : (tensor<6x8xf32>) -> tensor<12x8xf32>
  %3 = plan.call "aten.view.default"(%1#1) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
      : (tensor<6x2xi64>) -> tensor<12xi64>
  %4 = plan.call "aten.unsqueeze.default"(%2) {self = #base.operand<0>, dim = -1 : i64} in "mlp.experts"
      : (tensor<12x8xf32>) -> tensor<12x8x1xf32>
  %5 = plan.call "aten.index.Tensor"(%up, %3) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<4x10x8xf32>, tensor<12xi64>) -> tensor<12x10x8xf32>
  %6 = plan.call "aten.bmm.default"(%5, %4) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp.experts"
      : (tensor<12x10x8xf32>, tensor<12x8x1xf32>) -> tensor<12x10x1xf32>
  %7 = plan.call "aten.relu.default"(%6) {self = #base.operand<0>} in "mlp.experts"
      : (tensor<12x10x1xf32>) -> tensor<12x10x1xf32>
  %8 = plan.call "aten.mul.Tensor"(%7, %7) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts"
      : (tensor<12x10x1xf32>, tensor<12x10x1xf32>) -> tensor<12x10x1xf32>
  %9 = plan.call "aten.index.Tensor"(%middle, %3)
      {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<4x8x10xf32>, tensor<12xi64>) -> tensor<12x8x10xf32>
  %10 = plan.call "aten.bmm.default"(%9, %8) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp.experts"
      : (tensor<12x8x10xf32>, tensor<12x10x1xf32>) -> tensor<12x8x1xf32>
  %11 = plan.call "aten.view.default"(%10) {self = #base.operand<0>, size = [12, 1, 8]} in "mlp.experts"
      : (tensor<12x8x1xf32>) -> tensor<12x1x8xf32>
  %12 = plan.call "aten.tanh.default"(%11) {self = #base.operand<0>} in "mlp.experts"
      : (tensor<12x1x8xf32>) -> tensor<12x1x8xf32>
  %13 = plan.call "aten.index.Tensor"(%down, %3)
      {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<4x8x8xf32>, tensor<12xi64>) -> tensor<12x8x8xf32>
  %14 = plan.call "aten.bmm.default"(%12, %13) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp.experts"
      : (tensor<12x1x8xf32>, tensor<12x8x8xf32>) -> tensor<12x1x8xf32>
  %15 = plan.call "aten.view.default"(%14) {self = #base.operand<0>, size = [6, 2, 8]} in "mlp.experts"
      : (tensor<12x1x8xf32>) -> tensor<6x2x8xf32>
  %16 = plan.call "aten.sum.dim_IntList"(%15) {self = #base.operand<0>, dim = [1]} in "mlp.experts"
      : (tensor<6x2x8xf32>) -> tensor<6x8xf32>
  return %16 : tensor<6x8xf32>
}

// Tokens and slots are dims of their own when the gates are multiplied. The rows of tokens are also read there. The
// sum is computed in another dtype.
// CHECK-LABEL: func.func @gates_by_slots
// CHECK-NEXT: %[[CHOICE:.*]]:2 = plan.call "aten.topk.default"
// CHECK-NEXT: %[[ROUTE:.*]]:2 = plan.call "meshplan.route"(%[[CHOICE]]#1)
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[ROUTE]]#0)
// CHECK-NEXT: %[[PRODUCT:.*]] = plan.call "meshplan.grouped_linear"(%[[ROWS]], %arg2, %[[ROUTE]]#1)
// CHECK-SAME: transposed = false
// CHECK-NEXT: %[[SCALED:.*]] = plan.call "aten.mul.Tensor"(%[[PRODUCT]], %arg3) {{.*}} : (tensor<4x2x3x8xf32>, tensor<8xf32>) -> tensor<4x2x3x8xf32>
// CHECK-NEXT: %[[GATES:.*]] = plan.call "meshplan.dispatch_gates"(%[[CHOICE]]#0, %[[ROUTE]]#0)
// CHECK-NEXT: %[[COLUMN:.*]] = plan.call "aten.unsqueeze.default"(%[[GATES]])
// CHECK-NEXT: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%[[SCALED]], %[[COLUMN]])
// CHECK-NEXT: %[[AGAIN:.*]] = plan.call "meshplan.dispatch"(%arg0, %[[ROUTE]]#0)
// CHECK-NEXT: %[[TIMES:.*]] = plan.call "aten.mul.Tensor"(%[[WEIGHTED]], %[[AGAIN]])
// CHECK-NEXT: %[[WIDE:.*]] = plan.call "aten.to.dtype"(%[[TIMES]]) {dtype = f64
// CHECK-NEXT: %[[OUT:.*]] = plan.call "meshplan.combine"(%[[WIDE]], %[[ROUTE]]#0) {{.*}} -> tensor<2x3x8xf64>
// CHECK-NEXT: return %[[OUT]]
func.func @gates_by_slots(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<2x3x4xf32>,
    %weight: tensor<4x8x8xf32>,
    %scale: tensor<8xf32>) -> tensor<2x3x8xf64> {
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<2x3x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
  %1 = plan.call "aten.view.default"(%0#1) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
      : (tensor<2x3x2xi64>) -> tensor<12xi64>
  %2 = plan.call "aten.unsqueeze.default"(%x) {self = #base.operand<0>, dim = 2 : i64} in "mlp.experts"
      : (tensor<2x3x8xf32>) -> tensor<2x3x1x8xf32>
  %3 = plan.call "aten.expand.default"(%2) {self = #base.operand<0>, size = [2, 3, 2, 8]} in "mlp.experts"
      : (tensor<2x3x1x8xf32>) -> tensor<2x3x2x8xf32>
  %4 = plan.call "aten.reshape.default"(%3) {self = #base.operand<0>, shape = [12, 1, 8]} in "mlp.experts"
      : (tensor<2x3x2x8xf32>) -> tensor<12x1x8xf32>
  %5 = plan.call "aten.index.Tensor"(%weight, %1)
      {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
      : (tensor<4x8x8xf32>, tensor<12xi64>) -> tensor<12x8x8xf32>
  %6 = plan.call "aten.transpose.int"(%5) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} in "mlp.experts"
      : (tensor<12x8x8xf32>) -> tensor<12x8x8xf32>
  %7 = plan.call "aten.bmm.default"(%4, %6) {self = #base.operand<0>, mat2 = #base.operand<1>} in "mlp.experts"
      : (tensor<12x1x8xf32>, tensor<12x8x8xf32>) -> tensor<12x1x8xf32>
  %8 = plan.call "aten.view.default"(%7) {self = #base.operand<0>, size = [2, 3, 2, 8]} in "mlp.experts"
      : (tensor<12x1x8xf32>) -> tensor<2x3x2x8xf32>
  %9 = plan.call "aten.mul.Tensor"(%8, %scale) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts"
      : (tensor<2x3x2x8xf32>, tensor<8xf32>) -> tensor<2x3x2x8xf32>
  %10 = plan.call "aten.unsqueeze.default"(%0#0) {self = #base.operand<0>, dim = -1 : i64} in "mlp.experts"
      : (tensor<2x3x2xf32>) -> tensor<2x3x2x1xf32>
  %11 = plan.call "aten.mul.Tensor"(%9, %10) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts"
      : (tensor<2x3x2x8xf32>, tensor<2x3x2x1xf32>) -> tensor<2x3x2x8xf32>
  %12 = plan.call "aten.mul.Tensor"(%11, %3) {self = #base.operand<0>, other = #base.operand<1>} in "mlp.experts"
      : (tensor<2x3x2x8xf32>, tensor<2x3x2x8xf32>) -> tensor<2x3x2x8xf32>
  %13 = plan.call "aten.sum.dim_IntList"(%12) {self = #base.operand<0>, dim = [-2], dtype = f64} in "mlp.experts"
      : (tensor<2x3x2x8xf32>) -> tensor<2x3x8xf64>
  return %13 : tensor<2x3x8xf64>
}

// What reads the sum beside another expert keeps the dims of the tokens, too. Counts that are read elsewhere stay.
// CHECK-LABEL: func.func @shared_expert
// CHECK-DAG: %[[COUNTS:.*]] = plan.call "aten.histc.default"
// CHECK-DAG: %[[SUM:.*]] = plan.call "meshplan.combine"
// CHECK-DAG: %[[OWN:.*]] = plan.call "aten.linear.default"(%arg0, %arg3) {{.*}} -> tensor<2x3x8xf32>
// CHECK: %[[OUT:.*]] = plan.call "aten.add.Tensor"(%[[SUM]], %[[OWN]]) {{.*}} -> tensor<2x3x8xf32>
// CHECK-NEXT: return %[[OUT]], %[[COUNTS]]
func.func @shared_expert(
    %x: tensor<2x3x8xf32>,
    %scores: tensor<6x4xf32>,
    %weight: tensor<4x8x8xf32>,
    %own: tensor<8x8xf32>) -> (tensor<2x3x8xf32>, tensor<4xf32>) {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [-1, 8]} in "mlp"
      : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  %1:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} in "mlp.gate"
      : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %2 = plan.call "aten.view.default"(%1#1) {self = #base.operand<0>, size = [-1]} in "mlp.experts"
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
  %8 = plan.call "aten.index.Tensor"(%0, %7) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp.experts"
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
  %16 = plan.call "aten.linear.default"(%0, %own) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.shared"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %17 = plan.call "aten.add.Tensor"(%15, %16) {self = #base.operand<0>, other = #base.operand<1>} in "mlp"
      : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %18 = plan.call "aten.view.default"(%17) {self = #base.operand<0>, size = [2, 3, 8]} in "mlp"
      : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
  return %18, %5 : tensor<2x3x8xf32>, tensor<4xf32>
}
