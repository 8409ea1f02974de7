//===- split_sums_test.cpp - sums that a decision makes partial -----------===//

#include "compiler/transforms/propagate/split_sums.h"
#include "plan_function.h"
#include "llvm/ADT/StringExtras.h"
#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

class SplitAddendTest : public PlanFunction {
protected:
  /// Decides the first call, whose operands have shardings, and splits it.
  bool split() {
    CallView view = CallView::of(call(0));
    const OpRecord *record = OpRegistry::get().lookup(view.target);
    FactorRule rule = factorRuleOf(view, record);
    CallProblem problem = {rule, mesh(), {}, {}};
    for (auto [index, operand] : llvm::enumerate(view.operands)) {
      problem.operands.push_back(getSharding(operand));
      problem.order.push_back(index);
    }
    return splitAddend(call(0), *record, rule, decideCall(problem));
  }

  /// The body as "target(operands) args" lines; values are numbered after the arguments.
  std::string body() {
    DenseMap<Value, unsigned> numbers;
    for (Value argument : function().getArguments())
      numbers.try_emplace(argument, numbers.size());
    std::string text;
    llvm::raw_string_ostream out(text);
    for (Operation &op : function().getBody().front()) {
      auto call = dyn_cast<CallOp>(op);
      if (!call)
        continue;
      out << call.getTarget() << '(';
      llvm::interleaveComma(call.getOperands(), out, [&](Value operand) { out << '%' << numbers.lookup(operand); });
      out << ") " << call.getArgs() << '\n';
      for (Value result : call.getResults())
        numbers.try_emplace(result, numbers.size());
    }
    return text;
  }
};

constexpr char rowwise[] = R"(%x: tensor<8x12xf32, #plan.sharding<[{}, {"tp"}]>>,
                              %w: tensor<6x12xf32, #plan.sharding<[{}, {"tp"}]>>,
                              %b: tensor<6xf32, #plan.sharding<[{}]>>)";
constexpr char colwise[] = R"(%x: tensor<8x12xf32, #plan.sharding<[{}, {}]>>,
                              %w: tensor<6x12xf32, #plan.sharding<[{"tp"}, {}]>>,
                              %b: tensor<6xf32, #plan.sharding<[{"tp"}]>>)";
constexpr char linear[] = R"(
  %0 = plan.call "aten.linear.default"(%x, %w, %b)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>} in "mlp.down"
      : (REST) -> tensor<8x6xf32>
  %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %2 = plan.call "aten.mul.Tensor"(%0, %1) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>)";

/// The body of `linear` with the types of the arguments filled in.
std::string linearOf(StringRef arguments) {
  SmallVector<StringRef> parts;
  arguments.split(parts, '%', -1, false);
  std::string types;
  for (StringRef part : parts)
    types += part.split(": ").second.rtrim(" ,\n").str() + (part == parts.back() ? "" : ", ");
  std::string text = linear;
  text.replace(text.find("REST"), 4, types);
  return text;
}

TEST_F(SplitAddendTest, TheBiasOfAContractionIsAddedBehindIt) {
  read(rowwise, linearOf(rowwise));
  EXPECT_TRUE(split());
  EXPECT_EQ(body(), "aten.linear.default(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>}\n"
                    "aten.add.Tensor(%3, %2) {other = #base.operand<1>, self = #base.operand<0>}\n"
                    "aten.neg.default(%4) {self = #base.operand<0>}\n"
                    "aten.mul.Tensor(%4, %5) {other = #base.operand<1>, self = #base.operand<0>}\n");
  EXPECT_EQ(call(1).getModule(), "mlp.down") << "the sum belongs to the module of the call";
  EXPECT_TRUE(succeeded(call(0).verify()) && succeeded(call(1).verify()));
}

TEST_F(SplitAddendTest, WithoutAContractionNothingChanges) {
  read(colwise, linearOf(colwise));
  std::string before = body();
  EXPECT_FALSE(split());
  EXPECT_EQ(body(), before);
}

