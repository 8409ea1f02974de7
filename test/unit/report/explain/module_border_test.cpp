//===- module_border_test.cpp - what enters and leaves --------------------===//

#include "compiler/report/explain/module_border.h"
#include "test/unit/report/explain/plan_module.h"

using namespace meshplan;
using testing::ElementsAre;

namespace {

class BorderTest : public testing::Test {
protected:
  /// "x" for an argument, "layers.0.up" for what a call makes.
  static std::string nameOf(mlir::Value value) {
    if (auto call = value.getDefiningOp<plan::CallOp>())
      return call.getModule()->str();
    auto argument = mlir::cast<mlir::BlockArgument>(value);
    auto function = mlir::cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
    auto names = function.getArgAttrOfType<mlir::ArrayAttr>(argument.getArgNumber(), "plan.names");
    return mlir::cast<mlir::StringAttr>(names[0]).str();
  }

  static std::vector<std::string> names(llvm::ArrayRef<BorderValue> values) {
    std::vector<std::string> result;
    for (const BorderValue &value : values)
      result.push_back(nameOf(value.value) + " x" + std::to_string(value.uses.size()));
    return result;
  }

  PlanModule module{twoLayers};
};

} // namespace

TEST_F(BorderTest, LooksThroughCollectives) {
  ModuleBorder border = findBorder(module.function(), "layers.0.up");
  EXPECT_EQ(border.calls.size(), 1u);
  EXPECT_THAT(names(border.inputs), ElementsAre("layers.0.norm x1"));
  EXPECT_THAT(names(border.outputs), ElementsAre("layers.0.up x2"));
}

TEST_F(BorderTest, HoldsTheModulesInside) {
  ModuleBorder border = findBorder(module.function(), "layers.0");
  EXPECT_EQ(border.calls.size(), 4u);
  EXPECT_THAT(names(border.inputs), ElementsAre("x x2"));
  // In the order in which they are made; the addends of `down` stay inside.
  EXPECT_THAT(names(border.outputs), ElementsAre("layers.0.up x1", "layers.0 x1"));
}

TEST_F(BorderTest, TheRootHoldsAll) {
  ModuleBorder border = findBorder(module.function(), "");
  EXPECT_EQ(border.calls.size(), 6u);
  EXPECT_THAT(names(border.inputs), ElementsAre("x x2"));
  EXPECT_THAT(names(border.outputs), ElementsAre("layers.1 x1"));
}

TEST_F(BorderTest, APrefixOfANameIsAnotherModule) {
  EXPECT_TRUE(findBorder(module.function(), "layer").calls.empty());
  EXPECT_TRUE(findBorder(module.function(), "layers.0.u").calls.empty());
}
