//===- wanted_layout_test.cpp - layouts that consumers need ---------------===//

#include "compiler/transforms/propagate/wanted_layout.h"
#include "plan_function.h"

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

class WantedLayout : public PlanFunction {
protected:
  /// The dim of the first argument that its consumers need sharded over tp.
  WantedDim wanted(StringRef axisName = "tp") { return findWantedDim(argument(0), axis(axisName), mesh()); }

  /// A call with one operand, from and to a matrix of 8 x 8.
  static std::string call(StringRef target, StringRef from, StringRef to, StringRef args = "") {
    return (to + " = plan.call \"" + target + "\"(" + from + ") {self = #base.operand<0>" + args +
            "} : (tensor<8x8xf32>) -> tensor<8x8xf32>\n")
        .str();
  }
  static std::string constrain(StringRef value, StringRef layout) {
    return ("plan.constrain " + value + " <" + layout +
            "> along [#plan.axis<\"tp\">] as \"x\" : tensor<8x8xf32> -> tensor<8x8xf32>\n")
        .str();
  }
  static std::string add(StringRef left, StringRef right, StringRef rightType, StringRef to) {
    return (to + " = plan.call \"aten.add.Tensor\"(" + left + ", " + right +
            ") {self = #base.operand<0>, other = #base.operand<1>} : (tensor<8x8xf32>, " + rightType +
            ") -> tensor<8x8xf32>\n")
        .str();
  }
};

constexpr char one[] = "%x: tensor<8x8xf32>";
constexpr char columns[] = R"(tensor<8x8xf32, #plan.sharding<[{}, {"tp"}]>>)";
constexpr char rows[] = R"(tensor<8x8xf32, #plan.sharding<[{"tp"}, {}]>>)";

TEST_F(WantedLayout, NobodyAsksForAnything) {
  read(one, "");
  EXPECT_EQ(wanted().dim, -1);
  read(one, call("aten.neg.default", "%x", "%0"));
  EXPECT_EQ(wanted().dim, -1);
}

TEST_F(WantedLayout, AStatementAsks) {
  read(one, constrain("%x", "[{}, {\"tp\"}]"));
  EXPECT_EQ(wanted().dim, 1);
  EXPECT_EQ(wanted().statement, cast<ConstrainOp>(op(0)));
  EXPECT_FALSE(wanted().neighbour);
  EXPECT_EQ(wanted("dp").dim, -1);
}

TEST_F(WantedLayout, AStatementOfAWholeLayoutAsksForNothing) {
  read(one, constrain("%x", "[{}, {}]"));
  EXPECT_EQ(wanted().dim, -1);
}

TEST_F(WantedLayout, AWholeLayoutDoesNotHideAnother) {
  std::string whole = constrain("%x", "[{}, {}]"), divided = constrain("%x", "[{}, {\"tp\"}]");
  for (const std::string &body : {whole + divided, divided + whole}) {
    read(one, body);
    EXPECT_EQ(wanted().dim, 1) << body;
  }
}

TEST_F(WantedLayout, EachResultOfAConsumerMayAsk) {
  for (int result : {0, 1}) {
    read(one, R"(%0:2 = plan.call "aten.split_with_sizes.default"(%x) {self = #base.operand<0>, split_sizes = [4, 4],
        dim = 1} : (tensor<8x8xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
plan.constrain %0#)" +
                  std::to_string(result) +
                  R"( <[{"tp"}, {}]> along [#plan.axis<"tp">] as "x" : tensor<8x4xf32> -> tensor<8x4xf32>)");
    EXPECT_EQ(wanted().dim, 0) << result;
  }
}

TEST_F(WantedLayout, TheOtherOperandOfAConsumerAsks) {
  read(std::string(one) + ", %y: " + rows, add("%x", "%y", rows, "%0"));
  EXPECT_EQ(wanted().dim, 0);
  EXPECT_EQ(wanted().neighbour, argument(1));
  EXPECT_FALSE(wanted().statement);
}

