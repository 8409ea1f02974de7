//===- enumerate_shardings_test.cpp - all shardings of a call -------------===//

#include "compiler/sharding/enumerate_shardings.h"
#include "parsed_call.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

namespace {

class EnumerateShardings : public CallTest {
protected:
  plan::MeshAxisAttr axis(llvm::StringRef name, int64_t size) { return plan::MeshAxisAttr::get(&context, name, size); }

  /// Adds a tensor to a side, dims as lists of factors.
  static void addTensor(llvm::SmallVectorImpl<TensorFactors> &side,
                        std::initializer_list<std::initializer_list<unsigned>> dims) {
    TensorFactors &tensor = side.emplace_back();
    for (std::initializer_list<unsigned> dim : dims)
      tensor.dims.emplace_back(dim);
  }

  /// "dims of operands -> dims of results", e.g. "{x}{}, {}{} -> {x}{}+sum{y}".
  static std::string describeCase(const CallShardings &shardings) {
    std::string text;
    llvm::raw_string_ostream out(text);
    llvm::interleaveComma(shardings.operands, out, [&](plan::ShardingAttr sharding) { print(out, sharding); });
    out << " -> ";
    llvm::interleaveComma(shardings.results, out, [&](plan::ShardingAttr sharding) { print(out, sharding); });
    return text;
  }

  static std::vector<std::string> describeAll(const std::vector<CallShardings> &all) {
    std::vector<std::string> texts;
    for (const CallShardings &shardings : all)
      texts.push_back(describeCase(shardings));
    return texts;
  }

private:
  static void print(llvm::raw_ostream &out, plan::ShardingAttr sharding) {
    for (plan::DimShardingAttr dim : sharding.getDims())
      print(out, dim.getAxes(), dim.getUnit());
    if (!sharding.isPartial())
      return;
    out << '+' << plan::stringifyReduction(sharding.getReduction());
    print(out, sharding.getPartialAxes(), 1);
  }

