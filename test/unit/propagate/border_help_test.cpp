//===- border_help_test.cpp - borders for the layout of a value -----------===//

#include "compiler/transforms/propagate/border_help.h"
#include "plan_function.h"
#include <gtest/gtest.h>

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

class BorderHelp : public PlanFunction {
protected:
  /// Calls with one operand each: "module", the name of its operand and the text after the module.
  static std::string call(llvm::StringRef result, llvm::StringRef operand, llvm::StringRef module,
                          llvm::StringRef runs = "") {
    std::string place = module.empty() ? "" : (" in \"" + module + "\"").str();
    return ("%" + result + " = plan.call \"aten.neg.default\"(%" + operand + ") {self = #base.operand<0>}" + place +
            (runs.empty() ? "" : " {plan.module_runs = [" + runs + "]}") + " : (" + type + ") -> " + type + "\n")
        .str();
  }

  /// The help for the operand of call `user`.
  std::string whole(llvm::StringRef body, unsigned user) {
    read(("%x: " + type + " {plan.kind = #plan.kind<input>, plan.names = [\"x\"]}, %y: " + type +
          " {plan.kind = #plan.kind<input>, plan.names = [\"y\"]}, %w: " + type +
          " {plan.kind = #plan.kind<parameter>, plan.names = [\"w\"]}")
             .str(),
         body);
    auto calls = llvm::to_vector(function().getOps<CallOp>());
    return wholeAtBorder(calls[user]->getOpOperand(0), stated());
  }

  /// All stated layouts of the function, as if they had been applied.
  StatedLayouts stated() {
    StatedLayouts layouts;
    for (auto constrain : function().getOps<ConstrainOp>())
      layouts.add(constrain);
    return layouts;
  }

  /// "%result" is "%operand", constrained as an input of the module; with an empty module it is not an input.
  std::string statement(llvm::StringRef result, llvm::StringRef operand, llvm::StringRef module) {
    std::string mark = module.empty() ? "" : (" {plan.input_of = \"" + module + "\"}").str();
    return ("%" + result + " = plan.constrain %" + operand + " <[{}, {}]> along [] as \"stated\"" + mark + " : " +
            type + " -> " + type + "\n")
        .str();
  }

  static constexpr llvm::StringLiteral type = "tensor<4x8xf32, #plan.sharding<[{\"dp\"}, {\"tp\"}]>>";
};

TEST_F(BorderHelp, AValueLeavesTheModuleThatMakesIt) {
  EXPECT_EQ(whole(call("a", "x", "up") + call("b", "a", "down"), 1), "up: output [_, _]");
  EXPECT_EQ(whole(call("a", "x", "up") + call("b", "a", ""), 1), "up: output [_, _]");
}

TEST_F(BorderHelp, OrEntersTheModuleThatReadsIt) {
  EXPECT_EQ(whole(call("a", "x", "up"), 0), "up: input [_, _]");
  EXPECT_EQ(whole(call("a", "x", "") + call("b", "a", "up"), 1), "up: input [_, _]");
  EXPECT_EQ(whole(call("a", "x", "mlp") + call("b", "a", "mlp.up"), 1), "mlp.up: input [_, _]")
      << "made around the module, it leaves none";
}

TEST_F(BorderHelp, AValueThatCrossesNoBorderHasNone) {
  EXPECT_EQ(whole(call("a", "x", "up") + call("b", "a", "up"), 1), "");
  EXPECT_EQ(whole(call("a", "x", "") + call("b", "a", ""), 1), "");
  EXPECT_EQ(whole(call("a", "w", "up"), 0), "") << "borders speak of activations";
}

TEST_F(BorderHelp, ValuesCountInTheOrderOfTheProgram) {
  std::string two = call("a", "x", "up") + call("b", "y", "up") + call("c", "a", "down") + call("d", "b", "down");
  EXPECT_EQ(whole(two, 0), "up: input [_, _]");
  EXPECT_EQ(whole(two, 1), "up: input 1 [_, _]");
  EXPECT_EQ(whole(two, 2), "up: output [_, _]");
  EXPECT_EQ(whole(two, 3), "up: output 1 [_, _]");
  std::string kept = call("a", "x", "up") + call("b", "a", "up") + call("c", "b", "down");
  EXPECT_EQ(whole(kept, 2), "up: output [_, _]") << "what is read inside only is not an output";
}

TEST_F(BorderHelp, EveryCallOfAModuleHasItsBorders) {
  std::string twice = call("a", "x", "up") + call("b", "a", "up", "#plan.module_run<\"up\" = 1>");
  EXPECT_EQ(whole(twice, 1), "up: output [_, _]");
}

TEST_F(BorderHelp, WhatIsStatedBehindTheProducerIsNotSaidOfItsOutput) {
  std::string made = call("a", "x", "up");
  EXPECT_EQ(whole(made + statement("s", "a", "layers") + call("b", "s", "layers.norm"), 1),
            "layers.norm: input [_, _]");
  EXPECT_EQ(whole(made + statement("s", "a", "") + call("b", "s", "down"), 1), "down: input [_, _]")
      << "stated of the output, or by a style";
  EXPECT_EQ(whole(made + statement("s", "a", "down") + call("b", "s", "down"), 1), "") << "nothing is left to say";
}

TEST_F(BorderHelp, OtherDimsStayAsTheyAre) {
  whole(call("a", "x", "up"), 0);
  OpOperand &operand = (*function().getOps<CallOp>().begin())->getOpOperand(0);
  EXPECT_EQ(wholeAtBorder(operand, 0, {}), "up: input [_, _ over tp]");
  EXPECT_EQ(wholeAtBorder(operand, 1, {}), "up: input [_ over dp, _]");
  EXPECT_EQ(atBorder(operand, getSharding(operand.get()), {}), "up: input [_ over dp, _ over tp]");
}

} // namespace
