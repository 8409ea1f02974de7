// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-decompose-loss | FileCheck %s

// Cross entropy as sums that can be sharded over the vocabulary.

// The mean over the targets that are not ignored.
// CHECK-LABEL: func.func @mean
// CHECK-NEXT: %[[MAX:.*]] = plan.call "meshplan.row_max"(%arg0) {input = #base.operand<0>} in "loss" : (tensor<6x10xf32>) -> tensor<6xf32>
// CHECK-NEXT: %[[SUM:.*]] = plan.call "meshplan.row_sum_exp"(%arg0, %[[MAX]]) {input = #base.operand<0>, max = #base.operand<1>} in "loss"
// CHECK-NEXT: %[[PICKED:.*]] = plan.call "meshplan.row_pick"(%arg0, %arg1) {input = #base.operand<0>, target = #base.operand<1>} in "loss"
// CHECK-NEXT: %[[LOSSES:.*]] = plan.call "meshplan.token_loss"(%[[MAX]], %[[SUM]], %[[PICKED]], %arg1)
// CHECK-SAME: {classes = {{[0-9]+}} : i64, ignore_index = -100 : i64, max = #base.operand<0>, picked = #base.operand<2>, sum_exp = #base.operand<1>, target = #base.operand<3>}
// CHECK-NEXT: %[[TOTAL:.*]] = plan.call "aten.sum.default"(%[[LOSSES]]) {self = #base.operand<0>} in "loss" : (tensor<6xf32>) -> tensor<f32>
// CHECK-NEXT: %[[COUNT:.*]] = plan.call "meshplan.count_tokens"(%arg1) {dtype = f32, ignore_index = -100 : i64, target = #base.operand<0>} in "loss"
// CHECK-NEXT: %[[MEAN:.*]] = plan.call "aten.div.Tensor"(%[[TOTAL]], %[[COUNT]]) {other = #base.operand<1>, self = #base.operand<0>} in "loss"
// CHECK-NEXT: return %[[MEAN]]
func.func @mean(%x: tensor<6x10xf32>, %t: tensor<6xi64>) -> tensor<f32> {
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %t)
      {self = #base.operand<0>, target = #base.operand<1>} in "loss"
      : (tensor<6x10xf32>, tensor<6xi64>) -> tensor<f32>
  return %loss : tensor<f32>
}

// Their sum, with another ignore_index.
// CHECK-LABEL: func.func @sum
// CHECK: %[[LOSSES:.*]] = plan.call "meshplan.token_loss"({{.*}}ignore_index = 0 : i64
// CHECK-NEXT: %[[TOTAL:.*]] = plan.call "aten.sum.default"(%[[LOSSES]])
// CHECK-NEXT: return %[[TOTAL]]
func.func @sum(%x: tensor<6x10xf32>, %t: tensor<6xi64>) -> tensor<f32> {
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %t)
      {self = #base.operand<0>, target = #base.operand<1>, reduction = 2 : i64, ignore_index = 0 : i64}
      : (tensor<6x10xf32>, tensor<6xi64>) -> tensor<f32>
  return %loss : tensor<f32>
}

// One loss per target.
// CHECK-LABEL: func.func @none
// CHECK: %[[LOSSES:.*]] = plan.call "meshplan.token_loss"
// CHECK-NEXT: return %[[LOSSES]]
func.func @none(%x: tensor<6x10xf32>, %t: tensor<6xi64>) -> tensor<6xf32> {
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %t)
      {self = #base.operand<0>, target = #base.operand<1>, reduction = 0 : i64}
      : (tensor<6x10xf32>, tensor<6xi64>) -> tensor<6xf32>
  return %loss : tensor<6xf32>
}

