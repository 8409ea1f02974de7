// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-styles --plan-propagate-shardings | FileCheck %s

plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "down" rowwise [#plan.axis<"tp">] as "rowwise tp"

// Plain tensor parallelism: one reduction, after the rowwise module; its bias is added once, after the reduction.
// CHECK-LABEL: func.func @mlp
// CHECK: plan.call "aten.linear.default"{{.*}} -> tensor<4x16xf32, #plan.sharding<[{"dp"}, {"tp"}]>>
// CHECK: %[[P:.*]] = plan.call "aten.linear.default"{{.*}} -> tensor<4x8xf32, #plan.sharding<[{"dp"}, {}], partial = sum {"tp"}>>
// CHECK: %[[R:.*]] = plan.reshard %[[P]] because "rowwise tp" {{.*}} -> tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>>
// CHECK: %[[S:.*]] = plan.call "aten.add.Tensor"(%[[R]],
// CHECK: plan.call "aten.add.Tensor"(%{{.*}}, %[[S]])
// CHECK-NOT: plan.reshard
func.func @mlp(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}, {}]>},
    %w1: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]},
    %w2: tensor<8x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["down.weight"]},
    %b2: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["down.bias"]}) -> tensor<4x8xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w1) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %1 = plan.call "aten.linear.default"(%0, %w2, %b2)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "down"
      : (tensor<4x16xf32>, tensor<8x16xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = plan.call "aten.add.Tensor"(%x, %1) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "embed" rowwise [#plan.axis<"tp">] as "rowwise tp"
plan.style "norm" sequence [#plan.axis<"tp">] as "sequence tp"
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "k" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "o" rowwise [#plan.axis<"tp">] as "rowwise tp"

// Sequence parallelism: the embedding's addends are reduce-scattered because a consumer is sharded there; q and k share
// one gather; the residual stream stays sharded, so o's addends are reduce-scattered, too.
// CHECK-LABEL: func.func @block
// CHECK: %[[E:.*]] = plan.call "aten.embedding.default"{{.*}}partial = sum {"tp"}
// CHECK: %[[H:.*]] = plan.reshard %[[E]] because "rowwise tp" {{.*}} -> tensor<2x6x8xf32, #plan.sharding<[{}, {"tp"}, {}]>>
// CHECK: %[[N:.*]] = plan.call "aten.mul.Tensor"(%[[H]],
// CHECK: %[[G:.*]] = plan.reshard %[[N]] because "colwise tp" {{.*}} -> tensor<2x6x8xf32, #plan.sharding<[{}, {}, {}]>>
// CHECK-NOT: plan.reshard
// CHECK: plan.call "aten.linear.default"(%[[G]],
// CHECK: plan.call "aten.linear.default"(%[[G]],
// CHECK: %[[O:.*]] = plan.call "aten.linear.default"{{.*}}partial = sum {"tp"}
// CHECK: %[[S:.*]] = plan.reshard %[[O]] because "rowwise tp" {{.*}} -> tensor<2x6x8xf32, #plan.sharding<[{}, {"tp"}, {}]>>
// CHECK: plan.call "aten.add.Tensor"(%[[H]], %[[S]])
// CHECK-NOT: plan.reshard
func.func @block(
    %ids: tensor<2x6xi64> {plan.kind = #plan.kind<input>, plan.names = ["ids"]},
    %table: tensor<32x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["embed.weight"]},
    %g: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["norm.weight"]},
    %wq: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"]},
    %wk: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["k.weight"]},
    %wo: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["o.weight"]}) -> tensor<2x6x8xf32> {
  %h = plan.call "aten.embedding.default"(%table, %ids) {weight = #base.operand<0>, indices = #base.operand<1>} in "embed"
      : (tensor<32x8xf32>, tensor<2x6xi64>) -> tensor<2x6x8xf32>
  %n = plan.call "aten.mul.Tensor"(%h, %g) {self = #base.operand<0>, other = #base.operand<1>} in "norm"
      : (tensor<2x6x8xf32>, tensor<8xf32>) -> tensor<2x6x8xf32>
  %q = plan.call "aten.linear.default"(%n, %wq) {input = #base.operand<0>, weight = #base.operand<1>} in "q"
      : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %k = plan.call "aten.linear.default"(%n, %wk) {input = #base.operand<0>, weight = #base.operand<1>} in "k"
      : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %a = plan.call "aten.mul.Tensor"(%q, %k) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  %o = plan.call "aten.linear.default"(%a, %wo) {input = #base.operand<0>, weight = #base.operand<1>} in "o"
      : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  %r = plan.call "aten.add.Tensor"(%h, %o) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  return %r : tensor<2x6x8xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "a" rowwise [#plan.axis<"tp">] as "rowwise tp"
plan.style "b" rowwise [#plan.axis<"tp">] as "rowwise tp"

// Parallel branches: the sum of two addends is an addend, so one reduction serves both.
// CHECK-LABEL: func.func @parallel
// CHECK: %[[S:.*]] = plan.call "aten.add.Tensor"{{.*}} -> tensor<4x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
// CHECK: %[[R:.*]] = plan.reshard %[[S]] because "rowwise tp"
// CHECK: plan.call "aten.add.Tensor"(%{{.*}}, %[[R]])
func.func @parallel(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %wa: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["a.weight"]},
    %wb: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["b.weight"]}) -> tensor<4x8xf32> {
  %a = plan.call "aten.linear.default"(%x, %wa) {input = #base.operand<0>, weight = #base.operand<1>} in "a"
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %b = plan.call "aten.linear.default"(%x, %wb) {input = #base.operand<0>, weight = #base.operand<1>} in "b"
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %s = plan.call "aten.add.Tensor"(%a, %b) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = plan.call "aten.add.Tensor"(%x, %s) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// Maxima cannot be reduce-scattered: they are all-reduced and then sliced.
// CHECK-LABEL: func.func @maxima
// CHECK: %[[P:.*]] = plan.call "aten.amax.default"{{.*}}partial = max {"tp"}
// CHECK: %[[R:.*]] = plan.reshard %[[P]] {{.*}} -> tensor<4xf32, #plan.sharding<[{}]>>
// CHECK: plan.reshard %[[R]] because "output split 0 over tp" {{.*}} -> tensor<4xf32, #plan.sharding<[{"tp"}]>>
func.func @maxima(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {"tp"}]>})
    -> tensor<4xf32> {
  %p = plan.call "aten.amax.default"(%x) {self = #base.operand<0>, dim = array<i64: 1>}
      : (tensor<4x8xf32>) -> tensor<4xf32>
  %y = plan.constrain %p <[{"tp"}]> along [#plan.axis<"tp">] as "output split 0 over tp"
      : tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

plan.style "a" rowwise [#plan.axis<"tp">] as "rowwise tp"

// Two consumers of an addend, one of which needs the sum: it is reduced once, for both.
// CHECK-LABEL: func.func @shared_addend
// CHECK: %[[A:.*]] = plan.call "aten.linear.default"
// CHECK: %[[R:.*]] = plan.reshard %[[A]] because "rowwise tp"
// CHECK: plan.call "aten.neg.default"(%[[R]])
// CHECK: plan.call "aten.exp.default"(%[[R]])
// CHECK-NOT: plan.reshard
func.func @shared_addend(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["a.weight"]}) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "a"
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %n = plan.call "aten.neg.default"(%a) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = plan.call "aten.exp.default"(%a) {self = #base.operand<0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %n, %e : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
plan.style "a" rowwise [#plan.axis<"tp">] as "rowwise tp"

// A constraint along dp leaves the addends over tp unreduced, and does not change the cause of their reduction.
// CHECK-LABEL: func.func @statement_about_another_axis
// CHECK: %[[A:.*]] = plan.call "aten.linear.default"
// CHECK-NEXT: %[[D:.*]] = plan.reshard %[[A]] because "output 0" {{.*}} -> tensor<4x8xf32, #plan.sharding<[{"dp"}, {}], partial = sum {"tp"}>>
// CHECK-NEXT: %[[S:.*]] = plan.reshard %[[D]] because "rowwise tp"
// CHECK: return %[[S]] : tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>>
func.func @statement_about_another_axis(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["a.weight"]}) -> tensor<4x8xf32> {
  %a = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "a"
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %c = plan.constrain %a <[{"dp"}, {}]> along [#plan.axis<"dp">] as "output 0" : tensor<4x8xf32> -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 4>]
plan.style "a" rowwise [#plan.axis<"tp">] as "rowwise tp"

// The other operand has its rows over tp, but 6 rows are too few for dp and tp together: the addends are all-reduced.
// CHECK-LABEL: func.func @too_few_rows
// CHECK: %[[A:.*]] = plan.call "aten.linear.default"{{.*}} -> tensor<6x8xf32, #plan.sharding<[{"dp"}, {}], partial = sum {"tp"}>>
// CHECK: plan.reshard %[[A]] because "rowwise tp" {{.*}} -> tensor<6x8xf32, #plan.sharding<[{"dp"}, {}]>>
func.func @too_few_rows(
    %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}, {}]>},
    %y: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["y"], plan.sharding = #plan.sharding<[{"tp"}, {}]>},
    %w: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["a.weight"]}) -> tensor<6x8xf32> {
  %a = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "a"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %s = plan.call "aten.mul.Tensor"(%a, %y) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  return %s : tensor<6x8xf32>
}

// -----

// An input that its statement shards is gathered where an operator splits that dim: only weights have parts.
plan.mesh [#base.mesh_axis<"dp" = 2>]

// CHECK-LABEL: func.func @divided_samples_are_taken_apart
func.func @divided_samples_are_taken_apart(
    %0: tensor<4x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}, {}]>})
    -> (tensor<2x6xf32>, tensor<2x6xf32>) {
  // CHECK: %[[WHOLE:.*]] = plan.reshard %arg0 because "input x" : tensor<4x6xf32, #plan.sharding<[{"dp"}, {}]>> -> tensor<4x6xf32, #plan.sharding<[{}, {}]>>
  // CHECK: plan.call "aten.split_with_sizes.default"(%[[WHOLE]])
  %1:2 = plan.call "aten.split_with_sizes.default"(%0) {self = #base.operand<0>, split_sizes = [2, 2]} in "m"
    : (tensor<4x6xf32>) -> (tensor<2x6xf32>, tensor<2x6xf32>)
  return %1#0, %1#1 : tensor<2x6xf32>, tensor<2x6xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// Parts of complete pairs are parts of the dim of pairs.
// CHECK-LABEL: func.func @pairs_in_parts
// CHECK-NOT: plan.reshard
// CHECK: "aten.view.default"{{.*}} -> tensor<3x8x2xf32, #plan.sharding<[{}, {"tp", parts [4, 4]}, {}]>>
// CHECK: "aten.select.int"{{.*}} -> tensor<3x8xf32, #plan.sharding<[{}, {"tp", parts [4, 4]}]>>
// CHECK-NOT: plan.reshard
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp parts 2" {parts = array<i64: 1, 1>}
func.func @pairs_in_parts(
    %x: tensor<3x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]}) -> tensor<3x8xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<3x4xf32>, tensor<16x4xf32>) -> tensor<3x16xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = array<i64: 3, 8, 2>}
      : (tensor<3x16xf32>) -> tensor<3x8x2xf32>
  %2 = plan.call "aten.select.int"(%1) {self = #base.operand<0>, dim = 2 : i64, index = 1 : i64}
      : (tensor<3x8x2xf32>) -> tensor<3x8xf32>
  return %2 : tensor<3x8xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// A flip needs the whole dim of a view, and no part of a weight: the dim is gathered.
// CHECK-LABEL: func.func @flipped_pairs
// CHECK: %[[V:.*]] = plan.call "aten.view.default"{{.*}} -> tensor<3x8x2xf32, #plan.sharding<[{}, {"tp"}, {}]>>
// CHECK: %[[W:.*]] = plan.reshard %[[V]] {{.*}} -> tensor<3x8x2xf32, #plan.sharding<[{}, {}, {}]>>
// CHECK: "aten.flip.default"(%[[W]])
plan.style "up" colwise [#plan.axis<"tp">] as "colwise tp"
func.func @flipped_pairs(
    %x: tensor<3x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %w: tensor<16x4xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["up.weight"]}) -> tensor<3x8x2xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "up"
      : (tensor<3x4xf32>, tensor<16x4xf32>) -> tensor<3x16xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = array<i64: 3, 8, 2>}
      : (tensor<3x16xf32>) -> tensor<3x8x2xf32>
  %2 = plan.call "aten.flip.default"(%1) {self = #base.operand<0>, dims = array<i64: 1>}
      : (tensor<3x8x2xf32>) -> tensor<3x8x2xf32>
  return %2 : tensor<3x8x2xf32>
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]

// A constraint along tp leaves the other axes in place, and shards within their shards; it states explicitly which dims
// stay unsharded. One row per rank is enough.
// CHECK-LABEL: func.func @statements_beside_others
// CHECK: plan.reshard %arg0 {{.*}} -> tensor<8x4xf32, #plan.sharding<[{"dp", "tp"}, {}]>>
// CHECK: plan.reshard %arg0 {{.*}} -> tensor<8x4xf32, #plan.sharding<[{"dp"}, {"tp"}]>>
// CHECK: plan.reshard %arg1 {{.*}} -> tensor<12xf32, #plan.sharding<[{"tp", unit 4}]>>
// CHECK: plan.reshard %arg1 {{.*}} -> tensor<12xf32, #plan.sharding<[{"tp", parts [8, 4]}]>>
// CHECK: plan.reshard %arg2 {{.*}} -> tensor<2xf32, #plan.sharding<[{"tp"}]>>
func.func @statements_beside_others(
    %x: tensor<8x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}, {}]>},
    %y: tensor<12xf32> {plan.kind = #plan.kind<input>, plan.names = ["y"]},
    %z: tensor<2xf32> {plan.kind = #plan.kind<input>, plan.names = ["z"]})
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<12xf32>, tensor<12xf32>, tensor<2xf32>) {
  %0 = plan.constrain %x <[{"tp"}, {}]> along [#plan.axis<"tp">] as "output split 0 over tp" : tensor<8x4xf32> -> tensor<8x4xf32>
  %1 = plan.constrain %x <[{}, {"tp"}]> along [#plan.axis<"tp">] as "output split 1 over tp" : tensor<8x4xf32> -> tensor<8x4xf32>
  %2 = plan.constrain %y <[{"tp", unit 4}]> along [#plan.axis<"tp">] as "rowwise tp" : tensor<12xf32> -> tensor<12xf32>
  %3 = plan.constrain %y <[{"tp", parts [8, 4]}]> along [#plan.axis<"tp">] as "rowwise tp" : tensor<12xf32> -> tensor<12xf32>
  %4 = plan.constrain %z <[{"tp"}]> along [#plan.axis<"tp">] as "output split 0 over tp" : tensor<2xf32> -> tensor<2xf32>
  return %0, %1, %2, %3, %4 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<12xf32>, tensor<12xf32>, tensor<2xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// Partial sums are reduced directly to the layout that is needed, down to one row per rank.
// CHECK-LABEL: func.func @scattered_sums
// CHECK: %[[P:.*]] = plan.call "aten.sum.dim_IntList"{{.*}}partial = sum {"tp"}
// CHECK: plan.reshard %[[P]] {{.*}} -> tensor<2xf32, #plan.sharding<[{"tp"}]>>
// CHECK-NOT: plan.reshard
func.func @scattered_sums(
    %x: tensor<2x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {"tp"}]>})
    -> tensor<2xf32> {
  %p = plan.call "aten.sum.dim_IntList"(%x) {self = #base.operand<0>, dim = array<i64: 1>}
      : (tensor<2x8xf32>) -> tensor<2xf32>
  %y = plan.constrain %p <[{"tp"}]> along [#plan.axis<"tp">] as "output split 0 over tp"
      : tensor<2xf32> -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]

// Another consumer of the replicated factor does not affect the addend: the product stays partial, and is reduced once.
// CHECK-LABEL: func.func @shared_factor
// CHECK: %[[P:.*]] = plan.call "aten.sum.dim_IntList"{{.*}}partial = sum {"tp"}
// CHECK-NEXT: %[[M:.*]] = plan.call "aten.mul.Tensor"(%[[P]], %arg1){{.*}} -> tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
// CHECK-NEXT: plan.call "aten.neg.default"(%arg1)
// CHECK: plan.reshard %[[M]]
// CHECK-NOT: plan.reshard
func.func @shared_factor(
    %x: tensor<4x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {"tp"}]>},
    %s: tensor<4xf32> {plan.kind = #plan.kind<input>, plan.names = ["s"]}) -> (tensor<4xf32>, tensor<4xf32>) {
  %p = plan.call "aten.sum.dim_IntList"(%x) {self = #base.operand<0>, dim = array<i64: 1>}
      : (tensor<4x8xf32>) -> tensor<4xf32>
  %m = plan.call "aten.mul.Tensor"(%p, %s) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = plan.call "aten.neg.default"(%s) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %m, %n : tensor<4xf32>, tensor<4xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
plan.style "q" colwise [#plan.axis<"tp">] as "colwise tp"
plan.style "delta" rowwise [#plan.axis<"tp">] as "rowwise tp"

// Addends that are added to a head-sharded value are scattered by heads: of three heads the first rank has two.
// CHECK-LABEL: func.func @scattered_heads
// CHECK: %[[Q:.*]] = plan.call "aten.linear.default"{{.*}} -> tensor<1x6x12xf32, #plan.sharding<[{}, {}, {"tp", unit 4}]>>
// CHECK: %[[P:.*]] = plan.call "aten.linear.default"{{.*}}partial = sum {"tp"}
// CHECK: %[[R:.*]] = plan.reshard %[[P]] because "rowwise tp" {{.*}} -> tensor<1x6x12xf32, #plan.sharding<[{}, {}, {"tp", unit 4}]>>
// CHECK: plan.call "aten.add.Tensor"(%[[Q]], %[[R]])
func.func @scattered_heads(
    %x: tensor<1x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %k: tensor<1x3x6x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["k"]},
    %wq: tensor<12x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"]},
    %wd: tensor<12x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["delta.weight"]}) -> tensor<1x3x6x4xf32> {
  %q = plan.call "aten.linear.default"(%x, %wq) {input = #base.operand<0>, weight = #base.operand<1>} in "q"
      : (tensor<1x6x8xf32>, tensor<12x8xf32>) -> tensor<1x6x12xf32>
  %d = plan.call "aten.linear.default"(%x, %wd) {input = #base.operand<0>, weight = #base.operand<1>} in "delta"
      : (tensor<1x6x8xf32>, tensor<12x8xf32>) -> tensor<1x6x12xf32>
  %s = plan.call "aten.add.Tensor"(%q, %d) {self = #base.operand<0>, other = #base.operand<1>} in "attn"
      : (tensor<1x6x12xf32>, tensor<1x6x12xf32>) -> tensor<1x6x12xf32>
  %h = plan.call "aten.view.default"(%s) {self = #base.operand<0>, size = array<i64: 1, 6, 3, 4>} in "attn"
      : (tensor<1x6x12xf32>) -> tensor<1x6x3x4xf32>
  %t = plan.call "aten.transpose.int"(%h) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} in "attn"
      : (tensor<1x6x3x4xf32>) -> tensor<1x3x6x4xf32>
  %out:2 = plan.call "meshplan.attention"(%t, %k, %k)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64} in "attn"
      : (tensor<1x3x6x4xf32>, tensor<1x3x6x4xf32>, tensor<1x3x6x4xf32>) -> (tensor<1x3x6x4xf32>, tensor<1x3x6xf32>)
  return %out#0 : tensor<1x3x6x4xf32>
}

// -----

// Rows of two elements are enough for tp, but too few for dp and tp together: they are cut, so that every rank has one.
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 3>]

// CHECK-LABEL: func.func @units_too_few_for_all_axes
// CHECK: plan.reshard %arg0 because "output 0" {{.*}} -> tensor<8x6xf32, #plan.sharding<[{"dp", "tp"}, {}]>>
func.func @units_too_few_for_all_axes(
    %x: tensor<8x6xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{"dp"}, {}]>}) -> tensor<8x6xf32> {
  %c = plan.constrain %x <[{"tp", unit 2}, {}]> along [#plan.axis<"tp">] as "output 0" : tensor<8x6xf32> -> tensor<8x6xf32>
  return %c : tensor<8x6xf32>
}
