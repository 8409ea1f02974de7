//===- reshard_steps_test.cpp - the steps of a reshard and their bytes ----===//

#include "test/unit/dialect/plan_text.h"
#include "test/unit/sharding/simulated_ranks.h"

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

struct Case {
  const char *shape, *from, *to, *steps;
  int64_t bytes; ///< that the busiest rank sends
};

class ReshardSteps : public PlanText {
protected:
  ReshardSteps() {
    readModule("plan.mesh [#base.mesh_axis<\"a\" = 2>, #base.mesh_axis<\"b\" = 2>, #base.mesh_axis<\"c\" = 4>]");
  }

  /// "all_to_all c from 0 to 1", and so on for each step.
  static std::string describe(ArrayRef<ReshardStep> steps) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (const ReshardStep &step : steps) {
      stream << (text.empty() ? "" : "; ") << (step.kind ? base::stringifyCollectiveKind(*step.kind) : "slice");
      for (AxisRefAttr axis : step.axes) {
        stream << ' ' << axis.getName();
        if (!axis.isWhole())
          stream << ":(" << axis.getPre() << ')' << axis.getSize();
      }
      if (step.fromDim >= 0)
        stream << " from " << step.fromDim;
      if (step.dim >= 0)
        stream << (step.fromDim >= 0 ? " to " : " dim ") << step.dim;
    }
    return text;
  }

  void check(ArrayRef<Case> cases) {
    for (const Case &each : cases) {
      SCOPED_TRACE(std::string(each.shape) + " from " + each.from + " to " + each.to);
      auto tensor =
          type<RankedTensorType>((Twine("tensor<") + each.shape + ", #plan.sharding<" + each.from + ">>").str());
      SmallVector<ReshardStep> steps = planReshard(tensor, sharding(each.to), mesh());
      EXPECT_EQ(describe(steps), each.steps);
      EXPECT_EQ(reshardBytes(tensor, sharding(each.to), mesh()), each.bytes);
      SimulatedRanks(mesh(), tensor.getShape()).run(getSharding(tensor), steps, sharding(each.to));
    }
  }
};

// The tensor has 512 bytes.
TEST_F(ReshardSteps, ReductionsMoveAsLittleAsTheTargetLets) {
  check({
      // Three quarters of the tensor go to the others; an all-reduce also returns them.
      {"8x16xf32", R"([{}, {}], partial = sum {"c"})", R"([{}, {"c"}])", "reduce_scatter c dim 1", 384},
      {"8x16xf32", R"([{}, {}], partial = sum {"c"})", R"([{}, {}])", "all_reduce c", 768},
      // A part that the rank does not keep is dropped first, so that half as much is reduced.
      {"8x16xf32", R"([{}, {}], partial = sum {"c"})", R"([{"a"}, {}])", "slice a dim 0; all_reduce c", 384},
      {"8x16xf32", R"([{}, {}], partial = sum {"c"})", R"([{"c"}, {"a"}])", "slice a dim 1; reduce_scatter c dim 0",
       192},
      {"8x16xf32", R"([{}, {}], partial = sum {"c"})", R"([{"a", "c"}, {}])", "slice a dim 0; reduce_scatter c dim 0",
       192},
      // One axis is scattered, and the other is reduced on a quarter.
      {"8x16xf32", R"([{}, {}], partial = sum {"a", "c"})", R"([{"c"}, {}])", "reduce_scatter c dim 0; all_reduce a",
       384 + 128},
      {"8x16xf32", R"([{}, {}], partial = sum {"a", "c"})", R"([{"a"}, {"c"}])",
       "reduce_scatter a dim 0; reduce_scatter c dim 1", 256 + 192},
      {"8x16xf32", R"([{}, {}], partial = sum {"a", "c"})", R"([{"a", "c"}, {}])", "reduce_scatter a c dim 0", 448},
      // A scalar has no dim to shard.
      {"f32", R"([], partial = max {"c"})", "[]", "all_reduce c", 6},
  });
}

