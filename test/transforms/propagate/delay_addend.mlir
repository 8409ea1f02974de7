// Gradients of one value are added in an order that needs only one collective for all partial ones.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-styles --plan-propagate-shardings | FileCheck %s

// As with a layer under tp beside an adapter that is replicated: p, w and q, of which p and q are partial.
// CHECK-LABEL: func.func @step(
// CHECK: %[[P:.*]] = plan.call "aten.matmul.default"({{.*}} partial = sum {"tp"}
// CHECK: %[[W:.*]] = plan.call "aten.sin.default"
// CHECK: %[[Q:.*]] = plan.call "aten.matmul.default"({{.*}} partial = sum {"tp"}
// CHECK: %[[PQ:.*]] = plan.call "aten.add.Tensor"(%[[P]], %[[Q]]) {{.*}} -> tensor<4x6xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
// CHECK: %[[SUM:.*]] = plan.reshard %[[PQ]] {{.*}} -> tensor<4x6xf32, #plan.sharding<[{}, {}]>>
// CHECK: %[[ALL:.*]] = plan.call "aten.add.Tensor"(%[[SUM]], %[[W]])
// CHECK-NOT: plan.reshard
// CHECK: return %[[ALL]]
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @step(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {"tp"}]>},
    %a: tensor<8x6xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.sharding = #plan.sharding<[{"tp"}, {}]>},
    %b: tensor<8x6xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.sharding = #plan.sharding<[{"tp"}, {}]>},
    %y: tensor<4x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["y"], plan.sharding = #plan.sharding<[{}, {}]>}) -> (tensor<4x6xf32> {plan.name = "0"}) attributes {plan.role = #base.role<step>} {
  %p = plan.call "aten.matmul.default"(%x, %a) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %w = plan.call "aten.sin.default"(%y) {self = #base.operand<0>} backward : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %0 = plan.call "aten.add.Tensor"(%p, %w) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %q = plan.call "aten.matmul.default"(%x, %b) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = plan.call "aten.add.Tensor"(%0, %q) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// -----

// Several replicated values in between, including the first addend: each is added after the reduction.
// CHECK-LABEL: func.func @step(
// CHECK: plan.call "aten.add.Tensor"({{.*}} partial = sum {"tp"}>>
// CHECK: %[[SUM:.*]] = plan.reshard
// CHECK: plan.call "aten.add.Tensor"(%[[SUM]],
// CHECK: plan.call "aten.add.Tensor"
// CHECK-NOT: plan.reshard
// CHECK: return
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @step(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {"tp"}]>},
    %a: tensor<8x6xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.sharding = #plan.sharding<[{"tp"}, {}]>},
    %y: tensor<4x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["y"], plan.sharding = #plan.sharding<[{}, {}]>}) -> (tensor<4x6xf32> {plan.name = "0"}) attributes {plan.role = #base.role<step>} {
  %w = plan.call "aten.sin.default"(%y) {self = #base.operand<0>} backward : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %p = plan.call "aten.matmul.default"(%x, %a) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %0 = plan.call "aten.add.Tensor"(%w, %p) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %v = plan.call "aten.cos.default"(%y) {self = #base.operand<0>} backward : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = plan.call "aten.add.Tensor"(%0, %v) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %q = plan.call "aten.matmul.default"(%x, %a) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %2 = plan.call "aten.add.Tensor"(%1, %q) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// -----

// A sum with another reader, and a sum of the model itself, stay where they are.
// CHECK-LABEL: func.func @step(
// CHECK: %[[P:.*]] = plan.reshard
// CHECK: plan.call "aten.add.Tensor"(%[[P]], {{.*}} backward
// CHECK: plan.call "aten.sin.default"
// CHECK: plan.reshard
// CHECK: plan.call "aten.add.Tensor"
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @step(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {"tp"}]>},
    %a: tensor<8x6xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.sharding = #plan.sharding<[{"tp"}, {}]>},
    %y: tensor<4x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["y"], plan.sharding = #plan.sharding<[{}, {}]>}) -> (tensor<4x6xf32> {plan.name = "0"}, tensor<4x6xf32> {plan.name = "1"}) attributes {plan.role = #base.role<step>} {
  %p = plan.call "aten.matmul.default"(%x, %a) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %0 = plan.call "aten.add.Tensor"(%p, %y) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %s = plan.call "aten.sin.default"(%0) {self = #base.operand<0>} backward : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %q = plan.call "aten.matmul.default"(%x, %a) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = plan.call "aten.add.Tensor"(%0, %q) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %1, %s : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// Gradients of two types are added in the given order: another order would round differently.
// CHECK-LABEL: func.func @step(
// CHECK: plan.call "aten.add.Tensor"({{.*}} : (tensor<4x6xbf16, {{.*}}>, tensor<4x6xbf16, {{.*}}>) -> tensor<4x6xbf16,
// CHECK: plan.call "aten.add.Tensor"({{.*}} : (tensor<4x6xbf16, {{.*}}>, tensor<4x6xf32, {{.*}}>) -> tensor<4x6xf32,
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @step(
    %x: tensor<4x8xbf16> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {"tp"}]>},
    %a: tensor<8x6xbf16> {plan.kind = #plan.kind<parameter>, plan.names = ["a"], plan.sharding = #plan.sharding<[{"tp"}, {}]>},
    %z: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["z"], plan.sharding = #plan.sharding<[{}, {"tp"}]>},
    %b: tensor<8x6xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["b"], plan.sharding = #plan.sharding<[{"tp"}, {}]>},
    %y: tensor<4x6xbf16> {plan.kind = #plan.kind<input>, plan.names = ["y"], plan.sharding = #plan.sharding<[{}, {}]>}) -> (tensor<4x6xf32> {plan.name = "0"}) attributes {plan.role = #base.role<step>} {
  %p = plan.call "aten.matmul.default"(%x, %a) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<4x8xbf16>, tensor<8x6xbf16>) -> tensor<4x6xbf16>
  %w = plan.call "aten.sin.default"(%y) {self = #base.operand<0>} backward : (tensor<4x6xbf16>) -> tensor<4x6xbf16>
  %0 = plan.call "aten.add.Tensor"(%p, %w) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<4x6xbf16>, tensor<4x6xbf16>) -> tensor<4x6xbf16>
  %q = plan.call "aten.matmul.default"(%z, %b) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = plan.call "aten.add.Tensor"(%0, %q) {self = #base.operand<0>, other = #base.operand<1>} backward : (tensor<4x6xbf16>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
