// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-store-routed | FileCheck %s
// RUN: not %meshplan-opt %s --split-input-file --plan-store-routed --plan-lower-reshards 2>/dev/null | FileCheck %s --check-prefix=LOWERED

// Values between dispatch and combine, and what is computed from them row by row, are rows; the gradient of a weight and
// the tokens are not.
// CHECK-LABEL: func.func @rows
// CHECK: "meshplan.route"{{.*}} -> (tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>, tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<counts, dims = 3, slots = 2>>>)
// CHECK: "meshplan.dispatch"{{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
// CHECK: "aten.silu.default"{{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
// CHECK: "aten.sum.dim_IntList"{{.*}} -> tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
// CHECK: "meshplan.grouped_linear_weight_gradient"{{.*}} -> tensor<8x16x16xf32, #plan.sharding<[{}, {}, {}], partial = sum {"dp"}>>
// CHECK: "meshplan.combine"{{.*}} -> tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>]
!tokens = tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>
!pairs = tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>>
!rows = tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}]>>
!gates = tensor<8x4x6xf32, #plan.sharding<[{}, {"dp"}, {}]>>
!weight = tensor<8x16x16xf32, #plan.sharding<[{}, {}, {}], partial = sum {"dp"}>>
func.func @rows(%x: !tokens, %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (!tokens, !weight) {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (!pairs, !pairs)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (!tokens, !pairs) -> !rows
  %1 = plan.call "aten.silu.default"(%0) {self = #base.operand<0>} : (!rows) -> !rows
  %2 = plan.call "aten.sum.dim_IntList"(%1) {self = #base.operand<0>, dim = [3]} : (!rows) -> !gates
  %3 = plan.call "meshplan.grouped_linear_weight_gradient"(%1, %0, %counts) {gradient = #base.operand<0>, rows = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (!rows, !rows, !pairs) -> !weight
  %4 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 16]}
      : (!rows, !pairs) -> !tokens
  return %4, %3 : !tokens, !weight
}

// -----

// A function without a route has no rows.
// CHECK-LABEL: func.func @dense
// CHECK-NOT: routed
plan.mesh [#base.mesh_axis<"dp" = 2>]
func.func @dense(%x: tensor<8x4x6xf32, #plan.sharding<[{}, {}, {}]>>) -> tensor<8x4x6xf32, #plan.sharding<[{}, {}, {}]>> {
  %0 = plan.call "aten.silu.default"(%x) {self = #base.operand<0>} : (tensor<8x4x6xf32, #plan.sharding<[{}, {}, {}]>>) -> tensor<8x4x6xf32, #plan.sharding<[{}, {}, {}]>>
  return %0 : tensor<8x4x6xf32, #plan.sharding<[{}, {}, {}]>>
}

// -----

// A rank takes a part of the features of its rows, and sums rows, of which the other ranks have as many.
// CHECK-LABEL: func.func @features
// CHECK: plan.reshard {{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {"tp"}], routed = #base.routed<rows, dims = 3, slots = 2>>>
// CHECK: plan.reshard {{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
plan.mesh [#base.mesh_axis<"tp" = 2>]
!tokens = tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}]>>
!pairs = tensor<8x4x6xi64, #plan.sharding<[{}, {}, {}]>>
!rows = tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}]>>
!parts = tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {"tp"}]>>
!addends = tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}], partial = sum {"tp"}>>
func.func @features(%x: !tokens, %i: tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>>, %w: tensor<8x16x16xf32, #plan.sharding<[{}, {}, {"tp"}]>>) -> !tokens {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>>) -> (!pairs, !pairs)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (!tokens, !pairs) -> !rows
  %1 = plan.reshard %0 : !rows -> !parts
  %2 = plan.call "meshplan.grouped_linear"(%1, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
      : (!parts, tensor<8x16x16xf32, #plan.sharding<[{}, {}, {"tp"}]>>, !pairs) -> !addends
  %3 = plan.reshard %2 : !addends -> !rows
  %4 = plan.call "meshplan.combine"(%3, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 16]}
      : (!rows, !pairs) -> !tokens
  return %4 : !tokens
}

// -----

// Features are gathered as well, since the ranks have the same rows.
// CHECK-LABEL: func.func @gathered
// CHECK: plan.reshard {{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
plan.mesh [#base.mesh_axis<"tp" = 2>]
!tokens = tensor<4x6x16xf32, #plan.sharding<[{}, {}, {"tp"}]>>
!pairs = tensor<8x4x6xi64, #plan.sharding<[{}, {}, {}]>>
!rows = tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {"tp"}]>>
!whole = tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}]>>
func.func @gathered(%x: !tokens, %i: tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>>) -> tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}]>> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>>) -> (!pairs, !pairs)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (!tokens, !pairs) -> !rows
  %1 = plan.reshard %0 : !rows -> !whole
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 16]}
      : (!whole, !pairs) -> tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}]>>
  return %2 : tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}]>>
}

