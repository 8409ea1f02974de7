//===- element_type_test.cpp - element types as dtypes of the artifact ----===//

#include "compiler/target/artifact/element_type.h"
#include "mlir/AsmParser/AsmParser.h"
#include "test/unit/target/sched_module.h"

using namespace meshplan;
using artifact::DType;

namespace {

TEST(ElementType, EachDtypeHasOneType) {
  mlir::MLIRContext context;
  std::pair<const char *, DType> cases[] = {
      {"f32", DType::f32}, {"f64", DType::f64}, {"f16", DType::f16}, {"bf16", DType::bf16},  {"i64", DType::i64},
      {"i32", DType::i32}, {"i16", DType::i16}, {"i8", DType::i8},   {"i1", DType::boolean}, {"ui8", DType::u8}};
  for (auto [text, dtype] : cases)
    EXPECT_EQ(toDType(mlir::parseType(text, &context)), dtype) << text;
  EXPECT_EQ(std::size(cases), std::size(artifact::EnumValuesDType())) << "a dtype that no type becomes";
}

TEST(ElementType, OthersHaveNone) {
  mlir::MLIRContext context;
  for (const char *text : {"index", "i128", "i4", "ui16", "ui64", "f80", "f8E4M3FN", "complex<f32>", "tensor<4xf32>"})
    EXPECT_EQ(toDType(mlir::parseType(text, &context)), std::nullopt) << text;
}

} // namespace
