//===- dim_blocks_test.cpp - blocks that may not be cut -------------------===//

#include "compiler/sharding/blocks/dim_blocks.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>
#include <map>

using namespace meshplan;
using namespace meshplan::plan;

namespace {

class DimBlocksTest : public testing::Test {
protected:
  DimBlocksTest() { context.loadDialect<PlanDialect, mlir::func::FuncDialect>(); }

  /// Parses a module with a mesh {tp = 2, big = 16} and one function.
  void parse(const std::string &function) {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        R"(plan.mesh [#base.mesh_axis<"tp" = 2>, #base.mesh_axis<"four" = 4>, #base.mesh_axis<"big" = 16>])" +
            ("\n" + function),
        &context);
    ASSERT_TRUE(module);
    program = *module->getOps<mlir::func::FuncOp>().begin();
    blocks.emplace(program);
  }

  int64_t ofArgument(unsigned argument, int64_t dim) { return blocks->get(program.getArgument(argument), dim); }

  /// The sharding of the first result of the call at `place`, split along `dim` over an axis.
  DimShardingAttr divide(unsigned place, int64_t dim, llvm::StringRef axis) {
    mlir::Operation &call = *std::next(program.getBody().front().begin(), place);
    return blocks->divide(call.getResult(0), dim, {AxisRefAttr::get(&context, axis)}, mesh());
  }
  DimShardingAttr dealt(int64_t extent, llvm::StringRef axis, int64_t unit, int64_t repeat = 1) {
    return divideDim(extent, {AxisRefAttr::get(&context, axis)}, mesh(), unit, {}, repeat);
  }
  MeshOp mesh() { return *module->getOps<MeshOp>().begin(); }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp program;
  std::optional<DimBlocks> blocks;
};

constexpr const char *attentionText = R"(
func.func @forward(%x: tensor<2x6x20xf32>, %q: tensor<36x20xf32>, %k: tensor<12x20xf32>) -> tensor<2x9x6x4xf32> {
  %0 = plan.call "aten.linear.default"(%x, %q) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<2x6x20xf32>, tensor<36x20xf32>) -> tensor<2x6x36xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = array<i64: 2, 6, 9, 4>}
      : (tensor<2x6x36xf32>) -> tensor<2x6x9x4xf32>
  %2 = plan.call "aten.transpose.int"(%1) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64}
      : (tensor<2x6x9x4xf32>) -> tensor<2x9x6x4xf32>
  %3 = plan.call "aten.linear.default"(%x, %k) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<2x6x20xf32>, tensor<12x20xf32>) -> tensor<2x6x12xf32>
  %4 = plan.call "aten.view.default"(%3) {self = #base.operand<0>, size = array<i64: 2, 6, 3, 4>}
      : (tensor<2x6x12xf32>) -> tensor<2x6x3x4xf32>
  %5 = plan.call "aten.transpose.int"(%4) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64}
      : (tensor<2x6x3x4xf32>) -> tensor<2x3x6x4xf32>
  %6:2 = plan.call "meshplan.attention"(%2, %5, %5)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>}
      : (tensor<2x9x6x4xf32>, tensor<2x3x6x4xf32>, tensor<2x3x6x4xf32>) -> (tensor<2x9x6x4xf32>, tensor<2x9x6xf32>)
  return %6#0 : tensor<2x9x6x4xf32>
})";

TEST_F(DimBlocksTest, QueryHeadsStayWithTheirKey) {
  parse(attentionText);
  EXPECT_EQ(ofArgument(1, 0), 3 * 4);
  EXPECT_EQ(ofArgument(2, 0), 4);
}

TEST_F(DimBlocksTest, WhatIsContractedOrBatchedHasNoBlock) {
  parse(attentionText);
  EXPECT_EQ(ofArgument(0, 0), 1);
  EXPECT_EQ(ofArgument(0, 1), 1);
  EXPECT_EQ(ofArgument(0, 2), 1);
  EXPECT_EQ(ofArgument(1, 1), 1);
}

TEST_F(DimBlocksTest, DimsAreDividedByTheirBlocksWhereThereAreEnough) {
  parse(attentionText);
  MeshOp mesh = *module->getOps<MeshOp>().begin();
  AxisRefAttr tp = AxisRefAttr::get(&context, "tp"), big = AxisRefAttr::get(&context, "big");
  EXPECT_EQ(blocks->divide(program.getArgument(1), 0, {tp}, mesh), divideDim(36, {tp}, mesh, 12));
  EXPECT_EQ(blocks->divide(program.getArgument(1), 0, {big}, mesh), divideDim(36, {big}, mesh, 1));
}

