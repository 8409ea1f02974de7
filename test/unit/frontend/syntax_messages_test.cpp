//===- syntax_messages_test.cpp - messages about syntax -------------------===//

#include "test/unit/frontend/message_test.h"

using namespace meshplan;
using namespace meshplan::test;

namespace {

const MessageCase syntaxCases[] = {
    {"MissingEquals",
     R"(plan p {
  mesh dp 3
}
)",
     R"(p.plan:2:11: error: expected '=', found '3'
    mesh dp 3
            ^
help: the form is 'mesh NAME = SIZE, NAME = SIZE'
)"},
    {"EqualsAfterKeyword",
     R"(plan p {
  mesh = 3
}
)",
     R"(p.plan:2:8: error: unexpected '=' after 'mesh'
    mesh = 3
         ^
help: the form is 'mesh NAME = SIZE, NAME = SIZE'
)"},
    {"UnknownStatement",
     R"(plan p {
  msh dp = 2
}
)",
     R"(p.plan:2:3: error: unknown statement 'msh'
    msh dp = 2
    ^~~
help: did you mean 'mesh'?
)"},
    {"EntryWithoutColon",
     R"(plan p {
  model.norm sequence tp
}
)",
     R"(p.plan:2:14: error: expected ':' or '{' after 'model.norm', found 'sequence'
    model.norm sequence tp
               ^~~~~~~~
help: the form of an entry is 'PATH: STYLE AXIS, output LAYOUT'
)"},
    {"EntryOfTwoPaths",
     R"(plan p {
  model.norm, lm_head: sequence tp
}
)",
     R"(p.plan:2:13: error: expected ':' or '{' after 'model.norm', found ','
    model.norm, lm_head: sequence tp
              ^
help: one entry for several paths is '{PATH, PATH}: STYLE AXIS'
)"},
    {"EntryWithoutStyle",
     R"(plan p {
  model.norm:
}
)",
     R"(p.plan:2:14: error: expected a name, found end of line
    model.norm:
               ^
help: the form of an entry is 'PATH: STYLE AXIS, output LAYOUT'
)"},
    {"DimsWithoutComma",
     R"(plan p {
  input a: [batch over dp seq]
}
)",
     R"(p.plan:2:27: error: expected ']' or ',', found 'seq'
    input a: [batch over dp seq]
                            ^~~
help: the form is 'input NAME, NAME: [NAME = SIZE over AXIS, NAME, _]'
)"},
    {"DimsNotClosed",
     R"(plan p {
  input a: [batch over dp,
    seq
  loss 0
}
)",
     R"(p.plan:3:8: error: expected ']' or ',', found end of line
      seq
         ^
help: the form is 'input NAME, NAME: [NAME = SIZE over AXIS, NAME, _]'
)"},
    {"AxesNotClosed",
     R"(plan p {
  lm_head: colwise (dp, tp
}
)",
     R"(p.plan:2:27: error: expected ')' or ',', found end of line
    lm_head: colwise (dp, tp
                            ^
help: the form of an entry is 'PATH: STYLE AXIS, output LAYOUT'
)"},
    {"OptionWithoutValue",
     R"(plan p {
  lm_head: colwise tp parts
}
)",
     R"(p.plan:2:28: error: expected '(', a name or a number, found end of line
    lm_head: colwise tp parts
                             ^
help: the form of an entry is 'PATH: STYLE AXIS, output LAYOUT'
)"},
    {"OptionAfterAComma",
     R"(plan p {
  lm_head: colwise tp, parts 3
}
)",
     R"(p.plan:2:24: error: expected a name, found 'parts'
    lm_head: colwise tp, parts 3
                         ^~~~~
help: 'parts' comes after the axis, without a comma: 'colwise tp parts 3'
)"},
    {"CommaBetweenParameters",
     R"(plan p {
  lm_head: parameter { weight: replicate, bias: replicate }
}
)",
     R"(p.plan:2:41: error: expected end of line, found ','
    lm_head: parameter { weight: replicate, bias: replicate }
                                          ^
help: the form is 'parameter { NAME: LAYOUT; NAME: LAYOUT }'
)"},
    {"NoCommaBetweenAxes",
     R"(plan p {
  mesh dp = 2 tp = 2
}
)",
     R"(p.plan:2:15: error: expected end of line, found 'tp'
    mesh dp = 2 tp = 2
                ^~
help: the form is 'mesh NAME = SIZE, NAME = SIZE'
)"},
    {"PartsOutsideOfAnEntry",
     R"(plan p {
  let parts
}
)",
     R"(p.plan:2:7: error: unexpected 'parts' after 'let'
    let parts
        ^~~~~
help: the form is 'let NAME = VALUE'
)"},
    {"PartsInsteadOfASize",
     R"(plan p {
  mesh tp = parts
}
)",
     R"(p.plan:2:13: error: expected '(', a name or a number, found 'parts'
    mesh tp = parts
              ^~~~~
