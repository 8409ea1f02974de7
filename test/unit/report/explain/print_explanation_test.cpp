//===- print_explanation_test.cpp - an explanation as text ----------------===//

#include "compiler/report/explain/explanation.h"
#include "gtest/gtest.h"

using namespace meshplan;

namespace {

class PrintExplanationTest : public testing::Test {
protected:
  PrintExplanationTest() {
    file = sources.add("a.plan", "up: colwise tp\nx over dp\n").file();
    colwise = {{file, 1, 5, 15}, "colwise tp"};
    input = {{file, 2, 1, 2}, "x"};
  }

  std::string print(const Explanation &explanation) const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    printExplanation(explanation, sources, stream);
    return text;
  }

  Sources sources;
  int32_t file;
  Statement colwise, input;
};

/// The end of an explanation whose last statement is colwise, without collectives.
constexpr char colwiseAlone[] = R"(a.plan:1:5: colwise tp
  up: colwise tp
      ^~~~~~~~~~

collectives, bytes that a rank sends and receives
  none
)";

} // namespace

TEST_F(PrintExplanationTest, SaysWhatThePlanMakesOfTheLoss) {
  Explanation explanation{"output", "loss", {}, TensorExplanation{"f32", "[]", {}, {}, 4, 4}, {}};
  explanation.loss = {colwise, "the mean over all"};
  EXPECT_EQ(print(explanation), R"(output loss
  shape      [] f32
  layout     []
  each rank  [], 4 B of 4 B

whole on every rank

the loss is the mean over all
)" + std::string(colwiseAlone));
}

TEST_F(PrintExplanationTest, SaysWhichShardsHoldWhat) {
  TensorExplanation tensor{"f32",
                           "[9 over (dp, tp), 5]",
                           {{9, {{"dp", 2}, {"tp", 2}}, {input, colwise}, {3, 2, 2, 2}}, {5, {}, {}, {5}}},
                           {},
                           180,
                           60};
  Explanation explanation{"parameter", "up.weight", {"up.weight", "tied", "twice"}, tensor, colwise};
  EXPECT_EQ(print(explanation), R"(parameter up.weight
  shape      [9, 5] f32
  layout     [9 over (dp, tp), 5]
  each rank  [2..3, 5], 60 B of 180 B
  tied to    tied
             twice

dim 0 (9) is split over dp = 2, tp = 2: 3 on 1 shard, 2 on 3
a.plan:2:1: x
  x over dp
  ^
)" + std::string(colwiseAlone));
}

TEST_F(PrintExplanationTest, SaysWhatIsPartialAndWhole) {
  TensorExplanation largest{
      "f32", "[4], partial over tp", {{4, {}, {}, {4}}}, PartialExplanation{"max", {{"tp", 2}}, {colwise}}, 16, 16};
  Explanation explanation{"module output", "m:output[0]", {}, largest, {}, {}, {{"output", "y", "[4]"}}};
  EXPECT_EQ(print(explanation), R"(module output m:output[0]
  shape      [4] f32
  layout     [4], partial over tp
  each rank  [4], 16 B of 16 B
  to         output y

partial over tp = 2: the value is the max of the ranks'
)" + std::string(colwiseAlone));
  explanation.tensor->partial.reset();
  explanation.ends.clear();
  EXPECT_NE(print(explanation).find("\nwhole on every rank\n\ncollectives"), std::string::npos);
}

TEST_F(PrintExplanationTest, FlatStorageIsNotWhole) {
  TensorExplanation flat{"f32",
                         "[9, 5], flat over dp",
                         {{9, {}, {}, {9}}, {5, {}, {}, {5}}},
                         {},
                         180,
                         92,
                         FlatExplanation{{{"dp", 2}}, {colwise}, 45, 23}};
  EXPECT_EQ(print({"parameter", "w", {"w"}, flat}), R"(parameter w
  shape      [9, 5] f32
  layout     [9, 5], flat over dp
  each rank  23 elements, 92 B of 180 B

the 45 elements of a rank are sharded over dp = 2: at most 23 on each
)" + std::string(colwiseAlone));
}

TEST_F(PrintExplanationTest, TheRootModuleHasAName) {
  EXPECT_EQ(print({"module", ""}), "module \"\"\n\ncollectives, bytes that a rank sends and receives\n  none\n");
  EXPECT_TRUE(llvm::StringRef(print({"module output", ":output[0]"})).starts_with("module output \"\":output[0]\n"));
}

