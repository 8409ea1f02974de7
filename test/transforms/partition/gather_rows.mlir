// The rows of a sum are gathered where they are fewer bytes than its addends.
// RUN: %meshplan-opt %s --split-input-file --plan-gather-rows | FileCheck %s

// Two ranks with 3 rows of 64 bytes each, instead of a table of 100 rows. The conversion and the factor follow.
!rows = tensor<6x16xf32, #plan.sharding<[{"dp"}, {}]>>
!numbers = tensor<6xi64, #plan.sharding<[{"dp"}]>>
!addend = tensor<100x16xf32, #plan.sharding<[{}, {}], partial = sum {"dp"}>>
!wide = tensor<100x16xf64, #plan.sharding<[{}, {}], partial = sum {"dp"}>>
!sum = tensor<100x16xf64, #plan.sharding<[{}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>]

// CHECK-LABEL: func.func @all
// CHECK-DAG: %[[ROWS:.*]] = plan.reshard %arg0 because "data dp" : {{.*}} -> tensor<6x16xf32, #plan.sharding<[{}, {}]>>
// CHECK-DAG: %[[NUMBERS:.*]] = plan.reshard %arg1 because "data dp" : {{.*}} -> tensor<6xi64, #plan.sharding<[{}]>>
// CHECK: %[[SUM:.*]] = plan.call "meshplan.embedding_gradient"(%[[ROWS]], %[[NUMBERS]]) {{.*}} -> tensor<100x16xf32, #plan.sharding<[{}, {}]>>
// CHECK: %[[WIDE:.*]] = plan.call "aten._to_copy.default"(%[[SUM]]) {{.*}} -> tensor<100x16xf64, #plan.sharding<[{}, {}]>>
// CHECK: %[[SCALED:.*]] = plan.call "aten.mul.Tensor"(%[[WIDE]]) {{.*}} -> tensor<100x16xf64, #plan.sharding<[{}, {}]>>
// CHECK: return %[[SCALED]]
func.func @all(%rows: !rows, %numbers: !numbers) -> !sum {
  %0 = plan.call "meshplan.embedding_gradient"(%rows, %numbers) {gradient = #base.operand<0>, indices = #base.operand<1>, rows = 100 : i64} : (!rows, !numbers) -> !addend
  %1 = plan.call "aten._to_copy.default"(%0) {self = #base.operand<0>, dtype = f64} : (!addend) -> !wide
  %2 = plan.call "aten.mul.Tensor"(%1) {self = #base.operand<0>, other = 2.0 : f64} : (!wide) -> !wide
  %3 = plan.reshard %2 because "data dp" : !wide -> !sum
  return %3 : !sum
}

// -----

// A rank that updates a part of the table takes it of the sum; what tp divides stays divided.
!rows = tensor<6x16xf32, #plan.sharding<[{"dp"}, {}]>>
!numbers = tensor<6xi64, #plan.sharding<[{"dp"}]>>
!addend = tensor<100x16xf32, #plan.sharding<[{"tp"}, {}], partial = sum {"dp"}>>
!shard = tensor<100x16xf32, #plan.sharding<[{"tp"}, {}], flat = {"dp"}>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]

// CHECK-LABEL: func.func @shard
// CHECK: %[[SUM:.*]] = plan.call "meshplan.embedding_gradient"{{.*}} -> tensor<100x16xf32, #plan.sharding<[{"tp"}, {}]>>
// CHECK: plan.reshard %[[SUM]] because "data dp" : {{.*}} -> tensor<100x16xf32, #plan.sharding<[{"tp"}, {}], flat = {"dp"}>>
func.func @shard(%rows: !rows, %numbers: !numbers) -> !shard {
  %0 = plan.call "meshplan.embedding_gradient"(%rows, %numbers) {gradient = #base.operand<0>, indices = #base.operand<1>, rows = 100 : i64} : (!rows, !numbers) -> !addend
  %1 = plan.reshard %0 because "data dp" : !addend -> !shard
  return %1 : !shard
}

// -----

// A small table, a sum that is also read by itself, and rows of a rank's microbatches, which are not gathered one
// microbatch at a time.
!rows = tensor<600x16xf32, #plan.sharding<[{"dp"}, {}]>>
!numbers = tensor<600xi64, #plan.sharding<[{"dp"}]>>
!few = tensor<6x16xf32, #plan.sharding<[{"dp"}, {}]>>
!fewNumbers = tensor<6xi64, #plan.sharding<[{"dp"}]>>
!part = tensor<12x16xf32, #plan.sharding<[{"dp", "microbatch"}, {}]>>
!partNumbers = tensor<12xi64, #plan.sharding<[{"dp", "microbatch"}]>>
!addend = tensor<100x16xf32, #plan.sharding<[{}, {}], partial = sum {"dp"}>>
!inTime = tensor<100x16xf32, #plan.sharding<[{}, {}], partial = sum {"dp", "microbatch"}>>
!sum = tensor<100x16xf32, #plan.sharding<[{}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 2>]

// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: plan.call "meshplan.embedding_gradient"(%arg
func.func @others(%many: !rows, %numbers: !numbers, %few: !few, %fewNumbers: !fewNumbers, %part: !part, %partNumbers: !partNumbers) -> (!sum, !sum, !addend, !sum) {
  %0 = plan.call "meshplan.embedding_gradient"(%many, %numbers) {gradient = #base.operand<0>, indices = #base.operand<1>, rows = 100 : i64} : (!rows, !numbers) -> !addend
  %1 = plan.reshard %0 because "data dp" : !addend -> !sum
  %2 = plan.call "meshplan.embedding_gradient"(%few, %fewNumbers) {gradient = #base.operand<0>, indices = #base.operand<1>, rows = 100 : i64} : (!few, !fewNumbers) -> !addend
  %3 = plan.reshard %2 because "data dp" : !addend -> !sum
  %4 = plan.call "meshplan.embedding_gradient"(%part, %partNumbers) {gradient = #base.operand<0>, indices = #base.operand<1>, rows = 100 : i64} : (!part, !partNumbers) -> !inTime
  %5 = plan.reshard %4 because "data dp" : !inTime -> !sum
  return %1, %3, %2, %5 : !sum, !sum, !addend, !sum
}
