//===- op_record_test.cpp - the registry, and calls that no record fits ---===//

#include "parsed_call.h"
#include "gmock/gmock.h"

using namespace meshplan;
using testing::IsSupersetOf;

namespace {

using OpRecordTest = CallTest;

TEST_F(OpRecordTest, EveryTargetHasOneWholeRecord) {
  const OpRegistry &registry = OpRegistry::get();
  llvm::SmallVector<llvm::StringRef> targets = registry.targets();
  EXPECT_TRUE(llvm::is_sorted(targets));
  EXPECT_EQ(std::adjacent_find(targets.begin(), targets.end()), targets.end());
  EXPECT_THAT(targets, IsSupersetOf<llvm::StringRef>({"aten.linear.default", "aten.view.default", "aten.cat.default"}));
  for (llvm::StringRef target : targets) {
    const OpRecord *found = registry.lookup(target);
    ASSERT_TRUE(found) << target.str();
    EXPECT_EQ(found->target, target);
    EXPECT_TRUE(found->rule && found->linearity && found->cost) << target.str();
  }
}

TEST_F(OpRecordTest, AnUnknownTargetHasNone) {
  EXPECT_FALSE(OpRegistry::get().lookup("aten.linear"));
  EXPECT_FALSE(OpRegistry::get().lookup(""));
}

TEST_F(OpRecordTest, ARegistryKeepsWhatIsAdded) {
  OpRegistry registry;
  EXPECT_TRUE(registry.targets().empty());
  OpRecord record;
  record.target = "b";
  registry.add(record);
  record.target = "a";
  registry.add(record);
  EXPECT_EQ(registry.targets(), (llvm::SmallVector<llvm::StringRef>{"a", "b"}));
}

TEST_F(OpRecordTest, WhatPicksElementsAlongADim) {
  auto picks = [&](llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    CallView call = parse(target, args, types);
    return picksAlong(call, 0, 0) * 10 + picksAlong(call, 0, 1);
  };
  EXPECT_EQ(
      picks("aten.select.int", "{self = #base.operand<0>, dim = 1, index = 3}", "(tensor<2x8xf32>) -> tensor<2xf32>"),
      1);
  EXPECT_EQ(picks("aten.slice.Tensor", "{self = #base.operand<0>, dim = 0, start = 1, end = 2}",
                  "(tensor<2x8xf32>) -> tensor<1x8xf32>"),
            10);
  EXPECT_EQ(picks("aten.transpose.int", "{self = #base.operand<0>, dim0 = 0, dim1 = 1}",
                  "(tensor<2x8xf32>) -> tensor<8x2xf32>"),
            0)
      << "takes all";
  EXPECT_EQ(picks("aten.flip.default", "{self = #base.operand<0>, dims = array<i64: 1>}",
                  "(tensor<2x8xf32>) -> tensor<2x8xf32>"),
            0)
      << "takes all";
  EXPECT_EQ(picks("aten.cumsum.default", "{self = #base.operand<0>, dim = 1}", "(tensor<2x8xf32>) -> tensor<2x8xf32>"),
            0)
      << "computes";
}

TEST_F(OpRecordTest, WithoutARecordNothingIsDivided) {
  CallView call = parse("custom.op.default", "{}", "(tensor<4x1xf32>, tensor<f32>) -> tensor<6xf32>");
  EXPECT_EQ(describe(factorRuleOf(call, nullptr)), "[a, 1], [] -> [b]; a=4:whole b=6:whole");
}

TEST_F(OpRecordTest, ACallThatDoesNotFitItsRecordIsNotDivided) {
  // A faulty rule represents a schema that the call does not match.
  OpRecord record;
  record.rule = [](const CallView &) {
    FactorRule rule;
    rule.add(3);
    return rule;
  };
  CallView call = parse("custom.op.default", "{}", "(tensor<4xf32>) -> tensor<4xf32>");
  EXPECT_EQ(describe(factorRuleOf(call, &record)), "[a] -> [b]; a=4:whole b=4:whole");
}

TEST_F(OpRecordTest, ACallThatFitsIsDividedByItsRule) {
  CallView call = parse("aten.neg.default", "{self = #base.operand<0>}", "(tensor<4xf32>) -> tensor<4xf32>");
  EXPECT_EQ(describe(factorRuleOf(call, OpRegistry::get().lookup(call.target))), "[a] -> [a]; a=4");
}

TEST_F(OpRecordTest, NoRecordReadsBeyondACallWithoutTensors) {
  // A call may lack operands and results that its schema requires: its rule then shards nothing.
  for (llvm::StringRef target : OpRegistry::get().targets()) {
    CallView call = parse(target, "{}", "() -> ()");
    FactorRule rule = factorRuleOf(call, OpRegistry::get().lookup(target));
    EXPECT_TRUE(rule.operands.empty() && rule.results.empty()) << target.str();
    EXPECT_TRUE(llvm::all_of(rule.factors, [](Factor factor) { return factor.kind == FactorKind::whole; }))
        << target.str();
  }
}

} // namespace
