//===- stop_gradients_test.cpp - regions without gradients ------*- C++ -*-===//

#include "test/unit/archive/test_model.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan::archive;
using namespace meshplan::archive::testing;
using ::testing::ElementsAre;

namespace {

/// Adds a region, with gradients or without.
void addRegion(TestGraph &graph, const TestGraph &inner, bool enabled, const std::vector<std::string> &operands,
               const std::string &result, const Dims &dims) {
  std::vector<Json> arguments = {
      argument("", {{"as_bool", enabled}}),
      argument("", {{"as_graph", {{"name", "submod"}, {"graph", inner.json}}}}),
  };
  for (const std::string &operand : operands)
    arguments.push_back(tensor("", operand));
  graph.node("torch.ops.higher_order.wrap_with_set_grad_enabled", arguments, result, dims);
}

/// `target(operand)` of each node; an operand is named by the node that produces it.
std::vector<std::string> callsOf(const ExportedProgram &program) {
  std::vector<std::string> calls;
  for (const Node &node : program.nodes) {
    std::string call = node.target + "(";
    for (const NamedArgument &argument : node.arguments)
      visitValues(argument.value, [&](ValueId id) {
        int32_t producer = program.value(id).producer;
        call += (producer < 0 ? program.value(id).name : program.nodes[producer].target) + " ";
      });
    call.back() = ')';
    calls.push_back(call);
  }
  return calls;
}

TEST(StopGradients, WhatOthersReadOfARegionIsStoppedOnce) {
  TestModel model;
  model.parameter("w", {2});
  TestGraph inner;
  inner.input("a", {2});
  inner.node("torch.ops.aten.neg.default", {tensor("self", "a")}, "first", {2});
  inner.node("torch.ops.aten.exp.default", {tensor("self", "first")}, "second", {2});
  inner.output("second");
  addRegion(model.graph, inner, false, {"p_w"}, "made", {2});
  model.graph.node("torch.ops.aten.relu.default", {tensor("self", "made")}, "y", {2});
  model.graph.node("torch.ops.aten.mul.Tensor", {tensor("self", "made"), tensor("other", "p_w")}, "z", {2});
  model.output("y");
  model.output("z");
  model.output("made");
  ExportedProgram program = readProgram(model);
  EXPECT_THAT(callsOf(program),
              ElementsAre("aten.neg.default(p_w)", "aten.exp.default(aten.neg.default)",
                          "aten.detach.default(aten.exp.default)", "aten.relu.default(aten.detach.default)",
                          "aten.mul.Tensor(aten.detach.default p_w)"));
  EXPECT_EQ(program.outputs[2].value, program.nodes[2].results[0]);
}

/// The calls of a model whose region returns the result of `target` on `neg(w)`, or on the region's own `exp` of it,
/// followed by a `relu` of it.
std::vector<std::string> callsAround(const std::string &target, const std::vector<Json> &others, bool ofOwn = false) {
  TestModel model;
  model.parameter("w", {2});
  model.graph.node("torch.ops.aten.neg.default", {tensor("self", "p_w")}, "h", {2});
  TestGraph inner;
  inner.input("a", {2});
  if (ofOwn)
    inner.node("torch.ops.aten.exp.default", {tensor("self", "a")}, "own", {2});
  std::vector<Json> arguments = {tensor(target.find("dropout") == target.npos ? "self" : "input", ofOwn ? "own" : "a")};
  arguments.insert(arguments.end(), others.begin(), others.end());
  inner.node("torch.ops." + target, arguments, "b", {2});
  inner.output("b");
  addRegion(model.graph, inner, false, {"h"}, "made", {2});
  model.graph.node("torch.ops.aten.relu.default", {tensor("self", "made")}, "y", {2});
  model.output("y");
  return callsOf(readProgram(model));
}

TEST(StopGradients, WhatIsGivenBackKeepsItsGradient) {
  auto kept = ElementsAre("aten.neg.default(p_w)", "aten.relu.default(aten.neg.default)");
  EXPECT_THAT(callsAround("aten.to.device", {argument("non_blocking", {{"as_bool", false}})}), kept);
  EXPECT_THAT(callsAround("aten.type_as.default", {tensor("other", "a")}), kept);
  EXPECT_THAT(callsAround("aten.dropout.default",
                          {argument("p", {{"as_float", 0.5}}), argument("train", {{"as_bool", false}})}),
              kept);
  EXPECT_THAT(
      callsAround("aten.to.dtype", {argument("dtype", {{"as_scalar_type", 7}})}),
      ElementsAre("aten.neg.default(p_w)", "aten.to.dtype(aten.neg.default)", "aten.relu.default(aten.to.dtype)"))
      << "which autocast converts";
}

TEST(StopGradients, CopiesAndWhatARegionMakesAreStopped) {
  auto stopped = ElementsAre("aten.neg.default(p_w)", "aten.detach.default(aten.neg.default)",
                             "aten.relu.default(aten.detach.default)");
  EXPECT_THAT(callsAround("aten.to.device", {argument("copy", {{"as_bool", true}})}), stopped);
  EXPECT_THAT(callsAround("aten.to.device", {argument("memory_format", {{"as_memory_format", 2}})}), stopped);
  EXPECT_THAT(callsAround("aten._to_copy.default", {}), stopped);
  EXPECT_THAT(callsAround("aten.type_as.default", {tensor("other", "a")}, /*ofOwn=*/true),
              ElementsAre("aten.neg.default(p_w)", "aten.exp.default(aten.neg.default)",
                          "aten.detach.default(aten.exp.default)", "aten.relu.default(aten.detach.default)"));
}

TEST(StopGradients, ARegionWithGradientsInsideReadsWhatIsStopped) {
  TestModel model;
  model.parameter("w", {2});
  TestGraph enabled;
  enabled.input("b", {2});
  enabled.input("c", {2});
  enabled.node("torch.ops.aten.mul.Tensor", {tensor("self", "b"), tensor("other", "c")}, "product", {2});
  enabled.output("product");
  TestGraph inner;
  inner.input("a", {2});
  inner.node("torch.ops.aten.neg.default", {tensor("self", "a")}, "first", {2});
  addRegion(inner, enabled, true, {"first", "a"}, "second", {2});
  inner.output("second");
  addRegion(model.graph, inner, false, {"p_w"}, "made", {2});
  model.output("made");
  EXPECT_THAT(callsOf(readProgram(model)), ElementsAre("aten.neg.default(p_w)", "aten.detach.default(aten.neg.default)",
                                                       "aten.mul.Tensor(aten.detach.default p_w)"));
}

TEST(StopGradients, WhatARegionMakesOfInputsNeedsNone) {
  TestModel model;
  model.input("x", {2});
  TestGraph inner;
  inner.input("a", {2});
  inner.node("torch.ops.aten.cos.default", {tensor("self", "a")}, "first", {2});
  inner.output("first");
  addRegion(model.graph, inner, false, {"x"}, "made", {2});
  model.graph.node("torch.ops.aten.relu.default", {tensor("self", "made")}, "y", {2});
  model.output("y");
  EXPECT_THAT(callsOf(readProgram(model)), ElementsAre("aten.cos.default(x)", "aten.relu.default(aten.cos.default)"));
}

TEST(StopGradients, AnAliasInARegionIsAStop) {
  TestModel model = linearModel();
  TestGraph inner;
  inner.input("a", {2, 4});
  inner.node("torch.ops.aten.alias.default", {tensor("self", "a")}, "first", {2, 4});
  inner.node("torch.ops.aten.alias.default", {tensor("self", "first")}, "second", {2, 4});
  inner.output("second");
  model.graph.node("torch.ops.higher_order.wrap_with_set_grad_enabled",
                   {argument("", {{"as_bool", false}}),
                    argument("", {{"as_graph", {{"name", "submod"}, {"graph", inner.json}}}}), tensor("", "linear")},
                   "stopped", {2, 4});
  model.output("stopped");
  ExportedProgram program = readProgram(model);
  ASSERT_EQ(program.nodes.size(), 2u);
  EXPECT_EQ(program.nodes[1].target, "aten.detach.default");
  EXPECT_EQ(std::get<ValueId>(*program.nodes[1].find("self")), program.nodes[0].results[0]);
  EXPECT_EQ(program.outputs[1].value, program.nodes[1].results[0]);
}

/// What an alias in a region without gradients becomes; `outer` adds its operand "x" to the model around it.
std::string withoutGradient(const std::function<void(TestModel &)> &outer, ScalarType type = ScalarType::Float32,
                            const std::string &operand = "x") {
  TestModel model;
  outer(model);
  TestGraph inner;
  inner.input("a", {2}, type);
  inner.node("torch.ops.aten.alias.default", {tensor("self", "a")}, "same", {2}, type);
  inner.output("same");
  model.graph.node("torch.ops.higher_order.wrap_with_set_grad_enabled",
                   {argument("", {{"as_bool", false}}),
                    argument("", {{"as_graph", {{"name", "submod"}, {"graph", inner.json}}}}), tensor("", operand)},
                   "stopped", {2}, type);
  model.graph.node("torch.ops.aten.relu.default", {tensor("self", "stopped")}, "y", {2}, type);
  model.output("y");
  ExportedProgram program = readProgram(model);
  std::string targets;
  for (const Node &node : program.nodes)
    targets += node.target + " ";
  return targets;
}

TEST(StopGradients, WhatHasNoGradientNeedsNoStop) {
  const std::string relu = "aten.relu.default ", stop = "aten.detach.default ";
  const std::string bytes(8, 'x');
  EXPECT_EQ(withoutGradient([](TestModel &model) { model.parameter("w", {2}); }, ScalarType::Float32, "p_w"),
            stop + relu);
  EXPECT_EQ(withoutGradient([&](TestModel &model) { model.buffer("b", {2}, bytes); }, ScalarType::Float32, "b_b"),
            relu);
  EXPECT_EQ(withoutGradient([&](TestModel &model) { model.constant("c", {2}, bytes, ScalarType::Float32); },
                            ScalarType::Float32, "c_c"),
            relu);
  EXPECT_EQ(withoutGradient([](TestModel &model) { model.input("x", {2}); }), relu);
}

TEST(StopGradients, WhatWasStoppedOnceStaysSo) {
  auto computed = [](const char *target) {
    return [target](TestModel &model) {
      model.parameter("w", {2});
      model.graph.node(std::string("torch.ops.") + target, {tensor("self", "p_w")}, "x", {2});
    };
  };
  EXPECT_EQ(withoutGradient(computed("aten.detach.default")), "aten.detach.default aten.relu.default ");
  EXPECT_EQ(withoutGradient(computed("aten.neg.default")), "aten.neg.default aten.detach.default aten.relu.default ");
}

TEST(StopGradients, IntegersHaveNoGradient) {
  auto computed = [](ScalarType type) {
    return [type](TestModel &model) {
      model.parameter("w", {2});
      model.graph.node("torch.ops.aten.sign.default", {tensor("self", "p_w")}, "x", {2}, type);
    };
  };
  for (ScalarType type : {ScalarType::Int64, ScalarType::Bool, ScalarType::UInt8})
    EXPECT_EQ(withoutGradient(computed(type), type), "aten.sign.default aten.relu.default ");
  for (ScalarType type : {ScalarType::BFloat16, ScalarType::Float64})
    EXPECT_EQ(withoutGradient(computed(type), type), "aten.sign.default aten.detach.default aten.relu.default ");
}

} // namespace
