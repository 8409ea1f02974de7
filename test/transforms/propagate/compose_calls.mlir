// A call that needs a whole dim, but gets it sharded, is decomposed into calls that can be sharded along it: the only
// reshards are reductions of a few values per row.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --plan-place-styles --plan-propagate-shardings 2>&1 | FileCheck %s

// CHECK-LABEL: func.func @log_softmax(
// CHECK: %[[M:.*]] = plan.call "aten.amax.default"(%arg0) {dim = [1], keepdim = true, self = #base.operand<0>}{{.*}} -> tensor<4x1xf32, #plan.sharding<[{}, {}], partial = max {"tp"}>>
// CHECK: %[[MAX:.*]] = plan.reshard %[[M]] {{.*}}-> tensor<4x1xf32, #plan.sharding<[{}, {}]>>
// CHECK: %[[ROWS:.*]] = plan.call "aten.sub.Tensor"(%arg0, %[[MAX]])
// CHECK: %[[EXP:.*]] = plan.call "aten.exp.default"(%[[ROWS]])
// CHECK: %[[S:.*]] = plan.call "aten.sum.dim_IntList"(%[[EXP]]){{.*}} partial = sum {"tp"}>>
// CHECK: %[[SUM:.*]] = plan.reshard %[[S]]
// CHECK: %[[LOG:.*]] = plan.call "aten.log.default"(%[[SUM]])
// CHECK: %[[Y:.*]] = plan.call "aten.sub.Tensor"(%[[ROWS]], %[[LOG]]){{.*}} -> tensor<4x70xf32, #plan.sharding<[{}, {"tp"}]>>
// CHECK: return %[[Y]]
plan.mesh [#base.mesh_axis<"tp" = 3>]
func.func @log_softmax(%x: tensor<4x70xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {"tp"}]>}) -> (tensor<4x70xf32> {plan.name = "0"}) {
  %0 = plan.call "aten.log_softmax.int"(%x) {self = #base.operand<0>, dim = -1} : (tensor<4x70xf32>) -> tensor<4x70xf32>
  return %0 : tensor<4x70xf32>
}

// -----

// Values that an earlier call has of these rows are not recomputed; 16-bit rows are computed in f32 and rounded once.
// CHECK-LABEL: func.func @known(
// CHECK: plan.call "aten.amax.default"
// CHECK: plan.call "aten.sum.dim_IntList"
// CHECK: plan.call "aten.to.dtype"({{.*}}) {dtype = bf16
// CHECK-NOT: plan.call "aten.amax.default"
// CHECK-NOT: plan.call "aten.sum.dim_IntList"
// CHECK: plan.call "aten.to.dtype"({{.*}}) {dtype = bf16
// CHECK: return
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @known(%x: tensor<4x70xbf16> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {"tp"}]>}) -> (tensor<4x70xbf16> {plan.name = "0"}, tensor<4x70xbf16> {plan.name = "1"}) {
  %0 = plan.call "aten.log_softmax.int"(%x) {self = #base.operand<0>, dim = -1} : (tensor<4x70xbf16>) -> tensor<4x70xbf16>
  %1 = plan.call "aten.softmax.int"(%x) {self = #base.operand<0>, dim = -1} : (tensor<4x70xbf16>) -> tensor<4x70xbf16>
  return %0, %1 : tensor<4x70xbf16>, tensor<4x70xbf16>
}

// -----

// Ranks select one after the other.
// CHECK-LABEL: func.func @topk(
// CHECK: %[[A:.*]]:2 = plan.call "meshplan.topk_part"(%arg0, %{{.*}}) {begin = 0 : i64, dim = 1 : i64, end = 67 : i64, k = 3 : i64
// CHECK: %[[B:.*]]:2 = plan.call "meshplan.topk_part"(%arg0, %{{.*}}, %{{.*}}, %{{.*}}) {begin = 67 : i64, dim = 1 : i64, end = 134 : i64
// CHECK: plan.call "meshplan.topk_part"(%arg0, {{.*}}) {begin = 134 : i64, dim = 1 : i64, end = 200 : i64
// CHECK: return
plan.mesh [#base.mesh_axis<"tp" = 3>]
func.func @topk(%x: tensor<4x200xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {"tp"}]>}) -> (tensor<4x3xf32> {plan.name = "0"}, tensor<4x3xi64> {plan.name = "1"}) {
  %0, %1 = plan.call "aten.topk.default"(%x) {self = #base.operand<0>, k = 3, dim = -1} : (tensor<4x200xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
  return %0, %1 : tensor<4x3xf32>, tensor<4x3xi64>
}

// -----

// A gradient at selected indices has the shape of the tensor that was read, and so also its layout.
// CHECK-LABEL: func.func @scatter_sum(
// CHECK: plan.call "meshplan.scatter_sum_part"(%arg0, %arg1, %{{.*}}, %arg2) {dim = 1 : i64, index = #base.operand<1>, like = #base.operand<3>, positions = #base.operand<2>, size = [4, 70], source = #base.operand<0>}{{.*}} -> tensor<4x70xf32, #plan.sharding<[{}, {"tp"}]>>
// CHECK: plan.call "meshplan.scatter_sum"(%arg0, %arg1) {dim = 1 : i64, index = #base.operand<1>, size = [4, 70], source = #base.operand<0>}{{.*}} -> tensor<4x70xf32, #plan.sharding<[{}, {}]>>
plan.mesh [#base.mesh_axis<"tp" = 3>]
func.func @scatter_sum(%g: tensor<4x1xf32> {plan.kind = #plan.kind<input>, plan.names = ["g"], plan.sharding = #plan.sharding<[{}, {}]>},
                       %i: tensor<4x1xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"], plan.sharding = #plan.sharding<[{}, {}]>},
                       %x: tensor<4x70xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {"tp"}]>},
                       %y: tensor<4x70xf32> {plan.kind = #plan.kind<input>, plan.names = ["y"], plan.sharding = #plan.sharding<[{}, {}]>}) -> (tensor<4x70xf32> {plan.name = "0"}, tensor<4x70xf32> {plan.name = "1"}) {
  %0 = plan.call "meshplan.scatter_sum"(%g, %i, %x) {source = #base.operand<0>, index = #base.operand<1>, like = #base.operand<2>, dim = 1 : i64, size = [4, 70]} : (tensor<4x1xf32>, tensor<4x1xi64>, tensor<4x70xf32>) -> tensor<4x70xf32>
  %1 = plan.call "meshplan.scatter_sum"(%g, %i, %y) {source = #base.operand<0>, index = #base.operand<1>, like = #base.operand<2>, dim = 1 : i64, size = [4, 70]} : (tensor<4x1xf32>, tensor<4x1xi64>, tensor<4x70xf32>) -> tensor<4x70xf32>
  return %0, %1 : tensor<4x70xf32>, tensor<4x70xf32>
}

// -----

// A row that is shorter than the values that ranks would exchange is gathered, and so is one with fewer than 64
// elements per selected element.
// CHECK-LABEL: func.func @short(
// CHECK: plan.call "aten.softmax.int"
// CHECK: plan.call "aten.topk.default"
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @short(%x: tensor<4x4xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {"tp"}]>},
                 %y: tensor<4x190xf32> {plan.kind = #plan.kind<input>, plan.names = ["y"], plan.sharding = #plan.sharding<[{}, {"tp"}]>}) -> (tensor<4x4xf32> {plan.name = "0"}, tensor<4x3xi64> {plan.name = "1"}) {
  %0 = plan.call "aten.softmax.int"(%x) {self = #base.operand<0>, dim = -1} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1, %2 = plan.call "aten.topk.default"(%y) {self = #base.operand<0>, k = 3, dim = -1} : (tensor<4x190xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
  return %0, %2 : tensor<4x4xf32>, tensor<4x3xi64>
}

// -----

// A triangle of a rank's shard.
// CHECK-LABEL: func.func @triangle(
// CHECK: %[[ROWS:.*]] = plan.call "aten.add.Scalar"({{.*}}) {other = -1 : i64, {{.*}} -> tensor<6x1xi64, #plan.sharding<[{"tp"}, {}]>>
// CHECK: %[[OUTSIDE:.*]] = plan.call "aten.lt.Tensor"(%[[ROWS]], %{{.*}}){{.*}} -> tensor<6x5xi1, #plan.sharding<[{"tp"}, {}]>>
// CHECK: %[[LOW:.*]] = plan.call "aten.masked_fill.Scalar"(%arg0, %[[OUTSIDE]]) {{.*}} -> tensor<2x6x5xf32, #plan.sharding<[{}, {"tp"}, {}]>>
// CHECK: plan.call "aten.gt.Tensor"
// CHECK: return %[[LOW]]
plan.mesh [#base.mesh_axis<"tp" = 4>]
func.func @triangle(%x: tensor<2x6x5xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {"tp"}, {}]>}) -> (tensor<2x6x5xf32> {plan.name = "0"}, tensor<2x6x5xf32> {plan.name = "1"}) {
  %0 = plan.call "aten.tril.default"(%x) {self = #base.operand<0>, diagonal = -1} : (tensor<2x6x5xf32>) -> tensor<2x6x5xf32>
  %1 = plan.call "aten.triu.default"(%x) {self = #base.operand<0>} : (tensor<2x6x5xf32>) -> tensor<2x6x5xf32>
  return %0, %1 : tensor<2x6x5xf32>, tensor<2x6x5xf32>
}

// -----

// The sums of a group norm with one group are reduced; with several groups each rank needs whole groups.
// CHECK-LABEL: func.func @group_norm(
// CHECK: plan.call "aten.sum.dim_IntList"(%arg0) {dim = [1, 2], keepdim = true, {{.*}} partial = sum {"tp"}>>
// CHECK: plan.call "aten.sum.dim_IntList"({{.*}}) {dim = [1, 2], keepdim = true, {{.*}} partial = sum {"tp"}>>
// CHECK: plan.call "aten.rsqrt.default"
// CHECK: %[[WEIGHT:.*]] = plan.call "aten.reshape.default"(%arg1) {{.*}} -> tensor<6x1xf32, #plan.sharding<[{"tp"}, {}]>>
// CHECK: plan.call "aten.mul.Tensor"(%{{.*}}, %[[WEIGHT]]){{.*}} -> tensor<2x6x5xf32, #plan.sharding<[{}, {"tp"}, {}]>>
// CHECK-NOT: aten.group_norm
// CHECK: plan.call "aten.group_norm.default"(%arg0, %arg1) {{{.*}}num_groups = 3 : i64{{.*}} -> tensor<2x6x5xf32, #plan.sharding<[{}, {"tp"}, {}]>>
// CHECK: %[[WHOLE:.*]] = plan.reshard %arg0 {{.*}} -> tensor<2x6x5xf32, #plan.sharding<[{}, {}, {}]>>
// CHECK: plan.call "aten.group_norm.default"(%[[WHOLE]]) {{{.*}}num_groups = 2 : i64
// CHECK-NOT: "vjp.
// CHECK: plan.call "aten.sum.dim_IntList"(%{{.*}}) {dim = [0, 2], keepdim = false, {{.*}} -> tensor<6xf32, #plan.sharding<[{"tp"}]>>
// CHECK-NOT: "vjp.
// CHECK: return
plan.mesh [#base.mesh_axis<"tp" = 3>]
func.func @group_norm(
    %x: tensor<2x6x5xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {"tp"}, {}]>},
    %w: tensor<6xf32> {plan.kind = #plan.kind<input>, plan.names = ["w"], plan.sharding = #plan.sharding<[{"tp"}]>},
    %g: tensor<2x6x5xf32> {plan.kind = #plan.kind<input>, plan.names = ["g"], plan.sharding = #plan.sharding<[{}, {"tp"}, {}]>})
    -> (tensor<2x6x5xf32> {plan.name = "0"}, tensor<2x6x5xf32> {plan.name = "1"}, tensor<2x6x5xf32> {plan.name = "2"}, tensor<2x6x5xf32> {plan.name = "3"}, tensor<6xf32> {plan.name = "4"}) {
  %0 = plan.call "aten.group_norm.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>, num_groups = 1 : i64} : (tensor<2x6x5xf32>, tensor<6xf32>) -> tensor<2x6x5xf32>
  %1 = plan.call "aten.group_norm.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>, num_groups = 3 : i64} : (tensor<2x6x5xf32>, tensor<6xf32>) -> tensor<2x6x5xf32>
  %2 = plan.call "aten.group_norm.default"(%x) {input = #base.operand<0>, num_groups = 2 : i64} : (tensor<2x6x5xf32>) -> tensor<2x6x5xf32>
  %3:2 = plan.call "vjp.aten.group_norm.default"(%x, %w, %g) {input = #base.operand<0>, weight = #base.operand<1>, num_groups = 1 : i64, gradients = [#base.operand<2>], of = "input, weight"} : (tensor<2x6x5xf32>, tensor<6xf32>, tensor<2x6x5xf32>) -> (tensor<2x6x5xf32>, tensor<6xf32>)
  return %0, %1, %2, %3#0, %3#1 : tensor<2x6x5xf32>, tensor<2x6x5xf32>, tensor<2x6x5xf32>, tensor<2x6x5xf32>, tensor<6xf32>
}

// -----

// Row indices and class indices: each rank looks up its own classes, for all rows.
// CHECK-LABEL: func.func @rows_and_classes(
// CHECK: plan.call "meshplan.index_part"(%arg0, %arg1, %{{.*}}, %{{.*}}) {dim = 1 : i64, {{.*}}first_index_dim = 0 : i64, {{.*}}size = 70 : i64}{{.*}} -> tensor<5xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
// CHECK: plan.call "meshplan.index_sum_part"(%arg3, %arg1, %{{.*}}, %{{.*}}, %arg0) {dim = 1 : i64, {{.*}}size = [4, 70], {{.*}} -> tensor<4x70xf32, #plan.sharding<[{}, {"tp"}]>>
plan.mesh [#base.mesh_axis<"tp" = 3>]
func.func @rows_and_classes(
    %x: tensor<4x70xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.sharding = #plan.sharding<[{}, {"tp"}]>},
    %r: tensor<5xi64> {plan.kind = #plan.kind<input>, plan.names = ["r"]}, %c: tensor<5xi64> {plan.kind = #plan.kind<input>, plan.names = ["c"]},
    %g: tensor<5xf32> {plan.kind = #plan.kind<input>, plan.names = ["g"]})
    -> (tensor<5xf32> {plan.name = "0"}, tensor<4x70xf32> {plan.name = "1"}) {
  %0 = plan.call "aten.index.Tensor"(%x, %r, %c) {self = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>]} : (tensor<4x70xf32>, tensor<5xi64>, tensor<5xi64>) -> tensor<5xf32>
  %1 = plan.call "meshplan.index_sum"(%g, %r, %c, %x) {source = #base.operand<0>, indices = [#base.operand<1>, #base.operand<2>], like = #base.operand<3>, size = [4, 70]} : (tensor<5xf32>, tensor<5xi64>, tensor<5xi64>, tensor<4x70xf32>) -> tensor<4x70xf32>
  return %0, %1 : tensor<5xf32>, tensor<4x70xf32>
}
