//===- input_names_test.cpp - which dims of inputs are samples ------------===//

#include "compiler/draft/input_names.h"
#include "test/unit/draft/graph_of.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// Inputs x [8, 4, features] and y [8, 4]; attention needs the first dim of x whole.
struct Attends {
  GraphOf of;
  size_t positions = of.newDim(8), samples = of.newDim(4), features = of.newDim(16);
  size_t otherPositions = of.newDim(8), otherSamples = of.newDim(4);

  FeatureGraph graph() {
    of.graph.inputs = {{positions, samples, features}, {otherPositions, otherSamples}};
    of.linear("up", features);
    return of.graph;
  }
  void whole(const std::string &target, size_t dim) {
    of.graph.calls.push_back({target, ""});
    of.graph.links.push_back({DimLink::Kind::whole, of.graph.calls.size() - 1, {dim}});
  }
};

} // namespace

TEST(InputNames, PositionsAreNeededWhole) {
  Attends model;
  model.whole("meshplan.attention", model.positions);
  EXPECT_THAT(positionsFirst(model.graph()), ElementsAre(ElementsAre("seq", "batch", "_"), ElementsAre("_", "_")));
  // Dims that are sharded together have one name.
  model.of.together(model.positions, model.otherPositions);
  EXPECT_THAT(positionsFirst(model.graph()),
              ElementsAre(ElementsAre("seq", "batch", "_"), ElementsAre("seq", "batch")));
}

TEST(InputNames, SamplesAreNot) {
  Attends model;
  EXPECT_THAT(positionsFirst(model.graph()), IsEmpty()) << "nothing attends";
  model.whole("meshplan.attention", model.samples);
  EXPECT_THAT(positionsFirst(model.graph()), IsEmpty()) << "the second dim is that of positions";
  model.whole("aten.sort.default", model.positions);
  EXPECT_THAT(positionsFirst(model.graph()), IsEmpty()) << "both are needed whole";
}

TEST(InputNames, AViewSaysNothingOfTheDimsThatItJoins) {
  Attends model;
  model.whole("meshplan.attention", model.positions);
  model.whole("aten.view.default", model.samples);
  EXPECT_THAT(positionsFirst(model.graph()).front(), ElementsAre("seq", "batch", "_"));
}

TEST(InputNames, FeaturesAreNoSamples) {
  Attends model;
  model.whole("meshplan.attention", model.positions);
  model.of.linear("mix", model.samples);
  EXPECT_THAT(positionsFirst(model.graph()), IsEmpty());
  EXPECT_THAT(positionsFirst(FeatureGraph()), IsEmpty());
}

TEST(InputNames, SamplesThatALossComparesAreNoPositions) {
  Attends model;
  model.whole("aten.roll.default", model.positions);
  EXPECT_THAT(positionsFirst(model.graph()), IsEmpty());
}
