//===- training_messages_test.cpp - what wrong training statements get -----===//

#include "test/unit/frontend/message_test.h"

using namespace meshplan;
using namespace meshplan::test;

namespace {

const MessageCase cases[] = {
    {"Reserved",
     R"(plan p {
  mesh pp = 2, dp = 2, tp = 2
  pipeline pp { schedule 1f1b; cut before model.layers.1 }
  context tp { exchange ring; balance headtail }
  fold (dp, tp) as (edp = 2, ep = 2)
  overlap { require gradients hidden >= 90 % }
  init { **.*norm.weight ones; rest normal 0.02 }
  offload optimizer
  tie lm_head, model.embed_tokens
  shapes { batch 16 }
  rest: replicate
}
)",
     R"(p.plan:3:3: error: 'pipeline' is not implemented yet
    pipeline pp { schedule 1f1b; cut before model.layers.1 }
    ^~~~~~~~
help: remove the statement
p.plan:4:3: error: 'context' is not implemented yet
    context tp { exchange ring; balance headtail }
    ^~~~~~~
help: remove the statement
p.plan:5:3: error: 'fold' is not implemented yet
    fold (dp, tp) as (edp = 2, ep = 2)
    ^~~~
help: remove the statement
p.plan:6:3: error: 'overlap' is not implemented yet
    overlap { require gradients hidden >= 90 % }
    ^~~~~~~
help: remove the statement
p.plan:7:3: error: 'init' is not implemented yet
    init { **.*norm.weight ones; rest normal 0.02 }
    ^~~~
help: remove the statement
p.plan:8:3: error: 'offload' is not implemented yet
    offload optimizer
    ^~~~~~~
help: remove the statement
p.plan:9:3: error: 'tie' is not implemented yet
    tie lm_head, model.embed_tokens
    ^~~
help: remove the statement
p.plan:10:3: error: 'shapes' is not implemented yet
    shapes { batch 16 }
    ^~~~~~
help: remove the statement
)"},
    {"MeshTwice",
     R"(plan p {
  mesh dp = 2, tp = 3
  mesh pp = 2
  rest: replicate
}
)",
     R"(p.plan:3:3: error: a plan has one 'mesh' statement
    mesh pp = 2
    ^~~~~~~~~~~
p.plan:2:3: note: the first one is here
    mesh dp = 2, tp = 3
    ^~~~~~~~~~~~~~~~~~~
help: keep one of them
)"},
    {"ModelTwice",
     R"(plan p {
  model "a.pt2"
  model "b.pt2"
  rest: replicate
}
)",
     R"(p.plan:3:3: error: a plan has one 'model' statement
    model "b.pt2"
    ^~~~~~~~~~~~~
p.plan:2:3: note: the first one is here
    model "a.pt2"
    ^~~~~~~~~~~~~
help: keep one of them
)"},
    {"UnknownDataOption",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { buket 64 MiB }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: 'data' has no option 'buket'
    data dp { buket 64 MiB }
              ^~~~~
help: did you mean 'bucket'?
)"},
    {"DataKind",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { shard weights }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: cannot read 'shard weights'
    data dp { shard weights }
              ^~~~~~~~~~~~~
help: the form is 'shard parameters, gradients, optimizer [over AXES]'
)"},
    {"DataShardAxis",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { shard parameters over tp }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: axis 'tp' is not an axis of this block, 'dp'
    data dp { shard parameters over tp }
              ^~~~~~~~~~~~~~~~~~~~~~~~
)"},
    {"BucketWithoutUnit",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { bucket 64 }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: cannot read 'bucket 64'
    data dp { bucket 64 }
              ^~~~~~~~~
help: the form is 'bucket SIZE | none, as in 64 MiB'
)"},
    {"BucketTwice",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { bucket 64 MiB; bucket none }
  rest: replicate
}
)",
     R"(p.plan:3:28: error: option 'bucket' stands twice
    data dp { bucket 64 MiB; bucket none }
                             ^~~~~~~~~~~
