//===- messages_test.cpp - messages of propagation ------------------------===//

#include "compiler/transforms/propagate/messages.h"
#include "mlir/IR/Location.h"
#include "plan_function.h"
#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;
using testing::ElementsAre;

namespace {

/// Calls of modules on dp = 2 and tp = 4. Statements are located in `stated`, lines of a separate file.
class Messages : public PlanFunction {
protected:
  Location stated(unsigned line = 3) { return FileLineColLoc::get(&context, "p.plan", line, 1); }

  /// The diagnostics of a function: `error p.plan:3: text`, followed by its notes.
  std::vector<std::string> said(llvm::function_ref<void()> report) {
    std::vector<std::string> result;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      const char *kind = diagnostic.getSeverity() == DiagnosticSeverity::Error ? "error" : "warning";
      result.push_back(kind + lineOf(diagnostic.getLocation()) + ": " + diagnostic.str());
      for (Diagnostic &note : diagnostic.getNotes())
        result.push_back(
            (llvm::StringRef(note.str()).starts_with("help: ") ? "" : "note" + lineOf(note.getLocation()) + ": ") +
            note.str());
    });
    report();
    return result;
  }
  static std::string lineOf(Location location) {
    auto line = dyn_cast<FileLineColLoc>(location);
    return line ? " " + line.getFilename().str() + ":" + std::to_string(line.getLine()) : "";
  }

  /// A statement that shards features, `colwise` or another style.
  DividingStatement statement(llvm::StringRef style = "colwise") {
    styles = module(("plan.mesh [#base.mesh_axis<\"tp\" = 4>]\nplan.style \"m\" " + style +
                     " [#plan.axis<\"tp\">] as \"" + style + " tp\"\n")
                        .str());
    return {stated(), *styles->getOps<StyleOp>().begin()};
  }
  /// The diagnostics for the first call, which blocks sharding one of its operand's dims over tp at this factor.
  std::vector<std::string> misfits(const DividingStatement &statement, unsigned dim, unsigned place = 0,
                                   unsigned at = 0, unsigned index = 0, bool isCounted = false) {
    CallView view = CallView::of(call(at));
    FactorRule rule = factorRuleOf(view, OpRegistry::get().lookup(view.target));
    Misfit misfit;
    misfit.dim = dim;
    misfit.factor = rule.operands[index].dims[dim][place];
    misfit.axis = axis("tp");
    rule.factors[misfit.factor].isCounted = isCounted;
    DimBlocks blocks(call(at)->getParentOfType<func::FuncOp>());
    return said([&] { reportMisfit(call(at), index, misfit, rule, mesh(), statement, blocks, {}); });
  }

  OwningOpRef<ModuleOp> styles;
};

/// A view of [6, features] as [6, parts...] in `attn`, and a neg before it in `q`.
std::string viewOf(const std::string &type, const std::string &parts, const std::string &to) {
  return "%0 = plan.call \"aten.neg.default\"(%x) {self = #base.operand<0>} in \"q\" : (" + type + ") -> " + type +
         "\n%1 = plan.call \"aten.view.default\"(%0) {self = #base.operand<0>, size = array<i64: 6, " + parts +
         ">} in \"attn\" : (" + type + ") -> tensor<6x" + to + "xf32>\n";
}

/// A split of [6, 16] in `attn`.
std::string splitOf(const std::string &type, const std::string &sizes) {
  return "%0:2 = plan.call \"aten.split_with_sizes.default\"(%x) {self = #base.operand<0>, split_sizes = array<i64: " +
         sizes + ">, dim = 1 : i64} in \"attn\" : (" + type + ") -> (tensor<6x" + sizes.substr(0, sizes.find(',')) +
         "xf32>, tensor<6x" + sizes.substr(sizes.find(' ') + 1) + "xf32>)\n";
}

