//===- signature_reader_test.cpp - inputs, outputs, constants ---*- C++ -*-===//

#include "test/unit/archive/test_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

using namespace meshplan::archive;
using namespace meshplan::archive::testing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

const std::string realBuffers = "\nhelp: export the model with real buffers (only parameters may be on the meta "
                                "device), as tools/export_model.py --meta does";

TEST(Signature, ListsParametersWithTheirPayload) {
  TestModel model = linearModel();
  model.parameter("frozen", {3});
  model.graph.json["tensor_values"]["p_frozen"]["requires_grad"] = false;
  ExportedProgram program = readProgram(model);
  ASSERT_EQ(program.parameters.size(), 2u);
  EXPECT_EQ(program.parameters[0].name, "proj.weight");
  EXPECT_TRUE(program.parameters[0].requiresGrad);
  EXPECT_EQ(program.parameters[0].payload, "m/data/weights/weight_0");
  EXPECT_FALSE(program.parameters[1].requiresGrad);
}

TEST(Signature, TiedParametersShareAPayload) {
  TestModel model = linearModel();
  model.parameter("head.weight", {4, 3});
  model.weights["head.weight"]["path_name"] = model.weights["proj.weight"]["path_name"];
  ExportedProgram program = readProgram(model);
  EXPECT_EQ(program.parameters[0].payload, program.parameters[1].payload);
}

TEST(Signature, ParametersWithoutBytesHaveNoPayload) {
  TestModel model = linearModel();
  model.payloads["data/weights/weight_0"] = "";
  EXPECT_EQ(readProgram(model).parameters[0].payload, "");
}

TEST(Signature, LoadsBuffersThatAreNotPersistent) {
  TestModel model = linearModel();
  model.buffer("running", {2});
  model.buffer("rotary.inv_freq", {3}, floats({1, 2, 3}));
  ExportedProgram program = readProgram(model);
  ASSERT_EQ(program.buffers.size(), 2u);
  EXPECT_TRUE(program.buffers[0].persistent);
  EXPECT_FALSE(program.buffers[0].data.has_value());
  EXPECT_EQ(program.buffers[1].name, "rotary.inv_freq");
  ASSERT_TRUE(program.buffers[1].data.has_value());
  EXPECT_THAT(program.buffers[1].data->dims, ElementsAre(3));
  EXPECT_THAT(floatsOf(*program.buffers[1].data), ElementsAre(1, 2, 3));
}

TEST(Signature, MakesStridedConstantsContiguous) {
  TestModel model = linearModel();
  model.constant("table", {2, 2}, floats({9, 1, 2, 3, 4}), ScalarType::Float32);
  // The transpose of [[1, 2], [3, 4]], one element into its storage.
  Json &meta = model.constants["table"]["tensor_meta"];
  meta["strides"] = {{{"as_int", 1}}, {{"as_int", 2}}};
  meta["storage_offset"] = {{"as_int", 1}};
  EXPECT_THAT(floatsOf(readProgram(model).constants.at(0).data), ElementsAre(1, 3, 2, 4));
}

TEST(Signature, LoadsEmptyAndScalarConstants) {
  TestModel model = linearModel();
  model.constant("empty", {0, 3}, "", ScalarType::Float32);
  model.constant("scalar", {}, std::string("\x9c\xff\xff\xff\xff\xff\xff\xff", 8), ScalarType::Int64);
  ExportedProgram program = readProgram(model);
  EXPECT_TRUE(program.constants[0].data.bytes.empty());
  EXPECT_EQ(program.constants[1].data.bytes[0], 0x9c);
  EXPECT_EQ(program.constants[1].data.type, ScalarType::Int64);
}

TEST(Signature, RefusesABufferWithoutValue) {
  TestModel model = linearModel();
  model.buffer("rotary.inv_freq", {3}, floats({1, 2, 3}));
  model.payloads["data/constants/tensor_0"] = "";
  EXPECT_THAT(errorsOf(model), ElementsAre("'FILE': non-persistent buffer 'rotary.inv_freq' has no value: its member "
                                           "'m/data/constants/tensor_0' is missing or empty" +
                                           realBuffers));
  model.payloads.erase("data/constants/tensor_0");
  EXPECT_THAT(errorsOf(model), ElementsAre(HasSubstr("is missing or empty")));
  model.constants.clear();
  EXPECT_THAT(errorsOf(model),
              ElementsAre("'FILE': non-persistent buffer 'rotary.inv_freq' has no value: the archive's "
                          "constants do not list it\nhelp: export the model again with "
                          "torch.export.save"));
}

