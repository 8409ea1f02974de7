//===- attention_heads_test.cpp - dims with the size of a head ------------===//

#include "compiler/sharding/dataflow/attention_heads.h"
#include "test/unit/propagate/plan_function.h"

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

/// Two query heads of 4 and one key head, 6 rows: an attention and the calls before it.
class AttentionHeads : public PlanFunction {
protected:
  static constexpr char arguments[] = R"(%x: tensor<2x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
      %wq: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"]},
      %wk: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["k.weight"]},
      %wv: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["v.weight"]})";

  static std::string linear(const std::string &to, const std::string &weight, int64_t features,
                            const std::string &module) {
    std::string size = std::to_string(features);
    return to + " = plan.call \"aten.linear.default\"(%x, " + weight +
           ") {input = #base.operand<0>, weight = #base.operand<1>} in \"" + module +
           "\" : (tensor<2x6x8xf32>, tensor<" + size + "x8xf32>) -> tensor<2x6x" + size + "xf32>\n";
  }
  static std::string unary(const std::string &to, const std::string &target, const std::string &from,
                           const std::string &args, const std::string &fromType, const std::string &toType) {
    return to + " = plan.call \"" + target + "\"(" + from + ") {self = #base.operand<0>" + args +
           "} in \"attn\" : (tensor<" + fromType + "xf32>) -> tensor<" + toType + "xf32>\n";
  }
  static std::string attention(const std::string &query, const std::string &key, const std::string &value) {
    return "%out:2 = plan.call \"meshplan.attention\"(" + query + ", " + key + ", " + value +
           ") {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>} in \"attn\" : "
           "(tensor<2x2x6x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>) -> (tensor<2x2x6x4xf32>, "
           "tensor<2x2x6xf32>)\n";
  }
  /// Ops 0 to 2 compute queries, 3 and 4 keys, 5 and 6 values; 7 is the attention.
  void readAttention(const std::string &behind = "", const std::string &valueModule = "v") {
    read(arguments,
         linear("%q0", "%wq", 8, "q") +
             unary("%q1", "aten.view.default", "%q0", ", size = array<i64: 2, 6, 2, 4>", "2x6x8", "2x6x2x4") +
             unary("%q2", "aten.transpose.int", "%q1", ", dim0 = 1 : i64, dim1 = 2 : i64", "2x6x2x4", "2x2x6x4") +
             linear("%k0", "%wk", 4, "k") +
             unary("%k1", "aten.unsqueeze.default", "%k0", ", dim = 1 : i64", "2x6x4", "2x1x6x4") +
             linear("%v0", "%wv", 4, valueModule) +
             unary("%v1", "aten.unsqueeze.default", "%v0", ", dim = 1 : i64", "2x6x4", "2x1x6x4") +
             attention("%q2", "%k1", "%v1") + behind);
  }

  /// "query", "key" or "": how the attention at op 7 uses a dim as the size of a head.
  std::string use(unsigned at, unsigned dim) {
    std::optional<HeadUse> found = findHeadSize(op(at)->getResult(0), dim);
    if (!found)
      return "";
    EXPECT_EQ(found->attention, call(7));
    EXPECT_EQ(found->heads, found->isQuery ? 2 : 1);
    return found->isQuery ? "query" : "key";
  }
  std::string projection(unsigned at, unsigned dim) { return projectionThatComputes(op(at)->getResult(0), dim).str(); }
};

TEST_F(AttentionHeads, TheLastDimIsTheSizeOfAHead) {
  readAttention();
  EXPECT_EQ(use(2, 3), "query");
  EXPECT_EQ(use(4, 3), "key");
  EXPECT_EQ(use(6, 3), "key") << "values count as keys";
  for (unsigned dim : {0, 1, 2}) {
    EXPECT_EQ(use(2, dim), "") << dim;
    EXPECT_EQ(use(4, dim), "") << dim;
  }
}

TEST_F(AttentionHeads, ADimIsFollowedToTheAttention) {
  readAttention();
  EXPECT_EQ(use(1, 3), "query") << "before heads and rows are swapped";
  EXPECT_EQ(use(1, 2), "");
  EXPECT_EQ(use(3, 2), "key") << "one key head: the features are its size";
  EXPECT_EQ(use(5, 2), "key");
  EXPECT_EQ(use(3, 1), "") << "rows";
  EXPECT_EQ(use(0, 2), "") << "the features of two heads are divided in heads";
}

