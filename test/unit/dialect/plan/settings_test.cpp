//===- settings_test.cpp - scalars that a run passes to a program ---------===//

#include "dialect/plan/attributes.h"
#include "dialect/plan/settings.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/unit/dialect/plan_text.h"

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

class SettingsTest : public PlanText {
protected:
  SettingsTest() {
    readModule(
        R"(func.func @f(%w: tensor<2xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["seed"]}) { return })");
  }

  BlockArgument setting(StringRef name, double value, bool isPlaced = false, base::RateScheduleAttr schedule = {}) {
    return settingArgument(function(), name, value, isPlaced, function().getLoc(), schedule);
  }
};

TEST_F(SettingsTest, NewOnesStandBehindAllOthers) {
  BlockArgument seed = setting("seed", 7);
  EXPECT_EQ(seed.getArgNumber(), 1u) << "a parameter of that name is not a setting";
  EXPECT_EQ(argumentKind(seed), ArgumentKind::setting);
  EXPECT_EQ(argAttr<attr::Value>(seed).getValueAsDouble(), 7);
  EXPECT_FALSE(argAttr<attr::Schedule>(seed));
  auto type = cast<RankedTensorType>(seed.getType());
  EXPECT_EQ(type.getRank(), 0);
  EXPECT_TRUE(type.getElementType().isF64());
  EXPECT_FALSE(getSharding(type));
}

TEST_F(SettingsTest, KnownOnesAreFound) {
  BlockArgument seed = setting("seed", 7), step = setting("step", 1);
  EXPECT_EQ(setting("seed", 8), seed);
  EXPECT_EQ(setting("step", 1), step);
  EXPECT_EQ(function().getNumArguments(), 3u);
  EXPECT_EQ(argAttr<attr::Value>(seed).getValueAsDouble(), 7) << "the first number stays";
}

TEST_F(SettingsTest, PlacedOnesAreWhole) {
  auto schedule = base::RateScheduleAttr::get(function().getContext(), base::RateKind::linear, 0, 3, 0, {});
  BlockArgument rate = setting("lr", 0.5, /*isPlaced=*/true, schedule);
  EXPECT_EQ(getSharding(rate), ShardingAttr::getReplicated(function().getContext(), 0));
  EXPECT_EQ(argAttr<attr::Schedule>(rate), schedule);
}

} // namespace
