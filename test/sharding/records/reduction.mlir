// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of reductions and scans: one call in a function each. The differential test runs each under
// every sharding that its record allows. sample.range = [low, high) bounds the elements of an input.

func.func @sum(%0: tensor<4x6xf32>) -> tensor<f32> {
  %r = plan.call "aten.sum.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @sum_of_flags(%0: tensor<4x6xi1>) -> tensor<i64> {
  %r = plan.call "aten.sum.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xi1>) -> tensor<i64>
  return %r : tensor<i64>
}

func.func @sum_dims(%0: tensor<2x6x12xf32>) -> tensor<6xf32> {
  %r = plan.call "aten.sum.dim_IntList"(%0) {self = #base.operand<0>, dim = [0 : i64, -1 : i64]}
    : (tensor<2x6x12xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @sum_keepdim(%0: tensor<2x6x12xf32>) -> tensor<2x1x12xf32> {
  %r = plan.call "aten.sum.dim_IntList"(%0) {self = #base.operand<0>, dim = [1 : i64], keepdim = true}
    : (tensor<2x6x12xf32>) -> tensor<2x1x12xf32>
  return %r : tensor<2x1x12xf32>
}

func.func @sum_widened(%0: tensor<4x6xbf16>) -> tensor<6xf32> {
  %r = plan.call "aten.sum.dim_IntList"(%0) {self = #base.operand<0>, dim = [0 : i64], dtype = f32}
    : (tensor<4x6xbf16>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @mean(%0: tensor<4x6xf32>) -> tensor<f32> {
  %r = plan.call "aten.mean.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @mean_last(%0: tensor<2x6x12xf32>) -> tensor<2x6x1xf32> {
  %r = plan.call "aten.mean.dim"(%0) {self = #base.operand<0>, dim = [-1 : i64], keepdim = true}
    : (tensor<2x6x12xf32>) -> tensor<2x6x1xf32>
  return %r : tensor<2x6x1xf32>
}

func.func @mean_dims(%0: tensor<2x6x12xf32>) -> tensor<2xf32> {
  %r = plan.call "aten.mean.dim"(%0) {self = #base.operand<0>, dim = [1 : i64, 2 : i64]}
    : (tensor<2x6x12xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @amax(%0: tensor<2x6x12xf32>) -> tensor<2x6xf32> {
  %r = plan.call "aten.amax.default"(%0) {self = #base.operand<0>, dim = [-1 : i64]}
    : (tensor<2x6x12xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

func.func @amax_all(%0: tensor<4x6xf32>) -> tensor<f32> {
  %r = plan.call "aten.amax.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @amin(%0: tensor<4x6xf32>) -> tensor<1x6xf32> {
  %r = plan.call "aten.amin.default"(%0) {self = #base.operand<0>, dim = [0 : i64], keepdim = true}
    : (tensor<4x6xf32>) -> tensor<1x6xf32>
  return %r : tensor<1x6xf32>
}

func.func @max(%0: tensor<4x6xf32>) -> tensor<f32> {
  %r = plan.call "aten.max.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @min(%0: tensor<4x6xf32>) -> tensor<f32> {
  %r = plan.call "aten.min.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @max_dim(%0: tensor<4x6xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %r:2 = plan.call "aten.max.dim"(%0) {self = #base.operand<0>, dim = 1 : i64}
    : (tensor<4x6xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
}

func.func @min_dim(%0: tensor<4x6xf32>) -> (tensor<1x6xf32>, tensor<1x6xi64>) {
  %r:2 = plan.call "aten.min.dim"(%0) {self = #base.operand<0>, dim = 0 : i64, keepdim = true}
    : (tensor<4x6xf32>) -> (tensor<1x6xf32>, tensor<1x6xi64>)
  return %r#0, %r#1 : tensor<1x6xf32>, tensor<1x6xi64>
}

func.func @all_dim(%0: tensor<4x6xi1>) -> tensor<6xi1> {
  %r = plan.call "aten.all.dim"(%0) {self = #base.operand<0>, dim = 0 : i64}
    : (tensor<4x6xi1>) -> tensor<6xi1>
  return %r : tensor<6xi1>
}

func.func @diff(%0: tensor<4x6xi64> {sample.range = [0 : i64, 9 : i64]}) -> tensor<4x5xi64> {
  %r = plan.call "aten.diff.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xi64>) -> tensor<4x5xi64>
  return %r : tensor<4x5xi64>
}

func.func @diff_prepended(%0: tensor<4x6xi64> {sample.range = [0 : i64, 9 : i64]}, %1: tensor<4x1xi64> {sample.range = [0 : i64, 9 : i64]}) -> tensor<4x6xi64> {
  %r = plan.call "aten.diff.default"(%0, %1) {self = #base.operand<0>, n = 1 : i64, dim = 1 : i64, prepend = #base.operand<1>}
    : (tensor<4x6xi64>, tensor<4x1xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @argmax(%0: tensor<4x6xf32>) -> tensor<4xi64> {
  %r = plan.call "aten.argmax.default"(%0) {self = #base.operand<0>, dim = -1 : i64}
    : (tensor<4x6xf32>) -> tensor<4xi64>
  return %r : tensor<4xi64>
}

func.func @argmax_all(%0: tensor<4x6xf32>) -> tensor<i64> {
  %r = plan.call "aten.argmax.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<i64>
  return %r : tensor<i64>
}

func.func @any(%0: tensor<4x6xi1>) -> tensor<i1> {
  %r = plan.call "aten.any.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xi1>) -> tensor<i1>
  return %r : tensor<i1>
}

func.func @all(%0: tensor<4x6xi1>) -> tensor<i1> {
  %r = plan.call "aten.all.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xi1>) -> tensor<i1>
  return %r : tensor<i1>
}

func.func @any_dim(%0: tensor<4x6xi1>) -> tensor<4xi1> {
  %r = plan.call "aten.any.dim"(%0) {self = #base.operand<0>, dim = -1 : i64}
    : (tensor<4x6xi1>) -> tensor<4xi1>
  return %r : tensor<4xi1>
}

func.func @cumsum(%0: tensor<4x6xi64> {sample.range = [0 : i64, 2 : i64]}) -> tensor<4x6xi64> {
  %r = plan.call "aten.cumsum.default"(%0) {self = #base.operand<0>, dim = -1 : i64}
    : (tensor<4x6xi64>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @cumsum_floats(%0: tensor<4x6x2xf32>) -> tensor<4x6x2xf32> {
  %r = plan.call "aten.cumsum.default"(%0) {self = #base.operand<0>, dim = 1 : i64}
    : (tensor<4x6x2xf32>) -> tensor<4x6x2xf32>
  return %r : tensor<4x6x2xf32>
}

func.func @argmin(%0: tensor<4x6xf32>) -> tensor<4x1xi64> {
  %r = plan.call "aten.argmin.default"(%0) {self = #base.operand<0>, dim = 1 : i64, keepdim = true}
    : (tensor<4x6xf32>) -> tensor<4x1xi64>
  return %r : tensor<4x1xi64>
}

func.func @mean_widened(%0: tensor<4x6xbf16>) -> tensor<4xf32> {
  %r = plan.call "aten.mean.dim"(%0) {self = #base.operand<0>, dim = [1 : i64], dtype = f32}
    : (tensor<4x6xbf16>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @mean_uneven(%0: tensor<2x5xf32>) -> tensor<2x1xf32> {
  %r = plan.call "aten.mean.dim"(%0) {self = #base.operand<0>, dim = [1 : i64], keepdim = true}
    : (tensor<2x5xf32>) -> tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}

func.func @sort(%0: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xi64>) {
  %r:2 = plan.call "aten.sort.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xi64>)
  return %r#0, %r#1 : tensor<4x6xf32>, tensor<4x6xi64>
}

func.func @stable_sort(%0: tensor<4x6xi64>) -> (tensor<4x6xi64>, tensor<4x6xi64>) {
  %r:2 = plan.call "aten.sort.stable"(%0) {self = #base.operand<0>, stable = true, dim = 0 : i64, descending = true}
    : (tensor<4x6xi64>) -> (tensor<4x6xi64>, tensor<4x6xi64>)
  return %r#0, %r#1 : tensor<4x6xi64>, tensor<4x6xi64>
}

func.func @argsort(%0: tensor<4x6xf32>) -> tensor<4x6xi64> {
  %r = plan.call "aten.argsort.default"(%0) {self = #base.operand<0>, dim = 1 : i64}
    : (tensor<4x6xf32>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}

func.func @topk(%0: tensor<12x6xf32>) -> (tensor<12x2xf32>, tensor<12x2xi64>) {
  %r:2 = plan.call "aten.topk.default"(%0) {self = #base.operand<0>, k = 2 : i64, dim = -1 : i64}
    : (tensor<12x6xf32>) -> (tensor<12x2xf32>, tensor<12x2xi64>)
  return %r#0, %r#1 : tensor<12x2xf32>, tensor<12x2xi64>
}

func.func @histogram(%0: tensor<4x6xf32> {sample.range = [0 : i64, 4 : i64]}) -> tensor<4xf32> {
  %r = plan.call "aten.histc.default"(%0) {self = #base.operand<0>, bins = 4 : i64, min = 0 : i64, max = 3 : i64}
    : (tensor<4x6xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @histogram_of_all(%0: tensor<12xf32>) -> tensor<4xf32> {
  %r = plan.call "aten.histc.default"(%0) {self = #base.operand<0>, bins = 4 : i64}
    : (tensor<12xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @counts(%0: tensor<12xi64> {sample.range = [0 : i64, 4 : i64]}) -> tensor<4xi64> {
  %r = plan.call "aten.bincount.default"(%0) {self = #base.operand<0>, minlength = 4 : i64}
    : (tensor<12xi64>) -> tensor<4xi64>
  return %r : tensor<4xi64>
}

func.func @counts_of_few(%0: tensor<5xi64> {sample.range = [0 : i64, 2 : i64]}) -> tensor<6xi64> {
  %r = plan.call "aten.bincount.default"(%0) {self = #base.operand<0>, minlength = 6 : i64}
    : (tensor<5xi64>) -> tensor<6xi64>
  return %r : tensor<6xi64>
}

func.func @weighed_counts(%0: tensor<12xi64> {sample.range = [0 : i64, 4 : i64]}, %1: tensor<12xf32>) -> tensor<4xf32> {
  %r = plan.call "aten.bincount.default"(%0, %1)
      {self = #base.operand<0>, weights = #base.operand<1>, minlength = 4 : i64}
    : (tensor<12xi64>, tensor<12xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @counts_to_double(%0: tensor<12xi64> {sample.range = [0 : i64, 4 : i64]}, %1: tensor<12xi64>)
    -> tensor<4xf64> {
  %r = plan.call "aten.bincount.default"(%0, %1)
      {self = #base.operand<0>, weights = #base.operand<1>, minlength = 4 : i64}
    : (tensor<12xi64>, tensor<12xi64>) -> tensor<4xf64>
  return %r : tensor<4xf64>
}

// The number of counts is that of the largest element, here always 0.
func.func @counts_of_all(%0: tensor<12xi64> {sample.range = [0 : i64, 1 : i64]}) -> tensor<1xi64> {
  %r = plan.call "aten.bincount.default"(%0) {self = #base.operand<0>}
    : (tensor<12xi64>) -> tensor<1xi64>
  return %r : tensor<1xi64>
}

func.func @mean_addend(%0: tensor<4x6xf32>) -> tensor<4x1xf32> {
  %r = plan.call "meshplan.mean_addend"(%0) {self = #base.operand<0>, dim = [1 : i64], keepdim = true, count = 12 : i64}
    : (tensor<4x6xf32>) -> tensor<4x1xf32>
  return %r : tensor<4x1xf32>
}

func.func @aminmax(%0: tensor<2x6x12xf32>) -> (tensor<2x12xf32>, tensor<2x12xf32>) {
  %r:2 = plan.call "aten.aminmax.default"(%0) {self = #base.operand<0>, dim = 1 : i64}
    : (tensor<2x6x12xf32>) -> (tensor<2x12xf32>, tensor<2x12xf32>)
  return %r#0, %r#1 : tensor<2x12xf32>, tensor<2x12xf32>
}

func.func @aminmax_keepdim(%0: tensor<4x6xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>) {
  %r:2 = plan.call "aten.aminmax.default"(%0) {self = #base.operand<0>, dim = -1 : i64, keepdim = true}
    : (tensor<4x6xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>)
  return %r#0, %r#1 : tensor<4x1xf32>, tensor<4x1xf32>
}

func.func @median(%0: tensor<5x6xf32>) -> tensor<f32> {
  %r = plan.call "aten.median.default"(%0) {self = #base.operand<0>}
    : (tensor<5x6xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @median_dim(%0: tensor<4x6xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %r:2 = plan.call "aten.median.dim"(%0) {self = #base.operand<0>, dim = -1 : i64}
    : (tensor<4x6xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
}

func.func @median_keepdim(%0: tensor<4x6xf32>) -> (tensor<1x6xf32>, tensor<1x6xi64>) {
  %r:2 = plan.call "aten.median.dim"(%0) {self = #base.operand<0>, dim = 0 : i64, keepdim = true}
    : (tensor<4x6xf32>) -> (tensor<1x6xf32>, tensor<1x6xi64>)
  return %r#0, %r#1 : tensor<1x6xf32>, tensor<1x6xi64>
}

func.func @prod(%0: tensor<4x6xf32>) -> tensor<f32> {
  %r = plan.call "aten.prod.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @prod_dim(%0: tensor<2x6x12xf32>) -> tensor<2x12xf32> {
  %r = plan.call "aten.prod.dim_int"(%0) {self = #base.operand<0>, dim = 1 : i64}
    : (tensor<2x6x12xf32>) -> tensor<2x12xf32>
  return %r : tensor<2x12xf32>
}

func.func @prod_keepdim(%0: tensor<4x6xf32>) -> tensor<4x1xf32> {
  %r = plan.call "aten.prod.dim_int"(%0) {self = #base.operand<0>, dim = -1 : i64, keepdim = true}
    : (tensor<4x6xf32>) -> tensor<4x1xf32>
  return %r : tensor<4x1xf32>
}

func.func @prod_of_integers(%0: tensor<4x6xi64> {sample.range = [1 : i64, 3 : i64]}) -> tensor<6xi64> {
  %r = plan.call "aten.prod.dim_int"(%0) {self = #base.operand<0>, dim = 0 : i64}
    : (tensor<4x6xi64>) -> tensor<6xi64>
  return %r : tensor<6xi64>
}

func.func @std_correction(%0: tensor<2x6x12xf32>) -> tensor<2xf32> {
  %r = plan.call "aten.std.correction"(%0) {self = #base.operand<0>, dim = [1 : i64, -1 : i64], correction = 0 : i64}
    : (tensor<2x6x12xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @std_correction_uneven(%0: tensor<5x6xf32>) -> tensor<5x1xf32> {
  %r = plan.call "aten.std.correction"(%0) {self = #base.operand<0>, dim = [-1 : i64], correction = 1.5 : f64, keepdim = true}
    : (tensor<5x6xf32>) -> tensor<5x1xf32>
  return %r : tensor<5x1xf32>
}

func.func @std_correction_all(%0: tensor<4x6xf32>) -> tensor<f32> {
  %r = plan.call "aten.std.correction"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @std_mean(%0: tensor<2x6x12xf32>) -> (tensor<2x12xf32>, tensor<2x12xf32>) {
  %r:2 = plan.call "aten.std_mean.correction"(%0) {self = #base.operand<0>, dim = [1 : i64], correction = 1 : i64}
    : (tensor<2x6x12xf32>) -> (tensor<2x12xf32>, tensor<2x12xf32>)
  return %r#0, %r#1 : tensor<2x12xf32>, tensor<2x12xf32>
}

func.func @std_mean_keepdim(%0: tensor<4x1x6xf32>) -> (tensor<4x1x1xf32>, tensor<4x1x1xf32>) {
  %r:2 = plan.call "aten.std_mean.correction"(%0) {self = #base.operand<0>, dim = [-1 : i64], keepdim = true}
    : (tensor<4x1x6xf32>) -> (tensor<4x1x1xf32>, tensor<4x1x1xf32>)
  return %r#0, %r#1 : tensor<4x1x1xf32>, tensor<4x1x1xf32>
}

func.func @var_correction(%0: tensor<2x6x12xf32>) -> tensor<2xf32> {
  %r = plan.call "aten.var.correction"(%0) {self = #base.operand<0>, dim = [1 : i64, -1 : i64], correction = 0 : i64}
    : (tensor<2x6x12xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @var_correction_uneven(%0: tensor<5x6xf32>) -> tensor<5x1xf32> {
  %r = plan.call "aten.var.correction"(%0) {self = #base.operand<0>, dim = [-1 : i64], correction = 1.5 : f64, keepdim = true}
    : (tensor<5x6xf32>) -> tensor<5x1xf32>
  return %r : tensor<5x1xf32>
}

func.func @var_correction_all(%0: tensor<4x6xf32>) -> tensor<f32> {
  %r = plan.call "aten.var.correction"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @var_mean(%0: tensor<2x6x12xf32>) -> (tensor<2x12xf32>, tensor<2x12xf32>) {
  %r:2 = plan.call "aten.var_mean.correction"(%0) {self = #base.operand<0>, dim = [1 : i64], correction = 1 : i64}
    : (tensor<2x6x12xf32>) -> (tensor<2x12xf32>, tensor<2x12xf32>)
  return %r#0, %r#1 : tensor<2x12xf32>, tensor<2x12xf32>
}

func.func @var_mean_keepdim(%0: tensor<4x1x6xf32>) -> (tensor<4x1x1xf32>, tensor<4x1x1xf32>) {
  %r:2 = plan.call "aten.var_mean.correction"(%0) {self = #base.operand<0>, dim = [-1 : i64], keepdim = true}
    : (tensor<4x1x6xf32>) -> (tensor<4x1x1xf32>, tensor<4x1x1xf32>)
  return %r#0, %r#1 : tensor<4x1x1xf32>, tensor<4x1x1xf32>
}

func.func @logsumexp(%0: tensor<2x6x12xf32>) -> tensor<2x6xf32> {
  %r = plan.call "aten.logsumexp.default"(%0) {self = #base.operand<0>, dim = [-1 : i64]}
    : (tensor<2x6x12xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

func.func @logsumexp_keepdim(%0: tensor<4x6x1xf32>) -> tensor<1x6x1xf32> {
  %r = plan.call "aten.logsumexp.default"(%0) {self = #base.operand<0>, dim = [0 : i64, -1 : i64], keepdim = true}
    : (tensor<4x6x1xf32>) -> tensor<1x6x1xf32>
  return %r : tensor<1x6x1xf32>
}

func.func @vector_norm(%0: tensor<2x6x12xf32>) -> tensor<2x6x1xf32> {
  %r = plan.call "aten.linalg_vector_norm.default"(%0) {self = #base.operand<0>, ord = 2 : i64, dim = [-1 : i64], keepdim = true}
    : (tensor<2x6x12xf32>) -> tensor<2x6x1xf32>
  return %r : tensor<2x6x1xf32>
}

func.func @vector_norm_of_sums(%0: tensor<4x6xf32>) -> tensor<6xf32> {
  %r = plan.call "aten.linalg_vector_norm.default"(%0) {self = #base.operand<0>, ord = 1 : i64, dim = [0 : i64]}
    : (tensor<4x6xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @vector_norm_all(%0: tensor<4x6xf32>) -> tensor<f32> {
  %r = plan.call "aten.linalg_vector_norm.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @vector_norm_uneven(%0: tensor<5x6xf32>) -> tensor<5xf32> {
  %r = plan.call "aten.linalg_vector_norm.default"(%0) {self = #base.operand<0>, ord = 3.0 : f64, dim = [1 : i64]}
    : (tensor<5x6xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

func.func @norm(%0: tensor<4x6xf32>) -> tensor<f32> {
  %r = plan.call "aten.norm.Scalar"(%0) {self = #base.operand<0>, p = 2 : i64}
    : (tensor<4x6xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @norm_dim(%0: tensor<2x6x12xf32>) -> tensor<2x12xf32> {
  %r = plan.call "aten.norm.ScalarOpt_dim"(%0) {self = #base.operand<0>, p = 2 : i64, dim = [1 : i64]}
    : (tensor<2x6x12xf32>) -> tensor<2x12xf32>
  return %r : tensor<2x12xf32>
}

func.func @norm_keepdim(%0: tensor<4x6xf32>) -> tensor<4x1xf32> {
  %r = plan.call "aten.norm.ScalarOpt_dim"(%0) {self = #base.operand<0>, p = 1 : i64, dim = [-1 : i64], keepdim = true}
    : (tensor<4x6xf32>) -> tensor<4x1xf32>
  return %r : tensor<4x1xf32>
}

func.func @count_nonzero(%0: tensor<4x6xi64> {sample.range = [0 : i64, 3 : i64]}) -> tensor<i64> {
  %r = plan.call "aten.count_nonzero.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xi64>) -> tensor<i64>
  return %r : tensor<i64>
}

func.func @count_nonzero_dim(%0: tensor<4x6xi64> {sample.range = [0 : i64, 3 : i64]}) -> tensor<4xi64> {
  %r = plan.call "aten.count_nonzero.default"(%0) {self = #base.operand<0>, dim = 1 : i64}
    : (tensor<4x6xi64>) -> tensor<4xi64>
  return %r : tensor<4xi64>
}

func.func @count_nonzero_dims(%0: tensor<2x6x5xi64> {sample.range = [0 : i64, 2 : i64]}) -> tensor<6xi64> {
  %r = plan.call "aten.count_nonzero.dim_IntList"(%0) {self = #base.operand<0>, dim = [0 : i64, -1 : i64]}
    : (tensor<2x6x5xi64>) -> tensor<6xi64>
  return %r : tensor<6xi64>
}

func.func @cumprod(%0: tensor<4x6x2xf32>) -> tensor<4x6x2xf32> {
  %r = plan.call "aten.cumprod.default"(%0) {self = #base.operand<0>, dim = 1 : i64}
    : (tensor<4x6x2xf32>) -> tensor<4x6x2xf32>
  return %r : tensor<4x6x2xf32>
}

func.func @cummax(%0: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xi64>) {
  %r:2 = plan.call "aten.cummax.default"(%0) {self = #base.operand<0>, dim = -1 : i64}
    : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xi64>)
  return %r#0, %r#1 : tensor<4x6xf32>, tensor<4x6xi64>
}

func.func @cummin(%0: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xi64>) {
  %r:2 = plan.call "aten.cummin.default"(%0) {self = #base.operand<0>, dim = 0 : i64}
    : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xi64>)
  return %r#0, %r#1 : tensor<4x6xf32>, tensor<4x6xi64>
}

func.func @logcumsumexp(%0: tensor<4x6x2xf32>) -> tensor<4x6x2xf32> {
  %r = plan.call "aten.logcumsumexp.default"(%0) {self = #base.operand<0>, dim = 1 : i64}
    : (tensor<4x6x2xf32>) -> tensor<4x6x2xf32>
  return %r : tensor<4x6x2xf32>
}

func.func @nansum(%0: tensor<4x6x2xf32>) -> tensor<4x2xf32> {
  %r = plan.call "aten.nansum.default"(%0) {self = #base.operand<0>, dim = [1 : i64]}
    : (tensor<4x6x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

func.func @nansum_all(%0: tensor<4x5xf32>) -> tensor<f32> {
  %r = plan.call "aten.nansum.default"(%0) {self = #base.operand<0>}
    : (tensor<4x5xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @kthvalue(%0: tensor<4x6xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %r:2 = plan.call "aten.kthvalue.default"(%0) {self = #base.operand<0>, k = 2 : i64, dim = -1 : i64}
    : (tensor<4x6xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
}

func.func @mode(%0: tensor<4x6xi64> {sample.range = [0 : i64, 3 : i64]}) -> (tensor<1x6xi64>, tensor<1x6xi64> {sample.unspecified}) {
  %r:2 = plan.call "aten.mode.default"(%0) {self = #base.operand<0>, dim = 0 : i64, keepdim = true}
    : (tensor<4x6xi64>) -> (tensor<1x6xi64>, tensor<1x6xi64>)
  return %r#0, %r#1 : tensor<1x6xi64>, tensor<1x6xi64>
}

func.func @linalg_norm(%0: tensor<2x6x12xf32>) -> tensor<2x6xf32> {
  %r = plan.call "aten.linalg_norm.default"(%0) {self = #base.operand<0>, dim = [-1 : i64]}
    : (tensor<2x6x12xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

func.func @linalg_norm_all(%0: tensor<4x6xf32>) -> tensor<f32> {
  %r = plan.call "aten.linalg_norm.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @any_dims(%0: tensor<4x6x2xi1>) -> tensor<6xi1> {
  %r = plan.call "aten.any.dims"(%0) {self = #base.operand<0>, dim = [0 : i64, -1 : i64]}
    : (tensor<4x6x2xi1>) -> tensor<6xi1>
  return %r : tensor<6xi1>
}

func.func @all_dims(%0: tensor<4x6x2xi1>) -> tensor<4x1x2xi1> {
  %r = plan.call "aten.all.dims"(%0) {self = #base.operand<0>, dim = [1 : i64], keepdim = true}
    : (tensor<4x6x2xi1>) -> tensor<4x1x2xi1>
  return %r : tensor<4x1x2xi1>
}

func.func @nanmean(%0: tensor<4x6xf32>) -> tensor<f32> {
  %r = plan.call "aten.nanmean.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @nanmean_last(%0: tensor<2x6x12xf32>) -> tensor<2x6x1xf32> {
  %r = plan.call "aten.nanmean.default"(%0) {self = #base.operand<0>, dim = [-1 : i64], keepdim = true}
    : (tensor<2x6x12xf32>) -> tensor<2x6x1xf32>
  return %r : tensor<2x6x1xf32>
}

func.func @trace(%0: tensor<4x6xf32>) -> tensor<f32> {
  %r = plan.call "aten.trace.default"(%0) {self = #base.operand<0>}
    : (tensor<4x6xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @argsort_stable(%0: tensor<4x6xf32>) -> tensor<4x6xi64> {
  %r = plan.call "aten.argsort.stable"(%0) {self = #base.operand<0>, stable = true, dim = 1 : i64}
    : (tensor<4x6xf32>) -> tensor<4x6xi64>
  return %r : tensor<4x6xi64>
}
