//===- write_cluster_test.cpp - measurements as a cluster file ------------===//
//
// That the compiler reads what is written is tested in test/driver/calibrate.test.
//
//===----------------------------------------------------------------------===//

#include "runtime/calibrate/write_cluster.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace meshplan;
using nlohmann::json;
using testing::ElementsAre;

namespace {

class Measured {
public:
  void add(CaseTable table, double size, double seconds, double spread = 0, std::array<int64_t, 3> shape = {}) {
    cluster.cases.push_back({std::move(table), size, shape, {}});
    cluster.measurements.push_back({seconds, spread});
  }

  json written() const { return json::parse(clusterText(cluster)); }

  MeasuredCluster cluster;
};

CaseTable operators(const char *name) { return {CaseTable::Kind::operators, name, "f32"}; }

CaseTable gather(int64_t ranks, bool crosses = false) {
  return {CaseTable::Kind::collective, "all_gather", "", false, crosses, ranks};
}

std::vector<double> secondsOf(const json &table, const char *size, const char *rate) {
  std::vector<double> seconds;
  for (size_t index = 0; index < table[size].size(); ++index)
    seconds.push_back(table[size][index].get<double>() / table[rate][index].get<double>());
  return seconds;
}

Measured sample() {
  Measured measured;
  measured.cluster.options.backend = "threads";
  measured.cluster.options.deviceName = "EPYC \"7763\"";
  measured.cluster.ranksPerNode = 2;
  CaseTable product{CaseTable::Kind::product, "aten.linear.default", "f32", true};
  for (int64_t m : {1, 8})
    for (int64_t k : {4, 16})
      measured.add(product, 2.0 * m * 32 * k, 1e-6 * m * k, 0.01, {m, 32, k});
  measured.add(operators("aten.add.Tensor"), 1e4, 1e-5, 0.2);
  measured.add(operators("aten.add.Tensor"), 1e6, 1e-4, 0.1);
  measured.add(gather(2), 1e3, 1e-5);
  measured.add(gather(2), 1e6, 1e-3);
  return measured;
}

TEST(WriteCluster, WritesTheMachine) {
  json file = sample().written();
  EXPECT_EQ(file["device"]["kind"], "cpu");
  EXPECT_EQ(file["device"]["name"], "EPYC \"7763\"");
  EXPECT_EQ(file["nodes"], 1);
  EXPECT_EQ(file["ranks_per_device"], 2);
  EXPECT_EQ(file["source"], "meshplan-run calibrate, 2 ranks over threads");
  EXPECT_FALSE(file["links"].contains("network"));
  EXPECT_FALSE(file.contains("host")) << "memory of a CPU is that of its host";
}

TEST(WriteCluster, WritesRatesThatGiveTheMeasuredTimes) {
  json file = sample().written();
  const json &operators = file["compute"]["operators"];
  ASSERT_EQ(operators.size(), 2u);
  EXPECT_FALSE(operators[0].contains("target")) << "of all memory-bound operators";
  EXPECT_THAT(secondsOf(operators[1], "bytes", "bytes_per_second"),
              ElementsAre(testing::DoubleNear(1e-5, 1e-10), testing::DoubleNear(1e-4, 1e-9)));
  EXPECT_DOUBLE_EQ(operators[1]["spread"], 0.2);
  EXPECT_DOUBLE_EQ(file["compute"]["bytes_per_second"], 1e10);
  EXPECT_DOUBLE_EQ(file["compute"]["launch_seconds"], 1e-5);
  const json &collective = file["collectives"][0];
  EXPECT_EQ(collective["kind"], "all_gather");
  EXPECT_EQ(collective["backend"], "threads");
  EXPECT_EQ(collective["link"], "node");
  EXPECT_EQ(collective["ranks"], 2);
  EXPECT_DOUBLE_EQ(file["links"]["node"]["latency_seconds"], 1e-5);
  EXPECT_DOUBLE_EQ(file["links"]["node"]["bytes_per_second"], 1e9);
}

TEST(WriteCluster, ATableByFlopsIsThatOfOnePart) {
  Measured measured = sample();
  measured.add({CaseTable::Kind::operators, "meshplan.attention", "f32", true}, 4e6, 8e-3);
  measured.cluster.cases.back().equalParts = 4;
  json file = measured.written();
  json table = file["compute"]["operators"].back();
  EXPECT_DOUBLE_EQ(table["flops"][0], 1e6);
  EXPECT_THAT(secondsOf(table, "flops", "flops_per_second"), ElementsAre(testing::DoubleNear(2e-3, 1e-8)));
  EXPECT_DOUBLE_EQ(file["compute"]["launch_seconds"], 1e-5) << "a part is not launched";
}

TEST(WriteCluster, AnAccessHasATableOfItsOwn) {
  Measured measured = sample();
  CaseTable table = operators("aten.add.Tensor");
  table.access = "strided";
  measured.add(table, 1e6, 3e-4);
  json file = measured.written();
  EXPECT_FALSE(file["compute"]["operators"][1].contains("access"));
  EXPECT_EQ(file["compute"]["operators"][2]["access"], "strided");
  EXPECT_EQ(file["compute"]["operators"][2]["target"], "aten.add.Tensor");
  EXPECT_DOUBLE_EQ(file["compute"]["bytes_per_second"], 1e10) << "the peak is that of operands that are alike";
}

TEST(WriteCluster, ProductsAreAGrid) {
  json products = sample().written()["compute"]["products"];
  ASSERT_EQ(products.size(), 1u);
  EXPECT_EQ(products[0]["m"], json({1, 8}));
  EXPECT_EQ(products[0]["n"], json({32}));
  EXPECT_EQ(products[0]["k"], json({4, 16}));
  EXPECT_THAT(products[0]["flops_per_second"].get<std::vector<double>>(), testing::Each(testing::DoubleNear(64e6, 1)));
}

TEST(WriteCluster, TimesNeverDecrease) {
  Measured measured = sample();
  measured.cluster.measurements[3].seconds = 1e-6; // the largest product
  measured.cluster.measurements[5].seconds = 1e-7; // the larger sum
  measured.cluster.measurements[7].seconds = 1e-7; // the larger gather
  json file = measured.written();
  EXPECT_GE(2.0 * 1 * 32 * 16 / file["compute"]["products"][0]["flops_per_second"][1].get<double>(), 16e-6 * 0.99);
  EXPECT_GE(2.0 * 8 * 32 * 16 / file["compute"]["products"][0]["flops_per_second"][3].get<double>(), 32e-6 * 0.99);
  for (const json &table : {file["compute"]["operators"][1], file["collectives"][0]}) {
    std::vector<double> seconds = secondsOf(table, "bytes", "bytes_per_second");
    EXPECT_GE(seconds[1], seconds[0]);
  }
}

TEST(WriteCluster, SeveralNodesHaveANetwork) {
  Measured measured = sample();
  measured.cluster.nodes = 2;
  measured.add(gather(4, true), 1e3, 4e-5);
  json file = measured.written();
  EXPECT_EQ(file["nodes"], 2);
  EXPECT_DOUBLE_EQ(file["links"]["network"]["latency_seconds"], 2e-5) << "two doublings of ranks";
  EXPECT_EQ(file["collectives"][1]["link"], "network");
}

TEST(WriteCluster, AGpuHasALinkToItsHost) {
  Measured measured = sample();
  measured.cluster.isHost = false;
  measured.add({CaseTable::Kind::copy, "host"}, 1e3, 1e-5);
  measured.add({CaseTable::Kind::copy, "host"}, 1e9, 0.05);
  measured.add({CaseTable::Kind::hostMemory, "host"}, 1e9, 0.1);
  json file = measured.written();
  EXPECT_EQ(file["device"]["kind"], "cuda");
  EXPECT_EQ(file["devices_per_node"], 2);
  EXPECT_EQ(file["ranks_per_device"], 1);
  EXPECT_DOUBLE_EQ(file["links"]["host"]["bytes_per_second"], 2e10);
  EXPECT_DOUBLE_EQ(file["links"]["host"]["latency_seconds"], 1e-5);
  EXPECT_DOUBLE_EQ(file["host"]["bytes_per_second"], 1e10);
}

} // namespace
