//===- values_test.cpp - inputs, outputs and the loss ---------------------===//

#include "test/unit/frontend/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;

namespace {

/// If a fault is given, the plan is invalid, and the diagnostics contain the fault.
BoundPlan boundWithFault(const ModelOutline &model, const std::string &body, const std::string &fault = "") {
  Outcome outcome = bindTo(model, "plan p {\n  mesh dp = 2, tp = 3\n" + body + "\n rest: replicate\n}\n");
  if (fault.empty())
    EXPECT_EQ(outcome.text, "");
  else
    EXPECT_THAT(outcome.text, testing::HasSubstr(fault));
  EXPECT_EQ(outcome.plan.has_value(), fault.empty());
  return outcome.plan.value_or(BoundPlan());
}

ModelOutline symbolic() {
  ModelOutline model = llama(1);
  for (OutlineValue &input : model.inputs)
    input.dims = {{0, "s0"}, {0, "s1"}};
  return model;
}

TEST(BindValues, StaticInputs) {
  BoundPlan plan = boundWithFault(llama(1), "input input_ids, labels: [batch = 4 over dp, seq]\nloss loss");
  ASSERT_EQ(plan.inputs.size(), 2u);
  EXPECT_EQ(plan.inputs[1].dims.at(0).name, "batch");
  EXPECT_EQ(plan.inputs[1].dims[0].extent, 4);
  EXPECT_THAT(plan.inputs[1].dims[0].axes, ElementsAre(0));
  EXPECT_EQ(plan.inputs[1].dims.at(1).extent, 8);
  EXPECT_EQ(plan.loss->output, 0u);
}

TEST(BindValues, UndeclaredInputsAreWhole) {
  BoundPlan plan = boundWithFault(llama(1), "");
  ASSERT_EQ(plan.inputs.size(), 2u);
  EXPECT_EQ(plan.inputs[0].dims.at(1).extent, 8);
  EXPECT_TRUE(plan.inputs[0].dims[1].axes.empty());
  EXPECT_FALSE(plan.inputs[0].range.hasLine());
  EXPECT_FALSE(plan.loss);
}

TEST(BindValues, SymbolsAreBound) {
  BoundPlan plan = boundWithFault(
      symbolic(), "let n = 8\ninput input_ids: [batch = 2 * n over dp, seq = 128]\ninput labels: [batch, _]");
  EXPECT_EQ(plan.inputs.at(1).dims.at(0).extent, 16);
  EXPECT_EQ(plan.inputs.at(1).dims.at(1).extent, 128);
  EXPECT_EQ(plan.inputs.at(1).dims.at(1).name, "");
  ASSERT_EQ(plan.symbols.size(), 2u);
  EXPECT_EQ(plan.symbols[0].symbol, "s0");
  EXPECT_EQ(plan.symbols[0].extent, 16);
}

TEST(BindValues, SymbolTakesTheExtentOfItsName) {
  ModelOutline model = llama(1);
  model.inputs[1].dims = {{0, "s0"}, {0, "s1"}};
  BoundPlan plan = boundWithFault(model, "input input_ids: [batch, seq]\ninput labels: [batch, seq]");
  EXPECT_EQ(plan.inputs.at(1).dims.at(0).extent, 4);
  EXPECT_EQ(plan.inputs.at(1).dims.at(1).extent, 8);
}

TEST(BindValues, OutputsByNameAndNumber) {
  BoundPlan plan = boundWithFault(llama(1), "input 0: [batch, _]\noutput 1: [batch over dp, _, _ over tp]\nloss 0");
  ASSERT_EQ(plan.outputs.size(), 1u);
  EXPECT_EQ(plan.outputs[0].output, 1u);
  EXPECT_THAT(plan.outputs[0].dims.at(2).axes, ElementsAre(1));
  EXPECT_EQ(plan.loss->output, 0u);
}

TEST(BindValues, WhatIsWrittenInAnExtentIsEvaluated) {
  BoundPlan plan = boundWithFault(llama(1), "let n = 2\ninput input_ids: [batch = 2 * n, seq = (n + 2) * 2]");
  EXPECT_EQ(plan.inputs.at(0).dims.at(0).extent, 4);
  EXPECT_EQ(plan.inputs.at(0).dims.at(1).extent, 8);
  EXPECT_TRUE(plan.inputs.at(0).range.hasLine());
  EXPECT_FALSE(plan.inputs.at(1).range.hasLine()) << "it is not declared";
}

TEST(BindValues, ANumberIsTheValueOfThatNameFirst) {
  ModelOutline model = llama(1);
  model.inputs = {{"1", {{4, ""}}}, {"0", {{8, ""}}}, {"x", {{3, ""}}}};
  BoundPlan plan = boundWithFault(model, "input 1: [a over dp]\ninput 2: [b over tp]");
  EXPECT_EQ(plan.inputs.at(0).dims.at(0).name, "a") << "the name, not the number";
  EXPECT_EQ(plan.inputs.at(1).dims.at(0).name, "");
  EXPECT_EQ(plan.inputs.at(2).dims.at(0).name, "b") << "no input has the name, so it is the number";
}

TEST(BindValues, OneStatementDeclaresSeveralValues) {
  boundWithFault(llama(1), "output loss, loss_free: []", "unknown output 'loss_free'");
  BoundPlan plan =
      boundWithFault(llama(1), "input input_ids, labels: [batch over (tp, dp), _]\noutput logits: [_ over dp, _, _]\n"
                               "output loss: []");
  for (const BoundInput &input : plan.inputs)
    EXPECT_THAT(input.dims.at(0).axes, ElementsAre(1, 0));
  ASSERT_EQ(plan.outputs.size(), 2u);
  EXPECT_EQ(plan.outputs[0].output, 1u) << "in the order of the plan";
  EXPECT_THAT(plan.outputs[1].dims, testing::IsEmpty());
}

TEST(BindValues, SymbolsAndNamesAreLearntOfEachOtherInAnyOrder) {
  // s1 has the extent of `seq`, which comes from another symbol, whose extent comes from a third value.
  ModelOutline model = llama(1);
  model.inputs = {{"a", {{0, "s1"}}}, {"b", {{0, "s2"}, {0, "s1"}}}, {"c", {{0, "s2"}}}};
  BoundPlan plan = boundWithFault(model, "input a: [seq]\ninput b: [long, _]\ninput c: [long = 12]\n", "has no extent");
  plan = boundWithFault(model, "input a: [seq]\ninput b: [seq, _]\ninput c: [long = 12]\n");
  EXPECT_EQ(plan.inputs.at(0).dims.at(0).extent, 12);
  EXPECT_EQ(plan.inputs.at(1).dims.at(1).extent, 12);
  ASSERT_EQ(plan.symbols.size(), 2u);
  EXPECT_EQ(plan.symbols[0].extent, 12);
}

TEST(BindValues, AnOutputMayHaveAnUnknownExtent) {
  ModelOutline model = llama(1);
  model.outputs[1].dims[0] = {0, "u0"};
  BoundPlan plan = boundWithFault(model, "output logits: [_ over dp, _, _]");
  EXPECT_EQ(plan.outputs.at(0).dims.at(0).extent, 0);
  EXPECT_EQ(plan.outputs[0].dims.at(1).extent, 8);
  // An output does not determine a symbol that an input needs.
  model.inputs[0].dims[0] = {0, "u0"};
  boundWithFault(model, "output logits: [_ over dp, _, _]", "dim 0 of input 'input_ids' has no extent: it is 'u0'");
}

TEST(BindValues, ANameHasOneExtentInAllValues) {
  ModelOutline model = symbolic();
  boundWithFault(model, "input input_ids: [batch = 4, seq = 8]\ninput labels: [batch, batch]",
                 "symbol 's1' has two extents");
  boundWithFault(llama(1), "input input_ids: [n, _]\noutput logits: [_, n, _]", "dim name 'n' has two extents");
  boundWithFault(llama(1), "input input_ids: [_, _]\noutput logits: [_, _, _]");
}

TEST(BindValues, TheLossIsAScalarOfTheOutputs) {
  boundWithFault(llama(1), "loss 2", "unknown output '2'");
  boundWithFault(llama(1), "loss 1", "the loss is a scalar, and output '1' has 3 dims");
  EXPECT_EQ(boundWithFault(llama(1), "loss 0").loss->output, 0u);
}

} // namespace
