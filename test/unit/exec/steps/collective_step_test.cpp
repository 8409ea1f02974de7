#include "test/unit/exec/run_schedule.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

/// The extents of a tensor, and the sharding of one of its dims.
struct Layout {
  std::vector<int64_t> shape;
  int dim;
  int64_t unit = 1;
  std::vector<int64_t> parts = {};

  std::vector<TestDim> dims(std::vector<std::string> axes) const {
    std::vector<TestDim> dims;
    for (int64_t extent : shape)
      dims.push_back({extent});
    dims[dim].axes = std::move(axes);
    dims[dim].unit = unit;
    dims[dim].parts = parts;
    return dims;
  }
};

void PrintTo(const Layout &layout, std::ostream *out) {
  *out << "[" << at::IntArrayRef(layout.shape) << "] dim " << layout.dim << " unit " << layout.unit << " parts "
       << at::IntArrayRef(layout.parts);
}

class CollectiveStepTest : public testing::TestWithParam<Layout> {
protected:
  at::Tensor whole() const { return at::randn(GetParam().shape, at::kDouble); }

  /// x [N, 4 over tp] times w [4 over tp, M], reshaped to the layout: an addend on each rank of tp.
  int addend(ScheduleBuilder &builder) const {
    int64_t count = c10::multiply_integers(GetParam().shape);
    int x = builder.input("x", {{count}, {4, {"tp"}}}), w = builder.input("w", {{4, {"tp"}}, {1}});
    int product = builder.value({{count}, {1}}, DType::f64, {"tp"});
    builder.compute("aten.mm.default", {tensorArg("self", x), tensorArg("mat2", w)}, {product});
    int shaped = builder.value(GetParam().dims({}), DType::f64, {"tp"});
    std::vector<artifact::IntExpr> size;
    for (int64_t extent : GetParam().shape)
      size.push_back(literal(extent));
    builder.compute("aten.view.default", {tensorArg("self", product), integersArg("size", size)}, {shaped});
    return shaped;
  }

  Tensors addends() const {
    return {{"x", at::randn({c10::multiply_integers(GetParam().shape), 4}, at::kDouble)},
            {"w", at::randn({4, 1}, at::kDouble)}};
  }

  at::Tensor sumOf(const Tensors &tensors) const {
    return at::mm(tensors.at("x"), tensors.at("w")).view(GetParam().shape);
  }
};

} // namespace

TEST_P(CollectiveStepTest, AllGather) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  int input = builder.input("x", GetParam().dims({"tp"})), output = builder.value(GetParam().dims({}));
  builder.collective(Kind::all_gather, {"tp"}, input, output, GetParam().dim);
  builder.output("y", output);
  at::Tensor x = whole();
  EXPECT_TRUE(at::equal(mustRun(builder, {{"x", x}})["y"], x));
}

TEST_P(CollectiveStepTest, AllGatherOfTheMinorAxis) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 2}});
  int input = builder.input("x", GetParam().dims({"dp", "tp"})), output = builder.value(GetParam().dims({"dp"}));
  builder.collective(Kind::all_gather, {"tp"}, input, output, GetParam().dim);
  builder.output("y", output);
  at::Tensor x = whole();
  // Uneven shards over both axes may not refine the shards of the major one; then the program is rejected.
  auto result = runSchedule(builder, {{"x", x}});
  if (result)
    EXPECT_TRUE(at::equal((*result)["y"], x));
  else
    EXPECT_THAT(result.status().message(), testing::HasSubstr("do not hold each element of the output once"));
}

TEST_P(CollectiveStepTest, ReduceScatter) {
  ScheduleBuilder builder({{"tp", 4}});
  int input = addend(builder), output = builder.value(GetParam().dims({"tp"}));
  builder.collective(Kind::reduce_scatter, {"tp"}, input, output, GetParam().dim);
  builder.output("y", output);
  Tensors tensors = addends();
  EXPECT_TRUE(at::allclose(mustRun(builder, tensors)["y"], sumOf(tensors), 1e-13, 1e-13));
}

TEST_P(CollectiveStepTest, AllReduce) {
  ScheduleBuilder builder({{"tp", 2}, {"dp", 2}});
  int input = addend(builder), output = builder.value(GetParam().dims({}));
  builder.collective(Kind::all_reduce, {"tp"}, input, output);
  builder.output("y", output);
  Tensors tensors = addends();
  EXPECT_TRUE(at::allclose(mustRun(builder, tensors)["y"], sumOf(tensors), 1e-13, 1e-13));
}

