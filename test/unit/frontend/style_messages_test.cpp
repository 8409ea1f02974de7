//===- style_messages_test.cpp - messages about styles and layouts --------===//

#include "test/unit/frontend/message_test.h"

using namespace meshplan;
using namespace meshplan::test;

namespace {

const MessageCase styleCases[] = {
    {"UnknownAxis",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise tq
  rest: replicate
}
)",
     R"(p.plan:3:20: error: unknown axis 'tq'
    lm_head: colwise tq
                     ^~
p.plan:2:3: note: the mesh is here
    mesh dp = 2, tp = 3
    ^~~~~~~~~~~~~~~~~~~
help: did you mean 'tp'?
)"},
    {"AxisWithoutMesh",
     R"(plan p {
  lm_head: colwise tp
  rest: replicate
}
)",
     R"(p.plan:2:20: error: unknown axis 'tp'
    lm_head: colwise tp
                     ^~
help: the plan has no mesh; add 'mesh tp = SIZE'
)"},
    {"AxisTwiceInStyle",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise (tp, tp)
  rest: replicate
}
)",
     R"(p.plan:3:25: error: axis 'tp' is used twice
    lm_head: colwise (tp, tp)
                          ^~
p.plan:3:21: note: it is used here, too
    lm_head: colwise (tp, tp)
                      ^~
help: an axis splits at most one dim of a value: remove it from one of the two
)"},
    {"AxisTwiceInEntry",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise tp, rowwise tp
  rest: replicate
}
)",
     R"(p.plan:3:32: error: axis 'tp' is used twice
    lm_head: colwise tp, rowwise tp
                                 ^~
p.plan:3:20: note: it is used here, too
    lm_head: colwise tp, rowwise tp
                     ^~
help: an axis splits at most one dim of a value: remove it from one of the two
)"},
    {"AxisTwiceInInput",
     R"(plan p {
  mesh dp = 2, tp = 3
  input input_ids: [batch over dp, seq over dp]
  rest: replicate
}
)",
     R"(p.plan:3:45: error: axis 'dp' is used twice
    input input_ids: [batch over dp, seq over dp]
                                              ^~
p.plan:3:32: note: it is used here, too
    input input_ids: [batch over dp, seq over dp]
                                 ^~
help: an axis splits at most one dim of a value: remove it from one of the two
)"},
    {"UnknownStyle",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwize tp
  rest: replicate
}
)",
     R"(p.plan:3:12: error: unknown style 'colwize'
    lm_head: colwize tp
             ^~~~~~~
help: did you mean 'colwise'?
)"},
    {"UnknownStyleFar",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: diagonal tp
  rest: replicate
}
)",
     R"(p.plan:3:12: error: unknown style 'diagonal'
    lm_head: diagonal tp
             ^~~~~~~~
help: styles: 'colwise', 'rowwise', 'sequence', 'replicate'
)"},
    {"AxisBehindAComma",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise tp, dp
  rest: replicate
}
)",
     R"(p.plan:3:24: error: unknown style 'dp'
    lm_head: colwise tp, dp
                         ^~
help: several axes are written in parentheses: 'colwise (A, B)'
)"},
    {"BorderWithoutAComma",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise tp output replicate
  model.norm: replicate output [_, _]
  rest: replicate
}
)",
     R"(p.plan:4:32: error: expected end of line, found '['
    model.norm: replicate output [_, _]
                                 ^
help: write a comma before 'input' and 'output' of an entry
)"},
    {"OutputWithoutAComma",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise tp output replicate
  rest: replicate
}
)",
     R"(p.plan:3:23: error: style 'colwise' has no option 'output'
    lm_head: colwise tp output replicate
                        ^~~~~~
help: write a comma before 'output'
)"},
    {"UnknownStyleOption",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise tp part 3
  rest: replicate
}
)",
     R"(p.plan:3:23: error: style 'colwise' has no option 'part'
    lm_head: colwise tp part 3
                        ^~~~
help: did you mean 'parts'?
)"},
    {"WordsBehindTheAxis",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise dp tp
  model.norm: sequence tp override
  model.embed_tokens: rowwise tp fast
  rest: replicate
}
)",
     R"(p.plan:3:23: error: unexpected 'tp' after 'colwise dp'
    lm_head: colwise dp tp
                        ^~
help: several axes are written in parentheses: 'colwise (dp, tp)'
p.plan:4:27: error: unexpected 'override' after 'sequence tp'
    model.norm: sequence tp override
                            ^~~~~~~~
