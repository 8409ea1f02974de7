//===- archive_test.cpp - weights inside of torch.export archives ---------===//

#include "test/unit/data/helpers.h"

#include <thread>

namespace meshplan {
namespace {

TEST(Archive, HoldsWhatSafetensorsHolds) {
  Expected<TensorSource> plain = TensorSource::open(fixture("model.safetensors"));
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  for (const char *name : {"model.pt2", "deflated.pt2"}) {
    Expected<TensorSource> archive = TensorSource::open(fixture(name));
    ASSERT_TRUE(archive.ok()) << archive.status().message();
    EXPECT_EQ(archive->names(), plain->names());
    for (const std::string &weight : plain->names()) {
      EXPECT_EQ(archive->find(weight)->shape, plain->find(weight)->shape);
      EXPECT_EQ(readWhole(*archive, weight), readWhole(*plain, weight)) << name << " " << weight;
    }
  }
}

TEST(Archive, SlicesOfATransposedParameter) {
  Expected<TensorSource> plain = TensorSource::open(fixture("model.safetensors"));
  Expected<TensorSource> archive = TensorSource::open(fixture("model.pt2"));
  ASSERT_TRUE(plain.ok() && archive.ok());
  EXPECT_NE(archive->find("turned")->strides, contiguousStrides(archive->find("turned")->shape));
  for (const SliceRanges &slice : {SliceRanges{{{1, 2}}, {{2, 3}}}, SliceRanges{{{0, 1}, {3, 1}}, {{0, 6}}}})
    EXPECT_EQ(readBytes(*archive, "turned", slice, DType::f32), readBytes(*plain, "turned", slice, DType::f32));
}

TEST(Archive, StoredWeightsAreMappedAndTiedOnesShared) {
  Expected<TensorSource> archive = TensorSource::open(fixture("model.pt2"));
  ASSERT_TRUE(archive.ok());
  EXPECT_EQ(archive->find("embed.weight")->payload, archive->find("head.weight")->payload);
}

TEST(Archive, RanksMayReadADeflatedWeightAtTheSameTime) {
  Expected<TensorSource> archive = TensorSource::open(fixture("deflated.pt2"));
  ASSERT_TRUE(archive.ok());
  std::vector<std::vector<std::byte>> results(4);
  std::vector<std::thread> threads;
  for (auto &result : results)
    threads.emplace_back([&] { result = readWhole(*archive, "embed.weight"); });
  for (std::thread &thread : threads)
    thread.join();
  for (const auto &result : results)
    EXPECT_EQ(result, results[0]);
}

TEST(Archive, TruncatedAnywhereIsRefused) {
  TemporaryDirectory directory;
  std::string path = directory / "w.pt2", text = textOf(fixture("model.pt2"));
  for (size_t size = 4; size < text.size(); size += 61) {
    writeText(path, text.substr(0, size));
    EXPECT_EQ(openError(path), path + ": damaged or truncated zip file: no directory");
  }
}

/// The fixture with `from` in its (stored) weights table replaced by a text of the same length.
std::string errorWith(const std::string &from, const std::string &to) {
  TemporaryDirectory directory;
  std::string text = textOf(fixture("model.pt2"));
  size_t table = text.find("\"embed.weight\": {\"path_name\"");
  EXPECT_NE(table, std::string::npos);
  size_t place = text.find(from, table);
  EXPECT_NE(place, std::string::npos) << from;
  EXPECT_EQ(from.size(), to.size());
  text.replace(place, from.size(), to);
  // The checksum of the table is in the directory, and is looked for by value.
  std::string path = directory / "w.pt2";
  writeText(path, text);
  std::string message = openError(path);
  EXPECT_TRUE(message.starts_with(path + ": ")) << message;
  return message.substr(path.size() + 2);
}

TEST(Archive, AChangedTableIsNoticed) {
  EXPECT_EQ(errorWith("\"dtype\": 7", "\"dtype\": 9"),
            "damaged or truncated zip file: the checksum of an entry is wrong");
}

} // namespace
} // namespace meshplan
