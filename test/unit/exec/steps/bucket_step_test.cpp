//===- bucket_step_test.cpp - flat tensors, and coalesced collectives -----===//

#include "test/unit/exec/run_schedule.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

/// Tensors with every kind of sharding: rows, columns, blocks, parts, none; and with few elements, so that the runs of
/// some ranks are empty.
const std::vector<std::vector<TestDim>> dealt = {
    {{7}, {5}}, {{4}, {9, {"tp"}}}, {{6, {"tp"}, 2}, {3}}, {{2}, {12, {"tp"}, 1, {6, 3, 3}}}, {{1}},
    {},         {{2, {"tp"}}, {2}}};

using Names = std::vector<std::string>;

/// One case: which of the tensors are moved, and the axes over which they are flat.
struct Case {
  std::vector<size_t> tensors;
  Names axes;
};

void PrintTo(const Case &each, std::ostream *out) {
  *out << testing::PrintToString(each.tensors) << " over " << testing::PrintToString(each.axes);
}

int64_t elementsOf(const std::vector<TestDim> &dims) {
  int64_t count = 1;
  for (const TestDim &dim : dims)
    count *= dim.extent;
  return count;
}

std::vector<int64_t> shapeOf(const std::vector<TestDim> &dims) {
  std::vector<int64_t> shape;
  for (const TestDim &dim : dims)
    shape.push_back(dim.extent);
  return shape;
}

std::vector<TestDim> undivided(std::vector<TestDim> dims) {
  for (TestDim &dim : dims)
    dim.axes.clear();
  return dims;
}

class BucketStepTest : public testing::TestWithParam<Case> {
protected:
  /// A tensor with the layout of its dims and the elements of `tensors`.
  int whole(const std::string &name, size_t number) {
    tensors[name] = at::randn(shapeOf(dealt[number]), at::kDouble);
    return builder.input(name, dealt[number]);
  }

  int flat(size_t number, DType dtype = DType::f64) {
    return builder.flat(builder.value(dealt[number], dtype), GetParam().axes);
  }

  /// The outer product of two inputs whose inner dim is sharded over `axes`: an addend on each of their ranks.
  int addend(const std::string &name, size_t number) {
    const std::vector<TestDim> &dims = dealt[number];
    int64_t count = elementsOf(dims);
    tensors[name + ".x"] = at::randn({count, 8}, at::kDouble);
    tensors[name + ".w"] = at::randn({8, 1}, at::kDouble);
    int x = builder.input(name + ".x", {{count}, {8, GetParam().axes}}),
        w = builder.input(name + ".w", {{8, GetParam().axes}, {1}});
    int product = builder.value({{count}, {1}}, DType::f64, GetParam().axes);
    builder.compute("aten.mm.default", {tensorArg("self", x), tensorArg("mat2", w)}, {product});
    int shaped = builder.value(undivided(dims), DType::f64, GetParam().axes);
    std::vector<artifact::IntExpr> size;
    for (int64_t extent : shapeOf(dims))
      size.push_back(literal(extent));
    builder.compute("aten.view.default", {tensorArg("self", product), integersArg("size", size)}, {shaped});
    int part = builder.value(dims, DType::f64, GetParam().axes);
    builder.slice(shaped, part);
    return part;
  }

  at::Tensor sumOf(const std::string &name, size_t number) const {
    return at::mm(tensors.at(name + ".x"), tensors.at(name + ".w")).view(shapeOf(dealt[number]));
  }

  void expectSums() {
    Tensors results = mustRun(builder, tensors);
    for (size_t number : GetParam().tensors) {
      std::string name = "t" + std::to_string(number);
      EXPECT_TRUE(at::allclose(results[name], sumOf(name, number), 1e-13, 1e-13)) << name;
    }
  }

  ScheduleBuilder builder{{{"dp", 2}, {"tp", 3}, {"pod", 2}}};
  Tensors tensors;
};

} // namespace

TEST_P(BucketStepTest, WhatIsCutIsGathered) {
  std::vector<int> pieces, gathered;
  for (size_t number : GetParam().tensors) {
    int input = whole("t" + std::to_string(number), number);
    pieces.push_back(flat(number));
    builder.slice(input, pieces.back());
    gathered.push_back(builder.value(dealt[number]));
  }
  builder.bucket(Kind::all_gather, GetParam().axes, pieces, gathered);
  for (size_t i = 0; i < gathered.size(); ++i)
    builder.output("t" + std::to_string(GetParam().tensors[i]), gathered[i]);
  Tensors results = mustRun(builder, tensors);
  for (const auto &[name, tensor] : tensors)
    EXPECT_TRUE(at::equal(results[name], tensor)) << name;
}

TEST_P(BucketStepTest, ReduceScatterLeavesTheRun) {
  std::vector<int> addends, pieces;
  for (size_t number : GetParam().tensors) {
    addends.push_back(addend("t" + std::to_string(number), number));
    pieces.push_back(flat(number));
    builder.output("t" + std::to_string(number), pieces.back());
  }
  builder.bucket(Kind::reduce_scatter, GetParam().axes, addends, pieces);
  expectSums();
}

