//===- row_gather_step_test.cpp - gathering the features of rows ----------===//

#include "test/unit/exec/run_schedule.h"

#include <gmock/gmock.h>

using namespace meshplan;

using artifact::RoutedKind;

namespace {

constexpr int64_t experts = 5, tokens = 6, slots = 2, features = 7;

/// Two ranks of ep have the experts, three of tp the features of rows. They are gathered, and summed for each token.
class RowGather {
public:
  explicit RowGather(std::vector<int64_t> parts) : parts(std::move(parts)) {
    int indices = builder.input("indices", {{tokens}, {slots}}, DType::i64);
    int table = rows({{experts, {"ep"}}, {tokens}}, RoutedKind::rows, DType::i64);
    int counts = rows({{experts, {"ep"}}, {tokens}}, RoutedKind::counts, DType::i64);
    builder.compute("meshplan.route",
                    {tensorArg("indices", indices), integerArg("first", offsetOf(table, 0)),
                     integerArg("experts", extentOf(table, 0))},
                    {table, counts});
    int x = builder.input("x", {{tokens}, dim({"tp"})}), split = rowsOf(dim({"tp"})), whole = rowsOf(dim({}));
    builder.compute("meshplan.dispatch",
                    {tensorArg("self", x), tensorArg("table", table), integerArg("slots", literal(slots))}, {split});
    builder.collective(Kind::all_gather, {"tp"}, split, whole, 2);
    int addend = builder.value({{tokens}, dim({})}, DType::f64, {"ep"}), sum = builder.value({{tokens}, dim({})});
    builder.compute("meshplan.combine",
                    {tensorArg("rows", whole), tensorArg("table", table), integerArg("slots", literal(slots)),
                     integersArg("size", {literal(tokens), literal(features)})},
                    {addend});
    builder.collective(Kind::all_reduce, {"ep"}, addend, sum);
    builder.output("y", sum);
  }

  ScheduleBuilder builder{{{"ep", 2}, {"tp", 3}}};

private:
  TestDim dim(std::vector<std::string> axes) const { return {features, std::move(axes), 1, parts}; }
  int rowsOf(TestDim last) {
    return rows({{experts, {"ep"}}, {tokens}, std::move(last)}, RoutedKind::rows, DType::f64);
  }
  int rows(std::vector<TestDim> dims, RoutedKind kind, DType dtype) {
    return builder.routed(builder.value(std::move(dims), dtype), kind, 2, slots);
  }

  std::vector<int64_t> parts;
};

} // namespace

TEST(RowGatherStepTest, EachRowHasItsFeaturesInOrder) {
  at::Tensor x = at::randint(-9, 9, {tokens, features}).to(at::kDouble);
  at::Tensor spread = std::get<1>(at::rand({tokens, experts}).topk(slots));
  // The other rank of ep has no row at all.
  at::Tensor first = at::arange(slots).expand({tokens, slots}).contiguous(), last = first + experts - slots;
  for (const std::vector<int64_t> &parts : {std::vector<int64_t>(), {4, 3}})
    for (const at::Tensor &indices : {spread, first, last}) {
      RowGather program(parts);
      EXPECT_TRUE(at::equal(mustRun(program.builder, {{"indices", indices}, {"x", x}})["y"], slots * x)) << indices;
    }
}

TEST(RowGatherStepTest, RanksMustHaveTheSameRows) {
  RowGather program({});
  for (const auto &value : program.builder.program().values)
    if (value->routed && value->dims.size() == 3 && value->dims[2]->axes.empty())
      value->dims[0]->axes.clear();
  EXPECT_THAT(runSchedule(program.builder, {}).status().message(),
              testing::HasSubstr("rows of experts change along dim 0, which is not one of their features"));
}
