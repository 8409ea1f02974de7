//===- optimizer_messages_test.cpp - messages about optimizers ------------===//

#include "test/unit/frontend/message_test.h"

using namespace meshplan;
using namespace meshplan::test;

namespace {

const MessageCase optimizerCases[] = {
    {"UnknownOptimizer",
     R"(plan p {
  loss loss
  optimizer adamx { lr 1 }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: unknown optimizer 'adamx'
    optimizer adamx { lr 1 }
              ^~~~~
help: did you mean 'adam' or 'adamw'?
)"},
    {"OptimizerOfPyTorch",
     R"(plan p {
  loss loss
  optimizer AdamW { lr 1 }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: unknown optimizer 'AdamW'
    optimizer AdamW { lr 1 }
              ^~~~~
help: did you mean 'adamw'?
)"},
    {"UnknownOptimizerOption",
     R"(plan p {
  loss loss
  optimizer sgd { betas (0.9, 0.95) }
  rest: replicate
}
)",
     R"(p.plan:3:19: error: 'sgd' has no option 'betas'
    optimizer sgd { betas (0.9, 0.95) }
                    ^~~~~
help: options of 'sgd': 'lr', 'momentum', 'dampening', 'weight_decay', 'nesterov', 'schedule', 'group'
)"},
    {"UnknownOptionOfAdam",
     R"(plan p {
  loss loss
  optimizer adam { momentum 0.9 }
  rest: replicate
}
)",
     R"(p.plan:3:20: error: 'adam' has no option 'momentum'
    optimizer adam { momentum 0.9 }
                     ^~~~~~~~
help: options of 'adam': 'lr', 'eps', 'weight_decay', 'betas', 'schedule', 'group'
)"},
    {"OneBeta",
     R"(plan p {
  loss loss
  optimizer adamw { betas (0.9) }
  rest: replicate
}
)",
     R"(p.plan:3:21: error: cannot read 'betas (0.9)'
    optimizer adamw { betas (0.9) }
                      ^~~~~~~~~~~
help: the form is 'betas (NUMBER, NUMBER)'
)"},
    {"GroupWithoutBlock",
     R"(plan p {
  loss loss
  optimizer adamw { group lm_head }
  rest: replicate
}
)",
     R"(p.plan:3:21: error: cannot read 'group lm_head'
    optimizer adamw { group lm_head }
                      ^~~~~~~~~~~~~
help: the form is 'group PATH { OPTIONS }'
)"},
    {"OptionWithBlock",
     R"(plan p {
  loss loss
  optimizer adamw { lr 1 { eps 1 } }
  rest: replicate
}
)",
     R"(p.plan:3:21: error: cannot read 'lr 1'
    optimizer adamw { lr 1 { eps 1 } }
                      ^~~~
help: the form is 'lr NUMBER'
)"},
    {"OptimizerWithoutLoss",
     R"(plan p {
  optimizer sgd { lr 0.1 }
  rest: replicate
}
)",
     R"(p.plan:2:3: error: a plan without a loss cannot be trained
    optimizer sgd { lr 0.1 }
    ^~~~~~~~~~~~~~~~~~~~~~~~
help: add 'loss loss'
)"},
    {"OptimizerWithoutLossOfTwo",
     R"(plan p {
  optimizer sgd { lr 0.1 }
  rest: replicate
}
)",
     R"(p.plan:2:3: error: a plan without a loss cannot be trained
    optimizer sgd { lr 0.1 }
    ^~~~~~~~~~~~~~~~~~~~~~~~
help: add 'loss NAME'; outputs that are scalars: 'loss', 'aux'
)",
     Model::TwoLosses},
    {"OptimizerWithoutAScalar",
     R"(plan p {
  optimizer sgd { lr 0.1 }
  rest: replicate
}
)",
     R"(p.plan:2:3: error: a plan without a loss cannot be trained
    optimizer sgd { lr 0.1 }
    ^~~~~~~~~~~~~~~~~~~~~~~~
