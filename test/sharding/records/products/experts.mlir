// RUN: %meshplan-opt %s > %t && %meshplan-opt %t | diff %t -
//
// Samples of the records of layers of experts: one call in a function each. The differential test runs each under every
// sharding that its record allows. sample.range = [low, high) bounds the elements of an input. A tensor that is routed has
// sample.routed = "table", "counts", "rows" or "numbers", integers of rows: the test routes random tokens with sample.slots
// slots to make an operand, and returns sums over the rows of a result (test/lib/records/routed_tensors.h).
// sample.counted: the elements are 0, 1, 2, ...

func.func @route(%0: tensor<4x5x2xi64> {sample.range = [0 : i64, 6 : i64]}) -> (tensor<6x4x5xi64> {sample.routed = "table"}, tensor<6x4x5xi64> {sample.routed = "counts"}) attributes {sample.slots = 2 : i64} {
  %table, %counts = plan.call "meshplan.route"(%0) {indices = #base.operand<0>, first = 0 : i64, experts = 6 : i64}
    : (tensor<4x5x2xi64>) -> (tensor<6x4x5xi64>, tensor<6x4x5xi64>)
  return %table, %counts : tensor<6x4x5xi64>, tensor<6x4x5xi64>
}

func.func @route_one_token_dim(%0: tensor<7x3xi64> {sample.range = [0 : i64, 5 : i64]}) -> (tensor<5x7xi64> {sample.routed = "table"}, tensor<5x7xi64> {sample.routed = "counts"}) attributes {sample.slots = 3 : i64} {
  %table, %counts = plan.call "meshplan.route"(%0) {indices = #base.operand<0>, first = 0 : i64, experts = 5 : i64}
    : (tensor<7x3xi64>) -> (tensor<5x7xi64>, tensor<5x7xi64>)
  return %table, %counts : tensor<5x7xi64>, tensor<5x7xi64>
}

func.func @expert_tokens(%0: tensor<6x4x5xi64> {sample.routed = "counts"}, %1: tensor<6x4x5xi64> {sample.routed = "table"}) -> tensor<6xi64> attributes {sample.slots = 2 : i64} {
  %r = plan.call "meshplan.expert_tokens"(%0, %1) {counts = #base.operand<0>, table = #base.operand<1>}
    : (tensor<6x4x5xi64>, tensor<6x4x5xi64>) -> tensor<6xi64>
  return %r : tensor<6xi64>
}

func.func @drop_choices(%0: tensor<4x5x2xi64> {sample.range = [0 : i64, 3 : i64]}) -> tensor<4x5x2xi64> {
  %r = plan.call "meshplan.drop_choices"(%0) {indices = #base.operand<0>, experts = 3 : i64, most = 2 : i64}
    : (tensor<4x5x2xi64>) -> tensor<4x5x2xi64>
  return %r : tensor<4x5x2xi64>
}

func.func @balanced_bias(%0: tensor<6xf32>, %1: tensor<6xi64> {sample.counted}) -> tensor<6xf32> {
  %r = plan.call "meshplan.balanced_bias"(%0, %1) {bias = #base.operand<0>, tokens = #base.operand<1>, rate = 0.25 : f64}
    : (tensor<6xf32>, tensor<6xi64>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @dispatch(%0: tensor<4x5x8xf32>, %1: tensor<6x4x5xi64> {sample.routed = "table"}) -> (tensor<6x4x5x8xf32> {sample.routed = "rows"}) attributes {sample.slots = 2 : i64} {
  %r = plan.call "meshplan.dispatch"(%0, %1) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
    : (tensor<4x5x8xf32>, tensor<6x4x5xi64>) -> tensor<6x4x5x8xf32>
  return %r : tensor<6x4x5x8xf32>
}

func.func @dispatch_one_sample(%0: tensor<1x7x6xbf16>, %1: tensor<6x1x7xi64> {sample.routed = "table"}) -> (tensor<6x1x7x6xbf16> {sample.routed = "rows"}) attributes {sample.slots = 3 : i64} {
  %r = plan.call "meshplan.dispatch"(%0, %1) {self = #base.operand<0>, table = #base.operand<1>, slots = 3 : i64}
    : (tensor<1x7x6xbf16>, tensor<6x1x7xi64>) -> tensor<6x1x7x6xbf16>
  return %r : tensor<6x1x7x6xbf16>
}

func.func @dispatch_gates(%0: tensor<4x5x2xf32>, %1: tensor<6x4x5xi64> {sample.routed = "table"}) -> (tensor<6x4x5xf32> {sample.routed = "rows"}) attributes {sample.slots = 2 : i64} {
  %r = plan.call "meshplan.dispatch_gates"(%0, %1) {gates = #base.operand<0>, table = #base.operand<1>}
    : (tensor<4x5x2xf32>, tensor<6x4x5xi64>) -> tensor<6x4x5xf32>
  return %r : tensor<6x4x5xf32>
}

func.func @combine(%0: tensor<6x4x5x8xf32> {sample.routed = "rows"}, %1: tensor<6x4x5xi64> {sample.routed = "table"}) -> tensor<4x5x8xf32> attributes {sample.slots = 2 : i64} {
  %r = plan.call "meshplan.combine"(%0, %1) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4 : i64, 5 : i64, 8 : i64]}
    : (tensor<6x4x5x8xf32>, tensor<6x4x5xi64>) -> tensor<4x5x8xf32>
  return %r : tensor<4x5x8xf32>
}

func.func @combine_half(%0: tensor<6x7x8xbf16> {sample.routed = "rows"}, %1: tensor<6x7xi64> {sample.routed = "table"}) -> tensor<7x8xbf16> attributes {sample.slots = 3 : i64} {
  %r = plan.call "meshplan.combine"(%0, %1) {rows = #base.operand<0>, table = #base.operand<1>, slots = 3 : i64, size = [7 : i64, 8 : i64]}
    : (tensor<6x7x8xbf16>, tensor<6x7xi64>) -> tensor<7x8xbf16>
  return %r : tensor<7x8xbf16>
}

func.func @combine_not_rounded(%0: tensor<6x7x8xbf16> {sample.routed = "rows"}, %1: tensor<6x7xi64> {sample.routed = "table"}) -> tensor<7x8xf32> attributes {sample.slots = 3 : i64} {
  %r = plan.call "meshplan.combine"(%0, %1) {rows = #base.operand<0>, table = #base.operand<1>, slots = 3 : i64, size = [7 : i64, 8 : i64], dtype = f32}
    : (tensor<6x7x8xbf16>, tensor<6x7xi64>) -> tensor<7x8xf32>
  return %r : tensor<7x8xf32>
}

func.func @collect_gates(%0: tensor<6x4x5xf32> {sample.routed = "rows"}, %1: tensor<6x4x5xi64> {sample.routed = "table"}) -> tensor<4x5x2xf32> attributes {sample.slots = 2 : i64} {
  %r = plan.call "meshplan.collect_gates"(%0, %1) {rows = #base.operand<0>, table = #base.operand<1>, size = [4 : i64, 5 : i64, 2 : i64]}
    : (tensor<6x4x5xf32>, tensor<6x4x5xi64>) -> tensor<4x5x2xf32>
  return %r : tensor<4x5x2xf32>
}

func.func @linear(%0: tensor<6x4x5x8xf32> {sample.routed = "rows"}, %1: tensor<6x10x8xf32>, %2: tensor<6x4x5xi64> {sample.routed = "counts"}) -> (tensor<6x4x5x10xf32> {sample.routed = "rows"}) attributes {sample.slots = 2 : i64} {
  %r = plan.call "meshplan.grouped_linear"(%0, %1, %2) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>}
    : (tensor<6x4x5x8xf32>, tensor<6x10x8xf32>, tensor<6x4x5xi64>) -> tensor<6x4x5x10xf32>
  return %r : tensor<6x4x5x10xf32>
}

func.func @linear_transposed(%0: tensor<6x7x8xf32> {sample.routed = "rows"}, %1: tensor<6x8x10xf32>, %2: tensor<6x7xi64> {sample.routed = "counts"}) -> (tensor<6x7x10xf32> {sample.routed = "rows"}) attributes {sample.slots = 3 : i64} {
  %r = plan.call "meshplan.grouped_linear"(%0, %1, %2) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = true}
    : (tensor<6x7x8xf32>, tensor<6x8x10xf32>, tensor<6x7xi64>) -> tensor<6x7x10xf32>
  return %r : tensor<6x7x10xf32>
}

func.func @linear_half(%0: tensor<6x4x5x8xbf16> {sample.routed = "rows"}, %1: tensor<6x10x8xbf16>, %2: tensor<6x4x5xi64> {sample.routed = "counts"}) -> (tensor<6x4x5x10xbf16> {sample.routed = "rows"}) attributes {sample.slots = 2 : i64} {
  %r = plan.call "meshplan.grouped_linear"(%0, %1, %2) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>}
    : (tensor<6x4x5x8xbf16>, tensor<6x10x8xbf16>, tensor<6x4x5xi64>) -> tensor<6x4x5x10xbf16>
  return %r : tensor<6x4x5x10xbf16>
}

func.func @linear_not_rounded(%0: tensor<6x4x5x8xbf16> {sample.routed = "rows"}, %1: tensor<6x10x8xbf16>, %2: tensor<6x4x5xi64> {sample.routed = "counts"}) -> (tensor<6x4x5x10xf32> {sample.routed = "rows"}) attributes {sample.slots = 2 : i64} {
  %r = plan.call "meshplan.grouped_linear_f32"(%0, %1, %2) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>}
    : (tensor<6x4x5x8xbf16>, tensor<6x10x8xbf16>, tensor<6x4x5xi64>) -> tensor<6x4x5x10xf32>
  return %r : tensor<6x4x5x10xf32>
}

func.func @bias(%0: tensor<6x4x5x8xf32> {sample.routed = "rows"}, %1: tensor<6x8xf32>, %2: tensor<6x4x5xi64> {sample.routed = "counts"}) -> (tensor<6x4x5x8xf32> {sample.routed = "rows"}) attributes {sample.slots = 2 : i64} {
  %r = plan.call "meshplan.grouped_bias"(%0, %1, %2) {rows = #base.operand<0>, bias = #base.operand<1>, counts = #base.operand<2>}
    : (tensor<6x4x5x8xf32>, tensor<6x8xf32>, tensor<6x4x5xi64>) -> tensor<6x4x5x8xf32>
  return %r : tensor<6x4x5x8xf32>
}

func.func @weight_gradient(%0: tensor<6x4x5x10xf32> {sample.routed = "rows"}, %1: tensor<6x4x5x8xf32> {sample.routed = "rows"}, %2: tensor<6x4x5xi64> {sample.routed = "counts"}) -> tensor<6x10x8xf32> attributes {sample.slots = 2 : i64} {
  %r = plan.call "meshplan.grouped_linear_weight_gradient"(%0, %1, %2) {gradient = #base.operand<0>, rows = #base.operand<1>, counts = #base.operand<2>}
    : (tensor<6x4x5x10xf32>, tensor<6x4x5x8xf32>, tensor<6x4x5xi64>) -> tensor<6x10x8xf32>
  return %r : tensor<6x10x8xf32>
}

func.func @weight_gradient_transposed(%0: tensor<6x7x10xbf16> {sample.routed = "rows"}, %1: tensor<6x7x8xbf16> {sample.routed = "rows"}, %2: tensor<6x7xi64> {sample.routed = "counts"}) -> tensor<6x8x10xbf16> attributes {sample.slots = 3 : i64} {
  %r = plan.call "meshplan.grouped_linear_weight_gradient"(%0, %1, %2) {gradient = #base.operand<0>, rows = #base.operand<1>, counts = #base.operand<2>, transposed = true}
    : (tensor<6x7x10xbf16>, tensor<6x7x8xbf16>, tensor<6x7xi64>) -> tensor<6x8x10xbf16>
  return %r : tensor<6x8x10xbf16>
}

func.func @weight_gradient_not_rounded(%0: tensor<6x7x10xbf16> {sample.routed = "rows"}, %1: tensor<6x7x8xbf16> {sample.routed = "rows"}, %2: tensor<6x7xi64> {sample.routed = "counts"}) -> tensor<6x10x8xf32> attributes {sample.slots = 3 : i64} {
  %r = plan.call "meshplan.grouped_linear_weight_gradient_f32"(%0, %1, %2) {gradient = #base.operand<0>, rows = #base.operand<1>, counts = #base.operand<2>}
    : (tensor<6x7x10xbf16>, tensor<6x7x8xbf16>, tensor<6x7xi64>) -> tensor<6x10x8xf32>
  return %r : tensor<6x10x8xf32>
}

func.func @bias_gradient(%0: tensor<6x4x5x8xf32> {sample.routed = "rows"}, %1: tensor<6x4x5xi64> {sample.routed = "counts"}) -> tensor<6x8xf32> attributes {sample.slots = 2 : i64} {
  %r = plan.call "meshplan.grouped_bias_gradient"(%0, %1) {gradient = #base.operand<0>, counts = #base.operand<1>}
    : (tensor<6x4x5x8xf32>, tensor<6x4x5xi64>) -> tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}

// Calls around an exchange of rows are made for a rank, and nothing divides them: what they read and give are plain tensors
// here. Of two ranks and six experts, the counts are 0 to 5 and 6 to 11; experts 1 to 3 have 6 rows and 24.

func.func @counts_to_gather(%0: tensor<6xi64>, %1: tensor<20xi64>) -> tensor<1x6xi64> {
  %r = plan.call "meshplan.counts_to_gather"(%0, %1) {counts = #base.operand<0>, like = #base.operand<1>}
    : (tensor<6xi64>, tensor<20xi64>) -> tensor<1x6xi64>
  return %r : tensor<1x6xi64>
}

func.func @counts_on_host(%0: tensor<2x6xi64>) -> tensor<2x6xi64> {
  %r = plan.call "meshplan.counts_on_host"(%0) {self = #base.operand<0>} : (tensor<2x6xi64>) -> tensor<2x6xi64>
  return %r : tensor<2x6xi64>
}

func.func @counts_of_experts(%0: tensor<2x6xi64> {sample.counted}) -> tensor<3xi64> {
  %r = plan.call "meshplan.counts_of_experts"(%0) {counts = #base.operand<0>, begin = 0 : i64, first = 1 : i64, experts = 3 : i64}
    : (tensor<2x6xi64>) -> tensor<3xi64>
  return %r : tensor<3xi64>
}

func.func @order_by_expert(%0: tensor<30x8xf32>, %1: tensor<2x6xi64> {sample.counted}) -> tensor<30x8xf32> {
  %r = plan.call "meshplan.order_by_expert"(%0, %1) {arrivals = #base.operand<0>, counts = #base.operand<1>, begin = 0 : i64, first = 1 : i64, experts = 3 : i64}
    : (tensor<30x8xf32>, tensor<2x6xi64>) -> tensor<30x8xf32>
  return %r : tensor<30x8xf32>
}

func.func @order_by_expert_gates(%0: tensor<30xbf16>, %1: tensor<2x6xi64> {sample.counted}) -> tensor<30xbf16> {
  %r = plan.call "meshplan.order_by_expert"(%0, %1) {arrivals = #base.operand<0>, counts = #base.operand<1>, begin = 4 : i64, first = 5 : i64, experts = 3 : i64}
    : (tensor<30xbf16>, tensor<2x6xi64>) -> tensor<30xbf16>
  return %r : tensor<30xbf16>
}

func.func @order_by_rank(%0: tensor<30x8xbf16>, %1: tensor<2x6xi64> {sample.counted}) -> tensor<30x8xbf16> {
  %r = plan.call "meshplan.order_by_rank"(%0, %1) {rows = #base.operand<0>, counts = #base.operand<1>, begin = 0 : i64, first = 1 : i64, experts = 3 : i64}
    : (tensor<30x8xbf16>, tensor<2x6xi64>) -> tensor<30x8xbf16>
  return %r : tensor<30x8xbf16>
}

func.func @order_by_rank_gates(%0: tensor<66xf32>, %1: tensor<2x6xi64> {sample.counted}) -> tensor<66xf32> {
  %r = plan.call "meshplan.order_by_rank"(%0, %1) {rows = #base.operand<0>, counts = #base.operand<1>, begin = 0 : i64, first = 0 : i64, experts = 6 : i64}
    : (tensor<66xf32>, tensor<2x6xi64>) -> tensor<66xf32>
  return %r : tensor<66xf32>
}

func.func @dropout_rows(%0: tensor<6x4x5x8xf32> {sample.routed = "rows"}, %1: tensor<6x4x5xi64> {sample.routed = "numbers"}, %2: tensor<f64> {sample.range = [7.0 : f64, 7.0 : f64]}, %3: tensor<f64> {sample.range = [3.0 : f64, 3.0 : f64]}) -> (tensor<6x4x5x8xf32> {sample.routed = "rows"}) attributes {sample.slots = 2 : i64} {
  %r = plan.call "meshplan.dropout_rows"(%0, %1, %2, %3) {rows = #base.operand<0>, positions = #base.operand<1>, seed = #base.operand<2>, step = #base.operand<3>, p = 0.5 : f64, number = 3 : i64}
    : (tensor<6x4x5x8xf32>, tensor<6x4x5xi64>, tensor<f64>, tensor<f64>) -> tensor<6x4x5x8xf32>
  return %r : tensor<6x4x5x8xf32>
}