// -----

// A sum is not divided by a collective: rows are summed whole, and a rank takes its part of their features.
// CHECK-LABEL: func.func @divided_sum
// CHECK: plan.reshard {{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {"tp"}], routed = #base.routed<rows, dims = 3, slots = 2>>>
// LOWERED-LABEL: func.func @divided_sum
// LOWERED: %[[SUM:.*]] = plan.all_reduce {{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
// LOWERED-NEXT: plan.slice %[[SUM]]
plan.mesh [#base.mesh_axis<"tp" = 2>]
!tokens = tensor<4x6x16xf32, #plan.sharding<[{}, {}, {}], partial = sum {"tp"}>>
!parts = tensor<4x6x16xf32, #plan.sharding<[{}, {}, {"tp"}]>>
!pairs = tensor<8x4x6xi64, #plan.sharding<[{}, {}, {}]>>
!addends = tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}], partial = sum {"tp"}>>
!rows = tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {"tp"}]>>
func.func @divided_sum(%x: !tokens, %i: tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>>) -> !parts {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{}, {}, {}]>>) -> (!pairs, !pairs)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (!tokens, !pairs) -> !addends
  %1 = plan.reshard %0 : !addends -> !rows
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 16]}
      : (!rows, !pairs) -> !parts
  return %2 : !parts
}

// -----