TEST_F(Messages, OnlySomeStylesTakeParts) {
  const std::pair<const char *, bool> cases[] = {
      {"colwise", true}, {"rowwise", true}, {"sequence", false}, {"replicate", false}, {"expert", false}};
  for (auto [style, takes] : cases)
    EXPECT_EQ(statement(style).takesParts(), takes) << style;
  EXPECT_FALSE((DividingStatement{stated(), {}}.takesParts())) << "a layout is not a style";
}

TEST_F(Messages, FewerPartsThanShards) {
  const std::string type = R"(tensor<6x12xf32, #plan.sharding<[{}, {"tp"}]>>)";
  read("%x: " + type, viewOf(type, "3, 4", "3x4"));
  EXPECT_THAT(misfits(statement(), 1, 0, 1),
              ElementsAre("error p.plan:3: dim 1 of size 12 of 'q' is 3 groups of 4, fewer than tp = 4",
                          "help: tp can be at most 3 (groups, not columns)"));
}

TEST_F(Messages, ShardsThatWouldCutAPart) {
  const std::string type = R"(tensor<6x24xf32, #plan.sharding<[{}, {"tp"}]>>)";
  read("%x: " + type, viewOf(type, "6, 4", "6x4"));
  EXPECT_THAT(
      misfits(statement(), 1, 0, 1),
      ElementsAre("error p.plan:3: dim 1 of size 24 of 'q' is 6 groups of 4, and sharding over tp = 4 would split "
                  "one",
                  "help: tp must divide 6 (groups, not columns)"));
  read("%x: " + type, viewOf(type, "4, 6", "4x6"));
  EXPECT_THAT(misfits(statement(), 1, 0, 1).front(), testing::HasSubstr("and sharding over tp = 4 would split one"))
      << "as many parts as shards are not fewer";
}

TEST_F(Messages, APlacedParameterTakesParts) {
  DividingStatement placed{stated(), {}, true};
  EXPECT_TRUE(placed.takesParts());
  const std::string type = R"(tensor<6x16xf32, #plan.sharding<[{}, {"tp"}]>>)";
  read("%x: " + type, splitOf(type, "8, 8"));
  EXPECT_THAT(misfits(placed, 1), ElementsAre("error p.plan:3: "
                                              "'aten.split_with_sizes.default' in 'attn' reads dim 1 of 'attn' as "
                                              "parts of 8, 8, but it is split over tp as a whole",
                                              "help: state the parts of the fused weight: 'parts 2'"));
}

TEST_F(Messages, PartsThatAreTooSmallForTheAxis) {
  const std::string type = R"(tensor<6x16xf32, #plan.sharding<[{}, {"tp"}]>>)";
  read("%x: " + type, splitOf(type, "13, 3"));
  EXPECT_EQ(misfits(statement(), 1).back(),
            "help: tp can be at most 3, the size of the smallest part; or gather it with "
            "'attn: input [_, _]' before it is split into parts");
}

TEST_F(Messages, OneHeadOfAProjectionHasNoParts) {
  // Heads that a view counts before an operator reads them unchanged, and parts that are selected one by one.
  const std::string type = R"(tensor<6x24xf32, #plan.sharding<[{}, {"tp", parts [8, 8, 8]}]>>)";
  read("%x: " + type, viewOf(type, "4, 6", "4x6"));
  std::vector<std::string> heads = misfits(statement(), 1, 0, 1);
  EXPECT_THAT(heads.front(), testing::HasSubstr("is 4 groups of 6, but is split over tp in parts of 8, 8, 8"));
  EXPECT_EQ(heads.back(),
            "help: these are the parts that the model concatenates; gather them before with 'q: output [_, _]'");
  read("%x: " + type, viewOf(type, "4, 6", "4x6") +
                          "%2 = plan.call \"aten.select.int\"(%1) {self = #base.operand<0>, dim = 1 : i64, index = 0 : "
                          "i64} in \"attn\" : (tensor<6x4x6xf32>) -> tensor<6x6xf32>\n");
  std::vector<std::string> parts = misfits(statement(), 1, 0, 1);
  EXPECT_THAT(parts.front(), testing::HasSubstr("is 4 parts of 6, but is split over tp in parts of 8, 8, 8"));
  EXPECT_EQ(parts.back(),
            "help: these are the parts that the model concatenates; gather them before with 'q: output [_, _]'");
}

