//===- outline_model_test.cpp - names of an archive for a plan ------------===//

#include "compiler/transforms/import/outline_model.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using namespace meshplan::archive;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

class OutlineModel : public testing::Test {
protected:
  OutlineModel() { program.scopes = {{-1, "", "Model"}}; }

  ValueId value(std::vector<SymbolicInt> dims) {
    program.values.push_back({"v" + std::to_string(program.values.size()), ScalarType::Float32, {}, -1, 0});
    program.values.back().dims.assign(dims.begin(), dims.end());
    return program.values.size() - 1;
  }
  ValueId parameter(const std::string &name, const std::string &payload = "", std::vector<SymbolicInt> dims = {4, 3}) {
    program.parameters.push_back({name, value(std::move(dims)), true, payload});
    return program.parameters.back().value;
  }
  int32_t scope(const std::string &path, const std::string &className = "", int32_t parent = 0) {
    program.scopes.push_back({parent, path, className});
    return program.scopes.size() - 1;
  }
  void reads(int32_t scope, std::vector<ValueId> values) {
    Node node;
    node.scope = scope;
    node.arguments = {{"tensors", values}};
    program.nodes.push_back(node);
  }

  std::vector<std::string> modules() {
    std::vector<std::string> paths;
    for (const OutlineModule &module : outline.model.modules)
      paths.push_back(module.path + (module.className.empty() ? "" : ": " + module.className));
    return paths;
  }
  /// The names of each parameter, and the modules that read it.
  std::vector<std::string> parameters() {
    std::vector<std::string> texts;
    for (const OutlineParameter &parameter : outline.model.parameters) {
      std::string text;
      for (const OutlineParameterName &name : parameter.names)
        text += (text.empty() ? "" : " = ") + outline.model.modules[name.module].path + "/" + name.leaf;
      text += " <-";
      for (size_t reader : parameter.readers)
        text += " " + outline.model.modules[reader].path;
      texts.push_back(text);
    }
    return texts;
  }

  ExportedProgram program;
  ProgramOutline outline;
};

TEST_F(OutlineModel, AnEmptyProgramHasItsRoot) {
  program.scopes.clear();
  outline = outlineModel(program);
  EXPECT_THAT(modules(), ElementsAre(""));
  EXPECT_THAT(outline.model.parameters, IsEmpty());
}

TEST_F(OutlineModel, TypesOfParametersAreWordsOfTheLanguage) {
  const std::pair<ScalarType, const char *> types[] = {{ScalarType::Float64, "f64"},   {ScalarType::Float32, "f32"},
                                                       {ScalarType::BFloat16, "bf16"}, {ScalarType::Float16, "f16"},
                                                       {ScalarType::Float8E4M3FN, ""}, {ScalarType::Int64, ""}};
  for (auto [type, dtype] : types) {
    program.values[parameter("weight." + std::string(dtype) + std::to_string(program.values.size()))].type = type;
    outline = outlineModel(program);
    EXPECT_EQ(outline.model.parameters.back().dtype, dtype) << scalarTypeName(type).str();
  }
}

TEST_F(OutlineModel, ContainersStandBeforeWhatTheyHold) {
  scope("model.layers.0", "Layer");
  scope("model", "Inner");
  parameter("model.layers.1.norm.weight");
  parameter("bias");
  outline = outlineModel(program);
  // The list of layers was never called; layer 1 and its norm only hold a parameter.
  EXPECT_THAT(modules(), ElementsAre(": Model", "model: Inner", "model.layers", "model.layers.0: Layer",
                                     "model.layers.1", "model.layers.1.norm"));
}

TEST_F(OutlineModel, AModuleThatRunsTwiceIsOne) {
  scope("block", "Block");
  scope("block", "Block");
  outline = outlineModel(program);
  EXPECT_THAT(modules(), ElementsAre(": Model", "block: Block"));
}

TEST_F(OutlineModel, ParametersKnowTheirReadersOnceEach) {
  int32_t up = scope("up"), down = scope("down");
  ValueId weight = parameter("up.weight");
  reads(up, {weight, weight});
  reads(up, {weight});
  reads(down, {weight});
  outline = outlineModel(program);
  EXPECT_THAT(parameters(), ElementsAre("up/weight <- up down"));
  EXPECT_THAT(outline.model.parameters[0].shape, ElementsAre(4, 3));
  EXPECT_TRUE(outline.model.parameters[0].requiresGrad);
}

