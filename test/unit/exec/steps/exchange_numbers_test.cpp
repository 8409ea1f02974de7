//===- exchange_numbers_test.cpp - wrong numbers of exchanged rows --------===//
//
// Not for NCCL, which does not notice that ranks disagree.
//
//===----------------------------------------------------------------------===//

#include "test/unit/exec/steps/exchange_program.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

/// A program on two ranks that sends rows to their experts by numbers that each rank has on its own: `numbers` [2,
/// ranks, experts]. Two samples and experts, one slot; sample 0 has expert 1, and sample 1 expert 0.
Expected<Tensors> runWithNumbers(std::vector<int64_t> numbers) {
  LayerSizes sizes{.experts = 2, .samples = 2, .positions = 1, .slots = 1, .hidden = 3, .features = 3};
  ExchangeProgram program({"", {{"dp", 2}}, {"dp"}, {}, {}, {"dp"}}, sizes, DType::f32);
  program.builder.origin("model.layers.0.mlp", 7, "expert dp");
  int x = program.builder.input("x", {{2, {"dp"}}, {1}, {3}}, DType::f32);
  int given = program.builder.input("numbers", {{2, {"dp"}}, {4}}, DType::i64);
  int own = program.builder.value({{2}, {2}}, DType::i64);
  program.builder.compute("aten.view.default",
                          {tensorArg("self", given), integersArg("size", {literal(2), literal(2)})}, {own});
  program.setNumbers(own);
  program.fromExperts(program.toExperts(program.dispatch(x, 3), 3), 3);
  program.builder.output("given", given);
  return runSchedule(program.builder,
                     {{"indices", at::tensor({1, 0}, at::kLong).view({2, 1, 1})},
                      {"x", at::ones({2, 1, 3})},
                      {"numbers", at::tensor(numbers, at::kLong).view({2, 4})}},
                     std::chrono::seconds(5));
}

} // namespace

TEST(ExchangeNumbersTest, RightNumbers) {
  auto result = runWithNumbers({0, 1, 1, 0, 0, 1, 1, 0});
  EXPECT_TRUE(result.ok()) << result.status().message();
}

/// Rank 1 has more or fewer rows than its numbers say.
TEST(ExchangeNumbersTest, NumbersThatAreNotThoseOfTheRows) {
  using testing::HasSubstr;
  std::string more = runWithNumbers({0, 1, 1, 0, 0, 1, 2, 0}).status().message();
  EXPECT_THAT(more, HasSubstr("rank 1: exchange 0"));
  EXPECT_THAT(more, HasSubstr("test.plan:7:3 expert dp, module model.layers.0.mlp"));
  EXPECT_THAT(more, HasSubstr("sends 2 rows of 1"));
  EXPECT_THAT(runWithNumbers({0, 1, 1, 0, 0, 1, 0, 0}).status().message(), HasSubstr("sends 0 rows of 1"));
}

/// Rank 0 expects more than rank 1 sends.
TEST(ExchangeNumbersTest, NumbersOnWhichRanksDisagree) {
  auto result = runWithNumbers({0, 1, 2, 0, 0, 1, 1, 0});
  ASSERT_FALSE(result.ok());
  std::string message = result.status().message();
  EXPECT_THAT(message, testing::HasSubstr("rank 1 sends 3 elements to rank 0, which expects 6"));
  EXPECT_THAT(message, testing::HasSubstr("test.plan:7:3 expert dp"));
}
