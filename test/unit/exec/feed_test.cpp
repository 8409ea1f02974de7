#include "runtime/exec/feed.h"

#include "runtime/base/map_faults.h"
#include "test/unit/child_process.h"
#include "test/unit/exec/run_schedule.h"

#include <chrono>
#include <filesystem>
#include <gmock/gmock.h>
#include <thread>

using namespace meshplan;

static std::vector<std::byte> randomPart(std::vector<int64_t> shape, SliceRanges ranges, DType dtype,
                                         std::string name = "x") {
  std::vector<std::byte> out(elementCount(sliceShape(ranges)) * dtypeSize(dtype));
  FeedRequest request{{std::move(name)}, std::move(shape), std::move(ranges), dtype};
  EXPECT_TRUE(RandomFeed().read(request, out).ok());
  return out;
}

static at::Tensor asTensor(const std::vector<std::byte> &bytes, at::IntArrayRef shape, at::ScalarType type) {
  return at::from_blob(const_cast<std::byte *>(bytes.data()), shape, type).clone();
}

TEST(RandomFeedTest, PartsAgreeWithTheWhole) {
  auto whole = asTensor(randomPart({4, 9}, wholeTensor(std::vector<int64_t>{4, 9}), DType::f32), {4, 9}, at::kFloat);
  auto part = asTensor(randomPart({4, 9}, {{{1, 2}}, {{0, 2}, {5, 3}}}, DType::f32), {2, 5}, at::kFloat);
  at::Tensor rows = whole.slice(0, 1, 3);
  EXPECT_TRUE(at::equal(part, at::cat({rows.slice(1, 0, 2), rows.slice(1, 5, 8)}, 1)));
}

TEST(RandomFeedTest, NumbersAreSmallAndSpread) {
  auto x = asTensor(randomPart({10000}, {{{0, 10000}}}, DType::f64), {10000}, at::kDouble);
  EXPECT_GE(x.min().item<double>(), -0.05);
  EXPECT_LT(x.max().item<double>(), 0.05);
  EXPECT_NEAR(x.mean().item<double>(), 0, 0.002);
  EXPECT_NEAR(x.std().item<double>(), 0.1 / std::sqrt(12), 0.001);
}

TEST(RandomFeedTest, NamesDiffer) {
  EXPECT_NE(randomPart({50}, {{{0, 50}}}, DType::bf16, "a"), randomPart({50}, {{{0, 50}}}, DType::bf16, "b"));
}

TEST(RandomFeedTest, IntegersAreZeroOrOne) {
  auto x = asTensor(randomPart({1000}, {{{0, 1000}}}, DType::i64), {1000}, at::kLong);
  EXPECT_EQ(x.min().item<int64_t>(), 0);
  EXPECT_EQ(x.max().item<int64_t>(), 1);
  EXPECT_NEAR(x.sum().item<double>(), 500, 100);
}

TEST(RandomFeedTest, BoolsAreTrue) {
  EXPECT_TRUE(asTensor(randomPart({20}, {{{0, 20}}}, DType::boolean), {20}, at::kBool).all().item<bool>());
}

namespace {

class FileFeedTest : public testing::Test {
protected:
  FileFeedTest() {
    writeTensors(folder / "w.safetensors", {{"embed.weight", weight}});
    auto source = TensorSource::open(folder / "w.safetensors");
    EXPECT_TRUE(source.ok());
    feed.emplace(*std::move(source));
  }

  Status read(std::vector<std::string> names, std::vector<int64_t> shape) {
    out.resize(4 * sizeof(double));
    return feed->read({std::move(names), std::move(shape), {{{0, 2}}, {{1, 2}}}, DType::f64}, out);
  }

  at::Tensor weight = at::randn({2, 3}, at::kFloat);
  TemporaryDirectory folder;
  std::optional<FileFeed> feed;
  std::vector<std::byte> out;
};

} // namespace

