// REQUIRES: meshplan-opt
// RUN: %meshplan-opt %s --plan-autocast -verify-diagnostics

plan.mesh [#base.mesh_axis<"dp" = 2>]
// expected-error @+2 {{'aten.mm.default' in 'router' is in a region without autocast, and reads bf16, f32 under 'compute': expected one type}}
// expected-note @+1 {{help: convert the inputs of the region, as in 'x.float()', before the export}}
plan.precision {compute = bf16}
func.func @forward(%x: tensor<4x4xf32>) {
  %h = plan.call "aten.mm.default"(%x, %x) {self = #base.operand<0>, mat2 = #base.operand<1>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = plan.call "aten.mm.default"(%h, %x) {self = #base.operand<0>, mat2 = #base.operand<1>} in "router" {plan.autocast_off = "*"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
