//===- training_messages_test.cpp - messages about training statements ----===//

#include "test/unit/frontend/message_test.h"

using namespace meshplan;
using namespace meshplan::test;

namespace {

const MessageCase trainingCases[] = {
    {"Reserved",
     R"(plan p {
  mesh pp = 2, dp = 2, tp = 2
  pipeline pp { schedule 1f1b; cut before model.layers.1 }
  context tp { exchange ring; balance headtail }
  fold (dp, tp) as (edp = 2, ep = 2)
  overlap { require gradients hidden >= 90 % }
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
p.plan:7:3: error: 'offload' is about the parameters of a data block
    offload optimizer
    ^~~~~~~
help: write it there: 'data AXES { ...; offload parameters, optimizer }'
p.plan:8:3: error: 'tie' is not implemented yet
    tie lm_head, model.embed_tokens
    ^~~
help: remove the statement
p.plan:9:3: error: 'shapes' is not implemented yet
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
    {"DtypesOfPyTorch",
     R"(plan p {
  loss loss
  optimizer sgd
  precision { master float32; reduce bfloat16; storage Float16; compute double }
  rest: replicate
}
)",
     R"(p.plan:4:22: error: unknown dtype 'float32'
    precision { master float32; reduce bfloat16; storage Float16; compute double }
                       ^~~~~~~
help: did you mean 'f32'?
p.plan:4:38: error: unknown dtype 'bfloat16'
    precision { master float32; reduce bfloat16; storage Float16; compute double }
                                       ^~~~~~~~
help: did you mean 'bf16'?
p.plan:4:56: error: unknown dtype 'Float16'
    precision { master float32; reduce bfloat16; storage Float16; compute double }
                                                         ^~~~~~~
help: did you mean 'f16'?
p.plan:4:73: error: unknown dtype 'double'
    precision { master float32; reduce bfloat16; storage Float16; compute double }
                                                                          ^~~~~~
help: did you mean 'f64'?
)"},
    {"DtypesOfIntegers",
     R"(plan p {
  precision { reduce i32; compute u8 }
  rest: replicate
}
)",
     R"(p.plan:2:22: error: unknown dtype 'i32'
    precision { reduce i32; compute u8 }
                       ^~~
help: dtypes: 'f64', 'f32', 'bf16', 'f16'
p.plan:2:35: error: unknown dtype 'u8'
    precision { reduce i32; compute u8 }
                                    ^~
help: dtypes: 'f64', 'f32', 'bf16', 'f16'
)"},
    {"ScalesBeyondFloat32",
     R"(plan p {
  loss loss
  optimizer sgd
  precision { loss_scale 1e300 }
  rest: replicate
}
)",
     R"(p.plan:4:26: error: the scale is a number from 1.2e-38 to 8.5e37, so that it and its inverse are numbers of f32, and this is 1e+300
    precision { loss_scale 1e300 }
                           ^~~~~
)"},
    {"InverseScalesBeyondFloat32",
     R"(plan p {
  loss loss
  optimizer sgd
  precision { loss_scale dynamic { initial 1e-300; growth 1e39 } }
  rest: replicate
}
)",
     R"(p.plan:4:44: error: initial is a number from 1.2e-38 to 8.5e37, so that it and its inverse are numbers of f32, and this is 1e-300
    precision { loss_scale dynamic { initial 1e-300; growth 1e39 } }
                                             ^~~~~~
p.plan:4:59: error: growth is a number above 1 that f32 holds, and this is 1e+39
    precision { loss_scale dynamic { initial 1e-300; growth 1e39 } }
                                                            ^~~~
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
    {"Float8",
     R"(plan p {
  precision { compute fp8; gather float8_e4m3fn; reduce E5M2 }
  rest: replicate
}
)",
     R"(p.plan:2:23: error: dtype 'fp8' is not supported: FP8 needs a scale for each tensor, and a plan has none
    precision { compute fp8; gather float8_e4m3fn; reduce E5M2 }
                        ^~~
help: dtypes: 'f64', 'f32', 'bf16', 'f16'
p.plan:2:35: error: dtype 'float8_e4m3fn' is not supported: FP8 needs a scale for each tensor, and a plan has none
    precision { compute fp8; gather float8_e4m3fn; reduce E5M2 }
                                    ^~~~~~~~~~~~~
help: dtypes: 'f64', 'f32', 'bf16', 'f16'
p.plan:2:57: error: dtype 'E5M2' is not supported: FP8 needs a scale for each tensor, and a plan has none
    precision { compute fp8; gather float8_e4m3fn; reduce E5M2 }
                                                          ^~~~
help: dtypes: 'f64', 'f32', 'bf16', 'f16'
)"},
    {"DtypeFar",
     R"(plan p {
  precision { compute int8 }
  rest: replicate
}
)",
     R"(p.plan:2:23: error: unknown dtype 'int8'
    precision { compute int8 }
                        ^~~~
