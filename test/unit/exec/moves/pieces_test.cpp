#include "runtime/exec/moves/pieces.h"

#include "test/unit/exec/loaded_schedule.h"

#include <gmock/gmock.h>
#include <numeric>
#include <random>

using namespace meshplan;
using testing::ElementsAre;
using testing::EndsWith;

namespace {

/// A collective between two values of one global tensor, on all ranks.
class Exchange {
public:
  Exchange(const ScheduleBuilder &builder, int input, int output) : loaded(builder), input(input), output(output) {}

  /// On every rank, or the first error.
  Status prepare() {
    for (int64_t rank = 0; rank < loaded.worldSize(); ++rank) {
      group.push_back(view(rank).group(*loaded.schedule().communicators()->Get(start().communicator())));
      auto own = piecesOf(view(rank), start(), group.back());
      MESHPLAN_RETURN_IF_ERROR(own.status());
      pieces.push_back(*std::move(own));
    }
    return Status();
  }

  RankView view(int64_t rank) const { return loaded.view(rank); }
  const artifact::Start &start() const {
    int index = 0;
    while (!loaded.instruction(index).action_as_Start())
      ++index;
    return *loaded.instruction(index).action_as_Start();
  }
  std::vector<int64_t> shape() const { return globalShapeOf(view(0).value(input)); }
  std::vector<int64_t> before(int64_t rank) const { return elementsIn(view(rank).ranges(input), shape()); }
  std::vector<int64_t> after(int64_t rank) const { return elementsIn(view(rank).ranges(output), shape()); }

  std::vector<std::vector<int64_t>> group; // by rank
  std::vector<Pieces> pieces;

private:
  LoadedSchedule loaded;
  int input, output;
};

/// Local indices of a piece's elements, in order, on one of its sides.
std::vector<int64_t> placesOf(const TensorPiece &piece, int64_t CommonRun::*side, const std::vector<int64_t> &shape) {
  if (const auto *run = std::get_if<Range>(&piece)) {
    std::vector<int64_t> places(run->size);
    std::iota(places.begin(), places.end(), run->offset);
    return places;
  }
  const Overlap &overlap = std::get<Overlap>(piece);
  SliceRanges ranges;
  for (const std::vector<CommonRun> &runs : overlap.dims) {
    auto &list = ranges.emplace_back();
    for (const CommonRun &run : runs)
      list.push_back({run.*side, run.size});
  }
  return elementsIn(ranges, shape);
}

/// The piece to or from one rank of the group; a single one goes to all, or comes from all.
template <typename List> const auto &ofRank(const List &list, size_t index) {
  return list.size() == 1 ? list.front() : list[index];
}

/// Whether the indices of all pieces, concatenated, are 0, 1, 2, ...
bool areInOrder(const std::vector<std::vector<int64_t>> &pieces) {
  int64_t next = 0;
  for (const std::vector<int64_t> &piece : pieces)
    for (int64_t place : piece)
      if (place != next++)
        return false;
  return true;
}

/// Moves the elements' indices according to the pieces, element by element, and checks the result of each rank. With
/// `reduces`, every rank contributes its own addend.
void expectMovesRight(Exchange &exchange, int input, int output, bool reduces) {
  auto worldSize = static_cast<int64_t>(exchange.pieces.size());
  for (int64_t rank = 0; rank < worldSize; ++rank) {
    const Pieces &own = exchange.pieces[rank];
    std::vector<int64_t> shape = exchange.view(rank).shape(output), wanted = exchange.after(rank);
    std::vector<int64_t> got(wanted.size(), reduces ? 0 : -1);
    std::vector<std::vector<int64_t>> targets;
    int64_t ranksOfGroup = 0;
    for (size_t index = 0; index < exchange.group[rank].size(); ++index, ++ranksOfGroup) {
      int64_t from = exchange.group[rank][index];
      auto ownIndex = std::ranges::find(exchange.group[from], rank) - exchange.group[from].begin();
      const TensorPiece &sent = ofRank(exchange.pieces[from].tensors.front().sends, ownIndex);
      std::vector<int64_t> places = placesOf(sent, &CommonRun::source, exchange.view(from).shape(input));
      targets.push_back(placesOf(ofRank(own.tensors.front().receives, index), &CommonRun::target, shape));
      ASSERT_EQ(places.size(), targets.back().size());
      EXPECT_EQ(ofRank(exchange.pieces[from].sendCounts, ownIndex), static_cast<int64_t>(places.size()));
      EXPECT_EQ(ofRank(own.receiveCounts, index), static_cast<int64_t>(places.size()));
      std::vector<int64_t> held = exchange.before(from);
      for (size_t i = 0; i < places.size(); ++i)
        got[targets.back()[i]] = reduces ? got[targets.back()[i]] + held[places[i]] : held[places[i]];
    }
    if (reduces)
      for (int64_t &element : wanted)
        element *= ranksOfGroup;
    EXPECT_EQ(got, wanted) << "rank " << rank;
    if (!reduces) {
      EXPECT_TRUE(own.needsUnpacking || areInOrder(targets)) << "rank " << rank;
    }
  }
}

/// Pieces that are not contiguous are packed.
void expectPacksWhereNeeded(const Exchange &exchange, int input) {
  for (size_t rank = 0; rank < exchange.pieces.size(); ++rank) {
    std::vector<std::vector<int64_t>> places;
    for (const TensorPiece &piece : exchange.pieces[rank].tensors.front().sends)
      places.push_back(placesOf(piece, &CommonRun::source, exchange.view(static_cast<int64_t>(rank)).shape(input)));
    EXPECT_TRUE(exchange.pieces[rank].needsPacking || areInOrder(places)) << "rank " << rank;
  }
}

/// Extents and blocks of a sharded dim, and of one that may be sharded.
const std::vector<TestDim> divided = {
    {12}, {7}, {5}, {1}, {0}, {20, {}, 4}, {15, {}, 1, {9, 3, 3}}, {16, {}, 2, {8, 4, 4}}};

TestDim over(TestDim dim, std::vector<std::string> axes) {
  dim.axes = std::move(axes);
  return dim;
}

/// Calls `body` with the dims of a matrix: the sharded dim first or last.
template <typename Body> void forEachMatrix(const Body &body) {
  for (const TestDim &dim : divided)
    for (int64_t other : {1, 4, 5})
      for (int place : {0, 1})
        body(dim, other, place, [=](TestDim own, TestDim rest) {
          return place == 0 ? std::vector<TestDim>{own, rest} : std::vector<TestDim>{rest, own};
        });
}

/// Addends that an operator computes; an input of a program cannot be partial.
int addends(ScheduleBuilder &builder, std::vector<TestDim> dims, std::vector<std::string> axes) {
  int value = builder.value(std::move(dims), DType::f64, std::move(axes));
  builder.compute("operator", {}, {value});
  return value;
}

} // namespace