TEST_F(OutlineModel, PayloadsTellTies) {
  int32_t embed = scope("embed"), head = scope("head");
  reads(embed, {parameter("embed.weight", "weights/0")});
  parameter("head.weight", "weights/0");
  parameter("other.weight", "weights/1");
  reads(head, {program.parameters[0].value});
  outline = outlineModel(program);
  EXPECT_THAT(parameters(), ElementsAre("embed/weight = head/weight <- embed head", "other/weight <-"));
  EXPECT_THAT(outline.parameterNames, ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
}

TEST_F(OutlineModel, TheFirstNameOfTheArchiveIsThatOfTheTiedParameter) {
  // The archive lists names in the order of named_parameters(); which of the tied tensors nodes read does not matter.
  int32_t embed = scope("embed");
  parameter("head.weight", "weights/0");
  reads(embed, {parameter("embed.weight", "weights/0")});
  parameter("x", "weights/1");
  outline = outlineModel(program);
  EXPECT_THAT(parameters(), ElementsAre("head/weight = embed/weight <- embed", "/x <-"));
  EXPECT_THAT(outline.parameterNames, ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
}

TEST_F(OutlineModel, WithoutWeightsTheReadersTell) {
  // On the meta device all entries have the same name. The head's own weight has no reader, and the head reads another
  // weight of the same shape.
  int32_t embed = scope("embed"), head = scope("head");
  ValueId weight = parameter("embed.weight", "weights/meta");
  parameter("head.weight", "weights/meta");
  reads(embed, {weight});
  reads(head, {weight});
  outline = outlineModel(program);
  EXPECT_THAT(parameters(), ElementsAre("embed/weight = head/weight <- embed head"));
}

TEST_F(OutlineModel, WhatIsUnreadIsNotTiedWithoutReason) {
  int32_t embed = scope("embed"), head = scope("head");
  ValueId weight = parameter("embed.weight");
  parameter("head.bias", "", {4}); // another shape
  parameter("lone.weight");        // its module reads nothing
  reads(embed, {weight});
  reads(head, {weight});
  outline = outlineModel(program);
  EXPECT_THAT(parameters(), ElementsAre("embed/weight <- embed head", "head/bias <-", "lone/weight <-"));
}

TEST_F(OutlineModel, PayloadsTellTiesOfWhatIsUnread) {
  parameter("first.weight", "weights/0");
  reads(scope("embed"), {parameter("embed.weight", "weights/1")});
  parameter("second.weight", "weights/0");
  parameter("third.weight", "weights/2");
  outline = outlineModel(program);
  EXPECT_THAT(parameters(), ElementsAre("embed/weight <- embed", "first/weight = second/weight <-", "third/weight <-"));
}

TEST_F(OutlineModel, TwoThatAreReadAreTwo) {
  // Both names appear in the graph, so the exporter did not see a single tensor.
  int32_t embed = scope("embed"), head = scope("head");
  reads(embed, {parameter("embed.weight", "weights/0")});
  reads(head, {parameter("head.weight", "weights/0")});
  parameter("x", "weights/1");
  outline = outlineModel(program);
  EXPECT_THAT(parameters(), ElementsAre("embed/weight <- embed", "head/weight <- head", "/x <-"));
}

TEST_F(OutlineModel, InputsAndOutputsKeepTheirSymbols) {
  SymbolicInt batch = llvm::cantFail(parseSymbolicInt("Symbol('s0', positive=True, integer=True)"));
  program.inputs = {{"x", value({batch, 3})}, {"scalar", value({})}};
  program.outputs = {{"y", value({6})}};
  outline = outlineModel(program);
  ASSERT_EQ(outline.model.inputs.size(), 2u);
  EXPECT_EQ(outline.model.inputs[0].name, "x");
  EXPECT_EQ(outline.model.inputs[0].dims[0].symbol, "s0");
  EXPECT_EQ(outline.model.inputs[0].dims[1].extent, 3);
  EXPECT_EQ(outline.model.inputs[0].dims[1].symbol, "");
  EXPECT_THAT(outline.model.inputs[1].dims, IsEmpty());
  EXPECT_EQ(outline.model.outputs[0].dims[0].extent, 6);
}

} // namespace
