//===- moves_test.cpp - operations that move with their operands ----------===//

#include "compiler/transforms/group/moves.h"
#include "mlir/IR/Verifier.h"
#include "test/unit/dialect/plan_text.h"

using namespace meshplan;
using namespace mlir;

namespace {

/// Operations named by their modules, each of which reads others.
class Moves : public PlanText {
protected:
  /// "a: ", "b: a", "c: a b"; all read the argument.
  void read(ArrayRef<std::pair<std::string, std::vector<std::string>>> operations) {
    std::string text = "func.func @f(%in: tensor<4xf32>) {\n";
    for (const auto &[name, reads] : operations) {
      std::string operands = "%in", types = "tensor<4xf32>", list = "#base.operand<0>";
      for (size_t i = 0; i < reads.size(); ++i) {
        operands += ", %" + reads[i];
        types += ", tensor<4xf32>";
        list += ", #base.operand<" + std::to_string(i + 1) + ">";
      }
      text += "%" + name + " = plan.call \"op\"(" + operands + ") {tensors = [" + list + "]} in \"" + name + "\" : (" +
              types + ") -> tensor<4xf32>\n";
    }
    readModule(text + "return }");
  }

  Operation *named(StringRef name) {
    Operation *found = nullptr;
    owner->walk([&](plan::CallOp call) {
      if (call.getModule() == name)
        found = call;
    });
    return found;
  }

  std::string order() {
    EXPECT_TRUE(succeeded(verify(*owner))) << "what is read stands before its readers";
    std::string text;
    owner->walk([&](plan::CallOp call) { text += call.getModule()->str(); });
    return text;
  }
};

} // namespace

TEST_F(Moves, UpWithWhatTheyAreMadeOf) {
  read({{"a", {}}, {"b", {}}, {"c", {"b"}}, {"d", {"c"}}, {"e", {}}});
  moveUp({named("d"), named("e")}, named("a"));
  EXPECT_EQ(order(), "bcdea");
}

TEST_F(Moves, UpLeavesWhatIsThere) {
  read({{"a", {}}, {"b", {}}, {"c", {"a"}}});
  moveUp({named("a"), named("c")}, named("b"));
  EXPECT_EQ(order(), "acb");
}

TEST_F(Moves, UpKeepsTheOrderOfSeveral) {
  read({{"p", {}}, {"a", {}}, {"b", {}}, {"c", {}}});
  moveUp({named("a"), named("b"), named("c")}, named("p"));
  EXPECT_EQ(order(), "abcp");
}

TEST_F(Moves, DownTakesItsReadersBehindThePlace) {
  read({{"a", {}}, {"b", {"a"}}, {"c", {}}, {"d", {"b", "c"}}, {"p", {}}, {"q", {"d"}}});
  EXPECT_TRUE(moveDown(named("a"), named("p")));
  EXPECT_EQ(order(), "capbdq");
}

TEST_F(Moves, DownNotWhereThePlaceNeedsIt) {
  read({{"a", {}}, {"b", {"a"}}, {"p", {"b"}}});
  EXPECT_FALSE(moveDown(named("a"), named("p")));
  EXPECT_EQ(order(), "abp");
}

TEST_F(Moves, DownOneByOne) {
  read({{"a", {}}, {"x", {"a"}}, {"b", {}}, {"y", {"b", "x"}}, {"p", {}}});
  EXPECT_TRUE(moveDown(named("a"), named("p")));
  EXPECT_TRUE(moveDown(named("b"), named("p")));
  EXPECT_EQ(order(), "abpxy");
}

TEST_F(Moves, DownNotWhereItStandsBehindThePlace) {
  read({{"p", {}}, {"a", {}}, {"b", {"a"}}, {"c", {"b"}}});
  EXPECT_FALSE(moveDown(named("b"), named("p"))) << "before 'p' nothing makes what it reads";
  EXPECT_FALSE(moveDown(named("b"), named("b")));
  EXPECT_EQ(order(), "pabc");
}
