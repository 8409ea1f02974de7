//===- idle_messages_test.cpp - messages about statements without effect --===//

#include "test/unit/frontend/message_test.h"

using namespace meshplan;
using namespace meshplan::test;

namespace {

const MessageCase idleCases[] = {
    {"EmptyData",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { }
  rest: replicate
}
)",
     R"(p.plan:3:3: error: the block has no option, and so has no effect
    data dp { }
    ^~~~~~~~~~~
help: write one, as in 'bucket 64 MiB' or 'shard parameters, gradients, optimizer', or remove the block
)"},
    {"EmptyDataBesideAnother",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { bucket 1 MiB }
  data dp on lm_head { }
  data tp on model.norm { bucket none }
  rest: replicate
}
)",
     ""},
    {"EmptyDataOfEach",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp on lm_head { }
  data dp on model { bucket none }
  rest: replicate
}
)",
     R"(p.plan:3:3: error: the block has no option, and so has no effect
    data dp on lm_head { }
    ^~~~~~~~~~~~~~~~~~~~~~
help: write one, as in 'bucket 64 MiB' or 'shard parameters, gradients, optimizer', or remove the block
)"},
    {"DataOfFrozen",
     R"(plan p {
  mesh dp = 2, tp = 3
  freeze model.norm, model.embed_tokens
  data dp on model.norm { shard optimizer }
  data dp on model.embed_tokens { shard parameters, gradients, optimizer }
  rest: replicate
}
)",
     R"(p.plan:4:3: error: none of the 1 parameters of the block is trained: it has no effect
    data dp on model.norm { shard optimizer }
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
p.plan:3:10: note: 'model.norm.weight' is frozen by this statement
    freeze model.norm, model.embed_tokens
           ^~~~~~~~~~
help: write 'shard parameters, gradients, optimizer' to shard them, or remove the block
)"},
    {"DataOfUnused",
     R"(plan p {
  mesh dp = 2, tp = 3
  unused model.norm
  data dp on model.norm { shard parameters, gradients, optimizer }
  rest: replicate
}
)",
     R"(p.plan:4:3: error: none of the 1 parameters of the block is trained: it has no effect
    data dp on model.norm { shard parameters, gradients, optimizer }
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
p.plan:3:10: note: 'model.norm.weight' is unused by this statement
    unused model.norm
           ^~~~~~~~~~
help: remove the block
)"},
    {"DataOfTheArchivesFrozen",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp on model { bucket 1 MiB }
  rest: replicate
}
)",
     R"(p.plan:3:3: error: none of the 20 parameters of the block is trained: it has no effect
    data dp on model { bucket 1 MiB }
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
help: 'model.embed_tokens.weight' does not require a gradient in the archive
help: write 'shard parameters, gradients, optimizer' to shard them, or remove the block
)",
     Model::HeadOnly},
    {"UnitOfUnused",
     R"(plan p {
  mesh dp = 2, tp = 3
  unused model.norm
  freeze lm_head
  data dp { shard parameters, gradients, optimizer; unit model.layers.*, model.norm, lm_head }
  rest: replicate
}
)",
     R"(p.plan:5:74: error: unit 'model.norm' names no parameter that is gathered or reduced
    data dp { shard parameters, gradients, optimizer; unit model.layers.*, model.norm, lm_head }
                                                                           ^~~~~~~~~~
p.plan:3:10: note: 'model.norm.weight' is unused by this statement
    unused model.norm
           ^~~~~~~~~~
help: remove the path from the unit
)"},
    {"UnitOfFrozen",
     R"(plan p {
  mesh dp = 2, tp = 3
  freeze lm_head
  data dp { shard optimizer; unit model.layers.*, lm_head }
  rest: replicate
}
)",
     R"(p.plan:4:51: error: unit 'lm_head' names no parameter that is gathered or reduced
    data dp { shard optimizer; unit model.layers.*, lm_head }
                                                    ^~~~~~~
p.plan:3:10: note: 'lm_head.weight' is frozen by this statement
    freeze lm_head
           ^~~~~~~
help: remove the path from the unit
)"},
    {"EmptyPrecision",
     R"(plan p {
  precision { }
  rest: replicate
}
)",
     R"(p.plan:2:3: error: 'precision' states no dtype, and so has no effect
    precision { }
    ^~~~~~~~~~~~~
help: write one, as in 'precision { master f32; reduce f32 }', or remove the statement
)"},
    {"EmptyGroup",
     R"(plan p {
  loss loss
  optimizer sgd { lr 0.1; group lm_head { } }
  rest: replicate
}
)",
     R"(p.plan:3:27: error: the group states no number, and so has no effect
    optimizer sgd { lr 0.1; group lm_head { } }
                            ^~~~~~~~~~~~~
help: write one, as in 'weight_decay 0', or remove the group
)"},
    {"RecomputeAll",
     R"(plan p {
  loss loss
  recompute ""
  rest: replicate
}
)",
     R"(p.plan:3:13: error: 'recompute' of the whole model saves no memory: all of it is recomputed before its first gradient
    recompute ""
              ^~
help: name its layers
)"},
    {"RecomputeEverything",
     R"(plan p {
  loss loss
  recompute **
  rest: replicate
}
)",
     R"(p.plan:3:13: error: 'recompute' of the whole model saves no memory: all of it is recomputed before its first gradient
    recompute **
              ^~
help: name its layers
)"},
    {"RecomputeNested",
     R"(plan p {
  loss loss
  recompute model.layers.0.mlp, model.layers.1
  recompute model.layers.1.mlp.gate_proj keep linear
  rest: replicate
}
)",
     R"(p.plan:4:13: error: module 'model.layers.1.mlp.gate_proj' lies in 'model.layers.1', which is recomputed with all that is inside
    recompute model.layers.1.mlp.gate_proj keep linear
              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
p.plan:3:33: note: it is named here
    recompute model.layers.0.mlp, model.layers.1
                                  ^~~~~~~~~~~~~~
help: remove one of the two
)"},
    {"FreezeOfFrozen",
     R"(plan p {
  loss loss
  freeze model.norm, model
  unused model.layers
  rest: replicate
}
)",
     R"(p.plan:3:10: error: 'freeze model.norm' changes nothing: the archive freezes 'model.norm.weight'
    freeze model.norm, model
           ^~~~~~~~~~
help: remove the path from the statement
p.plan:3:22: error: 'freeze model' changes nothing: the archive freezes 'model.embed_tokens.weight' and all others that it names
    freeze model.norm, model
                       ^~~~~
help: remove the path from the statement
p.plan:4:10: error: 'unused model.layers' changes nothing: the archive freezes 'model.layers.0.self_attn.q_proj.weight' and all others that it names
    unused model.layers
           ^~~~~~~~~~~~
help: remove the path from the statement
)",
     Model::HeadOnly},
    {"FreezeOfSomeFrozen",
     R"(plan p {
  loss loss
  freeze **
  rest: replicate
}
)",
     "", Model::HeadOnly},
    {"OneMicrobatchOfNoLoss",
     R"(plan p {
  input input_ids: [batch, _]
  microbatches 1
  rest: replicate
}
)",
     R"(p.plan:3:3: error: microbatches are for training, and the plan has no loss
    microbatches 1
    ^~~~~~~~~~~~~~
help: add 'loss loss'
)"},
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Idle, MessageTest, testing::ValuesIn(idleCases), MessageTest::nameOf);
