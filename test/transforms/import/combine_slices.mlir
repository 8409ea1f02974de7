// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-combine-slices | FileCheck %s

// CHECK-LABEL: @parts_in_any_order
// CHECK: %[[SPLIT:.*]]:3 = plan.call "aten.split_with_sizes.default"(%arg0) {dim = 1 : i64, self = #base.operand<0>, split_sizes = [8, 2, 2]} in "attn"
// CHECK: return %[[SPLIT]]#2, %[[SPLIT]]#0, %[[SPLIT]]#1
func.func @parts_in_any_order(%x: tensor<4x12xf32>) -> (tensor<4x2xf32>, tensor<4x8xf32>, tensor<4x2xf32>) {
  %v = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, dim = 1 : i64, start = 10 : i64} in "attn"
      : (tensor<4x12xf32>) -> tensor<4x2xf32>
  %q = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, dim = -1 : i64, end = 8 : i64} in "attn"
      : (tensor<4x12xf32>) -> tensor<4x8xf32>
  %k = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, dim = 1 : i64, start = -4 : i64, end = 10 : i64} in "attn"
      : (tensor<4x12xf32>) -> tensor<4x2xf32>
  return %v, %q, %k : tensor<4x2xf32>, tensor<4x8xf32>, tensor<4x2xf32>
}

// CHECK-LABEL: @a_gap_stays
// CHECK-NOT: split
func.func @a_gap_stays(%x: tensor<12xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, end = 4 : i64} : (tensor<12xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, start = 8 : i64} : (tensor<12xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @an_overlap_stays
// CHECK-NOT: split
func.func @an_overlap_stays(%x: tensor<12xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, end = 8 : i64} : (tensor<12xf32>) -> tensor<8xf32>
  %1 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, start = 4 : i64} : (tensor<12xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: @steps_stay
// CHECK-NOT: split
func.func @steps_stay(%x: tensor<12xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %0 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, step = 2 : i64} : (tensor<12xf32>) -> tensor<6xf32>
  %1 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, start = 1 : i64, step = 2 : i64}
      : (tensor<12xf32>) -> tensor<6xf32>
  return %0, %1 : tensor<6xf32>, tensor<6xf32>
}

// One slice of each dim: neither set tiles its dim.
// CHECK-LABEL: @other_dims_stay
// CHECK-NOT: split
func.func @other_dims_stay(%x: tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<4x2xf32>) {
  %0 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, end = 2 : i64} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %1 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, dim = 1 : i64, start = 2 : i64}
      : (tensor<4x4xf32>) -> tensor<4x2xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<4x2xf32>
}

// An archive may slice along a dim that the tensor or the result lacks.
// CHECK-LABEL: @no_such_dim_stays
// CHECK-NOT: split
func.func @no_such_dim_stays(%x: tensor<12xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) {
  %0 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, dim = 1 : i64} : (tensor<12xf32>) -> tensor<8xf32>
  %1 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, dim = -2 : i64} : (tensor<12xf32>) -> tensor<8xf32>
  %2 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>} : (tensor<12xf32>) -> tensor<f32>
  %3 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, dim = -9223372036854775808 : i64} : (tensor<12xf32>) -> tensor<8xf32>
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>
}

