#include "runtime/exec/trace.h"

#include "runtime/base/file.h"
#include "test/unit/temporary_directory.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace meshplan;
using std::chrono::microseconds;
using std::chrono::nanoseconds;
using trace_form::Label;

namespace {

/// This many microseconds after a fixed moment in the past.
Trace::Clock::time_point moment(int64_t time) { return Trace::Clock::time_point(microseconds(1'000'000 + time)); }

nlohmann::json eventsOf(std::span<const Trace> traces) {
  TemporaryDirectory folder;
  Status status = writeTraces(folder / "t.json", traces);
  EXPECT_TRUE(status.ok()) << status.message();
  auto file = MappedFile::open(folder / "t.json");
  EXPECT_TRUE(file.ok());
  auto *text = reinterpret_cast<const char *>(file->bytes().data());
  nlohmann::json trace = nlohmann::json::parse(text, text + file->bytes().size());
  EXPECT_EQ(trace["otherData"]["times"], "measured");
  nlohmann::json events = nlohmann::json::array();
  for (const nlohmann::json &event : trace["traceEvents"])
    if (event["ph"] == "X")
      events.push_back(event);
  return events;
}

/// A collective with all that is known of it, and an operator with a difficult name.
Trace exampleTrace() {
  Trace trace;
  Label gather{.what = "all_gather",
               .module = "model.layers.3",
               .direction = "backward",
               .purpose = "parameters",
               .communicator = "dp",
               .bytes = int64_t(1) << 40,
               .statement = "p.plan:3:1 data dp",
               .program = "step",
               .isWait = true};
  trace.add(gather, 7, moment(30), moment(50));
  trace.add({.what = "a \"name\" of \\ two\nlines"}, 0, moment(50), moment(50));
  return trace;
}

std::string traceRefusal(const std::string &text) {
  auto trace = Trace::fromText(text);
  EXPECT_EQ(trace.status().code(), StatusCode::invalid) << text;
  return trace.status().message();
}

} // namespace

TEST(TraceTest, SurvivesItsText) {
  auto taken = Trace::fromText(exampleTrace().text());
  ASSERT_TRUE(taken.ok()) << taken.status().message();
  EXPECT_EQ(taken->text(), exampleTrace().text());
  std::vector<Trace> both = {exampleTrace(), *taken};
  nlohmann::json events = eventsOf(both);
  ASSERT_EQ(events.size(), 4u);
  for (size_t i : {0, 1})
    for (const char *key : {"name", "cat", "tid", "ts", "dur", "args"})
      EXPECT_EQ(events[i][key], events[i + 2][key]);
  EXPECT_EQ(events[0]["name"], "wait for all_gather over dp in model.layers.3");
  EXPECT_EQ(events[0]["args"]["bytes"], int64_t(1) << 40);
  EXPECT_EQ(events[0]["args"]["microbatch"], 7);
}

TEST(TraceTest, ACopySurvivesItsText) {
  Trace copy;
  copy.add({.what = "copy", .memory = "host", .statement = "p.plan:4:3 offload"}, 0, moment(0), moment(1));
  auto taken = Trace::fromText(copy.text());
  ASSERT_TRUE(taken.ok()) << taken.status().message();
  nlohmann::json event = eventsOf({&*taken, 1})[0];
  EXPECT_EQ(event["name"], "copy to the host");
  EXPECT_EQ(event["args"]["memory"], "host");
  EXPECT_EQ(event["args"]["plan"], "p.plan:4:3 offload");
}

TEST(TraceTest, AnEmptyOneHasAText) {
  EXPECT_EQ(Trace().text(), "[]");
  EXPECT_TRUE(Trace::fromText("[]").ok());
}

TEST(TraceTest, ShiftMovesAllTimes) {
  Trace trace = exampleTrace(), unmoved;
  trace.shift(microseconds(70));
  unmoved.add({.what = "earlier"}, 0, moment(0), moment(1));
  std::vector<Trace> traces = {unmoved, trace};
  nlohmann::json events = eventsOf(traces);
  EXPECT_EQ(events[1]["ts"], 100.0);
  EXPECT_EQ(events[1]["dur"], 20.0);
  EXPECT_EQ(events[2]["ts"], 120.0);
  trace.shift(-microseconds(70));
  EXPECT_EQ(trace.text(), exampleTrace().text());
}

TEST(TraceTest, TextsThatAreNone) {
  const std::string noEvent = "an element of the trace is not an event";
  for (const char *text : {"{}", "", "[", "3", "null", "\"text\"", R"({"a": 1})"})
    EXPECT_EQ(traceRefusal(text), "the trace is not a list") << text;
  // An event has 8 texts and 5 numbers.
  const std::string event = R"(["", "", "", "", "", "", "", "", 0, 0, 0, 1, 2])";
  EXPECT_TRUE(Trace::fromText("[" + event + "]").ok());
  for (std::string element :
       {"1", "[]", "null", R"(["a", 1, 2])", R"(["", "", "", "", "", "", "", "", 0, 0, 0, 1])",
        R"(["", "", "", "", "", "", "", "", 0, 0, 0, 1, 2, 3])", R"(["", "", "", "", "", "", "", "", 0, 0, 0, 1, 2.5])",
        R"(["", "", "", "", "", "", "", "", "0", 0, 0, 1, 2])", R"(["", "", "", "", "", "", "", 7, 0, 0, 0, 1, 2])"})
    EXPECT_EQ(traceRefusal("[" + event + ", " + element + "]"), noEvent) << element;
}

TEST(TraceTest, AProcessForEachRankAndTimesFromTheFirstEvent) {
  Trace later, earlier;
  later.add({.what = "b"}, 0, moment(500), moment(900));
  earlier.add({.what = "a"}, 0, moment(100), moment(101));
  std::vector<Trace> traces = {later, Trace(), earlier};
  nlohmann::json events = eventsOf(traces);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0]["pid"], 0);
  EXPECT_EQ(events[0]["ts"], 400.0);
  EXPECT_EQ(events[0]["dur"], 400.0);
  EXPECT_EQ(events[1]["pid"], 2);
  EXPECT_EQ(events[1]["ts"], 0.0);
  EXPECT_EQ(events[1]["dur"], 1.0);
}

TEST(TraceTest, TimesAreMicroseconds) {
  Trace trace;
  auto begin = moment(0);
  trace.add({.what = "a"}, 0, begin, begin + nanoseconds(1500));
  trace.add({.what = "b"}, 0, begin + nanoseconds(2250), begin + nanoseconds(2250));
  nlohmann::json events = eventsOf({&trace, 1});
  EXPECT_DOUBLE_EQ(events[0]["dur"].get<double>(), 1.5);
  EXPECT_DOUBLE_EQ(events[1]["ts"].get<double>(), 2.25);
}

TEST(TraceTest, NoRanksAndNoFolder) {
  EXPECT_EQ(eventsOf({}).size(), 0u);
  TemporaryDirectory folder;
  Status status = writeTraces(folder / "none/t.json", {});
  EXPECT_EQ(status.message(), "cannot write '" + (folder / "none/t.json") + "': No such file or directory");
}