TEST_F(WantedLayout, TheDimIsThatOfTheValueNotOfItsNeighbour) {
  // A weight that is sharded over its input features, which are dim 1 of both; for output features there is none.
  std::string body = R"(%0 = plan.call "aten.mm.default"(%x, %w) {self = #base.operand<0>, mat2 = #base.operand<1>}
      : (tensor<8x8xf32>, TYPE) -> tensor<8x8xf32>)";
  for (auto [type, dim] : {std::pair(rows, 1), {columns, -1}}) {
    std::string text = body;
    text.replace(text.find("TYPE"), 4, type);
    read(std::string(one) + ", %w: " + type, text);
    EXPECT_EQ(wanted().dim, dim) << type;
  }
}

TEST_F(WantedLayout, ABroadcastNeighbourAsksForItsDim) {
  constexpr char vector[] = R"(tensor<8xf32, #plan.sharding<[{"tp"}]>>)";
  read(std::string(one) + ", %b: " + vector, add("%x", "%b", vector, "%0"));
  EXPECT_EQ(wanted().dim, 1);
}

TEST_F(WantedLayout, ConsumersOfConsumersAsk) {
  read(std::string(one) + ", %y: " + rows,
       call("aten.neg.default", "%x", "%0") + call("aten.relu.default", "%0", "%1") + add("%1", "%y", rows, "%2"));
  EXPECT_EQ(wanted().dim, 0);
  EXPECT_EQ(wanted().neighbour, argument(1));
}

TEST_F(WantedLayout, TheDimIsFollowedThroughConsumers) {
  read(one, call("aten.transpose.int", "%x", "%0", ", dim0 = 0, dim1 = 1") + constrain("%0", "[{}, {\"tp\"}]"));
  EXPECT_EQ(wanted().dim, 0);
  EXPECT_EQ(wanted().statement, cast<ConstrainOp>(op(1)));
}

TEST_F(WantedLayout, ADimThatTheValueLacksIsNotWanted) {
  // The needed dim of the product is that of the weight's columns.
  read(std::string(one) + R"(, %w: tensor<8x8xf32>)",
       R"(%0 = plan.call "aten.mm.default"(%x, %w) {self = #base.operand<0>, mat2 = #base.operand<1>}
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
)" + constrain("%0", "[{}, {\"tp\"}]"));
  EXPECT_EQ(wanted().dim, -1);
}

TEST_F(WantedLayout, StatementsComeBeforeNeighboursAndTheseBeforeConsumersOfConsumers) {
  std::string arguments = std::string(one) + ", %y: " + rows;
  std::string deep = call("aten.neg.default", "%x", "%d") + constrain("%d", "[{}, {\"tp\"}]");
  std::string neighbour = add("%x", "%y", rows, "%n");
  read(arguments, deep + neighbour);
  EXPECT_EQ(wanted().neighbour, argument(1));
  EXPECT_EQ(wanted().dim, 0);
  read(arguments, deep + neighbour + constrain("%x", "[{}, {\"tp\"}]"));
  EXPECT_TRUE(wanted().statement);
  EXPECT_EQ(wanted().dim, 1);
}

TEST_F(WantedLayout, AnOperatorWithoutRecordHidesWhatIsBehindIt) {
  read(std::string(one) + ", %y: " + rows,
       call("custom.op.default", "%x", "%0") + constrain("%0", "[{\"tp\"}, {}]") +
           R"(%1 = plan.call "custom.two.default"(%x, %y) {a = #base.operand<0>, b = #base.operand<1>}
      : (tensor<8x8xf32>, )" +
           rows + ") -> tensor<8x8xf32>\n");
  EXPECT_EQ(wanted().dim, -1);
}

TEST_F(WantedLayout, TheSearchEnds) {
  // Found across a few consumers, but not arbitrarily many.
  for (auto [length, dim] : {std::pair(5, 1), {100, -1}}) {
    std::string body;
    for (int index = 0; index < length; ++index)
      body += call("aten.neg.default", index ? "%v" + std::to_string(index - 1) : "%x", "%v" + std::to_string(index));
    read(one, body + constrain("%v" + std::to_string(length - 1), "[{}, {\"tp\"}]"));
    EXPECT_EQ(wanted().dim, dim) << length;
  }
}

} // namespace
