//===- lookup_test.cpp - elements that self[indices] reads ----------------===//

#include "compiler/transforms/import/index_functions/index_functions.h"
#include "compiler/transforms/import/index_functions/lookup.h"
#include "test/unit/import/program_text.h"
#include "test/unit/indexing/evaluate.h"

using namespace meshplan;
using namespace meshplan::indexing;

namespace {

class LookupTest : public ProgramText {
protected:
  /// "operands by dim; rank of the index tensors at position", or "none". `types` are those of self and of the indices.
  std::string describe(llvm::StringRef indices, llvm::StringRef types, int64_t rank) {
    CallView view;
    view.args = attribute<mlir::DictionaryAttr>(("{indices = [" + indices + "]}").str());
    llvm::SmallVector<llvm::StringRef> parts;
    types.split(parts, ',', -1, false);
    for (llvm::StringRef part : parts)
      view.operands.push_back(type<mlir::RankedTensorType>(("tensor<" + part.trim() + ">").str()));
    int64_t indexRank = 0;
    for (const mlir::RankedTensorType &index : llvm::drop_begin(view.operands))
      indexRank = std::max(indexRank, index.getRank());
    int64_t resultRank = rank - static_cast<int64_t>(indices.count("#base.operand")) + indexRank;
    llvm::SmallVector<int64_t> shape(std::max<int64_t>(resultRank, 0), 1);
    view.results.push_back(mlir::RankedTensorType::get(shape, view.operands.front().getElementType()));
    std::optional<Lookup> lookup = describeLookup(view, rank);
    if (!lookup)
      return "none";
    std::string text;
    for (std::optional<unsigned> operand : lookup->operands)
      text += operand ? std::to_string(*operand) + " " : "- ";
    return text + "; " + std::to_string(lookup->indexRank) + " at " + std::to_string(lookup->position);
  }
};

constexpr char one[] = "#base.operand<1>", two[] = "#base.operand<2>";

TEST_F(LookupTest, OneIndexStandsInPlaceOfItsDim) {
  EXPECT_EQ(describe(one, "8x4xf32, 3xi64", 2), "1 - ; 1 at 0");
  EXPECT_EQ(describe(std::string("unit, ") + one, "8x4xf32, 3x5xi64", 2), "- 1 ; 2 at 1");
  EXPECT_EQ(describe(std::string("unit, unit, ") + one, "8x4x2xf32, i64", 3), "- - 1 ; 0 at 2");
}

TEST_F(LookupTest, NeighboursStandTogetherOthersInFront) {
  std::string both = std::string(one) + ", " + two;
  EXPECT_EQ(describe(both, "8x4xf32, 3xi64, 3xi64", 2), "1 2 ; 1 at 0");
  EXPECT_EQ(describe("unit, " + both, "2x8x4xf32, 3x1xi64, 5xi64", 3), "- 1 2 ; 2 at 1");
  EXPECT_EQ(describe(std::string(one) + ", unit, " + two, "8x2x4xf32, 3xi64, 3xi64", 3), "1 - 2 ; 1 at 0");
  EXPECT_EQ(describe(std::string("unit, ") + one + ", unit, " + two, "2x8x2x4xf32, 3xi64, 3xi64", 4),
            "- 1 - 2 ; 1 at 0");
}

TEST_F(LookupTest, WhatIsNoLookup) {
  EXPECT_EQ(describe("", "8xf32", 1), "none");
  EXPECT_EQ(describe("unit", "8xf32", 1), "none");
  EXPECT_EQ(describe(std::string(one) + ", " + one, "8xf32, 3xi64", 1), "none") << "more indices than dims";
  EXPECT_EQ(describe(one, "8xf32, 8xi1", 1), "none") << "a mask";
  EXPECT_EQ(describe(std::string(one) + ", " + two, "8x4xf32, 3xi64, 4xi1", 2), "none");
}

TEST_F(LookupTest, IndicesCountFromTheFrontOrTheEndOrNotAtAll) {
  ExprBuilder builder;
  auto range = [&](int64_t low, int64_t high) {
    Expr index = builder.element(0, {}, {ExprType::Integer, low, high});
    return text(withinDim(builder, index, 8));
  };
  EXPECT_EQ(range(0, 7), "%0[]");
  EXPECT_EQ(range(-8, -1), "(%0[] + 8)");
  EXPECT_EQ(range(-3, -2), "(%0[] + 8)");
  EXPECT_EQ(range(0, 8), "null");
  EXPECT_EQ(range(-9, -1), "null");
  EXPECT_EQ(range(-1, 7), "null") << "some count from the end";
  EXPECT_EQ(text(withinDim(builder, builder.integer(-8), 8)), "0");
  EXPECT_EQ(text(withinDim(builder, builder.boolean(true), 8)), "null");
  EXPECT_EQ(text(withinDim(builder, nullptr, 8)), "null");
}

TEST_F(LookupTest, ReadsTheSameElementsAsPyTorch) {
  // self[:, i, :, j] of a tensor of 3 x 4 x 5 x 6 with i = 3 - d, j = 2 * d: the dim of the indices comes first.
  read("", {"n = aten.arange.default() {end = 3} : 3xi64",
            "i = aten.rsub.Scalar(n: 3xi64) {self = #base.operand<0>, other = 3} : 3xi64",
            "j = aten.mul.Tensor(n: 3xi64) {self = #base.operand<0>, other = 2} : 3xi64",
            "a = aten.arange.default() {end = 360} : 360xi64",
            "x = aten.view.default(a: 360xi64) {self = #base.operand<0>, size = [3, 4, 5, 6]} : 3x4x5x6xi64",
            "r = aten.index.Tensor(x: 3x4x5x6xi64, i: 3xi64, j: 3xi64) {self = #base.operand<0>, indices = [unit, "
            "#base.operand<1>, unit, #base.operand<2>]} : 3x3x5xi64"});
  IndexFunctions functions;
  Expr element = functions.of(last());
  forEachElement({3, 3, 5}, [&](const Coordinates &at) {
    int64_t expected = ((at[1] * 4 + (3 - at[0])) * 5 + at[2]) * 6 + 2 * at[0];
    EXPECT_EQ(evaluate(element, at), expected) << text(element);
  });
}

TEST_F(LookupTest, JoinedPartsAreReadWhereTheyLie) {
  read("", {"a = aten.arange.start() {start = 10, end = 13} : 3xi64",
            "b = aten.arange.start() {start = 20, end = 21} : 1xi64",
            "c = aten.arange.start() {start = 30, end = 32} : 2xi64",
            "r = aten.cat.default(a: 3xi64, b: 1xi64, c: 2xi64) {tensors = [#base.operand<0>, #base.operand<1>, "
            "#base.operand<2>], dim = -1} : 6xi64"});
  IndexFunctions functions;
  Expr element = functions.of(last());
  std::vector<int64_t> expected = {10, 11, 12, 20, 30, 31};
  for (int64_t at = 0; at < 6; ++at)
    EXPECT_EQ(evaluate(element, {at}), expected[at]);
}

} // namespace
