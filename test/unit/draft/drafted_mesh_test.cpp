//===- drafted_mesh_test.cpp - the mesh of another framework's plan -------===//

#include "compiler/draft/drafted_mesh.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;

namespace {

class DraftedMesh : public testing::Test {
protected:
  /// The mesh as text: "dp=2,tp=2"; the message if there is none.
  std::string mesh(const AdoptedMesh &adopted, llvm::StringRef stated = "", std::optional<int64_t> ranks = {}) {
    Diagnostics diagnostics(sources);
    std::vector<DraftAxis> axes = stated.empty() ? std::vector<DraftAxis>() : llvm::cantFail(parseDraftMesh(stated));
    std::optional<std::vector<DraftAxis>> found = draftMesh(adopted, axes, ranks, file, diagnostics);
    if (!found)
      return diagnostics.text();
    std::string text;
    for (const DraftAxis &axis : *found)
      text += (text.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
    return text;
  }
  AdoptedNumber said(int64_t value) const { return {value, "", {file, 1, 1, 2}}; }

  Sources sources;
  int32_t file = sources.add("f", "x").file();
};

} // namespace

TEST_F(DraftedMesh, SizesMakeAxes) {
  EXPECT_EQ(mesh({said(2), {}, said(2)}), "dp=2,tp=2");
  EXPECT_EQ(mesh({said(2), {}, said(1)}), "dp=2");
  EXPECT_EQ(mesh({said(1), {}, said(4)}), "tp=4");
  EXPECT_EQ(mesh({said(1), {}, {}}), "dp=1");
  EXPECT_EQ(mesh({said(8), said(2), said(2)}), "dp=2,fsdp=4,tp=2");
}

TEST_F(DraftedMesh, RanksSayTheRest) {
  EXPECT_EQ(mesh({{}, {}, said(2)}, "", 8), "dp=4,tp=2");
  EXPECT_EQ(mesh({said(4), {}, said(2)}, "", 8), "dp=4,tp=2");
  EXPECT_EQ(mesh({{}, {}, said(2)}),
            "f: error: does not state how many ranks the batch is split over\n"
            "help: --ranks N states how many there are in all, --mesh dp=N,tp=M how they are arranged\n");
  EXPECT_EQ(mesh({{}, {}, said(2)}, "", 7),
            "f:1:1: error: 7 ranks of --ranks are not 3 for the batch times 2 for weights\n  x\n  ^\n");
  EXPECT_EQ(mesh({said(3), {}, AdoptedNumber{2, "a default"}}, "", 8),
            "f:1:1: error: 8 ranks of --ranks are not 3 for the batch times 2 for weights\n  x\n  ^\n");
  // In 64 bits, 8 times this number is 8.
  EXPECT_EQ(
      mesh({said(2305843009213693953), {}, said(8)}, "", 8),
      "f:1:1: error: 8 ranks of --ranks are not 2305843009213693953 for the batch times 8 for weights\n  x\n  ^\n");
  EXPECT_EQ(mesh({said(3), said(2), {}}), "f:1:1: error: 3 ranks for the batch are not 2 equal groups\n  x\n  ^\n");
}

TEST_F(DraftedMesh, AStatedMeshHoldsAndAgrees) {
  EXPECT_EQ(mesh({said(2), {}, said(2)}, "tp=2,data=2"), "tp=2,data=2");
  EXPECT_EQ(mesh({{}, {}, AdoptedNumber{1, "a default"}}, "dp=2,tp=2"), "dp=2,tp=2");
  EXPECT_EQ(mesh({said(4), said(2), {}}, "dp=2,fsdp=2"), "dp=2,fsdp=2");
  EXPECT_EQ(mesh({{}, {}, said(4)}, "dp=2,tp=2"),
            "f:1:1: error: this splits weights over 4 ranks, and --mesh has 2\n  x\n  ^\n");
  EXPECT_EQ(mesh({said(1), {}, {}}, "dp=2,tp=2"),
            "f:1:1: error: this splits the batch over 1 rank, and --mesh has 2\n  x\n  ^\n");
  EXPECT_EQ(
      mesh({{}, said(2), {}}, "dp=4"),
      "f:1:1: error: this states 2 groups that hold the same shards, and --mesh has no two axes for that\n  x\n  ^\n"
      "help: --mesh dp=2,fsdp=N has them\n");
}
