// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-normalize-loss | FileCheck %s

// The statement goes, and so does the model's own mean. The other outputs stay.
// CHECK-LABEL: func.func @forward
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "aten.view.default"(%arg1)
// CHECK-NEXT: %[[EACH:.*]] = plan.call "aten.cross_entropy_loss.default"(%arg0, %[[ROWS]]) {reduction = 0 : i64, self = #base.operand<0>, target = #base.operand<1>} in "loss" : (tensor<6x10xf32>, tensor<6xi64>) -> tensor<6xf32>
// CHECK-NEXT: %[[TOTAL:.*]] = plan.call "aten.sum.default"(%[[EACH]]) {self = #base.operand<0>} in "loss" : (tensor<6xf32>) -> tensor<f32>
// CHECK-NEXT: %[[COUNTED:.*]] = plan.call "aten.ne.Scalar"(%[[ROWS]]) {other = -100 : i64, self = #base.operand<0>} in "loss" : (tensor<6xi64>) -> tensor<6xi1>
// CHECK-NEXT: %[[COUNT:.*]] = plan.call "aten.sum.default"(%[[COUNTED]]) {dtype = f32, self = #base.operand<0>} in "loss" : (tensor<6xi1>) -> tensor<f32>
// CHECK-NEXT: %[[MEAN:.*]] = plan.call "aten.div.Tensor"(%[[TOTAL]], %[[COUNT]]) {other = #base.operand<1>, self = #base.operand<0>} in "loss"
// CHECK-NEXT: return %[[MEAN]], %arg0
// CHECK-NOT: plan.normalize_loss
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.normalize_loss 0 per token
func.func @forward(%x: tensor<6x10xf32>, %t: tensor<2x3xi64>)
    -> (tensor<f32> {plan.name = "loss"}, tensor<6x10xf32> {plan.name = "logits"}) {
  %rows = plan.call "aten.view.default"(%t) {self = #base.operand<0>, size = [6]} : (tensor<2x3xi64>) -> tensor<6xi64>
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %rows)
      {self = #base.operand<0>, target = #base.operand<1>, reduction = 2 : i64} in "loss"
      : (tensor<6x10xf32>, tensor<6xi64>) -> tensor<f32>
  return %loss, %x : tensor<f32>, tensor<6x10xf32>
}

// -----

// Each sample has its own count. Shifted labels, as models for text have them, stay with their samples.
// CHECK-LABEL: func.func @forward
// CHECK: %[[EACH:.*]] = plan.call "aten.cross_entropy_loss.default"({{.*}}ignore_index = 7 : i64{{.*}}reduction = 0 : i64{{.*}}-> tensor<6xf32>
// CHECK-NEXT: %[[OWN:.*]] = plan.call "aten.reshape.default"(%[[EACH]]) {self = #base.operand<0>, shape = [1, 2, 3]}
// CHECK-NEXT: %[[TOTALS:.*]] = plan.call "aten.sum.dim_IntList"(%[[OWN]]) {dim = [0, 2], self = #base.operand<0>} : (tensor<1x2x3xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[COUNTED:.*]] = plan.call "aten.ne.Scalar"(%{{.*}}) {other = 7 : i64
// CHECK-NEXT: %[[FLAGS:.*]] = plan.call "aten.reshape.default"(%[[COUNTED]]) {self = #base.operand<0>, shape = [1, 2, 3]}
// CHECK-NEXT: %[[COUNTS:.*]] = plan.call "aten.sum.dim_IntList"(%[[FLAGS]]) {dim = [0, 2], dtype = f32, self = #base.operand<0>} : (tensor<1x2x3xi1>) -> tensor<2xf32>
// CHECK-NEXT: %[[SOME:.*]] = plan.call "aten.clamp.default"(%[[COUNTS]]) {min = 1.000000e+00 : f64, self = #base.operand<0>}
// CHECK-NEXT: %[[MEANS:.*]] = plan.call "aten.div.Tensor"(%[[TOTALS]], %[[SOME]])
// CHECK-NEXT: %[[LOSS:.*]] = plan.call "aten.mean.default"(%[[MEANS]]) {self = #base.operand<0>} : (tensor<2xf32>) -> tensor<f32>
// CHECK-NEXT: return %[[LOSS]]
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.normalize_loss 0 per sequence
func.func @forward(%x: tensor<6x10xf32>,
    %t: tensor<2x3xi64> {plan.kind = #plan.kind<input>, plan.names = ["labels"], plan.dims = ["batch", ""]})
    -> (tensor<f32> {plan.name = "loss"}) {
  %padded = plan.call "aten.pad.default"(%t) {self = #base.operand<0>, pad = [0, 1], value = 7.0 : f64}
      : (tensor<2x3xi64>) -> tensor<2x4xi64>
  %next = plan.call "aten.slice.Tensor"(%padded) {self = #base.operand<0>, dim = 1, start = 1, end = 9223372036854775807}
      : (tensor<2x4xi64>) -> tensor<2x3xi64>
  %rows = plan.call "aten.view.default"(%next) {self = #base.operand<0>, size = [-1]} : (tensor<2x3xi64>) -> tensor<6xi64>
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %rows)
      {self = #base.operand<0>, target = #base.operand<1>, ignore_index = 7}
      : (tensor<6x10xf32>, tensor<6xi64>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A dim of samples needs no view; the count of one target is 0 or 1.
// CHECK-LABEL: func.func @forward
// CHECK: %[[EACH:.*]] = plan.call "aten.cross_entropy_loss.default"{{.*}}-> tensor<4xf32>
// CHECK-NEXT: %[[COUNTED:.*]] = plan.call "aten.ne.Scalar"
// CHECK-NEXT: %[[COUNTS:.*]] = plan.call "aten.to.dtype"(%[[COUNTED]]) {dtype = f32
// CHECK-NEXT: plan.call "aten.clamp.default"(%[[COUNTS]])
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.normalize_loss 0 per sequence
func.func @forward(%x: tensor<4x10xf32>,
    %t: tensor<4xi64> {plan.kind = #plan.kind<input>, plan.names = ["labels"], plan.dims = ["batch"]})
    -> (tensor<f32> {plan.name = "loss"}) {
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %t) {self = #base.operand<0>, target = #base.operand<1>}
      : (tensor<4x10xf32>, tensor<4xi64>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Positions beside samples; the model computes the logarithms itself. 16 bits are summed in f32, and rounded once.
// CHECK-LABEL: func.func @forward
// CHECK: %[[EACH:.*]]:2 = plan.call "aten.nll_loss2d_forward.default"{{.*}}reduction = 0 : i64{{.*}}-> (tensor<2x3x5xbf16>, tensor<bf16>)
// CHECK-NEXT: %[[TOTALS:.*]] = plan.call "aten.sum.dim_IntList"(%[[EACH]]#0) {dim = [1, 2], dtype = f32, {{.*}}-> tensor<2xf32>
// CHECK: %[[COUNTS:.*]] = plan.call "aten.sum.dim_IntList"(%{{.*}}) {dim = [1, 2], dtype = f32, {{.*}}-> tensor<2xf32>
// CHECK: %[[LOSS:.*]] = plan.call "aten.mean.default"(%{{.*}}) {self = #base.operand<0>} : (tensor<2xf32>) -> tensor<f32>
// CHECK-NEXT: %[[ROUNDED:.*]] = plan.call "aten.to.dtype"(%[[LOSS]]) {dtype = bf16, {{.*}}-> tensor<bf16>
// CHECK-NEXT: return %[[ROUNDED]]
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.normalize_loss 0 per sequence
func.func @forward(%x: tensor<2x10x3x5xbf16>,
    %t: tensor<2x3x5xi64> {plan.kind = #plan.kind<input>, plan.names = ["labels"], plan.dims = ["batch", "", ""]})
    -> (tensor<bf16> {plan.name = "loss"}) {
  %loss:2 = plan.call "aten.nll_loss2d_forward.default"(%x, %t)
      {self = #base.operand<0>, target = #base.operand<1>, reduction = 1, ignore_index = -100}
      : (tensor<2x10x3x5xbf16>, tensor<2x3x5xi64>) -> (tensor<bf16>, tensor<bf16>)
  return %loss#0 : tensor<bf16>
}

// -----

// Conversions, views and sums of losses are the model's path to a scalar, which the plan replaces; another reader of
// the model's sum keeps it.
// CHECK-LABEL: func.func @forward
// CHECK: %[[OLD:.*]] = plan.call "aten.cross_entropy_loss.default"
// CHECK: %[[SUM:.*]] = plan.call "aten.sum.default"
// CHECK: %[[MEAN:.*]] = plan.call "aten.div.Tensor"{{.*}}-> tensor<f32>
// CHECK: %[[LOSS:.*]] = plan.call "aten.to.dtype"(%[[MEAN]]) {dtype = f64, {{.*}}-> tensor<f64>
// CHECK: return %[[LOSS]], %
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.normalize_loss 0 per token
func.func @forward(%x: tensor<6x10xf32>, %t: tensor<6xi64>)
    -> (tensor<f64> {plan.name = "loss"}, tensor<f32> {plan.name = "sum"}) {
  %each = plan.call "aten.cross_entropy_loss.default"(%x, %t)
      {self = #base.operand<0>, target = #base.operand<1>, reduction = 0}
      : (tensor<6x10xf32>, tensor<6xi64>) -> tensor<6xf32>
  %rows = plan.call "aten.view.default"(%each) {self = #base.operand<0>, size = [2, 3]} : (tensor<6xf32>) -> tensor<2x3xf32>
  %means = plan.call "aten.mean.dim"(%rows) {self = #base.operand<0>, dim = [1]} : (tensor<2x3xf32>) -> tensor<2xf32>
  %sum = plan.call "aten.sum.default"(%means) {self = #base.operand<0>} : (tensor<2xf32>) -> tensor<f32>
  %wide = plan.call "aten.to.dtype"(%sum) {self = #base.operand<0>, dtype = f64} : (tensor<f32>) -> tensor<f64>
  return %wide, %sum : tensor<f64>, tensor<f32>
}

// -----

// Class weights and label smoothing are in the losses; targets are counted as without them.
// CHECK-LABEL: func.func @forward
// CHECK: %[[EACH:.*]] = plan.call "aten.cross_entropy_loss.default"(%arg0, %arg1, %arg2) {label_smoothing = 1.000000e-01 : f64, reduction = 0 : i64
// CHECK-NEXT: plan.call "aten.sum.default"(%[[EACH]])
// CHECK-NEXT: plan.call "aten.ne.Scalar"(%arg1)
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.normalize_loss 0 per token
func.func @forward(%x: tensor<6x10xf32>, %t: tensor<6xi64>, %w: tensor<10xf32>) -> (tensor<f32> {plan.name = "loss"}) {
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %t, %w)
      {self = #base.operand<0>, target = #base.operand<1>, weight = #base.operand<2>, label_smoothing = 0.1 : f64}
      : (tensor<6x10xf32>, tensor<6xi64>, tensor<10xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Each probability counts, so both means are the mean of all.
// CHECK-LABEL: func.func @forward
// CHECK: %[[EACH:.*]] = plan.call "aten.cross_entropy_loss.default"{{.*}}-> tensor<4x3xf32>
// CHECK-NEXT: %[[MEAN:.*]] = plan.call "aten.mean.default"(%[[EACH]]) {self = #base.operand<0>} : (tensor<4x3xf32>) -> tensor<f32>
// CHECK-NEXT: return %[[MEAN]]
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.normalize_loss 0 per sequence
func.func @forward(%x: tensor<4x10x3xf32>,
    %t: tensor<4x10x3xf32> {plan.kind = #plan.kind<input>, plan.names = ["labels"], plan.dims = ["batch", "", ""]})
    -> (tensor<f32> {plan.name = "loss"}) {
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %t)
      {self = #base.operand<0>, target = #base.operand<1>, reduction = 2}
      : (tensor<4x10x3xf32>, tensor<4x10x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Without a statement the loss is the model's.
// CHECK-LABEL: func.func @forward
// CHECK-NEXT: plan.call "aten.cross_entropy_loss.default"{{.*}}reduction = 2
// CHECK-NEXT: return
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.loss 0
func.func @forward(%x: tensor<6x10xf32>, %t: tensor<6xi64>) -> (tensor<f32> {plan.name = "loss"}) {
  %loss = plan.call "aten.cross_entropy_loss.default"(%x, %t)
      {self = #base.operand<0>, target = #base.operand<1>, reduction = 2}
      : (tensor<6x10xf32>, tensor<6xi64>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Targets with a view: samples still have 3 targets each. The view of a mask may be the other operand.
plan.mesh [#base.mesh_axis<"dp" = 2>]
plan.normalize_loss 0 per sequence
// CHECK-LABEL: func.func @forward
// CHECK: %[[T:.*]] = plan.call "aten.where.ScalarOther"
// CHECK: %[[L:.*]] = plan.call "aten.cross_entropy_loss.default"(%arg0, %[[T]]) {reduction = 0 : i64
// CHECK: %[[LS:.*]] = plan.call "aten.reshape.default"(%[[L]]) {self = #base.operand<0>, shape = [1, 2, 3]}
// CHECK: plan.call "aten.sum.dim_IntList"(%[[LS]]) {dim = [0, 2], self = #base.operand<0>} : {{.*}} -> tensor<2xf32>
func.func @forward(%x: tensor<6x10xf32>, %t: tensor<2x3xi64> {plan.kind = #plan.kind<input>, plan.names = ["t"], plan.dims = ["batch", ""]})
    -> (tensor<f32> {plan.name = "loss"}) {
  %0 = plan.call "aten.view.default"(%t) {self = #base.operand<0>, size = [-1]} : (tensor<2x3xi64>) -> tensor<6xi64>
  %1 = plan.call "aten.gt.Scalar"(%0) {self = #base.operand<0>, other = 2 : i64} : (tensor<6xi64>) -> tensor<6xi1>
  %2 = plan.call "aten.where.ScalarOther"(%1, %0) {condition = #base.operand<0>, self = #base.operand<1>, other = -100 : i64} : (tensor<6xi1>, tensor<6xi64>) -> tensor<6xi64>
  %3 = plan.call "aten.cross_entropy_loss.default"(%x, %2) {self = #base.operand<0>, target = #base.operand<1>} : (tensor<6x10xf32>, tensor<6xi64>) -> tensor<f32>
  return %3 : tensor<f32>
}