help: return the loss, a scalar, from the model, and add 'loss NAME'
)",
     Model::NoLoss},
    {"NegativeNumbers",
     R"(plan p {
  loss loss
  optimizer adamw {
    lr -3e-4
    eps -1e-8
    weight_decay -0.1
    betas (1, -0.5)
  }
  rest: replicate
}
)",
     R"(p.plan:4:8: error: lr is a finite number, at least 0, and this is -0.0003
      lr -3e-4
         ^~~~~
p.plan:5:9: error: eps is a finite number, at least 0, and this is -1e-08
      eps -1e-8
          ^~~~~
p.plan:6:18: error: weight_decay is a finite number, at least 0, and this is -0.1
      weight_decay -0.1
                   ^~~~
p.plan:7:12: error: a beta is at least 0 and below 1, and this is 1
      betas (1, -0.5)
             ^
p.plan:7:15: error: a beta is at least 0 and below 1, and this is -0.5
      betas (1, -0.5)
                ^~~~
)"},
    {"NegativeMomentum",
     R"(plan p {
  loss loss
  optimizer sgd { momentum -0.9 }
  rest: replicate
}
)",
     R"(p.plan:3:28: error: momentum is a finite number, at least 0, and this is -0.9
    optimizer sgd { momentum -0.9 }
                             ^~~~
)"},
    {"NumbersThatAreTooLarge",
     R"(plan p {
  loss loss
  optimizer sgd { lr 1e400; dampening -1e400 }
  rest: replicate
}
)",
     R"(p.plan:3:22: error: lr is a finite number, at least 0, and this is inf
    optimizer sgd { lr 1e400; dampening -1e400 }
                       ^~~~~
p.plan:3:39: error: dampening is a finite number, and this is -inf
    optimizer sgd { lr 1e400; dampening -1e400 }
                                        ^~~~~~
)"},
    {"NesterovWithoutMomentum",
     R"(plan p {
  loss loss
  optimizer sgd { nesterov }
  rest: replicate
}
)",
     R"(p.plan:3:19: error: nesterov needs a momentum above 0, and it is 0
    optimizer sgd { nesterov }
                    ^~~~~~~~
help: state a momentum, as in 'momentum 0.9', or remove 'nesterov'
)"},
    {"NesterovWithMomentumZero",
     R"(plan p {
  loss loss
  optimizer sgd { momentum 0; nesterov true }
  rest: replicate
}
)",
     R"(p.plan:3:31: error: nesterov needs a momentum above 0, and it is 0
    optimizer sgd { momentum 0; nesterov true }
                                ^~~~~~~~~~~~~
p.plan:3:28: note: momentum is stated here
    optimizer sgd { momentum 0; nesterov true }
                             ^
help: state a momentum, as in 'momentum 0.9', or remove 'nesterov'
)"},
    {"NesterovWithDampening",
     R"(plan p {
  loss loss
  optimizer sgd { momentum 0.9; nesterov; dampening 0.1 }
  rest: replicate
}
)",
     R"(p.plan:3:33: error: nesterov needs a dampening of 0, and it is 0.1
    optimizer sgd { momentum 0.9; nesterov; dampening 0.1 }
                                  ^~~~~~~~
p.plan:3:53: note: dampening is stated here
    optimizer sgd { momentum 0.9; nesterov; dampening 0.1 }
                                                      ^~~
help: remove one of the two
)"},
    {"NesterovForm",
     R"(plan p {
  loss loss
  optimizer sgd { nesterov 1 }
  rest: replicate
}
)",
     R"(p.plan:3:19: error: cannot read 'nesterov 1'
    optimizer sgd { nesterov 1 }
                    ^~~~~~~~~~
help: the form is 'nesterov [true | false]'
)"},
    {"NesterovOfTheOptimizerInAGroup",
     R"(plan p {
  loss loss
  optimizer sgd {
    group lm_head { momentum 0 }
    momentum 0.9; nesterov
  }
  rest: replicate
}
)",
     R"(p.plan:5:19: error: nesterov needs a momentum above 0, and it is 0
      momentum 0.9; nesterov
                    ^~~~~~~~
