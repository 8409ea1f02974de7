//===- data_messages_test.cpp - messages about data blocks ----------------===//

#include "test/unit/frontend/message_test.h"

using namespace meshplan;
using namespace meshplan::test;

namespace {

const MessageCase dataCases[] = {
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
  data dp { shard optimizer over tp }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: axis 'tp' is not an axis of this block, 'dp'
    data dp { shard optimizer over tp }
              ^~~~~~~~~~~~~~~~~~~~~~~
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
     R"(p.plan:3:28: error: option 'bucket' is repeated
    data dp { bucket 64 MiB; bucket none }
                             ^~~~~~~~~~~
p.plan:3:13: note: the first one is here
    data dp { bucket 64 MiB; bucket none }
              ^~~~~~~~~~~~~
)"},
    {"UnitOfNothingSharded",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { bucket 1 MiB; unit model.layers.* }
  rest: replicate
}
)",
     R"(p.plan:3:27: error: 'unit model.layers.*' without 'shard': replicated parameters are not in a unit
    data dp { bucket 1 MiB; unit model.layers.* }
                            ^~~~~~~~~~~~~~~~~~~
help: write 'shard optimizer', 'shard gradients, optimizer' or 'shard parameters, gradients, optimizer', or remove 'unit model.layers.*'; 'bucket SIZE' coalesces gradients, too
)"},
    {"ReduceWithoutMicrobatches",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { reduce each microbatch }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: 'reduce each microbatch' without microbatches: gradients are computed once in a step
    data dp { reduce each microbatch }
              ^~~~~~~~~~~~~~~~~~~~~~
help: add 'microbatches NUMBER', or remove 'reduce each microbatch'
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
    {"PrefetchWithoutOverlap",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { shard parameters, gradients, optimizer; overlap gradients; prefetch 2 }
  rest: replicate
}
)",
     R"(p.plan:3:72: error: 'prefetch 2' and 'overlap gradients' contradict each other: only gathers that are started ahead overlap
    data dp { shard parameters, gradients, optimizer; overlap gradients; prefetch 2 }
                                                                         ^~~~~~~~~~
p.plan:3:53: note: the other option is here
    data dp { shard parameters, gradients, optimizer; overlap gradients; prefetch 2 }
                                                      ^~~~~~~~~~~~~~~~~
help: remove one of them
)"},
    {"OverlapWithoutPrefetch",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { shard parameters, gradients, optimizer; prefetch 0; overlap parameters }
  rest: replicate
}
)",
     R"(p.plan:3:53: error: 'prefetch 0' and 'overlap parameters' contradict each other: only gathers that are started ahead overlap
    data dp { shard parameters, gradients, optimizer; prefetch 0; overlap parameters }
                                                      ^~~~~~~~~~
p.plan:3:65: note: the other option is here
    data dp { shard parameters, gradients, optimizer; prefetch 0; overlap parameters }
                                                                  ^~~~~~~~~~~~~~~~~~
help: remove one of them
)"},
    {"ContiguousAlone",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { shard optimizer; bucket none; contiguous gradients }
  rest: replicate
}
)",
     R"(p.plan:3:43: error: 'contiguous gradients' and 'bucket none' contradict each other: transfers are not coalesced
    data dp { shard optimizer; bucket none; contiguous gradients }
                                            ^~~~~~~~~~~~~~~~~~~~
p.plan:3:30: note: the other option is here
    data dp { shard optimizer; bucket none; contiguous gradients }
                               ^~~~~~~~~~~
help: remove one of them
)"},
    {"RegisterNothing",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { shard optimizer; register buffers }
  rest: replicate
}
)",
     R"(p.plan:3:30: error: 'register buffers' without 'contiguous': no buffer persists between steps
    data dp { shard optimizer; register buffers }
                               ^~~~~~~~~~~~~~~~
help: write 'contiguous parameters, gradients', or remove 'register buffers'
)"},
    {"Prefetch",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { shard parameters, gradients, optimizer; prefetch many }
  rest: replicate
}
)",
     R"(p.plan:3:53: error: cannot read 'prefetch many'
    data dp { shard parameters, gradients, optimizer; prefetch many }
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
help: the form is 'reduce each microbatch | reduce last microbatch'
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
    {"OffloadOfWholeParameters",
     R"(plan p {
  mesh dp = 2, tp = 3
  loss loss
  data dp { shard optimizer; offload parameters, optimizer }
  optimizer adamw
  rest: replicate
}
)",
     R"(p.plan:4:30: error: 'offload parameters' without 'shard parameters': a replicated parameter is read where it is, and has to be on the device
    data dp { shard optimizer; offload parameters, optimizer }
                               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