TEST_F(Messages, AStatementThatDealsItsInputAnew) {
  const std::string type = R"(tensor<6x16xf32, #plan.sharding<[{}, {"tp", parts [8, 8]}]>>)";
  read("%x: " + type, "%0 = plan.constrain %x <[{}, {\"tp\"}]> along [#plan.axis<\"tp\">] as \"rowwise tp\" : " + type +
                          " -> " + type + "\n");
  auto constrain = *function().getOps<ConstrainOp>().begin();
  constrain->setLoc(stated(4));
  ShardingAttr to = sharding("[{}, {\"tp\"}]");
  auto report = [&](std::optional<Cause> other, bool isError) {
    return said([&] { reportOtherDivision(constrain, argument(0), to, mesh(), other, isError); });
  };
  Cause colwise{stated(3), StringAttr::get(&context, "colwise tp parts 2")};
  EXPECT_THAT(report(colwise, false),
              ElementsAre("warning p.plan:4: 'rowwise tp' splits its input as [6, 16 over tp], but it arrives as "
                          "[6, 16 over tp parts 8+8]; 96 bytes per rank are redistributed",
                          "note p.plan:3: split by 'colwise tp parts 2'",
                          "help: state the same 'parts' at both, or at neither"));
  EXPECT_EQ(report(std::nullopt, true).size(), 2u) << "an error, and no other statement";
}

TEST_F(Messages, WindowsHaveNoParts) {
  const std::string type = R"(tensor<3x9x30xf32, #plan.sharding<[{}, {}, {"tp"}]>>)";
  const std::string weight = R"(tensor<30x8xf32, #plan.sharding<[{"tp"}, {}]>>)";
  read(
      "%x: tensor<3x9x8xf32>, %w: " + weight + " {plan.kind = #plan.kind<parameter>, plan.names = [\"q.weight\"]}",
      "%0 = plan.call \"aten.linear.default\"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in \"q\" : "
      "(tensor<3x9x8xf32>, " +
          weight + ") -> " + type +
          "\n%1 = plan.call \"aten.adaptive_avg_pool1d.default\"(%0) {self = #base.operand<0>, output_size = "
          "array<i64: 2>} in \"q\" : (" +
          type +
          ") -> tensor<3x9x2xf32>\n%2 = plan.call \"aten.select.int\"(%1) {self = #base.operand<0>, dim = 2 : i64, "
          "index = 0 : i64} in \"q\" : (tensor<3x9x2xf32>) -> tensor<3x9xf32>\n");
  argument(1).setLoc(stated());
  EXPECT_THAT(misfits({stated(), {}, true}, 2, 0, 1),
              ElementsAre("error p.plan:3: dim 2 of size 30 of 'q' is 2 parts of 15, fewer than tp = 4",
                          "help: tp can be at most 2 (parts, not columns)"));
}

TEST_F(Messages, PartsBelowOthers) {
  const std::string type = R"(tensor<6x30xf32, #plan.sharding<[{}, {"tp"}]>>)";
  read("%x: " + type, viewOf(type, "3, 5, 2", "3x5x2"));
  EXPECT_THAT(
      misfits(statement(), 1, 1, 1),
      ElementsAre("error p.plan:3: dim 1 of size 30 of 'q' is 3 x 5 groups of 2, and sharding over tp = 4 would "
                  "split one",
                  "help: tp must divide 5 (groups, not columns)"));
}

