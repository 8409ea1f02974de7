//===- problem_text_test.cpp - problems as text and back ------------------===//

#include "compiler/scheduling/algorithms.h"
#include "test/lib/problem/generate.h"
#include "test/unit/scheduling/problem_fixture.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan::scheduling;

TEST(ProblemText, WhatIsWrittenIsRead) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Problem problem = randomAnswerable(seed);
    Solution solution = llvm::cantFail(programOrder([&] {
      Problem unlimited = problem;
      unlimited.memoryLimit.clear();
      return unlimited;
    }()));
    ProblemText text = parse(textOf(Coordinate{"", problem, solution}));
    EXPECT_EQ(text.problem, problem) << "seed " << seed;
    EXPECT_EQ(text.solution ? text.solution->steps : std::vector<Step>(), solution.steps) << "seed " << seed;
  }
}

TEST(ProblemText, EveryStatement) {
  std::string all = R"(rank_classes 2
lane compute
lane tp collectives
lane to_host copies
link network 50000000000
link node 400000000000 shared 1300
overlap_speed 900 800
issue_time 3000
host_computes
memory_limit 96 80
communicator tp 1:(1)3 0:(2)2
buffer w 64 64 permanent
buffer y 32 16
buffer v 0 0 view y
buffer z 32 16 kept
buffer w2 0 0 kept view w
buffer m 64 64 permanent host
operation linear on compute duration 4 reads w writes y workspace 8 8 packs
operation reduce on tp over tp latency 5 moves network 100 reads y writes z workspace 24 24 blocking
operation step on compute reads w z writes w2 overwrites w after linear reduce unpacks
operation keep on to_host reads m host
operation both on compute reads z joins
operation some on compute reads w picks
mergeable reductions limit 100 copies 3 once network 20 reduce bytes 48 packs 2 48 48 unpacks 1 24 24
splittable pair parts 2 linear duration 3 workspace 8 8 bytes 16 8 rows w reduce latency 5 moves network 50 bytes 16 8 joins 1
run linear
)";
  ProblemText text = parse(all);
  EXPECT_EQ(textOf(Coordinate{"", text.problem, *text.solution}), all);
}

TEST(ProblemText, Coordinates) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::vector<Coordinate> coordinates = randomCoordinates(seed);
    for (Coordinate &each : coordinates) {
      EXPECT_EQ(message(each.problem.check()), "") << "seed " << seed;
      each.solution = llvm::cantFail(programOrder(each.problem));
    }
    std::vector<Coordinate> read = parse(textOf(coordinates)).coordinates;
    ASSERT_EQ(read.size(), coordinates.size());
    for (size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(read[i].name, coordinates[i].name);
      EXPECT_EQ(read[i].problem, coordinates[i].problem) << "seed " << seed;
      EXPECT_EQ(read[i].solution.steps, coordinates[i].solution.steps);
    }
  }
}

TEST(Generate, OneAfterTheOtherIsAnOrderThatAllListsAgreeWith) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::vector<Coordinate> coordinates = randomCoordinates(seed);
    for (Coordinate &each : coordinates)
      for (unsigned index = 0; index < each.problem.operations.size(); ++index)
        if (each.problem.isAsynchronous(each.problem.operations[index]))
          llvm::append_range(each.solution.steps,
                             std::initializer_list<Step>{{StepKind::start, index}, {StepKind::wait, index}});
        else
          each.solution.steps.push_back({StepKind::run, index});
    EXPECT_EQ(message(verifyOrder(coordinates)), "") << "seed " << seed;
  }
}

TEST(Generate, MeshesOfOtherSizes) {
  Problem problem = randomAnswerable(0);
  resizeMesh(problem, 3, 2);
  std::vector<std::vector<int64_t>> sizes;
  for (const Communicator &communicator : problem.communicators) {
    std::vector<int64_t> &own = sizes.emplace_back();
    for (const meshplan::AxisRef &axis : communicator.axes)
      own.push_back(axis.size);
  }
  using testing::ElementsAre;
  EXPECT_THAT(sizes, ElementsAre(ElementsAre(2), ElementsAre(3), ElementsAre(3, 2), ElementsAre(2), ElementsAre(2)));
}