TEST_F(SplitAddendTest, ACallWithoutAddendIsLeftAlone) {
  read(R"(%x: tensor<8x12xf32, #plan.sharding<[{}, {"tp"}]>>, %w: tensor<6x12xf32, #plan.sharding<[{}, {"tp"}]>>)", R"(
    %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<8x12xf32, #plan.sharding<[{}, {"tp"}]>>, tensor<6x12xf32, #plan.sharding<[{}, {"tp"}]>>) -> tensor<8x6xf32>)");
  EXPECT_FALSE(split());
  EXPECT_EQ(body(), "aten.linear.default(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>}\n");
}

TEST_F(SplitAddendTest, AnOperatorThatAddsNothingIsLeftAlone) {
  read(R"(%x: tensor<8x12xf32, #plan.sharding<[{}, {"tp"}]>>)", R"(
    %0 = plan.call "aten.sum.dim_IntList"(%x) {self = #base.operand<0>, dim = [1]}
      : (tensor<8x12xf32, #plan.sharding<[{}, {"tp"}]>>) -> tensor<8xf32>)");
  EXPECT_FALSE(split());
}

constexpr char addmm[] = R"(%b: tensor<6xf32, #plan.sharding<[{}]>>, %x: tensor<8x12xf32, #plan.sharding<[{}, {"tp"}]>>,
                            %w: tensor<12x6xf32, #plan.sharding<[{"tp"}, {}]>>)";

TEST_F(SplitAddendTest, TheFirstOperandOfAddmmBecomesTheSecondOfTheSum) {
  read(addmm, R"(
    %0 = plan.call "aten.addmm.default"(%b, %x, %w)
      {self = #base.operand<0>, mat1 = #base.operand<1>, mat2 = #base.operand<2>}
      : (tensor<6xf32, #plan.sharding<[{}]>>, tensor<8x12xf32, #plan.sharding<[{}, {"tp"}]>>,
         tensor<12x6xf32, #plan.sharding<[{"tp"}, {}]>>) -> tensor<8x6xf32>)");
  EXPECT_TRUE(split());
  EXPECT_EQ(body(), "aten.mm.default(%1, %2) {mat2 = #base.operand<1>, self = #base.operand<0>}\n"
                    "aten.add.Tensor(%3, %0) {other = #base.operand<1>, self = #base.operand<0>}\n");
}

TEST_F(SplitAddendTest, ScaledAddmmIsNotSplit) {
  read(addmm, R"(
    %0 = plan.call "aten.addmm.default"(%b, %x, %w)
      {self = #base.operand<0>, mat1 = #base.operand<1>, mat2 = #base.operand<2>, beta = 2}
      : (tensor<6xf32, #plan.sharding<[{}]>>, tensor<8x12xf32, #plan.sharding<[{}, {"tp"}]>>,
         tensor<12x6xf32, #plan.sharding<[{"tp"}, {}]>>) -> tensor<8x6xf32>)");
  EXPECT_FALSE(split());
}

TEST_F(SplitAddendTest, ABiasOfChannelsIsViewedFirst) {
  // A convolution adds its bias along dim 1: the sum needs it as [6, 1].
  read(
      R"(%x: tensor<2x4x8xf32, #plan.sharding<[{}, {"tp"}, {}]>>, %w: tensor<6x4x1xf32, #plan.sharding<[{}, {"tp"}, {}]>>,
          %b: tensor<6xf32, #plan.sharding<[{}]>>)",
      R"(
    %0 = plan.call "aten.conv1d.default"(%x, %w, %b)
      {input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>}
      : (tensor<2x4x8xf32, #plan.sharding<[{}, {"tp"}, {}]>>, tensor<6x4x1xf32, #plan.sharding<[{}, {"tp"}, {}]>>,
         tensor<6xf32, #plan.sharding<[{}]>>) -> tensor<2x6x8xf32>)");
  EXPECT_TRUE(split());
  EXPECT_EQ(body(), "aten.conv1d.default(%0, %1) {input = #base.operand<0>, weight = #base.operand<1>}\n"
                    "aten.view.default(%2) {self = #base.operand<0>, size = [6, 1]}\n"
                    "aten.add.Tensor(%3, %4) {other = #base.operand<1>, self = #base.operand<0>}\n");
}

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
