//===- nearest_test.cpp - suggestions for misspelled names ----------------===//

#include "compiler/support/nearest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

TEST(Nearest, OrderAndLimit) {
  EXPECT_THAT(nearestNames("q_prj", {"k_proj", "q_proj", "o_norm"}), ElementsAre("q_proj"));
  EXPECT_THAT(nearestNames("x_proj", {"q_proj", "k_proj", "v_proj", "o_proj", "q_proj"}),
              ElementsAre("q_proj", "k_proj", "v_proj"));
  EXPECT_THAT(nearestNames("tq", {"tp", "dp"}), ElementsAre("tp"));
  EXPECT_THAT(nearestNames("a", {"b"}), IsEmpty());
  EXPECT_THAT(nearestNames("", {"b"}), IsEmpty());
  EXPECT_THAT(nearestNames("diagonal", {"colwise"}), IsEmpty());
}

TEST(Nearest, TheSameWordInOtherLettersIsMeant) {
  EXPECT_THAT(nearestNames("AdamW", {"adam", "adamw"}), ElementsAre("adamw"));
  EXPECT_THAT(nearestNames("DP", {"tp", "dp"}), ElementsAre("dp"));
}

TEST(Nearest, QuotedList) {
  EXPECT_EQ(quotedList({}), "");
  EXPECT_EQ(quotedList({"a"}), "'a'");
  EXPECT_EQ(quotedList({"a", "b", "c"}), "'a', 'b' or 'c'");
  EXPECT_EQ(quotedList({"a", "b"}, "and"), "'a' and 'b'");
  EXPECT_EQ(quotedList({"a", "b", "c"}, ","), "'a', 'b', 'c'");
}

TEST(Nearest, Suggest) {
  EXPECT_EQ(suggest("tq", {"dp", "tp"}, "axes"), "did you mean 'tp'?");
  EXPECT_EQ(suggest("zzz", {"dp", "tp"}, "axes"), "axes: 'dp', 'tp'");
  EXPECT_EQ(suggest("zzz", {}, "axes"), "");
  EXPECT_EQ(suggest("zzz", std::vector<std::string>(13, "name"), "axes"), "");
}

TEST(Nearest, TwoNeighboursInTheWrongOrderAreOneLetter) {
  EXPECT_THAT(nearestNames("mseh", {"mesh", "mash"}), ElementsAre("mesh"));
  EXPECT_THAT(nearestNames("emhs", {"mesh"}), IsEmpty());
}

TEST(Nearest, AThirdOfTheLettersMayDiffer) {
  struct {
    const char *name, *candidate;
    bool isNear;
  } cases[] = {
      {"ab", "ac", true},           // a single letter always
      {"abcde", "abcxy", false},    // two of five
      {"abcdef", "abcdxy", true},   // two of six
      {"abcdef", "abcxyz", false},  // three
      {"abcdef", "abcdefgh", true}, // two more
      {"abcdef", "abcdefghi", false},
      {"abcdef", "abcd", true},
      {"abcdef", "badcfe", false}, // three swaps
      {"abcdef", "badcef", true},
      {"abc", "bca", false}, // a letter that moves by two
      {"a", "ab", true},
      {"a", "", false}, // nothing in common
      {"a", "b", false},
      {"same", "same", true},
  };
  for (auto [name, candidate, isNear] : cases)
    EXPECT_EQ(nearestNames(name, {candidate}).size(), isNear ? 1u : 0u) << name << " " << candidate;
}

TEST(Nearest, FewerChangesFirstThenAsGiven) {
  EXPECT_THAT(nearestNames("weight", {"weixxt", "wxight", "weight", "weighs"}, 9),
              ElementsAre("weight", "wxight", "weighs", "weixxt"));
  EXPECT_THAT(nearestNames("weight", {"weixxt", "wxight", "weight", "weighs"}, 1), ElementsAre("weight"));
  EXPECT_THAT(nearestNames("weight", {"weight"}, 0), IsEmpty());
}

TEST(Nearest, UpToTwelveCandidatesAreListed) {
  std::vector<std::string> names;
  for (char c = 'a'; c < 'a' + 12; ++c)
    names.push_back(std::string(5, c));
  EXPECT_EQ(suggest("zzz", names, "names"),
            "names: 'aaaaa', 'bbbbb', 'ccccc', 'ddddd', 'eeeee', 'fffff', 'ggggg', 'hhhhh', 'iiiii', 'jjjjj', 'kkkkk', "
            "'lllll'");
  names.push_back("mmmmm");
  EXPECT_EQ(suggest("zzz", names, "names"), "");
  EXPECT_EQ(suggest("mmmmn", names, "names"), "did you mean 'mmmmm'?") << "a near one is named among any number";
}

} // namespace
