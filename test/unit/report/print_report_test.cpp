//===- print_report_test.cpp - the report as text and as JSON -------------===//

#include "compiler/report/report.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace meshplan;

static Report sample() {
  Report report;
  report.program = "forward";
  report.worldSize = 6;
  CollectiveTotal reduce{"all_reduce", 60, 3 << 20};
  report.axes = {{"dp", 2, {}}, {"tp", 3, {reduce}}};
  report.coverage = {{"a.plan:6", "layers.*.down: rowwise tp", 30, 61, "modules"},
                     {"a.plan:12", "rest: replicate", 1, 61, "modules"}};
  report.memory = {{1 << 20, 1 << 19}, {8, 8}, {1000, 1000}, {3 << 20, 2 << 20}};
  report.communicators = {{"tp", {"tp"}, 3, {reduce}}, {"dp_tp", {"dp", "tp"}, 6, {}}};
  report.statements = {{"a.plan", 6, 5, "rowwise tp", "tp", reduce}};
  report.parameters = {{{"layers.0.down.weight"}, "f32", "[8, 28 over tp]", 896, 320, true, {8, 28}},
                       {{"layers.1.down.weight"}, "f32", "[8, 28 over tp]", 896, 320, true, {8, 28}},
                       {{"embed.weight", "head.weight"}, "f32", "[8, 4]", 128, 128, false, {4}}};
  return report;
}

TEST(PrintReport, AlignsColumns) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printReport(sample(), stream);
  EXPECT_EQ(text, R"(mesh  dp = 2, tp = 3, 6 ranks

totals
  parameters             452
  peak memory of a rank  3.0 MiB
  traffic of a rank      3.0 MiB sent and received
  estimated time         0 ns computing and 0 ns communicating

coverage
  a.plan:6   layers.*.down: rowwise tp  30  of 61 modules
  a.plan:12  rest: replicate             1  of 61 modules

memory of a rank
  parameters  1.0 MiB  1048576  least 512.0 KiB
  constants       8 B        8
  inputs       1000 B     1000
  peak        3.0 MiB  3145728  least 2.0 MiB

communication of a rank, sent and received
  over tp (3 ranks)  all_reduce  60  3.0 MiB

collectives by plan statement
  a.plan:6:5  rowwise tp  all_reduce  over tp  60  3.0 MiB

parameters
  2  layers.*.down.weight        f32  [8, 28 over tp]  640 B  of 1.8 KiB
  1  embed.weight = head.weight  f32  [8, 4]           128 B  of 128 B
)");
}

