//===- coverage_messages_test.cpp - messages about coverage and ties ------===//

#include "test/unit/frontend/message_test.h"

using namespace meshplan;
using namespace meshplan::test;

namespace {

const MessageCase coverageCases[] = {
    {"Uncovered",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.embed_tokens: rowwise tp
  model.layers.* {
    *_layernorm: replicate
    self_attn.{q, k, v}_proj: colwise tp
    self_attn.o_proj: rowwise tp
    mlp.{gate, up}_proj: colwise tp
    mlp.down_proj: rowwise tp
  }
  model.norm: replicate
}
)",
     R"(p.plan:1:6: error: no entry places the parameters of 'lm_head'
  plan p {
       ^
help: add 'lm_head: replicate', or 'rest: replicate' for all that is left
)"},
    {"UncoveredLayers",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.embed_tokens: rowwise tp
  model.layers.* {
    *_layernorm: replicate
    self_attn.{q, k, v}_proj: colwise tp
    self_attn.o_proj: rowwise tp
    mlp.{gate, up}_proj: colwise tp
  }
  model.norm: replicate
  lm_head: colwise tp
}
)",
     R"(p.plan:1:6: error: no entry places the parameters of 'model.layers.*.mlp.down_proj' (2 modules)
  plan p {
       ^
help: add 'model.layers.*.mlp.down_proj: replicate', or 'rest: replicate' for all that is left
)"},
    {"TwoEntries",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.embed_tokens: rowwise tp
  model.layers.* {
    *_layernorm: replicate
    self_attn.{q, k, v}_proj: colwise tp
    self_attn.o_proj: rowwise tp
    mlp.{gate, up}_proj: colwise tp
    mlp.down_proj: rowwise tp
  }
  model.norm: replicate
  lm_head: colwise tp
  model.layers.0.mlp.*: replicate
}
)",
     R"(p.plan:13:3: error: two entries match 'model.layers.0.mlp.gate_proj' and 1 more
    model.layers.0.mlp.*: replicate
    ^~~~~~~~~~~~~~~~~~~~
p.plan:8:5: note: the other entry is here
      mlp.{gate, up}_proj: colwise tp
      ^~~~~~~~~~~~~~~~~~~
help: narrow one of them, or mark the one that matches less with 'override'
p.plan:13:3: error: two entries match 'model.layers.0.mlp.down_proj'
    model.layers.0.mlp.*: replicate
    ^~~~~~~~~~~~~~~~~~~~
p.plan:9:5: note: the other entry is here
      mlp.down_proj: rowwise tp
      ^~~~~~~~~~~~~
help: narrow one of them, or mark the one that matches less with 'override'
)"},
    {"TwoEntriesForOneModule",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.embed_tokens: rowwise tp
  model.layers.* {
    *_layernorm: replicate
    self_attn.{q, k, v}_proj: colwise tp
    self_attn.o_proj: rowwise tp
    mlp.{gate, up}_proj: colwise tp
    mlp.down_proj: rowwise tp
  }
  model.norm: replicate
  lm_head: colwise tp
  lm_head: replicate
}
)",
     R"(p.plan:13:3: error: two entries match 'lm_head'
    lm_head: replicate
    ^~~~~~~
p.plan:12:3: note: the other entry is here
    lm_head: colwise tp
    ^~~~~~~
help: narrow one of them, or mark the one that matches less with 'override'
)"},
    {"OverrideIsNoSubset",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.embed_tokens: rowwise tp
  model.layers.* {
    *_layernorm: replicate
    self_attn.{q, k, v}_proj: colwise tp
    self_attn.o_proj: rowwise tp
    mlp.{gate, up}_proj: colwise tp
    mlp.down_proj: rowwise tp
  }
  model.norm: replicate
  lm_head: colwise tp
  override model.layers.*.{mlp.down_proj, self_attn}: replicate
}
)",
     R"(p.plan:13:12: error: an override must match a strict subset of what it overrides; 'model.layers.*.{mlp.down_proj, self_attn}' matches 4 modules, 'model.layers.*.mlp.down_proj' matches 2 modules, and 2 are in both
    override model.layers.*.{mlp.down_proj, self_attn}: replicate
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
p.plan:9:5: note: the other entry is here
      mlp.down_proj: rowwise tp
      ^~~~~~~~~~~~~
help: narrow the override to modules of the other entry, and to fewer than all of them
)"},
    {"OverrideIsEqual",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.embed_tokens: rowwise tp
  model.layers.* {
    *_layernorm: replicate
    self_attn.{q, k, v}_proj: colwise tp
    self_attn.o_proj: rowwise tp
    mlp.{gate, up}_proj: colwise tp
    mlp.down_proj: rowwise tp
  }
  model.norm: replicate
  lm_head: colwise tp
  override model.layers.{0..1}.mlp.down_proj: replicate
}
)",
     R"(p.plan:13:12: error: an override must match a strict subset of what it overrides; 'model.layers.{0..1}.mlp.down_proj' matches 2 modules, 'model.layers.*.mlp.down_proj' matches 2 modules, and 2 are in both
    override model.layers.{0..1}.mlp.down_proj: replicate
             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
p.plan:9:5: note: the other entry is here
      mlp.down_proj: rowwise tp
      ^~~~~~~~~~~~~
help: narrow the override to modules of the other entry, and to fewer than all of them
)"},
    {"OverrideIsIdle",
     R"(plan p {
  mesh dp = 2, tp = 3
  override lm_head: replicate
  rest: replicate
}
)",
     R"(p.plan:3:12: error: 'lm_head' overrides nothing
    override lm_head: replicate
             ^~~~~~~
