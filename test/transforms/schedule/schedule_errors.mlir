// RUN: meshplan-opt %s --schedule -split-input-file -verify-diagnostics

// expected-error@+1 {{cannot be scheduled: it has no mesh}}
module {
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error@+1 {{cannot be scheduled: the sharding of 'tensor<4xf32>' is undecided}}
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @forward(%x: tensor<4xf32, #plan.sharding<[{}]>>) -> tensor<4xf32, #plan.sharding<[{?}]>> {
  // expected-error@+1 {{the sharding of 'tensor<4xf32, #plan.sharding<[{?}]>>' is undecided}}
  %y = plan.call "aten.relu.default"(%x) {self = #base.operand<0>}
    : (tensor<4xf32, #plan.sharding<[{}]>>) -> tensor<4xf32, #plan.sharding<[{?}]>>
  return %y : tensor<4xf32, #plan.sharding<[{?}]>>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error@+1 {{cannot be scheduled: 'tensor<?xf32>' is not a tensor with known extents}}
func.func @forward(%x: tensor<?xf32>) {
  return
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @forward(%x: tensor<4xf32, #plan.sharding<[{}]>>) -> tensor<4xf32, #plan.sharding<[{"tp"}]>> {
  // expected-error@+1 {{'plan.reshard' cannot be scheduled: it is left only before `partition`}}
  %y = plan.reshard %x : tensor<4xf32, #plan.sharding<[{}]>> -> tensor<4xf32, #plan.sharding<[{"tp"}]>>
  return %y : tensor<4xf32, #plan.sharding<[{"tp"}]>>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @forward(%x: tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>)
    -> tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>> {
  // expected-error@+1 {{result 0 is partial}}
  return %x : tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>
}

// -----

plan.mesh [#base.mesh_axis<"tp" = 2>]
// expected-error@+1 {{cannot be scheduled: it has 0 blocks, must have one}}
func.func private @declared(tensor<4xf32>)
