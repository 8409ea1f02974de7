//===- new_arguments_test.cpp - arguments that passes add -----------------===//

#include "dialect/plan/attributes.h"
#include "dialect/plan/new_arguments.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/unit/dialect/plan_text.h"

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

class NewArguments : public PlanText {
protected:
  NewArguments() {
    readModule(
        R"(func.func @f(%w: tensor<2xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["seed"]}) { return })");
  }

  BlockArgument setting(StringRef name, double value, bool isPlaced = false, base::RateScheduleAttr schedule = {}) {
    return settingArgument(function(), name, value, isPlaced, function().getLoc(), schedule);
  }
};

TEST_F(NewArguments, SettingsStandAfterAllOthers) {
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

TEST_F(NewArguments, KnownSettingsAreFound) {
  BlockArgument seed = setting("seed", 7), step = setting("step", 1);
  EXPECT_EQ(setting("seed", 8), seed);
  EXPECT_EQ(setting("step", 1), step);
  EXPECT_EQ(function().getNumArguments(), 3u);
  EXPECT_EQ(argAttr<attr::Value>(seed).getValueAsDouble(), 7) << "the first number stays";
}

TEST_F(NewArguments, PlacedSettingsAreWhole) {
  auto schedule = base::RateScheduleAttr::get(function().getContext(), base::RateKind::linear, 0, 3, 0, {});
  BlockArgument rate = setting("lr", 0.5, /*isPlaced=*/true, schedule);
  EXPECT_EQ(getSharding(rate), ShardingAttr::getReplicated(function().getContext(), 0));
  EXPECT_EQ(argAttr<attr::Schedule>(rate), schedule);
}

TEST_F(NewArguments, ManyAreWrittenAtOnce) {
  Type type = RankedTensorType::get({3}, Builder(function().getContext()).getF32Type());
  ArgumentAdder adder(function());
  BlockArgument first = adder.add(type, named<attr::Scratch>(UnitAttr::get(type.getContext())), function().getLoc());
  BlockArgument second = adder.add(type, {}, function().getLoc());
  adder.write();
  EXPECT_EQ(function().getNumArguments(), 3u);
  EXPECT_EQ(function().getArgument(1), first);
  EXPECT_EQ(function().getArgument(2), second);
  EXPECT_EQ(function().getArgumentTypes()[2], type);
  EXPECT_TRUE(argAttr<attr::Scratch>(first));
  EXPECT_FALSE(argAttr<attr::Scratch>(second));
  EXPECT_EQ(parameterName(function().getArgument(0)), "seed") << "the attributes of the others stay";
  EXPECT_TRUE(succeeded(verify(function())));
  adder.write();
  EXPECT_EQ(function().getNumArguments(), 3u) << "nothing is added twice";
}

TEST_F(NewArguments, AttributesAreRemovedFromAll) {
  setting("step", 1);
  removeArgumentAttributes(function(), {attr::Names::getNameStr(), attr::Value::getNameStr()});
  for (unsigned index : {0, 1}) {
    EXPECT_FALSE(argAttr<attr::Names>(function(), index));
    EXPECT_TRUE(argAttr<attr::Kind>(function(), index));
  }
  EXPECT_FALSE(argAttr<attr::Value>(function(), 1));
}

} // namespace