TEST_F(AttentionHeads, AllPartsOfADimAreFollowed) {
  // Rows of keys and values side by side; the attention only reads the second part.
  read("%x: tensor<2x1x6x8xf32>, %q: tensor<2x2x6x4xf32>",
       "%n = plan.call \"aten.neg.default\"(%x) {self = #base.operand<0>} : (tensor<2x1x6x8xf32>) -> "
       "tensor<2x1x6x8xf32>\n"
       "%s:2 = plan.call \"aten.split_with_sizes.default\"(%n) {self = #base.operand<0>, split_sizes = array<i64: 4, "
       "4>, "
       "dim = 3 : i64} : (tensor<2x1x6x8xf32>) -> (tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>)\n" +
           attention("%q", "%s#1", "%s#1"));
  EXPECT_TRUE(findHeadSize(op(0)->getResult(0), 3));
}

TEST_F(AttentionHeads, ADimOfOneIsNotTheMajorOne) {
  read(arguments,
       linear("%k0", "%wk", 4, "k") +
           unary("%k1", "aten.view.default", "%k0", ", size = array<i64: 2, 6, 1, 4>", "2x6x4", "2x6x1x4") +
           unary("%k2", "aten.transpose.int", "%k1", ", dim0 = 1 : i64, dim1 = 2 : i64", "2x6x1x4", "2x1x6x4") +
           unary("%q", "aten.expand.default", "%k2", ", size = array<i64: 2, 2, 6, 4>", "2x1x6x4", "2x2x6x4") +
           attention("%q", "%k2", "%k2"));
  EXPECT_TRUE(findHeadSize(op(0)->getResult(0), 2));
}

TEST_F(AttentionHeads, WithoutAnAttentionThereIsNoHead) {
  readAttention(unary("%n", "aten.neg.default", "%out#0", "", "2x2x6x4", "2x2x6x4"));
  EXPECT_EQ(use(7, 3), "") << "what comes out of it";
  EXPECT_EQ(use(8, 3), "");
}

TEST_F(AttentionHeads, MovesOnTheWayChangeNothing) {
  read(arguments,
       linear("%k0", "%wk", 4, "k") +
           "%c = plan.constrain %k0 <[{}, {}, {}]> along [#plan.axis<\"tp\">] as \"x\" : tensor<2x6x4xf32> "
           "-> tensor<2x6x4xf32>\n" +
           unary("%k1", "aten.unsqueeze.default", "%c", ", dim = 1 : i64", "2x6x4", "2x1x6x4") +
           unary("%q", "aten.expand.default", "%k1", ", size = array<i64: 2, 2, 6, 4>", "2x1x6x4", "2x2x6x4") +
           attention("%q", "%k1", "%k1"));
  EXPECT_TRUE(findHeadSize(op(0)->getResult(0), 2)) << "through the statement";
  EXPECT_EQ(projection(2, 3), "k") << "and back";
}

TEST_F(AttentionHeads, ADimThatIsAlsoSomethingElseIsNoHead) {
  // The head size of one attention, which is the number of rows of another one.
  readAttention(unary("%t", "aten.transpose.int", "%v1", ", dim0 = 2 : i64, dim1 = 3 : i64", "2x1x6x4", "2x1x4x6") +
                "%other:2 = plan.call \"meshplan.attention\"(%t, %t, %t) {query = #base.operand<0>, key = "
                "#base.operand<1>, value = #base.operand<2>} in \"attn\" : (tensor<2x1x4x6xf32>, tensor<2x1x4x6xf32>, "
                "tensor<2x1x4x6xf32>) -> (tensor<2x1x4x6xf32>, tensor<2x1x4xf32>)\n");
  EXPECT_EQ(use(6, 3), "");
  EXPECT_EQ(use(5, 2), "");
  EXPECT_EQ(use(4, 3), "key") << "the keys are read once";
}