TEST(PrintReport, CountsWhatIsTrained) {
  Report report = sample();
  report.program = "step";
  report.trains = true;
  report.memory.evaluation = {4 << 20, 4 << 20};
  report.parameters[0].shape = {1000, 1234};
  report.parameters[0].optimizer = report.parameters[1].optimizer = "adamw";
  report.parameters[1].optimizer += ", group layers.1";
  report.parameters.push_back({{"mask"}, "bool", "[6]", 6, 6, false, {6}, /*buffer=*/true, ""});
  std::string text;
  llvm::raw_string_ostream stream(text);
  printReport(report, stream);
  EXPECT_NE(text.find(R"(
  parameters             1,234,228: 1,234,224 trained, 4 frozen or unused; 6 elements of buffers
  peak memory of a rank  4.0 MiB
)"),
            text.npos)
      << text;
  EXPECT_TRUE(llvm::StringRef(text).ends_with(R"(
parameters
  1  layers.0.down.weight        f32   [8, 28 over tp]  320 B  of 896 B  adamw
  1  layers.1.down.weight        f32   [8, 28 over tp]  320 B  of 896 B  adamw, group layers.1
  1  embed.weight = head.weight  f32   [8, 4]           128 B  of 128 B
  1  mask                        bool  [6]                6 B  of 6 B
)")) << text;
}

TEST(PrintReport, SaysWhatThePlanMakesOfTheLoss) {
  Report report = sample();
  report.loss = {"a.plan:5", "loss loss per token", "the mean over all targets"};
  std::string text;
  llvm::raw_string_ostream stream(text);
  printReport(report, stream);
  EXPECT_TRUE(llvm::StringRef(text).starts_with(R"(mesh  dp = 2, tp = 3, 6 ranks
loss  the mean over all targets (a.plan:5: loss loss per token)

totals
)")) << text;
}

TEST(PrintReport, SaysWhatHoldsThePeak) {
  Report report = sample();
  report.memory.atPeak = {"aten.mm.default",
                          "layers.0.down",
                          {{"aten.linear.default", "layers.*.up", 12, 3 << 19}, {"input ids", "", 1, 1000}},
                          {"", "", 7, 50}};
  std::string text;
  llvm::raw_string_ostream stream(text);
  printReport(report, stream);
  EXPECT_NE(text.find(R"(
held at the peak, at aten.mm.default in layers.0.down
  12  aten.linear.default  layers.*.up  1.5 MiB
   1  input ids                          1000 B
   7  others                               50 B

communication)"),
            text.npos)
      << text;
  report.memory.atPeak = {"end", "", {{"w", "", 1, 8}}, {}};
  text.clear();
  printReport(report, stream);
  EXPECT_NE(text.find("\nheld at the peak, at the end\n  1  w    8 B\n"), text.npos) << text;
}

TEST(PrintReport, NamesTheMachine) {
  auto firstLines = [](const MachineReport &machine) {
    Report report = sample();
    report.machine = machine;
    std::string text;
    llvm::raw_string_ostream stream(text);
    printReport(report, stream);
    return text.substr(text.find("machine"), text.find("\ncoverage") - text.find("machine"));
  };
  EXPECT_EQ(firstLines({"h100", "", true, "cuda", "NVIDIA H100", 0, 8, 1}),
            R"(machine  h100 (a preset, assumed: --cluster names another): nodes of 8 x NVIDIA H100

totals
  parameters             452
  peak memory of a rank  3.0 MiB
  traffic of a rank      3.0 MiB sent and received
  estimated time         0 ns computing and 0 ns communicating on h100 (assumed)
)");
  EXPECT_THAT(firstLines({"two", "a/two.json", false, "cpu", "EPYC", 1, 1, 2}),
              testing::StartsWith("machine  two (a/two.json): 1 node of 1 x EPYC, each with 2 ranks\n"));
  EXPECT_THAT(firstLines({"h200", "", false, "cuda", "NVIDIA H200", 4, 8, 1}),
              testing::StartsWith("machine  h200 (a preset): 4 nodes of 8 x NVIDIA H200\n"));
}

TEST(PrintReport, NamesOperatorsWithoutACost) {
  Report report = sample();
  report.withoutCost = {{"mine.norm.default", 3}};
  std::string text;
  llvm::raw_string_ostream stream(text);
  printReport(report, stream);
  EXPECT_THAT(text, testing::HasSubstr(R"(
operators without a cost, whose time is estimated from the bytes of their operands and results
  mine.norm.default  3

parameters
)"));
}

TEST(PrintReport, NamesOperatorsThatRunAgain) {
  Report report = sample();
  report.derivatives = {{"aten.gru.input", 2}, {"aten.cdist.default", 10}};
  std::string text;
  llvm::raw_string_ostream stream(text);
  printReport(report, stream);
  EXPECT_NE(text.find(R"(
operators recomputed for their derivatives
  aten.gru.input       2
  aten.cdist.default  10

parameters
)"),
            text.npos)
      << text;
}

TEST(PrintReport, OmitsWhatIsNotThere) {
  Report report;
  report.parameters = {{{"w"}, "f32", "[4]", 16, 16, true, {4}}};
  std::string text;
  llvm::raw_string_ostream stream(text);
  printReport(report, stream);
  EXPECT_EQ(text, R"(mesh  1 rank

totals
  parameters             4
  peak memory of a rank  0 B
  traffic of a rank      0 B sent and received
  estimated time         0 ns computing and 0 ns communicating

memory of a rank
  parameters  0 B  0
  constants   0 B  0
  inputs      0 B  0
  peak        0 B  0

communication of a rank, sent and received
  none

parameters
  1  w  f32  [4]  16 B  of 16 B
)");
}

TEST(PrintReport, TiedNamesAreThoseOfAllLayers) {
  Report report;
  report.parameters = {
      {{"h.0.a", "h.0.b"}, "f32", "[4]", 16, 16, true}, {{"h.1.a", "h.1.b"}, "f32", "[4]", 16, 16, true},
      {{"g.0.a", "head"}, "f32", "[4]", 16, 16, true},  {{"g.1.a"}, "f32", "[4]", 16, 16, true},
      {{"g.2.a"}, "f32", "[4]", 16, 16, true},          {{"g.3.a"}, "bf16", "[4]", 8, 8, true}};
  std::string text;
  llvm::raw_string_ostream stream(text);
  printReport(report, stream);
  EXPECT_EQ(text.substr(text.find("parameters\n  2")), R"(parameters
  2  h.*.a = h.*.b  f32   [4]  32 B  of 32 B
  1  g.0.a = head   f32   [4]  16 B  of 16 B
  2  g.*.a          f32   [4]  32 B  of 32 B
  1  g.3.a          bf16  [4]   8 B  of 8 B
)");
}

TEST(FormatBytes, RoundsToTheNextUnit) {
  EXPECT_EQ(formatBytes(1048523), "1023.9 KiB") << "1023.948";
  EXPECT_EQ(formatBytes(1048525), "1.0 MiB") << "1023.950, which is no 1024.0 KiB";
  EXPECT_EQ(formatBytes((int64_t(1) << 20) - 1), "1.0 MiB");
  EXPECT_EQ(formatBytes((int64_t(1) << 50) - 1), "1.0 PiB");
  EXPECT_EQ(formatBytes(int64_t(2000) << 50), "2000.0 PiB") << "there is no larger one";
}

TEST(FormatBytes, PicksTheUnit) {
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(1023), "1023 B");
  EXPECT_EQ(formatBytes(1024), "1.0 KiB");
  EXPECT_EQ(formatBytes(1536), "1.5 KiB");
  EXPECT_EQ(formatBytes(int64_t(5) << 40), "5.0 TiB");
}

TEST(PrintReport, EstimatedTimesOfAStep) {
  Report report;
  report.trains = true;
  report.worldSize = 4;
  report.machine.name = "own";
  report.time = {.compute = 6'000'000,
                 .communication = 3'000'000,
                 .step = 8'250'000,
                 .exposed = 1'500'000,
                 .exposedCopies = 250'000,
                 .waitsForHost = 500'000,
                 .splittable = 8,
                 .split = 6,
                 .groups = {{"parameters", "dp", 12, 1'500'000, 500'000}, {"gradients", "dp", 3, 0, 1'000'000}},
                 .modelFlops = {{"bf16", 4e12, 1e15}, {"f32", 1e9, 1e12}},
                 .utilization = 0.156};
  std::string text;
  llvm::raw_string_ostream stream(text);
  printReport(report, stream);
  EXPECT_NE(
      text.find("  estimated time         8.2 ms on own: 6.0 ms computing, 1.5 ms of communication exposed, 250.0 "
                "us of copies with the host exposed, 500.0 us waiting for the host\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find(R"(
estimated time of a step
  whole                           8.2 ms
  computing                       6.0 ms  72.7 %
  exposed communication           1.5 ms  18.2 %
  exposed copies with the host  250.0 us   3.0 %
  waiting for the host          500.0 us   6.1 %
  collectives in parts                 6          of 8
  model flops utilization                 15.6 %  = (4e+12 bf16 flops / 1e+15 flop/s + 1e+09 f32 flops / 1e+12 flop/s) / 4 ranks / 8.2 ms

estimated time of collectives
  parameters  over dp  12  exposed 1.5 ms  hidden 500.0 us  25.0 % hidden
  gradients   over dp   3    exposed 0 ns    hidden 1.0 ms  100.0 % hidden
)"),
            std::string::npos)
      << text;
}
