// Every attribute of every op of the dialect: one case in which it has the wrong kind. The rules are those of ops.td; its
// values are verified by the rules of collective_verifiers.mlir and program_verifier.mlir.
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{'sched.mesh' op attribute 'axes' failed to satisfy constraint: list of mesh axes}}
"sched.mesh"() {axes = "wrong"} : () -> ()

// -----

// expected-error @below {{'sched.communicator' op attribute 'sym_name' failed to satisfy constraint: string attribute}}
"sched.communicator"() {sym_name = 1 : i64, axes = []} : () -> ()

// -----

// expected-error @below {{'sched.communicator' op attribute 'axes' failed to satisfy constraint: list of axes}}
"sched.communicator"() {sym_name = "d", axes = "wrong"} : () -> ()

// -----

// expected-error @below {{'sched.program' op attribute 'sym_name' failed to satisfy constraint: string attribute}}
"sched.program"() ({
}) {sym_name = 1 : i64, role = #base.role<forward>, devices = [], memory = #sched.memory<parameters = 0, constants = 0, inputs = 0, peak = 0, least = 0>, time = #sched.time<compute = 0, communication = 0>, timeline = [], guard = #base.guard<stops = true>, peak = #sched.peak<"end" in "" : <what = "w", module = "", count = 1, bytes = 8>>} : () -> ()

// -----

// expected-error @below {{'sched.program' op attribute 'role' failed to satisfy constraint: what a run uses a program for}}
"sched.program"() ({
}) {sym_name = "q", role = "wrong", devices = [], memory = #sched.memory<parameters = 0, constants = 0, inputs = 0, peak = 0, least = 0>, time = #sched.time<compute = 0, communication = 0>, timeline = [], guard = #base.guard<stops = true>, peak = #sched.peak<"end" in "" : <what = "w", module = "", count = 1, bytes = 8>>} : () -> ()

// -----

// expected-error @below {{'sched.program' op attribute 'devices' failed to satisfy constraint: list of mesh axes}}
"sched.program"() ({
}) {sym_name = "q", role = #base.role<forward>, devices = "wrong", memory = #sched.memory<parameters = 0, constants = 0, inputs = 0, peak = 0, least = 0>, time = #sched.time<compute = 0, communication = 0>, timeline = [], guard = #base.guard<stops = true>, peak = #sched.peak<"end" in "" : <what = "w", module = "", count = 1, bytes = 8>>} : () -> ()

// -----

// expected-error @below {{'sched.program' op attribute 'memory' failed to satisfy constraint: peak memory in bytes}}
"sched.program"() ({
}) {sym_name = "q", role = #base.role<forward>, devices = [], memory = "wrong", time = #sched.time<compute = 0, communication = 0>, timeline = [], guard = #base.guard<stops = true>, peak = #sched.peak<"end" in "" : <what = "w", module = "", count = 1, bytes = 8>>} : () -> ()

// -----

// expected-error @below {{'sched.program' op attribute 'time' failed to satisfy constraint: estimated nanoseconds of the slowest rank}}
"sched.program"() ({
}) {sym_name = "q", role = #base.role<forward>, devices = [], memory = #sched.memory<parameters = 0, constants = 0, inputs = 0, peak = 0, least = 0>, time = "wrong", timeline = [], guard = #base.guard<stops = true>, peak = #sched.peak<"end" in "" : <what = "w", module = "", count = 1, bytes = 8>>} : () -> ()

// -----

// expected-error @below {{'sched.program' op attribute 'timeline' failed to satisfy constraint: list of instances}}
"sched.program"() ({
}) {sym_name = "q", role = #base.role<forward>, devices = [], memory = #sched.memory<parameters = 0, constants = 0, inputs = 0, peak = 0, least = 0>, time = #sched.time<compute = 0, communication = 0>, timeline = "wrong", guard = #base.guard<stops = true>, peak = #sched.peak<"end" in "" : <what = "w", module = "", count = 1, bytes = 8>>} : () -> ()

// -----

// expected-error @below {{'sched.program' op attribute 'guard' failed to satisfy constraint: what a run does after a step whose gradients are NaN or infinite}}
"sched.program"() ({
}) {sym_name = "q", role = #base.role<forward>, devices = [], memory = #sched.memory<parameters = 0, constants = 0, inputs = 0, peak = 0, least = 0>, time = #sched.time<compute = 0, communication = 0>, timeline = [], guard = "wrong", peak = #sched.peak<"end" in "" : <what = "w", module = "", count = 1, bytes = 8>>} : () -> ()

// -----

// expected-error @below {{'sched.program' op attribute 'peak' failed to satisfy constraint: the live tensors at the peak of the device memory, and the op that runs then}}
"sched.program"() ({
}) {sym_name = "q", role = #base.role<forward>, devices = [], memory = #sched.memory<parameters = 0, constants = 0, inputs = 0, peak = 0, least = 0>, time = #sched.time<compute = 0, communication = 0>, timeline = [], guard = #base.guard<stops = true>, peak = "wrong"} : () -> ()

// -----

sched.program @p {
  // expected-error @below {{'sched.parameter' op attribute 'names' failed to satisfy constraint: string array attribute}}
  %r = "sched.parameter"() {names = "wrong", trainable = unit, buffer = unit, host = unit, init = #base.init<kind = constant, value = 0.0>} : () -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  // expected-error @below {{'sched.parameter' op attribute 'trainable' failed to satisfy constraint: unit attribute}}
  %r = "sched.parameter"() {names = ["w"], trainable = "wrong", buffer = unit, host = unit, init = #base.init<kind = constant, value = 0.0>} : () -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  // expected-error @below {{'sched.parameter' op attribute 'buffer' failed to satisfy constraint: unit attribute}}
  %r = "sched.parameter"() {names = ["w"], trainable = unit, buffer = "wrong", host = unit, init = #base.init<kind = constant, value = 0.0>} : () -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  // expected-error @below {{'sched.parameter' op attribute 'host' failed to satisfy constraint: unit attribute}}
  %r = "sched.parameter"() {names = ["w"], trainable = unit, buffer = unit, host = "wrong", init = #base.init<kind = constant, value = 0.0>} : () -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  // expected-error @below {{'sched.parameter' op attribute 'init' failed to satisfy constraint: the distribution of the first elements of a parameter}}
  %r = "sched.parameter"() {names = ["w"], trainable = unit, buffer = unit, host = unit, init = "wrong"} : () -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  // expected-error @below {{'sched.parameter' op attribute 'pieces' failed to satisfy constraint: the names under which weight files have a parameter}}
  %r = "sched.parameter"() {names = ["w"], trainable = unit, host = unit, pieces = "wrong"} : () -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  // expected-error @below {{'sched.constant' op attribute 'name' failed to satisfy constraint: string attribute}}
  %r = "sched.constant"() {name = 1 : i64, value = dense<1.0> : tensor<2xf32>} : () -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  // expected-error @below {{'sched.constant' op attribute 'value' failed to satisfy constraint: constant vector/tensor attribute}}
  %r = "sched.constant"() {name = "k", value = "wrong"} : () -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  // expected-error @below {{'sched.input' op attribute 'name' failed to satisfy constraint: string attribute}}
  %r = "sched.input"() {name = 1 : i64, dims = ["a"]} : () -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  // expected-error @below {{'sched.input' op attribute 'dims' failed to satisfy constraint: string array attribute}}
  %r = "sched.input"() {name = "i", dims = "wrong"} : () -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  // expected-error @below {{'sched.state' op attribute 'name' failed to satisfy constraint: string attribute}}
  %r = "sched.state"() {name = 1 : i64, parameter = "w", copies = unit, scratch = unit, host = unit} : () -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  // expected-error @below {{'sched.state' op attribute 'parameter' failed to satisfy constraint: string attribute}}
  %r = "sched.state"() {name = "s", parameter = 1 : i64, copies = unit, scratch = unit, host = unit} : () -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  // expected-error @below {{'sched.state' op attribute 'copies' failed to satisfy constraint: unit attribute}}
  %r = "sched.state"() {name = "s", parameter = "w", copies = "wrong", scratch = unit, host = unit} : () -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  // expected-error @below {{'sched.state' op attribute 'scratch' failed to satisfy constraint: unit attribute}}
  %r = "sched.state"() {name = "s", parameter = "w", copies = unit, scratch = "wrong", host = unit} : () -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  // expected-error @below {{'sched.state' op attribute 'host' failed to satisfy constraint: unit attribute}}
  %r = "sched.state"() {name = "s", parameter = "w", copies = unit, scratch = unit, host = "wrong"} : () -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.buffer' op attribute 'name' failed to satisfy constraint: string attribute}}
  "sched.buffer"(%x) {name = 1 : i64, registered = unit} : (!sched.tensor<[2], f32>) -> ()
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.buffer' op attribute 'registered' failed to satisfy constraint: unit attribute}}
  "sched.buffer"(%x) {name = "b", registered = "wrong"} : (!sched.tensor<[2], f32>) -> ()
}

// -----

sched.program @p {
  // expected-error @below {{'sched.setting' op attribute 'name' failed to satisfy constraint: string attribute}}
  %r = "sched.setting"() {name = 1 : i64, value = 1.0, schedule = #base.rate_schedule<kind = constant>} : () -> (!sched.tensor<[], f64>)
}

// -----

sched.program @p {
  // expected-error @below {{'sched.setting' op attribute 'value' failed to satisfy constraint: 64-bit float attribute}}
  %r = "sched.setting"() {name = "lr", value = "wrong", schedule = #base.rate_schedule<kind = constant>} : () -> (!sched.tensor<[], f64>)
}

// -----

sched.program @p {
  // expected-error @below {{'sched.setting' op attribute 'schedule' failed to satisfy constraint: the factor of the learning rate in each step}}
  %r = "sched.setting"() {name = "lr", value = 1.0, schedule = "wrong"} : () -> (!sched.tensor<[], f64>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.output' op attribute 'name' failed to satisfy constraint: string attribute}}
  "sched.output"(%x) {name = 1 : i64, loss = unit} : (!sched.tensor<[2], f32>) -> ()
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.output' op attribute 'loss' failed to satisfy constraint: unit attribute}}
  "sched.output"(%x) {name = "o", loss = "wrong"} : (!sched.tensor<[2], f32>) -> ()
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.output' op attribute 'experts' failed to satisfy constraint: string array attribute}}
  "sched.output"(%x) {name = "o", experts = "wrong"} : (!sched.tensor<[2], f32>) -> ()
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.output' op attribute 'pairs' failed to satisfy constraint: i64 dense array attribute}}
  "sched.output"(%x) {name = "o", pairs = "wrong"} : (!sched.tensor<[2], f32>) -> ()
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.compute' op attribute 'target' failed to satisfy constraint: string attribute}}
  %r = "sched.compute"(%x) {target = 1 : i64, args = {self = #base.operand<0>}, overwrites = array<i64>, module = "m", host = unit, when = #base<when always>} : (!sched.tensor<[2], f32>) -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.compute' op attribute 'args' failed to satisfy constraint: dictionary of named attribute values}}
  %r = "sched.compute"(%x) {target = "aten.neg.default", args = "wrong", overwrites = array<i64>, module = "m", host = unit, when = #base<when always>} : (!sched.tensor<[2], f32>) -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.compute' op attribute 'overwrites' failed to satisfy constraint: i64 dense array attribute}}
  %r = "sched.compute"(%x) {target = "aten.neg.default", args = {self = #base.operand<0>}, overwrites = "wrong", module = "m", host = unit, when = #base<when always>} : (!sched.tensor<[2], f32>) -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.compute' op attribute 'module' failed to satisfy constraint: string attribute}}
  %r = "sched.compute"(%x) {target = "aten.neg.default", args = {self = #base.operand<0>}, overwrites = array<i64>, module = 1 : i64, host = unit, when = #base<when always>} : (!sched.tensor<[2], f32>) -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.compute' op attribute 'host' failed to satisfy constraint: unit attribute}}
  %r = "sched.compute"(%x) {target = "aten.neg.default", args = {self = #base.operand<0>}, overwrites = array<i64>, module = "m", host = "wrong", when = #base<when always>} : (!sched.tensor<[2], f32>) -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.compute' op attribute 'when' failed to satisfy constraint: in which instances of its program a step runs}}
  %r = "sched.compute"(%x) {target = "aten.neg.default", args = {self = #base.operand<0>}, overwrites = array<i64>, module = "m", host = unit, when = "wrong"} : (!sched.tensor<[2], f32>) -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.pack' op attribute 'in_place' failed to satisfy constraint: unit attribute}}
  %r = "sched.pack"(%x) {in_place = "wrong", when = #base<when always>} : (!sched.tensor<[2], f32>) -> (!sched.packed<<[2], f32>>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.pack' op attribute 'when' failed to satisfy constraint: in which instances of its program a step runs}}
  %r = "sched.pack"(%x) {in_place = unit, when = "wrong"} : (!sched.tensor<[2], f32>) -> (!sched.packed<<[2], f32>>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  %p = sched.pack %x : !sched.packed<<[2], f32>>
  // expected-error @below {{'sched.unpack' op attribute 'in_place' failed to satisfy constraint: unit attribute}}
  %r = "sched.unpack"(%p) {in_place = "wrong", when = #base<when always>} : (!sched.packed<<[2], f32>>) -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  %p = sched.pack %x : !sched.packed<<[2], f32>>
  // expected-error @below {{'sched.unpack' op attribute 'when' failed to satisfy constraint: in which instances of its program a step runs}}
  %r = "sched.unpack"(%p) {in_place = unit, when = "wrong"} : (!sched.packed<<[2], f32>>) -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.start' op attribute 'kind' failed to satisfy constraint: kind of a collective}}
  %r = "sched.start"(%x) {kind = "wrong", dim = 0, from_dim = 0, communicator = @tp, sequence = 0, cause = "t", module = "m", activation_sum = bf16, operandSegmentSizes = array<i32: 1, 0, 0>, when = #base<when always>} : (!sched.tensor<[2], f32>) -> (!sched.token<!sched.tensor<[2], f32>>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.start' op attribute 'dim' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "sched.start"(%x) {kind = #base<collective all_gather>, dim = "wrong", from_dim = 0, communicator = @tp, sequence = 0, cause = "t", module = "m", activation_sum = bf16, operandSegmentSizes = array<i32: 1, 0, 0>, when = #base<when always>} : (!sched.tensor<[2], f32>) -> (!sched.token<!sched.tensor<[2], f32>>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.start' op attribute 'from_dim' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "sched.start"(%x) {kind = #base<collective all_gather>, dim = 0, from_dim = "wrong", communicator = @tp, sequence = 0, cause = "t", module = "m", activation_sum = bf16, operandSegmentSizes = array<i32: 1, 0, 0>, when = #base<when always>} : (!sched.tensor<[2], f32>) -> (!sched.token<!sched.tensor<[2], f32>>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.start' op attribute 'communicator' failed to satisfy constraint: flat symbol reference attribute}}
  %r = "sched.start"(%x) {kind = #base<collective all_gather>, dim = 0, from_dim = 0, communicator = 1 : i64, sequence = 0, cause = "t", module = "m", activation_sum = bf16, operandSegmentSizes = array<i32: 1, 0, 0>, when = #base<when always>} : (!sched.tensor<[2], f32>) -> (!sched.token<!sched.tensor<[2], f32>>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.start' op attribute 'sequence' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "sched.start"(%x) {kind = #base<collective all_gather>, dim = 0, from_dim = 0, communicator = @tp, sequence = "wrong", cause = "t", module = "m", activation_sum = bf16, operandSegmentSizes = array<i32: 1, 0, 0>, when = #base<when always>} : (!sched.tensor<[2], f32>) -> (!sched.token<!sched.tensor<[2], f32>>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.start' op attribute 'cause' failed to satisfy constraint: string attribute}}
  %r = "sched.start"(%x) {kind = #base<collective all_gather>, dim = 0, from_dim = 0, communicator = @tp, sequence = 0, cause = 1 : i64, module = "m", activation_sum = bf16, operandSegmentSizes = array<i32: 1, 0, 0>, when = #base<when always>} : (!sched.tensor<[2], f32>) -> (!sched.token<!sched.tensor<[2], f32>>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.start' op attribute 'module' failed to satisfy constraint: string attribute}}
  %r = "sched.start"(%x) {kind = #base<collective all_gather>, dim = 0, from_dim = 0, communicator = @tp, sequence = 0, cause = "t", module = 1 : i64, activation_sum = bf16, operandSegmentSizes = array<i32: 1, 0, 0>, when = #base<when always>} : (!sched.tensor<[2], f32>) -> (!sched.token<!sched.tensor<[2], f32>>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.start' op attribute 'activation_sum' failed to satisfy constraint: any type attribute}}
  %r = "sched.start"(%x) {kind = #base<collective all_gather>, dim = 0, from_dim = 0, communicator = @tp, sequence = 0, cause = "t", module = "m", activation_sum = "wrong", operandSegmentSizes = array<i32: 1, 0, 0>, when = #base<when always>} : (!sched.tensor<[2], f32>) -> (!sched.token<!sched.tensor<[2], f32>>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.start' op attribute 'when' failed to satisfy constraint: in which instances of its program a step runs}}
  %r = "sched.start"(%x) {kind = #base<collective all_gather>, dim = 0, from_dim = 0, communicator = @tp, sequence = 0, cause = "t", module = "m", activation_sum = bf16, operandSegmentSizes = array<i32: 1, 0, 0>, when = "wrong"} : (!sched.tensor<[2], f32>) -> (!sched.token<!sched.tensor<[2], f32>>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.copy' op attribute 'host' failed to satisfy constraint: unit attribute}}
  %r = "sched.copy"(%x) {host = "wrong", sequence = 0, module = "m", when = #base<when always>} : (!sched.tensor<[2], f32>) -> (!sched.token<!sched.tensor<[2], f32>>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.copy' op attribute 'sequence' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "sched.copy"(%x) {host = unit, sequence = "wrong", module = "m", when = #base<when always>} : (!sched.tensor<[2], f32>) -> (!sched.token<!sched.tensor<[2], f32>>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.copy' op attribute 'module' failed to satisfy constraint: string attribute}}
  %r = "sched.copy"(%x) {host = unit, sequence = 0, module = 1 : i64, when = #base<when always>} : (!sched.tensor<[2], f32>) -> (!sched.token<!sched.tensor<[2], f32>>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.copy' op attribute 'when' failed to satisfy constraint: in which instances of its program a step runs}}
  %r = "sched.copy"(%x) {host = unit, sequence = 0, module = "m", when = "wrong"} : (!sched.tensor<[2], f32>) -> (!sched.token<!sched.tensor<[2], f32>>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  %t = sched.copy %x host sequence 0 : <[2], f32> -> <!sched.tensor<[2], f32>>
  // expected-error @below {{'sched.wait' op attribute 'when' failed to satisfy constraint: in which instances of its program a step runs}}
  %r = "sched.wait"(%t) {when = "wrong"} : (!sched.token<!sched.tensor<[2], f32>>) -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.slice' op attribute 'when' failed to satisfy constraint: in which instances of its program a step runs}}
  %r = "sched.slice"(%x) {when = "wrong"} : (!sched.tensor<[2], f32>) -> (!sched.tensor<[2], f32>)
}

// -----

sched.program @p {
  // expected-error @below {{'sched.resume' op attribute 'steps' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  "sched.resume"() {steps = "wrong"} : () -> ()
}

// -----

sched.program @p {
  %x = sched.input "x" : <[2], f32>
  // expected-error @below {{'sched.free' op attribute 'when' failed to satisfy constraint: in which instances of its program a step runs}}
  "sched.free"(%x) {when = "wrong"} : (!sched.tensor<[2], f32>) -> ()
}
