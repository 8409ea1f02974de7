// REQUIRES: meshplan-opt
// RUN: not %meshplan-opt %s --plan-place-init 2>&1 | FileCheck %s

// One error per entry, however many parameters it names.
// CHECK: a.plan:4:10: error: parameter 'norm' has no input and output features, so 'kaiming uniform' has no width for it
// CHECK: a.plan:4:10: note: and 1 more
// CHECK: a.plan:4:10: note: help: give it an entry with an explicit width, as 'normal 0.02'
// CHECK: a.plan:6:10: error: parameter 'mixed' has no input and output features that are known after 'aten.linalg_inv.default', so 'kaiming normal' has no width for it
// CHECK: a.plan:6:10: note: help: give it an entry with an explicit width, as 'normal 0.02'
// CHECK: a.plan:5:10: error: parameter 'table' is an embedding table, which has no fan, so 'kaiming normal' has no width for it
// CHECK: a.plan:7:10: error: parameter 'huge' would need the width 3.67423{{[0-9]*}}e+38, which f32 cannot represent, so 'xavier uniform gain 3e38' has no width for it
// CHECK: a.plan:8:10: error: parameter 'tiny' would need the width 0, which f32 cannot represent, so 'xavier normal gain 5e-324' has no width for it
#first = #plan.init_rule<rule = kaiming_uniform, gain = 1.0 : f64, fan = in, text = "kaiming uniform", location = loc("a.plan":4:10)>
#second = #plan.init_rule<rule = kaiming_normal, gain = 1.0 : f64, fan = in, text = "kaiming normal", location = loc("a.plan":5:10)>
#third = #plan.init_rule<rule = kaiming_normal, gain = 1.0 : f64, fan = in, text = "kaiming normal", location = loc("a.plan":6:10)>
#huge = #plan.init_rule<rule = xavier_uniform, gain = 3.0e38 : f64, fan = in, text = "xavier uniform gain 3e38", location = loc("a.plan":7:10)>
#tiny = #plan.init_rule<rule = xavier_normal, gain = 4.9406564584124654e-324 : f64, fan = in, text = "xavier normal gain 5e-324", location = loc("a.plan":8:10)>
func.func @forward(%x: tensor<4x8xf32> {plan.kind = #plan.kind<input>}, %i: tensor<2xi64> {plan.kind = #plan.kind<input>},
                   %norm: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["norm"], plan.init = #first},
                   %unread: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["unread"], plan.init = #first},
                   %mixed: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mixed"], plan.init = #third},
                   %table: tensor<160x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["table"], plan.init = #second},
                   %huge: tensor<2x2xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["huge"], plan.init = #huge},
                   %tiny: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["tiny"], plan.init = #tiny},
                   %y: tensor<4x2xf32> {plan.kind = #plan.kind<input>}) {
  %0 = plan.call "aten.mul.Tensor"(%x, %norm) {self = #base.operand<0>, other = #base.operand<1>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = plan.call "aten.embedding.default"(%table, %i) {weight = #base.operand<0>, indices = #base.operand<1>} : (tensor<160x8xf32>, tensor<2xi64>) -> tensor<2x8xf32>
  %2 = plan.call "aten.linalg_inv.default"(%mixed) {A = #base.operand<0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = plan.call "aten.mm.default"(%x, %2) {self = #base.operand<0>, mat2 = #base.operand<1>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %4 = plan.call "aten.linear.default"(%y, %huge) {input = #base.operand<0>, weight = #base.operand<1>} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %5 = plan.call "aten.linear.default"(%x, %tiny) {input = #base.operand<0>, weight = #base.operand<1>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return
}
