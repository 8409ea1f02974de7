// Every rule of dialect/base/attrs.cpp, by its label, and the text forms of the attributes.
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: %meshplan-opt %s --split-input-file --verify-diagnostics | %meshplan-opt --split-input-file | FileCheck %s

// CHECK: a = #base.mesh_axis<"dp" = 2>
// CHECK-SAME: b = #base.operand<3>
// CHECK-SAME: c = #base.local<1, result 0, dim 2, offset 3, extent 4, microbatch 5>
// CHECK-SAME: d = #base.init<kind = truncated_normal, low = -1.000000e+00 : f64, high = 2.000000e+00 : f64, mean = 5.000000e-01 : f64, std = 2.500000e-01 : f64>
// CHECK-SAME: e = #base.init<kind = given, elements = dense<[1, 2]> : tensor<2xi64>>
// CHECK-SAME: f = #base.rate_schedule<kind = cosine, warmup = 1, steps = 8, min = 1.000000e-01 : f64>
// CHECK-SAME: g = #base.guard<stops = true>
// CHECK-SAME: h = #base.guard<stops = false, growth = 2.000000e+00 : f64, backoff = 5.000000e-01 : f64, interval = 3>
// CHECK-SAME: i = #base.role<microbatch>
// CHECK-SAME: j = #base<collective permute>
// CHECK-SAME: k = #base.init<kind = constant, value = 0.000000e+00 : f64>
// CHECK-SAME: l = #base.init<kind = uniform, low = 0.000000e+00 : f64, high = 1.000000e+00 : f64>
// CHECK-SAME: m = #base.init<kind = normal, mean = 0.000000e+00 : f64, std = 1.000000e+00 : f64>
// CHECK-SAME: n = [#base.role<forward>, #base.role<step>, #base.role<eval>, #base.role<reference>]
// CHECK-SAME: o = [#base.rate_schedule<kind = constant>, #base.rate_schedule<kind = linear, steps = 8>, #base.rate_schedule<kind = wsd, steps = 8, decay = 2>]
// CHECK-SAME: p = [#base.instance<@count0, 0>, #base.instance<@step, 1>]
// CHECK-SAME: q = [#base<when always>, #base<when last>, #base<when deferred>, #base<when first>]
// CHECK-SAME: r = [#base.direction<forward>, #base.direction<backward>, #base.direction<update>]
// CHECK-SAME: s = [#base.purpose<activations>, #base.purpose<parameters>, #base.purpose<gradients>, #base.purpose<optimizer>]
// CHECK-SAME: t = [#base<collective all_gather>, #base<collective reduce_scatter>, #base<collective all_reduce>, #base<collective all_to_all>]
// CHECK-SAME: u = [#base.local<1, operand 0, dim 2>, #base.local<-1, result 0, dim 0, microbatch -2>]
// CHECK-SAME: v = [#base.routed<rows, dims = 3, slots = 2>, #base.routed<counts, dims = 2, slots = 1>, #base.routed<arrivals, dims = 2, slots = 1>, #base.routed<rows, dims = 2, slots = 1, reserve = 1.250000e+00 : f64>]
// CHECK-SAME: w = [#base.pieces<before = ["a.", "b."], after = [".w1", ".w3"], sizes = [1, 2], dim = 1, count = 4>, #base.pieces<before = ["a"], after = [""], sizes = [3]>]
module attributes {test.attr = {
  a = #base.mesh_axis<"dp" = 2>, b = #base.operand<3>, c = #base.local<1, result 0, dim 2, offset 3, extent 4, microbatch 5>,
  d = #base.init<kind = truncated_normal, std = 0.25, mean = 0.5, low = -1.0, high = 2.0>,
  e = #base.init<kind = given, elements = dense<[1, 2]> : tensor<2xi64>>,
  f = #base.rate_schedule<kind = cosine, steps = 8, warmup = 1, min = 0.1>, g = #base.guard<stops = true>,
  h = #base.guard<stops = false, growth = 2.0, backoff = 0.5, interval = 3>, i = #base.role<microbatch>,
  j = #base<collective permute>, k = #base.init<kind = constant, value = 0.0>, l = #base.init<kind = uniform, low = 0.0, high = 1.0>,
  m = #base.init<kind = normal, mean = 0.0, std = 1.0>,
  n = [#base.role<forward>, #base.role<step>, #base.role<eval>, #base.role<reference>],
  o = [#base.rate_schedule<kind = constant>, #base.rate_schedule<kind = linear, steps = 8>, #base.rate_schedule<kind = wsd, steps = 8, decay = 2>],
  p = [#base.instance<@count0, 0>, #base.instance<@step, 1>], q = [#base<when always>, #base<when last>, #base<when deferred>, #base<when first>],
  r = [#base.direction<forward>, #base.direction<backward>, #base.direction<update>],
  s = [#base.purpose<activations>, #base.purpose<parameters>, #base.purpose<gradients>, #base.purpose<optimizer>],
  t = [#base<collective all_gather>, #base<collective reduce_scatter>, #base<collective all_reduce>, #base<collective all_to_all>],
  u = [#base.local<1, operand 0, dim 2>, #base.local<-1, result 0, dim 0, microbatch -2>],
  v = [#base.routed<rows, dims = 3, slots = 2>, #base.routed<counts, dims = 2, slots = 1>, #base.routed<arrivals, dims = 2, slots = 1>, #base.routed<rows, dims = 2, slots = 1, reserve = 1.25>],
  w = [#base.pieces<count = 4, before = ["a.", "b."], after = [".w1", ".w3"], dim = 1, sizes = [1, 2]>, #base.pieces<before = ["a"], after = [""], sizes = [3]>]}} {}

// -----

// B1
// expected-error @below {{axis without a name}}
module attributes {test.attr = #base.mesh_axis<"" = 2>} {}

// -----

// B1
// expected-error @below {{axis "tp" has size 0, must be positive}}
module attributes {test.attr = #base.mesh_axis<"tp" = 0>} {}

// -----

// B2
// expected-error @below {{operand -1, must be 0 or more}}
module attributes {test.attr = #base.operand<-1>} {}

// -----

// B3
// expected-error @below {{dim 0 of result -1, both must be 0 or more}}
module attributes {test.attr = #base.local<0, result -1, dim 0>} {}

// -----

// B3
// expected-error @below {{dim -2 of operand 1, both must be 0 or more}}
module attributes {test.attr = #base.local<0, operand 1, dim -2>} {}

// -----

// B4
// expected-error @below {{'normal' needs 'std'}}
module attributes {test.attr = #base.init<kind = normal, mean = 0.0>} {}

// -----

// B4
// expected-error @below {{'constant' has no 'low'}}
module attributes {test.attr = #base.init<kind = constant, value = 0.0, low = 1.0>} {}

// -----

// B4
// expected-error @below {{'given' needs 'elements'}}
module attributes {test.attr = #base.init<kind = given>} {}

// -----

// B5
// expected-error @below {{low is 2.000000e+00 and high is 1.000000e+00, must be above low}}
module attributes {test.attr = #base.init<kind = uniform, low = 2.0, high = 1.0>} {}

// -----

// B5
// expected-error @below {{low is 1.000000e+00 and high is 1.000000e+00, must be above low}}
module attributes {test.attr = #base.init<kind = uniform, low = 1.0, high = 1.0>} {}

// -----

// B5
// expected-error @below {{std is 0.000000e+00, must be above 0}}
module attributes {test.attr = #base.init<kind = normal, mean = 0.0, std = 0.0>} {}

// -----

// B5
// expected-error @below {{a number of 'normal' is nan, must fit into f32}}
module attributes {test.attr = #base.init<kind = normal, mean = 0.0, std = 0x7FF8000000000000 : f64>} {}

// -----

// B5
// expected-error @below {{a number of 'constant' is 1.000000e+39, must fit into f32}}
module attributes {test.attr = #base.init<kind = constant, value = 1.0e39>} {}

// -----

// B5
// expected-error @below {{low is 9.000000e+00 and high is 1.000000e+01, must include numbers within 8 std of the mean}}
module attributes {test.attr = #base.init<kind = truncated_normal, low = 9.0, high = 10.0, mean = 0.0, std = 1.0>} {}

// -----

// B19
// expected-error @below {{'before' and 'after' must be lists of strings}}
module attributes {test.attr = #base.pieces<before = [1], after = [""], sizes = [2]>} {}

// -----

// B19
// expected-error @below {{'before', 'after' and 'sizes' have 1, 1 and 2 elements, must have equally many}}
module attributes {test.attr = #base.pieces<before = ["a"], after = [""], sizes = [1, 1]>} {}

// -----

// B19
// expected-error @below {{dim 0, count -1 and sizes must be 0 or more}}
module attributes {test.attr = #base.pieces<before = ["a"], after = [""], sizes = [2], count = -1>} {}

// -----

// B6
// expected-error @below {{warmup -1, steps 8 and decay 0 must all be 0 or more}}
module attributes {test.attr = #base.rate_schedule<kind = linear, warmup = -1, steps = 8>} {}

// -----

// B7
// expected-error @below {{'cosine' needs the number of steps}}
module attributes {test.attr = #base.rate_schedule<kind = cosine>} {}

// -----

// B7
// expected-error @below {{'wsd' needs the number of steps of the decay}}
module attributes {test.attr = #base.rate_schedule<kind = wsd, steps = 8>} {}

// -----

// B9
// expected-error @below {{warmup 6 and decay 3 take more than steps 8}}
module attributes {test.attr = #base.rate_schedule<kind = wsd, warmup = 6, steps = 8, decay = 3>} {}

// -----

// B9
// expected-error @below {{warmup 9 and decay 0 take more than steps 8}}
module attributes {test.attr = #base.rate_schedule<kind = linear, warmup = 9, steps = 8>} {}

// -----

// B10
// expected-error @below {{min is 2.000000e+00, must be from 0 to 1}}
module attributes {test.attr = #base.rate_schedule<kind = linear, steps = 8, min = 2.0>} {}

// -----

// B8
// expected-error @below {{a loss scale that changes has growth, backoff and a positive interval, and this one has growth, no backoff and interval 0}}
module attributes {test.attr = #base.guard<stops = false, growth = 2.0>} {}

// -----

// B8
// expected-error @below {{a loss scale that changes has growth, backoff and a positive interval, and this one has no growth, no backoff and interval 3}}
module attributes {test.attr = #base.guard<stops = false, interval = 3>} {}

// -----

// B11
// expected-error @below {{microbatch -1 of @step, must be 0 or more}}
module attributes {test.attr = #base.instance<@step, -1>} {}

// -----

// The values of #base.when
// expected-error @below {{expected ::meshplan::base::When to be one of: always, last, deferred, first}}
// expected-error @below {{failed to parse Base_WhenAttr parameter 'value' which is to be a `::meshplan::base::When`}}
module attributes {test.attr = #base<when middle>} {}

// -----

// The values of #base.collective
// expected-error @below {{expected ::meshplan::base::CollectiveKind to be one of: all_gather, reduce_scatter, all_reduce, all_to_all, permute}}
// expected-error @below {{failed to parse Base_CollectiveKindAttr parameter 'value' which is to be a `::meshplan::base::CollectiveKind`}}
module attributes {test.attr = #base<collective gather>} {}

// -----

// The values of #base.role
// expected-error @below {{expected ::meshplan::base::ProgramRole to be one of: forward, step, eval, reference, microbatch}}
// expected-error @below {{failed to parse Base_ProgramRoleAttr parameter 'value' which is to be a `::meshplan::base::ProgramRole`}}
module attributes {test.attr = #base.role<train>} {}

// -----

// The kinds of #base.init
// expected-error @below {{expected ::meshplan::base::InitKind to be one of: constant, uniform, normal, truncated_normal, given}}
// expected-error @below {{failed to parse Base_InitAttr parameter 'kind' which is to be a `::meshplan::base::InitKind`}}
module attributes {test.attr = #base.init<kind = zeros>} {}

// -----

// The kinds of #base.rate_schedule
// expected-error @below {{expected ::meshplan::base::RateKind to be one of: constant, linear, cosine, wsd}}
// expected-error @below {{failed to parse Base_RateScheduleAttr parameter 'kind' which is to be a `::meshplan::base::RateKind`}}
module attributes {test.attr = #base.rate_schedule<kind = step, steps = 8>} {}

// -----

// B8: negative
// expected-error @below {{and this one has growth, backoff and interval -1}}
module attributes {test.attr = #base.guard<stops = false, growth = 2.0, backoff = 0.5, interval = -1>} {}

// -----

// B11
// expected-error @below {{microbatch 0 of a program without a name}}
module attributes {test.attr = #base.instance<@"", 0>} {}

// -----

// B12
// expected-error @below {{'constant' has steps 8 and decay 0, must have neither}}
module attributes {test.attr = #base.rate_schedule<kind = constant, steps = 8>} {}

// -----

// B12
// expected-error @below {{'linear' has steps 8 and decay 2, must have no decay}}
module attributes {test.attr = #base.rate_schedule<kind = linear, steps = 8, decay = 2>} {}

// -----

// B12
// expected-error @below {{'cosine' has steps 8 and decay 2, must have no decay}}
module attributes {test.attr = #base.rate_schedule<kind = cosine, steps = 8, decay = 2>} {}

// -----

// B12
// expected-error @below {{'constant' has min 5.000000e-01, must have none}}
module attributes {test.attr = #base.rate_schedule<kind = constant, min = 0.5>} {}

// -----

// B13
// expected-error @below {{growth is 5.000000e-01 and backoff 5.000000e-01, must be at least 1 and between 0 and 1}}
module attributes {test.attr = #base.guard<stops = false, growth = 0.5, backoff = 0.5, interval = 3>} {}

// -----

// B13
// expected-error @below {{growth is 2.000000e+00 and backoff 1.000000e+00, must be at least 1 and between 0 and 1}}
module attributes {test.attr = #base.guard<stops = false, growth = 2.0, backoff = 1.0, interval = 3>} {}

// -----

// B13
// expected-error @below {{growth is 2.000000e+00 and backoff -5.000000e-01, must be at least 1 and between 0 and 1}}
module attributes {test.attr = #base.guard<stops = false, growth = 2.0, backoff = -0.5, interval = 3>} {}

// -----

// B13
// expected-error @below {{growth is INF and backoff 5.000000e-01, must be at least 1 and between 0 and 1}}
module attributes {test.attr = #base.guard<stops = false, growth = 0x7FF0000000000000 : f64, backoff = 0.5, interval = 3>} {}

// -----

// The values of #base.direction
// expected-error @below {{expected ::meshplan::base::Direction to be one of: forward, backward, update}}
// expected-error @below {{failed to parse Base_DirectionAttr parameter 'value' which is to be a `::meshplan::base::Direction`}}
module attributes {test.attr = #base.direction<sideways>} {}

// -----

// The values of #base.purpose
// expected-error @below {{expected ::meshplan::base::Purpose to be one of: activations, parameters, gradients, optimizer}}
// expected-error @below {{failed to parse Base_PurposeAttr parameter 'value' which is to be a `::meshplan::base::Purpose`}}
module attributes {test.attr = #base.purpose<weights>} {}

// -----

// The parts of #base.local
// expected-error @below {{expected 'offset', 'extent' or 'microbatch', once each and in this order}}
module attributes {test.attr = #base.local<0, result 0, dim 0, extent 1, offset 1>} {}

// -----

// The values of #base.routed
// expected-error @below {{expected ::meshplan::base::RoutedKind to be one of: rows, counts, arrivals}}
// expected-error @below {{failed to parse Base_RoutedAttr parameter 'kind' which is to be a `::meshplan::base::RoutedKind`}}
module attributes {test.attr = #base.routed<columns, dims = 3, slots = 2>} {}

// -----

// B14
// expected-error @below {{a routed value has 1 dims of experts and tokens, must be at least 2}}
module attributes {test.attr = #base.routed<rows, dims = 1, slots = 2>} {}

// -----

// B14
// expected-error @below {{a token chooses 0 experts, must be at least 1}}
module attributes {test.attr = #base.routed<counts, dims = 2, slots = 0>} {}

// -----

// B18
// expected-error @below {{reserve is 5.000000e-01, must be a number of at least 1}}
module attributes {test.attr = #base.routed<rows, dims = 2, slots = 1, reserve = 0.5 : f64>} {}

// -----

// B18
// expected-error @below {{reserve is nan, must be a number of at least 1}}
module attributes {test.attr = #base.routed<rows, dims = 2, slots = 1, reserve = 0x7FF8000000000000 : f64>} {}

// -----

// B19: after
// expected-error @below {{'before' and 'after' must be lists of strings}}
module attributes {test.attr = #base.pieces<before = ["a"], after = [1], sizes = [2]>} {}

// -----

// B19: no sizes
// expected-error @below {{'before', 'after' and 'sizes' have 0, 0 and 0 elements, must have equally many}}
module attributes {test.attr = #base.pieces<before = [], after = [], sizes = []>} {}

// -----

// B19: dim
// expected-error @below {{dim -1, count 0 and sizes must be 0 or more}}
module attributes {test.attr = #base.pieces<before = ["a"], after = [""], sizes = [2], dim = -1>} {}

// -----

// B19: a size
// expected-error @below {{dim 0, count 0 and sizes must be 0 or more}}
module attributes {test.attr = #base.pieces<before = ["a"], after = [""], sizes = [-2]>} {}
