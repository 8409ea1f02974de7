//===- build_report_test.cpp - values derived by hand ---------------------===//

#include "compiler/report/report.h"
#include "test/unit/target/sched_module.h"

using namespace meshplan;

static Report reportOf(const std::string &text) {
  SchedModule module(text);
  auto report = buildReport(module.get(), "forward");
  EXPECT_TRUE(succeeded(report));
  return std::move(*report);
}

static const std::string program = schedHead + R"(
sched.program @forward memory <parameters = 164, constants = 8, inputs = 8, peak = 500, least = 400> {
  %w = sched.parameter ["layers.0.up.weight", "tied"] trainable : <[10 over {1:(1)3}, 8], f32>
  %v = sched.parameter ["layers.1.up.weight"] : <[6, 6 over {0:(1)2}], bf16>
  %c = sched.constant "c" dense<1> : tensor<2xi32> : <[2], i32>
  %x = sched.input "x" : <[3 over {0:(1)2}], f32>
  %g = sched.start all_gather %w dim 0 over @tp sequence 0 because "colwise tp"
    : !sched.tensor<[10 over {1:(1)3}, 8], f32> -> <!sched.tensor<[10, 8], f32>> loc("a.plan":7:2)
  %h = sched.wait %g : !sched.token<!sched.tensor<[10, 8], f32>>
  %i = sched.start all_gather %w dim 0 over @tp sequence 1 because "colwise tp"
    : !sched.tensor<[10 over {1:(1)3}, 8], f32> -> <!sched.tensor<[10, 8], f32>> loc("a.plan":7:2)
  %j = sched.wait %i : !sched.token<!sched.tensor<[10, 8], f32>>
  %k = sched.start all_gather %v dim 1 over @dp sequence 2 because "data dp"
    : !sched.tensor<[6, 6 over {0:(1)2}], bf16> -> <!sched.tensor<[6, 6], bf16>> loc("a.plan":5:1)
  %l = sched.wait %k : !sched.token<!sched.tensor<[6, 6], bf16>>
  sched.output "h" %h : <[10, 8], f32>
  sched.output "j" %j : <[10, 8], f32>
  sched.output "l" %l : <[6, 6], bf16>
}
sched.program @reference role <reference> devices [#base.mesh_axis<"rank" = 1>] {
}
)";

TEST(BuildReport, SumsMemoryOfTheLargestAndTheSmallestRank) {
  Report report = reportOf(program);
  // up.weight: 4 (3) of 10 rows of 8 floats; the second parameter 6 x 3 half floats.
  EXPECT_EQ(report.memory.parameters.largest, 128 + 36);
  EXPECT_EQ(report.memory.parameters.least, 96 + 36);
  EXPECT_EQ(report.memory.constants.largest, 8);
  EXPECT_EQ(report.memory.constants.least, 8);
  EXPECT_EQ(report.memory.inputs.largest, 8);
  EXPECT_EQ(report.memory.inputs.least, 4);
  EXPECT_EQ(report.memory.peak.largest, 500);
  EXPECT_EQ(report.memory.peak.least, 400);
}

TEST(BuildReport, ListsParametersWithTheirLayout) {
  Report report = reportOf(program);
  ASSERT_EQ(report.parameters.size(), 2u);
  EXPECT_THAT(report.parameters[0].names, testing::ElementsAre("layers.0.up.weight", "tied"));
  EXPECT_EQ(report.parameters[0].dtype, "f32");
  EXPECT_EQ(report.parameters[0].layout, "[10 over tp, 8]");
  EXPECT_EQ(report.parameters[0].globalBytes, 320);
  EXPECT_EQ(report.parameters[0].rankBytes, 128);
  EXPECT_TRUE(report.parameters[0].trainable);
  EXPECT_FALSE(report.parameters[1].trainable);
}

