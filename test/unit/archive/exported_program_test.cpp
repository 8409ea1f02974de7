//===- exported_program_test.cpp - lookups in an exported model -*- C++ -*-===//

#include "compiler/archive/exported_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan::archive;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace {

/// As in torch/_export/serde/schema.py and torch.dtype: code, name, itemsize.
struct TypeCase {
  int64_t number;
  const char *name;
  int64_t size;
};
const TypeCase types[] = {
    {1, "uint8", 1},
    {2, "int8", 1},
    {3, "int16", 2},
    {4, "int32", 4},
    {5, "int64", 8},
    {6, "float16", 2},
    {7, "float32", 4},
    {8, "float64", 8},
    {9, "complex32", 4},
    {10, "complex64", 8},
    {11, "complex128", 16},
    {12, "bool", 1},
    {13, "bfloat16", 2},
    {28, "uint16", 2},
    {29, "float8_e4m3fn", 1},
    {30, "float8_e5m2", 1},
    {31, "float8_e4m3fnuz", 1},
    {32, "float8_e5m2fnuz", 1},
};

TEST(ScalarTypes, HaveTheSchemasNumbersAndPyTorchsNamesAndSizes) {
  for (auto [number, name, size] : types) {
    std::optional<ScalarType> type = scalarTypeFromSchema(number);
    ASSERT_TRUE(type) << number;
    EXPECT_EQ(static_cast<int64_t>(*type), number);
    EXPECT_EQ(scalarTypeName(*type), name);
    EXPECT_EQ(scalarTypeSize(*type), size) << name;
  }
}

TEST(ScalarTypes, OtherNumbersAreNone) {
  for (int64_t number : {-1L, 0L, 14L, 27L, 33L, 256L + 7, (1L << 32) + 7})
    EXPECT_EQ(scalarTypeFromSchema(number), std::nullopt) << number;
}

Value valueOf(ScalarType type, const std::vector<SymbolicInt> &dims) {
  Value value;
  value.type = type;
  value.dims.append(dims.begin(), dims.end());
  return value;
}

TEST(HasPossibleSize, CountsBytesIn64Bits) {
  const int64_t two31 = int64_t(1) << 31;
  EXPECT_TRUE(hasPossibleSize(valueOf(ScalarType::Float32, {}))) << "a scalar";
  EXPECT_TRUE(hasPossibleSize(valueOf(ScalarType::UInt8, {INT64_MAX})));
  EXPECT_FALSE(hasPossibleSize(valueOf(ScalarType::BFloat16, {INT64_MAX}))) << "bytes, not elements";
  EXPECT_TRUE(hasPossibleSize(valueOf(ScalarType::UInt8, {two31, two31, 1})));
  EXPECT_FALSE(hasPossibleSize(valueOf(ScalarType::UInt8, {two31, two31, 2}))) << "2^63 is one too many";
  EXPECT_FALSE(hasPossibleSize(valueOf(ScalarType::Int16, {two31, two31})));
}

TEST(HasPossibleSize, AnEmptyTensorMayNotHideAnOverflow) {
  const int64_t two40 = int64_t(1) << 40;
  EXPECT_FALSE(hasPossibleSize(valueOf(ScalarType::Float32, {0, two40, two40})));
  EXPECT_FALSE(hasPossibleSize(valueOf(ScalarType::Float32, {two40, two40, 0})));
  EXPECT_TRUE(hasPossibleSize(valueOf(ScalarType::Float32, {0, two40})));
}

TEST(HasPossibleSize, UnknownExtentsCountAsOne) {
  SymbolicInt symbol = *parseSymbolicInt("Symbol('s0', positive=True, integer=True)");
  EXPECT_TRUE(hasPossibleSize(valueOf(ScalarType::UInt8, {symbol, INT64_MAX, symbol})));
  EXPECT_FALSE(hasPossibleSize(valueOf(ScalarType::Int8, {symbol, INT64_MAX, 2})));
}

/// scopes: 0 the model, 1 `a`, 2 `a.b`, 3 a second call of `a`.
ExportedProgram program() {
  ExportedProgram result;
  result.scopes = {{-1, "", "Net", 0}, {0, "a", "A", 0}, {1, "a.b", "B", 0}, {0, "a", "A", 1}};
  return result;
}

std::vector<std::string> chainOf(const ExportedProgram &program, int32_t scope) {
  Node node;
  node.scope = scope;
  std::vector<std::string> result;
  for (const Scope *link : program.moduleChain(node))
    result.push_back(link->className + std::to_string(link->call));
  return result;
}

TEST(ExportedProgram, ANodeKnowsItsModules) {
  ExportedProgram model = program();
  EXPECT_THAT(chainOf(model, 2), ElementsAre("Net0", "A0", "B0"));
  EXPECT_THAT(chainOf(model, 3), ElementsAre("Net0", "A1"));
  EXPECT_THAT(chainOf(model, 0), ElementsAre("Net0"));
  EXPECT_THAT(chainOf(model, -1), IsEmpty());
}

TEST(ExportedProgram, TheModulePathIsThatOfTheInnermostScope) {
  ExportedProgram model = program();
  const std::pair<int32_t, const char *> cases[] = {{2, "a.b"}, {3, "a"}, {0, ""}, {-1, ""}};
  for (auto [scope, path] : cases) {
    Node node;
    node.scope = scope;
    EXPECT_EQ(model.modulePath(node), path) << scope;
  }
}

TEST(ExportedProgram, ArgumentsAreFoundByName) {
  Node node;
  node.arguments = {{"self", Argument(ValueId(3))}, {"dim", Argument(SymbolicInt(1))}, {"none", Argument()}};
  ASSERT_NE(node.find("dim"), nullptr);
  EXPECT_EQ(std::get<SymbolicInt>(*node.find("dim")), SymbolicInt(1));
  ASSERT_NE(node.find("none"), nullptr) << "None is a value";
  EXPECT_EQ(*node.find("none"), Argument(std::monostate()));
  EXPECT_EQ(node.find("di"), nullptr);
  EXPECT_EQ(node.find(""), nullptr);
}

TEST(ExportedProgram, OperandsAreAllTensorsInOrder) {
  Node node;
  EXPECT_THAT(program().operands(node), IsEmpty());
  node.arguments = {{"tensors", Argument(std::vector<ValueId>{5, noValue, 2})},
                    {"dim", Argument(SymbolicInt(9))},
                    {"out", Argument(std::vector<SymbolicInt>{8})},
                    {"self", Argument(ValueId(5))},
                    {"none", Argument()}};
  EXPECT_THAT(program().operands(node), ElementsAre(5, 2, 5)) << "repeats stay, None does not";
}

TEST(ExportedProgram, VisitedTensorsCanBeReplaced) {
  Argument list(std::vector<ValueId>{1, noValue, 2}), one(ValueId(3)), number(SymbolicInt(4));
  for (Argument *argument : {&list, &one, &number})
    visitValues(*argument, [](ValueId &id) { id += 10; });
  EXPECT_THAT(std::get<std::vector<ValueId>>(list), ElementsAre(11, noValue, 12));
  EXPECT_EQ(std::get<ValueId>(one), 13);
  EXPECT_EQ(std::get<SymbolicInt>(number), SymbolicInt(4));
}

} // namespace
