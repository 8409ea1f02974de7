//===- explanation_json_test.cpp - an explanation with stable keys --------===//

#include "compiler/report/explain/explanation.h"
#include <gtest/gtest.h>

using namespace meshplan;
using llvm::json::Object;
using llvm::json::Value;

namespace {

class ExplanationJson : public testing::Test {
protected:
  ExplanationJson() {
    sources.add("other.plan", "");
    int32_t file = sources.add("a.plan", "up: colwise tp\n").file();
    colwise = {{file, 1, 5, 15}, "colwise tp"};
  }

  static Value parsed(llvm::StringRef text) { return llvm::cantFail(llvm::json::parse(text)); }
  /// The JSON of an explanation, reduced to these members.
  Value members(const Explanation &explanation, std::initializer_list<llvm::StringRef> keys) const {
    Value all = explanationToJson(explanation, sources);
    Object some;
    for (llvm::StringRef key : keys)
      some[key] = *all.getAsObject()->get(key);
    return some;
  }

  Sources sources;
  Statement colwise;
};

constexpr char colwiseText[] = R"({"file": "a.plan", "line": 1, "column": 5, "text": "colwise tp"})";

TEST_F(ExplanationJson, AnEmptyExplanationHasEveryKey) {
  EXPECT_EQ(explanationToJson(Explanation(), sources), parsed(R"({
    "kind": "", "path": "", "names": [], "tensor": null, "arrives": null, "statement": null, "ends": [],
    "parameters": [], "inputs": [], "outputs": [], "loss": null, "reshards": [], "training": null})"));
}

TEST_F(ExplanationJson, ALossThatThePlanRedefines) {
  Explanation explanation;
  explanation.loss = {colwise, "the mean over all"};
  EXPECT_EQ(members(explanation, {"loss"}),
            parsed(R"({"loss": {"meaning": "the mean over all", "statement": )" + std::string(colwiseText) + "}}"));
}

TEST_F(ExplanationJson, ATensorSaysWhereItsElementsAre) {
  Explanation explanation;
  explanation.kind = "parameter";
  explanation.path = "up.weight";
  explanation.names = {"up.weight", "tied.weight"};
  explanation.statement = colwise;
  explanation.tensor =
      TensorExplanation{"bf16",
                        "[9 over (dp, tp), 5]",
                        {{9, {{"dp", 2}, {"tp:(1)2", 2}}, {colwise, Statement()}, {3, 2, 2, 2}}, {5, {}, {}, {5}}},
                        {},
                        90,
                        30};
  EXPECT_EQ(members(explanation, {"kind", "path", "names", "statement", "tensor"}), parsed(R"({
    "kind": "parameter", "path": "up.weight", "names": ["up.weight", "tied.weight"],
    "statement": )" + std::string(colwiseText) + R"(,
    "tensor": {"dtype": "bf16", "layout": "[9 over (dp, tp), 5]",
               "dims": [{"extent": 9, "axes": [{"name": "dp", "size": 2}, {"name": "tp:(1)2", "size": 2}],
                         "reasons": [)" + std::string(colwiseText) + R"(, null], "local_extents": [3, 2, 2, 2]},
                        {"extent": 5, "axes": [], "reasons": [], "local_extents": [5]}],
               "partial": null, "flat": null, "global_bytes": 90, "rank_bytes": 30}})"));
}

TEST_F(ExplanationJson, APartialTensorSaysWhatIsMissing) {
  Explanation explanation;
  explanation.arrives = TensorExplanation{"f32",
                                          "[4], partial over tp",
                                          {},
                                          PartialExplanation{"sum", {{"tp", 3}}, {colwise}},
                                          16,
                                          16,
                                          FlatExplanation{{{"dp", 2}}, {colwise}, 4, 2}};
  EXPECT_EQ(members(explanation, {"tensor", "arrives"}), parsed(R"({
    "tensor": null,
    "arrives": {"dtype": "f32", "layout": "[4], partial over tp", "dims": [],
                "partial": {"reduction": "sum", "axes": [{"name": "tp", "size": 3}], "reasons": [)" +
                                                                std::string(colwiseText) + R"(]},
                "flat": {"axes": [{"name": "dp", "size": 2}], "elements": 4, "piece": 2, "reasons": [)" +
                                                                std::string(colwiseText) + R"(]},
                "global_bytes": 16, "rank_bytes": 16}})"));
}

TEST_F(ExplanationJson, AReshardHasItsEndsAndSteps) {
  Explanation explanation;
  explanation.ends = {{"input", "x", "[4]"}};
  explanation.reshards = {{{"aten.linear.default", "up", "[4 over tp]"},
                           {{"aten.linear.default", "down", "[4]"}, {"output", "y", "[4]"}},
                           {{"all_gather", {{"tp", 3}}, 128}, {"slice", {}, 0}},
                           colwise,
                           {colwise, Statement()},
                           30}};
  EXPECT_EQ(members(explanation, {"ends", "reshards"}), parsed(R"({
    "ends": [{"what": "input", "name": "x", "layout": "[4]"}],
    "reshards": [{"producer": {"what": "aten.linear.default", "name": "up", "layout": "[4 over tp]"},
                  "consumers": [{"what": "aten.linear.default", "name": "down", "layout": "[4]"},
                                {"what": "output", "name": "y", "layout": "[4]"}],
                  "steps": [{"kind": "all_gather", "axes": [{"name": "tp", "size": 3}], "bytes": 128},
                            {"kind": "slice", "axes": [], "bytes": 0}],
                  "statement": )" + std::string(colwiseText) + R"(,
                  "needs": [)" + std::string(colwiseText) + R"(, null], "count": 30}]})"));
}

TEST_F(ExplanationJson, AModuleHasMembers) {
  Explanation explanation;
  TensorExplanation tensor{"i64", "[]", {}, {}, 8, 8};
  explanation.parameters = {{"layers.*.weight", tensor, colwise, 30, {}}};
  explanation.inputs = {{"", tensor, Statement(), 1, {{"input", "x", "[]"}}}};
  explanation.outputs = {{"", tensor, Statement(), 1, {}}};
  const std::string scalar =
      R"({"dtype": "i64", "layout": "[]", "dims": [], "partial": null, "flat": null, "global_bytes": 8, "rank_bytes": 8})";
  EXPECT_EQ(members(explanation, {"parameters", "inputs", "outputs"}), parsed(R"({
    "parameters": [{"name": "layers.*.weight", "tensor": )" + scalar + R"(, "statement": )" +
                                                                              colwiseText + R"(,
                    "count": 30, "ends": []}],
    "inputs": [{"name": "", "tensor": )" + scalar + R"(, "statement": null, "count": 1,
                "ends": [{"what": "input", "name": "x", "layout": "[]"}]}],
    "outputs": [{"name": "", "tensor": )" + scalar + R"(, "statement": null, "count": 1, "ends": []}]})"));
}

TEST_F(ExplanationJson, NamesOfFilesNeedNotBeText) {
  Sources odd;
  Explanation explanation;
  explanation.statement = {{odd.add("a\xff.plan", "x\n").file(), 1, 1, 2}, "x"};
  std::string text;
  llvm::raw_string_ostream(text) << explanationToJson(explanation, odd);
  EXPECT_NE(text.find("\"a\xef\xbf\xbd.plan\""), std::string::npos) << text;
}

TEST_F(ExplanationJson, ATrainingStepHasWhatItAdds) {
  TensorExplanation tensor{"f32", "[4]", {{4, {}, {}, {4}}}, {}, 16, 16};
  Explanation explanation;
  explanation.training = TrainingExplanation{tensor, {{"exp_avg", tensor}}, {ReshardExplanation()}};
  Value training = members(explanation, {"training"});
  const Object &object = *training.getAsObject()->getObject("training");
  EXPECT_EQ(object.getObject("gradient")->getString("layout"), "[4]");
  EXPECT_EQ(object.getArray("states")->size(), 1u);
  EXPECT_EQ((*object.getArray("states"))[0].getAsObject()->getString("name"), "exp_avg");
  EXPECT_EQ(object.getArray("reshards")->size(), 1u);
  explanation.training->gradient.reset();
  EXPECT_EQ(*members(explanation, {"training"}).getAsObject()->getObject("training")->get("gradient"), nullptr);
}

} // namespace
