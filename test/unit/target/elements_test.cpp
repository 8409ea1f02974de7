//===- elements_test.cpp - elements of tensors in the artifact ------------===//

#include "compiler/target/artifact/elements.h"
#include "mlir/AsmParser/AsmParser.h"
#include "test/unit/target/sched_module.h"

using namespace meshplan;
using artifact::DType;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

namespace {

/// The bytes of a constant with this value, type and shape; the number 666 and the message if it has none.
std::vector<uint8_t> bytes(const std::string &value, const std::string &tensor, const std::string &shape,
                           const std::string &resources = "", std::string *message = nullptr) {
  SchedModule owner(schedHead + "sched.program @p {\n%c = sched.constant \"c\" " + value + " : tensor<" + tensor +
                    "> : <" + shape + ">\n}\n" + resources);
  if (!owner.get()) {
    ADD_FAILURE() << testing::PrintToString(owner.messages);
    return {};
  }
  std::vector<uint8_t> found = {0x02, 0x9a};
  owner.get().walk([&](sched::ConstantOp constant) {
    if (auto read = constantBytes(constant.getValue(), constant, constant.getName()); succeeded(read))
      found = *read;
  });
  if (message && !owner.messages.empty())
    *message = owner.messages.front();
  return found;
}

TEST(ConstantBytes, NumbersAreLittleEndianInRowOrder) {
  EXPECT_THAT(bytes("dense<[[1, 2], [3, 258]]>", "2x2xi16", "[2, 2], i16"), ElementsAre(1, 0, 2, 0, 3, 0, 2, 1));
  EXPECT_THAT(bytes("dense<[-1, 2]>", "2xi32", "[2], i32"), ElementsAre(0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0));
  EXPECT_THAT(bytes("dense<[1.0, -2.0]>", "2xf32", "[2], f32"), ElementsAre(0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0));
  EXPECT_THAT(bytes("dense<[1.0, -2.0]>", "2xbf16", "[2], bf16"), ElementsAre(0x80, 0x3f, 0, 0xc0));
}

TEST(ConstantBytes, ARepeatedNumberIsWrittenOut) {
  EXPECT_THAT(bytes("dense<1.0>", "3xbf16", "[3], bf16"), ElementsAre(0x80, 0x3f, 0x80, 0x3f, 0x80, 0x3f));
  EXPECT_THAT(bytes("dense<7>", "2x2xi8", "[2, 2], i8"), ElementsAre(7, 7, 7, 7));
}

TEST(ConstantBytes, ABooleanIsAByte) {
  EXPECT_THAT(bytes("dense<[true, false, true]>", "3xi1", "[3], i1"), ElementsAre(1, 0, 1));
  EXPECT_THAT(bytes("dense<true>", "9xi1", "[9], i1"), ElementsAreArray(std::vector<uint8_t>(9, 1)));
}

TEST(ConstantBytes, AScalarIsOneElementAndNothingIsNone) {
  EXPECT_THAT(bytes("dense<5>", "i64", "[], i64"), ElementsAre(5, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(bytes("dense<>", "0x3xf32", "[0, 3], f32"), IsEmpty());
  EXPECT_THAT(bytes("dense<>", "0xi1", "[0], i1"), IsEmpty());
}

TEST(ConstantBytes, AResourceHasItsBytes) {
  // The first four bytes of a resource are its alignment.
  EXPECT_THAT(bytes("dense_resource<blob>", "2xi16", "[2], i16",
                    "{-# dialect_resources: { builtin: { blob: \"0x0200000001000302\" } } #-}"),
              ElementsAre(1, 0, 3, 2));
}

TEST(ConstantBytes, AResourceThatIsNotLoadedIsRefused) {
  std::string message;
  EXPECT_THAT(bytes("dense_resource<absent>", "2xi16", "[2], i16", "", &message), ElementsAre(0x02, 0x9a));
  EXPECT_EQ(message, "'sched.constant' op 'c' has no bytes in this module");
}

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
