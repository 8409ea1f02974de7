//===- diff_json_test.cpp - differences with stable keys ------------------===//

#include "compiler/report/diff/report_diff.h"
#include <gtest/gtest.h>

using namespace meshplan;

namespace {

llvm::json::Value parsed(llvm::StringRef text) { return llvm::cantFail(llvm::json::parse(text)); }

TEST(DiffJson, NoDifferenceHasEveryKey) {
  EXPECT_EQ(diffToJson(ReportDiff()), parsed(R"({
    "axes": [], "world_size": {"before": 0, "after": 0}, "settings": [], "parameters": [], "same_parameters": 0, "collectives": [],
    "memory": {"parameters": {"before": 0, "after": 0}, "constants": {"before": 0, "after": 0},
               "inputs": {"before": 0, "after": 0}, "states": {"before": 0, "after": 0}, "peak": {"before": 0, "after": 0}, "host_peak": {"before": 0, "after": 0}},
    "machine": null, "time": {"compute_ns": {"before": 0, "after": 0}, "communication_ns": {"before": 0, "after": 0},
              "copies_ns": {"before": 0, "after": 0}, "exposed_ns": {"before": 0, "after": 0}, "exposed_copies_ns": {"before": 0, "after": 0}, "waits_for_host_ns": {"before": 0, "after": 0}, "step_ns": {"before": 0, "after": 0}}})"));
}

TEST(DiffJson, EveryFieldIsWritten) {
  ReportDiff diff;
  diff.axes = {{"tp", {2, 4}}, {"dp", {0, 3}}};
  diff.worldSize = {2, 12};
  diff.parameters = {{"layers.*.weight", 30, {"f32", "bf16"}, {"[8, 4]", "[8 over tp, 4]"}, {128, 32}}};
  diff.sameParameters = 5;
  diff.settings = {{"lr", Setting::Of::parameter, {"a", "b"}, {"0.1", "0.2"}, {"a.plan:3:5", ""}},
                   {"recompute", Setting::Of::module, {"h.0"}, {"", "all"}, {}},
                   {"optimizer", Setting::Of::run, {}, {"sgd", "adam"}, {}}};
  diff.collectives = {{"tp", "all_reduce", {8, 7}, {800, 350}}};
  diff.parameterBytes = {1, 2};
  diff.constantBytes = {3, 4};
  diff.inputBytes = {5, 6};
  diff.peakBytes = {7, 8};
  diff.stateBytes = {13, 14};
  diff.hostPeakBytes = {15, 16};
  diff.machine.name = "h100";
  diff.computeTime = {9, 10};
  diff.communicationTime = {11, 12};
  diff.copyTime = {17, 18};
  diff.exposedTime = {13, 14};
  diff.exposedCopyTime = {19, 20};
  diff.hostWaitTime = {21, 22};
  diff.stepTime = {15, 16};
  EXPECT_EQ(diffToJson(diff), parsed(R"({
    "axes": [{"name": "tp", "size": {"before": 2, "after": 4}}, {"name": "dp", "size": {"before": 0, "after": 3}}],
    "world_size": {"before": 2, "after": 12},
    "settings": [{"name": "lr", "of": "parameter", "subjects": ["a", "b"], "value": {"before": "0.1", "after": "0.2"},
                  "place": {"before": "a.plan:3:5", "after": null}},
                 {"name": "recompute", "of": "module", "subjects": ["h.0"], "value": {"before": null, "after": "all"},
                  "place": {"before": null, "after": null}},
                 {"name": "optimizer", "of": "run", "subjects": [], "value": {"before": "sgd", "after": "adam"},
                  "place": {"before": null, "after": null}}],
    "parameters": [{"name": "layers.*.weight", "count": 30, "dtype": {"before": "f32", "after": "bf16"},
                    "layout": {"before": "[8, 4]", "after": "[8 over tp, 4]"},
                    "rank_bytes": {"before": 128, "after": 32}}],
    "same_parameters": 5,
    "collectives": [{"axis": "tp", "kind": "all_reduce", "count": {"before": 8, "after": 7},
                     "bytes": {"before": 800, "after": 350}}],
    "memory": {"parameters": {"before": 1, "after": 2}, "constants": {"before": 3, "after": 4},
               "inputs": {"before": 5, "after": 6}, "states": {"before": 13, "after": 14}, "peak": {"before": 7, "after": 8}, "host_peak": {"before": 15, "after": 16}},
    "machine": "h100", "time": {"compute_ns": {"before": 9, "after": 10}, "communication_ns": {"before": 11, "after": 12},
              "copies_ns": {"before": 17, "after": 18}, "exposed_ns": {"before": 13, "after": 14}, "exposed_copies_ns": {"before": 19, "after": 20}, "waits_for_host_ns": {"before": 21, "after": 22}, "step_ns": {"before": 15, "after": 16}}})"));
}

} // namespace