help: the form is 'mesh NAME = SIZE, NAME = SIZE'
)"},
    {"APieceOfAProductThatIsNoName",
     R"(plan p {
  let n = 5init*dp
}
)",
     R"(p.plan:2:11: error: expected '(', a name or a number, found '5init'
    let n = 5init*dp
            ^~~~~
help: the form is 'let NAME = VALUE'
)"},
    {"PlanWithoutName",
     R"(plan {
}
)",
     R"(p.plan:1:6: error: expected a name or a string, found '{'
  plan {
       ^
help: the form of a plan is 'plan NAME { STATEMENTS }'
)"},
    {"BorderWithoutLayout",
     R"(plan p {
  lm_head: colwise tp, output
}
)",
     R"(p.plan:2:30: error: expected '[', a name or a number, found end of line
    lm_head: colwise tp, output
                               ^
help: the form of an entry is 'PATH: STYLE AXIS, output LAYOUT'
)"},
    {"SplitWithoutAxis",
     R"(plan p {
  lm_head: parameter { weight: split 0 }
}
)",
     R"(p.plan:2:40: error: expected 'over', found '}'
    lm_head: parameter { weight: split 0 }
                                         ^
help: the form is 'parameter { NAME: LAYOUT; NAME: LAYOUT }'
)"},
    {"TrainWithoutOnly",
     R"(plan p {
  train lm_head
}
)",
     R"(p.plan:2:9: error: unexpected 'lm_head' after 'train'
    train lm_head
          ^~~~~~~
help: the form is 'train only PATHS'
)"},
    {"LossWithoutName",
     R"(plan p {
  loss
}
)",
     R"(p.plan:2:7: error: unexpected end of line after 'loss'
    loss
        ^
help: the form is 'loss OUTPUT [per token | sequence]'
)"},
    {"ModelWithoutQuotes",
     R"(plan p {
  model smollm2.pt2
}
)",
     R"(p.plan:2:9: error: unexpected 'smollm2.pt2' after 'model'
    model smollm2.pt2
          ^~~~~~~~~~~
help: the form is 'model "FILE.pt2"'
)"},
    {"StatementInBlock",
     R"(plan p {
  model.layers.* {
    mesh dp = 3
  }
}
)",
     R"(p.plan:3:5: error: 'mesh' is not allowed in a block of paths
      mesh dp = 3
      ^~~~
help: only entries and blocks are allowed there: move the statement out of the block
)"},
    {"TwoOnOneLine",
     R"(plan p {
  loss 0 loss 1
}
)",
     R"(p.plan:2:10: error: expected end of line, found 'loss'
    loss 0 loss 1
           ^~~~
help: the form is 'loss OUTPUT [per token | sequence]'
)"},
    {"OptionIsNoWord",
     R"(plan p {
  data dp { shard parameters; = ; bucket 64 MiB }
}
)",
     R"(p.plan:2:31: error: expected '}', end of line or a path, found '='
    data dp { shard parameters; = ; bucket 64 MiB }
                                ^
)"},
    {"PlanNotClosed",
     R"(plan p {
  loss 0
)",
     R"(p.plan:3:1: error: expected '}', found end of file
p.plan:1:8: note: this block is not closed
  plan p {
         ^
help: close it with '}'
)"},
    {"PlanNotClosedOnItsLastLine", R"(plan p { loss 0)",
     R"(p.plan:1:16: error: expected '}', found end of file
  plan p { loss 0
                 ^
p.plan:1:8: note: this block is not closed
  plan p { loss 0
         ^
help: close it with '}'
)"},
    {"BlockNotClosed",
     R"(plan p {
  model.layers.* {
    mlp: replicate
}
)",
     R"(p.plan:5:1: error: expected '}', found end of file
p.plan:1:8: note: this block is not closed
  plan p {
         ^
help: close it with '}'
)"},
    {"TextAfterPlan",
     R"(plan p {
  loss 0
}
plan q {
}
)",
     R"(p.plan:4:1: error: expected end of file, found 'plan'
  plan q {
  ^~~~
help: a file holds one plan
)"},
    {"BraceTooMany",
     R"(plan p {
  loss 0
}
  model.norm: replicate
  lm_head: replicate
}
)",
     R"(p.plan:4:3: error: expected end of file, found 'model.norm'
    model.norm: replicate
    ^~~~~~~~~~
)"},
    {"NoPlan",
     R"(model "a.pt2"
)",
     R"(p.plan:1:1: error: expected 'plan', found 'model'
  model "a.pt2"
  ^~~~~
help: the form of a plan is 'plan NAME { STATEMENTS }'
)"},
    {"Empty", R"()",
     R"(p.plan:1:1: error: expected 'plan', found end of file
help: the form of a plan is 'plan NAME { STATEMENTS }'
)"},
    {"StringNotClosed",
     R"(plan p {
  model "a.pt2
}
)",
     R"(p.plan:2:9: error: this string has no end
    model "a.pt2
          ^~~~~~
