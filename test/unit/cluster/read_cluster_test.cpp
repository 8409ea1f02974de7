//===- read_cluster_test.cpp - cluster files and their errors -------------===//

#include "compiler/cluster/read_cluster.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

const char *const small = R"({
  "name": "two",
  "device": {"kind": "cpu", "name": "EPYC"},
  "nodes": 1,
  "ranks_per_device": 2,
  "compute": {"flops_per_second": {"f32": 1e11}, "bytes_per_second": 1e10},
  "links": {"node": {"bytes_per_second": 1e9}}
})";

/// `small` with the first `from` replaced.
std::string with(const std::string &from, const std::string &to, std::string text = small) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// What a member of `compute` says, besides the required ones.
std::string withCompute(const std::string &member) {
  return with("\"bytes_per_second\": 1e10", "\"bytes_per_second\": 1e10, " + member);
}

std::optional<Cluster> clusterOf(const std::string &text) {
  Sources sources;
  Diagnostics diagnostics(sources);
  std::optional<Cluster> cluster = parseCluster(sources.add("c.json", text), diagnostics);
  EXPECT_TRUE(cluster) << diagnostics.text();
  return cluster;
}

/// The errors as `line:column: message`, with their first help after `; help: `.
std::vector<std::string> errorsOf(const std::string &text) {
  Sources sources;
  Diagnostics diagnostics(sources);
  EXPECT_FALSE(parseCluster(sources.add("c.json", text), diagnostics));
  std::vector<std::string> errors;
  for (const Diagnostic &error : diagnostics.all())
    errors.push_back(std::to_string(error.range.line) + ":" + std::to_string(error.range.column) + ": " +
                     error.message + (error.helps.empty() ? "" : "; help: " + error.helps.front()));
  return errors;
}

TEST(ReadCluster, FewNumbersSuffice) {
  std::optional<Cluster> cluster = clusterOf(small);
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->name, "two");
  EXPECT_EQ(cluster->deviceName, "EPYC");
  EXPECT_EQ(cluster->nodes, 1);
  EXPECT_EQ(cluster->ranksPerNode(), 2);
  EXPECT_EQ(cluster->compute.flops.at("f32"), 1e11);
  EXPECT_EQ(cluster->compute.launchSeconds, 0);
  EXPECT_EQ(cluster->hostBytes, 1e10) << "memory of a CPU is that of its host";
  EXPECT_EQ(cluster->node.bytes, 1e9);
  EXPECT_EQ(cluster->overlap.compute, 1);
  EXPECT_EQ(cluster->overlap.concurrent, 2) << "each has half of the rate";
}

