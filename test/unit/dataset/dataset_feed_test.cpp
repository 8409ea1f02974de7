//===- dataset_feed_test.cpp - one rank's batches -------------------------===//

#include "runtime/dataset/dataset_feed.h"

#include "test/unit/dataset/helpers.h"
#include "test/unit/exec/loaded_schedule.h"

#include <thread>

namespace meshplan {
namespace {

constexpr int64_t batch = 6, length = 8, samples = 20;

class DatasetFeedTest : public testing::Test {
protected:
  DatasetFeedTest() {
    writeSafetensors(folder / "d.safetensors",
                     {tokenRows("input_ids", samples, length), tokenRows("labels", samples, length, 1000)});
    auto opened = Dataset::open(
        std::vector<std::string>{folder / "d.safetensors"},
        std::vector<DataInput>{{"input_ids", DType::i64, {batch, length}}, {"labels", DType::i64, {batch, length}}},
        {.seed = 11});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    dataset = *opened;
  }

  static FeedRequest request(const std::string &name, SliceRanges ranges) {
    return {{name}, {batch, length}, std::move(ranges), DType::i64};
  }
  static FeedRequest whole(const std::string &name) { return request(name, {{{0, batch}}, {{0, length}}}); }

  static std::vector<int64_t> read(const Feed &feed, const FeedRequest &request) {
    std::vector<int64_t> values(elementCount(sliceShape(request.ranges)));
    Status status = feed.read(request, std::as_writable_bytes(std::span(values)));
    EXPECT_TRUE(status.ok()) << status.message();
    return values;
  }

  /// The batch at a position, without a feed.
  std::vector<int64_t> expected(int64_t position, int64_t begin = 0) const {
    Blend::Walk walk = dataset->startWalk();
    std::vector<int64_t> values;
    for (const SampleLocation &location : dataset->locate(walk, position, batch))
      for (int64_t i = 0; i < length; ++i)
        values.push_back(begin + location.sample * length + i);
    return values;
  }

