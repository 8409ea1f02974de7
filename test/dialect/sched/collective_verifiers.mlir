// RUN: meshplan-opt %s -split-input-file -verify-diagnostics

// One failing case for each rule of dialect/sched/collective_verifiers.cpp; the label is that of the verifier.

// D1
// expected-error@+1 {{has two axes named "tp"}}
sched.mesh [#base.mesh_axis<"tp" = 2>, #base.mesh_axis<"tp" = 3>]

// -----

// D3
// expected-error@+1 {{is in a module without a mesh}}
sched.communicator @tp over [#sched.axis<0:(1)3>]

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
// D4
// expected-error@+1 {{axis 0:(1)4 is not a digit of an axis of the mesh}}
sched.communicator @tp over [#sched.axis<0:(1)4>]

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  // O1
  // expected-error@+1 {{has no name}}
  %w = sched.parameter [] : <[8], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  // O2
  // expected-error@+1 {{names 1 dims of a tensor of rank 2}}
  %x = sched.input "x" dims ["batch"] : <[8, 2], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  // O3
  // expected-error@+1 {{value has type 'tensor<4xf32>', result is '!sched.tensor<[8], f32>'}}
  %c = sched.constant "c" dense<1.0> : tensor<4xf32> : <[8], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[8], f32>
  // O4
  // expected-error@+1 {{refers to operand 1 of 1}}
  %y = sched.compute "aten.op"(%x) {self = #base.operand<1>} : (!sched.tensor<[8], f32>) -> !sched.tensor<[8], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[8], f32>
  // O4, lists
  // expected-error@+1 {{refers to operand 2 of 1}}
  %y = sched.compute "aten.op"(%x) {tensors = [#base.operand<0>, #base.operand<2>]} : (!sched.tensor<[8], f32>) -> !sched.tensor<[8], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[8], f32>
  // O4, local integers
  // expected-error@+1 {{refers to dim 1 of result 0, which has rank 1}}
  %y = sched.compute "aten.op"(%x) {size = [#base.local<0, result 0, dim 1, extent 1>]} : (!sched.tensor<[8], f32>) -> !sched.tensor<[8], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[8], f32>
  // O4, local integers
  // expected-error@+1 {{refers to result 1 of 1}}
  %y = sched.compute "aten.op"(%x) {size = #base.local<0, result 1, dim 0, extent 1>} : (!sched.tensor<[8], f32>) -> !sched.tensor<[8], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[8], f32>
  // C1
  // expected-error@+1 {{changes the tensor from '!sched.tensor<[8], f32>' to '!sched.tensor<[6 over {0:(1)6}], f32>'}}
  %y = sched.slice %x : <[8], f32> -> <[6 over {0:(1)6}], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // C4: without a dim the input is flat
  // expected-error@+1 {{'sched.start' op all_gather without a dim produces '!sched.tensor<[12], f32>' from '!sched.tensor<[12 over {0:(1)6}], f32>'}}
  %t = sched.start all_gather %x over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // C2
  // expected-error@+1 {{all_gather has no `from`}}
  %t = sched.start all_gather %x from 0 dim 0 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // C2
  // expected-error@+1 {{`dim` is 1 for a tensor of rank 1}}
  %t = sched.start all_gather %x dim 1 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  // C3
  // expected-error@+1 {{all_reduce of a tensor that is not partial: '!sched.tensor<[12], f32>'}}
  %t = sched.start all_reduce %x over @tp sequence 0 : !sched.tensor<[12], f32> -> <!sched.tensor<[12], f32>>
}

// -----

// D2
// expected-error@+1 {{axis "tp" has size -1, must be positive}}
sched.mesh [#base.mesh_axis<"dp" = 1>, #base.mesh_axis<"tp" = -1>]

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
// D4: an axis that does not exist
// expected-error@+1 {{'sched.communicator' op axis 1:(1)6 is not a digit of an axis of the mesh}}
sched.communicator @tp over [#sched.axis<1:(1)6>]

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
// D4: 2 divides 6, but not 6 / 2
// expected-error@+1 {{'sched.communicator' op axis 0:(2)2 is not a digit of an axis of the mesh}}
sched.communicator @tp over [#sched.axis<0:(2)2>]

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  // O2: names of dims on a scalar
  // expected-error@+1 {{'sched.input' op names 1 dims of a tensor of rank 0}}
  %x = sched.input "x" dims ["batch"] : <[], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  // O3: the element type
  // expected-error@+1 {{'sched.constant' op value has type 'tensor<4xf32>', result is '!sched.tensor<[4], bf16>'}}
  %c = sched.constant "c" dense<1.0> : tensor<4xf32> : <[4], bf16>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  // O3: the rank
  // expected-error@+1 {{'sched.constant' op value has type 'tensor<4xf32>', result is '!sched.tensor<[4, 1], f32>'}}
  %c = sched.constant "c" dense<1.0> : tensor<4xf32> : <[4, 1], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  // O3 compares whole tensors: a rank may hold a shard of the value.
  %c = sched.constant "c" dense<1.0> : tensor<12xf32> : <[12 over {0:(1)6}], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  // O4: no operands
  // expected-error@+1 {{'sched.compute' op refers to operand 0 of 0}}
  %y = sched.compute "aten.op"() {self = #base.operand<0>} : () -> !sched.tensor<[8], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[8], f32>
  // O4: negative
  // expected-error@+1 {{operand -1, must be 0 or more}}
  %y = sched.compute "aten.op"(%x) {self = #base.operand<-1>} : (!sched.tensor<[8], f32>) -> !sched.tensor<[8], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[8], f32>
  // O4: a local integer of an operand
  // expected-error@+1 {{'sched.compute' op refers to operand 1 of 1}}
  %y = sched.compute "aten.op"(%x) {n = [[#base.local<0, operand 1, dim 0>]]} : (!sched.tensor<[8], f32>) -> !sched.tensor<[8], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[8], f32>
  // O4: a dim of an operand
  // expected-error@+1 {{dim -1 of operand 0, both must be 0 or more}}
  %y = sched.compute "aten.op"(%x) {n = #base.local<0, operand 0, dim -1>} : (!sched.tensor<[8], f32>) -> !sched.tensor<[8], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  // C1: the element type
  // expected-error@+1 {{'sched.slice' op changes the tensor from '!sched.tensor<[12], f32>' to '!sched.tensor<[12 over {0:(1)6}], f64>'}}
  %y = sched.slice %x : <[12], f32> -> <[12 over {0:(1)6}], f64>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // C1: a collective
  // expected-error@+1 {{'sched.start' op changes the tensor from '!sched.tensor<[12 over {0:(1)6}], f32>' to '!sched.tensor<[12, 1], f32>'}}
  %t = sched.start all_gather %x dim 0 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12, 1], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32, partial = sum {0:(1)6}>
  // C4: without a dim the result is flat
  // expected-error@+1 {{'sched.start' op reduce_scatter without a dim produces '!sched.tensor<[12 over {0:(1)6}], f32>' from '!sched.tensor<[12], f32, partial = sum {0:(1)6}>'}}
  %t = sched.start reduce_scatter %x over @tp sequence 0 : !sched.tensor<[12], f32, partial = sum {0:(1)6}> -> <!sched.tensor<[12 over {0:(1)6}], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32, partial = sum {0:(1)6}>
  // C2: an all-reduce has no dim
  // expected-error@+1 {{'sched.start' op all_reduce has no `dim`}}
  %t = sched.start all_reduce %x dim 0 over @tp sequence 0 : !sched.tensor<[12], f32, partial = sum {0:(1)6}> -> <!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // C2: a permute has no dim
  // expected-error@+1 {{'sched.start' op permute has no `dim`}}
  %t = sched.start permute %x dim 0 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12 over {0:(1)6}], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}, 12], f32>
  // C2: the dim that an all-to-all gathers is missing
  // expected-error@+1 {{'sched.start' op all_to_all needs `from`}}
  %t = sched.start all_to_all %x dim 1 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}, 12], f32> -> <!sched.tensor<[12, 12 over {0:(1)6}], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}, 12], f32>
  // C2: the dim that an all-to-all gathers is not one of the tensor
  // expected-error@+1 {{'sched.start' op `from` is 2 for a tensor of rank 2}}
  %t = sched.start all_to_all %x from 2 dim 1 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}, 12], f32> -> <!sched.tensor<[12, 12 over {0:(1)6}], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // C3: a reduce-scatter
  // expected-error@+1 {{'sched.start' op reduce_scatter of a tensor that is not partial: '!sched.tensor<[12 over {0:(1)6}], f32>'}}
  %t = sched.start reduce_scatter %x dim 0 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @step role <step> {
  %w = sched.parameter ["w"] : <[12], f32>
  // O5
  // expected-error@+1 {{overwrites operand 1 of 1 by result 0 of 1}}
  %u = sched.compute "meshplan.op"(%w) {a = #base.operand<0>} overwrites [1]
    : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @step role <step> {
  %w = sched.parameter ["w"] : <[12], f32>
  // O5
  // expected-error@+1 {{overwrites '!sched.tensor<[12], f32>' by '!sched.tensor<[12], bf16>'}}
  %u = sched.compute "meshplan.op"(%w) {a = #base.operand<0>} overwrites [0]
    : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], bf16>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @step role <step> {
  %x = sched.input "x" : <[12], f32>
  // O6
  // expected-error@+1 {{updates a value that is neither a parameter nor a state}}
  sched.update %x to %x : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @step role <step> {
  %x = sched.input "x" : <[12], f32>
  %w = sched.parameter ["w"] : <[6], f32>
  // O7
  // expected-error@+1 {{gives a value of type '!sched.tensor<[12], f32>' to '!sched.tensor<[6], f32>'}}
  sched.update %x to %w : <[12], f32> to <[6], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12, 12 over {0:(1)6}], f32>
  // C2: an all-to-all needs both dims
  // expected-error@+1 {{'sched.start' op all_to_all needs `dim`}}
  %t = sched.start all_to_all %x from 1 over @tp sequence 0 : !sched.tensor<[12, 12 over {0:(1)6}], f32> -> <!sched.tensor<[12 over {0:(1)6}, 12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.parameter ["x"] : <[12], f32, flat = {0:(1)6}>
  // C4: a gather along a dim does not take flat tensors
  // expected-error@+1 {{'sched.start' op all_gather with a dim produces '!sched.tensor<[12], f32>' from '!sched.tensor<[12], f32, flat = {0:(1)6}>'}}
  %t = sched.start all_gather %x dim 0 over @tp sequence 0 : !sched.tensor<[12], f32, flat = {0:(1)6}> -> <!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32, partial = sum {0:(1)6}>
  // C4: the result of an all-reduce is not flat
  // expected-error@+1 {{'sched.start' op all_reduce with a dim produces '!sched.tensor<[12], f32, flat = {0:(1)6}>' from '!sched.tensor<[12], f32, partial = sum {0:(1)6}>'}}
  %t = sched.start all_reduce %x over @tp sequence 0 : !sched.tensor<[12], f32, partial = sum {0:(1)6}> -> <!sched.tensor<[12], f32, flat = {0:(1)6}>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  %p = sched.pack %x, %x : !sched.packed<<[12 over {0:(1)6}], f32>, <[12 over {0:(1)6}], f32>>
  // C5
  // expected-error@+1 {{'sched.start' op moves 2 tensors along dim 0, but can move only one}}
  %t = sched.start all_gather %p dim 0 over @tp sequence 0
      : !sched.packed<<[12 over {0:(1)6}], f32>, <[12 over {0:(1)6}], f32>> -> <!sched.packed<<[12], f32>, <[12], f32>>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32, partial = sum {0:(1)6}>
  %y = sched.input "y" : <[12], f32, partial = max {0:(1)6}>
  %p = sched.pack %x, %y : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = max {0:(1)6}>>
  // C5: the reduction
  // expected-error@+1 {{'sched.start' op coalesces '!sched.tensor<[12], f32, partial = max {0:(1)6}>' with '!sched.tensor<[12], f32, partial = sum {0:(1)6}>'}}
  %t = sched.start all_reduce %p over @tp sequence 0
      : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = max {0:(1)6}>> -> <!sched.packed<<[12], f32>, <[12], f32>>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.parameter ["x"] : <[12], f32, flat = {0:(1)6}>
  %p = sched.pack %x, %x : !sched.packed<<[12], f32, flat = {0:(1)6}>, <[12], f32, flat = {0:(1)6}>>
  // C6
  // expected-error@+1 {{'sched.start' op produces 1 tensors from 2}}
  %t = sched.start all_gather %p over @tp sequence 0
      : !sched.packed<<[12], f32, flat = {0:(1)6}>, <[12], f32, flat = {0:(1)6}>> -> <!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.parameter ["x"] : <[12], f32, flat = {0:(1)6}>
  %t = sched.start all_gather %x over @tp sequence 0 : !sched.tensor<[12], f32, flat = {0:(1)6}> -> <!sched.tensor<[12], f32>>
  // T2
  // expected-error@+1 {{'sched.wait' op produces '!sched.tensor<[13], f32>', but the token has '!sched.token<!sched.tensor<[12], f32>>'}}
  %y = "sched.wait"(%t) : (!sched.token<!sched.tensor<[12], f32>>) -> !sched.tensor<[13], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.parameter ["x"] : <[12], f32, flat = {0:(1)6}>
  // expected-error@+1 {{expected a token, found '!sched.tensor<[12], f32, flat = {0:(1)6}>'}}
  %y = sched.wait %x : !sched.tensor<[12], f32, flat = {0:(1)6}>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @step role <step> {
  %x = sched.input "x" : <[12], f32>
  // O8
  // expected-error@+1 {{belongs to a value that is not a parameter}}
  sched.gradient %x of %x : <[12], f32> of <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @step role <step> {
  %x = sched.input "x" : <[12], f32>
  %w = sched.parameter ["w"] : <[6], f32>
  // O9
  // expected-error@+1 {{has type '!sched.tensor<[12], f32>', the parameter '!sched.tensor<[6], f32>'}}
  sched.gradient %x of %w : <[12], f32> of <[6], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @step role <step> {
  %w = sched.parameter ["w"] : <[12], f32>
  %x = sched.compute "meshplan.op"(%w) {a = #base.operand<0>}
    : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32, partial = sum {0:(1)6}>
  // O9: a partial addend is not a gradient
  // expected-error@+1 {{has type '!sched.tensor<[12], f32, partial = sum {0:(1)6}>', the parameter '!sched.tensor<[12], f32>'}}
  sched.gradient %x of %w : <[12], f32, partial = sum {0:(1)6}> of <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  // O10
  // expected-error@+1 {{holds nothing}}
  "sched.buffer"() {name = "none"} : () -> ()
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  // O11
  // expected-error@+1 {{holds a value that is neither a parameter nor an accumulator}}
  sched.buffer "inputs" %x : !sched.tensor<[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %w = sched.parameter ["w"] : <[12], f32>
  %m = sched.state "w.momentum_buffer" of "w" : <[12], f32>
  // O11
  // expected-error@+1 {{holds a value that is neither a parameter nor an accumulator}}
  sched.buffer "states" %w, %m : !sched.tensor<[12], f32>, !sched.tensor<[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %w = sched.parameter ["w"] : <[12], f32>
  %v = sched.parameter ["v"] : <[12], f64>
  // O12
  // expected-error@+1 {{holds '!sched.tensor<[12], f64>' beside '!sched.tensor<[12], f32>'}}
  sched.buffer "parameters" %w, %v : !sched.tensor<[12], f32>, !sched.tensor<[12], f64>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %a = sched.state "a" : <[12], f32, partial = sum {0:(1)6}>
  %b = sched.state "b" : <[12], f32, partial = sum {0:(1)6}>
  %p = sched.pack %a, %b : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>>
  // C7
  // expected-error@+1 {{puts 2 tensors into 1}}
  %t = sched.start all_reduce %p over @tp sequence 0
    : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>> -> <!sched.packed<<[12], f32>, <[12], f32>>>
      into %a : !sched.tensor<[12], f32, partial = sum {0:(1)6}>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %a = sched.state "a" : <[12], f32, partial = sum {0:(1)6}>
  %b = sched.state "b" : <[6], f32>
  // C7
  // expected-error@+1 {{puts a tensor of type '!sched.tensor<[12], f32>' into '!sched.tensor<[6], f32>'}}
  %t = sched.start all_reduce %a over @tp sequence 0
    : !sched.tensor<[12], f32, partial = sum {0:(1)6}> -> <!sched.tensor<[12], f32>> into %b : !sched.tensor<[6], f32>
  %r = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %m = sched.state "w.momentum_buffer" of "w" host : <[12], f32>
  %g = sched.input "g" : <[12], f32>
  // O13
  // expected-error@+1 {{runs on the device and overwrites operand 0, which is on the host}}
  %n = sched.compute "meshplan.accumulate"(%m, %g) {self = #base.operand<0>, addend = #base.operand<1>} overwrites [0]
    : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %m = sched.state "w.momentum_buffer" of "w" host : <[12], f32>
  %g = sched.input "g" : <[12], f32>
  %n = sched.compute "aten.neg.default"(%g) {self = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  // O14
  // expected-error@+1 {{gives a value on the device to one on the host}}
  sched.update %n to %m : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %w = sched.parameter ["w"] host : <[12 over {0:(1)6}], f32>
  // C8
  // expected-error@+1 {{takes operand 0 from the host}}
  %t = sched.start all_gather %w dim 0 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
  %r = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %w = sched.parameter ["w"] host : <[12], f32>
  // C8
  // expected-error@+1 {{takes operand 0 from the host}}
  %p = sched.slice %w : <[12], f32> -> <[12 over {0:(1)6}], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %w = sched.parameter ["w"] : <[12], f32>
  %into = sched.parameter ["into"] host : <[12], f32>
  // C8
  // expected-error@+1 {{takes operand 1 from the host}}
  %t = sched.start all_reduce %w over @tp sequence 0
    : !sched.tensor<[12], f32> -> <!sched.tensor<[12], f32>> into %into : !sched.tensor<[12], f32>
  %r = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  // O15
  // expected-error @below {{'sched.parameter' op is given elements of type 'tensor<6xf32>', result is '!sched.tensor<[12], f32>'}}
  %w = sched.parameter ["w"] buffer init <kind = given, elements = dense<1.0> : tensor<6xf32>> : <[12], f32>
}

// -----

// The kinds of #base.collective
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // expected-error @below {{expected ::meshplan::base::CollectiveKind to be one of: all_gather, reduce_scatter, all_reduce, all_to_all, permute}}
  // expected-error @below {{failed to parse Base_CollectiveKindAttr parameter 'value' which is to be a `::meshplan::base::CollectiveKind`}}
  %t = sched.start broadcast %x over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
}

// -----

// O16
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @p {
  // expected-error @below {{'sched.state' op copies a parameter, but belongs to none}}
  %m = sched.state "m" copies : <[12], f32>
}

// -----

// O17
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @p {
  // expected-error @below {{'sched.state' op is a state of parameter 'w' and cannot begin with any content}}
  %m = sched.state "m" of "w" scratch : <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %a = sched.state "a" : <[12], f32, partial = sum {0:(1)6}>
  %b = sched.state "b" : <[12], f32, partial = sum {0:(1)6}>
  // C9
  // expected-error@+1 {{'sched.pack' op packs '!sched.tensor<[12], f32, partial = sum {0:(1)6}>' into '!sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>>'}}
  %p = "sched.pack"(%a) : (!sched.tensor<[12], f32, partial = sum {0:(1)6}>) -> !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %a = sched.state "a" : <[12], f32, partial = sum {0:(1)6}>
  %b = sched.state "b" : <[12], f32, partial = sum {0:(1)6}>
  // C10
  // expected-error@+1 {{'sched.pack' op is read by an op that is not a collective}}
  %p = sched.pack %a, %b : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>>
  // expected-note@+1 {{read here}}
  %x:2 = sched.unpack %p : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %a = sched.state "a" : <[12], f32, partial = sum {0:(1)6}>
  %b = sched.state "b" : <[12], f32, partial = sum {0:(1)6}>
  %p = sched.pack %a, %b : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>>
  %t = sched.start all_reduce %p over @tp sequence 0 : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>> -> <!sched.packed<<[12], f32>, <[12], f32>>>
  %r = sched.wait %t : !sched.token<!sched.packed<<[12], f32>, <[12], f32>>>
  // C11
  // expected-error@+1 {{'sched.unpack' op unpacks '!sched.packed<<[12], f32>, <[12], f32>>' to '!sched.tensor<[12], f32>'}}
  %x = "sched.unpack"(%r) : (!sched.packed<<[12], f32>, <[12], f32>>) -> !sched.tensor<[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %a = sched.state "a" : <[12], f32, partial = sum {0:(1)6}>
  %b = sched.state "b" : <[12], f32, partial = sum {0:(1)6}>
  %p = sched.pack %a, %b : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>>
  %t = sched.start all_reduce %p over @tp sequence 0 : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>> -> <!sched.packed<<[12], f32>, <[12], f32>>>
  %r = sched.wait %t : !sched.token<!sched.packed<<[12], f32>, <[12], f32>>>
  // C12
  // expected-error@+1 {{'sched.unpack' op is in place and has targets}}
  %x:2 = sched.unpack %r in_place : !sched.packed<<[12], f32>, <[12], f32>> into %a, %b : !sched.tensor<[12], f32, partial = sum {0:(1)6}>, !sched.tensor<[12], f32, partial = sum {0:(1)6}>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %a = sched.state "a" : <[12], f32, partial = sum {0:(1)6}>
  %b = sched.state "b" : <[12], f32, partial = sum {0:(1)6}>
  %p = sched.pack %a, %b : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>>
  %t = sched.start all_reduce %p over @tp sequence 0 : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>> -> <!sched.packed<<[12], f32>, <[12], f32>>>
  %r = sched.wait %t : !sched.token<!sched.packed<<[12], f32>, <[12], f32>>>
  // C13
  // expected-error@+1 {{'sched.unpack' op puts 2 tensors into 1}}
  %x:2 = sched.unpack %r : !sched.packed<<[12], f32>, <[12], f32>> into %a : !sched.tensor<[12], f32, partial = sum {0:(1)6}>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %a = sched.state "a" : <[12], f32, partial = sum {0:(1)6}>
  %b = sched.state "b" : <[12], f32, partial = sum {0:(1)6}>
  %c = sched.state "c" : <[6], f32>
  %p = sched.pack %a, %b : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>>
  %t = sched.start all_reduce %p over @tp sequence 0 : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>> -> <!sched.packed<<[12], f32>, <[12], f32>>>
  %r = sched.wait %t : !sched.token<!sched.packed<<[12], f32>, <[12], f32>>>
  // C13: the extents
  // expected-error@+1 {{'sched.unpack' op puts a tensor of type '!sched.tensor<[12], f32>' into '!sched.tensor<[6], f32>'}}
  %x:2 = sched.unpack %r : !sched.packed<<[12], f32>, <[12], f32>> into %a, %c : !sched.tensor<[12], f32, partial = sum {0:(1)6}>, !sched.tensor<[6], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  // O19
  // expected-error@+1 {{copies from the device to the device}}
  %t = sched.copy %x sequence 0 : <[12], f32> -> <!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %w = sched.parameter ["w"] host : <[12], f32>
  // O19
  // expected-error@+1 {{copies from the host to the host}}
  %t = sched.copy %w host sequence 0 : <[12], f32> -> <!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  // O20
  // expected-error@+1 {{copies '!sched.tensor<[12], f32>' to '!sched.tensor<[12], bf16>'}}
  %t = sched.copy %x host sequence 0 : <[12], f32> -> <!sched.tensor<[12], bf16>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  %w = sched.parameter ["w"] : <[12], f32>
  // O21
  // expected-error@+1 {{copies to the host into a target on the device}}
  %t = sched.copy %x host sequence 0 : <[12], f32> -> <!sched.tensor<[12], f32>> into %w : !sched.tensor<[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  %w = sched.parameter ["w"] host : <[12], bf16>
  // O22
  // expected-error@+1 {{copies '!sched.tensor<[12], f32>' into '!sched.tensor<[12], bf16>'}}
  %t = sched.copy %x host sequence 0 : <[12], f32> -> <!sched.tensor<[12], f32>> into %w : !sched.tensor<[12], bf16>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  %m = sched.state "w.momentum_buffer" of "w" : <[12], f32>
  %t = sched.copy %x host sequence 0 : <[12], f32> -> <!sched.tensor<[12], f32>>
  %h = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
  // O14: what has been copied to the host is on the host
  // expected-error@+1 {{gives a value on the host to one on the device}}
  sched.update %h to %m : <[12], f32> to <[12], f32>
}

// -----

// D5
// expected-note@+1 {{the first one is here}}
sched.mesh [#base.mesh_axis<"tp" = 6>]
// expected-error@+1 {{'sched.mesh' op must be the only one of its module}}
sched.mesh [#base.mesh_axis<"tp" = 6>]

// -----

// D6
sched.mesh [#base.mesh_axis<"tp" = 6>]
// expected-error@+1 {{'sched.communicator' op has axis 0 twice}}
sched.communicator @tp over [#sched.axis<0:(1)6>, #sched.axis<0:(1)2>]

// -----

// A communicator has a name of its own.
sched.mesh [#base.mesh_axis<"tp" = 6>]
// expected-note@+1 {{see existing symbol definition here}}
sched.communicator @c over [#sched.axis<0:(1)6>]
// expected-error@+1 {{redefinition of symbol named 'c'}}
sched.communicator @c over [#sched.axis<0:(1)6>]

// -----

// O23
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  // expected-error@+1 {{'sched.parameter' op is a buffer, and buffers are not trained}}
  %w = sched.parameter ["w"] trainable buffer : <[12], f32>
}

// -----

// O24
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  // expected-error@+1 {{'sched.setting' op has type '!sched.tensor<[], f32>', must be one f64 without dims}}
  %s = sched.setting "lr" 1.0 : <[], f32>
}

// -----

// O24
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  // expected-error@+1 {{'sched.setting' op has type '!sched.tensor<[1], f64>', must be one f64 without dims}}
  %s = sched.setting "lr" 1.0 : <[1], f64>
}

// -----

// O25
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error@+1 {{'sched.output' op is a loss of type '!sched.tensor<[2], f32>', must be one float}}
  sched.output "y" %x loss : <[2], f32>
}

// -----

// O25
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %x = sched.input "x" : <[], i64>
  // expected-error@+1 {{'sched.output' op is a loss of type '!sched.tensor<[], i64>', must be one float}}
  sched.output "y" %x loss : <[], i64>
}

// -----

// O26
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %x = sched.input "x" : <[12], f32>
  // expected-error@+1 {{'sched.compute' op has no target}}
  %y = sched.compute ""(%x) {self = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
}

// -----

// O5: twice
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %w = sched.parameter ["w"] : <[12], f32>
  // expected-error@+1 {{'sched.compute' op overwrites operand 0 twice}}
  %y:2 = sched.compute "meshplan.op"(%w) {a = #base.operand<0>} overwrites [0, 0] : (!sched.tensor<[12], f32>) -> (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>)
}

// -----

// O5: negative
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %w = sched.parameter ["w"] : <[12], f32>
  // expected-error@+1 {{overwrites operand -1 of 1 by result 0 of 1}}
  %y = sched.compute "meshplan.op"(%w) {a = #base.operand<0>} overwrites [-1] : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
}

// -----

// O5: more than results
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %w = sched.parameter ["w"] : <[12], f32>
  %v = sched.parameter ["v"] : <[12], f32>
  // expected-error@+1 {{overwrites operand 1 of 2 by result 1 of 1}}
  %y = sched.compute "meshplan.op"(%w, %v) {a = #base.operand<0>, b = #base.operand<1>} overwrites [0, 1] : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
}

// -----

// O13: the other memory
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %w = sched.parameter ["w"] : <[12], f32>
  // expected-error@+1 {{runs on the host and overwrites operand 0, which is on the device}}
  %y = sched.compute "meshplan.op"(%w) {a = #base.operand<0>} overwrites [0] host : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
}

// -----

// O27
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %w = sched.parameter ["w"] host : <[12], f32>
  // expected-error@+1 {{'sched.buffer' op holds a value on the host, must be on the device}}
  sched.buffer "b" %w : !sched.tensor<[12], f32>
}

// -----

// O29
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @p {
  %x = sched.input "x" : <[2, 12], i64>
  // expected-error@+1 {{'sched.output' op of type '!sched.tensor<[2, 12], i64>' counts tokens of 1 modules with 1 numbers of pairs, must be i64 [modules, experts] with one number for each module}}
  sched.output "t" %x experts ["a"] pairs [4] : <[2, 12], i64>
}

// -----

// O29
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @p {
  %x = sched.input "x" : <[2, 12], i64>
  // expected-error@+1 {{counts tokens of 2 modules with 1 numbers of pairs}}
  sched.output "t" %x experts ["a", "b"] pairs [4] : <[2, 12], i64>
}

// -----

// O28
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %x = sched.input "x" : <[12], f32>
  %w = sched.parameter ["w"] : <[12], f32>
  // expected-error@+1 {{'sched.gradient' op belongs to a parameter that is not trained}}
  sched.gradient %x of %w : <[12], f32> of <[12], f32>
}

// -----

// O30
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  // expected-error@+1 {{'sched.parameter' op is not in these pieces: it stacks 3 tensors}}
  %w = sched.parameter ["w"] pieces <before = ["a"], after = [""], sizes = [2], dim = 1, count = 3> : <[12 over {0:(1)6}, 2], f32>
}

// -----

// C14
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %x = sched.input "x" : <[12 over {0:(1)6}, 12], f32>
  // expected-error@+1 {{'sched.start' op all_to_all moves dim 0 to itself}}
  %t = sched.start all_to_all %x from 0 dim 0 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}, 12], f32> -> <!sched.tensor<[12 over {0:(1)6}, 12], f32>>
}

// -----

// C15
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %x = sched.input "x" : <[12], f32, partial = sum {0:(1)6}>
  // expected-error@+1 {{'sched.start' op all_reduce sums activations of type 'i32', must be a reduction and a float}}
  %t = sched.start all_reduce %x over @tp sequence 0 activations i32 : !sched.tensor<[12], f32, partial = sum {0:(1)6}> -> <!sched.tensor<[12], f32>>
}

// -----

// C15: the kind
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // expected-error@+1 {{'sched.start' op all_gather sums activations of type 'bf16', must be a reduction and a float}}
  %t = sched.start all_gather %x dim 0 over @tp sequence 0 activations bf16 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
}

// -----

// C2: negative
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // expected-error@+1 {{'sched.start' op `dim` is -1 for a tensor of rank 1}}
  %t = sched.start all_gather %x dim -1 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
}

// -----

// C8: a packed tensor
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %w = sched.parameter ["w"] host : <[12], f32>
  // expected-error@+1 {{'sched.pack' op takes operand 0 from the host}}
  %p = sched.pack %w : !sched.packed<<[12], f32>>
}

// -----

// C8: a target of an unpack
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %a = sched.state "a" : <[12], f32, partial = sum {0:(1)6}>
  %h = sched.parameter ["h"] host : <[12], f32>
  %p = sched.pack %a : !sched.packed<<[12], f32, partial = sum {0:(1)6}>>
  %t = sched.start all_reduce %p over @tp sequence 0 : !sched.packed<<[12], f32, partial = sum {0:(1)6}>> -> <!sched.packed<<[12], f32>>>
  %r = sched.wait %t : !sched.token<!sched.packed<<[12], f32>>>
  // expected-error@+1 {{'sched.unpack' op takes operand 0 from the host}}
  %x = sched.unpack %r : !sched.packed<<[12], f32>> into %h : !sched.tensor<[12], f32>
}

// -----

// C16
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @p {
  %n = sched.input "n" : <[2, 8], i64>
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // expected-error@+1 {{'sched.start' op all_to_all produces '!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>' from '!sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>', must be an all_to_all between rows and arrivals, or a sum or gather of one tensor of rows}}
  %t = sched.start all_to_all %x over @dp sequence 0 : !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>> -> <!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>> by %n : !sched.tensor<[2, 8], i64>
}

// -----

// C16: the kind
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @p {
  %n = sched.input "n" : <[2, 8], i64>
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // expected-error@+1 {{'sched.start' op permute produces '!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>' from '!sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>', must be an all_to_all between rows and arrivals, or a sum or gather of one tensor of rows}}
  %t = sched.start permute %x over @dp sequence 0 : !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>> -> <!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>> by %n : !sched.tensor<[2, 8], i64>
}

// -----

// C16: a tensor that is not routed
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @p {
  %n = sched.input "n" : <[2, 8], i64>
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 4 over {0:(1)2}, 6], f32>
  // expected-error@+1 {{'sched.start' op all_to_all produces '!sched.tensor<[8 over {0:(1)2}, 4, 6], f32>' from '!sched.tensor<[8, 4 over {0:(1)2}, 6], f32>', must be an all_to_all between rows and arrivals, or a sum or gather of one tensor of rows}}
  %t = sched.start all_to_all %x over @dp sequence 0 : !sched.tensor<[8, 4 over {0:(1)2}, 6], f32> -> <!sched.tensor<[8 over {0:(1)2}, 4, 6], f32>> by %n : !sched.tensor<[2, 8], i64>
}

// -----

// C16: other slots
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @p {
  %n = sched.input "n" : <[2, 8], i64>
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // expected-error@+1 {{'sched.start' op all_to_all produces '!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 3>>' from '!sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>', must be an all_to_all between rows and arrivals, or a sum or gather of one tensor of rows}}
  %t = sched.start all_to_all %x over @dp sequence 0 : !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>> -> <!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 3>>> by %n : !sched.tensor<[2, 8], i64>
}

// -----

// C16: other tokens
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @p {
  %n = sched.input "n" : <[2, 8], i64>
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // expected-error@+1 {{'sched.start' op all_to_all produces '!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 3, slots = 2>>' from '!sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>', must be an all_to_all between rows and arrivals, or a sum or gather of one tensor of rows}}
  %t = sched.start all_to_all %x over @dp sequence 0 : !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>> -> <!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 3, slots = 2>>> by %n : !sched.tensor<[2, 8], i64>
}

// -----

// C16: rows become a tensor
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @p {
  %n = sched.input "n" : <[2, 8], i64>
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // expected-error@+1 {{'sched.start' op all_to_all produces '!sched.tensor<[8 over {0:(1)2}, 4, 6], f32>' from '!sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>', must be an all_to_all between rows and arrivals, or a sum or gather of one tensor of rows}}
  %t = sched.start all_to_all %x over @dp sequence 0 : !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>> -> <!sched.tensor<[8 over {0:(1)2}, 4, 6], f32>> by %n : !sched.tensor<[2, 8], i64>
}

// -----

// C16: a sum that changes the kind of rows
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @p {
  %n = sched.input "n" : <[2, 8], i64>
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 4, 6], f32, partial = sum {0:(1)2}, routed = #base.routed<rows, dims = 2, slots = 2>>
  // expected-error@+1 {{'sched.start' op all_reduce produces}}
  %t = sched.start all_reduce %x over @dp sequence 0 : !sched.tensor<[8, 4, 6], f32, partial = sum {0:(1)2}, routed = #base.routed<rows, dims = 2, slots = 2>> -> <!sched.tensor<[8, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>>
}

// -----

// C16: a target
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @p {
  %n = sched.input "n" : <[2, 8], i64>
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  %y = sched.compute "aten.op"() {} : () -> !sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>
  // expected-error@+1 {{'sched.start' op all_to_all produces '!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>' from '!sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>', must be an all_to_all between rows and arrivals, or a sum or gather of one tensor of rows}}
  %t = sched.start all_to_all %x over @dp sequence 0 : !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>> -> <!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>> into %y : !sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>> by %n : !sched.tensor<[2, 8], i64>
}

// -----

// C16: no numbers
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @p {
  %n = sched.input "n" : <[2, 8], i64>
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // expected-error@+1 {{'sched.start' op exchanges rows of experts without their numbers, i64 [ranks, experts]}}
  %t = sched.start all_to_all %x from 1 dim 0 over @dp sequence 0 : !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>> -> <!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>>
}

// -----

// C16: numbers of another type
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @p {
  %n = sched.input "n" : <[2, 8], i32>
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // expected-error@+1 {{'sched.start' op exchanges rows of experts without their numbers, i64 [ranks, experts]}}
  %t = sched.start all_to_all %x over @dp sequence 0 : !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>> -> <!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>> by %n : !sched.tensor<[2, 8], i32>
}

// -----

// C16: numbers of another rank
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @p {
  %n = sched.input "n" : <[8], i64>
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // expected-error@+1 {{'sched.start' op exchanges rows of experts without their numbers, i64 [ranks, experts]}}
  %t = sched.start all_to_all %x over @dp sequence 0 : !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>> -> <!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>> by %n : !sched.tensor<[8], i64>
}

// -----

// C16: numbers of other experts
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @p {
  %n = sched.input "n" : <[2, 4], i64>
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // expected-error@+1 {{'sched.start' op exchanges rows of experts without their numbers, i64 [ranks, experts]}}
  %t = sched.start all_to_all %x over @dp sequence 0 : !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>> -> <!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>> by %n : !sched.tensor<[2, 4], i64>
}

// -----

// C16: numbers that are routed
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @p {
  %n = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 8], i64, routed = #base.routed<counts, dims = 2, slots = 2>>
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // expected-error@+1 {{'sched.start' op exchanges rows of experts without their numbers, i64 [ranks, experts]}}
  %t = sched.start all_to_all %x over @dp sequence 0 : !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>> -> <!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>> by %n : !sched.tensor<[8, 8], i64, routed = #base.routed<counts, dims = 2, slots = 2>>
}

// -----

// C2: an exchange has no dim
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @p {
  %n = sched.input "n" : <[2, 8], i64>
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // expected-error@+1 {{'sched.start' op all_to_all has no `dim`}}
  %t = sched.start all_to_all %x dim 0 over @dp sequence 0 : !sched.tensor<[8, 4 over {0:(1)2}, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>> -> <!sched.tensor<[8 over {0:(1)2}, 4, 6], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>> by %n : !sched.tensor<[2, 8], i64>
}

// -----

// C18: a slice has other experts
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.program @p {
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 12, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  %s = sched.slice %x : <[8, 12, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>> -> <[8, 12, 6 over {0:(1)2}], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // expected-error@+1 {{'sched.slice' op takes '!sched.tensor<[8 over {0:(1)2}, 12, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>' from '!sched.tensor<[8, 12, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>', which has other rows of experts}}
  %t = sched.slice %x : <[8, 12, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>> -> <[8 over {0:(1)2}, 12, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
}

// -----

// C18: a slice is stored in another way
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.program @p {
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 12, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // expected-error@+1 {{'sched.slice' op takes '!sched.tensor<[8, 12, 6 over {0:(1)2}], f32>' from}}
  %s = sched.slice %x : <[8, 12, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>> -> <[8, 12, 6 over {0:(1)2}], f32>
}

// -----

// C16: features are gathered, and experts are not
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @p {
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 12, 6 over {0:(1)2}], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  %t = sched.start all_gather %x dim 2 over @dp sequence 0 : !sched.tensor<[8, 12, 6 over {0:(1)2}], f32, routed = #base.routed<rows, dims = 2, slots = 2>> -> <!sched.tensor<[8, 12, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>>
  %y = sched.compute "aten.op"() {} : () -> !sched.tensor<[8 over {0:(1)2}, 12, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // expected-error@+1 {{'sched.start' op all_gather produces '!sched.tensor<[8, 12, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>' from '!sched.tensor<[8 over {0:(1)2}, 12, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>', must be an all_to_all between rows and arrivals, or a sum or gather of one tensor of rows}}
  %u = sched.start all_gather %y dim 0 over @dp sequence 1 : !sched.tensor<[8 over {0:(1)2}, 12, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>> -> <!sched.tensor<[8, 12, 6], f32, routed = #base.routed<rows, dims = 2, slots = 2>>>
}
