//===- value_messages_test.cpp - messages about inputs and outputs --------===//

#include "test/unit/frontend/message_test.h"

using namespace meshplan;
using namespace meshplan::test;

namespace {

const MessageCase valueCases[] = {
    {"UnknownInput",
     R"(plan p {
  input inputs_ids: [batch, seq]
  rest: replicate
}
)",
     R"(p.plan:2:9: error: unknown input 'inputs_ids'
    input inputs_ids: [batch, seq]
          ^~~~~~~~~~
help: did you mean 'input_ids'?
)"},
    {"UnknownInputFar",
     R"(plan p {
  input pixels: [batch, seq]
  rest: replicate
}
)",
     R"(p.plan:2:9: error: unknown input 'pixels'
    input pixels: [batch, seq]
          ^~~~~~
help: inputs of the model: 'input_ids', 'labels'
)"},
    {"UnknownOutput",
     R"(plan p {
  output logit: [_, _, _]
  rest: replicate
}
)",
     R"(p.plan:2:10: error: unknown output 'logit'
    output logit: [_, _, _]
           ^~~~~
help: did you mean 'logits'?
)"},
    {"LossPerSomethingElse",
     R"(plan p {
  loss loss per sample
  rest: replicate
}
)",
     R"(p.plan:2:17: error: a loss is redefined per token or per sequence, and not per 'sample'
    loss loss per sample
                  ^~~~~~
help: write 'per token' or 'per sequence', or leave it out: the loss is then as the model computes it
)"},
    {"LossPerSequenceWithoutSamples",
     R"(plan p {
  input input_ids, labels: [samples, seq]
  loss loss per sequence
  rest: replicate
}
)",
     R"(p.plan:3:17: error: 'per sequence' counts samples along the dim 'batch', and no input has a dim 'batch'
    loss loss per sequence
                  ^~~~~~~~
help: name it: 'input NAME: [batch, ...]'
)"},
    {"LossOfNoOutput",
     R"(plan p {
  loss per token
  rest: replicate
}
)",
     R"(p.plan:2:12: error: expected end of line, found 'token'
    loss per token
             ^~~~~
help: the form is 'loss OUTPUT [per token | sequence]'
)"},
    {"InputTwice",
     R"(plan p {
  input input_ids, labels: [batch, seq]
  input labels: [batch, seq]
  rest: replicate
}
)",
     R"(p.plan:3:9: error: input 'labels' is declared twice
    input labels: [batch, seq]
          ^~~~~~
p.plan:2:20: note: the other declaration is here
    input input_ids, labels: [batch, seq]
                     ^~~~~~
help: keep one of them
)"},
    {"InputRank",
     R"(plan p {
  input input_ids: [batch]
  rest: replicate
}
)",
     R"(p.plan:2:9: error: input 'input_ids' has 2 dims, and the plan lists 1
    input input_ids: [batch]
          ^~~~~~~~~
help: list every dim, with '_' for one without a name
)"},
    {"WrongExtent",
     R"(plan p {
  input input_ids: [batch = 16, seq]
  rest: replicate
}
)",
     R"(p.plan:2:29: error: dim 0 of 'input_ids' is 4 in the model, and the plan states 16
    input input_ids: [batch = 16, seq]
                              ^~
help: leave out the extent, or export the model with 16
)"},
    {"EmptyExtent",
     R"(plan p {
  input input_ids: [batch = 0, seq]
  rest: replicate
}
)",
     R"(p.plan:2:29: error: an extent is at least 1, and this is 0
    input input_ids: [batch = 0, seq]
                              ^
)"},
    {"Unbound",
     R"(plan p {
  input input_ids, labels: [batch = 16, seq]
  rest: replicate
}
)",
     R"(p.plan:2:41: error: dim 1 of input 'input_ids' has no extent: it is 's1' in the model
    input input_ids, labels: [batch = 16, seq]
                                          ^~~
help: give it one: 'seq = NUMBER' in 'input input_ids: [...]'
)",
     Model::Symbolic},
    {"UnboundUndeclared",
     R"(plan p {
  rest: replicate
}
)",
     R"(p.plan:1:6: error: dim 0 of input 'input_ids' has no extent: it is 's0' in the model
  plan p {
       ^
help: give it one: 'NAME = NUMBER' in 'input input_ids: [...]'
p.plan:1:6: error: dim 1 of input 'input_ids' has no extent: it is 's1' in the model
  plan p {
       ^
help: give it one: 'NAME = NUMBER' in 'input input_ids: [...]'
)",
     Model::Symbolic},
    {"SymbolTwice",
     R"(plan p {
  input input_ids: [batch = 16, seq = 8]
  input labels: [samples = 8, seq = 8]
  rest: replicate
}
)",
     R"(p.plan:3:18: error: symbol 's0' has two extents: dim 0 of 'labels' is 8, dim 0 of 'input_ids' is 16
    input labels: [samples = 8, seq = 8]
                   ^~~~~~~~~~~
