//===- option_reader_test.cpp - options of a block by name ----------------===//

#include "compiler/frontend/bind/option_reader.h"
#include "test/unit/frontend/bind/bind_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using namespace meshplan::bind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

namespace {

/// The options of a block, and a context to read them in; `let n = 7` is defined.
class OptionReader : public test::BindContext {
protected:
  void parse(const std::string &block) {
    readPlan("model \"m.pt2\"\nmesh dp = 2\nlet n = 7\ndata dp {\n" + block + "\n}");
    ASSERT_EQ(syntax->data.size(), 1u);
  }
  const Option &option(const std::string &block) {
    parse(block);
    return syntax->data[0].options.at(0);
  }
  std::optional<int64_t> integer(const std::string &block) {
    const Option &only = option(block);
    return singleInteger(*context, only);
  }
  static std::vector<std::string> texts(const std::vector<PathPattern> &paths) {
    std::vector<std::string> result;
    for (const PathPattern &path : paths)
      result.push_back(path.literal ? '"' + path.text + '"' : path.text);
    return result;
  }
};

TEST_F(OptionReader, OneOperandIsAWordANumberOrAnInteger) {
  EXPECT_THAT(singleWord(option("average in")), Optional(std::string("in")));
  EXPECT_EQ(singleNumber(option("average in")), std::nullopt);
  EXPECT_THAT(singleNumber(option("lr 3e-4")), Optional(3e-4));
  EXPECT_EQ(integer("lr 3e-4"), std::nullopt);
  EXPECT_THAT(integer("prefetch 2"), Optional(2));
  EXPECT_EQ(singleWord(option("prefetch 2")), std::nullopt);
}

TEST_F(OptionReader, AnIntegerMayBeAValueOfThePlan) {
  EXPECT_THAT(integer("prefetch n"), Optional(7));
  EXPECT_EQ(integer("prefetch m"), std::nullopt);
}

TEST_F(OptionReader, ANumberWithAUnitIsNone) {
  EXPECT_EQ(singleNumber(option("bucket 64 MiB")), std::nullopt);
  EXPECT_EQ(integer("bucket 64 MiB"), std::nullopt);
}

TEST_F(OptionReader, NoneOrSeveralAreNotOne) {
  for (const char *text : {"keep", "keep a b", "keep a, b"}) {
    EXPECT_EQ(singleOperand(option(text)), nullptr) << text;
    EXPECT_EQ(singleWord(option(text)), std::nullopt) << text;
    EXPECT_EQ(singleNumber(option(text)), std::nullopt) << text;
  }
}

TEST_F(OptionReader, WordsAreReadAcrossCommasAndLists) {
  auto words = [&](const char *text) { return joinedWords(option(text)); };
  EXPECT_EQ(words("shard parameters, gradients over dp"), "parameters gradients over dp");
  EXPECT_EQ(words("reduce each microbatch"), "each microbatch");
  EXPECT_EQ(words("shard [a, b], c"), "a b c");
  EXPECT_EQ(words("shard a, 2"), "") << "a number is not a word";
  EXPECT_EQ(words("shard"), "");
  EXPECT_EQ(allWords(option("shard")), std::nullopt);
}

TEST_F(OptionReader, PathsAreGroupedByLists) {
  auto groups = [&](const char *text) {
    std::vector<std::vector<std::string>> result;
    if (std::optional<std::vector<std::vector<PathPattern>>> found = pathGroups(option(text)))
      for (const std::vector<PathPattern> &group : *found)
        result.push_back(texts(group));
    return result;
  };
  EXPECT_THAT(groups("unit model.layers.*, lm_head"),
              ElementsAre(ElementsAre("model.layers.*"), ElementsAre("lm_head")));
  EXPECT_THAT(groups("unit [a.*, b], \"c d\""), ElementsAre(ElementsAre("a.*", "b"), ElementsAre("\"c d\"")));
  EXPECT_THAT(groups("unit"), IsEmpty());
  EXPECT_THAT(groups("unit a b"), IsEmpty());
  EXPECT_THAT(groups("unit [[a]]"), IsEmpty());
}

TEST_F(OptionReader, OptionsAreTakenByName) {
  parse("first 1\nmany a\nmany b\nblock { x 1 }");
  std::vector<std::string> taken;
  auto take = [&](const Option &option) {
    taken.push_back(option.text);
    return true;
  };
  readOptions(*context, "data", syntax->data[0].options,
              {{"first", "first N", take},
               {"many", "many PATH", take, /*mayRepeat=*/true},
               {"block", "block { ... }", take, false, /*takesBlock=*/true},
               {"absent", "absent", take}});
  EXPECT_THAT(taken, ElementsAre("first 1", "many a", "many b", "block"));
  EXPECT_EQ(diagnostics.text(), "");
}

TEST_F(OptionReader, ABlockIsNeededOrNotOrMayBeThere) {
  parse("never 1\nneeded { x 1 }\neither 1\nmay { x 1 }\nblock { }\nlacks 1");
  auto yes = [](const Option &) { return true; };
  OptionRule either{
      "either", "either N [{ ... }]", yes, /*mayRepeat=*/false, /*takesBlock=*/true, /*mayLackBlock=*/true};
  OptionRule may = either;
  may.name = "may";
  readOptions(*context, "data", syntax->data[0].options,
              {{"never", "never N", yes},
               {"needed", "needed { ... }", yes, false, /*takesBlock=*/true},
               either,
               may,
               {"block", "block N", yes},
               {"lacks", "lacks { ... }", yes, false, /*takesBlock=*/true}});
  std::string text = diagnostics.text();
  for (const char *message : {"p.plan:10:1: error: cannot read 'block'", "p.plan:11:1: error: cannot read 'lacks 1'"})
    EXPECT_THAT(text, testing::HasSubstr(message));
  EXPECT_EQ(diagnostics.errorCount(), 2u) << text;
}

TEST_F(OptionReader, WhatDoesNotFitIsNamed) {
  parse("bukcet 1\nonce 1\nonce 2\nrefused 3\nonce2 { x 1 }");
  auto yes = [](const Option &) { return true; };
  auto no = [](const Option &) { return false; };
  readOptions(*context, "data", syntax->data[0].options,
              {{"bucket", "bucket SIZE", yes},
               {"once", "once N", yes},
               {"refused", "refused A | B", no},
               {"once2", "once2 N", yes}});
  std::string text = diagnostics.text();
  for (const char *message :
       {"p.plan:6:1: error: 'data' has no option 'bukcet'", "p.plan:8:1: error: option 'once' is repeated",
        "p.plan:7:1: note: the first one is here", "p.plan:9:1: error: cannot read 'refused 3'",
        "help: the form is 'refused A | B'", "p.plan:10:1: error: cannot read 'once2'"})
    EXPECT_THAT(text, testing::HasSubstr(message));
  EXPECT_EQ(diagnostics.errorCount(), 4u);
}

} // namespace