// f16 and bf16 cannot represent the token count: total and count are f32, and so are sums over a row.
// CHECK-LABEL: func.func @narrow
// CHECK: plan.call "meshplan.row_sum_exp"{{.*}}-> tensor<6xf32>
// CHECK: %[[LOSSES:.*]] = plan.call "meshplan.token_loss"{{.*}}-> tensor<6xbf16>
// CHECK-NEXT: %[[TOTAL:.*]] = plan.call "aten.sum.default"(%[[LOSSES]]) {dtype = f32, {{.*}}-> tensor<f32>
// CHECK-NEXT: %[[COUNT:.*]] = plan.call "meshplan.count_tokens"(%arg1) {dtype = f32, {{.*}}-> tensor<f32>
// CHECK-NEXT: %[[MEAN:.*]] = plan.call "aten.div.Tensor"(%[[TOTAL]], %[[COUNT]])
// CHECK-NEXT: %[[LOSS:.*]] = plan.call "aten.to.dtype"(%[[MEAN]]) {dtype = bf16, {{.*}}-> tensor<bf16>
// CHECK-NEXT: return %[[LOSS]]
func.func @narrow(%x: tensor<6x10xbf16>, %t: tensor<6xi64>) -> tensor<bf16> {
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %t) {self = #base.operand<0>, target = #base.operand<1>}
      : (tensor<6x10xbf16>, tensor<6xi64>) -> tensor<bf16>
  return %loss : tensor<bf16>
}

// Classes in a middle dim move to the end, and there is a loss per target.
// CHECK-LABEL: func.func @positions
// CHECK-NEXT: %[[LAST:.*]] = plan.call "aten.permute.default"(%arg0) {dims = [0, 2, 3, 1], {{.*}} : (tensor<2x10x3x4xf32>) -> tensor<2x3x4x10xf32>
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "aten.reshape.default"(%[[LAST]]) {{.*}} -> tensor<24x10xf32>
// CHECK-NEXT: %[[TARGETS:.*]] = plan.call "aten.reshape.default"(%arg1) {{.*}} -> tensor<24xi64>
// CHECK-NEXT: plan.call "meshplan.row_max"(%[[ROWS]])
// CHECK: "meshplan.row_pick"(%[[ROWS]], %[[TARGETS]])
// CHECK-NEXT: %[[LOSSES:.*]] = plan.call "meshplan.token_loss"
// CHECK-NEXT: %[[ALL:.*]] = plan.call "aten.reshape.default"(%[[LOSSES]]) {{.*}} -> tensor<2x3x4xf32>
// CHECK-NEXT: return %[[ALL]]
func.func @positions(%x: tensor<2x10x3x4xf32>, %t: tensor<2x3x4xi64>) -> tensor<2x3x4xf32> {
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %t)
      {self = #base.operand<0>, target = #base.operand<1>, reduction = 0 : i64}
      : (tensor<2x10x3x4xf32>, tensor<2x3x4xi64>) -> tensor<2x3x4xf32>
  return %loss : tensor<2x3x4xf32>
}

// Their mean needs no reshape.
// CHECK-LABEL: func.func @mean_of_positions
// CHECK: plan.call "meshplan.row_max"{{.*}} : (tensor<6x10xf32>)
// CHECK: %[[MEAN:.*]] = plan.call "aten.div.Tensor"
// CHECK-NEXT: return %[[MEAN]]
func.func @mean_of_positions(%x: tensor<2x10x3xf32>, %t: tensor<2x3xi64>) -> tensor<f32> {
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %t) {self = #base.operand<0>, target = #base.operand<1>}
      : (tensor<2x10x3xf32>, tensor<2x3xi64>) -> tensor<f32>
  return %loss : tensor<f32>
}

