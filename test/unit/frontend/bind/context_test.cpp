//===- context_test.cpp - the model with its paths as trees ---------------===//

#include "compiler/frontend/path_pattern.h"
#include "test/unit/frontend/bind/bind_context.h"

#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::bind;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// The root holds `scale`; a holds one parameter under two names, and `bias`; c and a.b share one, which d reads; e is
/// not shared.
class BindContextOf : public test::BindContext {
protected:
  BindContextOf() {
    model.modules = {{"", "Net"}, {"a", "A"}, {"a.b", "B"}, {"c", "C"}, {"d", "D"}, {"e", "E"}};
    model.parameters = {{{{1, "weight"}, {1, "alias"}}, {1}, {4}},
                        {{{0, "scale"}}, {}, {}},
                        {{{3, "weight"}, {2, "weight"}}, {2, 4}, {4, 4}},
                        {{{1, "bias"}}, {1}, {4}}};
  }
};

TEST_F(BindContextOf, EveryNameLeadsToItsParameter) {
  readPlan("");
  EXPECT_THAT(context->parameterNames, ElementsAre("a.weight", "a.alias", "scale", "c.weight", "a.b.weight", "a.bias"));
  std::vector<size_t> parameters;
  for (const NamedParameter &name : context->named)
    parameters.push_back(name.parameter);
  EXPECT_THAT(parameters, ElementsAre(0, 0, 1, 2, 2, 3));
}

TEST_F(BindContextOf, TheFirstNameIsThatOfMessages) {
  EXPECT_EQ(parameterPath(model, model.parameters[0]), "a.weight");
  EXPECT_EQ(parameterPath(model, model.parameters[1]), "scale") << "the root adds no dot";
  EXPECT_EQ(parameterPath(model, model.parameters[2]), "c.weight");
}

TEST_F(BindContextOf, AModuleHoldsWhatHasANameInIt) {
  readPlan("");
  ASSERT_EQ(context->held.size(), 6u);
  EXPECT_THAT(context->held[0], ElementsAre(1));
  EXPECT_THAT(context->held[1], ElementsAre(0, 3)) << "two names in one module are one parameter";
  EXPECT_THAT(context->held[2], ElementsAre(2));
  EXPECT_THAT(context->held[3], ElementsAre(2));
  EXPECT_THAT(context->held[4], IsEmpty()) << "reading is not holding";
  EXPECT_THAT(context->held[5], IsEmpty());
}

TEST_F(BindContextOf, AModuleIsTouchedByHoldingAndByReading) {
  readPlan("");
  EXPECT_THAT(context->touches, ElementsAre(true, true, true, true, true, false));
}

TEST_F(BindContextOf, ALeafIsTheFirstNameInsideTheModule) {
  readPlan("");
  EXPECT_EQ(context->leaf(0, 1), "weight");
  EXPECT_EQ(context->leaf(1, 0), "scale");
  EXPECT_EQ(context->leaf(2, 2), "weight");
  EXPECT_EQ(context->leaf(2, 4), "") << "d reads it under no name";
  EXPECT_EQ(context->leaf(3, 0), "");
}

TEST_F(BindContextOf, TreesAreOverModulesAndParameterNames) {
  readPlan("");
  EXPECT_THAT(context->modules.match(literalPattern("a.b")), ElementsAre(2));
  EXPECT_THAT(context->modules.match(literalPattern("")), ElementsAre(0));
  EXPECT_THAT(context->modules.match(literalPattern("a.weight")), IsEmpty());
  EXPECT_THAT(context->parameters.match(literalPattern("a.b.weight")), ElementsAre(4)) << "an index of a name";
  EXPECT_THAT(context->parameters.match(literalPattern("a.b")), IsEmpty());
}

TEST_F(BindContextOf, DimNamesAreThoseOfInputs) {
  readPlan("input a: [row, _, col]\noutput o: [out]\ninput b, c: [col, row, depth]\ninput d: []");
  EXPECT_THAT(context->dimNames, ElementsAre("row", "col", "depth")) << "each once, in the order of the plan";
}

TEST_F(BindContextOf, WithoutInputsThereAreNoDimNames) {
  readPlan("output o: [row]");
  EXPECT_THAT(context->dimNames, IsEmpty());
}

TEST(ContextOfNothing, AnEmptyModelHasNothing) {
  Syntax syntax;
  ModelOutline model;
  Environment environment;
  Sources sources;
  Diagnostics diagnostics(sources);
  Context context(syntax, model, environment, diagnostics);
  EXPECT_THAT(context.parameterNames, IsEmpty());
  EXPECT_THAT(context.held, IsEmpty());
  EXPECT_THAT(context.touches, IsEmpty());
  EXPECT_THAT(context.modules.match(literalPattern("")), IsEmpty());
}

} // namespace
