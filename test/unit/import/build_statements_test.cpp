//===- build_statements_test.cpp - statements of a plan as ops ------------===//

#include "bound_program.h"
#include "compiler/transforms/import/build_statements.h"

using namespace meshplan;
using namespace mlir;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// Modules a and b with a weight each; input x [8, 6], outputs y [8, 6] and its sum, loss.
class BuildStatements : public BoundProgram {
protected:
  BuildStatements() {
    archive::ValueId x = input("x", {8, 6}), y = value({8, 6});
    archive::ValueId a = parameter("a.weight", {6, 6}), b = parameter("b.weight", {6, 6});
    archive::ValueId between = value({8, 6});
    node("aten.linear.default", "a", {{"input", x}, {"weight", a}}, {between});
    node("aten.linear.default", "b", {{"input", between}, {"weight", b}}, {y});
    archive::ValueId sum = value({});
    node("aten.sum.default", "", {{"self", y}}, {sum});
    output("y", y);
    output("loss", sum);
  }

  /// The ops of these statements, as text without their dialect.
  std::vector<std::string> ops(const std::string &statements) {
    bind(statements);
    owner = ModuleOp::create(UnknownLoc::get(&context));
    OpBuilder builder = OpBuilder::atBlockEnd(owner->getBody());
    StatementBuilder(bound, outline, diagnostics, builder).build();
    std::vector<std::string> texts;
    for (Operation &op : *owner->getBody()) {
      std::string text = print(op).substr(llvm::StringRef("plan.").size());
      // MLIR prints two spaces before the word of a style.
      if (size_t spaces = text.find("  "); spaces != std::string::npos)
        text.erase(spaces, 1);
      texts.push_back(text);
    }
    return texts;
  }
  /// The same on dp = 2 and tp = 3, without the mesh.
  std::vector<std::string> onMesh(const std::string &statements) {
    std::vector<std::string> texts = ops("mesh dp = 2, tp = 3\n" + statements);
    texts.erase(texts.begin());
    return texts;
  }
  /// The axes of the only border.
  std::string along(const std::string &statements) {
    onMesh(statements);
    std::string axes;
    for (auto border : owner->getOps<plan::BorderOp>())
      for (Attribute axis : border.getAxes())
        axes += (axes.empty() ? "" : " ") + cast<plan::AxisRefAttr>(axis).getName().str();
    return axes;
  }

  OwningOpRef<ModuleOp> owner;
};

TEST_F(BuildStatements, AMeshHasItsAxesInOrder) {
  EXPECT_THAT(ops("mesh dp = 2, tp = 3\n**: output replicate\nrest: replicate").front(),
              "mesh [#base.mesh_axis<\"dp\" = 2>, #base.mesh_axis<\"tp\" = 3>]");
  auto mesh = *owner->getOps<plan::MeshOp>().begin();
  EXPECT_EQ(print(LocationAttr(mesh->getLoc())), "loc(\"p.plan\":2:1 to :20)");
  EXPECT_THAT(ops("rest: replicate").front(), "mesh []");
  EXPECT_TRUE(isa<UnknownLoc>((*owner->getOps<plan::MeshOp>().begin())->getLoc()));
}

TEST_F(BuildStatements, EachStyleOfEachModuleIsAnOp) {
  EXPECT_THAT(onMesh("a: colwise tp, sequence dp dim 0\nb: rowwise (dp, tp)"),
              ElementsAre("style \"a\" colwise [#plan.axis<\"tp\">] as \"colwise tp\"",
                          "style \"a\" sequence [#plan.axis<\"dp\">] as \"sequence dp dim 0\" {dim = 0 : i64}",
                          "style \"b\" rowwise [#plan.axis<\"dp\">, #plan.axis<\"tp\">] as \"rowwise (dp, tp)\""));
  auto styles = owner->getOps<plan::StyleOp>();
  EXPECT_EQ(print(LocationAttr((*std::next(styles.begin()))->getLoc())), "loc(\"p.plan\":3:16 to :33)");
  EXPECT_THAT(onMesh("rest: replicate"),
              ElementsAre("style \"a\" replicate [] as \"replicate\"", "style \"b\" replicate [] as \"replicate\""));
}