// Rows and counts go to the ranks of their experts, and come back.
// CHECK-LABEL: func.func @exchanged
// CHECK: plan.reshard {{.*}} -> tensor<8x4x6xi64, #plan.sharding<[{"dp"}, {}, {}], routed = #base.routed<counts, dims = 3, slots = 2>>>
// CHECK: plan.reshard {{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
// CHECK: plan.reshard {{.*}} -> tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}], routed = #base.routed<rows, dims = 3, slots = 2>>>
plan.mesh [#base.mesh_axis<"dp" = 2>]
!tokens = tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>
!pairs = tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>>
!own_pairs = tensor<8x4x6xi64, #plan.sharding<[{"dp"}, {}, {}]>>
!rows = tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}]>>
!own_rows = tensor<8x4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}, {}]>>
func.func @exchanged(%x: !tokens, %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> !tokens {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (!pairs, !pairs)
  %own = plan.reshard %counts : !pairs -> !own_pairs
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (!tokens, !pairs) -> !rows
  %1 = plan.reshard %0 : !rows -> !own_rows
  %2 = plan.call "aten.silu.default"(%1) {self = #base.operand<0>} : (!own_rows) -> !own_rows
  %3 = plan.reshard %2 : !own_rows -> !rows
  %4 = plan.call "meshplan.combine"(%3, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 16]}
      : (!rows, !pairs) -> !tokens
  return %4 : !tokens
}

// -----

// Rows of all tokens: an exchange moves them to experts only.
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
!tokens = tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>
!pairs = tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>>
!rows = tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}]>>
!other = tensor<8x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}]>>
func.func @gathered(%x: !tokens, %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> !other {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (!pairs, !pairs)
  // expected-note @below {{the rows are computed here}}
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (!tokens, !pairs) -> !rows
  // expected-error @below {{rows of tokens between the experts' layers would have to move between ranks, from [8, 4 over dp, 6, 16] to [8, 4, 6, 16]: ranks do not know how many rows the others have}}
  // expected-note @below {{help: dp divides the tokens of these experts: divide their features by 'colwise' and 'rowwise' over an axis that does not}}
  %1 = plan.reshard %0 : !rows -> !other
  return %1 : !other
}

// -----

// Features of experts over the axis of the tokens.
plan.mesh [#base.mesh_axis<"dp" = 2>]
!pairs = tensor<2x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>>
!all_pairs = tensor<2x4x6xi64, #plan.sharding<[{}, {}, {}]>>
!rows = tensor<2x4x6x16xf32, #plan.sharding<[{}, {}, {}, {}]>>
!weight = tensor<10x16xf32, #plan.sharding<[{"dp"}, {}]>>
!weights = tensor<2x10x16xf32, #plan.sharding<[{}, {"dp"}, {}]>>
!made = tensor<2x4x6x10xf32, #plan.sharding<[{}, {}, {}, {"dp"}]>>
func.func @in_a_list(%x: !rows, %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>,
    %u: !weight {plan.kind = #plan.kind<parameter>, plan.names = ["l.0.e.0.up.weight"]},
    %v: !weight {plan.kind = #plan.kind<parameter>, plan.names = ["l.0.e.1.up.weight"]}) -> !made {
  // expected-note @below {{the rows are computed here}}
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 2 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (!pairs, !pairs)
  // expected-error @below {{rows of tokens between the experts' layers would have to move}}
  // expected-note @below {{over an axis that does not, or write 'l.*.e: expert dp', or 'within dp', which brings the tokens to the ranks that need them}}
  %all = plan.reshard %counts : !pairs -> !all_pairs
  %w = plan.call "aten.stack.default"(%u, %v) {dim = 0 : i64, tensors = [#base.operand<0>, #base.operand<1>]} in "l.0.e.0.up" : (!weight, !weight) -> !weights
  %0 = plan.call "meshplan.grouped_linear"(%x, %w, %all) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "l.0.e.0.up"
      : (!rows, !weights, !all_pairs) -> !made
  return %0 : !made
}

// -----

// Experts over another axis than that which leaves the tokens.
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
!tokens = tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>
!pairs = tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>>
!rows = tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}]>>
!other = tensor<8x4x6x16xf32, #plan.sharding<[{"tp"}, {}, {}, {}]>>
func.func @turned(%x: !tokens, %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> !other {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (!pairs, !pairs)
  // expected-note @below {{the rows are computed here}}
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (!tokens, !pairs) -> !rows
  // expected-error @below {{rows of tokens between the experts' layers would have to move between ranks, from [8, 4 over dp, 6, 16] to [8 over tp, 4, 6, 16]: ranks do not know how many rows the others have}}
  // expected-note @below {{help: divide the experts' first weights}}
  %1 = plan.reshard %0 : !rows -> !other
  return %1 : !other
}

// -----

// An axis above those that divide the experts.
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
!tokens = tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>
!pairs = tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>>
!rows = tensor<8x4x6x16xf32, #plan.sharding<[{"tp"}, {"dp"}, {}, {}]>>
!other = tensor<8x4x6x16xf32, #plan.sharding<[{"dp", "tp"}, {}, {}, {}]>>
func.func @above(%x: !tokens, %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> !other {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (!pairs, !pairs)
  // expected-note @below {{the rows are computed here}}
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (!tokens, !pairs) -> !rows
  // expected-error @below {{rows of tokens between the experts' layers would have to move between ranks, from [8 over tp, 4 over dp, 6, 16] to [8 over (dp, tp), 4, 6, 16]: ranks do not know how many rows the others have}}
  // expected-note @below {{help: divide the experts' first weights}}
  %1 = plan.reshard %0 : !rows -> !other
  return %1 : !other
}

// -----

// Addends.
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
!tokens = tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}]>>
!pairs = tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>>
!rows = tensor<8x4x6x16xf32, #plan.sharding<[{}, {"dp"}, {}, {}], partial = sum {"tp"}>>
!other = tensor<8x4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}, {}]>>
func.func @summed(%x: !tokens, %i: tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> !other {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>) -> (!pairs, !pairs)
  // expected-note @below {{the rows are computed here}}
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (!tokens, !pairs) -> !rows
  // expected-error @below {{rows of tokens between the experts' layers would have to move between ranks, from [8, 4 over dp, 6, 16], partial over tp to [8 over dp, 4, 6, 16]: ranks do not know how many rows the others have}}
  // expected-note @below {{help: divide the experts' first weights}}
  %1 = plan.reshard %0 : !rows -> !other
  return %1 : !other
}
