//===- moves_test.cpp - which reshards belong to what ---------------------===//

#include "compiler/report/explain/moves.h"
#include "test/unit/report/explain/plan_module.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// Moves 0 (gather for `up`), 1 and 2 (reduce-scatter behind `down` of layers 0 and 1).
class MovesTest : public testing::Test {
protected:
  std::vector<unsigned> causedBy(unsigned argument) {
    MoveSet set;
    moves.addCausedBy(module.function().getArgument(argument), set);
    return sorted(set);
  }

  std::vector<unsigned> ofModule(llvm::StringRef path) {
    MoveSet set;
    moves.addMovesOf(path, set);
    return sorted(set);
  }

  static std::vector<unsigned> sorted(const MoveSet &set) {
    std::vector<unsigned> list(set.begin(), set.end());
    llvm::sort(list);
    return list;
  }

  PlanModule module{twoLayers};
  MoveTable moves{module.function()};
};

} // namespace

TEST_F(MovesTest, AWholeParameterCausesNothing) { EXPECT_THAT(causedBy(1), IsEmpty()); }

TEST_F(MovesTest, ADividedParameterNeedsItsInput) { EXPECT_THAT(causedBy(2), ElementsAre(0)); }

TEST_F(MovesTest, AnAddendIsSummedForItsOwnLayer) {
  // Both layers have one statement; the addends of one layer do not reach the other.
  EXPECT_THAT(causedBy(3), ElementsAre(1));
  EXPECT_THAT(causedBy(4), ElementsAre(2));
}

TEST_F(MovesTest, AModuleHasThoseAtItsBorderAndInside) {
  EXPECT_THAT(ofModule("layers.0.norm"), ElementsAre(0));
  EXPECT_THAT(ofModule("layers.0.up"), ElementsAre(0));
  EXPECT_THAT(ofModule("layers.0"), ElementsAre(0, 1));
  EXPECT_THAT(ofModule(""), ElementsAre(0, 1, 2));
  EXPECT_THAT(ofModule("other"), IsEmpty());
}

TEST(Moves, StepsOfOneReshardAreOneMove) {
  PlanModule module(R"(
plan.mesh [#plan.mesh_axis<"dp" = 2>, #plan.mesh_axis<"tp" = 2>]
func.func @forward(%x: tensor<4x8xf32, #plan.sharding<[{"dp"}, {"tp"}]>> {plan.kind = "input", plan.names = ["x"]})
    -> (tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>, tensor<4x8xf32, #plan.sharding<[{}, {}]>>) {
  %a = plan.all_gather %x [#plan.axis<"tp">] dim 1 : tensor<4x8xf32, #plan.sharding<[{"dp"}, {"tp"}]>>
      -> tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>> loc("a.plan":1:1)
  %b = plan.all_gather %a [#plan.axis<"dp">] dim 0 : tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>>
      -> tensor<4x8xf32, #plan.sharding<[{}, {}]>> loc("a.plan":1:1)
  %c = plan.slice %b [#plan.axis<"tp">] dim 1 : tensor<4x8xf32, #plan.sharding<[{}, {}]>>
      -> tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>> loc("a.plan":2:1)
  return %c, %b : tensor<4x8xf32, #plan.sharding<[{}, {"tp"}]>>, tensor<4x8xf32, #plan.sharding<[{}, {}]>>
})");
  MoveTable moves(module.function());
  EXPECT_EQ(moves[0].steps.size(), 2u);
  EXPECT_EQ(moves[1].steps.size(), 1u);
  MoveSet way;
  moves.addWayTo(moves[1].result(), way);
  EXPECT_THAT(std::vector<unsigned>(way.begin(), way.end()), ElementsAre(0, 1));
}
