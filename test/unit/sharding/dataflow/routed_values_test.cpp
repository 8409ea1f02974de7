//===- routed_values_test.cpp - values that are routed to experts ---------===//

#include "compiler/sharding/dataflow/routed_values.h"
#include "compiler/sharding/op_record.h"
#include "test/unit/dialect/plan_text.h"

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

class RoutedValuesTest : public PlanText {
protected:
  RoutedValues read(StringRef body) {
    readModule(("plan.mesh [#base.mesh_axis<\"dp\" = 2>]\n"
                "func.func @f(%x: tensor<4x6x16xf32>, %i: tensor<4x6x2xi64>, %w: tensor<8x10x16xf32>) {\n" +
                body + "return }")
                   .str());
    return RoutedValues(function());
  }
  base::RoutedAttr attr(base::RoutedKind kind) { return base::RoutedAttr::get(&context, kind, 3, 2, reserve); }
  FloatAttr reserve;
};

constexpr char route[] = R"(
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}
      : (tensor<4x6x2xi64>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)
)";
constexpr char dispatch[] = R"(
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      : (tensor<4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>
)";

TEST_F(RoutedValuesTest, NoneWithoutARoute) {
  EXPECT_TRUE(
      read(
          R"(%0 = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} : (tensor<4x6x16xf32>) -> tensor<4x6x16xf32>)")
          .empty());
}

TEST_F(RoutedValuesTest, ARouteMakesRowsAndCounts) {
  RoutedValues routed = read(route);
  EXPECT_EQ(routed.get(op(0)->getResult(0)), attr(base::RoutedKind::rows));
  EXPECT_EQ(routed.get(op(0)->getResult(1)), attr(base::RoutedKind::counts));
  EXPECT_EQ(routed.get(argument(0)), base::RoutedAttr());
}

TEST_F(RoutedValuesTest, ThePlanReservesRows) {
  StringRef text(route);
  size_t colon = text.find("\n      :");
  RoutedValues routed = read((text.take_front(colon) + "{plan.reserve = 1.5 : f64}" + text.drop_front(colon)).str());
  EXPECT_EQ(routed.get(op(0)->getResult(1)), attr(base::RoutedKind::counts));
  reserve = FloatAttr::get(Float64Type::get(&context), 1.5);
  EXPECT_EQ(routed.get(op(0)->getResult(0)), attr(base::RoutedKind::rows));
}

TEST_F(RoutedValuesTest, RowsAreWhatIsComputedFromRows) {
  RoutedValues routed = read(std::string(route) + dispatch + R"(
    %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = false}
        : (tensor<8x4x6x16xf32>, tensor<8x10x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x10xf32>
    %2 = plan.call "aten.silu.default"(%1) {self = #base.operand<0>} : (tensor<8x4x6x10xf32>) -> tensor<8x4x6x10xf32>
    %3:2 = plan.call "aten.split.Tensor"(%2) {self = #base.operand<0>, split_size = 5 : i64, dim = -1 : i64}
        : (tensor<8x4x6x10xf32>) -> (tensor<8x4x6x5xf32>, tensor<8x4x6x5xf32>)
  )");
  for (unsigned index : {1u, 2u, 3u, 4u})
    for (Value result : op(index)->getResults())
      EXPECT_EQ(routed.get(result), attr(base::RoutedKind::rows)) << index;
}

TEST_F(RoutedValuesTest, SumsOverExpertsOrTokensAreNoRows) {
  RoutedValues routed = read(std::string(route) + dispatch + R"(
    %1 = plan.call "meshplan.combine"(%0, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4, 6, 16]}
        : (tensor<8x4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<4x6x16xf32>
    %2 = plan.call "meshplan.grouped_linear_weight_gradient"(%0, %0, %counts) {gradient = #base.operand<0>, rows = #base.operand<1>, counts = #base.operand<2>, transposed = false}
        : (tensor<8x4x6x16xf32>, tensor<8x4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<8x16x16xf32>
    %3 = plan.call "aten.sum.dim_IntList"(%0) {self = #base.operand<0>, dim = [0, 1, 2]} : (tensor<8x4x6x16xf32>) -> tensor<16xf32>
  )");
  for (unsigned index : {2u, 3u, 4u})
    EXPECT_EQ(routed.get(op(index)->getResult(0)), base::RoutedAttr()) << index;
}

} // namespace
