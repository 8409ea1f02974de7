//===- evaluate_messages_test.cpp - messages about sizes and values -------===//

#include "test/unit/frontend/message_test.h"

using namespace meshplan;
using namespace meshplan::test;

namespace {

const MessageCase evaluateCases[] = {
    {"Inexact",
     R"(plan p {
  mesh dp = world / tp, tp = 3
}
)",
     R"(p.plan:2:13: error: world / tp = 8 / 3 is not exact
    mesh dp = world / tp, tp = 3
              ^~~~~~~~~~
help: choose a multiple of 3 to divide
)",
     Model::Llama,
     {{"world", "8"}}},
    {"InexactLiteral",
     R"(plan p {
  mesh dp = 8 / 3
}
)",
     R"(p.plan:2:13: error: 8 / 3 is not exact
    mesh dp = 8 / 3
              ^~~~~
help: choose a multiple of 3 to divide
)"},
    {"DividesByZero",
     R"(plan p {
  let a = 0
  mesh dp = 4 / a
}
)",
     R"(p.plan:3:13: error: 4 / a = 4 / 0 divides by zero
    mesh dp = 4 / a
              ^~~~~
help: give the divisor another value, in the plan or with -D
)"},
    {"UnknownDefinition",
     R"(plan p {
  mesh dp = world / tp, tp = 3
}
)",
     R"(p.plan: error: -D tpp=3: the plan has no axis or value 'tpp'
help: did you mean 'tp'?
)",
     Model::Llama,
     {{"world", "6"}, {"tpp", "3"}}},
    {"DefinitionIsNoInteger",
     R"(plan p {
  mesh tp = 3
}
)",
     R"(p.plan: error: -D tp=three: 'three' is not an integer
help: write -D tp=N with an integer N
)",
     Model::Llama,
     {{"tp", "three"}}},
    {"DefinedTwiceOnCommandLine",
     R"(plan p {
  mesh tp = 3
}
)",
     R"(p.plan: error: -D tp=2: 'tp' is given twice, as 3 and as 2
help: give it once
)",
     Model::Llama,
     {{"tp", "3"}, {"tp", "2"}}},
    {"WorldMissing",
     R"(plan p {
  mesh dp = world / 2, tp = 2
}
)",
     R"(p.plan:2:13: error: 'world' is not given
    mesh dp = world / 2, tp = 2
              ^~~~~
help: give the number of ranks: -D world=N
)"},
    {"WorldMismatch",
     R"(plan p {
  mesh dp = 2, tp = 3
}
)",
     R"(p.plan:2:3: error: the mesh is dp (2) * tp (3) = 6 ranks, and world is 8
    mesh dp = 2, tp = 3
    ^~~~~~~~~~~~~~~~~~~
help: let one axis follow: 'mesh A = world / B, B = SIZE'
)",
     Model::Llama,
     {{"world", "8"}}},
    {"WorldWithoutMesh",
     R"(plan p {
}
)",
     R"(p.plan:1:6: error: the plan has no mesh, so it is for 1 rank, and world is 8
  plan p {
       ^
help: add 'mesh dp = world'
)",
     Model::Llama,
     {{"world", "8"}}},
    {"WorldIsZero",
     R"(plan p {
  mesh dp = world
}
)",
     R"(p.plan: error: -D world=0: there is at least one rank
help: write -D world=N with N of at least 1
)",
     Model::Llama,
     {{"world", "0"}}},
    {"UnknownName",
     R"(plan p {
  mesh dp = 2, tp = dpp
}
)",
     R"(p.plan:2:21: error: unknown name 'dpp'
    mesh dp = 2, tp = dpp
                      ^~~
help: did you mean 'dp'?
)"},
    {"Cycle",
     R"(plan p {
  mesh dp = tp, tp = dp
}
)",
     R"(p.plan:2:22: error: 'dp' depends on itself
    mesh dp = tp, tp = dp
                       ^~
p.plan:2:8: note: it is defined here
    mesh dp = tp, tp = dp
         ^~
)"},
    {"DefinedTwice",
     R"(plan p {
  let tp = 2
  mesh tp = 3
}
)",
     R"(p.plan:3:8: error: 'tp' is defined twice
    mesh tp = 3
         ^~
p.plan:2:7: note: the first definition is here
    let tp = 2
        ^~
help: axes and 'let' values share their names: rename one
)"},
    {"DefinesWorld",
     R"(plan p {
  let world = 2
}
)",
     R"(p.plan:2:7: error: 'world' is the number of ranks and cannot be defined here
    let world = 2
        ^~~~~
help: give it on the command line: -D world=N
)"},
    {"EmptyAxis",
     R"(plan p {
  mesh dp = 2 - 2
}
)",
     R"(p.plan:2:8: error: axis 'dp' has size 0
    mesh dp = 2 - 2
         ^~
help: an axis has at least one rank
)"},
    {"Overflow",
     R"(plan p {
  let a = 9223372036854775807 + 1
}
)",
     R"(p.plan:2:11: error: 9223372036854775807 + 1 does not fit in 64 bits
    let a = 9223372036854775807 + 1
            ^~~~~~~~~~~~~~~~~~~~~~~
)"},
    {"TooManyRanks",
     R"(plan p {
  let a = 4294967296
  mesh x = a, y = a
}
)",
     R"(p.plan:3:3: error: the number of ranks does not fit in 64 bits
    mesh x = a, y = a
    ^~~~~~~~~~~~~~~~~
)"},
    {"AxisNamedAsTime",
     R"(plan p {
  mesh dp = 2, microbatch = 3
}
)",
     R"(p.plan:2:16: error: an axis cannot be named 'microbatch': microbatches follow one another in time
    mesh dp = 2, microbatch = 3
                 ^~~~~~~~~~
help: give the axis another name
)"},
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Evaluate, MessageTest, testing::ValuesIn(evaluateCases), MessageTest::nameOf);
