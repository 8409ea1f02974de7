// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-fold-lookups | FileCheck %s

// Lookups in which some index tensors only count up.

// The last token of each sample: the index of the batch counts up, the position is chosen.
// CHECK-LABEL: func.func @token_of_each_sample
// CHECK: %[[AT:.*]] = plan.call "aten.argmax.default"
// CHECK-NEXT: %[[NARROW:.*]] = plan.call "aten.reshape.default"(%[[AT]]){{.*}} -> tensor<4x1x1xi64>
// CHECK-NEXT: %[[WIDE:.*]] = plan.call "aten.expand.default"(%[[NARROW]]){{.*}} -> tensor<4x1x8xi64>
// CHECK-NEXT: %[[TAKEN:.*]] = plan.call "aten.gather.default"(%arg0, %[[WIDE]]) {dim = 1 : i64, {{.*}} in "text" {{.*}} -> tensor<4x1x8xf32>
// CHECK-NEXT: %[[OUT:.*]] = plan.call "aten.reshape.default"(%[[TAKEN]]){{.*}} -> tensor<4x8xf32>
// CHECK-NEXT: return %[[OUT]]
func.func @token_of_each_sample(%hidden: tensor<4x6x8xf32>, %ids: tensor<4x6xi64>) -> tensor<4x8xf32> {
  %sample = plan.call "aten.arange.default"() {end = 4 : i64} : () -> tensor<4xi64>
  %at = plan.call "aten.argmax.default"(%ids) {self = #base.operand<0>, dim = -1 : i64}
      : (tensor<4x6xi64>) -> tensor<4xi64>
  %out = plan.call "aten.index.Tensor"(%hidden, %sample, %at)
      {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]} in "text"
      : (tensor<4x6x8xf32>, tensor<4xi64>, tensor<4xi64>) -> tensor<4x8xf32>
  return %out : tensor<4x8xf32>
}

// A padding mask with two more dims: nothing is chosen.
// CHECK-LABEL: func.func @mask_with_dims
// CHECK-NEXT: %[[OUT:.*]] = plan.call "aten.reshape.default"(%arg0) {self = #base.operand<0>, shape = [2, 1, 1, 6]} : (tensor<2x6xi1>) -> tensor<2x1x1x6xi1>
// CHECK-NEXT: return %[[OUT]]
func.func @mask_with_dims(%mask: tensor<2x6xi1>) -> tensor<2x1x1x6xi1> {
  %0 = plan.call "aten.arange.default"() {end = 2 : i64} : () -> tensor<2xi64>
  %sample = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = [2 : i64, 1 : i64, 1 : i64, 1 : i64]}
      : (tensor<2xi64>) -> tensor<2x1x1x1xi64>
  %key = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
  %out = plan.call "aten.index.Tensor"(%mask, %sample, %key)
      {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]}
      : (tensor<2x6xi1>, tensor<2x1x1x1xi64>, tensor<6xi64>) -> tensor<2x1x1x6xi1>
  return %out : tensor<2x1x1x6xi1>
}

// Dims in another order, and one without an index.
// CHECK-LABEL: func.func @other_order
// CHECK-NEXT: %[[TURNED:.*]] = plan.call "aten.permute.default"(%arg0) {dims = [1, 0, 2],{{.*}} -> tensor<6x2x8xf32>
// CHECK-NEXT: %[[NARROW:.*]] = plan.call "aten.reshape.default"(%[[TURNED]]){{.*}} -> tensor<6x1x2x8xf32>
// CHECK-NEXT: %[[OUT:.*]] = plan.call "aten.expand.default"(%[[NARROW]]){{.*}} -> tensor<6x3x2x8xf32>
// CHECK-NEXT: return %[[OUT]]
func.func @other_order(%self: tensor<2x6x8xf32>) -> tensor<6x3x2x8xf32> {
  %first = plan.call "aten.arange.default"() {end = 2 : i64} : () -> tensor<2xi64>
  %0 = plan.call "aten.arange.default"() {end = 6 : i64} : () -> tensor<6xi64>
  %second = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = [6 : i64, 1 : i64, 1 : i64]}
      : (tensor<6xi64>) -> tensor<6x1x1xi64>
  %wide = plan.call "aten.expand.default"(%second) {self = #base.operand<0>, size = [6 : i64, 3 : i64, 1 : i64]}
      : (tensor<6x1x1xi64>) -> tensor<6x3x1xi64>
  %out = plan.call "aten.index.Tensor"(%self, %first, %wide)
      {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]}
      : (tensor<2x6x8xf32>, tensor<2xi64>, tensor<6x3x1xi64>) -> tensor<6x3x2x8xf32>
  return %out : tensor<6x3x2x8xf32>
}