TEST(PiecesTest, AllGather) {
  forEachMatrix([](const TestDim &dim, int64_t other, int place, const auto &matrix) {
    ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
    int x = builder.input("x", matrix(over(dim, {"tp"}), {other, {"dp"}}));
    int y = builder.value(matrix(dim, {other, {"dp"}}));
    builder.collective(Kind::all_gather, {"tp"}, x, y, place);
    Exchange exchange(builder, x, y);
    Status status = exchange.prepare();
    ASSERT_TRUE(status.ok()) << status.message();
    expectMovesRight(exchange, x, y, false);
    for (const Pieces &pieces : exchange.pieces)
      EXPECT_FALSE(pieces.needsPacking) << "the whole input is sent";
  });
}

TEST(PiecesTest, ReduceScatter) {
  forEachMatrix([](const TestDim &dim, int64_t other, int place, const auto &matrix) {
    ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
    int x = addends(builder, matrix(dim, {other, {"dp"}}), {"tp"});
    int y = builder.value(matrix(over(dim, {"tp"}), {other, {"dp"}}));
    builder.collective(Kind::reduce_scatter, {"tp"}, x, y, place);
    Exchange exchange(builder, x, y);
    Status status = exchange.prepare();
    ASSERT_TRUE(status.ok()) << status.message();
    expectMovesRight(exchange, x, y, true);
    expectPacksWhereNeeded(exchange, x);
    for (const Pieces &pieces : exchange.pieces)
      EXPECT_FALSE(pieces.needsUnpacking) << "each rank gets one piece";
  });
}

TEST(PiecesTest, AllToAll) {
  forEachMatrix([](const TestDim &dim, int64_t other, int place, const auto &matrix) {
    ScheduleBuilder builder({{"tp", 3}});
    int x = builder.input("x", matrix(over(dim, {"tp"}), {other}));
    int y = builder.value(matrix(dim, {other, {"tp"}}));
    builder.collective(Kind::all_to_all, {"tp"}, x, y, 1 - place, place);
    Exchange exchange(builder, x, y);
    Status status = exchange.prepare();
    ASSERT_TRUE(status.ok()) << status.message();
    expectMovesRight(exchange, x, y, false);
    expectPacksWhereNeeded(exchange, x);
  });
}

TEST(PiecesTest, RowsAreMovedInPlaceAndColumnsPacked) {
  for (int dim : {0, 1}) {
    ScheduleBuilder builder({{"tp", 3}});
    std::vector<TestDim> dims = {{6}, {6}}, split = dims, turned = dims;
    split[dim].axes = turned[1 - dim].axes = {"tp"};
    int x = builder.input("x", split), whole = builder.value(dims), y = builder.value(turned);
    builder.collective(Kind::all_gather, {"tp"}, x, whole, dim);
    builder.collective(Kind::all_to_all, {"tp"}, x, y, 1 - dim, dim);
    LoadedSchedule loaded(builder);
    const std::vector<int64_t> group = {0, 1, 2};
    std::vector<const artifact::Start *> starts;
    for (const artifact::Instruction *instruction : *loaded.program().instructions())
      if (const artifact::Start *start = instruction->action_as_Start())
        starts.push_back(start);
    auto gather = piecesOf(loaded.view(1), *starts[0], group), exchange = piecesOf(loaded.view(1), *starts[1], group);
    ASSERT_TRUE(gather.ok() && exchange.ok());
    EXPECT_EQ(gather->needsUnpacking, dim == 1);
    EXPECT_EQ(exchange->needsPacking, dim == 0) << "columns of its rows go to the others";
    EXPECT_EQ(exchange->needsUnpacking, dim == 1) << "and columns come from them";
    EXPECT_THAT(exchange->sendCounts, ElementsAre(4, 4, 4));
  }
}