TEST_F(AttentionHeads, AMaskHasNoHeads) {
  read("%q: tensor<2x2x6x4xf32>, %k: tensor<2x1x6x4xf32>, %m: tensor<2x1x6x6xf32>",
       "%n = plan.call \"aten.neg.default\"(%m) {self = #base.operand<0>} : (tensor<2x1x6x6xf32>) -> "
       "tensor<2x1x6x6xf32>\n"
       "%out:2 = plan.call \"meshplan.attention\"(%q, %k, %k, %n) {query = #base.operand<0>, key = #base.operand<1>, "
       "value = #base.operand<2>, mask = #base.operand<3>} : (tensor<2x2x6x4xf32>, tensor<2x1x6x4xf32>, "
       "tensor<2x1x6x4xf32>, tensor<2x1x6x6xf32>) -> (tensor<2x2x6x4xf32>, tensor<2x2x6xf32>)\n");
  EXPECT_FALSE(findHeadSize(op(0)->getResult(0), 3));
}

TEST_F(AttentionHeads, AProjectionIsTheModuleOfTheWeights) {
  readAttention();
  EXPECT_EQ(projection(0, 2), "q");
  EXPECT_EQ(projection(2, 1), "q") << "heads";
  EXPECT_EQ(projection(2, 3), "q");
  EXPECT_EQ(projection(4, 3), "k");
  EXPECT_EQ(projection(4, 1), "") << "a new dim of one";
  EXPECT_EQ(projection(0, 0), "") << "samples come from the input";
  EXPECT_EQ(projection(2, 2), "") << "rows do";
  EXPECT_EQ(projectionThatComputes(argument(0), 0), "");
  EXPECT_EQ(projectionThatComputes(argument(1), 0), "") << "a weight is made by none";
}

TEST_F(AttentionHeads, TheNearestWeightsMakeTheDim) {
  // A norm's weight is aligned with the features that an earlier product computed.
  read("%x: tensor<2x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = [\"x\"]}, "
       "%w: tensor<4x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = [\"w\"]}, "
       "%s: tensor<4xf32> {plan.kind = #plan.kind<parameter>, plan.names = [\"s\"]}",
       linear("%0", "%w", 4, "k") + "%1 = plan.call \"aten.mul.Tensor\"(%0, %s) {self = #base.operand<0>, other = "
                                    "#base.operand<1>} in \"norm\" : "
                                    "(tensor<2x6x4xf32>, tensor<4xf32>) -> tensor<2x6x4xf32>\n"
                                    "%2 = plan.call \"aten.mul.Tensor\"(%s, %0) {self = #base.operand<0>, other = "
                                    "#base.operand<1>} in \"norm\" : "
                                    "(tensor<4xf32>, tensor<2x6x4xf32>) -> tensor<2x6x4xf32>\n");
  EXPECT_EQ(projection(1, 2), "norm");
  EXPECT_EQ(projection(2, 2), "norm") << "whichever operand it is";
  EXPECT_EQ(projection(1, 1), "");
}

TEST_F(AttentionHeads, KeysAndValuesHaveTheirHeadsTogether) {
  readAttention();
  EXPECT_EQ(projectionsOf({call(7), /*isQuery=*/false}), "'k' and 'v'");
  EXPECT_EQ(projectionsOf({call(7), /*isQuery=*/true}), "'q', 'k' and 'v'");
  readAttention("", /*valueModule=*/"k");
  EXPECT_EQ(projectionsOf({call(7), /*isQuery=*/false}), "'k'") << "each module once";
  EXPECT_EQ(projectionsOf({call(7), /*isQuery=*/true}), "'q' and 'k'");
}

TEST_F(AttentionHeads, HeadsThatNoModuleMakes) {
  read("%q: tensor<2x2x6x4xf32>, %k: tensor<2x1x6x4xf32>, %v: tensor<2x1x6x4xf32>", attention("%q", "%k", "%v"));
  EXPECT_EQ(projectionsOf({call(0), /*isQuery=*/true}), "");
}

