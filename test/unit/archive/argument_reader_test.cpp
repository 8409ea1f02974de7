//===- argument_reader_test.cpp - JSON argument to Argument -----*- C++ -*-===//

#include "compiler/archive/argument_reader.h"
#include "test/unit/archive/test_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace meshplan::archive;
using namespace meshplan::archive::testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace {

/// The tensors `x` and `y` are values 4 and 7, the integer `n` is s0, and `k` is 3.
class ArgumentReader : public ::testing::Test {
protected:
  ArgumentReader() {
    names.tensors["x"] = 4;
    names.tensors["y"] = 7;
    names.integers["n"] = *parseSymbolicInt(symbol("s0"));
    names.integers["k"] = SymbolicInt(3);
  }

  std::optional<Argument> read(const Json &argument) {
    errors.clear();
    JsonDocument document("graph", argument.dump(), errors);
    ExportedProgram program;
    GraphReader graph(document, program);
    std::optional<Argument> result = readArgument(document.root(), names, graph, document);
    EXPECT_EQ(document.failed(), !errors.empty());
    return result;
  }
  template <typename T> T get(const Json &argument) {
    std::optional<Argument> result = read(argument);
    EXPECT_THAT(messages(), IsEmpty()) << argument;
    const T *value = result ? std::get_if<T>(&*result) : nullptr;
    EXPECT_NE(value, nullptr) << argument;
    return value != nullptr ? *value : T();
  }
  std::vector<std::string> messages() const {
    std::vector<std::string> result;
    for (const Diagnostic &error : errors)
      result.push_back(error.message);
    return result;
  }
  std::vector<std::string> faults(const Json &argument) {
    read(argument);
    return messages();
  }

  GraphNames names;
  std::vector<Diagnostic> errors;
};

const Json none = {{"as_none", true}};
Json tensorNamed(const std::string &name) { return {{"as_tensor", {{"name", name}}}}; }

TEST_F(ArgumentReader, Tensors) {
  EXPECT_EQ(get<ValueId>(tensorNamed("y")), 7);
  Json two = Json::array({{{"name", "y"}}, {{"name", "x"}}});
  EXPECT_THAT(get<std::vector<ValueId>>({{"as_tensors", two}}), ElementsAre(7, 4));
  EXPECT_THAT(get<std::vector<ValueId>>({{"as_tensors", Json::array()}}), IsEmpty());
}

TEST_F(ArgumentReader, TensorsThatMayBeAbsent) {
  EXPECT_EQ(get<ValueId>({{"as_optional_tensor", tensorNamed("x")}}), 4);
  EXPECT_EQ(read({{"as_optional_tensor", none}}), Argument(std::monostate()));
  EXPECT_EQ(read(none), Argument(std::monostate()));
  EXPECT_THAT(get<std::vector<ValueId>>({{"as_optional_tensors", {none, tensorNamed("y"), none}}}),
              ElementsAre(noValue, 7, noValue));
  EXPECT_THAT(faults({{"as_optional_tensor", {{"as_later", {{"name", "x"}}}}}}),
              ElementsAre("'graph' at as_optional_tensor: an argument of kind 'as_later' is not supported"));
  EXPECT_THAT(faults({{"as_optional_tensors", {none, {{"as_tensors", {{{"name", "x"}}}}}}}}),
              ElementsAre("'graph' at as_optional_tensors[1]: an argument of kind 'as_tensors' is not supported"));
}

TEST_F(ArgumentReader, Integers) {
  EXPECT_EQ(get<SymbolicInt>({{"as_int", INT64_MIN}}), SymbolicInt(INT64_MIN));
  EXPECT_THAT(get<std::vector<SymbolicInt>>({{"as_ints", {-1, INT64_MAX}}}),
              ElementsAre(SymbolicInt(-1), SymbolicInt(INT64_MAX)));
  EXPECT_THAT(get<std::vector<SymbolicInt>>({{"as_ints", Json::array()}}), IsEmpty());
  EXPECT_EQ(get<SymbolicInt>({{"as_sym_int", {{"as_int", 5}}}}), SymbolicInt(5));
  EXPECT_EQ(toString(get<SymbolicInt>({{"as_sym_int", {{"as_name", "n"}}}})), "s0");
  EXPECT_EQ(get<SymbolicInt>({{"as_sym_int", {{"as_name", "k"}}}}), SymbolicInt(3)) << "one that folded to a number";
  auto mixed = get<std::vector<SymbolicInt>>({{"as_sym_ints", {{{"as_name", "n"}}, {{"as_int", 2}}}}});
  ASSERT_EQ(mixed.size(), 2u);
  EXPECT_EQ(toString(mixed[0]), "s0");
  EXPECT_EQ(mixed[1], SymbolicInt(2));
}

TEST_F(ArgumentReader, NumbersMayBeInfinite) {
  EXPECT_EQ(get<double>({{"as_float", 3}}), 3.0) << "written without a point";
  EXPECT_EQ(get<double>({{"as_float", "Infinity"}}), HUGE_VAL);
  EXPECT_TRUE(std::isnan(get<double>({{"as_float", "NaN"}})));
  EXPECT_THAT(get<std::vector<double>>({{"as_floats", {0.5, "-Infinity"}}}), ElementsAre(0.5, -HUGE_VAL));
}

TEST_F(ArgumentReader, WordsAndFlags) {
  EXPECT_FALSE(get<bool>({{"as_bool", false}}));
  EXPECT_THAT(get<std::vector<bool>>({{"as_bools", {false, true, true}}}), ElementsAre(false, true, true));
  EXPECT_EQ(get<std::string>({{"as_string", ""}}), "");
  EXPECT_THAT(get<std::vector<std::string>>({{"as_strings", {"b", "a"}}}), ElementsAre("b", "a"));
  EXPECT_THAT(get<std::vector<std::string>>({{"as_strings", Json::array()}}), IsEmpty());
}

TEST_F(ArgumentReader, SymbolicScalarsOfKnownValue) {
  EXPECT_EQ(get<double>({{"as_sym_float", {{"as_float", 1.5}}}}), 1.5);
  EXPECT_TRUE(get<bool>({{"as_sym_bool", {{"as_bool", true}}}}));
  EXPECT_THAT(faults({{"as_sym_float", {{"as_name", "f"}}}}),
              ElementsAre("'graph' at as_sym_float: float 'f' is not defined"));
  EXPECT_THAT(faults({{"as_sym_bool", {{"as_name", "b"}}}}),
              ElementsAre("'graph' at as_sym_bool: truth value 'b' is not defined"));
  EXPECT_THAT(faults({{"as_sym_bool", 1}}),
              ElementsAre("'graph' at as_sym_bool: expected an object with one member, found number"));
  EXPECT_THAT(faults({{"as_sym_bool", {{"as_float", 1.5}}}}),
              ElementsAre("'graph' at as_sym_bool: an argument of kind 'as_float' is not supported"));
}

TEST_F(ArgumentReader, SymbolicScalarsByName) {
  const Json floats = {
      {"half",
       {{"as_expr", {{"expr_str", "FloatTrueDiv(ToFloat(" + symbol("s0") + "), " + "Float('2.0', precision=53))"}}}}},
      {"two", {{"as_float", 2.0}}},
      {"whole", {{"as_expr", {{"expr_str", "Integer(3)"}}}}}};
  const Json truths = {{"many", {{"as_expr", {{"expr_str", "StrictGreaterThan(" + symbol("s0") + ", Integer(6))"}}}}}};
  names.floats = &floats;
  names.truths = &truths;
  auto half = get<SymbolicScalar>({{"as_sym_float", {{"as_name", "half"}}}});
  EXPECT_EQ(toString(*half.expression), "float(s0)/2.0");
  EXPECT_EQ(get<double>({{"as_sym_float", {{"as_name", "two"}}}}), 2.0);
  EXPECT_EQ(get<double>({{"as_sym_float", {{"as_name", "whole"}}}}), 3.0) << "sympy writes it as an integer";
  auto many = get<SymbolicScalar>({{"as_sym_bool", {{"as_name", "many"}}}});
  EXPECT_EQ(many.type, SymbolicScalar::Type::Bool);
  EXPECT_EQ(toString(*many.expression), "s0 > 6");
  auto list = get<std::vector<SymbolicScalar>>({{"as_sym_floats", {{{"as_name", "half"}}, {{"as_float", 0.5}}}}});
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(toString(*list[0].expression), "float(s0)/2.0");
  EXPECT_EQ(toString(*list[1].expression), "0.5");
}

TEST_F(ArgumentReader, MemoryFormatsAreFour) {
  const MemoryFormat formats[] = {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d,
                                  MemoryFormat::Preserve};
  for (int number = 1; number <= 4; ++number)
    EXPECT_EQ(get<MemoryFormat>({{"as_memory_format", number}}), formats[number - 1]);
  for (int number : {-1, 0, 5, 257})
    EXPECT_THAT(faults({{"as_memory_format", number}}),
                ElementsAre("'graph': an argument of kind 'as_memory_format' is not supported"));
}

TEST_F(ArgumentReader, ElementTypesAreThoseOfTheSchema) {
  EXPECT_EQ(get<ScalarType>({{"as_scalar_type", 1}}), ScalarType::UInt8);
  EXPECT_EQ(get<ScalarType>({{"as_scalar_type", 28}}), ScalarType::UInt16);
  EXPECT_EQ(read({{"as_scalar_type", 0}}), std::nullopt);
  EXPECT_THAT(messages(), ElementsAre("'graph' at as_scalar_type: unknown element type 0"));
}

TEST_F(ArgumentReader, WhereATensorLivesIsLeftOut) {
  EXPECT_EQ(read({{"as_device", {{"type", "cuda"}, {"index", 1}}}}), std::nullopt);
  EXPECT_THAT(messages(), IsEmpty());
  EXPECT_EQ(read({{"as_layout", 7}}), std::nullopt);
  EXPECT_THAT(messages(), IsEmpty());
  for (int layout : {0, 1, 6, 8})
    EXPECT_THAT(faults({{"as_layout", layout}}), ElementsAre("'graph': only strided tensors are supported"));
}

TEST_F(ArgumentReader, KindsAreKnownByTheirWholeName) {
  for (const char *kind : {"as_tensor_list", "as_int_lists", "as_ints_", "as_float_list", "as_", "string", ""}) {
    EXPECT_EQ(read({{kind, 1}}), std::nullopt);
    EXPECT_THAT(messages(), ElementsAre(std::string("'graph': an argument of kind '") + kind + "' is not supported"));
  }
}

TEST_F(ArgumentReader, NamesAreDefined) {
  EXPECT_THAT(faults(tensorNamed("z")), ElementsAre("'graph' at as_tensor: tensor 'z' is not defined"));
  EXPECT_THAT(faults({{"as_tensors", {{{"name", "x"}}, {{"name", "z"}}}}}),
              ElementsAre("'graph' at as_tensors[1]: tensor 'z' is not defined"));
  EXPECT_THAT(faults({{"as_sym_ints", {{{"as_name", "n"}}, {{"as_name", "x"}}}}}),
              ElementsAre("'graph' at as_sym_ints[1]: integer 'x' is not defined"));
}

TEST_F(ArgumentReader, ValuesHaveTheirKindsType) {
  const std::pair<Json, const char *> cases[] = {
      {{{"as_int", 0.5}}, "'graph' at as_int: expected a 64-bit integer, found number"},
      {{{"as_int", "1"}}, "'graph' at as_int: expected a 64-bit integer, found string"},
      {{{"as_int", uint64_t(1) << 63}}, "'graph' at as_int: expected a 64-bit integer, found number"},
      {{{"as_ints", 1}}, "'graph' at as_ints: expected an array, found number"},
      {{{"as_ints", {1, nullptr}}}, "'graph' at as_ints[1]: expected a 64-bit integer, found null"},
      {{{"as_float", "inf"}}, "'graph' at as_float: expected a number, found string"},
      {{{"as_bool", 1}}, "'graph' at as_bool: expected true or false, found number"},
      {{{"as_strings", {"a", 1}}}, "'graph' at as_strings[1]: expected a string, found number"},
      {{{"as_sym_int", 3}}, "'graph' at as_sym_int: expected an object with one member, found number"},
      {{{"as_int", 1}, {"as_float", 1}}, "'graph': expected an object with one member, found object"},
      {Json::object(), "'graph': expected an object with one member, found object"},
  };
  for (const auto &[argument, message] : cases) {
    faults(argument);
    ASSERT_FALSE(errors.empty()) << argument;
    EXPECT_EQ(errors.front().message, message);
  }
}

} // namespace