help: write 'shard parameters, gradients, optimizer', or 'offload optimizer'
)"},
    {"OffloadOfNothing",
     R"(plan p {
  mesh dp = 2, tp = 3
  loss loss
  data dp { offload optimizer, gradients }
  optimizer sgd
  rest: replicate
}
)",
     R"(p.plan:4:32: error: 'offload gradients' has no effect: gradients are moved to the optimizer's device
    data dp { offload optimizer, gradients }
                                 ^~~~~~~~~
help: write 'offload optimizer', or remove 'gradients'
p.plan:4:13: error: 'offload optimizer' has no effect: 'sgd' has no state for the parameters of this block
    data dp { offload optimizer, gradients }
              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
p.plan:5:3: note: the optimizer is here
    optimizer sgd
    ^~~~~~~~~~~~~
help: add 'momentum NUMBER' to the optimizer or 'master DTYPE' to the precision, or remove 'offload optimizer'
)"},
    {"UnitMatchesNothing",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { shard optimizer; unit model.layer.* }
  rest: replicate
}
)",
     R"(p.plan:3:35: error: 'model.layer.*' matches no module and no parameter
    data dp { shard optimizer; unit model.layer.* }
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
     R"(p.plan:4:3: error: two data blocks have no 'on'
    data dp { bucket none }
    ^~~~~~~~~~~~~~~~~~~~~~~
p.plan:3:3: note: the other block is here
    data dp { bucket none }
    ^~~~~~~~~~~~~~~~~~~~~~~
help: name its parameters: 'data AXES on PATHS { ... }'
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
    {"ShardKindTwice",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { shard optimizer, gradients, optimizer }
  rest: replicate
}
)",
     R"(p.plan:3:41: error: 'optimizer' is repeated
    data dp { shard optimizer, gradients, optimizer }
                                          ^~~~~~~~~
help: keep one of them
)"},
    {"ShardParametersAlone",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { shard parameters }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: 'shard parameters' without gradients and optimizer: a rank can update only its own shard
    data dp { shard parameters }
              ^~~~~~~~~~~~~~~~
help: write 'shard parameters, gradients, optimizer'
)"},
    {"ShardParametersAndGradients",
     R"(plan p {
  mesh dp = 2, cp = 2
  data (dp, cp) { shard parameters, gradients over cp }
  rest: replicate
}
)",
     R"(p.plan:3:19: error: 'shard parameters, gradients' without optimizer: a rank can update only its own shard
    data (dp, cp) { shard parameters, gradients over cp }
                    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
help: write 'shard parameters, gradients, optimizer over cp'
)"},
    {"ShardParametersAndOptimizer",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { shard optimizer, parameters }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: 'shard optimizer, parameters' without gradients: a rank can update only its own shard
    data dp { shard optimizer, parameters }
              ^~~~~~~~~~~~~~~~~~~~~~~~~~~
help: write 'shard parameters, gradients, optimizer'
)"},
    {"ShardGradientsAlone",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { shard gradients }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: 'shard gradients' without optimizer: a rank can update only its own shard
    data dp { shard gradients }
              ^~~~~~~~~~~~~~~
help: write 'shard gradients, optimizer'
)"},
    {"OverlapParametersAlone",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { overlap parameters; shard gradients, optimizer }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: 'overlap parameters' without 'shard parameters': new parameters are gathered after the optimizer, and this gather does not overlap with the next step yet
    data dp { overlap parameters; shard gradients, optimizer }
              ^~~~~~~~~~~~~~~~~~
p.plan:3:33: note: the block shards this
    data dp { overlap parameters; shard gradients, optimizer }
                                  ^~~~~~~~~~~~~~~~~~~~~~~~~~
help: write 'shard parameters, gradients, optimizer', or remove 'overlap parameters'
)"},
    {"OverlapParametersOfWholeOnes",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { overlap gradients, parameters }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: 'overlap parameters' without 'shard parameters': no parameter is gathered
    data dp { overlap gradients, parameters }
              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
help: write 'shard parameters, gradients, optimizer', or 'overlap gradients'
)"},
    {"PrefetchOfWholeParameters",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { prefetch 2; shard optimizer }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: 'prefetch 2' without 'shard parameters': parameters are gathered only after the optimizer, and stay whole
    data dp { prefetch 2; shard optimizer }
              ^~~~~~~~~~
p.plan:3:25: note: the block shards this
    data dp { prefetch 2; shard optimizer }
                          ^~~~~~~~~~~~~~~
help: write 'shard parameters, gradients, optimizer', or remove 'prefetch 2'
)"},
    {"KeepOfWholeParameters",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { keep model.norm, lm_head }
  rest: replicate
}
)",
     R"(p.plan:3:13: error: 'keep model.norm, lm_head' without 'shard parameters': no parameter is gathered
    data dp { keep model.norm, lm_head }
              ^~~~~~~~~~~~~~~~~~~~~~~~
