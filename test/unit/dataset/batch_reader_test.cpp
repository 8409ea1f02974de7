//===- batch_reader_test.cpp - parts of one global batch ------------------===//

#include "runtime/dataset/batch_reader.h"

#include "test/unit/dataset/helpers.h"

namespace meshplan {
namespace {

using testing::ElementsAre;

class BatchReaderTest : public testing::Test {
protected:
  BatchReaderTest() {
    writeSafetensors(folder / "d.safetensors", {tokenRows("input_ids", 5, 3)});
    auto opened = Dataset::open(std::vector<std::string>{folder / "d.safetensors"},
                                std::vector<DataInput>{{"input_ids", DType::i64, {4, 3}}}, {.shuffles = false});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    dataset = *opened;
  }

  std::vector<int64_t> read(int64_t position, const SliceRanges &ranges) {
    BatchReader reader(*dataset);
    std::vector<int64_t> values(elementCount(sliceShape(ranges)));
    FeedRequest request{{"input_ids"}, {4, 3}, ranges, DType::i64};
    reader.announce(position, request);
    Status status = reader.read(position, request, std::as_writable_bytes(std::span(values)));
    EXPECT_TRUE(status.ok()) << status.message();
    return values;
  }

  std::string error(const FeedRequest &request) {
    BatchReader reader(*dataset);
    reader.announce(0, request);
    std::vector<std::byte> out(1000);
    return reader.read(0, request, out).message();
  }

  TemporaryDirectory folder;
  std::shared_ptr<const Dataset> dataset;
};

TEST_F(BatchReaderTest, RowsAndColumns) {
  EXPECT_THAT(read(0, {{{0, 4}}, {{0, 3}}}), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_THAT(read(0, {{{2, 2}}, {{1, 2}}}), ElementsAre(7, 8, 10, 11));
  EXPECT_THAT(read(0, {{{0, 1}, {3, 1}}, {{0, 1}, {2, 1}}}), ElementsAre(0, 2, 9, 11));
  EXPECT_THAT(read(0, {{}, {{0, 3}}}), ElementsAre());
  EXPECT_THAT(read(0, {{{0, 4}}, {}}), ElementsAre());
}

TEST_F(BatchReaderTest, OverTheEndOfAnEpoch) {
  EXPECT_THAT(read(4, {{{0, 4}}, {{0, 1}}}), ElementsAre(12, 0, 3, 6));
  EXPECT_THAT(read(4, {{{3, 1}}, {{0, 3}}}), ElementsAre(6, 7, 8));
}

TEST_F(BatchReaderTest, StopsWhenAsked) {
  std::stop_source stop;
  stop.request_stop();
  std::vector<int64_t> values(12, -1);
  FeedRequest request{{"input_ids"}, {4, 3}, {{{0, 4}}, {{0, 3}}}, DType::i64};
  EXPECT_TRUE(BatchReader(*dataset).read(0, request, std::as_writable_bytes(std::span(values)), stop.get_token()).ok());
  EXPECT_THAT(values, testing::Each(-1));
}

TEST_F(BatchReaderTest, OtherInputs) {
  EXPECT_EQ(error({{"labels"}, {4, 3}, {{{0, 4}}, {{0, 3}}}, DType::i64}),
            "the data was opened without input 'labels'");
  EXPECT_EQ(error({{"input_ids"}, {8, 3}, {{{0, 4}}, {{0, 3}}}, DType::i64}),
            "the data was opened with input 'input_ids' of i64 [4, 3], and i64 [8, 3] is read");
  EXPECT_EQ(error({{"input_ids"}, {4, 3}, {{{0, 4}}, {{0, 3}}}, DType::i32}),
            "the data was opened with input 'input_ids' of i64 [4, 3], and i32 [4, 3] is read");
  EXPECT_EQ(error({{"input_ids"}, {4, 3}, {{{0, 5}}, {{0, 3}}}, DType::i64}),
            "input_ids: elements 0 to 5 of dim 0 of a tensor of shape [4, 3]");
}

} // namespace
} // namespace meshplan
