//===- index_functions_test.cpp - tensors as functions of indices ---------===//
//
// Each operator becomes an expression, whose value at every index must be PyTorch's result. An operator that becomes a
// leaf of its own fails the test: it was not recognized.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/import/index_functions/index_functions.h"
#include "index_function_cases.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "test/unit/indexing/evaluate.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

using namespace meshplan;
using namespace meshplan::indexing;

namespace {

class IndexFunctionsTest : public ::testing::Test {
protected:
  IndexFunctionsTest() { context.loadDialect<plan::PlanDialect, mlir::func::FuncDialect>(); }

  /// The value that a function of `arguments` with this body returns.
  mlir::Value parse(const std::string &arguments, const std::string &body, const std::string &type) {
    std::string text = llvm::formatv("func.func @f({0}) -> {1} {{{2}}", arguments, type, body);
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      return {};
    function = *module->getOps<mlir::func::FuncOp>().begin();
    return function.front().getTerminator()->getOperand(0);
  }

  std::string read(const std::string &arguments, const std::string &body) {
    mlir::Value value = parse(arguments, body, body.substr(body.rfind("tensor<")));
    IndexFunctions functions;
    return value ? text(functions.of(value)) : "not parsed";
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
};

class IndexFunctionCases : public IndexFunctionsTest, public ::testing::WithParamInterface<IndexFunctionCase> {};

TEST_P(IndexFunctionCases, AgreesWithPyTorch) {
  const IndexFunctionCase &given = GetParam();
  mlir::Value value = parse("%x: tensor<3x4xi64>", given.body, given.body.substr(given.body.rfind("tensor<")));
  ASSERT_TRUE(value);
  IndexFunctions functions;
  // The first leaf in reading order has number 0.
  functions.of(function.getArgument(0));
  Expr expr = functions.of(value);
  ASSERT_NE(expr, nullptr);
  visitNodes(expr, [&](Expr node) { ASSERT_FALSE(node->kind == ExprKind::Element && node->value != 0) << text(expr); });
  auto elementOf = [](int64_t, const Coordinates &at) { return elementOfX(at[0], at[1]); };
  size_t next = 0;
  forEachElement(given.shape, [&](const Coordinates &at) {
    EXPECT_EQ(evaluate(expr, at, elementOf), given.elements[next++]) << text(expr);
  });
  EXPECT_EQ(next, given.elements.size());
}

std::string caseName(const ::testing::TestParamInfo<IndexFunctionCase> &info) {
  std::string name = info.param.name;
  for (char &letter : name)
    letter = isalnum(letter) ? letter : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Operators, IndexFunctionCases, ::testing::ValuesIn(indexFunctionCases), caseName);

TEST_F(IndexFunctionsTest, WhatIsNotUnderstoodIsALeaf) {
  EXPECT_EQ(read("%x: tensor<4xf32>",
                 "%0 = plan.call \"aten.exp.default\"(%x) {self = #base.operand<0>} : (tensor<4xf32>) "
                 "-> tensor<4xf32>\n return %0 : tensor<4xf32>"),
            "%0[d0]");
}

TEST_F(IndexFunctionsTest, OverflowIsNotUnderstood) {
  EXPECT_EQ(read("%x: tensor<4xi8>",
                 "%0 = plan.call \"aten.add.Tensor\"(%x) {self = #base.operand<0>, other = 1 : i64} "
                 ": (tensor<4xi8>) -> tensor<4xi8>\n return %0 : tensor<4xi8>"),
            "%1[d0]");
}

TEST_F(IndexFunctionsTest, NumbersOfAnotherTypeAreNotUnderstood) {
  EXPECT_EQ(read("%x: tensor<4xui8>",
                 "%0 = plan.call \"aten.lt.Scalar\"(%x) {self = #base.operand<0>, other = -1 : i64} "
                 ": (tensor<4xui8>) -> tensor<4xi1>\n return %0 : tensor<4xi1>"),
            "%1[d0]");
  EXPECT_EQ(read("%x: tensor<4xi64>",
                 "%0 = plan.call \"aten.lt.Scalar\"(%x) {self = #base.operand<0>, other = 0.5 : f64} "
                 ": (tensor<4xi64>) -> tensor<4xi1>\n return %0 : tensor<4xi1>"),
            "%1[d0]");
}

TEST_F(IndexFunctionsTest, IndicesThatMayLieOutsideAreNotUnderstood) {
  EXPECT_EQ(
      read("%x: tensor<4xi64>, %i: tensor<2xi64>",
           "%0 = plan.call \"aten.index.Tensor\"(%x, %i) {self = #base.operand<0>, indices = [#base.operand<1>]} : "
           "(tensor<4xi64>, tensor<2xi64>) -> tensor<2xi64>\n return %0 : tensor<2xi64>"),
      "%2[d0]");
}

TEST_F(IndexFunctionsTest, TensorsWithoutElements) {
  EXPECT_EQ(read("%x: tensor<0x4xi64>",
                 "%0 = plan.call \"aten.view.default\"(%x) {self = #base.operand<0>, size = [0 : i64]}"
                 " : (tensor<0x4xi64>) -> tensor<0xi64>\n return %0 : tensor<0xi64>"),
            "null");
}

/// Invalid programs: types and arguments that do not fit must neither be recognized nor cause a crash.
TEST_F(IndexFunctionsTest, ArgumentsThatDoNotFit) {
  for (const char *call : {
           R"("aten.transpose.int"(%x) {self = #base.operand<0>, dim0 = 5 : i64, dim1 = 0 : i64})",
           R"("aten.permute.default"(%x) {self = #base.operand<0>, dims = [0 : i64, 0 : i64]})",
           R"("aten.permute.default"(%x) {self = #base.operand<0>, dims = [0 : i64]})",
           R"("aten.select.int"(%x) {self = #base.operand<0>, dim = 1 : i64, index = 9 : i64})",
           R"("aten.slice.Tensor"(%x) {self = #base.operand<0>, dim = 7 : i64})",
           R"("aten.view.default"(%x) {self = #base.operand<0>})",
           R"("aten.expand.default"() {self = 3 : i64})",
           R"("aten.index.Tensor"(%x) {self = #base.operand<0>, indices = [unit, unit, unit]})",
           R"("aten.index.Tensor"(%x) {self = #base.operand<0>, indices = []})",
           R"("aten.gather.default"(%x) {self = #base.operand<0>, dim = 4 : i64})",
           R"("aten.cumsum.default"(%x) {self = #base.operand<0>, dim = 4 : i64})",
           R"("aten.cat.default"() {tensors = [unit], dim = 0 : i64})",
           R"("aten.cat.default"() {tensors = [], dim = 0 : i64})",
           R"("aten.where.self"(%x) {condition = #base.operand<0>})",
           R"("aten.arange.default"() {end = 4 : i64})",
           R"("aten.repeat_interleave.self_int"(%x) {self = #base.operand<0>, repeats = 0 : i64, dim = 0 : i64})",
       }) {
    llvm::StringRef operands = llvm::StringRef(call).contains("(%x)") ? "(tensor<3x4xi64>)" : "()";
    std::string body =
        llvm::formatv("%0 = plan.call {0} : {1} -> tensor<5x2xi64>\n return %0 : tensor<5x2xi64>", call, operands);
    mlir::Value value = parse("%x: tensor<3x4xi64>", body, "tensor<5x2xi64>");
    ASSERT_TRUE(value) << call;
    IndexFunctions fresh;
    Expr expr = fresh.of(value);
    ASSERT_NE(expr, nullptr) << call;
    EXPECT_EQ(expr->kind, ExprKind::Element) << call;
    EXPECT_EQ(text(expr).substr(2), "[d0, d1]") << call;
  }
}

TEST_F(IndexFunctionsTest, LongChainsDoNotExhaustTheStack) {
  std::string body = "%0 = plan.call \"aten.arange.default\"() {end = 4 : i64} : () -> tensor<4xi64>\n";
  for (int i = 0; i < 20000; ++i)
    body += llvm::formatv("%{0} = plan.call \"aten.add.Tensor\"(%{1}) {{self = #base.operand<0>, other = 1 : i64} : "
                          "(tensor<4xi64>) -> tensor<4xi64>\n",
                          i + 1, i);
  EXPECT_EQ(read("", body + "return %20000 : tensor<4xi64>"), "(d0 + 20000)");
}

TEST_F(IndexFunctionsTest, SourcesStandInProgramOrder) {
  mlir::Value value = parse("%x: tensor<4xi64>", R"(
    %0 = plan.call "aten.arange.default"() {end = 4 : i64} : () -> tensor<4xi64>
    %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} : (tensor<4xi64>) -> tensor<4xi64>
    %2 = plan.call "aten.lt.Tensor"(%1, %x) {self = #base.operand<0>, other = #base.operand<1>}
        : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
    return %2 : tensor<4xi1>)",
                            "tensor<4xi1>");
  IndexFunctions functions;
  mlir::Block &block = function.front();
  std::vector<mlir::Value> expected = {block.getArgument(0)};
  for (mlir::Operation &op : block.without_terminator())
    expected.push_back(op.getResult(0));
  EXPECT_EQ(llvm::ArrayRef(functions.sourcesOf(value)), llvm::ArrayRef(expected));
}

} // namespace