TEST(Signature, RefusesConstantsThatDoNotFitTheirStorage) {
  TestModel model = linearModel();
  model.constant("table", {3}, floats({1, 2}), ScalarType::Float32);
  EXPECT_THAT(errorsOf(model),
              ElementsAre("'FILE': constant 'table' needs 12 bytes of 'm/data/constants/tensor_0', which has 8"));
  Json &meta = model.constants["table"]["tensor_meta"];
  meta["strides"] = {{{"as_int", INT64_MAX}}};
  EXPECT_THAT(errorsOf(model), ElementsAre("'FILE': constant 'table' has an impossible shape, stride or offset"));
  meta["strides"] = {{{"as_int", 0}}};
  meta["sizes"] = {{{"as_int", int64_t(1) << 40}}};
  model.graph.json["tensor_values"]["c_table"] = tensorMeta({int64_t(1) << 40});
  const std::string tooLarge = " makes the constants more than 1 GiB larger than they are stored, with repeated "
                               "elements written out\nhelp: keep the tensor in its own size, and expand it in "
                               "forward";
  EXPECT_THAT(errorsOf(model), ElementsAre("'FILE': constant 'table'" + tooLarge));
  // Several payloads share the limit.
  model = linearModel();
  constexpr int64_t limit = int64_t(1) << 28, first = int64_t(1) << 24; // elements
  for (auto [name, extent] : {std::pair("first", first), std::pair("second", limit - first + 3)}) {
    model.constant(name, {1}, floats({1}), ScalarType::Float32);
    Json &table = model.constants[name]["tensor_meta"];
    table["strides"] = {{{"as_int", 0}}};
    table["sizes"] = {{{"as_int", extent}}};
    model.graph.json["tensor_values"][std::string("c_") + name] = tensorMeta({extent});
  }
  EXPECT_THAT(errorsOf(model), ElementsAre("'FILE': constant 'second'" + tooLarge));
}

