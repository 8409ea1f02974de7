//===- precision_test.cpp - calls of the reference ------------------------===//

#include "runtime/verify/precision.h"

#include <gtest/gtest.h>

using namespace meshplan;

namespace {

ReferenceCall conversion(DType dtype) { return {"aten.to.dtype", {{"self", ValueArgument{0}}, {"dtype", dtype}}}; }

DType dtypeIn(const ReferenceCall &call) { return std::get<DType>(call.arguments[1].content); }

} // namespace

TEST(PrecisionTest, FloatsAreWide) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    EXPECT_EQ(dtypeIn(Precision::wide, dtype), DType::f64);
    EXPECT_EQ(dtypeIn(Precision::own, dtype), dtype);
    EXPECT_EQ(dtypeIn(callIn(Precision::wide, conversion(dtype))), DType::f64);
    EXPECT_EQ(dtypeIn(callIn(Precision::own, conversion(dtype))), dtype);
  }
  EXPECT_EQ(dtypeIn(callIn(Precision::wide, conversion(DType::i32))), DType::i32);
  EXPECT_EQ(dtypeIn(Precision::wide, DType::boolean), DType::boolean);
}

TEST(PrecisionTest, ProductsOfGroups) {
  ReferenceCall kernel{"meshplan.grouped_mm", {{"input", ValueArgument{0}}, {"weight", ValueArgument{1}}}};
  EXPECT_EQ(callIn(Precision::own, kernel).target, "meshplan.composed_grouped_mm") << "the kernel has no derivative";
  ReferenceCall aten{"aten._grouped_mm.default",
                     {{"self", ValueArgument{0}},
                      {"mat2", ValueArgument{1}},
                      {"offs", ValueArgument{2}},
                      {"bias", std::monostate()},
                      {"out_dtype", DType::bf16}}};
  EXPECT_EQ(callIn(Precision::own, aten).target, "aten._grouped_mm.default");
  ReferenceCall wide = callIn(Precision::wide, aten);
  EXPECT_EQ(wide.target, "meshplan.composed_grouped_mm");
  ASSERT_EQ(wide.arguments.size(), 3);
  EXPECT_EQ(wide.arguments[0].name, "input");
  EXPECT_EQ(wide.arguments[1].name, "weight");
  EXPECT_EQ(wide.arguments[2].name, "offs");
}

TEST(PrecisionTest, Copies) {
  ReferenceCall copy{"aten.copy.default",
                     {{"self", ValueArgument{0}}, {"src", ValueArgument{1}}, {"non_blocking", false}}};
  for (Precision precision : {Precision::own, Precision::wide}) {
    ReferenceCall made = callIn(precision, copy);
    EXPECT_EQ(made.target, "meshplan.composed_copy") << "autograd has no derivative of the other";
    ASSERT_EQ(made.arguments.size(), 2);
    EXPECT_EQ(made.arguments[1].name, "src");
  }
}
