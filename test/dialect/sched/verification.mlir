// RUN: meshplan-opt %s -split-input-file -verify-diagnostics

// One failing case for each rule of dialect/sched; the label is that of the verifier.

// A1
// expected-error@+1 {{axis -1:(1)3 needs a position from 0 and positive sizes}}
sched.communicator @tp over [#sched.axis<-1:(1)3>]

// -----

// A2
// expected-error@+1 {{dim of size 10 is not made of units of 4}}
func.func private @f(!sched.tensor<[10 unit 4], f32>)

// -----

// A2, parts
// expected-error@+1 {{part of size 6 is not made of units of 4}}
func.func private @f(!sched.tensor<[8 unit 4 parts [6, 2]], f32>)

// -----

// A3
// expected-error@+1 {{parts add up to 6, the dim has size 8}}
func.func private @f(!sched.tensor<[8 parts [4, 2]], f32>)

// -----

// A4
// expected-error@+1 {{element type 'index' is neither an integer nor a float}}
func.func private @f(!sched.tensor<[8], index>)

// -----

// A5
// expected-error@+1 {{a partial tensor names both a reduction and axes}}
func.func private @f(!sched.tensor<[8], f32, partial = sum {}>)

// -----

// A5, syntax
// expected-error@+1 {{unknown reduction 'mean', expected sum, max or min}}
func.func private @f(!sched.tensor<[8], f32, partial = mean {0:(1)2}>)

// -----

// A6
// expected-error@+1 {{axis 0 is used twice in one layout}}
func.func private @f(!sched.tensor<[8 over {0:(2)2}, 8], f32, partial = sum {0:(1)4}>)

// -----

// D1
// expected-error@+1 {{has two axes named "tp"}}
sched.mesh [#sched.mesh_axis<"tp" = 2>, #sched.mesh_axis<"tp" = 3>]

// -----

// D2
// expected-error@+1 {{axis "tp" has size 0, must be positive}}
sched.mesh [#sched.mesh_axis<"tp" = 0>]

// -----

// D3
// expected-error@+1 {{stands in a module without a mesh}}
sched.communicator @tp over [#sched.axis<0:(1)3>]

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
// D4
// expected-error@+1 {{axis 0:(1)4 is not a digit of an axis of the mesh}}
sched.communicator @tp over [#sched.axis<0:(1)4>]

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.program @forward {
  // O1
  // expected-error@+1 {{has no name}}
  %w = sched.parameter [] : <[8], f32>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.program @forward {
  // O2
  // expected-error@+1 {{names 1 dims of a tensor of rank 2}}
  %x = sched.input "x" dims ["batch"] : <[8, 2], f32>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.program @forward {
  // O3
  // expected-error@+1 {{value has type 'tensor<4xf32>', result is '!sched.tensor<[8], f32>'}}
  %c = sched.constant "c" dense<1.0> : tensor<4xf32> : <[8], f32>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.stream @compute
sched.program @forward {
  %x = sched.input "x" : <[8], f32>
  // O4
  // expected-error@+1 {{refers to operand 1 of 1}}
  %y = sched.compute "aten.op"(%x) {self = #sched.operand<1>} on @compute : (!sched.tensor<[8], f32>) -> !sched.tensor<[8], f32>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.stream @compute
sched.program @forward {
  %x = sched.input "x" : <[8], f32>
  // O4, lists
  // expected-error@+1 {{refers to operand 2 of 1}}
  %y = sched.compute "aten.op"(%x) {tensors = [#sched.operand<0>, #sched.operand<2>]} on @compute : (!sched.tensor<[8], f32>) -> !sched.tensor<[8], f32>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.stream @compute
sched.program @forward {
  %x = sched.input "x" : <[8], f32>
  // O4, local integers
  // expected-error@+1 {{refers to dim 1 of result 0, which has rank 1}}
  %y = sched.compute "aten.op"(%x) {size = [#sched.local<0, result 0, dim 1, extent 1>]} on @compute : (!sched.tensor<[8], f32>) -> !sched.tensor<[8], f32>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.stream @compute
sched.program @forward {
  %x = sched.input "x" : <[8], f32>
  // O4, local integers
  // expected-error@+1 {{refers to result 1 of 1}}
  %y = sched.compute "aten.op"(%x) {size = #sched.local<0, result 1, dim 0, extent 1>} on @compute : (!sched.tensor<[8], f32>) -> !sched.tensor<[8], f32>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.stream @compute
sched.program @forward {
  %x = sched.input "x" : <[8], f32>
  // C1
  // expected-error@+1 {{changes the tensor from '!sched.tensor<[8], f32>' to '!sched.tensor<[6 over {0:(1)6}], f32>'}}
  %y = sched.slice %x on @compute : <[8], f32> -> <[6 over {0:(1)6}], f32>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.stream @communication
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // C2
  // expected-error@+1 {{all_gather needs `dim`}}
  %t = sched.start all_gather %x over @tp on @communication sequence 0 : <[12 over {0:(1)6}], f32> -> <<[12], f32>>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.stream @communication
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // C2
  // expected-error@+1 {{all_gather has no `from`}}
  %t = sched.start all_gather %x from 0 dim 0 over @tp on @communication sequence 0 : <[12 over {0:(1)6}], f32> -> <<[12], f32>>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.stream @communication
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // C2
  // expected-error@+1 {{`dim` is 1 for a tensor of rank 1}}
  %t = sched.start all_gather %x dim 1 over @tp on @communication sequence 0 : <[12 over {0:(1)6}], f32> -> <<[12], f32>>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.stream @communication
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  // C3
  // expected-error@+1 {{all_reduce of a tensor that is not partial: '!sched.tensor<[12], f32>'}}
  %t = sched.start all_reduce %x over @tp on @communication sequence 0 : <[12], f32> -> <<[12], f32>>
}

// -----

// P1
// expected-error@+1 {{stands in a module without a mesh}}
sched.program @forward {
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.program @forward {
  // P2
  // expected-error@+1 {{is not a step of a program}}
  %x = builtin.unrealized_conversion_cast to i32
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  // P3
  // expected-error@+1 {{runs on the unknown stream @compute}}
  %y = sched.slice %x on @compute : <[12], f32> -> <[12 over {0:(1)6}], f32>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.stream @communication
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // P4
  // expected-error@+1 {{uses the unknown communicator @dp}}
  %t = sched.start all_gather %x dim 0 over @dp on @communication sequence 0 : <[12 over {0:(1)6}], f32> -> <<[12], f32>>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.program @forward {
  // P5
  // expected-error@+1 {{#sched.axis<1:(1)2> is not a digit of an axis of the program's ranks}}
  %x = sched.input "x" : <[12 over {1:(1)2}], f32>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.program @forward devices [#sched.mesh_axis<"rank" = 1>] {
  // P5, own devices
  // expected-error@+1 {{#sched.axis<0:(1)6> is not a digit of an axis of the program's ranks}}
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.stream @communication
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // P6
  // expected-error@+1 {{has sequence number 1, the next one is 0}}
  %t = sched.start all_gather %x dim 0 over @tp on @communication sequence 1 : <[12 over {0:(1)6}], f32> -> <<[12], f32>>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.stream @communication
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // T1
  // expected-error@+1 {{is waited for 0 times, must be exactly once}}
  %t = sched.start all_gather %x dim 0 over @tp on @communication sequence 0 : <[12 over {0:(1)6}], f32> -> <<[12], f32>>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.stream @communication
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // T1
  // expected-error@+1 {{is waited for 2 times, must be exactly once}}
  %t = sched.start all_gather %x dim 0 over @tp on @communication sequence 0 : <[12 over {0:(1)6}], f32> -> <<[12], f32>>
  %a = sched.wait %t on @communication : <<[12], f32>>
  %b = sched.wait %t on @communication : <<[12], f32>>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.stream @compute
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  %y = sched.slice %x on @compute : <[12], f32> -> <[12 over {0:(1)6}], f32>
  // expected-note@+1 {{freed here}}
  sched.free %y on @compute : !sched.tensor<[12 over {0:(1)6}], f32>
  // L1
  // expected-error@+1 {{uses a freed value}}
  sched.output "y" %y : <[12 over {0:(1)6}], f32>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.stream @compute
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  %y = sched.slice %x on @compute : <[12], f32> -> <[12 over {0:(1)6}], f32>
  // expected-note@+1 {{freed here}}
  sched.free %y on @compute : !sched.tensor<[12 over {0:(1)6}], f32>
  // L2
  // expected-error@+1 {{frees a value that is already free}}
  sched.free %y on @compute : !sched.tensor<[12 over {0:(1)6}], f32>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.stream @compute
sched.program @forward {
  // expected-note@+1 {{made here}}
  %x = sched.input "x" : <[12], f32>
  // L3
  // expected-error@+1 {{frees a parameter, constant or input}}
  sched.free %x on @compute : !sched.tensor<[12], f32>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.stream @compute
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  %y = sched.slice %x on @compute : <[12], f32> -> <[12 over {0:(1)6}], f32>
  // expected-note@+1 {{started here}}
  %t = sched.start all_gather %y dim 0 over @tp on @compute sequence 0 : <[12 over {0:(1)6}], f32> -> <<[12], f32>>
  // L4
  // expected-error@+1 {{frees the input of a collective that is not waited for}}
  sched.free %y on @compute : !sched.tensor<[12 over {0:(1)6}], f32>
  %z = sched.wait %t on @compute : <<[12], f32>>
}

// -----

sched.mesh [#sched.mesh_axis<"tp" = 6>]
sched.stream @compute
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  // L5
  // expected-error@+1 {{makes a value that is neither freed nor an output}}
  %y = sched.slice %x on @compute : <[12], f32> -> <[12 over {0:(1)6}], f32>
}