help: write 'shard parameters, gradients, optimizer', or remove 'keep model.norm, lm_head'
)"},
    {"UnitHoldsNoParameter",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { shard optimizer; unit model.rotary_emb }
  rest: replicate
}
)",
     R"(p.plan:3:35: error: 'model.rotary_emb' holds no parameter
    data dp { shard optimizer; unit model.rotary_emb }
                                    ^~~~~~~~~~~~~~~~
help: name parameters, or modules that hold some
)"},
    {"UnitsOverlap",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { shard optimizer; unit model.layers.*, [model.norm, model.layers.1.mlp] }
  rest: replicate
}
)",
     R"(p.plan:3:64: error: parameter 'model.layers.1.mlp.gate_proj.weight' is in two units
    data dp { shard optimizer; unit model.layers.*, [model.norm, model.layers.1.mlp] }
                                                                 ^~~~~~~~~~~~~~~~~~
p.plan:3:35: note: the other unit is here
    data dp { shard optimizer; unit model.layers.*, [model.norm, model.layers.1.mlp] }
                                    ^~~~~~~~~~~~~~
help: remove it from one of the two, or write '[PATH, PATH]' for one unit
)"},
    {"UnitsOfTwoOptionsOverlap",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp {
    shard optimizer
    unit lm_head
    unit model.norm, **.lm_head
  }
  rest: replicate
}
)",
     R"(p.plan:6:22: error: parameter 'lm_head.weight' is in two units
      unit model.norm, **.lm_head
                       ^~~~~~~~~~
p.plan:5:10: note: the other unit is here
      unit lm_head
           ^~~~~~~
help: remove it from one of the two, or write '[PATH, PATH]' for one unit
)"},
    {"UnitsOfOnePathAreNested",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { shard optimizer; unit model.** }
  rest: replicate
}
)",
     R"(p.plan:3:35: error: 'model.**' makes 'model' and 'model.embed_tokens' units, and both contain parameter 'model.embed_tokens.weight'
    data dp { shard optimizer; unit model.** }
                                    ^~~~~~~~
help: name modules that share no parameter, or write '[PATH, PATH]' for one unit
)"},
    {"UnitsOfOnePathAreTied",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { shard optimizer; unit {lm_head, model.norm, model.embed_tokens} }
  rest: replicate
}
)",
     R"(p.plan:3:35: error: '{lm_head, model.norm, model.embed_tokens}' makes 'model.embed_tokens' and 'lm_head' units, and both contain parameter 'model.embed_tokens.weight'
    data dp { shard optimizer; unit {lm_head, model.norm, model.embed_tokens} }
                                    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
help: name modules that share no parameter, or write '[PATH, PATH]' for one unit
)",
     Model::Tied},
    {"UnitOfAnotherBlock",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp on lm_head { bucket none }
  data tp { shard optimizer; unit lm_head, model.norm }
  rest: replicate
}
)",
     R"(p.plan:4:35: error: 'lm_head' names no parameter of this data block
    data tp { shard optimizer; unit lm_head, model.norm }
                                    ^~~~~~~
p.plan:3:3: note: 'lm_head.weight' is in this block
    data dp on lm_head { bucket none }
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
help: name parameters that the block has
)"},
    {"KeepOfNoBlock",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp on lm_head { shard parameters, gradients, optimizer; keep model.norm }
  rest: replicate
}
)",
     R"(p.plan:3:69: error: 'model.norm' names no parameter of this data block
    data dp on lm_head { shard parameters, gradients, optimizer; keep model.norm }
                                                                      ^~~~~~~~~~
help: name parameters that the block has
)"},
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Data, MessageTest, testing::ValuesIn(dataCases), MessageTest::nameOf);