TEST(ReadCluster, EveryKey) {
  std::optional<Cluster> cluster = clusterOf(R"({
    "name": "all", "source": "this test",
    "device": {"kind": "cuda", "name": "H100"},
    "nodes": 3, "devices_per_node": 4, "ranks_per_device": 1,
    "compute": {
      "flops_per_second": {"f64": 1e12, "f32": 2e12, "bf16": 3e12, "f16": 4e12},
      "bytes_per_second": 1e12, "launch_seconds": 1e-6,
      "products": [
        {"dtype": "bf16", "flops": [1e6, 1e9], "flops_per_second": [1e12, 2e12], "spread": 0.02},
        {"dtype": "f32", "m": [1, 2], "n": [4], "k": [8, 16, 32], "flops_per_second": [1e9, 1e9, 1e9, 2e9, 2e9, 2e9]}],
      "operators": [
        {"bytes": [1e3, 1e6], "bytes_per_second": [1e9, 1e10]},
        {"target": "meshplan.attention", "dtype": "f32", "flops": [1e9], "flops_per_second": [1e11], "spread": 0.1},
        {"target": "aten.silu.default", "dtype": "bf16", "bytes": [1e6], "bytes_per_second": [1e9]},
        {"target": "aten.silu.default", "dtype": "bf16", "access": "strided", "bytes": [1e6], "bytes_per_second": [5e8]}]
    },
    "host": {"bytes_per_second": 7e10},
    "links": {"node": {"latency_seconds": 1e-6, "bytes_per_second": 4e11, "node_bytes_per_second": 8e11},
              "network": {"latency_seconds": 2e-6, "bytes_per_second": 5e10},
              "host": {"latency_seconds": 3e-6, "bytes_per_second": 6e10}},
    "collectives": [{"kind": "all_reduce", "backend": "nccl", "link": "network", "ranks": 8, "bytes": [1e6],
                     "bytes_per_second": [1e10], "spread": 0.2}],
    "overlap": {"compute_slowdown": 1.25, "communication_slowdown": 1.5, "concurrent_slowdown": 1.25}
  })");
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->compute.launchSeconds, 1e-6);
  EXPECT_THAT(cluster->compute.products.at("bf16").seconds, ElementsAre(1e-6, 5e-4));
  EXPECT_THAT(cluster->compute.shapedProducts.at("f32").k, ElementsAre(8, 16, 32));
  EXPECT_DOUBLE_EQ(cluster->compute.shapedProducts.at("f32").at({2, 4, 16, 1}), 256 / 2e9);
  EXPECT_EQ(cluster->compute.traffic.sizes.size(), 2u);
  EXPECT_TRUE(cluster->compute.operators.at("meshplan.attention").at("f32").byFlops);
  EXPECT_FALSE(cluster->compute.operators.at("aten.silu.default").at("bf16").byFlops);
  EXPECT_EQ(cluster->compute.accesses.at("strided").at("bf16").target, "aten.silu.default");
  EXPECT_THAT(cluster->compute.accesses.at("strided").at("bf16").times.seconds, ElementsAre(2e-3));
  EXPECT_EQ(cluster->hostBytes, 7e10);
  EXPECT_EQ(cluster->node.nodeBytes, 8e11);
  EXPECT_EQ(cluster->network.latencySeconds, 2e-6);
  EXPECT_EQ(cluster->host.bytes, 6e10);
  ASSERT_EQ(cluster->collectives.size(), 1u);
  EXPECT_TRUE(cluster->collectives[0].crosses);
  EXPECT_EQ(cluster->collectives[0].ranks, 8);
  EXPECT_EQ(cluster->overlap.communication, 1.5);
  EXPECT_EQ(cluster->overlap.concurrent, 1.25);
}

TEST(ReadCluster, UnknownKeys) {
  EXPECT_THAT(errorsOf(with("\"nodes\"", "\"nodess\"")),
              ElementsAre("7:12: 'links' has no 'network', and the cluster has several nodes; help: add 'network', or "
                          "\"nodes\": 1 for a single node",
                          "4:3: a cluster has no key 'nodess'; help: did you mean 'nodes'?"));
  EXPECT_THAT(errorsOf(with("\"bytes_per_second\": 1e9", "\"bytes_per_second\": 1e9, \"latency\": 1")),
              ElementsAre("7:47: the link 'node' has no key 'latency'; help: its keys: 'latency_seconds', "
                          "'bytes_per_second', 'node_bytes_per_second'"));
  EXPECT_THAT(errorsOf(with("\"f32\": 1e11", "\"f32\": 1e11, \"fp16\": 1e11")),
              ElementsAre("6:49: 'flops_per_second' has no key 'fp16'; help: did you mean 'f16'?"));
}

TEST(ReadCluster, MissingKeys) {
  EXPECT_THAT(errorsOf("{}"),
              ElementsAre(HasSubstr("1:1: a cluster has no 'name'"), HasSubstr("1:1: a cluster has no 'device'"),
                          HasSubstr("1:1: a cluster has no 'compute'"), HasSubstr("1:1: a cluster has no 'links'")));
  EXPECT_THAT(errorsOf(with("\"kind\": \"cpu\", ", "")), ElementsAre(HasSubstr("3:13: 'device' has no 'kind'")));
  EXPECT_THAT(errorsOf(with("\"f32\": 1e11", "\"bf16\": 1e11")),
              ElementsAre("6:35: 'flops_per_second' has no 'f32'; help: dtypes without a rate take that of f32"));
  EXPECT_THAT(errorsOf(with("{\"f32\": 1e11}", "{}")),
              ElementsAre("6:35: 'flops_per_second' has no dtype; help: give at least the peak of f32"));
  EXPECT_THAT(errorsOf(with("\"cpu\"", "\"cuda\"")),
              ElementsAre(HasSubstr("1:1: a cluster has no 'host'"),
                          "7:12: 'links' has no 'host', between a GPU and the memory of its host"));
}

