//===- ops_test.cpp - queries of the scheduler and targets ----------------===//

#include "dialect/sched/sched.h"
#include "test/unit/dialect/parsed_text.h"
#include <gmock/gmock.h>

using namespace mlir;
using namespace meshplan::sched;
using testing::ElementsAre;
using testing::IsEmpty;

namespace meshplan {
namespace {

class SchedOps : public ParsedText<SchedDialect> {
protected:
  ShardedTensorType tensor(StringRef text) { return type<ShardedTensorType>(("!sched.tensor<" + text + ">").str()); }
  FileLineColLoc place(StringRef file, unsigned line) { return FileLineColLoc::get(&context, file, line, 1); }
};

TEST_F(SchedOps, AProgramRunsOnItsDevicesOrTheMesh) {
  auto owner = module(R"(
    sched.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 3>]
    sched.program @forward {}
    sched.program @reference role <reference> devices [#base.mesh_axis<"rank" = 1>] {})");
  std::vector<SmallVector<int64_t>> sizes;
  for (ProgramOp program : owner->getOps<ProgramOp>())
    sizes.push_back(program.getMeshSizes());
  EXPECT_THAT(sizes, ElementsAre(ElementsAre(2, 3), ElementsAre(1)));
  EXPECT_THAT(axisSizes(getMesh(*owner).getAxes()), ElementsAre(2, 3));
  EXPECT_FALSE(getMesh(*module("")));
}

TEST_F(SchedOps, AxesAndDimsAreThoseOfTheExtentFunction) {
  EXPECT_EQ(toAxisRef(attribute<AxisAttr>("#sched.axis<1:(2)3>")), (AxisRef{1, 2, 3}));
  EXPECT_THAT(toAxisRefs(attribute<ArrayAttr>("[#sched.axis<1:(1)3>, #sched.axis<0:(1)2>]")),
              ElementsAre(AxisRef{1, 1, 3}, AxisRef{0, 1, 2}));
  EXPECT_THAT(toAxisRefs(attribute<ArrayAttr>("[]")), IsEmpty());
  DimSharding dim =
      toDimSharding(attribute<DimAttr>("#sched.dim<24 over {1:(1)3, 0:(1)2} parts [16 unit 4 repeat 2, 8]>"));
  EXPECT_EQ(dim.extent, 24);
  EXPECT_THAT(dim.axes, ElementsAre(AxisRef{1, 1, 3}, AxisRef{0, 1, 2}));
  EXPECT_EQ(dim.unit, 1);
  EXPECT_THAT(dim.parts, ElementsAre(DimPart(16, 4, 2), DimPart(8)));
  EXPECT_EQ(dim.repeat, 1);
  EXPECT_EQ(toDimSharding(attribute<DimAttr>("#sched.dim<24 unit 4 repeat 3>")).repeat, 3);
}

TEST_F(SchedOps, ShapeAndBytesOfEachRank) {
  // 7 rows over 3 ranks are 3, 2 and 2; 5 heads of 4 over 2 ranks are 3 and 2.
  ShardedTensorType type = tensor("[7 over {1:(1)3}, 20 over {0:(1)2} unit 4, 5], bf16");
  std::vector<int64_t> sizes = {2, 3};
  const int64_t rows[] = {3, 2, 2}, columns[] = {12, 8};
  for (int64_t dp = 0; dp < 2; ++dp)
    for (int64_t tp = 0; tp < 3; ++tp) {
      EXPECT_THAT(localShape(type, sizes, {dp, tp}), ElementsAre(rows[tp], columns[dp], 5));
      EXPECT_EQ(localBytes(type, sizes, {dp, tp}), rows[tp] * columns[dp] * 5 * 2);
    }
  EXPECT_EQ(largestBytes(type), 3 * 12 * 5 * 2);
}

TEST_F(SchedOps, SharedUnitsMayBeLargestInTheMiddle) {
  // 2 heads of 4 that count 3 times are 6 for 4 ranks, distributed as 0-1, 2, 3-4 and 5: one head each.
  ShardedTensorType two = tensor("[8 over {0:(1)4} unit 4 repeat 3], f32");
  // 5 heads that count 3 times are 15 for 4 ranks: 0-3, 4-7, 8-11, 12-14, that is heads 0-1, 1-2, 2-3 and 4.
  ShardedTensorType five = tensor("[5 over {0:(1)4} repeat 3], f32");
  std::vector<int64_t> held;
  for (int64_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(localBytes(two, {4}, {rank}), 16);
    held.push_back(localBytes(five, {4}, {rank}));
  }
  EXPECT_THAT(held, ElementsAre(8, 8, 8, 4));
  EXPECT_EQ(largestBytes(two), 16);
  EXPECT_EQ(largestBytes(five), 8);
}

TEST_F(SchedOps, AScalarAndNothingHaveBytesToo) {
  EXPECT_EQ(largestBytes(tensor("[], i64")), 8);
  EXPECT_EQ(localBytes(tensor("[], i1"), {2}, {0}), 1);
  EXPECT_EQ(largestBytes(tensor("[0 over {0:(1)2}, 4], f32")), 0);
  // An addend is as large as the sum.
  EXPECT_EQ(largestBytes(tensor("[6], f32, partial = sum {0:(1)2}")), 24);
}

TEST_F(SchedOps, BytesOfAnElementAreWholeBytes) {
  std::pair<const char *, int64_t> cases[] = {{"i1", 1},   {"i4", 1},  {"i8", 1}, {"f16", 2},
                                              {"bf16", 2}, {"f32", 4}, {"f64", 8}};
  for (auto [text, bytes] : cases)
    EXPECT_EQ(elementBytes(type<Type>(text)), bytes) << text;
}

TEST_F(SchedOps, ThePlaceInThePlanIsFoundInEveryLocation) {
  FileLineColLoc plan = place("a.plan", 7), model = place("model.py", 9);
  EXPECT_EQ(getPlanLocation(plan), plan);
  EXPECT_FALSE(getPlanLocation(model));
  EXPECT_FALSE(getPlanLocation(UnknownLoc::get(&context)));
  StringAttr name = StringAttr::get(&context, "linear");
  EXPECT_EQ(getPlanLocation(NameLoc::get(name, plan)), plan);
  EXPECT_FALSE(getPlanLocation(NameLoc::get(name, model)));
  EXPECT_EQ(getPlanLocation(FusedLoc::get(&context, {model, plan})), plan);
  EXPECT_FALSE(getPlanLocation(FusedLoc::get(&context, {model, UnknownLoc::get(&context)})));
  EXPECT_EQ(getPlanLocation(CallSiteLoc::get(plan, model)), plan);
  EXPECT_EQ(getPlanLocation(CallSiteLoc::get(model, plan)), plan);
  EXPECT_FALSE(getPlanLocation(CallSiteLoc::get(model, model)));
}

TEST_F(SchedOps, TheFirstPlaceInThePlanCounts) {
  FileLineColLoc first = place("a.plan", 7), second = place("a.plan", 8);
  EXPECT_EQ(getPlanLocation(FusedLoc::get(&context, {place("model.py", 9), first, second})), first);
  EXPECT_EQ(getPlanLocation(CallSiteLoc::get(first, second)), first);
  Location nested =
      FusedLoc::get({NameLoc::get(StringAttr::get(&context, "x"), CallSiteLoc::get(place("m.py", 1), second))},
                    StringAttr::get(&context, "note"), &context);
  EXPECT_EQ(getPlanLocation(nested), second);
}

} // namespace
} // namespace meshplan