TEST_F(BuildStatements, PartsAreRelative) {
  EXPECT_THAT(
      onMesh("a: colwise tp parts 3\nb: rowwise tp parts (q 4, 1, kv 2)"),
      ElementsAre("style \"a\" colwise [#plan.axis<\"tp\">] as \"colwise tp parts 3\" {parts = array<i64: 1, 1, 1>}",
                  "style \"b\" rowwise [#plan.axis<\"tp\">] as \"rowwise tp parts (q 4, 1, kv 2)\" {parts = "
                  "array<i64: 4, 1, 2>}"));
}

TEST_F(BuildStatements, ABorderHasTheDimsUpToTheLastThatIsSplit) {
  EXPECT_THAT(
      onMesh("a: colwise tp, input 1 split 1 over (tp, dp)\nb: replicate, output [_, _]"),
      ElementsAre("style \"a\" colwise [#plan.axis<\"tp\">] as \"colwise tp\"",
                  "border \"a\" is_input true index 1 <[{}, {\"tp\", \"dp\"}]> exact false along "
                  "[#plan.axis<\"dp\">, #plan.axis<\"tp\">] as \"input 1 split 1 over (tp, dp)\"",
                  "style \"b\" replicate [] as \"replicate\"",
                  "border \"b\" is_input false index 0 <[{}, {}]> exact true along [#plan.axis<\"dp\">, "
                  "#plan.axis<\"tp\">] as \"output [_, _]\" {extents = array<i64: 0, 0>, names = [\"\", \"\"]}"));
  EXPECT_THAT(onMesh("a: output replicate\nrest: replicate"),
              testing::Contains(testing::StartsWith("border \"a\" is_input false index 0 <[]> exact false ")));
}

TEST_F(BuildStatements, NamesOfDimsStandForTheirExtents) {
  EXPECT_THAT(
      onMesh("input x: [batch over dp, width]\na: output [width, batch over dp, _]\nrest: replicate"),
      testing::Contains(testing::HasSubstr("{extents = array<i64: 6, 8, 0>, names = [\"width\", \"batch\", \"\"]}")));
}

TEST_F(BuildStatements, ALayoutSpeaksOfTheAxesOfItsModule) {
  // With all dims listed: every axis. Otherwise those of the module's styles and of its own layout.
  EXPECT_EQ(along("a: colwise tp, output [_, _]\nrest: replicate"), "dp tp");
  EXPECT_EQ(along("a: colwise tp, output replicate\nrest: replicate"), "tp");
  EXPECT_EQ(along("a: colwise tp, output split 0 over dp\nrest: replicate"), "dp tp");
  EXPECT_EQ(along("a: replicate, output split 0 over dp\nrest: replicate"), "dp");
}

TEST_F(BuildStatements, NamesOfFoldsAreDigits) {
  const std::string fold = "fold (dp, tp) as (a = 2, b = tp)\nfold (tp) as (c = 1, d = tp)\n";
  EXPECT_EQ(along(fold + "a: colwise a, output replicate\nrest: replicate"), "dp");
  EXPECT_EQ(along(fold + "a: colwise d, output replicate\nrest: replicate"), "tp");
  EXPECT_EQ(along(fold + "a: colwise (b, a), output replicate\nrest: replicate"), "dp tp");
  EXPECT_EQ(along(fold + "input x: [_ over d, _]\na: output replicate\nrest: replicate"), "dp");
  EXPECT_EQ(along(fold + "input x: [_ over c, _]\na: output replicate\nrest: replicate"), "dp tp");
}