TEST_F(PrintExplanationTest, GroupsLayers) {
  ReshardExplanation reshard;
  reshard.producer = {"aten.mul.Tensor", "", "[4 over tp]"};
  for (const char *layer : {"h.0.up", "h.1.up", "h.2.up"})
    reshard.consumers.push_back({"aten.linear.default", layer, "[4]"});
  reshard.consumers.push_back({"output", "y", "[4]"});
  reshard.steps = {{"all_gather", {{"tp", 2}}, 2048}, {"slice", {{"dp", 2}}, 0}};
  reshard.count = 30;
  reshard.needs = {input};
  Explanation explanation{"module", "h"};
  explanation.parameters = {{"h.*.up.weight", {"f32", "[9 over tp]"}, colwise, 3}};
  explanation.inputs = {{"", {"f32", "[4 over tp]"}, {}, 1, {{"aten.mul.Tensor", "", ""}}}};
  explanation.outputs = {{"", {"f32", "[4]"}, {}, 1, {{"output", "y", ""}, {"output", "z", ""}}}};
  explanation.reshards = {reshard};
  EXPECT_EQ(print(explanation), R"(module h

parameters
  3  h.*.up.weight  f32  [9 over tp]  colwise tp  a.plan:1:5

inputs
  0  f32  [4 over tp]  from aten.mul.Tensor

outputs
  0  f32  [4]  to output y and 1 more

collectives, bytes that a rank sends and receives
  30 x all_gather over tp = 2, 2.0 KiB
  30 x slice over dp = 2, no communication
    made     aten.mul.Tensor                    [4 over tp]
    needed   aten.linear.default in h.*.up (3)  [4]
             output y                           [4]
    because  not stated in the plan
    and      x                                  a.plan:2:1
)");
}

TEST_F(PrintExplanationTest, JsonHasStableKeys) {
  Explanation explanation{"parameter",
                          "w",
                          {"w"},
                          TensorExplanation{"f32", "[9 over tp]", {{9, {{"tp", 2}}, {colwise}, {5, 4}}}, {}, 36, 20},
                          colwise};
  ReshardExplanation reshard{
      {"parameter", "w", "[9 over tp]"}, {{"output", "y", "[9]"}}, {{"all_gather", {{"tp", 2}}, 36}}, colwise, {}, 2};
  explanation.reshards = {reshard};
  llvm::Expected<llvm::json::Value> expected = llvm::json::parse(R"({
    "kind": "parameter", "path": "w", "names": ["w"], "arrives": null, "ends": [],
    "statement": {"file": "a.plan", "line": 1, "column": 5, "text": "colwise tp"},
    "tensor": {"dtype": "f32", "layout": "[9 over tp]", "partial": null, "flat": null, "global_bytes": 36, "rank_bytes": 20,
               "dims": [{"extent": 9, "axes": [{"name": "tp", "size": 2}], "local_extents": [5, 4],
                         "reasons": [{"file": "a.plan", "line": 1, "column": 5, "text": "colwise tp"}]}]},
    "parameters": [], "inputs": [], "outputs": [], "loss": null,
    "reshards": [{"producer": {"what": "parameter", "name": "w", "layout": "[9 over tp]"},
                  "consumers": [{"what": "output", "name": "y", "layout": "[9]"}],
                  "steps": [{"kind": "all_gather", "axes": [{"name": "tp", "size": 2}], "bytes": 36}],
                  "statement": {"file": "a.plan", "line": 1, "column": 5, "text": "colwise tp"},
                  "needs": [], "count": 2}], "training": null
  })");
  ASSERT_TRUE(static_cast<bool>(expected));
  EXPECT_EQ(explanationToJson(explanation, sources), *expected);
}

TEST_F(PrintExplanationTest, SaysWhatATrainingStepAdds) {
  TensorExplanation tensor{"f32", "[4]", {{4, {}, {}, {4}}}, {}, 16, 16};
  TensorExplanation part{"f32", "[4], flat over dp", {{4, {}, {}, {4}}}, {}, 16, 8};
  Explanation explanation{"parameter", "up.bias", {"up.bias"}, tensor, colwise};
  explanation.training = TrainingExplanation{tensor, {{"exp_avg", part}}, {}};
  std::string text = print(explanation);
  EXPECT_EQ(text.substr(text.find("training")), R"(training
  gradient  f32  [4]                16 B of 16 B
  exp_avg   f32  [4], flat over dp  8 B of 16 B

collectives of the training step after the forward pass, bytes that a rank sends and receives
  none
)");
  explanation.training->gradient.reset();
  EXPECT_EQ(print(explanation).find("\ntraining\n"), std::string::npos) << "of a module";
}
