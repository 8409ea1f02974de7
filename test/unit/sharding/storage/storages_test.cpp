//===- storages_test.cpp - arguments in contiguous buffers ----------------===//

#include "compiler/sharding/storage/storages.h"
#include "test/unit/dialect/plan_text.h"

#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

class StoragesTest : public PlanText {
protected:
  StoragesTest() {
    readModule(R"(
      plan.mesh [#base.mesh_axis<"dp" = 2>]
      !whole = tensor<8xf32, #plan.sharding<[{}]>>
      !addend = tensor<8xf32, #plan.sharding<[{}], partial = sum {"dp"}>>
      func.func @f(%a: !addend, %b: !addend, %c: !addend, %d: !addend, %x: !addend) {
        %0 = plan.call "meshplan.assign"(%a, %x) {self = #base.operand<0>, source = #base.operand<1>} : (!addend, !addend) -> !addend
        %1 = plan.call "meshplan.accumulate"(%0, %x) {self = #base.operand<0>, addend = #base.operand<1>} : (!addend, !addend) -> !addend
        %2 = plan.all_reduce %1 [#plan.axis<"dp">] : !addend -> !whole into %1 : !addend
        %3 = plan.all_reduce %x [#plan.axis<"dp">] : !addend -> !whole
        %4 = plan.call "aten.neg.default"(%b) {self = #base.operand<0>} : (!addend) -> !addend
        return
      })");
    putInStorage(place(2), "first", 2, false);
    putInStorage(place(0), "first", 0, false);
    putInStorage(place(1), "first", 1, true);
    putInStorage(place(3), "second", 0, false);
  }

  BlockArgument place(unsigned index) { return cast<BlockArgument>(argument(index)); }
  func::FuncOp function() { return cast<func::FuncOp>(place(0).getOwner()->getParentOp()); }
  Value made(unsigned index) { return op(index)->getResult(0); }
};

TEST_F(StoragesTest, ArgumentsLieInTheOrderOfTheirPositions) {
  SmallVector<Storage> storages = storagesOf(function());
  ASSERT_EQ(storages.size(), 2u);
  EXPECT_EQ(storages[0].name, "first");
  EXPECT_THAT(storages[0].arguments, testing::ElementsAre(place(0), place(1), place(2)));
  EXPECT_TRUE(storages[0].isRegistered);
  EXPECT_THAT(storages[1].arguments, testing::ElementsAre(place(3)));
  EXPECT_FALSE(storages[1].isRegistered);
}

TEST_F(StoragesTest, WhatIsChangedStaysInItsPlace) {
  EXPECT_EQ(locationOf(made(1)), argument(0)) << "assigned, and then added to";
  EXPECT_EQ(locationOf(made(2)), argument(0)) << "accumulated in place";
  EXPECT_EQ(locationOf(made(3)), made(3)) << "a new tensor";
  EXPECT_EQ(locationOf(made(4)), made(4));
  EXPECT_EQ(locationOf(argument(4)), argument(4));
}

TEST_F(StoragesTest, TargetsAreThoseOfCollectives) {
  EXPECT_EQ(targetOf(op(2)), made(1));
  EXPECT_EQ(targetOf(op(3)), Value());
  EXPECT_EQ(targetOf(op(4)), Value());
}

TEST_F(StoragesTest, APieceIsARunOfOneStorage) {
  StorageMap map(function());
  auto holds = [&](std::vector<Value> values) { return map.areAdjacent(values); };
  EXPECT_TRUE(holds({argument(0), argument(1), argument(2)}));
  EXPECT_TRUE(holds({argument(1), argument(2)}));
  EXPECT_TRUE(holds({made(1), argument(1)})) << "the new content of an argument";
  EXPECT_TRUE(holds({made(4)})) << "a single tensor";
  EXPECT_FALSE(holds({argument(1), argument(0)})) << "in another order";
  EXPECT_FALSE(holds({argument(0), argument(2)})) << "with a gap";
  EXPECT_FALSE(holds({argument(2), argument(3)})) << "of two storages";
  EXPECT_FALSE(holds({argument(0), argument(4)})) << "of which one is in no storage";
  EXPECT_FALSE(holds({made(4), argument(1)}));
}

} // namespace
