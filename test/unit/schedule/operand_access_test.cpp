//===- operand_access_test.cpp - how a call accesses its operands ---------===//

#include "compiler/transforms/schedule/operand_access.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

using namespace meshplan;
using namespace mlir;

namespace {

class OperandAccess : public testing::Test {
protected:
  using Shape = SmallVector<int64_t>;

  void operand(Type element, const Shape &shape, const Strides &strides = {}) {
    call.operands.push_back(RankedTensorType::get(shape, element));
    call.strides.push_back(strides.empty() ? contiguousStrides(shape) : strides);
  }

  std::string access(const Shape &result, bool isPointwise = true) {
    call.results = {RankedTensorType::get(result, f32)};
    return operandAccess(call, isPointwise).str();
  }

  MLIRContext context;
  Builder builder{&context};
  Type f32 = builder.getF32Type(), bf16 = builder.getBF16Type(), boolean = builder.getI1Type();
  CallView call{"aten.x.default", {}, {}, {}, {}};
};

TEST_F(OperandAccess, EqualOperandsAreAlike) {
  operand(f32, {4, 8});
  operand(f32, {4, 8});
  operand(boolean, {4, 8});
  operand(f32, {1});
  EXPECT_EQ(access({4, 8}), "");
}

TEST_F(OperandAccess, AVectorIsBroadcast) {
  operand(f32, {4, 8});
  operand(f32, {8});
  EXPECT_EQ(access({4, 8}), "broadcast");
  EXPECT_EQ(access({4, 8}, /*isPointwise=*/false), "") << "such an operator reads each operand on its own";
}

TEST_F(OperandAccess, TwoDtypesAreConverted) {
  operand(bf16, {4, 8});
  operand(f32, {8});
  EXPECT_EQ(access({4, 8}), "converted");
}

TEST_F(OperandAccess, OperandsInDifferentOrdersAreStrided) {
  operand(f32, {4, 8}, {1, 4});
  EXPECT_EQ(access({4, 8}), "") << "the result has the same order";
  EXPECT_EQ(access({4, 8}, /*isPointwise=*/false), "strided");
  operand(f32, {4, 8});
  EXPECT_EQ(access({4, 8}), "strided");
}

TEST_F(OperandAccess, StridesOfSingleElementsDoNotMatter) {
  operand(f32, {1, 8}, {1, 1});
  operand(f32, {1, 8});
  EXPECT_EQ(access({1, 8}), "");
}

} // namespace
