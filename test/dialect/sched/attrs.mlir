// RUN: meshplan-opt %s -split-input-file -verify-diagnostics

// One failing case for each rule of dialect/sched/attrs.cpp; the label is that of the verifier.

// A1
// expected-error@+1 {{axis -1:(1)3 needs a position from 0 and positive sizes}}
sched.communicator @tp over [#sched.axis<-1:(1)3>]

// -----

// A2
// expected-error@+1 {{dim of size 10 is not a multiple of its block size 4}}
func.func private @f(!sched.tensor<[10 unit 4], f32>)

// -----

// A2, parts
// expected-error@+1 {{part of size 6 is not a multiple of its block size 4}}
func.func private @f(!sched.tensor<[8 parts [6 unit 4, 2]], f32>)

// -----

// A3
// expected-error@+1 {{parts sum to 6, the dim has size 8}}
func.func private @f(!sched.tensor<[8 parts [4, 2]], f32>)

// -----

// A4
// expected-error@+1 {{element type 'index' is neither an integer nor a float}}
func.func private @f(!sched.tensor<[8], index>)

// -----

// A5
// expected-error@+1 {{a partial tensor must name both a reduction and axes}}
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

// A1: a digit without `pre`
// expected-error@+1 {{axis 0:(0)3 needs a position from 0 and positive sizes}}
sched.communicator @tp over [#sched.axis<0:(0)3>]

// -----

// A1: a digit without a size
// expected-error@+1 {{axis 0:(1)0 needs a position from 0 and positive sizes}}
sched.communicator @tp over [#sched.axis<0:(1)0>]

// -----

// A2: negative
// expected-error@+1 {{dim of size -4 is not a multiple of its block size 1}}
func.func private @f(!sched.tensor<[-4], f32>)

// -----

// A2: no block
// expected-error@+1 {{dim of size 8 is not a multiple of its block size 0}}
func.func private @f(!sched.tensor<[8 unit 0], f32>)

// -----

// A2: an empty part
// expected-error@+1 {{part is 0, must be positive}}
func.func private @f(!sched.tensor<[8 parts [8, 0]], f32>)

// -----

// A2: no repetition
// expected-error@+1 {{blocks repeat 0 times, must be positive}}
func.func private @f(!sched.tensor<[8 repeat 0], f32>)

// -----

// A2: a block of the dim beside those of its parts
// expected-error@+1 {{a dim in parts must not have a block size of its own}}
func.func private @f(!sched.tensor<[8 parts [4, 4] repeat 2], f32>)

// -----

// A4: not a scalar
// expected-error@+1 {{element type 'tensor<4xf32>' is neither an integer nor a float}}
func.func private @f(!sched.tensor<[8], tensor<4xf32>>)

// -----

// A5: partial axes without a reduction
// expected-error@+1 {{a partial tensor must name both a reduction and axes}}
func.func private @f(!sched.tensor<[8], f32, partial = none {0:(1)2}>)

// -----

// A6: an axis is used twice in one dim
// expected-error@+1 {{axis 1 is used twice in one layout}}
func.func private @f(!sched.tensor<[8 over {1:(1)2, 0:(1)2, 1:(1)2}], f32>)

// -----

// A6 accepts two adjacent digits, and the same digit of two axes.
func.func private @f(!sched.tensor<[8 over {0:(1)2}, 8 over {0:(2)2, 1:(1)2}], f32>)

// -----

// A7
// expected-error@+1 {{memory of -1 bytes, must be 0 or more}}
module attributes {test.attr = #sched.memory<parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, states = -1>} {}

// -----

// A8
// expected-error@+1 {{smallest peak is 6 bytes, the largest 5}}
module attributes {test.attr = #sched.memory<parameters = 1, constants = 2, inputs = 3, peak = 5, least = 6>} {}

// -----

// A8: of the evaluation
// expected-error@+1 {{smallest peak is 2 bytes, the largest 1}}
module attributes {test.attr = #sched.memory<parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, evaluation = 1, least_evaluation = 2>} {}

// -----

// A9
// expected-error@+1 {{holds 0 tensors "w", must be at least 1}}
module attributes {test.attr = #sched.held<what = "w", module = "m", count = 0, bytes = 8>} {}

// -----

// A9: the bytes
// expected-error@+1 {{holds -8 bytes of "w", must be 0 or more}}
module attributes {test.attr = #sched.held<what = "w", module = "m", count = 1, bytes = -8>} {}

// -----

// A10
// expected-error@+1 {{peak without an op}}
module attributes {test.attr = #sched.peak<"" in "m" : <what = "w", module = "m", count = 1, bytes = 8>>} {}

// -----

// A11
// expected-error@+1 {{tensors of the peak "end" are not in the order of their bytes}}
module attributes {test.attr = #sched.peak<"end" in "" : <what = "w", module = "m", count = 1, bytes = 8>, <what = "v", module = "m", count = 1, bytes = 16>>} {}

// -----

// A12
// expected-error@+1 {{time of -1 ns for operators, 2 ns for collectives and 0 ns for copies, all must be 0 or more}}
module attributes {test.attr = #sched.time<compute = -1, communication = 2>} {}

// -----

// A13
// expected-error@+1 {{packs '!sched.tensor<[4], bf16>' with '!sched.tensor<[4], f32>'}}
func.func private @types(!sched.packed<<[4], f32>, <[4], bf16>>)

// -----

// A14
// expected-error@+1 {{a token promises 'f32', must be a tensor or a packed value}}
func.func private @token(!sched.token<f32>)

// -----

// A15
// expected-error@+1 {{holds 8 bytes without a name}}
module attributes {test.attr = #sched.held<what = "", module = "m", count = 1, bytes = 8>} {}

// -----

// A7: parameters
// expected-error@+1 {{memory of -1 bytes, must be 0 or more}}
module attributes {test.attr = #sched.memory<parameters = -1, constants = 2, inputs = 3, peak = 5, least = 4>} {}

// -----

// A7: constants
// expected-error@+1 {{memory of -1 bytes, must be 0 or more}}
module attributes {test.attr = #sched.memory<parameters = 1, constants = -1, inputs = 3, peak = 5, least = 4>} {}

// -----

// A7: inputs
// expected-error@+1 {{memory of -1 bytes, must be 0 or more}}
module attributes {test.attr = #sched.memory<parameters = 1, constants = 2, inputs = -1, peak = 5, least = 4>} {}

// -----

// A7: peak
// expected-error@+1 {{memory of -1 bytes, must be 0 or more}}
module attributes {test.attr = #sched.memory<parameters = 1, constants = 2, inputs = 3, peak = -1, least = 4>} {}

// -----

// A7: least
// expected-error@+1 {{memory of -1 bytes, must be 0 or more}}
module attributes {test.attr = #sched.memory<parameters = 1, constants = 2, inputs = 3, peak = 5, least = -1>} {}

// -----

// A7: accumulators
// expected-error@+1 {{memory of -1 bytes, must be 0 or more}}
module attributes {test.attr = #sched.memory<parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, accumulators = -1>} {}

// -----

// A7: host_parameters
// expected-error@+1 {{memory of -1 bytes, must be 0 or more}}
module attributes {test.attr = #sched.memory<parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, host_parameters = -1>} {}

// -----

// A7: host_states
// expected-error@+1 {{memory of -1 bytes, must be 0 or more}}
module attributes {test.attr = #sched.memory<parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, host_states = -1>} {}

// -----

// A7: host_peak
// expected-error@+1 {{memory of -1 bytes, must be 0 or more}}
module attributes {test.attr = #sched.memory<parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, host_peak = -1>} {}

// -----

// A7: evaluation
// expected-error@+1 {{memory of -1 bytes, must be 0 or more}}
module attributes {test.attr = #sched.memory<parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, evaluation = -1>} {}

// -----

// A7: least_evaluation
// expected-error@+1 {{memory of -1 bytes, must be 0 or more}}
module attributes {test.attr = #sched.memory<parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, least_evaluation = -1>} {}

// -----

// A7: balanced
// expected-error@+1 {{memory of -1 bytes, must be 0 or more}}
module attributes {test.attr = #sched.memory<parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, balanced = -1>} {}

// -----

// A7: worst
// expected-error@+1 {{memory of -1 bytes, must be 0 or more}}
module attributes {test.attr = #sched.memory<parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, worst = -1>} {}

// -----

// A17
// expected-error@+1 {{balanced peak is 6 bytes, the worst 5}}
module attributes {test.attr = #sched.memory<parameters = 1, constants = 2, inputs = 3, peak = 5, least = 4, balanced = 6, worst = 5>} {}

// -----

// A12: collectives and copies
// expected-error@+1 {{time of 1 ns for operators, -2 ns for collectives and 0 ns for copies, all must be 0 or more}}
module attributes {test.attr = #sched.time<compute = 1, communication = -2>} {}

// -----

// A12: copies
// expected-error@+1 {{time of 1 ns for operators, 2 ns for collectives and -3 ns for copies, all must be 0 or more}}
module attributes {test.attr = #sched.time<compute = 1, communication = 2, copies = -3>} {}

// -----

// A6: the flat axes
// expected-error@+1 {{axis 0 is used twice in one layout}}
func.func private @f(!sched.tensor<[8 over {0:(1)2}], f32, flat = {0:(1)2}>)

// -----

// B15
// expected-error@+1 {{a routed value with 3 dims of experts and tokens has rank 2, must be at least as many}}
func.func private @f(!sched.tensor<[8, 4], f32, routed = #base.routed<rows, dims = 3, slots = 2>>)

// -----

// B16
// expected-error@+1 {{a token chooses 9 of 8 experts}}
func.func private @f(!sched.tensor<[8, 4], f32, routed = #base.routed<rows, dims = 2, slots = 9>>)

// -----

// B17
// expected-error@+1 {{a routed value is flat: the number of its elements is not known before it is computed}}
func.func private @f(!sched.tensor<[8, 4], f32, flat = {0:(1)2}, routed = #base.routed<rows, dims = 2, slots = 2>>)
