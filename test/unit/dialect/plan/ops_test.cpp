//===- ops_test.cpp - what the mesh says of its axes ----------------------===//

#include "dialect/plan/plan.h"
#include "test/unit/dialect/parsed_text.h"
#include <gmock/gmock.h>

using namespace meshplan::plan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace meshplan {
namespace {

using PlanMesh = ParsedText<PlanDialect>;

TEST_F(PlanMesh, KnowsItsAxes) {
  auto owner = module("plan.mesh [#plan.mesh_axis<\"dp\" = 2>, #plan.mesh_axis<\"tp\" = 3>]");
  MeshOp mesh = getMesh(*owner);
  EXPECT_EQ(mesh.getWorldSize(), 6);
  EXPECT_THAT(mesh.getAxisNames(), ElementsAre("dp", "tp"));
  EXPECT_EQ(mesh.findAxis("tp"), 1);
  EXPECT_EQ(mesh.getAxisSize(mesh.findAxis("tp")), 3);
  EXPECT_EQ(mesh.findAxis("t"), -1);
  EXPECT_EQ(mesh.findAxis(""), -1);
}

TEST_F(PlanMesh, WithoutAxesIsOneRank) {
  auto owner = module("plan.mesh []");
  MeshOp mesh = getMesh(*owner);
  EXPECT_EQ(mesh.getWorldSize(), 1);
  EXPECT_THAT(mesh.getAxisNames(), IsEmpty());
  EXPECT_EQ(mesh.findAxis("tp"), -1);
}

} // namespace
} // namespace meshplan
