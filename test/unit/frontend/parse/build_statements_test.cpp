//===- build_statements_test.cpp - statements as written ------------------===//

#include "test/unit/frontend/parse/parse_statements.h"

#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// The number of statements of each kind, in the order of Syntax.
std::vector<size_t> counts(const Syntax &syntax) {
  return {syntax.models.size(),  syntax.meshes.size(),       syntax.lets.size(),       syntax.values.size(),
          syntax.losses.size(),  syntax.microbatches.size(), syntax.entries.size(),    syntax.blocks.size(),
          syntax.data.size(),    syntax.precisions.size(),   syntax.recomputes.size(), syntax.optimizers.size(),
          syntax.clips.size(),   syntax.nonfinites.size(),   syntax.trainable.size(),  syntax.overlaps.size(),
          syntax.reserved.size()};
}

TEST(BuildStatements, EachStatementIsOfOneKind) {
  const char *statements[] = {"model \"m.pt2\"",  "mesh dp = 2",
                              "let a = 1",        "input x: []",
                              "loss l",           "microbatches 2",
                              "m: replicate",     "m { }",
                              "data dp { }",      "precision { }",
                              "recompute m",      "optimizer sgd",
                              "clip_grad_norm 1", "nonfinite gradients stop",
                              "freeze m",         "overlap { }",
                              "tie a, b"};
  for (size_t kind = 0; kind < std::size(statements); ++kind) {
    std::vector<size_t> expected(std::size(statements), 0);
    expected[kind] = 1;
    EXPECT_EQ(counts(parseStatements(statements[kind])), expected) << statements[kind];
  }
  EXPECT_EQ(counts(parseStatements("")), std::vector<size_t>(std::size(statements), 0));
}

TEST(BuildStatements, StatementsOfAKindKeepTheirOrder) {
  Syntax syntax = parseStatements("let b = 1\nm: replicate\nlet a = 2\nlet c = 3");
  ASSERT_EQ(syntax.lets.size(), 3u);
  EXPECT_EQ(syntax.lets[0].name.text + syntax.lets[1].name.text + syntax.lets[2].name.text, "bac");
}

TEST(BuildStatements, AModelHasAFile) {
  Syntax syntax = parseStatements("  model  \"a \\\"b\\\" \\\\c.pt2\"");
  ASSERT_EQ(syntax.models.size(), 1u);
  EXPECT_EQ(syntax.models[0].file, "a \"b\" \\c.pt2");
  EXPECT_EQ(syntax.models[0].fileRange, (SourceRange{0, 2, 10, 27}));
  EXPECT_EQ(syntax.models[0].range, (SourceRange{0, 2, 3, 27}));
  EXPECT_EQ(parseStatements("model \"\"").models.at(0).file, "");
}

TEST(BuildStatements, AMeshHasAxes) {
  Syntax syntax = parseStatements("mesh dp = world / tp,\n  tp = 3");
  const MeshStatement &mesh = syntax.meshes.at(0);
  ASSERT_EQ(mesh.axes.size(), 2u);
  EXPECT_EQ(mesh.axes[0].name.text + " " + mesh.axes[0].size.text, "dp world / tp");
  EXPECT_EQ(mesh.axes[1].name.text + " " + mesh.axes[1].size.text, "tp 3");
  EXPECT_EQ(mesh.axes[1].name.range, (SourceRange{0, 3, 3, 5}));
  EXPECT_EQ(mesh.range, (SourceRange{0, 2, 1, 22})) << "what stands on its first line";
}

TEST(BuildStatements, AFoldHasAxesAndNames) {
  Syntax syntax = parseStatements("fold (dp, tp) as (edp = 4,\n  ep = dp * tp / 4)\nfold (cp) as (fold = 2)");
  ASSERT_EQ(syntax.folds.size(), 2u);
  const FoldStatement &fold = syntax.folds[0];
  EXPECT_THAT(textsOf(fold.axes), ElementsAre("dp", "tp"));
  EXPECT_EQ(fold.axes[1].range, (SourceRange{0, 2, 11, 13}));
  ASSERT_EQ(fold.names.size(), 2u);
  EXPECT_EQ(fold.names[0].name.text + " " + fold.names[0].size.text, "edp 4");
  EXPECT_EQ(fold.names[1].name.text + " " + fold.names[1].size.text, "ep dp * tp / 4");
  EXPECT_EQ(fold.names[1].name.range, (SourceRange{0, 3, 3, 5}));
  EXPECT_EQ(fold.range, (SourceRange{0, 2, 1, 27})) << "what stands on its first line";
  EXPECT_EQ(syntax.folds[1].names.at(0).name.text, "fold");
}

