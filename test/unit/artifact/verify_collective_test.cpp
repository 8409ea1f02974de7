//===- verify_collective_test.cpp - changes of layouts --------------------===//

#include "runtime/artifact/meaning.h"
#include "test/unit/artifact/refused_schedule.h"

namespace meshplan {
namespace {

using artifact::CollectiveKind;
using artifact::ScheduleT;

using VerifyCollective = RefusedSchedule;

TEST_P(VerifyCollective, IsRefused) { expectRefusal("programs[0]: instructions["); }

const WrongSchedule collectiveCases[] = {
    {"Communicator", [](ScheduleT &s) { startOf(s, startSum).communicator = -1; }, "1]: communicator -1 of 2"},
    {"Input", [](ScheduleT &s) { startOf(s, startSum).input = 50; }, "1]: input: value 50 of 7"},
    {"Output", [](ScheduleT &s) { startOf(s, startSum).output = product; }, "1]: output: value 3 is defined twice"},
    {"Kind", [](ScheduleT &s) { startOf(s, startSum).kind = CollectiveKind(9); }, "1]: kind 9 does not exist"},
    {"DType", [](ScheduleT &s) { valueOf(s, sum).dtype = artifact::DType::bf16; }, "1]: dtype f32 becomes bf16"},
    {"Shape", [](ScheduleT &s) { valueOf(s, sum).dims[1]->extent = 13; }, "1]: the global shape changes"},
    {"Reduction", [](ScheduleT &s) { startOf(s, startSum).reduction = artifact::Reduction::none; },
     "1]: reduction 0 in a reducing collective"},
    {"OtherReduction", [](ScheduleT &s) { startOf(s, startSum).reduction = artifact::Reduction::max; },
     "1]: the reduction differs from that of the partial input"},
    {"AllReduceSplits", [](ScheduleT &s) { valueOf(s, sum).dims[1]->axes = {artifact::AxisRef(1, 1, 3)}; },
     "1]: dim 1 has 3 shards, 1 x 1 expected"},
    {"GatherDim", [](ScheduleT &s) { startOf(s, startGather).dim = 2; }, "5]: dim 2 of 2"},
    {"GatherWithoutDim", [](ScheduleT &s) { startOf(s, startGather).dim = -1; }, "5]: dim 1 is sharded differently"},
    {"GatherOtherDim", [](ScheduleT &s) { startOf(s, startGather).dim = 0; }, "5]: dim 0 has 2 shards, 2 x 3 expected"},
    {"GatherCommunicator", [](ScheduleT &s) { startOf(s, startGather).communicator = 0; },
     "5]: dim 1 has 3 shards, 1 x 2 expected"},
    {"ScatterDim",
     [](ScheduleT &s) {
       startOf(s, startSum).kind = CollectiveKind::reduce_scatter;
       startOf(s, startSum).dim = 1;
     },
     "1]: dim 1 has 1 shards, 1 x 3 expected"},
    {"AllToAllFromDim", [](ScheduleT &s) { startOf(s, startGather).kind = CollectiveKind::all_to_all; },
     "5]: from_dim -1 of 2"},
    {"AllToAllDims",
     [](ScheduleT &s) {
       startOf(s, startGather).kind = CollectiveKind::all_to_all;
       startOf(s, startGather).from_dim = 1;
     },
     "5]: dim and from_dim are both 1"},
    {"Slice", [](ScheduleT &s) { valueOf(s, part).dims[0]->axes.clear(); },
     "4]: dim 0 has 2 shards and is sliced into 1"},
    {"DevicesOfItsOwn",
     [](ScheduleT &s) {
       for (const auto &axis : s.mesh)
         forwardOf(s).devices.push_back(std::make_unique<artifact::AxisT>(*axis));
     },
     "1]: a collective in a program with devices of its own"},
    {"KindNegative", [](ScheduleT &s) { startOf(s, startSum).kind = CollectiveKind(-1); },
     "1]: kind -1 does not exist"},
    {"CommunicatorBehindTheLast", [](ScheduleT &s) { startOf(s, startSum).communicator = 2; },
     "1]: communicator 2 of 2"},
    {"Rank", [](ScheduleT &s) { valueOf(s, sum).dims.pop_back(); }, "1]: the global shape changes"},
    {"ReductionUnknown", [](ScheduleT &s) { startOf(s, startSum).reduction = artifact::Reduction(4); },
     "1]: reduction 4 in a reducing collective"},
    {"SumOfWhatIsNotPartial",
     [](ScheduleT &s) {
       valueOf(s, product).partial = artifact::Reduction::none;
       valueOf(s, product).partial_axes.clear();
     },
     "1]: the reduction differs from that of the partial input"},
    {"SumOverOtherRanks", [](ScheduleT &s) { startOf(s, startSum).communicator = 0; },
     "1]: the input is not partial over axis 0 of the communicator"},
    {"SumOverTooMany",
     [](ScheduleT &s) { s.communicators[1]->axes = {artifact::AxisRef(1, 1, 3), artifact::AxisRef(0, 1, 2)}; },
     "1]: the input is not partial over axis 0 of the communicator"},
    {"SumOverPart",
     [](ScheduleT &s) {
       s.mesh[1]->size = 6;
       valueOf(s, product).partial_axes = {artifact::AxisRef(1, 1, 3), artifact::AxisRef(1, 3, 2)};
     },
     "1]: the output is not partial over the remaining axes of the input"},
    {"SumOfAnotherDigit",
     [](ScheduleT &s) {
       s.mesh[1]->size = 9;
       valueOf(s, product).partial_axes = {artifact::AxisRef(1, 3, 3)};
     },
     "1]: the input is not partial over axis 1 of the communicator"},
    {"SumThatStaysPartial",
     [](ScheduleT &s) {
       valueOf(s, sum).partial = artifact::Reduction::sum;
       valueOf(s, sum).partial_axes = {artifact::AxisRef(1, 1, 3)};
     },
     "1]: the output is not partial over the remaining axes of the input"},
    {"GatherMakesPartial",
     [](ScheduleT &s) {
       valueOf(s, whole).partial = artifact::Reduction::sum;
       valueOf(s, whole).partial_axes = {artifact::AxisRef(1, 1, 3)};
       forwardOf(s).outputs.clear();
     },
     "5]: the output is not partial over the remaining axes of the input"},
    {"SliceLosesPartial",
     [](ScheduleT &s) {
       // The slice reads the addend instead of the sum.
       forwardOf(s).instructions[slicePart]->action.AsSlice()->input = product;
       forwardOf(s).instructions.erase(forwardOf(s).instructions.begin() + startSum,
                                       forwardOf(s).instructions.begin() + slicePart);
     },
     "1]: the output is not partial over the remaining axes of the input"},
    {"GatherDimNegative", [](ScheduleT &s) { startOf(s, startGather).dim = -2; }, "5]: dim -2 of 2"},
    {"SliceDType", [](ScheduleT &s) { valueOf(s, part).dtype = artifact::DType::f64; }, "4]: dtype f32 becomes f64"},
    {"SliceShape", [](ScheduleT &s) { valueOf(s, part).dims[0]->extent = 10; }, "4]: the global shape changes"},
};

INSTANTIATE_TEST_SUITE_P(Collective, VerifyCollective, testing::ValuesIn(collectiveCases), nameOfCase);

TEST(VerifyStart, AllToAllMovesTheSplit) {
  ScheduleT schedule = buildSchedule();
  artifact::StartT &start = startOf(schedule, startGather);
  start.kind = CollectiveKind::all_to_all;
  start.dim = 0;
  start.from_dim = 1;
  valueOf(schedule, whole).dims[0]->axes = {artifact::AxisRef(0, 1, 2), artifact::AxisRef(1, 1, 3)};
  EXPECT_EQ(verificationError(schedule), "");
}

/// A table of the artifact in its own memory.
template <typename Table> class Packed {
public:
  explicit Packed(const typename Table::NativeTableType &native) { builder.Finish(Table::Pack(builder, &native)); }
  const Table &operator*() const { return *flatbuffers::GetRoot<Table>(builder.GetBufferPointer()); }

private:
  mutable flatbuffers::FlatBufferBuilder builder;
};

using Shards = std::array<int64_t, 2>;

/// A 12 x 12 tensor whose dims have these numbers of shards.
artifact::ValueT valueIn(const Shards &shards, artifact::Reduction partial = artifact::Reduction::none,
                         std::vector<artifact::AxisRef> partialAxes = {}) {
  artifact::ValueT value;
  for (size_t dim = 0; dim < 2; ++dim) {
    auto &table = *value.dims.emplace_back(std::make_unique<artifact::DimT>());
    table.extent = 12;
    table.axes = {artifact::AxisRef(static_cast<int64_t>(dim), 1, shards[dim])};
  }
  value.partial = partial;
  value.partial_axes = std::move(partialAxes);
  return value;
}

/// The accepted pairs of layouts before and after, among all with 1, 2, 3, 4, 6 or 12 shards in each dim.
std::vector<std::pair<Shards, Shards>> accepted(const artifact::StartT &start, int64_t groupSize) {
  std::vector<std::pair<Shards, Shards>> pairs;
  const int64_t counts[] = {1, 2, 3, 4, 6, 12};
  Packed<artifact::Start> packed(start);
  const AxisRef group{2, 1, groupSize};
  std::vector<artifact::AxisRef> partialAxes;
  if (start.reduction != artifact::Reduction::none)
    partialAxes.emplace_back(group.axis, group.pre, group.size);
  for (int64_t a : counts)
    for (int64_t b : counts)
      for (int64_t c : counts)
        for (int64_t d : counts) {
          Packed<artifact::Value> input(valueIn({a, b}, start.reduction, partialAxes)), output(valueIn({c, d}));
          if (verifyStart(*packed, *input, *output, std::span(&group, 1)).ok())
            pairs.push_back({{a, b}, {c, d}});
        }
  return pairs;
}

artifact::StartT startOfKind(CollectiveKind kind, int dim, int fromDim = -1) {
  artifact::StartT start;
  start.kind = kind;
  start.dim = dim;
  start.from_dim = fromDim;
  bool reduces = kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter;
  start.reduction = reduces ? artifact::Reduction::max : artifact::Reduction::none;
  return start;
}

TEST(VerifyStart, AnAllGatherMergesTheShardsOfTheGroup) {
  std::vector<std::pair<Shards, Shards>> pairs = accepted(startOfKind(CollectiveKind::all_gather, 0), 3);
  EXPECT_EQ(pairs.size(), 3u * 6); // 3, 6 or 12 shards become 1, 2 or 4; the other dim has any number
  for (const auto &[before, after] : pairs)
    EXPECT_EQ(before, (Shards{after[0] * 3, after[1]}));
}

TEST(VerifyStart, AReduceScatterSplitsADim) {
  std::vector<std::pair<Shards, Shards>> pairs = accepted(startOfKind(CollectiveKind::reduce_scatter, 1), 2);
  EXPECT_EQ(pairs.size(), 4u * 6); // 1, 2, 3, 6 become 2, 4, 6, 12
  for (const auto &[before, after] : pairs)
    EXPECT_EQ(after, (Shards{before[0], before[1] * 2}));
}

TEST(VerifyStart, AnAllReduceKeepsTheLayout) {
  std::vector<std::pair<Shards, Shards>> pairs = accepted(startOfKind(CollectiveKind::all_reduce, -1), 4);
  EXPECT_EQ(pairs.size(), 36u);
  for (const auto &[before, after] : pairs)
    EXPECT_EQ(before, after);
}

TEST(VerifyStart, AnAllToAllTakesTheSplitFromOneDimToTheOther) {
  std::vector<std::pair<Shards, Shards>> pairs = accepted(startOfKind(CollectiveKind::all_to_all, 0, 1), 6);
  EXPECT_EQ(pairs.size(), 2u * 2); // dim 0 from 1 or 2 to 6 or 12, dim 1 from 6 or 12 to 1 or 2
  for (const auto &[before, after] : pairs) {
    EXPECT_EQ(after[0], before[0] * 6);
    EXPECT_EQ(before[1], after[1] * 6);
  }
}

TEST(VerifyStart, AReductionOverSomeAxesLeavesTheOthers) {
  const AxisRef group[] = {{2, 3, 2}, {3, 1, 5}};
  const artifact::AxisRef outer(2, 1, 3), inner(2, 3, 2), other(3, 1, 5), fourth(4, 1, 2);
  using artifact::Reduction;
  Packed<artifact::Start> start(startOfKind(CollectiveKind::all_reduce, -1));
  Packed<artifact::Value> input(valueIn({1, 1}, Reduction::max, {outer, other, fourth, inner}));
  auto message = [&](Reduction reduction, std::vector<artifact::AxisRef> axes) {
    Packed<artifact::Value> output(valueIn({1, 1}, reduction, std::move(axes)));
    return verifyStart(*start, *input, *output, group).message();
  };
  EXPECT_EQ(message(Reduction::max, {outer, fourth}), "");
  EXPECT_EQ(message(Reduction::max, {fourth, outer}), "");
  std::string others = "the output is not partial over the remaining axes of the input";
  EXPECT_EQ(message(Reduction::none, {}), others);
  EXPECT_EQ(message(Reduction::max, {outer}), others);
  EXPECT_EQ(message(Reduction::max, {outer, fourth, inner}), others);
  EXPECT_EQ(message(Reduction::sum, {outer, fourth}), "the output is partial by another reduction than the input");
}

TEST(VerifyStart, AGroupOfOneChangesNothing) {
  for (CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter})
    for (const auto &[before, after] : accepted(startOfKind(kind, 1), 1))
      EXPECT_EQ(before, after);
}

TEST(VerifySlice, ShardsAreCutFurther) {
  for (int64_t from : {1, 2, 3, 4, 6})
    for (int64_t into : {1, 2, 3, 4, 6, 12}) {
      Packed<artifact::Value> input(valueIn({12, from})), output(valueIn({12, into}));
      std::string message = "dim 1 has " + std::to_string(from) + " shards and is sliced into " + std::to_string(into);
      EXPECT_EQ(verifySlice(*input, *output).message(), into % from == 0 ? "" : message);
    }
}

} // namespace
} // namespace meshplan