help: write 'override' before the path: 'override PATH: STYLE'
p.plan:5:34: error: unexpected 'fast' after 'rowwise tp'
    model.embed_tokens: rowwise tp fast
                                   ^~~~
help: an option has a name and a value, as 'parts 3'
)"},
    {"SecondAxisWithoutParentheses",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise dp tp 3
  rest: replicate
}
)",
     R"(p.plan:3:23: error: style 'colwise' has no option 'tp'
    lm_head: colwise dp tp 3
                        ^~
help: several axes are written in parentheses: 'colwise (A, B)'
)"},
    {"OptionOfOtherStyle",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: replicate dim 2
  rest: replicate
}
)",
     R"(p.plan:3:22: error: style 'replicate' has no option 'dim'
    lm_head: replicate dim 2
                       ^~~
help: 'replicate' takes no options
)"},
    {"StyleOptionTwice",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise tp parts 3 parts 2
  rest: replicate
}
)",
     R"(p.plan:3:31: error: option 'parts' is repeated
    lm_head: colwise tp parts 3 parts 2
                                ^~~~~~~
p.plan:3:23: note: the first one is here
    lm_head: colwise tp parts 3 parts 2
                        ^~~~~~~
)"},
    {"OnePart",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise tp parts 1
  rest: replicate
}
)",
     R"(p.plan:3:29: error: the number of parts is at least 2, and this is 1
    lm_head: colwise tp parts 1
                              ^
help: 'parts 3' means three projections of equal size
)"},
    {"EmptyPart",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise tp parts (heads 9, kv 0)
  rest: replicate
}
)",
     R"(p.plan:3:42: error: the size of a part is at least 1, and this is 0
    lm_head: colwise tp parts (heads 9, kv 0)
                                           ^
help: sizes are in proportion: 'parts (q 4, k 1, v 1)'
)"},
    {"NegativeDim",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.norm: sequence tp dim 0 - 1
  rest: replicate
}
)",
     R"(p.plan:3:31: error: a dim is at least 0, and this is -1
    model.norm: sequence tp dim 0 - 1
                                ^~~~~
help: dims count from 0
)"},
    {"OverrideBehindReplicate",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: replicate override
  rest: replicate
}
)",
     R"(p.plan:3:22: error: 'replicate' takes no axis
    lm_head: replicate override
                       ^~~~~~~~
help: write 'override' before the path: 'override PATH: STYLE'
)"},
    {"TiedModuleWithAWrongAxis",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.embed_tokens: rowwise tp
  lm_head: colwise tq
  rest: replicate
}
)",
     R"(p.plan:4:20: error: unknown axis 'tq'
    lm_head: colwise tq
                     ^~
p.plan:2:3: note: the mesh is here
    mesh dp = 2, tp = 3
    ^~~~~~~~~~~~~~~~~~~
help: did you mean 'tp'?
)",
     Model::Tied},
    {"StyleWithoutAxis",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise
  rest: replicate
}
)",
     R"(p.plan:3:12: error: 'colwise' needs an axis
    lm_head: colwise
             ^~~~~~~
help: write 'colwise AXIS'
)"},
    {"ReplicateWithAxis",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: replicate tp
  rest: replicate
}
)",
     R"(p.plan:3:22: error: 'replicate' takes no axis
    lm_head: replicate tp
                       ^~
help: write 'replicate' alone: it replicates the weights of the module
)"},
    {"StyleTwice",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise tp, colwise dp
  rest: replicate
}
)",
     R"(p.plan:3:24: error: style 'colwise' is repeated
    lm_head: colwise tp, colwise dp
                         ^~~~~~~~~~
p.plan:3:12: note: the first one is here
    lm_head: colwise tp, colwise dp
             ^~~~~~~~~~
)"},
    {"StylesExclude",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise tp, replicate
  rest: replicate
}
)",
     R"(p.plan:3:24: error: 'replicate' and 'colwise tp' exclude each other
    lm_head: colwise tp, replicate
                         ^~~~~~~~~
p.plan:3:12: note: the other style is here
    lm_head: colwise tp, replicate
             ^~~~~~~~~~
)"},
    {"UnknownLayout",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise tp, output replicated
  rest: replicate
}
)",
     R"(p.plan:3:31: error: unknown layout 'replicated'
    lm_head: colwise tp, output replicated
                                ^~~~~~~~~~
