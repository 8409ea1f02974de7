//===- write_program_test.cpp - a solution as a program -------------------===//

#include "compiler/cluster/read_cluster.h"
#include "compiler/transforms/schedule/instances.h"
#include "compiler/transforms/schedule/write_program.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/programs.h"
#include "mlir/IR/Verifier.h"
#include "test/unit/dialect/plan_text.h"
#include "llvm/ADT/StringExtras.h"
#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::scheduling;
using namespace mlir;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// A function that shards x over tp, gathers it, and adds it to a parameter.
constexpr char gathered[] = R"(
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!split = tensor<8xf32, #plan.sharding<[{"tp"}]>>
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @forward(%w: !whole {plan.kind = #plan.kind<parameter>, plan.names = ["w", "tied"], plan.trainable = true},
                   %x: !whole {plan.kind = #plan.kind<input>, plan.names = ["x"], plan.dims = ["batch"]},
                   %b: !whole) -> (!whole {plan.name = "y"}, !whole) {
  %c = plan.constant "one" dense<1.0> : tensor<8xf32> : !whole
  %0 = plan.slice %x [#plan.axis<"tp">] dim 0 : !whole -> !split loc("a.plan":3:1)
  %1 = plan.all_gather %0 [#plan.axis<"tp">] dim 0 because "colwise tp" : !split -> !whole loc("a.plan":4:1)
  %2 = plan.call "aten.add.Tensor"(%1, %w) {self = #base.operand<0>, list = [#base.operand<1>, unit],
      n = #base.local<1, operand 0, dim 0, offset 2, extent 3>, dtype = f32} in "m" : (!whole, !whole) -> !whole
  return %2, %c : !whole, !whole
}
)";

class WriteProgram : public PlanText {
protected:
  WriteProgram() { context.loadDialect<sched::SchedDialect>(); }

  /// The program of a function under these steps (or program order), as lines without indentation.
  std::vector<std::string> write(StringRef text, std::vector<Step> steps) {
    readModule(text);
    LayoutTable layouts(plan::roleOf(function()) == base::ProgramRole::reference ? plan::MeshOp() : mesh());
    CommunicatorTable communicators;
    Cluster cluster = clusterOfPreset(*findClusterPreset("cpu"));
    FailureOr<ProjectedFunction> projection = project(function(), cluster, layouts, communicators);
    EXPECT_TRUE(succeeded(projection));
    Solution solution{std::move(steps)};
    llvm::Error error = verify(projection->problem, solution);
    EXPECT_FALSE(static_cast<bool>(error)) << llvm::toString(std::move(error));
    OpBuilder builder(&context);
    builder.setInsertionPointToEnd(owner->getBody());
    if (mesh())
      writeDeclarations(builder, mesh(), communicators);
    Instances instances(projection->problem, solution, occurrencesIn(function(), *projection), 1);
    ProgramEstimates estimates = estimatesOf(function(), *projection, instances, simulate(instances));
    writeProgram(builder, function(), *projection, instances, estimates, layouts);
    function().erase(); // the program has the same name
    EXPECT_TRUE(succeeded(mlir::verify(*owner)));
    std::vector<std::string> lines;
    std::string printed;
    llvm::raw_string_ostream(printed) << *owner->getOperation();
    SmallVector<StringRef> parts;
    StringRef(printed).split(parts, '\n', -1, false);
    for (StringRef part : parts)
      if (part.contains("sched."))
        lines.push_back(part.trim().str());
    return lines;
  }

  sched::ProgramOp program() { return *owner->getOps<sched::ProgramOp>().begin(); }
};

// Buffers of `gathered` are w, x, b, the constant, then the results 4, 5 and 6; operations slice, gather and add.
const std::vector<Step> inOrder = {{StepKind::run, 0},  {StepKind::start, 1}, {StepKind::wait, 1},
                                   {StepKind::free, 4}, {StepKind::run, 2},   {StepKind::free, 5}};

TEST_F(WriteProgram, EveryStepIsAnOp) {
  EXPECT_THAT(
      write(gathered, inOrder),
      ElementsAre("sched.mesh [#base.mesh_axis<\"tp\" = 2>]", "sched.communicator @tp over [#sched.axis<0:(1)2>]",
                  HasSubstr("sched.program @forward memory"),
                  HasSubstr("sched.parameter [\"w\", \"tied\"] trainable : <[8], f32>"),
                  HasSubstr("sched.input \"x\" dims [\"batch\"] : <[8], f32>"),
                  HasSubstr("sched.parameter [\"arg2\"] : <[8], f32>"),
                  HasSubstr("sched.constant \"one\" dense<1.000000e+00> : tensor<8xf32> : <[8], f32>"),
                  HasSubstr("sched.slice %1 : <[8], f32> -> <[8 over {0:(1)2}], f32>"),
                  HasSubstr("all_gather %4 dim 0 over @tp sequence 0 because "
                            "\"colwise tp\" : !sched.tensor<[8 over {0:(1)2}], f32> -> <!sched.tensor<[8], f32>>"),
                  HasSubstr("sched.wait %5"), HasSubstr("sched.free %4"),
                  HasSubstr("sched.compute \"aten.add.Tensor\"(%6, %0) {dtype = f32, list = [#base.operand<1>, unit], "
                            "n = #base.local<1, operand 0, dim 0, offset 2, extent 3>, self = #base.operand<0>} in "
                            "\"m\""),
                  HasSubstr("sched.free %6"), HasSubstr("sched.output \"y\" %7"), HasSubstr("sched.output \"1\" %3")));
}

TEST_F(WriteProgram, MemoryIsThatOfTheFullestRank) {
  write(gathered, inOrder);
  sched::MemoryAttr memory = *program().getMemory();
  EXPECT_EQ(memory.getParameters(), 2 * 32) << "w and b; what is not an input is a parameter";
  EXPECT_EQ(memory.getInputs(), 32);
  EXPECT_EQ(memory.getConstants(), 32);
  // Permanent 128; at the peak also the gathered value and the sum, 32 bytes each.
  EXPECT_EQ(memory.getPeak(), 128 + 64);
  EXPECT_EQ(memory.getLeast(), 128 + 64);
}

/// A step that updates its parameter and the optimizer's state.
constexpr char trained[] = R"(
!x = tensor<8xf32, #plan.sharding<[{}]>>
!s = tensor<f64, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @step(%w: !x {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true},
                %g: !x {plan.kind = #plan.kind<input>, plan.names = ["g"]},
                %m: !x {plan.kind = #plan.kind<state>, plan.names = ["w.momentum_buffer"], plan.of = #plan.argument<parameter "w">},
                %r: !s {plan.kind = #plan.kind<setting>, plan.names = ["optimizer.lr"], plan.value = 0.5 : f64,
                        plan.schedule = #base.rate_schedule<kind = linear, steps = 3>},
                %n: !s {plan.kind = #plan.kind<setting>, plan.names = ["step"], plan.value = 1.0 : f64})
    -> (!x {plan.updates = #plan.argument<parameter "w">}, !x {plan.updates = #plan.argument<state "w.momentum_buffer">}) attributes {plan.role = #base.role<step>} {
  %0:2 = plan.call "meshplan.sgd_momentum"(%w, %g, %m, %r, %n) {parameter = #base.operand<0>,
      gradient = #base.operand<1>, momentum = #base.operand<2>, learning_rate = #base.operand<3>,
      step = #base.operand<4>} : (!x, !x, !x, !s, !s) -> (!x, !x)
  return %0#0, %0#1 : !x, !x
}
)";

TEST_F(WriteProgram, AStepHasStatesSettingsAndUpdates) {
  std::vector<std::string> lines = write(trained, {{StepKind::run, 0}});
  EXPECT_THAT(lines, testing::Contains(HasSubstr("sched.state \"w.momentum_buffer\" of \"w\" : <[8], f32>")));
  EXPECT_THAT(lines,
              testing::Contains(HasSubstr(
                  "sched.setting \"optimizer.lr\" 5.000000e-01 schedule <kind = linear, steps = 3> : <[], f64>")));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("overwrites [0, 2]")));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("sched.gradient %1 of %0 : <[8], f32> of <[8], f32>")));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("sched.update %5#0 to %0")));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("sched.update %5#1 to %2")));
  sched::MemoryAttr memory = *program().getMemory();
  EXPECT_EQ(memory.getParameters(), 32);
  EXPECT_EQ(memory.getStates(), 32);
  EXPECT_EQ(memory.getInputs(), 32 + 2 * 8) << "settings come with the inputs";
  EXPECT_EQ(memory.getPeak(), 3 * 32 + 2 * 8) << "nothing is recomputed";
}

/// The same with the optimizer's state on the host.
constexpr char offloaded[] = R"(
!x = tensor<8xf32, #plan.sharding<[{}]>>
!s = tensor<f64, #plan.sharding<[]>>
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @step(%w: !x {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true, plan.host},
                %g: !x {plan.kind = #plan.kind<input>, plan.names = ["g"]},
                %m: !x {plan.kind = #plan.kind<state>, plan.names = ["w.momentum_buffer"], plan.of = #plan.argument<parameter "w">, plan.host},
                %r: !s {plan.kind = #plan.kind<setting>, plan.names = ["optimizer.lr"], plan.value = 0.5 : f64})
    -> (!x {plan.updates = #plan.argument<parameter "w">}, !x {plan.updates = #plan.argument<state "w.momentum_buffer">}) attributes {plan.role = #base.role<step>} {
  %0 = plan.call "meshplan.to_host"(%g) {self = #base.operand<0>} {plan.host} : (!x) -> !x
  %1:2 = plan.call "meshplan.sgd_momentum"(%w, %0, %m, %r, %r) {parameter = #base.operand<0>,
      gradient = #base.operand<1>, momentum = #base.operand<2>, learning_rate = #base.operand<3>,
      step = #base.operand<4>} {plan.host} : (!x, !x, !x, !s, !s) -> (!x, !x)
  return %1#0, %1#1 : !x, !x
}
)";

TEST_F(WriteProgram, WhatLiesOnTheHostIsMarkedAndCountedApart) {
  std::vector<std::string> lines =
      write(offloaded, {{StepKind::start, 0}, {StepKind::wait, 0}, {StepKind::run, 1}, {StepKind::free, 4}});
  EXPECT_THAT(lines, testing::Contains(HasSubstr("sched.parameter [\"w\"] trainable host : <[8], f32>")));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("\"w.momentum_buffer\" of \"w\" host : <[8], f32>")));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("sched.copy %1 host sequence 0 {")));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("overwrites [0, 2] host")));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("sched.gradient %5 of %0")));
  sched::MemoryAttr memory = *program().getMemory();
  EXPECT_EQ(memory.getParameters(), 0);
  EXPECT_EQ(memory.getStates(), 0);
  EXPECT_EQ(memory.getPeak(), 32 + 8) << "the gradient and the learning rate";
  EXPECT_EQ(memory.getHostParameters(), 32);
  EXPECT_EQ(memory.getHostStates(), 32);
  EXPECT_EQ(memory.getHostPeak(), 3 * 32) << "and the copy of the gradient";
}