TEST_F(DimBlocksTest, MoreShardsThanKeysShareThem) {
  parse(attentionText);
  MeshOp mesh = *module->getOps<MeshOp>().begin();
  AxisRefAttr four = AxisRefAttr::get(&context, "four");
  EXPECT_EQ(blocks->divide(program.getArgument(1), 0, {four}, mesh), divideDim(36, {four}, mesh, 4));
  EXPECT_EQ(blocks->divide(program.getArgument(2), 0, {four}, mesh), divideDim(12, {four}, mesh, 4, {}, 3));
}

/// Attention whose queries, keys and values, in heads of 4, are the rows of one weight. `split` splits `%0` into the
/// values `names`. In it, and below, $q and $k are the numbers of heads, $Q and $K their rows, $A all rows.
std::string fusedAttention(int64_t queries, int64_t keys, const std::string &split, std::array<std::string, 3> names) {
  std::string text = R"(
func.func @forward(%x: tensor<2x6x20xf32>, %w: tensor<$Ax20xf32>) -> tensor<2x$qx6x4xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<2x6x20xf32>, tensor<$Ax20xf32>) -> tensor<2x6x$Axf32>
)" + split + R"(
  %query = plan.call "aten.view.default"($0) {self = #base.operand<0>, size = array<i64: 2, 6, $q, 4>}
      : (tensor<2x6x$Qxf32>) -> tensor<2x6x$qx4xf32>
  %key = plan.call "aten.view.default"($1) {self = #base.operand<0>, size = array<i64: 2, 6, $k, 4>}
      : (tensor<2x6x$Kxf32>) -> tensor<2x6x$kx4xf32>
  %value = plan.call "aten.view.default"($2) {self = #base.operand<0>, size = array<i64: 2, 6, $k, 4>}
      : (tensor<2x6x$Kxf32>) -> tensor<2x6x$kx4xf32>
  %queries = plan.call "aten.transpose.int"(%query) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64}
      : (tensor<2x6x$qx4xf32>) -> tensor<2x$qx6x4xf32>
  %keys = plan.call "aten.transpose.int"(%key) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64}
      : (tensor<2x6x$kx4xf32>) -> tensor<2x$kx6x4xf32>
  %values = plan.call "aten.transpose.int"(%value) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64}
      : (tensor<2x6x$kx4xf32>) -> tensor<2x$kx6x4xf32>
  %made:2 = plan.call "meshplan.attention"(%queries, %keys, %values)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>}
      : (tensor<2x$qx6x4xf32>, tensor<2x$kx6x4xf32>, tensor<2x$kx6x4xf32>)
      -> (tensor<2x$qx6x4xf32>, tensor<2x$qx6xf32>)
  return %made#0 : tensor<2x$qx6x4xf32>
})";
  std::map<char, std::string> known = {{'q', std::to_string(queries)},
                                       {'k', std::to_string(keys)},
                                       {'Q', std::to_string(4 * queries)},
                                       {'K', std::to_string(4 * keys)},
                                       {'A', std::to_string(4 * queries + 8 * keys)},
                                       {'0', names[0]},
                                       {'1', names[1]},
                                       {'2', names[2]}};
  for (size_t at; (at = text.find('$')) != std::string::npos;)
    text.replace(at, 2, known.at(text[at + 1]));
  return text;
}

// Two key heads and two value heads for four query heads.
std::string fused() {
  return fusedAttention(4, 2, R"(
  %1:3 = plan.call "aten.split_with_sizes.default"(%0)
      {self = #base.operand<0>, split_sizes = array<i64: $Q, $K, $K>, dim = -1 : i64}
      : (tensor<2x6x$Axf32>) -> (tensor<2x6x$Qxf32>, tensor<2x6x$Kxf32>, tensor<2x6x$Kxf32>))",
                        {"%1#0", "%1#1", "%1#2"});
}

TEST_F(DimBlocksTest, KeysInOneWeightWithTheirQueriesShareByThemselves) {
  parse(fused());
  EXPECT_EQ(divide(6, 1, "four"), dealt(2, "four", 1, 2)) << "a key for two query heads";
  EXPECT_EQ(divide(5, 1, "four"), dealt(4, "four", 1));
  EXPECT_EQ(blocks->divide(program.getArgument(1), 0, {AxisRefAttr::get(&context, "tp")}, mesh()), dealt(32, "tp", 8));
  EXPECT_EQ(blocks->divide(program.getArgument(1), 0, {AxisRefAttr::get(&context, "big")}, mesh()),
            dealt(32, "big", 1));
}