TEST(BuildStatements, ALetHasAValue) {
  Syntax syntax = parseStatements("let n = -(a + 2)");
  EXPECT_EQ(syntax.lets.at(0).name.range, (SourceRange{0, 2, 5, 6}));
  EXPECT_EQ(syntax.lets[0].value.text, "-(a + 2)");
  EXPECT_EQ(syntax.lets[0].value.kind, Expression::Kind::Negate);
  EXPECT_EQ(syntax.lets[0].range, (SourceRange{0, 2, 1, 17}));
}

TEST(BuildStatements, InputsAndOutputsHaveNamesAndDims) {
  Syntax syntax =
      parseStatements("input a, b.c, \"d-e\", 0: [batch = 2 * n over (dp, tp), _]\noutput input: [seq over cp]");
  ASSERT_EQ(syntax.values.size(), 2u);
  const ValueStatement &input = syntax.values[0];
  EXPECT_TRUE(input.isInput);
  EXPECT_THAT(textsOf(input.names), ElementsAre("a", "b.c", "d-e", "0"));
  ASSERT_EQ(input.dims.size(), 2u);
  EXPECT_EQ(input.dims[0].name.text, "batch");
  EXPECT_EQ(input.dims[0].extent->text, "2 * n");
  EXPECT_THAT(textsOf(input.dims[0].axes), ElementsAre("dp", "tp"));
  EXPECT_EQ(input.dims[1].name.text, "_");
  EXPECT_FALSE(input.dims[1].extent);
  EXPECT_THAT(input.dims[1].axes, IsEmpty());
  EXPECT_EQ(input.range, (SourceRange{0, 2, 1, 57}));
  const ValueStatement &output = syntax.values[1];
  EXPECT_FALSE(output.isInput) << "though its name is 'input'";
  EXPECT_THAT(textsOf(output.names), ElementsAre("input"));
  EXPECT_EQ(output.dims.at(0).range, (SourceRange{0, 3, 16, 27}));
}

TEST(BuildStatements, ALossIsANameOrANumber) {
  EXPECT_EQ(parseStatements("loss loss").losses.at(0).output.text, "loss");
  EXPECT_EQ(parseStatements("loss 1").losses.at(0).output.text, "1");
  EXPECT_EQ(parseStatements("loss \"a b\"").losses.at(0).output.text, "a b");
  EXPECT_EQ(parseStatements(" loss out.0").losses.at(0).range, (SourceRange{0, 2, 2, 12}));
  EXPECT_FALSE(parseStatements("loss loss").losses.at(0).unit);
}

TEST(BuildStatements, ALossMayBePerUnit) {
  Syntax syntax = parseStatements("loss loss per token");
  EXPECT_EQ(syntax.losses.at(0).output.text, "loss");
  EXPECT_EQ(syntax.losses[0].unit->text, "token");
  EXPECT_EQ(syntax.losses[0].unit->range, (SourceRange{0, 2, 15, 20}));
  EXPECT_EQ(syntax.losses[0].range, (SourceRange{0, 2, 1, 20}));
  EXPECT_EQ(parseStatements("loss 0 per sequence").losses.at(0).unit->text, "sequence");
  // The word may also name outputs and axes.
  EXPECT_EQ(parseStatements("loss per").losses.at(0).output.text, "per");
  EXPECT_FALSE(parseStatements("loss per").losses.at(0).unit);
  EXPECT_EQ(parseStatements("loss per per token").losses.at(0).output.text, "per");
  EXPECT_EQ(parseStatements("mesh per = 2").meshes.at(0).axes.at(0).name.text, "per");
  EXPECT_EQ(parseStatements("per.loss: replicate").entries.size(), 1u);
}

TEST(BuildStatements, MicrobatchesMayBeMeans) {
  struct {
    const char *text, *count;
    bool mean;
  } cases[] = {{"4", "4", false}, {"4 mean", "4", true}, {"2 * n", "2 * n", false}, {"(n + 1) mean", "n + 1", true}};
  for (auto [text, count, mean] : cases) {
    Syntax syntax = parseStatements("microbatches " + std::string(text));
    EXPECT_EQ(syntax.microbatches.at(0).count.text, count);
    EXPECT_EQ(syntax.microbatches[0].mean, mean) << text;
  }
}

TEST(BuildStatements, ADataBlockHasAxesPathsAndOptions) {
  Syntax syntax = parseStatements("data (dp, cp), ep on a.*, \"b-c\" { bucket none\n keep a.0 }\ndata tp { }");
  ASSERT_EQ(syntax.data.size(), 2u);
  EXPECT_THAT(textsOf(syntax.data[0].axes), ElementsAre("dp", "cp", "ep"));
  EXPECT_THAT(textsOf(syntax.data[0].paths), ElementsAre("a.*", "b-c"));
  EXPECT_FALSE(syntax.data[0].paths[0].literal);
  EXPECT_TRUE(syntax.data[0].paths[1].literal);
  EXPECT_THAT(textsOf(syntax.data[0].options), ElementsAre("bucket none", "keep a.0"));
  EXPECT_EQ(syntax.data[0].range, (SourceRange{0, 2, 1, 46})) << "to the end of its first line";
  EXPECT_THAT(textsOf(syntax.data[1].axes), ElementsAre("tp"));
  EXPECT_THAT(syntax.data[1].paths, IsEmpty());
  EXPECT_THAT(syntax.data[1].options, IsEmpty());
}

