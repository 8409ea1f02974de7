// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --schedule=parts=2 | FileCheck %s
// RUN: %meshplan-opt %s --split-input-file --schedule | FileCheck %s --check-prefix=WHOLE
// RUN: %meshplan-opt %s --split-input-file "--schedule=parts=2 solver=program" | FileCheck %s --check-prefix=WHOLE
// WHOLE-NOT: aten.slice.Tensor
// WHOLE-NOT: aten.cat.default

// A row-parallel product, and the sum of its result: the sum of the first half of the rows runs beside the product of
// the second half. What is next reads both halves as one tensor.
plan.mesh [#base.mesh_axis<"tp" = 2>]
!x = tensor<2048x1024xf32, #plan.sharding<[{}, {"tp"}]>>
!w = tensor<2048x1024xf32, #plan.sharding<[{}, {"tp"}]>>
!addend = tensor<2048x2048xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
!sum = tensor<2048x2048xf32, #plan.sharding<[{}, {}]>>
// CHECK-LABEL: sched.program @product_and_sum
// CHECK: %[[X:.*]] = sched.input "x"
// CHECK: %[[W:.*]] = sched.input "w"
func.func @product_and_sum(%x: !x {plan.kind = #plan.kind<input>, plan.names = ["x"]}, %w: !w {plan.kind = #plan.kind<input>, plan.names = ["w"]}) -> (!sum {plan.name = "z"}) {
  // CHECK: %[[X0:.*]] = sched.compute "aten.slice.Tensor"(%[[X]]) {dim = 0 : i64, end = 1024 : i64, self = #base.operand<0>, start = 0 : i64}
  // CHECK: %[[Y0:.*]] = sched.compute "aten.linear.default"(%[[X0]], %[[W]])
  // CHECK-SAME: -> !sched.tensor<[1024, 2048], f32, partial = sum
  // CHECK: %[[T0:.*]] = sched.start all_reduce %[[Y0]] over @tp
  // CHECK: %[[X1:.*]] = sched.compute "aten.slice.Tensor"(%[[X]]) {dim = 0 : i64, end = 2048 : i64, self = #base.operand<0>, start = 1024 : i64}
  // CHECK: %[[Y1:.*]] = sched.compute "aten.linear.default"(%[[X1]], %[[W]])
  // CHECK: %[[T1:.*]] = sched.start all_reduce %[[Y1]] over @tp
  // CHECK-DAG: %[[Z0:.*]] = sched.wait %[[T0]]
  // CHECK-DAG: %[[Z1:.*]] = sched.wait %[[T1]]
  // CHECK: %[[Z:.*]] = sched.compute "aten.cat.default"(%[[Z0]], %[[Z1]]) {dim = 0 : i64, tensors = [#base.operand<0>, #base.operand<1>]}
  // CHECK: sched.output "z" %[[Z]]
  %y = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!x, !w) -> !addend
  %z = plan.all_reduce %y [#plan.axis<"tp">] : !addend -> !sum
  return %z : !sum
}

// -----

// What is gathered over the sequence is split by samples, with both products that read it. Only what
// comes after the products reads their results whole.
plan.mesh [#base.mesh_axis<"tp" = 2>]
!shard = tensor<8x512x4096xf32, #plan.sharding<[{}, {"tp"}, {}]>>
!whole = tensor<8x512x4096xf32, #plan.sharding<[{}, {}, {}]>>
!w = tensor<512x4096xf32, #plan.sharding<[{"tp"}, {}]>>
!y = tensor<8x512x512xf32, #plan.sharding<[{}, {}, {"tp"}]>>
// CHECK-LABEL: sched.program @gather_and_products
// CHECK: %[[X:.*]] = sched.input "x"
func.func @gather_and_products(%x: !shard {plan.kind = #plan.kind<input>, plan.names = ["x"]}, %v: !w {plan.kind = #plan.kind<input>, plan.names = ["v"]}, %w: !w {plan.kind = #plan.kind<input>, plan.names = ["w"]})
    -> (!y {plan.name = "c"}) {
  // CHECK: "aten.slice.Tensor"(%[[X]]) {dim = 0 : i64, end = 4 : i64, self = #base.operand<0>, start = 0 : i64}
  // CHECK: %[[T0:.*]] = sched.start all_gather {{.*}} dim 1 over @tp
  // CHECK-SAME: -> <!sched.packed<<[4, 512, 4096], f32>>>
  // CHECK: %[[T1:.*]] = sched.start all_gather {{.*}} dim 1 over @tp
  // CHECK: sched.wait %[[T0]]
  // CHECK: sched.compute "aten.linear.default"
  // CHECK: sched.wait %[[T1]]
  // CHECK-COUNT-2: sched.compute "aten.linear.default"
  // CHECK-DAG: %[[A:.*]] = sched.compute "aten.cat.default"
  %0 = plan.all_gather %x [#plan.axis<"tp">] dim 1 : !shard -> !whole
  %a = plan.call "aten.linear.default"(%0, %v) {input = #base.operand<0>, weight = #base.operand<1>} : (!whole, !w) -> !y
  %b = plan.call "aten.linear.default"(%0, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!whole, !w) -> !y
  %c = plan.call "aten.add.Tensor"(%a, %b) {self = #base.operand<0>, other = #base.operand<1>} : (!y, !y) -> !y
  return %c : !y
}

// -----

// The product reads the gathered tensor by rows and whole.
plan.mesh [#base.mesh_axis<"tp" = 2>]
!shard = tensor<2048x2048xf32, #plan.sharding<[{}, {"tp"}]>>
!whole = tensor<2048x2048xf32, #plan.sharding<[{}, {}]>>
// CHECK-LABEL: sched.program @square
// CHECK-NOT: aten.slice.Tensor
func.func @square(%x: !shard {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> (!whole {plan.name = "y"}) {
  %0 = plan.all_gather %x [#plan.axis<"tp">] dim 1 : !shard -> !whole
  %1 = plan.call "aten.matmul.default"(%0, %0) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  return %1 : !whole
}

// -----

// The tokens of a single sample are what is gathered, so there are no rows that the collective leaves where they are.
plan.mesh [#base.mesh_axis<"tp" = 2>]
!shard = tensor<1x2048x4096xf32, #plan.sharding<[{}, {"tp"}, {}]>>
!whole = tensor<1x2048x4096xf32, #plan.sharding<[{}, {}, {}]>>
!w = tensor<512x4096xf32, #plan.sharding<[{"tp"}, {}]>>
!y = tensor<1x2048x512xf32, #plan.sharding<[{}, {}, {"tp"}]>>
// CHECK-LABEL: sched.program @one_sample
// CHECK-NOT: aten.slice.Tensor
func.func @one_sample(%x: !shard {plan.kind = #plan.kind<input>, plan.names = ["x"]}, %w: !w {plan.kind = #plan.kind<input>, plan.names = ["w"]}) -> (!y {plan.name = "y"}) {
  %0 = plan.all_gather %x [#plan.axis<"tp">] dim 1 : !shard -> !whole
  %1 = plan.call "aten.linear.default"(%0, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!whole, !w) -> !y
  return %1 : !y
}

// -----

// Rows over dp that are distributed in blocks: a block is not cut, and a part of them would be another distribution.
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
!x = tensor<4096x1024xf32, #plan.sharding<[{"dp", unit 1024}, {"tp"}]>>
!w = tensor<2048x1024xf32, #plan.sharding<[{}, {"tp"}]>>
!addend = tensor<4096x2048xf32, #plan.sharding<[{"dp", unit 1024}, {}], partial = sum {"tp"}>>
!sum = tensor<4096x2048xf32, #plan.sharding<[{"dp", unit 1024}, {}]>>
// CHECK-LABEL: sched.program @blocks
// CHECK-NOT: aten.slice.Tensor
func.func @blocks(%x: !x {plan.kind = #plan.kind<input>, plan.names = ["x"]}, %w: !w {plan.kind = #plan.kind<input>, plan.names = ["w"]}) -> (!sum {plan.name = "z"}) {
  %y = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!x, !w) -> !addend
  %z = plan.all_reduce %y [#plan.axis<"tp">] : !addend -> !sum
  return %z : !sum
}

// -----

// The result of the product is transposed in memory by what follows, while parts are joined row-major.
plan.mesh [#base.mesh_axis<"tp" = 2>]
!x = tensor<2048x1024xf32, #plan.sharding<[{}, {"tp"}]>>
!w = tensor<2048x1024xf32, #plan.sharding<[{}, {"tp"}]>>
!addend = tensor<2048x2048xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
!sum = tensor<2048x2048xf32, #plan.sharding<[{}, {}]>>
// CHECK-LABEL: sched.program @transposed
// CHECK-NOT: aten.slice.Tensor
func.func @transposed(%x: !x {plan.kind = #plan.kind<input>, plan.names = ["x"]}, %w: !w {plan.kind = #plan.kind<input>, plan.names = ["w"]}, %u: !sum {plan.kind = #plan.kind<input>, plan.names = ["u"]}) -> (!sum {plan.name = "z"}) {
  %y = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} : (!x, !w) -> !addend
  %t = plan.call "aten.transpose.int"(%u) {self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64} : (!sum) -> !sum
  %s = plan.call "aten.mul.Tensor"(%t, %y) {self = #base.operand<0>, other = #base.operand<1>} : (!sum, !addend) -> !addend
  %z = plan.all_reduce %s [#plan.axis<"tp">] : !addend -> !sum
  return %z : !sum
}
