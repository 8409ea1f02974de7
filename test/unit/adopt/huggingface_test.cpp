//===- huggingface_test.cpp - the parallel plan of a transformers model ---===//

#include "compiler/adopt/huggingface.h"
#include "test/unit/adopt/adopt_test.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

class HuggingFace : public test::AdoptTest {
protected:
  std::optional<AdoptedPlan> adopt(const std::string &text) {
    return adoptHuggingFace(source(text), model, "tp", diagnostics);
  }
  /// Clauses of the first layer and of modules outside of layers: "self_attn.q_proj: colwise tp".
  std::vector<std::string> clauses(const std::string &text) {
    std::vector<std::string> lines;
    std::optional<AdoptedPlan> plan = adopt(text);
    for (const AdoptedStyle &style : plan ? *plan->styles : std::vector<AdoptedStyle>()) {
      llvm::StringRef path = style.module;
      if (!path.starts_with("model.layers.1")) {
        path.consume_front("model.layers.0.");
        lines.push_back(path.str() + ": " + style.clause);
      }
    }
    return lines;
  }
  ModelOutline model = test::mixture();
};

} // namespace

TEST_F(HuggingFace, StylesOfBothErasMeanTheSame) {
  const std::pair<const char *, const char *> styles[] = {{"colwise", "colwise tp"},
                                                          {"local_colwise", "colwise tp"},
                                                          {"colwise_rep", "colwise tp, output replicate"},
                                                          {"colwise_gather_output", "colwise tp, output replicate"},
                                                          {"rowwise", "rowwise tp"},
                                                          {"local_rowwise", "rowwise tp"},
                                                          {"rowwise_rep", "rowwise tp"},
                                                          {"rowwise_split_input", "rowwise tp"},
                                                          {"embedding_rowwise", "rowwise tp"},
                                                          {"embedding_colwise", "colwise tp, output replicate"},
                                                          {"packed_colwise", "colwise tp parts 2"},
                                                          {"local_packed_rowwise", "rowwise tp parts 2"},
                                                          {"packed_rowwise", "rowwise tp parts 2"},
                                                          {"sequence_parallel", "sequence tp"},
                                                          {"replicate", "replicate"},
                                                          {"replicated_with_grad_allreduce", "replicate"},
                                                          {"replicate_with_grad_allreduce", "replicate"},
                                                          {"mla_kv_a_proj", "replicate"}};
  for (const auto &[name, clause] : styles)
    EXPECT_THAT(clauses(std::string("{\"tp_plan\": {\"lm_head\": \"") + name + "\"}}"),
                ElementsAre(std::string("lm_head: ") + clause));
}

TEST_F(HuggingFace, ParametersAreDividedByTheirDims) {
  EXPECT_THAT(
      clauses(R"({"base_model_tp_plan": {
      "layers.*.self_attn.sinks": "local_rowwise",
      "layers.*.self_attn.q_proj": "colwise",
      "layers.*.mlp.experts.gate_up_proj": "packed_colwise",
      "layers.*.mlp.experts.down_proj": "rowwise",
      "layers.*.mlp.experts": "moe_tp_experts"}})"),
      ElementsAre("self_attn: parameter { sinks: split 0 over tp }", "self_attn.q_proj: colwise tp",
                  "mlp.experts: parameter { gate_up_proj: split 1 over tp parts 2; down_proj: split 2 over tp }"));
  EXPECT_THAT(
      clauses(R"({"base_model_tp_plan": {
      "layers.*.mlp.experts.gate_up_proj": "packed_rowwise", "layers.*.mlp.experts.down_proj": "colwise"}})"),
      ElementsAre("mlp.experts: parameter { gate_up_proj: split 2 over tp parts 2; down_proj: split 1 over tp }"))
      << "Llama 4 stores input features first";
}