p.plan:2:21: note: the other one is here
    input input_ids: [batch = 16, seq = 8]
                      ^~~~~~~~~~
help: dims of one symbol have one extent in the model: give them the same
)",
     Model::Symbolic},
    {"NameTwice",
     R"(plan p {
  input input_ids: [batch, batch]
  rest: replicate
}
)",
     R"(p.plan:2:28: error: dim name 'batch' has two extents: dim 1 of 'input_ids' is 8, dim 0 of 'input_ids' is 4
    input input_ids: [batch, batch]
                             ^~~~~
p.plan:2:21: note: the other one is here
    input input_ids: [batch, batch]
                      ^~~~~
help: dims with the same name have the same extent: give one of the dims another name
)"},
    {"UnknownLoss",
     R"(plan p {
  loss los
  rest: replicate
}
)",
     R"(p.plan:2:8: error: unknown output 'los'
    loss los
         ^~~
help: did you mean 'loss'?
)"},
    {"LossIsNoScalar",
     R"(plan p {
  loss logits
  rest: replicate
}
)",
     R"(p.plan:2:8: error: the loss is a scalar, and output 'logits' has 3 dims
    loss logits
         ^~~~~~
help: return the mean or the sum of the losses from the model
)"},
    {"OutputAxisTwice",
     R"(plan p {
  mesh dp = 2, tp = 3
  output logits: [_ over tp, _, _ over tp]
  rest: replicate
}
)",
     R"(p.plan:3:40: error: axis 'tp' is used twice
    output logits: [_ over tp, _, _ over tp]
                                         ^~
p.plan:3:26: note: it is used here, too
    output logits: [_ over tp, _, _ over tp]
                           ^~
help: an axis splits at most one dim of a value: remove it from one of the two
)"},
    {"UnknownDimOfOutput",
     R"(plan p {
  input input_ids, labels: [batch, seq]
  output logits: [zebra, seq, lion]
  rest: replicate
}
)",
     R"(p.plan:3:19: error: no input has a dim 'zebra'
    output logits: [zebra, seq, lion]
                    ^~~~~
help: dims of the inputs: 'batch', 'seq'
help: '_' leaves a dim unnamed
p.plan:3:31: error: no input has a dim 'lion'
    output logits: [zebra, seq, lion]
                                ^~~~
help: dims of the inputs: 'batch', 'seq'
help: '_' leaves a dim unnamed
)"},
    {"DimOfOutputHasAnotherExtent",
     R"(plan p {
  input input_ids, labels: [batch, seq]
  output logits: [batch, batch, _]
  rest: replicate
}
)",
     R"(p.plan:3:26: error: dim name 'batch' has two extents: dim 1 of 'logits' is 8, dim 0 of 'input_ids' is 4
    output logits: [batch, batch, _]
                           ^~~~~
p.plan:2:29: note: the other one is here
    input input_ids, labels: [batch, seq]
                              ^~~~~
help: dims with the same name have the same extent: give one of the dims another name
)"},
    {"SymbolicDimOfOutputHasAnotherExtent",
     R"(plan p {
  input input_ids, labels: [batch = 16, seq = 8]
  output logits: [batch, batch, _]
  rest: replicate
}
)",
     R"(p.plan:3:26: error: dim name 'batch' has two extents: dim 1 of 'logits' is 8, dim 0 of 'input_ids' is 16
    output logits: [batch, batch, _]
                           ^~~~~
p.plan:2:29: note: the other one is here
    input input_ids, labels: [batch = 16, seq = 8]
                              ^~~~~~~~~~
help: dims with the same name have the same extent: give one of the dims another name
)",
     Model::Symbolic},
    {"WrongRankIsOneError",
     R"(plan p {
  input input_ids: [batch = 16]
  rest: replicate
}
)",
     R"(p.plan:2:9: error: input 'input_ids' has 2 dims, and the plan lists 1
    input input_ids: [batch = 16]
          ^~~~~~~~~
help: list every dim, with '_' for one without a name
)",
     Model::Symbolic},
    {"MisspeltInputIsOneError",
     R"(plan p {
  input input_id: [batch = 16, seq = 8]
  rest: replicate
}
)",
     R"(p.plan:2:9: error: unknown input 'input_id'
    input input_id: [batch = 16, seq = 8]
          ^~~~~~~~
help: did you mean 'input_ids'?
)",
     Model::Symbolic},
    {"WrongExtentIsOneError",
     R"(plan p {
  input input_ids: [batch = n, seq = 8]
  rest: replicate
}
)",
     R"(p.plan:2:29: error: unknown name 'n'
    input input_ids: [batch = n, seq = 8]
                              ^
help: names of this plan: 'world'
)",
     Model::Symbolic},
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Values, MessageTest, testing::ValuesIn(valueCases), MessageTest::nameOf);
