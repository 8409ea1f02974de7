//===- build_problem_test.cpp - a partitioned function as a problem -------===//
//
// Bytes are given for the first rank and the last, which has the smallest shard. All elements have 4 bytes.
//
//===----------------------------------------------------------------------===//

#include "compiler/cluster/read_cluster.h"
#include "compiler/transforms/schedule/build_problem.h"
#include "test/unit/dialect/plan_text.h"
#include "llvm/ADT/StringExtras.h"
#include <array>
#include <gmock/gmock.h>

using namespace meshplan;
using namespace mlir;
using testing::ElementsAre;

namespace {

class ProjectFunction : public PlanText {
protected:
  ProjectFunction() { context.loadDialect<sched::SchedDialect>(); }

  /// The problem of a function on a mesh of dp = 2 and tp = 2.
  const scheduling::Problem &problemOf(StringRef text) {
    readOnMesh(2, 2, text);
    LayoutTable layouts(mesh());
    communicators = CommunicatorTable();
    projected = *project(function(), clusterOfPreset(*findClusterPreset("cpu")), layouts, communicators);
    llvm::Error error = projected.problem.check();
    EXPECT_FALSE(static_cast<bool>(error)) << llvm::toString(std::move(error));
    return projected.problem;
  }

  /// The problem of one op on `input`; with `turned`, the input comes from a transposed tensor of that type.
  const scheduling::Problem &problemOfOp(StringRef op, StringRef input, StringRef result, bool turned = false) {
    std::string from = tensor(input), to = tensor(result), source = turned ? tensor(turn(input)) : from;
    std::string body =
        turned ? "%a = plan.call \"aten.t.default\"(%x) {self = #base.operand<0>} : (" + source + ") -> " + from + "\n"
               : "";
    std::string operand = turned ? "%a" : "%x";
    size_t place = op.find('[');
    return problemOf("func.func @f(%x: " + source + ") -> " + to + " {\n" + body + "%y = plan." +
                     op.take_front(place).str() + operand + " " + op.drop_front(place).str() + " : " + from + " -> " +
                     to + "\nreturn %y : " + to + "\n}");
  }

  std::vector<std::vector<unsigned>> reads() const {
    std::vector<std::vector<unsigned>> all;
    for (const scheduling::Operation &operation : projected.problem.operations)
      all.emplace_back(operation.consumed.begin(), operation.consumed.end());
    return all;
  }

  ProjectedFunction projected;
  CommunicatorTable communicators;

private:
  /// "5x3 {}, {\"tp\"}" as a type; the text after "]" is kept.
  static std::string tensor(StringRef text) {
    auto [shape, layout] = text.split(' ');
    auto [dims, partial] = layout.split(';');
    return ("tensor<" + shape + "xf32, #plan.sharding<[" + dims + "]" + (partial.empty() ? "" : ", partial =") +
            partial + ">>")
        .str();
  }

