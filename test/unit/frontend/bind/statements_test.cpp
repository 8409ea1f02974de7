//===- statements_test.cpp - which statements a plan may have -------------===//

#include "test/unit/frontend/bind/bind_context.h"

#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::bind;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

class Statements : public test::BindContext {
protected:
  std::vector<std::string> check(const std::string &statements) {
    syntax = parsePlan(sources.add("p.plan", "plan p {\n" + statements + "\n}\n"), diagnostics);
    EXPECT_TRUE(syntax) << diagnostics.text();
    size_t before = diagnostics.all().size();
    checkStatements(*syntax, diagnostics);
    std::vector<std::string> messages;
    for (const Diagnostic &diagnostic : diagnostics.all().drop_front(before))
      messages.push_back(std::to_string(diagnostic.range.line) + ": " + diagnostic.message);
    return messages;
  }
};

TEST_F(Statements, SomeStandOnce) {
  for (std::string statement :
       {"model \"m.pt2\"", "mesh dp = 2", "loss loss", "microbatches 2", "precision { compute bf16 }", "optimizer sgd",
        "clip_grad_norm 1.0", "nonfinite gradients stop"}) {
    EXPECT_THAT(check(statement), IsEmpty());
    std::string message = "a plan has one '" + statement.substr(0, statement.find(' ')) + "' statement";
    EXPECT_THAT(check(statement + "\n" + statement + "\n" + statement), ElementsAre("3: " + message, "4: " + message));
    EXPECT_EQ(diagnostics.all().back().notes.at(0).message, "the first one is here");
    EXPECT_EQ(diagnostics.all().back().notes.at(0).range.line, 2);
  }
}

TEST_F(Statements, OthersMayStandAgain) {
  for (std::string statement : {"let n = 2", "input x: [a]", "output y: [a]", "a: replicate", "data dp { }",
                                "recompute m", "freeze m", "train only m", "unused m"})
    EXPECT_THAT(check(statement + "\n" + statement), IsEmpty());
}

TEST_F(Statements, ReservedOnesAreRefusedByName) {
  EXPECT_THAT(check("pipeline pp\ncontext cp { a b }\n"
                    "offload optimizer\ntie a.b, c.d\nshapes small"),
              ElementsAre("2: 'pipeline' is not implemented yet", "3: 'context' is not implemented yet",
                          "4: 'offload' is about the parameters of a data block", "5: 'tie' is not implemented yet",
                          "6: 'shapes' is not implemented yet"));
  EXPECT_THAT(diagnostics.all().back().helps, ElementsAre("remove the statement"));
}

} // namespace
