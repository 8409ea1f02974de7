//===- ops_test.cpp - properties of ops of the dialect --------------------===//

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
  auto owner = module("plan.mesh [#base.mesh_axis<\"dp\" = 2>, #base.mesh_axis<\"tp\" = 3>]");
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

using PlanCall = ParsedText<PlanDialect>;

TEST_F(PlanCall, IsInItsModuleAndThoseAround) {
  auto owner = module("plan.call \"f\"() {} in \"h.1.mlp\" : () -> ()\nplan.call \"f\"() {} : () -> ()");
  CallOp inside = *owner->getOps<CallOp>().begin(), ofRoot = *std::next(owner->getOps<CallOp>().begin());
  for (const char *path : {"", "h", "h.1", "h.1.mlp"})
    EXPECT_TRUE(inside.isInModule(path)) << path;
  for (const char *path : {"h.1.m", "h.1.mlp.up", "h.10", "1", "."})
    EXPECT_FALSE(inside.isInModule(path)) << path;
  EXPECT_TRUE(ofRoot.isInModule(""));
  EXPECT_FALSE(ofRoot.isInModule("h"));
}

} // namespace
} // namespace meshplan
