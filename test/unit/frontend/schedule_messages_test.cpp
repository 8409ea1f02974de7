//===- schedule_messages_test.cpp - messages about schedules of lr --------===//

#include "test/unit/frontend/message_test.h"

using namespace meshplan;
using namespace meshplan::test;

namespace {

const MessageCase scheduleCases[] = {
    {"UnknownSchedule",
     R"(plan p {
  loss loss
  optimizer adamw { schedule cosin { steps 10 } }
  rest: replicate
}
)",
     R"(p.plan:3:30: error: unknown schedule 'cosin'
    optimizer adamw { schedule cosin { steps 10 } }
                               ^~~~~
help: did you mean 'cosine'?
)"},
    {"UnknownScheduleFar",
     R"(plan p {
  loss loss
  optimizer adamw { schedule step { steps 10 } }
  rest: replicate
}
)",
     R"(p.plan:3:30: error: unknown schedule 'step'
    optimizer adamw { schedule step { steps 10 } }
                               ^~~~
help: schedules: 'constant', 'linear', 'cosine', 'wsd'
)"},
    {"ScheduleForm",
     R"(plan p {
  loss loss
  optimizer adamw { schedule linear, cosine { steps 10 } }
  rest: replicate
}
)",
     R"(p.plan:3:21: error: cannot read 'schedule linear, cosine'
    optimizer adamw { schedule linear, cosine { steps 10 } }
                      ^~~~~~~~~~~~~~~~~~~~~~~
help: the form is 'schedule KIND { OPTIONS }'
)"},
    {"ScheduleWithoutBlock",
     R"(plan p {
  loss loss
  optimizer adamw { schedule constant }
  rest: replicate
}
)",
     R"(p.plan:3:21: error: cannot read 'schedule constant'
    optimizer adamw { schedule constant }
                      ^~~~~~~~~~~~~~~~~
help: the form is 'schedule KIND { OPTIONS }'
)"},
    {"ScheduleTwice",
     R"(plan p {
  loss loss
  optimizer adamw {
    schedule constant { warmup 1 }
    schedule constant { warmup 2 }
  }
  rest: replicate
}
)",
     R"(p.plan:5:5: error: option 'schedule' is repeated
      schedule constant { warmup 2 }
      ^~~~~~~~~~~~~~~~~
p.plan:4:5: note: the first one is here
      schedule constant { warmup 1 }
      ^~~~~~~~~~~~~~~~~
)"},
    {"StepsOfConstant",
     R"(plan p {
  loss loss
  optimizer adamw { schedule constant { steps 10 } }
  rest: replicate
}
)",
     R"(p.plan:3:41: error: 'schedule constant' has no option 'steps'
    optimizer adamw { schedule constant { steps 10 } }
                                          ^~~~~
help: options of 'schedule constant': 'warmup'
)"},
    {"DecayOfCosine",
     R"(plan p {
  loss loss
  optimizer adamw { schedule cosine { steps 10; decay 2 } }
  rest: replicate
}
)",
     R"(p.plan:3:49: error: 'schedule cosine' has no option 'decay'
    optimizer adamw { schedule cosine { steps 10; decay 2 } }
                                                  ^~~~~
help: options of 'schedule cosine': 'warmup', 'steps', 'min'
)"},
    {"ScheduleWithoutSteps",
     R"(plan p {
  loss loss
  optimizer adamw { schedule wsd { warmup 10 } }
  rest: replicate
}
)",
     R"(p.plan:3:21: error: 'schedule wsd' needs 'steps'
    optimizer adamw { schedule wsd { warmup 10 } }
                      ^~~~~~~~~~~~
help: add 'steps NUMBER', the steps of the whole training
p.plan:3:21: error: 'schedule wsd' needs 'decay'
    optimizer adamw { schedule wsd { warmup 10 } }
                      ^~~~~~~~~~~~
