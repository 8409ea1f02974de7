//===- path_messages_test.cpp - messages about paths ----------------------===//

#include "test/unit/frontend/message_test.h"

using namespace meshplan;
using namespace meshplan::test;

namespace {

const MessageCase pathCases[] = {
    {"NothingMatches",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.embed_tokens: rowwise tp
  model.layers.* {
    *_layernorm: replicate
    self_attn.{q, k, v}_proj: colwise tp
    self_attn.o_prj: rowwise tp
    mlp.{gate, up}_proj: colwise tp
    mlp.down_proj: rowwise tp
  }
  model.norm: replicate
  lm_head: colwise tp
}
)",
     R"(p.plan:7:5: error: 'model.layers.*.self_attn.o_prj' matches no module
      self_attn.o_prj: rowwise tp
      ^~~~~~~~~~~~~~~
help: did you mean 'model.layers.*.self_attn.o_proj'?
p.plan:1:6: error: no entry places the parameters of 'model.layers.*.self_attn.o_proj' (2 modules)
  plan p {
       ^
help: add 'model.layers.*.self_attn.o_proj: replicate', or 'rest: replicate' for all that is left
)"},
    {"AlternativeMatchesNothing",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.embed_tokens: rowwise tp
  model.layers.* {
    *_layernorm: replicate
    self_attn.{q, k, w}_proj: colwise tp
    self_attn.o_proj: rowwise tp
    mlp.{gate, up}_proj: colwise tp
    mlp.down_proj: rowwise tp
  }
  model.norm: replicate
  lm_head: colwise tp
}
)",
     R"(p.plan:6:5: error: 'model.layers.*.self_attn.w_proj' matches no module
      self_attn.{q, k, w}_proj: colwise tp
      ^~~~~~~~~~~~~~~~~~~~~~~~
help: did you mean 'model.layers.*.self_attn.q_proj', 'model.layers.*.self_attn.k_proj' or 'model.layers.*.self_attn.v_proj'?
p.plan:1:6: error: no entry places the parameters of 'model.layers.*.self_attn.v_proj' (2 modules)
  plan p {
       ^
help: add 'model.layers.*.self_attn.v_proj: replicate', or 'rest: replicate' for all that is left
)"},
    {"BlockMatchesNothing",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.embed_tokens: rowwise tp
  model.layer.* {
    *_layernorm: replicate
    self_attn.{q, k, v}_proj: colwise tp
    self_attn.o_proj: rowwise tp
    mlp.{gate, up}_proj: colwise tp
    mlp.down_proj: rowwise tp
  }
  model.norm: replicate
  lm_head: colwise tp
}
)",
     R"(p.plan:4:3: error: 'model.layer.*' matches no module
    model.layer.* {
    ^~~~~~~~~~~~~
help: did you mean 'model.layers.*'?
)"},
    {"RangeMatchesNothing",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.layers.{0..2}.mlp.down_proj: rowwise tp
  rest: replicate
}
)",
     R"(p.plan:3:3: error: 'model.layers.2.mlp.down_proj' matches no module
    model.layers.{0..2}.mlp.down_proj: rowwise tp
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
help: below 'model.layers': '0', '1'
)"},
    {"NothingNear",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.layers.0.mlp.zzzzzzzz: rowwise tp
  rest: replicate
}
)",
     R"(p.plan:3:3: error: 'model.layers.0.mlp.zzzzzzzz' matches no module
    model.layers.0.mlp.zzzzzzzz: rowwise tp
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~
help: below 'model.layers.0.mlp': 'gate_proj', 'up_proj', 'down_proj', 'act_fn'
)"},
    {"NothingNearAtTop",
     R"(plan p {
  mesh dp = 2, tp = 3
  transformer.h: replicate
  rest: replicate
}
)",
     R"(p.plan:3:3: error: 'transformer.h' matches no module
    transformer.h: replicate
    ^~~~~~~~~~~~~
help: at the top of the model: 'model', 'lm_head'
)"},
    {"SequenceOfAParameter",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.norm.weight: sequence tp
  rest: replicate
}
)",
     R"(p.plan:3:22: error: 'model.norm.weight' is a parameter, and 'sequence' splits the activations of a module
    model.norm.weight: sequence tp
                       ^~~~~~~~~~~
