#include "runtime/schema/trace_form.h"

#include <gtest/gtest.h>

using namespace meshplan::trace_form;

TEST(TraceFormTest, NamesSayWhatAndWhere) {
  EXPECT_EQ(nameOf({.what = "aten.mm.default", .module = "model.layers.3.mlp"}),
            "aten.mm.default in model.layers.3.mlp");
  EXPECT_EQ(nameOf({.what = "slice"}), "slice");
  Label gather{.what = "all_gather", .module = "model.layers.3", .communicator = "dp"};
  EXPECT_EQ(nameOf(gather), "all_gather over dp in model.layers.3");
  EXPECT_EQ(laneOf(gather), "over dp");
  EXPECT_EQ(categoryOf(gather), "communication");
  gather.isWait = true;
  EXPECT_EQ(nameOf(gather), "wait for all_gather over dp in model.layers.3");
  EXPECT_EQ(laneOf(gather), "compute");
  EXPECT_EQ(categoryOf(gather), "exposed");
  EXPECT_EQ(laneOf({.what = "pack"}), "compute");
  EXPECT_EQ(categoryOf({.what = "pack"}), "compute");
}

TEST(TraceFormTest, ALayerEndsAtTheFirstNumber) {
  EXPECT_EQ(layerOf("model.layers.3.mlp.experts.7.up"), "model.layers.3");
  EXPECT_EQ(layerOf("h.11"), "h.11");
  EXPECT_EQ(layerOf("0"), "0");
  EXPECT_EQ(layerOf("model.layers3.norm"), "");
  EXPECT_EQ(layerOf("a..b"), "");
  EXPECT_EQ(layerOf(""), "");
}

TEST(TraceFormTest, AWholeFile) {
  Label product{.what = "a \"b\" \\ \n", .module = "h.0", .direction = "backward", .program = "step"};
  Label gather{.what = "all_gather",
               .module = "h.1",
               .direction = "forward",
               .purpose = "parameters",
               .communicator = "dp",
               .bytes = 96,
               .statement = "p.plan:3:1 data dp",
               .program = "step"};
  std::vector<std::vector<Event>> ranks = {{{&product, 2, 1500, 12'345'678}, {&gather, 0, 0, 999}}, {}};
  EXPECT_EQ(textOf({.isEstimated = true, .machine = "own"}, ranks),
            R"({"displayTimeUnit":"ms","otherData":{"form":"1","times":"estimated","machine":"own"},"traceEvents":[
{"ph":"M","name":"process_name","pid":0,"tid":0,"args":{"name":"rank 0"}},
{"ph":"M","name":"thread_name","pid":0,"tid":0,"args":{"name":"compute"}},
{"ph":"M","name":"thread_name","pid":0,"tid":1,"args":{"name":"over dp"}},
{"ph":"X","name":"a \"b\" \\ \u000a in h.0","cat":"compute","pid":0,"tid":0,"ts":1.500,"dur":12344.178,"args":{"module":"h.0","layer":"h.0","direction":"backward","program":"step","microbatch":2}},
{"ph":"X","name":"all_gather over dp in h.1","cat":"communication","pid":0,"tid":1,"ts":0.000,"dur":0.999,"args":{"module":"h.1","layer":"h.1","direction":"forward","purpose":"parameters","axes":"dp","plan":"p.plan:3:1 data dp","program":"step","bytes":96,"microbatch":0}},
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"rank 1"}},
{"ph":"M","name":"thread_name","pid":1,"tid":0,"args":{"name":"compute"}}
]}
)");
}

TEST(TraceFormTest, NoRanks) {
  EXPECT_EQ(textOf({}, {}), "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"form\":\"1\",\"times\":\"measured\"},"
                            "\"traceEvents\":[\n]}\n");
}