TEST_P(BucketStepTest, AllReduceOfWholeTensors) {
  std::vector<int> addends, sums;
  for (size_t number : GetParam().tensors) {
    addends.push_back(addend("t" + std::to_string(number), number));
    sums.push_back(builder.value(dealt[number]));
    builder.output("t" + std::to_string(number), sums.back());
  }
  builder.bucket(Kind::all_reduce, GetParam().axes, addends, sums);
  expectSums();
}

INSTANTIATE_TEST_SUITE_P(Tensors, BucketStepTest,
                         testing::Values(Case{{0}, {"dp"}}, Case{{1}, {"dp"}}, Case{{3}, {"pod", "dp"}},
                                         Case{{4}, {"dp"}}, Case{{5}, {"dp"}}, Case{{6}, {"pod", "dp"}},
                                         Case{{0, 1}, {"dp"}}, Case{{0, 1, 2, 3, 4, 5, 6}, {"dp"}},
                                         Case{{6, 5, 4, 3, 2, 1, 0}, {"pod", "dp"}}, Case{{4, 5, 6}, {"dp", "pod"}}));

namespace {

/// x [5, 3] flat over both axes, gathered over the minor one.
struct Cut {
  explicit Cut(Names majorToMinor, Names gathered) {
    int x = builder.input("x", {{5}, {3}});
    piece = builder.flat(builder.value({{5}, {3}}), std::move(majorToMinor));
    builder.slice(x, piece);
    result = builder.flat(builder.value({{5}, {3}}), {"dp"});
    builder.collective(Kind::all_gather, std::move(gathered), piece, result);
    builder.output("y", result);
  }

  ScheduleBuilder builder{{{"dp", 2}, {"tp", 3}}};
  int piece, result;
};

} // namespace

TEST(BucketStepTest, TheMinorAxisAloneIsGathered) {
  at::Tensor x = at::randn({5, 3}, at::kDouble);
  EXPECT_TRUE(at::equal(mustRun(Cut({"dp", "tp"}, {"tp"}).builder, {{"x", x}})["y"], x));
}

TEST(BucketStepTest, AllReduceIn16Bits) {
  // The sums of each row's shards, for two tensors at once, in 16 bits: exact in every order.
  ScheduleBuilder builder({{"tp", 3}});
  std::vector<int> parts, wholes;
  Tensors tensors;
  for (const char *name : {"a", "b"}) {
    tensors[name] = at::randint(-10, 10, {5, 7}, at::kLong).to(at::kBFloat16);
    int input = builder.input(name, {{5}, {7, {"tp"}}}, DType::bf16);
    parts.push_back(builder.value({{5}}, DType::bf16, {"tp"}, artifact::Reduction::sum));
    builder.compute("aten.sum.dim_IntList", {tensorArg("self", input), integersArg("dim", {literal(1)})},
                    {parts.back()});
    wholes.push_back(builder.value({{5}}, DType::bf16));
    builder.output(name, wholes.back());
  }
  builder.bucket(Kind::all_reduce, {"tp"}, parts, wholes);
  Tensors results = mustRun(builder, tensors);
  for (const auto &[name, tensor] : tensors)
    EXPECT_TRUE(at::equal(results[name], tensor.sum(1))) << name;
}

TEST(BucketStepTest, StridedInputsArePacked) {
  for (bool several : {false, true}) {
    ScheduleBuilder builder({{"tp", 3}});
    int x = builder.input("x", {{3}, {4}}), w = builder.input("w", {{3}, {4}});
    std::vector<int> pieces, wholes;
    for (int each : several ? std::vector{x, w} : std::vector{x}) {
      int turned = builder.value({{4}, {3}});
      builder.compute("aten.t.default", {tensorArg("self", each)}, {turned});
      pieces.push_back(builder.flat(builder.value({{4}, {3}}), {"tp"}));
      builder.slice(turned, pieces.back());
      wholes.push_back(builder.value({{4}, {3}}));
      builder.output(each == x ? "x" : "w", wholes.back());
    }
    builder.bucket(Kind::all_gather, {"tp"}, pieces, wholes);
    Tensors tensors = {{"x", at::randn({3, 4}, at::kDouble)}, {"w", at::randn({3, 4}, at::kDouble)}};
    for (const auto &[name, tensor] : mustRun(builder, tensors))
      EXPECT_TRUE(at::equal(tensor, tensors[name].t())) << name;
  }
}

TEST(BucketStepTest, ParametersAreLoadedAsRuns) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  Tensors tensors;
  for (const std::vector<TestDim> &dims : dealt) {
    std::string name = "t" + std::to_string(tensors.size());
    tensors[name] = at::randn(shapeOf(dims), at::kDouble);
    int piece = builder.flat(builder.parameter({name}, dims), {"dp"}), whole = builder.value(dims);
    builder.collective(Kind::all_gather, {"dp"}, piece, whole);
    builder.output(name, whole);
  }
  Tensors results = mustRun(builder, tensors);
  for (const auto &[name, tensor] : tensors)
    EXPECT_TRUE(at::equal(results[name], tensor)) << name;
}
