//===- lower_reshards_test.cpp - every reshard becomes collectives --------===//
//
// The tests of planReshard check that the steps give each rank its target; here the verifiers of the collectives check
// the ops.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/partition/passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/Pass/PassManager.h"
#include "test/unit/dialect/plan_text.h"
#include "test/unit/sharding/draw_shardings.h"

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

class LowerReshards : public PlanText {
protected:
  LowerReshards() {
    readModule("plan.mesh [#base.mesh_axis<\"a\" = 2>, #base.mesh_axis<\"b\" = 3>, #base.mesh_axis<\"c\" = 4>]");
    digits = {axis("a"), axis("b"), axis("c", 1, 2), axis("c", 2, 2)};
  }

  /// Adds a function with one reshard to the module and lowers it.
  void lower(ArrayRef<int64_t> shape, ShardingAttr from, ShardingAttr to) {
    for (auto old : llvm::make_early_inc_range(owner->getOps<func::FuncOp>()))
      old.erase();
    OpBuilder builder = OpBuilder::atBlockEnd(owner->getBody());
    auto input = RankedTensorType::get(shape, builder.getF32Type(), from), result = input.cloneWithEncoding(to);
    Location location = builder.getUnknownLoc();
    auto function = func::FuncOp::create(builder, location, "f", builder.getFunctionType(input, result));
    builder.setInsertionPointToEnd(function.addEntryBlock());
    auto reshard = ReshardOp::create(builder, FileLineColLoc::get(&context, "a.plan", 3, 1), result,
                                     function.getArgument(0), builder.getStringAttr("colwise c"));
    func::ReturnOp::create(builder, location, reshard.getResult());
    PassManager manager(&context);
    manager.addPass(createLowerReshards());
    EXPECT_TRUE(succeeded(manager.run(*owner))) << print(from) << " to " << print(to);
  }

  /// Each op but the return reads the previous one, and keeps the statement.
  void checkChain(ShardingAttr from, ShardingAttr to) {
    Value value = argument(0);
    for (Operation &op : function().getBody().front().without_terminator()) {
      EXPECT_FALSE(isa<ReshardOp>(op));
      EXPECT_EQ(op.getOperand(0), value);
      EXPECT_EQ(print(op.getLoc()), "loc(\"a.plan\":3:1)");
      EXPECT_EQ(op.getAttrOfType<StringAttr>("cause").getValue(), "colwise c");
      value = op.getResult(0);
    }
    EXPECT_EQ(function().getBody().front().getTerminator()->getOperand(0), value) << print(from);
    EXPECT_EQ(getSharding(value), to);
  }

  SmallVector<AxisRefAttr> digits;
};

TEST_F(LowerReshards, WhatIsWrittenVerifies) {
  std::mt19937 random(13);
  for (int draw = 0; draw < 300 && !HasFailure(); ++draw) {
    ShardingAttr from = drawSharding(random, mesh(), digits, 3, digits);
    ShardingAttr to = drawSharding(random, mesh(), digits, 3, {});
    lower({24, 24, 24}, from, to);
    checkChain(from, to);
  }
}

TEST_F(LowerReshards, UnevenLayoutsVerify) {
  std::mt19937 random(17);
  SmallVector<int64_t> shape{28, 40, 24};
  for (int draw = 0; draw < 300 && !HasFailure(); ++draw) {
    ShardingAttr from = drawDealing(random, mesh(), drawSharding(random, mesh(), digits, 3, digits), shape);
    ShardingAttr to = drawDealing(random, mesh(), drawSharding(random, mesh(), digits, 3, {}), shape);
    lower(shape, from, to);
    checkChain(from, to);
  }
}

TEST_F(LowerReshards, WhatStaysPartialVerifies) {
  std::mt19937 random(19);
  SmallVector<AxisRefAttr> free(digits.begin() + 1, digits.end());
  for (Reduction reduction : {Reduction::sum, Reduction::max, Reduction::min})
    for (int draw = 0; draw < 100 && !HasFailure(); ++draw) {
      ShardingAttr from = drawSharding(random, mesh(), free, 2, free), to = drawSharding(random, mesh(), free, 2, {});
      AxisList axes{axis("a")};
      axes.append(from.getPartialAxes().begin(), from.getPartialAxes().end());
      from = ShardingAttr::get(&context, from.getDims(), reduction, axes);
      to = ShardingAttr::get(&context, to.getDims(), reduction, {axis("a")});
      lower({24, 24}, from, to);
      checkChain(from, to);
    }
}

TEST_F(LowerReshards, AReshardToTheSameLayoutIsNothing) {
  ShardingAttr layout = sharding("[{\"a\"}, {}]");
  lower({24, 24}, layout, layout);
  EXPECT_TRUE(llvm::hasSingleElement(function().getBody().front()));
  checkChain(layout, layout);
}

} // namespace
