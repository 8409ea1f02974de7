//===- split_shared_sums_test.cpp - addends of shared heads ---------------===//

#include "compiler/transforms/propagate/split_shared_sums.h"
#include "plan_function.h"
#include "llvm/ADT/StringExtras.h"

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

class SplitSharedSums : public PlanFunction {
protected:
  /// Reads the backward pass of an attention of 4 query heads with these layouts, decides it and splits it.
  bool split(int64_t keyHeads, llvm::StringRef queries, llvm::StringRef keys, llvm::StringRef more = "") {
    auto tensor = [](int64_t heads, llvm::StringRef dims, llvm::StringRef layout) {
      return ("tensor<2x" + llvm::Twine(heads) + dims + "xf32" +
              (layout.empty() ? "" : ", #plan.sharding<[{}, " + layout + "]>") + ">")
          .str();
    };
    std::string query = tensor(4, "x1x1", (queries + ", {}, {}").str()),
                key = tensor(keyHeads, "x1x1", (keys + ", {}, {}").str());
    SmallVector<std::string> types = {query, query, key, key};
    std::string arguments;
    for (auto [index, type] : llvm::enumerate(types))
      arguments += (index ? ", %" : "%") + std::string(1, 'a' + index) + ": " + type;
    std::string made = tensor(keyHeads, "x1x1", "");
    read(arguments, R"(%0:3 = plan.call "meshplan.attention_backward"(%a, %b, %c, %d)
        {gradient = #base.operand<0>, query = #base.operand<1>, key = #base.operand<2>, value = #base.operand<3>)" +
                        more.str() + "} in \"attn\" backward : (" + llvm::join(types, ", ") + ") -> (" +
                        tensor(4, "x1x1", "") + ", " + made + ", " + made + R"()
        %1 = plan.call "aten.neg.default"(%0#1) {self = #base.operand<0>} backward : ()" +
                        made + ") -> " + made);
    const OpRecord *record = OpRegistry::get().lookup("meshplan.attention_backward");
    CallView view = CallView::of(call(0));
    FactorRule rule = factorRuleOf(view, record);
    CallProblem problem = {rule, mesh(), {}, {}};
    for (auto [index, operand] : llvm::enumerate(view.operands)) {
      problem.operands.push_back(getSharding(operand));
      problem.order.push_back(index);
    }
    return splitSharedSums(call(0), *record, decideCall(problem));
  }
};

TEST_F(SplitSharedSums, WhatNeighboursShareIsAddedUpBehind) {
  ASSERT_TRUE(split(2, R"({"tp"})", R"({"tp", repeat 2})"));
  EXPECT_EQ(call(0).getArgs().get("per_head"), BoolAttr::get(&context, true));
  for (unsigned index : {1u, 2u})
    EXPECT_EQ(cast<RankedTensorType>(call(0).getResult(index).getType()).getDimSize(1), 4) << "a head for each query's";
  for (unsigned index : {1u, 2u}) {
    CallOp sum = call(index);
    EXPECT_EQ(sum.getTarget(), "meshplan.sum_shared_heads");
    EXPECT_EQ(CallView::of(sum).getInt("groups", 0), 2);
    EXPECT_EQ(CallView::of(sum).getInt("heads_per_group", 0), 2);
    EXPECT_TRUE(sum.getBackward() && sum.getModule() == "attn");
    EXPECT_TRUE(succeeded(sum.verify()));
  }
  auto reader = call(3);
  EXPECT_EQ(reader.getTarget(), "aten.neg.default");
  EXPECT_EQ(reader.getOperand(0).getDefiningOp<CallOp>().getTarget(), "meshplan.sum_shared_heads");
}

/// A single head has no dim that a layout could shard.
TEST_F(SplitSharedSums, TheOnlyHeadIsSharedByAll) {
  ASSERT_TRUE(split(1, R"({"tp"})", "{}"));
  EXPECT_EQ(CallView::of(call(1)).getInt("heads_per_group", 0), 4);
}

TEST_F(SplitSharedSums, WhatEachRankHasAloneStays) {
  EXPECT_FALSE(split(4, R"({"tp"})", R"({"tp"})")) << "each head has its own keys";
  EXPECT_FALSE(split(2, R"({"dp"})", R"({"dp"})")) << "each rank has whole groups";
  EXPECT_FALSE(split(2, "{}", "{}"));
  EXPECT_FALSE(split(1, "{}", "{}"));
}

TEST_F(SplitSharedSums, ItIsSplitOnce) {
  ASSERT_TRUE(split(2, R"({"tp"})", R"({"tp", repeat 2})"));
  const OpRecord *record = OpRegistry::get().lookup("meshplan.attention_backward");
  EXPECT_FALSE(record->splitSharedSums(CallView::of(call(0))));
}

} // namespace
