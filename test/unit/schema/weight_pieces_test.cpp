//===- weight_pieces_test.cpp - the tensors of a weight file --------------===//

#include "runtime/schema/weight_pieces.h"

#include <gmock/gmock.h>

using namespace meshplan;
using testing::ElementsAre;

namespace {

std::string faultOf(const WeightPieces &pieces, const std::vector<int64_t> &shape) {
  return piecesFault(pieces, shape);
}

std::vector<WeightPiece> expanded(const WeightPieces &pieces, const std::vector<int64_t> &shape) {
  EXPECT_EQ(faultOf(pieces, shape), "");
  return piecesOf(pieces, shape);
}

} // namespace

TEST(WeightPieces, AnotherNameIsOnePiece) {
  std::vector<WeightPiece> pieces = expanded({{"a.b"}, {""}, {3}, 0, 0}, {3, 5});
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].name, "a.b");
  EXPECT_THAT(pieces[0].begin, ElementsAre(0, 0));
  EXPECT_THAT(pieces[0].shape, ElementsAre(3, 5));
  EXPECT_THAT(pieces[0].stored, ElementsAre(3, 5));
}

TEST(WeightPieces, StackedPartsAreNumbered) {
  std::vector<WeightPiece> pieces = expanded({{"e.", "e."}, {".a", ".b"}, {4, 2}, 1, 3}, {3, 6, 5});
  ASSERT_EQ(pieces.size(), 6u);
  EXPECT_EQ(pieces[0].name, "e.0.a");
  EXPECT_EQ(pieces[5].name, "e.2.b");
  EXPECT_THAT(pieces[5].begin, ElementsAre(2, 4, 0));
  EXPECT_THAT(pieces[5].shape, ElementsAre(1, 2, 5));
  EXPECT_THAT(pieces[5].stored, ElementsAre(2, 5));
}

TEST(WeightPieces, OfVectorsAndScalars) {
  EXPECT_THAT(expanded({{"s"}, {""}, {1}, 0, 0}, {})[0].stored, ElementsAre());
  std::vector<WeightPiece> pieces = expanded({{"s."}, {""}, {1}, 1, 2}, {2});
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[1].name, "s.1");
  EXPECT_THAT(pieces[1].begin, ElementsAre(1));
  EXPECT_THAT(pieces[1].stored, ElementsAre());
}

TEST(WeightPieces, CoverAParameterOnce) {
  EXPECT_EQ(faultOf({{"a", "b"}, {"", ""}, {2, 2}, 0, 0}, {5}), "its parts are less than dim 0");
  EXPECT_EQ(faultOf({{"a", "b"}, {"", ""}, {2, 4}, 0, 0}, {5}), "its parts are more than dim 0");
  EXPECT_EQ(faultOf({{"a", "b"}, {"", ""}, {6, -1}, 0, 0}, {5}), "a part has a negative size");
  EXPECT_EQ(faultOf({{"a", "b"}, {"", ""}, {INT64_MAX, INT64_MAX}, 0, 0}, {5}), "its parts are more than dim 0");
  EXPECT_EQ(faultOf({{}, {}, {}, 0, 0}, {5}), "its lists have different lengths, or are empty");
  EXPECT_EQ(faultOf({{"a"}, {}, {5}, 0, 0}, {5}), "its lists have different lengths, or are empty");
  EXPECT_EQ(faultOf({{"a"}, {""}, {5}, 1, 4}, {3, 5}), "it stacks 4 tensors");
  EXPECT_EQ(faultOf({{"a"}, {""}, {5}, 1, -1}, {3, 5}), "it stacks -1 tensors");
  EXPECT_EQ(faultOf({{"a"}, {""}, {1}, 1, 3}, {}), "it stacks 3 tensors");
  EXPECT_EQ(faultOf({{"a"}, {""}, {3}, 0, 3}, {3, 5}), "it has no dim 0 to divide");
  EXPECT_EQ(faultOf({{"a"}, {""}, {5}, 2, 0}, {3, 5}), "it has no dim 2 to divide");
  EXPECT_EQ(faultOf({{"a"}, {""}, {5}, -1, 0}, {3, 5}), "it has no dim -1 to divide");
  EXPECT_EQ(faultOf({{"a"}, {""}, {2}, 0, 0}, {}), "it has no dim 0 to divide");
}