help: dtypes: 'f64', 'f32', 'bf16', 'f16'
)"},
    {"DtypesOfNoOptimizer",
     R"(plan p {
  precision { compute bf16; master f32; state f32 }
  rest: replicate
}
)",
     R"(p.plan:2:29: error: 'master' is a dtype of the optimizer, and the plan has none
    precision { compute bf16; master f32; state f32 }
                              ^~~~~~~~~~
help: add 'optimizer KIND { ... }', or remove 'master f32'
p.plan:2:41: error: 'state' is a dtype of the optimizer, and the plan has none
    precision { compute bf16; master f32; state f32 }
                                          ^~~~~~~~~
help: add 'optimizer KIND { ... }', or remove 'state f32'
)"},
    {"GatherOfWholeParameters",
     R"(plan p {
  mesh dp = 2, tp = 3
  data dp { shard optimizer }
  precision { gather bf16; reduce f32 }
  rest: replicate
}
)",
     R"(p.plan:4:15: error: 'gather' is the dtype of gathered parameters, and no data block shards parameters
    precision { gather bf16; reduce f32 }
                ^~~~~~~~~~~
help: add 'shard parameters, gradients, optimizer' to a data block, or remove 'gather bf16'
)"},
    {"ClipNorm",
     R"(plan p {
  loss loss
  optimizer sgd
  clip_grad_norm 0
  rest: replicate
}
)",
     R"(p.plan:4:18: error: the norm is a number above 0
    clip_grad_norm 0
                   ^
)"},
    {"ClipWithoutOptimizer",
     R"(plan p {
  loss loss
  clip_grad_norm 1.0
  rest: replicate
}
)",
     R"(p.plan:3:3: error: 'clip_grad_norm' without an optimizer: nothing is clipped
    clip_grad_norm 1.0
    ^~~~~~~~~~~~~~~~~~
help: add 'optimizer KIND { ... }', or remove the statement
)"},
    {"RecomputeTwice",
     R"(plan p {
  recompute model.layers.* keep attention
  recompute lm_head, model.layers.1
  rest: replicate
}
)",
     R"(p.plan:3:22: error: module 'model.layers.1' is recomputed twice
    recompute lm_head, model.layers.1
                       ^~~~~~~~~~~~~~
p.plan:2:13: note: it is named here, too
    recompute model.layers.* keep attention
              ^~~~~~~~~~~~~~
help: remove it from one of the two
)"},
    {"RecomputeNamesAParameter",
     R"(plan p {
  recompute lm_head.weight
  rest: replicate
}
)",
     R"(p.plan:2:13: error: 'lm_head.weight' names a parameter, and 'recompute' names modules
    recompute lm_head.weight
              ^~~~~~~~~~~~~~
help: name the module that holds it
)"},
    {"RecomputeMatchesNothing",
     R"(plan p {
  recompute model.layer.*
  rest: replicate
}
)",
     R"(p.plan:2:13: error: 'model.layer.*' matches no module
    recompute model.layer.*
              ^~~~~~~~~~~~~
help: did you mean 'model.layers.*'?
)"},
    {"RecomputeOfAListOfModules",
     R"(plan p {
  recompute model.layers
  rest: replicate
}
)",
     R"(p.plan:2:13: error: 'model.layers' matches no module
    recompute model.layers
              ^~~~~~~~~~~~
help: write 'model.layers.*' for the modules of the list
)"},
    {"NonfiniteAction",
     R"(plan p {
  loss loss
  optimizer sgd
  nonfinite gradients stp
  nonfinite gradients skip
  rest: replicate
}
)",
     R"(p.plan:5:3: error: a plan has one 'nonfinite' statement
    nonfinite gradients skip
    ^~~~~~~~~~~~~~~~~~~~~~~~
p.plan:4:3: note: the first one is here
    nonfinite gradients stp
    ^~~~~~~~~~~~~~~~~~~~~~~
help: keep one of them
p.plan:4:23: error: unknown action 'stp'
    nonfinite gradients stp
                        ^~~
help: did you mean 'stop'?
)"},
    {"NonfiniteWithoutOptimizer",
     R"(plan p {
  loss loss
  nonfinite gradients stop
  rest: replicate
}
)",
     R"(p.plan:3:3: error: 'nonfinite' without an optimizer: no step is taken
    nonfinite gradients stop
    ^~~~~~~~~~~~~~~~~~~~~~~~
help: add 'optimizer KIND { ... }', or remove the statement
)"},
    {"MasterThatKeepsNothing",
     R"(plan p {
  loss loss
  optimizer sgd
  precision { master bf16; state f32 }
  rest: replicate
}
)",
     R"(p.plan:4:15: error: 'master bf16' has no effect: parameter 'model.embed_tokens.weight' is f32, and no other is narrower
    precision { master bf16; state f32 }
                ^~~~~~~~~~~