// Two positions of each sample, chosen in a middle dim; dims of separated indices come first.
// CHECK-LABEL: func.func @several_positions
// CHECK: %[[INDEX:.*]] = plan.call "aten.permute.default"({{.*}}) {dims = [1, 0],{{.*}} -> tensor<4x2xi64>
// CHECK-NEXT: %[[NARROW:.*]] = plan.call "aten.reshape.default"(%[[INDEX]]){{.*}} -> tensor<4x1x2xi64>
// CHECK-NEXT: %[[WIDE:.*]] = plan.call "aten.expand.default"(%[[NARROW]]){{.*}} -> tensor<4x8x2xi64>
// CHECK-NEXT: %[[TAKEN:.*]] = plan.call "aten.gather.default"(%arg0, %[[WIDE]]) {dim = 2 : i64,{{.*}} -> tensor<4x8x2xf32>
// CHECK-NEXT: %[[OUT:.*]] = plan.call "aten.permute.default"(%[[TAKEN]]) {dims = [2, 0, 1],{{.*}} -> tensor<2x4x8xf32>
// CHECK-NEXT: return %[[OUT]]
func.func @several_positions(%self: tensor<4x8x6xf32>, %scores: tensor<2x4x6xf32>) -> tensor<2x4x8xf32> {
  %0 = plan.call "aten.arange.default"() {end = 4 : i64} : () -> tensor<4xi64>
  %at = plan.call "aten.argmax.default"(%scores) {self = #base.operand<0>, dim = 2 : i64}
      : (tensor<2x4x6xf32>) -> tensor<2x4xi64>
  %out = plan.call "aten.index.Tensor"(%self, %0, %at)
      {self = #base.operand<0>, indices = [#base.operand<1>, unit, #base.operand<2>]}
      : (tensor<4x8x6xf32>, tensor<4xi64>, tensor<2x4xi64>) -> tensor<2x4x8xf32>
  return %out : tensor<2x4x8xf32>
}

// No index counts up, or two choose: unchanged.
// CHECK-LABEL: func.func @left_alone
// CHECK-COUNT-3: "aten.index.Tensor"
func.func @left_alone(%self: tensor<4x6x8xf32>, %at: tensor<4xi64>, %scores: tensor<4x8xf32>)
    -> (tensor<4x6x8xf32>, tensor<4xf32>, tensor<3x8xf32>) {
  %count = plan.call "aten.arange.default"() {end = 4 : i64} : () -> tensor<4xi64>
  %short = plan.call "aten.arange.default"() {end = 3 : i64} : () -> tensor<3xi64>
  %best = plan.call "aten.argmax.default"(%scores) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<4x8xf32>) -> tensor<4xi64>
  %0 = plan.call "aten.index.Tensor"(%self, %at) {self = #base.operand<0>, indices = [#base.operand<1>]}
      : (tensor<4x6x8xf32>, tensor<4xi64>) -> tensor<4x6x8xf32>
  %1 = plan.call "aten.index.Tensor"(%self, %count, %at, %best)
      {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>, #base.operand<3>]}
      : (tensor<4x6x8xf32>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xf32>
  // The first three of four samples are not all of them.
  %2 = plan.call "aten.index.Tensor"(%self, %short, %short)
      {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]}
      : (tensor<4x6x8xf32>, tensor<3xi64>, tensor<3xi64>) -> tensor<3x8xf32>
  return %0, %1, %2 : tensor<4x6x8xf32>, tensor<4xf32>, tensor<3x8xf32>
}

// Classes that an input chooses, with indices that may be negative.
// CHECK-LABEL: func.func @classes_of_rows
// CHECK: %[[IS_BEHIND:.*]] = plan.call "aten.lt.Scalar"(%arg1) {other = 0.000000e+00 : f64, {{.*}} -> tensor<4xi1>
// CHECK: %[[SHIFT:.*]] = plan.call "aten.mul.Scalar"({{.*}}) {other = 6 : i64, {{.*}} -> tensor<4xi64>
// CHECK-NEXT: %[[CLASS:.*]] = plan.call "aten.add.Tensor"(%arg1, %[[SHIFT]])
// CHECK-NEXT: %[[AT:.*]] = plan.call "aten.reshape.default"(%[[CLASS]]){{.*}} -> tensor<4x1xi64>
// CHECK-NEXT: %[[TAKEN:.*]] = plan.call "aten.gather.default"(%arg0, %[[AT]]) {dim = 1 : i64, {{.*}} -> tensor<4x1xf32>
// CHECK-NEXT: %[[OUT:.*]] = plan.call "aten.reshape.default"(%[[TAKEN]]){{.*}} -> tensor<4xf32>
// CHECK-NEXT: return %[[OUT]]
func.func @classes_of_rows(%rows: tensor<4x6xf32>, %classes: tensor<4xi64>) -> tensor<4xf32> {
  %count = plan.call "aten.arange.default"() {end = 4 : i64} : () -> tensor<4xi64>
  %out = plan.call "aten.index.Tensor"(%rows, %count, %classes)
      {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]}
      : (tensor<4x6xf32>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xf32>
  return %out : tensor<4xf32>
}

// Row indices that are a constant of the model, here of two dims, may count up, too.
// CHECK-LABEL: func.func @listed_rows
// CHECK: plan.call "aten.gather.default"(%arg0, %{{.*}}) {dim = 2 : i64, {{.*}} -> tensor<2x3x1xf32>
// CHECK-NOT: "aten.index.Tensor"
// CHECK: return
func.func @listed_rows(%self: tensor<2x3x8xf32>, %at: tensor<2x3xi64>) -> tensor<2x3xf32> {
  %samples = plan.constant "samples" dense<[[0], [1]]> : tensor<2x1xi64> : tensor<2x1xi64>
  %rows = plan.constant "rows" dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi64> : tensor<2x3xi64>
  %out = plan.call "aten.index.Tensor"(%self, %samples, %rows, %at)
      {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>, #base.operand<3>]}
      : (tensor<2x3x8xf32>, tensor<2x1xi64>, tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xf32>
  return %out : tensor<2x3xf32>
}

// Other orders of rows choose them.
// CHECK-LABEL: func.func @other_rows
// CHECK: "aten.index.Tensor"
func.func @other_rows(%self: tensor<3x8xf32>, %at: tensor<3xi64>) -> tensor<3xf32> {
  %rows = plan.constant "rows" dense<[0, 2, 1]> : tensor<3xi64> : tensor<3xi64>
  %out = plan.call "aten.index.Tensor"(%self, %rows, %at)
      {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]}
      : (tensor<3x8xf32>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xf32>
  return %out : tensor<3xf32>
}

// CHECK-LABEL: func.func @from_the_end
// CHECK: plan.call "aten.add.Tensor"({{.*}}) {{.*}} -> tensor<2xi64>
// CHECK: "aten.gather.default"
func.func @from_the_end(%self: tensor<2x6x8xf32>) -> tensor<2x8xf32> {
  %count = plan.call "aten.arange.default"() {end = 2 : i64} : () -> tensor<2xi64>
  %last = plan.call "aten.arange.start"() {start = -2 : i64, end = 0 : i64} : () -> tensor<2xi64>
  %out = plan.call "aten.index.Tensor"(%self, %count, %last)
      {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]}
      : (tensor<2x6x8xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x8xf32>
  return %out : tensor<2x8xf32>
}

// One head counted from the end, and two consecutive ones.
// CHECK-LABEL: func.func @runs
// CHECK: %[[KEY:.*]] = plan.call "aten.slice.Tensor"(%arg0) {dim = 2 : i64, end = 9 : i64, self = #base.operand<0>, start = 8 : i64} in "attn" : (tensor<2x6x10x8xf32>) -> tensor<2x6x1x8xf32>
// CHECK: %[[ROWS:.*]] = plan.call "aten.slice.Tensor"(%arg0) {dim = 1 : i64, end = 5 : i64, self = #base.operand<0>, start = 3 : i64}
// CHECK: return %[[KEY]], %[[ROWS]]
func.func @runs(%x: tensor<2x6x10x8xf32>) -> (tensor<2x6x1x8xf32>, tensor<2x2x10x8xf32>) {
  %last = plan.constant "last" dense<-2> : tensor<1xi64> : tensor<1xi64>
  %key = plan.call "aten.index.Tensor"(%x, %last) {self = #base.operand<0>, indices = [unit, unit, #base.operand<1>]}
      in "attn" : (tensor<2x6x10x8xf32>, tensor<1xi64>) -> tensor<2x6x1x8xf32>
  %0 = plan.call "aten.arange.start"() {start = 3 : i64, end = 5 : i64} : () -> tensor<2xi64>
  %rows = plan.call "aten.index.Tensor"(%x, %0) {self = #base.operand<0>, indices = [unit, #base.operand<1>]}
      : (tensor<2x6x10x8xf32>, tensor<2xi64>) -> tensor<2x2x10x8xf32>
  return %key, %rows : tensor<2x6x1x8xf32>, tensor<2x2x10x8xf32>
}

// Other orders, gaps, and two dims of indices are not runs.
// CHECK-LABEL: func.func @no_runs
// CHECK-COUNT-3: plan.call "aten.index.Tensor"
// CHECK-NOT: aten.slice
func.func @no_runs(%x: tensor<6x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x2x8xf32>) {
  %down = plan.constant "down" dense<[3, 2]> : tensor<2xi64> : tensor<2xi64>
  %apart = plan.constant "apart" dense<[1, 3]> : tensor<2xi64> : tensor<2xi64>
  %square = plan.constant "square" dense<[[0, 1], [2, 3]]> : tensor<2x2xi64> : tensor<2x2xi64>
  %0 = plan.call "aten.index.Tensor"(%x, %down) {self = #base.operand<0>, indices = [#base.operand<1>]}
      : (tensor<6x8xf32>, tensor<2xi64>) -> tensor<2x8xf32>
  %1 = plan.call "aten.index.Tensor"(%x, %apart) {self = #base.operand<0>, indices = [#base.operand<1>]}
      : (tensor<6x8xf32>, tensor<2xi64>) -> tensor<2x8xf32>
  %2 = plan.call "aten.index.Tensor"(%x, %square) {self = #base.operand<0>, indices = [#base.operand<1>]}
      : (tensor<6x8xf32>, tensor<2x2xi64>) -> tensor<2x2x8xf32>
  return %0, %1, %2 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x2x8xf32>
}
