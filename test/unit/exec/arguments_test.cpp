#include "runtime/exec/arguments.h"

#include "test/unit/exec/loaded_schedule.h"

#include <gmock/gmock.h>

using namespace meshplan;
using testing::ElementsAre;

namespace {

/// x [4, 7 over tp] on three ranks, and the arguments of an operator on it.
class ArgumentsTest : public testing::Test {
protected:
  ArgumentsTest() : x(builder.input("x", {{4}, {7, {"tp"}}})) {}

  static artifact::ArgT argument(artifact::ArgKind kind) {
    artifact::ArgT arg;
    arg.name = "it";
    arg.kind = kind;
    return arg;
  }

  /// The content of an argument on a rank.
  ArgumentContent on(int64_t rank, artifact::ArgT arg, int64_t microbatch = 0) const {
    ScheduleBuilder copy({{"tp", 3}});
    copy.input("x", {{4}, {7, {"tp"}}});
    copy.compute("aten.relu.default", {std::move(arg)}, {copy.value({{1}})});
    LoadedSchedule loaded(copy);
    const artifact::Compute &compute = *loaded.instruction(0).action_as_Compute();
    EXPECT_EQ(dependsOnMicrobatch(compute), compute.args()->Get(0)->microbatch_scales() != nullptr);
    std::vector<Argument> arguments = argumentsOf(compute, loaded.view(rank), microbatch);
    EXPECT_EQ(arguments.size(), 1u);
    EXPECT_EQ(arguments[0].name, "it");
    return arguments[0].content;
  }

  ScheduleBuilder builder{{{"tp", 3}}};
  int x;
};

} // namespace

TEST_F(ArgumentsTest, Nothing) {
  EXPECT_TRUE(std::holds_alternative<std::monostate>(on(0, argument(artifact::ArgKind::none))));
}

TEST_F(ArgumentsTest, Tensors) {
  EXPECT_EQ(std::get<ValueArgument>(on(0, tensorArg("it", x))).value, x);
  EXPECT_THAT(std::get<ValueListArgument>(on(0, tensorsArg("it", {x, -1, x}))).values, ElementsAre(x, -1, x));
  EXPECT_TRUE(std::get<ValueListArgument>(on(0, tensorsArg("it", {}))).values.empty());
}

TEST_F(ArgumentsTest, IntegersOfTheRank) {
  EXPECT_EQ(std::get<int64_t>(on(2, integerArg("it", literal(-5)))), -5);
  // Columns 0 to 2, 3 to 4, 5 to 6.
  for (int64_t rank : {0, 1, 2}) {
    EXPECT_EQ(std::get<int64_t>(on(rank, integerArg("it", extentOf(x, 1)))), rank == 0 ? 3 : 2);
    EXPECT_EQ(std::get<int64_t>(on(rank, integerArg("it", offsetOf(x, 1)))), rank == 0 ? 0 : 2 * rank + 1);
  }
  EXPECT_THAT(std::get<std::vector<int64_t>>(on(1, integersArg("it", {literal(4), extentOf(x, 1), {10, x, 1, 2, -1}}))),
              ElementsAre(4, 2, 10 + 2 * 3 - 2));
  EXPECT_TRUE(std::get<std::vector<int64_t>>(on(1, integersArg("it", {}))).empty());
}

TEST_F(ArgumentsTest, IntegersOfTheMicrobatch) {
  artifact::ArgT one = integerArg("it", {100, x, 1, 2, 0});
  one.microbatch_scales = {10};
  // Of seven columns, rank 1 has two, starting with the third.
  EXPECT_EQ(std::get<int64_t>(on(1, one)), 106);
  EXPECT_EQ(std::get<int64_t>(on(1, one, 1)), 126);
  EXPECT_EQ(std::get<int64_t>(on(0, one, 2)), 160) << "rank 0 has three";
  artifact::ArgT list = integersArg("it", {literal(4), extentOf(x, 1), offsetOf(x, 1)});
  list.microbatch_scales = {0, 0, 1};
  EXPECT_THAT(std::get<std::vector<int64_t>>(on(1, list, 3)), ElementsAre(4, 2, 3 + 3 * 2));
}

TEST_F(ArgumentsTest, Numbers) {
  EXPECT_EQ(std::get<double>(on(0, realArg("it", -0.125))), -0.125);
  artifact::ArgT list = argument(artifact::ArgKind::real_list);
  EXPECT_TRUE(std::get<std::vector<double>>(on(0, list)).empty());
  list.reals = {1.5, -2};
  EXPECT_THAT(std::get<std::vector<double>>(on(0, list)), ElementsAre(1.5, -2));
}

TEST_F(ArgumentsTest, Bools) {
  artifact::ArgT one = argument(artifact::ArgKind::boolean), list = argument(artifact::ArgKind::bool_list);
  for (bool value : {true, false}) {
    one.bools = {value};
    EXPECT_EQ(std::get<bool>(on(0, one)), value);
  }
  list.bools = {true, false, true};
  EXPECT_THAT(std::get<std::vector<bool>>(on(0, list)), ElementsAre(true, false, true));
}

TEST_F(ArgumentsTest, StringsAndDTypes) {
  artifact::ArgT text = argument(artifact::ArgKind::string);
  text.text = "contiguous_format";
  EXPECT_EQ(std::get<std::string>(on(0, text)), "contiguous_format");
  for (int i = 0; i <= static_cast<int>(DType::boolean); ++i)
    EXPECT_EQ(std::get<DType>(on(0, dtypeArg("it", static_cast<DType>(i)))), static_cast<DType>(i));
}