help: layouts: 'replicate', 'split DIM over AXIS', '[NAME over AXIS, _]'
)"},
    {"LayoutWithExtent",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise tp, output [_ = 3, _, _]
  rest: replicate
}
)",
     R"(p.plan:3:36: error: a layout states splits, not extents
    lm_head: colwise tp, output [_ = 3, _, _]
                                     ^
help: give extents with the inputs of the plan
)"},
    {"BorderTwice",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise tp, output replicate, output split 2 over tp
  rest: replicate
}
)",
     R"(p.plan:3:42: error: output 0 has two layouts
    lm_head: colwise tp, output replicate, output split 2 over tp
                                           ^~~~~~~~~~~~~~~~~~~~~~
p.plan:3:31: note: the other layout is here
    lm_head: colwise tp, output replicate, output split 2 over tp
                                ^~~~~~~~~
)"},
    {"ParameterTwice",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: parameter { weight: split 0 over tp; weight: replicate }
  rest: replicate
}
)",
     R"(p.plan:3:57: error: parameter 'weight' has two layouts
    lm_head: parameter { weight: split 0 over tp; weight: replicate }
                                                          ^~~~~~~~~
p.plan:3:32: note: the other layout is here
    lm_head: parameter { weight: split 0 over tp; weight: replicate }
                                 ^~~~~~~~~~~~~~~
)"},
    {"ParameterParts",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: parameter { weight: [_ over tp, _ over dp] parts 2 }
  model.norm: parameter { weight: replicate parts 2 }
  rest: replicate
}
)",
     R"(p.plan:3:55: error: 'parts' are those of one dim, and 2 are split
    lm_head: parameter { weight: [_ over tp, _ over dp] parts 2 }
                                                        ^~~~~~~
p.plan:4:45: error: 'parts' are those of one dim, and 0 are split
    model.norm: parameter { weight: replicate parts 2 }
                                              ^~~~~~~
)"},
    {"PartsWithoutEnd",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise tp parts 1000000000000
  model.norm: rowwise tp parts (a 1, b 9000000000000000000)
  rest: replicate
}
)",
     R"(p.plan:3:29: error: the number of parts is at most 65536, and this is 1000000000000
    lm_head: colwise tp parts 1000000000000
                              ^~~~~~~~~~~~~
help: 'parts 3' means three projections of equal size
p.plan:4:40: error: the size of a part is at most 1099511627776, and this is 9000000000000000000
    model.norm: rowwise tp parts (a 1, b 9000000000000000000)
                                         ^~~~~~~~~~~~~~~~~~~
help: sizes are in proportion: 'parts (q 4, k 1, v 1)'
)"},
    {"BorderIndex",
     R"(plan p {
  mesh dp = 2, tp = 3
  lm_head: colwise tp, output 1.5 replicate
  rest: replicate
}
)",
     R"(p.plan:3:31: error: '1.5' is not the number of an output
    lm_head: colwise tp, output 1.5 replicate
                                ^~~
)"},
    {"UnknownStyleIsOneError",
     R"(plan p {
  mesh dp = 2, tp = 3
  model.**: replicate
  lm_head: colwize tp
}
)",
     R"(p.plan:4:12: error: unknown style 'colwize'
    lm_head: colwize tp
             ^~~~~~~
help: did you mean 'colwise'?
)"},
    {"UnknownDimAtBorder",
     R"(plan p {
  mesh dp = 2, tp = 3
  input input_ids: [batch over dp, seq]
  lm_head: colwise tp, output [bacth over dp, seq, _ over tp]
  rest: replicate
}
)",
     R"(p.plan:4:32: error: no input has a dim 'bacth'
    lm_head: colwise tp, output [bacth over dp, seq, _ over tp]
                                 ^~~~~
help: did you mean 'batch'?
help: '_' leaves a dim unnamed
)"},
    {"NamedDimOfAParameter",
     R"(plan p {
  mesh dp = 2, tp = 3
  input input_ids: [batch over dp, seq]
  lm_head: parameter { weight: [batch over tp, _] }
  rest: replicate
}
)",
     R"(p.plan:4:32: error: dim 0 of 'lm_head.weight' has size 49152, and 'batch' is 4
    lm_head: parameter { weight: [batch over tp, _] }
                                 ^~~~~~~~~~~~~~~~~~
help: '_' leaves a dim unnamed
)"},
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Styles, MessageTest, testing::ValuesIn(styleCases), MessageTest::nameOf);