TEST_F(ReshardSteps, AddendsThatTheTargetKeepsStay) {
  check({
      {"8x16xf32", R"([{}, {}], partial = sum {"a", "c"})", R"([{}, {}], partial = sum {"a"})", "all_reduce c", 768},
      {"8x16xf32", R"([{}, {}], partial = sum {"a", "c"})", R"([{}, {"c"}], partial = sum {"a"})",
       "reduce_scatter c dim 1", 384},
      {"8x16xf32", R"([{"b"}, {}], partial = sum {"a"})", R"([{}, {"b"}], partial = sum {"a"})",
       "all_to_all b from 0 to 1", 128},
      {"8x16xf32", R"([{}, {}], partial = max {"a", "c"})", R"([{}, {"b"}], partial = max {"a"})",
       "slice b dim 1; all_reduce c", 384},
      {"8x16xf32", R"([{}, {}], partial = min {"a", "c"})", R"([{}, {"c"}], partial = min {"a"})",
       "reduce_scatter c dim 1", 384},
      {"8xf32", R"([{"a"}], partial = sum {"c"})", R"([{"b"}], partial = sum {"c"})", "permute a b", 16},
      {"8xf32", R"([{"a"}], partial = sum {"c"})", R"([{"b"}])", "all_reduce c; permute a b", 24 + 16},
  });
}

TEST_F(ReshardSteps, AxesMoveTogether) {
  check({
      // Of its quarter a rank keeps a quarter.
      {"8x16xf32", R"([{"c"}, {}])", R"([{}, {"c"}])", "all_to_all c from 0 to 1", 96},
      {"8x16xf32", R"([{"a", "c"}, {}])", R"([{}, {"a", "c"}])", "all_to_all a c from 0 to 1", 56},
      {"8x16xf32", R"([{"a", "c"}, {}])", R"([{"a"}, {"c"}])", "all_to_all c from 0 to 1", 48},
      // An axis that moves to another dim does so before the rest is gathered.
      {"8x16xf32", R"([{"a", "c"}, {}])", R"([{}, {"c"}])", "all_to_all c from 0 to 1; all_gather a dim 0", 48 + 64},
      // An axis that must become minor to a new one is in the way.
      {"8x16xf32", R"([{"a", "c"}, {}])", R"([{"c"}, {}])", "all_gather a c dim 0; slice c dim 0", 448},
      {"8x16xf32", R"([{"a"}, {"c"}])", R"([{"c"}, {"a"}])",
       "all_gather a dim 0; all_to_all c from 1 to 0; slice a dim 1", 64 + 96},
      {"4x4x4xf32", R"([{"a"}, {"b"}, {}])", R"([{}, {"b"}, {"a"}])", "all_to_all a from 0 to 2", 32},
  });
}

TEST_F(ReshardSteps, ShardsOfOneSizeAreExchangedWhole) {
  check({
      {"8x16xf32", R"([{"a"}, {"b"}])", R"([{"b"}, {"a"}])", "permute a b", 128},
      // Shards stay inside those of the major axis that both divisions have.
      {"16xf32", R"([{"c", "a", "b"}])", R"([{"c", "b", "a"}])", "permute a b", 4},
      {"8x16xf32", R"([{"c"}, {"a", "b"}])", R"([{"a", "b"}, {"c"}])", "permute c a b", 32},
      {"8x16xf32", R"([{"a"}, {"c"}])", R"([{"b"}, {"c"}])", "permute a b", 64},
      // Digits of an axis: the group has all elements that any of its ranks needs.
      {"16xf32", R"([{"c":(1)2, "a"}])", R"([{"c"}])", "permute c a", 16},
      {"16xf32", R"([{"c"}])", R"([{"c":(1)2, "a"}])", "permute c a", 16},
      {"16xf32", R"([{"c":(2)2}])", R"([{"c":(1)2}])", "permute c:(2)2 c:(1)2", 32},
      {"8x16xf32", R"([{"c"}, {"a", "b"}])", R"([{"c":(1)2, "a"}, {"c":(2)2, "b"}])", "permute c a b", 32},
      {"8x16xf32", R"([{"c":(1)2, "a"}, {"c":(2)2, "b"}])", R"([{"c"}, {"a", "b"}])", "permute c a b", 32},
  });
}

TEST_F(ReshardSteps, ShardsOfSeveralSizesAreSplitAgain) {
  check({
      // 7 elements are 4 and 3: the gather yields the larger half.
      {"7xf32", R"([{"a"}])", R"([{"b"}])", "all_gather a dim 0; slice b dim 0", 14},
      {"6xf32", R"([{"c"}])", R"([{"a", "b"}])", "all_gather c dim 0; slice a b dim 0", 18},
      {"12xf32", R"([{"a", unit 4}])", R"([{"b", unit 4}])", "all_gather a dim 0; slice b dim 0", 24},
      {"12xf32", R"([{"a"}])", R"([{"a", unit 4}])", "all_gather a dim 0; slice a dim 0", 24},
      {"8xf32", R"([{"a", parts [4, 4]}])", R"([{"b", parts [4, 4]}])", "all_gather a dim 0; slice b dim 0", 16},
      {"8xf32", R"([{"a"}])", R"([{"b", parts [4, 4]}])", "all_gather a dim 0; slice b dim 0", 16},
      {"8xf32", R"([{"a", parts [4, 4]}])", R"([{"b"}])", "all_gather a dim 0; slice b dim 0", 16},
      // A minor axis is gathered without the major ones.
      {"7xf32", R"([{"a", "b"}])", R"([{"a"}])", "all_gather b dim 0", 8},
      {"7xf32", R"([{"a"}])", R"([{"a", "b"}])", "slice b dim 0", 0},
      {"7x4xf32", R"([{"a", "b"}, {}])", R"([{"a"}, {"b"}])", "all_to_all b from 0 to 1", 16},
      // A shard may be empty.
      {"1xf32", R"([{"a"}])", "[{}]", "all_gather a dim 0", 2},
      {"0xf32", R"([{"a"}])", "[{}]", "all_gather a dim 0", 0},
  });
}

