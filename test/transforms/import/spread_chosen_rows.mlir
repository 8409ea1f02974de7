// Loops over experts: what is computed for the tokens that have chosen an expert is computed for all of them.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-spread-chosen-rows | FileCheck %s --implicit-check-not=1099511627776

!rows = tensor<1099511627776x8xf32>
!column = tensor<1099511627776x1xf32>
!numbers = tensor<1099511627776xi64>

// CHECK-LABEL: func.func @added
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<6x8xf32>, %[[G:[a-z0-9]+]]: tensor<6x2xf32>, %[[I:[a-z0-9]+]]: tensor<6x2xi64>, %[[W:[a-z0-9]+]]: tensor<8x8xf32>
// CHECK: %[[ZEROS:.*]] = plan.call "aten.zeros.default"
// CHECK: %[[ROWS:.*]] = plan.call "aten.linear.default"(%[[X]], %[[W]]) {{.*}} in "mlp.experts.1" : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
// CHECK: %[[MASK:.*]] = plan.call "aten.eq.Scalar"(%[[I]]) {other = 1 : i64
// CHECK: %[[MASKED:.*]] = plan.call "aten.mul.Tensor"(%[[G]], %[[MASK]])
// CHECK: %[[GATES:.*]] = plan.call "aten.sum.dim_IntList"(%[[MASKED]]) {dim = [-1], keepdim = true
// CHECK: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%[[ROWS]], %[[GATES]])
// CHECK: %[[SUM:.*]] = plan.call "aten.add.Tensor"(%[[ZEROS]], %[[WEIGHTED]])
// CHECK: return %[[SUM]]
func.func @added(%x: tensor<6x8xf32>, %gates: tensor<6x2xf32>, %ids: tensor<6x2xi64>, %w: tensor<8x8xf32>) -> tensor<6x8xf32> {
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} : () -> tensor<6x8xf32>
  %0 = plan.call "aten.one_hot.default"(%ids) {self = #base.operand<0>, num_classes = 3 : i64} : (tensor<6x2xi64>) -> tensor<6x2x3xi64>
  %1 = plan.call "aten.permute.default"(%0) {self = #base.operand<0>, dims = [2, 1, 0]} : (tensor<6x2x3xi64>) -> tensor<3x2x6xi64>
  %2 = plan.call "aten.select.int"(%1) {self = #base.operand<0>, dim = 0 : i64, index = 1 : i64} : (tensor<3x2x6xi64>) -> tensor<2x6xi64>
  %3:2 = plan.call "aten.where.default"(%2) {condition = #base.operand<0>} : (tensor<2x6xi64>) -> (!numbers, !numbers)
  %4 = plan.call "aten.unsqueeze.default"(%x) {self = #base.operand<0>, dim = 0 : i64} : (tensor<6x8xf32>) -> tensor<1x6x8xf32>
  %5 = plan.call "aten.index.Tensor"(%4, %3#1) {self = #base.operand<0>, indices = [unit, #base.operand<1>]} : (tensor<1x6x8xf32>, !numbers) -> tensor<1x1099511627776x8xf32>
  %6 = plan.call "aten.view.default"(%5) {self = #base.operand<0>, size = [-1, 8]} : (tensor<1x1099511627776x8xf32>) -> !rows
  %7 = plan.call "aten.linear.default"(%6, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp.experts.1" : (!rows, tensor<8x8xf32>) -> !rows
  %8 = plan.call "aten.unsqueeze.default"(%gates) {self = #base.operand<0>, dim = 2 : i64} : (tensor<6x2xf32>) -> tensor<6x2x1xf32>
  %9 = plan.call "aten.index.Tensor"(%8, %3#1, %3#0) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]} : (tensor<6x2x1xf32>, !numbers, !numbers) -> !column
  %10 = plan.call "aten.mul.Tensor"(%7, %9) {self = #base.operand<0>, other = #base.operand<1>} : (!rows, !column) -> !rows
  %11 = plan.call "aten.index_add.default"(%zeros, %3#1, %10) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} : (tensor<6x8xf32>, !numbers, !rows) -> tensor<6x8xf32>
  return %11 : tensor<6x8xf32>
}

// -----

!rows = tensor<1099511627776x8xf32>
!column = tensor<1099511627776x1xf32>
!numbers = tensor<1099511627776xi64>

// The old rows are read, added to and written.
// CHECK-LABEL: func.func @written
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<6x8xf32>
// CHECK: %[[ZEROS:.*]] = plan.call "aten.zeros.default"
// CHECK: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%{{.*}}, %[[X]])
// CHECK: %[[SUM:.*]] = plan.call "aten.add.Tensor"(%[[ZEROS]], %[[WEIGHTED]])
// CHECK: return %[[SUM]]
func.func @written(%x: tensor<6x8xf32>, %scores: tensor<6x3xf32>) -> tensor<6x8xf32> {
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} : () -> tensor<6x8xf32>
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} : (tensor<6x3xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %1 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 2 : i64} : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %2 = plan.call "aten.nonzero.default"(%1) {self = #base.operand<0>} : (tensor<6x2xi1>) -> tensor<1099511627776x2xi64>
  %3 = plan.call "aten.select.int"(%2) {self = #base.operand<0>, dim = 1 : i64, index = 0 : i64} : (tensor<1099511627776x2xi64>) -> !numbers
  %4 = plan.call "aten.select.int"(%2) {self = #base.operand<0>, dim = 1 : i64, index = 1 : i64} : (tensor<1099511627776x2xi64>) -> !numbers
  %5 = plan.call "aten.index.Tensor"(%zeros, %3) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<6x8xf32>, !numbers) -> !rows
  %6 = plan.call "aten.index.Tensor"(%0#0, %3, %4) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]} : (tensor<6x2xf32>, !numbers, !numbers) -> tensor<1099511627776xf32>
  %7 = plan.call "aten.unsqueeze.default"(%6) {self = #base.operand<0>, dim = -1 : i64} : (tensor<1099511627776xf32>) -> !column
  %8 = plan.call "aten.index.Tensor"(%x, %3) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<6x8xf32>, !numbers) -> !rows
  %9 = plan.call "aten.mul.Tensor"(%7, %8) {self = #base.operand<0>, other = #base.operand<1>} : (!column, !rows) -> !rows
  %10 = plan.call "aten.add.Tensor"(%5, %9) {self = #base.operand<0>, other = #base.operand<1>} : (!rows, !rows) -> !rows
  %11 = plan.call "aten.index_put.default"(%zeros, %3, %10) {self = #base.operand<0>, indices = [#base.operand<1>], values = #base.operand<2>} : (tensor<6x8xf32>, !numbers, !rows) -> tensor<6x8xf32>
  return %11 : tensor<6x8xf32>
}

// -----

!rows = tensor<1099511627776x8xf32>
!others = tensor<1099511627777x8xf32>

// One expert for each token, by masks: rows of other experts are written elsewhere.
// CHECK-LABEL: func.func @masks
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<6x8xf32>
// CHECK: %[[FIRST:.*]] = plan.call "aten.add.Tensor"(%{{.*}}, %{{.*}})
// CHECK: %[[ROWS:.*]] = plan.call "aten.relu.default"(%[[X]])
// CHECK: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%[[ROWS]], %{{.*}})
// CHECK: %[[SECOND:.*]] = plan.call "aten.add.Tensor"(%[[FIRST]], %[[WEIGHTED]])
// CHECK: return %[[SECOND]]
func.func @masks(%x: tensor<6x8xf32>, %scores: tensor<6x2xf32>) -> tensor<6x8xf32> {
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} : () -> tensor<6x8xf32>
  %0:2 = plan.call "aten.max.dim"(%scores) {self = #base.operand<0>, dim = -1 : i64} : (tensor<6x2xf32>) -> (tensor<6xf32>, tensor<6xi64>)
  %gates = plan.call "aten.unsqueeze.default"(%0#0) {self = #base.operand<0>, dim = -1 : i64} : (tensor<6xf32>) -> tensor<6x1xf32>
  %1 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 0 : i64} : (tensor<6xi64>) -> tensor<6xi1>
  %2 = plan.call "aten.index.Tensor"(%x, %1) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<6x8xf32>, tensor<6xi1>) -> !rows
  %3 = plan.call "aten.index.Tensor"(%gates, %1) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<6x1xf32>, tensor<6xi1>) -> tensor<1099511627776x1xf32>
  %4 = plan.call "aten.mul.Tensor"(%2, %3) {self = #base.operand<0>, other = #base.operand<1>} : (!rows, tensor<1099511627776x1xf32>) -> !rows
  %5 = plan.call "aten.index_put.default"(%zeros, %1, %4) {self = #base.operand<0>, indices = [#base.operand<1>], values = #base.operand<2>} : (tensor<6x8xf32>, tensor<6xi1>, !rows) -> tensor<6x8xf32>
  %6 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 1 : i64} : (tensor<6xi64>) -> tensor<6xi1>
  %7 = plan.call "aten.index.Tensor"(%x, %6) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<6x8xf32>, tensor<6xi1>) -> !others
  %8 = plan.call "aten.relu.default"(%7) {self = #base.operand<0>} : (!others) -> !others
  %9 = plan.call "aten.index.Tensor"(%gates, %6) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<6x1xf32>, tensor<6xi1>) -> tensor<1099511627777x1xf32>
  %10 = plan.call "aten.mul.Tensor"(%8, %9) {self = #base.operand<0>, other = #base.operand<1>} : (!others, tensor<1099511627777x1xf32>) -> !others
  %11 = plan.call "aten.index_put.default"(%5, %6, %10) {self = #base.operand<0>, indices = [#base.operand<1>], values = #base.operand<2>} : (tensor<6x8xf32>, tensor<6xi1>, !others) -> tensor<6x8xf32>
  return %11 : tensor<6x8xf32>
}

// -----

!rows = tensor<1099511627776x8xf32>
!numbers = tensor<1099511627776xi64>

// Dropouts: of rows, and of what is 0 for other tokens, which stays 0.
// CHECK-LABEL: func.func @dropped
// CHECK: %[[ROWS:.*]] = plan.call "aten.linear.default"(%arg0, %arg3)
// CHECK: %[[INSIDE:.*]] = plan.call "aten.dropout.default"(%[[ROWS]]) {{.*}} : (tensor<6x8xf32>) -> tensor<6x8xf32>
// CHECK: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%[[INSIDE]], %{{.*}})
// CHECK: %[[OUTSIDE:.*]] = plan.call "aten.dropout.default"(%[[WEIGHTED]]) {{.*}} : (tensor<6x8xf32>) -> tensor<6x8xf32>
// CHECK: plan.call "aten.add.Tensor"(%{{.*}}, %[[OUTSIDE]])
func.func @dropped(%x: tensor<6x8xf32>, %gates: tensor<6x2xf32>, %ids: tensor<6x2xi64>, %w: tensor<8x8xf32>) -> tensor<6x8xf32> {
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} : () -> tensor<6x8xf32>
  %0 = plan.call "aten.eq.Scalar"(%ids) {self = #base.operand<0>, other = 1 : i64} : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %1:2 = plan.call "aten.where.default"(%0) {condition = #base.operand<0>} : (tensor<6x2xi1>) -> (!numbers, !numbers)
  %2 = plan.call "aten.index.Tensor"(%x, %1#0) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<6x8xf32>, !numbers) -> !rows
  %3 = plan.call "aten.linear.default"(%2, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!rows, tensor<8x8xf32>) -> !rows
  %4 = plan.call "aten.dropout.default"(%3) {input = #base.operand<0>, p = 0.25 : f64, train = true} : (!rows) -> !rows
  %5 = plan.call "aten.index.Tensor"(%gates, %1#0, %1#1) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]} : (tensor<6x2xf32>, !numbers, !numbers) -> tensor<1099511627776xf32>
  %6 = plan.call "aten.unsqueeze.default"(%5) {self = #base.operand<0>, dim = -1 : i64} : (tensor<1099511627776xf32>) -> tensor<1099511627776x1xf32>
  %7 = plan.call "aten.mul.Tensor"(%4, %6) {self = #base.operand<0>, other = #base.operand<1>} : (!rows, tensor<1099511627776x1xf32>) -> !rows
  %8 = plan.call "aten.dropout.default"(%7) {input = #base.operand<0>, p = 0.5 : f64, train = true} : (!rows) -> !rows
  %9 = plan.call "aten.index_add.default"(%zeros, %1#0, %8) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} : (tensor<6x8xf32>, !numbers, !rows) -> tensor<6x8xf32>
  return %9 : tensor<6x8xf32>
}

// -----

!rows = tensor<1099511627776x8xf32>
!numbers = tensor<1099511627776xi64>

// Samples and positions are two dims of the tokens. The operators of the loop get tokens that are merged.
// CHECK-LABEL: func.func @positions
// CHECK-DAG: %[[TOKENS:.*]] = plan.call "aten.reshape.default"(%arg0) {{.*}} -> tensor<8x8xf32>
// CHECK-DAG: %[[CHOICE:.*]]:2 = plan.call "aten.topk.default"
// CHECK-DAG: %[[IDS:.*]] = plan.call "aten.reshape.default"(%[[CHOICE]]#1) {{.*}} -> tensor<8x2xi64>
// CHECK-DAG: %[[VALUES:.*]] = plan.call "aten.reshape.default"(%[[CHOICE]]#0) {{.*}} -> tensor<8x2xf32>
// CHECK-DAG: %[[ZEROS:.*]] = plan.call "aten.zeros.default"
// CHECK: %[[ROWS:.*]] = plan.call "aten.linear.default"(%[[TOKENS]], %arg2)
// CHECK: %[[MASK:.*]] = plan.call "aten.eq.Scalar"(%[[IDS]]) {other = 0 : i64
// CHECK: %[[MASKED:.*]] = plan.call "aten.mul.Tensor"(%[[VALUES]], %[[MASK]])
// CHECK: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%[[ROWS]], %{{.*}}) {{.*}} -> tensor<8x8xf32>
// CHECK: %[[WIDE:.*]] = plan.call "aten.reshape.default"(%[[WEIGHTED]]) {{.*}} -> tensor<2x4x8xf32>
// CHECK: plan.call "aten.add.Tensor"(%[[ZEROS]], %[[WIDE]])
func.func @positions(%x: tensor<2x4x8xf32>, %scores: tensor<2x4x2xf32>, %w: tensor<8x8xf32>) -> tensor<2x4x8xf32> {
  %t:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} : (tensor<2x4x2xf32>) -> (tensor<2x4x2xf32>, tensor<2x4x2xi64>)
  %z = plan.call "aten.zeros.default"() {size = [2, 4, 8], dtype = f32} : () -> tensor<2x4x8xf32>
  %0 = plan.call "aten.eq.Scalar"(%t#1) {self = #base.operand<0>, other = 0 : i64} : (tensor<2x4x2xi64>) -> tensor<2x4x2xi1>
  %1:3 = plan.call "aten.where.default"(%0) {condition = #base.operand<0>} : (tensor<2x4x2xi1>) -> (!numbers, !numbers, !numbers)
  %2 = plan.call "aten.index.Tensor"(%x, %1#0, %1#1) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]} : (tensor<2x4x8xf32>, !numbers, !numbers) -> !rows
  %3 = plan.call "aten.linear.default"(%2, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!rows, tensor<8x8xf32>) -> !rows
  %5 = plan.call "aten.index.Tensor"(%t#0, %1#0, %1#1, %1#2) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>, #base.operand<3>]} : (tensor<2x4x2xf32>, !numbers, !numbers, !numbers) -> tensor<1099511627776xf32>
  %6 = plan.call "aten.unsqueeze.default"(%5) {self = #base.operand<0>, dim = -1 : i64} : (tensor<1099511627776xf32>) -> tensor<1099511627776x1xf32>
  %7 = plan.call "aten.mul.Tensor"(%3, %6) {self = #base.operand<0>, other = #base.operand<1>} : (!rows, tensor<1099511627776x1xf32>) -> !rows
  %9 = plan.call "aten.index_put.default"(%z, %1#0, %1#1, %7) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>], values = #base.operand<3>, accumulate = true} : (tensor<2x4x8xf32>, !numbers, !numbers, !rows) -> tensor<2x4x8xf32>
  return %9 : tensor<2x4x8xf32>
}

// -----

!rows = tensor<1099511627776x8xf32>
!numbers = tensor<1099511627776xi64>

// One expert for each token: the mask has no dim of slots. Rows are added to those that were there, and written.
// CHECK-LABEL: func.func @one_expert
// CHECK-DAG: %[[BEST:.*]]:2 = plan.call "aten.max.dim"
// CHECK-DAG: %[[COLUMN:.*]] = plan.call "aten.reshape.default"(%[[BEST]]#1) {{.*}} -> tensor<2x4x1xi64>
// CHECK-DAG: plan.call "aten.reshape.default"(%[[COLUMN]]) {{.*}} -> tensor<8x1xi64>
// CHECK-DAG: %[[OLD:.*]] = plan.call "aten.reshape.default"(%arg3) {{.*}} -> tensor<8x8xf32>
// CHECK: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%{{.*}}, %{{.*}}) {{.*}} -> tensor<8x8xf32>
// CHECK: %[[SUM:.*]] = plan.call "aten.add.Tensor"(%[[OLD]], %[[WEIGHTED]])
// CHECK: %[[WIDE:.*]] = plan.call "aten.reshape.default"(%[[SUM]]) {{.*}} -> tensor<2x4x8xf32>
// CHECK: return %[[WIDE]]
func.func @one_expert(%x: tensor<2x4x8xf32>, %scores: tensor<2x4x3xf32>, %w: tensor<8x8xf32>, %y: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %t:2 = plan.call "aten.max.dim"(%scores) {self = #base.operand<0>, dim = -1 : i64} : (tensor<2x4x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xi64>)
  %0 = plan.call "aten.eq.Scalar"(%t#1) {self = #base.operand<0>, other = 1 : i64} : (tensor<2x4xi64>) -> tensor<2x4xi1>
  %1:2 = plan.call "aten.where.default"(%0) {condition = #base.operand<0>} : (tensor<2x4xi1>) -> (!numbers, !numbers)
  %2 = plan.call "aten.index.Tensor"(%x, %1#0, %1#1) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]} : (tensor<2x4x8xf32>, !numbers, !numbers) -> !rows
  %3 = plan.call "aten.linear.default"(%2, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!rows, tensor<8x8xf32>) -> !rows
  %4 = plan.call "aten.index.Tensor"(%t#0, %1#0, %1#1) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]} : (tensor<2x4xf32>, !numbers, !numbers) -> tensor<1099511627776xf32>
  %5 = plan.call "aten.unsqueeze.default"(%4) {self = #base.operand<0>, dim = -1 : i64} : (tensor<1099511627776xf32>) -> tensor<1099511627776x1xf32>
  %6 = plan.call "aten.mul.Tensor"(%3, %5) {self = #base.operand<0>, other = #base.operand<1>} : (!rows, tensor<1099511627776x1xf32>) -> !rows
  %7 = plan.call "aten.index.Tensor"(%y, %1#0, %1#1) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]} : (tensor<2x4x8xf32>, !numbers, !numbers) -> !rows
  %8 = plan.call "aten.add.Tensor"(%7, %6) {self = #base.operand<0>, other = #base.operand<1>} : (!rows, !rows) -> !rows
  %9 = plan.call "aten.index_put.default"(%y, %1#0, %1#1, %8) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>], values = #base.operand<3>} : (tensor<2x4x8xf32>, !numbers, !numbers, !rows) -> tensor<2x4x8xf32>
  return %9 : tensor<2x4x8xf32>
}

// -----

!rows = tensor<1099511627776x8xf32>

// The same by a mask of two dims.
// CHECK-LABEL: func.func @mask_of_positions
// CHECK: plan.call "aten.linear.default"(%{{.*}}, %arg2) {{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK: %[[WIDE:.*]] = plan.call "aten.reshape.default"(%{{.*}}) {{.*}} -> tensor<2x4x8xf32>
// CHECK: plan.call "aten.add.Tensor"(%{{.*}}, %[[WIDE]])
func.func @mask_of_positions(%x: tensor<2x4x8xf32>, %scores: tensor<2x4x3xf32>, %w: tensor<8x8xf32>) -> tensor<2x4x8xf32> {
  %t:2 = plan.call "aten.max.dim"(%scores) {self = #base.operand<0>, dim = -1 : i64} : (tensor<2x4x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xi64>)
  %zeros = plan.call "aten.zeros.default"() {size = [2, 4, 8], dtype = f32} : () -> tensor<2x4x8xf32>
  %0 = plan.call "aten.eq.Scalar"(%t#1) {self = #base.operand<0>, other = 1 : i64} : (tensor<2x4xi64>) -> tensor<2x4xi1>
  %1 = plan.call "aten.index.Tensor"(%x, %0) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<2x4x8xf32>, tensor<2x4xi1>) -> !rows
  %2 = plan.call "aten.linear.default"(%1, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!rows, tensor<8x8xf32>) -> !rows
  %3 = plan.call "aten.index.Tensor"(%t#0, %0) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<2x4xf32>, tensor<2x4xi1>) -> tensor<1099511627776xf32>
  %4 = plan.call "aten.unsqueeze.default"(%3) {self = #base.operand<0>, dim = -1 : i64} : (tensor<1099511627776xf32>) -> tensor<1099511627776x1xf32>
  %5 = plan.call "aten.mul.Tensor"(%2, %4) {self = #base.operand<0>, other = #base.operand<1>} : (!rows, tensor<1099511627776x1xf32>) -> !rows
  %6 = plan.call "aten.index_put.default"(%zeros, %0, %5) {self = #base.operand<0>, indices = [#base.operand<1>], values = #base.operand<2>} : (tensor<2x4x8xf32>, tensor<2x4xi1>, !rows) -> tensor<2x4x8xf32>
  return %6 : tensor<2x4x8xf32>
}

// -----

!rows = tensor<1099511627776x8xf32>
!numbers = tensor<1099511627776xi64>
!list = tensor<1099511627776x2xi64>

// Columns of the list of positions, by an unbind of it or of its transpose.
// CHECK-LABEL: func.func @columns
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<6x8xf32>, %[[G:[a-z0-9]+]]: tensor<6x2xf32>, %[[I:[a-z0-9]+]]: tensor<6x2xi64>
// CHECK: %[[FIRST:.*]] = plan.call "aten.unsqueeze.default"
// CHECK: plan.call "aten.mul.Tensor"(%[[X]], %[[FIRST]])
// CHECK: plan.call "aten.eq.Scalar"(%[[I]]) {other = 2 : i64
// CHECK: %[[SECOND:.*]] = plan.call "aten.unsqueeze.default"
// CHECK: plan.call "aten.mul.Tensor"(%[[X]], %[[SECOND]])
func.func @columns(%x: tensor<6x8xf32>, %gates: tensor<6x2xf32>, %ids: tensor<6x2xi64>) -> tensor<6x8xf32> {
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} : () -> tensor<6x8xf32>
  %0 = plan.call "aten.eq.Scalar"(%ids) {self = #base.operand<0>, other = 1 : i64} : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %1 = plan.call "aten.nonzero.default"(%0) {self = #base.operand<0>} : (tensor<6x2xi1>) -> !list
  %2:2 = plan.call "aten.unbind.int"(%1) {self = #base.operand<0>, dim = 1 : i64} : (!list) -> (!numbers, !numbers)
  %3 = plan.call "aten.index.Tensor"(%x, %2#0) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<6x8xf32>, !numbers) -> !rows
  %4 = plan.call "aten.index.Tensor"(%gates, %2#0, %2#1) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]} : (tensor<6x2xf32>, !numbers, !numbers) -> tensor<1099511627776xf32>
  %5 = plan.call "aten.unsqueeze.default"(%4) {self = #base.operand<0>, dim = -1 : i64} : (tensor<1099511627776xf32>) -> tensor<1099511627776x1xf32>
  %6 = plan.call "aten.mul.Tensor"(%3, %5) {self = #base.operand<0>, other = #base.operand<1>} : (!rows, tensor<1099511627776x1xf32>) -> !rows
  %7 = plan.call "aten.index_add.default"(%zeros, %2#0, %6) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} : (tensor<6x8xf32>, !numbers, !rows) -> tensor<6x8xf32>
  %8 = plan.call "aten.eq.Scalar"(%ids) {self = #base.operand<0>, other = 2 : i64} : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %9 = plan.call "aten.nonzero.default"(%8) {self = #base.operand<0>} : (tensor<6x2xi1>) -> tensor<1099511627777x2xi64>
  %10 = plan.call "aten.t.default"(%9) {self = #base.operand<0>} : (tensor<1099511627777x2xi64>) -> tensor<2x1099511627777xi64>
  %11:2 = plan.call "aten.unbind.int"(%10) {self = #base.operand<0>} : (tensor<2x1099511627777xi64>) -> (tensor<1099511627777xi64>, tensor<1099511627777xi64>)
  %12 = plan.call "aten.index.Tensor"(%x, %11#0) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<6x8xf32>, tensor<1099511627777xi64>) -> tensor<1099511627777x8xf32>
  %13 = plan.call "aten.index.Tensor"(%gates, %11#0, %11#1) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]} : (tensor<6x2xf32>, tensor<1099511627777xi64>, tensor<1099511627777xi64>) -> tensor<1099511627777xf32>
  %14 = plan.call "aten.unsqueeze.default"(%13) {self = #base.operand<0>, dim = -1 : i64} : (tensor<1099511627777xf32>) -> tensor<1099511627777x1xf32>
  %15 = plan.call "aten.mul.Tensor"(%12, %14) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<1099511627777x8xf32>, tensor<1099511627777x1xf32>) -> tensor<1099511627777x8xf32>
  %16 = plan.call "aten.index_add.default"(%7, %11#0, %15) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} : (tensor<6x8xf32>, tensor<1099511627777xi64>, tensor<1099511627777x8xf32>) -> tensor<6x8xf32>
  return %16 : tensor<6x8xf32>
}

// -----

!rows = tensor<1099511627776x8xf32>
!numbers = tensor<1099511627776xi64>

// A list of tokens without slots, of a mask that counts the slots in which the expert is.
// CHECK-LABEL: func.func @counted
// CHECK: %[[GATES:.*]] = plan.call "aten.sum.dim_IntList"
// CHECK: plan.call "aten.mul.Tensor"(%arg0, %[[GATES]])
func.func @counted(%x: tensor<6x8xf32>, %scores: tensor<6x3xf32>) -> tensor<6x8xf32> {
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} : () -> tensor<6x8xf32>
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} : (tensor<6x3xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %1 = plan.call "aten.eq.Scalar"(%0#1) {self = #base.operand<0>, other = 2 : i64} : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %2 = plan.call "aten.sum.dim_IntList"(%1) {self = #base.operand<0>, dim = [-1]} : (tensor<6x2xi1>) -> tensor<6xi64>
  %3 = plan.call "aten.gt.Scalar"(%2) {self = #base.operand<0>, other = 0 : i64} : (tensor<6xi64>) -> tensor<6xi1>
  %4 = plan.call "aten.nonzero.default"(%3) {self = #base.operand<0>} : (tensor<6xi1>) -> tensor<1099511627776x1xi64>
  %5 = plan.call "aten.squeeze.dim"(%4) {self = #base.operand<0>, dim = -1 : i64} : (tensor<1099511627776x1xi64>) -> !numbers
  %6 = plan.call "aten.mul.Tensor"(%0#0, %1) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6x2xf32>, tensor<6x2xi1>) -> tensor<6x2xf32>
  %7 = plan.call "aten.sum.dim_IntList"(%6) {self = #base.operand<0>, dim = [-1], keepdim = true} : (tensor<6x2xf32>) -> tensor<6x1xf32>
  %8 = plan.call "aten.index.Tensor"(%x, %5) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<6x8xf32>, !numbers) -> !rows
  %9 = plan.call "aten.index.Tensor"(%7, %5) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<6x1xf32>, !numbers) -> tensor<1099511627776x1xf32>
  %10 = plan.call "aten.mul.Tensor"(%8, %9) {self = #base.operand<0>, other = #base.operand<1>} : (!rows, tensor<1099511627776x1xf32>) -> !rows
  %11 = plan.call "aten.index_add.default"(%zeros, %5, %10) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} : (tensor<6x8xf32>, !numbers, !rows) -> tensor<6x8xf32>
  return %11 : tensor<6x8xf32>
}

// -----

!rows = tensor<1099511627776x8xf32>
!numbers = tensor<1099511627776xi64>

// The tokens whose gate is positive are those that have chosen the expert: a softmax makes the gates.
// CHECK-LABEL: func.func @positive
// CHECK: %[[GATES:.*]] = plan.call "aten.scatter.src"
// CHECK: %[[GATE:.*]] = plan.call "aten.select.int"(%[[GATES]])
// CHECK: %[[COLUMN:.*]] = plan.call "aten.unsqueeze.default"(%[[GATE]])
// CHECK: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%arg0, %[[COLUMN]])
// CHECK: plan.call "aten.add.Tensor"(%{{.*}}, %[[WEIGHTED]])
func.func @positive(%x: tensor<6x8xf32>, %scores: tensor<6x3xf32>) -> tensor<6x8xf32> {
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} : () -> tensor<6x8xf32>
  %none = plan.call "aten.zeros.default"() {size = [6, 3], dtype = f32} : () -> tensor<6x3xf32>
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} : (tensor<6x3xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %1 = plan.call "aten.softmax.int"(%0#0) {self = #base.operand<0>, dim = -1 : i64} : (tensor<6x2xf32>) -> tensor<6x2xf32>
  %2 = plan.call "aten.scatter.src"(%none, %0#1, %1) {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, src = #base.operand<2>} : (tensor<6x3xf32>, tensor<6x2xi64>, tensor<6x2xf32>) -> tensor<6x3xf32>
  %3 = plan.call "aten.select.int"(%2) {self = #base.operand<0>, dim = 1 : i64, index = 1 : i64} : (tensor<6x3xf32>) -> tensor<6xf32>
  %4 = plan.call "aten.gt.Scalar"(%3) {self = #base.operand<0>, other = 0 : i64} : (tensor<6xf32>) -> tensor<6xi1>
  %5 = plan.call "aten.where.default"(%4) {condition = #base.operand<0>} : (tensor<6xi1>) -> !numbers
  %6 = plan.call "aten.index.Tensor"(%x, %5) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<6x8xf32>, !numbers) -> !rows
  %7 = plan.call "aten.index.Tensor"(%3, %5) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<6xf32>, !numbers) -> tensor<1099511627776xf32>
  %8 = plan.call "aten.unsqueeze.default"(%7) {self = #base.operand<0>, dim = -1 : i64} : (tensor<1099511627776xf32>) -> tensor<1099511627776x1xf32>
  %9 = plan.call "aten.mul.Tensor"(%6, %8) {self = #base.operand<0>, other = #base.operand<1>} : (!rows, tensor<1099511627776x1xf32>) -> !rows
  %10 = plan.call "aten.index_add.default"(%zeros, %5, %9) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} : (tensor<6x8xf32>, !numbers, !rows) -> tensor<6x8xf32>
  return %10 : tensor<6x8xf32>
}

// -----

!rows = tensor<1099511627776x8xf32>
!numbers = tensor<1099511627776xi64>

// One slot of tokens with two dims, taken from the mask of all slots.
// CHECK-LABEL: func.func @one_slot
// CHECK-DAG: %[[CHOICE:.*]]:2 = plan.call "aten.topk.default"
// CHECK-DAG: %[[IDS:.*]] = plan.call "aten.select.int"(%[[CHOICE]]#1) {dim = -1 : i64, index = 1 : i64
// CHECK-DAG: %[[WIDE:.*]] = plan.call "aten.reshape.default"(%[[IDS]]) {{.*}} -> tensor<2x4x1xi64>
// CHECK-DAG: %[[PAIRS:.*]] = plan.call "aten.reshape.default"(%[[WIDE]]) {{.*}} -> tensor<8x1xi64>
// CHECK: plan.call "aten.eq.Scalar"(%[[PAIRS]]) {other = 2 : i64
// CHECK: plan.call "aten.add.Tensor"({{.*}} -> tensor<2x4x8xf32>
func.func @one_slot(%x: tensor<2x4x8xf32>, %scores: tensor<2x4x3xf32>) -> tensor<2x4x8xf32> {
  %t:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} : (tensor<2x4x3xf32>) -> (tensor<2x4x2xf32>, tensor<2x4x2xi64>)
  %z = plan.call "aten.zeros.default"() {size = [2, 4, 8], dtype = f32} : () -> tensor<2x4x8xf32>
  %0 = plan.call "aten.eq.Scalar"(%t#1) {self = #base.operand<0>, other = 2 : i64} : (tensor<2x4x2xi64>) -> tensor<2x4x2xi1>
  %1 = plan.call "aten.select.int"(%0) {self = #base.operand<0>, dim = 2 : i64, index = 1 : i64} : (tensor<2x4x2xi1>) -> tensor<2x4xi1>
  %2:2 = plan.call "aten.where.default"(%1) {condition = #base.operand<0>} : (tensor<2x4xi1>) -> (!numbers, !numbers)
  %3 = plan.call "aten.index.Tensor"(%x, %2#0, %2#1) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]} : (tensor<2x4x8xf32>, !numbers, !numbers) -> !rows
  %4 = plan.call "aten.select.int"(%t#0) {self = #base.operand<0>, dim = 2 : i64, index = 1 : i64} : (tensor<2x4x2xf32>) -> tensor<2x4xf32>
  %5 = plan.call "aten.index.Tensor"(%4, %2#0, %2#1) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]} : (tensor<2x4xf32>, !numbers, !numbers) -> tensor<1099511627776xf32>
  %6 = plan.call "aten.unsqueeze.default"(%5) {self = #base.operand<0>, dim = -1 : i64} : (tensor<1099511627776xf32>) -> tensor<1099511627776x1xf32>
  %7 = plan.call "aten.mul.Tensor"(%3, %6) {self = #base.operand<0>, other = #base.operand<1>} : (!rows, tensor<1099511627776x1xf32>) -> !rows
  %8 = plan.call "aten.index_put.default"(%z, %2#0, %2#1, %7) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>], values = #base.operand<3>, accumulate = true} : (tensor<2x4x8xf32>, !numbers, !numbers, !rows) -> tensor<2x4x8xf32>
  return %8 : tensor<2x4x8xf32>
}

// -----

!rows = tensor<1099511627776x8xf32>
!column = tensor<1099511627776x1xf32>
!numbers = tensor<1099511627776xi64>
!places = tensor<1099511627776x1xi64>
!wide = tensor<1099511627776x8xi64>

// Numbers of tokens for each element, as `gather` and `scatter_add` read them.
// CHECK-LABEL: func.func @by_elements
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<6x8xf32>
// CHECK: %[[ROWS:.*]] = plan.call "aten.linear.default"(%[[X]], %{{.*}}) {{.*}} (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
// CHECK: %[[WEIGHTED:.*]] = plan.call "aten.mul.Tensor"(%[[ROWS]], %{{.*}})
// CHECK: %[[SUM:.*]] = plan.call "aten.add.Tensor"(%{{.*}}, %[[WEIGHTED]])
// CHECK: return %[[SUM]]
func.func @by_elements(%x: tensor<6x8xf32>, %gates: tensor<6x2xf32>, %ids: tensor<6x2xi64>, %w: tensor<8x8xf32>) -> tensor<6x8xf32> {
  %zeros = plan.call "aten.zeros.default"() {size = [6, 8], dtype = f32} : () -> tensor<6x8xf32>
  %mask = plan.call "aten.eq.Scalar"(%ids) {self = #base.operand<0>, other = 1 : i64} : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %at:2 = plan.call "aten.where.default"(%mask) {condition = #base.operand<0>} : (tensor<6x2xi1>) -> (!numbers, !numbers)
  %column = plan.call "aten.unsqueeze.default"(%at#0) {self = #base.operand<0>, dim = 1 : i64} : (!numbers) -> !places
  %wide = plan.call "aten.expand.default"(%column) {self = #base.operand<0>, size = [-1, 8]} : (!places) -> !wide
  %rows = plan.call "aten.gather.default"(%x, %wide) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>} : (tensor<6x8xf32>, !wide) -> !rows
  %made = plan.call "aten.linear.default"(%rows, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!rows, tensor<8x8xf32>) -> !rows
  %gate = plan.call "aten.index.Tensor"(%gates, %at#0, %at#1) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]} : (tensor<6x2xf32>, !numbers, !numbers) -> tensor<1099511627776xf32>
  %gate1 = plan.call "aten.unsqueeze.default"(%gate) {self = #base.operand<0>, dim = 1 : i64} : (tensor<1099511627776xf32>) -> !column
  %weighted = plan.call "aten.mul.Tensor"(%made, %gate1) {self = #base.operand<0>, other = #base.operand<1>} : (!rows, !column) -> !rows
  %out = plan.call "aten.scatter_add.default"(%zeros, %wide, %weighted) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, src = #base.operand<2>} : (tensor<6x8xf32>, !wide, !rows) -> tensor<6x8xf32>
  return %out : tensor<6x8xf32>
}