help: write 'model.norm: sequence tp' for the module that holds it
)"},
    {"BorderOfAParameter",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head.weight: colwise tp, output replicate
  rest: replicate
}
)",
     R"(p.plan:3:38: error: 'lm_head.weight' is a parameter, and a layout at a border is that of a module
    lm_head.weight: colwise tp, output replicate
                                       ^~~~~~~~~
help: write 'lm_head: output replicate' for the module that holds it
)"},
    {"PlacementInsideAParameter",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head.weight: parameter { weight: split 0 over tp }
  rest: replicate
}
)",
     R"(p.plan:3:39: error: 'lm_head.weight' is a parameter, and 'parameter' lists those of a module
    lm_head.weight: parameter { weight: split 0 over tp }
                                        ^~~~~~~~~~~~~~~
help: write 'lm_head: parameter { weight: LAYOUT }' for the module that holds it
)"},
    {"NoSuchParameter",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.norm.wait: replicate
  rest: replicate
}
)",
     R"(p.plan:3:3: error: 'model.norm.wait' matches no module
    model.norm.wait: replicate
    ^~~~~~~~~~~~~~~
help: below 'model.norm': 'weight'
)"},
    {"ModuleAndItsParameter",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise tp
  lm_head.weight: rowwise tp
  rest: replicate
}
)",
     R"(p.plan:4:3: error: two entries match 'lm_head.weight'
    lm_head.weight: rowwise tp
    ^~~~~~~~~~~~~~
p.plan:3:3: note: the other entry is here
    lm_head: colwise tp
    ^~~~~~~
help: narrow one of them, or mark the one that matches less with 'override'
)"},
    {"OverrideOfTheSameParameter",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head.weight: colwise tp
  override lm_head.weight: rowwise tp
  rest: replicate
}
)",
     R"(p.plan:4:12: error: an override must match a strict subset of what it overrides; 'lm_head.weight' matches 1 parameter, 'lm_head.weight' matches 1 parameter, and 1 is in both
    override lm_head.weight: rowwise tp
             ^~~~~~~~~~~~~~
p.plan:3:3: note: the other entry is here
    lm_head.weight: colwise tp
    ^~~~~~~~~~~~~~
help: narrow the override to parameters of the other entry, and to fewer than all of them
)"},
    {"Container",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.layers.*.mlp: colwise tp
  rest: replicate
}
)",
     R"(p.plan:3:3: error: 'model.layers.*.mlp' has no parameters of its own, and 'colwise' splits parameters
    model.layers.*.mlp: colwise tp
    ^~~~~~~~~~~~~~~~~~
help: modules with parameters: 'model.layers.0.mlp.gate_proj', 'model.layers.0.mlp.up_proj', 'model.layers.0.mlp.down_proj'
)"},
    {"EmptyComponent",
     R"(plan p {
  mesh dp = 2, tp = 3
  model..norm: replicate
  rest: replicate
}
)",
     R"(p.plan:3:3: error: in the path 'model..norm': a component is empty
    model..norm: replicate
    ^~~~~~~~~~~
)"},
    {"DoubleStarInside",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.**norm: replicate
  rest: replicate
}
)",
     R"(p.plan:3:3: error: in the path 'model.**norm': '**' matches whole components; use '*' inside one
    model.**norm: replicate
    ^~~~~~~~~~~~
)"},
    {"EmptyRange",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.layers.{2..0}: replicate
  rest: replicate
}
)",
     R"(p.plan:3:3: error: in the path 'model.layers.{2..0}': the range 2..0 is empty
    model.layers.{2..0}: replicate
    ^~~~~~~~~~~~~~~~~~~
)"},
    {"HugeRange",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.layers.{0..99999}: replicate
  rest: replicate
}
)",
     R"(p.plan:3:3: error: in the path 'model.layers.{0..99999}': the range 0..99999 has more than 10000 indices
    model.layers.{0..99999}: replicate
    ^~~~~~~~~~~~~~~~~~~~~~~
)"},
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Paths, MessageTest, testing::ValuesIn(pathCases), MessageTest::nameOf);