p.plan:4:30: note: momentum is stated here
      group lm_head { momentum 0 }
                               ^
help: state a momentum, as in 'momentum 0.9', or remove 'nesterov'
)"},
    {"GroupMatchesNothing",
     R"(plan p {
  loss loss
  optimizer sgd { group model.nrm, **.bias { lr 0 } }
  rest: replicate
}
)",
     R"(p.plan:3:25: error: 'model.nrm' matches no module and no parameter
    optimizer sgd { group model.nrm, **.bias { lr 0 } }
                          ^~~~~~~~~
help: did you mean 'model.norm'?
p.plan:3:36: error: '**.bias' matches no module and no parameter
    optimizer sgd { group model.nrm, **.bias { lr 0 } }
                                     ^~~~~~~
help: parameters are called: 'weight'
)"},
    {"GroupNamesNoParameter",
     R"(plan p {
  loss loss
  optimizer sgd { group model.norm.wieght, model.norm.bias, **.wieght { lr 0 } }
  rest: replicate
}
)",
     R"(p.plan:3:25: error: 'model.norm.wieght' matches no module and no parameter
    optimizer sgd { group model.norm.wieght, model.norm.bias, **.wieght { lr 0 } }
                          ^~~~~~~~~~~~~~~~~
help: did you mean 'model.norm.weight'?
p.plan:3:44: error: 'model.norm.bias' matches no module and no parameter
    optimizer sgd { group model.norm.wieght, model.norm.bias, **.wieght { lr 0 } }
                                             ^~~~~~~~~~~~~~~
help: below 'model.norm': 'weight'
p.plan:3:61: error: '**.wieght' matches no module and no parameter
    optimizer sgd { group model.norm.wieght, model.norm.bias, **.wieght { lr 0 } }
                                                              ^~~~~~~~~
help: did you mean '**.weight'?
)"},
    {"GroupHoldsNoParameter",
     R"(plan p {
  loss loss
  optimizer sgd { group model.rotary_emb { lr 0 } }
  rest: replicate
}
)",
     R"(p.plan:3:25: error: 'model.rotary_emb' holds no parameter
    optimizer sgd { group model.rotary_emb { lr 0 } }
                          ^~~~~~~~~~~~~~~~
help: name parameters, or modules that hold some
)"},
    {"ParameterInTwoGroups",
     R"(plan p {
  loss loss
  optimizer sgd {
    group **.*norm { lr 0 }
    group lm_head, model.norm.weight, model.layers.* { lr 1 }
  }
  rest: replicate
}
)",
     R"(p.plan:5:20: error: parameter 'model.norm.weight' is in two groups of the optimizer
      group lm_head, model.norm.weight, model.layers.* { lr 1 }
                     ^~~~~~~~~~~~~~~~~
p.plan:4:11: note: the other group is here
      group **.*norm { lr 0 }
            ^~~~~~~~
help: remove it from one of the two
p.plan:5:39: error: parameter 'model.layers.0.input_layernorm.weight' is in two groups of the optimizer
      group lm_head, model.norm.weight, model.layers.* { lr 1 }
                                        ^~~~~~~~~~~~~~
p.plan:4:11: note: the other group is here
      group **.*norm { lr 0 }
            ^~~~~~~~
help: remove it from one of the two
)"},
    {"TiedParameterInTwoGroups",
     R"(plan p {
  loss loss
  optimizer sgd {
    group lm_head { lr 0 }
    group model.embed_tokens { lr 1 }
  }
  rest: replicate
}
)",
     R"(p.plan:5:11: error: parameter 'model.embed_tokens.weight' is in two groups of the optimizer
      group model.embed_tokens { lr 1 }
            ^~~~~~~~~~~~~~~~~~
p.plan:4:11: note: the other group is here
      group lm_head { lr 0 }
            ^~~~~~~
