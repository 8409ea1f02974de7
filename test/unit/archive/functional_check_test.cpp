//===- functional_check_test.cpp - in-place graphs are rejected -*- C++ -*-===//

#include "compiler/archive/functional_check.h"
#include "test/unit/archive/test_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan::archive;
using namespace meshplan::archive::testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace {

const std::string help = "\nhelp: call 'ep = ep.run_decompositions({})' before torch.export.save";

TEST(FunctionalCheck, KnowsInPlaceOperatorsByName) {
  for (const char *target : {"aten.add_.Tensor", "aten.index_put_.default", "aten.copy_.default", "aten.__ior__.Tensor",
                             "aten.add.out", "aten.split_copy.Tensor_out", "custom.update_.default"})
    EXPECT_TRUE(writesOperand(target)) << target;
  for (const char *target :
       {"aten.add.Tensor", "aten.__and__.Tensor", "aten.index_put.default", "aten.__or__.Tensor",
        "aten._to_copy.default", "aten.detach_.default", "transformers.grouped_mm_fallback.default"})
    EXPECT_FALSE(writesOperand(target)) << target;
}

TEST(FunctionalCheck, RefusesAGraphThatWritesInPlace) {
  TestModel model = linearModel();
  Json &node = model.graph.node("torch.ops.aten.add_.Tensor", {tensor("self", "linear")}, "add_", {2, 4});
  node["metadata"] = {{"nn_module_stack", "L__self__,,Net;L__self__proj,proj,Linear"},
                      {"stack_trace", "  File \"net.py\", line 9, in forward\n    x += y"}};
  for (int i = 0; i < 4; ++i)
    model.graph.node("torch.ops.aten.zero_.default", {tensor("self", "x")}, "zero_" + std::to_string(i), {2, 3});
  EXPECT_THAT(errorsOf(model), ElementsAre("'FILE': the graph writes in place\n"
                                           "note: 'aten.add_.Tensor' in module 'proj', net.py:9\n"
                                           "note: 'aten.zero_.default'\n"
                                           "note: 'aten.zero_.default'\n"
                                           "note: and 2 more" +
                                           help));
}

TEST(FunctionalCheck, RefusesTablesThatAnEmbeddingScales) {
  TestModel model = linearModel();
  model.graph.node("torch.ops.aten.embedding_renorm_.default", {tensor("self", "x")}, "renorm", {2, 3});
  EXPECT_THAT(errorsOf(model),
              ElementsAre("'FILE': an embedding with 'max_norm' changes its table in the forward pass\n"
                          "note: 'aten.embedding_renorm_.default'\n"
                          "help: leave max_norm out and scale the rows that are looked up, 'x * (max_norm / "
                          "x.norm(dim=-1, keepdim=True)).clamp(max=1)', or scale the table between steps"));
}

/// A position in the memory of the traced tensor is another one in the memory of a rank.
TEST(FunctionalCheck, RefusesPlacesInMemory) {
  TestModel model = linearModel();
  model.graph.node("torch.ops.aten.as_strided.default", {tensor("self", "x")}, "strided", {2, 2});
  EXPECT_THAT(errorsOf(model), ElementsAre("'FILE': the graph reads elements by their position in memory\n"
                                           "note: 'aten.as_strided.default'\n"
                                           "help: write it with slices, unfold or gather instead of as_strided"));
}

TestModel normModel(const std::string &target, const std::string &flag, bool training) {
  TestModel model;
  model.buffer("norm.running_mean", {3});
  model.input("x", {2, 3});
  model.graph.node(
      target,
      {tensor("input", "x"), tensor("running_mean", "b_norm_running_mean"), argument(flag, {{"as_bool", training}})},
      "y", {2, 3});
  model.output("y");
  return model;
}

TEST(FunctionalCheck, RefusesHiddenUpdatesOfStatistics) {
  EXPECT_THAT(
      errorsOf(normModel("torch.ops.aten.batch_norm.default", "training", true)),
      ElementsAre("'FILE': the graph updates running statistics of a normalization as a side effect\nnote: "
                  "'aten.batch_norm.default'\nhelp: call 'ep = ep.run_decompositions({})' before torch.export.save"));
  EXPECT_THAT(errorsOf(normModel("torch.ops.aten.instance_norm.default", "use_input_stats", true)),
              ElementsAre("'FILE': the graph updates running statistics of an instance norm, which no archive "
                          "lists\nnote: 'aten.instance_norm.default'\nhelp: create the module with "
                          "'track_running_stats=False', or call 'model.eval()' before torch.export.export"));
}

TEST(FunctionalCheck, AnArchiveIsDecomposedOnce) {
  TestModel model = linearModel();
  model.verifiers = {"ATEN"};
  model.graph.node("torch.ops.aten.zero_.default", {tensor("self", "x")}, "zero_", {2, 3});
  EXPECT_THAT(errorsOf(model), ElementsAre("'FILE': the graph writes in place\n"
                                           "note: 'aten.zero_.default'\n"
                                           "help: write it without changes in place, or call 'model.eval()' before "
                                           "torch.export.export"));
}

TEST(FunctionalCheck, AcceptsNormalizationWithoutUpdates) {
  EXPECT_THAT(errorsOf(normModel("torch.ops.aten.batch_norm.default", "training", false)), IsEmpty());
  TestModel model = normModel("torch.ops.aten.batch_norm.default", "training", true);
  model.graph.json["nodes"][0]["inputs"][1]["arg"] = {{"as_none", true}};
  EXPECT_THAT(errorsOf(model), IsEmpty());
}

} // namespace
