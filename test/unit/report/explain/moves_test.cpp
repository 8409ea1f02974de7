//===- moves_test.cpp - causes of reshards --------------------------------===//

#include "compiler/report/explain/moves.h"
#include "test/unit/report/explain/plan_module.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// The moves of a program.
class MovesOf : public testing::Test {
protected:
  explicit MovesOf(const std::string &text) : module(text) {}

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

  PlanModule module;
  MoveTable moves{module.function()};
};

/// Moves 0 (gather for `up`), 1 and 2 (reduce-scatter after `down` of layers 0 and 1).
class MovesTest : public MovesOf {
protected:
  MovesTest() : MovesOf(twoLayers) {}
};

} // namespace

TEST_F(MovesTest, AWholeParameterCausesNothing) { EXPECT_THAT(causedBy(1), IsEmpty()); }

TEST_F(MovesTest, ADividedParameterNeedsItsInput) { EXPECT_THAT(causedBy(2), ElementsAre(0)); }

TEST_F(MovesTest, AnAddendIsSummedForItsOwnLayer) {
  // Both layers have the same statement; the addends of one layer do not reach the other.
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
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @forward(%x: tensor<4x8xf32, #plan.sharding<[{"dp"}, {"tp"}]>> {plan.kind = #plan.kind<input>, plan.names = ["x"]})
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

namespace {

/// A norm that shards the sequence, a linear operator whose weight is gathered, and calls around both. Moves: 0 the
/// slice before the norm, 1 the gather of the weight, 2 that of its input, 3 and 4 after it, 5 that of the output.
constexpr const char *gatheredWeight = R"(
!rows = tensor<4x6x8xf32, #plan.sharding<[{"dp"}, {}, {}]>>
!both = tensor<4x6x8xf32, #plan.sharding<[{"dp"}, {"tp"}, {}]>>
!whole = tensor<4x6x8xf32, #plan.sharding<[{}, {}, {}]>>
#input = #plan.cause<"dp" because "input x" at loc("a.plan":9:1)>
#sequence = #plan.cause<"tp" because "sequence tp" at loc("a.plan":1:7)>
#norm = loc(fused<[#input, #sequence]>["norm"])
#taken = loc(fused<[#input]>["a.plan":5:5])
#linear = loc(fused<[#input]>["linear"])
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @forward(
    %x: !rows {plan.kind = #plan.kind<input>, plan.names = ["x"]} loc("a.plan":9:1),
    %g: tensor<8xf32, #plan.sharding<[{}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["norm.weight"]} loc("a.plan":1:7),
    %w: tensor<8x8xf32, #plan.sharding<[{}, {"dp"}]>> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]} loc("a.plan":2:7))
    -> (!whole {plan.name = "y"}) {
  %s = plan.slice %x [#plan.axis<"tp">] dim 1 : !rows -> !both loc("a.plan":1:7)
  %n = plan.call "aten.mul.Tensor"(%s, %g) {self = #base.operand<0>, other = #base.operand<1>} in "norm"
      : (!both, tensor<8xf32, #plan.sharding<[{}]>>) -> !both loc(#norm)
  %f = plan.all_gather %w [#plan.axis<"dp">] dim 1 : tensor<8x8xf32, #plan.sharding<[{}, {"dp"}]>>
      -> tensor<8x8xf32, #plan.sharding<[{}, {}]>> loc("a.plan":2:7)
  %m = plan.all_gather %n [#plan.axis<"tp">] dim 1 : !both -> !rows loc(#taken)
  %h = plan.call "aten.linear.default"(%m, %f) {input = #base.operand<0>, weight = #base.operand<1>} in "linear"
      : (!rows, tensor<8x8xf32, #plan.sharding<[{}, {}]>>) -> !rows loc(#linear)
  %t = plan.slice %h [#plan.axis<"tp">] dim 1 : !rows -> !both loc("a.plan":1:7)
  %u = plan.all_gather %t [#plan.axis<"tp">] dim 1 : !both -> !rows loc("a.plan":2:7)
  %z = plan.call "aten.add.Tensor"(%x, %u) {self = #base.operand<0>, other = #base.operand<1>}
      : (!rows, !rows) -> !rows loc(#norm)
  %y = plan.all_gather %z [#plan.axis<"dp">] dim 0 : !rows -> !whole loc("a.plan":9:1)
  return %y : !whole
}
)";

class GatheredWeightTest : public MovesOf {
protected:
  GatheredWeightTest() : MovesOf(gatheredWeight) {}
};

} // namespace

TEST_F(GatheredWeightTest, AWholeParameterCausesWhatItsOwnStatementMoves) { EXPECT_THAT(causedBy(1), ElementsAre(0)); }

TEST_F(GatheredWeightTest, AParameterCausesItsOwnGatherAndThatOfItsInput) {
  // Not 4, which has its statement, too: the calls in between have other causes.
  EXPECT_THAT(causedBy(2), ElementsAre(1, 2));
}

TEST_F(GatheredWeightTest, AnInputCausesWhatItsStatementIsBehind) {
  // Its own slice, and the gather of the output: the addition before it has the input's axis, among others. Moves for
  // other operands there (4) have their own causes, although the input is sharded.
  EXPECT_THAT(causedBy(0), ElementsAre(0, 5));
}