  /// The two dims swapped.
  static std::string turn(StringRef text) {
    auto [shape, layout] = text.split(' ');
    auto [dims, partial] = layout.split(';');
    auto [rows, columns] = shape.split('x');
    auto [first, second] = dims.split(", ");
    return (columns + "x" + rows + " " + second + ", " + first + (partial.empty() ? "" : ";") + partial).str();
  }
};

TEST_F(ProjectFunction, WhatIsThereBeforeIsPermanentAndWhatIsReturnedIsKept) {
  const scheduling::Problem &problem = problemOf(R"(
!whole = tensor<8xf32, #plan.sharding<[{}]>>
func.func @f(%w: !whole, %x: !whole) -> (!whole, !whole, !whole, !whole) {
  %c = plan.constant "c" dense<1.0> : tensor<8xf32> : !whole
  %0 = plan.call "aten.add.Tensor"(%x, %c) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  %1 = plan.call "aten.mul.Tensor"(%0, %0) {self = #base.operand<0>, other = #base.operand<1>} : (!whole, !whole) -> !whole
  return %1, %x, %c, %1 : !whole, !whole, !whole, !whole
})");
  std::vector<bool> permanent, kept;
  for (const scheduling::Buffer &buffer : problem.buffers) {
    permanent.push_back(buffer.permanent);
    kept.push_back(buffer.kept);
    EXPECT_THAT(buffer.bytes, ElementsAre(32, 32));
    EXPECT_FALSE(buffer.viewOf);
  }
  EXPECT_THAT(permanent, ElementsAre(true, true, true, false, false)) << "w, x, c and the results";
  EXPECT_THAT(kept, ElementsAre(false, false, false, false, true));
  EXPECT_THAT(reads(), ElementsAre(ElementsAre(1, 2), ElementsAre(3, 3)));
  EXPECT_THAT(problem.handover, ElementsAre(0, 0)) << "all of it is row-major";
  EXPECT_EQ(projected.buffers.size(), problem.buffers.size());
  EXPECT_EQ(projected.operations.size(), problem.operations.size());
}

TEST_F(ProjectFunction, CopiesBetweenDeviceAndHostHaveALaneForEachDirection) {
  const scheduling::Problem &problem = problemOf(R"(
!x = tensor<1000000xf32, #plan.sharding<[{}]>>
func.func @f(%w: !x {plan.kind = #plan.kind<parameter>, plan.names = ["w"]}) -> (!x {plan.updates = #plan.argument<parameter "w">}) {
  %0 = plan.call "meshplan.to_host"(%w) {self = #base.operand<0>} {plan.host} : (!x) -> !x
  %1 = plan.call "aten.exp.default"(%0) {self = #base.operand<0>} {plan.host} : (!x) -> !x
  %2 = plan.call "meshplan.assign"(%w, %1) {self = #base.operand<0>, source = #base.operand<1>} : (!x, !x) -> !x
  return %2 : !x
})");
  std::vector<std::string> lanes, links;
  for (const scheduling::Operation &operation : problem.operations) {
    lanes.push_back(problem.lanes[operation.lane].name);
    if (problem.isAsynchronous(operation))
      links.push_back(problem.links[operation.transfers.front().link].name);
  }
  EXPECT_THAT(lanes, ElementsAre("copies.to_host", "compute", "copies.to_device"));
  EXPECT_THAT(links, ElementsAre("to host", "to device"));
  EXPECT_EQ(problem.lanes[problem.operations[0].lane].kind, scheduling::LaneKind::copies);
  // On a CPU a copy reads and writes the memory of the host.
  Cluster cluster = clusterOfPreset(*findClusterPreset("cpu"));
  for (unsigned copy : {0, 2})
    EXPECT_NEAR(static_cast<double>(problem.timeAlone(problem.operations[copy])), 2 * 4e6 / cluster.hostBytes * 1e9, 2);
  // The assignment writes in place of the parameter, after the copy that reads the old elements.
  const scheduling::Operation &assign = problem.operations[2];
  EXPECT_THAT(assign.consumed, ElementsAre(2, 0));
  EXPECT_THAT(assign.overwritten, ElementsAre(0));
  EXPECT_THAT(assign.after, ElementsAre(0));
  EXPECT_EQ(problem.buffers[3].viewOf, 0);
  EXPECT_THAT(problem.buffers[3].bytes, ElementsAre(0, 0));
  std::vector<bool> isOnHost;
  for (const scheduling::Buffer &buffer : problem.buffers)
    isOnHost.push_back(buffer.memory == scheduling::Memory::host);
  EXPECT_THAT(isOnHost, ElementsAre(false, true, true, false));
}

TEST_F(ProjectFunction, CollectivesRunBesideWhatIsComputed) {
  const scheduling::Problem &problem = problemOf(R"(
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!split = tensor<8xf32, #plan.sharding<[{"tp"}]>>
func.func @f(%x: !whole) -> !whole {
  %0 = plan.slice %x [#plan.axis<"tp">] dim 0 : !whole -> !split
  %1 = plan.all_gather %0 [#plan.axis<"tp">] dim 0 : !split -> !whole
  %2 = plan.call "aten.exp.default"(%1) {self = #base.operand<0>} : (!whole) -> !whole
  return %2 : !whole
})");
  std::vector<unsigned> lanes;
  std::vector<bool> collective;
  for (const scheduling::Operation &operation : problem.operations) {
    lanes.push_back(operation.lane);
    collective.push_back(operation.isCollective());
  }
  EXPECT_THAT(lanes, ElementsAre(computeLane, 1, computeLane));
  EXPECT_THAT(collective, ElementsAre(false, true, false));
}

TEST_F(ProjectFunction, EachCommunicatorThatIsUsedHasALane) {
  const scheduling::Problem &problem = problemOf(R"(
!whole = tensor<8xf32, #plan.sharding<[{}]>>
!tp = tensor<8xf32, #plan.sharding<[{"tp"}]>>
!dp = tensor<8xf32, #plan.sharding<[{"dp"}]>>
func.func @f(%x: !tp, %y: !dp) -> (!whole, !whole, !whole) {
  %0 = plan.all_gather %x [#plan.axis<"tp">] dim 0 : !tp -> !whole
  %1 = plan.all_gather %y [#plan.axis<"dp">] dim 0 : !dp -> !whole
  %2 = plan.all_gather %x [#plan.axis<"tp">] dim 0 : !tp -> !whole
  return %0, %1, %2 : !whole, !whole, !whole
})");
  std::vector<std::string> lanes;
  for (const scheduling::Operation &operation : problem.operations)
    lanes.push_back(problem.lanes[operation.lane].name);
  EXPECT_THAT(lanes, ElementsAre("communication.tp", "communication.dp", "communication.tp"));
  EXPECT_EQ(problem.lanes.size(), 3u);
  problemOf(R"(
!whole = tensor<8xf32, #plan.sharding<[{}]>>
func.func @f(%x: !whole) -> !whole {
  return %x : !whole
})");
  EXPECT_EQ(projected.problem.lanes.size(), 1u);
}

TEST_F(ProjectFunction, CollectivesAtTheSameTimeAreAsSlowAsTheClusterSays) {
  readOnMesh(2, 2, "func.func @f() {\n  return\n}");
  LayoutTable layouts(mesh());
  Cluster cluster = clusterOfPreset(*findClusterPreset("cpu"));
  cluster.overlap.concurrent = 1.6;
  std::vector<int64_t> shared;
  for (const scheduling::Link &link : project(function(), cluster, layouts, communicators)->problem.links)
    shared.push_back(link.sharedRate);
  // Two of them move twice the bytes in 1.6 times the time of one. Copies have a link for each direction.
  EXPECT_THAT(shared, ElementsAre(1250, 1250, 1000, 1000));
}

TEST_F(ProjectFunction, EachListOfAxesHasOneCommunicator) {
  readOnMesh(2, 8);
  LayoutTable layouts(mesh());
  auto get = [&](StringRef axes) { return communicators.get(attribute<ArrayAttr>(("[" + axes + "]").str()), layouts); };
  EXPECT_EQ(get("#plan.axis<\"tp\">"), 0u);
  EXPECT_EQ(get("#plan.axis<\"dp\">, #plan.axis<\"tp\">"), 1u);
  EXPECT_EQ(get("#plan.axis<\"tp\">, #plan.axis<\"dp\">"), 2u) << "its ranks stand in another order";
  EXPECT_EQ(get("#plan.axis<\"tp\":(2)4>"), 3u);
  EXPECT_EQ(get("#plan.axis<\"tp\":(1)2>, #plan.axis<\"tp\":(4)2>"), 4u);
  EXPECT_EQ(get("#plan.axis<\"tp\">"), 0u) << "known";
  EXPECT_EQ(get("#plan.axis<\"tp\":(2)4>"), 3u);
  std::vector<std::string> names;
  for (const scheduling::Communicator &each : communicators.list())
    names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("tp", "dp.tp", "tp.dp", "tp.2.4", "tp.1.2.tp.4.2"));
  EXPECT_THAT(communicators.list()[1].axes, ElementsAre(AxisRef{0, 1, 2}, AxisRef{1, 1, 8}));
  EXPECT_THAT(communicators.list()[3].axes, ElementsAre(AxisRef{1, 2, 4}));
}

/// Bytes of the buffers into which collectives are packed and from which they are unpacked.
scheduling::ClassBytes packedBytes(const scheduling::Problem &problem) {
  scheduling::ClassBytes sum(problem.rankClasses, 0);
  auto add = [&](unsigned buffer) {
    for (auto [total, bytes] : llvm::zip_equal(sum, problem.buffers[buffer].bytes))
      total += bytes;
  };
  for (const scheduling::Operation &operation : problem.operations) {
    EXPECT_TRUE(!operation.isCollective() || operation.workspace.empty()) << "its copies are operations";
    if (operation.copy == scheduling::Copy::pack)
      add(operation.produced.front());
    else if (operation.copy == scheduling::Copy::unpack)
      add(operation.consumed.front());
  }
  return sum;
}

struct Case {
  const char *op, *input, *result;
  std::array<int64_t, 2> packed;       ///< of a row-major input
  std::array<int64_t, 2> turnedPacked; ///< of one whose dims lie in the other order
};

// Pieces of a dim are contiguous if all dims before it have one element. Others are packed: outgoing ones in a copy of
// the input, incoming ones in a copy of the result. A tensor that is sent whole must be row-major, so a transposed one
// is packed, too.
TEST_F(ProjectFunction, CollectivesPackWhatIsNotInOrder) {
  const Case cases[] = {
      // 6 x 4 elements are 96 bytes, half of them 48.
      {"all_gather [#plan.axis<\"tp\">] dim 0", "6x4 {\"tp\"}, {}", "6x4 {}, {}", {0, 0}, {48, 48}},
      {"all_gather [#plan.axis<\"tp\">] dim 1", "6x4 {}, {\"tp\"}", "6x4 {}, {}", {96, 96}, {96 + 48, 96 + 48}},
      {"reduce_scatter [#plan.axis<\"tp\">] dim 0", "6x4 {}, {}; sum {\"tp\"}", "6x4 {\"tp\"}, {}", {0, 0}, {96, 96}},
      {"reduce_scatter [#plan.axis<\"tp\">] dim 1", "6x4 {}, {}; sum {\"tp\"}", "6x4 {}, {\"tp\"}", {96, 96}, {96, 96}},
      {"all_reduce [#plan.axis<\"tp\">]", "6x4 {}, {}; sum {\"tp\"}", "6x4 {}, {}", {0, 0}, {96, 96}},
      {"permute [#plan.axis<\"dp\">, #plan.axis<\"tp\">]", "6x4 {\"dp\"}, {}", "6x4 {\"tp\"}, {}", {0, 0}, {48, 48}},
      // Columns are packed before they are sent and rows arrive in order, or the other way around.
      {"all_to_all [#plan.axis<\"tp\">] from 0 to 1", "6x4 {\"tp\"}, {}", "6x4 {}, {\"tp\"}", {48, 48}, {48, 48}},
      {"all_to_all [#plan.axis<\"tp\">] from 1 to 0", "6x4 {}, {\"tp\"}", "6x4 {\"tp\"}, {}", {48, 48}, {96, 96}},
      // 5 rows are 3 and 2: the first rank sends 3 x 4 elements and gets 5 x 2.
      {"all_to_all [#plan.axis<\"tp\">] from 0 to 1", "5x4 {\"tp\"}, {}", "5x4 {}, {\"tp\"}", {48, 32}, {48, 32}},
      {"all_to_all [#plan.axis<\"tp\">] from 1 to 0", "5x4 {}, {\"tp\"}", "5x4 {\"tp\"}, {}", {48, 32}, {88, 72}},
      {"all_gather [#plan.axis<\"tp\">] dim 0", "5x4 {\"tp\"}, {}", "5x4 {}, {}", {0, 0}, {48, 32}},
      // The columns of a single row are contiguous, also if the rank has only that row, and also if it is transposed.
      {"all_gather [#plan.axis<\"tp\">] dim 1", "1x4 {}, {\"tp\"}", "1x4 {}, {}", {0, 0}, {0, 0}},
      {"all_gather [#plan.axis<\"tp\">] dim 1", "2x4 {\"dp\"}, {\"tp\"}", "2x4 {\"dp\"}, {}", {0, 0}, {0, 0}},
      {"reduce_scatter [#plan.axis<\"tp\">] dim 1", "1x4 {}, {}; sum {\"tp\"}", "1x4 {}, {\"tp\"}", {0, 0}, {0, 0}},
      // The first rank has the only column.
      {"all_gather [#plan.axis<\"tp\">] dim 1", "4x1 {}, {\"tp\"}", "4x1 {}, {}", {0, 0}, {0, 0}},
      // Of 3 rows over dp the first rank has two, and the last has one. All ranks run the same operations, so the last
      // one unpacks its single row, too.
      {"all_gather [#plan.axis<\"tp\">] dim 1",
       "3x4 {\"dp\"}, {\"tp\"}",
       "3x4 {\"dp\"}, {}",
       {32, 16},
       {32 + 16, 16 + 8}},
  };
  for (const Case &each : cases)
    for (bool turned : {false, true}) {
      EXPECT_THAT(packedBytes(problemOfOp(each.op, each.input, each.result, turned)),
                  testing::ElementsAreArray(turned ? each.turnedPacked : each.packed))
          << each.op << " of " << each.input << (turned ? ", turned" : "");
    }
}

// A rank has half of each part, and the halves of the other rank are in between.
TEST_F(ProjectFunction, PartsArePackedInAnyDim) {
  auto packed = [&](StringRef op, StringRef input, StringRef result) {
    return packedBytes(problemOfOp(op, input, result));
  };
  StringRef parts = "8x3 {\"tp\", parts [4, 4]}, {}";
  EXPECT_THAT(packed("all_gather [#plan.axis<\"tp\">] dim 0", parts, "8x3 {}, {}"), ElementsAre(96, 96));
  EXPECT_THAT(packed("reduce_scatter [#plan.axis<\"tp\">] dim 0", "8x3 {}, {}; sum {\"tp\"}", parts),
              ElementsAre(96, 96));
}

TEST_F(ProjectFunction, AnExchangeBetweenInnerDimsIsPackedOnBothSides) {
  EXPECT_THAT(packedBytes(problemOfOp("all_to_all [#plan.axis<\"tp\">] from 1 to 2", "2x6x5 {}, {\"tp\"}, {}",
                                      "2x6x5 {}, {}, {\"tp\"}")),
              // The first rank has 2 x 3 x 5 elements, then 2 x 6 x 3; the last one 2 x 6 x 2.
              ElementsAre((30 + 36) * 4, (30 + 24) * 4));
}

TEST_F(ProjectFunction, ASliceIsAViewUnlessItPutsPartsTogether) {
  auto slice = [&](StringRef input, StringRef result, bool turned = false) {
    return problemOfOp("slice [#plan.axis<\"tp\">] dim 1", input, result, turned).buffers.back();
  };
  scheduling::Buffer view = slice("6x8 {}, {}", "6x8 {}, {\"tp\"}");
  EXPECT_EQ(view.viewOf, 0u);
  EXPECT_THAT(view.bytes, ElementsAre(0, 0));
  scheduling::Buffer parts = slice("6x8 {}, {}", "6x8 {}, {\"tp\", parts [6, 2]}");
  EXPECT_FALSE(parts.viewOf);
  EXPECT_THAT(parts.bytes, ElementsAre(96, 96));
  EXPECT_EQ(slice("6x8 {\"dp\", parts [4, 2]}, {}", "6x8 {\"dp\", parts [4, 2]}, {\"tp\"}").viewOf, 0u)
      << "the parts of another dim stay where they are";
}

TEST_F(ProjectFunction, OnlyASliceThatCopiesTakesTime) {
  auto duration = [&](StringRef op, StringRef input, StringRef result) {
    return problemOfOp(op, input, result).operations.back().duration;
  };
  EXPECT_EQ(duration("slice [#plan.axis<\"tp\">] dim 1", "6x8 {}, {}", "6x8 {}, {\"tp\"}"), 0);
  int64_t small = duration("slice [#plan.axis<\"tp\">] dim 1", "6x8 {}, {}", "6x8 {}, {\"tp\", parts [6, 2]}");
  int64_t large =
      duration("slice [#plan.axis<\"tp\">] dim 1", "6000x800 {}, {}", "6000x800 {}, {\"tp\", parts [600, 200]}");
  EXPECT_GT(small, 0);
  EXPECT_GT(large, 10 * small);
}

// Columns of a row-major tensor are not contiguous, and a transposed tensor stays transposed.
TEST_F(ProjectFunction, OutputsAreCopiedWhereTheyAreNotRowMajor) {
  auto handover = [&](StringRef input, StringRef result, bool turned) {
    return problemOfOp("slice [#plan.axis<\"tp\">] dim 1", input, result, turned).handover;
  };
  EXPECT_THAT(handover("6x8 {}, {}", "6x8 {}, {\"tp\"}", false), ElementsAre(96, 96));
  EXPECT_THAT(handover("1x8 {}, {}", "1x8 {}, {\"tp\"}", false), ElementsAre(0, 0));
  EXPECT_THAT(handover("6x8 {}, {}", "6x8 {}, {\"tp\", parts [6, 2]}", false), ElementsAre(0, 0));
  // 3 columns are 2 and 1: one column of a transposed tensor is a run of elements.
  EXPECT_THAT(handover("6x3 {}, {}", "6x3 {}, {\"tp\"}", true), ElementsAre(48, 0));
  EXPECT_THAT(handover("6x3 {}, {}", "6x3 {}, {\"tp\"}", false), ElementsAre(48, 24));
}

TEST_F(ProjectFunction, TheLargestCopyOfAnOutputCounts) {
  EXPECT_THAT(problemOf(R"(
!a = tensor<6x4xf32, #plan.sharding<[{}, {}]>>
!b = tensor<4x6xf32, #plan.sharding<[{}, {}]>>
!c = tensor<2x3xf32, #plan.sharding<[{}, {}]>>
!d = tensor<3x2xf32, #plan.sharding<[{}, {}]>>
func.func @f(%a: !a, %c: !c) -> (!b, !d, !b) {
  %0 = plan.call "aten.t.default"(%a) {self = #base.operand<0>} : (!a) -> !b
  %1 = plan.call "aten.t.default"(%c) {self = #base.operand<0>} : (!c) -> !d
  return %0, %1, %0 : !b, !d, !b
})")
                  .handover,
              ElementsAre(96, 96));
}

TEST_F(ProjectFunction, AViewHasTheStorageOfItsOperand) {
  const scheduling::Problem &problem = problemOf(R"(
!x = tensor<6x4xf32, #plan.sharding<[{"tp"}, {}]>>
!y = tensor<4x6xf32, #plan.sharding<[{}, {"tp"}]>>
func.func @f(%x: !x) -> !x {
  %0 = plan.call "aten.exp.default"(%x) {self = #base.operand<0>} : (!x) -> !x
  %1 = plan.call "aten.t.default"(%0) {self = #base.operand<0>} : (!x) -> !y
  %2 = plan.call "aten.t.default"(%1) {self = #base.operand<0>} : (!y) -> !x
  return %2 : !x
})");
  EXPECT_FALSE(problem.buffers[1].viewOf);
  EXPECT_THAT(problem.buffers[1].bytes, ElementsAre(48, 48));
  for (unsigned view : {2, 3}) {
    EXPECT_EQ(problem.buffers[view].viewOf, view - 1);
    EXPECT_THAT(problem.buffers[view].bytes, ElementsAre(0, 0));
    EXPECT_EQ(problem.storageOf(view), 1u);
  }
  EXPECT_THAT(problem.handover, ElementsAre(0, 0)) << "turned twice, it is row-major";
}

// matmul expands the 6 matrices of 12 x 4 for each of a rank's products: 3 of 5 on the first rank, 2 on the last.
TEST_F(ProjectFunction, WhatACallNeedsBesidesIsThatOfTheRank) {
  const scheduling::Problem &problem = problemOf(R"(
!x = tensor<5x6x2x12xf32, #plan.sharding<[{"tp"}, {}, {}, {}]>>
!w = tensor<6x12x4xf32, #plan.sharding<[{}, {}, {}]>>
!y = tensor<5x6x2x4xf32, #plan.sharding<[{"tp"}, {}, {}, {}]>>
func.func @f(%x: !x, %w: !w) -> !y {
  %0 = plan.call "aten.matmul.default"(%x, %w) {self = #base.operand<0>, other = #base.operand<1>} : (!x, !w) -> !y
  return %0 : !y
})");
  EXPECT_THAT(problem.operations[0].workspace, ElementsAre(3 * 6 * 12 * 4 * 4, 2 * 6 * 12 * 4 * 4));
}

// The parameter is transposed, read that way, and updated: the new value has its memory.
TEST_F(ProjectFunction, WhatIsOverwrittenIsReadBefore) {
  const scheduling::Problem &problem = problemOf(R"(
!x = tensor<6x4xf32, #plan.sharding<[{}, {}]>>
!y = tensor<4x6xf32, #plan.sharding<[{}, {}]>>
!s = tensor<f64, #plan.sharding<[]>>
func.func @f(%w: !x, %g: !x, %r: !s) -> (!x, !y) {
  %0 = plan.call "aten.t.default"(%w) {self = #base.operand<0>} : (!x) -> !y
  %1 = plan.call "aten.exp.default"(%0) {self = #base.operand<0>} : (!y) -> !y
  %2 = plan.call "meshplan.sgd"(%w, %g, %r) {parameter = #base.operand<0>, gradient = #base.operand<1>,
      learning_rate = #base.operand<2>, weight_decay = 0.0} : (!x, !x, !s) -> !x
  return %2, %1 : !x, !y
})");
  EXPECT_THAT(problem.operations[2].overwritten, ElementsAre(0u));
  EXPECT_THAT(problem.operations[2].after, ElementsAre(0u, 1u)) << "the turned one reads the same storage";
  EXPECT_EQ(problem.buffers[5].viewOf, 0u);
  EXPECT_THAT(problem.buffers[5].bytes, ElementsAre(0, 0));
  EXPECT_TRUE(problem.buffers[5].kept);
}

} // namespace