TEST(BuildStatements, APrecisionHasOptions) {
  Syntax syntax = parseStatements("precision { master f32; reduce bf16 }");
  EXPECT_THAT(textsOf(syntax.precisions.at(0).options), ElementsAre("master f32", "reduce bf16"));
}

TEST(BuildStatements, ARecomputationMayKeepSome) {
  Syntax syntax = parseStatements("recompute a.*, b\nrecompute c keep attention, mm");
  ASSERT_EQ(syntax.recomputes.size(), 2u);
  EXPECT_THAT(textsOf(syntax.recomputes[0].paths), ElementsAre("a.*", "b"));
  EXPECT_THAT(syntax.recomputes[0].keep, IsEmpty());
  EXPECT_THAT(textsOf(syntax.recomputes[1].paths), ElementsAre("c"));
  EXPECT_THAT(textsOf(syntax.recomputes[1].keep), ElementsAre("attention", "mm"));
}

TEST(BuildStatements, AnOptimizerMayHaveOptions) {
  Syntax syntax = parseStatements("optimizer sgd\noptimizer adamw { lr 1e-3; betas 0.9, 0.95 }");
  ASSERT_EQ(syntax.optimizers.size(), 2u);
  EXPECT_EQ(syntax.optimizers[0].name.text, "sgd");
  EXPECT_THAT(syntax.optimizers[0].options, IsEmpty());
  EXPECT_THAT(textsOf(syntax.optimizers[1].options), ElementsAre("lr 1e-3", "betas 0.9, 0.95"));
  EXPECT_EQ(syntax.optimizers[1].range, (SourceRange{0, 3, 1, 45}));
}

TEST(BuildStatements, NonfiniteHasTwoWords) {
  NonfiniteStatement statement = parseStatements("nonfinite gradients skip").nonfinites.at(0);
  EXPECT_EQ(statement.subject.text, "gradients");
  EXPECT_EQ(statement.subject.range, (SourceRange{0, 2, 11, 20}));
  EXPECT_EQ(statement.action.text, "skip");
  EXPECT_EQ(statement.range, (SourceRange{0, 2, 1, 25}));
  EXPECT_EQ(parseStatements("nonfinite model mesh").nonfinites.at(0).subject.text, "model")
      << "which words there are is said later";
  EXPECT_EQ(parseStatements("nonfinite: replicate").entries.size(), 1u) << "a module may be called so";
}

TEST(BuildStatements, AClipHasANorm) {
  EXPECT_DOUBLE_EQ(parseStatements("clip_grad_norm 0.5").clips.at(0).norm.value, 0.5);
  EXPECT_DOUBLE_EQ(parseStatements("clip_grad_norm -1").clips.at(0).norm.value, -1.0)
      << "that it must be positive is said later";
}

TEST(BuildStatements, TrainableStatementsHaveKindsAndPaths) {
  using Kind = TrainableStatement::Kind;
  Syntax syntax = parseStatements("unused a\nfreeze b.*, c\ntrain only freeze\nfreeze train");
  std::vector<std::pair<Kind, std::string>> found;
  for (const TrainableStatement &statement : syntax.trainable)
    found.push_back({statement.kind, statement.paths.back().text});
  EXPECT_THAT(found, ElementsAre(std::pair(Kind::Unused, "a"), std::pair(Kind::Freeze, "c"),
                                 std::pair(Kind::TrainOnly, "freeze"), std::pair(Kind::Freeze, "train")));
  EXPECT_EQ(syntax.trainable[1].paths.size(), 2u);
  EXPECT_EQ(syntax.trainable[2].range, (SourceRange{0, 4, 1, 18}));
}

TEST(BuildStatements, AReservedStatementIsItsKeyword) {
  Syntax syntax = parseStatements("offload optimizer, parameters\n  shapes small { batch 2 }");
  ASSERT_EQ(syntax.reserved.size(), 2u);
  EXPECT_EQ(syntax.reserved[0].keyword.text, "offload");
  EXPECT_EQ(syntax.reserved[0].keyword.range, (SourceRange{0, 2, 1, 8}));
  EXPECT_EQ(syntax.reserved[0].range, (SourceRange{0, 2, 1, 30}));
  EXPECT_EQ(syntax.reserved[1].keyword.text, "shapes");
  EXPECT_EQ(syntax.reserved[1].keyword.range, (SourceRange{0, 3, 3, 9}));
}

} // namespace