TEST_F(WriteProgram, ResultsAreMarkedAsLossAndGradients) {
  std::vector<std::string> lines = write(R"(
!x = tensor<8xf32, #plan.sharding<[{}]>>
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @step(%w: !x {plan.kind = #plan.kind<parameter>, plan.names = ["w"], plan.trainable = true},
                %l: tensor<f32, #plan.sharding<[]>> {plan.kind = #plan.kind<input>, plan.names = ["l"]})
    -> (tensor<f32, #plan.sharding<[]>> {plan.name = "loss", plan.loss},
        !x {plan.name = "gradients.w", plan.gradient_of = #plan.argument<parameter "w">}) attributes {plan.role = #base.role<step>} {
  return %l, %w : tensor<f32, #plan.sharding<[]>>, !x
}
)",
                                         {});
  EXPECT_THAT(lines, testing::Contains(HasSubstr("sched.output \"loss\" %1 loss : <[], f32>")));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("sched.gradient %0 of %0")));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("sched.output \"gradients.w\" %0 : <[8], f32>")));
}

TEST_F(WriteProgram, NeighbouringFreesAreOne) {
  std::vector<Step> late = {{StepKind::run, 0}, {StepKind::start, 1}, {StepKind::wait, 1},
                            {StepKind::run, 2}, {StepKind::free, 4},  {StepKind::free, 5}};
  EXPECT_THAT(write(gathered, late), testing::Contains(HasSubstr("sched.free %4, %6")));
}

