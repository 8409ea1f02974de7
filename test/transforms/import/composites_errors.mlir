// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-simplify

// The shapes of an archive are input: a call that PyTorch would refuse is an error.

func.func @outer_of_a_matrix(%x: tensor<4x6xf32>, %u: tensor<4x1xf32>, %v: tensor<6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{'aten.addr.default' in 'm' needs 1 dim in 'vec1', which has 2}}
  // expected-note @below {{help: PyTorch refuses such a call: export the model again}}
  %0 = plan.call "aten.addr.default"(%x, %u, %v) {self = #base.operand<0>, vec1 = #base.operand<1>, vec2 = #base.operand<2>} in "m" : (tensor<4x6xf32>, tensor<4x1xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @outer_of_a_number(%x: tensor<4x6xf32>, %u: tensor<f32>, %v: tensor<6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{'aten.addr.default' in 'm' needs 1 dim in 'vec1', which has 0}}
  // expected-note @below {{help: PyTorch refuses such a call}}
  %0 = plan.call "aten.addr.default"(%x, %u, %v) {self = #base.operand<0>, vec1 = #base.operand<1>, vec2 = #base.operand<2>} in "m" : (tensor<4x6xf32>, tensor<f32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @batches(%x: tensor<4x6xf32>, %u: tensor<2x4x5xf32>, %v: tensor<5x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{'aten.addbmm.default' in 'm' needs 3 dims in 'batch2', which has 2}}
  // expected-note @below {{help: PyTorch refuses such a call}}
  %0 = plan.call "aten.addbmm.default"(%x, %u, %v) {self = #base.operand<0>, batch1 = #base.operand<1>, batch2 = #base.operand<2>} in "m" : (tensor<4x6xf32>, tensor<2x4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @blocks_in_a_row(%x: tensor<2x3xf32>, %y: tensor<4xf32>) -> tensor<14xf32> {
  // expected-error @below {{'aten.block_diag.default' in 'm' needs 2 dims in its result, which has 1}}
  // expected-note @below {{help: PyTorch refuses such a call}}
  %0 = plan.call "aten.block_diag.default"(%x, %y) {tensors = [#base.operand<0>, #base.operand<1>]} in "m" : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<14xf32>
  return %0 : tensor<14xf32>
}

// -----

func.func @blocks_of_three_dims(%x: tensor<2x3xf32>, %y: tensor<1x1x4xf32>) -> tensor<3x7xf32> {
  // expected-error @below {{'aten.block_diag.default' in 'm' needs 0 to 2 dims in 'tensors', which has 3}}
  // expected-note @below {{help: PyTorch refuses such a call}}
  %0 = plan.call "aten.block_diag.default"(%x, %y) {tensors = [#base.operand<0>, #base.operand<1>]} in "m" : (tensor<2x3xf32>, tensor<1x1x4xf32>) -> tensor<3x7xf32>
  return %0 : tensor<3x7xf32>
}

// -----

func.func @bags_of_a_row(%w: tensor<5xf32>, %i: tensor<6xi64>, %o: tensor<3xi64>) -> tensor<3x2xf32> {
  // expected-error @below {{'aten.embedding_bag.padding_idx' in 'm' needs 2 dims in 'weight', which has 1}}
  // expected-note @below {{help: PyTorch refuses such a call}}
  %0:4 = plan.call "aten.embedding_bag.padding_idx"(%w, %i, %o) {weight = #base.operand<0>, indices = #base.operand<1>, offsets = #base.operand<2>, mode = 0 : i64} in "m" : (tensor<5xf32>, tensor<6xi64>, tensor<3xi64>) -> (tensor<3x2xf32>, tensor<6xi64>, tensor<3xi64>, tensor<3xi64>)
  return %0#0 : tensor<3x2xf32>
}

// -----

func.func @chain_of_numbers(%x: tensor<2x3xf32>, %y: tensor<f32>) -> tensor<2xf32> {
  // expected-error @below {{'aten.linalg_multi_dot.default' in 'm' needs 1 to 2 dims in 'tensors', which has 0}}
  // expected-note @below {{help: PyTorch refuses such a call}}
  %0 = plan.call "aten.linalg_multi_dot.default"(%x, %y) {tensors = [#base.operand<0>, #base.operand<1>]} in "m" : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// The result does not follow from the arguments.
func.func @bags_of_other_rows(%w: tensor<5x2xf32>, %i: tensor<6xi64>) -> tensor<3x4xf32> {
  %o = plan.call "aten.arange.start_step"() {start = 0 : i64, end = 6 : i64, step = 2 : i64} : () -> tensor<3xi64>
  // expected-error @below {{'aten.embedding_bag.padding_idx' in 'm' returns 'tensor<3x2xf32>' for its arguments, and the model has 'tensor<3x4xf32>'}}
  %0:4 = plan.call "aten.embedding_bag.padding_idx"(%w, %i, %o) {weight = #base.operand<0>, indices = #base.operand<1>, offsets = #base.operand<2>, mode = 0 : i64} in "m" : (tensor<5x2xf32>, tensor<6xi64>, tensor<3xi64>) -> (tensor<3x4xf32>, tensor<6xi64>, tensor<3xi64>, tensor<3xi64>)
  return %0#0 : tensor<3x4xf32>
}
