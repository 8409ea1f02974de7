//===- event_file_test.cpp - scalars of a run for TensorBoard -------------===//

#include "runtime/train/event_file.h"

#include "test/unit/temporary_directory.h"
#include "test/unit/train/step_reports.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>

namespace meshplan {
namespace {

/// The records of a file: each has a length, the checksum of the length, the bytes, and their checksum.
std::vector<std::string> recordsOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> records;
  for (size_t place = 0; place + 16 <= bytes.size();) {
    uint64_t length = 0;
    std::memcpy(&length, &bytes[place], sizeof length);
    records.push_back(bytes.substr(place + 12, length));
    place += 16 + length;
  }
  return records;
}

TEST(EventFile, HasARecordForEachStep) {
  TemporaryDirectory folder;
  auto events = openEventFile(folder / "deep/events");
  ASSERT_TRUE(events.ok()) << events.status().message();
  StepReport report = wholeReport(1, 2);
  report.experts = {{"layers.0.mlp", {10, 30}, 4}};
  EXPECT_TRUE((*events)->step(report).ok());
  EXPECT_TRUE((*events)->evaluation({1, 2.0, 1, 4, 4, 0.1, 7.389}).ok());
  EXPECT_TRUE((*events)->checkpoint({1, "x"}).ok());
  std::vector<std::string> files;
  for (const auto &entry : std::filesystem::directory_iterator(folder / "deep/events"))
    files.push_back(entry.path());
  ASSERT_EQ(files.size(), 1u);
  EXPECT_THAT(files[0], testing::HasSubstr("/events.out.tfevents."));
  std::vector<std::string> records = recordsOf(files[0]);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_THAT(records[0], testing::HasSubstr("brain.Event:2"));
  for (const char *tag : {"train/loss", "train/optimizer.lr", "train/gradient_norm", "train/loss_scale",
                          "experts_least/layers.0.mlp", "experts_most/layers.0.mlp", "experts_dropped/layers.0.mlp",
                          "time/exposed_seconds", "time/tokens_per_second", "memory/peak_bytes"})
    EXPECT_THAT(records[1], testing::HasSubstr(tag));
  // Value { tag = 1: "train/loss", simple_value = 2: 2.5f }
  EXPECT_THAT(records[1], testing::HasSubstr(std::string("\n\ntrain/loss\x15\0\0\x20\x40", 17)));
  EXPECT_THAT(records[2], testing::HasSubstr("evaluation/perplexity"));
}

TEST(EventFile, AFolderThatCannotBeMade) {
  TemporaryDirectory folder;
  std::ofstream(folder / "file") << "x";
  auto events = openEventFile(folder / "file/events");
  ASSERT_FALSE(events.ok());
  EXPECT_EQ(events.status().code(), StatusCode::io);
  EXPECT_EQ(events.status().message(), folder / "file/events" + ": the folder cannot be made: Not a directory");
}

} // namespace
} // namespace meshplan
