//===- graph_reader_test.cpp - JSON graph to values and nodes ---*- C++ -*-===//

#include "compiler/archive/bind_symbols.h"
#include "compiler/archive/data_extents.h"
#include "test/unit/archive/test_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan::archive;
using namespace meshplan::archive::testing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace {

std::vector<std::string> targets(const ExportedProgram &program) {
  std::vector<std::string> names;
  for (const Node &node : program.nodes)
    names.push_back(node.target);
  return names;
}

TEST(GraphReader, ReadsNodesWithArgumentsModuleAndSource) {
  ExportedProgram program = readProgram(linearModel());
  ASSERT_EQ(program.nodes.size(), 1u);
  const Node &node = program.nodes[0];
  EXPECT_EQ(node.name, "linear");
  EXPECT_EQ(node.source, "torch/linear.py:134");
  EXPECT_FALSE(node.noGrad);
  EXPECT_EQ(std::get<ValueId>(*node.find("input")), program.inputs[0].value);
  EXPECT_EQ(std::get<ValueId>(*node.find("weight")), program.parameters[0].value);
  EXPECT_EQ(node.find("bias"), nullptr);
  EXPECT_THAT(program.operands(node), ElementsAre(program.inputs[0].value, program.parameters[0].value));
  auto chain = program.moduleChain(node);
  ASSERT_EQ(chain.size(), 2u);
  EXPECT_EQ(chain[0]->className, "Net");
  EXPECT_EQ(chain[1]->className, "torch.nn.modules.linear.Linear");
  const Value &result = program.value(node.results[0]);
  EXPECT_EQ(result.producer, 0);
  EXPECT_THAT(result.dims, ElementsAre(SymbolicInt(2), SymbolicInt(4)));
}

TEST(GraphReader, ReadsEveryKindOfArgument) {
  TestModel model = linearModel();
  std::vector<Json> arguments = {
      argument("none", {{"as_none", true}}),
      argument("tensors", {{"as_tensors", {{{"name", "x"}}, {{"name", "x"}}}}}),
      argument("optional", {{"as_optional_tensors", {{{"as_none", true}}, {{"as_tensor", {{"name", "x"}}}}}}}),
      argument("absent", {{"as_optional_tensor", {{"as_none", true}}}}),
      argument("present", {{"as_optional_tensor", {{"as_tensor", {{"name", "x"}}}}}}),
      argument("int", {{"as_int", -3}}),
      argument("ints", {{"as_ints", {1, 2}}}),
      argument("symints", {{"as_sym_ints", {{{"as_int", 5}}}}}),
      argument("float", {{"as_float", 0.5}}),
      argument("infinite", {{"as_float", "-Infinity"}}),
      argument("floats", {{"as_floats", {0.25}}}),
      argument("symfloat", {{"as_sym_float", {{"as_float", 2.5}}}}),
      argument("bool", {{"as_bool", true}}),
      argument("bools", {{"as_bools", {true, false}}}),
      argument("text", {{"as_string", "none"}}),
      argument("texts", {{"as_strings", {"a", "b"}}}),
      argument("type", {{"as_scalar_type", 13}}),
      argument("format", {{"as_memory_format", 2}}),
      argument("layout", {{"as_layout", 7}}),
      argument("device", {{"as_device", {{"type", "cuda"}, {"index", 0}}}}),
      argument("pin_memory", {{"as_bool", false}})};
  model.graph.node("torch.ops.ns.op.default", arguments, "y", {2});
  ExportedProgram program = readProgram(model);
  const Node &node = program.nodes.at(1);
  ValueId x = program.inputs[0].value;
  auto get = [&](const char *name) { return *node.find(name); };
  EXPECT_EQ(get("none"), Argument(std::monostate()));
  EXPECT_THAT(std::get<std::vector<ValueId>>(get("tensors")), ElementsAre(x, x));
  EXPECT_THAT(std::get<std::vector<ValueId>>(get("optional")), ElementsAre(noValue, x));
  EXPECT_EQ(get("absent"), Argument(std::monostate()));
  EXPECT_EQ(std::get<ValueId>(get("present")), x);
  EXPECT_EQ(std::get<SymbolicInt>(get("int")), SymbolicInt(-3));
  EXPECT_THAT(std::get<std::vector<SymbolicInt>>(get("ints")), ElementsAre(SymbolicInt(1), SymbolicInt(2)));
  EXPECT_THAT(std::get<std::vector<SymbolicInt>>(get("symints")), ElementsAre(SymbolicInt(5)));
  EXPECT_EQ(std::get<double>(get("float")), 0.5);
  EXPECT_EQ(std::get<double>(get("infinite")), -std::numeric_limits<double>::infinity());
  EXPECT_THAT(std::get<std::vector<double>>(get("floats")), ElementsAre(0.25));
  EXPECT_EQ(std::get<double>(get("symfloat")), 2.5);
  EXPECT_EQ(std::get<bool>(get("bool")), true);
  EXPECT_THAT(std::get<std::vector<bool>>(get("bools")), ElementsAre(true, false));
  EXPECT_EQ(std::get<std::string>(get("text")), "none");
  EXPECT_THAT(std::get<std::vector<std::string>>(get("texts")), ElementsAre("a", "b"));
  EXPECT_EQ(std::get<ScalarType>(get("type")), ScalarType::BFloat16);
  EXPECT_EQ(std::get<MemoryFormat>(get("format")), MemoryFormat::ChannelsLast);
  EXPECT_EQ(node.arguments.size(), 18u) << "layout, device and pin_memory are gone";
  EXPECT_THAT(program.operands(node), ElementsAre(x, x, x, x));
}

TEST(GraphReader, RefusesArgumentsThatCannotBeRepresented) {
  const std::string place = "'models/model.json' at graph_module.graph.nodes[1].inputs[0].arg";
  auto errorFor = [](const Json &value) {
    TestModel model = linearModel();
    model.graph.node("torch.ops.ns.op.default", {argument("a", value)}, "y", {2});
    return errorsOf(model);
  };
  for (const char *kind : {"as_custom_obj", "as_nested_tensors", "as_int_lists", "as_string_to_argument", "as_operator",
                           "as_graph", "as_later"})
    EXPECT_THAT(errorFor({{kind, Json::object()}}),
                ElementsAre(place + ": an argument of kind '" + kind + "' is not supported"));
  EXPECT_THAT(errorFor({{"as_layout", 2}}), ElementsAre(place + ": only strided tensors are supported"));
  EXPECT_THAT(errorFor({{"as_memory_format", 9}}),
              ElementsAre(place + ": an argument of kind 'as_memory_format' is not supported"));
  EXPECT_THAT(errorFor({{"as_scalar_type", 99}}), ElementsAre(place + ".as_scalar_type: unknown element type 99"));
  EXPECT_THAT(errorFor({{"as_tensor", {{"name", "z"}}}}), ElementsAre(place + ".as_tensor: tensor 'z' is not defined"));
  EXPECT_THAT(errorFor({{"as_sym_int", {{"as_name", "n"}}}}),
              ElementsAre(place + ".as_sym_int: integer 'n' is not defined"));
}

TEST(GraphReader, FlattensListResultsAndKeepsNone) {
  TestModel model = linearModel();
  Json &node = model.graph.node("torch.ops.aten.chunk.default", {tensor("self", "x")}, "first", {2, 2});
  model.graph.json["tensor_values"]["second"] = tensorMeta({2, 1});
  node["outputs"] = {{{"as_tensors", {{{"name", "first"}}, {{"name", "second"}}}}}, {{"as_none", true}}};
  ExportedProgram program = readProgram(model);
  const Node &chunk = program.nodes.at(1);
  ASSERT_EQ(chunk.results.size(), 3u);
  EXPECT_EQ(program.value(chunk.results[1]).name, "second");
  EXPECT_EQ(program.value(chunk.results[1]).result, 1);
  EXPECT_EQ(chunk.results[2], noValue);
}

TEST(GraphReader, InlinesNoGradRegions) {
  ExportedProgram program = readProgram(regionModel());
  ASSERT_THAT(targets(program), ElementsAre("aten.cos.default", "aten.sin.default", "aten.add.Tensor"));
  EXPECT_TRUE(program.nodes[0].noGrad);
  EXPECT_TRUE(program.nodes[1].noGrad);
  EXPECT_FALSE(program.nodes[2].noGrad);
  ValueId x = program.inputs[0].value;
  EXPECT_EQ(std::get<ValueId>(*program.nodes[0].find("self")), x);
  EXPECT_EQ(std::get<ValueId>(*program.nodes[2].find("self")), x);
  EXPECT_EQ(std::get<ValueId>(*program.nodes[2].find("other")), program.nodes[1].results[0]);
  EXPECT_EQ(program.value(program.nodes[1].results[0]).name, "x$1");
}

TEST(GraphReader, KeepsGradientsInARegionThatEnablesThem) {
  EXPECT_FALSE(readProgram(regionModel(/*enabled=*/true)).nodes.at(0).noGrad);
}

TEST(GraphReader, RefusesRegionsThatDoNotFit) {
  TestModel model = regionModel();
  model.graph.json["nodes"][0]["inputs"].erase(2);
  EXPECT_THAT(errorsOf(model), Contains("'models/model.json' at graph_module.graph.nodes[0].inputs: region takes 1 "
                                        "operands, 0 are given"));
  model = regionModel();
  model.graph.json["nodes"][0]["outputs"].push_back({{"as_none", true}});
  EXPECT_THAT(errorsOf(model),
              Contains("'models/model.json' at graph_module.graph.nodes[0]: region returns 1 values, 2 are taken"));
  model = regionModel();
  model.graph.json["nodes"][0]["inputs"] = Json::array();
  EXPECT_THAT(errorsOf(model), Contains("'models/model.json' at graph_module.graph.nodes[0].inputs: a gradient region "
                                        "needs a flag and a graph"));
}

/// The region of regionModel under torch.autocast for this device.
TestModel autocastModel(const std::string &device, bool enabled) {
  TestModel model = regionModel();
  Json &node = model.graph.json["nodes"][0];
  node["target"] = "torch.ops.higher_order.wrap_with_autocast";
  Json settings = Json::array({argument("", {{"as_string", device}}), argument("", {{"as_scalar_type", 13}}),
                               argument("", {{"as_bool", enabled}}), argument("", {{"as_bool", false}})});
  settings.insert(settings.end(), node["inputs"].begin() + 1, node["inputs"].end());
  node["inputs"] = settings;
  return model;
}

TEST(GraphReader, InlinesRegionsWithoutAutocast) {
  ExportedProgram program = readProgram(autocastModel("cpu", false));
  ASSERT_THAT(targets(program), ElementsAre("aten.cos.default", "aten.sin.default", "aten.add.Tensor"));
  EXPECT_EQ(program.nodes[0].autocastOff, everyDevice.str()) << "the tensors are on a CPU";
  EXPECT_EQ(program.nodes[2].autocastOff, "");
  EXPECT_FALSE(program.nodes[0].noGrad);
  EXPECT_EQ(readProgram(autocastModel("cuda", false)).nodes[0].autocastOff, "cuda");
  TestModel model = autocastModel("cpu", false);
  model.graph.json["nodes"][0]["inputs"] = Json::array();
  EXPECT_THAT(errorsOf(model), Contains("'models/model.json' at graph_module.graph.nodes[0].inputs: an autocast region "
                                        "needs four settings and a graph"));
}

TEST(GraphReader, RefusesRegionsUnderAutocast) {
  EXPECT_THAT(errorsOf(autocastModel("cpu", true)),
              ElementsAre("'models/model.json' at graph_module.graph.nodes[0]: the graph has a region under "
                          "torch.autocast('cpu'), whose conversions it does not show\nhelp: export with 'ep = "
                          "ep.run_decompositions({})' before torch.export.save, which inlines the region"));
}

TEST(GraphReader, RefusesOtherRegionsWithTheWayOut) {
  TestModel model = regionModel();
  // No message about the readers of its results.
  model.graph.json["nodes"][0]["target"] = "torch.ops.higher_order.cond";
  EXPECT_THAT(errorsOf(model),
              ElementsAre("'models/model.json' at graph_module.graph.nodes[0]: higher-order operator "
                          "'higher_order.cond' is not supported\nhelp: a plan is for one graph: export the model "
                          "with the branch or the loop written out"));
}

TEST(GraphReader, DropsAsserts) {
  TestModel model = linearModel();
  for (const char *name : {"_assert_tensor_metadata.default", "_assert_scalar.default", "sym_constrain_range.default"})
    model.graph.node(std::string("torch.ops.aten.") + name, {tensor("a", "x")}, "unused", {})["outputs"] =
        Json::array();
  EXPECT_THAT(targets(readProgram(model)), ElementsAre("aten.linear.default"));
}

TEST(GraphReader, RefusesFunctionsThatAreNoOperators) {
  TestModel model = linearModel();
  model.graph.node("_operator.matmul", {tensor("a", "x")}, "y", {2});
  EXPECT_THAT(errorsOf(model), ElementsAre("'models/model.json' at graph_module.graph.nodes[1]: operator "
                                           "'_operator.matmul' is not supported"));
}

TestModel dynamicModel() {
  TestModel model;
  model.input("x", {symbol("s0"), 4});
  std::string twice = "Mul(Integer(2), " + symbol("s0") + ")";
  Json &size = model.graph.node("torch.ops.aten.sym_size.int", {tensor("self", "x")}, "n", {});
  size["outputs"] = Json::array({{{"as_sym_int", {{"as_name", "n"}}}}});
  Json &product = model.graph.node("_operator.mul", {}, "mul", {});
  product["outputs"] = Json::array({{{"as_sym_int", {{"as_name", "mul"}}}}});
  model.graph.json["sym_int_values"] = {{"n", {{"as_expr", {{"expr_str", symbol("s0")}}}}},
                                        {"mul", {{"as_expr", {{"expr_str", twice}}}}}};
  model.graph.node("torch.ops.aten.view.default",
                   {tensor("self", "x"), argument("size", {{"as_sym_ints", {{{"as_name", "mul"}}, {{"as_int", 2}}}}})},
                   "view", {twice, 2});
  model.graph.node("torch.ops.aten.arange.default", {argument("end", {{"as_sym_int", {{"as_name", "n"}}}})}, "arange",
                   {symbol("s0")}, ScalarType::Int64);
  model.output("view");
  model.ranges = {{"s0", {{"min_val", 2}, {"max_val", nullptr}}}};
  return model;
}

TEST(GraphReader, ResolvesSymbolicArithmetic) {
  ExportedProgram program = readProgram(dynamicModel());
  ASSERT_THAT(targets(program), ElementsAre("aten.view.default", "aten.arange.default"));
  auto size = std::get<std::vector<SymbolicInt>>(*program.nodes[0].find("size"));
  EXPECT_EQ(toString(size[0]), "2*s0");
  EXPECT_EQ(size[1], SymbolicInt(2));
  EXPECT_EQ(toString(std::get<SymbolicInt>(*program.nodes[1].find("end"))), "s0");
  EXPECT_EQ(toString(program.value(program.outputs[0].value).dims[0]), "2*s0");
  ASSERT_EQ(program.symbols.size(), 1u);
  EXPECT_EQ(program.symbols[0].symbol, "s0");
  EXPECT_EQ(program.symbols[0].minimum, 2);
  EXPECT_EQ(program.symbols[0].maximum, INT64_MAX);
}

TEST(GraphReader, KeepsTheExtentsOfTheExample) {
  TestModel model = dynamicModel();
  EXPECT_TRUE(readProgram(model).examples.empty());
  Json &dims = model.graph.json["tensor_values"]["view"]["sizes"];
  dims[0]["as_expr"]["hint"] = {{"as_int", 8}}; // the hint of 2 * s0
  EXPECT_TRUE(readProgram(model).examples.empty());
  model.graph.json["tensor_values"]["arange"]["sizes"][0]["as_expr"]["hint"] = {{"as_int", 4}};
  EXPECT_EQ(readProgram(model).examples.lookup("s0"), 4);
}

TEST(GraphReader, RefusesShapesThatDependOnData) {
  TestModel model = dynamicModel();
  model.graph.json["tensor_values"]["view"] = tensorMeta({symbol("u0"), 2});
  EXPECT_THAT(errorsOf(model), ElementsAre("'FILE': the shape of 'view' depends on data ('u0')\nhelp: use operations "
                                           "whose result shape follows from the shapes of the inputs"));
}

TEST(GraphReader, NumbersExtentsThatMasksDefine) {
  TestModel model = dynamicModel();
  model.graph.node("torch.ops.aten.nonzero.default", {tensor("self", "x")}, "places", {symbol("u0"), 2});
  model.graph.node("torch.ops.aten.relu.default", {tensor("self", "places")}, "same", {symbol("u0"), 2});
  ExportedProgram program = readProgram(model);
  EXPECT_EQ(toString(program.values[program.nodes.back().results[0]].dims[0]), "u0");
  EXPECT_THAT(bindSymbols(program, {{"s0", 4}}), IsEmpty());
  EXPECT_EQ(program.values[program.nodes.back().results[0]].dims[0], SymbolicInt(firstDataExtent));
}

/// x times a float, given as text.
TestModel scaledModel(const std::string &text) {
  TestModel model = dynamicModel();
  model.graph.json["sym_float_values"] = {{"f", {{"as_expr", {{"expr_str", text}}}}}};
  model.graph.node("torch.ops.aten.mul.Tensor",
                   {tensor("self", "x"), argument("other", {{"as_sym_float", {{"as_name", "f"}}}})}, "scaled",
                   {symbol("s0"), 4});
  return model;
}

TEST(GraphReader, ReadsFloatsOfSizesWhereTheyAreTaken) {
  ExportedProgram program = readProgram(scaledModel("ToFloat(" + symbol("s0") + ")"));
  EXPECT_TRUE(std::holds_alternative<SymbolicScalar>(*program.nodes.back().find("other")));
  EXPECT_THAT(errorsOf(scaledModel("Gamma(" + symbol("s0") + ")")),
              ElementsAre("'models/model.json' at graph_module.graph.sym_float_values.f: symbolic function 'Gamma' is "
                          "not supported"));
  EXPECT_THAT(errorsOf(scaledModel("Symbol('zuf0')")),
              ElementsAre("'FILE': argument 'other' of 'scaled' depends on data ('zuf0')\nhelp: compute with the "
                          "tensor, without 'item()'"));
}

TEST(GraphReader, RefusesFunctionsOfSizesThatItDoesNotKnow) {
  TestModel model = dynamicModel();
  model.graph.json["tensor_values"]["view"] = tensorMeta({"Sqrt(" + symbol("s0") + ")"});
  EXPECT_THAT(errorsOf(model), ElementsAre("'models/model.json' at graph_module.graph.tensor_values.view.sizes[0]: "
                                           "symbolic function 'Sqrt' is not supported"));
}

TEST(GraphReader, RefusesSparseTensors) {
  TestModel model = linearModel();
  model.graph.json["tensor_values"]["linear"]["layout"] = 1;
  EXPECT_THAT(errorsOf(model),
              ElementsAre("'models/model.json' at graph_module.graph.tensor_values.linear.layout: "
                          "tensor 'linear' is sparse, which is not implemented yet\nhelp: compute with dense tensors"));
  model.graph.json["tensor_values"]["linear"]["layout"] = 7;
  EXPECT_THAT(errorsOf(model), IsEmpty());
}

TEST(GraphReader, RefusesValuesWithoutAShapeOrWithAnImpossibleOne) {
  TestModel model = linearModel();
  model.graph.json["tensor_values"].erase("linear");
  EXPECT_THAT(errorsOf(model), Contains(HasSubstr("tensor 'linear' has no shape in tensor_values")));
  model = linearModel();
  model.graph.json["tensor_values"]["linear"] = tensorMeta({-2});
  EXPECT_THAT(errorsOf(model), Contains("'models/model.json' at graph_module.graph.tensor_values.linear.sizes[0]: an "
                                        "extent is negative"));
  model = linearModel();
  model.graph.json["nodes"][0]["outputs"] = Json::array({{{"as_custom_obj", Json::object()}}});
  EXPECT_THAT(errorsOf(model), Contains(HasSubstr("a result of kind 'as_custom_obj' is not supported")));
}

TEST(GraphReader, RefusesMoreBytesThan64BitsCount) {
  TestModel model = linearModel();
  for (const Dims &dims : {Dims{int64_t(1) << 40, int64_t(1) << 40}, Dims{0, int64_t(1) << 40, int64_t(1) << 40}}) {
    model.graph.json["tensor_values"]["linear"] = tensorMeta(dims);
    EXPECT_THAT(errorsOf(model), ElementsAre("'models/model.json' at graph_module.graph.tensor_values.linear.sizes: "
                                             "tensor 'linear' has more bytes than 64 bits can count"));
  }
}

TEST(GraphReader, RefusesATensorDefinedTwice) {
  TestModel model = linearModel();
  model.graph.json["nodes"].push_back(model.graph.json["nodes"][0]);
  EXPECT_THAT(errorsOf(model), ElementsAre("'models/model.json' at graph_module.graph.nodes[1].outputs[0].as_tensor."
                                           "name: tensor 'linear' is defined twice"));
}

TEST(GraphReader, KnowsWhatDecompositionsMade) {
  TestModel model = linearModel();
  model.verifiers = {"TRAINING"};
  EXPECT_FALSE(readProgram(model).isDecomposed);
  model.verifiers = {"ATEN"};
  EXPECT_TRUE(readProgram(model).isDecomposed);
}

/// What decompositions leave of a `detach` and of a region without gradients.
TEST(GraphReader, StopsGradientsByTheOriginOfNodes) {
  auto targets = [](const std::string &origin) {
    TestModel model;
    model.input("x", {2});
    model.graph.node("torch.ops.aten.alias.default", {tensor("self", "x")}, "y", {2});
    model.graph.json["nodes"][0]["metadata"]["from_node"] =
        R"([{"name": "y", "target": "aten.alias.default", "from_node": [{"name": "a", "target": ")" + origin +
        R"("}]}])";
    model.graph.node("torch.ops.aten.relu.default", {tensor("self", "y")}, "z", {2});
    model.output("z");
    model.output("y");
    std::vector<std::string> result;
    for (const Node &node : readProgram(model).nodes)
      result.push_back(node.target + (node.noGrad ? " without" : ""));
    return result;
  };
  EXPECT_THAT(targets("aten.detach.default"), ElementsAre("aten.detach.default", "aten.relu.default"));
  EXPECT_THAT(targets("aten.lift.default"), ElementsAre("aten.relu.default"));

  TestModel model = linearModel();
  model.graph.json["nodes"][0]["metadata"]["torch_fn"] =
      "wrap_with_set_grad_enabled;WrapWithSetGradEnabled.wrap_with_set_grad_enabled";
  EXPECT_TRUE(readProgram(model).nodes[0].noGrad);
}

