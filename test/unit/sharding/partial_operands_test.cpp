//===- partial_operands_test.cpp - operands that may be partial -----------===//

#include "compiler/sharding/partial_operands.h"
#include "test/unit/dialect/plan_text.h"
#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

class PartialOperands : public PlanText {
protected:
  /// The operands over "tp" that an operator rejects; each operand as `{}` or `{}], partial = sum {"tp"}`.
  SmallVector<unsigned> rejected(const Linearity &linearity, ArrayRef<StringRef> operands) {
    SmallVector<ShardingAttr> shardings;
    for (StringRef text : operands)
      shardings.push_back(sharding(("[" + text).str()));
    return findRejectedPartials(linearity, shardings, axis("tp"));
  }
};

constexpr StringRef whole = "{}]", sum = "{}], partial = sum {\"tp\"}", max = "{}], partial = max {\"tp\"}",
                    min = "{}], partial = min {\"tp\"}", digit = "{}], partial = sum {\"tp\":(1)2}",
                    other = "{}], partial = sum {\"dp\"}", divided = "{\"tp\"}]";
const Linearity addition = {{{0, 1}}}, product = {{{0}, {1}}}, none = {}, join = {{{0, 1, 2}}, true},
                view = {{{0}}, true};

TEST_F(PartialOperands, WithoutAddendsNothingIsRejected) {
  EXPECT_THAT(rejected(none, {whole, divided}), IsEmpty());
  EXPECT_THAT(rejected(none, {}), IsEmpty());
  EXPECT_THAT(rejected(none, {other}), IsEmpty()) << "over another axis";
}

TEST_F(PartialOperands, AnAdditionTakesBothOrNeither) {
  // Each of n ranks would add a replicated operand once, so n times in total.
  EXPECT_THAT(rejected(addition, {sum, sum}), IsEmpty());
  EXPECT_THAT(rejected(addition, {sum, whole}), ElementsAre(0));
  EXPECT_THAT(rejected(addition, {whole, sum}), ElementsAre(1));
}

TEST_F(PartialOperands, AProductTakesOne) {
  // The sum of products is not the product of sums.
  EXPECT_THAT(rejected(product, {sum, whole}), IsEmpty());
  EXPECT_THAT(rejected(product, {whole, sum}), IsEmpty());
  EXPECT_THAT(rejected(product, {sum, sum}), ElementsAre(0, 1));
}

TEST_F(PartialOperands, AnOperatorThatIsNotLinearTakesNone) {
  EXPECT_THAT(rejected(none, {sum}), ElementsAre(0));
  EXPECT_THAT(rejected(none, {whole, sum, max}), ElementsAre(1, 2));
}

TEST_F(PartialOperands, ADigitOfTheAxisCounts) {
  EXPECT_THAT(rejected(none, {digit}), ElementsAre(0));
  EXPECT_THAT(rejected(addition, {digit, sum}), IsEmpty());
  EXPECT_THAT(rejected(addition, {digit, whole}), ElementsAre(0));
}

TEST_F(PartialOperands, MaximaEnterOnlyWhereElementsMove) {
  EXPECT_THAT(rejected(view, {max}), IsEmpty());
  EXPECT_THAT(rejected(view, {sum}), IsEmpty());
  EXPECT_THAT(rejected(product, {max, whole}), ElementsAre(0)) << "a negative factor makes a minimum of it";
  EXPECT_THAT(rejected(addition, {max, max}), ElementsAre(0, 1));
}

TEST_F(PartialOperands, AConcatenationTakesAllOfOneReduction) {
  EXPECT_THAT(rejected(join, {max, max, max}), IsEmpty());
  EXPECT_THAT(rejected(join, {sum, sum, sum}), IsEmpty());
  EXPECT_THAT(rejected(join, {sum, whole, sum}), ElementsAre(0, 2));
  EXPECT_THAT(rejected(join, {max, max, min}), ElementsAre(0, 1, 2));
  EXPECT_THAT(rejected(join, {sum, max, sum}), ElementsAre(0, 1, 2));
}

TEST_F(PartialOperands, TheAxisDividesNothingElse) {
  EXPECT_THAT(rejected(product, {sum, divided}), ElementsAre(0));
  EXPECT_THAT(rejected(product, {sum, "{\"tp\":(1)2}]"}), ElementsAre(0));
  EXPECT_THAT(rejected(product, {sum, "{\"dp\"}]"}), IsEmpty());
}

} // namespace
