//===- rewrite_test.cpp - calls without an operand ------------------------===//

#include "test/unit/sharding/parsed_call.h"
#include "gmock/gmock.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

using RecordRewrite = CallTest;

TEST_F(RecordRewrite, LinearSplitsItsBiasOff) {
  std::optional<AddendSplit> split = record("aten.linear.default")
                                         .splitAddend(parse("aten.linear.default",
                                                            "{input = #base.operand<0>, bias = #base.operand<1>, "
                                                            "weight = #base.operand<2>}",
                                                            "(tensor<4x6xf32>, tensor<2xf32>, tensor<2x6xf32>) "
                                                            "-> tensor<4x2xf32>"));
  ASSERT_TRUE(split);
  EXPECT_EQ(split->addend, 1u);
  EXPECT_THAT(split->call.operands, ElementsAre(0, 2));
  EXPECT_EQ(text(split->call), "aten.linear.default {input = #base.operand<0>, weight = #base.operand<1>}");
}

TEST_F(RecordRewrite, LinearWithoutBiasHasNothingToSplit) {
  EXPECT_FALSE(record("aten.linear.default")
                   .splitAddend(parse("aten.linear.default",
                                      "{input = #base.operand<0>, weight = #base.operand<1>, bias = unit}",
                                      "(tensor<4x6xf32>, tensor<2x6xf32>) -> tensor<4x2xf32>")));
}

TEST_F(RecordRewrite, AddmmBecomesAProduct) {
  constexpr char types[] = "(tensor<2xf32>, tensor<4x6xf32>, tensor<6x2xf32>) -> tensor<4x2xf32>";
  auto split = [&](llvm::StringRef scale) {
    std::string args = "{self = #base.operand<0>, mat1 = #base.operand<1>, mat2 = #base.operand<2>" + scale.str() + "}";
    return record("aten.addmm.default").splitAddend(parse("aten.addmm.default", args, types));
  };
  std::optional<AddendSplit> plain = split("");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->addend, 0u);
  EXPECT_THAT(plain->call.operands, ElementsAre(1, 2));
  EXPECT_EQ(text(plain->call), "aten.mm.default {mat2 = #base.operand<1>, self = #base.operand<0>}");
  EXPECT_TRUE(split(", beta = 1, alpha = 1.0"));
  EXPECT_FALSE(split(", beta = 0.5"));
  EXPECT_FALSE(split(", alpha = 2"));
}

TEST_F(RecordRewrite, BaddbmmBecomesAProduct) {
  std::optional<AddendSplit> split =
      record("aten.baddbmm.default")
          .splitAddend(parse("aten.baddbmm.default",
                             "{self = #base.operand<0>, batch1 = #base.operand<1>, batch2 = #base.operand<2>}",
                             "(tensor<3x1x2xf32>, tensor<3x4x6xf32>, tensor<3x6x2xf32>) -> tensor<3x4x2xf32>"));
  ASSERT_TRUE(split);
  EXPECT_EQ(text(split->call), "aten.bmm.default {mat2 = #base.operand<1>, self = #base.operand<0>}");
}

TEST_F(RecordRewrite, CreationsDropTheOperandThatTheyDoNotRead) {
  std::optional<CallRewrite> rewrite =
      record("aten.new_ones.default")
          .dropUnread(parse("aten.new_ones.default", "{self = #base.operand<0>, size = [4, 12]}",
                            "(tensor<6xi64>) -> tensor<4x12xi64>"));
  ASSERT_TRUE(rewrite);
  EXPECT_THAT(rewrite->operands, IsEmpty());
  EXPECT_EQ(text(*rewrite), "aten.ones.default {dtype = i64, size = [4, 12]}");
  rewrite = record("aten.full_like.default")
                .dropUnread(parse("aten.full_like.default", "{self = #base.operand<0>, fill_value = 7}",
                                  "(tensor<4x6xf32>) -> tensor<4x6xf32>"));
  ASSERT_TRUE(rewrite);
  EXPECT_EQ(text(*rewrite), "aten.full.default {dtype = f32, fill_value = 7 : i64, size = [4, 6]}");
}

TEST_F(RecordRewrite, TypeAsBecomesAConversion) {
  std::optional<CallRewrite> rewrite =
      record("aten.type_as.default")
          .dropUnread(parse("aten.type_as.default", "{other = #base.operand<0>, self = #base.operand<1>}",
                            "(tensor<6xbf16>, tensor<4x6xf32>) -> tensor<4x6xbf16>"));
  ASSERT_TRUE(rewrite);
  EXPECT_THAT(rewrite->operands, ElementsAre(1));
  EXPECT_EQ(text(*rewrite), "aten.to.dtype {dtype = bf16, self = #base.operand<0>}");
}

class RecordWiden : public CallTest {
protected:
  /// "target {args}" of the call that writes float32, or "none".
  std::string widened(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    std::optional<LocalCall> call = record(target).widen(parse(target, args, types));
    return call ? text(*call) : "none";
  }
};

TEST_F(RecordWiden, ProductsHaveAKernel) {
  EXPECT_EQ(widened("aten.linear.default", "{input = #base.operand<0>, weight = #base.operand<1>}",
                    "(tensor<4x6xbf16>, tensor<2x6xbf16>) -> tensor<4x2xbf16>"),
            "meshplan.linear_f32 {input = #base.operand<0>, weight = #base.operand<1>}");
  EXPECT_EQ(widened("aten.mm.default", "{self = #base.operand<0>, mat2 = #base.operand<1>}",
                    "(tensor<4x6xf16>, tensor<6x2xf16>) -> tensor<4x2xf16>"),
            "meshplan.matmul_f32 {other = #base.operand<1>, self = #base.operand<0>}");
  EXPECT_EQ(widened("aten.matmul.default", "{self = #base.operand<1>, other = #base.operand<0>}",
                    "(tensor<6x2xf16>, tensor<3x4x6xf16>) -> tensor<3x4x2xf16>"),
            "meshplan.matmul_f32 {other = #base.operand<0>, self = #base.operand<1>}");
}

TEST_F(RecordWiden, LinearOfAVectorOrWithABiasHasNone) {
  EXPECT_EQ(widened("aten.linear.default", "{input = #base.operand<0>, weight = #base.operand<1>}",
                    "(tensor<4x6xbf16>, tensor<6xbf16>) -> tensor<4xbf16>"),
            "none");
  EXPECT_EQ(widened("aten.linear.default",
                    "{input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>}",
                    "(tensor<4x6xbf16>, tensor<2x6xbf16>, tensor<2xbf16>) -> tensor<4x2xbf16>"),
            "none");
}

TEST_F(RecordWiden, SumsTakeADtype) {
  EXPECT_EQ(widened("aten.sum.dim_IntList", "{self = #base.operand<0>, dim = [1], dtype = bf16}",
                    "(tensor<4x6xbf16>) -> tensor<4xbf16>"),
            "aten.sum.dim_IntList {dim = [1], dtype = f32, self = #base.operand<0>}");
  EXPECT_EQ(widened("aten.mean.default", "{self = #base.operand<0>}", "(tensor<4x6xbf16>) -> tensor<bf16>"),
            "aten.mean.default {dtype = f32, self = #base.operand<0>}");
}

} // namespace
