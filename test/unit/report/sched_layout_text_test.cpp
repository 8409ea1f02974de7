//===- sched_layout_text_test.cpp - layouts as text -----------------------===//

#include "compiler/report/sched_layout_text.h"
#include "test/unit/dialect/parsed_text.h"

using namespace meshplan;

namespace {

using ReportLayoutText = ParsedText<sched::SchedDialect>;

TEST_F(ReportLayoutText, NamesTheAxesOfTheMesh) {
  auto owner = module("sched.mesh [#base.mesh_axis<\"dp\" = 2>, #base.mesh_axis<\"tp\" = 6>]");
  std::pair<const char *, const char *> cases[] = {
      {"[], f32", "[]"},
      {"[4, 576], f32", "[4, 576]"},
      {"[49152 over {1:(1)6}, 576], f32", "[49152 over tp, 576]"},
      {"[8 over {0:(1)2, 1:(1)6}], f32", "[8 over (dp, tp)]"},
      {"[8 over {1:(2)3}, 8 over {1:(1)2}], f32", "[8 over tp:(2)3, 8 over tp:(1)2]"},
      {"[576 over {1:(1)6} unit 64], f32", "[576 over tp unit 64]"},
      {"[576 over {1:(1)6} parts [512, 32, 32]], f32", "[576 over tp parts 512+32+32]"},
      {"[128 over {1:(1)6} unit 64 repeat 3], f32", "[128 over tp unit 64 repeat 3]"},
      {"[576 unit 64], f32", "[576]"}, // the block of an unsharded dim is not shown
  };
  for (auto [text, words] : cases)
    EXPECT_EQ(layoutText(type<sched::ShardedTensorType>((llvm::Twine("!sched.tensor<") + text + ">").str()),
                         sched::getMesh(*owner)),
              words);
}

TEST_F(ReportLayoutText, NamesElementTypes) {
  for (auto [text, words] : {std::pair("i1", "bool"), {"f32", "f32"}, {"bf16", "bf16"}, {"i64", "i64"}, {"ui8", "ui8"}})
    EXPECT_EQ(dtypeText(type<mlir::Type>(text)), words);
}

} // namespace