help: remove 'override'
)"},
    {"OverrideRest",
     R"(plan p {
  mesh dp = 2, tp = 3
  override rest: replicate
}
)",
     R"(p.plan:3:3: error: 'rest' applies to modules without an entry and cannot override
    override rest: replicate
    ^~~~~~~~~~~~~~~~~~~~~~~~
)"},
    {"TwoRests",
     R"(plan p {
  mesh dp = 2, tp = 3
  rest: replicate
  rest: replicate
}
)",
     R"(p.plan:4:3: error: two 'rest' take 'model.embed_tokens.weight'
    rest: replicate
    ^~~~
p.plan:3:3: note: the other one is here
    rest: replicate
    ^~~~
)"},
    {"RestIsIdle",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.embed_tokens: rowwise tp
  model.layers.* {
    *_layernorm: replicate
    self_attn.{q, k, v}_proj: colwise tp
    self_attn.o_proj: rowwise tp
    mlp.{gate, up}_proj: colwise tp
    mlp.down_proj: rowwise tp
  }
  model.norm: replicate
  lm_head: colwise tp
  rest: replicate
}
)",
     R"(p.plan:13:3: warning: 'rest' covers nothing: every parameter of its block has an entry
    rest: replicate
    ^~~~
)"},
    {"UnknownParameter",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: parameter { wight: replicate }
  rest: replicate
}
)",
     R"(p.plan:3:24: error: no module of this entry has a parameter 'wight'
    lm_head: parameter { wight: replicate }
                         ^~~~~
help: did you mean 'weight'?
)"},
    {"ParameterDim",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: parameter { weight: split 2 over tp }
  rest: replicate
}
)",
     R"(p.plan:3:32: error: 'lm_head.weight' has 2 dims, and no dim 2
    lm_head: parameter { weight: split 2 over tp }
                                 ^~~~~~~~~~~~~~~
help: dims count from 0
)"},
    {"ParameterRank",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: parameter { weight: [_ over tp] }
  rest: replicate
}
)",
     R"(p.plan:3:32: error: 'lm_head.weight' has 2 dims, and the layout lists 1
    lm_head: parameter { weight: [_ over tp] }
                                 ^~~~~~~~~~~
help: list each dim, with '_' for one that stays whole
)"},
    {"ParameterAndStyle",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.embed_tokens: rowwise tp
  model.layers.* {
    *_layernorm: replicate
    self_attn.{q, k, v}_proj: colwise tp
    self_attn.o_proj: rowwise tp
    mlp.{gate, up}_proj: colwise tp
    mlp.down_proj: rowwise tp
  }
  model.norm: replicate
  lm_head: colwise tp
  lm_head: parameter { weight: replicate }
}
)",
     R"(p.plan:13:3: error: two entries match 'lm_head'
    lm_head: parameter { weight: replicate }
    ^~~~~~~
p.plan:12:3: note: the other entry is here
    lm_head: colwise tp
    ^~~~~~~
help: narrow one of them, or mark the one that matches less with 'override'
)"},
    {"TiedDisagree",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.embed_tokens: rowwise tp
  model.layers.* {
    *_layernorm: replicate
    self_attn.{q, k, v}_proj: colwise tp
    self_attn.o_proj: rowwise tp
    mlp.{gate, up}_proj: colwise tp
    mlp.down_proj: rowwise tp
  }
  model.norm: replicate
  lm_head: replicate
}
)",
     R"(p.plan:12:3: error: tied parameter 'model.embed_tokens.weight' has two placements: 'replicate' of 'lm_head' keeps it whole
    lm_head: replicate
    ^~~~~~~~~~~~~~~~~~
p.plan:3:3: note: 'rowwise tp' of 'model.embed_tokens' splits it over tp
    model.embed_tokens: rowwise tp
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
help: a tied parameter has one placement; give one that both modules can take
)",
     Model::Tied},
    {"TiedAxes",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.embed_tokens: rowwise tp
  model.layers.* {
    *_layernorm: replicate
    self_attn.{q, k, v}_proj: colwise tp
    self_attn.o_proj: rowwise tp
    mlp.{gate, up}_proj: colwise tp
    mlp.down_proj: rowwise tp
  }
  model.norm: replicate
  lm_head: colwise dp
}
)",
     R"(p.plan:12:3: error: tied parameter 'model.embed_tokens.weight' has two placements: 'colwise dp' of 'lm_head' splits it over dp
    lm_head: colwise dp
    ^~~~~~~~~~~~~~~~~~~
p.plan:3:3: note: 'rowwise tp' of 'model.embed_tokens' splits it over tp
    model.embed_tokens: rowwise tp
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
help: a tied parameter has one placement; give one that both modules can take
)",
     Model::Tied},
    {"OnlyABorder",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.**: replicate
  lm_head: output replicate
}
)",
     R"(p.plan:1:6: error: no entry places the parameters of 'lm_head'
  plan p {
       ^
p.plan:4:3: note: this entry states a layout at the border only
    lm_head: output replicate
    ^~~~~~~
help: add a style to it, such as 'replicate', or 'rest: replicate' for all that is left
)"},
    {"TwoEntriesForTheRoot",
     R"(plan p {
  "": output replicate
  **: output replicate
  rest: replicate
}
)",
     R"(p.plan:3:3: error: two entries match the root module
    **: output replicate
    ^~
p.plan:2:3: note: the other entry is here
    "": output replicate
    ^~
help: narrow one of them, or mark the one that matches less with 'override'
)"},
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Coverage, MessageTest, testing::ValuesIn(coverageCases), MessageTest::nameOf);
