//===- print_diff_test.cpp - differences as text --------------------------===//

#include "compiler/report/diff/report_diff.h"
#include "gtest/gtest.h"

using namespace meshplan;

static ReportDiff sample() {
  ReportDiff diff;
  diff.axes = {{"dp", {2, 0}}, {"tp", {3, 3}}};
  diff.worldSize = {6, 3};
  diff.modelParameters = 8;
  using Of = Setting::Of;
  diff.settings = {{"optimizer", Of::run, {}, {"sgd", "adamw"}, {"a.plan:9:3", "b.plan:8:3"}},
                   {"lr", Of::parameter, {"h.0.up", "h.1.up", "norm"}, {"0.1", "0.2"}, {"a.plan:10:8", ""}},
                   {"eps", Of::parameter, {"a", "b", "c", "d"}, {"", "1e-08"}, {}},
                   {"weight_decay", Of::parameter, {"a", "b", "c", "d", "e", "f", "g", "h"}, {"0", "0.1"}, {}},
                   {"recompute", Of::module, {"a", "b", "c", "d"}, {"all", ""}, {"a.plan:14:13", ""}}};
  diff.parameters = {{"h.*.up", 30, {"f32", "f32"}, {"[9, 4]", "[9 over tp, 4]"}, {4096, 2048}},
                     {"norm", 1, {"f32", "bf16"}, {"[4]", "[4]"}, {16, 8}}};
  diff.sameParameters = 1;
  diff.collectives = {{"tp", "all_reduce", {8, 0}, {8192, 0}}, {"tp", "reduce_scatter", {0, 16}, {0, 4096}}};
  diff.parameterBytes = {4112, 2056};
  diff.constantBytes = {0, 8};
  diff.inputBytes = {64, 64};
  diff.peakBytes = {8192, 9216};
  diff.computeTime = {2500, 3000000};
  diff.communicationTime = {900, 900};
  diff.exposedTime = {900, 450};
  diff.hostWaitTime = {100, 200};
  diff.stepTime = {3400, 3000450};
  return diff;
}

static std::string print(const ReportDiff &diff) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printDiff(diff, stream);
  return text;
}

TEST(PrintDiff, AlignsColumns) {
  EXPECT_EQ(print(sample()), R"(mesh
  dp     2  ->  none
  tp     3
  ranks  6  ->  3

settings
  optimizer     sgd (a.plan:9:3)    ->  adamw (b.plan:8:3)
  lr            0.1 (a.plan:10:8)   ->  0.2                 h.*.up (2), norm
  eps           not stated          ->  1e-08               4 of 8 parameters
  weight_decay  0                   ->  0.1                 all 8 parameters
  recompute     all (a.plan:14:13)  ->  not stated          4 modules

parameters
  h.*.up (30)  [9, 4]   ->  [9 over tp, 4]  4.0 KiB  ->  2.0 KiB
  norm         f32 [4]  ->  bf16 [4]           16 B  ->      8 B
  1 other is the same

collectives of a rank, bytes sent and received
  over tp  all_reduce      8  ->   0  8.0 KiB  ->      0 B
  over tp  reduce_scatter  0  ->  16      0 B  ->  4.0 KiB

memory of a rank
  parameters  4.0 KiB  ->   2.0 KiB  -50.0 %
  constants       0 B  ->       8 B
  inputs         64 B      the same
  peak        8.0 KiB  ->   9.0 KiB  +12.5 %

estimated time of a rank
  compute                2.5 us  ->    3.0 ms  +119900.0 %
  communication          900 ns      the same
  exposed communication  900 ns  ->    450 ns      -50.0 %
  waiting for the host   100 ns  ->    200 ns     +100.0 %
  whole                  3.4 us  ->    3.0 ms   +88148.5 %
)");
}

TEST(PrintDiff, SaysWhatIsTheSame) {
  ReportDiff diff;
  diff.worldSize = {1, 1};
  diff.sameParameters = 12;
  EXPECT_EQ(print(diff), R"(mesh
  ranks  1

settings
  the same

parameters
  all 12 are the same

collectives of a rank, bytes sent and received
  the same

memory of a rank
  parameters  0 B    the same
  constants   0 B    the same
  inputs      0 B    the same
  peak        0 B    the same

estimated time of a rank
  compute                0 ns    the same
  communication          0 ns    the same
  exposed communication  0 ns    the same
  whole                  0 ns    the same
)");
}
