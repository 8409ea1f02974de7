//===- precision_test.cpp - dtypes of a training --------------------------===//

#include "test/unit/frontend/bind/training/training_plan.h"

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// What the other statements need to be of use.
const std::string whole = "loss loss\noptimizer adamw\ndata dp { shard parameters, gradients, optimizer }\n";

TEST(BindPrecision, EachValueHasADtype) {
  BoundPlan plan =
      bound(whole + "precision { compute bf16; storage f32; gather f16; reduce f64; master f32; state bf16 }");
  ASSERT_TRUE(plan.precision);
  EXPECT_EQ(plan.precision->compute, "bf16");
  EXPECT_EQ(plan.precision->storage, "f32");
  EXPECT_EQ(plan.precision->gather, "f16");
  EXPECT_EQ(plan.precision->reduce, "f64");
  EXPECT_EQ(plan.precision->master, "f32");
  EXPECT_EQ(plan.precision->state, "bf16");
  EXPECT_EQ(bound(whole + "precision { master f32 }").precision->compute, "") << "as the archive has it";
}

TEST(BindPrecision, ADtypeIsOneKnownWord) {
  for (const char *option :
       {"master", "master 32", "master f32, f16", "master f32 f16", "master \"f32\"", "master f32 { }"}) {
    std::vector<std::string> said = faults(whole + "precision { " + std::string(option) + " }");
    ASSERT_EQ(said.size(), 2u) << option;
    EXPECT_EQ(said[1], "the form is 'master DTYPE'") << option;
  }
  EXPECT_THAT(faults("precision { reduce bf61 }"), ElementsAre("unknown dtype 'bf61'", "did you mean 'bf16'?"));
  EXPECT_THAT(faults("precision { reduce int8 }"),
              ElementsAre("unknown dtype 'int8'", "dtypes: 'f64', 'f32', 'bf16', 'f16'"));
}

TEST(BindPrecision, FloatsOfEightBitsAreRefusedByName) {
  for (const char *name : {"f8", "fp8", "FP8", "float8", "e4m3", "e5m2", "E4M3FN", "f8e4m3", "fp8_e5m2",
                           "float8_e4m3fn", "float8_e5m2fnuz", "float8_e8m0fnu"})
    EXPECT_THAT(faults("precision { compute " + std::string(name) + " }"),
                ElementsAre("dtype '" + std::string(name) +
                                "' is not supported: FP8 needs a scale for each tensor, and a plan has none",
                            "dtypes: 'f64', 'f32', 'bf16', 'f16'"));
}

TEST(BindPrecision, ADtypeIsForSomethingThatThePlanHas) {
  EXPECT_THAT(faults("precision { compute bf16; storage f32; reduce f32 }"), IsEmpty());
  EXPECT_THAT(faults("precision { master f32 }").front(), HasSubstr("and the plan has none"));
  EXPECT_THAT(faults("precision { state f32 }").front(), HasSubstr("and the plan has none"));
  EXPECT_THAT(faults("precision { gather f32 }").front(), HasSubstr("no data block shards parameters"));
  EXPECT_THAT(faults("data dp { shard gradients, optimizer }\nprecision { gather f32 }").size(), 2u);
  EXPECT_THAT(faults("data tp on lm_head { }\ndata dp { shard parameters, gradients, optimizer }\n"
                     "precision { gather f32 }"),
              IsEmpty());
}

} // namespace
