//===- presets_test.cpp - clusters that are compiled in -------------------===//

#include "compiler/cluster/estimate.h"
#include "compiler/cluster/read_cluster.h"
#include "gtest/gtest.h"

using namespace meshplan;

namespace {

TEST(Presets, AllAreRead) {
  for (const ClusterPreset &preset : clusterPresets()) {
    Sources sources;
    Diagnostics diagnostics(sources);
    std::optional<Cluster> cluster = parseCluster(sources.add(preset.name.str(), preset.text.str()), diagnostics);
    ASSERT_TRUE(cluster) << diagnostics.text();
    EXPECT_EQ(cluster->name, preset.name);
    EXPECT_FALSE(cluster->source.empty()) << "a preset names the source of its numbers";
    EXPECT_EQ(cluster->nodes, 0) << "a preset is as large as the mesh";
  }
}

TEST(Presets, ADeviceHasAPresetOfItsKind) {
  for (llvm::StringRef device : {"cpu", "cuda"})
    EXPECT_EQ(clusterOfPreset(*findClusterPreset(defaultClusterPreset(device))).deviceKind, device);
  EXPECT_EQ(findClusterPreset("h300"), nullptr);
}

/// The order that any machine has.
TEST(Presets, WideOperandsAndOtherNodesAreSlower) {
  for (const ClusterPreset &preset : clusterPresets()) {
    Cluster cluster = clusterOfPreset(preset);
    auto product = [&](llvm::StringRef dtype) {
      return operatorSeconds(cluster, {"aten.mm.default", dtype, 2e12, 24e6, ProductShape{1e4, 1e4, 1e4}});
    };
    EXPECT_LT(product("bf16"), product("f32")) << preset.name.str();
    auto gather = [&](GroupSpread group) { return collectiveSeconds(cluster, {"all_gather", 1e9, group}); };
    int64_t ranks = cluster.ranksPerNode();
    EXPECT_LT(gather({ranks, ranks}), gather({ranks, 1})) << preset.name.str();
  }
}

/// arXiv 2407.08608, figure 5: FlashAttention-2 attains 333 Tflop/s on H100 for a causal sequence of 8,192 and heads of
/// 128, counting half of all pairs.
TEST(Presets, AttentionIsAsFastAsPublished) {
  for (llvm::StringRef name : {"h100", "h200"}) {
    Cluster cluster = clusterOfPreset(*findClusterPreset(name));
    double heads = 64, flops = heads * 2 * 8192 * 8192 * 128;
    OperatorWork work{"meshplan.attention", "bf16", flops, 1e9};
    work.equalParts = heads;
    EXPECT_NEAR(flops / operatorSeconds(cluster, work), 333e12, 1e6) << name.str();
  }
}

} // namespace
