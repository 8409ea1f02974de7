//===- nearest_test.cpp - the names that a user may have meant -------------===//

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

} // namespace