// Six query heads and three key heads: keys and values are split together from the queries.
std::string threeKeys() {
  return fusedAttention(6, 3, R"(
  %1:2 = plan.call "aten.split_with_sizes.default"(%0)
      {self = #base.operand<0>, split_sizes = array<i64: $Q, 24>, dim = -1 : i64}
      : (tensor<2x6x$Axf32>) -> (tensor<2x6x$Qxf32>, tensor<2x6x24xf32>)
  %2:2 = plan.call "aten.split_with_sizes.default"(%1#1)
      {self = #base.operand<0>, split_sizes = array<i64: $K, $K>, dim = -1 : i64}
      : (tensor<2x6x24xf32>) -> (tensor<2x6x$Kxf32>, tensor<2x6x$Kxf32>))",
                        {"%1#0", "%2#0", "%2#1"});
}

TEST_F(DimBlocksTest, PartsOfAFusedWeightHaveBlocksOfTheirOwn) {
  parse(threeKeys());
  mlir::BlockArgument weight = program.getArgument(1);
  auto inParts = [&](llvm::StringRef axis, llvm::ArrayRef<DimPart> parts) {
    return blocks->divide(weight, 0, {AxisRefAttr::get(&context, axis)}, mesh(), parts);
  };
  auto splitInParts = [&](llvm::StringRef axis, llvm::ArrayRef<DimPart> parts) {
    return divideDim(48, {AxisRefAttr::get(&context, axis)}, mesh(), 1, parts);
  };
  EXPECT_EQ(inParts("tp", {24, 12, 12}), splitInParts("tp", {{24, 8}, {12, 4}, {12, 4}})) << "groups of two queries";
  EXPECT_EQ(inParts("four", {24, 12, 12}), splitInParts("four", {{24, 4}, {12, 4, 2}, {12, 4, 2}}))
      << "queries, and the keys that they need";
  EXPECT_EQ(inParts("big", {24, 12, 12}), splitInParts("big", {24, 12, 12})) << "fewer queries than shards";
  // Parts of the plan that are not those of the model.
  EXPECT_EQ(inParts("tp", {24, 24}), splitInParts("tp", {{24, 8}, {24, 4}}));
  EXPECT_EQ(inParts("four", {24, 24}), splitInParts("four", {24, 24})) << "keys and values are shared one by one";
  // A replicated part.
  EXPECT_EQ(inParts("four", {24, {12, 12, 4}, 12}), splitInParts("four", {{24, 4}, {12, 12, 4}, {12, 4, 2}}));
  EXPECT_EQ(ofArgument(1, 0), 8) << "in one run";
}

// A view gives queries, keys and values of six heads of 4 a separate dim.
constexpr const char *countedParts = R"(
func.func @forward(%x: tensor<2x5x20xf32>, %w: tensor<72x20xf32>, %b: tensor<48xf32>) -> tensor<2x5x3x6x4xf32> {
  %0 = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>}
      : (tensor<2x5x20xf32>, tensor<72x20xf32>) -> tensor<2x5x72xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = array<i64: 2, 5, 3, 24>}
      : (tensor<2x5x72xf32>) -> tensor<2x5x3x24xf32>
  %2 = plan.call "aten.view.default"(%1) {self = #base.operand<0>, size = array<i64: 2, 5, 3, 6, 4>}
      : (tensor<2x5x3x24xf32>) -> tensor<2x5x3x6x4xf32>
  %3 = plan.call "aten.view.default"(%b) {self = #base.operand<0>, size = array<i64: 2, 24>}
      : (tensor<48xf32>) -> tensor<2x24xf32>
  %4 = plan.call "aten.view.default"(%b) {self = #base.operand<0>, size = array<i64: 4, 12>}
      : (tensor<48xf32>) -> tensor<4x12xf32>
  return %2 : tensor<2x5x3x6x4xf32>
})";

TEST_F(DimBlocksTest, PartsThatAViewCountsHaveTheBlocksOfTheSource) {
  parse(countedParts);
  auto inParts = [&](unsigned argument, llvm::ArrayRef<DimPart> parts) {
    return blocks->divide(program.getArgument(argument), 0, {AxisRefAttr::get(&context, "four")}, mesh(), parts);
  };
  auto splitInParts = [&](int64_t extent, llvm::ArrayRef<DimPart> parts) {
    return divideDim(extent, {AxisRefAttr::get(&context, "four")}, mesh(), 1, parts);
  };
  EXPECT_EQ(inParts(1, {24, 24, 24}), splitInParts(72, {{24, 4}, {24, 4}, {24, 4}})) << "six heads over four ranks";
  EXPECT_EQ(inParts(1, {36, 36}), splitInParts(72, {36, 36})) << "parts that no view counts";
  EXPECT_EQ(inParts(2, {24, 24}), splitInParts(48, {24, 24})) << "views that count differently";
}

// Each key is the mean of two queries. A shard per query would need both queries of its key, and so compute both.
constexpr const char *ownKeys = R"(
func.func @forward(%q: tensor<2x4x6x4xf32>) -> tensor<2x4x6x4xf32> {
  %0 = plan.call "aten.view.default"(%q) {self = #base.operand<0>, size = array<i64: 2, 2, 2, 6, 4>}
      : (tensor<2x4x6x4xf32>) -> tensor<2x2x2x6x4xf32>
  %1 = plan.call "aten.mean.dim"(%0) {self = #base.operand<0>, dim = array<i64: 2>}
      : (tensor<2x2x2x6x4xf32>) -> tensor<2x2x6x4xf32>
  %2:2 = plan.call "meshplan.attention"(%q, %1, %1)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>}
      : (tensor<2x4x6x4xf32>, tensor<2x2x6x4xf32>, tensor<2x2x6x4xf32>) -> (tensor<2x4x6x4xf32>, tensor<2x4x6xf32>)
  return %2#0 : tensor<2x4x6x4xf32>
})";

TEST_F(DimBlocksTest, KeysMadeOfTheirQueriesAreNotShared) {
  parse(ownKeys);
  EXPECT_EQ(divide(1, 1, "tp"), dealt(2, "tp", 1));
  EXPECT_EQ(divide(1, 1, "four"), dealt(2, "four", 1));
  EXPECT_EQ(blocks->divide(program.getArgument(0), 1, {AxisRefAttr::get(&context, "four")}, mesh()),
            dealt(4, "four", 1));
}

TEST_F(DimBlocksTest, ViewsThatDisagreeMakeTheWholeDimOneBlock) {
  parse(R"(
func.func @forward(%x: tensor<12xf32>) -> (tensor<3x4xf32>, tensor<2x6xf32>) {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = array<i64: 3, 4>}
      : (tensor<12xf32>) -> tensor<3x4xf32>
  %1 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = array<i64: 2, 6>}
      : (tensor<12xf32>) -> tensor<2x6xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<2x6xf32>
})");
  EXPECT_EQ(ofArgument(0, 0), 12);
}

