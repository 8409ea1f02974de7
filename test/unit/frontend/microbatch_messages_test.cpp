//===- microbatch_messages_test.cpp - messages about microbatches ---------===//

#include "test/unit/frontend/message_test.h"

using namespace meshplan;
using namespace meshplan::test;

namespace {

const MessageCase microbatchCases[] = {
    {"MicrobatchesWithoutLoss",
     R"(plan p {
  input input_ids: [batch, seq]
  microbatches 2
  rest: replicate
}
)",
     R"(p.plan:3:3: error: microbatches are for training, and the plan has no loss
    microbatches 2
    ^~~~~~~~~~~~~~
help: add 'loss loss'
)"},
    {"MicrobatchesWithoutBatch",
     R"(plan p {
  loss loss
  microbatches 2
  rest: replicate
}
)",
     R"(p.plan:3:3: error: microbatches split the dim 'batch', and no input has a dim 'batch'
    microbatches 2
    ^~~~~~~~~~~~~~
help: name it: 'input NAME: [batch, ...]'
)"},
    {"NoMicrobatches",
     R"(plan p {
  input input_ids: [batch, seq]
  microbatches 0
  rest: replicate
}
)",
     R"(p.plan:3:16: error: there is at least one microbatch, and this is 0
    microbatches 0
                 ^
help: write the number of microbatches that a batch is split into, or leave the statement away
)"},
    {"TooManyMicrobatches",
     R"(plan p {
  mesh dp = 2, tp = 3
  loss loss
  input labels: [batch, seq]
  input input_ids: [batch over dp, seq]
  microbatches 3
  rest: replicate
}
)",
     R"(p.plan:6:16: error: the batch has 4 samples, and 3 microbatches over dp = 2 need a multiple of 6
    microbatches 3
                 ^
p.plan:5:21: note: the batch is here
    input input_ids: [batch over dp, seq]
                      ^~~~~~~~~~~~~
help: write 'microbatches 2': the 2 samples of each rank have to divide evenly
)"},
    {"TooManyMicrobatchesOnOneRank",
     R"(plan p {
  loss loss
  input input_ids, labels: [batch, seq]
  microbatches 5
  rest: replicate
}
)",
     R"(p.plan:4:16: error: the batch has 4 samples, and 5 microbatches need a multiple of 5
    microbatches 5
                 ^
p.plan:3:29: note: the batch is here
    input input_ids, labels: [batch, seq]
                              ^~~~~
help: write 'microbatches 4': the 4 samples have to divide evenly
)"},
    {"NoSampleForASecondMicrobatch",
     R"(plan p {
  mesh dp = 2, tp = 3
  loss loss
  input input_ids: [batch over (dp, tp), seq]
  microbatches 2
  rest: replicate
}
)",
     R"(p.plan:5:16: error: the batch has 4 samples, and 2 microbatches over (dp, tp) = 6 need a multiple of 12
    microbatches 2
                 ^
p.plan:4:21: note: the batch is here
    input input_ids: [batch over (dp, tp), seq]
                      ^~~~~~~~~~~~~~~~~~~
help: remove the statement, or use a batch of 12
)"},
    {"AnArchiveOfTheWholeBatch",
     R"(plan p {
  loss loss
  input input_ids: [batch = 4, seq]
  microbatches 2 mean
  rest: replicate
}
)",
     R"(p.plan:3:29: error: dim 0 of 'input_ids' is 4 in the model, which is called with one microbatch, and that has 4 / 2 = 2
    input input_ids: [batch = 4, seq]
                              ^
p.plan:4:3: note: the microbatches are here
    microbatches 2 mean
    ^~~~~~~~~~~~~~~~~~~
help: export the model with a batch of 2 or a symbolic one, or write 'batch = 8'
help: without 'mean' the model is called with the whole batch, and no operator may mix samples but by sums
)"},
    {"MicrobatchesOfSeveralSizes",
     R"(plan p {
  loss loss
  input input_ids: [batch = 10, seq]
  microbatches 4 mean
  rest: replicate
}
)",
     R"(p.plan:3:29: error: the batch has 10 samples, and 4 microbatches need a multiple of 4
    input input_ids: [batch = 10, seq]
                              ^~
p.plan:4:3: note: the microbatches are here
    microbatches 4 mean
    ^~~~~~~~~~~~~~~~~~~
help: use a batch of 8 or 12
)"},
    {"TwoMeans",
     R"(plan p {
  loss loss per token
  input input_ids: [batch, seq]
  microbatches 2 mean
  rest: replicate
}
)",
     R"(p.plan:4:3: error: 'mean' is the mean of the losses of microbatches, and the loss is the mean over all targets of the batch that count
    microbatches 2 mean
    ^~~~~~~~~~~~~~~~~~~
p.plan:2:3: note: the loss is defined here
    loss loss per token
    ^~~~~~~~~~~~~~~~~~~
help: leave 'mean' or 'per token' out
)"},
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Microbatches, MessageTest, testing::ValuesIn(microbatchCases), MessageTest::nameOf);
