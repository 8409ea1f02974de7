//===- argument_table_test.cpp - references to arguments by name ----------===//

#include "dialect/plan/argument_table.h"
#include "mlir/IR/Verifier.h"
#include "test/unit/dialect/plan_text.h"

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

class ArgumentTableTest : public PlanText {
protected:
  ArgumentTableTest() {
    readModule(R"(
      func.func @f(%unread: tensor<2xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["unread"]},
                   %w: tensor<2xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w", "tied"]},
                   %x: tensor<2xf32> {plan.kind = #plan.kind<input>, plan.names = ["w"]},
                   %m: tensor<2xf32> {plan.kind = #plan.kind<state>, plan.names = ["w.m"], plan.of = #plan.argument<parameter "w">},
                   %unnamed: tensor<2xf32> {plan.kind = #plan.kind<input>}, %other: tensor<2xf32>) {
        return
      })");
  }

  BlockArgument at(unsigned index) { return cast<BlockArgument>(argument(index)); }
  ArgumentRefAttr reference(ArgumentKind kind, StringRef name) {
    return ArgumentRefAttr::get(&context, kind, StringAttr::get(&context, name));
  }
};

TEST_F(ArgumentTableTest, ReferencesAreTheKindAndTheFirstName) {
  EXPECT_EQ(referenceTo(at(1)), reference(ArgumentKind::parameter, "w"));
  EXPECT_EQ(referenceTo(at(2)), reference(ArgumentKind::input, "w")) << "an input may have the name of a parameter";
  EXPECT_FALSE(referenceTo(at(4))) << "no name";
  EXPECT_FALSE(referenceTo(at(5))) << "no kind";
}

TEST_F(ArgumentTableTest, ReferencesLeadToTheirArgument) {
  ArgumentTable table(function());
  for (unsigned index : {0, 1, 2, 3})
    EXPECT_EQ(table[referenceTo(at(index))], at(index)) << index;
  EXPECT_FALSE(table[reference(ArgumentKind::parameter, "tied")]) << "not the first name";
  EXPECT_FALSE(table[reference(ArgumentKind::buffer, "w")]) << "of another kind";
  EXPECT_FALSE(table[ArgumentRefAttr()]);
}

TEST_F(ArgumentTableTest, OnlyAStateLeadsToAnotherParameter) {
  ArgumentTable table(function());
  EXPECT_EQ(table.parameterOf(at(3)), at(1));
  for (unsigned index : {1, 2, 5})
    EXPECT_EQ(table.parameterOf(at(index)), at(index)) << index;
  EXPECT_FALSE(table.parameterOf({}));
}

TEST_F(ArgumentTableTest, ReferencesStayValidWhenOtherArgumentsChange) {
  ASSERT_TRUE(succeeded(function().eraseArguments(llvm::BitVector(6).set(0).set(2))));
  ASSERT_TRUE(succeeded(
      function().insertArgument(0, argument(0).getType(), DictionaryAttr::get(&context), function().getLoc())));
  EXPECT_EQ(ArgumentTable(function()).parameterOf(at(2)), at(1));
  EXPECT_TRUE(succeeded(mlir::verify(function())));
}

} // namespace