// transformers looks for the rule of a parameter first, and then for that of its module, wherever they stand.
TEST_F(HuggingFace, ARuleOfAParameterHoldsBesideThatOfItsModule) {
  const char *clause = "self_attn.q_proj: replicate, parameter { weight: split 0 over tp }";
  for (const char *plan : {R"("lm_head": "replicate", "model.layers.0.self_attn.q_proj.weight": "colwise",
                              "model.layers.0.self_attn.q_proj": "replicate")",
                           R"("lm_head": "replicate", "model.layers.0.self_attn.q_proj": "replicate",
                              "model.layers.0.self_attn.q_proj.weight": "colwise")"}) {
    std::string text = std::string("{\"tp_plan\": {") + plan + "}}";
    EXPECT_THAT(clauses(text), ElementsAre(clause, "lm_head: replicate"));
    std::optional<AdoptedPlan> adopted = adopt(text);
    ASSERT_TRUE(adopted) << diagnostics.text();
    const AdoptedStyle &style = adopted->styles->front();
    EXPECT_TRUE(style.divides);
    EXPECT_EQ(style.from, "colwise");
  }
}

TEST_F(HuggingFace, OneRuleHoldsForAParameter) {
  // transformers has one dictionary, in which a later plan replaces the rules of an earlier one.
  std::string text = R"({"base_model_tp_plan": {"layers.*.self_attn.sinks": "colwise"},
                         "tp_plan": {"model.layers.*.self_attn.sinks": "replicate"}})";
  EXPECT_THAT(clauses(text), ElementsAre("self_attn: parameter { sinks: replicate }"));
  std::optional<AdoptedPlan> plan = adopt(text);
  ASSERT_TRUE(plan) << diagnostics.text();
  EXPECT_FALSE(plan->styles->front().divides);
  EXPECT_EQ(plan->styles->front().from, "replicate");
  EXPECT_THAT(clauses(R"({"tp_plan": {"model.layers.*.self_attn.sinks": "replicate",
                                      "model.layers.0.self_attn.sinks": "colwise"}})"),
              ElementsAre("self_attn: parameter { sinks: split 0 over tp }"));
}

TEST_F(HuggingFace, SaysWhereItIsFrom) {
  std::optional<AdoptedPlan> plan = adopt(
      R"({"model": "M", "transformers": "5.1.0", "tp_plan": {"lm_head": "colwise_rep", "model.layers.*.mlp.experts": "gather"}})");
  ASSERT_TRUE(plan) << diagnostics.text();
  EXPECT_THAT(
      plan->notes,
      ElementsAre("Styles: the parallel plan of 'M' in transformers 5.1.0; other modules are replicated there, too.",
                  "'gather' of 'model.layers.*.mlp.experts' sums results over ranks: that follows from layouts."));
  EXPECT_THAT(plan->wholeInputs, ElementsAre("model.layers.0.mlp.experts", "model.layers.1.mlp.experts"));
  ASSERT_THAT(*plan->styles, SizeIs(1));
  EXPECT_EQ(plan->styles->front().from, "colwise_rep");
  plan = adopt(R"({"tp_plan": {"lm_head": "colwise"}})");
  EXPECT_EQ(plan->notes.front(), "Styles: the parallel plan of 'f'; other modules are replicated there, too.");
  EXPECT_EQ(plan->styles->front().from, "");
}

TEST_F(HuggingFace, ExpertsAreLeftOutByName) {
  std::optional<AdoptedPlan> plan = adopt("{\"base_model_tp_plan\": {\"layers.*.self_attn.q_proj\": \"colwise\"},\n"
                                          " \"base_model_ep_plan\": {\n"
                                          "  \"layers.*.mlp.router\": \"ep_router\",\n"
                                          "  \"layers.*.mlp.experts.gate_up_proj\": \"grouped_gemm\",\n"
                                          "  \"layers.*.mlp.experts.down_proj\": \"grouped_gemm\"}}");
  ASSERT_TRUE(plan) << diagnostics.text();
  EXPECT_THAT(said(), ElementsAre("3:26: warning: 'ep_router' tells each rank the tokens of its experts: left "
                                  "out of 'model.layers.*.mlp.router'",
                                  "help: state 'expert tp' for the modules that hold the experts",
                                  "4:40: warning: 'grouped_gemm' distributes experts over ranks: left out of "
                                  "'model.layers.*.mlp.experts.gate_up_proj', "
                                  "'model.layers.*.mlp.experts.down_proj'",
                                  "help: state 'expert tp' for the modules that hold the experts"));
  ASSERT_THAT(plan->whole, SizeIs(4));
  EXPECT_EQ(plan->whole[0].reason, "'ep_router' tells each rank the tokens of its experts: 'expert AXIS' does");
  // The statements of tensor parallelism apply.
  EXPECT_THAT(clauses(R"({"tp_plan": {"model.layers.*.mlp.experts.down_proj": "rowwise"},
                          "ep_plan": {"model.layers.*.mlp.experts.down_proj": "grouped_gemm"}})"),
              ElementsAre("mlp.experts: parameter { down_proj: split 2 over tp }"));
}

