// REQUIRES: meshplan-opt
// On a GPU the gradients of attention in 16 bits read the saved results of the forward call.
// RUN: %meshplan-opt %s --split-input-file --plan-keep-attention-results=device=cuda | FileCheck %s
// RUN: %meshplan-opt %s --split-input-file --plan-keep-attention-results | FileCheck %s --check-prefix=CPU

// CPU-NOT: logsumexp =

plan.mesh [#base.mesh_axis<"tp" = 2>]

// CHECK-LABEL: @causal
// CHECK: %[[A:.*]]:2 = plan.call "meshplan.attention"
// CHECK: plan.call "meshplan.attention_backward"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[A]]#0, %[[A]]#1) {{.*}}logsumexp = #base.operand<5>, out = #base.operand<4>
func.func @causal(%q: tensor<2x4x6x8xbf16>, %k: tensor<2x2x6x8xbf16>, %v: tensor<2x2x6x8xbf16>, %g: tensor<2x4x6x8xbf16>) -> (tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>) {
  %a:2 = plan.call "meshplan.attention"(%q, %k, %v) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64, causal = true}
    : (tensor<2x4x6x8xbf16>, tensor<2x2x6x8xbf16>, tensor<2x2x6x8xbf16>) -> (tensor<2x4x6x8xbf16>, tensor<2x4x6xf32>)
  %r:3 = plan.call "meshplan.attention_backward"(%g, %q, %k, %v) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, scale = 0.5 : f64, causal = true} backward
    : (tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>, tensor<2x2x6x8xbf16>, tensor<2x2x6x8xbf16>) -> (tensor<2x4x6x8xbf16>, tensor<2x2x6x8xbf16>, tensor<2x2x6x8xbf16>)
  return %a#0, %r#0 : tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// With another scale, in f32, or with a head size that the kernels do not support, nothing is saved.
// CHECK-LABEL: @others
// CHECK-NOT: logsumexp =
func.func @others(%q: tensor<2x4x6x8xbf16>, %k: tensor<2x4x6x8xbf16>, %g: tensor<2x4x6x8xbf16>, %wide: tensor<2x4x6x8xf32>, %odd: tensor<2x4x6x6xbf16>) -> (tensor<2x4x6x8xbf16>, tensor<2x4x6x8xf32>, tensor<2x4x6x6xbf16>, tensor<2x4x6x8xbf16>, tensor<2x4x6x8xf32>, tensor<2x4x6x6xbf16>) {
  %a:2 = plan.call "meshplan.attention"(%q, %k, %k) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.25 : f64}
    : (tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>) -> (tensor<2x4x6x8xbf16>, tensor<2x4x6xf32>)
  %b:2 = plan.call "meshplan.attention"(%wide, %wide, %wide) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64}
    : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x4x6xf32>)
  %c:2 = plan.call "meshplan.attention"(%odd, %odd, %odd) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64}
    : (tensor<2x4x6x6xbf16>, tensor<2x4x6x6xbf16>, tensor<2x4x6x6xbf16>) -> (tensor<2x4x6x6xbf16>, tensor<2x4x6xf32>)
  %r:3 = plan.call "meshplan.attention_backward"(%g, %q, %k, %k) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, scale = 0.5 : f64} backward
    : (tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>) -> (tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>)
  %s:3 = plan.call "meshplan.attention_backward"(%wide, %wide, %wide, %wide) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, scale = 0.5 : f64} backward
    : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>)
  %t:3 = plan.call "meshplan.attention_backward"(%odd, %odd, %odd, %odd) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, scale = 0.5 : f64} backward
    : (tensor<2x4x6x6xbf16>, tensor<2x4x6x6xbf16>, tensor<2x4x6x6xbf16>, tensor<2x4x6x6xbf16>) -> (tensor<2x4x6x6xbf16>, tensor<2x4x6x6xbf16>, tensor<2x4x6x6xbf16>)
  return %a#0, %b#0, %c#0, %r#0, %s#0, %t#0 : tensor<2x4x6x8xbf16>, tensor<2x4x6x8xf32>, tensor<2x4x6x6xbf16>, tensor<2x4x6x8xbf16>, tensor<2x4x6x8xf32>, tensor<2x4x6x6xbf16>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// The same tensors with a mask are another attention call.
// CHECK-LABEL: @masked
// CHECK-NOT: logsumexp =
func.func @masked(%q: tensor<2x4x6x8xbf16>, %m: tensor<2x6xi1>) -> (tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>) {
  %a:2 = plan.call "meshplan.attention"(%q, %q, %q, %m) {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, key_mask = #base.operand<3>, scale = 0.5 : f64}
    : (tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>, tensor<2x6xi1>) -> (tensor<2x4x6x8xbf16>, tensor<2x4x6xf32>)
  %r:3 = plan.call "meshplan.attention_backward"(%q, %q, %q, %q) {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>, scale = 0.5 : f64} backward
    : (tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>) -> (tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>)
  return %a#0, %r#0 : tensor<2x4x6x8xbf16>, tensor<2x4x6x8xbf16>
}
