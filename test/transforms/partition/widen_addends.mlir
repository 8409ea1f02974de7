// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-widen-addends | FileCheck %s
// RUN: %meshplan-opt %s --split-input-file --plan-widen-addends --plan-localize-calls -o /dev/null

module attributes {plan.wide_activations} {
plan.mesh [#base.mesh_axis<"tp" = 2>]

// The product writes float32, and the sum is rounded once.
// CHECK-LABEL: func.func @linear
func.func @linear(%x: tensor<4x8xbf16, #plan.sharding<[{}, {"tp"}]>>, %w: tensor<6x8xbf16, #plan.sharding<[{}, {"tp"}]>>)
    -> tensor<4x6xbf16, #plan.sharding<[{}, {}]>> {
  // CHECK: %[[ADDEND:.*]] = plan.call "meshplan.linear_f32"(%arg0, %arg1) {{.*}} in "mlp" {{.*}} -> tensor<4x6xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  // CHECK-NEXT: %[[WIDE:.*]] = plan.all_reduce %[[ADDEND]] {{.*}} -> tensor<4x6xf32, #plan.sharding<[{}, {}]>>
  // CHECK-NEXT: %[[SUM:.*]] = plan.call "aten._to_copy.default"(%[[WIDE]]) {dtype = bf16, self = #base.operand<0>} in "mlp" {{.*}} -> tensor<4x6xbf16, #plan.sharding<[{}, {}]>>
  // CHECK-NEXT: return %[[SUM]]
  %1 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "mlp"
      : (tensor<4x8xbf16, #plan.sharding<[{}, {"tp"}]>>, tensor<6x8xbf16, #plan.sharding<[{}, {"tp"}]>>)
      -> tensor<4x6xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  %2 = plan.all_reduce %1 [#plan.axis<"tp">] : tensor<4x6xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
      -> tensor<4x6xbf16, #plan.sharding<[{}, {}]>>
  return %2 : tensor<4x6xbf16, #plan.sharding<[{}, {}]>>
}
}

// -----

module attributes {plan.wide_activations} {
plan.mesh [#base.mesh_axis<"tp" = 2>]

// A bias is added before the sum is rounded, as in a product on one rank.
// CHECK-LABEL: func.func @bias
func.func @bias(%x: tensor<4x8xf16, #plan.sharding<[{}, {"tp"}]>>, %w: tensor<8x6xf16, #plan.sharding<[{"tp"}, {}]>>,
                %b: tensor<6xf16, #plan.sharding<[{}]>>) -> tensor<4x6xf16, #plan.sharding<[{"tp"}, {}]>> {
  // CHECK: %[[ADDEND:.*]] = plan.call "meshplan.matmul_f32"(%arg0, %arg1) {other = #base.operand<1>, self = #base.operand<0>}
  // CHECK: %[[WIDE:.*]] = plan.reduce_scatter %[[ADDEND]] {{.*}} -> tensor<4x6xf32, #plan.sharding<[{"tp"}, {}]>>
  // CHECK: %[[BIAS:.*]] = plan.call "aten._to_copy.default"(%arg2) {dtype = f32, {{.*}} -> tensor<6xf32, #plan.sharding<[{}]>>
  // CHECK: %[[BOTH:.*]] = plan.call "aten.add.Tensor"(%[[WIDE]], %[[BIAS]]) {{.*}} -> tensor<4x6xf32, #plan.sharding<[{"tp"}, {}]>>
  // CHECK: plan.call "aten._to_copy.default"(%[[BOTH]]) {dtype = f16, {{.*}} -> tensor<4x6xf16, #plan.sharding<[{"tp"}, {}]>>
  %1 = plan.call "aten.mm.default"(%x, %w) {self = #base.operand<0>, mat2 = #base.operand<1>}
      : (tensor<4x8xf16, #plan.sharding<[{}, {"tp"}]>>, tensor<8x6xf16, #plan.sharding<[{"tp"}, {}]>>)
      -> tensor<4x6xf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  %2 = plan.reduce_scatter %1 [#plan.axis<"tp">] dim 0 : tensor<4x6xf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
      -> tensor<4x6xf16, #plan.sharding<[{"tp"}, {}]>>
  %3 = plan.call "aten.add.Tensor"(%2, %b) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<4x6xf16, #plan.sharding<[{"tp"}, {}]>>, tensor<6xf16, #plan.sharding<[{}]>>)
      -> tensor<4x6xf16, #plan.sharding<[{"tp"}, {}]>>
  return %3 : tensor<4x6xf16, #plan.sharding<[{"tp"}, {}]>>
}
}

// -----

module attributes {plan.wide_activations} {
plan.mesh [#base.mesh_axis<"tp" = 2>]

// A residual of the sum's own size is added in the model's type.
// CHECK-LABEL: func.func @residual
func.func @residual(%x: tensor<4x8xbf16, #plan.sharding<[{}, {"tp"}]>>, %w: tensor<6x8xbf16, #plan.sharding<[{}, {"tp"}]>>,
                    %r: tensor<4x6xbf16, #plan.sharding<[{}, {}]>>) -> tensor<4x6xbf16, #plan.sharding<[{}, {}]>> {
  // CHECK: %[[SUM:.*]] = plan.call "aten._to_copy.default"({{.*}} -> tensor<4x6xbf16, #plan.sharding<[{}, {}]>>
  // CHECK-NEXT: plan.call "aten.add.Tensor"(%[[SUM]], %arg2)
  %1 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<4x8xbf16, #plan.sharding<[{}, {"tp"}]>>, tensor<6x8xbf16, #plan.sharding<[{}, {"tp"}]>>)
      -> tensor<4x6xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  %2 = plan.all_reduce %1 [#plan.axis<"tp">] : tensor<4x6xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
      -> tensor<4x6xbf16, #plan.sharding<[{}, {}]>>
  %3 = plan.call "aten.add.Tensor"(%2, %r) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<4x6xbf16, #plan.sharding<[{}, {}]>>, tensor<4x6xbf16, #plan.sharding<[{}, {}]>>)
      -> tensor<4x6xbf16, #plan.sharding<[{}, {}]>>
  return %3 : tensor<4x6xbf16, #plan.sharding<[{}, {}]>>
}
}

// -----

module attributes {plan.wide_activations} {
plan.mesh [#base.mesh_axis<"tp" = 2>]

// Rows of a sharded table, and results of each row alone, are zero on all ranks but one: 16 bits lose nothing.
// CHECK-LABEL: func.func @lookup
// CHECK-NOT: f32
func.func @lookup(%w: tensor<32x8xbf16, #plan.sharding<[{"tp"}, {}]>>, %i: tensor<4xi64, #plan.sharding<[{}]>>,
                  %s: tensor<bf16, #plan.sharding<[]>>) -> tensor<4x8xbf16, #plan.sharding<[{}, {}]>> {
  %1 = plan.call "aten.embedding.default"(%w, %i) {weight = #base.operand<0>, indices = #base.operand<1>}
      : (tensor<32x8xbf16, #plan.sharding<[{"tp"}, {}]>>, tensor<4xi64, #plan.sharding<[{}]>>)
      -> tensor<4x8xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  %2 = plan.call "aten.mul.Tensor"(%1, %s) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<4x8xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>, tensor<bf16, #plan.sharding<[]>>)
      -> tensor<4x8xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  %3 = plan.all_reduce %2 [#plan.axis<"tp">] : tensor<4x8xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
      -> tensor<4x8xbf16, #plan.sharding<[{}, {}]>>
  return %3 : tensor<4x8xbf16, #plan.sharding<[{}, {}]>>
}
}

// -----

module attributes {plan.wide_activations} {
plan.mesh [#base.mesh_axis<"tp" = 2>]

// The sum of two such addends is no longer nonzero on one rank only.
// CHECK-LABEL: func.func @lookups
func.func @lookups(%w: tensor<32x8xbf16, #plan.sharding<[{"tp"}, {}]>>, %i: tensor<4xi64, #plan.sharding<[{}]>>,
                   %j: tensor<4xi64, #plan.sharding<[{}]>>) -> tensor<4x8xbf16, #plan.sharding<[{}, {}]>> {
  %1 = plan.call "aten.embedding.default"(%w, %i) {weight = #base.operand<0>, indices = #base.operand<1>}
      : (tensor<32x8xbf16, #plan.sharding<[{"tp"}, {}]>>, tensor<4xi64, #plan.sharding<[{}]>>)
      -> tensor<4x8xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  %2 = plan.call "aten.embedding.default"(%w, %j) {weight = #base.operand<0>, indices = #base.operand<1>}
      : (tensor<32x8xbf16, #plan.sharding<[{"tp"}, {}]>>, tensor<4xi64, #plan.sharding<[{}]>>)
      -> tensor<4x8xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  // CHECK-COUNT-2: plan.call "aten._to_copy.default"({{.*}} -> tensor<4x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  // CHECK: plan.call "aten.add.Tensor"({{.*}} -> tensor<4x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  // CHECK: plan.call "aten._to_copy.default"({{.*}} -> tensor<4x8xbf16, #plan.sharding<[{}, {}]>>
  %3 = plan.call "aten.add.Tensor"(%1, %2) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<4x8xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>, tensor<4x8xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>)
      -> tensor<4x8xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
  %4 = plan.all_reduce %3 [#plan.axis<"tp">] : tensor<4x8xbf16, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
      -> tensor<4x8xbf16, #plan.sharding<[{}, {}]>>
  return %4 : tensor<4x8xbf16, #plan.sharding<[{}, {}]>>
}
}

// -----

module attributes {plan.wide_activations} {
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]

// Wide until nothing more is added; a dtype among the arguments is changed, too, and an operand is converted once.
// CHECK-LABEL: func.func @two_axes
func.func @two_axes(%x: tensor<4x8xbf16, #plan.sharding<[{"dp"}, {"tp"}]>>) -> tensor<bf16, #plan.sharding<[]>> {
  // CHECK: plan.call "aten.sum.default"(%arg0) {dtype = f32, {{.*}} -> tensor<f32, #plan.sharding<[], partial = sum {"dp", "tp"}>>
  // CHECK: plan.call "aten.view.default"({{.*}} -> tensor<1xf32, #plan.sharding<[{}], partial = sum {"dp", "tp"}>>
  // CHECK: plan.all_reduce {{.*}} -> tensor<1xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
  // CHECK-NEXT: plan.all_reduce {{.*}} -> tensor<1xf32, #plan.sharding<[{}]>>
  // CHECK-NEXT: plan.call "aten._to_copy.default"({{.*}} -> tensor<1xbf16, #plan.sharding<[{}]>>
  // CHECK-NEXT: plan.call "aten.view.default"({{.*}} -> tensor<bf16, #plan.sharding<[]>>
  %1 = plan.call "aten.sum.default"(%x) {self = #base.operand<0>, dtype = bf16}
      : (tensor<4x8xbf16, #plan.sharding<[{"dp"}, {"tp"}]>>) -> tensor<bf16, #plan.sharding<[], partial = sum {"dp", "tp"}>>
  %2 = plan.call "aten.view.default"(%1) {self = #base.operand<0>, size = [1]}
      : (tensor<bf16, #plan.sharding<[], partial = sum {"dp", "tp"}>>) -> tensor<1xbf16, #plan.sharding<[{}], partial = sum {"dp", "tp"}>>
  %3 = plan.all_reduce %2 [#plan.axis<"tp">] : tensor<1xbf16, #plan.sharding<[{}], partial = sum {"dp", "tp"}>>
      -> tensor<1xbf16, #plan.sharding<[{}], partial = sum {"dp"}>>
  %4 = plan.all_reduce %3 [#plan.axis<"dp">] : tensor<1xbf16, #plan.sharding<[{}], partial = sum {"dp"}>>
      -> tensor<1xbf16, #plan.sharding<[{}]>>
  %5 = plan.call "aten.view.default"(%4) {self = #base.operand<0>, size = []}
      : (tensor<1xbf16, #plan.sharding<[{}]>>) -> tensor<bf16, #plan.sharding<[]>>
  return %5 : tensor<bf16, #plan.sharding<[]>>
}
}

// -----

module attributes {plan.wide_activations} {
plan.mesh [#base.mesh_axis<"tp" = 2>]

// An operator that writes the type that it reads has its operands converted, once for all readers.
// CHECK-LABEL: func.func @converted
func.func @converted(%x: tensor<2x4x8xbf16, #plan.sharding<[{}, {"tp"}, {}]>>, %w: tensor<6x4x3xbf16, #plan.sharding<[{}, {"tp"}, {}]>>)
    -> tensor<2x6x6xbf16, #plan.sharding<[{}, {}, {}]>> {
  // CHECK-COUNT-2: plan.call "aten._to_copy.default"({{.*}} {dtype = f32,
  // CHECK-NEXT: plan.call "aten.conv1d.default"({{.*}} -> tensor<2x6x6xf32, #plan.sharding<[{}, {}, {}], partial = sum {"tp"}>>
  // CHECK-NEXT: plan.call "aten.conv1d.default"({{.*}} -> tensor<2x6x6xf32, #plan.sharding<[{}, {}, {}], partial = sum {"tp"}>>
  %1 = plan.call "aten.conv1d.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<2x4x8xbf16, #plan.sharding<[{}, {"tp"}, {}]>>, tensor<6x4x3xbf16, #plan.sharding<[{}, {"tp"}, {}]>>)
      -> tensor<2x6x6xbf16, #plan.sharding<[{}, {}, {}], partial = sum {"tp"}>>
  %2 = plan.call "aten.conv1d.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<2x4x8xbf16, #plan.sharding<[{}, {"tp"}, {}]>>, tensor<6x4x3xbf16, #plan.sharding<[{}, {"tp"}, {}]>>)
      -> tensor<2x6x6xbf16, #plan.sharding<[{}, {}, {}], partial = sum {"tp"}>>
  %3 = plan.call "aten.add.Tensor"(%1, %2) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x6x6xbf16, #plan.sharding<[{}, {}, {}], partial = sum {"tp"}>>, tensor<2x6x6xbf16, #plan.sharding<[{}, {}, {}], partial = sum {"tp"}>>)
      -> tensor<2x6x6xbf16, #plan.sharding<[{}, {}, {}], partial = sum {"tp"}>>
  %4 = plan.all_reduce %3 [#plan.axis<"tp">] : tensor<2x6x6xbf16, #plan.sharding<[{}, {}, {}], partial = sum {"tp"}>>
      -> tensor<2x6x6xbf16, #plan.sharding<[{}, {}, {}]>>
  return %4 : tensor<2x6x6xbf16, #plan.sharding<[{}, {}, {}]>>
}
}

// -----

module attributes {plan.wide_activations} {
plan.mesh [#base.mesh_axis<"tp" = 2>]

// Addends that the plan wants in 16 bits are rounded and reduced in 16 bits, but the calls before that stay wide.
// CHECK-LABEL: func.func @rounded
func.func @rounded(%x: tensor<4x8xbf16, #plan.sharding<[{}, {"tp"}]>>) -> tensor<4xbf16, #plan.sharding<[{}]>> {
  // CHECK: %[[WIDE:.*]] = plan.call "aten.sum.dim_IntList"(%arg0) {{.*}} -> tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
  // CHECK-NEXT: %[[ROUNDED:.*]] = plan.call "meshplan.round_gradient"(%[[WIDE]]) {{.*}} -> tensor<4xbf16, #plan.sharding<[{}], partial = sum {"tp"}>>
  // CHECK-NEXT: plan.all_reduce %[[ROUNDED]] [#plan.axis<"tp">] : tensor<4xbf16,
  // CHECK-NOT: _to_copy
  %0 = plan.call "aten.sum.dim_IntList"(%x) {self = #base.operand<0>, dim = [1], dtype = bf16}
      : (tensor<4x8xbf16, #plan.sharding<[{}, {"tp"}]>>) -> tensor<4xbf16, #plan.sharding<[{}], partial = sum {"tp"}>>
  %1 = plan.call "meshplan.round_gradient"(%0) {self = #base.operand<0>, dtype = bf16}
      : (tensor<4xbf16, #plan.sharding<[{}], partial = sum {"tp"}>>) -> tensor<4xbf16, #plan.sharding<[{}], partial = sum {"tp"}>>
  %2 = plan.all_reduce %1 [#plan.axis<"tp">] : tensor<4xbf16, #plan.sharding<[{}], partial = sum {"tp"}>> -> tensor<4xbf16, #plan.sharding<[{}]>>
  return %2 : tensor<4xbf16, #plan.sharding<[{}]>>
}
}

// -----

module attributes {plan.wide_activations} {
plan.mesh [#base.mesh_axis<"tp" = 2>]

// A conversion to float32 is no longer needed.
// CHECK-LABEL: func.func @converted_to_itself
func.func @converted_to_itself(%x: tensor<4x8xbf16, #plan.sharding<[{}, {"tp"}]>>) -> tensor<4xf32, #plan.sharding<[{}]>> {
  // CHECK: %[[WIDE:.*]] = plan.call "aten.sum.dim_IntList"(%arg0) {{.*}} -> tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
  // CHECK-NEXT: plan.all_reduce %[[WIDE]]
  // CHECK-NEXT: return
  %0 = plan.call "aten.sum.dim_IntList"(%x) {self = #base.operand<0>, dim = [1], dtype = bf16}
      : (tensor<4x8xbf16, #plan.sharding<[{}, {"tp"}]>>) -> tensor<4xbf16, #plan.sharding<[{}], partial = sum {"tp"}>>
  %1 = plan.call "aten._to_copy.default"(%0) {self = #base.operand<0>, dtype = f32}
      : (tensor<4xbf16, #plan.sharding<[{}], partial = sum {"tp"}>>) -> tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
  %2 = plan.all_reduce %1 [#plan.axis<"tp">] : tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>> -> tensor<4xf32, #plan.sharding<[{}]>>
  return %2 : tensor<4xf32, #plan.sharding<[{}]>>
}
}

// -----

module attributes {plan.wide_activations} {
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"microbatch" = 3>]

// Accumulation over microbatches is in float32, with or without a reduction over ranks.
// CHECK-LABEL: func.func @microbatches
func.func @microbatches(%x: tensor<4xbf16, #plan.sharding<[{"dp"}]>>, %y: tensor<4xbf16, #plan.sharding<[{}]>>)
    -> (tensor<bf16, #plan.sharding<[]>>, tensor<bf16, #plan.sharding<[]>>) {
  // CHECK: %[[S:.*]] = plan.call "aten.sum.default"({{.*}} -> tensor<f32, #plan.sharding<[], partial = sum {"dp"}>>
  // CHECK-NEXT: plan.leave_microbatch %[[S]] {{.*}} -> tensor<f32, #plan.sharding<[], partial = sum {"dp", "microbatch"}>>
  %0 = plan.call "aten.sum.default"(%x) {self = #base.operand<0>} : (tensor<4xbf16, #plan.sharding<[{"dp"}]>>) -> tensor<bf16, #plan.sharding<[], partial = sum {"dp"}>>
  %1 = plan.leave_microbatch %0 as "microbatches 3 mean" : tensor<bf16, #plan.sharding<[], partial = sum {"dp"}>> -> tensor<bf16, #plan.sharding<[], partial = sum {"dp", "microbatch"}>>
  %2 = plan.all_reduce %1 [#plan.axis<"microbatch">] : tensor<bf16, #plan.sharding<[], partial = sum {"dp", "microbatch"}>> -> tensor<bf16, #plan.sharding<[], partial = sum {"dp"}>>
  %d = plan.all_reduce %2 [#plan.axis<"dp">] : tensor<bf16, #plan.sharding<[], partial = sum {"dp"}>> -> tensor<bf16, #plan.sharding<[]>>
  // CHECK: %[[T:.*]] = plan.call "aten.sum.default"({{.*}} -> tensor<bf16, #plan.sharding<[]>>
  // CHECK-NEXT: %[[W:.*]] = plan.call "aten._to_copy.default"(%[[T]]) {dtype = f32
  // CHECK-NEXT: %[[L:.*]] = plan.leave_microbatch %[[W]] {{.*}} -> tensor<f32, #plan.sharding<[], partial = sum {"microbatch"}>>
  // CHECK-NEXT: %[[A:.*]] = plan.all_reduce %[[L]] {{.*}} -> tensor<f32, #plan.sharding<[]>>
  // CHECK-NEXT: plan.call "aten._to_copy.default"(%[[A]]) {dtype = bf16
  %3 = plan.call "aten.sum.default"(%y) {self = #base.operand<0>} : (tensor<4xbf16, #plan.sharding<[{}]>>) -> tensor<bf16, #plan.sharding<[]>>
  %4 = plan.leave_microbatch %3 as "microbatches 3 mean" : tensor<bf16, #plan.sharding<[]>> -> tensor<bf16, #plan.sharding<[], partial = sum {"microbatch"}>>
  %5 = plan.all_reduce %4 [#plan.axis<"microbatch">] : tensor<bf16, #plan.sharding<[], partial = sum {"microbatch"}>> -> tensor<bf16, #plan.sharding<[]>>
  return %d, %5 : tensor<bf16, #plan.sharding<[]>>, tensor<bf16, #plan.sharding<[]>>
}
}

// -----

module attributes {plan.wide_activations} {
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"ep" = 2>]

// Tables and counts are integers, which do not keep a kernel from writing float32.
// CHECK-LABEL: func.func @experts
func.func @experts(%indices: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>,
                   %x: tensor<4x6x8xbf16, #plan.sharding<[{"dp"}, {}, {}]>>,
                   %g: tensor<4x6x10xbf16, #plan.sharding<[{"dp"}, {}, {}]>>)
    -> (tensor<8x10x8xbf16, #plan.sharding<[{"ep"}, {}, {}]>>, tensor<4x6x8xbf16, #plan.sharding<[{"dp"}, {}, {}]>>) {
  %table, %counts = plan.call "meshplan.route"(%indices) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>)
      -> (tensor<8x4x6xi64, #plan.sharding<[{"ep"}, {"dp"}, {}]>>, tensor<8x4x6xi64, #plan.sharding<[{"ep"}, {"dp"}, {}]>>)
  %rows = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x8xbf16, #plan.sharding<[{"dp"}, {}, {}]>>, tensor<8x4x6xi64, #plan.sharding<[{"ep"}, {"dp"}, {}]>>)
      -> tensor<8x4x6x8xbf16, #plan.sharding<[{"ep"}, {"dp"}, {}, {}]>>
  %gradient = plan.call "meshplan.dispatch"(%g, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x10xbf16, #plan.sharding<[{"dp"}, {}, {}]>>, tensor<8x4x6xi64, #plan.sharding<[{"ep"}, {"dp"}, {}]>>)
      -> tensor<8x4x6x10xbf16, #plan.sharding<[{"ep"}, {"dp"}, {}, {}]>>
  // CHECK: plan.call "meshplan.grouped_linear_weight_gradient_f32"({{.*}}bf16{{.*}}bf16{{.*}} -> tensor<8x10x8xf32, #plan.sharding<[{"ep"}, {}, {}], partial = sum {"dp"}>>
  %weight = plan.call "meshplan.grouped_linear_weight_gradient"(%gradient, %rows, %counts) {gradient = #base.operand<0>, rows = #base.operand<1>, counts = #base.operand<2>}
      : (tensor<8x4x6x10xbf16, #plan.sharding<[{"ep"}, {"dp"}, {}, {}]>>, tensor<8x4x6x8xbf16, #plan.sharding<[{"ep"}, {"dp"}, {}, {}]>>, tensor<8x4x6xi64, #plan.sharding<[{"ep"}, {"dp"}, {}]>>)
      -> tensor<8x10x8xbf16, #plan.sharding<[{"ep"}, {}, {}], partial = sum {"dp"}>>
  %summed = plan.all_reduce %weight [#plan.axis<"dp">] : tensor<8x10x8xbf16, #plan.sharding<[{"ep"}, {}, {}], partial = sum {"dp"}>>
      -> tensor<8x10x8xbf16, #plan.sharding<[{"ep"}, {}, {}]>>
  // CHECK: plan.call "meshplan.combine"({{.*}}) {dtype = f32, {{.*}}bf16{{.*}} -> tensor<4x6x8xf32, #plan.sharding<[{"dp"}, {}, {}], partial = sum {"ep"}>>
  %tokens = plan.call "meshplan.combine"(%rows, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4 : i64, 6 : i64, 8 : i64]}
      : (tensor<8x4x6x8xbf16, #plan.sharding<[{"ep"}, {"dp"}, {}, {}]>>, tensor<8x4x6xi64, #plan.sharding<[{"ep"}, {"dp"}, {}]>>)
      -> tensor<4x6x8xbf16, #plan.sharding<[{"dp"}, {}, {}], partial = sum {"ep"}>>
  %whole = plan.all_reduce %tokens [#plan.axis<"ep">] : tensor<4x6x8xbf16, #plan.sharding<[{"dp"}, {}, {}], partial = sum {"ep"}>>
      -> tensor<4x6x8xbf16, #plan.sharding<[{"dp"}, {}, {}]>>
  return %summed, %whole : tensor<8x10x8xbf16, #plan.sharding<[{"ep"}, {}, {}]>>, tensor<4x6x8xbf16, #plan.sharding<[{"dp"}, {}, {}]>>
}
}
