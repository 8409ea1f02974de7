// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-simplify

// Readers of the states have wrong shapes, too.
func.func @states_read(%x: tensor<4x5x3xf32>, %s: tensor<1x4x2xf32>, %w: tensor<8x3xf32>, %h: tensor<8x2xf32>) -> tensor<1x1x4x2xf32> {
  // expected-error @below {{the model reads the last states of 'aten.lstm.input' in 'rnn', which PyTorch has exported with 4 dims and which have 3}}
  // expected-note @below {{help: read the output of the layer instead: its last position is the last state}}
  %0:3 = plan.call "aten.lstm.input"(%x, %s, %s, %w, %h) {input = #base.operand<0>,
      hx = [#base.operand<1>, #base.operand<2>], params = [#base.operand<3>, #base.operand<4>], has_biases = false,
      num_layers = 1 : i64, dropout = 0.0 : f64, train = false, bidirectional = false, batch_first = true} in "rnn"
      : (tensor<4x5x3xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<8x3xf32>, tensor<8x2xf32>)
      -> (tensor<4x5x2xf32>, tensor<1x1x4x2xf32>, tensor<1x1x4x2xf32>)
  return %0#1 : tensor<1x1x4x2xf32>
}