TEST_F(BuildStatements, DigitsThatCoverAnAxisAreTheAxis) {
  std::vector<std::string> made = ops("mesh dp = 4, tp = 2\nfold (dp, tp) as (edp = 2, ep = 4)\n"
                                      "a: colwise ep, output replicate\nb: rowwise (edp, ep)");
  EXPECT_THAT(made, testing::Contains("style \"a\" colwise [#plan.axis<\"dp\":(2)2>, #plan.axis<\"tp\">] as "
                                      "\"colwise ep\""));
  EXPECT_THAT(made, testing::Contains(testing::HasSubstr("along [#plan.axis<\"dp\":(2)2>, #plan.axis<\"tp\">]")));
  EXPECT_THAT(made, testing::Contains("style \"b\" rowwise [#plan.axis<\"dp\">, #plan.axis<\"tp\">] as "
                                      "\"rowwise (edp, ep)\""));
}

TEST_F(BuildStatements, WithoutAnyOfThoseDividingNoInput) {
  EXPECT_EQ(along("a: output replicate\nrest: replicate"), "dp tp");
  EXPECT_EQ(along("input x: [_ over dp, _]\na: output replicate\nrest: replicate"), "tp");
  EXPECT_EQ(along("input x: [_, _ over tp]\na: replicate, output replicate\nrest: replicate"), "dp");
  EXPECT_EQ(along("input x: [_ over dp, _ over tp]\na: output replicate\nrest: replicate"), "");
}

TEST_F(BuildStatements, AnOutputIsABorderOfTheModel) {
  EXPECT_THAT(onMesh("input x: [batch, _]\noutput y: [batch over dp, _ over tp]\nrest: replicate").back(),
              "border \"\" is_input false index 0 <[{\"dp\"}, {\"tp\"}]> exact true along [#plan.axis<\"dp\">, "
              "#plan.axis<\"tp\">] as \"output y\" {extents = array<i64: 8, 0>, names = [\"batch\", \"\"]}");
}