TEST_F(HuggingFace, WhatMatchesNothingIsTold) {
  EXPECT_TRUE(adopt("{\"tp_plan\": {\"lm_head\": \"colwise\",\n \"model.layers.*.self_attn.q_prj\": \"colwise\",\n "
                    "\"xyz\": \"rowwise\"}}"));
  EXPECT_THAT(said(),
              ElementsAre("2:2: warning: 'model.layers.*.self_attn.q_prj' matches no module and no parameter of "
                          "the model",
                          "help: the nearest name is 'model.layers.*.self_attn.q_proj'",
                          "3:2: warning: 'xyz' matches no module and no parameter of the model"));
  EXPECT_FALSE(adopt("{\"tp_plan\": {\"xyz\": \"rowwise\"}}"));
  EXPECT_THAT(said(), ElementsAre("1:14: warning: 'xyz' matches no module and no parameter of the model",
                                  "error: no name of the parallel plan is one of the model",
                                  "help: without --from styles are found from the graph"));
}

TEST_F(HuggingFace, UnknownStylesAreErrors) {
  EXPECT_FALSE(adopt("{\"tp_plan\": {\"lm_head\": \"colwize\"}}"));
  ASSERT_THAT(said(), SizeIs(3));
  EXPECT_EQ(said()[0], "1:25: error: unknown style 'colwize' of 'lm_head'");
  EXPECT_EQ(said()[1], "help: did you mean 'colwise'?");
  EXPECT_EQ(said()[2],
            "help: styles are colwise, rowwise, colwise_rep, colwise_gather_output, rowwise_rep, rowwise_split_input, "
            "local_colwise, local_rowwise, packed_colwise, local_packed_colwise, packed_rowwise, local_packed_rowwise, "
            "embedding_rowwise, embedding_colwise, sequence_parallel, replicate, replicated_with_grad_allreduce, "
            "replicate_with_grad_allreduce, mla_kv_a_proj, gather, all_reduce, moe_tp_experts, moe_identity_expert, "
            "local, isolated, local_params, all_reduce_backward, grouped_gemm, ep_dispatch_experts, ep_router, "
            "megamoe_experts, megamoe_router");
  EXPECT_FALSE(adopt("{\"tp_plan\": {\"lm_head\": [1]}}"));
  EXPECT_EQ(said()[0], "1:14: error: unknown style of 'lm_head'");
  EXPECT_FALSE(adopt("{\"tp_plan\": \"auto\"}"));
  EXPECT_THAT(said(), ElementsAre("1:13: error: 'tp_plan' is not a map from names to styles"));
}

TEST_F(HuggingFace, AConfigurationWithoutAPlan) {
  for (const char *text : {"{\"model_type\": \"gpt2\"}", "{\"base_model_tp_plan\": null, \"tp_plan\": {}}", ""}) {
    EXPECT_FALSE(adopt(text));
    EXPECT_THAT(said(),
                ElementsAre("error: the configuration has no parallel plan: 'base_model_tp_plan' and 'tp_plan' are "
                            "not there, or empty",
                            "help: without --from styles are found from the graph"));
  }
}

TEST_F(HuggingFace, AnAmbiguousStartIsAsked) {
  EXPECT_FALSE(adopt("{\"base_model_tp_plan\": {\"q_proj\": \"colwise\"}}"));
  EXPECT_THAT(said(), ElementsAre("1:2: error: the names of 'base_model_tp_plan' fit below several modules: "
                                  "'model.layers.0.self_attn', 'model.layers.1.self_attn'",
                                  "help: \"base_model_prefix\": \"model.layers.0.self_attn\" says which"));
  EXPECT_THAT(clauses("{\"base_model_prefix\": \"model.layers.0.self_attn\", \"base_model_tp_plan\": {\"q_proj\": "
                      "\"colwise\"}}"),
              ElementsAre("self_attn.q_proj: colwise tp"));
}
