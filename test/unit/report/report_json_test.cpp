//===- report_json_test.cpp - the report with stable keys -----------------===//

#include "compiler/report/report.h"
#include <gtest/gtest.h>

using namespace meshplan;

namespace {

llvm::json::Value parsed(llvm::StringRef text) { return llvm::cantFail(llvm::json::parse(text)); }

TEST(ReportJson, AnEmptyReportHasEveryKey) {
  EXPECT_EQ(reportToJson(Report()), parsed(R"({
    "program": "", "world_size": 1, "axes": [], "coverage": [], "loss": null,
    "totals": {"parameters": 0, "trained": 0, "buffers": 0, "traffic_bytes": 0},
    "memory": {"parameters": {"largest": 0, "least": 0}, "constants": {"largest": 0, "least": 0},
               "inputs": {"largest": 0, "least": 0}, "states": {"largest": 0, "least": 0}, "accumulators": {"largest": 0, "least": 0}, "peak": {"largest": 0, "least": 0},
               "host_parameters": {"largest": 0, "least": 0}, "host_states": {"largest": 0, "least": 0}, "host_peak": 0}, "experts": null, "at_peak": null, "evaluation": null,
    "time": {"compute_ns": 0, "communication_ns": 0, "copies_ns": 0, "step_ns": 0, "exposed_ns": 0, "exposed_copies_ns": 0, "waits_for_host_ns": 0, "splittable": 0, "split": 0, "halves": null,
             "groups": [], "model_flops": [], "model_flops_utilization": null},
    "communicators": [], "activation_sums": [], "statements": [], "derivatives": [], "machine": null, "without_cost": [], "parameters": []})"));
}

TEST(ReportJson, EveryFieldIsWritten) {
  Report report;
  report.program = "forward";
  report.worldSize = 6;
  report.axes = {{"dp", 2, {}}, {"tp", 3, {{"all_reduce", 4, 1024}}, /*dividesWork=*/true}};
  report.coverage = {{"a.plan:3", "lm_head: colwise tp", 1, 61, "modules"}};
  report.memory = {{10, 9}, {8, 7}, {6, 5}, {44, 33}, {4, 3}, {}, {20, 19}, {18, 17}, 99, {13, 12}};
  report.memory.atPeak = {"aten.mm.default", "a", {{"w", "a", 2, 16}}, {"", "", 3, 5}};
  report.experts = ExpertsReport{{1, 2, 3}, ExpertLoad{4, 5, 6}, {7, 8, 9}};
  report.time = {.compute = 55,
                 .communication = 66,
                 .copies = 44,
                 .step = 77,
                 .exposed = 22,
                 .exposedCopies = 11,
                 .waitsForHost = 5,
                 .splittable = 8,
                 .split = 6,
                 .groups = {{"gradients", "dp", 3, 22, 44}},
                 .modelFlops = {{"bf16", 1000, 2000}},
                 .utilization = 0.25};
  report.communicators = {{"tp", {"tp"}, 3, {{"all_gather", 1, 2}}}};
  report.activationSums = {{"bf16", "f32", 4, 1024, 2048}};
  report.statements = {{"a.plan", 3, 5, "rowwise tp", "tp", {"all_reduce", 4, 1024}}};
  report.derivatives = {{"aten.gru.input", 2}};
  report.withoutCost = {{"mine.norm.default", 3}};
  report.machine = {"two", "two.json", true, "cpu", "EPYC", 1, 2, 3, "a test"};
  report.parameters = {
      {{"lm_head.weight", "embed.weight"}, "bf16", "[8 over tp, 4]", 64, 24, true, {8, 4}, false, "sgd"}};
  EXPECT_EQ(reportToJson(report), parsed(R"({
    "program": "forward", "world_size": 6,
    "axes": [{"name": "dp", "size": 2, "divides_work": false, "collectives": []},
             {"name": "tp", "size": 3, "divides_work": true,
              "collectives": [{"kind": "all_reduce", "count": 4, "bytes": 1024}]}],
    "coverage": [{"place": "a.plan:3", "statement": "lm_head: colwise tp", "matched": 1, "total": 61,
                  "what": "modules"}], "loss": null,
    "totals": {"parameters": 32, "trained": 32, "buffers": 0, "traffic_bytes": 2},
    "memory": {"parameters": {"largest": 10, "least": 9}, "constants": {"largest": 8, "least": 7},
               "inputs": {"largest": 6, "least": 5}, "states": {"largest": 4, "least": 3}, "accumulators": {"largest": 0, "least": 0}, "peak": {"largest": 44, "least": 33},
               "host_parameters": {"largest": 20, "least": 19}, "host_states": {"largest": 18, "least": 17}, "host_peak": 99},
    "experts": {"balanced": {"rows": 1, "exchange_bytes": 2, "peak": 3}, "reserved": {"rows": 4, "exchange_bytes": 5, "peak": 6},
                "worst": {"rows": 7, "exchange_bytes": 8, "peak": 9}},
    "at_peak": {"operator": "aten.mm.default", "module": "a",
                "held": [{"tensor": "w", "module": "a", "count": 2, "bytes": 16}], "others": {"count": 3, "bytes": 5}},
    "evaluation": {"peak": {"largest": 13, "least": 12}},
    "time": {"compute_ns": 55, "communication_ns": 66, "copies_ns": 44, "step_ns": 77, "exposed_ns": 22, "exposed_copies_ns": 11, "waits_for_host_ns": 5, "splittable": 8, "split": 6, "halves": null,
             "groups": [{"purpose": "gradients", "communicator": "dp", "count": 3, "exposed_ns": 22, "hidden_ns": 44}], "model_flops": [{"dtype": "bf16", "flops": 1000, "peak_flops_per_second": 2000}], "model_flops_utilization": 0.25},
    "communicators": [{"name": "tp", "axes": ["tp"], "ranks": 3,
                       "collectives": [{"kind": "all_gather", "count": 1, "bytes": 2}]}],
    "activation_sums": [{"dtype": "bf16", "count": 4, "bytes": 1024, "other_dtype": "f32", "other_bytes": 2048}],
    "statements": [{"file": "a.plan", "line": 3, "column": 5, "text": "rowwise tp", "communicator": "tp",
                    "kind": "all_reduce", "count": 4, "bytes": 1024}],
    "derivatives": [{"target": "aten.gru.input", "count": 2}],
    "without_cost": [{"target": "mine.norm.default", "count": 3}],
    "machine": {"name": "two", "file": "two.json", "assumed": true, "device": "cpu", "device_name": "EPYC", "nodes": 1,
                "devices_per_node": 2, "ranks_per_device": 3, "source": "a test"},
    "parameters": [{"names": ["lm_head.weight", "embed.weight"], "dtype": "bf16", "layout": "[8 over tp, 4]",
                    "global_bytes": 64, "rank_bytes": 24, "trainable": true, "optimizer": "sgd"}]})"));
}

TEST(ReportJson, ALossThatThePlanRedefines) {
  Report report;
  report.loss = {"a.plan:6", "loss loss per token", "the mean over all"};
  EXPECT_EQ(*reportToJson(report).getAsObject()->get("loss"),
            parsed(R"({"place": "a.plan:6", "statement": "loss loss per token", "meaning": "the mean over all"})"));
}

TEST(ReportJson, BytesBeyondThirtyTwoBitsStayWhole) {
  Report report;
  report.memory.peak = {int64_t(1) << 53 | 1, int64_t(1) << 40};
  EXPECT_EQ(reportToJson(report).getAsObject()->getObject("memory")->getObject("peak")->getInteger("largest"),
            int64_t(9007199254740993));
}

} // namespace
