//===- names_test.cpp -----------------------------------------------------===//

#include "runtime/base/names.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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

} // namespace
} // namespace meshplan
