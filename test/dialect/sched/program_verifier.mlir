// RUN: meshplan-opt %s -split-input-file -verify-diagnostics

// One failing case for each rule of dialect/sched/program_verifier.cpp; the label is that of the verifier.

// P1
// expected-error@+1 {{is in a module without a mesh}}
sched.program @forward {
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  // P2
  // expected-error@+1 {{is not an op that a program may contain}}
  %x = builtin.unrealized_conversion_cast to i32
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // P4
  // expected-error@+1 {{uses the unknown communicator @dp}}
  %t = sched.start all_gather %x dim 0 over @dp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  // P5
  // expected-error@+1 {{#sched.axis<1:(1)2> is not a digit of an axis of the program's ranks}}
  %x = sched.input "x" : <[12 over {1:(1)2}], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward devices [#base.mesh_axis<"rank" = 1>] {
  // P5, own devices
  // expected-error@+1 {{#sched.axis<0:(1)6> is not a digit of an axis of the program's ranks}}
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // P6
  // expected-error@+1 {{has sequence number 1, the next one is 0}}
  %t = sched.start all_gather %x dim 0 over @tp sequence 1 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
  %waited = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // T1
  // expected-error@+1 {{is waited for 0 times, must be exactly once}}
  %t = sched.start all_gather %x dim 0 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // T1
  // expected-error@+1 {{is waited for 2 times, must be exactly once}}
  %t = sched.start all_gather %x dim 0 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
  %a = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
  %b = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  %y = sched.slice %x : <[12], f32> -> <[12 over {0:(1)6}], f32>
  // expected-note@+1 {{freed here}}
  sched.free %y : !sched.tensor<[12 over {0:(1)6}], f32>
  // L1
  // expected-error@+1 {{uses a freed value}}
  sched.output "y" %y : <[12 over {0:(1)6}], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  %y = sched.slice %x : <[12], f32> -> <[12 over {0:(1)6}], f32>
  // expected-note@+1 {{freed here}}
  sched.free %y : !sched.tensor<[12 over {0:(1)6}], f32>
  // L2
  // expected-error@+1 {{frees a value that is already free}}
  sched.free %y : !sched.tensor<[12 over {0:(1)6}], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  // expected-note@+1 {{made here}}
  %x = sched.input "x" : <[12], f32>
  // L3
  // expected-error@+1 {{frees a parameter, constant, input, state or setting}}
  sched.free %x : !sched.tensor<[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  %y = sched.slice %x : <[12], f32> -> <[12 over {0:(1)6}], f32>
  // expected-note@+1 {{started here}}
  %t = sched.start all_gather %y dim 0 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
  // L4
  // expected-error@+1 {{frees the input of a collective that is not waited for}}
  sched.free %y : !sched.tensor<[12 over {0:(1)6}], f32>
  %z = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  // L5
  // expected-error@+1 {{produces a value that is neither freed nor an output}}
  %y = sched.slice %x : <[12], f32> -> <[12 over {0:(1)6}], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  // P5: a partial axis
  // expected-error@+1 {{'sched.input' op has the layout '!sched.tensor<[12], f32, partial = sum {0:(1)4}>', in which #sched.axis<0:(1)4> is not a digit of an axis of the program's ranks}}
  %x = sched.input "x" : <[12], f32, partial = sum {0:(1)4}>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  // P5: of two digits, only the major one fits
  // expected-error@+1 {{#sched.axis<0:(2)2> is not a digit of an axis of the program's ranks}}
  %x = sched.input "x" : <[12 over {0:(1)2, 0:(2)2}], f32>
}

// -----

// P5 checks the ranks of the program, which may have axes that the mesh lacks.
sched.mesh [#base.mesh_axis<"tp" = 2>]
sched.program @forward devices [#base.mesh_axis<"a" = 2>, #base.mesh_axis<"b" = 3>] {
  %x = sched.input "x" : <[12 over {1:(1)3}], f32>
}

// -----

// P6: sequence numbers begin again in each program.
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  %t = sched.start all_gather %x dim 0 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
  %y = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
  sched.output "y" %y : <[12], f32>
}
sched.program @reference role <reference> {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // expected-error@+1 {{'sched.start' op has sequence number 1, the next one is 0}}
  %t = sched.start all_gather %x dim 0 over @tp sequence 1 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
  %y = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
  sched.output "y" %y : <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  %t = sched.start all_gather %x dim 0 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
  %y = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
  // P6: a sequence number that is in use
  // expected-error@+1 {{'sched.start' op has sequence number 0, the next one is 1}}
  %u = sched.start all_gather %x dim 0 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
  %waited = sched.wait %u : !sched.token<!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  %y = sched.slice %x : <[12], f32> -> <[12 over {0:(1)6}], f32>
  // L2: twice in one op
  // expected-error@+2 {{'sched.free' op frees a value that is already free}}
  // expected-note@+1 {{freed here}}
  sched.free %y, %y : !sched.tensor<[12 over {0:(1)6}], f32>, !sched.tensor<[12 over {0:(1)6}], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  // expected-note@+1 {{made here}}
  %w = sched.parameter ["w"] : <[12], f32>
  // L3: a parameter
  // expected-error@+1 {{'sched.free' op frees a parameter, constant, input, state or setting}}
  sched.free %w : !sched.tensor<[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  // expected-note@+1 {{made here}}
  %c = sched.constant "c" dense<1.0> : tensor<12xf32> : <[12], f32>
  // L3: a constant
  // expected-error@+1 {{'sched.free' op frees a parameter, constant, input, state or setting}}
  sched.free %c : !sched.tensor<[12], f32>
}

// -----

// L4: two collectives read the value; the second is still in flight.
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  %y = sched.slice %x : <[12], f32> -> <[12 over {0:(1)6}], f32>
  %t = sched.start all_gather %y dim 0 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
  // expected-note@+1 {{started here}}
  %u = sched.start all_gather %y dim 0 over @tp sequence 1 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
  %a = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
  // expected-error@+1 {{'sched.free' op frees the input of a collective that is not waited for}}
  sched.free %y : !sched.tensor<[12 over {0:(1)6}], f32>
  %b = sched.wait %u : !sched.token<!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  %t = sched.start all_gather %x dim 0 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
  // L5: the result of a collective
  // expected-error@+1 {{'sched.wait' op produces a value that is neither freed nor an output}}
  %y = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  // L5: the second of two results
  // expected-error@+1 {{'sched.compute' op produces a value that is neither freed nor an output}}
  %y:2 = sched.compute "aten.op"() {} : () -> (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>)
  sched.output "y" %y#0 : <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @step role <step> {
  %w = sched.parameter ["w"] : <[12], f32>
  // expected-note@+1 {{overwritten here}}
  %u = sched.compute "meshplan.op"(%w) {a = #base.operand<0>} overwrites [0]
    : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  // L6
  // expected-error@+1 {{reads a value that was overwritten}}
  %y = sched.slice %w : <[12], f32> -> <[12 over {0:(1)6}], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @step role <step> {
  %w = sched.parameter ["w"] : <[12 over {0:(1)6}], f32>
  // expected-note@+1 {{started here}}
  %t = sched.start all_gather %w dim 0 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
  // L7
  // expected-error@+1 {{overwrites the input of a collective that is not waited for}}
  %u = sched.compute "meshplan.op"(%w) {a = #base.operand<0>} overwrites [0]
    : (!sched.tensor<[12 over {0:(1)6}], f32>) -> !sched.tensor<[12 over {0:(1)6}], f32>
  %g = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @step role <step> {
  %x = sched.input "x" : <[], f32>
  // expected-note@+1 {{the first one}}
  sched.output "a" %x loss : <[], f32>
  // P7
  // expected-error@+1 {{is the second loss of its program}}
  sched.output "b" %x loss : <[], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @step role <step> {
  %w = sched.parameter ["w"] : <[12], f32>
  %v = sched.parameter ["v"] : <[12], f32>
  // expected-note@+1 {{the other one is here}}
  sched.buffer "first" %w, %v : !sched.tensor<[12], f32>, !sched.tensor<[12], f32>
  // P8
  // expected-error@+1 {{holds a value that another buffer holds}}
  sched.buffer "second" %v : !sched.tensor<[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @step role <step> {
  %a = sched.state "a" scratch : <[12], f32, partial = sum {0:(1)6}>
  // expected-note@+1 {{overwritten here}}
  %t = sched.start all_reduce %a over @tp sequence 0
    : !sched.tensor<[12], f32, partial = sum {0:(1)6}> -> <!sched.tensor<[12], f32>> into %a : !sched.tensor<[12], f32, partial = sum {0:(1)6}>
  // L6: a collective overwrites its target
  // expected-error@+1 {{reads a value that was overwritten}}
  %b = sched.compute "aten.neg.default"(%a) {self = #base.operand<0>}
    : (!sched.tensor<[12], f32, partial = sum {0:(1)6}>) -> !sched.tensor<[12], f32, partial = sum {0:(1)6}>
  %r = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @step role <step> {
  %a = sched.state "a" scratch : <[12], f32, partial = sum {0:(1)6}>
  %b = sched.state "b" scratch : <[12], f32, partial = sum {0:(1)6}>
  // expected-note@+1 {{started here}}
  %t = sched.start all_reduce %a over @tp sequence 0
    : !sched.tensor<[12], f32, partial = sum {0:(1)6}> -> <!sched.tensor<[12], f32>>
  // L7: a tensor that another collective reads is not a target
  // expected-error@+1 {{overwrites the input of a collective that is not waited for}}
  %u = sched.start all_reduce %b over @tp sequence 1
    : !sched.tensor<[12], f32, partial = sum {0:(1)6}> -> <!sched.tensor<[12], f32>> into %a : !sched.tensor<[12], f32, partial = sum {0:(1)6}>
  %r = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
  %s = sched.wait %u : !sched.token<!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
// P9
// expected-error@+1 {{of role 'microbatch' has a timeline}}
sched.program @count0 role <microbatch> timeline [#base.instance<@count0, 0>] {
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
// P10
// expected-error@+1 {{of role 'microbatch' is in 0 timelines, must be in one}}
sched.program @count0 role <microbatch> {
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
// P10
// expected-error@+1 {{of role 'microbatch' is in 2 timelines, must be in one}}
sched.program @count0 role <microbatch> {
}
sched.program @step role <step> timeline [#base.instance<@count0, 0>, #base.instance<@step, 0>] {
}
sched.program @eval role <eval> timeline [#base.instance<@count0, 0>, #base.instance<@eval, 0>] {
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
// P14
// expected-error@+1 {{has the unknown program @count0 in its timeline}}
sched.program @step role <step> timeline [#base.instance<@count0, 0>, #base.instance<@step, 0>] {
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
// P15
// expected-error@+1 {{has @eval in its timeline, whose role is 'eval', must be 'microbatch'}}
sched.program @step role <step> timeline [#base.instance<@eval, 0>, #base.instance<@step, 0>] {
}
sched.program @eval role <eval> {
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
// P16
// expected-error@+1 {{has microbatch 2 of @step in its timeline, the next one is 1}}
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 2>] {
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
// P17
// expected-error@+1 {{has a timeline that does not end with the program itself}}
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@count0, 0>] {
}
sched.program @count0 role <microbatch> {
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
// P17: without any instance
// expected-error@+1 {{has a timeline that does not end with the program itself}}
sched.program @step role <step> timeline [] {
}

// -----

// W: what a program of two microbatches may do. The last instance reads what all of them make, and frees what only it
// makes.
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>] {
  %w = sched.parameter ["w"] : <[12], f32>
  %a = sched.state "a" : <[12], f32, partial = sum {0:(1)6}>
  %g = sched.compute "aten.cos.default"(%w) {self = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32, partial = sum {0:(1)6}>
  %s = sched.compute "meshplan.accumulate"(%a, %g) {self = #base.operand<0>, addend = #base.operand<1>} overwrites [0]
    : (!sched.tensor<[12], f32, partial = sum {0:(1)6}>, !sched.tensor<[12], f32, partial = sum {0:(1)6}>) -> !sched.tensor<[12], f32, partial = sum {0:(1)6}>
  %t = sched.start all_reduce %s over @tp sequence 0 when last
    : !sched.tensor<[12], f32, partial = sum {0:(1)6}> -> <!sched.tensor<[12], f32>> into %s : !sched.tensor<[12], f32, partial = sum {0:(1)6}>
  sched.free %g : !sched.tensor<[12], f32, partial = sum {0:(1)6}>
  %r = sched.wait %t when last : !sched.token<!sched.tensor<[12], f32>>
  %u = sched.compute "meshplan.op"(%w, %r) {a = #base.operand<0>, b = #base.operand<1>} overwrites [0] when last
    : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %r when last : !sched.tensor<[12], f32>
  sched.update %u to %w : <[12], f32> to <[12], f32>
  sched.update %s to %a : <[12], f32, partial = sum {0:(1)6}> to <[12], f32, partial = sum {0:(1)6}>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>] {
  %x = sched.input "x" : <[12], f32>
  // expected-note@+1 {{made here}}
  %y = sched.slice %x when last : <[12], f32> -> <[12 over {0:(1)6}], f32>
  // W1
  // expected-error@+1 {{'sched.compute' op uses in every microbatch what is made only in the last one}}
  %z = sched.compute "aten.neg.default"(%y) {self = #base.operand<0>} : (!sched.tensor<[12 over {0:(1)6}], f32>) -> !sched.tensor<[12 over {0:(1)6}], f32>
  sched.free %y, %z when last : !sched.tensor<[12 over {0:(1)6}], f32>, !sched.tensor<[12 over {0:(1)6}], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>] {
  %x = sched.input "x" : <[12], f32>
  // expected-note@+1 {{made here}}
  %y = sched.slice %x when last : <[12], f32> -> <[12 over {0:(1)6}], f32>
  // W1: a free
  // expected-error@+1 {{'sched.free' op uses in every microbatch what is made only in the last one}}
  sched.free %y : !sched.tensor<[12 over {0:(1)6}], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>] {
  %a = sched.state "a" : <[12], f32>
  // expected-note@+1 {{made here}}
  %s = sched.compute "aten.neg.default"(%a) {self = #base.operand<0>} when last : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  // W1: the next instance needs the accumulator
  // expected-error@+1 {{'sched.update' op uses in every microbatch what is made only in the last one}}
  sched.update %s to %a : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>] {
  %a = sched.state "a" : <[12], f32, partial = sum {0:(1)6}>
  %s = sched.compute "aten.neg.default"(%a) {self = #base.operand<0>}
    : (!sched.tensor<[12], f32, partial = sum {0:(1)6}>) -> !sched.tensor<[12], f32, partial = sum {0:(1)6}>
  // expected-note@+1 {{overwritten here}}
  %t = sched.start all_reduce %s over @tp sequence 0
    : !sched.tensor<[12], f32, partial = sum {0:(1)6}> -> <!sched.tensor<[12], f32>> into %s : !sched.tensor<[12], f32, partial = sum {0:(1)6}>
  %r = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
  sched.free %r : !sched.tensor<[12], f32>
  // L6: the next instance reads the sum
  // expected-error@+1 {{'sched.update' op reads a value that was overwritten}}
  sched.update %s to %a : <[12], f32, partial = sum {0:(1)6}> to <[12], f32, partial = sum {0:(1)6}>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>] {
  %w = sched.parameter ["w"] : <[12], f32>
  // W2
  // expected-error@+1 {{overwrites in every microbatch what is neither an accumulator nor a temporary}}
  %u = sched.compute "meshplan.op"(%w) {a = #base.operand<0>} overwrites [0] : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.update %u to %w : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>] {
  %w = sched.parameter ["w"] : <[12], f32>
  %m = sched.state "w.m" of "w" : <[12], f32>
  %v = sched.slice %m : <[12], f32> -> <[12 over {0:(1)6}], f32>
  // W2: a view of a state
  // expected-error@+1 {{overwrites in every microbatch what is neither an accumulator nor a temporary}}
  %u = sched.compute "meshplan.op"(%v) {a = #base.operand<0>} overwrites [0] : (!sched.tensor<[12 over {0:(1)6}], f32>) -> !sched.tensor<[12 over {0:(1)6}], f32>
  sched.free %u, %v : !sched.tensor<[12 over {0:(1)6}], f32>, !sched.tensor<[12 over {0:(1)6}], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
// W2: a program of microbatches
sched.program @count0 role <microbatch> {
  %x = sched.input "x" : <[12], f32>
  // expected-error@+1 {{overwrites in every microbatch what is neither an accumulator nor a temporary}}
  %u = sched.compute "meshplan.op"(%x) {a = #base.operand<0>} overwrites [0] : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %u : !sched.tensor<[12], f32>
}
sched.program @step role <step> timeline [#base.instance<@count0, 0>, #base.instance<@step, 0>] {
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>] {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  %t = sched.start all_gather %x dim 0 over @tp sequence 0 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
  // W3
  // expected-error@+1 {{'sched.wait' op is 'when last', its collective is 'when always'}}
  %y = sched.wait %t when last : !sched.token<!sched.tensor<[12], f32>>
  sched.output "y" %y : <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>] {
  %x = sched.input "x" : <[4, 6 over {0:(1)6}], f32>
  // W3: a pack
  // expected-error@+1 {{'sched.pack' op is 'when always', its collective is 'when last'}}
  %p = sched.pack %x : !sched.packed<<[4, 6 over {0:(1)6}], f32>>
  %t = sched.start all_gather %p dim 1 over @tp sequence 0 when last : !sched.packed<<[4, 6 over {0:(1)6}], f32>> -> <!sched.packed<<[4, 6], f32>>>
  %r = sched.wait %t when last : !sched.token<!sched.packed<<[4, 6], f32>>>
  %y = sched.unpack %r when last : !sched.packed<<[4, 6], f32>>
  sched.output "y" %y : <[4, 6], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>] {
  %x = sched.input "x" : <[4, 6 over {0:(1)6}], f32>
  %p = sched.pack %x : !sched.packed<<[4, 6 over {0:(1)6}], f32>>
  %t = sched.start all_gather %p dim 1 over @tp sequence 0 : !sched.packed<<[4, 6 over {0:(1)6}], f32>> -> <!sched.packed<<[4, 6], f32>>>
  %r = sched.wait %t : !sched.token<!sched.packed<<[4, 6], f32>>>
  // W3: an unpack
  // expected-error@+1 {{'sched.unpack' op is 'when last', its collective is 'when always'}}
  %y = sched.unpack %r when last : !sched.packed<<[4, 6], f32>>
  sched.output "y" %y : <[4, 6], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>] {
  %x = sched.input "x" : <[12], f32>
  // W4
  // expected-error@+1 {{produces a value that is neither freed nor an output before the last microbatch}}
  %y = sched.slice %x : <[12], f32> -> <[12 over {0:(1)6}], f32>
  sched.free %y when last : !sched.tensor<[12 over {0:(1)6}], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @count0 role <microbatch> {
  %x = sched.input "x" : <[12], f32>
  // W5
  // expected-error@+1 {{runs only in the last instance of a timeline, which is none of this program}}
  %y = sched.slice %x when last : <[12], f32> -> <[12 over {0:(1)6}], f32>
}
sched.program @step role <step> timeline [#base.instance<@count0, 0>, #base.instance<@step, 0>] {
}

// -----

// P6: without the collective of the last instance, numbers have a gap.
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>] {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  %t = sched.start all_gather %x dim 0 over @tp sequence 0 when last : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
  %y = sched.wait %t when last : !sched.token<!sched.tensor<[12], f32>>
  %u = sched.start all_gather %x dim 0 over @tp sequence 1 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
  %z = sched.wait %u : !sched.token<!sched.tensor<[12], f32>>
  sched.output "y" %y : <[12], f32>
  sched.output "z" %z : <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @step role <step> {
  %w = sched.parameter ["w", "tied"] trainable : <[12], f32>
  %m = sched.state "w.exp_avg" of "w" : <[12], f32>
  // P18
  // expected-error@+1 {{'sched.state' op is a state of 'tied', which is not the first name of a parameter of the program}}
  %v = sched.state "tied.exp_avg" of "tied" : <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %a = sched.state "a" : <[12], f32, partial = sum {0:(1)6}>
  %b = sched.state "b" : <[12], f32, partial = sum {0:(1)6}>
  // P11
  // expected-error@+1 {{'sched.pack' op packs in place, but tensor 0 is in no buffer}}
  %p = sched.pack %a, %b in_place : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>>
  %t = sched.start all_reduce %p over @tp sequence 0 : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>> -> <!sched.packed<<[12], f32>, <[12], f32>>>
  %r = sched.wait %t : !sched.token<!sched.packed<<[12], f32>, <[12], f32>>>
  %x:2 = sched.unpack %r : !sched.packed<<[12], f32>, <[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %a = sched.state "a" : <[12], f32, partial = sum {0:(1)6}>
  %b = sched.state "b" : <[12], f32, partial = sum {0:(1)6}>
  sched.buffer "gradients" %a, %b : !sched.tensor<[12], f32, partial = sum {0:(1)6}>, !sched.tensor<[12], f32, partial = sum {0:(1)6}>
  // P11: the order
  // expected-error@+1 {{'sched.pack' op packs in place, but tensor 1 does not follow the one before it in a buffer}}
  %p = sched.pack %b, %a in_place : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>>
  %t = sched.start all_reduce %p over @tp sequence 0 : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>> -> <!sched.packed<<[12], f32>, <[12], f32>>>
  %r = sched.wait %t : !sched.token<!sched.packed<<[12], f32>, <[12], f32>>>
  %x:2 = sched.unpack %r : !sched.packed<<[12], f32>, <[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %a = sched.state "a" : <[12], f32, partial = sum {0:(1)6}>
  %b = sched.state "b" : <[12], f32, partial = sum {0:(1)6}>
  // P12
  // expected-error@+1 {{'sched.pack' op is read by 0 collectives, must be read by one}}
  %p = sched.pack %a, %b : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %a = sched.state "a" : <[12], f32, partial = sum {0:(1)6}>
  %b = sched.state "b" : <[12], f32, partial = sum {0:(1)6}>
  %p = sched.pack %a, %b : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>>
  // P13
  // expected-error@+1 {{'sched.start' op gives a packed value that is unpacked 0 times, must be exactly once}}
  %t = sched.start all_reduce %p over @tp sequence 0 : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>> -> <!sched.packed<<[12], f32>, <[12], f32>>>
  %r = sched.wait %t : !sched.token<!sched.packed<<[12], f32>, <[12], f32>>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @forward {
  %a = sched.state "a" : <[12], f32, partial = sum {0:(1)6}>
  %b = sched.state "b" : <[12], f32, partial = sum {0:(1)6}>
  sched.buffer "gradients" %a, %b : !sched.tensor<[12], f32, partial = sum {0:(1)6}>, !sched.tensor<[12], f32, partial = sum {0:(1)6}>
  %p = sched.pack %a, %b in_place : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>>
  // expected-note@+1 {{overwritten here}}
  %t = sched.start all_reduce %p over @tp sequence 0 : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>> -> <!sched.packed<<[12], f32>, <[12], f32>>> into %p : !sched.packed<<[12], f32, partial = sum {0:(1)6}>, <[12], f32, partial = sum {0:(1)6}>>
  // L6: what is packed in place is overwritten with it
  // expected-error@+1 {{reads a value that was overwritten}}
  %c = sched.compute "aten.neg.default"(%b) {self = #base.operand<0>}
    : (!sched.tensor<[12], f32, partial = sum {0:(1)6}>) -> !sched.tensor<[12], f32, partial = sum {0:(1)6}>
  %r = sched.wait %t : !sched.token<!sched.packed<<[12], f32>, <[12], f32>>>
  %x:2 = sched.unpack %r in_place : !sched.packed<<[12], f32>, <[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %w = sched.parameter ["w"] host : <[12], f32>
  // P6: copies and collectives are counted together
  // expected-error@+1 {{'sched.copy' op has sequence number 1, the next one is 0}}
  %t = sched.copy %w sequence 1 : <[12], f32> -> <!sched.tensor<[12], f32>>
  %waited = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %w = sched.parameter ["w"] host : <[12], f32>
  // T1
  // expected-error@+1 {{'sched.copy' op is waited for 0 times, must be exactly once}}
  %t = sched.copy %w sequence 0 : <[12], f32> -> <!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  %y = sched.slice %x : <[12], f32> -> <[12 over {0:(1)6}], f32>
  // expected-note@+1 {{started here}}
  %t = sched.copy %y host sequence 0 : <[12 over {0:(1)6}], f32> -> <!sched.tensor<[12 over {0:(1)6}], f32>>
  // L4
  // expected-error@+1 {{frees the input of a copy that is not waited for}}
  sched.free %y : !sched.tensor<[12 over {0:(1)6}], f32>
  %z = sched.wait %t : !sched.token<!sched.tensor<[12 over {0:(1)6}], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %w = sched.parameter ["w"] : <[12], f32>
  // expected-note@+1 {{started here}}
  %t = sched.copy %w host sequence 0 : <[12], f32> -> <!sched.tensor<[12], f32>>
  // L7
  // expected-error@+1 {{overwrites the input of a copy that is not waited for}}
  %u = sched.compute "meshplan.op"(%w) {a = #base.operand<0>} overwrites [0] : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  %h = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %w = sched.parameter ["w"] host : <[12], f32>
  %v = sched.parameter ["v"] : <[12], f32>
  // expected-note@+1 {{started here}}
  %t = sched.copy %w sequence 0 : <[12], f32> -> <!sched.tensor<[12], f32>>
  // L7: the target of a copy is overwritten
  // expected-error@+1 {{overwrites the input of a copy that is not waited for}}
  %u = sched.copy %v host sequence 1 : <[12], f32> -> <!sched.tensor<[12], f32>> into %w : !sched.tensor<[12], f32>
  %c = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
  %h = sched.wait %u : !sched.token<!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %w = sched.parameter ["w"] host : <[12], f32>
  %v = sched.parameter ["v"] : <[12], f32>
  // expected-note@+1 {{overwritten here}}
  %t = sched.copy %v host sequence 0 : <[12], f32> -> <!sched.tensor<[12], f32>> into %w : !sched.tensor<[12], f32>
  // L6
  // expected-error@+1 {{reads a value that was overwritten}}
  %u = sched.copy %w sequence 1 : <[12], f32> -> <!sched.tensor<[12], f32>>
  %h = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
  %c = sched.wait %u : !sched.token<!sched.tensor<[12], f32>>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %w = sched.parameter ["w"] host : <[12], f32>
  %t = sched.copy %w sequence 0 : <[12], f32> -> <!sched.tensor<[12], f32>>
  // L5
  // expected-error@+1 {{produces a value that is neither freed nor an output}}
  %c = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
}

// -----

// A reduction in flight between instances.
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>] {
  %x = sched.input "x" : <[12], f32>
  %a = sched.state "a" : <[12], f32>
  sched.resume 3
  %g = sched.compute "meshplan.op"(%x) {a = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32, partial = sum {0:(1)2}>
  %t = sched.start all_reduce %g over @dp sequence 0 : !sched.tensor<[12], f32, partial = sum {0:(1)2}> -> <!sched.tensor<[12], f32>>
  %s = sched.wait %t when deferred : !sched.token<!sched.tensor<[12], f32>>
  %n = sched.compute "meshplan.accumulate"(%a, %s) {self = #base.operand<0>, addend = #base.operand<1>} overwrites [0] when deferred : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %g, %s when deferred : !sched.tensor<[12], f32, partial = sum {0:(1)2}>, !sched.tensor<[12], f32>
  sched.update %n to %a : <[12], f32> to <[12], f32>
}

// -----

// Two reductions, one after the other: the first is in flight between instances, the next instance starts the second.
sched.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.communicator @tp over [#sched.axis<1:(1)2>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>] {
  %x = sched.input "x" : <[12], f32>
  %a = sched.state "a" : <[12], f32>
  sched.resume 4
  %g = sched.compute "meshplan.op"(%x) {a = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32, partial = sum {0:(1)2, 1:(1)2}>
  sched.resume 4
  %t = sched.start all_reduce %g over @dp sequence 0 : !sched.tensor<[12], f32, partial = sum {0:(1)2, 1:(1)2}> -> <!sched.tensor<[12], f32, partial = sum {1:(1)2}>>
  %r = sched.wait %t when deferred : !sched.token<!sched.tensor<[12], f32, partial = sum {1:(1)2}>>
  sched.free %g when deferred : !sched.tensor<[12], f32, partial = sum {0:(1)2, 1:(1)2}>
  %p = sched.pack %r when deferred : !sched.packed<<[12], f32, partial = sum {1:(1)2}>>
  %u = sched.start all_reduce %p over @tp sequence 1 when deferred : !sched.packed<<[12], f32, partial = sum {1:(1)2}>> -> <!sched.packed<<[12], f32>>>
  %w = sched.wait %u when deferred : !sched.token<!sched.packed<<[12], f32>>>
  %s = sched.unpack %w when deferred : !sched.packed<<[12], f32>>
  %n = sched.compute "meshplan.accumulate"(%a, %s) {self = #base.operand<0>, addend = #base.operand<1>} overwrites [0] when deferred : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %r, %p, %w, %s when deferred : !sched.tensor<[12], f32, partial = sum {1:(1)2}>, !sched.packed<<[12], f32, partial = sum {1:(1)2}>>, !sched.packed<<[12], f32>>, !sched.tensor<[12], f32>
  sched.update %n to %a : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.communicator @tp over [#sched.axis<1:(1)2>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>] {
  %x = sched.input "x" : <[12], f32>
  %a = sched.state "a" : <[12], f32>
  sched.resume 4
  %g = sched.compute "meshplan.op"(%x) {a = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32, partial = sum {0:(1)2, 1:(1)2}>
  sched.resume 3
  %t = sched.start all_reduce %g over @dp sequence 0 : !sched.tensor<[12], f32, partial = sum {0:(1)2, 1:(1)2}> -> <!sched.tensor<[12], f32, partial = sum {1:(1)2}>>
  %r = sched.wait %t when deferred : !sched.token<!sched.tensor<[12], f32, partial = sum {1:(1)2}>>
  sched.free %g when deferred : !sched.tensor<[12], f32, partial = sum {0:(1)2, 1:(1)2}>
  %p = sched.pack %r when deferred : !sched.packed<<[12], f32, partial = sum {1:(1)2}>>
  %u = sched.start all_reduce %p over @tp sequence 1 when deferred : !sched.packed<<[12], f32, partial = sum {1:(1)2}>> -> <!sched.packed<<[12], f32>>>
  // W3
  // expected-error@+1 {{'sched.wait' op is 'when always', its collective is 'when deferred'}}
  %w = sched.wait %u : !sched.token<!sched.packed<<[12], f32>>>
  %s = sched.unpack %w when deferred : !sched.packed<<[12], f32>>
  %n = sched.compute "meshplan.accumulate"(%a, %s) {self = #base.operand<0>, addend = #base.operand<1>} overwrites [0] when deferred : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %r, %p, %w, %s when deferred : !sched.tensor<[12], f32, partial = sum {1:(1)2}>, !sched.packed<<[12], f32, partial = sum {1:(1)2}>>, !sched.packed<<[12], f32>>, !sched.tensor<[12], f32>
  sched.update %n to %a : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
// W6
// expected-error@+1 {{'sched.program' op resumes 2 steps, but defers 3}}
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>] {
  %x = sched.input "x" : <[12], f32>
  %a = sched.state "a" : <[12], f32>
  sched.resume 2
  %g = sched.compute "meshplan.op"(%x) {a = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32, partial = sum {0:(1)2}>
  %t = sched.start all_reduce %g over @dp sequence 0 : !sched.tensor<[12], f32, partial = sum {0:(1)2}> -> <!sched.tensor<[12], f32>>
  %s = sched.wait %t when deferred : !sched.token<!sched.tensor<[12], f32>>
  %n = sched.compute "meshplan.accumulate"(%a, %s) {self = #base.operand<0>, addend = #base.operand<1>} overwrites [0] when deferred : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %g, %s when deferred : !sched.tensor<[12], f32, partial = sum {0:(1)2}>, !sched.tensor<[12], f32>
  sched.update %n to %a : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
// W6
// expected-error@+1 {{'sched.program' op resumes 4 steps, but defers 3}}
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>] {
  %x = sched.input "x" : <[12], f32>
  %a = sched.state "a" : <[12], f32>
  sched.resume 4
  %g = sched.compute "meshplan.op"(%x) {a = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32, partial = sum {0:(1)2}>
  %t = sched.start all_reduce %g over @dp sequence 0 : !sched.tensor<[12], f32, partial = sum {0:(1)2}> -> <!sched.tensor<[12], f32>>
  %s = sched.wait %t when deferred : !sched.token<!sched.tensor<[12], f32>>
  %n = sched.compute "meshplan.accumulate"(%a, %s) {self = #base.operand<0>, addend = #base.operand<1>} overwrites [0] when deferred : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %g, %s when deferred : !sched.tensor<[12], f32, partial = sum {0:(1)2}>, !sched.tensor<[12], f32>
  sched.update %n to %a : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>] {
  %x = sched.input "x" : <[12], f32>
  %a = sched.state "a" : <[12], f32>
  sched.resume 4
  // W7
  // expected-error@+1 {{'sched.copy' op cannot be deferred: only what follows from a collective can}}
  %p = sched.copy %x host sequence 0 when deferred : <[12], f32> -> <!sched.tensor<[12], f32>>
  %g = sched.compute "meshplan.op"(%x) {a = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32, partial = sum {0:(1)2}>
  %t = sched.start all_reduce %g over @dp sequence 0 : !sched.tensor<[12], f32, partial = sum {0:(1)2}> -> <!sched.tensor<[12], f32>>
  %s = sched.wait %t when deferred : !sched.token<!sched.tensor<[12], f32>>
  %n = sched.compute "meshplan.accumulate"(%a, %s) {self = #base.operand<0>, addend = #base.operand<1>} overwrites [0] when deferred : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %g, %s when deferred : !sched.tensor<[12], f32, partial = sum {0:(1)2}>, !sched.tensor<[12], f32>
  sched.update %n to %a : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>] {
  %x = sched.input "x" : <[12], f32>
  %a = sched.state "a" : <[12], f32>
  // W8
  // expected-error@+1 {{'sched.compute' op makes a value again that the instance before has left to steps that are not resumed yet}}
  %g = sched.compute "meshplan.op"(%x) {a = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32, partial = sum {0:(1)2}>
  sched.resume 3
  %t = sched.start all_reduce %g over @dp sequence 0 : !sched.tensor<[12], f32, partial = sum {0:(1)2}> -> <!sched.tensor<[12], f32>>
  %s = sched.wait %t when deferred : !sched.token<!sched.tensor<[12], f32>>
  %n = sched.compute "meshplan.accumulate"(%a, %s) {self = #base.operand<0>, addend = #base.operand<1>} overwrites [0] when deferred : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %g, %s when deferred : !sched.tensor<[12], f32, partial = sum {0:(1)2}>, !sched.tensor<[12], f32>
  sched.update %n to %a : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>] {
  %x = sched.input "x" : <[12], f32>
  %a = sched.state "a" : <[12], f32>
  sched.resume 2
  %g = sched.compute "meshplan.op"(%x) {a = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32, partial = sum {0:(1)2}>
  %t = sched.start all_reduce %g over @dp sequence 0 : !sched.tensor<[12], f32, partial = sum {0:(1)2}> -> <!sched.tensor<[12], f32>>
  %s = sched.wait %t when deferred : !sched.token<!sched.tensor<[12], f32>>
  // W1
  // expected-note@+1 {{made here}}
  %n = sched.compute "meshplan.accumulate"(%a, %s) {self = #base.operand<0>, addend = #base.operand<1>} overwrites [0] when last : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %g, %s when deferred : !sched.tensor<[12], f32, partial = sum {0:(1)2}>, !sched.tensor<[12], f32>
  // expected-error@+1 {{'sched.update' op uses in every microbatch what is made only in the last one}}
  sched.update %n to %a : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>] {
  %x = sched.input "x" : <[12], f32>
  %a = sched.state "a" : <[12], f32>
  sched.resume 2
  %g = sched.compute "meshplan.op"(%x) {a = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32, partial = sum {0:(1)2}>
  %t = sched.start all_reduce %g over @dp sequence 0 : !sched.tensor<[12], f32, partial = sum {0:(1)2}> -> <!sched.tensor<[12], f32>>
  // expected-note@+1 {{made here}}
  %s = sched.wait %t when deferred : !sched.token<!sched.tensor<[12], f32>>
  // W1: it is not there yet
  // expected-error@+1 {{'sched.compute' op uses in every microbatch what is made in the next one}}
  %n = sched.compute "meshplan.accumulate"(%a, %s) {self = #base.operand<0>, addend = #base.operand<1>} overwrites [0]  : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %g, %s when deferred : !sched.tensor<[12], f32, partial = sum {0:(1)2}>, !sched.tensor<[12], f32>
  sched.update %n to %a : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>] {
  %x = sched.input "x" : <[12], f32>
  %a = sched.state "a" : <[12], f32>
  sched.resume 2
  // W4
  // expected-error@+1 {{'sched.compute' op produces a value that is neither freed nor an output}}
  %g = sched.compute "meshplan.op"(%x) {a = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32, partial = sum {0:(1)2}>
  %t = sched.start all_reduce %g over @dp sequence 0 : !sched.tensor<[12], f32, partial = sum {0:(1)2}> -> <!sched.tensor<[12], f32>>
  %s = sched.wait %t when deferred : !sched.token<!sched.tensor<[12], f32>>
  %n = sched.compute "meshplan.accumulate"(%a, %s) {self = #base.operand<0>, addend = #base.operand<1>} overwrites [0] when deferred : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.update %n to %a : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>] {
  %x = sched.input "x" : <[12], f32>
  %a = sched.state "a" : <[12], f32>
  sched.resume 2
  // W4: only the last instance frees it
  // expected-error@+1 {{'sched.compute' op produces a value that deferred steps use and do not free}}
  %g = sched.compute "meshplan.op"(%x) {a = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32, partial = sum {0:(1)2}>
  %t = sched.start all_reduce %g over @dp sequence 0 : !sched.tensor<[12], f32, partial = sum {0:(1)2}> -> <!sched.tensor<[12], f32>>
  %s = sched.wait %t when deferred : !sched.token<!sched.tensor<[12], f32>>
  %n = sched.compute "meshplan.accumulate"(%a, %s) {self = #base.operand<0>, addend = #base.operand<1>} overwrites [0] when deferred : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %g, %s when last : !sched.tensor<[12], f32, partial = sum {0:(1)2}>, !sched.tensor<[12], f32>
  sched.update %n to %a : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>] {
  %x = sched.input "x" : <[12], f32>
  %a = sched.state "a" : <[12], f32>
  sched.resume 3
  %g = sched.compute "meshplan.op"(%x) {a = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32, partial = sum {0:(1)2}>
  // expected-note@+1 {{started here}}
  %t = sched.start all_reduce %g over @dp sequence 0 : !sched.tensor<[12], f32, partial = sum {0:(1)2}> -> <!sched.tensor<[12], f32>>
  %s = sched.wait %t when deferred : !sched.token<!sched.tensor<[12], f32>>
  %n = sched.compute "meshplan.accumulate"(%a, %s) {self = #base.operand<0>, addend = #base.operand<1>} overwrites [0] when deferred : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  // L4: it is in flight until the next instance
  // expected-error@+1 {{'sched.free' op frees the input of a collective that is not waited for}}
  sched.free %g : !sched.tensor<[12], f32, partial = sum {0:(1)2}>
  sched.free %s when deferred : !sched.tensor<[12], f32>
  sched.update %n to %a : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>] {
  %x = sched.input "x" : <[12], f32>
  %a = sched.state "a" : <[12], f32>
  sched.resume 3
  %c = sched.compute "aten.neg.default"(%a) {self = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %c : !sched.tensor<[12], f32>
  %g = sched.compute "meshplan.op"(%x) {a = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32, partial = sum {0:(1)2}>
  %t = sched.start all_reduce %g over @dp sequence 0 : !sched.tensor<[12], f32, partial = sum {0:(1)2}> -> <!sched.tensor<[12], f32>>
  %s = sched.wait %t when deferred : !sched.token<!sched.tensor<[12], f32>>
  %n = sched.compute "meshplan.accumulate"(%a, %s) {self = #base.operand<0>, addend = #base.operand<1>} overwrites [0] when deferred : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %g, %s when deferred : !sched.tensor<[12], f32, partial = sum {0:(1)2}>, !sched.tensor<[12], f32>
  sched.update %n to %a : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.program @count0 role <microbatch> {
  // W5: a microbatch
  // expected-error@+1 {{'sched.resume' op runs only in the last instance of a timeline, which is none of this program}}
  sched.resume 1
}
sched.program @step role <step> timeline [#base.instance<@count0, 0>, #base.instance<@step, 0>] {
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.program @count0 role <microbatch> {
}
// P19
// expected-error@+1 {{'sched.program' op has other programs between its own instances in its timeline}}
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@count0, 0>, #base.instance<@step, 1>] {
}

// -----

// P20
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  // expected-note@+1 {{the other one is here}}
  %a = sched.input "x" : <[12], f32>
  // expected-error@+1 {{'sched.input' op has the name "x" of another input}}
  %b = sched.input "x" : <[12], f32>
}

// -----

// P20
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  // expected-note@+1 {{the other one is here}}
  %a = sched.parameter ["w", "tied"] : <[12], f32>
  // expected-error@+1 {{'sched.parameter' op has the name "tied" of another parameter}}
  %b = sched.parameter ["v", "tied"] buffer : <[12], f32>
}

// -----

// P20
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  // expected-note@+1 {{the other one is here}}
  %a = sched.setting "lr" 1.0 : <[], f64>
  // expected-error@+1 {{'sched.setting' op has the name "lr" of another setting}}
  %b = sched.setting "lr" 2.0 : <[], f64>
}

// -----

// P20
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  // expected-note@+1 {{the other one is here}}
  %a = sched.state "a" : <[12], f32>
  // expected-error@+1 {{'sched.state' op has the name "a" of another accumulator}}
  %b = sched.state "a" scratch : <[12], f32>
}

// -----

// P20: states
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %w = sched.parameter ["w"] : <[12], f32>
  // expected-note@+1 {{the other one is here}}
  %a = sched.state "m" of "w" : <[12], f32>
  // expected-error@+1 {{'sched.state' op has the name "m" of another state}}
  %b = sched.state "m" of "w" : <[12], f32>
}

// -----

// P20: buffers
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %v = sched.parameter ["v"] : <[12], f32>
  %w = sched.parameter ["w"] : <[12], f32>
  // expected-note@+1 {{the other one is here}}
  sched.buffer "all" %v : !sched.tensor<[12], f32>
  // expected-error@+1 {{'sched.buffer' op has the name "all" of another buffer}}
  sched.buffer "all" %w : !sched.tensor<[12], f32>
}

// -----

// P20: outputs
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %x = sched.input "x" : <[12], f32>
  // expected-note@+1 {{the other one is here}}
  sched.output "y" %x : <[12], f32>
  // expected-error@+1 {{'sched.output' op has the name "y" of another output}}
  sched.output "y" %x : <[12], f32>
}

// -----

// P20: an empty name
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  // expected-error@+1 {{'sched.parameter' op has an empty name}}
  %w = sched.parameter ["w", ""] : <[12], f32>
}

// -----

// P20 accepts one name of several kinds.
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %w = sched.parameter ["a"] : <[12], f32>
  %x = sched.input "a" : <[12], f32>
  %m = sched.state "a" of "a" : <[12], f32>
  %s = sched.state "a" : <[12], f32>
  sched.output "a" %x : <[12], f32>
}

// -----

// P21
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %x = sched.input "x" : <[12], f32>
  %w = sched.parameter ["w"] : <[12], f32>
  // expected-note@+1 {{the first one is here}}
  sched.update %x to %w : <[12], f32> to <[12], f32>
  // expected-error@+1 {{'sched.update' op is the second update of its target}}
  sched.update %x to %w : <[12], f32> to <[12], f32>
}

// -----

// P21: gradients
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %x = sched.input "x" : <[12], f32>
  %w = sched.parameter ["w"] trainable : <[12], f32>
  // expected-note@+1 {{the first one is here}}
  sched.gradient %x of %w : <[12], f32> of <[12], f32>
  // expected-error@+1 {{'sched.gradient' op is the second gradient of its parameter}}
  sched.gradient %x of %w : <[12], f32> of <[12], f32>
}

// -----

// P22
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %w = sched.parameter ["w"] : <[12], f32>
  // expected-error@+1 {{'sched.state' op of type '!sched.tensor<[6], f64>' copies 'w' of type '!sched.tensor<[12], f32>'}}
  %m = sched.state "m" of "w" copies : <[6], f64>
}

// -----

// P23
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
// expected-error@+1 {{'sched.program' op has a guard, but no output "nonfinite"}}
sched.program @p role <step> guard <stops = true> {
}

// -----

// P23: the output
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p role <step> guard <stops = true> {
  %x = sched.input "x" : <[2], i64>
  // expected-error@+1 {{'sched.output' op of a guarded program has type '!sched.tensor<[2], i64>', must be one i64 without dims}}
  sched.output "nonfinite" %x : <[2], i64>
}

// -----

// P24
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
// expected-error@+1 {{'sched.program' op has two axes named "rank"}}
sched.program @p role <reference> devices [#base.mesh_axis<"rank" = 1>, #base.mesh_axis<"rank" = 1>] {
}

// -----

// P3
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
// expected-note@+1 {{the first one is here}}
sched.program @a role <step> {
}
// expected-error@+1 {{'sched.program' op is the second program of role 'step'}}
sched.program @b role <step> {
}

// -----

// P3
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
// expected-note@+1 {{the first one is here}}
sched.program @a role <eval> {
}
// expected-error@+1 {{'sched.program' op is the second program of role 'eval'}}
sched.program @b role <eval> {
}

// -----

// P6: negative
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  %x = sched.input "x" : <[12 over {0:(1)6}], f32>
  // expected-error@+1 {{'sched.start' op has sequence number -1, the next one is 0}}
  %t = sched.start all_gather %x dim 0 over @tp sequence -1 : !sched.tensor<[12 over {0:(1)6}], f32> -> <!sched.tensor<[12], f32>>
  %y = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
  sched.output "y" %y : <[12], f32>
}

// -----

// A resume has steps.
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  // expected-error@+1 {{'sched.resume' op attribute 'steps' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  sched.resume 0
}

// -----

// Parameters are gathered in the first instance, for all.
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>] {
  %w = sched.parameter ["w"] : <[12 over {0:(1)2}], f32>
  %a = sched.state "a" : <[12], f32>
  %c = sched.compute "aten.neg.default"(%w) {self = #base.operand<0>} when first : (!sched.tensor<[12 over {0:(1)2}], f32>) -> !sched.tensor<[12 over {0:(1)2}], f32>
  %t = sched.start all_gather %c dim 0 over @dp sequence 0 when first : !sched.tensor<[12 over {0:(1)2}], f32> -> <!sched.tensor<[12], f32>>
  %v = sched.wait %t when first : !sched.token<!sched.tensor<[12], f32>>
  sched.free %c when first : !sched.tensor<[12 over {0:(1)2}], f32>
  %n = sched.compute "meshplan.accumulate"(%a, %v) {self = #base.operand<0>, addend = #base.operand<1>} overwrites [0] : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %v when last : !sched.tensor<[12], f32>
  sched.update %n to %a : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>] {
  %x = sched.input "x" : <[12], f32>
  %a = sched.state "a" : <[12], f32>
  %v = sched.compute "aten.neg.default"(%x) {self = #base.operand<0>} when first : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  // L1 in the second instance
  // expected-error@+1 {{'sched.compute' op uses a freed value}}
  %n = sched.compute "meshplan.accumulate"(%a, %v) {self = #base.operand<0>, addend = #base.operand<1>} overwrites [0] : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  // expected-note@+1 {{freed here}}
  sched.free %v when first : !sched.tensor<[12], f32>
  sched.update %n to %a : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>] {
  %x = sched.input "x" : <[12], f32>
  %a = sched.state "a" : <[12], f32>
  %v = sched.compute "aten.neg.default"(%x) {self = #base.operand<0>} when first : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  %n = sched.compute "meshplan.accumulate"(%a, %x) {self = #base.operand<0>, addend = #base.operand<1>} overwrites [0] : (!sched.tensor<[12], f32>, !sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  // L2 in the second instance
  // expected-error@+2 {{'sched.free' op frees a value that is already free}}
  // expected-note@+1 {{freed here}}
  sched.free %v : !sched.tensor<[12], f32>
  sched.update %n to %a : <[12], f32> to <[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>] {
  %x = sched.input "x" : <[12], f32>
  // expected-note@+1 {{made here}}
  %v = sched.compute "aten.neg.default"(%x) {self = #base.operand<0>} when first : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  // W9
  // expected-error@+1 {{'sched.compute' op overwrites what the first microbatch has made for all}}
  %n = sched.compute "aten.neg_.default"(%v) {self = #base.operand<0>} overwrites [0] : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %n : !sched.tensor<[12], f32>
  sched.free %v when last : !sched.tensor<[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @step role <step> timeline [#base.instance<@step, 0>, #base.instance<@step, 1>] {
  %x = sched.input "x" : <[12 over {0:(1)2}], f32>
  %t = sched.start all_gather %x dim 0 over @dp sequence 0 when first : !sched.tensor<[12 over {0:(1)2}], f32> -> <!sched.tensor<[12], f32>>
  // W3
  // expected-error@+1 {{'sched.wait' op is 'when always', its collective is 'when first'}}
  %v = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
  sched.free %v when last : !sched.tensor<[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.program @count role <microbatch> {
  %x = sched.input "x" : <[12], f32>
  // W5
  // expected-error@+1 {{runs only in the first instance of a timeline, which is none of this program}}
  %v = sched.compute "aten.neg.default"(%x) {self = #base.operand<0>} when first : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %v when first : !sched.tensor<[12], f32>
}
sched.program @step role <step> timeline [#base.instance<@count, 0>, #base.instance<@step, 0>] {
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.program @forward {
  // P26
  // expected-error@+1 {{'sched.input' op moves, keeps or gives out a value that is routed to experts}}
  %x = sched.input "x" : <[8, 12], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
}

// -----

sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.program @forward {
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 12], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // P26
  // expected-error@+1 {{'sched.pack' op moves, keeps or gives out a value that is routed to experts}}
  %s = sched.pack %x : !sched.packed<<[8, 12], f32, routed = #base.routed<rows, dims = 2, slots = 2>>>
}

// -----

// P26: what an exchange gives is not an output
sched.mesh [#base.mesh_axis<"dp" = 2>]
sched.communicator @dp over [#sched.axis<0:(1)2>]
sched.program @forward {
  %n = sched.input "n" : <[2, 8], i64>
  %x = sched.compute "aten.op"() {} : () -> !sched.tensor<[8, 4 over {0:(1)2}], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  %t = sched.start all_to_all %x over @dp sequence 0
    : !sched.tensor<[8, 4 over {0:(1)2}], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
    -> <!sched.tensor<[8 over {0:(1)2}, 4], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>> by %n : !sched.tensor<[2, 8], i64>
  %y = sched.wait %t : !sched.token<!sched.tensor<[8 over {0:(1)2}, 4], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>>
  sched.free %x : !sched.tensor<[8, 4 over {0:(1)2}], f32, routed = #base.routed<rows, dims = 2, slots = 2>>
  // expected-error@+1 {{'sched.output' op moves, keeps or gives out a value that is routed to experts}}
  sched.output "y" %y : <[8 over {0:(1)2}, 4], f32, routed = #base.routed<arrivals, dims = 2, slots = 2>>
}
