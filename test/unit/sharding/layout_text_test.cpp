//===- layout_text_test.cpp - shardings in the language of plans ----------===//

#include "compiler/sharding/layout_text.h"
#include "test/unit/dialect/parsed_text.h"

using namespace meshplan;

namespace {

using LayoutTextTest = ParsedText<plan::PlanDialect>;

TEST_F(LayoutTextTest, NamesExtentsAxesAndAddends) {
  std::pair<const char *, const char *> cases[] = {
      {"tensor<f32, #plan.sharding<[]>>", "[]"},
      {"tensor<4x96xf32, #plan.sharding<[{}, {}]>>", "[4, 96]"},
      {"tensor<4x96x576xf32, #plan.sharding<[{\"dp\"}, {}, {\"tp\"}]>>", "[4 over dp, 96, 576 over tp]"},
      {"tensor<4xf32, #plan.sharding<[{\"dp\", \"tp\":(2)3}]>>", "[4 over (dp, tp:(2)3)]"},
      {"tensor<9xf32, #plan.sharding<[{\"tp\", unit 3}]>>", "[9 over tp unit 3]"},
      {"tensor<8xf32, #plan.sharding<[{\"tp\", parts [4, 2, 2]}]>>", "[8 over tp parts 4+2+2]"},
      {"tensor<6xf32, #plan.sharding<[{\"tp\", unit 2, repeat 3}]>>", "[6 over tp unit 2 repeat 3]"},
      {"tensor<4xf32, #plan.sharding<[{}], partial = sum {\"dp\", \"tp\"}>>", "[4], partial over (dp, tp)"},
      {"tensor<4x6xf32, #plan.sharding<[{}, {\"tp\"}], partial = max {\"dp\"}>>", "[4, 6 over tp], partial over dp"},
  };
  for (auto [text, words] : cases)
    EXPECT_EQ(layoutText(type<mlir::RankedTensorType>(text)), words) << text;
}

} // namespace
