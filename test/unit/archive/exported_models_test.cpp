//===- exported_models_test.cpp - archives that PyTorch wrote ---*- C++ -*-===//
//
// test/archive/Inputs holds small random models exported from transformers, without weights. The expected values follow
// from their configurations.
//
//===----------------------------------------------------------------------===//

#include "compiler/archive/bind_symbols.h"
#include "compiler/archive/functional_check.h"
#include "test/unit/archive/test_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

using namespace meshplan::archive;
using namespace meshplan::archive::testing;
using ::testing::ElementsAre;

namespace {

std::string inputPath(const char *name) { return std::string(MESHPLAN_TEST_INPUTS) + "/" + name + ".pt2"; }

ExportedProgram load(const char *name) {
  ReadResult result = readArchive(inputPath(name));
  for (const Diagnostic &error : result.errors)
    ADD_FAILURE() << error.message;
  return result.program.value_or(ExportedProgram());
}

size_t count(const ExportedProgram &program, const std::string &target) {
  return std::count_if(program.nodes.begin(), program.nodes.end(),
                       [&](const Node &node) { return node.target == target; });
}

const Parameter &parameter(const ExportedProgram &program, const std::string &name) {
  auto it = std::find_if(program.parameters.begin(), program.parameters.end(),
                         [&](const Parameter &parameter) { return parameter.name == name; });
  EXPECT_NE(it, program.parameters.end()) << name;
  return *it;
}

const Node *reader(const ExportedProgram &program, ValueId value) {
  for (const Node &node : program.nodes)
    if (llvm::is_contained(program.operands(node), value))
      return &node;
  return nullptr;
}

/// The guarantees of exported_program.h.
void expectPromises(const ExportedProgram &program) {
  std::vector<bool> defined(program.values.size(), false);
  for (const auto &parameter : program.parameters)
    defined[parameter.value] = true;
  for (const auto &buffer : program.buffers) {
    defined[buffer.value] = true;
    EXPECT_EQ(buffer.data.has_value(), !buffer.persistent);
  }
  for (const auto &constant : program.constants)
    defined[constant.value] = true;
  for (const auto &input : program.inputs)
    defined[input.value] = true;
  for (size_t index = 0; index < program.nodes.size(); ++index) {
    const Node &node = program.nodes[index];
    EXPECT_FALSE(writesOperand(node.target)) << node.target;
    EXPECT_EQ(node.find("device"), nullptr);
    EXPECT_EQ(node.target.find("_assert"), std::string::npos);
    for (ValueId operand : program.operands(node))
      EXPECT_TRUE(defined[operand]) << node.name;
    for (size_t result = 0; result < node.results.size(); ++result)
      if (ValueId id = node.results[result]; id != noValue) {
        defined[id] = true;
        EXPECT_EQ(program.value(id).producer, int32_t(index));
        EXPECT_EQ(program.value(id).result, int32_t(result));
      }
  }
  EXPECT_TRUE(std::all_of(defined.begin(), defined.end(), [](bool value) { return value; }));
}

TEST(ExportedModels, LlamaWithSymbolicBatch) {
  ExportedProgram program = load("llama_dynamic");
  expectPromises(program);
  // Two layers of q, k, v, o, gate, up, down and two norms; embedding, final norm, head.
  EXPECT_EQ(program.parameters.size(), 2u * 9 + 3);
  EXPECT_EQ(count(program, "aten.linear.default"), 2u * 7 + 1);
  EXPECT_EQ(count(program, "aten.scaled_dot_product_attention.default"), 2u);
  EXPECT_EQ(count(program, "aten.cross_entropy_loss.default"), 1u);
  const Parameter &key = parameter(program, "model.layers.1.self_attn.k_proj.weight");
  EXPECT_THAT(program.value(key.value).dims, ElementsAre(SymbolicInt(16), SymbolicInt(32)));
  EXPECT_EQ(key.payload, "");
  const Node *linear = reader(program, key.value);
  ASSERT_NE(linear, nullptr);
  EXPECT_EQ(program.modulePath(*linear), "model.layers.1.self_attn.k_proj");
  EXPECT_EQ(program.moduleChain(*linear).size(), 5u) << "model, decoder, layer, attention, projection";
  ASSERT_EQ(program.inputs.size(), 2u);
  EXPECT_EQ(program.inputs[0].name, "input_ids");
  EXPECT_EQ(program.inputs[1].name, "labels");
  ASSERT_EQ(program.outputs.size(), 2u);
  EXPECT_EQ(program.outputs[0].name, "loss");
  EXPECT_EQ(program.outputs[1].name, "logits");
}

TEST(ExportedModels, LlamaKeepsTheValuesOfItsRotaryFrequencies) {
  ExportedProgram program = load("llama_dynamic");
  ASSERT_EQ(program.buffers.size(), 2u);
  EXPECT_EQ(program.buffers[0].name, "model.rotary_emb.inv_freq");
  ASSERT_TRUE(program.buffers[0].data.has_value());
  // Base 10000, head size 8: 10000 ** (-2 * i / 8).
  float values[4];
  ASSERT_EQ(program.buffers[0].data->bytes.size(), sizeof(values));
  std::memcpy(values, program.buffers[0].data->bytes.data(), sizeof(values));
  EXPECT_FLOAT_EQ(values[0], 1.0f);
  EXPECT_FLOAT_EQ(values[1], 0.1f);
  EXPECT_FLOAT_EQ(values[2], 0.01f);
  EXPECT_FLOAT_EQ(values[3], 0.001f);
  // The exporter runs the rotary embedding without gradients.
  for (const Node &node : program.nodes)
    EXPECT_EQ(node.noGrad, program.modulePath(node) == "model.rotary_emb") << node.name;
}

TEST(ExportedModels, LlamaBindsItsBatch) {
  ExportedProgram program = load("llama_dynamic");
  ASSERT_EQ(program.symbols.size(), 1u);
  SymbolBindings bindings;
  ASSERT_FALSE(bindExtent(program.value(program.inputs[0].value).dims[0], 6, bindings));
  EXPECT_TRUE(bindSymbols(program, bindings).empty());
  for (const Value &value : program.values)
    for (const SymbolicInt &dim : value.dims)
      EXPECT_FALSE(dim.isSymbolic()) << value.name;
  EXPECT_THAT(program.value(program.outputs[1].value).dims,
              ElementsAre(SymbolicInt(6), SymbolicInt(8), SymbolicInt(96)));
}

TEST(ExportedModels, Gpt2ReadsItsTiedWeightTwice) {
  ExportedProgram program = load("gpt2");
  expectPromises(program);
  ValueId embedding = parameter(program, "transformer.wte.weight").value;
  ValueId head = parameter(program, "lm_head.weight").value;
  // Both uses read the head's name: a tie is found by use.
  EXPECT_EQ(reader(program, embedding), nullptr);
  std::vector<std::string> users;
  for (const Node &node : program.nodes)
    if (llvm::is_contained(program.operands(node), head))
      users.push_back(program.modulePath(node).str());
  EXPECT_THAT(users, ElementsAre("transformer.wte", "lm_head"));
  // In evaluation mode none of the four dropouts is left.
  EXPECT_EQ(count(program, "aten.dropout.default"), 0u);
  EXPECT_EQ(count(program, "aten.addmm.default"), 4u);
}

TEST(ExportedModels, SurviveDamage) {
  std::string bytes = readFile(inputPath("gpt2"));
  for (size_t at = 0; at < bytes.size(); at += 37) {
    std::string damaged = bytes;
    damaged[at] ^= 0x55;
    std::string path = writeFile(damaged);
    ReadResult result = readArchive(path);
    EXPECT_NE(result.program.has_value(), !result.errors.empty());
    unlink(path.c_str());
  }
}

} // namespace
