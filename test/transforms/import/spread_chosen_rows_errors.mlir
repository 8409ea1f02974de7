// Rows whose number depends on data, in forms that are not those of experts.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-spread-chosen-rows

!rows = tensor<1099511627776x8xf32>

// Not a comparison with the number of an expert.
func.func @compared(%x: tensor<6x8xf32>, %scores: tensor<6xf32>) -> tensor<6x8xf32> {
  %0 = plan.call "aten.gt.Scalar"(%scores) {self = #base.operand<0>, other = 0.5 : f64} : (tensor<6xf32>) -> tensor<6xi1>
  // expected-error @below {{the shape of 'aten.index.Tensor' depends on data, in a form that is not known for experts}}
  // expected-note @below {{it is 'aten.index.Tensor' in 'mlp'}}
  // expected-note @below {{help: use operations whose result shape follows from the shapes of the inputs; in a loop over experts, take their tokens with torch.where(ids == e) and add the results times the gates with index_add}}
  %1 = plan.call "aten.index.Tensor"(%x, %0) {self = #base.operand<0>, indices = [#base.operand<1>]} in "mlp" : (tensor<6x8xf32>, tensor<6xi1>) -> !rows
  %2 = plan.call "aten.index_put.default"(%x, %0, %1) {self = #base.operand<0>, indices = [#base.operand<1>], values = #base.operand<2>} : (tensor<6x8xf32>, tensor<6xi1>, !rows) -> tensor<6x8xf32>
  return %2 : tensor<6x8xf32>
}

// -----

!rows = tensor<1099511627776x8xf32>

// The rows of an expert are combined with each other.
func.func @mixed(%x: tensor<6x8xf32>, %ids: tensor<6x2xi64>) -> tensor<8xf32> {
  %0 = plan.call "aten.eq.Scalar"(%ids) {self = #base.operand<0>, other = 1 : i64} : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %1:2 = plan.call "aten.where.default"(%0) {condition = #base.operand<0>} : (tensor<6x2xi1>) -> (tensor<1099511627776xi64>, tensor<1099511627776xi64>)
  %2 = plan.call "aten.index.Tensor"(%x, %1#0) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<6x8xf32>, tensor<1099511627776xi64>) -> !rows
  // expected-error @below {{the shape of an operand of 'aten.mean.dim' depends on data, in a form that is not known for experts}}
  // expected-note @below {{it is 'aten.mean.dim' in the root module}}
  // expected-note @below {{help: use operations}}
  %3 = plan.call "aten.mean.dim"(%2) {self = #base.operand<0>, dim = [0]} : (!rows) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// -----

!rows = tensor<1099511627776x8xf32>

// Without gates, the rows of tokens that have not chosen the expert are not 0.
func.func @ungated(%x: tensor<6x8xf32>, %ids: tensor<6x2xi64>) -> tensor<6x8xf32> {
  %0 = plan.call "aten.eq.Scalar"(%ids) {self = #base.operand<0>, other = 1 : i64} : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %1:2 = plan.call "aten.where.default"(%0) {condition = #base.operand<0>} : (tensor<6x2xi1>) -> (tensor<1099511627776xi64>, tensor<1099511627776xi64>)
  %2 = plan.call "aten.index.Tensor"(%x, %1#0) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<6x8xf32>, tensor<1099511627776xi64>) -> !rows
  // expected-error @below {{the shape of an operand of 'aten.index_add.default' depends on data, in a form that is not known for experts}}
  // expected-note @below {{it is 'aten.index_add.default' in the root module}}
  // expected-note @below {{help: use operations}}
  %3 = plan.call "aten.index_add.default"(%x, %1#0, %2) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} : (tensor<6x8xf32>, tensor<1099511627776xi64>, !rows) -> tensor<6x8xf32>
  return %3 : tensor<6x8xf32>
}

// -----

!rows = tensor<1099511627776x8xf32>

// A token may have the expert in both slots: it would be written once, and its gates added.
func.func @twice(%x: tensor<6x8xf32>, %gates: tensor<6x2xf32>, %ids: tensor<6x2xi64>) -> tensor<6x8xf32> {
  %0 = plan.call "aten.eq.Scalar"(%ids) {self = #base.operand<0>, other = 1 : i64} : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %1:2 = plan.call "aten.where.default"(%0) {condition = #base.operand<0>} : (tensor<6x2xi1>) -> (tensor<1099511627776xi64>, tensor<1099511627776xi64>)
  %2 = plan.call "aten.index.Tensor"(%x, %1#0) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<6x8xf32>, tensor<1099511627776xi64>) -> !rows
  %3 = plan.call "aten.index.Tensor"(%gates, %1#0, %1#1) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]} : (tensor<6x2xf32>, tensor<1099511627776xi64>, tensor<1099511627776xi64>) -> tensor<1099511627776xf32>
  %4 = plan.call "aten.unsqueeze.default"(%3) {self = #base.operand<0>, dim = -1 : i64} : (tensor<1099511627776xf32>) -> tensor<1099511627776x1xf32>
  %5 = plan.call "aten.mul.Tensor"(%2, %4) {self = #base.operand<0>, other = #base.operand<1>} : (!rows, tensor<1099511627776x1xf32>) -> !rows
  %6 = plan.call "aten.add.Tensor"(%2, %5) {self = #base.operand<0>, other = #base.operand<1>} : (!rows, !rows) -> !rows
  // expected-error @below {{the shape of an operand of 'aten.index_put.default' depends on data, in a form that is not known for experts}}
  // expected-note @below {{it is 'aten.index_put.default' in the root module}}
  // expected-note @below {{help: use operations}}
  %7 = plan.call "aten.index_put.default"(%x, %1#0, %6) {self = #base.operand<0>, indices = [#base.operand<1>], values = #base.operand<2>} : (tensor<6x8xf32>, tensor<1099511627776xi64>, !rows) -> tensor<6x8xf32>
  return %7 : tensor<6x8xf32>
}

// -----

!rows = tensor<1099511627776x8xf32>

// Numbers that are drawn for the rows.
func.func @drawn(%x: tensor<6x8xf32>, %ids: tensor<6x2xi64>) -> tensor<6x8xf32> {
  %0 = plan.call "aten.eq.Scalar"(%ids) {self = #base.operand<0>, other = 1 : i64} : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %1:2 = plan.call "aten.where.default"(%0) {condition = #base.operand<0>} : (tensor<6x2xi1>) -> (tensor<1099511627776xi64>, tensor<1099511627776xi64>)
  %2 = plan.call "aten.index.Tensor"(%x, %1#0) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<6x8xf32>, tensor<1099511627776xi64>) -> !rows
  // expected-error @below {{the shape of 'aten.alpha_dropout.default' depends on data, in a form that is not known for experts}}
  // expected-note @below {{it is 'aten.alpha_dropout.default' in 'mlp.drop'}}
  // expected-note @below {{help: of what draws random numbers, a dropout of each element (torch.nn.Dropout) is known here; draw others after the mixture, or export after 'model.eval()'}}
  %3 = plan.call "aten.alpha_dropout.default"(%2) {input = #base.operand<0>, p = 0.5 : f64, train = true} in "mlp.drop" : (!rows) -> !rows
  %4 = plan.call "aten.index_add.default"(%x, %1#0, %3) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} : (tensor<6x8xf32>, tensor<1099511627776xi64>, !rows) -> tensor<6x8xf32>
  return %4 : tensor<6x8xf32>
}

// -----

!rows = tensor<1099511627776x8xf32>
!numbers = tensor<1099511627776xi64>

// Positions and samples in the wrong order are other tokens.
func.func @exchanged(%x: tensor<4x4x8xf32>, %ids: tensor<4x4x2xi64>) -> tensor<4x4x8xf32> {
  %0 = plan.call "aten.eq.Scalar"(%ids) {self = #base.operand<0>, other = 1 : i64} : (tensor<4x4x2xi64>) -> tensor<4x4x2xi1>
  %1:3 = plan.call "aten.where.default"(%0) {condition = #base.operand<0>} : (tensor<4x4x2xi1>) -> (!numbers, !numbers, !numbers)
  // expected-error @below {{the shape of 'aten.index.Tensor' depends on data, in a form that is not known for experts}}
  // expected-note @below {{it is 'aten.index.Tensor' in the root module}}
  // expected-note @below {{help: use operations}}
  %2 = plan.call "aten.index.Tensor"(%x, %1#1, %1#0) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]} : (tensor<4x4x8xf32>, !numbers, !numbers) -> !rows
  %3 = plan.call "aten.index_put.default"(%x, %1#0, %1#1, %2) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>], values = #base.operand<3>} : (tensor<4x4x8xf32>, !numbers, !numbers, !rows) -> tensor<4x4x8xf32>
  return %3 : tensor<4x4x8xf32>
}

// -----

!rows = tensor<1099511627776x4x8xf32>
!numbers = tensor<1099511627776xi64>

// The samples of tokens are not the tokens.
func.func @samples(%x: tensor<4x4x8xf32>, %ids: tensor<4x4x2xi64>) -> tensor<4x4x8xf32> {
  %0 = plan.call "aten.eq.Scalar"(%ids) {self = #base.operand<0>, other = 1 : i64} : (tensor<4x4x2xi64>) -> tensor<4x4x2xi1>
  %1:3 = plan.call "aten.where.default"(%0) {condition = #base.operand<0>} : (tensor<4x4x2xi1>) -> (!numbers, !numbers, !numbers)
  // expected-error @below {{the shape of 'aten.index.Tensor' depends on data, in a form that is not known for experts}}
  // expected-note @below {{it is 'aten.index.Tensor' in the root module}}
  // expected-note @below {{help: use operations}}
  %2 = plan.call "aten.index.Tensor"(%x, %1#0) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<4x4x8xf32>, !numbers) -> !rows
  %3 = plan.call "aten.index_add.default"(%x, %1#0, %2) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} : (tensor<4x4x8xf32>, !numbers, !rows) -> tensor<4x4x8xf32>
  return %3 : tensor<4x4x8xf32>
}

// -----

!numbers = tensor<1099511627776xi64>

// A chosen gate may be 0: the model then leaves its token out, and the gate has no gradient.
func.func @chosen_zeros(%x: tensor<6x8xf32>, %scores: tensor<6x3xf32>) -> tensor<6x8xf32> {
  %none = plan.call "aten.zeros.default"() {size = [6, 3], dtype = f32} : () -> tensor<6x3xf32>
  %0:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2 : i64} : (tensor<6x3xf32>) -> (tensor<6x2xf32>, tensor<6x2xi64>)
  %1 = plan.call "aten.scatter.src"(%none, %0#1, %0#0) {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, src = #base.operand<2>} : (tensor<6x3xf32>, tensor<6x2xi64>, tensor<6x2xf32>) -> tensor<6x3xf32>
  %2 = plan.call "aten.select.int"(%1) {self = #base.operand<0>, dim = 1 : i64, index = 1 : i64} : (tensor<6x3xf32>) -> tensor<6xf32>
  %3 = plan.call "aten.gt.Scalar"(%2) {self = #base.operand<0>, other = 0 : i64} : (tensor<6xf32>) -> tensor<6xi1>
  // expected-error @below {{the shape of 'aten.where.default' depends on data, in a form that is not known for experts}}
  // expected-note @below {{it is 'aten.where.default' in the root module}}
  // expected-note @below {{help: use operations}}
  %4 = plan.call "aten.where.default"(%3) {condition = #base.operand<0>} : (tensor<6xi1>) -> !numbers
  %5 = plan.call "aten.index.Tensor"(%x, %4) {self = #base.operand<0>, indices = [#base.operand<1>]} : (tensor<6x8xf32>, !numbers) -> tensor<1099511627776x8xf32>
  %6 = plan.call "aten.index_put.default"(%x, %4, %5) {self = #base.operand<0>, indices = [#base.operand<1>], values = #base.operand<2>} : (tensor<6x8xf32>, !numbers, tensor<1099511627776x8xf32>) -> tensor<6x8xf32>
  return %6 : tensor<6x8xf32>
}

// -----

!rows = tensor<1099511627776x8xf32>
!numbers = tensor<1099511627776xi64>

// Pairs in order of slots and pairs in order of tokens are not the same rows.
func.func @orders(%x: tensor<6x8xf32>, %gates: tensor<6x2xf32>, %ids: tensor<6x2xi64>) -> tensor<6x8xf32> {
  %0 = plan.call "aten.eq.Scalar"(%ids) {self = #base.operand<0>, other = 1 : i64} : (tensor<6x2xi64>) -> tensor<6x2xi1>
  %1:2 = plan.call "aten.where.default"(%0) {condition = #base.operand<0>} : (tensor<6x2xi1>) -> (!numbers, !numbers)
  %2 = plan.call "aten.t.default"(%0) {self = #base.operand<0>} : (tensor<6x2xi1>) -> tensor<2x6xi1>
  %3:2 = plan.call "aten.where.default"(%2) {condition = #base.operand<0>} : (tensor<2x6xi1>) -> (!numbers, !numbers)
  // expected-error @below {{the shape of 'aten.index.Tensor' depends on data, in a form that is not known for experts}}
  // expected-note @below {{it is 'aten.index.Tensor' in the root module}}
  // expected-note @below {{help: use operations}}
  %4 = plan.call "aten.index.Tensor"(%gates, %1#0, %3#0) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]} : (tensor<6x2xf32>, !numbers, !numbers) -> tensor<1099511627776xf32>
  %5 = plan.call "aten.unsqueeze.default"(%4) {self = #base.operand<0>, dim = -1 : i64} : (tensor<1099511627776xf32>) -> tensor<1099511627776x1xf32>
  %6 = plan.call "aten.index_add.default"(%x, %1#0, %5) {self = #base.operand<0>, dim = 0 : i64, index = #base.operand<1>, source = #base.operand<2>} : (tensor<6x8xf32>, !numbers, tensor<1099511627776x1xf32>) -> tensor<6x8xf32>
  return %6 : tensor<6x8xf32>
}