TEST(ReadCluster, ValuesOfAnotherKind) {
  EXPECT_THAT(errorsOf("[1]"), testing::Contains("1:1: a cluster is a list, must be an object"));
  EXPECT_THAT(errorsOf(with("\"two\"", "2")), ElementsAre("2:11: 'name' is a number, must be a text"));
  EXPECT_THAT(errorsOf(with("1e11", "\"1e11\"")), ElementsAre("6:43: 'f32' is a text, must be a number"));
  EXPECT_THAT(errorsOf(with("\"nodes\": 1", "\"nodes\": 1.5")),
              ElementsAre("4:12: 'nodes' is 1.5, must be a whole number"));
  EXPECT_THAT(errorsOf(with("\"cpu\"", "\"gpu\"")),
              ElementsAre("3:22: 'kind' is 'gpu', must be 'cpu' or 'cuda'; help: did you mean 'cpu'?"));
  EXPECT_THAT(errorsOf(withCompute("\"products\": {}")),
              ElementsAre("6:88: 'products' is an object, must be a list of objects"));
  EXPECT_THAT(errorsOf(withCompute("\"operators\": [1]")),
              testing::Contains("6:90: a table of 'operators' is a number, must be an object"));
}

TEST(ReadCluster, NegativeAndAbsurdNumbers) {
  const std::string units = "; help: units are seconds, bytes, flops, and these per second, without prefix";
  EXPECT_THAT(errorsOf(with("1e11", "-1e11")),
              ElementsAre("6:43: 'f32' is -1e+11, must be at least 1000 and at most 1e+18 per second" + units));
  EXPECT_THAT(errorsOf(with("1e11", "1e19")),
              ElementsAre("6:43: 'f32' is 1e+19, must be at least 1000 and at most 1e+18 per second" + units));
  EXPECT_THAT(errorsOf(with("1e9", "0")),
              ElementsAre("7:42: 'bytes_per_second' is 0, must be at least 1000 and at most 1e+18 per second" + units));
  EXPECT_THAT(errorsOf(with("\"bytes_per_second\": 1e9", "\"bytes_per_second\": 1e9, \"latency_seconds\": 3600")),
              ElementsAre("7:66: 'latency_seconds' is 3600, must be at least 0 and at most 1 seconds" + units));
  EXPECT_THAT(errorsOf(with("\"nodes\": 1", "\"nodes\": 0")), testing::Contains(HasSubstr("4:12: 'nodes' is 0")));
  EXPECT_THAT(errorsOf(with("\"nodes\": 1", "\"nodes\": 1, \"overlap\": {\"compute_slowdown\": 0.5}")),
              ElementsAre(HasSubstr("'compute_slowdown' is 0.5, must be at least 1 and at most 100")));
}

TEST(ReadCluster, KeysThatAreGivenTwice) {
  EXPECT_THAT(errorsOf(with("\"nodes\": 1", "\"nodes\": 1, \"nodes\": 1")),
              ElementsAre("4:15: 'nodes' is given twice"));
}

