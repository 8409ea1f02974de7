//===- bind_symbols_test.cpp - dynamic shapes become numbers ----*- C++ -*-===//

#include "compiler/archive/bind_symbols.h"
#include "test/unit/archive/test_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan::archive;
using namespace meshplan::archive::testing;

namespace {

const std::string twice = "Mul(Integer(2), " + symbol("s0") + ")";

/// ids [s0, 4] viewed as [2 * s0, 2]; s0 is 2 to 64.
ExportedProgram dynamicProgram() {
  TestModel model;
  model.input("ids", {symbol("s0"), 4});
  model.graph.json["sym_int_values"] = {{"n", {{"as_expr", {{"expr_str", twice}}}}}};
  model.graph.node("torch.ops.aten.view.default",
                   {tensor("self", "ids"), argument("size", {{"as_sym_ints", {{{"as_name", "n"}}, {{"as_int", 2}}}}}),
                    argument("n", {{"as_sym_int", {{"as_name", "n"}}}})},
                   "view", {twice, 2});
  model.output("view");
  model.ranges = {{"s0", {{"min_val", 2}, {"max_val", 64}}}};
  return readProgram(model);
}

std::vector<std::string> bindErrors(ExportedProgram &program, const SymbolBindings &bindings) {
  std::vector<std::string> texts;
  for (const Diagnostic &error : bindSymbols(program, bindings))
    texts.push_back(error.message + (error.help.empty() ? "" : "\nhelp: ") + error.help);
  return texts;
}

std::string extentError(const SymbolicInt &dim, int64_t extent, SymbolBindings &bindings) {
  llvm::Error error = bindExtent(dim, extent, bindings);
  return error ? llvm::toString(std::move(error)) : "";
}

TEST(BindSymbols, ReplacesEveryExpression) {
  ExportedProgram program = dynamicProgram();
  SymbolBindings bindings;
  bindings["s0"] = 16;
  EXPECT_TRUE(bindErrors(program, bindings).empty());
  EXPECT_TRUE(program.symbols.empty());
  EXPECT_EQ(program.value(program.inputs[0].value).dims[0], SymbolicInt(16));
  EXPECT_EQ(program.value(program.outputs[0].value).dims[0], SymbolicInt(32));
  EXPECT_EQ(std::get<std::vector<SymbolicInt>>(*program.nodes[0].find("size"))[0], SymbolicInt(32));
  EXPECT_EQ(std::get<SymbolicInt>(*program.nodes[0].find("n")), SymbolicInt(32));
}

const std::string inverse = "FloatTrueDiv(Float('1.0', precision=53), ToFloat(" + symbol("s0") + "))";

/// ids [s0, 4] times 1 / s0, times whether s0 is above 6, and resized by [1 / s0, 2.5].
ExportedProgram scaledProgram() {
  TestModel model;
  model.input("ids", {symbol("s0"), 4});
  model.graph.json["sym_float_values"] = {{"f", {{"as_expr", {{"expr_str", inverse}}}}}};
  model.graph.json["sym_bool_values"] = {
      {"b", {{"as_expr", {{"expr_str", "StrictGreaterThan(" + symbol("s0") + ", Integer(6))"}}}}}};
  model.graph.node("torch.ops.aten.mul.Scalar",
                   {tensor("self", "ids"), argument("other", {{"as_sym_float", {{"as_name", "f"}}}}),
                    argument("flag", {{"as_sym_bool", {{"as_name", "b"}}}}),
                    argument("scales", {{"as_sym_floats", {{{"as_name", "f"}}, {{"as_float", 2.5}}}}})},
                   "mul", {symbol("s0"), 4});
  model.output("mul");
  model.ranges = {{"s0", {{"min_val", 0}, {"max_val", 64}}}};
  return readProgram(model);
}

TEST(BindSymbols, ReplacesFloatsAndTruthValues) {
  for (int64_t extent : {4, 8}) {
    ExportedProgram program = scaledProgram();
    SymbolBindings bindings;
    bindings["s0"] = extent;
    EXPECT_TRUE(bindErrors(program, bindings).empty());
    EXPECT_EQ(*program.nodes[0].find("other"), Argument(1.0 / extent));
    EXPECT_EQ(*program.nodes[0].find("flag"), Argument(extent > 6));
    EXPECT_EQ(*program.nodes[0].find("scales"), Argument(std::vector<double>{1.0 / extent, 2.5}));
  }
}

TEST(BindSymbols, RefusesAFloatWithoutValue) {
  ExportedProgram program = scaledProgram();
  SymbolBindings bindings;
  bindings["s0"] = 0;
  const std::string message = "an argument of 'mul': '1.0/float(s0)' has no value";
  EXPECT_THAT(bindErrors(program, bindings), ::testing::ElementsAre(message, message));
  EXPECT_TRUE(std::holds_alternative<SymbolicScalar>(*program.nodes[0].find("other")));
}

TEST(BindSymbols, RefusesAnUnboundDim) {
  ExportedProgram program = dynamicProgram();
  EXPECT_THAT(bindErrors(program, {}),
              ::testing::ElementsAre("dim 0 of input 'ids' is symbolic ('s0') and has no extent\nhelp: give it one in "
                                     "the plan, as in 'input NAME: [batch = 16, ...]'"));
  EXPECT_EQ(program.symbols.size(), 1u);
}

TEST(BindSymbols, RefusesAnExtentOutsideTheRange) {
  ExportedProgram program = dynamicProgram();
  SymbolBindings bindings;
  bindings["s0"] = 65;
  const std::string help = "\nhelp: choose an extent in this range or export with another range";
  EXPECT_THAT(bindErrors(program, bindings),
              ::testing::ElementsAre("dim 0 of input 'ids' is 65, but the model was exported for 2 to 64" + help));
  program.symbols[0].maximum = INT64_MAX;
  bindings["s0"] = 1;
  EXPECT_THAT(bindErrors(program, bindings),
              ::testing::ElementsAre("dim 0 of input 'ids' is 1, but the model was exported for at least 2" + help));
  EXPECT_TRUE(program.value(program.inputs[0].value).dims[0].isSymbolic());
}

TEST(BindSymbols, RefusesAnExpressionWithoutValue) {
  ExportedProgram program = dynamicProgram();
  program.symbols[0].maximum = INT64_MAX;
  SymbolBindings bindings;
  bindings["s0"] = INT64_MAX;
  EXPECT_THAT(bindErrors(program, bindings),
              ::testing::Contains("an extent of 'view': '2*s0' has no 64-bit integer value"));
  EXPECT_TRUE(program.value(program.inputs[0].value).dims[0].isSymbolic());
}

TEST(BindSymbols, RefusesShapesThatBecomeImpossible) {
  ExportedProgram program = dynamicProgram();
  program.symbols[0] = {"s0", INT64_MIN, INT64_MAX};
  ExportedProgram copy = program;
  SymbolBindings bindings;
  bindings["s0"] = int64_t(1) << 60;
  EXPECT_THAT(bindErrors(program, bindings),
              ::testing::Contains("'view' has more bytes than 64 bits can count\nhelp: choose smaller extents"));
  bindings["s0"] = -1;
  EXPECT_THAT(bindErrors(copy, bindings),
              ::testing::Contains("an extent of 'view' becomes negative\nhelp: choose larger extents"));
}

TEST(BindExtent, BindsASymbolAndThenChecksIt) {
  SymbolicInt dim = llvm::cantFail(parseSymbolicInt(symbol("s0")));
  SymbolBindings bindings;
  EXPECT_EQ(extentError(dim, 16, bindings), "");
  EXPECT_EQ(bindings["s0"], 16);
  EXPECT_EQ(extentError(dim, 16, bindings), "");
  EXPECT_EQ(extentError(dim, 8, bindings), "extent 's0' is 16, not 8");
  EXPECT_EQ(extentError(SymbolicInt(4), 5, bindings), "extent '4' is 4, not 5");
}

TEST(BindExtent, SolvesALinearExtent) {
  SymbolicInt dim = llvm::cantFail(parseSymbolicInt("Add(" + twice + ", Integer(1))"));
  SymbolBindings bindings;
  EXPECT_EQ(extentError(dim, 12, bindings), "extent '2*s0 + 1' cannot be 12");
  EXPECT_TRUE(bindings.empty());
  EXPECT_EQ(extentError(dim, 13, bindings), "");
  EXPECT_EQ(bindings["s0"], 6);
}

TEST(BindExtent, RefusesWhatItCannotSolve) {
  SymbolBindings bindings;
  SymbolicInt two = llvm::cantFail(parseSymbolicInt("Add(" + symbol("s0") + ", " + symbol("s1") + ")"));
  EXPECT_EQ(extentError(two, 4, bindings), "extent 's0 + s1' depends on more than one symbol without a value");
  SymbolicInt flat = llvm::cantFail(parseSymbolicInt("FloorDiv(" + symbol("s0") + ", Integer(8))"));
  EXPECT_EQ(extentError(flat, 4, bindings), "extent 's0//8' cannot be solved for 's0'");
  EXPECT_TRUE(bindings.empty());
}

} // namespace