TEST(Signature, LoadsConstantsOfAnyStrides) {
  TestModel model = linearModel();
  model.constant("table", {2, 1, 3, 2}, floats({0, 1, 2, 3, 4, 5, 6, 7}), ScalarType::Float32);
  Json &meta = model.constants["table"]["tensor_meta"];
  auto loaded = [&](std::vector<int64_t> strides, int64_t offset) {
    meta["strides"] = Json::array();
    for (int64_t stride : strides)
      meta["strides"].push_back({{"as_int", stride}});
    meta["storage_offset"] = {{"as_int", offset}};
    ExportedProgram program = readProgram(model);
    std::vector<float> numbers(12);
    EXPECT_EQ(program.constants[0].data.bytes.size(), 48u);
    std::memcpy(numbers.data(), program.constants[0].data.bytes.data(), 48);
    return numbers;
  };
  EXPECT_THAT(loaded({0, 9, 2, 1}, 1), ElementsAre(1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(loaded({1, 0, 2, 2}, 0), ElementsAre(0, 2, 2, 4, 4, 6, 1, 3, 3, 5, 5, 7));
  EXPECT_THAT(loaded({3, 7, 0, 1}, 2), ElementsAre(2, 3, 2, 3, 2, 3, 5, 6, 5, 6, 5, 6));
  EXPECT_THAT(loaded({0, 0, 0, 0}, 7), ::testing::Each(7));
}

TEST(Signature, RefusesConstantsOfAnotherShapeThanTheGraphs) {
  TestModel model = linearModel();
  model.constant("table", {2}, floats({1, 2}), ScalarType::Float32);
  model.graph.json["tensor_values"]["c_table"] = tensorMeta({3});
  EXPECT_THAT(errorsOf(model), ElementsAre("'FILE': constant 'table' is stored with another type or shape than the "
                                           "graph gives it"));
}

TEST(Signature, RefusesPickledConstants) {
  TestModel model = linearModel();
  model.constant("table", {2}, floats({1, 2}), ScalarType::Float32);
  model.constants["table"]["use_pickle"] = true;
  EXPECT_THAT(errorsOf(model),
              ElementsAre("'FILE': constant 'table' is a pickled tensor subclass\nhelp: convert it to a "
                          "plain tensor before torch.export.export"));
}

TEST(Signature, LeavesOutInputsThatAreNoTensors) {
  TestModel model = linearModel();
  model.inputSpecs.push_back({{"constant_input", {{"name", "use_cache"}, {"value", {{"as_bool", false}}}}}});
  model.inputSpecs.push_back({{"user_input", {{"arg", {{"as_none", true}}}}}});
  ExportedProgram program = readProgram(model);
  ASSERT_EQ(program.inputs.size(), 1u);
  EXPECT_EQ(program.inputs[0].name, "x");
}

TEST(Signature, EveryKindOfPlainInputIsLeftOut) {
  TestModel model = linearModel();
  for (const auto &[kind, value] : {std::pair<const char *, Json>("as_none", true),
                                    {"as_int", 3},
                                    {"as_float", 0.5},
                                    {"as_bool", true},
                                    {"as_string", "mode"}}) {
    model.inputSpecs.push_back({{"user_input", {{"arg", {{kind, value}}}}}});
    model.graph.json["inputs"].push_back({{kind, value}});
  }
  // A later tensor without a specification is reported all the same.
  ExportedProgram program = readProgram(model);
  EXPECT_EQ(program.inputs.size(), 1u);
  model.graph.input("mask", {2});
  EXPECT_THAT(errorsOf(model), ElementsAre(::testing::HasSubstr("expected an input specification for 'mask'")));
}

TEST(Signature, RefusesInputsThatItDoesNotKnow) {
  TestModel model = linearModel();
  model.inputSpecs.push_back({{"custom_obj", Json::object()}});
  model.inputSpecs.push_back({{"user_input", {{"arg", {{"as_sym_int", {{"as_name", "n"}}}}}}}});
  const std::string place = "'models/model.json' at graph_module.signature.input_specs";
  EXPECT_THAT(errorsOf(model),
              ElementsAre(place + "[2]: an input of kind 'custom_obj' is not supported",
                          place + "[3].user_input.arg: an input of kind 'as_sym_int' is not supported"));
}

TEST(Signature, NamesOutputsByTheOutSpec) {
  TestModel model = linearModel();
  model.outputSpecs.push_back({{"user_output", {{"arg", {{"as_int", 3}}}}}});
  model.output("linear");
  model.outSpec({{"type", "transformers.modeling_outputs.CausalLMOutputWithPast"},
                 {"context", "[\"loss\", \"scale\", \"logits\"]"},
                 {"children_spec", {leaf(), leaf(), leaf()}}});
  ExportedProgram program = readProgram(model);
  ASSERT_EQ(program.outputs.size(), 2u);
  EXPECT_EQ(program.outputs[0].name, "loss");
  EXPECT_EQ(program.outputs[1].name, "logits");
  EXPECT_FALSE(program.lossOutput.has_value());
}

TEST(Signature, NumbersOutputsWithoutAnOutSpec) {
  TestModel model = linearModel();
  model.output("linear");
  ExportedProgram program = readProgram(model);
  EXPECT_EQ(program.outputs[0].name, "0");
  EXPECT_EQ(program.outputs[1].name, "1");
}

TEST(Signature, KnowsTheLossWhenItIsMarked) {
  TestModel model = linearModel();
  model.outputSpecs.push_back({{"loss_output", {{"arg", {{"name", "linear"}}}}}});
  EXPECT_EQ(readProgram(model).lossOutput, 1u);
}

TEST(Signature, ListsBufferUpdates) {
  TestModel model = linearModel();
  model.buffer("running", {2, 4});
  model.outputSpecs.push_back({{"buffer_mutation", {{"arg", {{"name", "linear"}}}, {"buffer_name", "running"}}}});
  ExportedProgram program = readProgram(model);
  ASSERT_EQ(program.bufferUpdates.size(), 1u);
  EXPECT_EQ(program.bufferUpdates[0].buffer, "running");
  EXPECT_EQ(program.bufferUpdates[0].value, program.outputs[0].value);
}

TEST(Signature, RefusesChangedInputsAndOutputsThatItDoesNotKnow) {
  TestModel model = linearModel();
  model.outputSpecs.push_back({{"user_input_mutation", {{"arg", {{"name", "linear"}}}, {"user_input_name", "x"}}}});
  model.outputSpecs.push_back({{"parameter_mutation", {{"arg", {{"name", "linear"}}}, {"parameter_name", "p"}}}});
  model.outputSpecs.push_back({{"token", Json::object()}});
  model.outputSpecs.push_back({{"user_output", {{"arg", {{"as_sym_int", {{"as_name", "n"}}}}}}}});
  const std::string place = "'models/model.json' at graph_module.signature.output_specs";
  const std::string help = "\nhelp: write the model so that forward() returns the new value";
  EXPECT_THAT(errorsOf(model),
              ElementsAre(place + "[1]: the graph changes its input 'x'" + help,
                          place + "[2]: the graph changes its parameter 'p'" + help +
                              "; an embedding with max_norm changes its table: leave max_norm out and scale the rows "
                              "that are looked up",
                          place + "[3]: an output of kind 'token' is not supported",
                          place + "[4].user_output.arg: an output of kind 'as_sym_int' is not supported"));
}

TEST(Signature, RefusesAnInputOfTheGraphWithoutSpecification) {
  TestModel model = linearModel();
  model.inputSpecs.erase(0);
  EXPECT_THAT(errorsOf(model),
              ElementsAre("'models/model.json' at graph_module.graph.inputs[0]: expected an input specification for "
                          "'p_proj_weight' in graph_module.signature.input_specs, found none"));
}

TEST(Signature, RefusesSpecificationsOfResultsAndOfOneInputTwice) {
  TestModel model = linearModel();
  const std::string place = "'models/model.json' at graph_module.signature.input_specs[2]";
  model.inputSpecs.push_back({{"user_input", {{"arg", {{"as_tensor", {{"name", "linear"}}}}}}}});
  EXPECT_THAT(errorsOf(model), ElementsAre(place + ".user_input.arg.as_tensor: expected an input of the graph, and "
                                                   "'linear' is a result"));
  model.inputSpecs[2]["user_input"]["arg"]["as_tensor"]["name"] = "x";
  EXPECT_THAT(errorsOf(model),
              ElementsAre(place + ".user_input.arg.as_tensor: 'x' has an input specification already"));
}

TEST(Signature, RefusesTwoParametersOfOneName) {
  TestModel model = linearModel();
  model.parameter("other.weight", {4, 3});
  model.inputSpecs[2]["parameter"]["parameter_name"] = "proj.weight";
  EXPECT_THAT(errorsOf(model),
              ElementsAre("'models/model.json' at graph_module.signature.input_specs[2].parameter: two "
                          "input specifications have the name 'proj.weight'"));
}

TEST(Signature, RefusesAParameterWhoseShapeHasSymbols) {
  TestModel model = linearModel();
  model.graph.json["tensor_values"]["p_proj_weight"] = tensorMeta({symbol("s0"), 3});
  EXPECT_THAT(errorsOf(model),
              ElementsAre("'models/model.json' at graph_module.signature.input_specs[0].parameter.arg: "
                          "expected 'proj.weight' to have a shape without symbols"));
}

TEST(Signature, RefusesTwoOutputsOfOneName) {
  TestModel model = linearModel();
  model.output("linear");
  model.outSpec({{"type", "builtins.dict"}, {"context", "[1, \"1\"]"}, {"children_spec", {leaf(), leaf()}}});
  EXPECT_THAT(errorsOf(model), ElementsAre("'models/model.json' at graph_module.signature.output_specs[1]: two outputs "
                                           "have the name '1'"));
}

} // namespace