TEST(ReadCluster, Tables) {
  auto product = [](const std::string &members) {
    return withCompute("\"products\": [{\"dtype\": \"f32\", " + members + "}]");
  };
  EXPECT_THAT(errorsOf(product("\"flops\": [1e6, 1e6], \"flops_per_second\": [1e9, 1e9]")),
              ElementsAre(HasSubstr("'flops' has 1e+06 after 1e+06, must increase")));
  EXPECT_THAT(errorsOf(product("\"flops\": [1e6, 2e6], \"flops_per_second\": [1e9]")),
              ElementsAre(HasSubstr("'flops_per_second' has 1 numbers, must have 2 as 'flops'")));
  EXPECT_THAT(errorsOf(product("\"flops\": [1e6, 2e6], \"flops_per_second\": [1e9, 4e9]")),
              ElementsAre(HasSubstr("with this rate 2e+06 flops take 0.0005 s, less than the 0.001 s of 1e+06; help: "
                                    "a larger size takes at least as long")));
  EXPECT_THAT(errorsOf(product("\"flops\": [], \"flops_per_second\": [1e9]")),
              ElementsAre(HasSubstr("'flops' is an empty list")));
  EXPECT_THAT(
      errorsOf(product("\"m\": [1], \"n\": [1, 2], \"k\": [1], \"flops_per_second\": [1e9]")),
      ElementsAre(HasSubstr("'flops_per_second' has 1 numbers, must have 2: one for each m, n and k, of which k "
                            "changes first, then n")));
  EXPECT_THAT(errorsOf(product("\"m\": [1], \"n\": [1, 2], \"k\": [1], \"flops_per_second\": [1e9, 4e9]")),
              ElementsAre(HasSubstr("with this rate the product 1 x 2 x 1 takes 1e-09 s, less than the 2e-09 s of a "
                                    "smaller one")));
  EXPECT_THAT(errorsOf(withCompute("\"operators\": [{\"bytes\": [1], \"bytes_per_second\": [1e9]}, {\"bytes\": [1], "
                                   "\"bytes_per_second\": [1e9]}]")),
              ElementsAre(HasSubstr("a second table of 'operators' without a 'target'")));
  EXPECT_THAT(
      errorsOf(withCompute("\"operators\": [{\"dtype\": \"f32\", \"bytes\": [1], \"bytes_per_second\": [1e9]}]")),
      ElementsAre(HasSubstr("without a 'target' applies to all memory-bound operators")));
  EXPECT_THAT(
      errorsOf(withCompute("\"operators\": [{\"target\": \"x\", \"bytes\": [1], \"bytes_per_second\": [1e9]}]")),
      ElementsAre(HasSubstr("a table of 'operators' has no 'dtype'")));
}

TEST(ReadCluster, ACollectiveHasOneTable) {
  const std::string table = R"({"kind": "all_reduce", "backend": "mpi", "link": "node", "ranks": 2, "bytes": [1],
                                "bytes_per_second": [1e9]})";
  const std::string links = R"("links": {"node": {"bytes_per_second": 1e9}})";
  EXPECT_THAT(errorsOf(with(links, links + ", \"collectives\": [" + table + ", " + table + "]")),
              ElementsAre(HasSubstr("a second table of 'all_reduce' among 2 ranks with mpi")));
}

TEST(ReadCluster, ACollectiveIsOfABackendOfTheDevicesAndHasSeveralRanks) {
  const std::string links = R"("links": {"node": {"bytes_per_second": 1e9}})";
  auto table = [](const std::string &backend, const std::string &ranks) {
    return R"(, "collectives": [{"kind": "all_reduce", "backend": ")" + backend + R"(", "link": "node", "ranks": )" +
           ranks + R"(, "bytes": [1], "bytes_per_second": [1e9]}])";
  };
  EXPECT_THAT(errorsOf(with(links, links + table("nccl", "2"))),
              ElementsAre("7:99: 'backend' is 'nccl', and the devices are cpu: it must be 'threads' or 'mpi'"));
  EXPECT_THAT(errorsOf(with("cpu", "cuda", with(links, links + table("mpi", "2")))),
              testing::Contains("7:99: 'backend' is 'mpi', and the devices are cuda: it must be 'nccl'"));
  EXPECT_THAT(errorsOf(with("cpu", "gpu", with(links, links + table("nccl", "2")))),
              ElementsAre(HasSubstr("'kind' is 'gpu'")));
  EXPECT_THAT(errorsOf(with(links, links + table("threads", "1"))),
              ElementsAre("7:135: 'ranks' is 1, must be at least 2: a single rank sends nothing"));
}