// The rest of a partial rotary embedding, and halves of the other part.
// CHECK-LABEL: @slices_of_slices
// CHECK: %[[PARTS:.*]]:2 = plan.call "aten.split_with_sizes.default"(%arg0) {{.*}}split_sizes = [8, 4]
// CHECK: %[[HALVES:.*]]:2 = plan.call "aten.split_with_sizes.default"(%[[PARTS]]#0) {{.*}}split_sizes = [4, 4]
// CHECK: return %[[HALVES]]#1, %[[HALVES]]#0, %[[PARTS]]#1
func.func @slices_of_slices(%x: tensor<12xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %rotated = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, end = 8 : i64} : (tensor<12xf32>) -> tensor<8xf32>
  %rest = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, start = 8 : i64} : (tensor<12xf32>) -> tensor<4xf32>
  %low = plan.call "aten.slice.Tensor"(%rotated) {self = #base.operand<0>, end = 4 : i64} : (tensor<8xf32>) -> tensor<4xf32>
  %high = plan.call "aten.slice.Tensor"(%rotated) {self = #base.operand<0>, start = 4 : i64}
      : (tensor<8xf32>) -> tensor<4xf32>
  return %high, %low, %rest : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// An overlap as long as a gap: the sizes sum to the dim, but 4 to 8 is read twice and 8 to 12 never.
// CHECK-LABEL: @an_overlap_and_a_gap_stay
// CHECK-NOT: split
func.func @an_overlap_and_a_gap_stay(%x: tensor<12xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %0 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, end = 8 : i64} : (tensor<12xf32>) -> tensor<8xf32>
  %1 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, start = 4 : i64, end = 8 : i64}
      : (tensor<12xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<8xf32>, tensor<4xf32>
}

// Every second element: the size is that of the first half.
// CHECK-LABEL: @a_step_beside_a_half_stays
// CHECK-NOT: split
func.func @a_step_beside_a_half_stays(%x: tensor<12xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %0 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, step = 2 : i64} : (tensor<12xf32>) -> tensor<6xf32>
  %1 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, start = 6 : i64} : (tensor<12xf32>) -> tensor<6xf32>
  return %0, %1 : tensor<6xf32>, tensor<6xf32>
}

// A single slice of the whole dim is not a split, nor is one of no elements.
// CHECK-LABEL: @all_and_nothing_stay
// CHECK-NOT: split
func.func @all_and_nothing_stay(%x: tensor<12xf32>, %y: tensor<8xf32>) -> (tensor<12xf32>, tensor<8xf32>, tensor<0xf32>) {
  %0 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, start = 0 : i64} : (tensor<12xf32>) -> tensor<12xf32>
  %1 = plan.call "aten.slice.Tensor"(%y) {self = #base.operand<0>} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = plan.call "aten.slice.Tensor"(%y) {self = #base.operand<0>, start = 20 : i64} : (tensor<8xf32>) -> tensor<0xf32>
  return %0, %1, %2 : tensor<12xf32>, tensor<8xf32>, tensor<0xf32>
}

// The first two thirds are not the whole dim.
// CHECK-LABEL: @a_rest_stays
// CHECK-NOT: split
func.func @a_rest_stays(%x: tensor<12xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, end = 4 : i64} : (tensor<12xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, start = 4 : i64, end = 8 : i64}
      : (tensor<12xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Slices of the same sizes of two tensors are separate; a start before the first element is the first element.
// CHECK-LABEL: @two_tensors
// CHECK: %[[X:.*]]:2 = plan.call "aten.split_with_sizes.default"(%arg0) {{.*}}split_sizes = [1, 2]
// CHECK: %[[Y:.*]]:2 = plan.call "aten.split_with_sizes.default"(%arg1) {{.*}}split_sizes = [2, 1]
// CHECK: return %[[X]]#0, %[[Y]]#0, %[[X]]#1, %[[Y]]#1
func.func @two_tensors(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<1xf32>, tensor<2xf32>, tensor<2xf32>, tensor<1xf32>) {
  %0 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, start = -9 : i64, end = 1 : i64} : (tensor<3xf32>) -> tensor<1xf32>
  %1 = plan.call "aten.slice.Tensor"(%y) {self = #base.operand<0>, end = 2 : i64} : (tensor<3xf32>) -> tensor<2xf32>
  %2 = plan.call "aten.slice.Tensor"(%x) {self = #base.operand<0>, start = 1 : i64} : (tensor<3xf32>) -> tensor<2xf32>
  %3 = plan.call "aten.slice.Tensor"(%y) {self = #base.operand<0>, start = 2 : i64} : (tensor<3xf32>) -> tensor<1xf32>
  return %0, %1, %2, %3 : tensor<1xf32>, tensor<2xf32>, tensor<2xf32>, tensor<1xf32>
}