help: add 'decay NUMBER', how many of the last steps lower lr
)"},
    {"ScheduleNumbers",
     R"(plan p {
  loss loss
  optimizer adamw { schedule wsd { warmup -1; steps 0; decay 0; min 1.5 } }
  rest: replicate
}
)",
     R"(p.plan:3:43: error: warmup is at least 0, and this is -1
    optimizer adamw { schedule wsd { warmup -1; steps 0; decay 0; min 1.5 } }
                                            ^~
p.plan:3:53: error: steps is at least 1, and this is 0
    optimizer adamw { schedule wsd { warmup -1; steps 0; decay 0; min 1.5 } }
                                                      ^
p.plan:3:62: error: decay is at least 1, and this is 0
    optimizer adamw { schedule wsd { warmup -1; steps 0; decay 0; min 1.5 } }
                                                               ^
p.plan:3:69: error: min is a part of lr, from 0 to 1, and this is 1.5
    optimizer adamw { schedule wsd { warmup -1; steps 0; decay 0; min 1.5 } }
                                                                      ^~~
help: 'min 0.1' ends at a tenth of lr
)"},
    {"ScheduleForms",
     R"(plan p {
  loss loss
  optimizer adamw { schedule linear { warmup 0.1; steps 1 MiB; min low } }
  rest: replicate
}
)",
     R"(p.plan:3:39: error: cannot read 'warmup 0.1'
    optimizer adamw { schedule linear { warmup 0.1; steps 1 MiB; min low } }
                                        ^~~~~~~~~~
help: the form is 'warmup STEPS'
p.plan:3:51: error: cannot read 'steps 1 MiB'
    optimizer adamw { schedule linear { warmup 0.1; steps 1 MiB; min low } }
                                                    ^~~~~~~~~~~
help: the form is 'steps STEPS'
p.plan:3:64: error: cannot read 'min low'
    optimizer adamw { schedule linear { warmup 0.1; steps 1 MiB; min low } }
                                                                 ^~~~~~~
help: the form is 'min NUMBER'
)"},
    {"WarmupIsTooLong",
     R"(plan p {
  loss loss
  optimizer adamw { schedule linear { steps 100; warmup 200 } }
  rest: replicate
}
)",
     R"(p.plan:3:57: error: warmup 200 takes more than steps 100
    optimizer adamw { schedule linear { steps 100; warmup 200 } }
                                                          ^~~
p.plan:3:45: note: 'steps' is stated here
    optimizer adamw { schedule linear { steps 100; warmup 200 } }
                                              ^~~
help: 'steps' counts the whole training, with warmup and decay
)"},
    {"DecayIsTooLong",
     R"(plan p {
  loss loss
  optimizer adamw { schedule wsd { steps 100; decay 200 } }
  rest: replicate
}
)",
     R"(p.plan:3:53: error: decay 200 takes more than steps 100
    optimizer adamw { schedule wsd { steps 100; decay 200 } }
                                                      ^~~
p.plan:3:42: note: 'steps' is stated here
    optimizer adamw { schedule wsd { steps 100; decay 200 } }
                                           ^~~
help: 'steps' counts the whole training, with warmup and decay
)"},
    {"WarmupAndDecayAreTooLong",
     R"(plan p {
  loss loss
  optimizer adamw {
    schedule wsd { warmup 60; decay 50; steps 100 }
  }
  rest: replicate
}
)",
     R"(p.plan:4:27: error: warmup 60 and decay 50 take more than steps 100
      schedule wsd { warmup 60; decay 50; steps 100 }
                            ^~
p.plan:4:37: note: 'decay' is stated here
      schedule wsd { warmup 60; decay 50; steps 100 }
                                      ^~
p.plan:4:47: note: 'steps' is stated here
      schedule wsd { warmup 60; decay 50; steps 100 }
                                                ^~~
help: 'steps' counts the whole training, with warmup and decay
)"},
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Schedule, MessageTest, testing::ValuesIn(scheduleCases), MessageTest::nameOf);
