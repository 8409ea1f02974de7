//===- hidden_rows_test.cpp - queries that see no key ---------------------===//

#include "compiler/transforms/import/attention/hidden_rows.h"
#include "test/unit/import/program_text.h"
#include <cmath>

using namespace meshplan;
using namespace mlir;

namespace {

constexpr double lowest = -3.4028234663852886e+38;

/// Two samples, three heads, 5 queries and 5 keys. The arguments are a mask of each kind; %later and %earlier select
/// the keys after a query, and before it.
class HiddenRowsTest : public ProgramText {
protected:
  void SetUp() override {
    read("rows: 2x1x5x5xi1; merged: 6x5x5xi1; bias: 3x5x5xf32 {plan.kind = #plan.kind<parameter>}; given: 2x1x1x5xf32 "
         "{plan.kind = #plan.kind<input>}",
         {"i = aten.arange.default() {end = 5} : 5xi64",
          "r = aten.unsqueeze.default(i: 5xi64) {self = #base.operand<0>, dim = 1} : 5x1xi64",
          "later = aten.gt.Tensor(i: 5xi64, r: 5x1xi64) {self = #base.operand<0>, other = #base.operand<1>} : 5x5xi1",
          "seen = aten.le.Tensor(i: 5xi64, r: 5x1xi64) {self = #base.operand<0>, other = #base.operand<1>} : 5x5xi1",
          "zeros = aten.zeros.default() {size = [5, 5], dtype = f32} : 5x5xf32",
          "mask = aten.masked_fill.Scalar(zeros: 5x5xf32, later: 5x5xi1) {self = #base.operand<0>, mask = "
          "#base.operand<1>, value = -3.4028234663852886e+38} : 5x5xf32",
          "padded = aten.masked_fill.Scalar(zeros: 5x5xf32, seen: 5x5xi1) {self = #base.operand<0>, mask = "
          "#base.operand<1>, value = -3.4028234663852886e+38} : 5x5xf32"});
    rows = argument(0), merged = argument(1), bias = argument(2), given = argument(3);
    later = op(2)->getResult(0), seen = op(3)->getResult(0), mask = op(5)->getResult(0), padded = op(6)->getResult(0);
  }

  /// A step of this kind with a tensor and a value.
  ScoreStep step(ScoreStep::Kind kind, mlir::Value tensor, double number = lowest) {
    return {kind, tensor, Float32Type::get(tensor.getContext()), number};
  }
  ScoreStep fill(mlir::Value tensor, double number = lowest) { return step(ScoreStep::fillWhere, tensor, number); }
  ScoreStep add(mlir::Value tensor) { return step(ScoreStep::add, tensor, 0); }

  HiddenRows find(ArrayRef<ScoreStep> steps, int64_t keys = 5) {
    WrittenAttention attention;
    attention.steps.assign(steps.begin(), steps.end());
    attention.batch = 2, attention.heads = 3, attention.queries = 5, attention.keys = keys;
    IndexFunctions functions;
    return findHiddenRows(attention, functions);
  }

  mlir::Value rows, merged, bias, given, later, seen, mask, padded;
};

TEST_F(HiddenRowsTest, AMaskThatIsGivenMayHideRows) {
  EXPECT_EQ(find({fill(rows)}), HiddenRows::whole);
  EXPECT_EQ(find({fill(merged)}), HiddenRows::whole) << "batch and heads in one dim";
  EXPECT_EQ(find({step(ScoreStep::fillWhereNot, rows)}), HiddenRows::whole);
  EXPECT_EQ(find({fill(later), fill(rows)}), HiddenRows::whole);
}

TEST_F(HiddenRowsTest, EveryQueryThatSeesItselfSeesAKey) {
  EXPECT_EQ(find({fill(later)}), HiddenRows::none);
  EXPECT_EQ(find({step(ScoreStep::fillWhereNot, seen)}), HiddenRows::none);
  EXPECT_EQ(find({step(ScoreStep::fillWhereNot, later)}), HiddenRows::whole) << "the first query sees none";
  EXPECT_EQ(find({fill(seen)}), HiddenRows::whole) << "nor does the last";
}

TEST_F(HiddenRowsTest, InfiniteNumbersHaveNoShare) {
  EXPECT_EQ(find({}), HiddenRows::none);
  EXPECT_EQ(find({add(given)}), HiddenRows::none);
  EXPECT_EQ(find({fill(rows, -INFINITY), add(given)}), HiddenRows::none);
  EXPECT_EQ(find({fill(rows, -INFINITY), fill(rows)}), HiddenRows::whole) << "the other is finite";
}

TEST_F(HiddenRowsTest, ABiasHidesNothing) {
  EXPECT_EQ(find({add(bias), fill(rows)}), HiddenRows::whole);
  EXPECT_EQ(find({fill(later), add(bias)}), HiddenRows::none);
}

TEST_F(HiddenRowsTest, AMaskThatIsAddedMayHideScores) {
  EXPECT_EQ(find({fill(later), add(given)}), HiddenRows::unknown);
  EXPECT_EQ(find({add(given), fill(rows)}), HiddenRows::unknown);
  EXPECT_EQ(find({fill(later), add(mask)}), HiddenRows::none) << "what is hidden already";
  EXPECT_EQ(find({fill(later), add(padded)}), HiddenRows::unknown) << "all the others";
}

} // namespace