p.plan:3:13: note: it stands here, too
    data dp { bucket 64 MiB; bucket none }
              ^~~~~~~~~~~~~
)"},
    {"OverlapNoneAndMore",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { overlap none, gradients }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: cannot read 'overlap none, gradients'
    data dp { overlap none, gradients }
              ^~~~~~~~~~~~~~~~~~~~~~~
help: the form is 'overlap gradients, parameters | none'
)"},
    {"Prefetch",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { prefetch many }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: cannot read 'prefetch many'
    data dp { prefetch many }
              ^~~~~~~~~~~~~
help: the form is 'prefetch NUMBER'
)"},
    {"Reduce",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { reduce first microbatch }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: cannot read 'reduce first microbatch'
    data dp { reduce first microbatch }
              ^~~~~~~~~~~~~~~~~~~~~~~
help: the form is 'reduce each | last microbatch'
)"},
    {"Average",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { average before collective }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: cannot read 'average before collective'
    data dp { average before collective }
              ^~~~~~~~~~~~~~~~~~~~~~~~~
help: the form is 'average in | after collective'
)"},
    {"UnitMatchesNothing",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { unit model.layer.* }
  rest: replicate
}
)",
     R"(p.plan:3:18: error: 'model.layer.*' matches no module and no parameter
    data dp { unit model.layer.* }
                   ^~~~~~~~~~~~~
help: did you mean 'model.layers.*'?
)"},
    {"TwoDataBlocks",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { bucket none }
  data dp { bucket none }
  rest: replicate
}
)",
     R"(p.plan:4:3: error: two data blocks take what no other block names
    data dp { bucket none }
    ^~~~~~~~~~~~~~~~~~~~~~~
p.plan:3:3: note: the other block is here
    data dp { bucket none }
    ^~~~~~~~~~~~~~~~~~~~~~~
help: say which parameters it takes: 'data AXES on PATHS { ... }'
)"},
    {"ParameterInTwoBlocks",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp on model { bucket none }
  data dp on model.norm { bucket none }
  rest: replicate
}
)",
     R"(p.plan:4:14: error: parameter 'model.norm.weight' is in two data blocks
    data dp on model.norm { bucket none }
               ^~~~~~~~~~
p.plan:3:3: note: the other block is here
    data dp on model { bucket none }
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
)"},
    {"UnknownDtype",
     R"(plan p {
  precision { master fp32 }
  rest: replicate
}
)",
     R"(p.plan:2:22: error: unknown dtype 'fp32'
    precision { master fp32 }
                       ^~~~
help: did you mean 'f32'?
)"},
    {"UnknownPrecision",
     R"(plan p {
  precision { masters f32 }
  rest: replicate
}
)",
     R"(p.plan:2:15: error: 'precision' has no option 'masters'
    precision { masters f32 }
                ^~~~~~~
help: did you mean 'master'?
)"},
    {"UnknownOptimizer",
     R"(plan p {
  optimizer adamx { lr 1 }
  rest: replicate
}
)",
     R"(p.plan:2:13: error: unknown optimizer 'adamx'
    optimizer adamx { lr 1 }
              ^~~~~
help: did you mean 'adam' or 'adamw'?
)"},
    {"UnknownOptimizerOption",
     R"(plan p {
  optimizer sgd { betas (0.9, 0.95) }
  rest: replicate
}
)",
     R"(p.plan:2:19: error: 'sgd' has no option 'betas'
    optimizer sgd { betas (0.9, 0.95) }
                    ^~~~~
help: options of 'sgd': 'lr', 'momentum', 'dampening', 'weight_decay', 'group'
)"},
    {"OneBeta",
     R"(plan p {
  optimizer adamw { betas (0.9) }
  rest: replicate
}
)",
     R"(p.plan:2:21: error: cannot read 'betas (0.9)'
    optimizer adamw { betas (0.9) }
                      ^~~~~~~~~~~
help: the form is 'betas (NUMBER, NUMBER)'
)"},
    {"GroupWithoutBlock",
     R"(plan p {
  optimizer adamw { group lm_head }
  rest: replicate
}
)",
     R"(p.plan:2:21: error: cannot read 'group lm_head'
    optimizer adamw { group lm_head }
                      ^~~~~~~~~~~~~
help: the form is 'group PATH { OPTIONS }'
)"},
    {"OptionWithBlock",
     R"(plan p {
  optimizer adamw { lr 1 { eps 1 } }
  rest: replicate
}
)",
     R"(p.plan:2:21: error: cannot read 'lr 1'
    optimizer adamw { lr 1 { eps 1 } }
                      ^~~~
help: the form is 'lr NUMBER'
)"},
    {"ClipNorm",
     R"(plan p {
  clip_grad_norm 0
  rest: replicate
}
)",
     R"(p.plan:2:18: error: the norm is a number above 0
    clip_grad_norm 0
                   ^
)"},
    {"FreezeMatchesNothing",
     R"(plan p {
  freeze model.nrm
  rest: replicate
}
)",
     R"(p.plan:2:10: error: 'model.nrm' matches no module and no parameter
    freeze model.nrm
           ^~~~~~~~~
help: did you mean 'model.norm'?
)"},
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Training, MessageTest, testing::ValuesIn(cases), MessageTest::nameOf);
