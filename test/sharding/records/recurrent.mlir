// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of recurrent layers: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @lstm(%0: tensor<5x6x3xf32>, %1: tensor<1x6x4xf32>, %2: tensor<1x6x4xf32>, %3: tensor<16x3xf32>, %4: tensor<16x4xf32>, %5: tensor<16xf32>, %6: tensor<16xf32>) -> (tensor<5x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>) {
  %r:3 = plan.call "aten.lstm.input"(%0, %1, %2, %3, %4, %5, %6) {input = #base.operand<0>, hx = [#base.operand<1>, #base.operand<2>], params = [#base.operand<3>, #base.operand<4>, #base.operand<5>, #base.operand<6>], has_biases = true, num_layers = 1 : i64, dropout = 0.0 : f64, train = false, bidirectional = false, batch_first = false}
    : (tensor<5x6x3xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<5x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>)
  return %r#0, %r#1, %r#2 : tensor<5x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>
}

func.func @lstm_two_ways(%0: tensor<4x5x3xf32>, %1: tensor<2x4x4xf32>, %2: tensor<2x4x4xf32>, %3: tensor<16x3xf32>, %4: tensor<16x4xf32>, %5: tensor<16xf32>, %6: tensor<16xf32>, %7: tensor<16x3xf32>, %8: tensor<16x4xf32>, %9: tensor<16xf32>, %10: tensor<16xf32>) -> (tensor<4x5x8xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>) {
  %r:3 = plan.call "aten.lstm.input"(%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10) {input = #base.operand<0>, hx = [#base.operand<1>, #base.operand<2>], params = [#base.operand<3>, #base.operand<4>, #base.operand<5>, #base.operand<6>, #base.operand<7>, #base.operand<8>, #base.operand<9>, #base.operand<10>], has_biases = true, num_layers = 1 : i64, dropout = 0.0 : f64, train = false, bidirectional = true, batch_first = true}
    : (tensor<4x5x3xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<4x5x8xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>)
  return %r#0, %r#1, %r#2 : tensor<4x5x8xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>
}

func.func @gru(%0: tensor<6x5x3xf32>, %1: tensor<2x6x4xf32>, %2: tensor<12x3xf32>, %3: tensor<12x4xf32>, %4: tensor<12xf32>, %5: tensor<12xf32>, %6: tensor<12x4xf32>, %7: tensor<12x4xf32>, %8: tensor<12xf32>, %9: tensor<12xf32>) -> (tensor<6x5x4xf32>, tensor<2x6x4xf32>) {
  %r:2 = plan.call "aten.gru.input"(%0, %1, %2, %3, %4, %5, %6, %7, %8, %9) {input = #base.operand<0>, hx = #base.operand<1>, params = [#base.operand<2>, #base.operand<3>, #base.operand<4>, #base.operand<5>, #base.operand<6>, #base.operand<7>, #base.operand<8>, #base.operand<9>], has_biases = true, num_layers = 2 : i64, dropout = 0.0 : f64, train = false, bidirectional = false, batch_first = true}
    : (tensor<6x5x3xf32>, tensor<2x6x4xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12x4xf32>, tensor<12x4xf32>, tensor<12xf32>, tensor<12xf32>) -> (tensor<6x5x4xf32>, tensor<2x6x4xf32>)
  return %r#0, %r#1 : tensor<6x5x4xf32>, tensor<2x6x4xf32>
}

func.func @rnn_tanh(%0: tensor<5x5x3xf32>, %1: tensor<1x5x4xf32>, %2: tensor<4x3xf32>, %3: tensor<4x4xf32>, %4: tensor<4xf32>, %5: tensor<4xf32>) -> (tensor<5x5x4xf32>, tensor<1x5x4xf32>) {
  %r:2 = plan.call "aten.rnn_tanh.input"(%0, %1, %2, %3, %4, %5) {input = #base.operand<0>, hx = #base.operand<1>, params = [#base.operand<2>, #base.operand<3>, #base.operand<4>, #base.operand<5>], has_biases = true, num_layers = 1 : i64, dropout = 0.0 : f64, train = false, bidirectional = false, batch_first = false}
    : (tensor<5x5x3xf32>, tensor<1x5x4xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<5x5x4xf32>, tensor<1x5x4xf32>)
  return %r#0, %r#1 : tensor<5x5x4xf32>, tensor<1x5x4xf32>
}

func.func @rnn_relu(%0: tensor<6x2x3xf32>, %1: tensor<1x6x4xf32>, %2: tensor<4x3xf32>, %3: tensor<4x4xf32>, %4: tensor<4xf32>, %5: tensor<4xf32>) -> (tensor<6x2x4xf32>, tensor<1x6x4xf32>) {
  %r:2 = plan.call "aten.rnn_relu.input"(%0, %1, %2, %3, %4, %5) {input = #base.operand<0>, hx = #base.operand<1>, params = [#base.operand<2>, #base.operand<3>, #base.operand<4>, #base.operand<5>], has_biases = true, num_layers = 1 : i64, dropout = 0.0 : f64, train = false, bidirectional = false, batch_first = true}
    : (tensor<6x2x3xf32>, tensor<1x6x4xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<6x2x4xf32>, tensor<1x6x4xf32>)
  return %r#0, %r#1 : tensor<6x2x4xf32>, tensor<1x6x4xf32>
}

// Both states are one tensor.
func.func @lstm_cell_of_one_state(%0: tensor<6x3xf32>, %1: tensor<6x4xf32>, %2: tensor<16x3xf32>, %3: tensor<16x4xf32>, %4: tensor<16xf32>, %5: tensor<16xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
  %r:2 = plan.call "aten.lstm_cell.default"(%0, %1, %2, %3, %4, %5) {input = #base.operand<0>, hx = [#base.operand<1>, #base.operand<1>], w_ih = #base.operand<2>, w_hh = #base.operand<3>, b_ih = #base.operand<4>, b_hh = #base.operand<5>}
    : (tensor<6x3xf32>, tensor<6x4xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>)
  return %r#0, %r#1 : tensor<6x4xf32>, tensor<6x4xf32>
}

func.func @lstm_cell(%0: tensor<6x3xf32>, %1: tensor<6x4xf32>, %2: tensor<6x4xf32>, %3: tensor<16x3xf32>, %4: tensor<16x4xf32>, %5: tensor<16xf32>, %6: tensor<16xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
  %r:2 = plan.call "aten.lstm_cell.default"(%0, %1, %2, %3, %4, %5, %6) {input = #base.operand<0>, hx = [#base.operand<1>, #base.operand<2>], w_ih = #base.operand<3>, w_hh = #base.operand<4>, b_ih = #base.operand<5>, b_hh = #base.operand<6>}
    : (tensor<6x3xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>)
  return %r#0, %r#1 : tensor<6x4xf32>, tensor<6x4xf32>
}

func.func @gru_cell(%0: tensor<5x3xf32>, %1: tensor<5x4xf32>, %2: tensor<12x3xf32>, %3: tensor<12x4xf32>) -> tensor<5x4xf32> {
  %r = plan.call "aten.gru_cell.default"(%0, %1, %2, %3) {input = #base.operand<0>, hx = #base.operand<1>, w_ih = #base.operand<2>, w_hh = #base.operand<3>}
    : (tensor<5x3xf32>, tensor<5x4xf32>, tensor<12x3xf32>, tensor<12x4xf32>) -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
}

func.func @rnn_tanh_cell(%0: tensor<6x3xf32>, %1: tensor<6x4xf32>, %2: tensor<4x3xf32>, %3: tensor<4x4xf32>, %4: tensor<4xf32>, %5: tensor<4xf32>) -> tensor<6x4xf32> {
  %r = plan.call "aten.rnn_tanh_cell.default"(%0, %1, %2, %3, %4, %5) {input = #base.operand<0>, hx = #base.operand<1>, w_ih = #base.operand<2>, w_hh = #base.operand<3>, b_ih = #base.operand<4>, b_hh = #base.operand<5>}
    : (tensor<6x3xf32>, tensor<6x4xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}

func.func @rnn_relu_cell(%0: tensor<6x3xf32>, %1: tensor<6x4xf32>, %2: tensor<4x3xf32>, %3: tensor<4x4xf32>) -> tensor<6x4xf32> {
  %r = plan.call "aten.rnn_relu_cell.default"(%0, %1, %2, %3) {input = #base.operand<0>, hx = #base.operand<1>, w_ih = #base.operand<2>, w_hh = #base.operand<3>}
    : (tensor<6x3xf32>, tensor<6x4xf32>, tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}
