//===- module_runs_test.cpp - which call of a module an op belongs to -----===//

#include "dialect/plan/module_runs.h"
#include "mlir/IR/Verifier.h"
#include "test/unit/dialect/plan_text.h"
#include <gtest/gtest.h>

using namespace meshplan::plan;

namespace {

class ModuleRuns : public meshplan::PlanText {
protected:
  ModuleRuns() {
    readOnMesh(2, 2, R"(func.func @f(%x: tensor<4xf32>) {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} in "block.up" : (tensor<4xf32>) -> tensor<4xf32>
  %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} in "block.up" : (tensor<4xf32>) -> tensor<4xf32>
  return
})");
  }
};

TEST_F(ModuleRuns, TheFirstCallIsRun0) {
  EXPECT_EQ(moduleRun(call(0), "block"), 0);
  setModuleRuns(call(0), {{"", 0}, {"block", 0}, {"block.up", 0}});
  EXPECT_FALSE(call(0)->hasAttr("plan.module_runs")) << "what every call has is not written";
}

TEST_F(ModuleRuns, EachModuleAroundACallHasItsOwn) {
  setModuleRuns(call(1), {{"", 0}, {"block", 1}, {"block.up", 3}});
  EXPECT_EQ(moduleRun(call(1), "block"), 1);
  EXPECT_EQ(moduleRun(call(1), "block.up"), 3);
  EXPECT_EQ(moduleRun(call(1), ""), 0);
}

TEST_F(ModuleRuns, OnlyModulesThatContainTheCallAreWritten) {
  // `other` calls `block`, which is not below it in the model.
  setModuleRuns(call(1), {{"other", 1}, {"block", 2}});
  EXPECT_EQ(moduleRun(call(1), "other"), 0);
  EXPECT_EQ(moduleRun(call(1), "block"), 2);
  EXPECT_TRUE(succeeded(mlir::verify(call(1))));
}

TEST_F(ModuleRuns, ACallThatReplacesAnotherBelongsToItsRuns) {
  setModuleRuns(call(1), {{"block", 2}});
  copyModuleRuns(call(0), call(1));
  EXPECT_EQ(moduleRun(call(0), "block"), 2);
}

} // namespace
