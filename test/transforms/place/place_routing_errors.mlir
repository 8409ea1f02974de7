// Statements about tokens of experts that no layer can take.
// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics --plan-place-routing

// expected-error @below {{'reserve 2' names no module that routes tokens to experts}}
// expected-note @below {{help: the model has no experts that are recognized: remove the statement}}
plan.routing reserve 2.0 of "mlp" as "reserve 2"
func.func @forward(%i: tensor<4x6x2xi64>) { return }

// -----

// expected-error @below {{'reserve 2' names no module that routes tokens to experts}}
// expected-note @below {{help: there are experts in 'mlp'}}
plan.routing reserve 2.0 of "attention" as "reserve 2"
func.func @forward(%i: tensor<4x6x2xi64>) {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x6x2xi64>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  return
}

// -----

plan.mesh [#base.mesh_axis<"dp" = 4>]
plan.style "mlp" expert [#plan.axis<"dp">] as "expert dp"
// expected-note @below {{'reserve 2' is here}}
plan.routing reserve 2.0 of "" as "reserve 2"
// expected-error @below {{'reserve 3' is about the experts of 'mlp', which another statement is about}}
// expected-note @below {{help: keep one of them}}
plan.routing reserve 3.0 of "mlp" as "reserve 3"
func.func @forward(%i: tensor<4x6x2xi64>) {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x6x2xi64>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  return
}

// -----

// expected-error @below {{'capacity 2' counts tokens of each sample, but 'mlp' has one dim of all 24 tokens}}
// expected-note @below {{help: export the model with more than one sample and position}}
plan.routing capacity 2.0 of "mlp" as "capacity 2"
func.func @forward(%i: tensor<24x2xi64>) {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<24x2xi64>) -> (tensor<8x24xi64>, tensor<8x24xi64>)
  return
}

// -----

// A product is between this buffer and the choice.
// expected-error @below {{'balance bias 0.1': the scores that choose the experts of 'mlp' have no bias that the model stores as a buffer}}
// expected-note @below {{help: register a buffer of 8 elements, and add it to the scores before the choice}}
plan.routing bias 0.1 of "mlp" as "balance bias 0.1"
func.func @forward(%b: tensor<8xf32> {plan.kind = #plan.kind<buffer>, plan.names = ["b"]}, %x: tensor<4x6x8xf32>, %gate: tensor<8x8xf32>) {
  %biased = plan.call "aten.add.Tensor"(%x, %b) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4x6x8xf32>, tensor<8xf32>) -> tensor<4x6x8xf32>
  %scores = plan.call "aten.linear.default"(%biased, %gate) {input = #base.operand<0>, weight = #base.operand<1>} : (tensor<4x6x8xf32>, tensor<8x8xf32>) -> tensor<4x6x8xf32>
  %chosen:2 = plan.call "aten.topk.default"(%scores) {self = #base.operand<0>, k = 2} : (tensor<4x6x8xf32>) -> (tensor<4x6x2xf32>, tensor<4x6x2xi64>)
  %table, %counts = plan.call "meshplan.route"(%chosen#1) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x6x2xi64>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  return
}

// -----

// Each rank has all experts, and their features are divided.
plan.mesh [#base.mesh_axis<"dp" = 4>]
plan.style "mlp" within [#plan.axis<"dp">] as "within dp"
// expected-warning @below {{'reserve 2' has no effect: each rank has all experts of 'mlp', and so as many rows as its tokens choose}}
// expected-note @below {{help: write 'mlp: expert AXIS', or remove the statement}}
plan.routing reserve 2.0 of "" as "reserve 2"
func.func @forward(
    %x: tensor<4x6x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x6x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %w: tensor<8x10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["held.w"]}) -> tensor<8x4x6x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x6x2xi64>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (tensor<4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  return %1 : tensor<8x4x6x10xf32>
}

// -----

// A style of the module that holds the weights, on a mesh of one rank.
plan.mesh [#base.mesh_axis<"dp" = 1>]
plan.style "held" expert [#plan.axis<"dp">] as "expert dp"
plan.routing reserve 2.0 of "" as "reserve 2"
func.func @forward(
    %x: tensor<4x6x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x6x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %w: tensor<8x10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["held.w"]}) -> tensor<8x4x6x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x6x2xi64>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (tensor<4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  return %1 : tensor<8x4x6x10xf32>
}

// -----

// A stated layout.
plan.mesh [#base.mesh_axis<"dp" = 4>]
plan.routing reserve 2.0 of "" as "reserve 2"
func.func @forward(
    %x: tensor<4x6x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<4x6x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]},
    %w: tensor<8x10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["held.w"], plan.sharding = #plan.sharding<[{"dp"}, {}, {}]>}) -> tensor<8x4x6x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64} in "mlp"
      : (tensor<4x6x2xi64>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64} in "mlp"
      : (tensor<4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false} in "mlp"
      : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
  return %1 : tensor<8x4x6x10xf32>
}
