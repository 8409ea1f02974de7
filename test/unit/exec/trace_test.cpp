#include "runtime/exec/trace.h"

#include "runtime/base/file.h"
#include "test/unit/temporary_directory.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace meshplan;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

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
  return nlohmann::json::parse(text, text + file->bytes().size())["traceEvents"];
}

Trace exampleTrace() {
  Trace trace;
  trace.add("aten.mm.default", moment(30), moment(50));
  trace.add("a \"name\" of \\ two\nlines", moment(50), moment(50));
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
  ASSERT_EQ(events.size(), 6u);
  for (size_t i : {1, 2})
    for (const char *key : {"name", "ts", "dur"})
      EXPECT_EQ(events[i][key], events[i + 3][key]);
}

TEST(TraceTest, AnEmptyOneHasAText) {
  EXPECT_EQ(Trace().text(), "[]");
  EXPECT_TRUE(Trace::fromText("[]").ok());
}

TEST(TraceTest, ShiftMovesAllTimes) {
  Trace trace = exampleTrace(), unmoved;
  trace.shift(microseconds(70));
  unmoved.add("earlier", moment(0), moment(1));
  std::vector<Trace> traces = {unmoved, trace};
  nlohmann::json events = eventsOf(traces);
  EXPECT_EQ(events[3]["ts"], 100.0);
  EXPECT_EQ(events[3]["dur"], 20.0);
  EXPECT_EQ(events[4]["ts"], 120.0);
  trace.shift(-microseconds(70));
  EXPECT_EQ(trace.text(), exampleTrace().text());
}

TEST(TraceTest, TextsThatAreNone) {
  const std::string noEvent = "an element of the trace is not an event";
  EXPECT_EQ(traceRefusal("{}"), "the trace is not a list");
  for (const char *text : {"[1]", "[[]]", "[[1]]", R"([["a", 1]])", R"([["a", 1, 2, 3]])", R"([[1, 1, 2]])",
                           R"([["a", "1", 2]])", R"([["a", 1, 2.5]])", R"([["a", 1, 2], null])"})
    EXPECT_EQ(traceRefusal(text), noEvent) << text;
  for (const char *text : {"", "[", "3", "null", "\"text\"", R"({"a": 1})"})
    (void)traceRefusal(text);
}

TEST(TraceTest, AProcessForEachRankAndTimesFromTheFirstEvent) {
  Trace later, earlier;
  later.add("b", moment(500), moment(900));
  earlier.add("a", moment(100), moment(101));
  std::vector<Trace> traces = {later, Trace(), earlier};
  nlohmann::json events = eventsOf(traces);
  ASSERT_EQ(events.size(), 5u);
  const size_t processes[] = {0, 2, 3};
  for (size_t rank = 0; rank < 3; ++rank) {
    const nlohmann::json &process = events[processes[rank]];
    EXPECT_EQ(process["ph"], "M");
    EXPECT_EQ(process["name"], "process_name");
    EXPECT_EQ(process["pid"], rank);
    EXPECT_EQ(process["args"]["name"], "rank " + std::to_string(rank));
  }
  EXPECT_EQ(events[1],
            (nlohmann::json{{"ph", "X"}, {"name", "b"}, {"pid", 0}, {"tid", 0}, {"ts", 400.0}, {"dur", 400.0}}));
  EXPECT_EQ(events[4], (nlohmann::json{{"ph", "X"}, {"name", "a"}, {"pid", 2}, {"tid", 0}, {"ts", 0.0}, {"dur", 1.0}}));
}

TEST(TraceTest, TimesAreMicroseconds) {
  Trace trace;
  auto begin = moment(0);
  trace.add("a", begin, begin + nanoseconds(1500));
  trace.add("b", begin + nanoseconds(2250), begin + nanoseconds(2250));
  nlohmann::json events = eventsOf({&trace, 1});
  EXPECT_DOUBLE_EQ(events[1]["dur"].get<double>(), 1.5);
  EXPECT_DOUBLE_EQ(events[2]["ts"].get<double>(), 2.25);
}

TEST(TraceTest, NoRanksAndNoFolder) {
  EXPECT_EQ(eventsOf({}).size(), 0u);
  TemporaryDirectory folder;
  Status status = writeTraces(folder / "none/t.json", {});
  EXPECT_EQ(status.message(), "cannot write '" + (folder / "none/t.json") + "': No such file or directory");
}
