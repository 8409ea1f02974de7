//===- dim_classes_test.cpp - dims that are sharded together --------------===//

#include "compiler/draft/dim_classes.h"
#include "test/unit/draft/graph_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(DimClasses, GatherWhatIsAroundAClass) {
  GraphOf builder;
  size_t x = builder.input(), gate = builder.linear("gate", x), up = builder.linear("up", x);
  size_t product = builder.together(gate, up), down = builder.linear("down", product);
  builder.output(down);
  DimClasses classes(builder.graph);
  EXPECT_EQ(classes.find(gate), classes.find(up));
  EXPECT_NE(classes.find(gate), classes.find(x));
  const DimClass &inner = classes[classes.find(gate)];
  EXPECT_THAT(inner.producedBy, ElementsAre(0, 1));
  EXPECT_THAT(inner.contractedBy, ElementsAre(2));
  EXPECT_FALSE(inner.wholeAt);
  EXPECT_FALSE(inner.isReduced); // by a weight only
  EXPECT_FALSE(inner.isOutput);
  EXPECT_TRUE(classes[classes.find(down)].isOutput);
}

TEST(DimClasses, TheFirstCallThatNeedsItWhole) {
  GraphOf builder;
  size_t x = builder.input();
  builder.linear("a", x);
  builder.norm("norm", x);
  builder.norm("later", x);
  EXPECT_EQ(DimClasses(builder.graph)[x].wholeAt, 1u);
}

TEST(DimClasses, OtherReductions) {
  GraphOf builder;
  size_t x = builder.input(), logits = builder.linear("head", x);
  builder.reduce(logits);
  DimClasses classes(builder.graph);
  EXPECT_TRUE(classes[classes.find(logits)].isReduced);
  EXPECT_THAT(classes[classes.find(logits)].contractedBy, IsEmpty());
}

TEST(DimClasses, RowsOfEmbeddings) {
  GraphOf builder;
  builder.embedding("embed");
  DimClasses classes(builder.graph);
  size_t rows = *builder.graph.weights[0].inputDim;
  EXPECT_THAT(classes[classes.find(rows)].lookedUpBy, ElementsAre(0));
  EXPECT_FALSE(classes[classes.find(rows)].isReduced);
}
