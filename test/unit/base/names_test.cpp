//===- names_test.cpp -----------------------------------------------------===//

#include "runtime/base/names.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Names, ALongListIsCut) {
  EXPECT_EQ(nameList(std::vector<std::string>{}), "");
  EXPECT_EQ(nameList(std::vector<std::string>{"a", "b", "c", "d"}), "'a', 'b', 'c', 'd'");
  EXPECT_EQ(nameList(std::vector<std::string>{"a", "b", "c", "d", "e", "f"}), "'a', 'b', 'c', 'd' and 2 more");
}

TEST(Names, ListsOfFew) {
  std::vector<std::string> names{"a", "b", "c", "d", "e", "f", "g", "h"};
  EXPECT_EQ(listOfFew({}), "");
  EXPECT_EQ(listOfFew(names), "a, b, c, d, e, f, g, h");
  names.insert(names.end(), {"i", "j"});
  EXPECT_EQ(listOfFew(names), "a, b, c, d, e, f, g, h and 2 more");
  EXPECT_EQ(listOfFew(names, 1), "a and 9 more");
}

TEST(Names, Lists) {
  EXPECT_EQ(rankList(std::vector<int64_t>{3}), "rank 3");
  EXPECT_EQ(rankList(std::vector<int64_t>{1, 4, 5}), "ranks 1, 4, 5");
  EXPECT_EQ(shapeText({}), "[]");
  EXPECT_EQ(shapeText(std::vector<int64_t>{2, 30}), "[2, 30]");
}

TEST(Names, NearestComeFirstAndFarOnesNotAtAll) {
  std::vector<std::string> names = {"model.norm.weight", "model.embed_tokens.weight", "lm_head.weight", "x"};
  EXPECT_THAT(nearestNames("model.nrm.weight", names, 1), ElementsAre("model.norm.weight"));
  EXPECT_THAT(nearestNames("lm_head.wieght", names), ElementsAre("lm_head.weight"));
  EXPECT_THAT(nearestNames("completely different", names), IsEmpty());
  EXPECT_THAT(nearestNames("a", {}), IsEmpty());
}

TEST(Names, HalfOfTheLettersMayDiffer) {
  struct {
    const char *name, *candidate;
    bool isNear;
  } cases[] = {
      {"abcd", "abxy", true},                              // two of four
      {"abcd", "axyz", false},                             // three
      {"abc", "axy", false},                               // two of three
      {"ab", "abcd", true},                                // two letters more
      {"ab", "abcde", false},  {"abcdef", "bcdefa", true}, // removed at one end and added at the other
      {"a", "b", false},       {"same", "same", true},     {"", "", true}, {"", "a", false},
  };
  for (auto [name, candidate, isNear] : cases) {
    EXPECT_EQ(nearestNames(name, std::vector<std::string>{candidate}).size(), isNear ? 1u : 0u) << name << candidate;
    EXPECT_EQ(nearestNames(candidate, std::vector<std::string>{name}).size(), isNear ? 1u : 0u) << "the other way";
  }
}

TEST(Names, FewerEditsFirstThenTheAlphabet) {
  std::vector<std::string> names = {"weight_c", "weight_b", "weights", "weight", "weight_a"};
  EXPECT_THAT(nearestNames("weight", names), ElementsAre("weight", "weights", "weight_a"));
  EXPECT_THAT(nearestNames("weight", names, 5), ElementsAre("weight", "weights", "weight_a", "weight_b", "weight_c"));
  EXPECT_THAT(nearestNames("weight", names, 9).size(), 5u);
  EXPECT_THAT(nearestNames("weight", names, 0), IsEmpty());
}

} // namespace
} // namespace meshplan
