//===- init_messages_test.cpp - messages about initial values -------------===//

#include "test/unit/frontend/message_test.h"

using namespace meshplan;
using namespace meshplan::test;

namespace {

const MessageCase initCases[] = {
    {"MatchesNothing",
     R"(plan p {
  loss loss
  optimizer sgd
  init { **.layer_norm.weight ones; rest zeros }
  rest: replicate
}
)",
     R"(p.plan:4:10: error: '**.layer_norm.weight' matches no module and no parameter
    init { **.layer_norm.weight ones; rest zeros }
           ^~~~~~~~~~~~~~~~~~~~
help: did you mean 'weight'?
)"},
    {"Uncovered",
     R"(plan p {
  loss loss
  optimizer sgd
  init { model.layers.*.{self_attn, mlp} normal 0.02; lm_head zeros; model.norm ones }
  rest: replicate
}
)",
     R"(p.plan:4:3: error: no entry of 'init' names 'model.embed_tokens.weight'
    init { model.layers.*.{self_attn, mlp} normal 0.02; lm_head zeros; model.norm ones }
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
help: add one, or 'rest normal 0.02' for all that is left
p.plan:4:3: error: no entry of 'init' names 'model.layers.*.input_layernorm.weight' (2 parameters)
    init { model.layers.*.{self_attn, mlp} normal 0.02; lm_head zeros; model.norm ones }
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
help: add 'model.layers.*.input_layernorm.weight ones', as norms begin
p.plan:4:3: error: no entry of 'init' names 'model.layers.*.post_attention_layernorm.weight' (2 parameters)
    init { model.layers.*.{self_attn, mlp} normal 0.02; lm_head zeros; model.norm ones }
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
help: add 'model.layers.*.post_attention_layernorm.weight ones', as norms begin
)"},
    {"Twice",
     R"(plan p {
  loss loss
  optimizer sgd
  init { model.layers.**.weight normal 0.02; **.mlp.* zeros; rest ones }
  rest: replicate
}
)",
     R"(p.plan:4:46: error: two entries of 'init' name 'model.layers.0.mlp.gate_proj.weight' and 5 more
    init { model.layers.**.weight normal 0.02; **.mlp.* zeros; rest ones }
                                               ^~~~~~~~
p.plan:4:10: note: the other entry is here
    init { model.layers.**.weight normal 0.02; **.mlp.* zeros; rest ones }
           ^~~~~~~~~~~~~~~~~~~~~~
help: narrow one of them, or mark the one that names less with 'override'
)"},
    {"OverrideOfMore",
     R"(plan p {
  loss loss
  optimizer sgd
  init { override **.{weight} normal 0.02; lm_head zeros }
  rest: replicate
}
)",
     R"(p.plan:4:19: error: an override must name a strict subset of what it overrides
    init { override **.{weight} normal 0.02; lm_head zeros }
                    ^~~~~~~~~~~
p.plan:4:44: note: the other entry is here
    init { override **.{weight} normal 0.02; lm_head zeros }
                                             ^~~~~~~
help: narrow the override to parameters of the other entry, and to fewer than all of them
)"},
    {"IdleOverride",
     R"(plan p {
  loss loss
  optimizer sgd
  init { override lm_head zeros; rest ones }
  rest: replicate
}
)",
     R"(p.plan:4:10: error: 'lm_head' overrides nothing
    init { override lm_head zeros; rest ones }
           ^~~~~~~~~~~~~~~~~~~~~~
help: remove 'override'
)"},
    {"RestTwice",
     R"(plan p {
  loss loss
  optimizer sgd
  init { rest zeros; rest ones }
  rest: replicate
}
)",
     R"(p.plan:4:22: error: 'rest' is repeated
    init { rest zeros; rest ones }
                       ^~~~~~~~~
p.plan:4:10: note: the first one is here
    init { rest zeros; rest ones }
           ^~~~~~~~~~
)"},
    {"IdleRest",
     R"(plan p {
  loss loss
  optimizer sgd
  init { ** ones; rest zeros }
  rest: replicate
}
)",
     R"(p.plan:4:19: warning: 'rest' covers nothing: every parameter has an entry of 'init'
    init { ** ones; rest zeros }
                    ^~~~~~~~~~
)"},
    {"WithoutOptimizer",
     R"(plan p {
  init { rest zeros }
  rest: replicate
}
)",
     R"(p.plan:2:3: error: 'init' without an optimizer: only a training begins without weights
    init { rest zeros }
    ^~~~~~~~~~~~~~~~~~~
help: add 'optimizer KIND { ... }', or remove the statement
)"},
    {"InitTwice",
     R"(plan p {
  loss loss
  optimizer sgd
  init { rest zeros }
  init { rest ones }
  rest: replicate
}
)",
     R"(p.plan:5:3: error: a plan has one 'init' statement
    init { rest ones }
    ^~~~~~~~~~~~~~~~~~
p.plan:4:3: note: the first one is here
    init { rest zeros }
    ^~~~~~~~~~~~~~~~~~~
help: keep one of them
)"},
    {"NoDistribution",
     R"(plan p {
  loss loss
  optimizer sgd
  init { lm_head; rest { ones } }
  rest: replicate
}
)",
     R"(p.plan:4:10: error: cannot read 'lm_head'
    init { lm_head; rest { ones } }
           ^~~~~~~
help: the form is 'PATH DISTRIBUTION'; distributions: 'zeros', 'ones', 'constant', 'normal', 'uniform', 'truncated', 'kaiming', 'xavier'
p.plan:4:19: error: cannot read 'rest'
    init { lm_head; rest { ones } }
                    ^~~~
help: the form is 'rest DISTRIBUTION'; distributions: 'zeros', 'ones', 'constant', 'normal', 'uniform', 'truncated', 'kaiming', 'xavier'
)"},
};

INSTANTIATE_TEST_SUITE_P(Init, MessageTest, testing::ValuesIn(initCases), MessageTest::nameOf);

} // namespace
