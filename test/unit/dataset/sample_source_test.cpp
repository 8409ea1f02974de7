//===- sample_source_test.cpp - data sets one after the other -------------===//

#include "runtime/dataset/sample_source.h"

#include "test/unit/dataset/helpers.h"

namespace meshplan {
namespace {

using testing::ElementsAre;

/// Samples of one number each, from `begin` on; records announced ranges.
class Numbers final : public SampleSource {
public:
  Numbers(int64_t count, int64_t begin, std::vector<int64_t> *announced = nullptr)
      : count(count), begin(begin), announced(announced) {}

  int64_t samples() const override { return count; }
  Status read(int64_t sample, size_t field, const SliceRanges &, std::span<std::byte> out) const override {
    if (sample >= count)
      return Status(StatusCode::invalid, "no such sample");
    int64_t number = begin + sample + 1000 * static_cast<int64_t>(field);
    std::memcpy(out.data(), &number, sizeof number);
    return Status();
  }
  void announce(int64_t sample, size_t, const SliceRanges &) const override { announced->push_back(begin + sample); }
  std::vector<std::string> description() const override { return {std::to_string(begin)}; }

private:
  int64_t count, begin;
  std::vector<int64_t> *announced;
};

TEST(ConcatenatedSamples, OneAfterTheOther) {
  std::vector<int64_t> announced;
  std::vector<SampleSourcePointer> sources;
  for (auto [count, begin] : {std::pair(0, 5), {2, 10}, {0, 20}, {3, 30}, {1, 40}, {0, 50}})
    sources.push_back(std::make_unique<Numbers>(count, begin, &announced));
  SampleSourcePointer all = concatenated(std::move(sources));
  EXPECT_EQ(all->samples(), 6);
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < 6; ++i) {
    numbers.push_back(readSlice<int64_t>(*all, i, i % 2, {})[0]);
    all->announce(i, 0, {});
  }
  EXPECT_THAT(numbers, ElementsAre(10, 1011, 30, 1031, 32, 1040));
  EXPECT_THAT(announced, ElementsAre(10, 11, 30, 31, 32, 40));
  EXPECT_THAT(all->description(), ElementsAre("5", "10", "20", "30", "40", "50"));
}

TEST(ConcatenatedSamples, OneAloneIsItself) {
  std::vector<SampleSourcePointer> sources;
  sources.push_back(std::make_unique<Numbers>(2, 10));
  const SampleSource *only = sources.front().get();
  EXPECT_EQ(concatenated(std::move(sources)).get(), only);
}

} // namespace
} // namespace meshplan
