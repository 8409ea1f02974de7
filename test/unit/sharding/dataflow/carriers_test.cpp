//===- carriers_test.cpp - ops that pass a value on -----------------------===//

#include "compiler/sharding/dataflow/carriers.h"
#include "test/unit/dialect/plan_text.h"

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

class CarriersTest : public PlanText {
protected:
  CarriersTest() {
    readModule(R"(
      plan.mesh [#base.mesh_axis<"dp" = 2>]
      !flat = tensor<4x6xf32, #plan.sharding<[{}, {}], flat = {"dp"}>>
      !narrow = tensor<4x6xbf16, #plan.sharding<[{}, {}], flat = {"dp"}>>
      !whole = tensor<4x6xbf16, #plan.sharding<[{}, {}]>>
      !turned = tensor<6x4xbf16, #plan.sharding<[{}, {}]>>
      !number = tensor<f32, #plan.sharding<[]>>
      func.func @f(%w: !flat {plan.kind = #plan.kind<parameter>}, %x: !whole {plan.kind = #plan.kind<input>}) {
        %0 = plan.call "aten._to_copy.default"(%w) {self = #base.operand<0>, dtype = bf16} : (!flat) -> !narrow
        %1 = plan.reshard %0 : !narrow -> !whole
        %2 = plan.call "aten.exp.default"(%1) {self = #base.operand<0>} : (!whole) -> !whole
        %3 = plan.call "aten.mul.Tensor"(%2, %x) {self = #base.operand<0>, other = #base.operand<1>} backward : (!whole, !whole) -> !whole
        %4 = plan.all_gather %0 [#plan.axis<"dp">] : !narrow -> !whole
        %5 = plan.call "aten.t.default"(%4) {self = #base.operand<0>} : (!whole) -> !turned
        %6 = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} : (!whole) -> !whole
        %7 = plan.reshard %6 : !whole -> !whole
        %8 = plan.call "aten.neg.default"(%7) {self = #base.operand<0>} backward : (!whole) -> !whole
        %9 = plan.call "meshplan.square_sum"(%w) {self = #base.operand<0>} : (!flat) -> !number
        return
      })");
  }

  Operation *at(unsigned index) { return op(index); }
};

TEST_F(CarriersTest, OfOneOperandWhoseElementsKeepTheirPlaces) {
  for (unsigned index : {0u, 1u, 2u, 4u, 6u, 7u, 8u})
    EXPECT_TRUE(isCarrier(at(index))) << index;
  EXPECT_FALSE(isCarrier(at(3))) << "two operands";
  EXPECT_FALSE(isCarrier(at(5))) << "elements change places";
  EXPECT_FALSE(isCarrier(at(9))) << "one number of all elements";
  EXPECT_FALSE(isCarrier(nullptr)) << "an argument has no op";
}

TEST_F(CarriersTest, LeadBackToTheArgument) {
  EXPECT_EQ(sourceArgument(at(2)->getResult(0)), argument(0));
  EXPECT_EQ(sourceArgument(argument(1)), argument(1));
  EXPECT_EQ(sourceArgument(at(3)->getResult(0)), BlockArgument());
  EXPECT_EQ(sourceArgument(at(5)->getResult(0)), BlockArgument());
}

TEST_F(CarriersTest, BelongToThePassThatReadsThem) {
  EXPECT_TRUE(isBackward(at(3)));
  EXPECT_TRUE(isBackward(at(2))) << "of a parameter, and only a backward call reads it";
  EXPECT_TRUE(isBackward(at(1)));
  EXPECT_FALSE(isBackward(at(0))) << "aten.t reads it, too";
  EXPECT_FALSE(isBackward(at(4))) << "a forward call reads it";
  EXPECT_FALSE(isBackward(at(5))) << "nothing reads it";
  EXPECT_TRUE(isBackward(at(7)));
  EXPECT_TRUE(isBackward(at(6))) << "of an input, as of a parameter, it can be recomputed";
}

} // namespace
