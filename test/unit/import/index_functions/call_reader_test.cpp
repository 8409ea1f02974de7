//===- call_reader_test.cpp - arguments of calls as expressions -----------===//

#include "compiler/transforms/import/index_functions/call_reader.h"
#include "test/unit/import/program_text.h"
#include "test/unit/indexing/evaluate.h"
#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::indexing;
using testing::Optional;

namespace {

class CallReaderTest : public ProgramText {
protected:
  /// Reads the only line and calls `use` with its reader.
  template <typename Use> void with(llvm::StringRef arguments, const std::string &line, Use use) {
    read(arguments, {line});
    IndexFunctions functions;
    CallReader reader(functions, call(0));
    use(reader);
  }

  /// The two sides of a comparison of x and y, or "none".
  std::string sides(llvm::StringRef arguments, const std::string &line) {
    std::string found;
    with(arguments, line, [&](CallReader &reader) {
      auto [left, right] = reader.readSides("self", "other");
      found = left && right ? text(left) + ", " + text(right) : "none";
    });
    return found;
  }
};

TEST_F(CallReaderTest, TypesBoundTheirElements) {
  struct {
    const char *type;
    ExprType kind;
    int64_t low, high;
  } cases[] = {{"i1", ExprType::Boolean, INT64_MIN, INT64_MAX},
               {"i8", ExprType::Integer, -128, 127},
               {"ui8", ExprType::Integer, 0, 255},
               {"i16", ExprType::Integer, -32768, 32767},
               {"i32", ExprType::Integer, INT32_MIN, INT32_MAX},
               {"ui32", ExprType::Integer, 0, UINT32_MAX},
               {"i64", ExprType::Integer, INT64_MIN, INT64_MAX},
               {"f32", ExprType::Real, INT64_MIN, INT64_MAX},
               {"bf16", ExprType::Real, INT64_MIN, INT64_MAX}};
  for (auto [name, kind, low, high] : cases) {
    ElementRange range = rangeOf(type<mlir::Type>(name));
    EXPECT_EQ(range.type, kind) << name;
    EXPECT_EQ(range.low, low) << name;
    EXPECT_EQ(range.high, high) << name;
  }
}

TEST_F(CallReaderTest, NumbersAreRoundedAsInTheirType) {
  auto rounded = [&](double number, llvm::StringRef name) { return roundedTo(number, type<mlir::FloatType>(name)); };
  EXPECT_EQ(rounded(0.1, "f64"), 0.1);
  EXPECT_EQ(rounded(0.1, "f32"), 0.1f);
  EXPECT_EQ(rounded(1 + 1.0 / 256, "bf16"), 1) << "half way between two numbers of 8 bits: to the even one";
  EXPECT_EQ(rounded(1 + 3.0 / 256, "bf16"), 1 + 4.0 / 256);
  EXPECT_EQ(rounded(65519, "f16"), 65504);
  EXPECT_EQ(rounded(65520, "f16"), INFINITY);
  EXPECT_EQ(rounded(-1e300, "f32"), -INFINITY);
}

TEST_F(CallReaderTest, DimsCountFromBothEnds) {
  EXPECT_THAT(countedDim(0, 3), Optional(0));
  EXPECT_THAT(countedDim(-1, 3), Optional(2));
  EXPECT_THAT(countedDim(-3, 3), Optional(0));
  for (int64_t dim : {3, -4})
    EXPECT_FALSE(countedDim(dim, 3)) << dim;
  EXPECT_FALSE(countedDim(0, 0));
  EXPECT_FALSE(countedDim(-1, 0));
}

TEST_F(CallReaderTest, ArgumentsAreReadWhereBroadcastingBringsThem) {
  with("x: 3x1xi64; y: 4xi64",
       "r = aten.op(x: 3x1xi64, y: 4xi64) {self = #base.operand<0>, other = #base.operand<1>, "
       "n = 7, b = true, f = 0.5, s = \"text\"} : 3x4xi64",
       [&](CallReader &reader) {
         EXPECT_EQ(reader.tensor("self"), argument(0));
         EXPECT_FALSE(reader.tensor("n"));
         EXPECT_EQ(text(reader.readBroadcast("self")), "%0[d0, 0]");
         EXPECT_EQ(text(reader.readBroadcast("other")), "%1[d1]");
         EXPECT_EQ(text(reader.readBroadcast("n")), "7");
         EXPECT_EQ(text(reader.readBroadcast("b")), "true");
         EXPECT_EQ(text(reader.readBroadcast("f")), "5.000000e-01");
         EXPECT_FALSE(reader.readBroadcast("s"));
         EXPECT_FALSE(reader.readBroadcast("absent"));
         EXPECT_FALSE(reader.read("n", {}));
         EXPECT_THAT(reader.dim("n", 0, 9), Optional(7));
         EXPECT_THAT(reader.dim("absent", -1, 9), Optional(8));
         EXPECT_FALSE(reader.dim("n", 0, 7));
       });
}

TEST_F(CallReaderTest, LiteralsOfAnotherTypeAreNotCompared) {
  auto literal = [&](llvm::StringRef type, llvm::StringRef number) {
    return sides(
        ("x: " + type).str(),
        ("r = aten.lt.Scalar(x: " + type + ") {self = #base.operand<0>, other = " + number + "} : 4xi1").str());
  };
  EXPECT_EQ(literal("4xi8", "127"), "%0[d0], 127");
  EXPECT_EQ(literal("4xi8", "128"), "none");
  EXPECT_EQ(literal("4xui8", "-1"), "none");
  EXPECT_EQ(literal("4xi64", "0.5"), "none");
  EXPECT_EQ(literal("4xf32", "1"), "none");
  EXPECT_EQ(literal("4xi1", "7"), "(%0[d0]), 7") << "booleans become integers beside one";
}

TEST_F(CallReaderTest, ATensorWithoutDimsTakesTheTypeOfTheOther) {
  // PyTorch compares int8 [4] with the int64 tensor 300 in int8, where 300 is 44.
  auto compared = [&](llvm::StringRef left, llvm::StringRef right) {
    read("", {("x = aten.full.default() {size = [], fill_value = 5, dtype = i64} : " + left).str(),
              ("y = aten.full.default() {size = [], fill_value = 300, dtype = i64} : " + right).str(),
              ("r = aten.lt.Tensor(x: " + left + ", y: " + right +
               ") {self = #base.operand<0>, other = #base.operand<1>} : 4xi1")
                  .str()});
    IndexFunctions functions;
    CallReader reader(functions, call(2));
    auto [first, second] = reader.readSides("self", "other");
    return first && second ? text(first) + ", " + text(second) : "none";
  };
  EXPECT_EQ(compared("4xi8", "i64"), "none");
  EXPECT_EQ(compared("4xi8", "1xi64"), "5, 300") << "a dim of one element is a dim: both are int64";
  EXPECT_EQ(compared("4xi16", "i64"), "5, 300");
  EXPECT_EQ(compared("i64", "4xi16"), "5, 300");
  EXPECT_EQ(compared("i8", "i64"), "5, 300") << "neither has dims: both are int64";
}

TEST_F(CallReaderTest, ConversionsAreThoseOfTheResult) {
  auto converted = [&](llvm::StringRef type, auto make) {
    std::string found;
    with("x: 4xi64", ("r = aten.to.dtype(x: 4xi64) {self = #base.operand<0>} : 4x" + type).str(),
         [&](CallReader &reader) { found = text(reader.convert(make(reader))); });
    return found;
  };
  auto number = [](double value) { return [value](CallReader &reader) { return reader.builder.number(value); }; };
  auto integer = [](int64_t value) { return [value](CallReader &reader) { return reader.builder.integer(value); }; };
  auto element = [](CallReader &reader) { return reader.readBroadcast("self"); };
  auto isSmall = [](CallReader &reader) {
    return reader.builder.lessThan(reader.coordinates[0], reader.builder.integer(2));
  };
  EXPECT_EQ(converted("f32", integer(3)), "3.000000e+00");
  EXPECT_EQ(converted("bf16", integer(257)), "2.560000e+02");
  EXPECT_EQ(converted("bf16", number(1 + 1.0 / 256)), "1.000000e+00");
  EXPECT_EQ(converted("f32", isSmall), "((d0 + -1) <= 0 ? 1.000000e+00 : 0.000000e+00)");
  EXPECT_EQ(converted("f32", element), "null") << "integers that are not known";
  EXPECT_EQ(converted("i1", number(0.5)), "true");
  EXPECT_EQ(converted("i1", number(0)), "false");
  EXPECT_EQ(converted("i1", integer(-2)), "true");
  EXPECT_EQ(converted("i1", element), "not (%0[d0] == 0)");
  EXPECT_EQ(converted("i32", element), "%0[d0]");
  EXPECT_EQ(converted("i32", number(1)), "null");
  EXPECT_EQ(converted("i1",
                      [](CallReader &reader) {
                        return reader.builder.select(
                            reader.builder.lessThan(reader.coordinates[0], reader.builder.integer(2)),
                            reader.builder.number(0), reader.builder.number(-1));
                      }),
            "(-1 * d0 + 2) <= 0");
}

} // namespace