TEST(BuildReport, CountsCollectivesByAxisCommunicatorAndStatement) {
  Report report = reportOf(program);
  EXPECT_EQ(report.worldSize, 6);
  ASSERT_EQ(report.communicators.size(), 3u);
  EXPECT_EQ(report.communicators[0].ranks, 3);
  ASSERT_EQ(report.communicators[0].collectives.size(), 1u);
  EXPECT_EQ(report.communicators[0].collectives[0].kind, "all_gather");
  EXPECT_EQ(report.communicators[0].collectives[0].count, 2);
  EXPECT_EQ(report.communicators[0].collectives[0].bytes, 2 * (2 * 2 * 320 / 3));
  EXPECT_TRUE(report.communicators[2].collectives.empty());
  ASSERT_EQ(report.axes.size(), 2u);
  EXPECT_EQ(report.axes[0].name, "dp");
  EXPECT_EQ(report.axes[0].collectives[0].bytes, 72);
  EXPECT_EQ(report.axes[1].collectives[0].count, 2);
  ASSERT_EQ(report.statements.size(), 2u);
  EXPECT_EQ(report.statements[0].line, 5);
  EXPECT_EQ(report.statements[0].text, "data dp");
  EXPECT_EQ(report.statements[1].file, "a.plan");
  EXPECT_EQ(report.statements[1].line, 7);
  EXPECT_EQ(report.statements[1].column, 2);
  EXPECT_EQ(report.statements[1].total.count, 2);
}

TEST(BuildReport, CollectivesOfOneStatementAreToldApartByKindAndCommunicator) {
  // Without a location, as in a program without a plan. All-gathers of ten rows of eight floats by three ranks.
  std::string text = program, place = " loc(\"a.plan\":7:2)";
  for (size_t at; (at = text.find(place)) != std::string::npos;)
    text.erase(at, place.size());
  Report report = reportOf(text);
  ASSERT_EQ(report.statements.size(), 2u);
  EXPECT_EQ(report.statements[0].file, "");
  EXPECT_EQ(report.statements[0].line, 0);
  EXPECT_EQ(report.statements[0].column, 0);
  EXPECT_EQ(report.statements[0].text, "colwise tp");
  EXPECT_EQ(report.statements[0].communicator, "tp");
  EXPECT_EQ(report.statements[0].total.kind, "all_gather");
  EXPECT_EQ(report.statements[0].total.count, 2);
  EXPECT_EQ(report.statements[0].total.bytes, 2 * (2 * 2 * 320 / 3));
  EXPECT_EQ(report.statements[1].communicator, "dp");
  EXPECT_EQ(report.statements[1].total.bytes, 2 * 1 * 72 / 2);
  // With the same location and the same text as the others, the one over dp is still listed separately.
  std::string other = program, words = "\"data dp\"", line = "\"a.plan\":5:1";
  other.replace(other.find(words), words.size(), "\"colwise tp\"");
  other.replace(other.find(line), line.size(), "\"a.plan\":7:2");
  Report merged = reportOf(other);
  ASSERT_EQ(merged.statements.size(), 2u);
  EXPECT_EQ(merged.statements[0].communicator, "dp");
  EXPECT_EQ(merged.statements[1].communicator, "tp");
}

TEST(BuildReport, ACollectiveOverTwoAxesCountsForBoth) {
  Report report =
      reportOf(schedCollective("all_reduce %x over @dp_tp", "[12], f32, partial = sum {0:(1)2, 1:(1)3}", "[12], f32"));
  EXPECT_EQ(report.axes[0].collectives[0].bytes, 4 * 5 * 48 / 6);
  EXPECT_EQ(report.axes[1].collectives[0].bytes, 4 * 5 * 48 / 6);
  EXPECT_EQ(report.communicators[2].ranks, 6);
}

TEST(BuildReport, NamesAMissingProgram) {
  SchedModule module(program);
  EXPECT_TRUE(failed(buildReport(module.get(), "step")));
  EXPECT_THAT(module.messages, testing::ElementsAre("has no program 'step' of all ranks to report on"));
  module.messages.clear();
  EXPECT_TRUE(failed(buildReport(module.get(), "reference")));
  EXPECT_THAT(module.messages, testing::ElementsAre("has no program 'reference' of all ranks to report on"));
}

TEST(BuildReport, NeedsAMesh) {
  SchedModule module("module {}");
  EXPECT_TRUE(failed(buildReport(module.get(), "forward")));
  EXPECT_THAT(module.messages, testing::ElementsAre("has no mesh to report on"));
}

static const std::string training = schedHead + R"(
sched.program @forward {
}
sched.program @step role <step> memory <parameters = 32, constants = 0, inputs = 8, peak = 64, least = 64, states = 16> {
  %w = sched.parameter ["w"] : <[8], f32>
  %m = sched.state "w.exp_avg" of "w" : <[8 over {0:(1)2}], f32>
  %r = sched.setting "optimizer.lr" 1.000000e-01 : <[], f64>
}
)";