TEST_F(BuildStatements, AMeanBehindTheSumIsOverAllRanksOfTheBlock) {
  auto ranksOf = [&](const std::string &options) {
    onMesh("loss loss\noptimizer sgd\ndata dp { " + options + " }\nrest: replicate");
    return (*owner->getOps<plan::DataOp>().begin()).getAverageAfter();
  };
  EXPECT_EQ(ranksOf("average after collective"), 2u);
  EXPECT_EQ(ranksOf("average in collective"), std::nullopt);
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(BuildStatements, TheScaleOfTheLoss) {
  auto scaleOf = [&](const std::string &option) {
    onMesh("loss loss\noptimizer sgd\nprecision { " + option + " }\nrest: replicate");
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (plan::LossScaleAttr scale = (*owner->getOps<plan::PrecisionOp>().begin()).getLossScaleAttr())
      mlir::Attribute(scale).print(stream);
    return text;
  };
  EXPECT_EQ(scaleOf("reduce f32"), "");
  EXPECT_EQ(scaleOf("loss_scale 8"), "#plan.loss_scale<initial = 8.000000e+00 : f64>");
  EXPECT_EQ(scaleOf("loss_scale dynamic { initial 8; interval 5 }"),
            "#plan.loss_scale<initial = 8.000000e+00 : f64, growth = 2.000000e+00 : f64, backoff = 5.000000e-01 : f64, "
            "interval = 5>");
  EXPECT_EQ((*owner->getOps<plan::OptimizerOp>().begin()).getNonfinite(), plan::NonfiniteAction::skip);
}

TEST_F(BuildStatements, MicrobatchesMayHaveAMean) {
  for (const char *mean : {"", " mean"}) {
    onMesh(std::string("loss loss\noptimizer sgd\ninput x: [batch, _]\nrest: replicate\nmicrobatches 2") + mean);
    plan::MicrobatchesOp statement = *owner->getOps<plan::MicrobatchesOp>().begin();
    EXPECT_EQ(statement.getCount(), 2u);
    EXPECT_EQ(statement.getMean(), *mean != 0);
  }
}

TEST_F(BuildStatements, GradientsThatAreNotFiniteHaveAnAction) {
  auto actionOf = [&](const std::string &statement) {
    onMesh("loss loss\noptimizer sgd\nrest: replicate\n" + statement);
    return (*owner->getOps<plan::OptimizerOp>().begin()).getNonfinite();
  };
  EXPECT_EQ(actionOf(""), std::nullopt);
  EXPECT_EQ(actionOf("nonfinite gradients stop"), plan::NonfiniteAction::stop);
  EXPECT_EQ(actionOf("nonfinite gradients skip"), plan::NonfiniteAction::skip);
}

TEST_F(BuildStatements, PiecesAreAsThePlanSays) {
  auto dataOf = [&](const std::string &options) {
    onMesh("loss loss\noptimizer sgd\nrest: replicate\ndata dp { " + options + " }");
    return *owner->getOps<plan::DataOp>().begin();
  };
  EXPECT_EQ(dataOf("shard optimizer").getBucket(), std::nullopt);
  EXPECT_EQ(dataOf("shard optimizer; bucket none").getBucket(), std::optional<uint64_t>(0));
  EXPECT_EQ(dataOf("bucket 2 KiB").getBucket(), std::optional<uint64_t>(2048));
}

TEST_F(BuildStatements, ATypeOfProductsNeedsNoTraining) {
  auto computeOf = [&](const std::string &statements) {
    onMesh(statements + "\nrest: replicate");
    return (*owner->getOps<plan::PrecisionOp>().begin()).getCompute().value_or(mlir::Type());
  };
  EXPECT_TRUE(computeOf("precision { compute bf16 }").isBF16());
  EXPECT_TRUE(computeOf("loss loss\noptimizer sgd\nprecision { compute f16; reduce f32 }").isF16());
  EXPECT_FALSE(computeOf("loss loss\noptimizer sgd\nprecision { reduce f32 }"));
}

TEST_F(BuildStatements, OtherTypesAreOfTraining) {
  const std::string help = "help: add 'optimizer KIND { ... }', or remove the statement";
  onMesh("precision { compute bf16; reduce f32 }\nrest: replicate");
  EXPECT_THAT(said(), ElementsAre("3: 'precision' without an optimizer: nothing is trained", help));
}

TEST_F(BuildStatements, StatementsOfTrainingNeedAnOptimizer) {
  const std::string help = "help: add 'optimizer KIND { ... }', or remove the statement";
  onMesh("freeze a\nrecompute b\nrest: replicate");
  EXPECT_THAT(said(), testing::UnorderedElementsAre("3: 'freeze' without an optimizer: nothing is trained", help,
                                                    "4: 'recompute' without an optimizer: nothing is trained", help));
}

TEST_F(BuildStatements, WhatTrains) {
  std::vector<std::string> made = onMesh(
      "loss loss\noptimizer adamw { lr 0.5; betas (0.25, 0.75); schedule linear { steps 8 }; group a { lr 0.125 } }\n"
      "clip_grad_norm 2\nrest: replicate");
  ASSERT_GE(made.size(), 2u);
  EXPECT_EQ(made[made.size() - 2], "loss 1");
  EXPECT_THAT(made.back(), testing::StartsWith("optimizer adamw groups [#plan.optimizer_group<lr = 5.000000e-01 : f64, "
                                               "weight_decay = 1.000000e-02 : f64, beta1 = 2.500000e-01 : f64, beta2 = "
                                               "7.500000e-01 : f64, eps = 1.000000e-08 : f64, "));
  EXPECT_THAT(made.back(), testing::HasSubstr("#plan.optimizer_group<lr = 1.250000e-01 : f64, "));
  EXPECT_THAT(made.back(),
              testing::EndsWith("schedule <kind = linear, steps = 8, min = 0.000000e+00 : f64> clip 2.000000e+00"));
}

TEST_F(BuildStatements, WhatIsRecomputedByModule) {
  std::vector<std::string> made =
      onMesh("loss loss\noptimizer sgd\nrecompute a, b keep attention, linear\nrest: replicate");
  EXPECT_EQ(made[made.size() - 2], "recompute \"a\" keep [\"attention\", \"linear\"]");
  EXPECT_EQ(made.back(), "recompute \"b\" keep [\"attention\", \"linear\"]");
}

TEST_F(BuildStatements, TheUnitOfALoss) {
  EXPECT_EQ(onMesh("loss loss per token\nrest: replicate").back(), "normalize_loss 1 per token");
  std::vector<std::string> made = onMesh("loss loss per sequence\ninput x: [batch, _]\noptimizer sgd\nrest: replicate");
  EXPECT_EQ(made.at(made.size() - 3), "normalize_loss 1 per sequence");
  EXPECT_EQ(made.at(made.size() - 2), "loss 1");
}

TEST_F(BuildStatements, ALossAloneTrainsNothing) {
  EXPECT_THAT(onMesh("loss loss\nrest: replicate").back(), testing::Not(testing::HasSubstr("loss")));
}

TEST_F(BuildStatements, PlacesAndAxes) {
  bind("mesh dp = 2, tp = 3\nrest: replicate");
  OpBuilder builder(&context);
  StatementBuilder statements(bound, outline, diagnostics, builder);
  EXPECT_EQ(print(LocationAttr(statements.locate({0, 0, 0, 0}))), "loc(unknown)");
  EXPECT_EQ(print(LocationAttr(statements.locate({}))), "loc(unknown)");
  EXPECT_EQ(print(LocationAttr(statements.locate({0, 3, 2, 7}))), "loc(\"p.plan\":3:2 to :7)");
  std::string names;
  for (plan::AxisRefAttr axis : statements.axisRefs({1, 0}))
    names += axis.getName().str() + " ";
  EXPECT_EQ(names, "tp dp ");
  EXPECT_THAT(statements.axisRefs({}), IsEmpty());
}

TEST_F(BuildStatements, ALayoutOfATensor) {
  bind("mesh dp = 2, tp = 3\nrest: replicate");
  OpBuilder builder(&context);
  StatementBuilder statements(bound, outline, diagnostics, builder);
  auto of = [&](BoundLayout layout, ArrayRef<int64_t> shape) {
    layout.text = "w: L";
    layout.range = {0, 3, 1, 2};
    return print(Attribute(statements.layoutOf(layout, shape, "'a.w'")));
  };
  BoundLayout rows, listed, whole;
  rows.splits = {{1, {1, 0}}};
  listed.splits = {{0, {1}}};
  listed.rank = 2;
  EXPECT_EQ(of(rows, {4, 6}), "#plan.sharding<[{}, {\"tp\", \"dp\"}]>");
  EXPECT_EQ(of(rows, {4, 6, 8}), "#plan.sharding<[{}, {\"tp\", \"dp\"}, {}]>") << "dims that are not listed are whole";
  EXPECT_EQ(of(listed, {6, 4}), "#plan.sharding<[{\"tp\"}, {}]>");
  EXPECT_EQ(of(whole, {}), "#plan.sharding<[]>");
  EXPECT_THAT(said(), IsEmpty());
  EXPECT_EQ(of(rows, {4}), "#plan.sharding<[{}]>");
  EXPECT_EQ(of(listed, {6, 4, 2}), "#plan.sharding<[{}, {}, {}]>");
  EXPECT_THAT(said(), ElementsAre("3: 'w: L' has 2 dims, and 'a.w' has 1", "3: 'w: L' has 2 dims, and 'a.w' has 3"));
}

} // namespace
