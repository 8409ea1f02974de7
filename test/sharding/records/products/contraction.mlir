// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of matrix products: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @linear(%0: tensor<2x6x12xf32>, %1: tensor<6x12xf32>) -> tensor<2x6x6xf32> {
  %r = plan.call "aten.linear.default"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>}
    : (tensor<2x6x12xf32>, tensor<6x12xf32>) -> tensor<2x6x6xf32>
  return %r : tensor<2x6x6xf32>
}

func.func @linear_bias(%0: tensor<4x12xf32>, %1: tensor<6x12xf32>, %2: tensor<6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.linear.default"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>}
    : (tensor<4x12xf32>, tensor<6x12xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @linear_of_vector(%0: tensor<12xf32>, %1: tensor<6x12xf32>) -> tensor<6xf32> {
  %r = plan.call "aten.linear.default"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>}
    : (tensor<12xf32>, tensor<6x12xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @linear_one_feature(%0: tensor<4x6x12xf32>, %1: tensor<1x12xf32>) -> tensor<4x6x1xf32> {
  %r = plan.call "aten.linear.default"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>}
    : (tensor<4x6x12xf32>, tensor<1x12xf32>) -> tensor<4x6x1xf32>
  return %r : tensor<4x6x1xf32>
}

func.func @mm(%0: tensor<4x12xf32>, %1: tensor<12x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.mm.default"(%0, %1) {self = #base.operand<0>, mat2 = #base.operand<1>}
    : (tensor<4x12xf32>, tensor<12x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @bmm(%0: tensor<6x4x12xf32>, %1: tensor<6x12x2xf32>) -> tensor<6x4x2xf32> {
  %r = plan.call "aten.bmm.default"(%0, %1) {self = #base.operand<0>, mat2 = #base.operand<1>}
    : (tensor<6x4x12xf32>, tensor<6x12x2xf32>) -> tensor<6x4x2xf32>
  return %r : tensor<6x4x2xf32>
}

func.func @matmul_matrices(%0: tensor<4x12xf32>, %1: tensor<12x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.matmul.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x12xf32>, tensor<12x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @matmul_batched(%0: tensor<2x6x4x12xf32>, %1: tensor<2x6x12x4xf32>) -> tensor<2x6x4x4xf32> {
  %r = plan.call "aten.matmul.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<2x6x4x12xf32>, tensor<2x6x12x4xf32>) -> tensor<2x6x4x4xf32>
  return %r : tensor<2x6x4x4xf32>
}

func.func @matmul_broadcast(%0: tensor<4x1x2x12xf32>, %1: tensor<6x12x4xf32>) -> tensor<4x6x2x4xf32> {
  %r = plan.call "aten.matmul.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x1x2x12xf32>, tensor<6x12x4xf32>) -> tensor<4x6x2x4xf32>
  return %r : tensor<4x6x2x4xf32>
}

func.func @matmul_weight(%0: tensor<2x6x12xf32>, %1: tensor<12x4xf32>) -> tensor<2x6x4xf32> {
  %r = plan.call "aten.matmul.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<2x6x12xf32>, tensor<12x4xf32>) -> tensor<2x6x4xf32>
  return %r : tensor<2x6x4xf32>
}

func.func @matmul_vector_left(%0: tensor<12xf32>, %1: tensor<6x12x4xf32>) -> tensor<6x4xf32> {
  %r = plan.call "aten.matmul.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<12xf32>, tensor<6x12x4xf32>) -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}

func.func @matmul_vector_right(%0: tensor<6x4x12xf32>, %1: tensor<12xf32>) -> tensor<6x4xf32> {
  %r = plan.call "aten.matmul.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<6x4x12xf32>, tensor<12xf32>) -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}

func.func @matmul_vectors(%0: tensor<12xf32>, %1: tensor<12xf32>) -> tensor<f32> {
  %r = plan.call "aten.matmul.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<12xf32>, tensor<12xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @matmul_outer(%0: tensor<1x6x1xf32>, %1: tensor<4x1x12xf32>) -> tensor<4x6x12xf32> {
  %r = plan.call "aten.matmul.default"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<1x6x1xf32>, tensor<4x1x12xf32>) -> tensor<4x6x12xf32>
  return %r : tensor<4x6x12xf32>
}

func.func @addmm(%0: tensor<6xf32>, %1: tensor<4x12xf32>, %2: tensor<12x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.addmm.default"(%0, %1, %2) {self = #base.operand<0>, mat1 = #base.operand<1>, mat2 = #base.operand<2>}
    : (tensor<6xf32>, tensor<4x12xf32>, tensor<12x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @addmm_scaled(%0: tensor<4x6xf32>, %1: tensor<4x12xf32>, %2: tensor<12x6xf32>) -> tensor<4x6xf32> {
  %r = plan.call "aten.addmm.default"(%0, %1, %2) {self = #base.operand<0>, mat1 = #base.operand<1>, mat2 = #base.operand<2>, beta = 0.5 : f64, alpha = 2.0 : f64}
    : (tensor<4x6xf32>, tensor<4x12xf32>, tensor<12x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @baddbmm(%0: tensor<6x1x4xf32>, %1: tensor<6x2x12xf32>, %2: tensor<6x12x4xf32>) -> tensor<6x2x4xf32> {
  %r = plan.call "aten.baddbmm.default"(%0, %1, %2) {self = #base.operand<0>, batch1 = #base.operand<1>, batch2 = #base.operand<2>}
    : (tensor<6x1x4xf32>, tensor<6x2x12xf32>, tensor<6x12x4xf32>) -> tensor<6x2x4xf32>
  return %r : tensor<6x2x4xf32>
}

func.func @baddbmm_scaled(%0: tensor<6x2x4xf32>, %1: tensor<6x2x12xf32>, %2: tensor<6x12x4xf32>) -> tensor<6x2x4xf32> {
  %r = plan.call "aten.baddbmm.default"(%0, %1, %2) {self = #base.operand<0>, batch1 = #base.operand<1>, batch2 = #base.operand<2>, beta = 0.0 : f64, alpha = 0.125 : f64}
    : (tensor<6x2x4xf32>, tensor<6x2x12xf32>, tensor<6x12x4xf32>) -> tensor<6x2x4xf32>
  return %r : tensor<6x2x4xf32>
}

func.func @grouped_rows(%0: tensor<6x4xf32>, %1: tensor<2x4x12xf32>, %2: tensor<2xi64> {sample.range = [4 : i64, 5 : i64]}) -> tensor<6x12xf32> {
  %r = plan.call "meshplan.grouped_mm"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, offs = #base.operand<2>}
    : (tensor<6x4xf32>, tensor<2x4x12xf32>, tensor<2xi64>) -> tensor<6x12xf32>
  return %r : tensor<6x12xf32>
}

func.func @grouped_mm(%0: tensor<6x16xbf16>, %1: tensor<1x16x48xbf16>, %2: tensor<1xi32> {sample.range = [6 : i64, 7 : i64]}) -> tensor<6x48xbf16> {
  %r = plan.call "aten._grouped_mm.default"(%0, %1, %2) {self = #base.operand<0>, mat2 = #base.operand<1>, offs = #base.operand<2>}
    : (tensor<6x16xbf16>, tensor<1x16x48xbf16>, tensor<1xi32>) -> tensor<6x48xbf16>
  return %r : tensor<6x48xbf16>
}

func.func @einsum_scores(%0: tensor<2x6x3x4xf32>, %1: tensor<2x5x3x4xf32>) -> tensor<2x3x6x5xf32> {
  %r = plan.call "aten.einsum.default"(%0, %1)
    {equation = "bqhd,bkhd->bhqk", tensors = [#base.operand<0>, #base.operand<1>]}
    : (tensor<2x6x3x4xf32>, tensor<2x5x3x4xf32>) -> tensor<2x3x6x5xf32>
  return %r : tensor<2x3x6x5xf32>
}

func.func @einsum_implied_result(%0: tensor<6x4xf32>, %1: tensor<4x12xf32>) -> tensor<6x12xf32> {
  %r = plan.call "aten.einsum.default"(%0, %1) {equation = "ij, jk", tensors = [#base.operand<0>, #base.operand<1>]}
    : (tensor<6x4xf32>, tensor<4x12xf32>) -> tensor<6x12xf32>
  return %r : tensor<6x12xf32>
}

func.func @einsum_three(%0: tensor<6x4xf32>, %1: tensor<4x12xf32>, %2: tensor<12xf32>) -> tensor<12x6xf32> {
  %r = plan.call "aten.einsum.default"(%0, %1, %2)
    {equation = "ij,jk,k->ki", tensors = [#base.operand<0>, #base.operand<1>, #base.operand<2>]}
    : (tensor<6x4xf32>, tensor<4x12xf32>, tensor<12xf32>) -> tensor<12x6xf32>
  return %r : tensor<12x6xf32>
}

func.func @einsum_of_one(%0: tensor<6x4xf32>) -> tensor<4xf32> {
  %r = plan.call "aten.einsum.default"(%0) {equation = "ij->j", tensors = [#base.operand<0>]}
    : (tensor<6x4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @einsum_diagonal(%0: tensor<6x6xf32>, %1: tensor<6xf32>) -> tensor<6xf32> {
  %r = plan.call "aten.einsum.default"(%0, %1) {equation = "ii,i->i", tensors = [#base.operand<0>, #base.operand<1>]}
    : (tensor<6x6xf32>, tensor<6xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @row_major_linear(%0: tensor<2x6x12xbf16>, %1: tensor<6x12xbf16>, %2: tensor<6xbf16>) -> tensor<2x6x6xbf16> {
  %r = plan.call "meshplan.linear"(%0, %1, %2) {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>}
    : (tensor<2x6x12xbf16>, tensor<6x12xbf16>, tensor<6xbf16>) -> tensor<2x6x6xbf16>
  return %r : tensor<2x6x6xbf16>
}

func.func @linear_f32(%0: tensor<2x6x12xbf16>, %1: tensor<6x12xbf16>) -> tensor<2x6x6xf32> {
  %r = plan.call "meshplan.linear_f32"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>}
    : (tensor<2x6x12xbf16>, tensor<6x12xbf16>) -> tensor<2x6x6xf32>
  return %r : tensor<2x6x6xf32>
}

func.func @linear_f32_rows(%0: tensor<4x12xbf16>, %1: tensor<6x12xbf16>) -> tensor<4x6xf32> {
  %r = plan.call "meshplan.linear_f32"(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>}
    : (tensor<4x12xbf16>, tensor<6x12xbf16>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @matmul_f32(%0: tensor<4x12xf16>, %1: tensor<12x6xf16>) -> tensor<4x6xf32> {
  %r = plan.call "meshplan.matmul_f32"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<4x12xf16>, tensor<12x6xf16>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @matmul_f32_batch(%0: tensor<6x4x12xbf16>, %1: tensor<6x12x2xbf16>) -> tensor<6x4x2xf32> {
  %r = plan.call "meshplan.matmul_f32"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<6x4x12xbf16>, tensor<6x12x2xbf16>) -> tensor<6x4x2xf32>
  return %r : tensor<6x4x2xf32>
}

func.func @matmul_f32_broadcast(%0: tensor<2x6x4x12xbf16>, %1: tensor<6x12x2xbf16>) -> tensor<2x6x4x2xf32> {
  %r = plan.call "meshplan.matmul_f32"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
    : (tensor<2x6x4x12xbf16>, tensor<6x12x2xbf16>) -> tensor<2x6x4x2xf32>
  return %r : tensor<2x6x4x2xf32>
}