TEST(BuildReport, AStepIsTheMainProgramAndHasStates) {
  SchedModule module(training);
  EXPECT_EQ(mainProgram(module.get()), "step");
  EXPECT_EQ(mainProgram(SchedModule(program).get()), "forward");
  auto report = buildReport(module.get(), "step");
  ASSERT_TRUE(succeeded(report));
  EXPECT_EQ(report->memory.states.largest, 16);
  EXPECT_EQ(report->memory.states.least, 16);
  EXPECT_EQ(report->memory.inputs.largest, 8);
}

/// The memory of an evaluation with its own timeline, and without that of the step, which the step reports.
TEST(BuildReport, AStepSaysWhatItsEvaluationNeeds) {
  std::string text = training + R"(
sched.program @eval.count0 role <microbatch> memory <parameters = 32, constants = 0, inputs = 8, peak = 48, least = 40> time <compute = 5, communication = 7> {
}
sched.program @eval role <eval> timeline [#base.instance<@eval.count0, 0>, #base.instance<@eval.count0, 1>, #base.instance<@eval, 0>] memory <parameters = 32, constants = 0, inputs = 8, peak = 48, least = 40, evaluation = 64, least_evaluation = 56> time <compute = 2, communication = 3> {
}
)";
  SchedModule module(text);
  auto report = buildReport(module.get(), "step");
  ASSERT_TRUE(succeeded(report));
  EXPECT_EQ(report->memory.evaluation.largest, 64);
  EXPECT_EQ(report->memory.evaluation.least, 56);
  EXPECT_EQ(report->time.compute, 0);
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  printReport(*report, stream);
  EXPECT_THAT(printed, testing::HasSubstr("  peak of 'eval'    64 B  64  least 56 B\n"));
  auto own = buildReport(module.get(), "eval");
  ASSERT_TRUE(succeeded(own));
  EXPECT_EQ(own->time.compute, 2 + 5) << "times are those of all instances";
  EXPECT_EQ(own->memory.evaluation.largest, 0);
}

