//===- message_test.cpp - exact messages, as a table ----------------------===//

#include "test/unit/frontend/message_test.h"

using namespace meshplan;
using namespace meshplan::test;

static ModelOutline modelOf(Model kind) {
  ModelOutline model = llama(2, kind == Model::Tied);
  if (kind == Model::Symbolic) {
    for (OutlineValue &input : model.inputs)
      input.dims = {{0, "s0"}, {0, "s1"}};
    for (size_t dim : {0, 1})
      model.outputs[1].dims[dim] = model.inputs[0].dims[dim];
  }
  if (kind == Model::HeadOnly)
    for (size_t i = 0; i + 1 < model.parameters.size(); ++i)
      model.parameters[i].requiresGrad = false;
  if (kind == Model::TwoLosses)
    model.outputs.push_back({"aux", {}});
  if (kind == Model::NoLoss)
    model.outputs.erase(model.outputs.begin());
  return model;
}

TEST_P(MessageTest, IsExact) {
  const MessageCase &test = GetParam();
  Outcome outcome = bindTo(modelOf(test.model), test.plan, test.definitions);
  EXPECT_EQ(outcome.text, test.expected);
  bool isError = outcome.text.find("error: ") != std::string::npos;
  EXPECT_EQ(outcome.plan.has_value(), !isError);
}