TEST_F(Messages, PartsThatAreNotThoseOfTheModel) {
  const std::string type = R"(tensor<6x24xf32, #plan.sharding<[{}, {"tp", parts [12, 12]}]>>)";
  read("%x: " + type, viewOf(type, "6, 4", "6x4"));
  EXPECT_THAT(
      misfits(statement(), 1, 0, 1),
      ElementsAre("error p.plan:3: dim 1 of size 24 of 'q' is 6 groups of 4, but is split over tp in parts of "
                  "12, 12, which do not match them",
                  "help: these are the parts that the model concatenates; gather them before with 'q: output [_, _]'"));
  read("%x: " + type, viewOf(type, "2, 3, 4", "2x3x4"));
  EXPECT_THAT(misfits(statement(), 1, 1, 1),
              ElementsAre("error p.plan:3: dim 1 of size 24 of 'q' is 2 x 3 groups of 4, fewer than tp = 4",
                          "help: tp can be at most 3 (groups, not columns)"))
      << "two parts for the two above are right";
}

TEST_F(Messages, PartsAreCalledByTheAttentionBehindThem) {
  const std::string type = R"(tensor<2x6x24xf32, #plan.sharding<[{}, {}, {"tp"}]>>)", heads = "tensor<2x6x6x4xf32>";
  auto view = [&](const std::string &to, const std::string &from) {
    return to + "v = plan.call \"aten.view.default\"(" + from +
           ") {self = #base.operand<0>, size = array<i64: 2, 6, 6, 4>} in \"attn\" : (" + type + ") -> " + heads +
           "\n" + to + "t = plan.call \"aten.transpose.int\"(" + to +
           "v) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64} in \"attn\" : (" + heads + ") -> " + heads +
           "\n";
  };
  // The third is multiplied by weights before an attention reads it: its parts are not heads.
  read("%x: " + type + ", %y: " + type + ", %z: " + type + ", %w: tensor<4x4xf32>",
       view("%q", "%x") + view("%k", "%y") + view("%o", "%z") +
           "%p = plan.call \"aten.linear.default\"(%ot, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "
           "\"attn\" : (" +
           heads + ", tensor<4x4xf32>) -> " + heads + "\n" +
           "%s = plan.call \"aten.add.Tensor\"(%qt, %p) {self = #base.operand<0>, other = #base.operand<1>} in "
           "\"attn\" : (" +
           heads + ", " + heads + ") -> " + heads + "\n" +
           "%out:2 = plan.call \"meshplan.attention\"(%s, %kt, %kt) {query = #base.operand<0>, key = #base.operand<1>, "
           "value = #base.operand<2>} in \"attn\" : (" +
           heads + ", " + heads + ", " + heads + ") -> (" + heads + ", tensor<2x6x6xf32>)\n");
  EXPECT_THAT(misfits(statement(), 2, 0, 0).front(), testing::HasSubstr("is 6 heads of 4, "));
  EXPECT_THAT(misfits(statement(), 2, 0, 2).front(), testing::HasSubstr("is 6 KV heads of 4, "));
  EXPECT_THAT(misfits(statement(), 2, 0, 4).front(), testing::HasSubstr("is 6 groups of 4, "));
}

TEST_F(Messages, CountedElementsTakeNoParts) {
  const std::string parts = R"(tensor<6x24xf32, #plan.sharding<[{}, {"tp", parts [12, 12]}]>>)";
  read("%x: " + parts, viewOf(parts, "6, 4", "6x4"));
  EXPECT_THAT(
      misfits(statement(), 1, 0, 1, 0, /*isCounted=*/true),
      ElementsAre("error p.plan:3: dim 1 of 'q' is split over tp part by part, but 'aten.view.default' in "
                  "'attn' addresses its elements by their position in the whole tensor",
                  "help: these are the parts that the model concatenates; gather them before with 'q: output [_, _]'"));
  const std::string one = R"(tensor<6x24xf32, #plan.sharding<[{}, {"tp"}]>>)";
  read("%x: " + one, viewOf(one, "6, 4", "6x4"));
  EXPECT_THAT(misfits(statement(), 1, 0, 1, 0, /*isCounted=*/true).front(), testing::HasSubstr("would split one"))
      << "without parts that does not matter";
}

