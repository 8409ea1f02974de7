//===- arguments_test.cpp - each kind of argument in the artifact ---------===//

#include "compiler/target/artifact/artifact.h"
#include "runtime/schema/schedule_generated.h"
#include "test/unit/target/sched_module.h"
#include <array>

using namespace meshplan;
using artifact::ArgKind;

static std::string programWith(const std::string &argument) {
  return schedHead + R"(
sched.program @f {
  %x = sched.input "x" : <[8 over {0:(1)2}], f32>
  %w = sched.input "w" : <[8 over {0:(1)2}], f32>
  %y = sched.compute "aten.op"(%x, %w) {a = )" +
         argument + R"(, x = [#base.operand<0>, #base.operand<1>]}
    : (!sched.tensor<[8 over {0:(1)2}], f32>, !sched.tensor<[8 over {0:(1)2}], f32>) -> !sched.tensor<[8], f32>
  sched.output "y" %y : <[8], f32>
})";
}

/// The argument `a` of the op.
static artifact::ArgT argumentOf(const std::string &text) {
  SchedModule module(programWith(text));
  auto bytes = serialize(module.get(), {});
  EXPECT_TRUE(succeeded(bytes)) << text;
  artifact::ScheduleT schedule;
  artifact::GetSchedule(bytes->data())->UnPackTo(&schedule);
  artifact::ArgT argument = *schedule.programs[0]->instructions[0]->action.AsCompute()->args[0];
  EXPECT_EQ(argument.name, "a");
  return argument;
}

/// Constant, value, dim, scales of offset and extent.
static std::array<int64_t, 5> fieldsOf(const artifact::IntExpr &expression) {
  return {expression.constant(), expression.value(), expression.dim(), expression.offset_scale(),
          expression.extent_scale()};
}

static std::vector<int64_t> constantsOf(const artifact::ArgT &argument) {
  std::vector<int64_t> constants;
  for (const artifact::IntExpr &expression : argument.ints) {
    EXPECT_EQ(expression.value(), -1);
    constants.push_back(expression.constant());
  }
  return constants;
}

TEST(Arguments, Tensors) {
  EXPECT_EQ(argumentOf("#base.operand<1>").kind, ArgKind::value);
  EXPECT_THAT(argumentOf("#base.operand<1>").values, testing::ElementsAre(1));
  artifact::ArgT list = argumentOf("[#base.operand<1>, unit, #base.operand<0>]");
  EXPECT_EQ(list.kind, ArgKind::value_list);
  EXPECT_THAT(list.values, testing::ElementsAre(1, -1, 0));
  EXPECT_EQ(argumentOf("unit").kind, ArgKind::none);
}

TEST(Arguments, Integers) {
  EXPECT_EQ(argumentOf("-3 : i64").kind, ArgKind::integer);
  EXPECT_THAT(constantsOf(argumentOf("-3 : i64")), testing::ElementsAre(-3));
  EXPECT_EQ(argumentOf("[4, 5]").kind, ArgKind::int_list);
  EXPECT_THAT(constantsOf(argumentOf("[4, 5]")), testing::ElementsAre(4, 5));
  EXPECT_EQ(argumentOf("array<i64: 6, 7>").kind, ArgKind::int_list);
  EXPECT_THAT(constantsOf(argumentOf("array<i64: 6, 7>")), testing::ElementsAre(6, 7));
  EXPECT_EQ(argumentOf("[]").kind, ArgKind::int_list);
}

TEST(Arguments, IntegersOfTheRank) {
  artifact::ArgT list = argumentOf("[2, #base.local<1, operand 1, dim 0, offset -1, extent 3>]");
  ASSERT_EQ(list.ints.size(), 2u);
  EXPECT_EQ(fieldsOf(list.ints[0]), (std::array<int64_t, 5>{2, -1, 0, 0, 0}));
  EXPECT_EQ(fieldsOf(list.ints[1]), (std::array<int64_t, 5>{1, 1, 0, -1, 3}));
  artifact::ArgT result = argumentOf("#base.local<0, result 0, dim 0, extent 1>");
  EXPECT_EQ(result.kind, ArgKind::integer);
  EXPECT_EQ(fieldsOf(result.ints[0]), (std::array<int64_t, 5>{0, 2, 0, 0, 1}));
}

TEST(Arguments, IntegersOfTheMicrobatch) {
  artifact::ArgT list =
      argumentOf("[2, #base.local<1, operand 1, dim 0, offset 2, microbatch 3>, #base.local<0, result 0, dim 0>]");
  EXPECT_THAT(list.microbatch_scales, testing::ElementsAre(0, 3, 0));
  EXPECT_EQ(fieldsOf(list.ints[1]), (std::array<int64_t, 5>{1, 1, 0, 2, 0}));
  EXPECT_THAT(argumentOf("#base.local<0, result 0, dim 0, extent 1>").microbatch_scales, testing::IsEmpty());
}

TEST(Arguments, OtherLiterals) {
  EXPECT_THAT(argumentOf("2.5 : f64").reals, testing::ElementsAre(2.5));
  EXPECT_EQ(argumentOf("2.5 : f64").kind, ArgKind::real);
  EXPECT_EQ(argumentOf("[1.0, 2.0]").kind, ArgKind::real_list);
  EXPECT_THAT(argumentOf("array<f64: 1.0, 2.0>").reals, testing::ElementsAre(1.0, 2.0));
  EXPECT_EQ(argumentOf("true").kind, ArgKind::boolean);
  EXPECT_THAT(argumentOf("true").bools, testing::ElementsAre(true));
  EXPECT_EQ(argumentOf("[true, false]").kind, ArgKind::bool_list);
  EXPECT_THAT(argumentOf("array<i1: false, true>").bools, testing::ElementsAre(false, true));
  EXPECT_EQ(argumentOf("\"mean\"").text, "mean");
  EXPECT_EQ(argumentOf("\"mean\"").kind, ArgKind::string);
  EXPECT_EQ(argumentOf("bf16").dtype, artifact::DType::bf16);
  EXPECT_EQ(argumentOf("ui8").dtype, artifact::DType::u8);
  EXPECT_EQ(argumentOf("i1").dtype, artifact::DType::boolean);
}

TEST(Arguments, NamesWhatHasNoPlace) {
  for (const char *text : {"{b = 1}", "[1, true]", "i7"}) {
    SchedModule module(programWith(text));
    EXPECT_TRUE(failed(serialize(module.get(), {}))) << text;
    ASSERT_EQ(module.messages.size(), 1u) << text;
    EXPECT_THAT(module.messages[0], testing::StartsWith("'sched.compute' op argument 'a' of 'aten.op' is "));
    EXPECT_THAT(module.messages[0], testing::EndsWith(", which the artifact cannot represent"));
  }
}
