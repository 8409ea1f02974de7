//===- stack_modules_test.cpp - parameters of equal modules ---------------===//

#include "compiler/transforms/import/outline_model.h"
#include "compiler/transforms/import/stack_modules.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using namespace meshplan::archive;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// A list `e` of two modules with two parameters each, and one beside them; a node reads each.
class StackModules : public testing::Test {
protected:
  StackModules() {
    program.scopes = {{-1, "", "Model"}};
    for (const char *name : {"e.0.w.weight", "e.0.b", "gate.weight", "e.1.w.weight", "e.1.b"})
      add(name, llvm::StringRef(name).ends_with("b") ? std::vector<int64_t>{4} : std::vector<int64_t>{4, 3});
  }

  void add(const std::string &name, const std::vector<int64_t> &dims) {
    auto value = static_cast<ValueId>(program.values.size());
    program.values.push_back({name + "_value", ScalarType::Float32, {}, -1, 0});
    program.values.back().dims.assign(dims.begin(), dims.end());
    program.parameters.push_back({name, value, true, "payload of " + name, ""});
    reads.push_back(value);
  }

  /// One node that reads all parameters and makes a value.
  void addReader() {
    Node node;
    node.target = "reader";
    node.arguments = {{"tensors", reads}};
    node.results = {static_cast<ValueId>(program.values.size())};
    program.values.push_back({"made", ScalarType::Float32, {}, static_cast<int32_t>(program.nodes.size()), 0});
    program.nodes.push_back(node);
  }

  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const Parameter &parameter : program.parameters)
      all.push_back(parameter.name);
    return all;
  }

  ExportedProgram program;
  std::vector<ValueId> reads;
};

} // namespace

TEST_F(StackModules, ParametersOfOneNameBecomeOne) {
  addReader();
  ASSERT_EQ(stackModules(program, "e"), "");
  EXPECT_THAT(names(), ElementsAre("e.w.weight", "e.b", "gate.weight"));
  EXPECT_EQ(program.value(program.parameters[0].value).dims, (llvm::SmallVector<SymbolicInt, 4>{2, 4, 3}));
  EXPECT_EQ(program.value(program.parameters[1].value).dims, (llvm::SmallVector<SymbolicInt, 4>{2, 4}));
  // Elements are read before all other nodes, under the values that were parameters.
  ASSERT_EQ(program.nodes.size(), 5u);
  const Node &reader = program.nodes.back();
  EXPECT_EQ(program.value(reader.results[0]).producer, 4);
  for (ValueId read : program.operands(reader)) {
    int32_t producer = program.value(read).producer;
    if (read == program.parameters[2].value) {
      EXPECT_EQ(producer, -1);
      continue;
    }
    ASSERT_GE(producer, 0);
    const Node &select = program.nodes[producer];
    EXPECT_EQ(select.target, "aten.select.int");
    EXPECT_THAT(select.results, ElementsAre(read));
    bool isSecond = llvm::StringRef(program.value(read).name).starts_with("e.1");
    EXPECT_EQ(std::get<SymbolicInt>(*select.find("index")), SymbolicInt(isSecond));
  }
}

TEST_F(StackModules, TheListHoldsThem) {
  addReader();
  ASSERT_EQ(stackModules(program, "e"), "");
  ProgramOutline outline = outlineModel(program);
  const OutlineParameter &weight = outline.model.parameters.front();
  EXPECT_TRUE(weight.isStacked);
  EXPECT_EQ(outline.model.modules[weight.names[0].module].path, "e");
  EXPECT_EQ(weight.names[0].leaf, "w.weight");
  EXPECT_FALSE(outline.model.parameters.back().isStacked);
}

TEST_F(StackModules, TiesOfOtherParametersStayWithoutPayloads) {
  // On the meta device all parameters have one payload: a tied one is found by what its module reads.
  add("out.weight", {4, 3});
  ValueId tied = reads.back();
  reads.pop_back();
  addReader();
  program.scopes.push_back({0, "out", "Linear"});
  Node own;
  own.scope = 1;
  own.target = "reader";
  own.arguments = {{"tensors", std::vector<ValueId>{program.parameters[2].value}}};
  program.nodes.push_back(own);
  for (Parameter &parameter : program.parameters)
    parameter.payload = "one for all";
  ASSERT_EQ(stackModules(program, "e"), "");
  ProgramOutline outline = outlineModel(program);
  ASSERT_EQ(outline.model.parameters.size(), 3u);
  const OutlineParameter &gate = outline.model.parameters[2];
  ASSERT_EQ(gate.names.size(), 2u);
  EXPECT_EQ(gate.names[0].leaf, "weight");
  EXPECT_EQ(outline.model.modules[gate.names[1].module].path, "out");
  EXPECT_EQ(program.parameters.back().value, tied);
}

TEST_F(StackModules, AParameterThatIsNotReadMayBeTied) {
  reads.pop_back(); // e.1.b
  addReader();
  for (Parameter &parameter : program.parameters)
    parameter.payload = "one for all";
  EXPECT_EQ(stackModules(program, "e"),
            "the model does not use 'e.1.b', or ties it to another parameter, and uses 'e.0.b'");
}

TEST_F(StackModules, ParametersThatDifferStay) {
  addReader();
  std::vector<std::string> before = names();
  auto expectFault = [&](const std::string &fault) {
    EXPECT_EQ(stackModules(program, "e"), fault);
    EXPECT_EQ(names(), before);
  };
  Value &weight = program.values[program.parameters[3].value];
  weight.dims[1] = 5;
  expectFault("'e.1.w.weight' is float32 [4, 5], and 'e.0.w.weight' is float32 [4, 3]");
  weight.dims[1] = 3;
  program.parameters[3].requiresGrad = false;
  expectFault("the archive freezes 'e.1.w.weight', and not 'e.0.w.weight'");
  program.parameters[3].requiresGrad = true;
  program.parameters[3].payload = program.parameters[2].payload;
  expectFault("'e.1.w.weight' is also another parameter");
  program.parameters[3].payload = "own";
  add("e.1.extra", {4});
  before = names();
  expectFault("'e.0.extra' does not exist, and 'e.1.extra' does");
  program.parameters.back().name = "e.0.extra";
  before = names();
  expectFault("'e.1.extra' does not exist, and 'e.0.extra' does");
}

TEST_F(StackModules, OnlyNumberedModulesAreAList) {
  std::vector<std::string> before = names();
  EXPECT_EQ(stackModules(program, "gate"), "");
  EXPECT_EQ(names(), before);
  for (Parameter &parameter : program.parameters)
    if (llvm::StringRef(parameter.name).starts_with("e.0"))
      parameter.name.replace(2, 1, "2");
  EXPECT_EQ(stackModules(program, "e"), "it has no 'e.0' with parameters, and 'e.1' has some");
  llvm::erase_if(program.parameters,
                 [](const Parameter &each) { return llvm::StringRef(each.name).starts_with("e.2"); });
  EXPECT_EQ(stackModules(program, "e"), "it has one module with parameters, 'e.1'");
}