  static void print(llvm::raw_ostream &out, llvm::ArrayRef<plan::AxisRefAttr> axes, int64_t unit) {
    out << '{';
    for (plan::AxisRefAttr axis : axes)
      out << axis.getName();
    if (unit != 1)
      out << '/' << unit;
    out << '}';
  }
};

TEST_F(EnumerateShardings, OneAxisOnEachFactorThatItDivides) {
  FactorRule rule; // [a, b], [c, b] -> [a, c], b contracted, c too small
  rule.add(4), rule.add(6, FactorKind::sum), rule.add(3);
  addTensor(rule.operands, {{0}, {1}});
  addTensor(rule.operands, {{2}, {1}});
  addTensor(rule.results, {{0}, {2}});
  EXPECT_THAT(describeAll(enumerateShardings(rule, {axis("x", 2)})),
              UnorderedElementsAre("{}{}, {}{} -> {}{}", "{x}{}, {}{} -> {x}{}", "{}{x}, {}{x} -> {}{}+sum{x}"));
}

TEST_F(EnumerateShardings, TwoAxesInBothOrdersOnOneFactor) {
  FactorRule rule;
  rule.add(12);
  addTensor(rule.operands, {{0}});
  addTensor(rule.results, {{0}});
  EXPECT_THAT(describeAll(enumerateShardings(rule, {axis("x", 2), axis("y", 3)})),
              UnorderedElementsAre("{} -> {}", "{x} -> {x}", "{y} -> {y}", "{xy} -> {xy}", "{yx} -> {yx}"));
}

TEST_F(EnumerateShardings, AtMostTwoAxes) {
  FactorRule rule;
  rule.add(8);
  addTensor(rule.results, {{0}});
  // The replicated one, three single axes and six ordered pairs.
  EXPECT_EQ(enumerateShardings(rule, {axis("x", 2), axis("y", 2), axis("z", 2)}).size(), 10u);
}

TEST_F(EnumerateShardings, WholeFactorsStayWhole) {
  FactorRule rule;
  rule.add(4, FactorKind::whole);
  addTensor(rule.operands, {{0}});
  addTensor(rule.results, {{}});
  EXPECT_THAT(describeAll(enumerateShardings(rule, {axis("x", 2)})), ElementsAre("{} -> {}"));
}

TEST_F(EnumerateShardings, MinorFactorsNeedSingleIndicesAbove) {
  FactorRule rule; // [ab] -> [a, b]
  rule.add(2), rule.add(6);
  addTensor(rule.operands, {{0, 1}});
  addTensor(rule.results, {{0}, {1}});
  EXPECT_THAT(describeAll(enumerateShardings(rule, {axis("x", 2), axis("y", 3)})),
              UnorderedElementsAre("{} -> {}{}", "{x} -> {x}{}", "{xy} -> {x}{y}"));
}

TEST_F(EnumerateShardings, OneValueHasOneReduction) {
  FactorRule rule;
  rule.add(2, FactorKind::sum), rule.add(2, FactorKind::max);
  addTensor(rule.operands, {{0}, {1}});
  addTensor(rule.results, {});
  EXPECT_THAT(
      describeAll(enumerateShardings(rule, {axis("x", 2), axis("y", 2)})),
      UnorderedElementsAre("{}{} -> ", "{x}{} -> +sum{x}", "{y}{} -> +sum{y}", "{}{x} -> +max{x}", "{}{y} -> +max{y}"));
}

TEST_F(EnumerateShardings, UnevenShardsNameTheirUnits) {
  FactorRule rule; // [a, bc] -> [ab, c] with heads b of c elements
  rule.add(4), rule.add(9), rule.add(64);
  addTensor(rule.operands, {{0}, {1, 2}});
  addTensor(rule.results, {{0}, {1}, {2}});
  EXPECT_THAT(describeAll(enumerateShardings(rule, {axis("x", 2)})),
              UnorderedElementsAre("{}{} -> {}{}{}", "{x}{} -> {x}{}{}"));
  EXPECT_THAT(describeAll(enumerateShardings(rule, {axis("x", 2)}, Division::uneven)),
              UnorderedElementsAre("{}{} -> {}{}{}", "{x}{} -> {x}{}{}", "{}{x/64} -> {}{x}{}"));
}

TEST_F(EnumerateShardings, UnevenShardsBelowAnotherFactorCannotBeSaid) {
  FactorRule rule; // sharding b unevenly inside of ab would shard a * b as one
  rule.add(2), rule.add(3);
  addTensor(rule.operands, {{0, 1}});
  addTensor(rule.results, {{0}, {1}});
  EXPECT_THAT(describeAll(enumerateShardings(rule, {axis("x", 2), axis("y", 2)}, Division::uneven)),
              UnorderedElementsAre("{} -> {}{}", "{x} -> {x}{}", "{y} -> {y}{}"));
}

TEST_F(EnumerateShardings, FactorsAreSplitInUnits) {
  FactorRule rule;
  rule.add(12, FactorKind::parallel, 4);
  addTensor(rule.results, {{0}});
  EXPECT_THAT(describeAll(enumerateShardings(rule, {axis("x", 2), axis("y", 3)})),
              UnorderedElementsAre(" -> {}", " -> {y/4}"));
}

TEST_F(EnumerateShardings, LinearOperandsMayBePartial) {
  CallView call = parse("aten.add.Tensor", "{self = #base.operand<0>, other = #base.operand<1>}",
                        "(tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>");
  EXPECT_THAT(describeAll(legalShardings(call, record("aten.add.Tensor"), {axis("x", 2), axis("y", 3)})),
              UnorderedElementsAre("{}, {} -> {}", "{y}, {y} -> {y}", "{}+sum{x}, {}+sum{x} -> {}+sum{x}",
                                   "{}+sum{y}, {}+sum{y} -> {}+sum{y}", "{y}+sum{x}, {y}+sum{x} -> {y}+sum{x}"));
}

TEST_F(EnumerateShardings, MovedOperandsMayBePartialByMaximum) {
  CallView call = parse("aten.clone.default", "{self = #base.operand<0>}", "(tensor<3xf32>) -> tensor<3xf32>");
  EXPECT_THAT(describeAll(legalShardings(call, record("aten.clone.default"), {axis("x", 2)})),
              UnorderedElementsAre("{} -> {}", "{}+sum{x} -> {}+sum{x}", "{}+max{x} -> {}+max{x}"));
}

TEST_F(EnumerateShardings, AnAddendIsAddedOnce) {
  CallView call =
      parse("aten.linear.default", "{input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>}",
            "(tensor<3x2xf32>, tensor<3x2xf32>, tensor<3xf32>) -> tensor<3x3xf32>");
  EXPECT_THAT(describeAll(legalShardings(call, record("aten.linear.default"), {axis("x", 2)})),
              UnorderedElementsAre("{}{}, {}{}, {} -> {}{}", "{}{}+sum{x}, {}{}, {}+sum{x} -> {}{}+sum{x}",
                                   "{}{}, {}{}+sum{x}, {}+sum{x} -> {}{}+sum{x}"));
}

} // namespace