TEST_F(FileFeedTest, TakesAnyNameAndConverts) {
  ASSERT_TRUE(read({"lm_head.weight", "embed.weight"}, {2, 3}).ok());
  EXPECT_TRUE(at::equal(asTensor(out, {2, 2}, at::kDouble), weight.to(at::kDouble).slice(1, 1, 3)));
}

TEST_F(FileFeedTest, TensorsThatAModelTiesAreTheSame) {
  auto readTied = [&](const at::Tensor &head) {
    writeTensors(folder / "tied.safetensors", {{"embed.weight", weight}, {"lm_head.weight", head}});
    auto source = TensorSource::open(folder / "tied.safetensors");
    EXPECT_TRUE(source.ok());
    feed.emplace(*std::move(source));
    return read({"lm_head.weight", "embed.weight"}, {2, 3});
  };
  EXPECT_TRUE(readTied(weight).ok());
  at::Tensor elsewhere = weight.clone();
  elsewhere.slice(1, 0, 1).zero_();
  EXPECT_TRUE(readTied(elsewhere).ok()) << "in elements that this rank does not hold";
  EXPECT_EQ(readTied(weight + 1).message(),
            folder / "tied.safetensors" +
                ": tensors 'lm_head.weight' and 'embed.weight' differ, but the model ties them; help: "
                "leave out the one that it does not use");
  EXPECT_THAT(readTied(at::zeros({3, 2})).message(), testing::HasSubstr("'lm_head.weight' has shape [3, 2]"));
}

TEST_F(FileFeedTest, AFileThatIsTruncatedWhileReadIsAReadError) {
  // Large enough that a truncation hits the read of the first tensor, that of the second one, or their comparison.
  const at::Tensor large = at::randn({2, 1 << 20}, at::kFloat);
  const std::string whole = folder / "whole.safetensors", path = folder / "read.safetensors";
  writeTensors(whole, {{"embed.weight", large}, {"lm_head.weight", large}});
  constexpr int trials = 20;
  // Truncates the file after a part of the time that a read takes.
  auto readOf = [&](std::chrono::nanoseconds delay, std::chrono::nanoseconds &took) {
    std::filesystem::copy_file(whole, path, std::filesystem::copy_options::overwrite_existing);
    auto source = TensorSource::open(path);
    if (!source.ok())
      return source.status();
    FileFeed tied(*std::move(source));
    std::vector<std::byte> elements(large.numel() * sizeof(double));
    std::jthread truncation([&] {
      std::this_thread::sleep_for(delay);
      if (delay.count() > 0)
        std::filesystem::resize_file(path, 4096);
    });
    auto begin = std::chrono::steady_clock::now();
    Status status = tied.read(
        {{"lm_head.weight", "embed.weight"}, large.sizes().vec(), wholeTensor(large.sizes().vec()), DType::f64},
        elements);
    took = std::chrono::steady_clock::now() - begin;
    return status;
  };
  EXPECT_EQ(statusOfChild([&] {
              catchMapFaults();
              std::chrono::nanoseconds usual, ignored;
              if (!readOf({}, usual).ok() || !readOf({}, usual).ok())
                return 1;
              for (int trial = 1; trial <= trials; ++trial)
                if (Status status = readOf(usual * trial / trials, ignored);
                    !status.ok() && status.code() != StatusCode::io)
                  return 2;
              return 0;
            }),
            0);
}

TEST_F(FileFeedTest, NamesWhatIsMissingOrWrong) {
  EXPECT_THAT(read({"lm_head.weight"}, {2, 3}).message(), testing::HasSubstr("no tensor 'lm_head.weight'"));
  EXPECT_THAT(
      read({"embed.weight"}, {3, 2}).message(),
      testing::AllOf(testing::HasSubstr("'embed.weight'"), testing::HasSubstr("[2, 3]"), testing::HasSubstr("[3, 2]")));
}
