// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-decompose-loss

// Extents of inputs that an exporter treated as independent, but that the plan makes equal.
func.func @forward(
    // expected-note @below {{the logits are computed from this input}}
    %ids: tensor<3x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["ids"]},
    // expected-error @below {{the loss 'aten.cross_entropy_loss.default' in the root module has 6 rows of logits and 4 targets}}
    // expected-note @below {{help: give corresponding dims of the inputs the same size}}
    %labels: tensor<2x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["labels"]},
    %w: tensor<10x10xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]}) -> tensor<f32> {
  %0 = plan.call "aten.embedding.default"(%w, %ids) {weight = #base.operand<0>, indices = #base.operand<1>}
      : (tensor<10x10xf32>, tensor<3x2xi64>) -> tensor<3x2x10xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = [6, 10]} : (tensor<3x2x10xf32>) -> tensor<6x10xf32>
  %2 = plan.call "aten.view.default"(%labels) {self = #base.operand<0>, size = [4]} : (tensor<2x2xi64>) -> tensor<4xi64>
  %3 = plan.call "aten.cross_entropy_loss.default"(%1, %2) {self = #base.operand<0>, target = #base.operand<1>}
      : (tensor<6x10xf32>, tensor<4xi64>) -> tensor<f32>
  return %3 : tensor<f32>
}