// Log-probabilities are picked unchanged.
// CHECK-LABEL: func.func @log_probabilities
// CHECK-NEXT: %[[PICKED:.*]] = plan.call "meshplan.row_pick"(%arg0, %arg1) {input = #base.operand<0>, target = #base.operand<1>}
// CHECK-NEXT: %[[LOSSES:.*]] = plan.call "meshplan.token_loss"(%[[PICKED]], %arg1) {classes = 10 : i64, ignore_index = 3 : i64, picked = #base.operand<0>, target = #base.operand<1>}
// CHECK-NEXT: %[[TOTAL:.*]] = plan.call "aten.sum.default"(%[[LOSSES]])
// CHECK-NEXT: %[[COUNT:.*]] = plan.call "meshplan.count_tokens"(%arg1) {dtype = f32, ignore_index = 3 : i64
// CHECK-NEXT: %[[MEAN:.*]] = plan.call "aten.div.Tensor"(%[[TOTAL]], %[[COUNT]])
// CHECK-NEXT: return %[[MEAN]]
func.func @log_probabilities(%x: tensor<6x10xf32>, %t: tensor<6xi64>) -> tensor<f32> {
  %loss = plan.call "aten.nll_loss_nd.default"(%x, %t)
      {self = #base.operand<0>, target = #base.operand<1>, ignore_index = 3 : i64}
      : (tensor<6x10xf32>, tensor<6xi64>) -> tensor<f32>
  return %loss : tensor<f32>
}

// Also with several positions per sample, without reduction.
// CHECK-LABEL: func.func @log_probabilities_of_positions
// CHECK-NEXT: %[[LAST:.*]] = plan.call "aten.permute.default"(%arg0)
// CHECK: %[[LOSSES:.*]] = plan.call "meshplan.token_loss"
// CHECK-NEXT: %[[ALL:.*]] = plan.call "aten.reshape.default"(%[[LOSSES]]) {{.*}} -> tensor<2x3x4xf32>
// CHECK-NEXT: return %[[ALL]]
func.func @log_probabilities_of_positions(%x: tensor<2x10x3x4xf32>, %t: tensor<2x3x4xi64>) -> tensor<2x3x4xf32> {
  %loss = plan.call "aten.nll_loss2d.default"(%x, %t)
      {self = #base.operand<0>, target = #base.operand<1>, reduction = 0 : i64}
      : (tensor<2x10x3x4xf32>, tensor<2x3x4xi64>) -> tensor<2x3x4xf32>
  return %loss : tensor<2x3x4xf32>
}

// The form that also returns the total weight of the targets, if nothing reads that.
// CHECK-LABEL: func.func @total_weight_unread
// CHECK: %[[MEAN:.*]] = plan.call "aten.div.Tensor"
// CHECK-NEXT: return %[[MEAN]]
func.func @total_weight_unread(%x: tensor<6x10xf32>, %t: tensor<6xi64>) -> tensor<f32> {
  %loss:2 = plan.call "aten.nll_loss_forward.default"(%x, %t)
      {self = #base.operand<0>, target = #base.operand<1>, reduction = 1 : i64, ignore_index = -100 : i64}
      : (tensor<6x10xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<f32>)
  return %loss#0 : tensor<f32>
}

// CHECK-LABEL: func.func @total_weight_read
// CHECK-NEXT: "aten.nll_loss_forward.default"
func.func @total_weight_read(%x: tensor<6x10xf32>, %t: tensor<6xi64>) -> tensor<f32> {
  %loss:2 = plan.call "aten.nll_loss_forward.default"(%x, %t)
      {self = #base.operand<0>, target = #base.operand<1>, reduction = 1 : i64, ignore_index = -100 : i64}
      : (tensor<6x10xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<f32>)
  return %loss#1 : tensor<f32>
}

// Class weights: each target has one, and the mean divides by their sum.
// CHECK-LABEL: func.func @weighted
// CHECK-NEXT: %[[WEIGHTS:.*]] = plan.call "meshplan.class_weight"(%arg2, %arg1) {ignore_index = -100 : i64, target = #base.operand<1>, weight = #base.operand<0>} in "loss" : (tensor<10xf32>, tensor<6xi64>) -> tensor<6xf32>
// CHECK-NEXT: %[[MAX:.*]] = plan.call "meshplan.row_max"(%arg0)
// CHECK-NEXT: %[[SUM:.*]] = plan.call "meshplan.row_sum_exp"(%arg0, %[[MAX]])
// CHECK-NEXT: %[[PICKED:.*]] = plan.call "meshplan.row_pick"(%arg0, %arg1)
// CHECK-NEXT: %[[LOSSES:.*]] = plan.call "meshplan.token_loss"(%[[MAX]], %[[SUM]], %[[WEIGHTS]], %[[PICKED]], %arg1)
// CHECK-SAME: {classes = 10 : i64, ignore_index = -100 : i64, max = #base.operand<0>, picked = #base.operand<3>, sum_exp = #base.operand<1>, target = #base.operand<4>, weight = #base.operand<2>}
// CHECK-NEXT: %[[TOTAL:.*]] = plan.call "aten.sum.default"(%[[LOSSES]]) {self = #base.operand<0>}
// CHECK-NEXT: %[[COUNT:.*]] = plan.call "aten.sum.default"(%[[WEIGHTS]]) {self = #base.operand<0>}
// CHECK-NEXT: %[[MEAN:.*]] = plan.call "aten.div.Tensor"(%[[TOTAL]], %[[COUNT]])
// CHECK-NEXT: return %[[MEAN]]
func.func @weighted(%x: tensor<6x10xf32>, %t: tensor<6xi64>, %w: tensor<10xf32>) -> tensor<f32> {
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %t, %w)
      {self = #base.operand<0>, target = #base.operand<1>, weight = #base.operand<2>} in "loss"
      : (tensor<6x10xf32>, tensor<6xi64>, tensor<10xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// Also of log-probabilities. A sum is not divided.
// CHECK-LABEL: func.func @weighted_log_probabilities
// CHECK-NEXT: %[[WEIGHTS:.*]] = plan.call "meshplan.class_weight"(%arg2, %arg1) {ignore_index = 3 : i64
// CHECK-NEXT: %[[PICKED:.*]] = plan.call "meshplan.row_pick"(%arg0, %arg1)
// CHECK-NEXT: %[[LOSSES:.*]] = plan.call "meshplan.token_loss"(%[[WEIGHTS]], %[[PICKED]], %arg1)
// CHECK-NEXT: %[[TOTAL:.*]] = plan.call "aten.sum.default"(%[[LOSSES]])
// CHECK-NEXT: return %[[TOTAL]]
func.func @weighted_log_probabilities(%x: tensor<6x10xf32>, %t: tensor<6xi64>, %w: tensor<10xf32>) -> tensor<f32> {
  %loss = plan.call "aten.nll_loss_nd.default"(%x, %t, %w)
      {self = #base.operand<0>, target = #base.operand<1>, weight = #base.operand<2>, reduction = 2 : i64,
       ignore_index = 3 : i64}
      : (tensor<6x10xf32>, tensor<6xi64>, tensor<10xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// Label smoothing: one more sum over the classes.
// CHECK-LABEL: func.func @smoothed
// CHECK-NEXT: %[[MAX:.*]] = plan.call "meshplan.row_max"(%arg0)
// CHECK-NEXT: %[[SUM:.*]] = plan.call "meshplan.row_sum_exp"(%arg0, %[[MAX]])
// CHECK-NEXT: %[[LOGS:.*]] = plan.call "meshplan.row_sum_log_softmax"(%arg0, %[[MAX]], %[[SUM]]) {input = #base.operand<0>, max = #base.operand<1>, sum_exp = #base.operand<2>} in "loss" : (tensor<6x10xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
// CHECK-NEXT: %[[PICKED:.*]] = plan.call "meshplan.row_pick"(%arg0, %arg1)
// CHECK-NEXT: %[[LOSSES:.*]] = plan.call "meshplan.token_loss"(%[[MAX]], %[[SUM]], %[[LOGS]], %[[PICKED]], %arg1)
// CHECK-SAME: {classes = 10 : i64, ignore_index = -100 : i64, label_smoothing = 1.000000e-01 : f64, max = #base.operand<0>, picked = #base.operand<3>, row_sum = #base.operand<2>, sum_exp = #base.operand<1>, target = #base.operand<4>}
// CHECK-NEXT: %[[TOTAL:.*]] = plan.call "aten.sum.default"(%[[LOSSES]])
// CHECK-NEXT: %[[COUNT:.*]] = plan.call "meshplan.count_tokens"(%arg1)
// CHECK-NEXT: %[[MEAN:.*]] = plan.call "aten.div.Tensor"(%[[TOTAL]], %[[COUNT]])
// CHECK-NEXT: return %[[MEAN]]
func.func @smoothed(%x: tensor<6x10xf32>, %t: tensor<6xi64>) -> tensor<f32> {
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %t)
      {self = #base.operand<0>, target = #base.operand<1>, label_smoothing = 0.1 : f64} in "loss"
      : (tensor<6x10xf32>, tensor<6xi64>) -> tensor<f32>
  return %loss : tensor<f32>
}

// Both, in 16 bits and with positions: the sum of the weights is f32, too.
// CHECK-LABEL: func.func @smoothed_weighted_positions
// CHECK: %[[TARGETS:.*]] = plan.call "aten.reshape.default"(%arg1) {{.*}} -> tensor<6xi64>
// CHECK-NEXT: %[[WEIGHTS:.*]] = plan.call "meshplan.class_weight"(%arg2, %[[TARGETS]]) {{.*}} -> tensor<6xbf16>
// CHECK: %[[LOGS:.*]] = plan.call "meshplan.row_sum_log_softmax"({{.*}}, %arg2) {{.*}}weight = #base.operand<3>} : (tensor<6x10xbf16>, tensor<6xbf16>, tensor<6xf32>, tensor<10xbf16>) -> tensor<6xf32>
// CHECK: %[[LOSSES:.*]] = plan.call "meshplan.token_loss"({{.*}}, %[[LOGS]], %[[WEIGHTS]], {{.*}}label_smoothing = 2.000000e-01 : f64
// CHECK-NEXT: %[[TOTAL:.*]] = plan.call "aten.sum.default"(%[[LOSSES]]) {dtype = f32, {{.*}}-> tensor<f32>
// CHECK-NEXT: %[[COUNT:.*]] = plan.call "aten.sum.default"(%[[WEIGHTS]]) {dtype = f32, {{.*}}-> tensor<f32>
// CHECK-NEXT: %[[MEAN:.*]] = plan.call "aten.div.Tensor"(%[[TOTAL]], %[[COUNT]])
// CHECK-NEXT: %[[LOSS:.*]] = plan.call "aten.to.dtype"(%[[MEAN]]) {dtype = bf16, {{.*}}-> tensor<bf16>
// CHECK-NEXT: return %[[LOSS]]
func.func @smoothed_weighted_positions(%x: tensor<2x10x3xbf16>, %t: tensor<2x3xi64>, %w: tensor<10xbf16>) -> tensor<bf16> {
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %t, %w)
      {self = #base.operand<0>, target = #base.operand<1>, weight = #base.operand<2>, label_smoothing = 0.2 : f64}
      : (tensor<2x10x3xbf16>, tensor<2x3xi64>, tensor<10xbf16>) -> tensor<bf16>
  return %loss : tensor<bf16>
}

// Forms that the kernels do not support stay: weights that are not one element of the same type per class,
// CHECK-LABEL: func.func @other_weights
// CHECK-NEXT: "aten.cross_entropy_loss.default"
// CHECK-NEXT: "aten.nll_loss_nd.default"
func.func @other_weights(%x: tensor<6x10xf32>, %t: tensor<6xi64>, %w: tensor<10xf64>, %v: tensor<9xf32>) -> (tensor<f32>, tensor<f32>) {
  %0 = plan.call "aten.cross_entropy_loss.default"(%x, %t, %w)
      {self = #base.operand<0>, target = #base.operand<1>, weight = #base.operand<2>}
      : (tensor<6x10xf32>, tensor<6xi64>, tensor<10xf64>) -> tensor<f32>
  %1 = plan.call "aten.nll_loss_nd.default"(%x, %t, %v)
      {self = #base.operand<0>, target = #base.operand<1>, weight = #base.operand<2>}
      : (tensor<6x10xf32>, tensor<6xi64>, tensor<9xf32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// probabilities as targets,
// CHECK-LABEL: func.func @probabilities
// CHECK-NEXT: "aten.cross_entropy_loss.default"
func.func @probabilities(%x: tensor<6x10xf32>, %t: tensor<6x10xf32>) -> tensor<f32> {
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %t) {self = #base.operand<0>, target = #base.operand<1>}
      : (tensor<6x10xf32>, tensor<6x10xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// integer logits, or targets that are not class indices,
// CHECK-LABEL: func.func @other_types
// CHECK-NEXT: "aten.cross_entropy_loss.default"
// CHECK-NEXT: "aten.cross_entropy_loss.default"
func.func @other_types(%x: tensor<6x10xi64>, %t: tensor<6xi64>, %y: tensor<6x10xf32>, %u: tensor<6xf32>) -> (tensor<f32>, tensor<f32>) {
  %0 = plan.call "aten.cross_entropy_loss.default"(%x, %t) {self = #base.operand<0>, target = #base.operand<1>}
      : (tensor<6x10xi64>, tensor<6xi64>) -> tensor<f32>
  %1 = plan.call "aten.cross_entropy_loss.default"(%y, %u) {self = #base.operand<0>, target = #base.operand<1>}
      : (tensor<6x10xf32>, tensor<6xf32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// targets with another number of rows.
// CHECK-LABEL: func.func @other_rows
// CHECK-NEXT: "aten.cross_entropy_loss.default"
func.func @other_rows(%x: tensor<6x10x4xf32>, %t: tensor<4x6xi64>) -> tensor<f32> {
  %0 = plan.call "aten.cross_entropy_loss.default"(%x, %t) {self = #base.operand<0>, target = #base.operand<1>}
      : (tensor<6x10x4xf32>, tensor<4x6xi64>) -> tensor<f32>
  return %0 : tensor<f32>
}

// A single sample without a dim for samples.
// CHECK-LABEL: func.func @one_sample
// CHECK-NEXT: %[[ROW:.*]] = plan.call "aten.reshape.default"(%arg0) {self = #base.operand<0>, shape = [1, 10]}
// CHECK-NEXT: %[[TARGET:.*]] = plan.call "aten.reshape.default"(%arg1) {self = #base.operand<0>, shape = [1]}
// CHECK-NEXT: %[[PICKED:.*]] = plan.call "meshplan.row_pick"(%[[ROW]], %[[TARGET]])
// CHECK-NEXT: %[[LOSSES:.*]] = plan.call "meshplan.token_loss"(%[[PICKED]], %[[TARGET]])
// CHECK-NEXT: %[[LOSS:.*]] = plan.call "aten.reshape.default"(%[[LOSSES]]) {self = #base.operand<0>, shape = []}
// CHECK-NEXT: return %[[LOSS]]
func.func @one_sample(%x: tensor<10xf32>, %t: tensor<i64>) -> tensor<f32> {
  %loss = plan.call "aten.nll_loss_nd.default"(%x, %t)
      {self = #base.operand<0>, target = #base.operand<1>, reduction = 0 : i64} : (tensor<10xf32>, tensor<i64>) -> tensor<f32>
  return %loss : tensor<f32>
}