TEST_F(WriteProgram, OpsKeepTheirPlaces) {
  write(gathered, inOrder);
  auto place = [&](auto op) { return sched::getPlanLocation(op.getLoc()); };
  auto slice = *program().getOps<sched::SliceOp>().begin();
  auto start = *program().getOps<sched::StartOp>().begin();
  auto wait = *program().getOps<sched::WaitOp>().begin();
  auto free = *program().getOps<sched::FreeOp>().begin();
  EXPECT_EQ(place(slice).getStartLine(), 3u);
  EXPECT_EQ(place(start).getStartLine(), 4u);
  EXPECT_EQ(place(wait).getStartLine(), 4u);
  EXPECT_EQ(free.getLoc(), wait.getLoc()) << "a free is part of the step before it";
}

TEST_F(WriteProgram, AProgramOfOneRankHasItsOwnDevices) {
  EXPECT_THAT(write(R"(
func.func @reference(%x: tensor<8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<8xf32>
    attributes {plan.role = #base.role<reference>} {
  %0 = plan.call "aten.neg.default"(%x) {self = #base.operand<0>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
plan.mesh [#base.mesh_axis<"tp" = 2>])",
                    {{StepKind::run, 0}}),
              testing::Contains(
                  HasSubstr("sched.program @reference role <reference> devices [#base.mesh_axis<\"rank\" = 1>]")));
}

TEST_F(WriteProgram, EachKindOfCollectiveIsWritten) {
  constexpr char collectives[] = R"(
!rows = tensor<8x8xf32, #plan.sharding<[{"tp"}, {}]>>
!columns = tensor<8x8xf32, #plan.sharding<[{}, {"tp"}]>>
!addend = tensor<8x8xf32, #plan.sharding<[{}, {}], partial = sum {"tp"}>>
!whole = tensor<8x8xf32, #plan.sharding<[{}, {}]>>
plan.mesh [#base.mesh_axis<"tp" = 2>]
func.func @forward(%r: !rows {plan.kind = #plan.kind<input>}, %a: !addend {plan.kind = #plan.kind<input>}) -> (!columns, !whole, !rows, !rows) {
  %0 = plan.all_to_all %r [#plan.axis<"tp">] from 0 to 1 : !rows -> !columns
  %1 = plan.all_reduce %a [#plan.axis<"tp">] : !addend -> !whole
  %2 = plan.reduce_scatter %a [#plan.axis<"tp">] dim 0 : !addend -> !rows
  %3 = plan.permute %r [#plan.axis<"tp">] : !rows -> !rows
  return %0, %1, %2, %3 : !columns, !whole, !rows, !rows
})";
  // The first operation packs the columns of the all-to-all into buffer 2.
  std::vector<Step> steps = {{StepKind::run, 0}};
  for (unsigned index = 1; index < 5; ++index)
    steps.insert(steps.end(), {{StepKind::start, index}, {StepKind::wait, index}});
  steps.push_back({StepKind::free, 2});
  std::vector<std::string> lines = write(collectives, steps);
  for (StringRef text : {"sched.pack %0 : !sched.packed<<[8 over {0:(1)2}, 8], f32>>",
                         "all_to_all %2 from 0 dim 1 over @tp sequence 0", "all_reduce %1 over @tp sequence 1",
                         "reduce_scatter %1 dim 0 over @tp sequence 2", "permute %0 over @tp sequence 3"})
    EXPECT_THAT(lines, testing::Contains(HasSubstr(text.str())));
}

} // namespace
