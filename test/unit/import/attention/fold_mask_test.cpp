//===- fold_mask_test.cpp - folded masks against the masks themselves -----===//

#include "compiler/transforms/import/attention/fold_mask.h"
#include "test/unit/import/program_text.h"
#include "test/unit/indexing/evaluate.h"

using namespace meshplan;
using namespace meshplan::indexing;

namespace {

/// Scores of 2 samples, 3 heads, 4 queries and 5 keys. `row` has the positions of the queries as a column, `key` those
/// of the keys.
class FoldMask : public ProgramText {
protected:
  /// Folds the mask %m of the lines for an attention after it, and checks that a query sees a key by the folded form
  /// exactly if it does by the mask. Returns "causal window keys mask" for the parts of the form.
  std::string fold(std::vector<std::string> lines, llvm::StringRef arguments = "", ScoreShape scores = {2, 3, 4, 5}) {
    std::vector<std::string> all = {
        "key = aten.arange.default() {end = 5} : 5xi64", "query = aten.arange.default() {end = 4} : 4xi64",
        "row = aten.unsqueeze.default(query: 4xi64) {self = #base.operand<0>, dim = 1} : 4x1xi64"};
    llvm::append_range(all, lines);
    all.push_back("o = meshplan.attention() {} : 1xf32");
    read(arguments, all);
    IndexFunctions functions;
    MaskFolder folder(functions);
    mlir::Value mask = op(all.size() - 2)->getResult(0);
    std::optional<FoldedMask> folded = folder.fold(mask, scores, call(all.size() - 1));
    if (!folded)
      return "does not broadcast";
    std::optional<FoldedMask> again = folder.fold(mask, scores, call(all.size() - 1));
    EXPECT_TRUE(again->mask == folded->mask && again->keyMask == folded->keyMask) << "layers share what is folded";
    std::string keyMaskType = folded->keyMask ? print(folded->keyMask.getType()) : "tensor<2x5xi1>";
    EXPECT_EQ(keyMaskType, "tensor<2x5xi1>") << "of batch and keys";
    forEachElement({scores.batch, scores.heads, scores.queries, scores.keys}, [&](const Coordinates &at) {
      bool seen = !folded->causal || at[3] <= at[2];
      seen &= folded->window == 0 || at[2] - at[3] < folded->window;
      seen &= !folded->keyMask || isSeen(functions, folded->keyMask, {at[0], at[3]});
      seen &= !folded->mask || isSeen(functions, folded->mask, at);
      EXPECT_EQ(seen, isSeen(functions, mask, at)) << testing::PrintToString(at);
    });
    return std::string(folded->causal ? "causal" : "-") + " " + std::to_string(folded->window) + " " +
           (folded->keyMask ? "keys" : "-") + " " +
           (!folded->mask          ? "-"
            : folded->mask == mask ? "itself"
                                   : "mask");
  }

  /// Whether a mask, which broadcasts to `at`, sees the key. Unknown tensors have arbitrary elements.
  static bool isSeen(IndexFunctions &functions, mlir::Value mask, llvm::ArrayRef<int64_t> at) {
    auto type = mlir::cast<mlir::RankedTensorType>(mask.getType());
    Indices indices;
    for (auto [extent, index] : llvm::zip(type.getShape(), at.take_back(type.getRank())))
      indices.push_back(functions.builder.integer(extent == 1 ? 0 : index));
    Expr element = functions.at(mask, indices);
    if (element->kind == ExprKind::Number)
      return element->number == 0;
    if (element->type == ExprType::Real)
      element = asAddedMask(functions.builder, element)->condition;
    return evaluate(element, {}, [](int64_t tensor, const Coordinates &where) {
      int64_t hash = tensor + 1;
      for (int64_t index : where)
        hash = (hash * 5 + index * 3 + 1) % 7;
      return hash % 3 != 0;
    });
  }

