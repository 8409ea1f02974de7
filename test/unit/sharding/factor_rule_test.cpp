//===- factor_rule_test.cpp - invalid rules -------------------------------===//

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "parsed_call.h"

using namespace meshplan;
using namespace mlir;

namespace {

class FactorRuleTest : public CallTest {
protected:
  /// [a, b], [c, b] -> [a, c] with a = 4, b = 6 contracted, c = 2.
  FactorRule product() {
    FactorRule rule;
    unsigned a = rule.add(4), b = rule.add(6, FactorKind::sum), c = rule.add(2);
    rule.operands.resize(2);
    rule.results.resize(1);
    rule.operands[0].dims = {{a}, {b}};
    rule.operands[1].dims = {{c}, {b}};
    rule.results[0].dims = {{a}, {c}};
    return rule;
  }

  std::string fault(const FactorRule &rule) {
    auto tensor = [&](std::initializer_list<int64_t> shape) {
      return RankedTensorType::get(shape, Float32Type::get(&context));
    };
    return rule.findFault({tensor({4, 6}), tensor({2, 6})}, {tensor({4, 2})}).value_or("");
  }
};

TEST_F(FactorRuleTest, AcceptsAProduct) { EXPECT_EQ(fault(product()), ""); }

TEST_F(FactorRuleTest, CountsTensors) {
  FactorRule rule = product();
  rule.operands.pop_back();
  EXPECT_EQ(fault(rule), "rule has 1 operands, but the call has 2");
}

TEST_F(FactorRuleTest, CountsDims) {
  FactorRule rule = product();
  rule.results[0].dims.pop_back();
  EXPECT_EQ(fault(rule), "rule gives 1 dims to result 0 of rank 2");
}

TEST_F(FactorRuleTest, ChecksIndices) {
  FactorRule rule = product();
  rule.operands[1].dims[0] = {7};
  EXPECT_EQ(fault(rule), "rule names factor 7 of 3 in dim 0 of operand 1");
}

TEST_F(FactorRuleTest, AFactorIsOnceInATensor) {
  FactorRule rule = product();
  rule.operands[0].dims[1] = {0};
  EXPECT_EQ(fault(rule), "rule has factor 0 twice in operand 0");
}

TEST_F(FactorRuleTest, FactorsMultiplyToTheSize) {
  FactorRule rule = product();
  rule.factors[2].size = 3;
  EXPECT_EQ(fault(rule), "factors of dim 0 of operand 1 multiply to 3, but its size is 2");
}

TEST_F(FactorRuleTest, DimsWithoutFactorHaveSizeOne) {
  FactorRule rule = product();
  rule.operands[0].dims[0] = {};
  EXPECT_EQ(fault(rule), "factors of dim 0 of operand 0 multiply to 1, but its size is 4");
}

TEST_F(FactorRuleTest, ReducedFactorsAreInNoResult) {
  FactorRule rule = product();
  rule.factors[0].kind = FactorKind::max;
  EXPECT_EQ(fault(rule), "factor 0 is reduced, but is in a result");
}

TEST_F(FactorRuleTest, ReducedFactorsAreInAnOperand) {
  FactorRule rule = product();
  rule.add(5, FactorKind::sum);
  EXPECT_EQ(fault(rule), "factor 3 is reduced, but is in no operand");
}

TEST_F(FactorRuleTest, ParallelFactorsAreInAResult) {
  FactorRule rule = product();
  rule.factors[1].kind = FactorKind::parallel;
  EXPECT_EQ(fault(rule), "factor 1 is parallel, but is in no result");
}

TEST_F(FactorRuleTest, FactorsConsistOfUnits) {
  FactorRule rule = product();
  rule.factors[0].unit = 3;
  EXPECT_EQ(fault(rule), "factor 0 of size 4 is not a multiple of its block size 3");
}

TEST_F(FactorRuleTest, VerifyReportsTheFault) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  FactorRule rule = product();
  auto emit = [&] { return mlir::emitError(UnknownLoc::get(&context)); };
  EXPECT_TRUE(failed(rule.verify({}, {}, emit)));
  EXPECT_EQ(message, "rule has 2 operands, but the call has 0");
}

} // namespace