help: close it with " on the same line
)"},
    {"CommentNotClosed",
     R"(plan p {
  loss 0 /* no end
}
)",
     R"(p.plan:2:10: error: this comment has no end
    loss 0 /* no end
           ^
help: close it with */
)"},
    {"UnknownCharacter",
     R"(plan p {
  loss 0 $
}
)",
     R"(p.plan:2:10: error: unexpected character '$'
    loss 0 $
           ^
)"},
    {"CommentOfAnotherLanguage",
     R"(plan p {
  loss 0  # tokens
}
)",
     R"(p.plan:2:11: error: unexpected character '#'
    loss 0  # tokens
            ^
help: comments begin with '//'
)"},
    {"PathWithAMinus",
     R"(plan p {
  blocks.a - b: replicate
}
)",
     R"(p.plan:2:12: error: expected ':' or '{' after 'blocks.a', found '-'
    blocks.a - b: replicate
             ^
help: a '-' belongs to a path only without spaces around it
)"},
    {"PathWithASlash",
     R"(plan p {
  blocks.a/b: replicate
}
)",
     R"(p.plan:2:11: error: expected ':' or '{' after 'blocks.a', found '/'
    blocks.a/b: replicate
            ^
help: quote a path with characters other than letters, digits, '_', '-' and '.'
)"},
    {"NotAnInteger",
     R"(plan p {
  let a = 1.5
}
)",
     R"(p.plan:2:11: error: '1.5' is not an integer
    let a = 1.5
            ^~~
)"},
    {"TooLarge",
     R"(plan p {
  let a = 99999999999999999999
}
)",
     R"(p.plan:2:11: error: 99999999999999999999 does not fit in 64 bits
    let a = 99999999999999999999
            ^~~~~~~~~~~~~~~~~~~~
)"},
    {"Several",
     R"(plan p {
  mesh dp 3
  loss 0
  let a = 
  model.norm replicate
}
)",
     R"(p.plan:2:11: error: expected '=', found '3'
    mesh dp 3
            ^
help: the form is 'mesh NAME = SIZE, NAME = SIZE'
p.plan:4:11: error: expected '(', a name or a number, found end of line
    let a = 
            ^
help: the form is 'let NAME = VALUE'
p.plan:5:14: error: expected ':' or '{' after 'model.norm', found 'replicate'
    model.norm replicate
               ^~~~~~~~~
help: the form of an entry is 'PATH: STYLE AXIS, output LAYOUT'
)"},
    {"TabBeforeError",
     R"(plan p {
	mesh dp 3
}
)",
     R"(p.plan:2:10: error: expected '=', found '3'
  	mesh dp 3
  	        ^
help: the form is 'mesh NAME = SIZE, NAME = SIZE'
)"},
    {"WideCharacters",
     R"(plan p {
  model "üü" $
}
)",
     R"(p.plan:2:14: error: unexpected character '$'
    model "üü" $
               ^
)"},
    {"OptionsAsStatements",
     R"(plan p {
  group model.norm { lr 1 }
  bucket 64 MiB
  data { shard optimizer }
  rest: replicate
}
)",
     R"(p.plan:2:3: error: unknown statement 'group'
    group model.norm { lr 1 }
    ^~~~~
help: 'group' is an option: write 'optimizer NAME { group ... }'
p.plan:3:3: error: unknown statement 'bucket'
    bucket 64 MiB
    ^~~~~~
help: 'bucket' is an option: write 'data AXES { bucket ... }'
p.plan:4:10: error: unknown statement 'shard'
    data { shard optimizer }
           ^~~~~
help: 'shard' is an option: write 'data AXES { shard ... }'
)"},
    {"BlockOfAStatement",
     R"(plan p {
  data { }
  optimizer { }
  rest: replicate
}
)",
     R"(p.plan:2:3: error: 'data' matches no module
    data { }
    ^~~~
help: the form is 'data AXES [on PATHS] { OPTIONS }'
p.plan:3:3: error: 'optimizer' matches no module
    optimizer { }
    ^~~~~~~~~
help: the form is 'optimizer NAME { OPTIONS }'
)"},
    {"MisspeltStatements",
     R"(plan p {
  mseh dp = 2
  modle "x.pt2"
}
)",
     R"(p.plan:2:3: error: unknown statement 'mseh'
    mseh dp = 2
    ^~~~
help: did you mean 'mesh'?
p.plan:3:3: error: unknown statement 'modle'
    modle "x.pt2"
    ^~~~~
help: did you mean 'model'?
)"},
    {"StatementInABlock",
     R"(plan p {
  model.layers.* { loss loss }
  a { mesh dp = 2; input x: [a] }
}
)",
     R"(p.plan:2:20: error: 'loss' is not allowed in a block of paths
    model.layers.* { loss loss }
                     ^~~~
help: only entries and blocks are allowed there: move the statement out of the block
p.plan:3:7: error: 'mesh' is not allowed in a block of paths
    a { mesh dp = 2; input x: [a] }
        ^~~~
help: only entries and blocks are allowed there: move the statement out of the block
p.plan:3:20: error: 'input' is not allowed in a block of paths
    a { mesh dp = 2; input x: [a] }
                     ^~~~~
help: only entries and blocks are allowed there: move the statement out of the block
)"},
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Syntax, MessageTest, testing::ValuesIn(syntaxCases), MessageTest::nameOf);