TEST(ReadCluster, ACpuHasNoLinkToItsHost) {
  EXPECT_THAT(
      errorsOf(with("\"bytes_per_second\": 1e9}", "\"bytes_per_second\": 1e9}, \"host\": {\"bytes_per_second\": 1e9}")),
      ElementsAre("7:56: 'links' has 'host', and the devices are cpu, whose memory is that of the host; help: "
                  "leave it out; copies take the rate of \"host\": {\"bytes_per_second\": ...}"));
}

TEST(ReadCluster, AnAccessBelongsToATableByBytes) {
  const std::string strided = R"({"target": "x", "dtype": "f32", "access": "strided", )";
  const std::string byBytes = strided + R"("bytes": [1], "bytes_per_second": [1e9]})";
  auto errors = [](const std::string &tables) { return errorsOf(withCompute("\"operators\": [" + tables + "]")); };
  EXPECT_THAT(errors(byBytes + ", " + byBytes),
              ElementsAre(HasSubstr("a second table of the access 'strided' with f32")));
  EXPECT_THAT(errors(strided + R"("flops": [1], "flops_per_second": [1e9]})"),
              ElementsAre(HasSubstr("by 'flops' has an 'access', which only tables by 'bytes' have")));
  EXPECT_THAT(errors(R"({"access": "strided", "bytes": [1], "bytes_per_second": [1e9]})"),
              ElementsAre(HasSubstr("has no 'dtype' and no 'access'")));
  EXPECT_THAT(errors(R"({"target": "x", "dtype": "f32", "access": "random", "bytes": [1], "bytes_per_second": [1e9]})"),
              ElementsAre(HasSubstr("'access' is 'random'")));
}

struct Opened {
  Sources sources;
  Diagnostics diagnostics{sources};
  std::optional<Cluster> cluster;

  Opened(llvm::StringRef given, llvm::StringRef device) : cluster(openCluster(given, device, sources, diagnostics)) {}
};

TEST(OpenCluster, ThePresetOfADeviceIsMarkedAsAssumed) {
  Opened cpu("", "cpu"), cuda("", "cuda"), asked("h200", "cuda");
  EXPECT_EQ(cpu.cluster->name, "cpu");
  EXPECT_TRUE(cpu.cluster->isAssumed);
  EXPECT_EQ(cuda.cluster->name, "h100");
  EXPECT_TRUE(cuda.cluster->isAssumed);
  EXPECT_EQ(asked.cluster->name, "h200");
  EXPECT_FALSE(asked.cluster->isAssumed);
}

TEST(OpenCluster, APresetDoesNotStandForAnotherDevice) {
  EXPECT_EQ(Opened("h100", "cpu").diagnostics.text(),
            "error: the devices of 'h100' are cuda, and the program is for cpu\n"
            "help: compile with --device cuda, or name a cluster of cpu devices, such as --cluster cpu\n");
}

TEST(OpenCluster, AFileThatIsMissing) {
  EXPECT_EQ(Opened("none/c.json", "cpu").diagnostics.text(),
            "none/c.json: error: cannot be read: No such file or directory\n"
            "help: --cluster names a file, or one of the presets 'cpu', 'h100' and 'h200'\n"
            "help: 'meshplan-run calibrate -o FILE' measures the machine that it runs on\n");
  EXPECT_THAT(Opened("H100", "cuda").diagnostics.text(), HasSubstr("help: did you mean the preset 'h100'?\n"));
}

TEST(OpenCluster, AMeshThatIsTooLarge) {
  Sources sources;
  Diagnostics diagnostics(sources);
  std::optional<Cluster> cluster = parseCluster(sources.add("c.json", small), diagnostics);
  ASSERT_TRUE(cluster);
  EXPECT_TRUE(checkSize(*cluster, 2, {}, diagnostics));
  EXPECT_FALSE(checkSize(*cluster, 3, {}, diagnostics));
  EXPECT_THAT(diagnostics.text(),
              HasSubstr("c.json:4:12: error: the cluster has 2 ranks: 1 node of 2, and the mesh has 3\n"));
  cluster->nodes = 0;
  EXPECT_TRUE(checkSize(*cluster, 1 << 20, {}, diagnostics));
}

} // namespace
