// The attributes that a step carries for traces: their text, and one failing case for each rule of
// dialect/sched/dialect.cpp.
// RUN: meshplan-opt %s -split-input-file -verify-diagnostics | FileCheck %s
// RUN: meshplan-opt %s -split-input-file -verify-diagnostics | meshplan-opt -split-input-file | FileCheck %s

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
// CHECK-LABEL: sched.program @step
sched.program @step role <step> {
  %x = sched.input "x" : <[12], f32, partial = sum {0:(1)6}>
  // CHECK: sched.compute {{.*}} {sched.direction = #base.direction<backward>}
  %y = sched.compute "aten.neg.default"(%x) {self = #base.operand<0>} {sched.direction = #base.direction<backward>}
    : (!sched.tensor<[12], f32, partial = sum {0:(1)6}>) -> !sched.tensor<[12], f32, partial = sum {0:(1)6}>
  // CHECK: sched.start {{.*}} {sched.direction = #base.direction<update>, sched.purpose = #base.purpose<gradients>, sched.subject = "layers.0"}
  %t = sched.start all_reduce %y over @tp sequence 0
    {sched.direction = #base.direction<update>, sched.purpose = #base.purpose<gradients>, sched.subject = "layers.0"}
    : !sched.tensor<[12], f32, partial = sum {0:(1)6}> -> <!sched.tensor<[12], f32>>
  %r = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
  sched.free %y : !sched.tensor<[12], f32, partial = sum {0:(1)6}>
  sched.output "r" %r : <[12], f32>
}

// -----

// D1
// expected-error@+1 {{has 'sched.subjects', which the dialect does not know}}
module attributes {sched.subjects = "layers.0"} {}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  // D2
  // expected-error@+1 {{has 'sched.direction' of the wrong type, "backward"}}
  %y = sched.compute "aten.neg.default"(%x) {self = #base.operand<0>} {sched.direction = "backward"}
    : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  // D2
  // expected-error@+1 {{has 'sched.subject' of the wrong type, 1 : i64}}
  %y = sched.compute "aten.neg.default"(%x) {self = #base.operand<0>} {sched.subject = 1}
    : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  // D2
  // expected-error@+1 {{has 'sched.purpose' of the wrong type, #base.direction<forward>}}
  %y = sched.compute "aten.neg.default"(%x) {self = #base.operand<0>} {sched.purpose = #base.direction<forward>}
    : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
}

// -----

sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.program @forward {
  %x = sched.input "x" : <[12], f32>
  // D3
  // expected-error@+1 {{has 'sched.purpose', which means nothing on it}}
  %y = sched.compute "aten.neg.default"(%x) {self = #base.operand<0>} {sched.purpose = #base.purpose<gradients>}
    : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
}

// -----

// D3
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  // expected-error@+1 {{has 'sched.direction', which means nothing on it}}
  %x = sched.input "x" {sched.direction = #base.direction<update>} : <[12], f32>
}

// -----

// D3
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  // expected-error@+1 {{has 'sched.subject', which means nothing on it}}
  %x = sched.input "x" {sched.subject = "layers.0"} : <[12], f32>
}

// -----

// D3
sched.mesh [#base.mesh_axis<"tp" = 6>]
sched.communicator @tp over [#sched.axis<0:(1)6>]
sched.program @p {
  // expected-error@+1 {{has 'sched.purpose', which means nothing on it}}
  %x = sched.input "x" {sched.purpose = #base.purpose<gradients>} : <[12], f32>
}
