// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-decompose-batch-norm | FileCheck %s

// Statistics of 16-bit values are computed in f32. Evaluation reads the running ones instead.
// CHECK-LABEL: func.func @forward
// CHECK-NEXT: %[[X:.*]] = plan.call "aten.to.dtype"(%arg0) {dtype = f32
// CHECK-NEXT: %[[M:.*]] = plan.call "aten.mean.dim"(%[[X]]) {dim = [0, 2], keepdim = true, {{.*}} in "norm" {plan.in_evaluation = #plan.argument<buffer "mean">} : (tensor<2x4x8xf32>) -> tensor<1x4x1xf32>
// CHECK-NEXT: %[[C:.*]] = plan.call "aten.sub.Tensor"(%[[X]], %[[M]])
// CHECK-NEXT: %[[S:.*]] = plan.call "aten.mul.Tensor"(%[[C]], %[[C]])
// CHECK-NEXT: %[[V:.*]] = plan.call "aten.mean.dim"(%[[S]]) {{.*}} {plan.in_evaluation = #plan.argument<buffer "var">}
// CHECK-NEXT: %[[E:.*]] = plan.call "aten.add.Scalar"(%[[V]]) {other = 1.000000e-03
// CHECK-NEXT: %[[R:.*]] = plan.call "aten.rsqrt.default"(%[[E]])
// CHECK-NEXT: %[[N:.*]] = plan.call "aten.mul.Tensor"(%[[C]], %[[R]])
// CHECK-NEXT: %[[W:.*]] = plan.call "aten.view.default"(%arg3) {{.*}} -> tensor<1x4x1xf32>
// CHECK-NEXT: %[[P:.*]] = plan.call "aten.mul.Tensor"(%[[N]], %[[W]])
// CHECK-NEXT: %[[Y:.*]] = plan.call "aten.to.dtype"(%[[P]]) {dtype = bf16
// The running variance is unbiased: 16 elements of each channel, 0.25 * 16 / 15.
// CHECK-NEXT: %[[I:.*]] = plan.call "aten.view.default"(%[[M]])
// CHECK-NEXT: %[[D:.*]] = plan.call "aten.mul.Scalar"(%[[I]]) {other = 2.500000e-01
// CHECK-NEXT: %[[O:.*]] = plan.call "aten.mul.Scalar"(%arg1) {other = 7.500000e-01
// CHECK-NEXT: %[[A:.*]] = plan.call "aten.add.Tensor"(%[[O]], %[[D]])
// CHECK-NEXT: %[[J:.*]] = plan.call "aten.view.default"(%[[V]])
// CHECK-NEXT: %[[F:.*]] = plan.call "aten.mul.Scalar"(%[[J]]) {other = 0.26666666666666666
// CHECK-NEXT: %[[G:.*]] = plan.call "aten.mul.Scalar"(%arg2) {other = 7.500000e-01
// CHECK-NEXT: %[[B:.*]] = plan.call "aten.add.Tensor"(%[[G]], %[[F]])
// CHECK-NEXT: return %[[Y]], %[[A]], %[[B]]
func.func @forward(%x: tensor<2x4x8xbf16>,
                   %mean: tensor<4xf32> {plan.kind = #plan.kind<buffer>, plan.names = ["mean"]}, %var: tensor<4xf32> {plan.kind = #plan.kind<buffer>, plan.names = ["var"]}, %w: tensor<4xf32>)
    -> (tensor<2x4x8xbf16>, tensor<4xf32>, tensor<4xf32>) {
  %0:5 = plan.call "aten._native_batch_norm_legit_functional.default"(%x, %w, %mean, %var) {input = #base.operand<0>, weight = #base.operand<1>, running_mean = #base.operand<2>, running_var = #base.operand<3>, training = true, momentum = 0.25 : f64, eps = 0.001 : f64} in "norm"
      : (tensor<2x4x8xbf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x8xbf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#3, %0#4 : tensor<2x4x8xbf16>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Outside of training the running statistics are read, and stay.
// CHECK-LABEL: func.func @evaluation
// CHECK-NOT: aten.mean.dim
// CHECK: %[[M:.*]] = plan.call "aten.view.default"(%arg1)
// CHECK-NEXT: plan.call "aten.sub.Tensor"(%arg0, %[[M]])
// CHECK: return %{{.*}}, %arg1
func.func @evaluation(%x: tensor<2x4xf32>, %mean: tensor<4xf32>, %var: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>) {
  %0:5 = plan.call "aten._native_batch_norm_legit_functional.default"(%x, %mean, %var) {input = #base.operand<0>, running_mean = #base.operand<1>, running_var = #base.operand<2>, training = false, momentum = 0.1 : f64, eps = 0.001 : f64}
      : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<0xf32>, tensor<0xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#3 : tensor<2x4xf32>, tensor<4xf32>
}

// -----

// In evaluation a module that is called twice reads its buffer both times, and so do all readers of its updates.
// CHECK-LABEL: func.func @twice
// CHECK: plan.call "aten.mean.dim"{{.*}} {plan.in_evaluation = #plan.argument<buffer "mean">}
// CHECK: plan.call "aten.mean.dim"{{.*}} {plan.in_evaluation = #plan.argument<buffer "var">}
// CHECK: plan.call "aten.add.Tensor"{{.*}} {plan.in_evaluation = #plan.argument<buffer "mean">}
// CHECK: plan.call "aten.add.Tensor"{{.*}} {plan.in_evaluation = #plan.argument<buffer "var">}
// CHECK: plan.call "aten.mean.dim"{{.*}} {plan.in_evaluation = #plan.argument<buffer "mean">}
// CHECK: plan.call "aten.mean.dim"{{.*}} {plan.in_evaluation = #plan.argument<buffer "var">}
func.func @twice(%x: tensor<2x4xf32>,
                 %mean: tensor<4xf32> {plan.kind = #plan.kind<buffer>, plan.names = ["mean"]}, %var: tensor<4xf32> {plan.kind = #plan.kind<buffer>, plan.names = ["var"]})
    -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:5 = plan.call "aten._native_batch_norm_legit_functional.default"(%x, %mean, %var) {input = #base.operand<0>, running_mean = #base.operand<1>, running_var = #base.operand<2>, training = true, momentum = 0.1 : f64, eps = 0.001 : f64}
      : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  %1:5 = plan.call "aten._native_batch_norm_legit_functional.default"(%0#0, %0#3, %0#4) {input = #base.operand<0>, running_mean = #base.operand<1>, running_var = #base.operand<2>, training = true, momentum = 0.1 : f64, eps = 0.001 : f64}
      : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %1#0, %1#3, %1#4 : tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Without running statistics evaluation also uses those of the batch.
// CHECK-LABEL: func.func @untracked
// CHECK-NOT: batch_norm
// CHECK: plan.call "aten.mean.dim"(%arg0) {dim = [0],
// CHECK: plan.call "aten.rsqrt.default"
// CHECK: plan.call "aten.to.dtype"(%arg1) {dtype = f32
// CHECK: plan.call "aten.mean.dim"({{.*}}) {dim = [0, 2, 3],
// CHECK-NOT: plan.in_evaluation
// CHECK: return
func.func @untracked(%x: tensor<2x4xf32>, %y: tensor<2x4x3x3xbf16>, %w: tensor<4xbf16>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<2x4x3x3xbf16>) {
  %0:3 = plan.call "aten._native_batch_norm_legit.no_stats"(%x) {input = #base.operand<0>, training = true, momentum = 0.1 : f64, eps = 0.001 : f64}
      : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %1 = plan.call "aten.batch_norm.default"(%y, %w) {input = #base.operand<0>, weight = #base.operand<1>, training = true, momentum = 0.1 : f64, eps = 0.001 : f64}
      : (tensor<2x4x3x3xbf16>, tensor<4xbf16>) -> tensor<2x4x3x3xbf16>
  return %0#0, %0#2, %1 : tensor<2x4xf32>, tensor<4xf32>, tensor<2x4x3x3xbf16>
}
