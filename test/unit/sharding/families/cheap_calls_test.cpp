//===- cheap_calls_test.cpp - calls whose results are recomputed ----------===//

#include "compiler/sharding/families/cheap_calls.h"
#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;

namespace {

struct CheapCalls : CallTest {
  bool isCheap(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    return isCheapToRecompute(parse(target, args, types));
  }
  bool views(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    return isView(parse(target, args, types));
  }
};

constexpr llvm::StringLiteral one = "(tensor<4x6xf32>) -> tensor<4x6xf32>";
constexpr llvm::StringLiteral two = "(tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>";

TEST_F(CheapCalls, ArithmeticOnEachElement) {
  EXPECT_TRUE(isCheap("aten.silu.default", "{self = #base.operand<0>}", one));
  EXPECT_TRUE(isCheap("aten.gelu.default", "{self = #base.operand<0>}", one));
  EXPECT_TRUE(isCheap("aten.mul.Tensor", "{self = #base.operand<0>, other = #base.operand<1>}", two));
  EXPECT_TRUE(isCheap("aten._to_copy.default", "{self = #base.operand<0>, dtype = bf16}",
                      "(tensor<4x6xf32>) -> tensor<4x6xbf16>"));
}

TEST_F(CheapCalls, Norms) {
  llvm::StringLiteral args = "{input = #base.operand<0>, normalized_shape = [6]}";
  EXPECT_TRUE(isCheap("aten.layer_norm.default", args, one));
  EXPECT_TRUE(isCheap("aten.rms_norm.default", args, one));
  EXPECT_TRUE(isCheap("aten.group_norm.default", "{input = #base.operand<0>, num_groups = 2 : i64}", one));
}

TEST_F(CheapCalls, Moves) {
  EXPECT_TRUE(isCheap("aten.transpose.int", "{self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64}",
                      "(tensor<4x6xf32>) -> tensor<6x4xf32>"));
  EXPECT_TRUE(isCheap("aten.reshape.default", "{self = #base.operand<0>, shape = [24]}",
                      "(tensor<4x6xf32>) -> tensor<24xf32>"));
}

TEST_F(CheapCalls, NotProductsSumsOrChoices) {
  EXPECT_FALSE(isCheap("aten.linear.default", "{input = #base.operand<0>, weight = #base.operand<1>}",
                       "(tensor<4x6xf32>, tensor<8x6xf32>) -> tensor<4x8xf32>"));
  EXPECT_FALSE(
      isCheap("aten.sum.dim_IntList", "{self = #base.operand<0>, dim = [1]}", "(tensor<4x6xf32>) -> tensor<4xf32>"));
  EXPECT_FALSE(isCheap("aten.softmax.int", "{self = #base.operand<0>, dim = 1 : i64}", one));
  EXPECT_FALSE(isCheap("aten.embedding.default", "{weight = #base.operand<0>, indices = #base.operand<1>}",
                       "(tensor<9x6xf32>, tensor<4xi64>) -> tensor<4x6xf32>"));
  EXPECT_FALSE(isCheap("meshplan.square_sum", "{self = #base.operand<0>}", "(tensor<4x6xf32>) -> tensor<f32>"));
  EXPECT_FALSE(isCheap("aten.some_op.default", "{self = #base.operand<0>}", one)) << "nothing is known of it";
}

TEST_F(CheapCalls, NotWhatDrawsOrRounds) {
  EXPECT_FALSE(isCheap("aten.dropout.default", "{input = #base.operand<0>, p = 0.5, train = true}", one));
  EXPECT_FALSE(isCheap("meshplan.round_addends", "{self = #base.operand<0>}", one));
}

TEST_F(CheapCalls, ViewsAreSoHoweverTheOperandLies) {
  EXPECT_TRUE(views("aten.transpose.int", "{self = #base.operand<0>, dim0 = 0 : i64, dim1 = 1 : i64}",
                    "(tensor<4x6xf32>) -> tensor<6x4xf32>"));
  EXPECT_TRUE(views("aten.unsqueeze.default", "{self = #base.operand<0>, dim = 0 : i64}",
                    "(tensor<4x6xf32>) -> tensor<1x4x6xf32>"));
  for (llvm::StringRef target : {"aten.view.default", "aten.reshape.default"})
    EXPECT_FALSE(
        views(target, "{self = #base.operand<0>, shape = [24], size = [24]}", "(tensor<4x6xf32>) -> tensor<24xf32>"))
        << "copies what lies column by column on a rank";
  EXPECT_FALSE(views("aten.contiguous.default", "{self = #base.operand<0>}", one));
  EXPECT_FALSE(views("aten.silu.default", "{self = #base.operand<0>}", one));
}

} // namespace