TEST_P(CollectiveStepTest, AllToAll) {
  int dim = GetParam().dim, other = (dim + 1) % static_cast<int>(GetParam().shape.size());
  ScheduleBuilder builder({{"tp", 3}});
  std::vector<TestDim> outputDims = GetParam().dims({});
  outputDims[other].axes = {"tp"};
  int input = builder.input("x", GetParam().dims({"tp"})), output = builder.value(outputDims);
  builder.collective(Kind::all_to_all, {"tp"}, input, output, other, dim);
  builder.output("y", output);
  at::Tensor x = whole();
  EXPECT_TRUE(at::equal(mustRun(builder, {{"x", x}})["y"], x));
}

TEST_P(CollectiveStepTest, Permute) {
  ScheduleBuilder builder({{"dp", 3}, {"tp", 3}});
  int input = builder.input("x", GetParam().dims({"dp", "tp"})), output = builder.value(GetParam().dims({"tp", "dp"}));
  builder.collective(Kind::permute, {"dp", "tp"}, input, output);
  builder.output("y", output);
  at::Tensor x = whole();
  EXPECT_TRUE(at::equal(mustRun(builder, {{"x", x}})["y"], x));
}

INSTANTIATE_TEST_SUITE_P(Layouts, CollectiveStepTest,
                         testing::Values(Layout{{12, 5}, 0}, Layout{{7, 5}, 0}, Layout{{4, 9}, 1}, Layout{{4, 10}, 1},
                                         Layout{{1, 8, 3}, 1}, Layout{{3, 7, 2}, 1}, Layout{{2, 3, 8}, 2},
                                         Layout{{5, 2}, 0, 5}, Layout{{3, 20}, 1, 4}, Layout{{15, 4}, 0, 1, {9, 3, 3}},
                                         Layout{{4, 16}, 1, 2, {8, 4, 4}}, Layout{{2, 4}, 0}));

TEST(CollectiveStepTest, MaximumOfColumnsSplitUnevenly) {
  ScheduleBuilder builder({{"tp", 3}});
  int x = builder.input("x", {{4}, {7, {"tp"}}});
  int part = builder.value({{4}}, DType::f64, {"tp"}, artifact::Reduction::max), max = builder.value({{4}});
  builder.compute("meshplan.row_max", {tensorArg("input", x)}, {part});
  builder.collective(Kind::all_reduce, {"tp"}, part, max);
  builder.output("max", max);
  at::Tensor tensor = at::randn({4, 7}, at::kDouble);
  EXPECT_TRUE(at::equal(mustRun(builder, {{"x", tensor}})["max"], tensor.amax(1)));
}

TEST(CollectiveStepTest, StridedInputIsPacked) {
  ScheduleBuilder builder({{"tp", 2}});
  int x = builder.input("x", {{3}, {4, {"tp"}}}), turned = builder.value({{4, {"tp"}}, {3}}),
      y = builder.value({{4}, {3}});
  builder.compute("aten.t.default", {tensorArg("self", x)}, {turned});
  builder.collective(Kind::all_gather, {"tp"}, turned, y, 0);
  builder.output("y", y);
  at::Tensor tensor = at::randn({3, 4}, at::kDouble);
  EXPECT_TRUE(at::equal(mustRun(builder, {{"x", tensor}})["y"], tensor.t()));
}

namespace {

/// The elements of x along its columns, sharded over three ranks, reduced on each and then over all.
at::Tensor reducedOverRanks(const char *target, artifact::Reduction reduction, const at::Tensor &x, DType dtype,
                            std::vector<artifact::ArgT> more = {}) {
  ScheduleBuilder builder({{"tp", 3}});
  int input = builder.input("x", {{x.size(0)}, {x.size(1), {"tp"}}}, dtype);
  int part = builder.value({{x.size(0)}}, dtype, {"tp"}, reduction), whole = builder.value({{x.size(0)}}, dtype);
  std::vector<artifact::ArgT> arguments = {tensorArg("self", input), integersArg("dim", {literal(1)})};
  for (artifact::ArgT &argument : more)
    arguments.push_back(argument);
  builder.compute(target, std::move(arguments), {part});
  builder.collective(Kind::all_reduce, {"tp"}, part, whole);
  builder.output("y", whole);
  return mustRun(builder, {{"x", x}})["y"];
}

} // namespace

