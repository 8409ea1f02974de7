//===- estimate_test.cpp - times of operations ----------------------------===//

#include "compiler/cluster/estimate.h"
#include "gtest/gtest.h"

using namespace meshplan;

namespace {

/// Peaks only, in round numbers.
Cluster peaks() {
  Cluster cluster;
  cluster.deviceKind = "cuda";
  cluster.devicesPerNode = 4;
  cluster.compute.flops = {{"bf16", 1000e9}, {"f32", 100e9}, {"f64", 50e9}};
  cluster.compute.bytes = 10e9;
  cluster.compute.launchSeconds = 5e-9;
  cluster.hostBytes = 0.5e9;
  cluster.node = {.latencySeconds = 100e-9, .bytes = 4e9};
  cluster.network = {.latencySeconds = 200e-9, .bytes = 1e9};
  cluster.host = {.bytes = 2e9};
  return cluster;
}

double seconds(const Cluster &cluster, double flops, double bytes, llvm::StringRef dtype = "f32") {
  return operatorSeconds(cluster, {"aten.x.default", dtype, flops, bytes});
}

TEST(Estimate, AnOperatorTakesTheLongerOfArithmeticAndTraffic) {
  Cluster cluster = peaks();
  EXPECT_DOUBLE_EQ(seconds(cluster, 100'000, 1000), 1e-6);
  EXPECT_DOUBLE_EQ(seconds(cluster, 100'000, 1000, "bf16"), 0.1e-6);
  EXPECT_DOUBLE_EQ(seconds(cluster, 100'000, 1000, "f64"), 2e-6);
  EXPECT_DOUBLE_EQ(seconds(cluster, 100, 5000), 0.5e-6);
}

TEST(Estimate, ADtypeWithoutAPeakTakesTheOther16BitFloatElseF32) {
  Cluster cluster = peaks();
  EXPECT_EQ(peakFlops(cluster, "f16"), 1000e9);
  EXPECT_EQ(peakFlops(cluster, "si64"), 100e9);
  cluster.compute.flops.erase("bf16");
  EXPECT_EQ(peakFlops(cluster, "f16"), 100e9);
}

TEST(Estimate, AKernelIsLaunchedAndAViewIsNot) {
  EXPECT_DOUBLE_EQ(seconds(peaks(), 1, 1), 5e-9);
  EXPECT_EQ(seconds(peaks(), 0, 0), 0);
}

TEST(Estimate, AnAttainedRateCountsInsteadOfThePeak) {
  Cluster cluster = peaks();
  cluster.compute.traffic = {{1000}, {1e-6}};
  EXPECT_DOUBLE_EQ(seconds(cluster, 0, 2000), 2e-6);
  cluster.compute.operators["aten.x.default"]["f32"] = {.byFlops = false, .times = {{1000}, {3e-6}}};
  EXPECT_DOUBLE_EQ(seconds(cluster, 1e12, 2000), 6e-6);
  EXPECT_DOUBLE_EQ(seconds(cluster, 0, 2000, "bf16"), 2e-6) << "the table is that of another dtype";
  cluster.compute.operators["aten.x.default"]["f32"] = {.byFlops = true, .times = {{1000}, {3e-6}}};
  EXPECT_DOUBLE_EQ(seconds(cluster, 4000, 1), 12e-6);
}

TEST(Estimate, TheRateIsThatOfOnePart) {
  Cluster cluster = peaks();
  cluster.compute.operators["aten.x.default"]["f32"] = {.byFlops = true, .times = {{1000, 9000}, {1e-6, 2e-6}}};
  OperatorWork work{.target = "aten.x.default", .dtype = "f32", .flops = 9000, .bytes = 1};
  EXPECT_DOUBLE_EQ(operatorSeconds(cluster, work), 2e-6);
  work.equalParts = 9;
  EXPECT_DOUBLE_EQ(operatorSeconds(cluster, work), 9e-6) << "nine small parts";
}

TEST(Estimate, OperandsThatAreNotAlikeTakeLongerByTheFactorOfTheirTable) {
  Cluster cluster = peaks();
  cluster.compute.traffic = {{1000}, {1e-6}};
  cluster.compute.operators["aten.mul.Tensor"]["f32"] = {.byFlops = false, .times = {{1000}, {2e-6}}};
  cluster.compute.operators["aten.x.default"]["f32"] = {.byFlops = false, .times = {{1000}, {4e-6}}};
  cluster.compute.accesses["broadcast"]["f32"] = {"aten.mul.Tensor", {{1000}, {3e-6}}};
  cluster.compute.accesses["strided"]["f32"] = {"aten.add.Tensor", {{1000}, {0.5e-6}}};
  auto secondsOf = [&](llvm::StringRef target, llvm::StringRef access, llvm::StringRef dtype = "f32") {
    return operatorSeconds(cluster, {.target = target, .dtype = dtype, .bytes = 1000, .access = access});
  };
  EXPECT_DOUBLE_EQ(secondsOf("aten.mul.Tensor", ""), 2e-6);
  EXPECT_DOUBLE_EQ(secondsOf("aten.mul.Tensor", "broadcast"), 3e-6);
  EXPECT_DOUBLE_EQ(secondsOf("aten.x.default", "broadcast"), 6e-6) << "1.5 times its own table";
  EXPECT_DOUBLE_EQ(secondsOf("aten.y.default", "broadcast"), 1.5e-6) << "1.5 times that of memory traffic";
  EXPECT_DOUBLE_EQ(secondsOf("aten.mul.Tensor", "strided"), 2e-6) << "never faster than operands that are alike";
  EXPECT_DOUBLE_EQ(secondsOf("aten.mul.Tensor", "converted"), 2e-6) << "there is no table";
  EXPECT_DOUBLE_EQ(secondsOf("aten.y.default", "broadcast", "bf16"), 1e-6) << "the table is that of another dtype";
}

TEST(Estimate, ProductsHaveTablesByFlopsOrByShape) {
  Cluster cluster = peaks();
  OperatorWork work{"aten.mm.default", "f32", 2e6, 30e3, ProductShape{100, 100, 100}};
  EXPECT_DOUBLE_EQ(operatorSeconds(cluster, work), 20e-6);
  cluster.compute.products["f32"] = {{2e6}, {40e-6}};
  EXPECT_DOUBLE_EQ(operatorSeconds(cluster, work), 40e-6);
  cluster.compute.shapedProducts["f32"] = {{100}, {100}, {100}, {60e-6}};
  EXPECT_DOUBLE_EQ(operatorSeconds(cluster, work), 60e-6);
  work.bytes = 1e9;
  EXPECT_DOUBLE_EQ(operatorSeconds(cluster, work), 0.1) << "the memory traffic of a product is a lower bound";
}

TEST(Estimate, TheHostIsReachedOverItsLink) {
  Cluster cluster = peaks();
  EXPECT_DOUBLE_EQ(transferSeconds(cluster, 4000), 2e-6);
  EXPECT_DOUBLE_EQ(transferSeconds(cluster, 1), 5e-9) << "a copy is launched";
  EXPECT_DOUBLE_EQ(hostSeconds(cluster, 4000), 8e-6);
  cluster.host = {};
  EXPECT_DOUBLE_EQ(transferSeconds(cluster, 4000), 16e-6) << "without a link, memory is read and written";
}

TEST(Estimate, ACollectiveInsideANodeUsesItsLink) {
  EXPECT_DOUBLE_EQ(collectiveSeconds(peaks(), {"all_gather", 4000, {4, 4}}), 2 * 100e-9 + 1e-6);
  EXPECT_DOUBLE_EQ(collectiveSeconds(peaks(), {"all_gather", 0, {2, 2}}), 100e-9);
  EXPECT_DOUBLE_EQ(collectiveSeconds(peaks(), {"all_gather", 0, {3, 3}}), 2 * 100e-9);
}

TEST(Estimate, AGroupThatCrossesNodesUsesTheNetworkOfAllItsRanksThere) {
  EXPECT_DOUBLE_EQ(linkBytes(peaks(), "all_gather", {8, 1}), 1e9);
  EXPECT_DOUBLE_EQ(linkBytes(peaks(), "all_gather", {8, 2}), 2e9);
  Cluster cluster = peaks();
  cluster.node.bytes = 1.5e9;
  EXPECT_DOUBLE_EQ(linkBytes(cluster, "all_gather", {8, 2}), 1.5e9) << "but data also moves inside the nodes";
  EXPECT_DOUBLE_EQ(linkBytes(cluster, "all_gather", {8, 1}), 1e9);
}

TEST(Estimate, WhatAnAllToAllSendsToOtherNodesUsesTheLinkOfTheRank) {
  // Of seven parts six leave the node, at 1e9 bytes/s, and one stays.
  EXPECT_DOUBLE_EQ(linkBytes(peaks(), "all_to_all", {8, 2}), 7e9 / 6);
  EXPECT_DOUBLE_EQ(linkBytes(peaks(), "all_to_all", {8, 1}), 1e9);
  EXPECT_DOUBLE_EQ(linkBytes(peaks(), "all_to_all", {4, 4}), 4e9);
  Cluster cluster = peaks();
  cluster.node.bytes = 0.1e9;
  EXPECT_DOUBLE_EQ(linkBytes(cluster, "all_to_all", {8, 2}), 0.7e9) << "the part that stays takes longer";
  EXPECT_DOUBLE_EQ(collectiveSeconds(peaks(), {"all_to_all", 7000, {8, 2}}), 3 * 200e-9 + 6e-6);
}

TEST(Estimate, RanksShareTheLinksOfTheirNode) {
  Cluster cluster = peaks();
  cluster.network.nodeBytes = 2e9;
  EXPECT_DOUBLE_EQ(linkBytes(cluster, "all_gather", {8, 1}), 0.5e9);
  cluster.network.nodeBytes = 40e9;
  EXPECT_DOUBLE_EQ(linkBytes(cluster, "all_gather", {8, 1}), 1e9) << "a rank has no more than its own link";
}

TEST(Estimate, TablesOfCollectives) {
  Cluster cluster = peaks();
  cluster.collectives = {{"all_gather", "nccl", false, 2, {{1000}, {1e-6}}},
                         {"all_gather", "nccl", false, 4, {{1000}, {3e-6}}},
                         {"all_gather", "nccl", true, 2, {{1000}, {7e-6}}},
                         {"all_gather", "mpi", false, 2, {{1000}, {9e-6}}}};
  auto time = [&](llvm::StringRef kind, GroupSpread group) { return collectiveSeconds(cluster, {kind, 1000, group}); };
  EXPECT_DOUBLE_EQ(time("all_gather", {2, 2}), 1e-6);
  EXPECT_DOUBLE_EQ(time("all_gather", {3, 3}), 2e-6) << "between the numbers of ranks";
  EXPECT_DOUBLE_EQ(time("all_gather", {4, 4}), 3e-6);
  EXPECT_DOUBLE_EQ(time("all_gather", {8, 8}), 3e-6) << "beyond them the nearest one";
  EXPECT_DOUBLE_EQ(time("all_gather", {2, 1}), 7e-6) << "between nodes";
  EXPECT_DOUBLE_EQ(collectiveSeconds(cluster, {"all_gather", 500, {2, 2}}), 100e-9 + 450e-9) << "from the latency on";
  EXPECT_DOUBLE_EQ(collectiveSeconds(cluster, {"all_gather", 2000, {2, 2}}), 2e-6);
  EXPECT_DOUBLE_EQ(time("all_reduce", {2, 2}), 100e-9 + 0.25e-6) << "another kind has no table";
}

TEST(Estimate, TheBackendFollowsFromTheDevice) {
  Cluster cluster = peaks();
  cluster.deviceKind = "cpu";
  cluster.collectives = {{"all_gather", "mpi", false, 2, {{1000}, {1e-6}}},
                         {"all_gather", "mpi", true, 2, {{1000}, {2e-6}}},
                         {"all_gather", "nccl", false, 2, {{1000}, {3e-6}}}};
  auto time = [&](GroupSpread group) { return collectiveSeconds(cluster, {"all_gather", 1000, group}); };
  EXPECT_DOUBLE_EQ(time({2, 2}), 1e-6);
  cluster.collectives.push_back({"all_gather", "threads", false, 2, {{1000}, {4e-6}}});
  EXPECT_DOUBLE_EQ(time({2, 2}), 4e-6);
  EXPECT_DOUBLE_EQ(time({2, 1}), 2e-6) << "threads do not leave a node";
}

} // namespace
