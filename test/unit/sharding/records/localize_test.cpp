//===- localize_test.cpp - local forms of calls ---------------------------===//

#include "mlir/Parser/Parser.h"
#include "test/unit/sharding/parsed_call.h"
#include <regex>

using namespace meshplan;

namespace {

class RecordLocalize : public CallTest {
protected:
  /// "target {args}" of the local form.
  std::string local(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    return text(record(target).localize(parse(target, args, types), plan::MeshOp()));
  }
};

TEST_F(RecordLocalize, SizesOfDividedDimsFollowTheRank) {
  EXPECT_EQ(local("aten.view.default", "{self = #base.operand<0>, size = [4, 96, -1, 64]}",
                  R"((tensor<4x96x576xf32, #plan.sharding<[{"dp"}, {}, {"tp"}]>>)
                     -> tensor<4x96x9x64xf32, #plan.sharding<[{"dp"}, {}, {"tp"}, {}]>>)"),
            "aten.reshape.default {self = #base.operand<0>, shape = [#base.local<0, result 0, dim 0, extent 1>, 96, "
            "#base.local<0, result 0, dim 2, extent 1>, 64]}");
}

/// A view of the rank's shard may need a copy where that of the whole tensor needs none.
TEST_F(RecordLocalize, ViewsBecomeReshapes) {
  EXPECT_EQ(local("aten.reshape.default", "{self = #base.operand<0>, shape = [2, -1]}",
                  "(tensor<4x6xf32, #plan.sharding<[{}, {}]>>) -> tensor<2x12xf32, #plan.sharding<[{}, {}]>>"),
            "aten.reshape.default {self = #base.operand<0>, shape = [2, 12]}");
  EXPECT_EQ(local("aten.view.default", "{self = #base.operand<0>, size = [24]}", "(tensor<4x6xf32>) -> tensor<24xf32>"),
            "aten.reshape.default {self = #base.operand<0>, shape = [24]}");
  EXPECT_EQ(local("aten.flatten.using_ints", "{self = #base.operand<0>, start_dim = 1}",
                  "(tensor<2x4x6xf32>) -> tensor<2x24xf32>"),
            "aten.reshape.default {self = #base.operand<0>, shape = [2, 24]}");
}

TEST_F(RecordLocalize, UnflattenNamesEverySize) {
  EXPECT_EQ(local("aten.unflatten.int", "{self = #base.operand<0>, dim = -1, sizes = [6, -1]}",
                  R"((tensor<4x24xf32, #plan.sharding<[{}, {"tp"}]>>)
                     -> tensor<4x6x4xf32, #plan.sharding<[{}, {"tp"}, {}]>>)"),
            "aten.reshape.default {self = #base.operand<0>, "
            "shape = [4, #base.local<0, result 0, dim 1, extent 1>, 4]}");
}

TEST_F(RecordLocalize, ExpandNamesEverySize) {
  EXPECT_EQ(local("aten.expand.default", "{self = #base.operand<0>, size = [-1, 12]}",
                  R"((tensor<4x1xf32, #plan.sharding<[{"dp"}, {}]>>)
                     -> tensor<4x12xf32, #plan.sharding<[{"dp"}, {"tp"}]>>)"),
            "aten.expand.default {self = #base.operand<0>, size = [#base.local<0, result 0, dim 0, extent 1>, "
            "#base.local<0, result 0, dim 1, extent 1>]}");
}

TEST_F(RecordLocalize, RepeatsOfADividedDimAreItsExtent) {
  EXPECT_EQ(local("aten.repeat.default", "{self = #base.operand<0>, repeats = [12, 1]}",
                  R"((tensor<6xf32, #plan.sharding<[{"dp"}]>>)
                     -> tensor<12x6xf32, #plan.sharding<[{"tp"}, {"dp"}]>>)"),
            "aten.repeat.default {repeats = [#base.local<0, result 0, dim 0, extent 1>, 1], "
            "self = #base.operand<0>}");
}

TEST_F(RecordLocalize, SqueezeNamesTheDimsThatAreOneInTheWhole) {
  EXPECT_EQ(local("aten.squeeze.default", "{self = #base.operand<0>}",
                  R"((tensor<1x2x1x6xf32, #plan.sharding<[{}, {"tp"}, {}, {}]>>)
                     -> tensor<2x6xf32, #plan.sharding<[{"tp"}, {}]>>)"),
            "aten.squeeze.dims {dim = [0, 2], self = #base.operand<0>}");
  EXPECT_EQ(local("aten.squeeze.dim", "{self = #base.operand<0>, dim = 0}",
                  R"((tensor<2x6xf32, #plan.sharding<[{"tp"}, {}]>>)
                     -> tensor<2x6xf32, #plan.sharding<[{"tp"}, {}]>>)"),
            "aten.squeeze.dims {dim = [], self = #base.operand<0>}");
}

TEST_F(RecordLocalize, ArangeStartsWhereTheRankDoes) {
  EXPECT_EQ(
      local("aten.arange.default", "{end = 12, dtype = i64}", R"(() -> tensor<12xi64, #plan.sharding<[{"tp"}]>>)"),
      "aten.arange.start_step {dtype = i64, end = #base.local<0, result 0, dim 0, offset 1, extent 1>, "
      "start = #base.local<0, result 0, dim 0, offset 1>, step = 1 : i64}");
  EXPECT_EQ(local("aten.arange.start_step", "{start = 5, end = -7, step = -2}",
                  R"(() -> tensor<6xi64, #plan.sharding<[{"tp"}]>>)"),
            "aten.arange.start_step {end = #base.local<5, result 0, dim 0, offset -2, extent -2>, "
            "start = #base.local<5, result 0, dim 0, offset -2>, step = -2 : i64}");
}

TEST_F(RecordLocalize, CreationsMakeTheirPart) {
  EXPECT_EQ(local("aten.full.default", "{size = [4, 6], fill_value = 1.5}",
                  R"(() -> tensor<4x6xf32, #plan.sharding<[{}, {"tp"}]>>)"),
            "aten.full.default {fill_value = 1.500000e+00 : f64, "
            "size = [4, #base.local<0, result 0, dim 1, extent 1>]}");
}

TEST_F(RecordLocalize, EmbeddingOfADividedVocabularyHasAnOffset) {
  constexpr char args[] = "{weight = #base.operand<0>, indices = #base.operand<1>, padding_idx = 3}";
  EXPECT_EQ(local("aten.embedding.default", args,
                  R"((tensor<24x12xf32, #plan.sharding<[{"tp"}, {}]>>, tensor<6xi64, #plan.sharding<[{}]>>)
                     -> tensor<6x12xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>)"),
            "meshplan.embedding {indices = #base.operand<1>, offset = #base.local<0, operand 0, dim 0, offset 1>, "
            "rows = 24 : i64, weight = #base.operand<0>}");
  EXPECT_EQ(local("aten.embedding.default", args,
                  R"((tensor<24x12xf32, #plan.sharding<[{}, {"tp"}]>>, tensor<6xi64, #plan.sharding<[{}]>>)
                     -> tensor<6x12xf32, #plan.sharding<[{}, {"tp"}]>>)"),
            "aten.embedding.default {indices = #base.operand<1>, padding_idx = 3 : i64, weight = #base.operand<0>}");
}

TEST_F(RecordLocalize, MeanOfAPartIsASumOverTheNumberOfAll) {
  EXPECT_EQ(local("aten.mean.dim", "{self = #base.operand<0>, dim = [-1], keepdim = true}",
                  R"((tensor<4x12xf32, #plan.sharding<[{}, {"tp"}]>>)
                     -> tensor<4x1xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>)"),
            "meshplan.mean_addend {count = 12 : i64, dim = [-1], keepdim = true, self = #base.operand<0>}");
  EXPECT_EQ(local("aten.mean.dim", "{self = #base.operand<0>, dim = [-1]}",
                  R"((tensor<4x12xf32, #plan.sharding<[{"tp"}, {}]>>) -> tensor<4xf32, #plan.sharding<[{"tp"}]>>)"),
            "aten.mean.dim {dim = [-1], self = #base.operand<0>}");
}

TEST_F(RecordLocalize, ABiasIsAddedBeforeAPartIsRounded) {
  auto linear = [&](const char *element, const char *sharding) {
    std::string types = R"((tensor<4x6x8xE, #plan.sharding<S>>, tensor<2x8xE, #plan.sharding<[{}, {}]>>,
                            tensor<2xE, #plan.sharding<[{}]>>) -> tensor<4x6x2xE, #plan.sharding<S>>)";
    types = std::regex_replace(types, std::regex("E"), element);
    types = std::regex_replace(types, std::regex("S"), sharding);
    return local("aten.linear.default",
                 "{input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>}", types);
  };
  constexpr char args[] = " {bias = #base.operand<2>, input = #base.operand<0>, weight = #base.operand<1>}";
  EXPECT_EQ(linear("bf16", R"([{}, {"tp"}, {}])"), std::string("meshplan.linear") + args);
  EXPECT_EQ(linear("bf16", "[{}, {}, {}]"), std::string("aten.linear.default") + args);
  EXPECT_EQ(linear("f32", R"([{}, {"tp"}, {}])"), std::string("aten.linear.default") + args);
}

TEST_F(RecordLocalize, PickSubtractsTheFirstColumnOfTheRank) {
  EXPECT_EQ(local("meshplan.row_pick", "{input = #base.operand<0>, target = #base.operand<1>, offset = 5}",
                  R"((tensor<6x12xf32, #plan.sharding<[{}, {"tp"}]>>, tensor<6xi64, #plan.sharding<[{}]>>)
                     -> tensor<6xf32, #plan.sharding<[{}], partial = sum {"tp"}>>)"),
            "meshplan.row_pick {input = #base.operand<0>, offset = #base.local<5, operand 0, dim 1, offset 1>, "
            "target = #base.operand<1>}");
}

} // namespace
