//===- dim_extents_test.cpp - extents of named dims -----------------------===//

#include "compiler/frontend/bind.h"
#include "test/unit/frontend/models.h"

#include <gtest/gtest.h>

using namespace meshplan;

namespace {

BoundInput input(std::vector<std::pair<const char *, int64_t>> dims) {
  BoundInput result;
  for (auto [name, extent] : dims)
    result.dims.push_back({name, extent, {}, {}});
  return result;
}

TEST(DimExtents, NamedDimsOfInputs) {
  BoundPlan plan;
  plan.inputs = {input({{"batch", 4}, {"", 7}, {"seq", 8}}), input({}), input({{"batch", 4}, {"width", 0}})};
  llvm::StringMap<int64_t> extents = dimExtents(plan);
  EXPECT_EQ(extents.size(), 3u) << "an unnamed dim is none";
  EXPECT_EQ(extents.lookup("batch"), 4);
  EXPECT_EQ(extents.lookup("seq"), 8);
  EXPECT_TRUE(extents.contains("width"));
  EXPECT_EQ(extents.lookup("width"), 0) << "a name without an extent is known all the same";
}

TEST(DimExtents, OutputsSayNothing) {
  BoundPlan plan;
  BoundOutput output;
  output.dims = {{"vocabulary", 49152, {}, {}}};
  plan.outputs = {output};
  EXPECT_TRUE(dimExtents(plan).empty());
}

TEST(DimExtents, AreThoseOfABoundPlan) {
  test::Outcome outcome = test::bindTo(
      test::llama(1), "plan p {\nmesh dp = 2\ninput input_ids: [batch over dp, seq]\ninput labels: [batch, _]\nrest: "
                      "replicate\n}\n");
  ASSERT_TRUE(outcome.plan) << outcome.text;
  llvm::StringMap<int64_t> extents = dimExtents(*outcome.plan);
  EXPECT_EQ(extents.lookup("batch"), 4);
  EXPECT_EQ(extents.lookup("seq"), 8);
  EXPECT_EQ(extents.size(), 2u);
}

} // namespace