/// The same heads from one weight: with 16 rows, or as 4 heads of 4 in a view.
class FusedHeads : public AttentionHeads {
protected:
  static std::string split(const std::string &type, const std::string &sizes, int dim,
                           llvm::ArrayRef<std::string> types) {
    std::string results;
    for (const std::string &each : types)
      results += (results.empty() ? "tensor<" : ", tensor<") + each + "xf32>";
    return "%s:" + std::to_string(types.size()) +
           " = plan.call \"aten.split_with_sizes.default\"(%from) {self = "
           "#base.operand<0>, split_sizes = array<i64: " +
           sizes + ">, dim = " + std::to_string(dim) + " : i64} in \"attn\" : (tensor<" + type + "xf32>) -> (" +
           results + ")\n";
  }
  static constexpr char weight[] = R"(%x: tensor<2x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
      %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["qkv.weight"]})";

  void readRows(const std::string &behind = "") {
    read(weight,
         linear("%from", "%w", 16, "qkv") + split("2x6x16", "8, 4, 4", 2, {"2x6x8", "2x6x4", "2x6x4"}) +
             unary("%q1", "aten.view.default", "%s#0", ", size = array<i64: 2, 6, 2, 4>", "2x6x8", "2x6x2x4") +
             unary("%q2", "aten.transpose.int", "%q1", ", dim0 = 1 : i64, dim1 = 2 : i64", "2x6x2x4", "2x2x6x4") +
             unary("%k1", "aten.unsqueeze.default", "%s#1", ", dim = 1 : i64", "2x6x4", "2x1x6x4") +
             unary("%v1", "aten.unsqueeze.default", "%s#2", ", dim = 1 : i64", "2x6x4", "2x1x6x4") +
             attention("%q2", "%k1", "%v1") + behind);
  }

  void readCounted() {
    const std::string turn = ", dim0 = 1 : i64, dim1 = 2 : i64";
    read(weight,
         linear("%rows", "%w", 16, "qkv") +
             unary("%from", "aten.view.default", "%rows", ", size = array<i64: 2, 6, 4, 4>", "2x6x16", "2x6x4x4") +
             split("2x6x4x4", "2, 1, 1", 2, {"2x6x2x4", "2x6x1x4", "2x6x1x4"}) +
             unary("%q2", "aten.transpose.int", "%s#0", turn, "2x6x2x4", "2x2x6x4") +
             unary("%k1", "aten.transpose.int", "%s#1", turn, "2x6x1x4", "2x1x6x4") +
             unary("%v1", "aten.transpose.int", "%s#2", turn, "2x6x1x4", "2x1x6x4") + attention("%q2", "%k1", "%v1"));
  }

  bool isKey(int64_t start, int64_t extent) { return isOnlyKeyHead(function().getArgument(1), 0, start, extent); }
};

TEST_F(FusedHeads, KeyAndValueAreOnlyTheRowsThatMakeThem) {
  for (bool counted : {false, true}) {
    counted ? readCounted() : readRows();
    EXPECT_TRUE(isKey(8, 4)) << "the key";
    EXPECT_TRUE(isKey(12, 4)) << "the value";
    EXPECT_FALSE(isKey(0, 8)) << "the queries";
    EXPECT_FALSE(isKey(0, 4)) << "one query";
    EXPECT_FALSE(isKey(8, 8)) << "both: no rank needs them as one";
    EXPECT_FALSE(isKey(8, 2)) << "half a head";
    EXPECT_FALSE(isKey(4, 8)) << "a query and the key";
    EXPECT_FALSE(isKey(0, 16));
  }
}

TEST_F(FusedHeads, AKeyThatIsAlsoSomethingElse) {
  readRows(unary("%other", "aten.neg.default", "%from", "", "2x6x16", "2x6x16"));
  EXPECT_TRUE(isKey(8, 4)) << "what no attention reads";
  readRows(unary("%other", "aten.sum.default", "%s#1", "", "2x6x4", "2x6x4"));
  EXPECT_TRUE(isKey(12, 4));
}

TEST_F(AttentionHeads, AWeightOfItsOwnIsAllOfTheKey) {
  readAttention();
  EXPECT_TRUE(isOnlyKeyHead(function().getArgument(2), 0, 0, 4));
  EXPECT_TRUE(isOnlyKeyHead(function().getArgument(3), 0, 0, 4));
  EXPECT_FALSE(isOnlyKeyHead(function().getArgument(1), 0, 0, 8)) << "queries";
  EXPECT_FALSE(isOnlyKeyHead(function().getArgument(2), 1, 0, 8)) << "what is contracted";
}

} // namespace