TEST_F(DimBlocksTest, BlocksReachThroughChainsInBothDirections) {
  parse(R"(
func.func @forward(%x: tensor<12xf32>, %y: tensor<12xf32>) -> tensor<12xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (tensor<12xf32>) -> tensor<12xf32>
  %1 = plan.call "aten.add.Tensor"(%0, %y) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %2 = plan.call "aten.view.default"(%0) {self = #base.operand<0>, size = array<i64: 6, 2>}
      : (tensor<12xf32>) -> tensor<6x2xf32>
  return %1 : tensor<12xf32>
})");
  EXPECT_EQ(ofArgument(0, 0), 2);
  EXPECT_EQ(ofArgument(1, 0), 2);
  EXPECT_EQ(blocks->get((*program.getBody().front().begin()).getResult(0), 0), 2);
}

TEST_F(DimBlocksTest, PartsAreThoseOfAllOperators) {
  parse(R"(
func.func @forward(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
  %0:2 = plan.call "aten.split_with_sizes.default"(%x) {self = #base.operand<0>, split_sizes = array<i64: 8, 8>}
      : (tensor<16xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %1:2 = plan.call "aten.split_with_sizes.default"(%0#1) {self = #base.operand<0>, split_sizes = array<i64: 6, 2>}
      : (tensor<8xf32>) -> (tensor<6xf32>, tensor<2xf32>)
  %2 = plan.call "aten.neg.default"(%y) {self = #base.operand<0>} : (tensor<16xf32>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
})");
  EXPECT_EQ(blocks->partsOf(program.getArgument(0), 0), (llvm::SmallVector<int64_t>{8, 6, 2}));
  EXPECT_TRUE(blocks->partsOf(program.getArgument(1), 0).empty()) << "nothing takes it apart";
  mlir::Operation &call = program.getBody().front().front();
  EXPECT_TRUE(blocks->partsOf(call.getResult(0), 0).empty());
  EXPECT_EQ(blocks->partsOf(call.getResult(1), 0), (llvm::SmallVector<int64_t>{6, 2}));
}

// Rotary embeddings of whole heads leave an empty rest.
TEST_F(DimBlocksTest, DimsWithoutElementsHaveNoBlock) {
  parse(R"(
func.func @forward(%x: tensor<2x6x12xf32>) -> tensor<2x6x3x0xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [2 : i64, 6 : i64, 3 : i64, 4 : i64]}
      : (tensor<2x6x12xf32>) -> tensor<2x6x3x4xf32>
  %1 = plan.call "aten.slice.Tensor"(%0) {self = #base.operand<0>, dim = 3 : i64, start = 4 : i64}
      : (tensor<2x6x3x4xf32>) -> tensor<2x6x3x0xf32>
  %2 = plan.call "aten.clone.default"(%1) {self = #base.operand<0>} : (tensor<2x6x3x0xf32>) -> tensor<2x6x3x0xf32>
  return %2 : tensor<2x6x3x0xf32>
})");
  EXPECT_EQ(ofArgument(0, 2), 4);
}

} // namespace
