//===- precision_test.cpp - dtypes of a training --------------------------===//

#include "test/unit/frontend/bind/training/training_plan.h"

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// The other statements that these options need.
const std::string sharded = "loss loss\noptimizer adamw\ndata dp { shard parameters, gradients, optimizer }\n";

TEST(BindPrecision, EachValueHasADtype) {
  BoundPlan plan =
      bound(sharded + "precision { compute bf16; storage f32; gather f16; reduce f64; master f32; state bf16 }");
  ASSERT_TRUE(plan.precision);
  EXPECT_EQ(plan.precision->compute, "bf16");
  EXPECT_EQ(plan.precision->storage, "f32");
  EXPECT_EQ(plan.precision->gather, "f16");
  EXPECT_EQ(plan.precision->reduce, "f64");
  EXPECT_EQ(plan.precision->master, "f32");
  EXPECT_EQ(plan.precision->state, "bf16");
  EXPECT_EQ(bound(sharded + "precision { master f32 }").precision->compute, "") << "as the archive has it";
}

TEST(BindPrecision, ADtypeIsOneKnownWord) {
  for (const char *option :
       {"master", "master 32", "master f32, f16", "master f32 f16", "master \"f32\"", "master f32 { }"}) {
    std::vector<std::string> said = faults(sharded + "precision { " + std::string(option) + " }");
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

/// A model whose parameters have these dtypes in turn.
ModelOutline ofDtypes(std::vector<std::string> dtypes) {
  ModelOutline model = llama(1);
  for (size_t i = 0; i < model.parameters.size(); ++i)
    model.parameters[i].dtype = dtypes[i % dtypes.size()];
  return model;
}

TEST(BindPrecision, ProductsAreNarrowerThanTheModelOrAsItHasThem) {
  const struct {
    std::vector<std::string> archive;
    const char *compute;
    bool isRight;
  } cases[] = {{{"f32"}, "bf16", true},    {{"f32"}, "f16", true},          {{"f32"}, "f32", true},
               {{"f64"}, "f64", true},     {{"bf16"}, "bf16", true},        {{"f32", "bf16"}, "bf16", true},
               {{"f32"}, "f64", false},    {{"f64"}, "f32", false},         {{"f64"}, "bf16", false},
               {{"bf16"}, "f16", false},   {{"f32", "f16"}, "bf16", false}, {{"bf16"}, "f32", false},
               {{"f32", ""}, "bf16", true}}; // compute does not apply to integers
  for (const auto &[archive, compute, isRight] : cases) {
    std::string options = "compute " + std::string(compute) + "; loss_scale 8";
    std::vector<std::string> said = faults(sharded + "precision { " + options + " }", ofDtypes(archive));
    EXPECT_EQ(said.empty(), isRight) << archive.front() << ": " << compute;
  }
  EXPECT_THAT(faults("precision { compute bf16 }", ofDtypes({"f32", "f16"})),
              ElementsAre("'compute bf16' is for models in f32, and parameter 'model.layers.0.self_attn.q_proj.weight' "
                          "is f16",
                          "export the model in f32, or remove 'compute bf16': a model computes in the dtypes that it "
                          "was exported in"));
  EXPECT_THAT(faults("precision { compute f64 }", ofDtypes({"f32"})),
              ElementsAre("'compute f64' is for models in f64, and parameter 'model.embed_tokens.weight' is f32",
                          "export the model in f64, or remove 'compute f64': a model computes in the dtypes that it "
                          "was exported in"));
}

TEST(BindPrecision, SumsOfActivationsAreSentAsTheModelComputesOrInF32) {
  const struct {
    std::vector<std::string> archive;
    const char *options;
    bool isRight;
  } cases[] = {{{"bf16"}, "activations bf16", true},
               {{"bf16"}, "activations f32", true},
               {{"f16"}, "activations f16", true},
               {{"f16"}, "activations bf16", false},
               {{"f32", "bf16"}, "activations bf16", true},
               {{"f32"}, "activations bf16; compute bf16", true},
               {{"f32"}, "activations bf16", false},
               {{"f32"}, "activations f32", false},
               {{"f32"}, "activations f16; compute bf16", false},
               {{"bf16"}, "activations f64", false},
               {{"f32"}, "activations f32; compute bf16", true}};
  for (const auto &[archive, options, isRight] : cases)
    EXPECT_EQ(faults("precision { " + std::string(options) + " }", ofDtypes(archive)).empty(), isRight) << options;
  EXPECT_THAT(
      faults("precision { activations f16 }", ofDtypes({"bf16", "f32"})),
      ElementsAre("'activations f16' does not fit a model that computes in 'bf16', 'f32'",
                  "partial sums are sent as they are, or in f32: write 'activations f32' or 'activations bf16'"));
  EXPECT_THAT(faults("precision { activations bf16 }", ofDtypes({"f32"})),
              ElementsAre("'activations bf16' does not fit a model that computes in 'f32'",
                          "remove 'activations bf16', or export the model in 16 bits, or add 'compute bf16'"));
  EXPECT_THAT(faults("precision { activations f32 }", ofDtypes({"f32"})),
              ElementsAre("'activations f32' has no effect: the model computes in 'f32', and no sum is of 16 bits",
                          "remove 'activations f32', or export the model in 16 bits, or add 'compute bf16'"));
}

TEST(BindPrecision, AMasterKeepsMoreThanItsParameter) {
  const struct {
    std::vector<std::string> archive;
    const char *options;
    bool isRight;
  } cases[] = {{{"bf16"}, "master f32", true},
               {{"f32"}, "master f64", true},
               {{"f32"}, "master f32", true}, // states the default
               {{"f32"}, "master bf16", false},
               {{"f32"}, "master f16", false},
               {{"f64"}, "master f32", false},
               {{"bf16"}, "master f16", false}, // a different significand, but not a longer one
               {{"bf16"}, "master bf16", true},
               {{"f32", "bf16"}, "master f32", true},
               {{"f32", "bf16"}, "master f16", false},
               {{"f32", "bf16"}, "master bf16", true},
               {{"f32", ""}, "master bf16", false}, // integers have no master
               {{""}, "master bf16", true},
               {{"f32"}, "storage bf16; master f32", true},
               {{"f32"}, "storage f32; master f32", true},
               {{"bf16"}, "master bf16; storage f32", false},
               {{"f32"}, "storage bf16; master bf16", true}};
  for (const auto &[archive, options, isRight] : cases) {
    std::vector<std::string> said = faults(sharded + "precision { " + std::string(options) + " }", ofDtypes(archive));
    EXPECT_EQ(said.empty(), isRight) << archive.front() << ": " << options;
  }
}

TEST(BindPrecision, AMasterThatKeepsNothingIsNamedWithItsParameter) {
  EXPECT_THAT(faults(sharded + "precision { master bf16 }", ofDtypes({"f32"})),
              ElementsAre("'master bf16' has no effect: parameter 'model.embed_tokens.weight' is f32, and no other is "
                          "narrower",
                          "write 'master f64', or remove 'master bf16'"));
  EXPECT_THAT(faults(sharded + "precision { master f16 }", ofDtypes({"f64", "bf16"})),
              ElementsAre(HasSubstr("parameter 'model.layers.0.self_attn.q_proj.weight' is bf16"),
                          "write 'master f32', or remove 'master f16'"));
  EXPECT_EQ(faults(sharded + "precision { master f32 }", ofDtypes({"f64"})).back(), "remove 'master f32'");
  EXPECT_THAT(
      faults(sharded + "freeze model.embed_tokens\nprecision { master bf16 }", ofDtypes({"f32", "f64"})).front(),
      HasSubstr("parameter 'model.layers.0.self_attn.k_proj.weight' is f32"))
      << "frozen ones have no master";
}

TEST(BindPrecision, WhatNoParameterIsTrainedForIsAnError) {
  EXPECT_THAT(faults("loss loss\noptimizer adamw\nfreeze \"\"\nprecision { master f16; state f32 }").front(),
              testing::StartsWith("nothing is left to train"));
  EXPECT_THAT(faults("precision { master f16 }"), testing::SizeIs(2)) << "no optimizer, and that alone";
}

TEST(BindPrecision, AStateIsKeptByTheOptimizer) {
  for (const char *optimizer : {"adamw", "adam", "sgd { momentum 0.9 }", "sgd { group lm_head { momentum 0.9 } }"})
    EXPECT_THAT(faults("loss loss\noptimizer " + std::string(optimizer) + "\nprecision { state f32 }"), IsEmpty())
        << optimizer;
  EXPECT_THAT(faults("loss loss\noptimizer sgd\nprecision { state f32 }"),
              ElementsAre("'state' is the dtype of optimizer states, and 'sgd' without momentum has none",
                          "add 'momentum NUMBER' to the optimizer, or remove 'state f32'"));
  EXPECT_EQ(faults("loss loss\noptimizer sdg\nprecision { state f32 }").size(), 2u) << "no known optimizer";
}

} // namespace
