//===- mesh_roles_test.cpp - roles of the axes of a drafted mesh ----------===//

#include "compiler/draft/mesh_roles.h"
#include "gtest/gtest.h"

using namespace meshplan;

static std::string errorOf(llvm::StringRef text) {
  llvm::Expected<std::vector<DraftAxis>> mesh = parseDraftMesh(text);
  return mesh ? "" : llvm::toString(mesh.takeError());
}

TEST(ParseDraftMesh, ReadsAxesInOrder) {
  std::vector<DraftAxis> mesh = llvm::cantFail(parseDraftMesh("dp=2, fsdp = 4,tp=3"));
  ASSERT_EQ(mesh.size(), 3u);
  EXPECT_EQ(mesh[1].name, "fsdp");
  EXPECT_EQ(mesh[1].size, 4);
  EXPECT_EQ(mesh[2].role, AxisRole::tensor);
  EXPECT_EQ(axesOfRole(mesh, AxisRole::data), "(dp, fsdp)");
  EXPECT_EQ(axesOfRole(mesh, AxisRole::tensor), "tp");
  EXPECT_EQ(axesOfExperts(mesh), "(dp, fsdp, tp)") << "those of the batch are the major ones";
  EXPECT_EQ(shardsOfRole(mesh, AxisRole::data), 8);
  EXPECT_EQ(shardsOfRole(mesh, AxisRole::tensor), 3);
}

TEST(ParseDraftMesh, NamesSayTheRole) {
  for (const char *name : {"dp", "data", "fsdp", "batch"})
    EXPECT_EQ(llvm::cantFail(parseDraftMesh(std::string(name) + "=2"))[0].role, AxisRole::data);
  for (const char *name : {"tp", "model", "tensor", "mp"})
    EXPECT_EQ(llvm::cantFail(parseDraftMesh(std::string(name) + "=2"))[0].role, AxisRole::tensor);
  std::vector<DraftAxis> mesh = llvm::cantFail(parseDraftMesh("tp=1"));
  EXPECT_EQ(axesOfRole(mesh, AxisRole::data), "");
  EXPECT_EQ(shardsOfRole(mesh, AxisRole::data), 1);
}

TEST(ParseDraftMesh, RefusesOtherForms) {
  for (const char *text : {"", "dp", "dp=", "=2", "dp=2,", "dp=x", "dp=2;tp=3"})
    EXPECT_NE(errorOf(text).find("does not have the form AXIS=SIZE"), std::string::npos) << text;
  EXPECT_EQ(errorOf("dp=2,tp=0"), "the size of the axis 'tp' is 0, at least 1 required");
  EXPECT_EQ(errorOf("dp=-1"), "the size of the axis 'dp' is -1, at least 1 required");
  EXPECT_EQ(errorOf("dp=2,dp=3"), "the axis 'dp' is repeated");
  EXPECT_EQ(errorOf("dp=2,pp=3"), "the name 'pp' does not tell what the axis splits: use dp, data, fsdp or batch for "
                                  "the batch, or tp, model, tensor or mp for weights");
}

TEST(ParseDraftMesh, SizesAndNamesAreWhole) {
  for (const char *text : {"dp=2x", "dp=9223372036854775808", "dp=2=3", "dp=0x2", "dp=1.0", ",dp=2", "dp==2"})
    EXPECT_NE(errorOf(text).find("does not have the form AXIS=SIZE"), std::string::npos) << text;
  for (const char *text : {"DP=2", "dp2=2", "d=2", "tensors=2"})
    EXPECT_NE(errorOf(text).find("does not tell what the axis splits"), std::string::npos) << text;
  std::vector<DraftAxis> mesh = llvm::cantFail(parseDraftMesh("tp=2,mp=3,data=5"));
  EXPECT_EQ(axesOfRole(mesh, AxisRole::tensor), "(tp, mp)") << "in the order of the mesh";
  EXPECT_EQ(shardsOfRole(mesh, AxisRole::tensor), 6);
  EXPECT_EQ(shardsOfRole(mesh, AxisRole::data), 5);
}