help: remove it from one of the two
)",
     Model::Tied},
    {"GroupIsFrozen",
     R"(plan p {
  loss loss
  freeze lm_head
  optimizer sgd { group model.norm, **.lm_head { lr 0 } }
  rest: replicate
}
)",
     R"(p.plan:4:37: error: group '**.lm_head' names no parameter that is trained
    optimizer sgd { group model.norm, **.lm_head { lr 0 } }
                                      ^~~~~~~~~~
p.plan:3:10: note: 'lm_head.weight' is frozen by this statement
    freeze lm_head
           ^~~~~~~
help: remove the path from the group
)"},
    {"GroupNamesAFrozenParameter",
     R"(plan p {
  loss loss
  freeze lm_head
  optimizer sgd { group {model.norm, lm_head.weight} { lr 0 } }
  rest: replicate
}
)",
     R"(p.plan:4:25: error: group '{model.norm, lm_head.weight}' names parameter 'lm_head.weight', which is not trained
    optimizer sgd { group {model.norm, lm_head.weight} { lr 0 } }
                          ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
p.plan:3:10: note: 'lm_head.weight' is frozen by this statement
    freeze lm_head
           ^~~~~~~
help: remove it from the group
)"},
    {"GroupHoldsFrozenParameters",
     R"(plan p {
  loss loss
  freeze model.layers.0.mlp
  unused model.layers.1.mlp.up_proj
  optimizer sgd { group model.layers.*.mlp { lr 0 } }
  rest: replicate
}
)",
     R"(p.plan:5:25: warning: of the 6 parameters of group 'model.layers.*.mlp' 4 are not trained, and the group has no effect on them
    optimizer sgd { group model.layers.*.mlp { lr 0 } }
                          ^~~~~~~~~~~~~~~~~~
p.plan:3:10: note: 'model.layers.0.mlp.gate_proj.weight' is frozen by this statement
    freeze model.layers.0.mlp
           ^~~~~~~~~~~~~~~~~~
)"},
    {"GroupIsUnused",
     R"(plan p {
  loss loss
  unused model.norm
  optimizer sgd { group model.norm { lr 0 } }
  rest: replicate
}
)",
     R"(p.plan:4:25: error: group 'model.norm' names no parameter that is trained
    optimizer sgd { group model.norm { lr 0 } }
                          ^~~~~~~~~~
p.plan:3:10: note: 'model.norm.weight' is unused by this statement
    unused model.norm
           ^~~~~~~~~~
help: remove the path from the group
)"},
    {"GroupIsNotTrained",
     R"(plan p {
  loss loss
  train only model
  optimizer sgd { group lm_head { lr 0 } }
  rest: replicate
}
)",
     R"(p.plan:4:25: error: group 'lm_head' names no parameter that is trained
    optimizer sgd { group lm_head { lr 0 } }
                          ^~~~~~~
p.plan:3:3: note: 'lm_head.weight' is frozen by this statement
    train only model
    ^~~~~~~~~~~~~~~~
help: remove the path from the group
)"},
    {"GroupIsFrozenByTheArchive",
     R"(plan p {
  loss loss
  optimizer sgd { group model.norm { lr 0 } }
  rest: replicate
}
)",
     R"(p.plan:3:25: error: group 'model.norm' names no parameter that is trained
    optimizer sgd { group model.norm { lr 0 } }
                          ^~~~~~~~~~
help: 'model.norm.weight' does not require a gradient in the archive
help: remove the path from the group
)",
     Model::HeadOnly},
    {"UnknownOptionOfAGroup",
     R"(plan p {
  loss loss
  optimizer adamw { group lm_head { schedule constant { warmup 1 } } }
  rest: replicate
}
)",
     R"(p.plan:3:37: error: 'group' has no option 'schedule'
    optimizer adamw { group lm_head { schedule constant { warmup 1 } } }
                                      ^~~~~~~~
help: options of 'group': 'lr', 'eps', 'weight_decay', 'betas'
)"},
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Optimizer, MessageTest, testing::ValuesIn(optimizerCases), MessageTest::nameOf);