/// A split of %x in parts of 8, 4 and 4, in a module; %x is an argument or the result of another module.
std::string splitIn(const std::string &module, const std::string &producer, const std::string &type) {
  std::string from = producer.empty() ? "%x" : "%0";
  std::string made = producer.empty() ? ""
                                      : "%0 = plan.call \"aten.neg.default\"(%x) {self = #base.operand<0>} in \"" +
                                            producer + "\" : (" + type + ") -> " + type + "\n";
  return made + "%1:3 = plan.call \"aten.split_with_sizes.default\"(" + from +
         ") {self = #base.operand<0>, split_sizes = array<i64: 8, 4, 4>, dim = 1 : i64}" +
         (module.empty() ? "" : " in \"" + module + "\"") + " : (" + type +
         ") -> (tensor<6x8xf32>, tensor<6x4xf32>, tensor<6x4xf32>)\n";
}

TEST_F(Messages, AFusedWeightHasParts) {
  const std::string type = R"(tensor<6x16xf32, #plan.sharding<[{"dp"}, {"tp"}]>>)";
  read("%x: " + type, splitIn("attn", "qkv", type));
  const std::string error = "error p.plan:3: 'aten.split_with_sizes.default' in "
                            "'attn' reads dim 1 of 'qkv' as parts of 8, 4, 4, but it is split over tp as a whole";
  EXPECT_THAT(misfits(statement(), 1, 0, 1),
              ElementsAre(error, "help: state the parts of the fused weight: 'parts (q 2, k 1, v 1)'"));
  EXPECT_THAT(misfits({stated(), {}}, 1, 0, 1),
              ElementsAre(error, "help: gather it with 'qkv: output [_ over dp, _]' before it is split into parts"))
      << "the other dim stays as it is";
}

TEST_F(Messages, PartsAreGatheredAtTheBorderThatIsThere) {
  const std::string type = R"(tensor<6x16xf32, #plan.sharding<[{}, {"dp", "tp"}]>>)";
  read("%x: " + type, splitIn("attn", "", type));
  EXPECT_THAT(misfits({stated(), {}}, 1),
              ElementsAre("error p.plan:3: 'aten.split_with_sizes.default' in "
                          "'attn' reads dim 1 of 'attn' as parts of 8, 4, 4, but it is split over tp as a whole",
                          "help: gather it with 'attn: input [_, _]' before it is split into parts"));
  const char *inside = "help: split another dim, or let the modules before it gather this one with 'output'";
  read("%x: " + type, splitIn("attn", "attn", type));
  EXPECT_EQ(misfits({stated(), {}}, 1, 0, 1).back(), inside);
  read("%x: " + type, splitIn("", "", type));
  EXPECT_THAT(misfits({stated(), {}}, 1),
              ElementsAre("error p.plan:3: "
                          "'aten.split_with_sizes.default' in the root module reads dim 1 of the root module as parts "
                          "of 8, 4, 4, but it is split over tp as a whole",
                          inside));
}

TEST_F(Messages, OtherPartsThanThoseOfTheModel) {
  const std::string type = R"(tensor<6x16xf32, #plan.sharding<[{}, {"tp", parts [6, 6, 4]}]>>)";
  read("%x: " + type, splitIn("attn", "qkv", type));
  EXPECT_THAT(
      misfits(statement("rowwise"), 1, 0, 1),
      ElementsAre("error p.plan:3: 'aten.split_with_sizes.default' in "
                  "'attn' reads dim 1 of 'qkv' as parts of 8, 4, 4, but it is split over tp as parts of 6, 6, 4",
                  "help: state the parts of the fused weight: 'parts (q 2, k 1, v 1)'"));
}