  TemporaryDirectory folder;
  std::shared_ptr<const Dataset> dataset;
};

TEST_F(DatasetFeedTest, OneBatchAfterTheOther) {
  DatasetFeed feed(dataset, 0);
  for (int64_t step = 0; step < 12; ++step) {
    EXPECT_EQ(feed.position(), step * batch);
    EXPECT_EQ(read(feed, whole("input_ids")), expected(step * batch)) << step;
    EXPECT_EQ(read(feed, whole("labels")), expected(step * batch, 1000)) << step;
    feed.advance();
  }
}

TEST_F(DatasetFeedTest, GoesOnFromAnyPosition) {
  for (int64_t position : {1, 17, 20, 1'000'003}) {
    DatasetFeed feed(dataset, position);
    EXPECT_EQ(read(feed, whole("input_ids")), expected(position));
    feed.advance();
    EXPECT_EQ(feed.position(), position + batch);
    EXPECT_EQ(read(feed, whole("input_ids")), expected(position + batch));
  }
}

TEST_F(DatasetFeedTest, WhatIsReadMayChangeFromStepToStep) {
  DatasetFeed feed(dataset, 0);
  EXPECT_EQ(read(feed, whole("input_ids")), expected(0));
  feed.advance();
  EXPECT_EQ(read(feed, whole("labels")), expected(batch, 1000)) << "was not prepared";
  feed.advance();
  feed.advance();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(read(feed, whole("input_ids")), expected(3 * batch)) << "again and again";
  std::vector<int64_t> row = expected(3 * batch);
  EXPECT_EQ(read(feed, request("input_ids", {{{1, 1}}, {{2, 3}}})),
            std::vector<int64_t>(row.begin() + length + 2, row.begin() + length + 5));
}

TEST_F(DatasetFeedTest, ManyMayStopAtAnyMoment) {
  for (int i = 0; i < 50; ++i) {
    DatasetFeed feed(dataset, i);
    if (i % 3)
      read(feed, whole("input_ids"));
    if (i % 2)
      feed.advance();
  }
  DatasetFeed unused(dataset, 0);
}

TEST_F(DatasetFeedTest, TheFailureOfThePreparationIsReported) {
  DatasetFeed feed(dataset, 0);
  std::vector<int64_t> values(batch * length);
  auto out = std::as_writable_bytes(std::span(values));
  const std::string message = "the data was opened without input 'mask'";
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(feed.read(whole("mask"), out).message(), message) << step;
    EXPECT_EQ(read(feed, whole("labels")), expected(step * batch, 1000)) << "the others are there";
    feed.advance();
  }
  EXPECT_EQ(feed.read(whole("labels"), out.first(8)).message(), "input 'labels': a buffer of 8 bytes, 384 required");
}

TEST_F(DatasetFeedTest, BlendsGoOnFromAnyPosition) {
  writeSafetensors(folder / "other.safetensors",
                   {tokenRows("input_ids", 3, length, 5000), tokenRows("labels", 3, length, 6000)});
  auto blend = Dataset::open(
      std::vector<std::string>{folder / "d.safetensors=0.7", folder / "other.safetensors=0.3"},
      std::vector<DataInput>{{"input_ids", DType::i64, {batch, length}}, {"labels", DType::i64, {batch, length}}},
      {.seed = 2});
  ASSERT_TRUE(blend.ok()) << blend.status().message();
  DatasetFeed unbroken(*blend, 0);
  int64_t others = 0;
  for (int64_t step = 0; step < 10; ++step) {
    std::vector<int64_t> tokens = read(unbroken, whole("input_ids")), labels = read(unbroken, whole("labels"));
    DatasetFeed resumed(*blend, step * batch);
    EXPECT_EQ(read(resumed, whole("labels")), labels) << step;
    EXPECT_EQ(read(resumed, whole("input_ids")), tokens) << step;
    for (size_t i = 0; i < tokens.size(); ++i)
      EXPECT_EQ(labels[i] - tokens[i], 1000) << "both are of one sample";
    others += std::ranges::count_if(tokens, [](int64_t token) { return token >= 5000; });
    unbroken.advance();
  }
  EXPECT_EQ(others, 18 * length) << "three tenths of 60 samples";
}

TEST_F(DatasetFeedTest, ABatchOfAllSamples) {
  auto all = Dataset::open(std::vector<std::string>{folder / "d.safetensors"},
                           std::vector<DataInput>{{"labels", DType::i64, {samples, length}}}, {.seed = 2});
  ASSERT_TRUE(all.ok()) << all.status().message();
  DatasetFeed feed(*all, 0);
  std::vector<std::vector<int64_t>> epochs;
  for (int epoch = 0; epoch < 3; ++epoch, feed.advance()) {
    epochs.push_back(read(feed, {{"labels"}, {samples, length}, {{{0, samples}}, {{0, length}}}, DType::i64}));
    std::vector<int64_t> sorted = epochs.back();
    std::ranges::sort(sorted);
    EXPECT_EQ(sorted, counting<int64_t>(samples * length, 1000));
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
}

/// The whole input, assembled from the reads of a mesh's ranks, each in its own thread and at its own speed.
class RanksOfAMesh {
public:
  RanksOfAMesh(const ScheduleBuilder &builder, int value) : loaded(builder), value(value) {}

  std::vector<std::vector<int64_t>> run(const std::shared_ptr<const Dataset> &dataset, int64_t steps) {
    std::vector<std::vector<int64_t>> whole(steps, std::vector<int64_t>(batch * length, -1));
    std::vector<std::thread> threads;
    std::mutex mutex;
    for (int64_t rank = 0; rank < loaded.worldSize(); ++rank)
      threads.emplace_back([&, rank] {
        DatasetFeed feed(dataset, 0);
        for (int64_t step = 0; step < steps; ++step) {
          std::vector<int64_t> part = readRank(feed, rank);
          feed.advance();
          std::lock_guard lock(mutex);
          place(rank, part, whole[step]);
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    return whole;
  }

private:
  std::vector<int64_t> readRank(const Feed &feed, int64_t rank) const {
    std::vector<int64_t> part;
    for (const SliceRanges &ranges : loaded.view(rank).slices(value)) {
      std::vector<int64_t> values(elementCount(sliceShape(ranges)));
      Status status =
          feed.read({{"input_ids"}, {batch, length}, ranges, DType::i64}, std::as_writable_bytes(std::span(values)));
      EXPECT_TRUE(status.ok()) << status.message();
      std::ranges::copy(values, std::back_inserter(part));
    }
    return part;
  }

  /// Two ranks with the same position must have the same token there.
  void place(int64_t rank, const std::vector<int64_t> &part, std::vector<int64_t> &whole) const {
    for (size_t i = 0; i < part.size(); ++i) {
      std::vector<int64_t> position = loaded.view(rank).globalPosition(value, i);
      int64_t &token = whole[position[0] * length + position[1]];
      EXPECT_TRUE(token == -1 || token == part[i]) << "rank " << rank << " has other samples than its peers";
      token = part[i];
    }
  }

  LoadedSchedule loaded;
  int value;
};

TEST_F(DatasetFeedTest, TheBatchIsTheSameUnderEveryPlan) {
  constexpr int64_t steps = 8;
  std::vector<std::vector<TestDim>> layouts = {{{batch}, {length}},
                                               {{batch, {"dp"}}, {length}},
                                               {{batch, {"tp"}}, {length, {"dp"}}},
                                               {{batch}, {length, {"tp"}}},
                                               {{batch, {"dp", "tp"}}, {length}}};
  for (size_t i = 0; i < layouts.size(); ++i) {
    ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
    int input = builder.input("input_ids", layouts[i], DType::i64);
    std::vector<std::vector<int64_t>> whole = RanksOfAMesh(builder, input).run(dataset, steps);
    for (int64_t step = 0; step < steps; ++step)
      EXPECT_EQ(whole[step], expected(step * batch)) << "layout " << i << " step " << step;
  }
}

TEST_F(DatasetFeedTest, DataRanksHaveOtherSamplesAndTensorRanksTheSame) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 3}});
  int input = builder.input("input_ids", {{batch, {"dp"}}, {length}}, DType::i64);
  LoadedSchedule loaded(builder);
  std::vector<std::vector<int64_t>> parts;
  for (int64_t rank = 0; rank < 6; ++rank)
    parts.push_back(read(DatasetFeed(dataset, 0), request("input_ids", loaded.view(rank).ranges(input))));
  for (int64_t rank = 0; rank < 6; ++rank)
    EXPECT_EQ(parts[rank], parts[rank / 3 * 3]) << "of one row";
  EXPECT_NE(parts[0], parts[3]);
  std::vector<int64_t> both = parts[0];
  std::ranges::copy(parts[3], std::back_inserter(both));
  EXPECT_EQ(both, expected(0));
}

} // namespace
} // namespace meshplan
