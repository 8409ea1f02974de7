#include "runtime/exec/load.h"

#include "runtime/tensor/tensor.h"
#include "test/unit/exec/loaded_schedule.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

/// A part of a tensor of two dims: two ranges in the first and one in the second.
FeedRequest request() { return {{"w"}, {100, 8}, {{{90, 7}, {3, 10}}, {{2, 5}}}, DType::f32}; }

std::vector<float> elements(const Tensor &tensor) {
  auto *begin = reinterpret_cast<const float *>(tensor.data());
  return {begin, begin + tensor.elementCount()};
}

Tensor mustLoad(const FeedRequest &request) {
  auto tensor = loadTensor(RandomFeed(), {&request, 1}, sliceShape(request.ranges), request.dtype);
  EXPECT_TRUE(tensor.ok()) << tensor.status().message();
  return *tensor;
}

/// Records the names of announced tensors.
class ListeningFeed final : public Feed {
public:
  Status read(const FeedRequest &, std::span<std::byte>) const override { return Status(); }
  void announce(const FeedRequest &request) const override { announced += request.names.front(); }
  mutable std::string announced;
};

} // namespace

TEST(ReadAhead, StaysAheadOfTheReader) {
  std::vector<FeedRequest> requests;
  for (auto [name, rows] : {std::pair("a", 1), {"b", 2}, {"c", 100}, {"d", 1}, {"e", 1}})
    requests.push_back({{name}, {rows, 8}, {{{0, rows}}, {{0, 8}}}, DType::f32});
  ListeningFeed feed;
  ReadAhead readAhead(feed, requests, /*window=*/80);
  std::string expected[] = {"abc", "abc", "abcde", "abcde", "abcde"};
  for (size_t i = 0; i < requests.size(); ++i) {
    readAhead.beforeReading(i);
    EXPECT_EQ(feed.announced, expected[i]) << i;
  }
}

TEST(ReadAhead, AnnouncesWhatIsReadAlsoWithoutAWindow) {
  std::vector<FeedRequest> requests(2, request());
  ListeningFeed feed;
  ReadAhead readAhead(feed, requests, 0);
  readAhead.beforeReading(0);
  EXPECT_EQ(feed.announced, "w");
  readAhead.beforeReading(1);
  EXPECT_EQ(feed.announced, "ww");
}

TEST(Load, RowsThatLieInSeveralRanges) {
  EXPECT_EQ(rowsOf(request(), 0, 17).ranges, request().ranges);
  EXPECT_EQ(rowsOf(request(), 5, 4).ranges[0], (std::vector<Range>{{95, 2}, {3, 2}}));
  EXPECT_EQ(rowsOf(request(), 7, 3).ranges[0], (std::vector<Range>{{3, 3}}));
  EXPECT_EQ(rowsOf(request(), 0, 1).ranges[0], (std::vector<Range>{{90, 1}}));
  EXPECT_EQ(rowsOf(request(), 5, 4).ranges[1], request().ranges[1]);
}

TEST(Load, PiecesOfAnySizeGiveTheWhole) {
  std::vector<float> whole = elements(mustLoad(request()));
  ASSERT_EQ(whole.size(), 17u * 5);
  for (int64_t pieceBytes : {1, 20, 60, 100, 339, 340, 1 << 20}) {
    auto tensor = allocateTensor(std::vector<int64_t>{17, 5}, DType::f32);
    ASSERT_TRUE(loadInPieces(RandomFeed(), request(), pieceBytes, *tensor).ok());
    EXPECT_EQ(elements(*tensor), whole) << pieceBytes;
  }
}

/// Runs of a tensor's elements: whole rows, which are one slice, and parts of rows.
TEST(Load, RunsAreTensorsOfOneDim) {
  std::vector<float> whole = elements(mustLoad(request()));
  for (Range run : {Range{10, 25}, Range{0, 85}, Range{3, 40}, Range{6, 2}, Range{7, 0}}) {
    std::vector<FeedRequest> slices;
    for (SliceRanges &slice : slicesOfRun(request().ranges, run))
      slices.push_back({request().names, request().shape, std::move(slice), DType::f32});
    auto tensor = loadTensor(RandomFeed(), slices, std::vector<int64_t>{run.size}, DType::f32);
    ASSERT_TRUE(tensor.ok()) << tensor.status().message();
    EXPECT_EQ(tensor->shape().size(), 1u);
    EXPECT_EQ(elements(*tensor), std::vector<float>(whole.begin() + run.offset, whole.begin() + run.offset + run.size));
  }
}

/// The ranks' shards of a flat parameter, concatenated, are the whole parameter.
TEST(Load, ValuesOfRanks) {
  ScheduleBuilder builder({{"dp", 3}});
  int w = builder.flat(builder.parameter({"w", "tied"}, {{5}, {4}}, DType::f32), {"dp"});
  LoadedSchedule loaded(builder);
  std::vector<float> joined;
  for (int64_t rank = 0; rank < 3; ++rank) {
    auto part = loadValue(RandomFeed(), loaded.view(rank), w, {"w", "tied"});
    ASSERT_TRUE(part.ok()) << part.status().message();
    std::ranges::copy(elements(*part), std::back_inserter(joined));
    for (const FeedRequest &request : requestsOf(loaded.view(rank), w, {"w", "tied"}))
      EXPECT_THAT(request.names, testing::ElementsAre("w", "tied"));
  }
  EXPECT_EQ(joined, elements(mustLoad({{"w"}, {5, 4}, wholeTensor(std::vector<int64_t>{5, 4}), DType::f32})));
}

TEST(Load, TensorsWithoutDimsAndWithoutElements) {
  for (const FeedRequest &each :
       {FeedRequest{{"s"}, {}, {}, DType::f32}, FeedRequest{{"e"}, {4, 8}, {{}, {{0, 8}}}, DType::f32},
        FeedRequest{{"e"}, {4, 8}, {{{0, 4}}, {}}, DType::f32}}) {
    Tensor whole = mustLoad(each);
    std::vector<int64_t> shape(whole.shape().begin(), whole.shape().end());
    auto tensor = allocateTensor(shape, DType::f32);
    Status status = loadInPieces(RandomFeed(), each, 16, *tensor);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(elements(*tensor), elements(whole));
  }
}
