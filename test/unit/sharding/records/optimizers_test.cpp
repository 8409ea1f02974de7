//===- optimizers_test.cpp - steps of optimizers on a rank ----------------===//
//
// Rules derived by hand: parameter, gradient and states are elementwise, and a norm sums every element once.
//
//===----------------------------------------------------------------------===//

#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;

namespace {

using OptimizerRecords = CallTest;

constexpr char adam[] = "{parameter = #base.operand<0>, gradient = #base.operand<1>, average = #base.operand<2>, "
                        "square_average = #base.operand<3>, learning_rate = #base.operand<4>, step = #base.operand<5>}";
constexpr char sgd[] = "{parameter = #base.operand<0>, gradient = #base.operand<1>, learning_rate = #base.operand<2>}";

TEST_F(OptimizerRecords, StepsGoElementByElement) {
  EXPECT_EQ(rule("meshplan.adam", adam,
                 "(tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<f64>, tensor<f64>) -> "
                 "(tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>)"),
            "[a, b], [a, b], [a, b], [a, b], [], [] -> [a, b], [a, b], [a, b]; a=4 b=6");
  EXPECT_EQ(rule("meshplan.sgd", sgd, "(tensor<4xf32>, tensor<4xf32>, tensor<f64>) -> tensor<4xf32>"),
            "[a], [a], [] -> [a]; a=4");
}

TEST_F(OptimizerRecords, SquaresAreAddedUpOverAllDims) {
  EXPECT_EQ(rule("meshplan.square_sum", "{self = #base.operand<0>}", "(tensor<4x6xf32>) -> tensor<f32>"),
            "[a, b] -> []; a=4:sum b=6:sum");
}

TEST_F(OptimizerRecords, WhatIsWrittenStandsInTheOrderOfTheResults) {
  EXPECT_EQ(record("meshplan.adam").overwrites.size(), 3u);
  EXPECT_EQ(record("meshplan.adam").overwrites[1], "average");
  EXPECT_EQ(record("meshplan.sgd_momentum").overwrites.size(), 2u);
  EXPECT_EQ(record("meshplan.sgd").overwrites.size(), 1u);
  EXPECT_TRUE(record("meshplan.square_sum").overwrites.empty());
}

/// A scaled gradient is a copy; otherwise no further memory is needed.
TEST_F(OptimizerRecords, MemoryOfAStep) {
  CallView plain = parse("meshplan.sgd", sgd, "(tensor<8xf32>, tensor<8xf32>, tensor<f64>) -> tensor<8xf32>");
  EXPECT_EQ(record("meshplan.sgd").cost(plain).workspaceBytes, 0);
  CallView half = parse("meshplan.sgd", sgd, "(tensor<8xbf16>, tensor<8xbf16>, tensor<f64>) -> tensor<8xbf16>");
  EXPECT_EQ(record("meshplan.sgd").cost(half).workspaceBytes, 64) << "parameter and gradient in f32";
  CallView scaled = parse("meshplan.sgd",
                          "{parameter = #base.operand<0>, gradient = #base.operand<1>, learning_rate = "
                          "#base.operand<2>, factor = #base.operand<3>}",
                          "(tensor<8xf32>, tensor<8xf32>, tensor<f64>, tensor<f32>) -> tensor<8xf32>");
  EXPECT_EQ(record("meshplan.sgd").cost(scaled).workspaceBytes, 32);
}

} // namespace