  static std::string compare(llvm::StringRef to, llvm::StringRef how, llvm::StringRef left = "key: 5xi64",
                             llvm::StringRef right = "row: 4x1xi64") {
    return (to + " = aten." + how + ".Tensor(" + left + ", " + right +
            ") {self = #base.operand<0>, other = #base.operand<1>} : 4x5xi1")
        .str();
  }
  static std::string both(llvm::StringRef to, llvm::StringRef left, llvm::StringRef right, llvm::StringRef type,
                          llvm::StringRef how = "__and__") {
    return (to + " = aten." + how + ".Tensor(" + left + ", " + right +
            ") {self = #base.operand<0>, other = #base.operand<1>} : " + type)
        .str();
  }
};

TEST_F(FoldMask, CausalOrderIsAProperty) {
  EXPECT_EQ(fold({compare("m", "le")}), "causal 0 - -");
  EXPECT_EQ(fold({compare("m", "ge", "row: 4x1xi64", "key: 5xi64")}), "causal 0 - -");
  EXPECT_EQ(fold({compare("n", "gt"), "m = aten.logical_not.default(n: 4x5xi1) {self = #base.operand<0>} : 4x5xi1"}),
            "causal 0 - -");
}

TEST_F(FoldMask, OtherOrdersStay) {
  for (const char *how : {"lt", "gt", "eq", "ne"})
    EXPECT_EQ(fold({compare("m", how)}), "- 0 - mask") << how;
}

TEST_F(FoldMask, AWindowIsAProperty) {
  std::vector<std::string> window = {
      "d = aten.sub.Tensor(row: 4x1xi64, key: 5xi64) {self = #base.operand<0>, other = #base.operand<1>} : 4x5xi64",
      "n = aten.lt.Scalar(d: 4x5xi64) {self = #base.operand<0>, other = 2} : 4x5xi1"};
  std::vector<std::string> causal = window;
  causal.insert(causal.end(), {compare("c", "le"), both("m", "n: 4x5xi1", "c: 4x5xi1", "4x5xi1")});
  EXPECT_EQ(fold(causal), "causal 2 - -");
  EXPECT_EQ(fold({compare("m", "ge")}), "- 1 - -") << "keys from the query on: a window of one";
  window.push_back("m = aten.clone.default(n: 4x5xi1) {self = #base.operand<0>} : 4x5xi1");
  EXPECT_EQ(fold(window), "- 2 - -");
}

TEST_F(FoldMask, EverythingSeenIsNoMask) {
  EXPECT_EQ(fold({"m = aten.full.default() {size = [1, 1, 4, 5], fill_value = true, dtype = i1} : 1x1x4x5xi1"}),
            "- 0 - -");
  EXPECT_EQ(fold({"m = aten.zeros.default() {size = [4, 5], dtype = f32} : 4x5xf32"}), "- 0 - -");
}

TEST_F(FoldMask, NothingSeenStays) {
  EXPECT_EQ(fold({"m = aten.full.default() {size = [1, 1, 4, 5], fill_value = false, dtype = i1} : 1x1x4x5xi1"}),
            "- 0 - itself");
}

TEST_F(FoldMask, KeysThatAreHiddenAreAKeyMask) {
  EXPECT_EQ(fold({compare("c", "le"), both("m", "c: 4x5xi1", "p: 2x1x1x5xi1", "2x1x4x5xi1")}, "p: 2x1x1x5xi1"),
            "causal 0 keys -");
  EXPECT_EQ(fold({"m = aten.expand.default(p: 2x1x1x5xi1) {self = #base.operand<0>, size = [2, 3, 4, 5]} : 2x3x4x5xi1"},
                 "p: 2x1x1x5xi1"),
            "- 0 keys -");
}

TEST_F(FoldMask, KeysOfAllSamplesAndSamplesOfAllKeys) {
  EXPECT_EQ(fold({both("m", "p: 5xi1", "p: 5xi1", "5xi1")}, "p: 5xi1"), "- 0 keys -");
  EXPECT_EQ(fold({"q = aten.view.default(p: 2xi1) {self = #base.operand<0>, size = [2, 1, 1, 1]} : 2x1x1x1xi1",
                  "m = aten.expand.default(q: 2x1x1x1xi1) {self = #base.operand<0>, size = [2, 1, 4, 5]} : 2x1x4x5xi1"},
                 "p: 2xi1"),
            "- 0 keys -");
}

TEST_F(FoldMask, TheFirstKeysOfALongerMaskAreReadFromTheirSlice) {
  EXPECT_EQ(fold({"v = aten.view.default(p: 2x8xi1) {self = #base.operand<0>, size = [2, 1, 1, 8]} : 2x1x1x8xi1",
                  "s = aten.slice.Tensor(v: 2x1x1x8xi1) {self = #base.operand<0>, dim = 3, end = 5} : 2x1x1x5xi1",
                  compare("c", "le"), both("m", "c: 4x5xi1", "s: 2x1x1x5xi1", "2x1x4x5xi1")},
                 "p: 2x8xi1"),
            "causal 0 keys -");
}

TEST_F(FoldMask, TwoMasksOfKeysAreJoined) {
  EXPECT_EQ(fold({compare("c", "le"), both("n", "c: 4x5xi1", "p: 2x1x1x5xi1", "2x1x4x5xi1"),
                  both("m", "n: 2x1x4x5xi1", "q: 5xi1", "2x1x4x5xi1")},
                 "p: 2x1x1x5xi1; q: 5xi1"),
            "causal 0 keys -");
}

TEST_F(FoldMask, WhatDependsOnQueriesStaysAMask) {
  EXPECT_EQ(fold({compare("c", "le"), both("m", "c: 4x5xi1", "p: 2x1x4x5xi1", "2x1x4x5xi1")}, "p: 2x1x4x5xi1"),
            "causal 0 - mask");
  EXPECT_EQ(fold({both("m", "p: 2x1x4x5xi1", "q: 5xi1", "2x1x4x5xi1", "__or__")}, "p: 2x1x4x5xi1; q: 5xi1"),
            "- 0 - itself");
}

TEST_F(FoldMask, WhatIsAddedHidesIfItIsInfinite) {
  auto added = [&](llvm::StringRef number, llvm::StringRef type) {
    return fold({compare("c", "le"),
                 ("m = aten.where.Scalar(c: 4x5xi1) {condition = #base.operand<0>, self = 0.0, other = " + number +
                  "} : 4x5x" + type)
                     .str()});
  };
  EXPECT_EQ(added("0xFFF0000000000000 : f64", "f32"), "causal 0 - -");
  EXPECT_EQ(added("0xFFF0000000000000 : f64", "f16"), "causal 0 - -");
  EXPECT_EQ(added("-3.4028234663852886e+38", "f32"), "causal 0 - -") << "the lowest number, as each query sees itself";
  EXPECT_EQ(added("-65504.0", "f16"), "- 0 - mask") << "scores of f16 come close to it";
  EXPECT_EQ(added("-1.0", "f32"), "- 0 - mask");
  EXPECT_EQ(added("-1.0e30", "f32"), "- 0 - mask");
}

TEST_F(FoldMask, TheLowestNumberHidesOnlyBesideAKeyThatIsSeen) {
  // If a row has no other scores, the softmax is uniform over it.
  constexpr char lowest[] = ") {condition = #base.operand<0>, self = 0.0, other = -3.4028234663852886e+38} : ";
  EXPECT_EQ(fold({std::string("m = aten.where.Scalar(p: 2x1x1x5xi1") + lowest + "2x1x1x5xf32"}, "p: 2x1x1x5xi1"),
            "- 0 - itself");
  EXPECT_EQ(fold({compare("c", "le"), std::string("m = aten.where.Scalar(c: 4x5xi1") + lowest + "4x5xf32"}),
            "causal 0 - -");
}

TEST_F(FoldMask, ABooleanThatIsAddedIsNoMask) {
  // It adds 1 where it is true, and hides nothing.
  read("p: 2x1x1x5xi1",
       {"z = aten.full.default() {size = [4, 5], fill_value = 0xFFF0000000000000 : f64, dtype = f32} : 4x5xf32",
        "d = aten.triu.default(z: 4x5xf32) {self = #base.operand<0>, diagonal = 1} : 4x5xf32",
        both("m", "d: 4x5xf32", "p: 2x1x1x5xi1", "2x1x4x5xf32", "add"), "o = meshplan.attention() {} : 1xf32"});
  IndexFunctions functions;
  std::optional<FoldedMask> folded = MaskFolder(functions).fold(call(2).getResult(0), {2, 3, 4, 5}, call(3));
  ASSERT_TRUE(folded);
  EXPECT_FALSE(folded->keyMask);
  EXPECT_EQ(folded->mask, call(2).getResult(0));
}

TEST_F(FoldMask, WhatIsAddedSeveralTimesStays) {
  // The bias is added twice beside the mask: folded, it would be added once.
  for (llvm::StringRef alpha : {"1", "2"}) {
    read("b: 2x3x1x5xf32",
         {"z = aten.full.default() {size = [4, 5], fill_value = 0xFFF0000000000000 : f64, dtype = f32} : 4x5xf32",
          "d = aten.triu.default(z: 4x5xf32) {self = #base.operand<0>, diagonal = 1} : 4x5xf32",
          ("m = aten.add.Tensor(d: 4x5xf32, b: 2x3x1x5xf32) {self = #base.operand<0>, other = #base.operand<1>, alpha "
           "= " +
           alpha + "} : 2x3x4x5xf32")
              .str(),
          "o = meshplan.attention() {} : 1xf32"});
    IndexFunctions functions;
    std::optional<FoldedMask> folded = MaskFolder(functions).fold(call(2).getResult(0), {2, 3, 4, 5}, call(3));
    ASSERT_TRUE(folded);
    EXPECT_EQ(folded->causal, alpha == "1");
    EXPECT_EQ(folded->mask, alpha == "1" ? argument(0) : call(2).getResult(0));
  }
}

TEST_F(FoldMask, MasksHaveTheShapeOfTheScores) {
  EXPECT_EQ(fold({compare("m", "le")}, "", {2, 3, 4, 6}), "does not broadcast");
  EXPECT_EQ(
      fold({"m = aten.view.default(p: 2x3x4x5xi1) {self = #base.operand<0>, size = [1, 2, 3, 4, 5]} : 1x2x3x4x5xi1"},
           "p: 2x3x4x5xi1"),
      "does not broadcast");
}

} // namespace
