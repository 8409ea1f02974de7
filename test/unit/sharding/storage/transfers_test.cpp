//===- transfers_test.cpp - copies between device and host ----------------===//

#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/storage/transfers.h"
#include "test/unit/dialect/plan_text.h"

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

class TransfersTest : public PlanText {
protected:
  TransfersTest() {
    readModule(R"(
      !flat = tensor<4x6xf32, #plan.sharding<[{}, {}], flat = {"dp"}>>
      plan.mesh [#base.mesh_axis<"dp" = 2>]
      func.func @f(%w: !flat {plan.kind = #plan.kind<parameter>, plan.host}, %x: !flat {plan.kind = #plan.kind<input>}) {
        %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (!flat) -> !flat
        %1 = plan.call "aten.neg.default"(%w) {self = #base.operand<0>} {plan.host} : (!flat) -> !flat
        return
      })");
  }
};

TEST_F(TransfersTest, ArgumentsAndCallsSayWhereTensorsLie) {
  EXPECT_TRUE(isOnHost(argument(0)));
  EXPECT_FALSE(isOnHost(argument(1)));
  EXPECT_FALSE(isOnHost(op(0)->getResult(0)));
  EXPECT_TRUE(isOnHost(op(1)->getResult(0)));
}

TEST_F(TransfersTest, ACopyLiesInTheOtherMemoryInTheSameLayout) {
  OpBuilder builder(op(1)->getNextNode());
  Value there = transfer(builder, op(0)->getLoc(), op(0)->getResult(0), /*toHost=*/true);
  Value back = transfer(builder, op(0)->getLoc(), there, /*toHost=*/false);
  EXPECT_TRUE(isOnHost(there));
  EXPECT_FALSE(isOnHost(back));
  EXPECT_EQ(there.getType(), op(0)->getResult(0).getType());
  EXPECT_EQ(back.getType(), there.getType());
  for (Value copy : {there, back}) {
    EXPECT_TRUE(isTransfer(copy.getDefiningOp<CallOp>()));
    EXPECT_TRUE(isCarrier(copy.getDefiningOp())) << "elements keep their positions";
    EXPECT_FALSE(copy.getDefiningOp<CallOp>().getBackward());
  }
  EXPECT_EQ(there.getDefiningOp<CallOp>().getTarget(), "meshplan.to_host");
  EXPECT_FALSE(isTransfer(cast<CallOp>(op(1))));
  EXPECT_EQ(sourceArgument(back), argument(1));
}

} // namespace
