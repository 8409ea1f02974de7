//===- einsum_test.cpp - products as einsum equations ---------------------===//

#include "compiler/sharding/record_support/einsum.h"
#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;

namespace {

class EinsumTest : public CallTest {
protected:
  /// `types` are those of the tensors and of the result; each tensor is a separate operand.
  CallView call(llvm::StringRef equation, llvm::StringRef types) {
    std::string list;
    for (size_t operand = 0; operand < types.split("->").first.count("tensor<"); ++operand)
      list += (operand == 0 ? "" : ", ") + ("#base.operand<" + std::to_string(operand) + ">");
    return of(equation, list, types);
  }
  CallView of(llvm::StringRef equation, llvm::StringRef list, llvm::StringRef types) {
    return parse("aten.einsum.default", "{equation = \"" + equation.str() + "\", tensors = [" + list.str() + "]}",
                 types);
  }
  std::string rule(llvm::StringRef equation, llvm::StringRef types) {
    return describe(einsumRule(call(equation, types)));
  }
  OpCost cost(llvm::StringRef equation, llvm::StringRef types, llvm::ArrayRef<Strides> strides = {}) {
    CallView product = call(equation, types);
    product.strides.assign(strides.begin(), strides.end());
    return einsumCost(product);
  }
  Strides strides(llvm::StringRef equation, llvm::StringRef types) { return einsumStrides(call(equation, types), 0); }
};

TEST_F(EinsumTest, ALetterIsAFactor) {
  EXPECT_EQ(rule("ab,bc->ac", "(tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>"),
            "[a, b], [b, c] -> [a, c]; a=2 b=3:sum c=5");
  EXPECT_EQ(rule("bqd,bkd->kbq", "(tensor<2x4x8xf32>, tensor<2x6x8xf32>) -> tensor<6x2x4xf32>"),
            "[a, b, c], [a, d, c] -> [d, a, b]; a=2 b=4 c=8:sum d=6");
  EXPECT_EQ(rule("ij->ji", "(tensor<2x3xf32>) -> tensor<3x2xf32>"), "[a, b] -> [b, a]; a=2 b=3");
  EXPECT_EQ(rule("ij->", "(tensor<2x3xf32>) -> tensor<f32>"), "[a, b] -> []; a=2:sum b=3:sum");
  EXPECT_EQ(rule("a,b,ab->b", "(tensor<2xf32>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<3xf32>"),
            "[a], [b], [a, b] -> [b]; a=2:sum b=3");
  EXPECT_EQ(rule("aB,Bc->ac", "(tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>"),
            "[a, b], [b, c] -> [a, c]; a=2 b=3:sum c=5")
      << "large letters are others than small ones";
}

TEST_F(EinsumTest, SpacesSayNothing) {
  EXPECT_EQ(rule(" a b, b c -> a c ", "(tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>"),
            "[a, b], [b, c] -> [a, c]; a=2 b=3:sum c=5");
}

TEST_F(EinsumTest, WithoutAnArrowTheResultIsSorted) {
  // As in PyTorch: the letters that occur once, in alphabetical order with capitals first.
  EXPECT_EQ(rule("ca,ab", "(tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>"),
            "[a, b], [b, c] -> [c, a]; a=2 b=3:sum c=4");
  EXPECT_EQ(rule("aZ", "(tensor<2x3xf32>) -> tensor<3x2xf32>"), "[a, b] -> [b, a]; a=2 b=3");
  EXPECT_EQ(rule("a,a", "(tensor<2xf32>, tensor<2xf32>) -> tensor<f32>"), "[a], [a] -> []; a=2:sum");
}

TEST_F(EinsumTest, WhatIsNotOneLetterForEachDimDividesNothing) {
  struct {
    const char *equation, *types;
  } cases[] = {
      {"...b,bc->...c", "(tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>"}, // an ellipsis
      {"aa->a", "(tensor<3x3xf32>) -> tensor<3xf32>"},                            // a diagonal
      {"ab->aab", "(tensor<2x3xf32>) -> tensor<2x2x3xf32>"},                      // twice in the result
      {"ab,bc->ac", "(tensor<2x3xf32>) -> tensor<2x5xf32>"},                      // one tensor missing
      {"ab->ab", "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>"},        // one too many
      {"abc,cd->abd", "(tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x3x5xf32>"}, // one dim missing
      {"ab,bc->a", "(tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>"},      // in the result
      {"ab,bc->ad", "(tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>"},     // a letter of no operand
      {"a1->a1", "(tensor<2x3xf32>) -> tensor<2x3xf32>"},                         // no letter
      {"ab,bc->ac", "(tensor<2x3xf32>, tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>)"},
  };
  for (auto [equation, types] : cases) {
    FactorRule rule = einsumRule(call(equation, types));
    EXPECT_FALSE(rule.factors.empty());
    for (const Factor &factor : rule.factors)
      EXPECT_EQ(factor.kind, FactorKind::whole) << equation << " " << types;
    EXPECT_EQ(cost(equation, types).flops, 0) << equation;
  }
}

TEST_F(EinsumTest, OperandsThatAreNotListedOnceDivideNothing) {
  constexpr char types[] = "(tensor<3x3xf32>) -> tensor<3x3xf32>";
  CallView square = of("ab,bc->ac", "#base.operand<0>, #base.operand<0>", types);
  EXPECT_EQ(describe(einsumRule(square)), "[a, b] -> [c, d]; a=3:whole b=3:whole c=3:whole d=3:whole");
  EXPECT_EQ(describe(einsumLinearity(square)), "") << "it is a square";
  EXPECT_EQ(einsumCost(square).flops, 2 * 3 * 3 * 3) << "its work is that of any other product";
  constexpr char pair[] = "(tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>";
  CallView swapped = of("ab,bc->ac", "#base.operand<1>, #base.operand<0>", pair);
  EXPECT_EQ(describe(einsumRule(swapped)),
            "[a, b], [c, d] -> [e, f]; a=2:whole b=3:whole c=3:whole d=2:whole e=2:whole f=2:whole")
      << "operands in another order than listed";
  EXPECT_EQ(describe(einsumLinearity(swapped)), "");
  CallView unread = of("ab->ba", "#base.operand<0>", "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3x2xf32>");
  EXPECT_EQ(describe(einsumRule(unread)),
            "[a, b], [c, d] -> [e, f]; a=2:whole b=3:whole c=2:whole d=3:whole e=3:whole f=2:whole")
      << "one that is not listed";
  EXPECT_EQ(describe(einsumLinearity(unread)), "");
}

TEST_F(EinsumTest, EachOperandAloneIsLinear) {
  auto linear = [&](llvm::StringRef equation, llvm::StringRef types) {
    return describe(einsumLinearity(call(equation, types)));
  };
  EXPECT_EQ(linear("ab,bc->ac", "(tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>"), "{0} {1}");
  EXPECT_EQ(linear("a,a,a->a", "(tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>"), "{0} {1} {2}");
  EXPECT_EQ(linear("...b,bc->...c", "(tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>"), "{0} {1}")
      << "whatever its letters are";
  EXPECT_EQ(linear("a,a->a", "(tensor<2xf32>, tensor<2xbf16>) -> tensor<2xbf16>"), "{1}") << "rounded sums are others";
  EXPECT_EQ(linear("a,a->a", "(tensor<2xf32>, tensor<2xf32>) -> ()"), "");
}

TEST_F(EinsumTest, AProductCostsTwoFlopsForEachTerm) {
  OpCost matrices = cost("ab,bc->ac", "(tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>");
  EXPECT_EQ(matrices.flops, 2 * 2 * 3 * 5);
  EXPECT_EQ(matrices.bytes, 4 * (6 + 15 + 10));
  EXPECT_EQ(matrices.workspaceBytes, 0);
  EXPECT_FALSE(matrices.aliases);
  EXPECT_EQ(cost("bqde,bked->bqk", "(tensor<2x4x8x3xf32>, tensor<2x6x3x8xf32>) -> tensor<2x4x6xf32>").flops,
            2 * (2 * 4 * 6) * (8 * 3))
      << "several letters may be summed";
}

TEST_F(EinsumTest, WhatIsNoProductOfMatricesOnlyMovesBytes) {
  struct {
    const char *equation, *types;
    int64_t bytes;
  } cases[] = {
      {"ij->ji", "(tensor<2x3xf32>) -> tensor<3x2xf32>", 48},
      {"ij,ij->ij", "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>", 72}, // without a sum
      {"a,b->ab", "(tensor<2xf32>, tensor<3xf32>) -> tensor<2x3xf32>", 44},
  };
  for (auto [equation, types, bytes] : cases) {
    OpCost moved = cost(equation, types);
    EXPECT_EQ(moved.flops + moved.workspaceBytes, 0) << equation;
    EXPECT_EQ(moved.bytes, bytes) << equation;
  }
}

TEST_F(EinsumTest, WhatOneOperandHasAloneIsSummedBefore) {
  struct {
    const char *equation, *types;
    int64_t flops, workspace;
  } cases[] = {
      {"ab,b->b", "(tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>", 6, 12},
      {"b,ab->b", "(tensor<3xf32>, tensor<2x3xf32>) -> tensor<3xf32>", 6, 12},
      {"abd,bd->b", "(tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<3xf32>", 24 + 2 * 12, 48},
      {"bd,abd->b", "(tensor<3x4xf32>, tensor<2x3x4xf32>) -> tensor<3xf32>", 24 + 2 * 12, 48},
      {"ebqd,bkd->kbq", "(tensor<2x3x4x5xf32>, tensor<3x6x5xf32>) -> tensor<6x3x4xf32>", 120 + 2 * 360, 240},
      {"ax,bx->", "(tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<f32>", 6 + 12 + 2 * 3, 24},
  };
  for (auto [equation, types, flops, workspace] : cases) {
    EXPECT_EQ(cost(equation, types).flops, flops) << equation;
    EXPECT_EQ(cost(equation, types).workspaceBytes, workspace) << equation;
  }
}

TEST_F(EinsumTest, ProductsOfSeveralAreHeldUntilTheyAreMultiplied) {
  EXPECT_EQ(cost("a,a,a->a", "(tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>").workspaceBytes, 8);
  // 2x4 floats, then 2x6 beside them, then 2x6 beside the result of 2x1.
  constexpr char chain[] = "(tensor<2x3xf32>, tensor<3x4xf32>, tensor<4x6xf32>, tensor<6x1xf32>) -> tensor<2x1xf32>";
  OpCost four = cost("ab,bc,cd,de->ae", chain);
  EXPECT_EQ(four.workspaceBytes, 4 * (2 * 4 + 2 * 6) - 4 * 2) << "the result is not there yet";
  EXPECT_EQ(four.flops, 2 * (2 * 3 * 4 + 2 * 4 * 6 + 2 * 6));
  EXPECT_EQ(
      cost("ab,bc,cd->ad", "(tensor<2x3xf32>, tensor<3x9xf32>, tensor<9x6xf32>) -> tensor<2x6xf32>").workspaceBytes,
      4 * (2 * 9));
}

TEST_F(EinsumTest, APathNamesWhatIsMultiplied) {
  auto workspace = [&](llvm::StringRef path) {
    return einsumCost(parse("aten.einsum.default",
                            "{equation = \"ab,bc,cd->ad\", path = " + path.str() +
                                ", tensors = [#base.operand<0>, #base.operand<1>, #base.operand<2>]}",
                            "(tensor<2x3xf32>, tensor<3x9xf32>, tensor<9x6xf32>) -> tensor<2x6xf32>"))
        .workspaceBytes;
  };
  EXPECT_EQ(workspace("[0, 1, 0, 1]"), 4 * (2 * 9));
  EXPECT_EQ(workspace("[1, 2, 0, 1]"), 4 * (3 * 6));
  EXPECT_EQ(workspace("[2, 1, 1, 0]"), 4 * (3 * 6)) << "in either order";
  for (const char *none : {"[0, 1]", "[0, 0, 0, 1]", "[0, 3, 0, 1]", "[-1, 1, 0, 1]"})
    EXPECT_EQ(workspace(none), 0) << none;
}

TEST_F(EinsumTest, OperandsBecomeListsOfMatrices) {
  // b, q, d and b, d, k are already in the required order.
  EXPECT_EQ(cost("bqd,bdk->bqk", "(tensor<2x4x8xf32>, tensor<2x8x6xf32>) -> tensor<2x4x6xf32>").workspaceBytes, 0);
  EXPECT_EQ(cost("bqd,bkd->bqk", "(tensor<2x4x8xf32>, tensor<2x6x8xf32>) -> tensor<2x4x6xf32>").workspaceBytes, 0)
      << "a turned matrix needs no copy";
  // In the first operand, b and h are one dim only if they are adjacent in memory.
  constexpr char heads[] = "(tensor<2x4x3x8xf32>, tensor<2x3x8x6xf32>) -> tensor<2x3x4x6xf32>";
  EXPECT_EQ(cost("bqhd,bhdk->bhqk", heads).workspaceBytes, 4 * (2 * 4 * 3 * 8));
  EXPECT_EQ(cost("bqhd,bhdk->bhqk", heads, {{96, 8, 32, 1}, {144, 48, 6, 1}}).workspaceBytes, 0)
      << "they do, in a tensor that was turned before";
  constexpr char late[] = "(tensor<2x3x4x8xf32>, tensor<2x8x3x6xbf16>) -> tensor<2x3x4x6xf32>";
  EXPECT_EQ(cost("bhqd,bdhk->bhqk", late).workspaceBytes, 2 * (2 * 8 * 3 * 6)) << "the second, in its own type";
}

TEST_F(EinsumTest, TheOrderOfGroupsIsThatOfTheResult) {
  // In the result, the letters of the operand's own dims are in the order e, c; in the operand c, e.
  EXPECT_EQ(cost("abce,bd->aecd", "(tensor<2x3x4x5xf32>, tensor<3x6xf32>) -> tensor<2x5x4x6xf32>").workspaceBytes,
            4 * (2 * 3 * 4 * 5));
  EXPECT_EQ(cost("acb,bd->acd", "(tensor<2x4x3xf32>, tensor<3x6xf32>) -> tensor<2x4x6xf32>").workspaceBytes, 0);
  // Summed letters are sorted: x before y.
  EXPECT_EQ(cost("ayx,yxd->ad", "(tensor<2x3x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6xf32>").workspaceBytes,
            4 * (2 * 3 * 4) + 4 * (3 * 4 * 6));
  EXPECT_EQ(cost("axy,xyd->ad", "(tensor<2x3x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6xf32>").workspaceBytes, 0);
}

TEST_F(EinsumTest, ResultsLieAsPyTorchMakesThem) {
  // The strides of torch.einsum in PyTorch 2.11.
  struct {
    const char *equation, *types;
    Strides strides;
  } cases[] = {
      {"ab,bc->ac", "(tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>", {5, 1}},
      {"bqd,bkd->bqk", "(tensor<2x4x8xf32>, tensor<2x6x8xf32>) -> tensor<2x4x6xf32>", {24, 6, 1}},
      {"bhqd,bhkd->bqhk", "(tensor<2x3x4x8xf32>, tensor<2x3x5x8xf32>) -> tensor<2x4x3x5xf32>", {60, 5, 20, 1}},
      {"nchw,oc->nohw", "(tensor<2x3x4x5xf32>, tensor<6x3xf32>) -> tensor<2x6x4x5xf32>", {120, 1, 30, 6}},
      {"oc,nchw->nohw", "(tensor<6x3xf32>, tensor<2x3x4x5xf32>) -> tensor<2x6x4x5xf32>", {20, 40, 5, 1}},
      {"bij,jk->ikb", "(tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<3x5x2xf32>", {10, 1, 5}},
      {"abcd,cdef->afbe", "(tensor<2x3x4x5xf32>, tensor<4x5x6x7xf32>) -> tensor<2x7x3x6xf32>", {126, 6, 42, 1}},
      // Several products in sequence.
      {"bqi,ij,jk->kbq", "(tensor<2x3x4xf32>, tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<6x2x3xf32>", {1, 18, 6}},
      {"ij,jk,kl,lm->mi",
       "(tensor<2x3xf32>, tensor<3x4xf32>, tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<6x2xf32>",
       {1, 6}},
      {"bq,bk,bd->qdbk", "(tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x5xf32>) -> tensor<3x5x2x4xf32>", {20, 4, 60, 1}},
      {"abc,cd,abd->ba", "(tensor<2x3x4xf32>, tensor<4x5xf32>, tensor<2x3x5xf32>) -> tensor<3x2xf32>", {2, 1}},
      // An elementwise product.
      {"ij,ij->ij", "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>", {3, 1}},
      {"a,b->ba", "(tensor<2xf32>, tensor<3xf32>) -> tensor<3x2xf32>", {2, 1}},
      {"ab,ab->b", "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3xf32>", {1}},
      {"ji,ji->ij", "(tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>", {1, 2}},
      {"ij,ji->ij", "(tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>", {3, 1}},
      {"ji,j->ij", "(tensor<3x2xf32>, tensor<3xf32>) -> tensor<2x3xf32>", {1, 2}},
      {"eji,j->ij", "(tensor<4x3x2xf32>, tensor<3xf32>) -> tensor<2x3xf32>", {3, 1}},
      // A letter of one operand alone is summed first.
      {"ebqd,bkd->kbq", "(tensor<2x3x4x5xf32>, tensor<3x6x5xf32>) -> tensor<6x3x4xf32>", {1, 24, 6}},
      {"ebqd,bkd->qbk", "(tensor<2x3x4x5xf32>, tensor<3x6x5xf32>) -> tensor<4x3x6xf32>", {6, 24, 1}},
      {"ebqd,kbd->bqk", "(tensor<2x3x4x5xf32>, tensor<6x3x5xf32>) -> tensor<3x4x6xf32>", {24, 6, 1}},
      // Dims of size 1. In a result they may have any stride.
      {"bqd,bkd->kqb", "(tensor<1x4x8xf32>, tensor<1x6x8xf32>) -> tensor<6x4x1xf32>", {1, 6, 1}},
      {"bqd,bkd->kbq", "(tensor<2x4x1xf32>, tensor<2x6x1xf32>) -> tensor<6x2x4xf32>", {4, 24, 1}},
      {"bqde,bkde->bkq", "(tensor<2x4x8x1xf32>, tensor<2x6x8x1xf32>) -> tensor<2x6x4xf32>", {24, 1, 6}},
      {"bqhd,bkhd->hbkq", "(tensor<1x4x3x8xf32>, tensor<1x5x3x8xf32>) -> tensor<3x1x5x4xf32>", {20, 20, 4, 1}},
  };
  for (const auto &[equation, types, expected] : cases)
    EXPECT_EQ(strides(equation, types), expected) << equation;
}

TEST_F(EinsumTest, ResultsOfSwappedOperands) {
  // If all dims of the second operand come before those of the first, PyTorch swaps the operands.
  struct {
    const char *equation, *types;
    Strides strides;
  } cases[] = {
      {"ab,bc->ca", "(tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<5x2xf32>", {2, 1}},
      {"ca,ab", "(tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>", {2, 1}},
      {"bqd,bkd->kbq", "(tensor<2x4x8xf32>, tensor<2x6x8xf32>) -> tensor<6x2x4xf32>", {4, 24, 1}},
      {"bhqd,bhkd->hkbq", "(tensor<2x3x4x8xf32>, tensor<2x3x5x8xf32>) -> tensor<3x5x2x4xf32>", {40, 4, 20, 1}},
      // Some before and some after: no swap.
      {"abcd,cdef->fabe", "(tensor<2x3x4x5xf32>, tensor<4x5x6x7xf32>) -> tensor<7x2x3x6xf32>", {6, 126, 42, 1}},
  };
  for (const auto &[equation, types, expected] : cases)
    EXPECT_EQ(strides(equation, types), expected) << equation;
}

TEST_F(EinsumTest, OneOperandIsTurnedOrSummed) {
  EXPECT_EQ(strides("ij->ji", "(tensor<2x3xf32>) -> tensor<3x2xf32>"), Strides({1, 3})) << "a view";
  EXPECT_EQ(strides("ijk->kij", "(tensor<2x3x4xf32>) -> tensor<4x2x3xf32>"), Strides({1, 12, 4}));
  EXPECT_EQ(strides("ijk->ki", "(tensor<2x3x4xf32>) -> tensor<4x2xf32>"), Strides({2, 1}));
  CallView turned = call("ij->ji", "(tensor<2x3xf32>) -> tensor<3x2xf32>");
  turned.strides = {{1, 2}};
  EXPECT_EQ(einsumStrides(turned, 0), Strides({2, 1})) << "the view of one that was turned before";
}

} // namespace