help: write 'master f64', or remove 'master bf16'
p.plan:4:28: error: 'state' is the dtype of optimizer states, and 'sgd' without momentum has none
    precision { master bf16; state f32 }
                             ^~~~~~~~~
p.plan:3:3: note: the optimizer is here
    optimizer sgd
    ^~~~~~~~~~~~~
help: add 'momentum NUMBER' to the optimizer, or remove 'state f32'
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
    {"FreezeHoldsNoParameter",
     R"(plan p {
  freeze model.rotary_emb, {lm_head, model.layers.*.mlp.act_fn}
  rest: replicate
}
)",
     R"(p.plan:2:10: error: 'model.rotary_emb' holds no parameter
    freeze model.rotary_emb, {lm_head, model.layers.*.mlp.act_fn}
           ^~~~~~~~~~~~~~~~
help: name parameters, or modules that hold some
p.plan:2:28: error: 'model.layers.*.mlp.act_fn' holds no parameter
    freeze model.rotary_emb, {lm_head, model.layers.*.mlp.act_fn}
                             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
help: name parameters, or modules that hold some
)"},
    {"FreezeAndTrainOnly",
     R"(plan p {
  freeze model.layers
  train only lm_head, model.layers.0
  rest: replicate
}
)",
     R"(p.plan:3:23: error: 'train only' names parameter 'model.layers.0.self_attn.q_proj.weight', which 'freeze' names, too
    train only lm_head, model.layers.0
                        ^~~~~~~~~~~~~~
p.plan:2:10: note: it is named here
    freeze model.layers
           ^~~~~~~~~~~~
help: a parameter is either trained, frozen or unused: remove it from one of the two
)"},
    {"FreezeAndUnused",
     R"(plan p {
  unused model.norm.weight
  freeze model
  rest: replicate
}
)",
     R"(p.plan:3:10: error: 'freeze' names parameter 'model.norm.weight', which 'unused' names, too
    freeze model
           ^~~~~
p.plan:2:10: note: it is named here
    unused model.norm.weight
           ^~~~~~~~~~~~~~~~~
help: a parameter is either trained, frozen or unused: remove it from one of the two
)"},
    {"TrainOnlyAndUnused",
     R"(plan p {
  train only lm_head
  unused lm_head
  rest: replicate
}
)",
     R"(p.plan:3:10: error: 'unused' names parameter 'lm_head.weight', which 'train only' names, too
    unused lm_head
           ^~~~~~~
p.plan:2:14: note: it is named here
    train only lm_head
               ^~~~~~~
help: a parameter is either trained, frozen or unused: remove it from one of the two
)"},
    {"TiedFreezeAndTrainOnly",
     R"(plan p {
  freeze model.embed_tokens
  train only lm_head
  rest: replicate
}
)",
     R"(p.plan:3:14: error: 'train only' names parameter 'model.embed_tokens.weight', which 'freeze' names, too
    train only lm_head
               ^~~~~~~
p.plan:2:10: note: it is named here
    freeze model.embed_tokens
           ^~~~~~~~~~~~~~~~~~
help: a parameter is either trained, frozen or unused: remove it from one of the two
)",
     Model::Tied},
    {"TrainOnlyOfTheArchive",
     R"(plan p {
  train only model.norm, lm_head
  rest: replicate
}
)",
     R"(p.plan:2:14: error: 'train only' names parameter 'model.norm.weight', which the archive freezes
    train only model.norm, lm_head
               ^~~~~~~~~~
help: export the model with requires_grad of the parameter, or leave it out
)",
     Model::HeadOnly},
    {"NothingToTrain",
     R"(plan p {
  loss loss
  optimizer sgd
  freeze model
  unused lm_head
  rest: replicate
}
)",
     R"(p.plan:3:3: error: nothing is left to train: of 21 parameters 20 are frozen, 1 unused
    optimizer sgd
    ^~~~~~~~~~~~~
p.plan:4:3: note: frozen here
    freeze model
    ^~~~~~~~~~~~
p.plan:5:3: note: unused here
    unused lm_head
    ^~~~~~~~~~~~~~
help: remove the optimizer, or train a parameter
)"},
    {"NothingToTrainOfTheArchive",
     R"(plan p {
  loss loss
  optimizer sgd
  freeze lm_head
  rest: replicate
}
)",
     R"(p.plan:3:3: error: nothing is left to train: of 21 parameters 21 are frozen, 0 unused
    optimizer sgd
    ^~~~~~~~~~~~~
p.plan:4:3: note: frozen here
    freeze lm_head
    ^~~~~~~~~~~~~~
help: 20 parameters require no gradient in the archive
help: remove the optimizer, or train a parameter
)",
     Model::HeadOnly},
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Training, MessageTest, testing::ValuesIn(trainingCases), MessageTest::nameOf);
