//===- parsed_call.h - calls and rules as text ------------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_UNIT_SHARDING_PARSED_CALL_H
#define MESHPLAN_TEST_UNIT_SHARDING_PARSED_CALL_H

#include "compiler/sharding/op_record.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

namespace meshplan {

/// Arguments of operators of one and of two operands.
inline constexpr char unary[] = "{self = #base.operand<0>}";
inline constexpr char binary[] = "{self = #base.operand<0>, other = #base.operand<1>}";

/// A fixture that reads calls from text: `args` is the dictionary of plan.call, `types` its function type.
class CallTest : public testing::Test {
protected:
  CallTest();

  /// The call; a test failure and an empty call if the text is invalid.
  CallView parse(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types);

  /// The rule of the target's record for this call, as describe() writes it.
  std::string rule(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types);

  /// The record of a target; a test failure and a record without functions if there is none.
  static OpRecord record(llvm::StringRef target);

  mlir::MLIRContext context;
};

/// A rule as an einsum: "[a, b], [c, b] -> [a, c]; a=4 b=8:sum c=16". Letters follow the order of appearance; a dim of
/// two factors is "ab", one that joins them "a|b", one whose indices are shared by 3 indices of a factor "a/3", one
/// without factor "1". Factors are parallel unless stated otherwise.
std::string describe(const FactorRule &rule);

/// Text of an attribute.
std::string print(mlir::Attribute attribute);

/// "target {args}" of a LocalCall or a CallRewrite.
template <typename Call> std::string text(const Call &call) { return call.target + " " + print(call.args); }

/// Sets of a linearity: "{0, 1} {2} moves".
std::string describe(const Linearity &linearity);

} // namespace meshplan

#endif // MESHPLAN_TEST_UNIT_SHARDING_PARSED_CALL_H