TEST_F(ReshardSteps, FlatAxesComeLastAndGoFirst) {
  check({
      // A replicated tensor is sliced without communication, and gathered back.
      {"8x16xf32", "[{}, {}]", R"([{}, {}], flat = {"c"})", "slice c", 0},
      {"8x16xf32", R"([{}, {}], flat = {"c"})", "[{}, {}]", "all_gather c", 384},
      {"8x16xf32", R"([{"a"}, {}], flat = {"c"})", R"([{"a"}, {}])", "all_gather c", 192},
      {"8x16xf32", R"([{}, {}], flat = {"a", "c"})", "[{}, {}]", "all_gather a c", 448},
      // A gradient is reduce-scattered to the run that the rank keeps.
      {"8x16xf32", R"([{}, {}], partial = sum {"c"})", R"([{}, {}], flat = {"c"})", "reduce_scatter c", 384},
      {"8x16xf32", R"([{"a"}, {}], partial = sum {"c"})", R"([{"a"}, {}], flat = {"c"})", "reduce_scatter c", 192},
      // The run is reduced over the other axes once it is small.
      {"8x16xf32", R"([{}, {}], partial = sum {"a", "c"})", R"([{}, {}], flat = {"c"})",
       "reduce_scatter c; all_reduce a", 384 + 128},
      {"8x16xf32", R"([{}, {}], partial = sum {"a", "c"})", R"([{}, {}], flat = {"a", "c"})", "reduce_scatter a c",
       448},
      // Free and partial axes alternate.
      {"8x16xf32", R"([{}, {}], partial = sum {"c"})", R"([{}, {}], flat = {"a", "c"})", "slice a; reduce_scatter c",
       192},
      {"8x16xf32", R"([{}, {}], partial = sum {"a"})", R"([{}, {}], flat = {"a", "c"})", "reduce_scatter a; slice c",
       256},
      // Dims first: once another axis shards a dim, less is reduced.
      {"8x16xf32", R"([{}, {}], partial = sum {"c"})", R"([{"a"}, {}], flat = {"c"})",
       "slice a dim 0; reduce_scatter c", 192},
      {"8x16xf32", R"([{}, {}], partial = sum {"a", "c"})", R"([{"a"}, {}], flat = {"c"})",
       "reduce_scatter a dim 0; reduce_scatter c", 256 + 192},
      // Runs over other axes are gathered and sliced again.
      {"8x16xf32", R"([{}, {}], flat = {"a"})", R"([{}, {}], flat = {"b"})", "all_gather a; slice b", 256},
      {"8x16xf32", R"([{"a"}, {}], flat = {"c"})", R"([{}, {"a"}], flat = {"c"})",
       "all_gather c; all_to_all a from 0 to 1; slice c", 192 + 128},
      // 35 elements are 9, 9, 9 and 8.
      {"5x7xf32", R"([{}, {}], flat = {"c"})", "[{}, {}]", "all_gather c", 105},
      {"f32", R"([], partial = sum {"c"})", R"([], flat = {"c"})", "reduce_scatter c", 3},
  });
}

// 3 blocks that count 3 times each are distributed over 4 ranks: neighbours share blocks.
TEST_F(ReshardSteps, SharedUnitsAreMadeBySlicesOnly) {
  check({
      {"4x24xf32", R"([{"c"}, {}])", R"([{}, {"c", unit 8, repeat 3}])", "all_gather c dim 0; slice c dim 1", 288},
      {"24xf32", R"([{"a"}])", R"([{"c", unit 8, repeat 3}])", "all_gather a dim 0; slice c dim 0", 48},
      {"4x24xf32", R"([{}, {"c", unit 8, repeat 3}])", R"([{"c"}, {}])", "slice dim 1; all_to_all c from 1 to 0",
       128 - 32},
  });
}

} // namespace