TEST_F(Messages, AnOperatorWithoutARecordReadsWholeValues) {
  const std::string type = R"(tensor<6x16xf32, #plan.sharding<[{"dp"}, {"tp"}]>>)";
  auto unknown = [&](const std::string &target, const std::string &module, bool isError = false) {
    read("%x: " + type + ", %y: " + type, "%0 = plan.call \"" + target +
                                              "\"(%y, %x) {self = #base.operand<1>, other = #base.operand<0>}" +
                                              (module.empty() ? "" : " in \"" + module + "\"") + " : (" + type + ", " +
                                              type + ") -> tensor<6x16xf32>\n");
    DividingStatement statement{stated(4), {}};
    return said([&] { reportUnstatedReshard(call(0), 1, sharding("[{}, {}]"), mesh(), statement, {}, isError); });
  };
  EXPECT_THAT(unknown("custom.scan.default", "mixer"),
              ElementsAre("warning p.plan:4: operator 'custom.scan.default' in 'mixer' has no record and runs on whole "
                          "tensors: its operand 1 is gathered from [6 over dp, 16 over tp]; 384 bytes per rank",
                          "help: try 'ep.run_decompositions({})' before torch.export.save, "
                          "write it with other operators, or add a record (docs/adding-an-op.md), or ask for it "
                          "with 'mixer: input 1 [_, _]'"));
  EXPECT_THAT(unknown("custom.scan.default", "", /*isError=*/true),
              ElementsAre("error p.plan:4: operator 'custom.scan.default' in the root module has no record and runs on "
                          "whole tensors: its operand 1 is gathered from [6 over dp, 16 over tp]; 384 bytes per rank",
                          "help: try 'ep.run_decompositions({})' before torch.export.save, "
                          "write it with other operators, or add a record (docs/adding-an-op.md)"));
  for (const char *known : {"aten.add.other", "aten.cross_entropy_loss.default", "aten.scaled_dot_product_attention.x"})
    EXPECT_THAT(unknown(known, "m").front(),
                testing::StartsWith("warning p.plan:4: this form of operator '" + std::string(known) +
                                    "' in 'm' has no record and runs on whole tensors"));
  EXPECT_THAT(unknown("aten.ad.Tensor", "m").front(), testing::HasSubstr(": operator 'aten.ad.Tensor'"))
      << "a name is known as a whole";
}

TEST_F(Messages, AnOperatorWithoutARecordReadsNoMicrobatches) {
  const std::string type = R"(tensor<6x16xf32, #plan.sharding<[{"dp"}, {"tp"}]>>)";
  read("%x: " + type, "%0 = plan.call \"custom.scan.default\"(%x) {self = #base.operand<0>} in \"mixer\" : (" + type +
                          ") -> tensor<6x16xf32>\n");
  Layouts layouts(mesh());
  layouts.setCause(argument(0), axis("tp"), {stated(4), StringAttr::get(&context, "colwise tp")});
  layouts.setCause(argument(0), axis("dp"), {stated(5), StringAttr::get(&context, "input x")});
  EXPECT_THAT(said([&] { reportUnknownOperator(call(0), 0, layouts, stated(4)); }),
              ElementsAre("error p.plan:4: operator 'custom.scan.default' in 'mixer' has no record, and would read "
                          "samples of several microbatches",
                          "note p.plan:5: also split by 'input x'",
                          "help: leave out 'microbatches', write 'mean' after it to take the mean of the "
                          "losses of microbatches, or add a record (docs/adding-an-op.md)"));
}