/// A step of 4 microbatches counts what each of them runs 4 times, and what only the last one runs once.
TEST(BuildReport, MicrobatchesCountAsOftenAsTheyRun) {
  SchedModule module(schedHead + R"(
sched.program @count0 role <microbatch> {
  %x = sched.input "x" : <[12], f32>
  %y = sched.compute "vjp.op"(%x) {self = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %y : !sched.tensor<[12], f32>
}
sched.program @step role <step> timeline [#base.instance<@count0, 0>, #base.instance<@count0, 1>, #base.instance<@step, 0>, #base.instance<@step, 1>, #base.instance<@step, 2>, #base.instance<@step, 3>] {
  %x = sched.input "x" : <[12], f32, partial = sum {1:(1)3}>
  %t = sched.start all_reduce %x over @tp sequence 0 : !sched.tensor<[12], f32, partial = sum {1:(1)3}> -> <!sched.tensor<[12], f32>>
  %r = sched.wait %t : !sched.token<!sched.tensor<[12], f32>>
  %u = sched.start all_reduce %x over @tp sequence 1 when last : !sched.tensor<[12], f32, partial = sum {1:(1)3}> -> <!sched.tensor<[12], f32>>
  %s = sched.wait %u when last : !sched.token<!sched.tensor<[12], f32>>
  %y = sched.compute "vjp.op"(%r) {self = #base.operand<0>} : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  %z = sched.compute "vjp.op"(%s) {self = #base.operand<0>} when last : (!sched.tensor<[12], f32>) -> !sched.tensor<[12], f32>
  sched.free %r, %y : !sched.tensor<[12], f32>, !sched.tensor<[12], f32>
  sched.free %s, %z when last : !sched.tensor<[12], f32>, !sched.tensor<[12], f32>
}
)");
  auto report = buildReport(module.get(), "step");
  ASSERT_TRUE(succeeded(report));
  ASSERT_EQ(report->axes[1].collectives.size(), 1u);
  EXPECT_EQ(report->axes[1].collectives[0].count, 4 + 1);
  ASSERT_EQ(report->derivatives.size(), 1u);
  EXPECT_EQ(report->derivatives[0].count, 2 + 4 + 1);
}

TEST(PrintReport, StatesHaveALineWhereThereAreSome) {
  SchedModule module(training);
  auto text = [&](llvm::StringRef name) {
    std::string printed;
    llvm::raw_string_ostream stream(printed);
    printReport(*buildReport(module.get(), name), stream);
    return printed;
  };
  EXPECT_THAT(text("step"), testing::HasSubstr("optimizer states"));
  EXPECT_THAT(text("forward"), testing::Not(testing::HasSubstr("optimizer states")));
}

static const std::string offloaded = schedHead + R"(
sched.program @step role <step> memory <parameters = 0, constants = 0, inputs = 8, peak = 64, least = 64, states = 16, host_parameters = 32, host_states = 32, host_peak = 80> {
  %w = sched.parameter ["w"] host : <[8], f32>
  %m = sched.state "w.exp_avg" of "w" : <[8 over {0:(1)2}], f32>
  %n = sched.state "w.master" of "w" copies host : <[8], f32>
  %r = sched.setting "optimizer.lr" 1.000000e-01 : <[], f64>
}
)";

TEST(BuildReport, DeviceAndHostAreCountedApart) {
  SchedModule module(offloaded);
  auto report = buildReport(module.get(), "step");
  ASSERT_TRUE(succeeded(report));
  EXPECT_EQ(report->memory.parameters.largest, 0);
  EXPECT_EQ(report->memory.states.largest, 16);
  EXPECT_EQ(report->memory.hostParameters.largest, 32);
  EXPECT_EQ(report->memory.hostStates.least, 32);
  EXPECT_EQ(report->memory.hostPeak, 80);
  EXPECT_EQ(report->parameters.at(0).layout, "[8] on the host");
}

TEST(PrintReport, TheHostHasATableWhereSomethingIsThere) {
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  printReport(*buildReport(SchedModule(offloaded).get(), "step"), stream);
  EXPECT_THAT(printed, testing::HasSubstr(R"(
memory of a rank on the device
  parameters         0 B   0
  constants          0 B   0
  inputs             8 B   8
  optimizer states  16 B  16
  peak              64 B  64

memory of a rank on the host
  parameters        32 B  32
  optimizer states  32 B  32
  peak              80 B  80
)"));
}

/// A derivative from the runtime costs its operator again.
TEST(BuildReport, CountsOperatorsThatRunAgain) {
  Report report = reportOf(schedHead + R"(
sched.program @forward {
  %x = sched.input "x" : <[4], f32>
  %a = sched.compute "vjp.aten.atan.default"(%x, %x) {self = #base.operand<0>, gradients = [#base.operand<1>], of = "self"}
    : (!sched.tensor<[4], f32>, !sched.tensor<[4], f32>) -> !sched.tensor<[4], f32>
  %b = sched.compute "vjp.aten.atan.default"(%x, %a) {self = #base.operand<0>, gradients = [#base.operand<1>], of = "self"}
    : (!sched.tensor<[4], f32>, !sched.tensor<[4], f32>) -> !sched.tensor<[4], f32>
  %c = sched.compute "aten.relu.default"(%b) {self = #base.operand<0>}
    : (!sched.tensor<[4], f32>) -> !sched.tensor<[4], f32>
  sched.output "a" %a : <[4], f32>
  sched.output "b" %b : <[4], f32>
  sched.output "c" %c : <[4], f32>
}
)");
  ASSERT_EQ(report.derivatives.size(), 1u);
  EXPECT_EQ(report.derivatives[0].target, "aten.atan.default");
  EXPECT_EQ(report.derivatives[0].count, 2);
}

/// Ten kinds of tensors are listed by name.
TEST(BuildReport, SaysWhatHoldsThePeak) {
  std::string held;
  for (int64_t kind = 0; kind < 12; ++kind)
    held += (kind > 0 ? ", " : "") + ("<what = \"aten.mm.default\", module = \"m" + std::to_string(kind)) +
            "\", count = 2, bytes = " + std::to_string(4096 - kind) + ">";
  SchedModule module(schedHead + R"(
sched.program @forward memory <parameters = 0, constants = 0, inputs = 0, peak = 49086, least = 64> peak <"aten.relu.default" in "m.act" : )" +
                     held + R"(> {
}
)");
  auto report = buildReport(module.get(), "forward");
  ASSERT_TRUE(succeeded(report));
  ASSERT_TRUE(report->memory.atPeak);
  const PeakReport &peak = *report->memory.atPeak;
  EXPECT_EQ(peak.target, "aten.relu.default");
  EXPECT_EQ(peak.module, "m.act");
  ASSERT_EQ(peak.held.size(), 10u);
  EXPECT_EQ(peak.held[9].module, "m9");
  EXPECT_EQ(peak.held[9].bytes, 4087);
  EXPECT_EQ(peak.others.count, 4);
  EXPECT_EQ(peak.others.bytes, 4086 + 4085);
}