TEST(PiecesTest, AllReduceMovesTheTensorAsItIs) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  int x = addends(builder, {{5, {"dp"}}, {4}}, {"tp"});
  int y = builder.value({{5, {"dp"}}, {4}});
  builder.collective(Kind::all_reduce, {"tp"}, x, y);
  Exchange exchange(builder, x, y);
  ASSERT_TRUE(exchange.prepare().ok());
  for (const Pieces &pieces : exchange.pieces) {
    EXPECT_FALSE(pieces.needsPacking || pieces.needsUnpacking);
    EXPECT_EQ(pieces.tensors.front().sends.size(), 1u) << "the whole tensor";
  }
}

TEST(PiecesTest, APermutePairsHoldersWithTakers) {
  for (const TestDim &dim : divided) {
    ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
    int x = builder.input("x", {over(dim, {"dp", "tp"}), {3}}), y = builder.value({over(dim, {"tp", "dp"}), {3}});
    builder.collective(Kind::permute, {"dp", "tp"}, x, y);
    Exchange exchange(builder, x, y);
    Status status = exchange.prepare();
    ASSERT_TRUE(status.ok()) << status.message();
    for (int64_t rank = 0; rank < 6; ++rank) {
      const Pieces &own = exchange.pieces[rank];
      int64_t from = exchange.group[rank][own.receiveFrom];
      EXPECT_EQ(exchange.before(from), exchange.after(rank));
      EXPECT_EQ(exchange.group[from][exchange.pieces[from].sendTo], rank) << "both say the same";
    }
  }
}

TEST(PiecesTest, APermuteOfReplicasTakesEachHolderOnce) {
  // x is sharded over dp, y over tp: ranks hold parts 0 0 1 1 before and 0 1 0 1 after.
  ScheduleBuilder builder({{"dp", 2}, {"tp", 2}});
  int x = builder.input("x", {{6, {"dp"}}}), y = builder.value({{6, {"tp"}}});
  builder.collective(Kind::permute, {"dp", "tp"}, x, y);
  Exchange exchange(builder, x, y);
  ASSERT_TRUE(exchange.prepare().ok());
  std::vector<int64_t> from, to;
  for (const Pieces &pieces : exchange.pieces) {
    from.push_back(pieces.receiveFrom);
    to.push_back(pieces.sendTo);
  }
  EXPECT_THAT(from, ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(to, ElementsAre(0, 2, 1, 3));
}

namespace {

/// The error of a collective over dp on a 2 x 2 mesh.
std::string conversionRefusal(Kind kind, std::vector<TestDim> before, std::vector<TestDim> after, int dim = -1,
                              int fromDim = -1, std::vector<std::string> partial = {}) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 2}});
  int x = addends(builder, std::move(before), std::move(partial)), y = builder.value(std::move(after));
  builder.collective(kind, {"dp"}, x, y, dim, fromDim);
  Exchange exchange(builder, x, y);
  Status status = exchange.prepare();
  EXPECT_EQ(status.code(), StatusCode::corrupted);
  return status.message();
}

} // namespace

TEST(PiecesTest, RanksThatDoNotHoldWhatIsNeeded) {
  const std::string begin = "the ranks of the communicator do not hold ",
                    once = begin + "each element of the output once";
  EXPECT_EQ(conversionRefusal(Kind::all_gather, {{4, {"tp"}}}, {{4}}, 0), once);
  EXPECT_EQ(conversionRefusal(Kind::all_gather, {{4, {"dp", "tp"}}}, {{4, {"dp"}}}, 0), once);
  EXPECT_EQ(conversionRefusal(Kind::all_to_all, {{4, {"tp"}}, {4}}, {{4}, {4, {"tp"}}}, 1, 0), once);
  EXPECT_EQ(conversionRefusal(Kind::permute, {{4, {"tp"}}}, {{4, {"dp"}}}), begin + "each part of the output");
  EXPECT_EQ(conversionRefusal(Kind::all_reduce, {{4, {"tp"}}}, {{4, {"dp"}}}, -1, -1, {"dp"}),
            begin + "the output where they hold the input");
  EXPECT_EQ(conversionRefusal(Kind::reduce_scatter, {{4}}, {{4, {"tp"}}}, 0, -1, {"dp"}),
            begin + "each element of the input once after the reduction");
}