/// Stack traces of a node in `proj`, which name the forwards of its two calls.
TEST(GraphReader, FindsFunctionsWhoseBackwardIsLost) {
  auto placesOf = [](const std::string &applied, const std::string &inner) {
    TestModel model = linearModel();
    model.graph.json["nodes"][0]["metadata"]["stack_trace"] =
        "  File \"net.py\", line 7, in forward\n    x = self.proj(x)\n"
        "  File \"net.py\", line 9, in forward\n    " +
        applied + "\n" + inner;
    model.graph.json["nodes"].push_back(model.graph.json["nodes"][0]);
    model.graph.json["nodes"][1]["outputs"][0]["as_tensor"]["name"] = "x2";
    model.graph.json["tensor_values"]["x2"] = tensorMeta({2, 4});
    std::vector<std::string> places;
    for (const CustomFunction &function : readProgram(model).customFunctions)
      places.push_back(function.module + " " + function.source);
    return places;
  };
  const std::string forward = "  File \"net.py\", line 3, in forward\n    return x.view_as(x)";
  EXPECT_THAT(placesOf("return Reverse.apply(x)", forward), ElementsAre("proj net.py:9")) << "once, of two nodes";
  EXPECT_THAT(placesOf("return Reverse.apply(super().linear(x))", ""), IsEmpty()) << "its operand";
  EXPECT_THAT(placesOf("return super().forward(x)", forward), IsEmpty());
  EXPECT_THAT(placesOf("return fold.apply(x)", "  File \"net.py\", line 3, in apply\n    return x + 1"), IsEmpty());
}

TEST(GraphReader, RefusesAMalformedModuleStack) {
  TestModel model = linearModel();
  model.graph.json["nodes"][0]["metadata"]["nn_module_stack"] = "L__self__,Net";
  EXPECT_THAT(errorsOf(model), ElementsAre("'models/model.json' at graph_module.graph.nodes[0].metadata."
                                           "nn_module_stack: malformed module stack"));
}

} // namespace