TEST(CollectiveStepTest, EveryReduction) {
  at::Tensor x = at::randn({5, 8}, at::kDouble);
  EXPECT_TRUE(at::equal(reducedOverRanks("aten.amax.default", artifact::Reduction::max, x, DType::f64), x.amax(1)));
  EXPECT_TRUE(at::equal(reducedOverRanks("aten.amin.default", artifact::Reduction::min, x, DType::f64), x.amin(1)));
  EXPECT_TRUE(at::allclose(reducedOverRanks("aten.sum.dim_IntList", artifact::Reduction::sum, x, DType::f64), x.sum(1),
                           1e-14, 1e-14));
  x[2][7] = std::numeric_limits<double>::quiet_NaN(); // on the last rank
  at::Tensor max = reducedOverRanks("aten.amax.default", artifact::Reduction::max, x, DType::f64);
  EXPECT_TRUE(at::equal(max.isnan(), x.amax(1).isnan()));
}

TEST(CollectiveStepTest, OtherElementTypes) {
  at::Tensor integers = at::randint(-1000, 1000, {4, 7}, at::kLong);
  EXPECT_TRUE(at::equal(reducedOverRanks("aten.sum.dim_IntList", artifact::Reduction::sum, integers, DType::i64),
                        integers.sum(1)));
  at::Tensor bools = at::rand({6, 7}) > 0.9;
  EXPECT_TRUE(
      at::equal(reducedOverRanks("aten.any.dims", artifact::Reduction::max, bools, DType::boolean), bools.any(1)));
  // Small integers have the same sum in any precision.
  for (auto [type, dtype] : {std::pair(at::kBFloat16, DType::bf16), std::pair(at::kHalf, DType::f16)}) {
    at::Tensor halves = at::randint(-8, 8, {4, 7}, at::kLong).to(type);
    EXPECT_TRUE(
        at::equal(reducedOverRanks("aten.sum.dim_IntList", artifact::Reduction::sum, halves, dtype), halves.sum(1)));
  }
}

TEST(CollectiveStepTest, TheInputMayBeReadWhileItIsOnItsWay) {
  ScheduleBuilder builder({{"tp", 3}});
  int x = builder.input("x", {{6, {"tp"}}, {2}}), whole = builder.value({{6}, {2}}),
      doubled = builder.value({{6, {"tp"}}, {2}});
  builder.collective(Kind::all_gather, {"tp"}, x, whole, 0);
  builder.compute("aten.mul.Tensor", {tensorArg("self", x), realArg("other", 2.0)}, {doubled});
  auto &instructions = builder.program().instructions;
  std::swap(instructions[1], instructions[2]); // before the wait
  builder.output("whole", whole);
  builder.output("doubled", doubled);
  at::Tensor tensor = at::randn({6, 2}, at::kDouble);
  Tensors results = mustRun(builder, {{"x", tensor}});
  EXPECT_TRUE(at::equal(results["whole"], tensor));
  EXPECT_TRUE(at::equal(results["doubled"], tensor * 2));
}

TEST(CollectiveStepTest, SeveralInFlightOverTheAxesOfAMesh) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  int x = builder.input("x", {{4, {"dp"}}, {6, {"tp"}}}), rows = builder.value({{4}, {6, {"tp"}}}),
      columns = builder.value({{4, {"dp"}}, {6}});
  builder.collective(Kind::all_gather, {"dp"}, x, rows, 0);
  builder.collective(Kind::all_gather, {"tp"}, x, columns, 1);
  auto &instructions = builder.program().instructions;
  std::swap(instructions[1], instructions[2]); // start, start, wait for the second, wait for the first
  std::swap(instructions[2], instructions[3]);
  builder.output("rows", rows);
  builder.output("columns", columns);
  at::Tensor tensor = at::randn({4, 6}, at::kDouble);
  Tensors results = mustRun(builder, {{"x", tensor}});
  EXPECT_TRUE(at::equal(results["rows"], tensor));
  EXPECT_TRUE(at::equal(results["columns"], tensor));
}
