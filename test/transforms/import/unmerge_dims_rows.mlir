// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-unmerge-dims | FileCheck %s

// Operators that compute on each row alone, of which some results are needed as rows.

// The router of a mixture of experts. The experts sort the numbers of all tokens: numbers and gates are merged for
// them, and the features that they look up. Modules and arguments stay.
// CHECK-LABEL: func.func @router
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "aten.view.default"(%arg0) {{.*}} in "moe" : {{.*}} -> tensor<24x8xf32>
// CHECK-NEXT: %[[LOGITS:.*]] = plan.call "aten.linear.default"(%arg0, %arg1) {{.*}} in "moe.gate" : {{.*}} -> tensor<4x6x5xf32>
// CHECK-NEXT: %[[CHANCES:.*]] = plan.call "aten.softmax.int"(%[[LOGITS]]) {dim = 2 : i64, dtype = f32, {{.*}} in "moe.gate" : {{.*}} -> tensor<4x6x5xf32>
// CHECK-NEXT: %[[TOP:.*]]:2 = plan.call "aten.topk.default"(%[[CHANCES]]) {dim = 2 : i64, k = 2 : i64, {{.*}}sorted = false} in "moe.gate" : {{.*}} -> (tensor<4x6x2xf32>, tensor<4x6x2xi64>)
// CHECK-NEXT: %[[SUM:.*]] = plan.call "aten.sum.dim_IntList"(%[[TOP]]#0) {dim = [2], keepdim = true, {{.*}} -> tensor<4x6x1xf32>
// CHECK-NEXT: %[[GATES:.*]] = plan.call "aten.div.Tensor"(%[[TOP]]#0, %[[SUM]]) {{.*}} -> tensor<4x6x2xf32>
// CHECK-NEXT: %[[NUMBERS:.*]] = plan.call "aten.view.default"(%[[TOP]]#1) {{.*}} in "moe.experts" : (tensor<4x6x2xi64>) -> tensor<48xi64>
// CHECK-NEXT: %[[SORTED:.*]]:2 = plan.call "aten.sort.default"(%[[NUMBERS]])
// CHECK-NEXT: %[[TOKENS:.*]] = plan.call "aten.floor_divide.default"(%[[SORTED]]#1)
// CHECK-NEXT: plan.call "aten.index.Tensor"(%[[ROWS]], %[[TOKENS]])
// CHECK-NEXT: %[[FLAT:.*]] = plan.call "aten.reshape.default"(%[[GATES]]) {{.*}} in "moe.experts" : (tensor<4x6x2xf32>) -> tensor<48xf32>
// CHECK-NEXT: plan.call "aten.index.Tensor"(%[[FLAT]], %[[SORTED]]#1)
func.func @router(%x: tensor<4x6x8xf32>, %w: tensor<5x8xf32>) -> (tensor<48xi64>, tensor<48xf32>, tensor<48x8xf32>) {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [-1, 8]} in "moe" : (tensor<4x6x8xf32>) -> tensor<24x8xf32>
  %1 = plan.call "aten.linear.default"(%0, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "moe.gate"
      : (tensor<24x8xf32>, tensor<5x8xf32>) -> tensor<24x5xf32>
  %2 = plan.call "aten.softmax.int"(%1) {self = #base.operand<0>, dim = 1 : i64, dtype = f32} in "moe.gate" : (tensor<24x5xf32>) -> tensor<24x5xf32>
  %3:2 = plan.call "aten.topk.default"(%2) {self = #base.operand<0>, k = 2 : i64, dim = -1 : i64, sorted = false} in "moe.gate"
      : (tensor<24x5xf32>) -> (tensor<24x2xf32>, tensor<24x2xi64>)
  %4 = plan.call "aten.sum.dim_IntList"(%3#0) {self = #base.operand<0>, dim = [-1], keepdim = true} in "moe.gate" : (tensor<24x2xf32>) -> tensor<24x1xf32>
  %5 = plan.call "aten.div.Tensor"(%3#0, %4) {self = #base.operand<0>, other = #base.operand<1>} in "moe.gate"
      : (tensor<24x2xf32>, tensor<24x1xf32>) -> tensor<24x2xf32>
  %6 = plan.call "aten.view.default"(%3#1) {self = #base.operand<0>, size = [-1]} in "moe.experts" : (tensor<24x2xi64>) -> tensor<48xi64>
  %7:2 = plan.call "aten.sort.default"(%6) {self = #base.operand<0>} in "moe.experts" : (tensor<48xi64>) -> (tensor<48xi64>, tensor<48xi64>)
  %8 = plan.call "aten.floor_divide.default"(%7#1) {self = #base.operand<0>, other = 2 : i64} in "moe.experts" : (tensor<48xi64>) -> tensor<48xi64>
  %9 = plan.call "aten.index.Tensor"(%0, %8) {self = #base.operand<0>, indices = [#base.operand<1>]} in "moe.experts"
      : (tensor<24x8xf32>, tensor<48xi64>) -> tensor<48x8xf32>
  %10 = plan.call "aten.flatten.using_ints"(%5) {self = #base.operand<0>} in "moe.experts" : (tensor<24x2xf32>) -> tensor<48xf32>
  %11 = plan.call "aten.index.Tensor"(%10, %7#1) {self = #base.operand<0>, indices = [#base.operand<1>]} in "moe.experts"
      : (tensor<48xf32>, tensor<48xi64>) -> tensor<48xf32>
  return %7#0, %11, %9 : tensor<48xi64>, tensor<48xf32>, tensor<48x8xf32>
}

// Experts in groups: views of the other dims, tensors made with rows, and dim numbers of several operators.
// CHECK-LABEL: func.func @groups
// CHECK-NEXT: %[[LOGITS:.*]] = plan.call "aten.linear.default"(%arg0, %arg1)
// CHECK-NEXT: %[[SCORES:.*]] = plan.call "aten.sigmoid.default"(%[[LOGITS]])
// CHECK-NEXT: %[[CHOICE:.*]] = plan.call "aten.add.Tensor"(%[[SCORES]], %arg2) {{.*}} -> tensor<4x6x6xf32>
// CHECK-NEXT: %[[GROUPS:.*]] = plan.call "aten.view.default"(%[[CHOICE]]) {self = #base.operand<0>, size = [4, 6, 2, 3]}
// CHECK-NEXT: %[[BEST:.*]]:2 = plan.call "aten.topk.default"(%[[GROUPS]]) {k = 2 : i64, self = #base.operand<0>} {{.*}} -> (tensor<4x6x2x2xf32>, tensor<4x6x2x2xi64>)
// CHECK-NEXT: %[[SUM:.*]] = plan.call "aten.sum.dim_IntList"(%[[BEST]]#0) {dim = [3], {{.*}} -> tensor<4x6x2xf32>
// CHECK-NEXT: %[[GROUP:.*]]:2 = plan.call "aten.topk.default"(%[[SUM]]) {dim = 2 : i64, k = 1 : i64
// CHECK-NEXT: %[[ZEROS:.*]] = plan.call "aten.zeros.default"() {dtype = f32, size = [4, 6, 2]}
// CHECK-NEXT: %[[MARKS:.*]] = plan.call "aten.scatter.value"(%[[ZEROS]], %[[GROUP]]#1) {dim = 2 : i64, {{.*}} -> tensor<4x6x2xf32>
// CHECK-NEXT: %[[THIN:.*]] = plan.call "aten.unsqueeze.default"(%[[MARKS]]) {dim = 3 : i64, {{.*}} -> tensor<4x6x2x1xf32>
// CHECK-NEXT: %[[WIDE:.*]] = plan.call "aten.expand.default"(%[[THIN]]) {self = #base.operand<0>, size = [4, 6, 2, 3]}
// CHECK-NEXT: %[[COPY:.*]] = plan.call "aten.clone.default"(%[[WIDE]])
// CHECK-NEXT: %[[MASK:.*]] = plan.call "aten._unsafe_view.default"(%[[COPY]]) {self = #base.operand<0>, size = [4, 6, 6]}
// CHECK-NEXT: %[[FLAGS:.*]] = plan.call "aten.to.dtype"(%[[MASK]])
// CHECK-NEXT: %[[NOT:.*]] = plan.call "aten.bitwise_not.default"(%[[FLAGS]])
// CHECK-NEXT: %[[FILLED:.*]] = plan.call "aten.masked_fill.Scalar"(%[[CHOICE]], %[[NOT]]) {{.*}} -> tensor<4x6x6xf32>
// CHECK-NEXT: %[[TOP:.*]]:2 = plan.call "aten.topk.default"(%[[FILLED]]) {dim = 2 : i64
// CHECK-NEXT: %[[GATES:.*]] = plan.call "aten.gather.default"(%[[SCORES]], %[[TOP]]#1) {dim = 2 : i64, {{.*}} -> tensor<4x6x2xf32>
// CHECK-NEXT: %[[AGAIN:.*]] = plan.call "aten.reshape.default"(%[[GATES]]) {self = #base.operand<0>, shape = [24, 2]}
// CHECK-NEXT: %[[FLAT:.*]] = plan.call "aten.view.default"(%[[TOP]]#1) {self = #base.operand<0>, size = [48]}
// CHECK-NEXT: return %[[FLAT]], %[[AGAIN]]
func.func @groups(%x: tensor<4x6x8xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf32>) -> (tensor<48xi64>, tensor<24x2xf32>) {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [24, 8]} : (tensor<4x6x8xf32>) -> tensor<24x8xf32>
  %1 = plan.call "aten.linear.default"(%0, %w) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<24x8xf32>, tensor<6x8xf32>) -> tensor<24x6xf32>
  %2 = plan.call "aten.sigmoid.default"(%1) {self = #base.operand<0>} : (tensor<24x6xf32>) -> tensor<24x6xf32>
  %3 = plan.call "aten.add.Tensor"(%2, %b) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<24x6xf32>, tensor<6xf32>) -> tensor<24x6xf32>
  %4 = plan.call "aten.view.default"(%3) {self = #base.operand<0>, size = [-1, 2, 3]} : (tensor<24x6xf32>) -> tensor<24x2x3xf32>
  %5:2 = plan.call "aten.topk.default"(%4) {self = #base.operand<0>, k = 2 : i64} : (tensor<24x2x3xf32>) -> (tensor<24x2x2xf32>, tensor<24x2x2xi64>)
  %6 = plan.call "aten.sum.dim_IntList"(%5#0) {self = #base.operand<0>, dim = [-1]} : (tensor<24x2x2xf32>) -> tensor<24x2xf32>
  %7:2 = plan.call "aten.topk.default"(%6) {self = #base.operand<0>, k = 1 : i64, dim = -1 : i64} : (tensor<24x2xf32>) -> (tensor<24x1xf32>, tensor<24x1xi64>)
  %8 = plan.call "aten.zeros.default"() {size = [24, 2], dtype = f32} : () -> tensor<24x2xf32>
  %9 = plan.call "aten.scatter.value"(%8, %7#1) {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>, value = 1 : i64}
      : (tensor<24x2xf32>, tensor<24x1xi64>) -> tensor<24x2xf32>
  %10 = plan.call "aten.unsqueeze.default"(%9) {self = #base.operand<0>, dim = -1 : i64} : (tensor<24x2xf32>) -> tensor<24x2x1xf32>
  %11 = plan.call "aten.expand.default"(%10) {self = #base.operand<0>, size = [24, 2, 3]} : (tensor<24x2x1xf32>) -> tensor<24x2x3xf32>
  %12 = plan.call "aten.clone.default"(%11) {self = #base.operand<0>} : (tensor<24x2x3xf32>) -> tensor<24x2x3xf32>
  %13 = plan.call "aten._unsafe_view.default"(%12) {self = #base.operand<0>, size = [24, 6]} : (tensor<24x2x3xf32>) -> tensor<24x6xf32>
  %14 = plan.call "aten.to.dtype"(%13) {self = #base.operand<0>, dtype = i1} : (tensor<24x6xf32>) -> tensor<24x6xi1>
  %15 = plan.call "aten.bitwise_not.default"(%14) {self = #base.operand<0>} : (tensor<24x6xi1>) -> tensor<24x6xi1>
  %16 = plan.call "aten.masked_fill.Scalar"(%3, %15) {self = #base.operand<0>, mask = #base.operand<1>, value = 0.0}
      : (tensor<24x6xf32>, tensor<24x6xi1>) -> tensor<24x6xf32>
  %17:2 = plan.call "aten.topk.default"(%16) {self = #base.operand<0>, k = 2 : i64, dim = -1 : i64} : (tensor<24x6xf32>) -> (tensor<24x2xf32>, tensor<24x2xi64>)
  %18 = plan.call "aten.gather.default"(%2, %17#1) {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>}
      : (tensor<24x6xf32>, tensor<24x2xi64>) -> tensor<24x2xf32>
  %19 = plan.call "aten.view.default"(%17#1) {self = #base.operand<0>, size = [48]} : (tensor<24x2xi64>) -> tensor<48xi64>
  return %19, %18 : tensor<48xi64>, tensor<24x2xf32>
}

// Other operators along other dims.
// CHECK-LABEL: func.func @along_other_dims
// CHECK-NEXT: %[[SORTED:.*]]:2 = plan.call "aten.sort.stable"(%arg0) {self = #base.operand<0>, stable = true}
// CHECK-NEXT: %[[SUMS:.*]] = plan.call "aten.cumsum.default"(%[[SORTED]]#0) {dim = 2 : i64
// CHECK-NEXT: %[[SET:.*]] = plan.call "aten.scatter.src"(%[[SUMS]], %[[SORTED]]#1, %arg0) {dim = 2 : i64
// CHECK-NEXT: %[[ADDED:.*]] = plan.call "aten.scatter_add.default"(%[[SET]], %[[SORTED]]#1, %arg0) {dim = 2 : i64
// CHECK-NEXT: %[[CHOSEN:.*]] = plan.call "aten.index_select.default"(%[[ADDED]], %arg1) {dim = 2 : i64, {{.*}} -> tensor<4x6x2xf32>
// CHECK-NEXT: %[[MAX:.*]]:2 = plan.call "aten.max.dim"(%[[CHOSEN]]) {dim = 2 : i64, {{.*}} -> (tensor<4x6xf32>, tensor<4x6xi64>)
// CHECK-NEXT: %[[HOT:.*]] = plan.call "aten.one_hot.default"(%[[MAX]]#1) {{.*}} -> tensor<4x6x5xi64>
// CHECK-NEXT: %[[PARTS:.*]] = plan.call "aten.reshape.default"(%[[ADDED]]) {self = #base.operand<0>, shape = [4, 6, 2, 4]}
// CHECK-NEXT: %[[TURNED:.*]] = plan.call "aten.permute.default"(%[[PARTS]]) {dims = [0, 1, 3, 2]
// CHECK-NEXT: %[[FLAT:.*]] = plan.call "aten.reshape.default"(%[[TURNED]]) {self = #base.operand<0>, shape = [4, 6, 8]}
// CHECK-NEXT: %[[COPIES:.*]] = plan.call "aten.repeat.default"(%[[FLAT]]) {repeats = [1, 1, 5]
// CHECK-NEXT: %[[THIN:.*]] = plan.call "aten.unsqueeze.default"(%[[MAX]]#1) {dim = 2 : i64
// CHECK-NEXT: %[[EQUAL:.*]] = plan.call "aten.eq.Tensor"(%[[HOT]], %[[THIN]])
// CHECK-NEXT: %[[FIRST:.*]] = plan.call "aten.select.int"(%[[EQUAL]]) {dim = 2 : i64, {{.*}} -> tensor<4x6xi1>
// CHECK-NEXT: return %[[MAX]]#0, %[[COPIES]], %[[FIRST]]
func.func @along_other_dims(%x: tensor<4x6x8xf32>, %a: tensor<2xi64>) -> (tensor<4x6xf32>, tensor<4x6x40xf32>, tensor<4x6xi1>) {
  %0 = plan.call "aten.flatten.using_ints"(%x) {self = #base.operand<0>, end_dim = 1 : i64} : (tensor<4x6x8xf32>) -> tensor<24x8xf32>
  %1:2 = plan.call "aten.sort.stable"(%0) {self = #base.operand<0>, stable = true} : (tensor<24x8xf32>) -> (tensor<24x8xf32>, tensor<24x8xi64>)
  %2 = plan.call "aten.cumsum.default"(%1#0) {self = #base.operand<0>, dim = -1 : i64} : (tensor<24x8xf32>) -> tensor<24x8xf32>
  %3 = plan.call "aten.scatter.src"(%2, %1#1, %0) {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>, src = #base.operand<2>}
      : (tensor<24x8xf32>, tensor<24x8xi64>, tensor<24x8xf32>) -> tensor<24x8xf32>
  %4 = plan.call "aten.scatter_add.default"(%3, %1#1, %0) {self = #base.operand<0>, dim = -1 : i64, index = #base.operand<1>, src = #base.operand<2>}
      : (tensor<24x8xf32>, tensor<24x8xi64>, tensor<24x8xf32>) -> tensor<24x8xf32>
  %5 = plan.call "aten.index_select.default"(%4, %a) {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>} : (tensor<24x8xf32>, tensor<2xi64>) -> tensor<24x2xf32>
  %6:2 = plan.call "aten.max.dim"(%5) {self = #base.operand<0>, dim = -1 : i64} : (tensor<24x2xf32>) -> (tensor<24xf32>, tensor<24xi64>)
  %7 = plan.call "aten.one_hot.default"(%6#1) {self = #base.operand<0>, num_classes = 5 : i64} : (tensor<24xi64>) -> tensor<24x5xi64>
  %8 = plan.call "aten.unflatten.int"(%4) {self = #base.operand<0>, dim = 1 : i64, sizes = [2, 4]} : (tensor<24x8xf32>) -> tensor<24x2x4xf32>
  %9 = plan.call "aten.permute.default"(%8) {self = #base.operand<0>, dims = [0, 2, -2]} : (tensor<24x2x4xf32>) -> tensor<24x4x2xf32>
  %10 = plan.call "aten.squeeze.default"(%9) {self = #base.operand<0>} : (tensor<24x4x2xf32>) -> tensor<24x4x2xf32>
  %11 = plan.call "aten.flatten.using_ints"(%10) {self = #base.operand<0>, start_dim = 1 : i64} : (tensor<24x4x2xf32>) -> tensor<24x8xf32>
  %12 = plan.call "aten.repeat.default"(%11) {self = #base.operand<0>, repeats = [1, 5]} : (tensor<24x8xf32>) -> tensor<24x40xf32>
  %13 = plan.call "aten.unsqueeze.default"(%6#1) {self = #base.operand<0>, dim = 1 : i64} : (tensor<24xi64>) -> tensor<24x1xi64>
  %14 = plan.call "aten.eq.Tensor"(%7, %13) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<24x5xi64>, tensor<24x1xi64>) -> tensor<24x5xi1>
  %15 = plan.call "aten.select.int"(%14) {self = #base.operand<0>, dim = 1 : i64, index = 0 : i64} : (tensor<24x5xi1>) -> tensor<24xi1>
  %16 = plan.call "aten.view.default"(%6#0) {self = #base.operand<0>, size = [4, 6]} : (tensor<24xf32>) -> tensor<4x6xf32>
  %17 = plan.call "aten.view.default"(%12) {self = #base.operand<0>, size = [4, 6, 40]} : (tensor<24x40xf32>) -> tensor<4x6x40xf32>
  %18 = plan.call "aten.unflatten.int"(%15) {self = #base.operand<0>, dim = 0 : i64, sizes = [4, 6]} : (tensor<24xi1>) -> tensor<4x6xi1>
  return %16, %17, %18 : tensor<4x6xf32>, tensor<4x6x40xf32>, tensor<4x6xi1>
}

// One result of an operator is split again, another one is needed as rows.
// CHECK-LABEL: func.func @one_of_two_results
// CHECK-NEXT: %[[TOP:.*]]:2 = plan.call "aten.topk.default"(%arg0)
// CHECK-NEXT: %[[AGAIN:.*]] = plan.call "aten.reshape.default"(%[[TOP]]#1) {self = #base.operand<0>, shape = [24, 2]}
// CHECK-NEXT: %[[SUM:.*]] = plan.call "aten.sum.dim_IntList"(%[[AGAIN]]) {dim = [0]
// CHECK-NEXT: %[[MAX:.*]] = plan.call "aten.amax.default"(%[[AGAIN]]) {dim = [0]
// CHECK-NEXT: %[[BOTH:.*]] = plan.call "aten.add.Tensor"(%[[SUM]], %[[MAX]])
// CHECK-NEXT: return %[[TOP]]#0, %[[BOTH]]
func.func @one_of_two_results(%x: tensor<4x6x8xf32>) -> (tensor<4x6x2xf32>, tensor<2xi64>) {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [24, 8]} : (tensor<4x6x8xf32>) -> tensor<24x8xf32>
  %1:2 = plan.call "aten.topk.default"(%0) {self = #base.operand<0>, k = 2 : i64} : (tensor<24x8xf32>) -> (tensor<24x2xf32>, tensor<24x2xi64>)
  %2 = plan.call "aten.view.default"(%1#0) {self = #base.operand<0>, size = [4, 6, 2]} : (tensor<24x2xf32>) -> tensor<4x6x2xf32>
  %3 = plan.call "aten.sum.dim_IntList"(%1#1) {self = #base.operand<0>, dim = [0]} : (tensor<24x2xi64>) -> tensor<2xi64>
  %4 = plan.call "aten.amax.default"(%1#1) {self = #base.operand<0>, dim = [0]} : (tensor<24x2xi64>) -> tensor<2xi64>
  %5 = plan.call "aten.add.Tensor"(%3, %4) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  return %2, %5 : tensor<4x6x2xf32>, tensor<2xi64>
}

// Tensors that are made with rows, also from others without rows. They stay for other readers.
// CHECK-LABEL: func.func @made
// CHECK: %[[ONES:.*]] = plan.call "aten.new_ones.default"(%{{.*}}) {self = #base.operand<0>, size = [4, 6, 8]}
// CHECK-NEXT: %[[OWN:.*]] = plan.call "aten.new_ones.default"(%{{.*}}) {self = #base.operand<0>, size = [24, 8]}
// CHECK-NEXT: %[[NEGATED:.*]] = plan.call "aten.neg.default"(%[[ONES]])
// CHECK-NEXT: %[[OTHER:.*]] = plan.call "aten.neg.default"(%[[OWN]])
// CHECK-NEXT: %[[PRODUCT:.*]] = plan.call "aten.mul.Tensor"(%arg0, %[[NEGATED]])
// CHECK-NEXT: %[[COPIES:.*]] = plan.call "aten.repeat.default"(%arg1) {repeats = [4, 6, 1]
// CHECK-NEXT: %[[SUM:.*]] = plan.call "aten.add.Tensor"(%[[PRODUCT]], %[[COPIES]])
// CHECK-NEXT: return %[[SUM]], %[[OTHER]]
func.func @made(%x: tensor<4x6x8xf32>, %b: tensor<1x8xf32>) -> (tensor<4x6x8xf32>, tensor<24x8xf32>) {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [24, 8]} : (tensor<4x6x8xf32>) -> tensor<24x8xf32>
  %1 = plan.call "aten.new_ones.default"(%0) {self = #base.operand<0>, size = [24, 8]} : (tensor<24x8xf32>) -> tensor<24x8xf32>
  %2 = plan.call "aten.neg.default"(%1) {self = #base.operand<0>} : (tensor<24x8xf32>) -> tensor<24x8xf32>
  %3 = plan.call "aten.mul.Tensor"(%0, %2) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<24x8xf32>, tensor<24x8xf32>) -> tensor<24x8xf32>
  %4 = plan.call "aten.repeat.default"(%b) {self = #base.operand<0>, repeats = [24, 1]} : (tensor<1x8xf32>) -> tensor<24x8xf32>
  %5 = plan.call "aten.add.Tensor"(%3, %4) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<24x8xf32>, tensor<24x8xf32>) -> tensor<24x8xf32>
  %6 = plan.call "aten.view.default"(%5) {self = #base.operand<0>, size = [4, 6, 8]} : (tensor<24x8xf32>) -> tensor<4x6x8xf32>
  return %6, %2 : tensor<4x6x8xf32>, tensor<24x8xf32>
}

// A shared expert: the results of the other experts enter as rows, and are split before the sum instead of
// after it.
// CHECK-LABEL: func.func @shared_expert
// CHECK-NEXT: %[[SHARED:.*]] = plan.call "aten.linear.default"(%arg0, %arg1)
// CHECK-NEXT: %[[OTHERS:.*]] = plan.call "aten.sum.dim_IntList"(%arg2) {dim = [1], {{.*}} -> tensor<24x8xf32>
// CHECK-NEXT: %[[SPLIT:.*]] = plan.call "aten.reshape.default"(%[[OTHERS]]) {self = #base.operand<0>, shape = [4, 6, 8]}
// CHECK-NEXT: %[[SUM:.*]] = plan.call "aten.add.Tensor"(%[[SPLIT]], %[[SHARED]])
// CHECK-NEXT: return %[[SUM]]
func.func @shared_expert(%x: tensor<4x6x8xf32>, %w: tensor<8x8xf32>, %y: tensor<24x2x8xf32>) -> tensor<4x6x8xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [24, 8]} : (tensor<4x6x8xf32>) -> tensor<24x8xf32>
  %1 = plan.call "aten.linear.default"(%0, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (tensor<24x8xf32>, tensor<8x8xf32>) -> tensor<24x8xf32>
  %2 = plan.call "aten.sum.dim_IntList"(%y) {self = #base.operand<0>, dim = [1]} : (tensor<24x2x8xf32>) -> tensor<24x8xf32>
  %3 = plan.call "aten.add.Tensor"(%2, %1) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<24x8xf32>, tensor<24x8xf32>) -> tensor<24x8xf32>
  %4 = plan.call "aten.view.default"(%3) {self = #base.operand<0>, size = [4, 6, 8]} : (tensor<24x8xf32>) -> tensor<4x6x8xf32>
  return %4 : tensor<4x6x8xf32>
}

// Results of experts that are larger than what is split after them do not enter: the gates are merged before the
// product.
// CHECK-LABEL: func.func @large_results
// CHECK-NEXT: %[[TOP:.*]]:2 = plan.call "aten.topk.default"(%arg0)
// CHECK-NEXT: %[[GATES:.*]] = plan.call "aten.reshape.default"(%[[TOP]]#0) {self = #base.operand<0>, shape = [24, 2, 1]}
// CHECK-NEXT: %[[PRODUCT:.*]] = plan.call "aten.mul.Tensor"(%arg1, %[[GATES]])
// CHECK-NEXT: %[[SUM:.*]] = plan.call "aten.sum.dim_IntList"(%[[PRODUCT]]) {dim = [1]
// CHECK-NEXT: plan.call "aten.view.default"(%[[SUM]])
func.func @large_results(%x: tensor<4x6x8xf32>, %y: tensor<24x2x8xf32>) -> tensor<4x6x8xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [24, 8]} : (tensor<4x6x8xf32>) -> tensor<24x8xf32>
  %1:2 = plan.call "aten.topk.default"(%0) {self = #base.operand<0>, k = 2 : i64} : (tensor<24x8xf32>) -> (tensor<24x2xf32>, tensor<24x2xi64>)
  %2 = plan.call "aten.unsqueeze.default"(%1#0) {self = #base.operand<0>, dim = -1 : i64} : (tensor<24x2xf32>) -> tensor<24x2x1xf32>
  %3 = plan.call "aten.mul.Tensor"(%y, %2) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<24x2x8xf32>, tensor<24x2x1xf32>) -> tensor<24x2x8xf32>
  %4 = plan.call "aten.sum.dim_IntList"(%3) {self = #base.operand<0>, dim = [1]} : (tensor<24x2x8xf32>) -> tensor<24x8xf32>
  %5 = plan.call "aten.view.default"(%4) {self = #base.operand<0>, size = [4, 6, 8]} : (tensor<24x8xf32>) -> tensor<4x6x8xf32>
  return %5 : tensor<4x6x8xf32>
}

// An operator at the end that is only merged, and makes more of what it reads, stays after the merge.
// CHECK-LABEL: func.func @end_of_region
// CHECK-NEXT: %[[BEST:.*]] = plan.call "aten.argmax.default"(%arg0) {dim = 2 : i64
// CHECK-NEXT: %[[AGAIN:.*]] = plan.call "aten.reshape.default"(%[[BEST]]) {self = #base.operand<0>, shape = [24]}
// CHECK-NEXT: %[[HOT:.*]] = plan.call "aten.one_hot.default"(%[[AGAIN]])
// CHECK-NEXT: plan.call "aten.sum.dim_IntList"(%[[HOT]]) {dim = [0]
func.func @end_of_region(%x: tensor<4x6x8xf32>) -> tensor<8xi64> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [24, 8]} : (tensor<4x6x8xf32>) -> tensor<24x8xf32>
  %1 = plan.call "aten.argmax.default"(%0) {self = #base.operand<0>, dim = 1 : i64} : (tensor<24x8xf32>) -> tensor<24xi64>
  %2 = plan.call "aten.one_hot.default"(%1) {self = #base.operand<0>, num_classes = 8 : i64} : (tensor<24xi64>) -> tensor<24x8xi64>
  %3 = plan.call "aten.sum.dim_IntList"(%2) {self = #base.operand<0>, dim = [0]} : (tensor<24x8xi64>) -> tensor<8xi64>
  return %3 : tensor<8xi64>
}

// A sum over all elements reads the dims; here of a loss that is written as single operators.
// CHECK-LABEL: func.func @sum_of_all
// CHECK-NEXT: %[[LOGARITHMS:.*]] = plan.call "aten.log_softmax.int"(%arg0) {dim = 2 : i64
// CHECK-NEXT: %[[THIN:.*]] = plan.call "aten.unsqueeze.default"(%arg1) {dim = 2 : i64
// CHECK-NEXT: %[[PICKED:.*]] = plan.call "aten.gather.default"(%[[LOGARITHMS]], %[[THIN]]) {dim = 2 : i64
// CHECK-NEXT: %[[LOSSES:.*]] = plan.call "aten.squeeze.dim"(%[[PICKED]]) {dim = 2 : i64, {{.*}} -> tensor<4x6xf32>
// CHECK-NEXT: plan.call "aten.sum.default"(%[[LOSSES]])
func.func @sum_of_all(%x: tensor<4x6x8xf32>, %t: tensor<4x6xi64>) -> tensor<f32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [24, 8]} : (tensor<4x6x8xf32>) -> tensor<24x8xf32>
  %1 = plan.call "aten.view.default"(%t) {self = #base.operand<0>, size = [24]} : (tensor<4x6xi64>) -> tensor<24xi64>
  %2 = plan.call "aten.log_softmax.int"(%0) {self = #base.operand<0>, dim = -1 : i64} : (tensor<24x8xf32>) -> tensor<24x8xf32>
  %3 = plan.call "aten.unsqueeze.default"(%1) {self = #base.operand<0>, dim = -1 : i64} : (tensor<24xi64>) -> tensor<24x1xi64>
  %4 = plan.call "aten.gather.default"(%2, %3) {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>} : (tensor<24x8xf32>, tensor<24x1xi64>) -> tensor<24x1xf32>
  %5 = plan.call "aten.squeeze.dim"(%4) {self = #base.operand<0>, dim = -1 : i64} : (tensor<24x1xf32>) -> tensor<24xf32>
  %6 = plan.call "aten.sum.default"(%5) {self = #base.operand<0>} : (tensor<24xf32>) -> tensor<f32>
  return %6 : tensor<f32>
}

// As much would be merged after the operators as before them.
// CHECK-LABEL: func.func @as_large
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "aten.view.default"(%arg0)
// CHECK-NEXT: %[[UP:.*]] = plan.call "aten.linear.default"(%[[ROWS]], %arg1)
// CHECK-NEXT: %[[MIDDLE:.*]] = plan.call "aten.relu.default"(%[[UP]])
// CHECK-NEXT: %[[DOWN:.*]] = plan.call "aten.linear.default"(%[[MIDDLE]], %arg2)
// CHECK-NEXT: plan.call "aten.sum.dim_IntList"(%[[DOWN]]) {dim = [0]
func.func @as_large(%x: tensor<4x6x8xf32>, %w: tensor<16x8xf32>, %v: tensor<8x16xf32>) -> tensor<8xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [24, 8]} : (tensor<4x6x8xf32>) -> tensor<24x8xf32>
  %1 = plan.call "aten.linear.default"(%0, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (tensor<24x8xf32>, tensor<16x8xf32>) -> tensor<24x16xf32>
  %2 = plan.call "aten.relu.default"(%1) {self = #base.operand<0>} : (tensor<24x16xf32>) -> tensor<24x16xf32>
  %3 = plan.call "aten.linear.default"(%2, %v) {input = #base.operand<0>, weight = #base.operand<1>} : (tensor<24x16xf32>, tensor<8x16xf32>) -> tensor<24x8xf32>
  %4 = plan.call "aten.sum.dim_IntList"(%3) {self = #base.operand<0>, dim = [0]} : (tensor<24x8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// The same, with a movement at the end.
// CHECK-LABEL: func.func @as_large_moved
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "aten.view.default"(%arg0)
// CHECK-NEXT: %[[EXP:.*]] = plan.call "aten.exp.default"(%[[ROWS]])
// CHECK-NEXT: plan.call "aten.transpose.int"(%[[EXP]]) {dim0 = 1 : i64, dim1 = 2 : i64
func.func @as_large_moved(%x: tensor<4x6x8x2xf32>) -> tensor<2x8xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [24, 8, 2]} : (tensor<4x6x8x2xf32>) -> tensor<24x8x2xf32>
  %1 = plan.call "aten.exp.default"(%0) {self = #base.operand<0>} : (tensor<24x8x2xf32>) -> tensor<24x8x2xf32>
  %2 = plan.call "aten.transpose.int"(%1) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} : (tensor<24x8x2xf32>) -> tensor<24x2x8xf32>
  %3 = plan.call "aten.sum.dim_IntList"(%2) {self = #base.operand<0>, dim = [0]} : (tensor<24x2x8xf32>) -> tensor<2x8xf32>
  return %3 : tensor<2x8xf32>
}

// Operators along the rows.
// CHECK-LABEL: func.func @along_rows
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "aten.view.default"(%arg0)
// CHECK-NEXT: plan.call "aten.softmax.int"(%[[ROWS]]) {dim = 0 : i64
// CHECK: plan.call "aten.topk.default"(%[[ROWS]]) {dim = -2 : i64
// CHECK-NEXT: plan.call "aten.sort.default"(%[[ROWS]]) {dim = 0 : i64
func.func @along_rows(%x: tensor<4x6x8xf32>) -> (tensor<4x6x8xf32>, tensor<3x8xi64>, tensor<4x6x8xf32>) {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [24, 8]} : (tensor<4x6x8xf32>) -> tensor<24x8xf32>
  %1 = plan.call "aten.softmax.int"(%0) {self = #base.operand<0>, dim = 0 : i64} : (tensor<24x8xf32>) -> tensor<24x8xf32>
  %2 = plan.call "aten.view.default"(%1) {self = #base.operand<0>, size = [4, 6, 8]} : (tensor<24x8xf32>) -> tensor<4x6x8xf32>
  %3:2 = plan.call "aten.topk.default"(%0) {self = #base.operand<0>, k = 3 : i64, dim = -2 : i64} : (tensor<24x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xi64>)
  %4:2 = plan.call "aten.sort.default"(%0) {self = #base.operand<0>, dim = 0 : i64} : (tensor<24x8xf32>) -> (tensor<24x8xf32>, tensor<24x8xi64>)
  %5 = plan.call "aten.view.default"(%4#0) {self = #base.operand<0>, size = [4, 6, 8]} : (tensor<24x8xf32>) -> tensor<4x6x8xf32>
  return %2, %3#1, %5 : tensor<4x6x8xf32>, tensor<3x8xi64>, tensor<4x6x8xf32>
}

// A single dim of a row: without its dim the operator computes along the rows. A lookup in fewer rows takes the first
// ones.
// CHECK-LABEL: func.func @along_the_only_dim
// CHECK-NEXT: %[[ROW:.*]] = plan.call "aten.view.default"(%arg0)
// CHECK-NEXT: plan.call "aten.sort.default"(%[[ROW]])
// CHECK-NEXT: %[[ROWS:.*]] = plan.call "aten.view.default"(%arg1)
// CHECK-NEXT: plan.call "aten.gather.default"(%[[ROWS]], %arg2)
func.func @along_the_only_dim(%x: tensor<4x6xf32>, %y: tensor<4x6x8xf32>, %i: tensor<12x2xi64>) -> (tensor<24xf32>, tensor<12x2xf32>) {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [24]} : (tensor<4x6xf32>) -> tensor<24xf32>
  %1:2 = plan.call "aten.sort.default"(%0) {self = #base.operand<0>} : (tensor<24xf32>) -> (tensor<24xf32>, tensor<24xi64>)
  %2 = plan.call "aten.view.default"(%y) {self = #base.operand<0>, size = [24, 8]} : (tensor<4x6x8xf32>) -> tensor<24x8xf32>
  %3 = plan.call "aten.gather.default"(%2, %i) {self = #base.operand<0>, dim = 1 : i64, index = #base.operand<1>} : (tensor<24x8xf32>, tensor<12x2xi64>) -> tensor<12x2xf32>
  return %1#0, %3 : tensor<24xf32>, tensor<12x2xf32>
}

// A dropout: elements in row-major order have the same random numbers.
// CHECK-LABEL: func.func @dropout
// CHECK-NEXT: %[[PRODUCT:.*]] = plan.call "aten.linear.default"(%arg0, %arg1) {{.*}} -> tensor<4x6x8xf32>
// CHECK-NEXT: %[[DROPPED:.*]] = plan.call "aten.dropout.default"(%[[PRODUCT]]) {input = #base.operand<0>, p = 1.000000e-01 : f64, train = true} {{.*}} -> tensor<4x6x8xf32>
// CHECK-NEXT: %[[SUM:.*]] = plan.call "aten.sum.dim_IntList"(%[[DROPPED]]) {dim = [2], {{.*}} -> tensor<4x6xf32>
func.func @dropout(%x: tensor<4x6x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x6xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [24, 8]} : (tensor<4x6x8xf32>) -> tensor<24x8xf32>
  %1 = plan.call "aten.linear.default"(%0, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (tensor<24x8xf32>, tensor<8x8xf32>) -> tensor<24x8xf32>
  %2 = plan.call "aten.dropout.default"(%1) {input = #base.operand<0>, p = 0.1 : f64, train = true} : (tensor<24x8xf32>) -> tensor<24x8xf32>
  %3 = plan.call "aten.sum.dim_IntList"(%2) {self = #base.operand<0>, dim = [1]} : (tensor<24x8xf32>) -> tensor<24xf32>
  %4 = plan.call "aten.view.default"(%3) {self = #base.operand<0>, size = [4, 6]} : (tensor<24xf32>) -> tensor<4x6xf32>
  return %4 : tensor<4x6xf32>
}
