// Sums over microbatches are completed before sums over ranks.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-styles --plan-propagate-shardings | FileCheck %s

// Only one of the two is partial over ranks, too. Its reduction completes both sums over microbatches.
// CHECK-LABEL: func.func @forward(
// CHECK: %[[A:.*]] = plan.call "aten.sum.dim_IntList"({{.*}} -> tensor<6xf32, #plan.sharding<[{}], partial = sum {"microbatch"}>>
// CHECK: %[[B:.*]] = plan.call "aten.sum.dim_IntList"({{.*}} -> tensor<6xf32, #plan.sharding<[{}], partial = sum {"tp", "microbatch"}>>
// CHECK-DAG: %[[BM:.*]] = plan.reshard %[[B]] {{.*}} -> tensor<6xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
// CHECK-DAG: %[[BT:.*]] = plan.reshard %[[BM]] {{.*}} -> tensor<6xf32, #plan.sharding<[{}]>>
// CHECK-DAG: %[[AM:.*]] = plan.reshard %[[A]] {{.*}} -> tensor<6xf32, #plan.sharding<[{}]>>
// CHECK: plan.call "aten.add.Tensor"(%[[AM]], %[[BT]]) {{.*}} -> tensor<6xf32, #plan.sharding<[{}]>>
plan.mesh [#base.mesh_axis<"tp" = 2>, #base.mesh_axis<"microbatch" = 2>]
func.func @forward(
    %x: tensor<4x4x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"microbatch"}, {}, {}]>},
    %y: tensor<4x4x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["y"], plan.sharding = #plan.sharding<[{"microbatch"}, {"tp"}, {}]>}) -> (tensor<6xf32> {plan.name = "0"}) {
  %a = plan.call "aten.sum.dim_IntList"(%x) {self = #base.operand<0>, dim = [0, 1]} : (tensor<4x4x6xf32>) -> tensor<6xf32>
  %b = plan.call "aten.sum.dim_IntList"(%y) {self = #base.operand<0>, dim = [0, 1]} : (tensor<4x4x6xf32>) -> tensor<6xf32>
  %0 = plan.call "aten.add.Tensor"(%a, %b) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

// Two values that are partial over the same axes are added first.
// CHECK-LABEL: func.func @forward(
// CHECK: %[[S:.*]] = plan.call "aten.add.Tensor"({{.*}} -> tensor<6xf32, #plan.sharding<[{}], partial = sum {"tp", "microbatch"}>>
// CHECK-COUNT-2: plan.reshard
// CHECK-NOT: plan.reshard
plan.mesh [#base.mesh_axis<"tp" = 2>, #base.mesh_axis<"microbatch" = 2>]
func.func @forward(
    %y: tensor<4x4x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["y"], plan.sharding = #plan.sharding<[{"microbatch"}, {"tp"}, {}]>}) -> (tensor<6xf32> {plan.name = "0"}) {
  %s = plan.call "aten.sin.default"(%y) {self = #base.operand<0>} : (tensor<4x4x6xf32>) -> tensor<4x4x6xf32>
  %a = plan.call "aten.sum.dim_IntList"(%s) {self = #base.operand<0>, dim = [0, 1]} : (tensor<4x4x6xf32>) -> tensor<6xf32>
  %b = plan.call "aten.sum.dim_IntList"(%y) {self = #base.operand<0>, dim = [0, 1]} : (tensor<4x4x6xf32>) -> tensor<6xf32>
  %0 = plan.call "aten.add.Tensor"(%a, %b) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

// A constraint along data-parallel axes does not mention microbatches: if they divide a rank's own samples, they remain
// so; if each has samples of all ranks, a rank takes its shard of each microbatch.
// CHECK-LABEL: func.func @forward(
// CHECK-NOT: plan.reshard
// CHECK: plan.call "aten.sin.default"({{.*}} -> tensor<8x6xf32, #plan.sharding<[{"dp", "microbatch"}, {}]>>
// CHECK: %[[C:.*]] = plan.call "aten.cos.default"({{.*}} -> tensor<8x6xf32, #plan.sharding<[{"microbatch"}, {}]>>
// CHECK: %[[D:.*]] = plan.reshard %[[C]] {{.*}} -> tensor<8x6xf32, #plan.sharding<[{"microbatch", "dp"}, {}]>>
// CHECK: plan.call "aten.sin.default"(%[[D]])
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 2>]
func.func @forward(
    %x: tensor<8x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp", "microbatch"}, {}]>},
    %y: tensor<8x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["y"], plan.sharding = #plan.sharding<[{"microbatch"}, {}]>}) -> (tensor<8x6xf32> {plan.name = "0"}, tensor<8x6xf32> {plan.name = "1"}) {
  %a = plan.constrain %x <[{"dp"}, {}]> along [#plan.axis<"dp">] as "input 0" : tensor<8x6xf32> -> tensor<8x6xf32>
  %0 = plan.call "aten.sin.default"(%a) {self = #base.operand<0>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %c = plan.call "aten.cos.default"(%y) {self = #base.operand<0>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %d = plan.constrain %c <[{"dp"}, {}]> along [#plan.axis<"dp">] as "input 0" : tensor<8x6xf32> -> tensor<8x6xf32>
  %1 = plan.call "aten.sin.default"(%d) {self = #base.operand<0>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0, %1 : tensor<8x6xf32>, tensor<8x6xf32>
}
