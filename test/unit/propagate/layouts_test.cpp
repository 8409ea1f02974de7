//===- layouts_test.cpp - the side table of propagation -------------------===//

#include "compiler/transforms/propagate/layouts.h"
#include "plan_function.h"
#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;
using testing::ElementsAre;

namespace {

class LayoutsTest : public PlanFunction {
protected:
  LayoutsTest()
      : PlanFunction("%x: tensor<8x4xf32>", R"(
      %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
      %1 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (tensor<8x4xf32>) -> tensor<8x4xf32>)") {}

  /// Decides the argument; line 3 causes its tp, and line 4 its dp.
  void decideWithCauses(StringRef layout) {
    layouts.decide(argument(0), sharding(layout));
    layouts.setCause(argument(0), axis("tp"), cause(3));
    layouts.setCause(argument(0), axis("dp"), cause(4));
  }

  Cause cause(unsigned line, StringRef style = "rowwise tp") {
    return {FileLineColLoc::get(&context, "a.plan", line, 1), StringAttr::get(&context, style)};
  }
  unsigned lineOf(std::optional<Cause> cause) { return cast<FileLineColLoc>(cause->location).getLine(); }

  Layouts layouts{mesh()};
};

TEST_F(LayoutsTest, ADecisionIsWrittenToTheType) {
  layouts.decide(argument(0), sharding("[{\"tp\"}, {}]"));
  EXPECT_EQ(getSharding(argument(0)), sharding("[{\"tp\"}, {}]"));
  EXPECT_EQ(layouts.current(argument(0)), argument(0));
}

TEST_F(LayoutsTest, VersionsAreKnownByTheirLayout) {
  ShardingAttr divided = sharding("[{\"tp\"}, {}]"), whole = sharding("[{}, {}]");
  layouts.decide(argument(0), divided);
  EXPECT_TRUE(layouts.has(argument(0), divided));
  EXPECT_FALSE(layouts.has(argument(0), whole));
  Value made = layouts.obtain(argument(0), whole, op(0), cause(3));
  EXPECT_TRUE(layouts.has(argument(0), whole));
  EXPECT_TRUE(layouts.has(made, divided)) << "of a version all others are";
  EXPECT_FALSE(layouts.has(op(1)->getResult(0), whole)) << "of which nothing is decided";
}

TEST_F(LayoutsTest, UnitsThatAreTooFewAreCut) {
  AxisRefAttr dp = axis("dp"), tp = axis("tp"); // 2 and 4
  auto statement = [&](int64_t unit) { return DimShardingAttr::get(&context, {tp}, false, unit, {}, 1); };
  DimShardingAttr both = divideFurther(16, {dp, tp}, statement(2), mesh());
  EXPECT_EQ(both, divideDim(16, {dp, tp}, mesh(), 2)) << "eight units for eight shards";
  both = divideFurther(12, {dp, tp}, statement(2), mesh());
  EXPECT_EQ(both, divideDim(12, {dp, tp}, mesh())) << "six units: by elements";
  EXPECT_EQ(both.getUnit(), 1);
  EXPECT_EQ(divideFurther(12, {tp}, statement(2), mesh()).getUnit(), 2) << "enough for tp alone";
}

TEST_F(LayoutsTest, WhatIsThereIsNotRecomputed) {
  layouts.decide(argument(0), sharding("[{\"tp\"}, {}]"));
  EXPECT_EQ(layouts.obtain(argument(0), sharding("[{\"tp\"}, {}]"), op(0), cause(1)), argument(0));
  Value whole = layouts.obtain(argument(0), sharding("[{}, {}]"), op(0), cause(1));
  EXPECT_EQ(layouts.obtain(argument(0), sharding("[{}, {}]"), op(2), cause(2)), whole) << "two users share it";
  EXPECT_EQ(layouts.obtain(whole, sharding("[{\"tp\"}, {}]"), op(2), cause(2)), argument(0));
}

TEST_F(LayoutsTest, AReshardStandsBeforeItsUserAndNamesItsCause) {
  layouts.decide(argument(0), sharding("[{\"tp\"}, {}]"));
  Operation *user = op(1);
  auto reshard = layouts.obtain(argument(0), sharding("[{}, {}]"), user, cause(7)).getDefiningOp<ReshardOp>();
  ASSERT_TRUE(reshard);
  EXPECT_EQ(reshard->getNextNode(), user);
  EXPECT_EQ(reshard.getInput(), argument(0));
  EXPECT_EQ(reshard.getCause(), "rowwise tp");
  EXPECT_EQ(reshard.getLoc(), cause(7).location);
  EXPECT_EQ(getSharding(reshard.getResult()), sharding("[{}, {}]"));
}

TEST_F(LayoutsTest, TheCheapestVersionIsTheSource) {
  layouts.decide(argument(0), sharding("[{\"tp\"}, {}]"));
  Value whole = layouts.obtain(argument(0), sharding("[{}, {}]"), op(0), cause(1));
  // From the replicated value it is a slice; from the shards over tp it would be a gather.
  auto sliced = layouts.obtain(argument(0), sharding("[{}, {\"dp\"}]"), op(2), cause(2)).getDefiningOp<ReshardOp>();
  EXPECT_EQ(sliced.getInput(), whole);
}

TEST_F(LayoutsTest, OfVersionsAsCheapTheNewestIsTheSource) {
  layouts.decide(argument(0), sharding("[{}, {}], partial = sum {\"tp\"}"));
  Value stated = layouts.obtain(argument(0), sharding("[{\"dp\"}, {}], partial = sum {\"tp\"}"), op(0), cause(1));
  Value summed = layouts.obtain(argument(0), sharding("[{\"dp\"}, {}]"), op(0), cause(2));
  EXPECT_EQ(summed.getDefiningOp<ReshardOp>().getInput(), stated) << "else nothing would read it";
}

TEST_F(LayoutsTest, AddendsAreMadeOfAddendsOnly) {
  layouts.decide(argument(0), sharding("[{}, {}], partial = sum {\"tp\"}"));
  Value sum = layouts.obtain(argument(0), sharding("[{}, {}]"), op(0), cause(1));
  auto divided = layouts.obtain(argument(0), sharding("[{\"dp\"}, {}], partial = sum {\"tp\"}"), op(2), cause(2))
                     .getDefiningOp<ReshardOp>();
  EXPECT_EQ(divided.getInput(), argument(0)) << "although the sum is there, too";
  EXPECT_NE(sum, argument(0));
}

TEST_F(LayoutsTest, ConsumersStartFromWhatSuperseded) {
  layouts.decide(argument(0), sharding("[{}, {}], partial = sum {\"tp\"}"));
  Value sum = layouts.obtain(argument(0), sharding("[{}, {}]"), op(0), cause(1));
  layouts.supersede(argument(0), sum);
  EXPECT_EQ(layouts.current(argument(0)), sum);
  EXPECT_EQ(layouts.current(sum), sum);
  Value divided = layouts.obtain(argument(0), sharding("[{\"tp\"}, {}]"), op(0), cause(1));
  layouts.supersede(sum, divided);
  EXPECT_EQ(layouts.current(argument(0)), divided) << "a version stands for the value that it is one of";
  EXPECT_EQ(layouts.current(sum), sum) << "a version is itself";
}

TEST_F(LayoutsTest, TheFirstCauseOfAnAxisCounts) {
  layouts.decide(argument(0), sharding("[{\"tp\"}, {}]"));
  EXPECT_FALSE(layouts.causeOf(argument(0), axis("tp")));
  layouts.setCause(argument(0), axis("tp"), cause(3));
  layouts.setCause(argument(0), axis("tp"), cause(4));
  EXPECT_EQ(lineOf(layouts.causeOf(argument(0), axis("tp"))), 3u);
  EXPECT_FALSE(layouts.causeOf(argument(0), axis("dp")));
  EXPECT_EQ(lineOf(layouts.causeOf(argument(0), axis("tp", 1, 2))), 3u) << "a digit of it";
}

TEST_F(LayoutsTest, AxesThatStayKeepTheirCause) {
  decideWithCauses("[{\"tp\"}, {\"dp\"}]");
  Value kept = layouts.obtain(argument(0), sharding("[{}, {\"dp\"}]"), op(0), cause(5));
  EXPECT_EQ(lineOf(layouts.causeOf(kept, axis("dp"))), 4u);
  EXPECT_FALSE(layouts.causeOf(kept, axis("tp")));
  Value moved = layouts.obtain(argument(0), sharding("[{\"dp\"}, {\"tp\"}]"), op(0), cause(5));
  EXPECT_FALSE(layouts.causeOf(moved, axis("dp")) || layouts.causeOf(moved, axis("tp")));
}

TEST_F(LayoutsTest, AReducedAddendHasNoCauseYet) {
  decideWithCauses("[{\"dp\"}, {}], partial = sum {\"tp\"}");
  Value scattered = layouts.obtain(argument(0), sharding("[{\"dp\"}, {\"tp\"}]"), op(0), cause(5));
  EXPECT_FALSE(layouts.causeOf(scattered, axis("tp")));
  EXPECT_EQ(lineOf(layouts.causeOf(scattered, axis("dp"))), 4u);
}

TEST_F(LayoutsTest, CausesAreWrittenInTheOrderOfTheDims) {
  Value result = op(0)->getResult(0);
  layouts.decide(result, sharding("[{\"tp\"}, {}], partial = sum {\"dp\"}"));
  layouts.setCause(result, axis("dp"), cause(4, "rowwise dp"));
  layouts.setCause(result, axis("tp"), cause(3, "colwise tp"));
  layouts.writeCauses(op(0));
  auto written = [&](StringRef name, unsigned line, StringRef text) {
    return CauseAttr::get(&context, name, StringAttr::get(&context, text), cause(line).location);
  };
  EXPECT_THAT(getCauses(op(0)->getLoc()), ElementsAre(written("tp", 3, "colwise tp"), written("dp", 4, "rowwise dp")));
}

TEST_F(LayoutsTest, OnlyAxesOfTheLayoutAreWrittenOnceEach) {
  Value result = op(0)->getResult(0);
  layouts.decide(result, sharding("[{\"tp\":(1)2}, {\"tp\":(2)2}]"));
  layouts.setCause(result, axis("dp"), cause(4));
  layouts.setCause(result, axis("tp"), {cause(3).location, nullptr});
  layouts.writeCauses(op(0));
  EXPECT_THAT(getCauses(op(0)->getLoc()), ElementsAre(CauseAttr::get(&context, "tp", StringAttr(), cause(3).location)));
  layouts.decide(op(1)->getResult(0), sharding("[{\"tp\"}, {}]"));
  layouts.writeCauses(op(1));
  EXPECT_THAT(getCauses(op(1)->getLoc()), testing::IsEmpty()) << "nothing is known of it";
}

TEST_F(LayoutsTest, DigitsOfAnAxisMayHaveCausesOfTheirOwn) {
  Value result = op(0)->getResult(0);
  layouts.decide(result, sharding("[{\"tp\":(1)2}, {\"tp\":(2)2}]"));
  layouts.setCause(result, axis("tp", 1, 2), {cause(3).location, nullptr});
  layouts.setCause(result, axis("tp", 2, 2), {cause(4).location, nullptr});
  layouts.setCause(result, axis("tp"), {cause(5).location, nullptr});
  EXPECT_EQ(layouts.causeOf(result, axis("tp", 2, 2))->location, cause(4).location);
  layouts.writeCauses(op(0));
  EXPECT_THAT(getCauses(op(0)->getLoc()),
              ElementsAre(CauseAttr::get(&context, "tp:(1)2", StringAttr(), cause(3).location),
                          CauseAttr::get(&context, "tp:(2)2", StringAttr(), cause(4).location)));
}

} // namespace