TEST_F(Messages, AReshardThatNothingStates) {
  const std::string type = R"(tensor<6x16xf32, #plan.sharding<[{}, {"tp"}]>>)";
  read("%x: " + type, "%0 = plan.call \"aten.softmax.int\"(%x) {self = #base.operand<0>, dim = 1} in \"head\" : (" +
                          type + ") -> tensor<6x16xf32>\n");
  auto unstated = [&](llvm::StringRef needed, bool isError) {
    return said([&] { reportUnstatedReshard(call(0), 0, sharding(needed), mesh(), statement(), {}, isError); });
  };
  EXPECT_THAT(unstated("[{}, {}]", false),
              ElementsAre("warning p.plan:3: nothing in the plan asks for this reshard: 'aten.softmax.int' in 'head' "
                          "needs [6, 16], and gets [6, 16 over tp]; 384 bytes per rank",
                          "help: give compatible styles to the modules that share these values, or ask for it with "
                          "'head: input [_, _]'"));
  EXPECT_THAT(
      unstated("[{\"tp\"}, {}]", true),
      ElementsAre("error p.plan:3: nothing in the plan asks for this reshard: 'aten.softmax.int' in 'head' needs "
                  "[6 over tp, 16], and gets [6, 16 over tp]; 128 bytes per rank",
                  "help: give compatible styles to the modules that share these values, or ask for it with "
                  "'head: input [_ over tp, _]'"))
      << "the largest shard has two of the six rows";
}

TEST_F(Messages, AReshardOfAHeadThatNoModuleMakes) {
  const std::string key = R"(tensor<2x1x6x4xf32, #plan.sharding<[{}, {}, {}, {"tp"}]>>)";
  read("%q: tensor<2x2x6x4xf32>, %k: " + key,
       "%out:2 = plan.call \"meshplan.attention\"(%q, %k, %k) {query = "
       "#base.operand<0>, key = #base.operand<1>, value = #base.operand<2>} in \"attn\" : (tensor<2x2x6x4xf32>, " +
           key + ", " + key + ") -> (tensor<2x2x6x4xf32>, tensor<2x2x6xf32>)\n");
  auto unstated = [&](const DividingStatement &by) {
    return said([&] { reportUnstatedReshard(call(0), 1, sharding("[{}, {}, {}, {}]"), mesh(), by, {}, false); }).back();
  };
  EXPECT_EQ(unstated(statement()), "help: a KV head cannot be split: use 'replicate' for its producer");
  EXPECT_EQ(unstated(statement("sequence")),
            "help: give compatible styles to the modules that share these values, or ask for it with "
            "'attn: input 1 [_, _, _, _]'")
      << "not what divides features";
}

TEST_F(Messages, AReshardOfAnotherDimIsNoneOfAHead) {
  const std::string key = R"(tensor<2x1x6x4xf32, #plan.sharding<[{}, {}, {"tp"}, {}]>>)";
  read("%q: tensor<2x2x6x4xf32>, %k: " + key, "%out:2 = plan.call \"meshplan.attention\"(%q, %k, %k) {query = "
                                              "#base.operand<0>, key = #base.operand<1>, value = "
                                              "#base.operand<2>} in \"attn\" : (tensor<2x2x6x4xf32>, " +
                                                  key + ", " + key + ") -> (tensor<2x2x6x4xf32>, tensor<2x2x6xf32>)\n");
  EXPECT_EQ(said([&] {
              reportUnstatedReshard(call(0), 1, sharding("[{}, {}, {}, {}]"), mesh(), statement(), {}, false);
            }).back(),
            "help: give compatible styles to the modules that share these values, or ask for it with "
            "'attn: input 1 [_, _, _, _]'");
}

TEST_F(Messages, ADimSmallerThanItsShards) {
  read("%x: tensor<3x8xf32>", "%0 = plan.constrain %x <[{\"tp\"}, {}]> along [#plan.axis<\"tp\">] as \"sequence tp\" : "
                              "tensor<3x8xf32> -> tensor<3x8xf32>\n");
  context.printOpOnDiagnostic(false);
  EXPECT_THAT(
      said([&] { reportSmallDim(cast<ConstrainOp>(op(0)), 0, 4); }),
      ElementsAre("error -:3: 'sequence tp' splits dim 0 of size 3 into 4 shards, which leaves ranks without elements",
                  "help: split it into at most as many shards as its size"));
}

} // namespace
